/* SPDX-License-Identifier: MIT */
/* filter_rules.c - what the filter of system calls lets through, as data.
 *
 * An allowlist of what interpreters, their packages and ordinary child processes use.  What is not
 * listed fails with EPERM.  This covers, without a line of its own, mounting, namespaces, modules,
 * tracing (ptrace, process_vm_readv, pidfd_getfd, kcmp), bpf, perf_event_open, userfaultfd,
 * io_uring, keys, clocks, System V and POSIX queues, handles of files, quotas, swapping, rebooting,
 * new filters, other uids, and sockets: the agent has its connection, and code needs none without a
 * network.  It also covers inotify: the kernel counts its instances by user in all namespaces
 * together (128 by default), and Landlock would let it watch any file. Programs fall back to
 * looking (tail -f). The numbers are those of asm-generic, as all supported architectures have
 * them.
 *
 * The filter "same-user" is for sessions that share their uid with files and processes of the host:
 * Landlock governs neither metadata nor scheduling, so none of them may be changed.
 *
 * The filter "network" is "session" with sockets of TCP and UDP, for a box with a network namespace
 * of its own, in which the host has the other end of all that leads out (core/os/network.h).  There
 * connect(2) and sendto(2) reach nothing else, whatever address they have in memory, where a filter
 * cannot look.  Nor do the ways to connect without connect(2), MSG_FASTOPEN of sendto and sendmsg.
 * Sockets of other families are not made: AF_UNIX would reach sockets in the files that the box
 * shows, and the rest is parts of the kernel that code does not need.  bind(2), connect(2) and
 * listen(2) of an end of a socketpair are harmless: it is connected for good, and stays so when the
 * other end is closed.
 *
 * A session of a template has its filter in two parts: the template has put the long one on itself,
 * which lets through what making a session needs, and the session adds a short one that refuses
 * just that.  The kernel takes the stricter of the two answers. */
#include "os/linux/filter_rules.h"

#include <errno.h>
#include <stddef.h>

/* Of setxattr the name: an access control list of a file is up to 64 KiB of the kernel's memory
 * that neither a file system in memory nor a control group counts (acl(5)). */
const char filter_setup_unknown[] = "clone3";
const char filter_unknown[] = "openat2 setxattr lsetxattr fsetxattr";

