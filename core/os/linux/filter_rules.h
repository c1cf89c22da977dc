/* SPDX-License-Identifier: MIT */
/* filter_rules.h - what the filter of system calls lets through, as data.
 *
 * Read by the program that makes the filter while lazaret is built, and not at run time. */
#ifndef LAZ_OS_LINUX_FILTER_RULES_H
#define LAZ_OS_LINUX_FILTER_RULES_H

#include <stdint.h>

/* The filters that are made, as bits: each group and rule lists the ones to which it belongs. */
#define FILTER_SESSION   1u
#define FILTER_SAME_USER 2u
#define FILTER_NETWORK   4u
#define FILTER_TEMPLATE  8u /* with another: filter_setup is allowed as well */
#define FILTER_GATE      16u /* of no session: lazaret-gate */
#define FILTER_ALL       (FILTER_SESSION | FILTER_SAME_USER | FILTER_NETWORK)
#define FILTER_OWN       (FILTER_SESSION | FILTER_NETWORK)   /* files or a uid of its own */
#define FILTER_CLOSED    (FILTER_SESSION | FILTER_SAME_USER) /* no sockets but pairs */

struct filter_group {
    unsigned filters;
    const char *name;
    const char *why;
    const char *calls; /* separated by spaces; calls that an architecture lacks are ignored */
};

/* The call passes when every test of a rule holds: (argument & mask) == value. The mask also says
 * how much of a register the kernel reads: of an int or unsigned argument the low 32 bits, so the
 * bits above them must not change the outcome. A mask of 0 ends the tests. */
struct filter_test {
    unsigned argument; /* from 0 */
    uint64_t mask, value;
};

#define FILTER_TESTS 3

struct filter_rule {
    unsigned filters;
    const char *call;
    struct filter_test tests[FILTER_TESTS];
};

/* A call that is not made, and is answered with another error than EPERM. No rule fits it. */
struct filter_answer {
    unsigned filters;
    const char *call;
    struct filter_test tests[FILTER_TESTS];
    int error; /* errno; 0: success */
};

extern const struct filter_group filter_groups[];   /* ends with name NULL */
extern const struct filter_rule filter_rules[];     /* ends with call NULL */
extern const struct filter_answer filter_answers[]; /* the same */
/* Calls that fail with ENOSYS, so that their callers fall back to one that can be checked: these
 * take their arguments in memory, which a filter cannot read. */
extern const char filter_unknown[];
/* What a template and its sessions call to make and confine a session; no session may. The second
 * are of those that fail with ENOSYS. No row allows what another table of a session allows. */
extern const struct filter_rule filter_setup[]; /* ends with call NULL */
extern const char filter_setup_unknown[];

/* The newest call that the tables include: set_mempolicy_home_node, Linux 5.17. Newer ones, which
 * have the same number everywhere, fail with ENOSYS as on a kernel without them. */
#define FILTER_NEWEST 450

#endif
