/* SPDX-License-Identifier: MIT */
/* terminal.c - questions at /dev/tty.  System: POSIX.
 *
 * A process that is not in the terminal's foreground would be stopped by SIGTTIN when it reads
 * (termios(3)), so it does not ask. */
#include "os/terminal.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define TERMINAL_LINE 4096 /* bytes of a line; the rest is not an answer */

static int terminal_open(int *fd, struct laz_error *err)
{
    *fd = laz_posix_above(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (*fd < 0)
        return errno == ENOMEM || errno == EMFILE || errno == ENFILE
                   ? laz_error_os(err, errno, "the terminal cannot be opened")
                   : laz_error_set(err, LAZ_EREFUSED, 0, "there is no terminal");
    if (tcgetpgrp(*fd) == getpgrp())
        return 0;
    laz_os_close(fd);
    return laz_error_set(err, LAZ_EREFUSED, 0, "another job has the terminal");
}

/* Reads until the end of a line. */
static int terminal_read(int fd, int cancel_fd, struct laz_buf *line, struct laz_error *err)
{
    struct laz_awaited awaited[] = {{.fd = cancel_fd}, {.fd = fd}};
    char piece[256];

    while (!line->len || line->data[line->len - 1] != '\n') {
        int n = laz_os_await_any(awaited, 2, LAZ_OS_FOREVER);
        if (n < 0)
            return laz_error_os(err, errno, "the terminal cannot be read");
        if (awaited[0].ready)
            return laz_error_set(err, LAZ_ECANCELLED, 0, "nobody waits for the answer any more");
        ssize_t got = n && awaited[1].ready ? read(fd, piece, sizeof piece) : -1;
        if (got == 0)
            return laz_error_set(err, LAZ_ECANCELLED, 0, "no answer was given");
        if (got < 0 && n && errno != EINTR && errno != EAGAIN)
            return laz_error_os(err, errno, "the terminal cannot be read");
        if (got > 0)
            laz_buf_append(line, piece, (size_t)got);
        if (line->failed)
            return laz_error_nomem(err);
        if (line->len > TERMINAL_LINE)
            return laz_error_set(err, LAZ_ECANCELLED, 0, "the answer is too long");
    }
    line->data[--line->len] = '\0';
    return 0;
}

int laz_os_ask_terminal(const struct laz_buf *question, int cancel_fd, struct laz_buf *line,
                        struct laz_error *err)
{
    size_t done;
    int fd, rc = terminal_open(&fd, err);

    if (rc)
        return rc;
    (void)tcflush(fd, TCIFLUSH); /* a key pressed before the question is no answer to it */
    const int failed = laz_os_write_all(fd, question->data, question->len, &done);
    if (failed)
        rc = laz_error_os(err, failed, "the terminal cannot be written");
    else if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0) /* others may read it, too */
        rc = laz_error_os(err, errno, "the terminal cannot be read");
    else
        rc = terminal_read(fd, cancel_fd, line, err);
    if (rc && !failed)
        (void)!write(fd, "\n", 1); /* what follows begins a line */
    laz_os_close(&fd);
    return rc;
}

/* ---- a question to the terminal itself ------------------------------------------------------- */

struct query {
    int fd;
    char final;
    struct laz_buf part;  /* the beginning of an answer */
    struct laz_buf typed; /* bytes that were none */
};

/* Can the part be the beginning of an answer? Without its last byte it was. */
static bool query_goes_on(const struct laz_buf *part)
{
    static const char begin[] = "\033[?";
    const char c = part->data[part->len - 1];

    return part->len < sizeof begin ? c == begin[part->len - 1]
                                    : (c >= '0' && c <= '9') || c == ';';
}

/* One byte: a byte behind the answer stays for the next reader. True: the answer is whole. */
static bool query_take(struct query *query, char c)
{
    struct laz_buf *part = &query->part;

    if (part->len > 3 && c == query->final)
        return true;
    laz_buf_putc(part, c);
    while (!part->failed && part->len && !query_goes_on(part)) {
        /* No answer: a person's escape, say. The last byte may begin one. */
        const size_t n = part->len > 1 ? part->len - 1 : 1;
        laz_buf_append(&query->typed, part->data, n);
        laz_buf_drop(part, n);
    }
    return false;
}

static int query_read(struct query *query, uint64_t ms, struct laz_error *err)
{
    const uint64_t deadline = laz_clock_ms() + ms;

    for (uint64_t now = laz_clock_ms(); now < deadline; now = laz_clock_ms()) {
        char c;
        ssize_t n = laz_os_await(query->fd, deadline - now) ? read(query->fd, &c, 1) : -1;
        if (n == 0 || (n < 0 && errno == EIO))
            return laz_error_set(err, LAZ_EREFUSED, 0, "the terminal is gone");
        if (n > 0 && query_take(query, c))
            return query->part.failed ? laz_error_nomem(err) : 0;
        if (query->part.failed || query->typed.failed)
            return laz_error_nomem(err);
    }
    return laz_error_set(err, LAZ_ETIMEOUT, 0, "the terminal does not answer");
}

/* Puts back what was typed before the answer came. What was typed after it stands behind that. */
static void query_give_back(struct query *query, const struct termios *modes)
{
    char rest[256];
    ssize_t n;

    while (query->typed.len && (n = read(query->fd, rest, sizeof rest)) > 0)
        laz_buf_append(&query->typed, rest, (size_t)n);
    (void)tcsetattr(query->fd, TCSANOW, modes);
    for (size_t i = 0; i < query->typed.len; i++)
        if (ioctl(query->fd, TIOCSTI, query->typed.data + i))
            break;
}

int laz_os_query_terminal(int shown, const char *question, char final, uint64_t ms,
                          struct laz_buf *answer, struct laz_error *err)
{
    struct query query = {.final = final};
    struct termios modes, asking;
    size_t done;
    int rc;

    if (tcgetpgrp(shown) != getpgrp()) /* also: it is not the terminal that controls the process */
        return laz_error_set(err, LAZ_EREFUSED, 0, "another job has the terminal");
    rc = terminal_open(&query.fd, err);
    if (rc)
        return rc;
    if (tcgetattr(query.fd, &modes) || fcntl(query.fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0) {
        rc = laz_error_os(err, errno, "the terminal cannot be asked");
        goto out;
    }
    /* Bytes come at once and are not shown. Ctrl-C stays what it is. */
    asking = modes;
    asking.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    asking.c_cc[VMIN] = 1;
    asking.c_cc[VTIME] = 0;
    (void)tcsetattr(query.fd, TCSANOW, &asking);
    if (laz_os_await(query.fd, 0))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "something was typed that nobody has read yet");
    else if (laz_os_write_all(query.fd, question, strlen(question), &done))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "the terminal cannot be written");
    else
        rc = query_read(&query, ms, err);
    if (!rc)
        laz_buf_append(answer, query.part.data + 3, query.part.len - 3);
    else
        laz_buf_append(&query.typed, laz_buf_text(&query.part), query.part.len);
    query_give_back(&query, &modes);
out:
    laz_buf_fini(&query.part);
    laz_buf_fini(&query.typed);
    laz_os_close(&query.fd);
    return rc;
}
