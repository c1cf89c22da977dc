# SPDX-License-Identifier: MIT
# Standard input of executions, and commands in sessions of the runtimes shell and program.
source(file.path("support", "helper.R"))

code <- internal("command_code")
odd <- c("two words", "", "'", "\"", "$HOME `x` \\", "-n", "\u20ac\n", "*", "~", "A=1", "!!")

test("words of a shell have no meaning", {
    same(code("shell", c("if", "a b", "it's"), NULL, NULL), "'if' 'a b' 'it'\\''s'")
    same(code("shell", "x", "-", c(A = "1 '", B = "")),
         "(cd './-' && export A='1 '\\''' && export B='' && 'x')")
    same(code("shell", "x", "/a b", list()), "(cd '/a b' && 'x')")
})

test("words of a program are a list", {
    same(code("program", c("a", "\u20ac\"\n"), NULL, NULL), "[\"a\",\"\u20ac\\\"\\n\"]")
    same(code("program", "a", "d", list(A = "1")),
         "[\"sh\",\"-c\",\"cd './d' && export A='1' && exec \\\"$@\\\"\",\"sh\",\"a\"]")
})

test("what is no command", {
    wrong <- function(pattern, ...) raised(code(...), "lazaret_argument_error", pattern)
    wrong("'shell' or 'program', .* 'r'", "r", "ls", NULL, NULL)
    wrong("vector of words", "shell", character(), NULL, NULL)
    wrong("vector of words", "shell", 5, NULL, NULL)
    wrong("vector of words", "program", c("a", NA), NULL, NULL)
    wrong("valid text", "program", `Encoding<-`("\xff", "UTF-8"), NULL, NULL)
    wrong("directory", "shell", "a", "", NULL)
    wrong("variables", "shell", "a", NULL, c("A B" = "1"))
    wrong("variables", "shell", "a", NULL, "1")
    wrong("variables", "shell", "a", NULL, list(A = 1))
})

need_program()

server <- lazaret_server(settings = list(session.interrupt_grace = 60))
has <- function(runtime, code) {
    result <- tryCatch(lazaret_execute(code, runtime, server = server, result = TRUE),
                       lazaret_setup_failed = identity)
    identical(result$verdict, "ok")
}
runtimes <- c(if (has("shell", "true")) "shell", if (has("program", "[\"true\"]")) "program")
in_each <- function(use) for (runtime in runtimes) {
    session <- Session$new(runtime = runtime, server = server)
    tryCatch(use(session, runtime), finally = session$close())
}

test("an execution can have an input", {
    read <- "return io.read('a')"
    session <- Session$new(runtime = "lua", server = server)
    same(session$execute(read, input = "a\u20ac\n"), "a\u20ac\n")
    same(session$execute("return #io.read('a')", input = as.raw(c(0, 255))), 2)
    same(session$execute(read, input = ""), "")
    same(session$execute(read), "")
    same(session$execute("return io.read('a') .. io.open('f'):read('a')", input = "1",
                         files = list(f = charToRaw("2"))), "12")
    raised(session$execute(read, input = 5), "lazaret_argument_error", "`input` must be")
    raised(session$execute(read, input = "1", files = list(.stdin = raw())),
           "lazaret_argument_error", "input")
    session$close()
    pool <- lazaret_pool("lua", 1, server = server)
    same(pool$execute(read, input = "pool"), "pool")
    pool$close()
    same(lazaret_execute(read, "lua", server = server, input = "1"), "1")
    same(lazaret_execute(read, "lua", list(f = function() 1), server = server, input = "2"), "2")
})

test("an input that is large goes before", {
    small <- lazaret_server(settings = list(session.max_value_size = "2MiB"))
    data <- raw(1.6e6)
    session <- Session$new(runtime = "lua", server = small)
    same(session$execute("return #io.read('a')", input = data), as.double(length(data)))
    session$close()
    small$close()
})

test("streams and status are apart", in_each(function(session, runtime) {
    args <- c("sh", "-c", "cat; echo err >&2; exit $1", "sh", "3")
    done <- session$run(args, input = "in\n")
    same(done[c("args", "status", "stdout", "stderr")],
         list(args = args, status = 3L, stdout = "in\n", stderr = "err\n"))
    same(list(done$truncated, done$result$verdict), list(FALSE, "ok"))
    same(session$run("cat")$stdout, "")
    same(session$run("nothing-like-this")$status, 127L)
    error <- raised(session$run("false", check = TRUE), "lazaret_command_failed", "'false'.* 1$")
    same(list(error$status, error$result$verdict), list(1L, "ok"))
    raised(session$run("true", check = NA), "lazaret_argument_error", "`check`")
}))

test("words arrive as they are", in_each(function(session, runtime) {
    show <- c("sh", "-c", "for word; do printf '%s|' \"$word\"; done", "sh")
    expected <- paste0(odd, "|", collapse = "")
    same(session$run(c(show, odd))$stdout, expected)
    same(session$run(c(show, odd), cwd = "/", env = c(A = "1"))$stdout, expected)
}))

test("a directory and variables of one command", in_each(function(session, runtime) {
    show <- c("sh", "-c", "pwd; echo \"$ONE$TWO\"")
    session$run(c("mkdir", "-p", "--", "- d/e"), check = TRUE)
    same(session$run(show, cwd = "- d/e", env = c(ONE = "it's ", TWO = "$2"))$stdout,
         "/tmp/work/- d/e\nit's $2\n")
    same(session$run(show)$stdout, "/tmp/work\n\n")
    check(session$run(show, cwd = "/nowhere")$status != 0)
}))

test("a shell keeps what it has", if ("shell" %in% runtimes) {
    session <- Session$new(runtime = "shell", server = server)
    session$execute("f() { echo \"f $1 $x\"; }; x=1")
    same(session$run(c("f", "a b"))$stdout, "f a b 1\n")
    session$run(c("cd", "/usr"))
    same(session$run("pwd")$stdout, "/usr\n")
    session$close()
})

test("a timeout is a condition", in_each(function(session, runtime) {
    error <- raised(session$run(c("sh", "-c", "echo before; sleep 1000"), timeout = 0.5),
                    "lazaret_timeout")
    same(error$result$stdout, "before\n")
    same(session$run(c("echo", "on"))$stdout, "on\n")
}))

test("other runtimes are refused", {
    session <- Session$new(runtime = "lua", server = server)
    raised(session$run("ls"), "lazaret_argument_error", "of 'lua'")
    session$close()
})

server$close()
end_tests()
