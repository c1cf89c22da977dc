/* SPDX-License-Identifier: MIT */
/* outcome.h - the tables of how an execution can end: verdicts, the kinds of errors that an agent
 * reports, and the reasons for which the host ends an execution. */
#ifndef LAZ_BASE_OUTCOME_H
#define LAZ_BASE_OUTCOME_H

#include <lazaret/lazaret.h>
#include <lazaret/runtime.h>

#include <stdbool.h>

/* Names and exit statuses of verdicts: laz_verdict_name, laz_verdict_exit_status (lazaret.h). */

/* The kind of the error in a result with this verdict, where no agent reported one. */
const char *laz_verdict_error_kind(enum laz_verdict verdict);

/* A kind of error that an agent reports. */
struct laz_error_kind {
    const char
        *name; /* in messages and results; NULL: it is not an error */
    enum laz_verdict verdict;
    bool replace; /* the session needs a fresh box */
};

#define LAZ_N_ERROR_KINDS 7

extern const struct laz_error_kind laz_error_kinds[LAZ_N_ERROR_KINDS]; /* by LAZ_OUTCOME_* */

/* The row with this name, or NULL. */
const struct laz_error_kind *laz_error_kind_find(const char *name);

/* Why the host itself ended an execution. */
enum laz_stop {
    LAZ_STOP_NONE,
    LAZ_STOP_TIMEOUT,
    LAZ_STOP_DEADLINE,
    LAZ_STOP_TOOL_LIMIT,
    LAZ_STOP_OUTPUT_LIMIT,
    LAZ_STOP_CANCELLED,
    LAZ_STOP_PROTOCOL,
    LAZ_STOP_HOST, /* this side lacked descriptors or memory */
    LAZ_STOP_CPU,
    LAZ_STOP_SESSION_CPU,
    LAZ_STOP_MEMORY,
    LAZ_STOP_UNCOUNTED, /* what it holds could not be counted in time */
    LAZ_N_STOPS
};

struct laz_stop_reason {
    enum laz_verdict verdict;
    const char *cap; /* the key of [session] that caps a count; NULL: it is not a cap */
    bool interrupts; /* the code may end by itself, and its session be kept */
};

extern const struct laz_stop_reason laz_stop_reasons[LAZ_N_STOPS]; /* by enum laz_stop */

#endif
