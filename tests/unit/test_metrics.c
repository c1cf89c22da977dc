/* SPDX-License-Identifier: MIT */
/* test_metrics.c - counters and their text, and whether a process is well. The form of the text is
 * judged by tests/session/telemetry.py, which reads it as Prometheus does. */
#include "unit.h"

#include "base/place.h"
#include "loop/driver.h"
#include "network/network.h"
#include "os/usage.h"
#include "session/session_fsm.h"
#include "telemetry/metrics.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_has(const char *line)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_metrics_write(&text);
    char *whole = laz_strdupf("\n%s\n", line);
    const bool has = !text.failed && strstr(laz_buf_text(&text), whole) != NULL;
    if (!has)
        printf("    missing: %s\n", line);
    free(whole);
    laz_buf_fini(&text);
    return has;
}

/* ---- counters -------------------------------------------------------------------------------- */

static void counters_are_added_to(void)
{
    laz_metrics_add(LAZ_METRIC_TOOL_CALLS, LAZ_METRIC_TIMEOUT, 2);
    laz_metrics_add(LAZ_METRIC_TOOL_CALLS, LAZ_METRIC_TIMEOUT, 1);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_TOOL_CALLS, LAZ_METRIC_TIMEOUT), 3);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_TOOL_CALLS, LAZ_METRIC_OK), 0);
    CU_ASSERT(text_has("lazaret_tool_calls_total{outcome=\"timeout\"} 3"));
    CU_ASSERT(text_has("lazaret_tool_calls_total{outcome=\"ok\"} 0"));
}

static void gauges_go_up_and_down(void)
{
    laz_metrics_add(LAZ_METRIC_WAITING, 0, 3);
    laz_metrics_add(LAZ_METRIC_WAITING, 0, -4);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_WAITING, 0), -1);
    CU_ASSERT(text_has("lazaret_pool_waiting -1"));
    laz_metrics_add(LAZ_METRIC_WAITING, 0, 1);
}

