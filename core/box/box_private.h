/* SPDX-License-Identifier: MIT */
/* box_private.h - what the files that make up a box share: its kind, and the steps of its life.
 * Side: host.
 *
 * A kind is a table of operations.  box.c decides when something is done, the kind how; box_fsm.h
 * says which operation belongs to which state.  Operations that may be NULL say so. */
#ifndef LAZ_BOX_BOX_PRIVATE_H
#define LAZ_BOX_BOX_PRIVATE_H

#include "box/box.h"

struct laz_box_kind {
    const char *name;
    /* Begins a start in a new box: it is spawned, or waits. */
    int (*start)(struct laz_box *box, const struct laz_box_purpose *purpose, struct laz_error *err);
    /* As laz_os_read on its channel, until it is authenticated. NULL: that. */
    ssize_t (*read)(struct laz_box *box, void *room, size_t len);
    /* The token was shown: is the sender the right process? From here on that is known. NULL: the
     * peer was checked when it connected. */
    int (*admit)(struct laz_box *box, struct laz_error *err);
    /* As laz_box_send, laz_box_unread, laz_box_usage of a box without a channel and processes here;
     * NULL: it has some. */
    bool (*send)(struct laz_box *box, const char *data, size_t len);
    size_t (*unread)(const struct laz_box *box);
    void (*usage)(const struct laz_box *box, uint64_t *cpu_us, uint64_t *max_rss_bytes);
    /* Kills all that is known of it. */
    void (*kill)(struct laz_box *box);
    /* Interrupts the agent. False: it cannot be. */
    bool (*interrupt)(const struct laz_box *box, uint32_t number);
    /* Does nothing of it run any more? Reaps its process. */
    bool (*is_over)(struct laz_box *box);
    /* It has ended: completes `exit`. NULL: is_over has. */
    void (*ended)(struct laz_box *box);
    /* It did what no process of its kind does. NULL: no other box depends on that. */
    void (*distrust)(struct laz_box *box, const char *why);
    /* Opens box->usage where that was not possible with the token. NULL: it was. */
    void (*find_usage)(struct laz_box *box);
    /* As laz_box_agent_end. */
    bool (*agent_end)(const struct laz_box *box, int *signal, int *status);
    /* Why it did not come, where more is known than how its process ended. NULL, or returns NULL:
     * nothing more. Borrowed. */
    const char *(*why)(struct laz_box *box);
    /* It is being freed: ends, first of all, what may be left under its uid, and says whether the
     * uid can be returned. NULL: it has none of its own. */
    void (*give_back)(struct laz_box *box);
    /* It is being freed, last of all. NULL: nothing knows of it. */
    void (*leave)(struct laz_box *box);
};

extern const struct laz_box_kind laz_box_cold, laz_box_from_template, laz_box_far;

/* ---- box.c ----------------------------------------------------------------------------------- */

/* The event has happened; false: the table does not allow it, which was logged. */
bool laz_box_step(struct laz_box *box, enum laz_box_event event);
/* Closes the channel and reports `broken`, unless the box has ended. LAZ_EPROTO is misbehaviour of
 * the peer; what this side lacks (descriptors, memory) is LAZ_EOS with its errno, or LAZ_ENOMEM. */
void laz_box_fail_by(struct laz_box *box, const struct laz_error *why);
void laz_box_fail(struct laz_box *box, int code, const char *format, ...) LAZ_PRINTF(3, 4);
/* The same where the channel is still open: where it is closed, that was reported. */
void laz_box_break(struct laz_box *box, int code, const char *text);
void laz_box_hung_up(struct laz_box *box);
/* box->patience is over: the time for its token, or for its end. */
void laz_box_out_of_patience(void *user);
/* Nothing of it runs any more, or nothing more is awaited: reports `ended`. */
void laz_box_end(struct laz_box *box);
/* Removes it from the list, if it is there. */
void laz_box_unlink(struct laz_box **list, struct laz_box *box);
/* Watches what the spawned process does. */
int laz_box_watch(struct laz_box *box, struct laz_error *err);
/* Watches box->process, which has become known. */
int laz_box_follow(struct laz_box *box, struct laz_error *err);

/* ---- box_channel.c --------------------------------------------------------------------------- */

/* The uid of its processes, as the kernel reports it. */
uint32_t laz_box_kernel_uid(const struct laz_box *box);
/* Starts to watch listener, channel and status pipe, as far as there are any. False: one cannot be
 * watched. */
bool laz_box_watch_channel(struct laz_box *box);
/* Does it listen at a file in its directory? Else the agent was given its end. */
bool laz_box_has_socket(const struct laz_box *box);
void laz_box_close_channel(struct laz_box *box);
/* Reads the documents that have come, if there is a status pipe. */
void laz_box_read_status(struct laz_box *box);
/* Opens box->init_fd, once the documents name that process. False with errno: for lack of
 * descriptors or memory that is not possible now. */
bool laz_box_find_init(struct laz_box *box);
void laz_box_free_channel(struct laz_box *box);

/* ---- box_far.c, box_far_lines.c: a box on another machine
 * ---------------------------------------- */

