# SPDX-License-Identifier: MIT
# Conversions, without the program.
source(file.path("support", "helper.R"))

encode <- internal("encode_value")
decode <- function(text) internal("decode")(internal("parse_json")(text))
round_trip <- function(x) decode(encode(x))
bits <- function(x) writeBin(x, raw())

test("numbers are the same to the last bit", {
    numbers <- c(0.1, 1 / 3, .Machine$double.xmax, 5e-324, 2.2250738585072011e-308, -0, 0, 1e15,
                 2^53, 2^53 + 2, -2^60, 1e22, 1e300, 123456.789, pi, -1e-5, .Machine$double.eps)
    same(bits(round_trip(numbers)), bits(numbers))
    for (x in numbers)
        same(bits(round_trip(x)), bits(x))
    same(encode(c(1, 1e15, -3)), "[1,1000000000000000,-3]")
    set.seed(1)
    many <- readBin(as.raw(sample(0:255, 8000, TRUE)), "double", 1000)
    many <- many[is.finite(many)]
    same(bits(round_trip(many)), bits(many))
})

test("missing and special values have their forms", {
    same(encode(NA), "{\"$na\":\"logical\"}")
    same(encode(NA_integer_), "{\"$na\":\"integer\"}")
    same(encode(c(NA, 1)), "[{\"$na\":\"double\"},1]")
    same(encode(NA_character_), "{\"$na\":\"character\"}")
    special <- c(NaN, NA, Inf, -Inf, 1)
    same(is.nan(round_trip(special)), is.nan(special))
    same(round_trip(special)[-1L], special[-1L])
    same(round_trip(c("a", NA)), c("a", NA))
    same(round_trip(c(TRUE, NA)), c(TRUE, NA))
    same(round_trip(NA_integer_), NA_real_)
    same(round_trip(list(1, NA, "a")), list(1, NA, "a"))
})

test("text", {
    text <- c("plain", "a\"b\\c\n\t\r\001\037", "\u00e9\u20ac\U1f600", "", "\u2028", "-0", "[-0]")
    same(round_trip(text), text)
    for (x in text)
        same(round_trip(x), x)
    latin <- "\xe9"
    Encoding(latin) <- "latin1"
    same(encode(latin), enc2utf8("\"\u00e9\""))
    wrong <- "a\xff"
    Encoding(wrong) <- "UTF-8"
    same(round_trip(wrong), as.raw(c(0x61, 0xff)))
    marked <- "\xff"
    Encoding(marked) <- "bytes"
    same(encode(marked), "{\"$bytes\":\"/w==\"}")
    same(decode("{\"a\":\"x-0]\",\"b\":-0}")$a, "x-0]")
})

test("vectors, lists and NULL", {
    same(encode(NULL), "null")
    same(round_trip(I(1)), I(1))
    same(encode(I("a")), "[\"a\"]")
    same(round_trip(list(1, "a", NULL, list())), list(1, "a", NULL, list()))
    same(round_trip(numeric()), list())
    same(round_trip(list(a = 1, b = list(c = "x"))), list(a = 1, b = list(c = "x")))
    same(encode(setNames(list(), character())), "{}")
    same(encode(c(a = 1, b = 2)), "{\"a\":1,\"b\":2}")
    same(round_trip(list(a = 1, a = 2)), list(a = 1, a = 2))
    same(round_trip(structure(list(1, 2), names = c("a", ""))),
         structure(list(1, 2), names = c("a", "")))
    same(round_trip(list(`$x` = 1)), list(`$x` = 1))
    same(round_trip(list(`$num` = "NaN")), list(`$num` = "NaN"))
    same(decode("{\"$num\":\"one\"}"), list(`$num` = "one"))
    same(decode("[[1,2],[3]]"), list(c(1, 2), I(3)))
    same(encode(matrix(1:4, 2)), "[[1,3],[2,4]]")
    same(encode(array(1:8, c(2, 2, 2))), "[[[1,5],[3,7]],[[2,6],[4,8]]]")
    same(encode(matrix(numeric(), 3, 0)), "[[],[],[]]")
    same(encode(structure(list(a = 1), class = "model")), "{\"a\":1}")
    same(encode(1:3), "[1,2,3]")
    map <- decode("{\"$map\":[[1,\"a\"],[true,2]]}")
    same(map, structure(list(keys = list(1, TRUE), values = list("a", 2)), class = "lazaret_map"))
    same(round_trip(map), map)
})

test("bytes and complex numbers", {
    for (n in c(0L, 1L, 2L, 3L, 1000L))
        same(round_trip(as.raw(seq_len(n) %% 256L)), as.raw(seq_len(n) %% 256L))
    same(round_trip(c(1i, 2 - 3i)), c(1i, 2 - 3i))
    same(round_trip(complex(real = NaN, imaginary = Inf)),
         complex(real = NaN, imaginary = Inf))
})

