/* SPDX-License-Identifier: MIT */
/* programs_stage.c - makes directories with only the listed programs, for boxes to show.
 * Side: host.  Input trusted: yes (settings, programs of this host).
 *
 * A mount takes 0.15 ms for each of some forty programs, since bubblewrap reads the table of mounts
 * every time.  So each directory of programs is replaced by one that is mounted as a whole: links
 * as they are, small programs as copies, large ones as empty files to mount over.  The same is done
 * with small files of /etc and those with a fixed content.  Copies lose set-user-ID and
 * capabilities, which a box does not honour anyway; hard links would change the host's own files
 * (their link count and ctime).  The directory is made once for all engines of the user
 * (programs_share.c), or, if that fails, in the engine's own directory.  Where programs cannot be
 * executed on that file system, all are mounted. */
#include "plan/programs.h"

#include "base/path.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/system.h"
#include "os/users.h"

#include <stdlib.h>
#include <string.h>

#define STAGE_EMPTY ".empty" /* shown for directories without a listed program */

/* True if the part is in a staged directory. */
static bool stage_has(const struct laz_programs_part *part)
{
    return part->directory && !part->directory->whole;
}

/* /etc, if it is staged: for programs of this host, unless all of it was listed. */
static struct laz_programs_directory *stage_etc_directory(const struct laz_programs *programs)
{
    for (size_t i = 0; i < programs->n_directories; i++)
        if (strcmp(programs->directories[i].path, LAZ_PROGRAMS_ETC) == 0 &&
            !programs->directories[i].whole)
            return &programs->directories[i];
    return NULL;
}

bool laz_programs_has_etc(const struct laz_programs *programs, const char *path)
{
    const char *box, *text;

    if (!stage_etc_directory(programs) || !laz_path_is_below(path, LAZ_PROGRAMS_ETC))
        return false;
    for (size_t i = 0; laz_policy_content(i, programs->network, &box, &text); i++)
        if (strcmp(box, path) == 0)
            return true;
    return laz_strv_has(&programs->etc, path);
}

void laz_programs_paths(const struct laz_programs *programs, const char *staged,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user)
{
    for (size_t i = 0; i < programs->n_directories; i++) {
        const struct laz_programs_directory *directory = &programs->directories[i];
        if (directory->whole || (!directory->used && !directory->among_libraries))
            continue;
        char *host =
            laz_strdupf("%s%s", staged, directory->used ? directory->path : "/" STAGE_EMPTY);
        visit(user, LAZ_PATH_READ, host, directory->path);
        free(host);
    }
    for (size_t i = 0; i < programs->n_parts; i++) {
        const struct laz_programs_part *part = &programs->parts[i];
        if (!stage_has(part) || part->mounted)
            visit(user, part->kind, part->text, part->path);
    }
}

/* ---- staging -------------------------------------------------------------------------------- */

/* Gives the path of `box` below `staged`, and makes the directories on it up to its last slash. The
 * caller frees *path, also after an error. */
