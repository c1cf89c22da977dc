# SPDX-License-Identifier: MIT
# Code that gets a data frame from this program, asks before it buys, and outlives a timeout.
library(lazaret)

code <- "
d <- sales()
d$income <- d$price * d$sold
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy('tea', 500), error = function(e) 'refused'))
d[c('item', 'income')]"

sales <- lazaret_tool("sales", "What was sold, and at which price.", function() {
    data.frame(item = c("tea", "coffee", "milk"), price = c(2.5, 3.25, 1), sold = c(4, 2, 8))
})
buy <- lazaret_tool("buy", "", function(item, count) paste("bought", count, item),
                    list(item = "character", count = "integer"), approve = TRUE)

session <- Session$new(tools = list(sales, buy), approve = function(tool, args) args$count < 100)
result <- session$execute_result(code)
cat(result$stdout)
cat(sprintf("%s %.2f\n", result$value$item, result$value$income), sep = "")
tryCatch(session$execute("repeat {}", timeout = 0.5), lazaret_timeout = function(e) {
    cat("stopped, and then:", session$execute("6 * 7"), fill = TRUE)
})
session$close()
