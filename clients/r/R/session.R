# SPDX-License-Identifier: MIT
# Sessions: what code defines is there for the code that is executed next.

check_sandbox <- function(sandbox, sandbox_strict) {
    if (!identical(sandbox, TRUE)) {
        fail_argument("`sandbox` can only be TRUE: lazaret runs no code without a sandbox. What ",
                      "the code may read and write is chosen by ",
                      "lazaret_server(settings = list(sandbox.read = ...))")
    }
    if (!identical(sandbox_strict, TRUE)) {
        fail_argument("`sandbox_strict` can only be TRUE: a session whose sandbox cannot be created ",
                      "does not start")
    }
}

open_on <- function(server, members) {
    tryCatch(request(server, members), lazaret_request_failed = function(e) {
        fail("lazaret_setup_failed", conditionMessage(e), code = e$code)
    })
}

# The rules of a network list as JSON: texts, or lists such as list(host = ..., to = ...).
network_json <- function(network) {
    if (!is.character(network) && !(is.list(network) && is.null(names(network))))
        fail_argument("`network` must be a vector of texts, or a list of texts and of lists")
    json_array(vapply(as.list(network), function(rule) {
        if (is_text(rule))
            return(json_text(rule))
        if (!is.list(rule) || is.null(names(rule)))
            fail_argument("a rule of `network` must be a text or a list with names")
        members <- vapply(names(rule), function(name) {
            value <- rule[[name]]
            json <- if (isTRUE(value) || isFALSE(value)) tolower(value)
                    else if (name == "to") json_array(vapply(value, json_text, ""))
                    else json_text(value)
            paste0(json_text(name), ":", json)
        }, "")
        paste0("{", paste(members, collapse = ","), "}")
    }, ""))
}

# Credentials as JSON: names, or lists such as list(host = ..., secret = list(value = ...)). No
# error has what is in one.
credentials_json <- function(credentials) {
    if (!is.character(credentials) && !(is.list(credentials) && is.null(names(credentials))))
        fail_argument("`credentials` must be a vector of names, or a list of names and of lists")
    json_array(vapply(as.list(credentials), function(one) {
        if (is_text(one))
            return(json_text(one))
        if (!is.list(one) || is.null(names(one)))
            fail_argument("one of `credentials` must be a name or a list with names")
        credential_json(one)
    }, ""))
}

credential_json <- function(members) {
    json <- vapply(names(members), function(name) {
        value <- members[[name]]
        if (is.list(value) && !is.null(names(value)))
            credential_json(value)
        else if (isTRUE(value) || isFALSE(value))
            tolower(value)
        else if (name %in% c("methods", "paths"))
            json_array(vapply(as.character(value), json_text, "", USE.NAMES = FALSE))
        else if (is_text(value))
            json_text(value)
        else
            fail_argument("`", name, "` of a credential must be a text")
    }, "")
    paste0("{", paste(json_text(names(members)), json, sep = ":", collapse = ","), "}")
}

# What sessions and pools have in common: `state` has the server, and what is open there.
new_state <- function(server, own, tools, approve, where, opened, rules) {
    state <- list2env(list(server = server, own = own, tools = tools, approve = approve,
                           where = where, id = key_of(opened[[where]]), name = opened$name,
                           closed = FALSE, executing = FALSE, rules = rules),
                      parent = emptyenv())
    reg.finalizer(state, function(state) {
        if (!state$closed && state$own)
            finalize_server(state$server)
        else if (!state$closed)
            drop_opened(state$server, state$where, state$id)
    })
    say_of(state, "started")
    state
}

say_of <- function(state, what) {
    state$rules$say(paste(c(paste(state$where, what), state$name), collapse = ": "))
}

where_of <- function(state) structure(state$id, names = state$where)

check_open <- function(state) {
    check_process(state$server)
    if (state$closed)
        fail("lazaret_error", paste("this", state$where, "is not running: it was closed"))
}

describe <- function(state) {
    check_open(state)
    request(state$server, type = "\"describe\"", where_of(state))
}

close_state <- function(state) {
    if (state$closed)
        return()
    state$closed <- TRUE
    if (server_is_alive(state$server)) {
        tryCatch(request(state$server, type = "\"close\"", where_of(state)),
                 lazaret_error = function(e) NULL) # the server has ended, and this with it
    }
    if (state$own)
        close_server(state$server)
    say_of(state, "closed")
}

lazaret_session <- function(tools = list(), runtime = "r", warm = TRUE, server = NULL,
                            sandbox = TRUE, limits = NULL, verbose = FALSE, sandbox_strict = TRUE,
                            audit_log = NULL, max_executions = NULL, pre_execute_hook = NULL,
                            sanitize_errors = FALSE, approve = NULL, files = list(),
                            network = NULL, credentials = NULL) {
    check_sandbox(sandbox, sandbox_strict)
    check_handler(approve, "approve")
    rules <- new_rules(max_executions, pre_execute_hook, verbose)
    if (!is_flag(warm))
        fail_argument("`warm` must be TRUE or FALSE")
    if (!is.null(runtime) && !is_text(runtime))
        fail_argument("`runtime` must be the name of a language")
    settings <- own_settings(limits, audit_log, sanitize_errors, server)
    own <- length(settings) > 0L
    files <- check_files(files)
    made <- make_tools(tools)
    members <- c(type = "\"open\"", warm = if (warm) "true" else "false",
                 runtime = if (!is.null(runtime)) json_text(runtime),
                 network = if (!is.null(network)) network_json(network),
                 credentials = if (!is.null(credentials)) credentials_json(credentials),
                 tools = if (length(made))
                     json_array(vapply(made, declaration_of, "", is_native(runtime))))
    server <- if (own) own_server(settings) else server_of(server)
    opened <- FALSE
    on.exit(if (!opened && own) close_server(server))
    answer <- open_on(server, members)
    opened <- TRUE
    state <- new_state(server, own, made, approve, "session", answer, rules)
    state$runtime <- runtime %||% "default"
    state$native <- is_native(runtime)
    ready <- FALSE
    on.exit(if (!ready) close_state(state), add = TRUE)
    put_files(state, files)
    ready <- TRUE
    session_object(state)
}

