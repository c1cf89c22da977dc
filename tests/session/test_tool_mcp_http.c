/* SPDX-License-Identifier: MIT */
/* test_tool_mcp_http.c - the provider `mcp` with servers over HTTP that are correct, or have one
 * fault (tests/mock/mcp_http.py). */
#include "live.h"
#include "tool_mcp.h"
#include "traces.h"

#include "base/buf.h"
#include "os/directories.h"
#include "engine/engine.h"
#include "os/files.h"
#include "mcp_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/lazaret-test-XXXXXX";
static struct laz_buf told;

static size_t strays; /* answers to nobody that were taken */

static void tell(void *user, uint32_t level, const char *text)
{
    (void)user, (void)level;
    laz_buf_printf(&told, "%s\n", text);
    strays += strstr(text, "it answered a request that is not open") != NULL;
}

/* A server that runs, and an engine with it. */
struct web {
    pid_t pid;
    int input; /* its standard input: it ends with that */
    char port[16];
    struct laz_engine *engine;
    struct laz_session *session;
};

static void web_start(struct web *web, const char *era, const char *fault, const char *form)
{
    char *script = unit_source("tests/mock/mcp_http.py");
    int in[2], out[2];
    size_t n = 0;

    *web = (struct web){.pid = -1};
    CU_ASSERT_EQUAL_FATAL(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    web->pid = fork();
    if (!web->pid) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(PYTHON, PYTHON, "-IS", script, era, fault, form, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    web->input = in[1];
    while (n + 1 < sizeof web->port && read(out[0], web->port + n, 1) == 1 && web->port[n] != '\n')
        n++;
    web->port[n] = '\0';
    CU_ASSERT(n > 0);
    close(out[0]);
    free(script);
}

static void web_engine(struct web *web, const char *scheme, const char *more)
{
    const struct laz_engine_options options = {
        .size = sizeof options, .log = tell, .log_level = LAZ_LOG_DEBUG};
    char *path = laz_strdupf("%s/http.toml", directory), *keys = mcp_patient(more);
    char *text = laz_strdupf("[session]\ntimeout = 0\ndeadline = 0\nstart_timeout = 600\n"
                             "[[tools]]\nprovider = \"mcp\"\nname = \"m\"\n"
                             "url = \"%s:%s/mcp?key=hidden\"\n%s\n",
                             scheme, web->port, keys);
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    laz_buf_clear(&told);
    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, path, &err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &web->engine, &err);
    if (rc)
        printf("\n    %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    laz_settings_free(settings);
    free(path);
    free(keys);
    free(text);
}

static bool web_open(struct web *web, const char *era, const char *fault, const char *form,
                     const char *more)
{
    web_start(web, era, fault, form);
    web_engine(web, "http://127.0.0.1", more);
    web->session = test_session(web->engine, "lua");
    return web->session != NULL;
}

static void web_close(struct web *web)
{
    laz_session_free(web->session);
    laz_engine_free(web->engine);
    close(web->input);
    waitpid(web->pid, NULL, 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

static void tools_of_each_era_and_form_work(void)
{
    static const char *const rows[][2] = {
        {"modern", "json"}, {"modern", "sse"}, {"2025-11-25", "json"}, {"2025-06-18", "sse"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web web;
        if (web_open(&web, rows[i][0], "", rows[i][1], "")) {
            test_expect(web.session,
                        "local ok, why = pcall(m_fail)\n"
                        "return {m_add(1, 2.5).sum, m_get_item{from='x'}.kind, m_text(),\n"
                        "  #m_image().data, ok, why}",
                        LAZ_VERDICT_OK,
                        "[3.5,\"book\",\"gr\u00fc\u00dfe\\nline two\",8,false,"
                        "\"no such [31m item\"]");
            test_expect(web.session,
                        "local v = tool_map(m_add, {{1, 1}, {2, 2}, {3, 3}})\n"
                        "return {m_add(20, 1).sum, #v}",
                        LAZ_VERDICT_OK, NULL);
        }
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&told), "hidden"));
        web_close(&web);
    }
}

static void headers_come_from_where_secrets_are(void)
{
    char *file = laz_strdupf("%s/secret", directory);
    char *from_file = laz_strdupf("headers_file = { X-Secret = \"%s\" }", file);
    const char *const rows[] = {"headers_env = { X-Secret = \"LAZARET_TEST_SECRET\" }", from_file,
                                "headers = { X-Secret = \"s3cr3t\" }"};
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_error err = {0};
    struct web web;

    setenv("LAZARET_TEST_SECRET", "s3cr3t", 1);
    setenv("secret", "s3cr3t", 1);
    CU_ASSERT_EQUAL(laz_os_write_file(file, "s3cr3t\nmore", 11, 0600, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        if (web_open(&web, "modern", "", "json", rows[i]))
            test_expect(web.session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&told), "s3cr3t"));
        web_close(&web);
    }
    web_start(&web, "modern", "", "json");
    web_engine(&web, "http://127.0.0.1", "headers_env = { X-Secret = \"LAZARET_TEST_NOT_SET\" }");
    CU_ASSERT_EQUAL(laz_session_open(web.engine, &options, &web.session, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "LAZARET_TEST_NOT_SET is not set"));
    web_close(&web);
    web_start(&web, "modern", "", "json");
    web_engine(&web, "http://127.0.0.1", "headers = { X-Secret = \"wrong\" }");
    CU_ASSERT_EQUAL(laz_session_open(web.engine, &options, &web.session, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "does not allow it (HTTP status 401)"));
    CU_ASSERT_PTR_NULL(strstr(err.text, "wrong"));
    web_close(&web);
    unsetenv("secret");
    free(from_file);
    free(file);
}

static void a_certificate_that_nobody_knows_is_refused(void)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_error err = {0};
    struct web web;

    web_start(&web, "modern", "", "tls");
    web_engine(&web, "https://localhost", "");
    CU_ASSERT_EQUAL(laz_session_open(web.engine, &options, &web.session, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be reached"));
    CU_ASSERT(strstr(err.text, "certificate") != NULL || strstr(err.text, "SSL") != NULL);
    web_close(&web);
}

static void a_place_without_a_server_is_named(void)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_error err = {0};
    struct web web;

    web_start(&web, "modern", "", "json");
    strcpy(web.port, "1");
    web_engine(&web, "http://127.0.0.1", "");
    CU_ASSERT_EQUAL(laz_session_open(web.engine, &options, &web.session, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be reached"));
    web_close(&web);
}

static void mistakes_in_the_address_are_found(void)
{
    static const struct {
        const char *url, *what;
    } rows[] = {
        {"url = \"http://example.org/mcp\"", "expected https://"},
        {"url = \"ftp://example.org/mcp\"", "expected https://"},
        {"url = \"https://user:word@example.org/\"", "it has a user name"},
        {"url = \"https://example.org/\"\nheaders = { \"a b\" = \"c\" }", "not the name of one"},
        {"url = \"https://example.org/\"\nenv = { a = \"c\" }", "it belongs to a server with"},
        {"url = \"https://example.org/\"\ncommand = [\"/bin/true\"]", "either `command` or `url`"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_settings *settings = NULL;
        struct laz_engine *engine = NULL;
        struct laz_error err = {0};
        char *path = laz_strdupf("%s/wrong.toml", directory);
        char *text = laz_strdupf("[[tools]]\nprovider = \"mcp\"\nname = \"m\"\n%s\n", rows[i].url);
        unlink(path);
        CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
        CU_ASSERT_EQUAL(laz_settings_new(&settings, NULL), 0);
        int rc = laz_settings_load(settings, path, &err);
        if (!rc)
            rc = laz_engine_new(settings, NULL, &engine, &err);
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
        if (!strstr(err.text, rows[i].what))
            printf("\n    lacks %s: %s", rows[i].what, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].what));
        laz_engine_free(engine);
        laz_settings_free(settings);
        free(path);
        free(text);
    }
}

static void tools_that_change_are_refused(void)
{
    struct web web;

    if (web_open(&web, "modern", "", "json", "")) {
        test_expect(web.session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        test_expect(web.session, "m_change('schema')", LAZ_VERDICT_OK, "\"done\"");
        test_expect_error(web.session, "m_text()", LAZ_VERDICT_ERROR, "has changed its arguments");
        test_expect(web.session, "m_add(1, 2).sum", LAZ_VERDICT_OK, "3");
    }
    web_close(&web);
}

static void a_server_that_does_not_tell_is_asked_before_a_call(void)
{
    struct web web;

    if (web_open(&web, "modern", "deaf", "json", "")) {
        test_expect(web.session, "m_change('schema')", LAZ_VERDICT_OK, "\"done\"");
        test_expect(web.session, /* as soon as the end of its words is seen */
                    "local ok, why\n"
                    "repeat ok, why = pcall(m_text) until not ok\n"
                    "return why:match('has changed its arguments')",
                    LAZ_VERDICT_OK, "\"has changed its arguments\"");
    }
    web_close(&web);
}

/* ---- what many events cost --------------------------------------------------------------------
 */

/* Adds `n` times a text, in pieces that do not end where it does, and takes what is whole. Returns
 * the events. */
static size_t events_of(struct mcp_stream *events, const char *text, size_t n)
{
    const size_t len = strlen(text), piece = 16000;
    struct laz_buf all = LAZ_BUF_INIT;
    size_t taken = 0, bytes = 0, data, took;
    char *event;

    for (size_t i = 0; i < n; i++)
        laz_buf_append(&all, text, len);
    for (size_t at = 0; at < all.len; at += piece) {
        const size_t more = all.len - at < piece ? all.len - at : piece;
        CU_ASSERT_FATAL(mcp_stream_add(events, all.data + at, more));
        while ((took = mcp_stream_event(events, &event, &data))) {
            CU_ASSERT(event && data == strlen(event));
            free(event);
            bytes += took;
            taken++;
        }
    }
    CU_ASSERT(bytes <= all.len);
    laz_buf_fini(&all);
    return taken;
}

static void bytes_of_events_are_moved_once_at_most(void)
{
    struct mcp_stream events = {0};
    char *event;
    size_t len;

    CU_ASSERT_EQUAL(events_of(&events, "data: {}\n\n", 40000), 40000);
    CU_ASSERT(events.moved <= 400000);
    CU_ASSERT_EQUAL(events_of(&events, ":\r\n\r\n", 40000), 40000);
    CU_ASSERT(events.moved <= 600000);
    const size_t moved = events.moved;
    CU_ASSERT_EQUAL(events_of(&events, "data: x\n", 50000), 0); /* it is not whole */
    CU_ASSERT_EQUAL(events.moved, moved);
    CU_ASSERT_EQUAL(events_of(&events, "data:\r\n", 1), 0);
    CU_ASSERT(mcp_stream_add(&events, "\r\ndata", 6));
    CU_ASSERT_EQUAL(mcp_stream_event(&events, &event, &len), 8 * 50000 + 9);
    CU_ASSERT_EQUAL(len, 2 * 50000);
    free(event);
    CU_ASSERT_EQUAL(mcp_stream_event(&events, &event, &len), 0);
    mcp_stream_fini(&events);
}

static void bytes_of_lines_are_moved_once_at_most(void)
{
    struct mcp_stream words = {0};
    const char *line;
    char text[1000];
    size_t len, lines = 0, bytes = 0, took;

    memset(text, '\n', sizeof text);
    for (size_t i = 0; i < 200; i++) {
        CU_ASSERT_FATAL(mcp_stream_add(&words, text, sizeof text));
        for (; (took = mcp_stream_line(&words, 100, &line, &len)); bytes += took)
            lines += len == 0;
    }
    CU_ASSERT_EQUAL(lines, 200000);
    CU_ASSERT_EQUAL(bytes, 200000);
    CU_ASSERT(words.moved <= bytes);
    CU_ASSERT(mcp_stream_add(&words, "one\ntw", 6));
    CU_ASSERT_EQUAL(mcp_stream_line(&words, 100, &line, &len), 4);
    CU_ASSERT(len == 3 && memcmp(line, "one", 3) == 0);
    CU_ASSERT_EQUAL(mcp_stream_line(&words, 100, &line, &len), 0);
    CU_ASSERT(mcp_stream_add(&words, "o", 1));
    CU_ASSERT_EQUAL(mcp_stream_line(&words, 2, &line, &len),
                    2); /* it is longer than a line may be */
    CU_ASSERT(len == 2 && memcmp(line, "tw", 2) == 0);
    CU_ASSERT(mcp_stream_add(&words, "\n", 1));
    CU_ASSERT_EQUAL(mcp_stream_line(&words, 2, &line, &len), 2);
    CU_ASSERT(len == 1 && *line == 'o');
    mcp_stream_fini(&words);
}

static void text_is_written_whole_or_replaced(void)
{
    static const struct {
        const char *in, *out;
        size_t most;
    } rows[] = {
        {"A\xf0\x80\x80\xbfZ", "A????Z", 100}, /* overlong forms of '?' */
        {"A\xe0\x80\xbfZ", "A???Z", 100},
        {"A\xc0\xbfZ", "A??Z", 100},
        {"\xe0\x80\x9b[m", "???[m", 100},       /* of ESC */
        {"\xed\xa0\x80", "???", 100},           /* half of a surrogate pair */
        {"\xf4\x90\x80\x80\xff", "?????", 100}, /* beyond U+10FFFF */
        {"\xf0\x9f\x98", "???", 100},           /* cut off */
        {"\xf0\x9f\x98\x80\xc3\xbc?", "\xf0\x9f\x98\x80\xc3\xbc?", 100},
        {"a\xe2\x80\xae\x1b\xc2\x9b!", "a  !", 100}, /* U+202E, ESC, U+009B */
        {"ab\xf0\x9f\x98\x80", "ab...", 5},
        {"\xf0\x80\x80\xbf", "???...", 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *clean = mcp_clean(rows[i].in, strlen(rows[i].in), rows[i].most, false);
        CU_ASSERT_STRING_EQUAL(clean, rows[i].out);
        free(clean);
    }
}

static void the_request_of_an_unread_message_is_found(void)
{
    static const struct {
        const char *text;
        int64_t id;
    } rows[] = {
        {"{\"id\":7,\"result\":{\"content\":[}}", 7},
        {" { \"id\" : 123 , \"result\":\"", 123},
        {"{\"result\":{\"id\":5,\"x\":[[{\"method\":1}]]},\"id\":8}", 8},
        {"{\"result\":\"\\\"}\\\\\",\"id\":8}", 8},
        {"{\"result\":\"\\\\\\\",\"id\":8}", 0}, /* it is in a string */
        {"{\"id\":7}{\"id\":8}", 7},
        {"{\"id\":7,\"id\":8}", 0},
        {"{\"id\":7,\"id\":7}", 0},
        {"{\"id\":7,\"method\":\"ping\"}", 0}, /* of the server */
        {"{\"id\":\"7\"}", 0},
        {"{\"id\":7 8}", 0},
        {"{\"id\":7.0}", 0},
        {"{\"id\":{\"id\":7}}", 0},
        {"{\"id\":12345678901234567890123456}", 0},
        {"{\"i\\u0064\":7}", 0},
        {"{\"name\":\"id\",7:8}", 0},
        {"[\"id\":7]", 0},
        {"{\"id\":7", 0}, /* perhaps 71 */
        {"", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece <= 40; piece += 13) {
            const size_t len = strlen(rows[i].text);
            struct mcp_glance glance = {0};
            for (size_t at = 0; at < len; at += piece)
                mcp_glance_add(&glance, rows[i].text + at, len - at < piece ? len - at : piece);
            if (mcp_glance_id(&glance) != rows[i].id)
                printf("\n    %s", rows[i].text);
            CU_ASSERT_EQUAL(mcp_glance_id(&glance), rows[i].id);
        }
}

/* Runs in each turn of the loop. */
struct turns {
    struct laz_post post;
    struct laz_loop *loop;
    size_t n, before, most; /* strays of one turn */
    bool stops;
};

static void turn_runs(struct laz_post *post)
{
    struct turns *turns = (struct turns *)(void *)post;

    turns->n++;
    if (strays - turns->before > turns->most)
        turns->most = strays - turns->before;
    turns->before = strays;
    if (!turns->stops)
        laz_loop_post(turns->loop, post);
}

static void a_turn_of_the_loop_takes_a_part_of_many_events(void)
{
    struct turns turns = {.post.run = turn_runs};
    struct web web;

    if (web_open(&web, "modern", "burst", "json", "")) {
        strays = 0;
        turns.loop = web.engine->driver.loop;
        laz_loop_post(turns.loop, &turns.post);
        test_expect(web.session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        turns.stops = true;
        CU_ASSERT_EQUAL(strays, 5000);
        CU_ASSERT(turns.most > 0 &&
                  turns.most <= 4 * 64); /* by two timers, and the connection twice */
    }
    web_close(&web);
}

/* ---- hostile servers --------------------------------------------------------------------------
 */

static void call_fails(const char *fault, const char *more, const char *reason)
{
    struct web web;

    if (web_open(&web, "modern", fault, "json", more)) {
        test_expect_error(web.session, "m_add(1, 1)", LAZ_VERDICT_ERROR, reason);
        test_expect(web.session, "1 + 1", LAZ_VERDICT_OK, "2");
    }
    web_close(&web);
}

static void answers_without_end_are_cut_off(void)
{
    call_fails("endless", "max_output = \"1MiB\"", "a message of more than 1048576 bytes");
    call_fails("endless_event", "max_output = \"1MiB\"", "a message of more than 1048576 bytes");
    call_fails("endless_events", "", "more than 10000 messages in a row");
    call_fails("endless_headers", "", "headers of more than");
}

static void an_answer_that_cannot_be_read_fails_its_call_alone(void)
{
    struct web web;

    if (web_open(&web, "modern", "unfit", "json", "max_output = \"1MiB\"")) {
        test_expect(web.session,
                    "local said = {}\n"
                    "for i, how in ipairs{'twice', 'deep', 'range', 'shape', 'long'} do\n"
                    "  local ok, why = pcall(m_echo, {how = how})\n"
                    "  said[i] = tostring(why):match('the server m (sent a %w+ %w+)')\n"
                    "end\n"
                    "said[6] = m_add(1, 2).sum\n"
                    "return said",
                    LAZ_VERDICT_OK,
                    "[\"sent a malformed message\",\"sent a malformed message\","
                    "\"sent a malformed message\",\"sent a malformed message\","
                    "\"sent a message of\",3]");
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&told), "the server sent a")); /* it was not ended */
    }
    web_close(&web);
}

static void a_slow_answer_times_out(void)
{
    call_fails("silent", "timeout = 0.3", "no answer and no progress within 0.3 seconds");
}

static void what_is_no_answer_fails_the_call(void)
{
    call_fails("redirect", "", "a redirect (HTTP status 307), which is not followed");
    call_fails("page", "", "answered with the type 'text/html', and neither application/json");
    call_fails("mistyped", "", "answered with the type 'application/json-seq', and neither");
    call_fails("untyped", "", "answered with the type '', and neither");
    call_fails("broken", "", "HTTP status 500");
    call_fails("cut_off", "", "cannot be reached");
    call_fails("nothing", "", "sent no answer to the request");
}

static void a_forgotten_session_is_begun_again(void)
{
    struct web web;

    if (web_open(&web, "2025-11-25", "forgets", "json", "")) {
        test_expect_error(web.session, "m_add(1, 1)", LAZ_VERDICT_ERROR,
                          "has forgotten its session");
        test_expect_error(web.session, "m_add(1, 1)", LAZ_VERDICT_ERROR,
                          "has forgotten its session");
    }
    web_close(&web);
}

static const struct unit_test tests[] = {
    UNIT(tools_of_each_era_and_form_work),
    UNIT(headers_come_from_where_secrets_are),
    UNIT(a_certificate_that_nobody_knows_is_refused),
    UNIT(a_place_without_a_server_is_named),
    UNIT(mistakes_in_the_address_are_found),
    UNIT(tools_that_change_are_refused),
    UNIT(a_server_that_does_not_tell_is_asked_before_a_call),
    UNIT(bytes_of_events_are_moved_once_at_most),
    UNIT(bytes_of_lines_are_moved_once_at_most),
    UNIT(text_is_written_whole_or_replaced),
    UNIT(the_request_of_an_unread_message_is_found),
    UNIT(a_turn_of_the_loop_takes_a_part_of_many_events),
    UNIT(answers_without_end_are_cut_off),
    UNIT(an_answer_that_cannot_be_read_fails_its_call_alone),
    UNIT(a_slow_answer_times_out),
    UNIT(what_is_no_answer_fails_the_call),
    UNIT(a_forgotten_session_is_begun_again),
    {0},
};

int main(void)
{
    if (access(PYTHON, X_OK) != 0)
        return unit_skip("python3", PYTHON " is not installed") ? 77 : 1;
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    if (!mkdtemp(directory))
        return 1;
    int status = unit_run("mcp_http", tests);
    laz_buf_fini(&told);
    laz_os_remove_tree(directory);
    return status;
}
