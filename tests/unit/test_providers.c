/* SPDX-License-Identifier: MIT */
/* test_providers.c - from [[tools]] tables to instances, their tools and their services. */
#include "unit.h"

#include "base/json.h"
#include "tool/providers.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/spawner.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/lazaret-test-XXXXXX";
static struct laz_spawner *spawner;
static struct laz_registry *registry;
static struct laz_strv reserved = LAZ_STRV_INIT;

/* The host of the instances, and the answers it got. */
struct host {
    struct laz_buf answer, log;
    struct laz_call *call;
    bool failed;
    struct laz_call_scratch scratch;
};

static void host_sink(void *user, uint32_t level, const char *text)
{
    struct host *host = user;

    laz_buf_printf(&host->log, "%u %s\n", level, text);
}

static void host_answer(void *user, struct laz_call *call, const char *json, size_t len)
{
    struct host *host = user;

    host->call = call;
    laz_buf_clear(&host->answer);
    laz_buf_append(&host->answer, json, len);
}

static void host_answer_error(void *user, struct laz_call *call, const char *message)
{
    struct host *host = user;

    host->failed = true;
    host_answer(user, call, message, strlen(message));
}

static struct laz_call_scratch *host_scratch(void *user, struct laz_call *call)
{
    struct host *host = user;

    host->call = call;
    return &host->scratch;
}

static struct laz_watch *host_watch_fd(void *user, int fd, uint32_t events,
                                       void (*ready)(void *data, uint32_t events), void *data)
{
    (void)user, (void)fd, (void)events, (void)ready;
    return data;
}

static struct laz_watch *host_watch_timer(void *user, uint64_t ms, void (*due)(void *data),
                                          void *data)
{
    (void)user, (void)ms, (void)due;
    return data;
}

static void host_watch_stop(struct laz_watch *watch)
{
    (void)watch;
}

struct made {
    struct host host;
    struct laz_log log;
    struct laz_settings *settings;
    struct laz_tool_set set;
    struct laz_providers *providers;
    struct laz_error err;
};

/* Makes the providers of a configuration file. */
static int make_of_file(struct made *made, const char *path)
{
    memset(made, 0, sizeof *made);
    made->host.scratch = (struct laz_call_scratch)LAZ_CALL_SCRATCH_INIT;
    made->log = (struct laz_log){host_sink, &made->host, LAZ_LOG_DEBUG};
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&made->settings, NULL), 0);
    int ret = laz_settings_load(made->settings, path, &made->err);
    if (ret)
        return ret;
    const struct laz_provider_host host = {
        .host = &made->host,
        .log = &made->log,
        .spawner = spawner,
        .answer = host_answer,
        .answer_error = host_answer_error,
        .scratch = host_scratch,
        .watch_fd = host_watch_fd,
        .watch_timer = host_watch_timer,
        .watch_stop = host_watch_stop,
    };
    return laz_providers_new(registry, made->settings, &reserved, &host, &made->set,
                             &made->providers, &made->err);
}

/* The same from a text. */
static int make(struct made *made, const char *toml)
{
    char *path = laz_strdupf("%s/test.toml", folder);

    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, toml, strlen(toml), 0600, NULL), 0);
    int ret = make_of_file(made, path);
    free(path);
    return ret;
}

static void made_fini(struct made *made)
{
    laz_providers_free(made->providers);
    laz_tool_set_fini(&made->set);
    laz_settings_free(made->settings);
    laz_call_scratch_fini(&made->host.scratch);
    laz_buf_fini(&made->host.answer);
    laz_buf_fini(&made->host.log);
}

/* Calls a tool as the engine would: checked arguments, then the instance. */
static int call(struct made *made, const char *name, const char *args, struct laz_error *err)
{
    const struct laz_tool_entry *entry = laz_tool_set_find(&made->set, name, strlen(name));
    const struct laz_provider *provider = laz_provider_of(made->providers, entry);
    struct laz_call *token = (struct laz_call *)&made->host; /* never dereferenced */
    struct laz_buf checked = LAZ_BUF_INIT;

    made->host.failed = false;
    made->host.call = NULL;
    int ret = laz_tool_check_arguments(entry, args, strlen(args), &checked, err);
    if (!ret)
        ret = provider->ops->call(provider->state, entry->index, token, checked.data, checked.len,
                                  err);
    if (!ret)
        CU_ASSERT_PTR_EQUAL(made->host.call, token);
    laz_buf_fini(&checked);
    return ret;
}

#define TOOL(name, rest) "[[tools.tool]]\nname = \"" name "\"\ncommand = [\"/bin/cat\"]\n" rest "\n"
#define PROVIDER         "[[tools]]\nprovider = \"command\"\n"

