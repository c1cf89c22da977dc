/* SPDX-License-Identifier: MIT */
/* pump.c - bytes between TLS and a plain connection, both ways, without waiting.
 * Side: gate.  Input trusted: no.
 *
 * At most one record each way waits in memory: what the reader does not take is not read from the
 * writer.  A pump is no parser, so nothing in it depends on what the bytes are. */
#include "gate/gate_private.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/inet.h"
#include "os/io.h"

#include <string.h>

#define PUMP_ROUNDS 16 /* in a turn, so that the others have theirs */
#define PUMP_KEPT   ((size_t)4 << 10)

static void pump_turn(struct gate_pump *pump);
static void pump_over(struct gate_pump *pump, const char *why);

#define PUMP_WATCHES (LAZ_IO_READ | LAZ_IO_WRITE) /* else a lost connection only */

/* What the plain side has left can still be read when it is gone; so as not to be told again and
 * again, it is not watched any more. */
static void pump_net_ready(void *user, uint32_t events)
{
    struct gate_pump *pump = user;

    (void)events;
    if (pump->net_watched & PUMP_WATCHES)
        pump_turn(pump);
    else
        pump_over(pump, "the connection is lost");
}

static void pump_in_ready(void *user, uint32_t events)
{
    struct gate_pump *pump = user;

    (void)events;
    if (!(pump->in_watched & PUMP_WATCHES)) {
        laz_io_stop(pump->in_io);
        pump->in_io = NULL;
    }
    pump_turn(pump);
}

static void pump_out_ready(void *user, uint32_t events)
{
    struct gate_pump *pump = user;

    (void)events;
    if (pump->out_watched & PUMP_WATCHES)
        pump_turn(pump);
    else
        pump_over(pump, "the reader is gone");
}

static void pump_due(void *user)
{
    pump_turn(user);
}

/* Bytes have flowed. 0, or the milliseconds in which none may. */
static void pump_count(struct gate_pump *pump, size_t n)
{
    if (pump->identity)
        laz_identity_used(pump->identities, pump->identity, LAZ_QUOTA_BYTES, (uint64_t)n * 1000,
                          laz_clock_ms());
}

static uint64_t pump_held_ms(const struct gate_pump *pump)
{
    return pump->identity ? laz_identity_use(pump->identities, pump->identity, LAZ_QUOTA_BYTES, 0,
                                             laz_clock_ms())
                          : 0;
}

static void pump_forget(struct laz_buf *buf, size_t *sent)
{
    if (buf->cap > PUMP_KEPT)
        laz_buf_fini(buf);
    laz_buf_clear(buf);
    *sent = 0;
}

/* ---- one step of each kind: true, something has moved -----------------------------------------
 */

/* From TLS. NULL: all is well. */
static const char *pump_receive(struct gate_pump *pump, char *record, bool *moved)
{
    if (pump->net_ended || pump->up.len)
        return NULL;
    const ssize_t n = gnutls_record_recv(pump->tls, record, GATE_RECORD);
    if (n > 0) {
        laz_buf_append(&pump->up, record, (size_t)n);
        pump_count(pump, (size_t)n);
        *moved = true;
        return pump->up.failed ? "out of memory" : NULL;
    }
    if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
        return NULL;
    if (n == 0 || n == GNUTLS_E_PREMATURE_TERMINATION) {
        /* a connection that was cut: the rest of a line is no line, so nothing is taken for whole
         */
        pump->net_ended = true;
        *moved = true;
        return NULL;
    }
    return gnutls_error_is_fatal((int)n) ? gnutls_strerror((int)n) : NULL;
}

/* Does what comes begin with a refusal? The type of a message is its first member. */
static bool pump_is_refusal(const char *data, size_t len)
{
    static const char word[] = "failed";
    const char *colon = memchr(data, ':', len < 16 ? len : 16);
    const size_t left = colon ? len - (size_t)(colon - data) : 0;

    return left > sizeof word + 1 && memcmp(colon + 2, word, sizeof word - 1) == 0;
}

static const char *pump_deliver(struct gate_pump *pump, bool *moved)
{
    if (!pump->up.len)
        return NULL;
    const char *data = pump->up.data + pump->up_sent;
    const size_t len = pump->up.len - pump->up_sent;
    if (!pump->has_said)
        pump->is_refusal = pump_is_refusal(data, len);
    pump->has_said = true;
    const ssize_t n =
        pump->is_pipe ? laz_os_send_pipe(pump->out, data, len) : laz_os_send(pump->out, data, len);
    if (n < 0)
        return "the reader is gone";
    pump->up_sent += (size_t)n;
    *moved |= n > 0;
    if (pump->up_sent == pump->up.len)
        pump_forget(&pump->up, &pump->up_sent);
    return NULL;
}

static const char *pump_read(struct gate_pump *pump, char *record, bool *moved)
{
    if (pump->in_ended || pump->down.len)
        return NULL;
    const ssize_t n = laz_os_read(pump->in, record, GATE_RECORD);
    if (n < 0) {
        pump->in_ended = true;
        *moved = true;
    } else if (n > 0) {
        laz_buf_append(&pump->down, record, (size_t)n);
        pump_count(pump, (size_t)n);
        *moved = true;
    }
    return pump->down.failed ? "out of memory" : NULL;
}

