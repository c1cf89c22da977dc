/* SPDX-License-Identifier: MIT */
/* test_tool_mcp.c - the provider `mcp` in real sessions, with servers of each era of the protocol
 * (tests/mock/mcp_server.py).
 *
 * A test of time holds the engine's clock, or waits for what never comes. */
#include "tool_mcp.h"
#include "traces.h"

#include "engine/engine.h"
#include "os/files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
     "i <- m_get_item(from='x', max_items=5, tags=c('p', 'q'))\n"
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

/* In each language with the first era; what differs between eras does not depend on it, so that Lua
 * stands for all with the others. */
static void tools_of_each_era_work_in_each_language(void)
{
    for (size_t era = 0; era < sizeof eras / sizeof *eras; era++) {
        struct laz_engine *engine = mcp_engine_of(mcp_server("m", eras[era], "", ""), NULL);
        for (size_t i = 0; i < (era ? 1 : sizeof honest / sizeof *honest); i++) {
            struct laz_session *session = test_session(engine, honest[i].runtime);
            if (session)
                test_expect(session, honest[i].code, LAZ_VERDICT_OK, honest[i].value);
            laz_session_free(session);
        }
        laz_engine_free(engine);
        CU_ASSERT_EQUAL(trace_children(), 0);
    }
}

#define WITH_PATHS                                                                                 \
    "\"place\",\"type\":\"string\",\"required\":false,\"format\":\"path\",\"description\":\"\"},"  \
    "{\"name\":\"places\",\"type\":\"array\",\"required\":false,\"format\":\"path\""

