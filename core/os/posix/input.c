/* SPDX-License-Identifier: MIT */
/* input.c - standard input of this process, passed on through a pipe.  System: POSIX.
 *
 * The thread may be waiting for what nobody types when it is to end, and a descriptor that is
 * shared with other processes must not be made non-blocking.  So it is not waited for, and what it
 * uses is freed by whoever leaves last.  Reading a file does not wait: there the thread ends as
 * soon as the pipe has no reader, and is waited for. */
#include "os/input.h"

#include "os/descriptors.h"
#include "os/posix/raw.h"
#include "os/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define INPUT_READ          ((size_t)64 << 10)
#define INPUT_BACKGROUND_MS 200

struct laz_input {
    pthread_t thread;
    atomic_int users; /* of this struct: the thread and its owner */
    atomic_bool is_over;
    int from, write_end, read_end;
    bool is_file;
    pthread_mutex_t lock; /* for reading, and: */
    pthread_cond_t given; /* is_held has become false */
    bool is_held;
};

static void input_free(struct laz_input *input)
{
    pthread_cond_destroy(&input->given);
    pthread_mutex_destroy(&input->lock);
    free(input);
}

static void input_leave(struct laz_input *input)
{
    if (atomic_fetch_sub(&input->users, 1) == 1)
        input_free(input);
}

/* Waits until something can be read. False: the pipe has no reader any more. */
static bool input_await(const struct laz_input *input)
{
    struct pollfd fds[] = {{.fd = input->from, .events = POLLIN}, {.fd = input->write_end}};

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return true;
    return !fds[1].revents;
}

/* Reads what is there. Whoever has held the input may have taken it: then EAGAIN. */
static ssize_t input_take(struct laz_input *input, char *data)
{
    struct pollfd fds = {.fd = input->from, .events = POLLIN};
    ssize_t n = -1;

    pthread_mutex_lock(&input->lock);
    while (input->is_held && !atomic_load(&input->is_over))
        pthread_cond_wait(&input->given, &input->lock);
    if (input->is_held || poll(&fds, 1, 0) == 0)
        errno = EAGAIN;
    else
        n = read(input->from, data, INPUT_READ);
    pthread_mutex_unlock(&input->lock);
    return n;
}

/* Reads up to INPUT_READ bytes; 0: there is no more, or nobody wants it. */
static size_t input_read(struct laz_input *input, char *data)
{
    while (!atomic_load(&input->is_over) && input_await(input)) {
        ssize_t n = input_take(input, data);
        if (n >= 0)
            return (size_t)n;
        if (errno == EIO && isatty(input->from) && tcgetpgrp(input->from) != getpgrp())
            poll(NULL, 0, INPUT_BACKGROUND_MS); /* in place of SIGTTIN, which is blocked here */
        else if (errno != EINTR && errno != EAGAIN)
            return 0;
    }
    return 0;
}

static bool input_write(const struct laz_input *input, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(input->write_end, data, len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* The end of the input, for a terminal whose programs read lines: the first key ends a line that is
 * incomplete. */
static void input_write_end(const struct laz_input *input, char last)
{
    struct termios modes;

    if (tcgetattr(input->write_end, &modes) != 0 || !(modes.c_lflag & ICANON))
        return;
    const char keys[] = {(char)modes.c_cc[VEOF], (char)modes.c_cc[VEOF]};
    (void)input_write(input, keys, last == '\n' ? 1 : 2);
}

static void *input_run(void *user)
{
    struct laz_input *input = user;
    char *data = malloc(INPUT_READ), last = '\n';
    size_t n = 0;

    while (data && (n = input_read(input, data)) > 0 && input_write(input, data, n))
        last = data[n - 1];
    free(data);
    if (!n && !atomic_load(&input->is_over))
        input_write_end(input, last);
    laz_os_close(&input->write_end);
    input_leave(input);
    return NULL;
}

/* `write_end` is the input's, also after an error, as is `read_end`, -1: it is another's. */
static int input_begin(int from, int write_end, int read_end, struct laz_input **out,
                       struct laz_error *err)
{
    struct laz_input *input = calloc(1, sizeof *input);
    struct stat stat;
    int failed = ENOMEM;

    if (input) {
        *input = (struct laz_input){
            .users = 2, .from = from, .write_end = write_end, .read_end = read_end};
        pthread_mutex_init(&input->lock, NULL);
        pthread_cond_init(&input->given, NULL);
        input->is_file = read_end >= 0 && fstat(from, &stat) == 0 && S_ISREG(stat.st_mode);
        failed = laz_os_thread(&input->thread, 0, input_run, input);
    }
    *out = failed ? NULL : input;
    if (!failed)
        return 0;
    laz_os_close(&read_end);
    laz_os_close(&write_end);
    if (input)
        input_free(input);
    return laz_error_start(err, failed, "the thread for standard input cannot be started");
}

int laz_input_begin(int from, struct laz_input **out, int *fd, struct laz_error *err)
{
    int write_end = -1, read_end = -1;
    int rc = laz_os_cloexec_pipe(&read_end, &write_end, err);

    if (!rc)
        rc = input_begin(from, write_end, read_end, out, err);
    *fd = rc ? -1 : read_end;
    return rc;
}

int laz_input_begin_into(int from, int to, struct laz_input **out, struct laz_error *err)
{
    return input_begin(from, to, -1, out, err);
}

void laz_input_hold(struct laz_input *input, bool is_held)
{
    if (!input)
        return;
    pthread_mutex_lock(&input->lock);
    input->is_held = is_held;
    laz_posix_raw_hold(is_held);
    pthread_cond_signal(&input->given);
    pthread_mutex_unlock(&input->lock);
}

/* Ends the thread that reads a file, and gives back what lies in the pipe. */
static void input_give_back(struct laz_input *input)
{
    char data[4096];
    off_t unread = 0;
    ssize_t n;

    while ((n = read(input->read_end, data, sizeof data)) > 0 || (n < 0 && errno == EINTR))
        unread += n > 0 ? n : 0;
    pthread_join(input->thread, NULL);
    if (unread)
        lseek(input->from, -unread, SEEK_CUR);
}

void laz_input_end(struct laz_input *input)
{
    if (!input)
        return;
    pthread_mutex_lock(&input->lock);
    atomic_store(&input->is_over, true);
    pthread_cond_signal(&input->given);
    pthread_mutex_unlock(&input->lock);
    if (input->is_file)
        input_give_back(input);
    else
        pthread_detach(input->thread);
    laz_os_close(&input->read_end);
    input_leave(input);
}
