/* SPDX-License-Identifier: MIT */
/* sim.h - interprets the programs of filters of system calls, with made-up calls. */
#ifndef LAZ_TESTS_SIM_H
#define LAZ_TESTS_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* Of one call: the numbers with which the programs have compared its arguments, and which arguments
 * those were. */
struct sim_touched {
    uint32_t numbers[128];
    size_t n;
    unsigned arguments; /* bits */
};

/* The action of a program of the few instructions that libseccomp uses; any other instruction is a
 * failure of the test. Adds to `touched`, which may be NULL. */
uint32_t sim_run(const struct sock_filter *program, size_t n, const struct seccomp_data *data,
                 struct sim_touched *touched);

#endif
