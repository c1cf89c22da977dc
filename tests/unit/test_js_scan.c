/* SPDX-License-Identifier: MIT */
/* test_js_scan.c - the text that the JavaScript engine gets for the code of an execution or a
 * module. */
#include "unit.h"

#include "js_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What publishes names, and what is around the code. */
#define A                    "__publish({get a(){return a},set a(v){a=v}});"
#define F                    "__publish({get f(){return f},set f(v){f=v}});"
#define AB                   "__publish({get a(){return a},set a(v){a=v},get b(){return b},set b(v){b=v}});"
#define BLOCK(before, text)  "{" before text "\n}"
#define ASYNC(before, text)  "(async()=>{" before text "\n})"
#define STRICT(before, text) "(async()=>{'use strict';" before text "\n})"

struct row {
    const char *code, *text; /* NULL: as the code is */
    const char *names;       /* with spaces between */
};

/* The names of the result, with spaces between. */
static const char *names_of(const struct js_scan *scan)
{
    static char text[200];
    size_t len = 0;

    for (const char *name = scan->names; name && *name; name += strlen(name) + 1)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? " " : "", name);
    text[len] = 0;
    return text;
}

/* Scans a copy of exactly this size, so that a sanitizer detects a read beyond its end. */
static int scan_copy(const char *code, size_t len, enum js_want want, struct js_scan *scan)
{
    char *copy = malloc(len ? len : 1);

    memcpy(copy, code, len);
    int rc = js_scan(copy, len, want, scan);
    free(copy);
    return rc;
}

static void check(const struct row *rows, size_t n, enum js_want want, enum js_form form)
{
    for (size_t i = 0; i < n; i++) {
        struct js_scan scan;
        CU_ASSERT_EQUAL(scan_copy(rows[i].code, strlen(rows[i].code), want, &scan), 0);
        UNIT_TEXT(scan.text, rows[i].text);
        UNIT_TEXT(names_of(&scan), rows[i].names ? rows[i].names : "");
        CU_ASSERT_EQUAL(scan.form, form);
        CU_ASSERT_FALSE(scan.unsure);
        CU_ASSERT_EQUAL(scan.len, scan.text ? strlen(scan.text) : 0);
        js_scan_fini(&scan);
    }
}

#define CHECK(rows, want, form) check(rows, sizeof(rows) / sizeof *(rows), want, form)

static void code_without_declarations_stays_as_it_is(void)
{
    static const struct row rows[] = {
        {"", NULL, NULL},
        {"1 + 1", NULL, NULL},
        {"var a = 1, {b, c: [d, ...e], ...g} = h", NULL, "a b d e g"},
        {"for (var i = 0; i < 3; i++) { var j; let k; function f() { var l } }", NULL, "i j f"},
        {"'use strict'; { function f() {} }", NULL, NULL},
        {"{ async function f() {} function* g() {} const h = 1; class I {} }", NULL, NULL},
        {"x = function f() { let a; return await_; }", NULL, NULL},
        {"var let_, async, of, get, set; async\n(b) ; let = 5", NULL, "let_ async of get set"},
        {"(() => { for (var a of b) return async () => await c })()", NULL, NULL},
        {"class_ = class { static { var a; await_ } b = () => { var c } }", NULL, NULL},
        {"switch (a) { case b ? c : d: var e; default: var g }", NULL, "e g"},
        {"try {} catch ({a, b: [c]}) { var d } finally { var e }", NULL, "d e"},
        {"a.import(b); a?.import; ({import: 1, import() {}})", NULL, NULL},
    };

    CHECK(rows, JS_WANT_SESSION, JS_PLAIN);
}