static void buckets_of_a_histogram_are_cumulative(void)
{
    laz_metrics_observe(LAZ_METRIC_STARTS, LAZ_METRIC_COLD, 1000); /* the bound belongs to it */
    laz_metrics_observe(LAZ_METRIC_STARTS, LAZ_METRIC_COLD, 1001);
    laz_metrics_observe(LAZ_METRIC_STARTS, LAZ_METRIC_COLD, 600000000);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_COLD), 3);
    CU_ASSERT(text_has("lazaret_session_start_seconds_bucket{kind=\"cold\",le=\"0.001\"} 1"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_bucket{kind=\"cold\",le=\"0.0025\"} 2"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_bucket{kind=\"cold\",le=\"300\"} 2"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_bucket{kind=\"cold\",le=\"+Inf\"} 3"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_sum{kind=\"cold\"} 600.002001"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_count{kind=\"cold\"} 3"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_count{kind=\"template\"} 0"));
    laz_metrics_observe(LAZ_METRIC_STARTS, LAZ_METRIC_WORKER, 1001); /* the last kind has room */
    CU_ASSERT(text_has("lazaret_session_start_seconds_bucket{kind=\"worker\",le=\"0.0025\"} 1"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_count{kind=\"worker\"} 1"));
    CU_ASSERT(text_has("lazaret_session_start_seconds_count{kind=\"template\"} 0"));
}

/* Words of labels that another part of lazaret has as well. */
static void words_are_those_of_their_tables(void)
{
    unsigned n = 0;

    for (; n < LAZ_N_DENIED; n++)
        UNIT_TEXT(laz_metrics_word(LAZ_METRIC_NETWORK_DENIALS, n),
                  laz_denied_word((enum laz_denied)n));
    CU_ASSERT_PTR_NULL(laz_metrics_word(LAZ_METRIC_NETWORK_DENIALS, n));
    for (n = 0; n <= LAZ_VERDICT_SETUP_FAILED; n++)
        UNIT_TEXT(laz_metrics_word(LAZ_METRIC_EXECUTIONS, n),
                  laz_verdict_name((enum laz_verdict)n));
    UNIT_TEXT(laz_metrics_word(LAZ_METRIC_EXECUTIONS, LAZ_METRIC_NO_VERDICT), "no_result");
    CU_ASSERT_PTR_NULL(laz_metrics_word(LAZ_METRIC_EXECUTIONS, LAZ_METRIC_NO_VERDICT + 1));
    CU_ASSERT_PTR_NULL(laz_metrics_word(LAZ_METRIC_WAITING, 0));
}

/* ---- sessions -------------------------------------------------------------------------------- */

static bool sessions_are(int64_t starting, int64_t idle, int64_t executing)
{
    return laz_metrics_value(LAZ_METRIC_SESSIONS, LAZ_METRIC_STARTING) == starting &&
           laz_metrics_value(LAZ_METRIC_SESSIONS, LAZ_METRIC_IDLE) == idle &&
           laz_metrics_value(LAZ_METRIC_SESSIONS, LAZ_METRIC_EXECUTING) == executing;
}

static void sessions_are_counted_by_their_state(void)
{
    static const struct laz_log silent = {0};
    enum laz_session_state state = LAZ_SESSION_NEW;
    static const struct {
        enum laz_session_event event;
        int64_t starting, idle, executing;
    } steps[] = {
        {LAZ_EVENT_SPAWNED, 1, 0, 0}, {LAZ_EVENT_TOKEN, 1, 0, 0},   {LAZ_EVENT_READY, 0, 1, 0},
        {LAZ_EVENT_EXECUTE, 0, 0, 1}, {LAZ_EVENT_EXECUTE, 0, 0, 1}, /* not allowed */
        {LAZ_EVENT_DONE, 0, 1, 0},    {LAZ_EVENT_REPLACE, 0, 0, 0}, {LAZ_EVENT_SPAWNED, 1, 0, 0},
        {LAZ_EVENT_CLOSE, 0, 0, 0},   {LAZ_EVENT_GONE, 0, 0, 0},
    };

    CU_ASSERT(sessions_are(0, 0, 0));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        (void)laz_session_step(&state, steps[i].event, &silent, "x");
        CU_ASSERT(sessions_are(steps[i].starting, steps[i].idle, steps[i].executing));
    }
    laz_session_count(LAZ_SESSION_IDLE, 1);
    laz_session_count(LAZ_SESSION_IDLE, -1);
    laz_session_count(LAZ_SESSION_CLOSED, -1); /* it was not counted */
    CU_ASSERT(sessions_are(0, 0, 0));
}

/* ---- templates ------------------------------------------------------------------------------- */

static void templates_are_shown_by_runtime(void)
{
    struct laz_metrics_life first = {0}, second = {0}, other = {0};

    laz_metrics_begin_life(&first, "lua");
    laz_metrics_begin_life(&second, "lua");
    laz_metrics_begin_life(&second, "lua"); /* no effect */
    laz_metrics_begin_life(&other, "a\"b\\c\nd");
    CU_ASSERT(text_has("lazaret_templates{runtime=\"lua\"} 2"));
    CU_ASSERT(text_has("lazaret_templates{runtime=\"a\\\"b\\\\c\\nd\"} 1"));
    laz_metrics_end_life(&first);
    laz_metrics_end_life(&first);
    CU_ASSERT(text_has("lazaret_templates{runtime=\"lua\"} 1"));
    laz_metrics_end_life(&second);
    laz_metrics_end_life(&other);
    CU_ASSERT(!text_has("lazaret_templates{runtime=\"lua\"} 1"));
}

static void the_process_is_shown(void)
{
    struct laz_own_usage usage;

    if (!laz_os_own_usage(&usage)) {
        unit_skip("usage", "this system does not report it");
        return;
    }
    CU_ASSERT(usage.rss_bytes > 100000 && usage.descriptors >= 3);
    CU_ASSERT(usage.started_s > 1700000000);
    CU_ASSERT(usage.cpu_us > 0);
}

/* ---- health ---------------------------------------------------------------------------------- */

static bool health_is(uint64_t now_us, bool is_well, const char *says)
{
    struct laz_buf text = LAZ_BUF_INIT;
    const bool well = laz_health_write(&text, now_us);
    const bool is = well == is_well && strcmp(laz_buf_text(&text), says) == 0;

    if (!is)
        printf("    says: %s", laz_buf_text(&text));
    laz_buf_fini(&text);
    return is;
}

static void a_reason_makes_it_unwell(void)
{
    CU_ASSERT(health_is(1, true, "ok\n"));
    laz_health_set("draining");
    CU_ASSERT(health_is(1, false, "draining\n"));
    laz_health_set(NULL);
    CU_ASSERT(health_is(1, true, "ok\n"));
}

static void a_loop_that_does_not_turn_makes_it_unwell(void)
{
    struct laz_pulse pulse = {0}, other = {0};

    laz_health_watch(&pulse);
    laz_health_watch(&other);
    laz_pulse_works(&pulse, 1000);
    CU_ASSERT(health_is(1000 + LAZ_HEALTH_STALL_US, true, "ok\n"));
    CU_ASSERT(health_is(12001000, false, "an engine has work, and has not turned for 12 s\n"));
    CU_ASSERT(health_is(500, true, "ok\n")); /* it has turned since the clock was read */
    laz_pulse_waits(&pulse);
    CU_ASSERT(health_is(12001000, true, "ok\n")); /* it waits, for as long as it likes */
    laz_pulse_works(&pulse, 1000);
    laz_health_forget(&pulse);
    laz_health_forget(&pulse);
    CU_ASSERT(health_is(12001000, true, "ok\n"));
    laz_health_forget(&other);
}

static uint64_t seen_us;

static void pulse_due(void *user)
{
    const struct laz_driver *driver = user;

    seen_us = atomic_load(&driver->pulse.since_us);
}

static bool pulse_serve(void *user)
{
    (void)user;
    return false;
}

/* While a handler of the loop runs, that it works is not known yet; after the turn it is. */
static void a_driver_notes_its_turns(void)
{
    struct laz_driver driver = {.owner = {.serve = pulse_serve}};

    CU_ASSERT_EQUAL_FATAL(laz_driver_init(&driver, 1, NULL), 0);
    struct laz_timer *timer = laz_timer_new(driver.loop, pulse_due, &driver);
    CU_ASSERT_EQUAL(atomic_load(&driver.pulse.since_us), 0);
    seen_us = 1;
    laz_timer_start(timer, 0);
    laz_driver_turn(&driver, LAZ_LOOP_FOREVER);
    CU_ASSERT(seen_us == 0);
    CU_ASSERT(atomic_load(&driver.pulse.since_us) > 0);
    laz_timer_stop(timer);
    laz_driver_fini(&driver);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names_of_this_machine_are_known(void)
{
    CU_ASSERT(laz_place_is_local("localhost") && laz_place_is_local("127.0.0.1:80") &&
              laz_place_is_local("[::1]:1"));
    CU_ASSERT(!laz_place_is_local("localhost.example") && !laz_place_is_local("example:80") &&
              !laz_place_is_local("localhost:") && !laz_place_is_local(""));
}

static const struct unit_test tests[] = {
    UNIT(sessions_are_counted_by_their_state),
    UNIT(counters_are_added_to),
    UNIT(gauges_go_up_and_down),
    UNIT(buckets_of_a_histogram_are_cumulative),
    UNIT(words_are_those_of_their_tables),
    UNIT(templates_are_shown_by_runtime),
    UNIT(the_process_is_shown),
    UNIT(a_reason_makes_it_unwell),
    UNIT(a_loop_that_does_not_turn_makes_it_unwell),
    UNIT(a_driver_notes_its_turns),
    UNIT(names_of_this_machine_are_known),
    {0},
};

int main(void)
{
    return unit_run("metrics", tests);
}
