/* SPDX-License-Identifier: MIT */
/* token.c - tokens made and checked: JSON Web Tokens with EdDSA and nothing else.
 * Side: operator (making) and server (checking).  Input trusted: no (a token, until its signature
 * was verified; it is looked at in that order).
 *
 * There is one algorithm, so none can be chosen by who writes the header (RFC 8725, 3.1). */
#include "token/token_private.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/json_fields.h"
#include "base/json_scan.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_PART 3072 /* bytes that a part of a token decodes to, at most */

void laz_quota_narrow(struct laz_quota *quota, const struct laz_quota *by)
{
    const struct {
        uint64_t *to, by;
    } rows[] = {{&quota->sessions, by->sessions},
                {&quota->cpu_s, by->cpu_s},
                {&quota->bytes, by->bytes},
                {&quota->requests, by->requests}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].by && (!*rows[i].to || rows[i].by < *rows[i].to))
            *rows[i].to = rows[i].by;
}

bool laz_identity_is_valid(const char *name)
{
    const size_t len = strlen(name);

    return len && len <= LAZ_IDENTITY_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") ==
               len;
}

/* ---- the parts as data ----------------------------------------------------------------------- */

struct token_header {
    const char *algorithm, *critical;
    size_t critical_len;
};

struct token_limits {
    int64_t sessions, cpu, bytes, requests;
};

struct token_body {
    const char *subject, *id, *audience, *limits; /* the last two as JSON */
    size_t audience_len, limits_len;
    bool has_expires, has_not_before;
    int64_t expires_s, not_before_s;
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define AT(field)   .at = offsetof(struct STRUCT, field)
#define LIMIT(field, text)                                                                         \
    {                                                                                              \
#field, LAZ_FIELD_INTEGER, AT(field), .flags = LAZ_FIELD_OMIT, .min = 1, .max = INT64_MAX, \
                                              .help = text                                         \
    }

#define STRUCT token_limits
static const struct laz_field limit_rows[] = {
    LIMIT(sessions, "at a time"),
    LIMIT(cpu, "seconds of CPU time in a minute"),
    LIMIT(bytes, "in a minute"),
    LIMIT(requests, "in a minute"),
};
#undef STRUCT
/* A limit that this version does not know must not be ignored. */
static const struct laz_fields limit_fields = {.name = "'lazaret'",
                                               .size = sizeof(struct token_limits),
                                               .items = limit_rows,
                                               .n = COUNT(limit_rows),
                                               .is_closed = true};

#define STRUCT token_header
static const struct laz_field header_rows[] = {
    {"alg", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(algorithm)},
    {"crit", LAZ_FIELD_JSON, AT(critical), .len_at = offsetof(struct STRUCT, critical_len)},
};
#undef STRUCT
static const struct laz_fields header_fields = {.name = "its header",
                                                .size = sizeof(struct token_header),
                                                .items = header_rows,
                                                .n = COUNT(header_rows)};

#define STRUCT token_body
static const struct laz_field body_rows[] = {
    {"sub", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(subject)},
    {"exp", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_REQUIRED, AT(expires_s),
     .has_at = offsetof(struct STRUCT, has_expires), .min = 0, .max = INT64_MAX},
    {"nbf", LAZ_FIELD_INTEGER, AT(not_before_s), .has_at = offsetof(struct STRUCT, has_not_before),
     .min = 0, .max = INT64_MAX},
    {"jti", LAZ_FIELD_TEXT, AT(id)},
    {"aud", LAZ_FIELD_JSON, AT(audience), .len_at = offsetof(struct STRUCT, audience_len)},
    {"lazaret", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT(limits),
     .len_at = offsetof(struct STRUCT, limits_len)},
};
#undef STRUCT
static const struct laz_fields body_fields = {.name = "its claims",
                                              .size = sizeof(struct token_body),
                                              .items = body_rows,
                                              .n = COUNT(body_rows)};

/* ---- making ---------------------------------------------------------------------------------- */

static void token_add(struct laz_buf *text, struct laz_buf *part)
{
    laz_base64url_encode(text, laz_buf_text(part), part->len);
    text->failed |= part->failed;
    laz_buf_clear(part);
}

static void token_write_body(struct laz_json_write *write, const struct laz_claims *claims)
{
    const struct token_limits limits = {(int64_t)claims->quota.sessions,
                                        (int64_t)claims->quota.cpu_s, (int64_t)claims->quota.bytes,
                                        (int64_t)claims->quota.requests};

    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "sub", claims->subject);
    if (*claims->audience)
        laz_json_add_text(write, "aud", claims->audience);
    if (*claims->id)
        laz_json_add_text(write, "jti", claims->id);
    laz_json_add_int(write, "exp", claims->expires_s);
    if (claims->not_before_s)
        laz_json_add_int(write, "nbf", claims->not_before_s);
    if (limits.sessions || limits.cpu || limits.bytes || limits.requests)
        laz_fields_add(write, "lazaret", &limit_fields, &limits);
    laz_json_end_object(write);
}

