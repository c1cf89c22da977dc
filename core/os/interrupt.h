/* SPDX-License-Identifier: MIT */
/* interrupt.h - being asked to end: Ctrl-C, a terminal that is closed, a polite kill. */
#ifndef LAZ_OS_INTERRUPT_H
#define LAZ_OS_INTERRUPT_H

#include "base/error.h"

struct laz_interrupt;

/* From here on the process does not end when it is asked to. Threads that are made later are like
 * this one: it comes before them. */
int laz_interrupt_block(struct laz_interrupt **interrupt, struct laz_error *err);
/* Calls `asked`, on a thread of its own, once somebody asks (or has asked before), and again each
 * moment until laz_interrupt_free: what it is to stop may not have begun. Who asks a second time
 * ends the process in the usual way. */
int laz_interrupt_start(struct laz_interrupt *interrupt, void (*asked)(void *user), void *user,
                        struct laz_error *err);
void laz_interrupt_free(struct laz_interrupt *interrupt); /* NULL is allowed */

#endif
