/* SPDX-License-Identifier: MIT */
/* test_plan_host.c - what the limits of the settings and the means of the host make of a plan. */
#include "unit.h"

#include "plan/plan.h"

#include <string.h>

#define DATA ((int64_t)512 << 20)

/* A backend that serves the policy's limits by the agent, for each process. */
static int each_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                     struct laz_plan *plan, struct laz_error *err)
{
    (void)err;
    api->arg(plan, "tool");
    api->agent_limit(plan, "cpu", policy->limits.cpu_s);
    api->agent_limit(plan, "memory", policy->limits.memory_bytes);
    return 0;
}

static const struct laz_backend_ops ops = {.size = sizeof ops, .plan = each_plan};

static struct laz_plan *plan_of(const struct laz_plan_host *host)
{
    const struct laz_policy policy = {.size = sizeof policy,
                                      .limits = laz_limits_of_plan(host->limits, false)};
    struct laz_plan *plan = NULL;

    CU_ASSERT_EQUAL(laz_plan_make(&ops, "mock", &policy, host, 0, NULL, &plan, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    return plan;
}

/* -1: the agent does not set it. */
static int64_t agent_limit(const struct laz_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->agent.limits.n; i++)
        if (strcmp(plan->agent.limits.items[i].name, name) == 0)
            return plan->agent.limits.items[i].value;
    return -1;
}

/* One limit on CPU time is enough for the property, and one that is not set is not enforced. */
static void plan_holds_what_is_limited(void)
{
    static const struct {
        struct laz_limit_values limits;
        uint32_t enforces;
    } rows[] = {
        {{.cpu_s = 1, .session_cpu_s = 1}, LAZ_ENFORCE_CPU | LAZ_ENFORCE_MEMORY},
        {{.cpu_s = 1, .session_cpu_s = LAZ_UNLIMITED}, LAZ_ENFORCE_CPU | LAZ_ENFORCE_MEMORY},
        {{.cpu_s = LAZ_UNLIMITED, .session_cpu_s = 1}, LAZ_ENFORCE_CPU | LAZ_ENFORCE_MEMORY},
        {{.cpu_s = LAZ_UNLIMITED, .session_cpu_s = LAZ_UNLIMITED}, LAZ_ENFORCE_MEMORY},
        {{.memory_bytes = LAZ_UNLIMITED}, LAZ_ENFORCE_CPU},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_plan_host host = {
            .memory = "group", .cpu = "group", .is_out_of_reach = true, .limits = &rows[i].limits};
        struct laz_plan *plan = plan_of(&host);
        CU_ASSERT_EQUAL(plan->enforces, rows[i].enforces);
        laz_plan_free(plan);
    }
}

/* The kernel counts the CPU time of a process from its start: that is not a limit of an execution.
 */
static void an_agent_has_the_limit_of_the_whole_life(void)
{
    static const struct laz_limit_values values[] = {
        {.cpu_s = 60, .session_cpu_s = LAZ_UNLIMITED},
        {.cpu_s = 60, .session_cpu_s = 90},
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const struct laz_plan_host host = {.is_watched = true, .limits = &values[i]};
        struct laz_plan *plan = plan_of(&host);
        CU_ASSERT_EQUAL(agent_limit(plan, "cpu"), i ? 90 : -1);
        laz_plan_free(plan);
    }
}

/* A group counts what is used; a limit of each process counts what it reserves. */
static void an_agent_may_reserve_more_where_a_group_counts(void)
{
    static const struct laz_limit_values values = {.memory_bytes = DATA,
                                                   .session_cpu_s = LAZ_UNLIMITED};
    static const struct {
        const char *by;
        int64_t limit;
    } rows[] = {{"group", DATA + ((int64_t)1 << 30)}, {NULL, DATA}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_plan_host host = {
            .memory = rows[i].by, .is_watched = true, .limits = &values};
        struct laz_plan *plan = plan_of(&host);
        CU_ASSERT_EQUAL(agent_limit(plan, "memory"), rows[i].limit);
        laz_plan_free(plan);
    }
}

/* Where nothing can count the time of an execution the plan says so. */
static void a_limit_that_nothing_counts_is_named(void)
{
    static const struct laz_limit_values values = {.cpu_s = 60, .session_cpu_s = LAZ_UNLIMITED};
    const struct laz_plan_host hosts[] = {{.limits = &values},
                                          {.is_watched = true, .limits = &values}};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct laz_plan *plan = plan_of(&hosts[i]);
        CU_ASSERT_EQUAL(plan->n_unmet, i ? 0 : 1);
        if (plan->n_unmet)
            UNIT_TEXT(plan->unmet[0].name, "cpu");
        laz_plan_free(plan);
    }
}

static const struct unit_test tests[] = {
    UNIT(plan_holds_what_is_limited),
    UNIT(an_agent_has_the_limit_of_the_whole_life),
    UNIT(an_agent_may_reserve_more_where_a_group_counts),
    UNIT(a_limit_that_nothing_counts_is_named),
    {0},
};

int main(void)
{
    return unit_run("plan_host", tests);
}
