# SPDX-License-Identifier: MIT
# What a program asks of its own executions: each argument, in sessions, pools and one-shot calls.
source(file.path("support", "helper.R"))
need_program()

server <- lazaret_server()
executed <- c("validate", "max_code_length", "traceparent", "tracestate")

# The results of codes in something that is opened with these arguments.
opened <- function(open) function(codes, ...) {
    given <- list(...)
    one <- do.call(open, c(list(runtime = "lua"), given[setdiff(names(given), executed)]))
    on.exit(one$close())
    lapply(codes, function(code) {
        do.call(one$execute_result, c(list(code), given[intersect(names(given), executed)]))
    })
}

ways <- list(session = opened(lazaret_session), pool = opened(lazaret_pool),
             "one-shot" = function(codes, ...) {
    lapply(codes, function(code) lazaret_execute(code, "lua", result = TRUE, ...))
})

verdicts <- function(results) vapply(results, function(r) r$verdict, "")

# Messages of this package while the code runs.
messages_of <- function(code) {
    words <- character()
    withCallingHandlers(code, message = function(m) {
        words <<- c(words, conditionMessage(m))
        invokeRestart("muffleMessage")
    })
    words
}

for (name in names(ways)) local({
    way <- ways[[name]]
    kind <- if (name == "pool") "pool" else "session"
    say <- function(what) paste(what, "of a", name)

    test(say("limits"), {
        code <- paste("local f = io.open('f', 'w') f:setvbuf('no')",
                      "return f:write(string.rep('x', 2000)) == f")
        holds <- function(...) {
            r <- way(code, limits = list(...))[[1L]]
            r$verdict == "ok" && r$value
        }
        same(c(holds(fsize = 1000), holds(fsize = "1KiB"), holds(fsize = Inf, cpu = 5)),
             c(FALSE, FALSE, TRUE))
        raised(way("return 1", limits = list(cores = 1)), "lazaret_argument_error", "cores")
        raised(way("return 1", limits = list(cpu = 0)), "lazaret_argument_error", "cpu")
    })

    test(say("audit log"), {
        log <- file.path(tempfile(), "audit.jsonl")
        way("return 5", audit_log = log)
        check(any(grepl("\"code\":\"return 5\"", readLines(log), fixed = TRUE)))
        raised(way("return 5", audit_log = ""), "lazaret_argument_error", "audit_log")
    })

    test(say("traces"), {
        log <- file.path(tempfile(), "audit.jsonl")
        parent <- "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        way("return 5", audit_log = log, traceparent = parent, tracestate = "vendor=1")
        has <- function(text) any(grepl(text, readLines(log), fixed = TRUE))
        check(has(paste0("\"traceparent\":\"", parent, "\"")))
        check(has("\"tracestate\":\"vendor=1\""))
        raised(way("return 5", traceparent = 5), "lazaret_argument_error", "traceparent")
    })

    test(say("sanitized errors"), {
        code <- "error('cannot open /home/me/secret', 0)"
        same(way(code, sanitize_errors = TRUE)[[1L]]$error$message, "cannot open [path]")
        same(way(code, server = server)[[1L]]$error$message, "cannot open /home/me/secret")
    })

    test(say("number of executions"), {
        same(way("return 1", server = server, max_executions = 1)[[1L]]$value, 1)
        raised(way("return 1", server = server, max_executions = 0), "lazaret_argument_error",
               "max_executions")
        if (name == "one-shot")
            return()
        results <- way(c("return return", "return 1", "error('x')", "return 3"), server = server,
                       max_executions = 2)
        same(verdicts(results), c("syntax_error", "ok", "error", "blocked"))
        same(results[[4L]]$detail, "the maximum of 2 executions is reached")
    })

    test(say("hook"), {
        seen <- character()
        hook <- function(code) {
            seen <<- c(seen, code)
            if (grepl("break", code))
                stop("no breaks")
            if (!grepl("1", code)) grepl("2", code)
        }
        codes <- c("return 1", "return 2", "return 3", "do break end")
        results <- way(codes, server = server, pre_execute_hook = hook)
        same(verdicts(results), c("ok", "ok", "blocked", "blocked"))
        same(vapply(results[3:4], function(r) r$detail, ""),
             c("pre_execute_hook has refused the code", "pre_execute_hook has failed: no breaks"))
        same(seen, codes)
        raised(way("return 1", server = server, pre_execute_hook = "no"), "lazaret_argument_error",
               "pre_execute_hook")
    })

    test(say("warnings"), {
        code <- "if false then require('socket') end"
        same(length(way(code, server = server)[[1L]]$warnings), 1L)
        r <- way(code, server = server, validate = FALSE)[[1L]]
        same(list(r$verdict, r$warnings), list("ok", character()))
    })

    test(say("longest code"), {
        results <- way(c("x = 10", "x = 100"), server = server, max_code_length = 6)
        same(verdicts(results), c("ok", "blocked"))
        same(results[[2L]]$detail, "Code too long (7 characters, maximum 6)")
        long <- paste0("--", strrep("x", 100000L))
        same(verdicts(way(long)), "blocked")
        for (most in list(200000, NULL)) {
            # Of a server that is given, its own limit holds.
            arguments <- list(long, max_code_length = most)
            same(verdicts(do.call(way, c(arguments, server = server))), "blocked")
            same(verdicts(do.call(way, arguments)), "ok")
        }
    })

    test(say("messages"), {
        add <- function(a, b) if (b == 9) stop("no nine") else a + b
        words <- messages_of(way(c("add(1, 2) pcall(add, 1, 9)", "return 1"), server = server,
                                 tools = list(add = add), verbose = TRUE,
                                 pre_execute_hook = function(code) code != "return 1"))
        for (text in c(paste(kind, "started"), "tool call: add(a, b)", "tool result: add",
                       "tool error: add: no nine", "execution ended: ok (",
                       "execution blocked: pre_execute_hook", paste(kind, "closed")))
            check(any(startsWith(words, paste("[lazaret]", text))), text)
        same(messages_of(way("add(1, 2)", server = server, tools = list(add = add))), character())
        raised(way("return 1", server = server, verbose = NA), "lazaret_argument_error", "verbose")
    })

    test(say("settings for a server that is given"), {
        for (option in list(list(limits = list(cpu = 1)), list(audit_log = "x"),
                            list(sanitize_errors = TRUE)))
            raised(do.call(way, c("return 1", list(server = server), option)),
                   "lazaret_argument_error", "belong to a server")
    })
})

