# SPDX-License-Identifier: MIT
# ellmer: a session as a tool of a chat, and tools of ellmer as tools that code can call.
#
# ellmer is not needed by this package, and loaded by as_ellmer_tool() alone. Its objects are of S7,
# whose properties are attributes; they are read as such, so that neither S7 nor ellmer is needed to
# read them.

report_characters <- 20000L # of the output that a model is shown: the beginning, and the end
report_traceback <- 20L # lines
report_files <- 20L # names

property <- function(x, name) {
    value <- attr(x, name, exact = TRUE)
    if (is.symbol(value)) NULL else value # the form in which S7 keeps NULL
}

is_ellmer <- function(x, class) inherits(x, paste0("ellmer::", class))

# A function or a class of ellmer.
from_ellmer <- function(name) {
    framework <- "ellmer"
    if (!requireNamespace(framework, quietly = TRUE)) {
        fail("lazaret_error", paste0("as_ellmer_tool() needs the package ellmer, which is not ",
                                     "installed: install.packages(\"ellmer\")"))
    }
    getExportedValue(framework, name)
}

# ---- what a model is told ------------------------------------------------------------------------

shorten <- function(text) {
    size <- nchar(text)
    if (size <= report_characters)
        return(text)
    head <- report_characters * 2L %/% 3L
    tail <- report_characters %/% 3L
    paste0(substr(text, 1L, head), "\n[... ", size - head - tail, " characters left out ...]\n",
           substr(text, size - tail + 1L, size))
}

report_error <- function(result) {
    message <- conditionMessage(error_of_result(result))
    place <- if (is.numeric(result$error$line)) sprintf(" (line %.0f)", result$error$line) else ""
    lines <- utils::tail(as.character(unlist(result$error$traceback)), report_traceback)
    shorten(paste(c(paste0(result$verdict, ": ", message, place), lines), collapse = "\n"))
}

# A result as a text for a model: output, value or error, files, and whether state was lost.
report_of <- function(result) {
    files <- vapply(result$artifacts, function(artifact) {
        sprintf("%s (%s, %.0f bytes)", artifact$name, artifact$type, artifact$size)
    }, "")
    more <- length(files) - report_files
    files <- utils::head(files, report_files)
    parts <- c(
        if (!is.null(result$replaced))
            paste0("The session was started anew (", result$replaced, ") before this code ran: ",
                   "variables and files of before are gone."),
        if (length(result$output))
            shorten(paste(result$output, collapse = "\n")),
        if (result$truncated)
            "[the output is incomplete: a limit was reached]",
        if (result$verdict != "ok")
            report_error(result)
        else if (is_text(result$text) && (!is.null(result$value) || result$value_omitted))
            shorten(result$text),
        if (length(files))
            paste0("Files: ", paste(files, collapse = ", "),
                   if (more > 0) sprintf(", and %d more", more)),
        vapply(utils::head(result$artifacts_lost, report_files), function(lost) {
            paste0("The file ", lost$name, " is lost: ", lost$why)
        }, ""))
    if (length(parts)) paste(parts, collapse = "\n") else "(no output and no value)"
}

png_signature <- as.raw(c(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a))

is_png <- function(artifact) {
    identical(artifact$type, "image/png") && is.raw(artifact$data) &&
        identical(utils::head(artifact$data, 8L), png_signature)
}

# A tool as a line for a model.
signature_of <- function(tool) {
    words <- vapply(names(tool$parameters), function(name) {
        spec <- tool$parameters[[name]]
        paste0(name, ": ", word_of(spec$type),
               if (!is.null(spec$enum)) paste0(" in ", paste(format(spec$enum), collapse = " | ")),
               if (!is.null(spec$default)) paste0(" = ", deparse(spec$default)[1L])
               else if (!spec$required) " = NULL")
    }, "")
    paste0(tool$name, "(", paste(words, collapse = ", "), ")",
           if (length(tool$returns)) paste(" ->", type_text(tool$returns)),
           if (nzchar(tool$description)) paste0(": ", tool$description))
}

# The words for types that stand for all languages.
type_words <- c(string = "str", character = "str", number = "float", numeric = "float",
                integer = "int", boolean = "bool", logical = "bool", array = "list")

word_of <- function(type) {
    words <- type_words[type]
    ifelse(is.na(words), type, unname(words))
}

