/* SPDX-License-Identifier: MIT */
/* outcome.c - the tables of outcome.h. */
#include "base/outcome.h"

#include <string.h>

static const struct {
    const char *name;
    int exit_status;
    const char *kind; /* NULL: as the name */
} outcome_verdicts[] = {
    [LAZ_VERDICT_OK] = {"ok", 0, NULL},
    [LAZ_VERDICT_ERROR] = {"error", 1, "exit"},
    [LAZ_VERDICT_SYNTAX_ERROR] = {"syntax_error", 1, "syntax"},
    [LAZ_VERDICT_TIMEOUT] = {"timeout", 124, NULL},
    [LAZ_VERDICT_DEADLINE] = {"deadline", 124, NULL},
    [LAZ_VERDICT_CPU_LIMIT] = {"cpu_limit", 137, NULL},
    [LAZ_VERDICT_MEMORY_LIMIT] = {"memory_limit", 137, NULL},
    [LAZ_VERDICT_FSIZE_LIMIT] = {"fsize_limit", 137, NULL},
    [LAZ_VERDICT_TOOL_LIMIT] = {"tool_limit", 137, NULL},
    [LAZ_VERDICT_OUTPUT_LIMIT] = {"output_limit", 137, NULL},
    [LAZ_VERDICT_BLOCKED] = {"blocked", 126, NULL},
    [LAZ_VERDICT_CANCELLED] = {"cancelled", 130, NULL},
    [LAZ_VERDICT_PROTOCOL_ERROR] = {"protocol_error", 70, NULL},
    [LAZ_VERDICT_CRASHED] = {"crashed", 70, NULL},
    [LAZ_VERDICT_SETUP_FAILED] = {"setup_failed", 125, "setup"},
    [LAZ_VERDICT_WORKER_LOST] = {"worker_lost", 69, NULL},
};

#define OUTCOME_VERDICTS (sizeof outcome_verdicts / sizeof outcome_verdicts[0])

const struct laz_error_kind laz_error_kinds[LAZ_N_ERROR_KINDS] = {
    [LAZ_OUTCOME_VALUE] = {NULL, LAZ_VERDICT_OK, false},
    [LAZ_OUTCOME_RUNTIME] = {"runtime", LAZ_VERDICT_ERROR, false},
    [LAZ_OUTCOME_SYNTAX] = {"syntax", LAZ_VERDICT_SYNTAX_ERROR, false},
    [LAZ_OUTCOME_MEMORY] = {"memory", LAZ_VERDICT_MEMORY_LIMIT, false},
    [LAZ_OUTCOME_EXIT] = {"exit", LAZ_VERDICT_ERROR, true},
    [LAZ_OUTCOME_TOO_LARGE] = {NULL, LAZ_VERDICT_OK, false},
    [LAZ_OUTCOME_FSIZE] = {"fsize", LAZ_VERDICT_FSIZE_LIMIT, false},
};

const struct laz_stop_reason laz_stop_reasons[LAZ_N_STOPS] = {
    [LAZ_STOP_TIMEOUT] = {LAZ_VERDICT_TIMEOUT, NULL, true},
    [LAZ_STOP_DEADLINE] = {LAZ_VERDICT_DEADLINE, NULL, true},
    [LAZ_STOP_TOOL_LIMIT] = {LAZ_VERDICT_TOOL_LIMIT, "max_tool_calls", false},
    [LAZ_STOP_OUTPUT_LIMIT] = {LAZ_VERDICT_OUTPUT_LIMIT, "max_output_size", false},
    [LAZ_STOP_CANCELLED] = {LAZ_VERDICT_CANCELLED, NULL, true},
    [LAZ_STOP_PROTOCOL] = {LAZ_VERDICT_PROTOCOL_ERROR, NULL, false},
    [LAZ_STOP_HOST] = {LAZ_VERDICT_CRASHED, NULL, false},
    [LAZ_STOP_CPU] = {LAZ_VERDICT_CPU_LIMIT, NULL, false},
    [LAZ_STOP_SESSION_CPU] = {LAZ_VERDICT_CPU_LIMIT, NULL, false},
    [LAZ_STOP_MEMORY] = {LAZ_VERDICT_MEMORY_LIMIT, NULL, false},
    [LAZ_STOP_UNCOUNTED] = {LAZ_VERDICT_MEMORY_LIMIT, NULL, false},
};

const char *laz_verdict_name(enum laz_verdict verdict)
{
    return (size_t)verdict < OUTCOME_VERDICTS ? outcome_verdicts[verdict].name : "?";
}

int laz_verdict_exit_status(enum laz_verdict verdict)
{
    return (size_t)verdict < OUTCOME_VERDICTS ? outcome_verdicts[verdict].exit_status : 70;
}

const char *laz_verdict_error_kind(enum laz_verdict verdict)
{
    const char *kind = (size_t)verdict < OUTCOME_VERDICTS ? outcome_verdicts[verdict].kind : NULL;

    return kind ? kind : laz_verdict_name(verdict);
}

const struct laz_error_kind *laz_error_kind_find(const char *name)
{
    for (size_t i = 0; i < LAZ_N_ERROR_KINDS; i++)
        if (laz_error_kinds[i].name && strcmp(laz_error_kinds[i].name, name) == 0)
            return &laz_error_kinds[i];
    return NULL;
}
