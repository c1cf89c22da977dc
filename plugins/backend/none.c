/* SPDX-License-Identifier: MIT */
/* none.c - no box: the agent runs as an ordinary process.
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * For hosts on which nothing else works, and for measurements. It declares no enforcement, so it is
 * used only where the policy requires nothing, or where the settings allow falling back to it. It
 * does what it can and declares that as weak: limits of each process, an environment without
 * secrets, a directory of the session's own, and a reaper around the agent, which ends processes
 * that left the group. The only bit it can enforce is the filter of system calls, if the option
 * "confine" is set. */
#include "common.h"

#include <lazaret/options.h>

static const struct laz_option none_options[] = {
    LAZ_OPTION("confine", LAZ_OPT_BOOLEAN, "false",
               "put the filter of system calls on the session: no sockets, no changes of metadata"),
    {0},
};

static const struct laz_option_field none_fields[] = {{"confine", LAZ_OPT_BOOLEAN, 0},
                                                      {NULL, 0, 0}};

static int none_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                     struct laz_plan *plan, struct laz_error *err)
{
    bool confine = false;
    int rc = backend_reaper(api, policy, plan, "none", err);

    if (!rc)
        rc = laz_options_read(api->json, policy->options, policy->options_len, none_fields,
                              &confine, err);
    if (rc)
        return rc;
    backend_agent(api, policy, plan);
    /* nproc counts all processes of a uid, so for a uid shared with the user it is only a bound. */
    backend_limits(api, &policy->limits, plan,
                   policy->own_uid ? "rlimit of the session's uid" : NULL, 0);
    if (confine) {
        api->agent_filter(plan, policy->own_uid ? "session" : "same-user", LAZ_ENFORCE_SYSCALLS);
        api->enforces(plan, LAZ_ENFORCE_SYSCALLS, "seccomp");
    }
    return 0;
}

static const struct laz_backend_ops none_ops = {
    .size = sizeof none_ops,
    .can_enforce = LAZ_ENFORCE_SYSCALLS, /* only with the option "confine" */
    .platforms = "linux darwin", /* on Windows windows-job isolates no more, and ends all of a
                                    session */
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