# A JSON Schema as a type that a model reads, as "{name: str, tags: [str]}".
type_text <- function(schema, depth = 0L) {
    if (!is.list(schema) || depth > 3L)
        return(if (is.list(schema)) "..." else "any")
    choices <- schema$anyOf %||% schema$oneOf
    if (!is.null(schema$enum))
        return(paste(vapply(schema$enum, encode_value, ""), collapse = " | "))
    if (is.list(choices))
        return(paste(unique(vapply(choices, type_text, "", depth + 1L)), collapse = " | "))
    if (length(schema$properties)) {
        names <- names(schema$properties)
        types <- vapply(schema$properties, type_text, "", depth + 1L)
        optional <- ifelse(names %in% unlist(schema$required), "", "?")
        return(paste0("{", paste0(names, optional, ": ", types, collapse = ", "), "}"))
    }
    if (length(schema$items))
        return(paste0("[", type_text(schema$items, depth + 1L), "]"))
    if (is.null(schema$type)) "any" else paste(word_of(unlist(schema$type)), collapse = " | ")
}

language_names <- c(r = "R", python = "Python", lua = "Lua",
                    javascript = "JavaScript or TypeScript")

code_description <- function(runtime, tools) {
    language <- if (runtime %in% names(language_names)) language_names[[runtime]] else runtime
    text <- paste0("Run ", language, " code in a sandbox without a network, and get its output ",
                   "and the value of its last expression. Variables last from one call to the ",
                   "next. Files that it saves in the directory `artifacts`, and its plots, are ",
                   "given to the user.")
    if (length(tools)) {
        calls <- if (runtime == "javascript")
            paste("The code can call these functions. Each gives a promise: await it, at the top",
                  "level too; calls in Promise.all run side by side. Arguments are given in this",
                  "order, or by name in one object.")
        else "The code can call these functions:"
        text <- paste(c(text, calls,
                        vapply(tools, signature_of, "", USE.NAMES = FALSE)), collapse = "\n")
    }
    text
}

# ---- a session as a tool of ellmer ---------------------------------------------------------------

as_ellmer_tool <- function(session, name = NULL, description = NULL, timeout = 30, deadline = NULL,
                           on_result = NULL) {
    if (!inherits(session, "lazaret_session"))
        fail_argument("`session` must be a session, as Session$new() makes them")
    check_handler(on_result, "on_result")
    make <- from_ellmer("tool")
    text_type <- from_ellmer("type_string")
    annotations <- from_ellmer("tool_annotations")
    state <- environment(session$execute)$state
    name <- name %||% paste0("run_", gsub("[^A-Za-z0-9_]", "_", state$runtime))
    run <- function(code) {
        result <- session$execute_result(code, timeout = timeout, deadline = deadline)
        if (!is.null(on_result))
            on_result(result)
        content_of(result)
    }
    description <- description %||% code_description(state$runtime, state$tools)
    make(run, name = name, description = description,
         arguments = list(code = text_type("the code to run")),
         annotations = annotations(title = "Run code in a sandbox", open_world_hint = FALSE))
}

# What ellmer gives to the model: a text, with pictures behind it. Code that fails is an error.
content_of <- function(result) {
    text <- report_of(result)
    if (result$verdict != "ok")
        fail("lazaret_tool_error", text, result = result)
    pictures <- Filter(is_png, result$artifacts)
    if (length(pictures) == 0L)
        return(text)
    picture <- from_ellmer("ContentImageInline")
    c(list(from_ellmer("ContentText")(text)), lapply(unname(pictures), function(artifact) {
        data <- gsub("\n", "", jsonlite::base64_enc(artifact$data), fixed = TRUE)
        picture(type = "image/png", data = data)
    }))
}

# ---- tools of ellmer as tools of sessions --------------------------------------------------------

basic_types <- c("string", "number", "integer", "boolean")

