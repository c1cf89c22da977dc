/* SPDX-License-Identifier: MIT */
/* serve.h - what this room offers: an engine, or several, for hosts in any language, which speak
 * the host protocol (docs/host-protocol.md) on standard input and output, or on a Unix socket. */
#ifndef LAZ_SERVE_SERVE_H
#define LAZ_SERVE_SERVE_H

#include "base/error.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

#define LAZ_SERVER_ENGINES 16u /* at most */

struct laz_server;

struct laz_server_options {
    const struct laz_settings *settings;
    const struct laz_engine_options *engine;
#define LAZ_SERVER_CLUSTER "cluster"
    const char *listen; /* path of the socket, LAZ_SERVER_CLUSTER, or tls://ADDRESS:PORT for clients
                           of other machines; NULL: standard input and output are the client */
    /* Over which clients are spread, at most LAZ_SERVER_ENGINES; 0: laz_engines_usual(). Without
     * `listen` 1. All but the first one are on threads of their own. */
    unsigned engines;
};

/* Makes the engines, and the socket, which only processes of this user can use; all of it or
 * nothing. Everything of the options is borrowed for the call. The caller frees *server. Errors: as
 * laz_engine_new; LAZ_EINVAL: so many engines; LAZ_EOS; LAZ_EREFUSED: another server listens at the
 * path, or not on this system. */
int laz_server_new(const struct laz_server_options *options, struct laz_server **server,
                   struct laz_error *err);
/* Where its counters are read (telemetry.listen): a URL. NULL: nowhere. Borrowed. */
const char *laz_server_metrics(const struct laz_server *server);
/* Serves until the end of standard input (with a socket: never), or laz_server_stop. Errors:
 * LAZ_EPROTO: what came from standard input was not a message; LAZ_ENOMEM. */
int laz_server_run(struct laz_server *server, struct laz_error *err);
/* Any thread: has laz_server_run return. NULL is allowed. */
void laz_server_stop(struct laz_server *server);
/* Any thread: the same; a worker with cluster.drain_timeout gives no place any more, and does it
 * when its callers have left or that time is over. */
void laz_server_leave(struct laz_server *server);
/* Where it listens: the path, or the address with the port that it has got. NULL: nowhere. */
const char *laz_server_address(const struct laz_server *server);
/* Ends all that clients have opened, in all engines at the same time. NULL is allowed. */
void laz_server_free(struct laz_server *server);

#endif
