args <- commandArgs(trailingOnly = TRUE)
print(args)
length(args)
file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
basename(file)
interactive()
invisible(5)
(invisible(6))
x <- 7
NULL
