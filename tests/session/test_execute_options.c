/* SPDX-License-Identifier: MIT */
/* test_execute_options.c - each function that executes code, times each member of struct
 * laz_execute_options: it has its effect everywhere alike, and what is wrong is refused everywhere
 * alike, before anything runs.
 *
 * All that a function is given is overwritten and freed when it has returned.  The clocks of all
 * engines are held, so that time passes when a test says so. */
#include "gates.h"
#include "ways.h"

#include "base/options.h"
#include "engine/engine.h"
#include "group/group.h"
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is heard --------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct laz_engine *engine; /* that executes */
    bool awaits_progress;      /* the tool `pass` returns when it was reported */
    unsigned lines, pieces, calls, progress;
    char line[32], piece[32], parent[64], state[32];
    void *line_user, *tool_user;
} heard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void heard_reset(struct laz_engine *engine)
{
    pthread_mutex_lock(&heard.lock);
    heard.engine = engine;
    heard.awaits_progress = false;
    heard.lines = heard.pieces = heard.calls = heard.progress = 0;
    *heard.line = *heard.piece = *heard.parent = *heard.state = '\0';
    heard.line_user = heard.tool_user = NULL;
    pthread_mutex_unlock(&heard.lock);
}

static void hear_line(void *user, int stream, const char *text, size_t len)
{
    (void)stream;
    pthread_mutex_lock(&heard.lock);
    heard.lines++;
    heard.line_user = user;
    snprintf(heard.line, sizeof heard.line, "%.*s", (int)len, text);
    pthread_mutex_unlock(&heard.lock);
}

static void hear_output(void *user, int stream, const char *data, size_t len)
{
    (void)user, (void)stream;
    pthread_mutex_lock(&heard.lock);
    heard.pieces++;
    snprintf(heard.piece, sizeof heard.piece, "%.*s", (int)len, data);
    pthread_mutex_unlock(&heard.lock);
}

static void hear_progress(void *user, const struct laz_execution_usage *usage)
{
    (void)user;
    pthread_mutex_lock(&heard.lock);
    heard.progress += usage->size == sizeof *usage && usage->tool_calls == 1;
    pthread_cond_broadcast(&heard.changed);
    pthread_mutex_unlock(&heard.lock);
}

#define LIMIT_MS 5

/* The code has begun. */
static void pass_at_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    test_advance_clock(heard.engine, LIMIT_MS);
}

static void tool_who(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const struct laz_caller *caller = laz_reply_caller(reply);

    (void)user, (void)args, (void)len;
    pthread_mutex_lock(&heard.lock);
    heard.calls++;
    heard.tool_user = caller->execution_user;
    if (caller->trace) {
        snprintf(heard.parent, sizeof heard.parent, "%s", caller->trace->parent);
        snprintf(heard.state, sizeof heard.state, "%s", caller->trace->state);
    }
    pthread_mutex_unlock(&heard.lock);
    laz_reply_value(reply, "1", 1);
}

/* {"ms":MS}: so much time passes. */
static void tool_pass(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct timespec until;

    (void)user, (void)len;
    test_post_advance(heard.engine, strtoull(args + strlen("{\"ms\":"), NULL, 10));
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += UNIT_HANG_MS / 1000;
    pthread_mutex_lock(&heard.lock);
    while (heard.awaits_progress && !heard.progress)
        if (pthread_cond_timedwait(&heard.changed, &heard.lock, &until))
            break;
    pthread_mutex_unlock(&heard.lock);
    laz_reply_value(reply, "1", 1);
}

static const struct ways_tool tools[] = {
    {{.size = sizeof(struct laz_tool), .name = "who"}, tool_who},
    {{.size = sizeof(struct laz_tool),
      .name = "pass",
      .parameters = "[{\"name\":\"ms\",\"type\":\"integer\"}]"},
     tool_pass},
};

static void home_open(void)
{
    ways_open(tools, sizeof tools / sizeof *tools);
}

