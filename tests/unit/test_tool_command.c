/* SPDX-License-Identifier: MIT */
/* test_tool_command.c - the provider `command`, with this program as its host. */
#include "unit.h"

#include "base/buf.h"
#include "base/json.h"
#include "tool/command.h"
#include "os/spawner.h"

#include <lazaret/tool.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct laz_plugin lazaret_plugin;

static struct laz_spawner *spawner;

/* The answer that the host got for a call. */
struct host {
    struct laz_buf answer;
    bool failed; /* the answer is an error */
    int answers;
    int cancel_fd;
    struct laz_buf out, errs;
};

static void host_log(void *host, uint32_t level, const char *text)
{
    (void)host;
    (void)level;
    (void)text;
}

static void host_answer(void *data, struct laz_call *call, const char *json, size_t len)
{
    struct host *host = data;

    (void)call;
    host->answers++;
    laz_buf_append(&host->answer, json, len);
}

static void host_answer_error(void *data, struct laz_call *call, const char *message)
{
    struct host *host = data;

    host->failed = true;
    host_answer(data, call, message, strlen(message));
}

static int host_run(void *data, struct laz_call *call, const struct laz_command *command,
                    struct laz_command_result *result, struct laz_error *err)
{
    struct host *host = data;
    struct laz_strv env = LAZ_STRV_INIT;

    (void)call;
    CU_ASSERT_EQUAL(laz_command_environment(&env, NULL), 0);
    int ret = laz_command_run(spawner, command, (const char *const *)env.items, host->cancel_fd,
                              LAZ_OS_FOREVER, result, &host->out, &host->errs, err);
    laz_strv_fini(&env);
    return ret;
}

static const struct laz_tool_ops *ops(void)
{
    return lazaret_plugin.ops;
}

static int host_check_program(void *user, const char *path, struct laz_error *err)
{
    (void)user;
    return laz_command_check(path, err);
}

static struct laz_tool_services services(struct host *host)
{
    return (struct laz_tool_services){
        .size = sizeof(struct laz_tool_services),
        .json = laz_json_api(),
        .host = host,
        .log = host_log,
        .answer = host_answer,
        .answer_error = host_answer_error,
        .run = host_run,
        .check_program = host_check_program,
    };
}

/* The error of an instance with one tool; "" when it is accepted. */
static const char *declare(const char *tool)
{
    static struct laz_error err;
    struct host host = {.cancel_fd = -1};
    struct laz_tool_services table = services(&host);
    char *options = laz_strdupf("{\"tool\":[%s]}", tool);
    void *state = NULL;

    memset(&err, 0, sizeof err);
    CU_ASSERT_EQUAL(laz_json_scan(options, strlen(options), NULL), 0);
    int ret = ops()->create(&table, options, strlen(options), &state, &err);
    CU_ASSERT_EQUAL(ret, *err.text ? LAZ_EINVAL : 0);
    if (!ret)
        ops()->destroy(state);
    free(options);
    return err.text;
}

/* Makes an instance with one tool, calls it once, and returns the answer: the value's JSON text, or
 * "ERROR " and the message. Static memory. */
static const char *call_with(const char *rest, const char *args, int cancel_fd)
{
    static struct laz_buf text = LAZ_BUF_INIT;
    struct host host = {.cancel_fd = cancel_fd};
    struct laz_tool_services table = services(&host);
    struct laz_error err = {0};
    const struct laz_tool *tools;
    void *state = NULL;
    size_t n;
    char *options = laz_strdupf("{\"tool\":[{\"name\":\"T\",%s}]}", rest);

    laz_buf_clear(&text);
    int ret = ops()->create(&table, options, strlen(options), &state, &err);
    if (!ret) {
        CU_ASSERT_EQUAL(ops()->list(state, &tools, &n, &err), 0);
        CU_ASSERT_EQUAL(n, 1);
        ret = ops()->call(state, 0, NULL, args, strlen(args), &err);
        CU_ASSERT_EQUAL(host.answers, ret ? 0 : 1); /* never both, never neither */
        ops()->destroy(state);
    }
    if (ret || host.failed)
        laz_buf_puts(&text, "ERROR ");
    if (ret)
        laz_buf_puts(&text, err.text);
    else
        laz_buf_append(&text, host.answer.data, host.answer.len);
    laz_buf_fini(&host.answer);
    laz_buf_fini(&host.out);
    laz_buf_fini(&host.errs);
    free(options);
    return laz_buf_text(&text);
}

