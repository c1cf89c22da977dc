/* SPDX-License-Identifier: MIT */
/* test_posix.c - calls in which POSIX systems differ give the same answers everywhere: the rules
 * that the files of core/os/linux and core/os/darwin keep. */
#include "unit.h"

#include "base/clock.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/pidfd.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"
#include "os/posix/signals.h"
#include "os/posix/sockets.h"
#include "os/process_tree.h"
#include "os/relay.h"
#include "os/thread.h"
#include "os/usage.h"
#include "os/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOON_MS 50
#define LATE_MS 900000 /* never reached unless it hangs */

static bool closed_by_exec(int fd)
{
    return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

/* Starts a child that is idle until it is killed; it runs when this returns. */
static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (;;)
            pause();
    }
    CU_ASSERT_FATAL(pid > 0);
    return pid;
}

static void sleeper_end(pid_t pid)
{
    CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
}

static void descriptors_are_closed_by_exec(void)
{
    int ends[2] = {-1, -1};

    CU_ASSERT_EQUAL_FATAL(laz_posix_pipe(ends), 0);
    CU_ASSERT(closed_by_exec(ends[0]) && closed_by_exec(ends[1]));
    int number = dup(ends[0]);
    CU_ASSERT_FALSE(closed_by_exec(number));
    CU_ASSERT_EQUAL(laz_os_dup_onto(ends[1], number), number);
    CU_ASSERT_TRUE(closed_by_exec(number));
    CU_ASSERT_EQUAL(write(number, "x", 1), 1); /* the number is now that of the other end */
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    CU_ASSERT_EQUAL(laz_os_dup_onto(ends[1], number), -1);
    laz_os_close(&number);
    int sock = laz_posix_socket(AF_UNIX, false);
    CU_ASSERT(closed_by_exec(sock) && (fcntl(sock, F_GETFL) & O_NONBLOCK));
    laz_os_close(&sock);
    sock = laz_posix_socket(AF_UNIX, true);
    CU_ASSERT(closed_by_exec(sock) && !(fcntl(sock, F_GETFL) & O_NONBLOCK));
    laz_os_close(&sock);
    CU_ASSERT_EQUAL(laz_posix_socket(-1, true), -1);
    CU_ASSERT_EQUAL(laz_posix_accepted(-1), -1);
}

static void received_descriptors_are_closed_by_exec(void)
{
    int pair[2], came[LAZ_OS_HANDOVER], given = open("/dev/null", O_RDONLY);
    size_t n = 0;
    char c = 0;

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CU_ASSERT_TRUE(laz_os_hand_over(pair[0], "y", 1, &given, 1));
    CU_ASSERT_EQUAL(laz_os_receive(pair[1], &c, 1, came, &n), 1);
    CU_ASSERT_EQUAL_FATAL(n, 1);
    CU_ASSERT(c == 'y' && closed_by_exec(came[0]));
    laz_os_close(&came[0]);
    laz_os_close(&given);
    laz_os_close(&pair[0]);
    laz_os_close(&pair[1]);
}

/* Three were sent, and there is one number left. */
static void descriptors_come_all_or_none(void)
{
    int pair[2], came[LAZ_OS_HANDOVER], given[] = {0, 0, 0};
    struct rlimit before, few;
    size_t n = 0;
    char c = 0;

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    CU_ASSERT_TRUE(laz_os_hand_over(pair[0], "y", 1, given, 3));
    int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
    few = (struct rlimit){(rlim_t)next + 1, before.rlim_max};
    laz_os_close(&next);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    ssize_t got = laz_os_receive(pair[1], &c, 1, came, &n);
    int again = fcntl(0, F_DUPFD_CLOEXEC, 0);
    setrlimit(RLIMIT_NOFILE, &before);
    CU_ASSERT(got == 1 && c == 'y' && n == LAZ_OS_CUT);
    CU_ASSERT_EQUAL(again, (int)few.rlim_cur - 1); /* none stayed open */
    laz_os_close(&again);
    laz_os_close(&pair[0]);
    laz_os_close(&pair[1]);
}

