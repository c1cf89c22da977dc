.Machine$integer.max + 1L
5 %/% 2; -5 %/% 2; -5 %% 3; 5L / 2L; 1 / 0; 0 / 0; sqrt(-1)
2^53 + 1; factorial(20); choose(50, 25); 1e5; 100000; 123456789012; 1e-300 * 1e-300
print(pi, digits = 15); signif(123456, 2); round(2.5); round(-1.567, 1)
bitwAnd(12L, 10L); strtoi("ff", 16L); strtoi("777", 8L); as.hexmode(255)
complex(real = 3, imaginary = 4); Mod(3+4i); polyroot(c(6, -5, 1))
solve(matrix(c(2, 1, 1, 3), 2)); crossprod(1:3); det(diag(3) * 2)
c(1.5, NA, -Inf); c(a = 1, b = 2); 1:30; seq(0, 1, 0.25); numeric(0); integer(0)
all.equal(0.1 + 0.2, 0.3); identical(0.1 + 0.2, 0.3); cumsum(1:5); rev(1:3); which.max(c(1, 3, 2))
as.integer("12x")
stopifnot("is not small" = 5 < 3)
