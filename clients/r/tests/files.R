# SPDX-License-Identifier: MIT
# Files for the code, and artifacts of it.
source(file.path("support", "helper.R"))

temporary <- function() {
    directory <- tempfile("files-")
    dir.create(directory)
    directory
}
read_file <- function(path) readBin(path, "raw", file.size(path))
sum_of_some <- "a6b46dd0d1ae5e86cbc8f37e75ceeb6760230c1ca4ffbcb0c97b96dd7d9c464b" # of "some"
made <- function(text, name = "plot.png") {
    internal("new_artifact")(name, "image/png", nchar(text), "", charToRaw(text), FALSE)
}

# ---- without the program -------------------------------------------------------------------------

test("nothing is overwritten", {
    directory <- file.path(temporary(), "a", "results")
    for (name in c("plot.png", "plot-2.png", "plot-3.png")) {
        path <- made(name)$save(directory)
        same(path, file.path(directory, name))
        same(rawToChar(read_file(path)), name)
    }
    same(basename(made("", "x")$save(directory)), "x")
    same(basename(made("", "x")$save(directory)), "x-2")
    for (name in c("x", "x-2"))
        same(made("in", "d.d/e/x")$save(directory), file.path(directory, "d.d/e", name))
    same(sort(list.files(directory, all.files = TRUE, no.. = TRUE)),
         sort(c("d.d", "plot-2.png", "plot-3.png", "plot.png", "x", "x-2")))
})

test("no link is followed", {
    directory <- temporary()
    target <- file.path(temporary(), "target")
    file.symlink(target, file.path(directory, "plot.png"))
    same(basename(made("x")$save(directory)), "plot-2.png")
    check(!file.exists(target))
    dir.create(target)
    file.symlink(target, file.path(directory, "d"))
    raised(made("x", "d/x")$save(directory), "lazaret_error", "is a link")
    same(list.files(target, all.files = TRUE, no.. = TRUE), character())
    made("x", "own")$save(file.path(directory, "d")) # a link of this program's own
    same(list.files(target), "own")
})

test("names that leave the directory", {
    directory <- temporary()
    for (name in c("../x", "/x", "a/../x", "a//x", "a/", "", ".", "a\\b"))
        raised(made("x", name)$save(file.path(directory, "in")), "lazaret_error", "below")
    same(list.files(directory), character())
    raised(made("x")$save(5), "lazaret_argument_error")
})

test("parts of artifacts are joined and checked", {
    listed <- list(list(name = "x", type = "text/plain", size = 4L, sha256 = sum_of_some))
    part <- function(part, text, more = FALSE, name = "x") {
        list(name = name, part = part, data = jsonlite::base64_enc(charToRaw(text)), more = more)
    }
    join <- function(..., from = listed) internal("artifacts_of")(from, list(...), TRUE)
    same(rawToChar(join(part(0L, "so", TRUE), part(1L, "me"))[[1L]]$data), "some")
    wrong <- function(...) raised(join(...), "lazaret_worker_lost", "protocol")
    wrong()
    wrong(part(0L, "so", TRUE))
    wrong(part(1L, "some"))
    wrong(part(0L, "so", TRUE), part(2L, "me"))
    wrong(part(1L, "me", TRUE), part(0L, "so"))
    wrong(part(0L, "some"), part(1L, ""))
    wrong(part(0L, "so"))
    wrong(part(0L, "some"), part(0L, "some", name = "y"))
    wrong(list(name = "x", part = 0L, data = "!"))
    wrong(list(name = "x", part = 0L, data = "c29tZQ"))
    wrong(list(data = ""))
    raised(internal("artifacts_of")(list(list(name = "x")), list(), FALSE),
           "lazaret_worker_lost", "lacks a member")
    same(internal("artifacts_of")(NULL, list(), TRUE), list())
    if (is.null(internal("sha256_of")(list(raw()))))
        cat("SKIP: nothing here computes SHA-256\n")
    else
        wrong(part(0L, "somE"))
})

# A server that answers the first request by these lines.
false_server <- function(lines) {
    file <- tempfile()
    hello <- "{\"type\":\"hello\",\"protocol\":1,\"version\":\"9\",\"max_line\":100000}"
    writeLines(c("#!/bin/sh", sprintf("echo '%s'", hello), "read line",
                 sprintf("echo '%s'", lines), "cat > /dev/null"), file)
    Sys.chmod(file, "0700")
    lazaret_server(file)
}

test("an artifact that was corrupted or dropped", {
    result <- paste0("{\"type\":\"result\",\"id\":1,\"result\":{\"verdict\":{\"reason\":\"ok\"},",
                     "\"artifacts\":[{\"name\":\"x\",\"type\":\"text/plain\",\"size\":4,",
                     "\"sha256\":\"", sum_of_some, "\"}]}}")
    server <- false_server(c(paste0("{\"type\":\"artifact\",\"id\":1,\"name\":\"x\",\"part\":0,",
                                    "\"data\":\"c29tZXM=\"}"), result))
    raised(lazaret_execute("1", server = server), "lazaret_worker_lost", "5 bytes instead of 4")
    server$close()
    dropped <- "{\"type\":\"artifact\",\"id\":1,\"name\":\"x\",\"dropped\":4}"
    server <- false_server(c(dropped, result))
    artifact <- lazaret_execute("1", server = server, result = TRUE)$artifacts[[1L]]
    same(list(artifact$data, artifact$dropped, artifact$size), list(NULL, TRUE, 4))
    raised(artifact$save(tempdir()), "lazaret_error", "too slow")
    server$close()
})

