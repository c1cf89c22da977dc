/* SPDX-License-Identifier: MIT */
/* test_trial.c - which backend is taken, who is answered and when.  No process is started: the
 * functions of a box that a trial calls are here, and a test decides how a box ends. */
#include "unit.h"

#include "box/box.h"
#include "os/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes that are none -------------------------------------------------------------------- */

static struct {
    struct laz_box *box; /* the last one that was started; NULL: released */
    struct laz_box_owner owner;
    char backend[16];
    struct laz_plan plan;
    int fails; /* the next start does, with this code */
    bool killed;
    unsigned started;
} mock;

int laz_box_start(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                  const struct laz_box_owner *owner, struct laz_box **box, struct laz_error *err)
{
    if (mock.fails)
        return laz_error_set(err, mock.fails, mock.fails == LAZ_EOS ? EMFILE : 0, "no start");
    CU_ASSERT_PTR_NULL_FATAL(mock.box); /* one after the other */
    mock.box = calloc(1, sizeof *mock.box);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mock.box);
    mock.box->shared = shared;
    mock.plan.status_fd = -1;
    mock.box->plan = &mock.plan;
    mock.box->life.state = LAZ_BOX_SPAWNED;
    mock.owner = *owner;
    mock.killed = false;
    mock.started++;
    snprintf(mock.backend, sizeof mock.backend, "%s", purpose->choice->name);
    *box = mock.box;
    return 0;
}

void laz_box_kill(struct laz_box *box)
{
    CU_ASSERT_PTR_EQUAL(box, mock.box);
    mock.killed = true;
}

bool laz_box_look(struct laz_box *box)
{
    return laz_box_is_ended(box);
}

void laz_box_release(struct laz_box *box)
{
    if (!box)
        return;
    CU_ASSERT_PTR_EQUAL(box, mock.box);
    mock.box = NULL;
    laz_buf_fini(&box->complaint);
    free(box);
}

uint64_t laz_box_token_ms(const struct laz_box_shared *shared)
{
    (void)shared;
    return 5000;
}

bool laz_box_explain(struct laz_box *box, bool timed_out, struct laz_buf *text)
{
    (void)timed_out;
    laz_buf_printf(text, "status %d", box->exit.status);
    return false;
}

/* ---- backends ------------------------------------------------------------------------------- */

static struct laz_backend_ops backend_ops[4];
static struct laz_plugin backends[4];

int laz_registry_find(struct laz_registry *registry, uint32_t kind, const char *name,
                      const struct laz_plugin **plugin, struct laz_error *err)
{
    static const char *const names[] = {"one", "two", "none", "foreign"};

    (void)registry;
    CU_ASSERT_EQUAL(kind, LAZ_PLUGIN_BACKEND);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        backend_ops[i].size = sizeof backend_ops[i];
        backend_ops[i].platforms = strcmp(name, "foreign") == 0 ? "beos" : laz_os_platform();
        backends[i] = (struct laz_plugin){.name = names[i], .ops = &backend_ops[i]};
        *plugin = &backends[i];
        return 0;
    }
    return laz_error_set(err, LAZ_ENOENT, 0, "there is no %s", name);
}

static bool automatic_fails; /* the list of laz_registry_automatic is incomplete */

void laz_registry_automatic(struct laz_registry *registry, const char *platform,
                            struct laz_strv *names)
{
    (void)registry;
    UNIT_TEXT(platform, laz_os_platform());
    laz_strv_add(names, "nowhere");
    if (automatic_fails)
        names->failed = true;
    else
        laz_strv_add(names, "two");
}

void laz_registry_undeclared(struct laz_registry *registry, struct laz_buf *text)
{
    (void)registry;
    laz_buf_puts(text, "; missing is x.backend.json");
}

/* ---- an engine's boxes ---------------------------------------------------------------------- */

struct asking {
    struct laz_box_asker asker;
    int told, rc;
    struct laz_error why;
};

