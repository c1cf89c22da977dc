/* SPDX-License-Identifier: MIT */
/* posix.c - calls that other POSIX systems have in another form.  System: macOS.
 *
 * Descriptors become close-on-exec in a second call, for there is no pipe2(2), accept4(2) nor
 * SOCK_CLOEXEC: a process that the application forks from another thread in between, and that
 * executes something else than lazaret's children (posix_spawn(2) closes all for those), inherits
 * them.  MSG_NOSIGNAL is younger than some systems that lazaret runs on: sockets have SO_NOSIGPIPE
 * (setsockopt(2)) as well. */
#include "os/posix/posix.h"

#include "base/clock.h"
#include "os/os.h"
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/attr.h>
#include <sys/event.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- descriptors ---------------------------------------------------------------------------- */

static void posix_close(int fd)
{
    int saved = errno;

    (void)close(fd);
    errno = saved;
}

int laz_posix_pipe(int ends[2])
{
    if (laz_posix_above_both(pipe(ends), ends) != 0)
        return -1;
    if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0)
        return 0;
    posix_close(ends[0]);
    posix_close(ends[1]);
    return -1;
}

int laz_posix_accepted(int fd)
{
    int on = 1;

    return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
                   setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0
               ? -1
               : 0;
}

int laz_posix_socket(int family, bool blocking)
{
    int fd = laz_posix_above(socket(family, SOCK_STREAM, 0));

    if (fd < 0 ||
        (laz_posix_accepted(fd) == 0 && (blocking || fcntl(fd, F_SETFL, O_NONBLOCK) == 0)))
        return fd;
    posix_close(fd);
    return -1;
}

bool laz_posix_has_abstract_names(void)
{
    return false;
}

ssize_t laz_posix_receive(int fd, struct msghdr *message)
{
    ssize_t got = recvmsg(fd, message, 0);

    for (struct cmsghdr *head = got >= 0 ? CMSG_FIRSTHDR(message) : NULL; head;
         head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int came;
            memcpy(&came, CMSG_DATA(head) + i * sizeof came, sizeof came);
            (void)fcntl(came, F_SETFD, FD_CLOEXEC);
        }
    }
    return got;
}

/* fsync(2) leaves it to the drive when it writes; the second call is not known to every file
 * system. */
int laz_posix_sync(int fd)
{
    return fcntl(fd, F_FULLFSYNC) == 0 || fsync(fd) == 0 ? 0 : errno;
}

int laz_os_dup_onto(int fd, int number)
{
    if (dup2(fd, number) < 0 || fcntl(number, F_SETFD, FD_CLOEXEC) < 0)
        return -1;
    return number;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Flags that its owner can set (chflags(2): uchg, uappnd) keep a file from being removed, and a
 * folder from being emptied. There is no chflagsat(2). */
bool laz_posix_unlock(int parent, const char *name)
{
    struct attrlist flags = {.bitmapcount = ATTR_BIT_MAP_COUNT, .commonattr = ATTR_CMN_FLAGS};
    uint32_t none = 0;
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    bool cleared = st.st_flags == 0 ||
                   setattrlistat(parent, name, &flags, &none, sizeof none, FSOPT_NOFOLLOW) == 0;
    if (!S_ISDIR(st.st_mode))
        return cleared && st.st_flags != 0;
    return fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 && cleared;
}

bool laz_os_can_execute_below(const char *folder)
{
    struct statfs fs;

    return statfs(folder, &fs) == 0 && !(fs.f_flags & MNT_NOEXEC);
}

void laz_posix_times(const struct stat *st, struct timespec *modified, struct timespec *changed)
{
    *modified = st->st_mtimespec;
    *changed = st->st_ctimespec;
}

const char *laz_os_getenv(const char *name)
{
    return issetugid() ? NULL : getenv(name);
}

/* ---- processes and threads ------------------------------------------------------------------ */

/* No process can give this up by itself: that set-id programs gain nothing is the sandbox's matter
 * (it refuses to execute them). */
int laz_os_no_new_privs(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ENOENT, 0, "macOS has nothing like no_new_privs");
}

