/* SPDX-License-Identifier: MIT */
/* descriptors.c - data in memory as a descriptor, and closing ranges of descriptors.
 * System: Linux.
 *
 * A memfd holds secrets (a token, for example) that must be neither on a command line nor on a
 * disk; its seals keep one reader from changing what another reads.  Closing by range must also
 * work in a child between fork and exec, so it uses system calls only. */
#include "os/descriptors.h"

#include "os/io.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err)
{
    size_t done;
    int memory = laz_posix_above(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

    if (memory < 0)
        return laz_error_os(err, errno, "cannot create a memory file for %s", name);
    int failed = laz_os_write_all(memory, data, len, &done);
    if (!failed &&
        (lseek(memory, 0, SEEK_SET) != 0 ||
         fcntl(memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0))
        failed = errno;
    if (failed) {
        (void)close(memory);
        return laz_error_os(err, failed, "the memory file for %s could not be filled", name);
    }
    *fd = memory;
    return 0;
}

struct fds_dirent { /* the output of getdents64, linux_dirent64 of getdents(2) */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Number of a /proc/self/fd entry, or -1. */
static long fds_number(const char *name)
{
    long number = 0;

    if (!*name)
        return -1;
    for (; *name; name++) {
        if (*name < '0' || *name > '9' || number > INT_MAX / 10)
            return -1;
        number = number * 10 + (*name - '0');
    }
    return number;
}

/* For kernels before 5.9: one pass over /proc/self/fd. 1: it closed something, 0: there was nothing
 * to close, -1: not known. */
static int fds_close_listed(unsigned first, unsigned last)
{
    _Alignas(struct fds_dirent) char buf[4096];
    bool closed = false;
    long n;
    int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return -1;
    while ((n = syscall(SYS_getdents64, dir, buf, sizeof buf)) > 0) {
        for (long at = 0; at < n;) {
            const struct fds_dirent *entry = (const struct fds_dirent *)(const void *)(buf + at);
            long fd = fds_number(entry->name);
            if (fd >= 0 && fd != dir && (unsigned long)fd >= first && (unsigned long)fd <= last)
                closed |= close((int)fd) == 0;
            at += entry->length;
        }
    }
    (void)close(dir);
    return n < 0 ? -1 : closed;
}

bool laz_os_close_range(unsigned first, unsigned last)
{
    int rc;

    if (first > last)
        return true;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0u) == 0)
        return true;
#endif
    do
        rc = fds_close_listed(first, last);
    while (rc > 0);
    return rc == 0;
}

void laz_os_close_from(int first, int keep)
{
    unsigned from = first < 0 ? 0u : (unsigned)first;

    if (keep < first) {
        (void)laz_os_close_range(from, UINT_MAX);
        return;
    }
    if ((unsigned)keep > from)
        (void)laz_os_close_range(from, (unsigned)keep - 1);
    (void)laz_os_close_range((unsigned)keep + 1, UINT_MAX);
}

int laz_posix_pipe(int ends[2])
{
    return laz_posix_above_both(pipe2(ends, O_CLOEXEC), ends);
}

int laz_os_dup_onto(int fd, int number)
{
    return dup3(fd, number, O_CLOEXEC);
}
