/* SPDX-License-Identifier: MIT */
/* placeholder.c - what stands for a secret inside of a box: a value of its shape, and no more.
 * Side: host.  Input trusted: yes.
 *
 * Programs look at the beginning of a token and at its length.  Of the secret the placeholder has
 * these two, and of its alphabet only whether that is one of digits, or of hexadecimal digits. */
#include "credential/credential_private.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

#define PLACEHOLDER_USUAL  40u /* characters, where the secret is not known */
#define PLACEHOLDER_RANDOM 20u /* at least so many are random: nothing else is taken for it */
#define PLACEHOLDER_PREFIX 16u /* at most so many are of the secret: "github_pat_", "sk-" */
#define PLACEHOLDER_MOST   256u

static const char placeholder_letters[] =
    "0123456789abcdefABCDEFghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ";

/* How many of these the secret needs; all beyond its prefix are among the first so many. */
static size_t placeholder_alphabet(const char *text, size_t len)
{
    static const size_t sizes[] = {10, 16};
    size_t n = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (n = 0; n < len && memchr(placeholder_letters, text[n], sizes[i]);)
            n++;
        if (n == len && len)
            return sizes[i];
    }
    return sizeof placeholder_letters - 1;
}

/* Short words of small letters, with at most two digits behind, and '_' or '-' ("sk-ant-api03-"),
 * where enough is left of the secret: pieces of a UUID or of a password say something of it. */
static size_t placeholder_prefix(const char *secret, size_t len)
{
    size_t prefix = 0, letters = 0, digits = 0;

    for (size_t i = 0; i < len && i < PLACEHOLDER_PREFIX; i++) {
        const char c = secret[i];
        if ((c == '_' || c == '-') && letters >= 2) {
            prefix = i + 1;
            letters = digits = 0;
        } else if (c >= 'a' && c <= 'z' && !digits && letters < 6) {
            letters++;
        } else if (c >= '0' && c <= '9' && letters && digits < 2) {
            digits++;
        } else {
            break;
        }
    }
    return len - prefix >= PLACEHOLDER_RANDOM ? prefix : 0;
}

char *credential_placeholder(const char *secret, size_t len)
{
    const size_t prefix = secret ? placeholder_prefix(secret, len) : 0;
    const size_t alphabet = secret ? placeholder_alphabet(secret + prefix, len - prefix)
                                   : sizeof placeholder_letters - 1;
    size_t total = secret ? len : PLACEHOLDER_USUAL;
    unsigned char bytes[PLACEHOLDER_MOST];

    total = total < prefix + PLACEHOLDER_RANDOM ? prefix + PLACEHOLDER_RANDOM : total;
    total = total > PLACEHOLDER_MOST ? PLACEHOLDER_MOST : total;
    char *made = calloc(1, total + 1);
    if (!made || laz_random_bytes(bytes, sizeof bytes, NULL)) {
        free(made);
        return NULL;
    }
    if (prefix)
        memcpy(made, secret, prefix);
    for (size_t i = prefix; i < total; i++)
        made[i] = placeholder_letters[bytes[i] % alphabet]; /* it need not be even */
    return made;
}
