/* SPDX-License-Identifier: MIT */
/* carrier.h - what this room offers to both sides: frames, and links between a caller and a worker.
 * Side: host.  Input trusted: no (frames of a peer, which others on the bus may forge).
 *
 * A *link* is one connection of the host protocol over a carrier (lazaret/carrier.h), which may
 * lose messages and repeat them.  Everything here is a pure function over a state, a time and an
 * event: no clock is read, no thread is started, nothing is random.  What there is to do comes out
 * as actions. So a test, or a simulation of thousands of machines, drives it as the host does.
 * docs/design-scale.md has the reasons. */
#ifndef LAZ_CARRIER_CARRIER_H
#define LAZ_CARRIER_CARRIER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* ---- names and subjects: subject.c ----------------------------------------------------------- */

#define LAZ_CARRIER_ID 32 /* hexadecimal digits of 128 random bits: a link, an opening */
#define LAZ_CARRIER_NAME                                                                           \
    64 /* most bytes of a name of [A-Za-z0-9_-]: a pool, a caller, a worker                        \
        */
#define LAZ_SUBJECT_SIZE 256

/* Writes the id of 16 random bytes, and a NUL. */
void laz_carrier_id(char id[LAZ_CARRIER_ID + 1], const unsigned char random[16]);
bool laz_carrier_is_id(const char *text, size_t len);
bool laz_carrier_is_name(const char *text, size_t len);

/* Subjects, of checked ids and names. */
void laz_subject_open(char subject[LAZ_SUBJECT_SIZE], const char *pool);   /* queue group "w" */
void laz_subject_link(char subject[LAZ_SUBJECT_SIZE], const char *link);   /* to its worker */
void laz_subject_caller(char subject[LAZ_SUBJECT_SIZE], const char *name); /* all below it: ">" */
/* To the caller: of a link by its opening; and where the answer to the opening comes. */
void laz_subject_inbox(char subject[LAZ_SUBJECT_SIZE], const char *caller, const char *open);
void laz_subject_answer(char subject[LAZ_SUBJECT_SIZE], const char *caller, const char *open);
void laz_subject_heartbeat(char subject[LAZ_SUBJECT_SIZE], const char *worker);
void laz_subject_control(char subject[LAZ_SUBJECT_SIZE], const char *worker);
#define LAZ_SUBJECT_QUEUE "w"
/* A subject to a caller that was received: whose opening it names (LAZ_CARRIER_ID bytes, borrowed),
 * and whether it is that of answers. NULL: it is none of this caller. */
const char *laz_subject_opening(const char *subject, const char *caller, bool *is_answer);

/* ---- frames: frame.c --------------------------------------------------------------------------
 */

#define LAZ_CARRIER_PART   ((size_t)512 << 10) /* bytes of a line in one frame, at most */
#define LAZ_CARRIER_HEADER 1024                /* bytes of a header with its newline, at most */
#define LAZ_CARRIER_TOKEN  8192                /* bytes that an opening may carry */
#define LAZ_CARRIER_INT    (INT64_C(1) << 53)  /* numbers are below it */

enum laz_carrier_kind {
    LAZ_CARRIER_OPEN,    /* caller to workers: who has a place? */
    LAZ_CARRIER_OPENED,  /* worker to caller: here, by this link */
    LAZ_CARRIER_REFUSED, /* worker to caller: not here, for this reason */
    LAZ_CARRIER_LINE,    /* a part of a line, either way */
    LAZ_CARRIER_KEEP,    /* somebody is there, and has sent so many frames */
    LAZ_CARRIER_END,     /* the link has ended */
    LAZ_CARRIER_KINDS,
};

/* A message of any kind. Which members it has depends on the kind (the tables of frame.c). All is
 * borrowed; texts of a frame that was parsed point into its bytes and end without NUL. */
struct laz_carrier_frame {
    enum laz_carrier_kind kind;
    const char *word; /* of the kind: written and read by frame.c alone */
    const char *link, *open, *caller, *worker, *boot, *digest, *tenant, *code, *reason;
    size_t word_len, link_len, open_len, caller_len, worker_len, boot_len, digest_len, tenant_len,
        code_len, reason_len;
    int64_t version, number, part, parts, credit, beat, deadline_ms, lease_ms;
    const char *data; /* behind the header */
    size_t len;
};

