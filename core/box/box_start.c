/* SPDX-License-Identifier: MIT */
/* box_start.c - starting a box: directories, socket, policy, plan, process.
 * Side: host.  Input trusted: yes (settings, and what plugins say of themselves).
 *
 * What is made on the way belongs to the box from the moment it exists, so one release undoes all
 * of it, however far the start came. */
#include "box/box_private.h"

#include "base/clock.h"
#include "base/random.h"
#include "box/protection.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/paths.h"
#include "os/programs.h"
#include "os/signals.h"
#include "os/sockets.h"
#include "os/system.h"
#include "os/trust.h"
#include "os/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start_directory(const struct laz_box *box, const char *name, struct laz_error *err)
{
    char *path = laz_strdupf("%s/%s", box->directory, name);
    int rc =
        path ? laz_os_make_directory(path, 0700, box->uid, box->uid, err) : laz_error_nomem(err);

    free(path);
    return rc;
}

/* Directories of the session: the socket's, and a home where the backend makes none of its own. */
static int start_directories(struct laz_box *box, const struct laz_box_purpose *purpose,
                             struct laz_error *err)
{
    bool own_uid = box->uid != LAZ_SPAWN_SAME_ID;

    box->directory = laz_strdupf("%s/b%s", box->shared->directory, box->name);
    if (!box->directory)
        return laz_error_nomem(err);
    /* with a uid of its own the session must be able to pass, not to list */
    int rc = laz_os_make_directory(box->directory, own_uid ? 0711 : 0700, LAZ_OS_SAME_ID,
                                   LAZ_OS_SAME_ID, err);
    if (!rc)
        rc = start_directory(box, "socket", err);
    if (!rc && purpose->is_template)
        rc = start_directory(box, "empty", err);
    if (rc || laz_backend_has_own_files(purpose->choice->ops))
        return rc;
    return start_directory(box, "home", err);
}

static int start_listener(struct laz_box *box, struct laz_error *err)
{
    int rc = laz_random_name(box->token, LAZ_TOKEN_LEN, err);

    if (rc)
        return rc;
    box->socket_name = laz_os_socket_name(box->directory);
    return box->socket_name
               ? laz_os_listen(box->socket_name, box->uid, box->uid, &box->listener, err)
               : laz_error_nomem(err);
}

/* Staging would make an executable copy of any file: so the agent is checked before. */
static int start_check_agent(const char *agent, struct laz_error *err)
{
    const char *why = NULL;
    struct laz_look look;
    int failed = 0;

    if (!laz_os_is_absolute(agent))
        why = "not an absolute path";
    else if ((failed = laz_os_look(agent, true, &look)) != 0)
        why = laz_errno_text(failed);
    else if (!laz_os_can_execute(agent))
        why = "it is not a program that can be executed";
    if (why)
        return laz_error_set(err, LAZ_ESETUP, failed,
                             "the agent %s cannot be used: %s; install lazaret, or set "
                             "LAZARET_AGENT to the path of lazaret-agent",
                             agent, why);
    if (laz_trust_file(agent, err)) {
        laz_error_prefix(err, "the agent %s cannot be used: ", agent);
        return laz_error_as(err, LAZ_ESETUP);
    }
    return 0;
}

/* The agent of a trial has no channel: it gets its confinement on the command line. */
static int start_trial(struct laz_plan *plan, struct laz_error *err)
{
    struct laz_buf confine = LAZ_BUF_INIT;

    laz_plan_confine_json(plan, &confine);
    laz_strv_add(&plan->argv, laz_buf_text(&confine));
    bool failed = confine.failed || plan->argv.failed;
    laz_buf_fini(&confine);
    return failed ? laz_error_nomem(err) : 0;
}

/* Are tools commands in it? Only a program could start one. */
static bool start_has_commands(const struct laz_box_purpose *purpose,
                               const struct laz_programs_found *programs)
{
    return purpose->runtime && (purpose->has_tools || purpose->is_template) &&
           (!programs || !laz_programs_are_none(programs->list));
}

/* The program that they are links to stands beside the agent. An installation without it has no
 * commands. */
static int start_stage_commands(struct laz_box_shared *shared, struct laz_policy_session *session,
                                struct laz_error *err)
{
    const char *slash = strrchr(shared->agent, '/');
    char *path = laz_strdupf("%.*s/lazaret-tool", (int)(slash - shared->agent), shared->agent);
    struct laz_look look;
    int rc = path ? 0 : laz_error_nomem(err);

