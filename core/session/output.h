/* SPDX-License-Identifier: MIT */
/* output.h - what an execution writes: kept up to the caps, handed on as it comes.
 * Side: host.  Input trusted: no. */
#ifndef LAZ_SESSION_OUTPUT_H
#define LAZ_SESSION_OUTPUT_H

#include "base/buf.h"

#include <lazaret/lazaret.h>

/* A piece of output: bytes of `kept` from `at`. */
struct laz_output_piece {
    int stream;
    size_t at, len;
};

struct laz_output {
    uint64_t max_bytes, max_lines; /* of what is kept and handed on; 0: unlimited */
    void (*line)(void *user, int stream, const char *text, size_t len);
    void (*raw)(void *user, int stream, const char *data, size_t len);
    void *user;
    struct laz_buf kept;
    struct laz_output_piece *pieces;
    size_t n_pieces, cap_pieces;
    struct laz_buf partial[3]; /* the beginning of a line, by stream */
    uint64_t lines;            /* kept */
    uint64_t total;            /* bytes written, kept or not */
    bool truncated;
};

/* A line's end is looked for in at most this many bytes; a longer one is handed on in parts. */
#define LAZ_OUTPUT_LINE_MAX ((size_t)1 << 20)

void laz_output_add(struct laz_output *output, int stream, const char *data, size_t len);
/* The execution is over: lines without newline are handed on. */
void laz_output_end(struct laz_output *output);
void laz_output_fini(struct laz_output *output);

#endif