const struct filter_group filter_groups[] = {
    {FILTER_GATE, "gate", "what lazaret-gate does once it is confined: it opens and starts nothing",
     "brk mmap munmap mremap mprotect madvise read readv write writev close recvfrom recvmsg sendto "
     "sendmsg shutdown accept4 getsockname getpeername getsockopt poll ppoll epoll_ctl epoll_wait "
     "epoll_pwait epoll_pwait2 timerfd_settime futex rt_sigaction rt_sigprocmask rt_sigreturn "
     "restart_syscall exit exit_group getpid gettid getuid geteuid getrusage getrandom clock_gettime "
     "gettimeofday time sched_yield rseq"},
    {FILTER_ALL, "memory", "allocators, stacks of threads, just-in-time code",
     "brk mmap munmap mremap mprotect madvise mincore msync mlock mlock2 mlockall munlock "
     "munlockall pkey_alloc pkey_free pkey_mprotect membarrier"},
    {FILTER_ALL, "descriptors", "reading and writing what is open",
     "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close "
     "dup dup2 dup3 flock fsync fdatasync sync_file_range ftruncate fallocate "
     "fadvise64 readahead sendfile copy_file_range splice tee pipe pipe2"},
    {FILTER_ALL, "files", "names of files; which of them exist is the box's matter",
     "stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents "
     "getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 "
     "link linkat symlink symlinkat readlink readlinkat truncate umask getxattr lgetxattr "
     "fgetxattr listxattr llistxattr flistxattr"},
    {FILTER_OWN, "metadata", "cp -p, tar, touch: times, owners",
     "utime utimes futimesat utimensat chown fchown lchown fchownat removexattr lremovexattr "
     "fremovexattr"},
    {FILTER_ALL, "processes", "children and threads",
     "fork vfork execve exit exit_group wait4 waitid getpid getppid gettid getpgid getpgrp setpgid "
     "getsid setsid set_tid_address set_robust_list get_robust_list rseq arch_prctl "
     "riscv_flush_icache futex futex_waitv pidfd_open pidfd_send_signal getrusage times"},
    {FILTER_ALL, "signals", "handlers, and signals among the session's own processes",
     "rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait "
     "rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack signalfd signalfd4 kill tkill tgkill pause "
     "restart_syscall"},
    {FILTER_ALL, "scheduling", "how many processors there are, and being nice",
     "sched_yield sched_getaffinity sched_getattr sched_getparam sched_getscheduler "
     "sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority ioprio_get "
     "getcpu"},
    {FILTER_OWN, "others", "what changes any process of the same uid",
     "sched_setaffinity setpriority"},
    {FILTER_ALL, "identity", "who and where the process is",
     "getuid geteuid getgid getegid getresuid getresgid getgroups capget uname sysinfo getrlimit"},
    {FILTER_ALL, "time", "reading clocks, sleeping, timers",
     "time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer "
     "setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete "
     "timerfd_create timerfd_settime timerfd_gettime"},
    {FILTER_ALL, "waiting", "event loops",
     "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
     "epoll_pwait2 eventfd eventfd2"},
    {FILTER_ALL, "random", "seeds", "getrandom"},
    {FILTER_ALL, "pairs", "the two ends of a socketpair, and the agent's channel",
     "recvfrom recvmsg recvmmsg sendmsg sendmmsg shutdown getsockname getpeername"},
    {FILTER_CLOSED, "options", "of pairs; of other sockets by name, below", "getsockopt"},
    {FILTER_NETWORK, "network", "clients and servers of TCP and UDP; which sockets, below",
     "connect bind listen accept accept4 sendto"},
    {0, NULL, NULL, NULL},
};

#define INT        UINT64_C(0xffffffff)
#define ALL        UINT64_MAX
#define SET_ID     UINT64_C(06000)     /* S_ISUID, S_ISGID */
#define CREATES    UINT64_C(020000100) /* __O_TMPFILE, O_CREAT: only these have a mode */
#define NAMESPACES UINT64_C(0x7e020000)
#define THREAD     UINT64_C(0x10000)           /* CLONE_THREAD */
#define FILES      UINT64_C(0x400)             /* CLONE_FILES */
#define UNSHARE    UINT64_C(2)                 /* CLOSE_RANGE_UNSHARE */
#define NONBLOCK   UINT64_C(04000)             /* O_NONBLOCK */
#define TYPE       (INT & ~UINT64_C(02004000)) /* all but SOCK_CLOEXEC, SOCK_NONBLOCK */
#define BELOW_64   (INT & ~UINT64_C(63))
#define BELOW_32   (INT & ~UINT64_C(31))
/* clang-format off */
#define IOCTL(number)   {FILTER_ALL, "ioctl", {{1, INT, number}}}
#define QUERY(number)   {FILTER_NETWORK, "ioctl", {{1, INT, number}}}
#define PRCTL(option)   {FILTER_ALL, "prctl", {{0, INT, option}}}
#define OPTION(name)    {FILTER_ALL, "setsockopt", {{1, INT, 1}, {2, INT, name}}}
#define SETS(level, name)         {FILTER_NETWORK, "setsockopt", {{1, INT, level}, {2, INT, name}}}
#define READS(level, mask, name)  {FILTER_NETWORK, "getsockopt", {{1, INT, level}, {2, mask, name}}}
#define SOCKET(type, protocol) \
    {FILTER_NETWORK, "socket", {{0, INT, 2}, {1, TYPE, type}, {2, INT, protocol}}}, \
    {FILTER_NETWORK, "socket", {{0, INT, 10}, {1, TYPE, type}, {2, INT, protocol}}}
#define FCNTL(command)  {FILTER_ALL, "fcntl", {{1, INT, command}}}
#define LIMIT(resource) {FILTER_ALL, "setrlimit", {{0, INT, resource}}}, \
                        {FILTER_ALL, "prlimit64", {{0, INT, 0}, {1, INT, resource}}}
