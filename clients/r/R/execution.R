# SPDX-License-Identifier: MIT
# One execution: its request, the calls of its tools, and its result.

compared <- 200L # characters of the message of a tool, by which it is found in an error

# The members of the message `execute`; NULL leaves the choice to the server.
execute_members <- function(code, where, timeout, deadline, validate, max_tool_calls,
                            max_code_length, max_output_lines, wait, print, output, progress,
                            approve, artifacts, invisible, native, input, traceparent,
                            tracestate) {
    members <- c(type = "\"execute\"", where, code = quote_json(code),
                 timeout_ms = milliseconds(timeout, "timeout"), max_code_length = "0",
                 print = if (print) "true" else "false",
                 validate = if (validate) "true" else "false")
    if (!is.null(deadline))
        members["deadline_ms"] <- milliseconds(deadline, "deadline")
    for (name in c("max_tool_calls", "max_code_length", "max_output_lines")) {
        count <- get(name)
        if (!is.null(count)) {
            if (!is_count(count) || count < 1)
                fail_argument("`", name, "` must be a whole number from 1, or NULL for no limit")
            members[name] <- sprintf("%.0f", count)
        }
    }
    if (!is.null(wait))
        members["wait_ms"] <- milliseconds(wait, "acquire_timeout")
    if (output)
        members["output"] <- "true"
    if (progress)
        members["progress"] <- "true"
    if (approve)
        members["approve"] <- "true"
    if (native)
        members["native"] <- "true"
    if (!is_flag(artifacts))
        fail_argument("`artifacts` must be TRUE or FALSE")
    if (artifacts)
        members["artifacts"] <- "true"
    if (!is_flag(invisible))
        fail_argument("`invisible` must be TRUE or FALSE")
    if (invisible)
        members["invisible"] <- "true"
    if (!is.null(input))
        members["input"] <- json_text(input_file)
    for (name in c("traceparent", "tracestate")) {
        text <- get(name)
        if (!is.null(text) && !is_text(text))
            fail_argument("`", name, "` must be one text, or NULL")
        if (!is.null(text))
            members[name] <- json_text(text)
    }
    members
}

# Code as one text; lines are put together.
code_text <- function(code) {
    if (is.character(code) && length(code) != 1L && !anyNA(code))
        code <- paste(code, collapse = "\n")
    if (!is_text(code))
        fail_argument("`code` must be one text")
    code <- enc2utf8(code)
    if (!validUTF8(code))
        fail_argument("`code` is not a valid text")
    code
}

# `take` passes lines to the handler as soon as they are complete, and `end` what is left.
line_passer <- function(handler) {
    rest <- list()
    list(take = function(stream, text) {
        text <- paste0(rest[[stream]], text)
        lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
        rest[[stream]] <<- NULL
        if (!endsWith(text, "\n")) {
            rest[[stream]] <<- lines[length(lines)]
            lines <- lines[-length(lines)]
        }
        for (line in lines)
            handler(line)
    }, end = function() {
        for (line in unlist(rest, use.names = FALSE))
            handler(line)
    })
}

error_text <- function(error) {
    text <- conditionMessage(error)
    text <- if (is_text(text) && nzchar(text)) to_utf8(text) else class(error)[1L]
    if (is_plain_text(text)) substr(text, 1L, 100000L) else "the message of the error is not a text"
}

# The value of a call of a tool, or the decision about one.
value_of_call <- function(server, tools, approve, message, say) {
    words <- paste0(message$tool, "(", paste(names(message$args), collapse = ", "), ")")
    if (message$type == "approval") {
        say("approval of ", words)
        return(isTRUE(approve(message$tool, lapply(message$args, decode))))
    }
    tool <- tools[[message$tool]] %||% server$tools[[message$tool]]
    if (is.null(tool))
        stop("this client has no tool '", message$tool, "'", call. = FALSE)
    say("tool call: ", words)
    call_tool(tool, message$args)
}

