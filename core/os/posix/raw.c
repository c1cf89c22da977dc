/* SPDX-License-Identifier: MIT */
/* raw.c - the terminal of this process, while another terminal stands for it.  System: POSIX.
 *
 * A terminal that stays raw is of no use to its owner, so every way out passes here: the end of the
 * command, signals that end the process or stop it, and the moment in which somebody is asked
 * something.  Only a process in the foreground changes it, because in the background it belongs to
 * another job.  All that the handlers call is a call of the system. */
#include "os/posix/raw.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* A signal handler has no argument of ours. */
static struct {
    atomic_bool is_on;
    bool has_keys;
    int from, to;
    struct termios before, raw;
} raw;

static const int raw_last[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGABRT, SIGSEGV,
                               SIGBUS,  SIGFPE,  SIGILL,  SIGSYS,    SIGTRAP, SIGXCPU,
                               SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};
static const int raw_others[] = {SIGWINCH, SIGTSTP, SIGCONT};

static bool raw_is_ours(void)
{
    return atomic_load(&raw.is_on) && raw.has_keys && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void raw_set(bool is_raw, int when)
{
    if (raw_is_ours())
        (void)tcsetattr(STDIN_FILENO, when, is_raw ? &raw.raw : &raw.before);
}

static void raw_size(void)
{
    struct winsize size;

    if (atomic_load(&raw.is_on) && raw.from >= 0 && raw.to >= 0 &&
        ioctl(raw.from, TIOCGWINSZ, &size) == 0)
        (void)ioctl(raw.to, TIOCSWINSZ, &size);
}

void laz_posix_raw_hold(bool is_held)
{
    raw_set(!is_held, TCSANOW);
}

static void raw_on_signal(int number)
{
    const int before = errno;

    if (number == SIGWINCH || number == SIGCONT)
        raw_size();
    if (number == SIGCONT) {
        raw_set(true, TCSANOW);
    } else if (number == SIGTSTP) {
        raw_set(false, TCSANOW);
        (void)kill(getpid(), SIGSTOP);
    } else if (number != SIGWINCH) {
        raw_set(false, TCSANOW);
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    errno = before;
}

static void raw_handle(int number, bool is_on)
{
    struct sigaction action = {.sa_handler = is_on ? raw_on_signal : SIG_DFL,
                               .sa_flags = SA_RESTART};
    struct sigaction present;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &present) != 0 ||
        present.sa_handler != (is_on ? SIG_DFL : raw_on_signal))
        return; /* ignored, or a sanitizer's */
    (void)sigaction(number, &action, NULL);
}

static void raw_handle_all(bool is_on)
{
    for (size_t i = 0; i < sizeof raw_last / sizeof *raw_last; i++)
        raw_handle(raw_last[i], is_on);
    for (size_t i = 0; i < sizeof raw_others / sizeof *raw_others; i++)
        raw_handle(raw_others[i], is_on);
}

void laz_posix_raw_begin(int from, int to)
{
    raw.from = from;
    raw.to = to;
    raw.has_keys = tcgetattr(STDIN_FILENO, &raw.before) == 0;
    raw.raw = raw.before;
    cfmakeraw(&raw.raw);
    atomic_store(&raw.is_on, true);
    raw_handle_all(true);
    raw_size();
    raw_set(true, TCSADRAIN);
}

void laz_posix_raw_end(void)
{
    if (!atomic_load(&raw.is_on))
        return;
    raw_set(false, TCSAFLUSH);
    atomic_store(&raw.is_on, false);
    raw_handle_all(false);
}
