/* SPDX-License-Identifier: MIT */
/* clock.h - monotonic time, and the time of day for records. */
#ifndef LAZ_BASE_CLOCK_H
#define LAZ_BASE_CLOCK_H

#include <stdint.h>

uint64_t laz_clock_us(void); /* monotonic: microseconds since an unspecified point */
uint64_t laz_clock_ms(void); /* the same in milliseconds */
/* CPU time of the calling thread, in microseconds: how long a piece of work takes on a machine that
 * is also busy with something else. */
uint64_t laz_clock_thread_us(void);

uint64_t laz_clock_epoch_us(void); /* the time of day: microseconds since 1970 */

#define LAZ_CLOCK_STAMP 25 /* bytes of a time in records, with the NUL */

/* Seconds since 1970-01-01 in UTC, as in certificates and tokens; and such a time as in records,
 * whole seconds. */
int64_t laz_clock_unix_s(void);
void laz_clock_stamp_of(int64_t unix_s, char stamp[LAZ_CLOCK_STAMP]);

/* The time of day in UTC, as written in records: "2026-01-31T12:34:56.789Z" (ISO 8601). */
void laz_clock_stamp(char stamp[LAZ_CLOCK_STAMP]);

#endif
