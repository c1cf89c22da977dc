/* SPDX-License-Identifier: MIT */
/* plan.h - a plan: the data that a backend makes from a policy, to be shown or spawned. */
#ifndef LAZ_PLAN_PLAN_H
#define LAZ_PLAN_PLAN_H

#include "base/error.h"
#include "base/limits.h"
#include "os/job_values.h"
#include "wire/message.h"

struct laz_plan_data {
    char *what;
    int child_fd;
    struct laz_buf content;
};

struct laz_plan_file {
    char *path;
    struct laz_buf content;
};

struct laz_plan_word {
    uint32_t bits;
    char *mechanism;
    bool weakly;
};

/* A step of the confinement that the agent applies to itself; see core/agent/confine.c. */
struct laz_plan_step {
    bool asked;
    uint32_t bits; /* LAZ_ENFORCE_* that only this step enforces */
};

struct laz_plan_unmet { /* a limit of the policy that nothing enforces */
    char *name, *why;
};

struct laz_plan {
    char *backend;
    char *directory; /* directory where files are written; NULL if the plan is only shown */
    struct laz_strv argv, env;
    struct laz_plan_data *data;
    size_t n_data;
    struct laz_plan_file *files;
    size_t n_files;
    int status_fd; /* descriptor number in the child; -1: none */
    int next_fd;
    struct laz_wire_confine agent; /* what it is told; its texts are the plan's */
    struct laz_plan_step filter, landlock;
    struct laz_job_limits job;         /* limits of the box as a whole */
    uint32_t job_bits[LAZ_JOB_LIMITS]; /* LAZ_ENFORCE_* that only this limit enforces */
    struct laz_plan_unmet *unmet;
    size_t n_unmet;
    struct laz_plan_word *words;
    size_t n_words;
    uint32_t enforces;        /* LAZ_ENFORCE_* */
    uint32_t require;         /* LAZ_ENFORCE_* that the settings require */
    uint32_t ends_by;         /* LAZ_END_* */
    bool any_program;         /* any visible program may be executed */
    struct laz_strv programs; /* else these may be, from the policy */
    struct laz_strv protects; /* paths of the host that stay read-only in writable directories */
    const char *confine;      /* borrowed: result of laz_plan_confine_json; NULL: made from above */
    char *unknown;            /* name of an unknown limit of a job: a fault of the backend */
    bool failed;              /* an allocation failed */
};

/* What the host enforces itself, with any backend: the mechanisms of the session's control group
 * ("cgroup-v2"; NULL: none), and whether the watchdog checks what no group limits. */
struct laz_plan_host {
    const char *memory, *nproc, *cpu;
    bool is_watched;
    bool is_out_of_reach;                   /* the session's uid cannot change the group */
    const struct laz_limit_values *limits;  /* of the settings; borrowed */
    const char *misses_cpu, *misses_memory; /* what the watchdog cannot count; NULL: not known */
};

/* Makes a plan, which the caller frees: calls the backend's `plan`, and checks that it declares no
 * bit that it cannot enforce and all bits of `require` (else LAZ_EREFUSED, naming each missing one
 * and the remedy). `directory`: directory for the plan's files, which may not exist yet; NULL: the
 * plan is only shown. `host`: what the host enforces itself; NULL: nothing. Other errors:
 * LAZ_EPLUGIN, LAZ_ENOMEM, those of the backend. */
int laz_plan_make(const struct laz_backend_ops *ops, const char *backend,
                  const struct laz_policy *policy, const struct laz_plan_host *host,
                  uint32_t require, const char *directory, struct laz_plan **plan,
                  struct laz_error *err);
/* Makes the plan of a session that is cloned from a template with this plan: what it enforces and
 * how it ends, without command and files. `confine`: JSON of the template's plan, borrowed until
 * the new plan is freed. LAZ_ENOMEM. */
int laz_plan_of_session(const struct laz_plan *plan, const char *confine, struct laz_plan **of,
                        struct laz_error *err);
void laz_plan_free(struct laz_plan *plan);
/* True if the backend is for this system ("linux", "darwin", "windows"). */
bool laz_backend_is_for(const struct laz_backend_ops *ops, const char *platform);
/* True if the backend can hide files; else sandbox.programs has no effect either. */
bool laz_backend_hides_files(const struct laz_backend_ops *ops);
/* True if boxes of the backend have their own file system. */
bool laz_backend_has_own_files(const struct laz_backend_ops *ops);
/* Takes the agent's report of the confinement `steps` (names) that are in force. The report can
 * only remove bits: *lost are those of planned steps that are missing, and the plan loses them.
 * LAZ_ESETUP if one of them is required. */
int laz_plan_confined(struct laz_plan *plan, const struct laz_strv *steps, uint32_t *lost,
                      struct laz_error *err);
/* Takes the limits of the job (1 << LAZ_JOB_*) that the host has set but that are not in force when
 * read back. The plan loses their bits (*lost); their names are appended to `names`. LAZ_ESETUP if
 * one of the bits is required, or if `strict` (sandbox.strict) and any limit is missing. */
int laz_plan_job_lacks(struct laz_plan *plan, uint32_t missing, bool strict, uint32_t *lost,
                       struct laz_buf *names, struct laz_error *err);
/* Appends the member `confine` of the message `init`: {"limits":{...},"filter":...}. */
void laz_plan_confine_json(const struct laz_plan *plan, struct laz_buf *json);
/* Appends {"backend":..., "enforces":[...], "mechanisms":{...}, "programs":...}. */
void laz_plan_isolation_json(const struct laz_plan *plan, struct laz_buf *json);
/* Appends the whole plan as JSON, the member "plan" of what `lazaret plan --json` prints. */
void laz_plan_json(const struct laz_plan *plan, struct laz_buf *json);
/* Appends the whole plan as text for people. */
void laz_plan_text(const struct laz_plan *plan, struct laz_buf *text);

#endif
