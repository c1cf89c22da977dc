/* SPDX-License-Identifier: MIT */
/* program.c - a runtime whose code is a command line: one program, a child of the agent.
 * Side: box.  Input trusted: no (the program; its end is all that is believed of it).
 *
 * The code is a JSON list of texts, and its value the exit status: 128 and the number of a signal
 * that has ended the program, 127 where there is none of that name and 126 where it cannot be
 * executed, as a shell has it (POSIX, Shell Command Language, 2.8.2).  The program has the streams
 * of the session, its directory and environment, and the group of the agent, which an interrupt
 * reaches; where a terminal is the session's, code may have made other groups in it. */
#include <lazaret/runtime.h>

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_ABSENT  127
#define PROGRAM_REFUSED 126
#define PROGRAM_SHELL   "/bin/sh" /* runs a file that is no program (execvp(3)) */
#define PROGRAM_PATH    "/usr/bin:/bin"

extern char **environ;

static const struct laz_option options[] = {LAZ_OPTIONS_END};

struct program_state {
    const struct laz_agent_services *services;
    char value[16], message[400];
};

/* A command line: `words` ends with NULL. The first two are for the shell. */
struct program_line {
    char **all, **words;
    size_t n;
};

/* ---- the command line ----------------------------------------------------------------------- */

static void program_line_free(struct program_line *line)
{
    for (size_t i = 0; i < line->n; i++)
        free(line->words[i]);
    free(line->all);
    *line = (struct program_line){.n = 0};
}

/* Adds a word, which it takes. False: there is no memory for it. */
static bool program_line_add(struct program_line *line, char *word)
{
    const size_t head = 2;

    if ((line->n & (line->n + 1)) == 0) { /* 0, 1, 3, 7, ... */
        char **all = realloc(line->all, (head + line->n * 2 + 2) * sizeof *all);
        if (!all) {
            free(word);
            return false;
        }
        line->all = all;
        line->words = all + head;
    }
    line->words[line->n] = word;
    line->words[line->n + (word != NULL)] = NULL;
    line->n += word != NULL;
    return word != NULL;
}

/* A word that is no text: {"$bytes": "aGk="}, which the reader stands before. NULL: it is none. */
static char *program_bytes(const struct laz_json_api *json, struct laz_json_reader *reader)
{
    struct laz_json_token token;

    (void)json->next(reader, &token);
    (void)json->next(reader, &token);
    if (json->next(reader, &token) != LAZ_JSON_STRING)
        return NULL;
    char *bytes = malloc(token.len / 4 * 3 + 1);
    const ptrdiff_t n = bytes ? json->base64_decode(token.text, token.len, bytes) : -1;
    if (n < 0 || memchr(bytes, '\0', (size_t)n) ||
        json->next(reader, &token) != LAZ_JSON_OBJECT_END) {
        free(bytes);
        return NULL;
    }
    bytes[n] = '\0';
    return bytes;
}

static bool program_read_words(const struct laz_json_api *json, struct laz_json_reader *reader,
                               struct program_line *line)
{
    struct laz_json_token token;

    if (json->next(reader, &token) != LAZ_JSON_ARRAY_BEGIN)
        return false;
    for (;;) {
        const char *tag = json->peek_tag(reader);
        if (tag && strcmp(tag, "$bytes") == 0) {
            if (!program_line_add(line, program_bytes(json, reader)))
                return false;
            continue;
        }
        if (json->next(reader, &token) != LAZ_JSON_STRING)
            break;
        if (!program_line_add(line, strdup(token.text)))
            return false;
    }
    return token.type == LAZ_JSON_ARRAY_END && line->n && *line->words[0] &&
           json->next(reader, &token) == LAZ_JSON_END && !json->reader_failed(reader);
}

/* False: it is none, as the outcome says. */
static bool program_read(const struct program_state *st, const char *code, size_t len,
                         struct program_line *line, struct laz_outcome *outcome)
{
    const struct laz_json_api *json = st->services->json;
    struct laz_json_reader *reader =
        json->scan(code, len, NULL) == 0 ? json->reader_new(code, len) : NULL;
    const bool is_read = reader && program_read_words(json, reader, line);

