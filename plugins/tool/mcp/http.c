/* SPDX-License-Identifier: MIT */
/* http.c - a server over HTTP (Streamable HTTP): each message is a POST, whose answer is JSON or a
 * stream of events.
 *
 * libcurl's multi interface does the transfers, on the descriptors and timers of the host's loop.
 * Its callbacks only store what arrives; messages are taken afterwards (http_work), because a
 * message can end any transfer, which is not allowed in a callback.  One turn of the loop takes a
 * bounded part of them, and nothing more is read before all are taken, so that timers and other
 * descriptors have their turn.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_MAX_HEADERS     ((size_t)64 << 10) /* bytes of all headers of an answer */
#define HTTP_MAX_TRANSFER    4096               /* exchanges that are open */
#define HTTP_MAX_CONNECTIONS 64L                /* others wait for one of them */
#define HTTP_TURN_MESSAGES   64                 /* that are taken in one turn of the loop, */
#define HTTP_TURN_BYTES      ((size_t)1 << 20)  /* or so many bytes; the last may be larger */
#define HTTP_TURN_MS         1   /* to the next; with 0 the timers of one turn would never end */
#define HTTP_MAX_TYPE        100 /* bytes of the type of an answer */
#define HTTP_FIRST           "notifications/initialized"

struct http;

/* A descriptor of libcurl that is watched. */
struct http_socket {
    struct http *http;
    struct http_socket *next;
    curl_socket_t fd;
    struct laz_watch *watch;
};

/* A POST and its answer. */
struct http_exchange {
    struct http *http;
    struct http_exchange *next;
    CURL *easy;
    struct curl_slist *headers;
    char *body;
    int64_t id;               /* of the request; 0: none is answered */
    struct mcp_stream events; /* of the answer; or all of it, as its data */
    size_t headers_len;
    bool is_done, is_too_large;
    bool is_first; /* says that the session is initialized: others wait for it */
    bool waits;
    CURLcode result;
    char type[HTTP_MAX_TYPE];           /* of the answer, without parameters */
    char session[HTTP_MAX_SESSION + 1]; /* that the answer begins */
    char problem[CURL_ERROR_SIZE];
};

struct http {
    struct mcp_server *server;
    CURLM *multi;
    struct curl_slist *headers; /* NULL: not open */
    struct http_exchange *exchanges;
    struct http_socket *sockets;
    struct laz_watch *timer, *more;
    unsigned n;
    bool is_working;
    bool has_more;     /* that was read and not taken */
    bool in_timer;     /* of this turn: another one is for a later turn */
    bool is_due;       /* libcurl wants to do something, as soon as that was taken */
    bool is_beginning; /* an exchange that is_first has not ended */
    char session[HTTP_MAX_SESSION + 1];
};

static void http_work(struct http *http);

/* ---- the loop -------------------------------------------------------------------------------- */

static void http_unwatch(const struct http *http, struct laz_watch **watch)
{
    if (*watch)
        http->server->services->watch_stop(*watch);
    *watch = NULL;
}

/* Lets libcurl read and write, unless what it has read was not taken; then takes it. */
static void http_act(struct http *http, curl_socket_t fd, int events)
{
    const bool is_timer = fd == CURL_SOCKET_TIMEOUT;
    int running;

    http->in_timer = is_timer;
    if (!http->has_more)
        curl_multi_socket_action(http->multi, fd, events, &running); /* may free its socket */
    else
        http->is_due |= is_timer; /* a descriptor is ready again */
    http_work(http);
    http->in_timer = false;
}

static void http_ready(void *user, uint32_t events)
{
    const struct http_socket *ready = user;

    http_act(ready->http, ready->fd,
             (events & 1 ? CURL_CSELECT_IN : 0) | (events & 2 ? CURL_CSELECT_OUT : 0));
}

static void http_socket_free(struct http_socket *socket)
{
    struct http_socket **at = &socket->http->sockets;

    while (*at && *at != socket)
        at = &(*at)->next;
    if (*at)
        *at = socket->next;
    http_unwatch(socket->http, &socket->watch);
    free(socket);
}

