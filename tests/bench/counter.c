/* SPDX-License-Identifier: MIT */
/* counter.c - the process that counts what the samples of one row cost (lazaret-bench --count).
 *
 * It takes the samples of the row and none of its floor.  Counters are read when the first sample
 * has been taken and when the last one has, so what is made once (an engine, a template) is left
 * out, and what the kernel still has to clear away after a sample is as much at both times.
 *
 * Either CPU time is counted, or events: counting these takes CPU time of its own.  Events of all
 * descendants are counted by perf_event_open(2), whose counters every process inherits that is made
 * later, so they are opened before there is a thread.  No process is traced. */
#include "bench.h"

#include "os/directories.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_KERNEL_THREADS 4096
#define KERNEL_THREAD       0x00200000ul /* PF_KTHREAD of the flags in /proc/PID/stat */
#define TRACING             "/sys/kernel/tracing"
#define EVENT_ID            "/events/raw_syscalls/sys_enter/id"

struct kernel_threads {
    int n;
    struct {
        long pid;
        double ns;
    } threads[MOST_KERNEL_THREADS];
};

struct reading {
    double cpu_us, faults, calls; /* negative: not counted */
    struct kernel_threads *kernel;
};

struct bench_counter {
    bool events;
    int group, clock;  /* CPU time: a file of the control group, or an event; -1: none */
    int faults, calls; /* -1: not counted by the kernel for us */
    int faults_way;    /* see bench_counter_print */
    struct reading first, last;
    bool done;
};

/* ---- CPU time -------------------------------------------------------------------------------- */

/* Of this process, and of the children that were waited for with theirs. */
static double counter_of_children(bool faults)
{
    double sum = 0;

    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
        sum += faults ? (double)usage.ru_minflt + (double)usage.ru_majflt
                      : (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return sum;
}

/* cpuacct.usage is a number of nanoseconds, cpu.stat begins with "usage_usec ". */
static double counter_of_group(int file)
{
    static const char key[] = "usage_usec ";
    char text[256];
    ssize_t n = pread(file, text, sizeof text - 1, 0);

    if (n <= 0)
        return -1;
    text[n] = '\0';
    if (strncmp(text, key, strlen(key)) == 0)
        return strtod(text + strlen(key), NULL);
    return isdigit((unsigned char)*text) ? strtod(text, NULL) / 1e3 : -1;
}

static bool counter_read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The CPU time of a process if it is a thread of the kernel; negative: it is not, or not known. */
static double counter_kernel_thread(const char *pid)
{
    char path[64], text[1024];
    unsigned long flags;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    const char *name_ends = counter_read_file(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!name_ends || sscanf(name_ends, ") %*c %*d %*d %*d %*d %*d %lu", &flags) != 1 ||
        !(flags & KERNEL_THREAD))
        return -1;
    snprintf(path, sizeof path, "/proc/%.20s/schedstat", pid);
    return counter_read_file(path, text, sizeof text) ? strtod(text, NULL) : -1;
}

static void counter_kernel_threads(struct kernel_threads *kernel)
{
    struct laz_strv names = LAZ_STRV_INIT;

    kernel->n = 0;
    (void)laz_os_list_directory("/proc", &names, NULL);
    for (size_t i = 0; i < names.n && kernel->n < MOST_KERNEL_THREADS; i++) {
        double ns =
            isdigit((unsigned char)*names.items[i]) ? counter_kernel_thread(names.items[i]) : -1;
        if (ns < 0)
            continue;
        kernel->threads[kernel->n].pid = strtol(names.items[i], NULL, 10);
        kernel->threads[kernel->n++].ns = ns;
    }
    laz_strv_fini(&names);
}

/* Between two readings. A thread that has ended since the first one is not counted; one that was
 * made since then is, from its beginning. */
static double counter_kernel_ms(const struct kernel_threads *first,
                                const struct kernel_threads *last)
{
    double ns = 0;

    for (int i = 0; i < last->n; i++) {
        double before = 0;
        for (int k = 0; k < first->n; k++)
            if (first->threads[k].pid == last->threads[i].pid)
                before = first->threads[k].ns;
        ns += last->threads[i].ns > before ? last->threads[i].ns - before : 0;
    }
    return last->n ? ns / 1e6 : -1;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* `in_user`: as far as an ordinary user may know, which for a clock is all. */
static int counter_open(uint32_t type, uint64_t event, bool in_user)
{
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = event,
                                   .inherit = 1,
                                   .exclude_kernel = in_user,
                                   .exclude_hv = in_user};

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double counter_of_event(int fd)
{
    uint64_t n;

    return fd >= 0 && read(fd, &n, sizeof n) == sizeof n ? (double)n : -1;
}

/* A child mounts the file system of events for itself, where it is not mounted, and reads it. */
static bool counter_mount_and_read(char *text, size_t size)
{
    int ends[2], status;

    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        bool read_it = unshare(CLONE_NEWNS) == 0 &&
                       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                       mount("tracefs", TRACING, "tracefs", 0, NULL) == 0 &&
                       counter_read_file(TRACING EVENT_ID, text, size);
        size_t len = read_it ? strlen(text) : 0;
        _exit(len && write(ends[1], text, len) == (ssize_t)len ? 0 : 1);
    }
    close(ends[1]);
    ssize_t n = pid > 0 ? read(ends[0], text, size - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    return n > 0;
}

/* The tracepoint at the entry of every system call; only root may count it. */
static int counter_open_calls(void)
{
    char text[32];

    if (counter_read_file(TRACING EVENT_ID, text, sizeof text) ||
        counter_read_file("/sys/kernel/debug/tracing" EVENT_ID, text, sizeof text) ||
        counter_mount_and_read(text, sizeof text))
        return counter_open(PERF_TYPE_TRACEPOINT, strtoull(text, NULL, 10), false);
    return -1;
}

/* ---- readings -------------------------------------------------------------------------------- */

struct bench_counter *bench_counter_new(const char *from)
{
    struct bench_counter *counter = calloc(1, sizeof *counter);

    if (!counter || !(counter->first.kernel = calloc(2, sizeof(struct kernel_threads))))
        abort();
    counter->last.kernel = counter->first.kernel + 1;
    counter->group = counter->clock = counter->faults = counter->calls = -1;
    counter->events = strcmp(from, BENCH_COUNT_EVENTS) == 0;
    bool good = true;
    if (counter->events) {
        for (; counter->faults < 0 && counter->faults_way < 2; counter->faults_way++)
            counter->faults = counter_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
                                           counter->faults_way == 1);
        counter->faults_way -= counter->faults >= 0;
        counter->calls = counter_open_calls();
    } else if (strcmp(from, BENCH_COUNT_TASKS) == 0) {
        counter->clock = counter_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true);
        good = counter->clock >= 0;
    } else if (strcmp(from, BENCH_COUNT_CHILDREN) != 0) {
        counter->group = open(from, O_RDONLY | O_CLOEXEC);
        good = counter->group >= 0 && counter_of_group(counter->group) >= 0;
    }
    if (good)
        return counter;
    bench_counter_free(counter);
    return NULL;
}

