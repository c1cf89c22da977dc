# SPDX-License-Identifier: MIT
# The adapter for ellmer, with the program. ellmer is a stand-in: a package of that name, which is
# made here, with the functions, the classes and the properties that ellmer 0.4 has. It calls a tool
# as ellmer does. docs/adapters.md says the same.
source(file.path("support", "helper.R"))

standin <- c(
    # As S7 has them: properties are attributes, and the first class is that of the package.
    "object <- function(class, ..., base = list(), parents = character()) {",
    "    classes <- c(paste0('ellmer::', c(class, parents)), 'S7_object')",
    "    if (is.function(base)) classes <- append(classes, 'function', 1L)",
    "    kept <- lapply(list(...), function(x) if (is.null(x)) as.name('\\001NULL\\001') else x)",
    "    attributes(base) <- c(attributes(base), kept, list(class = classes))",
    "    base",
    "}",
    "basic <- function(type) {",
    "    force(type)",
    "    function(description = NULL, required = TRUE)",
    "        object('TypeBasic', type = type, description = description, required = required,",
    "               parents = 'Type')",
    "}",
    "type_boolean <- basic('boolean')",
    "type_integer <- basic('integer')",
    "type_number <- basic('number')",
    "type_string <- basic('string')",
    "type_enum <- function(values, description = NULL, required = TRUE)",
    "    object('TypeEnum', values = values, description = description, required = required)",
    "type_array <- function(items, description = NULL, required = TRUE)",
    "    object('TypeArray', items = items, description = description, required = required)",
    "type_object <- function(.description = NULL, ..., .required = TRUE)",
    "    object('TypeObject', properties = list(...), description = .description,",
    "           required = .required)",
    "type_ignore <- function() object('TypeIgnore', required = TRUE)",
    "type_from_schema <- function(text)",
    "    object('TypeJsonSchema', json = jsonlite::parse_json(text), required = TRUE)",
    "tool_annotations <- function(title = NULL, ...) list(title = title, ...)",
    "tool_reject <- function(reason = 'no') {",
    "    stop(structure(class = c('ellmer_tool_reject', 'error', 'condition'),",
    "                   list(message = paste('Tool call rejected.', reason), call = NULL)))",
    "}",
    "tool <- function(fun, description, ..., arguments = list(), name = NULL, convert = TRUE,",
    "                 annotations = list()) {",
    "    stopifnot(setequal(names(arguments), names(formals(fun))), is.character(description))",
    "    shown <- Filter(function(type) !inherits(type, 'ellmer::TypeIgnore'), arguments)",
    "    object('ToolDef', base = fun, name = name, description = description, convert = convert,",
    "           arguments = do.call(type_object, shown), annotations = annotations)",
    "}",
    "ContentText <- function(text) object('ContentText', text = text, parents = 'Content')",
    "ContentImageInline <- function(type, data)",
    "    object('ContentImageInline', type = type, data = data,",
    "           parents = c('ContentImage', 'Content'))",
    "ContentToolResult <- function(value = NULL, error = NULL)",
    "    object('ContentToolResult', value = value, error = error, parents = 'Content')",
    # What a chat does with a request of a model.
    "invoke <- function(tool, arguments) {",
    "    tryCatch(ContentToolResult(value = do.call(tool, arguments)),",
    "             error = function(e) ContentToolResult(error = e))",
    "}")

library_of_standin <- function() {
    source <- file.path(tempfile(), "ellmer")
    dir.create(file.path(source, "R"), recursive = TRUE)
    writeLines(c("Package: ellmer", "Version: 0.4.2", "Title: A Stand-in", "License: MIT",
                 "Description: For the tests of lazaret.", "Author: lazaret",
                 "Maintainer: lazaret <lazaret@example.org>"), file.path(source, "DESCRIPTION"))
    writeLines("exportPattern('^[^.]')", file.path(source, "NAMESPACE"))
    writeLines(standin, file.path(source, "R", "ellmer.R"))
    made <- tempfile()
    dir.create(made)
    utils::install.packages(source, lib = made, repos = NULL, type = "source", quiet = TRUE)
    made
}

need_program()
server <- lazaret_server()
with_session <- function(use, ..., runtime = "r") {
    session <- Session$new(..., runtime = runtime, server = server)
    on.exit(session$close())
    use(session)
}
property <- internal("property")

framework <- "ellmer"
if (!nzchar(system.file(package = framework))) {
    test("without ellmer the error says what to install", with_session(function(s) {
        raised(as_ellmer_tool(s), "lazaret_error", "install.packages\\(\"ellmer\"\\)")
    }))
}
.libPaths(c(library_of_standin(), .libPaths())) # before another ellmer, if there is one
library(framework, character.only = TRUE)

