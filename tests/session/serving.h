/* SPDX-License-Identifier: MIT */
/* serving.h (tests) - a server of the host protocol on a thread, and clients at its socket. A
 * client is a socket and a buffer; what it sends is written as it goes over the wire. */
#ifndef LAZ_TESTS_SERVING_H
#define LAZ_TESTS_SERVING_H

#include "unit.h"

#include "serve/serve.h"

#include <stdbool.h>
#include <stddef.h>

/* Without isolation where that is not what is tested. */
#define OPEN "sandbox.backend=none;sandbox.require=[];session.runtime=lua"

/* The server that server_begin has started, and where it listens. */
extern struct laz_server *server;
extern char directory[64], path[80];

/* How many engines the next server has (1). */
extern unsigned server_engines;
/* Makes a server at `path` with settings ("a=1;b=2"); NULL and an error. */
struct laz_server *server_make(const char *settings, struct laz_error *err);
bool server_begin(const char *settings);
void server_end(void);
/* The two parts of that, around laz_server_free. */
void server_stop(void);
void server_is_gone(void);

/* For main(): runs the tests if there is a runtime for Lua. */
int server_test(const char *suite, const struct unit_test *tests);

struct client {
    int fd;
    char *data; /* what was read, and not handed out */
    size_t len, cap;
    char *line;        /* the last message */
    long long session; /* that it has opened last */
};

void client_open(struct client *client);
void client_close(struct client *client);
void client_send_bytes(struct client *client, const char *data, size_t len);
/* Sends a line. */
void say(struct client *client, const char *format, ...) LAZ_PRINTF(2, 3);

/* The next message, borrowed until the next call; NULL: the connection has ended. */
const char *hear(struct client *client);
bool has(const char *message, const char *part);
/* The next message has this part. */
#define expect(client, part) expect_at(client, part, __LINE__)
bool expect_at(struct client *client, const char *part, unsigned line);
/* An integer member of the last message; -1: it has none. */
long long member(const struct client *client, const char *name);
/* Connects, and reads the first message. */
void client_greet(struct client *client);
/* Opens a session; `more`: members of the request, or "". */
long long client_session(struct client *client, const char *more);
/* Executes something in that session, and expects the right result. */
#define is_served(client) is_served_at(client, __LINE__)
void is_served_at(struct client *client, unsigned line);

/* For clients that are hostile: a server, and beside them a client that keeps the rules. It has to
 * be served at the end; a test asks for it in the middle, too. */
extern struct client neighbour;
void neighbour_begin(const char *settings);
void neighbour_end(void);

/* A list with one tool. */
#define ADD                                                                                        \
    "[{\"name\":\"add\",\"description\":\"adds\",\"parameters\":[{\"name\":\"a\",\"type\":"        \
    "\"integer\"},{\"name\":\"b\",\"type\":\"integer\",\"default\":1}]}]"

#endif
