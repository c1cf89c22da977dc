/* SPDX-License-Identifier: MIT */
/* enforce.h - the words for what a backend can enforce and a policy can require.
 *
 * In base because both sides of the layers use them: settings reads them, plans declare them. */
#ifndef LAZ_BASE_ENFORCE_H
#define LAZ_BASE_ENFORCE_H

#include <stdint.h>

/* Name of one bit of LAZ_ENFORCE_* ("fs_read"); NULL for anything else. Static text. */
const char *laz_enforce_name(uint32_t bit);
/* The bit of a name; 0: no such name. */
uint32_t laz_enforce_bit(const char *name);

#endif
