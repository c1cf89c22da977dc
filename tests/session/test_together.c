/* SPDX-License-Identifier: MIT */
/* test_together.c - several calls of tools at once, from each language, in a real box.
 *
 * Whether calls run side by side is for the tools to say: `meet` returns when as many of its calls
 * as it was told run at the same time, and fails when that does not come about. */
#include "session.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 20

/* ---- tools ---------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned inside, most; /* calls that run, and the most at once */
    unsigned here, met;    /* of a group that is not complete; of those that were */
} place = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};
static sem_t gate;
static atomic_uint at_gate;

static struct timespec patience(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return until;
}

/* {"n":N}: a group of N goes together. */
static void tool_meet(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    unsigned n = (unsigned)strtoul(args + strlen("{\"n\":"), NULL, 10);
    struct timespec until = patience();
    bool late = false;

    (void)user, (void)len;
    pthread_mutex_lock(&place.lock);
    unsigned met = place.met;
    if (++place.inside > place.most)
        place.most = place.inside;
    if (++place.here == n) {
        place.here = 0;
        place.met += n;
        pthread_cond_broadcast(&place.changed);
    }
    while (place.met == met && !late)
        late = pthread_cond_timedwait(&place.changed, &place.lock, &until) != 0;
    place.inside--;
    pthread_mutex_unlock(&place.lock);
    if (late)
        laz_reply_error(reply, "nobody came");
    else
        laz_reply_value(reply, args + strlen("{\"n\":"), len - strlen("{\"n\":}"));
}

static void tool_gate(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct timespec until = patience();

    (void)user, (void)args, (void)len;
    atomic_fetch_add(&at_gate, 1);
    if (sem_timedwait(&gate, &until) == 0)
        laz_reply_value(reply, "\"late\"", 6);
    else
        laz_reply_error(reply, "the gate stayed shut");
}

/* Nobody waits any longer, at the gate or for others. */
static void open_gate(void)
{
    pthread_mutex_lock(&place.lock);
    place.met++;
    pthread_cond_broadcast(&place.changed);
    pthread_mutex_unlock(&place.lock);
    for (unsigned k = atomic_exchange(&at_gate, 0); k > 0; k--)
        sem_post(&gate);
}

/* How many calls have come to the gate. */
static void tool_waiting(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    char text[32];

    (void)user, (void)args, (void)len;
    snprintf(text, sizeof text, "%u", atomic_load(&at_gate));
    laz_reply_value(reply, text, strlen(text));
}

/* {"n":N}: a text of N characters. */
static void tool_big(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    size_t n = strtoul(args + strlen("{\"n\":"), NULL, 10);
    char *text = malloc(n + 2);

    (void)user, (void)len;
    memset(text, 'x', n + 2);
    text[0] = text[n + 1] = '"';
    laz_reply_value(reply, text, n + 2);
    free(text);
}

/* The length of its arguments as they were checked. */
static void tool_length(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    char text[32];

    (void)user, (void)args;
    snprintf(text, sizeof text, "%zu", len);
    laz_reply_value(reply, text, strlen(text));
}

static const struct {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
} tools[] = {
    {{.name = "meet", .parameters = "[{\"name\":\"n\",\"type\":\"integer\"}]"}, tool_meet},
    {{.name = "narrow",
      .parameters = "[{\"name\":\"n\",\"type\":\"integer\"}]",
      .max_concurrent = 2},
     tool_meet},
    {{.name = "gate"}, tool_gate},
    {{.name = "waiting"}, tool_waiting},
    {{.name = "big", .parameters = "[{\"name\":\"n\",\"type\":\"integer\"}]"}, tool_big},
};

static void add_tool(struct laz_engine *engine, struct laz_tool tool,
                     void (*call)(void *user, const char *args, size_t len,
                                  struct laz_reply *reply))
{
    struct laz_error err = {0};

