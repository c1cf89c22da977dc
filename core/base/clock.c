/* SPDX-License-Identifier: MIT */
/* clock.c - time that never goes back. */
#include "base/clock.h"

#include <time.h>

uint64_t laz_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t laz_clock_ms(void)
{
    return laz_clock_us() / 1000u;
}
