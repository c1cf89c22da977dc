/* SPDX-License-Identifier: MIT */
/* cgroup_text.h - reading the kernel's texts about control groups, without accessing any. */
#ifndef LAZ_OS_CGROUP_TEXT_H
#define LAZ_OS_CGROUP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The directory of the process's own group in the hierarchy of a controller ("memory"; "": version
 * 2), from the texts of /proc/self/mountinfo and /proc/self/cgroup (proc(5), cgroups(7)). NULL when
 * the hierarchy is not mounted, or the group is outside the mounted part. `*top`: length of the
 * mount point in bytes. */
char *laz_cgroup_directory(const char *mountinfo, const char *self, const char *controller,
                           size_t *top);
/* A field of mountinfo with \040 and the like decoded: gives a new string; NULL: out of memory. */
char *laz_mount_unescape(const char *text, size_t len);
/* Is the word an item of a list of this length, whose items end with one of the separators? */
bool laz_cgroup_lists(const char *list, size_t len, const char *separators, const char *word);
/* A line "KEY NUMBER" of a file of counters. */
bool laz_cgroup_counter(const char *text, const char *key, uint64_t *value);
/* The names of our groups say who made them: "lazaret-NAMESPACE-PID-START-NUMBER". */
struct laz_cgroup_name {
    uint64_t pid_namespace, pid, start, number;
};
bool laz_cgroup_name_parse(const char *text, struct laz_cgroup_name *name);
/* Is a process with this /proc/PID/cgroup in a group of the name? */
bool laz_cgroup_is_named(const char *self, const char *name);

#endif
