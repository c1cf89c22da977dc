/* SPDX-License-Identifier: MIT */
/* terminal.h - a question to the person at the terminal of this process, and one to the terminal.
 */
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

/* Asks the terminal itself: writes `question`, a control sequence, and appends to `answer` what
 * stands between "ESC [ ?" and `final` in the sequence that comes back (ECMA-48: digits and ";").
 * `shown`: a descriptor of the terminal that is meant. What a person types is no part of the answer
 * and is read by whoever reads the terminal next: nothing is asked while something typed is unread,
 * and what is typed until the answer comes, some milliseconds, is put back where the system lets a
 * process do that (ioctl_tty(2), TIOCSTI); elsewhere it is lost. The modes of the terminal are
 * those from before. Nothing else may read it meanwhile. Errors: LAZ_EREFUSED, it cannot be asked,
 * or no question is possible now; LAZ_ETIMEOUT, no answer within `ms`; LAZ_EOS; LAZ_ENOMEM. */
int laz_os_query_terminal(int shown, const char *question, char final, uint64_t ms,
                          struct laz_buf *answer, struct laz_error *err);

#endif
