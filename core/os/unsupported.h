/* SPDX-License-Identifier: MIT */
/* unsupported.h - functions for what a system does not have, a row each.
 *
 * A file that includes it has functions that ignore their parameters. */
#ifndef LAZ_OS_UNSUPPORTED_H
#define LAZ_OS_UNSUPPORTED_H

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* clang-format off */
/* FAILS(what there is none of, function, assignments to what it would return, its parameters but
 * the last one, `err`), GIVES(type, function, value, parameters), IGNORES(function, parameters) */
#define FAILS(what, function, sets, ...) \
    int function(__VA_ARGS__, struct laz_error *err) { sets; return unsupported_error(what, err); }
#define GIVES(type, function, value, ...) \
    type function(__VA_ARGS__) { return value; }
#define IGNORES(function, ...) \
    void function(__VA_ARGS__) { }
/* clang-format on */

#endif