static const char *call(const char *rest, const char *args)
{
    return call_with(rest, args, -1);
}

#define ONE(type) "\"parameters\":[{\"name\":\"x\",\"type\":\"" type "\"}],"
#define ECHO_X    "\"command\":[\"/usr/bin/printf\",\"%s\",\"{x}\"],\"output\":\"text\""

static void descriptor_is_one_of_a_blocking_provider(void)
{
    CU_ASSERT_EQUAL(lazaret_plugin.magic, LAZ_PLUGIN_MAGIC);
    CU_ASSERT_EQUAL(lazaret_plugin.kind, LAZ_PLUGIN_TOOL);
    UNIT_TEXT(lazaret_plugin.name, "command");
    CU_ASSERT_EQUAL(ops()->flags, LAZ_TOOL_BLOCKING);
}

/* This applies on every system. */
static void no_value_is_given_to_a_shell_of_windows(void)
{
    static const struct {
        const char *name, *arg, *problem;
    } rows[] = {
        {"cmd.exe", "/c", "cmd.exe takes parts of any argument for commands, and {p}"},
        {"CMD", "x", "cmd.exe takes parts of any argument for commands"},
        {"cmd. .", "x", "cmd.exe takes parts of any argument for commands"},
        {"cmd.exe.", "x", "cmd.exe takes parts of any argument for commands"},
        {"a\\\\cmd.exe", "x", "cmd.exe takes parts of any argument for commands"},
        {"python3.11.exe", "-c", "the value of {p} would be run as a script"},
        {"cmdx.exe", "x", NULL},
        {"cmd.com", "x", NULL},
        {"python3.11.exec", "-c", NULL},
    };
    char directory[] = "/tmp/lazaret-test-command-XXXXXX", made[96], tool[256];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = strcmp(rows[i].name, "a\\\\cmd.exe") ? rows[i].name : "a\\cmd.exe";
        snprintf(made, sizeof made, "%s/%s", directory, name);
        CU_ASSERT_EQUAL_FATAL(symlink("/bin/true", made), 0);
        snprintf(tool, sizeof tool,
                 "{\"name\":\"t\",\"command\":[\"%s/%s\",\"%s\",\"{p}\"],"
                 "\"parameters\":[{\"name\":\"p\"}]}",
                 directory, rows[i].name, rows[i].arg);
        const char *problem = declare(tool);
        if (rows[i].problem ? !strstr(problem, rows[i].problem) : *problem != '\0')
            UNIT_TEXT(problem, rows[i].name);
        CU_ASSERT_EQUAL(unlink(made), 0);
    }
    CU_ASSERT_EQUAL(rmdir(directory), 0);
}

