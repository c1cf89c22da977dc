# SPDX-License-Identifier: MIT
# Servers that fail, sockets, signals, forks, and the end of R.
source(file.path("support", "helper.R"))

# A program in place of lazaret that says these lines, and then reads all input, or sleeps.
false_server <- function(lines, after = "cat > /dev/null") {
    file <- tempfile()
    writeLines(c("#!/bin/sh", sprintf("printf '%%s\\n' '%s'", lines), after), file)
    Sys.chmod(file, "0700")
    file
}
hello <- function(version) {
    sprintf("{\"type\":\"hello\",\"protocol\":%s,\"version\":\"9\",\"max_line\":100000}", version)
}
no_words <- suppressMessages

test("a missing program is one clear sentence", {
    raised(lazaret_server("/nonexistent/lazaret"), "lazaret_setup_failed", "^`program` is '/non")
    same(lazaret_available("/nonexistent/lazaret"), FALSE)
    old <- Sys.getenv(c("LAZARET", "PATH"))
    Sys.setenv(LAZARET = "", PATH = "/nonexistent")
    on.exit(do.call(Sys.setenv, as.list(old)))
    find_program <- internal("find_program")
    raised(find_program(packaged = "/nonexistent/lazaret"), "lazaret_setup_failed",
           "was not found on PATH: install it.*Debian: the packages lazaret and lazaret-r")
    options(lazaret.program = "/nonexistent/other")
    raised(lazaret_server(), "lazaret_setup_failed", "option lazaret.program")
    options(lazaret.program = NULL)
    do.call(Sys.setenv, as.list(old))
})

test("where the program is looked for", {
    find_program <- internal("find_program")
    old <- Sys.getenv(c("LAZARET", "PATH"))
    place <- function(name) {
        file <- file.path(tempfile(), name)
        dir.create(dirname(file))
        file.copy(false_server(character()), file)
        file
    }
    packaged <- place("lazaret")
    on_path <- place("lazaret")
    named <- place("named")
    option <- place("option")
    Sys.setenv(LAZARET = "", PATH = "/nonexistent")
    same(find_program(packaged = packaged), packaged)
    Sys.setenv(PATH = paste(dirname(on_path), old[["PATH"]], sep = ":"))
    same(find_program(packaged = packaged), on_path)
    Sys.setenv(LAZARET = named)
    same(find_program(packaged = packaged), named)
    options(lazaret.program = option)
    same(find_program(packaged = packaged), option)
    same(find_program(packaged, packaged = on_path), packaged)
    options(lazaret.program = NULL)
    do.call(Sys.setenv, as.list(old))
})

test("servers that are none", {
    raised(lazaret_server(false_server(hello(2))), "lazaret_setup_failed", "version 2 of the proto")
    raised(lazaret_server(false_server("rubbish")), "lazaret_setup_failed", "not a message")
    raised(lazaret_server(false_server("[1]")), "lazaret_setup_failed", "not a message")
    raised(no_words(lazaret_server(false_server(character(), "echo why >&2; exit 3"))),
           "lazaret_setup_failed", "with status 3: why")
    raised(lazaret_server(false_server(character(), "exec sleep 60"), start_timeout = 1),
           "lazaret_setup_failed", "has not answered in 1 seconds")
    raised(lazaret_server(tempdir()), "lazaret_setup_failed")
    script <- paste("read line; echo '{\"type\":\"opened\",\"id\":1,\"session\":1}'; read line;",
                    "echo {oops")
    odd <- lazaret_server(false_server(hello(1), script))
    session <- lazaret_session(server = odd)
    raised(session$execute("1"), "lazaret_worker_lost", "not a message")
    raised(session$execute("1"), "lazaret_worker_lost", "not a message")
    session$close()
})

need_program()

test("a wrong setting is reported", {
    raised(no_words(lazaret_server(settings = list(session.timout = 1))), "lazaret_setup_failed",
           "session.timout")
})

