/* SPDX-License-Identifier: MIT */
/* result.h - the result of an execution, behind the public functions laz_result_*. */
#ifndef LAZ_SESSION_RESULT_H
#define LAZ_SESSION_RESULT_H

#include "base/buf.h"
#include "session/artifacts.h"
#include "session/output.h"

#include <lazaret/lazaret.h>

struct laz_result {
    enum laz_verdict verdict;
    int status;      /* with which the code ended its process, if it did; else 0 */
    bool has_status; /* it is the value: any of them is ok */
    char *detail;
    char *evidence; /* JSON object */
    char *value;    /* JSON; NULL: null */
    char *text;
    bool has_error;
    char *error_kind, *error_message;
    int64_t line, column;
    struct laz_strv traceback, warnings;
    struct laz_strv denials; /* JSON objects, as the next */
    struct laz_strv credentials;
    struct laz_output output;
    struct laz_artifacts artifacts;
    uint64_t wall_us, cpu_us, max_rss_bytes, tool_calls;
    char *isolation;      /* JSON */
    char backend[65];     /* of the box that it was in; "": nothing ran */
    uint32_t enforces;    /* LAZ_ENFORCE_* */
    const char *replaced; /* static text, or NULL */
    bool is_kept;         /* its session goes on with all that it has */
    bool is_value_omitted;
    char session[20];
    char *json; /* made when asked for */
};

#define LAZ_RESULT_LARGE ((size_t)256 << 10) /* bytes */
/* Is there so much of it, with its artifacts or without, that to write it as JSON would hold up a
 * loop? */
bool laz_result_is_large(const struct laz_result *result, bool with_artifacts);

#endif
