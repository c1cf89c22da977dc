/* SPDX-License-Identifier: MIT */
/* test_box_fsm.c - the states of a box: each event in each state, lives from their first to their
 * last event, and what a box is asked about its past.  No process is started. */
#include "unit.h"

#include "box/box_fsm.h"

#include <lazaret/plugin.h>
#include <stdio.h>
#include <string.h>

#define ON(event) (1u << LAZ_BOX_EVENT_##event)

/* Of each state: the events it allows. */
static const uint32_t allowed[LAZ_BOX_STATES] = {
    [LAZ_BOX_NEW] = ON(WAIT) | ON(TURN) | ON(SPAWN) | ON(BREAK) | ON(KILL),
    [LAZ_BOX_WAITING] = ON(TURN) | ON(SPAWN) | ON(BREAK) | ON(KILL),
    [LAZ_BOX_SPAWNED] = ON(CONNECT) | ON(HANG_UP) | ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_CONNECTED] = ON(TOKEN) | ON(HANG_UP) | ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_AUTHENTICATED] = ON(SETTLE) | ON(HANG_UP) | ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_UP] = ON(HANG_UP) | ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_HUNG_UP] = ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_BROKEN] = ON(BREAK) | ON(KILL) | ON(REAP) | ON(END),
    [LAZ_BOX_ENDING] = ON(CONNECT) | ON(HANG_UP) | ON(BREAK) | ON(OVERDUE) | ON(REAP) | ON(END),
    [LAZ_BOX_REAPED] = ON(CONNECT) | ON(HANG_UP) | ON(BREAK) | ON(KILL) | ON(OVERDUE) | ON(END),
    [LAZ_BOX_ENDED] = ON(REAP),
};

static void each_event_is_allowed_or_refused_in_each_state(void)
{
    for (int state = 0; state < LAZ_BOX_STATES; state++) {
        for (int event = 0; event < LAZ_BOX_EVENTS; event++) {
            struct laz_box_life life = {(enum laz_box_state)state, 0};
            bool may = allowed[state] & 1u << event;
            bool was = laz_box_life_step(&life, (enum laz_box_event)event, NULL, "x");
            if (was != may)
                printf("\n    event %d in state '%s'", event,
                       laz_box_state_name((enum laz_box_state)state));
            CU_ASSERT_EQUAL(was, may);
            CU_ASSERT_EQUAL(life.had, may ? 1u << event : 0u);
            CU_ASSERT(may || life.state == (enum laz_box_state)state);
        }
    }
}

static void each_state_has_a_name_of_its_own(void)
{
    for (int state = 0; state < LAZ_BOX_STATES; state++) {
        const char *name = laz_box_state_name((enum laz_box_state)state);
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        for (int other = 0; other < state; other++)
            CU_ASSERT(strcmp(name, laz_box_state_name((enum laz_box_state)other)) != 0);
    }
}

/* The states that some events lead to, starting with one. */
static uint32_t reached_from(enum laz_box_state state)
{
    uint32_t reached = 1u << state, before = 0;

    while (reached != before) {
        before = reached;
        for (int from = 0; from < LAZ_BOX_STATES; from++) {
            for (int event = 0; event < LAZ_BOX_EVENTS && (before & 1u << from); event++) {
                struct laz_box_life life = {(enum laz_box_state)from, 0};
                if (laz_box_life_step(&life, (enum laz_box_event)event, NULL, "x"))
                    reached |= 1u << life.state;
            }
        }
    }
    return reached;
}

