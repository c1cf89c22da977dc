/* SPDX-License-Identifier: MIT */
/* places.h - how a link begins: a caller asks who has a place, a worker gives one.
 * Side: host.  Input trusted: no (frames of others on the bus).
 *
 * Pure functions, as those of carrier.h.  Random bits come from the caller of a function. */
#ifndef LAZ_CARRIER_PLACES_H
#define LAZ_CARRIER_PLACES_H

#include "base/siphash.h"
#include "carrier/carrier.h"

/* Why a worker does not give a place: the code of a frame `refused`. */
enum laz_place_code {
    LAZ_PLACE_FULL, /* this one and the next two: another worker may have one */
    LAZ_PLACE_DRAINING,
    LAZ_PLACE_ENDED,    /* this opening had its link, which has ended */
    LAZ_PLACE_UNKNOWN,  /* no such pool here; also of codes of a later version */
    LAZ_PLACE_SETTINGS, /* the caller expects other settings */
    LAZ_PLACE_DENIED,   /* tenant or token */
    LAZ_PLACE_QUOTA,
    LAZ_PLACE_CODES,
};

const char *laz_place_code_word(enum laz_place_code code);
enum laz_place_code laz_place_code_of(const char *word, size_t len);
/* Is it worth to ask again? */
bool laz_place_code_passes(enum laz_place_code code);

/* ---- the places of a worker: places.c ---------------------------------------------------------
 */

#define LAZ_PLACES_REMEMBER_MS 60000 /* for how long an opening whose link has ended is known */
#define LAZ_PLACES_REMEMBERED  65536 /* and as many of them at most */

struct laz_places;

/* An opening that was answered by a link. Valid until laz_places_ended. */
struct laz_place_grant;

enum laz_places_answer {
    LAZ_PLACES_NEW,     /* a place is taken: subscribe to the link, begin it, then answer */
    LAZ_PLACES_AGAIN,   /* the same opening has come again: the same answer, and nothing else */
    LAZ_PLACES_REFUSED, /* `code` */
};

struct laz_places_given {
    enum laz_places_answer answer;
    enum laz_place_code code;
    const char *link;              /* its id; borrowed until laz_places_ended */
    struct laz_place_grant *grant; /* of a new one */
};

enum laz_places_action_type {
    LAZ_PLACES_SUBSCRIBE,   /* to the openings of `pool`, in the queue group of workers */
    LAZ_PLACES_UNSUBSCRIBE, /* there is no place, or none is given any more */
    LAZ_PLACES_EXIT,        /* it drains, and the last link has ended: once */
};

struct laz_places_action {
    enum laz_places_action_type type;
    const char *pool; /* borrowed */
};

/* `key`: random, for a table whose keys others choose. NULL: out of memory. */
struct laz_places *laz_places_new(const struct laz_siphash_key *key);
void laz_places_free(struct laz_places *places); /* NULL is allowed */

/* A pool has so many places now, more or fewer than before. LAZ_EINVAL: no name. LAZ_ENOMEM. */
int laz_places_pool(struct laz_places *places, const char *pool, size_t capacity);
/* A frame `open` has come for the pool. `link`: a fresh id, for a new one. 0, or LAZ_ENOMEM, after
 * which nothing has changed and nothing is answered. */
int laz_places_open(struct laz_places *places, uint64_t now_ms, const char *pool,
                    const struct laz_carrier_frame *open, const char *link,
                    struct laz_places_given *given);
/* The link has ended, and what it had is gone: its place is free. Once for each grant. */
void laz_places_ended(struct laz_places *places, uint64_t now_ms, struct laz_place_grant *grant);
/* No place is given any more. The owner ends what does not end by itself. */
void laz_places_drain(struct laz_places *places);
/* After each of the above: what there is to do; false: nothing. */
bool laz_places_next(struct laz_places *places, struct laz_places_action *action);

size_t laz_places_free_of(const struct laz_places *places, const char *pool);
size_t laz_places_used(const struct laz_places *places);       /* of all pools */
size_t laz_places_remembered(const struct laz_places *places); /* openings whose link has ended */

/* ---- an opening of a caller: opening.c --------------------------------------------------------
 */

struct laz_opening_limits {
    int64_t attempt_ms;               /* without an answer it is asked again */
    int64_t backoff_ms, most_backoff; /* how long it waits where nobody has a place: twice as long
                                         each time, each time between a half and all of it */
};
extern const struct laz_opening_limits laz_opening_usual;

/* Openings of a caller that are not settled. */
struct laz_opening_queue {
    size_t n, most;
};

enum laz_opening_state {
    LAZ_OPENING_ASKED,
    LAZ_OPENING_WAITING, /* to ask again */
    LAZ_OPENING_LINKED,
    LAZ_OPENING_FAILED,
    LAZ_OPENING_STATES,
};

struct laz_opening {
    const struct laz_opening_limits *limits;
    struct laz_opening_queue *queue;
    char open[LAZ_CARRIER_ID + 1], link[LAZ_CARRIER_ID + 1];
    uint8_t state, tries;
    bool was_full; /* the last attempt found no place, and not silence */
    uint64_t deadline_ms, due_ms;
};

enum laz_opening_event_type {
    LAZ_OPENING_ON_ANSWER,  /* `frame`: opened, or refused */
    LAZ_OPENING_ON_NOBODY,  /* no worker listens: all are full, or there is none */
    LAZ_OPENING_ON_REFUSED, /* the bus does not let the caller ask */
    LAZ_OPENING_ON_TICK,
    LAZ_OPENING_ON_CANCEL,
    LAZ_OPENING_EVENTS,
};

enum laz_opening_action {
    LAZ_OPENING_NOTHING,
    LAZ_OPENING_ASK,    /* send the frame of laz_opening_frame to the pool */
    LAZ_OPENING_LINK,   /* `link` is there: it begins on this side */
    LAZ_OPENING_CLOSE,  /* the link of the frame is one too many: laz_opening_close tells its worker
                         */
    LAZ_OPENING_FULL,   /* this and the next three: it has failed, once. No place until the deadline
                         */
    LAZ_OPENING_LATE,   /* nobody has answered until the deadline */
    LAZ_OPENING_DENIED, /* by the frame, or (no frame) by the bus */
    LAZ_OPENING_CANCELLED,
};

/* Begins one, which is to be asked now. `open`: a fresh id. LAZ_EREFUSED: too many wait. */
int laz_opening_begin(struct laz_opening *opening, const struct laz_opening_limits *limits,
                      struct laz_opening_queue *queue, const char *open, uint64_t now_ms,
                      uint64_t deadline_ms, struct laz_error *err);
/* `random`: 32 random bits. */
enum laz_opening_action laz_opening_step(struct laz_opening *opening, uint64_t now_ms,
                                         enum laz_opening_event_type event,
                                         const struct laz_carrier_frame *frame, uint32_t random);
/* When it wants LAZ_OPENING_ON_TICK; UINT64_MAX: never. */
uint64_t laz_opening_due(const struct laz_opening *opening);
/* Fills the frame to ask with, but for tenant, digest and token. */
void laz_opening_frame(const struct laz_opening *opening, const char *caller, uint64_t now_ms,
                       struct laz_carrier_frame *frame);
/* A frame of a link that its receiver does not know, or does not want: true, and *end is what to
 * send to the subject of the link that the frame names. False: nothing is to be sent. */
bool laz_opening_close(const struct laz_carrier_frame *stray, struct laz_carrier_frame *end);

#endif
