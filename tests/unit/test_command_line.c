/* SPDX-License-Identifier: MIT */
/* test_command_line.c - arguments and environment in the form Windows needs: the text, and that a
 * reader with Windows' rules gets the original values back. */
#include "unit.h"

#include "os/command_line.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of random arguments; ten times as many with LAZARET_TEST_FULL. */
static int rounds(void)
{
    return getenv("LAZARET_TEST_FULL") ? 200000 : 20000;
}

/* ---- two readers ---------------------------------------------------------------------------- */

/* They differ in one rule: after the quotation mark that ends a quoted part, a second one is text;
 * for CommandLineToArgvW the part has ended, for the C runtime it continues. */
enum reader { READ_SHELL, READ_RUNTIME };

static const char *read_program(const char *at, struct laz_strv *argv)
{
    size_t n;

    if (*at == '"') {
        n = strcspn(++at, "\"");
        char *program = laz_strndup(at, n);
        laz_strv_add(argv, program);
        free(program);
        return at[n] ? at + n + 1 : at + n;
    }
    for (n = 0; (unsigned char)at[n] > ' ';)
        n++;
    char *program = laz_strndup(at, n);
    laz_strv_add(argv, program);
    free(program);
    return at + n;
}

static const char *read_argument(const char *at, enum reader reader, struct laz_buf *arg)
{
    bool quoted = false;

    while (*at && (quoted || (*at != ' ' && *at != '\t'))) {
        size_t backslashes = strspn(at, "\\");
        at += backslashes;
        if (*at != '"') {
            while (backslashes--)
                laz_buf_putc(arg, '\\');
            if (*at && (quoted || (*at != ' ' && *at != '\t')))
                laz_buf_putc(arg, *at++);
            continue;
        }
        for (size_t i = 0; i < backslashes / 2; i++)
            laz_buf_putc(arg, '\\');
        if (backslashes % 2) {
            laz_buf_putc(arg, '"');
        } else if (quoted && at[1] == '"') {
            laz_buf_putc(arg, '"');
            quoted = reader == READ_RUNTIME;
            at++;
        } else {
            quoted = !quoted;
        }
        at++;
    }
    return at;
}

static void read_line(const char *line, enum reader reader, struct laz_strv *argv)
{
    const char *at = read_program(line, argv);

    for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
        struct laz_buf arg = LAZ_BUF_INIT;
        at = read_argument(at, reader, &arg);
        laz_strv_add(argv, laz_buf_text(&arg));
        laz_buf_fini(&arg);
    }
}

/* Tests the readers themselves with the documented rules of CommandLineToArgvW and the C
 * runtime. */
static void readers_follow_the_rules_of_windows(void)
{
    static const struct {
        const char *line, *shell, *runtime; /* words, each in brackets */
    } rows[] = {
        {"p a b", "[p][a][b]", "[p][a][b]"},
        {"p \"abc\" d e", "[p][abc][d][e]", "[p][abc][d][e]"},
        {"p a\\\\\\b d\"e f\"g h", "[p][a\\\\\\b][de fg][h]", "[p][a\\\\\\b][de fg][h]"},
        {"p a\\\\\\\"b c d", "[p][a\\\"b][c][d]", "[p][a\\\"b][c][d]"},
        {"p a\\\\\\\\\"b c\" d e", "[p][a\\\\b c][d][e]", "[p][a\\\\b c][d][e]"},
        {"p a\"b\"\" c d", "[p][ab\"][c][d]", "[p][ab\" c d]"},
        {"\"C:\\a b\\\" x", "[C:\\a b\\][x]", "[C:\\a b\\][x]"},
        {"p \"\" \t \"\"", "[p][][]", "[p][][]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int reader = READ_SHELL; reader <= READ_RUNTIME; reader++) {
            struct laz_strv argv = LAZ_STRV_INIT;
            struct laz_buf text = LAZ_BUF_INIT;
            read_line(rows[i].line, (enum reader)reader, &argv);
            for (size_t k = 0; k < argv.n; k++)
                laz_buf_printf(&text, "[%s]", argv.items[k]);
            UNIT_TEXT(laz_buf_text(&text), reader == READ_SHELL ? rows[i].shell : rows[i].runtime);
            laz_buf_fini(&text);
            laz_strv_fini(&argv);
        }
    }
}

