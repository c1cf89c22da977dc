/* SPDX-License-Identifier: MIT */
/* test_audit_chain.c - records of the audit log: their form, their chain, and that verification
 * finds and names every change of a log. */
#include "unit.h"

#include "base/digest.h"
#include "base/json.h"
#include "audit/audit.h"
#include "audit/audit_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 9

/* ---- the digest ----------------------------------------------------------------------------- */

/* The examples of FIPS 180-4 and of NIST's file of secure hash examples. */
static void sha256_gives_the_examples_of_its_standard(void)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    struct laz_sha256 sha256;
    char hex[LAZ_SHA256_HEX + 1];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        laz_sha256_init(&sha256);
        laz_sha256_add(&sha256, rows[i].text, strlen(rows[i].text));
        laz_sha256_hex(&sha256, hex);
        UNIT_TEXT(hex, rows[i].digest);
    }
    for (int i = 0; i < 1000000; i++) /* the state is reset after a digest */
        laz_sha256_add(&sha256, "a", 1);
    laz_sha256_hex(&sha256, hex);
    UNIT_TEXT(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* ---- fields --------------------------------------------------------------------------------- */

static void fields_are_json_whatever_is_in_them(void)
{
    static const char hostile[] = "a\nb\r\t\x1b[31m\"\\\x7f\xc2\x9b"
                                  "31m\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\xf3\xa0\x80\x81\xc3\xa9";
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    laz_audit_string(&line, "t", hostile);
    UNIT_TEXT(laz_buf_text(&line.members),
              ",\"t\":\"a\\nb\\r\\t\\u001b[31m\\\"\\\\\\u007f\\u009b31m\\u202e\\u2028\\ufeff"
              "\\udb40\\udc01\xc3\xa9\"");
    laz_audit_line_fini(&line);
    laz_audit_string(&line, "none", NULL);
    laz_audit_number(&line, "n", UINT64_MAX);
    laz_audit_bool(&line, "b", true);
    laz_audit_seconds(&line, "s", 1000002);
    laz_audit_json(&line, "j", "{\"x\":\"\xc2\x9b\"}", 10);
    laz_audit_json(&line, "k", NULL, 0);
    UNIT_TEXT(laz_buf_text(&line.members),
              ",\"none\":null,\"n\":18446744073709551615,\"b\":true,\"s\":1.000002,"
              "\"j\":{\"x\":\"\\u009b\"},\"k\":null");
    laz_audit_line_fini(&line);
}

static void what_is_no_utf8_keeps_its_digest(void)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    laz_audit_text(&line, "t", "a\0b\xff", 4, 100);
    UNIT_TEXT(laz_buf_text(&line.members),
              ",\"t\":\"a\xef\xbf\xbd"
              "b\xef\xbf\xbd\",\"t_length\":4,\"t_sha256\":"
              "\"a37cc3026aae4d519e0b19c298fa913b4dccfdf0658cbccbb7deaa0226d5acdb\"");
    laz_audit_line_fini(&line);
}

/* 15 000 lines of code, and a mebibyte of the longest escapes. */
static void long_fields_are_cut_with_length_and_digest(void)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
    struct laz_buf code = LAZ_BUF_INIT;
    struct laz_sha256 sha256;
    char hex[LAZ_SHA256_HEX + 1];
    const char *raw;
    size_t len;

    for (int i = 0; i < 15000; i++)
        laz_buf_puts(&code, "x <- 1\n");
    laz_audit_text(&line, "code", code.data, code.len, LAZ_AUDIT_CODE_MAX);
    line.members.data[0] = '{';
    laz_buf_putc(&line.members, '}');
    CU_ASSERT_FATAL(laz_json_scan(line.members.data, line.members.len, NULL) == 0);
    CU_ASSERT_FATAL(laz_json_member(line.members.data, line.members.len, "code", &raw, &len));
    char *text = laz_json_to_string(raw, len, &len);
    CU_ASSERT_EQUAL(len, 10000);
    UNIT_TEXT(text + len - 15, "... [truncated]");
    CU_ASSERT_EQUAL(memcmp(text, code.data, len - 15), 0);
    free(text);
    laz_sha256_init(&sha256);
    laz_sha256_add(&sha256, code.data, code.len);
    laz_sha256_hex(&sha256, hex);
    CU_ASSERT(strstr(line.members.data, hex) != NULL);
    CU_ASSERT(strstr(line.members.data, "\"code_length\":105000") != NULL);
    laz_audit_line_fini(&line);
    laz_buf_clear(&code);
    while (code.len < 1 << 20)
        laz_buf_append(&code, "\x1b\xf3\xa0\x80\x81", 5);
    laz_audit_text(&line, "code", code.data, code.len, LAZ_AUDIT_CODE_MAX);
    laz_audit_json(&line, "args", code.data, code.len);
    CU_ASSERT(line.members.len < LAZ_AUDIT_LINE_MAX);
    laz_audit_line_fini(&line);
    laz_buf_fini(&code);
}

