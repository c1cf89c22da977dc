/* SPDX-License-Identifier: MIT */
/* system_darwin.c - what the loader and interpreters need to find of this system.  System: macOS.
 *
 * The same places as in a plan for macOS that is made elsewhere (core/engine/policy.c), as far as
 * they are there.  Most libraries of the system have no file: they are in the shared cache of the
 * loader, below /System/Cryptexes/OS or, on older systems, /System/Library (dyld(1)).  Of Homebrew
 * what its formulae install (Cellar) and the links to it: the agent's own libraries are there, and
 * the interpreters; not etc and var, where programs keep their settings and data. */
#include "os/os.h"

#include <lazaret/backend.h>

#include <sys/stat.h>

static const struct {
    const char *path;
    bool programs; /* only with all programs */
} system_paths[] = {
    {"/usr/lib", false},
    {"/usr/share/icu", false},
    {"/usr/share/locale", false},
    {"/usr/share/zoneinfo", false},
    {"/System/Library", false},
    {"/System/Cryptexes/OS", false},
    {"/System/Volumes/Preboot/Cryptexes/OS", false},
    {"/Library/Apple", false},
    {"/etc/localtime", false},
    {"/var/db/timezone", false},
    {"/usr/local/lib", false},
    {"/usr/local/opt", false},
    {"/usr/local/Cellar", false},
    {"/opt/homebrew/lib", false},
    {"/opt/homebrew/opt", false},
    {"/opt/homebrew/Cellar", false},
    {"/bin", true},
    {"/sbin", true},
    {"/usr/bin", true},
    {"/usr/sbin", true},
    {"/usr/local", true},
    {"/opt/homebrew", true},
};

void laz_os_system_paths(bool programs,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    struct stat st;

    for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0]; i++)
        if ((programs || !system_paths[i].programs) && stat(system_paths[i].path, &st) == 0)
            visit(user, LAZ_PATH_READ, system_paths[i].path, system_paths[i].path);
}

const char *laz_os_platform(void)
{
    return "darwin";
}
