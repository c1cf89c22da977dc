/* SPDX-License-Identifier: MIT */
/* gate.c - clients of other machines: lazaret-gate is started in front of the server, and hands
 * over those that have shown who they are (gate/gate.h).
 * Side: host.  Input trusted: no (notes of the gate, which reads what strangers send).
 *
 * The port is the server's, so that a gate that has ended can be replaced while clients wait in the
 * kernel's queue.  Its clients are lost with it, as by a network that fails.
 *
 * A gate has read its files before it is confined, and cannot read them again.  Where one of them
 * has changed (a certificate was renewed, one more is revoked) another gate begins, and takes who
 * comes from then on; the one before keeps its clients, and ends with the last of them. */
#include "serve/serve_private.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/host_port.h"
#include "gate/gate.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/files.h"
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
#define GATE_LOOK_MS  5000 /* until its files are looked at again */
#define GATE_FILES    5

struct gate_process {
    struct gate_process *next; /* those that retire */
    struct serve_gate *gate;
    struct laz_process process;
    struct laz_io *io;
    int channel;
};

struct serve_gate {
    struct laz_server *first;
    struct gate_process *present; /* which accepts; NULL: it has ended */
    struct gate_process *retired; /* which have clients still */
    struct laz_timer *again, *look;
    struct laz_look files[GATE_FILES]; /* as they were when they were read, or tried, last */
    int listener;
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

static int gate_spawn(struct gate_process *process, int theirs, struct laz_error *err)
{
    static const char *const env[] = {NULL};
    const struct serve_gate *gate = process->gate;
    const struct laz_spawn_fd fds[] = {{theirs, 0}, {2, 2}, {gate->listener, LAZ_GATE_LISTENER}};
    struct laz_strv argv = LAZ_STRV_INIT;

    gate_argv(gate, &argv);
    const struct laz_spawn spawn = {LAZ_SPAWN_OWN((const char *const *)argv.items, env, fds),
                                    .death_signal = SIGKILL};
    int rc = argv.failed ? laz_error_nomem(err) : laz_trust_file(gate->program, err);
    if (!rc)
        rc = laz_spawner_spawn(gate->first->engine->spawner, &spawn, &process->process, err);
    laz_strv_fini(&argv);
    return rc;
}

/* Waits for its first note, by which it says whether it can work. */
static int gate_await(const struct gate_process *process, struct laz_error *err)
{
    const char *program = process->gate->program;
    char line[LAZ_GATE_NOTE];
    enum gate_note_type type;
    struct gate_note note;

    if (!laz_os_await(process->channel, GATE_START_MS))
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "%s does not start", program);
    const ssize_t n = laz_os_read(process->channel, line, sizeof line);
    if (n <= 0)
        return laz_error_set(err, LAZ_ESETUP, 0, "%s has ended at its start", program);
    int rc = gate_note_parse(line, (size_t)n, false, &type, &note, err);
    if (!rc && type == GATE_FAILED)
        rc = laz_error_set(err, LAZ_ECONFIG, 0, "[serve]: %s", note.text);
    else if (!rc && type != GATE_READY)
        rc = laz_error_set(err, LAZ_EPROTO, 0, "%s has begun with another note", program);
    gate_note_fini(type, &note);
    return rc;
}

