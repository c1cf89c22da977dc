# SPDX-License-Identifier: MIT
# R values as JSON text, in the forms of the document values-r.md of lazaret. Whole vectors are
# converted at once; numbers have 17 digits, so that they read back the same to the last bit.

max_depth <- 48L # levels of a value; tagged forms add up to four, and a message has 64

# ---- text ----------------------------------------------------------------------------------------

control_characters <- vapply(c(1:8, 11L, 12L, 14:31), intToUtf8, "")

# Strings as JSON strings. They are valid UTF-8.
quote_json <- function(x) {
    special <- grep("[\\x01-\\x1f\"\\\\]", x, perl = TRUE, useBytes = TRUE)
    if (length(special)) {
        y <- x[special]
        y <- gsub("\\", "\\\\", y, fixed = TRUE)
        y <- gsub("\"", "\\\"", y, fixed = TRUE)
        y <- gsub("\n", "\\n", y, fixed = TRUE)
        y <- gsub("\r", "\\r", y, fixed = TRUE)
        y <- gsub("\t", "\\t", y, fixed = TRUE)
        if (any(grepl("[\\x01-\\x1f]", y, perl = TRUE, useBytes = TRUE))) {
            for (char in control_characters)
                y <- gsub(char, sprintf("\\u%04x", utf8ToInt(char)), y, fixed = TRUE)
        }
        x[special] <- y
    }
    paste0("\"", x, "\"")
}

# Text of this program, as of names and messages, as a JSON string.
json_text <- function(x) {
    x <- enc2utf8(as.character(x))
    bad <- !validUTF8(x)
    x[bad] <- iconv(x[bad], "UTF-8", "UTF-8", sub = "\ufffd")
    quote_json(x)
}

json_bytes <- function(bytes) {
    paste0("{\"$bytes\":\"", gsub("\n", "", jsonlite::base64_enc(bytes), fixed = TRUE), "\"}")
}

# Can the strings be JSON strings? Others are bytes.
is_plain_text <- function(x) Encoding(x) != "bytes" & validUTF8(x)

to_utf8 <- function(x) {
    as_bytes <- Encoding(x) == "bytes"
    if (!any(as_bytes))
        return(enc2utf8(x))
    x[!as_bytes] <- enc2utf8(x[!as_bytes])
    x
}

encode_strings <- function(x) {
    x <- to_utf8(x)
    out <- character(length(x))
    missing <- is.na(x)
    plain <- !missing & is_plain_text(x)
    out[plain] <- quote_json(x[plain])
    out[missing] <- "{\"$na\":\"character\"}"
    for (i in which(!missing & !plain))
        out[i] <- json_bytes(charToRaw(x[i]))
    out
}

# ---- vectors -------------------------------------------------------------------------------------

encode_doubles <- function(x) {
    x <- as.double(x)
    whole <- is.finite(x) & x == trunc(x) & abs(x) <= 2^53
    out <- character(length(x))
    out[whole] <- sprintf("%.0f", x[whole])
    rest <- which(!whole)
    if (length(rest))
        out[rest] <- sprintf("%.17g", x[rest])
    odd <- rest[!is.finite(x[rest])]
    if (length(odd)) {
        y <- x[odd]
        out[odd] <- ifelse(is.nan(y), "{\"$num\":\"NaN\"}",
                           ifelse(is.na(y), "{\"$na\":\"double\"}",
                                  ifelse(y > 0, "{\"$num\":\"Inf\"}", "{\"$num\":\"-Inf\"}")))
    }
    out
}

encode_texts_of_doubles <- function(x, text, tag) {
    ifelse(is.na(text), encode_doubles(x), paste0("{\"", tag, "\":\"", text, "\"}"))
}

encode_decimals <- function(x) {
    digits <- grepl("^-?[0-9]+$", x)
    small <- digits
    small[digits] <- abs(as.numeric(x[digits])) < 2^53
    out <- paste0("{\"$int\":\"", x, "\"}", recycle0 = TRUE)
    out[small] <- sub("^(-?)0+([0-9])", "\\1\\2", x[small])
    out[!digits] <- encode_strings(x[!digits])
    out[is.na(x)] <- "{\"$na\":\"integer\"}"
    out
}

