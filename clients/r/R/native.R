# SPDX-License-Identifier: MIT
# The form {"$r": ...} of values that go from R to R: a type, values and attributes, as values-r.md of
# lazaret has them. The runtime for R reads and writes it as well.

# Are values in this form in sessions of this language?
is_native <- function(runtime) identical(runtime, "r")

# Classes whose objects are no more than their data and attributes.
native_classes <- c("factor", "ordered", "table", "ts", "mts", "matrix", "array", "Date", "POSIXct",
                    "POSIXt", "difftime", "data.frame", "AsIs", "noquote")

# What a vector has besides its values: attributes that can be written, and the classes that cannot.
native_rest <- function(x) {
    all <- attributes(x)
    class <- all$class
    attributes(class) <- NULL # so that no method of code runs
    all$class <- NULL
    left <- class[!(class %in% native_classes)]
    all <- all[vapply(all, function(a) is.null(a) || is.atomic(a) || is.list(a), NA)]
    if ("data.frame" %in% class && .row_names_info(x) < 0L)
        all$row.names <- as.double(.row_names_info(x, 2L)) # they are numbered
    if (!is.null(all$dim))
        all$dim <- as.double(all$dim)
    kept <- class[class %in% native_classes]
    list(c(all, if (length(kept)) list(class = kept)), left)
}

# ---- reading -------------------------------------------------------------------------------------

native_value <- function(type, values, attributes) {
    stopifnot(type %in% c("logical", "integer", "double", "character", "complex", "raw", "list"))
    if (inherits(values, "AsIs"))
        class(values) <- NULL
    if (!length(values))
        values <- vector(type, 0L)
    if (type == "integer")
        stopifnot(is.numeric(values), all(values == trunc(values), na.rm = TRUE),
                  all(abs(values) <= .Machine$integer.max, na.rm = TRUE))
    stopifnot(type == "list" || (is.atomic(values) && is.null(attributes(values))))
    values <- as.vector(values, type)
    names(values) <- NULL
    class <- attributes[["class"]]
    attributes[["class"]] <- NULL
    if ("data.frame" %in% class)
        attributes[["row.names"]] <- native_rows(values, attributes)
    stopifnot(length(values) || prod(pmax(1, as.numeric(attributes[["dim"]]))) <= 1e6)
    for (name in c(intersect("dim", names(attributes)), setdiff(names(attributes), "dim")))
        attr(values, name) <- attributes[[name]]
    stopifnot(is.null(attributes[["names"]]) || length(attributes[["names"]]) == length(values))
    if (is.null(class))
        return(values)
    stopifnot(is.character(class), all(class %in% native_classes), native_class_fits(values, class))
    oldClass(values) <- class
    values
}

native_rows <- function(columns, attributes) {
    rows <- attributes[["row.names"]]
    n <- if (is.double(rows) && length(rows) == 1L) rows else length(rows)
    stopifnot(is.list(columns), length(attributes[["names"]]) == length(columns), n == trunc(n),
              n >= 0, !anyNA(rows), # two of them may be R's own form of any number
              vapply(columns, function(x) if (length(dim(x)) == 2L || is.data.frame(x)) dim(x)[1L]
                                          else length(x), 0) == n)
    if (is.double(rows)) .set_row_names(as.integer(n)) else rows
}

# Nothing of a class can be a lie that R's own methods trust.
native_class_fits <- function(x, class) {
    is <- function(name) any(name %in% class)
    levels <- attr(x, "levels")
    (!is(c("factor", "ordered")) || (is.integer(x) && is.character(levels) &&
        !anyDuplicated(levels) && all(x >= 1L & x <= length(levels), na.rm = TRUE))) &&
        (!is(c("Date", "POSIXct", "POSIXt", "difftime", "ts", "mts")) || is.numeric(x) ||
            is.logical(x)) &&
        (!is("POSIXct") || native_zone_fits(attr(x, "tzone"))) &&
        (!is("difftime") || (is.character(attr(x, "units")) && length(attr(x, "units")) == 1L)) &&
        (!is(c("ts", "mts")) || length(attr(x, "tsp")) == 3L) &&
        (!is(c("table", "matrix", "array")) || !is.null(dim(x))) &&
        (!is("data.frame") || is.list(x))
}

