/* SPDX-License-Identifier: MIT */
/* ends.c - how soon an execution ends after exceeding its limit on CPU time or being cancelled.
 * tests/session shows that it ends; the delay depends on the machine. */
#include "bench.h"

#define CPU_LIMIT_S 1 /* the smallest limit that can be set */

/* The CPU time used, according to the result. */
static double ends_cpu_us(struct laz_result *result)
{
    static const char key[] = "\"cpu_ms\":";
    const char *at = strstr(laz_result_json(result), key);

    return at ? strtod(at + strlen(key), NULL) * 1e3 : 0;
}

static int ends_engine(struct laz_engine **engine, struct laz_error *err)
{
    struct laz_settings *settings = NULL;

    int rc = laz_settings_new(&settings, err);
    if (rc == 0)
        rc = laz_settings_set(settings, "limits.cpu", "1", err);
    if (rc == 0)
        rc = laz_settings_set(settings, "session.start_timeout", "600", err);
    if (rc == 0)
        rc = laz_engine_new(settings, NULL, engine, err);
    laz_settings_free(settings);
    return rc;
}

/* How far a busy loop has exceeded its limit on CPU time when it is ended. */
enum bench_outcome bench_cpu_limit(struct bench *bench, struct bench_point *point)
{
    struct laz_session *session = NULL;
    enum bench_outcome outcome = bench_any_session(bench, point, &session); /* fails if none is
                                                                               built */
    struct bench own = {0};
    struct laz_error err = {0};

    if (outcome != BENCH_DONE)
        return outcome;
    if (ends_engine(&own.engine, &err))
        return bench_problem(point, "%s", err.text);
    outcome = bench_open(&own, point, &session);
    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        struct laz_result *result = NULL;
        int rc = laz_session_execute(session, point->language->busy, SIZE_MAX, NULL, &result, &err);
        if (rc || laz_result_verdict(result) != LAZ_VERDICT_CPU_LIMIT)
            outcome = bench_problem(point, "%s", rc ? err.text : laz_result_detail(result));
        else
            bench_add(point, ends_cpu_us(result) - CPU_LIMIT_S * 1e6);
        laz_result_free(result);
        bench_progress(point);
    }
    laz_engine_free(own.engine);
    return outcome;
}

struct canceller {
    struct laz_engine *engine;
    double at_us;
};

static void ends_cancel(void *user, int stream, const char *text, size_t len)
{
    struct canceller *canceller = user;

    (void)stream, (void)text, (void)len;
    if (!canceller->at_us) {
        canceller->at_us = bench_now_us();
        laz_engine_cancel(canceller->engine);
    }
}

/* From the call that cancels a busy loop to the return of its execution. */
enum bench_outcome bench_cancel(struct bench *bench, struct bench_point *point)
{
    struct laz_session *session = NULL;
    enum bench_outcome outcome = bench_any_session(bench, point, &session);
    char code[256];

    if (outcome == BENCH_DONE) {
        bench_code(point->language->lines, 0, 1, code, sizeof code);
        snprintf(code + strlen(code), sizeof code - strlen(code), "\n%s", point->language->busy);
    }
    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        struct canceller canceller = {bench->engine, 0};
        struct laz_execute_options options = {
            .size = sizeof options, .line = ends_cancel, .user = &canceller};
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        int rc = laz_session_execute(session, code, SIZE_MAX, &options, &result, &err);
        double took = bench_now_us() - canceller.at_us;
        if (rc || laz_result_verdict(result) != LAZ_VERDICT_CANCELLED)
            outcome = bench_problem(point, "%s", rc ? err.text : laz_result_detail(result));
        laz_result_free(result);
        if (outcome == BENCH_DONE && !bench_execute(point, session, "1+1"))
            outcome = BENCH_FAILED;
        if (outcome == BENCH_DONE)
            bench_add(point, took);
    }
    return outcome;
}
