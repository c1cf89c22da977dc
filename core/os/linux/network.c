/* SPDX-License-Identifier: MIT */
/* network.c - makes sockets of the host in the network namespace of a box.  System: Linux.
 * Side: host.  Input trusted: yes (the ports); the process is only named, and nothing of it is
 * read but which namespace it has.
 *
 * Only a process with one thread can enter a user namespace, and no thread of the application
 * should leave its own.  So a child does it that shares memory and descriptors with the thread
 * that waits for it (CLONE_VM, CLONE_VFORK, CLONE_FILES): its sockets are the host's as soon as
 * they are made, and nothing is copied, however large the host is.  It makes system calls only.
 * No process of the box can do anything to it: it stays in the pid namespace of the host, and has
 * capabilities that they have not (ptrace(2), "Ptrace access mode checking").
 *
 * The user who made a user namespace has every capability over it and all below it
 * (user_namespaces(7)).  Root needs no other one to enter a network namespace.  In a container
 * root may have no capability outside of such namespaces: then the child becomes the user of the
 * session first.  It does not share memory then, because a change of user would make the host a
 * process that leaves no core (PR_SET_DUMPABLE). */
#include "os/network.h"

#include "os/descriptors.h"
#include "os/linux/ids.h"
#include "os/linux/proc.h"
#include "os/pidfd.h"
#include "os/posix/descriptors.h"
#include "os/spawner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer of a host takes clone(2) for a fork, whatever its flags, and would take the
 * host for the child. */
#ifdef __GLIBC__
extern int __clone(int (*run)(void *), void *stack, int flags, void *user, ...); // NOLINT
#define NETWORK_CLONE __clone
#else
#define NETWORK_CLONE clone
#endif

#define NETWORK_STACK    65536
#define NETWORK_LOOPBACK 1 /* its number in every namespace */
#define NETWORK_DNS      53
#define NETWORK_BACKLOG  128
#define NETWORK_SIX      40                          /* bytes of a header of IPv6 */
#define NETWORK_RULES    (40 + LAZ_OS_NETWORK_PORTS) /* of the filter, at most */

enum network_step {
    NETWORK_OPEN,
    NETWORK_OTHER,
    NETWORK_ENTER,
    NETWORK_UP,
    NETWORK_ROUTE,
    NETWORK_LISTEN,
    NETWORK_NAMES,
    NETWORK_WATCH,
};

static const char *const network_steps[] = {
    [NETWORK_OPEN] = "it cannot be opened",
    [NETWORK_OTHER] = "it is that of the host",
    [NETWORK_ENTER] = "it cannot be entered",
    [NETWORK_UP] = "its loopback interface cannot be started",
    [NETWORK_ROUTE] = "addresses cannot be led to its loopback interface",
    [NETWORK_LISTEN] = "a port cannot be listened on",
    [NETWORK_NAMES] = "DNS cannot be listened for",
    [NETWORK_WATCH] = "its packets cannot be watched",
};

struct network_filter {
    struct sock_filter rules[NETWORK_RULES];
    unsigned short n;
};

/* What the child needs and what becomes of it; in memory that both have. */
struct network_work {
    char path[48];     /* of the network namespace of a process */
    int pidfd;         /* of that process */
    uint64_t own;      /* network namespace of the host */
    uint32_t uid;      /* it becomes that first; LAZ_SPAWN_SAME_ID: stays what it is */
    bool needs_rights; /* those of the owner of the namespace */
    int user, space;   /* namespaces, opened; -1: not */
    char bounds[40];   /* of the buffers of a socket: least, at first, most */
    struct network_filter filters[LAZ_OS_WATCHES];
    struct laz_os_network network;
    enum network_step step;
    int os_errno; /* 0: all was done; written last */
    _Alignas(16) char stack[NETWORK_STACK];
};

/* ---- what is heard of packets --------------------------------------------------------------- */

/* Raw sockets (raw(7)), each with a filter, get what arrives for their protocol, whoever it is for.
 * A packet socket would need one descriptor in place of four; but to close one takes the kernel
 * milliseconds, in which the host could do nothing else (packet_release, synchronize_net). */
