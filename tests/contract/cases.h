/* SPDX-License-Identifier: MIT */
/* cases.h - text files with cases for a runtime.
 *
 * A line that begins with "== " starts a case and names the rule it shows; lines before the first
 * one are comments, and so are lines of "#" between "== " and the first "--- ". A line "--- WORD"
 * starts a block: what follows it on the line, or else the lines below it up to the next block or
 * case, without the last newline. Steps of a case run one after the other in one fresh runtime;
 * expectations belong to the step above them.
 *
 *     --- options {"path":["/x"]}   [runtime.NAME], before the first step
 *     --- limit memory 67108864     or fsize, of the process, before the runtime starts; memory
 *                                   is skipped under sanitizers, and not set for a runtime that
 *                                   reserves
 *     --- max_message 1000          bytes of a line to the host (the default is 1 MiB)
 *     --- when CODE                 skips the rest unless the value of CODE is true
 *     --- code CODE                 a step: parses and runs it
 *     --- invisible CODE            likewise, and its value is wanted also if it is not visible
 *     --- native CODE               likewise, and its value is wanted in the form of the language
 * alone
 *     --- last CODE                 likewise, and nothing runs after it
 *     --- check CODE                a step: parses it only
 *   expectations:
 *     --- value JSON                exactly this text, white space aside
 *     --- text TEXT                 what the prompt would print; empty: nothing
 *     --- visible yes|no
 *     --- stdout TEXT, --- stderr TEXT   what was written during the step, last newline aside
 *     --- error KIND                runtime, syntax, memory, exit, too_large, fsize
 *     --- message TEXT              part of the error's message
 *     --- line N
 *     --- traceback TEXT            part of one of its lines
 *     --- leave N                   the code ends its process with this status
 *
 * A step without `error` or `leave` must end with a value; one with `error too_large` ends with a
 * value, too, which was left out. WORD@RUNTIME is for that runtime only,
 * for which it replaces WORD. In common.cases every rule has code for every runtime, but for those
 * whose file begins with "Alone: ": what is common to others is not so in them.
 *
 * The tools are: add(a: number, b: number), echo(x), fail(message: string), big(n: integer) a text
 * of n characters, given(s: string, n: number, i: integer, b: boolean, a: array, o: object, v:
 * anything; all optional) its arguments as an object, rnum(x: number, called "numeric" in its
 * declaration), store(record: object, table: string, optional), none(), greet(name: string,
 * greeting: string = "Hello"), my.tool_v2(x: integer) and mirror(x), which is native. */
#ifndef LAZ_TESTS_CASES_H
#define LAZ_TESTS_CASES_H

#include "base/buf.h"
#include "base/error.h"

enum case_word {
    CASE_OPTIONS,
    CASE_LIMIT,
    CASE_MAX_MESSAGE,
    CASE_WHEN,
    CASE_CODE,
    CASE_INVISIBLE,
    CASE_NATIVE,
    CASE_LAST,
    CASE_CHECK,
    CASE_VALUE,
    CASE_TEXT,
    CASE_VISIBLE,
    CASE_STDOUT,
    CASE_STDERR,
    CASE_ERROR,
    CASE_MESSAGE,
    CASE_LINE,
    CASE_TRACEBACK,
    CASE_LEAVE,
    CASE_WORDS
};

struct case_block {
    enum case_word word;
    bool special; /* marked with @RUNTIME */
    char *text;
};

struct test_case {
    char *name;
    char *file;
    unsigned line;
    struct case_block *blocks;
    size_t n_blocks;
    bool foreign; /* it has code for other runtimes only */
};

struct case_list {
    struct test_case *cases;
    size_t n;
};

const char *case_word_name(enum case_word word);
/* Appends the cases of a file; blocks of other runtimes are left out. Errors: "FILE:LINE: ...". */
int case_list_read(struct case_list *list, const char *path, const char *runtime,
                   struct laz_error *err);
void case_list_fini(struct case_list *list);

#endif
