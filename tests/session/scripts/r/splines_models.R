library(splines)
library(stats4)
round(predict(lm(dist ~ bs(speed, df = 4), cars), data.frame(speed = 10)), 4)
round(coef(mle(function(m = 1) -sum(dnorm(c(4, 5, 6), m, 1, log = TRUE)))), 3)
round(spline(1:3, c(1, 4, 9), n = 4)$y, 4); approx(1:2, 3:4, 1.5)$y; integrate(dnorm, -1.96, 1.96)
uniroot(function(x) x^2 - 2, c(0, 2))$root
D(quote(sin(x)^2), "x"); fft(1:4); convolve(1:3, c(0, 1), type = "o")
optim(c(1, 1), function(p) sum((p - 3)^2), method = "BFGS")$par
ts(1:12, start = c(2024, 1), frequency = 12); acf(lh, plot = FALSE, lag.max = 3)
HoltWinters(co2)$SSE; arima(lh, order = c(1, 0, 0))
TukeyHSD(aov(breaks ~ tension, warpbreaks)); cor.test(cars$speed, cars$dist)$p.value
ks.test((1:20) / 21, "punif")$p.value
mahalanobis(c(1, 2), c(0, 0), diag(2)); cutree(hclust(dist(c(1, 2, 10, 11))), 2)
ecdf(c(1, 2, 3))(2); loess(dist ~ speed, cars)$n
library(notInstalledAnywhere)
