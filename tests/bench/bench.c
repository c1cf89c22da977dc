/* SPDX-License-Identifier: MIT */
/* bench.c - how fast lazaret is, as ratios to floors measured in the same run.
 *
 *     lazaret-bench [--json] [--check] [--samples N] [--starts N]
 *
 * Samples of a thing and of its floor are taken in turn, so that a busy moment of the machine hits
 * both.  Everything runs in the real box.  Times are microseconds; medians, and the 99th percentile
 * of the thing itself. */
#include "pingpong.h"

#include <lazaret/lazaret.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BENCH_ATTEMPTS 3  /* with --check */
#define MESSAGE_BYTES  64 /* about what execute, result, a call and its answer have */

static bool as_json, checking, first_row = true;
static int over; /* rows worse than promised */
static int samples = 1000, starts = 15;

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int bench_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double bench_quantile(double *values, int n, double q)
{
    qsort(values, (size_t)n, sizeof *values, bench_order);
    int at = (int)(q * n);
    return values[at < n ? at : n - 1];
}

/* What is promised: by the beginning of a row's name, the most its median may be, as a multiple of
 * the floor's and in microseconds beyond it (0: not looked at). */
static const struct {
    const char *name;
    double ratio, beyond_us;
} promises[] = {
    {"execute.", 10, 0},
    {"tool_call.", 5, 0},
    {"session.cold.python", 0, 15000},
};

/* Is a row what was promised? Says so when it is not. */
static bool bench_keeps(const char *name, double median, double floor)
{
    for (size_t i = 0; checking && i < sizeof promises / sizeof *promises; i++) {
        if (strncmp(name, promises[i].name, strlen(promises[i].name)) != 0)
            continue;
        if ((promises[i].ratio > 0 && median > promises[i].ratio * floor) ||
            (promises[i].beyond_us > 0 && median > floor + promises[i].beyond_us)) {
            fprintf(stderr, "bench: %s is worse than promised: %.1f us, floor %.1f us\n", name,
                    median, floor);
            return false;
        }
    }
    return true;
}

/* Prints a row, and tells whether it keeps its promise; the arrays are sorted by it. */
static bool bench_row(const char *name, double *values, double *floors, int n)
{
    double median = bench_quantile(values, n, 0.5);
    double floor = floors ? bench_quantile(floors, n, 0.5) : 0;

    if (as_json)
        printf("%s  {\"name\":\"%s\",\"unit\":\"us\",\"n\":%d,\"median\":%.2f,\"p99\":%.2f,"
               "\"floor\":%.2f,\"ratio\":%.3f}",
               first_row ? "" : ",\n", name, n, median, bench_quantile(values, n, 0.99), floor,
               floor > 0 ? median / floor : 0);
    else
        printf("%-24s %6d %12.1f %12.1f %12.1f %8.2f\n", name, n, median,
               bench_quantile(values, n, 0.99), floor, floor > 0 ? median / floor : 0);
    first_row = false;
    fflush(stdout);
    return bench_keeps(name, median, floor);
}

static void bench_progress(const char *text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", text);
}

/* ---- one tool call --------------------------------------------------------------------------- */

static double call_times[200000];
static int n_calls;

static void bench_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    if (n_calls < (int)(sizeof call_times / sizeof *call_times))
        call_times[n_calls++] = now_us();
    laz_reply_value(reply, "3", 1);
}

static const struct {
    const char *runtime, *hundred_calls;
} languages[] = {
    {"lua", "for i = 1, 101 do add(1, 2) end"},
    {"python", "for i in range(101): add(1, 2)"},
    {"r", "for (i in 1:101) add(1, 2)"},
};
#define N_LANGUAGES (sizeof languages / sizeof *languages)

static bool bench_execute(struct laz_session *session, const char *code)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err)) {
        fprintf(stderr, "bench: %s\n", err.text);
        return false;
    }
    bool good = laz_result_verdict(result) == LAZ_VERDICT_OK;
    if (!good)
        fprintf(stderr, "bench: %s: %s\n", code, laz_result_detail(result));
    laz_result_free(result);
    return good;
}

/* What a session is measured for, and where the samples go. */
struct bench {
    struct laz_session *session;
    struct pingpong *pingpong;
    size_t language;
    double *values, *floors; /* `samples` of each */
};

static bool bench_executes(struct bench *bench)
{
    for (int i = -100; i < samples; i++) {
        double floor = pingpong_once(bench->pingpong);
        double before = now_us();
        if (!bench_execute(bench->session, "1+1"))
            return false;
        if (i >= 0) {
            bench->values[i] = now_us() - before;
            bench->floors[i] = floor;
        }
    }
    return true;
}

/* A hundred calls, a hundred floors, and again. */
static bool bench_calls(struct bench *bench)
{
    for (int done = 0; done < samples;) {
        n_calls = 0;
        if (!bench_execute(bench->session, languages[bench->language].hundred_calls) ||
            n_calls != 101)
            return false;
        for (int i = 0; i < 100 && done < samples; i++, done++) {
            bench->values[done] = call_times[i + 1] - call_times[i];
            bench->floors[done] = pingpong_once(bench->pingpong);
        }
    }
    return true;
}

/* Measures one thing. A row worse than promised is measured again, twice at most: a busy moment of
 * the machine passes, a slow build stays. */
static bool bench_measure(struct bench *bench, const char *what, bool (*measure)(struct bench *))
{
    char name[64];

    snprintf(name, sizeof name, "%s.%s", what, languages[bench->language].runtime);
    for (int attempt = 0; attempt < BENCH_ATTEMPTS; attempt++) {
        if (!measure(bench))
            return false;
        if (bench_row(name, bench->values, bench->floors, samples))
            return true;
    }
    over++;
    return true;
}

