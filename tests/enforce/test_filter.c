/* SPDX-License-Identifier: MIT */
/* test_filter.c - the filters of system calls, tested in the kernel call by call.
 *
 * Each call is made twice with the same arguments in a child of its own: without the filter, where
 * the kernel answers in another way than the filter does, and with it. The arguments have no effect
 * on the machine even if the call is allowed: closed descriptors, unmapped addresses, names that do
 * not exist. A few calls have no such arguments (vhangup, sync): for them, and for arguments that
 * do not matter, test_filter_program.c interprets the program with made-up calls. */
#include "unit.h"

#include "os/filter.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined LAZ_FILTER && defined __x86_64__

#define NOWHERE "/nonexistent-lazaret/x"
#define HIGH    UINT64_C(0x100000000) /* above the bits of an int that the kernel reads */
#define BAD     1ul                   /* an address that is not mapped */
#define NOFD    UINT64_MAX

/* What the filter does in place of the call. THROUGH: nothing, and the call fails or not. */
enum answer {
    REFUSED = EPERM,
    UNKNOWN = ENOSYS,
    NO_FAMILY = EAFNOSUPPORT,
    PASSED = 0,
    THROUGH = -1
};

struct call {
    const char *name;
    long number;
    uint64_t args[6];
    enum answer answer;
    bool root; /* only root: for others the kernel itself answers EPERM */
};

static struct rlimit lowest;
static char text_nowhere[] = NOWHERE, text_proc[] = "lazaret-no-key";

#define AT(thing) ((uint64_t)(uintptr_t)(thing))
#define C(name)   #name, SYS_##name