/* clang-format on */

const struct filter_rule filter_rules[] = {
    /* A set-id file in a directory of the host would give its owner's rights to any user who runs
     * it. */
    {FILTER_ALL, "open", {{1, CREATES, 0}}},
    {FILTER_ALL, "open", {{2, SET_ID, 0}}},
    {FILTER_ALL, "openat", {{2, CREATES, 0}}},
    {FILTER_ALL, "openat", {{3, SET_ID, 0}}},
    {FILTER_ALL, "creat", {{1, SET_ID, 0}}},
    {FILTER_OWN, "chmod", {{1, SET_ID, 0}}},
    {FILTER_OWN, "fchmod", {{1, SET_ID, 0}}},
    {FILTER_OWN, "fchmodat", {{2, SET_ID, 0}}},
    /* Pipes with a name and plain files, no devices. */
    {FILTER_ALL, "mknod", {{1, 0170000 | SET_ID, 0010000}}},
    {FILTER_ALL, "mknod", {{1, 0170000 | SET_ID, 0100000}}},
    {FILTER_ALL, "mknodat", {{2, 0170000 | SET_ID, 0010000}}},
    {FILTER_ALL, "mknodat", {{2, 0170000 | SET_ID, 0100000}}},
    /* Threads and children, no namespaces. (CLONE_NEWTIME is only taken by clone3 and unshare.) A
     * thread has the descriptors of its process: only of a process they are seen in /proc. */
    {FILTER_ALL, "clone", {{0, NAMESPACES | THREAD, 0}}},
    {FILTER_ALL, "clone", {{0, NAMESPACES | THREAD | FILES, THREAD | FILES}}},
    {FILTER_ALL, "close_range", {{2, UNSHARE, 0}}},
    /* A file without a name (AT_EMPTY_PATH) may be outside the directories where programs may be
     * executed. */
    {FILTER_ALL, "execveat", {{4, 0x1000, 0}}},
    /* Queries, and setting a value that is set already. */
    {FILTER_ALL, "personality", {{0, INT, 0xffffffff}}},
    {FILTER_ALL, "personality", {{0, INT, 0}}},
    /* An effective id alone, which the kernel lets be one that the process has: programs that start
     * others ask for it (make, by POSIX_SPAWN_RESETIDS). */
    {FILTER_ALL, "setresuid", {{0, INT, 0xffffffff}, {2, INT, 0xffffffff}}},
    {FILTER_ALL, "setresgid", {{0, INT, 0xffffffff}, {2, INT, 0xffffffff}}},
    /* When other processes have the same uid: the calling thread only. */
    {FILTER_SAME_USER, "setpriority", {{0, INT, 0}, {1, INT, 0}}},
    {FILTER_SAME_USER, "sched_setaffinity", {{0, INT, 0}}},
    /* AF_UNIX and connected for good: SOCK_STREAM and SOCK_SEQPACKET. A pair of SOCK_DGRAM could
     * send to any other address. */
    {FILTER_ALL | FILTER_GATE, "socketpair", {{0, INT, 1}, {1, 0xf, 1}}},
    {FILTER_GATE, "fcntl", {{1, INT, 1}}}, /* F_GETFD, F_SETFD, F_GETFL, F_SETFL */
    {FILTER_GATE, "fcntl", {{1, INT, 2}}},
    {FILTER_GATE, "fcntl", {{1, INT, 3}}},
    /* Not to let it block again: the server has connections that share their flags with ones here,
     * and its loop would wait in them. */
    {FILTER_GATE, "fcntl", {{1, INT, 4}, {2, NONBLOCK, NONBLOCK}}},
    {FILTER_ALL, "socketpair", {{0, INT, 1}, {1, 0xf, 5}}},
    {FILTER_CLOSED, "sendto", {{4, ALL, 0}}},
    /* Not SO_SNDBUF and SO_RCVBUF, nor F_SETPIPE_SZ below: without a control group a socket or a
     * pipe counts as the most that it can hold, which has to be known. */
    OPTION(2),  /* SO_REUSEADDR */
    OPTION(13), /* SO_LINGER */
    OPTION(16), /* SO_PASSCRED */
    OPTION(20), /* SO_RCVTIMEO */
    OPTION(21), /* SO_SNDTIMEO */
    /* TCP and UDP, over IPv4 (2) and IPv6 (10). No other protocol: MPTCP (262) and SCTP (132) have
     * connections that the host does not see, ICMP (1) needs none. */
    SOCKET(1, 0),
    SOCKET(1, 6),
    SOCKET(2, 0),
    SOCKET(2, 17),
    /* By name: what programs set, and nothing that runs code of the caller in the kernel
     * (SO_ATTACH_FILTER and others, TCP_ULP, TCP_CONGESTION), holds more memory, or joins groups.
     * Of options that filter_answers has, nothing is set. */
    SETS(1, 6),   /* SO_BROADCAST */
    SETS(1, 9),   /* SO_KEEPALIVE */
    SETS(1, 10),  /* SO_OOBINLINE */
    SETS(1, 15),  /* SO_REUSEPORT */
    SETS(1, 66),  /* SO_RCVTIMEO_NEW */
    SETS(1, 67),  /* SO_SNDTIMEO_NEW */
    SETS(6, 1),   /* TCP_NODELAY */
    SETS(6, 3),   /* TCP_CORK */
    SETS(6, 4),   /* TCP_KEEPIDLE */
    SETS(6, 5),   /* TCP_KEEPINTVL */
    SETS(6, 6),   /* TCP_KEEPCNT */
    SETS(6, 9),   /* TCP_DEFER_ACCEPT */
    SETS(6, 12),  /* TCP_QUICKACK */
    SETS(6, 18),  /* TCP_USER_TIMEOUT */
    SETS(6, 25),  /* TCP_NOTSENT_LOWAT */
    SETS(0, 1),   /* IP_TOS */
    SETS(0, 2),   /* IP_TTL */
    SETS(0, 8),   /* IP_PKTINFO */
    SETS(0, 10),  /* IP_MTU_DISCOVER */
    SETS(0, 11),  /* IP_RECVERR */
    SETS(0, 12),  /* IP_RECVTTL */
    SETS(0, 24),  /* IP_BIND_ADDRESS_NO_PORT */
    SETS(0, 49),  /* IP_MULTICAST_ALL: Java, for each socket of UDP */
    SETS(41, 16), /* IPV6_UNICAST_HOPS */
    SETS(41, 18), /* IPV6_MULTICAST_HOPS: the same */
    SETS(41, 23), /* IPV6_MTU_DISCOVER */
    SETS(41, 25), /* IPV6_RECVERR */
    SETS(41, 26), /* IPV6_V6ONLY */
    SETS(41, 29), /* IPV6_MULTICAST_ALL */
    SETS(41, 49), /* IPV6_RECVPKTINFO */
    SETS(41, 67), /* IPV6_TCLASS */
    /* Reading them, but for the tables of packet filters (from 64) and TCP_ZEROCOPY_RECEIVE (35),
     * which maps memory. */
    READS(1, 0, 0),
    READS(0, BELOW_64, 0),
    READS(6, BELOW_32, 0),
    READS(41, BELOW_64, 0),
    READS(41, INT, 66), /* IPV6_RECVTCLASS */
    READS(41, INT, 67), /* IPV6_TCLASS */
    /* Reading any limit, lowering one's own. Not RLIMIT_CORE (4): its value 1 keeps a crash from
     * the host's handler of core dumps, which 0 does not. */
    {FILTER_ALL, "prlimit64", {{2, ALL, 0}}},
    /* clang-format off */
    LIMIT(0), LIMIT(1), LIMIT(2), LIMIT(3), LIMIT(5), LIMIT(6), LIMIT(7), LIMIT(8),
    LIMIT(9), LIMIT(10), LIMIT(11), LIMIT(12), LIMIT(13), LIMIT(14), LIMIT(15),
    /* clang-format on */
    /* Not F_SETLEASE: a process of the same user that opens the file, outside as well, would wait
     * for its holder (45 s, fcntl(2)). Not F_NOTIFY, a watch, nor F_SETOWN and F_SETSIG, signals to
     * others. Not F_OFD_SETLK: a lock whose description waits in a message is shown nowhere, and
     * nothing but the host bounds their number (process_tree.c). */
    FCNTL(0),          /* F_DUPFD */
    FCNTL(1),          /* F_GETFD */
    FCNTL(2),          /* F_SETFD */
    FCNTL(3),          /* F_GETFL */
    FCNTL(4),          /* F_SETFL */
    FCNTL(5),          /* F_GETLK */
    FCNTL(6),          /* F_SETLK */
    FCNTL(7),          /* F_SETLKW */
    FCNTL(9),          /* F_GETOWN */
    FCNTL(1025),       /* F_GETLEASE */
    FCNTL(1027),       /* F_DUPFD_QUERY */
    FCNTL(1028),       /* F_CREATED_QUERY */
    FCNTL(1030),       /* F_DUPFD_CLOEXEC */
    FCNTL(1032),       /* F_GETPIPE_SZ */
    FCNTL(1033),       /* F_ADD_SEALS */
    FCNTL(1034),       /* F_GET_SEALS */
    FCNTL(1035),       /* F_GET_RW_HINT */
    FCNTL(1036),       /* F_SET_RW_HINT */
    FCNTL(1037),       /* F_GET_FILE_RW_HINT */
    FCNTL(1038),       /* F_SET_FILE_RW_HINT */
    PRCTL(1),          /* PR_SET_PDEATHSIG */
    PRCTL(2),          /* PR_GET_PDEATHSIG */
    PRCTL(3),          /* PR_GET_DUMPABLE */
    PRCTL(7),          /* PR_GET_KEEPCAPS */
    PRCTL(15),         /* PR_SET_NAME */
    PRCTL(16),         /* PR_GET_NAME */
    PRCTL(21),         /* PR_GET_SECCOMP */
    PRCTL(23),         /* PR_CAPBSET_READ */
    PRCTL(27),         /* PR_GET_SECUREBITS */
    PRCTL(29),         /* PR_SET_TIMERSLACK */
    PRCTL(30),         /* PR_GET_TIMERSLACK */
    PRCTL(37),         /* PR_GET_CHILD_SUBREAPER */
    PRCTL(38),         /* PR_SET_NO_NEW_PRIVS */
    PRCTL(39),         /* PR_GET_NO_NEW_PRIVS */
    PRCTL(41),         /* PR_SET_THP_DISABLE */
    PRCTL(42),         /* PR_GET_THP_DISABLE */
    PRCTL(52),         /* PR_GET_SPECULATION_CTRL */
    PRCTL(0x53564d41), /* PR_SET_VMA, by which allocators name their memory */
    /* Its own terminals and properties of descriptors. Not TIOCSTI and TIOCLINUX, which type into a
     * terminal, nor any request to a device. */
    IOCTL(0x5401),     /* TCGETS */
    IOCTL(0x5402),     /* TCSETS */
    IOCTL(0x5403),     /* TCSETSW */
    IOCTL(0x5404),     /* TCSETSF */
    IOCTL(0x5409),     /* TCSBRK */
    IOCTL(0x540a),     /* TCXONC */
    IOCTL(0x540b),     /* TCFLSH */
    IOCTL(0x540e),     /* TIOCSCTTY */
    IOCTL(0x540f),     /* TIOCGPGRP */
    IOCTL(0x5410),     /* TIOCSPGRP */
    IOCTL(0x5411),     /* TIOCOUTQ */
    IOCTL(0x5413),     /* TIOCGWINSZ */
    IOCTL(0x5414),     /* TIOCSWINSZ */
    IOCTL(0x541b),     /* FIONREAD */
    IOCTL(0x5421),     /* FIONBIO */
    IOCTL(0x5422),     /* TIOCNOTTY */
    IOCTL(0x5429),     /* TIOCGSID */
    IOCTL(0x5441),     /* TIOCGPTPEER */
    IOCTL(0x5450),     /* FIONCLEX */
    IOCTL(0x5451),     /* FIOCLEX */
    IOCTL(0x5452),     /* FIOASYNC */
    IOCTL(0x80045430), /* TIOCGPTN */
    IOCTL(0x40045431), /* TIOCSPTLCK */
    IOCTL(0x40049409), /* FICLONE: cp */
    /* Which interfaces there are, as Java asks: reading. Others ask by netlink, and do without. */
    QUERY(0x8910), /* SIOCGIFNAME */
    QUERY(0x8912), /* SIOCGIFCONF */
    QUERY(0x8913), /* SIOCGIFFLAGS */
    QUERY(0x8915), /* SIOCGIFADDR */
    QUERY(0x8919), /* SIOCGIFBRDADDR */
    QUERY(0x891b), /* SIOCGIFNETMASK */
    QUERY(0x8921), /* SIOCGIFMTU */
    QUERY(0x8927), /* SIOCGIFHWADDR */
    QUERY(0x8933), /* SIOCGIFINDEX */
    {0, NULL, {{0, 0, 0}}},
};

