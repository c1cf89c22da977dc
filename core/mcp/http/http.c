/* SPDX-License-Identifier: MIT */
/* http.c - clients that cannot start programs: MCP by HTTP ("Streamable HTTP"), on a port of this
 * machine or a Unix socket.
 * Side: host.  Input trusted: no.
 *
 * libmicrohttpd has no thread: its epoll descriptor is watched by the loop of the engine, and it
 * runs between two steps, when sessions may be opened and freed. */
#include "mcp/http/http.h"

#include "base/host_port.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/library.h"
#include "os/sockets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HTTP_MEMORY  ((size_t)32 << 10) /* of a connection, for its headers */
#define HTTP_TICK_MS 1000

/* ---- running --------------------------------------------------------------------------------- */

static void http_ready(void *user, uint32_t events)
{
    (void)events;
    ((struct mcp_http *)user)->is_ready = true;
}

static void http_due(void *user)
{
    ((struct mcp_http *)user)->is_ready = true;
}

/* Has each stream say something, so that one that nobody reads is noticed. */
static bool http_tick(struct mcp_http *http)
{
    const uint64_t now = laz_loop_now_ms(http->mcp->loop);
    const bool is_time = now - http->ticked_ms >= HTTP_TICK_MS;
    bool has_streams = false;

    for (struct exchange *one = http->exchanges; one; one = one->next) {
        has_streams |= one->is_streaming;
        if (!is_time || !one->is_suspended)
            continue;
        laz_buf_puts(&one->wire, ":\n\n");
        mcp_exchange_wake(one);
    }
    if (is_time)
        http->ticked_ms = now;
    return has_streams;
}

void mcp_http_work(struct mcp_http *http)
{
    const bool has_streams = http_tick(http);
    MHD_UNSIGNED_LONG_LONG ms = UINT64_MAX;

    while (http->is_ready) { /* a stream that was woken wants to be read */
        http->is_ready = false;
        (void)http->mhd.run(http->daemon);
    }
    const uint64_t next_ms = mcp_callers_tend(http);
    if (http->mhd.get_timeout(http->daemon, &ms) != MHD_YES)
        ms = UINT64_MAX;
    if (ms > next_ms)
        ms = next_ms;
    if (has_streams && ms > HTTP_TICK_MS)
        ms = HTTP_TICK_MS;
    if (ms != UINT64_MAX)
        laz_timer_start(http->timer, ms);
}

size_t mcp_http_unread(const struct mcp_http *http)
{
    size_t unread = 0;

    for (const struct exchange *one = http->exchanges; one; one = one->next)
        unread += one->is_streaming ? mcp_exchange_unread(one) : 0;
    return unread;
}

const char *mcp_http_address(const struct mcp_http *http)
{
    return http->address;
}

/* ---- making ---------------------------------------------------------------------------------- */

static int http_listen_path(struct mcp_http *http, const char *path, struct laz_error *err)
{
    int rc = laz_os_remove_dead_socket(path, err);

    if (!rc)
        rc = laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &http->listener, err);
    if (rc)
        return rc;
    http->path = laz_strdup(path); /* from now on it is removed at the end */
    http->address = laz_strdup(path);
    return http->path && http->address ? 0 : laz_error_nomem(err);
}

static int http_listen_port(struct mcp_http *http, const char *listen, struct laz_error *err)
{
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (!laz_host_port(listen, host, &port))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--listen: '%.100s' is neither HOST:PORT nor a path with '/'", listen);
    int rc = laz_os_listen_loopback(host, &port, &http->listener, err);
    if (rc)
        return rc;
    http->address = laz_strdupf(strchr(host, ':') ? "http://[%s]:%u/mcp" : "http://%s:%u/mcp",
                                host, (unsigned)port);
    return http->address ? 0 : laz_error_nomem(err);
}

static void http_log(void *user, const char *format, va_list args)
{
    (void)user, (void)format, (void)args; /* what clients do wrong is answered */
}

static int http_load(struct http_library *mhd, struct laz_error *err)
{
    static const struct laz_library_row rows[] = {
#define HTTP_ROW(name) {"MHD_" #name, offsetof(struct http_library, name)},
        HTTP_FUNCTIONS(HTTP_ROW)
#undef HTTP_ROW
    };

    return laz_library_take(LAZ_HTTP_LIBRARY, "--listen: libmicrohttpd", rows,
                            sizeof rows / sizeof *rows, mhd, err);
}

static int http_start(struct mcp_http *http, struct laz_error *err)
{
    int rc = http_load(&http->mhd, err);

    if (rc)
        return rc;
    http->daemon = http->mhd.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, mcp_http_asked, http,
        MHD_OPTION_EXTERNAL_LOGGER, http_log, NULL, MHD_OPTION_LISTEN_SOCKET, http->listener,
        MHD_OPTION_NOTIFY_COMPLETED, mcp_http_completed, http, MHD_OPTION_NOTIFY_CONNECTION,
        mcp_caller_changed, http, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(HTTP_CONNECTIONS + HTTP_STRANGERS), MHD_OPTION_CONNECTION_TIMEOUT,
        HTTP_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_MEMORY, MHD_OPTION_END);
    if (!http->daemon)
        return laz_error_set(err, LAZ_EOS, 0, "libmicrohttpd does not start");
    http->listener = -1; /* it closes it */
    const union MHD_DaemonInfo *info =
        http->mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->timer = laz_timer_new(http->mcp->loop, http_due, http);
    http->io =
        info ? laz_io_start(http->mcp->loop, info->epoll_fd, LAZ_IO_READ, http_ready, http) : NULL;
    return http->timer && http->io ? 0 : laz_error_nomem(err);
}

int mcp_http_new(struct laz_mcp *mcp, const char *listen, const char *token_file,
                 struct mcp_http **out, struct laz_error *err)
{
    struct mcp_http *http = calloc(1, sizeof *http);
    const bool is_path = strchr(listen, '/') != NULL;
    int rc = 0;

    *out = NULL;
    if (!http)
        return laz_error_nomem(err);
    http->mcp = mcp;
    http->listener = -1;
    if (!is_path && !token_file)
        rc = laz_error_set(err, LAZ_EINVAL, 0,
                           "a port needs --token-file: any program of this machine can connect");
    if (!rc && token_file)
        rc = mcp_http_token(token_file, http->token, err);
    if (!rc)
        rc = is_path ? http_listen_path(http, listen, err) : http_listen_port(http, listen, err);
    if (!rc)
        rc = laz_os_let_wait(http->listener, HTTP_CONNECTIONS + HTTP_STRANGERS, err);
    if (!rc)
        rc = http_start(http, err);
    if (rc)
        mcp_http_free(http);
    else
        *out = http;
    return rc;
}

void mcp_http_free(struct mcp_http *http)
{
    if (!http)
        return;
    laz_io_stop(http->io);
    laz_timer_stop(http->timer);
    http->is_ending = true;
    for (struct exchange *one = http->exchanges; one; one = one->next)
        mcp_exchange_wake(one); /* it must not be stopped while one is suspended */
    if (http->daemon) {
        (void)http->mhd.run(http->daemon);
        http->mhd.stop_daemon(http->daemon);
    }
    laz_os_close(&http->listener);
    while (http->peers)
        mcp_http_peer_free(http, http->peers);
    if (http->path)
        (void)laz_os_remove_socket(http->path, NULL);
    laz_wipe(http->token, sizeof http->token);
    free(http->path);
    free(http->address);
    free(http);
}
