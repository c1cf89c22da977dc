/* SPDX-License-Identifier: MIT */
/* base64.h - base64 of RFC 4648 section 4, with padding. */
#ifndef LAZ_BASE_BASE64_H
#define LAZ_BASE_BASE64_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

void laz_base64_encode(struct laz_buf *buf, const void *data, size_t len); /* appends */
/* Is it what laz_base64_decode takes? */
bool laz_base64_is_valid(const char *text, size_t len);
/* At most len / 4 * 3 bytes to `out`; their number, or -1 when `text` is not base64. */
ptrdiff_t laz_base64_decode(const char *text, size_t len, void *out);

#endif