static int http_wants_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    struct http *http = user;
    struct http_socket *socket = known;
    const struct laz_tool_services *services = http->server->services;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket)
            http_socket_free(socket);
        return 0;
    }
    if (!socket) {
        socket = calloc(1, sizeof *socket);
        if (!socket)
            return -1;
        *socket = (struct http_socket){.http = http, .next = http->sockets, .fd = fd};
        http->sockets = socket;
        curl_multi_assign(http->multi, fd, socket);
    }
    http_unwatch(http, &socket->watch);
    const uint32_t events = (what & CURL_POLL_IN ? 1u : 0u) | (what & CURL_POLL_OUT ? 2u : 0u);
    if (events)
        socket->watch = services->watch_fd(services->host, fd, events, http_ready, socket);
    return events && !socket->watch ? -1 : 0;
}

static void http_due(void *user)
{
    struct http *http = user;

    http_unwatch(http, &http->timer);
    http_act(http, CURL_SOCKET_TIMEOUT, 0);
}

/* A later turn of the loop. */
static void http_goes_on(void *user)
{
    struct http *http = user;

    http_unwatch(http, &http->more);
    if (http->is_due && !http->has_more) {
        http->is_due = false;
        http_act(http, CURL_SOCKET_TIMEOUT, 0);
    } else {
        http_work(http);
    }
}

static int http_wants_timer(CURLM *multi, long ms, void *user)
{
    struct http *http = user;
    const struct laz_tool_services *services = http->server->services;

    (void)multi;
    http_unwatch(http, &http->timer);
    if (ms == 0 && http->in_timer)
        ms = HTTP_TURN_MS;
    if (ms >= 0)
        http->timer = services->watch_timer(services->host, (uint64_t)ms, http_due, http);
    return ms >= 0 && !http->timer ? -1 : 0;
}

/* ---- one exchange ---------------------------------------------------------------------------- */

static void exchange_free(struct http_exchange *exchange)
{
    struct http *http = exchange->http;
    struct http_exchange **at = &http->exchanges;

    while (*at && *at != exchange)
        at = &(*at)->next;
    if (*at) {
        *at = exchange->next;
        http->n--;
    }
    if (exchange->easy) {
        curl_multi_remove_handle(http->multi, exchange->easy);
        curl_easy_cleanup(exchange->easy);
    }
    curl_slist_free_all(exchange->headers);
    free(exchange->body);
    mcp_stream_fini(&exchange->events);
    free(exchange);
}

static size_t exchange_data(char *data, size_t size, size_t n, void *user)
{
    struct http_exchange *exchange = user;
    const struct mcp_stream *events = &exchange->events;

    n *= size;
    if (events->len - events->at + n > mcp_server_most(exchange->http->server)) {
        exchange->is_too_large = true;
        return 0;
    }
    return mcp_stream_add(&exchange->events, data, n) ? n : 0;
}

/* One line of the answer's header. */
static size_t exchange_header(char *data, size_t size, size_t n, void *user)
{
    static const char session[] = "mcp-session-id:", type[] = "content-type:";
    struct http_exchange *exchange = user;
    char line[HTTP_MAX_SESSION + 64];

    n *= size;
    exchange->headers_len += n;
    if (exchange->headers_len > HTTP_MAX_HEADERS) {
        exchange->is_too_large = true;
        return 0;
    }
    snprintf(line, sizeof line, "%.*s", (int)n, data);
    line[strcspn(line, "\r\n")] = '\0';
    if (strncasecmp(line, type, sizeof type - 1) == 0) {
        const char *value = line + sizeof type - 1 + strspn(line + sizeof type - 1, " \t");
        snprintf(exchange->type, sizeof exchange->type, "%.*s", (int)strcspn(value, "; \t"), value);
    } else if (strncasecmp(line, session, sizeof session - 1) == 0) {
        const char *value = line + sizeof session - 1 + strspn(line + sizeof session - 1, " \t");
        bool is_valid = *value && strlen(value) <= HTTP_MAX_SESSION;
        for (const char *c = value; *c && is_valid; c++)
            is_valid = *c > 0x20 && *c < 0x7f;
        if (is_valid)
            memcpy(exchange->session, value, strlen(value) + 1);
    }
    return n;
}

