/* SPDX-License-Identifier: MIT */
/* call.c - one call of a tool by its command.
 * Side: box.  Input trusted: no (its command line and input; files that the code can change).
 *
 * A program that others start has no descriptor of ours, and sockets cannot be made inside.  So the
 * call goes by name: the command makes two pipes, and writes its process id and the numbers of
 * their ends to the pipe `calls`, in one piece, which the kernel keeps apart from those of others
 * (pipe(7), PIPE_BUF).  It begins with the end of a line: what somebody else has left there without
 * one is not its beginning.  Who carries the calls opens them in /proc.  Nothing has a name that a
 * command which is killed would leave behind, and the end of either side is seen by the other. */
#include "command/command.h"

#include "base/json.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define CALL_MOST ((size_t)64 << 20) /* bytes of an object on standard input, and of an answer */
#define CALL_READ ((size_t)64 << 10)

struct call {
    const char *name; /* of the command */
    char *directory;
    struct laz_buf declaration;
    struct laz_wire_tool tool;
    struct command_line line;
    struct laz_buf request; /* the line to send, and how much of it was */
    size_t sent;
    int record, request_fd[2], answer_fd[2]; /* of the pipes: reading, writing */
    struct laz_frame answer;
};

static int call_fails(const struct call *call, int status, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", call->name, why);
    return status;
}

/* ---- which tool ----------------------------------------------------------------------------- */

/* The path by which this program was started, which PATH has led to, whatever argv[0] says. */
static bool call_find(struct call *call, char **argv)
{
    const char *const paths[] = {(const char *)(uintptr_t)getauxval(AT_EXECFN), argv[0]};

    call->name = "lazaret-tool";
    for (size_t i = 0; i < 2; i++) {
        const char *slash = paths[i] ? strrchr(paths[i], '/') : NULL;
        if (!slash)
            continue;
        free(call->directory);
        call->directory = laz_strdupf("%.*s/..", (int)(slash - paths[i]), paths[i]);
        call->name = slash + 1;
        char *calls = call->directory ? laz_strdupf("%s/" COMMAND_CALLS, call->directory) : NULL;
        const bool is_here = calls && access(calls, W_OK) == 0;
        free(calls);
        if (is_here)
            return true;
    }
    return false;
}

static int call_open(const struct call *call, const char *name, int flags)
{
    char *path = laz_strdupf("%s/%s", call->directory, name);
    const int fd = path ? open(path, flags | O_CLOEXEC | O_NOCTTY) : -1;

    free(path);
    return fd;
}

/* All that can be read. False: there is more than may be, or it cannot be read. */
static bool call_read_all(int fd, struct laz_buf *text)
{
    ssize_t n = 1;

    while (n > 0 && text->len <= CALL_MOST && laz_buf_reserve(text, CALL_READ)) {
        while ((n = read(fd, text->data + text->len, CALL_READ)) < 0 && errno == EINTR)
            ;
        text->len += n > 0 ? (size_t)n : 0;
    }
    return n == 0 && !text->failed;
}

/* The declaration of the tool, from the file with all of them. */
static int call_declaration(struct call *call)
{
    struct laz_buf all = LAZ_BUF_INIT, mark = LAZ_BUF_INIT;
    const int fd = call_open(call, COMMAND_TOOLS, O_RDONLY);
    const bool has_all = fd >= 0 && call_read_all(fd, &all);
    const char *found = NULL;
    int rc = -1;

    laz_buf_printf(&mark, "\n%s\t", call->name);
    if (has_all && all.len && !mark.failed)
        found = memmem(all.data, all.len, mark.data, mark.len);
    if (found) {
        found += mark.len;
        const char *end = memchr(found, '\n', all.len - (size_t)(found - all.data));
        laz_buf_append(&call->declaration, found,
                       end ? (size_t)(end - found) : all.len - (size_t)(found - all.data));
        const char *text = laz_buf_text(&call->declaration);
        const size_t len = call->declaration.len;
        rc = laz_json_scan(text, len, NULL) ||
                     laz_wire_read(&laz_wire_tool, text, len, &call->tool, NULL)
                 ? call_fails(call, COMMAND_REFUSED, "its declaration cannot be read")
                 : 0;
    }
    if (rc < 0)
        rc = call_fails(call, has_all ? COMMAND_UNKNOWN : COMMAND_REFUSED,
                        has_all ? "there is no such tool" : "the list of tools cannot be read");
    laz_buf_fini(&all);
    laz_buf_fini(&mark);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- what it is called with ----------------------------------------------------------------- */

static int call_usage(const struct call *call, const struct laz_error *why)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_printf(&text, "%s: %s\n", call->name, why->text);
    if (why->code != LAZ_ENOMEM)
        command_usage(&call->tool, call->name, &text);
    fputs(laz_buf_text(&text), stderr);
    laz_buf_fini(&text);
    return why->code == LAZ_ENOMEM ? COMMAND_FAILED : COMMAND_USAGE;
}

