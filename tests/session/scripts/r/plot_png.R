for (type in c("cairo", "cairo-png")) {
    png(paste0(type, ".png"), width = 200, height = 150, type = type)
    plot(1:10, main = "T\u00eftle", xlab = expression(alpha^2))
    lines(lowess(cars))
    print(dev.off())
    print(readBin(paste0(type, ".png"), "raw", 8))
}
svg("drawn.svg")
hist(islands)
invisible(dev.off())
substr(readLines("drawn.svg", 1), 1, 5)
unlink("drawn.svg")
