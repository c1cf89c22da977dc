/* SPDX-License-Identifier: MIT */
/* test_providers_live.c - tool providers of every kind in a real session: evented and blocking ones
 * (tests/mock/tool_evented.c, tool_blocking.c), correct and faulty.
 *
 * Calls that must be open at a given moment are made by code that writes to the agent's socket
 * itself, as hostile code could: the reply to a later call shows that the host has accepted the
 * earlier one. */
#include "live.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/lazaret-test-XXXXXX";

/* No timeout ends code or a start. */
#define PATIENT "[session]\ntimeout = 0\ndeadline = 0\nstart_timeout = 600\n"

static unsigned never_answered; /* unanswered calls, as reported by the engines */

static void count_never_answered(void *user, uint32_t level, const char *text)
{
    (void)user, (void)level;
    printf("\n    %s", text);
    never_answered += strstr(text, "never answered a call") != NULL;
}

/* Makes an engine from a configuration file with this text. */
static struct laz_engine *engine_of(const char *toml, struct laz_error *err)
{
    char *path = laz_strdupf("%s/live.toml", directory);
    char *text = laz_strdupf("[plugins]\npath = [\"%s\"]\n%s\n" PATIENT, MOCK_DIRECTORY, toml);
    const struct laz_engine_options options = {
        .size = sizeof options, .log = count_never_answered, .log_level = LAZ_LOG_ERROR};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;

    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
    int rc = laz_settings_new(&settings, err);
    if (!rc)
        rc = laz_settings_load(settings, path, err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &engine, err);
    CU_ASSERT(rc ? !engine : engine != NULL);
    laz_settings_free(settings);
    free(text);
    free(path);
    return engine;
}

struct live {
    struct laz_engine *engine;
    struct laz_session *session;
};

static bool live_open(struct live *live, const char *toml, const char *runtime)
{
    struct laz_error err = {0};

    *live = (struct live){.engine = engine_of(toml, &err)};
    if (!live->engine)
        printf("\n    %s", err.text);
    CU_ASSERT_PTR_NOT_NULL(live->engine);
    live->session = test_session(live->engine, runtime);
    return live->session != NULL;
}

/* Frees both. No unanswered call may be left, because the engine waits for them without a limit. */
static void live_close(struct live *live)
{
    laz_session_free(live->session);
    if (live->engine)
        test_hold_clock(live->engine);
    laz_engine_free(live->engine);
}

#define EVENTED  "[[tools]]\nprovider = \"tool_evented\"\n"
#define BLOCKING "[[tools]]\nprovider = \"tool_blocking\"\n"

/* ---- answers -------------------------------------------------------------------------------- */

static void evented_tools_answer_from_the_loop(void)
{
    struct live live;

    if (live_open(&live, EVENTED, "lua")) {
        test_expect(live.session, "now()", LAZ_VERDICT_OK, "\"now\"");
        test_expect(live.session, "later(30)", LAZ_VERDICT_OK, "\"later\"");
        test_expect(live.session, "later()", LAZ_VERDICT_OK, "\"later\"");
        test_expect(live.session, "piped('from hand to hand')", LAZ_VERDICT_OK,
                    "\"from hand to hand\"");
        test_expect_error(live.session, "fail()", LAZ_VERDICT_ERROR, "the mock fails");
        test_expect(live.session, "now() .. later(1) .. piped('x')", LAZ_VERDICT_OK,
                    "\"nowlaterx\"");
    }
    live_close(&live);
}

static void count_closed(void *user, uint32_t level, const char *text)
{
    (void)level;
    *(unsigned *)user += strstr(text, "tool_evented: session ") != NULL;
}

