/* SPDX-License-Identifier: MIT */
/* test_box_life.c - the life of a box, from its start to the last report: what box.c and
 * box_channel.c do with the token, with lines, with a hang-up, a kill and the clock.
 *
 * The box is of a kind of the test's own: its channel, streams and status are pipes that the test
 * holds the other end of, and its process is a pipe that becomes readable when it "ends".  No
 * process is started, and the clock of the loop is held. */
#include "unit.h"

#include "box/box_private.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_MS 5000
#define DEATH_MS 2000
#define LAST_MS  100
#define LEAVE_MS 10000
#define LOOK_MS  20

static const char token[] = "abcdefghijklmnopqrstuvwxyz012345";

/* How far a start comes. */
enum mock_start { STARTS, FAILS_AT_ONCE, FAILS_HALF_WAY, FAILS_UNWATCHED, WAITS };

static struct {
    struct laz_driver driver;
    struct laz_box_shared shared;
    struct laz_settings_values values;
    struct laz_box *box;
    enum mock_start start;
    int channel, process, inside, out[3], status; /* the far ends */
    bool reaped, gone;                            /* what the kind says */
    unsigned kills, left;
    unsigned authenticated, lines, broken, ended; /* reports */
    char line[64];
    struct laz_error why;
    struct laz_buf log;
} world;

/* ---- the kind ------------------------------------------------------------------------------- */

static int mock_begin(struct laz_box *box, const struct laz_box_purpose *purpose,
                      struct laz_error *err)
{
    (void)purpose;
    if (world.start == FAILS_AT_ONCE)
        return laz_error_set(err, LAZ_ESETUP, 0, "no program");
    if (world.start == WAITS) {
        laz_box_step(box, LAZ_BOX_EVENT_WAIT);
        return 0;
    }
    memcpy(box->token, token, sizeof token);
    if (world.start == FAILS_UNWATCHED) { /* a descriptor that epoll does not take */
        box->process.pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CU_ASSERT_FATAL(box->process.pidfd >= 0);
    } else {
        CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&box->process.pidfd, &world.process, NULL), 0);
    }
    box->process.pid = 1 << 29; /* no process has this number */
    laz_box_step(box, LAZ_BOX_EVENT_SPAWN);
    if (world.start != STARTS)
        return laz_error_set(err, LAZ_EOS, 0, "half-way");
    CU_ASSERT_EQUAL_FATAL(laz_os_channel(&box->channel, &world.channel, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&box->output[1], &world.out[1], NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&box->output[2], &world.out[2], NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&box->status, &world.status, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&box->init_fd, &world.inside, NULL), 0);
    for (int stream = 1; stream <= 2; stream++)
        CU_ASSERT_EQUAL_FATAL(laz_os_nonblock(box->output[stream], true, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_nonblock(box->status, true, NULL), 0);
    return laz_box_watch(box, err);
}

static void mock_kill(struct laz_box *box)
{
    (void)box;
    world.kills++;
}

static bool mock_is_over(struct laz_box *box)
{
    if (world.reaped && !laz_box_was_reaped(box))
        laz_box_step(box, LAZ_BOX_EVENT_REAP);
    return world.gone;
}

static void mock_leave(struct laz_box *box)
{
    CU_ASSERT(!world.box || box == world.box); /* NULL: its start has failed */
    world.left++;
}

static const struct laz_box_kind mock_kind = {
    .name = "mock",
    .start = mock_begin,
    .kill = mock_kill,
    .is_over = mock_is_over,
    .leave = mock_leave,
};

/* ---- the owner ------------------------------------------------------------------------------ */

static void owner_authenticated(void *user)
{
    (void)user;
    world.authenticated++;
}

static bool owner_line(void *user, char *line, size_t len)
{
    (void)user;
    world.lines++;
    snprintf(world.line, sizeof world.line, "%.*s", (int)len, line);
    return true;
}

static void owner_broken(void *user, const struct laz_error *why)
{
    (void)user;
    world.broken++;
    world.why = *why;
}

static void owner_ended(void *user)
{
    (void)user;
    world.ended++;
}

static void world_log(void *user, uint32_t level, const char *text)
{
    if (level <= LAZ_LOG_ERROR)
        laz_buf_printf(user, "%s\n", text);
}

/* ---- the world ------------------------------------------------------------------------------ */

