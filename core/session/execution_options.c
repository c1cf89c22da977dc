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
static int options_take_text(const char **given, const char *what, char **copy,
                             struct laz_error *err)
{
    if (!*given)
        return 0;
    if (!laz_utf8_is_valid(*given, strlen(*given)))
        return laz_error_set(err, LAZ_EINVAL, 0, "%s is not valid UTF-8", what);
    *given = *copy = laz_strdup(*given);
    return *copy ? 0 : laz_error_nomem(err);
}

static int options_take_argv(struct laz_execute_options *options, struct laz_strv *copy,
                             struct laz_error *err)
{
    if (options->n_argv && !options->argv)
        return laz_error_null(err, "the command line of the code");
    for (size_t i = 0; i < options->n_argv; i++) {
        const char *arg = options->argv[i];
        if (!arg)
            return laz_error_null(err, "an argument of the code");
        if (!laz_utf8_is_valid(arg, strlen(arg)))
            return laz_error_set(err, LAZ_EINVAL, 0, "an argument of the code is not valid UTF-8");
        laz_strv_add(copy, arg);
    }
    options->argv = (const char *const *)copy->items;
    return copy->failed ? laz_error_nomem(err) : 0;
}

int laz_execute_copy_take(struct laz_execute_copy *copy, const struct laz_execute_options *given,
                          struct laz_error *err)
{
    struct laz_execute_options *options = &copy->options;

    *copy = (struct laz_execute_copy){.argv = LAZ_STRV_INIT};
    int rc = LAZ_OPTIONS_TAKE(options, given, laz_execute_options, err);
    if (!rc)
        rc = laz_trace_check(options->trace, err);
    if (rc)
        return rc;
    options->size = sizeof *options;
    laz_trace_take(&copy->trace, options->trace);
    options->trace = laz_trace_of(&copy->trace);
    if (!options->n_argv)
        options->directory = NULL;
    rc = options_take_text(&options->cwd, "the working directory", &copy->cwd, err);
    if (!rc)
        rc = options_take_text(&options->directory, "the directory of modules", &copy->directory,
                               err);
    return rc ? rc : options_take_argv(options, &copy->argv, err);
}

void laz_execute_copy_fini(struct laz_execute_copy *copy)
{
    laz_strv_fini(&copy->argv);
    free(copy->cwd);
    free(copy->directory);
}

void laz_execution_take_options(struct laz_execution *execution)
{
    const struct laz_settings_values *values = execution->session->shared->values;
    const struct laz_execute_options *options = &execution->given.options;
    struct laz_output *output = &execution->result->output;

    execution->print = execution->asked == LAZ_ASKED_EXECUTE && !options->no_print;
    execution->no_validate = options->no_validate;
    execution->timeout_ms = option_or(options->timeout_ms, values->session.timeout_ms);
    execution->deadline_ms = option_or(options->deadline_ms, values->session.deadline_ms);
    execution->max_tool_calls = option_or(options->max_tool_calls, values->session.max_tool_calls);
    execution->code_left_ms = execution->timeout_ms;
    output->max_bytes = values->session.max_output_size;
    output->max_lines = option_or(options->max_output_lines, values->session.max_output_lines);
    output->line = options->line;
    output->raw = options->output;
    output->user = options->user;
    execution->progress = options->progress;
    execution->progress_user = options->user;
    execution->progress_ms = options->progress_ms ? options->progress_ms : 1000;
}
