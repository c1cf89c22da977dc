/* SPDX-License-Identifier: MIT */
/* policy_protect.c - what stays read-only in the directories that code may write (sandbox.protect).
 * Side: host.  Input trusted: the settings yes; what lies in the directories no.
 *
 * What is missing is protected where its path ends: of .git/hooks without .git that is .git.  A
 * file in place of a directory (.git of a worktree) is protected itself.  Each directory on the way
 * becomes a mount of its own, which code cannot move away (rename(2), EBUSY).  A link cannot be
 * mounted on, and code could replace it: it is refused. */
#include "base/path.h"
#include "os/paths.h"
#include "os/placeholder.h"
#include "os/spawner.h"
#include "plan/policy_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a name leads below a directory. */
struct protect_way {
    const struct laz_policy_protect *protect;
    struct laz_policy_paths *paths;
    const char *directory, *name;
};

static bool protect_is_listed(const struct laz_policy_paths *paths, enum laz_policy_rank rank,
                              const char *path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (paths->items[i].rank == (unsigned)rank && strcmp(paths->items[i].box, path) == 0)
            return true;
    return false;
}

static void protect_add(const struct protect_way *way, uint32_t kind, enum laz_policy_rank rank,
                        const char *path)
{
    if (!protect_is_listed(way->paths, rank, path))
        laz_policy_paths_add(
            way->paths, (struct laz_policy_path){.kind = kind, .rank = rank, .from_settings = true},
            path, path);
}

/* Looks at one part of the way. *ends: it leads no further. */
static int protect_look(const struct protect_way *way, const char *path, bool *ends,
                        struct laz_error *err)
{
    const uint32_t uid = way->protect->uid;
    struct laz_look look;
    int failed = laz_os_look(path, false, &look);

    *ends = true;
    if (failed == ENOENT)
        return 0;
    if (failed)
        return laz_error_set(err, LAZ_ECONFIG, failed, "sandbox.protect: %s: %s", path,
                             laz_errno_text(failed));
    if (look.kind == LAZ_LOOK_LINK)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "sandbox.protect: %s is a link, which code could replace: name %s no "
                             "more in sandbox.protect, or put a file or directory in its place",
                             path, way->name);
    *ends = look.kind != LAZ_LOOK_DIRECTORY || laz_os_is_placeholder(&look) ||
            (uid != LAZ_SPAWN_SAME_ID && !laz_os_is_reachable(path, uid, false));
    return 0;
}

/* Goes as far as there is something, and protects where that ends. */
static int protect_go(const struct protect_way *way, struct laz_error *err)
{
    const struct laz_policy_protect *protect = way->protect;
    const size_t before = strlen(way->directory) + 1;
    char *path = laz_strdupf("%s/%s", way->directory, way->name);
    bool ends = false;
    int rc = path ? 0 : laz_error_nomem(err);

    for (char *at = path ? strchr(path + before, '/') : NULL; !rc && !ends;
         at = at ? strchr(at + 1, '/') : NULL) {
        if (at)
            *at = '\0';
        if (protect->here)
            rc = protect_look(way, path, &ends, err);
        ends |= !at;
        if (!rc && !ends && protect->own_files)
            protect_add(way, LAZ_PATH_WRITE, LAZ_POLICY_PIN, path);
        if (at && !ends)
            *at = '/';
    }
    if (!rc && !protect_is_listed(way->paths, LAZ_POLICY_WRITE, path) &&
        !protect_is_listed(way->paths, LAZ_POLICY_PROTECT, path)) {
        protect_add(way, LAZ_PATH_PROTECTED, LAZ_POLICY_PROTECT, path);
        if (protect->own_files) {
            laz_strv_add(protect->protects, way->directory);
            laz_strv_add(protect->protects, path + before);
        }
    }
    free(path);
    return rc;
}

/* One name in one directory; below .git of sandbox.write, hooks is .git/hooks. */
static int protect_name(struct protect_way *way, const char *name, struct laz_error *err)
{
    int rc = 0;

    for (const char *rest = name; rest && !rc; rest = strchr(rest, '/')) {
        rest += rest != name;
        const size_t n = rest == name ? 0 : (size_t)(rest - name - 1), len = strlen(way->directory);
        way->name = rest;
        if (!n || (len > n && way->directory[len - n - 1] == '/' &&
                   strncmp(way->directory + len - n, name, n) == 0))
            rc = protect_go(way, err);
    }
    return rc;
}

int laz_policy_protect(const struct laz_policy_protect *protect, struct laz_policy_paths *paths,
                       struct laz_error *err)
{
    const size_t n = paths->n; /* protected ones are appended */
    struct laz_look look;
    int rc = 0;

    for (size_t i = 0; i < n && !rc && !paths->failed; i++) {
        if (paths->items[i].rank != LAZ_POLICY_WRITE ||
            (protect->here &&
             (laz_os_look(paths->items[i].host, true, &look) || look.kind != LAZ_LOOK_DIRECTORY)))
            continue;
        char *directory = protect->by_real ? laz_policy_real(paths->items[i].host, protect->here)
                                           : laz_strdup(paths->items[i].host);
        struct protect_way way = {.protect = protect, .paths = paths, .directory = directory};
        if (!directory)
            rc = laz_error_nomem(err);
        for (size_t k = 0; k < protect->names->n && !rc; k++)
            rc = protect_name(&way, protect->names->items[k], err);
        free(directory);
    }
    return rc;
}
