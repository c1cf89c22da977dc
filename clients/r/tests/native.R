# SPDX-License-Identifier: MIT
# Values between R and R: what JSON can carry is kept.
source(file.path("support", "helper.R"))

encode <- internal("encode_native")
decode <- function(json) internal("decode")(internal("parse_json")(json))
round_trip <- function(x) decode(encode(x))

frame <- data.frame(i = 1:2, d = c(0.5, NA), s = c("a", NA), f = factor(c("u", "v")),
                    t = as.POSIXct(c(0.25, 1e9), origin = "1970-01-01", tz = "Asia/Tokyo"),
                    row.names = c("x", "y"))
frame$l <- list(1:2, "a")
frame$m <- matrix(1:4, 2)

kept <- list(
    1:3, 5L, NA_integer_, c(1, NA, -0, NaN, Inf), c(a = 1, b = 2), setNames(1:2, c("", NA)), "text",
    c("a", NA, "\u20ac"), c(TRUE, NA), NA, 1i, c(1i, NA), as.raw(0:3), NULL,
    integer(), double(), character(), logical(), complex(0), raw(),
    matrix(1:4, 2), matrix(c(1.5, NA), 1, dimnames = list("r", NULL)), array(1:3),
    array(1:24, 2:4, list(c("a", "b"), NULL, z = letters[1:4])), matrix(list(1, "a"), 1),
    matrix(numeric(), 0, 3), list(), list(1, 2), list(1L), list(a = 1, 2), list(list(1), list("a")),
    list(list(list(1:2))), setNames(list(), character()), list(a = 1:2, b = list(c = integer())),
    factor(c("b", NA), levels = c("a", "b")), factor("x", ordered = TRUE), factor(character()),
    table(c(1, 1, 2)), table(x = c("a", "b"), y = c("u", "u")),
    ts(1:5, start = c(2000, 2), frequency = 4), ts(matrix(c(1, 2, 3, 4), 2)),
    as.POSIXct(c("2024-03-31 01:59:59.5", NA), tz = "Europe/Berlin"),
    as.POSIXct("2024-01-01", tz = ""), structure(c(19000.5, NA), class = "Date"),
    structure(19000L, class = "Date"), structure(1e7, class = "Date"),
    as.difftime(c(1, NA), units = "hours"), I(5), I(list(1)), noquote("a"),
    structure(1:2, label = "x", other = list(a = 1L)), structure(as.raw(1:2), dim = 1:2),
    list(`$r` = 1), list(`$num` = "NaN"),
    frame, mtcars, iris, iris[c(3, 5), ], data.frame(), data.frame(a = 1:2)[0, , drop = FALSE],
    data.frame(a = 1), list(frame, 1:2, as.Date("2024-01-31"))
)

test("what R alone reads comes back as it was", {
    for (x in kept)
        same(round_trip(x), x)
})

test("other classes are told once, and arrive as their data", {
    the <- internal("the")
    the$left <- character()
    model <- structure(list(a = 1:2), class = c("model", "base"))
    left <- function(classes) {
        paste0("{\"$r\":{\"type\":\"list\",\"values\":[],\"left\":[",
               paste0("\"", classes, "\"", collapse = ","), "]}}")
    }
    warned <- character()
    withCallingHandlers({
        for (i in 1:2)
            same(decode(encode(model)), list(a = 1:2))
        decode(left(paste0("c", 1:1000))) # a session cannot fill the memory with names
        decode(left("more"))
    }, warning = function(w) {
        warned <<- c(warned, conditionMessage(w))
        invokeRestart("muffleWarning")
    })
    same(length(warned), 2L)
    check(grepl("'model', 'base'", warned[1L], fixed = TRUE), warned[1L])
    own <- structure(list(a = 1:2), class = c("tibble", "data.frame"), row.names = 1:2)
    same(suppressWarnings(round_trip(own)), data.frame(a = 1:2))
    same(round_trip(as.POSIXlt("2024-01-01", tz = "UTC")), as.POSIXct("2024-01-01", tz = "UTC"))
    the$left <- character()
    said <- tryCatch(decode(left("\\u001b[31m")), warning = conditionMessage)
    check(!grepl("\033", said, fixed = TRUE), said)
    the$left <- character()
})

