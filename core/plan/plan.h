/* SPDX-License-Identifier: MIT */
/* plan.h - a plan as data: what a backend made of a policy, ready to be shown or spawned. */
#ifndef LAZ_PLAN_PLAN_H
#define LAZ_PLAN_PLAN_H

#include "base/buf.h"
#include "base/error.h"
#include "os/job_values.h"

#include <lazaret/backend.h>

struct laz_plan_data {
    char *what;
    int child_fd;
    struct laz_buf content;
};

struct laz_plan_file {
    char *name;
    char *path;
    struct laz_buf content;
};

struct laz_plan_word {
    uint32_t bits;
    char *mechanism;
    bool weakly;
};

struct laz_plan_limit {
    char name[16];
    uint64_t value;
};

/* Confinement that the agent applies to itself by one of its steps; see core/agent/confine.c. */
struct laz_plan_step {
    bool asked;
    uint32_t bits; /* what is kept by it alone */
};

struct laz_plan_rule { /* of Landlock */
    char *path;
    uint32_t rights; /* LAZ_RIGHT_* */
    bool optional;
};

struct laz_plan_unmet { /* a limit of the policy that nothing keeps */
    char name[16];
    char *why;
};

struct laz_plan {
    char *backend;
    char *folder; /* where files are written; NULL while a plan is only shown */
    struct laz_strv argv, env;
    struct laz_plan_data *data;
    size_t n_data;
    struct laz_plan_file *files;
    size_t n_files;
    int status_fd; /* number in the child; -1: none */
    int next_fd;
    struct laz_plan_limit *limits; /* for the agent */
    size_t n_limits;
    struct laz_plan_step filter, landlock;
    char filter_name[16];
    uint32_t landlock_abi; /* 0: the best there is */
    struct laz_plan_rule *rules;
    size_t n_rules;
    struct laz_job_limits job;         /* of the box as a whole */
    uint32_t job_bits[LAZ_JOB_LIMITS]; /* what is kept by each alone */
    struct laz_plan_unmet *unmet;
    size_t n_unmet;
    struct laz_plan_word *words;
    size_t n_words;
    uint32_t enforces;        /* LAZ_ENFORCE_* */
    uint32_t require;         /* what the settings ask for */
    uint32_t ends_by;         /* LAZ_END_* */
    bool any_program;         /* that can be seen may be executed */
    struct laz_strv programs; /* else these: of the policy */
    const char *confine;      /* borrowed: what laz_plan_confine_json says; NULL: see above */
    char *unknown;            /* a limit of a job that there is none of: a fault of the backend */
    bool failed;              /* want of memory on the way */
};

/* What the host itself puts around a box, whatever the backend: mechanisms of the session's control
 * group ("cgroup-v2"; NULL: none), and whether what no group limits is watched. */
struct laz_plan_host {
    const char *memory, *nproc, *cpu;
    bool is_watched;
    bool is_out_of_reach; /* the session's user could not change the group */
};

/* Makes a plan: calls the backend's `plan`, checks that it declares no bit beyond what it can, and
 * that every bit of `require` is there (LAZ_EREFUSED naming each missing one and what to do). */
int laz_plan_make(const struct laz_backend_ops *ops, const char *backend,
                  const struct laz_policy *policy, uint32_t require, const char *folder,
                  struct laz_plan **plan, struct laz_error *err);
/* The same with what the host adds; `host` may be NULL. */
int laz_plan_make_held(const struct laz_backend_ops *ops, const char *backend,
                       const struct laz_policy *policy, const struct laz_plan_host *host,
                       uint32_t require, const char *folder, struct laz_plan **plan,
                       struct laz_error *err);
/* The plan of a session that comes from a template with this plan: what is kept and how it ends; no
 * program and no files. `confine`: of the template's plan as JSON, borrowed until it is freed. */
int laz_plan_of_session(const struct laz_plan *plan, const char *confine, struct laz_plan **of,
                        struct laz_error *err);
void laz_plan_free(struct laz_plan *plan);
/* Is it made for this system ("linux", "darwin", "windows")? */
bool laz_backend_is_for(const struct laz_backend_ops *ops, const char *platform);
/* Can a box of it be kept from files? Else nothing chooses its programs either. */
bool laz_backend_hides_files(const struct laz_backend_ops *ops);
/* Does a box of it have a file system of its own? */
bool laz_backend_has_own_files(const struct laz_backend_ops *ops);
/* The agent tells which steps of its confinement are in force (names). It can only take away: of a
 * step that was arranged and is missing, the plan's bits are gone from here on (*lost). LAZ_ESETUP
 * when one of them is required. */
int laz_plan_confined(struct laz_plan *plan, const struct laz_strv *steps, uint32_t *lost,
                      struct laz_error *err);
/* The host tells which limits of the plan's job do not hold (1 << LAZ_JOB_*): it has set them and
 * read them back. Their bits are gone from here on (*lost), and `names` has them. LAZ_ESETUP when
 * one of the bits is required, or when nothing may be missing (`strict`: sandbox.strict). */
int laz_plan_job_lacks(struct laz_plan *plan, uint32_t missing, bool strict, uint32_t *lost,
                       struct laz_buf *names, struct laz_error *err);
/* {"limits":{...},"filter":...}: the `confine` of init. Appended. */
void laz_plan_confine_json(const struct laz_plan *plan, struct laz_buf *json);
/* {"backend":..., "enforces":[...], "mechanisms":{...}}. Appended. */
void laz_plan_isolation_json(const struct laz_plan *plan, struct laz_buf *json);
/* All of it: what `lazaret plan --json` prints. Appended. */
void laz_plan_json(const struct laz_plan *plan, struct laz_buf *json);
/* The same for people. Appended. */
void laz_plan_text(const struct laz_plan *plan, struct laz_buf *text);

#endif
