# SPDX-License-Identifier: MIT
# What a program asks of its own executions: settings of a server, a hook, a number, messages.

limit_names <- c("cpu", "memory", "fsize", "nproc", "nofile", "stack", "session_cpu")

# Limits as settings: names of limits, with numbers, or texts as in a configuration.
limit_settings <- function(limits) {
    if (is.null(limits))
        return(list())
    if (!is.list(limits) || length(limits) == 0L || is.null(names(limits))) {
        fail_argument("`limits` must be a list of numbers with names, as list(cpu = 30, memory = ",
                      "2^30); Inf removes a limit, and the others keep their defaults")
    }
    unknown <- setdiff(names(limits), limit_names)
    if (length(unknown)) {
        fail_argument("`limits` has an unknown name '", unknown[1L], "'; known are ",
                      paste(limit_names, collapse = ", "))
    }
    values <- lapply(names(limits), function(name) {
        value <- limits[[name]]
        if (is_text(value))
            return(value)
        if (!is.numeric(value) || length(value) != 1L || is.na(value) || value <= 0)
            fail_argument("limit '", name, "' must be a positive number, or Inf for no limit")
        if (is.infinite(value)) "unlimited" else ceiling(value)
    })
    structure(values, names = paste0("limits.", names(limits)))
}

# What is asked of a server, and cannot be had of one that others share.
own_settings <- function(limits, audit_log, sanitize_errors, server) {
    settings <- limit_settings(limits)
    if (!is.null(audit_log)) {
        if (!is_text(audit_log) || !nzchar(audit_log))
            fail_argument("`audit_log` must be the path of a file")
        directory <- normalizePath(dirname(audit_log), mustWork = FALSE)
        settings$audit.file <- file.path(directory, basename(audit_log))
    }
    if (!is_flag(sanitize_errors))
        fail_argument("`sanitize_errors` must be TRUE or FALSE")
    if (sanitize_errors)
        settings$session.sanitize_errors <- TRUE
    if (length(settings) && !is.null(server)) {
        fail_argument("`limits`, `audit_log` and `sanitize_errors` belong to a server: give them ",
                      "to lazaret_server(settings = ...), or leave out `server`")
    }
    settings
}

# ---- before the code is sent ---------------------------------------------------------------------

no_words <- function(...) NULL

# Which executions of a session, a pool, or of one code there may be, and what is told of them.
new_rules <- function(max_executions, pre_execute_hook, verbose) {
    check_handler(pre_execute_hook, "pre_execute_hook")
    if (!is.null(max_executions) && (!is_count(max_executions) || max_executions < 1))
        fail_argument("`max_executions` must be a whole number from 1, or NULL")
    if (!is_flag(verbose))
        fail_argument("`verbose` must be TRUE or FALSE")
    list2env(list(max = max_executions, hook = pre_execute_hook, count = 0,
                  say = if (verbose) function(...) message("[lazaret] ", ...) else no_words),
             parent = emptyenv())
}

why_used_up <- function(rules) {
    if (!is.null(rules$max) && rules$count >= rules$max)
        sprintf("the maximum of %.0f executions is reached", rules$max)
}

why_refused <- function(rules, code) {
    if (is.null(rules$hook))
        return(NULL)
    tryCatch({
        if (identical(rules$hook(code), FALSE)) "pre_execute_hook has refused the code"
    }, error = function(e) paste0("pre_execute_hook has failed: ", conditionMessage(e)))
}

# Run code by `run`, unless it is blocked before that. What did not run does not count.
run_admitted <- function(rules, code, run) {
    why <- why_used_up(rules) %||% why_refused(rules, code) %||% why_used_up(rules)
    if (!is.null(why)) {
        rules$say("execution blocked: ", why)
        result <- new_result(list(verdict = list(reason = "blocked", detail = why)))
        return(list(result = result, raised = list()))
    }
    rules$count <- rules$count + 1
    has_run <- TRUE
    on.exit(if (!has_run) rules$count <- rules$count - 1)
    done <- withCallingHandlers(run(), lazaret_request_failed = function(e) has_run <<- FALSE)
    has_run <- !(done$result$verdict %in% c("blocked", "syntax_error", "setup_failed"))
    done
}
