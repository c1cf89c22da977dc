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
 * that makes looks long gets fewer: the host has other sessions.
 *
 * A look at processes is made by another thread (looks.h), because they decide how long it takes;
 * the loop itself reads only what the kernel keeps as a number (docs/design-limits.md has a list).
 * What would need a look now is decided by bounds: all that the processors could do since the last
 * one.  An execution that begins when a look is due has no result before that is back, so it cannot
 * escape by being short.  A look that takes more CPU time than any honest session needs, or does
 * not come back, is a limit that is exceeded.  A look for which the host lacks descriptors has
 * found too little; a session is given up after a few of them, because nothing limits it any more.
 */
#include "session/guard.h"

#include "session/execution.h"
#include "session/looks.h"
#include "os/cgroup.h"

#include <stdlib.h>

#define GUARD_CPU_LEAST_MS  5  /* reading a counter takes microseconds */
#define GUARD_TREE_LEAST_MS 20 /* reading /proc takes some hundred */
#define GUARD_TREE_MOST_MS  200
#define GUARD_TREE_PARTS    4    /* the pause after a look is so many times as long as that ... */
#define GUARD_TREE_STOP_MS  1000 /* ... but no longer than this for its sake */
#define GUARD_ESTIMATE_US   ((uint64_t)1000000) /* a longer pause counts as this */
#define GUARD_BYTES_A_MS    ((uint64_t)2 << 20) /* new pages that one processor can fill */
#define GUARD_DAY_MS        ((uint64_t)86400000)
#define GUARD_LOOK_MS       1000 /* of CPU time, and what limits add to it, each at most so much: */
#define GUARD_LOOK_MOST_MS  60000
/* One that a single call holds is given up after so many ticks: not after one time as long as all
 * of them, which could pass while the host is stopped, or does not drive its engine. */
#define GUARD_TICKS   10
#define GUARD_LACKING 10 /* looks in succession for which the host lacks descriptors or memory */
#define GUARD_TICK_MS 3000

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

static uint64_t guard_look_share_ms(uint64_t amount)
{
    return amount < GUARD_LOOK_MOST_MS ? amount : GUARD_LOOK_MOST_MS;
}

uint64_t laz_guard_look_us(const struct laz_limit_values *limits)
{
    const uint64_t memory = limits->memory_bytes; /* without a limit nothing is counted by shares */
    const uint64_t mib = memory == LAZ_UNLIMITED ? 0 : memory >> 20;

    return (GUARD_LOOK_MS + guard_look_share_ms(mib) + guard_look_share_ms(limits->nproc)) * 1000;
}

