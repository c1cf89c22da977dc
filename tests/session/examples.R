# SPDX-License-Identifier: MIT
# examples.R - writes the examples of the help pages in examples.txt as scripts of ten pages each.
#
# Rscript examples.R LIST DIRECTORY [EVERY]: with EVERY only each so many-th page. Before each page
# stands what makes it start as the one before it did: no variables, R's options, one seed.
args <- commandArgs(trailingOnly = TRUE)
pages <- read.table(args[1], col.names = c("package", "page"))
if (length(args) > 2)
    pages <- pages[seq(1, nrow(pages), by = as.integer(args[3])), ]

between <- c("rm(list = ls())", "options(.GlobalEnv$.kept)", "set.seed(1)")
code_of <- function(package, page) {
    lines <- example(page, package = package, character.only = TRUE, give.lines = TRUE)
    c(sprintf("cat(\"== %s: %s\\n\")", package, page), between, lines)
}

parts <- (seq_len(nrow(pages)) - 1) %/% 10
for (part in unique(parts)) {
    lines <- mapply(code_of, pages$package[parts == part], pages$page[parts == part])
    writeLines(c(".kept <- options()", unlist(lines)),
               file.path(args[2], sprintf("pages%02d.R", part + 1)))
}
writeLines(as.character(nrow(pages)))
