# SPDX-License-Identifier: MIT
# Functions of this program that code can call.

name_pattern <- "^[A-Za-z0-9_.-]{1,128}$"

# Types of parameters: those of lazaret, and R's words for them.
parameter_types <- c("string", "number", "integer", "boolean", "array", "object", "any", "numeric",
                     "character", "logical", "list", "data.frame")

lazaret_tool <- function(name, description = "", fn, args = NULL, timeout = NULL,
                         approve = FALSE, returns = NULL) {
    if (!is_text(name) || !grepl(name_pattern, name))
        fail_argument("the name of a tool must have 1 to 128 letters, digits, '_', '.' and '-'")
    if (!is_text(description))
        fail_argument("tool '", name, "': `description` must be one text")
    if (!is.function(fn))
        fail_argument("tool '", name, "': `fn` must be a function")
    if (!is_flag(approve))
        fail_argument("tool '", name, "': `approve` must be TRUE or FALSE")
    if (!is.null(returns) && (!is.list(returns) || is.null(names(returns))))
        fail_argument("tool '", name, "': `returns` must be a JSON Schema as a list with names")
    known <- formals(args(fn)) # of primitive functions, too
    if (is.null(args)) {
        words <- setdiff(names(known), "...")
        args <- structure(rep(list(NULL), length(words)), names = words)
    }
    args <- as.list(args)
    check_parameters(name, args, known)
    if (!is.null(timeout))
        timeout <- milliseconds(timeout, "timeout")
    structure(class = "lazaret_tool",
              list(name = name, description = description, fn = fn, args = args,
                   parameters = Map(parameter_of, names(args), args,
                                    list(known), list(name), USE.NAMES = TRUE),
                   timeout_ms = timeout, approve = approve, returns = returns))
}

check_parameters <- function(tool, args, known) {
    names <- names(args) %||% rep("", length(args))
    bytes <- nchar(enc2utf8(names), "bytes")
    if (any(bad <- bytes < 1L | bytes > 128L | grepl("[[:cntrl:]]", names))) {
        fail_argument("tool '", tool, "': parameter '", names[bad][1L],
                      "' must have a name of 1 to 128 bytes without control characters")
    }
    if (anyDuplicated(names))
        fail_argument("tool '", tool, "': two parameters have the name '",
                      names[duplicated(names)][1L], "'")
    unknown <- setdiff(names, names(known))
    if (length(unknown) && !("..." %in% names(known)))
        fail_argument("tool '", tool, "': its function has no parameter '", unknown[1L], "'")
}

# The default of a function's parameter, in a list of one, where it is a constant that a call can
# be checked against.
constant_default <- function(default, type) {
    if (is.call(default) && identical(default[[1L]], quote(`-`)) && length(default) == 2L &&
        is.numeric(default[[2L]]))
        default <- -default[[2L]]
    if (!is.atomic(default) || length(default) != 1L || is.object(default) || is.na(default))
        return(NULL)
    fits <- switch(type, any = TRUE,
                   numeric = , number = is.numeric(default),
                   integer = is.numeric(default) && default == trunc(default),
                   character = , string = is.character(default),
                   logical = , boolean = is.logical(default), FALSE)
    if (fits) list(default)
}

# A parameter as it is declared: a list with name, type, required, default, enum, format, description.
parameter_of <- function(name, spec, known, tool) {
    if (!is.list(spec))
        spec <- list(type = spec)
    type <- spec$type
    if (is.null(type) || identical(type, ""))
        type <- "any"
    if (!is_text(type) || !(type %in% parameter_types)) {
        fail_argument("tool '", tool, "': parameter '", name, "' has an unknown type; known are ",
                      paste(parameter_types, collapse = ", "))
    }
    unknown <- setdiff(names(spec),
                       c("type", "required", "default", "enum", "format", "description"))
    if (length(unknown))
        fail_argument("tool '", tool, "': parameter '", name, "' has an unknown key '",
                      unknown[1L], "'")
    spec$type <- type
    has_formal <- name %in% names(known)
    has_default <- has_formal && !identical(known[[name]], quote(expr = ))
    if (has_default && is.null(spec$default))
        spec$default <- unlist(constant_default(known[[name]], type))
    if (is.null(spec$required))
        spec$required <- !has_default && is.null(spec$default)
    spec
}

