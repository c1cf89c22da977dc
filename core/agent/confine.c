/* SPDX-License-Identifier: MIT */
/* confine.c - how the agent confines itself before a runtime is loaded: one table, in order.
 * Side: box.  Input trusted: yes (`init` of the host).
 *
 * Each row is a step: whether `init.confine` asks for it, and whether a session may go on without
 * it.  The order is forced: no_new_privs is what lets an ordinary process use the two steps below
 * it, and the filter comes last because it refuses the calls of the others.  No step can be undone.
 * An unknown member of `init.confine` fails the start (the table of core/wire says so): an older
 * agent must not ignore what a newer host relies on.  All of it can also be applied late, after a
 * fork. */
#include "agent/agent.h"

#include "base/clock.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/filter.h"

#include <stdlib.h>
#include <string.h>

#ifdef LAZ_TEST_LAYERS
bool agent_left_out(const char *step)
{
    /* Written over in copies of the program, by tests/enforce/layers.sh. */
    static const volatile char without[] = "LAZ_TEST_WITHOUT=nothing________";
    const size_t at = sizeof "LAZ_TEST_WITHOUT=" - 1, len = strlen(step);

    for (size_t i = 0; i < len; i++)
        if (without[at + i] != step[i])
            return false;
    return without[at + len] == '_';
}
#endif

void agent_close_descriptors(int channel)
{
    if (!AGENT_LEFT_OUT("descriptors"))
        laz_os_close_from(channel + 1, -1);
}

/* ---- the steps ------------------------------------------------------------------------------ */

/* No core dumps. With a limit of 0 the kernel still starts the host's handler, as root and outside
 * the box, where kernel.core_pattern is a pipe (core(5)); 1, which is less than any dump needs,
 * keeps it from that as well (fs/coredump.c since Linux 2.6.24). The filter holds it there. */
static int confine_core(struct laz_error *err)
{
    return laz_os_set_limit("core", 1, err);
}

/* The address sanitizer's own tables are many times any limit on memory. */
#ifdef LAZ_SANITIZE
#define CONFINE_NO_MEMORY_LIMIT true
#else
#define CONFINE_NO_MEMORY_LIMIT false
#endif

static int confine_limits(const struct agent *agent, const struct laz_wire_confine *confine,
                          struct laz_error *err)
{
    int rc = 0;

    (void)agent;
    for (size_t i = 0; rc == 0 && i < confine->limits.n; i++) {
        const struct laz_field_number *limit = &confine->limits.items[i];
        if (CONFINE_NO_MEMORY_LIMIT && strcmp(limit->name, "memory") == 0)
            continue;
        rc = laz_os_set_limit(limit->name, (uint64_t)limit->value, err);
    }
    return rc;
}

/* The rules of `landlock`; the caller frees them. */
static int confine_rules(const struct laz_wire_landlock *landlock, struct laz_landlock_rule **rules,
                         struct laz_error *err)
{
    const struct laz_wire_rule *from = landlock->rules.items;

    *rules = calloc(landlock->rules.n + 1, sizeof **rules);
    if (!*rules)
        return laz_error_nomem(err);
    for (size_t i = 0; i < landlock->rules.n; i++) {
        const uint32_t rights = laz_landlock_rights(from[i].rights);
        (*rules)[i] = (struct laz_landlock_rule){from[i].path, rights, from[i].is_optional};
        if (!rights)
            return laz_error_set(err, LAZ_EPROTO, 0, "init: '%s' are not rights of Landlock",
                                 from[i].rights);
    }
    return 0;
}

/* What no rule allows is refused from here on; open files stay usable. */
static int confine_landlock(const struct agent *agent, const struct laz_wire_confine *confine,
                            struct laz_error *err)
{
    const struct laz_wire_landlock *landlock = &confine->landlock;
    const int abi = (int)landlock->abi;
    struct laz_landlock_rule *rules;
    int ruleset = -1;
    int rc = confine_rules(landlock, &rules, err);

    if (!rc)
        rc = laz_os_landlock_make(abi ? abi : laz_os_landlock_abi(), landlock->lets_network, rules,
                                  landlock->rules.n, &agent->kept, &ruleset, err);
    if (!rc)
        rc = laz_os_landlock_enter(ruleset, err);
    laz_os_close(&ruleset);
    free(rules);
    return rc;
}

