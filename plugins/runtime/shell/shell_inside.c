/* SPDX-License-Identifier: MIT */
/* shell_inside.c - the half of the shell runtime that is in bash.
 * Side: box, in the process of the code.  Input trusted: requests yes (the agent).
 *
 * bash loads this object as it loads a builtin (`enable -f`), and lazaret_builtin_load() takes its
 * reader loop's place: it never returns, so that no builtin is ever there to be seen.  What began
 * bash (the text of -c, its frames, its parameters) is undone first.  Code is evaluated as `eval`
 * and `source` do it, by parse_and_execute(), with bash's jumps to the top level caught here.
 *
 * An interrupt is SIGINT for the processes that the shell waits for, and a signal of its own for
 * the shell, with the number of the execution, so that one that comes late hits nothing.  Where
 * code has no trap for SIGINT it does what bash's own handler for interactive shells does, whose
 * jump a shell that is not interactive takes for an exit, but for what is noted here.  So does
 * SIGINT; between executions it is ignored.
 *
 * The agent loads the same object, and has none of bash's symbols: they are weak, and nothing but
 * lazaret_builtin_load() uses them.  A binary of this file is a work based on bash (GPL, version 3
 * or later). */
#include <bash/config.h>

#include <sys/types.h>

#include <bash/shell.h>

#include <bash/bashjmp.h>
#include <bash/builtins.h>
#include <bash/builtins/builtext.h>
#include <bash/builtins/common.h>
#include <bash/dispose_cmd.h>
#include <bash/execute_cmd.h>
#include <bash/jobs.h>
#include <bash/make_cmd.h>
#include <bash/quit.h>
#include <bash/sig.h>
#include <bash/version.h>

#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSIDE_EXPORT __attribute__((visibility("default")))

/* Not in any header that is installed. */
extern char *dist_version;
extern int parse_and_execute(char *, const char *, int);
extern void reset_local_contexts(void);
extern void reset_parser(void);
extern int signal_is_trapped(int);
extern int pending_traps[];
extern int startup_state, want_pending_command, read_but_dont_execute;

#pragma weak already_making_children
#pragma weak array_flush
#pragma weak array_rshift
#pragma weak bind_variable
#pragma weak builtin_address_internal
#pragma weak command_execution_string
#pragma weak dispose_words
#pragma weak dist_version
#pragma weak dollar_vars
#pragma weak executing_builtin
#pragma weak exit_shell
#pragma weak find_variable
#pragma weak initialize_terminating_signals
#pragma weak interrupt_state
#pragma weak job_control
#pragma weak jobs
#pragma weak js
#pragma weak last_command_exit_value
#pragma weak last_made_pid
#pragma weak list_reverse
#pragma weak make_bare_word
#pragma weak make_word_list
#pragma weak parse_and_execute
#pragma weak pending_traps
#pragma weak read_but_dont_execute
#pragma weak remember_args
#pragma weak reset_local_contexts
#pragma weak reset_parser
#pragma weak restore_sigmask
#pragma weak set_signal_handler
#pragma weak set_working_directory
#pragma weak signal_is_trapped
#pragma weak sigint_sighandler
#pragma weak startup_state
#pragma weak stop_pipeline
#pragma weak termsig_handler
#pragma weak terminating_signal
#pragma weak this_command_name
#pragma weak this_shell_builtin
#pragma weak top_level
#pragma weak top_level_cleanup
#pragma weak unbind_variable
#pragma weak variable_context
#pragma weak wait_for
#pragma weak want_pending_command
#pragma weak xmalloc

static struct {
    int channel;
    pid_t pid;
    SigHandler *before_rest; /* the handler of SIGINT when the last execution ended */
    sh_builtin_func_t *trap; /* bash's own `trap` */
    char *name;              /* of the shell: $0 */
} inside;

static volatile sig_atomic_t inside_interrupted;           /* this execution was */
static volatile sig_atomic_t inside_running, inside_asked; /* numbers of executions; 0: none */

/* ---- interrupts ----------------------------------------------------------------------------- */

/* With `set -m` a job has a group of its own, which the agent's signal does not reach. */
static void inside_interrupt_jobs(int number)
{
    for (int i = 0; job_control && i < js.j_jobslots; i++)
        if (jobs[i] && (jobs[i]->flags & J_FOREGROUND) && jobs[i]->state == JRUNNING)
            killpg(jobs[i]->pgrp, number);
}

