/* SPDX-License-Identifier: MIT */
/* control.c - notes of the engine, and to it.
 * Side: proxy.  Input trusted: yes (the engine).
 *
 * Notes to it wait while it does not read: its boxes wait as well then, since it is the engine that
 * carries their bytes. */
#include "proxy/proxy_private.h"

#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/sockets.h"

#include <stdlib.h>
#include <string.h>

#define CONTROL_SOCKET 0

static char control_room[LAZ_PROXY_NOTE]; /* has secrets for a moment */

bool proxy_tell(enum proxy_note_type type, const struct proxy_note *note)
{
    struct laz_buf line = LAZ_BUF_INIT;

    proxy_note_make(type, note, &line);
    const struct laz_part part = {line.data, line.len};
    const bool is_told = !line.failed && laz_os_send_parts(CONTROL_SOCKET, &part, 1);
    laz_buf_fini(&line);
    return is_told;
}

static struct proxy_credential **control_find(struct proxy *proxy, int64_t id)
{
    struct proxy_credential **at = &proxy->credentials;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void control_credential(struct proxy *proxy, const struct proxy_note *note, int *ca)
{
    struct proxy_credential *made, **at = control_find(proxy, note->credential);
    struct laz_error err = {0};

    if (*at)
        return;
    const int fd = *ca;
    *ca = -1;
    if (proxy_credential_new(note, fd, &made, &err) == 0)
        *at = made;
}

static void control_secret(struct proxy *proxy, const struct proxy_note *note)
{
    struct proxy_credential *one = *control_find(proxy, note->credential);

    if (!one)
        return;
    (void)proxy_credential_set(one, note->text, note->text_len, note->why);
    if (note->text)
        laz_wipe((char *)(uintptr_t)note->text, note->text_len);
    proxy_connections_wake(proxy);
    free(one->why); /* whoever comes next asks again */
    one->why = NULL;
}

static void control_forget(struct proxy *proxy, const struct proxy_note *note)
{
    struct proxy_credential **at = control_find(proxy, note->credential), *one = *at;

    if (!one)
        return;
    *at = one->next;
    proxy_credential_drop(one);
}

static void control_take(struct proxy *proxy, enum proxy_note_type type,
                         const struct proxy_note *note, int *fds, size_t n_fds)
{
    switch (type) {
    case PROXY_CREDENTIAL:
        control_credential(proxy, note, &fds[0]);
        break;
    case PROXY_SECRET:
        control_secret(proxy, note);
        break;
    case PROXY_FORGET:
        control_forget(proxy, note);
        break;
    case PROXY_CONNECTION:
        if (n_fds != 2)
            break;
        proxy_connection_new(proxy, note, fds[0], fds[1]);
        fds[0] = fds[1] = -1;
        break;
    case PROXY_READY:
    case PROXY_FAILED:
    case PROXY_WANTS:
    case PROXY_USED:
    case PROXY_DENIED:
    case PROXY_NOTE_TYPES:
        break;
    }
}

static void control_ready(void *user, uint32_t events)
{
    struct proxy *proxy = user;
    enum proxy_note_type type;
    struct proxy_note note;
    int fds[LAZ_OS_HANDOVER];
    size_t n_fds = 0;
    const ssize_t n =
        laz_os_receive(CONTROL_SOCKET, control_room, sizeof control_room, fds, &n_fds);

    (void)events;
    if (n <= 0) {
        proxy->is_over = true;
        return;
    }
    n_fds = n_fds == LAZ_OS_CUT ? 0 : n_fds;
    for (size_t i = n_fds; i < LAZ_OS_HANDOVER; i++)
        fds[i] = -1;
    if (proxy_note_parse(control_room, (size_t)n, true, &type, &note, NULL) == 0)
        control_take(proxy, type, &note, fds, n_fds);
    proxy_note_fini(type, &note);
    laz_wipe(control_room, (size_t)n);
    for (size_t i = 0; i < n_fds; i++)
        laz_os_close(&fds[i]);
}

int proxy_control_begin(struct proxy *proxy, struct laz_error *err)
{
    proxy->control = laz_io_start(proxy->loop, CONTROL_SOCKET, LAZ_IO_READ, control_ready, proxy);
    return proxy->control ? 0 : laz_io_error(err, "the connection to the engine");
}
