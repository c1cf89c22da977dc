fit <- glm(am ~ wt, data = mtcars, family = binomial)
summary(fit)
round(exp(cbind(OR = coef(fit), confint.default(fit))), 4)
step(glm(carb ~ wt + hp + qsec, data = mtcars, family = poisson), trace = 0)
t.test(extra ~ group, data = sleep)
chisq.test(table(mtcars$cyl, mtcars$am), simulate.p.value = FALSE)
wilcox.test(1:10, 4:13)
optimize(function(x) (x - 1/3)^2, c(0, 1))$minimum
nls(y ~ a * x, data.frame(x = 1:5, y = c(2.1, 3.9, 6.2, 7.8, 10.1)), start = list(a = 1))
