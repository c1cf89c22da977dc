/* SPDX-License-Identifier: MIT */
/* container.h - from a member to the struct that it is part of. */
#ifndef LAZ_BASE_CONTAINER_H
#define LAZ_BASE_CONTAINER_H

#include <stddef.h>

/* The struct of this type of which `pointer` points to `member`. The cast by way of void says that
 * its alignment is that of the struct. */
#define LAZ_CONTAINER(pointer, type, member)                                                       \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
