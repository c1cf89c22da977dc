/* SPDX-License-Identifier: MIT */
/* runtime.c - tests the contract of a runtime: runs cases from text files against one plugin.
 *
 *     contract-runtime DIRECTORY/RUNTIME.cases [NAME-PART]
 *
 * The cases of RUNTIME.cases and of common.cases beside it (cases.h has the format) run each in a
 * forked child with a time limit, against a host in the same process: a crash or a changed global
 * state affects only one case. A start takes longer than most cases, so cases that do not depend on
 * it run in copies of one process with a started interpreter. The plugin is
 * plugins/runtime/RUNTIME/.libs/RUNTIME.so below the build directory, or $CONTRACT_PLUGIN. A
 * runtime that is not built is skipped (77), unless LAZARET_TEST_NEED lists it. */
#include "cases.h"
#include "host.h"

#include "base/json.h"
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME_CASE_MS 600000 /* enough for any machine */
#define RUNTIME_SKIP    77
#define RUNTIME_LARGE   ((size_t)256 << 10) /* bytes of a value that a runtime may keep */

#ifdef LAZ_SANITIZE
#define RUNTIME_SANITIZED true
#else
#define RUNTIME_SANITIZED false
#endif

/* The exit status of a case's child; values that a runtime would not use by itself. */
enum { ENDED_WELL = 90, ENDED_BADLY = 91, ENDED_SKIPPED = 92 };

/* A running case in its child. */
struct trial {
    const char *runtime, *file;
    const struct test_case *test;
    int report;     /* descriptor for failure messages */
    int streams[3]; /* files that receive standard output (1) and error (2) */
    bool failed;
    const struct case_block *step; /* the running step; its expectations follow it */
    struct contract_host host;
    const struct laz_runtime_ops *ops;
    void *state;
};

static void trial_complain(struct trial *t, const char *format, ...) LAZ_PRINTF(2, 3);

static void trial_complain(struct trial *t, const char *format, ...)
{
    va_list args;

    t->failed = true;
    va_start(args, format);
    dprintf(t->report, "    ");
    vdprintf(t->report, format, args);
    dprintf(t->report, "\n");
    va_end(args);
}

static const struct case_block *trial_end(const struct trial *t)
{
    return t->test->blocks + t->test->n_blocks;
}

static bool block_is_step(const struct case_block *block)
{
    return block->word == CASE_CODE || block->word == CASE_INVISIBLE ||
           block->word == CASE_NATIVE || block->word == CASE_LAST || block->word == CASE_CHECK ||
           block->word == CASE_WHEN;
}

/* The expectation of this kind for the step, or NULL. */
static const char *trial_expected(const struct trial *t, enum case_word word)
{
    for (const struct case_block *b = t->step + 1; b < trial_end(t) && !block_is_step(b); b++)
        if (b->word == word)
            return b->text;
    return NULL;
}

static const char *trial_setting(const struct trial *t, enum case_word word)
{
    for (const struct case_block *b = t->test->blocks; b < trial_end(t); b++)
        if (b->word == word)
            return b->text;
    return NULL;
}

static void trial_compare(struct trial *t, enum case_word word, const char *actual, size_t len)
{
    const char *expected = trial_expected(t, word);

    if (!expected)
        return;
    if (strlen(expected) != len || memcmp(expected, actual, len) != 0)
        trial_complain(t, "%s of: %s\n      expected: %s\n      actual:   %.*s",
                       case_word_name(word), t->step->text, expected,
                       (int)(len > 2000 ? 2000 : len), actual);
}

/* Takes the output written to a stream since the last call. */
static void trial_stream(struct trial *t, int stream, enum case_word word)
{
    int fd = t->streams[stream];
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);

    if (text && pread(fd, text, (size_t)size, 0) == size) {
        size_t len = (size_t)size;
        if (len && text[len - 1] == '\n')
            len--;
        trial_compare(t, word, text, len);
        if (t->failed && len)
            trial_complain(t, "  %s was: %.*s", case_word_name(word),
                           (int)(len > 2000 ? 2000 : len), text);
    }
    free(text);
    if (ftruncate(fd, 0) == 0)
        lseek(fd, 0, SEEK_SET);
}