static void providers_hear_of_the_end_of_sessions_that_called_them(void)
{
    unsigned closed = 0, expected = 0;
    struct live live;

    if (live_open(&live, EVENTED, "lua")) {
        live.engine->driver.log = (struct laz_log){count_closed, &closed, LAZ_LOG_INFO};
        struct laz_session *other = test_session(live.engine, "lua");
        test_expect(live.session, "now() .. now()", LAZ_VERDICT_OK, "\"nownow\"");
        CU_ASSERT_EQUAL(laz_session_restart(live.session, NULL), 0);
        CU_ASSERT_EQUAL(closed, 0);
        test_expect(live.session, "now()", LAZ_VERDICT_OK, "\"now\"");
        test_expect(other, "1", LAZ_VERDICT_OK, "1");
        laz_session_free(other);
        CU_ASSERT_EQUAL(closed, 0); /* it has called nothing */
        laz_session_close(live.session);
        CU_ASSERT_EQUAL(closed, 1);
        laz_session_free(live.session);
        CU_ASSERT_EQUAL(closed, 1);
        live.session = test_session(live.engine, "lua");
        test_expect(live.session, "now()", LAZ_VERDICT_OK, "\"now\"");
        expected = 2;
    }
    live_close(&live);
    CU_ASSERT_EQUAL(closed, expected);
}

static void blocking_tools_answer_from_their_thread(void)
{
    struct live live;

    if (live_open(&live, BLOCKING, "lua")) {
        test_expect(live.session, "echo{value = {1, 2}}", LAZ_VERDICT_OK, "{\"value\":[1,2]}");
        test_expect_error(live.session, "fail()", LAZ_VERDICT_ERROR, "the mock says no");
        test_expect(live.session, "#big(3000000)", LAZ_VERDICT_OK, "3000000");
        test_expect(live.session, "run({'/bin/echo', 'hi'}).output", LAZ_VERDICT_OK, "\"hi\\n\"");
    }
    live_close(&live);
}

static void the_first_of_two_answers_counts(void)
{
    struct live live;

    if (live_open(&live, BLOCKING, "lua")) {
        test_expect(live.session, "twice() + 10 * twice()", LAZ_VERDICT_OK, "11");
        test_expect(live.session, "echo{value = 7}.value", LAZ_VERDICT_OK, "7");
    }
    live_close(&live);
}

