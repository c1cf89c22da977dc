/* SPDX-License-Identifier: MIT */
/* test_audited.c - sessions with an audit log: everything that happens is recorded in a chain that
 * verifies, and nothing happens that cannot be recorded.
 *
 * After each test the log is read line by line, as JSON. */
#include "live.h"

#include "base/buf.h"
#include "base/json.h"
#include "audit/audit_chain.h"
#include "os/directories.h"
#include "os/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-audited-XXXXXX"; /* removed by main */
static char path[64];                                /* of the log; each test has a new one */

/* ---- the log -------------------------------------------------------------------------------- */

struct log {
    struct laz_buf text;
    char *lines[4096];
    size_t n;
    char *events; /* their names, separated by spaces */
};

/* Reads the log; a missing file is empty. Every line must be a record of one chain. */
static void log_read(struct log *log)
{
    struct laz_audit_verify verify;
    struct laz_buf events = LAZ_BUF_INIT;
    const char *raw;
    size_t len;

    *log = (struct log){.n = 0};
    if (access(path, F_OK) == 0)
        CU_ASSERT_EQUAL(laz_os_read_file(path, (size_t)64 << 20, &log->text, NULL), 0);
    laz_audit_verify_init(&verify, NULL, NULL);
    laz_audit_verify_feed(&verify, laz_buf_text(&log->text), log->text.len);
    CU_ASSERT_TRUE(laz_audit_verify_end(&verify));
    for (size_t i = 0; i < log->text.len; i++) /* no control characters, C1 and DEL included */
        CU_ASSERT(log->text.data[i] == '\n' ||
                  ((unsigned char)log->text.data[i] >= 0x20 && log->text.data[i] != 0x7f &&
                   !((unsigned char)log->text.data[i] == 0xc2 &&
                     (unsigned char)log->text.data[i + 1] < 0xa0)));
    for (char *at = log->text.data, *end; at && (end = strchr(at, '\n')) && log->n < 4096;
         at = end + 1) {
        *end = '\0';
        log->lines[log->n++] = at;
        CU_ASSERT_EQUAL(laz_json_scan(at, strlen(at), NULL), 0);
        CU_ASSERT(laz_json_member(at, strlen(at), "timestamp", &raw, &len) && len == 26 &&
                  raw[11] == 'T' && raw[24] == 'Z');
        CU_ASSERT(laz_json_member(at, strlen(at), "session_id", &raw, &len));
        CU_ASSERT(laz_json_member(at, strlen(at), "event", &raw, &len));
        laz_buf_append(&events, raw + 1, len - 2);
        laz_buf_putc(&events, ' ');
    }
    CU_ASSERT_EQUAL(log->n, verify.records);
    log->events = laz_buf_steal(&events);
    laz_audit_verify_fini(&verify);
}

static void log_free(struct log *log)
{
    laz_buf_fini(&log->text);
    free(log->events);
}

static const char *log_line(const struct log *log, const char *event)
{
    char member[64];

    snprintf(member, sizeof member, "\"event\":\"%s\"", event);
    for (size_t i = 0; i < log->n; i++)
        if (strstr(log->lines[i], member))
            return log->lines[i];
    return NULL;
}

/* Checks that the first record of the event contains this. */
static void log_has(const struct log *log, const char *event, const char *part)
{
    const char *line = log_line(log, event);

    if (!line || !strstr(line, part))
        printf("\n    %s\n    lacks: %s", line ? line : log->events, part);
    CU_ASSERT(line && strstr(line, part));
}

static void log_is(const char *events)
{
    struct log log;

    log_read(&log);
    UNIT_TEXT(log.events, events);
    log_free(&log);
}

static void new_log(void)
{
    static unsigned n;

    snprintf(path, sizeof path, "%s/log%u", base, n++);
}

static struct laz_engine *audited(const char *settings)
{
    new_log();
    char *text = laz_strdupf("audit.file=%s%s%s", path, *settings ? ";" : "", settings);
    struct laz_engine *engine = test_engine(text);

    free(text);
    return engine;
}

/* ---- sessions and executions ---------------------------------------------------------------- */

