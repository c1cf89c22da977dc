/* SPDX-License-Identifier: MIT */
/* interrupt.c - Ctrl-C ends an execution, not the command: it still reports and cleans up.
 *
 * The signals are blocked in every thread and taken by one that waits for them: no handler, hence
 * no global, and nothing to restrict what may be done on their arrival.  The second signal ends the
 * process in the usual way, for the case that the first one leads nowhere.  At the end the thread
 * is sent one of them: a cancelled thread would be unwound, which the sanitizers do not follow. */
#include "cli/cli.h"

#include "os/posix.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define INTERRUPT_AGAIN_MS 50

struct cli_interrupt {
    sigset_t signals, before;
    pthread_t thread;
    bool running;
    atomic_bool ending;
    struct laz_engine *engine;
};

int cli_interrupt_block(struct cli_interrupt **interrupt, struct laz_error *err)
{
    struct cli_interrupt *made = calloc(1, sizeof *made);

    if (!made)
        return laz_error_nomem(err);
    sigemptyset(&made->signals);
    sigaddset(&made->signals, SIGINT);
    sigaddset(&made->signals, SIGTERM);
    sigaddset(&made->signals, SIGHUP);
    int failed = pthread_sigmask(SIG_BLOCK, &made->signals, &made->before);
    if (failed) {
        free(made);
        return laz_error_os(err, failed, "signals cannot be blocked");
    }
    *interrupt = made;
    return 0;
}

static void *interrupt_wait(void *arg)
{
    struct cli_interrupt *interrupt = arg;
    int signal_number;

    if (sigwait(&interrupt->signals, &signal_number) != 0 || atomic_load(&interrupt->ending))
        return NULL;
    do /* an engine that is not in use yet has nothing to cancel: until it is, and ends */
        laz_engine_cancel(interrupt->engine);
    while ((signal_number = laz_posix_await_signal(&interrupt->signals, INTERRUPT_AGAIN_MS)) == 0 &&
           !atomic_load(&interrupt->ending));
    if (atomic_load(&interrupt->ending))
        return NULL;
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &interrupt->signals, NULL);
    raise(signal_number);
    return NULL;
}

int cli_interrupt_start(struct cli_interrupt *interrupt, struct laz_engine *engine,
                        struct laz_error *err)
{
    int failed;

    interrupt->engine = engine;
    failed = pthread_create(&interrupt->thread, NULL, interrupt_wait, interrupt);
    if (failed)
        return laz_error_os(err, failed, "the thread that waits for Ctrl-C cannot be started");
    interrupt->running = true;
    return 0;
}

void cli_interrupt_free(struct cli_interrupt *interrupt)
{
    if (!interrupt)
        return;
    if (interrupt->running) {
        atomic_store(&interrupt->ending, true);
        pthread_kill(interrupt->thread, SIGTERM);
        pthread_join(interrupt->thread, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    free(interrupt);
}