static const char *const trial_kinds[] = {"value", "runtime",   "syntax", "memory",
                                          "exit",  "too_large", "fsize"};

static void trial_check_error(struct trial *t, const struct laz_outcome *o)
{
    const char *expected = trial_expected(t, CASE_ERROR);
    const char *kind = o->kind < sizeof trial_kinds / sizeof *trial_kinds ? trial_kinds[o->kind]
                                                                          : "(no such kind)";
    const char *text;

    if (strcmp(expected ? expected : "value", kind) != 0)
        trial_complain(t, "outcome of: %s\n      expected: %s\n      actual:   %s: %s",
                       t->step->text, expected ? expected : "value", kind,
                       o->message ? o->message : "");
    text = trial_expected(t, CASE_MESSAGE);
    if (text && (!o->message || !strstr(o->message, text)))
        trial_complain(t, "message of: %s\n      expected: %s\n      actual:   %s", t->step->text,
                       text, o->message ? o->message : "(none)");
    text = trial_expected(t, CASE_LINE);
    if (text && atoi(text) != o->line)
        trial_complain(t, "line of: %s\n      expected: %s\n      actual:   %d", t->step->text,
                       text, (int)o->line);
    text = trial_expected(t, CASE_TRACEBACK);
    bool found = !text;
    for (size_t i = 0; i < o->n_traceback; i++)
        found = found || strstr(o->traceback[i], text);
    if (!found) {
        trial_complain(t, "traceback of: %s\n      lacks: %s", t->step->text, text);
        for (size_t i = 0; i < o->n_traceback; i++)
            trial_complain(t, "  %s", o->traceback[i]);
    }
}

static void trial_check_value(struct trial *t, const struct laz_outcome *o)
{
    const char *value = o->value ? o->value : "null";
    size_t len = o->value ? o->value_len : 4;
    struct laz_error err = {0};
    struct laz_buf compact = LAZ_BUF_INIT;
    const char *visible = trial_expected(t, CASE_VISIBLE);

    if (laz_json_scan(value, len, &err)) {
        trial_complain(t, "value of: %s\n      is not JSON: %s", t->step->text, err.text);
    } else {
        laz_json_compact(&compact, value, len);
        trial_compare(t, CASE_VALUE, laz_buf_text(&compact), compact.len);
    }
    trial_compare(t, CASE_TEXT, o->text ? o->text : "", o->text ? o->text_len : 0);
    if (visible && (strcmp(visible, "yes") == 0) != (o->visible != 0))
        trial_complain(t, "visible of: %s\n      expected: %s", t->step->text, visible);
    laz_buf_fini(&compact);
}

static void trial_check_leave(struct trial *t, int status)
{
    const char *expected = trial_expected(t, CASE_LEAVE);

    if (!expected)
        trial_complain(t, "the code ended its process with status %d: %s", status, t->step->text);
    else if (atoi(expected) != status)
        trial_complain(t, "status of: %s\n      expected: %s\n      actual:   %d", t->step->text,
                       expected, status);
    trial_stream(t, 1, CASE_STDOUT);
    trial_stream(t, 2, CASE_STDERR);
}

static void trial_left(struct contract_host *host, int status)
{
    struct trial *t = host->user;

    trial_check_leave(t, status);
    _exit(t->failed ? ENDED_BADLY : ENDED_WELL);
}

/* Bytes of the C library's memory that are in use; 0: it does not say. */
static size_t trial_memory(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33) && !defined LAZ_SANITIZE
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* Between two steps a session may wait for long. A large value is given up then. */
static void trial_rest(struct trial *t, const struct laz_outcome *o)
{
    const size_t before = trial_memory();
    const size_t held = o->kind == LAZ_OUTCOME_VALUE ? o->value_len : 0;

    if (!LAZ_HAS(t->ops, rest))
        return;
    t->ops->rest(t->state);
    const size_t after = trial_memory();
    if (before && held > RUNTIME_LARGE && before < after + held)
        trial_complain(t, "a value of %zu bytes is kept, of %zu bytes in use before", held, before);
}

