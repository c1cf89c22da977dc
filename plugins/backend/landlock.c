/* SPDX-License-Identifier: MIT */
/* landlock.c - no box around the session: only what its agent takes from itself (Linux).
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * For hosts and containers that refuse user namespaces.  The session stays in the file system, the
 * network and among the processes of the host; Landlock refuses what is not listed, the filter of
 * system calls what Landlock does not govern, and a reaper outside the domain ends what the session
 * leaves.  So less is promised than by a box of namespaces, and only as far as the version of
 * Landlock goes: that a file or a process exists can always be seen.  A session that has no uid of
 * its own shares the user's: what the kernel lets a user do to all that is his (permissions of
 * files, scheduling of processes, shared memory) has to be refused by the filter, for all of it. */
#include "common.h"

#include <stdio.h>
#include <string.h>

#define LANDLOCK_TRUNCATE_ABI 3 /* before it, what may not be written can be cut (Linux 6.2) */
#define LANDLOCK_SIGNAL_ABI   6 /* before it, signals reach whatever the uid may signal (6.12) */

#define LANDLOCK_ENFORCES                                                                          \
    (LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_SIGNALS |      \
     LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_NPROC | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE)

static const struct laz_option landlock_options[] = {{0}};

/* What programs expect of any system, and what tells little of this one. Of /proc only files of the
 * agent itself, which "self" is when the rule is made: not its folder, in which "net" tells of the
 * host's connections, and no other process's. */
static const struct {
    const char *path;
    uint32_t rights;
} landlock_system[] = {
    {"/dev/null", LAZ_RIGHT_DEVICE},
    {"/dev/zero", LAZ_RIGHT_DEVICE},
    {"/dev/full", LAZ_RIGHT_DEVICE},
    {"/dev/random", LAZ_RIGHT_READ},
    {"/dev/urandom", LAZ_RIGHT_READ},
    {"/proc/self/auxv", LAZ_RIGHT_READ},
    {"/proc/self/cmdline", LAZ_RIGHT_READ},
    {"/proc/self/comm", LAZ_RIGHT_READ},
    {"/proc/self/environ", LAZ_RIGHT_READ}, /* the token is not in it any more */
    {"/proc/self/fd", LAZ_RIGHT_READ},
    {"/proc/self/limits", LAZ_RIGHT_READ},
    {"/proc/self/maps", LAZ_RIGHT_READ},
    {"/proc/self/stat", LAZ_RIGHT_READ},
    {"/proc/self/statm", LAZ_RIGHT_READ},
    {"/proc/self/status", LAZ_RIGHT_READ},
    {"/proc/cpuinfo", LAZ_RIGHT_READ},
    {"/proc/filesystems", LAZ_RIGHT_READ},
    {"/proc/meminfo", LAZ_RIGHT_READ},
    {"/sys/devices/system/cpu", LAZ_RIGHT_READ},
    {"/sys/devices/system/node", LAZ_RIGHT_READ},
};

static void landlock_rules(const struct laz_plan_api *api, const struct laz_policy *policy,
                           struct laz_plan *plan)
{
    const uint32_t execute = policy->programs ? 0 : LAZ_RIGHT_EXECUTE;
    const uint32_t rights[] = {
        [LAZ_PATH_READ] = LAZ_RIGHT_READ | execute,
        [LAZ_PATH_WRITE] = LAZ_RIGHT_READ | LAZ_RIGHT_WRITE | execute,
    };

    for (size_t i = 0; i < sizeof landlock_system / sizeof landlock_system[0]; i++)
        api->agent_path(plan, landlock_system[i].path, landlock_system[i].rights, 1);
    for (size_t i = 0; i < policy->n_paths; i++) {
        const struct laz_path *path = &policy->paths[i];
        if (path->kind <= LAZ_PATH_WRITE)
            api->agent_path(plan, path->host, rights[path->kind], path->optional);
    }
    for (const char *const *program = policy->programs; program && *program; program++)
        api->agent_path(plan, *program, LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE, 1);
}

/* What each step keeps, and so what is lost without it. */
static void landlock_steps(const struct laz_plan_api *api, const struct laz_policy *policy,
                           struct laz_plan *plan)
{
    int own = policy->own_uid != 0, abi = (int)policy->landlock_abi;
    uint32_t by_landlock = LAZ_ENFORCE_FS_READ, by_filter = LAZ_ENFORCE_NETWORK;

    api->enforces(plan, LAZ_ENFORCE_FS_READ, "Landlock");
    if (abi >= LANDLOCK_TRUNCATE_ABI) {
        by_landlock |= LAZ_ENFORCE_FS_WRITE;
        by_filter |= own ? 0 : LAZ_ENFORCE_FS_WRITE;
        api->enforces(plan, LAZ_ENFORCE_FS_WRITE, own ? "Landlock, uid" : "Landlock, filter");
    } else {
        api->weakly(plan, LAZ_ENFORCE_FS_WRITE, "Landlock, but files can be truncated");
    }
    if (own) {
        api->enforces(plan, LAZ_ENFORCE_SIGNALS, "uid of its own");
    } else if (abi >= LANDLOCK_SIGNAL_ABI) {
        by_landlock |= LAZ_ENFORCE_SIGNALS;
        api->enforces(plan, LAZ_ENFORCE_SIGNALS, "Landlock");
    }
    api->weakly(plan, LAZ_ENFORCE_PROCESSES, "neither read nor traced, but seen");
    api->enforces(plan, LAZ_ENFORCE_NETWORK, "seccomp: no sockets");
    api->enforces(plan, LAZ_ENFORCE_SYSCALLS, "seccomp");
    api->agent_landlock(plan, policy->landlock_abi, by_landlock);
    api->agent_filter(plan, own ? "session" : "same-user", by_filter | LAZ_ENFORCE_SYSCALLS);
}

static int landlock_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                         struct laz_plan *plan, struct laz_error *err)
{
    if (!policy->landlock_abi) {
        if (err) {
            err->code = LAZ_ESETUP;
            snprintf(err->text, sizeof err->text,
                     "this kernel has no Landlock: it needs Linux 5.13 or newer with "
                     "\"landlock\" in the list of security modules (lsm= on the kernel's "
                     "command line), and a container whose filter lets its calls through");
        }
        return LAZ_ESETUP;
    }
    int rc = backend_reaper(api, policy, plan, "landlock", err);
    if (rc)
        return rc;
    backend_agent(api, policy, plan);
    landlock_rules(api, policy, plan);
    /* nproc counts every process of a uid: for one that the user shares it is a bound only. */
    backend_limits(api, &policy->limits, plan,
                   policy->own_uid ? "rlimit of the session's uid" : NULL, 1);
    landlock_steps(api, policy, plan);
    return 0;
}

static const struct laz_backend_ops landlock_ops = {
    .size = sizeof landlock_ops,
    .can_enforce = LANDLOCK_ENFORCES,
    .flags = LAZ_BACKEND_HOST_FILES,
    .platforms = "linux",
    .plan = landlock_plan,
};

LAZ_PLUGIN(landlock) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "landlock",
    .version = "0.1.0",
    .summary = "no namespaces: Landlock, a filter of system calls and a reaper",
    .options = landlock_options,
    .ops = &landlock_ops,
};