static int world_open(enum mock_start start)
{
    static const struct laz_box_owner owner = {
        .authenticated = owner_authenticated,
        .line = owner_line,
        .broken = owner_broken,
        .ended = owner_ended,
    };
    const struct laz_box_purpose purpose = {.kind = &mock_kind};
    struct laz_error err = {0};

    memset(&world, 0, sizeof world);
    world.channel = world.process = world.inside = world.out[1] = world.out[2] = world.status = -1;
    world.start = start;
    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&world.driver.loop, NULL), 0);
    laz_loop_hold_clock(world.driver.loop);
    world.driver.log = (struct laz_log){world_log, &world.log, LAZ_LOG_ERROR};
    world.values.session.max_message_size = 1000;
    world.shared.driver = &world.driver;
    world.shared.values = &world.values;
    world.shared.death_ms = DEATH_MS;
    int rc = laz_box_start(&world.shared, &purpose, &owner, &world.box, &err);
    return rc;
}

/* Serves what has come, until nothing more does. */
static void world_turns(void)
{
    for (int i = 0; i < 20; i++)
        laz_loop_step(world.driver.loop, 0);
}

static void world_passes(uint64_t ms)
{
    laz_loop_advance_clock(world.driver.loop, ms);
    world_turns();
}

static void world_says(const char *text)
{
    CU_ASSERT_EQUAL(write(world.channel, text, strlen(text)), (ssize_t)strlen(text));
    world_turns();
}

static void world_close_end(int *fd)
{
    laz_os_close(fd);
    world_turns();
}

static void world_is(enum laz_box_state state)
{
    if (world.box->life.state != state)
        printf("\n    it is '%s', not '%s'", laz_box_state_name(world.box->life.state),
               laz_box_state_name(state));
    CU_ASSERT_EQUAL(world.box->life.state, state);
}

/* The outermost process ends, and with it all of the box or not. */
static void world_ends(bool all)
{
    world.reaped = true;
    world.gone = all;
    CU_ASSERT_EQUAL(write(world.process, "", 1), 1);
    world_turns();
}

/* All of it is freed by now, or is by this; no event was refused. */
static void world_close(const char *log)
{
    world_turns();
    CU_ASSERT_PTR_NULL(world.shared.leaving);
    CU_ASSERT_EQUAL(world.left, 1);
    laz_os_close(&world.channel);
    laz_os_close(&world.process);
    laz_os_close(&world.inside);
    laz_os_close(&world.out[1]);
    laz_os_close(&world.out[2]);
    laz_os_close(&world.status);
    CU_ASSERT_EQUAL(laz_loop_handles(world.driver.loop), 0);
    laz_loop_free(world.driver.loop);
    UNIT_TEXT(laz_buf_text(&world.log), log);
    laz_buf_fini(&world.log);
}

static void world_authenticates(void)
{
    world_says(token);
    world_says("\n");
    CU_ASSERT_EQUAL(world.authenticated, 1);
    world_is(LAZ_BOX_AUTHENTICATED);
}

/* ---- starts --------------------------------------------------------------------------------- */

static void a_box_lives_and_is_closed(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_is(LAZ_BOX_SPAWNED);
    world_says("abcdef");
    world_is(LAZ_BOX_CONNECTED);
    CU_ASSERT_EQUAL(world.authenticated, 0);
    world_says(token + 6);
    world_says("\nhello\n");
    world_is(LAZ_BOX_AUTHENTICATED);
    CU_ASSERT(world.authenticated == 1 && world.lines == 1);
    UNIT_TEXT(world.line, "hello");
    laz_box_settle(world.box);
    world_is(LAZ_BOX_UP);
    world_passes(60000); /* no clock runs */
    world_is(LAZ_BOX_UP);
    laz_box_kill(world.box);
    CU_ASSERT_EQUAL(world.kills, 1);
    world_is(LAZ_BOX_ENDING);
    world_says("late\n"); /* discarded */
    CU_ASSERT_EQUAL(world.lines, 1);
    world_ends(true);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT(world.ended == 1 && !world.broken);
    CU_ASSERT_TRUE(laz_box_was_authenticated(world.box) && laz_box_was_up(world.box));
    laz_box_release(world.box);
    world_close("");
}

static void a_start_that_fails_at_once_leaves_nothing(void)
{
    CU_ASSERT_EQUAL(world_open(FAILS_AT_ONCE), LAZ_ESETUP);
    CU_ASSERT_EQUAL(world.left, 1);
    CU_ASSERT_EQUAL(world.kills, 0);
    world_close("");
}

/* The process was spawned, and nothing of it is watched yet: it ends on the loop all the same. */
static void a_start_that_fails_half_way_ends_on_the_loop(void)
{
    CU_ASSERT_EQUAL(world_open(FAILS_HALF_WAY), LAZ_EOS);
    CU_ASSERT_EQUAL(world.kills, 1);
    CU_ASSERT_EQUAL(world.left, 0);
    world.box = world.shared.leaving;
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.box);
    world_is(LAZ_BOX_ENDING);
    world_ends(true);
    CU_ASSERT_EQUAL(world.left, 1);
    world_close("");
}

