/* SPDX-License-Identifier: MIT */
/* input.h - standard input of this process, passed on through a pipe.
 *
 * Another process must not get the descriptor itself: a terminal could be written, and typed into
 * (ioctl_tty(2), TIOCSTI), and a file opened again for writing (/proc/self/fd). */
#ifndef LAZ_OS_INPUT_H
#define LAZ_OS_INPUT_H

#include "base/error.h"

struct laz_input;

/* Starts a thread that writes what can be read from `from` (borrowed) to a pipe, as fast as that is
 * read. *fd: the end of the pipe to read from, which closes with laz_input_end. A terminal is read
 * only while this process is in its foreground. *fd is -1, and *input NULL, on a system where this
 * cannot be done (Windows). Errors: LAZ_EOS, LAZ_ENOMEM. */
int laz_input_begin(int from, struct laz_input **input, int *fd, struct laz_error *err);
/* The same to a descriptor for writing, which is closed with it: a pipe, or the master of a
 * terminal of which a process reads; there the end of the input is a key (VEOF). */
int laz_input_begin_into(int from, int to, struct laz_input **input, struct laz_error *err);
/* Held: nothing more is read from a terminal, which somebody else reads meanwhile. It can be ended
 * while it is held. NULL is allowed. */
void laz_input_hold(struct laz_input *input, bool is_held);
/* Ends it when no other process reads the pipe any more. What was read from a file, and by nobody
 * from the pipe, is given back: the next process that reads the file begins there. NULL is
 * allowed. */
void laz_input_end(struct laz_input *input);

#endif
