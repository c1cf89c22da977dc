/* SPDX-License-Identifier: MIT */
/* test_providers.c - from [[tools]] tables to instances, their tools and their services. */
#include "unit.h"

#include "base/json.h"
#include "tool/tool_private.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/spawner.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/lazaret-test-XXXXXX";
static struct laz_spawner *spawner;
static struct laz_registry *registry;

/* The tools of a configuration, and the answer to the last call. */
struct made {
    struct laz_driver driver;
    struct laz_tools tools;
    struct laz_settings *settings;
    struct laz_buf answer;
    bool answered, failed;
    struct laz_error err;
};

static void made_answered(void *user, struct laz_call *call, const char *json, size_t len,
                          const char *error)
{
    struct made *made = user;

    (void)call;
    made->answered = true;
    made->failed = !json;
    laz_buf_clear(&made->answer);
    laz_buf_append(&made->answer, json ? json : error, json ? len : strlen(error));
}

/* Makes the providers of a configuration file. */
static int make_of_file(struct made *made, const char *path)
{
    memset(made, 0, sizeof *made);
    CU_ASSERT_EQUAL_FATAL(laz_driver_init(&made->driver, 4, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&made->settings, NULL), 0);
    int ret = laz_settings_load(made->settings, path, &made->err);
    return ret ? ret
               : laz_tools_init(&made->tools, &made->driver, spawner, registry, made->settings,
                                &made->err);
}

/* The same from a text. */
static int make(struct made *made, const char *toml)
{
    char *path = laz_strdupf("%s/test.toml", directory);

    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, toml, strlen(toml), 0600, NULL), 0);
    int ret = make_of_file(made, path);
    free(path);
    return ret;
}

static void made_fini(struct made *made)
{
    (void)laz_driver_end_workers(&made->driver, LAZ_WORKERS_FOREVER);
    laz_tools_end(&made->tools);
    laz_tools_fini(&made->tools);
    laz_driver_fini(&made->driver);
    laz_settings_free(made->settings);
    laz_buf_fini(&made->answer);
}

/* Starts a call with arguments that were checked. NULL: they were refused. */
static struct laz_call *start(struct made *made, const char *name, const char *args,
                              struct laz_error *err)
{
    const struct laz_tool_entry *entry = laz_tool_set_find(&made->tools.set, name, strlen(name));
    const struct laz_call_owner owner = {.user = made, .answered = made_answered};
    struct laz_buf checked = LAZ_BUF_INIT;

    made->answered = false;
    if (laz_tool_check_arguments(entry, args, strlen(args), &checked, err)) {
        laz_buf_fini(&checked);
        return NULL;
    }
    return laz_call_start(&made->tools, &made->tools.set, (size_t)(entry - made->tools.set.entries),
                          &checked, &owner);
}

/* The answer to a call, or what is wrong with its arguments. */
static const char *call(struct made *made, const char *name, const char *args)
{
    if (!start(made, name, args, &made->err))
        return made->err.text;
    while (!made->answered)
        laz_loop_step(made->driver.loop, LAZ_LOOP_FOREVER);
    return laz_buf_text(&made->answer);
}

#define TOOL(name, rest) "[[tools.tool]]\nname = \"" name "\"\ncommand = [\"/bin/cat\"]\n" rest "\n"
#define PROVIDER         "[[tools]]\nprovider = \"command\"\n"
#define MCP              "[[tools]]\nprovider = \"mcp\"\ncommand = [\"/bin/cat\"]\n"

static void no_tables_make_no_instances(void)
{
    struct made made;

    CU_ASSERT_EQUAL(make(&made, ""), 0);
    CU_ASSERT_EQUAL(made.tools.set.n, 0);
    CU_ASSERT_EQUAL(made.tools.n_providers, 0);
    made_fini(&made);
}

