/* SPDX-License-Identifier: MIT */
/* audit_verify.c - verifies that an audit log is as it was written.
 * Side: host.  Input trusted: no (the file may have been changed).
 *
 * Each record is compared with the one before it.  After a defect the number and hash in the
 * current record are taken as correct, so that one change is not reported for every later line.
 * Lines that are not records are a defect unless the next record accounts for their bytes: that is
 * how a writer marks an unfinished line of another writer that was killed. */
#include "audit/audit_chain.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct laz_audit_finding_kind laz_audit_findings[] = {
    [LAZ_AUDIT_NO_RECORD] = {"no_record", false},
    [LAZ_AUDIT_CHANGED] = {"changed", false},
    [LAZ_AUDIT_MISSING] = {"missing", false},
    [LAZ_AUDIT_ORDER] = {"order", false},
    [LAZ_AUDIT_UNFINISHED] = {"unfinished", false},
    [LAZ_AUDIT_CUT] = {"cut", false},
    [LAZ_AUDIT_FOREIGN] = {"foreign", false},
    [LAZ_AUDIT_TORN] = {"torn", true},
    [LAZ_AUDIT_LOST] = {"lost", true},
    [LAZ_AUDIT_ROTATED] = {"rotated", true},
};

void laz_audit_verify_init(struct laz_audit_verify *verify,
                           void (*report)(void *user, enum laz_audit_finding finding, uint64_t line,
                                          const char *text),
                           void *user)
{
    *verify = (struct laz_audit_verify){.report = report, .user = user};
    laz_audit_link_init(&verify->last);
}

void laz_audit_verify_fini(struct laz_audit_verify *verify)
{
    laz_buf_fini(&verify->partial);
}

static LAZ_PRINTF(4, 5) void verify_report(struct laz_audit_verify *verify,
                                           enum laz_audit_finding finding, uint64_t line,
                                           const char *format, ...)
{
    char text[320];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    verify->findings += !laz_audit_findings[finding].is_note;
    if (verify->report)
        verify->report(verify->user, finding, line, text);
}

/* ---- lines that are not records ------------------------------------------------------------- */

static void verify_odd_line(struct laz_audit_verify *verify, const char *line, size_t len)
{
    if (verify->odd_first) {
        laz_sha256_add(&verify->odd_digest, "\n", 1);
        verify->odd_bytes++;
    } else {
        verify->odd_first = verify->lines;
        verify->odd_bytes = 0;
        laz_sha256_init(&verify->odd_digest);
    }
    laz_sha256_add(&verify->odd_digest, line, len);
    verify->odd_bytes += len;
}

static bool verify_member_is(const struct laz_audit_record *record, const char *key,
                             const char *value)
{
    const char *raw;
    size_t len;

    return laz_json_member(record->line, record->len, key, &raw, &len) && len == strlen(value) &&
           memcmp(raw, value, len) == 0;
}

static uint64_t verify_number(const struct laz_audit_record *record, const char *key)
{
    const char *raw;
    size_t len;
    int64_t value;

    return laz_json_member(record->line, record->len, key, &raw, &len) &&
                   laz_json_to_int(raw, len, &value) && value > 0
               ? (uint64_t)value
               : 0;
}

/* Checks whether this record accounts for the lines before it that are not records; if not, they
 * are a defect. */
