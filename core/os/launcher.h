/* SPDX-License-Identifier: MIT */
/* launcher.h - a process that starts children of the host where the host itself may start none.
 *
 * Version 2 of control groups lets a process into a group only from a group below one that its user
 * may write (cgroups(7), "Delegation containment"): from a login session no process can be put into
 * a part of the tree that the user's systemd has delegated.  A process that lives in that part can
 * start others there.  The launcher is such a process.  What it starts are children of the host
 * (clone(2), CLONE_PARENT), which follows, signals and reaps them like those that it makes itself;
 * a death signal follows the spawner's thread, whose child the launcher is.
 *
 * A child that is started this way has the umask, the resource limits and the processors that the
 * host had when the launcher was started.  Never used by root: it changes no user id. */
#ifndef LAZ_OS_LAUNCHER_H
#define LAZ_OS_LAUNCHER_H

#include "os/spawner.h"

/* ---- in the host, on the spawner's thread --------------------------------------------------- */

/* Starts the child of `spawn` through the launcher at the other end of `fd`, a connection that
 * keeps messages apart; `warden`: as for laz_os_child_start (posix/child.h). `ms`: the time that
 * the launcher gets for its answer; after LAZ_ETIMEOUT, and when it is gone (LAZ_ESETUP), the
 * connection is shut down. *process as laz_os_child_start sets it. */
int laz_launcher_child(int fd, const struct laz_spawn *spawn, int warden, uint64_t ms,
                       struct laz_process *process, struct laz_error *err);

/* ---- the launcher --------------------------------------------------------------------------- */

/* Runs the launcher: descriptor 0 is connected to the host, of which it is a child. `group` (NULL:
 * none): it makes a control group of this name below its own, of version 2, and enters it, so that
 * its former one can have controllers. Then it sends one message, and serves until the host closes
 * the connection. Errors: it cannot serve here. */
int laz_os_launcher(const char *group, struct laz_error *err);

#endif
