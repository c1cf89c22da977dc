/* SPDX-License-Identifier: MIT */
/* test_network_box.c - what a box with a network list has: its confinement and its files, as data.
 */
#include "unit.h"

#include "backends.h"
#include "plan/plan.h"

#include <string.h>

static struct laz_plan *plan_with_list(bool nests)
{
    static const char *const command[] = {"/run/lazaret/bin/lazaret-agent", NULL};
    const struct laz_policy policy = {
        .size = sizeof policy,
        .home = "/tmp",
        .tmp_size = 65536,
        .own_uid = 1,
        .box_uid = 1000,
        .command = command,
        .host_command = "/opt/lazaret-agent",
        .options = "{}",
        .options_len = 2,
        .landlock_abi = 7,
        .nests = nests,
        .network = 1,
    };
    const struct laz_plugin *plugin = backends_load("bwrap");
    struct laz_plan *plan = NULL;

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    CU_ASSERT_EQUAL_FATAL(laz_plan_make(plugin->ops, "bwrap", &policy, NULL, 0, NULL, &plan, NULL),
                          0);
    return plan;
}

static void shows(void (*append)(const struct laz_plan *, struct laz_buf *),
                  const struct laz_plan *plan, const char *part)
{
    struct laz_buf text = LAZ_BUF_INIT;

    append(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), part));
    laz_buf_fini(&text);
}

/* The network is the box's own: what leads out of it is not the agent's to refuse. */
static void sim_bwrap_confines_a_box_with_a_network_list(void)
{
    for (int nests = 0; nests < 2; nests++) {
        struct laz_plan *plan = plan_with_list(nests);
        UNIT_TEXT(plan->agent.filter, "network");
        CU_ASSERT(plan->agent.landlock.lets_network);
        CU_ASSERT(plan->enforces & LAZ_ENFORCE_NETWORK);
        shows(laz_plan_isolation_json, plan, "\"only what is listed: network namespace\"");
        shows(laz_plan_confine_json, plan, "\"network\":true");
        shows(laz_plan_text, plan, "  filter     system calls: network\n");
        shows(laz_plan_text, plan, "  landlock   does not restrict TCP");
        laz_plan_free(plan);
    }
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(sim_bwrap_confines_a_box_with_a_network_list),
        {0},
    };

    return unit_run("network_box", tests);
}