static void a_session_is_on_record_from_start_to_close(void)
{
    struct laz_engine *engine = audited("");
    struct laz_session *session = test_session(engine, "lua");
    struct log log;
    char id[40];

    if (!session) {
        laz_engine_free(engine);
        return;
    }
    snprintf(id, sizeof id, "\"session_id\":\"%s\"", laz_session_id(session));
    test_hold_clock(engine);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    test_expect(session, "error('user error')", LAZ_VERDICT_ERROR, NULL);
    test_expect(session, "add(2, 3)", LAZ_VERDICT_OK, "5");
    struct test_advance advance = {engine, 1000, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};
    test_expect_with(session, "print('begin') io.flush() while true do end", &options,
                     LAZ_VERDICT_TIMEOUT, NULL);
    test_expect(session, "7", LAZ_VERDICT_OK, "7");
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    laz_session_close(session);
    laz_session_close(session);
    laz_session_free(session);
    laz_engine_free(engine);
    log_read(&log);
    UNIT_TEXT(log.events,
              "session_start execute_start execute_complete execute_start execute_error "
              "execute_start tool_call tool_result execute_complete execute_start execute_timeout "
              "session_restart execute_start execute_complete session_restart session_close ");
    for (size_t i = 0; i < log.n; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(log.lines[i], id));
    log_has(&log, "session_start", "\"runtime\":\"lua\",\"backend\":\"");
    log_has(&log, "session_start", "\"sandbox\":true");
    log_has(&log, "session_start", "\"mechanisms\":{");
    log_has(&log, "session_start", "\"limits\":{\"cpu\":60,");
    log_has(&log, "execute_start", "\"execution\":1,\"code\":\"1 + 1\"");
    log_has(&log, "execute_complete", "\"verdict\":\"ok\"");
    log_has(&log, "execute_error", "user error");
    log_has(&log, "execute_timeout", "\"verdict\":\"timeout\",\"timeout_secs\":1.000000");
    log_has(&log, "tool_call", "\"call\":1,\"tool\":\"add\",\"args\":{\"a\":2,\"b\":3}");
    log_has(&log, "tool_result",
            "\"call\":1,\"tool\":\"add\",\"error\":null,\"result_summary\":\"5\"");
    log_has(&log, "session_restart", "\"cause\":\"replaced\"");
    CU_ASSERT(strstr(log.lines[log.n - 2], "\"cause\":\"asked\"") != NULL);
    log_free(&log);
}