static const struct {
    int family, protocol;
} network_watches[LAZ_OS_WATCHES] = {
    {AF_INET, IPPROTO_TCP},
    {AF_INET, IPPROTO_UDP},
    {AF_INET6, IPPROTO_TCP},
    {AF_INET6, IPPROTO_UDP},
};

/* A jump to the end is written as NETWORK_DROP, and set when that is known. */
#define NETWORK_DROP 0xff

static void network_rule(struct network_filter *filter, unsigned code, unsigned yes, unsigned no,
                         uint32_t value)
{
    filter->rules[filter->n++] = (struct sock_filter){
        .code = (uint16_t)code, .jt = (uint8_t)yes, .jf = (uint8_t)no, .k = value};
}

#define LOAD(size, mode, at)   network_rule(filter, BPF_LD | (size) | (mode), 0, 0, (uint32_t)(at))
#define TEST(kind, k, yes, no) network_rule(filter, BPF_JMP | (kind) | BPF_K, yes, no, k)

/* X is where the header of TCP or UDP begins. Fragments but the first have none. */
static void network_find_header(struct network_filter *filter, int family)
{
    if (family == AF_INET6) { /* the filter sees no header of IPv6 */
        network_rule(filter, BPF_LDX | BPF_W | BPF_IMM, 0, 0, 0);
        return;
    }
    LOAD(BPF_H, BPF_ABS, 6);
    TEST(BPF_JSET, 0x1fff, NETWORK_DROP, 0);
    network_rule(filter, BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0);
}

/* A SYN without ACK, to a port without a listener: these take no IPv6. */
static void network_keep_tcp(struct network_filter *filter, const uint16_t *ports, size_t n)
{
    LOAD(BPF_B, BPF_IND, 13);
    network_rule(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x12);
    TEST(BPF_JEQ, 0x02, 0, NETWORK_DROP);
    LOAD(BPF_H, BPF_IND, 2);
    for (size_t i = 0; i < n; i++)
        TEST(BPF_JEQ, ports[i], NETWORK_DROP, 0);
}

/* Not the questions and answers of DNS. */
static void network_drop_dns(struct network_filter *filter)
{
    LOAD(BPF_W, BPF_ABS, 16);
    TEST(BPF_JEQ, INADDR_LOOPBACK, 0, 2);
    LOAD(BPF_H, BPF_IND, 2);
    TEST(BPF_JEQ, NETWORK_DNS, NETWORK_DROP, 0);
    LOAD(BPF_W, BPF_ABS, 12);
    TEST(BPF_JEQ, INADDR_LOOPBACK, 0, 2);
    LOAD(BPF_H, BPF_IND, 0);
    TEST(BPF_JEQ, NETWORK_DNS, NETWORK_DROP, 0);
}

static void network_make_filter(struct network_filter *filter, size_t watch, const uint16_t *ports,
                                size_t n)
{
    const int family = network_watches[watch].family;

    network_find_header(filter, family);
    if (family == AF_INET)
        network_drop_dns(filter);
    if (network_watches[watch].protocol == IPPROTO_TCP)
        network_keep_tcp(filter, ports, family == AF_INET ? n : 0);
    network_rule(filter, BPF_RET | BPF_K, 0, 0, LAZ_OS_WATCH_BYTES);
    for (unsigned i = 0; i < filter->n; i++) {
        struct sock_filter *rule = &filter->rules[i];
        const unsigned drop = filter->n - i - 1u;
        if (BPF_CLASS(rule->code) != BPF_JMP)
            continue;
        rule->jt = rule->jt == NETWORK_DROP ? (uint8_t)drop : rule->jt;
        rule->jf = rule->jf == NETWORK_DROP ? (uint8_t)drop : rule->jf;
    }
    network_rule(filter, BPF_RET | BPF_K, 0, 0, 0);
}

