/* SPDX-License-Identifier: MIT */
/* wait.h - waiting for a descriptor in a thread of the system, where no loop can poll it. */
#ifndef LAZ_OS_WAIT_H
#define LAZ_OS_WAIT_H

#include <stdbool.h>

struct laz_wait;

/* `woken` is called on any thread, and directly by laz_wait_arm when the descriptor is ready or no
 * wait can be started; never after laz_wait_free has returned. `fd` is borrowed until then. NULL:
 * the allocation failed, or the descriptor is of a kind that cannot be waited for. */
struct laz_wait *laz_wait_new(int fd, void (*woken)(void *user), void *user);
/* Starts one wait until the descriptor can be read from, or written to. */
void laz_wait_arm(struct laz_wait *wait, bool read, bool write);
/* Is it ready now? */
bool laz_wait_is_ready(const struct laz_wait *wait, bool write);
void laz_wait_free(struct laz_wait *wait); /* NULL is allowed */

#endif
