# SPDX-License-Identifier: MIT
# Sessions, results, tools and pools, with the program.
source(file.path("support", "helper.R"))
need_program()

mib <- 2^20
server <- lazaret_server(settings = list(session.max_message_size = "32MiB",
                                         session.interrupt_grace = 60,
                                         limits.memory = "256MiB"))
with_session <- function(use, ..., runtime = "r") {
    session <- Session$new(..., runtime = runtime, server = server)
    on.exit(session$close())
    use(session)
}

test("the value is returned, with the output as attribute", with_session(function(s) {
    same(s$execute("1 + 1"), 2)
    same(utils::capture.output(print(s$execute("1 + 1"))), "[1] 2")
    value <- s$execute("cat('a\\nb'); message('e'); 5")
    same(as.vector(value), 5)
    same(sort(attr(value, "output")), c("a", "b", "e"))
    same(s$execute("cat('only output'); NULL"), NULL)
    same(s$execute("x <- 3; x; 'last'"), "last")
    same(s$execute(c("a <- 1", "a + 1")), 2)
    same(s$execute("x <- 4"), NULL)
    same(s$execute("x <- 4", invisible = TRUE), 4)
    raised(s$execute("1", invisible = "yes"), "lazaret_argument_error", "`invisible` must be")
}))

test("a result has all of it", with_session(function(s) {
    r <- s$execute_result("cat('out\\n'); message('err'); 1:3")
    same(class(r), "lazaret_result")
    same(r$value, 1:3)
    same(list(r$text, r$stdout, r$stderr, r$verdict), list("[1] 1 2 3", "out\n", "err\n", "ok"))
    same(r$artifacts, list())
    check(r$usage$wall_ms >= 0)
    check(nzchar(r$isolation$backend))
    check(any(grepl("1 2 3", utils::capture.output(print(r)))))
    bad <- s$execute("stop('no')", result = TRUE)
    same(bad$verdict, "error")
    check(any(grepl("message: no", utils::capture.output(print(bad)))))
    check(grepl("socketConnection", s$execute_result("if (FALSE) socketConnection()")$warnings))
    check(is.character(r$isolation$enforces))
}))

test("a network list is of a session", {
    listed <- lazaret_server(settings = list(sandbox.backend = "bwrap"))
    code <- "unlist(lapply(c('a.example', 'b.example'), function(name) !is.null(nsl(name))))"
    session <- Session$new(network = "https://a.example", server = listed)
    r <- session$execute_result(code)
    same(r$value, c(TRUE, FALSE))
    same(r$denials[[1]]$name, "b.example")
    session$set_network(list(list(host = "b.example", to = "10.0.0.0/8")))
    same(as.vector(session$execute(code)), c(FALSE, TRUE))
    session$set_network(list())
    same(as.vector(session$execute(code)), c(FALSE, FALSE))
    raised(session$set_network("b.example:22"), "lazaret_request_failed", "port 22")
    raised(session$set_network(7), "lazaret_argument_error", "`network` must be")
    session$close()
    pool <- lazaret_pool(size = 1L, network = "b.example", server = listed)
    same(as.vector(pool$execute(code)), c(FALSE, TRUE))
    pool$close()
    listed$close()
})

