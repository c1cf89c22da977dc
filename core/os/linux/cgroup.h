/* SPDX-License-Identifier: MIT */
/* cgroup.h - between the parts of the control groups: the groups (cgroup.c), where they may be made
 * (cgroup_sites.c), and their files (cgroup_files.c). */
#ifndef LAZ_OS_LINUX_CGROUP_H
#define LAZ_OS_LINUX_CGROUP_H

#include "base/buf.h"
#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/process.h"

#include <stdatomic.h>

#define CGROUP_NAME_SIZE     128
#define CGROUP_NAME_TRIES    1000
#define CGROUP_DIRECTORY_MAX 4096

/* A directory: of one group, or in which groups are made. */
struct cgroup_site {
    int version; /* 0: none */
    char *directory;
};

/* The sites: one for each resource, and that for CPU time of groups to enter, if it is not the
 * same; see laz_cgroup_new. */
#define CGROUP_CPU_TO_ENTER LAZ_CGROUP_WHATS
#define CGROUP_PLACES       (LAZ_CGROUP_WHATS + 1)

#define CGROUP_SPARES 2 /* what a kill needs: the process, and what /proc says of it */

/* The group of all those that have a share of the processors: of one engine, or of a group of
 * engines, each in a thread of its own. */
struct cgroup_nest {
    char *directory;
    atomic_uint holders; /* the last one removes it */
    atomic_uint engines; /* that have been in it: each counts its groups from a number of its own */
};

struct laz_cgroups {
    struct cgroup_site sites[CGROUP_PLACES];
    struct cgroup_nest *nest;    /* NULL: none */
    struct laz_cgroup_name next; /* of the next group */
    int in_use[CGROUP_PLACES];   /* a file of each site, locked as long as this host lives */
    int n_in_use;
    struct laz_strv busy;    /* directories that could not be removed yet */
    struct laz_cgroup *kept; /* empty, for the next sessions; see laz_cgroup_free */
    unsigned n_kept;
    int spare[CGROUP_SPARES]; /* descriptors, see cgroup_lend_spare */
    bool out_of_memory; /* an allocation failed during the search: the sites may be incomplete */
    struct laz_process launcher; /* of a scope, and the connection to it; -1: none */
    int launcher_fd;
};

/* ---- groups --------------------------------------------------------------------------------- */

void cgroup_next_name(struct laz_cgroups *groups, char *name, size_t size);
void cgroup_drop_kept(struct laz_cgroups *groups);

/* ---- sites --------------------------------------------------------------------------------- */

/* Has the sites in which that process, in another part of the tree, may make groups instead; takes
 * the process and `fd` of its launcher if it succeeds. No group may have been made. LAZ_EREFUSED:
 * memory and processes cannot be limited there, or limits on this process would not hold there. */
int cgroup_move_places(struct laz_cgroups *groups, struct laz_process *launcher, int *fd,
                       struct laz_error *err);
/* The directory of this process's own group of version 2, a new string; NULL: none is known. *top
 * as laz_cgroup_directory gives it. */
char *cgroup_own_v2(size_t *top);
/* Are the controllers of memory and processes of version 2 on this host? */
bool cgroup_v2_can_limit(void);
/* Removes a group, or adds it to the busy ones. */
void cgroup_remove(struct laz_cgroups *groups, const char *directory);
void cgroup_remove_busy(struct laz_cgroups *groups);

/* ---- files ---------------------------------------------------------------------------------- */

/* Opens a file of a group: a descriptor, or -1. */
int cgroup_file(const char *directory, const char *file, int flags);
/* Writes a text to a file of a group: the kernel's answer as an errno; 0: accepted. */
int cgroup_write(const char *directory, const char *file, const char *text);
/* The text of a file of a group, at most `size` - 1 bytes, "" when there is none; false: an error.
 */
bool cgroup_read(const char *directory, const char *file, char *text, size_t size);
/* An engine keeps descriptors for the case that the application has used up all others: closes them
 * so that files of a group can be opened, and opens them again. Renewing: 0, or an errno. */
void cgroup_lend_spare(struct laz_cgroups *groups);
int cgroup_renew_spare(struct laz_cgroups *groups);
/* Kills all that is in a group, and looks again after a moment, so many times in all. True when
 * nothing is left; false: something may be. */
#define CGROUP_KILL_ROUNDS 200
bool cgroup_kill_all(const char *directory, int version, int rounds);

#endif
