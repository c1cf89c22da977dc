/* SPDX-License-Identifier: MIT */
/* confine.c - what the agent takes from itself before a runtime is loaded: one table, in order.
 * Side: box.  Input trusted: yes (`init` of the host).
 *
 * Each row is a step: how it is asked for in `init.confine`, and whether a session may go on
 * without it.  The order is forced: no_new_privs is what lets an ordinary process use the two steps
 * below it, and the filter comes last because it refuses the calls of the others.  None of them can
 * be undone.  A member of `init.confine` that no row knows ends the start: an older agent must not
 * pass over what a newer host relies on.  Everything here can also be called late, after a fork. */
#include "agent/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/filter.h"
#include "os/landlock.h"
#include "os/landlock_text.h"

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

static int confine_no_new_privs(const struct laz_json *asked, struct laz_error *err)
{
    (void)asked;
    return laz_os_no_new_privs(err);
}

/* No core dumps. With a limit of 0 the kernel still starts the host's handler, as root and outside
 * the box, where kernel.core_pattern is a pipe (core(5)); 1, which is less than any dump needs,
 * keeps it from that as well (fs/coredump.c since Linux 2.6.24). The filter holds it there. */
static int confine_core(const struct laz_json *asked, struct laz_error *err)
{
    (void)asked;
    return laz_os_set_limit("core", 1, err);
}

/* The address sanitizer's own tables are many times any limit on memory. */
#ifdef LAZ_SANITIZE
#define CONFINE_NO_MEMORY_LIMIT true
#else
#define CONFINE_NO_MEMORY_LIMIT false
#endif

static int confine_limits(const struct laz_json *asked, struct laz_error *err)
{
    const struct laz_json *limit = laz_json_first(asked);
    int rc = 0;

    for (; rc == 0 && limit; limit = laz_json_next(limit)) {
        double value = laz_json_number(limit);
        if (CONFINE_NO_MEMORY_LIMIT && strcmp(laz_json_key(limit), "memory") == 0)
            continue;
        if (laz_json_type(limit) != LAZ_JSON_NUMBER || !(value >= 0 && value < 1.8e19))
            rc =
                laz_error_set(err, LAZ_EPROTO, 0, "init: limit %s is no size", laz_json_key(limit));
        else
            rc = laz_os_set_limit(laz_json_key(limit), (uint64_t)value, err);
    }
    return rc;
}

/* One rule of the list: {"rights":"rw","path":"/tmp","optional":false}. */
static int confine_rule(const struct laz_json *item, struct laz_landlock_rule *rule,
                        struct laz_error *err)
{
    const struct laz_json *path = laz_json_get(item, "path");
    const struct laz_json *rights = laz_json_get(item, "rights");
    const struct laz_json *optional = laz_json_get(item, "optional");

    rule->path = path ? laz_json_string(path) : NULL;
    if (rights && laz_json_string(rights))
        rule->rights = laz_landlock_rights(laz_json_string(rights));
    rule->optional = optional && laz_json_is_true(optional);
    if (!rule->path || !rule->rights)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: a rule of Landlock has no path or rights");
    return 0;
}

static int confine_make_ruleset(const struct laz_json *asked, int *ruleset, struct laz_error *err)
{
    const struct laz_json *version = laz_json_get(asked, "abi");
    const struct laz_json *list = laz_json_get(asked, "rules");
    int abi = version ? (int)laz_json_number(version) : 0, rc = 0;
    size_t n = 0, i = 0;

    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item))
        n++;
    struct laz_landlock_rule *rules = calloc(n + 1, sizeof *rules);
    if (!rules)
        return laz_error_nomem(err);
    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item && !rc;
         item = laz_json_next(item))
        rc = confine_rule(item, &rules[i++], err);
    if (!rc)
        rc = laz_os_landlock_make(abi ? abi : laz_os_landlock_abi(), rules, n, ruleset, err);
    free(rules);
    return rc;
}

/* What no rule allows is refused from here on; of files, what is open stays open. */
static int confine_landlock(const struct laz_json *asked, struct laz_error *err)
{
    int ruleset = -1;
    int rc = confine_make_ruleset(asked, &ruleset, err);

    if (!rc)
        rc = laz_os_landlock_enter(ruleset, err);
    laz_os_close(&ruleset);
    return rc;
}

