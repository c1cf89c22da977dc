/* SPDX-License-Identifier: MIT */
/* clock.c - monotonic time, and the time of day for records. */
#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t clock_read_us(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t laz_clock_us(void)
{
    return clock_read_us(CLOCK_MONOTONIC);
}

uint64_t laz_clock_thread_us(void)
{
    return clock_read_us(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t laz_clock_epoch_us(void)
{
    return clock_read_us(CLOCK_REALTIME);
}

uint64_t laz_clock_ms(void)
{
    return laz_clock_us() / 1000u;
}

static bool clock_utc(time_t seconds, struct tm *utc)
{
#ifdef HAVE_GMTIME_R
    return gmtime_r(&seconds, utc) != NULL;
#else
    return gmtime_s(utc, &seconds) == 0; /* Windows; C11 has the arguments in the other order */
#endif
}

int64_t laz_clock_unix_s(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

void laz_clock_stamp_of(int64_t unix_s, char stamp[LAZ_CLOCK_STAMP])
{
    struct tm utc;

    if (!clock_utc((time_t)unix_s, &utc))
        memset(&utc, 0, sizeof utc);
    strftime(stamp, LAZ_CLOCK_STAMP, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void laz_clock_stamp(char stamp[LAZ_CLOCK_STAMP])
{
    struct timespec now;
    struct tm utc;
    char seconds[32], whole[64];

    clock_gettime(CLOCK_REALTIME, &now);
    if (!clock_utc(now.tv_sec, &utc))
        memset(&utc, 0, sizeof utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(whole, sizeof whole, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
    snprintf(stamp, LAZ_CLOCK_STAMP, "%.24s", whole);
}
