/* SPDX-License-Identifier: MIT */
/* job_private.h - what the files of core/job share. All functions are for the thread that holds the
 * loop. */
#ifndef LAZ_JOB_JOB_PRIVATE_H
#define LAZ_JOB_JOB_PRIVATE_H

#include "job/job.h"

/* ---- phases: job_fsm.c ----------------------------------------------------------------------- */

enum laz_job_phase {
    LAZ_JOB_NEW,          /* it belongs to who has made it */
    LAZ_JOB_ACQUIRING,    /* it waits for a seat */
    LAZ_JOB_FILES,        /* it has one, and its files are put */
    LAZ_JOB_RUNNING,      /* its code runs, or waits for its hook or its session */
    LAZ_JOB_INTERRUPTING, /* what runs was asked to end */
    LAZ_JOB_FINISHING,    /* it has its outcome; the seat is being released */
    LAZ_JOB_DONE,         /* it is reported */
    LAZ_JOB_PHASES,
};

enum laz_job_event {
    LAZ_JOB_BEGIN,
    LAZ_JOB_SEAT,      /* the place has yielded one */
    LAZ_JOB_RUN,       /* all files are there */
    LAZ_JOB_INTERRUPT, /* it is cancelled */
    LAZ_JOB_END,       /* it has its outcome */
    LAZ_JOB_REPORT,    /* the seat is released, or there is none */
    LAZ_JOB_EVENTS,
};

/* The only setter of the phase; as laz_session_step. */
bool laz_job_step(enum laz_job_phase *phase, enum laz_job_event event, const struct laz_log *log,
                  const char *job);

/* ---- seats and places ------------------------------------------------------------------------ */

/* What a job does in the session that its place has yielded. What is asked of a seat is answered by
 * laz_job_answered, later or, for a caller who waits, in the call. */
struct laz_seat_ops {
    int (*put_file)(struct laz_job *job, const struct laz_file *file, struct laz_error *err);
    int (*execute)(struct laz_job *job, struct laz_error *err); /* or check */
    /* What was asked is to end, and is answered. */
    void (*interrupt)(struct laz_job *job);
    /* The same, and it is answered in here. */
    void (*cancel)(struct laz_job *job);
    /* The job has ended: laz_job_released comes, in here where job->is_abandoned. */
    void (*release)(struct laz_job *job);
};

/* A session of this engine that a job has. */
struct laz_seat {
    const struct laz_seat_ops *ops; /* NULL: it has no seat */
    struct laz_session *session;
    struct laz_session_owner owner; /* of a fresh one */
    struct laz_stir stir;           /* that the owner lists */
    unsigned stage;                 /* of its release */
    bool starts, keeps, is_last;    /* struct laz_request */
};

struct laz_place_ops {
    /* Yields a seat: in here (laz_seat_take), or later, by laz_job_seated. LAZ_ECLOSED, LAZ_EBUSY,
     * ... */
    int (*acquire)(struct laz_job *job, struct laz_error *err);
    /* A job with this `wait` waits no more: laz_job_unseated comes in here. NULL: none ever waits.
     */
    void (*forgo)(void *wait);
    /* The caller who has waited for a job leaves with its outcome; it may have had no seat. NULL:
     * nothing is to be done. */
    void (*left)(struct laz_job *job);
};

struct laz_job {
    struct laz_job *next, **at; /* of those of its engine; at: what leads to it */
    struct laz_place place;
    struct laz_seat seat;
    enum laz_job_phase phase;
    enum laz_asked asked;
    const char *code; /* of a caller who waits, or `copy` */
    size_t len;
    char *copy;
    struct laz_execute_options options; /* complete, once it has begun */
    struct laz_execute_options plain;   /* of what is not the code: the settings alone */
    struct laz_session_options session; /* of a fresh one */
    struct laz_kept *kept;              /* what these point to */
    size_t n_put;                       /* files that were asked for */
    bool has_run;                       /* its code was asked for */
    bool is_awaited;                    /* its caller waits, and frees it */
    bool is_abandoned;                  /* nobody waits for the end of its session */
    bool is_refused;                    /* it could not begin: its caller gets the error */
    void *wait;                         /* for a pool */
    struct laz_result *result;
    struct laz_error err; /* code 0: there is a result */
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

/* The place has a seat for a job that has waited, or none, for this reason. */
void laz_job_seated(struct laz_job *job);
void laz_job_unseated(struct laz_job *job, const struct laz_error *why);
/* What was asked of the seat has ended. */
void laz_job_answered(struct laz_job *job, struct laz_result *result, const struct laz_error *err);
/* The seat is released: the job is reported, and freed. */
void laz_job_released(struct laz_job *job);

/* As laz_job_abandon; the driver is held. */
void laz_job_drop(struct laz_job *job);

/* job_seat.c: takes a session of this engine as the seat; `release` begins with laz_seat_leave. */
void laz_seat_take(struct laz_job *job, struct laz_session *session,
                   const struct laz_seat_ops *ops);
/* The session is nobody's. It may be freed by laz_session_settle, which comes next. */
void laz_seat_leave(struct laz_job *job);
/* For the tables of operations: what all seats of this engine do. */
int laz_seat_put_file(struct laz_job *job, const struct laz_file *file, struct laz_error *err);
int laz_seat_execute(struct laz_job *job, struct laz_error *err);
void laz_seat_interrupt(struct laz_job *job);
void laz_seat_cancel(struct laz_job *job);
#define LAZ_SEAT_OPS(how)                                                                          \
    {                                                                                              \
        .put_file = laz_seat_put_file, .execute = laz_seat_execute,                                \
        .interrupt = laz_seat_interrupt, .cancel = laz_seat_cancel, .release = (how)               \
    }

#endif