/* ---- a log and its changes ------------------------------------------------------------------ */

struct log {
    struct laz_buf lines[LINES + 2];
    size_t n;
};

static void log_add(struct log *log, struct laz_audit_link *link, const char *event,
                    const char *members)
{
    laz_audit_link_add(link, event, "0123456789abcdef", members, strlen(members),
                       &log->lines[log->n++]);
}

static void log_make(struct log *log)
{
    struct laz_audit_link link;
    char members[64];

    *log = (struct log){.n = 0};
    laz_audit_link_init(&link);
    for (int i = 0; i < LINES; i++) {
        snprintf(members, sizeof members, ",\"code\":\"%d\\n\"", i);
        log_add(log, &link, i ? "execute_start" : "session_start", members);
    }
}

static void log_free(struct log *log)
{
    for (size_t i = 0; i < sizeof log->lines / sizeof *log->lines; i++)
        laz_buf_fini(&log->lines[i]);
}

/* Inserts a copy of line `from` as line `at`. */
static void log_insert(struct log *log, size_t at, size_t from)
{
    struct laz_buf copy = LAZ_BUF_INIT;

    laz_buf_append(&copy, log->lines[from].data, log->lines[from].len);
    memmove(&log->lines[at + 1], &log->lines[at], (log->n - at) * sizeof copy);
    log->lines[at] = copy;
    log->n++;
}

struct findings {
    size_t n;
    enum laz_audit_finding kind[32];
    uint64_t line[32];
};

static void note_finding(void *user, enum laz_audit_finding finding, uint64_t line,
                         const char *text)
{
    struct findings *findings = user;

    CU_ASSERT(*text && !strchr(text, '\n'));
    if (findings->n < 32) {
        findings->kind[findings->n] = finding;
        findings->line[findings->n++] = line;
    }
}

/* Verifies the text in pieces of every size up to 7 and as a whole, with the same result. */
static bool verify(const char *text, size_t len, struct findings *findings,
                   struct laz_audit_link *last)
{
    bool good = false;

    for (size_t step = 1; step <= 8; step++) {
        struct laz_audit_verify v;
        struct findings found = {0};
        size_t piece = step == 8 ? len + 1 : step;
        laz_audit_verify_init(&v, note_finding, &found);
        for (size_t at = 0; at < len; at += piece)
            laz_audit_verify_feed(&v, text + at, len - at < piece ? len - at : piece);
        bool now = laz_audit_verify_end(&v);
        if (step > 1)
            CU_ASSERT(now == good && memcmp(&found, findings, sizeof found) == 0);
        good = now;
        *findings = found;
        if (last)
            *last = v.last;
        laz_audit_verify_fini(&v);
    }
    return good;
}

static bool verify_log(const struct log *log, struct findings *findings,
                       struct laz_audit_link *last)
{
    struct laz_buf text = LAZ_BUF_INIT;

    for (size_t i = 0; i < log->n; i++)
        laz_buf_append(&text, log->lines[i].data, log->lines[i].len);
    bool good = verify(laz_buf_text(&text), text.len, findings, last);
    laz_buf_fini(&text);
    return good;
}

