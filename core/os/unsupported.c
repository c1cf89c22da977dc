/* SPDX-License-Identifier: MIT */
/* unsupported.c - reports that what only Linux has is not available.  System: macOS, Windows.
 *
 * No caller asks which system it runs on: it asks for control groups, Landlock, a filter of system
 * calls or namespaces, and learns that there are none, as on a Linux without them.  The plan of the
 * backend confines a session here.  Every backend of these systems refuses templates, because
 * templates keep sessions apart by namespaces; what serves only templates fails here if it is
 * called all the same. */
#include "os/cgroup.h"
#include "os/fd_passing.h"
#include "os/filter.h"
#include "os/landlock.h"
#include "os/namespaces.h"
#include "os/pidfd.h"
#include "os/process.h"
#include "os/warden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int unsupported_error(const char *what, struct laz_error *err)
{
    return laz_error_set(err, LAZ_ESETUP, 0, "this system has no %s; only Linux does", what);
}

/* ---- control groups ------------------------------------------------------------------------- */

int laz_cgroups_new(bool look, struct laz_cgroups **groups, struct laz_error *err)
{
    (void)look;
    (void)err;
    *groups = NULL;
    return 0;
}

void laz_cgroups_free(struct laz_cgroups *groups)
{
    (void)groups;
}

const char *laz_cgroups_mechanism(const struct laz_cgroups *groups, enum laz_cgroup_what what,
                                  bool to_enter)
{
    (void)groups;
    (void)what;
    (void)to_enter;
    return NULL;
}

int laz_cgroup_new(struct laz_cgroups *groups, uint64_t memory_bytes, uint64_t pids, bool to_enter,
                   struct laz_cgroup **group, struct laz_error *err)
{
    (void)groups;
    (void)memory_bytes;
    (void)pids;
    (void)to_enter;
    *group = NULL;
    return unsupported_error("control groups", err);
}

void laz_cgroup_free(struct laz_cgroup *group)
{
    (void)group;
}

int laz_cgroup_open(const struct laz_cgroup *group, struct laz_cgroup_door *door,
                    struct laz_error *err)
{
    (void)group;
    *door = (struct laz_cgroup_door){.into = -1};
    return unsupported_error("control groups", err);
}

void laz_cgroup_close(struct laz_cgroup_door *door)
{
    (void)door;
}

int laz_cgroup_entries(const struct laz_cgroup *group, int *fds, size_t *n, struct laz_error *err)
{
    (void)group;
    (void)fds;
    *n = 0;
    return unsupported_error("control groups", err);
}

bool laz_cgroup_has(const struct laz_cgroup *group, int64_t pid)
{
    (void)group;
    (void)pid;
    return false;
}

int laz_cgroup_put(const struct laz_cgroup *group, int64_t pid, struct laz_error *err)
{
    (void)group;
    (void)pid;
    return unsupported_error("control groups", err);
}

uint64_t laz_cgroup_cpu_us(const struct laz_cgroup *group)
{
    (void)group;
    return 0;
}

uint64_t laz_cgroup_peak_bytes(const struct laz_cgroup *group)
{
    (void)group;
    return 0;
}

int laz_cgroup_event_fd(const struct laz_cgroup *group)
{
    (void)group;
    return -1;
}

uint64_t laz_cgroup_out_of_memory(struct laz_cgroup *group)
{
    (void)group;
    return 0;
}

bool laz_cgroup_kill(struct laz_cgroup *group)
{
    (void)group;
    return false;
}

/* ---- Landlock and filters ------------------------------------------------------------------- */

int laz_os_landlock_abi(void)
{
    return 0;
}

int laz_os_landlock_make(int abi, const struct laz_landlock_rule *rules, size_t n, int *ruleset,
                         struct laz_error *err)
{
    (void)abi;
    (void)rules;
    (void)n;
    *ruleset = -1;
    return unsupported_error("Landlock", err);
}

int laz_os_landlock_enter(int ruleset, struct laz_error *err)
{
    (void)ruleset;
    return unsupported_error("Landlock", err);
}

int laz_os_filter(const char *name, struct laz_error *err)
{
    if (strcmp(name, LAZ_FILTER_SESSION) != 0 && strcmp(name, LAZ_FILTER_SAME_USER) != 0)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is no filter of system calls \"%s\"", name);
    return unsupported_error("filters of system calls", err);
}

/* ---- namespaces: templates ------------------------------------------------------------------ */

unsigned laz_os_threads(void)
{
    return 0;
}

void laz_os_one_heap(void)
{
}

void laz_os_large_pages(void)
{
}

int laz_os_clone_apart(pid_t *pid, struct laz_error *err)
{
    *pid = -1;
    return unsupported_error("namespaces", err);
}

int laz_os_map_ids(uint32_t uid, uint32_t gid, struct laz_error *err)
{
    (void)uid;
    (void)gid;
    return unsupported_error("namespaces", err);
}

int laz_os_own_mounts(const struct laz_own_mounts *mounts, uint32_t last_pid, struct laz_error *err)
{
    (void)mounts;
    (void)last_pid;
    return unsupported_error("namespaces", err);
}

bool laz_os_own_cgroup_root(void)
{
    return false;
}

int laz_os_bound_capabilities(struct laz_error *err)
{
    return unsupported_error("capabilities", err);
}

int laz_os_drop_capabilities(struct laz_error *err)
{
    return unsupported_error("capabilities", err);
}

void laz_os_set_open(bool open)
{
    (void)open;
}

void laz_os_default_signals(void)
{
}

int laz_os_channel(int *host, int *other, struct laz_error *err)
{
    *host = *other = -1;
    return unsupported_error("sockets that report the sender", err);
}

int laz_os_message_pair(int ends[2])
{
    ends[0] = ends[1] = -1;
    errno = ENOSYS;
    return -1;
}

ssize_t laz_os_read_sender(int fd, void *data, size_t len, struct laz_sender *sender)
{
    (void)fd;
    (void)data;
    (void)len;
    *sender = (struct laz_sender){.uid = UINT32_MAX};
    errno = ENOSYS;
    return -1;
}

void laz_os_forget_senders(int fd)
{
    (void)fd;
}

int laz_os_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n)
{
    (void)fd;
    (void)data;
    (void)len;
    (void)fds;
    (void)n;
    return ENOSYS;
}

int laz_os_adopt(int64_t pid, uint64_t above, int *pidfd, struct laz_error *err)
{
    (void)pid;
    (void)above;
    *pidfd = -1;
    return unsupported_error("pid namespaces", err);
}

/* ---- the end of a host ---------------------------------------------------------------------- */

bool laz_warden_is_up(const struct laz_warden *warden)
{
    (void)warden;
    return true; /* none is ever started */
}

int laz_warden_start(struct laz_warden *warden, uint64_t ms, struct laz_process *process,
                     struct laz_error *err)
{
    (void)ms;
    (void)warden;
    (void)process;
    return unsupported_error("parent-death signals", err);
}

void laz_warden_end(struct laz_warden *warden)
{
    free(warden->program);
    warden->program = NULL;
}

bool laz_warden_take(int fd, int signal)
{
    (void)fd;
    (void)signal;
    return true;
}

int laz_os_warden(void)
{
    return 1;
}
