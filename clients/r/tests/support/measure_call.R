# SPDX-License-Identifier: MIT
# What a call costs over the library. Run by clients/measure: the tests do not measure time.
#
# The client, the library (a program in C, which says how long it took) and a ping-pong (a line to
# `cat` and back, over pipes) take turns, so that a busy machine disturbs all three.

library(lazaret)

samples <- as.integer(Sys.getenv("LAZARET_MEASURE_SAMPLES", "2000"))
calls_of_a_tool <- 20L # in one execution
codes <- list(list("execution", "return 1", 1L),
              list("tool call", sprintf("for i = 1, %d do one() end", calls_of_a_tool),
                   calls_of_a_tool))

# A process that answers each line by a line.
new_peer <- function(command) {
    process <- processx::process$new(command, stdin = "|", stdout = "|")
    input <- process$get_input_connection()
    output <- process$get_output_connection()
    list(process = process, ask = function(line) {
        processx::conn_write(input, paste0(line, "\n"))
        repeat {
            processx::poll(list(output), 60000L)
            text <- processx::conn_read_chars(output)
            if (nzchar(text))
                return(text)
        }
    })
}

microseconds <- function(work) {
    begun <- Sys.time()
    work()
    as.numeric(difftime(Sys.time(), begun, units = "secs")) * 1e6
}

inside <- new_peer(commandArgs(TRUE)[1L])
echo <- new_peer("cat")
session <- Session$new(list(one = function() 1), "lua", server = lazaret_server())
for (code in codes) {
    calls <- code[[3L]]
    times <- matrix(0, samples %/% calls, 3L)
    for (i in seq_len(nrow(times))) {
        times[i, 1L] <- microseconds(function() session$execute(code[[2L]]))
        times[i, 2L] <- as.numeric(inside$ask(code[[2L]]))
        times[i, 3L] <- microseconds(function() for (n in seq_len(calls)) echo$ask(strrep("x", 79)))
    }
    for (what in list(list("median", 0.5), list("10th percentile", 0.1))) {
        t <- apply(times / calls, 2L, stats::quantile, what[[2L]])
        cat(sprintf(paste("Session, %s, %s: client %.0f us, library %.0f us, ping-pong %.0f us:",
                          "ratio %.1f (%d samples of %d)\n"), code[[1L]], what[[1L]], t[1L], t[2L],
                    t[3L], (t[1L] - t[2L]) / t[3L], nrow(times), calls))
    }
}
session$close()
