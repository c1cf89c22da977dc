/* SPDX-License-Identifier: MIT */
/* windows-job.c - puts the session into a job object, with an environment of its own (Windows).
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * Windows has no sandbox that an ordinary user can put around any program. A job object limits
 * memory, CPU time and the number of processes of a session; no process can leave it, and all end
 * with it or with the host. It hides no file and refuses no network, so it isolates nothing: the
 * settings must accept that, and the refusal otherwise says how to get isolation. Limits that a job
 * does not have are declared as not enforced. */
#include <lazaret/backend.h>

#include <stdio.h>

static const struct laz_option windows_job_options[] = {{0}};

#define WINDOWS_JOB_ENFORCES (LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU | LAZ_ENFORCE_NPROC)

static void windows_job_limits(const struct laz_plan_api *api, const struct laz_limits *limits,
                               struct laz_plan *plan)
{
    const struct {
        const char *name;
        uint64_t value;
        uint32_t bit; /* 0: a job has no such limit */
        const char *mechanism;
    } table[] = {
        {"memory", limits->memory_bytes, LAZ_ENFORCE_MEMORY, "job object"},
        {"cpu", limits->cpu_s, LAZ_ENFORCE_CPU, "job object, user time only"},
        {"nproc", limits->nproc, LAZ_ENFORCE_NPROC, "job object"},
        {"fsize", limits->fsize_bytes, 0, NULL},
        {"nofile", limits->nofile, 0, NULL},
        {"stack", limits->stack_bytes, 0, NULL},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].value == LAZ_UNLIMITED)
            continue;
        if (table[i].bit) {
            api->job_limit(plan, table[i].name, table[i].value, table[i].bit);
            api->enforces(plan, table[i].bit, table[i].mechanism);
        } else {
            api->not_limited(plan, table[i].name, "Windows job objects have no such limit");
        }
    }
}

static int windows_job_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                            struct laz_plan *plan, struct laz_error *err)
{
    if (LAZ_HAS(policy, nests))
        return laz_fail(err, LAZ_EREFUSED, "Windows has no namespaces, and so no templates");
    if (!policy->host_command)
        return laz_fail(err, LAZ_ECONFIG, "it needs the agent's path on the host");
    api->arg(plan, policy->host_command);
    for (const char *const *arg = policy->command + 1; *policy->command && *arg; arg++)
        api->arg(plan, *arg);
    for (const char *const *env = policy->env; env && *env; env++)
        api->env(plan, *env);
    api->ends_by(plan, LAZ_END_JOB);
    windows_job_limits(api, &policy->limits, plan);
    return 0;
}

static const struct laz_backend_ops windows_job_ops = {
    .size = sizeof windows_job_ops,
    .can_enforce = WINDOWS_JOB_ENFORCES,
    .platforms = "windows",
    .plan = windows_job_plan,
    .remedy = "A job object of Windows limits a session and isolates nothing: run lazaret in a "
              "container, or in WSL with bwrap",
};

LAZ_PLUGIN(windows_job) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "windows-job",
    .version = "0.1.0",
    .summary = "no isolation: a Windows job object with limits",
    .options = windows_job_options,
    .ops = &windows_job_ops,
};
