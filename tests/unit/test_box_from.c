/* SPDX-License-Identifier: MIT */
/* test_box_from.c - boxes from a template: waiting, asked for, refused, lost with their template,
 * killed and released at each of these moments.
 *
 * The template is a box whose channel the test holds the other end of, so it answers as the test
 * wants; sessions are asked for as ever, and the test gets the far ends of their channels.  No
 * process is started, and the clock of the loop is held. */
#include "unit.h"

#include "base/clock.h"
#include "box/box_private.h"
#include "box/templates.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/io.h"
#include "os/fd_passing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_MS 5000

static struct {
    struct laz_driver driver;
    struct laz_box_shared shared;
    struct laz_settings_values values;
    struct laz_runtime_info runtime;
    struct template_kind kind;
    struct laz_plan plan; /* of the template's box */
    struct laz_template *template;
    bool template_is_gone;
    int peer;                  /* the far end of the template's channel */
    int ends[LAZ_OS_HANDOVER]; /* of the session that was asked for */
    size_t n_ends;
    char directory[64];
    struct laz_buf log;           /* errors */
    unsigned came, broken, ended; /* reports of the session's box */
    struct laz_error why;
} world;

/* ---- control groups ------------------------------------------------------------------------- */

/* This host makes none. */
int __wrap_laz_box_new_group(struct laz_box_shared *shared, bool to_enter,
                             struct laz_cgroup **group, struct laz_error *err);
int __wrap_laz_box_new_group(struct laz_box_shared *shared, bool to_enter,
                             struct laz_cgroup **group, struct laz_error *err)
{
    (void)shared, (void)to_enter, (void)group;
    return laz_error_set(err, LAZ_EOS, EACCES, "no group can be created");
}

/* ---- the template's own box ----------------------------------------------------------------- */

static void own_kill(struct laz_box *box)
{
    (void)box;
    world.template_is_gone = true;
}

static bool own_is_over(struct laz_box *box)
{
    (void)box;
    return world.template_is_gone;
}

static void own_give_back(struct laz_box *box)
{
    box->plan = NULL; /* it is the test's */
}

static const struct laz_box_kind own_kind = {
    .name = "of a template",
    .kill = own_kill,
    .is_over = own_is_over,
    .give_back = own_give_back,
};

static struct laz_box *own_box(void)
{
    struct laz_box *box = calloc(1, sizeof *box);

    CU_ASSERT_PTR_NOT_NULL_FATAL(box);
    box->shared = &world.shared;
    box->kind = &own_kind;
    box->uid = LAZ_SPAWN_SAME_ID;
    box->process = LAZ_PROCESS_INIT;
    box->listener = box->output[1] = box->output[2] = box->status = -1;
    box->agent_fd = box->init_fd = -1;
    box->usage = LAZ_USAGE_INIT;
    box->life.state = LAZ_BOX_UP;
    box->plan = &world.plan;
    CU_ASSERT_EQUAL_FATAL(laz_os_channel(&box->channel, &world.peer, NULL), 0);
    return box;
}

/* ---- the world ------------------------------------------------------------------------------ */

static void world_log(void *user, uint32_t level, const char *text)
{
    if (level <= LAZ_LOG_ERROR)
        laz_buf_printf(user, "%s\n", text);
}

/* As templates.c does it. */
static void world_tidy(void *user)
{
    struct laz_template *next;

    (void)user;
    for (struct laz_template *t = world.shared.templates->all; t; t = next) {
        next = t->next;
        laz_template_tidy(t);
    }
    if (!world.shared.templates->all)
        world.template = NULL;
}

static void world_waits(void *user)
{
    (void)user;
}