test("credentials are of a session", {
    listed <- lazaret_server(settings = list(sandbox.backend = "bwrap"))
    value <- paste0("ghp_", paste(sample(c(letters, 0:9), 36, TRUE), collapse = ""))
    code <- "Sys.getenv('API_TOKEN')"
    mine <- list(host = "a.example", header = "Authorization: Bearer {secret}",
                 secret = list(value = value), placeholder = list(env = "API_TOKEN"),
                 methods = "GET", paths = c("/v1/*", "/v2/*"), only = TRUE)
    rules <- "https://a.example"
    says <- function(x) paste(utils::capture.output({ print(x); utils::str(x) }), collapse = "\n")
    is_placeholder <- function(r) { # of the same shape, and another one
        check(startsWith(r$value, "ghp_"))
        check(!grepl(value, says(r), fixed = TRUE))
        same(r$credentials, list())
    }
    session <- Session$new(network = rules, credentials = list(mine), server = listed)
    is_placeholder(session$execute_result(code))
    check(!grepl(value, says(session), fixed = TRUE))
    session$close()
    session <- Session$new(network = rules, credentials = list(), server = listed)
    same(as.vector(session$execute(code)), "")
    session$close()
    pool <- lazaret_pool(size = 1L, network = rules, credentials = list(mine), server = listed)
    is_placeholder(pool$execute(code, result = TRUE))
    pool$close()
    is_placeholder(lazaret_execute(code, network = rules, credentials = list(mine), server = listed,
                                   result = TRUE))
    for (wrong in list(value, c(mine, x = value),
                       utils::modifyList(mine, list(secret = list(value = NULL, file = value))))) {
        e <- raised(Session$new(network = rules, credentials = list(mine, wrong), server = listed),
                    "lazaret_setup_failed", "credentials\\[1\\]")
        check(!grepl(value, says(e), fixed = TRUE))
    }
    for (given in list(mine, list(7), list(list(host = "a", secret = list(value = 7))))) {
        e <- raised(Session$new(network = rules, credentials = given, server = listed),
                    "lazaret_argument_error", "credential")
        check(!grepl(value, says(e), fixed = TRUE))
    }
    listed$close()
})

test("verdicts are conditions with the result", with_session(function(s) {
    e <- raised(s$execute("cat('before\\n')\nstop('broken')"), "lazaret_execution_error",
                "^broken$")
    same(class(e), c("lazaret_execution_error", "lazaret_error", "error", "condition"))
    same(list(e$kind, as.numeric(e$line), e$result$stdout), list("runtime", 2, "before\n"))
    raised(s$execute("1 +* 2"), "lazaret_syntax_error")
    raised(s$execute("1 +* 2", validate = FALSE), "lazaret_error")
    same(raised(s$execute("repeat {}", timeout = 0.2), "lazaret_timeout", "timed out")$kind,
         "timeout")
    same(raised(s$execute("repeat {}", deadline = 0.2), "lazaret_timeout")$kind, "deadline")
    same(s$execute("1"), 1)
    same(raised(s$execute("x <- numeric(1e9); x[] <- 1"), "lazaret_error")$result$verdict %in%
             c("memory_limit", "error"), TRUE)
    raised(s$execute("nchar('abc')", max_code_length = 5), "lazaret_blocked", "too long")
    same(s$execute("1 + 1", max_code_length = 5), 2)
    raised(s$execute(3), "lazaret_argument_error")
    raised(s$execute("1", timeout = -1), "lazaret_argument_error", "timeout")
}))

test("a crash is worker_lost, and the session goes on", {
    with_session(function(s) {
        raised(s$execute("import os; os.abort()"), "lazaret_worker_lost")
        same(s$execute_result("1")$replaced, "crashed")
    }, runtime = "python")
})

test("code that is ended early keeps its session", {
    with_session(function(s) {
        late <- raised(s$execute("x = 5 while true do end", timeout = 0.1), "lazaret_timeout")
        same(late$result$kept, TRUE)
        stopped <- raised(s$execute("print(1) while true do end",
                                    output_handler = function(line) s$interrupt()),
                          "lazaret_cancelled")
        same(stopped$result$kept, TRUE)
        s$interrupt() # there is nothing
        result <- s$execute_result("return x")
        same(list(result$value, result$replaced, result$kept), list(5, NULL, TRUE))
    }, runtime = "lua")
})

test("values come out of R as they went in", with_session(function(s) {
    number <- s$execute("list(0.1, 1/3, .Machine$double.xmax, 5e-324, -0, 2^53 + 2, NaN, Inf)")
    same(writeBin(unlist(number), raw()),
         writeBin(c(0.1, 1 / 3, .Machine$double.xmax, 5e-324, -0, 2^53 + 2, NaN, Inf), raw()))
    same(s$execute("list(NA, NA_character_, NA_real_)"), list(NA, NA_character_, NA_real_))
    same(s$execute("factor(c('a', NA), levels = c('a', 'z'))"), factor(c("a", NA), c("a", "z")))
    same(s$execute("as.Date('2024-01-31')"), as.Date("2024-01-31"))
    same(s$execute("as.raw(0:255)"), as.raw(0:255))
    same(s$execute("c(1i, NA)")[1L], 1i)
    same(s$execute("I(1)"), I(1))
    same(s$execute("c(a = 1, b = 2)"), c(a = 1, b = 2))
    same(s$execute("'\\u20ac'"), "\u20ac")
    same(class(s$execute("mean")), "lazaret_repr")
}))

