/* SPDX-License-Identifier: MIT */
/* rate.c - sustained rate of new sessions: each is requested, evaluates 1+1 and is closed, with
 * several in progress at any time on one loop. */
#include "bench.h"

#include "os/system.h"

#include <sys/wait.h>
#include <unistd.h>

#define FLOOR_BOXES 20

struct rate {
    struct bench *bench;
    struct bench_point *point;
    int wanted, begun, ended, under_way;
    bool failed;
};

struct rate_member {
    struct rate *rate;
    struct laz_session *session;
};

static void rate_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct rate_member *member = user;
    struct rate *rate = member->rate;

    rate->failed = !bench_is_two(rate->point, result, err) || rate->failed;
    laz_result_free(result);
    laz_session_free(member->session);
    free(member);
    rate->under_way--;
    rate->ended++;
}

/* Requests one more session and begins its execution. */
static bool rate_begin(struct rate *rate)
{
    struct rate_member *member = calloc(1, sizeof *member);
    struct laz_error err = {0};

    if (!member)
        abort();
    member->rate = rate;
    rate->begun++;
    if (bench_open_warm(rate->bench->engine, rate->point->language->name, &member->session, &err) ==
            0 &&
        laz_session_execute_async(member->session, "1+1", SIZE_MAX, NULL, rate_done, member,
                                  &err) == 0) {
        rate->under_way++;
        return true;
    }
    bench_problem(rate->point, "%s", err.text);
    laz_session_free(member->session);
    free(member);
    return false;
}

/* Runs that many sessions; returns sessions a second, or 0. */
static double rate_run(struct rate *rate, int sessions, int at_once)
{
    struct laz_error err = {0};

    rate->wanted = sessions;
    rate->begun = rate->ended = 0;
    double before = bench_now_us();
    while (rate->ended < rate->wanted && !rate->failed) {
        while (rate->begun < rate->wanted && rate->under_way < at_once && !rate->failed)
            rate->failed = !rate_begin(rate);
        if (rate->under_way > 0 && laz_engine_step(rate->bench->engine, -1, &err))
            rate->failed = bench_problem(rate->point, "%s", err.text) == BENCH_FAILED;
    }
    double took = bench_now_us() - before;
    while (rate->under_way > 0 && laz_engine_step(rate->bench->engine, -1, &err) == 0)
        ;
    return rate->failed ? 0 : sessions / took * 1e6;
}

/* Bare boxes a second, as many at the same time as there are processors; 0: one failed. */
static double rate_floor(int boxes)
{
    pid_t pids[FLOOR_BOXES];
    int begun = 0, ended = 0, status;
    bool good = true;

    double before = bench_now_us();
    while (ended < boxes && good) {
        for (; begun < boxes && begun - ended < (int)laz_os_processors() && good; begun++) {
            pids[begun] = bench_begin(bench_bwrap_true);
            good = pids[begun] > 0;
        }
        good = good && waitpid(pids[ended], &status, 0) == pids[ended] && status == 0;
        ended++;
    }
    return good ? boxes / (bench_now_us() - before) * 1e6 : 0;
}

enum bench_outcome bench_sessions_per_second(struct bench *bench, struct bench_point *point)
{
    struct rate rate = {.bench = bench, .point = point};
    struct laz_session *session;
    int at_once = bench->quick ? 2 : 4 * (int)laz_os_processors();
    int sessions = point->parameter;

    enum bench_outcome outcome = bench_session(bench, point, &session); /* fails if not built */
    if (outcome != BENCH_DONE)
        return outcome;
    rate_run(&rate, bench->quick ? 1 : 20, at_once); /* makes the template first */
    while (!rate.failed && !bench_is_full(point)) {
        double floor = point->counter ? 0 : rate_floor(bench->quick ? 2 : FLOOR_BOXES);
        double reached = rate_run(&rate, sessions, at_once);
        if (reached <= 0 || (floor <= 0 && !point->counter))
            return rate.failed ? BENCH_FAILED : bench_problem(point, "the floor failed");
        bench_add(point, reached);
        bench_add_floor(point, floor);
    }
    return rate.failed ? BENCH_FAILED : BENCH_DONE;
}
