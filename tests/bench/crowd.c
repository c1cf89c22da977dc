/* SPDX-License-Identifier: MIT */
/* crowd.c - tool calls of several sessions at once.
 *
 * Each session has an engine and a thread; so has each floor, a pair of processes that pass
 * messages of the same size. All floors run together, then all sessions, and again. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>

#define A_TURN 50

struct member {
    struct crowd *crowd;
    pthread_t thread;
    struct pingpong *pingpong;
    struct bench_clock *clock;
    struct laz_engine *engine;
    struct bench part; /* for bench_open */
    struct bench_samples values, floors;
};

struct crowd {
    struct bench_point *point;
    pthread_barrier_t turn;
    atomic_int outcome; /* the worst outcome of a member */
    int turns;
    char code[128];
};

static void *member_run(void *arg)
{
    struct member *member = arg;
    struct crowd *crowd = member->crowd;
    struct laz_session *session = NULL;
    const double *times;
    struct laz_error err = {0};

    int outcome = bench_engine(&member->engine, member->clock, 10, &err)
                      ? (int)bench_problem(crowd->point, "%s", err.text)
                      : (int)BENCH_DONE;
    member->part.engine = member->engine;
    if (outcome == BENCH_DONE)
        outcome = (int)bench_open(&member->part, crowd->point, &session);
    for (int turn = -1; turn < crowd->turns; turn++) {
        if (outcome != BENCH_DONE)
            atomic_store(&crowd->outcome, outcome);
        pthread_barrier_wait(&crowd->turn);
        if (atomic_load(&crowd->outcome) != BENCH_DONE)
            break;
        for (int i = 0; i < A_TURN; i++) {
            double took = pingpong_once(member->pingpong);
            if (turn >= 0)
                member->floors.values[member->floors.n++] = took;
        }
        pthread_barrier_wait(&crowd->turn);
        bench_clock_reset(member->clock);
        if (!bench_execute(crowd->point, session, crowd->code) ||
            bench_clock_times(member->clock, &times) != A_TURN + 1)
            outcome = BENCH_FAILED;
        for (int i = 0; i < A_TURN && outcome == BENCH_DONE && turn >= 0; i++)
            member->values.values[member->values.n++] = times[i + 1] - times[i];
    }
    if (outcome != BENCH_DONE)
        atomic_store(&crowd->outcome, outcome);
    laz_session_free(session);
    laz_engine_free(member->engine);
    return NULL;
}

static bool member_init(struct member *member, struct crowd *crowd)
{
    size_t room = (size_t)crowd->turns * A_TURN;

    member->crowd = crowd;
    member->clock = bench_clock_new(A_TURN + 1);
    member->values.values = calloc(room, sizeof(double));
    member->floors.values = calloc(room, sizeof(double));
    member->pingpong = pingpong_start(BENCH_CALL_BYTES, BENCH_ANSWER_BYTES);
    return member->values.values && member->floors.values && member->pingpong;
}

static void member_fini(struct member *member, struct bench_point *point)
{
    bench_take(point, &member->values, &member->floors);
    bench_clock_free(member->clock);
    pingpong_stop(member->pingpong);
}

enum bench_outcome bench_tool_calls_at_once(struct bench *bench, struct bench_point *point)
{
    int size = point->parameter, started = 0;
    struct member *members = calloc((size_t)size, sizeof *members);
    struct crowd crowd = {.point = point};
    struct laz_session *session;

    enum bench_outcome outcome = bench_session(bench, point, &session); /* fails if not built */
    crowd.turns = (point->wanted + size * A_TURN - 1) / (size * A_TURN);
    bench_code(point->language->calls, 0, A_TURN + 1, crowd.code, sizeof crowd.code);
    atomic_init(&crowd.outcome, (int)BENCH_DONE);
    if (!members || outcome != BENCH_DONE ||
        pthread_barrier_init(&crowd.turn, NULL, (unsigned)size)) {
        free(members);
        return outcome == BENCH_DONE ? bench_problem(point, "out of memory") : outcome;
    }
    bool good = true;
    for (int i = 0; i < size; i++)
        good = member_init(&members[i], &crowd) && good;
    for (; good && started < size; started++)
        if (pthread_create(&members[started].thread, NULL, member_run, &members[started]))
            abort(); /* the other threads would wait for ever */
    for (int i = 0; i < started; i++)
        pthread_join(members[i].thread, NULL);
    for (int i = 0; i < size; i++)
        member_fini(&members[i], point);
    pthread_barrier_destroy(&crowd.turn);
    free(members);
    return good ? (enum bench_outcome)atomic_load(&crowd.outcome)
                : bench_problem(point, "out of memory");
}
