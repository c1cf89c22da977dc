/* SPDX-License-Identifier: MIT */
/* carry.c - the process that carries the calls of commands to the host and the answers back.
 * Side: box.  Input trusted: no (what commands send); yes (the host's messages).
 *
 * An interpreter that is busy serves no calls, and may not have a thread or a child that its code
 * does not know.  So the agent starts this program beside itself.  It has the session's second
 * channel to the host, on which it keeps the bounds of the protocol (LAZ_OPEN_COMMANDS,
 * LAZ_OPEN_BYTES): a command whose call may not be open yet waits here, and those that come
 * meanwhile wait in the pipe.  Code can end it or send what it likes in its place: then the session
 * has no commands any more, or the host ends the session. */
#include "command/command.h"

#include "base/json.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CARRY_CALLS  0 /* the pipe of the records; it has a writer as long as this process */
#define CARRY_HOST   1 /* the channel, which comes by it */
#define CARRY_READ   ((size_t)64 << 10)
#define CARRY_AHEAD  ((size_t)1 << 20) /* bytes for the host that wait before no more are read */
#define CARRY_SLACK  ((size_t)1 << 20) /* for the rest of a line around a value */
#define CARRY_OWN    16                /* descriptors besides those of callers */
#define CARRY_UNREAD 2                 /* so many of the largest answer may wait for callers */

enum caller_state {
    CALLER_NONE,
    CALLER_ASKS,     /* its request has not come as a whole */
    CALLER_WAITS,    /* it may not be open yet */
    CALLER_OPEN,     /* the host has it */
    CALLER_ANSWERED, /* its answer is being written */
};

struct caller {
    enum caller_state state;
    int request, answer;
    struct laz_frame in;
    uint64_t id;
    size_t size;        /* bytes of its arguments */
    struct laz_buf out; /* the message that waits, later the answer */
    size_t done;        /* bytes of it that were written */
};

struct carry {
    size_t max_message, max_value;
    dev_t device; /* of the pipe of the records */
    ino_t inode;
    char records[1024]; /* that were begun or have to wait */
    size_t n_records;
    struct laz_frame in; /* from the host */
    struct laz_buf out;  /* to it */
    size_t out_done;
    uint64_t last;
    struct caller callers[LAZ_OPEN_COMMANDS];
    size_t most, n_callers, n_open, open_bytes, unread;
};

/* ---- callers -------------------------------------------------------------------------------- */

static void caller_drop(struct carry *carry, struct caller *caller)
{
    if (caller->state == CALLER_OPEN) {
        carry->n_open--;
        carry->open_bytes -= caller->size;
    }
    if (caller->state == CALLER_ANSWERED)
        carry->unread -= caller->out.len;
    laz_os_close(&caller->request);
    laz_os_close(&caller->answer);
    laz_frame_fini(&caller->in);
    laz_buf_fini(&caller->out);
    *caller = (struct caller){.request = -1, .answer = -1};
    carry->n_callers--;
}

/* Writes what the pipe takes; a caller that has all of it, or is gone, is dropped. */
static void caller_write(struct carry *carry, struct caller *caller)
{
    const ssize_t n = laz_os_send_pipe(caller->answer, caller->out.data + caller->done,
                                       caller->out.len - caller->done);

    caller->done += n > 0 ? (size_t)n : 0;
    if (n < 0 || caller->done == caller->out.len)
        caller_drop(carry, caller);
}

/* Of those that do not read their answers, the one with the largest gets no more of it. */
static void carry_bound_unread(struct carry *carry)
{
    while (carry->unread > CARRY_UNREAD * carry->max_value) {
        struct caller *largest = NULL;
        for (size_t i = 0; i < carry->most; i++)
            if (carry->callers[i].state == CALLER_ANSWERED &&
                (!largest || carry->callers[i].out.len > largest->out.len))
                largest = &carry->callers[i];
        if (!largest)
            return;
        caller_drop(carry, largest);
    }
}

static void caller_answer(struct carry *carry, struct caller *caller, const char *line, size_t len)
{
    if (caller->state == CALLER_OPEN) {
        carry->n_open--;
        carry->open_bytes -= caller->size;
    }
    laz_frame_fini(&caller->in);
    laz_buf_fini(&caller->out);
    laz_buf_append(&caller->out, line, len);
    laz_buf_putc(&caller->out, '\n');
    caller->state = CALLER_ANSWERED;
    carry->unread += caller->out.len;
    if (caller->out.failed)
        caller_drop(carry, caller);
    else
        caller_write(carry, caller);
    carry_bound_unread(carry);
}

static void caller_refuse(struct carry *carry, struct caller *caller, const char *why)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(
        &(struct laz_message){
            .type = LAZ_MESSAGE_REPLY, .error = why, .error_len = strlen(why), .kind = "refused"},
        &line);
    caller_answer(carry, caller, laz_buf_text(&line), line.len ? line.len - 1 : 0);
    laz_buf_fini(&line);
}

