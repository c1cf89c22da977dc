/* SPDX-License-Identifier: MIT */
/* attack_files.c - attempts on files: reading, writing, links, devices, ways around a path. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A path in the home of the session, where it may write. */
static const char *files_own(const char *name)
{
    static char path[512];
    const char *home = getenv("HOME");

    snprintf(path, sizeof path, "%s/%s", home && home[0] ? home : "/tmp", name);
    return path;
}

static int files_read_at(int directory, const char *path)
{
    char text[8192];
    int fd = openat(directory, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n;

    do /* /dev/kmsg says by EPIPE that records are lost meanwhile, and goes on with the next one */
        n = fd < 0 ? -1 : read(fd, text, sizeof text);
    while (n < 0 && fd >= 0 && errno == EPIPE);
    int result = attack_result(n);

    if (fd >= 0)
        close(fd);
    return result ? result : n > 0 ? 0 : ATTACK_NOTHING;
}

static int files_read(char **args)
{
    return files_read_at(AT_FDCWD, args[0]);
}

static int files_list(char **args)
{
    struct dirent *entry;
    DIR *dir = opendir(args[0]);
    int found = 0;

    if (!dir)
        return errno;
    while ((entry = readdir(dir)))
        found |= entry->d_name[0] != '.';
    closedir(dir);
    return found ? 0 : ATTACK_NOTHING;
}

static int files_stat(char **args)
{
    struct stat st;

    return attack_result(stat(args[0], &st));
}

/* Opens for writing and writes nothing. */
static int files_open_write(char **args)
{
    int fd = open(args[0], O_WRONLY | O_APPEND | O_CLOEXEC);
    int result = attack_result(fd);

    if (fd >= 0)
        close(fd);
    return result == ETXTBSY ? 0 : result; /* would be allowed if the program were not running */
}

static int files_create(char **args)
{
    int fd = open(args[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int result = attack_result(fd);

    if (fd >= 0) {
        close(fd);
        unlink(args[0]);
    }
    return result;
}

static int files_mkdir(char **args)
{
    int result = attack_result(mkdir(args[0], 0700));

    if (result == 0)
        rmdir(args[0]);
    return result;
}

static int files_unlink(char **args)
{
    return attack_result(unlink(args[0]));
}

static int files_rename(char **args)
{
    int result = attack_result(rename(args[0], args[1]));

    if (result == 0)
        (void)rename(args[1], args[0]);
    return result;
}

static int files_chmod(char **args)
{
    return attack_result(chmod(args[0], 0666));
}

static int files_truncate(char **args)
{
    return attack_result(truncate(args[0], 4));
}

/* Makes a symbolic link to a path outside and follows it. */
static int files_symlink(char **args)
{
    const char *own = files_own("link");

    unlink(own);
    if (symlink(args[0], own) != 0)
        return errno;
    int result = files_read_at(AT_FDCWD, own);
    unlink(own);
    return result;
}

/* link PATH NEW: a second name for the same file. */
static int files_link(char **args)
{
    int result = attack_result(link(args[0], args[1]));

    if (result == 0)
        unlink(args[1]);
    return result;
}

static int files_dotdot(char **args)
{
    char path[600];

    snprintf(path, sizeof path, "../../../../../../../../../..%s", args[0]);
    return files_read_at(AT_FDCWD, path);
}

/* Tries the root and the working directory of each process. */
static int files_via(const char *pid, void *user)
{
    char path[700];

    snprintf(path, sizeof path, "/proc/%s/root%s", pid, (const char *)user);
    int result = files_read_at(AT_FDCWD, path);
    if (result == 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%s/cwd/../../../../..%s", pid, (const char *)user);
    return files_read_at(AT_FDCWD, path);
}

static int files_via_processes(char **args)
{
    return attack_each_process(files_via, args[0]);
}

static int files_via_self(char **args)
{
    char path[600];

    snprintf(path, sizeof path, "/proc/self/root%s", args[0]);
    return files_read_at(AT_FDCWD, path);
}

/* Tries to overwrite running programs (as CVE-2019-5736 did). For the owner of a running program
 * the kernel returns ETXTBSY before it checks for a read-only mount (do_dentry_open() in
 * fs/open.c); then the directory shows whether the program could be replaced. */
static int files_exe(const char *pid, void *user)
{
    char path[64], program[512], beside[600];

    (void)user;
    snprintf(path, sizeof path, "/proc/%s/exe", pid);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    int result = attack_result(fd);
    ssize_t len = result == ETXTBSY ? readlink(path, program, sizeof program) : -1;
    if (len > 0) {
        snprintf(beside, sizeof beside, "%.*s.new", (int)len, program);
        fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        result = attack_result(fd);
        unlink(beside);
    }
    if (fd >= 0)
        close(fd);
    return result;
}

static int files_write_programs(char **args)
{
    (void)args;
    int result = files_exe("self", NULL);
    return result ? attack_each_process(files_exe, NULL) : 0;
}

/* device MAJOR MINOR DIRECTORY: makes a device there and opens it. */
static int files_device(char **args)
{
    char path[512];

    snprintf(path, sizeof path, "%s/device", args[2]);
    if (mknod(path, S_IFCHR | 0666, makedev((unsigned)atoi(args[0]), (unsigned)atoi(args[1]))) != 0)
        return errno;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int result = attack_result(fd);
    if (fd >= 0)
        close(fd);
    unlink(path);
    return result;
}

static int files_watch(char **args)
{
    int fd = inotify_init1(IN_CLOEXEC);
    int result = fd < 0 ? errno : attack_result(inotify_add_watch(fd, args[0], IN_ALL_EVENTS));

    if (fd >= 0)
        close(fd);
    return result;
}

/* A lease on a file that the user also has outside would make the user wait. */
static int files_lease(char **args)
{
    const char *path = files_own("lease");
    int made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)args;
    if (made < 0)
        return errno;
    close(made);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? errno : attack_result(fcntl(fd, F_SETLEASE, F_WRLCK));
    if (fd >= 0)
        close(fd);
    unlink(path);
    return result;
}

/* A lock of an open file description (fcntl(2)), which could be sent away and kept nowhere. */
static int files_lock(char **args)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    const char *path = files_own("lock");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)args;
    if (fd < 0)
        return errno;
    int result = attack_result(fcntl(fd, F_OFD_SETLK, &lock));
    close(fd);
    unlink(path);
    return result;
}

/* Whoever looks into the directory meanwhile sends this process SIGIO, which would end it. */
static int files_notify(char **args)
{
    void (*before)(int) = signal(SIGIO, SIG_IGN);
    int fd = open(args[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? errno : attack_result(fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MODIFY));

    if (fd >= 0)
        close(fd); /* which ends the watch */
    (void)signal(SIGIO, before);
    return result;
}

const struct attack attack_files[] = {
    {"read", 1, files_read},         {"list", 1, files_list},
    {"stat", 1, files_stat},         {"open-write", 1, files_open_write},
    {"create", 1, files_create},     {"mkdir", 1, files_mkdir},
    {"unlink", 1, files_unlink},     {"rename", 2, files_rename},
    {"chmod", 1, files_chmod},       {"truncate", 1, files_truncate},
    {"symlink", 1, files_symlink},   {"link", 2, files_link},
    {"dotdot", 1, files_dotdot},     {"via-processes", 1, files_via_processes},
    {"via-self", 1, files_via_self}, {"write-programs", 0, files_write_programs},
    {"device", 3, files_device},     {"watch", 1, files_watch},
    {"lease", 0, files_lease},       {"lock-description", 0, files_lock},
    {"notify", 1, files_notify},     {0},
};
