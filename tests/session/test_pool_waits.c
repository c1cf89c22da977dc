/* SPDX-License-Identifier: MIT */
/* test_pool_waits.c - each caller who waits for a pool is served or gets an error, whatever happens
 * to its sessions.
 *
 * The agent is the mock of tests/mock/agent.c: a start, and the code of a session's holder,
 * continue when the test sends a signal. The test acts in a timer of the loop, so that it continues
 * while a synchronous call waits; before each step it checks that no caller waits while nothing in
 * progress could wake it. The clock of the engine is held. */
#include "live.h"
#include "sight.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "session/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READY "send {\"type\":\"ready\",\"protocol\":1,\"confined\":[\"landlock\",\"filter\"]}"

#define WAITS_START_MS 60000u /* session.start_timeout */
#define WAITS_WAIT_MS  1000u  /* of callers with a limit */
#define WAITS_LET_GO   256

/* A continued start of a box (id 0) or execution in it. */
struct let_go {
    char token[33];
    int64_t id;
};

static struct {
    struct laz_engine *engine;
    struct laz_pool *pool; /* NULL: it is being made or was freed */
    struct laz_post round;
    bool is_posted;
    void (*act)(void);        /* called in each turn of the loop; NULL: nothing more */
    bool is_made;             /* laz_pool_new waits */
    bool frees;               /* the next holder that finishes frees the pool */
    unsigned waiting;         /* callers neither served nor refused */
    unsigned served, refused; /* of all callers */
    unsigned n_held;          /* sessions that callers have */
    struct let_go let_go[WAITS_LET_GO];
    unsigned n_let_go, n_rounds;
    struct laz_buf did; /* record of the steps, for readers */
} walk;

static void walk_did(const char *what)
{
    laz_buf_printf(&walk.did, " %s", what);
}

/* ---- sessions ------------------------------------------------------------------------------- */

static bool session_starts(const struct laz_session *session)
{
    return session->start.under_way && session->state == LAZ_SESSION_STARTING;
}

static bool session_is_ready(const struct laz_session *session)
{
    return !session->start.under_way && session->state == LAZ_SESSION_IDLE;
}

static bool session_runs(const struct laz_session *session)
{
    return session->state == LAZ_SESSION_RUNNING;
}