test("an artifact that is lost", {
    result <- paste0("{\"type\":\"result\",\"id\":1,\"result\":{\"verdict\":{\"reason\":\"ok\"},",
                     "\"artifacts\":[],\"artifacts_lost\":[{\"name\":\"b.png\",\"bytes\":8,",
                     "\"why\":\"it was too late\"}]}}")
    server <- false_server(result)
    lost <- lazaret_execute("1", server = server, result = TRUE)$artifacts_lost
    same(lost, list(list(name = "b.png", bytes = 8, why = "it was too late")))
    server$close()
})

# ---- with the program ----------------------------------------------------------------------------

need_program()
server <- lazaret_server()
with_session <- function(use, ..., runtime = "lua") {
    session <- Session$new(..., runtime = runtime, server = server)
    on.exit(session$close())
    use(session)
}
copy <- "
local i = io.open('in', 'rb')
local o = io.open('artifacts/out', 'wb')
o:write(i:read('a'))
o:close()"
save <- "io.open('artifacts/x', 'w'):write('kept'):close()"
bytes <- rep(as.raw(0:255), 12000) # 3 MB, in many parts

test("a file in and an artifact out", with_session(function(s) {
    for (data in list(raw(), as.raw(c(0, 13, 10, 255)), raw(192 * 1024), bytes)) {
        s$put_file("in", data)
        artifact <- s$execute_result(copy)$artifacts[[1L]]
        same(artifact$data, data)
        same(list(artifact$name, artifact$size, artifact$dropped),
             list("out", as.numeric(length(data)), FALSE))
    }
}))

test("a file of a path, and figures", {
    path <- file.path(temporary(), "some file")
    writeLines(c("a,b", "1,2", "3,5"), path)
    result <- lazaret_execute("d <- read.csv('in'); plot(d); nrow(d)", server = server,
                              files = list("in" = path), result = TRUE)
    same(list(result$value, length(result$artifacts)), list(2L, 1L))
    artifact <- result$artifacts[[1L]]
    same(list(artifact$name, artifact$type), list("figure-1-1.png", "image/png"))
    same(artifact$data[2:4], charToRaw("PNG"))
    same(read_file(artifact$save(temporary())), artifact$data)
    check(any(grepl("figure-1-1.png", utils::capture.output(print(result)))))
    check(grepl("^<lazaret_artifact> fig", utils::capture.output(print(artifact))))
})

test("files at opening, which belong to the box", with_session(function(s) {
    read <- function(name) s$execute(sprintf("open('%s').read()", name))
    same(list(read("in"), read("other")), list("first", "second"))
    raised(s$execute("import os; os.abort()"), "lazaret_worker_lost")
    result <- s$execute_result("__import__('os').path.exists('in')")
    same(list(result$replaced, result$value), list("crashed", FALSE))
    s$put_file("in", charToRaw("again"))
    same(read("in"), "again")
    s$restart()
    same(s$execute("__import__('os').path.exists('in')"), FALSE)
}, files = list("in" = charToRaw("first"), other = charToRaw("second")), runtime = "python"))

test("files of an execution", with_session(function(s) {
    files <- list("in" = charToRaw("first"), empty = raw())
    same(s$execute_result(copy, files = files)$artifacts[[1L]]$data, charToRaw("first"))
    same(s$execute("return io.open('empty'):read('a')"), "")
    same(s$execute_result(copy, files = list("in" = bytes))$artifacts[[1L]]$data, bytes)
    pool <- lazaret_pool("lua", 1, server = server)
    same(pool$execute_result(copy, files = files)$artifacts[[1L]]$data, charToRaw("first"))
    same(pool$execute("return io.open('in') == nil"), TRUE)
    pool$close()
    path <- file.path(temporary(), "some file")
    writeBin(charToRaw("of a path"), path)
    once <- lazaret_execute(copy, "lua", server = server, files = list("in" = path), result = TRUE)
    same(once$artifacts[[1L]]$data, charToRaw("of a path"))
}))

