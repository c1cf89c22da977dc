/* SPDX-License-Identifier: MIT */
/* test_tool_mcp_hostile.c - servers of MCP that are broken, or mean harm
 * (tests/mock/mcp_server.py): each is bounded and named, and their neighbours work.
 *
 * A test of time holds the engine's clock, or waits for what never comes. */
#include "tool_mcp.h"
#include "traces.h"

#include "engine/engine.h"
#include "os/files.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- hostile servers --------------------------------------------------------------------------
 */

/* No session is opened, with a reason. */
static void session_is_refused(const char *era, const char *fault, const char *more,
                               const char *reason)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", era, fault, more), NULL);
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (mcp_when.text) {
        test_hold_clock(engine);
        mcp_when.engine = engine;
    }
    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_ESETUP);
    mcp_when.engine = NULL;
    if (!strstr(err.text, reason) || !strstr(err.text, "mcp.toml:5"))
        printf("\n    %s lacks %s: %s", fault, reason, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, reason));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mcp.toml:5"));
    for (const char *c = err.text; *c; c++)
        CU_ASSERT((unsigned char)*c >= 0x20);
    mcp_engine_free_in_time(engine);
}

static size_t deaths_told(void)
{
    size_t n = 0;

    for (const char *c = laz_buf_text(&mcp_told); (c = strstr(c, "the server has ended")); c++)
        n++;
    return n;
}

static void a_start_that_failed_is_followed_by_a_pause(void)
{
    static const uint64_t pauses[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "crash_at_start", ""), NULL);
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;

    test_hold_clock(engine);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, NULL), LAZ_ESETUP);
        CU_ASSERT_EQUAL(deaths_told(), i + 1);
        test_advance_clock(engine, pauses[i] - 1);
        (void)laz_engine_step(engine, 0, NULL);
        CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, NULL), LAZ_ESETUP);
        CU_ASSERT_EQUAL(deaths_told(), i + 1); /* it was not started */
        test_advance_clock(engine, 1);
        (void)laz_engine_step(engine, 0, NULL);
    }
    mcp_engine_free_in_time(engine);
}

static void a_list_without_end_is_refused(void)
{
    session_is_refused("modern", "pages", "", "more than 100 pages");
    session_is_refused("2025-11-25", "same_page", "", "a page follows itself");
    session_is_refused("modern", "changes", "", "has changed its tools more than 100 times");
}

static void a_list_that_is_too_large_is_refused(void)
{
    session_is_refused("modern", "many", "", "more than 1000 tools");
    session_is_refused("modern", "no_list", "", "no list of tools");
    session_is_refused("modern", "line_at_list", "", "a message of more than 16777216 bytes");
    session_is_refused("modern", "malformed_at_list", "", "sent a malformed message");
}

static void silence_is_refused_in_time(void)
{
    session_is_refused("modern", "silent", "start_timeout = 0.3", "did not answer server/discover");
    mcp_when.text = "no list"; /* it says so when it was asked */
    mcp_when.ms = 30001;
    session_is_refused("modern", "silent_at_list", "start_timeout = 30",
                       "did not list its tools within 30 seconds");
    mcp_when.text = NULL;
}

static void a_server_that_cannot_start_is_refused(void)
{
    session_is_refused("modern", "crash_at_start", "", "has ended (exit status 5)");
    session_is_refused("modern", "refuses", "", "refused initialize: not  today");
    session_is_refused("modern", "wrong_version", "", "speaks no version of MCP");
    session_is_refused("modern", "fork_at_start",
                       "env = { pids = \"/tmp/lazaret-no-directory/pids\" }", "has ended");
}

/* Moves the clock once. */
static void clock_moves(struct laz_post *post)
{
    test_advance_clock(((struct mcp_clock *)(void *)post)->engine, 10001);
}

static void the_era_is_found_in_spite_of_silence_and_death(void)
{
    static const char *const rows[][2] = {{"2025-11-25", "silent_at_discover"},
                                          {"2025-06-18", "dies_of_discover"}};

    for (size_t i = 0; i < 2; i++) {
        struct laz_engine *engine =
            mcp_engine_of(mcp_server("m", rows[i][0], rows[i][1], "start_timeout = 30"), NULL);
        struct mcp_clock clock = {.post.run = clock_moves, .engine = engine};
        test_hold_clock(engine);
        if (!i) /* a third of start_timeout passes after the first question */
            laz_loop_post(engine->driver.loop, &clock.post);
        struct laz_session *session = test_session(engine, "lua");
        if (session)
            test_expect(session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

static void engine_cancels(struct laz_post *post)
{
    laz_engine_cancel(((struct mcp_clock *)(void *)post)->engine);
}

static void waiting_for_a_server_can_be_cancelled(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "silent", ""), NULL);
    struct mcp_clock clock = {.post.run = engine_cancels, .engine = engine};
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    laz_loop_post(engine->driver.loop, &clock.post);
    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_ECANCELLED);
    mcp_engine_free_in_time(engine);
}

