/* SPDX-License-Identifier: MIT */
/* common.h - what the backends of this folder plan alike. */
#ifndef LAZARET_BACKEND_COMMON_H
#define LAZARET_BACKEND_COMMON_H

#include <lazaret/backend.h>

/* The limits the agent sets on itself. `nproc`: what makes that limit count the session alone,
 * NULL: nothing does, and there is a bound on all that the user runs. `whole`: the code cannot leave what declares them;
 * otherwise all of them are declared as weak. */
void backend_limits(const struct laz_plan_api *api, const struct laz_policy *policy,
                    struct laz_plan *plan, const char *nproc, int whole);
/* The agent of the host below its reaper, with the environment of the policy: for backends that
 * put no program around it. LAZ_ECONFIG without a path of the agent, LAZ_EREFUSED for a
 * template; `name` is the backend's. */
int backend_reaped(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan, const char *name, struct laz_error *err);

#endif
