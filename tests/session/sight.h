/* SPDX-License-Identifier: MIT */
/* sight.h - one session from engine to end, whose code looks at its box, while something fails:
 * made, asked by a hook, executed with tools of the application and of a program, restarted,
 * executed again, closed; and one of a pool.
 *
 * Whatever fails: an error with a text, or the value, the limits, the filter and the isolation that
 * there are without a fault; and afterwards no descriptor, thread or child more than before. */
#ifndef LAZ_TESTS_SIGHT_H
#define LAZ_TESTS_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sight {
    const char *settings; /* TOML of env.set; "" */
    const char *backend;  /* NULL: as it is by default */
    char *require;        /* TOML of sandbox.require; NULL: as it is by default */
    bool from_template;   /* and from nowhere else */
    bool has_orphans;     /* who adopts them looks for processes by itself */
    bool brief;           /* one execution of one session, and no pool */
    bool only_enforced;   /* by whatever mechanism, it is enforced */
    void (*end)(void);    /* called before the traces are looked at */
    void (*name)(void);   /* prints which fault is under way; not NULL */
    const bool *fails;    /* is one? Without, the clock of the engine stands still; NULL: always */
    char *sight;          /* the value without a fault: of the first session */
    char *isolation;      /* of its result */
    unsigned good, bad;   /* sessions in which all was well, or not */
    char folder[40], file[64]; /* with the configuration */
    int descriptors, threads;  /* before the first */
};

/* With one engine made before, so that what libraries make once and keep is there. False: skipped.
 */
bool sight_begin(struct sight *sight);
void sight_end(struct sight *sight);
/* One session; `user` is a struct sight. */
void sight_session(void *user);

/* Is everything to be tried, and not a sample (LAZARET_TEST_FULL)? */
bool sight_is_full(void);
/* A number below `n`, which is not 0, for samples. The first call prints the seed, which is
 * LAZARET_TEST_SEED, or another one each time. */
size_t sight_pick(size_t n);

#endif
