# SPDX-License-Identifier: MIT
# JSON text as R values, in the forms of the document values-r.md of lazaret. The parser makes lists
# of everything; an array of only numbers, strings or booleans then becomes a vector.

# The parser reads the number -0 as an integer, which has no sign. Text within quotes is skipped.
negative_zero <- "\"(?:[^\"\\\\]++|\\\\.)*+\"(*SKIP)(*FAIL)|-0(?=[,}\\]\\s]|$)"

parse_json <- function(text) {
    the$misfits <- 0L
    if (grepl("-0[],}[:space:]]|-0$", text, useBytes = TRUE))
        text <- gsub(negative_zero, "-0.0", text, perl = TRUE)
    jsonlite::parse_json(text, simplifyVector = FALSE)
}

# ---- arrays --------------------------------------------------------------------------------------

# What an element of an array is, which decides about the class of the vector.
kind_of <- function(x) {
    if (length(x) != 1L || !is.atomic(x))
        return("list")
    if (!is.object(x))
        return(if (is.raw(x)) "list" else typeof(x))
    if (inherits(x, "AsIs"))
        return("list")
    for (class in c("Date", "POSIXct", "integer64", "lazaret_int")) {
        if (inherits(x, class))
            return(class)
    }
    "list"
}

class_of_kind <- function(kind) {
    switch(kind, POSIXct = c("POSIXct", "POSIXt"), Date = , integer64 = , lazaret_int = kind, NULL)
}

as_is <- function(x) {
    if (length(x) == 1L)
        class(x) <- c("AsIs", oldClass(x))
    x
}

vector_of_kind <- function(elements, kind) {
    x <- unlist(lapply(elements, function(e) as.vector(unclass(e))), use.names = FALSE)
    class(x) <- class_of_kind(kind)
    if (kind == "POSIXct")
        attr(x, "tzone") <- "UTC"
    x
}

# All elements are strings of the tags $date or $time, or missing: the texts, NA for those.
tagged_texts <- function(x, tag) {
    first <- x[[1L]]
    if (!is.list(first) || !(identical(names(first), tag) || identical(names(first), "$na")))
        return(NULL)
    keys <- lapply(x, names)
    tagged <- vapply(keys, identical, NA, tag)
    if (!any(tagged) || !all(tagged | vapply(keys, identical, NA, "$na")))
        return(NULL)
    texts <- lapply(x, function(e) e[[1L]])
    if (!all(vapply(texts, is_text, NA)) || !all(unlist(texts[!tagged]) == "double"))
        return(NULL)
    texts <- unlist(texts)
    texts[!tagged] <- NA
    texts
}

decode_times <- function(x) {
    texts <- tagged_texts(x, "$date")
    if (!is.null(texts)) {
        days <- parse_days(texts)
        if (identical(is.na(days), is.na(texts)))
            return(structure(days, class = "Date"))
    }
    texts <- tagged_texts(x, "$time")
    if (!is.null(texts)) {
        seconds <- parse_seconds(texts)
        if (identical(as.vector(is.na(seconds)), is.na(texts)))
            return(structure(as.vector(seconds), class = c("POSIXct", "POSIXt"), tzone = "UTC"))
    }
    NULL
}

# A vector, if all elements are scalars of one kind; otherwise a list.
decode_array <- function(x) {
    if (length(x) == 0L)
        return(list())
    types <- unique(vapply(x, typeof, ""))
    if (all(types %in% c("integer", "double")))
        return(as_is(as.double(unlist(x, use.names = FALSE))))
    if (length(types) == 1L && types %in% c("character", "logical"))
        return(as_is(unlist(x, use.names = FALSE)))
    if (identical(types, "list")) {
        times <- decode_times(x)
        if (!is.null(times))
            return(as_is(times))
    }
    nested <- vapply(x, function(e) is.null(e) || (is.list(e) && is.null(names(e))), NA)
    elements <- lapply(x, decode)
    if (any(nested))
        return(elements)
    kinds <- vapply(elements, kind_of, "")
    missing <- kinds == "double" & vapply(elements, function(e) {
        is.double(e) && length(e) == 1L && is.na(e) && !is.nan(e)
    }, NA)
    kind <- unique(kinds)
    if (length(kind) > 1L && all(kind %in% c("double", "Date", "POSIXct")) && any(missing))
        kind <- unique(kinds[!missing]) # a missing date is a missing number
    if (length(kind) != 1L || kind == "list")
        return(elements)
    as_is(vector_of_kind(elements, kind))
}

# ---- tagged forms: each makes a value of the content, or stops when that does not fit ------------

need <- function(condition) if (!isTRUE(condition)) stop("unsuitable content")

