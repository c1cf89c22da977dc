/* SPDX-License-Identifier: MIT */
/* json_keys.c - finds repeated keys in the objects that are being scanned.
 * Side: host and agent.  Input trusted: no.
 *
 * Keys are equal when their bytes are.  A few keys are compared with each other.  More keys are put
 * into a hash table, with a secret that is drawn from the system for this one scan: the author of
 * the text cannot predict which keys collide, and learns nothing from one text for the next.  So
 * the time is linear in the length of the text.  Only the scan of a large object asks the system
 * for random bytes.  A key with escapes is decoded once, into one buffer for all keys. */
#include "base/json_keys.h"

#include "base/json_text.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_FEW 8 /* up to here keys are compared in pairs: 28 pairs cost less than 8 hashes */

static const char keys_repeated[] = "a key is repeated";

static const char *keys_no_memory(struct json_keys *keys)
{
    keys->failed = true;
    return "out of memory";
}

void json_keys_fini(struct json_keys *keys)
{
    free(keys->items);
    free(keys->slots);
    laz_buf_fini(&keys->decoded);
}

static const char *key_bytes(const struct json_keys *keys, const struct json_key *key)
{
    return (key->escaped ? keys->decoded.data : keys->text) + key->at;
}

static bool keys_equal(const struct json_keys *keys, const struct json_key *a,
                       const struct json_key *b)
{
    if (a->len != b->len)
        return false;
    const char *x = key_bytes(keys, a), *y = key_bytes(keys, b);
    return !a->len || (*x == *y && memcmp(x, y, a->len) == 0);
}

const char *json_keys_add(struct json_keys *keys, size_t at, size_t len, bool escaped)
{
    if (keys->n == keys->cap) {
        size_t cap = keys->cap ? keys->cap * 2 : 32;
        struct json_key *items = realloc(keys->items, cap * sizeof *items);
        if (!items)
            return keys_no_memory(keys);
        keys->items = items;
        keys->cap = cap;
    }
    if (escaped) {
        size_t start = keys->decoded.len;
        laz_json_decode_string(keys->text + at - 1, len + 2, &keys->decoded);
        if (keys->decoded.failed)
            return keys_no_memory(keys);
        at = start;
        len = keys->decoded.len - start;
    }
    keys->items[keys->n++] = (struct json_key){.at = at, .len = len, .escaped = escaped};
    return NULL;
}

static const char *keys_compare(const struct json_keys *keys, const struct json_key *items,
                                size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (keys_equal(keys, &items[i], &items[k]))
                return keys_repeated;
    return NULL;
}

/* An empty table with room for twice as many keys as there are. */
static const char *keys_make_table(struct json_keys *keys, size_t n, size_t *size)
{
    struct laz_error err;

    for (*size = 2 * KEYS_FEW; *size < 2 * n; *size *= 2)
        ;
    if (n >= UINT32_MAX / 4)
        return "an object has too many keys";
    if (!keys->has_secret && laz_random_bytes(&keys->secret, sizeof keys->secret, &err))
        return "the system gives no random bytes to look for repeated keys with";
    keys->has_secret = true;
    if (*size > keys->cap_slots) {
        free(keys->slots);
        keys->slots = calloc(*size, sizeof *keys->slots);
        keys->cap_slots = keys->slots ? *size : 0;
        return keys->slots ? NULL : keys_no_memory(keys);
    }
    memset(keys->slots, 0, *size * sizeof *keys->slots);
    return NULL;
}

static const char *keys_look_up(struct json_keys *keys, const struct json_key *items, size_t n)
{
    size_t size;
    const char *problem = keys_make_table(keys, n, &size);

    if (problem)
        return problem;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = laz_siphash(&keys->secret, key_bytes(keys, &items[i]), items[i].len);
        uint32_t tag = (uint32_t)(hash >> 32);
        struct json_slot *slot = &keys->slots[hash & (size - 1)];
        while (slot->number) {
            if (slot->tag == tag && keys_equal(keys, &items[slot->number - 1], &items[i]))
                return keys_repeated;
            if (++slot == keys->slots + size)
                slot = keys->slots;
        }
        *slot = (struct json_slot){(uint32_t)i + 1, tag};
    }
    return NULL;
}

const char *json_keys_close(struct json_keys *keys, size_t first)
{
    if (keys->n == first)
        return NULL;
    struct json_key *items = keys->items + first;
    size_t n = keys->n - first;
    const char *problem =
        n <= KEYS_FEW ? keys_compare(keys, items, n) : keys_look_up(keys, items, n);

    keys->n = first;
    for (size_t i = 0; i < n; i++) {
        if (items[i].escaped) { /* the first one: all that was decoded after it belongs to this
                                   object */
            keys->decoded.len = items[i].at;
            break;
        }
    }
    return problem;
}
