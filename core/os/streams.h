/* SPDX-License-Identifier: MIT */
/* streams.h - the standard streams: descriptors 0, 1 and 2. */
#ifndef LAZ_OS_STREAMS_H
#define LAZ_OS_STREAMS_H

#include "base/error.h"

/* Ensures that 0, 1 and 2 are open before anything else is, and that bytes pass through them
 * unchanged. A stream that was closed cannot be read or written afterwards. From then on, writing
 * to a pipe without a reader, or beyond RLIMIT_FSIZE to a file, is an error and raises no signal.
 * False: this is not possible. */
bool laz_os_secure_streams(void);
void laz_os_raw_streams(void); /* only lets bytes pass unchanged */

/* Descriptor 0 becomes another name of `fd`, also for programs that are started. *former, unless it
 * is NULL: a descriptor of what it was, closed by exec. False, with errno: it is what it was. */
bool laz_os_set_input(int fd, int *former);

/* Between the two calls no descriptor can be created that is 0, 1 or 2. This is for libraries whose
 * descriptors cannot be moved (a loop of libuv, on macOS). Other threads that call it wait. It does
 * nothing on Windows, which has handles and no such numbers. */
struct laz_held_streams {
    int fds[3], n;
};
int laz_os_hold_streams(struct laz_held_streams *held, struct laz_error *err);
void laz_os_give_streams_back(struct laz_held_streams *held);
/* The same from now on in each fork(2) of the application, for the handlers of pthread_atfork(3)
 * that were registered before: libuv makes pipes there, in the child. */
void laz_os_hold_streams_in_forks(void);

#endif