static const struct call calls[] = {
    /* tracing and other processes' memory */
    {C(ptrace), {0}, REFUSED, false}, /* PTRACE_TRACEME */
    {C(process_vm_readv), {NOFD, BAD, 1, BAD, 1, 0}, REFUSED, false},
    {C(process_vm_writev), {NOFD, BAD, 1, BAD, 1, 0}, REFUSED, false},
    {C(process_madvise), {NOFD, 0, 0, 0, 0}, REFUSED, false},
    {C(pidfd_getfd), {NOFD, 0, 0}, REFUSED, false},
    {C(move_pages), {0x7ffffff0, 0, 0, 0, 0, 0}, REFUSED, false},
    {C(migrate_pages), {0x7ffffff0, 0, 0, 0}, REFUSED, false},
    {C(vmsplice), {NOFD, BAD, 1, 0}, REFUSED, false},
    {C(remap_file_pages), {BAD, 0, 1, 0, 0}, REFUSED, false},
    /* mounts */
    {C(mount), {BAD, BAD, BAD, 0, 0}, REFUSED, false},
    {C(umount2), {AT(text_nowhere), 0}, REFUSED, true},
    {C(pivot_root), {AT(text_nowhere), AT(text_nowhere)}, REFUSED, true},
    {C(chroot), {AT(text_nowhere)}, REFUSED, false},
    {C(open_tree), {NOFD, AT(text_proc), 0}, REFUSED, false},
    {C(move_mount), {NOFD, AT(text_proc), NOFD, AT(text_proc), 0}, REFUSED, true},
    {C(fsopen), {BAD, 0}, REFUSED, true},
    {C(fsconfig), {NOFD, 0, 0, 0, 0}, REFUSED, false},
    {C(fsmount), {NOFD, 0, 0}, REFUSED, true},
    {C(fspick), {NOFD, BAD, 0}, REFUSED, true},
    {C(mount_setattr), {NOFD, AT(text_proc), 0xffffff, BAD, 0}, REFUSED, false},
    {C(quotactl), {UINT64_MAX, 0, 0, 0}, REFUSED, false},
    {C(acct), {AT(text_nowhere)}, REFUSED, true},
    {C(swapon), {BAD, 0x40000000}, REFUSED, false},
    {C(swapoff), {BAD}, REFUSED, true},
    /* namespaces */
    {C(unshare), {0}, REFUSED, false},
    {C(unshare), {CLONE_NEWUSER}, REFUSED, false},
    {C(setns), {NOFD, 0}, REFUSED, false},
    {C(clone3), {0, 0}, UNKNOWN, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER, 0}, REFUSED, false},
    {C(clone), {HIGH | SIGCHLD | CLONE_NEWUSER, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWNS, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWPID, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWNET, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWIPC, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWUTS, 0}, REFUSED, false},
    {C(clone), {SIGCHLD | CLONE_NEWUSER | CLONE_NEWCGROUP, 0}, REFUSED, false},
    {C(clone), {SIGCHLD, 0}, PASSED, false},
    {C(sethostname), {BAD, UINT64_MAX}, REFUSED, true},
    {C(setdomainname), {BAD, UINT64_MAX}, REFUSED, true},
    /* parts of the kernel with a history */
    {C(bpf), {0, 0, 0}, REFUSED, true},
    {C(perf_event_open), {BAD, 0, 0, 0, 0}, REFUSED, false},
    {C(userfaultfd), {0xffffffff}, REFUSED, false},
    {C(io_uring_setup), {0, BAD}, REFUSED, false},
    {C(io_uring_enter), {NOFD, 0, 0, 0, 0, 0}, REFUSED, false},
    {C(io_uring_register), {NOFD, 0, 0, 0}, REFUSED, false},
    {C(io_setup), {0, 0}, REFUSED, false},
    {C(keyctl), {0x7fffffff, 0, 0, 0, 0}, REFUSED, false},
    {C(add_key), {BAD, BAD, 0, 0, 0}, REFUSED, false},
    {C(request_key), {BAD, BAD, 0, 0}, REFUSED, false},
    {C(fanotify_init), {0xffffffff, 0}, REFUSED, true},
    {C(fanotify_mark), {NOFD, 0, 0, NOFD, BAD}, REFUSED, false},
    {C(inotify_init1), {0xffffffff}, REFUSED, false},
    {C(inotify_add_watch), {NOFD, AT(text_nowhere), 1}, REFUSED, false},
    {C(name_to_handle_at), {NOFD, AT(text_proc), BAD, BAD, 0}, REFUSED, false},
    {C(open_by_handle_at), {NOFD, BAD, 0}, REFUSED, true},
    {C(landlock_create_ruleset), {0, 0, 1}, REFUSED, false},
    {C(seccomp), {99, 0, 0}, REFUSED, false},
    {C(memfd_create), {AT(text_proc), 0}, REFUSED, false},
    {C(modify_ldt), {0, 0, 0}, REFUSED, false},
    {C(iopl), {4}, REFUSED, false},
    {C(ioperm), {UINT64_MAX, 1, 0}, REFUSED, false},
    /* the machine */
    {C(reboot), {0, 0, 0, 0}, REFUSED, true},
    {C(kexec_load), {0, 0, 0, 0x8888}, REFUSED, true},
    {C(kexec_file_load), {NOFD, NOFD, 0, 0, 0xffff}, REFUSED, true},
    {C(init_module), {BAD, 0, BAD}, REFUSED, true},
    {C(finit_module), {NOFD, BAD, 0xffff}, REFUSED, true},
    {C(delete_module), {AT(text_proc), O_NONBLOCK}, REFUSED, true},
    {C(syslog), {10, 0, 0}, REFUSED, true},
    {C(clock_settime), {0, BAD}, REFUSED, false},
    {C(settimeofday), {BAD, 0}, REFUSED, false},
    {C(adjtimex), {BAD}, REFUSED, false},
    {C(clock_adjtime), {0, BAD}, REFUSED, false},
    {C(personality), {0x0040000}, REFUSED, false}, /* ADDR_NO_RANDOMIZE */
    {C(personality), {HIGH | 0x0040000}, REFUSED, false},
    {C(personality), {0xffffffff}, PASSED, false},
    /* System V and POSIX messages and memory, which not every box has a namespace for */
    {C(shmget), {0, 0, 0600}, REFUSED, false},
    {C(shmat), {NOFD, 0, 0}, REFUSED, false},
    {C(shmctl), {NOFD, 0, 0}, REFUSED, false},
    {C(semget), {0, UINT64_MAX, 0600}, REFUSED, false},
    {C(semop), {NOFD, 0, 0}, REFUSED, false},
    {C(msgget), {0x7ffffff1, 0}, REFUSED, false},
    {C(msgsnd), {NOFD, BAD, 0, 0}, REFUSED, false},
    {C(mq_open), {BAD, 0, 0, 0}, REFUSED, false},
    {C(mq_unlink), {BAD}, REFUSED, false},
    /* pipes of another size, and descriptors that only one thread has (CLOSE_RANGE_UNSHARE) */
    {C(fcntl), {NOFD, F_SETPIPE_SZ, 1 << 20}, REFUSED, false},
    {C(fcntl), {NOFD, HIGH | F_SETPIPE_SZ, 1 << 20}, REFUSED, false},
    {C(close_range), {0x7ffffff0, 0x7fffffff, 2}, REFUSED, false},
    {C(close_range), {0x7ffffff0, 0x7fffffff, 0}, PASSED, false},
    {C(clone), {CLONE_THREAD | CLONE_SIGHAND, 0, 0, 0, 0}, REFUSED, false}, /* without CLONE_VM */
    /* access control lists: as in a kernel without them */
    {C(setxattr), {AT(text_nowhere), BAD, BAD, 0, 0}, UNKNOWN, false},
    {C(lsetxattr), {AT(text_nowhere), BAD, BAD, 0, 0}, UNKNOWN, false},
    {C(fsetxattr), {NOFD, BAD, BAD, 0, 0}, UNKNOWN, false},
    /* terminals and devices */
    {C(ioctl), {NOFD, 0x5412, BAD}, REFUSED, false},        /* TIOCSTI */
    {C(ioctl), {NOFD, HIGH | 0x5412, BAD}, REFUSED, false}, /* the kernel drops the high half */
    {C(ioctl), {NOFD, 0x541c, BAD}, REFUSED, false},        /* TIOCLINUX */
    {C(ioctl), {NOFD, HIGH * 7 | 0x541c, BAD}, REFUSED, false},
    {C(ioctl), {NOFD, 0x5423, BAD}, REFUSED, false}, /* TIOCSETD */
    {C(ioctl), {NOFD, 0xae00, BAD}, REFUSED, false}, /* KVM_GET_API_VERSION */
    {C(mknod), {AT(text_nowhere), 0020600, 0x103}, REFUSED, true},
    {C(mknodat), {NOFD, AT(text_nowhere), 0060600, 0x103}, REFUSED, true},
    /* set-user-ID files, files without a name */
    {C(open), {AT(text_nowhere), O_CREAT | O_WRONLY, 04755}, REFUSED, false},
    {C(openat), {NOFD, AT(text_nowhere), O_CREAT | O_WRONLY, 02755}, REFUSED, false},
    {C(openat),
     {NOFD, AT(text_nowhere), __O_TMPFILE | O_DIRECTORY | O_RDWR, 04755},
     REFUSED,
     false},
    {C(openat), {AT_FDCWD, AT("/"), O_RDONLY, 04755}, PASSED, false}, /* here no mode */
    {C(creat), {AT(text_nowhere), 04700}, REFUSED, false},
    {C(chmod), {AT(text_nowhere), 04755}, REFUSED, false},
    {C(fchmod), {NOFD, 02755}, REFUSED, false},
    {C(fchmodat), {NOFD, AT(text_nowhere), 04755}, REFUSED, false},
    {C(openat2), {NOFD, BAD, BAD, 24}, UNKNOWN, false},
    {C(execveat), {NOFD, AT(""), 0, 0, AT_EMPTY_PATH}, REFUSED, false},
    /* more privileges, or other limits */
    {C(setuid), {65534}, REFUSED, true},
    {C(setgid), {65534}, REFUSED, true},
    {C(setresuid), {UINT64_MAX, UINT64_MAX, 65534}, REFUSED, true},
    {C(setresuid), {65534, UINT64_MAX, UINT64_MAX}, REFUSED, true},
    {C(setresgid), {UINT64_MAX, UINT64_MAX, 65534}, REFUSED, true},
    {C(setresgid), {65534, UINT64_MAX, UINT64_MAX}, REFUSED, true},
    {C(setresuid), {UINT64_MAX, UINT64_MAX, UINT64_MAX}, PASSED, false},
    {C(setresgid), {UINT64_MAX, UINT64_MAX, UINT64_MAX}, PASSED, false},
    {C(setreuid), {UINT64_MAX, UINT64_MAX}, REFUSED, false},
    {C(setfsuid), {UINT64_MAX}, REFUSED, false},
    {C(setgroups), {UINT64_MAX, 0}, REFUSED, true},
    {C(capset), {BAD, BAD}, REFUSED, false},
    {C(sched_setscheduler), {0, 77, 0}, REFUSED, false},
    {C(ioprio_set), {77, 0, 0}, REFUSED, false},
    {C(prlimit64), {1, RLIMIT_NOFILE, BAD, 0}, REFUSED, false},
    {C(prlimit64), {0, RLIMIT_CORE, AT(&lowest), 0}, REFUSED, false},
    {C(prlimit64), {0, HIGH | RLIMIT_CORE, AT(&lowest), 0}, REFUSED, false},
    {C(prlimit64), {0, RLIMIT_CORE, 0, 0}, PASSED, false},
    {C(setrlimit), {RLIMIT_CORE, AT(&lowest)}, REFUSED, false},
    {C(prctl), {PR_SET_DUMPABLE, 1}, REFUSED, false},
    {C(prctl), {HIGH | PR_SET_DUMPABLE, 1}, REFUSED, false},
    {C(prctl), {PR_SET_SECCOMP, 99}, REFUSED, false},
    {C(prctl), {53, 99, 0}, REFUSED, false}, /* PR_SET_SPECULATION_CTRL */
    {C(prctl), {PR_SET_CHILD_SUBREAPER, 1}, REFUSED, false},
    {C(prctl), {PR_CAP_AMBIENT, 99}, REFUSED, false},
    {C(prctl), {PR_SET_NAME, AT(text_proc)}, PASSED, false},
    /* calls newer than the list */
    {"cachestat", 451, {NOFD, BAD, BAD, 0}, UNKNOWN, false},
    {"fchmodat2", 452, {NOFD, BAD, 04755, 0}, UNKNOWN, false},
    {"statmount", 457, {BAD, BAD, 0, 0}, UNKNOWN, false},
    /* its own priority may be changed (whatever the niceness is now, to the highest) */
    {C(setpriority), {PRIO_PROCESS, 0, 19}, PASSED, false},
    {C(sched_getaffinity), {0, sizeof lowest, AT(&lowest)}, PASSED, false},
};

