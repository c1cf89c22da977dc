/* SPDX-License-Identifier: MIT */
/* posix.h - between the files that Linux and macOS share (*_posix.c) and the calls in which the two
 * differ: what one does in a single call, and the other in two or by another name. */
#ifndef LAZ_OS_POSIX_POSIX_H
#define LAZ_OS_POSIX_POSIX_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct laz_buf;
struct laz_error;
struct msghdr;
struct stat;
struct timespec;

/* Every descriptor that is made passes through here at once: one that got the number 0, 1 or 2,
 * because the application has that one closed, gets one above them, closed by exec, and is -1 with
 * errno if there is none. -1 stays what it is. What the application, or a library in it, writes to
 * its standard output must not arrive in a channel or a log of ours. */
int laz_posix_above(int fd);
/* The same for both that a call has `made`, if that is 0. 0, or -1 with errno: neither is open. */
int laz_posix_above_both(int made, int ends[2]);
/* To read a folder, or a text; NULL with errno. */
DIR *laz_posix_opendir(const char *path);
FILE *laz_posix_fopen(const char *path);
/* A pipe, a stream socket of a family: closed by exec, from their first moment where the system
 * can. Writing to a dead peer of the socket raises no SIGPIPE where MSG_NOSIGNAL is given. 0, or -1
 * with errno; a descriptor, or -1. */
int laz_posix_pipe(int ends[2]);
int laz_posix_socket(int family, bool blocking);
/* What a connection that was accepted still needs for that: 0, or -1. */
int laz_posix_accepted(int fd);
/* Are there names of sockets that are no paths (unix(7), abstract)? */
bool laz_posix_has_abstract_names(void);
/* recvmsg(2); descriptors that come along are closed by exec. */
ssize_t laz_posix_receive(int fd, struct msghdr *message);
/* When a file was written, and when anything of it was changed, as exactly as the system knows. */
void laz_posix_times(const struct stat *st, struct timespec *written, struct timespec *changed);
/* Takes one of these signals, which every thread blocks: its number; 0: there was none for `ms`
 * milliseconds. */
int laz_posix_await_signal(const sigset_t *signals, uint64_t ms);
/* What was written is on the disk when this returns: 0, or an errno. */
int laz_posix_sync(int fd);
/* Takes back what its owner has done to keep something from being removed: gives all rights to a
 * folder, clears flags where an owner can set them (macOS). Never through a link. False: nothing
 * that would help. */
bool laz_posix_unlock(int parent, const char *name);
/* A descriptor of a folder, to look at what is below it; never through a link. -1: errno. */
int laz_posix_enter(int parent, const char *name);
/* May others write what is there by an access list, whose rights the mode shows as the group's?
 * Also when that cannot be told. */
bool laz_posix_has_acl(int parent, const char *name);
/* A group whose members may do what root may. */
bool laz_posix_is_root_group(uint32_t gid);
/* Whole content of a file from here on, at most `max` bytes; `path` for errors. */
int laz_posix_read_all(int fd, const char *path, size_t max, struct laz_buf *buf,
                       struct laz_error *err);

#endif