    if (!rc && laz_os_look(path, true, &look) == 0 && laz_os_can_execute(path)) {
        rc = laz_trust_file(path, err);
        if (rc) {
            laz_error_prefix(err, "%s cannot be used: ", path);
            rc = laz_error_as(err, LAZ_ESETUP);
        } else {
            rc = laz_staged_find(&shared->staged, shared->directory, path, session->uid, true,
                                 &session->commands, err);
        }
    }
    free(path);
    return rc;
}

/* The libraries that lie beside the runtime; others keep their names. */
static int start_stage_libraries(struct laz_box_shared *shared,
                                 const struct laz_runtime_info *runtime, uint32_t uid,
                                 struct laz_strv *libraries, struct laz_error *err)
{
    struct laz_strv found = LAZ_STRV_INIT;
    int rc = laz_runtime_libraries(runtime, &found, err);

    if (rc)
        rc = laz_error_as(err, LAZ_ESETUP);
    for (size_t i = 0; !rc && i < found.n; i++) {
        const char *path = found.items[i];
        if (strcmp(path, runtime->libraries.items[i]) != 0)
            rc = laz_staged_find(&shared->staged, shared->directory, path, uid, false, &path, err);
        laz_strv_add(libraries, path);
    }
    laz_strv_fini(&found);
    return rc || !libraries->failed ? rc : laz_error_nomem(err);
}

/* Adds the files that the session needs, where it can reach them, and its programs. */
static int start_stage(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                       struct laz_policy_session *session, struct laz_strv *libraries,
                       struct laz_error *err)
{
    const struct laz_backend_ops *ops = purpose->choice->ops;
    const struct laz_programs_found *programs = NULL;
    int rc = start_check_agent(shared->agent, err);

    if (!rc)
        rc = laz_staged_find(&shared->staged, shared->directory, shared->agent, session->uid, true,
                             &session->agent, err);
    if (!rc && purpose->runtime)
        rc = laz_staged_find(&shared->staged, shared->directory, purpose->runtime->file,
                             session->uid, false, &session->runtime_file, err);
    if (!rc && purpose->runtime)
        rc = start_stage_libraries(shared, purpose->runtime, session->uid, libraries, err);
    if (!rc && purpose->runtime && laz_backend_hides_files(ops))
        rc = laz_programs_find(&shared->programs, purpose->runtime, session->uid,
                               session->has_network, laz_backend_has_own_files(ops), purpose->read,
                               &programs, err);
    if (!rc && start_has_commands(purpose, programs))
        rc = start_stage_commands(shared, session, err);
    if (!rc && programs) {
        session->programs = programs->list;
        session->staged = programs->staged;
    }
    return rc;
}

/* Makes the plan of a policy, with what the agent is told by it. */
static int start_make_plan(struct laz_box *box, const struct laz_box_purpose *purpose,
                           const struct laz_policy_box *policy, struct laz_error *err)
{
    const struct laz_backend_choice *choice = purpose->choice;
    const struct laz_settings_values *values = box->shared->values;
    /* where there need not be a sandbox, a trial finds out whether there is a box at all */
    uint32_t require = purpose->runtime || values->sandbox.strict ? choice->require : 0;
    int rc = laz_plan_make(choice->ops, choice->name, &policy->policy, &box->host, require,
                           box->directory, &box->plan, err);

    if (rc)
        return rc;
    laz_box_tell_unmet(box, &policy->notes);
    if (!purpose->runtime)
        return start_trial(box->plan, err);
    box->runtime_file = laz_strdup(policy->runtime_file);
    box->commands_program = laz_strdup(policy->commands);
    return box->runtime_file && (box->commands_program || !policy->commands) ? 0
                                                                             : laz_error_nomem(err);
}

static void start_take(struct laz_strv *list, struct laz_strv *from)
{
    laz_strv_fini(list);
    *list = *from;
    *from = (struct laz_strv)LAZ_STRV_INIT;
}

