/* SPDX-License-Identifier: MIT */
/* test_terminals.c - what backends plan for sandbox.tty: which rights a session gets, and whether
 * the plan claims that the number of its pseudo-terminals is bounded. */
#include "unit.h"

#include "backends.h"
#include "base/buf.h"
#include "os/landlock.h"
#include "plan/plan.h"

#include <string.h>

static const char *const command[] = {"/run/lazaret/bin/lazaret-agent", NULL};

static struct laz_policy policy_with(uint32_t tty)
{
    return (struct laz_policy){
        .size = sizeof(struct laz_policy),
        .home = "/tmp",
        .tmp_size = 65536,
        .own_uid = 1,
        .box_uid = 1000,
        .command = command,
        .host_command = "/opt/lazaret-agent",
        .landlock_abi = 7,
        .tty = tty,
    };
}

static int plan_of(const char *backend, const struct laz_policy *policy, struct laz_plan **plan,
                   struct laz_error *err)
{
    const struct laz_plugin *plugin = backends_load(backend);

    *plan = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    return laz_plan_make(plugin->ops, backend, policy, NULL, 0, NULL, plan, err);
}

/* The rights that Landlock leaves on a path. */
static uint32_t rights_on(const struct laz_plan *plan, const char *path)
{
    const struct laz_wire_rule *rules = plan->agent.landlock.rules.items;
    uint32_t rights = 0;

    for (size_t i = 0; i < plan->agent.landlock.rules.n; i++)
        if (strcmp(rules[i].path, path) == 0)
            rights |= laz_landlock_rights(rules[i].rights);
    return rights;
}

static void sim_terminals_are_given_where_they_are_asked_for(void)
{
    const uint32_t all = LAZ_LANDLOCK_READ | LAZ_LANDLOCK_TERMINAL;
    const struct {
        const char *backend, *place;
        uint32_t tty, nests, rights;
        bool dev; /* bwrap makes the terminals */
        const char *says;
    } rows[] = {
        {"bwrap", "/dev/pts", 0, 0, 0, false, "none in /dev"},
        {"bwrap", "/dev/pts", 0, 1, 0, false, "none in /dev"},
        {"bwrap", "/dev/pts", 1, 0, all, true, "not bounded"},
        {"bwrap", "/dev/pts", 1, 1, all, true, "16 in each session"},
        {"landlock", "/dev/ptmx", 0, 0, 0, false, "Landlock"},
        {"landlock", "/dev/ptmx", 1, 0, LAZ_LANDLOCK_TERMINAL, false, "not bounded"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_policy policy = policy_with(rows[i].tty);
        struct laz_buf json = LAZ_BUF_INIT, says = LAZ_BUF_INIT;
        struct laz_plan *plan;
        policy.nests = rows[i].nests;
        CU_ASSERT_EQUAL_FATAL(plan_of(rows[i].backend, &policy, &plan, NULL), 0);
        laz_plan_json(plan, &json);
        laz_buf_printf(&says, "\"terminals\":\"%s\"", rows[i].says);
        CU_ASSERT_EQUAL(rights_on(plan, rows[i].place), rows[i].rights);
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&json), laz_buf_text(&says)));
        CU_ASSERT_EQUAL((plan->enforces & LAZ_ENFORCE_TERMINALS) == 0,
                        strcmp(rows[i].says, "not bounded") == 0);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&json), "\"--dev\",\"/dev\"") != NULL, rows[i].dev);
        laz_buf_fini(&says);
        laz_buf_fini(&json);
        laz_plan_free(plan);
    }
}

/* Its code could open the terminals of the user. */
static void sim_landlock_refuses_terminals_without_an_own_uid(void)
{
    struct laz_policy policy = policy_with(1);
    struct laz_error err = {0};
    struct laz_plan *plan;

    policy.own_uid = 0;
    CU_ASSERT_EQUAL(plan_of("landlock", &policy, &plan, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sandbox.tty"));
}

static const struct unit_test tests[] = {
    UNIT(sim_terminals_are_given_where_they_are_asked_for),
    UNIT(sim_landlock_refuses_terminals_without_an_own_uid),
    {0},
};

int main(void)
{
    return unit_run("terminals", tests);
}
