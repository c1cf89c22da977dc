/* SPDX-License-Identifier: MIT */
/* test_loop.c - how long a step of the loop waits. */
#include "engine/loop.h"
#include "unit.h"

#include "base/clock.h"
#include "os/os.h"
#include "os/os.h"

#include <time.h>

#define LONG_MS 20000

static void count(void *user)
{
    ++*(int *)user;
}

static void never(void *user, uint32_t events)
{
    (void)user, (void)events;
    CU_FAIL("nothing was written");
}

/* A loop that has something to wait for, and a timer that ends the wait if nothing else does. */
struct waiting {
    struct laz_loop *loop;
    struct laz_io *io;
    struct laz_timer *soon, *late;
    int pipe[2], soons, lates;
};

static void waiting_open(struct waiting *w)
{
    *w = (struct waiting){0};
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&w->loop, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&w->pipe[0], &w->pipe[1], NULL), 0);
    w->io = laz_io_start(w->loop, w->pipe[0], LAZ_IO_READ, never, NULL);
    w->soon = laz_timer_new(w->loop, count, &w->soons);
    w->late = laz_timer_new(w->loop, count, &w->lates);
    CU_ASSERT_FATAL(w->io && w->soon && w->late);
    laz_timer_start(w->late, LONG_MS);
}

static void waiting_close(struct waiting *w)
{
    laz_io_stop(w->io);
    laz_timer_stop(w->soon);
    laz_timer_stop(w->late);
    laz_loop_free(w->loop);
    laz_os_close(&w->pipe[0]);
    laz_os_close(&w->pipe[1]);
}

static void a_step_ends_with_a_timer(void)
{
    const struct timespec moment = {0, 20000000};
    struct waiting w;

    waiting_open(&w);
    for (int is_due = 0; is_due < 2; is_due++) { /* when the step begins */
        uint64_t began = laz_clock_ms();
        laz_timer_start(w.soon, 5);
        if (is_due)
            nanosleep(&moment, NULL);
        laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
        CU_ASSERT_EQUAL(w.soons, is_due + 1);
        CU_ASSERT(laz_clock_ms() - began < LONG_MS - 500);
    }
    CU_ASSERT_EQUAL(w.lates, 0);
    waiting_close(&w);
}

static void a_step_waits_no_longer_than_it_may(void)
{
    struct waiting w;

    waiting_open(&w);
    uint64_t began = laz_clock_ms();
    for (int i = 0; i < 20; i++)
        laz_loop_step(w.loop, 1);
    laz_loop_step(w.loop, 0);
    CU_ASSERT(laz_clock_ms() - began < LONG_MS - 500);
    CU_ASSERT_EQUAL(w.soons + w.lates, 0);
    waiting_close(&w);
}

static const struct unit_test tests[] = {
    UNIT(a_step_ends_with_a_timer),
    UNIT(a_step_waits_no_longer_than_it_may),
    {0},
};

int main(void)
{
    return unit_run("loop", tests);
}