static int confine_filter(const struct laz_json *asked, struct laz_error *err)
{
    const char *name = laz_json_string(asked);

    if (!name)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: the name of a filter is no string");
    return laz_os_filter(name, err);
}

/* ---- the table ------------------------------------------------------------------------------ */

enum confine_when {
    CONFINE_ALWAYS, /* nobody has to ask */
    CONFINE_ASKED,  /* when `init.confine` has a member of that name */
};

static const struct confine_step {
    const char *name;
    enum confine_when when;
    bool may_fail; /* unless `required` lists it */
    int (*apply)(const struct laz_json *asked, struct laz_error *err);
} confine_steps[] = {
    {"no_new_privs", CONFINE_ALWAYS, false, confine_no_new_privs},
    {"core", CONFINE_ALWAYS, false, confine_core},
    {"limits", CONFINE_ASKED, false, confine_limits},
    {"landlock", CONFINE_ASKED, true, confine_landlock},
    {"filter", CONFINE_ASKED, true, confine_filter},
};

#define CONFINE_STEPS (sizeof confine_steps / sizeof confine_steps[0])

static bool confine_is_step(const char *name)
{
    for (size_t i = 0; i < CONFINE_STEPS; i++)
        if (confine_steps[i].when == CONFINE_ASKED && strcmp(confine_steps[i].name, name) == 0)
            return true;
    return false;
}

/* Everything that was asked for is known here. */
static int confine_check(const struct laz_json *confine, struct laz_error *err)
{
    const struct laz_json *asked = confine ? laz_json_first(confine) : NULL;

    for (; asked; asked = laz_json_next(asked))
        if (strcmp(laz_json_key(asked), "required") != 0 && !confine_is_step(laz_json_key(asked)))
            return laz_error_set(
                err, LAZ_ESETUP, 0,
                "this agent knows no confinement \"%s\": it is older than the host",
                laz_json_key(asked));
    return 0;
}

static bool confine_is_required(const struct laz_json *confine, const char *name)
{
    const struct laz_json *list = confine ? laz_json_get(confine, "required") : NULL;
    const struct laz_json *item = list ? laz_json_first(list) : NULL;

    for (; item; item = laz_json_next(item))
        if (laz_json_string(item) && strcmp(laz_json_string(item), name) == 0)
            return true;
    return false;
}

int agent_confine(const struct laz_json *confine, struct laz_buf *report, struct laz_buf *cost,
                  struct laz_error *err)
{
    struct laz_buf missing = LAZ_BUF_INIT;
    int rc = confine_check(confine, err);

    laz_buf_puts(report, ",\"confined\":[");
    for (size_t i = 0, n = 0; i < CONFINE_STEPS && !rc; i++) {
        const struct confine_step *step = &confine_steps[i];
        const struct laz_json *asked = confine ? laz_json_get(confine, step->name) : NULL;
        struct laz_error why = {0};
        if (step->when == CONFINE_ASKED && !asked)
            continue;
        uint64_t begun = laz_clock_us();
        int failed = AGENT_LEFT_OUT(step->name) ? 0 : step->apply(asked, &why);
        laz_buf_printf(cost, "%s%s %llu", cost->len ? ", " : "", step->name,
                       (unsigned long long)(laz_clock_us() - begun));
        if (failed == LAZ_ENOENT && step->when == CONFINE_ALWAYS)
            continue; /* not told as done, nor as missing: this system has no such thing */
        if (!failed) {
            laz_buf_printf(report, "%s\"%s\"", n++ ? "," : "", step->name);
        } else if (step->may_fail && !confine_is_required(confine, step->name)) {
            laz_buf_puts(&missing, missing.len ? "," : "");
            laz_error_prefix(&why, "%s: ", step->name);
            laz_json_quote(&missing, why.text, strlen(why.text));
        } else {
            rc = laz_error_set(err, failed == LAZ_EPROTO ? failed : LAZ_ESETUP, 0, "%s", why.text);
        }
    }
    laz_buf_printf(report, "],\"missing\":[%s]", laz_buf_text(&missing));
    if (!rc && (report->failed || missing.failed || cost->failed))
        rc = laz_error_nomem(err);
    laz_buf_fini(&missing);
    return rc;
}