/* The limits that the host has to enforce, and how. */
struct guard_duty {
    /* Counts at which a limit is reached; LAZ_UNLIMITED: none. Of memory, and, where a group counts
     * that, of what locks of files and sockets of its network count as. */
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
        duty.lock_bytes = limits->memory_bytes;
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
    session->replaced = laz_verdict_name(laz_stop_reasons[stop].verdict);
    session->guard.why =
        stop == LAZ_STOP_SESSION_CPU
            ? "its CPU time (limits.session_cpu) was used up while no code was executed"
        : stop == LAZ_STOP_MEMORY
            ? "it held more memory than it may (limits.memory) while no code was executed"
        : stop == LAZ_STOP_HOST ? by
        : stop == LAZ_STOP_UNCOUNTED
            ? "what it has made the kernel keep for it cannot be counted in the time for it "
              "(limits.memory)"
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
static uint64_t guard_tree_cpu(struct laz_guard *guard, const struct laz_tree_look *look)
{
    const uint64_t counted_us = guard_counted_cpu(guard, &look->usage);

    laz_guard_estimate(&guard->estimate, &look->usage, guard->sent_us, look->busy_us, counted_us);
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
    tree->tcp_bytes = session->box->tcp_bytes;
    tree->listeners = session->box->tcp_listeners;
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
    const uint64_t lock_bytes = guard->tree.lock_bytes + guard->tree.network_bytes;

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

static void guard_schedule(struct laz_session *session, const struct guard_duty *duty,
                           const struct laz_tree_usage *tree, uint64_t cpu_us, uint64_t took_us)
{
    const uint64_t pause = guard_pause_ms(session, duty, tree, cpu_us);
    const uint64_t least = laz_guard_least_pause_ms(took_us);

    guard_again(session, pause > least ? pause : least);
}

/* 0: no group counts it, or it has no limit. */
static uint64_t guard_group_cpu_us(const struct laz_session *session, const struct guard_duty *duty)
{
    return duty->cpu_us != LAZ_UNLIMITED && duty->cpu_by ? laz_cgroup_cpu_us(session->box->group)
                                                         : 0;
}

/* ---- looks ---------------------------------------------------------------------------------- */

static void guard_back(void *user);

/* What is remembered of the tree is the look's while it is out. */
static void guard_send(struct laz_session *session, const struct guard_duty *duty,
                       bool only_rebases)
{
    struct laz_guard *guard = &session->guard;
    struct laz_tree_look *look = calloc(1, sizeof *look);

    guard_find_tree(session);
    if (look)
        *look = (struct laz_tree_look){
            .back = guard_back,
            .user = session,
            .tree = guard->tree,
            .only_locks = !duty->watch_tree,
            .enough_bytes = only_rebases ? LAZ_UNLIMITED : duty->memory_bytes,
            .most_us = laz_guard_look_us(&session->shared->values->limits),
        };
    if (!look || !laz_tree_look_send(session->shared->looks, look)) {
        free(look);
        guard_again(session, GUARD_TREE_MOST_MS); /* perhaps only memory was lacking */
        return;
    }
    guard->tree = (struct laz_tree){0};
    guard->look = look;
    guard->steps = guard->ticks = 0;
    guard->only_rebases = only_rebases;
    guard->sent_us = laz_loop_now_us(session->shared->driver->loop);
    guard_again(session, GUARD_TICK_MS);
}

static void guard_look(struct laz_session *session)
{
    static const struct laz_tree_usage none;
    const struct guard_duty duty = guard_duty(session);
    struct laz_guard *guard = &session->guard;

    guard->is_wanted = guard->look != NULL;
    if (guard->is_wanted)
        return;
    guard->ran_from_us = laz_loop_now_us(session->shared->driver->loop);
    guard->unlooked_us = 0;
    const uint64_t cpu_us = guard_group_cpu_us(session, &duty);
    if (guard_stops_cpu(session, &duty, cpu_us))
        return;
    guard_find_tree(session);
    if (duty.watch_tree ||
        (duty.lock_bytes != LAZ_UNLIMITED &&
         (guard->lacking || laz_os_tree_locks_are_due(&guard->tree)) && guard->has_run))
        guard_send(session, &duty, false);
    else if (!guard_stops_memory(session, &duty, &none))
        guard_schedule(session, &duty, &none, cpu_us, 0);
}

/* Is the session idle, and its process still there? */
static bool guard_is_on_watch(const struct laz_session *session)
{
    return !session->execution && !session->guard.why && !laz_box_was_reaped(session->box);
}

static bool guard_may_look(const struct laz_session *session)
{
    return session->execution ? session->execution->stop == LAZ_STOP_NONE
                              : guard_is_on_watch(session);
}

/* A look has found this CPU time. It had not found less at the last result if it was sent after
 * that; else it has missed at most what the processors could do in between. */
static void guard_rebase(struct laz_session *session, uint64_t cpu_us)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t before_us =
        guard->rested_us > guard->sent_us ? guard->rested_us - guard->sent_us : 0;
    const uint64_t base_us = cpu_us + before_us * session->shared->processors;

    guard->looked_us = guard->sent_us;
    guard->known_us = cpu_us;
    if (!guard->rested_us)
        return;
    if (base_us < guard->base_us)
        guard->base_us = base_us;
    if (!before_us)
        guard->rested_us = 0;
}

static void guard_take(struct laz_session *session, const struct laz_tree_look *look)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t used_bytes = look->usage.memory_bytes - look->usage.bound_bytes;
    uint64_t cpu_us = 0;