static struct {
    struct laz_driver driver;
    struct laz_box_shared shared;
    struct laz_settings_values values;
    struct laz_buf log;
} world;

static void world_log(void *user, uint32_t level, const char *text)
{
    (void)level;
    laz_buf_printf(user, "%s\n", text);
}

static void world_open(bool strict, const char *first, const char *second)
{
    memset(&world, 0, sizeof world);
    memset(&mock, 0, sizeof mock);
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&world.driver.loop, NULL), 0);
    laz_loop_hold_clock(world.driver.loop);
    world.driver.log = (struct laz_log){world_log, &world.log, LAZ_LOG_WARNING};
    world.values.sandbox.strict = strict;
    laz_strv_add(&world.values.sandbox.backend, first);
    if (second)
        laz_strv_add(&world.values.sandbox.backend, second);
    world.shared.driver = &world.driver;
    world.shared.values = &world.values;
    struct laz_settings *settings;
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, NULL), 0);
    world.shared.settings = settings;
}

static void world_close(void)
{
    CU_ASSERT_PTR_NULL(world.shared.trial);
    CU_ASSERT_PTR_NULL(world.shared.askers);
    CU_ASSERT_PTR_NULL(mock.box);
    laz_driver_turn(&world.driver, 0); /* frees timers that were stopped */
    CU_ASSERT_EQUAL(laz_loop_handles(world.driver.loop), 0);
    laz_loop_free(world.driver.loop);
    laz_settings_free((struct laz_settings *)world.shared.settings);
    laz_strv_fini(&world.values.sandbox.backend);
    laz_buf_fini(&world.log);
    laz_buf_fini(&world.shared.choice.options);
    free(world.shared.choice.name);
}

static void asking_answered(void *user, int rc, const struct laz_error *why)
{
    struct asking *asking = user;

    asking->told++;
    asking->rc = rc;
    asking->why = *why;
}

/* Asks; what is answered at once is in the same place. */
static bool asks(struct asking *asking, bool next)
{
    *asking = (struct asking){.asker = {.user = asking, .answer = asking_answered}};
    int rc = next ? laz_box_next_backend(&world.shared, &asking->asker, &asking->why)
                  : laz_box_backend(&world.shared, &asking->asker, &asking->why);
    if (rc == LAZ_BOX_ASKED)
        return false;
    asking->rc = rc;
    return true;
}

/* The box of the trial ends with this status; then a turn of the loop. */
static void box_ends(int status)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mock.box);
    mock.box->life.state = LAZ_BOX_ENDED;
    mock.box->exit = (struct laz_exit){.known = true, .status = status};
    mock.owner.ended(mock.owner.user);
    laz_driver_turn(&world.driver, 0);
}

static const char *chosen(void)
{
    return world.shared.choice.ops ? world.shared.choice.name : "";
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void the_first_is_taken_without_a_trial(void)
{
    struct asking a;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_EQUAL(a.rc, 0);
    UNIT_TEXT(chosen(), "one");
    CU_ASSERT_FALSE(world.shared.choice.proven);
    CU_ASSERT_EQUAL(mock.started, 0);
    CU_ASSERT_TRUE(asks(&a, false)); /* it is known */
    world_close();
}

static void a_backend_of_another_system_leads_to_a_trial_of_the_next(void)
{
    struct asking a, b;
    char said[120];

    world_open(true, "foreign", "two");
    CU_ASSERT_FALSE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&b, false)); /* joins */
    UNIT_TEXT(mock.backend, "two");
    UNIT_TEXT(chosen(), ""); /* not before the end */
    laz_driver_turn(&world.driver, 0);
    CU_ASSERT_EQUAL(a.told + b.told, 0);
    box_ends(0);
    CU_ASSERT(a.told == 1 && b.told == 1 && a.rc == 0 && b.rc == 0);
    UNIT_TEXT(chosen(), "two");
    CU_ASSERT_TRUE(world.shared.choice.proven);
    CU_ASSERT_EQUAL(mock.started, 1);
    snprintf(said, sizeof said,
             "backend foreign does not work: sandbox.backend: foreign is made for beos and not for "
             "%s; two is used instead\n",
             laz_os_platform());
    UNIT_TEXT(laz_buf_text(&world.log), said);
    world_close();
}

