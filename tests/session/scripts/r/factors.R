f <- factor(c("low", "high", "mid", "low"), levels = c("low", "mid", "high"), ordered = TRUE)
f
table(f, useNA = "ifany")
f < "high"
levels(droplevels(f[f != "mid"]))
cut(c(1, 5, 10), c(0, 3, 7, 10))
interaction(c("a", "b"), c("x", "y"))
relevel(factor(c("x", "y")), "y")
as.integer(factor(c(10, 20, 10)))
xtabs(~ cyl + gear, mtcars)
prop.table(table(c(1, 1, 2)))
quantile(1:9)
f[2] <- "other"
f
