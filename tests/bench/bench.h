/* SPDX-License-Identifier: MIT */
/* bench.h - what the parts of lazaret-bench share: rows, their samples, sessions to measure with.
 *
 * A row is one entry of the table in rows.c and one function that takes its samples. Samples of a
 * row and of its floor are taken in turn, so that a busy moment of the machine affects both. */
#ifndef LAZ_TESTS_BENCH_H
#define LAZ_TESTS_BENCH_H

#include "pingpong.h"

#include <lazaret/lazaret.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define BENCH_NAME_SIZE 64
#define N_LANGUAGES     4

/* A runtime, with the code to be measured in its language: @n is a count, @b a size in bytes. */
struct bench_language {
    const char *name;
    const char *calls;              /* calls add(1, 2) @n times */
    const char *big_in;             /* calls give(@b), @n times */
    const char *big_out;            /* a text of @b bytes, then take(text) @n times */
    const char *lines;              /* prints @n lines of BENCH_LINE bytes, newline included */
    const char *busy;               /* never ends */
    const char *const *floor;       /* command in a bare box that corresponds to a cold session */
    const char *const *bare;        /* an interpreter in a bare box */
    const char *const *interpreter; /* command that starts and ends an interpreter, in no box */
};

#define BENCH_LINE       24
#define BENCH_CLOCK_ROOM 1024 /* calls in one execution, at most */

/* Sizes of the lines that go over the socket, newline included, for 1+1 and add(1, 2). */
#define BENCH_EXECUTE_BYTES 54
#define BENCH_RESULT_BYTES  58
#define BENCH_CALL_BYTES    64
#define BENCH_ANSWER_BYTES  19

extern const struct bench_language bench_languages[N_LANGUAGES];

struct bench_samples {
    double *values;
    int n, room;
};

enum bench_outcome {
    BENCH_DONE,
    BENCH_ABSENT, /* not built or not installed: the row is left out */
    BENCH_FAILED, /* bench_problem has reported why */
    BENCH_WORSE,  /* than promised */
};

/* One row while it is measured. */
struct bench_point {
    char name[BENCH_NAME_SIZE];
    const struct bench_row *row;
    const struct bench_language *language; /* NULL: the row is not about one runtime */
    int wanted;                            /* samples */
    int parameter;                         /* of the row: a size or a count */
    struct bench_samples values, floors;
    struct bench_counter *counter; /* this process counts what the samples cost; else NULL */
};

/* What one sample takes beside its time, an average; negative: not counted. */
struct bench_cost {
    double cpu_ms;    /* of its processes */
    double kernel_ms; /* of the kernel's threads, for whomever they worked */
    double page_faults, system_calls;
};

/* Where costs were counted, for the reader: "" until then. */
struct bench_sources {
    char cpu[96];
    const char *kernel, *page_faults, *system_calls;
};

struct bench {
    struct laz_engine *engine;
    struct laz_session *sessions[N_LANGUAGES]; /* kept open between rows */
    bool missing[N_LANGUAGES];                 /* the runtime is not built */
    struct pingpong_cache *pingpongs;
    struct alive *alive;       /* live sessions kept for the following rows about them */
    struct bench_clock *clock; /* times of tool calls */
    bool quick;
    int part;                     /* of the samples of each row, one in so many */
    char absent[2048];            /* a line for each thing that is not installed */
    struct bench_sources sources; /* of the costs */
};

/* Does the row have costs (cost.c)? */
enum bench_costs {
    BENCH_NO_COSTS,
    BENCH_COSTS,         /* of a sample */
    BENCH_COSTS_OF_EACH, /* a sample is as many sessions as the parameter says */
};

typedef enum bench_outcome bench_measure(struct bench *bench, struct bench_point *point);

struct bench_row {
    const char *name; /* with `by_runtime`: without ".python" */
    const char *unit; /* "us", "1/s" (more is better) or "B" */
    bool by_runtime;
    int samples, quick_samples;
    int parameter, quick_parameter;
    bool busy; /* all processors but one are kept busy meanwhile (busy.c) */
    bench_measure *measure;
    enum bench_costs costs;
};

/* ---- rows.c ---------------------------------------------------------------------------------- */
extern const struct bench_row bench_rows[];
extern const size_t n_bench_rows;

