/* SPDX-License-Identifier: MIT */
/* wait.c - waiting for a descriptor in the system's pool of threads.  System: Windows. */
#include "os/wait.h"

#include "os/windows/descriptors.h"

#include <stdlib.h>

enum wait_way { WAIT_READ, WAIT_WRITE, WAIT_WAYS };

struct laz_wait {
    struct fds_entry *entry;
    void (*woken)(void *user);
    void *user;
    HANDLE waits[WAIT_WAYS]; /* NULL: no wait is under way */
};

struct laz_wait *laz_wait_new(int fd, void (*woken)(void *user), void *user)
{
    struct fds_entry *entry = laz_windows_entry(fd);
    struct laz_wait *wait = entry && entry->kind != FDS_FILE ? calloc(1, sizeof *wait) : NULL;

    if (wait) {
        wait->entry = entry;
        wait->woken = woken;
        wait->user = user;
    }
    return wait;
}

static void CALLBACK wait_over(void *data, BOOLEAN timed_out)
{
    struct laz_wait *wait = data;

    (void)timed_out;
    wait->woken(wait->user);
}

/* When this returns, no callback of this wait runs or will run. */
static void wait_leave(HANDLE *wait)
{
    if (*wait)
        (void)UnregisterWaitEx(*wait, INVALID_HANDLE_VALUE);
    *wait = NULL;
}

static void wait_arm(struct laz_wait *wait, enum wait_way way)
{
    HANDLE until = laz_windows_wait_handle(wait->entry, way == WAIT_WRITE);

    wait_leave(&wait->waits[way]);
    if (WaitForSingleObject(until, 0) == WAIT_OBJECT_0 ||
        !RegisterWaitForSingleObject(&wait->waits[way], until, wait_over, wait, INFINITE,
                                     WT_EXECUTEONLYONCE)) {
        wait->waits[way] = NULL;
        wait->woken(wait->user); /* no wait could be started: the caller polls, and loses nothing */
    }
}

void laz_wait_arm(struct laz_wait *wait, bool read, bool write)
{
    if (read)
        wait_arm(wait, WAIT_READ);
    if (write)
        wait_arm(wait, WAIT_WRITE);
}

bool laz_wait_is_ready(const struct laz_wait *wait, bool write)
{
    return WaitForSingleObject(laz_windows_wait_handle(wait->entry, write), 0) == WAIT_OBJECT_0;
}

void laz_wait_free(struct laz_wait *wait)
{
    if (!wait)
        return;
    for (int way = 0; way < WAIT_WAYS; way++)
        wait_leave(&wait->waits[way]);
    free(wait);
}