/* False when the case is over. */
static bool trial_step(struct trial *t)
{
    struct laz_outcome o = {.size = sizeof o};
    const char *code = t->step->text;
    const uint32_t wanted = LAZ_WANTED_TEXT |
                            (t->step->word == CASE_INVISIBLE ? LAZ_WANTED_INVISIBLE : 0) |
                            (t->step->word == CASE_NATIVE ? LAZ_WANTED_NATIVE : 0) |
                            (t->step->word == CASE_LAST ? LAZ_WANTED_LAST : 0);
    int rc = t->step->word == CASE_CHECK ? t->ops->check(t->state, code, strlen(code), &o)
                                         : t->ops->eval(t->state, code, strlen(code), wanted, &o);

    if (rc) {
        trial_complain(t, "the runtime broke down (%d) on: %s", rc, code);
        return false;
    }
    if (t->step->word == CASE_WHEN) {
        if (o.kind == LAZ_OUTCOME_VALUE && o.value && strncmp(o.value, "true", o.value_len) == 0)
            return true;
        dprintf(t->report, "    skipped: not so here: %s\n", code);
        _exit(ENDED_SKIPPED);
    }
    if (o.kind == LAZ_OUTCOME_EXIT && trial_expected(t, CASE_LEAVE)) {
        trial_check_leave(t, o.exit_status);
        return false;
    }
    if (trial_expected(t, CASE_LEAVE))
        trial_complain(t, "the code did not end its process: %s", code);
    trial_check_error(t, &o);
    if ((o.kind == LAZ_OUTCOME_VALUE || o.kind == LAZ_OUTCOME_TOO_LARGE) &&
        t->step->word != CASE_CHECK)
        trial_check_value(t, &o);
    trial_stream(t, 1, CASE_STDOUT);
    trial_stream(t, 2, CASE_STDERR);
    trial_rest(t, &o);
    return true;
}

static const struct laz_plugin *trial_open(struct trial *t)
{
    void *object = dlopen(t->file, RTLD_NOW | RTLD_LOCAL);
    const struct laz_plugin *plugin = object ? dlsym(object, "lazaret_plugin") : NULL;

    if (!plugin)
        trial_complain(t, "%s: %s", t->file, dlerror());
    else if (plugin->magic != LAZ_PLUGIN_MAGIC || plugin->kind != LAZ_PLUGIN_RUNTIME)
        trial_complain(t, "%s: not a runtime", t->file);
    return t->failed ? NULL : plugin;
}

/* The plugin names libraries that must be opened before it, so a separate process loads the plugin
 * and reports their names. */
static void trial_libraries(struct trial *t)
{
    int names[2];
    char line[512];

    if (pipe(names))
        return;
    pid_t child = fork();
    if (child == 0) {
        const struct laz_plugin *plugin = trial_open(t);
        const struct laz_runtime_ops *ops = plugin ? plugin->ops : NULL;
        for (size_t i = 0; ops && ops->libraries && ops->libraries[i]; i++)
            dprintf(names[1], "%s\n", ops->libraries[i]);
        for (size_t i = 0; ops && ops->env && ops->env[i]; i++)
            dprintf(names[1], "=%s\n", ops->env[i]);
        _exit(0);
    }
    close(names[1]);
    FILE *file = fdopen(names[0], "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '=')
            putenv(laz_strdup(line + 1));
        else if (!dlopen(line, RTLD_NOW | RTLD_GLOBAL))
            trial_complain(t, "%s", dlerror());
    }
    if (file)
        fclose(file);
    waitpid(child, NULL, 0);
}