    tool.size = sizeof tool;
    int rc = laz_engine_add_tool(engine, &tool, call, NULL, &err);
    if (rc)
        printf("\n    %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
}

/* A tool with a default of 50000 characters, which the host fills in. */
static void add_wide_tool(struct laz_engine *engine)
{
    static const char head[] = "[{\"name\":\"x\",\"type\":\"string\",\"default\":\"",
                      tail[] = "\"}]";
    char *text = malloc(sizeof head + 50000 + sizeof tail);

    memcpy(text, head, sizeof head - 1);
    memset(text + sizeof head - 1, 'd', 50000);
    memcpy(text + sizeof head - 1 + 50000, tail, sizeof tail);
    add_tool(engine, (struct laz_tool){.name = "wide", .parameters = text}, tool_length);
    free(text);
}

/* ---- languages ------------------------------------------------------------------------------ */

static const struct phrase before = {
    .python = "import asyncio\n"
              "from concurrent.futures import ThreadPoolExecutor\n"
              "async def gather(calls): return await asyncio.gather(*calls)\n"
              "def together(calls): return asyncio.run(gather(calls))\n",
    .r = "NULL",
    .lua = "function times(n, x) local t = {} for i = 1, n do t[i] = x end return t end\n"
           "function sum(t) local s = 0 for _, x in ipairs(t) do s = s + x end return s end",
};

/* Its loops watch no descriptor but those of their own, as all on Windows. */
static const struct phrase blind = {
    .python = "class Blind(asyncio.SelectorEventLoop):\n"
              "    asked = 0\n"
              "    def add_reader(self, *args):\n"
              "        Blind.asked += 1\n"
              "        raise NotImplementedError\n"
              "class Policy(asyncio.DefaultEventLoopPolicy): _loop_factory = Blind\n"
              "asyncio.set_event_loop_policy(Policy())\n",
};
static bool blindly;

/* Executes a phrase; what is wrong is shown by the language's own words. */
static void say(struct laz_session *session, const struct words *w, const struct phrase *phrase,
                enum laz_verdict verdict, const char *value)
{
    const char *code = test_phrase(w, phrase);

    if (code)
        test_expect(session, code, verdict, value);
}

static void each_session(const char *settings,
                         void (*body)(struct laz_session *, const struct words *))
{
    const char *only = getenv("TEST_RUNTIME");

    for (size_t i = 0; i < n_languages; i++) {
        if ((only && strcmp(only, languages[i].runtime) != 0) ||
            (blindly && !test_phrase(&languages[i], &blind)))
            continue;
        struct laz_engine *engine = test_engine(settings);
        for (size_t k = 0; engine && k < sizeof tools / sizeof *tools; k++)
            add_tool(engine, tools[k].tool, tools[k].call);
        if (engine)
            add_wide_tool(engine);
        place.inside = place.most = place.here = place.met = 0;
        sem_init(&gate, 0, 0);
        atomic_store(&at_gate, 0);
        struct laz_session *session = test_session(engine, languages[i].runtime);
        if (session) {
            say(session, &languages[i], &before, LAZ_VERDICT_OK, NULL);
            if (blindly)
                say(session, &languages[i], &blind, LAZ_VERDICT_OK, NULL);
            body(session, &languages[i]);
            if (blindly)
                test_expect(session, "Blind.asked > 0", LAZ_VERDICT_OK, "true");
            laz_session_free(session);
        }
        open_gate();
        laz_engine_free(engine);
        sem_destroy(&gate);
    }
}

/* ---- side by side --------------------------------------------------------------------------- */

static void body_meet(struct laz_session *session, const struct words *w)
{
    static const struct phrase meet = {
        .python = "sum(together(meet.aio(16) for i in range(16)))",
        .r = "sum(unlist(tool_map(meet, rep(16, 16))))",
        .lua = "sum(tool_map(meet, times(16, 16)))",
    };
    static const struct phrase threads = {
        .python = "with ThreadPoolExecutor(16) as pool: met = list(pool.map(meet, [16] * 16))\n"
                  "sum(met)",
    };
    static const struct phrase mixed = {
        .python = "async def main():\n"
                  "    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(8))\n"
                  "    return await asyncio.gather(*(meet.aio(16) for i in range(8)),\n"
                  "        *(asyncio.to_thread(meet, 16) for i in range(8)))\n"
                  "sum(asyncio.run(main()))",
    };

    say(session, w, &meet, LAZ_VERDICT_OK, "256");
    CU_ASSERT_EQUAL(place.met, 16);
    CU_ASSERT_EQUAL(place.most, 16);
    say(session, w, &threads, LAZ_VERDICT_OK, "256");
    say(session, w, &mixed, LAZ_VERDICT_OK, "256");
}

static void calls_of_one_session_run_side_by_side(void)
{
    each_session("", body_meet);
}

static void body_narrow(struct laz_session *session, const struct words *w)
{
    static const struct phrase narrow = {
        .python = "sum(together(narrow.aio(2) for i in range(8)))",
        .r = "sum(unlist(tool_map(narrow, rep(2, 8))))",
        .lua = "sum(tool_map(narrow, times(8, 2)))",
    };

    say(session, w, &narrow, LAZ_VERDICT_OK, "16");
    CU_ASSERT_EQUAL(place.most, 2); /* two at once, and never a third */
}

static void a_tool_says_how_many_of_its_calls_run_at_once(void)
{
    each_session("", body_narrow);
}

/* Tools that take longer than the code may. On a busy machine the code itself may take longer than
 * the shorter time, so there is a longer one. */
static void body_clock(struct laz_session *session, const struct words *w)
{
    static const struct phrase slow[] = {
        {
            .python = "len(together([slow.aio(1200), add.aio(1, 2), slow.aio(1100)]))",
            .r = "length(tool_map(slow, c(1200, 0, 1100)))",
            .lua = "#tool_map(slow, {1200, 0, 1100})",
        },
        {
            .python = "len(together([slow.aio(9000), add.aio(1, 2), slow.aio(8500)]))",
            .r = "length(tool_map(slow, c(9000, 0, 8500)))",
            .lua = "#tool_map(slow, {9000, 0, 8500})",
        },
    };
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 1000};
    enum laz_verdict verdict = LAZ_VERDICT_TIMEOUT;

