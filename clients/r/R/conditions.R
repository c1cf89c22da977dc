# SPDX-License-Identifier: MIT
# Conditions of this package. All have the classes lazaret_error, error and condition, and a class
# of their own before those. `result` is the result of the execution, or NULL if there is none.

# Class of the condition for each verdict of an execution.
verdict_classes <- c(
    error = "lazaret_execution_error",
    syntax_error = "lazaret_syntax_error",
    timeout = "lazaret_timeout",
    deadline = "lazaret_timeout",
    cpu_limit = "lazaret_limit",
    memory_limit = "lazaret_limit",
    fsize_limit = "lazaret_limit",
    tool_limit = "lazaret_limit",
    output_limit = "lazaret_limit",
    blocked = "lazaret_blocked",
    cancelled = "lazaret_cancelled",
    protocol_error = "lazaret_worker_lost",
    crashed = "lazaret_worker_lost",
    setup_failed = "lazaret_setup_failed"
)

new_error <- function(class, message, result = NULL, ...) {
    structure(class = unique(c(class, "lazaret_error", "error", "condition")),
              list(message = message, call = NULL, result = result, ...))
}

fail <- function(class, message, ...) stop(new_error(class, message, ...))

# An argument of a function of this package is wrong.
fail_argument <- function(...) fail("lazaret_argument_error", paste0(...))

# The condition for a result whose verdict is not "ok". `parent` is the condition of a tool which
# the code has not caught.
error_of_result <- function(result, parent = NULL) {
    class <- verdict_classes[result$verdict]
    class <- if (is.na(class)) "lazaret_error" else unname(class)
    message <- c(result$error$message, result$detail, result$verdict)
    message <- message[nzchar(message)][1L]
    kind <- if (class == "lazaret_execution_error") result$error$kind else result$verdict
    new_error(class, message, result, kind = kind, line = result$error$line,
              traceback = as.character(unlist(result$error$traceback)), parent = parent)
}

# Arguments of the whole package are checked by these.
is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

is_count <- function(x) {
    is.numeric(x) && length(x) == 1L && is.finite(x) && x >= 0 && x == trunc(x)
}

is_flag <- function(x) is.logical(x) && length(x) == 1L && !is.na(x)

# Seconds as the text of whole milliseconds, at least 1 for a positive time. NULL and Inf are no
# limit, which is 0.
milliseconds <- function(seconds, name) {
    if (is.null(seconds) || identical(as.numeric(seconds), Inf))
        return("0")
    if (!is.numeric(seconds) || length(seconds) != 1L || !is.finite(seconds) || seconds <= 0)
        fail_argument("`", name, "` must be a positive number of seconds, or NULL for no limit")
    sprintf("%.0f", ceiling(seconds * 1000))
}

`%||%` <- function(x, y) if (is.null(x)) y else x
