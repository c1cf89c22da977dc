/* SPDX-License-Identifier: MIT */
/* process.c - lazaret-proxy, as the engine sees it.
 * Side: host.  Input trusted: no (notes of the proxy, which reads what code and servers send).
 *
 * A proxy that has ended is started again for the next session that needs one: with another
 * authority, which the boxes of before do not know.  Their connections are refused. */
#include "credential/credential_private.h"

#include "os/descriptors.h"
#include "os/directories.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/signals.h"
#include "os/spawner.h"
#include "os/trust.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_START_MS 20000
#define PROCESS_TURN     256 /* notes that are taken at once */

int laz_credentials_check(struct laz_credentials *credentials, struct laz_error *err)
{
    const char *slash = strrchr(credentials->of.agent, '/');

    if (!credentials->program)
        credentials->program =
            laz_strdupf("%.*s/" LAZ_PROXY_PROGRAM, (int)(slash ? slash - credentials->of.agent : 0),
                        credentials->of.agent);
    if (!credentials->program)
        return laz_error_nomem(err);
    const int rc = laz_trust_file(credentials->program, err);
    if (rc)
        laz_error_prefix(err, "[[network.credential]] needs " LAZ_PROXY_PROGRAM
                              ", which builds with GnuTLS have: ");
    return rc;
}

static int process_spawn(struct laz_credentials *credentials, int theirs, struct laz_error *err)
{
    static const char *const env[] = {NULL};
    const char *const argv[] = {credentials->program, credentials->trust, NULL};
    const struct laz_spawn_fd fds[] = {{theirs, 0}, {2, 2}};
    const struct laz_spawn spawn = {LAZ_SPAWN_OWN(argv, env, fds), .death_signal = SIGKILL};

    return laz_spawner_spawn(credentials->of.spawner, &spawn, &credentials->process, err);
}

