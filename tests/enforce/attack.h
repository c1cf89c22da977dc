/* SPDX-License-Identifier: MIT */
/* attack.h - what code in a box may try, as named attempts.
 *
 * The same attempts run in three places: in a session (attack.c makes a runtime of them, so they
 * run exactly where code of a model runs), in a session without isolation, and, for attempts that
 * only root may make, in a process of the tests. The latter two are controls, in which they have to
 * succeed. An attempt touches only what its arguments name. */
#ifndef LAZ_TESTS_ATTACK_H
#define LAZ_TESTS_ATTACK_H

#include <stddef.h>

/* 0: it succeeded. Else the errno of the refusal, or ATTACK_NOTHING: there was no target. */
#define ATTACK_NOTHING (-1)

struct attack {
    const char *name;
    int args; /* exactly */
    int (*run)(char **args);
};

extern const struct attack attack_files[], attack_network[], attack_processes[], attack_kernel[],
    attack_own[], attack_quotas[];

/* Runs "NAME ARG..." in a child and returns the outcome: "through", the name of an errno,
 * "nothing", "signal N" (the child was killed), or what is wrong with the line. */
void attack_run(const char *line, char *word, size_t size);

/* errno when the call failed, 0 when it did not. */
int attack_result(long rc);
/* Calls `visit` with the name of each process under /proc but this one, until it returns 0; returns
 * the last other value. ATTACK_NOTHING when there is no other process. */
int attack_each_process(int (*visit)(const char *pid, void *user), void *user);

#endif