static void verify_settle_odd(struct laz_audit_verify *verify,
                              const struct laz_audit_record *record)
{
    char hex[LAZ_SHA256_HEX + 1], digest[LAZ_SHA256_HEX + 3], bytes[24];
    uint64_t first = verify->odd_first;

    if (!first)
        return;
    verify->odd_first = 0;
    laz_sha256_hex(&verify->odd_digest, hex);
    snprintf(digest, sizeof digest, "\"%s\"", hex);
    snprintf(bytes, sizeof bytes, "%" PRIu64, verify->odd_bytes);
    bool torn = record && laz_audit_record_is(record, "log_torn");
    if ((torn || (record && laz_audit_record_is(record, "log_foreign"))) &&
        laz_audit_record_follows(record, &verify->last) &&
        verify_member_is(record, "bytes", bytes) && verify_member_is(record, "sha256", digest)) {
        if (torn)
            verify_report(verify, LAZ_AUDIT_TORN, first,
                          "a record that its writer did not finish (%s bytes), accounted for by "
                          "record %" PRIu64,
                          bytes, record->link.seq);
        return; /* foreign text is reported at the record that accounts for it */
    }
    verify_report(verify, LAZ_AUDIT_NO_RECORD, first,
                  "not a record of the log (%s bytes): inserted, or damaged", bytes);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Reports records that a writer has made about the log itself. */
static void verify_log_event(struct laz_audit_verify *verify, const struct laz_audit_record *record)
{
    if (laz_audit_record_is(record, "log_cut")) {
        verify_report(verify, LAZ_AUDIT_CUT, verify->lines,
                      "the writer found the log shorter than before: its record %" PRIu64
                      " and others after the record before this line were gone",
                      verify_number(record, "expected_seq"));
    } else if (laz_audit_record_is(record, "log_foreign")) {
        verify_report(verify, LAZ_AUDIT_FOREIGN, verify->lines,
                      "the writer found %" PRIu64 " bytes before this line that are not a record",
                      verify_number(record, "bytes"));
    } else if (laz_audit_record_is(record, "log_lost")) {
        uint64_t lost = verify_number(record, "records");
        verify->lost += lost;
        verify_report(verify, LAZ_AUDIT_LOST, verify->lines,
                      "before this line %" PRIu64 " records could not be written", lost);
    } else if (laz_audit_record_is(record, "log_rotated")) {
        verify_report(verify, LAZ_AUDIT_ROTATED, verify->lines,
                      "the writer continued here after record %" PRIu64 " of another file",
                      verify_number(record, "previous_seq"));
    }
}

static void verify_record(struct laz_audit_verify *verify, const struct laz_audit_record *record)
{
    uint64_t last = verify->last.seq, seq = record->link.seq;

    verify_settle_odd(verify, record);
    verify->records++;
    if (seq == last + 2)
        verify_report(verify, LAZ_AUDIT_MISSING, verify->lines,
                      "a record is missing before this one: number %" PRIu64, last + 1);
    else if (seq > last + 1)
        verify_report(verify, LAZ_AUDIT_MISSING, verify->lines,
                      "records are missing before this one: %" PRIu64 ", numbers %" PRIu64
                      " to %" PRIu64,
                      seq - last - 1, last + 1, seq - 1);
    else if (seq <= last)
        verify_report(verify, LAZ_AUDIT_ORDER, verify->lines,
                      "record %" PRIu64 " comes after record %" PRIu64
                      ": moved, repeated, or inserted",
                      seq, last);
    else if (!laz_audit_record_follows(record, &verify->last))
        verify_report(verify, LAZ_AUDIT_CHANGED, verify->lines,
                      "the hash of record %" PRIu64 " does not fit: this record was changed%s", seq,
                      last ? ", or the one before it" : "");
    verify->last = record->link;
    verify_log_event(verify, record);
}

static void verify_line(struct laz_audit_verify *verify, const char *line, size_t len)
{
    struct laz_audit_record record;

    verify->lines++;
    if (!verify->too_long && laz_audit_record_parse(&record, line, len))
        verify_record(verify, &record);
    else
        verify_odd_line(verify, line, len);
}

/* Of a line that is too long to be a record only the digest is computed; its text is discarded. */
static void verify_overflow(struct laz_audit_verify *verify, const char *data, size_t len)
{
    if (!verify->too_long) {
        verify->too_long = true;
        verify_line(verify, laz_buf_text(&verify->partial), verify->partial.len);
        laz_buf_clear(&verify->partial);
    }
    laz_sha256_add(&verify->odd_digest, data, len);
    verify->odd_bytes += len;
}

void laz_audit_verify_feed(struct laz_audit_verify *verify, const char *data, size_t len)
{
    while (len) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) : len;
        if (verify->too_long || verify->partial.len + n > LAZ_AUDIT_LINE_MAX)
            verify_overflow(verify, data, n);
        else if (verify->partial.len || !newline)
            laz_buf_append(&verify->partial, data, n);
        if (!newline)
            return;
        if (!verify->too_long)
            verify_line(verify, verify->partial.len ? verify->partial.data : data,
                        verify->partial.len ? verify->partial.len : n);
        verify->too_long = false;
        laz_buf_clear(&verify->partial);
        data += n + 1;
        len -= n + 1;
    }
}

bool laz_audit_verify_end(struct laz_audit_verify *verify)
{
    struct laz_audit_record record;

    if (verify->partial.failed) /* out of memory: the log could not be verified */
        verify_report(verify, LAZ_AUDIT_NO_RECORD, verify->lines + 1, "out of memory");
    if (verify->too_long) {
        verify_settle_odd(verify, NULL);
    } else if (verify->partial.len) {
        const char *line = laz_buf_text(&verify->partial);
        if (laz_audit_record_parse(&record, line, verify->partial.len)) {
            verify_line(verify, line, verify->partial.len);
        } else {
            verify_settle_odd(verify, NULL);
            verify->lines++;
            verify_report(verify, LAZ_AUDIT_UNFINISHED, verify->lines,
                          "the last line has no end: its writer was killed, or the file was cut");
        }
    }
    verify_settle_odd(verify, NULL);
    verify->too_long = false;
    laz_buf_clear(&verify->partial);
    return verify->findings == 0;
}
