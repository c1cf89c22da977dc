/* SPDX-License-Identifier: MIT */
/* echo.c - is a secret in what a server sends?
 * Side: proxy.  Input trusted: no.
 *
 * One automaton for each secret finds it as it is, and in base64 wherever in a longer text it
 * begins (Aho and Corasick: a state for each beginning of a pattern).  It runs over three readings
 * of the stream: the bytes, what they are without the escapes of URLs (RFC 3986, 2.1), and without
 * those of JSON (RFC 8259, 7).  Behind an escape they differ until each is at the beginning again;
 * before, one stands for all.  Line breaks are left out, which base64 in mails has, but not many
 * in a row: what is kept back has a bound.
 *
 * Bytes that may be the beginning of a secret are kept back until it is known; fewer than
 * ECHO_KEPT characters tell nothing, and would hold up streams whose pieces end with them. */
#include "proxy/proxy_private.h"

#include "base/base64.h"
#include "base/json_text.h" /* laz_hex_digit */

#include <stdlib.h>
#include <string.h>

#define ECHO_KEPT 4u
/* Bytes of a secret that are searched for. Tokens of one issuer begin alike, some for hundreds of
 * bytes, and are not each other's secrets. */
#define ECHO_SECRET   1024u
#define ECHO_LENGTH   1368u /* of a pattern: base64 of these and two more */
#define ECHO_PATTERNS 7u
#define ECHO_BREAKS   8u /* bytes of line breaks in a row */

struct proxy_pattern {
    unsigned holders;
    uint8_t class_of[256];  /* 0: in no pattern */
    bool is_looked_at[256]; /* by a reading at the beginning: it begins a pattern, or an escape */
    size_t n_classes;
    size_t n_nodes;
    uint16_t *next; /* of each node, for each class */
    uint16_t depth[ECHO_PATTERNS * ECHO_LENGTH + 1];
    bool is_end[ECHO_PATTERNS * ECHO_LENGTH + 1];
};

/* ---- patterns -------------------------------------------------------------------------------- */

static void pattern_add(struct proxy_pattern *pattern, const char *text, size_t len)
{
    size_t node = 0;

    for (size_t i = 0; i < len; i++) {
        uint16_t *next =
            &pattern->next[node * pattern->n_classes + pattern->class_of[(unsigned char)text[i]]];
        if (!*next) {
            pattern->depth[pattern->n_nodes] = (uint16_t)(i + 1);
            *next = (uint16_t)pattern->n_nodes++;
        }
        node = *next;
    }
    pattern->is_end[node] = true;
}

/* Breadth first: where no pattern goes on, the longest end of what was read that begins one does.
 */
static bool pattern_link(struct proxy_pattern *pattern)
{
    const size_t n = pattern->n_classes;
    uint16_t *fail = calloc(pattern->n_nodes, sizeof *fail);
    uint16_t *queue = calloc(pattern->n_nodes, sizeof *queue);
    size_t first = 0, last = 0;

    for (size_t c = 0; fail && queue && c < n; c++)
        if (pattern->next[c])
            queue[last++] = pattern->next[c];
    while (first < last) {
        const uint16_t node = queue[first++];
        for (size_t c = 0; c < n; c++) {
            uint16_t *to = &pattern->next[node * n + c];
            const uint16_t other = pattern->next[fail[node] * n + c];
            if (*to) {
                fail[*to] = other;
                queue[last++] = *to;
                pattern->is_end[*to] |= pattern->is_end[other];
            } else {
                *to = other;
            }
        }
    }
    for (size_t c = 0; c < 256; c++)
        pattern->is_looked_at[c] = c == '%' || c == '\\' || pattern->next[pattern->class_of[c]];
    const bool is_made = fail && queue;
    free(fail);
    free(queue);
    return is_made;
}

/* What of base64 is the same whatever stands before and behind: with `before` bytes before in its
 * group, the characters that have bits of the secret only. */
static void pattern_base64(const char *secret, size_t len, size_t before, struct laz_buf *text)
{
    static const size_t skipped[] = {0, 2, 3};
    char bytes[ECHO_SECRET + 2] = {0};
    struct laz_buf whole = LAZ_BUF_INIT;

    memcpy(bytes + before, secret, len);
    laz_base64_encode(&whole, bytes, before + len);
    const size_t end = (before + len) * 8 / 6;
    if (!whole.failed && end > skipped[before])
        laz_buf_append(text, whole.data + skipped[before], end - skipped[before]);
    text->failed |= whole.failed;
    laz_wipe(bytes, sizeof bytes);
    if (whole.data)
        laz_wipe(whole.data, whole.len);
    laz_buf_fini(&whole);
}

static void pattern_for_urls(struct laz_buf *text, const struct laz_buf *other)
{
    laz_buf_append(text, other->data, other->len);
    for (size_t i = 0; i < text->len; i++)
        text->data[i] = text->data[i] == '+' ? '-' : text->data[i] == '/' ? '_' : text->data[i];
}

