/* SPDX-License-Identifier: MIT */
/* box.h - one box: its process, its channel, its output, from spawn to the last trace of it.
 * Side: host.  Input trusted: no.
 *
 * A box is started by box_start.c (policy, plan, spawn) and served by box.c (who connects, lines,
 * output, death).  Where it comes from a template (box_from.c), its process is no child of ours,
 * and its channel was made before it.  It reports to its owner, a session or a probe, through
 * `struct laz_box_owner`; after laz_box_release it reports to nobody and vanishes by itself once
 * its process has ended. */
#ifndef LAZ_BOX_BOX_H
#define LAZ_BOX_BOX_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/loop.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "os/cgroup.h"
#include "os/process.h"
#include "os/usage.h"
#include "wire/frame.h"

#include <lazaret/lazaret.h>

struct laz_box;
struct laz_box_shared; /* shared.h */
struct laz_template;   /* template.h */

struct laz_box_owner {
    void *user;
    /* The agent connected, is the process we started, and showed the token. */
    void (*authenticated)(void *user);
    /* A whole line of the agent; it may be changed. False: the box is to be ended. */
    bool (*line)(void *user, char *line, size_t len);
    /* Bytes of a stream. False: nobody wants them now, and the stream is left unread until
     * laz_box_hear, so that who writes all the same waits and costs the host nothing. */
    bool (*output)(void *user, int stream, const char *data, size_t len);
    /* The peer broke a rule below the messages (a line too long, a wrong token, a second peer). */
    void (*broken)(void *user, const struct laz_error *why);
    /* Memory ran out in its control group. */
    void (*out_of_memory)(void *user);
    /* The agent has read some of what it had left unread; laz_box_unread. */
    void (*read_on)(void *user);
    /* The outermost process has ended and all output was delivered. Last report. */
    void (*ended)(void *user);
};

/* What a box is for. */
struct laz_box_purpose {
    const struct laz_runtime_info *runtime; /* NULL: a probe */
    const char *backend;
    const struct laz_backend_ops *ops;
    const struct laz_strv *read; /* further host paths visible in it; may be NULL */
    const char *options;         /* of the backend, JSON */
    uint32_t require;
    bool is_template;                 /* its agent makes sessions, and runs no code itself */
    struct laz_template *template_of; /* where it comes from; NULL: it is started cold */
};

struct laz_box {
    struct laz_box_shared *shared;
    struct laz_box *next;
    struct laz_box_owner owner;
    char token[33];
    char *folder;      /* of the session: socket folder, files, home */
    char *socket_name; /* what the agent is told to connect to; NULL: nothing */
    uint32_t uid;      /* LAZ_SPAWN_SAME_ID: not one of its own */
    struct laz_plan *plan;
    struct laz_cgroup *group;  /* NULL: none */
    struct laz_plan_host host; /* what the group limits, and what is watched */
    struct laz_process process;
    int listener, channel, output[3], status;
    struct laz_io *listener_io, *channel_io, *output_io[3], *status_io, *process_io, *group_io;
    struct laz_timer *patience;   /* authentication; later: the time to die in */
    struct laz_timer *line_timer; /* a line that has begun has to end */
    uint64_t line_due_ms;
    struct laz_timer *next_turn; /* serves the lines that one turn of the loop left */
    struct laz_frame in;
    struct laz_buf out; /* not yet written to the agent */
    size_t out_done;
    struct laz_frame documents;     /* of the backend's program */
    int64_t exit_code;              /* from its documents; -1: none came */
    uint64_t pid_namespace;         /* from its documents; 0: none came */
    int64_t agent_pid;              /* on the host, as the kernel tells it; -1 */
    struct laz_usage usage;         /* of the agent */
    int agent_fd;                   /* its pidfd, which tells how it ended; -1 */
    int init_fd;                    /* pidfd of the first process inside, when it was told; -1 */
    struct laz_template *from;      /* NULL: of its own, and its process our child */
    struct laz_box_purpose purpose; /* from a template: should it be started cold after all */
    struct laz_box *next_waiting;   /* for the same template */
    int64_t sender; /* of the token, until it is authenticated; 0: nobody yet, -1: several */
    int end_signal; /* how its process ended, as its reaper says; -1: it has not said */
    bool waits;     /* for its template: nothing of it is there yet */
    bool turned;    /* it was to come from a template, and did not: its plan is another one */
    bool has_child; /* its documents told of a first process */
    bool authenticated, killed, ended, hung_up;
    bool begun;      /* a line: its timer runs, up to line_due_ms */
    bool behind;     /* whole lines wait for the next turn, and nothing is read */
    bool unheard[3]; /* streams that are left unread */
    bool settled;    /* its owner knows it to be up: what it prints is no complaint */
    bool reaped;     /* its outermost process; `exit` is set */
    bool released;   /* nobody owns it: it frees itself when it has ended */
    struct laz_exit exit;
    uint64_t started_us;      /* laz_clock_us of the spawn */
    uint64_t cpu_us;          /* of the agent, when its channel closed; 0: could not be told */
    struct laz_buf complaint; /* first bytes of standard error until `settled` */
};