static void declarations_that_cannot_work_are_refused(void)
{
    static const struct {
        const char *tool, *problem;
    } rows[] = {
        {"{\"name\":\"t\",\"command\":[\"/bin/true\"]}", ""},
        {"{\"name\":\"t\",\"command\":[\"true\"]}",
         "tool 't': command: 'true' must be the absolute path of a program"},
        {"{\"name\":\"t\",\"command\":[\"/nowhere/x\"]}",
         "tool 't': command: /nowhere/x: No such file or directory"},
        {"{\"name\":\"t\",\"command\":[\"/etc\"]}",
         "tool 't': command: /etc is not an executable program"},
        {"{\"name\":\"t\",\"command\":[\"/etc/passwd\"]}",
         "tool 't': command: /etc/passwd is not an executable program"},
        {"{\"name\":\"t\",\"command\":[]}", "tool 't': command: expected a program, found none"},
        {"{\"command\":[\"/bin/true\"]}", "name: a tool needs one"},
        {"{\"name\":\"t\",\"command\":[\"/bin/true\",5]}", "command: not of its type"},
        {"{\"name\":\"t\",\"command\":[\"/bin/true\"],\"output\":\"xml\"}",
         "tool 't': output: expected json or text, found 'xml'"},
        {"{\"name\":\"t\",\"command\":[\"/bin/true\"],\"max_concurrent\":-1}",
         "tool 't': max_concurrent: expected 0 or more, found -1"},
        {"{\"name\":\"t\",\"command\":[\"/bin/true\"],\"timeout\":99999999999}",
         "tool 't': timeout: expected 0 to 49 days"},
        {"{\"name\":\"t\",\"command\":[\"{p}\"],\"parameters\":[{\"name\":\"p\"}]}",
         "tool 't': command: '{p}' must be the absolute path"},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"{q}\"],\"parameters\":[{\"name\":\"p\"}]}",
         "tool 't': command: {q} names no parameter"},
        {"{\"name\":\"t\",\"command\":[\"/usr/bin/awk\",\"{ print }\"]}", ""},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"--p={p}\"],"
         "\"parameters\":[{\"name\":\"p\"}]}",
         "tool 't': command: {p} stands for a whole argument: it cannot be a part of '--p={p}'"},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"{größe}\",\"{a b}\"],"
         "\"parameters\":[{\"name\":\"größe\"},{\"name\":\"a b\"}]}",
         ""},
        {"{\"name\":\"t\",\"command\":[\"/bin/sh\",\"-c\",\"echo ${p}\"],"
         "\"parameters\":[{\"name\":\"p\"}]}",
         ""},
        {"{\"name\":\"t\",\"command\":[\"/bin/sh\",\"-c\",\"{p}\"],"
         "\"parameters\":[{\"name\":\"p\"}]}",
         "tool 't': command: the value of {p} would be run as a script"},
        {"{\"name\":\"t\",\"command\":[\"/bin/sh\",\"-ec\",\"{p}\"],"
         "\"parameters\":[{\"name\":\"p\"}]}",
         "tool 't': command: the value of {p} would be run as a script"},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"{p}\"],"
         "\"parameters\":[{\"name\":\"p\",\"required\":false}]}",
         "tool 't': command: the parameter {p} may be missing in a call"},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"{p}\"],"
         "\"parameters\":[{\"name\":\"p\",\"required\":false,\"default\":1}]}",
         ""},
        {"{\"name\":\"t\",\"command\":[\"/bin/echo\",\"{p}\"],"
         "\"parameters\":[{\"name\":\"p\"},{\"name\":\"q\"}]}",
         ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *problem = declare(rows[i].tool);
        size_t len = strlen(rows[i].problem);
        if (len ? strncmp(problem, rows[i].problem, len) != 0 : *problem != '\0')
            UNIT_TEXT(problem, rows[i].problem);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(declare(""), "it declares no tool"));
}

static void programs_that_others_can_change_are_refused(void)
{
    char path[] = "/tmp/lazaret-test-XXXXXX";
    int fd = mkstemp(path);
    char *tool = laz_strdupf("{\"name\":\"t\",\"command\":[\"%s\"]}", path);

    CU_ASSERT_TRUE_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_EQUAL(chmod(path, 0755), 0);
    UNIT_TEXT(declare(tool), "");
    CU_ASSERT_EQUAL(chmod(path, 0757), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(declare(tool), "every user can write this file"));
    unlink(path);
    free(tool);
}