# The 64-bit integers that package bit64 stores in doubles, as decimal text.
integer64_text <- function(x) {
    limbs <- matrix(readBin(writeBin(as.vector(unclass(x), "double"), raw(), endian = "little"),
                            "integer", n = 4L * length(x), size = 2L, signed = FALSE,
                            endian = "little"), nrow = 4L)
    apply(limbs, 2L, function(limb) {
        negative <- limb[4L] >= 32768
        if (negative) {
            limb <- 65535 - limb
            limb[1L] <- limb[1L] + 1
            for (i in 1:3) {
                limb[i + 1L] <- limb[i + 1L] + limb[i] %/% 65536
                limb[i] <- limb[i] %% 65536
            }
            if (limb[4L] >= 32768)
                return(NA_character_) # the lowest number is the missing one
        }
        digits <- character()
        while (any(limb > 0)) { # four decimal digits at a time
            rest <- 0
            for (i in 4:1) {
                value <- rest * 65536 + limb[i]
                limb[i] <- value %/% 10000
                rest <- value %% 10000
            }
            digits <- c(sprintf("%04.0f", rest), digits)
        }
        text <- sub("^0+(?=[0-9])", "", paste0("0", paste(digits, collapse = "")), perl = TRUE)
        if (negative) paste0("-", text) else text
    })
}

encode_complex <- function(x) {
    paste0("{\"$complex\":[", encode_doubles(Re(x)), ",", encode_doubles(Im(x)), "]}",
           recycle0 = TRUE)
}

# The elements of an atomic vector that is not a factor, each as JSON.
encode_elements <- function(x) {
    if (inherits(x, "Date") && is.numeric(unclass(x))) {
        x <- as.double(unclass(x))
        return(encode_texts_of_doubles(x, format_days(x), "$date"))
    }
    if (inherits(x, "POSIXct") && is.numeric(unclass(x))) {
        x <- as.double(unclass(x))
        return(encode_texts_of_doubles(x, format_seconds(x), "$time"))
    }
    if (inherits(x, "integer64") && is.double(x))
        return(if (length(x)) encode_decimals(integer64_text(x)) else character())
    if (inherits(x, "lazaret_int") && is.character(x))
        return(encode_decimals(as.vector(unclass(x))))
    switch(typeof(x),
           logical = ifelse(is.na(x), "{\"$na\":\"logical\"}", ifelse(x, "true", "false")),
           integer = ifelse(is.na(x), "{\"$na\":\"integer\"}", sprintf("%d", unclass(x))),
           double = encode_doubles(x),
           character = encode_strings(as.vector(unclass(x))),
           complex = encode_complex(x))
}

# ---- structures ----------------------------------------------------------------------------------

json_array <- function(elements) paste0("[", paste(elements, collapse = ","), "]")

elements_of <- function(x, depth) {
    if (is.list(x))
        vapply(unclass(x), encode_value, "", depth + 1L, USE.NAMES = FALSE)
    else
        as.vector(encode_elements(x))
}

# Can the names be keys of an object that no reader takes for a tagged form?
names_are_keys <- function(names) {
    !anyNA(names) && all(nzchar(names)) && !anyDuplicated(names) && all(is_plain_text(names)) &&
        !(length(names) == 1L && startsWith(names, "$"))
}

encode_named <- function(x, depth) {
    names <- to_utf8(names(x))
    if (names_are_keys(names)) {
        return(paste0("{", paste0(quote_json(names), ":", elements_of(x, depth),
                                  recycle0 = TRUE, collapse = ","), "}"))
    }
    pairs <- paste0("[", encode_strings(names), ",", elements_of(x, depth + 2L), "]")
    paste0("{\"$map\":", json_array(pairs), "}")
}

encode_array <- function(x, depth) json_array(elements_of(x, depth))

