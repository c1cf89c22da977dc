/* SPDX-License-Identifier: MIT */
/* json_keys.h - the keys of the objects that a scan is in: is one of them there twice?
 * Private to json_scan.c. */
#ifndef LAZ_BASE_JSON_KEYS_H
#define LAZ_BASE_JSON_KEYS_H

#include "base/buf.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_key {
    size_t at; /* in the text, or in `decoded` */
    size_t len;
    bool escaped;
};

/* A place of the table. */
struct json_slot {
    uint32_t number; /* of a key among its object's, from 1; 0: free */
    uint32_t tag;    /* of its hash, what did not choose the place */
};

/* Zeroed at the beginning. */
struct json_keys {
    const char *text;       /* what is scanned */
    struct json_key *items; /* of all open objects, innermost last */
    size_t n, cap;
    struct laz_buf decoded; /* those that were written with escapes */
    struct json_slot *slots;
    size_t cap_slots;
    struct laz_siphash_key secret;
    bool has_secret;
};

void json_keys_fini(struct json_keys *keys);

/* A key, as it stands between its quotes at text[at], scanned. NULL, or what went wrong. */
const char *json_keys_add(struct json_keys *keys, size_t at, size_t len, bool escaped);
/* The innermost object, whose keys begin with the number `first`, ends; its keys go. NULL, or what
 * is wrong. */
const char *json_keys_close(struct json_keys *keys, size_t first);

#endif
