/* SPDX-License-Identifier: MIT */
/* box_channel.c - what comes from the agent and goes to it: the connection, lines, writes; and the
 * documents of the backend's program.
 * Side: host.  Input trusted: no.
 *
 * All of it is untrusted: the connection until the kernel was asked who the peer is and its token
 * was compared, the lines (their length and time are bounded here, the owner judges what they say),
 * the documents (their size is bounded).  No box keeps the loop from the others: only so many lines
 * are served in one turn. */
#include "box/box_private.h"

#include "base/json.h"
#include "base/random.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/peer.h"
#include "os/pidfd.h"
#include "os/sockets.h"
#include "os/users.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHANNEL_READ       ((size_t)64 << 10) /* bytes read at once */
#define CHANNEL_LINE_MS    5000               /* from the first byte of a line to its last */
#define CHANNEL_HELD_UP_MS 1000               /* a timer so late means that the loop stood still */
#define CHANNEL_LINES      64u                /* served in one turn of the loop */
#define CHANNEL_DOCUMENT   512u               /* bytes of documents read at once */
#define CHANNEL_FIRST      ((size_t)1 << 10)  /* bytes that a descriptor is sent with */

bool laz_box_has_socket(const struct laz_box *box)
{
    return box->socket_name &&
           strncmp(box->socket_name, box->directory, strlen(box->directory)) == 0;
}

void laz_box_close_channel(struct laz_box *box)
{
    if (box->line_timer)
        laz_timer_cancel(box->line_timer);
    if (box->next_turn)
        laz_timer_cancel(box->next_turn);
    laz_box_close_commands(box);
    laz_io_stop(box->channel_io);
    laz_io_stop(box->listener_io);
    box->channel_io = box->listener_io = NULL;
    laz_os_close(&box->channel);
    laz_os_close(&box->listener);
}

/* The system reports either that the agent is gone (by an end of file, or by errors that mean the
 * same), or that the channel failed on this side.  That is reported as an error, because an agent
 * that finds its channel closed ends as if all was well. */
static void channel_failed(struct laz_box *box, int os_errno)
{
    struct laz_error why = {0};

    if (!os_errno || os_errno == EPIPE || os_errno == ECONNRESET) {
        laz_box_hung_up(box);
        return;
    }
    laz_error_os(&why, os_errno, "its channel failed on this side");
    laz_box_fail_by(box, &why);
}

/* ---- who connects ---------------------------------------------------------------------------- */

uint32_t laz_box_kernel_uid(const struct laz_box *box)
{
    return box->uid == LAZ_SPAWN_SAME_ID ? laz_os_uid() : box->uid;
}

static bool channel_read_status(struct laz_box *box, struct laz_error *why);

/* Is the peer the process that was started? It is compared by uid, and by pid namespace where the
 * backend's program reports that. The program does so before it lets the agent run, so a peer that
 * connects earlier is another process. */
