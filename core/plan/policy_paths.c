/* SPDX-License-Identifier: MIT */
/* policy_paths.c - the list of paths of a policy: added in any order, made real, sorted.
 * Side: host.  Input trusted: yes (settings, descriptors of installed runtimes).
 *
 * mount(2) and Landlock follow links when a rule is made.  macOS compares a rule with the resolved
 * path of a file: a rule for /tmp/x never matches, because /tmp is a link to /private/tmp.  So for
 * macOS a policy has real paths, and lists the links on the way, which must be readable.  On macOS
 * itself links are followed; elsewhere, where a plan is only shown, only the links are replaced
 * that every macOS has. */
#include "plan/policy_private.h"

#include "base/path.h"
#include "plan/policy.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>

void laz_policy_paths_add(struct laz_policy_paths *paths, struct laz_policy_path path,
                          const char *host, const char *box)
{
    struct laz_policy_path *item = laz_grow(&paths->items, &paths->n, sizeof *item);

    if (item) {
        *item = path;
        item->host = laz_strdup(host);
        item->box = laz_strdup(box);
    }
    paths->failed |= !item || !item->host || !item->box;
}

void laz_policy_paths_fini(struct laz_policy_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++) {
        free(paths->items[i].host);
        free(paths->items[i].box);
    }
    free(paths->items);
    free(paths->sorted);
    *paths = (struct laz_policy_paths){0};
}

/* ---- real paths ----------------------------------------------------------------------------- */

/* Links in the root directory of macOS, each to its name below /private. */
static const char *const paths_links[] = {"/etc", "/tmp", "/var"};

static char *paths_written_out(const char *path)
{
    for (size_t i = 0; i < sizeof paths_links / sizeof paths_links[0]; i++)
        if (laz_path_is_within(path, paths_links[i]))
            return laz_strdupf("/private%s", path);
    return laz_strdup(path);
}

char *laz_policy_real(const char *path, bool here)
{
    char *real = here ? laz_os_real_path(path) : NULL;

    return real ? real : paths_written_out(path);
}

struct paths_way {
    struct laz_policy_paths *paths;
    struct laz_policy_path link; /* template for the entries of its links */
};

static void paths_add_link(void *user, const char *link, const char *text)
{
    struct paths_way *way = user;

    for (size_t i = 0; i < sizeof paths_links / sizeof paths_links[0]; i++)
        if (strcmp(link, paths_links[i]) == 0)
            return; /* backends know the links of the system */
    char *box = paths_written_out(link);
    if (box)
        laz_policy_paths_add(way->paths, way->link, text, box);
    else
        way->paths->failed = true;
    free(box);
}

/* Replaces a path by its real path, and adds an entry for every link on the way, also for each link
 * of a chain (R.framework/Resources leads to Versions/Current). */
static void paths_make_real(struct laz_policy_paths *paths, size_t i, bool here)
{
    const struct laz_policy_path path = paths->items[i];
    struct paths_way way = {paths, path};
    bool is_link = path.kind == LAZ_PATH_SYMLINK;
    char *real = is_link ? laz_strdup(path.host) : laz_policy_real(path.host, here);
    char *box = is_link ? paths_written_out(path.box) : laz_strdup(real);

    way.link.kind = LAZ_PATH_SYMLINK;
    if (here)
        laz_os_links(path.box, paths_add_link, &way);
    free(path.host);
    free(path.box);
    paths->items[i].host = real;
    paths->items[i].box = box;
    paths->failed |= !real || !box;
}

void laz_policy_paths_real(struct laz_policy_paths *paths, bool here)
{
    const size_t n = paths->n; /* links are appended */

    for (size_t i = 0; i < n; i++)
        paths_make_real(paths, i, here);
}

/* ---- hiding from a template ----------------------------------------------------------------- */

/* True if sessions may write the path, and no other entry names or contains it. */
static bool paths_is_written(const struct laz_policy_paths *paths, size_t n, size_t index)
{
    const struct laz_policy_path *path = &paths->items[index];

    if (path->rank != LAZ_POLICY_WRITE)
        return false;
    for (size_t i = 0; i < n; i++)
        if (paths->items[i].rank == LAZ_POLICY_WRITE &&
            (laz_path_is_below(path->box, paths->items[i].box) ||
             (i < index && strcmp(path->box, paths->items[i].box) == 0)))
            return false;
    return true;
}

/* True if `path` shows a part of `written` under another name. */
static bool paths_is_alias(const struct laz_policy_path *path,
                           const struct laz_policy_path *written)
{
    struct laz_look look, other;
    bool is_alias = false;

    if (path->kind != LAZ_PATH_READ || laz_path_is_within(written->box, path->box))
        return false;
    char *real = laz_os_real_path(path->host), *directory = laz_os_real_path(written->host);
    if (real && directory)
        is_alias = laz_path_is_within(real, directory) || laz_path_is_within(directory, real) ||
                   (!laz_os_look(real, true, &look) && !laz_os_look(directory, true, &other) &&
                    look.device == other.device && look.inode == other.inode);
    free(real);
    free(directory);
    return is_alias;
}

