# SPDX-License-Identifier: MIT
# Programs for R6 sessions of an older interface run when the names of the constructors are changed,
# and the example prints what it says.
source(file.path("support", "helper.R"))

new_arguments <- c("tools", "sandbox", "limits", "verbose", "sandbox_strict", "audit_log",
                   "max_executions", "pre_execute_hook", "sanitize_errors")

test("the arguments that all clients have are everywhere", {
    open <- list(lazaret_session, lazaret_pool, lazaret_execute)
    for (f in open)
        check(all(setdiff(new_arguments, c("sandbox", "sandbox_strict")) %in% names(formals(f))))
})

test("the constructors and the verbs have the same arguments", {
    check(all(new_arguments %in% names(formals(Session$new))))
    same(head(names(formals(lazaret_tool)), 4L), c("name", "description", "fn", "args"))
})

need_program()
server <- lazaret_server()
SecureSession <- list(new = function(...) Session$new(..., server = server))
securer_tool <- lazaret_tool

printed <- function(code) utils::capture.output(print(code))

test("a session without tools", {
    session <- SecureSession$new()
    same(printed(session$execute("1 + 1")), "[1] 2")
    same(withVisible(session$close())$visible, FALSE)
    same(session$is_alive(), FALSE)
})

test("a session with tools", {
    tools <- list(
        securer_tool("add", "Add numbers",
                     fn = function(a, b) a + b,
                     args = list(a = "numeric", b = "numeric"))
    )
    session <- SecureSession$new(tools = tools)
    same(printed(session$execute("add(2, 3)")), "[1] 5")
    same(session$tools(), list(add = list(name = "add", args = list(a = "numeric", b = "numeric"))))
    check(identical(session$restart(), session))
    same(session$execute("add(2, 3)"), 5)
    check(identical(session$close(), session))
    session <- SecureSession$new(tools = list(add = function(a, b) a + b))
    same(session$execute("add(2, 3)"), 5)
    session$close()
})

test("a session with a sandbox", {
    session <- SecureSession$new(sandbox = TRUE, sandbox_strict = TRUE)
    same(printed(session$execute("1 + 1")), "[1] 2")
    session$close()
})

test("all arguments of execute", {
    session <- SecureSession$new(verbose = FALSE, max_executions = 5, pre_execute_hook =
                                 function(code) !grepl("forbidden", code))
    same(names(formals(session$execute))[1:7],
         c("code", "timeout", "validate", "output_handler", "max_tool_calls", "max_code_length",
           "max_output_lines"))
    same(as.list(formals(session$execute))[2:7],
         list(timeout = 30, validate = TRUE, output_handler = NULL, max_tool_calls = NULL,
              max_code_length = 100000L, max_output_lines = NULL))
    lines <- character()
    value <- session$execute("cat('a\\nb\\n'); 7", 60, TRUE, function(line) lines <<- c(lines, line),
                             NULL, 100000L, NULL)
    same(list(as.vector(value), attr(value, "output"), lines), list(7, c("a", "b"), c("a", "b")))
    raised(session$execute("forbidden"), "lazaret_blocked")
    raised(session$execute("1 + 1", max_code_length = 3), "lazaret_blocked")
    same(session$execute("1", timeout = NULL), 1)
    check(session$is_alive())
    check(is.character(session$format()) && length(printed(session)) == 1L)
    session$close()
    raised(session$execute("1"), "lazaret_error")
})

server$close()

test("the example prints what it says", {
    example <- system.file("examples", "sales.R", package = "lazaret")
    check(length(readLines(example)) < 30L)
    r <- start_r(readLines(example))
    same(lines_until(r, "^stopped"),
         readLines(system.file("examples", "sales.txt", package = "lazaret")))
    r$wait(600000)
})

end_tests()