static bool channel_peer_is_ours(struct laz_box *box, int fd, struct laz_error *why)
{
    struct laz_peer peer = {0};

    if (laz_os_peer(fd, &peer, why))
        return false;
    if (peer.inherited) {
        box->agent_pid = box->process.pid;
        return true;
    }
    if (peer.uid != laz_box_kernel_uid(box)) {
        laz_error_set(why, LAZ_EPROTO, 0, "a process of uid %u connected, uid %u was started",
                      peer.uid, laz_box_kernel_uid(box));
        return false;
    }
    if (!channel_read_status(box, why))
        return false;
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

/* What the host has to know of the agent later is opened before any code runs in it. */
static bool channel_follow_agent(struct laz_box *box, struct laz_error *why)
{
    errno = 0;
    if (!laz_os_usage_open(box->agent_pid, &box->usage) && laz_errno_is_shortage(errno))
        return laz_error_os(why, errno, "the usage of the agent cannot be read") == 0;
    if (box->agent_pid == box->process.pid)
        return true; /* that has a descriptor */
    errno = 0;
    box->agent_fd = laz_os_pidfd(box->agent_pid);
    if (box->agent_fd < 0 && laz_errno_is_shortage(errno))
        return laz_error_os(why, errno, "the agent cannot be followed") == 0;
    return true;
}

static void channel_authenticated(struct laz_box *box)
{
    if (!laz_box_step(box, LAZ_BOX_EVENT_TOKEN))
        return;
    box->in.max = box->shared->values->session.max_message_size;
    laz_timer_cancel(box->patience);
    laz_io_stop(box->listener_io);
    box->listener_io = NULL;
    laz_os_close(&box->listener);
    if (laz_box_has_socket(box))
        (void)unlink(box->socket_name);
    if (box->owner.authenticated)
        box->owner.authenticated(box->owner.user);
}

/* Watches the channel for what can be done: no more is read while lines wait to be served. */
static void channel_watch(struct laz_box *box)
{
    uint32_t events = box->behind ? 0 : LAZ_IO_READ;

    if (box->out.len)
        events |= LAZ_IO_WRITE;
    if (box->channel_io && !laz_io_events(box->channel_io, events))
        channel_failed(box, errno);
}

static void channel_line_too_long(struct laz_box *box)
{
    if (!laz_box_was_authenticated(box))
        laz_box_fail(box, LAZ_EPROTO, "a wrong token was shown");
    else
        laz_box_fail(box, LAZ_EPROTO, "a message is larger than max_message_size (%zu bytes)",
                     box->in.max);
}

/* Serves one line. False: read no more of this box. */
static bool channel_line(struct laz_box *box, char *line, size_t len)
{
    struct laz_error why = {0};

    if (laz_box_was_authenticated(box))
        return box->owner.line && box->owner.line(box->owner.user, line, len);
    if (len != LAZ_TOKEN_LEN || !laz_equal_constant_time(line, box->token, LAZ_TOKEN_LEN))
        laz_box_fail(box, LAZ_EPROTO, "a wrong token was shown");
    else if ((box->kind->admit && box->kind->admit(box, &why)) || !channel_follow_agent(box, &why))
        laz_box_fail_by(box, &why);
    else
        channel_authenticated(box);
    return laz_box_was_authenticated(box);
}

/* A line that has begun has to end in time. The clock of a line starts once, however slowly its
 * bytes come; before the token the start has a clock of its own. */
static void channel_time_line(struct laz_box *box, bool anew)
{
    bool begun = box->channel >= 0 && !laz_box_was_killed(box) && laz_box_was_authenticated(box) &&
                 !box->behind && laz_frame_partial(&box->in);

    if (box->begun && (!begun || anew))
        laz_timer_cancel(box->line_timer);
    if (begun && (!box->begun || anew)) {
        box->line_due_ms = laz_loop_now_ms(box->shared->driver->loop) + CHANNEL_LINE_MS;
        laz_timer_start(box->line_timer, CHANNEL_LINE_MS);
    }
    box->begun = begun;
}

/* Serves the lines that have come, but only so many in a turn of the loop. Messages received after
 * the kill are discarded. */
static void channel_lines(void *user)
{
    struct laz_box *box = user;
    unsigned n = 0;
    char *line;
    size_t len;
    int rc = 0;

    while (box->channel >= 0 && !laz_box_was_killed(box) && n < CHANNEL_LINES &&
           (rc = laz_frame_next(&box->in, &line, &len)) != 0) {
        n++;
        if (rc < 0) {
            channel_line_too_long(box);
            return;
        }
        if (!channel_line(box, line, len))
            break;
    }
    if (laz_box_was_killed(box))
        laz_frame_fini(&box->in);
    laz_frame_rest(&box->in); /* an idle session holds no memory of a large message */
    bool behind = box->channel >= 0 && n == CHANNEL_LINES && !laz_box_was_killed(box);
    if (behind)
        laz_timer_start(box->next_turn, 0);
    if (behind != box->behind) {
        box->behind = behind;
        channel_watch(box);
    }
    channel_time_line(box, n > 0);
}

size_t laz_box_unread(const struct laz_box *box)
{
    if (box->kind->unread)
        return box->kind->unread(box);
    return box->out.len - box->out_done;
}

static void channel_flush(struct laz_box *box)
{
    size_t before = box->out_done;
    ssize_t n = 0;

    while (box->out_done < box->out.len &&
           (n = laz_os_send(box->channel, box->out.data + box->out_done, laz_box_unread(box))) > 0)
        box->out_done += (size_t)n;
    if (n < 0) {
        channel_failed(box, errno);
        return;
    }
    bool is_read = box->out_done > before;
    if (box->out_done > box->out.len / 2) { /* an agent may never read all of it */
        laz_buf_drop(&box->out, box->out_done);
        box->out_done = 0;
    }
    if (!box->out.len)
        (box->out.cap > CHANNEL_READ ? laz_buf_fini : laz_buf_clear)(&box->out);
    channel_watch(box);
    if (is_read && box->channel >= 0 && box->owner.read_on)
        box->owner.read_on(box->owner.user);
}

static void channel_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    if ((events & LAZ_IO_WRITE) && box->out.len) {
        channel_flush(box);
        if (box->channel < 0)
            return;
    }
    if (!(events & LAZ_IO_READ) || box->behind)
        return;
    char *room = laz_frame_room(&box->in, CHANNEL_READ);
    if (!room) {
        laz_box_fail(box, LAZ_ENOMEM, "out of memory");
        return;
    }
    ssize_t n = box->kind->read && !laz_box_was_authenticated(box)
                    ? box->kind->read(box, room, CHANNEL_READ)
                    : laz_os_read(box->channel, room, CHANNEL_READ);
    if (n > 0) {
        if (box->life.state == LAZ_BOX_SPAWNED) /* a channel that was made with the box */
            laz_box_step(box, LAZ_BOX_EVENT_CONNECT);
        laz_frame_added(&box->in, (size_t)n);
        channel_lines(box);
    } else if (n < 0) {
        channel_failed(box, errno);
    }
}

