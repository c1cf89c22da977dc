/* SPDX-License-Identifier: MIT */
/* gates.c (tests) - groups of engines, and executions that stop until the test lets them go. */
#include "gates.h"

#include "base/buf.h"
#include "group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gate {
    char name[16];
    struct laz_reply *reply; /* NULL: open */
    pthread_t thread;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct gate gates[GATES_MOST];
    unsigned n, told;
} gates = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* args: {"name":"NAME"} */
static void gate_tool(void *user, const char *args, size_t args_len, struct laz_reply *reply)
{
    const char *name = strchr(args, ':') + 2;

    (void)user, (void)args_len;
    if (laz_reply_keep(reply))
        return;
    pthread_mutex_lock(&gates.lock);
    struct gate *gate = &gates.gates[gates.n++ % GATES_MOST];
    snprintf(gate->name, sizeof gate->name, "%.*s", (int)strcspn(name, "\""), name);
    gate->reply = reply;
    gate->thread = pthread_self();
    pthread_cond_broadcast(&gates.changed);
    pthread_mutex_unlock(&gates.lock);
}

struct laz_group *gates_group(const char *settings_text, unsigned engines)
{
    const struct laz_tool tool = {.size = sizeof tool,
                                  .name = "gate",
                                  .description = "Waits",
                                  .parameters = "[{\"name\":\"name\",\"type\":\"string\"}]",
                                  .nonblocking = 1};
    const struct laz_group_options options = {
        .size = sizeof options, .engines = engines, .log = test_log, .log_level = LAZ_LOG_ERROR};
    char *text = laz_strdupf("sandbox.backend=none;sandbox.require=[];session.runtime=lua;"
                             "pool.warm=cold%s%s",
                             *settings_text ? ";" : "", settings_text);
    struct laz_settings *settings = text ? test_settings(text) : NULL;
    struct laz_group *group = NULL;
    struct laz_error err = {0};

    gates.n = gates.told = 0;
    if (settings && laz_group_new(settings, &options, &group, &err))
        printf("\n    no group: %s", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(group);
    for (unsigned i = 0; i < group->n; i++)
        group->lanes[i].engine->boxes.death_ms = UNIT_HANG_MS; /* nothing happens there yet */
    CU_ASSERT_EQUAL_FATAL(laz_group_add_tool(group, &tool, gate_tool, NULL, NULL), 0);
    laz_settings_free(settings);
    free(text);
    return group;
}

void gates_await(unsigned n)
{
    pthread_mutex_lock(&gates.lock);
    while (gates.n < n)
        pthread_cond_wait(&gates.changed, &gates.lock);
    pthread_mutex_unlock(&gates.lock);
}

const char *gate_of(unsigned index)
{
    return gates.gates[index].name;
}

pthread_t gate_thread(unsigned index)
{
    return gates.gates[index].thread;
}

static void gate_answer(struct gate *gate)
{
    struct laz_reply *reply = gate->reply;
    char value[24];

    snprintf(value, sizeof value, "\"%s\"", gate->name);
    gate->reply = NULL;
    pthread_mutex_unlock(&gates.lock);
    laz_reply_value(reply, value, strlen(value));
    laz_reply_free(reply);
    pthread_mutex_lock(&gates.lock);
}

/* NULL: all. */
static unsigned gates_answer(const char *name)
{
    unsigned found = 0;

    pthread_mutex_lock(&gates.lock);
    for (unsigned i = 0; i < gates.n && i < GATES_MOST; i++)
        if (gates.gates[i].reply && (!name || strcmp(gates.gates[i].name, name) == 0)) {
            gate_answer(&gates.gates[i]);
            found++;
        }
    pthread_mutex_unlock(&gates.lock);
    return found;
}

void gate_open(const char *name)
{
    CU_ASSERT_EQUAL(gates_answer(name), 1);
}

void gates_open_all(void)
{
    (void)gates_answer(NULL);
}

void gate_tell(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct gate_told *told = user;

    pthread_mutex_lock(&gates.lock);
    told->code = err ? err->code : 0;
    told->verdict = laz_result_verdict(result);
    snprintf(told->text, sizeof told->text, "%.250s", err ? err->text : laz_result_value(result));
    told->thread = pthread_self();
    told->order = ++gates.told;
    pthread_mutex_unlock(&gates.lock);
    laz_result_free(result);
    if (told->then)
        told->then(told);
    pthread_mutex_lock(&gates.lock);
    told->times++;
    pthread_cond_broadcast(&gates.changed);
    pthread_mutex_unlock(&gates.lock);
}

void gate_told_await(struct gate_told *told)
{
    pthread_mutex_lock(&gates.lock);
    while (!told->times)
        pthread_cond_wait(&gates.changed, &gates.lock);
    pthread_mutex_unlock(&gates.lock);
}

void gates_run(struct laz_group *group, int place,
               void (*body)(void *user, struct laz_engine *engine), void *user)
{
    struct laz_error err = {0};

    if (laz_group_run(group, place, body, user, &err) != place)
        printf("\n    no run in engine %d: %s", place, err.text);
    CU_ASSERT_EQUAL(err.code, 0);
}

static void clock_hold(void *user, struct laz_engine *engine)
{
    (void)user;
    laz_loop_hold_clock(engine->driver.loop);
}

void gates_hold_clock(struct laz_group *group, int place)
{
    gates_run(group, place, clock_hold, NULL);
}

static void clock_advance(void *user, struct laz_engine *engine)
{
    test_advance_clock(engine, *(uint64_t *)user);
    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
}

void gates_advance_clock(struct laz_group *group, int place, uint64_t ms)
{
    gates_run(group, place, clock_advance, &ms);
}

static void halt_wait(void *user, struct laz_engine *engine)
{
    struct gate_halt *halt = user;

    (void)engine;
    pthread_mutex_lock(&gates.lock);
    halt->reached = 1;
    pthread_cond_broadcast(&gates.changed);
    while (!halt->left)
        pthread_cond_wait(&gates.changed, &gates.lock);
    pthread_mutex_unlock(&gates.lock);
}

static void *halt_thread(void *user)
{
    struct gate_halt *halt = user;

    (void)laz_group_run(halt->group, halt->place, halt_wait, halt, NULL);
    return NULL;
}

void gate_halt_begin(struct gate_halt *halt, struct laz_group *group, int place)
{
    *halt = (struct gate_halt){.group = group, .place = place};
    CU_ASSERT_EQUAL_FATAL(pthread_create(&halt->thread, NULL, halt_thread, halt), 0);
    pthread_mutex_lock(&gates.lock);
    while (!halt->reached)
        pthread_cond_wait(&gates.changed, &gates.lock);
    pthread_mutex_unlock(&gates.lock);
}

void gate_halt_end(struct gate_halt *halt)
{
    pthread_mutex_lock(&gates.lock);
    halt->left = 1;
    pthread_cond_broadcast(&gates.changed);
    pthread_mutex_unlock(&gates.lock);
    CU_ASSERT_EQUAL(pthread_join(halt->thread, NULL), 0);
}