static void each_table_is_an_instance_with_its_tools(void)
{
    struct made made;

    CU_ASSERT_EQUAL_FATAL(
        make(&made, PROVIDER TOOL("one", "timeout = 1.5\nmax_concurrent = 3") TOOL(
                        "two", "parameters = { a = \"integer\", b = { type = \"string\", "
                               "default = \"x\" } }") PROVIDER TOOL("three", "output = \"text\"")),
        0);
    const struct laz_tool_entry *entries = made.tools.set.entries;
    CU_ASSERT_EQUAL_FATAL(made.tools.set.n, 3);
    UNIT_TEXT(entries[0].name, "one");
    CU_ASSERT_EQUAL(entries[0].timeout_ms, 1500);
    CU_ASSERT_EQUAL(entries[0].max_concurrent, 3);
    CU_ASSERT_EQUAL(entries[1].index, 1);
    CU_ASSERT_EQUAL(entries[2].index, 0);
    CU_ASSERT_PTR_EQUAL(entries[0].provider, entries[1].provider);
    CU_ASSERT_PTR_NOT_EQUAL(entries[0].provider, entries[2].provider);
    UNIT_TEXT(entries[1].provider->name, "command");
    CU_ASSERT_TRUE(entries[1].provider->is_blocking);

    UNIT_TEXT(call(&made, "two", "{\"a\":1.0}"), "{\"a\":1,\"b\":\"x\"}");
    CU_ASSERT_FALSE(made.failed);
    UNIT_TEXT(call(&made, "three", "{}"), "\"{}\"");
    UNIT_TEXT(call(&made, "one", "{\"z\":1}"), "Unexpected arguments for tool 'one': 'z'");
    made_fini(&made);
}

static void mistakes_are_found_where_they_were_made(void)
{
    static const struct {
        const char *toml, *problem; /* after "DIRECTORY/test.toml:" */
    } rows[] = {
        {PROVIDER TOOL("a", "") TOOL("not a name", ""),
         "7:1: 'not a name' is not a valid name of a tool"},
        {PROVIDER TOOL("a", "") PROVIDER TOOL("a", ""),
         "9:1: Duplicate tool names: 'a' (the first is of provider command)"},
        {PROVIDER TOOL("a", "parameters = { \"a\\u007f\" = \"string\" }"),
         "3:1: Tool 'a': 'a ' is not a valid name of a parameter"},
        {PROVIDER "[[tools.tool]]\nname = \"a\"\ncommand = [\"/nowhere/x\"]\n",
         "5:1: provider command: tool 'a': command: /nowhere/x: No such file or directory"},
        {PROVIDER "[[tools.tool]]\nname = \"a\"\ncommand = [\"{x}\"]\n",
         "5:1: provider command: tool 'a': command: '{x}' must be the absolute path"},
        {PROVIDER TOOL("a", "tiemout = 3"), "6:1: tools.tool.tiemout: "},
        {"\n[[tools]]\nprovider = \"nosuch\"\n", "2:1: "},
        {MCP "\nname = \"x\"\nmax_output = 5\n", "6:14: tools.max_output: expected a size "},
        {MCP "name = \"x\"\nstart_timeout = 0\n", "5:17: tools.start_timeout: expected a time "},
        {MCP "\n\nname = \"1x\"\n", "6:1: provider mcp: name: '1x' has to be 1 to 32 letters"},
        {MCP "name = \"x\"\nheaders = { A = \"b\" }\n",
         "5:1: provider mcp: headers: they belong to a server with `url`"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made made;
        char *expected = laz_strdupf("%s/test.toml:%s", directory, rows[i].problem);
        CU_ASSERT_EQUAL(make(&made, rows[i].toml), LAZ_ECONFIG);
        CU_ASSERT_EQUAL(made.err.code, LAZ_ECONFIG);
        if (strncmp(made.err.text, expected, strlen(expected)) != 0)
            UNIT_TEXT(made.err.text, expected);
        free(expected);
        made_fini(&made);
    }
}

static void commands_end_when_their_call_is_abandoned(void)
{
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, PROVIDER
                               "[[tools.tool]]\nname = \"wait\"\ncommand = [\"/bin/sh\", \"-c\", "
                               "\"echo $$; sleep 1000\"]\n"),
                          0);
    laz_call_abandon(start(&made, "wait", "{}", NULL));
    while (made.tools.calls)
        laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_FALSE(made.answered);
    made_fini(&made);
}

static void tool_of_application(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    laz_reply_value(reply, args, len);
}

/* The entries of the set move while the workers begin calls. */
static void tools_are_added_while_calls_begin(void)
{
    struct laz_tool tool = {.size = sizeof tool, .name = "first"};
    struct laz_buf args[8] = {LAZ_BUF_INIT};
    struct made made;
    char name[32];
    const struct laz_call_owner owner = {.user = &made, .answered = made_answered};

    CU_ASSERT_EQUAL_FATAL(make(&made, ""), 0);
    CU_ASSERT_EQUAL_FATAL(
        laz_tools_add(&made.tools, &made.tools.set, &tool, tool_of_application, NULL, NULL), 0);
    tool.name = name;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 8; i++) {
            laz_buf_puts(&args[i], "{}");
            CU_ASSERT_PTR_NOT_NULL(
                laz_call_start(&made.tools, &made.tools.set, 0, &args[i], &owner));
        }
        for (int i = 0; i < 40; i++) {
            snprintf(name, sizeof name, "t%d.%d", round, i);
            CU_ASSERT_EQUAL(
                laz_tools_add(&made.tools, &made.tools.set, &tool, tool_of_application, NULL, NULL),
                0);
        }
        while (made.tools.calls)
            laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    }
    UNIT_TEXT(laz_buf_text(&made.answer), "{}");
    made_fini(&made);
}

