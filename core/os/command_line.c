/* SPDX-License-Identifier: MIT */
/* command_line.c - the arguments and the environment of a child on Windows: one text each.
 * Side: host.  Input trusted: yes, but arguments may contain anything.
 *
 * Windows passes one text to a program, and the program parses it.  There are two rules.  In the
 * first word, the program, a quotation mark always ends the word and a backslash is a backslash. In
 * the others backslashes stand for themselves, unless a quotation mark follows them: then two stand
 * for one, and the mark is text when one is left over.  Nothing here is for cmd.exe, which parses
 * its command line by rules of its own; lazaret starts no shell, and no batch file, for which
 * Windows would start one. */
#include "os/command_line.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_UNITS 32767u /* of UTF-16, the NUL included */

/* The length of a text in units of UTF-16; SIZE_MAX: it is not UTF-8. */
static size_t line_units(const char *text)
{
    size_t len = strlen(text), units = 0;

    for (size_t i = 0, n; i < len; i += n) {
        n = laz_utf8_sequence(text + i, len - i);
        if (!n)
            return SIZE_MAX;
        units += n == 4 ? 2 : 1; /* a pair of surrogates */
    }
    return units;
}

/* Must it be quoted to stay one word? */
static bool line_is_apart(const char *arg)
{
    if (!*arg)
        return true;
    for (const char *c = arg; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == '"')
            return true;
    return false;
}

static void line_program(const char *program, struct laz_buf *line)
{
    const char *mark = line_is_apart(program) ? "\"" : "";

    laz_buf_printf(line, "%s%s%s", mark, program, mark);
}

static void line_argument(const char *arg, struct laz_buf *line)
{
    size_t backslashes = 0;

    if (!line_is_apart(arg)) {
        laz_buf_puts(line, arg);
        return;
    }
    laz_buf_putc(line, '"');
    for (const char *c = arg; *c; c++) {
        for (; *c == '"' && backslashes; backslashes--)
            laz_buf_putc(line, '\\');
        if (*c == '"')
            laz_buf_putc(line, '\\');
        backslashes = *c == '\\' ? backslashes + 1 : 0;
        laz_buf_putc(line, *c);
    }
    for (; backslashes; backslashes--) /* the mark that ends the word follows */
        laz_buf_putc(line, '\\');
    laz_buf_putc(line, '"');
}

static unsigned char line_fold(char c)
{
    return (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

/* CreateProcessW decides by the end of the name, after the system has removed trailing dots and
 * blanks (CVE-2024-24576, CVE-2024-43402). In "x:y.bat" the end belongs to a stream of the file. */
const char *laz_command_line_refuses(const char *path)
{
    static const char *const batch[] = {".BAT", ".CMD"};
    size_t len = strlen(path);

    if (len > 2 && strchr(path + 2, ':'))
        return "names an alternate stream of a file";
    while (len && strchr(" \t./\\", path[len - 1]))
        len--;
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++) {
        size_t at = 0;
        while (len >= 4 && at < 4 && (char)line_fold(path[len - 4 + at]) == batch[i][at])
            at++;
        if (at == 4)
            return "is a batch file: Windows hands those to cmd.exe, which takes parts of their "
                   "arguments for commands; name a program (.exe) instead";
    }
    return NULL;
}

int laz_command_line(const char *const *argv, struct laz_buf *line, struct laz_error *err)
{
    const size_t start = line->len;

    if (!argv[0] || !argv[0][0])
        return laz_error_set(err, LAZ_EINVAL, 0, "a command line without a program");
    if (strchr(argv[0], '"'))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "%s: the path of a program cannot have a quotation mark", argv[0]);
    for (size_t i = 0; argv[i]; i++) {
        if (line_units(argv[i]) == SIZE_MAX)
            return laz_error_set(err, LAZ_EINVAL, 0, "%s: argument %zu is not UTF-8", argv[0], i);
        if (i)
            laz_buf_putc(line, ' ');
        (i ? line_argument : line_program)(argv[i], line);
    }
    if (line->failed)
        return laz_error_nomem(err);
    if (line_units(line->data + start) >= LINE_MAX_UNITS)
        return laz_error_set(err, LAZ_ETOOBIG, 0,
                             "%s: its arguments are longer than the 32766 characters that Windows "
                             "takes",
                             argv[0]);
    return 0;
}

/* ---- environment ---------------------------------------------------------------------------- */

/* By name only: "=" would sort after digits. */
static int line_compare(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;

    while (*x != '=' && *y != '=' && line_fold(*x) == line_fold(*y)) {
        x++;
        y++;
    }
    if (*x == '=' || *y == '=')
        return (*y == '=') - (*x == '=');
    return line_fold(*x) < line_fold(*y) ? -1 : 1;
}

static int line_check_variable(const char *text, struct laz_error *err)
{
    size_t name = strcspn(text, "=");
    size_t units = line_units(text);

    if (!name || text[name] != '=')
        return laz_error_set(err, LAZ_EINVAL, 0, "environment: \"%s\" is not NAME=VALUE", text);
    if (units == SIZE_MAX)
        return laz_error_set(err, LAZ_EINVAL, 0, "environment: %.*s is not UTF-8", (int)name, text);
    if (units >= LINE_MAX_UNITS)
        return laz_error_set(err, LAZ_ETOOBIG, 0,
                             "environment: %.*s is longer than the 32766 characters that Windows "
                             "takes",
                             (int)name, text);
    return 0;
}

int laz_environment_block(const char *const *env, struct laz_buf *block, struct laz_error *err)
{
    size_t n = 0;
    int rc = 0;

    while (env && env[n])
        n++;
    const char **sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return laz_error_nomem(err);
    for (size_t i = 0; i < n && !rc; i++) {
        sorted[i] = env[i];
        rc = line_check_variable(env[i], err);
    }
    if (!rc)
        qsort(sorted, n, sizeof *sorted, line_compare);
    for (size_t i = 0; i < n && !rc; i++) {
        if (i && line_compare(&sorted[i - 1], &sorted[i]) == 0)
            rc = laz_error_set(err, LAZ_EINVAL, 0, "environment: %.*s is set twice",
                               (int)strcspn(sorted[i], "="), sorted[i]);
        laz_buf_append(block, sorted[i], strlen(sorted[i]) + 1);
    }
    if (!n)
        laz_buf_putc(block, '\0');
    laz_buf_putc(block, '\0');
    free(sorted);
    return rc ? rc : block->failed ? laz_error_nomem(err) : 0;
}
