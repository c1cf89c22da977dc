/* SPDX-License-Identifier: MIT */
/* visible.c - untrusted text for a terminal, which shows it and does not act on it. */
#include "base/visible.h"

#include "base/json_text.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Marks that change the direction of the text behind them, or break lines (UAX 9). */
static bool visible_is_mark(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* The same as laz_buf_printf(out, "\\%c%0*x", kind, digits, code), but faster. */
static void visible_hex(struct laz_buf *out, char kind, unsigned digits, uint32_t code)
{
    char text[2 + 8] = {'\\', kind};

    for (unsigned i = 0; i < digits; i++)
        text[2 + i] = "0123456789abcdef"[code >> (4 * (digits - 1 - i)) & 15];
    laz_buf_append(out, text, 2 + digits);
}

/* One whole character of n bytes; n 0: one byte that is not UTF-8. */
static void visible_put(const struct laz_visible *visible, struct laz_buf *out, const char *text,
                        size_t n)
{
    uint32_t code = n ? laz_utf8_code_point(text, n) : (unsigned char)*text;
    const bool breaks = code == '\n' && !visible->one_line;
    const bool is_control =
        n == 0 || (code < 0x20 && code != '\t' && !breaks) || (code >= 0x7f && code < 0xa0);

    if (is_control && !visible->json)
        visible_hex(out, 'x', 2, code);
    else if (is_control || visible_is_mark(code))
        visible_hex(out, 'u', 4, code);
    else
        laz_buf_append(out, text, n);
}

/* Handles the character at `text`; returns its length. 0: it is incomplete, more may come. */
static size_t visible_next(struct laz_visible *visible, struct laz_buf *out, const char *text,
                           size_t len)
{
    size_t n = laz_utf8_sequence(text, len);

    if (n == 0 && laz_utf8_length(*text) > len && len < sizeof visible->held)
        return 0;
    if (*text == '\r' && !visible->one_line)
        laz_buf_putc(out, '\n');
    else if (!(visible->returned && *text == '\n'))
        visible_put(visible, out, text, n);
    visible->returned = *text == '\r' && !visible->one_line;
    return n ? n : 1;
}

void laz_visible_add(struct laz_visible *visible, struct laz_buf *out, const char *text, size_t len)
{
    while (len || visible->n_held) {
        size_t took;
        if (visible->n_held) { /* a character that came in two pieces */
            while (len && visible->n_held < sizeof visible->held) {
                visible->held[visible->n_held++] = *text++;
                len--;
            }
            took = visible_next(visible, out, visible->held, visible->n_held);
            if (!took)
                return;
            visible->n_held -= took;
            memmove(visible->held, visible->held + took, visible->n_held);
            continue;
        }
        took = visible_next(visible, out, text, len);
        if (!took) {
            memcpy(visible->held, text, len);
            visible->n_held = len;
            return;
        }
        text += took;
        len -= took;
    }
}

void laz_visible_end(struct laz_visible *visible, struct laz_buf *out)
{
    for (size_t i = 0; i < visible->n_held; i++)
        visible_put(visible, out, visible->held + i, 0);
    visible->n_held = 0;
}

void laz_visible_line(struct laz_buf *out, const char *text, size_t len)
{
    struct laz_visible visible = {.one_line = true};

    laz_visible_add(&visible, out, text, len);
    laz_visible_end(&visible, out);
}

/* ---- JSON for people who have to decide on it ------------------------------------------------ */

/* Appends a string between quotes. Returns its length in `raw`; *is_cut: not all of it is shown. */
static size_t visible_string(struct laz_buf *text, const char *raw, size_t len, bool *is_cut)
{
    struct laz_buf read = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT;
    const size_t used = laz_json_decode_string(raw, len, &read);

    *is_cut = read.len > LAZ_VISIBLE_SHOWN;
    for (size_t i = 0; i < read.len && i < LAZ_VISIBLE_SHOWN; i++) {
        if (read.data[i] == '"' || read.data[i] == '\\')
            laz_buf_putc(&quoted, '\\');
        laz_buf_putc(&quoted, read.data[i]);
    }
    laz_buf_putc(text, '"');
    laz_visible_line(text, laz_buf_text(&quoted), quoted.len);
    laz_buf_putc(text, '"');
    text->failed |= quoted.failed || read.failed;
    laz_buf_fini(&read);
    laz_buf_fini(&quoted);
    return used ? used : len;
}

static void visible_value(struct laz_buf *text, const char *raw, size_t len)
{
    const size_t begin = text->len;
    bool is_cut = false;
    size_t i = 0;

    while (i < len && !is_cut && text->len - begin <= LAZ_VISIBLE_SHOWN) {
        if (raw[i] == '"')
            i += visible_string(text, raw + i, len - i, &is_cut);
        else
            laz_buf_putc(text, raw[i++]);
    }
    if (is_cut || i < len)
        laz_buf_printf(text, " ... (%zu bytes in all; the rest is not shown)", len);
}

void laz_visible_members(struct laz_buf *text, const char *object, size_t len)
{
    struct laz_json_items members = laz_json_members(object, len);
    struct laz_json_found found;

    while (laz_json_next_member(&members, &found)) {
        laz_buf_puts(text, "    ");
        laz_visible_line(text, found.key, found.key_len);
        laz_buf_puts(text, " = ");
        visible_value(text, found.raw, found.len);
        laz_buf_putc(text, '\n');
    }
}