frame <- data.frame(n = c(1 / 3, NA), s = c("a", NA), f = factor(c("u", NA), c("v", "u")),
                    o = factor(c("low", "high"), c("low", "high"), ordered = TRUE),
                    d = as.Date(c("2024-01-31", NA)), b = c(TRUE, NA), z = c(1i, 2i),
                    t = as.POSIXct(c(0.25, 1e9), origin = "1970-01-01", tz = "UTC"))
special <- list(-0, 5e-324, 2^53 + 2, NaN, NA_real_, NA_character_, Inf, I(1), as.raw(1:3), NULL,
                list(a = 1, b = list()), c("x", "\u20ac"), structure("9007199254740993",
                                                                     class = "lazaret_int"))

test("a data frame goes into the sandbox, is used there, and comes back", {
    got <- NULL
    tools <- list(lazaret_tool("data", "A frame", function() frame),
                  lazaret_tool("take", "Gets a frame", function(x) {
                      got <<- x
                      nrow(x)
                  }, args = list(x = "data.frame")))
    with_session(function(s) {
        same(s$execute("x <- data(); take(x)"), 2L)
        same(got, frame)
        same(s$execute("x"), frame)
        same(s$execute("levels(x$f)[2]"), "u")
        same(s$execute("c(is.ordered(x$o), inherits(x$d, 'Date'), is.complex(x$z))"),
             c(TRUE, TRUE, TRUE))
    }, tools = tools)
})

test("special values survive the way in and out", {
    with_session(function(s) {
        same(s$execute("special()"), special)
        same(s$execute("1 / special()[[1]]"), -Inf)
        raised(s$execute("fn()"), "lazaret_execution_error", "function cannot be sent")
    }, tools = list(special = function() special, fn = function() mean))
})

test("what a tool returns is shown", {
    one <- lazaret_tool("one", "", function() 1, returns = list(type = "integer"))
    with_session(function(s) {
        check(grepl("returns int", s$execute("paste(capture.output(one), collapse = ' ')")))
    }, tools = list(one))
    raised(lazaret_tool("one", "", function() 1, returns = "integer"), "lazaret_error", "JSON Schema")
})

test("tools have types, defaults and errors", {
    tools <- list(
        lazaret_tool("add", "Add numbers", function(a, b = 2) a + b,
                     args = list(a = "numeric", b = "numeric")),
        lazaret_tool("kinds", "", function(i, l, any = -1) list(is.integer(i), is.list(l), any),
                     args = list(i = "integer", l = "list", any = NULL)),
        lazaret_tool("fail", "", function() stop("no luck")),
        lazaret_tool("null", "", function() NULL))
    with_session(function(s) {
        same(s$execute("add(2, 3)"), 5)
        same(s$execute("add(add(1))"), 5)
        same(s$execute("kinds(3, list(1, 2))"), list(TRUE, TRUE, -1))
        raised(s$execute("add('x', 1)"), "lazaret_execution_error", "'a' must be numeric")
        raised(s$execute("add(1, 2, evil = 3)"), "lazaret_execution_error")
        same(s$execute("tryCatch(fail(), error = function(e) 'caught')"), "caught")
        e <- raised(s$execute("fail()"), "lazaret_execution_error", "no luck")
        same(conditionMessage(e$parent), "no luck")
        same(raised(s$execute("try(fail(), TRUE); stop('other')"), "lazaret_error")$parent, NULL)
        same(s$execute("null()"), NULL)
        same(names(s$tools()), c("add", "kinds", "fail", "null"))
        same(s$tools()$add, list(name = "add", args = list(a = "numeric", b = "numeric")))
        raised(s$execute("add(1); add(1); add(1)", max_tool_calls = 2), "lazaret_limit")
        same(s$execute("add(1); add(1)", max_tool_calls = 2), 3)
        s$restart()
        same(s$execute("add(1)"), 3)
    }, tools = tools)
})