/* ---- command lines -------------------------------------------------------------------------- */

static bool line_reads_back(const char *line, const char *const *argv)
{
    bool same = true;

    for (int reader = READ_SHELL; reader <= READ_RUNTIME; reader++) {
        struct laz_strv words = LAZ_STRV_INIT;
        size_t n = 0;
        read_line(line, (enum reader)reader, &words);
        for (; argv[n] && n < words.n; n++)
            same = same && strcmp(argv[n], words.items[n]) == 0;
        same = same && !argv[n] && n == words.n;
        laz_strv_fini(&words);
    }
    return same;
}

static void arguments_are_quoted_where_they_have_to_be(void)
{
    static const struct {
        const char *argv[5], *line;
    } rows[] = {
        {{"C:\\agent.exe"}, "C:\\agent.exe"},
        {{"C:\\Program Files\\agent.exe", "--probe"}, "\"C:\\Program Files\\agent.exe\" --probe"},
        {{"C:\\a b\\"}, "\"C:\\a b\\\""}, /* the program's name has no escapes */
        {{"p", ""}, "p \"\""},
        {{"p", "", "", ""}, "p \"\" \"\" \"\""},
        {{"p", " "}, "p \" \""},
        {{"p", "a b", "c"}, "p \"a b\" c"},
        {{"p", "a\tb", "a\nb"}, "p \"a\tb\" \"a\nb\""},
        {{"p", "C:\\dir\\"}, "p C:\\dir\\"},
        {{"p", "C:\\my dir\\"}, "p \"C:\\my dir\\\\\""},
        {{"p", "\\\\server\\x y"}, "p \"\\\\server\\x y\""},
        {{"p", "\""}, "p \"\\\"\""},
        {{"p", "\\\""}, "p \"\\\\\\\"\""},
        {{"p", "a\\\\\"b"}, "p \"a\\\\\\\\\\\"b\""},
        {{"p", "say \"hi\""}, "p \"say \\\"hi\\\"\""},
        {{"p", "\"\"", "x"}, "p \"\\\"\\\"\" x"},
        {{"p", "{\"a\":[1,\"b c\"]}"}, "p \"{\\\"a\\\":[1,\\\"b c\\\"]}\""},
        {{"p", "%PATH%", "a&b|c>d^e"}, "p %PATH% a&b|c>d^e"}, /* no shell reads it */
        {{"p", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"}, "p \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf line = LAZ_BUF_INIT;
        CU_ASSERT_EQUAL(laz_command_line(rows[i].argv, &line, NULL), 0);
        UNIT_TEXT(laz_buf_text(&line), rows[i].line);
        CU_ASSERT(line_reads_back(laz_buf_text(&line), rows[i].argv));
        laz_buf_fini(&line);
    }
}

/* Pseudo-random numbers, the same in each run. */
static uint32_t next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A text mostly of the characters with special rules. */
static void next_text(uint64_t *state, char *text, size_t most)
{
    static const char *const parts[] = {"\\",       "\\",   "\\\\", "\"", "\"",
                                        " ",        "\t",   "a",    "b",  "\n",
                                        "\xc3\xa9", "\x0b", "'",    "%",  "\xf0\x9f\x98\x80"};
    size_t n = next_number(state) % most;

    *text = '\0';
    while (n--)
        strcat(text, parts[next_number(state) % (sizeof parts / sizeof *parts)]);
}

static void any_arguments_are_read_back_as_they_were(void)
{
    const int n_rounds = rounds();
    uint64_t state = 1;
    size_t wrong = 0;

    for (int round = 0; round < n_rounds; round++) {
        char texts[4][64];
        const char *argv[6] = {round % 2 ? "C:\\a b\\p.exe" : "p"};
        size_t n = next_number(&state) % 5;
        struct laz_buf line = LAZ_BUF_INIT;
        for (size_t i = 0; i < n; i++) {
            next_text(&state, texts[i], 12);
            argv[i + 1] = texts[i];
        }
        bool good =
            laz_command_line(argv, &line, NULL) == 0 && line_reads_back(laz_buf_text(&line), argv);
        if (!good && !wrong++)
            printf("\n    round %d: %s\n", round, laz_buf_text(&line));
        laz_buf_fini(&line);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void command_lines_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *argv[3];
        const char *says;
    } rows[] = {
        {{NULL}, "without a program"},
        {{""}, "without a program"},
        {{"a\"b"}, "quotation mark"},
        {{"p", "a\xff"}, "p: argument 1 is not UTF-8"},
        {{"p", "\xed\xa0\x80"}, "argument 1 is not UTF-8"}, /* half of a surrogate pair */
        {{"p", "\xc3"}, "argument 1 is not UTF-8"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf line = LAZ_BUF_INIT;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_command_line(rows[i].argv, &line, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].says));
        laz_buf_fini(&line);
    }
}

/* The limit counts UTF-16 units, including those that quoting adds. */
static void command_lines_end_where_windows_does(void)
{
    static const struct {
        const char *of; /* text to repeat */
        size_t times;
        int rc;
    } rows[] = {
        {"a", 32764, 0},
        {"a", 32765, LAZ_ETOOBIG},
        {"\xc3\xa9", 32764, 0},
        {"\"", 16381, 0},
        {"\"", 16382, LAZ_ETOOBIG},
        {"\xf0\x9f\x98\x80", 16382, 0},
        {"\xf0\x9f\x98\x80", 16383, LAZ_ETOOBIG},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf arg = LAZ_BUF_INIT, line = LAZ_BUF_INIT;
        struct laz_error err = {0};
        for (size_t k = 0; k < rows[i].times; k++)
            laz_buf_puts(&arg, rows[i].of);
        const char *const argv[] = {"p", laz_buf_text(&arg), NULL};
        CU_ASSERT_EQUAL(laz_command_line(argv, &line, &err), rows[i].rc);
        laz_buf_fini(&arg);
        laz_buf_fini(&line);
    }
}

/* ---- environment ---------------------------------------------------------------------------- */

static void environment_is_sorted_by_name_whatever_the_case(void)
{
    static const char *const env[] = {"TMP=x",  "path=C:\\", "A1=2",  "PATHEXT=.EXE", "a=1",
                                      "EMPTY=", "_x=3",      "B=a=b", "\xc3\xa9=4",   NULL};
    static const char expected[] = "a=1\0A1=2\0B=a=b\0EMPTY=\0path=C:\\\0PATHEXT=.EXE\0TMP=x\0"
                                   "_x=3\0\xc3\xa9=4\0";
    struct laz_buf block = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(laz_environment_block(env, &block, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(block.len, sizeof expected); /* its last NUL is the one of the literal */
    CU_ASSERT_EQUAL(memcmp(block.data, expected, sizeof expected), 0);
    laz_buf_fini(&block);
    static const char *const none[] = {NULL};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(laz_environment_block(i ? none : NULL, &block, NULL), 0);
        CU_ASSERT_EQUAL(block.len, 2);
        CU_ASSERT_EQUAL(memcmp(block.data, "\0\0", 2), 0);
        laz_buf_fini(&block);
    }
}

static void environments_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *env[4];
        const char *says;
    } rows[] = {
        {{"A=1", "A=2"}, "A is set twice"},   {{"Path=1", "X=3", "PATH=2"}, "is set twice"},
        {{"A=1", "A=1"}, "A is set twice"},   {{"novalue"}, "\"novalue\" is not NAME=VALUE"},
        {{"=C:=C:\\x"}, "is not NAME=VALUE"}, {{""}, "is not NAME=VALUE"},
        {{"A=\xff"}, "A is not UTF-8"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf block = LAZ_BUF_INIT;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_environment_block(rows[i].env, &block, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].says));
        laz_buf_fini(&block);
    }
    struct laz_buf text = LAZ_BUF_INIT, block = LAZ_BUF_INIT;
    laz_buf_puts(&text, "A=");
    while (text.len < 32766)
        laz_buf_putc(&text, 'x');
    const char *env[] = {laz_buf_text(&text), NULL};
    CU_ASSERT_EQUAL(laz_environment_block(env, &block, NULL), 0);
    laz_buf_putc(&text, 'x');
    env[0] = laz_buf_text(&text);
    CU_ASSERT_EQUAL(laz_environment_block(env, &block, NULL), LAZ_ETOOBIG);
    laz_buf_fini(&text);
    laz_buf_fini(&block);
}

