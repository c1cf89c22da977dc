/* SPDX-License-Identifier: MIT */
/* relay.c - the standard streams of another process, passed on by threads.  System: POSIX.
 *
 * A thread that writes to a slow reader cannot be ended, so a relay is freed by whoever leaves it
 * last, as an input is (input.c).
 *
 * Programs ask a terminal what it is, and some end before it has answered: what comes then would be
 * typed into the user's shell.  So output is looked at for such questions, and after one the end
 * waits a moment before unread keys are thrown away. */
#include "os/relay.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/input.h"
#include "os/posix/descriptors.h"
#include "os/posix/raw.h"
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define RELAY_READ      ((size_t)64 << 10)
#define RELAY_MOMENT_US 1000000u /* for what is left, when nobody waits for it */
#define RELAY_ANSWER_MS 100      /* a terminal takes to answer, also a distant one */
#define RELAY_ASKED_US  1000000u /* after so long an answer has come */

/* What a terminal is in the middle of: output comes in pieces of any length. */
enum relay_middle { RELAY_TEXT, RELAY_ESCAPE, RELAY_SEQUENCE };

struct relay_stream {
    struct laz_relay *relay;
    pthread_t thread;
    int number, from;
    enum relay_middle middle;
};

struct laz_relay {
    struct laz_relay_options options;
    pthread_mutex_t lock;
    pthread_cond_t left;
    int users, n_running;           /* with `lock`: of this struct; threads */
    int ends[3];                    /* of the other process; a terminal is one of them */
    int master;                     /* of that terminal; -1 */
    struct relay_stream streams[3]; /* 1 and 2 */
    struct laz_input *input;
    _Atomic uint64_t asked_us; /* when output last had a question to the terminal; 0: never */
};

/* ---- questions to a terminal ---------------------------------------------------------------- */

/* Does this byte end a control sequence that asks for a report (ECMA-48, xterm), begin a string, or
 * ask itself (ENQ)? Control characters within a sequence do not end it. */
static bool relay_is_question(enum relay_middle *middle, unsigned char byte)
{
    const enum relay_middle before = *middle;

    if (byte == '\033')
        *middle = RELAY_ESCAPE;
    else if (byte == 030 || byte == 032) /* CAN, SUB */
        *middle = RELAY_TEXT;
    else if (before == RELAY_ESCAPE && byte == '[')
        *middle = RELAY_SEQUENCE;
    else if ((byte >= 0x40 && byte != 0177) || (before == RELAY_ESCAPE && byte >= ' '))
        *middle = RELAY_TEXT;
    return byte == 005 || (before == RELAY_ESCAPE && byte && strchr("]P_Z", byte)) ||
           (before == RELAY_SEQUENCE && byte && strchr("cnptuqx", byte));
}

static void relay_look(struct relay_stream *stream, const char *data, size_t len)
{
    bool asks = false;

    for (size_t i = 0; i < len; i++)
        asks |= relay_is_question(&stream->middle, (unsigned char)data[i]);
    if (asks)
        atomic_store(&stream->relay->asked_us, laz_clock_us());
}

/* ---- its threads ---------------------------------------------------------------------------- */

static void relay_free(struct laz_relay *relay)
{
    pthread_cond_destroy(&relay->left);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}

static void relay_leave(struct laz_relay *relay, bool is_thread)
{
    pthread_mutex_lock(&relay->lock);
    relay->n_running -= is_thread;
    const bool is_last = --relay->users == 0;
    pthread_cond_broadcast(&relay->left);
    pthread_mutex_unlock(&relay->lock);
    if (is_last)
        relay_free(relay);
}

static void *relay_run(void *user)
{
    struct relay_stream *stream = user;
    struct laz_relay *relay = stream->relay;
    char *data = malloc(RELAY_READ);
    ssize_t n = data ? 1 : 0;

    while (n > 0) { /* the master of a terminal without another process: EIO */
        while ((n = read(stream->from, data, RELAY_READ)) < 0 && errno == EINTR)
            ;
        if (n > 0 && relay->options.has_terminal)
            relay_look(stream, data, (size_t)n);
        if (n > 0 && !relay->options.output(relay->options.user, stream->number, data, (size_t)n))
            n = 0;
    }
    free(data);
    laz_os_close(&stream->from);
    relay_leave(relay, true);
    return NULL;
}

/* Takes `from`, also after an error. */
static int relay_start(struct laz_relay *relay, int number, int from, struct laz_error *err)
{
    struct relay_stream *stream = &relay->streams[number];

    *stream = (struct relay_stream){.relay = relay, .number = number, .from = from};
    pthread_mutex_lock(&relay->lock);
    relay->users++;
    relay->n_running++;
    pthread_mutex_unlock(&relay->lock);
    const int failed = laz_os_thread(&stream->thread, 0, relay_run, stream);
    if (!failed) {
        (void)pthread_detach(stream->thread);
        return 0;
    }
    laz_os_close(&stream->from);
    relay_leave(relay, true);
    return laz_error_start(err, failed, "a thread for output cannot be started");
}

/* ---- pipes ---------------------------------------------------------------------------------- */

static int relay_pipe(struct laz_relay *relay, int number, struct laz_error *err)
{
    int from = -1;
    int rc = laz_os_cloexec_pipe(&from, &relay->ends[number], err);

    return rc ? rc : relay_start(relay, number, from, err);
}

