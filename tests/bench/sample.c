/* SPDX-License-Identifier: MIT */
/* sample.c - the clock of lazaret-bench, its samples, and its progress on a terminal. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_EVERY_US 100000 /* more often is not visible, and takes time between samples */

static struct {
    int row, rows;
    double shown;
} progress;

double bench_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void bench_sleep_us(double us)
{
    struct timespec left = {(time_t)(us / 1e6),
                            (long)((us - (double)(long)(us / 1e6) * 1e6) * 1e3)};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static void bench_samples_add(struct bench_samples *samples, int room, double value)
{
    if (!samples->values) {
        samples->values = calloc((size_t)room, sizeof *samples->values);
        samples->room = samples->values ? room : 0;
    }
    if (samples->n < samples->room)
        samples->values[samples->n++] = value;
}

void bench_add(struct bench_point *point, double value)
{
    bench_samples_add(&point->values, point->wanted, value);
    if (point->values.room == 0)
        abort(); /* out of memory */
    if (point->counter)
        bench_counter_sample(point->counter, point->values.n, point->wanted);
    bench_progress(point);
}

void bench_add_floor(struct bench_point *point, double floor)
{
    bench_samples_add(&point->floors, point->wanted, floor);
}

void bench_take(struct bench_point *point, struct bench_samples *values,
                struct bench_samples *floors)
{
    for (int i = 0; i < values->n; i++)
        bench_add(point, values->values[i]);
    for (int i = 0; i < floors->n; i++)
        bench_add_floor(point, floors->values[i]);
    free(values->values);
    free(floors->values);
}

void bench_progress_of(int row, int rows)
{
    progress.row = row;
    progress.rows = rows;
    progress.shown = 0;
}

void bench_progress_part(const struct bench_point *point, int done, int wanted)
{
    double now = bench_now_us();

    if (!isatty(STDERR_FILENO) || now - progress.shown < PROGRESS_EVERY_US)
        return;
    progress.shown = now;
    fprintf(stderr, "\r\033[K[%d/%d] %s %d/%d", progress.row, progress.rows, point->name, done,
            wanted);
}

void bench_progress(const struct bench_point *point)
{
    bench_progress_part(point, point->values.n, point->wanted);
}

void bench_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

enum bench_outcome bench_problem(const struct bench_point *point, const char *format, ...)
{
    va_list args;

    bench_progress_end();
    fprintf(stderr, "bench: %s: ", point->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return BENCH_FAILED;
}

enum bench_outcome bench_absent(struct bench *bench, const char *name, const char *what)
{
    size_t len = strlen(bench->absent);
    char line[256];

    snprintf(line, sizeof line, "bench: absent: %s (%s)\n", name, what);
    if (!strstr(bench->absent, line) && len + strlen(line) < sizeof bench->absent)
        strcpy(bench->absent + len, line);
    return BENCH_ABSENT;
}
