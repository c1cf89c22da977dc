/* SPDX-License-Identifier: MIT */
/* session_inspect.c - what a session would be refused for, without a session: for `lazaret config
 * --check` and `lazaret plan`. Side: host.  Input trusted: yes (settings, plugins; no code is
 * there).
 *
 * It takes the steps of a start in the order of session_start.c, with the same functions, and stops
 * before the process.  In its place the backend is tried, by a box with nothing in it, so that the
 * choice is the one that a session would end with.  Where the settings name packages, or have a
 * table of a language, a template of it is started, which alone knows what it can load. */
#include "session/session.h"
#include "session/session_credentials.h"
#include "session/session_network.h"

#include "box/template.h"
#include "settings/toml/toml.h"

#include <string.h>

struct inspection {
    struct laz_session_shared *shared;
    struct laz_session *session;
    bool is_answered;
    int rc;
    struct laz_error why;
    struct laz_error lack; /* of this process, to try the backend */
};

static void inspect_answered(void *user, int rc, const struct laz_error *why)
{
    struct inspection *inspection = user;

    inspection->is_answered = true;
    inspection->rc = rc;
    inspection->why = *why;
}

/* Waits for what `ask` has asked of the backend. */
static int inspect_ask(struct inspection *inspection,
                       int (*ask)(struct laz_box_shared *shared, struct laz_box_asker *asker,
                                  struct laz_error *err),
                       struct laz_error *err)
{
    struct laz_box_asker asker = {
        .user = inspection, .answer = inspect_answered, .lack = &inspection->lack};

    inspection->is_answered = false;
    int rc = ask(inspection->shared->boxes, &asker, err);
    if (rc != LAZ_BOX_ASKED)
        return rc;
    while (!inspection->is_answered)
        laz_driver_turn(inspection->shared->driver, LAZ_LOOP_FOREVER);
    if (inspection->rc && inspection->why.code)
        *err = inspection->why;
    return inspection->rc;
}

/* The box of the session with the present choice, up to its process. */
static int inspect_box(const struct inspection *inspection, struct laz_error *err)
{
    const struct laz_session *session = inspection->session;
    struct laz_box_purpose purpose = {
        .runtime = session->runtime,
        .read = &session->runtime_paths,
        .has_network = session->has_network,
        .has_credentials = session->credentials != NULL,
    };
    int rc = laz_box_chosen(inspection->shared->boxes, &purpose.choice, err);

    return rc ? rc : laz_box_inspect(inspection->shared->boxes, &purpose, err);
}

/* As a start: the first backend, and the next where it does not work or does not enforce enough. */
static int inspect_backends(struct inspection *inspection, struct laz_error *err)
{
    struct laz_box_shared *boxes = inspection->shared->boxes;
    const struct laz_mistakes *mistakes = inspection->shared->values->mistakes;
    struct laz_error why = {0};
    int rc = inspect_ask(inspection, laz_box_backend, &why);

    while (!rc) {
        rc = inspect_box(inspection, &why);
        if ((rc && !laz_box_may_be_another(&why)) || (mistakes && mistakes->code) ||
            boxes->choice.proven)
            break;
        int tried = inspect_ask(inspection, laz_box_try_backend, &why);
        if (!tried) { /* there is another */
            rc = 0;
            continue;
        }
        if (!boxes->choice.proven && !why.code)
            laz_error_set(&why, LAZ_ESETUP, inspection->lack.os_errno,
                          "the backend %s could not be tried%s%s", boxes->choice.name,
                          inspection->lack.code ? ": " : "", inspection->lack.text);
        rc = boxes->choice.proven ? rc : why.code;
        break;
    }
    if (rc && err)
        *err = why;
    return rc;
}

/* Can the language load what the settings name for it? Only a box of it knows, so one is started,
 * without code; not where they name nothing. */
static int inspect_packages(const struct inspection *inspection, struct laz_error *err)
{
    const struct laz_session_shared *shared = inspection->shared;
    const struct laz_session *session = inspection->session;
    const char *runtime = session->runtime->name;
    const struct laz_template_source source = {
        .runtime = session->runtime,
        .options = laz_buf_text(&session->runtime_options),
        .read = &session->runtime_paths,
        .tools = session->tools_json,
        .has_network = session->has_network,
        .has_credentials = session->credentials != NULL,
    };

    if (!shared->values->pool.preload.n &&
        !laz_settings_plugin_table(shared->settings, "runtime", runtime))
        return 0;
    return laz_template_check(shared->boxes, &source, err);
}

/* Whether secrets can be had; and what is doubtful is said to people. */
static int inspect_credentials(const struct inspection *inspection, struct laz_error *err)
{
    const struct laz_session_shared *shared = inspection->shared;
    struct laz_strv warnings = LAZ_STRV_INIT;

    if (!inspection->session->credentials || !shared->rules)
        return 0;
    laz_credentials_warn(shared->credentials, shared->rules, &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "%s", warnings.items[i]);
    laz_strv_fini(&warnings);
    return laz_credentials_check_secrets(shared->credentials, err);
}

/* `runtime` NULL: that of the settings, and with it the backend. */
static int inspect_runtime(struct inspection *inspection, const char *runtime,
                           struct laz_error *err)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = runtime};
    const struct laz_settings_values *values = inspection->shared->values;
    struct laz_error why = {0};
    int rc = laz_session_unstarted(inspection->shared, &options, &inspection->session, &why);

    if (!rc && !laz_session_is_far(inspection->session)) { /* else it is its worker's business */
        if (!runtime && inspection->session->credentials)
            rc = laz_credentials_check(inspection->shared->credentials, &why);
        rc = laz_settings_wrong(values, "network.credential", NULL, rc, &why);
        if (!rc && !runtime)
            rc = inspect_credentials(inspection, &why);
    }
    if (!rc && !laz_session_is_far(inspection->session)) {
        rc = runtime ? inspect_box(inspection, &why) : inspect_backends(inspection, &why);
        rc = laz_settings_wrong(values, NULL, NULL, rc, &why);
        if (!rc && !(values->mistakes && values->mistakes->code))
            rc = inspect_packages(inspection, &why);
    }
    if (inspection->session)
        laz_session_destroy(inspection->session);
    inspection->session = NULL;
    rc = laz_settings_wrong(values, NULL, NULL, rc, &why);
    if (rc && err)
        *err = why;
    return rc;
}

int laz_sessions_inspect(struct laz_session_shared *shared, struct laz_error *err)
{
    const char *usual, *section;
    struct inspection inspection = {.shared = shared};
    const struct laz_runtime_info *info;
    const struct laz_toml_node *table;
    int rc = laz_driver_enter(shared->driver, err);

    if (rc)
        return rc;
    rc = inspect_runtime(&inspection, NULL, err);
    usual = laz_registry_usual_name(shared->registry, shared->values);
    for (size_t i = 0; !rc && (table = laz_settings_plugin_table_at(shared->settings, i, &section));
         i++)
        if (strcmp(section, "runtime") == 0 && strcmp(table->key, usual) != 0 &&
            laz_registry_runtime(shared->registry, table->key, &info, NULL) == 0)
            rc = inspect_runtime(&inspection, table->key, err);
    laz_driver_leave(shared->driver);
    return rc;
}

int laz_sessions_choose(struct laz_session_shared *shared, struct laz_error *err)
{
    struct inspection inspection = {.shared = shared};
    int rc = laz_driver_enter(shared->driver, err);

    if (rc)
        return rc;
    rc = inspect_ask(&inspection, laz_box_backend, err);
    laz_driver_leave(shared->driver);
    return rc;
}
