/* SPDX-License-Identifier: MIT */
/* cgroup_places.h - between where groups are made (cgroup_places.c) and what one does
 * (cgroup.c). */
#ifndef LAZ_OS_LINUX_CGROUP_PLACES_H
#define LAZ_OS_LINUX_CGROUP_PLACES_H

#include "base/buf.h"
#include "os/cgroup.h"

struct cgroup_place {
    int version;  /* 0: none */
    char *folder; /* in which groups are made */
};

struct laz_cgroups {
    struct cgroup_place places[LAZ_CGROUP_WHATS];
    struct cgroup_place
        cpu_to_enter;            /* in place of that of version 2; see laz_cgroup_new_to_enter */
    char *nest;                  /* the group of all those that have a share; NULL: none */
    struct laz_cgroup_name next; /* of the next group */
    int in_use[LAZ_CGROUP_WHATS + 1]; /* a file of each place, locked as long as this host lives */
    int n_in_use;
    struct laz_strv busy;    /* folders that could not be removed yet */
    struct laz_cgroup *kept; /* empty, for the next sessions; see laz_cgroup_free */
    unsigned n_kept;
    bool out_of_memory; /* while looking: what was found may not be all */
};

#define CGROUP_FOLDER_MAX 4096
#define CGROUP_NAME_SIZE  128
#define CGROUP_NAME_TRIES 1000

/* Opens a file of a group: a descriptor, or -1. */
int cgroup_file(const char *folder, const char *file, int flags);
/* A file of a group: what the kernel says to the text, as an errno; 0: it took it. */
int cgroup_write(const char *folder, const char *file, const char *text);
/* Whole text, at most `size` - 1 bytes, "" when there is none; false: it cannot be read. */
bool cgroup_read(const char *folder, const char *file, char *text, size_t size);
/* Kills all that is in a group. True when nothing is left. */
bool cgroup_kill_all(const char *folder, int version);
/* Removes it, or remembers it among the busy ones. */
void cgroup_remove(struct laz_cgroups *groups, const char *folder);
/* The name of the next group. */
void cgroup_next_name(struct laz_cgroups *groups, char *name, size_t size);
/* Tries again with those that were busy. */
void cgroup_remove_busy(struct laz_cgroups *groups);
/* Removes those that were kept. */
void cgroup_drop_kept(struct laz_cgroups *groups);

#endif
