e <- new.env()
assign("a", 1, envir = e); e$b <- 2
sort(ls(e)); mget(c("a", "b"), envir = e); exists("zzz", e); get0("zzz", e, ifnotfound = "none")
local({ a <- 5; environmentName(parent.env(environment())) })
search()[c(1, length(search()))]; environmentName(globalenv()); environmentName(environment(sd))
f <- function() parent.frame(); identical(f(), globalenv()); sys.nframe()
lockBinding("a", e); tryCatch(e$a <- 3, error = function(err) cat(conditionMessage(err), "\n"))
delayedAssign("lazy", {cat("evaluated "); 42}); lazy
makeActiveBinding("now", function() "active", e); e$now
x <- 1; rm(x); exists("x"); ls()
con <- textConnection("line one\nline two"); readLines(con, 1); readLines(con); close(con)
out <- textConnection("collected", "w"); sink(out); print(1:3); cat("partial"); sink(); close(out)
collected
r <- rawConnection(raw(0), "wb"); writeBin(1:2, r); rawConnectionValue(r); close(r)
eapply(e, class)[c("a", "b")]; as.list(e)[["b"]]; eval(parse(text = "1 + 1; 2 + 2"))
identical(emptyenv(), parent.env(baseenv()))
sys.call(); nchar(Sys.getenv("HOME")) > 0; Sys.setenv(MINE = "set"); Sys.getenv("MINE")
get("nowhere", e)
