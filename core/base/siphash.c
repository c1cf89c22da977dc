/* SPDX-License-Identifier: MIT */
/* siphash.c - SipHash-2-4, of Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).
 *
 * For hash tables of untrusted names: only someone who knows the key can make names that collide.
 * None of the libraries in use has it, and Nettle's digests and MACs cost fifty times as much for a
 * short name. */
#include "base/siphash.h"

struct siphash {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t siphash_rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void siphash_round(struct siphash *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
    s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
    s->v0 = siphash_rotate(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
    s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
    s->v2 = siphash_rotate(s->v2, 32);
}

static inline void siphash_word(struct siphash *s, uint64_t word)
{
    s->v3 ^= word;
    siphash_round(s);
    siphash_round(s);
    s->v0 ^= word;
}

uint64_t laz_siphash(const struct laz_siphash_key *key, const void *data, size_t len)
{
    struct siphash s = {
        key->k0 ^ UINT64_C(0x736f6d6570736575),
        key->k1 ^ UINT64_C(0x646f72616e646f6d),
        key->k0 ^ UINT64_C(0x6c7967656e657261),
        key->k1 ^ UINT64_C(0x7465646279746573),
    };
    const unsigned char *bytes = data;
    uint64_t last = (uint64_t)len << 56;

    for (; len >= 8; bytes += 8, len -= 8) {
        uint64_t word = 0;
        for (unsigned i = 0; i < 8; i++) /* little-endian on any processor */
            word |= (uint64_t)bytes[i] << (8 * i);
        siphash_word(&s, word);
    }
    while (len--)
        last |= (uint64_t)bytes[len] << (8 * len);
    siphash_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        siphash_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
