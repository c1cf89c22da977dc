/* SPDX-License-Identifier: MIT */
/* uids.h - a uid of its own for each session, when lazaret runs as root. */
#ifndef LAZ_OS_UIDS_H
#define LAZ_OS_UIDS_H

#include "base/error.h"

/* Uids to assign, one for each session. `range` is "auto" or "FIRST-LAST". Several processes on a
 * machine share a range: a uid in use is locked, and the lock ends with its process. An engine
 * needs one descriptor for all of its uids. */
struct laz_uids;
int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err);
void laz_uids_free(struct laz_uids *uids);
int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
void laz_uids_give_back(struct laz_uids *uids, uint32_t uid);

/* As root: kills every process of a uid that belongs to no person and no service. False: that was
 * not possible, and the uid must not be assigned again. Any thread. */
bool laz_os_end_all_of(uint32_t uid);

#endif
