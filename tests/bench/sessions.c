/* SPDX-License-Identifier: MIT */
/* sessions.c - from the request for a session to its first results. */
#include "bench.h"

#include <unistd.h>

#define SESSION_REST_US 20000 /* the template has made the next one */

/* The work of a new session before its sample ends: an expression and one call of a tool. */
static bool session_work(struct bench_point *point, struct laz_session *session)
{
    return bench_execute(point, session, "1+1") && bench_execute(point, session, "add(1, 2)");
}

static void session_own(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "1", 1);
}

/* A new session from a template, from the request for it to the end of its work, in microseconds.
 * Negative: it failed, and the point has the reason. */
static double session_took(struct bench *bench, struct bench_point *point, bool has_own_tools)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "own"};
    const struct laz_session_tool own = {.size = sizeof own, .tool = &tool, .call = session_own};
    const struct laz_session_tool *const tools[] = {&own};
    const struct laz_session_options options = {.size = sizeof options,
                                                .runtime = point->language->name,
                                                .no_wait = 1,
                                                .warm = 1,
                                                .tools = tools,
                                                .n_tools = has_own_tools};
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    const double before = bench_now_us();
    bool done = false;

    if (laz_session_open(bench->engine, &options, &session, &err))
        bench_problem(point, "%s", err.text);
    else
        done = session_work(point, session);
    const double took = bench_now_us() - before;
    laz_session_close(session); /* its end is in no later measurement */
    laz_session_free(session);
    return done ? took : -1;
}

/* Measures new sessions from a template and a bare box in turn. */
enum bench_outcome bench_session_template(struct bench *bench, struct bench_point *point)
{
    struct laz_session *kept;
    enum bench_outcome outcome = bench_session(bench, point, &kept); /* fails if not built */

    for (int i = -2; outcome == BENCH_DONE && !bench_is_full(point); i++) {
        double bare = bench_floor(point, bench_bwrap_true);
        double took = session_took(bench, point, false);
        if (took < 0)
            outcome = BENCH_FAILED;
        else if (bare < 0)
            outcome = bench_problem(point, "the floor failed");
        if (outcome != BENCH_DONE || i < 0) /* the first one waits for the template */
            continue;
        bench_add(point, took);
        bench_add_floor(point, bare);
    }
    return outcome;
}

/* Measures new sessions with and without a tool of their own in turn. */
enum bench_outcome bench_session_tools(struct bench *bench, struct bench_point *point)
{
    struct laz_session *kept;
    enum bench_outcome outcome = bench_session(bench, point, &kept); /* fails if not built */

    for (int i = -2; outcome == BENCH_DONE && !bench_is_full(point); i++) {
        usleep(SESSION_REST_US);
        double plain = session_took(bench, point, false);
        usleep(SESSION_REST_US);
        double took = session_took(bench, point, true);
        if (plain < 0 || took < 0)
            outcome = BENCH_FAILED;
        if (outcome != BENCH_DONE || i < 0) /* the first one waits for the template */
            continue;
        bench_add(point, took);
        bench_add_floor(point, plain);
    }
    return outcome;
}

/* Measures new cold sessions and a comparable program in a bare box in turn. */
enum bench_outcome bench_session_cold(struct bench *bench, struct bench_point *point)
{
    const char *const *floor = point->language->floor;
    enum bench_outcome outcome = BENCH_DONE;

    if (access(floor[0], X_OK))
        return bench_problem(point, "%s is missing", floor[0]);
    if (bench_spawn(floor) < 0) /* no such program: use an empty box */
        floor = bench_bwrap_true;
    for (bool warm = false; outcome == BENCH_DONE && !bench_is_full(point); warm = true) {
        struct laz_session *session = NULL;
        double bare = bench_floor(point, floor);
        double before = bench_now_us();
        outcome = bench_open(bench, point, &session);
        if (outcome == BENCH_DONE && !session_work(point, session))
            outcome = BENCH_FAILED;
        double took = bench_now_us() - before;
        laz_session_close(session); /* its end is in no later measurement */
        laz_session_free(session);
        if (outcome == BENCH_DONE && bare < 0)
            outcome = bench_problem(point, "the floor failed: %s", floor[0]);
        if (outcome != BENCH_DONE || !warm)
            continue;
        bench_add(point, took);
        bench_add_floor(point, bare);
    }
    return outcome;
}

/* How long laz_session_free keeps its caller. What it leaves to the loop is done while the next
 * session is opened. */
enum bench_outcome bench_session_free(struct bench *bench, struct bench_point *point)
{
    struct laz_session *kept;
    enum bench_outcome outcome = bench_session(bench, point, &kept); /* fails if not built */

    for (int i = -2; outcome == BENCH_DONE && !bench_is_full(point); i++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        if (bench_open_warm(bench->engine, point->language->name, &session, &err))
            outcome = bench_problem(point, "%s", err.text);
        else if (!session_work(point, session))
            outcome = BENCH_FAILED;
        double before = bench_now_us();
        laz_session_free(session);
        if (outcome == BENCH_DONE && i >= 0) /* the first one waits for the template */
            bench_add(point, bench_now_us() - before);
    }
    return outcome;
}

/* The command of the build that this program belongs to, from fork to its end, and an interpreter
 * in a bare box in turn. */
enum bench_outcome bench_run(struct bench *bench, struct bench_point *point)
{
    const char *const *floor = point->language->bare;
    char path[4096];
    struct laz_session *kept;
    enum bench_outcome outcome = bench_session(bench, point, &kept); /* fails if not built */

    if (outcome != BENCH_DONE)
        return outcome;
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    char *name = strstr(path, "lazaret-bench");
    for (char *next; name && (next = strstr(name + 1, "lazaret-bench"));)
        name = next;
    if (!name)
        return bench_problem(point, "the command is looked for beside this program: %s", path);
    strcpy(name, "lazaret");
    const char *const command[] = {path, "run", "--runtime", point->language->name,
                                   "-e", "1+1", NULL};
    if (bench_spawn(floor) < 0) /* no such program: use an empty box */
        floor = bench_bwrap_true;
    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        double bare = bench_floor(point, floor);
        double took = bench_spawn(command);
        if (bare < 0 || took < 0)
            return bench_problem(point, "%s failed", bare < 0 ? "the floor" : path);
        bench_add(point, took);
        bench_add_floor(point, bare);
    }
    return outcome;
}