session_execute <- function(state, code, timeout, validate, output_handler, max_tool_calls,
                            max_code_length, max_output_lines, deadline, whole, on_progress,
                            artifacts, files, invisible, input, traceparent, tracestate) {
    check_open(state)
    if (state$executing) {
        fail("lazaret_request_failed",
             "this session executes code already: use another session inside a tool",
             code = "LAZ_EBUSY")
    }
    code <- code_text(code)
    check_handler(output_handler, "output_handler")
    check_handler(on_progress, "on_progress")
    files <- with_input(files, input)
    members <- execute_members(code, where_of(state), timeout, deadline, validate, max_tool_calls,
                               max_code_length, max_output_lines, NULL, whole,
                               !is.null(output_handler), !is.null(on_progress),
                               !is.null(state$approve), artifacts, invisible, state$native, input,
                               traceparent, tracestate)
    finish(run_admitted(state$rules, code, function() {
        with_files <- add_files(state$server, members, files)
        if (is.null(with_files))
            put_files(state, files)
        state$executing <- TRUE
        on.exit(state$executing <- FALSE)
        run_execution(state$server, state$tools, with_files %||% members, output_handler,
                      on_progress, state$approve, state$rules$say)
    }), whole)
}

# The tools that fit these words best, as lists of the server's declarations.
session_search <- function(state, words, limit) {
    check_open(state)
    if (!is_text(words))
        fail_argument("`words` must be one text")
    if (!is_count(limit) || limit < 1)
        fail_argument("`limit` must be a whole number from 1")
    request(state$server, c(type = "\"search\"", where_of(state), words = json_text(words),
                            limit = sprintf("%.0f", limit)))$tools
}

# Name and arguments of each tool; and where calls need an approval, `approve` (each) or
# `may_approve` (some, as their arguments are), which the configuration of the server can ask for.
session_tools <- function(state) {
    tools <- lapply(state$tools, function(tool) tool[c("name", "args")])
    if (state$closed || !server_is_alive(state$server))
        return(tools)
    for (declared in describe(state)$tools) {
        waits <- intersect(c("approve", "may_approve"), names(declared))
        if (length(waits) && declared$name %in% names(tools))
            tools[[declared$name]][waits] <- declared[waits]
    }
    tools
}

session_is_alive <- function(state) {
    if (state$closed || !server_is_alive(state$server))
        return(FALSE)
    tryCatch(isTRUE(describe(state)$alive), lazaret_error = function(e) FALSE)
}

session_format <- function(state) {
    text <- NULL
    if (!state$closed && server_is_alive(state$server))
        text <- tryCatch(describe(state)$text, lazaret_error = function(e) NULL)
    if (is.null(text))
        return(paste0("<Session> [stopped] ", state$runtime, " pid=NA tools=",
                      length(state$tools)))
    sub("^<session (.*)>$", "<Session> [running] \\1", text)
}

session_object <- function(state) {
    self <- new.env(parent = emptyenv())
    self$execute <- function(code, timeout = 30, validate = TRUE, output_handler = NULL,
                             max_tool_calls = NULL, max_code_length = 100000L,
                             max_output_lines = NULL, deadline = NULL, result = FALSE,
                             on_progress = NULL, artifacts = TRUE, files = list(),
                             invisible = FALSE, input = NULL, traceparent = NULL, tracestate = NULL) {
        session_execute(state, code, timeout, validate, output_handler, max_tool_calls,
                        max_code_length, max_output_lines, deadline, result, on_progress,
                        artifacts, files, invisible, input, traceparent, tracestate)
    }
    self$run <- function(args, input = NULL, timeout = 30, cwd = NULL, env = NULL, check = FALSE) {
        session_run(state, args, input, timeout, cwd, env, check)
    }
    self$execute_result <- function(code, ...) self$execute(code, ..., result = TRUE)
    self$put_file <- function(name, data) {
        session_put_file(state, name, data)
        invisible(self)
    }
    self$close <- function() {
        close_state(state)
        invisible(self)
    }
    self$is_alive <- function() session_is_alive(state)
    self$interrupt <- function() {
        check_open(state)
        request(state$server, type = "\"interrupt\"", where_of(state))
        invisible(self)
    }
    self$set_network <- function(allow) {
        check_open(state)
        request(state$server, c(type = "\"set_network\"", where_of(state),
                                allow = network_json(allow)))
        invisible(self)
    }
    self$restart <- function() {
        check_open(state)
        if (state$executing)
            fail("lazaret_request_failed", "the session cannot be restarted while it executes code",
                 code = "LAZ_EBUSY")
        request(state$server, type = "\"restart\"", where_of(state))
        say_of(state, "restarted")
        invisible(self)
    }
    self$tools <- function() session_tools(state)
    self$search_tools <- function(words, limit = 10L) session_search(state, words, limit)
    self$format <- function(...) session_format(state)
    self$print <- function(...) {
        cat(session_format(state), "\n", sep = "")
        invisible(self)
    }
    lockEnvironment(self, bindings = TRUE)
    class(self) <- "lazaret_session"
    self
}

format.lazaret_session <- function(x, ...) x$format()

print.lazaret_session <- function(x, ...) x$print()

Session <- list(new = lazaret_session)
