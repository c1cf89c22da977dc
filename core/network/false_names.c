/* SPDX-License-Identifier: MIT */
/* false_names.c - the names that a box has asked for, and the addresses that stand for them.
 * Side: host.  Input trusted: no: names come from a box, which can ask for as many as a wildcard
 * permits.
 *
 * The addresses are a ring: one that was forgotten comes again only after all others, so that a
 * program that has kept it for long is refused, rather than led to another name. */
#include "network/network_private.h"

#include "base/random.h"
#include "base/siphash.h"

#include <stdlib.h>
#include <string.h>

#define FALSE_FIRST   0xc6120001u /* 198.18.0.1; 198.18.0.0 and 198.19.255.255 are not given */
#define FALSE_N       131070u
#define FALSE_BUCKETS 8192u
#define FALSE_NONE    UINT16_MAX

enum { FALSE_BY_NAME, FALSE_BY_ADDRESS, FALSE_TABLES };

struct false_name {
    char *name;
    uint32_t address;
    uint16_t next[FALSE_TABLES]; /* in its buckets */
    uint16_t newer, older;       /* in the order of use */
};

struct network_names {
    struct laz_siphash_key key;
    struct false_name *items; /* at most NETWORK_FALSE_NAMES */
    size_t n;
    uint16_t newest, oldest;
    uint32_t ring; /* the next address, from FALSE_FIRST */
    uint16_t buckets[FALSE_TABLES][FALSE_BUCKETS];
};

int network_names_new(struct network_names **names, struct laz_error *err)
{
    struct network_names *made = calloc(1, sizeof *made);
    int rc = made ? laz_random_bytes(&made->key, sizeof made->key, err) : laz_error_nomem(err);

    if (rc) {
        free(made);
        return rc;
    }
    memset(made->buckets, 0xff, sizeof made->buckets);
    made->newest = made->oldest = FALSE_NONE;
    *names = made;
    return 0;
}

void network_names_free(struct network_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i].name);
    free(names->items);
    free(names);
}

/* ---- the order of use ------------------------------------------------------------------------ */

static void false_unlink(struct network_names *names, uint16_t at)
{
    struct false_name *item = &names->items[at];

    *(item->newer == FALSE_NONE ? &names->newest : &names->items[item->newer].older) = item->older;
    *(item->older == FALSE_NONE ? &names->oldest : &names->items[item->older].newer) = item->newer;
}

static void false_push(struct network_names *names, uint16_t at)
{
    struct false_name *item = &names->items[at];

    item->newer = FALSE_NONE;
    item->older = names->newest;
    *(names->newest == FALSE_NONE ? &names->oldest : &names->items[names->newest].newer) = at;
    names->newest = at;
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint16_t *false_bucket(struct network_names *names, unsigned table, const void *key,
                              size_t len)
{
    return &names->buckets[table][laz_siphash(&names->key, key, len) % FALSE_BUCKETS];
}

static uint16_t *false_bucket_of(struct network_names *names, unsigned table,
                                 const struct false_name *item)
{
    return table == FALSE_BY_NAME
               ? false_bucket(names, table, item->name, strlen(item->name))
               : false_bucket(names, table, &item->address, sizeof item->address);
}

/* The index of the item with this name, or (NULL) this address. */
static uint16_t false_find(struct network_names *names, const char *name, uint32_t address)
{
    unsigned table = name ? FALSE_BY_NAME : FALSE_BY_ADDRESS;
    uint16_t at = *(name ? false_bucket(names, table, name, strlen(name))
                         : false_bucket(names, table, &address, sizeof address));

    while (at != FALSE_NONE &&
           (name ? strcmp(names->items[at].name, name) != 0 : names->items[at].address != address))
        at = names->items[at].next[table];
    return at;
}

static void false_enter(struct network_names *names, uint16_t at)
{
    for (unsigned table = 0; table < FALSE_TABLES; table++) {
        uint16_t *bucket = false_bucket_of(names, table, &names->items[at]);
        names->items[at].next[table] = *bucket;
        *bucket = at;
    }
    false_push(names, at);
}

static void false_forget(struct network_names *names, uint16_t at)
{
    for (unsigned table = 0; table < FALSE_TABLES; table++) {
        uint16_t *place = false_bucket_of(names, table, &names->items[at]);
        while (*place != at)
            place = &names->items[*place].next[table];
        *place = names->items[at].next[table];
    }
    false_unlink(names, at);
    free(names->items[at].name);
    names->items[at].name = NULL;
}

/* ---- giving ---------------------------------------------------------------------------------- */

/* The next one of the ring that no name has: at most NETWORK_FALSE_NAMES have one. */
static uint32_t false_next_address(struct network_names *names)
{
    uint32_t address;

    do {
        address = FALSE_FIRST + names->ring;
        names->ring = (names->ring + 1) % FALSE_N;
    } while (false_find(names, NULL, address) != FALSE_NONE);
    return address;
}

/* A place for a name, which nothing refers to; FALSE_NONE: out of memory. */
static uint16_t false_place(struct network_names *names)
{
    if (names->n == NETWORK_FALSE_NAMES) {
        uint16_t at = names->oldest;
        false_forget(names, at);
        return at;
    }
    if (!laz_grow(&names->items, &names->n, sizeof *names->items))
        return FALSE_NONE;
    return (uint16_t)(names->n - 1);
}

static struct network_address false_address(uint32_t value)
{
    struct network_address address = {.family = 4};

    for (size_t i = 0; i < 4; i++)
        address.bytes[i] = (uint8_t)(value >> 8 * (3 - i));
    return address;
}

static void false_use(struct network_names *names, uint16_t at)
{
    false_unlink(names, at);
    false_push(names, at);
}

bool network_names_give(struct network_names *names, const char *name,
                        struct network_address *address)
{
    uint16_t at = false_find(names, name, 0);

    if (at != FALSE_NONE)
        false_use(names, at);
    else {
        char *copy = laz_strdup(name);
        at = copy ? false_place(names) : FALSE_NONE;
        if (at == FALSE_NONE) {
            free(copy);
            return false;
        }
        names->items[at].name = copy;
        names->items[at].address = false_next_address(names);
        false_enter(names, at);
    }
    *address = false_address(names->items[at].address);
    return true;
}

const char *network_names_find(struct network_names *names, const struct network_address *address)
{
    if (!network_is_false(address))
        return NULL;
    uint32_t value = (uint32_t)address->bytes[0] << 24 | (uint32_t)address->bytes[1] << 16 |
                     (uint32_t)address->bytes[2] << 8 | address->bytes[3];
    uint16_t at = false_find(names, NULL, value);
    if (at == FALSE_NONE)
        return NULL;
    false_use(names, at);
    return names->items[at].name;
}

bool network_is_false(const struct network_address *address)
{
    static const struct network_block range = {{4, {198, 18}}, 15};

    return network_block_has(&range, address);
}
