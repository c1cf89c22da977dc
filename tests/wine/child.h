/* SPDX-License-Identifier: MIT */
/* child.h - starts this program again as a child that does one thing. */
#ifndef LAZ_TESTS_WINE_CHILD_H
#define LAZ_TESTS_WINE_CHILD_H

#include "os/job_values.h"
#include "os/process.h"
#include "os/signals.h"
#include "unit.h"

#include <stdint.h>

struct child {
    struct laz_process process;
    int output;       /* the end to read from; -1 */
    int input;        /* becomes its standard input; 0: none. Closed after the start */
    uint32_t missing; /* limits of its job that are not enforced */
    struct laz_job_limits limits;
};

/* `words`: its command and arguments; ends with NULL. `env`: its whole environment; NULL: the
 * variables that a program needs to start. False, with a failure: it was not started. */
bool child_start(struct child *child, const char *const *words, const char *const *env);
/* All its output, when it has ended within ten seconds. */
const char *child_ended(struct child *child, struct laz_exit *how);
/* The next line that it prints, without its end, within ten seconds; "" when there is none. */
const char *child_line(struct child *child);
void child_close(struct child *child);

/* Does the test run in Wine? */
bool child_in_wine(void);
/* In Wine, prints a line and returns true: the test proves nothing there. */
bool child_skip_in_wine(const char *what);

/* Defined by each program: runs the child; returns its exit status. */
int child_main(int argc, char **argv);
/* First line of main(): does what a child was started for, if this is one. */
#define CHILD_MAIN(argc, argv)                                                                     \
    if ((argc) > 1)                                                                                \
    return child_main((argc)-1, (argv) + 1)

#endif