/* The log is not intact, and the first finding has this kind and line. */
static void finds(const struct log *log, enum laz_audit_finding kind, uint64_t line)
{
    struct findings found;

    CU_ASSERT_FALSE(verify_log(log, &found, NULL));
    CU_ASSERT_FATAL(found.n > 0);
    if (found.kind[0] != kind || found.line[0] != line)
        printf("\n    found %s in line %u, expected %s in line %u",
               laz_audit_findings[found.kind[0]].name, (unsigned)found.line[0],
               laz_audit_findings[kind].name, (unsigned)line);
    CU_ASSERT(found.kind[0] == kind && found.line[0] == line);
}

static void a_log_is_intact_as_it_was_written(void)
{
    struct laz_audit_record record;
    struct laz_audit_link last;
    struct findings found;
    struct log log;

    CU_ASSERT_TRUE(verify("", 0, &found, &last));
    CU_ASSERT_EQUAL(last.seq, 0);
    log_make(&log);
    CU_ASSERT_TRUE(verify_log(&log, &found, &last));
    CU_ASSERT_EQUAL(found.n, 0);
    CU_ASSERT_EQUAL(last.seq, LINES);
    CU_ASSERT(strstr(log.lines[LINES - 1].data, last.hash) != NULL);
    for (size_t i = 0; i < LINES; i++)
        CU_ASSERT(laz_audit_record_parse(&record, log.lines[i].data, log.lines[i].len - 1));
    log.lines[LINES - 1].len--; /* its newline: the record itself is complete */
    CU_ASSERT_TRUE(verify_log(&log, &found, &last));
    CU_ASSERT_EQUAL(last.seq, LINES);
    log_free(&log);
}

static void a_removed_record_is_found(void)
{
    for (size_t gone = 0; gone + 1 < LINES; gone++) {
        struct log log;
        log_make(&log);
        laz_buf_clear(&log.lines[gone]);
        finds(&log, LAZ_AUDIT_MISSING, gone + 1);
        log_free(&log);
    }
}

static void removing_the_last_is_found_by_its_hash(void)
{
    struct laz_audit_link before, after;
    struct findings found;
    struct log log;

    log_make(&log);
    CU_ASSERT_TRUE(verify_log(&log, &found, &before));
    log.n--;
    CU_ASSERT_TRUE(verify_log(&log, &found, &after)); /* the chain alone cannot show that */
    CU_ASSERT(strcmp(before.hash, after.hash) != 0);
    log.n++;
    log_free(&log);
}

static void every_changed_byte_is_found(void)
{
    struct log log;

    log_make(&log);
    for (size_t at = 0; at < log.lines[3].len; at++) {
        struct findings found;
        log.lines[3].data[at] ^= 1;
        CU_ASSERT_FALSE(verify_log(&log, &found, NULL));
        CU_ASSERT(found.n > 0 && found.line[0] >= 4 && found.line[0] <= 5);
        log.lines[3].data[at] ^= 1;
    }
    char *digit = strstr(log.lines[3].data, "\"code\":\"3") + 8;
    *digit = '7';
    finds(&log, LAZ_AUDIT_CHANGED, 4);
    log_free(&log);
}

/* An attacker changes a record and computes its hash anew. */
static void a_changed_record_with_a_new_hash_is_found_after_it(void)
{
    struct laz_audit_record record;
    struct laz_audit_link link;
    struct log log;

    log_make(&log);
    CU_ASSERT_FATAL(laz_audit_record_parse(&record, log.lines[2].data, log.lines[2].len - 1));
    link = record.link;
    laz_buf_clear(&log.lines[3]);
    laz_audit_link_add(&link, "execute_start", NULL, ",\"code\":\"harmless\"", 18, &log.lines[3]);
    finds(&log, LAZ_AUDIT_CHANGED, 5);
    log_free(&log);
}

static void moved_records_are_found(void)
{
    for (size_t i = 0; i + 2 < LINES; i++) {
        struct log log;
        log_make(&log);
        struct laz_buf swap = log.lines[i];
        log.lines[i] = log.lines[i + 1];
        log.lines[i + 1] = swap;
        finds(&log, LAZ_AUDIT_MISSING, i + 1);
        log_free(&log);
    }
}

