/* SPDX-License-Identifier: MIT */
/* ranks.h - do pairs of measurements differ, beyond what chance makes of them? */
#ifndef LAZ_TESTS_RANKS_H
#define LAZ_TESTS_RANKS_H

#define RANKS_MOST 200 /* pairs */

/* The probability that pairs which do not differ have differences as one-sided as these: Wilcoxon's
 * test of signed ranks, two-sided and exact. Pairs without a difference are left out; equal ones
 * share their ranks. 1 where nothing differs. */
double ranks_p(const double *differences, int n);

/* Makes of the probabilities of `n` tests those for all together, by Holm's method: when none of
 * the pairs differ, the chance that any of these is below a bound is at most the bound. */
void ranks_holm(double *p, int n);

/* The median of the values, which are sorted, and an interval that holds the true one with at least
 * 95 %: from one of the values to another. Fewer than six values have no such interval, and get
 * their least and their greatest. */
double ranks_median(double *values, int n, double *low, double *high);

#endif
