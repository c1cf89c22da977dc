/* SPDX-License-Identifier: MIT */
/* http.h - what the room offers: HTTP/1 read strictly, one piece after the other (RFC 9112).
 * Side: host, and the proxy.  Input trusted: no.
 *
 * Two readers of one message must not disagree about where it ends (section 11.2).  So a stream is
 * cut into pieces whose ends are known exactly, and what is not known to be right is refused.  What
 * a head means is decided by who uses the stream; fields.c has the words of it. */
#ifndef LAZ_HTTP_HTTP_H
#define LAZ_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- one direction of a connection: stream.c ------------------------------------------------- */

#define LAZ_HTTP_HEAD_MOST 65536 /* most bytes of a head, or of trailers */

enum laz_http_part {
    LAZ_HTTP_HEAD, /* a line, and fields up to an empty line, with it */
    LAZ_HTTP_BODY,
    LAZ_HTTP_CHUNK, /* the line with the size of a chunk */
    LAZ_HTTP_CHUNK_DATA,
    LAZ_HTTP_CHUNK_END, /* CR LF behind it */
    LAZ_HTTP_TRAILER,   /* one line; the last one is empty */
    LAZ_HTTP_REST,      /* bytes up to the end of the connection, or another protocol */
    LAZ_HTTP_REFUSED,
};

/* Zeroed it begins with a head. */
struct laz_http_stream {
    enum laz_http_part part; /* of the bytes that come next */
    const char *why;         /* REFUSED: a text for people */
    bool is_plain;           /* to be set: chunks have no extensions */
    size_t seen;             /* bytes of the line or head that is not complete, which are good */
    size_t trailers;         /* bytes of them */
    uint64_t left;           /* bytes of the body, or of its chunk, that follow */
};

/* The length of the next piece, all of it of the part that the stream has before the call: a whole
 * head or line, or as much of a body as is there. 0: more has to come first, at most
 * LAZ_HTTP_HEAD_MOST bytes, or it is refused. Behind a head the next one follows, unless
 * laz_http_follow says otherwise. */
size_t laz_http_piece(struct laz_http_stream *stream, const char *data, size_t len);
/* Behind a head: so many bytes, or chunks. */
void laz_http_follow(struct laz_http_stream *stream, bool is_chunked, uint64_t length);
/* Nothing is good from here on; 0. */
size_t laz_http_refuse(struct laz_http_stream *stream, const char *why);

/* ---- words: fields.c ------------------------------------------------------------------------- */

/* Bytes of a head; borrowed. */
struct laz_http_text {
    const char *text;
    size_t len;
};

/* Ignoring the case of ASCII letters; `word` is in lower case. */
bool laz_http_is(struct laz_http_text text, const char *word);
/* A token of RFC 9110, section 5.6.2. */
bool laz_http_is_token(struct laz_http_text text);
/* Has it no bytes of control, and (unless `may_space`) no spaces? */
bool laz_http_is_visible(struct laz_http_text text, bool may_space);
/* What stands before the first such byte, which is removed with it. */
struct laz_http_text laz_http_cut(struct laz_http_text *from, char at);
/* What stands before CR LF, which is removed with it. */
struct laz_http_text laz_http_line(struct laz_http_text *from);
/* Without spaces and tabs at both ends. */
struct laz_http_text laz_http_trim(struct laz_http_text text);
/* Splits a line into a name and a value. NULL, or why it is refused. */
const char *laz_http_field(struct laz_http_text line, struct laz_http_text *name,
                           struct laz_http_text *value);
/* The value of a Content-Length. NULL, or why it is refused. */
const char *laz_http_length(struct laz_http_text value, uint64_t *length);
/* May this field stand among trailers? NULL, or why not. */
const char *laz_http_trailer(struct laz_http_text line);

#endif
