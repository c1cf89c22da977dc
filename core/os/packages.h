/* SPDX-License-Identifier: MIT */
/* packages.h - what the system's package manager knows of installed packages. */
#ifndef LAZ_OS_PACKAGES_H
#define LAZ_OS_PACKAGES_H

#include "base/buf.h"

/* Appends the files of /etc that installed packages with such a name read as their configuration:
 * those that everybody may read and only root writes. `info`: the directory with the lists of the
 * package manager; NULL: that of the system. None on a system without dpkg(1). */
void laz_os_package_configuration(const char *info, const struct laz_strv *prefixes,
                                  struct laz_strv *paths);

#endif
