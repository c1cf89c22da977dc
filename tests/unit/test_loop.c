/* SPDX-License-Identifier: MIT */
/* test_loop.c - how long a step of the loop waits, what is posted meanwhile, and a clock that a
 * test moves. */
#include "loop/loop.h"
#include "unit.h"

#include "os/descriptors.h"
#include "os/io.h"

#include <time.h>
#ifdef __linux__
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#define LONG_MS 120000

static void count(void *user)
{
    ++*(int *)user;
}

static void never(void *user, uint32_t events)
{
    (void)user, (void)events;
    CU_FAIL("nothing was written");
}

/* A loop with something to wait for, and a timer that ends the wait if nothing else does. */
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
    for (int is_due = 0; is_due < 2; is_due++) { /* already due when the step begins */
        laz_timer_start(w.soon, 5);
        if (is_due)
            nanosleep(&moment, NULL);
        laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
        CU_ASSERT_EQUAL(w.soons, is_due + 1);
        CU_ASSERT_EQUAL(w.lates, 0); /* this step, and not the one that the long timer ends */
    }
    waiting_close(&w);
}

/* A post that posts itself again, `more` times. */
struct posting {
    struct laz_post post;
    struct laz_loop *loop;
    int runs, more;
};

static void posting_runs(struct laz_post *post)
{
    struct posting *p = (struct posting *)(void *)post;

    p->runs++;
    if (p->more-- > 0)
        laz_loop_post(p->loop, post);
}

static void posting_begins(void *user)
{
    struct posting *p = user;

    laz_loop_post(p->loop, &p->post);
}

/* The thread of a step posts without a wake: no step may wait for one. */
static void a_step_runs_what_its_thread_posts(void)
{
    struct posting p = {.post = {.run = posting_runs}};
    struct waiting w;

    waiting_open(&w);
    p.loop = w.loop;
    struct laz_timer *begins = laz_timer_new(w.loop, posting_begins, &p);
    laz_timer_start(begins, 0);
    laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(p.runs, 1);
    p.more = 4;
    laz_timer_start(begins, 0);
    while (p.runs < 6)
        laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    laz_loop_will_step(w.loop);
    laz_loop_post(w.loop, &p.post);
    laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(p.runs, 7);
    laz_loop_post(w.loop, &p.post); /* between steps, with a wake */
    if (laz_loop_fd(w.loop) >= 0)   /* not on Windows */
        CU_ASSERT(laz_os_await(laz_loop_fd(w.loop), 0));
    laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(p.runs, 8);
    CU_ASSERT_EQUAL(w.lates, 0);
    laz_timer_stop(begins);
    waiting_close(&w);
}

static void a_step_waits_no_longer_than_it_may(void)
{
    struct waiting w;

    waiting_open(&w);
    for (int i = 0; i < 20; i++)
        laz_loop_step(w.loop, 1);
    laz_loop_step(w.loop, 0);
    CU_ASSERT_EQUAL(w.soons + w.lates, 0);
    waiting_close(&w);
}

/* ---- a held clock --------------------------------------------------------------------------- */

static int order[3], n_due;

#ifdef __linux__
/* The descriptor was closed too early while its file is open elsewhere: no callback is called any
 * more. */
static void a_watch_that_cannot_be_removed_is_not_told(void)
{
    struct waiting w;

    waiting_open(&w);
    int other = dup(w.pipe[0]);
    CU_ASSERT_EQUAL_FATAL(write(w.pipe[1], "x", 1), 1);
    laz_os_close(&w.pipe[0]);
    laz_io_stop(w.io);
    w.io = NULL;
    for (int i = 0; i < 3; i++)
        laz_loop_step(w.loop, 0);
    laz_os_close(&other);
    waiting_close(&w);
}

static void note_events(void *user, uint32_t events)
{
    *(uint32_t *)user |= events;
}

