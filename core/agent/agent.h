/* SPDX-License-Identifier: MIT */
/* agent.h - the parts of lazaret-agent, the process inside the box.
 * Side: box.  Input trusted: yes (the host is the only peer).
 *
 * One process, one connection, blocking calls: a line comes in, the runtime works, lines go out.
 * Once code has run, nothing in this process can be believed; the host does not.  What is kept up
 * here anyway is order: one line for one message, and never a word from a forked child. */
#ifndef LAZ_AGENT_AGENT_H
#define LAZ_AGENT_AGENT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "os/io.h"
#include "plugin/plugin.h"
#include "wire/frame.h"

#include <lazaret/runtime.h>

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_EXIT_SETUP  125
#define AGENT_CHANNEL     3              /* the channel's descriptor; what is above it is closed */
#define AGENT_MAX_MESSAGE (1024u * 1024) /* of a line to the host, unless init says otherwise */
#define AGENT_MAX_LINE    (64u * 1024 * 1024) /* of a value from the host, likewise */
#define AGENT_LINE_SLACK  (1024u * 1024)      /* what may stand around a value in its line */

/* ---- channel.c: lines ----------------------------------------------------------------------- */

struct agent_channel {
    int fd;
    struct laz_frame in;
    char head[32]; /* of the line that found no memory, NUL-terminated */
};

/* Sends the parts as one. False when the peer is gone. */
bool agent_channel_send(struct agent_channel *channel, const struct laz_part *parts, size_t n);
/* The next line without its newline, NUL-terminated, borrowed until the next call. 0, or:
 * LAZ_ECLOSED at the end of the stream or when it broke; LAZ_ETOOBIG: longer than may be;
 * LAZ_ENOMEM: there was no memory for it, it was read over, and the next one can be had;
 * LAZ_ETIMEOUT: none came within wait_ms (-1: without end). */
int agent_channel_line(struct agent_channel *channel, int wait_ms, char **line, size_t *len);

/* ---- message.c: what the host says ---------------------------------------------------------- */

/* The members of a message from the host, as they stand in the line. */
struct agent_message {
    char *type; /* NULL: the answer to a call. Freed by whoever asked. */
    const char *id, *code, *print, *value, *error;
    size_t id_len, code_len, print_len, value_len, error_len;
};

bool agent_message_parse(const char *line, size_t len, struct agent_message *m);
/* The end of the stream, or what cannot be read: ends the process. `why` is agent_channel_line's.
 */
_Noreturn void agent_hang_up(int why);

/* ---- calls.c: calls of tools ---------------------------------------------------------------- */

/* A call that the host has not answered. */
struct agent_open {
    uint64_t id;
    void *user;
    size_t args_len;
};

struct agent_calls {
    pthread_mutex_t lock; /* of what is open: one thread may begin a call, another take an answer */
    struct agent_open *open;
    size_t n, cap, bytes;
    uint64_t last;           /* id of the last call; ids are never used again */
    struct laz_buf failed;   /* error text of the last call that could not begin */
    struct laz_buf answered; /* error text of the last answer */
};

struct agent;

void agent_calls_init(struct agent *agent);
void agent_calls_fini(struct agent *agent);
/* The execution is over: nobody waits for what is open. */
void agent_calls_forget(struct agent *agent);
/* The functions of agent->services that are about calls. */
void agent_calls_offer(struct agent *agent);

/* ---- serve.c: messages ---------------------------------------------------------------------- */

enum agent_role {
    AGENT_COLD,     /* a process for one session */
    AGENT_TEMPLATE, /* is copied for sessions */
    AGENT_SESSION,  /* such a copy */
};

