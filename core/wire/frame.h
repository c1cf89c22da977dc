/* SPDX-License-Identifier: MIT */
/* frame.h - lines out of a stream of bytes, with a limit on each line.
 * Side: host and agent.  Input trusted: no.
 *
 * Bytes are read straight into the buffer; a line is handed out as a pointer into it and removed by
 * the next call, so no byte is copied twice and none is looked at twice. Only a line that outgrows
 * its buffer is moved, into room for a large value. Its end may never come: memory that no byte was
 * read into is not touched, so it costs addresses and no pages. */
#ifndef LAZ_WIRE_FRAME_H
#define LAZ_WIRE_FRAME_H

#include "base/buf.h"

struct laz_frame {
    struct laz_buf buf;
    size_t start;   /* of the first line not handed out */
    size_t scanned; /* bytes after start that hold no newline */
    size_t written; /* bytes of the buffer that may hold what was read */
    size_t max;     /* bytes of a line, without its newline */
    bool wipes;     /* what was read is overwritten before its memory is freed */
};

void laz_frame_init(struct laz_frame *frame, size_t max);
void laz_frame_fini(struct laz_frame *frame);
/* Where to read at least `want` more bytes to; NULL when allocation failed. Call laz_frame_added
 * with what was read. Lines handed out before are no longer valid. */
char *laz_frame_room(struct laz_frame *frame, size_t want);
void laz_frame_added(struct laz_frame *frame, size_t len);
/* The next whole line, without its newline: 1, and *line, valid until laz_frame_room. 0: there is
 * none yet. LAZ_ETOOBIG: it is longer than `max`, whether or not its end has come. */
int laz_frame_next(struct laz_frame *frame, char **line, size_t *len);
/* Overwrites everything that was read into it, lines that are done with as well, and empties it; it
 * keeps its memory. */
void laz_frame_wipe(struct laz_frame *frame);
/* Frees a large buffer that has no bytes of a line; lines handed out before are no longer valid. */
void laz_frame_rest(struct laz_frame *frame);
/* Bytes of a line that has begun and not ended. */
size_t laz_frame_partial(const struct laz_frame *frame);

#endif
