/* SPDX-License-Identifier: MIT */
/* landlock_text.h - rights of Landlock (landlock.h) as letters. */
#ifndef LAZ_OS_LANDLOCK_TEXT_H
#define LAZ_OS_LANDLOCK_TEXT_H

#include <stdint.h>

/* The letters of `rights` (LAZ_LANDLOCK_*), and back; 0: a letter is not known. `text` has room for
 * 6. */
void laz_landlock_letters(uint32_t rights, char *text);
uint32_t laz_landlock_rights(const char *letters);

#endif
