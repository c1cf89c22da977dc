/* SPDX-License-Identifier: MIT */
/* execution_rules.c - may this code run? By the limits of the settings and the application's hook.
 * Side: host.  Input trusted: no (the code). */
#include "session/execution.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct laz_result *laz_execution_blocked(const char *format, ...)
{
    char text[LAZ_ERROR_TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return laz_result_nothing_ran(LAZ_VERDICT_BLOCKED, NULL, text);
}

struct laz_result *laz_execution_not_recorded(const struct laz_session *session,
                                              const struct laz_error *why)
{
    if (!session->identity)
        return laz_execution_blocked("Execution blocked: %s", why->text);
    laz_log(&session->shared->driver->log, LAZ_LOG_ERROR, "session %s: %s", session->id, why->text);
    return laz_execution_blocked("Execution blocked: it cannot be recorded in the audit log there; "
                                 "its operator finds out why in the log");
}

struct laz_result *laz_execution_blocked_by_hook(int rc, const char *why)
{
    if (rc != LAZ_EREFUSED)
        return laz_execution_blocked("Execution blocked: pre_execute_hook error: %s", why);
    return laz_execution_blocked("Execution blocked by pre_execute_hook%s%s", *why ? ": " : "",
                                 why);
}

struct laz_result *laz_execution_check_rules(const struct laz_execution *execution)
{
    const struct laz_session *session = execution->session;
    const struct laz_settings_values *values = session->shared->values;
    const char *code = execution->request.code;
    size_t len = execution->request.len;
    const uint64_t most = execution->request.options->max_code_length;
    char reason[400] = "";

    if (values->session.max_executions && session->executions >= values->session.max_executions)
        return laz_execution_blocked("Maximum executions (%llu) reached for this session",
                                     (unsigned long long)values->session.max_executions);
    if (!laz_utf8_is_valid(code, len) || memchr(code, 0, len))
        return laz_result_nothing_ran(LAZ_VERDICT_SYNTAX_ERROR, NULL,
                                      "the code is not valid UTF-8, or contains a NUL byte");
    size_t characters = laz_utf8_count(code, len);
    if (most && characters > most)
        return laz_execution_blocked("Code too long (%zu characters, maximum %llu)", characters,
                                     (unsigned long long)most);
    if (session->pre_execute &&
        session->pre_execute(session->pre_execute_user, code, len, reason, sizeof reason))
        return laz_execution_blocked_by_hook(LAZ_EREFUSED, reason);
    return NULL;
}
