/* SPDX-License-Identifier: MIT */
/* system_linux.c - what the loader and interpreters need to find of this system.  System: Linux.
 *
 * Only what everybody may read and what holds no secret: not /etc as a whole, and of /etc/ssl the
 * certificates, not the private keys. */
#include "os/os.h"

#include <lazaret/backend.h>

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const system_paths[] = {
    "/usr",
    "/bin", /* links into /usr where the trees are merged, folders elsewhere */
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives", /* R, BLAS and others are links through it on Debian */
    "/etc/localtime",
    "/etc/timezone",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/nix/store",
    "/gnu/store",
};

void laz_os_system_paths(void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0]; i++) {
        char target[PATH_MAX];
        struct stat st;
        const char *path = system_paths[i];

        if (lstat(path, &st) != 0)
            continue;
        if (S_ISLNK(st.st_mode) && !strchr(path + 1, '/')) { /* /bin, not /etc/localtime */
            ssize_t len = readlink(path, target, sizeof target - 1);
            if (len <= 0)
                continue;
            target[len] = '\0';
            visit(user, LAZ_PATH_SYMLINK, target, path);
        } else {
            visit(user, LAZ_PATH_READ, path, path);
        }
    }
}

const char *laz_os_platform(void)
{
    return "linux";
}