static void no_tables_make_no_instances(void)
{
    struct made made;
    struct laz_tool_entry application = {.owner = &made};

    CU_ASSERT_EQUAL(make(&made, ""), 0);
    CU_ASSERT_EQUAL(made.set.n, 0);
    CU_ASSERT_PTR_NOT_NULL(made.providers);
    CU_ASSERT_PTR_NULL(laz_provider_of(made.providers, &application));
    CU_ASSERT_PTR_NULL(laz_provider_of(NULL, &application));
    made_fini(&made);
    laz_providers_free(NULL);
}

static void each_table_is_an_instance_with_its_tools(void)
{
    struct made made;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(
        make(&made, PROVIDER TOOL("one", "timeout = 1.5\nmax_concurrent = 3") TOOL(
                        "two", "parameters = { a = \"integer\", b = { type = \"string\", "
                               "default = \"x\" } }") PROVIDER TOOL("three", "output = \"text\"")),
        0);
    CU_ASSERT_EQUAL_FATAL(made.set.n, 3);
    UNIT_TEXT(made.set.entries[0].name, "one");
    CU_ASSERT_EQUAL(made.set.entries[0].timeout_ms, 1500);
    CU_ASSERT_EQUAL(made.set.entries[0].max_concurrent, 3);
    CU_ASSERT_EQUAL(made.set.entries[1].index, 1);
    CU_ASSERT_EQUAL(made.set.entries[2].index, 0);
    CU_ASSERT_PTR_EQUAL(made.set.entries[0].owner, made.set.entries[1].owner);
    CU_ASSERT_PTR_NOT_EQUAL(made.set.entries[0].owner, made.set.entries[2].owner);
    const struct laz_provider *provider = laz_provider_of(made.providers, &made.set.entries[1]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(provider);
    UNIT_TEXT(provider->name, "command");
    CU_ASSERT_TRUE(provider->blocking);

    CU_ASSERT_EQUAL(call(&made, "two", "{\"a\":1.0}", &err), 0);
    CU_ASSERT_FALSE(made.host.failed);
    UNIT_TEXT(made.host.answer.data, "{\"a\":1,\"b\":\"x\"}");
    CU_ASSERT_EQUAL(call(&made, "three", "{}", &err), 0);
    UNIT_TEXT(made.host.answer.data, "\"{}\"");
    CU_ASSERT_EQUAL(call(&made, "one", "{\"z\":1}", &err), LAZ_EINVAL);
    made_fini(&made);
}

static void mistakes_are_found_where_they_were_made(void)
{
    static const struct {
        const char *toml, *problem; /* after "DIRECTORY/test.toml:" */
    } rows[] = {
        {PROVIDER TOOL("maybe", ""), "3:1: Tool 'maybe': the name is a reserved word of testrt"},
        {PROVIDER TOOL("a", "") TOOL("not a name", ""),
         "7:1: 'not a name' is not a valid name of a tool"},
        {PROVIDER TOOL("a", "") PROVIDER TOOL("a", ""),
         "9:1: Duplicate tool names: 'a' (the first is of provider command)"},
        {PROVIDER TOOL("a", "parameters = { perhaps = \"string\" }"),
         "3:1: Tool 'a': parameter 'perhaps' is a reserved word of testrt"},
        {PROVIDER "[[tools.tool]]\nname = \"a\"\ncommand = [\"/nowhere/x\"]\n",
         "1:1: provider command: tool 'a': command: /nowhere/x: No such file or directory"},
        {PROVIDER "[[tools.tool]]\nname = \"a\"\ncommand = [\"{x}\"]\n",
         "1:1: provider command: tool 'a': command: '{x}' must be the absolute path"},
        {PROVIDER TOOL("a", "tiemout = 3"), "6:1: tools.tool.tiemout: "},
        {"\n[[tools]]\nprovider = \"nosuch\"\n", "2:1: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made made;
        char *expected = laz_strdupf("%s/test.toml:%s", folder, rows[i].problem);
        CU_ASSERT_EQUAL(make(&made, rows[i].toml), LAZ_ECONFIG);
        CU_ASSERT_EQUAL(made.err.code, LAZ_ECONFIG);
        CU_ASSERT_PTR_NULL(made.providers);
        if (strncmp(made.err.text, expected, strlen(expected)) != 0)
            UNIT_TEXT(made.err.text, expected);
        free(expected);
        made_fini(&made);
    }
}

static void commands_use_the_scratch_of_their_call(void)
{
    struct made made;
    struct laz_error err = {0};
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(make(&made, PROVIDER
                               "[[tools.tool]]\nname = \"wait\"\ncommand = [\"/bin/sh\", \"-c\", "
                               "\"echo $$; sleep 1000\"]\n"),
                          0);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    made.host.scratch.cancel_fd = ends[0];
    close(ends[1]); /* readable at once */
    CU_ASSERT_EQUAL(call(&made, "wait", "{}", &err), LAZ_ETIMEOUT);
    close(ends[0]);
    made_fini(&made);
}

static void providers_of_every_kind_get_their_services(void)
{
    struct made made;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_blocking\"\n"), 0);
    CU_ASSERT_EQUAL(call(&made, "echo", "{\"value\":[1]}", &err), 0);
    UNIT_TEXT(made.host.answer.data, "{\"value\":[1]}");
    CU_ASSERT_EQUAL(call(&made, "fail", "{}", &err), 0);
    CU_ASSERT_TRUE(made.host.failed);
    CU_ASSERT_EQUAL(call(&made, "run", "{\"argv\":[\"/bin/echo\",\"hi\"]}", &err), 0);
    CU_ASSERT_FALSE(made.host.failed);
    made_fini(&made);
    /* two instances of a plugin declare the same tools twice */
    CU_ASSERT_EQUAL(make(&made, "[[tools]]\nprovider = \"tool_blocking\"\n[[tools]]\nprovider = "
                                "\"tool_blocking\"\n"),
                    LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(made.err.text, ":3:1: Duplicate tool names: 'echo'"));
    made_fini(&made);
    CU_ASSERT_EQUAL_FATAL(make(&made, "[[tools]]\nprovider = \"tool_evented\"\n"), 0);
    CU_ASSERT_FALSE(laz_provider_of(made.providers, &made.set.entries[0])->blocking);
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
        {"convert", "{\"value\":1609.344,\"unit\":\"m\",\"target\":\"mi\"}", "1\n", false},
        {"convert", "{\"value\":1,\"unit\":\"mi\"}", "1.60934\n", false},
        {"convert", "{\"value\":-1,\"unit\":\"mi\"}", "a length cannot be negative", true},
        {"fingerprint", "{\"value\":\"lazaret\"}", "\"915ca6d6a6ef23ac\"", false},
    };
    struct made made;
    struct laz_error err = {0};

    if (make_of_file(&made, DEMO))
        CU_FAIL_FATAL("config/examples/demo.toml cannot be used");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(call(&made, rows[i].tool, rows[i].args, &err), 0);
        CU_ASSERT_EQUAL(made.host.failed, rows[i].fails);
        const char *answer = laz_buf_text(&made.host.answer);
        if (strncmp(answer, rows[i].answer, strlen(rows[i].answer)) != 0)
            UNIT_TEXT(answer, rows[i].answer);
        if (!rows[i].fails)
            CU_ASSERT_EQUAL(laz_json_scan(answer, strlen(answer), NULL), 0);
    }
    made_fini(&made);
}

