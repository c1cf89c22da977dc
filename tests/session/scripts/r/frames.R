df <- data.frame(g = c("a", "b", "a", "c"), x = c(1.5, 2, NA, 4), n = 4:1, stringsAsFactors = TRUE)
df
str(df)
summary(df)
aggregate(n ~ g, df, sum)
merge(df, data.frame(g = c("a", "c"), y = c(TRUE, FALSE)), by = "g", all.x = TRUE)
df[order(-df$n, df$g), c("g", "n")]
with(df, tapply(x, g, mean, na.rm = TRUE))
do.call(rbind, lapply(split(df, df$g), function(d) data.frame(g = d$g[1], rows = nrow(d))))
reshape(data.frame(id = 1:2, x1 = c(5, 6), x2 = c(7, 8)), direction = "long",
    varying = c("x1", "x2"), v.names = "x", idvar = "id")
within(head(mtcars[1:3], 2), { ratio <- mpg / cyl })
df$none$deeper
df[["none"]]
df[, "missing"]
