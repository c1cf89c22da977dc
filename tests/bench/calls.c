/* SPDX-License-Identifier: MIT */
/* calls.c - an execution, a tool call, and large values there and back, in one open session.
 *
 * The floor is a round trip of messages of the same size between two other processes. A tool call
 * is timed in the host, from the arrival of one call to that of the next: answer, return, call. */
#include "bench.h"

#define CALLS_A_TURN 100
#define WARM_UP      100

/* Measures batches of executions and of as many round trips of the floor in turn. */
enum bench_outcome bench_executes(struct bench *bench, struct bench_point *point)
{
    struct laz_session *session;
    enum bench_outcome outcome = bench_session(bench, point, &session);

    for (int i = -WARM_UP; outcome == BENCH_DONE && !bench_is_full(point);) {
        for (int k = 0; k < CALLS_A_TURN && !bench_is_full(point); k++, i++) {
            double before = bench_now_us();
            if (!bench_execute(point, session, "1+1"))
                return BENCH_FAILED;
            if (i >= 0)
                bench_add(point, bench_now_us() - before);
        }
        for (int k = 0; k < CALLS_A_TURN; k++) {
            double floor = bench_pingpong(bench, BENCH_EXECUTE_BYTES, BENCH_RESULT_BYTES);
            if (i > 0)
                bench_add_floor(point, floor);
        }
    }
    return outcome;
}

/* Measures batches of calls in one execution and of as many round trips of the floor in turn. */
static enum bench_outcome calls_in_turn(struct bench *bench, struct bench_point *point,
                                        const char *code, int a_turn, size_t call, size_t answer)
{
    struct laz_session *session;
    enum bench_outcome outcome = bench_session(bench, point, &session);

    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        const double *times;
        bench_clock_reset(bench->clock);
        if (!bench_execute(point, session, code))
            return BENCH_FAILED;
        int n = bench_clock_times(bench->clock, &times);
        if (n != a_turn + 1)
            return bench_problem(point, "%d calls in place of %d", n, a_turn + 1);
        for (int i = 0; i < a_turn; i++) {
            bench_add(point, times[i + 1] - times[i]);
            bench_add_floor(point, bench_pingpong(bench, call, answer));
        }
    }
    return outcome;
}

enum bench_outcome bench_tool_calls(struct bench *bench, struct bench_point *point)
{
    int a_turn = point->wanted < CALLS_A_TURN ? point->wanted : CALLS_A_TURN;
    char code[128];

    bench_code(point->language->calls, 0, a_turn + 1, code, sizeof code);
    return calls_in_turn(bench, point, code, a_turn, BENCH_CALL_BYTES, BENCH_ANSWER_BYTES);
}

#define BIG_A_TURN 10

enum bench_outcome bench_value_in(struct bench *bench, struct bench_point *point)
{
    int a_turn = point->wanted < BIG_A_TURN ? point->wanted : BIG_A_TURN;
    char code[256];

    bench_code(point->language->big_in, point->parameter, a_turn + 1, code, sizeof code);
    return calls_in_turn(bench, point, code, a_turn, BENCH_CALL_BYTES,
                         BENCH_ANSWER_BYTES + (size_t)point->parameter);
}

enum bench_outcome bench_value_out(struct bench *bench, struct bench_point *point)
{
    int a_turn = point->wanted < BIG_A_TURN ? point->wanted : BIG_A_TURN;
    char code[256];

    bench_code(point->language->big_out, point->parameter, a_turn + 1, code, sizeof code);
    return calls_in_turn(bench, point, code, a_turn, BENCH_CALL_BYTES + (size_t)point->parameter,
                         BENCH_ANSWER_BYTES);
}

#define FRAMES_A_TURN 2

static enum bench_outcome calls_with_frames(struct bench *bench, struct bench_point *point,
                                            bool out)
{
    int a_turn = point->wanted < FRAMES_A_TURN ? point->wanted : FRAMES_A_TURN;
    char code[512];
    size_t len;

    bench_frame(point->parameter, &len);
    bench_code(bench_frame_code(point->language, out), point->parameter, a_turn + 1, code,
               sizeof code);
    return calls_in_turn(bench, point, code, a_turn, BENCH_CALL_BYTES + (out ? len : 0),
                         BENCH_ANSWER_BYTES + (out ? 0 : len));
}

enum bench_outcome bench_frame_in(struct bench *bench, struct bench_point *point)
{
    return calls_with_frames(bench, point, false);
}

enum bench_outcome bench_frame_out(struct bench *bench, struct bench_point *point)
{
    return calls_with_frames(bench, point, true);
}
