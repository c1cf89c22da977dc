/* SPDX-License-Identifier: MIT */
/* test_together.c - concurrent calls of tools, from each language, in a real box.
 *
 * The tools show whether calls run concurrently: `meet` returns when the given number of its calls
 * run at the same time, and never otherwise. */
#include "live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tools ---------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned inside, most;   /* running calls of `meet`, and the most at the same time */
    unsigned here, met;      /* calls of an incomplete group; of complete ones */
    unsigned at_gate;        /* calls that have reached the gate */
    unsigned held_up;        /* of them, those that it has not let pass */
    unsigned passes;         /* number of calls that it lets pass */
    unsigned quick;          /* calls calls of `pause` that answered at once */
    bool open;               /* no call waits any longer */
    unsigned full;           /* with this many at the gate or in `meet` the clock moves ... */
    uint64_t ms;             /* ... by this */
    struct laz_engine *held; /* the engine whose clock is held */
} place = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Counts one more call, the n-th. The lock is held, except while the clock moves. */
static void place_entered(unsigned n)
{
    pthread_cond_broadcast(&place.changed);
    if (n != place.full)
        return;
    pthread_mutex_unlock(&place.lock);
    test_post_advance(place.held, place.ms);
    pthread_mutex_lock(&place.lock);
}

/* Lets all calls pass, and begins anew when they have. */
static void place_reset(void)
{
    pthread_mutex_lock(&place.lock);
    place.open = true;
    pthread_cond_broadcast(&place.changed);
    while (place.inside || place.held_up)
        pthread_cond_wait(&place.changed, &place.lock);
    place.inside = place.most = place.here = place.met = 0;
    place.at_gate = place.passes = place.quick = place.full = 0;
    place.open = false;
    pthread_mutex_unlock(&place.lock);
}

/* {"n":N}: N calls of a group return together. */
static void tool_meet(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    unsigned n = (unsigned)strtoul(args + strlen("{\"n\":"), NULL, 10);

    (void)user;
    pthread_mutex_lock(&place.lock);
    unsigned met = place.met;
    if (++place.inside > place.most)
        place.most = place.inside;
    if (++place.here == n) {
        place.here = 0;
        place.met += n;
    }
    place_entered(place.inside);
    while (place.met == met && !place.open)
        pthread_cond_wait(&place.changed, &place.lock);
    place.inside--;
    pthread_cond_broadcast(&place.changed);
    pthread_mutex_unlock(&place.lock);
    laz_reply_value(reply, args + strlen("{\"n\":"), len - strlen("{\"n\":}"));
}

static void tool_gate(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    pthread_mutex_lock(&place.lock);
    place.held_up++;
    place_entered(++place.at_gate);
    while (!place.passes && !place.open)
        pthread_cond_wait(&place.changed, &place.lock);
    place.passes -= place.passes > 0;
    place.held_up--;
    pthread_cond_broadcast(&place.changed);
    pthread_mutex_unlock(&place.lock);
    laz_reply_value(reply, "\"late\"", 6);
}

static void open_gate_for(unsigned n)
{
    pthread_mutex_lock(&place.lock);
    place.passes += n;
    pthread_cond_broadcast(&place.changed);
    pthread_mutex_unlock(&place.lock);
}

/* Lets all calls pass, at the gate and in `meet`. */
static void open_gate(void)
{
    pthread_mutex_lock(&place.lock);
    place.open = true;
    pthread_cond_broadcast(&place.changed);
    pthread_mutex_unlock(&place.lock);
}

/* Answers with the number of calls that have reached the gate. */
static void tool_waiting(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    char text[32];

    (void)user, (void)args, (void)len;
    pthread_mutex_lock(&place.lock);
    snprintf(text, sizeof text, "%u", place.at_gate);
    pthread_mutex_unlock(&place.lock);
    laz_reply_value(reply, text, strlen(text));
}