static void a_directory_is_unlocked_and_a_link_is_not_followed(void)
{
    char base[] = "/tmp/lazaret-test-posix-XXXXXX", name[64];
    struct stat st;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(base));
    int parent = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_EQUAL(mkdirat(parent, "locked", 0), 0);
    CU_ASSERT_EQUAL(symlinkat("locked", parent, "link"), 0);
    CU_ASSERT_FALSE(laz_posix_unlock(parent, "link"));
    CU_ASSERT_FALSE(laz_posix_unlock(parent, "nothing"));
    CU_ASSERT(fstatat(parent, "locked", &st, 0) == 0 && (st.st_mode & 0777) == 0);
    CU_ASSERT_TRUE(laz_posix_unlock(parent, "locked"));
    CU_ASSERT(fstatat(parent, "locked", &st, 0) == 0 && (st.st_mode & 0777) == 0700);
    snprintf(name, sizeof name, "%s", base);
    laz_os_remove_tree(name);
    laz_os_close(&parent);
}

/* Files that their owner has made immutable (chflags(2)); on other systems that requires
 * privilege. */
static void what_is_immutable_is_removed(void)
{
#if defined UF_IMMUTABLE
    char base[] = "/tmp/lazaret-test-posix-XXXXXX", directory[64], file[80];
    struct stat st;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(base));
    snprintf(directory, sizeof directory, "%s/directory", base);
    snprintf(file, sizeof file, "%s/file", directory);
    CU_ASSERT_EQUAL(mkdir(directory, 0755), 0);
    CU_ASSERT_EQUAL(mkdir(file, 0755), 0);
    CU_ASSERT_EQUAL(chflags(file, UF_IMMUTABLE), 0);
    CU_ASSERT_EQUAL(chflags(directory, UF_APPEND), 0);
    CU_ASSERT_EQUAL(chflags(base, UF_IMMUTABLE), 0);
    laz_os_remove_tree(base);
    CU_ASSERT_EQUAL(lstat(base, &st), -1);
#endif
}

static void a_signal_is_taken_and_its_absence_noticed(void)
{
    sigset_t signals, before;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    CU_ASSERT_EQUAL(laz_posix_await_signal(&signals, 1), 0);
    raise(SIGUSR2); /* before anything waits for it */
    CU_ASSERT_EQUAL(laz_posix_await_signal(&signals, LATE_MS), SIGUSR2);
    pid_t pid = fork();
    if (pid == 0) {
        const struct timespec later = {0, SOON_MS * 1000000L};
        nanosleep(&later, NULL);
        _exit(kill(getppid(), SIGUSR1));
    }
    CU_ASSERT_EQUAL(laz_posix_await_signal(&signals, LATE_MS), SIGUSR1);
    CU_ASSERT_EQUAL(laz_posix_await_signal(&signals, 1), 0); /* it was consumed */
    CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool met;
};

static void *meet(void *user)
{
    struct meeting *meeting = user;

    pthread_mutex_lock(&meeting->mutex);
    meeting->met = true;
    pthread_cond_signal(&meeting->condition);
    pthread_mutex_unlock(&meeting->mutex);
    return NULL;
}

static void a_condition_is_waited_for_until_a_time(void)
{
    struct meeting meeting = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;

    laz_os_condition_init(&meeting.condition);
    pthread_mutex_lock(&meeting.mutex);
    uint64_t until_us = laz_clock_us() + SOON_MS * 1000;
    while (laz_os_condition_wait(&meeting.condition, &meeting.mutex, until_us))
        ;
    CU_ASSERT(laz_clock_us() >= until_us);
    CU_ASSERT_FALSE(laz_os_condition_wait(&meeting.condition, &meeting.mutex, 0)); /* long past */
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, meet, &meeting), 0);
    until_us = laz_clock_us() + LATE_MS * 1000;
    while (!meeting.met && laz_os_condition_wait(&meeting.condition, &meeting.mutex, until_us))
        ;
    CU_ASSERT_TRUE(meeting.met);
    pthread_mutex_unlock(&meeting.mutex);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&meeting.condition);
}

