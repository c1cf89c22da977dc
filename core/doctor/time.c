/* SPDX-License-Identifier: MIT */
/* time.c - the time that the doctor takes at most.
 *
 * Where a machine is too slow, or a box hangs, the answer comes in time all the same, and says what
 * was not tried. That is never taken for a success. A thread waits for the end, because the doctor
 * itself waits for the session in which it is trying something. */
#include "doctor/doctor_private.h"

#include "base/clock.h"
#include "os/thread.h"

#include <errno.h>

#define TIME_AGAIN_US 50000 /* what is to be cancelled may not have begun */

static void *time_watch(void *user)
{
    struct laz_doctor *doctor = user;
    struct doctor_time *time = &doctor->time;
    uint64_t next_us = time->end_us;

    pthread_mutex_lock(&time->lock);
    while (!time->is_over) {
        if (laz_os_condition_wait(&time->changed, &time->lock, next_us) || time->is_over)
            continue;
        pthread_mutex_unlock(&time->lock);
        doctor_sessions_cancel(doctor);
        pthread_mutex_lock(&time->lock);
        next_us = laz_clock_us() + TIME_AGAIN_US;
    }
    pthread_mutex_unlock(&time->lock);
    return NULL;
}

int doctor_time_start(struct laz_doctor *doctor, struct laz_error *err)
{
    struct doctor_time *time = &doctor->time;
    uint64_t ms = DOCTOR_TIME_MS;

    if (doctor_setting(doctor, "session.deadline", NULL, NULL))
        ms = doctor->values->session.deadline_ms;
    time->started_us = laz_clock_us();
    time->end_us = ms ? time->started_us + ms * 1000 : UINT64_MAX;
    if (!ms)
        return 0;
    pthread_mutex_init(&time->lock, NULL);
    laz_os_condition_init(&time->changed);
    int failed = laz_os_thread(&time->thread, 0, time_watch, doctor);
    if (failed)
        return laz_error_start(err, failed, "the thread that watches the time cannot be started");
    time->is_running = true;
    return 0;
}

void doctor_time_stop(struct laz_doctor *doctor)
{
    struct doctor_time *time = &doctor->time;

    if (!time->is_running)
        return;
    pthread_mutex_lock(&time->lock);
    time->is_over = true;
    pthread_cond_signal(&time->changed);
    pthread_mutex_unlock(&time->lock);
    pthread_join(time->thread, NULL);
    pthread_cond_destroy(&time->changed);
    pthread_mutex_destroy(&time->lock);
    time->is_running = false;
}

bool doctor_is_late(const struct laz_doctor *doctor)
{
    return laz_clock_us() >= doctor->time.end_us;
}

char *doctor_problem(const struct laz_error *err)
{
    return err->code != LAZ_ETIMEOUT && err->os_errno == ETIMEDOUT
               ? laz_strdupf("%s; %s", err->text, DOCTOR_MORE_TIME)
               : laz_strdup(err->text);
}

int doctor_may_begin(const struct laz_doctor *doctor, struct laz_error *err)
{
    return doctor_is_late(doctor) ? laz_error_set(err, LAZ_ETIMEOUT, 0, DOCTOR_OUT_OF_TIME) : 0;
}

int doctor_ended(const struct laz_doctor *doctor, int rc, struct laz_error *err)
{
    if (rc != LAZ_ECANCELLED || atomic_load(&doctor->interrupted) || !doctor_is_late(doctor))
        return rc;
    *err = (struct laz_error){0};
    return doctor_may_begin(doctor, err);
}
