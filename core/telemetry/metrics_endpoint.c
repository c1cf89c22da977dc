/* SPDX-License-Identifier: MIT */
/* metrics_endpoint.c - GET /metrics and /healthz by HTTP.
 * Side: host.  Input trusted: no (whoever reaches the port).
 *
 * It answers on a thread of its own, so that it does when no loop turns.  A client can do nothing
 * but read two short texts.  Connections are few; where there are more, the one that was quiet for
 * the longest time makes room, so that nobody keeps others out by being slow. */
#include "telemetry/metrics.h"

#include "base/clock.h"
#include "base/host_port.h"
#include "base/place.h"
#include "os/descriptors.h"
#include "os/library.h"
#include "os/sockets.h"
#include "os/thread.h"

#include <microhttpd.h>

#include <stdlib.h>
#include <string.h>

#define ENDPOINT_CONNECTIONS 32
#define ENDPOINT_ROOM        8                 /* more, which make others leave */
#define ENDPOINT_MEMORY      ((size_t)8 << 10) /* of a connection, for its headers */
#define ENDPOINT_TIMEOUT_S   30u
#define ENDPOINT_HEADERS_US  UINT64_C(10000000) /* in which a request is whole */

#define ENDPOINT_FUNCTIONS(F)                                                                      \
    F(add_response_header)                                                                         \
    F(create_response_from_buffer)                                                                 \
    F(destroy_response)                                                                            \
    F(get_connection_info)                                                                         \
    F(lookup_connection_value)                                                                     \
    F(queue_response)                                                                              \
    F(start_daemon)                                                                                \
    F(stop_daemon)

struct endpoint_library {
#define ENDPOINT_MEMBER(name) __typeof__(MHD_##name) *name;
    ENDPOINT_FUNCTIONS(ENDPOINT_MEMBER)
#undef ENDPOINT_MEMBER
};

/* A connection; used by the thread of libmicrohttpd alone. */
struct endpoint_caller {
    struct endpoint_caller *next; /* the oldest first */
    int fd;
    uint64_t since_us; /* it was made, or its last request has ended */
    bool is_leaving;   /* it was shut down */
};

struct laz_endpoint {
    struct endpoint_library mhd;
    struct MHD_Daemon *daemon;
    int listener;
    char *address;
    bool is_loopback;
    struct endpoint_caller *callers;
};

/* ---- connections ----------------------------------------------------------------------------- */

/* Those that are late leave, and as many more as there are too many. */
static void callers_tend(struct laz_endpoint *endpoint)
{
    const uint64_t now_us = laz_clock_us();
    size_t n = 0;

    for (const struct endpoint_caller *one = endpoint->callers; one; one = one->next)
        n += !one->is_leaving;
    for (struct endpoint_caller *one = endpoint->callers; one; one = one->next) {
        if (one->is_leaving ||
            (n <= ENDPOINT_CONNECTIONS && now_us - one->since_us < ENDPOINT_HEADERS_US))
            continue;
        one->is_leaving = true;
        laz_os_hang_up(one->fd);
        n--;
    }
}

static void caller_add(struct laz_endpoint *endpoint, struct MHD_Connection *connection,
                       void **context)
{
    const union MHD_ConnectionInfo *info =
        endpoint->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct endpoint_caller *caller = calloc(1, sizeof *caller), **at = &endpoint->callers;

    *context = caller;
    if (!caller || !info) {
        free(caller);
        *context = NULL;
        return;
    }
    caller->fd = info->connect_fd;
    caller->since_us = laz_clock_us();
    while (*at)
        at = &(*at)->next;
    *at = caller;
    callers_tend(endpoint);
}

static void caller_remove(struct laz_endpoint *endpoint, struct endpoint_caller *caller)
{
    struct endpoint_caller **at = &endpoint->callers;

    while (*at && *at != caller)
        at = &(*at)->next;
    if (*at)
        *at = caller->next;
    free(caller);
}

static void endpoint_changed(void *user, struct MHD_Connection *connection, void **context,
                             enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        caller_add(user, connection, context);
    else if (*context)
        caller_remove(user, *context);
}

/* The connection may have another request, and is the youngest from now on. */
static void endpoint_completed(void *user, struct MHD_Connection *connection, void **state,
                               enum MHD_RequestTerminationCode why)
{
    struct laz_endpoint *endpoint = user;
    const union MHD_ConnectionInfo *info =
        endpoint->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct endpoint_caller *caller = info ? info->socket_context : NULL;
    struct endpoint_caller **at = &endpoint->callers;

    (void)state, (void)why;
    while (caller && *at && *at != caller)
        at = &(*at)->next;
    if (!caller || !*at)
        return;
    *at = caller->next;
    caller->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = caller;
    caller->since_us = laz_clock_us();
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum MHD_Result endpoint_answer(const struct laz_endpoint *endpoint,
                                       struct MHD_Connection *connection, unsigned status,
                                       const char *type, const struct laz_buf *text)
{
    struct MHD_Response *response =
        endpoint->mhd.create_response_from_buffer(text->len, text->data, MHD_RESPMEM_MUST_COPY);

    if (!response)
        return MHD_NO;
    (void)endpoint->mhd.add_response_header(response, "Content-Type", type);
    (void)endpoint->mhd.add_response_header(response, "Cache-Control", "no-store");
    (void)endpoint->mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)endpoint->mhd.add_response_header(response, "Allow", "GET, HEAD");
    const enum MHD_Result queued = endpoint->mhd.queue_response(connection, status, response);
    endpoint->mhd.destroy_response(response);
    return queued;
}