static struct way_outcome run(const struct way *way, const char *code,
                              const struct laz_execute_options *(*make)(void))
{
    heard_reset(way_engine(way));
    return way_run(way, code, make);
}

/* ---- parts of options ------------------------------------------------------------------------ */

static void give_argv(struct laz_execute_options *options, size_t n, size_t n_argv)
{
    static const char *const words[] = {"file.lua", "one", "two"};
    const char **argv = give(n * sizeof *argv);

    for (size_t i = 0; i < n; i++)
        argv[i] = give_text(words[i]);
    options->argv = argv;
    options->n_argv = n_argv;
}

/* A file of `files`, whose room is for `most`. */
static void give_file(struct laz_execute_options *options, size_t most, const char *name,
                      const void *data, size_t len)
{
    const struct laz_file **files = (const struct laz_file **)(uintptr_t)options->files;
    struct laz_file *file = give(sizeof *file);

    if (!files)
        options->files = files = give(most * sizeof *files);
    file->size = sizeof *file;
    file->name = name ? give_text(name) : NULL;
    file->data = data ? give_bytes(data, len) : NULL;
    file->data_len = len;
    files[options->n_files++] = file;
}

/* ---- what each member does ------------------------------------------------------------------- */

static bool is_true(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_OK &&
           strcmp(laz_result_value(result), "true") == 0;
}

static const struct laz_execute_options *make_timeout_ms(void)
{
    struct laz_execute_options *options = give_options();

    options->timeout_ms = LIMIT_MS;
    options->line = pass_at_line;
    return options;
}

static bool is_timeout(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_TIMEOUT;
}

static const struct laz_execute_options *make_deadline_ms(void)
{
    struct laz_execute_options *options = give_options();

    options->deadline_ms = LIMIT_MS;
    options->line = pass_at_line;
    return options;
}

static bool is_deadline(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_DEADLINE;
}

static const struct laz_execute_options *make_max_tool_calls(void)
{
    struct laz_execute_options *options = give_options();

    options->max_tool_calls = 2;
    return options;
}

static bool is_tool_limit(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_TOOL_LIMIT && heard.calls == 2;
}

static const struct laz_execute_options *make_max_output_lines(void)
{
    struct laz_execute_options *options = give_options();

    options->max_output_lines = 2;
    return options;
}

static bool is_truncated(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_OK && laz_result_is_truncated(result);
}

static const struct laz_execute_options *make_max_code_length(void)
{
    struct laz_execute_options *options = give_options();

    options->max_code_length = 5;
    return options;
}

static bool is_too_long(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_BLOCKED &&
           strstr(laz_result_detail(result), "maximum 5");
}

static const struct laz_execute_options *make_no_print(void)
{
    struct laz_execute_options *options = give_options();

    options->no_print = 1;
    return options;
}

static bool has_no_text(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_OK && !laz_result_text(result);
}

static const struct laz_execute_options *make_no_validate(void)
{
    struct laz_execute_options *options = give_options();

    options->no_validate = 1;
    return options;
}

static bool has_no_warning(const struct laz_result *result)
{
    return laz_result_verdict(result) == LAZ_VERDICT_OK && !laz_result_warnings(result);
}

static const struct laz_execute_options *make_line(void)
{
    struct laz_execute_options *options = give_options();

    options->line = hear_line;
    return options;
}

static bool line_was_heard(const struct laz_result *result)
{
    (void)result;
    return heard.lines == 1 && strcmp(heard.line, "hello") == 0 && !heard.line_user;
}

static const struct laz_execute_options *make_output(void)
{
    struct laz_execute_options *options = give_options();

    options->output = hear_output;
    return options;
}

static bool output_was_heard(const struct laz_result *result)
{
    (void)result;
    return heard.pieces == 1 && strcmp(heard.piece, "hello\n") == 0;
}

static const struct laz_execute_options *make_user(void)
{
    struct laz_execute_options *options = give_options();

    options->line = hear_line;
    options->user = &home;
    return options;
}

static bool user_was_told(const struct laz_result *result)
{
    (void)result;
    return heard.line_user == &home && heard.tool_user == &home;
}

