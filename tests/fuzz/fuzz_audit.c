/* SPDX-License-Identifier: MIT */
/* fuzz_audit.c - an audit log of any bytes: verification gives the same result however the bytes
 * are split; an intact log stays intact when a record is added, and does not when a byte of a
 * record is changed; each record is shown as one line that is harmless to a terminal. */
#include "base/json.h"
#include "base/utf8.h"
#include "audit/audit.h"
#include "audit/audit_chain.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

struct report {
    uint64_t digest; /* over all findings in order */
    uint64_t line;
};

static void note(void *user, enum laz_audit_finding finding, uint64_t line, const char *text)
{
    struct report *report = user;

    must(line >= 1 && *text && !strchr(text, '\n') && laz_utf8_is_valid(text, strlen(text)));
    must(laz_audit_findings[finding].name != NULL);
    report->digest = (report->digest * 31 + line) * 31 + (uint64_t)finding + 1;
}

static bool verify(const char *text, size_t len, size_t step, struct report *report,
                   struct laz_audit_link *last)
{
    struct laz_audit_verify verify;

    *report = (struct report){0};
    laz_audit_verify_init(&verify, note, report);
    for (size_t at = 0; at < len; at += step)
        laz_audit_verify_feed(&verify, text + at, len - at < step ? len - at : step);
    bool good = laz_audit_verify_end(&verify);
    must(verify.records <= verify.lines && good == (verify.findings == 0));
    *last = verify.last;
    laz_audit_verify_fini(&verify);
    return good;
}

/* Adds a record to an intact log, and then changes one byte of it. */
static void check_intact(const char *text, size_t len, struct laz_audit_link last)
{
    struct laz_buf more = LAZ_BUF_INIT;
    struct laz_audit_link end;
    struct report report;

    laz_buf_append(&more, text, len);
    if (len && text[len - 1] != '\n')
        laz_buf_putc(&more, '\n');
    size_t at = more.len;
    laz_audit_link_add(&last, "execute_start", NULL, "", 0, &more);
    must(verify(more.data, more.len, more.len, &report, &end) && end.seq == last.seq);
    must(strcmp(end.hash, last.hash) == 0);
    more.data[at + (more.len - at) / 2] ^= 1;
    must(!verify(more.data, more.len, more.len, &report, &end));
    laz_buf_fini(&more);
}

static void check_shown(const char *line, size_t len)
{
    struct laz_buf out = LAZ_BUF_INIT, again = LAZ_BUF_INIT;

    laz_audit_show(line, len, &out);
    must(out.len && laz_utf8_is_valid(out.data, out.len));
    for (size_t i = 0; i < out.len; i++)
        must((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
    laz_audit_harmless(&again, out.data, out.len);
    must(again.len == out.len); /* the result is unchanged by a second pass */
    laz_buf_fini(&out);
    laz_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *at = text, *end = text + size, *newline;
    struct laz_audit_link last, piece_last, tail_last;
    struct report whole, pieces;
    size_t rest;

    bool good = verify(text, size, size ? size : 1, &whole, &last);
    for (size_t step = 1; step < 80; step += 13) {
        must(verify(text, size, step, &pieces, &piece_last) == good);
        must(pieces.digest == whole.digest && piece_last.seq == last.seq);
    }
    enum laz_audit_tail tail = laz_audit_tail(text, size, true, &tail_last, &rest);
    must(rest <= size && (tail != LAZ_AUDIT_TAIL_CLEAN || tail_last.seq == last.seq));
    must(laz_audit_tail(text, size, false, &piece_last, &rest) == LAZ_AUDIT_TAIL_UNKNOWN ||
         piece_last.seq == tail_last.seq);
    if (good)
        check_intact(text, size, last);
    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        check_shown(at, (size_t)(newline - at));
        at = newline + 1;
    }
    check_shown(at, (size_t)(end - at));
    return 0;
}
