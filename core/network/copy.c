/* SPDX-License-Identifier: MIT */
/* copy.c - what one side of a connection sends goes to the other one.
 * Side: host.  Input trusted: no.
 *
 * One read for an event, so that no connection keeps the loop from the others.  What the other side
 * does not take is kept, and nothing more is read until it has: the peer waits, as it would for the
 * other one itself.  An end is passed on, as is a reset. */
#include "network/running.h"

#include "os/inet.h"
#include "os/io.h"

#include <errno.h>

/* Does what the box has sent wait for the server's word on an upgrade? */
static bool copy_waits(const struct network_connection *c)
{
    return c->waits && c->sides[NETWORK_SERVER].may < c->sides[NETWORK_SERVER].out.len;
}

/* Passes ends on. */
static enum network_copied copy_settle(struct network_connection *c)
{
    for (int to = NETWORK_BOX; to <= NETWORK_SERVER; to++) {
        struct network_side *side = &c->sides[to];
        if (!c->sides[!to].ended || side->shut || side->sent < side->may ||
            (to == NETWORK_SERVER && copy_waits(c)))
            continue;
        laz_os_end_sending(side->fd);
        side->shut = true;
    }
    const bool has_ended =
        c->sides[0].ended && c->sides[0].shut && c->sides[1].ended && c->sides[1].shut;
    return !has_ended     ? NETWORK_COPY_GOES_ON
           : c->is_broken ? NETWORK_COPY_BROKEN
                          : NETWORK_COPY_ENDED;
}

/* A side takes no more: what comes for it is dropped, but what it has sent before still goes to the
 * other one. */
static enum network_copied copy_break(struct network_connection *c, int to)
{
    struct network_side *side = &c->sides[to];

    laz_buf_fini(&side->out);
    side->sent = side->may = 0;
    side->shut = side->gone = c->sides[!to].ended = c->is_broken = true;
    return c->waits ? NETWORK_COPY_BROKEN : copy_settle(c);
}

enum network_copied network_copy_to(struct network_connection *c, int to)
{
    struct network_side *side = &c->sides[to];
    const ssize_t n = side->sent < side->may ? laz_os_send(side->fd, side->out.data + side->sent,
                                                           side->may - side->sent)
                                             : 0;

    if (n < 0)
        return copy_break(c, to);
    side->sent += (size_t)n;
    c->is_active |= n > 0;
    if (side->sent == side->may) {
        if (side->may == side->out.len)
            laz_buf_fini(&side->out); /* an idle connection holds no memory */
        else
            laz_buf_drop(&side->out, side->sent);
        side->sent = side->may = 0;
    }
    return copy_settle(c);
}

/* Sends at once what the side takes, and keeps the rest. */
static enum network_copied copy_pass(struct network_connection *c, int to, const char *data,
                                     size_t len)
{
    struct network_side *side = &c->sides[to];
    const ssize_t n = side->out.len ? 0 : laz_os_send(side->fd, data, len);

    if (n < 0)
        return copy_break(c, to);
    if ((size_t)n < len)
        laz_buf_append(&side->out, data + n, len - (size_t)n);
    side->may = side->out.len;
    return side->out.failed ? NETWORK_COPY_BROKEN : copy_settle(c);
}

static enum network_copied copy_judged(struct network_connection *c, const char *data, size_t len)
{
    struct laz_buf *out = &c->sides[NETWORK_SERVER].out;

    laz_buf_append(out, data, len);
    if (out->failed || network_head_more(c) == NETWORK_HEAD_REFUSED)
        return NETWORK_COPY_BROKEN;
    return network_copy_to(c, NETWORK_SERVER);
}

enum network_copied network_copy_from(struct network_connection *c, int from)
{
    struct laz_network *network = c->network;
    char *bounce = network->shared->bounce;

    if (!(network_copy_events(c, from) & LAZ_IO_READ))
        return NETWORK_COPY_GOES_ON;
    const ssize_t n = laz_os_read(c->sides[from].fd, bounce, NETWORK_READ);
    if (n == 0)
        return NETWORK_COPY_GOES_ON;
    if (n < 0 && errno)
        return NETWORK_COPY_BROKEN;
    if (n < 0) {
        c->sides[!from].gone = false;
        c->sides[from].ended = true;
        if (from == NETWORK_SERVER && c->waits) /* what waits for its word goes nowhere */
            c->sides[NETWORK_BOX].ended = c->sides[NETWORK_SERVER].shut = true;
        return copy_settle(c);
    }
    if (from == NETWORK_BOX && c->prompt) {
        c->prompt--;
        laz_os_inet_acknowledge(c->sides[from].fd);
    }
    network->bytes[from] += (uint64_t)n;
    if (network->bytes[from] > network->rules->max_bytes)
        return NETWORK_COPY_LIMITED;
    if (c->sides[!from].gone)
        return NETWORK_COPY_GOES_ON;
    c->is_active = true;
    if (from == NETWORK_BOX && c->is_judged)
        return copy_judged(c, bounce, (size_t)n);
    if (from == NETWORK_SERVER && c->waits) {
        if (!network_head_server(c, bounce, (size_t)n))
            return NETWORK_COPY_BROKEN;
        const enum network_copied sent = network_copy_to(c, NETWORK_SERVER);
        if (sent != NETWORK_COPY_GOES_ON)
            return sent;
    }
    return copy_pass(c, !from, bounce, (size_t)n);
}

uint32_t network_copy_events(const struct network_connection *c, int at)
{
    const struct network_side *side = &c->sides[at], *other = &c->sides[!at];
    const bool reads =
        !side->ended && other->sent == other->may && !(at == NETWORK_BOX && copy_waits(c));
    const bool drops = other->gone && side->sent < side->may;

    return (reads || drops ? LAZ_IO_READ : 0) | (side->sent < side->may ? LAZ_IO_WRITE : 0);
}
