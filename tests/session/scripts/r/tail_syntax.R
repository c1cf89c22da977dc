cat("a value of the last line is shown\n")
x <- c(b = 2, a = 1)
x[order(names(x))]
mean(x)
