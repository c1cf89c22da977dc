/* SPDX-License-Identifier: MIT */
/* test_patterns.c - which calls get a warning, and which only look similar. */
#include "languages.h"
#include "unit.h"

#include "advice/patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVERYTHING                                                                                 \
    (LAZ_REFUSES_NETWORK | LAZ_REFUSES_PROGRAMS | LAZ_REFUSES_TERMINALS | LAZ_REFUSES_PRIVILEGES)

/* The warnings, one a line, without "which the sandbox refuses". */
static void find(const char *runtime, const char *code, struct laz_buf *text)
{
    static const char tail[] = ", which the sandbox refuses";
    struct laz_strv warnings = LAZ_STRV_INIT;

    CU_ASSERT(
        laz_patterns_find(languages_get(runtime), EVERYTHING, code, strlen(code), &warnings) == 0);
    for (size_t i = 0; i < warnings.n; i++) {
        size_t len = strlen(warnings.items[i]), n = strlen(tail);
        CU_ASSERT(len > n && strcmp(warnings.items[i] + len - n, tail) == 0);
        laz_buf_append(text, warnings.items[i], len > n ? len - n : 0);
        laz_buf_putc(text, '\n');
    }
    laz_strv_fini(&warnings);
}

struct row {
    const char *code, *expected;
};

static void check_rows(const char *runtime, const struct row *rows)
{
    for (; rows->code; rows++) {
        struct laz_buf text = LAZ_BUF_INIT;
        find(runtime, rows->code, &text);
        if (strcmp(laz_buf_text(&text), rows->expected) != 0)
            printf("\n    in: %s", rows->code);
        UNIT_TEXT(laz_buf_text(&text), rows->expected);
        laz_buf_fini(&text);
    }
}

/* Behaviour 77: each of its names. */
static void patterns_r_flags_each_name(void)
{
    static const char *const names[] = {
        "system",   "system2",       "shell",      "pipe",      "processx::run",
        "callr::r", "download.file", "curl::curl", "httr::GET", "socketConnection",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char code[64], expected[80];
        snprintf(code, sizeof code, "%s(\"x\")", names[i]);
        snprintf(expected, sizeof expected, "line 1: call of `%s()`\n", names[i]);
        check_rows("r", (struct row[]){{code, expected}, {NULL, NULL}});
        snprintf(code, sizeof code, "y <- 1\nx <- %s (\"x\")", names[i]);
        snprintf(expected, sizeof expected, "line 2: call of `%s()`\n", names[i]);
        check_rows("r", (struct row[]){{code, expected}, {NULL, NULL}});
    }
}

static void patterns_r_knows_the_language(void)
{
    static const struct row rows[] = {
        {"system(\"ls\"); pipe(\"x\")", "line 1: call of `system()`\nline 1: call of `pipe()`\n"},
        {"base::system(\"ls\")", "line 1: call of `system()`\n"},
        {"base:::system(\"ls\")", "line 1: call of `system()`\n"},
        {"`system`(\"ls\")", "line 1: call of `system()`\n"},
        {"\"system\"(\"ls\")", "line 1: call of `system()`\n"},
        {"get(\"system\")(\"ls\")", "line 1: call of `system()` through `get()`\n"},
        {"do.call(\"system\", list(\"ls\"))", "line 1: call of `system()` through `do.call()`\n"},
        {".Internal(x); .Call(x); dyn.load(x); Sys.setenv(a = 1)", ""},
        {"f(\n\n system(\n'x'))", "line 3: call of `system()`\n"},
        {"x <- 'a\nb'\nsystem('x')", "line 3: call of `system()`\n"},
        {"system('a'); system('b')", "line 1: call of `system()`\n"},
        {"mysystem('x'); system.time(1); system_x(1)", ""},
        {"u <- url('a'); close(u)", ""}, /* that opens nothing */
        {"x$system('a'); x@url('a'); other::system('a')", ""},
        {"print(\"system(1)\"); # system(1)\n'it\\'s system(1)'", ""},
        {"r\"-(system('x') )\" system(\")-\"", ""},
        {"system <- 1\n(2)", ""},
        {"get(x, \"system\")", ""},
        {"paste(\"system\", (1))", ""},
        {"lm(y ~ x, data)", ""},
        {"1", ""},
        {"", ""},
        {"  \n\t", ""},
        {"'never ends", ""},
        {NULL, NULL},
    };

    check_rows("r", rows);
}