#define N_CALLS (sizeof calls / sizeof calls[0])

/* Without a network. */
static const struct call closed[] = {
    {C(socket), {AF_UNIX, SOCK_STREAM, 0}, REFUSED, false},
    {C(socket), {AF_INET, SOCK_STREAM, 0}, REFUSED, false},
    {C(socket), {AF_INET6, SOCK_DGRAM, 0}, REFUSED, false},
    {C(socket), {AF_NETLINK, SOCK_RAW, 0}, REFUSED, false},
    {C(socket), {AF_PACKET, SOCK_RAW, 0}, REFUSED, true},
    {C(socket), {AF_ALG, SOCK_SEQPACKET, 0}, REFUSED, false},
    {C(socket), {40, SOCK_STREAM, 0}, REFUSED, false}, /* AF_VSOCK */
    {C(connect), {NOFD, BAD, 0}, REFUSED, false},
    {C(bind), {NOFD, BAD, 0}, REFUSED, false},
    {C(listen), {NOFD, 1}, REFUSED, false},
    {C(accept), {NOFD, 0, 0}, REFUSED, false},
    {C(accept4), {NOFD, 0, 0, 0}, REFUSED, false},
    {C(sendto), {NOFD, BAD, 0, 0, BAD, 16}, REFUSED, false},
    {C(socketpair), {AF_UNIX, SOCK_DGRAM, 0, BAD}, REFUSED, false},
    {C(socketpair), {AF_UNIX, HIGH | SOCK_DGRAM, 0, BAD}, REFUSED, false},
    {C(socketpair), {AF_INET, SOCK_STREAM, 0, BAD}, REFUSED, false},
    {C(socketpair), {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, AT(&lowest)}, PASSED, false},
    {C(setsockopt), {NOFD, SOL_SOCKET, SO_ATTACH_FILTER, BAD, 0}, REFUSED, false},
    {C(setsockopt), {NOFD, HIGH | SOL_SOCKET, SO_ATTACH_FILTER, BAD, 0}, REFUSED, false},
    /* buffers of another size */
    {C(setsockopt), {NOFD, SOL_SOCKET, SO_SNDBUF, BAD, 0}, REFUSED, false},
    {C(setsockopt), {NOFD, SOL_SOCKET, SO_RCVBUF, BAD, 0}, REFUSED, false},
    {C(setsockopt), {NOFD, SOL_SOCKET, SO_SNDBUFFORCE, BAD, 0}, REFUSED, false},
    {C(setsockopt), {NOFD, SOL_SOCKET, SO_RCVBUFFORCE, BAD, 0}, REFUSED, false},
};

