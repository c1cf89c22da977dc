/* SPDX-License-Identifier: MIT */
/* guard.h - the limits of a session as a whole that only the host enforces: its CPU time, locks of
 * files and sockets of its network, and, without a control group, its memory. All functions are for
 * the loop thread. */
#ifndef LAZ_SESSION_GUARD_H
#define LAZ_SESSION_GUARD_H

#include "base/limits.h"
#include "os/process_tree.h"

#include <stdbool.h>
#include <stdint.h>

struct laz_tree_look;
struct laz_session;
struct laz_timer;

/* CPU time of processes that were made and had ended between two looks, and that no process has
 * waited for: the kernel adds it to no sum, so it is estimated (laz_guard_estimate). */
struct laz_guard_estimate {
    uint64_t us;      /* so far */
    uint64_t look_us; /* time of the previous look */
    /* When such a process was found for the first time: what the machine's processors had done,
     * and how much of it is accounted for; 0: none was found. */
    uint64_t busy_us, accounted_us;
};

/* Part of a session; all but the timer is of its box. */
struct laz_guard {
    struct laz_timer *timer; /* for the next look, or while one is out; cancelled with the box */
    uint64_t due_us;         /* no limit can be reached before this time (laz_loop_now_us) */
    uint64_t base_us;        /* CPU time of the box at the last result; limits.cpu counts from it */
    uint64_t ran_from_us;    /* when this execution began, or was looked at last */
    uint64_t unlooked_us;    /* time of executions since the last look, without this one */
    uint64_t seen_us;        /* CPU time of the process tree at the last look */
    uint64_t lost_us;        /* CPU time of processes that ended without being waited for */
    uint64_t peak_bytes;     /* the largest memory use of the process tree at any look */
    unsigned lacking;        /* looks in succession for which the host lacked something */
    const char *why;         /* it has ended the idle session: a clause; NULL: it has not */
    bool has_run;            /* code of a session may have run in the box */
    struct laz_tree tree;    /* while no look is out */
    struct laz_guard_estimate estimate;
    bool in_flight; /* the memory at the last look was over the limit, by what is in flight */

    struct laz_tree_look *look; /* that is out; NULL: none */
    unsigned steps, ticks;      /* how far it was, and for how many ticks of the timer */
    bool only_rebases;          /* it is made for base_us, and memory is not judged */
    bool is_wanted;             /* another one has to follow */
    bool is_awaited;            /* the execution has no result before that */
    uint64_t sent_us;           /* when, as laz_loop_now_us */
    /* When the last one that is back was sent, and the CPU time that it has found. */
    uint64_t looked_us, known_us;
    uint64_t rested_us; /* since then base_us is a bound, until a look says more; 0: it is exact */
};

/* Makes what sessions share, too, if there is none yet. Errors: LAZ_ENOMEM, LAZ_EOS. */
int laz_guard_init(struct laz_guard *guard, struct laz_session *session, struct laz_error *err);
/* Its box is given up: a look that is out is dropped. */
void laz_guard_end(struct laz_guard *guard);
/* The session gets another box, or has lost its last one: forgets all but the timer. */
void laz_guard_renew(struct laz_guard *guard);
/* The session is idle for the first time: what its box has used so far does not count. */
void laz_guard_start(struct laz_session *session);
/* An execution begins. Ends one that comes too late already. */
void laz_guard_begin(struct laz_session *session);
/* The outcome of an execution is there: is there a look out that was due when it began, and may
 * judge it? Then the session is advanced when that is back. */
bool laz_guard_is_awaited(const struct laz_session *session);
/* Its result is there, session->cpu_us is up to date, and the box is kept: from now on an idle
 * session is guarded. */
void laz_guard_rest(struct laz_session *session);
/* For an idle session whose loop may have stood still: has a look made, if one is due, and kills a
 * box that has reached a limit when that is back, at the latest with this call. Why it was killed,
 * a clause (static text); NULL: it was not. */
const char *laz_guard_idle(struct laz_session *session);
/* The CPU time that one look may take: what a session may make under its limits can be seen in it
 * many times over. */
uint64_t laz_guard_look_us(const struct laz_limit_values *limits);
/* Pauses between two looks, in milliseconds, for what is left of a limit. */
uint64_t laz_guard_cpu_pause_ms(uint64_t left_us, unsigned processors);
uint64_t laz_guard_memory_pause_ms(uint64_t left_bytes, unsigned processors);
/* The least pause, in milliseconds, after a look that took so much CPU time. */
uint64_t laz_guard_least_pause_ms(uint64_t took_us);
/* Adds to an estimate what `tree` shows. The processes that are gone were using processors at the
 * previous look; as if others had followed them, that use is taken for the time since then. It is
 * at most what the machine was busy (`busy_us`, laz_os_busy_us) with nothing `accounted_us` for.
 * `now_us`: the time of this look. */
void laz_guard_estimate(struct laz_guard_estimate *estimate, const struct laz_tree_usage *tree,
                        uint64_t now_us, uint64_t busy_us, uint64_t accounted_us);

#endif
