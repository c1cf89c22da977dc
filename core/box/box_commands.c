/* SPDX-License-Identifier: MIT */
/* box_commands.c - the second channel of a box: calls of tools by commands, and their answers.
 * Side: host.  Input trusted: no.
 *
 * A process in the box that serves programs of the code has its other end (core/command).  It goes
 * into the box with the first message to the agent, so it needs no name and no token: who has the
 * agent's channel has this one.  Lines are bounded as on the first channel, and so many are served
 * in one turn.  A peer that is gone, or that leaves more unread than the largest answers take,
 * loses its channel, and the session its commands; a breach of the protocol ends the session. */
#include "box/box_private.h"

#include "box/templates.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"

#define COMMANDS_READ  ((size_t)64 << 10) /* bytes read at once */
#define COMMANDS_LINES 64u                /* served in one turn of the loop */

static void commands_ready(void *user, uint32_t events);

const char *laz_box_commands_program(const struct laz_box *box)
{
    const struct laz_box *made_by = box->from ? box->from->box : box;

    return made_by ? made_by->commands_program : NULL;
}

void laz_box_close_commands(struct laz_box *box)
{
    struct laz_box_commands *commands = &box->commands;

    laz_io_stop(commands->io);
    laz_timer_stop(commands->next_turn);
    laz_os_close(&commands->fd);
    laz_frame_fini(&commands->in);
    laz_buf_fini(&commands->out);
    *commands = (struct laz_box_commands){.fd = -1};
}

static void commands_watch(struct laz_box *box)
{
    struct laz_box_commands *commands = &box->commands;
    const bool reads = !commands->is_paused && !commands->behind;
    const uint32_t events = (reads ? LAZ_IO_READ : 0) | (commands->out.len ? LAZ_IO_WRITE : 0);

    if (commands->io && !laz_io_events(commands->io, events))
        laz_box_close_commands(box);
}

/* Serves the lines that have come. */
static void commands_lines(void *user)
{
    struct laz_box *box = user;
    struct laz_box_commands *commands = &box->commands;
    unsigned n = 0;
    char *line;
    size_t len;
    int rc = 0;

    while (commands->fd >= 0 && !laz_box_was_killed(box) && n < COMMANDS_LINES &&
           !commands->is_paused && (rc = laz_frame_next(&commands->in, &line, &len)) != 0) {
        n++;
        if (!box->owner.command ||
            !box->owner.command(box->owner.user, rc < 0 ? NULL : line, len) || rc < 0)
            return;
    }
    if (commands->fd < 0)
        return;
    laz_frame_rest(&commands->in);
    commands->behind = n == COMMANDS_LINES;
    if (commands->behind)
        laz_timer_start(commands->next_turn, 0);
    commands_watch(box);
}

static void commands_flush(struct laz_box *box)
{
    struct laz_box_commands *commands = &box->commands;
    const ssize_t n = laz_os_send(commands->fd, commands->out.data + commands->out_done,
                                  commands->out.len - commands->out_done);

    if (n < 0) {
        laz_box_close_commands(box);
        return;
    }
    commands->out_done += (size_t)n;
    if (commands->out_done > commands->out.len / 2) {
        laz_buf_drop(&commands->out, commands->out_done);
        commands->out_done = 0;
    }
    if (!commands->out.len)
        laz_buf_fini(&commands->out);
    commands_watch(box);
    if (n > 0 && box->commands.fd >= 0 && box->owner.read_on)
        box->owner.read_on(box->owner.user);
}

static void commands_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;
    struct laz_box_commands *commands = &box->commands;

    if ((events & LAZ_IO_WRITE) && commands->out.len)
        commands_flush(box);
    if (!(events & LAZ_IO_READ) || commands->fd < 0 || commands->is_paused || commands->behind)
        return;
    char *room = laz_frame_room(&commands->in, COMMANDS_READ);
    const ssize_t n = room ? laz_os_read(commands->fd, room, COMMANDS_READ) : -1;
    if (n < 0) {
        laz_log(&box->shared->driver->log, LAZ_LOG_DEBUG, "box %s: nothing carries commands",
                box->name);
        laz_box_close_commands(box);
        return;
    }
    laz_frame_added(&commands->in, (size_t)n);
    commands_lines(box);
}

bool laz_box_open_commands(struct laz_box *box, int *end)
{
    struct laz_box_commands *commands = &box->commands;
    struct laz_loop *loop = box->shared->driver->loop;

    if (laz_os_channel(&commands->fd, end, NULL))
        return false;
    laz_os_forget_senders(commands->fd);
    laz_frame_init(&commands->in, box->shared->values->session.max_message_size);
    commands->next_turn = laz_timer_new(loop, commands_lines, box);
    commands->io = laz_io_start(loop, commands->fd, LAZ_IO_READ, commands_ready, box);
    if (commands->io && commands->next_turn)
        return true;
    laz_os_close(end);
    laz_box_close_commands(box);
    return false;
}

void laz_box_answer_command(struct laz_box *box, const char *data, size_t len)
{
    struct laz_box_commands *commands = &box->commands;

    if (commands->fd < 0)
        return;
    if (laz_box_commands_unread(box) > 2 * box->shared->values->session.max_value_size) {
        laz_box_close_commands(box);
        return;
    }
    laz_buf_append(&commands->out, data, len);
    if (commands->out.failed)
        laz_box_close_commands(box);
    else
        commands_flush(box);
}

size_t laz_box_commands_unread(const struct laz_box *box)
{
    return box->commands.out.len - box->commands.out_done;
}

void laz_box_catch_up_commands(struct laz_box *box)
{
    const struct laz_box_commands *commands = &box->commands;

    while (commands->fd >= 0 && !commands->is_paused && !laz_box_was_killed(box) &&
           (commands->behind || laz_os_await(commands->fd, 0)))
        if (commands->behind)
            commands_lines(box);
        else
            commands_ready(box, LAZ_IO_READ);
}

void laz_box_hear_commands(struct laz_box *box, bool hears)
{
    struct laz_box_commands *commands = &box->commands;

    if (commands->fd < 0 || commands->is_paused == !hears)
        return;
    commands->is_paused = !hears;
    if (hears)
        commands_lines(box);
    else
        commands_watch(box);
}
