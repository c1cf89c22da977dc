/* SPDX-License-Identifier: MIT */
/* child.c - programs that run beside the calls, for providers: the server of the provider `mcp`.
 *
 * A child that has ended is not reaped before its group is killed: the number of the group cannot
 * have been given to others, and processes that it has left behind cannot hold its pipes.  A child
 * that is given back ends in steps that the loop drives: a time to end by itself, SIGTERM, SIGKILL.
 * The end of the engine drives the loop until none is left.
 * Side: host.  Input trusted: no (how a program behaves). */
#include "tool/tool_private.h"

#include "os/descriptors.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/sockets.h"
#include "os/spawner.h"
#include "tool/command.h"

#include <stdlib.h>
#include <string.h>

#define CHILD_KILLED_MS 5000 /* how long the end of the engine waits for one that was killed */

/* What was done to a child that was given back, in this order. */
enum child_step { CHILD_RUNS, CHILD_WAITED, CHILD_ASKED, CHILD_KILLED };

struct laz_child {
    struct laz_tools *tools;
    struct laz_child *next;
    struct laz_process process;
    struct laz_io *end; /* watches the end of the process */
    struct laz_timer *timer;
    enum child_step step;
    uint64_t ms;
    bool has_ended;
    void (*ended)(void *user, int32_t exit_status, int32_t signal);
    void *user;
};

static void child_free(struct laz_child *child)
{
    struct laz_child **at = &child->tools->children;

    while (*at && *at != child)
        at = &(*at)->next;
    if (*at)
        *at = child->next;
    laz_io_stop(child->end);
    laz_timer_stop(child->timer);
    laz_process_close(&child->process);
    free(child);
}

/* The time of a step is over. */
static void child_late(void *user)
{
    struct laz_child *child = user;

    child->step++;
    laz_process_signal_group(&child->process, child->step == CHILD_ASKED ? SIGTERM : SIGKILL);
    if (child->step == CHILD_ASKED)
        laz_timer_start(child->timer, child->ms);
}

static void child_end_seen(void *user, uint32_t events)
{
    struct laz_child *child = user;
    struct laz_exit how = {0};

    (void)events;
    laz_io_stop(child->end);
    child->end = NULL;
    child->has_ended = true;
    laz_process_signal_group(&child->process, SIGKILL);
    (void)laz_process_reap(&child->process, &how);
    if (child->step != CHILD_RUNS)
        child_free(child);
    else
        child->ended(child->user, how.known && !how.signal ? how.status : -1, how.signal);
}

void laz_child_environment(const struct laz_tools *tools, const char *const *own,
                           struct laz_strv *env)
{
    for (size_t i = 0; own && own[i]; i++)
        laz_strv_add(env, own[i]);
    for (size_t i = 0; i < tools->env.n; i++) {
        const char *given = tools->env.items[i];
        const size_t len = strcspn(given, "=") + 1;
        size_t k = 0;
        while (own && own[k] && strncmp(own[k], given, len) != 0)
            k++;
        if (!own || !own[k])
            laz_strv_add(env, given);
    }
}

void laz_child_forget(struct laz_strv *env)
{
    for (size_t i = 0; i < env->n; i++)
        laz_wipe(env->items[i], strlen(env->items[i]));
    laz_strv_fini(env);
}

static int child_spawn(struct laz_child *child, const struct laz_child_program *program,
                       struct laz_child_pipes *pipes, struct laz_error *err)
{
    struct laz_tools *tools = child->tools;
    struct laz_strv env = LAZ_STRV_INIT;
    int ours[3] = {-1, -1, -1}, theirs[3] = {-1, -1, -1};
    int rc = laz_os_stream_pair(&ours[0], &theirs[0], err);

