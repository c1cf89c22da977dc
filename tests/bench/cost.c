/* SPDX-License-Identifier: MIT */
/* cost.c - what a sample of a row costs beside its time: CPU time of all its processes and of the
 * kernel's threads, page faults, system calls.
 *
 * Another process of this program takes samples of the row again (counter.c), once while CPU time
 * is counted and once while events are.  For the first it is in a control group made for it: the
 * engine makes the groups of its sessions below its own, so all of their processes count, whoever
 * waits for them.  Where no group can be created, perf_event_open(2) counts the time of all
 * descendants; where that is not allowed either, it is the time of the process and of the children
 * that it waited for. */
#include "bench.h"

#include "base/buf.h"
#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/directories.h"
#include "os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PROC_MOST    ((size_t)1 << 20)
#define GROUP        "lazaret-bench-" /* and the number of the process that made it */
#define MOST_SAMPLES 100
#define BUSY_MS      60000
#define STEP_MS      5
#define PART         3 /* of the samples of the row's time */

/* The control group of the process that counts; no `usage`: none could be created. */
struct group {
    char *directory, *inner, *usage;
    const char *name; /* of the file with the time, for the reader; NULL: no group was made */
};

static bool group_is_text(const char *directory, const char *file)
{
    char *path = laz_strdupf("%s/%s", directory, file);
    bool is = path && access(path, R_OK) == 0;

    free(path);
    return is;
}

/* A process that has ended stays in its group for a moment, and there is no event for that. */
static void group_remove(char *directory)
{
    for (int ms = 0; directory && rmdir(directory) && errno == EBUSY && ms < BUSY_MS; ms += STEP_MS)
        bench_sleep_us(STEP_MS * 1e3);
    free(directory);
}

static void group_fini(struct group *group)
{
    group_remove(group->inner);
    group_remove(group->directory);
    free(group->usage);
}

/* Removes the groups of processes that were killed, which are empty. */
static void group_sweep(const char *above)
{
    struct laz_strv names = LAZ_STRV_INIT;

    (void)laz_os_list_directory(above, &names, NULL);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.items[i];
        long pid =
            strncmp(name, GROUP, strlen(GROUP)) == 0 ? strtol(name + strlen(GROUP), NULL, 10) : 0;
        char *inner = laz_strdupf("%s/%s/host", above, name);
        if (inner && pid > 1 && kill((pid_t)pid, 0) && errno == ESRCH) {
            rmdir(inner);
            *strrchr(inner, '/') = '\0';
            rmdir(inner);
        }
        free(inner);
    }
    laz_strv_fini(&names);
}

/* Makes the group below a directory. In version 2 a group with processes has no controllers for
 * those below it, so the process is in an inner one, beside those of the sessions, and the outer
 * one has the mark of a part that was delegated, which an engine of root looks for. */
static bool group_make(struct group *group, const char *above, const char *file, bool has_inner)
{
    group_sweep(above);
    group->directory = laz_strdupf("%s/" GROUP "%ld", above, (long)getpid());
    if (!group->directory || mkdir(group->directory, 0755)) {
        free(group->directory);
        group->directory = NULL;
        return false;
    }
    if (has_inner) {
        (void)setxattr(group->directory, "trusted.delegate", "1", 1, 0);
        group->inner = laz_strdupf("%s/host", group->directory);
        if (!group->inner || mkdir(group->inner, 0755))
            return false;
    }
    if (group_is_text(group->directory, file))
        group->usage = laz_strdupf("%s/%s", group->directory, file);
    group->name = file;
    return group->usage != NULL;
}

/* The directory of this process in version 1 of cpuacct, or where an engine makes its groups in
 * version 2. */
static void group_init(struct group *group)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    struct laz_cgroups *groups = NULL;
    size_t top;

    memset(group, 0, sizeof *group);
    if (laz_os_read_file("/proc/self/mountinfo", PROC_MOST, &mountinfo, NULL) == 0 &&
        laz_os_read_file("/proc/self/cgroup", PROC_MOST, &self, NULL) == 0 &&
        laz_cgroups_new(true, &groups, NULL) == 0) {
        const char *mounts = laz_buf_text(&mountinfo), *own = laz_buf_text(&self);
        char *first = laz_cgroup_directory(mounts, own, "cpuacct", &top);
        char *second = laz_cgroup_directory(mounts, own, "", &top);
        const char *place = laz_cgroups_place(groups);
        if (!place || !group_is_text(place, "cgroup.subtree_control"))
            place = second;
        if (first)
            (void)group_make(group, first, "cpuacct.usage", false);
        else if (place)
            (void)group_make(group, place, "cpu.stat", true);
        free(first);
        free(second);
    }
    laz_cgroups_free(groups);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&self);
}

/* ---- the process that counts ----------------------------------------------------------------- */

