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
 * What may go on with a secret is kept back until more has come.  What that is must not tell
 * whether it is the beginning of this secret: code that has a server send its guesses would see
 * from where a piece ends, or when it comes, which of them is right, and find a secret one
 * character after the other.  So the last word is kept back, whatever it says: all bytes behind the
 * last one that no token has. */
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
#define ECHO_BREAKS   8u  /* bytes of line breaks in a row */
#define ECHO_LINE     24u /* a shorter word goes on when its line ends: people wait for lines */

struct proxy_pattern {
    unsigned holders;
    uint8_t class_of[256];  /* 0: in no pattern */
    bool is_looked_at[256]; /* by a reading at the beginning: it begins a pattern, or an escape */
    bool is_word[256];      /* it may be of a secret like this one, or of an encoding of it */
    size_t most; /* bytes that are kept back: each character and line break as six of JSON */
    size_t n_classes;
    size_t n_nodes;
    uint16_t *next; /* of each node, for each class */
    bool is_end[ECHO_PATTERNS * ECHO_LENGTH + 1];
};

/* ---- patterns -------------------------------------------------------------------------------- */

static void pattern_add(struct proxy_pattern *pattern, const char *text, size_t len)
{
    size_t node = 0;

    for (size_t i = 0; i < len; i++) {
        uint16_t *next =
            &pattern->next[node * pattern->n_classes + pattern->class_of[(unsigned char)text[i]]];
        if (!*next)
            *next = (uint16_t)pattern->n_nodes++;
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

/* The same for all secrets of letters and digits. Of others it tells which signs they have. */
static void pattern_words(struct proxy_pattern *pattern, const char *secret, size_t len)
{
    for (int c = 'a'; c <= 'z'; c++)
        pattern->is_word[c] = pattern->is_word[c - 'a' + 'A'] = true;
    for (const char *c = "0123456789+/-_=%\\"; *c; c++)
        pattern->is_word[(unsigned char)*c] = true;
    for (size_t i = 0; i < len; i++)
        pattern->is_word[(unsigned char)secret[i]] = true;
}

struct proxy_pattern *proxy_pattern_new(const char *secret, size_t len)
{
    struct proxy_pattern *pattern = calloc(1, sizeof *pattern);
    struct laz_buf texts[ECHO_PATTERNS] = {LAZ_BUF_INIT};
    size_t total = 1, longest = 0;
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
        longest = texts[k].len > longest ? texts[k].len : longest;
    }
    if (!failed) {
        pattern_words(pattern, secret, len);
        pattern->most = (longest + 1) * (ECHO_BREAKS + 1) * 6;
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
    echo->word = echo->signs = echo->breaks = 0;
    echo->is_split = false;
    for (size_t i = 0; i < PROXY_READINGS; i++) {
        struct proxy_reading *reading = &echo->readings[i];
        reading->state = reading->pending = reading->digits = reading->breaks = 0;
    }
}

/* One character of a reading. True: it ends the secret. */
static inline bool reading_take(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                                unsigned char c)
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
    return pattern->is_end[reading->state];
}

/* Escapes of URLs: %41. What is none is taken as it is. */
static bool reading_percent(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                            unsigned char c)
{
    const int digit = laz_hex_digit((char)c);
    bool found = false;

    if (reading->digits == 2 && digit >= 0) {
        const unsigned high = (unsigned)laz_hex_digit((char)reading->pending);
        reading->digits = 0;
        return reading_take(pattern, reading, (unsigned char)(high << 4 | (unsigned)digit));
    }
    if (reading->digits == 1 && digit >= 0) {
        reading->digits = 2;
        reading->pending = c;
        return false;
    }
    if (reading->digits)
        found = reading_take(pattern, reading, '%');
    if (reading->digits == 2)
        found |= reading_take(pattern, reading, (unsigned char)reading->pending);
    reading->digits = c == '%';
    return found || (c != '%' && reading_take(pattern, reading, c));
}

/* A character of JSON by its number, in UTF-8. */
static bool reading_unicode(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                            uint32_t code)
{
    if (code < 0x80)
        return reading_take(pattern, reading, (unsigned char)code);
    if (code < 0x800)
        return reading_take(pattern, reading, (unsigned char)(0xc0 | code >> 6)) |
               reading_take(pattern, reading, (unsigned char)(0x80 | (code & 0x3f)));
    return reading_take(pattern, reading, (unsigned char)(0xe0 | code >> 12)) |
           reading_take(pattern, reading, (unsigned char)(0x80 | (code >> 6 & 0x3f))) |
           reading_take(pattern, reading, (unsigned char)(0x80 | (code & 0x3f)));
}

/* Escapes of JSON. `digits`: 1 behind a backslash, 2 to 5 behind \u and its digits so far. */
static bool reading_json(const struct proxy_pattern *pattern, struct proxy_reading *reading,
                         unsigned char c)
{
    const int digit = laz_hex_digit((char)c);

    if (reading->digits >= 2 && digit >= 0) {
        reading->pending = reading->pending << 4 | (uint32_t)digit;
        if (++reading->digits < 6)
            return false;
        reading->digits = 0;
        return reading_unicode(pattern, reading, reading->pending);
    }
    if (reading->digits == 1) {
        reading->digits = c == 'u' ? 2 : 0;
        reading->pending = 0;
        if (c == 'u')
            return false;
        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        c = c == 't' ? '\t' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
        return reading_take(pattern, reading, c);
    }
    reading->digits = c == '\\';
    return c != '\\' && reading_take(pattern, reading, c);
}

/* Without escapes: up to one, or to the end; *at moves there. True: the secret was in it. */
static bool echo_plain(struct proxy_echo *echo, const unsigned char *data, size_t len, size_t *at)
{
    const struct proxy_pattern *pattern = echo->pattern;
    struct proxy_reading *reading = &echo->readings[0];
    bool found = false;
    size_t i = *at;

    while (!found) {
        while (!reading->state && i < len && !pattern->is_looked_at[data[i]])
            i++;
        if (i == len || data[i] == '%' || data[i] == '\\')
            break;
        found = reading_take(pattern, reading, data[i]);
        i++;
    }
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
    }
}

