/* SPDX-License-Identifier: MIT */
/* agent.h - the parts of lazaret-agent, the process inside the box.
 * Side: box.  Input trusted: yes (the host is the only peer).
 *
 * One process, one connection, blocking calls: a line comes in, the runtime works, lines go out.
 * Once code has run, nothing that this process says can be trusted, and the host does not trust it.
 * What the agent keeps anyway is order: one line for one message, and no message from a forked
 * child. */
#ifndef LAZ_AGENT_AGENT_H
#define LAZ_AGENT_AGENT_H

#include "os/heap.h"
#include "os/io.h"
#include "os/landlock.h"
#include "os/mappings.h"
#include "os/namespaces.h"
#include "plugin/plugin.h"
#include "wire/frame.h"
#include "wire/message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define AGENT_EXIT_SETUP  125
#define AGENT_CHANNEL     3              /* the channel's descriptor; what is above it is closed */
#define AGENT_MAX_MESSAGE (1024u * 1024) /* of a line to the host, unless init says otherwise */
#define AGENT_MAX_LINE    (64u * 1024 * 1024) /* of a value from the host, likewise */
#define AGENT_LINE_SLACK  (1024u * 1024)      /* for the rest of the line around a value */

#define AGENT_LARGE (64u * 1024) /* bytes of a line that leaves memory worth giving back */
#define AGENT_KEPT  (16 << 20)   /* of free memory; it counts against limits of the session */

/* ---- channel.c: lines ----------------------------------------------------------------------- */

struct agent_channel {
    int fd;
    struct laz_frame in;
    char head[32];  /* the beginning of a line for which there was no memory, NUL-terminated */
    bool was_large; /* a line in either direction was, since memory was given back */
};

/* The next line without its newline, NUL-terminated, borrowed until the next call. 0, or:
 * LAZ_ECLOSED at the end of the stream or when it broke; LAZ_ETOOBIG: the line is too long;
 * LAZ_ENOMEM: there was no memory for it, it was skipped, and the next one can be read;
 * LAZ_ETIMEOUT: none came within wait_ms (-1: without a limit). */
int agent_channel_line(struct agent_channel *channel, int wait_ms, char **line, size_t *len);
/* Ends the process because no further line can be read; `why` is agent_channel_line's error. */
_Noreturn void agent_hang_up(int why);
/* Ends the process because a line of the host was refused. */
_Noreturn void agent_refuse(const struct laz_error *err);

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
    size_t n, bytes;
    uint64_t last;           /* id of the last call; ids are never used again */
    struct laz_buf failed;   /* error text of the last call that could not begin */
    struct laz_buf answered; /* error text of the last reply */
};

struct agent;

/* Makes calls possible: sets their functions in agent->services. */
void agent_calls_offer(struct agent *agent);
/* The execution is over: open calls are forgotten, and their replies are discarded. */
void agent_calls_forget(struct agent *agent);

/* ---- commands.c: tools as commands ----------------------------------------------------------- */

struct agent_commands {
    int channel;     /* of the session, to the host, until it is passed on; -1: none */
    int door;        /* to the process that carries their calls, which has no channel yet; -1 */
    char *program;   /* the links lead to it; NULL: there are none */
    char *directory; /* with the links */
};

/* The first line from the host, as agent_channel_line gives it; keeps the channel of the commands,
 * if that comes along. */
int agent_commands_first(struct agent *agent, char **line, size_t *len);
/* Notes what `init` says of them, and puts their directory into PATH; of a template for its
 * sessions. */
int agent_commands_plan(struct agent *agent, const struct laz_wire_options *options,
                        struct laz_error *err);
/* In a copy of a template, before a session is asked for: makes the commands of the tools that it
 * has from there. */
void agent_commands_ahead(struct agent *agent);
/* Makes the commands of a session that has a channel for them: of the tools of its template, and of
 * these (NULL: none). */
void agent_commands_start(struct agent *agent, const char *tools, size_t len);

/* ---- files.c: files for the code; collect.c: what it makes ------------------------------------
 */

struct agent_artifact;

/* A directory, of which it may be known whether anything was made in it: then it has another time
 * than this one (laz_os_watch_directory). */
struct agent_watched {
    char *path; /* NULL: there is none */
    bool is_watched;
    int64_t written_ns;
};

