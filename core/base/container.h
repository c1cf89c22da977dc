/* SPDX-License-Identifier: MIT */
/* container.h - from a member to the struct that it is part of; linked lists. */
#ifndef LAZ_BASE_CONTAINER_H
#define LAZ_BASE_CONTAINER_H

#include <stddef.h>

/* The struct of this type of which `pointer` points to `member`. The cast by way of void says that
 * its alignment is that of the struct. */
#define LAZ_CONTAINER(pointer, type, member)                                                       \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Takes an item out of a list, whose items have a member `next`; `first`: of the list, an lvalue.
 * Where it is not in there, nothing changes. */
#define LAZ_LIST_REMOVE(first, item)                                                               \
    do {                                                                                           \
        __typeof__(first) *at_ = &(first);                                                         \
        while (*at_ && *at_ != (item))                                                             \
            at_ = &(*at_)->next;                                                                   \
        if (*at_)                                                                                  \
            *at_ = (item)->next;                                                                   \
    } while (0)

#endif
