# SPDX-License-Identifier: MIT
# r_support.R - the part of the R runtime that is written in R.
#
# Evaluated once, at the start, in an environment of its own below the base namespace, so that the
# code cannot redefine anything in it. The plugin adds its routines `note_error`, `call_named` and
# `map_tool`. The build turns this file into a C string: keep it short and free of side effects.

srcfile <- NULL # of the running code

# R's own message about code that does not parse: list(message, line, column).
parse_error <- function(code) {
    text <- tryCatch({
        parse(text = code, keep.source = FALSE, encoding = "UTF-8")
        "the code cannot be parsed"
    }, error = conditionMessage)
    at <- regexpr("<(text|input)>:[0-9]+:[0-9]+", text)
    if (at < 0L)
        return(list(text, 0L, 0L))
    place <- strsplit(regmatches(text, at), ":", fixed = TRUE)[[1L]]
    text <- sub("^<text>:[0-9]+:[0-9]+: ", "", text)
    list(text, as.integer(place[2L]), as.integer(place[3L]))
}

# Before each execution: sets the handlers that see an error while its frames exist. They are R's
# global handlers, to which code may have added; each top level starts without them. If there is no
# other handler, `begin_usual` does the same and is evaluated without a call.
begin <- function() {
    .Internal(seterrmessage(""))
    handlers <- globalCallingHandlers()
    if (!any(vapply(handlers, identical, NA, on_error)))
        handlers <- c(handlers, only_ours)
    .Internal(.addGlobHands(names(handlers), handlers, .GlobalEnv, NULL, TRUE))
}

begin_usual <- quote({
    .Internal(seterrmessage(""))
    .Internal(.addGlobHands("error", only_ours, .GlobalEnv, NULL, TRUE))
})

# What a message that there is no function or object of a name lacks: the tools that are called so,
# as they are declared or as another language writes them.
tool_meant <- function(message) {
    found <- regmatches(message, regexec("(?:find function \"|object ')([^\"']+)[\"']", message,
                                         perl = TRUE))[[1L]]
    if (length(found) < 2L)
        return("")
    name <- found[2L]
    env <- as.environment("lazaret:tools")
    tools <- Filter(function(f) !is.null(attr(f, "original")), mget(ls(env), envir = env))
    declared <- vapply(tools, attr, "", "original")
    plain <- function(x) gsub("[^[:alnum:]]", "", tolower(x))
    meant <- names(tools)[plain(declared) == plain(name) | plain(names(tools)) == plain(name)]
    if (!length(meant))
        meant <- names(tools)[startsWith(declared, paste0(name, ".")) |
                              startsWith(declared, paste0(name, "-"))]
    if (!length(meant))
        return("")
    paste0("; here it is ", paste(meant[seq_len(min(3L, length(meant)))], collapse = " or "),
           if (length(meant) > 3L) ", ...")
}

on_error <- function(e) {
    frames <- sys.calls()
    line <- 0L
    for (frame in rev(frames)) {
        ref <- attr(frame, "srcref")
        if (!is.null(ref) && identical(attr(ref, "srcfile"), srcfile)) {
            line <- ref[1L]
            break
        }
    }
    # This function is the last frame; the one before may be R's call of it.
    n <- length(frames) - 1L
    if (n > 0L && identical(frames[[n]][[1L]], quote(.handleSimpleError)))
        n <- n - 1L
    if (n > 1L && inherits(e, c("lazaret_tool_error", "lazaret_no_sockets")))
        n <- n - 2L # fail_tool() or need_sockets(), and its stop()
    trace <- show_calls(frames[seq_len(n)])
    call <- conditionCall(e)
    if (!is.null(call)) {
        call <- show_call(call)
        if (!call %in% last_two(trace))
            trace <- c(trace, call)
    }
    message <- paste(conditionMessage(e), collapse = "\n")
    .Call(note_error, paste0(message, tool_meant(message)), line, trace)
    # What options(error = ) names is run by R itself, after its own message: it may quit.
    if (is.null(getOption("error")))
        invokeRestart("abort")
}

only_ours <- list(error = on_error)

