/* SPDX-License-Identifier: MIT */
/* report.c - medians, ratios, and the promises about them. */
#include "bench.h"

static int report_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the samples. */
static double report_quantile(struct bench_samples *samples, double q)
{
    if (samples->n == 0)
        return 0;
    qsort(samples->values, (size_t)samples->n, sizeof *samples->values, report_order);
    int at = (int)(q * samples->n);
    return samples->values[at < samples->n ? at : samples->n - 1];
}

static bool report_is_rate(const char *unit)
{
    return strcmp(unit, "1/s") == 0;
}

/* ---- what is promised ------------------------------------------------------------------------ */

enum promise_kind {
    MEDIAN_AT_MOST,
    P99_AT_MOST,
    RATIO_AT_MOST,
    TAIL_RATIO_AT_MOST,  /* of the 99th percentiles */
    BEYOND_AT_MOST,      /* the median minus the floor's */
    TAIL_BEYOND_AT_MOST, /* the 99th percentile minus the floor's: the most of a few samples */
    MEDIAN_AT_LEAST,
};

/* Matched by a row's name, or by its beginning up to a dot. Rows that are not measured are not
 * judged. */
static const struct promise {
    const char *name;
    enum promise_kind kind;
    double bound;
} promises[] = {
    {"session.template.lua", MEDIAN_AT_MOST, 2000},
    {"session.template.lua", P99_AT_MOST, 3 * 2000},
    {"session.template.python", MEDIAN_AT_MOST, 2500},
    {"session.template.python", P99_AT_MOST, 3 * 2500},
    {"session.template.r", MEDIAN_AT_MOST, 3500},
    {"session.template.r", P99_AT_MOST, 3 * 3500},
    {"session.tools.", BEYOND_AT_MOST, 1000},
    {"session.cold.python", BEYOND_AT_MOST, 15000},
    {"sessions_per_second.lua", MEDIAN_AT_LEAST, 600},
    {"sessions_per_second.python", MEDIAN_AT_LEAST, 450},
    {"sessions_per_second.r", MEDIAN_AT_LEAST, 300},
    {"start.box.", BEYOND_AT_MOST, 6000},
    {"start.agent.", BEYOND_AT_MOST, 1000},
    {"start.confined.", BEYOND_AT_MOST, 1500},
    {"execute.", RATIO_AT_MOST, 6},
    {"tool_call.", RATIO_AT_MOST, 3},
    {"timeout_overshoot", P99_AT_MOST, 50000},
    {"cpu_overshoot", P99_AT_MOST, 300000},
    {"cancel", P99_AT_MOST, 100000},
    {"neighbour64", TAIL_RATIO_AT_MOST, 2},
    {"neighbour64.resting", TAIL_RATIO_AT_MOST, 30},
    /* The kernel makes the list of a file's locks, and ends a thousand processes, without giving
     * the processor away (docs/threat-model.md, "What a neighbour notices"). */
    {"neighbour.locks", TAIL_BEYOND_AT_MOST, 300000},
    {"neighbour.exits", TAIL_BEYOND_AT_MOST, 400000},
    {"neighbour.epolls", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.forks", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.threads", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.renames", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.mmaps", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.mappings", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.names", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.flight", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.inodes", TAIL_BEYOND_AT_MOST, 20000},
    {"neighbour.membarrier", TAIL_BEYOND_AT_MOST, 20000},
    {"group2.thread", RATIO_AT_MOST, 0.75},
    {"group4.thread", RATIO_AT_MOST, 0.5},
    {"alive500.pss", MEDIAN_AT_MOST, 1.5 * 1000 * 1000},
    {"alive500.engine", MEDIAN_AT_MOST, 100 * 1000},
    {"alive500.latency", RATIO_AT_MOST, 2},
};

#define PROMISES (sizeof promises / sizeof *promises)

static bool promise_is_of(const struct promise *promise, const char *row)
{
    size_t len = strlen(promise->name);

    return promise->name[len - 1] == '.' ? strncmp(row, promise->name, len) == 0
                                         : strcmp(row, promise->name) == 0;
}

static bool promise_is_kept(enum promise_kind kind, double bound, const struct bench_result *result,
                            char *why, size_t size)
{
    const char *unit = result->unit;

    switch (kind) {
    case MEDIAN_AT_MOST:
        snprintf(why, size, "median %.1f %s, promised: at most %.1f", result->median, unit, bound);
        return result->median <= bound;
    case P99_AT_MOST:
        snprintf(why, size, "99th percentile %.1f %s, promised: at most %.1f", result->p99, unit,
                 bound);
        return result->p99 <= bound;
    case RATIO_AT_MOST:
    case TAIL_RATIO_AT_MOST:
        snprintf(why, size, "%.2f times the floor of %.1f %s, promised: at most %.2f",
                 result->ratio, result->floor, unit, bound);
        return result->ratio <= bound;
    case BEYOND_AT_MOST:
        snprintf(why, size, "%.1f %s beyond the floor, promised: at most %.1f",
                 result->median - result->floor, unit, bound);
        return result->median - result->floor <= bound;
    case TAIL_BEYOND_AT_MOST:
        snprintf(why, size, "longest %.1f %s beyond that of the floor, promised: at most %.1f",
                 result->p99 - result->floor, unit, bound);
        return result->p99 - result->floor <= bound;
    case MEDIAN_AT_LEAST:
        snprintf(why, size, "median %.1f %s, promised: at least %.1f", result->median, unit, bound);
        return result->median >= bound;
    }
    return false;
}