/* With one. Levels: SOL_SOCKET 1, IPPROTO_IP 0, IPPROTO_TCP 6, IPPROTO_UDP 17, IPPROTO_IPV6 41. */
#define SETS(level, name, answer)                                                                  \
    {                                                                                              \
        C(setsockopt), {NOFD, level, name, BAD, 4}, answer, false                                  \
    }
#define READS(level, name, answer)                                                                 \
    {                                                                                              \
        C(getsockopt), {NOFD, level, name, BAD, BAD}, answer, false                                \
    }
#define ASKS(request, answer)                                                                      \
    {                                                                                              \
        C(ioctl), {NOFD, request, BAD}, answer, false                                              \
    }

static const struct call network[] = {
    {C(socket), {AF_INET, SOCK_STREAM, 0}, THROUGH, false},
    {C(socket), {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 6}, THROUGH, false},
    {C(socket), {AF_INET, SOCK_DGRAM, 0}, THROUGH, false},
    {C(socket), {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 17}, THROUGH, false},
    {C(socket), {AF_INET6, SOCK_STREAM, 0}, THROUGH, false},
    {C(socket), {HIGH | AF_INET6, HIGH | SOCK_STREAM, HIGH | 6}, THROUGH, false},
    {C(socket), {AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0}, THROUGH, false},
    {C(socket), {AF_INET6, SOCK_DGRAM, 17}, THROUGH, false},
    {C(socket), {AF_UNIX, SOCK_STREAM, 0}, NO_FAMILY, false},
    {C(socket), {HIGH | AF_UNIX, SOCK_STREAM, 0}, NO_FAMILY, false},
    {C(socket), {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0}, NO_FAMILY, false},
    {C(socket), {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, NO_FAMILY, false},
    {C(socket), {AF_PACKET, SOCK_RAW, 0}, NO_FAMILY, true},
    {C(socket), {AF_PACKET, SOCK_DGRAM, 0}, NO_FAMILY, true},
    {C(socket), {AF_INET, SOCK_RAW, 1}, REFUSED, true},
    {C(socket), {AF_INET6, SOCK_RAW, 58}, REFUSED, true},
    {C(socket), {AF_INET, 10, 0x300}, REFUSED, true},         /* SOCK_PACKET */
    {C(socket), {AF_INET, SOCK_DGRAM, 1}, REFUSED, false},    /* ping: ICMP */
    {C(socket), {AF_INET6, SOCK_DGRAM, 58}, REFUSED, false},  /* ICMPv6 */
    {C(socket), {AF_INET, SOCK_STREAM, 132}, REFUSED, false}, /* SCTP */
    {C(socket), {AF_INET, SOCK_SEQPACKET, 132}, REFUSED, false},
    {C(socket), {AF_INET, SOCK_DGRAM, 136}, REFUSED, false}, /* UDP-Lite */
    {C(socket), {AF_INET, SOCK_DCCP, 33}, REFUSED, false},
    {C(socket), {AF_INET, SOCK_STREAM, 256}, REFUSED, false},     /* SMC */
    {C(socket), {AF_INET, SOCK_STREAM | 020, 0}, REFUSED, false}, /* an unknown flag */
    {C(connect), {NOFD, BAD, 0}, THROUGH, false},
    {C(bind), {NOFD, BAD, 0}, THROUGH, false},
    {C(listen), {NOFD, 1}, THROUGH, false},
    {C(accept), {NOFD, 0, 0}, THROUGH, false},
    {C(accept4), {NOFD, 0, 0, SOCK_CLOEXEC}, THROUGH, false},
    {C(sendto), {NOFD, BAD, 0, MSG_FASTOPEN, BAD, 16}, THROUGH, false},
    {C(getsockname), {NOFD, BAD, BAD}, THROUGH, false},
    {C(socketpair), {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, AT(&lowest)}, PASSED, false},
    {C(socketpair), {AF_UNIX, SOCK_SEQPACKET, 0, AT(&lowest)}, PASSED, false},
    {C(socketpair), {AF_UNIX, SOCK_DGRAM, 0, BAD}, REFUSED, false},
    {C(socketpair), {AF_INET, SOCK_STREAM, 0, BAD}, REFUSED, false},
    SETS(1, SO_REUSEADDR, THROUGH),
    SETS(1, SO_BROADCAST, THROUGH),
    SETS(1, SO_KEEPALIVE, THROUGH),
    SETS(1, SO_LINGER, THROUGH),
    SETS(1, SO_REUSEPORT, THROUGH),
    SETS(HIGH | 1, SO_RCVTIMEO, THROUGH),
    SETS(1, 66, THROUGH),       /* SO_RCVTIMEO_NEW */
    SETS(1, SO_SNDBUF, PASSED), /* without effect: even of no descriptor */
    SETS(1, HIGH | SO_RCVBUF, PASSED),
    SETS(1, SO_SNDBUFFORCE, REFUSED),
    SETS(1, SO_RCVBUFFORCE, REFUSED),
    SETS(1, SO_DONTROUTE, REFUSED),
    SETS(1, SO_PRIORITY, REFUSED),
    SETS(1, SO_BINDTODEVICE, REFUSED),
    SETS(1, SO_ATTACH_FILTER, REFUSED),
    SETS(HIGH | 1, HIGH | SO_ATTACH_FILTER, REFUSED),
    SETS(1, SO_MARK, REFUSED),
    SETS(1, SO_TIMESTAMPING, REFUSED),
    SETS(1, SO_BUSY_POLL, REFUSED),
    SETS(1, SO_ATTACH_BPF, REFUSED),
    SETS(1, SO_ATTACH_REUSEPORT_CBPF, REFUSED),
    SETS(1, SO_ZEROCOPY, REFUSED),
    SETS(6, 1, THROUGH),    /* TCP_NODELAY */
    SETS(6, 3, THROUGH),    /* TCP_CORK */
    SETS(6, 4, THROUGH),    /* TCP_KEEPIDLE */
    SETS(6, 12, THROUGH),   /* TCP_QUICKACK */
    SETS(6, 18, THROUGH),   /* TCP_USER_TIMEOUT */
    SETS(6, 23, PASSED),    /* TCP_FASTOPEN: without effect */
    SETS(6, 30, PASSED),    /* TCP_FASTOPEN_CONNECT: the same */
    SETS(6, 2, REFUSED),    /* TCP_MAXSEG */
    SETS(6, 10, REFUSED),   /* TCP_WINDOW_CLAMP */
    SETS(6, 13, REFUSED),   /* TCP_CONGESTION */
    SETS(6, 14, REFUSED),   /* TCP_MD5SIG */
    SETS(6, 19, REFUSED),   /* TCP_REPAIR */
    SETS(6, 31, REFUSED),   /* TCP_ULP */
    SETS(6, 38, REFUSED),   /* TCP_AO_ADD_KEY */
    SETS(0, 1, THROUGH),    /* IP_TOS */
    SETS(0, 2, THROUGH),    /* IP_TTL */
    SETS(0, 8, THROUGH),    /* IP_PKTINFO */
    SETS(0, 10, THROUGH),   /* IP_MTU_DISCOVER */
    SETS(0, 11, THROUGH),   /* IP_RECVERR */
    SETS(0, 24, THROUGH),   /* IP_BIND_ADDRESS_NO_PORT */
    SETS(0, 49, THROUGH),   /* IP_MULTICAST_ALL */
    SETS(0, 3, REFUSED),    /* IP_HDRINCL */
    SETS(0, 4, REFUSED),    /* IP_OPTIONS */
    SETS(0, 16, REFUSED),   /* IP_IPSEC_POLICY */
    SETS(0, 19, REFUSED),   /* IP_TRANSPARENT */
    SETS(0, 32, REFUSED),   /* IP_MULTICAST_IF */
    SETS(0, 35, REFUSED),   /* IP_ADD_MEMBERSHIP */
    SETS(0, 42, REFUSED),   /* MCAST_JOIN_GROUP */
    SETS(0, 48, REFUSED),   /* MCAST_MSFILTER */
    SETS(0, 64, REFUSED),   /* IPT_SO_SET_REPLACE */
    SETS(41, 16, THROUGH),  /* IPV6_UNICAST_HOPS */
    SETS(41, 25, THROUGH),  /* IPV6_RECVERR */
    SETS(41, 26, THROUGH),  /* IPV6_V6ONLY */
    SETS(41, 67, THROUGH),  /* IPV6_TCLASS */
    SETS(41, 1, REFUSED),   /* IPV6_ADDRFORM */
    SETS(41, 20, REFUSED),  /* IPV6_JOIN_GROUP */
    SETS(41, 54, REFUSED),  /* IPV6_HOPOPTS */
    SETS(41, 57, REFUSED),  /* IPV6_RTHDR */
    SETS(41, 64, REFUSED),  /* IP6T_SO_SET_REPLACE */
    SETS(41, 75, REFUSED),  /* IPV6_TRANSPARENT */
    SETS(17, 1, REFUSED),   /* UDP_CORK */
    SETS(17, 100, REFUSED), /* UDP_ENCAP */
    SETS(17, 103, REFUSED), /* UDP_SEGMENT */
    SETS(282, 1, REFUSED),  /* SOL_TLS */
    SETS(284, 1, REFUSED),  /* SOL_MPTCP */
    READS(1, SO_ERROR, THROUGH),
    READS(1, SO_TYPE, THROUGH),
    READS(0, 1, THROUGH),
    READS(6, 11, THROUGH), /* TCP_INFO */
    READS(41, 26, THROUGH),
    READS(41, 67, THROUGH),
    READS(6, 35, REFUSED),  /* TCP_ZEROCOPY_RECEIVE */
    READS(0, 64, REFUSED),  /* IPT_SO_GET_INFO */
    READS(41, 64, REFUSED), /* IP6T_SO_GET_INFO */
    ASKS(0x8912, THROUGH), /* SIOCGIFCONF */
    ASKS(0x8913, THROUGH), /* SIOCGIFFLAGS */
    ASKS(0x8914, REFUSED), /* SIOCSIFFLAGS */
    ASKS(0x8916, REFUSED), /* SIOCSIFADDR */
    ASKS(0x890b, REFUSED), /* SIOCADDRT */
    ASKS(0x8946, REFUSED), /* SIOCETHTOOL */
    ASKS(0x89a0, REFUSED), /* SIOCBRADDBR */
};

struct outcome {
    long result;
    int err;    /* of the call; -1: it did not return */
    int signal; /* that ended the child */
};

static struct outcome *shared;

#define IN_PARTS         "session, in two parts" /* as a session of a template has it */
#define NETWORK_IN_PARTS "network, in two parts"

static void filter_on(const char *name)
{
    struct laz_error err = {0};
    const char *parts = strcmp(name, IN_PARTS) == 0           ? LAZ_FILTER_SESSION
                        : strcmp(name, NETWORK_IN_PARTS) == 0 ? LAZ_FILTER_NETWORK
                                                              : NULL;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        (parts ? laz_os_filter_ahead(parts, &err) || laz_os_filter_rest(parts, &err)
               : laz_os_filter(name, &err))) {
        fprintf(stderr, "%s\n", err.text);
        _exit(99);
    }
}