/* It cannot be watched either: nothing waits for it, and its end is found by looking. */
static void an_end_that_nothing_reports_is_looked_for(void)
{
    CU_ASSERT_EQUAL(world_open(FAILS_UNWATCHED), LAZ_EOS);
    CU_ASSERT(world.kills == 1 && world.left == 0);
    world.box = world.shared.leaving;
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.box);
    world_is(LAZ_BOX_ENDING);
    world_passes(LOOK_MS);
    CU_ASSERT_EQUAL(world.left, 0);
    world.reaped = true;
    world_passes(LOOK_MS);
    world_is(LAZ_BOX_REAPED);
    world.gone = true;
    world_passes(LOOK_MS - 1);
    CU_ASSERT_EQUAL(world.left, 0);
    world_passes(1);
    world_close("");
}

static void an_end_that_is_not_found_is_given_up(void)
{
    CU_ASSERT_EQUAL(world_open(FAILS_UNWATCHED), LAZ_EOS);
    world.box = world.shared.leaving;
    for (int i = 0; i < DEATH_MS / LOOK_MS - 1; i++)
        world_passes(LOOK_MS);
    CU_ASSERT_EQUAL(world.kills, 1);
    world_passes(LOOK_MS);
    CU_ASSERT_EQUAL(world.kills, 2);
    world_passes(LAST_MS);
    world_close("process 536870912 does not end\n");
}

static void a_wrong_token_breaks_the_start(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_says("abcdefghijklmnopqrstuvwxyz012346\n");
    world_is(LAZ_BOX_BROKEN);
    CU_ASSERT(world.broken == 1 && !world.authenticated);
    UNIT_TEXT(world.why.text, "a wrong token was shown");
    laz_box_release(world.box);
    world_is(LAZ_BOX_ENDING);
    CU_ASSERT_PTR_EQUAL(world.shared.leaving, world.box);
    world_ends(true); /* and frees it */
    CU_ASSERT_EQUAL(world.ended, 0);
    world_close("");
}

static void a_token_that_never_comes_breaks_the_start(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_says("abc");
    world_passes(TOKEN_MS - 1);
    world_is(LAZ_BOX_CONNECTED);
    world_passes(1);
    world_is(LAZ_BOX_BROKEN);
    UNIT_TEXT(world.why.text, "no token was shown within 5 seconds");
    laz_box_kill(world.box);
    world_ends(true);
    world_is(LAZ_BOX_ENDED);
    laz_box_release(world.box);
    world_close("");
}