static void declarations_are_published_from_a_block(void)
{
    static const struct row rows[] = {
        {"let a = 1", BLOCK(A, "let a = 1"), NULL},
        {"const a = 1\na // end", BLOCK(A, "const a = 1\na // end"), NULL},
        {"class a {}", BLOCK(A, "class a {}"), NULL},
        {"function f() { var x; let y }", BLOCK(F, "function f() { var x; let y }"), "f"},
        {"async function f() { await x }", BLOCK(F, "async function f() { await x }"), "f"},
        {"let {a, c: [b]} = d; var e", BLOCK(AB, "let {a, c: [b]} = d; var e"), "e"},
        {"let v = 1", BLOCK("__publish({get v(){return v},set v(w){v=w}});", "let v = 1"), NULL},
        {"let \\u0061, \\u{62}", BLOCK(AB, "let \\u0061, \\u{62}"), NULL},
        {"let \xc3\xa9",
         BLOCK("__publish({get \xc3\xa9(){return \xc3\xa9},set \xc3\xa9(v){\xc3\xa9=v}});",
               "let \xc3\xa9"),
         NULL},
        {"'use strict'\nlet a", "'use strict';void 0;{" A "'use strict'\nlet a\n}", NULL},
        {"'a'; \"use strict\" /* b */; let a",
         "'use strict';void 0;{" A "'a'; \"use strict\" /* b */; let a\n}", NULL},
        {"('use strict'); let a", BLOCK(A, "('use strict'); let a"), NULL},
        {"'use strict' + 1; let a", BLOCK(A, "'use strict' + 1; let a"), NULL},
        {"let\na", BLOCK(A, "let\na"), NULL},
        {"#!/usr/bin/node\nlet a", BLOCK(A, "               \nlet a"), NULL},
        {"--> b\nlet a\n--> c", BLOCK(A, "//> b\nlet a\n--> c"), NULL},
        {"let a = import('b')", BLOCK(A, "let a = __import('b')"), NULL},
        {"let a = `${import.meta}${{b: `}`}.b}`; b",
         BLOCK(A, "let a = `${__meta}${{b: `}`}.b}`; b"), NULL},
    };

    CHECK(rows, JS_WANT_SESSION, JS_BLOCK);
}

/* In a block, a function must not have the name of another one or of a variable. */
static void functions_declared_twice_are_in_a_function(void)
{
    static const struct row rows[] = {
        {"function f() {} function f() {}", ASYNC(F, "function f() {} function f() {}"), NULL},
        {"var f; function f() {}", ASYNC(F, "var f; function f() {}"), "f"},
        {"function f() {} { var f }", ASYNC(F, "function f() {} { var f }"), "f"},
        {"{ function f() {} } function f() {}", ASYNC(F, "{ function f() {} } function f() {}"),
         "f"},
    };

    CHECK(rows, JS_WANT_SESSION, JS_ASYNC);
}

static void what_waits_is_an_asynchronous_function(void)
{
    static const struct row rows[] = {
        {"await b", ASYNC("", "__at(1);return (await b)"), NULL},
        {"const a = await b;\n\na;", ASYNC(A, "__at(1);const a = await b;\n\n__at(3);return (a);"),
         NULL},
        {"var a = await b", ASYNC(A, "__at(1);var a = await b"), "a"},
        {"for await (var a of b) c", ASYNC(A, "__at(1);for await (var a of b) c"), "a"},
        {"return 5", ASYNC("", "return 5"), NULL},
        {"'use strict'; await b",
         "(async()=>{'use strict';'use strict'; __at(1);return (await b)\n})", NULL},
        {"(await b) // c", ASYNC("", "__at(1);return ((await b)) // c"), NULL},
        {"await /b/.test(c)", ASYNC("", "__at(1);return (await /b/.test(c))"), NULL},
        {"b\n++c\nawait d", ASYNC("", "b\n++c\n__at(3);return (await d)"), NULL},
        {"b\n(await c)", ASYNC("", "__at(1);return (b\n(await c))"), NULL},
        {"class a extends (await b) { [await c] = 1 }",
         ASYNC(A, "__at(1);class a extends (await b) { [await c] = 1 }"), NULL},
        {"await import('b')", ASYNC("", "__at(1);return (await __import('b'))"), NULL},
        {"`\n`\nb(`${await c}`)", ASYNC("", "`\n`\n__at(3);return (b(`${await c}`))"), NULL},
        {"'\\\r\n'\r\nawait b", ASYNC("", "'\\\r\n'\r\n__at(3);return (await b)"), NULL},
        {"b\xe2\x80\xa8"
         "await c",
         ASYNC("", "b\xe2\x80\xa8"
                   "__at(2);return (await c)"),
         NULL},
        {"x = await\nlet_", ASYNC("", "__at(1);return (x = await\nlet_)"), NULL},
    };

    CHECK(rows, JS_WANT_SESSION, JS_ASYNC);
}

