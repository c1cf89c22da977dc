/* SPDX-License-Identifier: MIT */
/* usage.c - what is the same of a process's usage on every system. */
#include "os/usage.h"

bool laz_os_usage_is_open(const struct laz_usage *usage)
{
    return usage->fd >= 0 || usage->pid > 0;
}
