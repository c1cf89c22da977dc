/* SPDX-License-Identifier: MIT */
/* groups.h (tests) - which control groups a session gets here, and a host that has none. */
#ifndef LAZ_TESTS_GROUPS_H
#define LAZ_TESTS_GROUPS_H

#include "os/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

/* The mechanism that has to count: "cgroup-v1", "cgroup-v2" or "watchdog". */
const char *groups_counted_by(enum laz_cgroup_what what);
/* Can this process hide them? */
bool groups_can_be_hidden(void);
/* Enters a mount namespace for this thread and its children; groups_show leaves it. */
int groups_enter(void);
/* There, no group is found any more. */
void groups_hide(void);
void groups_show(int back);
/* Moves this process into a control group of its own, which shows what it and all below it use
 * together, also while groups are hidden. False: none can be created here. */
bool groups_measure(void);
void groups_measure_end(void);
/* From now on, and by how many bytes memory has grown at most since then; 0 where nothing is
 * measured. What is freed late counts for neither. */
void groups_measure_from_here(void);
uint64_t groups_grown_bytes(void);

#endif