static const char *pump_send(struct gate_pump *pump, bool *moved)
{
    pump->net_wants = false;
    if (!pump->down.len)
        return NULL;
    const ssize_t n = gnutls_record_send(pump->tls, pump->down.data + pump->down_sent,
                                         pump->down.len - pump->down_sent);
    if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED) {
        pump->net_wants = true;
        return NULL;
    }
    if (n < 0)
        return gnutls_strerror((int)n);
    pump->down_sent += (size_t)n;
    *moved = true;
    if (pump->down_sent == pump->down.len)
        pump_forget(&pump->down, &pump->down_sent);
    return NULL;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

static bool pump_watch_one(struct laz_io *io, uint32_t events, uint32_t *watched)
{
    const uint32_t wanted = events ? events : LAZ_IO_GONE;
    const bool is_same = wanted == *watched;

    *watched = wanted;
    return is_same || !io || laz_io_events(io, wanted);
}

/* Watches for what can come next. */
static bool pump_watch(struct gate_pump *pump, bool is_held)
{
    const bool same = pump->in == pump->out;
    const uint32_t net = (!is_held && !pump->net_ended && !pump->up.len ? LAZ_IO_READ : 0) |
                         (pump->net_wants ? LAZ_IO_WRITE : 0),
                   in = !is_held && !pump->in_ended && !pump->down.len ? LAZ_IO_READ : 0,
                   out = pump->up.len ? LAZ_IO_WRITE : 0;

    return pump_watch_one(pump->net_io, net, &pump->net_watched) &&
           pump_watch_one(pump->in_io, same ? in | out : in, &pump->in_watched) &&
           (same || pump_watch_one(pump->out_io, out, &pump->out_watched));
}

static void pump_over(struct gate_pump *pump, const char *why)
{
    void (*ended)(void *user, const char *why) = pump->ended;

    pump->ended = NULL;
    if (ended)
        ended(pump->user, why);
}

/* One end has nothing more to say, and all of it has arrived: the other end learns that. True: both
 * are done. */
static bool pump_pass_ends(struct gate_pump *pump)
{
    const bool up_done = pump->net_ended && !pump->up.len,
               down_done = pump->in_ended && !pump->down.len;

    if (up_done && pump->in == pump->out && !pump->passed)
        laz_os_end_sending(pump->out);
    pump->passed = up_done;
    if (pump->in == pump->out)
        return down_done; /* the server has ended the connection */
    if (down_done && !pump->passed_down)
        (void)gnutls_bye(pump->tls, GNUTLS_SHUT_WR);
    pump->passed_down = down_done;
    return up_done; /* a client has nothing to say to a server that has gone */
}

static void pump_turn(struct gate_pump *pump)
{
    char record[GATE_RECORD];
    const char *why = NULL;
    bool moved = true;
    uint64_t held_ms = 0;

    for (int i = 0; i < PUMP_ROUNDS && moved && !why; i++) {
        moved = false;
        held_ms = pump_held_ms(pump);
        if (!held_ms)
            why = pump_receive(pump, record, &moved);
        if (!why)
            why = pump_deliver(pump, &moved);
        if (!why && !held_ms)
            why = pump_read(pump, record, &moved);
        if (!why)
            why = pump_send(pump, &moved);
    }
    const bool is_over = !why && pump_pass_ends(pump);
    if (!why && !is_over && !pump_watch(pump, held_ms))
        why = "a descriptor cannot be watched";
    if (why || is_over) {
        pump_over(pump, why);
        return;
    }
    if (held_ms)
        laz_timer_start(pump->timer, held_ms);
    else if (moved || (!pump->up.len && gnutls_record_check_pending(pump->tls)))
        laz_timer_start(pump->timer, 0);
}

int gate_pump_begin(struct gate_pump *pump, const void *first, size_t len, struct laz_error *err)
{
    laz_buf_append(&pump->up, first, len);
    pump->timer = laz_timer_new(pump->loop, pump_due, pump);
    pump->net_io = laz_io_start(pump->loop, pump->net, 0, pump_net_ready, pump);
    pump->in_io = laz_io_start(pump->loop, pump->in, 0, pump_in_ready, pump);
    const bool is_watched = pump->in != pump->out && laz_os_is_stream(pump->out);
    if (is_watched) /* a file takes all at any time, and cannot be watched (epoll_ctl(2), EPERM) */
        pump->out_io = laz_io_start(pump->loop, pump->out, 0, pump_out_ready, pump);
    if (!pump->timer || !pump->net_io || !pump->in_io || (is_watched && !pump->out_io) ||
        pump->up.failed)
        return laz_error_nomem(err);
    laz_timer_start(pump->timer, 0);
    return 0;
}

void gate_pump_end(struct gate_pump *pump)
{
    pump->ended = NULL;
    laz_timer_stop(pump->timer);
    laz_io_stop(pump->net_io);
    laz_io_stop(pump->in_io);
    laz_io_stop(pump->out_io);
    laz_buf_fini(&pump->up);
    laz_buf_fini(&pump->down);
    *pump = (struct gate_pump){.net = -1, .in = -1, .out = -1};
}
