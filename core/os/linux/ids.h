/* SPDX-License-Identifier: MIT */
/* ids.h - the system calls by which one thread, or a process that shares memory with its maker,
 * changes its ids: the C library's functions would do so for all threads.  System: Linux. */
#ifndef LAZ_OS_LINUX_IDS_H
#define LAZ_OS_LINUX_IDS_H

#include <sys/syscall.h>

#if defined SYS_setresuid32 /* 32-bit systems: the plain calls take 16 bits */
#define LINUX_SETRESUID SYS_setresuid32
#define LINUX_SETRESGID SYS_setresgid32
#define LINUX_SETGROUPS SYS_setgroups32
#else
#define LINUX_SETRESUID SYS_setresuid
#define LINUX_SETRESGID SYS_setresgid
#define LINUX_SETGROUPS SYS_setgroups
#endif

#endif