int laz_token_make(const struct laz_claims *claims, const struct laz_key *key, struct laz_buf *text,
                   struct laz_error *err)
{
    struct laz_buf part = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &part};
    uint8_t signature[TOKEN_SIGNATURE];
    const size_t at = text->len;

    if (!laz_identity_is_valid(claims->subject) ||
        (*claims->audience && !laz_identity_is_valid(claims->audience)))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "a name in a token has 1 to %d letters, digits, '.', '_', '-' and '@'",
                             LAZ_IDENTITY_MAX);
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "alg", "EdDSA");
    laz_json_add_text(&write, "typ", "JWT");
    laz_json_end_object(&write);
    token_add(text, &part);
    laz_buf_putc(text, '.');
    write = (struct laz_json_write){.to = &part};
    token_write_body(&write, claims);
    token_add(text, &part);
    int rc = text->failed ? laz_error_nomem(err)
                          : laz_ed25519_sign(key, text->data + at, text->len - at, signature, err);
    laz_buf_fini(&part);
    if (rc)
        return rc;
    laz_buf_putc(text, '.');
    laz_base64url_encode(text, signature, sizeof signature);
    return text->failed ? laz_error_nomem(err) : 0;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int token_is_none(struct laz_error *err, const char *why)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "this is not a token of lazaret: %s", why);
}

/* Decodes a part and reads it as an object; the caller frees what was read (laz_fields_free), and
 * `json`, into which it points. */
static int token_part(const char *text, size_t len, const struct laz_fields *fields,
                      char json[TOKEN_PART], void *out, struct laz_error *err)
{
    const ptrdiff_t n = len / 4 * 3 + 3 < TOKEN_PART ? laz_base64url_decode(text, len, json) : -1;
    struct laz_fields_problem wrong;

    if (n < 0)
        return token_is_none(err, "a part of it is not base64url");
    if (laz_json_scan(json, (size_t)n, NULL) != 0 ||
        laz_fields_read(fields, json, (size_t)n, out, &wrong) != 0)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "this is not a token of lazaret: %s cannot be read", fields->name);
    return 0;
}

static int token_check_header(const char *text, size_t len, struct laz_error *err)
{
    char json[TOKEN_PART];
    struct token_header header = {0};
    int rc = token_part(text, len, &header_fields, json, &header, err);

    if (!rc && (strcmp(header.algorithm, "EdDSA") != 0 || header.critical))
        rc = token_is_none(err, "it must be signed with EdDSA, and have nothing critical");
    laz_fields_free(&header_fields, &header);
    return rc;
}

/* Is the name the audience, or one of them? */
static bool token_is_for(const struct token_body *body, const char *audience)
{
    char *one = NULL;
    bool is_for = !body->audience;

    if (body->audience && *body->audience == '"') {
        one = laz_json_to_string(body->audience, body->audience_len, NULL);
        is_for = one && strcmp(one, audience) == 0;
        free(one);
        return is_for;
    }
    struct laz_json_items items = laz_json_items(body->audience ? body->audience : "[]",
                                                 body->audience ? body->audience_len : 2);
    const char *raw;
    size_t len;
    while (!is_for && laz_json_next_item(&items, &raw, &len)) {
        one = laz_json_to_string(raw, len, NULL);
        is_for = one && strcmp(one, audience) == 0;
        free(one);
    }
    return is_for;
}

