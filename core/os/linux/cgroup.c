/* SPDX-License-Identifier: MIT */
/* cgroup.c - the control group of one session, of either version.  System: Linux.
 * Side: host.  Input trusted: yes (files of the kernel).
 *
 * A group is one directory for each hierarchy that has a part of it.  The first process enters
 * before it runs anything: version 2 by CLONE_INTO_CGROUP (clone(2), Linux 5.7), version 1 by the
 * child's own "0" in `tasks`, because writing a number into cgroup.procs takes a lock of all
 * processes and some milliseconds.  One descriptor stays open, because a host with many sessions
 * has few: the event that memory ran out.  In version 2 that is memory.events, on which the kernel
 * reports POLLPRI, in version 1 an eventfd.  Counters are opened to be read. */
#include "os/descriptors.h"
#include "os/io.h"
#include "os/linux/cgroup.h"
#include "os/linux/counters.h"
#include "os/linux/proc.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP_KEPT_MOST 16                  /* directories: none has an open descriptor */
#define CGROUP_LEFT      ((uint64_t)1 << 20) /* memory that a kept group may hold */

struct laz_cgroup {
    struct laz_cgroups *owner;
    struct laz_cgroup *next_kept;
    uint64_t memory_bytes, pids; /* its limits */
    struct cgroup_site parts[LAZ_CGROUP_WHATS];
    int n_parts;
    bool is_to_enter;
    bool is_killed;           /* no process can start in it any more */
    int of[LAZ_CGROUP_WHATS]; /* index of the part; -1: none */
    int event_fd;             /* see laz_cgroup_event */
    uint64_t cpu_us;          /* as it was read last */
    uint64_t ran_out;         /* version 1: how often the event came */
    struct counter cpu, peak, kills;
};

static const struct cgroup_site *cgroup_part(const struct laz_cgroup *group,
                                             enum laz_cgroup_what what)
{
    return group->of[what] < 0 ? NULL : &group->parts[group->of[what]];
}

/* ---- making --------------------------------------------------------------------------------- */

static const struct cgroup_site *cgroup_site(const struct laz_cgroups *groups, int what,
                                             bool to_enter)
{
    if (to_enter && what == LAZ_CGROUP_CPU && groups->sites[CGROUP_CPU_TO_ENTER].version)
        what = CGROUP_CPU_TO_ENTER;
    return &groups->sites[what];
}

const char *laz_cgroups_mechanism(const struct laz_cgroups *groups, enum laz_cgroup_what what,
                                  bool to_enter)
{
    static const char *const names[] = {NULL, "cgroup-v1", "cgroup-v2"};

    return groups && !laz_cgroups_are_lost(groups)
               ? names[cgroup_site(groups, (int)what, to_enter)->version]
               : NULL;
}

/* Makes the directories, all with one name that is unused in each site. */
static int cgroup_make_directories(struct laz_cgroup *group, const char *name)
{
    struct laz_cgroups *groups = group->owner;

    for (int what = 0; what < LAZ_CGROUP_WHATS; what++) {
        const struct cgroup_site *site = cgroup_site(groups, what, group->is_to_enter);
        int i = 0;
        group->of[what] = -1;
        if (!site->version)
            continue;
        char *directory = laz_strdupf("%s/%s", site->directory, name);
        if (!directory)
            return ENOMEM;
        while (i < group->n_parts && strcmp(group->parts[i].directory, directory) != 0)
            i++;
        if (i == group->n_parts && mkdir(directory, 0755) != 0) {
            int os_errno = errno;
            free(directory);
            return os_errno;
        }
        group->of[what] = i;
        if (i < group->n_parts)
            free(directory);
        else
            group->parts[group->n_parts++] = (struct cgroup_site){site->version, directory};
    }
    return 0;
}

static void cgroup_drop_directories(struct laz_cgroup *group)
{
    for (int i = 0; i < group->n_parts; i++) {
        cgroup_remove(group->owner, group->parts[i].directory);
        free(group->parts[i].directory);
    }
    group->n_parts = 0;
}

void cgroup_next_name(struct laz_cgroups *groups, char *name, size_t size)
{
    struct laz_cgroup_name *next = &groups->next;

    snprintf(name, size, "lazaret-%llu-%llu-%llu-%llu", (unsigned long long)next->pid_namespace,
             (unsigned long long)next->pid, (unsigned long long)next->start,
             (unsigned long long)next->number++);
}

static int cgroup_make(struct laz_cgroup *group)
{
    int os_errno = EEXIST;

    for (int i = 0; i < CGROUP_NAME_TRIES && os_errno == EEXIST; i++) {
        char name[CGROUP_NAME_SIZE];
        /* several engines of one process count in the same site */
        cgroup_next_name(group->owner, name, sizeof name);
        os_errno = cgroup_make_directories(group, name);
        if (os_errno)
            cgroup_drop_directories(group);
    }
    return os_errno;
}

