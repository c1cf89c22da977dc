/* SPDX-License-Identifier: MIT */
/* ways.h (tests) - each function that executes code, called in one way: all that it is given is
 * overwritten and freed when it has returned, and its outcome is awaited. */
#ifndef LAZ_TESTS_WAYS_H
#define LAZ_TESTS_WAYS_H

#include "live.h"

/* ---- what is given --------------------------------------------------------------------------- */

/* Until the function has returned; zeroed. */
void *give(size_t size);
void *give_bytes(const void *bytes, size_t size);
char *give_text(const char *text);
/* Options of this size, which is set; of the size that they have. */
struct laz_execute_options *give_options_of(size_t size);
struct laz_execute_options *give_options(void);

/* ---- functions ------------------------------------------------------------------------------- */

/* What they execute in: sessions of Lua in boxes, of an engine and of a group of one. Clocks are
 * held. */
struct ways_home {
    struct laz_engine *engine;
    struct laz_session *session;
    struct laz_pool *pool; /* of one session, which is not replaced after a use, as the other */
    struct laz_group *group;
    struct laz_group_pool *group_pool;
};
extern struct ways_home home;

struct ways_tool {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
};
void ways_open(const struct ways_tool *tools, size_t n);
void ways_close(void);

struct way_asked;

struct way_outcome {
    unsigned times; /* `done` was called */
    int rc;         /* of the call, or of the error that `done` got */
    struct laz_error err;
    struct laz_result *result; /* the caller's */
};

extern const struct way {
    const char *name;
    int (*begin)(const struct way_asked *asked, struct way_outcome *outcome);
    bool is_async, is_group;
} ways[];
extern const size_t n_ways;

struct laz_engine *way_engine(const struct way *way);
/* The options are made by `make`; NULL: there are none. */
struct way_outcome way_run(const struct way *way, const char *code,
                           const struct laz_execute_options *(*make)(void));

#endif
