/* SPDX-License-Identifier: MIT */
/* box.c - one box: who connects, lines, death.
 * Side: host.  Input trusted: no.
 *
 * Everything that comes out of the box is untrusted: the connection until its peer was looked at
 * and its token compared, the lines (bounded here, judged by their owner), the output
 * (box_output.c). The kernel is asked who the peer is; the box is not.  A box is freed only when
 * its process has ended: until then it stays in the engine's list of those that leave. */
#include "box/box.h"

#include "base/json.h"
#include "base/random.h"
#include "box/shared.h"
#include "box/template.h"
#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/peer.h"
#include "os/pidfd.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/sockets.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "os/usage.h"
#include "os/users.h"
#include "wire/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOX_READ       ((size_t)64 << 10) /* bytes read at once */
#define BOX_LINE_MS    5000               /* from the first byte of a line to its last */
#define BOX_HELD_UP_MS 1000               /* so late, a timer tells that the loop stood still */
#define BOX_LINES      64u                /* served in one turn of the loop */
#define BOX_LEAVE_MS   10000              /* from the end of its connection to its own */
#define BOX_REAPER_MS  1000               /* more, for a reaper to end its descendants */

static void box_free(struct laz_box *box);
static void box_has_ended(struct laz_box *box);
static void box_read_status(struct laz_box *box);

/* ---- breaking off --------------------------------------------------------------------------- */

static void box_close_channel(struct laz_box *box)
{
    if (box->line_timer)
        laz_timer_cancel(box->line_timer);
    if (box->next_turn)
        laz_timer_cancel(box->next_turn);
    laz_io_stop(box->channel_io);
    laz_io_stop(box->listener_io);
    box->channel_io = box->listener_io = NULL;
    laz_os_close(&box->channel);
    laz_os_close(&box->listener);
}

/* A process that never ran code of a stranger broke a rule: then its template is not what it was.
 */
static void box_broken(struct laz_box *box, int code, const char *text)
{
    struct laz_error err = {0};

    if (box->ended)
        return;
    laz_error_set(&err, code, 0, "%s", text);
    if (box->from && !box->authenticated && (code == LAZ_EPROTO || code == LAZ_ETIMEOUT))
        laz_template_distrust(box->from, text);
    box_close_channel(box);
    if (box->owner.broken)
        box->owner.broken(box->owner.user, &err);
}

void laz_box_break(struct laz_box *box, int code, const char *text)
{
    if (box->channel >= 0 || box->waits)
        box_broken(box, code, text);
}

static void box_hung_up(struct laz_box *box)
{
    if (box->hung_up || box->ended)
        return;
    uint64_t rss;
    box->hung_up = true;
    laz_os_usage_read(&box->usage, &box->cpu_us, &rss); /* soon it is reaped, inside */
    box_close_channel(box);
    if (!box->killed)
        laz_timer_start(box->patience, BOX_LEAVE_MS); /* its process should follow */
}

/* What the system says of the channel: that the agent is gone (it told so by an end of file, or by
 * the errors that mean the same), or that something is wrong on this side of it, which has to be
 * told: an agent that finds its channel closed ends as if all was well. */
static void box_channel_failed(struct laz_box *box, int os_errno)
{
    char text[128];

    if (!os_errno || os_errno == EPIPE || os_errno == ECONNRESET) {
        box_hung_up(box);
        return;
    }
    snprintf(text, sizeof text, "its channel failed on this side: %s", strerror(os_errno));
    box_broken(box, LAZ_EOS, text);
}

/* ---- the channel ---------------------------------------------------------------------------- */

/* Is the peer the process we started? By uid, and by pid namespace where the backend's program
 * tells it. That comes before the program lets the agent go: a peer that is there earlier is a
 * stranger.
 */
