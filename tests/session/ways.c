/* SPDX-License-Identifier: MIT */
/* ways.c (tests) - each function that executes code, called in one way. */
#include "ways.h"

#include "gates.h"

#include "group/group.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is given --------------------------------------------------------------------------- */

struct piece {
    struct piece *next;
    size_t size;
    max_align_t data[];
};
static struct piece *given;

void *give(size_t size)
{
    struct piece *piece = calloc(1, sizeof *piece + size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(piece);
    piece->next = given;
    piece->size = size;
    given = piece;
    return piece->data;
}

void *give_bytes(const void *bytes, size_t size)
{
    return memcpy(give(size), bytes, size);
}

char *give_text(const char *text)
{
    return give_bytes(text, strlen(text) + 1);
}

static void take_back(void)
{
    while (given) {
        struct piece *piece = given;
        given = piece->next;
        memset(piece->data, 0xa5, piece->size);
        free(piece);
    }
}

struct laz_execute_options *give_options_of(size_t size)
{
    struct laz_execute_options *options = give(size);

    options->size = size;
    return options;
}

struct laz_execute_options *give_options(void)
{
    return give_options_of(sizeof(struct laz_execute_options));
}

/* ---- functions that execute ------------------------------------------------------------------ */

#define SETTINGS "pool.reset=false;pool.warm=cold;session.runtime=lua;sandbox.require=[]"

struct ways_home home;

struct way_asked {
    const char *code;
    size_t len;
    const struct laz_execute_options *options;
    const struct laz_session_options *session; /* of a fresh one */
};

/* Of what is reported on other threads. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
} told = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void take_outcome(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct way_outcome *outcome = user;

    pthread_mutex_lock(&told.lock);
    outcome->times++;
    outcome->result = result;
    if (err) {
        outcome->err = *err;
        outcome->rc = err->code;
    }
    pthread_cond_broadcast(&told.changed);
    pthread_mutex_unlock(&told.lock);
}

#define SYNC(name, function, ...)                                                                  \
    static int name(const struct way_asked *a, struct way_outcome *to)                             \
    {                                                                                              \
        return function(__VA_ARGS__, a->code, a->len, a->options, &to->result, &to->err);          \
    }
#define ASYNC(name, function, ...)                                                                 \
    static int name(const struct way_asked *a, struct way_outcome *to)                             \
    {                                                                                              \
        return function(__VA_ARGS__, a->code, a->len, a->options, take_outcome, to, &to->err);     \
    }
SYNC(in_session, laz_session_execute, home.session)
ASYNC(in_session_async, laz_session_execute_async, home.session)
SYNC(in_fresh, laz_execute, home.engine, a->session)
ASYNC(in_fresh_async, laz_execute_async, home.engine, a->session)
SYNC(in_pool, laz_pool_execute, home.pool, LAZ_NO_LIMIT)
ASYNC(in_pool_async, laz_pool_execute_async, home.pool, LAZ_NO_LIMIT)
SYNC(in_group, laz_group_execute, home.group, a->session)
ASYNC(in_group_async, laz_group_execute_async, home.group, a->session)
SYNC(in_group_pool, laz_group_pool_execute, home.group_pool, LAZ_NO_LIMIT)
ASYNC(in_group_pool_async, laz_group_pool_execute_async, home.group_pool, LAZ_NO_LIMIT)

const struct way ways[] = {
    {"laz_session_execute", in_session, false, false},
    {"laz_session_execute_async", in_session_async, true, false},
    {"laz_execute", in_fresh, false, false},
    {"laz_execute_async", in_fresh_async, true, false},
    {"laz_pool_execute", in_pool, false, false},
    {"laz_pool_execute_async", in_pool_async, true, false},
    {"laz_group_execute", in_group, false, true},
    {"laz_group_execute_async", in_group_async, true, true},
    {"laz_group_pool_execute", in_group_pool, false, true},
    {"laz_group_pool_execute_async", in_group_pool_async, true, true},
};
const size_t n_ways = sizeof ways / sizeof *ways;

struct laz_engine *way_engine(const struct way *way)
{
    return way->is_group ? home.group->lanes[0].engine : home.engine;
}

static void way_await(const struct way *way, struct way_outcome *outcome)
{
    while (!way->is_group && !outcome->times)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(home.engine, -1, NULL), 0);
    pthread_mutex_lock(&told.lock);
    while (!outcome->times)
        pthread_cond_wait(&told.changed, &told.lock);
    pthread_mutex_unlock(&told.lock);
}

struct way_outcome way_run(const struct way *way, const char *code,
                           const struct laz_execute_options *(*make)(void))
{
    struct laz_session_options *session = give(sizeof *session);
    struct way_outcome outcome = {0};

    *session = (struct laz_session_options){.size = sizeof *session, .runtime = give_text("lua")};
    const struct way_asked asked = {
        .code = give_bytes(code, strlen(code)), /* without its end */
        .len = strlen(code),
        .options = make ? make() : NULL,
        .session = session,
    };
    const int rc = way->begin(&asked, &outcome);
    take_back();
    if (rc)
        outcome.rc = rc;
    else if (way->is_async)
        way_await(way, &outcome);
    CU_ASSERT_EQUAL(outcome.times, way->is_async && !rc);
    return outcome;
}

void ways_open(const struct ways_tool *tools, size_t n)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    const struct laz_pool_options one = {.size = sizeof one, .members = 1};

    home.engine = test_engine(SETTINGS);
    home.group = gates_group(SETTINGS ";sandbox.backend=auto", 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(home.engine);
    test_hold_clock(home.engine);
    gates_hold_clock(home.group, 0);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(laz_engine_add_tool(home.engine, &tools[i].tool, tools[i].call, NULL, NULL),
                        0);
        CU_ASSERT_EQUAL(laz_group_add_tool(home.group, &tools[i].tool, tools[i].call, NULL, NULL),
                        0);
    }
    CU_ASSERT_EQUAL_FATAL(laz_session_open(home.engine, &lua, &home.session, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_pool_new(home.engine, &one, &home.pool, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_group_pool_new(home.group, &one, &home.group_pool, NULL), 0);
}

void ways_close(void)
{
    laz_group_free(home.group);
    laz_engine_free(home.engine);
}