test("dates and times", {
    days <- as.Date(c("2024-01-31", NA, "1969-12-31", "0001-01-01", "9999-12-31", "2000-02-29"))
    same(round_trip(days), days)
    same(round_trip(days[1L]), days[1L])
    same(encode(days[1:2]), "[{\"$date\":\"2024-01-31\"},{\"$na\":\"double\"}]")
    same(round_trip(I(days[1L])), structure(as.numeric(days[1L]), class = c("AsIs", "Date")))
    all_days <- as.Date(seq(-800000, 2900000, by = 997), origin = "1970-01-01")
    in_range <- as.POSIXlt(all_days)$year + 1900 >= 0 & as.POSIXlt(all_days)$year + 1900 <= 9999
    same(round_trip(all_days[in_range]), all_days[in_range])
    times <- as.POSIXct(c(0.25, NA, 1e9 + 0.123456, -1.5), origin = "1970-01-01", tz = "UTC")
    same(round_trip(times), times)
    same(encode(times[1L]), "{\"$time\":\"1970-01-01T00:00:00.25Z\"}")
    same(as.numeric(decode("{\"$time\":\"1970-01-01T02:00:00+02:00\"}")), 0)
    same(as.numeric(decode("{\"$time\":\"1970-01-01T00:00:00-01:30\"}")), 5400)
    local <- decode("{\"$time\":\"2024-07-01T12:00:00\"}")
    same(format(local, "%Y-%m-%d %H:%M:%S"), "2024-07-01 12:00:00")
    same(attr(local, "tzone"), "")
    same(encode(as.POSIXlt(times[1L])), encode(times[1L]))
    same(encode(structure(1e12, class = "Date")), "1000000000000")
    same(decode("{\"$date\":\"2024-13-01\"}"), list(`$date` = "2024-13-01"))
})

test("factors and data frames", {
    plain <- factor(c("b", NA, "a"), levels = c("a", "b", "unused"))
    same(round_trip(plain), plain)
    ordinal <- factor(c("low", "high"), levels = c("low", "high"), ordered = TRUE)
    same(round_trip(ordinal), ordinal)
    same(round_trip(factor("x")), factor("x"))
    same(round_trip(factor(character())), factor(character()))
    frame <- data.frame(x = c(1.5, NA), s = c("a", NA), l = c(TRUE, NA), f = factor(c("u", NA)),
                        d = as.Date(c("2024-01-31", NA)), z = c(1i, 2i),
                        t = as.POSIXct(c(0.5, NA), origin = "1970-01-01", tz = "UTC"))
    frame$o <- ordinal
    same(round_trip(frame), frame)
    one <- data.frame(n = 1, s = "a", d = as.Date("2024-01-31"))
    same(round_trip(one), one)
    frame <- data.frame(id = c(1, 2))
    frame$list <- list("a", c(1, 2))
    same(round_trip(frame), frame)
    same(dim(round_trip(data.frame())), c(0L, 0L))
    same(dim(round_trip(frame[0L, ])), c(0L, 2L))
    same(names(round_trip(data.frame(a = 1, a = 2, check.names = FALSE))), c("a", "a"))
    nulls <- decode(paste0("{\"$frame\":{\"names\":[\"a\",\"b\"],",
                           "\"columns\":[[1,null],[null,\"x\"]],\"rows\":2}}"))
    same(nulls, data.frame(a = c(1, NA), b = c(NA, "x")))
})

test("integers that no double holds", {
    big <- decode("{\"$int\":\"9007199254740993\"}")
    if (!isNamespaceLoaded("bit64"))
        same(big, structure("9007199254740993", class = "lazaret_int"))
    same(encode(big), "{\"$int\":\"9007199254740993\"}")
    same(encode(structure("-12", class = "lazaret_int")), "-12")
    as_integer64 <- function(low, high) {
        structure(readBin(writeBin(c(low, high), raw(), endian = "little"), "double",
                          endian = "little"), class = "integer64")
    }
    same(encode(as_integer64(7L, 0L)), "7")
    same(encode(as_integer64(-7L, -1L)), "-7")
    same(encode(as_integer64(1L, 2097152L)), "{\"$int\":\"9007199254740993\"}")
    same(encode(as_integer64(-1L, .Machine$integer.max)), "{\"$int\":\"9223372036854775807\"}")
    same(encode(as_integer64(0L, NA_integer_)), "{\"$na\":\"integer\"}")
})

test("what has no form is an error", {
    for (x in list(sum, mean, globalenv(), quote(a + b), y ~ x, stdin))
        raised(encode(list(x)), "lazaret_argument_error", "cannot be sent")
    deep <- 1
    for (i in 1:60)
        deep <- list(deep)
    raised(encode(deep), "lazaret_argument_error", "levels deep")
    same(class(decode("{\"$repr\":\"<function f>\"}")), "lazaret_repr")
})

test("lines are put together from any pieces", {
    lines_of <- internal("lines_of")
    for (size in c(1L, 2L, 3L, 7L, 100L)) {
        server <- list2env(list(partial = list()))
        text <- "first\nsecond \u20ac\n\nlast\nrest"
        starts <- seq(1L, nchar(text), by = size)
        got <- unlist(lapply(substring(text, starts, starts + size - 1L),
                             function(piece) lines_of(server, piece)))
        same(got, c("first", "second \u20ac", "", "last"))
    }
})

test("lines of output", {
    piece <- function(stream, text) list(stream = stream, text = text)
    lines <- internal("output_lines")
    same(lines(list()), character())
    same(lines(list(piece("stdout", "a"), piece("stdout", "b\nc\n"))), c("ab", "c"))
    same(lines(list(piece("stdout", "a\n"), piece("stderr", "e\n"), piece("stdout", "b"))),
         c("a", "e", "b"))
    same(lines(list(piece("stdout", "a"), piece("stderr", "e\n"), piece("stdout", "b\n"))),
         c("e", "ab"))
    same(lines(list(piece("stdout", "a\n\nb\n"))), c("a", "", "b"))
})

end_tests()