static bool box_peer_is_ours(struct laz_box *box, int fd, struct laz_error *why)
{
    struct laz_peer peer = {0};

    if (laz_os_peer(fd, &peer, why))
        return false;
    if (peer.inherited) {
        box->agent_pid = box->process.pid;
        return true;
    }
    uint32_t expected = box->uid == LAZ_SPAWN_SAME_ID ? laz_os_uid() : box->uid;
    if (peer.uid != expected) {
        laz_error_set(why, LAZ_EPROTO, 0, "a process of uid %u connected, uid %u was started",
                      peer.uid, expected);
        return false;
    }
    if (box->status >= 0)
        box_read_status(box);
    bool early = box->plan->status_fd >= 0 && !box->has_child;
    if (early ||
        (box->pid_namespace && peer.pid_namespace && peer.pid_namespace != box->pid_namespace) ||
        !laz_process_has(&box->process, peer.pid)) {
        laz_error_set(why, LAZ_EPROTO, 0, "a process that is not in the box connected");
        return false;
    }
    box->agent_pid = peer.pid;
    return true;
}

static bool box_check_token(struct laz_box *box, const char *line, size_t len)
{
    return len == LAZ_TOKEN_LEN && laz_equal_constant_time(line, box->token, LAZ_TOKEN_LEN);
}

static void box_authenticated(struct laz_box *box)
{
    box->authenticated = true;
    if (box->from)
        laz_os_forget_senders(box->channel);
    box->in.max = box->shared->values->session.max_message_size;
    laz_timer_cancel(box->patience);
    laz_io_stop(box->listener_io);
    box->listener_io = NULL;
    laz_os_close(&box->listener);
    if (laz_box_has_socket(box))
        (void)unlink(box->socket_name);
    (void)laz_os_usage_open(box->agent_pid, &box->usage);
    box->agent_fd = laz_os_pidfd(box->agent_pid);
    if (box->owner.authenticated)
        box->owner.authenticated(box->owner.user);
}

/* What the channel is watched for: not for more lines while some wait to be served. */
static void box_watch_channel(struct laz_box *box)
{
    uint32_t events = box->behind ? 0 : LAZ_IO_READ;

    if (box->out.len)
        events |= LAZ_IO_WRITE;
    if (box->channel_io && !laz_io_events(box->channel_io, events))
        box_channel_failed(box, errno);
}

static void box_line_too_long(struct laz_box *box)
{
    char text[96];

    if (!box->authenticated) {
        box_broken(box, LAZ_EPROTO, "a wrong token was shown");
        return;
    }
    snprintf(text, sizeof text, "a message is larger than max_message_size (%zu bytes)",
             box->in.max);
    box_broken(box, LAZ_EPROTO, text);
}

/* Serves one line. False: the box is not to be heard any more. */
static bool box_line(struct laz_box *box, char *line, size_t len)
{
    struct laz_error why = {0};

    if (box->authenticated)
        return box->owner.line && box->owner.line(box->owner.user, line, len);
    if (!box_check_token(box, line, len))
        box_broken(box, LAZ_EPROTO, "a wrong token was shown");
    else if (box->from && laz_box_adopt(box, &why))
        box_broken(box, why.code, why.text);
    else
        box_authenticated(box);
    return box->authenticated;
}

/* A line that has begun has to end in time. The clock of a line starts once, however slowly its
 * bytes come; before the token the start has a clock of its own. */
static void box_time_line(struct laz_box *box, bool anew)
{
    bool begun = box->channel >= 0 && !box->killed && box->authenticated && !box->behind &&
                 laz_frame_partial(&box->in);

    if (box->begun && (!begun || anew))
        laz_timer_cancel(box->line_timer);
    if (begun && (!box->begun || anew)) {
        box->line_due_ms = laz_loop_now_ms(box->shared->driver->loop) + BOX_LINE_MS;
        laz_timer_start(box->line_timer, BOX_LINE_MS);
    }
    box->begun = begun;
}

/* Serves the lines that are there, but only so many a turn, that no box keeps the loop from the
 * others. What a box says after it was killed is nobody's. */
static void box_lines(struct laz_box *box)
{
    unsigned n = 0;
    char *line;
    size_t len;
    int rc = 0;

    while (box->channel >= 0 && !box->killed && n < BOX_LINES &&
           (rc = laz_frame_next(&box->in, &line, &len)) != 0) {
        n++;
        if (rc < 0) {
            box_line_too_long(box);
            return;
        }
        if (!box_line(box, line, len))
            break;
    }
    if (box->killed)
        laz_frame_fini(&box->in);
    bool behind = box->channel >= 0 && n == BOX_LINES && !box->killed;
    if (behind)
        laz_timer_start(box->next_turn, 0);
    if (behind != box->behind) {
        box->behind = behind;
        box_watch_channel(box);
    }
    box_time_line(box, n > 0);
}

