/* SPDX-License-Identifier: MIT */
/* sessions.c - from the request for a session to its first results. */
#include "bench.h"

#include <unistd.h>

/* The work of a new session before its sample ends: an expression and one call of a tool. */
static bool session_work(struct bench_point *point, struct laz_session *session)
{
    return bench_execute(point, session, "1+1") && bench_execute(point, session, "add(1, 2)");
}

/* Measures new sessions from a template and a bare box in turn. */
enum bench_outcome bench_session_template(struct bench *bench, struct bench_point *point)
{
    struct laz_session *kept;
    enum bench_outcome outcome = bench_session(bench, point, &kept); /* fails if not built */

    for (int i = -2; outcome == BENCH_DONE && !bench_is_full(point); i++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        double bare = bench_floor(point, bench_bwrap_true);
        double before = bench_now_us();
        if (bench_open_warm(bench->engine, point->language->name, &session, &err))
            outcome = bench_problem(point, "%s", err.text);
        else if (!session_work(point, session))
            outcome = BENCH_FAILED;
        double took = bench_now_us() - before;
        laz_session_close(session); /* its end is in no later measurement */
        laz_session_free(session);
        if (outcome == BENCH_DONE && bare < 0)
            outcome = bench_problem(point, "the floor failed");
        if (outcome != BENCH_DONE || i < 0) /* the first one waits for the template */
            continue;
        bench_add(point, took);
        bench_add_floor(point, bare);
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
