/* SPDX-License-Identifier: MIT */
/* append.h - a file that several processes append to, and that nobody else can get at. */
#ifndef LAZ_OS_APPEND_H
#define LAZ_OS_APPEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct laz_append {
    const char *path; /* absolute; borrowed until close */
    int fd;           /* -1: not open */
};

#define LAZ_APPEND_INIT(name)                                                                      \
    {                                                                                              \
        .path = (name), .fd = -1                                                                   \
    }

/* Opens the file, and makes it (mode 0600) and the folders above it (0700) where they are missing.
 * LAZ_ECONFIG, with the remedy: it is a link, no regular file, has a second name, belongs to
 * somebody else, or lies where somebody else could exchange it. LAZ_EOS: the system's reason. */
int laz_append_open(struct laz_append *file, struct laz_error *err);
/* Takes the lock under which the file may be looked at and written, waiting at most `most_ms`.
 * A file that was renamed or removed (log rotation), or is not open, is opened; then *reopened is
 * true.
 * *size: of the file now. Errors: as open; LAZ_ETIMEOUT when another process keeps the lock. */
int laz_append_lock(struct laz_append *file, uint64_t most_ms, bool *reopened, uint64_t *size,
                    struct laz_error *err);
void laz_append_unlock(struct laz_append *file);
/* Under the lock: bytes from `offset` on; -1 with an error. */
ssize_t laz_append_read(const struct laz_append *file, uint64_t offset, void *data, size_t len,
                        struct laz_error *err);
/* Under the lock: all of the bytes at the end, which is at `size`, or none where the file system
 * lets them be taken back. `sync`: on the disk before it returns. A limit on the size of files
 * (RLIMIT_FSIZE) is an error like a full disk, and no signal. */
int laz_append_write(struct laz_append *file, uint64_t size, const void *data, size_t len,
                     bool sync, struct laz_error *err);
void laz_append_close(struct laz_append *file);

/* For readers of such a file: its size at a moment when nobody writes. Without a lock to be had,
 * its size. */
int laz_append_size(int fd, uint64_t *size, struct laz_error *err);

#endif