/* The line that has begun is late. What has come meanwhile is read before it is judged. Where
 * nobody drove the loop, which is not the agent's fault, the line gets its time once more. */
static void channel_line_too_late(void *user)
{
    struct laz_box *box = user;
    uint64_t due = box->line_due_ms;
    bool held_up = laz_loop_now_ms(box->shared->driver->loop) > due + CHANNEL_HELD_UP_MS;

    channel_ready(box, LAZ_IO_READ);
    if (box->channel < 0 || !box->begun || box->line_due_ms != due)
        return; /* it has ended, or it is another one */
    if (held_up)
        channel_time_line(box, true);
    else
        laz_box_fail(box, LAZ_EPROTO, "a message was begun and not finished within 5 seconds");
}

bool laz_box_is_quiet(struct laz_box *box)
{
    if (box->far)
        return !laz_box_is_ended(box); /* what comes without a request is ignored */
    if (box->channel >= 0)
        channel_ready(box, LAZ_IO_READ);
    return box->channel >= 0 && !laz_frame_partial(&box->in);
}

bool laz_box_serve(struct laz_box *box, uint64_t ms)
{
    struct laz_awaited either[] = {{.fd = box->channel}, {.fd = box->commands.fd}};

    if (box->channel < 0 || box->out.len || laz_os_await_any(either, 2, ms) <= 0 ||
        !either[0].ready)
        return false;
    channel_ready(box, LAZ_IO_READ);
    return true;
}

/* The start ends where descriptors are exhausted: a connection that is not taken would wake the
 * loop again and again. */
static void channel_not_accepted(struct laz_box *box, int os_errno)
{
    struct laz_error why = {0};

    if (os_errno == EAGAIN || os_errno == ECONNABORTED)
        return;
    laz_error_os(&why, os_errno, "the connection of the agent cannot be taken");
    laz_box_fail_by(box, &why);
}

static void channel_listener_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;
    struct laz_error why = {0};

    (void)events;
    int fd = laz_os_accept(box->listener);
    if (fd < 0) {
        channel_not_accepted(box, errno);
        return;
    }
    if (box->channel >= 0)
        laz_error_set(&why, LAZ_EPROTO, 0,
                      "a second peer connected before the first showed its token");
    if (why.code || !channel_peer_is_ours(box, fd, &why)) {
        laz_os_close(&fd);
        laz_box_fail_by(box, &why);
        return;
    }
    laz_box_step(box, LAZ_BOX_EVENT_CONNECT);
    box->channel = fd;
    box->channel_io = laz_io_start(box->shared->driver->loop, fd, LAZ_IO_READ, channel_ready, box);
    if (!box->channel_io) {
        laz_io_error(&why, "the connection of the agent");
        laz_box_fail_by(box, &why);
    }
}

void laz_box_catch_up(struct laz_box *box)
{
    if (box->listener >= 0 && box->channel < 0 && laz_os_await(box->listener, 0))
        channel_listener_ready(box, LAZ_IO_READ);
    (void)laz_box_serve(box, 0);
}

