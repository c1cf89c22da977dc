/* SPDX-License-Identifier: MIT */
/* packages.c - the configuration of installed packages, by the database of dpkg(1).  System: Linux.
 *
 * A package that fails when it cannot read its file in /etc (matplotlib reads /etc/matplotlibrc
 * when it is imported) is useless in a box that has no such file.  dpkg lists these files of a
 * package in PACKAGE.conffiles; a system without dpkg has none to list. */
#include "os/packages.h"

#include "os/files.h"
#include "os/posix/descriptors.h"

#include <stdlib.h>
#include <string.h>

#define PACKAGES_SUFFIX ".conffiles"
#define PACKAGES_LIST   ((size_t)64 << 10) /* bytes of a list that is read */

/* Is it public: everybody may read it, and only root writes it? */
static bool packages_is_public(const char *path)
{
    struct laz_look look;

    return strncmp(path, "/etc/", 5) == 0 && laz_os_look(path, false, &look) == 0 &&
           look.kind == LAZ_LOOK_FILE && (look.mode & 0004) && !(look.mode & 0022) && look.uid == 0;
}

static void packages_read(const char *info, const char *name, struct laz_strv *paths)
{
    char *list = laz_strdupf("%s/%s", info, name);
    struct laz_buf text = LAZ_BUF_INIT;

    if (list && laz_os_read_file(list, PACKAGES_LIST, &text, NULL) == 0)
        for (char *line = text.data, *rest; line && *line; line = rest) {
            size_t len = strcspn(line, "\n");
            rest = line + len + (line[len] == '\n');
            line[len] = '\0';
            if (packages_is_public(line))
                laz_strv_add(paths, line);
        }
    laz_buf_fini(&text);
    free(list);
}

static bool packages_is_wanted(const char *name, const struct laz_strv *prefixes)
{
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && strcmp(dot, PACKAGES_SUFFIX) == 0 && i < prefixes->n; i++)
        if (strncmp(name, prefixes->items[i], strlen(prefixes->items[i])) == 0)
            return true;
    return false;
}

/* The directory has thousands of names, of which few are kept. */
void laz_os_package_configuration(const char *info, const struct laz_strv *prefixes,
                                  struct laz_strv *paths)
{
    const char *path = info ? info : "/var/lib/dpkg/info";
    DIR *directory = prefixes->n ? laz_posix_opendir(path) : NULL;
    struct dirent *entry;

    while (directory && (entry = readdir(directory)) != NULL)
        if (packages_is_wanted(entry->d_name, prefixes))
            packages_read(path, entry->d_name, paths);
    if (directory)
        closedir(directory);
}
