/* SPDX-License-Identifier: MIT */
/* output.c - how fast lines come out of a session, and how late a time limit takes effect. */
#include "bench.h"

#include <sys/wait.h>
#include <unistd.h>

/* Lines a second when a bare process writes them to a pipe one by one; 0: it failed. */
static double output_floor(int lines)
{
    char data[65536], line[BENCH_LINE];
    int ends[2], seen = 0;
    ssize_t n;

    if (pipe(ends))
        return 0;
    double before = bench_now_us();
    pid_t pid = fork();
    if (pid == 0) {
        memset(line, '0', sizeof line);
        line[sizeof line - 1] = '\n';
        close(ends[0]);
        for (int i = 0; i < lines; i++)
            if (write(ends[1], line, sizeof line) != (ssize_t)sizeof line)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    while (pid > 0 && (n = read(ends[0], data, sizeof data)) > 0)
        for (ssize_t i = 0; i < n; i++)
            seen += data[i] == '\n';
    double took = bench_now_us() - before;
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return seen == lines ? lines / took * 1e6 : 0;
}

static void output_line(void *user, int stream, const char *text, size_t len)
{
    int *lines = user;

    (void)stream, (void)text;
    *lines += len == BENCH_LINE - 1;
}

enum bench_outcome bench_lines(struct bench *bench, struct bench_point *point)
{
    struct laz_session *session;
    char code[256];

    enum bench_outcome outcome = bench_session(bench, point, &session);
    bench_code(point->language->lines, 0, point->parameter, code, sizeof code);
    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        int lines = 0;
        struct laz_execute_options options = {
            .size = sizeof options, .line = output_line, .user = &lines};
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        double floor = output_floor(point->parameter);
        double before = bench_now_us();
        int rc = laz_session_execute(session, code, SIZE_MAX, &options, &result, &err);
        double took = bench_now_us() - before;
        bool good = rc == 0 && laz_result_verdict(result) == LAZ_VERDICT_OK;
        if (!good || lines != point->parameter || floor <= 0)
            outcome = bench_problem(point, "%d of %d lines: %s", lines, point->parameter,
                                    rc ? err.text : laz_result_detail(result));
        laz_result_free(result);
        if (outcome != BENCH_DONE)
            break;
        bench_add(point, lines / took * 1e6);
        bench_add_floor(point, floor);
    }
    return outcome;
}

#define TIMEOUT_MS 50

/* How long after its time limit the execution of a busy loop returns; the floor is the delay of a
 * plain sleep of the same length. The session is replaced after each. */
enum bench_outcome bench_timeout(struct bench *bench, struct bench_point *point)
{
    struct laz_session *session;
    enum bench_outcome outcome = bench_any_session(bench, point, &session);

    while (outcome == BENCH_DONE && !bench_is_full(point)) {
        struct laz_execute_options options = {.size = sizeof options, .timeout_ms = TIMEOUT_MS};
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        double before = bench_now_us();
        int rc =
            laz_session_execute(session, point->language->busy, SIZE_MAX, &options, &result, &err);
        double took = bench_now_us() - before;
        if (rc || laz_result_verdict(result) != LAZ_VERDICT_TIMEOUT)
            outcome = bench_problem(point, "%s", rc ? err.text : laz_result_detail(result));
        laz_result_free(result);
        /* wait until the session has been replaced */
        if (outcome != BENCH_DONE || !bench_execute(point, session, "1+1")) {
            outcome = BENCH_FAILED;
            break;
        }
        bench_add(point, took - TIMEOUT_MS * 1e3);
        before = bench_now_us();
        bench_sleep_us(TIMEOUT_MS * 1e3);
        bench_add_floor(point, bench_now_us() - before - TIMEOUT_MS * 1e3);
    }
    return outcome;
}