static const struct laz_execute_options *make_argv(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 2, 2);
    return options;
}

static const struct laz_execute_options *make_n_argv(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 3, 2);
    return options;
}

static const struct laz_execute_options *make_cwd(void)
{
    struct laz_execute_options *options = give_options();

    options->cwd = give_text("/usr/bin");
    return options;
}

static const struct laz_execute_options *make_directory(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 1, 1);
    options->directory = give_text("/usr/modules");
    return options;
}

static const struct laz_execute_options *make_progress(void)
{
    struct laz_execute_options *options = give_options();

    heard.awaits_progress = true;
    options->progress = hear_progress;
    return options;
}

static const struct laz_execute_options *make_progress_ms(void)
{
    struct laz_execute_options *options = give_options();

    heard.awaits_progress = true;
    options->progress = hear_progress;
    options->progress_ms = LIMIT_MS;
    return options;
}

static bool progress_was_heard(const struct laz_result *result)
{
    return is_true(result) && heard.progress == 1;
}

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define STATE  "vendor=1,other=2"

static const struct laz_execute_options *make_trace(void)
{
    struct laz_execute_options *options = give_options();
    struct laz_trace *trace = give(sizeof *trace);

    trace->size = sizeof *trace;
    trace->parent = give_text(PARENT);
    trace->state = give_text(STATE);
    options->trace = trace;
    return options;
}

static bool trace_was_told(const struct laz_result *result)
{
    (void)result;
    return strcmp(heard.parent, PARENT) == 0 && strcmp(heard.state, STATE) == 0;
}

static const struct laz_execute_options *make_files(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 3, "bytes", "a\0b\xff", 4);
    give_file(options, 3, "empty", NULL, 0);
    give_file(options, 3, "text", "hello", 5);
    return options;
}

static const struct laz_execute_options *make_n_files(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 3, "first", "1", 1);
    give_file(options, 3, "second", "2", 1);
    give_file(options, 3, "third", "3", 1);
    options->n_files = 2;
    return options;
}

static const struct laz_execute_options *make_input(void)
{
    struct laz_execute_options *options = give_options();
    give_file(options, 1, "typed", "one\ntwo\n", 8);
    options->input = give_text("typed");
    return options;
}

static const struct laz_execute_options *make_collect_cwd(void)
{
    struct laz_execute_options *options = give_options();

    options->collect_cwd = 1;
    return options;
}

static bool has_made(const struct laz_result *result)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;

    return laz_result_artifact(result, 0, &artifact) == 0 && strcmp(artifact.name, "made") == 0;
}

/* The working directory may be another one by now. */
#define MAKE                                                                                       \
    "local path = os.getenv('LAZARET_ARTIFACTS'):gsub('artifacts$', 'made')\n"                     \
    "io.open(path, 'w'):write(tostring(math.random()))\n"
#define READ                                                                                       \
    "local function read(name)\n"                                                                  \
    "  local path = os.getenv('LAZARET_ARTIFACTS'):gsub('artifacts$', name)\n"                     \
    "  local file = io.open(path, 'rb')\n"                                                         \
    "  return file and file:read('a')\n"                                                           \
    "end\n"

