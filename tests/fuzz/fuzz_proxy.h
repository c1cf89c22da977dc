/* SPDX-License-Identifier: MIT */
/* fuzz_proxy.h - what the targets of lazaret-proxy share: a search for a secret that is as simple
 * as it can be, and credentials to try. */
#ifndef LAZ_TESTS_FUZZ_PROXY_H
#define LAZ_TESTS_FUZZ_PROXY_H

#include "proxy/proxy_private.h"

#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

#define FUZZ_SEARCHED 1024 /* bytes of a secret */
#define FUZZ_BREAKS   8    /* line breaks in a row that are left out */

/* ---- what a reader sees ---------------------------------------------------------------------- */

struct fuzz_text { /* decoded; where each character begins in the source, and where it ends */
    unsigned char *data;
    size_t *from, *to;
    size_t len, breaks;
};

static inline void fuzz_put(struct fuzz_text *text, unsigned char c, size_t from, size_t to)
{
    if (c == '\n' || c == '\r') {
        if (text->breaks++ != FUZZ_BREAKS)
            return;
        c = 1; /* it is in no pattern */
    } else {
        text->breaks = 0;
    }
    text->data[text->len] = c;
    text->from[text->len] = from;
    text->to[text->len++] = to;
}

static inline int fuzz_hex(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static inline size_t fuzz_percent(struct fuzz_text *text, const unsigned char *data, size_t len,
                                  size_t i)
{
    if (data[i] == '%' && i + 2 < len && fuzz_hex(data[i + 1]) >= 0 && fuzz_hex(data[i + 2]) >= 0) {
        fuzz_put(text, (unsigned char)(fuzz_hex(data[i + 1]) * 16 + fuzz_hex(data[i + 2])), i,
                 i + 3);
        return 3;
    }
    fuzz_put(text, data[i], i, i + 1);
    return 1;
}

static inline size_t fuzz_unicode(struct fuzz_text *text, const unsigned char *data, size_t len,
                                  size_t i)
{
    unsigned code = 0;
    size_t n = 2;

    for (; n < 6 && i + n < len && fuzz_hex(data[i + n]) >= 0; n++)
        code = code * 16 + (unsigned)fuzz_hex(data[i + n]);
    if (n < 6)
        return n; /* it is broken, and stands for nothing */
    if (code >= 0x800)
        fuzz_put(text, (unsigned char)(0xe0 | code >> 12), i, i + 6);
    if (code >= 0x800)
        fuzz_put(text, (unsigned char)(0x80 | (code >> 6 & 63)), i, i + 6);
    else if (code >= 0x80)
        fuzz_put(text, (unsigned char)(0xc0 | code >> 6), i, i + 6);
    fuzz_put(text, (unsigned char)(code < 0x80 ? code : 0x80 | (code & 63)), i, i + 6);
    return 6;
}

static inline size_t fuzz_json(struct fuzz_text *text, const unsigned char *data, size_t len,
                               size_t i)
{
    static const char escapes[] = "n\nr\rt\tb\bf\f";

    if (data[i] != '\\') {
        fuzz_put(text, data[i], i, i + 1);
        return 1;
    }
    if (i + 1 == len)
        return 1;
    if (data[i + 1] == 'u')
        return fuzz_unicode(text, data, len, i);
    unsigned char c = data[i + 1];
    for (size_t k = 0; escapes[k]; k += 2)
        if (data[i + 1] == (unsigned char)escapes[k])
            c = (unsigned char)escapes[k + 1];
    fuzz_put(text, c, i, i + 2);
    return 2;
}

/* ---- what is searched for -------------------------------------------------------------------- */

/* The characters of base64 whose bits are all of the secret, which stands behind `before` bytes. */
static inline void fuzz_base64(const char *secret, size_t len, size_t before, bool is_url,
                               struct laz_buf *out)
{
    struct laz_buf plain = LAZ_BUF_INIT, coded = LAZ_BUF_INIT;

    laz_buf_append(&plain, "zz", before);
    laz_buf_append(&plain, secret, len);
    laz_buf_append(&plain, "zz", 2);
    laz_base64_encode(&coded, plain.data, plain.len);
    for (size_t i = 0; i < coded.len; i++) {
        char c = coded.data[i];
        if (is_url)
            c = c == '+' ? '-' : c == '/' ? '_' : c;
        if (i * 6 >= before * 8 && (i + 1) * 6 <= (before + len) * 8)
            laz_buf_putc(out, c);
    }
    laz_buf_fini(&plain);
    laz_buf_fini(&coded);
}

/* The first end of a pattern in a text; where it begins, the end of its fourth character, its end,
 * all in the source. */
struct fuzz_match {
    size_t begin, fourth, end;
};

static inline bool fuzz_search(const struct fuzz_text *text, const struct laz_buf *pattern,
                               struct fuzz_match *match)
{
    const unsigned char *at =
        text->len ? memmem(text->data, text->len, pattern->data, pattern->len) : NULL;

    if (!at)
        return false;
    const size_t i = (size_t)(at - text->data), fourth = pattern->len < 4 ? pattern->len : 4;
    match->begin = text->from[i];
    match->fourth = text->to[i + fourth - 1];
    match->end = text->to[i + pattern->len - 1];
    return true;
}

/* Is the secret in it, in any form? */
static inline bool fuzz_has(const char *secret, size_t secret_len, const char *data, size_t len,
                            struct fuzz_match *first)
{
    static size_t (*const readings[])(struct fuzz_text *, const unsigned char *, size_t,
                                      size_t) = {fuzz_percent, fuzz_json, NULL};
    struct laz_buf patterns[7] = {LAZ_BUF_INIT};
    struct fuzz_match match;
    bool found = false;

    secret_len = secret_len < FUZZ_SEARCHED ? secret_len : FUZZ_SEARCHED;
    laz_buf_append(&patterns[6], secret, secret_len);
    for (size_t k = 0; k < 6; k++)
        fuzz_base64(secret, secret_len, k % 3, k >= 3, &patterns[k]);
    for (size_t r = 0; r < 3; r++) {
        struct fuzz_text text = {.data = malloc(3 * len + 1),
                                 .from = malloc((3 * len + 1) * sizeof(size_t)),
                                 .to = malloc((3 * len + 1) * sizeof(size_t))};
        if (!text.data || !text.from || !text.to)
            abort();
        for (size_t i = 0; i < len;) {
            if (readings[r]) {
                i += readings[r](&text, (const unsigned char *)data, len, i);
            } else {
                fuzz_put(&text, (unsigned char)data[i], i, i + 1);
                i++;
            }
        }
        for (size_t k = 0; k < 7; k++)
            if (fuzz_search(&text, &patterns[k], &match) &&
                (!found || !first || match.end < first->end)) {
                found = true;
                if (first)
                    *first = match;
            }
        free(text.data);
        free(text.from);
        free(text.to);
    }
    for (size_t k = 0; k < 7; k++)
        laz_buf_fini(&patterns[k]);
    return found;
}

/* ---- credentials ----------------------------------------------------------------------------- */

#define FUZZ_NAME        "api.example.com"
#define FUZZ_PORT        443
#define FUZZ_PLACEHOLDER "ghp_0PlaceholderOfOneSecret0"
#define FUZZ_FOREIGN     "ghp_1PlaceholderOfAnother001"

static const char *const fuzz_secrets[] = {
    "tok_0123456789abcdefXYZ",
    "a+b/c=d%41\"\\'&<>q",
    "12345678",
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuv"
    "wxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ and so on",
};

struct fuzz_world {
    struct proxy_credential one, foreign, *items[1], *all;
    struct proxy_credentials own;
    const char *secret;
};

/* One of the ways in which a credential can be used. */
static inline void fuzz_world_init(struct fuzz_world *world, unsigned how)
{
    static const struct {
        const char *field, *before, *after, *user, *query, *placeholder;
        bool only, echo, is_ruled;
    } ways[] = {
        {.field = "Authorization", .before = "Bearer ", .after = ""},
        {.field = "X-Api_Key", .before = "k=", .after = ";", .only = true},
        {.field = "Authorization", .before = "Basic ", .after = "", .user = "x"},
        {.query = "key", .is_ruled = true},
        {.placeholder = FUZZ_PLACEHOLDER},
        {.field = "Authorization",
         .before = "token ",
         .after = "",
         .placeholder = FUZZ_PLACEHOLDER,
         .is_ruled = true},
        {.field = "Authorization", .before = "Bearer ", .after = "", .echo = true},
        {.query = "key", .placeholder = FUZZ_PLACEHOLDER, .only = true},
    };
    const unsigned way = how % 8;

    memset(world, 0, sizeof *world);
    world->secret = fuzz_secrets[how / 8 % 4];
    world->one = (struct proxy_credential){
        .id = 1,
        .holders = 1,
        .title = (char *)(uintptr_t) "one",
        .field = (char *)(uintptr_t)ways[way].field,
        .before = (char *)(uintptr_t)ways[way].before,
        .after = (char *)(uintptr_t)ways[way].after,
        .user = (char *)(uintptr_t)ways[way].user,
        .query = (char *)(uintptr_t)ways[way].query,
        .placeholder = (char *)(uintptr_t)ways[way].placeholder,
        .only = ways[way].only,
        .echo = ways[way].echo,
        .next = &world->foreign,
        .secret = (char *)(uintptr_t)world->secret,
        .secret_len = strlen(world->secret),
    };
    world->foreign = (struct proxy_credential){
        .id = 2, .holders = 1, .placeholder = (char *)(uintptr_t)FUZZ_FOREIGN};
    world->foreign.title = (char *)(uintptr_t) "another";
    if (ways[way].is_ruled) {
        laz_strv_add(&world->one.methods, "GET");
        laz_strv_add(&world->one.methods, "POST");
        laz_strv_add(&world->one.paths, "/v1/*");
    }
    if (!world->one.echo)
        world->one.pattern = proxy_pattern_new(world->secret, strlen(world->secret));
    world->items[0] = world->all = &world->one;
    world->own = (struct proxy_credentials){world->items, 1};
}

static inline void fuzz_world_fini(struct fuzz_world *world)
{
    proxy_pattern_drop(world->one.pattern);
    laz_strv_fini(&world->one.methods);
    laz_strv_fini(&world->one.paths);
}

/* ---- an exchange ----------------------------------------------------------------------------- */

struct fuzz_run {
    struct proxy_exchange exchange;
    struct proxy_bytes box, server;
    struct laz_buf to_server, to_box;
    unsigned used, denied, wanted;
    char denial[512];
};

static inline void fuzz_told(void *user, enum proxy_note_type type, const struct proxy_note *note)
{
    struct fuzz_run *run = user;

    run->used += type == PROXY_USED;
    run->denied += type == PROXY_DENIED;
    run->wanted += type == PROXY_WANTS;
    if (type == PROXY_DENIED && (!note->text || !*note->text))
        abort();
}

static inline void fuzz_run_init(struct fuzz_run *run, struct fuzz_world *world)
{
    memset(run, 0, sizeof *run);
    run->exchange = (struct proxy_exchange){
        .own = world->own,
        .all = &world->all,
        .id = 7,
        .name = FUZZ_NAME,
        .port = FUZZ_PORT,
        .box = &run->box,
        .server = &run->server,
        .tell = fuzz_told,
        .user = run,
    };
    if (proxy_exchange_init(&run->exchange, NULL))
        abort();
}

/* Moves what came out to where it is kept. */
static inline void fuzz_run_drain(struct fuzz_run *run)
{
    laz_buf_append(&run->to_server, run->server.out.data, run->server.out.len);
    laz_buf_append(&run->to_box, run->box.out.data, run->box.out.len);
    laz_buf_clear(&run->server.out);
    laz_buf_clear(&run->box.out);
}

static inline void fuzz_run_fini(struct fuzz_run *run)
{
    proxy_exchange_fini(&run->exchange);
    laz_buf_fini(&run->box.in);
    laz_buf_fini(&run->box.out);
    laz_buf_fini(&run->server.in);
    laz_buf_fini(&run->server.out);
    laz_buf_fini(&run->to_server);
    laz_buf_fini(&run->to_box);
}

#endif
