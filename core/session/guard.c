/* SPDX-License-Identifier: MIT */
/* guard.c - the limits of a session as a whole that only the host enforces.
 * Side: host.  Input trusted: yes (the kernel's counters).
 *
 * No kernel limits the CPU seconds of a group of processes, so the host checks them, as rarely as
 * it can: N processors need at least an Nth of the time that is left.  So a minute of CPU time
 * takes a handful of checks, and an idle session none.  Memory is checked only without a control
 * group that limits it; the time of the next check follows from how fast programs can fill new
 * pages.  What a session uses while no code is executed counts too, but is checked only when the
 * next execution begins, before its code runs. */
#include "session/guard.h"

#include "session/execution.h"
#include "os/cgroup.h"
#include "os/process_tree.h"

#define GUARD_CPU_LEAST_MS  5  /* reading a counter takes microseconds */
#define GUARD_TREE_LEAST_MS 20 /* reading /proc takes some hundred */
#define GUARD_TREE_MOST_MS  200
#define GUARD_ESTIMATE_US   ((uint64_t)1000000) /* a longer pause counts as this */
#define GUARD_BYTES_A_MS    ((uint64_t)2 << 20) /* new pages that one processor can fill */
#define GUARD_DAY_MS        ((uint64_t)86400000)

uint64_t laz_guard_cpu_pause_ms(uint64_t left_us, unsigned processors)
{
    uint64_t ms = left_us / 1000 / (processors ? processors : 1);

    return ms < GUARD_CPU_LEAST_MS ? GUARD_CPU_LEAST_MS : ms < GUARD_DAY_MS ? ms : GUARD_DAY_MS;
}

uint64_t laz_guard_memory_pause_ms(uint64_t left_bytes, unsigned processors)
{
    uint64_t ms = left_bytes / GUARD_BYTES_A_MS / (processors ? processors : 1);

    return ms < GUARD_TREE_LEAST_MS  ? GUARD_TREE_LEAST_MS
           : ms < GUARD_TREE_MOST_MS ? ms
                                     : GUARD_TREE_MOST_MS;
}

/* The limits that the host has to enforce, and how. */
struct guard_duty {
    uint64_t cpu_us, memory_bytes; /* LAZ_UNLIMITED: not checked */
    const char *cpu_by;            /* control group that counts CPU time; NULL: process tree */
};

static struct guard_duty guard_duty(const struct laz_session *session)
{
    const struct laz_limits *limits = &session->shared->values->limits;
    const struct laz_box *box = session->box;
    struct guard_duty duty = {LAZ_UNLIMITED, LAZ_UNLIMITED, box->host.cpu};

    if ((box->host.cpu || box->host.is_watched) && limits->cpu_s != LAZ_UNLIMITED)
        duty.cpu_us = limits->cpu_s * 1000000;
    if (!box->host.memory && box->host.is_watched)
        duty.memory_bytes = laz_box_memory_limit(limits);
    return duty;
}

/* CPU time of the process tree as it was counted. The kernel's sum loses the time of a process that
 * ended without being waited for, which shows as a sum that became smaller, or is reported. */
static uint64_t guard_counted_cpu(struct laz_guard *guard, const struct laz_tree_usage *tree)
{
    uint64_t lost_us = tree->cpu_us < guard->seen_us ? guard->seen_us - tree->cpu_us : 0;

    guard->lost_us += lost_us > tree->unwaited_us ? lost_us : tree->unwaited_us;
    guard->seen_us = tree->cpu_us;
    return guard->seen_us + guard->lost_us;
}

void laz_guard_estimate(struct laz_guard_estimate *estimate, const struct laz_tree_usage *tree,
                        uint64_t now_us, uint64_t busy_us, uint64_t accounted_us)
{
    uint64_t passed_us = now_us - estimate->look_us;

    estimate->look_us = now_us;
    if (!tree->unwaited)
        return;
    if (!estimate->busy_us) { /* from now on */
        estimate->busy_us = busy_us;
        estimate->accounted_us = accounted_us;
        return;
    }
    if (passed_us > GUARD_ESTIMATE_US) /* the session was idle */
        passed_us = GUARD_ESTIMATE_US;
    const uint64_t used_us = passed_us * tree->unwaited_permille / 1000;
    const uint64_t busy = busy_us - estimate->busy_us,
                   known = accounted_us - estimate->accounted_us;
    const uint64_t most_us = busy > known ? busy - known : 0;
    uint64_t us = estimate->us + (used_us > tree->unwaited_us ? used_us - tree->unwaited_us : 0);
    us = us < most_us ? us : most_us;
    if (us > estimate->us)
        estimate->us = us;
}