static int call_arguments(struct call *call, int argc, char **argv)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int rc =
        command_read(&call->tool, argv + 1, argc > 1 ? (size_t)argc - 1 : 0, &call->line, &err);

    if (!rc && call->line.reads && !call->line.wants_help) {
        if (!call_read_all(STDIN_FILENO, &text))
            rc =
                laz_error_set(&err, LAZ_EINVAL, 0, "standard input cannot be read, or is too long");
        else
            rc = command_read_object(laz_buf_text(&text), text.len, &call->line.args, &err);
    }
    laz_buf_fini(&text);
    return rc ? call_usage(call, &err) : 0;
}

static int call_help(const struct call *call)
{
    struct laz_buf text = LAZ_BUF_INIT;

    command_help(&call->tool, call->name, &text);
    const bool is_written =
        !text.failed && laz_os_write_waiting(STDOUT_FILENO, text.data, text.len);
    laz_buf_fini(&text);
    return is_written ? 0 : COMMAND_FAILED;
}

/* ---- the call ------------------------------------------------------------------------------- */

static int call_begin(struct call *call)
{
    char record[64];
    ssize_t n;

    laz_message_make(&(struct laz_message){.type = LAZ_MESSAGE_TOOL_CALL,
                                           .tool = call->tool.name,
                                           .args = laz_buf_text(&call->line.args),
                                           .args_len = call->line.args.len},
                     &call->request);
    call->record = call_open(call, COMMAND_CALLS, O_WRONLY | O_NONBLOCK);
    if (call->record < 0 && errno == ENXIO)
        return call_fails(call, COMMAND_REFUSED,
                          "tools cannot be called: the process that carries the calls has ended");
    if (call->record < 0)
        return call_fails(call, COMMAND_REFUSED, "tools cannot be called here");
    if (call->request.failed ||
        laz_os_cloexec_pipe(&call->request_fd[0], &call->request_fd[1], NULL) ||
        laz_os_cloexec_pipe(&call->answer_fd[0], &call->answer_fd[1], NULL) ||
        laz_os_nonblock(call->request_fd[1], true, NULL))
        return call_fails(call, COMMAND_FAILED, strerror(errno));
    const int len = snprintf(record, sizeof record, "\n%ld %d %d\n", (long)getpid(),
                             call->request_fd[0], call->answer_fd[1]);
    while ((n = write(call->record, record, (size_t)len)) < 0 &&
           (errno == EINTR || errno == EAGAIN)) {
        struct pollfd room = {.fd = call->record, .events = POLLOUT};
        (void)poll(&room, 1, -1);
    }
    return n == len ? 0 : call_fails(call, COMMAND_REFUSED, "tools cannot be called any more");
}

/* Sends what the pipe takes. One that nobody reads any more has its answer already. */
static void call_send(struct call *call)
{
    const ssize_t n =
        write(call->request_fd[1], call->request.data + call->sent, call->request.len - call->sent);

    if (n > 0)
        call->sent += (size_t)n;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        call->sent = call->request.len;
}

/* The next bytes of the answer. From the first on the other side has its end open, and this one
 * gives up its own. False: it has ended. */
