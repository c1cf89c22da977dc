/* SPDX-License-Identifier: MIT */
/* process_tree.c - the usage of a job, which contains the whole tree.  System: Windows. */
#include "os/process_tree.h"

#include "os/unsupported.h"
#include "os/windows/descriptors.h"

bool laz_os_tree_usage(struct laz_tree *tree, uint64_t enough, struct laz_tree_usage *usage)
{
    HANDLE job = laz_windows_job_of(tree->root);

    return job && laz_windows_job_usage(job, usage) && usage->processes > 0;
}

/* clang-format off */
IGNORES(laz_os_tree_forget, struct laz_tree *tree) /* nothing is remembered */
GIVES(uint64_t, laz_os_busy_us, 0, void)
/* clang-format on */

int64_t *laz_os_tree_children(int64_t pid, size_t *n)
{
    *n = 0;
    return NULL;
}