/* A call fails with the reason; its neighbour of another server works before and afterwards. */
static void call_is_refused(const char *fault, const char *more, const char *reason)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", fault, more),
                                              mcp_server("old", "2025-11-25", "", ""));
    struct laz_session *session = test_session(engine, "lua");
    struct mcp_clock clock = {.post.run = mcp_clock_goes_on, .engine = engine};

    if (session) {
        test_expect(session, "old_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        if (strcmp(fault, "closes") == 0) { /* the only timer of the call */
            test_hold_clock(engine);
            laz_loop_post(engine->driver.loop, &clock.post);
        }
        test_expect_error(session, "m_add(1, 1)", LAZ_VERDICT_ERROR, reason);
        clock.stops = true;
        test_expect(session, "old_add(1, 2).sum", LAZ_VERDICT_OK, "3");
    }
    laz_session_free(session);
    mcp_engine_free_in_time(engine);
}

static void malformed_answers_fail_their_call(void)
{
    call_is_refused("malformed", "", "sent a malformed message");
    call_is_refused("nested", "", "sent a malformed message");
    call_is_refused("twice_key", "", "sent a malformed message");
    call_is_refused("wrong_result", "", "its answer is not the result of a tool");
}

static void an_answer_that_cannot_be_read_fails_its_call_alone(void)
{
    struct laz_engine *engine =
        mcp_engine_of(mcp_server("m", "modern", "unfit", "max_output = \"1MiB\""), NULL);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(
            session,
            "import asyncio\n"
            "async def why(how):\n"
            "    try: return await m_echo.aio(arguments={'how': how})\n"
            "    except Exception as e: return str(e).split('the server m ')[1][:24]\n"
            "async def main():\n"
            "    slow = asyncio.ensure_future(m_slow.aio()); before = await m_pid.aio()\n"
            "    said = [await why(how) for how in ('long', 'id last', 'deep', 'twice',\n"
            "            'range', 'shape', 'none', 'bytes', 'nameless')]\n"
            "    await m_finish.aio()\n"
            "    return [await slow, await m_pid.aio() == before] + sorted(set(said[:2]))\\\n"
            "        + sorted(set(said[2:8])) + said[8:]\n"
            "asyncio.run(main())",
            LAZ_VERDICT_OK,
            "[\"at last\",true,\"sent a message of more t\","
            "\"sent a malformed message\",{\"how\":\"nameless\"}]");
    }
    CU_ASSERT(mcp_was_told("no request is known that it answers"));
    laz_session_free(session);
    mcp_engine_free_in_time(engine);
}

static void bytes_that_are_no_text_show_nothing_else(void)
{
    char shown[1 + 160 + 2];

    memset(shown, '?', sizeof shown);
    shown[0] = 'A';
    shown[161] = 'Z';
    shown[162] = '\0';
    call_is_refused("overlong", "", shown);
    CU_ASSERT(mcp_was_told(shown));
}

static void floods_end_the_server(void)
{
    call_is_refused("flood", "", "more than 10000 messages in a row");
    call_is_refused("answers_flood", "", "more than 10000 messages in a row");
    call_is_refused("pings", "", "more than 10000 messages in a row");
    call_is_refused("line", "max_output = \"1MiB\"", "a message of more than 1048576 bytes");
}