    json->reader_free(reader);
    if (!is_read) {
        outcome->kind = LAZ_OUTCOME_SYNTAX;
        outcome->message = "the code of this runtime is a command line: a JSON list of texts, of "
                           "which the first is the name of a program, [\"ls\", \"-l\"]";
        program_line_free(line);
    }
    return is_read;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Signals as a program finds them. 0 or an errno. */
static int program_spawn(const char *path, char *const *argv, pid_t *pid)
{
    posix_spawnattr_t attributes;
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int failed = posix_spawn(pid, path, NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Starts the file: 0, an errno (ENOENT: there is none), or EISDIR. */
static int program_try(const char *path, struct program_line *line, pid_t *pid)
{
    struct stat stats;

    if (stat(path, &stats) != 0)
        return errno;
    if (S_ISDIR(stats.st_mode))
        return EISDIR;
    int failed = program_spawn(path, line->words, pid);
    if (failed == ENOEXEC) {
        char *const word = line->words[0];
        line->all[1] = (char *)"sh";
        line->words[0] = (char *)(uintptr_t)path;
        failed = program_spawn(PROGRAM_SHELL, line->all + 1, pid);
        line->words[0] = word;
    }
    return failed == ENOENT ? ENOEXEC : failed; /* it is there: what it begins with is not */
}

/* Is it a failure after which the next directory is looked at (execvp(3))? */
static bool program_goes_on(int failed)
{
    return failed == ENOENT || failed == ENOTDIR || failed == EACCES || failed == EISDIR;
}

/* As execvp(3) finds it. `path`: what was found and cannot be executed, or "". */
static int program_start(struct program_line *line, char path[4096], pid_t *pid)
{
    const char *name = line->words[0], *list = getenv("PATH");
    int found = ENOENT;

    *path = '\0';
    if (strchr(name, '/')) {
        snprintf(path, 4096, "%s", name);
        return program_try(path, line, pid);
    }
    for (const char *at = list ? list : PROGRAM_PATH; at;) {
        char next[4096];
        const size_t len = strcspn(at, ":");
        const int size =
            snprintf(next, sizeof next, "%.*s%s%s", (int)len, at, len ? "/" : "./", name);
        const int failed = size < (int)sizeof next ? program_try(next, line, pid) : ENOENT;
        if (!program_goes_on(failed))
            found = failed;
        else if (failed == EACCES)
            found = EACCES;
        if (found != ENOENT && (found != EACCES || !*path))
            snprintf(path, 4096, "%s", next);
        if (!program_goes_on(failed))
            return failed;
        at = at[len] ? at + len + 1 : NULL;
    }
    return found;
}

/* Says on standard error why there is no program, and with which status. 0: that is not of the
 * program, but of the box. */
static int program_complain(const struct program_state *st, const char *name, const char *path,
                            int failed)
{
    char why[600], text[1200];

    if (failed == ENOENT && !strchr(name, '/'))
        snprintf(why, sizeof why, "command not found");
    else if (failed == EACCES && access(path, X_OK) == 0)
        snprintf(why, sizeof why, "%s: it, or what it is run by, is not among sandbox.programs",
                 strerror(failed));
    else if (failed == ENOEXEC)
        snprintf(why, sizeof why,
                 "cannot be executed: what it is run by is missing, or it is for "
                 "another machine");
    else if (failed == EAGAIN || failed == ENOMEM)
        return 0;
    else
        snprintf(why, sizeof why, "%s", strerror(failed));
    const int n = snprintf(text, sizeof text, "lazaret: %.300s: %s\n", name, why);
    st->services->output(st->services->agent, 2, text, (size_t)n);
    return failed == ENOENT || failed == ENOTDIR ? PROGRAM_ABSENT : PROGRAM_REFUSED;
}

/* ---- running -------------------------------------------------------------------------------- */

static int program_join(pid_t pid)
{
    int how = 0;

    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

/* Its status; -1: it could not be started, as the outcome says. */
static int program_run(struct program_state *st, struct program_line *line,
                       struct laz_outcome *outcome)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    char path[4096];
    pid_t pid = 0;

    sigemptyset(&ignored.sa_mask);
    (void)sigaction(SIGQUIT, &ignored, &before); /* of a terminal: it is the program's */
    const int failed = program_start(line, path, &pid);
    const int status =
        failed ? program_complain(st, line->words[0], path, failed) : program_join(pid);
    (void)sigaction(SIGQUIT, &before, NULL);
    if (!failed || status)
        return status;
    snprintf(st->message, sizeof st->message, "%.200s cannot be started: %s", line->words[0],
             strerror(failed));
    outcome->kind = LAZ_OUTCOME_RUNTIME;
    outcome->message = st->message;
    return -1;
}

static int program_eval(void *state, const char *code, size_t len, uint32_t wanted,
                        struct laz_outcome *outcome)
{
    struct program_state *st = state;
    struct program_line line = {.n = 0};
    int status;

    (void)wanted;
    if (!program_read(st, code, len, &line, outcome))
        return 0;
    status = program_run(st, &line, outcome);
    program_line_free(&line);
    if (status < 0)
        return 0;
    outcome->value = st->value;
    outcome->value_len = (size_t)snprintf(st->value, sizeof st->value, "%d", status);
    return 0;
}

static int program_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct program_line line = {.n = 0};

    (void)program_read(state, code, len, &line, outcome);
    program_line_free(&line);
    return 0;
}

/* The signal that the group gets is all of it, but for the job that has the terminal. */
static void program_interrupt(void *state)
{
    const pid_t job = tcgetpgrp(STDIN_FILENO);

    (void)state;
    if (job > 1 && job != getpgrp())
        (void)kill(-job, SIGINT);
}

/* ---- the runtime ---------------------------------------------------------------------------- */

static int program_create(const struct laz_agent_services *services, const char *options_json,
                          size_t options_len, void **state, struct laz_error *err)
{
    struct program_state *st = calloc(1, sizeof *st);

    (void)options_json;
    (void)options_len;
    if (!st)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    st->services = services;
    *state = st;
    return 0;
}

static const char *program_version(void *state)
{
    (void)state;
    return "1";
}

static int program_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                                struct laz_error *err)
{
    (void)state;
    (void)tools;
    (void)n;
    (void)err;
    return 0;
}

static void program_destroy(void *state)
{
    free(state);
}

/* ---- descriptor ----------------------------------------------------------------------------- */

static const char *const nothing[] = {NULL};
static const char *const programs[] = {"any", NULL};

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = nothing,
    .libraries = nothing,
    .read = nothing,
    .env = nothing,
    .reserved_words = nothing,
    .create = program_create,
    .version = program_version,
    .define_tools = program_define_tools,
    .check = program_check,
    .eval = program_eval,
    .destroy = program_destroy,
    .programs = programs,
    .interrupt = program_interrupt,
};

LAZ_PLUGIN(program) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),           .name = "program",  .version = "0.1.0",
    .summary = "any program, by its command line", .options = options, .ops = &ops,
};