/* Ends it, with its clients. NULL is allowed. */
static void gate_stop(struct gate_process *process)
{
    struct laz_exit how;

    if (!process)
        return;
    laz_io_stop(process->io);
    laz_os_close(&process->channel); /* which ends it */
    if (process->process.pid > 0 && !laz_process_wait(&process->process, GATE_END_MS, &how)) {
        laz_process_signal(&process->process, SIGKILL);
        (void)laz_process_wait(&process->process, LAZ_OS_FOREVER, &how);
    }
    laz_process_close(&process->process);
    free(process);
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

static bool gate_take_note(const struct gate_process *process)
{
    struct serve_gate *gate = process->gate;
    char line[LAZ_GATE_NOTE];
    int fds[LAZ_OS_HANDOVER];
    size_t n_fds = 0;
    enum gate_note_type type;
    struct gate_note note;
    const ssize_t n = laz_os_receive(process->channel, line, sizeof line, fds, &n_fds);

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
    struct gate_process *process = user;
    struct serve_gate *gate = process->gate;

    (void)events;
    if (gate_take_note(process))
        return;
    if (process == gate->present) {
        laz_log(gate_log(gate), LAZ_LOG_ERROR, "%s has ended; it is started again",
                LAZ_GATE_PROGRAM);
        gate->present = NULL;
        laz_health_set("lazaret-gate has ended");
        laz_timer_start(gate->again, GATE_AGAIN_MS);
    } else {
        LAZ_LIST_REMOVE(gate->retired, process);
    }
    gate_stop(process);
}

/* ---- its files ------------------------------------------------------------------------------- */

/* Notes what the files are now. True: one of them is another than before. */
static bool gate_look(struct serve_gate *gate)
{
    const struct laz_settings_values *values = gate->first->engine->values;
    const char *const files[GATE_FILES] = {values->serve.certificate, values->serve.key,
                                           values->serve.clients, values->serve.revoked,
                                           values->serve.token_keys};
    bool has_changed = false;

    for (size_t i = 0; i < GATE_FILES; i++) {
        struct laz_look now = {.size = 0}, *before = &gate->files[i];
        if (!*files[i] || laz_os_look(files[i], true, &now) != 0)
            now = (struct laz_look){.size = 0};
        has_changed |= now.inode != before->inode || now.device != before->device ||
                       now.size != before->size || now.written_ns != before->written_ns ||
                       now.changed_ns != before->changed_ns;
        *before = now;
    }
    return has_changed;
}

/* ---- making ---------------------------------------------------------------------------------- */

static int gate_begin_process(struct gate_process *process, struct laz_error *err)
{
    struct serve_gate *gate = process->gate;
    int ends[2];

    if (laz_os_message_pair(ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    process->channel = ends[0];
    int rc = gate_spawn(process, ends[1], err);
    laz_os_close(&ends[1]);
    if (!rc)
        rc = gate_await(process, err);
    if (!rc)
        rc = laz_os_nonblock(process->channel, true, err);
    if (!rc && !(process->io = laz_io_start(gate->first->loop, process->channel, LAZ_IO_READ,
                                            gate_ready, process)))
        rc = laz_error_nomem(err);
    return rc;
}

/* Another one accepts from now on. One that did before accepts no more; an error leaves it. */
static int gate_start(struct serve_gate *gate, struct laz_error *err)
{
    struct gate_process *process = calloc(1, sizeof *process), *before = gate->present;

    if (!process)
        return laz_error_nomem(err);
    *process = (struct gate_process){.gate = gate, .process = LAZ_PROCESS_INIT, .channel = -1};
    (void)gate_look(gate); /* before they are read: what changes meanwhile is seen */
    const int rc = gate_begin_process(process, err);
    if (rc) {
        gate_stop(process);
        return rc;
    }
    gate->present = process;
    if (!before)
        return 0;
    before->next = gate->retired;
    gate->retired = before;
    (void)laz_os_send(before->channel, LAZ_GATE_RETIRE, strlen(LAZ_GATE_RETIRE));
    return 0;
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

static void gate_due(void *user)
{
    struct serve_gate *gate = user;
    struct laz_error err = {0};

    if (gate->present && gate_look(gate)) {
        if (gate_start(gate, &err) == 0)
            laz_log(gate_log(gate), LAZ_LOG_INFO,
                    "files of [serve] have changed, and were read again");
        else
            laz_log(gate_log(gate), LAZ_LOG_ERROR,
                    "files of [serve] have changed, and what they were stays in force: %s",
                    err.text);
    }
    laz_timer_start(gate->look, GATE_LOOK_MS);
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
    gate->listener = -1;
    if (!*values->serve.certificate || !*values->serve.key)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "--listen tls:// needs serve.certificate and serve.key");
    if (!*values->serve.clients && !*values->serve.token_keys)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "--listen tls:// needs serve.clients (certificates) or "
                             "serve.token_keys (tokens): otherwise nobody could connect");
    gate->program = gate_program(first->engine->agent);
    gate->again = laz_timer_new(first->loop, gate_again, gate);
    gate->look = laz_timer_new(first->loop, gate_due, gate);
    int rc = gate->program && gate->again && gate->look ? gate_listen(gate, address, err)
                                                        : laz_error_nomem(err);
    if (!rc)
        rc = gate_start(gate, err);
    if (!rc)
        laz_timer_start(gate->look, GATE_LOOK_MS);
    return rc;
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
    gate_stop(gate->present);
    while (gate->retired) {
        struct gate_process *process = gate->retired;
        gate->retired = process->next;
        gate_stop(process);
    }
    laz_health_set(NULL);
    laz_timer_stop(gate->again);
    laz_timer_stop(gate->look);
    laz_os_close(&gate->listener);
    free(gate->program);
    free(gate->address);
    free(gate);
    first->gate = NULL;
}
