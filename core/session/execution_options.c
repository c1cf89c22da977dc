/* SPDX-License-Identifier: MIT */
/* execution_options.c - what a caller asks for with an execution, in place of the settings.
 * Side: host.  Input trusted: yes (the application). */
#include "session/execution.h"

#include "base/options.h"
#include "base/utf8.h"
#include "session/output.h"
#include "session/result.h"

#include <stdlib.h>
#include <string.h>

static uint64_t option_or(uint64_t option, uint64_t setting)
{
    return option == LAZ_NO_LIMIT ? 0 : option ? option : setting;
}

/* Copies a text of the options; NULL stays NULL. */
static int execution_take_text(const char *given, const char *what, char **copy,
                               struct laz_error *err)
{
    if (!given)
        return 0;
    if (!laz_utf8_is_valid(given, strlen(given)))
        return laz_error_set(err, LAZ_EINVAL, 0, "%s is not valid UTF-8", what);
    *copy = laz_strdup(given);
    return *copy ? 0 : laz_error_nomem(err);
}

int laz_execution_take_script(struct laz_execution *execution,
                              const struct laz_execute_options *given, struct laz_error *err)
{
    struct laz_execute_options options;
    char *arg = NULL;

    int rc = LAZ_OPTIONS_TAKE(&options, given, laz_execute_options, err);
    if (!rc)
        rc = laz_trace_check(options.trace, err);
    if (!rc && options.n_argv && !options.argv)
        rc = laz_error_null(err, "the command line of the code");
    if (!rc)
        rc = execution_take_text(options.cwd, "the working directory", &execution->cwd, err);
    if (!rc && options.n_argv)
        rc = execution_take_text(options.directory, "the directory of modules",
                                 &execution->directory, err);
    for (size_t i = 0; i < options.n_argv && !rc; i++) {
        rc = execution_take_text(options.argv[i], "an argument of the code", &arg, err);
        if (!rc)
            laz_strv_add(&execution->argv, arg);
        free(arg);
        arg = NULL;
    }
    return !rc && execution->argv.failed ? laz_error_nomem(err) : rc;
}

void laz_execution_take_options(struct laz_execution *execution,
                                const struct laz_execute_options *given)
{
    const struct laz_settings_values *values = execution->session->shared->values;
    struct laz_output *output = &execution->result->output;
    struct laz_execute_options options;

    (void)LAZ_OPTIONS_TAKE(&options, given, laz_execute_options, NULL); /* they were checked */
    execution->print = execution->asked == LAZ_ASKED_EXECUTE && !options.no_print;
    execution->no_validate = options.no_validate;
    execution->timeout_ms = option_or(options.timeout_ms, values->session.timeout_ms);
    execution->deadline_ms = option_or(options.deadline_ms, values->session.deadline_ms);
    execution->max_tool_calls = option_or(options.max_tool_calls, values->session.max_tool_calls);
    execution->code_left_ms = execution->timeout_ms;
    output->max_bytes = values->session.max_output_size;
    output->max_lines = option_or(options.max_output_lines, values->session.max_output_lines);
    output->line = options.line;
    output->raw = options.output;
    output->user = options.user;
    execution->progress = options.progress;
    execution->progress_user = options.user;
    execution->progress_ms = options.progress_ms ? options.progress_ms : 1000;
    laz_trace_take(&execution->trace, options.trace);
}