struct agent_files {
    char *directory;           /* where the code begins: `work`, or the home; NULL: there is none */
    struct agent_watched work; /* a directory in the home, and nobody's before; NULL: none */
    struct agent_watched artifacts; /* NULL: none are wanted */
    struct laz_strv given;          /* names of files of the host in that directory */
    size_t max_files;
    uint64_t max_bytes;
    struct agent_artifact *known; /* that were sent */
    size_t n_known;
    struct laz_buf text;      /* of a part */
    struct laz_strv left_out; /* by the last collection */
    int put;                  /* the file that is being put; -1 */
    char *put_path;           /* of it */
    int input;                /* standard input of the session, while another is in its place; -1 */
    int64_t id;               /* of the execution, and what it has sent: */
    size_t n_sent;
    uint64_t bytes;
    bool is_last, follows; /* the session ends after it; files follow when it has */
    bool takes_cwd;        /* files at the top of `work` are artifacts, too */
};

/* When files are collected. */
enum agent_moment {
    AGENT_GOES_ON,    /* the interpreter waits for the next execution */
    AGENT_ENDS_LATER, /* it waits for its end */
    AGENT_HAS_ENDED,
};

/* Notes where the files of a session are, of a template: of its sessions, before the runtime keeps
 * a copy of the environment. Goes to the directory where the code begins, unless this is a
 * template.
 */
int agent_files_plan(struct agent *agent, const struct laz_wire_options *options,
                     struct laz_error *err);
/* Makes this the working directory, also for programs that are started. */
bool agent_files_go(const char *directory);
/* Makes what the session has of its own, in its process. */
void agent_files_begin(struct agent *agent);
/* What is sent from now on belongs to this request. */
void agent_files_ask(struct agent *agent, const struct laz_message *request);
/* Sends the artifacts that are new or have changed; says in files.left_out which are not sent, but
 * for those that may still come when the interpreter has ended. */
void agent_files_collect(struct agent *agent, enum agent_moment moment);
/* Does the host get a file of this path, if it is there at the end? */
bool agent_files_keep(const struct agent *agent, const char *path);
void agent_files_send_bytes(struct agent *agent, const char *of, const char *data, size_t len);
/* No further part of a file comes: what there is of it is removed. */
void agent_files_put_end(struct agent *agent);
/* Writes a part of a file: NULL, or why not, borrowed until the next one. */
const char *agent_files_put(struct agent *agent, const struct laz_message *message);
/* Removes a file that was put; as above. It may be gone already. */
const char *agent_files_remove(struct agent *agent, const struct laz_message *message);
/* A file that was put becomes the standard input, until the end of the execution: NULL, or why not,
 * borrowed until the next call. */
const char *agent_files_input(struct agent *agent, const char *name);
void agent_files_input_end(struct agent *agent);

/* ---- interrupt.c ----------------------------------------------------------------------------- */

/* From here on the host can interrupt this process, in whose copies that stays so. Before the
 * runtime is created, which may handle SIGINT itself. */
void agent_interrupt_offer(struct agent *agent);
/* An execution begins: from here on, up to the end, it can be interrupted. False: it already was.
 */
bool agent_interrupt_begin(int64_t id);
void agent_interrupt_end(void);

/* ---- serve.c: messages ---------------------------------------------------------------------- */

enum agent_role {
    AGENT_COLD,     /* a process for one session */
    AGENT_TEMPLATE, /* is copied for sessions */
    AGENT_SESSION,  /* such a copy */
};

struct agent {
    enum agent_role role;
    struct agent_channel channel;
    bool lacks_package;            /* of pool.preload: that is why the start has failed */
    pid_t pid;                     /* of this process; a forked child has another */
    size_t max_message, max_value; /* bytes of a line, and of a value that comes in parts */
    struct agent_calls calls;
    struct agent_commands commands;
    struct agent_files files;
    struct laz_module *module;
    const struct laz_plugin *plugin;
    const struct laz_runtime_ops *ops;
    void *state;
    const struct laz_message *request; /* being answered, or NULL */
    struct laz_agent_services services;
    atomic_int stream;    /* that was written to last; 0: none */
    bool has_readers;     /* each of its own stream: there is no order among these */
    struct laz_buf out;   /* the line that is being made */
    struct laz_heap heap; /* as it was when the session began */
    /* For `ready`: the steps of the confinement that are in force, sentences about the others, and
     * the time of each step: "fork 210, filter 150". */
    struct laz_strv confined, missing;
    struct laz_buf cost;
    /* Of a template: what its sessions get in place of its own. */
    char *home, *socket_directory;
    struct laz_strv shown; /* pairs of paths: in the template, in a session */
    uint64_t tmp_size;
    bool has_groups;         /* each session is made after its control groups have come */
    bool has_network;        /* each session has a network namespace of its own */
    struct laz_os_core core; /* what a vessel keeps of its memory */
    /* Of its `init`, JSON or NULL: what is done before a session asks for the same. */
    char *confine, *tools;
    bool adds_tools;               /* of a session: its `init` has others besides */
    struct laz_landlock_kept kept; /* of the rules in `confine` */
    bool is_filtered;              /* by the first part of the filter in `confine` */
};