/* The request is complete: it is made anew, with an id. */
static void caller_asked(struct carry *carry, struct caller *caller, const char *line, size_t len)
{
    struct laz_message message;
    struct laz_error err = {0};
    struct laz_buf out = LAZ_BUF_INIT;
    char why[160];

    if (laz_message_parse(line, len, LAZ_WIRE_COMMANDS, &message, &err)) {
        caller_refuse(carry, caller, err.text);
    } else {
        message.has_id = true;
        message.id = (int64_t)++carry->last;
        laz_message_make(&message, &out);
        caller->id = carry->last;
        caller->size = message.args_len;
        laz_frame_fini(&caller->in);
        caller->state = CALLER_WAITS;
        snprintf(why, sizeof why, "the arguments (%zu bytes) exceed max_message_size (%zu bytes)",
                 caller->size, carry->max_message);
        if (out.failed)
            caller_refuse(carry, caller, "out of memory");
        else if (out.len - 1 > carry->max_message)
            caller_refuse(carry, caller, why);
        else
            laz_buf_take(&caller->out, &out);
    }
    laz_buf_fini(&out);
    laz_message_fini(&message);
}

static void caller_read(struct carry *carry, struct caller *caller)
{
    char *room = laz_frame_room(&caller->in, CARRY_READ), *line;
    size_t len;
    ssize_t n = room ? laz_os_read(caller->request, room, CARRY_READ) : -1;

    if (n <= 0) {
        if (n < 0)
            caller_drop(carry, caller);
        return;
    }
    laz_frame_added(&caller->in, (size_t)n);
    const int have = laz_frame_next(&caller->in, &line, &len);
    if (have < 0)
        caller_refuse(carry, caller, "the arguments exceed max_message_size");
    else if (have)
        caller_asked(carry, caller, line, len);
}

/* ---- who calls ------------------------------------------------------------------------------ */

/* The end of a pipe that another process has; -1: it is none, or gone. Not that of the records,
 * which would be taken from it. */
static int caller_open(const struct carry *carry, long pid, int number, int flags)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, number);
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode) ||
                    (st.st_dev == carry->device && st.st_ino == carry->inode)))
        laz_os_close(&fd);
    return fd;
}

static void carry_admit(struct carry *carry, const char *record)
{
    struct caller *caller = carry->callers;
    long pid;
    int request, answer, end = 0;

    if (sscanf(record, "%10ld %10d %10d%n", &pid, &request, &answer, &end) != 3 || record[end] ||
        pid <= 0)
        return; /* written by somebody else */
    while (caller->state != CALLER_NONE)
        caller++;
    *caller = (struct caller){.state = CALLER_ASKS,
                              .request = caller_open(carry, pid, request, O_RDONLY),
                              .answer = caller_open(carry, pid, answer, O_WRONLY)};
    laz_frame_init(&caller->in, carry->max_message + CARRY_SLACK);
    carry->n_callers++;
    if (caller->request < 0 || caller->answer < 0)
        caller_drop(carry, caller);
}