static void world_open(enum template_state state, enum laz_warm warm)
{
    static char name[] = "lua", file[] = "/nowhere/lua.so", backend[] = "b";

    memset(&world, 0, sizeof world);
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&world.driver.loop, NULL), 0);
    laz_loop_hold_clock(world.driver.loop);
    world.driver.log = (struct laz_log){world_log, &world.log, LAZ_LOG_ERROR};
    snprintf(world.directory, sizeof world.directory, "/tmp/lazaret-test-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(world.directory));
    world.values.pool.warm = warm;
    world.runtime.name = name;
    world.runtime.file = file;
    world.plan.backend = backend;
    world.plan.status_fd = -1;
    world.shared.driver = &world.driver;
    world.shared.values = &world.values;
    world.shared.directory = world.directory;
    world.shared.agent = "/nowhere/agent";
    world.shared.death_ms = 1000;
    struct laz_templates *set = calloc(1, sizeof *set);
    struct laz_template *t = calloc(1, sizeof *t);
    CU_ASSERT_FATAL(set && t);
    set->tidy = laz_timer_new(world.driver.loop, world_tidy, NULL);
    set->all = world.template = world.kind.current = t;
    world.shared.templates = set;
    world.kind.runtime = &world.runtime;
    t->shared = &world.shared;
    t->kind = &world.kind;
    t->state = state;
    t->confine = laz_strdup("{}");
    t->timer = laz_timer_new(world.driver.loop, world_waits, NULL);
    t->box = own_box();
    t->box->runtime_file = laz_strdup(file);
}

/* Serves what has come, until nothing more does. */
static void world_turns(void)
{
    for (int i = 0; i < 20; i++)
        laz_loop_step(world.driver.loop, 0);
}

static void world_close(void)
{
    if (world.template)
        laz_template_lose(world.template, 0, "the test is over");
    world_turns();
    CU_ASSERT_PTR_NULL(world.shared.templates->all);
    CU_ASSERT_PTR_NULL(world.shared.leaving);
    UNIT_TEXT(laz_buf_text(&world.log), ""); /* no event was refused */
    laz_timer_stop(world.shared.templates->tidy);
    free(world.shared.templates->refused);
    free(world.shared.templates);
    CU_ASSERT_EQUAL(laz_loop_handles(world.driver.loop), 0);
    laz_loop_free(world.driver.loop);
    laz_os_close(&world.peer);
    laz_os_remove_tree(world.directory);
    laz_buf_fini(&world.log);
}

/* ---- sessions ------------------------------------------------------------------------------- */

static void session_came(void *user)
{
    (void)user;
    world.came++;
}

static void session_broken(void *user, const struct laz_error *why)
{
    (void)user;
    world.broken++;
    world.why = *why;
}

static void session_ended(void *user)
{
    (void)user;
    world.ended++;
}

static int session_ask(struct laz_box **box)
{
    static const struct laz_box_owner owner = {
        .authenticated = session_came, .broken = session_broken, .ended = session_ended};
    const struct laz_box_purpose purpose = {
        .runtime = &world.runtime,
        .kind = &laz_box_from_template,
        .template_of = world.template,
    };

    *box = NULL;
    return laz_box_start(&world.shared, &purpose, &owner, box, NULL);
}

static struct laz_box *session_in(enum laz_box_state state)
{
    struct laz_box *box;

    CU_ASSERT_EQUAL_FATAL(session_ask(&box), 0);
    CU_ASSERT_EQUAL(box->life.state, state);
    return box;
}

/* The template gets the request, with the far ends. */
static void session_is_asked_for(void)
{
    char line[200];

    CU_ASSERT(laz_os_receive(world.peer, line, sizeof line, world.ends, &world.n_ends) > 0);
    CU_ASSERT_EQUAL_FATAL(world.n_ends, LAZ_BOX_ENDS);
}

static struct laz_box *session_asked_for(void)
{
    world_open(TEMPLATE_READY, LAZ_WARM_AUTO);
    struct laz_box *box = session_in(LAZ_BOX_SPAWNED);
    session_is_asked_for();
    return box;
}

static void session_shows(const char *token)
{
    CU_ASSERT_EQUAL(write(world.ends[0], token, strlen(token)), (ssize_t)strlen(token));
    CU_ASSERT_EQUAL(write(world.ends[0], "\n", 1), 1);
    world_turns();
}

/* Every process that was given the far ends has closed them. */
static void session_is_gone(void)
{
    while (world.n_ends)
        laz_os_close(&world.ends[--world.n_ends]);
    world_turns();
}

static void session_is(const struct laz_box *box, enum laz_box_state state)
{
    if (box->life.state != state)
        printf("\n    it is '%s', not '%s'", laz_box_state_name(box->life.state),
               laz_box_state_name(state));
    CU_ASSERT_EQUAL(box->life.state, state);
}

static void session_broke(const struct laz_box *box, const char *part)
{
    session_is(box, LAZ_BOX_BROKEN);
    CU_ASSERT_EQUAL(world.broken, 1);
    if (!strstr(world.why.text, part))
        printf("\n    says:  %s\n    lacks: %s", world.why.text, part);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.why.text, part));
}

