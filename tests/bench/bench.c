/* SPDX-License-Identifier: MIT */
/* bench.c - measures lazaret's speed, as ratios to floors measured in the same run.
 *
 * Everything runs in the real box with all layers. rows.c has the rows, report.c what is promised
 * of them. A row worse than promised is measured again, twice at most, because a busy moment of the
 * machine passes, but a slow build stays slow. */
#include "bench.h"

#include "compare.h"
#include "ranks.h"

#define BENCH_ATTEMPTS  3 /* with --check */
#define COMPARE_PAIRS   14
#define COMPARE_PART    10 /* of the samples in each run */
#define MOST_PROCESSORS 256

static const char usage[] =
    "usage: lazaret-bench [--json] [--check] [--quick] [--svg FILE] [--markdown FILE] [--list]\n"
    "                     [--part N] [--only NAME...]\n"
    "       lazaret-bench --compare PROGRAM [--pairs N] [--part N] [--quick] [--only NAME...]\n"
    "  --only      rows by their names, or the beginnings of them up to a dot: execute.lua floor\n"
    "  --check     fails when a row is worse than promised\n"
    "  --quick     few samples: tries that it works, measures nothing\n"
    "  --json      prints a list of objects in place of the table\n"
    "  --svg       draws a picture, with gnuplot\n"
    "  --markdown  writes the table for a document\n"
    "  --part      one in N of the samples (1, for --compare 10)\n"
    "  --compare   measures each row with PROGRAM, lazaret-bench of another build, and with this\n"
    "              one in turns, and says which rows differ beyond the noise\n"
    "  --pairs     how often for --compare (14)\n"
    "  --count     counts what samples of one row cost, from a file of a control group, "
    "\"tasks\",\n"
    "              \"children\" or \"events\"; lazaret-bench has itself run like this\n"
    "  --list      names of all rows; measures nothing\n";

struct options {
    bool json, check, quick, list;
    const char *svg, *markdown, *count, *compare;
    int part, pairs;
    char **only;
    int n_only;
};

/* A number of at least 1; 0: it is none. */
static int options_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return *text && !*end && number >= 1 && number <= 1000 ? (int)number : 0;
}

/* An option that stands alone, or that has a text or a number behind it. */
static bool options_take(struct options *options, const char *name, const char *value, int *at)
{
    const struct {
        const char *name;
        bool *flag;
        const char **text;
        int *number;
    } known[] = {
        {"--json", &options->json, NULL, NULL},
        {"--check", &options->check, NULL, NULL},
        {"--quick", &options->quick, NULL, NULL},
        {"--list", &options->list, NULL, NULL},
        {"--svg", NULL, &options->svg, NULL},
        {"--markdown", NULL, &options->markdown, NULL},
        {"--count", NULL, &options->count, NULL},
        {"--part", NULL, NULL, &options->part},
        {"--compare", NULL, &options->compare, NULL},
        {"--pairs", NULL, NULL, &options->pairs},
    };
    size_t i = 0;

    while (i < sizeof known / sizeof *known && strcmp(name, known[i].name) != 0)
        i++;
    if (i == sizeof known / sizeof *known || (!value && !known[i].flag))
        return false;
    if (known[i].flag) {
        *known[i].flag = true;
        return true;
    }
    ++*at;
    if (known[i].text)
        *known[i].text = value;
    else
        *known[i].number = options_number(value);
    return known[i].text || *known[i].number;
}

static bool options_read(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc && *argv[i + 1] != '-')
            for (options->only = &argv[i + 1]; i + 1 < argc && *argv[i + 1] != '-'; i++)
                options->n_only++;
        else if (!options_take(options, argv[i], argv[i + 1], &i))
            return false;
    }
    if (options->pairs && !options->compare)
        return false;
    if (options->compare && (options->json || options->check || options->list || options->svg ||
                             options->markdown || options->count))
        return false;
    if (!options->pairs)
        options->pairs = COMPARE_PAIRS;
    if (!options->part)
        options->part = options->compare ? COMPARE_PART : 1;
    return options->pairs <= RANKS_MOST;
}

/* Is a row among the requested ones? */
static bool options_want(const struct options *options, const char *name)
{
    for (int i = 0; i < options->n_only; i++) {
        size_t len = strlen(options->only[i]);
        if (strncmp(name, options->only[i], len) == 0 && (name[len] == '\0' || name[len] == '.'))
            return true;
    }
    return options->n_only == 0;
}

