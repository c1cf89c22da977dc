/* SPDX-License-Identifier: MIT */
/* box.h - what the room offers: boxes, what those of an engine share, and which backend makes them.
 * Templates, which make boxes as well, are in template.h.
 * Side: host.  Input trusted: no.
 *
 * A box is the processes, the channel and the output of a session, from the spawn to the last trace
 * of it.  It has a state (box_fsm.h) and a kind, a table of operations (box_private.h): started
 * cold, or cloned from a template.  It reports to its owner (a session, a template, the trial of a
 * backend) through `struct laz_box_owner`.  After laz_box_release it reports nothing and frees
 * itself once its processes have ended. */
#ifndef LAZ_BOX_BOX_H
#define LAZ_BOX_BOX_H

#include "box/box_fsm.h"
#include "cluster/cluster.h"
#include "loop/driver.h"
#include "os/cgroup.h"
#include "os/network.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "os/usage.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "wire/frame.h"

#include <lazaret/result.h>

struct laz_box;
struct laz_box_asker;
struct laz_backend_trial; /* box_trial.c */
struct laz_box_far;       /* box_private.h */
struct laz_box_kind;      /* box_private.h */
struct laz_box_scope;     /* box_scope.c */
struct laz_protection;    /* protection.h */
struct laz_template;      /* template.h */

/* ---- what the boxes of an engine share ------------------------------------------------------- */

/* The backend that was chosen, once the first box has been started. */
struct laz_backend_choice {
    char *name;
    const struct laz_backend_ops *ops;
    struct laz_buf options; /* JSON */
    uint32_t require;
    size_t next; /* number of the candidate after it */
    bool proven; /* a box of it came up */
};

/* Its maker sets what it has; all else is zero at first. */
struct laz_box_shared {
    struct laz_driver *driver;
    const struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    struct laz_spawner *spawner;
    const char *directory; /* /tmp/lazaret-..., with everything of the engine in it */
    const char *agent;     /* path of lazaret-agent */
    const char *trust; /* for those with credentials: a directory with lists of authorities, which
                          all users can read (struct laz_policy_session); NULL: there is none */
    const struct laz_strv *placeholders; /* NAME=VALUE, for the same; NULL: none */
    struct laz_programs_store programs;
    struct laz_staged *staged;   /* agent and runtimes */
    struct laz_uids *uids;       /* as root */
    struct laz_cgroups *groups;  /* what this host gives of them */
    struct laz_box_scope *scope; /* the question for more (box_scope.c); NULL: not asked yet */
    char *no_scope;   /* why nothing came of it, or none was asked; NULL: none is needed */
    bool groups_lost; /* that was reported */
    struct laz_backend_choice choice;
    bool
        of_tenants; /* strangers to each other have sessions here: a backend that does not give each
                       its own view of files and processes is no candidate, and neither is none */
    struct laz_backend_trial *trial;   /* under way; NULL: none */
    struct laz_box_asker *askers;      /* wait for its end */
    struct laz_box_asker *answered;    /* are being answered */
    struct laz_box_asker *for_uid;     /* wait for the uid of a box that leaves */
    struct laz_stir uid_stir;          /* answers those, when one has left */
    struct laz_strv unmet;             /* limits that nothing keeps, and that were reported */
    struct laz_templates *templates;   /* NULL: none was asked for */
    struct laz_protection *protection; /* of the last box; NULL: it has ended, or needs none */
    struct laz_fars *fars;             /* made with the first box on another machine */
    struct laz_box *leaving;           /* released; not ended yet, or not removed */
    struct laz_workers *remover;       /* removes directories of sessions; NULL: the loop does */
    unsigned boxes;                    /* names them, in the log, and their directories */
    uint64_t death_ms;                 /* from the kill of a box to its end */
};
/* All boxes have ended: tells workers so. While there is a loop. */
void laz_box_end_fars(struct laz_box_shared *shared);
/* All boxes and templates have ended. */
void laz_box_shared_fini(struct laz_box_shared *shared);

/* ---- the backend ----------------------------------------------------------------------------- */

/* Appends the names of `wanted` in order, "auto" replaced by the installed backends of that system
 * ("linux", "darwin", "windows"), best first (laz_registry_automatic). */
void laz_backend_candidates(struct laz_registry *registry, const struct laz_strv *wanted,
                            const char *platform, struct laz_strv *names);
/* The backend, where it is known, without asking. */
int laz_box_chosen(const struct laz_box_shared *shared, const struct laz_backend_choice **choice,
                   struct laz_error *err);

