/* SPDX-License-Identifier: MIT */
/* shell.c - the shell runtime: a bash that keeps its state, a child of the agent.
 * Side: box.  Input trusted: no (bash runs the code, and answers for it).
 *
 * bash cannot be embedded, and need not be: the agent starts it when its first code comes, after
 * the copy in a session of a template, and gives it this same object to load (shell_inside.c). Code
 * goes to it by a socket, and a report comes back, which repeats a number that is random for each
 * execution: nothing that code writes by accident is one.  Code that writes into the memory of its
 * own shell can forge the end of its own executions, and nothing else: no boundary is here.
 *
 * The shell's end is that of the session: a shell that ends while it runs code ends it with its
 * status, one that ends later takes the agent with it, whose end the host sees. */
#include <lazaret/runtime.h>

#include "shell.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL_NAME "bash" /* what code that is of no file finds as $0, and messages begin with */

extern char **environ;
extern const struct laz_plugin lazaret_plugin;

static const struct laz_option options[] = {LAZ_OPTIONS_END};

/* Texts for the next request, each with a NUL. */
struct shell_texts {
    char *data;
    size_t size, room;
    uint32_t n;
    bool failed;
};

struct shell_state {
    const struct laz_agent_services *services;
    int channel;          /* to the shell; -1: none was started */
    char *cwd;            /* of the agent, when it last sent the shell there; NULL: not known */
    char input[PATH_MAX]; /* the standard input of the code that comes next; "": the shell's */
    bool has_input;
    struct shell_texts words; /* of the file that comes next */
    char value[16], message[SHELL_MESSAGE + 200];
};

/* A handler of signals has no argument of ours. */
static atomic_int shell_pid;     /* 0: there is none */
static atomic_bool shell_busy;   /* the end of the shell is noticed elsewhere */
static atomic_int shell_running; /* number of what the shell is asked to do; 0: nothing */

/* ---- the end of the shell ------------------------------------------------------------------- */

