/* SPDX-License-Identifier: MIT */
/* output.h - the output of an execution: stored up to the caps, passed on as it arrives.
 * Side: host.  Input trusted: no. */
#ifndef LAZ_SESSION_OUTPUT_H
#define LAZ_SESSION_OUTPUT_H

#include "base/buf.h"

#include <lazaret/lazaret.h>

/* A piece of the output of one stream: `len` bytes of `kept` from `at`. */
struct laz_output_piece {
    int stream;
    size_t at, len;
};

struct laz_output {
    uint64_t max_bytes, max_lines; /* caps on what is stored and passed on; 0: unlimited */
    void (*line)(void *user, int stream, const char *text, size_t len);
    void (*raw)(void *user, int stream, const char *data, size_t len);
    void *user;
    struct laz_buf kept;
    struct laz_output_piece *pieces;
    size_t n_pieces, cap_pieces;
    struct laz_buf partial[3]; /* the incomplete last line of each stream */
    uint64_t lines;            /* number of stored lines */
    uint64_t total;            /* bytes written, stored or not */
    bool truncated;
};

/* A longer line is passed on in parts of at least this many bytes. */
#define LAZ_OUTPUT_LINE_MAX ((size_t)1 << 20)

/* Stores the data up to the caps and passes it on. Out of memory: kept.failed is set. */
void laz_output_add(struct laz_output *output, int stream, const char *data, size_t len);
/* The same for lines of the host: they begin on a line of their own. */
void laz_output_say(struct laz_output *output, int stream, const char *lines, size_t len);
/* At the end of the execution: passes on lines without a newline. */
void laz_output_end(struct laz_output *output);
void laz_output_fini(struct laz_output *output);

#endif
