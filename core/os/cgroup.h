/* SPDX-License-Identifier: MIT */
/* cgroup.h - control groups (cgroups(7)): the usage of a session as a whole, and its limits.
 *
 * A host may have version 2, version 1 or both, and lazaret may have the right to make groups in
 * none of them.  Each resource is looked up by itself; the caller has to make up for one that is
 * missing, and to report it. */
#ifndef LAZ_OS_CGROUP_H
#define LAZ_OS_CGROUP_H

#include "base/error.h"

enum laz_cgroup_what {
    LAZ_CGROUP_MEMORY, /* memory and swap together; tmpfs and the kernel's own share count */
    LAZ_CGROUP_PIDS,   /* processes and threads */
    LAZ_CGROUP_CPU,    /* CPU time, counted and not limited */
    LAZ_CGROUP_SHARE,  /* the share of the processors, where they do not suffice for all */
    LAZ_CGROUP_WHATS,
};

/* ---- what this host gives ------------------------------------------------------------------- */

struct laz_cgroups;
struct laz_cgroup;

/* Finds where this process may make groups: inside its own, or where the system's manager delegated
 * a part of the tree to it; never beside a group whose limits it would escape. It kills and removes
 * what dead hosts left there. `look`: changes nothing, to show what it would do. It fails only when
 * an allocation failed: a host that offers nothing is a valid result. */
int laz_cgroups_new(bool look, struct laz_cgroups **groups, struct laz_error *err);
/* For one more engine of a group of engines, each with a thread of its own: sessions of it and of
 * `first` (NULL: none) share what one engine's get of the processors. `first` must not change
 * meanwhile, and may be freed before or after. Where the user's systemd gives the groups (scope.h),
 * each engine has a share. */
int laz_cgroups_new_beside(const struct laz_cgroups *first, struct laz_cgroups **groups,
                           struct laz_error *err);
/* The groups made with it must have been freed. Waits a moment for those that are still busy. */
void laz_cgroups_free(struct laz_cgroups *groups);
/* The groups are made in a scope (scope.h), and its launcher is gone: no new ones can be used, and
 * laz_cgroups_mechanism gives no name any more. Not while a process is started through it. */
bool laz_cgroups_are_lost(const struct laz_cgroups *groups);
/* The directory in which groups that limit memory are made; NULL: none. Borrowed. */
const char *laz_cgroups_place(const struct laz_cgroups *groups);
/* "cgroup-v2", "cgroup-v1", or NULL. `to_enter`: of such a group, see laz_cgroup_new. */
const char *laz_cgroups_mechanism(const struct laz_cgroups *groups, enum laz_cgroup_what what,
                                  bool to_enter);

/* ---- one session's group -------------------------------------------------------------------- */

#define LAZ_CGROUP_NO_LIMIT UINT64_MAX

/* Makes a group, with the limits for which laz_cgroups_mechanism gave a name. Errors leave nothing
 * behind. `to_enter`: its processes enter by themselves (laz_cgroup_entries). In version 2 the
 * kernel lets a process in only after a grace period, some ten milliseconds, unless it is born
 * inside; so what version 1 offers as well is taken from there where other parts are of version 1
 * anyway. */
int laz_cgroup_new(struct laz_cgroups *groups, uint64_t memory_bytes, uint64_t pids, bool to_enter,
                   struct laz_cgroup **group, struct laz_error *err);
/* Removes it. One that is still busy is remembered, and removed later. One to enter that is as good
 * as new (empty, no limit was hit, its counters can be reset: version 1) is kept for the next
 * session. */
void laz_cgroup_free(struct laz_cgroup *group);

/* What a new process needs to be in the group before it runs anything (struct laz_spawn). */
struct laz_cgroup_door {
    int launcher;                /* borrowed: starts it (launcher.h); -1: the host itself does */
    int into;                    /* directory for CLONE_INTO_CGROUP; -1: none */
    int tasks[LAZ_CGROUP_WHATS]; /* files to write "0" to, of version 1 */
    size_t n_tasks;
};
int laz_cgroup_open(const struct laz_cgroup *group, struct laz_cgroup_door *door,
                    struct laz_error *err);
/* For a process in no group, whose descendants are to enter some. */
void laz_cgroups_open(const struct laz_cgroups *groups, struct laz_cgroup_door *door);
void laz_cgroup_close(struct laz_cgroup_door *door);
/* For a process that cannot be started through a door: files, at most LAZ_CGROUP_WHATS of them, to
 * each of which it writes "0" to enter, whatever its own rights are. The caller closes them. */
int laz_cgroup_entries(const struct laz_cgroup *group, int *fds, size_t *n, struct laz_error *err);
/* Is the process in it, with every part? */
bool laz_cgroup_has(const struct laz_cgroup *group, int64_t pid);
/* Moves the process in by its id, for one that has not entered by itself. It may cost the kernel
 * some tens of milliseconds. */
int laz_cgroup_put(const struct laz_cgroup *group, int64_t pid, struct laz_error *err);

/* CPU time of all that ran in it (where it cannot be read now: the last that was read), and the
 * most memory that it held; 0: not known. */
uint64_t laz_cgroup_cpu_us(struct laz_cgroup *group);
uint64_t laz_cgroup_peak_bytes(struct laz_cgroup *group);
/* Has an event when a process may have been killed because memory ran out. Borrowed. */
struct laz_cgroup_event {
    int fd;         /* -1: there is no such event */
    bool is_urgent; /* the event is urgent data (POLLPRI); else `fd` is readable */
};
struct laz_cgroup_event laz_cgroup_event(const struct laz_cgroup *group);
/* How often memory ran out in it. */
uint64_t laz_cgroup_out_of_memory(struct laz_cgroup *group);
/* Kills what is in it, and does not wait. */
void laz_cgroup_kill(struct laz_cgroup *group);
/* Kills all that is in it, and waits a second for the end of those that take long. True: nothing is
 * left, or will be in a moment. Any thread, when nobody else uses the group. */
bool laz_cgroup_end(struct laz_cgroup *group);

#endif
