r <- withCallingHandlers(
    { warning("first"); "value" },
    warning = function(w) { cat("caught:", conditionMessage(w),
        "\n"); invokeRestart("muffleWarning") })
r
tryCatch(stop("a"), error = function(e) print(e), finally = cat("finally\n"))
try(log(-1:0), silent = TRUE)
x <- try(stop("oops"), silent = TRUE); class(x); cat(x)
cond <- structure(class = c("custom", "condition"), list(message = "mine", call = NULL))
withRestarts(signalCondition(cond), skip = function() "skipped")
tryCatch(signalCondition(cond), custom = function(c) conditionMessage(c))
warning("on standard error"); message("there too")
as.integer("x")
suppressWarnings(as.integer("x"))
f <- function(n) if (n == 0) stop("deep inside: ", n) else f(n - 1)
cat("before the end\n")
f(3)
cat("never shown\n")
