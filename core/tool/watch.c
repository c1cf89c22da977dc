/* SPDX-License-Identifier: MIT */
/* watch.c - descriptors and timers that tool providers watch through the engine's loop. */
#include "tool/watch.h"

#include "loop/loop.h"

#include <stdlib.h>

struct laz_watch {
    struct laz_io *io;       /* NULL if it watches a timer */
    struct laz_timer *timer; /* NULL if it watches a descriptor */
};

struct laz_watch *laz_watch_fd(void *host, int fd, uint32_t events,
                               void (*ready)(void *user, uint32_t events), void *user)
{
    struct laz_loop *loop = host;
    struct laz_watch *watch = calloc(1, sizeof *watch);

    if (watch)
        watch->io = laz_io_start(loop, fd, events, ready, user);
    if (watch && watch->io)
        return watch;
    free(watch);
    return NULL;
}

struct laz_watch *laz_watch_timer(void *host, uint64_t ms, void (*due)(void *user), void *user)
{
    struct laz_loop *loop = host;
    struct laz_watch *watch = calloc(1, sizeof *watch);

    if (watch)
        watch->timer = laz_timer_new(loop, due, user);
    if (!watch || !watch->timer) {
        free(watch);
        return NULL;
    }
    laz_timer_start(watch->timer, ms);
    return watch;
}

void laz_watch_stop(struct laz_watch *watch)
{
    if (!watch)
        return;
    laz_io_stop(watch->io);
    laz_timer_stop(watch->timer);
    free(watch);
}
