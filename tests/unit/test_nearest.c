/* SPDX-License-Identifier: MIT */
/* test_nearest.c - edit distance, and when a word is close enough to be offered. */
#include "unit.h"

#include "base/nearest.h"

static void distance_counts_edits(void)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"run", "run", 0},
        {"run", "RUN", 0},
        {"rnu", "run", 1},
        {"run", "runs", 1},
        {"tools", "tolls", 1},
        {"kitten", "sitting", 3},
        {"config", "cofnig", 1},
        {"ca", "abc", 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_edit_distance(rows[i].a, rows[i].b), rows[i].distance);
}

static void distance_of_long_words_is_bounded(void)
{
    char a[201], b[201];

    for (int i = 0; i < 200; i++) {
        a[i] = 'a';
        b[i] = 'b';
    }
    a[200] = b[200] = '\0';
    CU_ASSERT_EQUAL(laz_edit_distance(a, b), 64);
    CU_ASSERT_EQUAL(laz_edit_distance(a, a), 0);
}

static const char *nearest_of(const char *typed)
{
    static const char *const words[] = {"run", "check", "config", "plugins", "--timeout"};
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, typed);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        laz_nearest_try(&nearest, words[i]);
    return laz_nearest_best(&nearest);
}

static void nearest_offers_what_is_close(void)
{
    UNIT_TEXT(nearest_of("rnu"), "run");
    UNIT_TEXT(nearest_of("conifg"), "config");
    UNIT_TEXT(nearest_of("plugin"), "plugins");
    UNIT_TEXT(nearest_of("--timeuot"), "--timeout");
}

static void nearest_offers_nothing_far_away(void)
{
    struct laz_nearest nearest;

    UNIT_TEXT(nearest_of("zebra"), NULL);
    UNIT_TEXT(nearest_of("xyz"), NULL);
    laz_nearest_init(&nearest, "run");
    UNIT_TEXT(laz_nearest_best(&nearest), NULL);
}

static const struct unit_test tests[] = {
    UNIT(distance_counts_edits),
    UNIT(distance_of_long_words_is_bounded),
    UNIT(nearest_offers_what_is_close),
    UNIT(nearest_offers_nothing_far_away),
    {0},
};

int main(void)
{
    return unit_run("nearest", tests);
}
