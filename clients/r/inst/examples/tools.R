# SPDX-License-Identifier: MIT
# Code that calls a function of this program, and is stopped when it runs too long.

library(lazaret)

code <- "
prices <- vapply(c('tea', 'coffee'), price, 0)
cat('prices:', prices, '\\n')
sum(prices)
"

price <- lazaret_tool("price", "Price of an item in euros",
                      fn = function(item) c(tea = 2.5, coffee = 3.25)[[item]],
                      args = list(item = "character"), timeout = 5)

session <- Session$new(tools = list(price))
total <- session$execute(code, timeout = 10, output_handler = function(line) cat(line, "\n"))
cat("sum:", total, "\n")
tryCatch(session$execute("repeat {}", timeout = 0.2),
         lazaret_timeout = function(e) cat("stopped:", conditionMessage(e), "\n"))
session$close()
