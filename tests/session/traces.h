/* SPDX-License-Identifier: MIT */
/* traces.h - what a library may leave behind in a process: descriptors, children, threads, memory,
 * folders. */
#ifndef LAZ_TESTS_TRACES_H
#define LAZ_TESTS_TRACES_H

#include <stddef.h>

int trace_descriptors(void);
int trace_threads(void);
int trace_children(void); /* started by the calling thread or by any other of this process */
/* The folder of an engine of this process, by the lock it holds there; "" when there is none. */
void trace_folder(char *out, size_t size);
/* Resident memory at its highest since the last trace_peak_reset, or since ever. */
long trace_peak_kib(void);
void trace_peak_reset(void);

#endif