bool laz_box_send(struct laz_box *box, const char *data, size_t len, size_t most)
{
    if (box->kind->send)
        return box->kind->send(box, data, len);
    if (box->channel < 0)
        return false;
    if (!box->out.len) {
        ssize_t n = laz_os_send(box->channel, data, len);
        if (n < 0) {
            channel_failed(box, errno);
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
    channel_watch(box);
    return box->channel >= 0 && !box->out.failed;
}

/* Of its commands' channel, which goes along with the first bytes. */
bool laz_box_send_with_commands(struct laz_box *box, const char *data, size_t len)
{
    const size_t first = len < CHANNEL_FIRST ? len : CHANNEL_FIRST;
    int end = -1;

    if (box->channel < 0 || box->out.len || !laz_box_open_commands(box, &end))
        return laz_box_send(box, data, len, 0);
    const int failed = laz_os_send_fds(box->channel, data, first, &end, 1);
    laz_os_close(&end);
    if (!failed)
        return laz_box_send(box, data + first, len - first, 0);
    laz_box_close_commands(box);
    return laz_box_send(box, data, len, 0); /* what has failed fails once more, or it waits */
}

/* ---- documents of the backend's program ------------------------------------------------------ */

bool laz_box_find_init(struct laz_box *box)
{
    if (box->init_pid <= 0)
        return true;
    errno = 0;
    box->init_fd = laz_os_pidfd_within(box->init_pid, box->pid_namespace);
    bool is_short = box->init_fd < 0 && laz_errno_is_shortage(errno);
    /* bubblewrap's second process asks for its death signal when what it has started may be running
     * code. */
    if (box->init_fd >= 0 && !box->from && !laz_box_was_killed(box)) {
        const struct laz_process init = {.pid = (pid_t)box->init_pid, .pidfd = box->init_fd};
        laz_spawner_include(box->shared->spawner, &init);
    }
    /* without its namespace the number means that process only now */
    if (!is_short || !box->pid_namespace)
        box->init_pid = 0;
    return !is_short;
}

static void channel_document(struct laz_box *box, const char *text, size_t len)
{
    struct laz_wire_status status;

    if (laz_json_scan(text, len, NULL) || laz_wire_read(&laz_wire_status, text, len, &status, NULL))
        return;
    if (status.has_exit_code) {
        box->exit_code = status.exit_code;
        box->end_signal = 0;
    }
    if (status.signal > 0 && status.signal < 128) { /* the reaper of a template's session */
        box->exit_code = 128 + status.signal;       /* as bubblewrap would say it */
        box->end_signal = (int)status.signal;
    }
    if (status.has_pid_namespace)
        box->pid_namespace = (uint64_t)status.pid_namespace;
    if (status.has_child_pid && !box->has_child) {
        box->has_child = true; /* where the loop stood still, the child may be long gone */
        box->init_pid = status.child_pid;
    }
}

/* False: something is missing on this side; else it has all that has come. */
static bool channel_read_status(struct laz_box *box, struct laz_error *why)
{
    char *line;
    size_t len;
    ssize_t n = 1;

    while (box->status >= 0 && n > 0) {
        char *room = laz_frame_room(&box->documents, CHANNEL_DOCUMENT);
        if (!room)
            return laz_error_nomem(why) == 0;
        n = laz_os_read(box->status, room, CHANNEL_DOCUMENT);
        if (n < 0 && laz_errno_is_shortage(errno))
            return laz_error_os(why, errno, "the backend's program cannot be heard") == 0;
        if (n < 0) {
            laz_io_stop(box->status_io);
            box->status_io = NULL;
            laz_os_close(&box->status);
        }
        laz_frame_added(&box->documents, n > 0 ? (size_t)n : 0);
        while (laz_frame_next(&box->documents, &line, &len) == 1)
            channel_document(box, line, len);
    }
    if (!laz_box_find_init(box))
        return laz_error_os(why, errno, "the first process inside cannot be followed") == 0;
    return true;
}

void laz_box_read_status(struct laz_box *box)
{
    struct laz_error why = {0};

    bool failed = !channel_read_status(box, &why);
    if (failed && !laz_box_was_killed(box) && !laz_box_was_reaped(box) &&
        !laz_box_life_had(&box->life, LAZ_BOX_EVENT_BREAK))
        laz_box_fail_by(box, &why);
}

/* A process that is not known has the last copy of that descriptor: the end of its status is its
 * end. */
static void channel_status_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    (void)events;
    laz_box_read_status(box);
    if (box->status < 0 && !laz_box_is_known(box))
        laz_box_end(box);
}

/* ---- watching ------------------------------------------------------------------------------- */

bool laz_box_watch_channel(struct laz_box *box)
{
    struct laz_loop *loop = box->shared->driver->loop;

    box->line_timer = laz_timer_new(loop, channel_line_too_late, box);
    box->next_turn = laz_timer_new(loop, channel_lines, box);
    if (!box->line_timer || !box->next_turn)
        return false;
    if (box->channel >= 0)
        box->channel_io = laz_io_start(loop, box->channel, LAZ_IO_READ, channel_ready, box);
    if (box->status >= 0)
        box->status_io = laz_io_start(loop, box->status, LAZ_IO_READ, channel_status_ready, box);
    if (box->listener >= 0)
        box->listener_io =
            laz_io_start(loop, box->listener, LAZ_IO_READ, channel_listener_ready, box);
    return (box->channel < 0 || box->channel_io) && (box->status < 0 || box->status_io) &&
           (box->listener < 0 || box->listener_io);
}

void laz_box_free_channel(struct laz_box *box)
{
    laz_box_close_channel(box);
    laz_io_stop(box->status_io);
    laz_os_close(&box->status);
    laz_timer_stop(box->line_timer);
    laz_timer_stop(box->next_turn);
    laz_frame_fini(&box->in);
    laz_frame_fini(&box->documents);
    laz_buf_fini(&box->out);
}
