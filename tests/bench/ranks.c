/* SPDX-License-Identifier: MIT */
/* ranks.c - tests of pairs that assume nothing about how measurements are distributed: only ranks
 * and signs count, so a sample that a busy machine has made a hundred times longer weighs no more
 * than one that is twice as long. */
#include "ranks.h"

#include <math.h>
#include <stdlib.h>

static int ranks_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int ranks_by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

/* Twice the rank of each of the sorted differences: equal ones have the mean of their ranks. */
static void ranks_give(const double *sorted, int n, int *doubled)
{
    for (int i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && fabs(sorted[end]) == fabs(sorted[i]))
            end++;
        for (int k = i; k < end; k++)
            doubled[k] = i + 1 + end;
    }
}

double ranks_p(const double *differences, int n)
{
    double kept[RANKS_MOST], chance[RANKS_MOST * (RANKS_MOST + 1) + 1] = {1};
    int doubled[RANKS_MOST], of = 0, sum = 0, positive = 0;

    for (int i = 0; i < n && of < RANKS_MOST; i++)
        if (differences[i] != 0)
            kept[of++] = differences[i];
    qsort(kept, (size_t)of, sizeof *kept, ranks_by_size);
    ranks_give(kept, of, doubled);
    /* The sum of the positive ones' ranks, each being positive with an even chance. */
    for (int i = 0; i < of; i++) {
        sum += doubled[i];
        positive += kept[i] > 0 ? doubled[i] : 0;
        for (int at = sum; at >= 0; at--)
            chance[at] = (chance[at] + (at >= doubled[i] ? chance[at - doubled[i]] : 0)) / 2;
    }
    int smaller = positive < sum - positive ? positive : sum - positive;
    double p = 0;
    for (int at = 0; at <= smaller; at++)
        p += 2 * chance[at];
    return p < 1 ? p : 1;
}

void ranks_holm(double *p, int n)
{
    double *sorted = calloc((size_t)n + 1, sizeof *sorted);

    if (!sorted)
        abort();
    for (int i = 0; i < n; i++)
        sorted[i] = p[i];
    qsort(sorted, (size_t)n, sizeof *sorted, ranks_by_value);
    for (int i = 0; i < n; i++) {
        double together = 0;
        for (int k = 0; k < n && sorted[k] <= p[i]; k++)
            together = fmax(together, sorted[k] * (n - k));
        p[i] = fmin(together, 1);
    }
    free(sorted);
}

double ranks_median(double *values, int n, double *low, double *high)
{
    double chance = pow(0.5, n), below = 0;
    int out = 0; /* values that are left out at each end */

    qsort(values, (size_t)n, sizeof *values, ranks_by_value);
    while (out < n / 2 && below + chance <= 0.025) {
        below += chance;
        chance *= (double)(n - out) / (out + 1);
        out++;
    }
    out -= out > 0;
    *low = values[out];
    *high = values[n - 1 - out];
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
