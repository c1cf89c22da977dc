/* SPDX-License-Identifier: MIT */
/* worst.c (mock) - the most expensive messages and texts of a given length for a parser, by name.
 *
 * Each is one piece, repeated: if a parser does more work for some bytes, a message of only those
 * is the worst. In a piece, % is an increasing number, & the same in JSON escapes, and @ a name;
 * the names have only a few values of FNV-1a, a common hash without a key. */
#include "worst.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT "{\"type\":\"result\",\"id\":^,"
#define ERROR  "{\"type\":\"error\",\"id\":^,\"kind\":\"runtime\","
#define RECORD                                                                                     \
    "{\"name\":\"Ada Lovelace\",\"born\":1815,\"weight\":61.25,\"note\":\"wrote \\\"Note G\\\"\"," \
    "\"tags\":[\"maths\",\"London\"],\"fit\":true,\"left\":null}"
#define LONG_KEY                                                                                   \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"

#define NESTED                                                                                     \
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["                                 \
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"

const struct worst_text worst_texts[] = {
    {WORST_MESSAGE, "records", RESULT "\"value\":[", RECORD, ",", "]}"},
    {WORST_MESSAGE, "keys", RESULT "\"value\":{", "\"%\":0", ",", "}}"},
    {WORST_MESSAGE, "colliding", RESULT "\"value\":{", "\"@\":0", ",", "}}"},
    {WORST_MESSAGE, "escaped-keys", RESULT "\"value\":{", "\"&\":0", ",", "}}"},
    {WORST_MESSAGE, "late-keys", RESULT "\"value\":{", "\"" LONG_KEY LONG_KEY "%\":0", ",", "}}"},
    {WORST_MESSAGE, "repeated-key", RESULT "\"value\":{", "\"%\":0", ",", ",\"a\":0,\"a\":0}}"},
    {WORST_MESSAGE, "members", RESULT, "\"%\":0", ",", "}"},
    {WORST_MESSAGE, "type-last", "{", "\"%\":0", ",", ",\"type\":\"result\",\"id\":1}"},
    {WORST_MESSAGE, "small-objects", RESULT "\"value\":[", "{\"a\":0,\"b\":0}", ",", "]}"},
    {WORST_MESSAGE, "objects", RESULT "\"value\":[",
     "{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0}", ",", "]}"},
    {WORST_MESSAGE, "larger-objects", RESULT "\"value\":[",
     "{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0,\"k\":0,"
     "\"l\":0,\"m\":0,\"n\":0,\"o\":0,\"p\":0,\"q\":0}",
     ",", "]}"},
    {WORST_MESSAGE, "escaped-objects", RESULT "\"value\":[",
     "{\"\\n\":0,\"\\r\":0,\"\\t\":0,\"\\b\":0,\"\\f\":0,\"\\/\":0,\"\\\"\":0,\"\\\\\":0}", ",",
     "]}"},
    {WORST_MESSAGE, "empty", RESULT "\"value\":[", "{}", ",", "]}"},
    {WORST_MESSAGE, "nested", RESULT "\"value\":[", NESTED, ",", "]}"},
    {WORST_MESSAGE, "digits", RESULT "\"value\":[", "1", ",", "]}"},
    {WORST_MESSAGE, "exponents", RESULT "\"value\":[", "1e9", ",", "]}"},
    {WORST_MESSAGE, "largest", RESULT "\"value\":[", "1.7976931348623157e308", ",", "]}"},
    {WORST_MESSAGE, "huge", RESULT "\"value\":[", "1e308", ",", "]}"},
    {WORST_MESSAGE, "smallest", RESULT "\"value\":[", "4e-324", ",", "]}"},
    {WORST_MESSAGE, "long-number", RESULT "\"value\":0.", "3", "", "1}"},
    {WORST_MESSAGE, "long-id", "{\"type\":\"result\",\"value\":0,\"id\":1.", "0", "", "0}"},
    {WORST_MESSAGE, "long-exponent", RESULT "\"value\":1e-", "3", "", "1}"},
    {WORST_MESSAGE, "words", RESULT "\"value\":[", "\"\"", ",", "]}"},
    {WORST_MESSAGE, "text", RESULT "\"text\":\"", "a\xc3\xa9", "", "\"}"},
    {WORST_MESSAGE, "letters", RESULT "\"text\":\"", "\xc3\xa9", "", "\"}"},
    {WORST_MESSAGE, "escapes", RESULT "\"text\":\"", "\\n", "", "\"}"},
    {WORST_MESSAGE, "long-escapes", RESULT "\"text\":\"", "\\u0061", "", "\"}"},
    {WORST_MESSAGE, "surrogates", RESULT "\"text\":\"", "\\ud83d\\ude00", "", "\"}"},
    {WORST_MESSAGE, "no-utf8", RESULT "\"text\":\"", "a\xc3\xa9", "", "\xff\"}"},
    {WORST_MESSAGE, "spaces", RESULT "\"value\":[", " 1\t", " ,", "]}"},
    {WORST_MESSAGE, "space", RESULT "\"value\":[0", "", "", "]}"},
    {WORST_MESSAGE, "traceback", ERROR "\"traceback\":[", "\"\"", ",", "]}"},
    {WORST_MESSAGE, "long-traceback", ERROR "\"traceback\":[\"", "\\t", "", "\"]}"},

    {WORST_MESSAGE, "error-text", ERROR "\"message\":\"", "t", "", "\"}"},
    {WORST_MESSAGE, "error-paths", ERROR "\"message\":\"", "\xe2\x80\x9c/tmp/a ", "", "\"}"},
    {WORST_MESSAGE, "error-traces", ERROR "\"message\":\"", "Traceback  ", "", "\"}"},

    {WORST_ARGUMENTS, "records-argument", "{\"any\":[", RECORD, ",", "]}"},
    {WORST_ARGUMENTS, "undeclared", "{", "\"%\":0", ",", "}"},
    {WORST_ARGUMENTS, "list", "{\"list\":[", "1", ",", "]}"},
    {WORST_ARGUMENTS, "spaced-list", "{\"list\":[", " 1", " ,", "]}"},
    {WORST_ARGUMENTS, "map", "{\"object\":{", "\"%\":\"\\n\"", ",", "}}"},
    {WORST_ARGUMENTS, "map-of-tags", "{\"object\":{\"$map\":[", "{\"$num\":\"NaN\"}", ",", "]}}"},
    {WORST_ARGUMENTS, "tags", "{\"object\":[",
     "{\"$num\":{\"$num\":{\"$num\":{\"$num\":{\"$num\":{\"$num\":0}}}}}}", ",", "]}"},
    {WORST_ARGUMENTS, "bytes", "{\"text\":  {\"$bytes\":\"", "////", "", "\"}}"},
    {WORST_ARGUMENTS, "bytes-escaped", "{\"text\":  {\"$bytes\":\"", "\\/", "", "\"}}"},
    {WORST_ARGUMENTS, "text-escaped", "{\"text\":\"", "\\u0061", "", "\"}"},
    {WORST_ARGUMENTS, "long-argument", "{\"number\":1.", "3", "", "1}"},
    {WORST_ARGUMENTS, "listed-argument", "{\"listed\":0.", "3", "", "1}"},
    {WORST_ARGUMENTS, "whole-argument", "{\"whole\":1.", "0", "", "0}"},
    {WORST_ARGUMENTS, "word-argument", "{\"word\":\"", "\\u0061", "", "\"}"},

    {WORST_ERROR, "error", "",
     "Error in read.csv(\"/usr/share/data.csv\"): cannot open file, server db.example.org:5432 of "
     "process 4711 gave no answer; see the log. ",
     "", ""},
    {WORST_ERROR, "path-quoted", "", "\xe2\x80\x9c/tmp/a ", "", ""},
    {WORST_ERROR, "path-quoted-once", "", "`/tmp/a ", "", ""},
    {WORST_ERROR, "paths", "", "/tmp/a b c d ", "", ""},
    {WORST_ERROR, "windows", "",
     "\xe2\x80\x98"
     "c:\\a ",
     "", ""},
    {WORST_ERROR, "homes", "", "~a/b ", "", ""},
    {WORST_ERROR, "shares", "", "\\\\a", "", ""},
    {WORST_ERROR, "no-paths", "", "/", "", ""},
    {WORST_ERROR, "addresses", "", "1.1.1.1 ", "", ""},
    {WORST_ERROR, "no-addresses", "", "1.1.1.", "", ""},
    {WORST_ERROR, "addresses6", "", "::1 ", "", ""},
    {WORST_ERROR, "no-addresses6", "", "[a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a", "", ""},
    {WORST_ERROR, "colons6", "", "a: ", "", ""},
    {WORST_ERROR, "hosts", "", "host a.b ", "", ""},
    {WORST_ERROR, "no-hosts", "", "host to ", "", ""},
    {WORST_ERROR, "processes", "", "pid 1a ", "", ""},
    {WORST_ERROR, "versions", "", "v (1.2.3.4 ", "", ""},
    {WORST_ERROR, "urls", "", "a://b:", "", ""},
    {WORST_ERROR, "traces", "", "Traceback    ", "", ""},
    {WORST_ERROR, "traces2", "", "t", "", ""},

    {WORST_CODE, "code", "",
     "total = 0\nfor row in table.rows():  # each of them\n    value = row.get(\"weight\", 0.5)\n"
     "    if value > limit and row.name != 'none':\n        total += f(value) * 2\n"
     "print(\"total\", total)\n",
     "", ""},
    {WORST_CODE, "calls", "", "a(", "", ""},
    {WORST_CODE, "lines", "", "a\n", "", ""},
    {WORST_CODE, "o-calls", "", "o(", "", ""},
    {WORST_CODE, "os-calls", "", "os(", "", ""},
    {WORST_CODE, "aliases",
     "import a as b0,a as b1,a as b2,a as b3,a as b4,a as b5,a as b6,a as b7,a as b8,a as b9,"
     "a as c0,a as c1,a as c2,a as c3,a as c4,a as c5,a as c6,a as c7,a as c8,a as c9,"
     "a as d0,a as d1,a as d2,a as d3,a as d4,a as d5,a as d6,a as d7,a as d8,a as d9,"
     "a as e0,a as e1,a as e2,a as e3,a as e4,a as e5,a as e6,a as e7,a as e8,a as e9,"
     "a as f0,a as f1,a as f2,a as f3,a as f4,a as f5,a as f6,a as f7,a as f8,a as f9,"
     "a as g0,a as g1,a as g2,a as g3,a as g4,a as g5,a as g6,a as g7,a as g8,a as g9,"
     "a as h0,a as h1,a as h2,a as h3\n",
     "g9(", "", ""},
    {WORST_CODE, "names", "", "get(\"a\",", "", ""},
    {WORST_CODE, "getattr", "", "getattr(os,'a')", "", ""},
    {WORST_CODE, "roots", "", "base::f(", "", ""},
    {WORST_CODE, "members", "", "a.", "", ""},
    {WORST_CODE, "brackets", "", "[===", "", ""},
    {WORST_CODE, "closing", "[====[", "]===", "", ""},
    {WORST_CODE, "dashes", "", "r\"--", "", ""},
    {WORST_CODE, "quotes", "", "''", "", ""},
    {WORST_CODE, "dots", "", "..", "", ""},
    {WORST_CODE, "index", "", "a[\"b\"]", "", ""},
    {WORST_CODE, "imports", "", "import a\n", "", ""},
    {WORST_CODE, "froms", "", "from a import b\n", "", ""},
    {WORST_CODE, "parens", "", "(", "", ""},
    {WORST_CODE, "strings", "", "a\"\"", "", ""},
    {WORST_CODE, "warned", "", "os.system(", "", ""},
    {WORST_CODE, "warned-lines", "", "system(\n", "", ""},

    {WORST_OUTPUT, "lines-of-a-log", "",
     "2024-01-31 12:00:01 step % of \xe2\x80\x98"
     "fit\xe2\x80\x99: loss 0.125, \"caf\xc3\xa9\"\n",
     "", ""},
    {WORST_OUTPUT, "newlines", "", "\n", "", ""},
    {WORST_OUTPUT, "controls", "", "\x01", "", ""},
    {WORST_OUTPUT, "output-escapes", "", "\x1b[31m", "", ""},
    {WORST_OUTPUT, "no-characters", "", "\xff", "", ""},
    {WORST_OUTPUT, "marks", "", "\xe2\x80\xae", "", ""},
    {WORST_OUTPUT, "half-characters", "", "\xe2\x80", "", ""},
    {WORST_OUTPUT, "letters-of-two", "", "\xc3\xa9", "", ""},
    {WORST_OUTPUT, "returns", "", "\r", "", ""},
    {WORST_OUTPUT, "output-quotes", "", "\"", "", ""},
    {WORST_OUTPUT, "one-line", "", "a", "", ""},
    {WORST_KINDS, NULL, NULL, NULL, NULL, NULL},
};

const struct worst_text *worst_find(const char *name)
{
    for (const struct worst_text *text = worst_texts; text->name; text++)
        if (strcmp(text->name, name) == 0)
            return text;
    return NULL;
}

/* ---- names with the same hash --------------------------------------------------------------- */

/* Of four bytes; each doubles the number of names with the same hash, up to 64. */
#define NAME_STEPS 6

struct names {
    char pair[NAME_STEPS][2][5]; /* alternatives with the same hash */
};

static uint32_t names_hash(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* A pseudo-random piece of about four letters. */
static void names_piece(uint32_t n, char text[5])
{
    n *= 2654435761u;
    for (int i = 0; i < 4; i++, n >>= 6)
        text[i] = (char)('0' + n % 64 + (n % 64 >= 44)); /* printable, without the backslash */
    text[4] = '\0';
}

/* Finds two pieces that lead from *hash to the same value; among 262144 there are some. */
static bool names_pair(uint32_t *hash, char pair[2][5], uint32_t *seen)
{
    enum { SLOTS = 1 << 20, PIECES = 1 << 18 };

    memset(seen, 0xff, SLOTS * sizeof *seen);
    for (uint32_t n = 0; n < PIECES; n++) {
        names_piece(n, pair[0]);
        uint32_t after = names_hash(*hash, pair[0]);
        size_t slot = after % SLOTS;
        for (; seen[slot] != UINT32_MAX; slot = (slot + 1) % SLOTS) {
            names_piece(seen[slot], pair[1]);
            if (names_hash(*hash, pair[1]) == after) {
                *hash = after;
                return true;
            }
        }
        seen[slot] = n;
    }
    return false;
}

static bool names_find(struct names *names)
{
    uint32_t *seen = malloc(sizeof *seen << 20);
    uint32_t hash = 2166136261u;
    bool ok = seen != NULL;

    for (int i = 0; ok && i < NAME_STEPS; i++)
        ok = names_pair(&hash, names->pair[i], seen);
    free(seen);
    return ok;
}

/* Writes name `n`; groups of 64 names differ in the end. */
static int names_write(const struct names *names, unsigned n, char *out)
{
    int len = 0;

    for (int i = 0; i < NAME_STEPS; i++)
        len += sprintf(out + len, "%s", names->pair[i][n >> i & 1]);
    return len + sprintf(out + len, "%x", n >> NAME_STEPS);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static int worst_escaped(unsigned n, char *out)
{
    char digits[16];
    int len = 0;

    snprintf(digits, sizeof digits, "%x", n);
    for (const char *p = digits; *p; p++)
        len += sprintf(out + len, "\\u00%02x", (unsigned)*p);
    return len;
}

static size_t worst_unit(const struct worst_text *text, const struct names *names, unsigned n,
                         char *out)
{
    size_t len = 0;

    for (const char *p = n ? text->join : ""; *p; p++)
        out[len++] = *p;
    for (const char *p = text->unit; *p; p++) {
        if (*p == '%')
            len += (size_t)sprintf(out + len, "%x", n);
        else if (*p == '&')
            len += (size_t)worst_escaped(n, out + len);
        else if (*p == '@')
            len += (size_t)names_write(names, n, out + len);
        else
            out[len++] = *p;
    }
    return len;
}

bool worst_make(const struct worst_text *text, long long id, char *out, size_t len)
{
    size_t at = 0, tail = strlen(text->tail);
    struct names names;
    char unit[512];

    if (strchr(text->unit, '@') && !names_find(&names))
        return false;
    for (const char *p = text->head; *p && at < len; p++) {
        if (*p == '^')
            at += (size_t)sprintf(out + at, "%lld", id);
        else
            out[at++] = *p;
    }
    for (unsigned n = 0; *text->unit; n++) {
        size_t more = worst_unit(text, &names, n, unit);
        if (at + more + tail > len)
            break;
        memcpy(out + at, unit, more);
        at += more;
    }
    memset(out + at, ' ', len - at);
    memcpy(out + len - tail, text->tail, tail);
    return true;
}