static void inside_on_interrupt(int number)
{
    inside_interrupted = 1;
    inside_interrupt_jobs(number);
    sigint_sighandler(number);
}

/* The agent interrupts the execution. Programs that handle SIGINT, and end as if nothing was, do
 * not keep the code after them alive. */
static void inside_on_agent(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_QUEUE)
        inside_asked = info->si_value.sival_int;
    if (!inside_running || inside_asked != inside_running)
        return;
    if (signal_is_trapped(SIGINT))
        inside_interrupt_jobs(SIGINT);
    else
        inside_on_interrupt(SIGINT);
}

static void inside_hear_agent(void)
{
    struct sigaction action = {.sa_sigaction = inside_on_agent, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    sigaction(SHELL_INTERRUPT, &action, NULL);
}

static void inside_nothing(int number)
{
    (void)number;
}

/* What code has no trap for. A write beyond the limit on file size is to fail, and not to end the
 * shell. */
static void inside_take_signals(void)
{
    if (!signal_is_trapped(SIGINT))
        set_signal_handler(SIGINT, inside_on_interrupt);
    if (!signal_is_trapped(SIGXFSZ))
        set_signal_handler(SIGXFSZ, inside_nothing);
}

/* In place of `trap`, which may have given SIGINT back to bash. */
static int inside_trap(WORD_LIST *list)
{
    const int status = inside.trap(list);

    if (getpid() == inside.pid)
        inside_take_signals();
    return status;
}

static void inside_wrap_trap(void)
{
    struct builtin *trap = builtin_address_internal((char *)"trap", 1);

    if (!trap || trap->function == inside_trap)
        return;
    inside.trap = trap->function;
    trap->function = inside_trap;
}

static void inside_begin_interrupts(int number)
{
    pending_traps[SIGINT] = 0;
    interrupt_state = 0;
    inside_interrupted = 0;
    if (signal_is_trapped(SIGINT))
        set_signal_handler(SIGINT, inside.before_rest);
    inside_take_signals();
    inside_hear_agent();
    inside_running = number;
    if (inside_asked == number) /* it came before */
        inside_on_interrupt(SIGINT);
}

static void inside_end_interrupts(void)
{
    inside_running = 0;
    inside.before_rest = set_signal_handler(SIGINT, SIG_IGN);
}

/* ---- the channel ---------------------------------------------------------------------------- */

/* Subshells are no business of the agent. Until a child has the handlers that bash gives it, SIGINT
 * is nothing to it: one in the background would end, and the agent sends another for the rest. */
static void inside_forked(void)
{
    struct sigaction now;

    close(inside.channel);
    inside.channel = -1;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == inside_on_interrupt)
        set_signal_handler(SIGINT, SIG_IGN);
}

/* The agent is gone, or it wants the shell to end. */
static void inside_end(void)
{
    exit_shell(last_command_exit_value);
}

/* The next message: its bytes, of which there is at least one. */
static size_t inside_receive(void *data, size_t size)
{
    ssize_t n;

    while ((n = recv(inside.channel, data, size, 0)) < 0 && errno == EINTR)
        if (terminating_signal)
            termsig_handler(terminating_signal);
    if (n <= 0)
        inside_end();
    return (size_t)n;
}

