/* SPDX-License-Identifier: MIT */
/* random.c - bytes and tokens from the system's random source.
 *
 * getentropy (POSIX.1-2024, also glibc, musl, macOS) gives at most 256 bytes a call, and never
 * fewer than asked for.  Windows does not have it; there rand_s of the C library asks the system's
 * generator.  There is no weaker fallback on purpose. */
#ifndef HAVE_GETENTROPY
#define _CRT_RAND_S /* <stdlib.h> declares rand_s */
#endif
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

#define RANDOM_PIECE 256 /* the most that getentropy gives in one call */

/* Fills at most RANDOM_PIECE bytes: 0 or an errno. */
static int random_fill(unsigned char *bytes, size_t n)
{
#ifdef HAVE_GETENTROPY
    return getentropy(bytes, n) ? errno : 0;
#else
    for (size_t done = 0; done < n;) {
        unsigned value;
        size_t some = n - done < sizeof value ? n - done : sizeof value;
        int failed = rand_s(&value);
        if (failed)
            return failed;
        memcpy(bytes + done, &value, some);
        done += some;
    }
    return 0;
#endif
}

int laz_random_bytes(void *out, size_t len, struct laz_error *err)
{
    unsigned char *bytes = out;

    while (len) {
        size_t n = len < RANDOM_PIECE ? len : RANDOM_PIECE;
        int failed = random_fill(bytes, n);
        if (failed)
            return laz_error_os(err, failed, "no random bytes from the system");
        bytes += n;
        len -= n;
    }
    return 0;
}

int laz_random_name(char *out, size_t len, struct laz_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t done = 0;

    while (done < len) {
        uint8_t bytes[64];
        int rc = laz_random_bytes(bytes, sizeof bytes, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < sizeof bytes && done < len; i++)
            if (bytes[i] < 248) /* 4 * 62: no character is more likely than another */
                out[done++] = letters[bytes[i] % 62];
    }
    out[len] = '\0';
    return 0;
}

bool laz_equal_constant_time(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a;
    const volatile unsigned char *y = b;
    unsigned char different = 0;

    for (size_t i = 0; i < len; i++)
        different |= (unsigned char)(x[i] ^ y[i]);
    return different == 0;
}
