/* SPDX-License-Identifier: MIT */
/* bus.c - events of the bus in memory: a heap of them by time, and the network that loses some.
 *
 * Messages of one connection keep their order, unless the chance of `reorder` has one come late. An
 * event of a paused connection waits in a list of its own, in order, and goes back to the heap
 * under its old number. */
#include "bus.h"

#include <stdlib.h>
#include <string.h>

enum event_type {
    EVENT_MESSAGE,
    EVENT_NOBODY,
    EVENT_TIMER,
    EVENT_CONNECTED,
    EVENT_DISCONNECTED,
    EVENT_DRAINED
};

struct bus_event {
    enum event_type type;
    uint64_t seq;
    struct bus_event *next; /* of those that wait for a paused connection */
    struct bus_port *port;  /* NULL: of nobody */
    struct bus_sub *sub;
    void (*due)(void *user);
    void *user;
    const char *subject, *reply, *data; /* behind the struct */
    size_t len;
};

struct heap_item {
    uint64_t when, seq;
    struct bus_event *event;
};

struct bus_port {
    struct bus *bus;
    struct bus_calls calls;
    void *user;
    struct bus_sub *subs;
    struct bus_port *next, **back;
    struct bus_event *waiting, **waiting_end;
    size_t pending;   /* events of it */
    uint64_t last_us; /* when its last message arrives */
    bool is_dead, is_connected, is_paused, cut_out, cut_in;
};

struct bus {
    struct bus_faults faults;
    struct bus_topics *topics;
    struct bus_port *ports;
    struct heap_item *heap;
    size_t n, cap;
    uint64_t now, seq, random;
    struct bus_counts counts;
};

/* ---- chance ---------------------------------------------------------------------------------- */

