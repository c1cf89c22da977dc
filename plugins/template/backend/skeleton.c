/* SPDX-License-Identifier: MIT */
/* skeleton.c - a backend: plans the box around a session.
 *
 * It plans an ordinary process of the host with limits and a filter of system calls, which is no
 * sandbox: add what isolates, and declare a bit of LAZ_ENFORCE_* only when the plan as a whole
 * enforces it. A plan depends on nothing but the arguments of `plan`. */
#include <lazaret/backend.h>

#include <stddef.h>

#define ENFORCES LAZ_ENFORCE_SYSCALLS

/* The agent sets these limits on itself. They hold for each process, and so are declared as weak.
 */
static const struct {
    const char *name;
    size_t offset;
    uint32_t bit; /* 0: no property of a session */
} limits[] = {
    {"cpu", offsetof(struct laz_limits, cpu_s), LAZ_ENFORCE_CPU},
    {"memory", offsetof(struct laz_limits, memory_bytes), LAZ_ENFORCE_MEMORY},
    {"fsize", offsetof(struct laz_limits, fsize_bytes), LAZ_ENFORCE_FSIZE},
    {"nofile", offsetof(struct laz_limits, nofile), LAZ_ENFORCE_NOFILE},
    {"stack", offsetof(struct laz_limits, stack_bytes), 0},
};

static void plan_limits(const struct laz_plan_api *api, const struct laz_limits *values,
                        struct laz_plan *plan)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t value = *(const uint64_t *)(const void *)((const char *)values + limits[i].offset);

        if (value == LAZ_UNLIMITED)
            continue;
        api->agent_limit(plan, limits[i].name, value);
        if (limits[i].bit)
            api->weakly(plan, limits[i].bit, "rlimit, each process");
    }
}

static int plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                struct laz_plan *plan, struct laz_error *err)
{
    if (LAZ_HAS(policy, nests)) /* sessions are then started one by one */
        return laz_fail(err, LAZ_EREFUSED, "it makes no namespaces, and so no templates");
    if (!policy->host_command)
        return laz_fail(err, LAZ_ECONFIG, "it needs the agent's path on the host");
    /* The agent's reaper is the outermost process: it ends whatever code has started. */
    api->arg(plan, policy->host_command);
    api->arg(plan, "--reap");
    api->ends_by(plan, LAZ_END_REAP);
    /* A program that makes the box would stand here. The command comes last. */
    api->arg(plan, policy->host_command);
    for (const char *const *arg = policy->command + 1; *policy->command && *arg; arg++)
        api->arg(plan, *arg);
    for (const char *const *env = policy->env; env && *env; env++)
        api->env(plan, *env);
    plan_limits(api, &policy->limits, plan);
    api->agent_filter(plan, policy->own_uid ? "session" : "same-user", LAZ_ENFORCE_SYSCALLS);
    api->enforces(plan, LAZ_ENFORCE_SYSCALLS, "seccomp");
    return 0;
}

static const struct laz_backend_ops ops = {
    .size = sizeof ops,
    .can_enforce = ENFORCES,
    .platforms = "linux",
    .plan = plan,
};

LAZ_PLUGIN(skeleton) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "skeleton",
    .version = "1.0",
    .summary = "no sandbox yet: an ordinary process with limits",
    .ops = &ops,
};