/* All rows by their full names, in order. */
struct list {
    struct {
        char name[BENCH_NAME_SIZE];
        const struct bench_row *row;
        const struct bench_language *language;
    } * entries;
    int n;
};

static void list_add(struct list *list, const struct options *options, const struct bench_row *row,
                     const struct bench_language *language)
{
    char name[BENCH_NAME_SIZE];

    snprintf(name, sizeof name, "%s%s%s", row->name, language ? "." : "",
             language ? language->name : "");
    if (!options_want(options, name))
        return;
    memcpy(list->entries[list->n].name, name, sizeof name);
    list->entries[list->n].row = row;
    list->entries[list->n++].language = language;
}

static bool list_make(struct list *list, const struct options *options)
{
    list->entries = calloc(n_bench_rows * N_LANGUAGES, sizeof *list->entries);
    for (size_t i = 0; list->entries && i < n_bench_rows; i++) {
        if (!bench_rows[i].by_runtime)
            list_add(list, options, &bench_rows[i], NULL);
        for (size_t j = 0; bench_rows[i].by_runtime && j < N_LANGUAGES; j++)
            list_add(list, options, &bench_rows[i], &bench_languages[j]);
    }
    return list->entries != NULL;
}

/* Checks that every name given to --only is a row's. */
static bool options_are_known(const struct options *options, const struct list *list)
{
    for (int i = 0; i < options->n_only; i++) {
        struct options one = {.only = &options->only[i], .n_only = 1};
        bool known = false;
        for (int j = 0; j < list->n; j++)
            known = known || options_want(&one, list->entries[j].name);
        if (!known) {
            fprintf(stderr, "bench: no row %s; --list names them\n", options->only[i]);
            return false;
        }
    }
    return true;
}

/* Measures one row, again while it is worse than promised. */
static enum bench_outcome run_row(struct bench *bench, const struct options *options,
                                  struct bench_point *point, struct bench_result *result)
{
    enum bench_outcome outcome = BENCH_DONE;
    pid_t busy[MOST_PROCESSORS];
    char why[256];
    bool kept = true;

    for (int attempt = 0; attempt < BENCH_ATTEMPTS; attempt++) {
        const struct bench_language *language = point->language;
        int n_busy = point->row->busy ? bench_keep_busy(busy, MOST_PROCESSORS) : 0;
        outcome = point->row->measure(bench, point);
        bench_let_rest(busy, n_busy);
        point->language = language;
        if (outcome == BENCH_DONE)
            bench_summarise(point, result);
        result->cost = bench_no_cost();
        free(point->values.values);
        free(point->floors.values);
        memset(&point->values, 0, sizeof point->values);
        memset(&point->floors, 0, sizeof point->floors);
        if (outcome != BENCH_DONE)
            return outcome;
        if (!options->check) /* which judges times only */
            return point->row->costs && !point->counter ? bench_cost_of(bench, point, &result->cost)
                                                        : BENCH_DONE;
        kept = bench_keeps(result, why, sizeof why);
        if (kept)
            return BENCH_DONE;
    }
    bench_problem(point, "%s", why);
    return kept ? BENCH_DONE : BENCH_WORSE;
}

static struct bench_point run_point(const struct options *options, const struct bench_row *row,
                                    const struct bench_language *language)
{
    struct bench_point point = {
        .row = row,
        .language = language,
        .wanted = options->quick ? row->quick_samples : row->samples,
        .parameter = options->quick ? row->quick_parameter : row->parameter,
    };

    point.wanted = point.wanted / options->part ? point.wanted / options->part : 1;
    return point;
}

static int run_all(struct bench *bench, const struct options *options, const struct list *list,
                   struct bench_result *results, int *n_results)
{
    int failed = 0;

    for (int i = 0; i < list->n; i++) {
        const struct bench_row *row = list->entries[i].row;
        struct bench_point point = run_point(options, row, list->entries[i].language);
        memcpy(point.name, list->entries[i].name, sizeof point.name);
        bench_progress_of(i + 1, list->n);
        bench_progress(&point);
        enum bench_outcome outcome = run_row(bench, options, &point, &results[*n_results]);
        bench_progress_end();
        failed |= outcome == BENCH_FAILED || outcome == BENCH_WORSE;
        if (outcome != BENCH_DONE && outcome != BENCH_WORSE)
            continue;
        if (!options->json)
            bench_print_row(stdout, &results[*n_results]);
        ++*n_results;
    }
    return failed;
}

