/* SPDX-License-Identifier: MIT */
/* acquire.c - time until a pool with an idle session hands it out. */
#include "bench.h"

#define MEMBERS 4

/* Drives the engine until every member is idle, because a ready pool is to be measured. */
static bool acquire_settle(struct bench *bench, struct laz_pool *pool, struct laz_error *err)
{
    struct laz_pool_status status = {.size = sizeof status};
    int rc = laz_pool_status(pool, &status, err);

    while (rc == 0 && status.idle < MEMBERS) {
        rc = laz_engine_step(bench->engine, 1000, err);
        if (rc == 0)
            rc = laz_pool_status(pool, &status, err);
    }
    return rc == 0;
}

/* Acquires a session, uses it and gives it back; the pool replaces it by a new one. */
static bool acquire_once(struct bench *bench, struct bench_point *point, struct laz_pool *pool,
                         bool counts)
{
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (!acquire_settle(bench, pool, &err)) {
        bench_problem(point, "%s", err.text);
        return false;
    }
    double floor = bench_pingpong(bench, BENCH_EXECUTE_BYTES, BENCH_RESULT_BYTES);
    double before = bench_now_us();
    int rc = laz_pool_acquire(pool, 0, &session, &err);
    double took = bench_now_us() - before;
    bool used = rc == 0 && bench_execute(point, session, "1+1");
    if (rc == 0)
        rc = laz_pool_release(pool, session, &err);
    if (rc)
        bench_problem(point, "%s", err.text);
    if (rc || !used)
        return false;
    if (counts) {
        bench_add(point, took);
        bench_add_floor(point, floor);
    }
    return true;
}

enum bench_outcome bench_pool_acquire(struct bench *bench, struct bench_point *point)
{
    struct laz_session *kept;
    enum bench_outcome outcome = bench_any_session(bench, point, &kept);
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};

    if (outcome != BENCH_DONE)
        return outcome;
    struct laz_pool_options options = {
        .size = sizeof options, .runtime = point->language->name, .members = MEMBERS};
    if (laz_pool_new(bench->engine, &options, &pool, &err))
        return bench_problem(point, "%s", err.text);
    for (int i = -2; outcome == BENCH_DONE && !bench_is_full(point); i++)
        if (!acquire_once(bench, point, pool, i >= 0))
            outcome = BENCH_FAILED;
    laz_pool_free(pool);
    return outcome;
}
