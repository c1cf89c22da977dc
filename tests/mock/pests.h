/* SPDX-License-Identifier: MIT */
/* pests.h (mock) - words of the mock agent that take what a box shares with others: watches of the
 * user, processes, what the kernel has to clear up. */
#ifndef LAZ_TESTS_PESTS_H
#define LAZ_TESTS_PESTS_H

struct mock;

void pest_watch(struct mock *mock, const char *text); /* N watches of epoll(7), as far as they go */
void pest_litter(struct mock *mock, const char *text); /* N files in /tmp */
void pest_fork(struct mock *mock, const char *text);   /* N processes, a few at a time */

#endif
