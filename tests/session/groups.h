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
/* Moves this process into a control group of its own, which shows what it and all below it have
 * used together. False: none can be made here. */
bool groups_measure(void);
/* The most memory in bytes since then; and the end of that group. */
uint64_t groups_peak_bytes(void);
void groups_measure_end(void);

#endif
