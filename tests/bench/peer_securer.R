# SPDX-License-Identifier: MIT
# peer_securer.R - measures the R package securer for lazaret-bench: Rscript peer_securer.R WHAT N
# prints N times in microseconds; status 77: the package is not installed.
if (!requireNamespace("securer", quietly = TRUE)) quit(status = 77)

arguments <- commandArgs(trailingOnly = TRUE)
what <- arguments[[1]]
samples <- as.integer(arguments[[2]])
now <- function() as.numeric(Sys.time()) * 1e6

arrivals <- numeric()
add <- function(a, b) {
  arrivals[[length(arrivals) + 1]] <<- now()
  a + b
}
open <- function() securer::SecureSession$new(tools = list(add = add), sandbox = TRUE)

session <- function() {
  before <- now()
  s <- open()
  s$execute("1+1")
  s$execute("add(1, 2)")
  took <- now() - before
  s$close()
  took
}

execute <- function() {
  s <- open()
  on.exit(s$close())
  times <- vapply(seq_len(samples + 1), function(i) {
    before <- now()
    s$execute("1+1")
    now() - before
  }, 0)
  times[-1]
}

# Measures from the arrival of one call to that of the next.
tool_call <- function() {
  s <- open()
  on.exit(s$close())
  arrivals <<- numeric()
  s$execute(sprintf("for (i in 1:%d) add(1, 2)", samples + 1L), timeout = NULL)
  diff(arrivals)
}

times <- switch(what,
  session = vapply(seq_len(samples), function(i) session(), 0),
  execute = execute(),
  tool_call = tool_call()
)
writeLines(sprintf("%.2f", times))