static void box_next_turn(void *user)
{
    box_lines(user);
}

size_t laz_box_unread(const struct laz_box *box)
{
    return box->out.len - box->out_done;
}

static void box_flush_some(struct laz_box *box)
{
    while (box->out_done < box->out.len) {
        ssize_t n =
            laz_os_send(box->channel, box->out.data + box->out_done, box->out.len - box->out_done);
        if (n == 0) {
            if (box->out_done > box->out.len / 2) { /* an agent may never read all of it */
                laz_buf_drop(&box->out, box->out_done);
                box->out_done = 0;
            }
            box_watch_channel(box);
            return;
        }
        if (n < 0) {
            box_channel_failed(box, errno);
            return;
        }
        box->out_done += (size_t)n;
    }
    if (box->out.cap > BOX_READ)
        laz_buf_fini(&box->out);
    else
        laz_buf_clear(&box->out);
    box->out_done = 0;
    box_watch_channel(box);
}

static void box_flush(struct laz_box *box)
{
    size_t unread = laz_box_unread(box);

    box_flush_some(box);
    if (box->channel >= 0 && laz_box_unread(box) < unread && box->owner.read_on)
        box->owner.read_on(box->owner.user);
}

static void box_channel_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    if ((events & LAZ_IO_WRITE) && box->out.len) {
        box_flush(box);
        if (box->channel < 0)
            return;
    }
    if (!(events & LAZ_IO_READ) || box->behind)
        return;
    char *room = laz_frame_room(&box->in, BOX_READ);
    if (!room) {
        box_broken(box, LAZ_ENOMEM, "out of memory");
        return;
    }
    ssize_t n = box->from && !box->authenticated ? laz_box_read_sender(box, room, BOX_READ)
                                                 : laz_os_read(box->channel, room, BOX_READ);
    if (n > 0) {
        laz_frame_added(&box->in, (size_t)n);
        box_lines(box);
    } else if (n < 0) {
        box_channel_failed(box, errno);
    }
}

/* The line that has begun is late. What has come is read before it is judged; and where nobody
 * drove the loop meanwhile, which is not the agent's fault, it gets its time once more. */
static void box_line_too_late(void *user)
{
    struct laz_box *box = user;
    uint64_t due = box->line_due_ms;
    bool held_up = laz_loop_now_ms(box->shared->driver->loop) > due + BOX_HELD_UP_MS;

    box_channel_ready(box, LAZ_IO_READ);
    if (box->channel < 0 || !box->begun || box->line_due_ms != due)
        return; /* it has ended, or it is another one */
    if (held_up)
        box_time_line(box, true);
    else
        box_broken(box, LAZ_EPROTO, "a message was begun and not finished within 5 seconds");
}

bool laz_box_is_quiet(struct laz_box *box)
{
    if (box->channel >= 0)
        box_channel_ready(box, LAZ_IO_READ);
    return box->channel >= 0 && !laz_frame_partial(&box->in);
}

bool laz_box_serve(struct laz_box *box, uint64_t ms)
{
    if (box->channel < 0 || box->out.len || !laz_os_await(box->channel, ms))
        return false;
    box_channel_ready(box, LAZ_IO_READ);
    return true;
}

void laz_box_be_patient(struct laz_box *box)
{
    if (!box->authenticated && !box->hung_up && !box->killed && !box->waits)
        laz_timer_start(box->patience, laz_box_token_ms(box->shared));
}

/* A connection that cannot be taken, for want of descriptors, would be told of again and again. */
static void box_not_accepted(struct laz_box *box, int os_errno)
{
    char text[128];

    if (os_errno == EAGAIN || os_errno == ECONNABORTED)
        return;
    snprintf(text, sizeof text, "the connection of the agent cannot be taken: %s",
             strerror(os_errno));
    box_broken(box, LAZ_EOS, text);
}

