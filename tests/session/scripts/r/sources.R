writeLines(c("helper <- function(x) x * 2", "cat('sourced\\n')", "helper(21)"), "helper.R")
source("helper.R")
source("helper.R", echo = TRUE)
print(source("helper.R")$value)
helper(5)
sys.source("helper.R", envir = new.env())
save(helper, file = "saved.RData"); rm(helper); load("saved.RData"); exists("helper")
unlink("saved.RData")
json <- function(x) if (is.list(x)) paste0("{",
    paste0("\"", names(x), "\":", vapply(x, json, ""), collapse = ","), "}") else
    if (length(x) > 1) paste0("[", paste(vapply(as.list(x), json, ""), collapse = ","), "]") else
    if (is.character(x)) encodeString(x, quote = "\"") else tolower(as.character(x))
json(list(a = 1:3, b = list(c = "q\"", d = TRUE)))
utils::compareVersion("1.10", "1.9"); packageVersion("base") >= "4.0"
requireNamespace("nope", quietly = TRUE); nlevels(iris$Species)
utils::combn(4, 2); head(utils::stack(list(a = 1:2, b = 3))); tools::toTitleCase("a title of it")
bitwXor(5L, 1L); utils::glob2rx("*.txt")
Recall <- NULL; mapply(identity, c(a = 1)); Sys.time() > 0; nchar(date()) > 10; object.size(1:10)
Negate(is.na)(1)
stop("an error of a script ", 5, call. = FALSE)
