/* SPDX-License-Identifier: MIT */
/* trace.h - the context of a distributed trace (W3C Trace Context), checked before it is passed
 * on. */
#ifndef LAZ_BASE_TRACE_H
#define LAZ_BASE_TRACE_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/tool.h>

#include <stdbool.h>

#define LAZ_TRACE_PARENT_MAX 127 /* bytes; version 00 has 55 */
#define LAZ_TRACE_STATE_MAX  512

bool laz_trace_parent_is_valid(const char *parent);
bool laz_trace_state_is_valid(const char *state);
/* Checks a trace that an application gives. LAZ_EINVAL with a sentence. */
int laz_trace_check(const struct laz_trace *trace, struct laz_error *err);

/* A copy, which points into itself: it is not moved. Zeroed: there is no trace. */
struct laz_trace_copy {
    struct laz_trace trace;
    char parent[LAZ_TRACE_PARENT_MAX + 1], state[LAZ_TRACE_STATE_MAX + 1];
};

/* Copies a trace that was checked; NULL: there is none. */
void laz_trace_take(struct laz_trace_copy *copy, const struct laz_trace *trace);
/* The trace of a copy; NULL: there is none. Borrowed. */
const struct laz_trace *laz_trace_of(const struct laz_trace_copy *copy);

#endif
