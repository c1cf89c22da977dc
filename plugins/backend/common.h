/* SPDX-License-Identifier: MIT */
/* common.h - what the backends of this folder plan alike. */
#ifndef LAZARET_BACKEND_COMMON_H
#define LAZARET_BACKEND_COMMON_H

#include <lazaret/backend.h>

/* Text that grows; begins as {0}, `data` is to be freed. It may hold NULs and ends with none. */
struct backend_text {
    char *data;
    size_t len, cap;
    int failed; /* want of memory: nothing is added any more */
};

void backend_text_add(struct backend_text *text, const char *data, size_t len);

/* The limits the agent sets on itself. `nproc`: what makes that limit count the session alone,
 * NULL: nothing does, and there is a bound on all that the user runs. `whole`: the code cannot
 * leave what declares them; otherwise all of them are declared as weak. */
void backend_limits(const struct laz_plan_api *api, const struct laz_limits *limits,
                    struct laz_plan *plan, const char *nproc, int whole);

/* A session among the processes of the host, below the agent's reaper, which is the outermost
 * process: this begins the argv, up to the command that the reaper starts. LAZ_ECONFIG without a
 * path of the agent on the host, LAZ_EREFUSED for a template; `name` is the backend's. */
int backend_reaper(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan, const char *name, struct laz_error *err);
/* This ends it: the agent, with the environment of the policy. */
void backend_agent(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan);

#endif