test("files of an execution that cannot be", {
    small <- lazaret_server(settings = list(sandbox.tmp_size = "1MiB"))
    pool <- lazaret_pool("lua", 1, server = small)
    for (files in list(list(kept = raw(), "a/b" = raw()), list(kept = raw(), "in" = bytes))) {
        code <- if ("in" %in% names(files)) "LAZ_EOS" else "LAZ_EINVAL"
        same(raised(pool$execute("return 1", files = files), "lazaret_request_failed")$code, code)
        same(raised(lazaret_execute("return 1", "lua", server = small, files = files),
                    "lazaret_request_failed")$code, code)
    }
    raised(pool$execute("1", files = list(raw())), "lazaret_argument_error", "names")
    raised(pool$execute("1", files = list(a = 5)), "lazaret_argument_error", "raw vector")
    raised(pool$execute("1", files = list(a = "/nonexistent/a")), "lazaret_argument_error", "read")
    same(pool$execute("return 1", files = list()), 1)
    raised(lazaret_execute("1", "cobol", server = small, files = list(a = raw())),
           "lazaret_setup_failed")
    small$close()
})

test("files that do not go with the code", {
    small <- lazaret_server(settings = list(session.max_value_size = "2MiB"))
    most <- 2 * 2^20
    fits <- (most - 1000) %/% 4 * 3
    many <- structure(rep(list(charToRaw("x")), 65L), names = paste0("f", 1:65))
    session <- Session$new(runtime = "lua", server = small)
    last_id <- function() small$.server$next_id
    for (size in c(fits, most / 4 * 3, most - 9)) {
        before <- last_id()
        files <- list(other = raw(), "in" = raw(size))
        same(session$execute_result(copy, files = files)$artifacts[[1L]]$size, size)
        same(last_id() - before > 1, size > fits)
    }
    same(session$execute("return io.open('f65'):read('a')", files = many), "x")
    raised(session$execute("return 1", files = list("in" = raw(most + 1))),
           "lazaret_request_failed")
    pool <- lazaret_pool("lua", 1, server = small)
    for (files in list(list("in" = raw(most / 4 * 3)), list("in" = "/dev/zero"), many)) {
        refused <- "at most 64, .* 2097152 bytes"
        raised(pool$execute("1", files = files), "lazaret_argument_error", refused)
        raised(lazaret_execute("1", server = small, files = files), "lazaret_argument_error",
               refused)
    }
    same(pool$execute_result(copy, files = list("in" = raw(fits)))$artifacts[[1L]]$size, fits)
    small$close()
})

test("names and sizes that are refused", with_session(function(s) {
    for (name in c("a/b", "..", "", "a\nb"))
        same(raised(s$put_file(name, bytes), "lazaret_request_failed")$code, "LAZ_EINVAL")
    raised(s$put_file(5, raw()), "lazaret_argument_error", "name")
    raised(s$put_file("a", 5), "lazaret_argument_error", "raw vector")
    raised(s$put_file("a", "/nonexistent/file"), "lazaret_argument_error", "cannot be read")
    raised(Session$new(server = server, files = list(raw())), "lazaret_argument_error", "files")
    raised(Session$new(server = server, files = list("a/b" = raw())), "lazaret_request_failed")
    small <- lazaret_server(settings = list(sandbox.tmp_size = "1MiB"))
    session <- Session$new(runtime = "lua", server = small)
    raised(session$put_file("in", bytes), "lazaret_request_failed")
    session$put_file("in", charToRaw("less"))
    same(session$execute_result(copy)$artifacts[[1L]]$data, charToRaw("less"))
    small$close()
}))

test("a file for a session that cannot start", {
    broken <- lazaret_server(settings = list(sandbox.read = I("/nonexistent")))
    suppressMessages(raised(Session$new(server = broken, files = list("in" = raw())),
                            "lazaret_setup_failed"))
    broken$close()
})

test("a session that executes is busy", {
    s <- NULL
    put <- lazaret_tool("put", "", function() {
        raised(s$put_file("in", raw()), "lazaret_request_failed")$code
    })
    s <- Session$new(tools = list(put), runtime = "lua", server = server)
    same(s$execute("return put()"), "LAZ_EBUSY")
    s$put_file("in", raw())
    s$close()
})

test("code that fails delivers what it has saved", with_session(function(s) {
    e <- raised(s$execute(paste(save, "error('broken')")), "lazaret_execution_error")
    same(e$result$artifacts[[1L]]$data, charToRaw("kept"))
}))

test("bytes that are not wanted", {
    pool <- lazaret_pool("lua", 1, server = server)
    artifact <- pool$execute_result(save, artifacts = FALSE)$artifacts[[1L]]
    same(list(artifact$size, artifact$data, artifact$dropped), list(4, NULL, FALSE))
    raised(artifact$save(tempdir()), "lazaret_error", "not asked for")
    same(pool$execute_result(save)$artifacts[[1L]]$data, charToRaw("kept"))
    pool$close()
    raised(lazaret_execute("1", server = server, artifacts = 1), "lazaret_argument_error")
})

test("the example prints what it says", {
    directory <- system.file("examples", package = "lazaret")
    program <- readLines(file.path(directory, "sales.R"))
    check(length(program) < 30L)
    process <- start_r(program)
    lines <- lines_until(process, "and then:", 600)
    same(lines, readLines(file.path(directory, "sales.txt")))
    process$wait()
    same(process$get_exit_status(), 0L)
})

server$close()
end_tests()
