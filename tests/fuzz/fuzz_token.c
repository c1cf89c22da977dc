/* SPDX-License-Identifier: MIT */
/* fuzz_token.c - what a stranger sends first, on any bytes: a token as it is, and the same with a
 * signature of its own, so that what stands behind that check is reached; keys; and notes. */
#include "base/base64.h"
#include "base/utf8.h"
#include "gate/gate.h"
#include "token/token_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1800000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_token(const char *text, size_t len, const struct laz_keys *keys)
{
    struct laz_claims claims;
    struct laz_error err = {0};
    const int rc = laz_token_check(text, len, keys, "lazaret", NOW, &claims, &err);

    must(rc == 0 || rc == LAZ_EREFUSED);
    must(!rc == !*err.text && laz_utf8_is_valid(err.text, strlen(err.text)));
    must(rc ? !claims.expires_s : laz_identity_is_valid(claims.subject));
    must(rc || claims.expires_s > NOW);
}

/* Two parts of JSON with a point between them become a token. */
static void check_signed(const char *text, size_t len, const struct laz_key *key,
                         const struct laz_keys *keys)
{
    const char *point = memchr(text, '|', len);
    struct laz_buf token = LAZ_BUF_INIT;
    uint8_t signature[TOKEN_SIGNATURE];

    if (!point)
        return;
    laz_base64url_encode(&token, text, (size_t)(point - text));
    laz_buf_putc(&token, '.');
    laz_base64url_encode(&token, point + 1, len - (size_t)(point + 1 - text));
    if (!token.failed && laz_ed25519_sign(key, token.data, token.len, signature, NULL) == 0) {
        laz_buf_putc(&token, '.');
        laz_base64url_encode(&token, signature, sizeof signature);
        check_token(token.data, token.len, keys);
    }
    laz_buf_fini(&token);
}

static void check_note(const char *text, size_t len, bool of_client)
{
    enum gate_note_type type;
    struct gate_note note;
    struct laz_error err = {0};

    if (gate_note_parse(text, len, of_client, &type, &note, &err) == 0) {
        must(of_client == (type == GATE_AUTHENTICATE));
        must(type != GATE_CLIENT || (note.identity && note.address && note.sessions >= 0));
    } else {
        must(*err.text != '\0');
    }
    gate_note_fini(type, &note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct laz_key key = {{1, 2, 3}};
    struct laz_keys keys = {.n = 1};
    char *text = laz_strndup((const char *)data, size);

    if (!text || laz_key_public(&key, &keys.items[0], NULL) != 0)
        abort();
    check_token(text, size, &keys);
    check_signed(text, size, &key, &keys);
    check_note(text, size, true);
    check_note(text, size, false);
    struct laz_keys read;
    struct laz_key one;
    must(laz_keys_read(text, &read, NULL) != 0 || (read.n && read.n <= LAZ_KEYS_MOST));
    (void)laz_key_read(text, &one, NULL);
    free(text);
    return 0;
}
