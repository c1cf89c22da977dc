/* SPDX-License-Identifier: MIT */
/* peer.h - the host's side of the protocol in plain system calls, for tests of the agent as a
 * process. */
#ifndef LAZ_TESTS_PEER_H
#define LAZ_TESTS_PEER_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

#define PEER_TOKEN   "abcdefghijklmnopqrstuvwxyz012345"
#define PEER_CANARY  10     /* a descriptor the agent inherits and has to close */
#define PEER_WAIT_MS 600000 /* only a hanging agent takes so long */

struct peer {
    pid_t pid;
    int fd;  /* the connection */
    int out; /* standard output and error of the agent */
    char directory[64];
    struct laz_buf in; /* read, but not yet returned */
    char *line;        /* the last line */
};

/* Starts ./lazaret-agent ($LAZARET_AGENT) and accepts it. False, with a failed assertion, when it
 * does not connect. */
bool peer_open(struct peer *peer);
void peer_close(struct peer *peer); /* kills the agent if necessary */
void peer_hang_up(struct peer *peer);
bool peer_send(struct peer *peer, const char *format, ...) LAZ_PRINTF(2, 3);
bool peer_send_bytes(struct peer *peer, const char *data, size_t len);
/* The next line, valid until the next call; NULL at the end, or when none comes in time. */
const char *peer_line(struct peer *peer);
/* Exchanges token, init with these members in `options` and `confine`, and tools; true when `ready`
 * comes. */
bool peer_start(struct peer *peer, const char *options, const char *confine, const char *tools);
/* Absolute path of a shared object made by the build. */
const char *peer_plugin(const char *file);
/* Waits for the agent's end; returns its exit status, 128 + signal, or -1 when it does not end in
 * time. */
int peer_wait(struct peer *peer);
/* The agent's output up to its end, or so far. Free it. */
char *peer_output(struct peer *peer, bool to_the_end);
/* Content of /proc/PID/NAME; NULs become spaces. Free it. */
char *peer_proc(const struct peer *peer, const char *name);

/* The first token, which is nowhere once it was read; but the sanitizer keeps a copy of the first
 * environment for itself. */
#ifdef LAZ_SANITIZE
#define PEER_TOKEN_GONE NULL
#else
#define PEER_TOKEN_GONE PEER_TOKEN
#endif

/* Which of the texts (at most 32, then NULL) are anywhere in the writable memory of the process?
 * Bit i stands for texts[i]. */
uint32_t peer_memory_find(pid_t pid, const char *const *texts);
bool peer_memory_has(pid_t pid, const char *text);

/* Starts a program with standard output and error in a pipe. */
pid_t peer_run(const char *const *argv, int *out);
int peer_wait_pid(pid_t pid);
char *peer_read_all(int fd);
const char *peer_agent(void);

#endif
