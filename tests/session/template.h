/* SPDX-License-Identifier: MIT */
/* template.h - the host's side of a template in plain system calls: its box and its sessions. */
#ifndef LAZ_TESTS_TEMPLATE_H
#define LAZ_TESTS_TEMPLATE_H

#include "peer.h"

#include "base/random.h"

#define TEMPLATE_HOME "/tmp"
#define TEMPLATE_SIZE (8u << 20)

/* The last step of the confinement, where there is a filter. */
#ifdef LAZ_TEST_FILTER
#define TEMPLATE_FILTER ",\"filter\":\"session\""
#else
#define TEMPLATE_FILTER ""
#endif

/* One box with a template in it. The peer is the control connection; its pid is bwrap's. */
struct template_box {
    struct peer peer;
    char stage[64]; /* a directory of the host with agent and plugins, in the box
                       /run/lazaret/agent */
    char runtime[16];
    const char *home; /* in the box */
    bool is_cold;     /* no template: an agent with one session, which is confined by its `init` */
    void (*met)(struct template_box *box); /* when the agent waits for `init`; or NULL */
    int last_id;
};

/* A session. The peer's fd is the channel, out its standard output, pid the host's id of its first
 * process (not a child of this process). */
struct template_session {
    struct peer peer;
    int err, status;
    int pidfd;
    char token[LAZ_TOKEN_LEN + 1];
    uid_t uid;
};

/* The tools of the templates opened from now on: items of a JSON list. */
extern const char *template_tools;
/* Sessions that are asked for from now on add tools to these. */
extern bool template_spawn_adds;
/* The confinement given to them, which their sessions apply in advance; NULL: none. */
extern const char *template_confine;

/* False, after a skip or a failed assertion, when no box with this runtime is possible here. */
bool template_stage(struct template_box *box, const char *runtime);
/* Writes a file into the stage, for modules. */
void template_file(const struct template_box *box, const char *name, const char *text);
/* Makes a directory of the stage in which everybody may write; what is in `written` is in
 * /run/lazaret/written of the box, and can be written there. */
void template_directory(const struct template_box *box, const char *name);
/* Starts the box and the template. `options`: more members of `options` of init, or "". Returns the
 * answer, `ready` or an error, borrowed; NULL: none. */
const char *template_start(struct template_box *box, const char *options);
bool template_open(struct template_box *box, const char *runtime, const char *options);
void template_close(struct template_box *box);
/* The host's id of the template itself, the process that makes sessions. */
pid_t template_pid(const struct template_box *box);

/* The waiting first process of the next session; -1: none. */
pid_t template_vessel(const struct template_box *box);
pid_t template_waiting(const struct template_box *box);

/* The number in a line of /proc/PID/status that begins with `key`; -1: there is none. */
long template_status(pid_t pid, const char *key);
/* Waits for the process that is to become the next session to be confined. */
pid_t template_await_waiting(const struct template_box *box);

/* Sends a line with descriptors. */
bool template_send(struct template_box *box, const char *line, const int *fds, size_t n);
/* Requests a session; returns the id of the request, or -1. */
int template_ask(struct template_box *box, struct template_session *session);
/* The same; less than 100 bytes `more` follow the request at once. */
int template_ask_and_say(struct template_box *box, struct template_session *session,
                         const char *more);
/* Reads the session's token. True when it is the right one and the kernel identifies the sender. */
bool template_met(struct template_session *session);
/* Sends `init` with this confinement ("{...}") and these tools, or that all is the same if the
 * template was told that confinement; returns the answer. */
const char *template_init(struct template_session *session, const char *confine, const char *tools);
/* All of these steps. */
bool template_session_open(struct template_box *box, struct template_session *session,
                           const char *confine);
void template_session_close(struct template_session *session);

/* Runs code; returns the raw `value` of the result, or the whole line of an error. Static, the last
 * four are valid. */
const char *template_run(struct template_session *session, const char *code);
/* The status line without its newline, when the session has ended. */
const char *template_ended(struct template_session *session);

/* The confinement of sessions in bwrap, and none. */
extern const char template_confined[], template_bare[];

#endif
