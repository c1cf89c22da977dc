/* SPDX-License-Identifier: MIT */
/* quota.h - identities, and what each has used of what it may.
 *
 * Several connections can be of one identity, and of several with different limits the narrowest
 * one of each kind counts, as long as they last.  What is counted by the minute is a bucket that
 * fills steadily and holds a minute's worth: so much can be used at once, and on the average no
 * more.  What is known only afterwards (CPU time) may overdraw it, and is paid off before anything
 * else begins.  The clock is the caller's. */
#ifndef LAZ_TOKEN_QUOTA_H
#define LAZ_TOKEN_QUOTA_H

#include "token/token.h"

#include <pthread.h>

enum laz_quota_kind { LAZ_QUOTA_CPU, LAZ_QUOTA_BYTES, LAZ_QUOTA_REQUESTS, LAZ_QUOTA_KINDS };

struct laz_bucket {
    double left; /* in thousandths; below 0: overdrawn */
    uint64_t at_ms;
};

struct laz_identity {
    struct laz_identity *next;
    char name[LAZ_IDENTITY_MAX + 1];
    unsigned connections;
    struct laz_quota quota;
    uint64_t sessions;
    uint64_t unread; /* bytes that wait for its connections */
    struct laz_bucket buckets[LAZ_QUOTA_KINDS];
};

/* Starts zeroed but for the lock. Any thread. An identity without connections is remembered until
 * its buckets are full again, so that nobody gets more by coming again. */
struct laz_identities {
    pthread_mutex_t lock;
    struct laz_identity *first;
    size_t n;
};
void laz_identities_init(struct laz_identities *all);
void laz_identities_fini(struct laz_identities *all);
/* A connection of this name; NULL: out of memory. Until laz_identity_leave. */
struct laz_identity *laz_identity_join(struct laz_identities *all, const char *name,
                                       const struct laz_quota *quota, uint64_t now_ms);
void laz_identity_leave(struct laz_identities *all, struct laz_identity *identity, uint64_t now_ms);

/* Counts so many sessions more; false: they would be too many, of *most. */
bool laz_identity_sessions(struct laz_identities *all, struct laz_identity *identity, uint64_t more,
                           uint64_t *most);
void laz_identity_sessions_end(struct laz_identities *all, struct laz_identity *identity,
                               uint64_t n);
/* Of one of its connections `now` bytes wait, where it was `before`. False: of all of them together
 * more than `most`. */
bool laz_identity_unread(struct laz_identities *all, struct laz_identity *identity, uint64_t before,
                         uint64_t now, uint64_t most);
/* Uses `n` (seconds may have fractions: thousandths, as `n_milli`) of what a minute has. 0, or the
 * milliseconds until there is something again: then nothing was used. */
uint64_t laz_identity_use(struct laz_identities *all, struct laz_identity *identity,
                          enum laz_quota_kind kind, uint64_t n_milli, uint64_t now_ms);
/* The same of what has happened already. */
void laz_identity_used(struct laz_identities *all, struct laz_identity *identity,
                       enum laz_quota_kind kind, uint64_t n_milli, uint64_t now_ms);

#endif