/* `filter` NULL: none. `run` makes the call and returns its result, with errno. */
static struct outcome outcome_of(const char *filter, long (*run)(const void *), const void *with)
{
    int how = 0;

    *shared = (struct outcome){0, -1, 0};
    fflush(stdout);
    const pid_t self = getpid();
    pid_t child = fork();
    if (child == 0) {
        if (filter)
            filter_on(filter);
        errno = 0;
        long result = run(with);
        int err = result == -1 ? errno : 0;
        if (getppid() != self) /* a child made by the call itself */
            syscall(SYS_exit_group, 0);
        shared->result = result;
        shared->err = err;
        syscall(SYS_exit_group, 0);
    }
    waitpid(child, &how, 0);
    shared->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    CU_ASSERT_FALSE(WIFEXITED(how) && WEXITSTATUS(how) == 99);
    return *shared;
}

static long call_make(const void *with)
{
    const struct call *call = with;
    const uint64_t *a = call->args;

    return syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void each_is_answered(const char *filter, const struct call *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct call *call = &table[i];
        struct outcome without = outcome_of(NULL, call_make, call);
        struct outcome within = outcome_of(filter, call_make, call);
        bool provable = (laz_os_is_root() || !call->root) && call->answer != THROUGH;
        int expected = call->answer == THROUGH ? without.err : (int)call->answer;
        bool differs = call->answer == PASSED || without.err != expected;
        if (within.err != expected || within.signal || (provable && !differs))
            printf("\n    %s %s %#lx %#lx %#lx: without %d, within %d, signal %d", filter,
                   call->name, (unsigned long)call->args[0], (unsigned long)call->args[1],
                   (unsigned long)call->args[2], without.err, within.err, within.signal);
        CU_ASSERT_EQUAL(within.err, expected);
        CU_ASSERT_EQUAL(within.signal, 0);
        CU_ASSERT_NOT_EQUAL(call->answer == THROUGH ? without.err : 0, EPERM);
        if (provable)
            CU_ASSERT_TRUE(differs);
    }
}

