/* SPDX-License-Identifier: MIT */
/* session_network.c - the network lists of sessions, and what became of what code tried.
 * Side: host.  Input trusted: yes (settings, the application); of denials no, and their texts are
 * escaped by who has made them.
 *
 * Boxes listen to the ports of the list that the session was opened with, whatever list it has
 * later: nobody inside can make a listener afterwards. */
#include "session/session_network.h"

#include "base/options.h"
#include "session/audit_events.h"
#include "session/session_credentials.h"
#include "telemetry/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of the settings ---------------------------------------------------------------- */

static bool network_has(const struct laz_strv *texts, const char *text)
{
    for (size_t i = 0; i < texts->n; i++)
        if (texts->items[i] == text)
            return true;
    return false;
}

/* Says where the text of the wish was set that is wrong; NULL: the list as a whole is. */
static int network_wrong(const struct laz_settings_values *values, const char *text, int rc,
                         struct laz_error *err)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    char name[256];

    if (text && text == values->network.resolver)
        return laz_settings_wrong(values, "network.resolver", NULL, rc, err);
    if (text && network_has(&values->network.ports, text))
        return laz_settings_wrong(values, "network.ports", text, rc, err);
    if (text && network_has(&values->network.host_ports, text))
        return laz_settings_wrong(values, "network.host.ports", text, rc, err);
    if (!equals || !network_has(&values->network.hosts, text))
        return laz_settings_wrong(values, "network.allow", text, rc, err);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return laz_settings_wrong(values, "network.hosts", name, rc, err);
}

/* Borrows the texts. Out of memory: it has failed. */
static struct laz_strv network_borrow(const struct laz_strv *texts)
{
    struct laz_strv list = {.items = calloc(texts->n + 1, sizeof *list.items), .n = texts->n};

    list.failed = !list.items;
    if (!list.failed && texts->n)
        memcpy(list.items, texts->items, texts->n * sizeof *list.items);
    return list;
}

/* False: the list does not have it. */
static bool network_leave_out(struct laz_strv *list, const char *text)
{
    const size_t before = list->n;

    list->n = 0;
    for (size_t i = 0; i < before; i++)
        if (list->items[i] != text)
            list->items[list->n++] = list->items[i];
    return list->n < before;
}

/* Where mistakes are collected, each wrong rule is one of them. */
int laz_session_rules_of(const struct laz_settings_values *values, struct laz_network_rules **rules,
                         struct laz_error *err)
{
    struct laz_strv allow = network_borrow(&values->network.allow);
    const struct laz_network_wish wish = {
        .allow = &allow,
        .hosts = &values->network.hosts,
        .host_ports = &values->network.host_ports,
        .ports = &values->network.ports,
        .resolver = values->network.resolver,
        .deny_private = values->network.deny_private,
        .max_connections = values->network.max_connections,
        .max_bytes = values->network.max_bytes ? values->network.max_bytes : UINT64_MAX,
    };
    const char *wrong = NULL;
    int rc = allow.failed ? laz_error_nomem(err) : 0;
    bool again = !rc;

    while (again) {
        struct laz_error why = {0};
        rc = laz_network_rules_new(&wish, rules, &wrong, &why);
        again = rc && wrong && network_leave_out(&allow, wrong);
        rc = network_wrong(values, wrong, rc, &why);
        again = again && !rc;
        if (rc && err)
            *err = why;
    }
    free(allow.items);
    return rc;
}

void laz_sessions_end_network(struct laz_session_shared *shared)
{
    laz_network_shared_free(shared->network);
    shared->network = NULL;
    laz_network_rules_drop(shared->rules);
    shared->rules = NULL;
}

/* ---- the list of a session ------------------------------------------------------------------- */

/* The rules of the settings with another list. What is wrong with it is the caller's fault. */
static int network_other(const struct laz_session_shared *shared, const char *const *allow,
                         size_t n, struct laz_network_rules **rules, struct laz_error *err)
{
    const struct laz_strv list = {.items = (char **)allow, .n = n};
    struct laz_error why = {0};

    for (size_t i = 0; i < n; i++)
        if (!allow || !allow[i])
            return laz_error_null(err, "a rule of the network list");
    int rc = laz_network_rules_other(shared->rules, &list, rules, NULL, &why);
    if (rc == LAZ_ECONFIG)
        rc = why.code = LAZ_EINVAL;
    if (rc && err)
        *err = why;
    return rc;
}

