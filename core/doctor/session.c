/* SPDX-License-Identifier: MIT */
/* session.c - an engine with most of the command's settings, and in it a session.
 *
 * Settings that are not part of the box are reset, because they would be in the way: hooks of the
 * host, caps on code and executions, the audit log, tools of the host, for which servers would be
 * started and secrets read, and the network list, of which the doctor has its own (network.c). The
 * box stays as configured, except that sandbox.require is empty: a backend that lacks something is
 * examined and not refused. */
#include "doctor/doctor_private.h"

#include "os/signals.h"
#include "os/spawner.h"

#include <stdlib.h>
#include <string.h>

/* `yields`: --set on the command line overrides it, because these times suit a machine that is not
 * busy. The deadline is also that of the doctor as a whole (time.c). */
static const struct {
    const char *key, *value;
    bool yields;
} session_settings[] = {
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
    {"network.allow", "[]", false},
    {"network.ports", "[]", false},
    {"network.host.ports", "[]", false},
    {"network.deny_private", "true", false},
    {"network.max_connections", "64", false},
    {"network.max_bytes", "1MiB", false},
    {"network.credential", "[]", false},
    {"tools", "[]", false},
};

const struct laz_session_options doctor_acting = {
    .size = sizeof doctor_acting,
    .runtime = DOCTOR_RUNTIME,
};

struct session_key {
    const char *key;
    struct laz_buf *value, *json;
    bool is_set;
};

static void session_note(void *user, const struct laz_settings_shown *shown)
{
    struct session_key *wanted = user;

    if (strcmp(shown->key, wanted->key) != 0)
        return;
    if (wanted->value)
        laz_buf_puts(wanted->value, shown->value);
    if (wanted->json)
        laz_buf_puts(wanted->json, shown->json);
    wanted->is_set = strcmp(shown->origin, "--set") == 0;
}

bool doctor_setting(const struct laz_doctor *doctor, const char *key, struct laz_buf *value,
                    struct laz_buf *json)
{
    struct session_key wanted = {key, value, json, false};

    laz_settings_visit(doctor->options.settings, session_note, &wanted);
    return wanted.is_set;
}

static int session_set(const struct laz_doctor *doctor, struct laz_settings *settings,
                       const char *const *pairs, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof session_settings / sizeof *session_settings && !rc; i++) {
        const char *key = session_settings[i].key;
        if (!session_settings[i].yields || !doctor_setting(doctor, key, NULL, NULL))
            rc = laz_settings_set(settings, key, session_settings[i].value, err);
    }
    for (; !rc && *pairs; pairs += 2)
        rc = laz_settings_set(settings, pairs[0], pairs[1], err);
    return rc;
}

void doctor_sessions_cancel(struct laz_doctor *doctor)
{
    pthread_mutex_lock(&doctor->lock);
    for (struct doctor_session *session = doctor->open; session; session = session->next)
        laz_engine_cancel(session->engine);
    pthread_mutex_unlock(&doctor->lock);
}

/* Makes the engine, and puts it into the list of those that are open. */
static int session_begin(struct doctor_session *session, const struct laz_settings *settings,
                         struct laz_error *err)
{
    struct laz_doctor *doctor = session->doctor;
    const struct laz_log *log = doctor->options.log;
    /* Sessions are made to fail here; their warnings would only hide the findings. */
    const struct laz_engine_options options = {
        .size = sizeof options,
        .log = log->sink,
        .log_user = log->user,
        .log_level = log->level == LAZ_LOG_INFO ? LAZ_LOG_INFO : LAZ_LOG_ERROR,
    };
    int rc = laz_engine_new(settings, &options, &session->engine, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&doctor->lock);
    session->next = doctor->open;
    doctor->open = session;
    pthread_mutex_unlock(&doctor->lock);
    return 0;
}

int doctor_session_open(struct laz_doctor *doctor, const char *const *pairs,
                        const struct laz_session_options *options, struct doctor_session *session,
                        struct laz_error *err)
{
    struct laz_settings *settings = NULL;

    *session = (struct doctor_session)DOCTOR_SESSION_INIT;
    session->doctor = doctor;
    int rc = doctor_may_begin(doctor, err);
    if (!rc)
        rc = laz_settings_copy(doctor->options.settings, &settings, err);
    if (!rc)
        rc = session_set(doctor, settings, pairs, err);
    if (!rc)
        rc = session_begin(session, settings, err);
    laz_settings_free(settings);
    if (!rc && options)
        rc = doctor_ended(doctor,
                          laz_session_open(session->engine, options, &session->session, err), err);
    return rc;
}

void doctor_session_close(struct doctor_session *session)
{
    if (session->victim.pidfd >= 0) {
        laz_process_signal(&session->victim, SIGKILL);
        laz_process_wait(&session->victim, 1000, NULL);
        laz_process_close(&session->victim);
    }
    if (session->lent_uid != LAZ_SPAWN_SAME_ID)
        laz_uids_give_back(session->engine->boxes.uids, session->lent_uid);
    laz_session_free(session->session);
    if (session->engine) { /* before it is freed: another thread may cancel it until then */
        struct doctor_session **at = &session->doctor->open;
        pthread_mutex_lock(&session->doctor->lock);
        while (*at != session)
            at = &(*at)->next;
        *at = session->next;
        pthread_mutex_unlock(&session->doctor->lock);
    }
    laz_engine_free(session->engine);
    *session = (struct doctor_session)DOCTOR_SESSION_INIT;
}

int doctor_session_victim(struct doctor_session *session, bool reachable, const char *mark,
                          struct laz_error *err)
{
    static const char *const nothing[] = {NULL};
    struct laz_engine *engine = session->engine;
    uint32_t uid = laz_session_uid(session->session);
    char *agent = NULL;
    int rc = 0;

    if (!reachable && uid != LAZ_SPAWN_SAME_ID) {
        rc = laz_uids_take(engine->boxes.uids, &uid, err);
        if (!rc)
            session->lent_uid = uid;
    }
    if (!rc)
        rc = laz_stage_file(engine->directory, engine->agent, uid, true, &agent, err);
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
    rc = laz_spawner_spawn(engine->spawner, &spawn, &session->victim, err);
    free(agent);
    return rc;
}
