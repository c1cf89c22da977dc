/* SPDX-License-Identifier: MIT */
/* system_paths.c - the paths that the loader and the interpreters of a system usually need.
 *
 * For plans that are made on another system; and on macOS itself, where these paths are the same on
 * every machine.  Most libraries of macOS have no file: they are in the shared cache of the loader,
 * below /System/Cryptexes/OS or, on older systems, /System/Library (dyld(1)).  Of Homebrew the
 * table has what its formulae install (Cellar) and the links to it, for the agent's own libraries
 * and the interpreters; not etc and var, where programs keep their settings and data. */
#include "os/system.h"

#include <lazaret/backend.h>

#include <string.h>

enum usual_use {
    USUAL_ALWAYS,
    USUAL_WHOLE, /* with all programs */
    USUAL_PARTS, /* when programs are chosen one by one */
};

static const struct {
    const char *platform;
    enum usual_use use;
    const char *link; /* the path is a link to this text; NULL: it is a file or a directory */
    const char *path;
} usual_paths[] = {
    {"linux", USUAL_WHOLE, NULL, "/usr"},
    {"linux", USUAL_PARTS, NULL, "/usr/lib"},
    {"linux", USUAL_PARTS, NULL, "/usr/lib64"},
    {"linux", USUAL_PARTS, NULL, "/usr/share"},
    {"linux", USUAL_PARTS, NULL, "/usr/local/lib"},
    {"linux", USUAL_ALWAYS, "usr/bin", "/bin"},
    {"linux", USUAL_ALWAYS, "usr/sbin", "/sbin"},
    {"linux", USUAL_ALWAYS, "usr/lib", "/lib"},
    {"linux", USUAL_ALWAYS, "usr/lib64", "/lib64"},
    {"linux", USUAL_ALWAYS, NULL, "/etc/ld.so.cache"},
    {"linux", USUAL_ALWAYS, NULL, "/etc/alternatives"},
    {"linux", USUAL_ALWAYS, NULL, "/etc/localtime"},
    {"linux", USUAL_ALWAYS, NULL, "/etc/ssl/certs"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/lib"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/share/icu"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/share/locale"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/share/zoneinfo"},
    {"darwin", USUAL_ALWAYS, NULL, "/System/Library"},
    {"darwin", USUAL_ALWAYS, NULL, "/System/Cryptexes/OS"},
    {"darwin", USUAL_ALWAYS, NULL, "/System/Volumes/Preboot/Cryptexes/OS"},
    {"darwin", USUAL_ALWAYS, NULL, "/Library/Apple"},
    {"darwin", USUAL_ALWAYS, NULL, "/etc/localtime"},
    {"darwin", USUAL_ALWAYS, NULL, "/var/db/timezone"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/local/lib"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/local/opt"},
    {"darwin", USUAL_ALWAYS, NULL, "/usr/local/Cellar"},
    {"darwin", USUAL_ALWAYS, NULL, "/opt/homebrew/lib"},
    {"darwin", USUAL_ALWAYS, NULL, "/opt/homebrew/opt"},
    {"darwin", USUAL_ALWAYS, NULL, "/opt/homebrew/Cellar"},
    {"darwin", USUAL_WHOLE, NULL, "/bin"},
    {"darwin", USUAL_WHOLE, NULL, "/sbin"},
    {"darwin", USUAL_WHOLE, NULL, "/usr/bin"},
    {"darwin", USUAL_WHOLE, NULL, "/usr/sbin"},
    {"darwin", USUAL_WHOLE, NULL, "/usr/local"},
    {"darwin", USUAL_WHOLE, NULL, "/opt/homebrew"},
};

void laz_os_usual_paths(const char *platform, bool programs,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user)
{
    const enum usual_use other = programs ? USUAL_PARTS : USUAL_WHOLE;

    for (size_t i = 0; i < sizeof usual_paths / sizeof usual_paths[0]; i++) {
        const char *link = usual_paths[i].link, *path = usual_paths[i].path;
        if (strcmp(usual_paths[i].platform, platform) == 0 && usual_paths[i].use != other)
            visit(user, link ? LAZ_PATH_SYMLINK : LAZ_PATH_READ, link ? link : path, path);
    }
}