/* Spawns it. Errors leave nothing behind. The owner hears of all that follows. *runtime_file: the
 * runtime plugin's path as the agent will see it, a new string (untouched for a probe). */
int laz_box_start(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                  const struct laz_box_owner *owner, char **runtime_file, struct laz_box **box,
                  struct laz_error *err);
/* Watches what the spawned process does. Called by laz_box_start. */
int laz_box_watch(struct laz_box *box, struct laz_error *err);
/* Its peer has broken a rule, or what it depends on is gone: reported as `broken`, unless it is. */
void laz_box_break(struct laz_box *box, int code, const char *text);
/* One that waits for a template is started without: later reports are as if it always had been.
 * Errors are for the caller to report. */
int laz_box_turn_cold(struct laz_box *box, struct laz_error *err);

/* box_from.c: what is particular to a box from a template. */
#define LAZ_BOX_ENDS 4
struct laz_box_ends { /* the far ends of a box's channel, streams and status */
    int fds[LAZ_BOX_ENDS];
};
/* Gives the box its own ends, and its token. */
int laz_box_make_ends(struct laz_box *box, struct laz_box_ends *ends, struct laz_error *err);
void laz_box_close_ends(struct laz_box_ends *ends);
/* As laz_os_read, before it is authenticated. */
ssize_t laz_box_read_sender(struct laz_box *box, void *room, size_t len);
/* It showed its token: is it who may? Then its process is known from here on, and in its group. */
int laz_box_adopt(struct laz_box *box, struct laz_error *err);
/* Does nothing of it run any more, and nothing that could? */
bool laz_box_from_is_over(struct laz_box *box);
/* box.c: its process has become known. */
int laz_box_follow(struct laz_box *box, struct laz_error *err);
/* How it ended, from its documents. */
void laz_box_from_has_ended(struct laz_box *box);

/* box_group.c: the control group of a session, where the host gives one. A group that the
 * host refuses is no error: box->host says what there is, and the plan whether that is enough. One
 * that fails for want of memory or descriptors is. */
int laz_box_make_group(struct laz_box *box, struct laz_error *err);
/* A group for any session: all of an engine have the same limits. `to_enter`: for one from a
 * template, which enters it by itself. */
int laz_box_new_group(struct laz_box_shared *shared, bool to_enter, struct laz_cgroup **group,
                      struct laz_error *err);
/* Mechanisms of a host that gives these groups; `own_uid`: the session has another user;
 * `to_enter`: it comes from a template. */
struct laz_plan_host laz_box_host(const struct laz_cgroups *groups, bool own_uid, bool to_enter);
/* The limit on memory of all processes of a box together, what is around the code included;
 * LAZ_UNLIMITED: none. */
