/* SPDX-License-Identifier: MIT */
/* places.c - the places of a worker: who has one, and whether there are others to give.
 * Side: host.  Input trusted: no (openings of anybody who may ask).
 *
 * A worker without a free place does not listen to openings: so that the bus asks another one, and
 * where none listens it says so at once. An opening that is under way then is refused. An opening
 * is known by its id for as long as its link lives and a while longer, so that one which comes
 * twice, however late, takes one place. */
#include "carrier/places.h"

#include "carrier/carrier_private.h"

#include <stdlib.h>
#include <string.h>

struct places_pool {
    struct places_pool *next;
    size_t capacity, used;
    bool listens;
    char name[LAZ_CARRIER_NAME + 1];
};

struct laz_place_grant {
    struct laz_place_grant *in_bucket;
    struct laz_place_grant *later; /* of those that have ended, the oldest first */
    struct places_pool *pool;      /* NULL: its link has ended */
    uint64_t forget_ms;
    char open[LAZ_CARRIER_ID + 1], link[LAZ_CARRIER_ID + 1];
};

struct laz_places {
    struct laz_siphash_key key;
    struct places_pool *pools;
    struct laz_place_grant **buckets;
    size_t n_buckets; /* a power of two */
    size_t n_used, n_ended;
    struct laz_place_grant *oldest, *newest; /* that have ended */
    bool drains, has_left;
};

#define PLACES_BUCKETS 16

struct laz_places *laz_places_new(const struct laz_siphash_key *key)
{
    struct laz_places *places = calloc(1, sizeof *places);

    if (places)
        places->buckets = calloc(PLACES_BUCKETS, sizeof(struct laz_place_grant *));
    if (!places || !places->buckets) {
        free(places);
        return NULL;
    }
    places->n_buckets = PLACES_BUCKETS;
    places->key = *key;
    return places;
}

