/* SPDX-License-Identifier: MIT */
/* svg.c - draws the times with gnuplot: bars on a logarithmic scale, floors as marks. The
 * background is transparent, and the colours are legible on light and dark. */
#include "bench.h"

#define INK "#757575"

/* Matched by the beginning of a row's name; the last one is for all others. */
static const struct {
    const char *name;
    unsigned colour;
} colours[] = {
    {"floor.", 0x8c8c8c},    {"session.", 0x2f81f7}, {"execute", 0x2da44e},
    {"tool_call", 0x2da44e}, {"peer.", 0xbf8700},    {"", 0x8957e5},
};

static unsigned svg_colour(const char *name)
{
    size_t i = 0;

    while (strncmp(name, colours[i].name, strlen(colours[i].name)) != 0)
        i++;
    return colours[i].colour;
}

static bool svg_shows(const struct bench_result *result)
{
    return strcmp(result->unit, "us") == 0 && result->median > 0;
}

/* Formats a time for readers. */
static void svg_time(double us, char *text, size_t size)
{
    if (us < 1000)
        snprintf(text, size, "%.3g µs", us);
    else if (us < 1e6)
        snprintf(text, size, "%.3g ms", us / 1e3);
    else
        snprintf(text, size, "%.3g s", us / 1e6);
}

/* Writes the rows from the top down: name, position, median, floor, colour, label of the bar. */
static int svg_data(FILE *gnuplot, const struct bench_result *results, int n)
{
    char took[32];
    int rows = 0, at;

    for (int i = 0; i < n; i++)
        rows += svg_shows(&results[i]);
    at = rows;
    fprintf(gnuplot, "$rows << END\n");
    for (int i = 0; i < n; i++) {
        const struct bench_result *row = &results[i];
        if (!svg_shows(row))
            continue;
        svg_time(row->median, took, sizeof took);
        fprintf(gnuplot, "\"%s\" %d %g ", row->name, at--, row->median);
        if (row->floor > 0)
            fprintf(gnuplot, "%g %u \"%s, %.1f ×\"\n", row->floor, svg_colour(row->name), took,
                    row->ratio);
        else
            fprintf(gnuplot, "NaN %u \"%s\"\n", svg_colour(row->name), took);
    }
    fprintf(gnuplot, "END\n");
    return rows;
}

bool bench_write_svg(const char *path, const struct bench_result *results, int n)
{
    FILE *gnuplot = strchr(path, '\'') ? NULL : popen("gnuplot -", "w");

    if (!gnuplot) {
        fprintf(stderr, "bench: %s: gnuplot cannot be started\n", path);
        return false;
    }
    fprintf(gnuplot, "set encoding utf8\n");
    int rows = svg_data(gnuplot, results, n);
    fprintf(gnuplot,
            "set terminal svg size 900,%d dynamic noenhanced font 'sans-serif,13'\n"
            "set output '%s'\n"
            "set title 'Medians of one run, each with its floor (x)' textcolor rgb '" INK "'\n"
            "set xtics ('1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, "
            "'1 s' 1e6, '10 s' 1e7)\n"
            "set border 3 lc rgb '" INK "'\n"
            "set tics nomirror textcolor rgb '" INK "'\n"
            "set grid x lc rgb '" INK "' lw 0.3 dt 3\n"
            "set logscale x\nset xrange [1:*]\n"
            "set yrange [0.3:%d.7]\nset key off\nset lmargin 26\nset rmargin 18\n"
            "plot $rows using 3:2:(1):3:($2-0.36):($2+0.36):5:ytic(1) with boxxyerror "
            "fs solid 0.85 noborder lc rgb variable, "
            "$rows using 4:2 with points pt 2 ps 0.7 lc rgb '#d1242f', "
            "$rows using 3:2:6 with labels left offset 0.8,0 textcolor rgb '" INK "'\n",
            80 + 22 * rows, path, rows);
    if (pclose(gnuplot)) {
        fprintf(stderr, "bench: %s: gnuplot failed, or is not installed\n", path);
        return false;
    }
    return true;
}