static void an_answer_that_is_no_json_is_an_error_of_the_tool(void)
{
    struct live live;

    if (live_open(&live, BLOCKING, "lua")) {
        test_expect_error(live.session, "broken()", LAZ_VERDICT_ERROR, "the tool's answer is");
        test_expect(live.session, "local ok = pcall(broken)\nreturn ok", LAZ_VERDICT_OK, "false");
        test_expect(live.session, "echo{value = 7}.value", LAZ_VERDICT_OK, "7");
    }
    live_close(&live);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void the_tools_own_timeout_cancels_its_call(void)
{
    struct live live;

    if (live_open(&live, EVENTED, "lua")) {
        test_expect_error(live.session, "hang()", LAZ_VERDICT_ERROR,
                          "Tool 'hang' timed out after 0.2 seconds");
        test_expect(live.session, "now()", LAZ_VERDICT_OK, "\"now\"");
    }
    live_close(&live); /* the mock aborts when a call is still open */
}

#define RAW                                                                                        \
    "import os, json\n"                                                                            \
    "def is_socket(fd):\n"                                                                         \
    "    try: return os.readlink('/proc/self/fd/' + fd).startswith('socket:')\n"                   \
    "    except OSError: return False\n"                                                           \
    "channel = [int(fd) for fd in os.listdir('/proc/self/fd') if is_socket(fd)][0]\n"              \
    "def send(id, tool, **args):\n"                                                                \
    "    line = json.dumps({'type': 'tool_call', 'id': id, 'tool': tool, 'args': args})\n"         \
    "    os.write(channel, line.encode() + b'\\n')\n"                                              \
    "def receive(n):\n"                                                                            \
    "    text = b''\n"                                                                             \
    "    while text.count(b'\\n') < n: text += os.read(channel, 65536)\n"                          \
    "    return [json.loads(line) for line in text.decode().splitlines()]\n"

static void close_at_line(void *user, int stream, const char *text, size_t len)
{
    struct live *live = user;

    (void)stream;
    CU_ASSERT(len == 4 && memcmp(text, "open", 4) == 0);
    laz_session_close(live->session); /* cancels the running execution */
}

static void deadline_at_line(void *user, int stream, const char *text, size_t len)
{
    struct live *live = user;

    (void)stream;
    CU_ASSERT(len == 4 && memcmp(text, "open", 4) == 0);
    test_advance_clock(live->engine, 100000);
}

/* Ends code when it prints "open": the call `slow` is certainly open then, because the reply to
 * `quick` has come. */
static void end_while_open(struct live *live, const char *slow, const char *quick,
                           void (*line)(void *user, int stream, const char *text, size_t len),
                           enum laz_verdict verdict)
{
    const struct laz_execute_options options = {
        .size = sizeof options, .deadline_ms = 100000, .line = line, .user = live};
    char code[2048];

    snprintf(code, sizeof code,
             RAW "send(901, %s)\nsend(902, '%s')\nr = receive(1)\nprint('open', flush=True)\n"
                 "while True: pass",
             slow, quick);
    test_hold_clock(live->engine);
    test_expect_with(live->session, code, &options, verdict, NULL);
}

static void close_while_open(const char *toml, const char *slow, const char *quick)
{
    struct live live;

    if (live_open(&live, toml, "python")) {
        end_while_open(&live, slow, quick, close_at_line, LAZ_VERDICT_CANCELLED);
        laz_session_close(live.session);
        CU_ASSERT_FALSE(laz_session_is_alive(live.session));
    }
    live_close(&live);
}

static void closing_a_session_cancels_open_calls(void)
{
    close_while_open(EVENTED, "'hang'", "now");
    close_while_open(EVENTED, "'later'", "now");
    close_while_open(BLOCKING, "'wait'", "echo");
}

static void meet_the_deadline(struct live *live, const char *slow, const char *quick)
{
    end_while_open(live, slow, quick, deadline_at_line, LAZ_VERDICT_DEADLINE);
}

static void the_deadline_cancels_open_calls(void)
{
    struct live live;

    if (live_open(&live, EVENTED, "python")) {
        meet_the_deadline(&live, "'later', ms=1000000", "now");
        test_expect(live.session, "now()", LAZ_VERDICT_OK, "\"now\"");
    }
    live_close(&live);
    if (live_open(&live, BLOCKING, "python")) {
        meet_the_deadline(&live, "'wait'", "echo");
        meet_the_deadline(&live, "'run', argv=['/bin/sleep', '3000']", "echo");
        test_expect(live.session, "echo(value=7)['value']", LAZ_VERDICT_OK, "7");
    }
    live_close(&live);
}

/* Moves the clock in each turn of the loop. */
struct running_clock {
    struct laz_post post;
    struct laz_engine *engine;
    uint64_t ms;
};

static void clock_goes_on(struct laz_post *post)
{
    struct running_clock *clock = (struct running_clock *)(void *)post;

    clock->ms += 100;
    test_advance_clock(clock->engine, 100);
    laz_loop_post(clock->engine->driver.loop, post);
}

static void a_call_that_is_never_answered_ends_with_the_engine(void)
{
    struct running_clock clock = {.post.run = clock_goes_on};
    struct live live;

    if (!live_open(&live, BLOCKING, "python")) {
        live_close(&live);
        return;
    }
    meet_the_deadline(&live, "'never'", "echo");
    test_expect(live.session, "echo(value=7)['value']", LAZ_VERDICT_OK, "7");
    laz_session_free(live.session);
    while (live.engine->boxes.leaving) /* its first box: nobody shall lose patience with that */
        laz_engine_step(live.engine, 1000, NULL);
    clock.engine = live.engine;
    laz_loop_post(live.engine->driver.loop, &clock.post);
    never_answered = 0;
    laz_engine_free(live.engine);
    CU_ASSERT_EQUAL(never_answered, 1);
    CU_ASSERT(clock.ms >= 3000); /* an answer could have come for that long */
}

/* ---- several at once ------------------------------------------------------------------------ */

static atomic_int running, most_running;
static char order[64];

/* Records which calls run at the same time. With `user` it waits for a second one. */
static void tool_turn(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    int now = atomic_fetch_add(&running, 1) + 1;
    int most = atomic_load(&most_running);

    (void)len;
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
        ;
    if (!user) {
        size_t used = strlen(order);
        order[used] = args[strcspn(args, "123456789")];
        order[used + 1] = '\0';
    }
    while (user && atomic_load(&most_running) < 2)
        usleep(100);
    atomic_fetch_sub(&running, 1);
    laz_reply_value(reply, "null", 4);
}

static void calls_wait_for_their_turn(void)
{
    static const char parameters[] = "[{\"name\":\"n\",\"type\":\"integer\"}]";
    const struct laz_tool one = {.size = sizeof one,
                                 .name = "one",
                                 .description = "",
                                 .parameters = parameters,
                                 .max_concurrent = 1};
    const struct laz_tool two = {.size = sizeof two,
                                 .name = "two",
                                 .description = "",
                                 .parameters = parameters,
                                 .max_concurrent = 2};
    struct live live = {.engine = test_engine("")};
    int waits = 1;

    CU_ASSERT_EQUAL(laz_engine_add_tool(live.engine, &one, tool_turn, NULL, NULL), 0);
    CU_ASSERT_EQUAL(laz_engine_add_tool(live.engine, &two, tool_turn, &waits, NULL), 0);
    live.session = test_session(live.engine, "python");
    if (live.session) {
        test_expect(live.session,
                    RAW "for i in range(1, 7): send(900 + i, 'one', n=i)\n"
                        "[r['id'] for r in receive(6)]",
                    LAZ_VERDICT_OK, "[901,902,903,904,905,906]");
        UNIT_TEXT(order, "123456");
        CU_ASSERT_EQUAL(atomic_load(&most_running), 1);
        atomic_store(&most_running, 0);
        test_expect(live.session,
                    "for i in range(1, 7): send(900 + i, 'two', n=i)\n"
                    "sorted(r['id'] for r in receive(6))",
                    LAZ_VERDICT_OK, "[901,902,903,904,905,906]");
        CU_ASSERT_EQUAL(atomic_load(&most_running), 2);
        test_expect(live.session, "add(2, 3)", LAZ_VERDICT_OK, "5");
    }
    live_close(&live);
}

/* ---- names that a language has ----------------------------------------------------------------
 */

#define ECHO(name, rest) "[[tools.tool]]\nname = \"" name "\"\ncommand = [\"/bin/cat\"]\n" rest "\n"
#define NAMES                                                                                      \
    "[[tools]]\nprovider = \"command\"\n" ECHO("print", "") ECHO("string", "") ECHO("error", "")   \
        ECHO("len", "") ECHO("exec", "") ECHO("__import__", "") ECHO("c", "") ECHO("string.upper", \
                                                                                   "")             \
            ECHO("get-it", "") ECHO("get_it", "parameters = { n = \"integer\" }") ECHO(            \
                "tool_map", "") ECHO("lazaret", "") ECHO("null", "") ECHO("lazaret.foo", "")       \
                ECHO("odd",                                                                        \
                     "parameters = { \"gr\u00f6\u00dfe\" = \"integer\", a-b = \"integer\", a_b = " \
                     "\"integer\" }")

static void tools_replace_nothing_that_code_needs(void)
{
    static const struct {
        const char *runtime, *code, *value;
    } rows[] = {
        {"lua", "#print_() + #string_() + #error_() + #string.upper_() + #len()", "0"},
        {"lua", "print('x') return string.upper('a') .. tostring(pcall(error, 'b'))", "\"Afalse\""},
        {"lua", "local a = odd(1, 2, 3) return a['gr\u00f6\u00dfe'] * 100 + a['a-b'] * 10 + a.a_b",
         "123"},
        {"lua", "#get_it() + get_it_2(7).n + tool_map('get_it_2', {{1}})[1].n", "8"},
        {"lua", "#tool_map_() + #lazaret_() + #null_() + #lazaret__foo()", "0"},
        {"lua",
         "#tool_map('len', {{}, {}}) + #lazaret.array{1} + (null == lazaret.null and 1 or 0)", "4"},
        {"python", "print_() == len_() == exec_() == __import___() == string() == {}", "true"},
        {"python", "import json; exec('x = len([1, 2])'); print(x); x", "2"},
        {"python", "odd(a_b=3, gr__e=1, a_b_2=2)", "{\"gr\u00f6\u00dfe\":1,\"a-b\":2,\"a_b\":3}"},
        {"python", "get_it() == {} and get_it_2(7) == {'n': 7}", "true"},
        {"python", "'gr\u00f6\u00dfe' in odd.__doc__ and 'get_it' in get_it_2.__doc__", "true"},
        {"r", "length(c()) + length(print())", "0"},
        {"r", "base::c(1, 2)", "[1,2]"},
        {"r", "sum(sapply(base::c(1, 2), function(x) x + 1))", "5"},
        {"r", "unlist(odd(gr__e = 1, a_b_2 = 2, a_b = 3), use.names = FALSE)", "[1,2,3]"},
        {"r", "length(get_it()) + get_it_2(7)$n", "7"},
    };
    const char *open = "";
    struct live live = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(open, rows[i].runtime) != 0) {
            live_close(&live);
            (void)live_open(&live, NAMES, rows[i].runtime);
            open = rows[i].runtime;
        }
        if (live.session)
            test_expect(live.session, rows[i].code, LAZ_VERDICT_OK, rows[i].value);
    }
    live_close(&live);
}