/* The address that a packet was for comes beside it. */
static ssize_t network_hear_six(int fd, int protocol, uint8_t head[LAZ_OS_WATCH_BYTES])
{
    struct iovec into = {head + NETWORK_SIX, LAZ_OS_WATCH_BYTES - NETWORK_SIX};
    union {
        struct cmsghdr first;
        char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } beside;
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside};
    const ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
    const struct cmsghdr *of = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

    if (n < 0 || !of || of->cmsg_level != IPPROTO_IPV6 || of->cmsg_type != IPV6_PKTINFO)
        return -1;
    memset(head, 0, NETWORK_SIX);
    head[0] = 6 << 4;
    head[6] = (uint8_t)protocol;
    memcpy(head + 24, CMSG_DATA(of), 16); /* struct in6_pktinfo begins with it */
    return NETWORK_SIX + n;
}

ssize_t laz_os_network_hear(const struct laz_os_network *network, uint8_t head[LAZ_OS_WATCH_BYTES])
{
    ssize_t n = -1;

    for (size_t i = 0; i < LAZ_OS_WATCHES && n <= 0; i++)
        if (network->watches[i] >= 0)
            n = network_watches[i].family == AF_INET
                    ? recv(network->watches[i], head, LAZ_OS_WATCH_BYTES, MSG_DONTWAIT)
                    : network_hear_six(network->watches[i], network_watches[i].protocol, head);
    return n;
}

/* ---- in the child --------------------------------------------------------------------------- */

/* That the process has not ended by now says that it was no other one of the same number. */
static bool network_open(struct network_work *work)
{
    struct stat st;

    work->step = NETWORK_OPEN;
    if (work->uid != LAZ_SPAWN_SAME_ID &&
        syscall(LINUX_SETRESUID, work->uid, work->uid, work->uid) != 0)
        return false;
    work->space = laz_posix_above(open(work->path, O_RDONLY | O_CLOEXEC));
    if (work->space < 0 || fstat(work->space, &st) != 0)
        return false;
    errno = ESRCH;
    if (laz_os_pidfd_has_ended(work->pidfd))
        return false;
    work->step = NETWORK_OTHER;
    errno = ENOENT; /* it has no other one */
    return st.st_ino != work->own;
}

static bool network_enter(struct network_work *work)
{
    work->step = NETWORK_ENTER;
    if (work->needs_rights) {
        work->user = laz_posix_above(ioctl(work->space, NS_GET_USERNS));
        if (work->user < 0 || setns(work->user, CLONE_NEWUSER) != 0)
            return false;
    }
    return setns(work->space, CLONE_NEWNET) == 0;
}

/* Asks the kernel, and reads its answer; false with errno. */
static bool network_ask(int netlink, const void *request, size_t len)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr answer;
        char rest[256]; /* what was asked */
    } told;

    if (send(netlink, request, len, 0) != (ssize_t)len)
        return false;
    ssize_t n = recv(netlink, &told, sizeof told, 0);
    if (n < (ssize_t)(sizeof told.head + sizeof told.answer) || told.head.nlmsg_type != NLMSG_ERROR)
        errno = EPROTO;
    else
        errno = -told.answer.error;
    return errno == 0;
}

static bool network_up(int netlink)
{
    const struct {
        struct nlmsghdr head;
        struct ifinfomsg link;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = RTM_NEWLINK,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .link = {.ifi_index = NETWORK_LOOPBACK, .ifi_flags = IFF_UP, .ifi_change = IFF_UP},
    };

    return network_ask(netlink, &request, sizeof request);
}

/* Every address of the family is one of this namespace. */
static bool network_route(int netlink, unsigned family)
{
    const struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr attribute;
        int device;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = RTM_NEWROUTE,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE},
        .route = {.rtm_family = (unsigned char)family,
                  .rtm_table = RT_TABLE_LOCAL,
                  .rtm_protocol = RTPROT_BOOT,
                  .rtm_scope = RT_SCOPE_HOST,
                  .rtm_type = RTN_LOCAL},
        .attribute = {.rta_len = RTA_LENGTH(sizeof(int)), .rta_type = RTA_OIF},
        .device = NETWORK_LOOPBACK,
    };

    return network_ask(netlink, &request, sizeof request);
}

