/* SPDX-License-Identifier: MIT */
/* unsupported.c - reports that what only Linux has is not available.  System: macOS, Windows.
 *
 * No caller asks which system it runs on: it asks for control groups, Landlock, a filter of system
 * calls or namespaces, and learns that there are none, as on a Linux without them.  The plan of the
 * backend confines a session here.  Every backend of these systems refuses templates, because
 * templates keep sessions apart by namespaces; what serves only templates fails here if it is
 * called all the same.
 *
 * Sessions have no uid of their own either.  On macOS a uid without an account is possible, but how
 * the directory service, the keychain and launchd(8) treat one was never tested, and sessions under
 * root's own uid would not be a sandbox: so root is refused, with a message that says what to do.
 */
#include "os/unsupported.h"

#include "os/cgroup.h"
#include "os/fd_passing.h"
#include "os/filter.h"
#include "os/heap.h"
#include "os/helper.h"
#include "os/landlock.h"
#include "os/launcher.h"
#include "os/library.h"
#include "os/mappings.h"
#include "os/namespaces.h"
#include "os/network.h"
#include "os/pidfd.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "os/packages.h"
#include "os/scope.h"
#include "os/system.h"
#include "os/uids.h"
#include "os/usage.h"
#include "os/users.h"
#include "os/warden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int unsupported_error(const char *what, struct laz_error *err)
{
    return laz_error_set(err, LAZ_ESETUP, 0, "this system has no %s; only Linux does", what);
}

void laz_cgroups_open(const struct laz_cgroups *groups, struct laz_cgroup_door *door)
{
    *door = (struct laz_cgroup_door){.launcher = -1, .into = -1};
}

/* clang-format off */
GIVES(const char *, laz_cgroups_mechanism, NULL,
      const struct laz_cgroups *groups, enum laz_cgroup_what what, bool to_enter)
/* A host that offers nothing is a valid result. */
GIVES(int, laz_cgroups_new, (*groups = NULL, 0),
      bool look, struct laz_cgroups **groups, struct laz_error *err)
GIVES(int, laz_cgroups_new_beside, (*groups = NULL, 0),
      const struct laz_cgroups *first, struct laz_cgroups **groups, struct laz_error *err)
IGNORES(laz_cgroups_free, struct laz_cgroups *groups)
GIVES(bool, laz_cgroups_are_lost, false, const struct laz_cgroups *groups)
GIVES(const char *, laz_cgroups_place, NULL, const struct laz_cgroups *groups)
FAILS("control groups", laz_cgroup_new, *group = NULL,
      struct laz_cgroups *groups, uint64_t memory_bytes, uint64_t pids, bool to_enter,
      struct laz_cgroup **group)
IGNORES(laz_cgroup_free, struct laz_cgroup *group)
FAILS("control groups", laz_cgroup_open, laz_cgroups_open(NULL, door),
      const struct laz_cgroup *group, struct laz_cgroup_door *door)
IGNORES(laz_cgroup_close, struct laz_cgroup_door *door)
FAILS("control groups", laz_cgroup_entries, *n = 0,
      const struct laz_cgroup *group, int *fds, size_t *n)
GIVES(bool, laz_cgroup_has, false, const struct laz_cgroup *group, int64_t pid)
FAILS("control groups", laz_cgroup_put, , const struct laz_cgroup *group, int64_t pid)
FAILS("control groups", laz_scope_ask, *scope = NULL,
      struct laz_spawner *spawner, const char *agent, struct laz_scope **scope)
GIVES(int, laz_scope_fd, -1, const struct laz_scope *scope)
FAILS("control groups", laz_scope_take, , struct laz_scope *scope, struct laz_cgroups *groups)
IGNORES(laz_scope_free, struct laz_scope *scope)
FAILS("control groups", laz_launcher_child, ,
      int fd, const struct laz_spawn *spawn, int warden, uint64_t ms, struct laz_process *process)
FAILS("control groups", laz_os_launcher, , const char *group)
GIVES(uint64_t, laz_cgroup_cpu_us, 0, struct laz_cgroup *group)
GIVES(uint64_t, laz_cgroup_peak_bytes, 0, struct laz_cgroup *group)
GIVES(struct laz_cgroup_event, laz_cgroup_event, ((struct laz_cgroup_event){.fd = -1}),
      const struct laz_cgroup *group)
GIVES(uint64_t, laz_cgroup_out_of_memory, 0, struct laz_cgroup *group)
IGNORES(laz_cgroup_kill, struct laz_cgroup *group)
GIVES(bool, laz_cgroup_end, false, struct laz_cgroup *group)

GIVES(int, laz_os_landlock_abi, 0, void)
FAILS("Landlock", laz_os_landlock_make, *ruleset = -1,
      int abi, bool lets_network, const struct laz_landlock_rule *rules, size_t n,
      const struct laz_landlock_kept *kept, int *ruleset)
GIVES(int, laz_os_landlock_keep, 0,
      const struct laz_landlock_rule *rules, size_t n, bool (*fixed)(const char *path, void *user),
      void *user, struct laz_landlock_kept *kept, struct laz_error *err)
IGNORES(laz_os_landlock_close_others, const struct laz_landlock_kept *kept, int first)
IGNORES(laz_os_landlock_check_kept, struct laz_landlock_kept *kept)
GIVES(bool, laz_os_landlock_close_kept, true, struct laz_landlock_kept *kept)
FAILS("Landlock", laz_os_landlock_enter, , int ruleset)

GIVES(bool, laz_library_is_listed, false, const char *name)
GIVES(bool, laz_os_own_usage, false, struct laz_own_usage *usage)