    for (size_t i = 0; i < 2 && verdict == LAZ_VERDICT_TIMEOUT; i++, options.timeout_ms = 8000) {
        struct laz_result *result = test_run(session, test_phrase(w, &slow[i]), &options);
        verdict = result ? laz_result_verdict(result) : LAZ_VERDICT_ERROR;
        if (verdict == LAZ_VERDICT_OK)
            UNIT_TEXT(laz_result_value(result), "3");
        laz_result_free(result);
    }
    CU_ASSERT_EQUAL(verdict, LAZ_VERDICT_OK);
    test_expect_timeout(session, w->loop, 1000);
}

static void the_clock_stands_while_any_call_is_awaited(void)
{
    each_session("", body_clock);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void body_many(struct laz_session *session, const struct words *w)
{
    static const struct phrase many = {
        .python = "sum(together(add.aio(i, 1) for i in range(3000)))",
        .r = "sum(unlist(tool_map(add, 0:2999, 1)))",
        .lua = "local t = {} for i = 1, 3000 do t[i] = {i - 1, 1} end return sum(tool_map(add, t))",
    };
    static const struct phrase large = {
        .python = "sum(map(len, together(echo.aio('x' * 900000) for i in range(40))))",
        .r = "sum(nchar(unlist(tool_map(echo, rep(strrep('x', 900000), 40)))))",
        .lua =
            "local n = 0\n"
            "for _, x in ipairs(tool_map(echo, times(40, ('x'):rep(900000)))) do n = n + #x end\n"
            "return n",
    };
    static const struct phrase wide = {
        .python = "sum(together(wide.aio() for i in range(600)))",
        .r = "sum(unlist(tool_map(wide, .more = NULL, x = rep(list(NULL), 600))))",
        .lua = "sum(tool_map(wide, times(600, {})))",
    };

    say(session, w, &many, LAZ_VERDICT_OK, "4501500");
    say(session, w, &large, LAZ_VERDICT_OK, "36000000");
    say(session, w, &wide, LAZ_VERDICT_OK, "30004800"); /* {"x":"..."} of each */
}

static void more_calls_than_the_host_takes_go_in_portions(void)
{
    each_session("", body_many);
}

static void body_counted(struct laz_session *session, const struct words *w)
{
    static const struct phrase ten = {
        .python = "sum(together(add.aio(1, 0) for i in range(10)))",
        .r = "sum(unlist(tool_map(add, rep(1, 10), 0)))",
        .lua = "sum(tool_map(add, times(10, {1, 0})))",
    };
    static const struct phrase eleven = {
        .python = "sum(together(add.aio(1, 0) for i in range(11)))",
        .r = "sum(unlist(tool_map(add, rep(1, 11), 0)))",
        .lua = "sum(tool_map(add, times(11, {1, 0})))",
    };

    say(session, w, &ten, LAZ_VERDICT_OK, "10");
    say(session, w, &eleven, LAZ_VERDICT_TOOL_LIMIT, NULL);
    say(session, w, &before, LAZ_VERDICT_OK, NULL); /* another box */
    say(session, w, &ten, LAZ_VERDICT_OK, "10");
}

static void each_call_of_a_batch_is_counted(void)
{
    each_session("session.max_tool_calls=10", body_counted);
}

/* Answers that are ready long before they are read: 16 times 3 MiB, where 4 MiB is a value's most.
 */
static void body_large_values(struct laz_session *session, const struct words *w)
{
    static const struct phrase big = {
        .python = "sum(map(len, together(big.aio(3000000) for i in range(16))))",
        .r = "sum(nchar(unlist(tool_map(big, rep(3000000, 16)))))",
        .lua = "local n = 0\n"
               "for _, x in ipairs(tool_map(big, times(16, 3000000))) do n = n + #x end\nreturn n",
    };
    static const struct phrase unread = {
        .python = "async def main():\n"
                  "    tasks = [asyncio.create_task(big.aio(3000000)) for i in range(16)]\n"
                  "    await asyncio.sleep(0)\n"
                  "    add(1, slow_work())\n"
                  "    return sum(map(len, await asyncio.gather(*tasks)))\n"
                  "def slow_work():\n"
                  "    import time\n"
                  "    time.sleep(1)\n"
                  "    return 1\n"
                  "asyncio.run(main())",
    };

    say(session, w, &big, LAZ_VERDICT_OK, "48000000");
    say(session, w, &unread, LAZ_VERDICT_OK, "48000000");
}

static void answers_that_are_read_slowly_are_kept(void)
{
    each_session("session.max_value_size=4194304", body_large_values);
}

/* ---- errors and endings --------------------------------------------------------------------- */

static void body_errors(struct laz_session *session, const struct words *w)
{
    static const struct phrase wrong = {
        .python = "together([add.aio(1, 2), fail.aio(), add.aio(3, 4)])",
        .r = "tool_map(fail, .more = list())",
        .lua = "tool_map(fail, {{}, {}})",
    };
    static const struct phrase late = {
        .python = "together([late.aio(500), late.aio(0)])",
        .r = "tool_map(late, c(0, 500))",
        .lua = "tool_map(late, {0, 500})",
    };

    if (*w->runtime != 'r')
        test_expect_error(session, test_phrase(w, &wrong), LAZ_VERDICT_ERROR, "out of order");
    test_expect_error(session, test_phrase(w, &late), LAZ_VERDICT_ERROR, "timed out after 0.1");
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5"); /* not the answer to another call */
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13");
}

static void errors_belong_to_their_calls(void)
{
    each_session("", body_errors);
}

/* Calls that are open when the code ends: the result comes before they are answered. */
static void body_left(struct laz_session *session, const struct words *w)
{
    static const struct phrase left = {
        .python = "loop = asyncio.new_event_loop()\n"
                  "tasks = [loop.create_task(gate.aio()) for i in range(3)]\n"
                  "loop.call_soon(loop.stop)\n"
                  "loop.run_forever()\n"
                  "while waiting() < 3: pass\n"
                  "'left'",
    };
    static const struct phrase threads = {
        .python = "import threading\n"
                  "said = []\n"
                  "def work():\n"
                  "    try: gate()\n"
                  "    except RuntimeError as e: said.append(str(e))\n"
                  "threads = [threading.Thread(target=work) for i in range(3)]\n"
                  "for t in threads: t.start()\n"
                  "while waiting() < 6: pass\n"
                  "'left'",
    };
    static const struct phrase after = {
        .python = "async def main():\n"
                  "    return await asyncio.gather(*tasks, return_exceptions=True)\n"
                  "asyncio.set_event_loop(loop)\n"
                  "for t in threads: t.join()\n"
                  "[str(e)[:33] for e in loop.run_until_complete(main())] + said",
    };
#define ENDED "\"Tool 'gate': the execution ended "

    say(session, w, &left, LAZ_VERDICT_OK, "\"left\"");
    say(session, w, &threads, LAZ_VERDICT_OK, "\"left\"");
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    for (int i = 0; i < 6 && *w->runtime == 'p'; i++)
        sem_post(&gate);
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13");
    say(session, w, &after, LAZ_VERDICT_OK,
        "[" ENDED "\"," ENDED "\"," ENDED "\"," ENDED "before the tool had answered\"," ENDED
        "before the tool had answered\"," ENDED "before the tool had answered\"]");
}

static void what_is_open_when_the_code_ends_is_forgotten(void)
{
    each_session("", body_left);
}

static void body_deadline(struct laz_session *session, const struct words *w)
{
    static const struct phrase gates = {
        .python = "together(gate.aio() for i in range(20))",
        .r = "tool_map(gate, .more = list())\ntool_map(narrow, rep(3, 5))",
        .lua = "tool_map(gate, times(20, {}))",
    };
    const struct laz_execute_options soon = {.size = sizeof soon, .deadline_ms = 2000};

    test_expect_with(session, test_phrase(w, &gates), &soon, LAZ_VERDICT_DEADLINE, NULL);
    open_gate();                                             /* their answers are for nobody */
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13"); /* in another box */
}

static void a_deadline_with_open_calls_leaves_nothing(void)
{
    each_session("", body_deadline);
}

/* A call that was about to be sent when its execution ended is not a part of the next one. */
static void body_between(struct laz_session *session, const struct words *w)
{
    static const struct phrase begin = {
        .python = "import threading, time\n"
                  "going = True\n"
                  "def work():\n"
                  "    while going:\n"
                  "        try: add(1, 1)\n"
                  "        except RuntimeError: time.sleep(0.0005)\n"
                  "threads = [threading.Thread(target=work) for i in range(8)]\n"
                  "for t in threads: t.start()",
    };
    static const struct phrase end = {
        .python = "going = False\nfor t in threads: t.join()\n'ended'",
    };

    say(session, w, &begin, LAZ_VERDICT_OK, NULL);
    for (int i = 0; i < 1500 && test_phrase(w, &begin); i++)
        test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    say(session, w, &end, LAZ_VERDICT_OK, "\"ended\"");
}

static void threads_go_on_from_one_execution_to_the_next(void)
{
    each_session("session.max_tool_calls=1000000", body_between);
}

/* Threads that wait since before the one for loops began, and after it has nothing to do. */
static void body_older(struct laz_session *session, const struct words *w)
{
    static const struct phrase older = {
        .python = "import threading, time\n"
                  "older = [threading.Thread(target=slow, args=(ms,)) for ms in (300, 900)]\n"
                  "for t in older:\n"
                  "    t.start()\n"
                  "    time.sleep(0.05)\n"
                  "got = together([add.aio(1, 2)])\n"
                  "for t in older: t.join(10)\n"
                  "[got, [t.is_alive() for t in older]]",
    };

    say(session, w, &older, LAZ_VERDICT_OK, "[[3],[false,false]]");
}

static void threads_are_served_beside_loops(void)
{
    each_session("", body_older);
}

static void loops_that_can_watch_nothing_have_a_thread(void)
{
    blindly = true;
    threads_are_served_beside_loops();
    calls_of_one_session_run_side_by_side();
    more_calls_than_the_host_takes_go_in_portions();
    answers_that_are_read_slowly_are_kept();
    errors_belong_to_their_calls();
    what_is_open_when_the_code_ends_is_forgotten();
    blindly = false;
}

static const struct unit_test tests[] = {
    UNIT(calls_of_one_session_run_side_by_side),
    UNIT(a_tool_says_how_many_of_its_calls_run_at_once),
    UNIT(the_clock_stands_while_any_call_is_awaited),
    UNIT(more_calls_than_the_host_takes_go_in_portions),
    UNIT(each_call_of_a_batch_is_counted),
    UNIT(answers_that_are_read_slowly_are_kept),
    UNIT(errors_belong_to_their_calls),
    UNIT(what_is_open_when_the_code_ends_is_forgotten),
    UNIT(a_deadline_with_open_calls_leaves_nothing),
    UNIT(threads_are_served_beside_loops),
    UNIT(threads_go_on_from_one_execution_to_the_next),
    UNIT(loops_that_can_watch_nothing_have_a_thread),
    {0},
};

int main(void)
{
    return unit_run("together", tests);
}
