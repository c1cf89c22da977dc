/* SPDX-License-Identifier: MIT */
/* descriptors.h - making, numbering and closing descriptors. */
#ifndef LAZ_OS_DESCRIPTORS_H
#define LAZ_OS_DESCRIPTORS_H

#include "base/error.h"

int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err);
bool laz_os_is_stream(int fd); /* it is a pipe or a socket (POSIX; elsewhere false) */
bool laz_os_is_pipe(int fd);   /* likewise */
bool laz_os_is_terminal(int fd);
/* Is it a stream, or a terminal other than that which controls this process? Likewise. */
bool laz_os_can_lend(int fd);
/* A pipe or a terminal becomes this user's, who may then open it again, as programs do by
 * /dev/stdout. No effect without the privilege. */
void laz_os_give(int fd, uint32_t uid);
/* Sets whether reading and writing block. Errors: LAZ_EOS. */
int laz_os_nonblock(int fd, bool on, struct laz_error *err);
void laz_os_close(int *fd); /* closes it unless it is -1, and sets it to -1 */
/* Makes `number` another name of a descriptor, closed by exec: `number`, or -1 with errno. */
int laz_os_dup_onto(int fd, int number);
/* The descriptor gets the number `to`, closed by exec, and loses its own, also when that fails. On
 * Windows, where a child is given handles and no numbers, it stays as it is. */
int laz_os_place(int *fd, int to, struct laz_error *err);
/* Makes a descriptor from which `data` can be read from the start, in memory and not on a disk
 * (memfd_create(2)); sealed against change. */
int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err);
/* Closes every descriptor from `first` on, but `keep` (-1: none). For the agent. */
void laz_os_close_from(int first, int keep);

#endif