static int confine_filter(const struct agent *agent, const struct laz_wire_confine *confine,
                          struct laz_error *err)
{
    return agent->is_filtered ? laz_os_filter_rest(confine->filter, err)
                              : laz_os_filter(confine->filter, err);
}

/* ---- the table ------------------------------------------------------------------------------ */

static int confine_apply(struct agent *agent, const struct laz_wire_confine *confine,
                         struct laz_error *err)
{
    const struct {
        const char *name;
        int (*always)(struct laz_error *err); /* NULL: it is applied where it is asked for */
        int (*apply)(const struct agent *agent, const struct laz_wire_confine *confine,
                     struct laz_error *err);
        bool is_asked;
        bool may_fail; /* unless `required` lists it */
    } steps[] = {
        {"no_new_privs", laz_os_no_new_privs, NULL, true, false},
        {"core", confine_core, NULL, true, false},
        {"quotas", laz_os_set_quotas, NULL, true, false},
        {"limits", NULL, confine_limits, confine->has_limits, false},
        {"landlock", NULL, confine_landlock, confine->has_landlock, true},
        {"filter", NULL, confine_filter, confine->filter != NULL, true},
    };

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct laz_error why = {0};
        int failed = 0;
        if (!steps[i].is_asked)
            continue;
        uint64_t begun = laz_clock_us();
        if (!AGENT_LEFT_OUT(steps[i].name))
            failed = steps[i].always ? steps[i].always(&why) : steps[i].apply(agent, confine, &why);
        agent_cost(agent, steps[i].name, begun);
        if (failed == LAZ_ENOENT && steps[i].always)
            continue; /* neither in force nor missing: this system has no such thing */
        if (!failed)
            laz_strv_add(&agent->confined, steps[i].name);
        else if (steps[i].may_fail && !laz_strv_has(&confine->required, steps[i].name))
            laz_strv_addf(&agent->missing, "%s: %s", steps[i].name, why.text);
        else
            return laz_error_set(err, failed == LAZ_EPROTO ? failed : LAZ_ESETUP, 0, "%s",
                                 why.text);
    }
    return agent->confined.failed || agent->missing.failed || agent->cost.failed
               ? laz_error_nomem(err)
               : 0;
}

int agent_confine(struct agent *agent, const char *raw, size_t len, struct laz_error *err)
{
    struct laz_wire_confine confine = {0};
    int rc = raw ? laz_wire_read(&laz_wire_confine, raw, len, &confine, err) : 0;

    if (rc)
        laz_error_prefix(err, "init: ");
    else
        rc = confine_apply(agent, &confine, err);
    laz_fields_free(&laz_wire_confine, &confine);
    return rc;
}

/* ---- of a template -------------------------------------------------------------------------- */

static bool confine_is_fixed(const char *path, void *user)
{
    return !laz_os_own_mounts_change(user, path);
}

/* What is wrong with the list is reported by each session that is to be confined so. */
int agent_confine_ahead(struct agent *agent, const struct laz_own_mounts *mounts,
                        struct laz_error *err)
{
    struct laz_wire_confine confine = {0};
    struct laz_landlock_rule *rules = NULL;
    const char *raw = agent->confine;
    int rc = 0;

    const bool is_valid =
        raw && laz_wire_read(&laz_wire_confine, raw, strlen(raw), &confine, NULL) == 0;
    if (is_valid && confine.has_landlock && confine_rules(&confine.landlock, &rules, NULL) == 0)
        rc = laz_os_landlock_keep(rules, confine.landlock.rules.n, confine_is_fixed,
                                  (void *)(uintptr_t)mounts, &agent->kept, err);
    /* A package may have changed this limit, and behind the filter it stays as it is. */
    if (!rc && is_valid && confine.filter && !AGENT_LEFT_OUT("filter") &&
        (AGENT_LEFT_OUT("core") || confine_core(NULL) == 0))
        agent->is_filtered = laz_os_filter_ahead(confine.filter, NULL) == 0;
    free(rules);
    laz_fields_free(&laz_wire_confine, &confine);
    return rc;
}