int laz_session_take_network(struct laz_session *session, const struct laz_network_list *given,
                             struct laz_error *err)
{
    const struct laz_session_shared *shared = session->shared;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    struct laz_network_list list;

    if (!shared->rules)
        return 0; /* they are only being checked */
    int rc = given ? LAZ_OPTIONS_TAKE(&list, given, laz_network_list, err) : 0;
    if (!rc && given)
        rc = network_other(shared, list.allow, list.n, &session->rules, err);
    else if (!rc)
        session->rules = laz_network_rules_hold(shared->rules);
    if (rc)
        return rc;
    session->first_rules = laz_network_rules_hold(session->rules);
    session->has_network = laz_network_rules_ports(session->first_rules, ports) > 0;
    return 0;
}

void laz_session_forget_network(struct laz_session *session)
{
    laz_network_rules_drop(session->rules);
    laz_network_rules_drop(session->first_rules);
    session->rules = session->first_rules = NULL;
    laz_denials_fini(&session->denials);
}

/* Has each port of the rules a listener in boxes of this session? */
static int network_check_ports(const struct laz_session *session,
                               const struct laz_network_rules *rules, struct laz_error *err)
{
    uint16_t declared[LAZ_OS_NETWORK_PORTS], wanted[LAZ_OS_NETWORK_PORTS];
    const size_t n_declared = laz_network_rules_ports(session->first_rules, declared);
    const size_t n_wanted = laz_network_rules_ports(rules, wanted);
    size_t at = 0;

    for (size_t i = 0; i < n_wanted; i++) { /* both ascend */
        while (at < n_declared && declared[at] < wanted[i])
            at++;
        if (at == n_declared || declared[at] != wanted[i])
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "port %u was not declared when the session was opened: neither by "
                                 "its first list nor by network.ports",
                                 (unsigned)wanted[i]);
    }
    return 0;
}

/* Its worker is told before the next execution, and ends the session where it refuses them. */
static int network_tell(const struct laz_session *session, const struct laz_network_rules *rules,
                        struct laz_error *err)
{
    struct laz_buf allow = LAZ_BUF_INIT;

    laz_network_rules_json(rules, &allow);
    const bool is_told = laz_box_set_far_network(session->box, laz_buf_text(&allow));
    int rc = allow.failed ? laz_error_nomem(err)
             : is_told    ? 0
                          : laz_error_set(err, LAZ_ECLOSED, 0, "the worker cannot be told");
    laz_buf_fini(&allow);
    return rc;
}

/* From now on; takes the rules. */
static int network_replace(struct laz_session *session, struct laz_network_rules *rules,
                           struct laz_error *err)
{
    int rc = session->network ? laz_network_change(session->network, rules, err) : 0;

    if (laz_box_is_far(session->box))
        rc = network_tell(session, rules, err);

    laz_network_rules_drop(rc ? rules : session->rules);
    if (!rc)
        session->rules = rules;
    return rc;
}

/* The caller is inside. */
static int network_set(struct laz_session *session, const char *const *allow, size_t n,
                       struct laz_error *err)
{
    struct laz_network_rules *rules = NULL;

    if (session->is_ending)
        return laz_error_set(err, LAZ_ECLOSED, 0, "the session is being closed");
    int rc = network_other(session->shared, allow, n, &rules, err);
    if (rc)
        return rc;
    rc = network_check_ports(session, rules, err);
    if (!rc)
        rc = laz_audit_network_set(session, rules, err);
    if (!rc)
        return network_replace(session, rules, err);
    laz_network_rules_drop(rules);
    return rc;
}

int laz_session_set_network(struct laz_session *session, const char *const *allow, size_t n,
                            struct laz_error *err)
{
    if (!session)
        return laz_error_null(err, "the session");
    const unsigned executing = atomic_load(&session->executing);
    if (executing)
        return laz_error_set(err, LAZ_EBUSY, 0, "Cannot change the network list while %s",
                             laz_session_activity(executing));
    int rc = laz_driver_enter(session->shared->driver, err);
    if (rc)
        return rc;
    rc = network_set(session, allow, n, err);
    laz_driver_leave(session->shared->driver);
    return rc;
}