# R's function for it loads package utils, which the settings may leave out. Then it is done as there.
set_handler <- function() {
    if (isNamespaceLoaded("utils"))
        return(globalCallingHandlers(error = on_error))
    assign("gh", only_ours, envir = environment(globalCallingHandlers))
    .Internal(.addGlobHands("error", only_ours, .GlobalEnv, NULL, TRUE))
}

last_two <- function(x) x[seq_along(x) > length(x) - 2L]

show_call <- function(call) {
    text <- tryCatch(deparse(call, width.cutoff = 120L, nlines = 2L), error = function(e) "<call>")
    line <- text[1L]
    if (length(text) > 1L || nchar(line, "bytes") > 200L)
        line <- paste(substr(line, 1L, 160L), "...")
    line
}

show_calls <- function(frames) {
    n <- length(frames)
    if (n <= 50L)
        return(vapply(frames, show_call, "", USE.NAMES = FALSE))
    c(vapply(frames[1:10], show_call, ""), sprintf("... (%d calls left out)", n - 40L),
      vapply(frames[(n - 29L):n], show_call, ""))
}

# The text for a value that cannot leave R.
represent <- function(x) {
    text <- if (is.environment(x)) {
        if (is.null(attr(x, "class"))) "<environment>"
        else sprintf("<environment of class \"%s\">", class(x)[1L])
    } else if (isS4(x)) {
        sprintf("<S4 object of class \"%s\">", class(x)[1L])
    } else if (inherits(x, "lazaret_tool")) {
        sprintf("<tool %s>", help_text(x)[1L])
    } else if (typeof(x) %in% c("externalptr", "weakref")) {
        sprintf("<%s>", typeof(x))
    } else {
        deparse(x, control = c("keepNA", "keepInteger", "showAttributes", "useSource"),
                nlines = 50L)
    }
    paste(text, collapse = "\n")
}

as_instant <- function(x) as.POSIXct.POSIXlt(x)

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

# The value of a $r, or NULL where its content does not fit.
native <- function(x) {
    tryCatch(native_value(x$type, x$values, x$attributes), error = function(e) NULL)
}

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
        (!is("difftime") || (is.character(attr(x, "units")) && length(attr(x, "units")) == 1L)) &&
        (!is(c("ts", "mts")) || length(attr(x, "tsp")) == 3L) &&
        (!is(c("table", "matrix", "array")) || !is.null(dim(x))) &&
        (!is("data.frame") || is.list(x))
}

# Turns a list of scalars of one type and NULLs into a vector, with NA for NULL; other lists are
# unchanged.
simplify <- function(x) {
    empty <- vapply(x, is.null, NA)
    if (!all(empty | lengths(x) == 1L) || !all(vapply(x[!empty], is.atomic, NA)))
        return(x)
    if (all(empty))
        return(rep(NA, length(x)))
    first <- x[!empty][[1L]]
    same <- vapply(x[!empty], function(e) identical(attributes(e), attributes(first)) &&
                       typeof(e) == typeof(first), NA)
    if (!all(same))
        return(x)
    # Without a class, whose methods want more than a number for an element (of POSIXct an origin).
    values <- rep(as.vector(unclass(first)), length(x))
    values[!empty] <- unlist(x[!empty], use.names = FALSE)
    values[empty] <- NA
    attributes(values) <- attributes(first)
    values
}

# Converts the content of a $map: to a named list when all keys are strings, else to separate lists
# of keys and values. NULL when it is not a list of pairs.
as_map <- function(pairs) {
    pairs <- as.list(pairs)
    if (!all(lengths(pairs) == 2L))
        return(NULL)
    keys <- lapply(pairs, function(p) p[[1L]])
    values <- lapply(pairs, function(p) p[[2L]])
    if (all(vapply(keys, function(k) is.character(k) && length(k) == 1L && !is.object(k), NA)))
        return(structure(values, names = vapply(keys, identity, "")))
    structure(list(keys = keys, values = values), class = "lazaret_map")
}

# Raises the failure of a tool call as a condition that code can catch by class.
tool_condition <- function(message, tool, call, ...) {
    structure(class = c("lazaret_tool_error", "error", "condition"),
              list(message = message, call = call, tool = tool, ...))
}