test("definitions of tools are checked", {
    f <- function(a) a
    for (name in list("", "a b", "x;y", 3, NULL))
        raised(lazaret_tool(name, "", f), "lazaret_argument_error", "name of a tool")
    raised(lazaret_tool("t", "", "f"), "lazaret_argument_error", "function")
    raised(lazaret_tool("t", "", f, args = list(a = "matrix")), "lazaret_argument_error", "type")
    raised(lazaret_tool("t", "", f, args = list(b = "list")), "lazaret_argument_error", "'b'")
    raised(lazaret_tool("t", "", f, args = list("list")), "lazaret_argument_error", "name")
    raised(lazaret_session(list(f)), "lazaret_argument_error", "names")
    two <- list(lazaret_tool("t", "", f), lazaret_tool("t", "", f))
    raised(lazaret_session(two), "lazaret_argument_error", "two tools")
    same(names(lazaret_tool("paste", "", paste0)$args), c("collapse", "recycle0"))
    same(format(lazaret_tool("t", "", f, args = c(a = "list"))), "<lazaret_tool> t(a = list)")
    same(lazaret_tool("t", "", function(a = c("x", "y"), b = NA, c = -1L, d = TRUE, e) 1,
                      )$parameters$c$default, -1L)
})

test("sessions inside tools", {
    outer <- NULL
    with_session(function(other) {
        tools <- list(again = function() outer$execute("1"),
                      elsewhere = function() other$execute("6 * 7"),
                      restart = function() outer$restart())
        with_session(function(s) {
            outer <<- s
            raised(s$execute("again()"), "lazaret_execution_error", "executes code already")
            raised(s$execute("restart()"), "lazaret_execution_error", "cannot be restarted")
            same(s$execute("elsewhere() + elsewhere()"), 84)
        }, tools = tools)
    })
    closing <- Session$new(list(shut = function() closing$close()), server = server)
    raised(closing$execute("shut(); repeat {}"), "lazaret_cancelled")
})

test("leaving a tool or a handler cancels the execution", {
    with_session(function(s) {
        same(withRestarts(s$execute("leave(); repeat {}"), left = function() "left"), "left")
        same(s$execute("1"), 1)
        refuse <- function(line) stop("h:", line)
        raised(s$execute("cat('x\\n'); repeat {}", output_handler = refuse), "simpleError", "h:x")
        same(s$execute("2"), 2)
    }, tools = list(leave = function() invokeRestart("left")))
})

test("output comes line by line", with_session(function(s) {
    lines <- character()
    value <- s$execute("cat('a\\nb'); cat('c\\n'); cat('d')",
                       output_handler = function(line) lines <<- c(lines, line))
    same(lines, c("a", "bc", "d"))
    value <- s$execute("for (i in 1:100) cat(i, '\\n'); 'done'", max_output_lines = 3)
    same(length(attr(value, "output")), 3L)
    same(as.vector(value), "done")
}))

test("progress", with_session(function(s) {
    seen <- list()
    note <- function(progress) seen[[length(seen) + 1L]] <<- progress
    code <- "while (!enough()) Sys.sleep(0.02); 5"
    with_session(function(s) same(s$execute(code, on_progress = note), 5),
                 tools = list(enough = function() length(seen) > 1L))
    same(names(seen[[1L]]), c("wall_ms", "cpu_ms", "max_rss_bytes", "tool_calls"))
    check(seen[[1L]]$wall_ms < seen[[2L]]$wall_ms)
    check(seen[[1L]]$tool_calls > 0 && seen[[1L]]$max_rss_bytes > 0)
    raised(s$execute("repeat Sys.sleep(0.02)", on_progress = function(p) stop("enough")),
           "simpleError", "enough")
    raised(s$execute("1", on_progress = 5), "lazaret_argument_error", "on_progress")
    inbox <- internal("new_inbox")()
    for (i in 1:3) internal("put_message")(inbox, list(type = "progress", wall_ms = i))
    same(internal("take_message")(inbox)$wall_ms, 1L)
    same(internal("take_message")(inbox), NULL)
}))