static void trial_limit(struct trial *t, const char *text)
{
    unsigned long long value = 0;
    char name[32] = "";

    if (sscanf(text, "%31s %llu", name, &value) != 2) {
        trial_complain(t, "not a limit: %s", text);
        return;
    }
    if (RUNTIME_SANITIZED && strcmp(name, "memory") == 0) {
        dprintf(t->report, "    skipped: sanitizers need memory of their own\n");
        _exit(ENDED_SKIPPED);
    }
    if (strcmp(name, "memory") == 0 && LAZ_HAS(t->ops, traits) &&
        t->ops->traits & LAZ_RUNTIME_RESERVES)
        return; /* an engine with limits of its own */
    int which = strcmp(name, "memory") == 0  ? RLIMIT_DATA
                : strcmp(name, "fsize") == 0 ? RLIMIT_FSIZE
                                             : -1;
    struct rlimit limit = {value, value};
    if (which < 0 || setrlimit((__rlimit_resource_t)which, &limit))
        trial_complain(t, "cannot limit %s", text);
}

static bool trial_create(struct trial *t)
{
    const char *options = trial_setting(t, CASE_OPTIONS);
    const char *max = trial_setting(t, CASE_MAX_MESSAGE);
    const char *limit = trial_setting(t, CASE_LIMIT);
    struct laz_error err = {0};

    contract_host_init(&t->host, max ? (size_t)atol(max) : 1024 * 1024);
    t->host.left = trial_left;
    t->host.user = t;
    trial_libraries(t);
    const struct laz_plugin *plugin = trial_open(t);
    if (!plugin)
        return false;
    t->ops = plugin->ops;
    if (limit)
        trial_limit(t, limit);
    options = options ? options : "{}";
    if (t->ops->create(&t->host.services, options, strlen(options), &t->state, &err)) {
        trial_complain(t, "create: %s", err.text);
        return false;
    }
    return true;
}

/* Does what a new session does, in a process that has created its interpreter or is a copy of one.
 */
static bool trial_begin(struct trial *t, bool is_copy)
{
    const struct laz_tool_signature *tools;
    struct laz_error err = {0};
    size_t n;

    if (is_copy && LAZ_HAS(t->ops, renew) && t->ops->renew(t->state, &err)) {
        trial_complain(t, "renew: %s", err.text);
        return false;
    }
    tools = contract_host_tools(t->runtime, &n);
    const size_t first = is_copy ? n / 2 : n; /* a copy may be given more */
    if (t->ops->define_tools(t->state, tools, first, &err) ||
        (is_copy && t->ops->define_tools(t->state, tools + first, n - first, &err))) {
        trial_complain(t, "define_tools: %s", err.text);
        return false;
    }
    const char *version = t->ops->version(t->state);
    if (!version || !*version)
        trial_complain(t, "the runtime tells no version");
    return true;
}

static void trial_run(struct trial *t)
{
    for (int i = 1; i <= 2; i++)
        if (dup2(t->streams[i], i) < 0)
            _exit(ENDED_BADLY);
    bool is_copy = t->ops != NULL;
    if (!is_copy) { /* as an agent does, once */
        setenv("LANG", "C.UTF-8", 1);
        setlocale(LC_CTYPE, "");
    }
    bool go_on = (is_copy || trial_create(t)) && trial_begin(t, is_copy);
    for (t->step = t->test->blocks; go_on && t->step < trial_end(t); t->step++)
        if (block_is_step(t->step))
            go_on = trial_step(t);
    if (t->failed && !t->step) {
        trial_stream(t, 1, CASE_STDOUT);
        trial_stream(t, 2, CASE_STDERR);
    }
    if (t->state && LAZ_HAS(t->ops, destroy))
        t->ops->destroy(t->state);
    contract_host_fini(&t->host);
    fflush(NULL);
    _exit(t->failed ? ENDED_BADLY : ENDED_WELL);
}

