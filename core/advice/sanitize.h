/* SPDX-License-Identifier: MIT */
/* sanitize.h - removes information about the host from error messages. */
#ifndef LAZ_ADVICE_SANITIZE_H
#define LAZ_ADVICE_SANITIZE_H

#include "base/buf.h"

#define LAZ_SANITIZE_MAX 500 /* default of `max` */

/* Appends `text` to `out`. Paths are replaced by [path], process ids by [pid], addresses and names
 * of hosts by [host]; a stack trace at the end is removed, and the rest is cut to `max` characters,
 * of which the last three are dots then (0: no limit). Of a text that is more than 64 times as long
 * only the beginning is read. NULL or "" becomes "Unknown error". Takes time linear in the length.
 * Out of memory: out->failed is set. Any thread. */
void laz_sanitize(const char *text, size_t max, struct laz_buf *out);

#endif