static void the_last_expression_is_returned_from_its_branch(void)
{
    static const struct row rows[] = {
        {"if (a) { b; c } else if (d) e\nelse { let f; g; }",
         ASYNC("", "if (a) { b; return (c) } else if (d) return (e)\nelse { let f; return (g); }"),
         NULL},
        {"try { a } catch (e) { b } finally { c }",
         ASYNC("", "try { return (a) } catch (e) { return (b) } finally { c }"), NULL},
        {"l: { a; b }", ASYNC("", "l: { a; return (b) }"), NULL},
        {"for (;;) a", ASYNC("", "for (;;) a"), NULL},
        {"switch (a) { case b: c }", ASYNC("", "switch (a) { case b: c }"), NULL},
        {"a;; function f() {}", ASYNC(F, "__at(1);return (a);; function f() {}"), NULL},
        {"a; debugger", ASYNC("", "a; debugger"), NULL},
    };

    CHECK(rows, JS_WANT_ASYNC, JS_ASYNC);
}

static void imports_of_an_execution_come_first(void)
{
    static const struct row rows[] = {
        {"import 'b'\nc", STRICT("await __import('b');", ";         \n__at(2);return (c)"), NULL},
        {"import a, {c as b} from 'd'; b",
         STRICT("const {default:a,c:b,}=__named(await __import('d'),'d');" AB,
                ";                            __at(1);return (b)"),
         NULL},
        {"import * as a from 'd' with {type: 'json'}",
         STRICT("const a=await __import('d',{with:{type:'json',}});" A,
                ";                                         "),
         NULL},
        {"import a, * as b from 'd'",
         STRICT("const b=await __import('d'),{default:a,}=__named(b,'d');" AB,
                ";                        "),
         NULL},
        {"import {\n  a\n} from 'b'",
         STRICT("const {a,}=__named(await __import('b'),'b');" A, ";       \n   \n          "),
         NULL},
        {"export const a = 1", STRICT(A, "       const a = 1"), NULL},
        {"export default a; a",
         STRICT("", "const __default={default:( a)}.default;; __at(1);return (a)"), NULL},
    };

    CHECK(rows, JS_WANT_SESSION, JS_ASYNC);
}

static void a_module_without_imports_is_strict(void)
{
    static const struct row rows[] = {
        {"a", STRICT("", "__at(1);return (a)"), NULL},
        {"{ function a() {} }", STRICT("", "{ function a() {} }"), NULL},
    };

    CHECK(rows, JS_WANT_STRICT, JS_ASYNC);
}

static void a_module_exports_before_it_imports(void)
{
    static const struct row rows[] = {
        {"exports.a = require('b'); return", NULL, NULL},
        {"import a from 'b'\nawait a",
         "const {default:a,}=__named(await __import('b'),'b');;                \nawait a", NULL},
        {"export let a = 1, {b} = c; import d from 'e'",
         "__export({get a(){return a},get b(){return b},});"
         "const {default:d,}=__named(await __import('e'),'e');       let a = 1, {b} = c; ;         "
         "       ",
         NULL},
        {"export {a as b, c as default}",
         "__export({get b(){return a},get default(){return c},});;                            ",
         NULL},
        {"export {a, default as b} from 'c'",
         "__exportFrom(await __import('c'),[[\"a\",\"a\"],[\"default\",\"b\"],]);"
         ";                                ",
         NULL},
        {"export * from 'b'", "__exportFrom(await __import('b'),null);;                ", NULL},
        {"export * as a from 'b'",
         "__exportFrom(await __import('b'),[[\"*\",\"a\"]]);;                     ", NULL},
        {"export async function f() {}",
         "__export({get f(){return f},});       async function f() {}", NULL},
        {"export default class f {}",
         "__export({get default(){return f},});               class f {}", NULL},
        {"export default function () {}\n(a)",
         "__export({get default(){return __default},});"
         "const __default={default:( function () {})}.default;\n(a)",
         NULL},
        {"export default async () => import.meta // b",
         "__export({get default(){return __default},});"
         "const __default={default:( async () => __meta)}.default; // b",
         NULL},
    };

    CHECK(rows, JS_WANT_MODULE, JS_MODULE);
}

