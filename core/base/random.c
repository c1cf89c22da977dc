/* SPDX-License-Identifier: MIT */
/* random.c - bytes and tokens from the system's random source.
 *
 * getentropy (POSIX.1-2024, also glibc, musl, macOS) gives at most 256 bytes a call and never less
 * than asked; there is no weaker fallback on purpose. */
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>
#if defined __APPLE__
#include <sys/random.h>
#endif

int laz_random_bytes(void *out, size_t len, struct laz_error *err)
{
    unsigned char *bytes = out;

    while (len) {
        size_t n = len < 256 ? len : 256;
        if (getentropy(bytes, n) != 0)
            return laz_error_os(err, errno, "no random bytes from the system");
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
            if (bytes[i] < 248) /* 4 * 62: no letter more likely than another */
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
