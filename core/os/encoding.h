/* SPDX-License-Identifier: MIT */
/* encoding.h - text in another encoding than UTF-8. */
#ifndef LAZ_OS_ENCODING_H
#define LAZ_OS_ENCODING_H

#include "base/buf.h"

/* Appends the text as UTF-8. False: the system has no encoding of that name, the text is not in it,
 * or there is no memory; something may have been appended then. */
bool laz_os_to_utf8(const char *encoding, const char *text, size_t len, struct laz_buf *to);

#endif
