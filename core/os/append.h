/* SPDX-License-Identifier: MIT */
/* append.h - a file that several processes append to, and that no other user can access. */
#ifndef LAZ_OS_APPEND_H
#define LAZ_OS_APPEND_H

#include "base/error.h"

#include <sys/types.h>

struct laz_append {
    const char *path; /* absolute; borrowed until close */
    int fd;           /* -1: not open */
};

#define LAZ_APPEND_INIT(name) ((struct laz_append){.path = (name), .fd = -1})

/* Opens the file; creates it (mode 0600) and the directories above it (0700) where they are
 * missing. LAZ_ECONFIG, with the remedy: it is a link, not a regular file, has a second name,
 * belongs to another user, or another user could replace it. LAZ_EOS: the system's reason. */
int laz_append_open(struct laz_append *file, struct laz_error *err);
/* Takes the lock under which the file may be read and written, waiting at most `most_ms`. A file
 * that was renamed or removed (log rotation), or is not open, is opened; then *reopened is true.
 * *size: the present size of the file. Errors: as open; LAZ_ETIMEOUT when another process keeps the
 * lock. */
int laz_append_lock(struct laz_append *file, uint64_t most_ms, bool *reopened, uint64_t *size,
                    struct laz_error *err);
void laz_append_unlock(struct laz_append *file);
/* Under the lock: reads bytes from `offset` on; -1 with an error. */
ssize_t laz_append_read(const struct laz_append *file, uint64_t offset, void *data, size_t len,
                        struct laz_error *err);
/* Under the lock: writes all of the bytes at the end, which is at `size`, or none where the file
 * system lets a partial write be undone. `sync`: they are on the disk before it returns. Exceeding
 * the limit on file sizes (RLIMIT_FSIZE) is an error like a full disk, and raises no signal. */
int laz_append_write(struct laz_append *file, uint64_t size, const void *data, size_t len,
                     bool sync, struct laz_error *err);
void laz_append_close(struct laz_append *file);

/* For readers of such a file: its size at a moment when no process writes. Where the lock is not
 * available, its present size. */
int laz_append_size(int fd, uint64_t *size, struct laz_error *err);

#endif
