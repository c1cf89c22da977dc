# SPDX-License-Identifier: MIT
# Files for the code, and the artifacts that it makes.
#
# Files go with the code, in the message that executes it, or in parts before it; of one that is too
# large no more is read than there is room for. Artifacts come in parts. Their names come from the
# code: the server has checked them, and saving relies on that as little as it can.

most_files <- 64L # of an execution
input_file <- ".stdin" # the file that is the standard input of an execution
file_errors <- c("LAZ_EINVAL", "LAZ_EOS", "LAZ_ETOOBIG") # of one that cannot be put
id_bytes <- 32L # of the id that a message gets when it is sent
part_bytes <- 192L * 1024L # of a file in one message; a multiple of 3
most_names <- 1000L # that are tried for one artifact

# ---- files in ------------------------------------------------------------------------------------

# Bytes, or the file of a path, as a function that gives the next piece.
piece_reader <- function(data) {
    if (is.raw(data)) {
        at <- 0
        return(list(read = function() {
            piece <- data[at + seq_len(min(part_bytes, length(data) - at))]
            at <<- at + length(piece)
            piece
        }, close = function() NULL))
    }
    if (!is_text(data))
        fail_argument("a file must be a raw vector, or the path of a file")
    connection <- tryCatch(suppressWarnings(file(path.expand(data), "rb")), error = function(e) {
        fail_argument("the file '", data, "' cannot be read")
    })
    list(read = function() readBin(connection, "raw", part_bytes),
         close = function() close(connection))
}

quoted_base64 <- function(bytes) {
    paste0("\"", gsub("\n", "", jsonlite::base64_enc(bytes), fixed = TRUE), "\"")
}

# A file as bytes; NULL if it has more than `room`.
read_all <- function(data, room) {
    pieces <- piece_reader(data)
    on.exit(pieces$close())
    read <- list()
    while (length(piece <- pieces$read())) {
        read[[length(read) + 1L]] <- piece
        room <- room - length(piece)
        if (room < 0)
            return(NULL)
    }
    as.raw(unlist(read))
}

# The members of an `execute` with the files; NULL if they are too many or too large for its line.
add_files <- function(server, members, files) {
    if (!length(files))
        return(members)
    room <- server$max_line - length(line_of(server, members)) - id_bytes
    given <- character()
    for (name in names(files)) {
        bytes <- read_all(files[[name]], room)
        if (is.null(bytes) || length(given) == most_files)
            return(NULL)
        file <- paste0("{\"name\":", json_text(name), ",\"data\":", quoted_base64(bytes), "}")
        room <- room - nchar(file, "bytes") - 1
        if (room < 0)
            return(NULL)
        given <- c(given, file)
    }
    c(members, files = json_array(given))
}

# The same where there is no session to put them.
add_all_files <- function(server, members, files) {
    added <- add_files(server, members, files)
    if (is.null(added)) {
        fail_argument("the files do not fit: an execution takes at most ", most_files,
                      ", with its code in a message of ", key_of(server$max_line),
                      " bytes; a session takes larger ones")
    }
    added
}

session_put_file <- function(state, name, data) {
    check_open(state)
    if (state$executing) {
        fail("lazaret_request_failed", "no file can be put while the session executes code",
             code = "LAZ_EBUSY")
    }
    if (!is_text(name))
        fail_argument("the name of a file must be one text")
    members <- c(type = "\"put\"", where_of(state), name = json_text(name))
    pieces <- piece_reader(data)
    on.exit(pieces$close())
    piece <- pieces$read()
    part <- 0
    repeat {
        following <- pieces$read()
        more <- length(following) > 0L
        request(state$server, c(members, data = quoted_base64(piece), part = key_of(part),
                                more = if (more) "true" else "false"))
        if (!more)
            break
        piece <- following
        part <- part + 1
    }
}

put_files <- function(state, files) {
    for (name in names(files))
        session_put_file(state, name, files[[name]])
}

check_files <- function(files) {
    if (length(files) && (is.null(names(files)) || !all(nzchar(names(files)))))
        fail_argument("`files` must be a list with the names of files as names")
    as.list(files)
}

# The files of an execution with its standard input, which is one of them.
with_input <- function(files, input) {
    files <- check_files(files)
    if (is.null(input))
        return(files)
    if (!is.raw(input) && !is_text(input))
        fail_argument("`input` must be one text, a raw vector, or NULL")
    if (input_file %in% names(files))
        fail_argument("'", input_file, "' is the file of the input")
    files[[input_file]] <- if (is.raw(input)) input else charToRaw(enc2utf8(input))
    files
}

# ---- artifacts out -------------------------------------------------------------------------------

fail_protocol <- function(...) {
    fail("lazaret_worker_lost", paste0("the server has broken its protocol: ", ...))
}

# SHA-256 of files. NULL: neither R, before 4.5, nor a program that is here computes it.
sha256_files <- function(directory, names) {
    own <- get0("sha256sum", asNamespace("tools"), inherits = FALSE)
    if (!is.null(own))
        return(unname(own(file.path(directory, names))))
    for (command in list("sha256sum", c("shasum", "-a", "256"))) {
        if (!nzchar(Sys.which(command[1L])))
            next
        done <- processx::run(command[1L], c(command[-1L], names), wd = directory,
                              error_on_status = FALSE)
        sums <- substr(strsplit(done$stdout, "\n", fixed = TRUE)[[1L]], 1L, 64L)
        if (length(sums) == length(names))
            return(sums)
    }
    NULL
}

# SHA-256 of raw vectors.
sha256_of <- function(contents) {
    directory <- tempfile("lazaret-")
    dir.create(directory, mode = "0700")
    on.exit(unlink(directory, recursive = TRUE))
    names <- as.character(seq_along(contents))
    for (name in names)
        writeBin(contents[[as.integer(name)]], file.path(directory, name))
    sha256_files(directory, names)
}

