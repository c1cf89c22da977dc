/* SPDX-License-Identifier: MIT */
/* test_mcp.c - the provider `mcp` in real sessions, with a server that is correct, or has one of
 * many faults (tests/mock/mcp_server.py).
 *
 * A test of time holds the engine's clock, or waits for what never comes. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"

static char folder[] = "/tmp/lazaret-test-XXXXXX";
static struct laz_buf told; /* the log of the engine */

static void tell(void *user, uint32_t level, const char *text)
{
    (void)user, (void)level;
    laz_buf_printf(&told, "%s\n", text);
}

static bool was_told(const char *part)
{
    const bool was = strstr(laz_buf_text(&told), part) != NULL;

    if (!was)
        printf("\n    not told: %s; but:\n%.3000s", part, laz_buf_text(&told));
    return was;
}

/* A [[tools]] table; `more`: further keys. The caller frees the text. */
static char *server(const char *name, const char *era, const char *fault, const char *more)
{
    char *script = unit_source("tests/mock/mcp_server.py");
    char *text = laz_strdupf("[[tools]]\nprovider = \"mcp\"\nname = \"%s\"\ncommand = [\"" PYTHON
                             "\", \"-I\", \"%s\", \"%s\", \"%s\"]\n%s\n",
                             name, script, era, fault, more);

    free(script);
    return text;
}

/* An engine with these tables; takes them. */
static struct laz_engine *engine_of(char *one, char *other)
{
    const struct laz_engine_options options = {
        .size = sizeof options, .log = tell, .log_level = LAZ_LOG_INFO};
    char *path = laz_strdupf("%s/mcp.toml", folder);
    char *text = laz_strdupf("[session]\ntimeout = 0\ndeadline = 0\nstart_timeout = 600\n%s%s", one,
                             other ? other : "");
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    laz_buf_clear(&told);
    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, path, &err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &engine, &err);
    if (rc)
        printf("\n    %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    laz_settings_free(settings);
    free(path);
    free(text);
    free(one);
    free(other);
    return engine;
}

/* ---- honest servers -------------------------------------------------------------------------- */

static const char *const eras[] = {"modern", "2025-11-25", "2025-06-18", "2024-11-05"};

/* The same calls in each language, and their value. */
static const struct {
    const char *runtime, *code, *value;
} honest[] = {
    {"lua",
     "local i = m_get_item{from='x', max_items=5, tags={'p', 'q'}}\n"
     "local im, b, r, l = m_image(), m_both(), m_resource(), m_link()\n"
     "local ok, why = pcall(m_fail)\n"
     "return {m_add(1, 2.5).sum, i.from, i['max items'], i.kind, #i.tags,\n"
     "  m_echo{arguments={deep={a=1}}}.deep.a, m_text(), m_json_text(), m_json_value().n,\n"
     "  m_several()[2], im.mimeType, #im.data, b.value.n, #b.content[2].data,\n"
     "  r[1].resource.text, #r[2].resource.blob, l.uri, l.size, ok, why}",
     "[3.5,\"x\",5,\"book\",2,1,\"gr\u00fc\u00dfe\\nline two\",\"{\\\"n\\\": 1}\",1,\"two\","
     "\"image/png\",8,2,3,\"inside\",3,\"file:///a\",7,false,\"no such [31m item\"]"},
    {"python",
     "i = m_get_item(from_='x', max_items=5, tags=['p', 'q'])\n"
     "im, b, r, l = m_image(), m_both(), m_resource(), m_link()\n"
     "try: m_fail(); why = None\n"
     "except Exception as e: why = str(e)\n"
     "[m_add(1, 2.5)['sum'], i['from'], i['max items'], i['kind'], len(i['tags']),\n"
     " m_echo({'deep': {'a': 1}})['deep']['a'], m_text(), m_json_text(), m_json_value()['n'],\n"
     " m_several()[1], im['mimeType'], im['data'][1:4].decode(), b['value']['n'],\n"
     " b['content'][1]['data'] == b'\\x00\\xff\\x01', r[0]['resource']['text'],\n"
     " len(r[1]['resource']['blob']), l['uri'], l['size'], m_nothing(), why]",
     "[3.5,\"x\",5,\"book\",2,1,\"gr\u00fc\u00dfe\\nline two\",\"{\\\"n\\\": 1}\",1,\"two\","
     "\"image/png\",\"PNG\",2,true,\"inside\",3,\"file:///a\",7,null,\"no such [31m item\"]"},
    {"r",
     "i <- m_get.item(from='x', max_items=5, tags=c('p', 'q'))\n"
     "im <- m_image(); b <- m_both(); r <- m_resource(); l <- m_link()\n"
     "why <- tryCatch(m_fail(), error = function(e) conditionMessage(e))\n"
     "list(m_add(1, 2.5)$sum, i$from, i$`max items`, i$kind, length(i$tags),\n"
     "  m_echo(list(deep = list(a = 1)))$deep$a, m_text(), m_json_text(), m_json_value()$n,\n"
     "  m_several()[[2]], im$mimeType, is.raw(im$data), b$value$n, length(b$content[[2]]$data),\n"
     "  r[[1]]$resource$text, length(r[[2]]$resource$blob), l$uri, l$size, is.null(m_nothing()),\n"
     "  why)",
     "[3.5,\"x\",5,\"book\",2,1,\"gr\u00fc\u00dfe\\nline two\",\"{\\\"n\\\": 1}\",1,\"two\","
     "\"image/png\",true,2,3,\"inside\",3,\"file:///a\",7,true,\"no such [31m item\"]"},
};