static void providers_of_every_kind_get_their_services(void)
{
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_blocking\"\n"), 0);
    UNIT_TEXT(call(&made, "echo", "{\"value\":[1]}"), "{\"value\":[1]}");
    (void)call(&made, "fail", "{}");
    CU_ASSERT_TRUE(made.failed);
    (void)call(&made, "run", "{\"argv\":[\"/bin/echo\",\"hi\"]}");
    CU_ASSERT_FALSE(made.failed);
    made_fini(&made);
    /* two instances of a plugin declare the same tools twice */
    CU_ASSERT_EQUAL(make(&made, "[[tools]]\nprovider = \"tool_blocking\"\n[[tools]]\nprovider = "
                                "\"tool_blocking\"\n"),
                    LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(made.err.text, ":3:1: Duplicate tool names: 'echo'"));
    made_fini(&made);
    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_evented\"\n"), 0);
    CU_ASSERT_FALSE(made.tools.providers[0]->is_blocking);
    UNIT_TEXT(call(&made, "now", "{}"), "\"now\"");
    UNIT_TEXT(call(&made, "later", "{\"ms\":1}"), "\"later\"");
    UNIT_TEXT(call(&made, "piped", "{\"text\":\"abc\"}"), "\"abc\"");
    UNIT_TEXT(call(&made, "fail", "{}"), "the mock fails");
    CU_ASSERT_TRUE(made.failed);
    made_fini(&made);
}

/* ---- the end of sessions ----------------------------------------------------------------------
 */

static void note_closed(void *user, uint32_t level, const char *text)
{
    const char *at = strstr(text, ": session ");

    (void)level;
    if (at)
        laz_buf_printf(user, "%s;", at + 10);
}

/* Starts a call of a session. */
static struct laz_call *start_of(struct made *made, const char *name, const char *session,
                                 void *user)
{
    const struct laz_tool_entry *entry = laz_tool_set_find(&made->tools.set, name, strlen(name));
    const struct laz_call_owner owner = {.user = made,
                                         .answered = made_answered,
                                         .caller = {.session = session, .session_user = user}};
    struct laz_buf args = LAZ_BUF_INIT;

    made->answered = false;
    laz_buf_puts(&args, "{}");
    return laz_call_start(&made->tools, &made->tools.set, (size_t)(entry - made->tools.set.entries),
                          &args, &owner);
}

static void providers_hear_once_of_the_end_of_each_session_that_called_them(void)
{
    struct laz_buf closed = LAZ_BUF_INIT;
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_evented\"\n"), 0);
    made.driver.log = (struct laz_log){.sink = note_closed, .user = &closed, .level = LAZ_LOG_INFO};
    for (int i = 0; i < 2; i++) {
        (void)start_of(&made, "now", "first", (void *)"ann");
        (void)start_of(&made, "now", "second", NULL);
        while (made.tools.calls)
            laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    }
    laz_tools_session_closed(&made.tools, "other");
    UNIT_TEXT(laz_buf_text(&closed), "");
    laz_tools_session_closed(&made.tools, "first");
    laz_tools_session_closed(&made.tools, "first");
    UNIT_TEXT(laz_buf_text(&closed), "first of ann closed, tool none;");
    laz_tools_session_closed(&made.tools, "second");
    UNIT_TEXT(laz_buf_text(&closed),
              "first of ann closed, tool none;second of nobody closed, tool none;");
    CU_ASSERT_PTR_NULL(made.tools.visits);
    made_fini(&made);
    laz_buf_fini(&closed);
}