/* {"ms":MS}: with 0 answers at once, otherwise moves the clock by MS when the host has received the
 * answer of such a call. The first post to the loop may overtake that answer; the second cannot. */
static void tool_pause(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    uint64_t ms = strtoull(args + strlen("{\"ms\":"), NULL, 10);

    (void)user, (void)len;
    if (!ms)
        laz_reply_value(reply, "\"quick\"", 7);
    pthread_mutex_lock(&place.lock);
    place.quick += !ms;
    pthread_cond_broadcast(&place.changed);
    while (!place.quick)
        pthread_cond_wait(&place.changed, &place.lock);
    pthread_mutex_unlock(&place.lock);
    if (!ms)
        return;
    test_post_advance(place.held, 1);
    test_post_advance(place.held, ms);
    laz_reply_value(reply, "\"slow\"", 6);
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

/* Answers with the length of its checked arguments. */
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
    {{.name = "tardy", .parameters = "[{\"name\":\"n\",\"type\":\"integer\"}]", .timeout_ms = 100},
     tool_gate},
    {{.name = "pause", .parameters = "[{\"name\":\"ms\",\"type\":\"integer\"}]"}, tool_pause},
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

/* Adds a tool with a default of 50000 characters, which the host fills in. */
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

/* Loops that cannot watch the channel's descriptor, as all on Windows. */
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
static bool in_lua; /* only: what the host decides, whatever the language */

/* Executes a phrase; prints the language's message when it fails. */
static void say(struct laz_session *session, const struct words *w, const struct phrase *phrase,
                enum laz_verdict verdict, const char *value)
{
    const char *code = test_phrase(w, phrase);

    if (code)
        test_expect(session, code, verdict, value);
}

/* An engine with all tools whose clock is held, and its session. */
struct home {
    struct laz_engine *engine;
    struct laz_session *session;
};

static void home_open(struct home *home, const char *settings, const char *runtime)
{
    home->engine = test_engine(settings);
    for (size_t k = 0; home->engine && k < sizeof tools / sizeof *tools; k++)
        add_tool(home->engine, tools[k].tool, tools[k].call);
    if (home->engine) {
        add_wide_tool(home->engine);
        test_hold_clock(home->engine);
    }
    home->session = test_session(home->engine, runtime);
}

static struct home homes[3]; /* shared by most cases; those of threads call very often */
#define HOME "session.max_tool_calls=1000000"

static void each_session(const char *settings,
                         void (*body)(struct laz_session *, const struct words *))
{
    const char *only = getenv("TEST_RUNTIME");

    for (size_t i = 0; i < n_languages && i < sizeof homes / sizeof *homes; i++) {
        if ((only && strcmp(only, languages[i].runtime) != 0) ||
            (blindly && !test_phrase(&languages[i], &blind)) ||
            (in_lua && strcmp(languages[i].runtime, "lua") != 0))
            continue;
        struct home own = {0}, *home = *settings ? &own : &homes[i];
        if (!home->engine)
            home_open(home, *settings ? settings : HOME, languages[i].runtime);
        place.held = home->engine;
        if (home->session) {
            say(home->session, &languages[i], &before, LAZ_VERDICT_OK, NULL);
            if (blindly)
                say(home->session, &languages[i], &blind, LAZ_VERDICT_OK, NULL);
            body(home->session, &languages[i]);
            if (blindly)
                test_expect(home->session, "Blind.asked > 0", LAZ_VERDICT_OK, "true");
        }
        place_reset();
        laz_engine_free(own.engine); /* and its session */
    }
}

/* The clock moves by `ms` when `full` calls wait at the gate or for others. */
static void place_moves_clock(unsigned full, uint64_t ms)
{
    pthread_mutex_lock(&place.lock);
    place.full = full;
    place.ms = ms;
    pthread_mutex_unlock(&place.lock);
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
    CU_ASSERT_EQUAL(place.most, 2); /* two at the same time, and never a third */
}

static void a_tool_says_how_many_of_its_calls_run_at_once(void)
{
    each_session("", body_narrow);
}

/* Tools that take longer than the timeout of the code, beside one that answers at once. */
static void body_clock(struct laz_session *session, const struct words *w)
{
    static const struct phrase slow = {
        .python = "len(together([pause.aio(1200), pause.aio(0), pause.aio(1100)]))",
        .r = "length(tool_map(pause, c(1200, 0, 1100)))",
        .lua = "#tool_map(pause, {1200, 0, 1100})",
    };
    struct test_advance advance = {test_engine_of(session), 1000, 0};
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 1000};
    char code[200];

    test_expect_with(session, test_phrase(w, &slow), &options, LAZ_VERDICT_OK, "3");
    if (strcmp(w->runtime, "lua") != 0)
        return; /* test_behaviours has the timeout in each language */
    options.line = test_line_advances;
    options.user = &advance;
    snprintf(code, sizeof code, "%s%s", w->print_begin, w->loop);
    test_expect_with(session, code, &options, LAZ_VERDICT_TIMEOUT, NULL);
}