static int relay_pipes(struct laz_relay *relay, struct laz_error *err)
{
    int rc = laz_input_begin(STDIN_FILENO, &relay->input, &relay->ends[0], err);

    if (!rc)
        rc = relay_pipe(relay, 1, err);
    return rc ? rc : relay_pipe(relay, 2, err);
}

/* ---- a terminal ----------------------------------------------------------------------------- */

/* Which of the standard streams of this process is a terminal; -1: none. */
static int relay_own_terminal(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (isatty(fd))
            return fd;
    return -1;
}

bool laz_relay_has_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* The slave, as the user's own terminal is, or as one of 24 lines. */
static int relay_open_slave(int master, struct laz_error *err)
{
    const struct winsize plain = {.ws_row = 24, .ws_col = 80};
    const int own = relay_own_terminal();
    struct termios modes;
    const char *name = grantpt(master) == 0 && unlockpt(master) == 0 ? ptsname(master) : NULL;
    const int slave = name ? laz_posix_above(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) : -1;

    if (slave < 0) {
        laz_error_os(err, errno, "a terminal for the program cannot be made");
        return -1;
    }
    (void)ioctl(slave, TIOCSWINSZ, &plain);
    if (own >= 0 && tcgetattr(own, &modes) == 0)
        (void)tcsetattr(slave, TCSANOW, &modes);
    return slave;
}

static int relay_another(int fd)
{
    return laz_posix_above(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

static int relay_terminal(struct laz_relay *relay, struct laz_error *err)
{
    int rc = 0, from = -1, to = -1;

    relay->master = laz_posix_above(posix_openpt(O_RDWR | O_NOCTTY));
    if (relay->master < 0)
        return laz_error_os(err, errno, "a terminal for the program cannot be made");
    (void)fcntl(relay->master, F_SETFD, FD_CLOEXEC);
    relay->ends[0] = relay_open_slave(relay->master, err);
    if (relay->ends[0] < 0)
        return LAZ_EOS;
    relay->ends[1] = relay->ends[2] = relay->ends[0];
    if (!isatty(STDERR_FILENO)) {
        relay->ends[2] = -1;
        rc = relay_pipe(relay, 2, err);
    }
    if (!rc &&
        ((from = relay_another(relay->master)) < 0 || (to = relay_another(relay->master)) < 0))
        rc = laz_error_os(err, errno, "a terminal for the program cannot be made");
    if (rc)
        laz_os_close(&from);
    else
        rc = relay_start(relay, 1, from, err);
    if (rc) {
        laz_os_close(&to);
        return rc;
    }
    laz_posix_raw_begin(relay_own_terminal(), relay->master);
    return laz_input_begin_into(STDIN_FILENO, to, &relay->input, err);
}

/* ---- the whole ------------------------------------------------------------------------------ */

int laz_relay_begin(const struct laz_relay_options *options, struct laz_relay **out,
                    struct laz_error *err)
{
    struct laz_relay *relay = calloc(1, sizeof *relay);

    *out = NULL;
    if (!relay)
        return laz_error_nomem(err);
    relay->options = *options;
    relay->users = 1;
    relay->ends[0] = relay->ends[1] = relay->ends[2] = relay->master = -1;
    pthread_mutex_init(&relay->lock, NULL);
    laz_os_condition_init(&relay->left);
    int rc = options->has_terminal ? relay_terminal(relay, err) : relay_pipes(relay, err);
    if (rc)
        laz_relay_end(relay, false);
    else
        *out = relay;
    return rc;
}

const int *laz_relay_stream(const struct laz_relay *relay, int stream)
{
    return &relay->ends[stream];
}

struct laz_input *laz_relay_input(const struct laz_relay *relay)
{
    return relay->input;
}

/* Our ends of what the other process has had: its output ends with the last process that has one.
 * That of an input by a pipe is closed by the input itself. */
static void relay_close(struct laz_relay *relay)
{
    if (relay->ends[2] != relay->ends[1])
        laz_os_close(&relay->ends[2]);
    if (relay->ends[1] != relay->ends[0])
        laz_os_close(&relay->ends[1]);
    if (relay->options.has_terminal)
        laz_os_close(&relay->ends[0]);
}

static void relay_await(struct laz_relay *relay, bool waits)
{
    const uint64_t until_us = laz_clock_us() + RELAY_MOMENT_US;

    pthread_mutex_lock(&relay->lock);
    while (relay->n_running)
        if (waits)
            pthread_cond_wait(&relay->left, &relay->lock);
        else if (!laz_os_condition_wait(&relay->left, &relay->lock, until_us))
            break;
    pthread_mutex_unlock(&relay->lock);
}

void laz_relay_end(struct laz_relay *relay, bool waits)
{
    if (!relay)
        return;
    relay_close(relay);
    relay_await(relay, waits);
    const uint64_t asked_us = atomic_load(&relay->asked_us);
    if (asked_us && laz_clock_us() - asked_us < RELAY_ASKED_US)
        (void)poll(NULL, 0, RELAY_ANSWER_MS);
    laz_input_end(relay->input);
    if (relay->options.has_terminal)
        laz_posix_raw_end();
    laz_os_close(&relay->master);
    relay_leave(relay, false);
}
