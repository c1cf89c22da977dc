/* SPDX-License-Identifier: MIT */
/* attack.h - what code in a box may try, each attempt by a name.
 *
 * The same attempts run in three places: in a session (attack.c makes a runtime of them, so they
 * stand exactly where the code of a model stands), in a session without isolation, and, for what
 * only root may do, in a process of the tests.  Two of the three are controls: there they have to
 * get through.  Nothing here touches what its arguments do not name. */
#ifndef LAZ_TESTS_ATTACK_H
#define LAZ_TESTS_ATTACK_H

#include <stddef.h>

/* Got through: 0.  Refused: the errno.  ATTACK_NOTHING: nothing was there to be found. */
#define ATTACK_NOTHING (-1)

struct attack {
    const char *name;
    int args; /* exactly */
    int (*run)(char **args);
};

extern const struct attack attack_files[], attack_network[], attack_processes[], attack_kernel[],
    attack_own[];

/* Runs "NAME ARG..." in a child and says what came of it: "through", the name of an errno,
 * "nothing", "signal N" (the child was killed), or what is wrong with the line. */
void attack_run(const char *line, char *word, size_t size);

/* errno when the call failed, 0 when it did not. */
int attack_result(long rc);
/* Calls `visit` with the name of each process under /proc but this one, until it returns 0; the
 * last value that was not. ATTACK_NOTHING when there is no other. */
int attack_each_process(int (*visit)(const char *pid, void *user), void *user);

#endif
