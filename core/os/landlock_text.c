/* SPDX-License-Identifier: MIT */
/* landlock_text.c - the rights of a Landlock rule as letters, in plans and for the agent.
 * System: any; a plan for Linux can be made and shown everywhere. */
#include "os/landlock.h"

static const struct {
    uint32_t right;
    char letter;
} text_rights[] = {
    {LAZ_LANDLOCK_READ, 'r'}, {LAZ_LANDLOCK_WRITE, 'w'},    {LAZ_LANDLOCK_EXEC, 'x'},
    {LAZ_LANDLOCK_DEV, 'd'},  {LAZ_LANDLOCK_TERMINAL, 't'},
};

#define TEXT_RIGHTS (sizeof text_rights / sizeof text_rights[0])

void laz_landlock_letters(uint32_t rights, char *text)
{
    for (size_t i = 0; i < TEXT_RIGHTS; i++)
        if (rights & text_rights[i].right)
            *text++ = text_rights[i].letter;
    *text = '\0';
}

uint32_t laz_landlock_rights(const char *letters)
{
    uint32_t rights = 0;

    for (; *letters; letters++) {
        uint32_t right = 0;
        for (size_t i = 0; i < TEXT_RIGHTS; i++)
            if (text_rights[i].letter == *letters)
                right = text_rights[i].right;
        if (!right)
            return 0;
        rights |= right;
    }
    return rights;
}