static void options_reach_the_host(void)
{
    struct host host = {.cancel_fd = -1};
    struct laz_tool_services table = services(&host);
    const char *text = "{\"tool\":[{\"name\":\"a\",\"description\":\"does \\u00e9\",\"command\":"
                       "[\"/bin/true\"],\"parameters\":[ {\"name\":\"p\"} ],\"timeout\":1500,"
                       "\"output\":\"text\",\"max_concurrent\":3,\"max_output\":1000},"
                       "{\"name\":\"b\",\"command\":[\"/bin/true\"]}]}";
    const struct laz_tool *tools = NULL;
    struct laz_error err = {0};
    void *state = NULL;
    size_t n = 0;

    CU_ASSERT_EQUAL_FATAL(ops()->create(&table, text, strlen(text), &state, &err), 0);
    CU_ASSERT_EQUAL(ops()->list(state, &tools, &n, &err), 0);
    CU_ASSERT_EQUAL_FATAL(n, 2);
    UNIT_TEXT(tools[0].name, "a");
    UNIT_TEXT(tools[0].description, "does \xc3\xa9");
    UNIT_TEXT(tools[0].parameters, "[ {\"name\":\"p\"} ]");
    CU_ASSERT_EQUAL(tools[0].timeout_ms, 1500);
    CU_ASSERT_EQUAL(tools[0].max_concurrent, 3);
    UNIT_TEXT(tools[1].name, "b");
    CU_ASSERT_EQUAL(tools[1].timeout_ms, 30000);
    CU_ASSERT_EQUAL(tools[1].max_concurrent, 8);
    ops()->destroy(state);
}

static void values_become_one_argument_each(void)
{
    static const struct {
        const char *value, *answer;
    } rows[] = {
        {"\"plain\"", "\"plain\""},
        {"\"a b  $(id) `id` ; rm -rf * \\\\ ' \\\" | & > <\"",
         "\"a b  $(id) `id` ; rm -rf * \\\\ ' \\\" | & > <\""},
        {"\"\"", "\"\""},
        {"\"two\\nlines\"", "\"two\\nlines\""},
        {"\"{x}\"", "\"{x}\""},
        {"12", "\"12\""},
        {"0.1", "\"0.1\""},
        {"true", "\"true\""},
        {"[1, \"b\"]", "\"[1, \\\"b\\\"]\""},
        {"{\"a\":1}", "\"{\\\"a\\\":1}\""},
        {"{\"$int\":\"9007199254740993\"}", "\"9007199254740993\""},
        {"{\"$num\":\"NaN\"}", "\"NaN\""},
        {"{\"$date\":\"2024-01-31\"}", "\"2024-01-31\""},
        {"{\"$bytes\":\"//5h\"}", "{\"$bytes\":\"//5h\"}"},
        {"{\"$factor\":{\"levels\":[]}}", "\"{\\\"$factor\\\":{\\\"levels\\\":[]}}\""},
        {"null", "ERROR Tool 'T': argument 'x' may not be null"},
        {"{\"$na\":\"double\"}", "ERROR Tool 'T': argument 'x' may not be NA"},
        {"{\"$bytes\":\"YQBi\"}",
         "ERROR Tool 'T': argument 'x' contains a NUL byte, which no argument of a command can"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *args = laz_strdupf("{\"x\":%s}", rows[i].value);
        UNIT_TEXT(call(ONE("any") ECHO_X, args), rows[i].answer);
        free(args);
    }
    UNIT_TEXT(call("\"parameters\":[{\"name\":\"b\"},{\"name\":\"a\"}],\"command\":"
                   "[\"/usr/bin/printf\",\"<%s>\",\"{a}\",\"{b}\",\"{a}\"],\"output\":\"text\"",
                   "{\"b\":1,\"a\":\"x y\"}"),
              "\"<x y><1><x y>\"");
}

/* Every byte but NUL, as text that is not UTF-8. */
static void every_byte_passes_unchanged(void)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_writer *writer = json->writer_new(0);
    unsigned char bytes[255];
    bool too_large;
    size_t len;

    for (int i = 0; i < 255; i++)
        bytes[i] = (unsigned char)(i + 1);
    json->object_begin(writer);
    json->key(writer, "x", 1);
    json->write_bytes(writer, bytes, sizeof bytes);
    json->object_end(writer);
    const char *args = json->writer_text(writer, &len, &too_large);
    CU_ASSERT_PTR_NOT_NULL_FATAL(args);
    const char *answer = call(ONE("string") ECHO_X, args);
    CU_ASSERT_EQUAL(strncmp(answer, "{\"$bytes\":", 10), 0);
    CU_ASSERT_EQUAL(strncmp(answer, args + 5, strlen(answer)), 0); /* {"x": and the same value */
    json->writer_free(writer);
}

