/* SPDX-License-Identifier: MIT */
/* channel.c - the connection to lazaret-proxy: what it is told, and its end.
 * Side: host.  Input trusted: yes (what the engine tells). */
#include "credential/credential_private.h"

#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/signals.h"

#include <signal.h>
#include <stdlib.h>

#define CHANNEL_END_MS 1000

/* A note that waits until the proxy has read others. */
struct credential_unsent {
    struct credential_unsent *next;
    struct laz_buf line;
};

static void channel_wipe(struct laz_buf *line)
{
    if (line->data)
        laz_wipe(line->data, line->len);
    laz_buf_fini(line);
}

static void channel_make(enum proxy_note_type type, const struct proxy_note *note,
                         struct laz_buf *line)
{
    laz_buf_reserve(line, note->text_len * 6 + 4096); /* so that a secret is not moved about */
    proxy_note_make(type, note, line);
}

bool credential_tell(struct laz_credentials *credentials, enum proxy_note_type type,
                     const struct proxy_note *note, const int *fds, size_t n)
{
    struct laz_buf line = LAZ_BUF_INIT;
    bool is_told = false;

    if (!credentials->runs)
        return false;
    channel_make(type, note, &line);
    if (!line.failed && line.len <= LAZ_PROXY_NOTE)
        is_told = n ? laz_os_send_fds(credentials->channel, line.data, line.len, fds, n) == 0
                    : laz_os_send(credentials->channel, line.data, line.len) == (ssize_t)line.len;
    channel_wipe(&line);
    return is_told;
}

/* ---- what has to come ------------------------------------------------------------------------ */

static void channel_drop(struct laz_credentials *credentials)
{
    struct credential_unsent *first = credentials->unsent;

    credentials->unsent = first->next;
    channel_wipe(&first->line);
    free(first);
}

void credential_tell_unsent(struct laz_credentials *credentials)
{
    const bool had = credentials->unsent;

    while (credentials->runs && credentials->unsent) {
        const struct laz_buf *line = &credentials->unsent->line;
        if (laz_os_send(credentials->channel, line->data, line->len) == 0)
            return; /* it is full still */
        channel_drop(credentials);
    }
    if (had && credentials->io)
        (void)laz_io_events(credentials->io, LAZ_IO_READ);
}

void credential_tell_surely(struct laz_credentials *credentials, enum proxy_note_type type,
                            const struct proxy_note *note)
{
    struct credential_unsent *made, **last = &credentials->unsent;

    if (!credentials->runs || !(made = calloc(1, sizeof *made)))
        return;
    channel_make(type, note, &made->line);
    while (*last)
        last = &(*last)->next;
    *last = made;
    if (made->line.failed || made->line.len > LAZ_PROXY_NOTE) {
        *last = NULL;
        channel_wipe(&made->line);
        free(made);
        return;
    }
    credential_tell_unsent(credentials);
    if (credentials->unsent && credentials->io)
        (void)laz_io_events(credentials->io, LAZ_IO_READ | LAZ_IO_WRITE);
}

/* ---- its end --------------------------------------------------------------------------------- */

void credential_process_end(struct laz_credentials *credentials)
{
    struct laz_exit how;

    credentials->runs = false;
    while (credentials->unsent)
        channel_drop(credentials);
    laz_io_stop(credentials->io);
    credentials->io = NULL;
    laz_os_close(&credentials->channel); /* which ends it */
    if (credentials->process.pid > 0 &&
        !laz_process_wait(&credentials->process, CHANNEL_END_MS, &how)) {
        laz_process_signal(&credentials->process, SIGKILL);
        (void)laz_process_wait(&credentials->process, LAZ_OS_FOREVER, &how);
    }
    laz_process_close(&credentials->process);
    credentials->process = LAZ_PROCESS_INIT;
}