static int run_reports(const struct bench *bench, const struct options *options,
                       const struct bench_result *results, int n)
{
    int failed = 0;

    if (options->json)
        bench_print_json(stdout, results, n);
    if (options->markdown) {
        FILE *file = fopen(options->markdown, "w");
        if (file)
            bench_print_markdown(file, results, n, bench);
        if (!file || fclose(file)) {
            fprintf(stderr, "bench: %s cannot be written\n", options->markdown);
            failed = 1;
        }
    }
    if (options->svg && !bench_write_svg(options->svg, results, n))
        failed = 1;
    for (size_t i = 0; i < N_LANGUAGES; i++)
        if (bench->missing[i])
            fprintf(stderr, "bench: runtime not built: %s\n", bench_languages[i].name);
    bench_print_sources(stderr, bench, "bench: ");
    fputs(bench->absent, stderr);
    return failed;
}

static void bench_close(struct bench *bench)
{
    for (size_t i = 0; i < N_LANGUAGES; i++)
        laz_session_free(bench->sessions[i]);
    bench_alive_close(bench);
    laz_engine_free(bench->engine);
    bench_pingpongs_stop(bench);
    bench_clock_free(bench->clock);
}

static int run(const struct options *options, const struct list *list)
{
    struct bench bench = {.quick = options->quick, .part = options->part};
    struct laz_error err = {0};
    struct bench_result *results = calloc((size_t)list->n + 1, sizeof *results);
    int failed = 1, n_results = 0;

    bench.clock = bench_clock_new(BENCH_CLOCK_ROOM);
    if (!results || bench_engine(&bench.engine, bench.clock, 100, &err)) {
        fprintf(stderr, "bench: %s\n", results ? err.text : "out of memory");
        goto out;
    }
    if (!options->json)
        bench_print_head(stdout);
    failed = run_all(&bench, options, list, results, &n_results);
    failed |= run_reports(&bench, options, results, n_results);
out:
    bench_close(&bench);
    free(results);
    return failed;
}

/* Takes the samples of one row for cost.c, and prints nothing but what was counted. */
static int count(const struct options *options, const struct list *list)
{
    struct bench bench = {.quick = options->quick, .part = options->part};
    struct bench_result result;
    struct laz_error err = {0};
    int failed = 1;

    if (list->n != 1 || !list->entries[0].row->costs) {
        fputs("bench: --count is for one row that has costs\n", stderr);
        return 2;
    }
    const struct bench_row *row = list->entries[0].row;
    struct bench_point point = run_point(options, row, list->entries[0].language);
    memcpy(point.name, list->entries[0].name, sizeof point.name);
    const int samples = bench_cost_samples(&point);
    point.wanted = samples + 1; /* counters are read after the first one */
    point.counter = bench_counter_new(options->count);
    if (!point.counter)
        return BENCH_COUNT_NOT;
    bench.clock = bench_clock_new(BENCH_CLOCK_ROOM);
    if (bench_engine(&bench.engine, bench.clock, 100, &err))
        fprintf(stderr, "bench: %s\n", err.text);
    else if (run_row(&bench, options, &point, &result) == BENCH_DONE)
        failed = !bench_counter_print(
            point.counter, samples * (row->costs == BENCH_COSTS_OF_EACH ? point.parameter : 1));
    bench_close(&bench);
    bench_counter_free(point.counter);
    return failed;
}

static const char *compare_row_at(void *data, int i)
{
    const struct list *list = data;

    return i < list->n ? list->entries[i].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct list list = {0};
    int status = 2;

    if (!options_read(&options, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    if (list_make(&list, &options) && options_are_known(&options, &list)) {
        status = 0;
        for (int i = 0; options.list && i < list.n; i++)
            puts(list.entries[i].name);
        const struct bench_comparison asked = {options.compare, options.pairs, options.part,
                                               options.quick};
        if (options.compare)
            status = bench_compare(&asked, compare_row_at, &list);
        else if (!options.list)
            status = options.count ? count(&options, &list) : run(&options, &list);
    }
    free(list.entries);
    return status;
}