/* Appends the bytes of a frame. LAZ_ENOMEM shows in the buffer (`failed`). */
void laz_carrier_make(const struct laz_carrier_frame *frame, struct laz_buf *bytes);
/* Checks bytes of anybody and takes them apart: 0, or LAZ_EPROTO with a sentence, LAZ_ENOMEM. */
int laz_carrier_parse(const char *bytes, size_t len, struct laz_carrier_frame *frame,
                      struct laz_error *err);
/* Has the frame this id? The time that it takes does not depend on where they differ. */
bool laz_carrier_is_same(const char *id, const char *text, size_t len);

/* ---- links: link.c ----------------------------------------------------------------------------
 */

/* How a link has ended; the words travel. */
enum laz_link_reason {
    LAZ_LINK_NONE,           /* it has not */
    LAZ_LINK_CLOSED,         /* one side wanted that */
    LAZ_LINK_WORKER_LOST,    /* the caller has not heard of the worker, or nobody listens there */
    LAZ_LINK_CALLER_LOST,    /* the same of the caller */
    LAZ_LINK_FRAMES_LOST,    /* a number is missing */
    LAZ_LINK_PROTOCOL_ERROR, /* the peer has sent what it must not */
    LAZ_LINK_TOO_LARGE,      /* a line is larger than the peer takes */
    LAZ_LINK_REFUSED,        /* the bus does not let it send */
    LAZ_LINK_DRAINED,        /* the worker stops */
    LAZ_LINK_SUPERFLUOUS,    /* another worker has answered the same opening */
    LAZ_LINK_SLOW,           /* the peer does not read, and too much waits for it */
    LAZ_LINK_NO_MEMORY,
    LAZ_LINK_REASONS,
};

const char *laz_link_reason_word(enum laz_link_reason reason);
const char *laz_link_reason_text(enum laz_link_reason reason); /* a clause for people */
/* LAZ_LINK_NONE: no such word, or not one that this side may say. */
enum laz_link_reason laz_link_reason_said(const char *word, size_t len, bool by_worker);

#define LAZ_LINK_KEEPALIVE_MS 5000
#define LAZ_LINK_LEASE_MS     15000
#define LAZ_LINK_WINDOW       ((size_t)1 << 20)

/* Both sides of all links of a bus have the same ones. */
struct laz_link_limits {
    size_t part;     /* bytes of all parts of a line but its last; LAZ_CARRIER_PART */
    size_t window;   /* bytes that are sent before their reader gives credit; >= 2 parts */
    size_t max_line; /* bytes of a line */
    size_t most;     /* bytes that wait for credit, or the link ends as slow */
    int64_t keepalive_ms, lease_ms;
};

enum laz_link_state {
    LAZ_LINK_OPEN,
    LAZ_LINK_FINISHING, /* what waits is sent, then it ends; the owner ends it at last where the
                           peer is there and does not read */
    LAZ_LINK_ENDED,
    LAZ_LINK_STATES,
};

struct laz_link_line; /* link.c */

/* One side of a link. Its owner has it in its own memory, and looks at it by the functions. */
struct laz_link {
    const struct laz_link_limits *limits; /* borrowed */
    char id[LAZ_CARRIER_ID + 1];
    char boot[LAZ_CARRIER_ID + 1]; /* of the worker */
    bool is_worker;
    uint8_t state, reason;   /* enum laz_link_state, laz_link_reason */
    uint8_t wanted;          /* of FINISHING: the reason to end with */
    bool keeps, tells, ends; /* there are to send: a keep, an end; ENDED is to be reported */
    /* Lines that wait to be sent. */
    struct laz_link_line *first, *last;
    size_t waiting;  /* bytes that were not sent */
    size_t at;       /* bytes of the first line that were sent */
    int64_t part_at; /* and as so many parts */
    /* Sent. */
    int64_t n_sent, beats;
    uint64_t bytes_sent, allowed; /* by the peer */
    /* Received. */
    int64_t n_received, beats_heard, part, parts;
    uint64_t bytes_received, credit; /* as it was told the peer */
    struct laz_buf partial;          /* of a line of several parts */
    const char *line;                /* that is to be handed out */
    size_t line_len, unread;         /* handed out, and not read yet */
    uint64_t heard_ms, spoke_ms;
    uint64_t finish_ms; /* since when it finishes */
    uint64_t back_ms;   /* when the carrier was connected again, last; 0: never */
    /* Dropped: sent twice, of another link, after the end. */
    uint32_t n_repeated, n_foreign, n_late;
};

