/* SPDX-License-Identifier: MIT */
/* r_console.c - what R writes, and how it ends.
 * Side: agent.  Input trusted: no (everything here is done on behalf of the code).
 *
 * R hands over output in pieces: cat() calls for every argument and separator.  A piece goes out at
 * once when it ends a line, or when nothing was written for a millisecond; else it waits for the
 * rest of its line, so that a loop of cat() costs one system call a line and a lone progress dot
 * still appears.  What waits is written before anything else can be seen: before standard error, a
 * tool call, a fork, R's event polling and the end of an execution.
 *
 * A write beyond the limit of a file's size fails, which R's connections do not always tell: a
 * handler of SIGXFSZ notes it, and the code gets an error as soon as R can raise one.
 *
 * A fork of R (parallel::mclapply) may write, but is not the session: it leaves with _exit. */
#include "r.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define R_INTERFACE_PTRS
#include <R_ext/RStartup.h>
#include <R_ext/eventloop.h>
#include <Rembedded.h>
#include <Rinterface.h>

#define CONSOLE_IDLE_NS     1000000
#define CONSOLE_PENDING_MAX 65536

extern void R_dot_Last(void);

static sigjmp_buf console_gave_up;
static volatile sig_atomic_t console_file_limit;

static bool console_is_fork(const struct r_state *state)
{
    return getpid() != state->owner;
}

static void console_write(struct r_state *state, int stream, const char *text, size_t len)
{
    state->services->output(state->services->agent, stream, text, len);
}

static void console_send(struct r_state *state)
{
    if (state->pending.len > 0) {
        console_write(state, 1, state->pending.data, state->pending.len);
        r_text_clear(&state->pending);
    }
}

void r_console_flush(struct r_state *state)
{
    console_send(state);
    fflush(stdout); /* compiled code may have used the C library */
}

static bool console_is_idle(struct r_state *state)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)(now.tv_sec - state->written.tv_sec) * 1000000000 +
                 (now.tv_nsec - state->written.tv_nsec);
    state->written = now;
    return ns > CONSOLE_IDLE_NS;
}

static void console_stdout(struct r_state *state, const char *text, size_t len)
{
    bool whole = text[len - 1] == '\n';

    if (!whole)
        whole = console_is_idle(state) || len + state->pending.len > CONSOLE_PENDING_MAX;
    if (whole && state->pending.len == 0) {
        console_write(state, 1, text, len);
        return;
    }
    if (!r_text_append(&state->pending, text, len)) {
        console_send(state);
        console_write(state, 1, text, len);
    } else if (whole) {
        console_send(state);
    }
}

/* A print that is too long for a message goes to standard output instead. */
static void console_captured(struct r_state *state, const char *text, size_t len)
{
    if (len <= state->capture_limit - state->captured.len &&
        r_text_append(&state->captured, text, len))
        return;
    r_console_release(state, false);
    console_stdout(state, text, len);
}

static void console_out(const char *text, int len, int type)
{
    struct r_state *state = r_self;

    if (len <= 0)
        return;
    if (!state->running) {
        r_text_append(&state->startup, text, (size_t)len);
    } else if (type != 0) {
        if (state->muted)
            return;
        console_send(state);
        console_write(state, 2, text, (size_t)len);
    } else if (state->capturing) {
        console_captured(state, text, (size_t)len);
    } else {
        console_stdout(state, text, (size_t)len);
    }
}

void r_console_capture(struct r_state *state)
{
    r_text_clear(&state->captured);
    state->capturing = true;
}

void r_console_release(struct r_state *state, bool keep)
{
    if (!state->capturing)
        return;
    state->capturing = false;
    if (keep)
        return;
    if (state->captured.len > 0)
        console_stdout(state, state->captured.data, state->captured.len);
    r_text_clear(&state->captured);
}

/* A jump to the top level prints what warnings are left, and nothing else does. */
static void console_jump(void *unused)
{
    (void)unused;
    Rf_jump_to_toplevel();
}

void r_console_warnings(void)
{
    R_ToplevelExec(console_jump, NULL);
}

static int console_read(const char *prompt, unsigned char *buffer, int size, int history)
{
    (void)prompt;
    (void)history;
    if (size > 0)
        buffer[0] = '\0';
    return 0;
}

static void console_flush_hook(void)
{
    if (r_self && r_self->running)
        console_send(r_self);
}

static void console_file_too_large(int signal)
{
    (void)signal;
    console_file_limit = 1;
}

void r_console_check_file_limit(void)
{
    if (!console_file_limit)
        return;
    console_file_limit = 0;
    Rf_error("a file grew over the limit: %s", strerror(EFBIG));
}

/* R calls this now and then while code runs, at points where an interrupt may jump. */
static void console_poll(void)
{
    console_flush_hook();
    r_console_check_file_limit();
}

static void console_nothing(void)
{
}

static void console_busy(int which)
{
    (void)which;
}

static void console_message(const char *text)
{
    console_out(text, (int)strlen(text), 1);
    console_out("\n", 1, 1);
}

/* R cannot go on: memory of its own is broken, or it found no home. */
static void console_suicide(const char *text)
{
    struct r_state *state = r_self;

    if (!state->running) {
        r_text_append(&state->startup, text, strlen(text));
        siglongjmp(console_gave_up, 1);
    }
    console_message("R cannot continue:");
    console_message(text);
    abort();
}

/* quit(): what R does before its process ends, then the agent ends it. */
static void console_clean_up(SA_TYPE save, int status, int run_last)
{
    struct r_state *state = r_self;

    (void)save;
    if (!state->running)
        siglongjmp(console_gave_up, 1);
    r_console_release(state, false);
    if (run_last)
        R_dot_Last();
    r_console_warnings();
    if (console_is_fork(state)) {
        r_console_flush(state);
        _exit(status);
    }
    R_RunExitFinalizers();
    Rf_KillAllDevices();
    R_CleanTempDir();
    r_console_flush(state);
    state->services->leave(state->services->agent, status);
    abort(); /* it does not return */
}

static void console_before_fork(void)
{
    if (r_self && r_self->running)
        r_console_flush(r_self);
}

void r_console_install(void)
{
    R_Outputfile = NULL;
    R_Consolefile = NULL;
    ptr_R_WriteConsole = NULL;
    ptr_R_WriteConsoleEx = console_out;
    ptr_R_ReadConsole = console_read;
    ptr_R_FlushConsole = console_flush_hook;
    ptr_R_ResetConsole = console_nothing;
    ptr_R_ClearerrConsole = console_nothing;
    ptr_R_Busy = console_busy;
    ptr_R_ShowMessage = console_message;
    ptr_R_Suicide = console_suicide;
    ptr_R_CleanUp = console_clean_up;
}

void r_console_hooks(struct r_state *state)
{
    struct sigaction action = {.sa_handler = console_file_too_large, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &action, NULL);
    R_PolledEvents = console_poll;
    clock_gettime(CLOCK_MONOTONIC, &state->written);
    pthread_atfork(console_before_fork, NULL, NULL);
}

bool r_console_start(struct r_state *state, int argc, char **argv)
{
    if (sigsetjmp(console_gave_up, 1))
        return false;
    r_console_install();
    R_SignalHandlers = 0;
    if (Rf_initialize_R(argc, argv) != 0)
        return false;
    R_Interactive = FALSE;
    r_console_install();
    setup_Rmainloop();
    state->running = true;
    return true;
}
