/* SPDX-License-Identifier: MIT */
/* box_fsm.h - the states of a box, and what moves it from one to the next.
 * Side: host.  Input trusted: no (some events are caused by processes in the box).
 *
 *         WAITING                     waits until its template can serve it
 *          ^   |
 *    WAIT  |   |  SPAWN                (TURN: its template is lost, back to NEW, started cold)
 *          |   v
 *    NEW ----> SPAWNED --CONNECT--> CONNECTED --TOKEN--> AUTHENTICATED --SETTLE--> UP
 *       SPAWN
 *    from any of these:    HANG_UP -> HUNG_UP    the agent closed its connection
 *                          BREAK   -> BROKEN     a rule was broken, or the channel failed
 *                          KILL    -> ENDING     its processes were told to end
 *                          REAP    -> REAPED     its outermost process has ended
 *    and at last:          END     -> ENDED      nothing of it runs; the box may be freed
 *
 * NEW            It is made.  No process of it runs.
 * WAITING        Kind "from a template" only.  The template has not been asked for it.
 * SPAWNED        Cold: the process runs, and the host listens for its connection.
 *                From a template: the template was asked.  The channel exists, its process is
 *                unknown, and can only be ended by closing the channel.
 * CONNECTED      Cold: a peer is connected that the kernel says is in the box.
 *                From a template: the first bytes have come.
 * AUTHENTICATED  The token was shown.  From here on the process of a template's session is known
 *                (laz_box_kind.admit), followed and killed by a descriptor.
 * UP             The owner knows that the agent is ready.  stderr is no longer collected to explain
 *                why a start failed.
 * HUNG_UP        The process should end by itself; a timer ends the wait for that.
 * BROKEN         The channel is closed, and that was reported.  The owner decides what becomes of
 *                the processes: usually it kills the box.
 * ENDING         Its processes were told to end; a timer ends the wait for that (OVERDUE, and soon
 *                after END).  Messages that still come are discarded.
 * REAPED         The outermost process is gone and `exit` is known.  The first process of the pid
 *                namespace inside may still run.
 * ENDED          laz_box_kind.is_over said so, or the timer has run out.  That is the last report.
 *
 * The channel and the processes of a box end independently of each other: the agent can close its
 * connection before or after a kill, and the outermost process can be gone before the host has read
 * the end of the channel.  So ENDING and REAPED accept the events of the channel without leaving.
 * What a box has gone through is asked by event (laz_box_life_had): a box that was authenticated
 * stays so when it hangs up.
 *
 * Who frees a box: its owner calls laz_box_release in any state; nothing is reported after that.
 * Without a process (NEW, WAITING) and in ENDED that frees the box at once.  Otherwise it is
 * killed, stays in laz_box_shared.leaving, and frees itself with END.  END comes for every box:
 * from the descriptor of its process, from the status pipe of a session whose process is unknown,
 * or from the timer that KILL starts.  A directory that code could fill is removed by a thread,
 * which ends before that what has got away from a reaper: the box stays in laz_box_shared.leaving
 * until then, and keeps its uid.
 *
 *               cold (box_cold.c)                  from a template (box_from_template.c)
 *    start      plan, listener, spawn: SPAWN       asks the template: SPAWN, or WAIT
 *    read       reads                              reads, and notes which process sent it
 *    admit      (the peer was checked: CONNECT)    checks and follows the sender
 *    kill       its cgroup, group and namespace    pid 1 of its namespace, or closes the channel
 *    is_over    reaped, and pid 1 inside is gone   its process is gone, or the status pipe ended
 *    give_back  its uid                            -
 *    leave      -                                  is removed from its template
 *
 * A start that failed half-way goes from NEW or SPAWNED over ENDING to ENDED as any other box. */
#ifndef LAZ_BOX_BOX_FSM_H
#define LAZ_BOX_BOX_FSM_H

#include "base/log.h"

enum laz_box_state {
    LAZ_BOX_NEW,
    LAZ_BOX_WAITING,
    LAZ_BOX_SPAWNED,
    LAZ_BOX_CONNECTED,
    LAZ_BOX_AUTHENTICATED,
    LAZ_BOX_UP,
    LAZ_BOX_HUNG_UP,
    LAZ_BOX_BROKEN,
    LAZ_BOX_ENDING,
    LAZ_BOX_REAPED,
    LAZ_BOX_ENDED,
    LAZ_BOX_STATES,
};

enum laz_box_event {
    LAZ_BOX_EVENT_WAIT,    /* it was put in line for its template */
    LAZ_BOX_EVENT_TURN,    /* its template does not serve it: it is started cold */
    LAZ_BOX_EVENT_SPAWN,   /* its process was spawned, or its template was asked for it */
    LAZ_BOX_EVENT_CONNECT, /* a peer is there */
    LAZ_BOX_EVENT_TOKEN,   /* the peer showed the token, and is the right process */
    LAZ_BOX_EVENT_SETTLE,  /* its owner knows it to be up */
    LAZ_BOX_EVENT_HANG_UP, /* the agent closed its connection */
    LAZ_BOX_EVENT_BREAK,   /* a rule was broken, or this side of the channel failed */
    LAZ_BOX_EVENT_KILL,    /* it is being ended */
    LAZ_BOX_EVENT_OVERDUE, /* the time for its end is over: it is killed once more */
    LAZ_BOX_EVENT_REAP,    /* its outermost process has ended */
    LAZ_BOX_EVENT_END,     /* nothing of it runs any more, or nothing more is awaited */
    LAZ_BOX_EVENTS,
};

/* Where a box stands, and which events it has had. All zero: new. */
struct laz_box_life {
    enum laz_box_state state;
    uint32_t had; /* 1 << event; by laz_box_life_step alone */
};

const char *laz_box_state_name(enum laz_box_state state);
/* The one setter. False, logged as an error: the event is not allowed, and nothing has changed.
 * `name` is the box's, for the log. */
bool laz_box_life_step(struct laz_box_life *life, enum laz_box_event event,
                       const struct laz_log *log, const char *name);
bool laz_box_life_had(const struct laz_box_life *life, enum laz_box_event event);

#endif
