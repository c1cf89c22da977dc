/* SPDX-License-Identifier: MIT */
/* interrupt.h - requests to end this process: Ctrl-C, a closed terminal, SIGTERM. The first two are
 * none where the process was started with their signals (SIGINT, SIGHUP) ignored. */
#ifndef LAZ_OS_INTERRUPT_H
#define LAZ_OS_INTERRUPT_H

#include "base/error.h"

struct laz_interrupt;

/* From now on such a request does not end the process. Threads that are made later inherit this, so
 * it is called before any is made. */
int laz_interrupt_block(struct laz_interrupt **interrupt, struct laz_error *err);
/* Calls `asked`, on a thread of its own, once there is a request (or was one before), and again
 * every moment until laz_interrupt_free, because what it is to stop may not have begun. A second
 * request ends the process in the usual way. */
int laz_interrupt_start(struct laz_interrupt *interrupt, void (*asked)(void *user), void *user,
                        struct laz_error *err);
/* The exit status of a process that such a request has ended: 128 and the number of its signal
 * (130, Ctrl-C); 0: none came. */
int laz_interrupt_status(const struct laz_interrupt *interrupt);
void laz_interrupt_free(struct laz_interrupt *interrupt); /* NULL is allowed */

#endif
