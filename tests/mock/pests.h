/* SPDX-License-Identifier: MIT */
/* pests.h (mock) - commands of the mock agent that use up what a box shares with others: the user's
 * epoll watches, processes, and files that the kernel has to remove. */
#ifndef LAZ_TESTS_PESTS_H
#define LAZ_TESTS_PESTS_H

struct mock;

void pest_watch(struct mock *mock, const char *text);  /* N watches of epoll(7), at most */
void pest_litter(struct mock *mock, const char *text); /* N files in /tmp */
void pest_fork(struct mock *mock, const char *text);   /* N processes, a few at a time */

#endif