/* Orphans go to launchd(8), always. */
bool laz_os_inherit_orphans(void)
{
    return true;
}

struct posix_watch {
    int queue, signal;
};

static void *posix_watch_parent(void *data)
{
    struct posix_watch watch = *(struct posix_watch *)data;
    struct kevent event;
    int n;

    free(data);
    do
        n = kevent(watch.queue, NULL, 0, &event, 1, NULL);
    while (n < 0 && errno == EINTR);
    if (n == 1)
        (void)kill(getpid(), watch.signal);
    (void)close(watch.queue);
    return NULL;
}

/* There is no parent-death signal: a thread waits for the parent's end (kqueue(2), NOTE_EXIT) and
 * sends it, until the process executes something else. Where that cannot be had, in a sandbox that
 * refuses it say, what follows the end of the host is the end of the channel, as ever. */
bool laz_os_die_with_parent(int64_t parent, int signal)
{
    struct posix_watch *watch = malloc(sizeof *watch);
    sigset_t all, before;
    struct kevent event;
    pthread_t thread;

    EV_SET(&event, (uintptr_t)parent, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    int queue = watch ? laz_posix_above(kqueue()) : -1;
    if (queue >= 0 && fcntl(queue, F_SETFD, FD_CLOEXEC) == 0 &&
        kevent(queue, &event, 1, NULL, 0, NULL) == 0) {
        *watch = (struct posix_watch){queue, signal};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(&thread, NULL, posix_watch_parent, watch) == 0) {
            (void)pthread_detach(thread);
            watch = NULL;
            queue = -1;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    laz_os_close(&queue);
    free(watch);
    return getppid() == parent;
}

/* Is it sent for nothing? Then the queue would tell of it all the same. */
/* There is no O_PATH; what may only be passed can be opened for that (O_SEARCH, open(2)). */
int laz_posix_enter(int parent, const char *name)
{
#ifdef O_SEARCH
    return laz_posix_above(openat(parent, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#else
    return laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#endif
}

/* Access lists stand beside the mode there, which shows nothing of them (chmod(1), ACL). */
bool laz_posix_has_acl(int parent, const char *name)
{
    (void)parent;
    (void)name;
    return false;
}

/* wheel, and admin, whose members may become root by sudo(8); Homebrew's folders are admin's. */
bool laz_posix_is_root_group(uint32_t gid)
{
    return gid == 0 || gid == 80;
}

static bool posix_is_ignored(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* EVFILT_SIGNAL tells of a signal that is sent from here on, blocked or not; of one that was sent
 * before, sigpending(2). sigwait(3) then takes it without waiting. */
int laz_posix_await_signal(const sigset_t *signals, uint64_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    struct kevent event;
    sigset_t pending;
    int got = 0, queue = laz_posix_above(kqueue());

    if (queue >= 0)
        (void)fcntl(queue, F_SETFD, FD_CLOEXEC);
    for (int i = 1; i < NSIG && queue >= 0; i++) {
        if (sigismember(signals, i) != 1 || posix_is_ignored(i))
            continue;
        EV_SET(&event, (uintptr_t)i, EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
        (void)kevent(queue, &event, 1, NULL, 0, NULL);
    }
    for (int i = 1; i < NSIG && !got && sigpending(&pending) == 0; i++)
        if (sigismember(signals, i) == 1 && sigismember(&pending, i) == 1)
            got = i;
    if (!got && queue >= 0 && kevent(queue, NULL, 0, &event, 1, &wait) == 1)
        got = (int)event.ident;
    laz_os_close(&queue);
    return got && sigwait(signals, &got) == 0 ? got : 0;
}

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    uint64_t now = laz_clock_us();
    uint64_t left = until_us > now ? until_us - now : 0;
    const struct timespec wait = {(time_t)(left / 1000000), (long)(left % 1000000) * 1000};

    return left && pthread_cond_timedwait_relative_np(condition, mutex, &wait) == 0;
}
