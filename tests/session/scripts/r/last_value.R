6 * 7
print(.Last.value)
x <- 5
.Last.value
Fn <- ecdf(c(1, 2, 3)) # shows the call that made it
Fn
for (i in 1:2) print(sys.call())
