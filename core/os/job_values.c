/* SPDX-License-Identifier: MIT */
/* job_values.c - the limits of a job object of Windows, as numbers.
 *
 * Windows keeps memory limits in pages: they are rounded down to a page here, so that a limit reads
 * back as it was set.  A limit that is too large for its field becomes the largest value, never
 * none. */
#include "os/job_values.h"

#include <lazaret/backend.h>

#include <string.h>

#define JOB_PAGE       UINT64_C(4096)     /* of every processor that Windows runs on today */
#define JOB_TIME_UNITS UINT64_C(10000000) /* of 100 ns in a second */
#define JOB_ALWAYS     (LAZ_JOB_FLAG_KILL_ON_CLOSE | LAZ_JOB_FLAG_DIE_ON_EXCEPTION)
#define JOB_UI                                                                                     \
    (LAZ_JOB_UI_HANDLES | LAZ_JOB_UI_READ_CLIPBOARD | LAZ_JOB_UI_WRITE_CLIPBOARD |                 \
     LAZ_JOB_UI_SYSTEM_PARAMETERS | LAZ_JOB_UI_DISPLAY_SETTINGS | LAZ_JOB_UI_GLOBAL_ATOMS |        \
     LAZ_JOB_UI_DESKTOP | LAZ_JOB_UI_EXIT_WINDOWS)

static uint64_t job_pages(uint64_t bytes)
{
    return bytes < JOB_PAGE ? JOB_PAGE : bytes - bytes % JOB_PAGE;
}

static uint64_t job_time(uint64_t seconds)
{
    return seconds > INT64_MAX / JOB_TIME_UNITS ? INT64_MAX : seconds * JOB_TIME_UNITS;
}

static uint64_t job_count(uint64_t processes)
{
    return processes > UINT32_MAX ? UINT32_MAX : processes;
}

static const struct {
    const char *name;
    uint32_t flag;
    uint64_t (*value)(uint64_t limit);
} job_limits[LAZ_JOB_LIMITS] = {
    [LAZ_JOB_MEMORY] = {"memory", LAZ_JOB_FLAG_MEMORY, job_pages},
    [LAZ_JOB_PROCESS_MEMORY] = {"process_memory", LAZ_JOB_FLAG_PROCESS_MEMORY, job_pages},
    [LAZ_JOB_CPU] = {"cpu", LAZ_JOB_FLAG_TIME, job_time},
    [LAZ_JOB_NPROC] = {"nproc", LAZ_JOB_FLAG_ACTIVE_PROCESS, job_count},
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

void laz_job_values_make(const struct laz_job_limits *limits, struct laz_job_values *values)
{
    *values = (struct laz_job_values){.flags = JOB_ALWAYS, .ui = JOB_UI};
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if (limits->of[i] != LAZ_UNLIMITED) {
            values->flags |= job_limits[i].flag;
            values->of[i] = job_limits[i].value(limits->of[i]);
        }
}

uint32_t laz_job_values_missing(const struct laz_job_values *asked,
                                const struct laz_job_values *found)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if ((asked->flags & job_limits[i].flag) &&
            (!(found->flags & job_limits[i].flag) || asked->of[i] != found->of[i]))
            missing |= 1u << i;
    return missing;
}
