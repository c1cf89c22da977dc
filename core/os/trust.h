/* SPDX-License-Identifier: MIT */
/* trust.h - files that lazaret itself relies on: what configures it, what it loads, what it runs.
 *
 * A user who can change such a file decides what this process does.  One rule holds for all of
 * them:
 *
 * - it is a regular file, or a directory, of root or of the user of this process, and no other user
 *   can write it: neither others nor a group, except root's own group and one whose only members
 *   are its owner or this user;
 * - the same holds for every directory and every link on the way to it, as the path is written and
 *   as its links lead, because a user who can write a directory can replace what is in it.  A
 *   directory in which users cannot remove the files of others (sticky, as /tmp) may be on the way;
 *   what is in it has to belong to root or to the user;
 * - where "/" belongs to neither (a user namespace that does not map root: 65534), its owner may
 *   have what root may, except below a sticky directory.
 *
 * Because no other user can replace a part of the way, what is used under the path right after the
 * check is what was checked.  On Windows access lists are not judged (docs/platforms.md). */
#ifndef LAZ_OS_TRUST_H
#define LAZ_OS_TRUST_H

#include "base/buf.h"
#include "base/error.h"

/* Errors of all: LAZ_EREFUSED names the file or directory, its owner or mode, and the remedy;
 * LAZ_EOS is the system's reason (ENOENT: it does not exist). */

/* A file at an absolute path that is loaded or run by this path immediately afterwards. */
int laz_trust_file(const char *path, struct laz_error *err);
/* A directory at an absolute path; other users may not write it even if it is sticky. */
int laz_trust_directory(const char *path, struct laz_error *err);
/* The whole content, at most `max` bytes, of a file that is opened once; also by a relative path.
 */
int laz_trust_read(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err);
/* The same of a key or a token, which nobody but its owner may be able to read either. The caller
 * wipes what was read. */
int laz_trust_secret(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err);

#endif