/* Where escapes are, until all readings are at the beginning. */
static bool echo_escaped(struct proxy_echo *echo, const unsigned char *data, size_t len, size_t *at)
{
    const struct proxy_pattern *pattern = echo->pattern;
    struct proxy_reading *raw = &echo->readings[0], *percent = raw + 1, *json = raw + 2;

    while (echo->is_split && *at < len) {
        const unsigned char c = data[(*at)++];
        if (reading_take(pattern, raw, c) | reading_percent(pattern, percent, c) |
            reading_json(pattern, json, c))
            return true;
        echo->is_split =
            raw->state || percent->state || json->state || percent->digits || json->digits;
    }
    return false;
}

/* How many of the last bytes are kept back: nothing of what the automaton has found is asked. */
static size_t echo_hold(struct proxy_echo *echo, const unsigned char *data, size_t len)
{
    const bool *is_word = echo->pattern->is_word;
    const size_t most = echo->pattern->most;
    size_t from = len > most ? len - most : 0;

    for (size_t i = len; i > from; i--)
        if (!is_word[data[i - 1]] && data[i - 1] != '\n' && data[i - 1] != '\r') {
            from = i;
            break;
        }
    if (from) /* else the word of before goes on */
        echo->word = echo->signs = echo->breaks = 0;
    for (size_t i = from; i < len; i++) {
        const bool is_break = data[i] == '\n' || data[i] == '\r';
        echo->breaks = is_break ? echo->breaks + 1 : 0;
        echo->signs += !is_break;
        echo->word++;
        if (echo->breaks > ECHO_BREAKS)
            echo->word = echo->signs = 0;
    }
    if (echo->signs < (echo->breaks ? ECHO_LINE : ECHO_KEPT))
        return 0;
    return echo->word < most ? (size_t)echo->word : most;
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
        *hold = echo_hold(echo, bytes, len);
    return found;
}

bool proxy_echo_in(const struct proxy_pattern *pattern, const char *data, size_t len)
{
    struct proxy_echo echo;
    size_t hold;

    proxy_echo_begin(&echo, pattern);
    return proxy_echo_feed(&echo, data, len, &hold);
}
