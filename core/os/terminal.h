/* SPDX-License-Identifier: MIT */
/* terminal.h - a question to the person at the terminal of this process. */
#ifndef LAZ_OS_TERMINAL_H
#define LAZ_OS_TERMINAL_H

#include "base/buf.h"
#include "base/error.h"

/* Writes the question to the terminal that controls this process, whatever the standard streams
 * are, and appends the line that is typed after it to `line`, without its newline. What was typed
 * before is discarded. Any thread; one at a time. Errors: LAZ_EREFUSED, there is no such terminal,
 * or another job of the shell has it; LAZ_ECANCELLED, `cancel_fd` became readable, or there was no
 * line (end of input); LAZ_EOS; LAZ_ENOMEM. */
int laz_os_ask_terminal(const struct laz_buf *question, int cancel_fd, struct laz_buf *line,
                        struct laz_error *err);

#endif