/* A call is open when the session ends, and is answered when it is abandoned. */
static void hears_after(const char *provider, const char *tool, const char *heard)
{
    struct laz_buf closed = LAZ_BUF_INIT;
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, provider), 0);
    made.driver.log = (struct laz_log){.sink = note_closed, .user = &closed, .level = LAZ_LOG_INFO};
    struct laz_call *open = start_of(&made, tool, "s", NULL);
    laz_tools_session_closed(&made.tools, "s");
    UNIT_TEXT(laz_buf_text(&closed), "");
    laz_call_abandon(open);
    UNIT_TEXT(laz_buf_text(&closed), "");
    while (made.tools.calls)
        laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    UNIT_TEXT(laz_buf_text(&closed), heard);
    CU_ASSERT_PTR_NULL(made.tools.visits);
    made_fini(&made);
    UNIT_TEXT(laz_buf_text(&closed), heard);
    laz_buf_fini(&closed);
}

static void providers_hear_of_the_end_after_the_last_call(void)
{
    hears_after("[[tools]]\nprovider = \"tool_blocking\"\n", "wait", "s closed;");
    hears_after("[[tools]]\nprovider = \"tool_evented\"\n", "hang",
                "s of nobody closed, tool none;");
}

/* ---- programs that run beside the calls -------------------------------------------------------
 */

struct program {
    struct laz_child *child;
    struct laz_child_pipes pipes;
    bool has_ended;
    int32_t status, signal;
};

static void program_ended(void *user, int32_t status, int32_t signal)
{
    struct program *program = user;

    program->has_ended = true;
    program->status = status;
    program->signal = signal;
}

static int program_start(struct made *made, struct program *program, const char *const *argv)
{
    static const char *const env[] = {"HOME=/own", "MINE=1", NULL};
    const struct laz_child_program what = {
        .size = sizeof what, .argv = argv, .env = env, .ended = program_ended, .user = program};

    *program = (struct program){.pipes = {sizeof program->pipes, -1, -1, -1}};
    return laz_child_start(made->tools.providers[0], &what, &program->pipes, &program->child,
                           &made->err);
}

/* Reads its output up to the end, while the loop goes on. */
static const char *program_read(struct made *made, struct program *program)
{
    static char text[4096];
    size_t used = 0;
    ssize_t n;

    while ((n = read(program->pipes.output, text + used, sizeof text - 1 - used)) != 0) {
        used += n > 0 ? (size_t)n : 0;
        if (n < 0)
            laz_loop_step(made->driver.loop, 10);
    }
    text[used] = '\0';
    return text;
}

static void program_close(struct program *program)
{
    laz_os_close(&program->pipes.input);
    laz_os_close(&program->pipes.output);
    laz_os_close(&program->pipes.errors);
}

static void programs_of_providers_have_pipes_and_an_end(void)
{
    const char *const cat[] = {"/bin/cat", NULL};
    const char *const fails[] = {"/bin/sh", "-c", "echo $HOME $MINE $LANG; exit 3", NULL};
    const char *const forks[] = {"/bin/sh", "-c", "sleep 3000 & echo left; exit 0", NULL};
    const char *const nowhere[] = {"/nowhere/at/all", NULL}, *const relative[] = {"cat", NULL};
    struct program program;
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_evented\"\n"), 0);
    CU_ASSERT_EQUAL(program_start(&made, &program, nowhere), LAZ_EOS);
    CU_ASSERT_EQUAL(program_start(&made, &program, relative), LAZ_EINVAL);
    CU_ASSERT_EQUAL_FATAL(program_start(&made, &program, cat), 0);
    CU_ASSERT_EQUAL(write(program.pipes.input, "hi", 2), 2);
    laz_os_close(&program.pipes.input);
    UNIT_TEXT(program_read(&made, &program), "hi");
    while (!program.has_ended)
        laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT(program.status == 0 && program.signal == 0);
    laz_child_end(program.child, 1000);
    program_close(&program);
    CU_ASSERT_EQUAL_FATAL(program_start(&made, &program, fails), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(program_read(&made, &program), "/own 1 "));
    while (!program.has_ended)
        laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT(program.status == 3 && program.signal == 0);
    laz_child_end(program.child, 1000);
    program_close(&program);
    CU_ASSERT_EQUAL_FATAL(program_start(&made, &program, forks), 0);
    UNIT_TEXT(program_read(&made, &program), "left\n"); /* ends, though sleep had the pipe */
    laz_child_end(program.child, 1000);
    program_close(&program);
    made_fini(&made);
}