static void pattern_count_classes(struct proxy_pattern *pattern, const struct laz_buf *texts)
{
    pattern->n_classes = 1;
    for (size_t k = 0; k < ECHO_PATTERNS; k++)
        for (size_t i = 0; i < texts[k].len; i++) {
            uint8_t *class = &pattern->class_of[(unsigned char)texts[k].data[i]];
            if (!*class)
                *class = (uint8_t)pattern->n_classes++;
        }
}

struct proxy_pattern *proxy_pattern_new(const char *secret, size_t len)
{
    struct proxy_pattern *pattern = calloc(1, sizeof *pattern);
    struct laz_buf texts[ECHO_PATTERNS] = {LAZ_BUF_INIT};
    size_t total = 1;
    bool failed = !pattern;

    len = len < ECHO_SECRET ? len : ECHO_SECRET;
    laz_buf_append(&texts[0], secret, len);
    for (size_t k = 0; k < 3; k++) {
        pattern_base64(secret, len, k, &texts[1 + k]);
        pattern_for_urls(&texts[4 + k], &texts[1 + k]);
    }
    for (size_t k = 0; k < ECHO_PATTERNS; k++) {
        failed |= texts[k].failed;
        total += texts[k].len;
    }
    if (!failed) {
        pattern_count_classes(pattern, texts);
        pattern->n_nodes = 1;
        pattern->next = calloc(total * pattern->n_classes, sizeof *pattern->next);
        failed = !pattern->next;
    }
    for (size_t k = 0; k < ECHO_PATTERNS; k++) {
        if (!failed && texts[k].len)
            pattern_add(pattern, texts[k].data, texts[k].len);
        if (texts[k].data)
            laz_wipe(texts[k].data, texts[k].len);
        laz_buf_fini(&texts[k]);
    }
    if (pattern)
        pattern->holders = 1;
    if (!failed && pattern_link(pattern))
        return pattern;
    proxy_pattern_drop(pattern);
    return NULL;
}

struct proxy_pattern *proxy_pattern_hold(struct proxy_pattern *pattern)
{
    if (pattern)
        pattern->holders++;
    return pattern;
}

void proxy_pattern_drop(struct proxy_pattern *pattern)
{
    if (!pattern || --pattern->holders)
        return;
    if (pattern->next)
        laz_wipe(pattern->next, pattern->n_nodes * pattern->n_classes * sizeof *pattern->next);
    free(pattern->next);
    laz_wipe(pattern, sizeof *pattern);
    free(pattern);
}

/* ---- a stream -------------------------------------------------------------------------------- */

void proxy_echo_begin(struct proxy_echo *echo, const struct proxy_pattern *pattern)
{
    echo->pattern = pattern;
    echo->offset = 0;
    echo->is_split = false;
    for (size_t i = 0; i < PROXY_READINGS; i++) {
        struct proxy_reading *reading = &echo->readings[i];
        reading->state = reading->pending = reading->digits = reading->breaks = 0;
        reading->n = 0;
    }
}

/* One character of a reading, which began at `start`. True: it ends the secret. */
static inline bool reading_take(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                                unsigned char c, uint64_t start)
{
    if (c == '\n' || c == '\r') {
        if (reading->breaks == ECHO_BREAKS)
            reading->state = 0;
        else
            reading->breaks++;
        return false;
    }
    reading->breaks = 0;
    reading->state = pattern->next[reading->state * pattern->n_classes + pattern->class_of[c]];
    if (reading->state) /* the ends of no pattern are asked for */
        reading->starts[reading->n++ % PROXY_DEPTH] = start;
    return pattern->is_end[reading->state];
}

/* Escapes of URLs: %41. What is none is taken as it is. */
static bool reading_percent(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                            unsigned char c, uint64_t offset)
{
    const int digit = laz_hex_digit((char)c);
    bool found = false;

    if (reading->digits == 2 && digit >= 0) {
        const unsigned high = (unsigned)laz_hex_digit((char)reading->pending);
        reading->digits = 0;
        return reading_take(pattern, reading, (unsigned char)(high << 4 | (unsigned)digit),
                            offset - 2);
    }
    if (reading->digits == 1 && digit >= 0) {
        reading->digits = 2;
        reading->pending = c;
        return false;
    }
    if (reading->digits)
        found = reading_take(pattern, reading, '%', offset - reading->digits);
    if (reading->digits == 2)
        found |= reading_take(pattern, reading, (unsigned char)reading->pending, offset - 1);
    reading->digits = c == '%';
    return found || (c != '%' && reading_take(pattern, reading, c, offset));
}

