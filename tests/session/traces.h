/* SPDX-License-Identifier: MIT */
/* traces.h - what a library may leave behind in a process: descriptors, children, threads, memory,
 * directories. */
#ifndef LAZ_TESTS_TRACES_H
#define LAZ_TESTS_TRACES_H

#include <stddef.h>

int trace_descriptors(void);
int trace_threads(void);
int trace_children(void); /* started by any thread of this process */
/* The directory of an engine of this process, found by its lock; "" when there is none. */
void trace_directory(char *out, size_t size);
/* Peak resident memory since the last trace_peak_reset, or since the start. */
long trace_peak_kib(void);
void trace_peak_reset(void);

#endif