static int stage_path(const char *staged, const char *box, char **path, struct laz_error *err)
{
    *path = laz_strdupf("%s%s", staged, box);
    if (!*path)
        return laz_error_nomem(err);
    for (char *slash = strchr(*path + strlen(staged) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        struct laz_look look;
        int rc = 0;
        *slash = '\0';
        if (laz_os_look(*path, false, &look) != 0)
            rc = laz_os_make_directory(*path, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
        *slash = '/';
        if (rc)
            return rc;
    }
    return 0;
}

/* Makes an empty file or directory to mount over, of the same kind as `like`. */
static int stage_place(const char *path, const char *like, struct laz_error *err)
{
    struct laz_look look;

    if (laz_os_look(path, false, &look) == 0)
        return 0;
    if (laz_os_look(like, true, &look) == 0 && look.kind == LAZ_LOOK_DIRECTORY)
        return laz_os_make_directory(path, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
    return laz_os_write_file(path, "", 0, 0644, err);
}

static int stage_part(const struct laz_programs_part *part, const char *staged,
                      struct laz_error *err)
{
    char *path;
    int rc = stage_path(staged, part->path, &path, err);

    if (!rc && part->kind == LAZ_PATH_SYMLINK) {
        int failed = laz_os_make_link(path, part->text);
        if (failed)
            rc = laz_error_os(err, failed, "cannot create the link %s", path);
    } else if (!rc && part->mounted) {
        rc = stage_place(path, part->path, err);
    } else if (!rc) {
        rc = laz_os_copy_file(part->path, path, 0755, err);
    }
    free(path);
    return rc;
}

/* The staged directory in which an existing path needs a file or directory to mount over; NULL:
 * none. */
static struct laz_programs_directory *stage_directory_around(const struct laz_programs *programs,
                                                             const char *path)
{
    struct laz_programs_directory *directory = laz_programs_directory_of(programs, path);
    struct laz_look look;

    return directory && !directory->whole && laz_os_look(path, true, &look) == 0 ? directory : NULL;
}

/* Makes the file or directory to mount over for a path that boxes show anyway, if a staged
 * directory contains it. */
static int stage_shown(struct laz_programs *programs, const char *shown, const char *staged,
                       struct laz_error *err)
{
    if (!stage_directory_around(programs, shown))
        return 0;
    char *path;
    int rc = stage_path(staged, shown, &path, err);
    if (!rc)
        rc = stage_place(path, shown, err);
    free(path);
    return rc;
}

void laz_programs_prepare(struct laz_programs *programs, const struct laz_strv *shown, bool copies)
{
    struct laz_programs_directory *directory = stage_etc_directory(programs);

    if (directory)
        directory->used = true;
    for (size_t i = 0; !copies && i < programs->n_parts; i++)
        programs->parts[i].mounted |=
            programs->parts[i].kind == LAZ_PATH_READ && stage_has(&programs->parts[i]);
    for (size_t i = 0; shown && i < shown->n; i++) {
        directory = stage_directory_around(programs, shown->items[i]);
        if (directory)
            directory->used = true;
    }
}

/* ---- /etc ----------------------------------------------------------------------------------- */

/* A file with the text, or, if that is NULL, a copy of the host's. */
static int stage_etc_file(const char *staged, const char *box, const char *text,
                          struct laz_error *err)
{
    char *path;
    int rc = stage_path(staged, box, &path, err);

    if (!rc && text)
        rc = laz_os_write_file(path, text, strlen(text), 0444, err);
    else if (!rc)
        rc = laz_os_copy_file(box, path, 0444, err);
    free(path);
    return rc;
}

static int stage_etc(struct laz_programs *programs, const char *staged, struct laz_error *err)
{
    const char *box, *text;
    int rc = 0;

    if (!stage_etc_directory(programs))
        return 0;
    for (size_t i = 0; !rc && i < programs->etc.n; i++)
        rc = stage_etc_file(staged, programs->etc.items[i], NULL, err);
    for (size_t i = 0; !rc && i < programs->n_system; i++) {
        const struct laz_programs_path *path = &programs->system[i];
        if (path->kind == LAZ_PATH_READ && laz_path_is_below(path->box, LAZ_PROGRAMS_ETC))
            rc = stage_shown(programs, path->box, staged, err); /* if it is not a copy */
    }
    for (size_t i = 0; !rc && laz_policy_content(i, programs->network, &box, &text); i++)
        rc = stage_etc_file(staged, box, text, err);
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int stage_fill(struct laz_programs *programs, const struct laz_strv *shown,
                      const char *staged, struct laz_error *err)
{
    char *empty = laz_strdupf("%s/" STAGE_EMPTY, staged);
    int rc = empty ? laz_os_make_directory(empty, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)
                   : laz_error_nomem(err);

    free(empty);
    for (size_t i = 0; !rc && i < programs->n_parts; i++)
        if (stage_has(&programs->parts[i]))
            rc = stage_part(&programs->parts[i], staged, err);
    if (!rc)
        rc = stage_etc(programs, staged, err);
    for (size_t i = 0; !rc && shown && i < shown->n; i++)
        rc = stage_shown(programs, shown->items[i], staged, err);
    return rc;
}

int laz_programs_stage(struct laz_programs *programs, const struct laz_strv *shown,
                       const char *staged, struct laz_error *err)
{
    int rc = laz_os_make_directory(staged, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);

    if (rc)
        return rc;
    laz_programs_prepare(programs, shown, laz_os_can_execute_below(staged));
    rc = stage_fill(programs, shown, staged, err);
    if (rc) {
        laz_error_prefix(err, "sandbox.programs: ");
        laz_os_remove_tree(staged);
    }
    return rc;
}

/* ---- for an engine -------------------------------------------------------------------------- */

static int stage_for(struct laz_programs_store *store, struct laz_programs_found *made,
                     const struct laz_strv *read, struct laz_error *err)
{
    const struct laz_strv *const lists[] = {
        &store->values->sandbox.read, &store->values->sandbox.write, &made->runtime->read, read};
    struct laz_strv shown = LAZ_STRV_INIT;
    int rc = 0;

    if (made->staged || made->list->any)
        return 0;
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++)
            laz_strv_add(&shown, lists[l]->items[i]);
    if (shown.failed) {
        rc = laz_error_nomem(err);
    } else if (!laz_programs_share(made->list, &shown, &made->staged, &made->lock)) {
        made->staged = laz_strdupf("%s/programs-%s%s", store->directory, made->runtime->name,
                                   made->network ? "-network" : "");
        rc = made->staged ? laz_programs_stage(made->list, &shown, made->staged, err)
                          : laz_error_nomem(err);
    }
    laz_strv_fini(&shown);
    if (rc) {
        free(made->staged);
        made->staged = NULL;
    }
    return rc;
}

int laz_programs_find(struct laz_programs_store *store, const struct laz_runtime_info *runtime,
                      uint32_t uid, bool network, bool staged, const struct laz_strv *read,
                      const struct laz_programs_found **programs, struct laz_error *err)
{
    struct laz_programs_found *made = store->first;
    int rc = 0;

    while (made && (made->runtime != runtime || made->network != network))
        made = made->next;
    if (!made) {
        made = calloc(1, sizeof *made);
        if (!made)
            return laz_error_nomem(err);
        made->runtime = runtime;
        made->network = network;
        made->lock = -1;
        rc = laz_programs_new(store->values, runtime, laz_os_platform(), uid, network, &made->list,
                              err);
        if (rc) {
            free(made);
            return rc;
        }
        made->next = store->first;
        store->first = made;
    }
    if (staged)
        rc = stage_for(store, made, read, err);
    *programs = made;
    return rc;
}

void laz_programs_store_fini(struct laz_programs_store *store)
{
    while (store->first) {
        struct laz_programs_found *made = store->first;
        store->first = made->next;
        laz_programs_free(made->list);
        free(made->staged);
        laz_os_close(&made->lock);
        free(made);
    }
}
