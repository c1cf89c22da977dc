/* SPDX-License-Identifier: MIT */
/* cgroup_files.c - reading and writing the files of a control group.  System: Linux.
 * Side: host.  Input trusted: yes (files of the kernel). */
#include "os/descriptors.h"
#include "os/linux/cgroup.h"
#include "os/linux/proc.h"
#include "os/pidfd.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP_KILL_MS 5
#define CGROUP_PATH    (CGROUP_DIRECTORY_MAX + 320)

int cgroup_file(const char *directory, const char *file, int flags)
{
    char path[CGROUP_PATH];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return laz_posix_above(open(path, flags | O_CLOEXEC));
}

int cgroup_write(const char *directory, const char *file, const char *text)
{
    char path[CGROUP_PATH];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return proc_write(path, text);
}

bool cgroup_read(const char *directory, const char *file, char *text, size_t size)
{
    int fd = cgroup_file(directory, file, O_RDONLY);
    bool read = proc_text(fd, text, size);

    laz_os_close(&fd);
    return read;
}

void cgroup_lend_spare(struct laz_cgroups *groups)
{
    for (int i = 0; i < CGROUP_SPARES; i++)
        laz_os_close(&groups->spare[i]);
}

int cgroup_renew_spare(struct laz_cgroups *groups)
{
    int failed = 0;

    for (int i = 0; i < CGROUP_SPARES && !failed; i++) {
        if (groups->spare[i] < 0)
            groups->spare[i] = laz_posix_above(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        failed = groups->spare[i] < 0 ? errno : 0;
    }
    return failed;
}

/* Kills a process as long as it is in the group: not another one that got its number. */
static void cgroup_kill_one(pid_t pid, const char *directory)
{
    char text[8192];
    int pidfd = laz_os_pidfd(pid);

    if (pidfd >= 0 && proc_read(pid, "cgroup", text, sizeof text) &&
        laz_cgroup_is_named(text, strrchr(directory, '/') + 1))
        laz_os_pidfd_kill(pidfd);
    laz_os_close(&pidfd);
}

bool cgroup_kill_all(const char *directory, int version, int rounds)
{
    char text[64 << 10];

    if (version == 2 && cgroup_write(directory, "cgroup.kill", "1") == 0) /* Linux 5.14 */
        return true;
    /* no new process starts while they are killed */
    (void)cgroup_write(directory, "pids.max", "0");
    for (int round = 0; round < rounds; round++) {
        if (!cgroup_read(directory, "cgroup.procs", text, sizeof text))
            return errno == ENOENT || errno == ENODEV; /* the group is gone, or nothing is known */
        if (!*text)
            return true;
        for (char *p = text; *p;) {
            char *end;
            long pid = strtol(p, &end, 10);
            if (end == p || *end != '\n')
                break; /* the last number was cut off: the next round reads it */
            if (pid > 0)
                cgroup_kill_one((pid_t)pid, directory);
            p = end + 1;
        }
        if (round + 1 < rounds && cgroup_read(directory, "cgroup.procs", text, sizeof text) &&
            *text)
            (void)poll(NULL, 0, CGROUP_KILL_MS);
    }
    return false;
}
