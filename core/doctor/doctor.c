/* SPDX-License-Identifier: MIT */
/* doctor.c - tries every backend and runtime of this machine from inside a real session.
 *
 * The backend that decides the exit status is the one a session would get: the engine itself
 * chooses it. The others are tried as well, because one of them is often the remedy. The doctor
 * touches nothing of the user's: it makes its own canaries, listeners, processes and boxes and
 * removes them at the end, whatever happens on the way. */
#include "doctor/doctor_private.h"

#include "base/enforce.h"
#include "base/limits.h"
#include "base/path.h"
#include "box/box.h"
#include "box/template.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/system.h"
#include "os/trust.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is -------------------------------------------------------------------------- */

static void doctor_note_backend(struct laz_doctor *doctor, const char *name)
{
    if (!laz_strv_has(&doctor->names, name))
        laz_strv_add(&doctor->names, name);
}

static void doctor_note_plugin(void *user, const struct laz_plugin_entry *entry)
{
    struct laz_doctor *doctor = user;

    if (entry->problem)
        return;
    if (entry->runtime) {
        if (strcmp(entry->runtime->name, DOCTOR_RUNTIME) != 0)
            laz_strv_add(&doctor->runtimes, entry->runtime->name);
    } else if (entry->plugin && entry->plugin->kind == LAZ_PLUGIN_BACKEND &&
               laz_backend_is_for(entry->plugin->ops, laz_os_platform())) {
        doctor_note_backend(doctor, entry->plugin->name);
    }
}

/* Lists the backends of the settings in their order, then the other installed ones. */
static int doctor_look(struct laz_doctor *doctor, struct laz_error *err)
{
    struct laz_strv wanted = LAZ_STRV_INIT;

    laz_backend_candidates(doctor->registry, &doctor->values->sandbox.backend, laz_os_platform(),
                           &wanted);
    for (size_t i = 0; i < wanted.n; i++)
        doctor_note_backend(doctor, wanted.items[i]);
    bool failed = wanted.failed;
    laz_strv_fini(&wanted);
    doctor->n_wanted = doctor->names.n;
    laz_registry_visit(doctor->registry, doctor_note_plugin, doctor);
    doctor->backends = calloc(doctor->names.n + 1, sizeof *doctor->backends);
    if (failed || doctor->names.failed || doctor->runtimes.failed || !doctor->backends)
        return laz_error_nomem(err);
    for (size_t i = 0; i < doctor->names.n; i++) {
        const struct laz_backend_info *info = NULL;
        laz_registry_backend(doctor->registry, doctor->names.items[i], &info, NULL);
        doctor->backends[i].name = doctor->names.items[i]; /* borrowed */
        doctor->backends[i].isolates = !info || !info->unconfined;
    }
    return 0;
}

/* ---- trying --------------------------------------------------------------------------------- */

/* Opens the control, a session without isolation and limits, and makes the bait for all
 * sessions. */
static int doctor_prepare(struct laz_doctor *doctor, struct laz_error *err)
{
    const struct laz_backend_info *unconfined = laz_registry_unconfined(doctor->registry);
    const char *open[2 * LAZ_N_LIMITS + 3] = {"sandbox.backend"};

    if (!unconfined)
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "there is nothing to compare with: no installed backend declares that "
                             "it is not a sandbox");
    open[1] = unconfined->name;
    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        open[2 + 2 * i] = laz_limit_table[i].key;
        open[3 + 2 * i] = "unlimited";
    }
    doctor->options.progress(doctor->options.user, unconfined->name, "a session to compare with");
    int rc = doctor_session_open(doctor, open, &doctor_acting, &doctor->control, err);
    if (!rc)
        rc =
            doctor_bait_init(&doctor->bait, doctor->control.engine->directory, doctor->values, err);
    if (!rc)
        rc = doctor_session_victim(&doctor->control, true, doctor->bait.secret, err);
    if (rc && rc != LAZ_ESETUP && rc != LAZ_ETIMEOUT)
        laz_error_prefix(err, "the session without isolation, which the others are compared with, "
                              "cannot be prepared: ");
    return rc;
}

