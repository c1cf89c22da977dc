/* SPDX-License-Identifier: MIT */
/* test_death.c - a killed box that takes long to end: its siblings, its template and the host go
 * on, and the next one starts, or waits for its uid.
 *
 * A dead process of its namespace delays it, which this program traces (ptrace(2)) and does not
 * reap: until then the first process of the namespace cannot end (pid_namespaces(7)). With
 * LAZARET_TEST_FULL, a huge number of files in /tmp also delays it while the kernel frees them. */
#include "live.h"
#include "sight.h"

#include "base/buf.h"
#include "session/session.h"
#include "box/templates.h"
#include "engine/engine.h"
#include "os/users.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct laz_session *open_one(struct laz_engine *engine, bool warm)
{
    return warm ? test_warm_session(engine, "lua") : test_session(engine, "lua");
}

/* The agent of a session; with a template it is the only child of the namespace's first process. */
static int agent_of(const struct laz_session *session)
{
    char path[64];
    int first = (int)session->box->process.pid, pid = -1;

    if (!session->box->from)
        return session->box->agent_pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", first, first);
    FILE *children = fopen(path, "r");
    if (children && fscanf(children, "%d", &pid) != 1)
        pid = -1;
    if (children)
        fclose(children);
    return pid;
}

/* Traces the agent, so that it remains a zombie until released. */
static int hold(const struct laz_session *session)
{
    int pid = agent_of(session);

    CU_ASSERT_FATAL(pid > 1);
    long rc = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
    if (rc)
        printf("\n    process %d: %s", pid, strerror(errno));
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    return pid;
}

static void let_go(int pid)
{
    CU_ASSERT_EQUAL(waitpid(pid, NULL, __WALL), pid);
}

/* Frees one of three sessions, whose box has not ended when the time for that is over. */
static void a_slow_death(const char *settings, bool warm, bool held_up)
{
    const uint64_t ordinary_ms = 2000;
    struct laz_engine *engine = test_engine(settings);
    struct laz_buf told = LAZ_BUF_INIT;

    engine->boxes.death_ms = ordinary_ms;
    struct laz_session *sibling = open_one(engine, warm), *dying = open_one(engine, warm);
    CU_ASSERT_FATAL(sibling && dying);
    test_expect(sibling, "x = 5", LAZ_VERDICT_OK, NULL);
    int held = hold(dying);
    test_told = &told;
    laz_session_free(dying); /* waits for nothing */
    CU_ASSERT(!held_up || engine->boxes.leaving != NULL);
    test_expect(sibling, "return x", LAZ_VERDICT_OK, "5");
    while (engine->boxes.leaving)
        laz_engine_step(engine, 1000, NULL);
    test_told = NULL;
    CU_ASSERT(!held_up || strstr(laz_buf_text(&told), "does not end") != NULL);
    struct laz_session *another = open_one(engine, warm);
    test_expect(another, "return add(2, 3)", LAZ_VERDICT_OK, "5");
    test_expect(sibling, "return x", LAZ_VERDICT_OK, "5");
    let_go(held);
    laz_session_free(another);
    laz_session_free(sibling);
    laz_engine_free(engine);
    laz_buf_fini(&told);
}

static void a_slow_death_ends_no_sibling_of_a_template(void)
{
    a_slow_death("sandbox.backend=bwrap;pool.warm=template", true, true);
}

static void a_slow_death_ends_nobody_else_in_bubblewrap(void)
{
    a_slow_death("sandbox.backend=bwrap", false, true);
}

/* There is no namespace to delay, and the reaper reaps the dead. */
static void a_slow_death_ends_nobody_else_in_landlock(void)
{
    a_slow_death("sandbox.backend=landlock", false, false);
}

/* ---- uids ------------------------------------------------------------------------------------ */

#define HOUR_MS 3600000u

/* An engine with one uid, and a session that has it. */
static struct laz_engine *engine_of_one_uid(struct laz_session **session)
{
    const unsigned uid = 2079000000u + (unsigned)getpid();
    char settings[80];