static void a_process_that_ends_before_it_connects_is_reported(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_ends(true);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT(world.ended == 1 && world.kills == 0);
    CU_ASSERT_FALSE(laz_box_was_authenticated(world.box));
    laz_box_release(world.box);
    world_close("");
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void an_agent_that_hangs_up_should_end(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    world_close_end(&world.channel);
    world_is(LAZ_BOX_HUNG_UP);
    CU_ASSERT_TRUE(laz_box_has_hung_up(world.box));
    world_passes(LEAVE_MS - 1);
    world_is(LAZ_BOX_HUNG_UP);
    world_passes(1);
    UNIT_TEXT(world.why.text, "the agent closed its connection and did not end");
    world_is(LAZ_BOX_ENDING);
    CU_ASSERT(world.broken == 1 && world.kills == 1);
    world_ends(true);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT_TRUE(laz_box_has_hung_up(world.box)); /* still */
    laz_box_release(world.box);
    world_close("");
}

static void what_is_left_inside_is_awaited(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    world_ends(false);
    world_is(LAZ_BOX_REAPED);
    CU_ASSERT_EQUAL(world.ended, 0);
    CU_ASSERT_TRUE(laz_box_was_killed(world.box));
    world_close_end(&world.channel);
    world_is(LAZ_BOX_REAPED);
    CU_ASSERT_TRUE(laz_box_has_hung_up(world.box));
    world.gone = true;
    CU_ASSERT_EQUAL(write(world.inside, "", 1), 1);
    world_turns();
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(world.box);
    world_close("");
}

static void a_box_that_does_not_end_is_given_up(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    laz_box_release(world.box);
    CU_ASSERT_EQUAL(world.kills, 1);
    world_passes(DEATH_MS - 1);
    CU_ASSERT_EQUAL(world.kills, 1);
    world_passes(1);
    CU_ASSERT_EQUAL(world.kills, 2); /* once more */
    world_is(LAZ_BOX_ENDING);
    world_passes(LAST_MS);
    CU_ASSERT_EQUAL(world.left, 1);
    world_close("process 536870912 does not end\n");
}

static void a_box_that_ends_at_the_last_kill_is_not_given_up(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    laz_box_kill(world.box);
    world_passes(DEATH_MS);
    world_ends(true);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(world.box);
    world_close("");
}

/* As long as its process is not known, the end of its status is its end. */
static void an_unknown_process_ends_with_its_status(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world.box->process.pid = -1;
    laz_box_kill(world.box);
    world_passes(DEATH_MS);
    world_is(LAZ_BOX_ENDING); /* it has the time for a token */
    CU_ASSERT_EQUAL(world.kills, 1);
    world_close_end(&world.status);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(world.box);
    world_close("");
}

static void a_known_process_does_not_end_with_its_status(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    world_close_end(&world.status);
    world_is(LAZ_BOX_AUTHENTICATED);
    laz_box_release(world.box);
    world_ends(true);
    world_close("");
}

static void a_box_that_waits_is_killed_at_once(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(WAITS), 0);
    world_is(LAZ_BOX_WAITING);
    laz_box_kill(world.box);
    world_is(LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(world.box);
    world_close("");
    CU_ASSERT_EQUAL_FATAL(world_open(WAITS), 0);
    laz_box_release(world.box); /* or freed without an end */
    CU_ASSERT_EQUAL(world.ended, 0);
    world_close("");
}

static void who_looks_sees_an_end_that_no_turn_has_served(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    CU_ASSERT_FALSE(laz_box_look(world.box));
    world.reaped = world.gone = true;
    CU_ASSERT_TRUE(laz_box_look(world.box));
    CU_ASSERT_EQUAL(world.ended, 1);
    CU_ASSERT_TRUE(laz_box_look(world.box)); /* reported once */
    CU_ASSERT_EQUAL(world.ended, 1);
    laz_box_release(world.box);
    world_close("");
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void a_line_that_was_begun_has_five_seconds(void)
{
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    world_says("half");
    world_passes(4999);
    CU_ASSERT_EQUAL(world.broken, 0);
    world_passes(1);
    CU_ASSERT_EQUAL(world.broken, 1);
    world_is(LAZ_BOX_BROKEN);
    laz_box_release(world.box);
    world_ends(true);
    world_close("");
}

static void many_lines_are_served_in_more_than_one_turn(void)
{
    char text[3 * 100];

    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 3 == 2 ? '\n' : 'x';
    CU_ASSERT_EQUAL(write(world.channel, text, sizeof text), (ssize_t)sizeof text);
    laz_loop_step(world.driver.loop, 0);
    CU_ASSERT(world.lines <= 64);
    world_turns();
    CU_ASSERT_EQUAL(world.lines, 100);
    laz_box_release(world.box);
    world_ends(true);
    world_close("");
}

/* A session may be idle for long after it. */
static void a_line_leaves_no_memory_when_it_was_served(void)
{
    char piece[8 << 10];

    memset(piece, 'x', sizeof piece - 1);
    piece[sizeof piece - 1] = '\0';
    CU_ASSERT_EQUAL_FATAL(world_open(STARTS), 0);
    world_authenticates();
    world.box->in.max = 1 << 20;
    for (int i = 0; i < 64; i++)
        world_says(piece);
    CU_ASSERT(world.box->in.buf.cap > 512 << 10);
    world_says("\n");
    CU_ASSERT_EQUAL(world.lines, 1);
    CU_ASSERT(world.box->in.buf.cap <= 256 << 10);
    laz_box_release(world.box);
    world_ends(true);
    world_close("");
}

static const struct unit_test tests[] = {
    UNIT(a_box_lives_and_is_closed),
    UNIT(a_start_that_fails_at_once_leaves_nothing),
    UNIT(a_start_that_fails_half_way_ends_on_the_loop),
    UNIT(an_end_that_nothing_reports_is_looked_for),
    UNIT(an_end_that_is_not_found_is_given_up),
    UNIT(a_wrong_token_breaks_the_start),
    UNIT(a_token_that_never_comes_breaks_the_start),
    UNIT(a_process_that_ends_before_it_connects_is_reported),
    UNIT(an_agent_that_hangs_up_should_end),
    UNIT(what_is_left_inside_is_awaited),
    UNIT(a_box_that_does_not_end_is_given_up),
    UNIT(a_box_that_ends_at_the_last_kill_is_not_given_up),
    UNIT(an_unknown_process_ends_with_its_status),
    UNIT(a_known_process_does_not_end_with_its_status),
    UNIT(a_box_that_waits_is_killed_at_once),
    UNIT(who_looks_sees_an_end_that_no_turn_has_served),
    UNIT(a_line_that_was_begun_has_five_seconds),
    UNIT(many_lines_are_served_in_more_than_one_turn),
    UNIT(a_line_leaves_no_memory_when_it_was_served),
    {0},
};

int main(void)
{
    return unit_run("box_life", tests);
}