# The array of a column or a factor as a vector: null is NA, and a vector of one is not AsIs.
decode_column <- function(x) {
    if (is.list(x) && is.null(names(x)) && length(x) && any(vapply(x, is.null, NA))) {
        empty <- vapply(x, is.null, NA)
        if (all(empty))
            return(rep(NA, length(x)))
        values <- decode_column(x[!empty])
        out <- if (is.list(values)) vector("list", length(x))
               else values[rep(NA_integer_, length(x))]
        out[!empty] <- values
        return(out)
    }
    y <- decode(x)
    if (inherits(y, "AsIs"))
        class(y) <- if (length(oldClass(y)) > 1L) oldClass(y)[-1L]
    y
}

decode_factor <- function(x) {
    need(is.list(x) && all(c("levels", "values") %in% names(x)))
    levels <- decode_column(x$levels)
    if (length(levels) == 0L)
        levels <- character()
    need(is.character(levels) && !is.object(levels) && !anyDuplicated(levels))
    values <- vapply(x$values, function(v) if (is.null(v)) NA_character_ else as.character(v), "")
    structure(match(values, levels, incomparables = NA_character_), levels = levels,
              class = c(if (isTRUE(x$ordered)) "ordered", "factor"))
}

decode_frame <- function(x) {
    need(is.list(x) && all(c("names", "columns", "rows") %in% names(x)))
    need(is.list(x$columns) && length(x$names) == length(x$columns) && is_count(x$rows))
    need(x$rows <= .Machine$integer.max)
    names <- as.character(unlist(x$names))
    columns <- lapply(x$columns, decode_column)
    fits <- vapply(columns, function(c) is.data.frame(c) || length(c) == x$rows, NA)
    need(length(names) == length(columns) && all(fits))
    structure(columns, names = names, row.names = .set_row_names(as.integer(x$rows)),
              class = "data.frame")
}

decode_map <- function(x) {
    need(is.list(x) && is.null(names(x)) && all(lengths(x) == 2L))
    keys <- lapply(x, function(pair) decode(pair[[1L]]))
    values <- lapply(x, function(pair) decode(pair[[2L]]))
    is_key <- function(k) is.character(k) && length(k) == 1L && !is.object(k)
    if (all(vapply(keys, is_key, NA)))
        return(structure(values, names = vapply(keys, identity, "")))
    structure(list(keys = keys, values = values), class = "lazaret_map")
}

# An integer that no double holds: of package bit64 where that is loaded, else decimal text.
decode_int <- function(x) {
    need(is_text(x) && grepl("^-?[0-9]+$", x))
    if (isNamespaceLoaded("bit64")) {
        value <- suppressWarnings(getExportedValue("bit64", "as.integer64")(x))
        if (identical(integer64_text(value), x))
            return(value)
    }
    structure(x, class = "lazaret_int")
}

decode_time <- function(x) {
    need(is_text(x))
    seconds <- parse_seconds(x)
    need(!is.na(seconds))
    structure(as.vector(seconds), class = c("POSIXct", "POSIXt"),
              tzone = if (attr(seconds, "local")) "" else "UTC")
}

decoders <- list(
    "$num" = function(x) switch(x, "NaN" = NaN, "Inf" = Inf, "-Inf" = -Inf, need(FALSE)),
    "$na" = function(x) {
        need(is_text(x))
        switch(x, logical = NA, character = NA_character_, NA_real_)
    },
    "$int" = decode_int,
    "$bytes" = function(x) {
        need(is_text(x) && grepl("^[A-Za-z0-9+/]*=*$", x))
        jsonlite::base64_dec(x)
    },
    "$date" = function(x) {
        need(is_text(x) && !is.na(parse_days(x)))
        structure(parse_days(x), class = "Date")
    },
    "$time" = decode_time,
    "$complex" = function(x) {
        parts <- decode_column(x)
        need(is.double(parts) && length(parts) == 2L)
        complex(real = parts[1L], imaginary = parts[2L])
    },
    "$factor" = decode_factor,
    "$frame" = decode_frame,
    "$r" = function(x) decode_native(x),
    "$map" = decode_map,
    "$repr" = function(x) {
        need(is_text(x))
        structure(x, class = "lazaret_repr")
    }
)

# ---- all -----------------------------------------------------------------------------------------

# A form that does not fit is read twice, and so are those inside of it: of so many in a message the
# rest is taken for ordinary objects at once.
max_misfits <- 100L

# What the parser has made, as an R value.
decode <- function(x) {
    if (!is.list(x))
        return(if (is.integer(x)) as.double(x) else x)
    if (is.null(names(x)))
        return(decode_array(x))
    if (length(x) == 1L && !is.null(decoder <- decoders[[names(x)]]) &&
        the$misfits < max_misfits) {
        value <- tryCatch(list(decoder(x[[1L]])), error = function(e) NULL)
        if (!is.null(value))
            return(value[[1L]])
        the$misfits <- the$misfits + 1L
    }
    lapply(x, decode) # a tagged form with unsuitable content is an ordinary object
}
