library(parallel)
unlist(mclapply(1:6, function(i) i^2, mc.cores = 2))
pvec(1:10, sqrt, mc.cores = 2)
job <- mcparallel(sum(1:10))
mccollect(job)[[1]]
mcmapply(function(a, b) a + b, 1:3, 4:6, mc.cores = 2)
RNGkind("L'Ecuyer-CMRG"); set.seed(1); unlist(mclapply(1:3, function(i) rnorm(1), mc.cores = 2))
x <- suppressWarnings(mclapply(1:2, function(i) if (i == 2) stop("in a child") else i,
    mc.cores = 2))
class(x[[2]]); x[[1]]
nextRNGStream(c(10407L, 1:6))
