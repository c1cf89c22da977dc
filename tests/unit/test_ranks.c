/* SPDX-License-Identifier: MIT */
/* test_ranks.c - the test by which scripts/bench --compare says that two builds differ. */
#include "unit.h"

#include "ranks.h"

#include <math.h>

#define NEAR(value, expected) CU_ASSERT_DOUBLE_EQUAL(value, expected, 1e-9)

/* The probabilities are counts of the ways to give signs to ranks, and can be counted by hand. */
static void pairs_that_differ_one_way_are_unlikely(void)
{
    const double all[] = {3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8, 7, 0.5, 11, 12};
    double negative[14];

    for (int n = 1; n <= 14; n++)
        NEAR(ranks_p(all, n), fmin(1, 2 * pow(0.5, n)));
    for (int i = 0; i < 14; i++)
        negative[i] = -all[i];
    NEAR(ranks_p(negative, 14), 2 * pow(0.5, 14));
}

static void size_of_a_difference_counts_by_its_rank_only(void)
{
    /* 25 of the 1024 sets of ranks from 1 to 10 have a sum of at most 8. */
    const double near[] = {1, 2, 3, 4, 5, 6, 7, -8, 9, 10};
    const double far[] = {1, 2, 3, 4, 5, 6, 7, -8, 9000, 1e9};

    NEAR(ranks_p(near, 10), 2 * 25 / 1024.0);
    NEAR(ranks_p(far, 10), 2 * 25 / 1024.0);
}

static void equal_pairs_show_nothing(void)
{
    const double none[] = {0, 0, 0, 0};
    const double some[] = {0, 1, 0, 2, 0, 3, 0, 4, 5};

    NEAR(ranks_p(none, 4), 1);
    NEAR(ranks_p(none, 0), 1);
    NEAR(ranks_p(some, 9), 2 * pow(0.5, 5));
}

static void equal_differences_share_their_ranks(void)
{
    const double equal[] = {1, 1, -1, 1};           /* none or one negative: 5 of 16 */
    const double two[] = {2, 2, 1, -1, 5, 6, 7, 8}; /* ranks 3.5 3.5 1.5 1.5: at most 1.5 */

    NEAR(ranks_p(equal, 4), 2 * 5 / 16.0);
    NEAR(ranks_p(two, 8), 2 * 3 / 256.0);
}

static void most_pairs_are_no_problem(void)
{
    static double many[RANKS_MOST];

    for (int i = 0; i < RANKS_MOST; i++)
        many[i] = i % 2 ? i + 1 : -i - 1;
    double p = ranks_p(many, RANKS_MOST);
    CU_ASSERT_TRUE(p > 0.5 && p <= 1);
    for (int i = 0; i < RANKS_MOST; i++)
        many[i] = i + 1;
    p = ranks_p(many, RANKS_MOST);
    CU_ASSERT_TRUE(p >= 0 && p < 1e-50);
}

static void many_tests_together_need_more(void)
{
    double p[] = {0.01, 0.04, 0.03}, one[] = {0.02}, large[] = {0.9, 0.8};

    ranks_holm(p, 3);
    NEAR(p[0], 0.03);
    NEAR(p[1], 0.06);
    NEAR(p[2], 0.06);
    ranks_holm(one, 1);
    NEAR(one[0], 0.02);
    ranks_holm(large, 2);
    NEAR(large[0], 1);
    NEAR(large[1], 1);
    ranks_holm(NULL, 0);
}

static void median_has_an_interval(void)
{
    double ten[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, three[] = {3, 1, 2}, one[] = {7}, low, high;

    NEAR(ranks_median(ten, 10, &low, &high), 5.5);
    NEAR(low, 2); /* 1 - 2 * 11 / 1024; from 3 to 8 would hold 89 % */
    NEAR(high, 9);
    NEAR(ranks_median(three, 3, &low, &high), 2);
    NEAR(low, 1);
    NEAR(high, 3);
    NEAR(ranks_median(one, 1, &low, &high), 7);
    NEAR(low, 7);
    NEAR(high, 7);
}

static const struct unit_test tests[] = {
    UNIT(pairs_that_differ_one_way_are_unlikely),
    UNIT(size_of_a_difference_counts_by_its_rank_only),
    UNIT(equal_pairs_show_nothing),
    UNIT(equal_differences_share_their_ranks),
    UNIT(most_pairs_are_no_problem),
    UNIT(many_tests_together_need_more),
    UNIT(median_has_an_interval),
    {0},
};

int main(void)
{
    return unit_run("ranks", tests);
}
