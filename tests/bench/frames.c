/* SPDX-License-Identifier: MIT */
/* frames.c - data frames of three columns of numbers: integers, quarters, and thirds in 15 digits.
 *
 * The tool `frame` answers with one, and `keep` takes one. An answer is made once for each size, so
 * that no sample has the time for it. */
#include "bench.h"

#define FRAMES_SIZES 4

static const struct {
    const char *language, *in, *out;
} frames_codes[] = {
    {"lua", "for i = 1, @n do frame(@b) end",
     "local x, y, z = {}, {}, {} for i = 1, @b do x[i], y[i], z[i] = i, i / 4, i * 1.37 end local "
     "f = "
     "{x = x, y = y, z = z} for i = 1, @n do keep(f) end"},
    {"python", "for i in range(@n): frame(@b)",
     "n = range(1, @b + 1)\nf = {'x': list(n), 'y': [i / 4 for i in n], 'z': [i * 1.37 for i in "
     "n]}\nfor i in range(@n): keep(f)"},
    {"r", "for (i in 1:@n) frame(@b)",
     "i <- 1:@b; f <- data.frame(x = i, y = i / 4, z = i * 1.37); for (i in 1:@n) keep(f)"},
    {"javascript", "for (let i = 0; i < @n; i++) await frame(@b);",
     "{ const n = Array.from({length: @b}, (_, i) => i + 1); const f = {x: n, y: n.map((i) => i / "
     "4), z: n.map((i) => i * 1.37)}; for (let i = 0; i < @n; i++) await keep(f); }"},
};

const char *bench_frame_code(const struct bench_language *language, bool out)
{
    for (size_t i = 0; i < sizeof frames_codes / sizeof *frames_codes; i++)
        if (strcmp(frames_codes[i].language, language->name) == 0)
            return out ? frames_codes[i].out : frames_codes[i].in;
    abort();
}

/* The frame as JSON; made at the first call of a size, and kept. */
const char *bench_frame(int rows, size_t *len)
{
    static struct {
        int rows;
        char *text;
        size_t len;
    } made[FRAMES_SIZES];
    size_t i = 0;

    while (i < FRAMES_SIZES && made[i].rows && made[i].rows != rows)
        i++;
    if (i == FRAMES_SIZES)
        abort();
    if (!made[i].rows) {
        FILE *file = open_memstream(&made[i].text, &made[i].len);
        if (!file)
            abort();
        fputs("{\"$frame\":{\"names\":[\"x\",\"y\",\"z\"],\"columns\":[", file);
        for (int column = 0; column < 3; column++)
            for (int row = 1; row <= rows; row++)
                fprintf(file, "%s%.15g%s",
                        row > 1      ? ","
                        : column > 0 ? ",["
                                     : "[",
                        column == 0   ? row
                        : column == 1 ? row / 4.0
                                      : row * 1.37,
                        row == rows ? "]" : "");
        fprintf(file, "],\"rows\":%d}}", rows);
        if (fclose(file))
            abort();
        made[i].rows = rows;
    }
    *len = made[i].len;
    return made[i].text;
}
