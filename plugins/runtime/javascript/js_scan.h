/* SPDX-License-Identifier: MIT */
/* js_scan.h - a recogniser of JavaScript. Side: box. */
#ifndef JS_SCAN_H
#define JS_SCAN_H
#include <stdbool.h>
#include <stddef.h>

enum js_form { JS_PLAIN, JS_BLOCK, JS_ASYNC, JS_MODULE };
enum js_want { JS_WANT_SESSION, JS_WANT_SCRIPT, JS_WANT_MODULE };

struct js_scan {
    enum js_form form;
    char *text;
    size_t len;
    size_t prefix;
    char *names;
};

int js_scan(const char *code, size_t len, enum js_want want, struct js_scan *scan);
void js_scan_fini(struct js_scan *scan);
#endif