decode_part <- function(message) {
    is_base64 <- is_text(message$data) && grepl("^[A-Za-z0-9+/]*=*$", message$data)
    tryCatch(if (is_base64) jsonlite::base64_dec(message$data) else stop(), error = function(e) {
        fail_protocol("the artifact '", message$name, "' is not base64")
    })
}

# The bytes of artifacts: a list of raw vectors by name, NULL for one that was left out.
join_parts <- function(messages) {
    parts <- joined <- list()
    for (message in messages) {
        name <- message$name
        if (!is_text(name) || !nzchar(name))
            fail_protocol("an artifact lacks its name")
        if (name %in% names(joined))
            fail_protocol("the artifact '", name, "' has a part after its last one")
        if (is.null(message$data)) {
            joined[name] <- list(NULL)
            next
        }
        known <- length(parts[[name]])
        if (!identical(as.numeric(message$part %||% 0), as.numeric(known)))
            fail_protocol("the artifact '", name, "' lacks part ", known)
        parts[[name]] <- c(parts[[name]], list(decode_part(message)))
        if (!isTRUE(message$more)) {
            joined[[name]] <- do.call(c, parts[[name]])
            parts[[name]] <- NULL
        }
    }
    joined
}

# The artifacts that a result lists, with the bytes of messages `artifact`.
artifacts_of <- function(listed, messages, wanted) {
    joined <- join_parts(messages)
    artifacts <- lapply(listed, function(one) {
        if (!is_text(one$name) || !is_text(one$type) || !is_text(one$sha256) ||
            !is_count(one$size))
            fail_protocol("an artifact lacks a member, or has a wrong one")
        if (wanted && !(one$name %in% names(joined)))
            fail_protocol("the artifact '", one$name, "' has not come as a whole")
        data <- joined[[one$name]]
        if (!is.null(data) && length(data) != one$size)
            fail_protocol("the artifact '", one$name, "' has ", length(data),
                          " bytes instead of ", one$size)
        new_artifact(one$name, one$type, as.numeric(one$size), one$sha256, data,
                     wanted && is.null(data))
    })
    unlisted <- setdiff(names(joined), vapply(artifacts, function(one) one$name, ""))
    if (length(unlisted))
        fail_protocol("the result does not list the artifact '", unlisted[1L], "'")
    complete <- Filter(function(one) !is.null(one$data), artifacts)
    sums <- if (length(complete)) sha256_of(lapply(complete, function(one) one$data))
    for (i in seq_along(sums)) {
        if (!identical(sums[i], complete[[i]]$sha256))
            fail_protocol("the artifact '", complete[[i]]$name,
                          "' has not the SHA-256 that was announced")
    }
    artifacts
}

new_artifact <- function(name, type, size, sha256, data, dropped) {
    structure(class = "lazaret_artifact",
              list(name = name, type = type, size = size, sha256 = sha256, data = data,
                   dropped = dropped,
                   save = function(directory) save_artifact(name, data, dropped, directory)))
}

format.lazaret_artifact <- function(x, ...) {
    sprintf("%s (%s, %.0f bytes)%s", x$name, x$type, x$size, if (x$dropped) " dropped" else "")
}

print.lazaret_artifact <- function(x, ...) {
    cat("<lazaret_artifact> ", format(x), "\n", sep = "")
    invisible(x)
}

is_link <- function(path) isTRUE(nzchar(Sys.readlink(path), keepNA = TRUE))

is_there <- function(path) file.exists(path) || is_link(path)

# Write an artifact into a directory, which is made if it is missing; gives its path.
save_artifact <- function(name, data, dropped, directory) {
    fail_save <- function(...) fail("lazaret_error", paste0("the artifact '", name, "' ", ...))
    if (!is_text(directory) || !nzchar(directory))
        fail_argument("`directory` must be one text")
    if (is.null(data)) {
        fail_save("has no data: ", if (dropped) "this program was too slow to read it"
                                   else "it was not asked for")
    }
    if (grepl("(^|/)[.]{0,2}(/|$)|\\\\", name))
        fail_save("has a name that is not below a directory")
    names <- strsplit(name, "/", fixed = TRUE)[[1L]]
    inner <- path.expand(directory)
    dir.create(inner, showWarnings = FALSE, recursive = TRUE)
    for (part in names[-length(names)]) {
        inner <- file.path(inner, part)
        if (!is_there(inner))
            dir.create(inner, showWarnings = FALSE)
        if (is_link(inner))
            fail_save("cannot be saved: ", inner, " is a link")
    }
    if (!dir.exists(inner))
        fail_save("cannot be saved: ", inner, " is not a directory")
    tryCatch(write_new(inner, names[length(names)], data), error = function(e) {
        fail_save("cannot be saved in ", inner, ": ", conditionMessage(e))
    })
}

# Write a file that is not there yet; gives its path. R opens files that are there, so the bytes go
# to a file of another name, which then gets its name by a link: that replaces nothing.
write_new <- function(directory, name, data) {
    written <- tempfile(".artifact-", directory)
    on.exit(unlink(written))
    suppressWarnings(writeBin(data, written))
    stem <- sub("[.][^.]*$", "", name)
    ending <- substring(name, nchar(stem) + 1L)
    for (number in seq_len(most_names)) {
        tried <- if (number == 1L) name else paste0(stem, "-", number, ending)
        path <- file.path(directory, tried)
        if (!is_there(path) && (suppressWarnings(file.link(written, path)) ||
                                    (!is_there(path) && file.copy(written, path))))
            return(path)
    }
    stop("there are ", most_names, " files with such names")
}
