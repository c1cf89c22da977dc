/* SPDX-License-Identifier: MIT */
/* compare.c - two builds, row by row: which rows differ beyond the noise?
 *
 * Each build measures with its own lazaret-bench, because this program is linked with what it
 * measures.  A row is measured by both in turns, A B B A A B ...: two runs that follow each other
 * are a pair, and whatever slows the machine down for longer than a pair slows both.  Only the
 * pairs are compared (ranks.c), so the machine may be busy. */
#include "compare.h"

#include "bench.h"
#include "ranks.h"

#include "base/buf.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOUND     0.05 /* the chance that any row is said to differ where none does */
#define LINE_MOST 1024

/* What is compared of a row, as it is called in JSON. */
static const struct {
    const char *member, *unit; /* NULL: the row's */
} compare_values[] = {
    {"median", NULL},
    {"cpu_ms", "ms"},
    {"page_faults", "faults"},
    {"system_calls", "calls"},
};

#define N_VALUES (sizeof compare_values / sizeof *compare_values)

struct compared {
    char name[BENCH_NAME_SIZE + 16];
    double p;
    bool less; /* here */
};

struct compare {
    const struct bench_comparison *asked;
    const char *programs[2]; /* this one, the other one */
    struct laz_buf rows;     /* of the other one, a line each */
    bool parts;              /* both know --part */
    double values[N_VALUES][2][RANKS_MOST];
    char unit[16];
    struct compared *compared;
    int n;
};

/* ---- one run --------------------------------------------------------------------------------- */

/* Starts one of the programs, whose output can be read from *out. */
static pid_t compare_start(const char *const *argv, FILE *errors, FILE **out)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (dup2(null, 0) < 0 || dup2(ends[1], 1) < 0 || dup2(fileno(errors), 2) < 0)
            _exit(127);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    if (!*out)
        abort();
    return pid;
}

