/* SPDX-License-Identifier: MIT */
/* deny.h (mock) - the system says no: calls of the system fail at one place of the code.
 *
 * A program linked with deny.c and $(DENY_WRAPS) has the C library's and libuv's functions that
 * call the system replaced, as its own objects see them, lazaret's among them (ld(1), --wrap);
 * libraries keep theirs. A *site* is one of these functions and the four callers above it, by their
 * return addresses: helpers that everybody uses are many sites. Any thread, and children until
 * their exec. */
#ifndef LAZ_MOCK_DENY_H
#define LAZ_MOCK_DENY_H

#include <stdbool.h>
#include <stddef.h>

/* What is not there at all, whatever else fails. */
#define DENY_CLONE3      1u /* clone3 is refused, as a filter around the application does */
#define DENY_CLOSE_RANGE 2u /* Linux before 5.9 */
#define DENY_PEER_PIDFD  4u /* Linux before 6.5 */
#define DENY_GROUPS      8u /* no control groups */

/* Notes each site that is passed from now on, and denies nothing but what is missing. */
void deny_learn(unsigned missing);
/* The `error`-th way of failing of a site comes about where it is passed first, or, with `on`, each
 * time. */
void deny_begin(size_t site, size_t error, bool on, unsigned missing);
/* No more of it. How often it came about. */
unsigned long deny_end(void);

size_t deny_sites(void);
/* How many ways of failing a site has. */
size_t deny_errors(size_t site);
/* Function and error, for people. */
const char *deny_name(size_t site, size_t error, int *os_errno);
/* A call that removes something: what it does not remove stays. */
bool deny_removes(size_t site);

/* Was the process started by these calls (and not by what they started)? */
bool deny_started(int pid);
/* Folders that were made by them and are still there, but for those that engines share; forgets all
 * of them. Prints those. */
size_t deny_folders_left(bool print);

#endif
