/* SPDX-License-Identifier: MIT */
/* compare.h - this build and another one, measured in turns. */
#ifndef LAZ_TESTS_COMPARE_H
#define LAZ_TESTS_COMPARE_H

#include <stdbool.h>

struct bench_comparison {
    const char *other; /* lazaret-bench of the other build */
    int pairs, part;
    bool quick;
};

/* Measures rows by both, and prints which of them differ. `row_at`: the name of a row of the list;
 * NULL: there are no more. 0, 1: a row could not be measured, 2: there is no such program. */
int bench_compare(const struct bench_comparison *asked, const char *(*row_at)(void *list, int i),
                  void *list);

#endif