static void box_listener_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;
    struct laz_error why = {0};

    (void)events;
    int fd = laz_os_accept(box->listener);
    if (fd < 0) {
        box_not_accepted(box, errno);
        return;
    }
    if (box->channel >= 0) {
        laz_os_close(&fd);
        box_broken(box, LAZ_EPROTO, "a second peer connected before the first showed its token");
        return;
    }
    if (!box_peer_is_ours(box, fd, &why)) {
        laz_os_close(&fd);
        box_broken(box, LAZ_EPROTO, why.text);
        return;
    }
    box->channel = fd;
    box->channel_io =
        laz_io_start(box->shared->driver->loop, fd, LAZ_IO_READ, box_channel_ready, box);
    if (!box->channel_io)
        box_broken(box, LAZ_ENOMEM, "the connection of the agent cannot be watched");
}

bool laz_box_send(struct laz_box *box, const char *data, size_t len, size_t most)
{
    if (box->channel < 0)
        return false;
    if (!box->out.len) {
        ssize_t n = laz_os_send(box->channel, data, len);
        if (n < 0) {
            box_channel_failed(box, errno);
            return false;
        }
        data += n;
        len -= (size_t)n;
        if (!len)
            return true;
    }
    if (most && laz_box_unread(box) > most)
        return false;
    laz_buf_append(&box->out, data, len);
    box_watch_channel(box);
    return box->channel >= 0 && !box->out.failed;
}

/* ---- documents of the backend's program ----------------------------------------------------- */

static void box_document(struct laz_box *box, const char *text, size_t len)
{
    struct laz_wire_status status;

    if (laz_json_scan(text, len, NULL) || laz_wire_read(&laz_wire_status, text, len, &status, NULL))
        return;
    if (status.has_exit_code) {
        box->exit_code = status.exit_code;
        box->end_signal = 0;
    }
    if (box->from && status.signal > 0 && status.signal < 128) {
        box->exit_code = 128 + status.signal; /* as bubblewrap would say it */
        box->end_signal = (int)status.signal;
    }
    if (status.has_pid_namespace)
        box->pid_namespace = (uint64_t)status.pid_namespace;
    if (status.has_child_pid && !box->has_child) {
        box->has_child = true; /* read late, for nobody drove the loop, it may be long gone */
        box->init_fd = laz_os_pidfd_within(status.child_pid, box->pid_namespace);
    }
}

static void box_read_status(struct laz_box *box)
{
    char *line;
    size_t len;

    for (;;) {
        char *room = laz_frame_room(&box->documents, 512);
        ssize_t n = room && box->status >= 0 ? laz_os_read(box->status, room, 512) : -1;
        if (n == 0)
            return;
        if (n < 0) {
            laz_io_stop(box->status_io);
            box->status_io = NULL;
            laz_os_close(&box->status);
            return;
        }
        laz_frame_added(&box->documents, (size_t)n);
        while (laz_frame_next(&box->documents, &line, &len) == 1)
            box_document(box, line, len);
    }
}

/* Where the process is not known yet, the end of its status is the end of it: it has the last copy
 * of that descriptor. */
static void box_status_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    (void)events;
    box_read_status(box);
    if (box->from && !box->authenticated && box->status < 0)
        box_has_ended(box);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void box_has_ended(struct laz_box *box)
{
    if (box->ended)
        return;
    laz_box_note_end_of_reaper(box);
    if (box->status >= 0)
        box_read_status(box);
    laz_box_drain(box);
    box->ended = true;
    if (box->from)
        laz_box_from_has_ended(box);
    laz_io_stop(box->process_io);
    box->process_io = NULL;
    box_close_channel(box);
    if (box->released)
        box_free(box);
    else if (box->owner.ended)
        box->owner.ended(box->owner.user);
}

/* Does nothing of the box run any more? The kernel lets the first process inside end as the last of
 * its namespace. Before that neither the session's uid nor its folder may be somebody else's. */
static bool box_is_over(struct laz_box *box)
{
    if (box->from)
        return laz_box_from_is_over(box);
    /* What its program has left in its group, bwrap's inner process before it was set up say, waits
     * for ever: it is ended while the number of the group is still that of its leader. */
    if (!box->reaped) {
        if (box->process.pidfd < 0 || !laz_os_pidfd_has_ended(box->process.pidfd))
            return false;
        laz_process_signal_group(&box->process, SIGKILL);
        box->reaped = laz_process_reap(&box->process, &box->exit);
        if (!box->reaped)
            return false;
    }
    if (box->status >= 0)
        box_read_status(box);
    laz_os_pidfd_kill(box->init_fd); /* should its parent-death signal not reach it */
    return laz_os_pidfd_has_ended(box->init_fd);
}

