/* SPDX-License-Identifier: MIT */
/* base64.c - base64 by RFC 4648: section 4, with padding, and section 5, without; nothing else is
 * accepted. */
#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BASE64_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void base64_encode(struct laz_buf *buf, const void *data, size_t len, const char *alphabet)
{
    const unsigned char *in = data;

    if (!laz_buf_reserve(buf, (len / 3 + 1) * 4))
        return;
    char *out = buf->data + buf->len;
    for (size_t i = 0; i < len; i += 3) {
        const bool has_second = len - i > 1, has_third = len - i > 2;
        const uint32_t v = (uint32_t)in[i] << 16 | (has_second ? (uint32_t)in[i + 1] << 8 : 0) |
                           (has_third ? in[i + 2] : 0);
        *out++ = alphabet[v >> 18];
        *out++ = alphabet[(v >> 12) & 63];
        *out++ = has_second ? alphabet[(v >> 6) & 63] : '=';
        *out++ = has_third ? alphabet[v & 63] : '=';
    }
    *out = '\0';
    buf->len = (size_t)(out - buf->data);
}

void laz_base64_encode(struct laz_buf *buf, const void *data, size_t len)
{
    base64_encode(buf, data, len, BASE64_LETTERS "+/");
}

void laz_base64url_encode(struct laz_buf *buf, const void *data, size_t len)
{
    base64_encode(buf, data, len, BASE64_LETTERS "-_");
    while (!buf->failed && len % 3 && buf->len && buf->data[buf->len - 1] == '=')
        buf->data[--buf->len] = '\0';
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

ptrdiff_t laz_base64url_decode(const char *text, size_t len, void *out)
{
    const size_t rest = len % 4, padded = len + (rest ? 4 - rest : 0);
    char *usual = rest == 1 ? NULL : malloc(padded + 1);
    ptrdiff_t n = -1;

    if (!usual)
        return -1;
    for (size_t i = 0; i < len; i++)
        usual[i] = text[i] == '-'                                       ? '+'
                   : text[i] == '_'                                     ? '/'
                   : text[i] == '+' || text[i] == '/' || text[i] == '=' ? '!'
                                                                        : text[i];
    memset(usual + len, '=', padded - len);
    n = laz_base64_decode(usual, padded, out);
    free(usual);
    return n;
}