static void programs_that_do_not_end_are_killed(void)
{
    const char *const stays[] = {
        "/bin/sh", "-c", "trap 'echo asked' TERM; echo up; while :; do sleep 1000 & wait; done",
        NULL};
    struct program program;
    struct made made;
    char text[16] = "";

    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_evented\"\n"), 0);
    CU_ASSERT_EQUAL_FATAL(program_start(&made, &program, stays), 0);
    while (read(program.pipes.output, text, sizeof text) < 3)
        laz_loop_step(made.driver.loop, 10);
    laz_loop_hold_clock(made.driver.loop);
    laz_child_end(program.child, 500);
    laz_loop_advance_clock(made.driver.loop, 499);
    laz_loop_step(made.driver.loop, 0);
    CU_ASSERT(read(program.pipes.output, text, sizeof text) < 0); /* nobody has asked it */
    laz_loop_advance_clock(made.driver.loop, 1);
    memset(text, 0, sizeof text);
    while (read(program.pipes.output, text, sizeof text - 1) < 0)
        laz_loop_step(made.driver.loop, 10);
    UNIT_TEXT(text, "asked\n");
    laz_loop_advance_clock(made.driver.loop, 500);
    while (made.tools.children)
        laz_loop_step(made.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_FALSE(program.has_ended); /* nobody is told of a child that was given back */
    program_close(&program);
    CU_ASSERT_EQUAL_FATAL(program_start(&made, &program, stays), 0); /* one that is forgotten */
    program_close(&program);
    made_fini(&made);
}

/* The tools of the demonstration need only a small Debian system. */
static void tools_of_the_demonstration_work(void)
{
    static const struct {
        const char *tool, *args, *answer; /* answer: its beginning */
        bool fails;
    } rows[] = {
        {"measurements", "{\"site\":\"east\"}",
         "[{\"site\":\"east\",\"x\":0.5,\"y\":2.90},{\"site\":\"east\",\"x\":1.0,\"y\":3.00},",
         false},
        {"orders", "{}",
         "[{\"id\":101,\"customer\":\"Bo\",\"item\":\"honey\",\"quantity\":2,\"price\":6.80},",
         false},
        {"orders", "{\"month\":4}", "there are no orders of month 4", true},
        {"orders", "{\"month\":-1}", "there are no orders of month -1", true},
        {"convert", "{\"value\":1609.344,\"unit\":\"m\",\"target\":\"mi\"}", "1", false},
        {"convert", "{\"value\":1,\"unit\":\"mi\"}", "1.60934", false},
        {"convert", "{\"value\":-1,\"unit\":\"mi\"}", "a length cannot be negative", true},
        {"fingerprint", "{\"value\":\"lazaret\"}", "\"915ca6d6a6ef23ac\"", false},
    };
    struct made made;

    if (make_of_file(&made, DEMO))
        CU_FAIL_FATAL("config/examples/demo.toml cannot be used");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *answer = call(&made, rows[i].tool, rows[i].args);
        CU_ASSERT_EQUAL(made.failed, rows[i].fails);
        if (strncmp(answer, rows[i].answer, strlen(rows[i].answer)) != 0)
            UNIT_TEXT(answer, rows[i].answer);
        if (!rows[i].fails)
            CU_ASSERT_EQUAL(laz_json_scan(answer, strlen(answer), NULL), 0);
    }
    made_fini(&made);
}

static void host_called(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    (void)args;
    (void)len;
    laz_reply_value(reply, "null", 4);
}

/* The text for a tool of the set, from its call to that of the next one. */
static void shows(const char *text, const char *begin, const char *line)
{
    const char *at = strstr(text, begin), *end = at ? strstr(at, "\n\n") : NULL;
    char *own = at ? laz_strndup(at, end ? (size_t)(end - at) : strlen(at)) : NULL;

    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
    if (line)
        CU_ASSERT_PTR_NOT_NULL(strstr(own, line));
    CU_ASSERT_EQUAL(strstr(own, "approval") != NULL, line != NULL);
    free(own);
}

#define RULE(text) "[[approve]]\n" text "\n"
#define EACH       "    Each call waits for an approval."
#define SOME       "    A call may have to wait for an approval, as its arguments are."