test("configuration and settings reach the server", {
    file <- tempfile(fileext = ".toml")
    writeLines(c("[session]", "runtime = \"lua\"", "[env.set]", "A = \"1\"", "B = \"1\""), file)
    Sys.chmod(file, "0600")
    server <- lazaret_server(config = file, settings = list(env.set.B = "true \"\u00e4"))
    same(lazaret_execute("return os.getenv('A'), os.getenv('B')", NULL, server = server),
         c("1", "true \"\u00e4"))
    server$close()
})

test("a killed server is worker_lost", {
    server <- lazaret_server()
    session <- Session$new(list(kill = function() tools::pskill(server$pid, 9)), "lua",
                           server = server)
    raised(session$execute("kill() while true do end"), "lazaret_worker_lost", "signal 9")
    same(list(server$is_alive(), session$is_alive()), list(FALSE, FALSE))
    raised(session$execute("return 1"), "lazaret_worker_lost")
    session$close()
    check(grepl("stopped", format(server)))
})

test("a server that was killed between two executions is worker_lost", {
    server <- lazaret_server()
    session <- Session$new(runtime = "lua", server = server)
    same(session$execute("return 1"), 1)
    tools::pskill(server$pid, 9)
    check(wait_until(function() !process_runs(server$pid)))
    raised(session$execute(strrep(" ", 90000)), "lazaret_worker_lost", "signal 9")
    server$close()
})

test("a server that nothing uses any more ends", {
    server <- lazaret_server()
    pid <- server$pid
    session <- Session$new(runtime = "lua", server = server)
    rm(server)
    invisible(gc())
    same(session$execute("return 1"), 1)
    rm(session)
    invisible(gc())
    check(wait_until(function() !process_runs(pid)))
})

test("a message that is too long has no effect", {
    server <- lazaret_server()
    session <- Session$new(list(long = function() strrep("x", 3000)), "lua", server = server)
    internal_server <- server$.server
    assign("max_line", 2000, envir = internal_server)
    raised(session$execute("long()"), "lazaret_execution_error", "too long")
    raised(session$execute(strrep(" ", 3000)), "lazaret_request_failed", "too long")
    same(session$execute("return 1"), 1)
    server$close()
})

test("a session that is dropped is closed", {
    server <- lazaret_server(settings = list(pool.max_sessions = 1))
    Session$new(list(), "lua", server = server)$execute("return 1")
    invisible(gc())
    session <- NULL
    check(wait_until(function() {
        session <<- tryCatch(Session$new(list(), "lua", server = server), error = function(e) NULL)
        !is.null(session)
    }))
    same(session$execute("return 2"), 2)
    server$close()
})

test("an interrupt cancels, and is signalled when the code has ended", {
    r <- start_r(c("s <- Session$new(runtime = 'lua')",
                   "got <- tryCatch(s$execute('print(\"ready\") while true do end',",
                   "                          output_handler = function(line) cat(line, '\\n')),",
                   "                interrupt = function(i) 'interrupted')",
                   "cat(got, s$execute('return 7'), '\\n')"))
    check(any(grepl("ready", lines_until(r, "ready"))))
    r$interrupt()
    lines <- lines_until(r, "interrupted")
    check(any(grepl("^interrupted 7", lines)), paste(lines, collapse = "|"))
    r$wait(600000)
})

test("an interrupt in a tool ends the execution", {
    r <- start_r(c("nap <- function() { cat('in\\n'); Sys.sleep(60) }",
                   "s <- Session$new(list(nap = nap), 'lua')",
                   "got <- tryCatch(s$execute('nap() while true do end'),",
                   "                interrupt = function(i) 'interrupted')",
                   "cat(got, s$execute('return 7'), '\\n')"))
    check(any(grepl("in", lines_until(r, "in"))))
    r$interrupt()
    lines <- lines_until(r, "interrupted")
    check(any(grepl("^interrupted 7", lines)), paste(lines, collapse = "|"))
    r$wait(600000)
})

test("a server that is killed while a large answer is written is worker_lost", {
    server <- lazaret_server(settings = list(limits.memory = "1GiB"))
    big <- function() {
        tools::pskill(server$pid, 9)
        strrep("b", 60 * 2^20)
    }
    session <- Session$new(list(big = big), "lua", server = server)
    raised(session$execute("while true do big() end"), "lazaret_worker_lost", "signal 9")
    session$close()
})

