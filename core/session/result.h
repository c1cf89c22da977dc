/* SPDX-License-Identifier: MIT */
/* result.h - what came of an execution. */
#ifndef LAZ_SESSION_RESULT_H
#define LAZ_SESSION_RESULT_H

#include "base/buf.h"
#include "session/output.h"

#include <lazaret/lazaret.h>

struct laz_result {
    enum laz_verdict verdict;
    char *detail;
    char *evidence; /* JSON object */
    char *value;    /* JSON; NULL: null */
    char *text;
    bool has_error;
    char *error_kind, *error_message;
    int64_t line, column;
    struct laz_strv traceback, warnings;
    struct laz_output output;
    uint64_t wall_us, cpu_us, max_rss_bytes, tool_calls;
    char *isolation; /* JSON */
    char session[20];
    char *json; /* made when asked for */
};

/* A result that says why nothing ran. `kind` NULL: the verdict's. NULL when allocation failed. */
struct laz_result *laz_result_nothing_ran(enum laz_verdict verdict, const char *kind,
                                          const char *message);

#endif