/* The files that limit a group, in the order in which they are set. */
static const struct cgroup_limit {
    enum laz_cgroup_what what;
    int version;
    const char *file, *value; /* NULL: the limit itself */
    int ignored[2];           /* errors: the kernel has no such file, or rejects the value */
} cgroup_limits[] = {
    {LAZ_CGROUP_MEMORY, 2, "memory.max", NULL, {0}},
    {LAZ_CGROUP_MEMORY, 2, "memory.swap.max", "0", {ENOENT}},
    {LAZ_CGROUP_MEMORY, 2, "memory.oom.group", "1", {ENOENT}}, /* Linux 4.19 */
    {LAZ_CGROUP_MEMORY, 1, "memory.limit_in_bytes", NULL, {0}},
    /* for kernels that do not count swap */
    {LAZ_CGROUP_MEMORY, 1, "memory.swappiness", "0", {ENOENT, EINVAL}},
    {LAZ_CGROUP_MEMORY, 1, "memory.memsw.limit_in_bytes", NULL, {ENOENT}},
    {LAZ_CGROUP_PIDS, 2, "pids.max", NULL, {0}},
    {LAZ_CGROUP_PIDS, 1, "pids.max", NULL, {0}},
};

/* *file: the one that was set last. */
static int cgroup_limit(const struct laz_cgroup *group, const char **file)
{
    for (size_t i = 0; i < sizeof cgroup_limits / sizeof *cgroup_limits; i++) {
        const struct cgroup_limit *row = &cgroup_limits[i];
        const struct cgroup_site *part = cgroup_part(group, row->what);
        uint64_t limit = row->what == LAZ_CGROUP_MEMORY ? group->memory_bytes : group->pids;
        char text[24];
        if (!part || part->version != row->version || limit == LAZ_CGROUP_NO_LIMIT)
            continue;
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit);
        *file = row->file;
        int os_errno = cgroup_write(part->directory, *file, row->value ? row->value : text);
        if (os_errno && os_errno != row->ignored[0] && os_errno != row->ignored[1])
            return os_errno;
    }
    return 0;
}

/* Opens the event. 0, or an errno with the file in question. */
static int cgroup_watch(struct laz_cgroup *group, const char **file)
{
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_MEMORY);
    char text[64];

    if (!part || group->memory_bytes == LAZ_CGROUP_NO_LIMIT)
        return 0;
    *file = part->version == 2 ? "memory.events" : "memory.oom_control";
    int control = cgroup_file(part->directory, *file, O_RDONLY);
    if (control < 0)
        return errno;
    if (part->version == 2) {
        proc_text(control, text, sizeof text); /* content that was not read counts as new */
        group->event_fd = control;
        return 0;
    }
    group->event_fd = laz_posix_above(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    snprintf(text, sizeof text, "%d %d", group->event_fd, control);
    int os_errno =
        group->event_fd < 0 ? errno : cgroup_write(part->directory, "cgroup.event_control", text);
    laz_os_close(&control);
    return os_errno;
}

static void cgroup_drop(struct laz_cgroup *group)
{
    laz_os_close(&group->event_fd);
    cgroup_drop_directories(group);
    free(group);
}

/* One that was kept, with these limits; NULL: there is none. */
static struct laz_cgroup *cgroup_take_kept(struct laz_cgroups *groups, uint64_t memory_bytes,
                                           uint64_t pids)
{
    struct laz_cgroup *kept = groups->kept;
    const char *file;

    if (!kept || kept->memory_bytes != memory_bytes || kept->pids != pids)
        return NULL;
    groups->kept = kept->next_kept;
    groups->n_kept--;
    kept->cpu_us = 0;
    if (cgroup_watch(kept, &file) == 0)
        return kept;
    cgroup_drop(kept);
    return NULL;
}

int laz_cgroup_new(struct laz_cgroups *groups, uint64_t memory_bytes, uint64_t pids, bool to_enter,
                   struct laz_cgroup **out, struct laz_error *err)
{
    struct laz_cgroup *group = to_enter ? cgroup_take_kept(groups, memory_bytes, pids) : NULL;
    const char *file = "";

