/* SPDX-License-Identifier: MIT */
/* nats_server.h - a server of NATS for a test: on loopback, at a port that was free. */
#ifndef LAZ_TESTS_NATS_SERVER_H
#define LAZ_TESTS_NATS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

extern char server_work[64]; /* a directory of the test, with all files of servers */

struct server {
    pid_t pid;
    char conf[128]; /* its configuration */
    int port;       /* 0: one that is free */
};

bool server_directory(void); /* makes it */
void server_directory_remove(void);
/* Writes the configuration NAME. */
void server_configure(struct server *server, const char *name, const char *text);
/* Starts it with what its configuration has now, and waits until it listens. */
void server_start(struct server *server);
void server_begin(struct server *server, const char *name, const char *text); /* both */
void server_kill(struct server *server);

#endif
