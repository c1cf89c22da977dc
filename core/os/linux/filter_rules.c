/* SPDX-License-Identifier: MIT */
/* filter_rules.c - what the filter of system calls lets through, as data.
 *
 * An allowlist of what interpreters, their packages and ordinary child processes use.  What is not
 * listed fails with EPERM.  This covers, without a line of its own, mounting, namespaces, modules,
 * tracing (ptrace, process_vm_readv, pidfd_getfd, kcmp), bpf, perf_event_open, userfaultfd,
 * io_uring, keys, clocks, System V and POSIX queues, handles of files, quotas, swapping, rebooting,
 * new filters, other uids, and sockets: the agent has its connection, and code needs none. It
 * also covers inotify: the kernel counts its instances by user in all namespaces together (128 by
 * default), and Landlock would let it watch any file. Programs fall back to looking (tail -f). The
 * numbers are those of asm-generic, as all supported architectures have them.
 *
 * The filter "same-user" is for sessions that share their uid with files and processes of the host:
 * Landlock governs neither metadata nor scheduling, so none of them may be changed.
 *
 * A session of a template has "session" in two parts: the template has put the long one on itself,
 * which lets through what making a session needs, and the session adds a short one that refuses
 * just that.  The kernel takes the stricter of the two answers. */
#include "os/linux/filter_rules.h"

#include <stddef.h>

/* Of setxattr the name: an access control list of a file is up to 64 KiB of the kernel's memory
 * that neither a file system in memory nor a control group counts (acl(5)). */
const char filter_setup_unknown[] = "clone3";
const char filter_unknown[] = "openat2 setxattr lsetxattr fsetxattr";

const struct filter_group filter_groups[] = {
    {FILTER_BOTH, "memory", "allocators, stacks of threads, just-in-time code",
     "brk mmap munmap mremap mprotect madvise mincore msync mlock mlock2 mlockall munlock "
     "munlockall pkey_alloc pkey_free pkey_mprotect membarrier"},
    {FILTER_BOTH, "descriptors", "reading and writing what is open",
     "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close "
     "dup dup2 dup3 flock fsync fdatasync sync_file_range ftruncate fallocate "
     "fadvise64 readahead sendfile copy_file_range splice tee pipe pipe2"},
    {FILTER_BOTH, "files", "names of files; which of them exist is the box's matter",
     "stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents "
     "getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 "
     "link linkat symlink symlinkat readlink readlinkat truncate umask getxattr lgetxattr "
     "fgetxattr listxattr llistxattr flistxattr"},
    {FILTER_SESSION, "metadata", "cp -p, tar, touch: times, owners",
     "utime utimes futimesat utimensat chown fchown lchown fchownat removexattr lremovexattr "
     "fremovexattr"},
    {FILTER_BOTH, "processes", "children and threads",
     "fork vfork execve exit exit_group wait4 waitid getpid getppid gettid getpgid getpgrp setpgid "
     "getsid setsid set_tid_address set_robust_list get_robust_list rseq arch_prctl "
     "riscv_flush_icache futex futex_waitv pidfd_open pidfd_send_signal getrusage times"},
    {FILTER_BOTH, "signals", "handlers, and signals among the session's own processes",
     "rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait "
     "rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack signalfd signalfd4 kill tkill tgkill pause "
     "restart_syscall"},
    {FILTER_BOTH, "scheduling", "how many processors there are, and being nice",
     "sched_yield sched_getaffinity sched_getattr sched_getparam sched_getscheduler "
     "sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority ioprio_get "
     "getcpu"},
    {FILTER_SESSION, "others", "what changes any process of the same uid",
     "sched_setaffinity setpriority"},
    {FILTER_BOTH, "identity", "who and where the process is",
     "getuid geteuid getgid getegid getresuid getresgid getgroups capget uname sysinfo getrlimit"},
    {FILTER_BOTH, "time", "reading clocks, sleeping, timers",
     "time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer "
     "setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete "
     "timerfd_create timerfd_settime timerfd_gettime"},
    {FILTER_BOTH, "waiting", "event loops",
     "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
     "epoll_pwait2 eventfd eventfd2"},
    {FILTER_BOTH, "random", "seeds", "getrandom"},
    {FILTER_BOTH, "pairs", "the two ends of a socketpair, and the agent's channel",
     "recvfrom recvmsg recvmmsg sendmsg sendmmsg shutdown getsockname getpeername getsockopt"},
    {0, NULL, NULL, NULL},
};

