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
#include "os/encoding.h"
#include "os/files.h"
#include "os/input.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/pidfd.h"
#include "os/placeholder.h"
#include "os/process_tree.h"
#include "os/programs.h"
#include "os/relay.h"
#include "os/shared_directory.h"
#include "os/signals.h"
#include "os/sockets.h"
#include "os/spawner.h"
#include "os/streams.h"
#include "os/system.h"
#include "os/terminal.h"
#include "os/users.h"

#include <errno.h>

/* clang-format off */
#define REFUSES(why, function, ...) \
    GIVES(int, function, laz_error_set(err, LAZ_EREFUSED, 0, why), \
          __VA_ARGS__, struct laz_error *err)
#define NO_SOCKET \
    laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets at paths", path)

GIVES(bool, laz_os_is_root, false, void)
GIVES(uint32_t, laz_os_uid, 0, void)
GIVES(bool, laz_os_is_private_group, false, uint32_t gid, uint32_t uid)
GIVES(char *, laz_os_shared_directory, NULL, void)
GIVES(int, laz_os_shared_use, -1, const char *path)
GIVES(char *, laz_os_shared_draft, NULL, const char *parent)
IGNORES(laz_os_shared_clean, const char *parent)
/* No backend of this system keeps code from writing in a part of a directory. */
GIVES(bool, laz_os_is_placeholder, false, const struct laz_look *look)
GIVES(int, laz_os_placeholder_take, laz_error_set(err, LAZ_EREFUSED, 0, "there are no placeholders"),
      const char *directory, const char *name, const char *text, int *fd, struct laz_error *err)
GIVES(char *, laz_os_link_text, NULL, const char *path)
GIVES(int, laz_os_hold, -1, const char *path)
IGNORES(laz_os_placeholder_drop, const char *directory, const char *name, int *fd)

/* Only calls that say so in io.h wait, and no foreign loop can. A child has the handles that were
 * listed for it, and no numbers. */
GIVES(int, laz_os_nonblock, 0, int fd, bool on, struct laz_error *err)
GIVES(int, laz_os_watchable, -1, int fd)
GIVES(int, laz_os_place, 0, int *fd, int to, struct laz_error *err)
GIVES(int, laz_os_dup_onto, (errno = ENOSYS, -1), int fd, int number)
GIVES(bool, laz_os_is_stream, false, int fd)
GIVES(bool, laz_os_is_pipe, false, int fd)
IGNORES(laz_os_give, int fd, uint32_t uid)
GIVES(bool, laz_os_is_terminal, false, int fd)
GIVES(bool, laz_os_can_lend, false, int fd)
IGNORES(laz_os_close_from, int first, int keep)
IGNORES(laz_os_await_reader, int fd, bool (*goes_on)(void *user), void *user)

/* Encodings have numbers there, and not these names. */
GIVES(bool, laz_os_to_utf8, false, const char *encoding, const char *text, size_t len,
      struct laz_buf *to)

/* There are no signals. */
GIVES(bool, laz_os_pidfd_interrupt, false, int pidfd, uint32_t number)
GIVES(bool, laz_os_on_interrupt, false, void (*interrupted)(uint32_t number))
IGNORES(laz_os_lead_group, void)
IGNORES(laz_os_take_terminal, void)
IGNORES(laz_os_interrupt_group, void)
IGNORES(laz_os_interrupt_others, void)
IGNORES(laz_os_bear_interrupts, void (*by_terminal)(void))

/* Standard input is not passed on: the agent finds its channel in the place of it (sockets.c). */
GIVES(int, laz_input_begin, (*input = NULL, *fd = -1, 0),
      int from, struct laz_input **input, int *fd, struct laz_error *err)
REFUSES("there are no pseudo-terminals on this system", laz_input_begin_into,
        int from, int to, struct laz_input **input)
GIVES(bool, laz_relay_has_terminal, false, void)
REFUSES("programs cannot be run on this system yet", laz_relay_begin,
        const struct laz_relay_options *options, struct laz_relay **relay)
GIVES(const int *, laz_relay_stream, NULL, const struct laz_relay *relay, int stream)
GIVES(struct laz_input *, laz_relay_input, NULL, const struct laz_relay *relay)
IGNORES(laz_relay_end, struct laz_relay *relay, bool waits)
IGNORES(laz_input_hold, struct laz_input *input, bool is_held)
IGNORES(laz_input_end, struct laz_input *input)
GIVES(int, laz_os_hold_streams, (held->n = 0, 0),
      struct laz_held_streams *held, struct laz_error *err)
IGNORES(laz_os_give_streams_back, struct laz_held_streams *held)
IGNORES(laz_os_hold_streams_in_forks, void)

/* There are no sockets at paths, and nobody is connected to a port. */
REFUSES("no connections are accepted on this system yet", laz_os_listen_loopback,
        const char *host, uint16_t *port, int *fd)
REFUSES("no connections are accepted on this system yet", laz_os_listen_address,
        const char *host, uint16_t *port, int *fd)
REFUSES("programs that run beside the calls of tools are for Linux and macOS", laz_os_stream_pair,
        int *ours, int *theirs)
GIVES(int, laz_os_let_wait, 0, int listener, int connections, struct laz_error *err)
IGNORES(laz_os_hang_up, int fd)
GIVES(int, laz_os_remove_dead_socket, NO_SOCKET, const char *path, struct laz_error *err)
GIVES(int, laz_os_remove_socket, NO_SOCKET, const char *path, struct laz_error *err)
GIVES(int, laz_os_bait_socket, NO_SOCKET, const char *path, int *fd, struct laz_error *err)
REFUSES("no backend of Windows prevents access to the network", laz_os_bait_port,
        int *fd, uint16_t *port)
REFUSES("on Windows nobody is asked at the console", laz_os_ask_terminal,
        const struct laz_buf *question, int cancel_fd, struct laz_buf *line)

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

/* No backend runs a program around the agent. */
GIVES(int64_t, laz_os_tree_first_child, -1, int64_t pid)
GIVES(int64_t, laz_os_tree_parent, -1, int64_t pid)

/* No backend hides files, and no rules refer to paths: none has to be listed. */
IGNORES(laz_os_program_known_fini, struct laz_program_known *known)
IGNORES(laz_os_links,
        const char *path, void (*visit)(void *user, const char *link, const char *text), void *user)
IGNORES(laz_os_program_directories,
        void (*visit)(void *user, const char *path, bool among_libraries), void *user)
IGNORES(laz_os_system_paths, bool programs, bool network,
        void (*visit)(void *user, uint32_t kind, const char *host, const char *box), void *user)
/* clang-format on */
