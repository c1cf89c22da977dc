/* SPDX-License-Identifier: MIT */
/* test_short.c - each system call with which an engine and its first session take something from
 * the kernel fails once: an error with a text, or all goes on; never a signal, never a hang.
 *
 * A filter (seccomp(2)) hands the calls to a thread that answers them, so those of libraries are
 * among them. Each failure is that of a process of its own, in which nothing was made before: what
 * is made once for a process is made there. Only calls of the thread that uses the engine fail. */
#include "live.h"
#include "sight.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT_SECONDS 300 /* for one process; then SIGALRM ends it */
#define SHORT_ANY     -1

static const struct short_call {
    const char *name;
    int number, second; /* the call, and its second argument or SHORT_ANY */
    int errors[2];
} calls[] = {
    {"pipe2", SYS_pipe2, SHORT_ANY, {EMFILE, ENFILE}},
    {"eventfd2", SYS_eventfd2, SHORT_ANY, {EMFILE, ENOMEM}},
    {"epoll_create1", SYS_epoll_create1, SHORT_ANY, {EMFILE, ENOMEM}},
    {"epoll_ctl", SYS_epoll_ctl, EPOLL_CTL_ADD, {ENOSPC, ENOMEM}},
    {"socket", SYS_socket, SHORT_ANY, {EMFILE, ENOMEM}},
    {"socketpair", SYS_socketpair, SHORT_ANY, {EMFILE, ENOMEM}},
    {"fcntl", SYS_fcntl, F_DUPFD_CLOEXEC, {EMFILE, EMFILE}},
    {"memfd_create", SYS_memfd_create, SHORT_ANY, {EMFILE, ENOMEM}},
    {"clone3", SYS_clone3, SHORT_ANY, {EAGAIN, ENOMEM}},
    {"clone", SYS_clone, SHORT_ANY, {EAGAIN, ENOMEM}},
    {"pidfd_open", SYS_pidfd_open, SHORT_ANY, {EMFILE, ENOMEM}},
    {"accept", SYS_accept, SHORT_ANY, {EMFILE, ENOMEM}},
    {"mkdir", SYS_mkdir, SHORT_ANY, {ENOSPC, ENOMEM}},
    {"mkdirat", SYS_mkdirat, SHORT_ANY, {ENOSPC, ENOMEM}},
    {"bind", SYS_bind, SHORT_ANY, {ENOSPC, ENOMEM}},
    {"ftruncate", SYS_ftruncate, SHORT_ANY, {ENOSPC, EFBIG}},
    {"flock", SYS_flock, SHORT_ANY, {ENOLCK, EAGAIN}},
    {"openat", SYS_openat, SHORT_ANY, {EMFILE, ENFILE}},
};
#define SHORT_CALLS (sizeof calls / sizeof *calls)

/* Shared with the process that fails. */
static struct short_run {
    size_t call;          /* the row of which one fails */
    unsigned long target; /* the call that fails, counted from 1; 0: none */
    int error;
    unsigned long counts[SHORT_CALLS];
    char text[200]; /* of the error */
} * run;

/* ---- in the process that fails -------------------------------------------------------------- */

static size_t short_row(const struct seccomp_data *data)
{
    size_t i = 0;

    while (i < SHORT_CALLS &&
           (calls[i].number != data->nr ||
            (calls[i].second != SHORT_ANY && calls[i].second != (int)(unsigned)data->args[1])))
        i++;
    return i;
}

