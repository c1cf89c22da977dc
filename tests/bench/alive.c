/* SPDX-License-Identifier: MIT */
/* alive.c - many live sessions in one engine: the memory of each, in its own processes and in this
 * one, and the speed of one of them compared with a lone session. */
#include "bench.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#define AT_ONCE      32 /* sessions starting at the same time, at most */
#define MAX_CHILDREN 4000

struct children {
    int n;
    long pids[MAX_CHILDREN];
};

struct alive {
    int wanted, ready;
    struct children others; /* processes started before */
    bool failed;
    struct bench_point *point;
    struct laz_engine *engine, *lone_engine;
    struct laz_session **sessions, *lone;
    double engine_bytes;  /* memory of this process for all sessions */
    double machine_bytes; /* and of all processes and the kernel */
};

/* One number of a file of /proc with "Name: 123 kB" lines (proc(5)), in bytes; 0: the process has
 * ended. */
static double alive_kib(const char *path, const char *name)
{
    char line[256];
    double kib = 0;

    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtod(line + strlen(name), NULL);
    if (file)
        fclose(file);
    return kib * 1024;
}

static double alive_own_memory(void)
{
    malloc_trim(0);
    return alive_kib("/proc/self/smaps_rollup", "Anonymous:");
}

/* What programs could still be given (proc(5)): what the kernel keeps for the others is taken off.
 */
static double alive_machine_free(void)
{
    return alive_kib("/proc/meminfo", "MemAvailable:");
}

static void alive_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct alive *alive = user;

    alive->failed = !bench_is_two(alive->point, result, err) || alive->failed;
    alive->ready++;
    laz_result_free(result);
}

/* Lists the processes started by engines of this process: not those of the main thread, which
 * starts only floors. */
static void alive_children(struct children *children)
{
    char path[300];
    DIR *tasks = opendir("/proc/self/task");

    children->n = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (strtol(task->d_name, NULL, 10) == (long)getpid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/children", task->d_name);
        FILE *file = fopen(path, "r");
        while (file && children->n < MAX_CHILDREN &&
               fscanf(file, "%ld", &children->pids[children->n]) == 1)
            children->n++;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
}

static bool alive_is_among(const struct children *children, long pid)
{
    for (int i = 0; i < children->n; i++)
        if (children->pids[i] == pid)
            return true;
    return false;
}

/* Starts a session and executes in it; its first result shows that it is ready. */
static void alive_begin(struct alive *alive, struct laz_engine *engine,
                        struct laz_session **session)
{
    struct laz_error err = {0};

    if (bench_open_warm(engine, alive->point->language->name, session, &err) == 0 &&
        laz_session_execute_async(*session, "1+1", SIZE_MAX, NULL, alive_done, alive, &err) == 0)
        return;
    bench_problem(alive->point, "%s", err.text);
    alive->failed = true;
}

/* Starts all of `sessions`, some at a time. */
static void alive_start(struct alive *alive, struct laz_engine *engine,
                        struct laz_session **sessions, int n)
{
    struct laz_error err = {0};
    int begun = 0;

    alive->ready = 0;
    while (alive->ready < n && !alive->failed) {
        for (; begun < n && begun - alive->ready < AT_ONCE && !alive->failed; begun++)
            alive_begin(alive, engine, &sessions[begun]);
        if (!alive->failed && laz_engine_step(engine, -1, &err))
            alive->failed = bench_problem(alive->point, "%s", err.text) == BENCH_FAILED;
        bench_progress_part(alive->point, alive->ready, n);
    }
}

void bench_alive_close(struct bench *bench)
{
    struct alive *alive = bench->alive;

    if (!alive)
        return;
    laz_engine_free(alive->engine); /* closes all sessions */
    laz_engine_free(alive->lone_engine);
    free(alive->sessions);
    free(alive);
    bench->alive = NULL;
}

/* Opens the sessions of a row; reuses those of the row before if their number is the same. */
static enum bench_outcome alive_open(struct bench *bench, struct bench_point *point)
{
    int size = point->parameter;
    struct laz_session *kept, *first = NULL;
    struct laz_error err = {0};

    if (bench->alive && bench->alive->wanted == size) {
        bench->alive->point = point;
        return BENCH_DONE;
    }
    bench_alive_close(bench);
    enum bench_outcome outcome = bench_any_session(bench, point, &kept);
    if (outcome != BENCH_DONE)
        return outcome;
    struct alive *alive = bench->alive = calloc(1, sizeof *alive);
    if (!alive || !(alive->sessions = calloc((size_t)size, sizeof(struct laz_session *))))
        abort();
    alive->wanted = size;
    alive->point = point;
    if (bench_engine(&alive->engine, bench->clock, size + 10, &err) ||
        bench_engine(&alive->lone_engine, bench->clock, 10, &err)) {
        bench_problem(point, "%s", err.text);
        alive->failed = true;
    }
    if (!alive->failed)
        alive_start(alive, alive->lone_engine, &alive->lone, 1);
    alive_children(&alive->others);
    if (!alive->failed)
        alive_start(alive, alive->engine, &first, 1); /* first makes what all sessions share */
    double before = alive_own_memory(), machine_before = alive_machine_free();
    if (!alive->failed)
        alive_start(alive, alive->engine, alive->sessions, size);
    alive->machine_bytes = machine_before - alive_machine_free();
    alive->engine_bytes = alive_own_memory() - before;
    if (alive->failed)
        bench_alive_close(bench);
    return bench->alive ? BENCH_DONE : BENCH_FAILED;
}

/* Proportional memory of a process and its descendants. */
static double alive_tree_pss(const char *pid)
{
    char path[80], child[16];

    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
    double pss = alive_kib(path, "Pss:");
    snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, pid);
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%15s", child) == 1)
        pss += alive_tree_pss(child);
    if (file)
        fclose(file);
    return pss;
}