static void a_script_stays_a_script(void)
{
    static const struct row rows[] = {
        {"let a; await_", NULL, NULL},
        {"let a = await b; var c; function f() {}", NULL, "c f"},
        {"import a from 'b'; import('c')", "import a from 'b'; __import('c')", NULL},
        {"import(a, {b: c},)", "__import(a, {b: c},)", NULL},
    };

    CHECK(rows, JS_WANT_SCRIPT, JS_PLAIN);
}

/* Each of these ends in "let a", which is seen only if what is before it was read right. */
static void a_slash_is_read_where_an_operand_is_expected(void)
{
    static const char *const codes[] = {
        "if (b) /'/.test(c)",
        "while (b) /'/",
        "{} /'/g",
        "b = {} / 2 / c",
        "b = function () {} / 2",
        "(b) / 2 / c",
        "b[0] / 2",
        "b++ / 2",
        "b = c\n/d/g.e",
        "() => {}\n/'/",
        "`b` / 2",
        "/[/'\\]]\\//gu.test(b)",
        "b ? .5 : /'/",
        "b?.c / 2",
        "return_ / 2",
        "typeof /'/",
        "b => /'/",
        "(b, c = /'/) => {}",
        "b = `${/`'/}`",
        "do /'/; while (b) /'/",
        "b = !/'/",
        "b: /'/",
        "case_ / 2",
        "this / 2",
        "b.if / 2",
        "b.return / 2",
        "b /= 2",
        "b = /=/",
        "throw /'/",
        "x = async () => {}\n/'/",
        "class B {} /'/",
        "b = class {} / 2",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char code[100], text[200];
        struct js_scan scan;
        snprintf(code, sizeof code, "%s\nlet a", codes[i]);
        snprintf(text, sizeof text, "{%s%s\n}", A, code);
        CU_ASSERT_EQUAL(scan_copy(code, strlen(code), JS_WANT_SESSION, &scan), 0);
        if (strstr(code, "class B"))
            CU_ASSERT_PTR_NOT_NULL(scan.text)
        else
            UNIT_TEXT(scan.text, text);
        js_scan_fini(&scan);
    }
}

static void statements_and_members_end_where_the_language_ends_them(void)
{
    static const char *const codes[] = {
        "b\n++c",
        "b = c\n`d`",
        "async\n(b)",
        "x = async\ny",
        "yield_\n*2",
        "do b\nwhile (c) d",
        "for (;;) { break\nb }",
        "(function () { return\nb })",
        ("(class { b\nc = 1\n[d] = 2\nget\ne() {}\nstatic async *f() {}\n#g; static h; get\n*i() "
         "{} "
         "})"),
        "(class { static; get; set; async\nj() {} static {} static static() {} 'k' = 1; 5 = 6 })",
        "({get b() {}, set b(v) {}, get, set, async: 1, async *c() {}, [d]: 1, if: 2, 3: 4})",
        "l: for (;;) { continue l }",
        "b = c /* \n */ d",
        "b <!-- c",
        "b = x --> y",
        "b = 1_000 + 0x1fn + 1.5e-5 + 1..c() + 1.5.c() + 08.5 + 0x1.c",
        "b?.[c]?.(d)?.`e`",
        "function* _() { yield\nyield* b; x = yield; [yield]; yield /c/ }",
        "for (async of => 1;;) break",
        "for (x of y) ;",
        "for (b in c) ;",
        "if (b) function f() {}",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char code[200];
        struct js_scan scan;
        snprintf(code, sizeof code, "%s\nclass a {}", codes[i]);
        CU_ASSERT_EQUAL(scan_copy(code, strlen(code), JS_WANT_SESSION, &scan), 0);
        CU_ASSERT_EQUAL(scan.form, JS_BLOCK);
        CU_ASSERT_PTR_NOT_NULL(scan.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(scan.text ? scan.text : "", "get a(){return a}"));
        js_scan_fini(&scan);
    }
}