/* Without IPv6 its addresses cannot be reached anyway, and nobody learns which were tried. */
static bool network_lead(struct network_work *work)
{
    int netlink = laz_posix_above(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));

    work->step = NETWORK_UP;
    bool done = netlink >= 0 && network_up(netlink);
    if (done) {
        work->step = NETWORK_ROUTE;
        done = network_route(netlink, AF_INET);
        (void)network_route(netlink, AF_INET6);
    }
    const int os_errno = errno;
    laz_os_close(&netlink);
    errno = os_errno;
    return done;
}

/* A socket that is bound to an address; with TCP it listens. -1 with errno. */
static int network_socket(int type, uint32_t address, uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
    int fd = laz_posix_above(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
                    (type == SOCK_STREAM && listen(fd, NETWORK_BACKLOG) != 0))) {
        const int os_errno = errno;
        laz_os_close(&fd);
        errno = os_errno;
    }
    return fd;
}

static bool network_listen(struct network_work *work)
{
    struct laz_os_network *network = &work->network;

    work->step = NETWORK_LISTEN;
    for (size_t i = 0; i < network->n_ports; i++)
        if ((network->listeners[i] = network_socket(SOCK_STREAM, INADDR_ANY, network->ports[i])) <
            0)
            return false;
    work->step = NETWORK_NAMES;
    network->dns_udp = network_socket(SOCK_DGRAM, INADDR_LOOPBACK, NETWORK_DNS);
    if (network->dns_udp >= 0)
        network->dns_tcp = network_socket(SOCK_STREAM, INADDR_LOOPBACK, NETWORK_DNS);
    return network->dns_tcp >= 0;
}

/* What comes before the filter is there is not heard: nothing runs in the namespace that sends. */
static int network_raw(int family, int protocol, const struct network_filter *filter)
{
    static const int on = 1;
    const struct sock_fprog program = {filter->n, (struct sock_filter *)(uintptr_t)filter->rules};
    int fd = laz_posix_above(socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));

    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0 ||
                    (family == AF_INET6 &&
                     setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) != 0))) {
        const int os_errno = errno;
        laz_os_close(&fd);
        errno = os_errno;
    }
    return fd;
}

static bool network_watch(struct network_work *work)
{
    work->step = NETWORK_WATCH;
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++) {
        const int family = network_watches[i].family;
        const int fd = network_raw(family, network_watches[i].protocol, &work->filters[i]);
        work->network.watches[i] = fd;
        if (fd < 0 && (family == AF_INET || errno != EAFNOSUPPORT)) /* a kernel without IPv6 */
            return false;
    }
    return true;
}

/* The kernel bounds buffers of TCP for each namespace, and those of other sockets by what they have
 * at first, because nothing in a box can ask for more. */
static bool network_bound(const struct network_work *work)
{
    static const int buffers[] = {SO_RCVBUF, SO_SNDBUF};
    bool is_bounded = proc_write("/proc/sys/net/ipv4/tcp_rmem", work->bounds) == 0 &&
                      proc_write("/proc/sys/net/ipv4/tcp_wmem", work->bounds) == 0;

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        int bytes = 0;
        socklen_t len = sizeof bytes;
        is_bounded = is_bounded &&
                     getsockopt(work->network.dns_udp, SOL_SOCKET, buffers[i], &bytes, &len) == 0 &&
                     (unsigned)bytes <= LAZ_OS_SOCKET_BYTES;
    }
    return is_bounded;
}

static int network_child(void *user)
{
    struct network_work *work = user;

    if (network_open(work) && network_enter(work) && network_lead(work) && network_listen(work) &&
        network_watch(work)) {
        work->network.is_bounded = network_bound(work);
        work->os_errno = 0;
    } else {
        work->os_errno = errno ? errno : EPROTO;
    }
    return 0;
}

/* ---- in the host ---------------------------------------------------------------------------- */

void laz_os_network_close(struct laz_os_network *network)
{
    laz_os_close(&network->dns_udp);
    laz_os_close(&network->dns_tcp);
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++)
        laz_os_close(&network->watches[i]);
    for (size_t i = 0; i < network->n_ports; i++)
        laz_os_close(&network->listeners[i]);
    network->n_ports = 0;
}

