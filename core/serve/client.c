/* SPDX-License-Identifier: MIT */
/* client.c - the connection of one client: lines in, lines out.
 * Side: host.  Input trusted: no (lines of a client; they are checked by serve/table.c).
 *
 * Nothing here waits.  What a client does not read is kept for it up to a bound: from the first
 * bound on its requests are not read and output is left out of its messages, at the second it is
 * given up.  So a client that does not read hurts itself only. */
#include "serve/serve_parts.h"

#include "base/json_number.h"
#include "base/json_scan.h"
#include "os/descriptors.h"
#include "os/io.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT_READ ((size_t)64 << 10)

size_t serve_client_unread(const struct serve_client *client)
{
    return client->unsent.len - client->sent;
}

/* The peer is gone, or is given up: what it has opened ends with the next sweep. */
static void client_give_up(struct serve_client *client)
{
    client->is_ending = client->is_gone = true;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void client_ready(void *user, uint32_t events);
static void client_writable(void *user, uint32_t events);

/* Watches for what the client is able to do next. */
static void client_watch(struct serve_client *client)
{
    const bool reads =
        !client->is_ending && !client->has_lines && serve_client_unread(client) <= SERVE_QUIET;
    const bool writes = !client->is_gone && serve_client_unread(client);
    uint32_t events = reads ? LAZ_IO_READ : 0;
    bool watched = true;

    if (client->in == client->out)
        events |= writes ? LAZ_IO_WRITE : 0;
    else if (writes && !client->writing)
        watched = (client->writing = laz_io_start(client->server->loop, client->out, LAZ_IO_WRITE,
                                                  client_writable, client)) != NULL;
    else if (client->writing)
        watched = laz_io_events(client->writing, writes ? LAZ_IO_WRITE : 0);
    if (!watched || (client->reading && !laz_io_events(client->reading, events)))
        client_give_up(client);
}

void serve_client_flush(struct serve_client *client)
{
    while (!client->is_gone && serve_client_unread(client)) {
        const char *data = client->unsent.data + client->sent;
        const size_t len = serve_client_unread(client);
        ssize_t n = client->is_pipe ? laz_os_send_pipe(client->out, data, len)
                                    : laz_os_send(client->out, data, len);
        if (n < 0)
            client_give_up(client);
        if (n <= 0)
            break;
        client->sent += (size_t)n;
    }
    if (!serve_client_unread(client)) {
        if (client->unsent.cap > SERVE_QUIET)
            laz_buf_fini(&client->unsent);
        laz_buf_clear(&client->unsent);
        client->sent = 0;
    }
}

void serve_send(struct serve_client *client, enum serve_message_type type,
                const struct serve_message *message)
{
    if (client->is_gone)
        return;
    if (client->sent && client->sent > client->unsent.len / 2) {
        laz_buf_drop(&client->unsent, client->sent);
        client->sent = 0;
    }
    serve_message_make(type, message, &client->unsent);
    serve_client_flush(client);
    if (client->unsent.failed || serve_client_unread(client) > SERVE_UNREAD)
        client_give_up(client);
    client_watch(client);
}

void serve_send_failed(struct serve_client *client, int64_t id, const struct laz_error *err)
{
    const struct serve_message message = {
        .has_id = id != 0,
        .id = id,
        .code = laz_error_name(err->code),
        .message = err->text,
    };

    serve_send(client, SERVE_FAILED, &message);
}

/* ---- reading -------------------------------------------------------------------------------- */

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

static void client_line(struct serve_client *client, const char *line, size_t len)
{
    struct serve_message message;
    struct laz_error err = {0};
    enum serve_message_type type;

    if (serve_message_parse(line, len, &type, &message, &err) == 0) {
        serve_request(client, type, &message);
    } else if (type == SERVE_ANSWER) {
        serve_call_refuse(client, message.call, &err);
    } else {
        const int64_t id = client_id_of(line, len);
        serve_send_failed(client, id, &err);
        if (!id) { /* an answer cannot say to what, so that no client may wait for it */
            client->why = err;
            client->is_ending = true;
        }
    }
    serve_message_fini(type, &message);
}

/* May the next line be handled? Else it has to wait until the client reads. */
static bool client_has_work(const struct serve_client *client)
{
    return client->has_lines && !client->is_ending && serve_client_unread(client) <= SERVE_QUIET;
}

/* Handles the next line. True: there may be another. */
static bool client_work(struct serve_client *client)
{
    char *line;
    size_t len;

    if (client_has_work(client)) {
        int rc = laz_frame_next(&client->frame, &line, &len);
        client->has_lines = rc == 1 && laz_frame_partial(&client->frame);
        if (rc == 1)
            client_line(client, line, len);
        if (rc < 0) {
            laz_error_set(&client->why, LAZ_ETOOBIG, 0, "a line has more than %zu bytes",
                          client->frame.max);
            serve_send_failed(client, 0, &client->why);
            client->is_ending = true;
        }
    }
    client_watch(client);
    return client_has_work(client);
}

bool serve_clients_work(struct laz_server *server)
{
    bool is_busy = false;

    for (struct serve_client *client = server->clients; client; client = client->next)
        is_busy |= client_work(client);
    return is_busy;
}

static void client_read(struct serve_client *client)
{
    char *room = laz_frame_room(&client->frame, CLIENT_READ);
    ssize_t n = room ? laz_os_read(client->in, room, CLIENT_READ) : -1;

    if (n > 0) {
        laz_frame_added(&client->frame, (size_t)n);
        client->has_lines = true; /* maybe: the next turn finds out */
    }
    if (n < 0)
        client->is_ending = true; /* the end of its input */
}

static void client_ready(void *user, uint32_t events)
{
    struct serve_client *client = user;

    if (events & LAZ_IO_WRITE)
        serve_client_flush(client);
    if ((events & LAZ_IO_READ) && !client->is_ending)
        client_read(client);
    if (!client->has_lines)
        client_watch(client); /* else after the lines, in the same turn */
}

static void client_writable(void *user, uint32_t events)
{
    (void)events;
    client_ready(user, LAZ_IO_WRITE);
}

/* ---- making and freeing --------------------------------------------------------------------- */

int serve_client_new(struct laz_server *server, int in, int out, struct laz_error *err)
{
    struct serve_client *client = calloc(1, sizeof *client);

    if (!client)
        return laz_error_nomem(err);
    client->server = server;
    client->in = in;
    client->out = out;
    client->is_pipe = laz_os_is_pipe(out);
    laz_frame_init(&client->frame, (size_t)server->limits.max_line);
    client->reading = laz_io_start(server->loop, in, LAZ_IO_READ, client_ready, client);
    if (!client->reading) {
        laz_frame_fini(&client->frame);
        free(client);
        return laz_error_set(err, LAZ_EOS, 0, "a connection cannot be watched");
    }
    client->next = server->clients;
    server->clients = client;
    server->n_clients++;
    const struct serve_message hello = {
        .protocol = SERVE_PROTOCOL,
        .version = laz_version(),
        .max_line = (int64_t)server->limits.max_line,
        .max_sessions = (int64_t)server->limits.max_sessions,
        .timeout_ms = (int64_t)server->limits.timeout_ms,
        .deadline_ms = (int64_t)server->limits.deadline_ms,
        .max_tool_calls = (int64_t)server->limits.max_tool_calls,
        .max_output_lines = (int64_t)server->limits.max_output_lines,
    };
    serve_send(client, SERVE_HELLO, &hello);
    return 0;
}

void serve_client_free(struct serve_client *client)
{
    struct laz_server *server = client->server;
    struct serve_client **at = &server->clients;

    serve_sessions_end(client);
    serve_calls_end(client);
    laz_io_stop(client->reading);
    laz_io_stop(client->writing);
    if (client->in == client->out)
        laz_os_close(&client->in);
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    server->n_clients--;
    while (client->tools) {
        struct serve_tool_set *set = client->tools;
        client->tools = set->next;
        serve_tools_free(set);
    }
    laz_frame_fini(&client->frame);
    laz_buf_fini(&client->unsent);
    free(client);
}

void serve_clients_sweep(struct laz_server *server)
{
    for (struct serve_client *client = server->clients, *next; client; client = next) {
        next = client->next;
        if (!client->is_ending)
            continue;
        serve_sessions_end(client); /* results of what ran are sent */
        serve_client_flush(client);
        if (!client->is_gone && serve_client_unread(client) && !server->is_stdio)
            continue; /* until it has read them, or is gone */
        if (server->is_stdio) {
            server->why = client->why;
            server->is_over = true;
        } else {
            serve_client_free(client);
        }
    }
}
