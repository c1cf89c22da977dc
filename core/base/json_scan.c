/* SPDX-License-Identifier: MIT */
/* json_scan.c - the strict scan that every JSON text passes first.
 * Side: host and agent.  Input trusted: no.
 *
 * The scan is one loop with a stack of its own, so no text causes recursion.  json_scan.h lists
 * what later code may rely on.  Each byte is read only a few times, whatever the text: no number is
 * converted, and repeated keys are found in linear time. */
#include "base/json_scan.h"

#include "base/json_lex.h"
#include "base/json_number.h"
#include "base/random.h"
#include "base/siphash.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- repeated keys --------------------------------------------------------------------------
 *
 * Keys are equal when their bytes are.  A few keys are compared with each other.  More keys are put
 * into a hash table, with a secret that is drawn from the system for this one scan: the author of
 * the text cannot predict which keys collide, and learns nothing from one text for the next.  So
 * the time is linear in the length of the text.  Only the scan of a large object asks the system
 * for random bytes.  A key with escapes is decoded once, into one buffer for all keys. */

#define KEYS_FEW        8 /* up to here keys are compared in pairs: 28 pairs cost less than 8 hashes */
#define KEYS_MANY       32768 /* up to here their table is in the cache; more are divided */
#define KEYS_PARTS      256
#define KEYS_PART_SHIFT 56

struct key {
    size_t at; /* offset in the text, or in `decoded` if escaped */
    size_t len;
    bool escaped;
};

/* A slot of the hash table. */
struct slot {
    uint32_t number; /* index of the key in its object, from 1; 0: free */
    uint32_t tag;    /* bits of its hash, the last of which choose the slot */
};

/* Starts zeroed. */
struct keys {
    const char *text;  /* the text being scanned */
    struct key *items; /* keys of all open objects, innermost last */
    size_t n, cap;
    struct laz_buf decoded; /* keys that were written with escapes */
    struct slot *slots;
    size_t cap_slots;
    struct laz_siphash_key secret;
    bool has_secret;
    bool failed; /* an allocation did */
};

static const char keys_repeated[] = "a key is repeated";

static const char *keys_no_memory(struct keys *keys)
{
    keys->failed = true;
    return "out of memory";
}

static void keys_fini(struct keys *keys)
{
    free(keys->items);
    free(keys->slots);
    laz_buf_fini(&keys->decoded);
}

static const char *key_bytes(const struct keys *keys, const struct key *key)
{
    return (key->escaped ? keys->decoded.data : keys->text) + key->at;
}

static bool keys_equal(const struct keys *keys, const struct key *a, const struct key *b)
{
    if (a->len != b->len)
        return false;
    const char *x = key_bytes(keys, a), *y = key_bytes(keys, b);
    return !a->len || (*x == *y && memcmp(x, y, a->len) == 0);
}