    if (atomic_load(&guard->tree.is_given_up)) {
        guard_stop(session, LAZ_STOP_UNCOUNTED, 0, "watchdog");
        return;
    }
    if (!look->found) {
        guard->lacking += guard->tree.was_short;
        if (guard->lacking >= GUARD_LACKING)
            guard_stop(session, LAZ_STOP_HOST, 0,
                       "what it uses cannot be counted, because the host lacks descriptors "
                       "(RLIMIT_NOFILE) or memory");
        else
            guard_again(session, GUARD_TREE_MOST_MS);
        return;
    }
    guard->lacking = 0;
    if (!look->only_locks) {
        if (session->execution && used_bytes > guard->peak_bytes)
            guard->peak_bytes = used_bytes;
        cpu_us = guard_tree_cpu(guard, look);
        guard_rebase(session, cpu_us);
    }
    const struct guard_duty duty = guard_duty(session);
    if (duty.cpu_by)
        cpu_us = guard_group_cpu_us(session, &duty);
    if (!guard_stops_cpu(session, &duty, cpu_us) &&
        (guard->only_rebases || !guard_stops_memory(session, &duty, &look->usage)))
        guard_schedule(session, &duty, &look->usage, cpu_us, look->took_us);
}

/* No look is out any more that an execution awaits. */
static void guard_let_go(struct laz_session *session)
{
    if (!session->guard.is_awaited || session->guard.look)
        return;
    session->guard.is_awaited = false;
    laz_session_stir(session);
}

static void guard_back(void *user)
{
    struct laz_session *session = user;
    struct laz_guard *guard = &session->guard;
    struct laz_tree_look *look = guard->look;

    guard->look = NULL;
    guard->tree = look->tree;
    look->tree = (struct laz_tree){0};
    if (guard_may_look(session))
        guard_take(session, look);
    laz_tree_look_free(look);
    if (guard->is_wanted && guard_may_look(session))
        guard_look(session);
    guard_let_go(session);
}

/* It is not back yet. That it waits for a thread is not its session's fault, nor that a busy
 * machine lets its thread go on slowly. */
static void guard_tick(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    const unsigned steps = laz_tree_look_steps(guard->look);

    guard->ticks = !steps ? 0 : steps == guard->steps ? guard->ticks + 1 : 1;
    guard->steps = steps;
    if (guard->ticks < GUARD_TICKS) {
        guard_again(session, GUARD_TICK_MS);
        return;
    }
    laz_tree_look_drop(guard->look);
    guard->look = NULL;
    guard_stop(session, LAZ_STOP_UNCOUNTED, 0, "watchdog");
    guard_let_go(session);
}

static void guard_due(void *user)
{
    struct laz_session *session = user;

    if (!guard_may_look(session))
        return;
    if (session->guard.look)
        guard_tick(session);
    else
        guard_look(session);
}

/* The timer was cancelled. */
static void guard_resume(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t now_us = laz_loop_now_us(session->shared->driver->loop);

    laz_timer_start(guard->timer,
                    guard->due_us > now_us ? (guard->due_us - now_us + 999) / 1000 : 0);
}

/* ---- the life of a session ------------------------------------------------------------------- */

int laz_guard_init(struct laz_guard *guard, struct laz_session *session, struct laz_error *err)
{
    struct laz_session_shared *shared = session->shared;
    int rc = shared->looks ? 0 : laz_looks_new(shared->driver->loop, &shared->looks, err);

    if (rc)
        return rc;
    guard->timer = laz_timer_new(shared->driver->loop, guard_due, session);
    return guard->timer ? 0 : laz_error_nomem(err);
}

void laz_guard_end(struct laz_guard *guard)
{
    laz_timer_cancel(guard->timer);
    laz_tree_look_drop(guard->look);
    guard->look = NULL;
}

void laz_guard_renew(struct laz_guard *guard)
{
    laz_tree_look_drop(guard->look);
    laz_os_tree_forget(&guard->tree);
    *guard = (struct laz_guard){.timer = guard->timer};
}