test("what lies is an ordinary object", {
    lies <- list(
        list(type = "integer", values = c(1, 3), attributes = list(levels = "a", class = "factor")),
        list(type = "double", values = 1, attributes = list(levels = "a", class = "factor")),
        list(type = "list", values = list(1, c(1, 2)),
             attributes = list(names = c("a", "b"), row.names = 2, class = "data.frame")),
        list(type = "list", values = list(1),
             attributes = list(names = "a", row.names = 1e300, class = "data.frame")),
        list(type = "double", values = c(1, 2), attributes = list(dim = c(2, 2))),
        list(type = "double", values = c(1, 2), attributes = list(tsp = c(1, 9, 1), class = "ts")),
        list(type = "double", values = 1, attributes = list(class = "lm")),
        list(type = "character", values = "a", attributes = list(class = "Date")),
        list(type = "double", values = 1, attributes = list(class = "table")),
        list(type = "integer", values = 1.5), list(type = "text", values = "a"),
        list(type = "function", values = "a"), list(values = 1), list(type = "double"))
    for (lie in lies)
        same(names(decode(paste0("{\"$r\":", internal("encode_value")(lie), "}"))), "$r")
    same(names(decode("{\"$r\":5}")), "$r")
    compact <- paste0("{\"$r\":{\"type\":\"integer\",\"values\":[{\"$na\":\"integer\"},-2000000000]}}")
    same(names(decode(paste0("{\"$r\":{\"type\":\"list\",\"values\":[[1,2]],\"attributes\":{\"names\":",
                             "[\"a\"],\"row.names\":", compact, ",\"class\":[\"data.frame\"]}}}"))), "$r")
    for (zone in c("/dev/tty", ":/dev/tty", "../x", "Europe/../../x"))
        same(names(decode(paste0("{\"$r\":{\"type\":\"double\",\"values\":[1],\"attributes\":{\"tzone\":\"", zone,
                                 "\",\"class\":[\"POSIXct\",\"POSIXt\"]}}}"))), "$r")
})

test("lies inside of lies take no longer than they are long", {
    began <- proc.time()[[1L]]
    for (form in c("{\"$r\":{\"type\":\"x\",\"values\":[%s]}}", "{\"$complex\":[%s]}",
                   "{\"$r\":{\"type\":\"double\",\"values\":[null,%s]}}",
                   "{\"$frame\":{\"names\":[\"a\"],\"columns\":[[null,%s]],\"rows\":2}}")) {
        text <- "1"
        for (i in seq_len(if (nchar(form) < 20L) 30L else 15L))
            text <- sprintf(form, text)
        check(is.list(decode(text)), form)
    }
    check(proc.time()[[1L]] - began < 60, "processor time") # it would be days
})

need_program()
server <- lazaret_server(settings = list(session.max_message_size = "32MiB"))
got <- NULL
session <- Session$new(server = server, tools = list(
    lazaret_tool("give", "", function(i) kept[[i]]),
    lazaret_tool("take", "", function(x) got <<- x),
    lazaret_tool("frame", "", function(x) got <<- x, args = list(x = "data.frame")),
    lazaret_tool("items", "", function(x) got <<- x, args = list(x = "list")),
    lazaret_tool("one", "", function(n) got <<- n,
                 args = list(n = list(type = "any", enum = c(1, 2))))))

test("values go into a session, to tools and out as they are", {
    for (i in seq_along(kept)) {
        same(session$execute(sprintf("x <- give(%d)\nx", i)), kept[[i]])
        session$execute("invisible(take(x))")
        same(got, kept[[i]])
    }
})

test("so do those of parameters that have a type", {
    session$execute("invisible(frame(mtcars))")
    same(got, mtcars)
    session$execute("invisible(items(list(1L, 'a', list(b = 1:2))))")
    same(got, list(1L, "a", list(b = 1:2)))
    session$execute("one(1L)")
    same(got, 1)
    raised(session$execute("one(3L)"), "lazaret_execution_error", "must be one of")
})

test("values of pools and of one execution", {
    same(lazaret_execute("matrix(1:4, 2)", server = server), matrix(1:4, 2))
    pool <- lazaret_pool("r", 1, server = server, tools = list(take = function(x) got <<- x))
    same(pool$execute("invisible(take(c(a = 1L)))\n1:2"), 1:2)
    same(got, c(a = 1L))
    pool$close()
})

test("a model that code has made arrives as its data", {
    fit <- suppressWarnings(session$execute("lm(mpg ~ wt, mtcars)"))
    same(class(fit), "list")
    same(names(fit$coefficients), c("(Intercept)", "wt"))
    same(names(fit$residuals), rownames(mtcars))
    same(class(fit$call), "lazaret_repr")
})

test("other languages get what all languages read", {
    python <- Session$new(runtime = "python", server = server,
                          tools = list(give = function() 1:3, take = function(x) got <<- x))
    same(python$execute("give()"), c(1, 2, 3))
    python$execute("take([1, 2])")
    same(got, c(1, 2))
    python$close()
    any <- Session$new(runtime = NULL, server = server)
    same(any$execute("[1, 2]"), c(1, 2))
    any$close()
})

session$close()
server$close()
end_tests()
