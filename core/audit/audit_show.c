/* SPDX-License-Identifier: MIT */
/* audit_show.c - a record of the audit log as one line for people.
 * Side: host.  Input trusted: no (the file may have been changed).
 *
 * All text of the file passes laz_audit_harmless before it is shown, so that untrusted code cannot
 * send control sequences to the terminal. */
#include "audit/audit_chain.h"

#include "base/json.h"
#include "audit/audit.h"

#define SHOW_VALUE ((size_t)120) /* bytes of a value */
#define SHOW_ODD   ((size_t)200) /* bytes of a line that is not a record */

/* Appends at most `max` bytes, cut at a character boundary. */
static void show_short(struct laz_buf *out, const char *text, size_t len, size_t max)
{
    struct laz_buf clean = LAZ_BUF_INIT;

    laz_audit_harmless(&clean, text, len < 8 * max ? len : 8 * max); /* makes it UTF-8 */
    size_t keep = clean.len < max ? clean.len : max;
    while (keep && keep < clean.len && ((unsigned char)clean.data[keep] & 0xc0) == 0x80)
        keep--;
    laz_buf_append(out, laz_buf_text(&clean), keep);
    if (keep < clean.len || len > 8 * max)
        laz_buf_puts(out, "...");
    out->failed |= clean.failed;
    laz_buf_fini(&clean);
}

/* Appends a key with its escapes, without quotes. */
static void show_key(struct laz_buf *out, const struct laz_json_found *member)
{
    struct laz_buf key = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT;

    laz_json_decode_string(member->key - 1, member->key_len + 2, &key);
    laz_json_quote(&quoted, laz_buf_text(&key), key.len);
    if (quoted.len > 2)
        show_short(out, quoted.data + 1, quoted.len - 2, SHOW_VALUE);
    out->failed |= key.failed || quoted.failed;
    laz_buf_fini(&key);
    laz_buf_fini(&quoted);
}

static bool show_is_known(const struct laz_json_found *member)
{
    static const char *const keys[] = {"seq", "timestamp", "event", "session_id", "hash"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (laz_json_found_is(member, keys[i]))
            return true;
    return false;
}

/* Appends the text of a string member without quotes; "-" if there is none. */
static void show_member(struct laz_buf *out, const char *line, size_t len, const char *key)
{
    const char *raw;
    size_t n;

    if (laz_json_member(line, len, key, &raw, &n) && n > 2 && raw[0] == '"')
        show_short(out, raw + 1, n - 2, SHOW_VALUE);
    else
        laz_buf_putc(out, '-');
}

static void show_odd(const char *line, size_t len, struct laz_buf *out)
{
    struct laz_buf quoted = LAZ_BUF_INIT;

    laz_json_quote(&quoted, line, len < SHOW_ODD ? len : SHOW_ODD);
    laz_buf_puts(out, "not a record: ");
    laz_audit_harmless(out, laz_buf_text(&quoted), quoted.len);
    if (len > SHOW_ODD)
        laz_buf_puts(out, "...");
    out->failed |= quoted.failed;
    laz_buf_fini(&quoted);
}

bool laz_audit_show(const char *line, size_t len, struct laz_buf *out)
{
    struct laz_audit_record record;
    struct laz_json_found member;

    if (!laz_audit_record_parse(&record, line, len)) {
        show_odd(line, len, out);
        return false;
    }
    show_member(out, line, len, "timestamp");
    laz_buf_puts(out, "  ");
    show_member(out, line, len, "session_id");
    laz_buf_puts(out, "  ");
    show_member(out, line, len, "event");
    struct laz_json_items members = laz_json_members(line, len);
    while (laz_json_next_member(&members, &member)) {
        if (show_is_known(&member))
            continue;
        laz_buf_puts(out, "  ");
        show_key(out, &member);
        laz_buf_putc(out, '=');
        show_short(out, member.raw, member.len, SHOW_VALUE);
    }
    return true;
}
