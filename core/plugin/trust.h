/* SPDX-License-Identifier: MIT */
/* trust.h - may a file be loaded into this process? */
#ifndef LAZ_PLUGIN_TRUST_H
#define LAZ_PLUGIN_TRUST_H

#include "base/error.h"

/* 0 when `path` is a regular file at an absolute path, it and its folder belong to root or to the
 * user of this process, and nobody else can write either. Else LAZ_EPLUGIN naming the file (or
 * folder), its mode or owner, and the remedy. */
int laz_trust_file(const char *path, struct laz_error *err);
/* The same for a folder alone. LAZ_ENOENT when there is none. */
int laz_trust_folder(const char *path, struct laz_error *err);

#endif