/* Answers the calls of this process; those of its children are made as they are. */
static void *short_answers(void *user)
{
    const int *told = user;
    struct seccomp_notif asked;
    int listener;

    if (read(told[0], &listener, sizeof listener) != sizeof listener)
        return NULL;
    for (;;) {
        memset(&asked, 0, sizeof asked);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            continue; /* who called has ended */
        struct seccomp_notif_resp answer = {.id = asked.id,
                                            .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        size_t row = short_row(&asked.data);
        if (row < SHORT_CALLS && asked.pid == (unsigned)getpid() &&
            ++run->counts[row] == run->target && row == run->call) {
            answer.flags = 0;
            answer.error = -run->error;
        }
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/* From now on the calls of this thread, and of processes that it starts, are answered. */
static bool short_filter(void)
{
    struct sock_filter code[2 * SHORT_CALLS + 2];
    static int told[2];
    unsigned short n = 0;
    pthread_t thread;

    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < SHORT_CALLS; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (unsigned)calls[i].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {n, code};
    if (pipe(told) != 0 || pthread_create(&thread, NULL, short_answers, told) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    return listener >= 0 && write(told[1], &listener, sizeof listener) == sizeof listener;
}

/* An engine and a session: 0 for success or an error with a text, else the line that failed. */
static int short_start(void)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    int rc = laz_engine_new(NULL, NULL, &engine, &err);
    if (!rc)
        rc = laz_session_open(engine, &options, &session, &err);
    if (!rc)
        rc = laz_session_execute(session, "return 6 * 7", SIZE_MAX, NULL, &result, &err);
    const char *value = result ? laz_result_value(result) : NULL;
    const char *error = rc ? err.text : result ? laz_result_error(result) : NULL;
    snprintf(run->text, sizeof run->text, "%.190s", error ? error : "");
    int line = rc > 0 || (rc < 0 && !*err.text)            ? __LINE__
               : !rc && !error && strcmp(value, "42") != 0 ? __LINE__
                                                           : 0;
    laz_result_free(result);
    laz_session_free(session);
    laz_engine_free(engine);
    return line;
}

/* ---- in the test ---------------------------------------------------------------------------- */

/* Files are opened by hundreds: each fourth, the first chosen by a seed. Of an ordinary user, whose
 * calls are nearly those of root, so many fewer. */
static unsigned long short_every(size_t call)
{
    const unsigned long often = geteuid() == 0 ? 1 : 3;

    return sight_is_full() ? 1 : calls[call].number == SYS_openat ? 4 * often : often;
}

/* Runs a start in a process of its own, in which the `target`-th call of a row fails. False: it
 * ended otherwise than with success or an error. */
static bool short_at(size_t call, unsigned long target, int error)
{
    int status = -1;

    memset(run, 0, sizeof *run);
    run->call = call;
    run->target = target;
    run->error = error;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SHORT_SECONDS);
        _exit(!short_filter() || short_start() ? 1 : 0);
    }
    bool good = waitpid(pid, &status, 0) == pid && status == 0;
    if (!good)
        printf("\n    %s %lu, %s: status %#x %s", calls[call].name, target, strerror(error),
               (unsigned)status, run->text);
    return good;
}

static void each_call_of_a_start_fails_once(void)
{
    unsigned long counts[SHORT_CALLS], runs = 0, errors = 0;

    run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(run != MAP_FAILED);
    CU_ASSERT_FATAL(short_at(0, 0, 0)); /* counts the calls */
    UNIT_TEXT(run->text, "");
    memcpy(counts, run->counts, sizeof counts);
    for (size_t i = 0; i < SHORT_CALLS; i++)
        for (unsigned long target = 1 + sight_pick(short_every(i)); target <= counts[i];
             target += short_every(i))
            for (size_t error = 0; error < 2; error++) {
                if (!sight_is_full() && error != target / short_every(i) % 2)
                    continue;
                CU_ASSERT(short_at(i, target, calls[i].errors[error]));
                runs++;
                errors += *run->text != '\0';
                if (getenv("TEST_SHORT"))
                    printf("\n    %s %lu of %lu, %s: %s", calls[i].name, target, counts[i],
                           strerror(calls[i].errors[error]), run->text);
            }
    printf("\n    %lu starts, %lu errors ", runs, errors);
    CU_ASSERT(runs > 20 && errors > 10);
    munmap(run, sizeof *run);
}

static const struct unit_test tests[] = {
    UNIT(each_call_of_a_start_fails_once),
    {0},
};

int main(void)
{
    return unit_run("short", tests);
}