fail_tool <- function(message, tool, call, index) {
    stop(if (is.null(index)) tool_condition(message, tool, call)
         else tool_condition(message, tool, call, index = index))
}

# The same for tool_map, after all answers: which calls failed, and the values of the others.
fail_map <- function(message, tool, call, rest) {
    failed <- rest[[1L]]
    message <- sprintf("tool_map: call %d of %d: %s", failed[1L], length(rest[[2L]]), message)
    if (length(failed) > 1L)
        message <- sprintf("%s (and %d more failed)", message, length(failed) - 1L)
    stop(tool_condition(message, tool, call, index = failed[1L], failed = failed,
                        results = rest[[2L]]))
}

# The arguments of each call of tool_map: elements of the vectors, which are recycled, and `more`.
map_arguments <- function(args, more) {
    lens <- lengths(args)
    n <- if (length(lens)) max(lens) else 0L
    if (n > 0L && any(lens == 0L))
        stop("tool_map: vectors without elements cannot be mixed with others", call. = FALSE)
    if (n > 0L && any(n %% lens != 0L))
        warning("tool_map: the longest vector is not a multiple of the others", call. = FALSE)
    more <- as.list(more)
    lapply(seq_len(n), function(i) {
        c(lapply(args, function(a) a[[(i - 1L) %% length(a) + 1L]]), more)
    })
}

# The names of the result of tool_map, as mapply() gives them.
map_names <- function(args) {
    first <- args[[1L]]
    if (is.null(names(first)) && is.character(first)) first else names(first)
}

# The lines of the help of a tool. They are made when somebody wants them.
help_text <- function(f) {
    if (!is.null(attr(f, "help")))
        return(attr(f, "help"))
    about <- attr(f, "about")
    args <- formals(f)
    usage <- vapply(names(args), function(n) {
        if (identical(args[[n]], quote(expr = ))) n else paste(n, "=", deparse1(args[[n]]))
    }, "")
    text <- paste0(attr(f, "tool"), "(", paste(usage, collapse = ", "), ")")
    if (nzchar(about$description))
        text <- c(text, paste0("    ", about$description))
    notes <- paste0(about$types, ifelse(nzchar(about$types), ", ", ""),
                    ifelse(about$required, "required", "optional"))
    texts <- about$descriptions
    c(text, if (length(args)) sprintf("    %s (%s)%s", names(args), notes,
                                      ifelse(nzchar(texts), paste0(": ", texts), "")),
      if (nzchar(about$returns)) paste("    returns", about$returns))
}

# Makes a tool visible to the code: a locked function in the search path, as those of a package are.
# The global environment is the code's own: it can be listed, cleared, saved and loaded.
publish <- function(name, f) {
    env <- as.environment("lazaret:tools")
    assign(name, f, envir = env)
    lockBinding(name, env)
}

publish_tool <- function(name, original, description, f, types, descriptions, required,
                         returns) {
    attr(f, "about") <- list(description = description, types = types,
                             descriptions = descriptions, required = required,
                             returns = returns)
    attr(f, "tool") <- name
    attr(f, "original") <- original
    class(f) <- c("lazaret_tool", "function")
    publish(name, f)
}

attach_tools <- function() {
    attach(NULL, pos = 2L, name = "lazaret:tools", warn.conflicts = FALSE)
    call_named <- call_named # keep the routine, not this environment
    by_name <- eval(substitute(function(name, ...) .Call(routine, name, list(...), sys.call()),
                               list(routine = call_named)), baseenv())
    publish(".lazaret_call_tool", by_name)
    map <- eval(substitute(function(.tool, ..., .more = NULL)
        .Call(routine, .tool, list(...), .more, sys.call()), list(routine = map_tool)), baseenv())
    attr(map, "help") <- c("tool_map(.tool, ..., .more = NULL)",
        "    Calls a tool for each element of the vectors or lists in `...`, as Map() does, and",
        "    gives the list of the results. The calls run side by side.",
        "    .tool: the tool, or its name",
        "    .more: a list of arguments that are the same in every call")
    class(map) <- c("lazaret_tool", "function")
    publish("tool_map", map)
    publish_help()
    f <- unlockBinding
    body(f) <- bquote({
        if (identical(env, .(as.environment("lazaret:tools"))))
            stop("unlockBinding is not permitted for tools")
        .(body(f))
    })
    replace_function("unlockBinding", f, list(baseenv()))
}