static void executing_once_is_on_record(void)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = audited("");
    struct laz_result *result = NULL;

    if (!engine)
        return;
    int rc = laz_execute(engine, &options, "1", SIZE_MAX, NULL, &result, NULL);
    if (rc != LAZ_ENOENT || !unit_skip("lua", "not built")) {
        CU_ASSERT_EQUAL(rc, 0);
        log_is("session_start execute_start execute_complete session_close ");
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

static void without_a_file_there_is_no_log(void)
{
    struct laz_engine *engine = test_engine("audit.file=\"\"");
    struct laz_session *session = test_session(engine, "lua");

    new_log();
    if (session)
        test_expect(session, "1", LAZ_VERDICT_OK, "1");
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
}

static void caps_and_hooks_are_on_record(void)
{
    struct laz_engine *engine =
        audited("session.max_tool_calls=1;session.max_code_length=60;session.max_executions=2;"
                "session.max_output_size=1KiB");
    struct laz_session *session = test_session(engine, "lua");
    struct log log;

    if (session) {
        test_expect(session, "add(1, 1) add(1, 1)", LAZ_VERDICT_TOOL_LIMIT, NULL);
        test_expect(session, "while true do print('xxxxxxxxxxxxxxxxxxxx') end",
                    LAZ_VERDICT_OUTPUT_LIMIT, NULL);
        test_expect(session, "3", LAZ_VERDICT_BLOCKED, NULL);
        laz_session_free(session);
        log_read(&log);
        UNIT_TEXT(log.events, "session_start execute_start tool_call tool_result limit_reached "
                              "execute_error session_restart execute_start limit_reached "
                              "execute_error execute_blocked session_close ");
        log_has(&log, "limit_reached", "\"limit\":\"max_tool_calls\",\"value\":1");
        log_has(&log, "execute_error", "\"verdict\":\"tool_limit\"");
        log_has(&log, "execute_blocked",
                "\"verdict\":\"blocked\",\"reason\":\"Maximum executions (2)");
        log_has(&log, "execute_blocked", "\"code\":\"3\"");
        log_free(&log);
    }
    laz_engine_free(engine);
    engine = audited("session.max_code_length=60;session.pre_execute_hook=[\"/bin/false\"]");
    session = test_session(engine, "lua");
    if (session)
        test_expect(session, "1", LAZ_VERDICT_BLOCKED, NULL);
    laz_session_free(session);
    laz_engine_free(engine);
    if (session) {
        log_read(&log);
        UNIT_TEXT(log.events, "session_start execute_blocked session_close ");
        log_has(&log, "execute_blocked", "pre_execute_hook");
        log_free(&log);
    }
}

static void tools_are_on_record_with_what_came_of_them(void)
{
    const struct laz_execute_options soon = {
        .size = sizeof soon, .timeout_ms = 2000, .deadline_ms = 1000};
    struct laz_engine *engine = audited("");
    struct laz_session *session = test_session(engine, "lua");
    struct log log;

    if (session) {
        test_expect(session, "pcall(fail)", LAZ_VERDICT_OK, NULL);
        test_hold_clock(engine);
        test_expect_with(session, "stuck(1000)", &soon, LAZ_VERDICT_DEADLINE, NULL);
        test_gate_open();
        laz_session_free(session);
        log_read(&log);
        UNIT_TEXT(log.events,
                  "session_start execute_start tool_call tool_result execute_complete "
                  "execute_start tool_call tool_abandoned execute_timeout session_close ");
        log_has(&log, "tool_result", "\"error\":\"");
        log_has(&log, "tool_result", "\"result_summary\":null");
        log_has(&log, "tool_abandoned", "\"call\":1,\"tool\":\"stuck\",\"elapsed_secs\":");
        log_has(&log, "execute_timeout", "\"verdict\":\"deadline\"");
        log_free(&log);
    }
    laz_engine_free(engine);
}

/* Whatever code, arguments and results contain, each event gives one record on one line. */
static void hostile_text_stays_in_its_record(void)
{
    static const char *const texts[] = {
        "a\\nb\\r\\n{\\\"seq\\\":99,\\\"event\\\":\\\"forged\\\"}\\n", "\\27[2J\\7\\8",
        "\\xC2\\x9B31m\\u{202e}\\u{2028}\\u{feff}", "\\u{FFFD}\\u{10FFFF}", "\\\\\\\"'"};
    struct laz_engine *engine = audited("session.max_code_length=0");
    struct laz_session *session = test_session(engine, "lua");
    struct laz_buf code = LAZ_BUF_INIT;
    struct log log;
    size_t n = sizeof texts / sizeof *texts;

    for (size_t i = 0; session && i < n; i++) {
        laz_buf_clear(&code);
        laz_buf_printf(&code, "echo(\"%s\") error(\"%s\") --[[ \n\r\x1b[2J \xe2\x80\xae ]]",
                       texts[i], texts[i]);
        test_expect(session, laz_buf_text(&code), LAZ_VERDICT_ERROR, NULL);
    }
    if (session) {
        test_expect(session, "echo(('x'):rep(1000000)) return 1", LAZ_VERDICT_OK, "1");
        laz_session_free(session);
        log_read(&log);
        CU_ASSERT_EQUAL(log.n, 2 + 4 * (n + 1));
        CU_ASSERT(log.text.len < 64000);
        CU_ASSERT(strstr(log.events, "forged") == NULL);
        const char *last = log.lines[log.n - 4]; /* the arguments of the megabyte */
        CU_ASSERT_PTR_NOT_NULL(
            strstr(last, "... [truncated]\",\"args_length\":1000008,\"args_sha256\":\""));
        log_free(&log);
    }
    laz_buf_fini(&code);
    laz_engine_free(engine);
}

static void long_code_is_cut(void)
{
    struct laz_engine *engine = audited("session.max_code_length=0");
    struct laz_session *session = test_session(engine, "lua");
    struct laz_buf code = LAZ_BUF_INIT;
    struct log log;
    const char *raw;
    size_t len;

    for (int i = 0; i < 15000; i++)
        laz_buf_puts(&code, "x = 1\n");
    if (session) {
        test_expect(session, laz_buf_text(&code), LAZ_VERDICT_OK, NULL);
        laz_session_free(session);
        log_read(&log);
        const char *line = log_line(&log, "execute_start");
        CU_ASSERT_FATAL(line && laz_json_member(line, strlen(line), "code", &raw, &len));
        char *text = laz_json_to_string(raw, len, &len);
        CU_ASSERT_EQUAL(len, 10000);
        UNIT_TEXT(text + len - 11, "[truncated]");
        CU_ASSERT(strstr(line, "\"code_length\":90000,\"code_sha256\":\"") != NULL);
        free(text);
        log_free(&log);
    }
    laz_buf_fini(&code);
    laz_engine_free(engine);
}

/* ---- what is not a place for a log -------------------------------------------------------------
 */

static void engine_is_refused(const char *settings, const char *part)
{
    struct laz_settings *values = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};
    char *text = laz_strdup(settings);

    CU_ASSERT_FATAL(text && laz_settings_new(&values, NULL) == 0);
    for (char *at = strtok(text, ";"); at; at = strtok(NULL, ";")) {
        char *value = strchr(at, '=');
        *value++ = '\0';
        CU_ASSERT_EQUAL(laz_settings_set(values, at, value, &err), 0);
    }
    CU_ASSERT_EQUAL(laz_engine_new(values, NULL, &engine, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NULL(engine);
    if (!strstr(err.text, part))
        printf("\n    %s\n    lacks: %s", err.text, part);
    CU_ASSERT(strstr(err.text, "--set: audit.file: ") == err.text && strstr(err.text, part));
    laz_settings_free(values);
    free(text);
}

static void a_place_that_is_none_is_refused(void)
{
    char settings[256], link[80];

    engine_is_refused("audit.file=/dev/null", "is a device");
    engine_is_refused("audit.file=/dev/stderr;audit.on_error=warn", "/dev/stderr is a");
    new_log();
    snprintf(link, sizeof link, "%s-link", path);
    CU_ASSERT_EQUAL(symlink(path, link), 0);
    snprintf(settings, sizeof settings, "audit.file=%s", link);
    engine_is_refused(settings, "is a symbolic link");
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    snprintf(settings, sizeof settings, "audit.file=%s;sandbox.write=[\"%s\"]", path, base);
    engine_is_refused(settings, "which sandbox.write shows to the code");
    snprintf(settings, sizeof settings, "audit.file=%s;sandbox.read=[\"/tmp/../tmp\"]", path);
    engine_is_refused(settings, "which sandbox.read shows to the code");
}

/* ---- a log that cannot be written ----------------------------------------------------------- */

/* A full disk, as an ordinary user can make one: no file of this process grows beyond the log. */
static void fill_disk(void)
{
    struct rlimit limit;
    struct stat st = {.st_size = 0};

    (void)stat(path, &st);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = (rlim_t)st.st_size;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
}

static void empty_disk(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
}

/* Fills the disk during an execution: its start is recorded, what follows is not. */
static void tool_fill(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    fill_disk();
    laz_reply_value(reply, "true", 4);
}

static unsigned touched;

static void tool_touch(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    touched++;
    laz_reply_value(reply, "true", 4);
}

static struct laz_session *session_with_tools(struct laz_engine *engine)
{
    const struct laz_tool fill = {.size = sizeof fill, .name = "fill", .description = "Fills it"};
    const struct laz_tool touch = {.size = sizeof touch, .name = "touch", .description = "Acts"};

    if (!engine)
        return NULL;
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &fill, tool_fill, NULL, NULL), 0);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &touch, tool_touch, NULL, NULL), 0);
    touched = 0;
    return test_session(engine, "lua");
}

