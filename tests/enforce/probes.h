/* SPDX-License-Identifier: MIT */
/* probes.h - the table: what is tried, in which language, and what comes of it in each backend. */
#ifndef LAZ_TESTS_PROBES_H
#define LAZ_TESTS_PROBES_H

/* Where the same code has to get through, so that a refusal says something. */
enum probe_control {
    PROBE_OPEN, /* a session of the backend none */
    PROBE_BARE, /* a process of the test: a session without isolation has this layer too */
    PROBE_ROOT, /* the same, and only root can do it even there */
};

enum probe_language { PROBE_ATTACK, PROBE_PYTHON, PROBE_R, PROBE_LUA, PROBE_LANGUAGES };

struct probe {
    const char *name;
    const char *code;   /* of the language, with the names of world.h */
    const char *layers; /* which keep it away, outermost first: for people, and test_layers */
    const char *bwrap, *landlock; /* what is answered instead of "through": "EPERM|ENOENT";
                                     NULL: this backend does not promise it */
    enum probe_control control;
    enum probe_language language;
};

extern const struct probe probes[]; /* ends with a row without a name */
extern const char *const probe_runtimes[PROBE_LANGUAGES];
/* Defines what the probes of a language use. */
extern const char *const probe_preludes[PROBE_LANGUAGES];

#endif
