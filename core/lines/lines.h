/* SPDX-License-Identifier: MIT */
/* lines.h - what this room offers: a peer that sends and reads lines, watched by a loop.
 * Side: host.  Input trusted: no (lines of a peer; their content is their reader's business).
 *
 * Nothing here waits.  What a peer does not read is kept for it up to a bound: from `quiet` bytes
 * on its lines are not read, at `most` it is given up.  So a peer that does not read hurts itself
 * only.  All of it is for the thread that runs the loop. */
#ifndef LAZ_LINES_LINES_H
#define LAZ_LINES_LINES_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/loop.h"
#include "wire/frame.h"

#include <stdatomic.h>

struct laz_input; /* os/input.h */

struct laz_lines {
    struct laz_loop *loop;
    int in, out;
    bool is_pipe;                     /* out */
    struct laz_io *reading, *writing; /* `reading` alone where in and out are the same */
    struct laz_frame frame;
    struct laz_buf unsent;
    size_t sent;        /* bytes of it */
    size_t quiet, most; /* bytes that are unread */
    bool has_lines;     /* that were read, maybe: nothing more is read before they are handled */
    bool is_ending;     /* nothing more is read; its owner ends it when all was sent */
    bool is_gone;       /* nothing more is sent either */
    bool has_secret;    /* a line that was handed out: the rest of it is overwritten, too */
};

/* Watches a zeroed peer. Borrows the descriptors, which are nonblocking, and the loop until
 * laz_lines_end. Errors: LAZ_EOS, after which there is nothing to end. */
int laz_lines_begin(struct laz_lines *lines, struct laz_loop *loop, int in, int out,
                    size_t max_line, size_t quiet, size_t most, struct laz_error *err);
void laz_lines_end(struct laz_lines *lines);

/* Bytes that the peer has not read; and are they so many that no more should be made for it? */
size_t laz_lines_unread(const struct laz_lines *lines);
bool laz_lines_is_full(const struct laz_lines *lines);
/* Where a whole line is to be appended; then laz_lines_send sends it: at once, or when the peer
 * reads. NULL: the peer is gone. */
struct laz_buf *laz_lines_add(struct laz_lines *lines);
void laz_lines_send(struct laz_lines *lines);
/* Sends whole lines that were made elsewhere, and takes their memory. */
void laz_lines_take(struct laz_lines *lines, struct laz_buf *made);
/* Sends what the peer takes now, but a part of it where that is much. */
void laz_lines_flush(struct laz_lines *lines);

/* The next line, without its newline, valid until laz_lines_handled: 1. 0: there is none, or it has
 * to wait until the peer reads. LAZ_ETOOBIG: it is too long, and what follows cannot be read. */
int laz_lines_next(struct laz_lines *lines, char **line, size_t *len);
/* Overwrites a line that was handed out, and before the next one is waited for all that was read
 * with it. */
void laz_lines_wipe(struct laz_lines *lines, char *line, size_t len);
/* Has what can come next watched. True: another line may be there already. */
bool laz_lines_handled(struct laz_lines *lines);

/* Makes standard input and output a peer: input that is not a pipe or socket (a terminal, a file)
 * is passed on through one, by *input (NULL: it is not), which the caller ends after the peer. */
int laz_lines_take_stdio(struct laz_input **input, int *in, int *out, struct laz_error *err);
/* Waits for peers to read what they were sent last, as long as any of them reads: until `unread`
 * is 0, or has not changed for a while. `step` runs the loop, at most so long. */
void laz_lines_drain(struct laz_loop *loop, size_t (*unread)(const void *user),
                     void (*step)(void *user, uint64_t ms), void *user);

/* ---- freed_memory.c: memory
 * ------------------------------------------------------------------------- */

/* Gives memory that is free back to the system, a second after something has happened, however much
 * happens meanwhile. Starts zeroed. Servers beside each other have one heap: each has a rest, and
 * one of these gives back what all have freed. */
struct laz_rest {
    struct laz_timer *timer;
    atomic_bool own, *waits; /* a timer runs; of all that are beside each other */
    bool is_mine, is_due;    /* it is the one of this rest */
};
/* `beside`: that of the first one, which ends last; NULL: it is alone, or the first. */
int laz_rest_begin(struct laz_rest *rest, struct laz_loop *loop, struct laz_rest *beside,
                   struct laz_error *err);
void laz_rest_turn(struct laz_rest *rest); /* at the end of each turn of the loop */
void laz_rest_end(struct laz_rest *rest);

#endif