/* Runs it to its end, with its output in `out`: its exit status. */
static int compare_program(const char *const *argv, struct laz_buf *out, FILE *errors)
{
    char text[LINE_MOST];
    FILE *file = NULL;
    int status = -1;

    pid_t pid = compare_start(argv, errors, &file);
    if (pid < 0)
        return -1;
    while (fgets(text, sizeof text, file))
        laz_buf_puts(out, text);
    fclose(file);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What a program has said on standard error is shown when it has failed. */
static void compare_show(FILE *errors)
{
    char text[LINE_MOST];

    rewind(errors);
    while (fgets(text, sizeof text, errors))
        fprintf(stderr, "    %s", text);
}

/* A number of a line of JSON; NAN: there is none. */
static double compare_number(const char *line, const char *member)
{
    char key[32], *end;

    snprintf(key, sizeof key, "\"%s\":", member);
    const char *at = strstr(line, key);
    if (!at)
        return NAN;
    double number = strtod(at + strlen(key), &end);
    return end > at + strlen(key) ? number : NAN;
}

/* Keeps what the only row of the text says; false: it says nothing. */
static bool compare_keep(struct compare *compare, const char *text, int which, int pair)
{
    static const char unit_key[] = "\"unit\":\"";
    const char *unit = strstr(text, unit_key);

    unit = unit ? unit + strlen(unit_key) : "";
    snprintf(compare->unit, sizeof compare->unit, "%.*s", (int)strcspn(unit, "\""), unit);
    for (size_t i = 0; i < N_VALUES; i++)
        compare->values[i][which][pair] = compare_number(text, compare_values[i].member);
    return !isnan(compare->values[0][which][pair]);
}

/* Measures a row once with one of the programs. */
static enum bench_outcome compare_run(struct compare *compare, const char *row, int which, int pair)
{
    const char *argv[9] = {compare->programs[which], "--json"};
    struct laz_buf out = LAZ_BUF_INIT;
    char part[16];
    int n = 2;
    FILE *errors = tmpfile();

    if (!errors)
        abort();
    if (compare->parts) {
        snprintf(part, sizeof part, "%d", compare->asked->part);
        argv[n++] = "--part";
        argv[n++] = part;
    }
    if (compare->asked->quick)
        argv[n++] = "--quick";
    argv[n++] = "--only";
    argv[n++] = row;
    int status = compare_program(argv, &out, errors);
    bool absent = status == 0 && !strstr(laz_buf_text(&out), "\"name\":");
    bool failed =
        status != 0 || (!absent && !compare_keep(compare, laz_buf_text(&out), which, pair));
    if (failed) {
        fprintf(stderr, "bench: %s: %s has failed (status %d)\n", row, argv[0], status);
        compare_show(errors);
    }
    fclose(errors);
    laz_buf_fini(&out);
    return failed ? BENCH_FAILED : absent ? BENCH_ABSENT : BENCH_DONE;
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Judges one value of a row. Times are compared by their ratio; where one is zero or less there is
 * none, and their difference is. */
static void compare_value(struct compare *compare, const char *row, size_t value)
{
    const double *here = compare->values[value][0], *other = compare->values[value][1];
    double differences[RANKS_MOST], sorted[2][RANKS_MOST], low, high;
    int n = compare->asked->pairs;
    bool positive = true;

    for (int i = 0; i < n; i++) {
        if (isnan(here[i]) || isnan(other[i]))
            return;
        positive = positive && here[i] > 0 && other[i] > 0;
    }
    for (int i = 0; i < n; i++) {
        differences[i] = positive ? log(here[i] / other[i]) : here[i] - other[i];
        sorted[0][i] = here[i];
        sorted[1][i] = other[i];
    }
    struct compared *compared = &compare->compared[compare->n++];
    compared->p = ranks_p(differences, n);
    double ratio = ranks_median(differences, n, &low, &high);
    compared->less = ratio < 0;
    snprintf(compared->name, sizeof compared->name, "%s%s%s", row, value ? " " : "",
             value ? compare_values[value].member : "");
    double medians[2], ignored[2];
    for (int which = 0; which < 2; which++)
        medians[which] = ranks_median(sorted[which], n, &ignored[0], &ignored[1]);
    printf("%-40s %-6s %4d %12.2f %12.2f", compared->name,
           value ? compare_values[value].unit : compare->unit, n, medians[0], medians[1]);
    if (positive)
        printf(" %8.3f %8.3f %8.3f", exp(ratio), exp(low), exp(high));
    else
        printf(" %8s %8s %8s", "-", "-", "-");
    printf(" %9.5f\n", compared->p);
    fflush(stdout);
}

static void compare_say_absent(const char *row, const char *build)
{
    printf("%-40s not measured by %s\n", row, build);
}

static enum bench_outcome compare_row(struct compare *compare, const char *row)
{
    for (int pair = 0; pair < compare->asked->pairs; pair++)
        for (int k = 0; k < 2; k++) {
            int which = (pair + k) % 2;
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K%s %d/%d", row, 2 * pair + k + 1,
                        2 * compare->asked->pairs);
            enum bench_outcome outcome = compare_run(compare, row, which, pair);
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K");
            if (outcome == BENCH_ABSENT)
                compare_say_absent(row, which ? compare->asked->other : "this build");
            if (outcome != BENCH_DONE)
                return outcome;
        }
    for (size_t i = 0; i < N_VALUES; i++)
        compare_value(compare, row, i);
    return BENCH_DONE;
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* Says which rows differ, all tests taken together. */
static void compare_judge(const struct compare *compare)
{
    double *p = calloc((size_t)compare->n + 1, sizeof *p);
    int differ = 0;

    if (!p)
        abort();
    for (int i = 0; i < compare->n; i++)
        p[i] = compare->compared[i].p;
    ranks_holm(p, compare->n);
    putchar('\n');
    for (int i = 0; i < compare->n; i++) {
        if (p[i] > BOUND)
            continue;
        differ++;
        printf("differs: %s is %s here (p %.5f, all together)\n", compare->compared[i].name,
               compare->compared[i].less ? "less" : "more", p[i]);
    }
    printf("%d of %d values differ beyond the noise: signed ranks of %d pairs, two-sided, Holm, "
           "at most %g %% for all together\n",
           differ, compare->n, compare->asked->pairs, BOUND * 100);
    if (ldexp(2, -compare->asked->pairs) * compare->n > BOUND)
        printf("so few pairs cannot show that one of so many values differs: --pairs, --only\n");
    free(p);
}

/* The rows of the other program, a line each. An older one may not have all of them, and not know
 * an option that only tells how much is measured. */
static bool compare_list(struct compare *compare)
{
    const char *const with_part[] = {compare->asked->other, "--part", "1", "--list", NULL};
    const char *const without[] = {compare->asked->other, "--list", NULL};
    FILE *errors = tmpfile();

    if (!errors)
        abort();
    laz_buf_puts(&compare->rows, "\n");
    compare->parts = compare_program(with_part, &compare->rows, errors) == 0;
    bool good = compare->parts || compare_program(without, &compare->rows, errors) == 0;
    if (!good) {
        fprintf(stderr, "bench: %s has failed (--list)\n", compare->asked->other);
        compare_show(errors);
    } else if (!compare->parts) {
        printf("%s has no --part: all samples are taken\n", compare->asked->other);
    }
    fclose(errors);
    return good;
}

static bool compare_is_listed(const struct compare *compare, const char *row)
{
    char line[BENCH_NAME_SIZE + 2];

    snprintf(line, sizeof line, "\n%s\n", row);
    return strstr(laz_buf_text(&compare->rows), line);
}

static int compare_all(struct compare *compare, const char *(*row_at)(void *list, int i),
                       void *list)
{
    const char *row;
    int failed = 0;

    printf("%-40s %-6s %4s %12s %12s %8s %17s %9s\n", "name", "unit", "n", "here", "other", "ratio",
           "95 %", "p");
    for (int i = 0; (row = row_at(list, i)); i++) {
        if (compare_is_listed(compare, row))
            failed |= compare_row(compare, row) == BENCH_FAILED;
        else
            compare_say_absent(row, compare->asked->other);
    }
    compare_judge(compare);
    return failed;
}

int bench_compare(const struct bench_comparison *asked, const char *(*row_at)(void *list, int i),
                  void *list)
{
    size_t rows = 0;

    if (access(asked->other, X_OK)) {
        fprintf(stderr, "bench: %s is not a program that can be started\n", asked->other);
        return 2;
    }
    while (row_at(list, (int)rows))
        rows++;
    struct compare *compare = calloc(1, sizeof *compare);
    if (!compare || !(compare->compared = calloc(rows * N_VALUES + 1, sizeof *compare->compared)))
        abort();
    compare->asked = asked;
    compare->programs[0] = "/proc/self/exe";
    compare->programs[1] = asked->other;
    int failed = compare_list(compare) ? compare_all(compare, row_at, list) : 1;
    laz_buf_fini(&compare->rows);
    free(compare->compared);
    free(compare);
    return failed;
}