static void inside_report(const struct shell_report *report)
{
    ssize_t n;

    while ((n = send(inside.channel, report, sizeof *report, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        inside_end();
}

/* The texts of a request: a new string. */
static char *inside_texts(const struct shell_request *request)
{
    char *texts = xmalloc(request->size + 1);

    for (size_t at = 0; at < request->size;)
        at += inside_receive(texts + at, request->size - at);
    texts[request->size] = '\0';
    return texts;
}

/* ---- the names of a file -------------------------------------------------------------------- */

static const char *const inside_lists[] = {"BASH_SOURCE", "BASH_LINENO", "FUNCNAME"};
static const char *const inside_main[] = {NULL, "0",
                                          "main"}; /* what they have at the top of a file */

/* At the top of code that is of no file they are empty, whatever jump has left functions. */
static void inside_place(const char *file)
{
    for (size_t i = 0; i < sizeof inside_lists / sizeof *inside_lists; i++) {
        SHELL_VAR *list = find_variable(inside_lists[i]);
        if (!list || !array_p(list) || !array_cell(list))
            continue;
        array_flush(array_cell(list));
        if (file)
            array_push(array_cell(list), (char *)(inside_main[i] ? inside_main[i] : file));
    }
}

static char *inside_copy(const char *text)
{
    return strcpy(xmalloc(strlen(text) + 1), text);
}

static void inside_name(const char *name)
{
    free(dollar_vars[0]);
    dollar_vars[0] = inside_copy(name);
}

/* $1, $2... */
static void inside_arguments(const char *texts, uint32_t n)
{
    WORD_LIST *list = NULL;

    for (uint32_t i = 0; i < n; i++, texts += strlen(texts) + 1)
        list = make_word_list(make_bare_word(texts), list);
    list = REVERSE_LIST(list, WORD_LIST *);
    remember_args(list, 1);
    dispose_words(list);
}

static void inside_go_to(const char *directory)
{
    if (!*directory || chdir(directory) != 0)
        return;
    set_working_directory((char *)directory);
    bind_variable("PWD", (char *)directory, 0);
}

/* ---- standard input ------------------------------------------------------------------------- */

/* A copy, whose number is one that code hardly names. -1: `fd` is not open. */
static int inside_copy_high(int fd)
{
    int copy = -1;

    for (int least = 1000; copy < 0 && least > 2; least /= 2)
        copy = fcntl(fd, F_DUPFD_CLOEXEC, least);
    return copy;
}

/* Makes a file the standard input, and keeps the former one. 0, or a number of errno. */
static int inside_begin_input(const char *path, int *former)
{
    *former = inside_copy_high(0);
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return errno;
    if (fd != 0) {
        dup2(fd, 0);
        close(fd);
    }
    return 0;
}

static void inside_end_input(int former)
{
    if (former < 0) { /* the code of before has closed it */
        close(0);
        return;
    }
    dup2(former, 0);
    close(former);
}

/* ---- code ----------------------------------------------------------------------------------- */

/* The code has left by a jump: bash is put in order as its reader loop does it. What it was about
 * to wait for, because an interrupt came just then, is waited for: the agent sends another. */
static void inside_settle(void)
{
    top_level_cleanup();
    if (already_making_children) {
        stop_pipeline(0, NULL);
        if (last_made_pid > 0)
            wait_for(last_made_pid, 0);
    }
    if (variable_context)
        reset_local_contexts();
    interrupt_state = 0;
    executing_builtin = 0;
    restore_sigmask();
    reset_parser();
}

/* Runs the code: its status. *ends: it has asked the shell to exit with that. */
static int inside_run(const char *code, const char *name, int *ends)
{
    *ends = 0;
    reset_parser();
    switch (setjmp_nosigs(top_level)) {
    case NOT_JUMPED:
        return last_command_exit_value = parse_and_execute(
                   inside_copy(code), name, SEVAL_NOHIST | SEVAL_RESETLINE | SEVAL_NOOPTIMIZE);
    case EXITPROG:
        *ends = !inside_interrupted;
        break;
#ifdef EXITBLTIN
    case EXITBLTIN:
        *ends = 1;
        break;
#endif
    case DISCARD:
        if (!last_command_exit_value)
            last_command_exit_value = EXECUTION_FAILURE;
        break;
    default: /* set -e, set -u: a file would end here */
        break;
    }
    if (!*ends) {
        const int status = last_command_exit_value;
        inside_settle();
        last_command_exit_value = status;
    }
    return last_command_exit_value;
}

/* Parses the code in a process of its own, with the aliases and options of this one; what bash says
 * of it is the message. */
static void inside_check(const char *code, const char *name, struct shell_report *report)
{
    sigset_t child, before;
    int said[2], how = 0;
    size_t len = 0;
    ssize_t n = 1;

    if (pipe(said) != 0) {
        snprintf(report->message, sizeof report->message, "pipe: %s", strerror(errno));
        report->status = EXECUTION_FAILURE;
        return;
    }
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        int ends;
        dup2(said[1], 2);
        close(said[0]);
        close(said[1]);
        read_but_dont_execute = 1;
        const int status = inside_run(code, name, &ends);
        fflush(stderr);
        _exit(status);
    }
    close(said[1]);
    while (pid > 0 && n > 0) {
        char rest[512];
        const size_t room = sizeof report->message - 1 - len;
        n = read(said[0], room ? report->message + len : rest, room ? room : sizeof rest);
        len += room && n > 0 ? (size_t)n : 0;
        n = n < 0 && errno == EINTR ? 1 : n;
    }
    close(said[0]);
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    report->status = pid > 0 && WIFEXITED(how) ? WEXITSTATUS(how) : EXECUTION_FAILURE;
}

/* Runs the code with a standard input of its own: as inside_run(). */
static int inside_run_with(const char *input, const char *code, int *ends)
{
    int former = -1;

    if (!*input)
        return inside_run(code, dollar_vars[0], ends);
    const int failed = inside_begin_input(input, &former);
    if (failed)
        fprintf(stderr, "%s: %s: %s\n", dollar_vars[0], input, strerror(failed));
    const int status = failed ? last_command_exit_value = EXECUTION_FAILURE
                              : inside_run(code, dollar_vars[0], ends);
    if (getpid() == inside.pid)
        inside_end_input(former);
    return status;
}

static void inside_serve(const struct shell_request *request)
{
    struct shell_report report = {.nonce = request->nonce};
    char *texts = inside_texts(request);
    const char *directory = texts + strlen(texts) + 1;
    const char *input = directory + strlen(directory) + 1;
    const char *words = input + strlen(input) + 1;
    const char *name = request->n_words ? words : inside.name;
    int ends = 0;

    inside_go_to(directory);
    inside_name(name);
    inside_place(request->n_words ? name : NULL);
    if (request->n_words)
        inside_arguments(words + strlen(words) + 1, request->n_words - 1);
    inside_begin_interrupts(SHELL_NUMBER(request->nonce));
    if (request->kind == SHELL_CHECK)
        inside_check(texts, name, &report);
    else
        report.status = inside_run_with(input, texts, &ends);
    if (getpid() != inside.pid)
        _exit(report.status); /* a child that a jump has led here */
    free(texts);
    fflush(stdout);
    fflush(stderr);
    if (ends || request->kind == SHELL_LAST)
        exit_shell(report.status);
    inside_end_interrupts();
    inside_report(&report);
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* Undoes what began this shell: bash -c 'enable -f "$1" lazaret' NAME FILE CHANNEL. */
static void inside_forget_beginning(void)
{
    top_level_cleanup();
    inside_settle();
    remember_args(NULL, 1);
    unbind_variable("BASH_EXECUTION_STRING");
    bind_variable("_", inside.name, 0);
    command_execution_string = NULL;
    want_pending_command = 0;
    startup_state =
        0; /* as for a file: the last command of a text does not take the shell's place */
    this_command_name = NULL;
    this_shell_builtin = NULL;
    last_command_exit_value = 0;
}

static int inside_move(int fd)
{
    const int moved = inside_copy_high(fd);

    if (moved < 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    close(fd);
    return moved;
}

INSIDE_EXPORT int lazaret_builtin_load(char *name);

INSIDE_EXPORT int lazaret_builtin_load(char *name)
{
    struct shell_report hello = {.nonce = 0};
    struct shell_request request;

    (void)name;
    inside.pid = getpid();
    inside.channel = inside_move(atoi(dollar_vars[2]));
    inside.name = inside_copy(dollar_vars[0]);
    if (strcmp(dist_version, DISTVERSION) != 0) {
        snprintf(hello.message, sizeof hello.message,
                 "bash is of version %s, and this runtime was built for %s", dist_version,
                 DISTVERSION);
        inside_report(&hello);
        exit_shell(EXECUTION_FAILURE);
    }
    pthread_atfork(NULL, NULL, inside_forked);
    inside_forget_beginning();
    initialize_terminating_signals();
    inside_wrap_trap();
    inside_hear_agent();
    inside_end_interrupts();
    inside_report(&hello);
    for (;;) {
        if (inside_receive(&request, sizeof request) != sizeof request)
            inside_end();
        inside_serve(&request);
    }
    return 0;
}

static int inside_builtin(WORD_LIST *list)
{
    (void)list;
    return EXECUTION_FAILURE;
}

static char *const inside_help[] = {NULL};

/* What `enable` looks for before it calls lazaret_builtin_load(). */
INSIDE_EXPORT struct builtin lazaret_struct = {
    (char *)"lazaret", inside_builtin, BUILTIN_ENABLED, inside_help, "lazaret", NULL,
};