static const struct unit_test tests[] = {
    UNIT(no_tables_make_no_instances),
    UNIT(each_table_is_an_instance_with_its_tools),
    UNIT(mistakes_are_found_where_they_were_made),
    UNIT(commands_use_the_scratch_of_their_call),
    UNIT(providers_of_every_kind_get_their_services),
    UNIT(tools_of_the_demonstration_work),
    {0},
};

/* Writes only the description of a runtime, with its reserved words. */
static void write_runtime(void)
{
    static const char json[] =
        "{\"kind\":\"runtime\",\"abi\":\"1.0\",\"name\":\"testrt\",\"version\":\"1\","
        "\"summary\":\"s\",\"suffixes\":[],\"libraries\":[],\"read\":[],\"env\":[],"
        "\"reserved_words\":[\"maybe\",\"perhaps\"],\"programs\":[],\"options\":[]}";
    char *path = laz_strdupf("%s/testrt.json", folder);

    laz_os_write_file(path, json, strlen(json), 0644, NULL);
    memcpy(path + strlen(path) - 5, ".so", 4);
    laz_os_write_file(path, "", 0, 0644, NULL);
    free(path);
}

int main(void)
{
    struct laz_strv folders = LAZ_STRV_INIT;
    struct laz_error err = {0};
    int status = 1;

    unsetenv("LAZARET_PLUGIN_PATH");
    if (!mkdtemp(folder))
        return 1;
    write_runtime();
    laz_strv_add(&folders, folder);
    laz_strv_add(&folders, PLUGIN_FOLDER);
    laz_strv_add(&folders, MOCK_FOLDER);
    if (laz_spawner_new(&spawner, &err) || laz_registry_new(&folders, NULL, &registry, &err) ||
        laz_providers_reserved(registry, &reserved, &err))
        fprintf(stderr, "%s\n", err.text);
    else
        status = unit_run("providers", tests);
    laz_registry_free(registry);
    laz_spawner_free(spawner);
    laz_strv_fini(&folders);
    laz_strv_fini(&reserved);
    laz_os_remove_tree(folder);
    return status;
}