/* ---- tests: asked for ----------------------------------------------------------------------- */

/* Its age is evidence of what ended it. */
static void a_session_knows_when_it_was_asked_for(void)
{
    uint64_t before = laz_clock_us();
    struct laz_box *box = session_asked_for();

    CU_ASSERT(box->started_us >= before && box->started_us <= laz_clock_us());
    laz_box_release(box);
    session_is_gone();
    world_close();
}

static void a_wrong_token_loses_the_template(void)
{
    struct laz_box *box = session_asked_for();

    session_shows("abcdefghijklmnopqrstuvwxyz012345");
    session_broke(box, "a wrong token was shown");
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_LOST);
    laz_box_release(box);
    session_is(box, LAZ_BOX_ENDING);
    session_is_gone();
    world_close();
}

/* This process knows the token, and is in no namespace of the template's. */
static void the_token_of_another_process_is_refused(void)
{
    struct laz_box *box = session_asked_for();
    char copy[sizeof box->token];

    snprintf(copy, sizeof copy, "%s", box->token);
    session_shows(copy);
    session_is(box, LAZ_BOX_BROKEN);
    CU_ASSERT(world.broken == 1 && !world.came);
    CU_ASSERT_FALSE(laz_box_was_authenticated(box));
    CU_ASSERT_FALSE(laz_box_is_known(box));
    laz_box_release(box);
    session_is_gone();
    world_close();
}

static void a_session_that_never_comes_loses_the_template(void)
{
    struct laz_box *box = session_asked_for();

    laz_loop_advance_clock(world.driver.loop, TOKEN_MS - 1);
    world_turns();
    session_is(box, LAZ_BOX_SPAWNED);
    laz_loop_advance_clock(world.driver.loop, 1);
    world_turns();
    session_broke(box, "no token was shown within 5 seconds");
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_LOST);
    laz_box_release(box);
    session_is_gone();
    world_close();
}

static void a_session_whose_processes_are_gone_has_ended(void)
{
    struct laz_box *box = session_asked_for();
    struct laz_buf words = LAZ_BUF_INIT;

    laz_os_close(&world.ends[0]);
    world_turns();
    session_is(box, LAZ_BOX_HUNG_UP);
    CU_ASSERT_EQUAL(world.ended, 0);
    session_is_gone();
    session_is(box, LAZ_BOX_ENDED);
    CU_ASSERT(world.ended == 1 && !world.broken);
    CU_ASSERT_FALSE(laz_box_explain(box, false, &words));
    UNIT_TEXT(laz_buf_text(&words), "the process ended before it had shown its token");
    laz_buf_fini(&words);
    laz_box_release(box);
    CU_ASSERT_EQUAL(world.template->boxes, 0);
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_READY);
    world_close();
}

static void a_lost_template_breaks_what_it_was_asked_for(void)
{
    struct laz_box *box = session_asked_for();

    laz_template_lose(world.template, LAZ_ESETUP, "it is lost");
    world_turns();
    session_broke(box, "it is lost");
    CU_ASSERT_FALSE(laz_box_has_turned(box)); /* a process of it may still come */
    laz_box_release(box);
    session_is_gone();
    world_close();
}

/* It cannot be killed: it finds its channel closed. */
static void a_kill_before_it_came_closes_its_channel(void)
{
    struct laz_box *box = session_asked_for();
    char c;

    laz_box_kill(box);
    session_is(box, LAZ_BOX_ENDING);
    CU_ASSERT_EQUAL(read(world.ends[0], &c, 1), 0);
    session_is_gone();
    session_is(box, LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(box);
    world_close();
}

static void one_that_neither_comes_nor_ends_loses_the_template(void)
{
    struct laz_box *box = session_asked_for();

    laz_box_kill(box);
    laz_loop_advance_clock(world.driver.loop, TOKEN_MS);
    world_turns();
    session_is(box, LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_LOST);
    laz_box_release(box);
    session_is_gone();
    world_close();
}

/* The application has not driven the loop for that long. */
static void an_end_that_no_turn_has_served_loses_no_template(void)
{
    struct laz_box *box = session_asked_for();

    laz_box_kill(box);
    while (world.n_ends)
        laz_os_close(&world.ends[--world.n_ends]);
    laz_loop_advance_clock(world.driver.loop, TOKEN_MS);
    laz_box_out_of_patience(box); /* libuv may call timers before it looks at descriptors */
    session_is(box, LAZ_BOX_ENDED);
    world_turns();
    CU_ASSERT(world.ended == 1 && !world.broken);
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_READY);
    laz_box_release(box);
    world_close();
}

