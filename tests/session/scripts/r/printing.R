list(1, a = "x", list(TRUE, NULL))
matrix(c("a", "bb", NA, "d"), 2, dimnames = list(NULL, c("x", "y")))
print(c(a = 1.123456789, bb = 22), digits = 3); print(letters, quote = FALSE); noquote("n")
structure(1:3, myattr = "m"); as.table(matrix(1:4, 2)); quote(f(x, y = 2)); expression(a, b + 1)
y ~ x | z
function(x) x + 1 # a comment is kept
invisible(3); if (FALSE) 1; for (i in 1:2) i; (function() invisible(9))(); v <- c(1, 2); v[5] <- 9
v
cat(1L, 2.5, TRUE, NULL, NA, "s\n", sep = " "); cat("a", "b", sep = "\n"); cat("\n")
cat(pi, 1e-10, 1e10, 123456.7, "\n")
message("standard error"); print(NULL); character(0); data.frame(); factor(character(0)); list()
NA_character_
writeLines(formatC(c(3.14159, 42), digits = 3, width = 10)); format(Sys.Date(), "%Y") > "2000"
toString(1:5); dQuote("q", FALSE)
as.raw(c(1, 255)); 1i; -0.0; 1e-17; 1e300 * 10; TRUE && NA; xor(TRUE, FALSE); is.na(NaN); NULL
str(list(a = 1, b = list(c = "x", d = 1:3), f = mean)); head(letters, -23); tail(1:10, 3)
summary(c(1, 5, 9)); rle(c(1, 1, 2))
print(1:3, max = 2); mtcars[1:2, ]; t(1:2); iris[c(1, 51), ]; rowsum(c(1, 2, 3), c("a", "b", "a"))
rbind(a = 1:2, b = 3:4)
