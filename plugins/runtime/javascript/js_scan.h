/* SPDX-License-Identifier: MIT */
/* js_scan.h - what the engine gets for the text of an execution or of a module.
 *
 * The engine evaluates scripts only: no top-level `await`, no modules, and a `let` of one script
 * can never be declared again. So the text is put into a block or an asynchronous function, in
 * which its declarations are local, and calls hand them over: `__publish({get a(){return a},...})`
 * gets an object with accessors for the names. The text keeps its lines; columns are told by
 * js_scan_column. What must not be guessed is left to the engine: where the recogniser meets what
 * it does not know, the text is `unsure` and unchanged.
 *
 * In the box; the input is not trusted. */
#ifndef LAZ_JS_SCAN_H
#define LAZ_JS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum js_want {
    JS_WANT_SESSION, /* an execution: its value, and names that stay */
    JS_WANT_SCRIPT,  /* as it is: PLAIN, whatever it has */
    JS_WANT_ASYNC,   /* an execution, as an asynchronous function in any case */
    JS_WANT_STRICT,  /* the same in strict mode, as code of a module */
    JS_WANT_MODULE,  /* the body of a function for a module's file */
};

enum js_form {
    JS_PLAIN,  /* the text */
    JS_BLOCK,  /* {__publish({...});TEXT}, whose completion value is that of the text */
    JS_ASYNC,  /* (async()=>{IMPORTS __publish({...});TEXT}), which returns its last expression */
    JS_MODULE, /* __export({...});IMPORTS TEXT */
};

/* A place on a line of the result where text was put in. */
struct js_shift {
    size_t line, column; /* both from 1; the column is that of the result */
    ptrdiff_t units;     /* of UTF-16, put in; negative: left out */
};

struct js_scan {
    enum js_form form;
    char *text; /* NULL: the code as it was given */
    size_t len;
    size_t prefix; /* UTF-16 units before the code on its first line */
    /* Each with a NUL, and an empty one at the end; NULL: none. PLAIN and BLOCK: the names that
     * `var` and functions define, as properties of the global object. ASYNC: those of `var`, which
     * may have a value from before. */
    char *names;
    bool has_await, has_return;  /* outside of functions */
    bool has_import, has_export; /* declarations: it is a module */
    bool strict;                 /* by "use strict" before it, or as a module */
    bool unsure;                 /* not understood, or not JavaScript: form is JS_PLAIN */
    struct js_shift *shifts;     /* in the order of lines and columns */
    size_t n_shifts;
};

/* Fills `scan`, which js_scan_fini frees in any case. Returns 0, or -1: out of memory. */
int js_scan(const char *code, size_t len, enum js_want want, struct js_scan *scan);
void js_scan_fini(struct js_scan *scan);

/* The column of the code for one of the result; both from 1, in UTF-16 units. */
size_t js_scan_column(const struct js_scan *scan, size_t line, size_t column);

#endif
