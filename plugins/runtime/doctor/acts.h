/* SPDX-License-Identifier: MIT */
/* acts.h - one attempt at a time, and what came of it. */
#ifndef LAZ_RUNTIME_DOCTOR_ACTS_H
#define LAZ_RUNTIME_DOCTOR_ACTS_H

#include <stdint.h>

/* What is to be tried. A field that an act does not need is empty or 0. */
struct doctor_order {
    char act[32];
    char path[4096]; /* of a file or socket; "@name": an abstract socket */
    char text[256];
    int64_t number; /* a port, a process, bytes, milliseconds, how many */
    int64_t among;  /* processes that share the work; 0: this one alone does it */
};

/* What came of it. */
struct doctor_outcome {
    int failed;    /* errno; 0: it worked */
    int64_t count; /* how much of it worked: bytes, processes, files, matches */
    char text[256];
};

/* Tries it. -1 when there is no such act. */
int doctor_try(const struct doctor_order *order, struct doctor_outcome *outcome);

/* calls_SYSTEM.c: the system call that has this name, in a way that succeeds where nothing forbids
 * it and changes nothing outside this process: 0 or an errno; -1: this system has none of that
 * name. */
int doctor_call(const char *name);
/* Processes whose command line holds the text, as far as they can be seen; *failed: why none can.
 */
int64_t doctor_see(const char *text, int *failed);

#endif