static void schemas_become_signatures_and_help(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");
    const char *found = NULL;

    if (session) {
        test_expect(session, "import inspect\nstr(inspect.signature(m_get_item))", LAZ_VERDICT_OK,
                    NULL);
        test_expect(session, "'adds two numbers' in m_add.__doc__", LAZ_VERDICT_OK, "true");
        test_expect(session, "m_add.__doc__.endswith('Returns: {sum: float}')", LAZ_VERDICT_OK,
                    "true");
        test_expect(session, "m_json_value.__doc__", LAZ_VERDICT_OK, "\"\""); /* not understood */
        test_expect_error(session, "m_add('a', 1)", LAZ_VERDICT_ERROR, "must be number");
        test_expect_error(session, "m_get_item(from_='x', kind='play')", LAZ_VERDICT_ERROR,
                          "must be one of");
        test_expect_error(session, "m_add(float('nan'), 1)", LAZ_VERDICT_ERROR,
                          "which JSON cannot say");
    }
    const char *place =
        laz_engine_tools(engine) ? strstr(laz_engine_tools(engine), "\"place\"") : "";
    CU_ASSERT(place && !strncmp(place, WITH_PATHS, strlen(WITH_PATHS)));
    CU_ASSERT_EQUAL(laz_engine_search_tools(engine, "adds numbers", 1, &found, NULL), 0);
    CU_ASSERT(found && strstr(found, "\"m_add\"") && strstr(found, "the first"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void values_of_a_server_are_not_taken_for_tagged_ones(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", ""), NULL);
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

/* Hostile code writes to the agent's channel itself: sent(args) is the answer to a call. */
static const char channel_code[] =
    "import os, json\n"
    "def is_socket(fd):\n"
    "    try: return os.readlink('/proc/self/fd/' + fd).startswith('socket:')\n"
    "    except OSError: return False\n"
    "channel = [int(f) for f in os.listdir('/proc/self/fd') if is_socket(f)][0]\n"
    "def sent(tool, args):\n"
    "    os.write(channel, json.dumps({'type': 'tool_call', 'id': 901,\n"
    "        'tool': tool, 'args': args}).encode() + b'\\n')\n"
    "    text = b''\n"
    "    while b'\\n' not in text: text += os.read(channel, 65536)\n"
    "    return text.decode()\n"
    "def item(loop): return sent('m_get-item', {'from': 'x', 'loop': loop})\n";

static void arguments_are_what_they_say(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session, channel_code, LAZ_VERDICT_OK, NULL);
        test_expect(session,
                    "text = item({'$int': '1,\"kind\":\"stolen\"'})\n"
                    "'a malformed integer' in text or text",
                    LAZ_VERDICT_OK, "true");
        test_expect(session, "m_get_item('x', loop=2**60)['loop'] == 2**60", LAZ_VERDICT_OK,
                    "true");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void tagged_forms_are_right_or_refused(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session, channel_code, LAZ_VERDICT_OK, NULL);
        test_expect(
            session,
            "def frame(**more): return {'$frame': {'names': ['a'], 'columns': [[1]], 'rows': 1,\n"
            "    **more}}\n"
            "wrong = [\n"
            "  {'$bytes': [{'$int': 'abc'}]}, {'$bytes': 'x'}, {'$bytes': None},\n"
            "  {'$date': {'$num': 'NaN'}}, {'$date': '2024-1-1'}, {'$date': '2024-01-01\"'},\n"
            "  {'$time': '2024-01-31'}, {'$time': '2024-01-31T12:00:00.'}, {'$time': 7},\n"
            "  {'$time': '2024-01-31T12:00:00+1:00'}, {'$na': 'x'}, {'$na': {}},\n"
            "  {'$int': 12345}, {'$int': ''}, {'$int': '01'}, {'$int': '9' * 41},\n"
            "  {'$int': [1, 2]}, {'$int': '1}}} '}, {'$int': '\\n'},\n"
            "  {'$factor': []}, {'$factor': {'values': {}}}, {'$factor': {'values': [1]}},\n"
            "  {'$factor': {'values': [['a']]}}, {'$map': 5}, {'$map': {}}, {'$map': [[1, 2]]},\n"
            "  {'$map': [['a', 1, 2]]}, {'$map': [['a']]}, {'$map': [['a', 1], ['a', 2]]},\n"
            "  {'$map': [['a', {'$map': [['b', 1], ['c', 1], ['b', 1]]}]]},\n"
            "  {'$frame': 5}, frame(rows=2), frame(rows=0), frame(rows=-1), frame(rows='1'),\n"
            "  frame(names=['a', 'b']), frame(names=[1]), frame(names={}), frame(columns={}),\n"
            "  frame(columns=[[1], [2]]), frame(columns=[{'$factor': {'values': [1]}}]),\n"
            "  frame(columns=[{'$bytes': ''}]), frame(columns=['a']),\n"
            "  frame(names=['a', 'a'], columns=[[1], [2]]),\n"
            "  frame(names=[], columns=[], rows=10**17),\n"
            "  {'$repr': 'x'}, {'$ref': 'x'}, {'$': 1}, {'$num': 'NaN'}, {'$complex': [1, 2]}]\n"
            "def fails(w): return '\"error\"' in item(w)\n"
            "[fails(1), fails(frame()), [w for w in wrong if not fails(w) or not fails([{'q': "
            "w}])]]",
            LAZ_VERDICT_OK, "[false,false,[]]");
        test_expect(session, /* a name in each row, which would be 3 GB */
                    "'more than 16777216 bytes' in item(frame(names=['n' * 300000],\n"
                    "    columns=[[1] * 10000], rows=10000))",
                    LAZ_VERDICT_OK, "true");
        test_expect(session,
                    "'the arguments are not object' in sent('m_echo', {'arguments': frame()})",
                    LAZ_VERDICT_OK, "true");
        test_expect(
            session,
            "import datetime\n"
            "zone = datetime.timezone(datetime.timedelta(hours=-2))\n"
            "def back(x): return m_get_item('x', loop=x)['loop']\n"
            "[back({'$ref': 'x'}) == {'$ref': 'x'}, back({'$bytes': 'x'}), back(b'\\xff'),\n"
            " back(datetime.date(2024, 1, 31)),\n"
            " back(datetime.datetime(2024, 1, 31, 12, 0, 0, 5, zone))]",
            LAZ_VERDICT_OK,
            "[true,{\"$map\":[[\"$bytes\",\"x\"]]},\"/w==\",\"2024-01-31\","
            "\"2024-01-31T12:00:00.000005-02:00\"]");
    }
    laz_session_free(session);
    session = test_session(engine, "r");
    if (session) {
        test_expect(session,
                    "d <- data.frame(n = c(1, NA), f = factor(c('a', NA)))\n"
                    "m_get_item('x', loop = d)$loop",
                    LAZ_VERDICT_OK, NULL);
        test_expect(session,
                    "names(d) <- c('n', 'n')\n"
                    "tryCatch(m_get_item('x', loop = d), error = function(e)\n"
                    "  grepl('a key is repeated', conditionMessage(e)))",
                    LAZ_VERDICT_OK, "true");
        test_expect(session,
                    "m_get_item('x', loop = list(Sys.Date(), Sys.time(), factor('u'),\n"
                    "  as.POSIXct('2024-01-31 12:00:00.5', tz = 'UTC')))$loop[[4]]",
                    LAZ_VERDICT_OK, "\"2024-01-31T12:00:00.5Z\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void only_wanted_tools_are_declared(void)
{
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "",
                                 "tools = [\"*_text\", \"add\", \"none\"]\nexcept = [\"json*\"]"),
                      NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "return {type(m_add), type(m_json_text), type(m_text)}",
                    LAZ_VERDICT_OK, "[\"function\",\"nil\",\"nil\"]");
        CU_ASSERT(mcp_was_told("it has no tool 'none', which `tools` names"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* `except` leaves out no tool that is nearly called so. */
static void a_name_in_except_that_is_misspelt_ends_the_start(void)
{
    static const struct {
        const char *except, *error, *warning; /* NULL: none */
    } rows[] = {
        {"json_txet", "it has no tool 'json_txet', which `except` names; did you mean 'json_text'?",
         NULL},
        {"unheard_of", NULL, "it has no tool 'unheard_of', which `except` names"},
        {"json_tx*", NULL, "it has no tool 'json_tx*', which `except` names"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
        char *more = laz_strdupf("except = [\"%s\"]", rows[i].except);
        struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", more), NULL);
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err),
                        rows[i].error ? LAZ_ESETUP : 0);
        CU_ASSERT(!rows[i].error || strstr(err.text, rows[i].error));
        CU_ASSERT(!rows[i].warning || mcp_was_told(rows[i].warning));
        laz_session_free(session);
        laz_engine_free(engine);
        free(more);
    }
}

/* What a server says of its tools (`fail` calls itself read-only) changes nothing. */
static void calls_wait_for_a_yes_as_those_of_other_providers(void)
{
    static const struct {
        const char *more, *free;
    } rows[] = {
        {"approve = true", NULL},
        {"[[approve]]\ntool = \"m_fa*\"", "m_text() ~= nil"},
        {"[[approve]]\ntool = \"*\"\nwhen = { a = \"7\" }", "m_add(1, 1).sum == 2"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_engine *engine =
            mcp_engine_of(mcp_server("m", "modern", "", rows[i].more), NULL);
        struct laz_session *session = test_session(engine, "lua");
        if (session) {
            test_expect_error(session, "m_fail()", LAZ_VERDICT_ERROR, "approv");
            if (rows[i].free)
                test_expect(session, rows[i].free, LAZ_VERDICT_OK, "true");
            else
                test_expect_error(session, "m_text()", LAZ_VERDICT_ERROR, "approv");
            if (i == 2)
                test_expect_error(session, "m_add(7, 1)", LAZ_VERDICT_ERROR, "approv");
        }
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

static void a_server_has_its_own_environment(void)
{
    char *more = laz_strdupf("env = { OWN = \"mine\", HOME = \"/nowhere\" }\n"
                             "env_from = [\"LAZARET_TEST_PASSED\", \"LAZARET_TEST_UNSET\"]");
    setenv("LAZARET_TEST_PASSED", "secret", 1);
    setenv("LAZARET_TEST_KEPT", "kept", 1);
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", more), NULL);
    struct laz_session *session = test_session(engine, "lua");

    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&mcp_told), "secret"));
    if (session) {
        test_expect(session,
                    "return {m_variable('OWN'), m_variable('HOME'), "
                    "m_variable('LAZARET_TEST_PASSED'), m_variable('LANG') ~= nil}",
                    LAZ_VERDICT_OK, "[\"mine\",\"/nowhere\",\"secret\",true]");
        test_expect(session, "m_variable('LAZARET_TEST_KEPT')", LAZ_VERDICT_OK, "null");
        CU_ASSERT(mcp_was_told("LAZARET_TEST_UNSET"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
    free(more);
}

static void requests_of_a_server_are_refused(void)
{
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "", ""), mcp_server("old", "2025-11-25", "", ""));
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

static void pictures_become_artifacts(void)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result =
        session
            ? test_run(session,
                       "local f = io.open('artifacts/m_image-1.png', 'w') f:write('x') f:close() "
                       "assert(not m_media().value and #m_media().content == 1) "
                       "return m_image().artifact .. ' ' .. m_both().content[2].type .. ' ' .. "
                       "m_image().artifact",
                       NULL)
            : NULL;

    if (result) {
        CU_ASSERT_STRING_EQUAL(laz_result_value(result), "\"m_image-1.png audio m_image-2.png\"");
        CU_ASSERT_EQUAL(laz_result_artifacts(result), 3);
        /* The code has taken the name of the first. */
        CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
        CU_ASSERT_STRING_EQUAL(artifact.name, "m_image-1.png");
        CU_ASSERT_STRING_EQUAL(artifact.type, "application/octet-stream");
        CU_ASSERT_EQUAL(laz_result_artifact(result, 1, &artifact), 0);
        CU_ASSERT_STRING_EQUAL(artifact.name, "tool-m_image-1.png");
        CU_ASSERT_EQUAL(laz_result_artifact(result, 2, &artifact), 0);
        CU_ASSERT_STRING_EQUAL(artifact.name, "m_image-2.png");
        CU_ASSERT_STRING_EQUAL(artifact.type, "image/png");
    }
    laz_result_free(result);
    if (session) /* it has none of the first execution */
        test_expect(session, "m_image().artifact", LAZ_VERDICT_OK, "\"m_image-1.png\"");
    laz_session_free(session);
    laz_engine_free(engine);
}

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void a_call_belongs_to_the_trace_of_its_execution(void)
{
    static const char code[] = "m_trace() .. ', ' .. old_trace()";
    const struct laz_trace trace = {.size = sizeof trace, .parent = TRACE, .state = "a=b"};
    const struct laz_execute_options traced = {.size = sizeof traced, .trace = &trace};
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "", ""), mcp_server("old", "2025-11-25", "", ""));
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect_with(session, code, &traced, LAZ_VERDICT_OK,
                         "\"" TRACE " a=b, " TRACE " a=b\"");
        test_expect(session, code, LAZ_VERDICT_OK, "\"None None, None None\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void servers_start_with_the_first_session_and_side_by_side(void)
{
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "", ""), mcp_server("old", "2025-06-18", "", ""));
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
    char *path = laz_strdupf("%s/mcp.toml", mcp_directory);
    laz_engine_free(mcp_engine_of(mcp_server("m", "modern", "", ""), NULL)); /* writes it */
    const struct laz_engine_options options = {.size = sizeof options, .log = mcp_tell};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;

    CU_ASSERT_EQUAL(laz_settings_new(&settings, NULL), 0);
    CU_ASSERT_EQUAL(laz_settings_load(settings, path, NULL), 0);
    laz_buf_clear(&mcp_told);
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
        char *path = laz_strdupf("%s/wrong.toml", mcp_directory);
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
        mcp_engine_of(mcp_server("m", "modern", "crash_at_start", "required = false"),
                      mcp_server("old", "2025-06-18", "", ""));
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "return {type(m_add), old_add(1, 2).sum}", LAZ_VERDICT_OK,
                    "[\"nil\",3]");
        CU_ASSERT(mcp_was_told("no tool of it is there"));
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

    *engine = clock_engine = mcp_engine_of(table, NULL);
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
        held_session(mcp_server("m", "modern", "", "timeout = 20\nmax_timeout = 100"), &engine);

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
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "2025-11-25", "", ""), NULL);
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
    struct laz_session *session = held_session(mcp_server("m", "modern", "", ""), &engine);

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
        struct laz_engine *engine = mcp_engine_of(mcp_server("m", eras[era], "", ""), NULL);
        struct laz_session *session = test_session(engine, "python");
        if (session) {
            test_expect(session, "m_change('order'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect(session, "m_change('schema'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect_error(session, "m_text()", LAZ_VERDICT_ERROR, "has changed its arguments");
            test_expect(session, "m_change('remove'); m_add(1, 1)['sum']", LAZ_VERDICT_OK, "2");
            test_expect_error(session, "m_text()", LAZ_VERDICT_ERROR, "has removed it");
            CU_ASSERT(mcp_was_told("its tool 'm_text' takes other arguments"));
            CU_ASSERT(mcp_was_told("its tool 'm_text' has vanished"));
            CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&mcp_told), "tool 'm_add'"));
        }
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

static const struct unit_test tests[] = {
    UNIT(tools_of_each_era_work_in_each_language),
    UNIT(schemas_become_signatures_and_help),
    UNIT(values_of_a_server_are_not_taken_for_tagged_ones),
    UNIT(arguments_are_what_they_say),
    UNIT(tagged_forms_are_right_or_refused),
    UNIT(only_wanted_tools_are_declared),
    UNIT(a_name_in_except_that_is_misspelt_ends_the_start),
    UNIT(calls_wait_for_a_yes_as_those_of_other_providers),
    UNIT(a_server_has_its_own_environment),
    UNIT(requests_of_a_server_are_refused),
    UNIT(pictures_become_artifacts),
    UNIT(a_call_belongs_to_the_trace_of_its_execution),
    UNIT(servers_start_with_the_first_session_and_side_by_side),
    UNIT(a_check_of_the_configuration_starts_no_server),
    UNIT(mistakes_in_the_table_are_found_without_a_server),
    UNIT(without_a_server_that_is_not_required_sessions_do_without),
    UNIT(progress_gives_a_call_more_time),
    UNIT(a_call_that_is_not_awaited_is_cancelled),
    UNIT(a_server_that_crashes_is_started_again_after_a_pause),
    UNIT(tools_that_change_are_refused),
    {0},
};

int main(void)
{
    return mcp_run("mcp", tests);
}
