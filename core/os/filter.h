/* SPDX-License-Identifier: MIT */
/* filter.h - filters of system calls (seccomp(2)): which calls a confined process may make.
 *
 * They are made when lazaret is built, from core/os/linux/filter_rules.c.  A filter cannot be
 * removed, and every child inherits it. */
#ifndef LAZ_OS_FILTER_H
#define LAZ_OS_FILTER_H

#include "base/error.h"

/* "session": for a box with files or a uid of its own. "network": the same with sockets of TCP and
 * UDP, for one with a network namespace of its own (network.h). "same-user": for a session that
 * shares its uid with files and processes outside; it can change neither metadata (chmod, chown,
 * utimes, attributes) nor how other processes are scheduled. */
#define LAZ_FILTER_SESSION   "session"
#define LAZ_FILTER_NETWORK   "network"
#define LAZ_FILTER_SAME_USER "same-user"
/* "gate": for a process of ours that only reads, writes and accepts (core/gate). */
#define LAZ_FILTER_GATE "gate"

/* Puts a filter on every thread of the calling process, which must have no_new_privs. It can be
 * called late, after a fork. LAZ_EINVAL: no such name; LAZ_ESETUP: this build has no filters;
 * LAZ_EOS. */
int laz_os_filter(const char *name, struct laz_error *err);
/* The same in two parts, where there are such (else LAZ_ESETUP). The first is for a process of
 * which copies are made: it lets through what making and confining a session needs as well. A copy
 * adds the second, which refuses just that: with both each call has the answer of the whole. */
int laz_os_filter_ahead(const char *name, struct laz_error *err);
int laz_os_filter_rest(const char *name, struct laz_error *err);

#endif