static void values_are_never_options(void)
{
    const char *plain = ONE("any") "\"command\":[\"/bin/echo\",\"{x}\"],\"output\":\"text\"";
    const char *dashes = ONE("any") "\"command\":[\"/bin/cat\",\"--\",\"{x}\"],"
                                    "\"output\":\"text\"";
    const char *refused = "ERROR Tool 'T': argument 'x' may not begin with \"-\": the command "
                          "would take it for an option";

    UNIT_TEXT(call(plain, "{\"x\":\"-rf\"}"), refused);
    UNIT_TEXT(call(plain, "{\"x\":\"-\"}"), refused);
    UNIT_TEXT(call(plain, "{\"x\":-5}"), refused);
    UNIT_TEXT(call(plain, "{\"x\":{\"$num\":\"-Inf\"}}"), refused);
    UNIT_TEXT(call(plain, "{\"x\":{\"$bytes\":\"LXJm\"}}"), refused);
    UNIT_TEXT(call(plain, "{\"x\":\"a-b\"}"), "\"a-b\"");
    /* after the author's "--" the value is a missing file, not an option */
    CU_ASSERT_PTR_NOT_NULL(strstr(call(dashes, "{\"x\":\"-rf\"}"), "-rf: No such file"));
    /* "--" as a value has no effect on the next value */
    UNIT_TEXT(call("\"parameters\":[{\"name\":\"y\"},{\"name\":\"x\"}],\"command\":"
                   "[\"/bin/echo\",\"{y}\",\"{x}\"],\"output\":\"text\"",
                   "{\"y\":\"a\",\"x\":\"-n\"}"),
              refused);
}

static void arguments_without_a_placeholder_come_on_standard_input(void)
{
    const char *both = "\"parameters\":[{\"name\":\"a\"},{\"name\":\"b\",\"required\":false}],"
                       "\"command\":[\"/bin/sh\",\"-c\",\"echo $1; cat\",\"sh\",\"{a}\"],"
                       "\"output\":\"text\"";

    UNIT_TEXT(call(both, "{\"a\":1,\"b\":2}"), "\"1\\n{\\\"a\\\":1,\\\"b\\\":2}\"");
    UNIT_TEXT(call(both, "{\"a\":1}"), "\"1\\n{\\\"a\\\":1}\"");
    /* all parameters have placeholders: standard input is empty */
    UNIT_TEXT(
        call(ONE("any") "\"command\":[\"/bin/sh\",\"-c\",\"cat\",\"sh\",\"{x}\"]", "{\"x\":1}"),
        "null");
    UNIT_TEXT(call(ONE("any") "\"command\":[\"/bin/cat\"]", "{\"x\":[1,{\"a\":\"b\"}]}"),
              "{\"x\":[1,{\"a\":\"b\"}]}");
    UNIT_TEXT(call("\"command\":[\"/bin/cat\"]", "{}"), "{}");
    UNIT_TEXT(call(ONE("any") "\"command\":[\"/bin/echo\",\"-n\",\"5\"]", "{\"x\":\"-rf\"}"), "5");
}

static void output_is_json_or_text(void)
{
#define PRINT(format) "\"command\":[\"/usr/bin/printf\",\"" format "\"]"
    UNIT_TEXT(call(PRINT(" [1, 2]\\\\n"), "{}"), " [1, 2]\n");
    UNIT_TEXT(call(PRINT(""), "{}"), "null");
    UNIT_TEXT(call(PRINT(" \\\\n"), "{}"), "null");
    UNIT_TEXT(call(PRINT("a\\\\n\\\\n") ",\"output\":\"text\"", "{}"), "\"a\\n\"");
    UNIT_TEXT(call(PRINT("") ",\"output\":\"text\"", "{}"), "\"\"");
    UNIT_TEXT(call(PRINT("\\\\n") ",\"output\":\"text\"", "{}"), "\"\"");
    UNIT_TEXT(call(PRINT("caf\xc3\xa9") ",\"output\":\"text\"", "{}"), "\"caf\xc3\xa9\"");
    UNIT_TEXT(call(PRINT("\\\\377\\\\n") ",\"output\":\"text\"", "{}"), "{\"$bytes\":\"/w==\"}");
    UNIT_TEXT(call(PRINT("a\\\\000b") ",\"output\":\"text\"", "{}"), "{\"$bytes\":\"YQBi\"}");
}

