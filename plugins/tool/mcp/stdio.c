/* SPDX-License-Identifier: MIT */
/* stdio.c - a server that is a program: a message is a line of its standard input or output.
 *
 * What it prints to standard error goes to the log, up to a bound.  Its end is seen by the host,
 * which then has killed its process group; a process that has left the group lives on, and finds
 * the other ends of its pipes closed.  What is still in the pipe is read before the connection
 * counts as lost.  A line that is longer than a message may be is skipped, while the id of the
 * request that it answers is looked for in it.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* the host has set SO_NOSIGPIPE */
#endif

#define STDIO_PIECE      ((size_t)64 << 10)
#define STDIO_WORDS      16384              /* bytes of standard error that are read at once */
#define STDIO_MAX_LINE   500                /* bytes of a line of standard error in the log */
#define STDIO_MAX_LINES  500                /* of each life */
#define STDIO_MAX_UNSENT ((size_t)64 << 20) /* bytes of calls that are not read; of all: twice */
#define STDIO_MAX_SKIP   16                 /* times the longest message: a line without an end */
#define STDIO_LAST       16   /* pieces that are read after its end, of what was sent before */
#define STDIO_CLOSED_MS  5000 /* in which a server that has closed its output has to end */

struct stdio_buffer {
    char *data;
    size_t len, room;
    size_t seen; /* bytes without a newline; of what is written: bytes that it has taken */
};

struct stdio {
    struct mcp_server *server;
    struct laz_child *child; /* NULL: not open */
    unsigned opened;         /* how often; tells a reader that it was opened anew meanwhile */
    int input, output, errors;
    struct laz_watch *writing, *reading, *complaining, *closed;
    struct stdio_buffer in, out;
    struct mcp_glance glance; /* at the line that is not whole yet */
    size_t skipped;           /* bytes of it that were not kept; 0: none */
    struct mcp_stream words;  /* of standard error */
    unsigned lines;
    char last[200]; /* line of standard error */
};

static const struct laz_tool_services *stdio_services(const struct stdio *stdio)
{
    return stdio->server->services;
}

static void stdio_unwatch(const struct stdio *stdio, struct laz_watch **watch)
{
    if (*watch)
        stdio_services(stdio)->watch_stop(*watch);
    *watch = NULL;
}

static bool buffer_reserve(struct stdio_buffer *buffer, size_t more)
{
    size_t room = buffer->room ? buffer->room : STDIO_PIECE;

    while (room - buffer->len < more)
        room *= 2;
    char *data = room == buffer->room ? buffer->data : realloc(buffer->data, room);
    if (!data)
        return false;
    buffer->data = data;
    buffer->room = room;
    return true;
}

static void buffer_drop(struct stdio_buffer *buffer, size_t n)
{
    memmove(buffer->data, buffer->data + n, buffer->len - n);
    buffer->len -= n;
}

static void buffer_fini(struct stdio_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct stdio_buffer){0};
}

/* ---- closing --------------------------------------------------------------------------------- */

static void stdio_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void stdio_close(struct mcp_server *server)
{
    struct stdio *stdio = server->link;

    if (!stdio || !stdio->child)
        return;
    stdio_unwatch(stdio, &stdio->writing);
    stdio_unwatch(stdio, &stdio->reading);
    stdio_unwatch(stdio, &stdio->complaining);
    stdio_unwatch(stdio, &stdio->closed);
    stdio_close_fd(&stdio->input);
    stdio_close_fd(&stdio->output);
    stdio_close_fd(&stdio->errors);
    buffer_fini(&stdio->in);
    buffer_fini(&stdio->out);
    mcp_stream_fini(&stdio->words);
    server->services->child_end(stdio->child, MCP_STOP_MS);
    stdio->child = NULL;
}

static void stdio_fini(struct mcp_server *server)
{
    stdio_close(server);
    free(server->link);
    server->link = NULL;
}

/* ---- standard error -------------------------------------------------------------------------- */