/* A request for the backend, or for a uid. Owned by the caller, who withdraws it before it is
 * freed. */
struct laz_box_asker {
    struct laz_box_asker *next; /* of those that wait */
    bool starts_again;          /* not asked by laz_box_backend: the answer 0 is to a new start */
    struct laz_error *lack; /* NULL, or filled where this process is short of what a trial needs */
    void *user;
    /* rc: as from the function that asked; why->code 0: that left `err` as it is. */
    void (*answer)(void *user, int rc, const struct laz_error *why);
};

#define LAZ_BOX_ASKED 1 /* no error: the answer comes later */

/* Asks for the backend of this engine, which is found on first use. 0: it is shared->choice.
 * LAZ_BOX_ASKED: one is being tried on the loop, or control groups are asked for (box_scope.c); the
 * asker is answered between two turns of it, unless it withdraws. Errors (LAZ_ENOENT, LAZ_ECONFIG,
 * LAZ_EREFUSED, LAZ_ESETUP) name the setting; LAZ_EBUSY: all uids are in use. */
int laz_box_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                    struct laz_error *err);
/* A session did not start: was it the backend that does not work? 0: yes, and another one of the
 * settings' list, which does, was taken. LAZ_BOX_ASKED: as above. Errors: no other was taken;
 * `err` stays as it is, or says what is wrong with all of them. */
int laz_box_next_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                         struct laz_error *err);
/* Tries the present choice by a box with nothing in it, where none of it came up yet. As
 * laz_box_next_backend: 0: it does not work, and another one was taken. LAZ_ESETUP, and `err` as it
 * is: it works, and is proven. */
int laz_box_try_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                        struct laz_error *err);
/* A box did not start: may that be the backend's, so that another one may be taken? Not where the
 * settings or a plugin are wrong, and not for exhausted memory, descriptors or uids. */
bool laz_box_may_be_another(const struct laz_error *why);
/* A box did not start, by LAZ_EBUSY: does it get a uid when one that leaves has ended? Then the
 * asker is answered after that (0), or when the waits are cancelled. */
bool laz_box_await_uid(struct laz_box_shared *shared, struct laz_box_asker *asker);
/* The asker waits no more. A trial that has no askers left is ended. */
void laz_box_withdraw(struct laz_box_shared *shared, struct laz_box_asker *asker);
/* Answers all that wait with LAZ_ECANCELLED, and ends a trial that is under way. */
void laz_box_cancel_waits(struct laz_box_shared *shared);

/* ---- boxes ----------------------------------------------------------------------------------- */

struct laz_box_owner {
    void *user;
    /* The agent connected, is the process that was started, and showed the token. */
    void (*authenticated)(void *user);
    /* A whole line of the agent; it may be changed. False: the box is to be ended. */
    bool (*line)(void *user, char *line, size_t len);
    /* The same of its commands (box_commands.c): a call of a tool. NULL: it is too long. */
    bool (*command)(void *user, char *line, size_t len);
    /* Bytes of a stream. Return false to pause reading until laz_box_hear(): a writer then blocks
     * on the full pipe, and costs the host nothing. */
    bool (*output)(void *user, int stream, const char *data, size_t len);
    /* The peer broke a rule below the messages (a line too long, a wrong token, a second peer), or
     * the channel failed on this side. */
    void (*broken)(void *user, const struct laz_error *why);
    /* Memory ran out in its control group. */
    void (*out_of_memory)(void *user);
    /* The agent has read some of what it had left unread; laz_box_unread. */
    void (*read_on)(void *user);
    /* All its processes have ended and all output was delivered. Last report. */
    void (*ended)(void *user);
};

/* What a box is for. */
struct laz_box_purpose {
    const struct laz_runtime_info *runtime;  /* NULL: the trial of a backend */
    const struct laz_backend_choice *choice; /* NULL: it comes from a template */
    const struct laz_strv *read;             /* further host paths visible in it; may be NULL */
    const int *const *lent; /* its three standard streams, borrowed; NULL: an input is empty, output
                               is read here; NULL: all are */
    bool is_template;       /* its agent makes sessions, and runs no code itself */
    const struct laz_box_kind *kind;  /* NULL: it is started cold */
    struct laz_template *template_of; /* where it comes from, by that kind; else NULL */
    bool adds_tools;                  /* to those that its template has */
    bool has_tools;      /* of a session that is started cold: they are commands, too */
    bool is_far;         /* on another machine (box_far.c), which is told of the next three: */
    const char *tools;   /* JSON list (struct laz_wire_tool) */
    const char *network; /* JSON list of rules */
    const struct laz_strv *credentials; /* names; NULL: all of its settings */
    bool has_network; /* it has an empty network, for laz_box_listen; of a template: its sessions */
    bool has_credentials; /* it shows `trust` of what boxes share, and has placeholders: */
    const struct laz_strv *placeholders; /* its own, of one that is started cold; NULL: those that
                                            boxes share */
};

