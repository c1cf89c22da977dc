/* SPDX-License-Identifier: MIT */
/* keys.c - keys of Ed25519 as files of PEM (RFC 7468, RFC 8410).
 * Side: operator and server.  Input trusted: yes (files of the operator).
 *
 * A key has one encoding only (DER), of constant length: a few bytes that say what it is, which are
 * the same for every key, and 32 bytes.  So no parser of ASN.1 is needed. */
#include "token/token_private.h"

#include "base/base64.h"
#include "base/random.h"

#include <string.h>

#define PREFIX_MAX 16
static const struct keys_form {
    const char *label;
    uint8_t prefix[PREFIX_MAX];
    size_t len;
} forms[] = {
    {"PUBLIC KEY", {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00}, 12},
    {"PRIVATE KEY",
     {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
      0x20},
     16},
};

int laz_key_new(struct laz_key *key, struct laz_error *err)
{
    return laz_random_bytes(key->bytes, sizeof key->bytes, err);
}

void laz_key_write(const struct laz_key *key, bool is_private, struct laz_buf *pem)
{
    const struct keys_form *form = &forms[is_private];
    uint8_t der[PREFIX_MAX + LAZ_KEY_BYTES];

    memcpy(der, form->prefix, form->len);
    memcpy(der + form->len, key->bytes, LAZ_KEY_BYTES);
    laz_buf_printf(pem, "-----BEGIN %s-----\n", form->label);
    laz_base64_encode(pem, der, form->len + LAZ_KEY_BYTES);
    laz_buf_printf(pem, "\n-----END %s-----\n", form->label);
    laz_wipe(der, sizeof der);
}

/* Takes the next block of the text: true, its label and key. `*at` moves behind it. */
static bool keys_next(const char **at, const struct keys_form **form, struct laz_key *key)
{
    char text[96], der[96];
    size_t n = 0;

    *form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !*form; i++) {
        char begin[48];
        snprintf(begin, sizeof begin, "-----BEGIN %s-----", forms[i].label);
        if (strncmp(*at, begin, strlen(begin)) == 0) {
            *form = &forms[i];
            *at += strlen(begin);
        }
    }
    if (!*form)
        return false;
    for (; **at && **at != '-'; ++*at)
        if (!strchr(" \t\r\n", **at) && n < sizeof text)
            text[n++] = **at;
    char end[48];
    snprintf(end, sizeof end, "-----END %s-----", (*form)->label);
    const ptrdiff_t len = laz_base64_decode(text, n, der);
    const bool is_key = strncmp(*at, end, strlen(end)) == 0 &&
                        len == (ptrdiff_t)((*form)->len + LAZ_KEY_BYTES) &&
                        memcmp(der, (*form)->prefix, (*form)->len) == 0;
    if (is_key) {
        memcpy(key->bytes, der + (*form)->len, LAZ_KEY_BYTES);
        *at += strlen(end);
    }
    laz_wipe(text, sizeof text);
    laz_wipe(der, sizeof der);
    return is_key;
}

int laz_key_read(const char *pem, struct laz_key *key, struct laz_error *err)
{
    const struct keys_form *form;

    pem += strspn(pem, " \t\r\n");
    return keys_next(&pem, &form, key) && form == &forms[1]
               ? 0
               : laz_error_set(err, LAZ_EINVAL, 0,
                               "this is not a private key of Ed25519 in PEM, as lazaret token "
                               "--new-key or openssl genpkey -algorithm ed25519 make it");
}

int laz_keys_read(const char *pem, struct laz_keys *keys, struct laz_error *err)
{
    keys->n = 0;
    for (pem += strspn(pem, " \t\r\n"); *pem; pem += strspn(pem, " \t\r\n")) {
        const struct keys_form *form;
        struct laz_key key;
        if (!keys_next(&pem, &form, &key))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "key %zu is not a public key of Ed25519 in PEM", keys->n + 1);
        if (form != &forms[0])
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "key %zu is a private key, which belongs to who issues tokens: a "
                                 "server needs the public one",
                                 keys->n + 1);
        if (keys->n == LAZ_KEYS_MOST)
            return laz_error_set(err, LAZ_EINVAL, 0, "there are more than %d keys", LAZ_KEYS_MOST);
        keys->items[keys->n++] = key;
    }
    return keys->n ? 0 : laz_error_set(err, LAZ_EINVAL, 0, "there is no key");
}