static void box_process_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    (void)events;
    if (box_is_over(box)) {
        box_has_ended(box);
    } else if (box->reaped) {
        laz_io_stop(box->process_io);
        box->process_io = laz_io_start(box->shared->driver->loop, box->init_fd, LAZ_IO_READ,
                                       box_process_ready, box);
        if (!box->killed || !box->process_io) /* once, or its end would be put off for ever */
            laz_timer_start(box->patience, box->process_io ? box->shared->death_ms : 0);
        box->killed = true;
    }
}

bool laz_box_has_ended(struct laz_box *box)
{
    if (!box->ended && box_is_over(box))
        box_has_ended(box);
    return box->ended;
}

/* The outermost process, what is still in its group, and the first process of its namespace: until
 * bwrap has set itself up, a kill of the outermost process alone would leave the inner one waiting
 * for ever (its parent-death signal comes late). */
static void box_kill_all(struct laz_box *box)
{
    if (box->from) { /* its process group is the template's; with pid 1 all of its namespace ends */
        laz_process_signal(&box->process, SIGKILL);
        return;
    }
    laz_os_pidfd_kill(box->init_fd);
    if (box->group && box->plan && box->plan->ends_by == LAZ_END_REAP)
        laz_cgroup_kill(box->group); /* daemons too, and the reaper itself */
    laz_process_signal_group(&box->process, SIGKILL);
    laz_process_signal(&box->process, SIGKILL);
}

static void box_wait(struct laz_box *box, uint64_t ms)
{
    if (!box->reaped && box->process.pid >= 0)
        box->reaped = laz_process_wait(&box->process, ms, &box->exit);
}

/* A process that was killed ends when the kernel can: that says nothing of the template it came
 * from. One that never came has only the template to answer for it. */
static void box_does_not_end(struct laz_box *box)
{
    if (box->process.pid >= 0)
        laz_log(&box->shared->driver->log, LAZ_LOG_ERROR, "process %d does not end",
                (int)box->process.pid);
    else if (box->from)
        laz_template_distrust(box->from, "a session that was asked for neither comes nor ends");
}

static void box_out_of_patience(void *user)
{
    struct laz_box *box = user;

    if (box->ended)
        return;
    if (box->killed) { /* the kernel has it in its hands; nobody waits longer for it */
        box_kill_all(box);
        box_wait(box, 100);
        if (!box_is_over(box))
            box_does_not_end(box);
        box_has_ended(box);
    } else if (box->hung_up) {
        box_broken(box, LAZ_EPROTO, "the agent closed its connection and did not end");
        laz_box_kill(box);
    } else {
        char text[80];
        snprintf(text, sizeof text, "no token was shown within %g seconds",
                 (double)laz_box_token_ms(box->shared) / 1000.0);
        box_broken(box, LAZ_ETIMEOUT, text);
    }
}

bool laz_box_has_come(const struct laz_box *box)
{
    return !box->from || box->process.pid >= 0;
}

void laz_box_kill(struct laz_box *box)
{
    if (box->killed || box->ended)
        return;
    box->killed = true;
    if (box->from && box->channel >= 0 && !box->authenticated)
        box_close_channel(box); /* and so it ends: it has nobody else */
    if (box->waits || !box->patience || !(box->process_io || box->status_io)) {
        /* not there yet, or not watched: the start failed half way */
        box_kill_all(box);
        box_wait(box, box->shared->death_ms);
        box_has_ended(box);
        return;
    }
    if (box->plan && box->plan->ends_by == LAZ_END_REAP) {
        laz_process_signal(&box->process, SIGTERM);
        laz_timer_start(box->patience, box->shared->death_ms + BOX_REAPER_MS);
    } else {
        box_kill_all(box);
        laz_timer_start(box->patience, laz_box_has_come(box) ? box->shared->death_ms
                                                             : laz_box_token_ms(box->shared));
    }
}

static void box_unlink(struct laz_box *box)
{
    for (struct laz_box **at = &box->shared->leaving; *at; at = &(*at)->next) {
        if (*at == box) {
            *at = box->next;
            return;
        }
    }
}