static void a_record_put_in_is_found(void)
{
    struct laz_audit_link link = {.seq = 4};
    struct findings found;
    struct log log;

    log_make(&log);
    log_insert(&log, 4, 3); /* repeated */
    finds(&log, LAZ_AUDIT_ORDER, 5);
    log_free(&log);
    log_make(&log);
    memset(link.hash, 'a', LAZ_SHA256_HEX);
    laz_audit_link_add(&link, "execute_start", NULL, "", 0, &log.lines[3]); /* its right number */
    finds(&log, LAZ_AUDIT_CHANGED, 5);
    log_free(&log);
    log_make(&log);
    laz_buf_puts(&log.lines[3], "{\"seq\":5,\"note\":\"all is well\"}\n");
    finds(&log, LAZ_AUDIT_NO_RECORD, 5);
    CU_ASSERT_FALSE(verify_log(&log, &found, NULL));
    CU_ASSERT_EQUAL(found.n, 1); /* the records around it match */
    log_free(&log);
    log_make(&log);
    laz_buf_putc(&log.lines[3], '\n');
    finds(&log, LAZ_AUDIT_NO_RECORD, 5);
    log_free(&log);
}

static void a_cut_record_is_found(void)
{
    for (size_t gone = 0; gone < LINES; gone++) {
        for (size_t keep = 1; keep < 200; keep += 40) {
            struct log log;
            log_make(&log);
            log.lines[gone].len = keep;
            if (gone + 1 < LINES)
                laz_buf_putc(&log.lines[gone], '\n');
            finds(&log, gone + 1 < LINES ? LAZ_AUDIT_NO_RECORD : LAZ_AUDIT_UNFINISHED, gone + 1);
            log_free(&log);
        }
    }
}

static void a_line_longer_than_any_record_is_none(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct findings found;
    struct log log;

    log_make(&log);
    laz_buf_append(&text, log.lines[0].data, log.lines[0].len);
    for (size_t i = 0; i < 3 * LAZ_AUDIT_LINE_MAX; i += 16)
        laz_buf_puts(&text, "0123456789abcdef");
    laz_buf_putc(&text, '\n');
    laz_buf_append(&text, log.lines[1].data, log.lines[1].len);
    CU_ASSERT_FALSE(verify(text.data, text.len, &found, NULL));
    CU_ASSERT(found.n == 1 && found.kind[0] == LAZ_AUDIT_NO_RECORD && found.line[0] == 2);
    laz_buf_fini(&text);
    log_free(&log);
}

/* ---- the end of a log ----------------------------------------------------------------------- */

static void the_end_of_a_log_is_told(void)
{
    static const struct {
        const char *after;
        enum laz_audit_tail tail;
    } rows[] = {
        {"", LAZ_AUDIT_TAIL_CLEAN},        {"{\"seq\":10,\"timest", LAZ_AUDIT_TAIL_TORN},
        {"{", LAZ_AUDIT_TAIL_TORN},        {"{\"seq\":10,\n{\"seq\":10,\"a", LAZ_AUDIT_TAIL_TORN},
        {"hello", LAZ_AUDIT_TAIL_FOREIGN}, {"{\"seq\":10}\n", LAZ_AUDIT_TAIL_FOREIGN},
        {"\n", LAZ_AUDIT_TAIL_FOREIGN},    {"{\"seq\":10,\nhello", LAZ_AUDIT_TAIL_FOREIGN},
    };
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_audit_link link;
    struct log log;
    size_t rest;

    log_make(&log);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        laz_buf_clear(&text);
        laz_buf_append(&text, log.lines[7].data, log.lines[7].len);
        laz_buf_append(&text, log.lines[8].data, log.lines[8].len);
        laz_buf_puts(&text, rows[i].after);
        CU_ASSERT_EQUAL(laz_audit_tail(text.data, text.len, false, &link, &rest), rows[i].tail);
        CU_ASSERT_EQUAL(link.seq, 9);
        CU_ASSERT_EQUAL(rest, strlen(rows[i].after));
    }
    CU_ASSERT_EQUAL(laz_audit_tail("", 0, true, &link, &rest), LAZ_AUDIT_TAIL_CLEAN);
    CU_ASSERT_EQUAL(laz_audit_tail("{\"seq\":1", 8, true, &link, &rest), LAZ_AUDIT_TAIL_TORN);
    CU_ASSERT_EQUAL(laz_audit_tail("{\"seq\":1", 8, false, &link, &rest), LAZ_AUDIT_TAIL_UNKNOWN);
    CU_ASSERT_EQUAL(laz_audit_tail("# notes\n", 8, true, &link, &rest), LAZ_AUDIT_TAIL_UNKNOWN);
    CU_ASSERT_EQUAL(laz_audit_tail("\n", 1, true, &link, &rest), LAZ_AUDIT_TAIL_UNKNOWN);
    /* a record without its newline */
    CU_ASSERT_EQUAL(laz_audit_tail(log.lines[0].data, log.lines[0].len - 1, true, &link, &rest),
                    LAZ_AUDIT_TAIL_CLEAN);
    CU_ASSERT(link.seq == 1 && rest == 0);
    laz_buf_fini(&text);
    log_free(&log);
}