/* The session that failed did so by itself: its error stands, and others go on with the backend. */
static void a_backend_that_works_is_not_replaced(void)
{
    struct asking a, b;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    UNIT_TEXT(mock.backend, "one");
    CU_ASSERT_FALSE(asks(&b, false));
    box_ends(0);
    CU_ASSERT(a.told == 1 && a.rc < 0 && a.why.code == 0);
    CU_ASSERT(b.told == 1 && b.rc == 0);
    UNIT_TEXT(chosen(), "one");
    CU_ASSERT_TRUE(world.shared.choice.proven);
    CU_ASSERT_TRUE(asks(&a, true)); /* it is proven: no trial any more */
    CU_ASSERT(a.rc < 0 && a.why.code == 0);
    CU_ASSERT_EQUAL(mock.started, 1);
    world_close();
}

static void a_backend_that_does_not_work_is_replaced(void)
{
    struct asking a, b;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    CU_ASSERT_FALSE(asks(&b, true));
    box_ends(3);
    UNIT_TEXT(mock.backend, "two");
    CU_ASSERT_EQUAL(a.told, 0);
    UNIT_TEXT(chosen(), "one"); /* as long as there is no other */
    box_ends(0);
    CU_ASSERT(a.told == 1 && a.rc == 0 && b.told == 1 && b.rc == 0);
    UNIT_TEXT(chosen(), "two");
    UNIT_TEXT(laz_buf_text(&world.log),
              "backend one does not work: status 3; two is used instead\n");
    CU_ASSERT_TRUE(asks(&a, true)); /* there is nothing after it */
    CU_ASSERT(a.rc < 0);
    world_close();
}

static void when_none_works_the_error_names_all(void)
{
    struct asking a, b;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    CU_ASSERT_FALSE(asks(&b, false));
    box_ends(3);
    box_ends(4);
    CU_ASSERT(a.told == 1 && a.rc == LAZ_ESETUP && b.told == 1 && b.rc == LAZ_ESETUP);
    UNIT_TEXT(a.why.text,
              "backend one does not work: status 3; backend two does not work: status 4");
    UNIT_TEXT(b.why.text,
              "backend one does not work: status 3; backend two does not work: status 4");
    UNIT_TEXT(chosen(), "");
    world_close();
}

static void without_strict_none_is_taken_at_last(void)
{
    struct asking a;

    world_open(false, "one", "two");
    CU_ASSERT_FALSE(asks(&a, false)); /* even the first is tried */
    UNIT_TEXT(mock.backend, "one");
    box_ends(3);
    box_ends(4);
    CU_ASSERT(a.told == 1 && a.rc == 0);
    UNIT_TEXT(chosen(), "none");
    CU_ASSERT_FALSE(world.shared.choice.proven);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&world.log),
                                  "no sandbox: backend one does not work: status 3; backend "
                                  "two does not work: status 4; the code runs WITHOUT"));
    world_close();
}

static void a_box_that_is_late_is_killed_and_its_end_awaited(void)
{
    const struct laz_error late = {.code = LAZ_ETIMEOUT};
    struct asking a;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    CU_ASSERT_FALSE(mock.killed);
    mock.owner.broken(mock.owner.user, &late);
    CU_ASSERT_TRUE(mock.killed);
    CU_ASSERT_EQUAL(a.told, 0);
    box_ends(0); /* whatever its status is by now */
    CU_ASSERT_FALSE(mock.killed);
    box_ends(4);
    UNIT_TEXT(a.why.text, "backend one does not work: a minimal box was not done within 5 seconds; "
                          "backend two does not work: status 4");
    world_close();
}

