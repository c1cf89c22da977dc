/* SPDX-License-Identifier: MIT */
/* base64.h - base64 by RFC 4648: section 4, with padding; section 5, for URLs and tokens, without. */
#ifndef LAZ_BASE_BASE64_H
#define LAZ_BASE_BASE64_H

#include "base/buf.h"

#include <stddef.h>

void laz_base64_encode(struct laz_buf *buf, const void *data, size_t len); /* appends */
/* Writes at most len / 4 * 3 bytes to `out`, unless it is NULL. Returns their number, or -1 if
 * `text` is not base64. */
ptrdiff_t laz_base64_decode(const char *text, size_t len, void *out);
/* The same by section 5. -1 also: out of memory. */
void laz_base64url_encode(struct laz_buf *buf, const void *data, size_t len);
ptrdiff_t laz_base64url_decode(const char *text, size_t len, void *out);

#endif