test("8 MiB into and out of a tool, and as value", {
    with_session(function(s) {
        same(s$execute("nchar(big())"), 8388608L)
        same(s$execute("size(strrep('l', 8 * 2^20))"), 8388608L)
        same(s$execute("nchar(echo(strrep('e', 8 * 2^20)))"), 8388608L)
        check(nchar(s$execute("strrep('v', 8 * 2^20)")) == 8 * mib)
    }, tools = list(big = function() strrep("b", 8 * mib), size = function(text) nchar(text),
                    echo = function(text) text))
})

test("64 MiB into and out of a tool, and as value", {
    large <- lazaret_server(settings = list(session.max_message_size = "144MiB",
                                            session.max_value_size = "80MiB",
                                            limits.memory = "1GiB"))
    tools <- list(big = function() strrep("b", 64 * mib), size = function(text) nchar(text))
    tools$size <- lazaret_tool("size", "", tools$size)
    s <- Session$new(tools, "lua", server = large)
    same(s$execute("return #big()"), 64 * mib)
    same(s$execute("return size(string.rep('l', 64 << 20))"), 64 * mib)
    same(nchar(s$execute("return string.rep('v', 64 << 20)")), as.integer(64 * mib))
    large$close()
})

test("a flood of output while its handler does other things", {
    flooded <- lazaret_server(settings = list(session.max_output_size = "32MiB"))
    other <- Session$new(runtime = "lua", server = flooded)
    s <- Session$new(runtime = "lua", server = flooded)
    size <- 0
    handler <- function(line) {
        if (size == 0) # the flood comes meanwhile, and is received
            for (i in 1:200) same(other$execute("return string.rep('x', 10000)"), strrep("x", 10000))
        size <<- size + nchar(line) + 1
    }
    r <- s$execute_result("for i = 1, 384 do print(string.rep('x', 65535)) end",
                          output_handler = handler)
    same(r$verdict, "ok")
    same(nchar(r$stdout, "bytes"), as.integer(24 * mib))
    check(size + r$dropped >= 24 * mib, "size ", size, ", dropped ", r$dropped)
    flooded$close()
})

test("a flood of output while a tool sleeps and answers 8 MiB", {
    code <- paste("import threading, sys",
                  "def flood():",
                  "    for i in range(192): sys.stdout.write('x' * 65535 + chr(10))",
                  "t = threading.Thread(target=flood); t.start()",
                  "r = nap(); t.join(); len(r)", sep = "\n")
    size <- 0
    with_session(function(s) {
        r <- s$execute_result(code, output_handler = function(line) size <<- size + nchar(line) + 1)
        same(r$value, 8 * mib)
        check(size + r$dropped >= 8 * mib, "size ", size, ", dropped ", r$dropped)
        check(nchar(r$stdout) == 8 * mib && r$truncated) # what session.max_output_size keeps
    }, tools = list(nap = function() {
        Sys.sleep(1)
        strrep("s", 8 * mib) # goes in while the output comes out
    }), runtime = "python")
})

test("state, restart, close and format", with_session(function(s) {
    s$execute("x <- 5")
    same(s$execute("x"), 5)
    check(identical(s$restart(), s))
    same(s$execute("exists('x')"), FALSE)
    check(s$is_alive())
    check(grepl("^<Session> \\[running\\] r .*tools=0", format(s)), format(s))
    check(identical(s$close(), s))
    s$close()
    same(s$is_alive(), FALSE)
    check(grepl("\\[stopped\\]", s$format()))
    raised(s$execute("1"), "lazaret_error", "not running")
    check(any(grepl("stopped", utils::capture.output(print(s)))))
}))

test("counted executions and the hook", {
    with_session(function(s) {
        s$execute("1")
        raised(s$execute("1 +* 1"), "lazaret_syntax_error")
        s$execute("2")
        raised(s$execute("3"), "lazaret_blocked", "maximum of 2")
    }, max_executions = 2)
    with_session(function(s) {
        raised(s$execute("system('x')"), "lazaret_blocked", "pre_execute_hook")
        raised(s$execute(c("1", "system('x')")), "lazaret_blocked", "pre_execute_hook")
        same(s$execute("1"), 1)
        raised(s$execute("fail"), "lazaret_blocked", "has failed: oops")
    }, pre_execute_hook = function(code) {
        if (code == "fail") stop("oops")
        !grepl("system", code)
    })
})