# Puts a function in the place of one of a package, in each of these environments.
replace_function <- function(name, f, environments) {
    for (env in environments) {
        .Internal(unlockBinding(as.name(name), env))
        assign(name, f, envir = env)
        lockBinding(name, env)
    }
}

# The tool that help() or ? is asked for: a name, a text, or a call; NULL: it is none.
topic_tool <- function(topic) {
    if (is.call(topic))
        topic <- topic[[1L]]
    if (!is.symbol(topic) && !(is.character(topic) && length(topic) == 1L))
        return(NULL)
    env <- as.environment("lazaret:tools")
    tool <- get0(as.character(topic), envir = env, inherits = FALSE)
    if (inherits(tool, "lazaret_tool"))
        return(tool)
    for (name in ls(env)) { # by the name that the host knows
        if (identical(attr(env[[name]], "original"), as.character(topic)))
            return(env[[name]])
    }
}

# help(NAME) and ?NAME are about tools first. Of anything else R speaks. Both
# belong to package utils, which the settings may leave out.
publish_help <- function() {
    if (!"package:utils" %in% search())
        return(NULL)
    topics <- c(help = "topic", "?" = "e1")
    places <- list(asNamespace("utils"), as.environment("package:utils"))
    for (word in names(topics)) {
        f <- getExportedValue("utils", word)
        topic <- as.name(topics[[word]])
        body(f) <- bquote({
            .lazaret_tool <- if (!missing(.(topic))) .(topic_tool)(substitute(.(topic)))
            if (!is.null(.lazaret_tool))
                return(.lazaret_tool)
            .(body(f))
        })
        replace_function(word, f, places)
    }
}

# In the place of a pager: what help(), vignette(), data() and file.show() have to show is printed,
# without the marks of underlined titles.
show_files <- function(files, header, title, delete.file) {
    for (i in seq_along(files)) {
        if (nzchar(header[i]))
            cat(header[i], "\n\n", sep = "")
        text <- if (file.exists(files[i])) readLines(files[i], warn = FALSE)
                else c(paste("NO FILE", files[i]), "")
        cat(paste0(gsub("_\b", "", text, fixed = TRUE), "\n"), "\n", sep = "")
    }
    if (delete.file)
        unlink(files)
}

print_tool <- function(x, ...) {
    cat(help_text(x), sep = "\n")
    invisible(x)
}

print_int <- function(x, ...) {
    print(unclass(x), quote = FALSE)
    invisible(x)
}

# Functions that cannot work without sockets say so, and what works. By themselves they name a port,
# or wait for workers that cannot connect. By package, which is changed when it is loaded.
with_sockets <- list(parallel = c("makePSOCKcluster", "makeForkCluster"),
                     parallelly = "makeClusterPSOCK") # future's multisession calls it

need_sockets <- function() {
    socket <- tryCatch(serverSocket(0L), error = function(e) NULL)
    if (!is.null(socket))
        return(close(socket))
    stop(structure(class = c("lazaret_no_sockets", "error", "condition"), list(
        message = paste("a cluster needs sockets, which this sandbox does not have; mclapply(),",
                        "pvec() and mcparallel() of package parallel work"),
        call = sys.call(-1L))))
}

guard_package <- function(package, ...) {
    ns <- asNamespace(package)
    for (name in intersect(with_sockets[[package]], names(ns))) {
        f <- ns[[name]]
        body(f) <- call("{", as.call(list(need_sockets)), body(f))
        replace_function(name, f, list(ns))
    }
}

# Does R treat text without an encoding mark as UTF-8?
native_is_utf8 <- function(...) l10n_info()[["UTF-8"]]

# ---- figures: what is drawn without a device becomes artifacts ----