static void a_token_that_no_turn_has_served_is_not_late(void)
{
    struct laz_box *box = session_asked_for();

    CU_ASSERT_EQUAL(write(world.ends[0], "x", 1),
                    1); /* it has begun: what comes is judged by that */
    CU_ASSERT_EQUAL(write(world.ends[0], "\n", 1), 1);
    laz_box_out_of_patience(box);
    session_broke(box, "a wrong token was shown");
    laz_box_release(box);
    session_is_gone();
    world_close();
}

static void a_release_before_it_came_ends_by_itself(void)
{
    laz_box_release(session_asked_for());
    CU_ASSERT_PTR_NOT_NULL(world.shared.leaving);
    CU_ASSERT_EQUAL(world.template->boxes, 1);
    session_is_gone();
    CU_ASSERT_EQUAL(world.template->boxes, 0);
    CU_ASSERT_EQUAL(world.ended, 0);
    world_close();
}

static void a_template_that_has_closed_its_channel_is_lost(void)
{
    struct laz_box *box;

    world_open(TEMPLATE_READY, LAZ_WARM_AUTO);
    laz_os_close(&world.peer);
    CU_ASSERT_EQUAL(session_ask(&box), LAZ_ESETUP);
    CU_ASSERT_EQUAL(world.template->state, TEMPLATE_LOST);
    world_close();
}

static int session_without_group(bool is_trial, struct laz_error *err)
{
    static const struct laz_box_owner owner = {0};
    const struct laz_box_purpose purpose = {
        .runtime = &world.runtime, .kind = &laz_box_from_template, .template_of = world.template};
    struct laz_box *box = NULL;

    world.template->host.memory = "cgroup-v2";
    world.template->is_trying = is_trial;
    int rc = laz_box_start(&world.shared, &purpose, &owner, &box, err);
    CU_ASSERT_PTR_NULL(box);
    world.template->is_trying = false;
    return rc;
}

static void a_session_without_its_control_group_is_started_cold(void)
{
    struct laz_error err = {0};

    world_open(TEMPLATE_READY, LAZ_WARM_AUTO);
    CU_ASSERT_EQUAL(session_without_group(false, &err), LAZ_ESETUP);
    UNIT_TEXT(err.text, "no backend of sandbox.backend works"); /* else it would have come */
    world_close();
    world_open(TEMPLATE_READY, LAZ_WARM_TEMPLATE);
    CU_ASSERT_EQUAL(session_without_group(false, &err), LAZ_EREFUSED);
    UNIT_TEXT(err.text, "the session gets no control group: no group can be created");
    world_close();
}

/* A cold box that came in its place would prove that sessions can come from templates. */
static void a_trial_without_its_control_group_is_not_started_cold(void)
{
    struct laz_error err = {0};

    world_open(TEMPLATE_TRIED, LAZ_WARM_AUTO);
    CU_ASSERT_EQUAL(session_without_group(true, &err), LAZ_ESETUP);
    UNIT_TEXT(err.text, "the session gets no control group: no group can be created");
    world_close();
}

/* ---- tests: waiting ------------------------------------------------------------------------- */

static struct laz_box *session_waiting(enum laz_warm warm)
{
    world_open(TEMPLATE_TRIED, warm);
    return session_in(LAZ_BOX_WAITING);
}

static void one_that_waits_is_asked_for_in_its_turn(void)
{
    struct laz_box *box = session_waiting(LAZ_WARM_AUTO);

    laz_loop_advance_clock(world.driver.loop, 60000); /* no clock runs */
    world_turns();
    session_is(box, LAZ_BOX_WAITING);
    world.template->state = TEMPLATE_READY;
    laz_template_tidy(world.template);
    session_is(box, LAZ_BOX_SPAWNED);
    session_is_asked_for();
    laz_box_release(box);
    session_is_gone();
    world_close();
}

static void one_that_waits_breaks_when_it_cannot_be_asked_for(void)
{
    struct laz_box *box = session_waiting(LAZ_WARM_AUTO);

    laz_os_close(&world.peer);
    world.template->state = TEMPLATE_READY;
    laz_template_tidy(world.template);
    session_broke(box, "cannot write to the channel of the template of lua");
    laz_box_release(box);
    world_close();
}

