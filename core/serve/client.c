/* SPDX-License-Identifier: MIT */
/* client.c - the connection of one client: its lines become requests.
 * Side: host.  Input trusted: no (lines of a client; they are checked by host/message.c).
 *
 * Nothing here waits (lines/lines.h).  From the first bound of what a client has not read on, its
 * requests are not read and output is left out of its messages. */
#include "serve/serve_private.h"

#include "base/clock.h"
#include "base/json_number.h"
#include "base/json_scan.h"
#include "os/descriptors.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT_LOOK_S   86400
#define CLIENT_LEAVE_MS 10000 /* in which one whose time is over reads what is left for it */

/* The id of a request that could not be understood, so that its sender gets an answer; 0: none. */
static int64_t client_id_of(const char *line, size_t len)
{
    struct laz_json_found found[LAZ_FIELDS_MOST];
    size_t n;
    int64_t id = 0;

    if (laz_json_scan_members(line, len, found, LAZ_FIELDS_MOST, &n, NULL) != 0)
        return 0;
    for (size_t i = 0; i < n && i < LAZ_FIELDS_MOST; i++)
        if (laz_json_found_is(&found[i], "id") &&
            (!laz_json_to_int(found[i].raw, found[i].len, &id) || id < 0))
            id = 0;
    return id;
}

static void client_line(struct serve_client *client, char *line, size_t len)
{
    struct serve_message message;
    struct laz_error err = {0};
    enum serve_message_type type;
    const int rc = serve_message_parse(line, len, &type, &message, &err);

    if (rc == 0) {
        serve_request(client, type, &message);
    } else if (type == SERVE_ANSWER) {
        serve_call_refuse(client, message.call, &err);
    } else {
        const int64_t id = client_id_of(line, len);
        serve_send_failed(client, id, &err);
        if (!id) { /* an answer cannot say to what, so that no client may wait for it */
            client->why = err;
            client->lines.is_ending = true;
        }
    }
    if (message.credentials || rc) /* there may be values in it */
        laz_lines_wipe(&client->lines, line, len);
    serve_message_fini(type, &message);
}

/* Handles the next line. True: there may be another. */
static bool client_work(struct serve_client *client)
{
    char *line;
    size_t len;
    int rc = laz_lines_next(&client->lines, &line, &len);

    if (rc == 1)
        client_line(client, line, len);
    if (rc < 0) {
        laz_error_set(&client->why, LAZ_ETOOBIG, 0, "a line has more than %zu bytes",
                      client->lines.frame.max);
        serve_send_failed(client, 0, &client->why);
        client->lines.is_ending = true;
    }
    return laz_lines_handled(&client->lines);
}

bool serve_clients_work(struct laz_server *server)
{
    bool is_busy = false;

    for (struct serve_client *client = server->clients; client; client = client->next) {
        is_busy |= client_work(client);
        serve_count_unread(client); /* it has read, maybe */
    }
    return is_busy;
}

/* ---- what an identity may use ---------------------------------------------------------------- */

static int client_use(const struct serve_client *client, enum laz_quota_kind kind, uint64_t n_milli,
                      const char *what, struct laz_error *err)
{
    struct laz_identity *identity = client->peer.identity;
    const uint64_t wait_ms = identity ? laz_identity_use(&client->server->first->identities,
                                                         identity, kind, n_milli, laz_clock_ms())
                                      : 0;

    return wait_ms ? laz_error_set(err, LAZ_EBUSY, 0,
                                   "%s has used its %s of this minute: again in %llu s",
                                   identity->name, what, (unsigned long long)(wait_ms + 999) / 1000)
                   : 0;
}

const char *serve_client_identity(const struct serve_client *client)
{
    return client->peer.identity ? client->peer.identity->name : NULL;
}

int serve_client_may_ask(const struct serve_client *client, struct laz_error *err)
{
    return client_use(client, LAZ_QUOTA_REQUESTS, 1000, "requests", err);
}

int serve_client_may_execute(const struct serve_client *client, struct laz_error *err)
{
    return client_use(client, LAZ_QUOTA_CPU, 0, "CPU time", err);
}

static void client_used_cpu(const struct serve_client *client, uint64_t cpu_us)
{
    if (client->peer.identity)
        laz_identity_used(&client->server->first->identities, client->peer.identity, LAZ_QUOTA_CPU,
                          cpu_us / 1000, laz_clock_ms());
}

void serve_client_has_executed(const struct serve_client *client, const struct laz_result *result)
{
    struct laz_execution_usage usage = LAZ_EXECUTION_USAGE_INIT;

    if (result && laz_result_usage(result, &usage) == 0)
        client_used_cpu(client, usage.cpu_us);
}