/* ---- for people ----------------------------------------------------------------------------- */

static void showing_a_record_is_one_harmless_line(void)
{
    struct laz_buf out = LAZ_BUF_INIT, record = LAZ_BUF_INIT;
    struct laz_audit_link link;
    /* a hostile log: raw C1 and marks of direction in a value and in a key */
    static const char members[] = ",\"co\xc2\x9b\\u000ade\":\"\xe2\x80\xaetxt\\u001b[2J\"";

    laz_audit_link_init(&link);
    laz_audit_link_add(&link, "execute_start", "0123456789abcdef", members, sizeof members - 1,
                       &record);
    CU_ASSERT_TRUE(laz_audit_show(record.data, record.len - 1, &out));
    CU_ASSERT(strstr(out.data, "  0123456789abcdef  execute_start  co\\u009b\\nde=\"\\u202etxt"
                               "\\u001b[2J\"") != NULL);
    for (size_t i = 0; i < out.len; i++)
        CU_ASSERT((unsigned char)out.data[i] >= 0x20 && (unsigned char)out.data[i] < 0x7f);
    laz_buf_clear(&out);
    laz_buf_clear(&record); /* white space that JSON allows */
    laz_audit_link_init(&link);
    laz_audit_link_add(&link, "execute_start", NULL, ",\"limits\":{\"cpu\":\r0}", 20, &record);
    laz_buf_clear(&out);
    CU_ASSERT_FALSE(laz_audit_show(record.data, record.len - 1, &out));
    CU_ASSERT(!strchr(out.data, '\r'));
    laz_buf_clear(&out);
    CU_ASSERT_FALSE(laz_audit_show("\x1b[2J\xff", 5, &out));
    UNIT_TEXT(out.data, "not a record: \"\\u001b[2J\xef\xbf\xbd\"");
    laz_buf_fini(&out);
    laz_buf_fini(&record);
}

static const struct unit_test tests[] = {
    UNIT(sha256_gives_the_examples_of_its_standard),
    UNIT(fields_are_json_whatever_is_in_them),
    UNIT(what_is_no_utf8_keeps_its_digest),
    UNIT(long_fields_are_cut_with_length_and_digest),
    UNIT(a_log_is_intact_as_it_was_written),
    UNIT(a_removed_record_is_found),
    UNIT(removing_the_last_is_found_by_its_hash),
    UNIT(every_changed_byte_is_found),
    UNIT(a_changed_record_with_a_new_hash_is_found_after_it),
    UNIT(moved_records_are_found),
    UNIT(a_record_put_in_is_found),
    UNIT(a_cut_record_is_found),
    UNIT(a_line_longer_than_any_record_is_none),
    UNIT(the_end_of_a_log_is_told),
    UNIT(showing_a_record_is_one_harmless_line),
    {0},
};

int main(void)
{
    return unit_run("audit chain", tests);
}