figures <- 0L         # devices that were opened for it
open_figures <- NULL  # their numbers, while they are open

# The device that R opens when there is none. Each of its pages is a file.
open_figure <- function(...) {
    directory <- Sys.getenv("LAZARET_ARTIFACTS")
    figures <<- figures + 1L
    name <- function(suffix) file.path(directory, sprintf("figure-%d-%%d.%s", figures, suffix))
    if (capabilities("cairo"))
        grDevices::png(name("png"), width = 7, height = 7, units = "in", res = 96, type = "cairo")
    else
        grDevices::pdf(name("pdf"), onefile = FALSE)
    open_figures <<- c(open_figures, grDevices::dev.cur())
}

# Is this path below the directory of artifacts?
is_artifact <- function(path) {
    below <- function(path) paste0(normalizePath(path, mustWork = FALSE), "/")
    directory <- Sys.getenv("LAZARET_ARTIFACTS")
    nzchar(directory) && is.character(path) && startsWith(below(dirname(path)), below(directory))
}

# After an execution: files of devices are complete when they are closed.
close_devices <- function(...) {
    for (device in grDevices::dev.list())
        if (device %in% open_figures || is_artifact(attr(.Devices[[device]], "filepath")))
            try(grDevices::dev.off(device), silent = TRUE)
    open_figures <<- NULL
}

# The compiler takes longer to compile one function than this runtime takes to set itself up. So it
# is off meanwhile, and then again what it was: R's default, or what R_ENABLE_JIT says. It is on before
# code of packages runs, which may change it.
jit <- 0L # the level to return to, while it is off

pause_jit <- function(...) {
    level <- .Internal(enableJIT(-1L)) # only tells it
    if (level > 0L) {
        .Internal(enableJIT(0L))
        jit <<- level
    }
}

resume_jit <- function(...) {
    if (jit > 0L)
        .Internal(enableJIT(jit))
    jit <<- 0L
}

# Called once, when R has started.
set_up <- function(libs, packages) {
    pause_jit()
    options(keep.parse.data = FALSE, pager = show_files)
    if (nzchar(Sys.getenv("LAZARET_ARTIFACTS")))
        options(device = open_figure)
    Sys.setenv(R_LIBS_USER = "")
    registerS3method("print", "lazaret_tool", print_tool, envir = baseenv())
    registerS3method("print", "lazaret_int", print_int, envir = baseenv())
    set_handler()
    for (package in names(with_sockets)) {
        if (isNamespaceLoaded(package))
            guard_package(package)
        setHook(packageEvent(package, "onLoad"), guard_package)
    }
    if (length(libs))
        .libPaths(c(libs, .libPaths()))
    missing <- setdiff(paste0("package:", getOption("defaultPackages")), c(search(), "package:"))
    if (length(missing)) # R only warns
        stop("default_packages: there is no package ", toString(sub(".*:", "", missing)))
    if (length(packages))
        resume_jit()
    for (package in packages)
        suppressPackageStartupMessages(library(package, character.only = TRUE))
}

# Called once in a template: loads namespaces without attaching them.
preload <- function(packages) {
    resume_jit()
    for (package in packages)
        tryCatch(suppressPackageStartupMessages(loadNamespace(package)),
                 error = function(e) stop(package, ": ", conditionMessage(e), call. = FALSE))
}

# Does in advance what a session does at its start and for each execution: R compiles a function at
# its second use, and loads its compiler for the first one compiled. Removes seeds that a package
# has made; each session then makes its own from the time and the process id.
warm_up <- function(...) {
    resume_jit()
    for (i in 1:3) {
        publish_tool("lazaret", "lazaret", "", function(x) x, "string", "", TRUE, "")
        .Internal(unlockBinding(quote(lazaret), as.environment("lazaret:tools")))
        rm("lazaret", envir = as.environment("lazaret:tools"))
        renew()
    }
    if (exists(".Random.seed", globalenv(), inherits = FALSE))
        rm(".Random.seed", envir = globalenv())
}

# Called in each copy of a template. The template's directory of temporary files does not exist
# here.
renew <- function(...) tempdir(check = TRUE)
