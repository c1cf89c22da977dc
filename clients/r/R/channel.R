# SPDX-License-Identifier: MIT
# How the server is found, started and reached: a process with pipes, a Unix socket, or a process
# that passes on what a server on another machine says, which is `url`. A channel is an environment
# with the connections `input`, `output` and `error`; the last one may be NULL.

end_seconds <- 10 # after which a server that does not end is killed

# The path of the program: a given one, option lazaret.program, $LAZARET, on PATH, or that of Debian's
# package, which a session of R may not have on its PATH.
find_program <- function(program = NULL, packaged = "/usr/bin/lazaret") {
    given <- list("`program`" = program,
                  "the option lazaret.program" = getOption("lazaret.program"),
                  "the environment variable LAZARET" = Sys.getenv("LAZARET"))
    for (what in names(given)) {
        name <- given[[what]]
        if (is.null(name) || identical(name, ""))
            next
        if (!is_text(name))
            fail_argument(what, " must be one text")
        found <- unname(Sys.which(path.expand(name)))
        if (!nzchar(found)) {
            fail("lazaret_setup_failed",
                 paste0(what, " is '", name, "', which is not a program that can be executed"))
        }
        return(found)
    }
    for (name in c("lazaret", packaged)) {
        found <- unname(Sys.which(name))
        if (nzchar(found))
            return(found)
    }
    fail("lazaret_setup_failed",
         paste("the program lazaret was not found on PATH: install it, which this package is only a",
               "client of (Debian: the packages lazaret and lazaret-r), set the option",
               "lazaret.program or the environment variable LAZARET to its path, or give",
               "lazaret_server(program = ...)"))
}

lazaret_available <- function(program = NULL) {
    tryCatch(nzchar(find_program(program)), lazaret_setup_failed = function(e) FALSE)
}

# ---- settings ------------------------------------------------------------------------------------

# A value of a setting as it is written in a configuration file.
toml <- function(value) {
    if (is.list(value) && !is.null(names(value))) {
        members <- paste(json_text(names(value)), "=", vapply(value, toml, ""))
        return(paste0("{", paste(members, collapse = ", "), "}"))
    }
    if (!is.list(value) && length(value) == 1L && !inherits(value, "AsIs")) {
        if (is.na(value))
            fail_argument("a setting cannot be NA")
        return(switch(typeof(value),
                      logical = if (value) "true" else "false",
                      character = gsub("\x7f", "\\u007f", json_text(value), fixed = TRUE),
                      integer = sprintf("%d", value),
                      double = if (is.finite(value) && value == trunc(value) && abs(value) < 2^53)
                          sprintf("%.0f", value) else sprintf("%.17g", value),
                      fail_argument("a setting cannot be of type ", typeof(value))))
    }
    if (!is.list(value) && !is.atomic(value))
        fail_argument("a setting cannot be of type ", typeof(value))
    items <- vapply(as.list(unclass(value)), toml, "")
    paste0("[", paste(items, collapse = ", "), "]")
}

setting_arguments <- function(settings) {
    if (length(settings) == 0L)
        return(character())
    if (is.null(names(settings)) || !all(nzchar(names(settings))))
        fail_argument("`settings` must be a list with the keys of a configuration as names")
    values <- vapply(as.list(settings), toml, "")
    as.vector(rbind("--set", paste0(names(settings), "=", values)))
}

# ---- opening -------------------------------------------------------------------------------------

new_channel <- function(name, process, input, output, error) {
    list2env(list(name = name, process = process, input = input, output = output, error = error,
                  is_open = TRUE), parent = emptyenv())
}

# The server is in a session of its own, as all processes of processx are: Ctrl-C at the terminal
# reaches R alone. It is not killed when R ends, but ends itself when its standard input does.
start_channel <- function(program, config, settings) {
    arguments <- c("serve", if (!is.null(config)) c("--config", path.expand(config)),
                   setting_arguments(settings))
    process_channel("lazaret serve", find_program(program), arguments)
}

process_channel <- function(name, command, arguments) {
    process <- tryCatch(
        processx::process$new(command, arguments, stdin = "|", stdout = "|", stderr = "|",
                              encoding = "UTF-8", cleanup = FALSE),
        error = function(e) {
            fail("lazaret_setup_failed",
                 paste0(command, " cannot be started: ", conditionMessage(e)))
        })
    new_channel(name, process, process$get_input_connection(), process$get_output_connection(),
                process$get_error_connection())
}

