/* SPDX-License-Identifier: MIT */
/* gate.c - clients of other machines: lazaret-gate is started in front of the server, and hands
 * over those that have shown who they are (gate/gate.h).
 * Side: host.  Input trusted: no (notes of the gate, which reads what strangers send).
 *
 * The port is the server's, so that a gate that has ended can be replaced while clients wait in the
 * kernel's queue.  Its clients are lost with it, as by a network that fails. */
#include "serve/serve_private.h"

#include "base/clock.h"
#include "base/host_port.h"
#include "gate/gate.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/inet.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/signals.h"
#include "os/spawner.h"
#include "os/trust.h"
#include "plugin/plugin.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define GATE_START_MS 20000 /* in which it has read its keys */
#define GATE_AGAIN_MS 1000  /* until it is started again */
#define GATE_END_MS   1000

struct serve_gate {
    struct laz_server *first;
    struct laz_process process;
    struct laz_io *io;
    struct laz_timer *again;
    int listener, channel;
    char *program, *address;
};

static const struct laz_log *gate_log(const struct serve_gate *gate)
{
    return &gate->first->engine->driver.log;
}

/* ---- the process ----------------------------------------------------------------------------- */

static void gate_option(struct laz_strv *argv, const char *name, const char *value)
{
    if (!*value)
        return;
    laz_strv_add(argv, name);
    laz_strv_add(argv, value);
}

static void gate_number(struct laz_strv *argv, const char *name, uint64_t value)
{
    laz_strv_add(argv, name);
    laz_strv_addf(argv, "%" PRIu64, value);
}

static void gate_argv(const struct serve_gate *gate, struct laz_strv *argv)
{
    const struct laz_settings_values *values = gate->first->engine->values;

    laz_strv_add(argv, gate->program);
    laz_strv_add(argv, "--serve");
    gate_option(argv, "--certificate", values->serve.certificate);
    gate_option(argv, "--key", values->serve.key);
    gate_option(argv, "--authorities", values->serve.clients);
    gate_option(argv, "--revoked", values->serve.revoked);
    gate_option(argv, "--keys", values->serve.token_keys);
    gate_option(argv, "--audience", values->serve.audience);
    gate_number(argv, "--sessions", values->serve.max_sessions);
    gate_number(argv, "--cpu", values->serve.cpu_s);
    gate_number(argv, "--bytes", values->serve.bytes);
    gate_number(argv, "--requests", values->serve.requests);
    gate_number(argv, "--connections", values->serve.max_clients);
    gate_number(argv, "--of-one", values->serve.max_connections);
    gate_number(argv, "--handshake-ms", values->serve.handshake_timeout_ms);
}

static int gate_spawn(struct serve_gate *gate, int theirs, struct laz_error *err)
{
    static const char *const env[] = {NULL};
    const struct laz_spawn_fd fds[] = {{theirs, 0}, {2, 2}, {gate->listener, LAZ_GATE_LISTENER}};
    struct laz_strv argv = LAZ_STRV_INIT;

    gate_argv(gate, &argv);
    const struct laz_spawn spawn = {LAZ_SPAWN_OWN((const char *const *)argv.items, env, fds),
                                    .death_signal = SIGKILL};
    int rc = argv.failed ? laz_error_nomem(err) : laz_trust_file(gate->program, err);
    if (!rc)
        rc = laz_spawner_spawn(gate->first->engine->spawner, &spawn, &gate->process, err);
    laz_strv_fini(&argv);
    return rc;
}

/* Waits for its first note, by which it says whether it can work. */
static int gate_await(struct serve_gate *gate, struct laz_error *err)
{
    char line[LAZ_GATE_NOTE];
    enum gate_note_type type;
    struct gate_note note;

    if (!laz_os_await(gate->channel, GATE_START_MS))
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "%s does not start", gate->program);
    const ssize_t n = laz_os_read(gate->channel, line, sizeof line);
    if (n <= 0)
        return laz_error_set(err, LAZ_ESETUP, 0, "%s has ended at its start", gate->program);
    int rc = gate_note_parse(line, (size_t)n, false, &type, &note, err);
    if (!rc && type == GATE_FAILED)
        rc = laz_error_set(err, LAZ_ECONFIG, 0, "[serve]: %s", note.text);
    else if (!rc && type != GATE_READY)
        rc = laz_error_set(err, LAZ_EPROTO, 0, "%s has begun with another note", gate->program);
    gate_note_fini(type, &note);
    return rc;
}

