/* SPDX-License-Identifier: MIT */
/* group.h - what the files of a group share, and tests see. The public functions are in
 * lazaret/lazaret.h.
 *
 * A *lane* is one engine and the thread that alone uses it.  What another thread wants of an
 * engine it hands over as a post of its loop.  Locks: of a lane, held to hand over; of a pool, for
 * its queue; of the group, for its list of pools.  None is held while an engine makes a step or a
 * callback runs. */
#ifndef LAZ_GROUP_GROUP_H
#define LAZ_GROUP_GROUP_H

#include "engine/engine.h"
#include "job/job.h"
#include "job/pool.h"

#include <lazaret/lazaret.h>

#include <pthread.h>
#include <stdatomic.h>

#define GROUP_MOST      64u /* engines */
#define GROUP_LINE      64u /* bytes of a cache line */
#define GROUP_PAUSE_MS  100u
#define GROUP_PAUSE_MAX 30000u
#define GROUP_AGAIN_MS                                                                             \
    10u /* how often an engine that ends is cancelled while a run is made there */

/* Executions that an engine was given and has not reported, and starts that have failed a moment
 * ago. Written by callers and by the engine's thread, so nothing else is near it. */
struct group_load {
    char before[GROUP_LINE];
    atomic_uint n;
    char after[GROUP_LINE - sizeof(atomic_uint)];
};

/* Who waits for another thread. */
struct group_wait {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over;
};

struct group_lane {
    struct laz_group *group;
    unsigned number;
    pthread_t thread;
    struct laz_engine *engine; /* made and freed by the thread */
    pthread_mutex_t lock;      /* held to post to its loop: nothing is posted after `end` */
    struct laz_post end;
    /* Only for the thread: */
    bool ends;
    struct laz_stir stir;             /* for calls that were handed over */
    struct group_call *calls, **last; /* in this order */
    struct group_run *runs, **last_run;
    struct laz_timer *pause; /* failed starts count as load until then; NULL: not any more. When it
                                ends: the next cancel */
    uint64_t pause_ms;       /* the last one; 0: none since a start has succeeded */
    unsigned held;           /* failed starts that count */
    unsigned pooled;         /* sessions of pools; by the lock of the group */
    struct group_load load;
};

struct laz_group {
    struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_engine_options options;
    int64_t process; /* that has made it, and its forks: see struct laz_driver */
    uint32_t forks;
    atomic_uint turn;       /* which of equally loaded engines is next */
    atomic_uint pooled;     /* sessions of pools */
    atomic_uint cancels;    /* how often laz_group_cancel was called: calls older than that end */
    atomic_uint cancelling; /* threads that are in it */
    atomic_uint
        inside; /* threads that are in another function, and use the group until they leave */
    atomic_bool closed;
    pthread_mutex_t lock;
    struct laz_group_pool *pools; /* by `lock` */
    unsigned n;
    struct group_lane lanes[];
};

/* ---- threads: group_threads.c ---------------------------------------------------------------- */

/* Makes an engine on a thread of its own. Errors: of laz_engine_new; LAZ_EOS. */
int group_lane_begin(struct group_lane *lane, const struct laz_engine_beside *beside,
                     struct laz_error *err);
/* Of a group that is closed: the thread is told to end; waits for that. */
void group_lane_end(struct group_lane *lane);
void group_lane_join(struct group_lane *lane);
/* Has `post` run by the loop of the engine. LAZ_ECLOSED: it ends. */
int group_hand_over(struct group_lane *lane, struct laz_post *post, struct laz_error *err);
/* Calls `run` on the thread of the engine, between two steps, and waits for its end. The caller is
 * another thread. */
int group_run_at(struct group_lane *lane, void (*run)(void *user, struct laz_engine *engine),
                 void *user, struct laz_error *err);
/* What an execution shows of the starts of its engine. */
enum group_start {
    GROUP_START_UNKNOWN, /* it may not have come so far */
    GROUP_START_GOOD,
    GROUP_START_FAILED,
};
/* Thread of the engine: one of its executions was reported. */
void group_lane_done(struct group_lane *lane, enum group_start start);
void group_wait_init(struct group_wait *wait);
void group_wait_over(struct group_wait *wait); /* the last that its caller does with it */
void group_wait(struct group_wait *wait);      /* waits, and undoes it */

/* ---- who may call: group_check.c ---------------------------------------------------------------
 */

/* May this thread wait for an engine of it? LAZ_EINVAL; LAZ_EREFUSED: not this process; LAZ_EBUSY:
 * it is that of an engine, or calls back. */
int group_check_wait(const struct laz_group *group, struct laz_error *err);
/* Must it not be freed now, because this is a callback, also of a tool on a worker thread of an
 * engine, or of the log? Then that is logged. */
bool group_refuses_free(const struct laz_group *group);
/* The same, or only the first two; then laz_group_free waits until the caller has left. */
int group_enter(struct laz_group *group, bool waits, struct laz_error *err);
void group_leave(struct laz_group *group);
/* A thread that is none of an engine calls back callers of the group; NULL: not any more. Returns
 * what was before. */
const struct laz_group *group_calls_back(const struct laz_group *group);
int group_is_closed(struct laz_error *err);

/* ---- calls: group_call.c --------------------------------------------------------------------- */

/* One execution, from the call to its report. */
struct group_call {
    struct laz_post post; /* to the engine */
    struct group_call *next;
    struct group_lane *lane; /* whose engine has it */
    unsigned cancels;        /* of the group, when it was made */
    struct laz_job *job;     /* the engine's once it has begun */
    struct group_part *part; /* of one in a pool, that has taken it, as the next three */
    uint64_t wait_ms, due_ms;
    bool has_due; /* the clock of its wait runs */
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

/* Copies everything; `session` NULL: it is for one of a pool. Errors: LAZ_EINVAL, LAZ_EREFUSED,
 * LAZ_ENOMEM. */
int group_call_new(struct laz_group *group, const struct laz_job_asked *asked,
                   struct group_call **call, struct laz_error *err);
void group_call_free(struct group_call *call);
/* Frees it, and calls back. On the thread of an engine between laz_driver_begin_callback and
 * laz_driver_end_callback. */
void group_call_report(struct group_call *call, struct laz_result *result,
                       const struct laz_error *err);
/* Thread of its engine: begins one that was handed over. */
void group_call_begin(struct group_call *call);
/* Thread of its engine: begins its job. */
int group_call_run(struct group_call *call, const struct laz_place *place, struct laz_error *err);
/* What its job calls at its end, with the call, in place of the caller. */
void group_call_ended(void *user, struct laz_result *result, const struct laz_error *err);
/* Was laz_group_cancel called since it was made? */
bool group_call_is_cancelled(const struct group_call *call, const struct laz_group *group);

/* Where a synchronous call gets its result. */
struct group_caller {
    struct group_wait wait;
    struct laz_result *result;
    struct laz_error err;
};
void group_caller_told(void *user, struct laz_result *result, const struct laz_error *err);
/* rc: of the asynchronous call; what the synchronous one returns. */
int group_caller_wait(struct group_caller *caller, int rc, struct laz_result **result,
                      struct laz_error *err);

/* ---- pools: group_pool.c --------------------------------------------------------------------- */

/* Thread of its engine: a call that it has taken has ended, and its session is back. */
void group_part_done(struct group_part *part);
/* Those that are left are closed: callers that wait are told on this thread. */
void group_pools_close(struct laz_group *group);
/* Thread of an engine that ends: nothing of a pool is on its loop any more. */
void group_pools_leave(struct group_lane *lane);
/* All threads have ended. */
void group_pools_free(struct laz_group *group);

#endif
