/* SPDX-License-Identifier: MIT */
/* base64.c - base64 by RFC 4648 section 4, with padding; nothing else is accepted. */
#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void laz_base64_encode(struct laz_buf *buf, const void *data, size_t len)
{
    const unsigned char *in = data;

    if (!laz_buf_reserve(buf, (len / 3 + 1) * 4))
        return;
    char *out = buf->data + buf->len;
    size_t i = 0;
    for (; i + 2 < len; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16 | (uint32_t)in[i + 1] << 8 | in[i + 2];
        *out++ = alphabet[v >> 18];
        *out++ = alphabet[(v >> 12) & 63];
        *out++ = alphabet[(v >> 6) & 63];
        *out++ = alphabet[v & 63];
    }
    if (i < len) {
        uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < len ? (uint32_t)in[i + 1] << 8 : 0);
        *out++ = alphabet[v >> 18];
        *out++ = alphabet[(v >> 12) & 63];
        *out++ = i + 1 < len ? alphabet[(v >> 6) & 63] : '=';
        *out++ = '=';
    }
    *out = '\0';
    buf->len = (size_t)(out - buf->data);
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

bool laz_base64_is_valid(const char *text, size_t len)
{
    size_t padding = 0;

    if (len % 4)
        return false;
    while (padding < 2 && padding < len && text[len - padding - 1] == '=')
        padding++;
    for (size_t i = 0; i < len - padding; i++)
        if (base64_digit(text[i]) < 0)
            return false;
    return true;
}

ptrdiff_t laz_base64_decode(const char *text, size_t len, void *out)
{
    unsigned char *bytes = out;

    if (len % 4)
        return -1;
    for (size_t i = 0; i < len; i += 4) {
        int digits[4];
        size_t padding = 0;
        if (i + 4 == len)
            padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        for (size_t k = 0; k < 4; k++) {
            digits[k] = k >= 4 - padding ? 0 : base64_digit(text[i + k]);
            if (digits[k] < 0)
                return -1;
        }
        uint32_t v = (uint32_t)digits[0] << 18 | (uint32_t)digits[1] << 12 |
                     (uint32_t)digits[2] << 6 | (uint32_t)digits[3];
        *bytes++ = (unsigned char)(v >> 16);
        if (padding < 2)
            *bytes++ = (unsigned char)(v >> 8);
        if (padding < 1)
            *bytes++ = (unsigned char)v;
    }
    return bytes - (unsigned char *)out;
}
