/* SPDX-License-Identifier: MIT */
/* patterns.h - warnings about code before it runs: calls that the sandbox refuses.
 *
 * Advice for the person or model that wrote the code: only the box decides what code may do.  Calls
 * inside comments and strings cause no warning. */
#ifndef LAZ_ADVICE_PATTERNS_H
#define LAZ_ADVICE_PATTERNS_H

#include "base/buf.h"
#include "plugin/language.h"

#include <stdint.h>

/* What a box refuses, and which calls fail in it for that. */
#define LAZ_REFUSES_NETWORK    1u
#define LAZ_REFUSES_PROGRAMS   2u /* all of them */
#define LAZ_REFUSES_TERMINALS  4u
#define LAZ_REFUSES_PRIVILEGES 8u

#define LAZ_PATTERNS_MAX 100 /* warnings per call */

/* Appends to `warnings` one line for each call found that is `refused` (LAZ_REFUSES_*), in the
 * order of the code: "line 3: call of `url()`, which the sandbox refuses". There are no warnings if
 * `language` is NULL or declares no patterns. 0 or LAZ_ENOMEM. Takes time linear in `len`. Any
 * thread. */
int laz_patterns_find(const struct laz_language *language, uint32_t refused, const char *code,
                      size_t len, struct laz_strv *warnings);

#endif