/* For each session its own processes, and its share of common ones such as the template. */
enum bench_outcome bench_alive_pss(struct bench *bench, struct bench_point *point)
{
    enum bench_outcome outcome = alive_open(bench, point);
    struct children children;
    char pid[24];
    double own[MAX_CHILDREN], all = 0, owned = 0;

    if (outcome != BENCH_DONE)
        return outcome;
    struct alive *alive = bench->alive;
    point->wanted = alive->wanted;
    alive_children(&children);
    for (int i = 0; i < children.n; i++) {
        snprintf(pid, sizeof pid, "%ld", children.pids[i]);
        all += alive_is_among(&alive->others, children.pids[i]) ? 0 : alive_tree_pss(pid);
    }
    for (int i = 0; i < alive->wanted; i++) {
        snprintf(pid, sizeof pid, "%lld", (long long)laz_session_pid(alive->sessions[i]));
        own[i] = *pid == '-' ? 0 : alive_tree_pss(pid);
        owned += own[i];
    }
    double shared = all > owned ? (all - owned) / (alive->wanted + 1) : 0;
    for (int i = 0; i < alive->wanted; i++)
        bench_add(point, own[i] + shared);
    return shared + owned > 0 ? BENCH_DONE : bench_problem(point, "/proc does not tell");
}

static enum bench_outcome alive_each(struct bench *bench, struct bench_point *point, double all)
{
    double each = all / bench->alive->wanted;

    bench_add(point, each > 0 ? each : 0);
    return BENCH_DONE;
}

/* Memory of this process for each session. */
enum bench_outcome bench_alive_engine(struct bench *bench, struct bench_point *point)
{
    enum bench_outcome outcome = alive_open(bench, point);

    return outcome == BENCH_DONE ? alive_each(bench, point, bench->alive->engine_bytes) : outcome;
}

/* Memory of the machine for each session. */
enum bench_outcome bench_alive_machine(struct bench *bench, struct bench_point *point)
{
    enum bench_outcome outcome = alive_open(bench, point);

    return outcome == BENCH_DONE ? alive_each(bench, point, bench->alive->machine_bytes) : outcome;
}

/* Measures one of them and a lone session of another engine in turn: always the same one, or with a
 * stride always another. */
static enum bench_outcome alive_latency(struct bench *bench, struct bench_point *point, int stride)
{
    enum bench_outcome outcome = alive_open(bench, point);

    for (int i = -20; outcome == BENCH_DONE && !bench_is_full(point); i++) {
        struct alive *alive = bench->alive;
        double before = bench_now_us();
        if (!bench_execute(point, alive->lone, "1+1"))
            return BENCH_FAILED;
        double lone = bench_now_us() - before;
        int which = (alive->wanted / 2 + (i + 20) * stride) % alive->wanted;
        before = bench_now_us();
        if (!bench_execute(point, alive->sessions[which], "1+1"))
            return BENCH_FAILED;
        if (i < 0)
            continue;
        bench_add(point, bench_now_us() - before);
        bench_add_floor(point, lone);
    }
    return outcome;
}

enum bench_outcome bench_alive_latency(struct bench *bench, struct bench_point *point)
{
    return alive_latency(bench, point, 0);
}

enum bench_outcome bench_alive_turns(struct bench *bench, struct bench_point *point)
{
    return alive_latency(bench, point, 1);
}