# A matrix as an array of its rows, and more dimensions likewise, the first one outermost.
encode_dims <- function(x, depth) {
    dims <- dim(x)
    elements <- elements_of(x, depth)
    for (i in rev(seq_along(dims)[-1L])) {
        outer <- prod(dims[seq_len(i - 1L)])
        elements <- matrix(elements, nrow = outer)
        elements <- apply(elements, 1L, json_array, simplify = FALSE)
        elements <- if (length(elements)) unlist(elements) else character()
    }
    json_array(elements)
}

encode_factor <- function(x) {
    levels <- as.character(levels(x))
    codes <- as.integer(unclass(x))
    values <- rep("null", length(codes))
    good <- !is.na(codes) & codes >= 1L & codes <= length(levels)
    texts <- encode_strings(levels)
    values[good] <- texts[codes[good]]
    paste0("{\"$factor\":{\"levels\":", json_array(texts), ",\"values\":", json_array(values),
           ",\"ordered\":", if (inherits(x, "ordered")) "true" else "false", "}}")
}

encode_column <- function(x, depth) {
    plain <- if (is.list(x)) !is.object(x) else is.atomic(x) && !is.raw(x)
    if (plain && !is.factor(x) && !isS4(x) && length(dim(x)) < 2L)
        encode_array(x, depth)
    else
        encode_value(x, depth)
}

encode_frame <- function(x, depth) {
    columns <- vapply(unclass(x), encode_column, "", depth + 4L, USE.NAMES = FALSE)
    paste0("{\"$frame\":{\"names\":", json_array(encode_strings(as.character(names(x)))),
           ",\"columns\":", json_array(columns), ",\"rows\":",
           sprintf("%d", .row_names_info(x, 2L)), "}}")
}

is_map <- function(x) {
    inherits(x, "lazaret_map") && is.list(x) && length(x) == 2L && is.list(x[[1L]]) &&
        is.list(x[[2L]]) && length(x[[1L]]) == length(x[[2L]])
}

encode_map <- function(x, depth) {
    encode_all <- function(x) vapply(x, encode_value, "", depth + 4L, USE.NAMES = FALSE)
    x <- unclass(x)
    pairs <- paste0("[", encode_all(x[[1L]]), ",", encode_all(x[[2L]]), "]", recycle0 = TRUE)
    paste0("{\"$map\":", json_array(pairs), "}")
}

encode_list <- function(x, depth) {
    if (is_map(x))
        encode_map(x, depth)
    else if (inherits(x, "POSIXlt"))
        encode_value(as.POSIXct(x), depth)
    else if (inherits(x, "data.frame"))
        encode_frame(x, depth)
    else if (length(dim(x)) >= 2L)
        encode_dims(x, depth)
    else if (!is.null(names(x)))
        encode_named(x, depth)
    else
        encode_array(x, depth)
}

encode_atomic <- function(x, depth) {
    if (is.factor(x))
        encode_factor(x)
    else if (length(dim(x)) >= 2L)
        encode_dims(x, depth)
    else if (!is.null(names(x)))
        encode_named(x, depth)
    else if (length(x) != 1L || inherits(x, "AsIs"))
        encode_array(x, depth)
    else
        as.vector(encode_elements(x))
}

# The JSON text of a value. A value that has no form is an error.
encode_value <- function(x, depth = 1L) {
    if (depth > max_depth)
        fail_argument("a value that is nested more than ", max_depth, " levels deep cannot be sent")
    if (isS4(x))
        fail_argument("an S4 object cannot be sent")
    switch(typeof(x),
           "NULL" = "null",
           logical = , integer = , double = , complex = , character = encode_atomic(x, depth),
           raw = json_bytes(as.vector(unclass(x))),
           list = encode_list(x, depth),
           pairlist = encode_list(as.list(x), depth),
           closure = , builtin = , special = fail_argument("a function cannot be sent"),
           environment = fail_argument("an environment cannot be sent"),
           externalptr = , weakref = fail_argument("a pointer cannot be sent"),
           fail_argument("an expression cannot be sent"))
}
