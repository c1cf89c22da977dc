/* SPDX-License-Identifier: MIT */
/* fault.h (mock) - the n-th request for memory fails.
 *
 * A program linked with fault.c and $(FAULT_WRAPS) has malloc(3) and its like of its own objects,
 * lazaret's among them, replaced (ld(1), --wrap); libraries keep theirs. Any thread. */
#ifndef LAZ_MOCK_FAULT_H
#define LAZ_MOCK_FAULT_H

#include <stdbool.h>

/* The n-th request from now on fails, and, with `on`, each after it. 0: none does. */
void fault_begin(unsigned long n, bool on);
/* No more of them. The number of requests since fault_begin. */
unsigned long fault_end(void);

#endif