# `native`: for sessions of R alone.
declaration_of <- function(tool, native = FALSE) {
    parameters <- Map(function(name, spec) {
        members <- c(name = json_text(name), required = if (spec$required) "true" else "false")
        if (spec$type != "any")
            members["type"] <- json_text(spec$type)
        if (!is.null(spec$default))
            members["default"] <- encode_value(spec$default)
        if (!is.null(spec$enum))
            members["enum"] <- encode_array(spec$enum, 1L)
        if (!is.null(spec$format))
            members["format"] <- json_text(spec$format)
        if (!is.null(spec$description))
            members["description"] <- json_text(spec$description)
        json_object(members)
    }, names(tool$parameters), tool$parameters)
    json_object(c(name = json_text(tool$name), description = json_text(tool$description),
                  parameters = json_array(as.character(unlist(parameters))),
                  returns = if (!is.null(tool$returns)) encode_value(tool$returns),
                  timeout_ms = tool$timeout_ms, approve = if (tool$approve) "true",
                  native = if (native) "true"))
}

json_object <- function(members) {
    paste0("{", paste0("\"", names(members), "\":", members, collapse = ","), "}")
}

# An argument from the server as the function expects it.
argument_of <- function(x, type) {
    value <- decode(x)
    if (type == "integer" && is.double(value) && !is.object(value) &&
        isTRUE(abs(value) <= .Machine$integer.max))
        return(as.integer(value))
    if (type == "list" && !is.data.frame(value) && !is.list(value))
        return(as.list(if (inherits(value, "AsIs")) decode_column(x) else value))
    value
}

call_tool <- function(tool, args) {
    given <- intersect(names(tool$parameters), names(args))
    values <- lapply(given, function(name) argument_of(args[[name]], tool$parameters[[name]]$type))
    names(values) <- given
    do.call(tool$fn, values, quote = TRUE)
}

# Tools by name, of a list of tools, or of functions with names.
make_tools <- function(tools) {
    if (inherits(tools, "lazaret_tool"))
        tools <- list(tools)
    if (!is.list(tools))
        fail_argument("`tools` must be a list of tools, as lazaret_tool() makes them")
    keys <- names(tools) %||% rep("", length(tools))
    made <- Map(function(tool, key) {
        if (inherits(tool, "lazaret_tool"))
            return(tool)
        if (is_ellmer(tool, "ToolDef"))
            return(as_lazaret_tool(tool))
        if (!is.function(tool) || !nzchar(key))
            fail_argument("`tools` must have tools, as lazaret_tool() makes them, or functions ",
                          "with names")
        lazaret_tool(key, "", tool)
    }, tools, keys)
    names <- vapply(made, function(tool) tool$name, "", USE.NAMES = FALSE)
    if (anyDuplicated(names))
        fail_argument("two tools have the name '", names[duplicated(names)][1L], "'")
    structure(made, names = names)
}

format.lazaret_tool <- function(x, ...) {
    types <- vapply(x$parameters, function(spec) spec$type, "")
    words <- if (length(types)) paste0(names(types), " = ", types, collapse = ", ") else ""
    paste0("<lazaret_tool> ", x$name, "(", words, ")")
}

print.lazaret_tool <- function(x, ...) {
    cat(format(x), "\n", sep = "")
    if (nzchar(x$description))
        cat("  ", x$description, "\n", sep = "")
    if (x$approve)
        cat("  Each call needs an approval.\n")
    invisible(x)
}