    if (group) {
        *out = group;
        return 0;
    }
    group = calloc(1, sizeof *group);
    if (!group)
        return laz_error_nomem(err);
    group->owner = groups;
    group->is_to_enter = to_enter;
    group->memory_bytes = memory_bytes;
    group->pids = pids;
    group->event_fd = -1;
    cgroup_remove_busy(groups);
    int os_errno = cgroup_make(group);
    if (!os_errno)
        os_errno = cgroup_limit(group, &file);
    if (!os_errno)
        os_errno = cgroup_watch(group, &file);
    if (os_errno) {
        const char *directory = group->n_parts ? group->parts[0].directory : "a control group";
        int rc = laz_error_os(err, os_errno, "%s%s%s cannot be %s", directory, *file ? ": " : "",
                              file, *file ? "set" : "created");
        cgroup_drop(group);
        return rc;
    }
    *out = group;
    return 0;
}

/* Is it indistinguishable from a new one? Memory that is freed late would count for the next
 * session. */
static bool cgroup_is_as_new(struct laz_cgroup *group)
{
    const struct cgroup_site *memory = cgroup_part(group, LAZ_CGROUP_MEMORY);
    const struct cgroup_site *cpu = cgroup_part(group, LAZ_CGROUP_CPU);
    char text[32];

    if (group->is_killed || laz_cgroup_out_of_memory(group))
        return false;
    for (int i = 0; i < group->n_parts; i++)
        if (group->parts[i].version != 1 ||
            !cgroup_read(group->parts[i].directory, "cgroup.procs", text, sizeof text) || *text)
            return false;
    if (memory && (!cgroup_read(memory->directory, "memory.usage_in_bytes", text, sizeof text) ||
                   strtoull(text, NULL, 10) > CGROUP_LEFT ||
                   cgroup_write(memory->directory, "memory.max_usage_in_bytes", "0")))
        return false;
    return !cpu || cgroup_write(cpu->directory, "cpuacct.usage", "0") == 0;
}

/* Making and removing a group costs the kernel as much as a process does. */
void laz_cgroup_free(struct laz_cgroup *group)
{
    if (!group)
        return;
    struct laz_cgroups *owner = group->owner;
    const bool is_kept = group->is_to_enter && owner->n_kept < CGROUP_KEPT_MOST &&
                         cgroup_is_as_new(group); /* which may read a counter */
    counter_close(&group->cpu);
    counter_close(&group->peak);
    counter_close(&group->kills);
    if (!is_kept) {
        cgroup_drop(group);
        return;
    }
    laz_os_close(&group->event_fd);
    group->next_kept = owner->kept;
    owner->kept = group;
    owner->n_kept++;
}

void cgroup_drop_kept(struct laz_cgroups *groups)
{
    while (groups->kept) {
        struct laz_cgroup *group = groups->kept;
        groups->kept = group->next_kept;
        groups->n_kept--;
        cgroup_drop(group);
    }
}

/* ---- entering ------------------------------------------------------------------------------- */

/* Between two requests it sends nothing: what can be read is the end of the connection. */
bool laz_cgroups_are_lost(const struct laz_cgroups *groups)
{
    return groups->launcher_fd >= 0 && laz_os_await(groups->launcher_fd, 0);
}

void laz_cgroups_open(const struct laz_cgroups *groups, struct laz_cgroup_door *door)
{
    *door = (struct laz_cgroup_door){.launcher = groups ? groups->launcher_fd : -1, .into = -1};
}

int laz_cgroup_open(const struct laz_cgroup *group, struct laz_cgroup_door *door,
                    struct laz_error *err)
{
    laz_cgroups_open(group->owner, door);
    for (int i = 0; i < group->n_parts; i++) {
        const struct cgroup_site *part = &group->parts[i];
        int *fd = part->version == 2 ? &door->into : &door->tasks[door->n_tasks++];
        *fd = part->version == 2 ? cgroup_file(part->directory, ".", O_RDONLY | O_DIRECTORY)
                                 : cgroup_file(part->directory, "tasks", O_WRONLY);
        if (*fd < 0) {
            int rc = laz_error_os(err, errno, "%s cannot be entered", part->directory);
            laz_cgroup_close(door);
            return rc;
        }
    }
    return 0;
}

void laz_cgroup_close(struct laz_cgroup_door *door)
{
    door->launcher = -1;
    laz_os_close(&door->into);
    for (size_t i = 0; i < door->n_tasks; i++)
        laz_os_close(&door->tasks[i]);
    door->n_tasks = 0;
}

/* The kernel checks the rights of the process that opened the file (cgroups(7)), and needs no grace
 * period for a process that moves only itself. */
int laz_cgroup_entries(const struct laz_cgroup *group, int *fds, size_t *n, struct laz_error *err)
{
    *n = 0;
    for (int i = 0; i < group->n_parts; i++) {
        const struct cgroup_site *part = &group->parts[i];
        int fd =
            cgroup_file(part->directory, part->version == 2 ? "cgroup.procs" : "tasks", O_WRONLY);
        if (fd < 0) {
            int rc = laz_error_os(err, errno, "%s cannot be entered", part->directory);
            while (*n)
                laz_os_close(&fds[--*n]);
            return rc;
        }
        fds[(*n)++] = fd;
    }
    return 0;
}

