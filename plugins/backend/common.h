/* SPDX-License-Identifier: MIT */
/* common.h - what several backends of this directory plan in the same way. */
#ifndef LAZARET_BACKEND_COMMON_H
#define LAZARET_BACKEND_COMMON_H

#include <lazaret/backend.h>

/* A growing text, {0} at first; the caller frees `data`. It may contain NULs and is not terminated
 * by one. */
struct backend_text {
    char *data;
    size_t len, cap;
    int failed; /* out of memory: nothing more is added */
};

void backend_text_add(struct backend_text *text, const char *data, size_t len);

/* Plans the limits that the agent sets on itself. `nproc`: the mechanism by which that limit counts
 * the session alone; NULL: none, and the limit bounds all processes of the user. `whole`: the code
 * cannot escape the limits; otherwise all of them are declared as weak. */
void backend_limits(const struct laz_plan_api *api, const struct laz_limits *limits,
                    struct laz_plan *plan, const char *nproc, int whole);

/* Begins the argv for a session that shares the host's process namespace: its outermost process is
 * the agent's reaper; the command that the reaper starts is to follow. `name` is the backend's.
 * Errors: LAZ_ECONFIG without a path of the agent on the host, LAZ_EREFUSED for a template. */
int backend_reaper(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan, const char *name, struct laz_error *err);
/* Completes that argv with the agent, and plans the environment of the policy. */
void backend_agent(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan);
/* The line of the failure's output that contains `found`: returns its length, at most `most`. */
int backend_line(const struct laz_backend_failure *failure, const char *found, int most,
                 const char **line);

#endif