enum laz_link_event_type {
    LAZ_LINK_ON_FRAME,     /* was received; `frame` */
    LAZ_LINK_ON_NOISE,     /* bytes were received that are no frame */
    LAZ_LINK_ON_READ,      /* the owner is done with `bytes` of lines */
    LAZ_LINK_ON_TICK,      /* time has passed */
    LAZ_LINK_ON_CONNECTED, /* the carrier is connected again */
    LAZ_LINK_ON_NOBODY,    /* nobody listens where the peer did */
    LAZ_LINK_ON_REFUSED,   /* the bus does not let this side send to the peer */
    LAZ_LINK_ON_BOOT,      /* the worker of the link has said its boot id: `boot` */
    LAZ_LINK_ON_FINISH,    /* the owner wants it to end, when what waits was sent: `reason` */
    LAZ_LINK_ON_END,       /* the owner wants it to end now: `reason` */
    LAZ_LINK_EVENTS,
};

struct laz_link_event {
    enum laz_link_event_type type;
    const struct laz_carrier_frame *frame; /* borrowed until laz_link_next has said false */
    size_t bytes;
    const char *boot; /* ends with NUL */
    enum laz_link_reason reason;
};

enum laz_link_action_type {
    LAZ_LINK_SEND,   /* `frame` to the peer, with the subject of this side as its reply subject */
    LAZ_LINK_LINE,   /* the peer has sent `line`; then LAZ_LINK_ON_READ, now or later */
    LAZ_LINK_END_IT, /* it has ended, for `reason`: once, and the last action */
};

struct laz_link_action {
    enum laz_link_action_type type;
    struct laz_carrier_frame frame; /* borrowed until the next call */
    const char *line;               /* likewise */
    size_t len;
    enum laz_link_reason reason;
};

/* `boot`: of the worker, an id. A link begins when the worker has a place for it, and on the other
 * side when the caller hears that. */
void laz_link_init(struct laz_link *link, const struct laz_link_limits *limits, bool is_worker,
                   const char *id, const char *boot, uint64_t now_ms);
void laz_link_fini(struct laz_link *link);

/* Has a line sent, of 1 byte or more, which is copied. LAZ_ECLOSED: it has ended, or is about to.
 * LAZ_ETOOBIG: more than max_line. LAZ_ENOMEM. Nothing has changed then. Afterwards, as after each
 * step: laz_link_next until it says false. */
int laz_link_write(struct laz_link *link, const char *line, size_t len);
void laz_link_step(struct laz_link *link, uint64_t now_ms, const struct laz_link_event *event);
/* The next thing to do; false: there is none. */
bool laz_link_next(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action);
/* When it wants LAZ_LINK_ON_TICK; UINT64_MAX: never. */
uint64_t laz_link_due(const struct laz_link *link);
/* Bytes that wait for credit of the peer: above a bound of its own the owner makes no more. */
size_t laz_link_waiting(const struct laz_link *link);
/* Bytes that were received and are not read, parts of a line included. */
size_t laz_link_held(const struct laz_link *link);

/* ---- requests: requests.c ---------------------------------------------------------------------
 */

#define LAZ_REQUESTS_MOST 4096

/* A request of the host protocol that was sent and not answered. */
struct laz_open_request {
    int64_t id;
    bool is_execute; /* its end without an answer is the verdict worker_lost, else an error */
    void *user;
};

/* Those of one link, on the side of the caller. It decides how a request ends: the first of an
 * answer and the end of the link, and nothing after that. Starts zeroed. */
struct laz_requests {
    struct laz_open_request *items;
    size_t n, cap;
    bool is_over;    /* the link has ended: nothing is sent any more, and nothing sent again */
    uint64_t n_late; /* answers that came for what was not open */
};

/* LAZ_EBUSY: a request with this id is open. LAZ_ECLOSED: the link has ended. LAZ_EREFUSED: too
 * many. LAZ_ENOMEM. */
int laz_requests_add(struct laz_requests *requests, const struct laz_open_request *request,
                     struct laz_error *err);
/* An answer has come: true, the request ends with it. False: drop it. */
bool laz_requests_take(struct laz_requests *requests, int64_t id, struct laz_open_request *request);
/* The link has ended: the next request that ends with that; false: none is left. */
bool laz_requests_end(struct laz_requests *requests, struct laz_open_request *request);
void laz_requests_fini(struct laz_requests *requests);

#endif