# Answer a call with its value or its error. Gives the error, or NULL.
answer_call <- function(server, tools, approve, message, say, native) {
    call <- key_of(message$call)
    error <- NULL
    value <- tryCatch({
        value <- value_of_call(server, tools, approve, message, say)
        if (native) encode_native(value) else encode_value(value)
    }, error = function(e) {
        error <<- e
        NULL
    })
    if (is.null(error)) {
        error <- tryCatch({
            send_answer(server, call, c(value = value))
            NULL
        }, lazaret_request_failed = function(e) e) # it is too long
    }
    if (is.null(error)) {
        say("tool result: ", message$tool)
        return(NULL)
    }
    text <- error_text(error)
    say("tool error: ", message$tool, ": ", text)
    send_answer(server, call, c(error = quote_json(text)))
    list(text = text, condition = error)
}

progress_members <- c("wall_ms", "cpu_ms", "max_rss_bytes", "tool_calls")

# End an execution whose caller has been left by an error or an interrupt, and wait for its end.
abandon <- function(server, sent) {
    if (!server_is_alive(server))
        return()
    sent$inbox$wants_output <- FALSE
    tryCatch({
        send_request(server, c(type = "\"cancel\"", request = sent$id))
        while (!(wait_message(server, sent$inbox)$type %in% final_types)) NULL
    }, lazaret_error = function(e) NULL)
}

# Run code; tools and the handlers run here, while this waits.
run_execution <- function(server, tools, members, handler = NULL, on_progress = NULL,
                          approve = NULL, say = no_words) {
    sent <- send_request(server, members)
    ended <- FALSE
    on.exit(if (!ended) abandon(server, sent))
    lines <- if (!is.null(handler)) line_passer(handler)
    raised <- artifacts <- list()
    native <- "native" %in% names(members)
    repeat {
        message <- wait_message(server, sent$inbox)
        if (message$type %in% final_types || message$type == "failed")
            break
        if (message$type == "artifact") {
            artifacts[[length(artifacts) + 1L]] <- message
        } else if (message$type == "output" && !is.null(lines)) {
            lines$take(message$stream, message$text)
        } else if (message$type == "progress" && !is.null(on_progress)) {
            on_progress(lapply(message[progress_members], as.double))
        } else if (message$type %in% call_types) {
            pump(server, 0L) # the call may have been cancelled meanwhile
            if (is_cancelled(sent$inbox, message$call))
                next
            raised[[length(raised) + 1L]] <- answer_call(server, tools, approve, message, say,
                                                          native)
        }
    }
    ended <- TRUE
    if (!is.null(lines))
        lines$end()
    raw <- answer_of(message)$result
    result <- new_result(raw, sent$inbox$dropped,
                         artifacts_of(raw$artifacts, artifacts, "artifacts" %in% names(members)))
    say("execution ended: ", result$verdict, time_of(result$usage))
    list(result = result, raised = raised)
}

time_of <- function(usage) if (!is.null(usage$wall_ms)) sprintf(" (%.0f ms)", usage$wall_ms)

is_cancelled <- function(inbox, call) {
    waiting <- inbox$messages[seq_along(inbox$messages) > inbox$taken]
    any(vapply(waiting, function(m) m$type == "tool_cancelled" && m$call == call, NA))
}

# The condition of a tool that the code has not caught: the error has its text.
uncaught <- function(raised, result) {
    message <- result$error$message %||% ""
    for (one in rev(raised)) {
        if (grepl(substr(one$text, 1L, compared), message, fixed = TRUE))
            return(one$condition)
    }
    NULL
}

# What `execute` gives: the whole result, or the value with the output as attribute.
finish <- function(run, whole) {
    result <- run$result
    if (whole)
        return(result)
    if (result$verdict != "ok")
        stop(error_of_result(result, uncaught(run$raised, result)))
    value <- result$value
    if (result$value_omitted)
        warning(paste(grep("^value_omitted", result$warnings, value = TRUE), collapse = "; "),
                call. = FALSE)
    if (length(result$output) && !is.null(value))
        attr(value, "output") <- result$output
    value
}

check_handler <- function(handler, name) {
    if (!is.null(handler) && !is.function(handler))
        fail_argument("`", name, "` must be a function or NULL")
}