/* Copies the child's failure messages; false on a timeout. */
static bool case_listen(int report, struct laz_buf *complaints)
{
    struct pollfd wait = {report, POLLIN, 0};
    char text[4096];
    ssize_t n = 1;

    while (n > 0) {
        if (poll(&wait, 1, RUNTIME_CASE_MS) <= 0)
            return false;
        n = read(report, text, sizeof text);
        if (n > 0)
            laz_buf_append(complaints, text, (size_t)n);
    }
    return true;
}

/* Adds what a child that ended early has written to standard error. */
static void case_last_words(int fd, struct laz_buf *complaints)
{
    char text[4000];
    ssize_t n = pread(fd, text, sizeof text, 0);

    if (n > 0)
        laz_buf_printf(complaints, "    %.*s\n", (int)n, text);
}

static int case_ended(int how, int errors, struct laz_buf *complaints)
{
    if (!WIFSIGNALED(how) && WEXITSTATUS(how) >= ENDED_WELL && WEXITSTATUS(how) <= ENDED_SKIPPED)
        return WEXITSTATUS(how);
    if (WIFSIGNALED(how))
        laz_buf_printf(complaints, "    ended by signal %d (%s)\n", WTERMSIG(how),
                       strsignal(WTERMSIG(how)));
    else
        laz_buf_printf(complaints, "    ended with status %d\n", WEXITSTATUS(how));
    case_last_words(errors, complaints);
    return ENDED_BADLY;
}

/* Runs a case with the interpreter of `trial` if it has been started, else with a new one. */
static int case_run(struct trial *trial, const struct test_case *test)
{
    struct laz_buf complaints = LAZ_BUF_INIT;
    int report[2], how = 0;

    trial->test = test;
    trial->streams[1] = memfd_create("output", MFD_CLOEXEC);
    trial->streams[2] = memfd_create("errors", MFD_CLOEXEC);
    if (pipe2(report, O_CLOEXEC))
        return ENDED_BADLY;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(report[0]);
        trial->report = report[1];
        trial_run(trial);
    }
    close(report[1]);
    if (!case_listen(report[0], &complaints)) {
        laz_buf_printf(&complaints, "    not done in %d s\n", RUNTIME_CASE_MS / 1000);
        if (child > 0)
            kill(child, SIGKILL);
    }
    close(report[0]);
    waitpid(child, &how, 0);
    int ended = case_ended(how, trial->streams[2], &complaints);
    close(trial->streams[1]);
    close(trial->streams[2]);
    if (test->foreign && !test->n_blocks) {
        laz_buf_printf(&complaints, "    there is no code for %s\n", trial->runtime);
        ended = ENDED_BADLY;
    }
    printf("%s %s: %s\n",
           ended == ENDED_WELL      ? "ok  "
           : ended == ENDED_SKIPPED ? "skip"
                                    : "FAIL",
           trial->runtime, test->name);
    if (ended != ENDED_WELL)
        printf("    %s:%u\n%s", test->file, test->line, laz_buf_text(&complaints));
    laz_buf_fini(&complaints);
    return ended;
}

/* True when nothing in the case concerns the start of the interpreter. */
static bool case_is_plain(const struct test_case *test)
{
    const struct trial trial = {.test = test};

    return !trial_setting(&trial, CASE_OPTIONS) && !trial_setting(&trial, CASE_MAX_MESSAGE) &&
           !trial_setting(&trial, CASE_LIMIT);
}

/* Runs the plain cases, or the others; counts passed, failed and skipped ones. */
static void cases_run(struct trial *trial, const struct case_list *list, const char *only,
                      unsigned counts[3])
{
    bool plain = trial->ops != NULL;

    for (size_t i = 0; i < list->n; i++)
        if ((!only || strstr(list->cases[i].name, only)) && case_is_plain(&list->cases[i]) == plain)
            counts[case_run(trial, &list->cases[i]) - ENDED_WELL]++;
}

/* As a template does, which may be copied only then (LAZ_RUNTIME_ONE_THREAD): the threads that it
 * has end by themselves, however long that takes. */