void bench_counter_free(struct bench_counter *counter)
{
    if (!counter)
        return;
    const int fds[] = {counter->group, counter->clock, counter->faults, counter->calls};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(counter->first.kernel);
    free(counter);
}

static void counter_read(const struct bench_counter *counter, struct reading *reading)
{
    reading->cpu_us = reading->calls = reading->faults = -1;
    if (counter->events) {
        reading->faults =
            counter->faults >= 0 ? counter_of_event(counter->faults) : counter_of_children(true);
        reading->calls = counter_of_event(counter->calls);
    } else if (counter->clock >= 0) {
        double ns = counter_of_event(counter->clock);
        reading->cpu_us = ns < 0 ? -1 : ns / 1e3;
    } else {
        reading->cpu_us =
            counter->group >= 0 ? counter_of_group(counter->group) : counter_of_children(false);
    }
}

/* Looking at the kernel's threads takes time of this process: not of the samples between. */
void bench_counter_sample(struct bench_counter *counter, int n, int wanted)
{
    if (n == 1) {
        if (!counter->events)
            counter_kernel_threads(counter->first.kernel);
        counter_read(counter, &counter->first);
    } else if (n == wanted) {
        counter_read(counter, &counter->last);
        if (!counter->events)
            counter_kernel_threads(counter->last.kernel);
        counter->done = true;
    }
}

/* One counter between both readings, for each sample. */
static double counter_each(double first, double last, double unit, int samples)
{
    return first < 0 || last < first ? -1 : (last - first) / unit / samples;
}

bool bench_counter_print(const struct bench_counter *counter, int samples)
{
    const struct reading *first = &counter->first, *last = &counter->last;
    double kernel_ms = counter->events ? -1 : counter_kernel_ms(first->kernel, last->kernel);

    if (!counter->done)
        return false;
    printf("%.6f %.6f %.3f %.3f %d\n", counter_each(first->cpu_us, last->cpu_us, 1e3, samples),
           kernel_ms < 0 ? -1 : kernel_ms / samples,
           counter_each(first->faults, last->faults, 1, samples),
           counter_each(first->calls, last->calls, 1, samples), counter->faults_way);
    return true;
}