static int shell_status_of(int how)
{
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

/* The shell has ended while the session waited: this process ends as it did. */
static void shell_on_child(int number)
{
    const int pid = atomic_load(&shell_pid), before = errno;
    int how;

    (void)number;
    if (pid && !atomic_load(&shell_busy) && waitpid(pid, &how, WNOHANG) == pid)
        _exit(shell_status_of(how));
    errno = before;
}

/* Waits for the end of the shell: its status. */
static int shell_join(struct shell_state *st)
{
    int how = 0;

    while (waitpid(atomic_load(&shell_pid), &how, 0) < 0 && errno == EINTR)
        ;
    atomic_store(&shell_pid, 0);
    close(st->channel);
    st->channel = -1;
    return shell_status_of(how);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void shell_texts_add(struct shell_texts *texts, const char *text, size_t len)
{
    if (texts->room - texts->size < len + 1) {
        const size_t room = (texts->room + len + 1) * 2;
        char *data = realloc(texts->data, room);
        texts->failed |= !data;
        if (!data)
            return;
        texts->data = data;
        texts->room = room;
    }
    memcpy(texts->data + texts->size, text, len);
    texts->data[texts->size + len] = '\0';
    texts->size += len + 1;
    texts->n++;
}

static void shell_texts_free(struct shell_texts *texts)
{
    free(texts->data);
    *texts = (struct shell_texts){.data = NULL};
}

/* ---- the channel ---------------------------------------------------------------------------- */

static bool shell_send(const struct shell_state *st, const void *data, size_t size)
{
    ssize_t n;

    while ((n = send(st->channel, data, size, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return n == (ssize_t)size;
}

static bool shell_send_parts(const struct shell_state *st, const char *data, size_t size)
{
    for (size_t at = 0; at < size; at += SHELL_PIECE)
        if (!shell_send(st, data + at, size - at < SHELL_PIECE ? size - at : SHELL_PIECE))
            return false;
    return true;
}

enum shell_said { SHELL_REPORTED, SHELL_ENDED, SHELL_NOTHING };

/* What has come, if it is the report: anything else was written by code. */
static enum shell_said shell_take(const struct shell_state *st, uint64_t nonce,
                                  struct shell_report *report)
{
    ssize_t n;

    while ((n = recv(st->channel, report, sizeof *report, MSG_DONTWAIT | MSG_TRUNC)) != 0) {
        if (n == (ssize_t)sizeof *report && report->nonce == nonce) {
            report->message[sizeof report->message - 1] = '\0';
            return SHELL_REPORTED;
        }
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN ? SHELL_NOTHING : SHELL_ENDED;
    }
    return SHELL_ENDED;
}

static bool shell_has_ended(void)
{
    siginfo_t ended = {0};

    return waitid(P_PID, (id_t)atomic_load(&shell_pid), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           ended.si_pid != 0;
}

/* Waits for the report. False: the shell has ended, or has given its end of the socket up, as one
 * does that executes another program. */
static bool shell_await(const struct shell_state *st, uint64_t nonce, struct shell_report *report)
{
    sigset_t child, before;
    enum shell_said said;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    while ((said = shell_take(st, nonce, report)) == SHELL_NOTHING) {
        struct pollfd waits = {.fd = st->channel, .events = POLLIN};
        if (shell_has_ended()) { /* code may have kept a copy of its end */
            said = shell_take(st, nonce, report);
            break;
        }
        (void)ppoll(&waits, 1, NULL, &before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return said == SHELL_REPORTED;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Signals as a program finds them; the group stays that of the agent, which an interrupt reaches.
 * The standard input of one execution is not that of the shell. */
static int shell_spawn(const struct shell_state *st, int end, pid_t *pid)
{
    char number[16];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    Dl_info self;

    if (!dladdr(&lazaret_plugin, &self))
        return ENOENT;
    snprintf(number, sizeof number, "%d", end);
    char *const argv[] = {(char *)"bash",
                          (char *)"--norc",
                          (char *)"--noprofile",
                          (char *)"-c",
                          (char *)"enable -f \"$1\" lazaret",
                          (char *)SHELL_NAME,
                          (char *)(uintptr_t)self.dli_fname,
                          number,
                          NULL};
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, end, end); /* not to be closed */
    if (st->has_input)
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int failed = posix_spawn(pid, SHELL_PROGRAM, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static void shell_wrong(struct shell_state *st, struct laz_outcome *outcome)
{
    outcome->kind = LAZ_OUTCOME_RUNTIME;
    outcome->message = st->message;
}

static void shell_did_not_start(struct shell_state *st, int failed, struct laz_outcome *outcome)
{
    if (failed == ENOENT || failed == EACCES)
        snprintf(st->message, sizeof st->message,
                 "%s cannot be started: it is not among sandbox.programs, which is \"default\" for "
                 "any program, or a list with \"bash\"",
                 SHELL_PROGRAM);
    else
        snprintf(st->message, sizeof st->message, "%s cannot be started: %s", SHELL_PROGRAM,
                 strerror(failed));
    shell_wrong(st, outcome);
}

static void shell_watch(void)
{
    struct sigaction action = {.sa_handler = shell_on_child,
                               .sa_flags = SA_RESTART | SA_NOCLDSTOP | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGCHLD, &action, NULL);
}

/* Waits for the first report of a shell that was started. */
static bool shell_greet(struct shell_state *st, struct laz_outcome *outcome)
{
    struct shell_report hello;
    const bool has_come = shell_await(st, 0, &hello);

    if (has_come && !*hello.message)
        return true;
    snprintf(st->message, sizeof st->message,
             "%s cannot be used: %s; this runtime is for bash %s, and another bash needs a lazaret "
             "that was built for it",
             SHELL_PROGRAM, has_come ? hello.message : "it does not load the runtime",
             SHELL_VERSION);
    shell_join(st);
    shell_wrong(st, outcome);
    return false;
}

/* Starts the shell unless there is one. False: `outcome` says why not. */
static bool shell_start(struct shell_state *st, struct laz_outcome *outcome)
{
    int ends[2], failed = 0;
    pid_t pid = 0;

    if (st->channel >= 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        shell_did_not_start(st, errno, outcome);
        return false;
    }
    shell_watch();
    failed = shell_spawn(st, ends[1], &pid);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        shell_did_not_start(st, failed, outcome);
        return false;
    }
    st->channel = ends[0];
    atomic_store(&shell_pid, pid);
    free(st->cwd);
    st->cwd = getcwd(NULL, 0);
    return shell_greet(st, outcome);
}

/* ---- interrupts ----------------------------------------------------------------------------- */

/* The processes that the shell waits for get SIGINT with the group. Signal-safe. */
static void shell_interrupt(void *state)
{
    const int number = atomic_load(&shell_running);

    (void)state;
    if (number)
        (void)sigqueue(atomic_load(&shell_pid), SHELL_INTERRUPT,
                       (union sigval){.sival_int = number});
}

/* ---- code ----------------------------------------------------------------------------------- */

/* The directory where the shell is to go: where the agent was sent since the last execution. */
static const char *shell_directory(struct shell_state *st)
{
    char *cwd = getcwd(NULL, 0);
    const bool is_new = cwd && (!st->cwd || strcmp(cwd, st->cwd) != 0);

    free(is_new ? st->cwd : cwd);
    st->cwd = is_new ? cwd : st->cwd;
    return is_new ? st->cwd : "";
}

/* Sends the code. False: there is no memory for that. A shell that is gone is noticed later. */
static bool shell_ask(struct shell_state *st, enum shell_kind kind, const char *code, size_t len,
                      uint64_t *nonce)
{
    const char *directory = shell_directory(st);
    struct shell_texts texts = {.data = NULL};
    struct shell_request request = {.kind = kind, .n_words = st->words.n};

    do
        if (getrandom(nonce, sizeof *nonce, 0) != (ssize_t)sizeof *nonce)
            *nonce = 0;
    while (!SHELL_NUMBER(*nonce));
    shell_texts_add(&texts, code, len);
    shell_texts_add(&texts, directory, strlen(directory));
    shell_texts_add(&texts, st->input, strlen(st->input));
    const bool failed = texts.failed;
    request.nonce = *nonce;
    request.size = texts.size + st->words.size;
    atomic_store(&shell_running, failed ? 0 : SHELL_NUMBER(*nonce));
    if (!failed && shell_send(st, &request, sizeof request) &&
        shell_send_parts(st, texts.data, texts.size))
        (void)shell_send_parts(st, st->words.data, st->words.size);
    if (LAZ_HAS(st->services, is_interrupted) && st->services->is_interrupted(st->services->agent))
        shell_interrupt(st); /* before it was known what to interrupt */
    shell_texts_free(&texts);
    return !failed;
}

/* Is it a text that a shell can read? */
static bool shell_is_text(const char *code, size_t len, struct laz_outcome *outcome)
{
    const char *nul = memchr(code, '\0', len);

    if (!nul)
        return true;
    outcome->kind = LAZ_OUTCOME_SYNTAX;
    outcome->message = "the code has a NUL byte, which no shell can read";
    outcome->line = 1;
    for (const char *c = code; c < nul; c++)
        outcome->line += *c == '\n';
    return false;
}

/* Has the shell do it. True: *report has come; else the outcome is complete. */
static bool shell_do(struct shell_state *st, enum shell_kind kind, const char *code, size_t len,
                     struct shell_report *report, struct laz_outcome *outcome)
{
    uint64_t nonce;

    if (!shell_is_text(code, len, outcome) || !shell_start(st, outcome))
        return false;
    if (!shell_ask(st, kind, code, len, &nonce)) {
        outcome->kind = LAZ_OUTCOME_MEMORY;
        outcome->message = "not enough memory for the code";
        return false;
    }
    const bool has_reported = shell_await(st, nonce, report);
    atomic_store(&shell_running, 0); /* what has taken the shell's place has SIGINT alone */
    if (has_reported)
        return true;
    report->status = shell_join(st);
    if (kind == SHELL_LAST)
        return true;
    outcome->kind = LAZ_OUTCOME_EXIT;
    outcome->exit_status = report->status;
    snprintf(st->message, sizeof st->message, "the shell has ended with status %d", report->status);
    outcome->message = st->message;
    return false;
}

static int shell_eval(void *state, const char *code, size_t len, uint32_t wanted,
                      struct laz_outcome *outcome)
{
    struct shell_state *st = state;
    const enum shell_kind kind = wanted & LAZ_WANTED_LAST ? SHELL_LAST : SHELL_RUN;
    struct shell_report report;

    atomic_store(&shell_busy, true);
    if (shell_do(st, kind, code, len, &report, outcome)) {
        outcome->value = st->value;
        outcome->value_len =
            (size_t)snprintf(st->value, sizeof st->value, "%d", (int)(report.status & 0xff));
        outcome->exit_status = report.status & 0xff;
    }
    atomic_store(&shell_busy, false);
    shell_texts_free(&st->words);
    return 0;
}

/* bash's message without what it begins with, "bash: line 3: ", whose number is the line. */
static const char *shell_position(const char *message, int32_t *line)
{
    static const char before[] = SHELL_NAME ": line ";
    char *end;

    if (strncmp(message, before, sizeof before - 1) != 0)
        return message;
    const long number = strtol(message + sizeof before - 1, &end, 10);
    if (number <= 0 || number > INT32_MAX || strncmp(end, ": ", 2) != 0)
        return message;
    *line = (int32_t)number;
    return end + 2;
}

static int shell_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct shell_state *st = state;
    struct shell_report report;

    atomic_store(&shell_busy, true);
    if (shell_do(st, SHELL_CHECK, code, len, &report, outcome) && report.status) {
        report.message[strcspn(report.message, "\n")] = '\0'; /* the next one shows the code */
        snprintf(st->message, sizeof st->message, "%s",
                 shell_position(report.message, &outcome->line));
        outcome->kind = LAZ_OUTCOME_SYNTAX;
        outcome->message = *st->message ? st->message : "the code does not parse";
    }
    atomic_store(&shell_busy, false);
    return 0;
}

static int shell_set_script(void *state, const char *const *argv, size_t n, const char *directory)
{
    struct shell_state *st = state;

    (void)directory; /* a shell looks for files that it reads where it is, and in PATH */
    shell_texts_free(&st->words);
    for (size_t i = 0; i < n; i++)
        shell_texts_add(&st->words, argv[i], strlen(argv[i]));
    if (!st->words.failed)
        return 0;
    shell_texts_free(&st->words);
    return LAZ_ENOMEM;
}

/* The agent gives its standard input to one execution, and then takes it back. The shell, which has
 * one of its own, opens the file by its name: no descriptor is sent, which would count as memory.
 */
static void shell_input_changed(void *state)
{
    struct shell_state *st = state;
    ssize_t n = 0;

    st->has_input = !st->has_input;
    if (st->has_input && (n = readlink("/proc/self/fd/0", st->input, sizeof st->input - 1)) < 0)
        n = 0;
    st->input[n] = '\0';
}

/* ---- the runtime ---------------------------------------------------------------------------- */

static int shell_create(const struct laz_agent_services *services, const char *options_json,
                        size_t options_len, void **state, struct laz_error *err)
{
    struct shell_state *st = calloc(1, sizeof *st);

    (void)options_json;
    (void)options_len;
    if (!st)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    st->services = services;
    st->channel = -1;
    *state = st;
    return 0;
}

static const char *shell_version(void *state)
{
    (void)state;
    return SHELL_VERSION;
}

static int shell_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                              struct laz_error *err)
{
    (void)state;
    (void)tools;
    (void)n;
    (void)err;
    return 0;
}

/* The shell ends as after a script: its trap for EXIT runs. */
static void shell_destroy(void *state)
{
    struct shell_state *st = state;

    if (!st)
        return;
    atomic_store(&shell_busy, true);
    if (st->channel >= 0) {
        shutdown(st->channel, SHUT_RDWR);
        shell_join(st);
    }
    shell_texts_free(&st->words);
    free(st->cwd);
    free(st);
}

/* ---- descriptor ----------------------------------------------------------------------------- */

static const char *const suffixes[] = {".sh", ".bash", NULL};
static const char *const nothing[] = {NULL};
static const char *const environment[] = {"SHELL=" SHELL_PROGRAM, NULL};
static const char *const programs[] = {"any", NULL};
static const char *const needs[] = {SHELL_PROGRAM, NULL};
static const char *const reserved_words[] = {
    "case",     "coproc", "do", "done",   "elif", "else", "esac",  "fi",    "for",
    "function", "if",     "in", "select", "then", "time", "until", "while", NULL};

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .libraries = nothing,
    .read = nothing,
    .env = environment,
    .reserved_words = reserved_words,
    .create = shell_create,
    .version = shell_version,
    .define_tools = shell_define_tools,
    .check = shell_check,
    .eval = shell_eval,
    .destroy = shell_destroy,
    .programs = programs,
    .set_script = shell_set_script,
    .interrupt = shell_interrupt,
    .input_changed = shell_input_changed,
    .needs = needs,
};

LAZ_PLUGIN(shell) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),
    .name = "shell",
    .version = "0.1.0",
    .summary = "bash",
    .options = options,
    .ops = &ops,
};