/* The channel of commands. */
struct laz_box_commands {
    int fd; /* -1: there is none */
    struct laz_io *io;
    struct laz_timer *next_turn;
    struct laz_frame in;
    struct laz_buf out; /* not yet written */
    size_t out_done;
    bool behind;    /* whole lines wait for the next turn */
    bool is_paused; /* nothing is read, until laz_box_hear_commands */
};

struct laz_box {
    struct laz_box_shared *shared;
    struct laz_box *next; /* of those that leave, or that wait for the same template */
    const struct laz_box_kind *kind;
    struct laz_box_life life;
    char name[12];           /* a number */
    bool released;           /* it has no owner: it frees itself with its end */
    bool had_process;        /* when it was given up */
    bool has_left;           /* processes may have got away from its reaper */
    bool returns_uid;        /* nothing runs under its uid any more: returned when it is freed */
    bool left_in_group;      /* its group could not be emptied */
    struct laz_work removal; /* of what it has left, by a thread that then posts `removed` */
    struct laz_post removed;
    struct laz_box_owner owner;
    char token[33];
    char *directory;   /* directory of the session: of its socket, its files, its home */
    char *socket_name; /* the agent connects to it; NULL: nothing */
    uint32_t uid;      /* LAZ_SPAWN_SAME_ID: not one of its own */
    const struct laz_backend_ops *ops; /* whose program it runs; NULL: it is from a template */
    struct laz_plan *plan;
    struct laz_strv libraries; /* what the agent opens before the plugin: paths inside, or names */
    struct laz_strv protects;  /* as the policy has them, until it starts */
    struct laz_protection *protection; /* NULL: nothing is protected */
    char *commands_program; /* what commands are links to, as the box shows it; NULL: none */
    struct laz_box_commands commands;
    char *runtime_file;        /* path of the runtime plugin as the agent sees it; NULL: a trial */
    struct laz_cgroup *group;  /* NULL: none */
    struct laz_plan_host host; /* what the group limits, and what is watched */
    bool has_network;          /* as it was asked for */
    /* Once the host listens in its network: as in struct laz_tree. */
    uint64_t tcp_bytes; /* laz_os_tree_tcp_bytes; 0: it does not */
    unsigned tcp_listeners;
    struct laz_process process;
    int listener, channel, output[3], status;
    struct laz_io *listener_io, *channel_io, *output_io[3], *status_io, *process_io, *group_io;
    struct laz_timer *patience; /* for the token; later: for the end, or the next look at it */
    uint64_t end_due_ms;        /* of a box that was killed: then its time to end is over */
    /* of the channel */
    struct laz_timer *line_timer; /* a line that has begun has to end */
    uint64_t line_due_ms;
    bool begun;                  /* a line: its timer runs, up to line_due_ms */
    bool behind;                 /* whole lines wait for the next turn, and nothing is read */
    struct laz_timer *next_turn; /* serves them */
    struct laz_frame in;
    struct laz_buf out; /* not yet written to the agent */
    size_t out_done;
    bool unheard[3];            /* streams whose reading is paused */
    struct laz_buf complaint;   /* first bytes of standard error, until it is up */
    struct laz_frame documents; /* of the backend's program, by the status pipe */
    bool has_child;             /* they reported a first process */
    int64_t exit_code;          /* from them; -1: none came */
    int end_signal;             /* how its process ended, as its reaper says; -1: not said */
    uint64_t pid_namespace;     /* from them; 0: none came */
    /* of its processes */
    int64_t agent_pid;      /* on the host, as the kernel reports it; -1 */
    struct laz_usage usage; /* of the agent */
    int agent_fd;         /* its pidfd, which knows how it ended; -1: that of `process`, or none */
    int init_fd;          /* pidfd of the first process inside, once it is known; -1 */
    int64_t init_pid;     /* its number, as long as it could not be opened; 0 */
    struct laz_exit exit; /* of the outermost process, from REAP on */
    uint64_t started_us;  /* laz_clock_us of the spawn */
    uint64_t cpu_us;      /* of the agent, when its channel closed; 0: it could not be read */
    struct laz_box_far *far; /* NULL: it is on this machine */
    /* of one from a template */
    struct laz_template *from;      /* NULL: started cold */
    struct laz_box_purpose purpose; /* should it be started cold after all */
    int64_t sender; /* of the token, until it is authenticated; 0: none yet, -1: several */
};