/* The first `n` backends, without those that do not work, as a TOML list; NULL: none works, or out
 * of memory. */
static char *doctor_working(const struct laz_doctor *doctor, size_t n)
{
    struct laz_buf list = LAZ_BUF_INIT;

    for (size_t i = 0; i < n; i++)
        if (!doctor->backends[i].problem)
            laz_buf_printf(&list, "%s\"%s\"", list.len ? "," : "[", doctor->names.items[i]);
    if (!list.len)
        return NULL;
    laz_buf_putc(&list, ']');
    return laz_buf_steal(&list);
}

/* No backend works. The settings (sandbox.strict) decide whether code is then refused or run
 * without isolation. */
static void doctor_chose_nothing(struct laz_doctor *doctor)
{
    laz_strv_addf(&doctor->problems, "none of the backends that the settings name works: %s%s",
                  doctor_is_late(doctor)                           ? DOCTOR_MORE_TIME
                  : doctor->names.n && doctor->backends[0].problem ? doctor->backends[0].problem
                                                                   : "none is made for this system",
                  doctor->values->sandbox.strict
                      ? ""
                      : "; sandbox.strict is false: code would run WITHOUT ISOLATION");
}

/* The backend that a session would get: of the first `n` that work, by the engine's own choice. */
static int doctor_choose(struct laz_doctor *doctor, size_t n, struct laz_error *err)
{
    struct doctor_session session;
    char *list = doctor_working(doctor, n);

    if (!list)
        return 0;
    const char *const pairs[] = {"sandbox.backend", list, NULL};
    int rc = doctor_session_open(doctor, pairs, NULL, &session, err);
    if (!rc) {
        rc = doctor_ended(doctor, laz_sessions_choose(&session.engine->sessions, err), err);
        laz_buf_clear(&doctor->groups);
        doctor->has_groups = laz_box_tell_groups(&session.engine->boxes, &doctor->groups);
        for (size_t i = 0; i < n && !rc; i++)
            if (strcmp(doctor->names.items[i], session.engine->boxes.choice.name) == 0)
                doctor->chosen = &doctor->backends[i];
    }
    doctor_session_close(&session);
    free(list);
    return rc == LAZ_ECANCELLED || rc == LAZ_ENOMEM ? rc : 0;
}

/* Sessions of a pool may come from a template: tries whether the chosen backend supports one. */
static int doctor_try_templates(struct laz_doctor *doctor, struct laz_error *err)
{
    const char *name = doctor->chosen ? doctor->chosen->name : NULL;
    const char *const pairs[] = {"sandbox.backend", name, "pool.warm", "template",
                                 "pool.preload",    "[]", NULL};
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = DOCTOR_RUNTIME, .warm = 1};
    struct doctor_session session;
    struct laz_error why = {0};

    if (!name || !doctor->acts_are_tried)
        return 0;
    doctor->options.progress(doctor->options.user, name, "a template");
    int rc = doctor_session_open(doctor, pairs, &options, &session, &why);
    if (rc == LAZ_ECANCELLED || rc == LAZ_ENOMEM) {
        *err = why;
    } else if (rc) {
        const char *refused = rc != LAZ_ETIMEOUT && session.engine
                                  ? laz_templates_refused(&session.engine->boxes)
                                  : NULL;
        doctor->templates_problem = refused ? laz_strdup(refused) : doctor_problem(&why);
        rc = doctor->templates_problem ? 0 : laz_error_nomem(err);
    }
    doctor->templates_tried = !rc;
    doctor_session_close(&session);
    return rc;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void doctor_judge_bits(struct laz_doctor *doctor, const struct doctor_backend *backend)
{
    uint32_t require = doctor->values->sandbox.require;
    const char *name;

    for (unsigned i = 0; (name = laz_enforce_name(1u << i)); i++) {
        const struct doctor_bit *bit = &backend->bits[i];

        if (bit->state == DOCTOR_BROKEN)
            laz_strv_addf(&doctor->problems, "%s promises %s and does not keep it: %s",
                          backend->name, name, bit->remedy);
        else if ((require & 1u << i) && bit->state != DOCTOR_IN_FORCE)
            laz_strv_addf(&doctor->problems,
                          "sandbox.require asks for %s, which is %s with the backend %s: %s", name,
                          doctor_state_name(bit->state), backend->name,
                          bit->remedy ? bit->remedy : "use another backend");
    }
}

