/* SPDX-License-Identifier: MIT */
/* landlock.c - no box around the session, only the rights that its agent gives up (Linux).
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * For hosts and containers that refuse user namespaces. The session stays in the file system, the
 * network and among the processes of the host; Landlock refuses paths that are not listed, the
 * filter of system calls refuses what Landlock does not govern, and a reaper outside the domain
 * ends what the session leaves behind. It promises less than a box of namespaces, and depends on
 * the version of Landlock: code can always see that a file or a process exists. A session without a
 * uid of its own shares the user's, so the filter has to refuse all calls by which a user may
 * change what is his own: permissions of files, scheduling of processes, shared memory. */
#include "common.h"

#include <stdio.h>
#include <string.h>

/* Before it, files that cannot be written can still be truncated (Linux 6.2). */
#define LANDLOCK_TRUNCATE_ABI 3
/* Before it, signals reach every process that the uid may signal (6.12). */
#define LANDLOCK_SIGNAL_ABI 6

#define LANDLOCK_ENFORCES                                                                          \
    (LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_SIGNALS |      \
     LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_NPROC | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE |           \
     LAZ_ENFORCE_TERMINALS)

static const struct laz_option landlock_options[] = {{0}};

/* Files that programs expect on any system and that reveal little about this one. Of /proc only
 * files of the agent itself, which "self" names when the rule is made: not the whole directory,
 * whose "net" lists the host's connections, and nothing of other processes. */
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
    {"/proc/self/environ", LAZ_RIGHT_READ}, /* the agent has removed the token from it */
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
    if (LAZ_HAS(policy, tty)) {
        api->agent_path(plan, "/dev/ptmx", LAZ_RIGHT_TERMINAL, 1);
        api->agent_path(plan, "/dev/pts", LAZ_RIGHT_TERMINAL, 1);
    }
    if (LAZ_HAS(policy, has_terminal)) { /* the session has left that of the host (setsid) */
        api->agent_path(plan, "/dev/tty", LAZ_RIGHT_TERMINAL, 1);
        api->agent_path(plan, "/proc/self/fd/0", LAZ_RIGHT_TERMINAL, 1); /* in /dev/pts */
    }
    for (size_t i = 0; i < policy->n_paths; i++) {
        const struct laz_path *path = &policy->paths[i];
        if (path->kind <= LAZ_PATH_WRITE)
            api->agent_path(plan, path->host, rights[path->kind], path->optional);
    }
    for (const char *const *program = policy->programs; program && *program; program++)
        api->agent_path(plan, *program, LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE, 1);
}

/* Plans the steps, each with the bits that are lost if it fails. */
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
    if (LAZ_HAS(policy, tty)) {
        api->weakly(plan, LAZ_ENFORCE_TERMINALS, "not bounded");
    } else {
        by_landlock |= LAZ_ENFORCE_TERMINALS;
        api->enforces(plan, LAZ_ENFORCE_TERMINALS, "Landlock");
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
        return laz_fail(err, LAZ_ESETUP,
                        "this kernel has no Landlock: it needs Linux 5.13 or newer with "
                        "\"landlock\" in the list of security modules (lsm= on the kernel's "
                        "command line), and a container whose filter lets its calls through");
    }
    if (LAZ_HAS(policy, tty) && !policy->own_uid) {
        return laz_fail(
            err, LAZ_EREFUSED,
            "sandbox.tty: without a uid of its own a session could open the terminals of "
            "the user in /dev/pts; use the backend bwrap");
    }
    int rc = backend_reaper(api, policy, plan, "landlock", err);
    if (rc)
        return rc;
    backend_agent(api, policy, plan);
    landlock_rules(api, policy, plan);
    /* nproc counts all processes of a uid, so for a uid shared with the user it is only a bound. */
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