value_of <- function(tool, code) {
    result <- invoke(tool, list(code = code))
    error <- property(result, "error")
    if (!is.null(error))
        stop(error)
    property(result, "value")
}

test("a session is a tool of a chat", with_session(function(s) {
    tool <- as_ellmer_tool(s)
    same(property(tool, "name"), "run_r")
    check(grepl("^Run R code in a sandbox", property(tool, "description")))
    same(value_of(tool, "cat('hello\\n'); x <- 2; x * 3"), "hello\n[1] 6")
    same(value_of(tool, "x"), "[1] 2")
    check(grepl("^\\[\\[1\\]\\]", value_of(tool, "Reduce(function(x, i) list(x), 1:60, 1)")))
    same(value_of(tool, "invisible(NULL)"), "(no output and no value)")
}))

test("failures are errors with what was printed", with_session(function(s) {
    results <- list()
    keep <- function(r) results <<- c(results, list(r))
    tool <- as_ellmer_tool(s, on_result = keep)
    e <- raised(value_of(tool, "cat('seen\\n')\nstop('broken')"), "lazaret_tool_error",
                "^seen\nerror: broken \\(line 2\\)")
    same(e$result$verdict, "error")
    raised(value_of(tool, "1 +* 2"), "lazaret_tool_error", "^syntax_error: ")
    text <- value_of(tool, "cat(strrep('x', 1e5)); cat('end'); invisible(NULL)")
    check(nchar(text) < 21000 && grepl("characters left out", text) && grepl("end$", text))
    late <- as_ellmer_tool(s, timeout = 0.1, on_result = keep)
    raised(value_of(late, "repeat {}"), "lazaret_tool_error", "^\n?timeout: ")
    same(value_of(tool, "3"), "[1] 3") # the session was kept
    raised(value_of(tool, "tools::pskill(Sys.getpid(), 9)"), "lazaret_tool_error", "^crashed: ")
    check(grepl("started anew \\(crashed\\).*gone\\.\n\\[1\\] 3$", value_of(tool, "3")))
    same(vapply(results, function(r) r$verdict, ""),
         c("error", "syntax_error", "ok", "timeout", "ok", "crashed", "ok"))
}))

test("pictures and files", with_session(function(s) {
    got <- NULL
    tool <- as_ellmer_tool(s, on_result = function(r) got <<- r)
    contents <- value_of(tool, "plot(1); writeLines('abc', 'artifacts/a.txt'); invisible(NULL)")
    same(class(contents[[1L]])[1L], "ellmer::ContentText")
    check(grepl("Files: .*a.txt \\(text/plain, 4 bytes\\)", property(contents[[1L]], "text")))
    same(property(contents[[2L]], "type"), "image/png")
    png <- Filter(function(a) a$type == "image/png", got$artifacts)[[1L]]
    same(jsonlite::base64_dec(property(contents[[2L]], "data")), png$data)
    same(length(contents), 2L)
}))

test("other languages, and tools of the session in the description", {
    price <- lazaret_tool("price", "Price of an item", function(item) c(tea = 2.5)[[item]],
                          list(item = "character"))
    with_session(function(s) {
        tool <- as_ellmer_tool(s)
        same(property(tool, "name"), "run_python")
        check(grepl("price(item: str): Price of an item", property(tool, "description"),
                    fixed = TRUE))
        same(value_of(tool, "price('tea') * 2"), "5.0")
    }, tools = list(price), runtime = "python")
    raised(as_ellmer_tool(5), "lazaret_argument_error", "session")
})

rows <- type_array(type_object(name = type_string(), year = type_number(required = FALSE)),
                   "people")
got <- NULL
tools <- list(
    tool(function(a, b = 2) a + b, name = "add", description = "Add numbers",
         arguments = list(a = type_number("first"), b = type_number(required = FALSE))),
    tool(function(n, flag, kind) list(n, flag, kind), name = "kinds", description = "",
         arguments = list(n = type_integer(), flag = type_boolean(),
                          kind = type_enum(c("a", "b")))),
    tool(function(people) {
        got <<- people
        nrow(people)
    }, name = "count", description = "", arguments = list(people = rows)),
    tool(function(kinds, words, hidden = 1) {
        got <<- list(kinds, words, hidden)
        NULL
    }, name = "arrays", description = "",
    arguments = list(kinds = type_array(type_enum(c("a", "b"))),
                     words = type_array(type_string()), hidden = type_ignore())),
    tool(function() tool_reject("not today"), name = "reject", description = ""),
    tool(function(what) switch(what,
        result = ContentToolResult(value = ContentText("a text")),
        nothing = ContentToolResult(),
        error = ContentToolResult(error = "went wrong"),
        image = ContentImageInline("image/png", jsonlite::base64_enc(as.raw(1:3))),
        json = structure("{\"a\":[1,2]}", class = "json"),
        promise = structure(list(), class = "promise")),
        name = "contents", description = "", arguments = list(what = type_string())))

