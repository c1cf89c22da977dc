/* SPDX-License-Identifier: MIT */
/* wait.h - hearing of a descriptor from a thread of the system, where no loop can poll it. */
#ifndef LAZ_OS_WAIT_H
#define LAZ_OS_WAIT_H

#include <stdbool.h>

struct laz_wait;

/* `woken` is called by any thread, and at once by laz_wait_arm where there is nothing to wait for;
 * never after laz_wait_free has returned. `fd` is borrowed until then. NULL: no memory, or it is
 * nothing that can be waited for. */
struct laz_wait *laz_wait_new(int fd, void (*woken)(void *user), void *user);
/* From now on it is waited, once, until the descriptor can be read from, or written to. */
void laz_wait_arm(struct laz_wait *wait, bool read, bool write);
/* Can it be, now? */
bool laz_wait_is_ready(const struct laz_wait *wait, bool write);
void laz_wait_free(struct laz_wait *wait); /* NULL is allowed */

#endif
