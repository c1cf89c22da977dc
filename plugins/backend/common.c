/* SPDX-License-Identifier: MIT */
/* common.c - what several backends of this directory plan in the same way. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 30)

void backend_text_add(struct backend_text *text, const char *data, size_t len)
{
    if (text->failed)
        return;
    if (len > text->cap - text->len) {
        size_t cap = text->cap ? text->cap : 1024;
        while (cap - text->len < len && cap <= TEXT_MAX)
            cap *= 2;
        char *more = cap - text->len < len ? NULL : realloc(text->data, cap);
        if (!more) {
            text->failed = 1;
            return;
        }
        text->data = more;
        text->cap = cap;
    }
    memcpy(text->data + text->len, data, len);
    text->len += len;
}

void backend_limits(const struct laz_plan_api *api, const struct laz_limits *limits,
                    struct laz_plan *plan, const char *nproc, int whole)
{
    const struct {
        const char *name;
        uint64_t value;
        uint32_t bit;
        int weak; /* weak for any backend */
        const char *mechanism;
    } table[] = {
        {"cpu", limits->cpu_s, LAZ_ENFORCE_CPU, 1, "rlimit, each process"},
        {"memory", limits->memory_bytes, LAZ_ENFORCE_MEMORY, 1, "rlimit, each process"},
        {"fsize", limits->fsize_bytes, LAZ_ENFORCE_FSIZE, 0, "rlimit"},
        {"nproc", nproc ? limits->nproc : LAZ_UNLIMITED, LAZ_ENFORCE_NPROC, 0, nproc},
        /* A coarse bound on fork bombs: all processes of the user count, so no bit is declared. */
        {"nproc_beside", nproc ? LAZ_UNLIMITED : limits->nproc, 0, 0, NULL},
        {"nofile", limits->nofile, LAZ_ENFORCE_NOFILE, 0, "rlimit"},
        {"stack", limits->stack_bytes, 0, 0, NULL},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].value == LAZ_UNLIMITED)
            continue;
        api->agent_limit(plan, table[i].name, table[i].value);
        if (table[i].mechanism)
            (whole && !table[i].weak ? api->enforces : api->weakly)(plan, table[i].bit,
                                                                    table[i].mechanism);
    }
}

int backend_reaper(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan, const char *name, struct laz_error *err)
{
    if (LAZ_HAS(policy, nests))
        return laz_fail(err, LAZ_EREFUSED, "it makes no namespaces, and so no templates");
    if (!policy->host_command)
        return laz_fail(err, LAZ_ECONFIG, "the backend %s needs the agent's path on the host",
                        name);
    api->arg(plan, policy->host_command);
    api->arg(plan, "--reap");
    api->ends_by(plan, LAZ_END_REAP);
    return 0;
}

void backend_agent(const struct laz_plan_api *api, const struct laz_policy *policy,
                   struct laz_plan *plan)
{
    api->arg(plan, policy->host_command);
    for (const char *const *arg = policy->command + 1; *policy->command && *arg; arg++)
        api->arg(plan, *arg);
    for (const char *const *env = policy->env; env && *env; env++)
        api->env(plan, *env);
}

int backend_line(const struct laz_backend_failure *failure, const char *found, int most,
                 const char **line)
{
    const char *begin = found, *end = found, *last = failure->output + failure->output_len;

    while (begin > failure->output && begin[-1] != '\n')
        begin--;
    while (end < last && *end != '\n')
        end++;
    *line = begin;
    return end - begin < most ? (int)(end - begin) : most;
}