static void what_is_not_understood_is_left_to_the_engine(void)
{
    static const char *const codes[] = {
        "let a = ",
        "a b",
        "(",
        "`${",
        "'a",
        "/a",
        "/*",
        "let a = \xff",
        "@a class B {}",
        "let await = 1",
        "{ import a from 'b' }",
        "export {'a'}",
        "if",
        "\\u00",
        "\\u{110000}",
        "import\n.meta",
        "import()",
        "import(...a)",
        "import(a, b, c)",
        "new import(a)",
        "let a = 3in b",
        "x =>\n",

        "let if = 1",
        "a\x01",
        "#",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct js_scan scan;
        CU_ASSERT_EQUAL(scan_copy(codes[i], strlen(codes[i]), JS_WANT_SESSION, &scan), 0);
        CU_ASSERT_TRUE(scan.unsure);
        CU_ASSERT_EQUAL(scan.form, JS_PLAIN);
        UNIT_TEXT(scan.text, NULL);
        UNIT_TEXT(scan.names, NULL);
        js_scan_fini(&scan);
    }
}

static void flags_tell_what_there_is(void)
{
    static const struct {
        const char *code;
        bool has_await, has_return, has_import, has_export, strict;
    } rows[] = {
        {"await a", true, false, false, false, false},
        {"for await (a of b);", true, false, false, false, false},
        {"return", false, true, false, false, false},
        {"import 'a'", false, false, true, false, true},
        {"export {}", false, false, false, true, true},
        {"'use strict'", false, false, false, false, true},
        {"async () => { await a; return import('b') }", false, false, false, false, false},
        {"await + 1; await (b)", true, false, false, false, false},
        {"x = await; await = y", false, false, false, false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int want = JS_WANT_SESSION; want <= JS_WANT_MODULE; want++) {
            struct js_scan scan;
            js_scan(rows[i].code, strlen(rows[i].code), (enum js_want)want, &scan);
            CU_ASSERT_EQUAL(scan.has_await, rows[i].has_await);
            CU_ASSERT_EQUAL(scan.has_return, rows[i].has_return);
            CU_ASSERT_EQUAL(scan.has_import, rows[i].has_import);
            CU_ASSERT_EQUAL(scan.has_export, rows[i].has_export);
            CU_ASSERT_EQUAL(scan.strict, rows[i].strict || want == JS_WANT_STRICT);
            js_scan_fini(&scan);
        }
}

/* Where a text of the code stands in the result is told back as where it stands in the code. */
static void columns_are_told_as_those_of_the_code(void)
{
    static const char code[] =
        "let \xf0\x9d\x92\xb3 = await b; MARK1\nMARK2; import(MARK3); await MARK4;"
        "\nfunction f() {}\nimport c from 'd'; MARK5";
    struct js_scan scan;

    CU_ASSERT_EQUAL(js_scan(code, strlen(code), JS_WANT_SESSION, &scan), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scan.text);
    for (int mark = 1; mark <= 5; mark++) {
        char name[8];
        size_t line = 1, columns[2] = {1, 1};
        const char *texts[] = {code, scan.text};
        snprintf(name, sizeof name, "MARK%d", mark);
        for (int i = 0; i < 2; i++) {
            line = 1;
            const char *end = strstr(texts[i], name);
            CU_ASSERT_PTR_NOT_NULL_FATAL(end);
            for (const unsigned char *p = (const unsigned char *)texts[i];
                 p < (const unsigned char *)end; p++) {
                columns[i] = *p == '\n' ? 1 : columns[i] + ((*p & 0xc0) != 0x80) + (*p >= 0xf0);
                line += *p == '\n';
            }
        }
        CU_ASSERT_EQUAL(js_scan_column(&scan, line, columns[1]), columns[0]);
    }
    CU_ASSERT_EQUAL(js_scan_column(&scan, 1, scan.prefix + 1), 1);
    CU_ASSERT_EQUAL(js_scan_column(&scan, 1, 3), 1);
    CU_ASSERT_EQUAL(js_scan_column(&scan, 99, 3), 3);
    js_scan_fini(&scan);
}

static char *repeated(const char *text, size_t n)
{
    size_t len = strlen(text);
    char *all = malloc(len * n + 1);

    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, text, len);
    all[len * n] = 0;
    return all;
}

