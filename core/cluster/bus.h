/* SPDX-License-Identifier: MIT */
/* bus.h - a connection by a carrier (lazaret/carrier.h), on the thread of a loop.
 *
 * The plugin calls on threads of its own; what it says is posted to the loop, so all callbacks here
 * come on the loop's thread, in the order in which things happened.  All functions are for that
 * thread. */
#ifndef LAZ_CLUSTER_BUS_H
#define LAZ_CLUSTER_BUS_H

#include "base/log.h"
#include "loop/loop.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/carrier.h>

struct laz_bus;
struct laz_bus_subscription;

/* As the services of a carrier. */
struct laz_bus_owner {
    void *user;
    void (*connected)(void *user);
    void (*disconnected)(void *user);
    void (*refused)(void *user, uint32_t what, const char *subject);
    void (*nobody)(void *user, const char *reply);
};

/* Bytes that have come and wait for the loop, at most; what comes beyond is lost, as on the way. */
#define LAZ_BUS_WAITING ((size_t)256 << 20)

/* Connects as [cluster] of the settings says; waits as long as the carrier does. The caller closes
 * it. Errors: of laz_registry_find, of the options (LAZ_ECONFIG), of the carrier's `open`. */
int laz_bus_open(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                 const struct laz_settings_values *values, const struct laz_bus_owner *owner,
                 struct laz_bus **bus, struct laz_error *err);
void laz_bus_close(struct laz_bus *bus); /* NULL is allowed; not in a callback */

/* As of a carrier. `received`: everything is borrowed for the call. */
int laz_bus_subscribe(struct laz_bus *bus, const char *subject, const char *queue,
                      laz_carrier_received received, void *user,
                      struct laz_bus_subscription **subscription, struct laz_error *err);
/* `received` is not called any more. NULL is allowed. */
void laz_bus_unsubscribe(struct laz_bus_subscription *subscription);
int laz_bus_send(struct laz_bus *bus, const char *subject, const char *reply, const char *data,
                 size_t len, struct laz_error *err);

#endif
