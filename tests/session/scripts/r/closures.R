counter <- function(n = 0) { function(by = 1) { n <<- n + by; n } }
step <- counter(5)
step(); step(10)
environment(step)$n
f <- function(x, ...) UseMethod("f")
f.default <- function(x, ...) { cat("default", ...length(), "\n"); invisible(x) }
f.special <- function(x, ...) { cat("special\n"); NextMethod() }
f(structure(1, class = "special"), 2, 3)
f
args <- function(a, b = a * 2) { if (missing(b)) "b is missing" else match.arg(b, c("one", "two")) }
args(1); args(1, "one")
compose <- function(...) Reduce(function(f, g) function(x) g(f(x)), list(...))
compose(sqrt, function(x) x + 1)(16)
(\(x) x^2)(4); c(3, 1, 2) |> sort() |> rev()
substitute(a + b, list(a = 1, b = quote(z))); deparse(quote(if (x > 1) y else z))
body(function(x) x + 1); formals(args)$b
local({ y <- 5; eval(quote(y * 2)) })
on <- function() { on.exit(cat("leaving\n")); cat("inside\n") }; on()
match.call(sd, quote(sd(1, 2)))
tryCatch(args(1, "three"), error = function(e) cat("message:", conditionMessage(e), "\n"))
lazy <- function(x) { cat("before "); x; cat("after\n") }; lazy({cat("forced "); 1})
switch("b", a = 1, b = , c = 3); repeat { break }; i <- 0
while (TRUE) { i <- i + 1; if (i > 3) break }; i
undefined_function(1)