/* The start fails, because there is no agent; that it was begun is what counts. */
static void one_that_waits_is_started_cold_when_its_template_is_lost(void)
{
    static const struct laz_backend_ops ops = {.size = sizeof ops};
    struct laz_box *box = session_waiting(LAZ_WARM_AUTO);
    static char backend[] = "b";

    world.shared.choice.ops = &ops;
    world.shared.choice.name = backend;
    UNIT_TEXT(box->runtime_file, "/nowhere/lua.so");
    laz_template_lose(world.template, LAZ_ESETUP, "it is lost");
    CU_ASSERT_EQUAL(world.broken, 0); /* in a turn of its own */
    world_turns();
    session_broke(box, "/nowhere/agent cannot be used");
    CU_ASSERT_PTR_NULL(box->runtime_file); /* the new backend may show it elsewhere */
    CU_ASSERT_TRUE(laz_box_has_turned(box));
    CU_ASSERT_PTR_NULL(world.template); /* nothing of it is left */
    laz_box_kill(box);
    session_is(box, LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(box);
    world_close();
}

static void one_that_waits_needs_a_backend_to_be_started_cold(void)
{
    struct laz_box *box = session_waiting(LAZ_WARM_AUTO);

    laz_template_lose(world.template, LAZ_ESETUP, "it is lost");
    world_turns();
    session_broke(box, "no backend of sandbox.backend works");
    laz_box_release(box);
    world_close();
}

static void one_that_may_not_be_cold_breaks_with_its_template(void)
{
    struct laz_box *box = session_waiting(LAZ_WARM_TEMPLATE);

    laz_template_lose(world.template, LAZ_ESETUP, "it is lost");
    world_turns();
    session_broke(box, "it is lost");
    CU_ASSERT_FALSE(laz_box_has_turned(box));
    laz_box_release(box);
    world_close();
}

static void one_that_is_killed_while_it_waits_is_not_asked_for(void)
{
    struct laz_box *box = session_waiting(LAZ_WARM_AUTO);

    laz_box_kill(box);
    session_is(box, LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    world.template->state = TEMPLATE_READY;
    laz_template_tidy(world.template);
    session_is(box, LAZ_BOX_ENDED);
    laz_box_release(box);
    CU_ASSERT_EQUAL(world.template->made, 1);
    CU_ASSERT_EQUAL(world.template->n_spawns, 0);
    world_close();
}

static void one_that_is_released_while_it_waits_is_freed_at_once(void)
{
    laz_box_release(session_waiting(LAZ_WARM_AUTO));
    CU_ASSERT_PTR_NULL(world.shared.leaving);
    CU_ASSERT_PTR_NULL(world.template->waiting);
    CU_ASSERT_EQUAL(world.template->boxes, 0);
    world_close();
}

static const struct unit_test tests[] = {
    UNIT(a_session_knows_when_it_was_asked_for),
    UNIT(a_wrong_token_loses_the_template),
    UNIT(the_token_of_another_process_is_refused),
    UNIT(a_session_that_never_comes_loses_the_template),
    UNIT(a_session_whose_processes_are_gone_has_ended),
    UNIT(a_lost_template_breaks_what_it_was_asked_for),
    UNIT(a_kill_before_it_came_closes_its_channel),
    UNIT(one_that_neither_comes_nor_ends_loses_the_template),
    UNIT(an_end_that_no_turn_has_served_loses_no_template),
    UNIT(a_token_that_no_turn_has_served_is_not_late),
    UNIT(a_release_before_it_came_ends_by_itself),
    UNIT(a_template_that_has_closed_its_channel_is_lost),
    UNIT(a_session_without_its_control_group_is_started_cold),
    UNIT(a_trial_without_its_control_group_is_not_started_cold),
    UNIT(one_that_waits_is_asked_for_in_its_turn),
    UNIT(one_that_waits_breaks_when_it_cannot_be_asked_for),
    UNIT(one_that_waits_is_started_cold_when_its_template_is_lost),
    UNIT(one_that_waits_needs_a_backend_to_be_started_cold),
    UNIT(one_that_may_not_be_cold_breaks_with_its_template),
    UNIT(one_that_is_killed_while_it_waits_is_not_asked_for),
    UNIT(one_that_is_released_while_it_waits_is_freed_at_once),
    {0},
};

int main(void)
{
    return unit_run("box_from", tests);
}
