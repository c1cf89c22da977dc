/* SPDX-License-Identifier: MIT */
/* acts.h - runs one attempt and reports its outcome. */
#ifndef LAZ_RUNTIME_DOCTOR_ACTS_H
#define LAZ_RUNTIME_DOCTOR_ACTS_H

#include <stdint.h>

/* A request: what is to be tried. A field that an act does not need is empty or 0. */
struct doctor_order {
    char act[32];
    char path[4096]; /* of a file or socket; "@name": an abstract socket */
    char text[256];
    char host[256]; /* of a request by HTTP */
    int64_t number; /* a port, a process id, bytes, milliseconds or a count */
    int64_t among;  /* processes that share the work; 0: this one alone does it */
};

/* The outcome of an attempt. */
struct doctor_outcome {
    int failed;    /* errno; 0: it worked */
    int64_t count; /* the amount that worked: bytes, processes, files or matches */
    char text[256];
};

/* Tries the act; -1: there is no such act. */
int doctor_try(const struct doctor_order *order, struct doctor_outcome *outcome);

/* calls_SYSTEM.c: makes the system call of this name in a way that succeeds unless it is refused,
 * and that changes nothing outside this process. 0 or an errno; -1: this system has no such
 * call. */
int doctor_call(const char *name);
/* Counts the visible processes whose command line contains the text; *failed: why none is visible.
 */
int64_t doctor_see(const char *text, int *failed);

#endif
