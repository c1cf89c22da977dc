/* SPDX-License-Identifier: MIT */
/* r_console.c - the callbacks that r_start_*.c gives R: for output and for its end.
 * Side: agent.  Input trusted: no (the code causes all of these calls).
 *
 * R passes output in pieces: cat() makes one call for every argument and separator. A piece is
 * written at once when it ends a line or when nothing was written for a millisecond; otherwise it
 * waits for the rest of its line. So a loop of cat() costs one system call a line, and a lone
 * progress dot still appears. Pending output is written before anything else becomes visible:
 * before standard error, a tool call, a fork, R's event polling and the end of an execution.
 *
 * A write beyond the limit on file size fails, which R's connections do not always report: a
 * handler of SIGXFSZ records it, and the code gets an error as soon as R can raise one.
 *
 * A fork of R (parallel::mclapply) may write, but is not the session: it leaves with _exit. */
#include "r.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <Rembedded.h>

#define CONSOLE_IDLE_NS     1000000
#define CONSOLE_PENDING_MAX 65536

/* Not every version of R declares these, nor every system. */
extern void R_dot_Last(void);
extern void Rf_jump_to_toplevel(void);

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

/* True when nothing was written for a while. */
static bool console_is_idle(const struct r_state *state, struct timespec *now)
{
    clock_gettime(CLOCK_MONOTONIC, now);
    int64_t ns = (int64_t)(now->tv_sec - state->written.tv_sec) * 1000000000 +
                 (now->tv_nsec - state->written.tv_nsec);
    return ns > CONSOLE_IDLE_NS;
}

static void console_stdout(struct r_state *state, const char *text, size_t len)
{
    bool whole = text[len - 1] == '\n';

    if (!whole) {
        struct timespec now;
        whole = console_is_idle(state, &now) || len + state->pending.len > CONSOLE_PENDING_MAX;
        state->written = now;
    }
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

/* Printed text that is too long for a message goes to standard output instead. */
static void console_captured(struct r_state *state, const char *text, size_t len)
{
    if (len <= state->capture_limit - state->captured.len &&
        r_text_append(&state->captured, text, len))
        return;
    r_console_release(state, false);
    console_stdout(state, text, len);
}

void r_console_write(const char *text, int len, int type)
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

/* Jumps to the top level: only that prints the remaining warnings. */
static void console_jump(void *unused)
{
    (void)unused;
    Rf_jump_to_toplevel();
}

void r_console_warnings(void)
{
    R_ToplevelExec(console_jump, NULL);
}

int r_console_read(const char *prompt, unsigned char *buffer, int size, int history)
{
    (void)prompt;
    (void)history;
    r_console_flush_hook();
    if (size <= 0 || !fgets((char *)buffer, size, stdin))
        return 0;
    size_t len = strlen((char *)buffer);
    if (feof(stdin) && len + 1 < (size_t)size && (!len || buffer[len - 1] != '\n'))
        memcpy(buffer + len, "\n", 2); /* R wants whole lines, as its own console gives them */
    return 1;
}

void r_console_flush_hook(void)
{
    if (r_self && r_self->running)
        console_send(r_self);
}

void r_console_file_too_large(int signal)
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

void r_console_poll(void)
{
    r_console_flush_hook();
    r_console_check_file_limit();
}

void r_console_flush_idle(void)
{
    struct timespec now;

    if (r_self && r_self->running && r_self->pending.len > 0 && console_is_idle(r_self, &now))
        console_send(r_self);
}

void r_console_nothing(void)
{
}

void r_console_busy(int which)
{
    (void)which;
}

void r_console_message(const char *text)
{
    r_console_write(text, (int)strlen(text), 1);
    r_console_write("\n", 1, 1);
}

/* R cannot continue: its memory is corrupt, or it did not find R_HOME. */
void r_console_suicide(const char *text)
{
    struct r_state *state = r_self;

    if (!state->running) {
        r_text_append(&state->startup, text, strlen(text));
        r_start_give_up();
    }
    r_console_message("R cannot continue:");
    r_console_message(text);
    abort();
}

static void console_run_last(void *unused)
{
    (void)unused;
    R_dot_Last();
}

static void console_finalize(void *unused)
{
    (void)unused;
    R_RunExitFinalizers();
    Rf_KillAllDevices();
}

/* Connections have buffers of their own, which R does not write out by itself. */
static void console_close_connections(void *unused)
{
    SEXP close = PROTECT(Rf_lang1(Rf_install("closeAllConnections")));

    (void)unused;
    Rf_eval(close, R_BaseNamespace);
    UNPROTECT(1);
}

void r_console_end(struct r_state *state)
{
    state->muted = false;
    R_ToplevelExec(console_run_last, NULL);
    r_console_warnings();
    R_ToplevelExec(console_finalize, NULL);
    R_ToplevelExec(console_close_connections, NULL);
    R_CleanTempDir();
    r_console_flush(state);
}

/* quit(): does what R does before its process ends, then the agent ends it. */
void r_console_clean_up(SA_TYPE save, int status, int run_last)
{
    struct r_state *state = r_self;

    (void)save;
    if (!state->running)
        r_start_give_up();
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
    R_ToplevelExec(console_close_connections, NULL);
    R_CleanTempDir();
    r_console_flush(state);
    state->services->leave(state->services->agent, status);
    abort(); /* not reached: leave() does not return */
}

void r_console_begin(struct r_state *state)
{
    clock_gettime(CLOCK_MONOTONIC, &state->written);
    state->running = true;
}
