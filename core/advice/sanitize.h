/* SPDX-License-Identifier: MIT */
/* sanitize.h - error messages without what they tell about the machine they came from. */
#ifndef LAZ_ADVICE_SANITIZE_H
#define LAZ_ADVICE_SANITIZE_H

#include "base/buf.h"

#define LAZ_SANITIZE_MAX 500 /* characters, where nobody asks for another number */

/* Appends `text` to `out` with paths as [path], numbers of processes as [pid], addresses and names
 * of hosts as [host], without a stack trace at its end, and cut to `max` characters, the last three
 * of them dots then (0: no limit). NULL or "" becomes "Unknown error". Takes a time that grows with
 * the length alone. */
void laz_sanitize(const char *text, size_t max, struct laz_buf *out);

#endif
