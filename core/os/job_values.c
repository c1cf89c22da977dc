/* SPDX-License-Identifier: MIT */
/* job_values.c - the limits of a job object of Windows, as numbers.
 *
 * Windows keeps memory limits in pages: they are rounded down to a page here, so that a limit reads
 * back as it was set.  A limit that is too large for its field becomes the largest value, never
 * none. */
#include "os/job_values.h"

#include <lazaret/backend.h>

#include <stdbool.h>
#include <string.h>

#define JOB_PAGE       UINT64_C(4096)     /* of every processor that Windows runs on today */
#define JOB_TIME_UNITS UINT64_C(10000000) /* of 100 ns in a second */
#define JOB_ALWAYS     (LAZ_JOB_FLAG_KILL_ON_CLOSE | LAZ_JOB_FLAG_DIE_ON_EXCEPTION)
#define JOB_UI                                                                                     \
    (LAZ_JOB_UI_HANDLES | LAZ_JOB_UI_READ_CLIPBOARD | LAZ_JOB_UI_WRITE_CLIPBOARD |                 \
     LAZ_JOB_UI_SYSTEM_PARAMETERS | LAZ_JOB_UI_DISPLAY_SETTINGS | LAZ_JOB_UI_GLOBAL_ATOMS |        \
     LAZ_JOB_UI_DESKTOP | LAZ_JOB_UI_EXIT_WINDOWS)

static const struct {
    const char *name;
    uint32_t flag;
} job_limits[LAZ_JOB_LIMITS] = {
    [LAZ_JOB_MEMORY] = {"memory", LAZ_JOB_FLAG_MEMORY},
    [LAZ_JOB_PROCESS_MEMORY] = {"process_memory", LAZ_JOB_FLAG_PROCESS_MEMORY},
    [LAZ_JOB_CPU] = {"cpu", LAZ_JOB_FLAG_TIME},
    [LAZ_JOB_NPROC] = {"nproc", LAZ_JOB_FLAG_ACTIVE_PROCESS},
};

struct laz_job_limits laz_job_limits_none(void)
{
    struct laz_job_limits none;

    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        none.of[i] = LAZ_UNLIMITED;
    return none;
}

enum laz_job_limit laz_job_limit_find(const char *name)
{
    size_t i = 0;

    while (i < LAZ_JOB_LIMITS && strcmp(job_limits[i].name, name) != 0)
        i++;
    return (enum laz_job_limit)i;
}

const char *laz_job_limit_name(enum laz_job_limit limit)
{
    return job_limits[limit].name;
}

static uint64_t job_pages(uint64_t bytes)
{
    return bytes < JOB_PAGE ? JOB_PAGE : bytes - bytes % JOB_PAGE;
}

static int64_t job_time(uint64_t seconds)
{
    return seconds > INT64_MAX / JOB_TIME_UNITS ? INT64_MAX : (int64_t)(seconds * JOB_TIME_UNITS);
}

void laz_job_values_make(const struct laz_job_limits *limits, struct laz_job_values *values)
{
    const uint64_t *of = limits->of;

    *values = (struct laz_job_values){.flags = JOB_ALWAYS, .ui = JOB_UI};
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if (of[i] != LAZ_UNLIMITED)
            values->flags |= job_limits[i].flag;
    if (values->flags & LAZ_JOB_FLAG_MEMORY)
        values->job_memory_bytes = job_pages(of[LAZ_JOB_MEMORY]);
    if (values->flags & LAZ_JOB_FLAG_PROCESS_MEMORY)
        values->process_memory_bytes = job_pages(of[LAZ_JOB_PROCESS_MEMORY]);
    if (values->flags & LAZ_JOB_FLAG_TIME)
        values->user_time = job_time(of[LAZ_JOB_CPU]);
    if (values->flags & LAZ_JOB_FLAG_ACTIVE_PROCESS)
        values->active_processes =
            of[LAZ_JOB_NPROC] > UINT32_MAX ? UINT32_MAX : (uint32_t)of[LAZ_JOB_NPROC];
}

uint32_t laz_job_values_missing(const struct laz_job_values *asked,
                                const struct laz_job_values *found)
{
    const bool is_equal[LAZ_JOB_LIMITS] = {
        [LAZ_JOB_MEMORY] = asked->job_memory_bytes == found->job_memory_bytes,
        [LAZ_JOB_PROCESS_MEMORY] = asked->process_memory_bytes == found->process_memory_bytes,
        [LAZ_JOB_CPU] = asked->user_time == found->user_time,
        [LAZ_JOB_NPROC] = asked->active_processes == found->active_processes,
    };
    uint32_t missing = 0;

    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if ((asked->flags & job_limits[i].flag) &&
            (!(found->flags & job_limits[i].flag) || !is_equal[i]))
            missing |= 1u << i;
    return missing;
}