static void each_state_has_a_way_to_its_end(void)
{
    uint32_t from_new = reached_from(LAZ_BOX_NEW);

    CU_ASSERT_EQUAL(from_new, (1u << LAZ_BOX_STATES) - 1); /* and each can be reached */
    for (int state = 0; state < LAZ_BOX_STATES; state++)
        CU_ASSERT(reached_from((enum laz_box_state)state) & 1u << LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(reached_from(LAZ_BOX_ENDED), 1u << LAZ_BOX_ENDED);
}

/* Once it is killed or its process is gone, nothing brings it back. */
static void an_end_that_has_begun_is_not_undone(void)
{
    const uint32_t ending = 1u << LAZ_BOX_ENDING | 1u << LAZ_BOX_REAPED | 1u << LAZ_BOX_ENDED;

    CU_ASSERT_EQUAL(reached_from(LAZ_BOX_ENDING), ending);
    CU_ASSERT_EQUAL(reached_from(LAZ_BOX_REAPED), ending & ~(1u << LAZ_BOX_ENDING));
}

static void every_box_can_be_killed_once(void)
{
    for (int state = 0; state < LAZ_BOX_STATES; state++) {
        struct laz_box_life life = {(enum laz_box_state)state, 0};
        bool over = state == LAZ_BOX_ENDING || state == LAZ_BOX_ENDED;
        CU_ASSERT_EQUAL(laz_box_life_step(&life, LAZ_BOX_EVENT_KILL, NULL, "x"), !over);
        CU_ASSERT(over || laz_box_life_had(&life, LAZ_BOX_EVENT_KILL));
        CU_ASSERT(life.state == LAZ_BOX_ENDING || life.state == LAZ_BOX_REAPED ||
                  life.state == LAZ_BOX_ENDED);
    }
}

/* ---- lives ---------------------------------------------------------------------------------- */

#define STEP(event, state)                                                                         \
    {                                                                                              \
        LAZ_BOX_EVENT_##event, LAZ_BOX_##state                                                     \
    }

/* A life, step by step. */
struct course {
    const char *what;
    struct {
        enum laz_box_event event;
        enum laz_box_state after;
    } steps[10];
    unsigned n;
};

static const struct course courses[] = {
    {"cold, closed",
     {STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED), STEP(TOKEN, AUTHENTICATED), STEP(SETTLE, UP),
      STEP(KILL, ENDING), STEP(HANG_UP, ENDING), STEP(REAP, REAPED), STEP(END, ENDED)},
     8},
    {"its program does not exist: released as it is", {{0}}, 0},
    {"started, and not watched", {STEP(SPAWN, SPAWNED), STEP(KILL, ENDING), STEP(END, ENDED)}, 3},
    {"no token",
     {STEP(SPAWN, SPAWNED), STEP(BREAK, BROKEN), STEP(KILL, ENDING), STEP(REAP, REAPED),
      STEP(END, ENDED)},
     5},
    {"a wrong token",
     {STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED), STEP(BREAK, BROKEN), STEP(KILL, ENDING),
      STEP(REAP, REAPED), STEP(END, ENDED)},
     6},
    {"it hangs up and ends",
     {STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED), STEP(TOKEN, AUTHENTICATED), STEP(SETTLE, UP),
      STEP(HANG_UP, HUNG_UP), STEP(REAP, REAPED), STEP(KILL, REAPED), STEP(END, ENDED)},
     8},
    {"it hangs up and stays",
     {STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED), STEP(TOKEN, AUTHENTICATED),
      STEP(HANG_UP, HUNG_UP), STEP(BREAK, BROKEN), STEP(KILL, ENDING), STEP(REAP, REAPED),
      STEP(END, ENDED)},
     8},
    {"killed before it connects, and it does",
     {STEP(SPAWN, SPAWNED), STEP(KILL, ENDING), STEP(CONNECT, ENDING), STEP(REAP, REAPED),
      STEP(HANG_UP, REAPED), STEP(END, ENDED)},
     6},
    {"its program ends before anything connects",
     {STEP(SPAWN, SPAWNED), STEP(REAP, REAPED), STEP(END, ENDED)},
     3},
    {"killed and never gone: the wait ends first",
     {STEP(SPAWN, SPAWNED), STEP(KILL, ENDING), STEP(OVERDUE, ENDING), STEP(END, ENDED),
      STEP(REAP, ENDED)},
     5},
    {"from a template, closed",
     {STEP(WAIT, WAITING), STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED),
      STEP(TOKEN, AUTHENTICATED), STEP(SETTLE, UP), STEP(KILL, ENDING), STEP(REAP, REAPED),
      STEP(END, ENDED)},
     8},
    {"its template is lost while it waits, and it is started cold",
     {STEP(WAIT, WAITING), STEP(TURN, NEW), STEP(SPAWN, SPAWNED), STEP(CONNECT, CONNECTED),
      STEP(TOKEN, AUTHENTICATED)},
     5},
    {"turned, and it cannot be started",
     {STEP(WAIT, WAITING), STEP(TURN, NEW), STEP(BREAK, BROKEN), STEP(KILL, ENDING),
      STEP(END, ENDED)},
     5},
    {"its template is lost while it waits, and that is all",
     {STEP(WAIT, WAITING), STEP(BREAK, BROKEN), STEP(KILL, ENDING), STEP(END, ENDED)},
     4},
    {"asked for, and it never comes",
     {STEP(SPAWN, SPAWNED), STEP(BREAK, BROKEN), STEP(KILL, ENDING), STEP(END, ENDED)},
     4},
    {"asked for, and every process has closed its status",
     {STEP(SPAWN, SPAWNED), STEP(HANG_UP, HUNG_UP), STEP(END, ENDED)},
     3},
    {"killed while it waits", {STEP(WAIT, WAITING), STEP(KILL, ENDING), STEP(END, ENDED)}, 3},
};

