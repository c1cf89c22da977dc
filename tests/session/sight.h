/* SPDX-License-Identifier: MIT */
/* sight.h - the whole life of a session whose code inspects its box, while something fails: it is
 * opened, asks a hook, executes with tools of the application and of a program, is restarted,
 * executes again and is closed; then a session of a pool.
 *
 * Whatever fails, the outcome is an error with a text, or the same value, limits, filter and
 * isolation as without a fault; and afterwards no descriptor, thread or child is left. */
#ifndef LAZ_TESTS_SIGHT_H
#define LAZ_TESTS_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sight {
    const char *settings;   /* TOML of env.set; "" */
    const char *backend;    /* NULL: the default */
    char *require;          /* TOML of sandbox.require; NULL: the default */
    bool from_template;     /* and not cold */
    bool has_orphans;       /* the caller adopts orphans and checks for processes itself */
    bool brief;             /* one execution of one session, and no pool */
    bool only_enforced;     /* compare what is enforced, not the mechanisms */
    bool (*is_short)(void); /* does a shortage make it fail? Then neither log nor error may accuse
                               a session; NULL: no */
    void (*end)(void);      /* called before traces are checked */
    void (*name)(void);     /* prints the current fault; not NULL */
    const bool *fails;      /* is a fault active? If not, the engine's clock is held; NULL: always
                               active */
    char *sight;            /* the value of the first session, without a fault */
    char *isolation;        /* of its result */
    unsigned good, bad;     /* sessions that succeeded, and that failed */
    char directory[40], file[64]; /* of the configuration */
    int descriptors, threads;     /* before the first session */
};

/* Makes one engine first, so that libraries have made what they keep. False: skipped. */
bool sight_begin(struct sight *sight);
void sight_end(struct sight *sight);
/* Runs one session; `user` is a struct sight. */
void sight_session(void *user);

/* Does the text say that a session did wrong, or that templates cannot be had? */
bool sight_accuses(const char *text);

/* Is everything to be tried, and not a sample (LAZARET_TEST_FULL)? */
bool sight_is_full(void);
/* The size of a sample: `n`, or half of it in a build with sanitizers, where a process takes
 * several times as long to start. */
unsigned long sight_sample(unsigned long n);
/* A random number below `n`, which is not 0, for samples. The first call prints the seed:
 * LAZARET_TEST_SEED, or a different one each time. */
size_t sight_pick(size_t n);

#endif