/* A character of JSON by its number, in UTF-8. */
static bool reading_unicode(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                            uint32_t code, uint64_t start)
{
    if (code < 0x80)
        return reading_take(pattern, reading, (unsigned char)code, start);
    if (code < 0x800)
        return reading_take(pattern, reading, (unsigned char)(0xc0 | code >> 6), start) |
               reading_take(pattern, reading, (unsigned char)(0x80 | (code & 0x3f)), start);
    return reading_take(pattern, reading, (unsigned char)(0xe0 | code >> 12), start) |
           reading_take(pattern, reading, (unsigned char)(0x80 | (code >> 6 & 0x3f)), start) |
           reading_take(pattern, reading, (unsigned char)(0x80 | (code & 0x3f)), start);
}

/* Escapes of JSON. `digits`: 1 behind a backslash, 2 to 5 behind \u and its digits so far. */
static bool reading_json(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                         unsigned char c, uint64_t offset)
{
    const int digit = laz_hex_digit((char)c);

    if (reading->digits >= 2 && digit >= 0) {
        reading->pending = reading->pending << 4 | (uint32_t)digit;
        if (++reading->digits < 6)
            return false;
        reading->digits = 0;
        return reading_unicode(pattern, reading, reading->pending, offset - 5);
    }
    if (reading->digits == 1) {
        reading->digits = c == 'u' ? 2 : 0;
        reading->pending = 0;
        if (c == 'u')
            return false;
        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        c = c == 't' ? '\t' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
        return reading_take(pattern, reading, c, offset - 1);
    }
    reading->digits = c == '\\';
    return c != '\\' && reading_take(pattern, reading, c, offset);
}

/* Without escapes: up to one, or to the end; *at moves there. True: the secret was in it. */
static bool echo_plain(struct proxy_echo *echo, const unsigned char *data, size_t len, size_t *at)
{
    const struct proxy_pattern *pattern = echo->pattern;
    struct proxy_reading *reading = &echo->readings[0];
    const uint64_t before = echo->offset - *at;
    bool found = false;
    size_t i = *at;

    while (!found) {
        while (!reading->state && i < len && !pattern->is_looked_at[data[i]])
            i++;
        if (i == len || data[i] == '%' || data[i] == '\\')
            break;
        found = reading_take(pattern, reading, data[i], before + i);
        i++;
    }
    echo->offset = before + i;
    *at = i;
    return found;
}

static void echo_split(struct proxy_echo *echo)
{
    const struct proxy_reading *from = &echo->readings[0];

    echo->is_split = true;
    for (size_t i = 1; i < PROXY_READINGS; i++) {
        struct proxy_reading *to = &echo->readings[i];
        to->state = from->state;
        to->breaks = from->breaks;
        to->digits = 0;
        to->n = from->n;
        for (uint64_t k = from->n - echo->pattern->depth[from->state]; k < from->n; k++)
            to->starts[k % PROXY_DEPTH] = from->starts[k % PROXY_DEPTH];
    }
}

/* Where escapes are, until all readings are at the beginning. */
static bool echo_escaped(struct proxy_echo *echo, const unsigned char *data, size_t len, size_t *at)
{
    const struct proxy_pattern *pattern = echo->pattern;
    struct proxy_reading *raw = &echo->readings[0], *percent = raw + 1, *json = raw + 2;

    while (echo->is_split && *at < len) {
        const unsigned char c = data[(*at)++];
        const uint64_t offset = echo->offset++;
        if (reading_take(pattern, raw, c, offset) | reading_percent(pattern, percent, c, offset) |
            reading_json(pattern, json, c, offset))
            return true;
        echo->is_split =
            raw->state || percent->state || json->state || percent->digits || json->digits;
    }
    return false;
}

/* How many of the last bytes may be the beginning of a secret. */
static size_t echo_hold(const struct proxy_echo *echo)
{
    size_t hold = 0;

    for (size_t i = 0; i < (echo->is_split ? PROXY_READINGS : 1); i++) {
        const struct proxy_reading *reading = &echo->readings[i];
        const uint16_t depth = echo->pattern->depth[reading->state];
        if (depth < ECHO_KEPT)
            continue;
        const uint64_t start = reading->starts[(reading->n - depth) % PROXY_DEPTH];
        if (echo->offset - start > hold)
            hold = (size_t)(echo->offset - start);
    }
    return hold;
}

bool proxy_echo_feed(struct proxy_echo *echo, const char *data, size_t len, size_t *hold)
{
    const unsigned char *bytes = (const unsigned char *)data;
    bool found = false;
    size_t at = 0;

    *hold = 0;
    if (!echo->pattern)
        return false;
    while (at < len && !found) {
        if (echo->is_split) {
            found = echo_escaped(echo, bytes, len, &at);
        } else {
            found = echo_plain(echo, bytes, len, &at);
            if (at < len && !found)
                echo_split(echo);
        }
    }
    if (!found)
        *hold = echo_hold(echo);
    return found;
}

bool proxy_echo_in(const struct proxy_pattern *pattern, const char *data, size_t len)
{
    struct proxy_echo echo;
    size_t hold;

    proxy_echo_begin(&echo, pattern);
    return proxy_echo_feed(&echo, data, len, &hold);
}