/* `is_endless`: without the option the code would not end, or it is not about that. */
static const struct option_case {
    const char *member, *code;
    const struct laz_execute_options *(*make)(void);
    bool (*holds)(const struct laz_result *result); /* not without the option */
    bool is_endless;
} cases[] = {
    {"timeout_ms", "print('begun') while true do end", make_timeout_ms, is_timeout, true},
    {"deadline_ms", "print('begun') while true do end", make_deadline_ms, is_deadline, true},
    {"max_tool_calls", "who() who() who()", make_max_tool_calls, is_tool_limit, false},
    {"max_output_lines", "print('a') print('b') print('c')", make_max_output_lines, is_truncated,
     false},
    {"no_print", "return 7", make_no_print, has_no_text, false},
    {"no_validate", "if false then require('socket') end", make_no_validate, has_no_warning, false},
    {"line", "print('hello')", make_line, line_was_heard, false},
    {"output", "print('hello')", make_output, output_was_heard, false},
    {"user", "print('hello') who()", make_user, user_was_told, false},
    {"argv", "return arg[0] == 'file.lua' and arg[1] == 'one' and #arg == 1", make_argv, is_true,
     false},
    {"n_argv", "return arg[1] == 'one' and #arg == 1", make_n_argv, is_true, false},
    {"cwd", "return io.open('env') ~= nil", make_cwd, is_true, false},
    {"directory",
     "return package.path:find(';/usr/modules/%?.lua;/usr/modules/%?/init.lua$') ~= nil",
     make_directory, is_true, false},
    {"progress", "return pass(1000) == 1", make_progress, progress_was_heard, false},
    {"progress_ms", "return pass(5) == 1", make_progress_ms, progress_was_heard, false},
    {"trace", "who()", make_trace, trace_was_told, false},
    {"files",
     READ "return read('bytes') == 'a\\0b\\xff' and read('empty') == '' and read('text') == "
          "'hello'",
     make_files, is_true, false},
    {"n_files", READ "return read('first') == '1' and read('second') == '2' and not read('third')",
     make_n_files, is_true, false},
    {"input", "return io.read() == 'one' and io.read(1) == 't'", make_input, is_true, false},
    {"collect_cwd", MAKE, make_collect_cwd, has_made, false},
    {"max_code_length", "x = 10", make_max_code_length, is_too_long, false},
};
#define N_CASES (sizeof cases / sizeof *cases)

/* Lua has no values that its prompt does not show, and no form of its own: test_values.c has those
 * of R. */
static bool is_not_of_lua(const char *member)
{
    return strcmp(member, "invisible") == 0 || strcmp(member, "native") == 0;
}

static const struct option_case *case_of(const char *member)
{
    for (size_t i = 0; i < N_CASES; i++)
        if (strcmp(cases[i].member, member) == 0)
            return &cases[i];
    if (!is_not_of_lua(member))
        printf("\n    no case for %s: a new option needs one in %s", member, __FILE__);
    return NULL;
}

static void each_option_has_a_case(void)
{
    for (size_t i = 0; i < laz_execute_members.n; i++)
        CU_ASSERT(is_not_of_lua(laz_execute_members.rows[i].name) ||
                  case_of(laz_execute_members.rows[i].name));
    for (size_t i = 0; i < N_CASES; i++) {
        bool has_row = false;
        CU_ASSERT_PTR_EQUAL(case_of(cases[i].member), &cases[i]);
        for (size_t k = 0; k < laz_execute_members.n; k++)
            has_row |= strcmp(laz_execute_members.rows[k].name, cases[i].member) == 0;
        CU_ASSERT(has_row);
    }
}

static void expect_case(const struct way *way, const struct option_case *at)
{
    struct way_outcome outcome = run(way, at->code, at->make);
    const bool holds = outcome.result && at->holds(outcome.result);

    if (!holds)
        printf("\n    %s, %s: %s", way->name, at->member,
               outcome.result ? laz_result_json(outcome.result) : outcome.err.text);
    CU_ASSERT(holds);
    laz_result_free(outcome.result);
}

static void each_function_has_each_option(void)
{
    home_open();
    for (size_t i = 0; i < laz_execute_members.n; i++) {
        const struct option_case *at = case_of(laz_execute_members.rows[i].name);
        for (size_t k = 0; at && k < n_ways; k++)
            expect_case(&ways[k], at);
    }
    ways_close();
}

