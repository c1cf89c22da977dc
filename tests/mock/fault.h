/* SPDX-License-Identifier: MIT */
/* fault.h (mock) - makes the n-th allocation fail.
 *
 * In a program linked with fault.c and $(FAULT_WRAPS), malloc(3) and related functions are replaced
 * for its own objects, lazaret's included (ld(1), --wrap), but not for libraries. Applies to all
 * threads. */
#ifndef LAZ_MOCK_FAULT_H
#define LAZ_MOCK_FAULT_H

#include <stdbool.h>

/* The n-th allocation from now on fails, and, with `on`, each after it. 0: none does. */
void fault_begin(unsigned long n, bool on);
/* Stops the failures. Returns the number of allocations since fault_begin. */
unsigned long fault_end(void);

#endif
