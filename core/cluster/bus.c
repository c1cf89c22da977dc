/* SPDX-License-Identifier: MIT */
/* bus.c - a carrier on the thread of a loop.
 * Side: host.  Input trusted: no (messages of others on the bus, which are not looked at here).
 *
 * A message is copied once, into the post that takes it to the loop.  A subscription is freed when
 * the carrier has no business with it any more, which it says last, and so after all messages. */
#include "cluster/bus.h"

#include "base/container.h"
#include "base/json.h"
#include "settings/settings.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct laz_bus {
    struct laz_loop *loop;
    const struct laz_log *log;
    const struct laz_carrier_ops *ops;
    struct laz_carrier_services services;
    struct laz_bus_owner owner;
    void *state;
    char name[65];
    struct laz_bus_subscription *all;
    atomic_size_t waiting;
    atomic_uint lost; /* since it was told */
    bool is_closing;
    bool was_lost; /* of the carrier's threads, which say one thing after the other */
};

struct laz_bus_subscription {
    struct laz_bus_subscription *next;
    struct laz_bus *bus;
    struct laz_carrier_subscription *of;
    laz_carrier_received received;
    void *user;
    bool is_over;
};

/* ---- what the carrier says, on its threads ----------------------------------------------------
 */

enum bus_event_kind {
    BUS_MESSAGE,
    BUS_CONNECTED,
    BUS_DISCONNECTED,
    BUS_REFUSED,
    BUS_NOBODY,
    BUS_DRAINED
};

struct bus_event {
    struct laz_post post;
    enum bus_event_kind kind;
    struct laz_bus *bus;
    struct laz_bus_subscription *subscription;
    uint32_t what;
    size_t size;                 /* that counts as waiting */
    const char *subject, *reply; /* of what follows */
    size_t len;
    char data[];
};

static void bus_arrived(struct laz_post *post);

/* Posts it; false: it is lost. */
static bool bus_post(struct laz_bus *bus, const struct bus_event *like, const char *subject,
                     const char *reply, const char *data, size_t len)
{
    const size_t subject_len = subject ? strlen(subject) + 1 : 0,
                 reply_len = reply ? strlen(reply) + 1 : 0,
                 size = sizeof *like + subject_len + reply_len + len + 1;
    struct bus_event *event = NULL;

    if (like->kind != BUS_MESSAGE || atomic_load(&bus->waiting) + size <= LAZ_BUS_WAITING)
        event = malloc(size);
    if (!event) {
        atomic_fetch_add(&bus->lost, 1);
        return false;
    }
    *event = *like;
    event->post.run = bus_arrived;
    event->bus = bus;
    event->size = size;
    event->len = len;
    if (len)
        memcpy(event->data, data, len);
    event->data[len] = '\0';
    if (subject)
        event->subject = memcpy(event->data + len + 1, subject, subject_len);
    if (reply)
        event->reply = memcpy(event->data + len + 1 + subject_len, reply, reply_len);
    atomic_fetch_add(&bus->waiting, size);
    laz_loop_post(bus->loop, &event->post);
    return true;
}

static void bus_received(void *user, const char *subject, const char *reply, const char *data,
                         size_t len)
{
    struct laz_bus_subscription *subscription = user;

    (void)bus_post(subscription->bus,
                   &(struct bus_event){.kind = BUS_MESSAGE, .subscription = subscription}, subject,
                   reply, data, len);
}

static void bus_log(void *host, uint32_t level, const char *text)
{
    const struct laz_bus *bus = host;

    laz_log(bus->log, level, "%s: %s", bus->name, text);
}

static void bus_connected(void *host)
{
    struct laz_bus *bus = host;

    if (bus->was_lost)
        bus_log(host, LAZ_LOG_WARNING, "the connection is there again");
    bus->was_lost = false;
    (void)bus_post(host, &(struct bus_event){.kind = BUS_CONNECTED}, NULL, NULL, NULL, 0);
}

static void bus_disconnected(void *host, const char *why)
{
    struct laz_bus *bus = host;

    bus->was_lost = true;
    bus_log(host, LAZ_LOG_WARNING, why && *why ? why : "the connection is lost");
    (void)bus_post(host, &(struct bus_event){.kind = BUS_DISCONNECTED}, NULL, NULL, NULL, 0);
}

static void bus_refused(void *host, uint32_t what, const char *subject, const char *why)
{
    struct laz_bus *bus = host;

    laz_log(bus->log, LAZ_LOG_WARNING, "%s: %s: %s", bus->name, subject, why);
    (void)bus_post(bus, &(struct bus_event){.kind = BUS_REFUSED, .what = what}, subject, NULL, NULL,
                   0);
}

static void bus_nobody(void *host, const char *reply)
{
    (void)bus_post(host, &(struct bus_event){.kind = BUS_NOBODY}, NULL, reply, NULL, 0);
}

/* Without memory for the post the subscription stays until the bus is closed. */
static void bus_drained(void *user)
{
    struct laz_bus_subscription *subscription = user;

    (void)bus_post(subscription->bus,
                   &(struct bus_event){.kind = BUS_DRAINED, .subscription = subscription}, NULL,
                   NULL, NULL, 0);
}

/* ---- on the loop ------------------------------------------------------------------------------
 */