void serve_client_leaves_session(const struct serve_client *client,
                                 const struct laz_session *session)
{
    client_used_cpu(client, laz_session_idle_cpu_us(session));
}

/* ---- making and freeing --------------------------------------------------------------------- */

/* What has shown who it is holds no longer. */
static void client_expired(void *user)
{
    struct serve_client *client = user;
    const int64_t left_s = client->peer.expires_s - laz_clock_unix_s();

    if (client->has_expired) { /* it does not read: it has had its time */
        client->lines.is_ending = client->lines.is_gone = true;
        return;
    }
    if (left_s > 0) { /* a timer is started for a day at most: the clock may be set meanwhile */
        laz_timer_start(client->expiry,
                        (uint64_t)(left_s < CLIENT_LOOK_S ? left_s : CLIENT_LOOK_S) * 1000);
        return;
    }
    laz_error_set(&client->why, LAZ_EREFUSED, 0,
                  "the token or certificate of %s has expired: connect with a new one",
                  client->peer.identity->name);
    serve_send_failed(client, 0, &client->why);
    client->lines.is_ending = client->has_expired = true;
    laz_timer_start(client->expiry, CLIENT_LEAVE_MS);
}

static int client_watch_expiry(struct serve_client *client, struct laz_error *err)
{
    if (!client->peer.expires_s)
        return 0;
    client->expiry = laz_timer_new(client->server->loop, client_expired, client);
    if (!client->expiry)
        return laz_error_nomem(err);
    laz_timer_start(client->expiry, 0);
    return 0;
}

int serve_client_new(struct laz_server *server, int in, int out, const struct serve_peer *peer,
                     struct laz_error *err)
{
    struct serve_client *client = calloc(1, sizeof *client);

    if (!client)
        return laz_error_nomem(err);
    client->server = server;
    client->peer = *peer;
    int rc = client_watch_expiry(client, err);
    if (!rc)
        rc = laz_lines_begin(&client->lines, server->loop, in, out,
                             (size_t)server->engine->values->session.max_value_size, SERVE_QUIET,
                             SERVE_UNREAD, err);
    if (rc) {
        laz_timer_stop(client->expiry);
        free(client);
        return rc;
    }
    client->next = server->clients;
    server->clients = client;
    laz_metrics_add(LAZ_METRIC_CLIENTS, 0, 1);
    const struct serve_message hello = {
        .protocol = SERVE_PROTOCOL,
        .version = laz_version(),
        .max_line = (int64_t)server->engine->values->session.max_value_size,
        .max_sessions = (int64_t)server->engine->values->pool.max_sessions,
        .timeout_ms = (int64_t)server->engine->values->session.timeout_ms,
        .deadline_ms = (int64_t)server->engine->values->session.deadline_ms,
        .max_tool_calls = (int64_t)server->engine->values->session.max_tool_calls,
        .max_output_lines = (int64_t)server->engine->values->session.max_output_lines,
    };
    serve_send(client, SERVE_HELLO, &hello);
    return 0;
}

void serve_client_free(struct serve_client *client)
{
    struct laz_server *server = client->server;
    int connection = client->lines.in == client->lines.out ? client->lines.in : -1;

    serve_sessions_end(client);
    serve_calls_end(client);
    laz_lines_end(&client->lines);
    laz_os_close(&connection);
    laz_timer_stop(client->expiry);
    client->lines.is_gone = true;
    serve_count_unread(client);
    if (client->peer.identity) {
        laz_log(&server->engine->driver.log, LAZ_LOG_INFO, "%s has disconnected",
                client->peer.identity->name);
        laz_identity_leave(&server->first->identities, client->peer.identity, laz_clock_ms());
    }
    LAZ_LIST_REMOVE(server->clients, client);
    atomic_fetch_sub(&server->n_clients, 1);
    laz_metrics_add(LAZ_METRIC_CLIENTS, 0, -1);
    while (client->tools) {
        struct serve_tool_set *set = client->tools;
        client->tools = set->next;
        serve_tools_free(set);
    }
    free(client);
}

void serve_clients_sweep(struct laz_server *server)
{
    for (struct serve_client *client = server->clients, *next; client; client = next) {
        next = client->next;
        if (!client->lines.is_ending || (client->n_answers && !client->lines.is_gone))
            continue;
        serve_sessions_end(client); /* results of what ran are sent */
        laz_lines_flush(&client->lines);
        if (!client->lines.is_gone && laz_lines_unread(&client->lines) && !server->is_stdio)
            continue; /* until it has read them, or is gone */
        if (server->is_stdio) {
            server->why = client->why;
            server->is_over = true;
        } else {
            serve_client_free(client);
        }
    }
}