    laz_child_environment(tools, LAZ_HAS(program, env) ? program->env : NULL, &env);
    if (!rc && env.failed)
        rc = laz_error_nomem(err);
    for (int i = 1; i < 3 && !rc; i++) {
        rc = laz_os_cloexec_pipe(&ours[i], &theirs[i], err);
        if (!rc)
            rc = laz_os_nonblock(ours[i], true, err);
    }
    const struct laz_spawn_fd fds[] = {{theirs[0], 0}, {theirs[1], 1}, {theirs[2], 2}};
    const struct laz_spawn spawn = {
        LAZ_SPAWN_OWN(program->argv, (const char *const *)env.items, fds),
        .no_priority = true,
        .death_signal = SIGKILL,
    };
    if (!rc)
        rc = laz_spawner_spawn(tools->spawner, &spawn, &child->process, err);
    for (int i = 0; i < 3; i++) {
        laz_os_close(&theirs[i]);
        if (rc)
            laz_os_close(&ours[i]);
    }
    pipes->input = ours[0];
    pipes->output = ours[1];
    pipes->errors = ours[2];
    laz_child_forget(&env);
    return rc;
}

int laz_child_start(void *host, const struct laz_child_program *program,
                    struct laz_child_pipes *pipes, struct laz_child **out, struct laz_error *err)
{
    struct laz_tools *tools = ((const struct laz_provider *)host)->tools;

    if (!tools->driver->loop || !tools->spawner)
        return laz_error_set(err, LAZ_EREFUSED, 0, "no program is started here");
    int rc = laz_command_check(program->argv ? program->argv[0] : NULL, err);
    struct laz_child *child = rc ? NULL : calloc(1, sizeof *child);
    if (!child)
        return rc ? rc : laz_error_nomem(err);
    *child = (struct laz_child){
        .tools = tools,
        .process = LAZ_PROCESS_INIT,
        .ended = program->ended,
        .user = program->user,
        .timer = laz_timer_new(tools->driver->loop, child_late, child),
    };
    rc = child->timer ? child_spawn(child, program, pipes, err) : laz_error_nomem(err);
    if (rc) {
        laz_timer_stop(child->timer);
        free(child);
        return rc;
    }
    child->next = tools->children;
    tools->children = child;
    child->end =
        laz_io_start(tools->driver->loop, child->process.pidfd, LAZ_IO_READ, child_end_seen, child);
    if (!child->end) {
        rc = laz_io_error(err, "the end of a program");
        laz_error_prefix(err, "%s: ", program->argv[0]);
        laz_process_signal_group(&child->process, SIGKILL);
        (void)laz_process_wait(&child->process, CHILD_KILLED_MS, NULL);
        child_free(child);
        laz_os_close(&pipes->input);
        laz_os_close(&pipes->output);
        laz_os_close(&pipes->errors);
        return rc;
    }
    *out = child;
    return 0;
}

void laz_child_end(struct laz_child *child, uint64_t ms)
{
    if (!child || child->step != CHILD_RUNS)
        return;
    if (child->has_ended) {
        child_free(child);
        return;
    }
    child->ms = ms;
    child->step = CHILD_WAITED;
    laz_timer_start(child->timer, ms);
}

/* Waits for one that was killed. */
static void child_await(struct laz_child *child)
{
    if (!laz_process_wait(&child->process, CHILD_KILLED_MS, NULL))
        laz_log(&child->tools->driver->log, LAZ_LOG_ERROR,
                "process %lld was killed and has not ended: the system holds it",
                (long long)child->process.pid);
    child_free(child);
}

void laz_children_end(struct laz_tools *tools)
{
    for (struct laz_child *child = tools->children, *next; child; child = next) {
        next = child->next;
        laz_child_end(child, 0); /* those that a provider has forgotten */
    }
    while (tools->children) {
        struct laz_child *killed = tools->children;
        while (killed && killed->step != CHILD_KILLED)
            killed = killed->next;
        if (killed)
            child_await(killed);
        else
            laz_loop_step(tools->driver->loop, LAZ_LOOP_FOREVER);
    }
}