static void patterns_python_knows_the_language(void)
{
    static const struct row rows[] = {
        {"os.system('ls')", "line 1: call of `os.system()`\n"},
        {"import subprocess\nsubprocess.run(['ls'])", "line 2: call of `subprocess.run()`\n"},
        {"import subprocess as sp\nsp.Popen('x')", "line 2: call of `subprocess.Popen()`\n"},
        {"from os import system\nsystem('x')", "line 2: call of `os.system()`\n"},
        {"from os import (path,\n  popen as p)\np('x')", "line 3: call of `os.popen()`\n"},
        {"if True:\n    import pty as c\n    c.spawn('x')", "line 3: call of `pty.spawn()`\n"},
        {"os.setuid(1); os.chroot('1')",
         "line 1: call of `os.setuid()`\nline 1: call of `os.chroot()`\n"},
        {"eval('1'); exec('1'); ctypes.CDLL(None); multiprocessing.Pool(); os.fork()", ""},
        {"getattr(os, 'system')('x')", "line 1: call of `os.system()` through `getattr()`\n"},
        {"socket.socket()", "line 1: call of `socket.socket()`\n"},
        {"socket.gethostname(); socket.socketpair(); socket.inet_aton('1.2.3.4')", ""},
        {"ssl.create_default_context(); urllib.request.Request(u)", ""},
        {"os.execv('x', [])", "line 1: call of `os.execv()`\n"},
        {"urllib.request.urlopen(u)", "line 1: call of `urllib.request.urlopen()`\n"},
        {"x = (os\n  .system\n  ('x'))", "line 1: call of `os.system()`\n"},
        {"\"\"\"\nos.system('x')\n\"\"\"\nos.popen('1')", "line 4: call of `os.popen()`\n"},
        {"rb'os.system(1)'; f'{x} os.popen(1)' # os.popen(1)", ""},
        {"from os import system\ndef system(x):\n  pass", ""},
        {"model.os.system()\nx[0].os.system(1)\n're'.system(1)\nre.popen('x')", ""},
        {"os.path.join('a', 'b')\nos.getcwd()", ""},
        {"import os, sys\nprint(sys.path)", ""},
        {"getattr(x, 'system')", ""},
        {"x = 'it ends here\nos.popen (1)", "line 2: call of `os.popen()`\n"},
        {NULL, NULL},
    };

    check_rows("python", rows);
}

static void patterns_lua_knows_the_language(void)
{
    static const struct row rows[] = {
        {"os.execute('ls')", "line 1: call of `os.execute()`\n"},
        {"os.execute 'ls'", "line 1: call of `os.execute()`\n"},
        {"os.execute [[ls]]", "line 1: call of `os.execute()`\n"},
        {"os['execute']('ls')", "line 1: call of `os.execute()`\n"},
        {"_G.io.popen('x')", "line 1: call of `io.popen()`\n"},
        {"local f = io.popen\n(\"x\")", "line 1: call of `io.popen()`\n"},
        {"require 'socket'", "line 1: loading of `socket`\n"},
        {"local s = require(\"socket.http\")", "line 1: loading of `socket.http`\n"},
        {"debug.getinfo(1)\nload('x')\npackage.loadlib('x', 'y')\nrequire 'lfs'", ""},
        {"x = 'a'..io.popen(x)", "line 1: call of `io.popen()`\n"},
        {"-- io.popen(x)\n--[==[ io.popen(x)\n]] io.popen(x) ]==]\nio.popen(x)",
         "line 4: call of `io.popen()`\n"},
        {"x = [=[ io.popen(x) ]=] .. 'io.popen(x)'", ""},
        {"function io.popen(x) end", ""},
        {"obj.io.popen(x)\nf().io.popen(x)\nt[1].io.popen(x)\nio.popen[(1)]", ""},
        {"require 'mymodule'\nos.time()\nio.write('x')", ""},
        {"x = #t --[[ never ends", ""},
        {NULL, NULL},
    };

    check_rows("lua", rows);
}

static void patterns_javascript_knows_the_language(void)
{
    static const struct row rows[] = {
        {"const r = await fetch('http://x')", "line 1: call of `fetch()`\n"},
        {"globalThis.fetch(u); new WebSocket(u)",
         "line 1: call of `fetch()`\nline 1: call of `WebSocket()`\n"},
        {"const http = require('http')\nhttp.get(u)",
         "line 1: loading of `http`\nline 2: call of `http.get()`\n"},
        {"require(\"node:net\")", "line 1: loading of `node:net`\n"},
        {"child_process\n  .exec('ls')", "line 1: call of `child_process.exec()`\n"},
        {"const { execSync } = require('child_process')\nexecSync(`ls\n`)",
         "line 2: call of `execSync()`\n"},
        {"/* fetch(u)\n'*/ fetch(u) // fetch(u)", "line 2: call of `fetch()`\n"},
        {"const s = `fetch(u)\n'${u} \\` fetch(u)`; 'fetch(u)'", ""},
        {"/re/.exec('x'); api?.fetch(u); this.fetch(u); $fetch(u)", ""},
        {"async function fetch(u) {}\nclass A { async fetch(u) {} }", ""},
        {"require('fs'); require('./http')", ""},
        {"/* never ends fetch(u)", ""},
        {"`never ends fetch(u)", ""},
        {NULL, NULL},
    };

    check_rows("javascript", rows);
}

