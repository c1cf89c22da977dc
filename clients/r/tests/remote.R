# SPDX-License-Identifier: MIT
# Servers on another machine, which is this one: `lazaret serve --listen tls://127.0.0.1:0`.
source(file.path("support", "helper.R"))

test("arguments that contradict each other", {
    wrong <- function(pattern, ...) {
        raised(lazaret_server("/nonexistent/lazaret", ...), "lazaret_argument_error", pattern)
    }
    wrong("URL of a server", url = "https://h")
    wrong("own configuration", url = "tls://h", settings = list(session.timeout = 1))
    wrong("own configuration", url = "tls://h", config = "x")
    raised(lazaret_server(url = "tls://h", path = "/x"), "lazaret_argument_error", "two servers")
    wrong("`token` and `token_file`", url = "tls://h", token = "a", token_file = "b")
    wrong("`cert` and `key`", url = "tls://h", cert = "a")
    wrong("^`ca`, `server_name`: .*`url`", ca = "x", server_name = "y")
    wrong("`token` must be one text", url = "tls://h", token = 5)
    wrong("`server_name` must be one text", url = "tls://h", server_name = c("a", "b"))
    raised(lazaret_session(server = "tls://h"), "lazaret_argument_error", "lazaret_server\\(\\)")
})

need_program()
if (!nzchar(Sys.which("openssl")) && !nzchar(Sys.getenv("LAZARET_TEST_NEED"))) {
    cat("SKIP: there is no openssl\n")
    quit(status = 0)
}

# ---- a place with certificates, and what an operator has -----------------------------------------

place <- tempfile()
dir.create(place, mode = "0700")
at <- function(name) file.path(place, name)
program <- internal("find_program")()

