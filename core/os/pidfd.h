/* SPDX-License-Identifier: MIT */
/* pidfd.h - a descriptor for a process, which never refers to another process with the same number.
 */
#ifndef LAZ_OS_PIDFD_H
#define LAZ_OS_PIDFD_H

#include "base/error.h"

/* A descriptor for a process that is not our child (pidfd_open(2), kqueue(2)); -1 with errno: there
 * is none. What laz_errno_is_shortage says of errno decides whether the process may be there. */
int laz_os_pidfd(int64_t pid);
/* The same for a process of this pid namespace (its inode; 0: unknown, any): a number that was read
 * a while ago may belong to another process by now. That is ESRCH. */
int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace);
/* SIGKILL to that process. -1 is ignored; macOS: does nothing, for it would be used only for the
 * first process of a pid namespace. */
void laz_os_pidfd_kill(int pidfd);
/* Sends that process the signal of laz_os_on_interrupt, with a number. False: it is gone, may not
 * be signalled, or this system has nothing of the kind (macOS and Windows: a signal with a number).
 */
bool laz_os_pidfd_interrupt(int pidfd, uint32_t number);
bool laz_os_pidfd_has_ended(int pidfd); /* true for -1 */
/* How the process ended, according to the kernel: true, and the number of the signal or 0, and its
 * exit status or -1. False: it has not ended and been reaped, or the kernel (before 6.15) does not
 * report it. */
bool laz_os_pidfd_end(int pidfd, int *signal, int *status);

/* A descriptor for the process `pid`, if it is the first one of a pid namespace that was made
 * directly inside the one with the inode `above` (ioctl_ns(2), Linux). LAZ_EPROTO: it is not, or
 * has ended. LAZ_EOS: that cannot be found out, for lack of descriptors or memory. */
int laz_os_adopt(int64_t pid, uint64_t above, int *pidfd, struct laz_error *err);

#endif
