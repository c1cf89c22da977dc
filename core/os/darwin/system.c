/* SPDX-License-Identifier: MIT */
/* system.c - what the loader and interpreters need to find of this system.  System: macOS.
 *
 * The usual places of a Mac (core/os/default_paths.c), as far as they are there. */
#include "os/os.h"

#include <sys/stat.h>

struct system_look {
    void (*visit)(void *user, uint32_t kind, const char *host, const char *box);
    void *user;
};

static void system_visit(void *user, uint32_t kind, const char *host, const char *box)
{
    const struct system_look *look = user;
    struct stat st;

    if (stat(box, &st) == 0)
        look->visit(look->user, kind, host, box);
}

void laz_os_system_paths(bool programs,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    struct system_look look = {visit, user};

    laz_os_usual_paths(laz_os_platform(), programs, system_visit, &look);
}

const char *laz_os_platform(void)
{
    return "darwin";
}
