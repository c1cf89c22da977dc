/* SPDX-License-Identifier: MIT */
/* trust.h - files that lazaret itself relies on: what configures it, what it loads, what it runs.
 *
 * Whoever can change such a file decides what this process does.  One rule holds for all of them:
 *
 * - it is a regular file, or a folder, of root or of the user of this process, and nobody else can
 *   write it: neither others nor a group, but for root's own and one in which only its owner or
 *   this user is;
 * - the same holds for every folder and every link on the way to it, as the path is written and as
 *   its links lead, for who can write a folder can exchange what is in it.  A folder in which
 *   nobody can take away what is another's (sticky, as /tmp) may be on the way; what lies in it has
 *   to belong to root or to the user;
 * - where "/" belongs to neither (a user namespace that has no name for root: 65534), its owner may
 *   have what root may, but below a sticky folder.
 *
 * As nobody else can exchange a part of the way, what is used under the path right after the check
 * is what was checked.  On Windows access lists are not judged (docs/platforms.md). */
#ifndef LAZ_OS_TRUST_H
#define LAZ_OS_TRUST_H

#include "base/buf.h"
#include "base/error.h"

/* All of them: LAZ_EREFUSED names the file or folder, its owner or mode, and the remedy; LAZ_EOS is
 * the system's reason (ENOENT: it is not there). */

/* A file at an absolute path that is loaded or run by it, at once. */
int laz_trust_file(const char *path, struct laz_error *err);
/* A folder at an absolute path; itself it may not be written by others even if it is sticky. */
int laz_trust_folder(const char *path, struct laz_error *err);
/* The whole content, at most `max` bytes, of a file that is opened once; also by a relative path.
 */
int laz_trust_read(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err);

#endif
