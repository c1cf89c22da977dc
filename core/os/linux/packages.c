/* SPDX-License-Identifier: MIT */
/* packages.c - the configuration of installed packages, by the database of dpkg(1).  System: Linux.
 *
 * A package that fails when it cannot read its file in /etc (matplotlib reads /etc/matplotlibrc
 * when it is imported) is useless in a box that has no such file.  dpkg lists these files of a
 * package in PACKAGE.conffiles; a system without dpkg has none to list. */
#include "os/packages.h"

#include "os/directories.h"
#include "os/files.h"

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

void laz_os_package_configuration(const char *info, const struct laz_strv *prefixes,
                                  struct laz_strv *paths)
{
    struct laz_strv names = LAZ_STRV_INIT;

    if (prefixes->n && laz_os_list_directory(info ? info : "/var/lib/dpkg/info", &names, NULL) == 0)
        for (size_t i = 0; i < names.n; i++) {
            const char *name = names.items[i], *dot = strrchr(name, '.');
            if (!dot || strcmp(dot, PACKAGES_SUFFIX) != 0)
                continue;
            for (size_t k = 0; k < prefixes->n; k++)
                if (strncmp(name, prefixes->items[k], strlen(prefixes->items[k])) == 0) {
                    packages_read(info ? info : "/var/lib/dpkg/info", name, paths);
                    break;
                }
        }
    laz_strv_fini(&names);
}