test("a fork in the middle of a call", {
    r <- start_r(c("fork <- function() {",
                   "    again <- function() tryCatch(s$execute('return 1'), lazaret_error =",
                   "                                 function(e) conditionMessage(e))",
                   "    child <- parallel::mcparallel(again())",
                   "    paste0(parallel::mccollect(child)[[1]], strrep(' ', 8 * 2^20))",
                   "}",
                   "s <- Session$new(list(fork = fork), 'lua')",
                   "code <- 'for i = 1, 1000 do print(i) end v = fork() return v:sub(1, 90), #v > 8 << 20'",
                   "got <- s$execute(code,",
                   "                 output_handler = function(line) NULL)",
                   "cat(trimws(got[[1]]), got[[2]], s$execute('return 3'), '\\nend\\n')"))
    lines <- lines_until(r, "^end")
    check(any(grepl("^this server belongs to process.* TRUE 3", lines)), paste(lines, collapse = "|"))
    r$wait(600000)
})

test("a forked process has a server of its own, and the parent goes on", {
    r <- start_r(c("s <- Session$new(runtime = 'lua')",
                   "one <- lazaret_execute('return 1', 'lua')",
                   "work <- function(i) c(lazaret_execute(sprintf('return %d', i), 'lua'),",
                   "                      tryCatch(s$execute('return 1'), lazaret_error =",
                   "                                   function(e) conditionMessage(e)))",
                   "got <- parallel::mclapply(1:2, work, mc.cores = 2)",
                   "cat(vapply(got, `[`, '', 1), 'then', s$execute('return 3'), '\\n')",
                   "cat(got[[1]][2], '\\nend\\n')"))
    lines <- lines_until(r, "^end")
    check(any(grepl("^1 2 then 3", lines)), paste(lines, collapse = "|"))
    check(any(grepl("belongs to process", lines)), paste(lines, collapse = "|"))
    r$wait(600000)
})

test("a server ends with R, however that ends", {
    for (kill in c(TRUE, FALSE)) {
        r <- start_r(c("s <- Session$new(runtime = 'lua')", "s$execute('return 1')",
                       "server <- lazaret_server()",
                       "default <- getFromNamespace('the', 'lazaret')$default",
                       "cat('pids', default$channel$process$get_pid(), server$pid, '\\n')",
                       "invisible(readLines(file('stdin')))"), stdin = "|")
        line <- grep("^pids", lines_until(r, "^pids"), value = TRUE)
        pids <- strsplit(line, " ")[[1L]][2:3]
        check(all(vapply(pids, process_runs, NA)))
        if (kill) r$kill(close_connections = FALSE) else close(r$get_input_connection())
        check(wait_until(function() !any(vapply(pids, process_runs, NA))))
        r$wait(600000)
    }
})

test("two clients at a socket", {
    path <- file.path(tempfile("d"), "socket")
    dir.create(dirname(path), mode = "0700")
    raised(lazaret_server(path = path), "lazaret_setup_failed", "cannot connect")
    raised(lazaret_server(path = path, settings = list(a = 1)), "lazaret_argument_error")
    process <- processx::process$new(internal("find_program")(), c("serve", "--listen", path))
    one <- NULL
    check(wait_until(function() {
        one <<- tryCatch(lazaret_server(path = path), lazaret_setup_failed = function(e) NULL)
        !is.null(one)
    }))
    two <- lazaret_server(path = path)
    first <- Session$new(list(big = function() strrep("b", 2^23)), "lua", server = one)
    second <- Session$new(runtime = "lua", server = two)
    same(first$execute("return #big()"), 2^23)
    same(second$execute("return 2"), 2)
    same(one$pid, NULL)
    two$close()
    same(first$execute("return 1"), 1)
    process$signal(15)
    process$wait(600000)
    raised(first$execute("return 1"), "lazaret_worker_lost", "closed the connection")
})

end_tests()
