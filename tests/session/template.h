/* SPDX-License-Identifier: MIT */
/* template.h - the host's side of a template in plain calls: its box, its sessions. */
#ifndef LAZ_TESTS_TEMPLATE_H
#define LAZ_TESTS_TEMPLATE_H

#include "peer.h"

#include "base/random.h"

#define TEMPLATE_HOME "/tmp"
#define TEMPLATE_SIZE (8u << 20)

/* One box with a template in it. The peer is the control connection; its pid is bwrap's. */
struct template_box {
    struct peer peer;
    char stage[64]; /* a folder on the host, in the box at /run/lazaret/agent: agent, plugins */
    char runtime[16];
    const char *home; /* in the box */
    int last_id;
};

/* A session. The peer's fd is the channel, out its standard output, pid its first process as the
 * host sees it (no child of ours). */
struct template_session {
    struct peer peer;
    int err, status;
    int pidfd;
    char token[LAZ_TOKEN_LEN + 1];
    uid_t uid;
};

/* The tools of the templates opened from now on: items of a JSON list. */
extern const char *template_tools;
/* The confinement that they are told of, so that their sessions have it ahead; NULL: none. */
extern const char *template_confine;

/* False, after a skip or a failed assertion, when there is no box with this runtime here. */
bool template_stage(struct template_box *box, const char *runtime);
/* A file in the stage, for modules. */
void template_file(const struct template_box *box, const char *name, const char *text);
/* Starts the box and the template. `options`: more members of `options` of init, or "". The answer:
 * `ready` or an error, borrowed; NULL: none. */
const char *template_start(struct template_box *box, const char *options);
bool template_open(struct template_box *box, const char *runtime, const char *options);
void template_close(struct template_box *box);
/* Host pid of the template itself, by its answers' namespace: the process that makes sessions. */
pid_t template_pid(const struct template_box *box);

/* The first process of the next session, which waits, and its own process; -1: not there. */
pid_t template_vessel(const struct template_box *box);
pid_t template_waiting(const struct template_box *box);

/* Sends a line with descriptors. */
bool template_send(struct template_box *box, const char *line, const int *fds, size_t n);
/* Asks for a session; the id of the request, or -1. */
int template_ask(struct template_box *box, struct template_session *session);
/* Reads the session's token. True when it is the right one and the kernel says who sent it. */
bool template_met(struct template_session *session);
/* `init` with this confinement ("{...}") and these tools; its answer. */
const char *template_init(struct template_session *session, const char *confine, const char *tools);
/* All of it. */
bool template_session_open(struct template_box *box, struct template_session *session,
                           const char *confine);
void template_session_close(struct template_session *session);

/* Runs code; the raw `value` of the result, or the whole line of an error. Static, four at a time.
 */
const char *template_run(struct template_session *session, const char *code);
/* The status line without its newline, when the session has ended. */
const char *template_ended(struct template_session *session);

/* A confinement as sessions have it in bwrap, and none. */
extern const char template_confined[], template_bare[];

#endif