/* Takes the whole records that there are, as long as there is room for callers. */
static void carry_records(struct carry *carry)
{
    char *at = carry->records, *end = carry->records + carry->n_records, *line_end;

    while (carry->n_callers < carry->most &&
           (line_end = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        *line_end = '\0';
        carry_admit(carry, at);
        at = line_end + 1;
    }
    carry->n_records = (size_t)(end - at);
    memmove(carry->records, at, carry->n_records);
    if (carry->n_records == sizeof carry->records &&
        !memchr(carry->records, '\n', carry->n_records))
        carry->n_records = 0; /* no command writes so much */
}

static void carry_read_records(struct carry *carry)
{
    const ssize_t n = laz_os_read(CARRY_CALLS, carry->records + carry->n_records,
                                  sizeof carry->records - carry->n_records);

    carry->n_records += n > 0 ? (size_t)n : 0;
    carry_records(carry);
}

/* ---- the host ------------------------------------------------------------------------------- */

static void carry_answer(struct carry *carry, const char *line, size_t len)
{
    char head[32];
    uint64_t id;

    snprintf(head, sizeof head, "%.*s", (int)(len < 31 ? len : 31), line);
    if (!laz_message_reply_id(head, &id))
        return;
    for (size_t i = 0; i < carry->most; i++)
        if (carry->callers[i].state == CALLER_OPEN && carry->callers[i].id == id) {
            caller_answer(carry, &carry->callers[i], line, len);
            return;
        }
}

static void carry_read_host(struct carry *carry)
{
    char *room = laz_frame_room(&carry->in, CARRY_READ), *line;
    size_t len;
    const ssize_t n = room ? laz_os_read(CARRY_HOST, room, CARRY_READ) : -1;
    int have = 0;

    if (n < 0)
        _exit(0); /* it is gone, or there is no memory: commands see that nobody carries calls */
    laz_frame_added(&carry->in, (size_t)n);
    while ((have = laz_frame_next(&carry->in, &line, &len)) == 1)
        carry_answer(carry, line, len);
    if (have < 0)
        _exit(0);
    laz_frame_rest(&carry->in);
}

static void carry_write_host(struct carry *carry)
{
    const ssize_t n = carry->out.len ? laz_os_send(CARRY_HOST, carry->out.data + carry->out_done,
                                                   carry->out.len - carry->out_done)
                                     : 0;

    if (n < 0 || carry->out.failed)
        _exit(0);
    carry->out_done += (size_t)n;
    if (carry->out_done == carry->out.len) {
        laz_buf_fini(&carry->out);
        carry->out_done = 0;
    }
}

/* Opens the calls that may be open, in their order. */
static void carry_forward(struct carry *carry)
{
    for (;;) {
        struct caller *next = NULL;
        for (size_t i = 0; i < carry->most; i++)
            if (carry->callers[i].state == CALLER_WAITS &&
                (!next || carry->callers[i].id < next->id))
                next = &carry->callers[i];
        if (!next || (carry->n_open && carry->open_bytes + next->size > LAZ_OPEN_BYTES) ||
            carry->out.len - carry->out_done > CARRY_AHEAD)
            break;
        next->state = CALLER_OPEN;
        carry->n_open++;
        carry->open_bytes += next->size;
        laz_buf_append(&carry->out, next->out.data, next->out.len);
        laz_buf_fini(&next->out);
    }
    carry_write_host(carry);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static short caller_wants(const struct carry *carry, const struct caller *caller)
{
    return caller->state == CALLER_ASKS && carry->out.len <= CARRY_AHEAD ? POLLIN : 0;
}

static void carry_turn(struct carry *carry)
{
    struct pollfd fds[2 + 2 * LAZ_OPEN_COMMANDS];
    const bool is_full = carry->n_callers == carry->most;

    fds[0] = (struct pollfd){.fd = CARRY_HOST,
                             .events = (short)(POLLIN | (carry->out.len ? POLLOUT : 0))};
    fds[1] = (struct pollfd){.fd = is_full ? -1 : CARRY_CALLS, .events = POLLIN};
    for (size_t i = 0; i < carry->most; i++) {
        const struct caller *caller = &carry->callers[i];
        const bool writes = caller->state == CALLER_ANSWERED;
        fds[2 + 2 * i] =
            (struct pollfd){.fd = caller->request, .events = caller_wants(carry, caller)};
        fds[3 + 2 * i] = (struct pollfd){.fd = writes ? caller->answer : -1, .events = POLLOUT};
    }
    if (poll(fds, 2 + 2 * carry->most, -1) < 0)
        return;
    for (size_t i = 0; i < carry->most; i++) {
        struct caller *caller = &carry->callers[i];
        const short came = fds[2 + 2 * i].revents;
        if (fds[3 + 2 * i].revents && caller->state == CALLER_ANSWERED)
            caller_write(carry, caller);
        else if ((came & POLLIN) && caller->state == CALLER_ASKS)
            caller_read(carry, caller);
        else if ((came & (POLLHUP | POLLERR)) && caller->state != CALLER_NONE)
            caller_drop(carry, caller); /* it has ended */
    }
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        carry_read_host(carry);
    if (carry->n_records)
        carry_records(carry);
    if (fds[1].revents && carry->n_callers < carry->most)
        carry_read_records(carry);
    carry_forward(carry);
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* Its channel comes by the descriptor that is to be that. False: none comes. */
static bool carry_take_channel(void)
{
    int fds[LAZ_OS_HANDOVER];
    size_t n;
    char byte;

    if (laz_os_receive(CARRY_HOST, &byte, 1, fds, &n) != 1 || n != 1)
        return false;
    const bool is_placed = laz_os_dup_onto(fds[0], CARRY_HOST) >= 0;
    laz_os_close(&fds[0]);
    return is_placed;
}

static bool carry_prepare(struct carry *carry)
{
    struct rlimit files;
    struct stat st;

    if (laz_os_nonblock(CARRY_CALLS, true, NULL) || laz_os_nonblock(CARRY_HOST, true, NULL) ||
        fstat(CARRY_CALLS, &st) != 0)
        return false;
    carry->device = st.st_dev;
    carry->inode = st.st_ino;
    carry->most = LAZ_OPEN_COMMANDS;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < CARRY_OWN + 2 * LAZ_OPEN_COMMANDS)
        carry->most = files.rlim_cur > CARRY_OWN + 2 ? (files.rlim_cur - CARRY_OWN) / 2 : 1;
    for (size_t i = 0; i < carry->most; i++)
        carry->callers[i] = (struct caller){.request = -1, .answer = -1};
    laz_frame_init(&carry->in, carry->max_value + CARRY_SLACK);
    return true;
}

int command_carry(int argc, char **argv)
{
    static struct carry carry;

    if (argc != 2)
        return COMMAND_USAGE;
    carry.max_message = strtoul(argv[0], NULL, 10);
    carry.max_value = strtoul(argv[1], NULL, 10);
    setsid(); /* no signal that a terminal or an interrupt sends to others is for this process */
    signal(SIGPIPE, SIG_IGN);
    if (chdir("/") != 0 || !carry_take_channel() || !carry_prepare(&carry))
        return COMMAND_FAILED;
    for (;;)
        carry_turn(&carry);
}