static inline bool laz_box_is_ended(const struct laz_box *box)
{
    return box->life.state == LAZ_BOX_ENDED;
}
/* Is its process known? A session from a template is known with its token; before, no process can
 * be killed, and it ends when it finds its channel closed. */
static inline bool laz_box_is_known(const struct laz_box *box)
{
    return box->process.pid >= 0;
}
/* What has happened to it, in whatever state it is now. */
#define LAZ_BOX_HAD(function, event)                                                               \
    static inline bool function(const struct laz_box *box)                                         \
    {                                                                                              \
        return laz_box_life_had(&box->life, event);                                                \
    }
LAZ_BOX_HAD(laz_box_was_authenticated, LAZ_BOX_EVENT_TOKEN)
LAZ_BOX_HAD(laz_box_was_up, LAZ_BOX_EVENT_SETTLE)
LAZ_BOX_HAD(laz_box_was_killed, LAZ_BOX_EVENT_KILL)
LAZ_BOX_HAD(laz_box_was_reaped, LAZ_BOX_EVENT_REAP)
LAZ_BOX_HAD(laz_box_has_hung_up, LAZ_BOX_EVENT_HANG_UP)
/* It was to come from a template, and was started cold: its plan is another one. */
LAZ_BOX_HAD(laz_box_has_turned, LAZ_BOX_EVENT_TURN)
#undef LAZ_BOX_HAD

/* Begins its start. Errors leave nothing behind. All that follows is reported to the owner. */
int laz_box_start(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                  const struct laz_box_owner *owner, struct laz_box **box, struct laz_error *err);
/* Makes the sockets of the host in the network of a box that has one, after its token has come and
 * before any code runs in it. Takes less than a millisecond; the agent may prepare itself
 * meanwhile. The caller closes the sockets, also after the box has ended: until then its network
 * lasts. Errors: as laz_os_network_listen, LAZ_ECLOSED: its agent is gone. */
int laz_box_listen(struct laz_box *box, const uint16_t *ports, size_t n,
                   struct laz_os_network *sockets, struct laz_error *err);
/* Takes the steps of the start of a cold box, up to its process, and frees it. */
int laz_box_inspect(struct laz_box_shared *shared, const struct laz_box_purpose *purpose,
                    struct laz_error *err);
/* Its owner knows it to be up, which proves its backend. */
void laz_box_settle(struct laz_box *box);

/* Ends a question for control groups that is open. Before the loop and the spawner are freed. */
void laz_box_end_scope(struct laz_box_shared *shared);
/* Appends one line: where an engine that has its backend makes control groups, or why nowhere.
 * True: it makes some. */
bool laz_box_tell_groups(const struct laz_box_shared *shared, struct laz_buf *text);
/* Mechanisms of a host that gives these control groups; `limits`: of the settings, borrowed as long
 * as the result is used; `own_uid`: the session has another user;
 * `to_enter`: it comes from a template. */
struct laz_plan_host laz_box_host(const struct laz_cgroups *groups,
                                  const struct laz_limit_values *limits, bool own_uid,
                                  bool to_enter);
/* The limit on memory of all processes of a box together, what is around the code included;
 * LAZ_UNLIMITED: none. */
uint64_t laz_box_memory_limit(const struct laz_limit_values *limits);
/* How often memory ran out. */
uint64_t laz_box_out_of_memory(struct laz_box *box);

/* Sends bytes to the agent; what the socket does not take at once is kept and sent later. False:
 * the agent is gone, or does not read (more than `most` bytes are waiting). */
bool laz_box_send(struct laz_box *box, const char *data, size_t len, size_t most);
/* Bytes that were sent and not taken by the socket yet. */
size_t laz_box_unread(const struct laz_box *box);

/* The program that tools are links to as commands, as the agent sees it; NULL: they are none. */
const char *laz_box_commands_program(const struct laz_box *box);
/* laz_box_send for the first message to the agent, with the channel of its commands. */
bool laz_box_send_with_commands(struct laz_box *box, const char *data, size_t len);
/* Sends an answer to its commands. One that leaves too much unread loses its channel. */
void laz_box_answer_command(struct laz_box *box, const char *data, size_t len);
size_t laz_box_commands_unread(const struct laz_box *box);
/* Serves what commands have sent and no turn has served, without waiting. */
void laz_box_catch_up_commands(struct laz_box *box);
/* Reads what commands send, or lets it wait where it is. */
void laz_box_hear_commands(struct laz_box *box, bool hears);

