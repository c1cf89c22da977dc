/* SPDX-License-Identifier: MIT */
/* stream.h - a link (carrier/carrier.h) on a bus, and lines on descriptors of this machine: what
 * comes on one side goes out on the other. Or without descriptors, for who has the lines himself.
 */
#ifndef LAZ_CLUSTER_STREAM_H
#define LAZ_CLUSTER_STREAM_H

#include "carrier/carrier.h"
#include "cluster/bus.h"
#include "wire/frame.h"

struct laz_stream;

struct laz_stream_owner {
    void *user;
    /* A line is about to pass, to the peer or to this side; false: it does not, and the link ends
     * as a breach of the protocol. NULL: all pass. */
    bool (*passes)(void *user, bool to_peer, const char *line, size_t len);
    /* Of a stream without descriptors: a line has come, with the same meaning of false. */
    bool (*line)(void *user, const char *line, size_t len);
    /* What this side has to say has ended: is the link to end with it, as soon as all was sent?
     * False: the owner ends it later. NULL: it is. */
    bool (*input_ended)(void *user);
    /* It has ended: once, after the last line. The owner frees it, in here or later. */
    void (*ended)(void *user, enum laz_link_reason reason);
};

struct laz_stream_asked {
    struct laz_loop *loop;
    struct laz_bus *bus;
    const struct laz_link_limits *limits; /* borrowed for its life */
    bool is_worker;
    const char *link, *boot; /* ids */
    const char *to, *here; /* subjects: of the peer; of this side, which the owner subscribes to */
    int in, out;           /* nonblocking; closed with it if they are the same; -1: none */
    struct laz_stream_owner owner;
};

/* LAZ_ENOMEM, LAZ_EOS: then the descriptors are the caller's still. */
int laz_stream_new(const struct laz_stream_asked *asked, struct laz_stream **stream,
                   struct laz_error *err);
/* Without a word to the peer, unless it has ended. NULL is allowed. */
void laz_stream_free(struct laz_stream *stream);

/* What happens on the bus: a message to `here`; LAZ_LINK_ON_CONNECTED, _NOBODY, _REFUSED. */
void laz_stream_take(struct laz_stream *stream, const char *data, size_t len);
void laz_stream_tell(struct laz_stream *stream, enum laz_link_event_type event);
/* It is to end, for this reason, which the peer is told: with what waits (`finishes`), or now. */
void laz_stream_end(struct laz_stream *stream, enum laz_link_reason reason, bool finishes);
/* A line to this side that no peer has sent. */
void laz_stream_say(struct laz_stream *stream, const char *line, size_t len);
/* A line for the peer, of a stream without descriptors. LAZ_ECLOSED, LAZ_ETOOBIG, LAZ_ENOMEM. */
int laz_stream_write(struct laz_stream *stream, const char *line, size_t len);
/* Bytes that the peer has not taken. */
size_t laz_stream_unread(const struct laz_stream *stream);
const char *laz_stream_id(const struct laz_stream *stream);

#endif
