/* SPDX-License-Identifier: MIT */
/* gates.h (tests) - groups of engines, and executions that stop at a gate until the test opens it.
 *
 * Code calls the tool gate(NAME), which is answered by gate_open(NAME): so a test knows what runs,
 * in which order it began, and in which it ends, without a clock. */
#ifndef LAZ_TESTS_GATES_H
#define LAZ_TESTS_GATES_H

#include "live.h"

#include <pthread.h>

#define GATES_MOST 64

/* A group of that many engines without isolation whose sessions are of Lua, with the tool gate;
 * also with these settings. Forgets all gates. */
struct laz_group *gates_group(const char *settings, unsigned engines);
/* Stops code `return gate('NAME')` here. */
#define GATE(name) "return gate('" name "')"
/* Waits until so many calls have come to a gate since the group was made. */
void gates_await(unsigned n);
/* Which gate the call of that number came to. */
const char *gate_of(unsigned index);
/* On which thread. */
pthread_t gate_thread(unsigned index);
void gate_open(const char *name); /* a call has come to it; its value is NAME */
void gates_open_all(void);

/* What was reported of one execution. */
struct gate_told {
    unsigned times;
    int code; /* of the error; 0: there was a result */
    enum laz_verdict verdict;
    char text[256]; /* of the error, or the value */
    pthread_t thread;
    unsigned order;                       /* the first is 1 */
    void (*then)(struct gate_told *told); /* called in the callback; or NULL */
    void *user;
};
void gate_tell(void *user, struct laz_result *result, const struct laz_error *err);
void gate_told_await(struct gate_told *told);

/* Calls `body` on the thread of an engine. */
void gates_run(struct laz_group *group, int place,
               void (*body)(void *user, struct laz_engine *engine), void *user);
/* The clock of an engine stands still, or is moved. */
void gates_hold_clock(struct laz_group *group, int place);
void gates_advance_clock(struct laz_group *group, int place, uint64_t ms);
/* An engine stands still, from here to the end of its halt. */
struct gate_halt {
    struct laz_group *group;
    int place;
    pthread_t thread;
    unsigned reached, left;
};
void gate_halt_begin(struct gate_halt *halt, struct laz_group *group, int place);
void gate_halt_end(struct gate_halt *halt);

#endif