/* What is left must not meet the next session under its uid: without a process namespace something
 * may have got away from the reaper, or killed it. A uid that is not free of them stays taken. */
static void box_give_uid_back(struct laz_box *box)
{
    bool free_of_them = true;

    if (box->uid == LAZ_SPAWN_SAME_ID || box->from) /* or its template's, whose siblings live on */
        return;
    if (box->process.pid >= 0)
        free_of_them =
            box->plan->ends_by == LAZ_END_REAP ? laz_os_end_all_of(box->uid) : box_is_over(box);
    if (free_of_them)
        laz_uids_give_back(box->shared->uids, box->uid);
    else
        laz_log(&box->shared->driver->log, LAZ_LOG_ERROR, "processes of uid %u may be left",
                box->uid);
}

static void box_free(struct laz_box *box)
{
    struct laz_template *from = box->from;

    box_unlink(box);
    laz_box_drop_group(box);
    box_give_uid_back(box); /* first: what lives on could fill the folder again */
    box_close_channel(box);
    laz_io_stop(box->process_io);
    laz_io_stop(box->status_io);
    laz_os_close(&box->status);
    laz_box_close_output(box);
    laz_os_usage_close(&box->usage);
    laz_os_close(&box->agent_fd);
    laz_os_close(&box->init_fd);
    laz_timer_stop(box->patience);
    laz_timer_stop(box->line_timer);
    laz_timer_stop(box->next_turn);
    laz_process_close(&box->process);
    if (box->folder)
        laz_os_remove_tree(box->folder);
    laz_frame_fini(&box->in);
    laz_frame_fini(&box->documents);
    laz_buf_fini(&box->out);
    laz_buf_fini(&box->complaint);
    laz_plan_free(box->plan);
    free(box->folder);
    free(box->socket_name);
    memset(box->token, 0, sizeof box->token);
    if (from)
        laz_template_leave(from, box);
    free(box);
}

void laz_box_release(struct laz_box *box)
{
    if (!box)
        return;
    box->owner = (struct laz_box_owner){0};
    box->released = true;
    if (box->ended || (box->process.pid < 0 && !(box->from && box->status_io))) {
        box_free(box);
        return;
    }
    box->next = box->shared->leaving;
    box->shared->leaving = box;
    box_close_channel(box);
    laz_box_kill(box);
}

/* ---- watching ------------------------------------------------------------------------------- */

int laz_box_watch(struct laz_box *box, struct laz_error *err)
{
    struct laz_loop *loop = box->shared->driver->loop;

    box->patience = laz_timer_new(loop, box_out_of_patience, box);
    box->line_timer = laz_timer_new(loop, box_line_too_late, box);
    box->next_turn = laz_timer_new(loop, box_next_turn, box);
    if (box->process.pidfd >= 0)
        box->process_io =
            laz_io_start(loop, box->process.pidfd, LAZ_IO_READ, box_process_ready, box);
    if (box->channel >= 0)
        box->channel_io = laz_io_start(loop, box->channel, LAZ_IO_READ, box_channel_ready, box);
    bool ok = box->patience && box->line_timer && box->next_turn &&
              (box->process_io || box->channel_io) && laz_box_watch_output(box);
    if (ok && box->status >= 0) {
        box->status_io = laz_io_start(loop, box->status, LAZ_IO_READ, box_status_ready, box);
        ok = box->status_io != NULL;
    }
    if (ok && box->listener >= 0) {
        box->listener_io = laz_io_start(loop, box->listener, LAZ_IO_READ, box_listener_ready, box);
        ok = box->listener_io != NULL;
    }
    if (ok && laz_box_watch_group(box, err))
        return LAZ_EOS;
    if (!ok)
        return laz_error_set(err, LAZ_EOS, 0, "the descriptors of a session cannot be watched");
    laz_timer_start(box->patience, laz_box_token_ms(box->shared));
    return 0;
}

int laz_box_follow(struct laz_box *box, struct laz_error *err)
{
    box->process_io = laz_io_start(box->shared->driver->loop, box->process.pidfd, LAZ_IO_READ,
                                   box_process_ready, box);
    return box->process_io ? 0 : laz_error_set(err, LAZ_EOS, 0, "a session cannot be watched");
}
