/* SPDX-License-Identifier: MIT */
/* child.h - between the spawner (posix/spawner.c) and the system's way of making a child. */
#ifndef LAZ_OS_POSIX_CHILD_H
#define LAZ_OS_POSIX_CHILD_H

#include "os/spawner.h"

/* Makes a child, runs laz_spawn's program in it and waits until exec succeeded or failed. With
 * `warden` (warden.h; -1: none) it registers a group with a death signal there before that. Called
 * on the spawner's thread, with all signals blocked. process->pidfd is the child's from its first
 * moment on, so that another thread can kill a child that takes too long; the caller closes it,
 * also after a failure. */
int laz_os_child_start(const struct laz_spawn *spawn, int warden, struct laz_process *process,
                       struct laz_error *err);

#endif