static void session_signal(const struct laz_session *session, int number)
{
    const struct laz_box *box = session->box;
    int pidfd = !box ? -1 : box->from || box->agent_fd < 0 ? box->process.pidfd : box->agent_fd;

    if (pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

/* Continues a session: the end of its start or of its execution. False: it was already
 * continued. */
static bool session_let_go(const struct laz_session *session)
{
    int64_t id = session_runs(session) ? session->last_id : 0;

    for (unsigned i = 0; i < WAITS_LET_GO; i++)
        if (walk.let_go[i].id == id && strcmp(walk.let_go[i].token, session->box->token) == 0)
            return false;
    struct let_go *now = &walk.let_go[walk.n_let_go++ % WAITS_LET_GO];
    now->id = id;
    memcpy(now->token, session->box->token, sizeof now->token);
    session_signal(session, SIGUSR1);
    return true;
}

/* Checks that while a caller waits there is a start or a holder; only the pool's own timer may be
 * pending instead. */
static void walk_check(void)
{
    unsigned starting = 0, held = walk.n_held;

    if (walk.engine->driver.stirred)
        return;
    for (const struct laz_session *s = walk.engine->sessions.sessions; s; s = s->next) {
        starting += s->start.under_way;
        held += atomic_load(&s->executing);
    }
    if (starting || (!walk.is_made && (held || !walk.waiting)))
        return;
    printf("\n    forgotten: %u callers%s; after:%s\n", walk.waiting,
           walk.is_made ? " and laz_pool_new" : "", laz_buf_text(&walk.did));
    for (const struct laz_session *s = walk.engine->sessions.sessions; s; s = s->next)
        printf("    session %s: %s%s%s%s\n", s->id, laz_session_state_name(s->state),
               s->owner ? ", of the pool" : "", s->start.under_way ? ", starts" : "",
               atomic_load(&s->executing) ? ", executes" : "");
    exit(1); /* it would wait for ever */
}

static void walk_act(void (*act)(void))
{
    walk.act = act;
    if (act && !walk.is_posted)
        laz_loop_post(walk.engine->driver.loop, &walk.round);
    walk.is_posted |= act != NULL;
}

static void walk_goes_round(struct laz_post *post)
{
    (void)post;
    walk.is_posted = false;
    if (!walk.act)
        return;
    walk_act(walk.act); /* again in the next step */
    walk_check();
    walk.act();
}

/* ---- callers and holders -------------------------------------------------------------------- */

static void walk_free_pool(void)
{
    struct laz_pool *pool = walk.pool;

    walk_did("free");
    walk.pool = NULL;
    laz_pool_free(pool);
}

static void holder_ends(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct laz_session *session = user;

    (void)err;
    laz_result_free(result);
    if (walk.pool && walk.frees) {
        walk_free_pool(); /* and the session */
    } else if (walk.pool && sight_pick(6)) {
        CU_ASSERT_EQUAL(laz_pool_release(walk.pool, session, NULL), 0);
    } else if (walk.pool) {
        laz_session_free(session);
    }
    walk.n_held--; /* until then the session does not belong to the pool */
}

static void walk_hold(struct laz_session *session)
{
    walk.n_held++;
    if (laz_session_execute_async(session, "await\nok 1", SIZE_MAX, NULL, holder_ends, session,
                                  NULL))
        holder_ends(session, NULL, NULL);
}

static void walk_answered(struct laz_session *session, int code)
{
    walk.waiting--;
    *(session ? &walk.served : &walk.refused) += 1;
    CU_ASSERT(session || code < 0);
    if (session)
        walk_hold(session);
}

static void caller_is_told(void *user, struct laz_session *session, const struct laz_error *err)
{
    (void)user;
    walk_answered(session, err ? err->code : 0);
}

static uint64_t walk_wait_ms(void)
{
    static const uint64_t ms[] = {0, WAITS_WAIT_MS, LAZ_NO_LIMIT, LAZ_NO_LIMIT};

    return ms[sight_pick(sizeof ms / sizeof *ms)];
}

static void walk_ask(void)
{
    walk_did("ask");
    walk.waiting++;
    CU_ASSERT_EQUAL(laz_pool_acquire_async(walk.pool, walk_wait_ms(), caller_is_told, NULL, NULL),
                    0);
}

static void run_ends(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user;
    CU_ASSERT(!result != !err);
    walk.waiting--;
    *(result ? &walk.served : &walk.refused) += 1;
    laz_result_free(result);
}

static void walk_run(void)
{
    walk_did("run");
    walk.waiting++;
    CU_ASSERT_EQUAL(laz_pool_execute_async(walk.pool, walk_wait_ms(), "await\nok 1", SIZE_MAX, NULL,
                                           run_ends, NULL, NULL),
                    0);
}

static void walk_wait(uint64_t ms)
{
    struct laz_session *session;
    struct laz_error err = {0};

    walk_did("wait");
    walk.waiting++;
    int rc = laz_pool_acquire(walk.pool, ms, &session, &err);
    CU_ASSERT_EQUAL(rc, err.code);
    walk_did(rc ? "told" : "served");
    walk_answered(session, rc);
}

/* ---- what happens to them ------------------------------------------------------------------- */

/* Continues all sessions until no caller waits. */
static void act_finish(void)
{
    bool any = false;

    for (const struct laz_session *s = walk.engine->sessions.sessions; s; s = s->next) {
        any |= s->start.under_way || atomic_load(&s->executing);
        if (session_starts(s) || session_runs(s))
            (void)session_let_go(s);
    }
    if (any)
        usleep(200); /* lets processes run */
}

static void act_on(struct laz_session *session)
{
    if (sight_pick(4) == 0) {
        laz_buf_printf(&walk.did, " kill-%s", laz_session_state_name(session->state));
        session_signal(session, SIGKILL);
    } else if (!session_is_ready(session) && session_let_go(session)) {
        walk_did(session_runs(session) ? "end" : "start");
    }
}

/* Changes one of the sessions at random, or moves the clock. */
static void act_somehow(void)
{
    static const uint64_t ms[] = {100, WAITS_WAIT_MS, WAITS_START_MS / 4, WAITS_START_MS};
    struct laz_session *found[32];
    size_t n = 0;

    for (struct laz_session *s = walk.engine->sessions.sessions; s && n < 32; s = s->next)
        if (s->owner && (session_starts(s) || session_is_ready(s) || session_runs(s)))
            found[n++] = s;
    size_t what = sight_pick(32);
    if (what == 0) {
        size_t i = sight_pick(sizeof ms / sizeof *ms);
        laz_buf_printf(&walk.did, " %llums", (unsigned long long)ms[i]);
        test_advance_clock(walk.engine, ms[i]);
    } else if (n && what < 12) {
        act_on(found[sight_pick(n)]);
    } else {
        usleep(100); /* lets processes run */
    }
}

/* ---- a walk --------------------------------------------------------------------------------- */

static bool walk_begin(const char *settings, bool is_open)
{
    char *text = laz_strdupf("env.set={MOCK_START='connect|token|recv|await|" READY "',"
                             "MOCK_SESSION='token|recv|await|ready'};"
                             "session.start_timeout=%u%s%s",
                             WAITS_START_MS / 1000, *settings ? ";" : "", settings);

    memset(&walk, 0, sizeof walk);
    walk.engine = is_open ? test_engine_open(text) : test_engine(text);
    free(text);
    if (!walk.engine)
        return false;
    test_hold_clock(walk.engine);
    walk.round.run = walk_goes_round;
    return true;
}

static void walk_end(void)
{
    walk_act(NULL);
    laz_engine_free(walk.engine);
    CU_ASSERT_EQUAL(walk.waiting, 0);
    CU_ASSERT_EQUAL(walk.n_held, 0);
    laz_buf_fini(&walk.did);
}

static int walk_make(unsigned members, bool waits, struct laz_error *err)
{
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = "lua", .members = members, .no_wait = !waits};

    walk.is_made = waits;
    int rc = laz_pool_new(walk.engine, &options, &walk.pool, err);
    walk.is_made = false;
    return rc;
}

static void walk_free(void)
{
    walk_act(NULL);
    walk_free_pool();
    CU_ASSERT_EQUAL(walk.waiting, 0);
    CU_ASSERT_EQUAL(walk.n_held, 0);
}

static void walk_step(void)
{
    const char *agent = walk.engine->boxes.agent;

    switch (sight_pick(8)) {
    case 0:
    case 1:
        walk_ask();
        break;
    case 2:
        walk_run();
        break;
    case 5:
        walk_wait(walk_wait_ms());
        break;
    case 3:
        walk_did("cancel");
        laz_engine_cancel(walk.engine);
        break;
    case 4: /* what begins in this step does not start at all */
        walk_did("nowhere");
        walk.engine->boxes.agent = "/nowhere/agent";
        laz_engine_step(walk.engine, 0, NULL);
        walk.engine->boxes.agent = agent;
        break;
    default:
        for (int i = 0; i < 20; i++)
            laz_engine_step(walk.engine, 0, NULL);
    }
}

/* Runs a pool from its making to its end. */
static void walk_once(void)
{
    struct laz_error err = {0};
    bool waits = sight_pick(2);
    unsigned members = 1 + (unsigned)sight_pick(3);

    laz_buf_clear(&walk.did);
    walk_did(waits ? "make" : "begin");
    walk.frees = false;
    walk_act(act_somehow);
    if (walk_make(members, waits, &err)) {
        CU_ASSERT(waits && *err.text);
    } else {
        for (size_t i = sight_pick(16); i && walk.pool; i--) {
            walk.frees = sight_pick(8) == 0;
            walk_step();
        }
        walk_did("finish");
        walk.frees = false;
        walk_act(act_finish);
        if (sight_pick(3)) /* otherwise it is freed while they wait */
            while (walk.pool && (walk.waiting || walk.n_held))
                laz_engine_step(walk.engine, -1, NULL);
        walk_free();
    }
    CU_ASSERT_PTR_NULL(walk.engine->sessions.sessions);
    CU_ASSERT_PTR_NULL(walk.engine->sessions.pools);
}

static void walk_often(const char *settings, bool is_open, unsigned few, unsigned many)
{
    struct laz_buf told = LAZ_BUF_INIT;
    unsigned n = sight_is_full() ? many : few;

    test_told = &told; /* starts fail on purpose */
    if (walk_begin(settings, is_open)) {
        for (unsigned i = 0; i < n; i++)
            walk_once();
        printf("\n    %u pools; %u callers served, %u told ", n, walk.served, walk.refused);
        walk_end();
    }
    test_told = NULL;
    laz_buf_fini(&told);
}

static void nobody_is_forgotten(void)
{
    walk_often("pool.warm=cold", true, 12, 400);
    if (sight_is_full()) {
        walk_often("pool.warm=cold", false, 0, 100);
        walk_often("pool.warm=cold;sandbox.backend=landlock", false, 0, 100);
    }
}

static void nobody_is_forgotten_with_a_template(void)
{
    walk_often("pool.warm=template", false, 3, 100);
}

/* ---- cases ---------------------------------------------------------------------------------- */

/* In a pool of two, the second session is ready, and then the first dies during its start. */
static void act_second_then_first(void)
{
    const struct laz_session *second = walk.engine->sessions.sessions,
                             *first = second ? second->next : NULL;

    if (first && session_starts(first) && session_starts(second))
        (void)session_let_go(second);
    else if (first && session_starts(first) && session_is_ready(second) &&
             !walk.engine->driver.stirred)
        session_signal(first, SIGKILL);
    else
        usleep(100);
}

static void a_pool_is_not_made_when_an_early_session_fails_late(void)
{
    struct laz_error err = {0};

    if (!walk_begin("pool.warm=cold", true))
        return;
    walk_act(act_second_then_first);
    CU_ASSERT(walk_make(2, true, &err) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the session did not start"));
    walk_end();
}

/* In a pool of two, the second session never gets ready, and the first is killed whenever it
 * does. */
static void act_first_dies(void)
{
    const struct laz_session *second = walk.engine->sessions.sessions,
                             *first = second ? second->next : NULL;

    if (first && second->owner < first->owner)
        first = second;
    if (first && session_starts(first) && session_let_go(first) && ++walk.n_rounds > 4)
        laz_engine_cancel(walk.engine); /* it would go on like this */
    else if (first && session_is_ready(first) && !walk.engine->driver.stirred)
        session_signal(first, SIGKILL);
    else
        usleep(100);
}

static void a_pool_is_not_made_when_its_sessions_end_unused(void)
{
    struct laz_error err = {0};

    if (!walk_begin("pool.warm=cold", true))
        return;
    walk_act(act_first_dies);
    CU_ASSERT_EQUAL(walk_make(2, true, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "ended before they were used"));
    CU_ASSERT_EQUAL(walk.n_rounds, 2);
    walk_end();
}

static void walk_await_idle(void)
{
    struct laz_pool_status status = {.size = sizeof status};

    while (laz_pool_status(walk.pool, &status, NULL) == 0 && !status.idle)
        laz_engine_step(walk.engine, 0, NULL);
}

/* A session that always ends when it is ready is restarted after ever longer pauses, until a
 * session has been used. */
static void sessions_that_end_unused_are_started_ever_later(void)
{
    static const uint64_t pauses_ms[] = {0, 100, 200, 400, 0};
    struct laz_pool_status status = {.size = sizeof status};
    struct laz_session *session;
    struct laz_error err = {0};

    if (!walk_begin("pool.warm=cold", true))
        return;
    walk_act(act_finish);
    CU_ASSERT_EQUAL_FATAL(walk_make(1, true, &err), 0);
    for (size_t i = 0; i < sizeof pauses_ms / sizeof *pauses_ms; i++) {
        const bool is_used = i == sizeof pauses_ms / sizeof *pauses_ms - 1;
        if (is_used) {
            CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(walk.pool, 0, &session, &err), 0);
            CU_ASSERT_EQUAL(laz_pool_release(walk.pool, session, &err), 0);
            walk_await_idle(); /* the pool has a new one (pool.reset) */
        }
        session_signal(walk.engine->sessions.sessions, SIGKILL);
        for (status.idle = 1; status.idle; laz_pool_status(walk.pool, &status, NULL))
            ;
        laz_engine_step(walk.engine, 0, NULL); /* lets the pool check its sessions */
        if (pauses_ms[i]) {
            test_advance_clock(walk.engine, pauses_ms[i] - 1);
            laz_engine_step(walk.engine, 0, NULL);
            CU_ASSERT_PTR_NULL(walk.engine->sessions.sessions);
            test_advance_clock(walk.engine, 1);
        }
        walk_await_idle();
    }
    walk_free();
    walk_end();
}

/* The holder does nothing: only a cancel ends the wait. */
static void act_cancel(void)
{
    walk.n_rounds++;
    if (walk.n_rounds == 2)
        laz_engine_cancel(walk.engine);
    if (walk.n_rounds == 4)
        walk.n_held = 0; /* the pool was not told, but must find out */
}

static void a_cancel_ends_the_wait(void)
{
    struct laz_session *held, *none;
    struct laz_error err = {0};

    if (!walk_begin("pool.warm=cold", true))
        return;
    walk_act(act_finish);
    CU_ASSERT_EQUAL_FATAL(walk_make(1, true, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(walk.pool, 0, &held, &err), 0);
    walk.n_held = walk.waiting = 1;
    walk_act(act_cancel);
    CU_ASSERT_EQUAL(laz_pool_acquire(walk.pool, LAZ_NO_LIMIT, &none, &err), LAZ_ECANCELLED);
    CU_ASSERT_PTR_NULL(none);
    UNIT_TEXT(err.text, "The wait for a session was cancelled");
    walk.n_held = walk.waiting = 0;
    CU_ASSERT_EQUAL(laz_pool_release(walk.pool, held, &err), 0);
    walk_free();
    walk_end();
}

/* An output handler frees the session during its execution: its place then belongs to the pool
 * again. */
static void free_it(void *user, int stream, const char *data, size_t len)
{
    (void)stream, (void)data, (void)len;
    laz_session_free(user);
}

static void a_session_that_frees_itself_is_replaced(void)
{
    struct laz_pool_status status = {.size = sizeof status};
    struct laz_session *session;
    struct laz_error err = {0};

    if (!walk_begin("pool.warm=cold", true))
        return;
    walk_act(act_finish);
    CU_ASSERT_EQUAL_FATAL(walk_make(1, true, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(walk.pool, 0, &session, &err), 0);
    const struct laz_execute_options options = {
        .size = sizeof options, .output = free_it, .user = session};
    walk.waiting = 1;
    CU_ASSERT_EQUAL(laz_session_execute_async(session, "print x\nwait", SIZE_MAX, &options,
                                              run_ends, NULL, &err),
                    0);
    while (walk.waiting || !status.idle) {
        laz_engine_step(walk.engine, -1, NULL);
        CU_ASSERT_EQUAL_FATAL(laz_pool_status(walk.pool, &status, NULL), 0);
    }
    CU_ASSERT_EQUAL(status.busy, 0);
    walk_free();
    CU_ASSERT_PTR_NULL(walk.engine->sessions.sessions);
    walk_end();
}

static const struct unit_test tests[] = {
    UNIT(a_cancel_ends_the_wait),
    UNIT(a_session_that_frees_itself_is_replaced),
    UNIT(a_pool_is_not_made_when_an_early_session_fails_late),
    UNIT(a_pool_is_not_made_when_its_sessions_end_unused),
    UNIT(sessions_that_end_unused_are_started_ever_later),
    UNIT(nobody_is_forgotten),
    UNIT(nobody_is_forgotten_with_a_template),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("pool_waits", tests);
}
