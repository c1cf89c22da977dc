/* SPDX-License-Identifier: MIT */
/* usage.h - CPU time and memory of processes and jobs of Windows, by their handles. */
#ifndef LAZ_OS_WINDOWS_USAGE_H
#define LAZ_OS_WINDOWS_USAGE_H

#include "os/process_tree.h"
#include "os/windows/text.h"

void laz_windows_usage(HANDLE process, uint64_t *cpu_us, uint64_t *rss_bytes);
/* The same for a job: all processes that were started in it count, too. */
bool laz_windows_job_usage(HANDLE job, struct laz_tree_usage *usage);

#endif
