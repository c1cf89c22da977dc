/* SPDX-License-Identifier: MIT */
/* fuzz_proxy_echo.c - a stream that may have a secret in it, of any bytes and pieces of the secret
 * in all its forms. It is found where a simple search of the whole text finds it, however the text
 * is cut; and before that no more than four characters of it have gone on. */
#include "fuzz_proxy.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes from 0xf0 on put a piece of the secret into the text: how, from where, how long. */
static void fuzz_piece(const char *secret, size_t secret_len, const uint8_t *data,
                       struct laz_buf *text)
{
    const size_t from = data[1] % secret_len, len = data[2] % (secret_len - from + 1);
    const bool is_whole = data[0] & 1;
    const char *piece = is_whole ? secret : secret + from;
    const size_t n = is_whole ? secret_len : len;
    struct laz_buf coded = LAZ_BUF_INIT;

    switch ((data[0] & 15) >> 1) {
    case 0:
        laz_buf_append(text, piece, n);
        break;
    case 1:
        for (size_t i = 0; i < n; i++)
            laz_buf_printf(text, data[1] & 1 ? "%%%02x" : "%%%02X", (unsigned char)piece[i]);
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            laz_buf_printf(text, "\\u%04x", (unsigned char)piece[i]);
        break;
    case 3:
        for (size_t i = 0; i < n; i++)
            laz_buf_printf(text, i % 3 == data[2] % 3 ? "%%%02x" : "%c", (unsigned char)piece[i]);
        break;
    case 4:
        for (size_t i = 0; i < n; i++)
            laz_buf_printf(text, strchr("\"\\/", piece[i]) ? "\\%c" : "%c", piece[i]);
        break;
    case 5:
        for (size_t i = 0; i < n; i++)
            laz_buf_printf(text, i == data[2] % n ? "%c\n\r\n" : "%c", piece[i]);
        break;
    default:
        laz_buf_append(&coded, "zy", data[1] % 3);
        laz_buf_append(&coded, piece, n);
        laz_buf_append(&coded, "xw", data[2] % 3);
        laz_base64_encode(text, laz_buf_text(&coded), coded.len);
        for (size_t i = 0; i < text->len && data[0] & 8 && data[1] & 64; i++)
            if (text->data[i] == '/')
                text->data[i] = '_';
    }
    laz_buf_fini(&coded);
}

static void fuzz_fail(const char *what, const struct laz_buf *text)
{
    fprintf(stderr, "%s: %.*s\n", what, (int)text->len, laz_buf_text(text));
    abort();
}

/* Feeds the text in pieces; how much of it went on before it was found, or SIZE_MAX. */
static size_t fuzz_feed(const struct proxy_pattern *pattern, const struct laz_buf *text,
                        unsigned seed, size_t *at)
{
    struct proxy_echo echo;
    size_t hold = 0, gone = 0;

    proxy_echo_begin(&echo, pattern);
    for (*at = 0; *at < text->len;) {
        seed = seed * 1103515245u + 12345;
        size_t n = (seed & 0x100) ? 1 : 1 + (seed >> 16) % 40;
        n = n < text->len - *at ? n : text->len - *at;
        char *copy = malloc(n);
        if (!copy)
            abort();
        memcpy(copy, text->data + *at, n);
        const bool found = proxy_echo_feed(&echo, copy, n, &hold);
        free(copy);
        *at += n;
        if (found)
            return gone;
        if (hold > *at)
            fuzz_fail("more is kept back than there was", text);
        if (hold > 60 * 1368)
            fuzz_fail("too much is kept back", text);
        gone = *at - hold > gone ? *at - hold : gone;
    }
    return SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct fuzz_match match = {0};
    char secret[2048];
    size_t at;

    if (size < 30)
        return 0;
    const size_t secret_len = data[0] < 240 ? 8u + data[0] % 200 : 1000u + 2u * (data[0] % 16u),
                 of = size - 2 < 24 ? size - 2 : 24;
    const unsigned seed = data[1];
    for (size_t i = 0; i < secret_len; i++)
        secret[i] = (char)(' ' + data[2 + i % of] % 95);
    for (size_t i = 26; i < size && text.len < 20000; i++) {
        if (data[i] >= 0xf0 && i + 2 < size) {
            fuzz_piece(secret, secret_len, data + i, &text);
            i += 2;
        } else {
            laz_buf_putc(&text, (char)data[i]);
        }
    }
    if (!text.len)
        return 0;
    struct proxy_pattern *pattern = proxy_pattern_new(secret, secret_len);
    if (!pattern)
        abort();
    const bool expected = fuzz_has(secret, secret_len, text.data, text.len, &match);
    if (proxy_echo_in(pattern, text.data, text.len) != expected)
        fuzz_fail(expected ? "a secret is not found" : "a secret is found that is not there",
                  &text);
    for (unsigned i = 0; i < 3; i++) {
        const size_t gone = fuzz_feed(pattern, &text, seed * 7 + i, &at);
        if ((gone != SIZE_MAX) != expected)
            fuzz_fail("it depends on the pieces whether a secret is found", &text);
        const char last = expected && gone ? text.data[gone - 1] : ' ';
        const bool is_line = last == '\n' || last == '\r'; /* a short one, which went on */
        if (expected &&
            ((gone > match.fourth && !is_line) || at < match.end || at > match.end + 40))
            fuzz_fail("a secret is found too late", &text);
    }
    proxy_pattern_drop(pattern);
    laz_buf_fini(&text);
    return 0;
}
