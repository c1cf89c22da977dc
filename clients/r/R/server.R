# SPDX-License-Identifier: MIT
# The process `lazaret serve`, or a connection to one, and the messages to and from it.
#
# R has one thread. Whoever waits for an answer pumps: it writes what there is to write as far as
# there is room, and reads all messages, each of which goes to the inbox of its request. So neither
# side can block the other, whatever the sizes of the messages. Interrupts are suspended while
# messages move, and allowed while there is nothing to do.

protocol <- 1
piece_bytes <- 262144L # of what is given to the operating system at once
queued_bytes <- 16 * 2^20 # of output that waits for its handler; what exceeds it is left out
call_types <- c("tool_call", "approval") # which are answered
final_types <- c("result", "failed", "lost", "opened", "done", "description", "found")

new_server <- function(channel) {
    server <- new.env(parent = emptyenv())
    server$channel <- channel
    server$process_id <- Sys.getpid()
    server$next_id <- 1
    server$max_line <- 2^20 # until the server has said how much it accepts
    server$hello <- NULL
    server$lost <- NULL # why the connection has ended
    server$outbox <- list()
    server$failed_at <- NULL # when writing has failed
    server$partial <- list() # pieces of a line that is not complete
    server$complaints <- character() # the last lines for people
    server$unlogged <- character()
    server$pending <- new.env(parent = emptyenv()) # inboxes by the id of the request
    server$calls <- new.env(parent = emptyenv()) # executions of open calls of tools
    server$dropped <- new.env(parent = emptyenv()) # sessions and pools that nobody uses any more
    server$tools <- list() # tools of all sessions
    server$busy <- FALSE
    reg.finalizer(server, finalize_server, onexit = TRUE)
    server
}

# The server ends when its standard input does. Its parent is not kept waiting here.
finalize_server <- function(server) {
    if (identical(server$process_id, Sys.getpid()))
        end_channel(server$channel)
}

server_is_alive <- function(server) is.null(server$lost) && server$process_id == Sys.getpid()

check_process <- function(server) {
    if (server$process_id != Sys.getpid()) {
        fail("lazaret_error",
             paste0("this server belongs to process ", server$process_id, ", from which process ",
                    Sys.getpid(), " was forked: start a new one here"))
    }
}

# ---- writing -------------------------------------------------------------------------------------

# A message as a line. `members` are JSON texts by name.
line_of <- function(server, members) {
    text <- paste0("{", paste0("\"", names(members), "\":", members, collapse = ","), "}\n")
    line <- charToRaw(text)
    if (length(line) > server$max_line) {
        fail("lazaret_request_failed",
             paste0("a message of ", length(line), " bytes is too long for the server, which ",
                    "accepts ", server$max_line), code = "LAZ_E2BIG")
    }
    line
}

enqueue <- function(server, line) {
    starts <- seq(1, length(line), by = piece_bytes)
    pieces <- if (length(starts) == 1L) list(line) else lapply(starts, function(start) {
        line[start:min(start + piece_bytes - 1, length(line))]
    })
    was_busy <- server$busy
    server$busy <- TRUE
    on.exit(server$busy <- was_busy)
    suspendInterrupts(server$outbox <- c(server$outbox, pieces))
    invisible()
}

# Finalizers leave their requests in `dropped`, because they run at any moment.
enqueue_dropped <- function(server) {
    for (key in ls(server$dropped)) {
        members <- server$dropped[[key]]
        rm(list = key, envir = server$dropped)
        members["id"] <- take_id(server)
        enqueue(server, line_of(server, members))
    }
}

flush_outbox <- function(server) {
    while (length(server$outbox) && server$channel$is_open) {
        rest <- write_channel(server$channel, server$outbox[[1L]])
        if (is.null(rest)) {
            server$outbox <- list()
            server$failed_at <- Sys.time()
            end_channel(server$channel)
        } else if (length(rest)) {
            server$outbox[[1L]] <- rest
            return()
        } else {
            server$outbox[[1L]] <- NULL
        }
    }
}

# ---- reading -------------------------------------------------------------------------------------

# An inbox holds the messages of one request, until the caller takes them.
new_inbox <- function() {
    list2env(list(messages = list(), taken = 0L, bytes = 0, dropped = 0, wants_output = TRUE,
                  has_progress = FALSE), parent = emptyenv())
}

put_message <- function(inbox, message) {
    if (message$type == "output") {
        size <- nchar(message$text, "bytes")
        inbox$dropped <- inbox$dropped + (message$dropped %||% 0)
        if (!inbox$wants_output || inbox$bytes + size > queued_bytes) {
            inbox$dropped <- inbox$dropped + size
            return()
        }
        inbox$bytes <- inbox$bytes + size
    }
    if (message$type == "progress") {
        if (!inbox$wants_output || inbox$has_progress)
            return() # a slow handler gets fewer
        inbox$has_progress <- TRUE
    }
    inbox$messages[[length(inbox$messages) + 1L]] <- message
}

take_message <- function(inbox) {
    if (inbox$taken == length(inbox$messages))
        return(NULL)
    inbox$taken <- inbox$taken + 1L
    message <- inbox$messages[[inbox$taken]]
    if (inbox$taken == length(inbox$messages)) {
        inbox$messages <- list()
        inbox$taken <- 0L
    }
    if (message$type == "output")
        inbox$bytes <- inbox$bytes - nchar(message$text, "bytes")
    if (message$type == "progress")
        inbox$has_progress <- FALSE
    message
}

key_of <- function(number) sprintf("%.0f", number)

