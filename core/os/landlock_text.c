/* SPDX-License-Identifier: MIT */
/* landlock_text.c - the rights of a Landlock rule as letters, in plans and for the agent.
 * System: any; a plan for Linux can be created and shown everywhere. */
#include "os/landlock.h"

#include <string.h>

static const char text_letters[] = "rwxdtl"; /* by the bits of LAZ_LANDLOCK_* */

void laz_landlock_letters(uint32_t rights, char *text)
{
    for (size_t i = 0; text_letters[i]; i++)
        if (rights & 1u << i)
            *text++ = text_letters[i];
    *text = '\0';
}

uint32_t laz_landlock_rights(const char *letters)
{
    uint32_t rights = 0;

    for (; *letters; letters++) {
        const char *letter = strchr(text_letters, *letters);
        if (!letter)
            return 0;
        rights |= 1u << (letter - text_letters);
    }
    return rights;
}
