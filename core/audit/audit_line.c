/* SPDX-License-Identifier: MIT */
/* audit_line.c - the fields of one record of the audit log.
 * Side: host.  Input trusted: no (code, arguments, errors and results come from the box).
 *
 * With any content of its fields, a record is one line of JSON of bounded length that cannot affect
 * a terminal.  A text that does not fit is cut; its length and digest are stored, which still prove
 * what it was. */
#include "audit/audit.h"

#include "base/json.h"
#include "base/utf8.h"
#include "audit/audit_chain.h"

#include <inttypes.h>
#include <string.h>

static const char line_cut[] = "... [truncated]";

void laz_audit_line_fini(struct laz_audit_line *line)
{
    laz_buf_fini(&line->members);
}

/* Control and format characters of Unicode that change what a reader sees: ranges of the general
 * category Cf (and U+2028, U+2029) that are of no use in program text. */
static const struct {
    uint32_t first, last;
} line_unsafe[] = {
    {0x7f, 0x9f},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static bool line_is_unsafe(uint32_t c)
{
    for (size_t i = 0; i < sizeof line_unsafe / sizeof *line_unsafe; i++)
        if (c >= line_unsafe[i].first && c <= line_unsafe[i].last)
            return true;
    return false;
}

void laz_audit_harmless(struct laz_buf *out, const char *json, size_t len)
{
    size_t done = 0;

    for (size_t i = 0; i < len;) {
        size_t n = laz_utf8_sequence(json + i, len - i);
        uint32_t c = n ? laz_utf8_code_point(json + i, n) : 0xfffd;
        if (n && !line_is_unsafe(c)) {
            i += n;
            continue;
        }
        laz_buf_append(out, json + done, i - done);
        if (c > 0xffff)
            laz_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                           0xdc00 + ((c - 0x10000) & 0x3ff));
        else
            laz_buf_printf(out, "\\u%04x", c);
        i += n ? n : 1;
        done = i;
    }
    if (len > done)
        laz_buf_append(out, json + done, len - done);
}

static void line_key(struct laz_audit_line *line, const char *key)
{
    laz_buf_printf(&line->members, ",\"%s\":", key);
}

/* Number of bytes of the first `max` characters; an invalid byte counts as a character. */
static size_t line_prefix(const char *text, size_t len, size_t max)
{
    size_t i = 0;

    for (size_t characters = 0; i < len && characters < max; characters++) {
        size_t n = laz_utf8_sequence(text + i, len - i);
        i += n ? n : 1;
    }
    return i;
}

void laz_audit_text(struct laz_audit_line *line, const char *key, const char *text, size_t len,
                    size_t max)
{
    struct laz_buf kept = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT;
    char hex[LAZ_SHA256_HEX + 1];

    line_key(line, key);
    if (!text) {
        laz_buf_puts(&line->members, "null");
        return;
    }
    bool cut = line_prefix(text, len, max) < len;
    size_t keep = cut ? line_prefix(text, len, max - strlen(line_cut)) : len;
    laz_buf_append(&kept, text, keep);
    if (cut)
        laz_buf_puts(&kept, line_cut);
    laz_json_quote(&quoted, laz_buf_text(&kept), kept.len);
    laz_audit_harmless(&line->members, laz_buf_text(&quoted), quoted.len);
    if (cut || !laz_utf8_is_valid(text, keep) || (keep && memchr(text, 0, keep))) {
        laz_audit_digest("", text, len, hex);
        laz_buf_printf(&line->members, ",\"%s_length\":%zu,\"%s_sha256\":\"%s\"", key, len, key,
                       hex);
    }
    line->members.failed |= kept.failed || quoted.failed;
    laz_buf_fini(&kept);
    laz_buf_fini(&quoted);
}

void laz_audit_string(struct laz_audit_line *line, const char *key, const char *text)
{
    laz_audit_text(line, key, text, text ? strlen(text) : 0, LAZ_AUDIT_TEXT_MAX);
}

void laz_audit_number(struct laz_audit_line *line, const char *key, uint64_t value)
{
    line_key(line, key);
    laz_buf_printf(&line->members, "%" PRIu64, value);
}

void laz_audit_seconds(struct laz_audit_line *line, const char *key, uint64_t us)
{
    line_key(line, key);
    laz_buf_printf(&line->members, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

void laz_audit_bool(struct laz_audit_line *line, const char *key, bool value)
{
    line_key(line, key);
    laz_buf_puts(&line->members, value ? "true" : "false");
}

void laz_audit_json(struct laz_audit_line *line, const char *key, const char *json, size_t len)
{
    if (json && len > LAZ_AUDIT_JSON_MAX) {
        laz_audit_text(line, key, json, len, LAZ_AUDIT_JSON_MAX / 4);
        return;
    }
    line_key(line, key);
    if (json)
        laz_audit_harmless(&line->members, json, len);
    else
        laz_buf_puts(&line->members, "null");
}