uint64_t bus_random(struct bus *bus)
{
    uint64_t z = bus->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool bus_chance(struct bus *bus, uint32_t per_mille)
{
    return per_mille && bus_random(bus) % 1000 < per_mille;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool heap_less(const struct heap_item *a, const struct heap_item *b)
{
    return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static bool heap_push(struct bus *bus, uint64_t when, struct bus_event *event)
{
    if (bus->n == bus->cap) {
        const size_t cap = bus->cap ? bus->cap * 2 : 256;
        struct heap_item *heap = realloc(bus->heap, cap * sizeof *heap);
        if (!heap)
            return false;
        bus->heap = heap;
        bus->cap = cap;
    }
    const struct heap_item item = {when, event->seq, event};
    size_t at = bus->n++;
    for (size_t up = (at - 1) / 2; at && heap_less(&item, &bus->heap[up]); up = (at - 1) / 2) {
        bus->heap[at] = bus->heap[up];
        at = up;
    }
    bus->heap[at] = item;
    return true;
}

static struct bus_event *heap_pop(struct bus *bus)
{
    struct bus_event *event = bus->heap[0].event;
    const struct heap_item last = bus->heap[--bus->n];
    size_t at = 0;

    for (size_t down = 1; down < bus->n; down = at * 2 + 1) {
        if (down + 1 < bus->n && heap_less(&bus->heap[down + 1], &bus->heap[down]))
            down++;
        if (!heap_less(&bus->heap[down], &last))
            break;
        bus->heap[at] = bus->heap[down];
        at = down;
    }
    bus->heap[at] = last;
    return event;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

struct bus *bus_new(const struct bus_faults *faults)
{
    struct bus *bus = calloc(1, sizeof *bus);

    if (!bus)
        return NULL;
    bus->topics = bus_topics_new();
    if (!bus->topics) {
        free(bus);
        return NULL;
    }
    bus->faults = *faults;
    bus->random = faults->seed;
    return bus;
}

void bus_set_faults(struct bus *bus, const struct bus_faults *faults)
{
    bus->faults = *faults;
}

struct bus_counts bus_counts(const struct bus *bus)
{
    return bus->counts;
}

static void port_let_go(struct bus_port *port)
{
    if (port->is_dead && !port->pending)
        free(port);
}

/* Nobody has the subscription any more. */
static void sub_let_go(struct bus_sub *sub)
{
    if (sub->is_dead && !sub->pending)
        free(sub);
}

static void event_free(struct bus_event *event)
{
    if (event->sub) {
        event->sub->pending--;
        sub_let_go(event->sub);
    }
    if (event->port) {
        event->port->pending--;
        port_let_go(event->port);
    }
    free(event);
}

static void sub_unlink(struct bus_sub *sub)
{
    *sub->back = sub->next;
    if (sub->next)
        sub->next->back = sub->back;
    sub->is_dead = true;
}

void bus_port_free(struct bus_port *port)
{
    struct bus *bus = port->bus;

    port->pending++; /* until the end of this function */
    while (port->subs) {
        struct bus_sub *sub = port->subs;
        bus_topics_remove(bus->topics, sub);
        sub_unlink(sub);
        sub_let_go(sub);
    }
    *port->back = port->next;
    if (port->next)
        port->next->back = port->back;
    port->is_dead = true;
    while (port->waiting) {
        struct bus_event *event = port->waiting;
        port->waiting = event->next;
        event_free(event);
    }
    port->pending--;
    port_let_go(port);
}

void bus_free(struct bus *bus)
{
    if (!bus)
        return;
    while (bus->ports)
        bus_port_free(bus->ports);
    while (bus->n)
        event_free(heap_pop(bus));
    bus_topics_free(bus->topics);
    free(bus->heap);
    free(bus);
}

/* ---- events ---------------------------------------------------------------------------------- */

static char *event_text(struct bus_event *event, char *at, const char **text, const char *from)
{
    (void)event;
    if (!from)
        return at;
    const size_t size = strlen(from) + 1;
    memcpy(at, from, size);
    *text = at;
    return at + size;
}

/* An event with copies of all that; NULL: out of memory. */
static struct bus_event *event_new(struct bus *bus, enum event_type type, struct bus_port *port,
                                   struct bus_sub *sub, const char *subject, const char *reply,
                                   const void *data, size_t len)
{
    const size_t texts = (subject ? strlen(subject) + 1 : 0) + (reply ? strlen(reply) + 1 : 0);
    struct bus_event *event = malloc(sizeof *event + texts + len + 1);

    if (!event)
        return NULL;
    *event = (struct bus_event){.type = type, .seq = ++bus->seq, .port = port, .sub = sub};
    char *at = (char *)(event + 1);
    at = event_text(event, at, &event->subject, subject);
    at = event_text(event, at, &event->reply, reply);
    if (len)
        memcpy(at, data, len);
    at[len] = '\0';
    event->data = at;
    event->len = len;
    if (port)
        port->pending++;
    if (sub)
        sub->pending++;
    return event;
}

static bool event_add(struct bus *bus, uint64_t when, struct bus_event *event)
{
    if (event && heap_push(bus, when, event))
        return true;
    if (event)
        event_free(event);
    return false;
}

bool bus_at(struct bus *bus, struct bus_port *port, uint64_t when_us, void (*due)(void *user),
            void *user)
{
    struct bus_event *event = event_new(bus, EVENT_TIMER, port, NULL, NULL, NULL, NULL, 0);

    if (event) {
        event->due = due;
        event->user = user;
    }
    return event_add(bus, when_us > bus->now ? when_us : bus->now, event);
}

/* ---- connections ----------------------------------------------------------------------------- */

struct bus_port *bus_port_new(struct bus *bus, const struct bus_calls *calls, void *user)
{
    struct bus_port *port = calloc(1, sizeof *port);

    if (!port)
        return NULL;
    port->bus = bus;
    port->calls = *calls;
    port->user = user;
    port->is_connected = true;
    port->waiting_end = &port->waiting;
    port->next = bus->ports;
    port->back = &bus->ports;
    if (bus->ports)
        bus->ports->back = &port->next;
    bus->ports = port;
    event_add(bus, bus->now, event_new(bus, EVENT_CONNECTED, port, NULL, NULL, NULL, NULL, 0));
    return port;
}

void bus_port_cut(struct bus_port *port, bool out, bool in)
{
    port->cut_out = out;
    port->cut_in = in;
}

void bus_port_connect(struct bus_port *port, bool is_connected)
{
    struct bus *bus = port->bus;

    if (port->is_connected == is_connected)
        return;
    port->is_connected = is_connected;
    event_add(bus, bus->now,
              event_new(bus, is_connected ? EVENT_CONNECTED : EVENT_DISCONNECTED, port, NULL, NULL,
                        NULL, NULL, 0));
}

void bus_port_pause(struct bus_port *port, bool is_paused)
{
    struct bus_event *event = port->waiting;

    port->is_paused = is_paused;
    if (is_paused)
        return;
    port->waiting = NULL;
    port->waiting_end = &port->waiting;
    for (struct bus_event *next; event; event = next) {
        next = event->next;
        event->next = NULL;
        if (event->type == EVENT_TIMER)
            event->seq = ++port->bus->seq;
        event_add(port->bus, port->bus->now, event);
    }
}

/* ---- subscriptions and messages -------------------------------------------------------------- */

struct bus_sub *bus_subscribe(struct bus_port *port, const char *subject, const char *queue,
                              bus_received received, void *user)
{
    struct bus_sub *sub = calloc(1, sizeof *sub);

    if (!sub)
        return NULL;
    sub->port = port;
    sub->received = received;
    sub->user = user;
    if (!bus_topics_add(port->bus->topics, sub, subject, queue)) {
        free(sub);
        return NULL;
    }
    sub->next = port->subs;
    sub->back = &port->subs;
    if (port->subs)
        port->subs->back = &sub->next;
    port->subs = sub;
    return sub;
}

/* Nothing is on its way to a subscription that was given up. */
static void sub_drained(struct bus_sub *sub)
{
    struct bus *bus = sub->port->bus;
    struct bus_event *event = event_new(bus, EVENT_DRAINED, sub->port, NULL, NULL, NULL, NULL, 0);

    if (event) {
        event->due = sub->drained;
        event->user = sub->drained_user;
    }
    event_add(bus, bus->now, event);
    sub->drains = false;
    sub_unlink(sub);
}

void bus_unsubscribe(struct bus_sub *sub, void (*drained)(void *user), void *user)
{
    bus_topics_remove(sub->port->bus->topics, sub);
    sub->drained = drained;
    sub->drained_user = user;
    sub->drains = true;
    if (sub->pending)
        return;
    sub_drained(sub);
    sub_let_go(sub);
}

static bool sub_is_there(const struct bus_sub *sub)
{
    return sub->port->is_connected;
}

struct bus_sending {
    struct bus *bus;
    struct bus_port *from;
    const char *subject, *reply;
    const void *data;
    size_t len;
    bool failed;
};

/* When a message of the connection arrives. */
static uint64_t port_arrives(struct bus_port *port)
{
    struct bus *bus = port->bus;
    const struct bus_faults *faults = &bus->faults;
    const uint64_t jitter = faults->jitter_us ? bus_random(bus) % (faults->jitter_us + 1) : 0;
    uint64_t when = bus->now + faults->delay_us + jitter;

    if (bus_chance(bus, faults->reorder)) /* others overtake it */
        return when + (faults->delay_us + faults->jitter_us + 1) * (1 + bus_random(bus) % 4);
    if (when < port->last_us)
        when = port->last_us;
    port->last_us = when;
    return when;
}

static void send_to(void *user, struct bus_sub *sub)
{
    struct bus_sending *sending = user;
    struct bus *bus = sending->bus;

    for (int n = bus_chance(bus, bus->faults.duplicate) ? 2 : 1; n; n--) {
        if (bus_chance(bus, bus->faults.drop)) {
            bus->counts.lost++;
            continue;
        }
        struct bus_event *event = event_new(bus, EVENT_MESSAGE, sub->port, sub, sending->subject,
                                            sending->reply, sending->data, sending->len);
        sending->failed |= !event_add(bus, port_arrives(sending->from), event);
    }
}

bool bus_send(struct bus_port *port, const char *subject, const char *reply, const void *data,
              size_t len)
{
    struct bus *bus = port->bus;
    struct bus_sending sending = {bus, port, subject, reply, data, len, false};

    bus->counts.sent++;
    bus->counts.bytes += len;
    if (port->cut_out || !port->is_connected) {
        bus->counts.lost++;
        return true;
    }
    if (bus_topics_match(bus->topics, bus, subject, sub_is_there, send_to, &sending))
        return !sending.failed;
    bus->counts.nobody++;
    if (!reply)
        return true;
    return event_add(bus, port_arrives(port),
                     event_new(bus, EVENT_NOBODY, port, NULL, NULL, reply, NULL, 0));
}

/* ---- taking events --------------------------------------------------------------------------- */

uint64_t bus_now(const struct bus *bus)
{
    return bus->now;
}

void bus_move(struct bus *bus, uint64_t now_us)
{
    if (now_us > bus->now)
        bus->now = now_us;
}

uint64_t bus_due(const struct bus *bus)
{
    return bus->n ? bus->heap[0].when : UINT64_MAX;
}

/* Does the event reach its receiver? */
static bool event_arrives(const struct bus_event *event)
{
    const struct bus_port *port = event->port;

    if (!port)
        return true;
    if (port->is_dead || (event->sub && event->sub->is_dead))
        return false;
    return (event->type != EVENT_MESSAGE && event->type != EVENT_NOBODY) ||
           (!port->cut_in && port->is_connected);
}

struct bus_event *bus_next(struct bus *bus, uint64_t until_us)
{
    while (bus->n && bus->heap[0].when <= until_us) {
        bus_move(bus, bus->heap[0].when);
        struct bus_event *event = heap_pop(bus);
        if (!event_arrives(event)) {
            bus->counts.lost += event->type == EVENT_MESSAGE;
            bus_done(bus, event);
        } else if (event->port && event->port->is_paused) {
            *event->port->waiting_end = event;
            event->port->waiting_end = &event->next;
        } else {
            bus->counts.delivered += event->type == EVENT_MESSAGE;
            return event;
        }
    }
    return NULL;
}

const struct bus_port *bus_event_port(const struct bus_event *event)
{
    return event->port;
}

void bus_run(const struct bus_event *event)
{
    const struct bus_port *port = event->port;

    switch (event->type) {
    case EVENT_MESSAGE:
        event->sub->received(event->sub->user, event->subject, event->reply, event->data,
                             event->len);
        break;
    case EVENT_NOBODY:
        if (port->calls.nobody)
            port->calls.nobody(port->user, event->reply);
        break;
    case EVENT_CONNECTED:
        if (port->calls.connected)
            port->calls.connected(port->user);
        break;
    case EVENT_DISCONNECTED:
        if (port->calls.disconnected)
            port->calls.disconnected(port->user);
        break;
    default:
        if (event->due)
            event->due(event->user);
    }
}

void bus_done(struct bus *bus, struct bus_event *event)
{
    struct bus_sub *sub = event->sub;

    (void)bus;
    if (sub && sub->drains && sub->pending == 1 && !sub->is_dead)
        sub_drained(sub);
    event_free(event);
}
