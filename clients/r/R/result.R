# SPDX-License-Identifier: MIT
# Results of executions.

# The lines of output in the order in which they were begun, from pieces of both streams.
output_lines <- function(pieces) {
    if (length(pieces) == 0L)
        return(character())
    streams <- vapply(pieces, function(piece) piece$stream, "")
    texts <- vapply(pieces, function(piece) piece$text, "")
    rest <- list()
    lines <- list()
    runs <- rle(streams)
    ends <- cumsum(runs$lengths)
    for (i in seq_along(ends)) { # the pieces of one stream between those of the other one
        stream <- runs$values[i]
        text <- paste0(c(rest[[stream]], texts[(ends[i] - runs$lengths[i] + 1L):ends[i]]),
                       collapse = "")
        split <- strsplit(text, "\n", fixed = TRUE)[[1L]]
        rest[[stream]] <- NULL
        if (nzchar(text) && !endsWith(text, "\n")) {
            rest[[stream]] <- split[length(split)]
            split <- split[-length(split)]
        }
        lines[[i]] <- split
    }
    c(character(), unlist(lines), unlist(rest, use.names = FALSE))
}

stream_text <- function(pieces, stream) {
    texts <- lapply(pieces, function(piece) if (piece$stream == stream) piece$text)
    paste0(c("", unlist(texts)), collapse = "")
}

# Make a result of the object that the server has sent.
new_result <- function(raw, dropped = 0, artifacts = list()) {
    verdict <- raw$verdict
    result <- list(
        value = decode(raw$value),
        value_omitted = isTRUE(raw$value_omitted),
        text = raw$text,
        stdout = stream_text(raw$output, "stdout"),
        stderr = stream_text(raw$output, "stderr"),
        output = output_lines(raw$output),
        truncated = isTRUE(raw$truncated),
        verdict = verdict$reason %||% "protocol_error",
        detail = verdict$detail %||% "",
        evidence = verdict$evidence %||% list(),
        error = raw$error,
        usage = lapply(raw$usage, function(x) if (is.numeric(x)) as.double(x) else x),
        isolation = raw$isolation,
        warnings = as.character(unlist(raw$warnings)),
        artifacts = artifacts,
        artifacts_lost = lapply(raw$artifacts_lost, function(lost) {
            list(name = lost$name, bytes = as.numeric(lost$bytes), why = lost$why)
        }),
        denials = raw$denials %||% list(),
        credentials = raw$credentials %||% list(),
        replaced = raw$replaced,
        kept = isTRUE(raw$kept),
        session = raw$session,
        dropped = dropped
    )
    if (!is.null(result$isolation))
        result$isolation$enforces <- as.character(unlist(result$isolation$enforces))
    structure(result, class = "lazaret_result")
}

print.lazaret_result <- function(x, ...) {
    cat("<lazaret_result> ", x$verdict, sep = "")
    if (!is.null(x$usage$wall_ms))
        cat(sprintf(" (%.1f ms)", x$usage$wall_ms))
    cat("\n")
    if (x$verdict != "ok")
        cat("message: ", conditionMessage(error_of_result(x)), "\n", sep = "")
    if (length(x$output)) {
        cat("output:\n")
        shown <- utils::head(x$output, 20L)
        cat(paste0("  ", shown, "\n"), sep = "")
        if (length(x$output) > 20L)
            cat("  ... (", length(x$output), " lines)\n", sep = "")
    }
    if (x$verdict == "ok") {
        cat("value:\n")
        if (is_text(x$text)) cat(x$text, "\n", sep = "") else print(x$value)
    }
    if (length(x$artifacts))
        cat("artifacts:\n", paste0("  ", vapply(x$artifacts, format, ""), "\n"), sep = "")
    for (lost in x$artifacts_lost)
        cat("lost: ", lost$name, ": ", lost$why, "\n", sep = "")
    invisible(x)
}

print.lazaret_repr <- function(x, ...) {
    cat(unclass(x), "\n", sep = "")
    invisible(x)
}
