/* SPDX-License-Identifier: MIT */
/* probes.h - the table of probes: what is tried, in which language, and the outcome in each
 * backend. */
#ifndef LAZ_TESTS_PROBES_H
#define LAZ_TESTS_PROBES_H

/* Where the same code has to succeed, so that a refusal proves something. */
enum probe_control {
    PROBE_OPEN, /* a session of the backend none */
    PROBE_BARE, /* a process of the test, because a session without isolation has this layer too */
    PROBE_ROOT, /* the same, but only root can do it there */
};

enum probe_language { PROBE_ATTACK, PROBE_PYTHON, PROBE_R, PROBE_LUA, PROBE_LANGUAGES };

struct probe {
    const char *name;
    const char *code;   /* in the language, with the names of world.h */
    const char *layers; /* the layers that stop it, outermost first: for readers and test_layers */
    const char *bwrap, *landlock; /* the expected refusals, "EPERM|ENOENT"; NULL: this backend does
                                     not promise it */
    enum probe_control control;
    enum probe_language language;
};

extern const struct probe probes[]; /* ends with a row without a name */
extern const char *const probe_runtimes[PROBE_LANGUAGES];
/* Code that defines what the probes of a language use. */
extern const char *const probe_preludes[PROBE_LANGUAGES];

#endif
