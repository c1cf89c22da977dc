.Last <- function() cat("the last words\n")
reg.finalizer(environment(), function(e) cat("finalized\n"), onexit = TRUE)
cat("no newline")
quit(status = 11)