run <- function(command, ...) {
    done <- processx::run(command, c(...), error_on_status = FALSE)
    if (done$status != 0L)
        stop(command, ": ", done$stderr, call. = FALSE)
    done$stdout
}
write_file <- function(name, lines, mode = "0600") {
    writeLines(lines, at(name))
    Sys.chmod(at(name), mode)
}
curve <- c("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

authority <- function(name) {
    run("openssl", "req", "-x509", curve, "-days", "2", "-subj", paste0("/CN=", name), "-keyout",
        at(paste0(name, ".key")), "-out", at(paste0(name, ".pem")))
}
certificate <- function(name, subject, extensions) {
    key <- at(paste0(name, ".key"))
    write_file("extensions", c(extensions, "basicConstraints=CA:FALSE",
                               "keyUsage=digitalSignature"))
    run("openssl", "req", curve, "-subj", paste0("/CN=", subject), "-keyout", key, "-out",
        at("request"))
    Sys.chmod(key, "0600")
    run("openssl", "x509", "-req", "-days", "2", "-in", at("request"), "-CA", at("ca.pem"),
        "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("extensions"), "-out",
        at(paste0(name, ".pem")))
    invisible()
}
token_of <- function(name, expires) {
    trimws(run(program, "token", name, "--sign-with", at("signer"), "--expires", expires))
}

invisible(lapply(c("ca", "other"), authority))
certificate("server", "localhost", c("subjectAltName=DNS:localhost,IP:127.0.0.1",
                                     "extendedKeyUsage=serverAuth"))
certificate("alice", "alice", "extendedKeyUsage=clientAuth")
invisible(run(program, "--quiet", "token", "new-key", at("signer")))
write_file("lazaret.toml", c("[serve]", sprintf("%s = \"%s\"",
    c("certificate", "key", "clients", "token_keys"),
    at(c("server.pem", "server.key", "ca.pem", "signer.pub"))),
    "[session]", "max_message_size = \"32MiB\"", "interrupt_grace = 60"))
write_file("token", token_of("alice", "1h"))

# A server: its process and its URL.
serve <- function() {
    process <- processx::process$new(program, c("serve", "--config", at("lazaret.toml"), "--listen",
                                                "tls://127.0.0.1:0"), stderr = "|", stdin = NULL)
    line <- character()
    while (!length(line) && process$is_incomplete_error()) {
        process$poll_io(60000)
        line <- process$read_error_lines()
    }
    list(process = process, said = line, url = sub(".* at ", "", line[1L]))
}
there <- serve()
if (any(grepl("without TLS", there$said)) && !nzchar(Sys.getenv("LAZARET_TEST_NEED"))) {
    cat("SKIP: ", there$said, "\n", sep = "")
    quit(status = 0)
}

# Connect by a token, but for these changes; what is said besides is no matter here.
reach <- function(url = there$url, ca = at("ca.pem"), token_file = at("token"), ...) {
    suppressMessages(lazaret_server(url = url, ca = ca, token_file = token_file, ...))
}
mib <- 2^20
server <- reach()

# ---- what is the same as with a server of one's own ----------------------------------------------

test("tools run here", {
    calls <- 0
    session <- lazaret_session(runtime = "lua", server = server, tools = list(
        pid = function() Sys.getpid(),
        lazaret_tool("more", "", function(n) {
            calls <<- calls + 1
            n + 1
        }, list(n = "numeric"))))
    same(session$execute("return pid()"), as.numeric(Sys.getpid()))
    same(session$execute("local n = 0; for i = 1, 1000 do n = more(n) end; return n"), 1000)
    same(c(calls, length(server$pid)), c(1000, 0))
    session$close()
})

test("large values both ways", {
    got <- NULL
    echo <- lazaret_tool("echo", "", function(text) {
        got <<- nchar(text)
        text
    }, list(text = "character"))
    session <- lazaret_session(runtime = "python", tools = list(echo), server = server)
    value <- session$execute(sprintf("s = echo('a' * %d); s + 'b'", 8 * mib))
    check(identical(value, paste0(strrep("a", 8 * mib), "b")))
    same(got, as.integer(8 * mib))
    session$close()
})

test("files, artifacts, approvals and interrupts", {
    session <- lazaret_session(runtime = "python", server = server, tools = list(
        lazaret_tool("erase", "", function(path) paste("erased", path), list(path = "character"),
                     approve = TRUE)), approve = function(tool, args) args$path != "/")
    data <- as.raw(rep(0:255, 2 * mib / 256))
    session$put_file("in.bin", data)
    result <- session$execute_result(paste0(
        "import shutil, os\nos.makedirs('artifacts', exist_ok=True)\n",
        "shutil.copy('in.bin', 'artifacts/out.bin'); erase('/x')"))
    same(result$value, "erased /x")
    check(identical(result$artifacts[[1L]]$data, data))
    raised(session$execute("erase('/')"), "lazaret_execution_error")
    result <- session$execute_result("x = 1\nprint('go', flush=True)\nwhile True: pass",
                                     output_handler = function(...) session$interrupt())
    same(c(result$verdict, session$execute("x")), c("cancelled", "1"))
    session$close()
})

test("one-shot calls and pools", {
    same(lazaret_execute("return 7", "lua", server = server), 7)
    pool <- lazaret_pool("lua", 2, server = server)
    same(pool$execute("return 8"), 8)
    pool$close()
})

# ---- credentials ---------------------------------------------------------------------------------

test("who is let in", {
    before <- list.files(tempdir(), "^lazaret-")
    ways <- list(reach(token_file = NULL, token = token_of("bob", "1h")),
                 reach(token_file = NULL, cert = at("alice.pem"), key = at("alice.key")),
                 reach(sub("127.0.0.1", "localhost", there$url)), reach(server_name = "localhost"))
    same(list.files(tempdir(), "^lazaret-"), before) # no token is left behind
    for (way in ways) {
        same(lazaret_execute("return 1", "lua", server = way), 1)
        way$close()
        same(way$is_alive(), FALSE)
    }
})

test("who is not", {
    refused <- function(pattern, ...) raised(reach(...), "lazaret_setup_failed", pattern)
    refused("refused this client: .* a token or a certificate", token_file = NULL)
    refused("refused this client: .*not a token", token_file = NULL, token = "no")
    refused("cannot connect to .*not accepted: .*by `ca`", ca = at("other.pem"))
    refused("cannot connect to .*not accepted: .*", server_name = "example.org")
    refused("cannot connect to .*none", ca = at("none"))
    refused("cannot connect to .*none", token_file = at("none"))
    refused("cannot connect to tls://nosuch.invalid: ", "tls://nosuch.invalid")
    refused("cannot connect to tls://h:x: usage", "tls://h:x")
    write_file("open", "token", "0644")
    refused("others can read this token", token_file = at("open"))
})

test("a token that expires", {
    for (seconds in c(1, 4, 16, 64)) { # a busy machine needs more
        token <- token_of("carol", seconds)
        short <- NULL
        in_time <- tryCatch({
            short <- reach(token_file = NULL, token = token)
            session <- lazaret_session(runtime = "lua", server = short)
            TRUE
        }, lazaret_error = function(e) {
            if (!grepl("expired", conditionMessage(e)))
                stop(e)
            FALSE
        })
        if (in_time)
            break
    }
    raised(session$execute("while true do end"), "lazaret_worker_lost", "carol has expired")
    raised(reach(token_file = NULL, token = token), "lazaret_setup_failed",
           "refused this client: .*expired")
})

# ---- endings -------------------------------------------------------------------------------------

test("a server that is killed", {
    other <- serve()
    far <- reach(other$url)
    session <- lazaret_session(runtime = "lua", server = far, tools = list(
        strike = function() other$process$kill()))
    no_words <- suppressMessages
    raised(no_words(session$execute("strike(); while true do end")), "lazaret_worker_lost",
           "closed the connection")
    raised(session$execute("return 1"), "lazaret_worker_lost")
    raised(reach(other$url), "lazaret_setup_failed", "cannot connect to ")
})

server$close()
invisible(there$process$kill())
end_tests()
