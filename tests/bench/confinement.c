/* SPDX-License-Identifier: MIT */
/* confinement.c - the cost of a start, layer by layer: the box, the agent in it, its confinement.
 *
 * The box is the one of a session of the runtime, with the same mounts, limits and uid, but without
 * a control group. It runs a short program: `true`, or the agent, which exits as soon as it has
 * reached the step to be measured. So each row has one layer more than its floor. */
#include "bench.h"

#include "engine/engine.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/process.h"
#include "os/programs.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/uids.h"
#include "os/users.h"
#include "box/box.h"

#include <signal.h>

#define END_MS  10000
#define MAX_FDS 40

/* The commands to run in a session's box, and everything that their plans need. */
struct confinement {
    struct laz_engine *engine;
    const struct laz_runtime_info *runtime;
    const struct laz_backend_choice *choice;
    struct laz_policy_box *policy;
    uint32_t uid;
    char *directory, *agent, *runtime_file;
};

static void confinement_fini(struct confinement *confinement)
{
    laz_policy_free(confinement->policy);
    if (confinement->directory)
        laz_os_remove_tree(confinement->directory);
    if (confinement->uid != LAZ_SPAWN_SAME_ID)
        laz_uids_give_back(confinement->engine->boxes.uids, confinement->uid);
    free(confinement->directory);
    free(confinement->agent);
    free(confinement->runtime_file);
}

/* Makes directories like those of a session: the socket's, and a home for backends that make
 * none. */
static int confinement_directories(struct confinement *confinement, char *socket, size_t size,
                                   struct laz_error *err)
{
    char home[256];

    confinement->directory = laz_strdupf("%s/bench", confinement->engine->directory);
    if (!confinement->directory)
        return laz_error_nomem(err);
    snprintf(socket, size, "%s/socket", confinement->directory);
    snprintf(home, sizeof home, "%s/home", confinement->directory);
    int rc =
        laz_os_make_directory(confinement->directory, 0711, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
    if (!rc)
        rc = laz_os_make_directory(socket, 0700, confinement->uid, confinement->uid, err);
    return rc ? rc : laz_os_make_directory(home, 0700, confinement->uid, confinement->uid, err);
}

static void confinement_answered(void *user, int rc, const struct laz_error *why)
{
    (void)rc;
    *(struct laz_error *)user = *why;
}

/* The backend that sessions of the engine get; a trial of it is driven to its end. */
static int confinement_choose(struct confinement *confinement, struct laz_error *err)
{
    struct laz_box_shared *boxes = &confinement->engine->boxes;
    struct laz_box_asker asker = {.user = err, .answer = confinement_answered};
    int rc = laz_box_backend(boxes, &asker, err);

    while (boxes->trial)
        laz_driver_turn(boxes->driver, LAZ_LOOP_FOREVER);
    return rc < 0 ? rc : laz_box_chosen(boxes, &confinement->choice, err->code ? NULL : err);
}

static int confinement_init(struct confinement *confinement, struct laz_error *err)
{
    struct laz_engine *engine = confinement->engine;
    const struct laz_runtime_info *runtime = confinement->runtime;
    const struct laz_programs_found *programs = NULL;
    char socket[256];

    int rc = confinement_choose(confinement, err);
    if (!rc && engine->boxes.uids)
        rc = laz_uids_take(engine->boxes.uids, &confinement->uid, err);
    if (!rc)
        rc = confinement_directories(confinement, socket, sizeof socket, err);
    if (!rc)
        rc = laz_stage_file(engine->directory, engine->agent, confinement->uid, true,
                            &confinement->agent, err);
    if (!rc)
        rc = laz_stage_file(engine->directory, runtime->file, confinement->uid, false,
                            &confinement->runtime_file, err);
    bool own_files = !rc && laz_backend_has_own_files(confinement->choice->ops);
    if (!rc)
        rc = laz_programs_find(&engine->boxes.programs, runtime, confinement->uid, false, own_files,
                               NULL, &programs, err);
    if (rc)
        return rc;
    const struct laz_policy_session session = {
        .socket_directory = socket,
        .token = "0123456789abcdef0123456789abcdef",
        .agent = confinement->agent,
        .runtime_file = confinement->runtime_file,
        .uid = confinement->uid,
        .programs = programs->list,
        .staged = programs->staged,
    };
    return laz_policy_new(engine->values, runtime, &session, own_files, laz_os_platform(),
                          laz_buf_text(&confinement->choice->options),
                          confinement->choice->options.len, &confinement->policy, err);
}

/* Makes a plan to run a command in the box. */
static int confinement_plan(struct confinement *confinement, const char *const *command,
                            struct laz_plan **plan, struct laz_error *err)
{
    struct laz_policy policy = confinement->policy->policy;
    char *program = NULL;

