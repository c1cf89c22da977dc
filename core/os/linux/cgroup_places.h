/* SPDX-License-Identifier: MIT */
/* cgroup_places.h - where this process may make control groups. */
#ifndef LAZ_OS_LINUX_CGROUP_PLACES_H
#define LAZ_OS_LINUX_CGROUP_PLACES_H

#include "base/buf.h"
#include "os/cgroup.h"
#include "os/cgroup_text.h"

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
    struct laz_strv busy;    /* directories that could not be removed yet */
    struct laz_cgroup *kept; /* empty, for the next sessions; see laz_cgroup_free */
    unsigned n_kept;
    bool out_of_memory; /* an allocation failed during the search: the places may be incomplete */
};

/* Removes a group, or adds it to the busy ones. */
void cgroup_remove(struct laz_cgroups *groups, const char *folder);
/* Tries to remove the busy ones again. */
void cgroup_remove_busy(struct laz_cgroups *groups);

#endif