# Is it no path? To print a time opens the file that its zone names.
native_zone_fits <- function(zone) {
    is.null(zone) || (is.character(zone) && !anyNA(zone) && !any(grepl("^[:/\\\\]|[.][.]", zone)))
}

# The content of a $r, as the parser has made it. One that does not fit is an error.
decode_native <- function(x) {
    type <- x[["type"]]
    content <- x[["values"]]
    need(is_text(type) && !is.null(content))
    values <- if (type == "list") lapply(content, decode)
              else if (type == "raw") decode(content)
              else decode_column(content)
    value <- native_value(type, values, lapply(as.list(x[["attributes"]]), decode))
    warn_left(as.character(unlist(x[["left"]])))
    value
}

# Each class that is left out is told once.
warn_left <- function(classes) {
    classes <- setdiff(classes, the$left)
    classes <- classes[seq_len(min(length(classes), 101L - length(the$left)))]
    if (length(classes) == 0L)
        return()
    the$left <- c(the$left, classes)
    warning("values of class ", paste0("'", encodeString(classes), "'", collapse = ", "),
            " go between sessions and this program as their data", call. = FALSE)
}

# ---- writing -------------------------------------------------------------------------------------

own_forms <- c("integer64", "lazaret_int", "lazaret_map", "POSIXlt")

# Would a reader make a vector of a list, or merge elements of it?
list_would_merge <- function(x) {
    one <- vapply(x, function(e) is.atomic(e) && !is.null(e) && !is.raw(e) && length(e) == 1L, NA)
    length(x) > 0L && (all(one) || any(one & vapply(x, is.object, NA)))
}

is_ordinary <- function(x) {
    names <- names(x)
    if (!all(names(attributes(x)) %in% "names"))
        return(FALSE)
    if (is.list(x))
        return(if (is.null(names)) !list_would_merge(x)
               else length(x) > 0L && names_are_keys(to_utf8(names)))
    is.null(names) && (is.raw(x) || (!is.integer(x) && length(x) > 0L))
}

# The JSON text of a value that R reads.
encode_native <- function(x, depth = 1L) {
    is_vector <- typeof(x) %in% c("logical", "integer", "double", "complex", "character", "raw",
                                  "list")
    if (depth > max_depth || isS4(x) || !is_vector || inherits(x, own_forms))
        return(if (inherits(x, "POSIXlt")) encode_native(as.POSIXct(x), depth)
               else encode_value(x, depth))
    encode_all <- function(x, more) {
        vapply(x, encode_native, "", depth + more, USE.NAMES = FALSE)
    }
    if (is_ordinary(x)) {
        if (!is.list(x))
            return(encode_value(x, depth))
        return(if (is.null(names(x))) json_array(encode_all(x, 1L))
               else json_members(names(x), encode_all(x, 1L)))
    }
    rest <- native_rest(x)
    warn_left(rest[[2L]])
    values <- unclass(x)
    attributes(values) <- NULL
    members <- c(type = json_text(typeof(x)),
                 values = if (is.list(x)) json_array(encode_all(values, 3L))
                          else if (is.raw(x)) json_bytes(values)
                          else json_array(encode_elements(values)))
    if (length(rest[[1L]]))
        members["attributes"] <- json_members(names(rest[[1L]]), encode_all(rest[[1L]], 3L))
    paste0("{\"$r\":", json_object(members), "}")
}

json_members <- function(names, values) {
    paste0("{", paste0(quote_json(to_utf8(names)), ":", values, recycle0 = TRUE, collapse = ","),
           "}")
}
