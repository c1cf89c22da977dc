/* SPDX-License-Identifier: MIT */
/* enforce.c - the words for what a backend can enforce and a policy can require. */
#include "base/enforce.h"

#include <stddef.h>
#include <string.h>

#include <lazaret/backend.h>

static const struct {
    uint32_t bit;
    const char *name;
} enforce_words[] = {
    {LAZ_ENFORCE_FS_READ, "fs_read"},   {LAZ_ENFORCE_FS_WRITE, "fs_write"},
    {LAZ_ENFORCE_NETWORK, "network"},   {LAZ_ENFORCE_PROCESSES, "processes"},
    {LAZ_ENFORCE_SYSCALLS, "syscalls"}, {LAZ_ENFORCE_CPU, "cpu"},
    {LAZ_ENFORCE_MEMORY, "memory"},     {LAZ_ENFORCE_FSIZE, "fsize"},
    {LAZ_ENFORCE_NPROC, "nproc"},       {LAZ_ENFORCE_NOFILE, "nofile"},
    {LAZ_ENFORCE_SIGNALS, "signals"},
};

#define ENFORCE_WORDS (sizeof enforce_words / sizeof enforce_words[0])

const char *laz_enforce_name(uint32_t bit)
{
    for (size_t i = 0; i < ENFORCE_WORDS; i++)
        if (enforce_words[i].bit == bit)
            return enforce_words[i].name;
    return NULL;
}

uint32_t laz_enforce_bit(const char *name)
{
    for (size_t i = 0; name && i < ENFORCE_WORDS; i++)
        if (strcmp(enforce_words[i].name, name) == 0)
            return enforce_words[i].bit;
    return 0;
}