/* What the request gets; *type is that of the text. */
static unsigned endpoint_judge(const struct laz_endpoint *endpoint, const char *host,
                               const char *url, const char *method, const char **type,
                               struct laz_buf *text)
{
    *type = "text/plain; charset=utf-8";
    if (endpoint->is_loopback && host && !laz_place_is_local(host)) {
        laz_buf_puts(text, "this is not the name of this machine\n");
        return MHD_HTTP_FORBIDDEN;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        laz_buf_puts(text, "GET and HEAD only\n");
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (strcmp(url, "/healthz") == 0)
        return laz_health_write(text, laz_clock_us()) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (strcmp(url, "/metrics") == 0) {
        *type = "text/plain; version=0.0.4; charset=utf-8";
        laz_metrics_write(text);
        return text->failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK;
    }
    laz_buf_puts(text, "/metrics and /healthz are here\n");
    return MHD_HTTP_NOT_FOUND;
}

static enum MHD_Result endpoint_asked(void *user, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *len, void **state)
{
    const struct laz_endpoint *endpoint = user;
    struct laz_buf text = LAZ_BUF_INIT;
    const char *type;

    (void)version, (void)data, (void)len, (void)state;
    const char *host = endpoint->mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const unsigned status = endpoint_judge(endpoint, host, url, method, &type, &text);
    const enum MHD_Result queued = endpoint_answer(endpoint, connection, status, type, &text);
    laz_buf_fini(&text);
    return queued;
}

static void endpoint_log(void *user, const char *format, va_list args)
{
    (void)user, (void)format, (void)args; /* what clients do wrong is answered */
}

/* ---- making ---------------------------------------------------------------------------------- */

static int endpoint_listen(struct laz_endpoint *endpoint, const char *listen, struct laz_error *err)
{
    const bool is_port = *listen && strlen(listen) <= 5 && !listen[strspn(listen, "0123456789")];
    char *text = laz_strdupf(is_port ? "127.0.0.1:%s" : "%s", listen);
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (!text)
        return laz_error_nomem(err);
    const bool is_place = laz_host_port(text, host, &port);
    free(text);
    if (!is_place)
        return laz_error_set(err, LAZ_EINVAL, 0, "'%.100s' is neither PORT nor HOST:PORT", listen);
    int rc = laz_os_listen_address(host, &port, &endpoint->listener, err);
    if (rc)
        return rc;
    endpoint->is_loopback = strcmp(host, "localhost") == 0 ||
                            strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
    endpoint->address =
        laz_strdupf(strchr(host, ':') ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", host,
                    (unsigned)port);
    if (!endpoint->address)
        return laz_error_nomem(err);
    return laz_os_let_wait(endpoint->listener, ENDPOINT_CONNECTIONS, err);
}

static int endpoint_load(struct endpoint_library *mhd, struct laz_error *err)
{
    static const struct laz_library_row rows[] = {
#define ENDPOINT_ROW(name) {"MHD_" #name, offsetof(struct endpoint_library, name)},
        ENDPOINT_FUNCTIONS(ENDPOINT_ROW)
#undef ENDPOINT_ROW
    };

    return laz_library_take(LAZ_HTTP_LIBRARY, "libmicrohttpd", rows, sizeof rows / sizeof *rows,
                            mhd, err);
}

/* The thread of libmicrohttpd has the signal mask of the one that starts it: here all are blocked.
 */
static void *endpoint_start(void *user)
{
    struct laz_endpoint *endpoint = user;

    endpoint->daemon = endpoint->mhd.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ITC, 0, NULL, NULL,
        endpoint_asked, endpoint, MHD_OPTION_EXTERNAL_LOGGER, endpoint_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, endpoint->listener, MHD_OPTION_NOTIFY_COMPLETED,
        endpoint_completed, endpoint, MHD_OPTION_NOTIFY_CONNECTION, endpoint_changed, endpoint,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(ENDPOINT_CONNECTIONS + ENDPOINT_ROOM),
        MHD_OPTION_CONNECTION_TIMEOUT, ENDPOINT_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        ENDPOINT_MEMORY, MHD_OPTION_END);
    return NULL;
}

int laz_endpoint_new(const char *listen, struct laz_endpoint **out, struct laz_error *err)
{
    struct laz_endpoint *endpoint = calloc(1, sizeof *endpoint);
    pthread_t thread;

    *out = NULL;
    if (!endpoint)
        return laz_error_nomem(err);
    endpoint->listener = -1;
    int rc = endpoint_listen(endpoint, listen, err);
    if (!rc)
        rc = endpoint_load(&endpoint->mhd, err);
    const int failed = rc ? 0 : laz_os_thread(&thread, 0, endpoint_start, endpoint);
    if (failed)
        rc = laz_error_start(err, failed, "cannot start the thread of libmicrohttpd");
    if (!rc) {
        pthread_join(thread, NULL);
        if (endpoint->daemon)
            endpoint->listener = -1; /* it closes it */
        else
            rc = laz_error_set(err, LAZ_EOS, 0, "libmicrohttpd does not start");
    }
    if (rc)
        laz_endpoint_free(endpoint);
    else
        *out = endpoint;
    return rc;
}

const char *laz_endpoint_address(const struct laz_endpoint *endpoint)
{
    return endpoint->address;
}

void laz_endpoint_free(struct laz_endpoint *endpoint)
{
    if (!endpoint)
        return;
    if (endpoint->daemon)
        endpoint->mhd.stop_daemon(endpoint->daemon);
    laz_os_close(&endpoint->listener);
    free(endpoint->address);
    free(endpoint);
}
