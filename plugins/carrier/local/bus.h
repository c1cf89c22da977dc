/* SPDX-License-Identifier: MIT */
/* bus.h - a bus in memory: subjects, queue groups, and a network that fails by a seed.
 * Side: host.
 *
 * Time is what its user says.  What is sent becomes an event at a later time; the user takes events
 * in their order and runs them, on whatever thread.  The carrier `local` and the simulation of many
 * machines share it.  It has no lock: its user has one, which is not held while an event runs. */
#ifndef LOCAL_BUS_H
#define LOCAL_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus;
struct bus_port; /* a connection to it */
struct bus_sub;  /* a subscription of a connection */
struct bus_event;

/* Chances are per mille, and each message has each chance on its way to each receiver. */
struct bus_faults {
    uint64_t seed;
    uint32_t drop, duplicate, reorder;
    uint64_t delay_us, jitter_us; /* a message takes delay_us to delay_us + jitter_us */
};

typedef void (*bus_received)(void *user, const char *subject, const char *reply, const char *data,
                             size_t len);

/* What a connection hears; each may be NULL. */
struct bus_calls {
    void (*connected)(void *user);
    void (*disconnected)(void *user);
    void (*nobody)(void *user, const char *reply);
};

struct bus_counts {
    uint64_t sent, delivered, lost, nobody, bytes;
};

struct bus *bus_new(const struct bus_faults *faults);
void bus_free(struct bus *bus); /* with all connections */
void bus_set_faults(struct bus *bus, const struct bus_faults *faults);
struct bus_counts bus_counts(const struct bus *bus);
uint64_t bus_random(struct bus *bus);

/* NULL: out of memory, here and below. */
struct bus_port *bus_port_new(struct bus *bus, const struct bus_calls *calls, void *user);
/* The connection is gone at once, with its subscriptions and events; `drained` is not called. */
void bus_port_free(struct bus_port *port);
/* Nothing gets from it to the bus, or from the bus to it, and it does not notice. */
void bus_port_cut(struct bus_port *port, bool out, bool in);
/* It loses its connection, or has it again: it is told. */
void bus_port_connect(struct bus_port *port, bool is_connected);
/* Its events wait; afterwards messages come before timers. */
void bus_port_pause(struct bus_port *port, bool is_paused);

/* The texts are copied. */
struct bus_sub *bus_subscribe(struct bus_port *port, const char *subject, const char *queue,
                              bus_received received, void *user);
/* What is on its way is still received, then `drained` is called (unless NULL). */
void bus_unsubscribe(struct bus_sub *sub, void (*drained)(void *user), void *user);
/* False: out of memory. Where nobody is subscribed and there is a reply subject, the sender hears
 * `nobody`. */
bool bus_send(struct bus_port *port, const char *subject, const char *reply, const void *data,
              size_t len);
/* A timer of a connection, which pauses with it and goes with it; or (NULL) of nobody. */
bool bus_at(struct bus *bus, struct bus_port *port, uint64_t when_us, void (*due)(void *user),
            void *user);

uint64_t bus_now(const struct bus *bus);
void bus_move(struct bus *bus, uint64_t now_us); /* never back */
uint64_t bus_due(const struct bus *bus);         /* of the next event; UINT64_MAX: there is none */
/* Takes the next event until that time, and moves the time to it. NULL: there is none. Then
 * bus_run, without a lock, and bus_done. */
struct bus_event *bus_next(struct bus *bus, uint64_t until_us);
const struct bus_port *bus_event_port(const struct bus_event *event); /* may be NULL */
void bus_run(const struct bus_event *event);
void bus_done(struct bus *bus, struct bus_event *event);

/* ---- bus_topics.c: who is subscribed to what --------------------------------------------------
 */

struct bus_topics;

struct bus_sub {
    struct bus_port *port;
    struct bus_group *group;      /* NULL: it gets nothing more */
    size_t at;                    /* in its group */
    struct bus_sub *next, **back; /* of its port */
    size_t pending;               /* events on their way to it, or running */
    bool is_dead;
    bus_received received;
    void *user;
    void (*drained)(void *user);
    void *drained_user;
    bool drains;
};

struct bus_topics *bus_topics_new(void);
void bus_topics_free(struct bus_topics *topics);
bool bus_topics_add(struct bus_topics *topics, struct bus_sub *sub, const char *subject,
                    const char *queue);
void bus_topics_remove(struct bus_topics *topics, struct bus_sub *sub);
/* Calls back with each subscription that gets a message to the subject; returns how many.
 * `is_there`: is it connected? */
size_t bus_topics_match(struct bus_topics *topics, struct bus *bus, const char *subject,
                        bool (*is_there)(const struct bus_sub *sub),
                        void (*each)(void *user, struct bus_sub *sub), void *user);

#endif
