/* SPDX-License-Identifier: MIT */
/* guard.c - the limits of a session as a whole that only the host enforces.
 * Side: host.  Input trusted: yes (the kernel's counters).
 *
 * No kernel limits the CPU seconds of a group of processes, so the host checks them, as rarely as
 * it can: N processors need at least an Nth of the time that is left.  So a minute of CPU time
 * takes a handful of checks.  An idle session is checked in the same way, because code can leave
 * threads and processes behind that sleep first: with N processors each Nth of limits.cpu, whatever
 * it does.  That is one look of some microseconds (without a group: some hundred) for limits.cpu
 * seconds of the machine's processor time, and there is none before code has run.  No later look
 * would do: whoever begins to compute right after it could pass the limit.
 *
 * The loop runs only while the application drives the engine, so the next call looks as well.
 * Memory is checked without a control group that limits it; while code runs the time of the next
 * check follows from how fast programs can fill new pages.  Locks of files are memory that no group
 * counts.  Many short executions are looked at like one that takes as long as all of them, and code
 * that makes looks long gets fewer: the host has other sessions. */
#include "session/guard.h"

#include "base/clock.h"
#include "session/execution.h"
#include "os/cgroup.h"
#include "os/process_tree.h"

#define GUARD_CPU_LEAST_MS  5  /* reading a counter takes microseconds */
#define GUARD_TREE_LEAST_MS 20 /* reading /proc takes some hundred */
#define GUARD_TREE_MOST_MS  200
#define GUARD_TREE_PARTS    4    /* the pause after a look is so many times as long as that ... */
#define GUARD_TREE_STOP_MS  1000 /* ... but no longer than this for its sake */
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

uint64_t laz_guard_least_pause_ms(uint64_t took_us)
{
    uint64_t ms = took_us / 1000 * GUARD_TREE_PARTS;

    return ms < GUARD_TREE_STOP_MS ? ms : GUARD_TREE_STOP_MS;
}

/* The limits that the host has to enforce, and how. */
struct guard_duty {
    /* Counts at which a limit is reached; LAZ_UNLIMITED: none. Of memory, and, where a group counts
     * that, of what locks of files count as. */
    uint64_t cpu_us, memory_bytes, lock_bytes;
    enum laz_stop cpu_stop; /* which limit on CPU time that is */
    const char *cpu_by;     /* control group that counts CPU time; NULL: process tree */
    bool watch_tree;
};

/* The count at which `limit_s` seconds more than `from_us` are used up. */
static uint64_t guard_end_us(uint64_t from_us, uint64_t limit_s)
{
    return limit_s == LAZ_UNLIMITED ? LAZ_UNLIMITED : from_us + limit_s * 1000000;
}

static struct guard_duty guard_duty(const struct laz_session *session)
{
    const struct laz_limit_values *limits = &session->shared->values->limits;
    const struct laz_box *box = session->box;
    struct guard_duty duty = {.cpu_us = LAZ_UNLIMITED,
                              .memory_bytes = LAZ_UNLIMITED,
                              .lock_bytes = LAZ_UNLIMITED,
                              .cpu_stop = LAZ_STOP_CPU,
                              .cpu_by = box->host.cpu};

    if (box->host.cpu || box->host.is_watched) {
        uint64_t whole_us = guard_end_us(0, limits->session_cpu_s);
        duty.cpu_us = guard_end_us(session->guard.base_us, limits->cpu_s);
        if (whole_us < duty.cpu_us) {
            duty.cpu_us = whole_us;
            duty.cpu_stop = LAZ_STOP_SESSION_CPU;
        }
    }
    if (box->host.memory)
        duty.lock_bytes = laz_box_memory_limit(limits);
    else if (box->host.is_watched)
        duty.memory_bytes = laz_box_memory_limit(limits);
    duty.watch_tree = duty.memory_bytes != LAZ_UNLIMITED || !duty.cpu_by;
    return duty;
}

/* Ends the execution, or the session that is idle. */
static void guard_stop(struct laz_session *session, enum laz_stop stop, uint64_t number,
                       const char *by)
{
    if (session->execution) {
        session->shared->listener->stop(session, stop, number, by);
        return;
    }
    session->guard.why =
        stop == LAZ_STOP_SESSION_CPU
            ? "its CPU time (limits.session_cpu) was used up while no code was executed"
        : stop == LAZ_STOP_MEMORY
            ? "it held more memory than it may (limits.memory) while no code was executed"
            : "it used as much CPU time as an execution may (limits.cpu) while no code was "
              "executed";
    laz_box_kill(session->box);
}

