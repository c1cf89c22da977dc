/* SPDX-License-Identifier: MIT */
/* job_fsm.h - the phases of a job and the events that change them. */
#ifndef LAZ_JOB_JOB_FSM_H
#define LAZ_JOB_JOB_FSM_H

#include "base/log.h"

#include <stdbool.h>

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

#endif