static void nesting_has_a_bound(void)
{
    static const char *const pieces[] = {"(",
                                         "[",
                                         "{",
                                         "({a:",
                                         "`${",
                                         "a=>",
                                         "if(a)",
                                         "a?",
                                         "class extends ",
                                         "function f(){",
                                         "var [",
                                         "a:",
                                         "class A{static{",
                                         "async(",
                                         "do "};
    static const char *const flat[] = {"a?b:",   "a+",          "!",  "new ",
                                       "await ", "if(a);else ", "a,", "typeof "};

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct js_scan scan;
        char *code = repeated(pieces[i], 100000);
        CU_ASSERT_EQUAL(scan_copy(code, strlen(code), JS_WANT_SESSION, &scan), 0);
        CU_ASSERT_TRUE(scan.unsure);
        js_scan_fini(&scan);
        free(code);
    }
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        struct js_scan scan;
        char *code = repeated(flat[i], 100000);
        code[strlen(code) - 1] = flat[i][strlen(flat[i]) - 1] == ' ' ? ' ' : code[strlen(code) - 1];
        char *whole = malloc(strlen(code) + 2);
        sprintf(whole, "%sb", code);
        CU_ASSERT_EQUAL(scan_copy(whole, strlen(whole), JS_WANT_SESSION, &scan), 0);
        CU_ASSERT_FALSE(scan.unsure);
        js_scan_fini(&scan);
        free(whole);
        free(code);
    }
}

static void any_beginning_of_a_text_is_read(void)
{
    static const char code[] =
        "#!x\n'use strict'; import a, {b as c} from \"d\" with {e: 'f'}\n/*g*/ let h = "
        "`i${j}` / /[k]/u ?? await l?.m, \\u006e = async ({o = 1}, ...p) => {}\n"
        "class Q { static #r = 0x1n; get [s]() {} static {} }\n--> t\nexport default 1e5";

    for (size_t len = 0; len < sizeof code; len++)
        for (int want = JS_WANT_SESSION; want <= JS_WANT_MODULE; want++) {
            struct js_scan scan;
            CU_ASSERT_EQUAL(scan_copy(code, len, (enum js_want)want, &scan), 0);
            js_scan_fini(&scan);
        }
}

static const struct unit_test tests[] = {
    UNIT(code_without_declarations_stays_as_it_is),
    UNIT(declarations_are_published_from_a_block),
    UNIT(functions_declared_twice_are_in_a_function),
    UNIT(what_waits_is_an_asynchronous_function),
    UNIT(the_last_expression_is_returned_from_its_branch),
    UNIT(imports_of_an_execution_come_first),
    UNIT(a_module_without_imports_is_strict),
    UNIT(a_module_exports_before_it_imports),
    UNIT(a_script_stays_a_script),
    UNIT(a_slash_is_read_where_an_operand_is_expected),
    UNIT(statements_and_members_end_where_the_language_ends_them),
    UNIT(what_is_not_understood_is_left_to_the_engine),
    UNIT(flags_tell_what_there_is),
    UNIT(columns_are_told_as_those_of_the_code),
    UNIT(nesting_has_a_bound),
    UNIT(any_beginning_of_a_text_is_read),
    {0},
};

int main(void)
{
    return unit_run("js_scan", tests);
}
