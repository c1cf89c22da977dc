/* SPDX-License-Identifier: MIT */
/* deny.h (mock) - makes system calls fail at one place of the code.
 *
 * In a program linked with deny.c and $(DENY_WRAPS), functions of the C library that make system
 * calls are replaced for its own objects, lazaret's included (ld(1), --wrap), but not for
 * libraries. A *site* is one of these functions with its four callers, identified by return
 * addresses, so a shared helper is many sites. Applies to all threads, and to children until they
 * call exec. */
#ifndef LAZ_MOCK_DENY_H
#define LAZ_MOCK_DENY_H

#include <stdbool.h>
#include <stddef.h>

/* Features that are missing altogether, whatever else fails. */
#define DENY_CLONE3      1u /* clone3 is refused, as by a filter around the application */
#define DENY_CLOSE_RANGE 2u /* Linux before 5.9 */
#define DENY_PEER_PIDFD  4u /* Linux before 6.5 */
#define DENY_GROUPS      8u /* no control groups */

/* Records each site that is reached from now on; only missing features fail. */
void deny_learn(unsigned missing);
/* Lets a site fail in its `error`-th way when it is first reached, or, with `on`, each time. */
void deny_begin(size_t site, size_t error, bool on, unsigned missing);
/* Stops the failures. Returns how often one happened. */
unsigned long deny_end(void);

size_t deny_sites(void);
/* Number of ways in which a site can fail. */
size_t deny_errors(size_t site);
/* Function and error, for messages. */
const char *deny_name(size_t site, size_t error, int *os_errno);
/* Does the call remove something, which then stays? */
bool deny_removes(size_t site);

/* Was the process started by these calls (and not by one of those processes)? */
bool deny_started(int pid);
/* Counts directories made by these calls that still exist, except those that engines share; `print`
 * prints them. Forgets all of them. */
size_t deny_directories_left(bool print);

#endif