static void each_forbidden_call_is_refused(const char *filter)
{
    each_is_answered(filter, calls, N_CALLS);
    each_is_answered(filter, closed, sizeof closed / sizeof closed[0]);
}

static void live_filter_refuses_each_forbidden_call(void)
{
    each_forbidden_call_is_refused(LAZ_FILTER_SESSION);
}

static void live_filter_in_two_parts_refuses_them_too(void)
{
    each_forbidden_call_is_refused(IN_PARTS);
}

static void live_filter_same_user_refuses_them_too(void)
{
    each_forbidden_call_is_refused(LAZ_FILTER_SAME_USER);
}

static void live_filter_network_has_tcp_and_udp_only(void)
{
    each_is_answered(LAZ_FILTER_NETWORK, calls, N_CALLS);
    each_is_answered(LAZ_FILTER_NETWORK, network, sizeof network / sizeof network[0]);
}

static void live_filter_network_in_two_parts_too(void)
{
    each_is_answered(NETWORK_IN_PARTS, calls, N_CALLS);
    each_is_answered(NETWORK_IN_PARTS, network, sizeof network / sizeof network[0]);
}

/* A client and a server of TCP, and one of UDP, with what programs set; 0: all went well. */
static long network_work(const void *with)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr *to = (struct sockaddr *)&address;
    socklen_t len = sizeof address, size = sizeof(int);
    int one = 1, huge = 1 << 20, before = 0, after = 0;
    char c = 0;

    (void)with;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(server, to, len) ||
        listen(server, 5) || getsockname(server, to, &len))
        return 1;
    if (getsockopt(client, SOL_SOCKET, SO_RCVBUF, &before, &size) ||
        setsockopt(client, SOL_SOCKET, SO_RCVBUF, &huge, sizeof huge) ||
        getsockopt(client, SOL_SOCKET, SO_RCVBUF, &after, &size))
        return 2;
    if (with && before != after)
        return 3;
    if (setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) || connect(client, to, len))
        return 4;
    int accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    if (write(client, "a", 1) != 1 || read(accepted, &c, 1) != 1 || c != 'a')
        return 5;
    int from = socket(AF_INET, SOCK_DGRAM, 0), at = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    address.sin_port = 0;
    if (bind(at, to, len) || getsockname(at, to, &len) || sendto(from, "b", 1, 0, to, len) != 1 ||
        recv(at, &c, 1, 0) != 1 || c != 'b')
        return 6;
    return 0;
}