test("what cannot be had is refused", {
    raised(Session$new(sandbox = FALSE), "lazaret_argument_error", "without a sandbox")
    raised(Session$new(sandbox_strict = FALSE), "lazaret_argument_error", "sandbox_strict")
    raised(Session$new(limits = list(), server = server), "lazaret_argument_error", "limits")
    raised(Session$new(limits = list(cores = 1)), "lazaret_argument_error", "cores")
    raised(Session$new(limits = list(cpu = 0)), "lazaret_argument_error", "cpu")
    raised(Session$new(limits = list(cpu = 9), server = server), "lazaret_argument_error", "server")
    raised(Session$new(runtime = "nope", server = server), "lazaret_setup_failed", "nope")
    raised(lazaret_execute("1", "nope", server = server), "lazaret_setup_failed", "nope")
    raised(Session$new(max_executions = 0), "lazaret_argument_error", "max_executions")
})

test("tools are found by words", with_session(tools = list(
    lazaret_tool("read_file", "Reads a text", function(path) path),
    lazaret_tool("send.mail", "", function(to) to)), function(s) {
    same(vapply(s$search_tools("read some files"), function(tool) tool$name, ""), "read_file")
    same(length(s$search_tools("files, mails", limit = 1)), 1L)
    same(length(s$search_tools("weather")), 0L)
    raised(s$search_tools("read", limit = 0), "lazaret_argument_error", "limit")
}))

test("tools say which calls need an approval", {
    file <- tempfile(fileext = ".toml")
    writeLines(c("[[approve]]", "tool = \"some\"", "when = { path = \"/etc/*\" }"), file)
    Sys.chmod(file, "0600")
    strict <- lazaret_server(config = file)
    tools <- lapply(c(always = "always", some = "some", never = "never"), function(name)
        lazaret_tool(name, "", function(path) path, approve = name == "always"))
    s <- Session$new(tools, "lua", server = strict)
    same(utils::capture.output(print(tools$always)),
         c("<lazaret_tool> always(path = any)", "  Each call needs an approval."))
    waits <- function(found) lapply(found, function(tool) c(tool$approve, tool$may_approve))
    same(lapply(s$tools(), names), list(always = c("name", "args", "approve"),
                                        some = c("name", "args", "may_approve"),
                                        never = c("name", "args")))
    same(waits(s$tools()), list(always = TRUE, some = TRUE, never = NULL))
    same(sum(lengths(waits(s$search_tools("always some never")))), 2L)
    s$close()
    same(lapply(s$tools(), names)$some, c("name", "args"))
    strict$close()
})

test("a tool is called when the host approves", {
    called <- character()
    asked <- list()
    erase <- lazaret_tool("erase", "", function(path) {
        called <<- c(called, path)
        "erased"
    }, list(path = "character"), approve = TRUE)
    approve <- function(tool, args) {
        asked <<- c(asked, list(list(tool, args)))
        switch(args$path, a = TRUE, b = FALSE, c = stop("not on Mondays"), d = 1)
    }
    with_session(tools = list(erase), approve = approve, function(s) {
        same(s$execute("erase('a')"), "erased")
        same(asked[[1L]], list("erase", list(path = "a")))
        same(s$execute("tryCatch(erase('b'), error = function(e) 'no')"), "no")
        raised(s$execute("erase('c')"), "lazaret_execution_error", "not approved: not on Mondays")
        raised(s$execute("erase('d')"), "lazaret_execution_error", "not approved")
    })
    raised(lazaret_execute("erase('a')", tools = list(erase), server = server),
           "lazaret_execution_error", "decides on no approvals")
    same(lazaret_execute("erase('e')", tools = list(erase), server = server,
                         approve = function(...) TRUE), "erased")
    same(list(called, length(asked)), list(c("a", "e"), 4L))
    raised(Session$new(approve = TRUE), "lazaret_argument_error", "approve")
})

