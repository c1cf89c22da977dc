/* SPDX-License-Identifier: MIT */
/* warden.h - a process that outlives its host, to end what a killed host has left behind.
 *
 * The parent-death signal reaches one process and is not inherited (prctl(2), PR_SET_PDEATHSIG):
 * processes that it has started are left when the signal kills it before it could end them.
 * bubblewrap's second process then sleeps for ever, and so does whatever a tool's program has
 * started.  Each child with a death signal and a process group of its own therefore registers its
 * group with the host's warden before it runs its program; the warden sends the same signal to each
 * group when the host is gone.  A process that leaves such a group before it asks for a death
 * signal of its own (bubblewrap's second one) is registered by the host. */
#ifndef LAZ_OS_WARDEN_H
#define LAZ_OS_WARDEN_H

#include "base/error.h"
#include "os/process.h"

struct laz_warden {
    char *program; /* started with --warden; NULL: there is none (macOS, Windows: never) */
    int fd;        /* connected to it; -1 */
};

/* ---- in the host, by its spawner ------------------------------------------------------------ */

/* Is it running, or impossible to have? */
bool laz_warden_is_up(const struct laz_warden *warden);
/* Connects *warden, whose descriptor is -1. The warden is not a child of the host: *process, which
 * the caller closes, is a process that starts it and ends. It is set from its first moment on, so
 * that the caller can kill one that takes too long. `ms`: the time that it may take. */
int laz_warden_start(struct laz_warden *warden, uint64_t ms, struct laz_process *process,
                     struct laz_error *err);
/* Registers the group of a process that a child has started: it gets SIGKILL when the host has
 * ended. Does not wait: a warden that does not listen, or is gone, is not told. */
void laz_warden_include(const struct laz_warden *warden, const struct laz_process *leader);
/* The host has no more children: the warden ends, and signals no process. */
void laz_warden_end(struct laz_warden *warden);

/* ---- in a child, between fork and exec ------------------------------------------------------ */

/* Registers the group of the calling process: it gets the signal when the host has ended. False:
 * the warden is gone. */
bool laz_warden_take(int fd, int signal);

/* ---- the warden ----------------------------------------------------------------------------- */

/* Runs the warden: descriptor 0 is connected to the host, 3 is the host (pidfd_open(2)). Returns
 * the exit status. */
int laz_os_warden(void);

#endif