/* Checks that sessions cannot write what the template reads. */
static int paths_check_apart(const struct laz_policy_paths *paths, size_t n,
                             const struct laz_policy_path *written, bool here,
                             struct laz_error *err)
{
    static const char end[] = "a template would run what code has put there before it is confined";

    for (size_t i = 0; i < n; i++) {
        const struct laz_policy_path *path = &paths->items[i];
        if (laz_path_is_within(path->box, written->box)) {
            if (path->kind == LAZ_PATH_READ && path->rank <= LAZ_POLICY_RUNTIME)
                return laz_error_set(err, LAZ_EREFUSED, 0,
                                     "sandbox.write: %s contains %s, from which the language is "
                                     "loaded: %s",
                                     written->box, path->box, end);
        } else if (here && paths_is_alias(path, written)) {
            return laz_error_set(err, LAZ_EREFUSED, 0,
                                 "sandbox.write: what lies in %s can be read under %s, too: %s",
                                 written->box, path->box, end);
        }
    }
    return 0;
}

/* Moves those of the first `n` entries that are within `from` to another directory. */
static void paths_move(struct laz_policy_paths *paths, size_t n, const char *from, const char *to)
{
    for (size_t i = 0; i < n; i++) {
        struct laz_policy_path *path = &paths->items[i];
        if (!laz_path_is_within(path->box, from))
            continue;
        char *moved = laz_strdupf("%s%s", to, path->box + strlen(from));
        if (!moved) {
            paths->failed = true;
            return;
        }
        free(path->box);
        path->box = moved;
    }
}

int laz_policy_paths_hide(struct laz_policy_paths *paths, const char *empty, bool here,
                          struct laz_strv *shown, struct laz_error *err)
{
    const struct laz_policy_path cover = {
        .kind = LAZ_PATH_READ, .rank = LAZ_POLICY_OWN, .from_settings = true};
    const size_t n = paths->n; /* covers are appended */
    struct laz_look look;
    int rc = 0;

    for (size_t i = 0; i < n && !rc && !paths->failed; i++) {
        if (!paths_is_written(paths, n, i))
            continue;
        rc = paths_check_apart(paths, n, &paths->items[i], here, err);
        char *from = laz_strdup(paths->items[i].box);
        char *to = laz_strdupf("%s%zu", LAZ_BOX_WRITE, shown->n / 2);
        bool is_file =
            laz_os_look(paths->items[i].host, true, &look) == 0 && look.kind != LAZ_LOOK_DIRECTORY;
        if (!from || !to) {
            paths->failed = true;
        } else if (!rc) {
            paths_move(paths, n, from, to);
            laz_policy_paths_add(paths, cover, is_file ? "/dev/null" : empty, from);
            laz_strv_add(shown, to);
            laz_strv_add(shown, from);
        }
        free(from);
        free(to);
    }
    if (!rc && (paths->failed || shown->failed))
        rc = laz_error_nomem(err);
    return rc;
}

/* ---- order ---------------------------------------------------------------------------------- */

static int paths_compare(const void *a, const void *b)
{
    const struct laz_policy_path *x = a, *y = b;
    int order = strcmp(x->box, y->box);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static bool paths_is_covered(const struct laz_policy_paths *paths,
                             const struct laz_policy_path *path)
{
    if (path->from_settings || path->rank != LAZ_POLICY_SYSTEM)
        return false;
    for (size_t i = 0; i < paths->n; i++)
        if (paths->items[i].from_settings && laz_path_is_within(path->box, paths->items[i].box))
            return true;
    return false;
}

/* True if a path of the system or the runtime needs no entry, because a directory shows it anyway,
 * read-only and at its place. */
static bool paths_is_shown(const struct laz_policy_paths *paths, const struct laz_policy_path *path)
{
    const struct laz_policy_path *above = NULL;

    if (path->rank > LAZ_POLICY_RUNTIME || path->kind == LAZ_PATH_CONTENT ||
        (path->kind == LAZ_PATH_READ && strcmp(path->host, path->box) != 0))
        return false;
    for (size_t i = 0; i < paths->n; i++) /* the innermost decides */
        if (laz_path_is_below(path->box, paths->items[i].box) &&
            (!above || strlen(above->box) < strlen(paths->items[i].box)))
            above = &paths->items[i];
    return above && above->kind == LAZ_PATH_READ && strcmp(above->host, above->box) == 0;
}

int laz_policy_paths_sort(struct laz_policy_paths *paths, struct laz_error *err)
{
    struct laz_policy_path *items = paths->items;

    if (paths->failed)
        return laz_error_nomem(err);
    paths->sorted = calloc(paths->n ? paths->n : 1, sizeof *paths->sorted);
    if (!paths->sorted)
        return laz_error_nomem(err);
    if (paths->n)
        qsort(items, paths->n, sizeof *items, paths_compare);
    for (size_t i = 0; i < paths->n; i++) {
        if (paths_is_covered(paths, &items[i]) || paths_is_shown(paths, &items[i]))
            continue;
        if (i + 1 < paths->n && strcmp(items[i].box, items[i + 1].box) == 0)
            continue;
        paths->sorted[paths->n_sorted++] = (struct laz_path){.kind = items[i].kind,
                                                             .optional = items[i].optional,
                                                             .host = items[i].host,
                                                             .box = items[i].box};
    }
    return 0;
}