int laz_session_restore_network(struct laz_session *session, struct laz_error *err)
{
    laz_session_drop_denials(session);
    return session->rules == session->first_rules
               ? 0
               : network_replace(session, laz_network_rules_hold(session->first_rules), err);
}

/* ---- the way out of its box ------------------------------------------------------------------ */

_Static_assert(LAZ_METRIC_N_DENIED == LAZ_N_DENIED, "metrics.h: a new reason");

static void network_denied(void *user, const struct laz_denial *denial)
{
    struct laz_session *session = user;

    laz_metrics_add(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_NETWORK, 1);
    laz_metrics_add(LAZ_METRIC_NETWORK_DENIALS, denial->what, 1);
    laz_denials_add(&session->denials, denial);
}

/* ---- by way of the proxy, which adds credentials --------------------------------------------- */

static bool network_has_way(void *user, const char *name, uint16_t port)
{
    return laz_credential_set_has(((struct laz_session *)user)->credentials, name, port);
}

static int network_put_way(void *user, const char *name, uint16_t port, int server,
                           const char **why)
{
    return laz_credential_set_connect(((struct laz_session *)user)->credentials, name, port, server,
                                      why);
}

static const char *network_finds(void *user, const char *text, size_t len)
{
    return laz_credential_set_finds(((struct laz_session *)user)->credentials, text, len);
}

static void network_credential_denied(void *user, const char *name, uint16_t port, const char *text)
{
    struct laz_session *session = user;

    if (session->network)
        laz_network_deny(session->network, name, port, text);
}

static void network_credential_stale(void *user)
{
    const struct laz_session *session = user;

    if (session->owner)
        session->owner->changed(session->owner);
}

int laz_session_start_network(struct laz_session *session, struct laz_error *err)
{
    struct laz_session_shared *shared = session->shared;
    const struct laz_network_owner owner = {
        .user = session,
        .denied = network_denied,
        .has_way = session->credentials ? network_has_way : NULL,
        .put_way = network_put_way,
        .finds = network_finds,
    };
    struct laz_os_network sockets = LAZ_OS_NETWORK_NONE;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    const size_t n = laz_network_rules_ports(session->first_rules, ports);
    int rc = shared->network ? 0 : laz_network_shared_new(shared->driver, &shared->network, err);

    const struct laz_credential_owner asked = {session, network_credential_denied,
                                               network_credential_stale};
    if (session->credentials)
        laz_credential_set_own(session->credentials, &asked);
    if (!rc)
        rc = laz_box_listen(session->box, ports, n, &sockets, err);
    return rc ? rc
              : laz_network_start(shared->network, session->rules, &sockets, &owner,
                                  &session->network, err);
}

void laz_session_stop_network(struct laz_session *session)
{
    laz_network_stop(session->network);
    session->network = NULL;
}

void laz_session_drop_denials(struct laz_session *session)
{
    laz_session_tell_credentials(session, NULL);
    laz_audit_denials(session);
    laz_denials_fini(&session->denials);
}

void laz_session_tell_denials(struct laz_session *session, struct laz_result *result)
{
    struct laz_denials *denials = &session->denials;

    if (!session->network && !denials->n)
        return;
    if (session->network)
        laz_network_catch_up(session->network);
    laz_session_catch_up_credentials(session);
    laz_session_tell_credentials(session, result);
    laz_audit_denials(session);
    for (size_t i = 0; i < denials->n; i++) {
        struct laz_buf text = LAZ_BUF_INIT, json = LAZ_BUF_INIT;
        laz_buf_puts(&text, "lazaret: network: ");
        laz_denial_text(&denials->items[i], &text);
        laz_buf_putc(&text, '\n');
        laz_output_say(&result->output, LAZ_STDERR, laz_buf_text(&text), text.len);
        laz_denial_json(&denials->items[i], &json);
        laz_strv_add(&result->denials, laz_buf_text(&json));
        result->denials.failed |= json.failed;
        laz_buf_fini(&text);
        laz_buf_fini(&json);
    }
    if (denials->others)
        laz_strv_addf(&result->warnings,
                      "network: %" PRIu64 " other connections or names were refused",
                      denials->others);
    laz_denials_fini(denials);
}