static void gate_stop(struct serve_gate *gate)
{
    struct laz_exit how;

    laz_io_stop(gate->io);
    gate->io = NULL;
    laz_os_close(&gate->channel); /* which ends it */
    if (gate->process.pid > 0 && !laz_process_wait(&gate->process, GATE_END_MS, &how)) {
        laz_process_signal(&gate->process, SIGKILL);
        (void)laz_process_wait(&gate->process, LAZ_OS_FOREVER, &how);
    }
    laz_process_close(&gate->process);
    gate->process = LAZ_PROCESS_INIT;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void gate_client(struct serve_gate *gate, const struct gate_note *note, int fd)
{
    struct laz_server *first = gate->first;
    const struct laz_quota quota = gate_note_quota(note);
    struct laz_error err = {0};

    if (!laz_identity_is_valid(note->identity) || laz_os_nonblock(fd, true, &err) != 0) {
        laz_os_close(&fd);
        return;
    }
    const struct serve_peer peer = {
        .identity = laz_identity_join(&first->identities, note->identity, &quota, laz_clock_ms()),
        .expires_s = note->expires_s,
    };
    if (!peer.identity) {
        laz_os_close(&fd);
        return;
    }
    laz_log(gate_log(gate), LAZ_LOG_INFO, "%s has connected from %s", note->identity,
            note->address);
    serve_accept_place(first, fd, &peer);
}

static void gate_refused(const struct serve_gate *gate, const struct gate_note *note)
{
    if (note->count)
        laz_log(gate_log(gate), LAZ_LOG_WARNING,
                "%s was refused: %s (and %" PRId64 " others before)", note->address, note->text,
                note->count);
    else
        laz_log(gate_log(gate), LAZ_LOG_WARNING, "%s was refused: %s", note->address, note->text);
}

static bool gate_take_note(struct serve_gate *gate)
{
    char line[LAZ_GATE_NOTE];
    int fds[LAZ_OS_HANDOVER];
    size_t n_fds = 0;
    enum gate_note_type type;
    struct gate_note note;
    const ssize_t n = laz_os_receive(gate->channel, line, sizeof line, fds, &n_fds);

    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    const bool has_one = n_fds == 1;
    if (gate_note_parse(line, (size_t)n, false, &type, &note, NULL) == 0) {
        if (type == GATE_CLIENT && has_one) {
            gate_client(gate, &note, fds[0]);
            n_fds = 0;
        } else if (type == GATE_CLIENT) {
            laz_log(gate_log(gate), LAZ_LOG_WARNING,
                    "%s cannot be served: this process has too many open files", note.identity);
        } else if (type == GATE_REFUSED) {
            gate_refused(gate, &note);
        }
    }
    gate_note_fini(type, &note);
    for (size_t i = 0; n_fds != LAZ_OS_CUT && i < n_fds; i++)
        laz_os_close(&fds[i]);
    return true;
}

static void gate_ready(void *user, uint32_t events)
{
    struct serve_gate *gate = user;

    (void)events;
    if (gate_take_note(gate))
        return;
    laz_log(gate_log(gate), LAZ_LOG_ERROR, "%s has ended; it is started again", LAZ_GATE_PROGRAM);
    gate_stop(gate);
    laz_health_set("lazaret-gate has ended");
    laz_timer_start(gate->again, GATE_AGAIN_MS);
}

/* ---- making ---------------------------------------------------------------------------------- */

static int gate_start(struct serve_gate *gate, struct laz_error *err)
{
    int ends[2];

    if (laz_os_message_pair(ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    gate->channel = ends[0];
    int rc = gate_spawn(gate, ends[1], err);
    laz_os_close(&ends[1]);
    if (!rc)
        rc = gate_await(gate, err);
    if (!rc)
        rc = laz_os_nonblock(gate->channel, true, err);
    if (!rc &&
        !(gate->io = laz_io_start(gate->first->loop, gate->channel, LAZ_IO_READ, gate_ready, gate)))
        rc = laz_error_nomem(err);
    if (rc)
        gate_stop(gate);
    return rc;
}

static void gate_again(void *user)
{
    struct serve_gate *gate = user;
    struct laz_error err = {0};

    if (gate_start(gate, &err) == 0) {
        laz_health_set(NULL);
        return;
    }
    laz_log(gate_log(gate), LAZ_LOG_ERROR, "%s", err.text);
    laz_timer_start(gate->again, GATE_AGAIN_MS);
}

static int gate_listen(struct serve_gate *gate, const char *address, struct laz_error *err)
{
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (!laz_host_port(address, host, &port))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--listen: 'tls://%.100s' is not tls://ADDRESS:PORT", address);
    int rc = laz_os_inet_listen(host, &port, &gate->listener, err);
    if (rc)
        return rc;
    gate->address =
        laz_strdupf(strchr(host, ':') ? "tls://[%s]:%u" : "tls://%s:%u", host, (unsigned)port);
    return gate->address ? 0 : laz_error_nomem(err);
}

int serve_gate_begin(struct laz_server *first, const char *address, struct laz_error *err)
{
    const struct laz_settings_values *values = first->engine->values;
    struct serve_gate *gate = calloc(1, sizeof *gate);

    if (!gate)
        return laz_error_nomem(err);
    first->gate = gate;
    gate->first = first;
    gate->listener = gate->channel = -1;
    gate->process = LAZ_PROCESS_INIT;
    if (!*values->serve.certificate || !*values->serve.key)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "--listen tls:// needs serve.certificate and serve.key");
    if (!*values->serve.clients && !*values->serve.token_keys)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "--listen tls:// needs serve.clients (certificates) or "
                             "serve.token_keys (tokens): otherwise nobody could connect");
    gate->program = gate_program(first->engine->agent);
    gate->again = laz_timer_new(first->loop, gate_again, gate);
    int rc = gate->program && gate->again ? gate_listen(gate, address, err) : laz_error_nomem(err);
    return rc ? rc : gate_start(gate, err);
}

const char *serve_gate_address(const struct laz_server *first)
{
    return first->gate ? first->gate->address : NULL;
}

void serve_gate_end(struct laz_server *first)
{
    struct serve_gate *gate = first->gate;

    if (!gate)
        return;
    gate_stop(gate);
    laz_health_set(NULL);
    laz_timer_stop(gate->again);
    laz_os_close(&gate->listener);
    free(gate->program);
    free(gate->address);
    free(gate);
    first->gate = NULL;
}