#define INT        UINT64_C(0xffffffff)
#define ALL        UINT64_MAX
#define SET_ID     UINT64_C(06000)     /* S_ISUID, S_ISGID */
#define CREATES    UINT64_C(020000100) /* __O_TMPFILE, O_CREAT: only these have a mode */
#define NAMESPACES UINT64_C(0x7e020000)
#define THREAD     UINT64_C(0x10000) /* CLONE_THREAD */
#define FILES      UINT64_C(0x400)   /* CLONE_FILES */
#define UNSHARE    UINT64_C(2)       /* CLOSE_RANGE_UNSHARE */
/* clang-format off */
#define IOCTL(number)   {FILTER_BOTH, "ioctl", {{1, INT, number}}}
#define PRCTL(option)   {FILTER_BOTH, "prctl", {{0, INT, option}}}
#define OPTION(name)    {FILTER_BOTH, "setsockopt", {{1, INT, 1}, {2, INT, name}}}
#define FCNTL(command)  {FILTER_BOTH, "fcntl", {{1, INT, command}}}
#define LIMIT(resource) {FILTER_BOTH, "setrlimit", {{0, INT, resource}}}, \
                        {FILTER_BOTH, "prlimit64", {{0, INT, 0}, {1, INT, resource}}}
/* clang-format on */

const struct filter_rule filter_rules[] = {
    /* A set-id file in a directory of the host would give its owner's rights to any user who runs
     * it. */
    {FILTER_BOTH, "open", {{1, CREATES, 0}}},
    {FILTER_BOTH, "open", {{2, SET_ID, 0}}},
    {FILTER_BOTH, "openat", {{2, CREATES, 0}}},
    {FILTER_BOTH, "openat", {{3, SET_ID, 0}}},
    {FILTER_BOTH, "creat", {{1, SET_ID, 0}}},
    {FILTER_SESSION, "chmod", {{1, SET_ID, 0}}},
    {FILTER_SESSION, "fchmod", {{1, SET_ID, 0}}},
    {FILTER_SESSION, "fchmodat", {{2, SET_ID, 0}}},
    /* Pipes with a name and plain files, no devices. */
    {FILTER_BOTH, "mknod", {{1, 0170000 | SET_ID, 0010000}}},
    {FILTER_BOTH, "mknod", {{1, 0170000 | SET_ID, 0100000}}},
    {FILTER_BOTH, "mknodat", {{2, 0170000 | SET_ID, 0010000}}},
    {FILTER_BOTH, "mknodat", {{2, 0170000 | SET_ID, 0100000}}},
    /* Threads and children, no namespaces. (CLONE_NEWTIME is only taken by clone3 and unshare.) A
     * thread has the descriptors of its process: only of a process they are seen in /proc. */
    {FILTER_BOTH, "clone", {{0, NAMESPACES | THREAD, 0}}},
    {FILTER_BOTH, "clone", {{0, NAMESPACES | THREAD | FILES, THREAD | FILES}}},
    {FILTER_BOTH, "close_range", {{2, UNSHARE, 0}}},
    /* A file without a name (AT_EMPTY_PATH) may be outside the directories where programs may be
     * executed. */
    {FILTER_BOTH, "execveat", {{4, 0x1000, 0}}},
    /* Queries, and setting a value that is set already. */
    {FILTER_BOTH, "personality", {{0, INT, 0xffffffff}}},
    {FILTER_BOTH, "personality", {{0, INT, 0}}},
    /* An effective id alone, which the kernel lets be one that the process has: programs that start
     * others ask for it (make, by POSIX_SPAWN_RESETIDS). */
    {FILTER_BOTH, "setresuid", {{0, INT, 0xffffffff}, {2, INT, 0xffffffff}}},
    {FILTER_BOTH, "setresgid", {{0, INT, 0xffffffff}, {2, INT, 0xffffffff}}},
    /* When other processes have the same uid: the calling thread only. */
    {FILTER_SAME_USER, "setpriority", {{0, INT, 0}, {1, INT, 0}}},
    {FILTER_SAME_USER, "sched_setaffinity", {{0, INT, 0}}},
    /* AF_UNIX and connected for good: SOCK_STREAM and SOCK_SEQPACKET. A pair of SOCK_DGRAM could
     * send to any other address. */
    {FILTER_BOTH, "socketpair", {{0, INT, 1}, {1, 0xf, 1}}},
    {FILTER_BOTH, "socketpair", {{0, INT, 1}, {1, 0xf, 5}}},
    {FILTER_BOTH, "sendto", {{4, ALL, 0}}},
    /* Not SO_SNDBUF and SO_RCVBUF, nor F_SETPIPE_SZ below: without a control group a socket or a
     * pipe counts as the most that it can hold, which has to be known. */
    OPTION(2),  /* SO_REUSEADDR */
    OPTION(13), /* SO_LINGER */
    OPTION(16), /* SO_PASSCRED */
    OPTION(20), /* SO_RCVTIMEO */
    OPTION(21), /* SO_SNDTIMEO */
    /* Reading any limit, lowering one's own. Not RLIMIT_CORE (4): its value 1 keeps a crash from
     * the host's handler of core dumps, which 0 does not. */
    {FILTER_BOTH, "prlimit64", {{2, ALL, 0}}},
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
    {0, NULL, {{0, 0, 0}}},
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
