/* SPDX-License-Identifier: MIT */
/* relay.h - the standard streams of another process, whose bytes threads of this one pass on.
 *
 * That process gets pipes, or a terminal that was made for it, and never a descriptor of ours: a
 * terminal could be typed into (TIOCSTI), and a file opened again for writing. What is passed on is
 * kept nowhere: a reader that is slow holds the writer up. */
#ifndef LAZ_OS_RELAY_H
#define LAZ_OS_RELAY_H

#include "base/error.h"

struct laz_relay;
struct laz_input;

struct laz_relay_options {
    bool has_terminal; /* the streams are a terminal; standard error a pipe where ours is none */
    /* Output that has come, on a thread of its stream. False: nobody reads on, and the process gets
     * SIGPIPE or EIO. */
    bool (*output)(void *user, int stream, const char *data, size_t len);
    void *user;
};

/* Has this process a terminal for another one: standard input and output, in the foreground? */
bool laz_relay_has_terminal(void);
/* Makes the streams, and begins to pass on standard input. With a terminal that of this process is
 * raw from now on, until laz_relay_end. Errors: LAZ_EOS; LAZ_EREFUSED, there are no terminals on
 * this system; LAZ_ENOMEM. */
int laz_relay_begin(const struct laz_relay_options *options, struct laz_relay **relay,
                    struct laz_error *err);
/* The end of the process, of a standard stream (0, 1, 2). Borrowed until laz_relay_end. */
const int *laz_relay_stream(const struct laz_relay *relay, int stream);
struct laz_input *laz_relay_input(const struct laz_relay *relay); /* to be held; NULL: none */
/* No process uses the streams any more: all that it has written is passed on; or, not `waits`, what
 * can be within a moment. Then this process's terminal is as it was, and what it has answered to
 * nobody is thrown away. Frees it. NULL is allowed. */
void laz_relay_end(struct laz_relay *relay, bool waits);

#endif