/* Reads what the agent has sent, without waiting, and reports whole lines. False: there was
 * something, or the channel is closed. For an agent that ought to be silent. */
bool laz_box_is_quiet(struct laz_box *box);
/* Waits up to `ms` for a message of the agent and serves what has come; output stays where it is.
 * False: nothing came, or something else has to be done first. */
bool laz_box_serve(struct laz_box *box, uint64_t ms);
/* Takes a connection and reads a message that have come and that no turn has served: before it is
 * judged that they are late, because the loop may have stood still. */
void laz_box_catch_up(struct laz_box *box);
/* Reads streams again whose reading was paused; what lies in them is dropped, or `keeps`. */
void laz_box_hear(struct laz_box *box, bool keeps);
/* Delivers the output that is there now, without waiting. */
void laz_box_drain(struct laz_box *box);

/* The time in which a token must come begins anew, because the loop stood still. */
void laz_box_be_patient(struct laz_box *box);
/* What a box may take from its start to its token: five seconds, or a quarter of
 * session.start_timeout where that is more, which is what a user raises for a machine that is slow.
 */
uint64_t laz_box_token_ms(const struct laz_box_shared *shared);
/* What a process may take to get to its program, while its spawner waits: half of
 * session.start_timeout (and ten seconds at least, os/process.h). */
uint64_t laz_box_spawn_ms(const struct laz_box_shared *shared);

/* Interrupts the code in it, as a signal of the terminal does: of the execution with this number,
 * or of none if that does not run any more. False: there is no process to be interrupted, or it
 * cannot be on this system. */
bool laz_box_interrupt(const struct laz_box *box, uint32_t number);
/* Ends everything inside; `ended` is reported when it is over, after the engine's death_ms at
 * most; of a box that is not known, after the time for its token. */
void laz_box_kill(struct laz_box *box);
/* Looks at its processes without waiting; reports `ended` when none runs. True: it has ended. */
bool laz_box_look(struct laz_box *box);
/* NULL: what has to stay read-only does; else a path that does no more (protection.h). */
const char *laz_box_unprotected(const struct laz_box *box);
/* What stays read-only and is named by the message of an error: why it was refused. NULL: none. */
const char *laz_box_protects(const struct laz_box *box, const char *message);
/* What the host of a box on another machine has said of it, and of its last execution. */
struct laz_box_said {
    bool has_verdict, is_kept; /* the rest of this group is of the execution */
    enum laz_verdict verdict;
    char *detail, *evidence;                        /* JSON object; NULL: none */
    const char *replaced;                           /* as of a result: static text */
    struct laz_strv warnings, denials, credentials; /* the last two: JSON objects */
    uint64_t cpu_us, max_rss_bytes;                 /* of the box so far */
    char *isolation;                                /* JSON, with the name of the worker */
    bool is_sandbox;                                /* it keeps code from files of its machine */
    uint32_t enforces;
    char backend[65];
};
/* Why one on another machine is gone; NULL: it is not, or is of this machine. */
const char *laz_box_lost(const struct laz_box *box);
bool laz_box_is_far(const struct laz_box *box); /* NULL is allowed, as in the next */
/* NULL: it is on this machine. */
const struct laz_box_said *laz_box_said(const struct laz_box *box);
/* Another list for what it may reach; where that is refused, the box ends. False: it is not sent.
 */
bool laz_box_set_far_network(struct laz_box *box, const char *allow);

/* The owner gives it up: kills what still runs, and frees the box when it has ended. Nothing is
 * reported any more. */
void laz_box_release(struct laz_box *box);

/* CPU time and peak memory of the agent so far, as the kernel reports them; 0 where it does not. */
void laz_box_usage(struct laz_box *box, uint64_t *cpu_us, uint64_t *max_rss_bytes);
/* How the agent itself ended, not what is around it: true, and the number of the signal or 0, and
 * its exit status or -1. False: it is not known. */
bool laz_box_agent_end(const struct laz_box *box, int *signal, int *status);
/* Why no session came of it: the explanation of the backend, or the words of its program.
 * `timed_out`: it was ended because nothing happened. True when the backend knew: then that is all
 * there is to say. */
bool laz_box_explain(struct laz_box *box, bool timed_out, struct laz_buf *text);

#endif
