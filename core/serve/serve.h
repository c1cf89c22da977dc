/* SPDX-License-Identifier: MIT */
/* serve.h - what this room offers: an engine for hosts in any language, which speak the host
 * protocol (docs/host-protocol.md) on standard input and output, or on a Unix socket. */
#ifndef LAZ_SERVE_SERVE_H
#define LAZ_SERVE_SERVE_H

#include "base/error.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

struct laz_server;

struct laz_server_options {
    const struct laz_settings *settings;
    const struct laz_engine_options *engine;
    const char *listen; /* path of the socket; NULL: standard input and output are the client */
};

/* Makes the engine, and the socket, which only processes of this user can use. Everything of the
 * options is borrowed for the call. The caller frees *server. Errors: as laz_engine_new; LAZ_EOS;
 * LAZ_EREFUSED: another server listens at the path, or not on this system. */
int laz_server_new(const struct laz_server_options *options, struct laz_server **server,
                   struct laz_error *err);
/* Serves until the end of standard input (with a socket: never), or laz_server_stop. Errors:
 * LAZ_EPROTO: what came from standard input was no message; LAZ_ENOMEM. */
int laz_server_run(struct laz_server *server, struct laz_error *err);
/* Any thread: has laz_server_run return. NULL is allowed. */
void laz_server_stop(struct laz_server *server);
/* Ends all that clients have opened. NULL is allowed. */
void laz_server_free(struct laz_server *server);

#endif