/* CPU time of the process tree so far, with what is estimated. */
static uint64_t guard_tree_cpu(struct laz_session *session, const struct laz_tree_usage *tree)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t now_us = laz_loop_now_us(session->shared->driver->loop);
    const uint64_t counted_us = guard_counted_cpu(guard, tree);

    laz_guard_estimate(&guard->estimate, tree, now_us, tree->unwaited ? laz_os_busy_us() : 0,
                       counted_us);
    return counted_us + guard->estimate.us;
}

/* Is the limit exceeded? What is in flight counts at its worst, and an ordinary program has
 * nothing in flight for long: only two looks in succession are believed. */
static bool guard_memory_is_over(struct laz_guard *guard, const struct laz_tree_usage *tree,
                                 uint64_t limit_bytes)
{
    const bool over = tree->memory_bytes > limit_bytes, before = guard->in_flight;

    guard->in_flight = over && tree->in_flight;
    return over && (!tree->in_flight || before);
}

static void guard_look(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    struct laz_box *box = session->box;
    const struct guard_duty duty = guard_duty(session);
    const bool watch_tree = duty.memory_bytes != LAZ_UNLIMITED || !duty.cpu_by;
    const unsigned processors = session->shared->processors;
    struct laz_tree_usage tree = {0};
    uint64_t cpu_us = 0, pause = GUARD_DAY_MS;

    guard->tree.root = box->process.pid;
    guard->tree.nofile = session->shared->values->limits.nofile;
    if (watch_tree && !laz_os_tree_usage(&guard->tree, duty.memory_bytes, &tree))
        return; /* the process has ended, which the box reports */
    if (tree.memory_bytes - tree.bound_bytes > guard->peak_bytes)
        guard->peak_bytes = tree.memory_bytes - tree.bound_bytes;
    if (duty.cpu_us != LAZ_UNLIMITED) {
        cpu_us = duty.cpu_by ? laz_cgroup_cpu_us(box->group) : guard_tree_cpu(session, &tree);
        if (cpu_us >= duty.cpu_us) {
            session->shared->listener->stop(session, LAZ_STOP_CPU, cpu_us / 1000,
                                            duty.cpu_by ? duty.cpu_by : "watchdog");
            return;
        }
        pause = laz_guard_cpu_pause_ms(duty.cpu_us - cpu_us, processors);
    }
    if (duty.memory_bytes != LAZ_UNLIMITED) {
        if (guard_memory_is_over(guard, &tree, duty.memory_bytes)) {
            session->shared->listener->stop(session, LAZ_STOP_MEMORY, tree.memory_bytes,
                                            "watchdog");
            return;
        }
        const bool is_over = tree.memory_bytes > duty.memory_bytes;
        uint64_t ms = laz_guard_memory_pause_ms(is_over ? 0 : duty.memory_bytes - tree.memory_bytes,
                                                processors);
        pause = ms < pause ? ms : pause;
    }
    if (watch_tree && pause < GUARD_TREE_LEAST_MS)
        pause = GUARD_TREE_LEAST_MS;
    else if (watch_tree && pause > GUARD_TREE_MOST_MS)
        pause = GUARD_TREE_MOST_MS;
    guard->due_us = laz_loop_now_us(session->shared->driver->loop) + pause * 1000;
    laz_timer_start(guard->timer, pause);
}

static void guard_due(void *user)
{
    struct laz_session *session = user;

    if (session->execution && session->execution->stop == LAZ_STOP_NONE)
        guard_look(session);
}

bool laz_guard_init(struct laz_guard *guard, struct laz_session *session)
{
    guard->timer = laz_timer_new(session->shared->driver->loop, guard_due, session);
    return guard->timer != NULL;
}

void laz_guard_renew(struct laz_guard *guard)
{
    laz_os_tree_forget(&guard->tree);
    *guard = (struct laz_guard){.timer = guard->timer};
}

void laz_guard_begin(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    const struct guard_duty duty = guard_duty(session);
    uint64_t now = laz_loop_now_us(session->shared->driver->loop);

    if (duty.cpu_us == LAZ_UNLIMITED && duty.memory_bytes == LAZ_UNLIMITED)
        return;
    if (guard->due_us > now)
        laz_timer_start(guard->timer, (guard->due_us - now) / 1000 + 1);
    else if (duty.cpu_by)
        guard_look(session);
    if (duty.memory_bytes != LAZ_UNLIMITED || !duty.cpu_by) /* most code is quicker than a look */
        laz_timer_start(guard->timer, GUARD_TREE_LEAST_MS);
}