    snprintf(settings, sizeof settings, "sandbox.backend=bwrap;sandbox.uids=%u-%u", uid, uid);
    struct laz_engine *engine = test_engine(settings);
    CU_ASSERT_FATAL(engine != NULL);
    engine->boxes.death_ms = HOUR_MS;
    *session = open_one(engine, false);
    CU_ASSERT_FATAL(*session && laz_session_uid(*session) == uid);
    return engine;
}

static struct laz_session *begin_one(struct laz_engine *engine)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua", .no_wait = 1};
    struct laz_session *session = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &options, &session, NULL), 0);
    return session;
}

static void a_start_waits_for_the_uid_of_a_box_that_ends(void)
{
    struct laz_session *session, *another;
    struct laz_error err = {0};

    if (!laz_os_is_root())
        return; /* sessions of a user have no uids of their own */
    struct laz_engine *engine = engine_of_one_uid(&session);
    int held = hold(session);
    laz_session_free(session);
    session = begin_one(engine);
    another = begin_one(engine);
    CU_ASSERT(session->start.is_choosing && another->start.is_choosing);
    laz_session_free(another);
    laz_engine_step(engine, 0, NULL);
    CU_ASSERT(session->start.is_choosing);
    let_go(held);
    test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    test_expect(session, "return 2", LAZ_VERDICT_OK, "2");
    /* nothing ends, so there is nothing to wait for */
    CU_ASSERT_EQUAL(laz_session_open(engine, NULL, &another, &err), LAZ_EBUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "in use"));
    laz_session_free(session);
    session = open_one(engine, false);
    test_expect(session, "return 3", LAZ_VERDICT_OK, "3");
    laz_engine_free(engine);
}

static void a_wait_for_a_uid_can_be_cancelled(void)
{
    struct laz_session *session;

    if (!laz_os_is_root())
        return;
    struct laz_engine *engine = engine_of_one_uid(&session);
    int held = hold(session);
    laz_session_free(session);
    session = begin_one(engine);
    laz_engine_cancel(engine);
    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
    CU_ASSERT(!session->start.under_way);
    CU_ASSERT_EQUAL(session->start.rc, LAZ_ECANCELLED);
    UNIT_TEXT(session->start.why.text, "The wait for a uid was cancelled");
    let_go(held);
    laz_engine_free(engine);
}

/* ---- files without number -------------------------------------------------------------------- */

#define MANY_FILES "2000000"

static void files_without_number_end_nobody(bool warm)
{
    struct laz_engine *engine =
        test_engine("sandbox.backend=bwrap;limits.memory=unlimited;limits.cpu=unlimited;"
                    "pool.warm=template");
    struct laz_session *sibling = open_one(engine, warm), *dying = open_one(engine, warm);

    CU_ASSERT_FATAL(sibling && dying);
    test_expect(sibling, "x = 5", LAZ_VERDICT_OK, NULL);
    /* the file systems of a session from a template have as many as its size has pages */
    test_expect(dying, warm ? "bounded = true" : "bounded = false", LAZ_VERDICT_OK, NULL);
    test_expect(dying,
                "local n = 0\nfor i = 1, " MANY_FILES " do\n"
                "  local f = io.open('/tmp/' .. i, 'w')\n  if f then f:close() n = n + 1 end\nend\n"
                "return n > 10000 and (n < 20000) == bounded",
                LAZ_VERDICT_OK, "true");
    laz_session_free(dying);
    test_expect(sibling, "return x", LAZ_VERDICT_OK, "5");
    struct laz_session *another = open_one(engine, warm);
    test_expect(another, "return add(2, 3)", LAZ_VERDICT_OK, "5");
    laz_engine_free(engine);
}

static void files_without_number_end_no_sibling(void)
{
    if (!sight_is_full())
        return;
    files_without_number_end_nobody(false);
    files_without_number_end_nobody(true);
}

static const struct unit_test tests[] = {
    UNIT(a_slow_death_ends_no_sibling_of_a_template),
    UNIT(a_slow_death_ends_nobody_else_in_bubblewrap),
    UNIT(a_slow_death_ends_nobody_else_in_landlock),
    UNIT(a_start_waits_for_the_uid_of_a_box_that_ends),
    UNIT(a_wait_for_a_uid_can_be_cancelled),
    UNIT(files_without_number_end_no_sibling),
    {0},
};

int main(void)
{
    return unit_run("death", tests);
}
