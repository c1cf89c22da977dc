con <- file("stdin", "r")
first <- readLines(con, 1)
first
scan(con, n = 2, quiet = TRUE, what = "")
rest <- readLines(con)
toupper(rest)
close(con)
readline("prompt? ")