static void tools_say_which_of_their_calls_wait_for_an_approval(void)
{
    static const struct {
        const char *begin, *line; /* NULL: none of them */
        const char *json;
    } rows[] = {
        {"free(x)", NULL, NULL},
        {"declared(x)", EACH, "\"approve\":true"},
        {"by_rule(x)", EACH, "\"approve\":true"},
        {"by_value(x)", SOME, "\"may_approve\":true"},
        {"misspelt(x)", EACH, "\"approve\":true"}, /* the rule holds for each call */
        {"by_both(x)", EACH, "\"approve\":true"},
        {"of_both(x)", EACH, "\"approve\":true"},
        {"host(x)", SOME, "\"may_approve\":true"}, /* of the application */
    };
    static const char x[] = "parameters = { x = \"string\" }\n";
    char *toml = laz_strdupf(
        PROVIDER TOOL("free", "%s") TOOL("declared", "approve = true\n%s") TOOL("by_rule", "%s")
            TOOL("by_value", "%s") TOOL("misspelt", "%s") TOOL("by_both", "%s")
                TOOL("of_both", "approve = true\n%s") RULE("tool = \"by_r*\"")
                    RULE("tool = \"by_value\"\nwhen = { x = \"/etc/*\" }")
                        RULE("tool = \"misspelt\"\nwhen = { y = \"/etc/*\" }")
                            RULE("tool = \"*_both\"\nwhen = { x = \"a\" }")
                                RULE("tool = \"?y_both\"")
                                    RULE("tool = \"host\"\nwhen = { x = \"a\" }"),
        x, x, x, x, x, x, x);
    const struct laz_tool host = {
        .size = sizeof host,
        .name = "host",
        .parameters = "[{\"name\":\"x\",\"type\":\"string\"}]",
    };
    struct laz_buf text = LAZ_BUF_INIT, json = LAZ_BUF_INIT;
    struct made made;

    CU_ASSERT_EQUAL_FATAL(make(&made, toml), 0);
    CU_ASSERT_EQUAL(laz_tools_add(&made.tools, &made.tools.set, &host, host_called, NULL, NULL), 0);
    CU_ASSERT_EQUAL(laz_tool_set_format(&made.tools.set, "text", NULL, NULL, &text, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_tool_set one = {.entries = &made.tools.set.entries[i], .n = 1};
        shows(laz_buf_text(&text), rows[i].begin, rows[i].line);
        laz_buf_clear(&json);
        laz_tool_set_json(&one, NULL, NULL, &json);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&json), "approve") != NULL, rows[i].json != NULL);
        if (rows[i].json)
            CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&json), rows[i].json));
    }
    laz_buf_fini(&text);
    laz_buf_fini(&json);
    made_fini(&made);
    free(toml);
}

static const struct unit_test tests[] = {
    UNIT(no_tables_make_no_instances),
    UNIT(each_table_is_an_instance_with_its_tools),
    UNIT(mistakes_are_found_where_they_were_made),
    UNIT(commands_end_when_their_call_is_abandoned),
    UNIT(tools_are_added_while_calls_begin),
    UNIT(providers_of_every_kind_get_their_services),
    UNIT(providers_hear_once_of_the_end_of_each_session_that_called_them),
    UNIT(providers_hear_of_the_end_after_the_last_call),
    UNIT(programs_of_providers_have_pipes_and_an_end),
    UNIT(programs_that_do_not_end_are_killed),
    UNIT(tools_of_the_demonstration_work),
    UNIT(tools_say_which_of_their_calls_wait_for_an_approval),
    {0},
};

/* Writes only the description of a runtime, with its reserved words. */
static void write_runtime(void)
{
    static const char json[] =
        "{\"kind\":\"runtime\",\"abi\":\"1.0\",\"name\":\"testrt\",\"version\":\"1\","
        "\"summary\":\"s\",\"suffixes\":[],\"libraries\":[],\"read\":[],\"env\":[],"
        "\"reserved_words\":[\"maybe\",\"perhaps\"],\"programs\":[],\"options\":[]}";
    char *path = laz_strdupf("%s/testrt.json", directory);

    laz_os_write_file(path, json, strlen(json), 0644, NULL);
    memcpy(path + strlen(path) - 5, ".so", 4);
    laz_os_write_file(path, "", 0, 0644, NULL);
    free(path);
}

int main(void)
{
    struct laz_settings_values values = {0};
    struct laz_strv *directories = &values.plugins.path;
    struct laz_error err = {0};
    int status = 1;

    unsetenv("LAZARET_PLUGIN_PATH");
    if (!mkdtemp(directory))
        return 1;
    write_runtime();
    laz_strv_add(directories, directory);
    laz_strv_add(directories, PLUGIN_DIRECTORY);
    laz_strv_add(directories, MOCK_DIRECTORY);
    if (laz_spawner_new(&spawner, &err) || laz_registry_new(&values, NULL, &registry, &err))
        fprintf(stderr, "%s\n", err.text);
    else
        status = unit_run("providers", tests);
    laz_registry_free(registry);
    laz_spawner_free(spawner);
    laz_strv_fini(directories);
    laz_os_remove_tree(directory);
    return status;
}