/* ---- instances that cannot be created ----------------------------------------------------------
 */

static void a_provider_that_cannot_be_made_names_its_line(void)
{
    static const struct {
        const char *toml, *where, *what;
    } rows[] = {
        /* two lines come before */
        {"\n[[tools]]\nprovider = \"command\"\n[[tools.tool]]\nname = \"x\"\n"
         "command = [\"relative/program\"]\n",
         "live.toml:", "relative/program"},
        {"\n\n\n[[tools]]\nprovider = \"nobody\"\n", "live.toml:6", "nobody"},
        {EVENTED "\n" BLOCKING, "live.toml:", "fail"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        struct laz_engine *engine = engine_of(rows[i].toml, &err);
        CU_ASSERT_PTR_NULL(engine);
        if (!strstr(err.text, rows[i].where) || !strstr(err.text, rows[i].what))
            printf("\n    lacks %s or %s: %s", rows[i].where, rows[i].what, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].where));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].what));
        laz_engine_free(engine);
    }
}

static const struct unit_test tests[] = {
    UNIT(evented_tools_answer_from_the_loop),
    UNIT(providers_hear_of_the_end_of_sessions_that_called_them),
    UNIT(blocking_tools_answer_from_their_thread),
    UNIT(the_first_of_two_answers_counts),
    UNIT(an_answer_that_is_no_json_is_an_error_of_the_tool),
    UNIT(the_tools_own_timeout_cancels_its_call),
    UNIT(the_deadline_cancels_open_calls),
    UNIT(a_call_that_is_never_answered_ends_with_the_engine),
    UNIT(closing_a_session_cancels_open_calls),
    UNIT(calls_wait_for_their_turn),
    UNIT(tools_replace_nothing_that_code_needs),
    UNIT(a_provider_that_cannot_be_made_names_its_line),
    {0},
};

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    int status = unit_run("providers_live", tests);
    laz_os_remove_tree(directory);
    return status;
}