/* ---- sample.c -------------------------------------------------------------------------------- */
double bench_now_us(void);
void bench_sleep_us(double us);
/* Adds a sample; those beyond `wanted` are ignored. */
void bench_add(struct bench_point *point, double value);
void bench_add_floor(struct bench_point *point, double floor);
/* Adds all samples of a part of the row, and frees them. */
void bench_take(struct bench_point *point, struct bench_samples *values,
                struct bench_samples *floors);
static inline bool bench_is_full(const struct bench_point *point)
{
    return point->values.n >= point->wanted;
}
/* Shows on a terminal the current row and its progress. */
void bench_progress(const struct bench_point *point);
void bench_progress_part(const struct bench_point *point, int done, int wanted); /* of a sample */
void bench_progress_of(int row, int rows);
void bench_progress_end(void);
/* Says at the end of the run, once, what is not installed: "NAME (what brings it)". Returns
 * BENCH_ABSENT. */
enum bench_outcome bench_absent(struct bench *bench, const char *name, const char *what);
/* "bench: NAME: ..." on standard error. Returns BENCH_FAILED. */
enum bench_outcome bench_problem(const struct bench_point *point, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- report.c -------------------------------------------------------------------------------- */
struct bench_result {
    char name[BENCH_NAME_SIZE];
    const char *unit;
    int n;
    double median, p99, floor, ratio; /* floor 0: the row has no floor */
    struct bench_cost cost;
};

/* Median, 99th percentile (of a rate: the one that 99 of 100 reach) and floor of the samples; where
 * the tail is promised, floor and ratio refer to the 99th percentiles. */
void bench_summarise(struct bench_point *point, struct bench_result *result);
void bench_print_head(FILE *file);
void bench_print_row(FILE *file, const struct bench_result *result);
void bench_print_json(FILE *file, const struct bench_result *results, int n);
void bench_print_markdown(FILE *file, const struct bench_result *results, int n,
                          const struct bench *bench);
/* Does a row keep its promises? If not, writes to `why` which one is broken, and by how much. */
bool bench_keeps(const struct bench_result *result, char *why, size_t size);

/* ---- cost.c ---------------------------------------------------------------------------------- */
/* How many samples of a row are taken for its costs; beside a first one, which does not count. */
int bench_cost_samples(const struct bench_point *point);
struct bench_cost bench_no_cost(void);
/* Counts what a sample of the row costs, in another process. */
enum bench_outcome bench_cost_of(struct bench *bench, const struct bench_point *point,
                                 struct bench_cost *cost);
/* One line that says how costs were counted, if they were. */
void bench_print_sources(FILE *file, const struct bench *bench, const char *prefix);

/* ---- counter.c ------------------------------------------------------------------------------- */
#define BENCH_COUNT_TASKS    "tasks"    /* CPU time without a control group, of all descendants */
#define BENCH_COUNT_CHILDREN "children" /* the same, of the children that were waited for */
#define BENCH_COUNT_EVENTS   "events"
#define BENCH_COUNT_NOT      77 /* exit status: this cannot be counted here */
/* `from`: one of these, or a file with the CPU time of a control group. Before any thread is made.
 * NULL: it cannot be counted here. */
struct bench_counter *bench_counter_new(const char *from);
void bench_counter_free(struct bench_counter *counter);
/* The n-th of the row's samples has been taken. */
void bench_counter_sample(struct bench_counter *counter, int n, int wanted);
/* Prints for cost.c what was counted, for each of so many samples: CPU time and that of the
 * kernel's threads in milliseconds, page faults, system calls, each negative when it was not
 * counted; and of page faults 0: all, 1: those in user mode, 2: those of the children that were
 * waited for. False: nothing was counted. */
bool bench_counter_print(const struct bench_counter *counter, int samples);

/* ---- svg.c ----------------------------------------------------------------------------------- */
bool bench_write_svg(const char *path, const struct bench_result *results, int n);

/* ---- work.c: sessions and what they are given to do ------------------------------------------ */
/* Makes an engine with the tools, for that many sessions. */
int bench_engine(struct laz_engine **engine, struct bench_clock *clock, int sessions,
                 struct laz_error *err);
/* Makes a group of engines with the same tools, whose calls nobody records. */
int bench_group(struct laz_group **group, unsigned engines, struct laz_error *err);
/* Opens a session of the point's runtime and gives it to the caller. */
enum bench_outcome bench_open(struct bench *bench, struct bench_point *point,
                              struct laz_session **session);
/* Begins to start a session, from a template where possible, and returns. */
int bench_open_warm(struct laz_engine *engine, const char *runtime, struct laz_session **session,
                    struct laz_error *err);
/* Is 2 the result of an execution of 1+1? If not, reports the result; `result` may be NULL. */
bool bench_is_two(const struct bench_point *point, const struct laz_result *result,
                  const struct laz_error *err);
/* The session of the point's runtime, which is kept open; borrowed. */
enum bench_outcome bench_session(struct bench *bench, struct bench_point *point,
                                 struct laz_session **session);
/* Fills the numbers into the code. */
void bench_code(const char *pattern, int bytes, int times, char *code, size_t size);
/* ---- frames.c -------------------------------------------------------------------------------- */
/* Code that calls frame(@b) @n times, or makes a data frame of @b rows, then keep(frame) @n times.
 */
const char *bench_frame_code(const struct bench_language *language, bool out);
/* A data frame of so many rows as JSON, kept until the end. */
const char *bench_frame(int rows, size_t *len);
/* The same for the first of python, r and lua that is built, which becomes the point's runtime. */
enum bench_outcome bench_any_session(struct bench *bench, struct bench_point *point,
                                     struct laz_session **session);
bool bench_execute(const struct bench_point *point, struct laz_session *session, const char *code);
/* Records when each tool call of the last execution reached the host. */
struct bench_clock *bench_clock_new(int room);
void bench_clock_free(struct bench_clock *clock);
void bench_clock_reset(struct bench_clock *clock);
int bench_clock_times(struct bench_clock *clock, const double **times);

/* ---- busy.c ---------------------------------------------------------------------------------- */
/* Starts processes that keep all processors but one busy; returns their number. */
int bench_keep_busy(pid_t *pids, int most);
void bench_let_rest(const pid_t *pids, int n);

/* ---- floors.c -------------------------------------------------------------------------------- */
extern const char *const bench_bwrap_true[];
extern const char *const bench_bwrap_lua[], *const bench_bwrap_python[], *const bench_bwrap_r[];
extern const char *const bench_lua[], *const bench_python[], *const bench_r[];
extern const char *const bench_bwrap_node[], *const bench_node[];
/* One round trip of messages of these sizes, in microseconds; the other process is kept for later
 * calls. */
double bench_pingpong(struct bench *bench, size_t request, size_t answer);
void bench_pingpongs_stop(struct bench *bench);
/* Starts a command without input and output; the caller waits for it. */
pid_t bench_begin(const char *const *argv);
/* From fork to the end of a command, in microseconds; negative: it failed. */
double bench_spawn(const char *const *argv);
/* The same for the floor of a row; 0: costs are counted, and no floor is measured. */
double bench_floor(const struct bench_point *point, const char *const *argv);

bench_measure bench_floor_pingpong, bench_floor_forkexec, bench_floor_bwrap;
bench_measure bench_floor_namespaces, bench_floor_interpreter;
/* ---- sessions.c, rate.c, acquire.c, alive.c, calls.c, output.c, crowd.c
 * ---------------------------------------------------
 */
bench_measure bench_session_cold, bench_session_template, bench_sessions_per_second;
bench_measure bench_session_tools, bench_session_free, bench_run;
bench_measure bench_pool_acquire;
bench_measure bench_alive_pss, bench_alive_engine, bench_alive_machine, bench_alive_latency,
    bench_alive_turns;
void bench_alive_close(struct bench *bench);
bench_measure bench_executes, bench_tool_calls, bench_value_in, bench_value_out;
bench_measure bench_frame_in, bench_frame_out;
bench_measure bench_lines, bench_timeout;
bench_measure bench_tool_calls_at_once;
/* ---- ends.c, neighbour.c, attacks.c ---------------------------------------------------------- */
bench_measure bench_cpu_limit, bench_cancel;
bench_measure bench_neighbours, bench_neighbours_at_rest, bench_attack;

/* ---- groups.c; the parameter: engines -------------------------------------------------------- */
bench_measure bench_group_executes, bench_group_calls, bench_group_thread;

/* ---- confinement.c --------------------------------------------------------------------------- */
enum bench_layer { BENCH_LAYER_BOX, BENCH_LAYER_AGENT, BENCH_LAYER_CONFINED }; /* the parameter */
bench_measure bench_layer;

/* ---- peers.c --------------------------------------------------------------------------------- */
bench_measure bench_peer;

#endif