/* Adds the scanned key between the quotes at text[at]. Returns NULL, or what went wrong. */
static const char *keys_add(struct keys *keys, size_t at, size_t len, bool escaped)
{
    if (keys->n == keys->cap) {
        size_t cap = keys->cap ? keys->cap * 2 : 32;
        struct key *items = realloc(keys->items, cap * sizeof *items);
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
    keys->items[keys->n++] = (struct key){.at = at, .len = len, .escaped = escaped};
    return NULL;
}

static const char *keys_compare(const struct keys *keys, const struct key *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (keys_equal(keys, &items[i], &items[k]))
                return keys_repeated;
    return NULL;
}

/* An empty table with room for twice as many keys as there are. */
static const char *keys_make_table(struct keys *keys, size_t n, size_t *size)
{
    struct laz_error err;

    for (*size = 2 * KEYS_FEW; *size < 2 * n; *size *= 2)
        ;
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

/* Puts one of the keys into the table, whose slots before were chosen by their tags. True: it is
 * there already. */
static bool keys_insert(struct keys *keys, const struct key *items, size_t size, uint32_t number,
                        uint32_t tag)
{
    struct slot *slot = &keys->slots[tag & (size - 1)];

    while (slot->number) {
        if (slot->tag == tag && keys_equal(keys, &items[slot->number - 1], &items[number - 1]))
            return true;
        if (++slot == keys->slots + size)
            slot = keys->slots;
    }
    *slot = (struct slot){number, tag};
    return false;
}

static uint64_t key_hash(const struct keys *keys, const struct key *key)
{
    return laz_siphash(&keys->secret, key_bytes(keys, key), key->len);
}

static const char *keys_look_up(struct keys *keys, const struct key *items, size_t n)
{
    size_t size;
    const char *problem = keys_make_table(keys, n, &size);

    for (size_t i = 0; i < n && !problem; i++)
        if (keys_insert(keys, items, size, (uint32_t)i + 1, (uint32_t)key_hash(keys, &items[i])))
            problem = keys_repeated;
    return problem;
}

/* Those of one part after the other. `sorted` has room for all, `hashes` is theirs. */
static const char *keys_look_up_parts(struct keys *keys, const struct key *items, size_t n,
                                      struct slot *sorted, uint64_t *hashes)
{
    size_t ends[KEYS_PARTS] = {0}, size, first = 0;
    const char *problem = NULL;

    for (size_t i = 0; i < n; i++) {
        hashes[i] = key_hash(keys, &items[i]);
        ends[hashes[i] >> KEYS_PART_SHIFT]++;
    }
    for (size_t part = 0, sum = 0; part < KEYS_PARTS; part++) {
        const size_t here = ends[part];
        ends[part] = sum; /* its first one for now */
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        sorted[ends[hashes[i] >> KEYS_PART_SHIFT]++] =
            (struct slot){(uint32_t)i + 1, (uint32_t)hashes[i]};
    for (size_t part = 0; part < KEYS_PARTS && !problem; first = ends[part++]) {
        problem = keys_make_table(keys, ends[part] - first, &size);
        for (size_t i = first; i < ends[part] && !problem; i++)
            if (keys_insert(keys, items, size, sorted[i].number, sorted[i].tag))
                problem = keys_repeated;
    }
    return problem;
}

/* In one table each key would be somewhere else in memory: four times as slow. */
static const char *keys_look_up_many(struct keys *keys, const struct key *items, size_t n)
{
    size_t size;
    const char *problem = keys_make_table(keys, 1, &size);
    struct slot *sorted = problem ? NULL : malloc(n * sizeof *sorted);
    uint64_t *hashes = sorted ? malloc(n * sizeof *hashes) : NULL;

    if (!problem)
        problem =
            hashes ? keys_look_up_parts(keys, items, n, sorted, hashes) : keys_no_memory(keys);
    free(sorted);
    free(hashes);
    return problem;
}

/* The innermost object ends; its keys begin at index `first`. Checks and removes them. Returns
 * NULL, or what is wrong. */
static const char *keys_close(struct keys *keys, size_t first)
{
    if (keys->n == first)
        return NULL;
    if (keys->n - first >= UINT32_MAX / 4)
        return "an object has too many keys";
    struct key *items = keys->items + first;
    size_t n = keys->n - first;
    const char *problem = n <= KEYS_FEW    ? keys_compare(keys, items, n)
                          : n <= KEYS_MANY ? keys_look_up(keys, items, n)
                                           : keys_look_up_many(keys, items, n);

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

/* ---- strings --------------------------------------------------------------------------------- */

struct scan {
    const char *text;
    size_t len;
    size_t at;
    bool has_space; /* between what it consists of */
    const char *problem;
    struct keys keys;
    struct {
        bool object;
        size_t first_key;
    } stack[LAZ_JSON_MAX_DEPTH];
    size_t depth;
    struct laz_json_found *found; /* the members of the outermost object; see json_scan.h */
    size_t max_found, n_found;
};

static bool scan_fail(struct scan *scan, const char *problem)
{
    if (!scan->problem)
        scan->problem = problem;
    return false;
}

static inline void scan_space(struct scan *scan)
{
    while (scan->at < scan->len && json_is_space(scan->text[scan->at])) {
        scan->at++;
        scan->has_space = true;
    }
}

/* Checks the escape sequence at *i and moves *i behind it. */
static bool scan_escape(struct scan *scan, size_t *i)
{
    uint32_t code_point;
    size_t n;

    if (!laz_json_escape(scan->text + *i, scan->len - *i, &code_point, &n))
        return scan_fail(scan, "an escape sequence is not valid");
    if (!code_point)
        return scan_fail(scan, "a string contains \\u0000");
    *i += n;
    return true;
}

/* A string whose opening quote is at `at`; moves `at` behind the closing quote. */
static bool scan_string(struct scan *scan, bool *escaped)
{
    size_t i = scan->at + 1;

    *escaped = false;
    for (;;) {
        i += json_plain_span(scan->text + i, scan->len - i);
        if (i >= scan->len)
            return scan_fail(scan, "a string is not closed");
        unsigned char c = (unsigned char)scan->text[i];
        if (c == '"')
            break;
        scan->at = i;
        if (c == '\\') {
            *escaped = true;
            if (!scan_escape(scan, &i))
                return false;
        } else if (c >= 0x80) {
            size_t n = laz_utf8_span(scan->text + i, scan->len - i);
            if (!n)
                return scan_fail(scan, "a string is not valid UTF-8");
            i += n;
        } else {
            return scan_fail(scan, "a string contains a control character");
        }
    }
    scan->at = i + 1;
    return true;
}

/* ---- numbers: their form, and whether a double can hold them ---- */

/* The digits of 2^1024 - 2^970, halfway between the largest double and the next one if the range
 * went on: numbers from here on are rounded to infinity (IEEE 754-2008, 4.3.1). */
static const char too_large[] =
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
    "75872070963302864166928879109465555478519404026306574886715058206819089020007083836762738548"
    "45817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711"
    "559699508093042880177904174497792";

#define TOO_LARGE_EXPONENT 308

_Static_assert(sizeof too_large == TOO_LARGE_EXPONENT + 2, "all of its digits");

/* Is it less than 2^1024 - 2^970? The digits are compared one by one, because converting a number
 * costs up to a hundred times as much as reading it. */
static bool number_is_finite(const char *raw, size_t len)
{
    struct laz_json_digits number = laz_json_digits(raw, len);

    if (number.exponent != TOO_LARGE_EXPONENT)
        return number.exponent < TOO_LARGE_EXPONENT;
    for (const char *c = too_large; *c; c++) {
        int digit = laz_json_next_digit(&number);
        if (digit != *c - '0')
            return digit < *c - '0';
    }
    return false;
}

static bool scan_number(struct scan *scan)
{
    const char *start = scan->text + scan->at;
    bool has_exponent;
    const size_t len = json_number_span(start, scan->len - scan->at, &has_exponent);

    if (!len)
        return scan_fail(scan, "a number is not valid");
    if ((has_exponent || len > TOO_LARGE_EXPONENT) && !number_is_finite(start, len))
        return scan_fail(scan, "a number is out of range");
    scan->at += len;
    return true;
}

/* ---- the members of the outermost object ---- */

static inline bool scan_finds(const struct scan *scan)
{
    return scan->depth == 1 && scan->stack[0].object && scan->n_found <= scan->max_found;
}

/* A key of it, whose quotes are at `quote` and before `at`. */
static void scan_found_key(struct scan *scan, size_t quote)
{
    if (scan->n_found < scan->max_found)
        scan->found[scan->n_found] =
            (struct laz_json_found){.key = scan->text + quote + 1, .key_len = scan->at - quote - 2};
    scan->n_found++;
}

/* The value of the last key begins, or ends, at `at`. */
static void scan_found_value(struct scan *scan, bool ends)
{
    struct laz_json_found *found = scan->found + scan->n_found - 1;

    if (ends)
        found->len = (size_t)(scan->text + scan->at - found->raw);
    else
        found->raw = scan->text + scan->at;
}

/* ---- structure ---- */

static bool scan_key(struct scan *scan)
{
    scan_space(scan);
    size_t quote = scan->at;
    if (quote >= scan->len || scan->text[quote] != '"')
        return scan_fail(scan, "a key is expected");
    bool escaped;
    if (!scan_string(scan, &escaped))
        return false;
    const char *problem = keys_add(&scan->keys, quote + 1, scan->at - quote - 2, escaped);
    if (problem)
        return scan_fail(scan, problem);
    if (scan->depth == 1)
        scan_found_key(scan, quote);
    scan_space(scan);
    if (scan->at >= scan->len || scan->text[scan->at] != ':')
        return scan_fail(scan, "':' is expected");
    scan->at++;
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t n = strlen(word);

    if (scan->len - scan->at < n || memcmp(scan->text + scan->at, word, n) != 0)
        return scan_fail(scan, "a value is expected");
    scan->at += n;
    return true;
}

/* A value that is not a container, or the opening of one: *opened says which. */
static bool scan_value(struct scan *scan, bool *opened)
{
    *opened = false;
    scan_space(scan);
    if (scan->at >= scan->len)
        return scan_fail(scan, "a value is expected");
    if (scan_finds(scan))
        scan_found_value(scan, false);
    char c = scan->text[scan->at];
    switch (c) {
    case '{':
    case '[':
        if (scan->depth == LAZ_JSON_MAX_DEPTH)
            return scan_fail(scan, "nested deeper than 64 levels");
        scan->stack[scan->depth].object = c == '{';
        scan->stack[scan->depth].first_key = scan->keys.n;
        scan->depth++;
        scan->at++;
        *opened = true;
        return true;
    case '"':
        return scan_string(scan, &(bool){false});
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

/* After a value: closes what closes here; true with *more when another value follows. */
static bool scan_after(struct scan *scan, bool opened, bool *more)
{
    *more = true;
    for (;;) {
        if (!scan->depth) {
            *more = false;
            return true;
        }
        bool object = scan->stack[scan->depth - 1].object;
        size_t first_key = scan->stack[scan->depth - 1].first_key;
        scan_space(scan);
        if (scan->at >= scan->len)
            return scan_fail(scan, "the text ends inside a list or object");
        char c = scan->text[scan->at];
        if (c == (object ? '}' : ']')) {
            const char *problem = object ? keys_close(&scan->keys, first_key) : NULL;
            if (problem)
                return scan_fail(scan, problem);
            scan->at++;
            scan->depth--;
            opened = false;
            if (scan_finds(scan))
                scan_found_value(scan, true);
            continue;
        }
        if (!opened) {
            if (c != ',')
                return scan_fail(scan, "',' or the end of a list or object is expected");
            scan->at++;
        }
        return object ? scan_key(scan) : true;
    }
}

static int scan_all(struct scan *scan, struct laz_error *err)
{
    bool more = true;

    while (more) {
        bool opened;
        if (!scan_value(scan, &opened))
            break;
        if (!opened && scan_finds(scan))
            scan_found_value(scan, true);
        if (!scan_after(scan, opened, &more))
            break;
    }
    if (!scan->problem) {
        scan_space(scan);
        if (scan->at < scan->len)
            scan->problem = "something follows the value";
    }
    keys_fini(&scan->keys);
    if (scan->keys.failed)
        return laz_error_nomem(err);
    if (scan->problem)
        return laz_error_set(err, LAZ_EPARSE, 0, "not valid JSON: %s (byte %zu)", scan->problem,
                             scan->at);
    return 0;
}

int laz_json_scan_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                          size_t *n, struct laz_error *err)
{
    struct scan scan = {
        .text = text, .len = len, .keys.text = text, .found = found, .max_found = max};
    int rc = scan_all(&scan, err);

    *n = scan.n_found;
    return rc;
}

int laz_json_scan(const char *text, size_t len, struct laz_error *err)
{
    size_t n;

    return laz_json_scan_members(text, len, NULL, 0, &n, err);
}

int laz_json_scan_compact(const char *text, size_t len, struct laz_buf *buf, struct laz_error *err)
{
    struct scan scan = {.text = text, .len = len, .keys.text = text};
    int rc = scan_all(&scan, err);

    if (rc)
        return rc;
    if (scan.has_space)
        laz_json_compact(buf, text, len);
    else
        laz_buf_append(buf, text, len);
    return buf->failed ? laz_error_nomem(err) : 0;
}