/* In the new process: enters the group and becomes lazaret-bench. */
static void cost_become(const struct bench *bench, const struct bench_point *point,
                        const char *from, const struct group *group, int out)
{
    char part[16];
    const char *argv[] = {"lazaret-bench",
                          "--count",
                          from,
                          "--only",
                          point->name,
                          "--part",
                          part,
                          bench->quick ? "--quick" : NULL,
                          NULL};

    snprintf(part, sizeof part, "%d", bench->part);
    if (group && group->usage) {
        char *path = laz_strdupf("%s/cgroup.procs", group->inner ? group->inner : group->directory);
        int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
        if (fd < 0 || write(fd, "0", 1) != 1)
            _exit(BENCH_COUNT_NOT);
    }
    if (dup2(out, 1) < 0)
        _exit(127);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

struct counted {
    double cpu_ms, kernel_ms, faults, calls;
    int faults_way; /* see bench_counter_print */
};

/* Has a process count; BENCH_ABSENT: this cannot be counted here. */
static enum bench_outcome cost_count(const struct bench *bench, const struct bench_point *point,
                                     const char *from, const struct group *group,
                                     struct counted *counted)
{
    int ends[2], status = -1;

    if (pipe2(ends, O_CLOEXEC))
        return BENCH_FAILED;
    pid_t pid = fork();
    if (pid == 0)
        cost_become(bench, point, from, group, ends[1]);
    close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    if (!out)
        abort();
    int n = fscanf(out, "%lf %lf %lf %lf %d", &counted->cpu_ms, &counted->kernel_ms,
                   &counted->faults, &counted->calls, &counted->faults_way);
    fclose(out);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return BENCH_FAILED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == BENCH_COUNT_NOT)
        return BENCH_ABSENT;
    return status == 0 && n == 5 ? BENCH_DONE : BENCH_FAILED;
}

/* ---- for the rows ---------------------------------------------------------------------------- */

int bench_cost_samples(const struct bench_point *point)
{
    int n = point->wanted / PART;

    return n < 1 ? 1 : n > MOST_SAMPLES ? MOST_SAMPLES : n;
}

struct bench_cost bench_no_cost(void)
{
    return (struct bench_cost){-1, -1, -1, -1};
}

#define EVENT    "perf_event_open(2)"
#define CHILDREN "this process and the children that it waited for, not those of templates"

static const char *const faults_ways[] = {EVENT, EVENT ", those in user mode", CHILDREN};

/* CPU time, by the first way that there is. */
static enum bench_outcome cost_of_cpu(struct bench *bench, const struct bench_point *point,
                                      struct bench_cost *cost)
{
    enum bench_outcome outcome = BENCH_ABSENT;
    struct group group;
    struct counted counted;

    group_init(&group);
    const struct {
        const char *from;
        const struct group *group;
        const char *source, *name;
    } ways[] = {{group.usage, &group, "a control group, ", group.name},
                {BENCH_COUNT_TASKS, NULL, EVENT, ""},
                {BENCH_COUNT_CHILDREN, NULL, CHILDREN, ""}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && outcome == BENCH_ABSENT; i++) {
        if (ways[i].from)
            outcome = cost_count(bench, point, ways[i].from, ways[i].group, &counted);
        if (outcome == BENCH_DONE)
            snprintf(bench->sources.cpu, sizeof bench->sources.cpu, "%s%s", ways[i].source,
                     ways[i].name);
    }
    group_fini(&group);
    if (outcome == BENCH_DONE) {
        cost->cpu_ms = counted.cpu_ms;
        cost->kernel_ms = counted.kernel_ms;
        bench->sources.kernel = counted.kernel_ms < 0 ? "not known, /proc shows none"
                                                      : "all of the machine's, /proc/PID/schedstat";
    }
    return outcome;
}

static enum bench_outcome cost_of_events(struct bench *bench, const struct bench_point *point,
                                         struct bench_cost *cost)
{
    struct counted counted;
    enum bench_outcome outcome = cost_count(bench, point, BENCH_COUNT_EVENTS, NULL, &counted);

    if (outcome == BENCH_DONE) {
        cost->page_faults = counted.faults;
        cost->system_calls = counted.calls;
        bench->sources.page_faults =
            faults_ways[counted.faults_way >= 0 && counted.faults_way < 2 ? counted.faults_way : 2];
        bench->sources.system_calls = counted.calls < 0
                                          ? "not counted, which takes root and raw_syscalls"
                                          : EVENT ", the tracepoint raw_syscalls";
    }
    return outcome;
}

enum bench_outcome bench_cost_of(struct bench *bench, const struct bench_point *point,
                                 struct bench_cost *cost)
{
    *cost = bench_no_cost();
    enum bench_outcome outcome = cost_of_cpu(bench, point, cost);
    if (outcome == BENCH_DONE)
        outcome = cost_of_events(bench, point, cost);
    return outcome == BENCH_DONE ? BENCH_DONE
                                 : bench_problem(point, "its costs could not be counted");
}

void bench_print_sources(FILE *file, const struct bench *bench, const char *prefix)
{
    const struct bench_sources *sources = &bench->sources;

    if (sources->system_calls) /* set last */
        fprintf(
            file,
            "%sCosts of a sample. CPU: %s. Kernel: the time of its threads, %s. Page faults: %s. "
            "System calls: %s.\n",
            prefix, sources->cpu, sources->kernel, sources->page_faults, sources->system_calls);
}
