/* SPDX-License-Identifier: MIT */
/* wide.h - 32 bytes of a text at a time, by the vector types of gcc and clang.
 *
 * Where the processor has such registers always (SSE2, NEON), LAZ_WIDE is their number of bytes for
 * a step; elsewhere it is not defined, and callers have their loop for the rest of a text alone. No
 * byte outside of the text is read. */
#ifndef LAZ_BASE_WIDE_H
#define LAZ_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Eight bytes of a text. */
static inline uint64_t laz_word(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

#if defined __GNUC__ && (defined __SSE2__ || defined __ARM_NEON)
#define LAZ_WIDE 32

/* Comparisons give all bits or none in each byte. As signed numbers, bytes from 0x80 on are
 * negative. */
typedef signed char laz_wide_half __attribute__((vector_size(16)));
typedef uint64_t laz_wide_words __attribute__((vector_size(16)));

struct laz_wide {
    laz_wide_half first, second;
};

static inline struct laz_wide laz_wide_load(const char *text)
{
    struct laz_wide wide;

    memcpy(&wide.first, text, sizeof wide.first);
    memcpy(&wide.second, text + sizeof wide.first, sizeof wide.second);
    return wide;
}

/* Is any bit set? */
static inline bool laz_wide_any(laz_wide_half flags)
{
    const laz_wide_words words = (laz_wide_words)flags;

    return (words[0] | words[1]) != 0;
}
#endif

#endif