static void guard_again(struct laz_session *session, uint64_t pause_ms)
{
    struct laz_guard *guard = &session->guard;

    guard->due_us = laz_loop_now_us(session->shared->driver->loop) + pause_ms * 1000;
    laz_timer_start(guard->timer, pause_ms);
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

/* The process of a session from a template that its box knows is the vessel (agent/template.c). */
static void guard_find_tree(struct laz_session *session)
{
    struct laz_tree *tree = &session->guard.tree;

    tree->root = session->box->process.pid;
    tree->nofile = session->shared->values->limits.nofile;
    tree->trusts_root = session->box->from != NULL;
}

/* Looks at the process tree. False: it has ended, which the box reports. */
static bool guard_look_at_tree(struct laz_session *session, uint64_t enough_bytes,
                               struct laz_tree_usage *tree, uint64_t *cpu_us)
{
    struct laz_guard *guard = &session->guard;

    guard_find_tree(session);
    if (!laz_os_tree_usage(&guard->tree, enough_bytes, tree))
        return false;
    const uint64_t used_bytes = tree->memory_bytes - tree->bound_bytes;
    if (session->execution && used_bytes > guard->peak_bytes)
        guard->peak_bytes = used_bytes;
    guard->looked_us = laz_loop_now_us(session->shared->driver->loop);
    *cpu_us = guard_tree_cpu(session, tree);
    return true;
}

static bool guard_stops_cpu(struct laz_session *session, const struct guard_duty *duty,
                            uint64_t cpu_us)
{
    uint64_t from = duty->cpu_stop == LAZ_STOP_CPU ? session->guard.base_us : 0;

    if (cpu_us < duty->cpu_us)
        return false;
    guard_stop(session, duty->cpu_stop, (cpu_us - from) / 1000,
               duty->cpu_by ? duty->cpu_by : "watchdog");
    return true;
}

static bool guard_stops_memory(struct laz_session *session, const struct guard_duty *duty,
                               const struct laz_tree_usage *tree)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t lock_bytes = guard->tree.lock_bytes;

    if (duty->memory_bytes != LAZ_UNLIMITED &&
        guard_memory_is_over(guard, tree, duty->memory_bytes))
        guard_stop(session, LAZ_STOP_MEMORY, tree->memory_bytes, "watchdog");
    else if (lock_bytes > duty->lock_bytes)
        guard_stop(session, LAZ_STOP_MEMORY, lock_bytes, "watchdog");
    else
        return false;
    return true;
}

/* How long nothing can happen. */
static uint64_t guard_pause_ms(const struct laz_session *session, const struct guard_duty *duty,
                               const struct laz_tree_usage *tree, uint64_t cpu_us)
{
    const unsigned processors = session->shared->processors;
    uint64_t ms, pause = GUARD_DAY_MS;

    if (duty->cpu_us != LAZ_UNLIMITED)
        pause = laz_guard_cpu_pause_ms(duty->cpu_us - cpu_us, processors);
    if (session->execution && duty->memory_bytes != LAZ_UNLIMITED) {
        const bool is_over = tree->memory_bytes > duty->memory_bytes;
        ms = laz_guard_memory_pause_ms(is_over ? 0 : duty->memory_bytes - tree->memory_bytes,
                                       processors);
        pause = ms < pause ? ms : pause;
    }
    if (duty->watch_tree && pause < GUARD_TREE_LEAST_MS)
        pause = GUARD_TREE_LEAST_MS;
    if (session->execution && (duty->watch_tree || duty->lock_bytes != LAZ_UNLIMITED) &&
        pause > GUARD_TREE_MOST_MS)
        pause = GUARD_TREE_MOST_MS;
    return pause;
}

