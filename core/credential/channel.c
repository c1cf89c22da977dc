/* SPDX-License-Identifier: MIT */
/* channel.c - the connection to lazaret-proxy: what it is told, and its end.
 * Side: host.  Input trusted: yes (what the engine tells). */
#include "credential/credential_private.h"

#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/signals.h"

#include <signal.h>

#define CHANNEL_END_MS 1000

bool credential_tell(struct laz_credentials *credentials, enum proxy_note_type type,
                     const struct proxy_note *note, const int *fds, size_t n)
{
    struct laz_buf line = LAZ_BUF_INIT;
    bool is_told = false;

    if (!credentials->runs)
        return false;
    laz_buf_reserve(&line, note->text_len * 6 + 4096); /* so that a secret is not moved about */
    proxy_note_make(type, note, &line);
    if (!line.failed && line.len <= LAZ_PROXY_NOTE)
        is_told = n ? laz_os_send_fds(credentials->channel, line.data, line.len, fds, n) == 0
                    : laz_os_send(credentials->channel, line.data, line.len) == (ssize_t)line.len;
    if (line.data)
        laz_wipe(line.data, line.len);
    laz_buf_fini(&line);
    return is_told;
}

void credential_process_end(struct laz_credentials *credentials)
{
    struct laz_exit how;

    credentials->runs = false;
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