/* The plan, from the settings and what is particular to this session. */
static int start_plan(struct laz_box *box, const struct laz_box_purpose *purpose,
                      struct laz_error *err)
{
    static const char *const probe[] = {"--probe", NULL}, *const template[] = {"--template", NULL};
    const struct laz_backend_choice *choice = purpose->choice;
    const struct laz_settings_values *values = box->shared->values;
    struct laz_policy_box *policy = NULL;
    struct laz_strv libraries = LAZ_STRV_INIT;
    char *socket_directory = laz_strdupf("%s/socket", box->directory);
    char *empty = laz_strdupf("%s/empty", box->directory);
    const char *const *agent_of_template = purpose->is_template ? template : NULL;
    struct laz_policy_session session = {
        .socket_directory = socket_directory,
        .socket = laz_box_has_socket(box) ? NULL : box->socket_name,
        .token = box->token,
        .command_tail = purpose->runtime ? agent_of_template : probe,
        .uid = box->uid,
        .read = purpose->read,
        .nests = purpose->is_template,
        .has_network = purpose->has_network,
        .trust = purpose->has_credentials ? box->shared->trust : NULL,
        .extra_env = !purpose->has_credentials ? NULL
                     : purpose->placeholders   ? purpose->placeholders
                                               : box->shared->placeholders,
        .empty = empty,
        .libraries = &libraries,
        .has_readers = purpose->lent && (purpose->lent[LAZ_STDOUT] || purpose->lent[LAZ_STDERR]),
        .has_terminal = purpose->lent && purpose->lent[0] && laz_os_is_terminal(*purpose->lent[0]),
    };
    int rc = socket_directory && empty
                 ? start_stage(box->shared, purpose, &session, &libraries, err)
                 : laz_error_nomem(err);

    if (!rc)
        rc = laz_policy_new(values, purpose->runtime, &session,
                            laz_backend_has_own_files(choice->ops), laz_os_platform(),
                            laz_buf_text(&choice->options), choice->options.len, &policy, err);
    if (!rc)
        rc = start_make_plan(box, purpose, policy, err);
    if (!rc) {
        start_take(&box->protects, &policy->protects);
        start_take(&box->libraries, &policy->libraries);
    }
    if (rc == LAZ_EREFUSED && !laz_settings_place(values, "sandbox.require", NULL, err))
        laz_settings_place(values, "sandbox.backend", choice->name, err);
    laz_policy_free(policy);
    laz_strv_fini(&libraries);
    free(socket_directory);
    free(empty);
    return rc;
}

