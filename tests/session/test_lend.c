/* SPDX-License-Identifier: MIT */
/* test_lend.c - on which threads tools run.  The loop is lent to a tool's thread and comes back:
 * handlers stay on the caller's thread, and timers and answers do not wait for a slow tool.  A
 * nonblocking tool runs on the caller's. */
#include "live.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#define QUICK "for i = 1, 2000 do add(1, 2) if i % 50 == 0 then print(i) end end"

static pthread_t caller;
static atomic_uint here, elsewhere;
static sem_t gate, passed;

static void count_thread(void)
{
    atomic_fetch_add(pthread_equal(pthread_self(), caller) ? &here : &elsewhere, 1);
}

static void line_counts(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    count_thread();
}

static void tool_counts(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    count_thread();
    laz_reply_value(reply, "1", 1);
}

/* Waits for the gate and records that it has passed. */
static void wait_at_gate(void)
{
    while (sem_wait(&gate))
        ;
    sem_post(&passed);
}

static void tool_waits(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    wait_at_gate();
    laz_reply_value(reply, "2", 1);
}

static void tool_answers_and_waits(void *user, const char *args, size_t len,
                                   struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "3", 1);
    wait_at_gate();
}

static void line_opens_gate(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream;
    if (len == 4 && memcmp(text, "open", 4) == 0)
        sem_post(&gate);
}

/* ---- of nonblocking tools */

static struct laz_reply *kept;
static struct laz_session *in; /* where it is called */

static void tool_is_quick(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct laz_error err = {0};

    tool_counts(user, args, len, reply);
    CU_ASSERT_EQUAL(laz_session_restart(in, &err), LAZ_EBUSY);
}

static void tool_keeps(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_keep(reply);
    kept = reply;
}

static void tool_frees(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    tool_counts(user, args, len, reply);
    laz_session_free(in);
    in = NULL;
}

static void take_result(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)err;
    *(struct laz_result **)user = result;
}

/* Makes an engine with an additional tool, a session in Lua, and closed gates. */
static struct laz_session *session_with(const char *settings, const char *name,
                                        void (*call)(void *, const char *, size_t,
                                                     struct laz_reply *),
                                        struct laz_engine **engine)
{
    const struct laz_tool tool = {.size = sizeof tool,
                                  .name = name,
                                  .description = "",
                                  .nonblocking = call == tool_is_quick || call == tool_keeps ||
                                                 call == tool_frees};

    sem_init(&gate, 0, 0);
    sem_init(&passed, 0, 0);
    *engine = test_engine(settings);
    if (!*engine)
        return NULL;
    CU_ASSERT_EQUAL(laz_engine_add_tool(*engine, &tool, call, NULL, NULL), 0);
    return test_session(*engine, "lua");
}

static void leave(struct laz_session *session, struct laz_engine *engine)
{
    laz_session_free(session);
    laz_engine_free(engine);
    sem_destroy(&gate);
    sem_destroy(&passed);
}

static void handlers_stay_on_the_callers_thread(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = line_counts};
    struct laz_engine *engine;
    struct laz_session *session = session_with("", "count", tool_counts, &engine);

    caller = pthread_self();
    here = elsewhere = 0;
    struct laz_result *result =
        session ? test_run(session, "for i = 1, 1000 do count() print(i) end", &options) : NULL;
    if (result) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        CU_ASSERT_EQUAL(here, 1000);      /* lines */
        CU_ASSERT_EQUAL(elsewhere, 1000); /* calls */
        CU_ASSERT_EQUAL(laz_result_outputs(result) > 0, 1);
    }
    laz_result_free(result);
    leave(session, engine);
}

static void a_tool_that_hangs_does_not_hold_the_caller(void)
{
    struct laz_engine *engine;
    const struct laz_execute_options soon = {.size = sizeof soon, .deadline_ms = 300};
    struct laz_session *session = session_with("", "hang", tool_waits, &engine);

    if (session) {
        struct laz_result *ended = test_run(session, "return hang()", &soon);
        CU_ASSERT_EQUAL(ended ? laz_result_verdict(ended) : LAZ_VERDICT_OK, LAZ_VERDICT_DEADLINE);
        laz_result_free(ended);
        CU_ASSERT_EQUAL(sem_trywait(&passed), -1); /* the tool still waits */
        test_expect(session, "return add(1, 2)", LAZ_VERDICT_OK, "3");
        test_expect(session, QUICK, LAZ_VERDICT_OK, NULL);
        CU_ASSERT_EQUAL(sem_trywait(&passed), -1);
        sem_post(&gate);
    }
    leave(session, engine);
}

