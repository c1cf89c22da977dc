/* SPDX-License-Identifier: MIT */
/* attack_kernel.c - attempts on the kernel's interface: calls that sandboxed code never needs.
 *
 * Most have arguments that cannot have an effect. An allowed call fails with EINVAL or EFAULT, or
 * with ENOSYS if the kernel was built without it; all count as through, because the kernel was
 * reached. A refused call fails with EPERM or EACCES. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/tiocl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

static int kernel_judge(long rc)
{
    if (rc >= 0)
        return 0;
    return errno == EPERM || errno == EACCES || errno == ENOSPC ? errno : 0;
}

/* ---- calls by number ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    long number;
    long args[6];
} kernel_calls[] = {
    {"acct", SYS_acct, {1}},
    {"add_key", SYS_add_key, {1, 1, 0, 0, -3}},
    {"delete_module", SYS_delete_module, {1, 0}},
    {"fanotify_init", SYS_fanotify_init, {0, 0}},
    {"finit_module", SYS_finit_module, {-1, 1, 0}},
    {"fsmount", SYS_fsmount, {-1, 0, 0}},
    {"fsopen", SYS_fsopen, {1, 0}},
    {"init_module", SYS_init_module, {1, 0, 1}},
    {"io_setup", SYS_io_setup, {0, 0}},
    {"io_uring_enter", SYS_io_uring_enter, {-1, 0, 0, 0, 0, 0}},
    {"io_uring_setup", SYS_io_uring_setup, {1, 0}},
    {"kexec_load", SYS_kexec_load, {0, 1 << 20, 0, 0}},
    {"keyctl", SYS_keyctl, {0, -3, 0}}, /* the session keyring's number */
    {"mount_setattr", SYS_mount_setattr, {-1, 1, 0, 0, 0}},
    {"move_mount", SYS_move_mount, {-1, 1, -1, 1, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {-1, 1, 0, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1, 1, 0}},
    {"open_tree", SYS_open_tree, {-1, 1, 1}},
    {"perf_event_open", SYS_perf_event_open, {1, 0, -1, -1, 0}},
    {"pivot_root", SYS_pivot_root, {1, 1}},
    {"quotactl", SYS_quotactl, {0x800001, 0, 0, 0}}, /* Q_SYNC */
    {"reboot", SYS_reboot, {0, 0, 0, 0}},            /* without its magic numbers */
    {"request_key", SYS_request_key, {1, 1, 0, -3}},
    {"swapoff", SYS_swapoff, {1}},
    {"swapon", SYS_swapon, {1, 0}},
    {"syslog", SYS_syslog, {3, 0, 0}},
    {"userfaultfd", SYS_userfaultfd, {0x800000}}, /* no such flag */
#ifdef __x86_64__
    {"ioperm", SYS_ioperm, {0x80, 1, 1}},
    {"iopl", SYS_iopl, {1}},
    {"modify_ldt", SYS_modify_ldt, {0, 0, 0}},
#endif
};

static int kernel_call(char **args)
{
    for (size_t i = 0; i < sizeof kernel_calls / sizeof *kernel_calls; i++) {
        const long *a = kernel_calls[i].args;
        if (strcmp(kernel_calls[i].name, args[0]) == 0)
            return kernel_judge(
                syscall(kernel_calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]));
    }
    return ENOTSUP;
}

/* ---- calls that need more ------------------------------------------------------------------- */