static void tools_of_each_era_work_in_each_language(void)
{
    for (size_t era = 0; era < sizeof eras / sizeof *eras; era++) {
        struct laz_engine *engine = engine_of(server("m", eras[era], "", ""), NULL);
        for (size_t i = 0; i < sizeof honest / sizeof *honest; i++) {
            struct laz_session *session = test_session(engine, honest[i].runtime);
            if (session)
                test_expect(session, honest[i].code, LAZ_VERDICT_OK, honest[i].value);
            laz_session_free(session);
        }
        laz_engine_free(engine);
        CU_ASSERT_EQUAL(trace_children(), 0);
    }
}

static void schemas_become_signatures_and_help(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");
    const char *found = NULL;

    if (session) {
        test_expect(session, "import inspect\nstr(inspect.signature(m_get_item))", LAZ_VERDICT_OK,
                    NULL);
        test_expect(session, "'adds two numbers' in m_add.__doc__", LAZ_VERDICT_OK, "true");
        test_expect_error(session, "m_add('a', 1)", LAZ_VERDICT_ERROR, "must be number");
        test_expect_error(session, "m_get_item(from_='x', kind='play')", LAZ_VERDICT_ERROR,
                          "must be one of");
        test_expect_error(session, "m_add(float('nan'), 1)", LAZ_VERDICT_ERROR,
                          "which JSON cannot say");
    }
    CU_ASSERT_EQUAL(laz_engine_search_tools(engine, "adds numbers", 1, &found, NULL), 0);
    CU_ASSERT(found && strstr(found, "\"m_add\"") && strstr(found, "the first"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void values_of_a_server_are_not_taken_for_tagged_ones(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session)
        test_expect(session,
                    "o = m_odd()\n"
                    "[str(o['big']), o['tag'] == {'$bytes': 'AA=='}, o['nul'], o['half']]",
                    LAZ_VERDICT_OK,
                    "[\"12345678901234567890\",true,\"a\ufffd"
                    "b\",\"\ufffd\"]");
    laz_session_free(session);
    laz_engine_free(engine);
}

/* Hostile code writes to the agent's channel itself. */
static void arguments_are_what_they_say(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session,
                    "import os, json\n"
                    "def is_socket(fd):\n"
                    "    try: return os.readlink('/proc/self/fd/' + fd).startswith('socket:')\n"
                    "    except OSError: return False\n"
                    "channel = [int(f) for f in os.listdir('/proc/self/fd') if is_socket(f)][0]\n"
                    "os.write(channel, json.dumps({'type': 'tool_call', 'id': 901,\n"
                    "    'tool': 'm_get-item', 'args': {'from': 'x',\n"
                    "    'loop': {'$int': '1,\"kind\":\"stolen\"'}}}).encode() + b'\\n')\n"
                    "text = b''\n"
                    "while b'\\n' not in text: text += os.read(channel, 65536)\n"
                    "'a malformed integer' in text.decode() or text.decode()",
                    LAZ_VERDICT_OK, "true");
        test_expect(session, "m_get_item('x', loop=2**60)['loop'] == 2**60", LAZ_VERDICT_OK,
                    "true");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void only_wanted_tools_are_declared(void)
{
    struct laz_engine *engine = engine_of(
        server("m", "modern", "", "tools = [\"*_text\", \"add\", \"none\"]\nexcept = [\"json*\"]"),
        NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "return {type(m_add), type(m_json_text), type(m_text)}",
                    LAZ_VERDICT_OK, "[\"function\",\"nil\",\"nil\"]");
        CU_ASSERT(was_told("it has no tool 'none', which `tools` names"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_server_has_its_own_environment(void)
{
    char *more = laz_strdupf("env = { OWN = \"mine\", HOME = \"/nowhere\" }\n"
                             "env_from = [\"LAZARET_TEST_PASSED\", \"LAZARET_TEST_UNSET\"]");
    setenv("LAZARET_TEST_PASSED", "secret", 1);
    setenv("LAZARET_TEST_KEPT", "kept", 1);
    struct laz_engine *engine = engine_of(server("m", "modern", "", more), NULL);
    struct laz_session *session = test_session(engine, "lua");

    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&told), "secret"));
    if (session) {
        test_expect(session,
                    "return {m_variable('OWN'), m_variable('HOME'), "
                    "m_variable('LAZARET_TEST_PASSED'), m_variable('LANG') ~= nil}",
                    LAZ_VERDICT_OK, "[\"mine\",\"/nowhere\",\"secret\",true]");
        test_expect(session, "m_variable('LAZARET_TEST_KEPT')", LAZ_VERDICT_OK, "null");
        CU_ASSERT(was_told("LAZARET_TEST_UNSET"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
    free(more);
}

static void requests_of_a_server_are_refused(void)
{
    struct laz_engine *engine =
        engine_of(server("m", "modern", "", ""), server("old", "2025-11-25", "", ""));
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "old_asks()", LAZ_VERDICT_OK,
                    "[\"q-ping result\",\"q-elicitation/create -32601\","
                    "\"q-sampling/createMessage -32601\",\"q-roots/list -32601\"]");
        test_expect_error(session, "m_asks()", LAZ_VERDICT_ERROR, "asks for input");
        test_expect(session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- when it is started ---------------------------------------------------------------------- */

static void servers_start_with_the_first_session_and_side_by_side(void)
{
    struct laz_engine *engine =
        engine_of(server("m", "modern", "", ""), server("old", "2025-06-18", "", ""));
    const int before = trace_children();

    CU_ASSERT_EQUAL(before, 0);
    struct laz_session *one = test_session(engine, "lua"), *two = test_session(engine, "lua");
    if (one && two) {
        const char *code = "return {m_pid(), old_pid()}";
        struct laz_result *first = test_run(one, code, NULL), *second = test_run(two, code, NULL);
        CU_ASSERT(first && second);
        if (first && second) /* both sessions have the same servers */
            UNIT_TEXT(laz_result_value(second), laz_result_value(first));
        laz_result_free(first);
        laz_result_free(second);
    }
    laz_session_free(one);
    laz_session_free(two);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

static void a_check_of_the_configuration_starts_no_server(void)
{
    char *path = laz_strdupf("%s/mcp.toml", folder);
    laz_engine_free(engine_of(server("m", "modern", "", ""), NULL)); /* writes it */
    const struct laz_engine_options options = {.size = sizeof options, .log = tell};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;

    CU_ASSERT_EQUAL(laz_settings_new(&settings, NULL), 0);
    CU_ASSERT_EQUAL(laz_settings_load(settings, path, NULL), 0);
    laz_buf_clear(&told);
    CU_ASSERT_EQUAL(laz_engine_inspect(settings, &options, &engine, NULL), 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
    struct laz_strv lines = LAZ_STRV_INIT;
    laz_tools_notices(&engine->tools, &lines);
    CU_ASSERT(lines.n == 1 && strstr(lines.items[0], "runs outside of the sandbox"));
    laz_strv_fini(&lines);
    laz_engine_free(engine);
    laz_settings_free(settings);
    free(path);
}

static void mistakes_in_the_table_are_found_without_a_server(void)
{
    static const struct {
        const char *table, *what;
    } rows[] = {
        {"name = \"m\"\n", "either `command` or `url`"},
        {"name = \"m\"\ncommand = [\"python3\"]\n", "absolute path"},
        {"name = \"m\"\ncommand = [\"/nowhere/at/all\"]\n", "/nowhere/at/all"},
        {"name = \"1m\"\ncommand = [\"" PYTHON "\"]\n", "begins with a letter"},
        {"name = \"m\"\ncommand = [\"" PYTHON "\"]\nstart_timeout = 0\n", "start_timeout"},
        {"name = \"m\"\ncommand = [\"" PYTHON "\"]\nheaders = { a = \"b\" }\n", "headers"},
        {"name = \"m\"\ncommand = [\"" PYTHON "\"]\nenv = { a = 1 }\n", "expected a string"},
        {"command = [\"" PYTHON "\"]\n", "name"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_settings *settings = NULL;
        struct laz_engine *engine = NULL;
        struct laz_error err = {0};
        char *path = laz_strdupf("%s/wrong.toml", folder);
        char *text = laz_strdupf("[[tools]]\nprovider = \"mcp\"\n%s", rows[i].table);
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

static void without_a_server_that_is_not_required_sessions_do_without(void)
{
    struct laz_engine *engine =
        engine_of(server("m", "modern", "crash_at_start", "required = false"),
                  server("old", "2025-06-18", "", ""));
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "return {type(m_add), old_add(1, 2).sum}", LAZ_VERDICT_OK,
                    "[\"nil\",3]");
        CU_ASSERT(was_told("no tool of it is there"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- time ------------------------------------------------------------------------------------ */

static struct laz_engine *clock_engine;

/* A tool of the application: moves the clock. */
static void tool_pass(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)len;
    test_advance_clock(clock_engine, strtoull(args + strcspn(args, "123456789"), NULL, 10));
    laz_reply_value(reply, "null", 4);
}

/* An engine with a held clock that code can move. */
static struct laz_session *held_session(char *table, struct laz_engine **engine)
{
    const struct laz_tool pass = {.size = sizeof pass,
                                  .name = "pass_ms",
                                  .parameters = "[{\"name\":\"ms\",\"type\":\"integer\"}]",
                                  .nonblocking = 1};

    *engine = clock_engine = engine_of(table, NULL);
    CU_ASSERT_EQUAL(laz_engine_add_tool(*engine, &pass, tool_pass, NULL, NULL), 0);
    struct laz_session *session = test_session(*engine, "python");
    if (session)
        test_hold_clock(*engine);
    return session;
}

static void progress_gives_a_call_more_time(void)
{
    struct laz_engine *engine;
    struct laz_session *session =
        held_session(server("m", "modern", "", "timeout = 20\nmax_timeout = 100"), &engine);

    if (session) {
        test_expect(session,
                    "import asyncio\n"
                    "async def main():\n"
                    "    slow = asyncio.ensure_future(m_slow.aio()); await asyncio.sleep(0)\n"
                    "    for i in range(4):\n"
                    "        await m_poke.aio(); await pass_ms.aio(15000)\n"
                    "    await m_finish.aio()\n"
                    "    return await slow\n"
                    "asyncio.run(main())",
                    LAZ_VERDICT_OK, "\"at last\"");
        test_expect_error(session,
                          "async def quiet():\n"
                          "    slow = asyncio.ensure_future(m_slow.aio()); await asyncio.sleep(0)\n"
                          "    await m_poke.aio(); await pass_ms.aio(20001)\n"
                          "    return await slow\n"
                          "asyncio.run(quiet())",
                          LAZ_VERDICT_ERROR, "no answer and no progress within 20 seconds");
        test_expect(session, "m_methods().split()[-2:]", LAZ_VERDICT_OK,
                    "[\"notifications/cancelled\",\"tools/call\"]");
        test_expect_error(session,
                          "async def capped():\n"
                          "    slow = asyncio.ensure_future(m_slow.aio()); await asyncio.sleep(0)\n"
                          "    for i in range(8):\n"
                          "        await m_poke.aio(); await pass_ms.aio(15000)\n"
                          "    return await slow\n"
                          "asyncio.run(capped())",
                          LAZ_VERDICT_ERROR, "timed out after 100 seconds");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_call_that_is_not_awaited_is_cancelled(void)
{
    struct laz_engine *engine = engine_of(server("m", "2025-11-25", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session,
                    "import asyncio\n"
                    "async def main():\n"
                    "    asyncio.ensure_future(m_slow.aio()); await asyncio.sleep(0)\n"
                    "    await m_poke.aio()\n"
                    "asyncio.run(main())",
                    LAZ_VERDICT_OK, NULL);
        test_expect(session, "m_methods().split().count('notifications/cancelled')", LAZ_VERDICT_OK,
                    "1");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_server_that_crashes_is_started_again_after_a_pause(void)
{
    struct laz_engine *engine;
    struct laz_session *session = held_session(server("m", "modern", "", ""), &engine);

    if (session) {
        test_expect_error(session, "m_crash()", LAZ_VERDICT_ERROR,
                          "has ended (exit status 3); its last words: it hurts");
        test_expect_error(session, "m_crash()", LAZ_VERDICT_ERROR, "exit status 3");
        test_expect_error(session, "m_add(1, 1)", LAZ_VERDICT_ERROR,
                          "number 2 in a row, and it is started again 1 seconds after it");
        test_expect(session, "pass_ms(1000)\nm_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
        test_expect_error(session, "m_crash()", LAZ_VERDICT_ERROR, "exit status 3");
        test_expect(session, "m_add(1, 2)['sum']", LAZ_VERDICT_OK, "3");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- tools that change ------------------------------------------------------------------------
 */

static void tools_that_change_are_refused(void)
{
    for (size_t era = 0; era < 2; era++) {
        struct laz_engine *engine = engine_of(server("m", eras[era], "", ""), NULL);
        struct laz_session *session = test_session(engine, "python");
        if (session) {
            test_expect(session, "m_change('order'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect(session, "m_change('schema'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect_error(session, "m_text()", LAZ_VERDICT_ERROR, "has changed its arguments");
            test_expect(session, "m_change('remove'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect_error(session, "m_text()", LAZ_VERDICT_ERROR, "has removed it");
            CU_ASSERT(was_told("its tool 'm_text' takes other arguments"));
            CU_ASSERT(was_told("its tool 'm_text' has vanished"));
            CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&told), "tool 'm_add'"));
        }
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

/* ---- hostile servers --------------------------------------------------------------------------
 */

/* Moves the clock in each turn of the loop. */
struct running_clock {
    struct laz_post post;
    struct laz_engine *engine;
};

static void clock_goes_on(struct laz_post *post)
{
    struct running_clock *clock = (struct running_clock *)(void *)post;

    test_advance_clock(clock->engine, 100);
    laz_loop_post(clock->engine->driver.loop, post);
}

/* Frees an engine whose servers need to be killed, without waiting for the real time. */
static void engine_free_in_time(struct laz_engine *engine)
{
    struct running_clock clock = {.post.run = clock_goes_on, .engine = engine};

    test_hold_clock(engine);
    laz_loop_post(engine->driver.loop, &clock.post);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

/* No session is opened, with a reason. */
static void session_is_refused(const char *era, const char *fault, const char *more,
                               const char *reason)
{
    struct laz_engine *engine = engine_of(server("m", era, fault, more), NULL);
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_ESETUP);
    if (!strstr(err.text, reason) || !strstr(err.text, "mcp.toml:5"))
        printf("\n    %s lacks %s: %s", fault, reason, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, reason));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mcp.toml:5"));
    for (const char *c = err.text; *c; c++)
        CU_ASSERT((unsigned char)*c >= 0x20);
    engine_free_in_time(engine);
}

static void a_list_without_end_is_refused(void)
{
    session_is_refused("modern", "pages", "", "more than 100 pages");
    session_is_refused("2025-11-25", "same_page", "", "a page follows itself");
    session_is_refused("modern", "changes", "", "has changed its tools more than 100 times");
}

static void a_list_that_is_too_large_is_refused(void)
{
    session_is_refused("modern", "many", "", "more than 1000 tools");
    session_is_refused("modern", "no_list", "", "no list of tools");
    session_is_refused("modern", "line_at_list", "", "a message of more than 16777216 bytes");
    session_is_refused("modern", "malformed_at_list", "", "sent a malformed message");
}

static void silence_is_refused_in_time(void)
{
    session_is_refused("modern", "silent", "start_timeout = 0.3", "did not answer server/discover");
    session_is_refused("modern", "silent_at_list", "start_timeout = 3", "did not list its tools");
}

static void a_server_that_cannot_start_is_refused(void)
{
    session_is_refused("modern", "crash_at_start", "", "has ended (exit status 5)");
    session_is_refused("modern", "refuses", "", "refused initialize: not  today");
    session_is_refused("modern", "wrong_version", "", "speaks no version of MCP");
    session_is_refused("modern", "fork_at_start",
                       "env = { pids = \"/tmp/lazaret-no-folder/pids\" }", "has ended");
}

static void the_era_is_found_in_spite_of_silence_and_death(void)
{
    static const char *const rows[][2] = {{"2025-11-25", "silent_at_discover"},
                                          {"2025-06-18", "dies_of_discover"}};

    for (size_t i = 0; i < 2; i++) {
        struct laz_engine *engine =
            engine_of(server("m", rows[i][0], rows[i][1], i ? "" : "start_timeout = 6"), NULL);
        struct laz_session *session = test_session(engine, "lua");
        if (session)
            test_expect(session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

/* A call fails with the reason; its neighbour of another server works before and afterwards. */
static void call_is_refused(const char *fault, const char *more, const char *reason)
{
    struct laz_engine *engine =
        engine_of(server("m", "modern", fault, more), server("old", "2025-11-25", "", ""));
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "old_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        test_expect_error(session, "m_add(1, 1)", LAZ_VERDICT_ERROR, reason);
        test_expect(session, "old_add(1, 2).sum", LAZ_VERDICT_OK, "3");
    }
    laz_session_free(session);
    engine_free_in_time(engine);
}

static void malformed_answers_fail_their_call(void)
{
    call_is_refused("malformed", "", "sent a malformed message");
    call_is_refused("nested", "", "sent a malformed message");
    call_is_refused("twice_key", "", "sent a malformed message");
    call_is_refused("wrong_result", "", "its answer is not the result of a tool");
}

static void floods_end_the_server(void)
{
    call_is_refused("flood", "", "more than 10000 messages in a row");
    call_is_refused("answers_flood", "", "more than 10000 messages in a row");
    call_is_refused("pings", "", "more than 10000 messages in a row");
    call_is_refused("line", "max_output = \"1MiB\"", "a message of more than 1048576 bytes");
}

static void a_server_that_ends_or_closes_fails_its_calls(void)
{
    char *pids = laz_strdupf("%s/pids", folder);
    char *more = laz_strdupf("env = { pids = \"%s\" }", pids);
    char text[32] = "", stat[64];

    call_is_refused("closes", "", "has closed its standard output");
    call_is_refused("fork", more, "has ended (exit status 4)");
    FILE *file = fopen(pids, "r");
    CU_ASSERT_PTR_NOT_NULL(file);
    if (file) {
        CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
    snprintf(stat, sizeof stat, "/proc/%s/stat", text);
    file = fopen(stat, "r"); /* it is gone, or waits for its parent to look */
    if (file) {
        char line[512] = "";
        CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof line, file));
        CU_ASSERT_PTR_NOT_NULL(strstr(line, ") Z "));
        fclose(file);
    }
    free(more);
    free(pids);
}

static void answers_for_nobody_are_ignored(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "nobody", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        test_expect(session, "m_text()", LAZ_VERDICT_OK, "\"gr\u00fc\u00dfe\\nline two\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void an_answer_that_drips_is_an_answer(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "drip", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "m_add(1, 1)", LAZ_VERDICT_OK, "null");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void names_and_texts_are_made_harmless(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "controls", ""), NULL);
    struct laz_session *session = test_session(engine, "python");
    const char *found = NULL;

    CU_ASSERT_EQUAL(laz_engine_search_tools(engine, "first", 1, &found, NULL), 0);
    CU_ASSERT(found && strstr(found, "\"m_a__2J_b\"") && strstr(found, "\"p__\"") &&
              strstr(found, "first [31m\\nsecondend") && strstr(found, "one two ]0;x"));
    if (session)
        test_expect(session, "m_a__2J_b.__doc__.splitlines()[0]", LAZ_VERDICT_OK, NULL);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void names_that_collide_are_told_apart(void)
{
    const struct laz_tool taken = {.size = sizeof taken, .name = "m_taken"};
    struct laz_engine *engine = engine_of(server("m", "modern", "collide", ""), NULL);

    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &taken, tool_pass, NULL, NULL), 0);
    struct laz_session *session = test_session(engine, "lua");
    if (session)
        test_expect(session, "return {type(m_a_b), type(m_a_b_2), type(m_end)}", LAZ_VERDICT_OK,
                    "[\"function\",\"function\",\"function\"]");
    CU_ASSERT(was_told("Duplicate tool names: 'm_taken'"));
    CU_ASSERT(was_told("it lists the tool 'a-b' twice"));
    CU_ASSERT(was_told("it has no name"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_tool_that_is_too_large_is_left_out(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "huge_schema", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "return {type(m_add), type(m_huge)}", LAZ_VERDICT_OK,
                    "[\"function\",\"nil\"]");
    CU_ASSERT(was_told("its tool 'huge' is left out"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void noise_and_complaints_are_bounded(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "noise", ""),
                                          server("old", "2025-06-18", "complaints", ""));
    struct laz_session *session = test_session(engine, "lua");
    size_t lines = 0;

    if (session)
        test_expect(session, "m_add(1, 1).sum + old_add(1, 1).sum", LAZ_VERDICT_OK, "4");
    laz_session_free(session);
    laz_engine_free(engine);
    for (const char *c = laz_buf_text(&told); *c; c++)
        lines += *c == '\n';
    CU_ASSERT(lines > 100 && lines < 600);
    CU_ASSERT(was_told("complaint 1  [31m"));
    CU_ASSERT(was_told("more than 500 lines"));
    CU_ASSERT_PTR_NULL(strchr(laz_buf_text(&told), '\x1b'));
}

static void a_server_that_does_not_end_is_killed(void)
{
    struct laz_engine *engine = engine_of(server("m", "modern", "stays", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result = session ? test_run(session, "m_pid()", NULL) : NULL;
    const long pid = result ? strtol(laz_result_value(result), NULL, 10) : 0;

    laz_result_free(result);
    laz_session_free(session);
    engine_free_in_time(engine);
    CU_ASSERT(pid > 1 && kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static const struct unit_test tests[] = {
    UNIT(tools_of_each_era_work_in_each_language),
    UNIT(schemas_become_signatures_and_help),
    UNIT(values_of_a_server_are_not_taken_for_tagged_ones),
    UNIT(arguments_are_what_they_say),
    UNIT(only_wanted_tools_are_declared),
    UNIT(a_server_has_its_own_environment),
    UNIT(requests_of_a_server_are_refused),
    UNIT(servers_start_with_the_first_session_and_side_by_side),
    UNIT(a_check_of_the_configuration_starts_no_server),
    UNIT(mistakes_in_the_table_are_found_without_a_server),
    UNIT(without_a_server_that_is_not_required_sessions_do_without),
    UNIT(progress_gives_a_call_more_time),
    UNIT(a_call_that_is_not_awaited_is_cancelled),
    UNIT(a_server_that_crashes_is_started_again_after_a_pause),
    UNIT(tools_that_change_are_refused),
    UNIT(a_list_without_end_is_refused),
    UNIT(a_list_that_is_too_large_is_refused),
    UNIT(silence_is_refused_in_time),
    UNIT(a_server_that_cannot_start_is_refused),
    UNIT(the_era_is_found_in_spite_of_silence_and_death),
    UNIT(malformed_answers_fail_their_call),
    UNIT(floods_end_the_server),
    UNIT(a_server_that_ends_or_closes_fails_its_calls),
    UNIT(answers_for_nobody_are_ignored),
    UNIT(an_answer_that_drips_is_an_answer),
    UNIT(names_and_texts_are_made_harmless),
    UNIT(names_that_collide_are_told_apart),
    UNIT(a_tool_that_is_too_large_is_left_out),
    UNIT(noise_and_complaints_are_bounded),
    UNIT(a_server_that_does_not_end_is_killed),
    {0},
};

int main(void)
{
    if (access(PYTHON, X_OK) != 0)
        return unit_skip("python3", PYTHON " is not installed") ? 77 : 1;
    if (!mkdtemp(folder))
        return 1;
    int status = unit_run("mcp", tests);
    laz_buf_fini(&told);
    laz_os_remove_tree(folder);
    return status;
}
