/* SPDX-License-Identifier: MIT */
/* patterns.h - warnings about code before it runs: calls that the sandbox may refuse.
 *
 * Advice for the person or model that wrote the code: only the box decides what code may do.  Calls
 * inside comments and strings cause no warning. */
#ifndef LAZ_ADVICE_PATTERNS_H
#define LAZ_ADVICE_PATTERNS_H

#include "base/buf.h"
#include "plugin/language.h"

#define LAZ_PATTERNS_MAX 100 /* warnings per call */

/* Appends to `warnings` one line for each call found, in the order of the code:
 * "line 3: call of `system()`, which the sandbox may refuse". There are no warnings if `language`
 * is NULL or declares no patterns. 0 or LAZ_ENOMEM. Takes time linear in `len`. Any thread. */
int laz_patterns_find(const struct laz_language *language, const char *code, size_t len,
                      struct laz_strv *warnings);

#endif