static void the_clock_stands_while_any_call_is_awaited(void)
{
    each_session("", body_clock);
}

/* ---- bounds --------------------------------------------------------------------------------- */

/* Three portions of LAZ_OPEN_CALLS, two of LAZ_OPEN_BYTES in arguments, and in defaults. */
static void body_many(struct laz_session *session, const struct words *w)
{
    static const struct phrase many = {
        .python = "sum(together(add.aio(i, 1) for i in range(2100)))",
        .r = "sum(unlist(tool_map(add, 0:2099, 1)))",
        .lua = "local t = {} for i = 1, 2100 do t[i] = {i - 1, 1} end return sum(tool_map(add, t))",
    };
    static const struct phrase large = {
        .python = "sum(map(len, together(echo.aio('x' * 900000) for i in range(20))))",
        .r = "sum(nchar(unlist(tool_map(echo, rep(strrep('x', 900000), 20)))))",
        .lua =
            "local n = 0\n"
            "for _, x in ipairs(tool_map(echo, times(20, ('x'):rep(900000)))) do n = n + #x end\n"
            "return n",
    };
    static const struct phrase wide = {
        .python = "sum(together(wide.aio() for i in range(400)))",
        .r = "sum(unlist(tool_map(wide, .more = NULL, x = rep(list(NULL), 400))))",
        .lua = "sum(tool_map(wide, times(400, {})))",
    };

    say(session, w, &many, LAZ_VERDICT_OK, "2206050");
    say(session, w, &large, LAZ_VERDICT_OK, "18000000");
    say(session, w, &wide, LAZ_VERDICT_OK, "20003200"); /* {"x":"..."} of each call */
}

static void more_calls_than_the_host_takes_go_in_portions(void)
{
    each_session("", body_many);
}

static void body_counted(struct laz_session *session, const struct words *w)
{
    static const struct phrase ten = {.lua = "sum(tool_map(add, times(10, {1, 0})))"};
    static const struct phrase eleven = {.lua = "sum(tool_map(add, times(11, {1, 0})))"};

    say(session, w, &ten, LAZ_VERDICT_OK, "10");
    say(session, w, &eleven, LAZ_VERDICT_TOOL_LIMIT, NULL);
    say(session, w, &before, LAZ_VERDICT_OK, NULL); /* another box */
    say(session, w, &ten, LAZ_VERDICT_OK, "10");
}

static void each_call_of_a_batch_is_counted(void)
{
    in_lua = true;
    each_session("session.max_tool_calls=10", body_counted);
    in_lua = false;
}

/* Answers that are ready long before they are read: 16 times 190 kB, where a value may have 256 KiB
 * and twice as much may be unread. */