void agent_services_init(struct agent *agent);
/* Is this process one that the code has forked? */
static inline bool agent_is_forked(const struct agent *agent)
{
    return getpid() != agent->pid;
}
/* Sends a message. Ends the process when the host is gone or there is no memory for it. */
void agent_send(struct agent *agent, const struct laz_message *message);
/* Sends the lines in agent->out, and clears it. */
void agent_flush(struct agent *agent);
/* The same with a value that was left out of them, at `hole` (laz_message_make_around). */
void agent_flush_around(struct agent *agent, size_t hole, const char *value, size_t len);
/* Answers messages until the host says exit; the status to exit with. */
int agent_serve(struct agent *agent);
/* Ends the interpreter as after a script. */
void agent_end_runtime(struct agent *agent);
/* The interpreter has ended: sends what follows the last execution, and waits for the host to end
 * this process, so that all of it is read. Nothing follows others. */
void agent_follow(struct agent *agent);

/* ---- tools.c: the list of tools in init ----------------------------------------------------- */

struct agent_tools {
    struct laz_field_list list; /* struct laz_wire_tool: their texts */
    struct laz_tool_signature *tools;
    size_t n;
    struct laz_parameter *parameters; /* of all tools, one after the other */
    struct laz_strv texts;            /* what their signatures have besides */
};

/* `raw`: a JSON list. LAZ_EPROTO says what is wrong with it. */
int agent_tools_parse(const char *raw, size_t len, struct agent_tools *tools,
                      struct laz_error *err);
void agent_tools_fini(struct agent_tools *tools);

/* ---- confine.c: how the process confines itself ------------------------------------------ */

/* Is the step left out? Only in the agent of tests/enforce/layers.sh, which shows that a named test
 * notices it; the agent that is installed does not contain the question. */
#ifdef LAZ_TEST_LAYERS
bool agent_left_out(const char *step);
#define AGENT_LEFT_OUT(step) agent_left_out(step)
#else
#define AGENT_LEFT_OUT(step) false
#endif
/* Before `init`: closes every descriptor but the channel and the standard ones. */
void agent_close_descriptors(int channel);
/* Applies the steps that `confine` of `init` (JSON; NULL: none) asks for, and those that are always
 * applied, in the order of the table. Notes in `agent` which are in force and which are missing.
 * LAZ_ESETUP when a step fails that may not. */
int agent_confine(struct agent *agent, const char *confine, size_t len, struct laz_error *err);
/* In a template, as the last step: opens what the rules of its sessions name, but for what they see
 * through mounts of their own (each session closes that as soon as it is confined, before it reads
 * `init`), and puts the first part of their filter in force. */
int agent_confine_ahead(struct agent *agent, const struct laz_own_mounts *mounts,
                        struct laz_error *err);

/* ---- start.c: from the environment to `ready` ----------------------------------------------- */

int agent_start(struct agent *agent, struct laz_error *err);
/* Notes the time that a step took. */
void agent_cost(struct agent *agent, const char *step, uint64_t since_us);
/* In a copy of a template, before a session is asked for: does what its `init` will ask for, as far
 * as the `init` of the template had it. */
int agent_start_ahead(struct agent *agent, struct laz_error *err);
void agent_setup_failed(struct agent *agent, const struct laz_error *err);

/* ---- template.c ----------------------------------------------------------------------------- */

/* After the runtime was loaded: preloads what `options` of `init` names, and prepares for copying.
 */
int agent_template_load(struct agent *agent, const struct laz_wire_options *options,
                        struct laz_error *err);
/* Makes sessions until the host says exit, then false. True in the process of a session, which goes
 * on with agent_start. */
bool agent_template_serve(struct agent *agent, int *status);
/* The process of a session gives up its capabilities before it confines itself. */
int agent_template_strip(struct agent *agent, struct laz_error *err);

/* ---- reap.c --------------------------------------------------------------------------------- */

/* Runs argv[0], leaves no descendant of it alive, and returns the exit status. */
int agent_reap(char **argv);
/* The first process of a pid namespace: reaps until `session` ends, writes its status to `tell`,
 * and ends, and with it all other processes. */
_Noreturn void agent_reap_session(pid_t session, int tell);

#endif