test("what is blocked is a condition", {
    no <- function(code) FALSE
    raised(lazaret_execute("1", server = server, pre_execute_hook = no), "lazaret_blocked")
    session <- Session$new(server = server, pre_execute_hook = no)
    e <- raised(session$execute("1"), "lazaret_blocked")
    same(list(e$kind, e$result$verdict), list("blocked", "blocked"))
    session$close()
})

test("a restart leaves the number of executions, and so does what was not sent", {
    session <- Session$new(server = server, runtime = "lua", max_executions = 1)
    raised(session$execute("return 1", files = list("a/b" = as.raw(1))), "lazaret_request_failed")
    session$execute("return 1")
    session$restart()
    raised(session$execute("return 1"), "lazaret_blocked")
    session$close()
})

test("a server of its own ends with it", {
    pool <- lazaret_pool("lua", 1, limits = list(cpu = 5))
    pid <- pool$execute("return 1", result = TRUE)
    started <- environment(pool$execute)$state$server
    pool$close()
    check(!internal("server_is_alive")(started))
    pool <- lazaret_pool("lua", 1, limits = list(cpu = 5))
    process <- environment(pool$execute)$state$server$channel$process$get_pid()
    check(process_runs(process))
    rm(pool)
    invisible(gc())
    check(wait_until(function() !process_runs(process)))
    raised(lazaret_pool("nope", 1, limits = list(cpu = 5)), "lazaret_setup_failed", "nope")
})

server$close()
end_tests()
