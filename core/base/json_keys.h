/* SPDX-License-Identifier: MIT */
/* json_keys.h - finds repeated keys in the objects that are being scanned. Private to
 * json_scan.c. */
#ifndef LAZ_BASE_JSON_KEYS_H
#define LAZ_BASE_JSON_KEYS_H

#include "base/buf.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_key {
    size_t at; /* offset in the text, or in `decoded` if escaped */
    size_t len;
    bool escaped;
};

/* A slot of the hash table. */
struct json_slot {
    uint32_t number; /* index of the key in its object, from 1; 0: free */
    uint32_t tag;    /* the bits of the hash that did not choose the slot */
};

/* Starts zeroed. */
struct json_keys {
    const char *text;       /* the text being scanned */
    struct json_key *items; /* keys of all open objects, innermost last */
    size_t n, cap;
    struct laz_buf decoded; /* keys that were written with escapes */
    struct json_slot *slots;
    size_t cap_slots;
    struct laz_siphash_key secret;
    bool has_secret;
    bool failed; /* an allocation did */
};

void json_keys_fini(struct json_keys *keys);

/* Adds the scanned key between the quotes at text[at]. Returns NULL, or what went wrong. */
const char *json_keys_add(struct json_keys *keys, size_t at, size_t len, bool escaped);
/* The innermost object ends; its keys begin at index `first`. Checks and removes them. Returns
 * NULL, or what is wrong. */
const char *json_keys_close(struct json_keys *keys, size_t first);

#endif
