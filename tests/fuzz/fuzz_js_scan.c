/* SPDX-License-Identifier: MIT */
/* fuzz_js_scan.c - the recogniser of JavaScript with any bytes: it ends, what it does not
 * understand is unchanged, the result has the lines of the code and is not longer than what its
 * names and statements account for, and columns of it are columns of the code. */
#include "js_scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static size_t lines_of(const char *text, size_t len)
{
    size_t lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check_names(const char *names)
{
    must(!names || *names);
    for (; names && *names; names += strlen(names) + 1)
        must(strcmp(names, "await") != 0);
}

static void check_shifts(const struct js_scan *scan)
{
    for (size_t i = 0; i < scan->n_shifts; i++) {
        const struct js_shift *shift = &scan->shifts[i];
        must(!i || shift->line > shift[-1].line ||
             (shift->line == shift[-1].line && shift->column >= shift[-1].column));
        size_t column = js_scan_column(scan, shift->line, shift->column);
        must(column >= 1 && column <= shift->column + scan->len);
    }
}

static void check_text(const struct js_scan *scan, const char *code, size_t len, enum js_want want)
{
    size_t added = scan->form == JS_BLOCK || scan->form == JS_ASYNC;

    must(lines_of(scan->text, scan->len) == lines_of(code, len) + added);
    must(scan->text[scan->len] == 0 && scan->prefix <= scan->len);
    must(scan->len <= 200 + 60 * len);
    must(want != JS_WANT_SCRIPT || scan->form == JS_PLAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int want = JS_WANT_SESSION; want <= JS_WANT_MODULE; want++) {
        struct js_scan scan;
        must(js_scan((const char *)data, size, (enum js_want)want, &scan) == 0);
        must(!scan.unsure || (scan.form == JS_PLAIN && !scan.text && !scan.names));
        if (scan.text)
            check_text(&scan, (const char *)data, size, (enum js_want)want);
        check_names(scan.names);
        check_shifts(&scan);
        js_scan_fini(&scan);
    }
    return 0;
}