static void failing_commands_are_errors_in_their_own_words(void)
{
#define FAIL(script) "\"command\":[\"/bin/sh\",\"-c\",\"" script "\"]"
    UNIT_TEXT(call(FAIL("echo out; echo no such customer >&2; exit 1"), "{}"),
              "ERROR no such customer");
    UNIT_TEXT(call(FAIL("exit 3"), "{}"), "ERROR exit status 3");
    UNIT_TEXT(call(FAIL("kill -9 $$"), "{}"), "ERROR ended by signal 9");
    UNIT_TEXT(
        call(FAIL("printf 'a\\\\033[31mb\\\\a\\\\nsecond\\\\tline\\\\n\\\\n' >&2; exit 1"), "{}"),
        "ERROR a[31mb\nsecond\tline");
    UNIT_TEXT(call(FAIL("echo warning >&2; echo 1"), "{}"), "1\n");
    const char *text = call(FAIL("head -c 100000 /dev/zero | tr '\\\\0' x >&2; exit 1"), "{}");
    CU_ASSERT_EQUAL(strlen(text), strlen("ERROR ") + 2048);
    /* cut between characters */
    text =
        call(FAIL("printf x >&2; head -c 4000 /dev/zero | sed 's/./\\\\xc3\\\\xa9/g' >&2; exit 1"),
             "{}");
    CU_ASSERT_EQUAL(strlen(text), strlen("ERROR ") + 2047);
    CU_ASSERT_PTR_NULL(strstr(text, "\xef\xbf\xbd"));
}

static void limits_of_a_tool_hold(void)
{
    int ends[2];

    UNIT_TEXT(call("\"command\":[\"/usr/bin/yes\"],\"max_output\":1000", "{}"),
              "ERROR /usr/bin/yes wrote more than 1000 bytes to its standard output");
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    close(ends[1]); /* readable at once: cancelled */
    UNIT_TEXT(call_with("\"command\":[\"/bin/sleep\",\"1000\"]", "{}", ends[0]),
              "ERROR /bin/sleep was cancelled");
    close(ends[0]);
}

static void sixteen_megabytes_arrive_as_a_value(void)
{
    const char *text = call("\"command\":[\"/bin/sh\",\"-c\","
                            "\"head -c 16777216 /dev/zero | tr '\\\\0' x\"],\"output\":\"text\"",
                            "{}");

    CU_ASSERT_EQUAL(strlen(text), 16777216 + 2);
    CU_ASSERT_EQUAL(strspn(text + 1, "x"), 16777216);
}

static const struct unit_test tests[] = {
    UNIT(descriptor_is_one_of_a_blocking_provider),
    UNIT(no_value_is_given_to_a_shell_of_windows),
    UNIT(declarations_that_cannot_work_are_refused),
    UNIT(programs_that_others_can_change_are_refused),
    UNIT(options_reach_the_host),
    UNIT(values_become_one_argument_each),
    UNIT(every_byte_passes_unchanged),
    UNIT(values_are_never_options),
    UNIT(arguments_without_a_placeholder_come_on_standard_input),
    UNIT(output_is_json_or_text),
    UNIT(failing_commands_are_errors_in_their_own_words),
    UNIT(limits_of_a_tool_hold),
    UNIT(sixteen_megabytes_arrive_as_a_value),
    {0},
};

int main(void)
{
    struct laz_error err = {0};

    if (laz_spawner_new(&spawner, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int status = unit_run("tool_command", tests);
    laz_spawner_free(spawner);
    return status;
}