bool laz_cgroup_has(const struct laz_cgroup *group, int64_t pid)
{
    char text[8192];
    int found = 0;

    if (!group->n_parts)
        return true;
    const char *name = strrchr(group->parts[0].directory, '/');
    size_t len = strlen(name);
    if (!proc_read(pid, "cgroup", text, sizeof text))
        return false;
    for (const char *at = text; (at = strstr(at, name)); at += len)
        found += at[len] == '\n';
    return found == group->n_parts;
}

int laz_cgroup_put(const struct laz_cgroup *group, int64_t pid, struct laz_error *err)
{
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)pid);
    for (int i = 0; i < group->n_parts; i++) {
        int os_errno = cgroup_write(group->parts[i].directory, "cgroup.procs", number);
        if (os_errno)
            return laz_error_os(err, os_errno, "a process cannot be put into %s",
                                group->parts[i].directory);
    }
    return 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* A limit must not go unwatched because the application has used up its descriptors: then a spare
 * one makes way for the counter. */
static bool cgroup_count(const struct laz_cgroup *group, const struct cgroup_site *part,
                         struct counter *counter, const char *file, char *text, size_t size)
{
    if (counter_read(counter, part->directory, file, text, size))
        return true;
    if (errno != EMFILE && errno != ENFILE)
        return false;
    cgroup_lend_spare(group->owner);
    bool read = counter_read(counter, part->directory, file, text, size);
    counter_close(counter);
    cgroup_renew_spare(group->owner);
    return read;
}

uint64_t laz_cgroup_cpu_us(struct laz_cgroup *group)
{
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_CPU);
    char text[1024];

    if (!part ||
        !cgroup_count(group, part, &group->cpu, part->version == 2 ? "cpu.stat" : "cpuacct.usage",
                      text, sizeof text))
        return group->cpu_us;
    if (part->version == 1)
        group->cpu_us = strtoull(text, NULL, 10) / 1000; /* nanoseconds */
    else
        laz_cgroup_counter(text, "usage_usec", &group->cpu_us);
    return group->cpu_us;
}

uint64_t laz_cgroup_peak_bytes(struct laz_cgroup *group)
{
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_MEMORY);
    char text[32];

    /* memory.peak: Linux 5.19 */
    return part && cgroup_count(group, part, &group->peak,
                                part->version == 2 ? "memory.peak" : "memory.max_usage_in_bytes",
                                text, sizeof text)
               ? strtoull(text, NULL, 10)
               : 0;
}

struct laz_cgroup_event laz_cgroup_event(const struct laz_cgroup *group)
{
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_MEMORY);

    return (struct laz_cgroup_event){group->event_fd, part && part->version == 2};
}

uint64_t laz_cgroup_out_of_memory(struct laz_cgroup *group)
{
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_MEMORY);
    uint64_t value = 0, kills = 0;
    char text[1024];

    if (group->event_fd < 0)
        return 0;
    if (part->version == 2) { /* reading it resets the event */
        if (proc_text(group->event_fd, text, sizeof text))
            laz_cgroup_counter(text, "oom_kill", &value);
        return value;
    }
    if (read(group->event_fd, &value, sizeof value) == sizeof value)
        group->ran_out += value;
    if (!group->ran_out)
        return 0;
    /* the event comes before the kill, so the count of kills may be behind */
    if (cgroup_count(group, part, &group->kills, "memory.oom_control", text, sizeof text))
        laz_cgroup_counter(text, "oom_kill", &kills);
    return kills > group->ran_out ? kills : group->ran_out;
}

/* ---- ending --------------------------------------------------------------------------------- */

static bool cgroup_kill_parts(const struct laz_cgroup *group, int rounds)
{
    /* all parts have the same processes: version 2 kills them best, then the part of pids */
    for (int i = 0; i < group->n_parts; i++)
        if (group->parts[i].version == 2)
            return cgroup_kill_all(group->parts[i].directory, 2, rounds);
    const struct cgroup_site *part = cgroup_part(group, LAZ_CGROUP_PIDS);
    if (!part && group->n_parts)
        part = &group->parts[0];
    return !part || cgroup_kill_all(part->directory, part->version, rounds);
}

void laz_cgroup_kill(struct laz_cgroup *group)
{
    group->is_killed = true;
    cgroup_lend_spare(group->owner);
    (void)cgroup_kill_parts(group, 1);
    cgroup_renew_spare(group->owner);
}

bool laz_cgroup_end(struct laz_cgroup *group)
{
    group->is_killed = true;
    return cgroup_kill_parts(group, CGROUP_KILL_ROUNDS);
}