static int network_check(const uint16_t *ports, size_t n, struct laz_error *err)
{
    if (n > LAZ_OS_NETWORK_PORTS)
        return laz_error_set(err, LAZ_EINVAL, 0, "a network has at most %d ports, not %zu",
                             LAZ_OS_NETWORK_PORTS, n);
    for (size_t i = 0; i < n; i++) {
        if (!ports[i] || ports[i] == NETWORK_DNS)
            return laz_error_set(err, LAZ_EINVAL, 0, "a network cannot have the port %u",
                                 (unsigned)ports[i]);
        for (size_t k = 0; k < i; k++)
            if (ports[k] == ports[i])
                return laz_error_set(err, LAZ_EINVAL, 0, "a network has the port %u twice",
                                     (unsigned)ports[i]);
    }
    return 0;
}

/* Has the child made and waits for its end; an errno. */
static int network_run(struct network_work *work)
{
    const bool is_shared = work->uid == LAZ_SPAWN_SAME_ID;
    sigset_t all, before;
    int cancel;

    work->step = NETWORK_OPEN;
    work->user = work->space = -1;
    work->os_errno = ECHILD; /* it was killed */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pid_t pid = NETWORK_CLONE(network_child, work->stack + sizeof work->stack,
                              CLONE_FILES | CLONE_VFORK | (is_shared ? CLONE_VM : 0), work);
    if (pid < 0)
        work->os_errno = errno;
    while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    laz_os_close(&work->user);
    laz_os_close(&work->space);
    return work->os_errno;
}

/* Root enters as what it is, if it can. */
static int network_try(struct network_work *work, uint32_t uid)
{
    const bool is_root = geteuid() == 0;

    work->uid = LAZ_SPAWN_SAME_ID;
    work->needs_rights = !is_root;
    int os_errno = network_run(work);
    if (!is_root || uid == LAZ_SPAWN_SAME_ID || work->step > NETWORK_ENTER ||
        (os_errno != EPERM && os_errno != EACCES))
        return os_errno;
    work->uid = uid;
    work->needs_rights = true;
    return network_run(work);
}

static int network_failed(const struct network_work *work, int os_errno, struct laz_error *err)
{
    const char *step = network_steps[work->step];

    if (laz_errno_is_shortage(os_errno))
        return laz_error_start(err, os_errno, "the network namespace of the box: %s", step);
    if (work->step == NETWORK_OTHER)
        return laz_error_set(err, LAZ_EREFUSED, 0, "the network namespace of the box: %s", step);
    return laz_error_set(err, LAZ_EREFUSED, os_errno, "the network namespace of the box: %s: %s",
                         step, laz_errno_text(os_errno));
}

int laz_os_network_listen(const struct laz_os_network_of *of, const uint16_t *ports, size_t n,
                          struct laz_os_network *network, struct laz_error *err)
{
    int rc = network_check(ports, n, err);

    *network = LAZ_OS_NETWORK_NONE;
    if (rc)
        return rc;
    struct network_work *work =
        mmap(NULL, sizeof *work, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (work == MAP_FAILED)
        return laz_error_nomem(err);
    work->network = LAZ_OS_NETWORK_NONE;
    for (size_t i = 0; i < n; i++) {
        work->network.ports[i] = ports[i];
        work->network.listeners[i] = -1;
    }
    work->network.n_ports = n;
    work->pidfd = of->pidfd;
    work->own = proc_namespace((int64_t)getpid(), "net");
    snprintf(work->path, sizeof work->path, "/proc/%lld/ns/net", (long long)of->pid);
    snprintf(work->bounds, sizeof work->bounds, "4096 %u %u", LAZ_OS_SOCKET_BYTES / 2,
             LAZ_OS_SOCKET_BYTES);
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++)
        network_make_filter(&work->filters[i], i, ports, n);
    const int os_errno = network_try(work, of->uid);
    if (os_errno)
        rc = network_failed(work, os_errno, err);
    if (rc)
        laz_os_network_close(&work->network);
    else
        *network = work->network;
    (void)munmap(work, sizeof *work);
    return rc;
}