/* Waits for its first note. */
static int process_await(const struct laz_credentials *credentials, struct laz_error *err)
{
    char line[4096];
    enum proxy_note_type type;
    struct proxy_note note;

    if (!laz_os_await(credentials->channel, PROCESS_START_MS))
        return laz_error_set(err, LAZ_ETIMEOUT, 0, LAZ_PROXY_PROGRAM " does not start");
    const ssize_t n = laz_os_read(credentials->channel, line, sizeof line);
    if (n <= 0)
        return laz_error_set(err, LAZ_ESETUP, 0, LAZ_PROXY_PROGRAM " has ended at its start");
    int rc = proxy_note_parse(line, (size_t)n, false, &type, &note, err);
    if (!rc && type == PROXY_FAILED)
        rc = laz_error_set(err, LAZ_ESETUP, 0, LAZ_PROXY_PROGRAM ": %s", note.text);
    else if (!rc && type != PROXY_READY)
        rc = laz_error_set(err, LAZ_EPROTO, 0, LAZ_PROXY_PROGRAM " has begun with another note");
    proxy_note_fini(type, &note);
    return rc;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void process_wants(struct laz_credentials *credentials, const struct proxy_note *note)
{
    for (struct credential_item *item = credentials->items; item; item = item->next)
        if (item->id == note->credential) {
            credential_read(item, note->refused);
            return;
        }
}

static void process_take(struct laz_credentials *credentials, enum proxy_note_type type,
                         const struct proxy_note *note)
{
    switch (type) {
    case PROXY_WANTS:
        process_wants(credentials, note);
        break;
    case PROXY_USED:
        credential_used(credentials, note);
        break;
    case PROXY_DENIED:
        credential_denied(credentials, note);
        break;
    case PROXY_READY:
    case PROXY_FAILED:
    case PROXY_CREDENTIAL:
    case PROXY_SECRET:
    case PROXY_FORGET:
    case PROXY_CONNECTION:
    case PROXY_NOTE_TYPES:
        break;
    }
}

/* It has ended. */
static void process_gone(struct laz_credentials *credentials)
{
    laz_log(&credentials->of.driver->log, LAZ_LOG_ERROR,
            LAZ_PROXY_PROGRAM " has ended: sessions that have credentials cannot use them any "
                              "more, until they are started again");
    credential_process_end(credentials);
    for (const struct laz_credential_set *set = credentials->sets; set; set = set->next)
        if (set->number == credentials->number && set->owner.stale)
            set->owner.stale(set->owner.user);
}

/* False: there is none now. */
static bool process_hear(struct laz_credentials *credentials)
{
    char line[4096];
    enum proxy_note_type type;
    struct proxy_note note;
    const ssize_t n = credentials->runs ? laz_os_read(credentials->channel, line, sizeof line) : 0;

    if (n < 0)
        process_gone(credentials);
    if (n <= 0)
        return false;
    if (proxy_note_parse(line, (size_t)n, false, &type, &note, NULL) == 0)
        process_take(credentials, type, &note);
    proxy_note_fini(type, &note);
    return true;
}

static void process_ready(void *user, uint32_t events)
{
    (void)events;
    credential_tell_unsent(user);
    for (unsigned n = 0; n < PROCESS_TURN && process_hear(user);)
        n++;
}

void laz_credentials_catch_up(struct laz_credentials *credentials)
{
    process_ready(credentials, LAZ_IO_READ);
}

/* ---- its directory --------------------------------------------------------------------------- */

static char *process_trust(const struct laz_credentials *credentials, uint64_t number)
{
    return laz_strdupf("%s/trust-%" PRIu64, credentials->of.directory, number);
}

static bool process_is_trusted(const struct laz_credentials *credentials, uint64_t number)
{
    for (const struct laz_credential_set *set = credentials->sets; set; set = set->next)
        if (set->number == number)
            return true;
    return false;
}

/* Removes those of former proxies, but for those that the box of a session still shows. */
static void process_tidy(struct laz_credentials *credentials)
{
    bool is_first = true;

    for (uint64_t number = credentials->oldest; number <= credentials->number; number++) {
        if (!number || process_is_trusted(credentials, number)) {
            is_first &= !number;
        } else {
            char *trust = process_trust(credentials, number);
            if (trust)
                laz_os_remove_tree(trust);
            free(trust);
        }
        if (is_first)
            credentials->oldest = number + 1;
    }
}

/* ---- its life -------------------------------------------------------------------------------- */

static int process_prepare(struct laz_credentials *credentials, struct laz_error *err)
{
    free(credentials->trust);
    process_tidy(credentials);
    credentials->trust = process_trust(credentials, ++credentials->number);
    if (!credentials->trust)
        return laz_error_nomem(err);
    return laz_os_make_directory(credentials->trust, 0755, LAZ_SPAWN_SAME_ID, LAZ_SPAWN_SAME_ID,
                                 err);
}

static int process_begin(struct laz_credentials *credentials, struct laz_error *err)
{
    int ends[2] = {-1, -1};
    int rc = laz_credentials_check(credentials, err);

    if (!rc)
        rc = process_prepare(credentials, err);
    if (!rc && laz_os_message_pair(ends) != 0)
        rc = laz_error_os(err, errno, "cannot create a pair of sockets");
    if (rc)
        return rc;
    credentials->channel = ends[0];
    rc = process_spawn(credentials, ends[1], err);
    laz_os_close(&ends[1]);
    if (!rc)
        rc = process_await(credentials, err);
    if (!rc)
        rc = laz_os_nonblock(credentials->channel, true, err);
    if (!rc && !(credentials->io = laz_io_start(credentials->of.driver->loop, credentials->channel,
                                                LAZ_IO_READ, process_ready, credentials)))
        rc = laz_error_nomem(err);
    credentials->runs = !rc;
    if (rc)
        credential_process_end(credentials);
    return rc;
}

int laz_credentials_begin(struct laz_credential_set *set, struct laz_error *err)
{
    struct laz_credentials *credentials = set->credentials;

    set->number = 0;
    laz_credentials_catch_up(credentials);
    const int rc = credentials->runs ? 0 : process_begin(credentials, err);
    if (!rc)
        set->number = credentials->number;
    return rc;
}

const char *laz_credentials_trust(const struct laz_credentials *credentials)
{
    return credentials->trust;
}
