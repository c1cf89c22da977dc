/* SPDX-License-Identifier: MIT */
/* policy_paths.h - the list of paths of a policy, while it is made and when it is sorted. */
#ifndef LAZ_PLAN_POLICY_PATHS_H
#define LAZ_PLAN_POLICY_PATHS_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/backend.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum laz_policy_rank { /* of entries for the same path, the highest rank counts */
                       LAZ_POLICY_SYSTEM,
                       LAZ_POLICY_RUNTIME,
                       LAZ_POLICY_PIN,
                       LAZ_POLICY_READ,
                       LAZ_POLICY_WRITE,
                       LAZ_POLICY_OWN
};

struct laz_policy_path {
    uint32_t kind, optional; /* LAZ_PATH_* */
    char *host, *box;
    unsigned rank;
    bool from_settings;
};

struct laz_policy_paths { /* begins as {0} */
    struct laz_policy_path *items;
    size_t n, cap;
    struct laz_path *sorted; /* for the backend; borrows from the items */
    size_t n_sorted;
    bool failed; /* an allocation failed */
};

/* Copies the texts. */
void laz_policy_paths_add(struct laz_policy_paths *paths, struct laz_policy_path path,
                          const char *host, const char *box);
/* Fills `sorted`: each path once, after the directories that contain it, and no path of the system
 * over what the settings show. LAZ_ENOMEM. */
int laz_policy_paths_sort(struct laz_policy_paths *paths, struct laz_error *err);
/* For a template: moves what sessions may write to LAZ_BOX_WRITE, with everything inside, and puts
 * `empty`, a directory of the host, in its place. Appends pairs to `shown`: the new path, and the
 * path in a session. LAZ_EREFUSED: the template could read it under another path. */
int laz_policy_paths_hide(struct laz_policy_paths *paths, const char *empty, bool here,
                          struct laz_strv *shown, struct laz_error *err);
void laz_policy_paths_fini(struct laz_policy_paths *paths);

/* The real path of `path` on macOS, a new string (NULL: out of memory). With `here`, links are
 * followed if the path exists; else only the links are replaced that every macOS has (/tmp). */
char *laz_policy_real(const char *path, bool here);
/* Replaces all paths by real ones, and adds an entry for each link on the way. */
void laz_policy_paths_real(struct laz_policy_paths *paths, bool here);

#endif
