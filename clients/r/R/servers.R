# SPDX-License-Identifier: MIT
# Starting and ending servers, and the default server.

# `default`: the server that sessions use which are given none; `left`: see native.R.
the <- list2env(list(default = NULL, left = character(), misfits = 0L), parent = emptyenv())

greet <- function(server, seconds) {
    end <- Sys.time() + seconds
    while (is.null(server$hello) && is.null(server$lost) && Sys.time() < end)
        pump(server, 1000L)
    name <- server$channel$name
    url <- server$channel$url
    if (is.null(server$hello) && !is.null(server$why))
        fail("lazaret_setup_failed", paste0(name, " has refused this client: ", server$why))
    if (!is.null(server$lost) && !is.null(url) && length(server$complaints))
        fail("lazaret_setup_failed",
             paste0("cannot connect to ", url, ": ", why_not_connected(server$complaints)))
    if (!is.null(server$lost))
        fail("lazaret_setup_failed", paste0(name, " did not start: ", server$lost))
    if (is.null(server$hello))
        fail("lazaret_setup_failed", paste0(name, " has not answered in ", seconds, " seconds"))
    if (!identical(as.numeric(server$hello$protocol), protocol)) {
        fail("lazaret_setup_failed",
             paste0(name, " speaks version ", format(server$hello$protocol),
                    " of the protocol, and this package version ", protocol))
    }
    server$max_line <- as.numeric(server$hello$max_line)
}

open_server <- function(channel, start_timeout = 30) {
    server <- new_server(channel)
    greeted <- FALSE
    on.exit(if (!greeted) close_server(server))
    greet(server, start_timeout)
    greeted <- TRUE
    server
}

# End the server with everything that runs in it.
close_server <- function(server) {
    if (!server_is_alive(server))
        return(invisible())
    end <- Sys.time() + end_seconds
    while (length(server$outbox) && is.null(server$lost) && Sys.time() < end)
        pump(server, 100L)
    end_channel(server$channel)
    if (is.null(server$channel$process)) { # one connection for both directions
        lose(server, "")
        return(invisible())
    }
    while (is.null(server$lost) && Sys.time() < end)
        pump(server, 100L)
    if (is.null(server$lost))
        lose(server, "it was killed, because it did not end")
    invisible()
}

# Make an object for users of a server.
server_object <- function(server) {
    self <- new.env(parent = emptyenv())
    self$.server <- server
    self$close <- function() {
        close_server(server)
        invisible(self)
    }
    self$is_alive <- function() server_is_alive(server)
    self$version <- as.character(server$hello$version)
    is_ours <- !is.null(server$channel$process) && is.null(server$channel$url)
    self$pid <- if (is_ours) server$channel$process$get_pid()
    lockEnvironment(self, bindings = TRUE)
    class(self) <- "lazaret_server"
    self
}

# Raise an error where a server is named in two ways, or is given what belongs to another one.
check_place <- function(url, path, program, is_configured, access) {
    given <- names(Filter(Negate(is.null), access))
    if (is.null(url) && length(given)) {
        fail_argument(paste0("`", given, "`", collapse = ", "),
                      ": for a server on another machine, which needs its `url` as well")
    }
    if (!is.null(path) && (!is.null(program) || is_configured))
        fail_argument("`path` is of a server that runs: it has its own configuration")
    if (is.null(url))
        return()
    if (!is_text(url) || !startsWith(url, "tls://"))
        fail_argument("`url` must be the URL of a server, as tls://HOST:PORT")
    if (is_configured)
        fail_argument("`url` is of a server that runs: it has its own configuration")
    if (!is.null(path))
        fail_argument("`url` and `path` name two servers")
    if (all(c("token", "token_file") %in% given))
        fail_argument("`token` and `token_file` are two ways to give the same: give one of them")
    if (sum(c("cert", "key") %in% given) == 1L)
        fail_argument("`cert` and `key` go together")
}

lazaret_server <- function(program = NULL, config = NULL, settings = list(), path = NULL,
                           start_timeout = 30, url = NULL, token = NULL, token_file = NULL,
                           ca = NULL, cert = NULL, key = NULL, server_name = NULL) {
    access <- list(token = token, token_file = token_file, ca = ca, cert = cert, key = key,
                   server_name = server_name)
    check_place(url, path, program, !is.null(config) || length(settings) > 0L, access)
    if (!is.null(url)) {
        if (!is.null(token)) {
            token_file <- write_token(token)
            on.exit(unlink(dirname(token_file), recursive = TRUE))
        }
        channel <- remote_channel(program, url, list(
            "token-file" = token_file, ca = ca, cert = cert, key = key,
            "server-name" = server_name))
    } else if (!is.null(path)) {
        channel <- connect_channel(path)
    } else {
        channel <- start_channel(program, config, settings)
    }
    server_object(open_server(channel, start_timeout))
}

format.lazaret_server <- function(x, ...) {
    state <- if (x$is_alive()) "running" else "stopped"
    process <- if (!is.null(x$pid)) paste0(" pid=", x$pid) else ""
    paste0("<lazaret_server> [", state, "] version=", x$version, process)
}

print.lazaret_server <- function(x, ...) {
    cat(format(x), "\n", sep = "")
    invisible(x)
}

# Is there a configuration file, in one of the places where the program looks for it?
has_configuration <- function() {
    home <- Sys.getenv("XDG_CONFIG_HOME")
    if (!nzchar(home))
        home <- file.path(Sys.getenv("HOME"), ".config")
    nzchar(Sys.getenv("LAZARET_CONFIG")) ||
        any(file.exists(file.path(home, "lazaret", "lazaret.toml"), "/etc/lazaret/lazaret.toml"))
}

# Without a configuration the limits are those that are given to `execute`.
default_settings <- function() {
    if (has_configuration())
        return(list())
    list(session.timeout = 0, session.deadline = 0, session.max_code_length = 0)
}

own_server <- function(settings = list()) {
    open_server(start_channel(NULL, NULL, c(default_settings(), settings)))
}

# The server of sessions that are given none. It is started when it is needed, and once more in a
# process that was forked from the one that has started it.
default_server <- function() {
    server <- the$default
    if (!is.null(server) && server$process_id != Sys.getpid())
        forget_channel(server$channel)
    if (is.null(server) || !server_is_alive(server))
        the$default <- own_server()
    the$default
}

server_of <- function(server) {
    if (is.null(server))
        return(default_server())
    if (!inherits(server, "lazaret_server"))
        fail_argument("`server` must be made by lazaret_server()")
    server$.server
}

.onUnload <- function(libpath) {
    if (!is.null(the$default))
        close_server(the$default)
}
