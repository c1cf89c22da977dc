/* SPDX-License-Identifier: MIT */
/* groups.c (tests) - which control groups a session gets here, and a host that has none. */
#include "groups.h"

#include "unit.h"

#include "base/buf.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

const char *groups_counted_by(enum laz_cgroup_what what)
{
    struct laz_cgroups *groups = NULL;
    const char *by = NULL;

    if (laz_cgroups_new(true, &groups, NULL) == 0)
        by = laz_cgroups_mechanism(groups, what, false);
    laz_cgroups_free(groups); /* the name is a constant */
    return by ? by : "watchdog";
}

bool groups_can_be_hidden(void)
{
    return strcmp(groups_counted_by(LAZ_CGROUP_MEMORY), "watchdog") != 0;
}

int groups_enter(void)
{
    int back = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

    CU_ASSERT_FATAL(back >= 0 && unshare(CLONE_NEWNS) == 0);
    CU_ASSERT_FATAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    return back;
}

void groups_hide(void)
{
    CU_ASSERT_FATAL(mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY, NULL) == 0);
}

void groups_show(int back)
{
    CU_ASSERT_EQUAL(setns(back, CLONE_NEWNS), 0);
    laz_os_close(&back);
}

/* ---- what a test uses ----------------------------------------------------------------------- */

static char *measured, *unmeasured; /* directories of the group, and of the one before */
static int used_fd = -1, peak_fd = -1;
static uint64_t used_before;

static int groups_file(const char *directory, const char *file, int flags)
{
    char *path = laz_strdupf("%s/%s", directory, file);
    int fd = path ? open(path, flags | O_CLOEXEC) : -1;

    free(path);
    return fd;
}

static bool groups_move(const char *directory)
{
    char text[24];
    int fd = groups_file(directory, "cgroup.procs", O_WRONLY);
    int n = snprintf(text, sizeof text, "%ld", (long)getpid());
    bool moved = fd >= 0 && write(fd, text, (size_t)n) == n;

    laz_os_close(&fd);
    return moved;
}

static uint64_t groups_number(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    CU_ASSERT_FATAL(n > 0);
    text[n] = '\0';
    return strtoull(text, NULL, 10);
}

bool groups_measure(void)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, groups = LAZ_BUF_INIT;
    size_t top;

    if (laz_os_read_file("/proc/self/cgroup", 1 << 20, &groups, NULL) == 0 &&
        laz_os_read_file("/proc/self/mountinfo", 1 << 20, &mountinfo, NULL) == 0)
        unmeasured =
            laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&groups), "memory", &top);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&groups);
    measured = unmeasured ? laz_strdupf("%s/test-%ld", unmeasured, (long)getpid()) : NULL;
    if (measured && mkdir(measured, 0755) == 0 && groups_move(measured)) {
        used_fd = groups_file(measured, "memory.usage_in_bytes", O_RDONLY);
        peak_fd = groups_file(measured, "memory.max_usage_in_bytes", O_RDWR);
        if (used_fd >= 0 && peak_fd >= 0)
            return true;
    }
    groups_measure_end();
    return false;
}

void groups_measure_from_here(void)
{
    if (!measured)
        return;
    CU_ASSERT_EQUAL(pwrite(peak_fd, "0", 1, 0), 1);
    used_before = groups_number(used_fd);
}

uint64_t groups_grown_bytes(void)
{
    uint64_t peak = measured ? groups_number(peak_fd) : 0;

    return peak > used_before ? peak - used_before : 0;
}

void groups_measure_end(void)
{
    if (measured) {
        (void)groups_move(unmeasured);
        for (int ms = 0; rmdir(measured) != 0 && errno == EBUSY && ms < UNIT_HANG_MS; ms++)
            (void)poll(NULL, 0, 1); /* a group is removed later than its last process */
    }
    laz_os_close(&used_fd);
    laz_os_close(&peak_fd);
    free(measured);
    free(unmeasured);
    measured = unmeasured = NULL;
}