/* Any list is either refused, or becomes a block with each of its texts once, in the order of the
 * names. */
static void any_environment_becomes_a_block_or_is_refused(void)
{
    const size_t n_rounds = (size_t)rounds();
    uint64_t state = 2;
    size_t made = 0, refused = 0, wrong = 0;

    for (size_t round = 0; round < n_rounds; round++) {
        static const char *const names[] = {"A", "a", "AB", "Ab", "A1", "_", "Z", "\xc3\xa9"};
        char texts[5][80];
        const char *env[6] = {NULL};
        size_t n = next_number(&state) % 6, seen = 0;
        struct laz_buf block = LAZ_BUF_INIT;
        for (size_t i = 0; i < n; i++) {
            char value[64];
            next_text(&state, value, 5);
            snprintf(texts[i], sizeof texts[i], "%s=%s",
                     names[next_number(&state) % (sizeof names / sizeof *names)], value);
            env[i] = texts[i];
        }
        bool good = true;
        if (laz_environment_block(env, &block, NULL)) {
            refused++;
        } else {
            const char *before = NULL;
            for (const char *at = block.data; *at; at += strlen(at) + 1, seen++) {
                bool known = false;
                for (size_t i = 0; i < n; i++)
                    known |= strcmp(env[i], at) == 0;
                good = good && known && (!before || strcmp(before, at) != 0);
                before = at;
            }
            good = good && seen == n && block.data[block.len - 1] == '\0';
            made++;
        }
        wrong += !good;
        laz_buf_fini(&block);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(made > n_rounds / 10 && refused > n_rounds / 10);
}

/* Files that the system would run with cmd.exe, by any name. */
static void batch_files_are_no_programs(void)
{
    static const char *const refused[] = {
        "C:/x.bat",       "C:/x.BAT",         "C:\\x\\y.Cmd",    "C:/x.cmd.",  "C:/x.bat ",
        "C:/x.bat. . ..", "C:/x.bat/",        "C:/x.bat\\.",     "C:/.bat",    "C:/a.exe.cmd",
        "C:/x.bat\t",     "C:/x.exe:y.bat",   "C:/x.bat::$DATA", "C:/x.exe:y", "C:/x.bat:",
        "//?/C:/x.bat",   "\\\\?\\C:\\x.exe", "C:x.cMD",
    };
    static const char *const fine[] = {
        "C:/x.exe",  "C:/x.bat/y.exe", "C:/bat",         "C:/xbat", "C:/x.bat.exe", "C:/x.batch",
        "C:/x.cmd_", "C:/cmd.exe",     "D:\\cmd\\x.com", "C:/",     "//srv/x.exe",  ""};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!laz_command_line_refuses(refused[i]))
            UNIT_TEXT("not refused", refused[i]);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (laz_command_line_refuses(fine[i]))
            UNIT_TEXT("refused", fine[i]);
}

static const struct unit_test tests[] = {
    UNIT(batch_files_are_no_programs),
    UNIT(readers_follow_the_rules_of_windows),
    UNIT(arguments_are_quoted_where_they_have_to_be),
    UNIT(any_arguments_are_read_back_as_they_were),
    UNIT(command_lines_that_cannot_be_are_refused),
    UNIT(command_lines_end_where_windows_does),
    UNIT(environment_is_sorted_by_name_whatever_the_case),
    UNIT(environments_that_cannot_be_are_refused),
    UNIT(any_environment_becomes_a_block_or_is_refused),
    {0},
};

int main(void)
{
    return unit_run("command_line", tests);
}
