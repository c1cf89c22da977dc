/* SPDX-License-Identifier: MIT */
/* fd_passing.c - descriptors sent through a socket, and who sent what.  System: Linux.
 * Side: host.  Input trusted: no (the sender may be anybody).
 *
 * A connection that was made beforehand tells nothing of its far end: SO_PEERCRED names the process
 * that made the pair.  What a message carries is noted by the kernel when it is sent, and pids are
 * translated into the namespace of whoever reads.  A pid may have become somebody else's by then:
 * what is asked about it counts only if the process behind the descriptor lives afterwards, and
 * somebody else would have to be the first process of a namespace in the same place. */
#include "os/fd_passing.h"

#include "os/io.h"
#include "os/os.h"
#include "os/posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* linux/nsfs.h: since Linux 4.9, and 6.11. */
#define PASS_NS_PARENT _IO(0xb7, 0x2)
#define PASS_NS_TGID   _IOR(0xb7, 0x7, int)

int laz_os_channel(int *host, int *other, struct laz_error *err)
{
    int ends[2], on = 1;

    if (laz_posix_above_both(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ends) != 0)
        return laz_error_os(err, errno, "no pair of sockets could be made");
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        int rc = laz_error_os(err, errno, "a socket cannot be set up");
        (void)close(ends[0]);
        (void)close(ends[1]);
        return rc;
    }
    *host = ends[0];
    *other = ends[1];
    return 0;
}

int laz_os_message_pair(int ends[2])
{
    return laz_posix_above_both(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), ends);
}

void laz_os_forget_senders(int fd)
{
    int off = 0;

    (void)setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
}

/* What came with a message: the sender is noted, descriptors are nobody's. */
static void pass_control(struct msghdr *message, struct laz_sender *sender)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            sender->pid = who.pid;
            sender->uid = who.uid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < n; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                (void)close(fd);
            }
        }
    }
}

ssize_t laz_os_read_sender(int fd, void *data, size_t len, struct laz_sender *sender)
{
    /* room for credentials alone: the kernel drops descriptors that find none (unix(7)) */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {data, len};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t n;

    *sender = (struct laz_sender){.uid = UINT32_MAX};
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    pass_control(&message, sender);
    if (n == 0)
        errno = 0;
    return n == 0 ? -1 : n;
}

int laz_os_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(LAZ_PASS_MOST * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)data, len};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(n * sizeof(int)),
    };
    ssize_t sent;

    if (n == 0 || n > LAZ_PASS_MOST)
        return EINVAL;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno;
    return (size_t)sent == len ? 0 : EMSGSIZE; /* a few hundred bytes: the kernel takes all */
}

/* ---- a namespace and its first process ------------------------------------------------------ */

/* The number that the process has in its own, innermost namespace: the last of "NSpid:". */
static long pass_own_number(int64_t pid)
{
    char path[64], line[256];
    long number = -1;

    snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    FILE *file = laz_posix_fopen(path);
    while (file && fgets(line, sizeof line, file)) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last)
            number = strtol(last, NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return number;
}

/* NULL, or what is wrong with it. */
static const char *pass_check_namespace(int64_t pid, uint64_t above)
{
    struct stat parent_is;
    char path[64];
    bool inside = false, first = false;

    snprintf(path, sizeof path, "/proc/%lld/ns/pid", (long long)pid);
    int own = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
    if (own < 0)
        return "whose pid namespace cannot be told";
    int parent = laz_posix_above(ioctl(own, PASS_NS_PARENT));
    if (parent >= 0) {
        inside = fstat(parent, &parent_is) == 0 && (uint64_t)parent_is.st_ino == above;
        (void)close(parent);
    }
    if (inside) {
        int init = ioctl(own, PASS_NS_TGID, 1);
        bool told = init >= 0 || (errno != ENOTTY && errno != EINVAL);
        first = told ? init == pid : pass_own_number(pid) == 1;
    }
    (void)close(own);
    return !inside  ? "that is not in a pid namespace of its own below the template's"
           : !first ? "that is not the first of its pid namespace"
                    : NULL;
}

int laz_os_adopt(int64_t pid, uint64_t above, int *pidfd, struct laz_error *err)
{
    int fd = laz_os_pidfd(pid);

    if (fd < 0)
        return laz_error_set(err, LAZ_EPROTO, 0, "the process that sent the token has ended");
    const char *wrong =
        above ? pass_check_namespace(pid, above) : "but the template's pid namespace was not told";
    if (!wrong && laz_os_pidfd_has_ended(fd))
        wrong = "that has ended";
    if (wrong) {
        laz_os_close(&fd);
        return laz_error_set(err, LAZ_EPROTO, 0, "the token came from a process %s", wrong);
    }
    *pidfd = fd;
    return 0;
}
