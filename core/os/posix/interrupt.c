/* SPDX-License-Identifier: MIT */
/* interrupt.c - requests to end this process, by signals.  System: POSIX.
 *
 * The signals are blocked in every thread, and one thread waits for them: so there is no handler,
 * no global, and no restriction on what may be done when one arrives.  SIGHUP and SIGINT stay as
 * they are where the parent ignores them (nohup(1), a job in the background of a script): a signal
 * that is ignored and blocked would be waited for, too.  A second signal ends the process in the
 * usual way, in case the first one has no effect; one that comes in the moment after the first is
 * the same request (timeout(1) signals its command, and then its group).  To end the thread it is
 * sent one of them: a cancelled thread would be unwound, which the sanitizers do not follow. */
#include "os/interrupt.h"

#include "base/clock.h"
#include "os/posix/raw.h"
#include "os/posix/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define INTERRUPT_AGAIN_MS  50
#define INTERRUPT_MOMENT_US 500000u

struct laz_interrupt {
    sigset_t signals, before;
    pthread_t thread;
    bool running;
    atomic_bool ending;
    atomic_int signal; /* the first one; 0: none came */
    void (*asked)(void *user);
    void *user;
};

static void interrupt_add(sigset_t *signals, int number)
{
    struct sigaction present;

    if (sigaction(number, NULL, &present) != 0 || present.sa_handler != SIG_IGN)
        sigaddset(signals, number);
}

int laz_interrupt_block(struct laz_interrupt **interrupt, struct laz_error *err)
{
    struct laz_interrupt *made = calloc(1, sizeof *made);

    if (!made)
        return laz_error_nomem(err);
    sigemptyset(&made->signals);
    interrupt_add(&made->signals, SIGINT);
    interrupt_add(&made->signals, SIGHUP);
    sigaddset(&made->signals, SIGTERM);
    int failed = pthread_sigmask(SIG_BLOCK, &made->signals, &made->before);
    if (failed) {
        free(made);
        return laz_error_os(err, failed, "signals cannot be blocked");
    }
    *interrupt = made;
    return 0;
}

static void *interrupt_wait(void *user)
{
    struct laz_interrupt *interrupt = user;
    int signal_number;

    if (sigwait(&interrupt->signals, &signal_number) != 0 || atomic_load(&interrupt->ending))
        return NULL;
    atomic_store(&interrupt->signal, signal_number);
    const uint64_t first_us = laz_clock_us();
    do
        interrupt->asked(interrupt->user);
    while (
        ((signal_number = laz_posix_await_signal(&interrupt->signals, INTERRUPT_AGAIN_MS)) == 0 ||
         laz_clock_us() - first_us < INTERRUPT_MOMENT_US) &&
        !atomic_load(&interrupt->ending));
    if (atomic_load(&interrupt->ending))
        return NULL;
    laz_posix_raw_hold(true);
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &interrupt->signals, NULL);
    raise(signal_number);
    return NULL;
}

int laz_interrupt_start(struct laz_interrupt *interrupt, void (*asked)(void *user), void *user,
                        struct laz_error *err)
{
    interrupt->asked = asked;
    interrupt->user = user;
    int failed = pthread_create(&interrupt->thread, NULL, interrupt_wait, interrupt);
    if (failed)
        return laz_error_start(err, failed, "the thread that waits for Ctrl-C cannot be started");
    interrupt->running = true;
    return 0;
}

int laz_interrupt_status(const struct laz_interrupt *interrupt)
{
    int number = interrupt ? atomic_load(&interrupt->signal) : 0;

    return number ? 128 + number : 0;
}

void laz_interrupt_free(struct laz_interrupt *interrupt)
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