#define EVERY_FAMILY(mask, value)                                                                  \
    {                                                                                              \
        FILTER_NETWORK, "socket", {{0, INT & ~UINT64_C(mask), value}}, EAFNOSUPPORT                \
    }
#define IN_VAIN(level, name)                                                                       \
    {                                                                                              \
        FILTER_NETWORK, "setsockopt", {{1, INT, level}, {2, INT, name}}, 0                         \
    }

const struct filter_answer filter_answers[] = {
    /* All families below 64 but 2 and 10: as a kernel without them says it. Programs then do
     * without (getaddrinfo without netlink, the caches of names without AF_UNIX), which not all do
     * after EPERM. */
    EVERY_FAMILY(1, 0),
    EVERY_FAMILY(0, 3),
    EVERY_FAMILY(3, 4),
    EVERY_FAMILY(1, 8),
    EVERY_FAMILY(0, 11),
    EVERY_FAMILY(3, 12),
    EVERY_FAMILY(15, 16),
    EVERY_FAMILY(31, 32),
    /* MPTCP, which Go's servers try first. */
    {FILTER_NETWORK, "socket", {{0, INT, 2}, {2, INT, 262}}, EPROTONOSUPPORT},
    {FILTER_NETWORK, "socket", {{0, INT, 10}, {2, INT, 262}}, EPROTONOSUPPORT},
    /* Wishes, which programs expect to be granted: the kernel itself bounds the sizes without a
     * word, and fast open is only faster. */
    IN_VAIN(1, 7),  /* SO_SNDBUF */
    IN_VAIN(1, 8),  /* SO_RCVBUF */
    IN_VAIN(6, 23), /* TCP_FASTOPEN */
    IN_VAIN(6, 30), /* TCP_FASTOPEN_CONNECT */
    {0, NULL, {{0, 0, 0}}, 0},
};

const struct filter_rule filter_setup[] = {
    {FILTER_TEMPLATE, "mount", {{0, 0, 0}}},
    {FILTER_TEMPLATE, "unshare", {{0, ALL, 0x02000000}}}, /* CLONE_NEWCGROUP */
    {FILTER_TEMPLATE, "capset", {{0, 0, 0}}},
    {FILTER_TEMPLATE, "prctl", {{0, INT, 4}}},  /* PR_SET_DUMPABLE */
    {FILTER_TEMPLATE, "prctl", {{0, INT, 24}}}, /* PR_CAPBSET_DROP */
    {FILTER_TEMPLATE, "landlock_create_ruleset", {{0, 0, 0}}},
    {FILTER_TEMPLATE, "landlock_add_rule", {{0, 0, 0}}},
    {FILTER_TEMPLATE, "landlock_restrict_self", {{0, 0, 0}}},
    {FILTER_TEMPLATE, "seccomp", {{0, 0, 0}}},
    {0, NULL, {{0, 0, 0}}},
};
