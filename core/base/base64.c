/* SPDX-License-Identifier: MIT */
/* base64.c - base64 by RFC 4648 section 4, with padding; nothing else is accepted. */
#include "base/base64.h"

#include <nettle/base64.h>
#include <stdint.h>

void laz_base64_encode(struct laz_buf *buf, const void *data, size_t len)
{
    const size_t size = BASE64_ENCODE_RAW_LENGTH(len);

    if (!laz_buf_reserve(buf, size))
        return;
    base64_encode_raw(buf->data + buf->len, len, data);
    buf->len += size;
    buf->data[buf->len] = '\0';
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ptrdiff_t laz_base64_decode(const char *text, size_t len, void *out)
{
    unsigned char *bytes = out;
    size_t padding = 0, done = 0;

    if (len % 4)
        return -1;
    while (padding < 2 && padding < len && text[len - padding - 1] == '=')
        padding++;
    const size_t size = len / 4 * 3 - padding;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t v = 0;
        for (size_t k = i; k < i + 4; k++) {
            int digit = k < len - padding ? base64_digit(text[k]) : 0;
            if (digit < 0)
                return -1;
            v = v << 6 | (uint32_t)digit;
        }
        for (int shift = 16; shift >= 0 && done < size; shift -= 8, done++)
            if (bytes)
                bytes[done] = (unsigned char)(v >> shift);
    }
    return (ptrdiff_t)size;
}