/* Else a case would prove nothing. */
static void without_an_option_its_case_does_not_hold(void)
{
    home_open();
    for (size_t i = 0; i < N_CASES; i++) {
        if (cases[i].is_endless)
            continue;
        struct way_outcome outcome = run(&ways[0], cases[i].code, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(outcome.result);
        if (cases[i].holds(outcome.result))
            printf("\n    %s holds without it", cases[i].member);
        CU_ASSERT_FALSE(cases[i].holds(outcome.result));
        laz_result_free(outcome.result);
    }
    ways_close();
}

/* ---- structs of other headers ---------------------------------------------------------------- */

/* Of a caller whose headers are older; nothing is there behind it. */
static const struct laz_execute_options *make_shorter(void)
{
    struct laz_execute_options *options =
        give_options_of(offsetof(struct laz_execute_options, cwd));

    give_argv(options, 2, 2);
    return options;
}

/* Of one whose headers are newer, and who sets nothing that is not known here. */
static const struct laz_execute_options *make_longer(void)
{
    struct laz_execute_options *options = give_options_of(sizeof(struct laz_execute_options) + 64);

    give_argv(options, 2, 2);
    return options;
}

static void structs_of_other_headers_are_taken_everywhere(void)
{
    static const struct option_case rows[] = {
        {"a shorter struct", "return arg[1] == 'one'", make_shorter, is_true, false},
        {"a longer struct", "return arg[1] == 'one'", make_longer, is_true, false},
    };

    home_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < n_ways; k++)
            expect_case(&ways[k], &rows[i]);
    ways_close();
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static const struct laz_execute_options *make_null_argument(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 2, 2);
    ((const char **)(uintptr_t)options->argv)[1] = NULL;
    return options;
}

static const struct laz_execute_options *make_null_argv(void)
{
    struct laz_execute_options *options = give_options();

    options->n_argv = 1;
    return options;
}

static const struct laz_execute_options *make_odd_argument(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 2, 2);
    ((char *)(uintptr_t)options->argv[1])[0] = '\xff';
    return options;
}

static const struct laz_execute_options *make_odd_cwd(void)
{
    struct laz_execute_options *options = give_options();

    options->cwd = give_text("/\xff");
    return options;
}

static const struct laz_execute_options *make_odd_directory(void)
{
    struct laz_execute_options *options = give_options();

    give_argv(options, 1, 1);
    options->directory = give_text("/\xc3");
    return options;
}

static const struct laz_execute_options *make_odd_name(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 2, "good", "1", 1);
    give_file(options, 2, "../bad", "2", 1);
    return options;
}

static const struct laz_execute_options *make_null_name(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 1, NULL, "1", 1);
    return options;
}

static const struct laz_execute_options *make_null_data(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 1, "name", NULL, 1);
    return options;
}

static const struct laz_execute_options *make_null_file(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 2, "good", "1", 1);
    options->n_files = 2;
    return options;
}

static const struct laz_execute_options *make_null_files(void)
{
    struct laz_execute_options *options = give_options();

    options->n_files = 1;
    return options;
}

static const struct laz_execute_options *make_unsized_file(void)
{
    struct laz_execute_options *options = give_options();

    give_file(options, 1, "name", "1", 1);
    ((struct laz_file *)(uintptr_t)options->files[0])->size = 0;
    return options;
}

static const struct laz_execute_options *make_odd_trace(void)
{
    struct laz_execute_options *options = give_options();
    struct laz_trace *trace = give(sizeof *trace);

    trace->size = sizeof *trace;
    trace->parent = give_text("00-0-0-0");
    options->trace = trace;
    return options;
}

static const struct laz_execute_options *make_no_size(void)
{
    struct laz_execute_options *options = give_options();

    options->size = 0;
    return options;
}

static const struct laz_execute_options *make_too_large(void)
{
    const size_t size = sizeof(struct laz_execute_options) + 8;
    struct laz_execute_options *options = give_options_of(size);

    ((char *)options)[size - 1] = 1;
    return options;
}