void laz_places_free(struct laz_places *places)
{
    if (!places)
        return;
    for (size_t i = 0; i < places->n_buckets; i++) {
        for (struct laz_place_grant *grant = places->buckets[i], *next; grant; grant = next) {
            next = grant->in_bucket;
            free(grant);
        }
    }
    for (struct places_pool *pool = places->pools, *next; pool; pool = next) {
        next = pool->next;
        free(pool);
    }
    free(places->buckets);
    free(places);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static struct places_pool *places_pool(const struct laz_places *places, const char *name)
{
    struct places_pool *pool = places->pools;

    while (pool && strcmp(pool->name, name) != 0)
        pool = pool->next;
    return pool;
}

int laz_places_pool(struct laz_places *places, const char *name, size_t capacity)
{
    struct places_pool *pool = places_pool(places, name);

    if (!laz_carrier_is_name(name, strlen(name)))
        return LAZ_EINVAL;
    if (!pool) {
        pool = calloc(1, sizeof *pool);
        if (!pool)
            return LAZ_ENOMEM;
        memcpy(pool->name, name, strlen(name) + 1);
        pool->next = places->pools;
        places->pools = pool;
    }
    pool->capacity = capacity;
    return 0;
}

static size_t pool_free(const struct places_pool *pool)
{
    return pool->used < pool->capacity ? pool->capacity - pool->used : 0;
}

/* ---- grants ---------------------------------------------------------------------------------- */

static struct laz_place_grant **places_bucket(const struct laz_places *places, const char *open)
{
    return &places->buckets[laz_siphash(&places->key, open, LAZ_CARRIER_ID) &
                            (places->n_buckets - 1)];
}

static struct laz_place_grant *places_find(const struct laz_places *places, const char *open)
{
    struct laz_place_grant *grant = *places_bucket(places, open);

    while (grant && memcmp(grant->open, open, LAZ_CARRIER_ID) != 0)
        grant = grant->in_bucket;
    return grant;
}

/* Twice as many buckets, where there is memory; else the lists are longer. */
static void places_grow(struct laz_places *places)
{
    const size_t n = places->n_buckets;
    struct laz_place_grant **old = places->buckets;
    struct laz_place_grant **buckets = calloc(n * 2, sizeof(struct laz_place_grant *));

    if (!buckets)
        return;
    places->buckets = buckets;
    places->n_buckets = n * 2;
    for (size_t i = 0; i < n; i++) {
        for (struct laz_place_grant *grant = old[i], *next; grant; grant = next) {
            next = grant->in_bucket;
            struct laz_place_grant **at = places_bucket(places, grant->open);
            grant->in_bucket = *at;
            *at = grant;
        }
    }
    free(old);
}

static void places_forget(struct laz_places *places)
{
    struct laz_place_grant *grant = places->oldest;
    struct laz_place_grant **at = places_bucket(places, grant->open);

    while (*at != grant)
        at = &(*at)->in_bucket;
    *at = grant->in_bucket;
    places->oldest = grant->later;
    if (!places->oldest)
        places->newest = NULL;
    places->n_ended--;
    free(grant);
}

/* Those that have ended long ago, or are too many. */
static void places_tidy(struct laz_places *places, uint64_t now_ms)
{
    while (places->oldest &&
           (places->oldest->forget_ms <= now_ms || places->n_ended > LAZ_PLACES_REMEMBERED))
        places_forget(places);
}

static int places_give(struct laz_places *places, struct places_pool *pool, const char *open,
                       const char *link, struct laz_places_given *given)
{
    struct laz_place_grant *grant = calloc(1, sizeof *grant);

    if (!grant)
        return LAZ_ENOMEM;
    memcpy(grant->open, open, LAZ_CARRIER_ID);
    memcpy(grant->link, link, LAZ_CARRIER_ID);
    grant->pool = pool;
    pool->used++;
    if (++places->n_used + places->n_ended > places->n_buckets)
        places_grow(places);
    struct laz_place_grant **at = places_bucket(places, open);
    grant->in_bucket = *at;
    *at = grant;
    *given = (struct laz_places_given){LAZ_PLACES_NEW, LAZ_PLACE_CODES, grant->link, grant};
    return 0;
}

int laz_places_open(struct laz_places *places, uint64_t now_ms, const char *name,
                    const struct laz_carrier_frame *open, const char *link,
                    struct laz_places_given *given)
{
    struct places_pool *pool = places_pool(places, name);

    places_tidy(places, now_ms);
    const struct laz_place_grant *known =
        CARRIER_HAS(CARRIER_IDEMPOTENT) ? places_find(places, open->open) : NULL;
    *given = (struct laz_places_given){.answer = LAZ_PLACES_REFUSED, .code = LAZ_PLACE_CODES};
    if (known && known->pool)
        *given = (struct laz_places_given){LAZ_PLACES_AGAIN, LAZ_PLACE_CODES, known->link, NULL};
    else if (known)
        given->code = LAZ_PLACE_ENDED;
    else if (!pool)
        given->code = LAZ_PLACE_UNKNOWN;
    else if (places->drains)
        given->code = LAZ_PLACE_DRAINING;
    else if (!pool_free(pool))
        given->code = LAZ_PLACE_FULL;
    else
        return places_give(places, pool, open->open, link, given);
    return 0;
}

void laz_places_ended(struct laz_places *places, uint64_t now_ms, struct laz_place_grant *grant)
{
    grant->pool->used--;
    grant->pool = NULL;
    grant->forget_ms = now_ms + LAZ_PLACES_REMEMBER_MS;
    if (places->newest)
        places->newest->later = grant;
    else
        places->oldest = grant;
    places->newest = grant;
    places->n_used--;
    places->n_ended++;
    places_tidy(places, now_ms);
}

void laz_places_drain(struct laz_places *places)
{
    places->drains = true;
}

bool laz_places_next(struct laz_places *places, struct laz_places_action *action)
{
    for (struct places_pool *pool = places->pools; pool; pool = pool->next) {
        const bool wants = !places->drains && pool_free(pool);
        if (pool->listens == wants)
            continue;
        pool->listens = wants;
        action->type = wants ? LAZ_PLACES_SUBSCRIBE : LAZ_PLACES_UNSUBSCRIBE;
        action->pool = pool->name;
        return true;
    }
    if (!places->drains || places->n_used || places->has_left)
        return false;
    places->has_left = true;
    *action = (struct laz_places_action){.type = LAZ_PLACES_EXIT};
    return true;
}

size_t laz_places_free_of(const struct laz_places *places, const char *name)
{
    const struct places_pool *pool = places_pool(places, name);

    return pool ? pool_free(pool) : 0;
}

size_t laz_places_used(const struct laz_places *places)
{
    return places->n_used;
}

size_t laz_places_remembered(const struct laz_places *places)
{
    return places->n_ended;
}