struct laz_box_far {
    struct laz_box *box;
    struct laz_far *far;     /* the place; NULL: it is gone */
    struct laz_timer *timer; /* for what is owed to the session: */
    bool ends, refuses;      /* its end, as asked; an answer to what cannot be done there */
    struct laz_buf open;     /* the request that opens the session there */
    struct laz_frame sent;   /* what the session sends */
    int64_t session;         /* its number there; 0: it is not open */
    int64_t last, request; /* ids: the last one; of what is executed, checked or put, 0: nothing */
    int64_t network;       /* of the last list */
    int64_t id;            /* as the session counts what it has asked for */
    int64_t put;           /* the part of a file */
    bool is_ready, has_last;
    bool is_behind;    /* the worker has left out output */
    size_t told[2];    /* bytes of output that the session has */
    uint64_t cpu_us;   /* of executions that have ended */
    uint64_t asked_us; /* when the last one began */
    struct laz_box_said said;
    char why[300]; /* it does not come, or has ended; "": it has not */
};

/* It is over: tells the session, for whom the next one says what was lost. */
void laz_box_far_over(struct laz_box_far *far, const char *why);
void laz_box_far_lost(struct laz_box_far *far, const char *why);
bool laz_box_far_suffices(struct laz_box_far *far);
/* Makes far->open. */
void laz_box_far_open(struct laz_box_far *far, const struct laz_box_purpose *purpose);
/* A line of the worker. False: it breaks the protocol. */
bool laz_box_far_take(struct laz_box_far *far, const char *line, size_t len);
/* As laz_box_send, laz_box_interrupt. */
bool laz_box_far_send(struct laz_box_far *far, const char *data, size_t len);
bool laz_box_far_interrupt(struct laz_box_far *far, uint32_t number);
/* As laz_box_set_far_network. */
bool laz_box_far_network(struct laz_box_far *far, const char *allow);
/* What the session asked for last was refused, or is its end. */
void laz_box_far_refuse(struct laz_box_far *far, const char *why);
void laz_box_far_follow(struct laz_box_far *far);
/* Forgets what was said of the last execution. */
void laz_box_far_forget(struct laz_box_far *far);

/* ---- box_commands.c -------------------------------------------------------------------------- */

/* Makes the channel. False: there is none, which is no error. */
bool laz_box_open_commands(struct laz_box *box, int *end);
void laz_box_close_commands(struct laz_box *box);

/* ---- box_start.c ----------------------------------------------------------------------------- */

int laz_box_start_cold(struct laz_box *box, const struct laz_box_purpose *purpose,
                       struct laz_error *err);
/* A pipe whose end on this side does not block. */
int laz_box_pipe(int *own, int *other, struct laz_error *err);
/* One that waits for a template, or was refused by it, is started without: later reports are as if
 * it always had been. Errors are for the caller to report. */
int laz_box_turn_cold(struct laz_box *box, struct laz_error *err);

/* ---- box_trial.c: starts that wait ----------------------------------------------------------- */

/* Is it memory, descriptors or uids that are used up? That says nothing of a backend or template,
 * and may be over the next time. */
static inline bool laz_box_is_short(const struct laz_error *err)
{
    return laz_error_is_shortage(err) || err->code == LAZ_EBUSY;
}
/* Those who asked for the backend go on; `why`: they get this error (NULL: none). */
void laz_box_backend_goes_on(struct laz_box_shared *shared, const struct laz_error *why);

/* ---- box_from_template.c --------------------------------------------------------------------- */

#define LAZ_BOX_ENDS 4
/* Gives the box its token and its ends of channel, streams and status; the far ones to `ends`. */
int laz_box_make_ends(struct laz_box *box, int ends[LAZ_BOX_ENDS], struct laz_error *err);
void laz_box_close_ends(int ends[LAZ_BOX_ENDS]);

/* ---- box_output.c ---------------------------------------------------------------------------- */

/* Watches both streams. False: they cannot be watched. */
bool laz_box_watch_output(struct laz_box *box);
void laz_box_close_output(struct laz_box *box);

/* ---- box_group.c: the control group of a session, where the host gives one ------------------- */

/* A group that the host refuses is not an error: box->host says what there is, and the plan whether
 * that is enough. One that fails because memory or descriptors are exhausted is an error. */
int laz_box_make_group(struct laz_box *box, struct laz_error *err);
/* A group for any session: all of an engine have the same limits. `to_enter`: for one from a
 * template, which enters it by itself. */
int laz_box_new_group(struct laz_box_shared *shared, bool to_enter, struct laz_cgroup **group,
                      struct laz_error *err);
int laz_box_watch_group(struct laz_box *box, struct laz_error *err);
/* Its box has ended: kills what got away from a reaper, and waits for it. Any thread. */
void laz_box_end_group(struct laz_box *box);
void laz_box_drop_group(struct laz_box *box);

/* ---- box_scope.c: control groups that systemd gives ------------------------------------------ */

/* Asks where it is needed and was not asked before. 0: there is no question, or it is answered;
 * LAZ_BOX_ASKED: laz_box_backend_goes_on will be called between two turns of the loop. Errors:
 * memory or descriptors are exhausted. */
int laz_box_ask_scope(struct laz_box_shared *shared, struct laz_error *err);

/* ---- box_report.c ---------------------------------------------------------------------------- */

/* Warns of the limits of the settings that nothing in the box keeps, and of what else the policy
 * notes; of each once in an engine. */
void laz_box_tell_unmet(const struct laz_box *box, const struct laz_strv *notes);
/* The system does not keep these limits of its job (1 << LAZ_JOB_*): a warning, and the plan
 * declares them no more; LAZ_ESETUP where they are required, or sandbox.strict. Only the agent runs
 * by then, and it has received nothing. */
int laz_box_lacks_limits(struct laz_box *box, uint32_t missing, struct laz_error *err);
/* Logs that processes of a session may be left, where its reaper was killed and it has no uid of
 * its own. */
void laz_box_note_end_of_reaper(const struct laz_box *box);

#endif