static int token_check_times(const struct token_body *body, int64_t now_s, struct laz_error *err)
{
    char stamp[LAZ_CLOCK_STAMP];

    if (now_s >= body->expires_s) {
        laz_clock_stamp_of(body->expires_s, stamp);
        return laz_error_set(err, LAZ_EREFUSED, 0, "the token has expired, at %s", stamp);
    }
    if (body->has_not_before && now_s < body->not_before_s) {
        laz_clock_stamp_of(body->not_before_s, stamp);
        return laz_error_set(err, LAZ_EREFUSED, 0, "the token is valid from %s on", stamp);
    }
    return 0;
}

static int token_take_limits(const struct token_body *body, struct laz_quota *quota,
                             struct laz_error *err)
{
    struct token_limits limits = {0};
    struct laz_fields_problem wrong;

    if (body->limits &&
        laz_fields_read(&limit_fields, body->limits, body->limits_len, &limits, &wrong) != 0)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "the token has limits that this server does not know");
    *quota = (struct laz_quota){(uint64_t)limits.sessions, (uint64_t)limits.cpu,
                                (uint64_t)limits.bytes, (uint64_t)limits.requests};
    return 0;
}

static int token_check_body(const char *text, size_t len, const char *audience, int64_t now_s,
                            struct laz_claims *claims, struct laz_error *err)
{
    char json[TOKEN_PART];
    struct token_body body = {0};
    int rc = token_part(text, len, &body_fields, json, &body, err);

    if (!rc && !laz_identity_is_valid(body.subject))
        rc = token_is_none(err, "its subject is not a name");
    if (!rc && body.id && strlen(body.id) > LAZ_IDENTITY_MAX)
        rc = token_is_none(err, "its id is too long");
    if (!rc)
        rc = token_check_times(&body, now_s, err);
    if (!rc && !token_is_for(&body, audience))
        rc = laz_error_set(err, LAZ_EREFUSED, 0,
                           "the token is for another server: this one is called '%s'", audience);
    if (!rc)
        rc = token_take_limits(&body, &claims->quota, err);
    if (!rc) {
        snprintf(claims->subject, sizeof claims->subject, "%s", body.subject);
        snprintf(claims->id, sizeof claims->id, "%s", body.id ? body.id : "");
        snprintf(claims->audience, sizeof claims->audience, "%s", audience);
        claims->expires_s = body.expires_s;
        claims->not_before_s = body.not_before_s;
    }
    laz_fields_free(&body_fields, &body);
    return rc;
}

static int token_check_signature(const char *text, size_t signed_len, const char *signature,
                                 size_t len, const struct laz_keys *keys, struct laz_error *err)
{
    uint8_t bytes[TOKEN_SIGNATURE + 3];
    bool is_signed = false;

    if (len > TOKEN_SIGNATURE * 4 / 3 + 1 ||
        laz_base64url_decode(signature, len, bytes) != TOKEN_SIGNATURE)
        return token_is_none(err, "its signature is of another length");
    for (size_t i = 0; i < keys->n && !is_signed; i++) {
        int rc = laz_ed25519_verify(&keys->items[i], text, signed_len, bytes, &is_signed, err);
        if (rc)
            return rc;
    }
    return is_signed
               ? 0
               : laz_error_set(err, LAZ_EREFUSED, 0, "no key of this server has signed the token");
}

int laz_token_check(const char *text, size_t len, const struct laz_keys *keys, const char *audience,
                    int64_t now_s, struct laz_claims *claims, struct laz_error *err)
{
    const char *first = len && len <= LAZ_JWT_MAX ? memchr(text, '.', len) : NULL;
    const char *second = first ? memchr(first + 1, '.', len - (size_t)(first + 1 - text)) : NULL;

    *claims = (struct laz_claims){.expires_s = 0};
    if (!second)
        return token_is_none(err, "it has three parts, with points between them");
    const size_t signed_len = (size_t)(second - text);
    int rc = token_check_signature(text, signed_len, second + 1, len - signed_len - 1, keys, err);
    if (!rc)
        rc = token_check_header(text, (size_t)(first - text), err);
    if (!rc)
        rc =
            token_check_body(first + 1, (size_t)(second - first - 1), audience, now_s, claims, err);
    if (rc)
        *claims = (struct laz_claims){.expires_s = 0};
    return rc;
}