test("limits, audit log and sanitizing belong to a server of the session", {
    log <- tempfile()
    s <- Session$new(limits = list(fsize = 1024, cpu = Inf), audit_log = log,
                     sanitize_errors = TRUE)
    raised(s$execute("writeBin(raw(1e6), file.path(tempdir(), 'f'))"), "lazaret_error")
    e <- raised(s$execute("stop('see ', file.path('', 'srv', 'someone', 'file'))"), "lazaret_execution_error")
    check(!grepl("someone", conditionMessage(e)), conditionMessage(e))
    s$close()
    events <- readLines(log)
    check(any(grepl("someone", events)) || length(events) > 2)
})

test("messages of a verbose session", {
    words <- character()
    withCallingHandlers(with_session(function(s) s$execute("one()"), verbose = TRUE,
                                     tools = list(one = function() 1)),
                        message = function(m) {
        words <<- c(words, conditionMessage(m))
        invokeRestart("muffleMessage")
    })
    for (pattern in c("session started", "tool call: one", "tool result", "ended: ok"))
        check(any(grepl(pattern, words)), pattern)
})

test("pools", {
    pool <- lazaret_pool("r", 2, server = server)
    pool$execute("x <- 1")
    same(pool$execute("exists('x')"), FALSE)
    same(pool$status()$total, 2)
    check(grepl("<lazaret_pool> size=2", format(pool)))
    pool$close()
    same(pool$status()$total, 0)
    raised(pool$execute("1"), "lazaret_error", "closed")
    pool <- lazaret_pool("lua", 1, tools = list(one = function() 1), server = server)
    same(pool$execute("return one()"), 1)
    pool$close()
})

test("one execution on the default server", {
    same(lazaret_execute("1 + 1"), 2)
    same(lazaret_execute("return one()", "lua", tools = list(one = function() 1)), 1)
    raised(lazaret_execute("stop('x')"), "lazaret_execution_error", "^x")
    same(lazaret_execute("Sys.sleep(0.01); 3", timeout = NULL), 3)
    r <- lazaret_execute("5", result = TRUE)
    same(r$value, 5)
    told <- tryCatch(lazaret_execute("runif(3e6)"), warning = conditionMessage)
    check(grepl("value_omitted", told)) # and not only NULL
})

test("other languages", {
    with_session(function(s) {
        same(s$execute("return {a = 1}, 'x'"), list(list(a = 1), "x"))
    }, runtime = "lua")
    with_session(function(s) {
        same(s$execute("price('tea') * 2"), 5)
        same(s$execute("{1: b'a'}"), structure(list(keys = list(1), values = list(as.raw(97))),
                                               class = "lazaret_map"))
        same(s$execute("2**70"), structure("1180591620717411303424", class = "lazaret_int"))
        same(s$execute("[1, None, 'x']"), list(1, NULL, "x"))
    }, tools = list(lazaret_tool("price", "Price", function(item) c(tea = 2.5)[[item]],
                                 args = list(item = "character"))), runtime = "python")
})

test("JavaScript", {
    code <- c("const [a, b] = await Promise.all(['tea', 'coffee'].map((item) => price({ item })));",
              "({ sum: a + b, when: new Date(0), bytes: new Uint8Array([1]) })")
    tools <- list(lazaret_tool("price", "Price", function(item) c(tea = 2.5, coffee = 3.25)[[item]],
                               args = list(item = "character")))
    session <- tryCatch(Session$new(tools, "javascript", server = server),
                        lazaret_request_failed = function(e) NULL)
    if (!is.null(session)) {
        same(as.vector(session$execute(code)),
             list(sum = 5.75, when = as.POSIXct(0, origin = "1970-01-01", tz = "UTC"),
                  bytes = as.raw(1)))
        same(session$execute("a"), 2.5)
        raised(session$execute("throw new RangeError('no')"), "lazaret_error", "RangeError: no")
        session$close()
    }
})

server$close()
test("a closed server", {
    same(server$is_alive(), FALSE)
    raised(Session$new(server = server), "lazaret_worker_lost", "status 0")
})
end_tests()