static void stdio_log(struct stdio *stdio, const char *text, size_t len)
{
    char *line = mcp_clean(text, len, STDIO_MAX_LINE, false);

    if (line && *line) {
        snprintf(stdio->last, sizeof stdio->last, "%.199s", line);
        if (stdio->lines < STDIO_MAX_LINES)
            mcp_server_log(stdio->server, LAZ_LOG_INFO, "%s", line);
        else if (stdio->lines == STDIO_MAX_LINES)
            mcp_server_log(stdio->server, LAZ_LOG_INFO,
                           "more than %d lines: what else it complains of is left out",
                           STDIO_MAX_LINES);
        stdio->lines += stdio->lines <= STDIO_MAX_LINES;
    }
    free(line);
}

/* Logs whole lines, and what is longer than a line may be. */
static void stdio_log_lines(struct stdio *stdio, bool is_end)
{
    const char *line;
    size_t len;

    while (mcp_stream_line(&stdio->words, STDIO_PIECE, &line, &len))
        stdio_log(stdio, line, len);
    const size_t left = stdio->words.len - stdio->words.at;
    if (is_end && mcp_stream_line(&stdio->words, left, &line, &len))
        stdio_log(stdio, line, len);
}

static void stdio_complains(void *user, uint32_t events)
{
    struct stdio *stdio = user;
    char piece[STDIO_WORDS];

    (void)events;
    const ssize_t n = read(stdio->errors, piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    const bool is_end = n <= 0 || !mcp_stream_add(&stdio->words, piece, (size_t)n);
    if (is_end)
        stdio_unwatch(stdio, &stdio->complaining);
    stdio_log_lines(stdio, is_end);
}

/* ---- standard output ------------------------------------------------------------------------- */

/* A line ends at `end`, and is given to the server. */
static void stdio_take_line(struct stdio *stdio, size_t start, size_t end)
{
    struct mcp_server *server = stdio->server;
    char *line = stdio->in.data + start;
    struct mcp_glance glance = stdio->glance;
    const bool was_skipped = stdio->skipped > 0;

    stdio->glance = (struct mcp_glance){0};
    stdio->skipped = 0;
    if (!was_skipped) {
        mcp_server_take(server, line, end - start);
        return;
    }
    mcp_glance_add(&glance, line, end - start);
    mcp_server_unread(server, &glance, "sent a message of more than %zu bytes (max_output)",
                      mcp_server_most(server));
}

/* Gives the server each whole line. False: the connection is not the same any more. */
static bool stdio_take_lines(struct stdio *stdio)
{
    struct stdio_buffer *in = &stdio->in;
    const unsigned opened = stdio->opened;
    size_t start = 0;

    for (;;) {
        char *newline = memchr(in->data + in->seen, '\n', in->len - in->seen);
        if (!newline)
            break;
        const size_t end = (size_t)(newline - in->data);
        in->seen = end + 1;
        stdio_take_line(stdio, start, end);
        if (!stdio->child || stdio->opened != opened)
            return false;
        start = end + 1;
    }
    mcp_glance_add(&stdio->glance, in->data + in->seen, in->len - in->seen);
    if (start)
        buffer_drop(in, start);
    in->seen = in->len;
    return true;
}

/* Keeps no more of a line than a message may have. False: the server is given up. */
static bool stdio_bound_line(struct stdio *stdio)
{
    struct mcp_server *server = stdio->server;
    struct stdio_buffer *in = &stdio->in;
    const size_t most = mcp_server_most(server);

    if (!stdio->skipped && in->len <= most)
        return true;
    if (!server->is_known || stdio->skipped / STDIO_MAX_SKIP > most) {
        mcp_server_lost(server, "sent a message of more than %zu bytes%s", most,
                        server->is_known ? ", and no end of it" : "");
        return false;
    }
    stdio->skipped += in->len;
    buffer_fini(in);
    return true;
}

/* Reads a piece. 1: there may be more; 0: not now; -1: the end, or the connection is another. */
static int stdio_read(struct stdio *stdio)
{
    struct mcp_server *server = stdio->server;
    struct stdio_buffer *in = &stdio->in;

    if (!buffer_reserve(in, STDIO_PIECE)) {
        mcp_server_lost(server, "cannot be read: out of memory");
        return -1;
    }
    const ssize_t n = read(stdio->output, in->data + in->len, STDIO_PIECE);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    in->len += (size_t)n;
    return stdio_take_lines(stdio) && stdio_bound_line(stdio) ? 1 : -1;
}

static void stdio_closed(void *user)
{
    struct stdio *stdio = user;

    mcp_server_lost(stdio->server, "has closed its standard output, and has not ended");
}

static void stdio_readable(void *user, uint32_t events)
{
    struct stdio *stdio = user;
    const unsigned opened = stdio->opened;

    (void)events;
    if (stdio_read(stdio) >= 0 || !stdio->child || stdio->opened != opened)
        return;
    /* Its end, if it has ended, comes as well, and says how. */
    stdio_unwatch(stdio, &stdio->reading);
    stdio->closed = stdio_services(stdio)->watch_timer(stdio_services(stdio)->host, STDIO_CLOSED_MS,
                                                       stdio_closed, stdio);
}

static void stdio_ended(void *user, int32_t status, int32_t signal)
{
    struct stdio *stdio = user;
    const unsigned opened = stdio->opened;
    const char *last = stdio->last;
    int more = 1;

    /* A process that it has left behind may still write, and faster than this reads. */
    for (unsigned n = 0; more > 0 && n < STDIO_LAST; n++)
        more = stdio_read(stdio);
    if (!stdio->child || stdio->opened != opened)
        return;
    if (stdio->complaining)
        stdio_complains(stdio, 1);
    stdio_log_lines(stdio, true);
    mcp_server_lost(stdio->server, "has ended (%s %d)%s%s", signal ? "signal" : "exit status",
                    (int)(signal ? signal : status), *last ? "; its last words: " : "", last);
}

/* ---- standard input -------------------------------------------------------------------------- */

static void stdio_writable(void *user, uint32_t events);

/* Writes what it takes. False: it is gone. */
static bool stdio_flush(struct stdio *stdio)
{
    struct stdio_buffer *out = &stdio->out;

    while (out->seen < out->len) {
        const ssize_t n =
            send(stdio->input, out->data + out->seen, out->len - out->seen, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            out->seen = out->len; /* nobody reads it; its end comes as well, and says how */
            break;
        }
        if (n < 0)
            break;
        out->seen += (size_t)n;
    }
    if (out->seen > out->len / 2) {
        buffer_drop(out, out->seen);
        out->seen = 0;
    }
    if (out->len && !stdio->writing) {
        stdio->writing = stdio_services(stdio)->watch_fd(stdio_services(stdio)->host, stdio->input,
                                                         2, stdio_writable, stdio);
        return stdio->writing != NULL;
    }
    return true;
}

static void stdio_writable(void *user, uint32_t events)
{
    struct stdio *stdio = user;

    (void)events;
    stdio_unwatch(stdio, &stdio->writing);
    if (!stdio_flush(stdio))
        mcp_server_lost(stdio->server, "cannot be written to");
}

static bool stdio_send(struct mcp_server *server, const char *text, size_t len,
                       const struct mcp_envelope *envelope)
{
    struct stdio *stdio = server->link;
    struct stdio_buffer *out = &stdio->out;

    /* A call that has no room fails alone; that another one was cancelled is said all the same. */
    const size_t most = envelope->name ? STDIO_MAX_UNSENT : 2 * STDIO_MAX_UNSENT;
    if (!stdio->child || out->len + len > most || !buffer_reserve(out, len + 1))
        return false;
    memcpy(out->data + out->len, text, len);
    out->data[out->len + len] = '\n';
    out->len += len + 1;
    return stdio->writing || stdio_flush(stdio);
}

/* ---- opening --------------------------------------------------------------------------------- */

struct environment {
    const struct laz_json_api *json;
    char **items;
    size_t n;
};

static bool environment_add(struct environment *env, const char *name, const char *value)
{
    char **items = realloc(env->items, (env->n + 2) * sizeof *items);
    char *text = items ? mcp_format("%s=%s", name, value) : NULL;

    if (items)
        env->items = items;
    if (!text)
        return false;
    items[env->n++] = text;
    items[env->n] = NULL;
    return true;
}

static bool environment_member(void *user, const char *key, struct mcp_raw item)
{
    struct environment *env = user;
    char *value = mcp_string(env->json, item);
    const bool well = value && environment_add(env, key, value);

    mcp_wipe(value);
    free(value);
    return well;
}

/* The variables of `env`, and those of the host that `env_from` names, as far as they are set. */
static bool environment_make(const struct mcp_server *server, struct environment *env)
{
    const struct mcp_options *options = &server->options;
    const struct mcp_raw own = {options->env, options->env ? strlen(options->env) : 0};
    bool well = !own.text || mcp_each(env->json, own, environment_member, env);

    for (size_t i = 0; options->env_from && options->env_from[i] && well; i++) {
        const char *value = getenv(options->env_from[i]);
        if (value)
            well = environment_add(env, options->env_from[i], value);
        else
            mcp_server_log(server, LAZ_LOG_WARNING,
                           "the variable %.100s, which `env_from` names, is not set",
                           options->env_from[i]);
    }
    return well;
}

static int stdio_start(struct stdio *stdio, struct laz_error *err)
{
    struct mcp_server *server = stdio->server;
    const struct laz_tool_services *services = server->services;
    struct laz_child_pipes pipes = {.size = sizeof pipes, .input = -1, .output = -1, .errors = -1};
    struct environment env = {.json = server->json};
    int ret = 0;

    if (!environment_make(server, &env))
        ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    const struct laz_child_program program = {
        .size = sizeof program,
        .argv = (const char *const *)server->options.command,
        .env = (const char *const *)env.items,
        .ended = stdio_ended,
        .user = stdio,
    };
    if (!ret)
        ret = services->child_start(services->host, &program, &pipes, &stdio->child, err);
    for (size_t i = 0; i < env.n; i++) {
        mcp_wipe(env.items[i]);
        free(env.items[i]);
    }
    free(env.items);
    stdio->input = pipes.input;
    stdio->output = pipes.output;
    stdio->errors = pipes.errors;
    return ret;
}

static int stdio_open(struct mcp_server *server, struct laz_error *err)
{
    const struct laz_tool_services *services = server->services;
    struct stdio *stdio = server->link;
    int ret;

    if (!LAZ_HAS(services, child_end))
        return laz_fail(err, LAZ_EREFUSED, "this lazaret starts no programs for providers");
    if (!stdio) {
        stdio = server->link = calloc(1, sizeof *stdio);
        if (!stdio)
            return laz_fail(err, LAZ_ENOMEM, "out of memory");
        stdio->server = server;
    }
    stdio->opened++;
    stdio->lines = 0;
    stdio->glance = (struct mcp_glance){0};
    stdio->skipped = 0;
    stdio->last[0] = '\0';
    ret = stdio_start(stdio, err);
    if (ret)
        return ret;
    stdio->reading = services->watch_fd(services->host, stdio->output, 1, stdio_readable, stdio);
    stdio->complaining =
        services->watch_fd(services->host, stdio->errors, 1, stdio_complains, stdio);
    if (stdio->reading && stdio->complaining)
        return 0;
    stdio_close(server);
    return laz_fail(err, LAZ_ENOMEM, "its output cannot be watched");
}

const struct mcp_transport mcp_stdio = {
    .open = stdio_open,
    .send = stdio_send,
    .close = stdio_close,
    .fini = stdio_fini,
};
