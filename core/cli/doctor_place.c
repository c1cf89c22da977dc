/* SPDX-License-Identifier: MIT */
/* doctor_place.c - an engine with most of the command's settings, and in it a session of the
 * runtime "doctor".
 *
 * Settings that are not part of the box are reset, because they would be in the way: hooks of the
 * host, caps on code and executions, the audit log. The box stays as configured, except that
 * sandbox.require is empty: a backend that lacks something is examined and not refused. */
#include "cli/doctor.h"

#include "os/process.h"
#include "os/signals.h"
#include "os/spawner.h"

#include <stdlib.h>
#include <string.h>

/* `yields`: --set on the command line overrides it, because these times suit a machine that is not
 * busy. The deadline is also that of the doctor as a whole (doctor_time.c). */
static const struct {
    const char *key, *value;
    bool yields;
} place_settings[] = {
    {"sandbox.require", "[]", false},
    {"sandbox.strict", "true", false},
    {"session.pre_execute_hook", "[]", false},
    {"session.timeout", "6", true},
    {"session.deadline", "8", true},
    {"session.start_timeout", "4", true},
    {"session.max_executions", "0", false},
    {"session.max_tool_calls", "0", false},
    {"session.max_code_length", "100000", false},
    {"session.sanitize_errors", "false", false},
    {"session.validate", "false", false},
    {"audit.file", "", false},
};

struct place_key {
    const char *key;
    struct laz_buf *value, *json, *origin;
};

static void place_note(void *user, const struct laz_settings_shown *shown)
{
    struct place_key *wanted = user;

    if (strcmp(shown->key, wanted->key) != 0)
        return;
    if (wanted->value)
        laz_buf_puts(wanted->value, shown->value);
    if (wanted->json)
        laz_buf_puts(wanted->json, shown->json);
    if (wanted->origin)
        laz_buf_puts(wanted->origin, shown->origin);
}

void doctor_setting(const struct doctor *doctor, const char *key, struct laz_buf *value,
                    struct laz_buf *json, struct laz_buf *origin)
{
    struct place_key wanted = {key, value, json, origin};

    laz_settings_visit(doctor->cli->settings, place_note, &wanted);
}

bool doctor_is_set(const struct doctor *doctor, const char *key)
{
    struct laz_buf origin = LAZ_BUF_INIT;

    doctor_setting(doctor, key, NULL, NULL, &origin);
    bool is_set = strcmp(laz_buf_text(&origin), "--set") == 0;
    laz_buf_fini(&origin);
    return is_set;
}

static int place_set(const struct doctor *doctor, struct laz_settings *settings,
                     const char *const *pairs, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof place_settings / sizeof *place_settings && !rc; i++) {
        const char *key = place_settings[i].key;
        if (!place_settings[i].yields || !doctor_is_set(doctor, key))
            rc = laz_settings_set(settings, key, place_settings[i].value, err);
    }
    for (; !rc && *pairs; pairs += 2)
        rc = laz_settings_set(settings, pairs[0], pairs[1], err);
    return rc;
}

void doctor_cancel_places(struct doctor *doctor)
{
    struct doctor_open *open = &doctor->open;

    pthread_mutex_lock(&open->lock);
    for (size_t i = 0; i < DOCTOR_PLACES; i++)
        if (open->engines[i])
            laz_engine_cancel(open->engines[i]);
    pthread_mutex_unlock(&open->lock);
}

/* Replaces `old` by `engine` in the list; NULL stands for a free entry. False: no such entry. */
static bool place_list(struct doctor_open *open, struct laz_engine *old, struct laz_engine *engine)
{
    size_t i = 0;

    pthread_mutex_lock(&open->lock);
    while (i < DOCTOR_PLACES && open->engines[i] != old)
        i++;
    if (i < DOCTOR_PLACES)
        open->engines[i] = engine;
    pthread_mutex_unlock(&open->lock);
    return i < DOCTOR_PLACES;
}

int doctor_place_engine(struct doctor *doctor, const char *const *pairs, struct doctor_place *place,
                        struct laz_error *err)
{
    struct cli *cli = doctor->cli;
    /* Sessions are made to fail here; their warnings would only hide the findings. */
    const struct laz_engine_options options = {
        .size = sizeof options,
        .log = cli->log.sink,
        .log_user = cli->log.user,
        .log_level = cli->verbose ? LAZ_LOG_INFO : LAZ_LOG_ERROR,
    };
    struct laz_settings *settings = NULL;

    *place = (struct doctor_place){.doctor = doctor, .victim = LAZ_PROCESS_INIT};
    int rc = doctor_may_begin(doctor, err);
    if (!rc)
        rc = laz_settings_copy(cli->settings, &settings, err);
    if (!rc)
        rc = place_set(doctor, settings, pairs, err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &place->engine, err);
    if (!rc && !place_list(&doctor->open, NULL, place->engine))
        rc = laz_error_set(err, LAZ_EINVAL, 0, "more than %d engines at once", DOCTOR_PLACES);
    laz_settings_free(settings);
    if (rc)
        doctor_place_close(place);
    return rc;
}

int doctor_place_open(struct doctor *doctor, const char *const *pairs, struct doctor_place *place,
                      struct laz_error *err)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = "doctor"};
    int rc = doctor_place_engine(doctor, pairs, place, err);

    if (!rc)
        rc = doctor_ended(doctor, laz_session_open(place->engine, &session, &place->session, err),
                          err);
    if (rc)
        doctor_place_close(place);
    return rc;
}

void doctor_place_close(struct doctor_place *place)
{
    if (place->victim.pidfd >= 0) {
        laz_process_signal(&place->victim, SIGKILL);
        laz_process_wait(&place->victim, 1000, NULL);
        laz_process_close(&place->victim);
    }
    laz_session_free(place->session);
    if (place->engine) /* before it is freed: another thread may cancel it until then */
        place_list(&place->doctor->open, place->engine, NULL);
    laz_engine_free(place->engine);
    *place = (struct doctor_place){.victim = LAZ_PROCESS_INIT};
}

int doctor_place_victim(struct doctor_place *place, const char *mark, struct laz_error *err)
{
    static const char *const nothing[] = {NULL};
    struct laz_engine *engine = place->engine;
    uint32_t uid = laz_session_uid(place->session);
    char *agent = NULL;
    int rc = laz_stage_file(engine->directory, engine->agent, uid, true, &agent, err);

    if (rc)
        return rc;
    const char *const argv[] = {agent, "--wait", mark, NULL};
    const struct laz_spawn spawn = {
        .argv = argv,
        .env = nothing,
        .uid = uid,
        .gid = uid,
        .group = true,
        .death_signal = SIGKILL,
        .start_ms = laz_box_spawn_ms(&engine->boxes),
    };
    rc = laz_spawner_spawn(engine->spawner, &spawn, &place->victim, err);
    free(agent);
    return rc;
}