static void a_wake_is_readable_when_it_was_asked_for(void)
{
    int fd = laz_os_wake_new();

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_TRUE(closed_by_exec(fd));
    CU_ASSERT_FALSE(laz_os_await(fd, 0));
    laz_os_wake(fd);
    CU_ASSERT_TRUE(laz_os_await(fd, LATE_MS));
    laz_os_wake(fd);
    CU_ASSERT_TRUE(laz_os_await(fd, 0)); /* remains so */
    laz_os_wake_clear(fd);
    CU_ASSERT_FALSE(laz_os_await(fd, 0));
    laz_os_wake_clear(fd);
    laz_os_wake(fd);
    CU_ASSERT_TRUE(laz_os_await(fd, 0));
    laz_os_close(&fd);
}

static bool has_child(pid_t parent, pid_t child)
{
    size_t n = 0;
    int64_t *children = laz_os_tree_children(parent, &n);
    bool found = false;

    for (size_t i = 0; i < n; i++)
        found |= children[i] == child;
    free(children);
    return found;
}

static void children_and_parents_are_told(void)
{
    size_t n = 1;

    if (!laz_os_tree_can_be_seen())
        return;
    pid_t pid = sleeper();
    CU_ASSERT_TRUE(has_child(getpid(), pid));
    CU_ASSERT_EQUAL(laz_os_tree_parent(pid), getpid());
    CU_ASSERT_PTR_NULL(laz_os_tree_children(pid, &n));
    CU_ASSERT_EQUAL(n, 0);
    sleeper_end(pid);
    CU_ASSERT_FALSE(has_child(getpid(), pid));
    CU_ASSERT_EQUAL(laz_os_tree_parent(pid), -1);
    CU_ASSERT_EQUAL(laz_os_tree_parent(-1), -1);
}

/* The kernel's numbers of pages in /proc/PID/stat are approximate: it gathers them on each
 * processor (proc_pid_stat(5), rss), so that a process with few pages may seem to have none. */
#define MUCH ((size_t)8 << 20)

static void what_a_process_has_used_is_told_of_it_alone(void)
{
    struct laz_usage usage = LAZ_USAGE_INIT;
    uint64_t cpu_us = 1, rss_bytes = 1, begun = laz_clock_us();
    char *much = malloc(MUCH);

    CU_ASSERT_PTR_NOT_NULL_FATAL(much);
    memset(much, 1, MUCH); /* children have it too */
    CU_ASSERT_FALSE(laz_os_usage_is_open(&usage));
    laz_os_usage_read(&usage, &cpu_us, &rss_bytes);
    CU_ASSERT(cpu_us == 0 && rss_bytes == 0);
    CU_ASSERT_FALSE(laz_os_usage_open(-1, &usage));
    CU_ASSERT_TRUE_FATAL(laz_os_usage_open(getpid(), &usage));
    do /* until the kernel's clock, which may be coarse, has moved */
        laz_os_usage_read(&usage, &cpu_us, &rss_bytes);
    while (cpu_us == 0 && laz_clock_us() - begun < LATE_MS * 1000u);
    CU_ASSERT(cpu_us > 0 && rss_bytes > 65536);
    laz_os_usage_close(&usage);
    CU_ASSERT_FALSE(laz_os_usage_is_open(&usage));

    pid_t pid = sleeper();
    CU_ASSERT_TRUE(laz_os_usage_open(pid, &usage));
    laz_os_usage_read(&usage, &cpu_us, &rss_bytes);
    CU_ASSERT(rss_bytes > 0);
    sleeper_end(pid);
    laz_os_usage_read(&usage, &cpu_us, &rss_bytes);
    CU_ASSERT(cpu_us == 0 && rss_bytes == 0);
    laz_os_usage_close(&usage);
    free(much);
}

static void a_descriptor_of_a_process_is_readable_at_its_end(void)
{
    pid_t pid = sleeper();
    int fd = laz_os_pidfd(pid);

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_TRUE(closed_by_exec(fd));
    CU_ASSERT_FALSE(laz_os_pidfd_has_ended(fd));
    CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
    CU_ASSERT_TRUE(laz_os_await(fd, LATE_MS));
    CU_ASSERT_TRUE(laz_os_pidfd_has_ended(fd));
    CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
    CU_ASSERT_TRUE(laz_os_pidfd_has_ended(fd)); /* remains so */
    laz_os_close(&fd);
    CU_ASSERT_EQUAL(laz_os_pidfd(-1), -1);
    CU_ASSERT_TRUE(laz_os_pidfd_has_ended(-1));
}

