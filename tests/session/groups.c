/* SPDX-License-Identifier: MIT */
/* groups.c (tests) - which control groups a session gets here, and a host that has none. */
#include "groups.h"

#include "unit.h"

#include "base/buf.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/files.h"

#include <fcntl.h>
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

static bool groups_move(const char *directory)
{
    char *path = laz_strdupf("%s/cgroup.procs", directory);
    FILE *file = path ? fopen(path, "we") : NULL;
    bool moved = file && fprintf(file, "%ld", (long)getpid()) > 0;

    moved &= file && fclose(file) == 0;
    free(path);
    return moved;
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
    if (measured && mkdir(measured, 0755) == 0 && groups_move(measured))
        return true;
    groups_measure_end();
    return false;
}

uint64_t groups_peak_bytes(void)
{
    char *path = laz_strdupf("%s/memory.max_usage_in_bytes", measured);
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(laz_os_read_file(path, 64, &text, NULL), 0);
    uint64_t bytes = strtoull(laz_buf_text(&text), NULL, 10);
    laz_buf_fini(&text);
    free(path);
    return bytes;
}

void groups_measure_end(void)
{
    if (measured) {
        (void)groups_move(unmeasured);
        (void)rmdir(measured);
    }
    free(measured);
    free(unmeasured);
    measured = unmeasured = NULL;
}
