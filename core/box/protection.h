/* SPDX-License-Identifier: MIT */
/* protection.h - keeps what sandbox.protect names as a box has it mounted.
 *
 * When somebody on the host removes or replaces a file on which another mount namespace has
 * something mounted, that mount is gone (mount_namespaces(7)), and code could write what is there
 * now.  So each path is remembered by its identity, and a box whose paths are others by now runs no
 * more code.  What is missing has a placeholder until the last box that needs it has ended. */
#ifndef LAZ_BOX_PROTECTION_H
#define LAZ_BOX_PROTECTION_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

struct laz_protection; /* shared by all boxes of an engine that began alike */

/* Gives that of these pairs (struct laz_policy_box): *last, if it holds for the same, or a new one,
 * which becomes *last. The caller drops it. */
int laz_protection_take(struct laz_protection **last, const struct laz_strv *pairs,
                        struct laz_protection **protection, struct laz_error *err);
/* For another box; NULL: there is none. */
struct laz_protection *laz_protection_share(struct laz_protection *protection);
void laz_protection_drop(struct laz_protection *protection);
/* NULL: each path is what it was (or `protection` is NULL); else the first that is not. */
const char *laz_protection_lost(const struct laz_protection *protection);

/* The first path that a message about a refusal of the system names, whole or from its directory
 * on; NULL: none. */
const char *laz_protection_named(const struct laz_protection *protection, const char *message);

#endif