# Type and enumeration of a parameter.
type_of_ellmer <- function(type) {
    if (is_ellmer(type, "TypeBasic") && property(type, "type") %in% basic_types)
        return(list(type = property(type, "type")))
    if (is_ellmer(type, "TypeEnum"))
        return(list(type = "string", enum = I(as.character(property(type, "values")))))
    if (is_ellmer(type, "TypeObject"))
        return(list(type = "object"))
    # Many rows are a data frame in R, and a list of objects elsewhere.
    if (is_ellmer(type, "TypeArray") && !is_ellmer(property(type, "items"), "TypeObject"))
        return(list(type = "array"))
    if (is_ellmer(type, "TypeJsonSchema")) {
        name <- property(type, "json")$type
        if (is_text(name) && name %in% c(basic_types, "array", "object"))
            return(list(type = name))
    }
    list(type = "any")
}

# The members of an object, or of the rows of an array, for the model that writes code.
members_of_ellmer <- function(type) {
    rows <- is_ellmer(type, "TypeArray")
    object <- if (rows) property(type, "items") else type
    members <- if (is_ellmer(object, "TypeObject")) property(object, "properties")
    if (length(members) == 0L)
        return(character())
    words <- vapply(names(members), function(name) {
        paste0(name, if (isFALSE(property(members[[name]], "required"))) "?", ": ",
               type_of_ellmer(members[[name]])$type)
    }, "")
    text <- paste0("{", paste(words, collapse = ", "), "}")
    if (rows) paste0("a data frame or an array of ", text) else text
}

parameter_of_ellmer <- function(type) {
    about <- property(type, "description")
    spec <- type_of_ellmer(type)
    spec$description <- paste(c(if (is_text(about)) about, members_of_ellmer(type)), collapse = " ")
    spec$required <- !isFALSE(property(type, "required"))
    spec
}

# An argument as ellmer gives it to the function: rows as a data frame, enumerations as a factor.
argument_for_ellmer <- function(value, type) {
    if (!is_ellmer(type, "TypeArray"))
        return(value)
    if (inherits(value, "AsIs"))
        class(value) <- setdiff(oldClass(value), "AsIs")
    items <- property(type, "items")
    if (is_ellmer(items, "TypeEnum"))
        return(factor(as.character(value), levels = property(items, "values")))
    if (!is_ellmer(items, "TypeObject") || is.data.frame(value) || !is.list(value))
        return(value)
    names <- names(property(items, "properties"))
    columns <- lapply(names, function(name) {
        cells <- lapply(value, function(row) row[[name]] %||% NA)
        plain <- all(lengths(cells) == 1L) && all(vapply(cells, is.atomic, NA))
        if (plain) unlist(cells) else I(cells)
    })
    structure(columns, names = names, row.names = .set_row_names(length(value)),
              class = "data.frame")
}

# What a tool of ellmer has returned, as a value for the code.
value_from_ellmer <- function(value, name) {
    if (inherits(value, "promise")) {
        stop("the tool ", name, " answers later (it gives a promise), which code cannot wait for",
             call. = FALSE)
    }
    if (is_ellmer(value, "ContentToolResult")) {
        error <- property(value, "error")
        if (inherits(error, "condition"))
            stop(error)
        if (is_text(error))
            stop(error, call. = FALSE)
        return(value_from_ellmer(property(value, "value"), name))
    }
    if (is_ellmer(value, "ContentText"))
        return(property(value, "text"))
    if (is_ellmer(value, "ContentImageInline"))
        return(jsonlite::base64_dec(property(value, "data")))
    if (inherits(value, "json"))
        return(jsonlite::parse_json(value, simplifyVector = TRUE))
    if (is.list(value) && !is.object(value))
        return(lapply(value, value_from_ellmer, name))
    value
}

as_lazaret_tool <- function(tool, timeout = NULL, approve = FALSE, returns = NULL) {
    if (!is_ellmer(tool, "ToolDef"))
        fail_argument("`tool` must be a tool that ellmer::tool() has made")
    name <- property(tool, "name")
    types <- property(property(tool, "arguments"), "properties")
    types <- types[!vapply(types, is_ellmer, NA, "TypeIgnore")]
    converts <- !isFALSE(property(tool, "convert"))
    call <- function(...) {
        args <- list(...)
        if (converts)
            args <- Map(argument_for_ellmer, args, types[names(args)])
        value_from_ellmer(do.call(tool, args, quote = TRUE), name)
    }
    lazaret_tool(name, property(tool, "description"), call,
                 args = lapply(types, parameter_of_ellmer), timeout = timeout, approve = approve,
                 returns = returns)
}
