/* SPDX-License-Identifier: MIT */
/* quota.c - what identities have used.
 * Side: host.  Input trusted: no (names and numbers come with clients, and were checked). */
#include "token/quota.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_MS     60000
#define QUOTA_KEPT    4096 /* identities without connections that are remembered */
#define QUOTA_FOREVER 1e18 /* thousandths: no limit */

static uint64_t quota_of(const struct laz_quota *quota, enum laz_quota_kind kind)
{
    const uint64_t values[LAZ_QUOTA_KINDS] = {
        [LAZ_QUOTA_CPU] = quota->cpu_s,
        [LAZ_QUOTA_BYTES] = quota->bytes,
        [LAZ_QUOTA_REQUESTS] = quota->requests,
    };

    return values[kind];
}

/* What the bucket holds, in thousandths. */
static double quota_capacity(const struct laz_quota *quota, enum laz_quota_kind kind)
{
    const uint64_t value = quota_of(quota, kind);

    return value && value < (uint64_t)(QUOTA_FOREVER / 1000) ? (double)value * 1000 : QUOTA_FOREVER;
}

/* Time has passed. */
static void bucket_fill(struct laz_bucket *bucket, double capacity, uint64_t now_ms)
{
    const uint64_t passed = now_ms > bucket->at_ms ? now_ms - bucket->at_ms : 0;
    const double left = bucket->left + capacity * (double)passed / MINUTE_MS;

    bucket->at_ms = now_ms;
    bucket->left = left < capacity && capacity < QUOTA_FOREVER ? left : capacity;
}

static void identity_fill(struct laz_identity *identity, uint64_t now_ms)
{
    for (int kind = 0; kind < LAZ_QUOTA_KINDS; kind++)
        bucket_fill(&identity->buckets[kind], quota_capacity(&identity->quota, kind), now_ms);
}

static bool identity_is_new(const struct laz_identity *identity)
{
    bool is_full = true;

    for (int kind = 0; kind < LAZ_QUOTA_KINDS; kind++)
        is_full &= identity->buckets[kind].left >= quota_capacity(&identity->quota, kind);
    return is_full;
}

/* ---- the table ------------------------------------------------------------------------------- */

void laz_identities_init(struct laz_identities *all)
{
    *all = (struct laz_identities){.first = NULL};
    pthread_mutex_init(&all->lock, NULL);
}

void laz_identities_fini(struct laz_identities *all)
{
    while (all->first) {
        struct laz_identity *next = all->first->next;
        free(all->first);
        all->first = next;
    }
    pthread_mutex_destroy(&all->lock);
}

/* Forgets those that nobody is any more, and that could not be told from new ones. */
static void identities_tend(struct laz_identities *all, uint64_t now_ms)
{
    for (struct laz_identity **at = &all->first, *one; (one = *at);) {
        if (!one->connections)
            identity_fill(one, now_ms);
        if (one->connections || (all->n <= QUOTA_KEPT && !identity_is_new(one))) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        all->n--;
        free(one);
    }
}

struct laz_identity *laz_identity_join(struct laz_identities *all, const char *name,
                                       const struct laz_quota *quota, uint64_t now_ms)
{
    pthread_mutex_lock(&all->lock);
    identities_tend(all, now_ms);
    struct laz_identity *identity = all->first;
    while (identity && strcmp(identity->name, name) != 0)
        identity = identity->next;
    const bool is_new = !identity;
    if (is_new && (identity = calloc(1, sizeof *identity))) {
        memcpy(identity->name, name, strnlen(name, LAZ_IDENTITY_MAX));
        identity->next = all->first;
        all->first = identity;
        all->n++;
    }
    if (identity) {
        if (identity->connections++)
            laz_quota_narrow(&identity->quota, quota);
        else
            identity->quota = *quota;
        for (int kind = 0; kind < LAZ_QUOTA_KINDS && is_new; kind++)
            identity->buckets[kind] = (struct laz_bucket){quota_capacity(quota, kind), now_ms};
        identity_fill(identity, now_ms);
    }
    pthread_mutex_unlock(&all->lock);
    return identity;
}

void laz_identity_leave(struct laz_identities *all, struct laz_identity *identity, uint64_t now_ms)
{
    pthread_mutex_lock(&all->lock);
    identity->connections--;
    identities_tend(all, now_ms);
    pthread_mutex_unlock(&all->lock);
}

/* ---- using ----------------------------------------------------------------------------------- */

bool laz_identity_sessions(struct laz_identities *all, struct laz_identity *identity, uint64_t more,
                           uint64_t *most)
{
    pthread_mutex_lock(&all->lock);
    *most = identity->quota.sessions;
    const bool may = !*most || (more <= *most && identity->sessions <= *most - more);
    identity->sessions += may ? more : 0;
    pthread_mutex_unlock(&all->lock);
    return may;
}

void laz_identity_sessions_end(struct laz_identities *all, struct laz_identity *identity,
                               uint64_t n)
{
    pthread_mutex_lock(&all->lock);
    identity->sessions -= n;
    pthread_mutex_unlock(&all->lock);
}

bool laz_identity_unread(struct laz_identities *all, struct laz_identity *identity, uint64_t before,
                         uint64_t now, uint64_t most)
{
    pthread_mutex_lock(&all->lock);
    identity->unread += now - before;
    const bool may = identity->unread <= most;
    pthread_mutex_unlock(&all->lock);
    return may;
}

uint64_t laz_identity_use(struct laz_identities *all, struct laz_identity *identity,
                          enum laz_quota_kind kind, uint64_t n_milli, uint64_t now_ms)
{
    struct laz_bucket *bucket = &identity->buckets[kind];
    uint64_t wait_ms = 0;

    pthread_mutex_lock(&all->lock);
    const double capacity = quota_capacity(&identity->quota, kind);
    bucket_fill(bucket, capacity, now_ms);
    if (bucket->left > 0)
        bucket->left -= (double)n_milli;
    else
        wait_ms = (uint64_t)(-bucket->left * MINUTE_MS / capacity) + 1;
    pthread_mutex_unlock(&all->lock);
    return wait_ms;
}

void laz_identity_used(struct laz_identities *all, struct laz_identity *identity,
                       enum laz_quota_kind kind, uint64_t n_milli, uint64_t now_ms)
{
    struct laz_bucket *bucket = &identity->buckets[kind];

    pthread_mutex_lock(&all->lock);
    bucket_fill(bucket, quota_capacity(&identity->quota, kind), now_ms);
    bucket->left -= (double)n_milli;
    pthread_mutex_unlock(&all->lock);
}
