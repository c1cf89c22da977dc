/* SPDX-License-Identifier: MIT */
/* warden.h - a process that outlives its host, to end what a host that was killed has left.
 *
 * The parent-death signal reaches one process and is not inherited (prctl(2), PR_SET_PDEATHSIG):
 * what that process has started is left when the signal kills it before it could care for its own
 * end.  bubblewrap's second process sleeps for ever then, and so does whatever a tool's program has
 * started.  Each child with a death signal and a process group of its own therefore puts its group
 * into the care of the host's warden before it runs its program; the warden sends the same signal
 * to each group when the host is gone. */
#ifndef LAZ_OS_WARDEN_H
#define LAZ_OS_WARDEN_H

#include "base/error.h"
#include "os/process.h"

struct laz_warden {
    char *program; /* started with --warden; NULL: there is none (macOS, Windows: never) */
    int fd;        /* connected to it; -1 */
};

#define LAZ_WARDEN_INIT                                                                            \
    {                                                                                              \
        NULL, -1                                                                                   \
    }

/* ---- in the host, on the spawner's thread ---------------------------------------------------- */

/* Is there one, or none to be had? */
bool laz_warden_is_up(const struct laz_warden *warden);
/* It is no child of the host: *process, which the caller closes, is one that starts it and ends.
 * It is there from its first moment, so that the caller can kill what does not get on. `ms`: what
 * it may take. */
int laz_warden_start(struct laz_warden *warden, uint64_t ms, struct laz_process *process,
                     struct laz_error *err);
/* The host goes on without children: the warden ends, and signals nobody. */
void laz_warden_end(struct laz_warden *warden);

/* ---- in a child, between fork and exec --------------------------------------------------------
 */

/* The group of the calling process gets the signal when the host has ended. False: the warden is
 * gone. */
bool laz_warden_take(int fd, int signal);

/* ---- the warden -------------------------------------------------------------------------------
 */

/* Descriptor 0 is connected to the host, 3 is the host (pidfd_open(2)). The status to exit with. */
int laz_os_warden(void);

#endif