static void body_large_values(struct laz_session *session, const struct words *w)
{
    static const struct phrase big = {
        .python = "sum(map(len, together(big.aio(190000) for i in range(16))))",
        .r = "sum(nchar(unlist(tool_map(big, rep(190000, 16)))))",
        .lua = "local n = 0\n"
               "for _, x in ipairs(tool_map(big, times(16, 190000))) do n = n + #x end\nreturn n",
    };
    static const struct phrase unread = {
        .python = "async def main():\n"
                  "    tasks = [asyncio.create_task(big.aio(190000)) for i in range(16)]\n"
                  "    await asyncio.sleep(0)\n"
                  "    add(1, slow_work())\n"
                  "    return sum(map(len, await asyncio.gather(*tasks)))\n"
                  "def slow_work():\n"
                  "    import time\n"
                  "    time.sleep(0.25)\n"
                  "    return 1\n"
                  "asyncio.run(main())",
    };

    say(session, w, &big, LAZ_VERDICT_OK, "3040000");
    say(session, w, &unread, LAZ_VERDICT_OK, "3040000");
}

static void answers_that_are_read_slowly_are_kept(void)
{
    each_session("session.max_value_size=262144", body_large_values);
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
        .python = "together([tardy.aio(1), tardy.aio(2)])",
        .r = "tool_map(tardy, 1:2)",
        .lua = "tool_map(tardy, {1, 2})",
    };

    if (*w->runtime != 'r')
        test_expect_error(session, test_phrase(w, &wrong), LAZ_VERDICT_ERROR, "out of order");
    place_moves_clock(2, 500);
    test_expect_error(session, test_phrase(w, &late), LAZ_VERDICT_ERROR, "timed out after 0.1");
    open_gate();
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5"); /* not the answer to another call */
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13");
}

static void errors_belong_to_their_calls(void)
{
    each_session("", body_errors);
}

/* Calls that are still open when the code ends: the result comes before their answers. */
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
    open_gate();
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
    static const struct phrase gates = {.lua = "tool_map(gate, times(20, {}))"};
    const struct laz_execute_options soon = {.size = sizeof soon, .deadline_ms = 2000};

    place_moves_clock(16, 2000); /* as many as run at the same time */
    test_expect_with(session, test_phrase(w, &gates), &soon, LAZ_VERDICT_DEADLINE, NULL);
    open_gate();                                             /* their answers are discarded */
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13"); /* in another box */
}

static void a_deadline_with_open_calls_leaves_nothing(void)
{
    in_lua = true;
    each_session("", body_deadline);
    in_lua = false;
}

/* A call that was about to be sent when its execution ended must not become part of the next
 * one. */
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

    const int many = getenv("LAZARET_TEST_FULL") ? 1500 : 300;

    say(session, w, &begin, LAZ_VERDICT_OK, NULL);
    for (int i = 0; i < many && test_phrase(w, &begin); i++)
        test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    say(session, w, &end, LAZ_VERDICT_OK, "\"ended\"");
}

static void threads_go_on_from_one_execution_to_the_next(void)
{
    each_session("", body_between);
}

static void line_lets_one_pass(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    open_gate_for(1);
}

/* Threads that have waited since before the loops' thread began; they are answered one after the
 * other while that one has nothing to do. */
static void body_older(struct laz_session *session, const struct words *w)
{
    static const struct phrase older = {
        .python = "import threading\n"
                  "def work():\n"
                  "    gate()\n"
                  "    print('go', flush=True)\n"
                  "older = [threading.Thread(target=work) for i in range(2)]\n"
                  "for t in older: t.start()\n"
                  "while waiting() < 2: pass\n"
                  "got = together([add.aio(1, 2)])\n"
                  "print('go', flush=True)\n"
                  "for t in older: t.join()\n"
                  "got",
    };
    const struct laz_execute_options options = {.size = sizeof options, .line = line_lets_one_pass};

    if (test_phrase(w, &older))
        test_expect_with(session, test_phrase(w, &older), &options, LAZ_VERDICT_OK, "[3]");
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
    int status = unit_run("together", tests);

    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        laz_engine_free(homes[i].engine); /* and its session */
    return status;
}