static void trial_await_threads(const struct trial *trial)
{
    const struct timespec while_idle = {.tv_nsec = 20000000};
    struct stat tasks = {0};

    if (!LAZ_HAS(trial->ops, traits) || !(trial->ops->traits & LAZ_RUNTIME_ONE_THREAD))
        return;
    while (stat("/proc/self/task", &tasks) == 0 &&
           tasks.st_nlink != 3) /* a link for each, and two */
        nanosleep(&while_idle, NULL);
}

/* Runs the plain cases in a process that starts an interpreter once; each case is a copy of it. */
static void runtime_run_plain(struct trial *trial, const struct case_list *list, const char *only,
                              unsigned counts[3])
{
    static struct test_case start = {.line = 0};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("LANG", "C.UTF-8", 1);
        setlocale(LC_CTYPE, "");
        trial->test = &start;
        trial->report = STDOUT_FILENO;
        if (!trial_create(trial))
            _exit(1);
        if (LAZ_HAS(trial->ops, before_fork))
            trial->ops->before_fork(trial->state);
        trial_await_threads(trial);
        cases_run(trial, list, only, counts);
        fflush(stdout);
        _exit(write(ends[1], counts, 3 * sizeof *counts) < 0);
    }
    close(ends[1]);
    if (read(ends[0], counts, 3 * sizeof *counts) != 3 * sizeof *counts) {
        printf("FAIL %s: the interpreter of all plain cases has not got through them\n",
               trial->runtime);
        counts[1]++;
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static int runtime_run(const char *runtime, const char *file, const struct case_list *list,
                       const char *only)
{
    struct trial trial = {.runtime = runtime, .file = file};
    unsigned counts[3] = {0, 0, 0};

    runtime_run_plain(&trial, list, only, counts);
    cases_run(&trial, list, only, counts);
    printf("%s: %u kept, %u broken, %u skipped\n", runtime, counts[0], counts[1], counts[2]);
    return counts[1] || !counts[0] ? 1 : 0;
}

/* Does the file say so of its runtime? */
static bool runtime_is_alone(const char *path)
{
    char line[8] = "";
    FILE *file = fopen(path, "r");

    if (file) {
        (void)!fgets(line, sizeof line, file);
        fclose(file);
    }
    return strcmp(line, "Alone: ") == 0;
}

int main(int argc, char **argv)
{
    char file[4096], *directory = NULL, *common = NULL, *runtime = NULL;
    struct case_list list = {0};
    struct laz_error err = {0};
    const char *given = getenv("CONTRACT_PLUGIN");
    int status = 2;

    if (argc < 2) {
        fputs("usage: contract-runtime DIRECTORY/RUNTIME.cases [NAME-PART]\n", stderr);
        return 2;
    }
    const char *slash = strrchr(argv[1], '/');
    const char *base = slash ? slash + 1 : argv[1];
    directory = slash ? laz_strndup(argv[1], (size_t)(slash - argv[1])) : laz_strdup(".");
    runtime = laz_strndup(base, strcspn(base, "."));
    common = laz_strdupf("%s/common.cases", directory);
    if (given)
        snprintf(file, sizeof file, "%s", given);
    else
        snprintf(file, sizeof file, "%s/plugins/runtime/%s/.libs/%s.so", ".", runtime, runtime);
    char *path = realpath(file, NULL);
    if (!path) {
        bool needed = unit_is_needed(runtime);
        printf("%s: %s is not built\n", needed ? "FAIL" : "skip", file);
        status = needed ? 1 : RUNTIME_SKIP;
    } else if ((!runtime_is_alone(argv[1]) && case_list_read(&list, common, runtime, &err)) ||
               case_list_read(&list, argv[1], runtime, &err)) {
        fprintf(stderr, "contract-runtime: %s\n", err.text);
    } else {
        status = runtime_run(runtime, path, &list, argc > 2 ? argv[2] : NULL);
    }
    free(path);
    case_list_fini(&list);
    free(common);
    free(runtime);
    free(directory);
    return status;
}