struct agent {
    enum agent_role role;
    struct agent_channel channel;
    pid_t pid; /* of this process; a forked child has another */
    size_t max_message;
    struct agent_calls calls;
    struct laz_module *module;
    const struct laz_plugin *plugin;
    const struct laz_runtime_ops *ops;
    void *state;
    const struct agent_message *request; /* being answered, or NULL */
    struct laz_agent_services services;
    struct laz_buf out;      /* the message being put together */
    struct laz_buf confined; /* what `ready` says of the confinement */
    struct laz_buf cost;     /* and of the time of each step: "fork 210, filter 150" */
    /* Of a template: what its sessions get in place of its own. */
    char *home, *socket_folder;
    struct laz_strv shown; /* pairs: where the template has what a session finds there */
    uint64_t tmp_size;
    bool has_groups; /* each is made once it is told in which control groups */
    /* Of its `init`, raw: what is done ahead, for who asks for the same. `asked` is `confine`. */
    char *confine, *tools;
    struct laz_json *asked;
};

/* Fills agent->services. */
void agent_services_init(struct agent *agent);
bool agent_is_forked(const struct agent *agent);
/* Sends the text of agent->out as a line. Ends the process when the host is gone. */
void agent_send(struct agent *agent);
/* Answers messages until the host says exit; the status to exit with. */
int agent_serve(struct agent *agent);

/* ---- tools.c: the list of tools in init ----------------------------------------------------- */

struct agent_tools {
    struct laz_tool_signature *tools;
    size_t n;
    struct laz_parameter *parameters; /* of all tools, one after the other */
    size_t n_parameters;
    struct laz_strv strings; /* everything they point to */
};

/* `raw`: a scanned JSON list. LAZ_EPROTO names the tool. */
int agent_tools_parse(const char *raw, size_t len, struct agent_tools *tools,
                      struct laz_error *err);
void agent_tools_fini(struct agent_tools *tools);

/* ---- confine.c: what the process takes from itself ------------------------------------------ */

/* Is the step left out? Only in the agent of tests/enforce/layers.sh, which shows that a named test
 * notices; the agent that is installed is built without the question. */
#ifdef LAZ_TEST_LAYERS
bool agent_left_out(const char *step);
#define AGENT_LEFT_OUT(step) agent_left_out(step)
#else
#define AGENT_LEFT_OUT(step) false
#endif
/* Before `init`: closes every descriptor but the channel and the standard ones. */
void agent_close_descriptors(int channel);
/* Applies the steps that `confine` of `init` asks for (NULL: none), and those that nobody has to
 * ask for, in the order of the table. Appends to `report` the members of `ready` that tell of it:
 * ,"confined":[...],"missing":[...], and to `cost` the time of each. LAZ_ESETUP when a step fails
 * that may not. */
int agent_confine(const struct laz_json *confine, struct laz_buf *report, struct laz_buf *cost,
                  struct laz_error *err);

/* ---- start.c: from the environment to `ready` ----------------------------------------------- */

int agent_start(struct agent *agent, struct laz_error *err);
/* Notes what a step took. */
void agent_cost(struct agent *agent, const char *step, uint64_t since_us);
/* In a copy of a template, before anybody has asked for a session: what its `init` will ask for, as
 * far as the template was told. */
int agent_start_ahead(struct agent *agent, struct laz_error *err);
/* Tells the host that the start failed. */
void agent_setup_failed(struct agent *agent, const struct laz_error *err);
/* Ends the runtime and the connection; the module stays loaded, the process ends right after. */
void agent_stop(struct agent *agent);

/* ---- template.c ----------------------------------------------------------------------------- */

/* Once the runtime is there: preloads what `options` of `init` says, and gets ready for copying. */
int agent_template_load(struct agent *agent, const struct laz_json *options, struct laz_error *err);
/* Makes sessions until the host says exit, then false. True in the process of a session, which goes
 * on with agent_start. */
bool agent_template_serve(struct agent *agent, int *status);
/* What the process of a session gives back before it confines itself. */
int agent_template_strip(struct agent *agent, struct laz_error *err);

/* ---- reap.c --------------------------------------------------------------------------------- */

/* Runs argv[0], leaves no descendant of it alive, and returns the exit status. */
int agent_reap(char *const *argv);
/* As the first process of a pid namespace: reaps until `session` ends, writes how to `tell`, and
 * ends, and all others with it. */
_Noreturn void agent_reap_session(pid_t session, int tell);

#endif