static int kernel_bpf(char **args)
{
    union bpf_attr attr;

    (void)args;
    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = attr.value_size = 4;
    attr.max_entries = 1;
    int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
    int result = kernel_judge(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Sets the clock to the time it has just read. */
static int kernel_clock(char **args)
{
    struct timex now = {0};

    (void)args;
    if (syscall(SYS_adjtimex, &now) < 0)
        return errno;
    now.modes = ADJ_STATUS;
    return kernel_judge(syscall(SYS_adjtimex, &now));
}

/* Mounts a file system over the session's home; in a mount namespace of its own if possible. */
static int kernel_mount(char **args)
{
    const char *home = getenv("HOME");

    (void)args;
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return errno;
    return kernel_judge(mount("none", home && home[0] ? home : "/tmp", "tmpfs", 0, NULL));
}

static int kernel_remount(char **args)
{
    (void)args;
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return errno;
    return kernel_judge(mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int kernel_umount(char **args)
{
    (void)args;
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return errno;
    return kernel_judge(umount2("/proc", MNT_DETACH));
}

static int kernel_kcmp(char **args)
{
    (void)args;
    return kernel_judge(syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, 0, 0));
}

static int kernel_chroot(char **args)
{
    (void)args;
    return kernel_judge(chroot("/"));
}

static const struct {
    const char *name;
    int flag;
} kernel_namespaces[] = {
    {"user", CLONE_NEWUSER},     {"mount", CLONE_NEWNS},
    {"net", CLONE_NEWNET},       {"pid", CLONE_NEWPID},
    {"ipc", CLONE_NEWIPC},       {"uts", CLONE_NEWUTS},
    {"cgroup", CLONE_NEWCGROUP}, {"user+mount", CLONE_NEWUSER | CLONE_NEWNS},
};

static int kernel_flag(const char *name)
{
    for (size_t i = 0; i < sizeof kernel_namespaces / sizeof *kernel_namespaces; i++)
        if (strcmp(kernel_namespaces[i].name, name) == 0)
            return kernel_namespaces[i].flag;
    return -1;
}

static int kernel_unshare(char **args)
{
    return kernel_judge(unshare(kernel_flag(args[0])));
}

/* The same by clone(2), which makes a process. */
static int kernel_clone(char **args)
{
    long pid = syscall(SYS_clone, kernel_flag(args[0]) | SIGCHLD, 0, 0, 0, 0);
    int result = kernel_judge(pid);

    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return result;
}

/* clone3(2) hides its flags in memory, where no filter can look: ENOSYS makes callers use clone. */
static int kernel_clone3(char **args)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } call = {.flags = (uint64_t)kernel_flag(args[0]), .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &call, sizeof call);
    int result = attack_result(pid);

    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return result;
}

static int kernel_personality(char **args)
{
    (void)args;
    return kernel_judge(personality(READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE));
}

static int kernel_trace_me(char **args)
{
    (void)args;
    return kernel_judge(ptrace(PTRACE_TRACEME, 0, 0, 0));
}

/* Opens a terminal of its own and pushes a byte into it, as CVE-2017-5226 does to a shared one. The
 * kernel ignores the upper half of the request, so it must not mislead a filter. */
static int kernel_push(unsigned long request)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return errno;
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return errno;
    (void)signal(SIGHUP, SIG_IGN); /* sent when the terminal is closed */
    (void)setsid();
    (void)ioctl(slave, TIOCSCTTY, 0);
    char c[16] = {TIOCL_SETSEL};
    int result = attack_result(syscall(SYS_ioctl, slave, request, c));
    close(slave);
    close(master);
    return result == ENOTTY ? 0 : result; /* TIOCLINUX, allowed but not for this terminal */
}

static int kernel_tiocsti(char **args)
{
    (void)args;
    return kernel_push(TIOCSTI);
}

static int kernel_tiocsti_high(char **args)
{
    (void)args;
    return kernel_push(TIOCSTI | 0x100000000ul);
}

static int kernel_tioclinux(char **args)
{
    (void)args;
    return kernel_push(TIOCLINUX);
}

/* Uses tables of system calls that a filter of call numbers may have forgotten. */
static int kernel_32bit(char **args)
{
    (void)args;
#ifdef __x86_64__
    long rc = 20; /* getpid */
    __asm__ volatile("int $0x80" : "+a"(rc) : : "memory", "r8", "r9", "r10", "r11");
    return rc > 0 ? 0 : (int)-rc;
#else
    return ENOTSUP;
#endif
}

static int kernel_x32(char **args)
{
    (void)args;
#ifdef __x86_64__
    return kernel_judge(syscall(0x40000000 | SYS_getpid));
#else
    return ENOTSUP;
#endif
}

const struct attack attack_kernel[] = {
    {"call", 1, kernel_call},
    {"bpf", 0, kernel_bpf},
    {"clock", 0, kernel_clock},
    {"mount", 0, kernel_mount},
    {"remount", 0, kernel_remount},
    {"umount", 0, kernel_umount},
    {"chroot", 0, kernel_chroot},
    {"kcmp", 0, kernel_kcmp},
    {"unshare", 1, kernel_unshare},
    {"clone", 1, kernel_clone},
    {"clone3", 1, kernel_clone3},
    {"personality", 0, kernel_personality},
    {"trace-me", 0, kernel_trace_me},
    {"tiocsti", 0, kernel_tiocsti},
    {"tiocsti-high", 0, kernel_tiocsti_high},
    {"tioclinux", 0, kernel_tioclinux},
    {"32bit", 0, kernel_32bit},
    {"x32", 0, kernel_x32},
    {0},
};