/* Two ends of a TCP connection, which knows urgent data (tcp(7)). */
static bool tcp_pair(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&address, &len) == 0 &&
                connect(ends[0], (struct sockaddr *)&address, len) == 0;
    ends[1] = good ? accept(listener, NULL, NULL) : -1;
    laz_os_close(&listener);
    return ends[1] >= 0;
}

/* The memory.events of a control group can always be read: only what is urgent is news. */
static void a_watch_of_urgent_data_hears_nothing_else(void)
{
    uint32_t events = 0;
    struct waiting w;
    int ends[2];

    if (!tcp_pair(ends)) {
        unit_skip("network", "no connection to this machine itself");
        return;
    }
    waiting_open(&w);
    struct laz_io *io = laz_io_start(w.loop, ends[1], LAZ_IO_URGENT, note_events, &events);
    CU_ASSERT_PTR_NOT_NULL_FATAL(io);
    CU_ASSERT_EQUAL(send(ends[0], "x", 1, 0), 1);
    laz_timer_start(w.soon, 1);
    laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(events, 0);
    CU_ASSERT_EQUAL(send(ends[0], "!", 1, MSG_OOB), 1);
    while (!events && !w.lates)
        laz_loop_step(w.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(events, LAZ_IO_URGENT);
    laz_io_stop(io);
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    waiting_close(&w);
}
#endif

static void note_due(void *user)
{
    order[n_due++ % 3] = *(int *)user;
}

static void timers_of_a_held_clock_are_due_when_it_is_moved(void)
{
    static int numbers[3] = {0, 1, 2};
    static const uint64_t ms[3] = {7000, 3000, 5000};
    struct laz_timer *timers[3];
    struct laz_loop *loop;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    laz_loop_hold_clock(loop);
    uint64_t began = laz_loop_now_us(loop);
    n_due = 0;
    for (int i = 0; i < 3; i++) {
        timers[i] = laz_timer_new(loop, note_due, &numbers[i]);
        laz_timer_start(timers[i], ms[i]);
    }
    laz_loop_advance_clock(loop, 2999);
    laz_loop_step(loop, 0);
    CU_ASSERT_EQUAL(n_due, 0);
    laz_loop_advance_clock(loop, 1);
    laz_loop_step(loop, LAZ_LOOP_FOREVER);
    CU_ASSERT(n_due == 1 && order[0] == 1);
    laz_timer_start(timers[1], 10000); /* restarted */
    laz_timer_start(timers[0], 1000);  /* moved, now due before the third one */
    laz_loop_advance_clock(loop, 5000);
    laz_loop_step(loop, LAZ_LOOP_FOREVER);
    CU_ASSERT(n_due == 3 && order[1] == 0 && order[2] == 2);
    laz_timer_cancel(timers[1]);
    laz_loop_advance_clock(loop, 60000);
    laz_loop_step(loop, 0);
    CU_ASSERT_EQUAL(n_due, 3);
    laz_timer_start(timers[1], 0); /* a timer of 0 ms does not wait for the clock */
    laz_loop_step(loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(n_due, 4);
    CU_ASSERT_EQUAL(laz_loop_now_us(loop) - began, (uint64_t)68000 * 1000);
    for (int i = 0; i < 3; i++)
        laz_timer_stop(timers[i]);
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    laz_loop_free(loop);
}

/* ---- many timers ---------------------------------------------------------------------------- */

#define MANY 300

struct many {
    struct laz_timer *timer;
    uint64_t ms;
    bool runs; /* and was not cancelled */
    bool ran;
};

static struct many many[MANY];
static uint64_t many_last_ms;

/* Of two timers with the same time the one that was started first is due first. */
static void many_due(void *user)
{
    static const struct many *last;
    struct many *one = user;

    CU_ASSERT(one->runs && !one->ran);
    CU_ASSERT(one->ms > many_last_ms || (one->ms == many_last_ms && one > last) || !last);
    one->ran = true;
    many_last_ms = one->ms;
    last = one;
    laz_timer_stop(one->timer); /* within its callback */
    one->timer = NULL;
}

static void timers_are_due_in_the_order_of_their_times(void)
{
    struct laz_loop *loop;
    unsigned seed = 1;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    laz_loop_hold_clock(loop);
    for (int i = 0; i < MANY; i++) {
        seed = seed * 1103515245 + 12345;
        many[i] = (struct many){.ms = 1 + seed / 65536 % 50, .runs = i % 3 != 0};
        many[i].timer = laz_timer_new(loop, many_due, &many[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(many[i].timer);
        laz_timer_start(many[i].timer, many[i].ms);
    }
    for (int i = 0; i < MANY; i += 3) { /* from everywhere in the heap */
        if (i % 2)
            laz_timer_cancel(many[i].timer);
        else
            laz_timer_stop(many[i].timer);
    }
    for (int ms = 0; ms < 50; ms++) {
        laz_loop_advance_clock(loop, 1);
        laz_loop_step(loop, 0);
    }
    for (int i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(many[i].ran, many[i].runs);
        if (!many[i].runs && i % 2)
            laz_timer_stop(many[i].timer);
    }
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    CU_ASSERT_EQUAL(laz_loop_timeout(loop), -1);
    laz_loop_free(loop);
}

static struct laz_timer *again;
static int agains;

static void start_again(void *user)
{
    (void)user;
    agains++;
    laz_timer_start(again, 0);
}

static void a_timer_that_starts_itself_does_not_hold_the_step(void)
{
    struct laz_loop *loop;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    again = laz_timer_new(loop, start_again, NULL);
    laz_timer_start(again, 0);
    for (int i = 0; i < 5; i++)
        laz_loop_step(loop, LAZ_LOOP_FOREVER);
    CU_ASSERT(agains >= 5 && agains <= 10);
    CU_ASSERT_EQUAL(laz_loop_timeout(loop), 0);
    laz_loop_free(loop); /* and the timer */
}

#ifdef __linux__
/* The number may have been closed, and be anything else since, such as another loop's. */
static void a_loop_knows_that_its_descriptor_was_closed(void)
{
    struct waiting w;
    struct laz_loop *other;

    waiting_open(&w);
    CU_ASSERT_TRUE(laz_loop_has_fd(w.loop));
    int fd = laz_loop_fd(w.loop), copy = fd;
    laz_os_close(&copy);
    CU_ASSERT_FALSE(laz_loop_has_fd(w.loop));
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&other, NULL), 0);
    CU_ASSERT_EQUAL(dup2(laz_loop_fd(other), fd), fd);
    CU_ASSERT_FALSE(laz_loop_has_fd(w.loop));
    laz_timer_start(w.soon, 1);
    laz_loop_step(w.loop, LAZ_LOOP_FOREVER); /* with a descriptor of its own */
    CU_ASSERT_EQUAL(w.soons, 1);
    waiting_close(&w);
    CU_ASSERT(fcntl(fd, F_GETFD) >= 0); /* the application's, and left alone */
    CU_ASSERT_TRUE(laz_loop_has_fd(other));
    laz_loop_free(other);
    (void)close(fd);
}
#endif

static const struct unit_test tests[] = {
    UNIT(timers_are_due_in_the_order_of_their_times),
    UNIT(a_timer_that_starts_itself_does_not_hold_the_step),
    UNIT(timers_of_a_held_clock_are_due_when_it_is_moved),
    UNIT(a_step_ends_with_a_timer),
#ifdef __linux__
    UNIT(a_watch_that_cannot_be_removed_is_not_told),
    UNIT(a_watch_of_urgent_data_hears_nothing_else),
    UNIT(a_loop_knows_that_its_descriptor_was_closed),
#endif
    UNIT(a_step_runs_what_its_thread_posts),
    UNIT(a_step_waits_no_longer_than_it_may),
    {0},
};

int main(void)
{
    return unit_run("loop", tests);
}
