# SPDX-License-Identifier: MIT
# Code that gets a file and a data frame, asks before it buys, plots, and outlives a timeout.
library(lazaret)

code <- "
d <- transform(cbind(sales(), read.csv('prices.csv')), income = price * sold)
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy('tea', 500), error = function(e) 'refused'))
barplot(d$income, names.arg = d$item)
d[c('item', 'income')]"

sales <- lazaret_tool("sales", "What was sold.", function() {
    data.frame(item = c("tea", "coffee", "milk"), sold = c(4, 2, 8))
})
buy <- lazaret_tool("buy", "", function(item, count) paste("bought", count, item),
                    list(item = "character", count = "integer"), approve = TRUE)

session <- Session$new(tools = list(sales, buy), approve = function(tool, args) args$count < 100,
                       files = list(prices.csv = charToRaw("price\n2.5\n3.25\n1\n")))
result <- session$execute_result(code)
cat(result$stdout)
cat(sprintf("%s %.2f\n", result$value$item, result$value$income), sep = "")
for (artifact in result$artifacts)
    cat(artifact$name, ": ", artifact$type, "\n", sep = "")
tryCatch(session$execute("repeat {}", timeout = 0.5), lazaret_timeout = function(e) {
    cat("stopped, and then:", session$execute("6 * 7"), fill = TRUE)
})
session$close()