static const struct wrong {
    const char *says;
    const struct laz_execute_options *(*make)(void);
    int code;
} wrongs[] = {
    {"an argument of the code is NULL", make_null_argument, LAZ_EINVAL},
    {"the command line of the code is NULL", make_null_argv, LAZ_EINVAL},
    {"an argument of the code is not valid UTF-8", make_odd_argument, LAZ_EINVAL},
    {"the working directory is not valid UTF-8", make_odd_cwd, LAZ_EINVAL},
    {"the directory of modules is not valid UTF-8", make_odd_directory, LAZ_EINVAL},
    {"the name of a file for a session has", make_odd_name, LAZ_EINVAL},
    {"the name of the file is NULL", make_null_name, LAZ_EINVAL},
    {"the content of the file is NULL", make_null_data, LAZ_EINVAL},
    {"a file for the code is NULL", make_null_file, LAZ_EINVAL},
    {"the files for the code is NULL", make_null_files, LAZ_EINVAL},
    {"the size of a struct laz_file is 0", make_unsized_file, LAZ_EINVAL},
    {"trace", make_odd_trace, LAZ_EINVAL},
    {"the size of a struct laz_execute_options is 0", make_no_size, LAZ_EINVAL},
    {"sets an option that liblazaret", make_too_large, LAZ_EREFUSED},
};

static unsigned n_sessions(struct laz_engine *engine)
{
    unsigned n = 0;

    for (const struct laz_session *at = engine->sessions.sessions; at; at = at->next)
        n++;
    return n;
}

static void count_sessions(void *user, struct laz_engine *engine)
{
    CU_ASSERT_PTR_NULL(engine->sessions.jobs);
    *(unsigned *)user = n_sessions(engine);
}

/* The code, which calls a tool, does not run, and nothing is begun for it. */
static void what_is_wrong_is_refused_everywhere_alike(void)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    unsigned of_group = 0;

    home_open();
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char first[LAZ_ERROR_TEXT_SIZE] = "";
        for (size_t k = 0; k < n_ways; k++) {
            struct way_outcome outcome = run(&ways[k], "who()", wrongs[i].make);
            if (outcome.rc != wrongs[i].code)
                printf("\n    %s: %s", ways[k].name, wrongs[i].says);
            CU_ASSERT_EQUAL(outcome.rc, wrongs[i].code);
            CU_ASSERT_EQUAL(outcome.err.code, wrongs[i].code);
            CU_ASSERT_EQUAL(outcome.times, 0);
            CU_ASSERT_PTR_NULL(outcome.result);
            if (!k)
                snprintf(first, sizeof first, "%s", outcome.err.text);
            UNIT_TEXT(outcome.err.text, first);
        }
        if (!strstr(first, wrongs[i].says))
            UNIT_TEXT(first, wrongs[i].says);
        CU_ASSERT_PTR_NOT_NULL(strstr(first, wrongs[i].says));
    }
    CU_ASSERT_EQUAL(heard.calls, 0);
    CU_ASSERT_PTR_NULL(home.engine->sessions.jobs);
    CU_ASSERT_EQUAL(n_sessions(home.engine), 2);
    gates_run(home.group, 0, count_sessions, &of_group);
    CU_ASSERT_EQUAL(of_group, 1);
    CU_ASSERT_EQUAL(laz_group_load(home.group, 0), 0);
    CU_ASSERT_EQUAL(laz_pool_status(home.pool, &status, NULL), 0);
    CU_ASSERT(status.idle == 1 && !status.waiting);
    CU_ASSERT_EQUAL(laz_group_pool_status(home.group_pool, &status, NULL), 0);
    CU_ASSERT(status.idle == 1 && !status.waiting);
    for (size_t k = 0; k < n_ways; k++) { /* also of the good file beside a bad one */
        struct way_outcome outcome = run(&ways[k], READ "return not read('good')", NULL);
        CU_ASSERT(outcome.result && is_true(outcome.result));
        laz_result_free(outcome.result);
    }
    ways_close();
}

static const struct unit_test tests[] = {
    UNIT(each_option_has_a_case),
    UNIT(each_function_has_each_option),
    UNIT(without_an_option_its_case_does_not_hold),
    UNIT(structs_of_other_headers_are_taken_everywhere),
    UNIT(what_is_wrong_is_refused_everywhere_alike),
    {0},
};

int main(void)
{
    return unit_run("execute_options", tests);
}