/* It is gone, or waits for its parent to look. */
static bool process_is_over(pid_t pid)
{
    char stat[64], line[512] = "";

    snprintf(stat, sizeof stat, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(stat, "r");
    const bool is_there = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    return !is_there || strstr(line, ") Z ");
}

static void a_server_that_ends_or_closes_fails_its_calls(void)
{
    char *pids = laz_strdupf("%s/pids", mcp_directory);
    char *more = laz_strdupf("env = { pids = \"%s\" }", pids);
    char text[32] = "";

    call_is_refused("closes", "timeout = 0\nmax_timeout = 0", "has closed its standard output");
    call_is_refused("fork", more, "has ended (exit status 4)");
    FILE *file = fopen(pids, "r");
    CU_ASSERT_PTR_NOT_NULL(file);
    if (file) {
        CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
        fclose(file);
    }
    const pid_t pid = (pid_t)strtol(text, NULL, 10);
    CU_ASSERT_FATAL(pid > 1);
    while (!process_is_over(pid))
        sched_yield();
    free(more);
    free(pids);
}

/* It is not killed with the group, and gets no reader back. */
static void one_that_left_the_group_holds_nobody_up(void)
{
    char *pids = laz_strdupf("%s/left", mcp_directory);
    char *more = laz_strdupf("env = { pids = \"%s\" }", pids);
    char text[32] = "";

    call_is_refused("leaves", more, "has ended (exit status 4)");
    FILE *file = fopen(pids, "r");
    CU_ASSERT_PTR_NOT_NULL(file);
    if (file) {
        CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
        fclose(file);
    }
    const pid_t pid = (pid_t)strtol(text, NULL, 10);
    CU_ASSERT_FATAL(pid > 1);
    while (!process_is_over(pid))
        sched_yield();
    free(more);
    free(pids);
}

static void answers_for_nobody_are_ignored(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "nobody", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "m_add(1, 1).sum", LAZ_VERDICT_OK, "2");
        test_expect(session, "m_text()", LAZ_VERDICT_OK, "\"gr\u00fc\u00dfe\\nline two\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void an_answer_that_drips_is_an_answer(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "drip", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "m_add(1, 1)", LAZ_VERDICT_OK, "null");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void names_and_texts_are_made_harmless(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "controls", ""), NULL);
    struct laz_session *session = test_session(engine, "python");
    const char *found = NULL;

    CU_ASSERT_EQUAL(laz_engine_search_tools(engine, "first", 1, &found, NULL), 0);
    CU_ASSERT(found && strstr(found, "\"m_a__2J_b\"") && strstr(found, "\"p__\"") &&
              strstr(found, "first [31m\\nsecondend") && strstr(found, "one two ]0;x"));
    if (session)
        test_expect(session, "m_a__2J_b.__doc__.splitlines()[0]", LAZ_VERDICT_OK, NULL);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void tool_taken(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "null", 4);
}

static void names_that_collide_are_told_apart(void)
{
    const struct laz_tool taken = {.size = sizeof taken, .name = "m_taken"};
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "collide", ""), NULL);

    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &taken, tool_taken, NULL, NULL), 0);
    struct laz_session *session = test_session(engine, "lua");
    if (session)
        test_expect(session, "return {type(m_a_b), type(m_a_b_2), type(m_end)}", LAZ_VERDICT_OK,
                    "[\"function\",\"function\",\"function\"]");
    /* parameters in any script are reached, and the server gets its own names */
    if (session)
        test_expect(
            session,
            "local a = m_echo{gr__e = 1, _ = 2, __2 = 3, a_b = 4, a_b_2 = 5, a_b_3 = 6} "
            "return {a['gr\u00f6\u00dfe'], a['\u5024'], a['\u5b57'], a['a\u202eb'], a['a b'], "
            "a['a-b']}",
            LAZ_VERDICT_OK, "[1,2,3,4,5,6]");
    CU_ASSERT(mcp_was_told("Duplicate tool names: 'm_taken'"));
    CU_ASSERT(mcp_was_told("it lists the tool 'a-b' twice"));
    CU_ASSERT(mcp_was_told("it has no name"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_tool_that_is_too_large_is_left_out(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "huge_schema", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "return {type(m_add), type(m_huge)}", LAZ_VERDICT_OK,
                    "[\"function\",\"nil\"]");
    CU_ASSERT(mcp_was_told("its tool 'huge' is left out"));
    laz_session_free(session);
    laz_engine_free(engine);
}

static void noise_and_complaints_are_bounded(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "noise", ""),
                                              mcp_server("old", "2025-06-18", "complaints", ""));
    struct laz_session *session = test_session(engine, "lua");
    size_t lines = 0;

    if (session)
        test_expect(session, "m_add(1, 1).sum + old_add(1, 1).sum", LAZ_VERDICT_OK, "4");
    laz_session_free(session);
    laz_engine_free(engine);
    for (const char *c = laz_buf_text(&mcp_told); *c; c++)
        lines += *c == '\n';
    CU_ASSERT(lines > 100 && lines < 600);
    CU_ASSERT(mcp_was_told("complaint 1  [31m"));
    CU_ASSERT(mcp_was_told("more than 500 lines"));
    CU_ASSERT_PTR_NULL(strchr(laz_buf_text(&mcp_told), '\x1b'));
}

static void a_server_that_does_not_end_is_killed(void)
{
    struct laz_engine *engine = mcp_engine_of(mcp_server("m", "modern", "stays", ""), NULL);
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result = session ? test_run(session, "m_pid()", NULL) : NULL;
    const long pid = result ? strtol(laz_result_value(result), NULL, 10) : 0;

    laz_result_free(result);
    laz_session_free(session);
    mcp_engine_free_in_time(engine);
    CU_ASSERT(pid > 1 && kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static const struct unit_test tests[] = {
    UNIT(a_start_that_failed_is_followed_by_a_pause),
    UNIT(a_list_without_end_is_refused),
    UNIT(a_list_that_is_too_large_is_refused),
    UNIT(silence_is_refused_in_time),
    UNIT(a_server_that_cannot_start_is_refused),
    UNIT(the_era_is_found_in_spite_of_silence_and_death),
    UNIT(waiting_for_a_server_can_be_cancelled),
    UNIT(malformed_answers_fail_their_call),
    UNIT(an_answer_that_cannot_be_read_fails_its_call_alone),
    UNIT(bytes_that_are_no_text_show_nothing_else),
    UNIT(floods_end_the_server),
    UNIT(a_server_that_ends_or_closes_fails_its_calls),
    UNIT(one_that_left_the_group_holds_nobody_up),
    UNIT(answers_for_nobody_are_ignored),
    UNIT(an_answer_that_drips_is_an_answer),
    UNIT(names_and_texts_are_made_harmless),
    UNIT(names_that_collide_are_told_apart),
    UNIT(a_tool_that_is_too_large_is_left_out),
    UNIT(noise_and_complaints_are_bounded),
    UNIT(a_server_that_does_not_end_is_killed),
    {0},
};

int main(void)
{
    return mcp_run("mcp_hostile", tests);
}
