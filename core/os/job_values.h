/* SPDX-License-Identifier: MIT */
/* job_values.h - the limits of a job object of Windows, as numbers.
 *
 * The values for SetInformationJobObject, and those that QueryInformationJobObject must return, as
 * plain fields: compiled and tested on every system, so the file that calls Windows only copies
 * them.  A system may report success and not keep a limit, so a limit counts as kept only when it
 * reads back as it was set. */
#ifndef LAZ_OS_JOB_VALUES_H
#define LAZ_OS_JOB_VALUES_H

#include <stdint.h>

enum laz_job_limit {
    LAZ_JOB_MEMORY,         /* "memory": bytes of all processes together */
    LAZ_JOB_PROCESS_MEMORY, /* "process_memory": bytes of each process */
    LAZ_JOB_CPU,            /* "cpu": seconds of user time of all together */
    LAZ_JOB_NPROC,          /* "nproc": processes at the same time */
    LAZ_JOB_LIMITS          /* how many there are */
};

struct laz_job_limits {
    uint64_t of[LAZ_JOB_LIMITS]; /* LAZ_UNLIMITED: none */
};

/* Fields of JOBOBJECT_EXTENDED_LIMIT_INFORMATION (JobMemoryLimit and ProcessMemoryLimit in bytes,
 * PerJobUserTimeLimit in 100 ns, ActiveProcessLimit), and UIRestrictionsClass of
 * JOBOBJECT_BASIC_UI_RESTRICTIONS. Those whose flag is not set are 0. */
struct laz_job_values {
    uint32_t flags; /* BasicLimitInformation.LimitFlags */
    uint64_t of[LAZ_JOB_LIMITS];
    uint32_t ui; /* not counted as enforced: Windows refuses a job with it where the host itself is
                    in a job; then the job is made without */
};

/* JOB_OBJECT_LIMIT_*, as winnt.h has them. */
#define LAZ_JOB_FLAG_TIME             0x00000004u
#define LAZ_JOB_FLAG_ACTIVE_PROCESS   0x00000008u
#define LAZ_JOB_FLAG_PROCESS_MEMORY   0x00000100u
#define LAZ_JOB_FLAG_MEMORY           0x00000200u
#define LAZ_JOB_FLAG_DIE_ON_EXCEPTION 0x00000400u
#define LAZ_JOB_FLAG_BREAKAWAY        0x00000800u /* never set */
#define LAZ_JOB_FLAG_SILENT_BREAKAWAY 0x00001000u /* never set */
#define LAZ_JOB_FLAG_KILL_ON_CLOSE    0x00002000u

/* JOB_OBJECT_UILIMIT_*, as winnt.h has them. */
#define LAZ_JOB_UI_HANDLES           0x00000001u /* windows of processes outside */
#define LAZ_JOB_UI_READ_CLIPBOARD    0x00000002u
#define LAZ_JOB_UI_WRITE_CLIPBOARD   0x00000004u
#define LAZ_JOB_UI_SYSTEM_PARAMETERS 0x00000008u
#define LAZ_JOB_UI_DISPLAY_SETTINGS  0x00000010u
#define LAZ_JOB_UI_GLOBAL_ATOMS      0x00000020u
#define LAZ_JOB_UI_DESKTOP           0x00000040u
#define LAZ_JOB_UI_EXIT_WINDOWS      0x00000080u

struct laz_job_limits laz_job_limits_none(void);
/* The limit of this name; LAZ_JOB_LIMITS: there is none. And its name; static text. */
enum laz_job_limit laz_job_limit_find(const char *name);
const char *laz_job_limit_name(enum laz_job_limit limit);

/* The values to set for these limits. Whatever they are, the job ends with its last handle, no
 * process leaves it, and a process that fails ends without a window that waits for a user. */
void laz_job_values_make(const struct laz_job_limits *limits, struct laz_job_values *values);
/* The limits that were requested and do not hold: bits 1 << LAZ_JOB_*. `found` was read back before
 * any process ran in the job. */
uint32_t laz_job_values_missing(const struct laz_job_values *asked,
                                const struct laz_job_values *found);

#endif