# The server at tls://HOST:PORT. `access` has who we are: files and names, by the options of
# `lazaret connect`, and NULL for what is not given.
remote_channel <- function(program, url, access) {
    given <- Filter(Negate(is.null), access)
    for (name in names(given)) {
        if (!is_text(given[[name]]) || !nzchar(given[[name]]))
            fail_argument("`", chartr("-", "_", name), "` must be one text")
    }
    files <- names(given) != "server-name"
    given[files] <- lapply(given[files], path.expand)
    arguments <- c("connect", url, as.vector(rbind(sprintf("--%s", names(given)), unlist(given))))
    channel <- process_channel(paste("the server at", url), find_program(program), arguments)
    channel$url <- url
    channel
}

# A token as a file that nobody else can read. Its directory is removed once it was read.
write_token <- function(token) {
    if (!is_text(token) || !nzchar(token))
        fail_argument("`token` must be one text")
    mask <- Sys.umask("077")
    on.exit(Sys.umask(mask))
    directory <- tempfile("lazaret-")
    dir.create(directory, mode = "0700")
    file <- file.path(directory, "token")
    cat(token, "\n", sep = "", file = file)
    file
}

connect_channel <- function(path) {
    if (!is_text(path))
        fail_argument("`path` must be the path of a Unix socket")
    path <- path.expand(path)
    connection <- tryCatch(processx::conn_connect_unix_socket(path, encoding = "UTF-8"),
                           error = function(e) {
        cause <- conditionMessage(e$parent %||% e)
        fail("lazaret_setup_failed",
             paste0("cannot connect to ", path, ": ", sub(" @processx.*", "", cause)))
    })
    new_channel(paste("the server at", path), NULL, connection, connection, NULL)
}

# ---- using ---------------------------------------------------------------------------------------

# Write bytes; gives those for which there is no room now, or NULL if the server is gone.
write_channel <- function(channel, bytes) {
    tryCatch(processx::conn_write(channel$input, bytes, sep = ""), error = function(e) NULL)
}

# What there is to read now; "" if nothing, NULL at the end.
read_channel <- function(connection) {
    text <- tryCatch(processx::conn_read_chars(connection), error = function(e) NULL)
    if (is.null(text) || (!nzchar(text) && !processx::conn_is_incomplete(connection)))
        return(NULL)
    text
}

poll_channel <- function(channel, ms) {
    connections <- list(channel$output)
    if (!is.null(channel$error))
        connections <- list(channel$output, channel$error)
    unlist(processx::poll(connections, ms)) %in% c("ready", "closed")
}

# Nothing is written any more: the server ends, or closes the connection.
end_channel <- function(channel) {
    if (channel$is_open) {
        channel$is_open <- FALSE
        try(close(channel$input), silent = TRUE)
    }
}

# After the last message: wait for the process, and say how it has ended.
why_channel_ended <- function(channel, why, said) {
    end_channel(channel)
    if (is.null(channel$process))
        return(paste0(channel$name, " has closed the connection", if (nzchar(why)) ": ", why))
    if (nzchar(why))
        channel$process$kill(close_connections = FALSE) # it may wait for us, who read no more
    channel$process$wait(end_seconds * 1000)
    if (channel$process$is_alive())
        channel$process$kill(close_connections = FALSE)
    channel$process$wait(end_seconds * 1000)
    if (!is.null(channel$url))
        return(paste0(channel$name, " has closed the connection",
                      if (nzchar(why)) ": ", if (nzchar(why)) why else why_not_connected(said)))
    status <- channel$process$get_exit_status()
    how <- if (is.null(status) || is.na(status)) ""
           else if (status < 0) paste(" by signal", -status)
           else paste(" with status", status)
    said <- if (nzchar(why)) why else paste(said, collapse = " | ")
    paste0("the server has ended", how, if (nzchar(said)) ": ", said)
}

# What `lazaret connect` has said, in the words of this package.
why_not_connected <- function(said) {
    said <- sub("^lazaret: ", "", said)
    said <- sub("^the connection to the server has ended: ", "", said)
    sub("with --ca FILE", "by `ca`", paste(said, collapse = " | "), fixed = TRUE)
}

# In a forked child: close this process's copies of the connections, and leave the server alone.
forget_channel <- function(channel) {
    channel$is_open <- FALSE
    for (connection in list(channel$input, channel$output, channel$error)) {
        if (!is.null(connection))
            try(close(connection), silent = TRUE)
    }
}