/* The headers of a request of this era. */
static bool exchange_headers(struct http_exchange *exchange, const struct mcp_envelope *envelope)
{
    const struct http *http = exchange->http;
    const struct mcp_server *server = http->server;
    const bool is_initialize = envelope->method && strcmp(envelope->method, "initialize") == 0;
    const bool is_modern = server->era != MCP_LEGACY && !is_initialize;
    struct curl_slist **list = &exchange->headers;
    bool well = true;

    for (const struct curl_slist *item = http->headers; item && well; item = item->next) {
        struct curl_slist *longer = curl_slist_append(*list, item->data);
        well = longer != NULL;
        *list = well ? longer : *list;
    }
    if (is_modern || *server->version)
        well = well && mcp_http_header(list, "MCP-Protocol-Version",
                                       is_modern ? "2026-07-28" : server->version);
    if (is_modern && envelope->method)
        well = well && mcp_http_header(list, "Mcp-Method", envelope->method);
    if (is_modern && envelope->name)
        well = well && mcp_http_header(list, "Mcp-Name", envelope->name);
    if (*http->session && !is_initialize)
        well = well && mcp_http_header(list, "Mcp-Session-Id", http->session);
    return well;
}

static bool exchange_set_up(struct http_exchange *exchange, size_t len)
{
    CURL *easy = exchange->easy;

    /* No signals: the library is a guest. Certificates are checked, nothing is followed. */
    return !curl_easy_setopt(easy, CURLOPT_URL, exchange->http->server->options.url) &&
           !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
           !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
           !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) &&
           !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
           !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                             (long)exchange->http->server->options.start_timeout_ms) &&
           !curl_easy_setopt(easy, CURLOPT_POST, 1L) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->body) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len) &&
           !curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers) &&
           !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, exchange_data) &&
           !curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange) &&
           !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, exchange_header) &&
           !curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange) &&
           !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->problem) &&
           !curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
}

static bool http_send(struct mcp_server *server, const char *text, size_t len,
                      const struct mcp_envelope *envelope)
{
    struct http *http = server->link;
    struct http_exchange *exchange;

    /* In the newer era a request is cancelled by closing its stream: see http_forget. */
    if (envelope->method && server->era == MCP_MODERN &&
        strcmp(envelope->method, "notifications/cancelled") == 0)
        return true;
    if (!http->headers || http->n == HTTP_MAX_TRANSFER || !(exchange = calloc(1, sizeof *exchange)))
        return false;
    exchange->http = http;
    exchange->id = envelope->id;
    exchange->body = malloc(len + 1);
    CURL *easy = curl_easy_init();
    if (exchange->body && easy) {
        memcpy(exchange->body, text, len);
        exchange->easy = easy;
        exchange->next = http->exchanges;
        http->exchanges = exchange;
        http->n++;
        exchange->waits = http->is_beginning;
        exchange->is_first = envelope->method && strcmp(envelope->method, HTTP_FIRST) == 0;
        http->is_beginning |= exchange->is_first;
        if (exchange_headers(exchange, envelope) && exchange_set_up(exchange, len) &&
            (exchange->waits || curl_multi_add_handle(http->multi, easy) == CURLM_OK))
            return true;
    } else {
        curl_easy_cleanup(easy);
    }
    exchange_free(exchange);
    return false;
}

static void http_forget(struct mcp_server *server, int64_t id)
{
    struct http *http = server->link;

    for (struct http_exchange *exchange = http->exchanges; exchange; exchange = exchange->next)
        if (exchange->id == id) {
            exchange_free(exchange);
            return;
        }
}

/* ---- what has arrived ------------------------------------------------------------------------ */

