# Fits a line to the measurements of each site, then one model to all of them.
sites <- c("north", "south", "east")
data <- data.frame()
for (site in sites) {
    for (row in measurements(site)) {
        data <- rbind(data, data.frame(site = row$site, x = row$x, y = row$y))
    }
}
cat(sprintf("%d measurements of %d sites\n", nrow(data), length(sites)))

for (site in sites) {
    fit <- lm(y ~ x, data = data[data$site == site, ])
    cat(sprintf("%-6s y = %.4f %+.4f x\n", site, coef(fit)[[1]], coef(fit)[[2]]))
}

common <- lm(y ~ x * site, data = data)
cat(sprintf("common model: R squared %.4f, %d degrees of freedom\n",
            summary(common)$r.squared, df.residual(common)))

refused <- tryCatch(measurements("west"), error = function(e) "no such site")
cat("west: ", refused, "\n", sep = "")