test("types become parameters", {
    made <- as_lazaret_tool(tools[[1L]])
    same(format(made), "<lazaret_tool> add(a = number, b = number)")
    same(made$parameters$a$description, "first")
    same(c(made$parameters$a$required, made$parameters$b$required), c(TRUE, FALSE))
    kinds <- as_lazaret_tool(tools[[2L]])$parameters
    same(unname(vapply(kinds, function(spec) spec$type, "")), c("integer", "boolean", "string"))
    same(as.vector(kinds$kind$enum), c("a", "b"))
    count <- as_lazaret_tool(tools[[3L]])$parameters$people
    same(list(count$type, count$description),
         list("any", "people a data frame or an array of {name: string, year?: number}"))
    same(names(as_lazaret_tool(tools[[4L]])$parameters), c("kinds", "words"))
    json <- tool(function(x, y) 1, name = "json", description = "", arguments = list(
        x = type_from_schema("{\"type\":\"string\"}"), y = type_from_schema("{\"type\":[\"a\"]}")))
    same(format(as_lazaret_tool(json)), "<lazaret_tool> json(x = string, y = any)")
    same(as_lazaret_tool(tools[[1L]], approve = TRUE)$approve, TRUE)
    people <- list(type = "array", items = list(type = "object", properties = list(
        name = list(type = "string"), age = list(type = c("integer", "null")),
        kind = list(enum = c("a", "b")), more = list(anyOf = list(list(type = "number"), list()))),
        required = "name"))
    text <- internal("signature_of")(as_lazaret_tool(tools[[1L]], returns = people))
    check(startsWith(text, paste0("add(a: float, b: float = NULL) -> [{name: str, age?: int | null, ",
                                  "kind?: \"a\" | \"b\", more?: float | any}]")), text)
    raised(as_lazaret_tool(function(a) a), "lazaret_argument_error", "ellmer::tool")
})

test("code calls tools of ellmer", with_session(function(s) {
    same(s$execute("add(2, 3) + add(a = 1)"), 8)
    raised(s$execute("add('x')"), "lazaret_execution_error", "'a' must be")
    same(s$execute("kinds(3, TRUE, 'a')"), list(3L, TRUE, "a"))
    raised(s$execute("kinds(3, TRUE, 'c')"), "lazaret_execution_error", "kind")
    people <- data.frame(name = c("Ada", "Alan"), year = c(1815, NA))
    same(s$execute("count(data.frame(name = c('Ada', 'Alan'), year = c(1815, NA)))"), 2L)
    same(got, people)
    s$execute("arrays(c('b', 'a', 'b'), 'one')")
    same(got, list(factor(c("b", "a", "b"), c("a", "b")), "one", 1))
    raised(s$execute("reject()"), "lazaret_execution_error", "rejected. not today")
    same(s$execute("contents('result')"), "a text")
    same(s$execute("contents('nothing')"), NULL)
    raised(s$execute("contents('error')"), "lazaret_execution_error", "^went wrong|went wrong")
    same(s$execute("contents('image')"), as.raw(1:3))
    same(s$execute("contents('json')$a"), 1:2)
    raised(s$execute("contents('promise')"), "lazaret_execution_error", "cannot wait for")
}, tools = tools))

test("rows come from other languages as lists", with_session(function(s) {
    same(s$execute("count([{'name': 'Ada', 'year': 1815}, {'name': 'Alan'}])"), 2)
    same(got, data.frame(name = c("Ada", "Alan"), year = c(1815, NA)))
}, tools = tools[3L], runtime = "python"))

test("state lasts, and a closed session is an error of the tool", {
    session <- Session$new(server = server)
    tool <- as_ellmer_tool(session)
    value_of(tool, "x <- 1")
    session$close()
    raised(value_of(tool, "x"), "lazaret_error", "was closed")
})

pid <- server$pid
server$close()
test("nothing is left", same(process_runs(pid), FALSE))
end_tests()