static void guard_look(struct laz_session *session)
{
    const struct guard_duty duty = guard_duty(session);
    const uint64_t began_us = laz_clock_thread_us();
    struct laz_guard *guard = &session->guard;
    struct laz_tree_usage tree = {0};
    uint64_t cpu_us = 0;

    guard->ran_from_us = laz_loop_now_us(session->shared->driver->loop);
    guard->unlooked_us = 0;
    if (duty.watch_tree && !guard_look_at_tree(session, duty.memory_bytes, &tree, &cpu_us)) {
        guard_again(session, GUARD_TREE_MOST_MS); /* perhaps only descriptors were lacking */
        return;
    }
    if (!duty.watch_tree && duty.lock_bytes != LAZ_UNLIMITED) {
        guard_find_tree(session);
        if (guard->has_run)
            (void)laz_os_tree_lock_bytes(&guard->tree);
        else
            laz_os_tree_has_no_locks(&guard->tree);
    }
    if (duty.cpu_us != LAZ_UNLIMITED && duty.cpu_by)
        cpu_us = laz_cgroup_cpu_us(session->box->group);
    if (guard_stops_cpu(session, &duty, cpu_us) || guard_stops_memory(session, &duty, &tree))
        return;
    uint64_t pause = guard_pause_ms(session, &duty, &tree, cpu_us);
    uint64_t least = laz_guard_least_pause_ms(laz_clock_thread_us() - began_us);
    guard_again(session, pause > least ? pause : least);
}

/* Is the session idle, and its process still there? */
static bool guard_is_on_watch(const struct laz_session *session)
{
    return !session->execution && !session->guard.why && !laz_box_was_reaped(session->box);
}

static void guard_due(void *user)
{
    struct laz_session *session = user;

    if (session->execution ? session->execution->stop == LAZ_STOP_NONE : guard_is_on_watch(session))
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

void laz_guard_start(struct laz_session *session)
{
    session->guard.base_us = session->cpu_us;
    /* What an earlier session has left there may have run already, as a package of R. */
    session->guard.has_run = session->shared->values->sandbox.write.n > 0;
}

/* Before the first execution of a box nothing in it can have locked files: no code of a session has
 * run. */
static void guard_begin(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    const struct guard_duty duty = guard_duty(session);
    const uint64_t now = laz_loop_now_us(session->shared->driver->loop);
    const bool due = guard->due_us <= now;

    guard->ran_from_us = now;
    if (duty.cpu_us == LAZ_UNLIMITED && duty.memory_bytes == LAZ_UNLIMITED &&
        duty.lock_bytes == LAZ_UNLIMITED)
        return;
    /* most code is quicker than a look */
    uint64_t pause_us =
        1000 * (uint64_t)(duty.watch_tree ? GUARD_TREE_LEAST_MS : GUARD_TREE_MOST_MS);
    if (guard->unlooked_us >= pause_us || (due && duty.cpu_by)) {
        guard_look(session);
        return;
    }
    pause_us -= guard->unlooked_us;
    if (!due && guard->due_us - now < pause_us)
        pause_us = guard->due_us - now;
    laz_timer_start(guard->timer, pause_us / 1000 + 1);
}

void laz_guard_begin(struct laz_session *session)
{
    guard_begin(session);
    session->guard.has_run = true;
}

/* CPU time of the process tree at this moment, or a little more: between two looks less than the
 * shortest pause apart, all that the processors could do, so that nothing of it counts twice. */
static uint64_t guard_tree_cpu_now(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    uint64_t cpu_us = guard->seen_us + guard->lost_us + guard->estimate.us;
    uint64_t ago_us = laz_loop_now_us(session->shared->driver->loop) - guard->looked_us;
    struct laz_tree_usage tree;

    if (ago_us < GUARD_TREE_LEAST_MS * 1000)
        return cpu_us + ago_us * session->shared->processors;
    guard_look_at_tree(session, LAZ_UNLIMITED, &tree, &cpu_us);
    return cpu_us;
}

void laz_guard_rest(struct laz_session *session)
{
    const unsigned processors = session->shared->processors;
    struct laz_guard *guard = &session->guard;
    struct guard_duty duty = guard_duty(session);

    laz_timer_cancel(guard->timer);
    guard->due_us = 0;
    guard->unlooked_us += laz_loop_now_us(session->shared->driver->loop) - guard->ran_from_us;
    if (duty.cpu_us == LAZ_UNLIMITED || laz_box_was_reaped(session->box))
        return;
    guard->base_us = duty.cpu_by ? session->cpu_us : guard_tree_cpu_now(session);
    duty = guard_duty(session);
    uint64_t left_us = duty.cpu_us > guard->base_us ? duty.cpu_us - guard->base_us : 0;
    guard_again(session, laz_guard_cpu_pause_ms(left_us, processors));
}

const char *laz_guard_idle(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    uint64_t now = laz_loop_now_us(session->shared->driver->loop);

    if (guard->due_us && guard->due_us <= now && guard_is_on_watch(session))
        guard_look(session);
    return guard->why;
}
