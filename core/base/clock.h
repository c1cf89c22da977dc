/* SPDX-License-Identifier: MIT */
/* clock.h - time that never goes back. */
#ifndef LAZ_BASE_CLOCK_H
#define LAZ_BASE_CLOCK_H

#include <stdint.h>

uint64_t laz_clock_us(void); /* monotonic, microseconds since some point */
uint64_t laz_clock_ms(void); /* the same in milliseconds */

#endif
