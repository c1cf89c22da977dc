/* SPDX-License-Identifier: MIT */
/* session_credentials.c - the credentials of sessions, and what became of them.
 * Side: host.  Input trusted: yes (settings, the application).
 *
 * A session whose credentials are not those of the settings is in a box of its own: a template has
 * the variables of others. */
#include "session/session_credentials.h"

#include "base/json_write.h"
#include "base/options.h"
#include "session/audit_events.h"

#include <stdlib.h>
#include <string.h>

#define CREDENTIALS_TOLD 64
#define CREDENTIALS_FAR  64 /* names for a worker */

int laz_sessions_begin_credentials(struct laz_session_shared *shared, struct laz_error *err)
{
    const struct laz_credentials_of of = {
        .driver = shared->driver,
        .values = shared->values,
        .spawner = shared->boxes->spawner,
        .secrets = &shared->tools->secrets,
        .agent = shared->boxes->agent,
        .directory = shared->boxes->directory,
    };

    const int rc = laz_credentials_new(&of, &shared->credentials, err);
    if (!rc && of.values->session.where == LAZ_WHERE_CLUSTER && of.values->network.credentials.n)
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "%s", LAZ_CREDENTIALS_FAR);
    return rc;
}

void laz_sessions_end_credentials(struct laz_session_shared *shared)
{
    laz_credentials_free(shared->credentials);
    shared->credentials = NULL;
    shared->boxes->placeholders = NULL;
    laz_strv_fini(&shared->placeholders);
}

/* ---- of a session ---------------------------------------------------------------------------- */

/* Its worker has those that the names are of. A value is not sent there. */
static int credentials_take_far(struct laz_session *session, const char *const *items, size_t n,
                                struct laz_error *err)
{
    if (n > CREDENTIALS_FAR)
        return laz_error_set(err, LAZ_EINVAL, 0, "credentials: a session can have %d",
                             CREDENTIALS_FAR);
    for (size_t i = 0; i < n; i++) {
        if (!items[i])
            return laz_error_null(err, "a credential");
        if (items[i][0] == '{')
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "credentials[%zu]: a session on another machine has those of its "
                                 "worker, by their names",
                                 i);
        laz_strv_add(&session->far_credentials, items[i]);
    }
    session->has_far_credentials = true;
    return session->far_credentials.failed ? laz_error_nomem(err) : 0;
}

int laz_session_take_credentials(struct laz_session *session,
                                 const struct laz_credential_list *given, struct laz_error *err)
{
    static const char *const none[] = {NULL};
    struct laz_credential_list list = {.items = NULL};
    int rc = given ? LAZ_OPTIONS_TAKE(&list, given, laz_credential_list, err) : 0;
    const char *const *items = given && !list.items ? none : list.items;

    if (rc || !session->shared->credentials)
        return rc;
    if (laz_session_is_far(session))
        return given ? credentials_take_far(session, items, list.n, err) : 0;
    if (!session->has_network)
        return list.n ? laz_error_set(err, LAZ_EINVAL, 0,
                                      "credentials are for a session with a network list: this one "
                                      "reaches nothing")
                      : 0;
    rc = laz_credential_set_new(session->shared->credentials, items, list.n, &session->credentials,
                                err);
    if (rc || !session->credentials)
        return rc;
    if (!laz_credential_set_is_usual(session->credentials)) {
        session->warm = false;
        laz_credential_set_env(session->credentials, &session->placeholders);
    }
    return session->placeholders.failed ? laz_error_nomem(err) : 0;
}

void laz_session_forget_credentials(struct laz_session *session)
{
    laz_credential_set_free(session->credentials);
    session->credentials = NULL;
    laz_strv_fini(&session->placeholders);
    laz_strv_fini(&session->far_credentials);
}

/* The variables of the settings' placeholders, which templates have. */
static int credentials_share(struct laz_session *session, struct laz_error *err)
{
    struct laz_session_shared *shared = session->shared;

    if (shared->boxes->placeholders || !laz_credential_set_is_usual(session->credentials))
        return 0;
    laz_credential_set_env(session->credentials, &shared->placeholders);
    if (shared->placeholders.failed)
        return laz_error_nomem(err);
    shared->boxes->placeholders = &shared->placeholders;
    return 0;
}

bool laz_session_is_stale(const struct laz_session *session)
{
    return laz_credential_set_is_stale(session->credentials);
}

int laz_session_begin_credentials(struct laz_session *session, struct laz_error *err)
{
    struct laz_session_shared *shared = session->shared;

    if (!session->credentials)
        return 0;
    const int rc = laz_credentials_begin(session->credentials, err);
    shared->boxes->trust = laz_credentials_trust(shared->credentials); /* the former one is gone */
    return rc ? rc : credentials_share(session, err);
}

/* ---- what became of them --------------------------------------------------------------------- */

void laz_session_catch_up_credentials(struct laz_session *session)
{
    if (session->credentials)
        laz_credentials_catch_up(session->shared->credentials);
}

static void credentials_json(const struct laz_credential_use *use, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "name", use->credential);
    laz_json_add_text(&write, "host", use->host);
    laz_json_add_uint(&write, "count", use->count);
    laz_json_end_object(&write);
}

void laz_session_tell_credentials(struct laz_session *session, struct laz_result *result)
{
    struct laz_credential_use uses[CREDENTIALS_TOLD];
    const size_t n = laz_credential_set_uses(session->credentials, uses, CREDENTIALS_TOLD);

    for (size_t i = 0; i < n; i++) {
        struct laz_buf json = LAZ_BUF_INIT;
        credentials_json(&uses[i], &json);
        laz_audit_credential(session, laz_buf_text(&json), json.len);
        if (result)
            laz_strv_add(&result->credentials, laz_buf_text(&json));
        if (result)
            result->credentials.failed |= json.failed;
        laz_buf_fini(&json);
    }
    laz_credential_set_forget_uses(session->credentials);
}

void laz_session_tell_far_credentials(struct laz_session *session, const struct laz_box_said *said,
                                      struct laz_result *result)
{
    for (size_t i = 0; i < said->credentials.n; i++) {
        const char *json = said->credentials.items[i];
        laz_audit_credential(session, json, strlen(json));
        laz_strv_add(&result->credentials, json);
    }
    result->credentials.failed |= said->credentials.failed;
}