static void a_nonblocking_tool_runs_on_the_callers_thread(void)
{
    struct laz_engine *engine;

    caller = pthread_self();
    here = elsewhere = 0;
    if ((in = session_with("", "quick", tool_is_quick, &engine)))
        test_expect(in, "local n = 0 for i = 1, 100 do n = n + quick() end return n",
                    LAZ_VERDICT_OK, "100");
    CU_ASSERT_EQUAL(here, 100);
    CU_ASSERT_EQUAL(elsewhere, 0);
    leave(in, engine);
}

/* Begins code that calls the tool, and drives the engine until the tool was called. */
static struct laz_engine *
begin_calling(const char *code, void (*call)(void *, const char *, size_t, struct laz_reply *),
              struct laz_result **result)
{
    struct laz_engine *engine;

    *result = NULL;
    here = 0;
    kept = NULL;
    in = session_with("", "call", call, &engine);
    if (!in)
        return engine;
    CU_ASSERT_EQUAL(laz_session_execute_async(in, code, SIZE_MAX, NULL, take_result, result, NULL),
                    0);
    while (!*result && !kept && !here)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    return engine;
}

static void a_nonblocking_tool_answers_later(void)
{
    struct laz_result *result;
    struct laz_engine *engine = begin_calling("return call() + 1", tool_keeps, &result);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    laz_reply_value(kept, "41", 2); /* between two steps */
    while (!result)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_STRING_EQUAL(laz_result_value(result), "42");
    laz_reply_free(kept);
    laz_result_free(result);
    leave(in, engine);
}

static void a_nonblocking_tool_may_free_its_session(void)
{
    struct laz_result *result;
    struct laz_engine *engine = begin_calling("return call()", tool_frees, &result);

    while (!result)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    leave(in, engine);
}

static void an_answer_does_not_wait_for_the_functions_end(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = line_opens_gate};
    struct laz_engine *engine;
    struct laz_session *session = session_with("", "early", tool_answers_and_waits, &engine);
    struct laz_result *result =
        session ? test_run(session, "local v = early() print('open') return v", &options) : NULL;

    if (result) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        UNIT_TEXT(laz_result_value(result), "3");
    }
    laz_result_free(result);
    leave(session, engine); /* waits for the function */
}

/* The thread that ran one call has gone on to the next, whose answer must not wait either. */
static void an_answer_to_a_later_call_does_not_wait_either(void)
{
    static const char code[] = "local sum = 0 for i = 1, 20 do sum = sum + add(1, 2) end "
                               "local v = early() print('open') return v + sum";
    const struct laz_execute_options options = {.size = sizeof options, .line = line_opens_gate};
    struct laz_engine *engine;
    struct laz_session *session = session_with("", "early", tool_answers_and_waits, &engine);

    for (int i = 0; session && i < 20; i++) {
        struct laz_result *result = test_run(session, code, &options);
        if (result) {
            CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
            UNIT_TEXT(laz_result_value(result), "63");
        }
        laz_result_free(result);
    }
    leave(session, engine);
}

static void endless_quick_calls_meet_their_ends(void)
{
    static const char endless[] = "while true do add(1, 2) end";
    const struct laz_execute_options soon = {.size = sizeof soon, .deadline_ms = 300};
    struct laz_engine *engine = test_engine("session.max_tool_calls=100000000");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;

    if (session) {
        struct laz_result *ended = test_run(session, endless, &soon);
        CU_ASSERT_EQUAL(ended ? laz_result_verdict(ended) : LAZ_VERDICT_OK, LAZ_VERDICT_DEADLINE);
        laz_result_free(ended);
        struct laz_execute_options options = {.size = sizeof options, .max_tool_calls = 5000};
        struct laz_result *result = test_run(session, endless, &options);
        CU_ASSERT_EQUAL(result ? laz_result_verdict(result) : LAZ_VERDICT_OK,
                        LAZ_VERDICT_TOOL_LIMIT);
        laz_result_free(result);
        test_expect(session, "for i = 1, 3000 do add(1, 2) end os.exit(0)", LAZ_VERDICT_OK, NULL);
        test_expect(session, "for i = 1, 3000 do add(1, 2) end os.execute('kill -9 $PPID')",
                    LAZ_VERDICT_CRASHED, NULL);
        test_expect(session, QUICK, LAZ_VERDICT_OK, NULL);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(handlers_stay_on_the_callers_thread),
    UNIT(a_tool_that_hangs_does_not_hold_the_caller),
    UNIT(a_nonblocking_tool_runs_on_the_callers_thread),
    UNIT(a_nonblocking_tool_answers_later),
    UNIT(a_nonblocking_tool_may_free_its_session),
    UNIT(an_answer_does_not_wait_for_the_functions_end),
    UNIT(an_answer_to_a_later_call_does_not_wait_either),
    UNIT(endless_quick_calls_meet_their_ends),
    {0},
};

int main(void)
{
    return unit_run("lend", tests);
}