static long exchange_status(const struct http_exchange *exchange)
{
    long status = 0;

    (void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static bool exchange_is_json(const struct http_exchange *exchange)
{
    return strcasecmp(exchange->type, "application/json") == 0;
}

static bool exchange_is_stream(const struct http_exchange *exchange)
{
    return strcasecmp(exchange->type, "text/event-stream") == 0 && exchange_status(exchange) == 200;
}

static bool exchange_has_events(const struct http_exchange *exchange)
{
    return exchange->events.seen < exchange->events.len && exchange_is_stream(exchange);
}

/* Why an exchange brings no answer; "": it does. */
static void exchange_problem(const struct http_exchange *exchange, char *text, size_t size)
{
    const long status = exchange_status(exchange);
    char *plain;

    *text = '\0';
    if (exchange->is_too_large) {
        snprintf(text, size, "sent a message of more than %zu bytes, or headers of more than %zu",
                 mcp_server_most(exchange->http->server), HTTP_MAX_HEADERS);
    } else if (exchange->result != CURLE_OK) {
        const char *why =
            *exchange->problem ? exchange->problem : curl_easy_strerror(exchange->result);
        plain = mcp_clean(why, strlen(why), 200, false);
        snprintf(text, size, "cannot be reached: %s", plain ? plain : "out of memory");
        free(plain);
    } else if (status >= 300 && status < 400) {
        snprintf(text, size,
                 "answered with a redirect (HTTP status %ld), which is not followed: "
                 "name its place as the url",
                 status);
    } else if (status == 401 || status == 403) {
        snprintf(text, size,
                 "does not allow it (HTTP status %ld): see headers_env and headers_file", status);
    } else if (status < 200 || status >= 300) {
        snprintf(text, size, "answered with HTTP status %ld", status);
    } else if (exchange->id && exchange->events.len && !exchange_is_json(exchange) &&
               !exchange_is_stream(exchange)) {
        plain = mcp_clean(exchange->type, strlen(exchange->type), sizeof exchange->type, false);
        snprintf(text, size,
                 "answered with the type '%s', and neither application/json nor text/event-stream",
                 plain ? plain : "");
        free(plain);
    }
}

/* The answer to `initialize` names the session, for all that follows. */
static void http_keep_session(struct http *http, const struct http_exchange *exchange)
{
    if (*exchange->session && http->server->era != MCP_MODERN)
        memcpy(http->session, exchange->session, sizeof http->session);
}

/* Sends what has waited. */
static void http_begun(struct http *http)
{
    http->is_beginning = false;
    for (struct http_exchange *exchange = http->exchanges; exchange; exchange = exchange->next)
        if (exchange->waits) {
            exchange->waits = false;
            if (curl_multi_add_handle(http->multi, exchange->easy) != CURLM_OK) {
                exchange->is_done = true;
                exchange->result = CURLE_OUT_OF_MEMORY;
            }
        }
}

/* An exchange has ended; it is freed here. */
static void http_finish(struct http_exchange *exchange)
{
    struct http *http = exchange->http;
    struct mcp_server *server = http->server;
    const int64_t id = exchange->id;
    const long status = exchange_status(exchange);
    const bool has_forgotten = status == 404 && *http->session;
    const bool is_lost = exchange->result != CURLE_OK;
    size_t len = exchange_is_json(exchange) ? exchange->events.len : 0;
    char *data = len ? exchange->events.data : NULL, problem[300];

    exchange_problem(exchange, problem, sizeof problem);
    if (data)
        exchange->events.data = NULL;
    if (!*problem)
        http_keep_session(http, exchange);
    /* An error may say more in its body. */
    const bool is_message = data && data[strspn(data, " \t\r\n")] == '{' &&
                            (!*problem || server->json->scan(data, len, NULL) == 0);
    if (exchange->is_first)
        http_begun(http);
    exchange_free(exchange);
    if (has_forgotten)
        mcp_server_lost(server, "has forgotten its session");
    else if (!id && *problem)
        mcp_server_log(server, LAZ_LOG_WARNING, "a notification did not arrive: it %s", problem);
    else if (is_lost || (*problem && !is_message))
        (is_lost ? mcp_server_failed : mcp_server_refused)(server, id, problem);
    else if (id && is_message)
        mcp_server_take(server, data, len);
    if (id && http->headers) /* unless that has answered it, it never will be */
        mcp_server_refused(server, id, *problem ? problem : "sent no answer to the request");
    free(data);
}

/* Notes which exchanges have ended, and finds one that has something to take. */
static struct http_exchange *http_next(struct http *http)
{
    struct http_exchange *exchange = NULL;
    CURLMsg *done;
    int left;

    while ((done = curl_multi_info_read(http->multi, &left)))
        if (done->msg == CURLMSG_DONE &&
            curl_easy_getinfo(done->easy_handle, CURLINFO_PRIVATE, &exchange) == CURLE_OK) {
            exchange->is_done = true;
            exchange->result = done->data.result;
        }
    exchange = http->exchanges;
    while (exchange && !exchange->is_done && !exchange_has_events(exchange))
        exchange = exchange->next;
    return exchange;
}

/* Takes an event, or the end of an exchange. Returns its bytes. */
static size_t http_take(struct http_exchange *exchange)
{
    struct http *http = exchange->http;
    char *event = NULL;
    size_t len, taken = 0;

    if (exchange_has_events(exchange))
        taken = mcp_stream_event(&exchange->events, &event, &len);
    if (event) {
        http_keep_session(http, exchange);
        mcp_server_take(http->server, event, len);
    } else if (taken) {
        mcp_server_lost(http->server, "cannot be read: out of memory");
    } else if (exchange->is_done) {
        taken = exchange->events.len;
        http_finish(exchange);
    }
    free(event);
    return taken;
}

/* Takes what has arrived, one message at a time, as each may end any exchange; and no more than a
 * turn of the loop may take. */
static void http_work(struct http *http)
{
    const struct laz_tool_services *services = http->server->services;
    struct http_exchange *exchange;
    size_t bytes = 0;

    if (http->is_working)
        return;
    http->is_working = true;
    for (unsigned n = 0; (exchange = http_next(http)) && n < HTTP_TURN_MESSAGES; n++) {
        if (bytes >= HTTP_TURN_BYTES)
            break;
        bytes += http_take(exchange);
    }
    http->has_more = exchange != NULL;
    if ((http->has_more || http->is_due) && !http->more)
        http->more = services->watch_timer(services->host, HTTP_TURN_MS, http_goes_on, http);
    http->is_working = false;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void http_close(struct mcp_server *server)
{
    struct http *http = server->link;

    if (!http)
        return;
    while (http->exchanges)
        exchange_free(http->exchanges);
    curl_slist_free_all(http->headers);
    http->headers = NULL;
    http->session[0] = '\0';
    http->is_beginning = http->has_more = false;
    server->version[0] = '\0';
}

static void http_fini(struct mcp_server *server)
{
    struct http *http = server->link;

    http_close(server);
    if (!http)
        return;
    curl_multi_cleanup(http->multi);
    while (http->sockets)
        http_socket_free(http->sockets);
    http_unwatch(http, &http->timer);
    http_unwatch(http, &http->more);
    free(http);
    server->link = NULL;
    curl_global_cleanup();
}

static int http_make(struct mcp_server *server, struct laz_error *err)
{
    struct http *http;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return laz_fail(err, LAZ_ENOMEM, "libcurl cannot be used");
    http = calloc(1, sizeof *http);
    if (http)
        http->multi = curl_multi_init();
    if (!http || !http->multi) {
        free(http);
        curl_global_cleanup();
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    http->server = server;
    server->link = http;
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, http_wants_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, http_wants_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, HTTP_MAX_CONNECTIONS);
    return 0;
}

static int http_open(struct mcp_server *server, struct laz_error *err)
{
    int ret = server->link ? 0 : http_make(server, err);

    return ret ? ret : mcp_http_headers(server, &((struct http *)server->link)->headers, err);
}

const struct mcp_transport mcp_http = {
    .open = http_open,
    .send = http_send,
    .forget = http_forget,
    .close = http_close,
    .fini = http_fini,
};
