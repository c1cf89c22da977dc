/* SPDX-License-Identifier: MIT */
/* none.c - no box at all: the agent runs as an ordinary process.
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * For hosts that nothing else works on, and for measuring.  It declares that it enforces nothing,
 * so it is used only where the policy requires nothing, or where the settings allow to fall back
 * to it.  What can be done is done and called weak: limits of each process, an environment without
 * secrets, a folder of the session's own, and a reaper around the agent, so that processes that
 * left the group are ended with the session. */
#include <lazaret/backend.h>

#include <stdio.h>
#include <string.h>

static const struct laz_option none_options[] = {{0}};

static void none_limits(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan)
{
    const struct laz_limits *limits = &policy->limits;
    const struct {
        const char *name;
        uint64_t value;
        uint32_t bit;
        const char *mechanism;
    } table[] = {
        {"cpu", limits->cpu_s, LAZ_ENFORCE_CPU, "rlimit, each process"},
        {"memory", limits->memory_bytes, LAZ_ENFORCE_MEMORY, "rlimit, each process"},
        {"fsize", limits->fsize_bytes, LAZ_ENFORCE_FSIZE, "rlimit"},
        {"nofile", limits->nofile, LAZ_ENFORCE_NOFILE, "rlimit"},
        {"stack", limits->stack_bytes, 0, NULL},
        /* It counts every process of the uid: one that the user shares is over it from the start.
         */
        {"nproc", policy->own_uid ? limits->nproc : LAZ_UNLIMITED, LAZ_ENFORCE_NPROC,
         "rlimit of the session's uid"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].value == LAZ_UNLIMITED)
            continue;
        api->agent_limit(plan, table[i].name, table[i].value);
        if (table[i].mechanism)
            api->weakly(plan, table[i].bit, table[i].mechanism);
    }
}

static int none_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                     struct laz_plan *plan, struct laz_error *err)
{
    if (!policy->host_command) {
        if (err) {
            err->code = LAZ_ECONFIG;
            snprintf(err->text, sizeof err->text,
                     "the backend none needs the agent's path on the host");
        }
        return LAZ_ECONFIG;
    }
    api->arg(plan, policy->host_command);
    api->arg(plan, "--reap");
    api->arg(plan, policy->host_command);
    for (const char *const *arg = policy->command + 1; *policy->command && *arg; arg++)
        api->arg(plan, *arg);
    for (const char *const *env = policy->env; env && *env; env++)
        api->env(plan, *env);
    none_limits(api, policy, plan);
    api->ends_by(plan, LAZ_END_REAP);
    return 0;
}

static const struct laz_backend_ops none_ops = {
    .size = sizeof none_ops,
    .can_enforce = 0,
    .platforms = "linux darwin windows",
    .plan = none_plan,
};

LAZ_PLUGIN(none) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "none",
    .version = "0.1.0",
    .summary = "no isolation: an ordinary process with limits",
    .options = none_options,
    .ops = &none_ops,
};