static bool bench_session(struct laz_session *session, size_t language, struct pingpong *pingpong)
{
    struct bench bench = {.session = session, .pingpong = pingpong, .language = language};

    bench.values = calloc((size_t)samples, sizeof *bench.values);
    bench.floors = calloc((size_t)samples, sizeof *bench.floors);
    bool good = bench.values && bench.floors && bench_measure(&bench, "execute", bench_executes) &&
                bench_measure(&bench, "tool_call", bench_calls);
    free(bench.values);
    free(bench.floors);
    return good;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Milliseconds of a command from fork to its end, in microseconds; negative: it failed. */
static double bench_spawn(const char *const *argv)
{
    double before = now_us();
    int status;

    pid_t pid = fork();
    if (pid == 0) {
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return -1;
    return now_us() - before;
}

/* Starts of a session and of its floor in turn. */
static bool bench_starts(struct laz_engine *engine, const char *runtime, const char *const *floor,
                         double *values, double *floors)
{
    for (int i = -1; i < starts; i++) {
        struct laz_session_options options = {.size = sizeof options, .runtime = runtime};
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        double bare = bench_spawn(floor);
        double before = now_us();
        int rc = laz_session_open(engine, &options, &session, &err);
        double took = now_us() - before;
        if (rc || bare <= 0) {
            fprintf(stderr, "bench: session of %s: %s\n", runtime,
                    bare > 0 ? err.text : "the floor failed");
            return false;
        }
        laz_session_free(session);
        if (i >= 0) {
            values[i] = took;
            floors[i] = bare;
        }
    }
    return true;
}

static bool bench_start(struct laz_engine *engine, const char *runtime, const char *const *floor)
{
    double *values = calloc((size_t)starts, sizeof *values);
    double *floors = calloc((size_t)starts, sizeof *floors);
    bool good = values && floors, kept = false;
    char name[64];

    snprintf(name, sizeof name, "session.cold.%s", runtime);
    for (int attempt = 0; attempt < BENCH_ATTEMPTS && good && !kept; attempt++) {
        good = bench_starts(engine, runtime, floor, values, floors);
        kept = good && bench_row(name, values, floors, starts);
    }
    over += good && !kept;
    free(values);
    free(floors);
    return good;
}

#define BWRAP                                                                                      \
    "/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",  \
        "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",     \
        "/lib64", "--symlink", "usr/bin", "/bin", "--ro-bind-try", "/etc/alternatives",            \
        "/etc/alternatives", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc",    \
        "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--"

static const char *const floor_true[] = {BWRAP, "/usr/bin/true", NULL};
static const char *const floor_python[] = {BWRAP, "/usr/bin/python3", "-I", "-c", "1", NULL};
static const char *const floor_exec[] = {"/usr/bin/true", NULL};

static bool bench_floors(struct pingpong *pingpong)
{
    double *values = calloc((size_t)samples, sizeof *values);

    if (!values)
        return false;
    for (int i = 0; i < samples; i++)
        values[i] = pingpong_once(pingpong);
    bench_row("floor.pingpong", values, NULL, samples);
    int n = samples < 100 ? samples : 100;
    for (int i = 0; i < n; i++)
        values[i] = bench_spawn(floor_exec);
    bench_row("floor.forkexec", values, NULL, n);
    for (int i = 0; i < starts; i++)
        values[i] = bench_spawn(floor_true);
    bench_row("floor.bwrap", values, NULL, starts);
    free(values);
    return true;
}

static int bench_all(struct laz_engine *engine)
{
    struct laz_tool add = {
        .size = sizeof add,
        .name = "add",
        .description = "",
        .parameters = "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]",
    };
    struct laz_error err = {0};
    struct pingpong *pingpong = pingpong_start(MESSAGE_BYTES, MESSAGE_BYTES);
    int failed = 0;

    if (!pingpong || laz_engine_add_tool(engine, &add, bench_tool, NULL, &err)) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    if (as_json)
        printf("[\n");
    else
        printf("%-24s %6s %12s %12s %12s %8s\n", "name", "n", "median us", "p99 us", "floor us",
               "ratio");
    failed |= !bench_floors(pingpong);
    for (size_t i = 0; i < N_LANGUAGES; i++) {
        struct laz_session_options options = {.size = sizeof options,
                                              .runtime = languages[i].runtime};
        struct laz_session *session = NULL;
        bench_progress(languages[i].runtime);
        int rc = laz_session_open(engine, &options, &session, &err);
        if (rc == LAZ_ENOENT)
            continue; /* not built */
        if (rc) {
            fprintf(stderr, "bench: session of %s: %s\n", languages[i].runtime, err.text);
            failed = 1;
            continue;
        }
        failed |= !bench_session(session, i, pingpong);
        laz_session_free(session);
        bool python = strcmp(languages[i].runtime, "python") == 0;
        failed |= !bench_start(engine, languages[i].runtime, python ? floor_python : floor_true);
    }
    if (as_json)
        printf("\n]\n");
    bench_progress("");
    pingpong_stop(pingpong);
    return failed;
}

int main(int argc, char **argv)
{
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            as_json = true;
        } else if (strcmp(argv[i], "--check") == 0) {
            checking = true;
        } else if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc) {
            samples = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--starts") == 0 && i + 1 < argc) {
            starts = atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: lazaret-bench [--json] [--check] [--samples N] [--starts N]\n");
            return 2;
        }
    }
    if (samples < 1 || samples > 100000 || starts < 1 || starts > 1000) {
        fprintf(stderr, "bench: samples are 1 to 100000, starts 1 to 1000\n");
        return 2;
    }
    if (laz_engine_new(NULL, NULL, &engine, &err)) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    int failed = bench_all(engine);
    laz_engine_free(engine);
    return failed || over;
}