/* Runs in a child of the test. */
static int die_with_parent(void)
{
    /* a parent that has ended is detected; the present one is followed */
    return !laz_os_die_with_parent(getppid() + 1, SIGTERM) &&
                   laz_os_die_with_parent(getppid(), SIGTERM) && laz_os_inherit_orphans()
               ? 0
               : 1;
}

static void a_parent_that_has_ended_is_noticed(void)
{
    int status = -1, ends[2];
    char c;

    pid_t pid = fork();
    if (pid == 0)
        _exit(die_with_parent());
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);

    /* The grandchild, which ends with its parent, has the only other end of the pipe. */
    CU_ASSERT_EQUAL_FATAL(laz_posix_pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        pid_t child = fork();
        if (child == 0) {
            if (!laz_os_die_with_parent(getppid(), SIGKILL) || write(ends[1], "r", 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
        for (;;)
            pause();
    }
    laz_os_close(&ends[1]);
    CU_ASSERT(read(ends[0], &c, 1) == 1 && c == 'r');
    CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
    struct pollfd gone = {.fd = ends[0], .events = POLLIN};
    CU_ASSERT_EQUAL(poll(&gone, 1, LATE_MS), 1);
    CU_ASSERT_EQUAL(read(ends[0], &c, 1), 0);
    laz_os_close(&ends[0]);
}

/* ---- questions to a terminal ---------------------------------------------------------------- */

static bool output_has_come(void *user, int stream, const char *data, size_t len)
{
    (void)stream;
    return write(*(const int *)user, data, len) == (ssize_t)len;
}

/* How long the end waits after this output, which comes in two pieces. It need not any more where
 * that has taken a second: then 0. */
static uint64_t waits_after_us(const char *first, const char *rest, bool *is_late)
{
    int come[2]; /* what has come, again */
    char c;
    struct laz_relay *relay;
    const struct laz_relay_options options = {
        .has_terminal = true, .output = output_has_come, .user = &come[1]};

    CU_ASSERT_EQUAL_FATAL(pipe(come), 0);
    const uint64_t begin_us = laz_clock_us();
    CU_ASSERT_EQUAL_FATAL(laz_relay_begin(&options, &relay, NULL), 0);
    for (const char *const *piece = (const char *const[]){first, rest, NULL}; *piece; piece++) {
        CU_ASSERT(write(*laz_relay_stream(relay, 1), *piece, strlen(*piece)) > 0);
        for (size_t i = 0; i < strlen(*piece); i++)
            CU_ASSERT_EQUAL(read(come[0], &c, 1), 1);
    }
    const uint64_t end_us = laz_clock_us();
    laz_relay_end(relay, true);
    *is_late = laz_clock_us() - begin_us > 900000;
    laz_os_close(&come[0]);
    laz_os_close(&come[1]);
    return laz_clock_us() - end_us;
}

static void a_question_in_pieces_is_a_question(void)
{
    static const char *const rows[][2] = {{"text", "\033[c"}, {"\033", "[6n"},
                                          {"\033[", "6n"},    {"\033[6", "\a\177n"},
                                          {"text", "\005"},   {"\033", "]11;?"}};
    bool is_late;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT(waits_after_us(rows[i][0], rows[i][1], &is_late) >= 100000 || is_late);
}

static const struct unit_test tests[] = {
    UNIT(descriptors_are_closed_by_exec),
    UNIT(received_descriptors_are_closed_by_exec),
    UNIT(descriptors_come_all_or_none),
    UNIT(a_directory_is_unlocked_and_a_link_is_not_followed),
    UNIT(what_is_immutable_is_removed),
    UNIT(a_signal_is_taken_and_its_absence_noticed),
    UNIT(a_condition_is_waited_for_until_a_time),
    UNIT(a_wake_is_readable_when_it_was_asked_for),
    UNIT(a_question_in_pieces_is_a_question),
    UNIT(children_and_parents_are_told),
    UNIT(what_a_process_has_used_is_told_of_it_alone),
    UNIT(a_descriptor_of_a_process_is_readable_at_its_end),
    UNIT(a_parent_that_has_ended_is_noticed),
    {0},
};

int main(void)
{
    return unit_run("posix", tests);
}