/* Settings of the allocator. */
IGNORES(laz_heap_keep, int kept)
IGNORES(laz_heap_note, struct laz_heap *heap)
GIVES(bool, laz_heap_has_grown, false, const struct laz_heap *heap)
IGNORES(laz_heap_give_back, void)

/* Programs beside untrusted code. */
GIVES(bool, laz_os_helper_start, false,
      const char *program, const char *const *argv, int input, int output)
GIVES(int, laz_os_make_named_pipe, -1, const char *path)

/* Templates. */
FAILS("filters of system calls", laz_os_filter_ahead, , const char *name)
FAILS("filters of system calls", laz_os_filter_rest, , const char *name)
GIVES(unsigned, laz_os_threads, 0, void)
IGNORES(laz_os_one_heap, void)
IGNORES(laz_os_large_pages, void)
IGNORES(laz_os_core_find, struct laz_os_core *core)
IGNORES(laz_os_core_keep, const struct laz_os_core *core)
FAILS("namespaces", laz_os_clone_apart, *pid = -1, bool network, pid_t *pid)
FAILS("namespaces", laz_os_map_ids, , uint32_t uid, uint32_t gid)
FAILS("namespaces", laz_os_own_mounts, , const struct laz_own_mounts *mounts, uint32_t last_pid)
GIVES(bool, laz_os_own_mounts_change, true, const struct laz_own_mounts *mounts, const char *path)
GIVES(bool, laz_os_own_cgroup_root, false, void)
GIVES(int, laz_os_bound_capabilities, unsupported_error("capabilities", err),
      struct laz_error *err)
GIVES(int, laz_os_drop_capabilities, unsupported_error("capabilities", err), struct laz_error *err)
IGNORES(laz_os_set_open, bool open)
IGNORES(laz_os_default_signals, void)
FAILS("sockets that report the sender", laz_os_channel, *host = *other = -1, int *host, int *other)
GIVES(int, laz_os_message_pair, (ends[0] = ends[1] = -1, errno = ENOSYS, -1), int ends[2])
GIVES(ssize_t, laz_os_read_sender,
      (*sender = (struct laz_sender){.uid = UINT32_MAX}, errno = ENOSYS, -1),
      int fd, void *data, size_t len, struct laz_sender *sender)
IGNORES(laz_os_forget_senders, int fd)
GIVES(int, laz_os_send_fds, ENOSYS,
      int fd, const void *data, size_t len, const int *fds, size_t n)
FAILS("pid namespaces", laz_os_adopt, *pidfd = -1, int64_t pid, uint64_t above, int *pidfd)

FAILS("network namespaces", laz_os_network_listen, *network = LAZ_OS_NETWORK_NONE,
      const struct laz_os_network_of *of, const uint16_t *ports, size_t n,
      struct laz_os_network *network)
IGNORES(laz_os_network_close, struct laz_os_network *network)
GIVES(ssize_t, laz_os_network_hear, -1, const struct laz_os_network *network,
      uint8_t head[LAZ_OS_WATCH_BYTES])

/* The end of a host. */
GIVES(bool, laz_warden_is_up, true, const struct laz_warden *warden) /* none is ever started */
FAILS("parent-death signals", laz_warden_start, ,
      struct laz_warden *warden, uint64_t ms, struct laz_process *process)
IGNORES(laz_warden_include, const struct laz_warden *warden, const struct laz_process *leader)
GIVES(bool, laz_warden_take, true, int fd, int signal)
GIVES(int, laz_os_warden, 1, void)

GIVES(int, laz_uids_take,
      laz_error_set(err, LAZ_EREFUSED, 0, "there are no uids for sessions on this system"),
      struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
IGNORES(laz_uids_free, struct laz_uids *uids)
IGNORES(laz_uids_give_back, struct laz_uids *uids, uint32_t uid)
GIVES(bool, laz_os_end_all_of, false, uint32_t uid) /* there is no uid of a session */

/* A job of Windows counts all processes in it, and macOS reports children. Nothing tells which locks
 * they have. */
GIVES(bool, laz_os_tree_can_be_seen, true, void)
GIVES(const char *, laz_os_tree_misses_cpu, NULL, void)
GIVES(const char *, laz_os_tree_misses_memory, NULL, void)
GIVES(bool, laz_os_tree_locks_are_due, false, struct laz_tree *tree)
GIVES(bool, laz_os_tree_find_locks, true, struct laz_tree *tree)
GIVES(uint64_t, laz_os_tree_tcp_bytes, 0, bool is_bounded)

GIVES(unsigned, laz_os_usable_processors, laz_os_processors(), void)
IGNORES(laz_os_package_configuration,
        const char *info, const struct laz_strv *prefixes, struct laz_strv *paths)
/* clang-format on */

int laz_os_filter(const char *name, struct laz_error *err)
{
    if (strcmp(name, LAZ_FILTER_SESSION) != 0 && strcmp(name, LAZ_FILTER_NETWORK) != 0 &&
        strcmp(name, LAZ_FILTER_SAME_USER) != 0)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is no filter of system calls \"%s\"", name);
    return unsupported_error("filters of system calls", err);
}

void laz_warden_end(struct laz_warden *warden)
{
    free(warden->program);
    warden->program = NULL;
}

int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err)
{
    *uids = NULL;
    if (!laz_os_is_root())
        return laz_error_set(err, LAZ_EREFUSED, 0, "only root can give sessions uids of their own");
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "sessions of root need uids of their own, which lazaret cannot give them "
                         "on macOS: run it as an ordinary user");
}