static void bus_tell(struct laz_bus *bus, const struct bus_event *event)
{
    struct laz_bus_subscription *subscription = event->subscription;

    switch (event->kind) {
    case BUS_MESSAGE:
        if (!subscription->is_over)
            subscription->received(subscription->user, event->subject, event->reply, event->data,
                                   event->len);
        break;
    case BUS_CONNECTED:
        bus->owner.connected(bus->owner.user);
        break;
    case BUS_DISCONNECTED:
        bus->owner.disconnected(bus->owner.user);
        break;
    case BUS_REFUSED:
        bus->owner.refused(bus->owner.user, event->what, event->subject);
        break;
    case BUS_NOBODY:
        bus->owner.nobody(bus->owner.user, event->reply);
        break;
    case BUS_DRAINED:
        LAZ_LIST_REMOVE(bus->all, subscription);
        free(subscription);
        break;
    }
}

static void bus_arrived(struct laz_post *post)
{
    struct bus_event *event = LAZ_CONTAINER(post, struct bus_event, post);
    struct laz_bus *bus = event->bus;
    const unsigned lost = atomic_exchange(&bus->lost, 0);

    atomic_fetch_sub(&bus->waiting, event->size);
    if (lost)
        laz_log(bus->log, LAZ_LOG_WARNING, "%s: %u messages are lost: more came than is handled",
                bus->name, lost);
    if (!bus->is_closing)
        bus_tell(bus, event);
    free(event);
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

static int bus_options(const struct laz_settings_values *values, const struct laz_plugin *plugin,
                       struct laz_buf *json, struct laz_error *err)
{
    char *where = laz_strdupf("cluster.%s", plugin->name);
    int rc = where ? laz_settings_check_options(
                         laz_settings_plugin_table(values->settings, "cluster", plugin->name),
                         plugin->options, where, NULL, json, err)
                   : laz_error_nomem(err);

    free(where);
    return rc;
}

int laz_bus_open(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                 const struct laz_settings_values *values, const struct laz_bus_owner *owner,
                 struct laz_bus **out, struct laz_error *err)
{
    const struct laz_plugin *plugin;
    struct laz_buf options = LAZ_BUF_INIT;
    struct laz_bus *bus = calloc(1, sizeof *bus);
    int rc =
        bus ? laz_registry_find(registry, LAZ_PLUGIN_CARRIER, values->cluster.carrier, &plugin, err)
            : laz_error_nomem(err);

    *out = NULL;
    if (!rc)
        rc = bus_options(values, plugin, &options, err);
    if (!rc) {
        struct laz_error why = {0};
        *bus = (struct laz_bus){.loop = loop, .log = log, .ops = plugin->ops, .owner = *owner};
        memcpy(bus->name, plugin->name, strlen(plugin->name) + 1);
        bus->services = (struct laz_carrier_services){.size = sizeof bus->services,
                                                      .json = laz_json_api(),
                                                      .host = bus,
                                                      .log = bus_log,
                                                      .connected = bus_connected,
                                                      .disconnected = bus_disconnected,
                                                      .refused = bus_refused,
                                                      .nobody = bus_nobody};
        rc = laz_plugin_said(
            bus->ops->open(&bus->services, laz_buf_text(&options), options.len, &bus->state, &why),
            LAZ_PLUGIN_CARRIER, plugin->name, "open", &why);
        if (rc && err)
            *err = why;
    }
    if (options.data)
        laz_wipe(options.data, options.len);
    laz_buf_fini(&options);
    if (rc)
        free(bus);
    else
        *out = bus;
    return rc;
}

void laz_bus_close(struct laz_bus *bus)
{
    if (!bus)
        return;
    bus->ops->close(bus->state); /* it calls nothing any more */
    bus->is_closing = true;
    laz_loop_flush(bus->loop);
    while (bus->all) {
        struct laz_bus_subscription *next = bus->all->next;
        free(bus->all);
        bus->all = next;
    }
    free(bus);
}

/* ---- messages ---------------------------------------------------------------------------------
 */

int laz_bus_subscribe(struct laz_bus *bus, const char *subject, const char *queue,
                      laz_carrier_received received, void *user, struct laz_bus_subscription **out,
                      struct laz_error *err)
{
    struct laz_bus_subscription *subscription = calloc(1, sizeof *subscription);
    struct laz_error why = {0};

    *out = NULL;
    if (!subscription)
        return laz_error_nomem(err);
    *subscription = (struct laz_bus_subscription){.bus = bus, .received = received, .user = user};
    int rc = laz_plugin_said(bus->ops->subscribe(bus->state, subject, queue, bus_received,
                                                 subscription, &subscription->of, &why),
                             LAZ_PLUGIN_CARRIER, bus->name, "subscribe", &why);
    if (rc) {
        free(subscription);
        if (err)
            *err = why;
        return rc;
    }
    subscription->next = bus->all;
    bus->all = subscription;
    *out = subscription;
    return 0;
}

void laz_bus_unsubscribe(struct laz_bus_subscription *subscription)
{
    if (!subscription || subscription->is_over)
        return;
    subscription->is_over = true;
    subscription->bus->ops->unsubscribe(subscription->bus->state, subscription->of, bus_drained,
                                        subscription);
}

int laz_bus_send(struct laz_bus *bus, const char *subject, const char *reply, const char *data,
                 size_t len, struct laz_error *err)
{
    struct laz_error why = {0};
    const int rc = laz_plugin_said(bus->ops->send(bus->state, subject, reply, data, len, &why),
                                   LAZ_PLUGIN_CARRIER, bus->name, "send", &why);

    if (rc && err)
        *err = why;
    return rc;
}