static void a_cancel_answers_all_at_once(void)
{
    struct asking a, b;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    CU_ASSERT_FALSE(asks(&b, false));
    laz_box_cancel_waits(&world.shared);
    CU_ASSERT(a.told == 1 && a.rc == LAZ_ECANCELLED && a.why.code == LAZ_ECANCELLED);
    CU_ASSERT(b.told == 1 && b.rc == LAZ_ECANCELLED);
    UNIT_TEXT(b.why.text, "The trial of a backend was cancelled");
    UNIT_TEXT(chosen(), "one");
    CU_ASSERT_FALSE(asks(&a, true)); /* and it can be tried again */
    box_ends(3);
    laz_box_cancel_waits(&world.shared); /* of the second */
    CU_ASSERT(a.told == 1 && a.rc == LAZ_ECANCELLED);
    UNIT_TEXT(chosen(), "");
    laz_box_cancel_waits(&world.shared); /* there is none: no effect */
    world_close();
}

static void a_trial_ends_with_its_last_asker(void)
{
    struct asking a, b;

    world_open(true, "foreign", "two");
    CU_ASSERT_FALSE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&b, false));
    laz_box_withdraw(&world.shared, &a.asker);
    CU_ASSERT_PTR_NOT_NULL(mock.box);
    laz_box_withdraw(&world.shared, &b.asker);
    CU_ASSERT_PTR_NULL(mock.box);
    CU_ASSERT_EQUAL(a.told + b.told, 0);
    CU_ASSERT_FALSE(asks(&b, false)); /* from the beginning */
    box_ends(0);
    CU_ASSERT(b.told == 1 && b.rc == 0);
    world_close();
}

/* A shortage says nothing of a backend: neither the present one is given up nor a weaker one taken.
 */
static void a_shortage_leads_to_no_other_backend(void)
{
    struct asking a;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    mock.fails = LAZ_ENOMEM;
    CU_ASSERT_TRUE(asks(&a, true));
    CU_ASSERT(a.rc < 0 && a.why.code == 0);
    UNIT_TEXT(chosen(), "one");
    world_close();
    world_open(false, "one", "two");
    mock.fails = LAZ_ENOMEM;
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_EQUAL(a.rc, LAZ_ENOMEM);
    UNIT_TEXT(chosen(), "");
    world_close();
}

static void a_shortage_in_the_box_leads_to_no_other_backend(void)
{
    static const char *const said[] = {
        "bwrap: Creating new namespace failed: Cannot allocate memory\n",
        "bwrap: Can't open /proc: Too many open files\n",
        "bwrap: Can't fork: Resource temporarily unavailable\n",
    };
    const struct laz_error lack = {.code = LAZ_EOS, .os_errno = EMFILE, .text = "no descriptor"};
    struct asking a;

    for (size_t i = 0; i <= sizeof said / sizeof *said; i++) {
        world_open(true, "one", "two");
        CU_ASSERT_TRUE(asks(&a, false));
        CU_ASSERT_FALSE(asks(&a, true));
        if (i < sizeof said / sizeof *said)
            laz_buf_puts(&mock.box->complaint, said[i]);
        else
            mock.owner.broken(mock.owner.user, &lack);
        box_ends(1);
        CU_ASSERT(a.told == 1 && a.rc < 0);
        UNIT_TEXT(chosen(), "one");
        world_close();
    }
}

static void a_session_that_comes_up_during_the_trial_proves_the_backend(void)
{
    struct asking a;

    world_open(true, "one", "two");
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&a, true));
    world.shared.choice.proven = true;
    box_ends(3);
    CU_ASSERT(a.told == 1 && a.rc < 0 && a.why.code == 0);
    UNIT_TEXT(chosen(), "one");
    world_close();
}

/* One that is answered withdraws another that waits for its answer. */
static struct asking withdrawn;

