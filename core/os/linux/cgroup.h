/* SPDX-License-Identifier: MIT */
/* cgroup.h - what the places of control groups (cgroup_places.c) need of the groups. */
#ifndef LAZ_OS_LINUX_CGROUP_H
#define LAZ_OS_LINUX_CGROUP_H

#include "os/linux/cgroup_places.h"

#include <stddef.h>

#define CGROUP_NAME_SIZE  128
#define CGROUP_NAME_TRIES 1000

/* The name of the next group. */
void cgroup_next_name(struct laz_cgroups *groups, char *name, size_t size);
/* Removes those that were kept. */
void cgroup_drop_kept(struct laz_cgroups *groups);

#endif