    policy.command = command;
    int rc = laz_plan_make(confinement->choice->ops, confinement->choice->name, &policy, NULL, 0,
                           confinement->directory, plan, err);
    if (!rc)
        rc = laz_os_find_program((*plan)->argv.items[0], &program, err);
    if (rc)
        return rc;
    free((*plan)->argv.items[0]);
    (*plan)->argv.items[0] = program;
    return 0;
}

/* Runs a plan; returns the time from the request for a process to its end in microseconds;
 * negative: it failed. */
static double confinement_run(struct confinement *confinement, const struct laz_plan *plan)
{
    static const char *const nothing[] = {NULL};
    struct laz_spawn_fd fds[MAX_FDS];
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_exit how = {.status = -1};
    struct laz_error err = {0};
    size_t n = 0;
    int rc = plan->n_data < MAX_FDS - 1 ? 0 : LAZ_ETOOBIG;

    double before = bench_now_us();
    if (plan->status_fd >= 0)
        fds[n++] = (struct laz_spawn_fd){-1, plan->status_fd};
    const size_t first = n;
    for (size_t i = 0; i < plan->n_data && !rc; i++, n++) {
        fds[n] = (struct laz_spawn_fd){-1, plan->data[i].child_fd};
        rc = laz_os_data_fd("bench", laz_buf_text(&plan->data[i].content),
                            plan->data[i].content.len, &fds[n].parent, &err);
    }
    const struct laz_spawn spawn = {
        .argv = (const char *const *)plan->argv.items,
        .env = plan->env.n ? (const char *const *)plan->env.items : nothing,
        .fds = fds,
        .n_fds = n,
        .uid = confinement->uid,
        .gid = confinement->uid,
        .group = true,
        .own_keys = true,
        .death_signal = SIGKILL,
    };
    if (!rc)
        rc = laz_spawner_spawn(confinement->engine->spawner, &spawn, &process, &err);
    bool ended = !rc && laz_process_wait(&process, END_MS, &how);
    double took = bench_now_us() - before;
    if (!rc && !ended)
        laz_process_signal_group(&process, SIGKILL);
    laz_process_close(&process);
    for (size_t i = first; i < n; i++)
        laz_os_close(&fds[i].parent);
    return ended && how.status == 0 ? took : -1;
}

/* Samples of a command in the box, and of its floor: another command, or NULL for a bare box. */
static enum bench_outcome confinement_sample(struct confinement *confinement,
                                             struct bench_point *point, const char *const *command,
                                             const char *const *floor)
{
    struct laz_plan *plan = NULL, *floor_plan = NULL;
    struct laz_error err = {0};
    enum bench_outcome outcome = BENCH_DONE;

    int rc = confinement_plan(confinement, command, &plan, &err);
    if (!rc && floor)
        rc = confinement_plan(confinement, floor, &floor_plan, &err);
    if (rc)
        outcome = bench_problem(point, "%s", err.text);
    for (bool warm = false; outcome == BENCH_DONE && !bench_is_full(point); warm = true) {
        double below = floor && !point->counter ? confinement_run(confinement, floor_plan)
                                                : bench_floor(point, bench_bwrap_true);
        double took = confinement_run(confinement, plan);
        if (below < 0 || took < 0)
            outcome =
                bench_problem(point, "%s failed in the box", below < 0 ? "the floor" : *command);
        if (outcome != BENCH_DONE || !warm)
            continue;
        bench_add(point, took);
        bench_add_floor(point, below);
    }
    laz_plan_free(plan);
    laz_plan_free(floor_plan);
    return outcome;
}

/* The confinement that the agent of a session would be asked for. */
static char *confinement_asked(struct confinement *confinement, const char *const *command)
{
    struct laz_plan *plan = NULL;
    struct laz_buf json = LAZ_BUF_INIT;

    if (!confinement_plan(confinement, command, &plan, NULL))
        laz_plan_confine_json(plan, &json);
    laz_plan_free(plan);
    return laz_buf_steal(&json);
}

static enum bench_outcome confinement_layer(struct confinement *confinement,
                                            struct bench_point *point)
{
    const char *agent = confinement->policy->policy.command[0];
    const char *const nothing[] = {"/usr/bin/true", NULL};
    const char *const probe[] = {agent, "--probe", NULL};
    char *json = confinement_asked(confinement, probe);
    const char *const confined[] = {agent, "--probe", json, NULL};
    enum bench_outcome outcome = BENCH_FAILED;

    if (!json || !*json)
        outcome = bench_problem(point, "no plan for the agent");
    else if (point->parameter == BENCH_LAYER_BOX)
        outcome = confinement_sample(confinement, point, nothing, NULL);
    else if (point->parameter == BENCH_LAYER_AGENT)
        outcome = confinement_sample(confinement, point, probe, nothing);
    else
        outcome = confinement_sample(confinement, point, confined, probe);
    free(json);
    return outcome;
}

enum bench_outcome bench_layer(struct bench *bench, struct bench_point *point)
{
    struct confinement confinement = {.engine = bench->engine, .uid = LAZ_SPAWN_SAME_ID};
    struct laz_session *session;
    struct laz_error err = {0};
    enum bench_outcome outcome = bench_session(bench, point, &session);

    if (outcome != BENCH_DONE) /* otherwise the runtime is built and the backend works */
        return outcome;
    int rc = laz_registry_runtime(bench->engine->registry, point->language->name,
                                  &confinement.runtime, &err);
    if (!rc)
        rc = confinement_init(&confinement, &err);
    outcome = rc ? bench_problem(point, "%s", err.text) : confinement_layer(&confinement, point);
    confinement_fini(&confinement);
    return outcome;
}