static void doctor_judge_runtime(struct laz_doctor *doctor, const struct doctor_backend *backend)
{
    const struct laz_settings_values *values = doctor->values;
    const char *name = values->session.runtime;
    const char *used = laz_registry_usual_name(doctor->registry, values);
    const struct laz_runtime_info *info;
    struct laz_error err = {0};

    for (size_t i = 0; i < backend->n_runtimes; i++)
        if (strcmp(doctor->runtimes.items[i], used) == 0 && backend->runtimes[i])
            laz_strv_addf(&doctor->problems, "the runtime %s does not work with the backend %s: %s",
                          used, backend->name, backend->runtimes[i]);
    if (name && !laz_strv_has(&doctor->runtimes, name))
        laz_strv_addf(&doctor->problems, "the runtime %s of the settings cannot be used", name);
    else if (!name && laz_registry_usual(doctor->registry, values, &info, &err))
        laz_strv_addf(&doctor->problems, "%s", err.text);
}

static void doctor_judge_list(struct laz_doctor *doctor, const struct doctor_backend *backend)
{
    if (backend->list_problem &&
        (doctor->values->network.allow.n || doctor->values->network.host_ports.n))
        laz_strv_addf(&doctor->problems, "the settings have a network list: %s",
                      backend->list_problem);
}

static void doctor_judge_credential(struct laz_doctor *doctor)
{
    if (doctor->credential.problem && doctor->values->network.credentials.n)
        laz_strv_addf(&doctor->problems, "the settings have credentials: %s%s",
                      doctor->credential.is_tried ? "they do not work: " : "they were not tried: ",
                      doctor->credential.problem);
}

/* Who can change the program, or the libraries that a package brings along, has them run before
 * anything can be checked. */
static void doctor_judge_own(struct laz_doctor *doctor)
{
    char *own[] = {laz_os_own_program(), laz_installed_libraries()};
    struct laz_look look;
    struct laz_error why = {0};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i] && laz_os_look(own[i], true, &look) == 0 &&
            (look.kind == LAZ_LOOK_DIRECTORY ? laz_trust_directory(own[i], &why)
                                             : laz_trust_file(own[i], &why)) == LAZ_EREFUSED)
            laz_strv_addf(&doctor->problems, "lazaret itself can be changed: %s", why.text);
        free(own[i]);
    }
}

int doctor_judge(struct laz_doctor *doctor, struct laz_error *err)
{
    doctor_judge_own(doctor);
    if (doctor->templates_problem && doctor->values->pool.warm == LAZ_WARM_TEMPLATE)
        laz_strv_addf(&doctor->problems, "pool.warm asks for templates: %s",
                      doctor->templates_problem);
    if (doctor->chosen) { /* it is one of those that work */
        doctor_judge_bits(doctor, doctor->chosen);
        doctor_judge_list(doctor, doctor->chosen);
        doctor_judge_runtime(doctor, doctor->chosen);
        doctor_judge_credential(doctor);
    }
    return doctor->problems.failed ? laz_error_nomem(err) : 0;
}

/* Not even a session without isolation starts. Whatever prevents every session is the only finding;
 * nothing else was tried. */