static void patterns_of_other_languages_are_none(void)
{
    check_rows("", (struct row[]){{"eval('1'); system('x')", ""}, {NULL, NULL}});
}

static void patterns_are_those_of_what_is_refused(void)
{
    static const char code[] = "socket.socket()\nos.system('x')\npty.spawn('x')\nos.chroot('x')";
    static const struct {
        uint32_t refused;
        const char *call;
    } rows[] = {
        {LAZ_REFUSES_NETWORK, "line 1: call of `socket.socket()`, which the sandbox refuses"},
        {LAZ_REFUSES_PROGRAMS, "line 2: call of `os.system()`, which the sandbox refuses"},
        {LAZ_REFUSES_TERMINALS, "line 3: call of `pty.spawn()`, which the sandbox refuses"},
        {LAZ_REFUSES_PRIVILEGES, "line 4: call of `os.chroot()`, which the sandbox refuses"},
        {0, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_strv warnings = LAZ_STRV_INIT;
        CU_ASSERT_EQUAL(laz_patterns_find(languages_get("python"), rows[i].refused, code,
                                          sizeof code - 1, &warnings),
                        0);
        CU_ASSERT_EQUAL_FATAL(warnings.n, rows[i].call ? 1 : 0);
        if (rows[i].call)
            UNIT_TEXT(warnings.items[0], rows[i].call);
        laz_strv_fini(&warnings);
    }
}

static void patterns_stop_at_a_hundred(void)
{
    struct laz_buf code = LAZ_BUF_INIT;
    struct laz_strv warnings = LAZ_STRV_INIT;

    for (int i = 0; i < 500; i++)
        laz_buf_puts(&code, "system('x')\n");
    laz_strv_add(&warnings, "there before");
    CU_ASSERT(laz_patterns_find(languages_get("r"), EVERYTHING, code.data, code.len, &warnings) ==
              0);
    CU_ASSERT(warnings.n == 1 + LAZ_PATTERNS_MAX);
    UNIT_TEXT(warnings.items[100], "line 100: call of `system()`, which the sandbox refuses");
    laz_strv_fini(&warnings);
    laz_buf_fini(&code);
}

/* Any bytes take linear time; the bound is generous. */
static void patterns_take_any_bytes_in_linear_time(void)
{
    static const char *const pieces[] = {
        "r\"---", "[====", "]===",           "--[[",    "\"",  "'",    "`",
        "a.",     "a[",    "import a as b,", "from a ", "\\",  "((((", "\xff\xfe",
        "\"\"\"", "a\n",   "get(\"",         "1.",      "...", "::",   "\"a\"[\"b\"",
    };
    static const char *const runtimes[] = {"r", "python", "lua"};
    enum { SIZE = 1 << 16 }; /* what takes the square of it, takes seconds */
    char *code = malloc(SIZE);

    CU_ASSERT_FATAL(code != NULL);
    for (size_t i = 0; i < 3 * sizeof pieces / sizeof pieces[0]; i++) {
        struct laz_strv warnings = LAZ_STRV_INIT;
        const char *piece = pieces[i / 3];
        for (size_t k = 0; k < SIZE; k++)
            code[k] = piece[k % strlen(piece)];
        clock_t start = clock(); /* CPU time, because others use the processor too */
        CU_ASSERT(laz_patterns_find(languages_get(runtimes[i % 3]), EVERYTHING, code, SIZE,
                                    &warnings) == 0);
        CU_ASSERT(clock() - start < CLOCKS_PER_SEC * 5 / 8);
        laz_strv_fini(&warnings);
    }
    memset(code, 0, SIZE);
    struct laz_strv warnings = LAZ_STRV_INIT;
    CU_ASSERT(laz_patterns_find(languages_get("python"), EVERYTHING, code, SIZE, &warnings) == 0);
    CU_ASSERT(warnings.n == 0);
    laz_strv_fini(&warnings);
    free(code);
}

static const struct unit_test tests[] = {
    UNIT(patterns_r_flags_each_name),
    UNIT(patterns_r_knows_the_language),
    UNIT(patterns_python_knows_the_language),
    UNIT(patterns_lua_knows_the_language),
    UNIT(patterns_javascript_knows_the_language),
    UNIT(patterns_of_other_languages_are_none),
    UNIT(patterns_are_those_of_what_is_refused),
    UNIT(patterns_stop_at_a_hundred),
    UNIT(patterns_take_any_bytes_in_linear_time),
    {0},
};

int main(void)
{
    return unit_run("patterns", tests);
}