static void nothing_happens_that_is_not_on_record(void)
{
    struct laz_engine *engine = audited("");
    struct laz_session *session = session_with_tools(engine);
    struct log log;

    if (!session) {
        laz_engine_free(engine);
        return;
    }
    test_expect(session, "touch()", LAZ_VERDICT_OK, "true"); /* control: with free space */
    CU_ASSERT_EQUAL(touched, 1);
    fill_disk();
    test_expect_error(session, "touched = 1 touch()", LAZ_VERDICT_BLOCKED, "audit.on_error");
    empty_disk();
    CU_ASSERT_EQUAL(touched, 1);
    test_expect(session, "touched", LAZ_VERDICT_OK, "null"); /* the code did not run */
    /* the disk fills up while code runs */
    struct laz_result *result =
        test_run(session, "fill() local ok, why = pcall(touch) return tostring(why)", NULL);
    empty_disk();
    CU_ASSERT_EQUAL(touched, 1);
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_OK &&
              strstr(laz_result_value(result), "the audit log cannot be written") &&
              !strstr(laz_result_value(result), base));
    CU_ASSERT(test_result_has(result, "records are missing from it"));
    laz_result_free(result);
    test_expect(session, "touch()", LAZ_VERDICT_OK, "true");
    CU_ASSERT_EQUAL(touched, 2);
    laz_session_free(session);
    laz_engine_free(engine);
    log_read(&log);
    CU_ASSERT_PTR_NOT_NULL(log_line(&log, "log_lost"));
    CU_ASSERT_PTR_NULL(strstr(log.events, "log_torn"));
    log_has(&log, "log_lost", "File too large");
    log_free(&log);
}