static int doctor_found_no_session(struct laz_doctor *doctor, struct laz_error *err)
{
    char *problem = doctor_problem(err);
    bool failed = !problem;

    if (err->code == LAZ_ETIMEOUT)
        doctor_chose_nothing(doctor);
    else
        laz_strv_addf(&doctor->problems, "no session can be started: %s", problem ? problem : "");
    for (size_t i = 0; i < doctor->names.n; i++) {
        doctor->backends[i].problem = laz_strdup(problem);
        failed |= !doctor->backends[i].problem;
    }
    free(problem);
    return failed || doctor->problems.failed ? laz_error_nomem(err) : 0;
}

/* Tries the backends in order. The first wanted one that works is chosen at once: if the time ends
 * early, what is missing is about the others. */
static int doctor_try_backends(struct laz_doctor *doctor, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < doctor->names.n && !rc; i++) {
        rc = doctor_backend_try(doctor, &doctor->backends[i], err);
        if (rc || doctor->chosen || i >= doctor->n_wanted)
            continue;
        rc = doctor_choose(doctor, i + 1, err);
        if (!rc)
            rc = doctor_try_templates(doctor, err);
        if (!rc)
            rc = doctor_credential_try(doctor, err);
    }
    if (!rc && !doctor->chosen)
        doctor_chose_nothing(doctor);
    return rc;
}

static int doctor_try_all(struct laz_doctor *doctor, struct laz_error *err)
{
    int rc = doctor_look(doctor, err);

    if (!rc && doctor->acts_are_tried)
        rc = doctor_prepare(doctor, err);
    if (rc == LAZ_ESETUP || rc == LAZ_ETIMEOUT)
        return doctor_found_no_session(doctor, err);
    return rc ? rc : doctor_try_backends(doctor, err);
}

static void doctor_interrupt(void *user)
{
    struct laz_doctor *doctor = user;

    atomic_store(&doctor->interrupted, true);
    doctor_sessions_cancel(doctor);
}

int laz_doctor_examine(const struct laz_doctor_options *options, struct laz_doctor **made,
                       struct laz_error *err)
{
    struct laz_doctor *doctor = *made = calloc(1, sizeof *doctor);

    if (!doctor)
        return laz_error_nomem(err);
    doctor->options = *options;
    doctor->values = laz_settings_values(options->settings);
    doctor->control = (struct doctor_session)DOCTOR_SESSION_INIT;
    doctor->acts_are_tried = strcmp(laz_os_platform(), "windows") != 0; /* all would succeed */
    pthread_mutex_init(&doctor->lock, NULL);
    int rc = laz_interrupt_block(&doctor->interrupt, err);
    if (!rc) /* also cancels the engines made later */
        rc = laz_interrupt_start(doctor->interrupt, doctor_interrupt, doctor, err);
    if (!rc)
        rc = doctor_time_start(doctor, err);
    if (!rc)
        rc = laz_registry_new(doctor->values, options->log, &doctor->registry, err);
    if (!rc)
        rc = doctor_try_all(doctor, err);
    return rc ? rc : doctor_judge(doctor, err);
}

const struct laz_strv *laz_doctor_problems(const struct laz_doctor *doctor)
{
    return &doctor->problems;
}

void laz_doctor_free(struct laz_doctor *doctor)
{
    if (!doctor)
        return;
    doctor_time_stop(doctor);
    laz_interrupt_free(doctor->interrupt); /* before the engines that it cancels */
    doctor_bait_fini(&doctor->bait);
    doctor_session_close(&doctor->control);
    for (size_t i = 0; doctor->backends && i < doctor->names.n; i++) {
        struct doctor_backend *backend = &doctor->backends[i];
        for (size_t k = 0; k < backend->n_runtimes; k++)
            free(backend->runtimes[k]);
        free(backend->runtimes);
        free(backend->problem);
        free(backend->list_problem);
    }
    free(doctor->backends);
    free(doctor->credential.problem);
    free(doctor->templates_problem);
    laz_buf_fini(&doctor->groups);
    laz_strv_fini(&doctor->names);
    laz_strv_fini(&doctor->runtimes);
    laz_strv_fini(&doctor->problems);
    laz_registry_free(doctor->registry);
    pthread_mutex_destroy(&doctor->lock);
    free(doctor);
}
