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

/* The time of day in UTC, as written in records: "2026-01-31T12:34:56.789Z" (ISO 8601). */
#define LAZ_CLOCK_STAMP 25 /* bytes, with the NUL */
void laz_clock_stamp(char stamp[LAZ_CLOCK_STAMP]);

#endif
