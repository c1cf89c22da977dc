/* SPDX-License-Identifier: MIT */
/* test_glob.c - patterns of [[approve]]. */
#include "unit.h"

#include "base/glob.h"

#include <stdlib.h>
#include <string.h>

static void patterns_match_whole_texts(void)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"a", "a", true},
        {"a", "A", false},
        {"a", "ab", false},
        {"*", "", true},
        {"*", "anything / at all", true},
        {"**", "", true},
        {"a*", "a", true},
        {"a*", "ba", false},
        {"delete_*", "delete_file", true},
        {"delete_*", "undelete_file", false},
        {"*_file", "delete_file", true},
        {"/etc/*", "/etc/a/b", true},
        {"/etc/*", "/etc", false},
        {"*a*b*c", "xxaxxbxxbxxc", true},
        {"*a*b*c", "xxaxxcxxb", false},
        {"?", "a", true},
        {"?", "", false},
        {"?", "\xc3\xa9", true},
        {"??", "\xc3\xa9", false},
        {"?", "\xff", true},
        {"*?", "\xc3", true},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"[a]", "[a]", true},
        {"[a]", "a", false},
        {"\\*", "\\x", true},
        {"*\xc3\xa9*", "caf\xc3\xa9s", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (laz_glob(rows[i].pattern, rows[i].text, strlen(rows[i].text)) != rows[i].matches)
            printf("\n    '%s' '%s'", rows[i].pattern, rows[i].text);
        CU_ASSERT_EQUAL(laz_glob(rows[i].pattern, rows[i].text, strlen(rows[i].text)),
                        rows[i].matches);
    }
}

static void a_nul_is_a_character(void)
{
    CU_ASSERT(laz_glob("a*", "a\0b", 3));
    CU_ASSERT(laz_glob("a?b", "a\0b", 3));
    CU_ASSERT(!laz_glob("a", "a\0b", 3));
    CU_ASSERT(!laz_glob("a", "a", 0));
}

/* Many stars and a text that almost matches: a matcher that tries all ways would not end. */
static void the_worst_pattern_ends(void)
{
    size_t len = 100000;
    char *text = malloc(len);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'a', len);
    CU_ASSERT(!laz_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, len));
    CU_ASSERT(laz_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a", text, len));
    free(text);
}

static const struct unit_test tests[] = {
    UNIT(patterns_match_whole_texts),
    UNIT(a_nul_is_a_character),
    UNIT(the_worst_pattern_ends),
    {0},
};

int main(void)
{
    return unit_run("glob", tests);
}
