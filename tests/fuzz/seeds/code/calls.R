f <- function(x) {
  r"-(system("x"))-" # pipe(1)
  get("system")(`url`(x$shell(1)))
  processx::run("a")
}
