/* SPDX-License-Identifier: MIT */
/* interrupt.c - requests to end this process, by the console.  System: Windows. */
#include "os/interrupt.h"

#include "os/windows/text.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define INTERRUPT_AGAIN_MS 50

struct laz_interrupt {
    struct laz_interrupt *before; /* becomes the present one again when this one is freed */
    HANDLE wake;                  /* signalled at a request, and to end the thread */
    pthread_t thread;
    bool runs;
    atomic_bool asked_once, ending;
    void (*asked)(void *user);
    void *user;
};

static SRWLOCK interrupt_lock =
    SRWLOCK_INIT; /* keeps it from being freed while a handler uses it */
static struct laz_interrupt *interrupt_present;

static void interrupt_set(struct laz_interrupt *interrupt)
{
    AcquireSRWLockExclusive(&interrupt_lock);
    interrupt_present = interrupt;
    ReleaseSRWLockExclusive(&interrupt_lock);
}

/* Runs on a thread of the system. FALSE: calls the next handler, which ends the process. Where the
 * console is closed, or the user logs off, the system ends the process as soon as this returns, or
 * after some seconds: so it does not return, and the process ends as after Ctrl-C. */
static BOOL WINAPI interrupt_control(DWORD event)
{
    AcquireSRWLockExclusive(&interrupt_lock);
    struct laz_interrupt *interrupt = interrupt_present;
    bool first = interrupt && !atomic_exchange(&interrupt->asked_once, true);
    if (first)
        SetEvent(interrupt->wake);
    ReleaseSRWLockExclusive(&interrupt_lock);
    if (first && event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(INFINITE);
    return first;
}

int laz_interrupt_block(struct laz_interrupt **out, struct laz_error *err)
{
    struct laz_interrupt *interrupt = calloc(1, sizeof *interrupt);

    if (!interrupt)
        return laz_error_nomem(err);
    interrupt->wake = CreateEventW(NULL, TRUE, FALSE, NULL);
    interrupt->before = interrupt_present;
    interrupt_set(interrupt);
    if (!interrupt->wake || !SetConsoleCtrlHandler(interrupt_control, TRUE)) {
        int rc = laz_windows_fail(err, "the handler for Ctrl-C cannot be set");
        laz_interrupt_free(interrupt);
        return rc;
    }
    *out = interrupt;
    return 0;
}

static void *interrupt_main(void *data)
{
    struct laz_interrupt *interrupt = data;

    WaitForSingleObject(interrupt->wake, INFINITE);
    while (!interrupt->ending) {
        interrupt->asked(interrupt->user);
        Sleep(INTERRUPT_AGAIN_MS);
    }
    return NULL;
}

int laz_interrupt_start(struct laz_interrupt *interrupt, void (*asked)(void *user), void *user,
                        struct laz_error *err)
{
    interrupt->asked = asked;
    interrupt->user = user;
    int failed = pthread_create(&interrupt->thread, NULL, interrupt_main, interrupt);
    interrupt->runs = !failed;
    return failed ? laz_error_os(err, failed, "cannot create a thread") : 0;
}

int laz_interrupt_status(const struct laz_interrupt *interrupt)
{
    return interrupt && atomic_load(&interrupt->asked_once) ? 128 + SIGINT : 0;
}

void laz_interrupt_free(struct laz_interrupt *interrupt)
{
    if (!interrupt)
        return;
    interrupt->ending = true;
    interrupt_set(interrupt->before);
    (void)SetConsoleCtrlHandler(interrupt_control, FALSE);
    if (interrupt->wake)
        SetEvent(interrupt->wake);
    if (interrupt->runs)
        pthread_join(interrupt->thread, NULL);
    if (interrupt->wake)
        CloseHandle(interrupt->wake);
    free(interrupt);
}
