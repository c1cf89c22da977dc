/* SPDX-License-Identifier: MIT */
/* unsupported.c - answers for what other systems have.  System: Windows.
 *
 * There are no uids, and sessions have the user of the host, also those of an administrator.
 * Engines share no directory: the files that would be staged in it for sessions need owners and
 * modes.  Listeners to test a session with would be used only where a backend promises that it
 * cannot reach them. */
#include "os/unsupported.h"

#include "os/bait.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/process_tree.h"
#include "os/programs.h"
#include "os/shared_directory.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/terminal.h"
#include "os/users.h"

/* clang-format off */
GIVES(bool, laz_os_is_root, false, void)
GIVES(uint32_t, laz_os_uid, 0, void)
GIVES(bool, laz_os_is_private_group, false, uint32_t gid, uint32_t uid)
GIVES(char *, laz_os_shared_directory, NULL, void)
GIVES(int, laz_os_shared_use, -1, const char *path)
GIVES(char *, laz_os_shared_draft, NULL, const char *parent)
IGNORES(laz_os_shared_clean, const char *parent)

/* Only calls that say so in io.h wait, and no foreign loop can. A child has the handles that were
 * listed for it, and no numbers. */
GIVES(int, laz_os_nonblock, 0, int fd, bool on, struct laz_error *err)
GIVES(int, laz_os_watchable, -1, int fd)
GIVES(int, laz_os_place, 0, int *fd, int to, struct laz_error *err)
IGNORES(laz_os_close_from, int first, int keep)

/* No program gains more rights than the process that starts it. Orphans stay in the job, which ends
 * all of its processes with its last handle, the parent's. */
GIVES(int, laz_os_no_new_privs, 0, struct laz_error *err)
GIVES(int, laz_os_set_quotas, LAZ_ENOENT, struct laz_error *err)
GIVES(bool, laz_os_inherit_orphans, true, void)
GIVES(bool, laz_os_die_with_parent, true, int64_t parent, int signal)
GIVES(int, laz_spawner_guard, 0,
      struct laz_spawner *spawner, const char *agent, struct laz_error *err)
IGNORES(laz_spawner_expect, struct laz_spawner *spawner)
IGNORES(laz_spawner_include, struct laz_spawner *spawner, const struct laz_process *leader)

/* A job counts all processes in it, and no backend runs a program around the agent. */
GIVES(bool, laz_os_tree_can_be_seen, true, void)
GIVES(const char *, laz_os_tree_misses_cpu, NULL, void)
GIVES(const char *, laz_os_tree_misses_memory, NULL, void)
GIVES(bool, laz_os_tree_locks_are_due, false, struct laz_tree *tree)
GIVES(bool, laz_os_tree_find_locks, true, struct laz_tree *tree)
GIVES(int64_t, laz_os_tree_first_child, -1, int64_t pid)
GIVES(int64_t, laz_os_tree_parent, -1, int64_t pid)

/* No backend hides files, and no rules refer to paths: none has to be listed. */
IGNORES(laz_os_links,
        const char *path, void (*visit)(void *user, const char *link, const char *text), void *user)
IGNORES(laz_os_program_directories,
        void (*visit)(void *user, const char *path, bool among_libraries), void *user)
IGNORES(laz_os_system_paths, bool programs,
        void (*visit)(void *user, uint32_t kind, const char *host, const char *box), void *user)
/* clang-format on */

int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "no backend of Windows prevents access to the network");
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets with a path", path);
}

int laz_os_ask_terminal(const struct laz_buf *question, int cancel_fd, struct laz_buf *line,
                        struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "on Windows nobody is asked at the console");
}

int laz_os_query_terminal(int shown, const char *question, char final, uint64_t ms,
                          struct laz_buf *answer, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "on Windows the console is not asked");
}