deliver <- function(server, message) {
    type <- message$type
    if (!is_text(type))
        stop("it has no type")
    if (type == "hello") {
        server$hello <- message
        return()
    }
    if (type == "failed" && is.null(message$id)) {
        server$why <- message$message
        return()
    }
    key <- if (type == "tool_cancelled") server$calls[[key_of(message$call)]]
           else key_of(message$id)
    if (type %in% call_types)
        server$calls[[key_of(message$call)]] <- key
    inbox <- if (!is.null(key)) server$pending[[key]]
    if (is.null(inbox))
        return()
    if (type %in% final_types)
        rm(list = key, envir = server$pending)
    put_message(inbox, message)
}

# The connection has ended: report it to all who wait.
lose <- function(server, why) {
    server$lost <- why_channel_ended(server$channel, why, server$complaints)
    server$outbox <- server$partial <- list()
    keys <- ls(server$pending)
    for (inbox in mget(keys, envir = server$pending))
        put_message(inbox, list(type = "lost", message = server$lost))
    rm(list = keys, envir = server$pending)
}

lines_of <- function(server, text) {
    lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
    ends <- endsWith(text, "\n")
    complete <- length(lines) - !ends
    if (complete > 0L) {
        lines[1L] <- paste0(c(unlist(server$partial), lines[1L]), collapse = "")
        server$partial <- list()
    }
    if (!ends)
        server$partial[[length(server$partial) + 1L]] <- lines[length(lines)]
    lines[seq_len(complete)]
}

read_messages <- function(server) {
    text <- read_channel(server$channel$output)
    if (is.null(text))
        return(lose(server, server$why %||% ""))
    if (!nzchar(text))
        return()
    for (line in lines_of(server, text)) {
        wrong <- tryCatch({
            deliver(server, parse_json(line))
            NULL
        }, error = conditionMessage)
        if (!is.null(wrong)) {
            return(lose(server, paste0("it has sent what is not a message (",
                                       sub("\n.*", "", wrong), ")")))
        }
        if (!is.null(server$why)) # what else comes are the ends of what was open
            return(lose(server, server$why))
    }
}

read_complaints <- function(server) {
    text <- read_channel(server$channel$error)
    if (is.null(text)) {
        server$channel$error <- NULL
        return()
    }
    lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
    lines <- lines[nzchar(lines)]
    server$complaints <- utils::tail(c(server$complaints, lines), 20L)
    server$unlogged <- c(server$unlogged, lines)
}

# Write and read what there is, and wait at most `ms` milliseconds for it.
pump <- function(server, ms) {
    check_process(server)
    server$busy <- TRUE
    on.exit(server$busy <- FALSE)
    suspendInterrupts({
        enqueue_dropped(server)
        flush_outbox(server)
        if (length(server$outbox))
            ms <- min(ms, 1L) # no room now: the system does not say when there is some
        ready <- allowInterrupts(poll_channel(server$channel, as.integer(ms)))
        if (isTRUE(ready[2L]))
            read_complaints(server)
        if (ready[1L])
            read_messages(server)
        if (is.null(server$lost) && !is.null(server$failed_at) &&
            difftime(Sys.time(), server$failed_at, units = "secs") > end_seconds)
            lose(server, "it does not read any more")
    })
    server$busy <- FALSE
    log_complaints(server)
}

log_complaints <- function(server) {
    lines <- server$unlogged
    server$unlogged <- character()
    for (line in lines)
        message("lazaret: ", sub("^lazaret: ", "", line))
}

# ---- requests ------------------------------------------------------------------------------------

take_id <- function(server) {
    id <- server$next_id
    server$next_id <- id + 1
    key_of(id)
}

# Send a request; gives its id as text, and its inbox.
send_request <- function(server, members) {
    check_process(server)
    if (!is.null(server$lost))
        fail("lazaret_worker_lost", server$lost)
    id <- take_id(server)
    line <- line_of(server, c(members, id = id))
    inbox <- new_inbox()
    server$pending[[id]] <- inbox
    enqueue(server, line)
    list(id = id, inbox = inbox)
}

send_answer <- function(server, call, members) {
    line <- line_of(server, c(type = "\"answer\"", call = call, members))
    if (exists(call, envir = server$calls, inherits = FALSE))
        rm(list = call, envir = server$calls)
    enqueue(server, line)
}

wait_message <- function(server, inbox) {
    repeat {
        message <- take_message(inbox)
        if (!is.null(message))
            return(message)
        if (!is.null(server$lost))
            fail("lazaret_worker_lost", server$lost)
        pump(server, 60000L)
    }
}

# An answer, or the condition for a request that has failed.
answer_of <- function(message) {
    if (message$type == "lost")
        fail("lazaret_worker_lost", message$message)
    if (message$type == "failed")
        fail(if (identical(message$code, "LAZ_ESETUP")) "lazaret_setup_failed" # of its session
             else "lazaret_request_failed", message$message, code = message$code)
    message
}

# Send a request and wait for its answer.
request <- function(server, ...) {
    sent <- send_request(server, c(...))
    answer_of(wait_message(server, sent$inbox))
}

# Register tools for all sessions that are opened afterwards.
register_tools <- function(server, tools) {
    if (length(tools)) {
        request(server, type = "\"tools\"", tools = json_array(vapply(tools, declaration_of, "")))
        server$tools[names(tools)] <- tools
    }
}

# Called by finalizers: close what nobody uses any more, now or as soon as the server is used again.
drop_opened <- function(server, where, id) {
    if (!server_is_alive(server))
        return()
    assign(paste0(where, id), c(type = "\"close\"", structure(id, names = where)),
           envir = server$dropped)
    if (!server$busy) {
        server$busy <- TRUE
        try(suspendInterrupts({
            enqueue_dropped(server)
            flush_outbox(server)
        }), silent = TRUE)
        server$busy <- FALSE
    }
}