static bool call_receive(struct call *call)
{
    char *room = laz_frame_room(&call->answer, CALL_READ);
    const ssize_t n = room ? read(call->answer_fd[0], room, CALL_READ) : 0;

    if (n > 0)
        laz_frame_added(&call->answer, (size_t)n);
    laz_os_close(&call->answer_fd[1]);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Waits for the answer: a line, or NULL. */
static char *call_await(struct call *call, size_t *len)
{
    char *line;
    int have;

    while ((have = laz_frame_next(&call->answer, &line, len)) == 0) {
        struct pollfd fds[] = {
            {.fd = call->answer_fd[0], .events = POLLIN},
            {.fd = call->sent < call->request.len ? call->request_fd[1] : -1, .events = POLLOUT},
            {.fd = call->record}, /* it has no reader: an error */
        };
        if (poll(fds, 3, -1) < 0)
            continue;
        if (fds[1].revents)
            call_send(call);
        if (fds[0].revents ? !call_receive(call) : fds[2].revents != 0)
            return NULL;
    }
    return have == 1 ? line : NULL;
}

/* ---- what comes of it ----------------------------------------------------------------------- */

static int call_write(const struct call *call, struct laz_buf *text)
{
    if (!text->len || text->data[text->len - 1] != '\n')
        laz_buf_putc(text, '\n');
    signal(SIGPIPE, SIG_DFL); /* as other commands */
    if (!text->failed && laz_os_write_waiting(STDOUT_FILENO, text->data, text->len))
        return 0;
    return call_fails(call, COMMAND_FAILED, text->failed ? "out of memory" : strerror(errno));
}

static int call_show(const struct call *call, const struct laz_message *reply)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (reply->value[0] == '"')
        text.failed |= !laz_json_decode_string(reply->value, reply->value_len, &text);
    else if (call->line.is_pretty)
        command_show(reply->value, reply->value_len, &text);
    else
        laz_buf_append(&text, reply->value, reply->value_len);
    const int status = call_write(call, &text);
    laz_buf_fini(&text);
    return status;
}

static int call_error(const struct call *call, const struct laz_message *reply)
{
    struct laz_buf text = LAZ_BUF_INIT;
    const char *kind = reply->kind ? reply->kind : "";

    laz_buf_append(&text, reply->error, reply->error_len);
    call_fails(call, 0, laz_buf_text(&text));
    laz_buf_fini(&text);
    return strcmp(kind, "refused") == 0   ? COMMAND_REFUSED
           : strcmp(kind, "unknown") == 0 ? COMMAND_UNKNOWN
                                          : COMMAND_FAILED;
}

static int call_finish(struct call *call)
{
    struct laz_message reply;
    size_t len;
    char *line = call_await(call, &len);
    int status = COMMAND_FAILED;

    if (!line)
        return call_fails(call, COMMAND_REFUSED, "the call was lost: no answer came");
    if (laz_message_parse_host(line, len, LAZ_WIRE_COMMANDS, &reply, NULL) ||
        reply.type != LAZ_MESSAGE_REPLY)
        call_fails(call, 0, "its answer cannot be read");
    else
        status = reply.value ? call_show(call, &reply) : call_error(call, &reply);
    laz_message_fini(&reply);
    return status;
}

int command_call(int argc, char **argv)
{
    struct call call = {.record = -1,
                        .request_fd = {-1, -1},
                        .answer_fd = {-1, -1},
                        .line = {.args = LAZ_BUF_INIT}};
    int status;

    laz_frame_init(&call.answer, CALL_MOST + CALL_READ);
    if (!call_find(&call, argv))
        return call_fails(&call, COMMAND_REFUSED, "it is no command of a session");
    signal(SIGPIPE, SIG_IGN);
    if ((status = call_declaration(&call)) || (status = call_arguments(&call, argc, argv)))
        return status;
    if (call.line.wants_help)
        return call_help(&call);
    status = call_begin(&call);
    return status ? status : call_finish(&call); /* its end frees and closes the rest */
}