static void live_filter_network_lets_clients_and_servers_work(void)
{
    CU_ASSERT_EQUAL(outcome_of(NULL, network_work, NULL).result, 0);
    CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_NETWORK, network_work, "").result, 0);
    CU_ASSERT_EQUAL(outcome_of(NETWORK_IN_PARTS, network_work, "").result, 0);
    CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_SESSION, network_work, "").result, 1);
}

/* An abstract name of this process; its length. */
static socklen_t pair_name(struct sockaddr_un *name, const char *of)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "lazaret-%s", of);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* `with`: the name of a socket that listens. An end of a pair can be connected to nothing, and
 * nothing to it, not even when its other end is gone. */
static long pair_work(const void *with)
{
    static const struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_un there, own;
    const socklen_t len = pair_name(&there, with), own_len = pair_name(&own, "pair");
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
        bind(pair[0], (struct sockaddr *)&own, own_len))
        return 1;
    for (int i = 0; i < 2; i++) {
        (void)connect(pair[0], &none, sizeof none); /* which would end a connection of TCP */
        if (connect(pair[0], (struct sockaddr *)&there, len) != -1 || errno != EISCONN)
            return 2;
        if (listen(pair[0], 1) != -1 || errno != EINVAL)
            return 3;
        close(pair[1]);
    }
    return 0;
}

static void live_filter_network_keeps_pairs_as_they_are(void)
{
    struct sockaddr_un name;
    char text[32];

    snprintf(text, sizeof text, "%d", (int)getpid());
    const socklen_t len = pair_name(&name, text);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&name, len), 0);
    CU_ASSERT_EQUAL_FATAL(listen(listener, 1), 0);
    CU_ASSERT_EQUAL(connect(client, (struct sockaddr *)&name, len), 0);
    CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_NETWORK, pair_work, text).result, 0);
    close(client);
    close(listener);
}

/* Landlock does not govern these operations on files and processes of the same uid. */
static void live_filter_same_user_keeps_metadata_and_processes(void)
{
    static const struct call metadata[] = {
        {C(chmod), {AT(text_nowhere), 0600}, REFUSED, false},
        {C(fchmod), {NOFD, 0600}, REFUSED, false},
        {C(fchmodat), {NOFD, AT(text_nowhere), 0600}, REFUSED, false},
        {C(chown), {AT(text_nowhere), 1, 1}, REFUSED, false},
        {C(lchown), {AT(text_nowhere), 1, 1}, REFUSED, false},
        {C(fchown), {NOFD, 1, 1}, REFUSED, false},
        {C(fchownat), {NOFD, AT(text_nowhere), 1, 1, 0}, REFUSED, false},
        {C(utime), {AT(text_nowhere), 0}, REFUSED, false},
        {C(utimes), {AT(text_nowhere), 0}, REFUSED, false},
        {C(futimesat), {NOFD, AT(text_nowhere), 0}, REFUSED, false},
        {C(utimensat), {NOFD, AT(text_nowhere), 0, 0}, REFUSED, false},
        {C(removexattr), {AT(text_nowhere), BAD}, REFUSED, false},
        {C(setpriority), {PRIO_PROCESS, 0x7ffffff0, 0}, REFUSED, false}, /* no such process */
        {C(setpriority), {PRIO_PROCESS, HIGH | 0x7ffffff0, 0}, REFUSED, false},
        {C(setpriority), {PRIO_USER, 0x7ffffff0, 0}, REFUSED, false},
        {C(setpriority), {PRIO_PGRP, 0x7ffffff0, 0}, REFUSED, false},
        {C(sched_setaffinity), {0x7ffffff0, 0, BAD}, REFUSED, false},
    };

    for (size_t i = 0; i < sizeof metadata / sizeof metadata[0]; i++) {
        struct outcome without = outcome_of(NULL, call_make, &metadata[i]);
        CU_ASSERT_NOT_EQUAL(without.err, EPERM);
        CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_SESSION, call_make, &metadata[i]).err, without.err);
        CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_NETWORK, call_make, &metadata[i]).err, without.err);
        CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_SAME_USER, call_make, &metadata[i]).err, EPERM);
    }
}

/* ---- other tables of calls ------------------------------------------------------------------ */

static long table_x32(const void *with)
{
    (void)with;
    return syscall(0x40000000 | SYS_getpid);
}

/* Calls getpid through the entry of 32-bit programs, with its number there. */
static long table_32(const void *with)
{
    long result = 20;

    (void)with;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result;
}

