fit <- lm(mpg ~ wt + factor(cyl), data = mtcars)
fit
summary(fit)
anova(fit)
round(predict(fit, data.frame(wt = 3, cyl = 6), interval = "confidence"), 4)
update(fit, . ~ . - wt)
lm(mpg ~ nothing, data = mtcars)