static void asking_withdraws(void *user, int rc, const struct laz_error *why)
{
    asking_answered(user, rc, why);
    laz_box_withdraw(&world.shared, &withdrawn.asker);
}

static void an_answer_may_withdraw_another_asker(void)
{
    struct asking a;

    world_open(true, "foreign", "two");
    CU_ASSERT_FALSE(asks(&a, false));
    CU_ASSERT_FALSE(asks(&withdrawn, false));
    a.asker.answer = asking_withdraws;
    box_ends(0);
    CU_ASSERT(a.told == 1 && withdrawn.told == 0);
    world_close();
}

static void auto_is_the_list_of_the_registry(void)
{
    struct asking a;

    world_open(true, "auto", NULL);
    CU_ASSERT_FALSE(asks(&a, false));
    UNIT_TEXT(mock.backend, "two");
    box_ends(0);
    CU_ASSERT(a.told == 1 && a.rc == 0);
    UNIT_TEXT(chosen(), "two");
    world_close();
}

static void nothing_is_chosen_from_an_incomplete_list(void)
{
    struct asking a;

    world_open(true, "auto", NULL);
    automatic_fails = true;
    CU_ASSERT_TRUE(asks(&a, false));
    automatic_fails = false;
    CU_ASSERT_EQUAL(a.rc, LAZ_ENOMEM);
    UNIT_TEXT(chosen(), "");
    world_close();
}

static void a_list_without_backends_is_an_error(void)
{
    struct asking a;

    world_open(true, "auto", NULL);
    laz_strv_fini(&world.values.sandbox.backend);
    CU_ASSERT_TRUE(asks(&a, false));
    CU_ASSERT_EQUAL(a.rc, LAZ_ECONFIG);
    UNIT_TEXT(a.why.text,
              "sandbox.backend names no backend for this system; missing is x.backend.json");
    world_close();
}

/* Wherever it stands, and whatever sandbox.strict says: a box that is weaker than the one that was
 * meant must not take its place. */
static void a_name_that_no_backend_has_is_an_error(void)
{
    static const char *const lists[][2] = {
        {"typo", NULL}, {"typo", "two"}, {"one", "typo"}, {"auto", "typo"}};
    struct asking a;

    for (size_t i = 0; i < 2 * sizeof lists / sizeof *lists; i++) {
        world_open(i % 2 == 0, lists[i / 2][0], lists[i / 2][1]);
        CU_ASSERT_TRUE(asks(&a, false));
        CU_ASSERT_EQUAL(a.rc, LAZ_ENOENT);
        UNIT_TEXT(a.why.text, "sandbox.backend: there is no typo");
        UNIT_TEXT(chosen(), "");
        CU_ASSERT_EQUAL(mock.started, 0);
        world_close();
    }
}

static const struct unit_test tests[] = {
    UNIT(the_first_is_taken_without_a_trial),
    UNIT(a_backend_of_another_system_leads_to_a_trial_of_the_next),
    UNIT(a_backend_that_works_is_not_replaced),
    UNIT(a_backend_that_does_not_work_is_replaced),
    UNIT(when_none_works_the_error_names_all),
    UNIT(without_strict_none_is_taken_at_last),
    UNIT(a_box_that_is_late_is_killed_and_its_end_awaited),
    UNIT(a_cancel_answers_all_at_once),
    UNIT(a_trial_ends_with_its_last_asker),
    UNIT(a_shortage_leads_to_no_other_backend),
    UNIT(a_shortage_in_the_box_leads_to_no_other_backend),
    UNIT(a_session_that_comes_up_during_the_trial_proves_the_backend),
    UNIT(an_answer_may_withdraw_another_asker),
    UNIT(auto_is_the_list_of_the_registry),
    UNIT(nothing_is_chosen_from_an_incomplete_list),
    UNIT(a_list_without_backends_is_an_error),
    UNIT(a_name_that_no_backend_has_is_an_error),
    {0},
};

int main(void)
{
    return unit_run("trial", tests);
}
