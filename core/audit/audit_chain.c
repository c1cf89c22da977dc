/* SPDX-License-Identifier: MIT */
/* audit_chain.c - the hash chain of the records of an audit log.
 * Side: host.  Input trusted: no (the file may have been changed).
 *
 * The hash covers the bytes of the file, not a canonical form made from them, so that a script of
 * ten lines can verify it. */
#include "audit/audit_chain.h"

#include "base/clock.h"
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

static const char chain_begin[] = "{\"seq\":";
static const char chain_hash[] = ",\"hash\":\"";

void laz_audit_link_init(struct laz_audit_link *link)
{
    link->seq = 0;
    memset(link->hash, '0', LAZ_SHA256_HEX);
    link->hash[LAZ_SHA256_HEX] = '\0';
}

void laz_audit_digest(const char *before, const char *text, size_t len,
                      char hex[LAZ_SHA256_HEX + 1])
{
    struct laz_sha256 sha256;

    laz_sha256_init(&sha256);
    laz_sha256_add(&sha256, before, strlen(before));
    laz_sha256_add(&sha256, text, len);
    laz_sha256_hex(&sha256, hex);
}

void laz_audit_link_add(struct laz_audit_link *link, const char *event, const char *session,
                        const char *members, size_t len, struct laz_buf *out)
{
    char stamp[LAZ_CLOCK_STAMP];
    size_t start = out->len;

    laz_clock_stamp(stamp);
    laz_buf_printf(out, "%s%" PRIu64 ",\"timestamp\":\"%s\",\"event\":\"%s\",\"session_id\":",
                   chain_begin, ++link->seq, stamp, event);
    if (session)
        laz_buf_printf(out, "\"%s\"", session);
    else
        laz_buf_puts(out, "null");
    if (len)
        laz_buf_append(out, members, len);
    if (out->failed)
        return;
    laz_audit_digest(link->hash, out->data + start, out->len - start, link->hash);
    laz_buf_printf(out, "%s%s\"}\n", chain_hash, link->hash);
}

static bool chain_is_hex(const char *text)
{
    for (size_t i = 0; i < LAZ_SHA256_HEX; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* True if there is a control byte. JSON allows some between its tokens, but we write none. */
static bool chain_has_controls(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    return false;
}

bool laz_audit_record_parse(struct laz_audit_record *record, const char *line, size_t len)
{
    const size_t begin = sizeof chain_begin - 1, hash = sizeof chain_hash - 1;
    const size_t end = hash + LAZ_SHA256_HEX + 2; /* length of the end: key, hash, quote, brace */
    uint64_t seq = 0;
    size_t i = begin;

    if (len > LAZ_AUDIT_LINE_MAX || len < begin + 2 + end || memcmp(line, chain_begin, begin) != 0)
        return false;
    for (; i < len && i < begin + 18 && line[i] >= '0' && line[i] <= '9'; i++)
        seq = seq * 10 + (uint64_t)(line[i] - '0');
    const char *tail = line + len - end;
    if (!seq || line[begin] == '0' || line[i] != ',' || memcmp(tail, chain_hash, hash) != 0 ||
        !chain_is_hex(tail + hash) || memcmp(tail + hash + LAZ_SHA256_HEX, "\"}", 2) != 0 ||
        chain_has_controls(line, len) || laz_json_scan(line, len, NULL))
        return false;
    *record = (struct laz_audit_record){.line = line, .len = len, .hashed = len - end};
    record->link.seq = seq;
    memcpy(record->link.hash, tail + hash, LAZ_SHA256_HEX);
    return true;
}

bool laz_audit_record_follows(const struct laz_audit_record *record,
                              const struct laz_audit_link *before)
{
    char hex[LAZ_SHA256_HEX + 1];

    laz_audit_digest(before->hash, record->line, record->hashed, hex);
    return strcmp(hex, record->link.hash) == 0;
}

bool laz_audit_record_is(const struct laz_audit_record *record, const char *event)
{
    const char *raw;
    size_t len, want = strlen(event);

    return laz_json_member(record->line, record->len, "event", &raw, &len) && len == want + 2 &&
           memcmp(raw + 1, event, want) == 0;
}

/* True if every line begins like a record, as far as it goes, and the last line has no newline. */
static bool chain_is_torn(const char *data, size_t len)
{
    while (len) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) : len;
        size_t known = sizeof chain_begin - 1 < n ? sizeof chain_begin - 1 : n;
        if (memcmp(data, chain_begin, known) != 0)
            return false;
        if (!newline)
            return true;
        data += n + 1;
        len -= n + 1;
    }
    return false;
}

static const char *chain_last_newline(const char *data, size_t len)
{
    while (len && data[len - 1] != '\n')
        len--;
    return len ? data + len - 1 : NULL;
}

enum laz_audit_tail laz_audit_tail(const char *data, size_t len, bool whole,
                                   struct laz_audit_link *link, size_t *rest)
{
    struct laz_audit_record record;
    size_t stop = len; /* end of the line that is looked at; the last may lack its newline */
    const char *newline;

    laz_audit_link_init(link);
    *rest = 0;
    do {
        newline = chain_last_newline(data, stop);
        if (!newline && !whole)
            break;
        size_t start = newline ? (size_t)(newline + 1 - data) : 0;
        if (laz_audit_record_parse(&record, data + start, stop - start)) {
            *link = record.link;
            *rest = stop < len ? len - stop - 1 : 0;
            break;
        }
        stop = start ? start - 1 : 0;
    } while (newline);
    if (!link->seq) {
        *rest = len;
        if (!whole || (len && !chain_is_torn(data, len)))
            return LAZ_AUDIT_TAIL_UNKNOWN;
    }
    if (!*rest)
        return LAZ_AUDIT_TAIL_CLEAN;
    return chain_is_torn(data + len - *rest, *rest) ? LAZ_AUDIT_TAIL_TORN : LAZ_AUDIT_TAIL_FOREIGN;
}
