/* SPDX-License-Identifier: MIT */
/* visible_json.c - untrusted JSON for people who have to decide on it. */
#include "base/visible_json.h"

#include "base/json_text.h"
#include "base/visible.h"

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