/* The log was replaced by something else. */
static void no_session_is_opened_without_a_record(void)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = audited("");
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (!engine)
        return;
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    int rc = laz_session_open(engine, &options, &session, &err);
    if (rc != LAZ_ENOENT || !unit_skip("lua", err.text)) {
        CU_ASSERT_EQUAL(rc, LAZ_EREFUSED);
        CU_ASSERT_EQUAL(err.code, LAZ_EREFUSED);
        CU_ASSERT_PTR_NULL(session);
        CU_ASSERT(strstr(err.text, "is a directory") && strstr(err.text, "audit.on_error"));
        rc = laz_execute(engine, &options, "1", SIZE_MAX, NULL, &result, &err);
        CU_ASSERT(rc == LAZ_EREFUSED && !result);
        CU_ASSERT_EQUAL(rmdir(path), 0);
        CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), 0);
        laz_session_free(session);
        log_is("log_lost session_start session_close ");
    }
    laz_engine_free(engine);
}

static void a_warning_is_enough_where_it_is_asked_for(void)
{
    struct laz_engine *engine = audited("audit.on_error=warn");
    struct laz_session *session = session_with_tools(engine);
    struct log log;

    if (session) {
        fill_disk();
        struct laz_result *result = test_run(session, "touch()", NULL);
        empty_disk();
        CU_ASSERT_EQUAL(touched, 1);
        CU_ASSERT(test_result_has(result, "\"ok\":true"));
        CU_ASSERT(test_result_has(result, "4 records are missing from it"));
        laz_result_free(result);
        laz_session_free(session);
        log_read(&log);
        UNIT_TEXT(log.events, "session_start log_lost session_close ");
        log_has(&log, "log_lost", "\"records\":4");
        log_free(&log);
    }
    laz_engine_free(engine);
}

/* ---- hostile peers: the mock agent ---------------------------------------------------------- */

static void fails_to_start(const char *settings, const char *events, const char *reason)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = audited(settings);
    struct laz_session *session = NULL;
    struct log log;

    if (!engine)
        return;
    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, NULL), LAZ_ESETUP);
    laz_engine_free(engine);
    log_read(&log);
    UNIT_TEXT(log.events, events);
    log_has(&log, "session_start_failed", reason);
    log_free(&log);
}

static void failed_starts_and_tokens_are_on_record(void)
{
    test_mock_agent();
    fails_to_start("env.set={MOCK_START='connect|send $tokenx|eof'}",
                   "auth_failed session_start_failed ", "a wrong token was shown");
    fails_to_start("env.set={MOCK_START='connect|token|recv|eof'};session.start_timeout=500ms",
                   "session_start_failed ", "start_timeout");
    fails_to_start("env.set={MOCK_START='connect|token|recv|complain no such symbol|exit 9'}",
                   "session_start_failed ", "no such symbol");
}

static void refused_messages_are_on_record(void)
{
    struct laz_engine *engine = audited("");
    struct laz_session *session = test_session(engine, "lua");
    struct log log;

    if (session) {
        test_expect(session, "ok 1", LAZ_VERDICT_OK, "1");
        test_expect(
            session,
            "send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"nobody\",\"args\":{\"a\":1}}\n"
            "recv\nok 2",
            LAZ_VERDICT_OK, "2");
        test_expect(session, "send hello\n", LAZ_VERDICT_PROTOCOL_ERROR, NULL);
        test_expect(session, "ok 1", LAZ_VERDICT_OK, "1");
        laz_session_free(session);
        log_read(&log);
        UNIT_TEXT(log.events, "session_start execute_start execute_complete execute_start "
                              "tool_refused execute_complete execute_start message_refused "
                              "execute_error session_restart execute_start "
                              "execute_complete session_close ");
        log_has(&log, "tool_refused",
                "\"tool\":\"nobody\",\"args\":{\"a\":1},\"reason\":\"Unknown tool: nobody\"");
        log_has(&log, "message_refused", "\"state\":\"running\",\"reason\":\"");
        log_has(&log, "execute_error", "\"verdict\":\"protocol_error\"");
        log_free(&log);
    }
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(a_session_is_on_record_from_start_to_close),
    UNIT(executing_once_is_on_record),
    UNIT(without_a_file_there_is_no_log),
    UNIT(caps_and_hooks_are_on_record),
    UNIT(tools_are_on_record_with_what_came_of_them),
    UNIT(hostile_text_stays_in_its_record),
    UNIT(long_code_is_cut),
    UNIT(a_place_that_is_none_is_refused),
    UNIT(nothing_happens_that_is_not_on_record),
    UNIT(no_session_is_opened_without_a_record),
    UNIT(a_warning_is_enough_where_it_is_asked_for),
    UNIT(failed_starts_and_tokens_are_on_record), /* from here on with the mock agent */
    UNIT(refused_messages_are_on_record),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    int rc = unit_run("audited sessions", tests);
    laz_os_remove_tree(base);
    return rc;
}