static void lives_follow_the_table(void)
{
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        const struct course *course = &courses[i];
        struct laz_box_life life = {0};
        for (unsigned k = 0; k < course->n; k++) {
            bool ok = laz_box_life_step(&life, course->steps[k].event, NULL, "x");
            if (!ok || life.state != course->steps[k].after)
                printf("\n    %s: step %u leads to '%s'", course->what, k,
                       laz_box_state_name(life.state));
            CU_ASSERT_TRUE(ok);
            CU_ASSERT_EQUAL(life.state, course->steps[k].after);
            CU_ASSERT_TRUE(laz_box_life_had(&life, course->steps[k].event));
        }
    }
}

static void what_has_happened_is_known_later(void)
{
    struct laz_box_life life = {0};

    CU_ASSERT_EQUAL(life.state, LAZ_BOX_NEW);
    CU_ASSERT_FALSE(laz_box_life_had(&life, LAZ_BOX_EVENT_WAIT));
    CU_ASSERT_FALSE(laz_box_life_step(&life, LAZ_BOX_EVENT_TOKEN, NULL, "x"));
    CU_ASSERT_FALSE(laz_box_life_had(&life, LAZ_BOX_EVENT_TOKEN)); /* it was refused */
    laz_box_life_step(&life, LAZ_BOX_EVENT_SPAWN, NULL, "x");
    laz_box_life_step(&life, LAZ_BOX_EVENT_CONNECT, NULL, "x");
    laz_box_life_step(&life, LAZ_BOX_EVENT_TOKEN, NULL, "x");
    laz_box_life_step(&life, LAZ_BOX_EVENT_KILL, NULL, "x");
    laz_box_life_step(&life, LAZ_BOX_EVENT_HANG_UP, NULL, "x");
    laz_box_life_step(&life, LAZ_BOX_EVENT_END, NULL, "x");
    CU_ASSERT_EQUAL(life.state, LAZ_BOX_ENDED);
    CU_ASSERT_EQUAL(life.had,
                    ON(SPAWN) | ON(CONNECT) | ON(TOKEN) | ON(KILL) | ON(HANG_UP) | ON(END));
    CU_ASSERT_FALSE(laz_box_life_had(&life, LAZ_BOX_EVENT_SETTLE));
    CU_ASSERT_FALSE(laz_box_life_had(&life, LAZ_BOX_EVENT_REAP));
}

static void note(void *user, uint32_t level, const char *text)
{
    snprintf(user, 100, "%u %s", (unsigned)level, text);
}

static void steps_are_logged(void)
{
    char said[100] = "";
    const struct laz_log log = {note, said, LAZ_LOG_DEBUG};
    struct laz_box_life life = {0};

    laz_box_life_step(&life, LAZ_BOX_EVENT_SPAWN, &log, "7");
    UNIT_TEXT(said, "3 box 7: spawn, new -> spawned");
    laz_box_life_step(&life, LAZ_BOX_EVENT_SETTLE, &log, "7");
    UNIT_TEXT(said, "0 box 7: event 'settle' in state 'spawned' is not legal");
}

static const struct unit_test tests[] = {
    UNIT(each_event_is_allowed_or_refused_in_each_state),
    UNIT(each_state_has_a_name_of_its_own),
    UNIT(each_state_has_a_way_to_its_end),
    UNIT(an_end_that_has_begun_is_not_undone),
    UNIT(every_box_can_be_killed_once),
    UNIT(lives_follow_the_table),
    UNIT(what_has_happened_is_known_later),
    UNIT(steps_are_logged),
    {0},
};

int main(void)
{
    return unit_run("box_fsm", tests);
}
