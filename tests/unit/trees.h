/* SPDX-License-Identifier: MIT */
/* trees.h (tests) - trees of processes to look at. */
#ifndef LAZ_TESTS_TREES_H
#define LAZ_TESTS_TREES_H

#include "os/process_tree.h"

#include <sys/types.h>

/* What the processes of a tree report, in memory that they share with the test. */
struct tree_report {
    uint64_t bytes;
    unsigned n;
};
extern struct tree_report *report;

/* Starts a tree whose first process does `act`, and waits for its sign. */
struct laz_tree tree_begin(void (*act)(void));
void tree_finish(struct laz_tree *tree);
/* Kills a process group, and waits for its first process. */
void tree_end(pid_t root);
/* One look at a tree that does `act`. */
struct laz_tree_usage tree_usage(void (*act)(void), uint64_t enough);

/* For processes of a tree: the sign; and the sign, after which it stays until it is killed. */
void sign(void);
void stay(void);
void act_nothing(void);

#endif
