/* SPDX-License-Identifier: MIT */
/* job_fsm.c - which event is legal in which phase of a job.
 * Side: host.  Input trusted: yes (events of our own). */
#include "job/job_private.h"

#include "base/fsm.h"

static const char *const phase_names[LAZ_JOB_PHASES] = {
    [LAZ_JOB_NEW] = "new",
    [LAZ_JOB_ACQUIRING] = "acquiring",
    [LAZ_JOB_FILES] = "files",
    [LAZ_JOB_RUNNING] = "running",
    [LAZ_JOB_INTERRUPTING] = "interrupting",
    [LAZ_JOB_FINISHING] = "finishing",
    [LAZ_JOB_DONE] = "done",
};

static const char *const event_names[LAZ_JOB_EVENTS] = {
    [LAZ_JOB_BEGIN] = "begin",         [LAZ_JOB_SEAT] = "seat", [LAZ_JOB_RUN] = "run",
    [LAZ_JOB_INTERRUPT] = "interrupt", [LAZ_JOB_END] = "end",   [LAZ_JOB_REPORT] = "report",
};

#define TO(phase) LAZ_FSM_TO(LAZ_JOB_##phase)

static const unsigned char table[LAZ_JOB_PHASES][LAZ_JOB_EVENTS] = {
    [LAZ_JOB_NEW] = {[LAZ_JOB_BEGIN] = TO(ACQUIRING)},
    [LAZ_JOB_ACQUIRING] = {[LAZ_JOB_SEAT] = TO(FILES), [LAZ_JOB_REPORT] = TO(DONE)},
    [LAZ_JOB_FILES] = {[LAZ_JOB_RUN] = TO(RUNNING),
                       [LAZ_JOB_INTERRUPT] = TO(INTERRUPTING),
                       [LAZ_JOB_END] = TO(FINISHING)},
    [LAZ_JOB_RUNNING] = {[LAZ_JOB_INTERRUPT] = TO(INTERRUPTING), [LAZ_JOB_END] = TO(FINISHING)},
    [LAZ_JOB_INTERRUPTING] = {[LAZ_JOB_END] = TO(FINISHING)},
    [LAZ_JOB_FINISHING] = {[LAZ_JOB_REPORT] = TO(DONE)},
};

static const struct laz_fsm job_fsm = {
    .what = "job",
    .states = phase_names,
    .events = event_names,
    .n_states = LAZ_JOB_PHASES,
    .n_events = LAZ_JOB_EVENTS,
    .table = &table[0][0],
};

bool laz_job_step(enum laz_job_phase *phase, enum laz_job_event event, const struct laz_log *log,
                  const char *job)
{
    unsigned number = *phase;
    bool allowed = laz_fsm_step(&job_fsm, &number, event, log, job);

    *phase = (enum laz_job_phase)number;
    return allowed;
}
