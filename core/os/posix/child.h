/* SPDX-License-Identifier: MIT */
/* child.h - between the spawner (spawner.c) and the system's way of making a child. */
#ifndef LAZ_OS_POSIX_CHILD_H
#define LAZ_OS_POSIX_CHILD_H

#include "os/process.h"

/* Makes a child, runs laz_spawn's program in it and waits until exec worked or did not. With
 * `warden` (warden.h; -1: none) a group with a death signal is in its care before that. Called on
 * the spawner's thread, all signals blocked. process->pidfd is the child's from the moment there is
 * one, for whoever finds that this takes too long; the caller closes it, also after a failure. */
int laz_os_child_start(const struct laz_spawn *spawn, int warden, struct laz_process *process,
                       struct laz_error *err);

#endif
