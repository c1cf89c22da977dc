options(error = function() { traceback(2); q(status = 6) })
f <- function(x) stop("bad ", x)
f(3)