uint64_t laz_box_memory_limit(const struct laz_limits *limits);
int laz_box_watch_group(struct laz_box *box, struct laz_error *err);
/* How often memory ran out. */
uint64_t laz_box_out_of_memory(struct laz_box *box);
/* Kills what is in the group and removes it. */
void laz_box_drop_group(struct laz_box *box);
/* Sends bytes to the agent; what the socket does not take at once is kept and sent later. False:
 * the agent is gone, or does not read (more than `most` bytes are waiting). */
bool laz_box_send(struct laz_box *box, const char *data, size_t len, size_t most);
/* Bytes that were sent and not taken by the socket yet. */
size_t laz_box_unread(const struct laz_box *box);
/* Reads what the agent has sent, without waiting, and reports whole lines. False: there was
 * something, or the channel is closed. For an agent that ought to be silent. */
bool laz_box_is_quiet(struct laz_box *box);
/* Waits up to `ms` for a message of the agent and serves what has come; output stays where it is.
 * False: nothing came, or something else has to be done first. */
bool laz_box_serve(struct laz_box *box, uint64_t ms);
/* The time in which a token must come begins anew: for a box that was not watched meanwhile. */
void laz_box_be_patient(struct laz_box *box);
/* Does it listen at a file in its folder? Else the agent was given its end. */
bool laz_box_has_socket(const struct laz_box *box);
/* What a box may take from its start to its token: five seconds, or a quarter of
 * session.start_timeout where that is more, which is what a user raises for a machine that is slow.
 */
uint64_t laz_box_token_ms(const struct laz_box_shared *shared);
/* What a process may take to get to its program, while who starts it waits: half of
 * session.start_timeout (and ten seconds at least, os/process.h). */
uint64_t laz_box_spawn_ms(const struct laz_box_shared *shared);
/* Listens to both streams. False: they cannot be watched. */
bool laz_box_watch_output(struct laz_box *box);
void laz_box_close_output(struct laz_box *box);
/* Reads again the streams that nobody wanted; what lies in them is dropped. */
void laz_box_hear(struct laz_box *box);
/* Delivers the output that is there now, without waiting. */
void laz_box_drain(struct laz_box *box);
/* Has its process been seen? Of a box from a template that is so with its token; before, there is
 * nobody to be killed, and it ends when it finds its channel closed. */
bool laz_box_has_come(const struct laz_box *box);
/* Ends everything inside; `ended` is reported when it is over, after the engine's death_ms at
 * most; of a box that has not come, after the time for its token. */
void laz_box_kill(struct laz_box *box);
/* Has it ended? Looks at the process without waiting; reports `ended` when so. */
bool laz_box_has_ended(struct laz_box *box);
/* The owner wants to hear no more: kills what still runs, and frees the box when it has ended. */
void laz_box_release(struct laz_box *box);
/* CPU time and peak memory of the agent so far, as the kernel tells them; 0 when it does not. */
void laz_box_usage(struct laz_box *box, uint64_t *cpu_us, uint64_t *max_rss_bytes);
/* Warns of the limits of the settings that nothing in the box keeps, of each once in an engine. */
void laz_box_tell_unmet(const struct laz_box *box);
/* The system does not keep these limits of its job (1 << LAZ_JOB_*): a warning, and the plan
 * declares them no more; LAZ_ESETUP where they are required, or sandbox.strict. Only the agent runs
 * by then, and has not been told what. */
int laz_box_lacks_limits(struct laz_box *box, uint32_t missing, struct laz_error *err);
/* Without its reaper, and without a uid of its own, nobody knows what a session has left. That goes
 * into the log.
 */
void laz_box_note_end_of_reaper(const struct laz_box *box);
/* How the agent itself ended, not what is around it: true, and the number of the signal or 0, and
 * its exit status or -1. False: nobody tells. */
bool laz_box_agent_end(const struct laz_box *box, int *signal, int *status);
/* Why no session came of it: the backend's own explanation, or the words of its program.
 * `timed_out`: it was ended because nothing happened. True when the backend knew: then that is all
 * there is to say. */
bool laz_box_explain(struct laz_box *box, const struct laz_backend_ops *ops, bool timed_out,
                     struct laz_buf *text);

#endif