static void live_filter_kills_calls_of_other_tables(void)
{
    static long (*const tables[])(const void *) = {table_x32, table_32};

    for (size_t i = 0; i < 2; i++) {
        struct outcome without = outcome_of(NULL, tables[i], NULL);
        struct outcome within = outcome_of(LAZ_FILTER_SESSION, tables[i], NULL);
        /* Without the filter the kernel has that table, or answers ENOSYS. If it has no such entry,
         * the processor faults before any filter is asked. */
        CU_ASSERT_NOT_EQUAL(without.signal, SIGSYS);
        if (without.signal == SIGSEGV)
            printf("\n    SKIP table %zu: this machine has no such entry to the kernel", i);
        CU_ASSERT_EQUAL(within.signal, without.signal == SIGSEGV ? SIGSEGV : SIGSYS);
        CU_ASSERT_EQUAL(within.err, -1);
    }
}

/* ---- what goes on ------------------------------------------------------------------------------
 */

static void *thread_waits(void *gate)
{
    char c;

    (void)!read(*(int *)gate, &c, 1);
    return (void *)(intptr_t)(socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0);
}

/* The filter is installed while another thread runs, and applies to it too. */
static long thread_is_filtered(const void *with)
{
    int gate[2];
    pthread_t thread;
    void *result = NULL;

    if (pipe(gate) || pthread_create(&thread, NULL, thread_waits, &gate[0]))
        return -1;
    if (with)
        filter_on(with);
    close(gate[1]);
    pthread_join(thread, &result);
    return (long)(intptr_t)result;
}

static void live_filter_holds_in_threads_that_run_already(void)
{
    CU_ASSERT_EQUAL(outcome_of(NULL, thread_is_filtered, NULL).result, 0);
    CU_ASSERT_EQUAL(outcome_of(NULL, thread_is_filtered, LAZ_FILTER_SESSION).result, EPERM);
}

/* Uses threads, children that run a shell and a pipeline, and memory shared with them. */
static long ordinary_work(const void *with)
{
    int gate[2] = {-1, -1}, status = -1;
    pthread_t thread;
    void *result = NULL;

    (void)with;
    if (pipe(gate) || pthread_create(&thread, NULL, thread_waits, &gate[0]))
        return 1;
    close(gate[1]);
    pthread_join(thread, &result);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c",
              "d=$(mktemp -d) && cd \"$d\" && mkfifo f && echo b >x && echo a >>x && "
              "test \"$(sort x | head -n 1)\" = a && cp -p x y && chmod 600 y && touch y && rm -r "
              "\"$d\"",
              (char *)NULL);
        _exit(126);
    }
    waitpid(child, &status, 0);
    return status;
}

static void live_filter_lets_ordinary_work_go_on(void)
{
    CU_ASSERT_EQUAL(outcome_of(NULL, ordinary_work, NULL).result, 0);
    CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_SESSION, ordinary_work, NULL).result, 0);
    CU_ASSERT_EQUAL(outcome_of(IN_PARTS, ordinary_work, NULL).result, 0);
    CU_ASSERT_EQUAL(outcome_of(LAZ_FILTER_NETWORK, ordinary_work, NULL).result, 0);
}

/* ---- errors ----------------------------------------------------------------------------------
 */

static void filter_says_what_it_cannot_do(void)
{
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_os_filter("none of ours", &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "none of ours"));
}

/* Without privilege and no_new_privs the kernel refuses the filter, which is an error. */
static long filter_without_right(const void *with)
{
    struct laz_error err = {0};

    (void)with;
    if (laz_os_is_root() && (syscall(SYS_setresgid, 65534, 65534, 65534) ||
                             syscall(SYS_setresuid, 65534, 65534, 65534)))
        return 1;
    int rc = laz_os_filter(LAZ_FILTER_SESSION, &err);
    return rc == LAZ_EOS && err.os_errno == EACCES && socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 2;
}

static void live_filter_that_cannot_be_installed_is_an_error(void)
{
    CU_ASSERT_EQUAL(outcome_of(NULL, filter_without_right, NULL).result, 0);
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(live_filter_refuses_each_forbidden_call),
        UNIT(live_filter_in_two_parts_refuses_them_too),
        UNIT(live_filter_same_user_refuses_them_too),
        UNIT(live_filter_network_has_tcp_and_udp_only),
        UNIT(live_filter_network_in_two_parts_too),
        UNIT(live_filter_network_lets_clients_and_servers_work),
        UNIT(live_filter_network_keeps_pairs_as_they_are),
        UNIT(live_filter_same_user_keeps_metadata_and_processes),
        UNIT(live_filter_kills_calls_of_other_tables),
        UNIT(live_filter_holds_in_threads_that_run_already),
        UNIT(live_filter_lets_ordinary_work_go_on),
        UNIT(filter_says_what_it_cannot_do),
        UNIT(live_filter_that_cannot_be_installed_is_an_error),
        {0},
    };

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    return unit_run("filter", tests);
}

#else /* no filter in this build, or an architecture whose calls are not listed above */

static void filter_is_an_error_where_there_is_none(void)
{
    if (unit_skip("filter", "built without a filter, or not for x86_64"))
        return;
}

int main(void)
{
    static const struct unit_test tests[] = {UNIT(filter_is_an_error_where_there_is_none), {0}};

    return unit_run("filter", tests);
}
#endif