static int start_files(const struct laz_plan *plan, struct laz_error *err)
{
    for (size_t i = 0; i < plan->n_files; i++) {
        const struct laz_plan_file *file = &plan->files[i];
        int rc = laz_os_write_file(file->path, laz_buf_text(&file->content), file->content.len,
                                   0600, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* What the backend declares for a program that is not installed; NULL: nothing. */
static const char *start_hint(struct laz_registry *registry, const struct laz_plan *plan)
{
    const struct laz_backend_info *info = NULL;

    laz_registry_backend(registry, plan->backend, &info, NULL);
    for (size_t i = 0; info && i + 1 < info->missing.n; i += 2)
        if (strcmp(info->missing.items[i], plan->argv.items[0]) == 0)
            return info->missing.items[i + 1];
    return NULL;
}

/* The absolute path of the plan's program in place of its name. */
static int start_program(const struct laz_box_shared *shared, struct laz_plan *plan,
                         struct laz_error *err)
{
    struct laz_error why = {0};
    char options[96], *path;

    int rc = laz_os_find_program(plan->argv.items[0], &path, &why);
    const char *hint = rc == LAZ_ENOENT ? start_hint(shared->registry, plan) : NULL;
    if (hint)
        return laz_error_set(err, LAZ_ESETUP, 0, "%s", hint);
    if (!rc && laz_trust_file(path, &why)) {
        rc = LAZ_ENOENT;
        free(path);
    }
    if (rc) {
        rc = laz_error_set(err, rc == LAZ_ENOENT ? LAZ_ESETUP : rc, why.os_errno, "backend %s: %s",
                           plan->backend, why.text);
        snprintf(options, sizeof options, "sandbox.%.64s", plan->backend);
        laz_settings_place(shared->values, options, plan->argv.items[0], err);
        return rc;
    }
    free(plan->argv.items[0]);
    plan->argv.items[0] = path;
    return 0;
}

/* Starts the process; `home`: NULL: the backend brings it to its home. */
static int start_spawn(struct laz_box *box, const struct laz_spawn_fd *fds, size_t n,
                       const char *home, const struct laz_cgroup_door *door, struct laz_error *err)
{
    static const char *const nothing[] = {NULL};
    const struct laz_plan *plan = box->plan;
    uint32_t missing = 0;
    const struct laz_spawn spawn = {
        .argv = (const char *const *)plan->argv.items,
        .env = plan->env.n ? (const char *const *)plan->env.items : nothing,
        .fds = fds,
        .n_fds = n,
        .directory = home,
        .uid = box->uid,
        .gid = box->uid,
        .group = true,
        .no_priority = true,
        .own_keys = true,
        .cgroup = door,
        .death_signal = plan->ends_by == LAZ_END_REAP ? SIGTERM : SIGKILL,
        .job = plan->ends_by == LAZ_END_JOB ? &plan->job : NULL,
        .job_missing = &missing,
        .start_ms = laz_box_spawn_ms(box->shared),
    };
    int rc = laz_spawner_spawn(box->shared->spawner, &spawn, &box->process, err);

    if (rc)
        return rc;
    laz_box_step(box, LAZ_BOX_EVENT_SPAWN);
    return laz_box_lacks_limits(box, missing, err);
}

int laz_box_pipe(int *own, int *other, struct laz_error *err)
{
    int rc = laz_os_cloexec_pipe(own, other, err);

    return rc ? rc : laz_os_nonblock(*own, true, err);
}

/* The ends of the process, of which there are *n; there is room for all. */
static int start_ends(struct laz_box *box, const int *const *lent, struct laz_spawn_fd *fds,
                      size_t *n, struct laz_error *err)
{
    const struct laz_plan *plan = box->plan;
    int rc = 0;

    for (*n = 0; *n < 3; ++*n)
        fds[*n] = (struct laz_spawn_fd){lent[*n] ? *lent[*n] : -1, (int)*n};
    if (!lent[0])
        fds[0].parent = laz_os_take_end(box->listener);
    for (int stream = LAZ_STDOUT; stream <= LAZ_STDERR && !rc; stream++)
        if (!lent[stream])
            rc = laz_box_pipe(&box->output[stream], &fds[stream].parent, err);
    for (size_t i = 0; i < 3 && !rc && box->uid != LAZ_SPAWN_SAME_ID; i++)
        if (i || lent[0])
            laz_os_give(fds[i].parent, box->uid);
    if (!rc && plan->status_fd >= 0) {
        fds[*n] = (struct laz_spawn_fd){-1, plan->status_fd};
        rc = laz_box_pipe(&box->status, &fds[(*n)++].parent, err);
    }
    for (size_t i = 0; i < plan->n_data && !rc; i++) {
        fds[*n] = (struct laz_spawn_fd){-1, plan->data[i].child_fd};
        rc = laz_os_data_fd(plan->data[i].what, laz_buf_text(&plan->data[i].content),
                            plan->data[i].content.len, &fds[(*n)++].parent, err);
    }
    return rc;
}

static int start_process(struct laz_box *box, const struct laz_box_purpose *purpose,
                         struct laz_error *err)
{
    static const int *const none[3];
    const int *const *lent = purpose->lent ? purpose->lent : none;
    struct laz_spawn_fd *fds = calloc(4 + box->plan->n_data, sizeof *fds);
    struct laz_cgroup_door door = {.launcher = -1, .into = -1};
    const bool has_home = !laz_backend_has_own_files(purpose->choice->ops);
    char *home = has_home ? laz_strdupf("%s/home", box->directory) : NULL;
    size_t n = 0;
    int rc =
        fds && (home || !has_home) ? start_ends(box, lent, fds, &n, err) : laz_error_nomem(err);

    if (!rc && box->group)
        rc = laz_cgroup_open(box->group, &door, err);
    else if (!rc && purpose->is_template) /* its sessions enter groups from where it is */
        laz_cgroups_open(box->shared->groups, &door);
    if (!rc)
        rc = start_spawn(box, fds, n, home, &door, err);
    laz_cgroup_close(&door);
    for (size_t i = 0; i < n; i++)
        if (i > LAZ_STDERR || !lent[i])
            laz_os_close(&fds[i].parent);
    free(home);
    free(fds);
    return rc;
}

/* Has the box limits of its own? A template runs no code, and its sessions have, each in a group of
 * its own; the box of a trial runs nothing at all. Both are planned as if they had. */
static bool start_is_limited(const struct laz_box_purpose *purpose)
{
    return purpose->runtime && !purpose->is_template;
}

static int start_group(struct laz_box *box, const struct laz_box_purpose *purpose,
                       struct laz_error *err)
{
    if (start_is_limited(purpose))
        return laz_box_make_group(box, err);
    box->host = laz_box_host(box->shared->groups, &box->shared->values->limits,
                             box->uid != LAZ_SPAWN_SAME_ID, purpose->is_template);
    return 0;
}

/* All of a start but its process. */
static int start_prepare(struct laz_box *box, const struct laz_box_purpose *purpose,
                         struct laz_error *err)
{
    int rc = 0;

    box->started_us = laz_clock_us();
    box->ops = purpose->choice->ops;
    if (box->shared->uids)
        rc = laz_uids_take(box->shared->uids, &box->uid, err);
    if (!rc)
        rc = start_directories(box, purpose, err);
    if (!rc && purpose->runtime)
        rc = start_listener(box, err);
    if (!rc)
        rc = start_group(box, purpose, err);
    if (!rc)
        rc = start_plan(box, purpose, err);
    if (!start_is_limited(purpose))
        box->host = (struct laz_plan_host){0};
    if (!rc)
        rc = start_files(box->plan, err);
    if (!rc)
        rc = start_program(box->shared, box->plan, err);
    return rc;
}

int laz_box_start_cold(struct laz_box *box, const struct laz_box_purpose *purpose,
                       struct laz_error *err)
{
    int rc = start_prepare(box, purpose, err);

    if (!rc)
        rc = laz_protection_take(&box->shared->protection, &box->protects, &box->protection, err);
    if (!rc)
        rc = start_process(box, purpose, err);
    return rc ? rc : laz_box_watch(box, err);
}

static struct laz_box *start_box(struct laz_box_shared *shared, const struct laz_box_kind *kind)
{
    struct laz_box *box = calloc(1, sizeof *box);

    if (!box)
        return NULL;
    box->patience = laz_timer_new(shared->driver->loop, laz_box_out_of_patience, box);
    if (!box->patience) {
        free(box);
        return NULL;
    }
    box->shared = shared;
    box->kind = kind ? kind : &laz_box_cold;
    snprintf(box->name, sizeof box->name, "%u", shared->boxes++);
    laz_log(&shared->driver->log, LAZ_LOG_DEBUG, "box %s: %s", box->name, box->kind->name);
    box->uid = LAZ_SPAWN_SAME_ID;
    box->process = LAZ_PROCESS_INIT;
    box->listener = box->channel = box->output[1] = box->output[2] = box->status = -1;
    box->agent_fd = box->init_fd = box->commands.fd = -1;
    box->usage = LAZ_USAGE_INIT;
    box->exit_code = box->agent_pid = box->end_signal = -1;
    box->started_us = laz_clock_us();
    laz_frame_init(&box->in, LAZ_TOKEN_LEN); /* until it has shown the token */
    laz_frame_init(&box->documents, 4096);
    return box;
}

int laz_box_start(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                  const struct laz_box_owner *owner, struct laz_box **out, struct laz_error *err)
{
    struct laz_box *box = start_box(shared, purpose->is_far ? &laz_box_far : purpose->kind);

    if (!box)
        return laz_error_nomem(err);
    box->has_network = purpose->has_network;
    int rc = box->kind->start(box, purpose, err);
    if (rc == LAZ_EREFUSED && box->from && shared->values->pool.warm != LAZ_WARM_TEMPLATE)
        rc = laz_box_turn_cold(box, err); /* it may enforce less than its template declares */
    if (rc) {
        laz_box_release(box);
        return rc;
    }
    box->owner = *owner;
    *out = box;
    return 0;
}

int laz_box_inspect(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                    struct laz_error *err)
{
    struct laz_box *box = start_box(shared, NULL);

    if (!box)
        return laz_error_nomem(err);
    int rc = start_prepare(box, purpose, err);
    laz_box_release(box);
    return rc;
}

int laz_box_turn_cold(struct laz_box *box, struct laz_error *err)
{
    struct laz_box_purpose purpose = box->purpose;

    laz_box_step(box, LAZ_BOX_EVENT_TURN);
    laz_plan_free(box->plan); /* all that the backend decides, which may be another by now */
    free(box->runtime_file);
    free(box->commands_program);
    box->plan = NULL;
    box->runtime_file = box->commands_program = NULL;
    laz_protection_drop(box->protection);
    box->protection = NULL;
    box->kind->leave(box);
    box->kind = &laz_box_cold;
    box->from = NULL;
    box->uid = LAZ_SPAWN_SAME_ID;
    int rc = laz_box_chosen(box->shared, &purpose.choice, err);
    return rc ? rc : laz_box_start_cold(box, &purpose, err);
}