bool bench_keeps(const struct bench_result *result, char *why, size_t size)
{
    for (size_t i = 0; i < PROMISES; i++)
        if (promise_is_of(&promises[i], result->name) &&
            !promise_is_kept(promises[i].kind, promises[i].bound, result, why, size))
            return false;
    return true;
}

/* ---- what was measured ----------------------------------------------------------------------- */

static bool report_is_of_tail(const char *row)
{
    bool is_of_tail = false;

    for (size_t i = 0; i < PROMISES; i++)
        is_of_tail |=
            (promises[i].kind == TAIL_RATIO_AT_MOST || promises[i].kind == TAIL_BEYOND_AT_MOST) &&
            promise_is_of(&promises[i], row);
    return is_of_tail;
}

void bench_summarise(struct bench_point *point, struct bench_result *result)
{
    snprintf(result->name, sizeof result->name, "%s", point->name);
    result->unit = point->row->unit;
    result->n = point->values.n;
    result->median = report_quantile(&point->values, 0.5);
    result->p99 = report_quantile(&point->values, report_is_rate(result->unit) ? 0.01 : 0.99);
    bool of_tail = report_is_of_tail(point->name);
    result->floor = report_quantile(&point->floors, of_tail ? 0.99 : 0.5);
    double compared = of_tail ? result->p99 : result->median;
    result->ratio = result->floor > 0 ? compared / result->floor : 0;
}

/* ---- how rows are printed -------------------------------------------------------------------- */

/* The costs in their order, each with its places behind the point. */
static const struct {
    const char *name, *head, *document;
    size_t at;
    int places;
} report_costs[] = {
    {"cpu_ms", "cpu ms", "CPU, ms", offsetof(struct bench_cost, cpu_ms), 2},
    {"kernel_ms", "kernel", "kernel, ms", offsetof(struct bench_cost, kernel_ms), 2},
    {"page_faults", "faults", "page faults", offsetof(struct bench_cost, page_faults), 0},
    {"system_calls", "calls", "system calls", offsetof(struct bench_cost, system_calls), 0},
};

#define COSTS (sizeof report_costs / sizeof *report_costs)

static double report_cost(const struct bench_result *result, size_t which)
{
    return *(const double *)((const char *)&result->cost + report_costs[which].at);
}

/* A number, or `none` where it is negative. */
static const char *report_number(double number, int places, const char *none, char *text,
                                 size_t size)
{
    if (number < 0)
        snprintf(text, size, "%s", none);
    else
        snprintf(text, size, "%.*f", places, number);
    return text;
}

void bench_print_head(FILE *file)
{
    fprintf(file, "%-28s %-4s %6s %12s %12s %12s %8s", "name", "unit", "n", "median", "p99",
            "floor", "ratio");
    for (size_t i = 0; i < COSTS; i++)
        fprintf(file, " %7s", report_costs[i].head);
    fputc('\n', file);
}

void bench_print_row(FILE *file, const struct bench_result *result)
{
    const bool has_floor = result->floor > 0;
    char text[32];

    fprintf(file, "%-28s %-4s %6d %12.1f %12.1f ", result->name, result->unit, result->n,
            result->median, result->p99);
    fprintf(file, "%12s ",
            report_number(has_floor ? result->floor : -1, 1, "-", text, sizeof text));
    fprintf(file, "%8s", report_number(has_floor ? result->ratio : -1, 2, "-", text, sizeof text));
    for (size_t i = 0; i < COSTS; i++)
        fprintf(
            file, " %7s",
            report_number(report_cost(result, i), report_costs[i].places, "-", text, sizeof text));
    fputc('\n', file);
    fflush(file);
}

void bench_print_json(FILE *file, const struct bench_result *results, int n)
{
    char text[32];

    fprintf(file, "[\n");
    for (int i = 0; i < n; i++) {
        fprintf(file,
                "  {\"name\":\"%s\",\"unit\":\"%s\",\"n\":%d,\"median\":%.2f,\"p99\":%.2f,"
                "\"floor\":%.2f,\"ratio\":%.3f",
                results[i].name, results[i].unit, results[i].n, results[i].median, results[i].p99,
                results[i].floor, results[i].ratio);
        for (size_t k = 0; k < COSTS; k++)
            fprintf(file, ",\"%s\":%s", report_costs[k].name,
                    report_number(report_cost(&results[i], k), 3, "null", text, sizeof text));
        fprintf(file, "}%s\n", i + 1 < n ? "," : "");
    }
    fprintf(file, "]\n");
}

void bench_print_markdown(FILE *file, const struct bench_result *results, int n,
                          const struct bench *bench)
{
    char text[32];

    fprintf(file, "| row | unit | samples | median | 99th percentile | floor | ratio |");
    for (size_t i = 0; i < COSTS; i++)
        fprintf(file, " %s |", report_costs[i].document);
    fprintf(file, "\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < n; i++) {
        const bool has_floor = results[i].floor > 0;
        fprintf(file, "| `%s` | %s | %d | %.1f | %.1f |", results[i].name, results[i].unit,
                results[i].n, results[i].median, results[i].p99);
        fprintf(file, " %s |",
                report_number(has_floor ? results[i].floor : -1, 1, "-", text, sizeof text));
        fprintf(file, " %s |",
                report_number(has_floor ? results[i].ratio : -1, 2, "-", text, sizeof text));
        for (size_t k = 0; k < COSTS; k++)
            fprintf(file, " %s |",
                    report_number(report_cost(&results[i], k), report_costs[k].places, "-", text,
                                  sizeof text));
        fputc('\n', file);
    }
    bench_print_sources(file, bench, "\n");
}
