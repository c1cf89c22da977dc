# SPDX-License-Identifier: MIT
# What the tests have in common. Each file of tests is a program: it fails by an error.

library(lazaret)
options(warn = 1, lazaret.test.failures = 0L)
Sys.setenv(LAZARET_CONFIG = "") # the tests set what they need

internal <- function(name) getFromNamespace(name, "lazaret")

# Run one test; a failure is printed, and end_tests() ends the program with it.
test <- function(name, code) {
    ok <- tryCatch({
        force(code)
        TRUE
    }, error = function(e) {
        cat("FAIL ", name, ": ", conditionMessage(e), "\n", sep = "")
        FALSE
    })
    if (ok)
        cat("ok   ", name, "\n", sep = "")
    else
        options(lazaret.test.failures = getOption("lazaret.test.failures") + 1L)
    invisible(gc())
}

end_tests <- function() {
    failures <- getOption("lazaret.test.failures")
    if (failures)
        stop(failures, " tests have failed", call. = FALSE)
    cat("all tests passed\n")
}

check <- function(condition, ...) {
    if (!isTRUE(condition))
        stop(deparse(substitute(condition))[1L], " is not TRUE: ", ..., call. = FALSE)
}

same <- function(got, expected) {
    if (!identical(got, expected)) {
        show <- function(x) paste(utils::head(utils::capture.output(utils::str(x)), 8L),
                                  collapse = " ")
        stop(deparse(substitute(got))[1L], " is ", show(got), ", expected ", show(expected),
             call. = FALSE)
    }
}

# The condition of this class that the code raises.
raised <- function(code, class, pattern = "") {
    error <- tryCatch({
        force(code)
        NULL
    }, error = identity)
    if (is.null(error))
        stop("no error was raised, expected ", class, call. = FALSE)
    if (!inherits(error, class))
        stop("the error is ", paste(class(error), collapse = "/"), " (", conditionMessage(error),
             "), expected ", class, call. = FALSE)
    if (!grepl(pattern, conditionMessage(error)))
        stop("the error is '", conditionMessage(error), "', expected '", pattern, "'",
             call. = FALSE)
    invisible(error)
}

# Ends the program here when lazaret is missing; with LAZARET_TEST_NEED that is a failure.
need_program <- function() {
    if (lazaret_available())
        return(invisible())
    if (nzchar(Sys.getenv("LAZARET_TEST_NEED")))
        stop("the program lazaret was not found", call. = FALSE)
    cat("SKIP: the program lazaret was not found\n")
    quit(status = 0)
}

# Start another R with a program, without waiting for it. Its standard error goes to `error`.
start_r <- function(lines, stdin = NULL) {
    file <- tempfile(fileext = ".R")
    writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
                 "library(lazaret)", lines), file)
    processx::process$new(file.path(R.home("bin"), "Rscript"), c("--vanilla", file),
                          stdin = stdin, stdout = "|", stderr = "2>&1", encoding = "UTF-8")
}

# Lines of a process until one has this pattern, or its output ends.
lines_until <- function(process, pattern, seconds = 600) {
    end <- Sys.time() + seconds
    lines <- character()
    while (Sys.time() < end && !any(grepl(pattern, lines))) {
        process$poll_io(1000)
        lines <- c(lines, process$read_output_lines())
        if (!process$is_incomplete_output())
            break
    }
    lines
}

wait_until <- function(condition, seconds = 600) {
    end <- Sys.time() + seconds
    while (!(done <- condition()) && Sys.time() < end)
        Sys.sleep(0.02)
    done
}

# Is a process with this id there, which has not ended?
process_runs <- function(pid) {
    status <- suppressWarnings(system2("ps", c("-o", "stat=", "-p", pid), stdout = TRUE))
    length(status) > 0L && !startsWith(trimws(status[1L]), "Z")
}
