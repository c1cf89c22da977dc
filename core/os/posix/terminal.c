/* SPDX-License-Identifier: MIT */
/* terminal.c - questions at /dev/tty.  System: POSIX.
 *
 * A process that is not in the terminal's foreground would be stopped by SIGTTIN when it reads
 * (termios(3)), so it does not ask. */
#include "os/terminal.h"

#include "os/descriptors.h"
#include "os/io.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
    (void)tcflush(fd, TCIFLUSH); /* a key pressed before the question is not an answer to it */
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
