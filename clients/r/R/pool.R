# SPDX-License-Identifier: MIT
# Pools, and code that needs a session once.

lazaret_pool <- function(runtime = "r", size = 4L, tools = list(), server = NULL,
                         approve = NULL, limits = NULL, verbose = FALSE, audit_log = NULL,
                         max_executions = NULL, pre_execute_hook = NULL,
                         sanitize_errors = FALSE, network = NULL, credentials = NULL) {
    check_handler(approve, "approve")
    rules <- new_rules(max_executions, pre_execute_hook, verbose)
    settings <- own_settings(limits, audit_log, sanitize_errors, server)
    own <- length(settings) > 0L
    if (!is_count(size) || size < 1)
        fail_argument("`size` must be a whole number from 1")
    made <- make_tools(tools)
    server <- if (own) own_server(settings) else server_of(server)
    opened <- FALSE
    on.exit(if (!opened && own) close_server(server))
    answer <- open_on(server, c(type = "\"open_pool\"",
                                runtime = if (!is.null(runtime)) json_text(runtime),
                                network = if (!is.null(network)) network_json(network),
                                credentials = if (!is.null(credentials))
                                    credentials_json(credentials),
                                tools = if (length(made))
                                    json_array(vapply(made, declaration_of, "",
                                                      is_native(runtime))),
                                members = sprintf("%.0f", size)))
    opened <- TRUE
    state <- new_state(server, own, made, approve, "pool", answer, rules)
    state$native <- is_native(runtime)
    pool_object(state)
}

pool_status <- function(state) {
    if (state$closed)
        return(list(total = 0, busy = 0, idle = 0, dead = 0, starting = 0, waiting = 0))
    lapply(describe(state)$status, as.double)
}

pool_format <- function(state) {
    if (state$closed || !server_is_alive(state$server))
        return("<lazaret_pool> [closed]")
    status <- pool_status(state)
    sprintf("<lazaret_pool> size=%.0f idle=%.0f busy=%.0f", status$total, status$idle, status$busy)
}

pool_object <- function(state) {
    self <- new.env(parent = emptyenv())
    self$execute <- function(code, timeout = 30, acquire_timeout = 30, validate = TRUE,
                             output_handler = NULL, max_tool_calls = NULL,
                             max_code_length = 100000L, max_output_lines = NULL, deadline = NULL,
                             result = FALSE, on_progress = NULL, artifacts = TRUE,
                             files = list(), invisible = FALSE, input = NULL,
                             traceparent = NULL, tracestate = NULL) {
        check_open(state)
        check_handler(output_handler, "output_handler")
        check_handler(on_progress, "on_progress")
        code <- code_text(code)
        members <- execute_members(code, where_of(state), timeout, deadline, validate,
                                   max_tool_calls, max_code_length, max_output_lines,
                                   acquire_timeout, result, !is.null(output_handler),
                                   !is.null(on_progress), !is.null(state$approve), artifacts,
                                   invisible, state$native, input, traceparent, tracestate)
        members <- add_all_files(state$server, members, with_input(files, input))
        finish(run_admitted(state$rules, code, function() {
            run_execution(state$server, state$tools, members, output_handler, on_progress,
                          state$approve, state$rules$say)
        }), result)
    }
    self$execute_result <- function(code, ...) self$execute(code, ..., result = TRUE)
    self$status <- function() pool_status(state)
    self$close <- function() {
        close_state(state)
        invisible(self)
    }
    self$format <- function(...) pool_format(state)
    self$print <- function(...) {
        cat(pool_format(state), "\n", sep = "")
        invisible(self)
    }
    lockEnvironment(self, bindings = TRUE)
    class(self) <- "lazaret_pool"
    self
}

format.lazaret_pool <- function(x, ...) x$format()

print.lazaret_pool <- function(x, ...) x$print()

lazaret_execute <- function(code, runtime = "r", tools = list(), timeout = 30, validate = TRUE,
                            server = NULL, ..., output_handler = NULL, max_tool_calls = NULL,
                            max_code_length = 100000L, max_output_lines = NULL, deadline = NULL,
                            result = FALSE, approve = NULL, on_progress = NULL, files = list(),
                            artifacts = TRUE, invisible = FALSE, input = NULL,
                            traceparent = NULL, tracestate = NULL, limits = NULL,
                            verbose = FALSE, audit_log = NULL, max_executions = NULL, pre_execute_hook = NULL,
                            sanitize_errors = FALSE) {
    if (length(tools) || ...length()) {
        session <- lazaret_session(tools, runtime, server = server, approve = approve,
                                   limits = limits, verbose = verbose, audit_log = audit_log,
                                   max_executions = max_executions,
                                   pre_execute_hook = pre_execute_hook,
                                   sanitize_errors = sanitize_errors, ...)
        on.exit(session$close())
        return(session$execute(code, timeout, validate, output_handler, max_tool_calls,
                               max_code_length, max_output_lines, deadline, result, on_progress,
                               artifacts, files, invisible, input, traceparent, tracestate))
    }
    check_handler(output_handler, "output_handler")
    check_handler(on_progress, "on_progress")
    check_handler(approve, "approve")
    rules <- new_rules(max_executions, pre_execute_hook, verbose)
    settings <- own_settings(limits, audit_log, sanitize_errors, server)
    code <- code_text(code)
    where <- if (!is.null(runtime)) c(runtime = json_text(runtime))
    members <- execute_members(code, where, timeout, deadline, validate, max_tool_calls,
                               max_code_length, max_output_lines, NULL, result,
                               !is.null(output_handler), !is.null(on_progress), !is.null(approve),
                               artifacts, invisible, is_native(runtime), input, traceparent, tracestate)
    server <- if (length(settings)) own_server(settings) else server_of(server)
    if (length(settings))
        on.exit(close_server(server))
    files <- with_input(files, input)
    members <- add_all_files(server, members, files)
    finish(run_admitted(rules, code, function() {
        tryCatch(run_execution(server, list(), members, output_handler, on_progress, approve,
                               rules$say), lazaret_request_failed = function(e) {
            if (length(files) && e$code %in% file_errors)
                stop(e)
            fail("lazaret_setup_failed", conditionMessage(e), code = e$code)
        })
    }), result)
}
