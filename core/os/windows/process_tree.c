/* SPDX-License-Identifier: MIT */
/* process_tree.c - the usage of a job, which contains the whole tree.  System: Windows. */
#include "os/process_tree.h"

#include "os/windows/descriptors.h"

bool laz_os_tree_can_be_seen(void)
{
    return true; /* a job counts all processes in it */
}

bool laz_os_tree_usage(int64_t root, uint64_t enough, struct laz_tree_usage *usage)
{
    HANDLE job = laz_windows_job_of(root);

    (void)enough;
    return job && laz_windows_job_usage(job, usage) && usage->processes > 0;
}

int64_t laz_os_tree_first_child(int64_t pid)
{
    (void)pid; /* no backend here runs a program around the agent */
    return -1;
}

int64_t *laz_os_tree_children(int64_t pid, size_t *n)
{
    (void)pid;
    *n = 0;
    return NULL;
}

int64_t laz_os_tree_parent(int64_t pid)
{
    (void)pid;
    return -1;
}