void laz_guard_start(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;

    guard->base_us = guard->known_us = session->cpu_us;
    /* What an earlier session has left there may have run already, as a package of R. */
    guard->has_run = session->shared->values->sandbox.write.n > 0;
    guard->looked_us = laz_loop_now_us(session->shared->driver->loop);
}

/* Before the first execution of a box nothing in it can have locked files: no code of a session has
 * run. */
static void guard_begin(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    const struct guard_duty duty = guard_duty(session);
    const uint64_t now = laz_loop_now_us(session->shared->driver->loop);
    const bool due = !guard->look && guard->due_us <= now;

    guard->ran_from_us = now;
    if (!guard->has_run)
        guard->looked_us = now;
    if (duty.cpu_us == LAZ_UNLIMITED && duty.memory_bytes == LAZ_UNLIMITED &&
        duty.lock_bytes == LAZ_UNLIMITED)
        return;
    /* most code is quicker than a look */
    uint64_t pause_us =
        1000 * (uint64_t)(duty.watch_tree ? GUARD_TREE_LEAST_MS : GUARD_TREE_MOST_MS);
    const bool looks = guard->unlooked_us >= pause_us || (due && duty.cpu_by);
    if (looks)
        guard_look(session);
    guard->is_awaited = guard->look && (guard->is_wanted || !guard->only_rebases);
    if (guard->look) {
        guard_resume(session);
    } else if (!looks) {
        pause_us -= guard->unlooked_us;
        if (!due && guard->due_us - now < pause_us)
            pause_us = guard->due_us - now;
        laz_timer_start(guard->timer, pause_us / 1000 + 1);
    }
}

void laz_guard_begin(struct laz_session *session)
{
    guard_begin(session);
    session->guard.has_run = true;
}

bool laz_guard_is_awaited(const struct laz_session *session)
{
    return session->guard.is_awaited && !laz_box_is_ended(session->box);
}

/* CPU time of the box at this moment, or a little more, so that nothing of it counts twice: that of
 * the last look, and all that the processors could do since. Where that is much, a look finds out
 * the rest. */
static void guard_set_base(struct laz_session *session, const struct guard_duty *duty)
{
    struct laz_guard *guard = &session->guard;
    const uint64_t now_us = laz_loop_now_us(session->shared->driver->loop);
    const uint64_t ago_us = now_us - guard->looked_us;

    guard->rested_us = 0;
    guard->base_us = session->cpu_us;
    if (duty->cpu_by)
        return;
    guard->rested_us = now_us;
    guard->base_us = guard->known_us + ago_us * session->shared->processors;
    if (ago_us >= GUARD_TREE_LEAST_MS * 1000 && !guard->look)
        guard_send(session, duty, true);
}

void laz_guard_rest(struct laz_session *session)
{
    const unsigned processors = session->shared->processors;
    struct laz_guard *guard = &session->guard;
    struct guard_duty duty = guard_duty(session);

    laz_timer_cancel(guard->timer);
    guard->unlooked_us += laz_loop_now_us(session->shared->driver->loop) - guard->ran_from_us;
    guard->is_awaited = false;
    if (!guard->look)
        guard->due_us = 0;
    if (duty.cpu_us != LAZ_UNLIMITED && !laz_box_was_reaped(session->box))
        guard_set_base(session, &duty);
    if (guard->look) {
        guard_resume(session);
    } else if (duty.cpu_us != LAZ_UNLIMITED && !laz_box_was_reaped(session->box)) {
        duty = guard_duty(session);
        uint64_t left_us = duty.cpu_us > guard->base_us ? duty.cpu_us - guard->base_us : 0;
        guard_again(session, laz_guard_cpu_pause_ms(left_us, processors));
    }
}

const char *laz_guard_idle(struct laz_session *session)
{
    struct laz_guard *guard = &session->guard;
    uint64_t now = laz_loop_now_us(session->shared->driver->loop);

    if (guard->look && laz_tree_look_take(guard->look))
        guard_back(session);
    if (!guard->look && guard->due_us && guard->due_us <= now && guard_is_on_watch(session))
        guard_look(session);
    return guard->why;
}
