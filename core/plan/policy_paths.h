/* SPDX-License-Identifier: MIT */
/* policy_paths.h - the list of paths of a policy while it is put together, and in its order. */
#ifndef LAZ_PLAN_POLICY_PATHS_H
#define LAZ_PLAN_POLICY_PATHS_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/backend.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum laz_policy_rank { /* among paths of the same name the higher one wins */
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
    bool failed; /* want of memory */
};

/* Copies the texts. */
void laz_policy_paths_add(struct laz_policy_paths *paths, struct laz_policy_path path,
                          const char *host, const char *box);
/* Fills `sorted`: each name once, a path after every folder it lies in, nothing of the system's
 * over what the settings show. */
int laz_policy_paths_sort(struct laz_policy_paths *paths, struct laz_error *err);
/* For a template: moves what sessions may write to LAZ_BOX_WRITE, with all that lies in it, and
 * puts the folder `empty` of the host in its place. Appends pairs to `shown`: where it is now, and
 * where a session has to find it. LAZ_EREFUSED: what the template reads from would show it all the
 * same. */
int laz_policy_paths_hide(struct laz_policy_paths *paths, const char *empty, bool here,
                          struct laz_strv *shown, struct laz_error *err);
void laz_policy_paths_fini(struct laz_policy_paths *paths);

/* Its paths begin with a drive and may have backslashes; in a list they have slashes. */
bool laz_policy_is_windows(const char *platform);
void laz_policy_replace(char *path, char old, char by);

/* Does a system compare the paths of its rules with those that files really have? */
bool laz_policy_is_by_real_paths(const char *platform);
/* That path of macOS, a new string (NULL without memory): every link is followed where it is
 * `here`, and there; else the links are written out that every macOS has in its root (/tmp). */
char *laz_policy_real(const char *path, bool here);
/* Makes all paths real. A name that leads elsewhere stays, as a link beside the path. */
void laz_policy_paths_real(struct laz_policy_paths *paths, bool here);

#endif
