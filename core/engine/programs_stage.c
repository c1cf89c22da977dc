/* SPDX-License-Identifier: MIT */
/* programs_stage.c - folders with nothing but the listed programs, for boxes to show.
 * Side: host.  Input trusted: yes (settings, programs of this host).
 *
 * A mount for each of some forty programs would cost a session 0.15 ms each, for bubblewrap reads
 * the table of mounts every time.  So a folder of programs is made once for an engine, as a folder
 * below its own, and mounted whole: links as they are, small programs as copies (40 of them in
 * 2 ms), large ones as empty files that are mounted over.  Copies lose set-user-ID and
 * capabilities, which a box does not honour anyway.  Where programs in /tmp cannot be executed, all
 * are mounted. */
#include "engine/engine.h"

#include "os/os.h"

#include <lazaret/backend.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_EMPTY ".empty" /* what folders look like in which nothing is listed */

static bool stage_is_in(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 && path[len] == '/';
}

static const struct laz_programs_folder *stage_folder_of(const struct laz_programs *programs,
                                                         const struct laz_programs_part *part)
{
    for (size_t i = 0; part->folder && i < programs->n_folders; i++)
        if (programs->folders[i].path == part->folder)
            return programs->folders[i].whole ? NULL : &programs->folders[i];
    return NULL;
}

void laz_programs_paths(const struct laz_programs *programs, const char *staged,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user)
{
    for (size_t i = 0; i < programs->n_folders; i++) {
        const struct laz_programs_folder *folder = &programs->folders[i];
        if (folder->whole || (!folder->used && !folder->among_libraries))
            continue;
        char *host = laz_strdupf("%s%s", staged, folder->used ? folder->path : "/" STAGE_EMPTY);
        visit(user, LAZ_PATH_READ, host, folder->path);
        free(host);
    }
    for (size_t i = 0; i < programs->n_parts; i++) {
        const struct laz_programs_part *part = &programs->parts[i];
        if (!stage_folder_of(programs, part) || part->mounted)
            visit(user, part->kind, part->text, part->path);
    }
}

/* ---- making it ------------------------------------------------------------------------------ */

/* Makes the folders of `path` from its first `len` bytes, which are there, to its last slash. */
static int stage_folders(const char *path, size_t len, struct laz_error *err)
{
    for (const char *slash = strchr(path + len + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *folder = laz_strndup(path, (size_t)(slash - path));
        struct stat st;
        int rc = folder ? 0 : laz_error_nomem(err);
        if (!rc && lstat(folder, &st) != 0)
            rc = laz_os_make_folder(folder, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
        free(folder);
        if (rc)
            return rc;
    }
    return 0;
}

/* Something for a mount to lie on, of the same kind as what is at `like`. */
static int stage_place(const char *path, const char *like, struct laz_error *err)
{
    struct stat st, there;

    if (lstat(path, &there) == 0)
        return 0;
    if (stat(like, &st) == 0 && S_ISDIR(st.st_mode))
        return laz_os_make_folder(path, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
    return laz_os_write_file(path, "", 0, 0644, err);
}

static int stage_part(const struct laz_programs_part *part, const char *staged,
                      struct laz_error *err)
{
    char *path = laz_strdupf("%s%s", staged, part->path);
    int rc = path ? stage_folders(path, strlen(staged), err) : laz_error_nomem(err);

    if (!rc && part->kind == LAZ_PATH_SYMLINK) {
        if (symlink(part->text, path) != 0)
            rc = laz_error_os(err, errno, "the link %s cannot be made", path);
    } else if (!rc && part->mounted) {
        rc = stage_place(path, part->path, err);
    } else if (!rc) {
        rc = laz_os_copy_file(part->path, path, 0755, err);
    }
    free(path);
    return rc;
}

/* The path of the settings, when it lies in a folder of programs: it will be mounted there. */
static int stage_shown(struct laz_programs *programs, const char *shown, const char *staged,
                       struct laz_error *err)
{
    struct laz_programs_folder *folder = NULL;

    for (size_t i = 0; i < programs->n_folders; i++)
        if (stage_is_in(shown, programs->folders[i].path))
            folder = &programs->folders[i];
    if (!folder || folder->whole)
        return 0;
    folder->used = true;
    char *path = laz_strdupf("%s%s", staged, shown);
    int rc = path ? stage_folders(path, strlen(staged), err) : laz_error_nomem(err);
    if (!rc)
        rc = stage_place(path, shown, err);
    free(path);
    return rc;
}

static int stage_fill(struct laz_programs *programs, const struct laz_strv *const *shown,
                      size_t n_shown, const char *staged, struct laz_error *err)
{
    char *empty = laz_strdupf("%s/" STAGE_EMPTY, staged);
    int rc = empty ? laz_os_make_folder(empty, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)
                   : laz_error_nomem(err);
    bool copies = !rc && laz_os_can_execute_below(staged);

    free(empty);
    for (size_t i = 0; !rc && i < programs->n_parts; i++) {
        struct laz_programs_part *part = &programs->parts[i];
        if (!stage_folder_of(programs, part))
            continue;
        if (!copies && part->kind == LAZ_PATH_READ)
            part->mounted = true;
        rc = stage_part(part, staged, err);
    }
    for (size_t i = 0; i < n_shown; i++)
        for (size_t k = 0; !rc && shown[i] && k < shown[i]->n; k++)
            rc = stage_shown(programs, shown[i]->items[k], staged, err);
    return rc;
}

int laz_programs_stage(struct laz_programs *programs, const struct laz_strv *const *shown,
                       size_t n_shown, const char *staged, struct laz_error *err)
{
    int rc = laz_os_make_folder(staged, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);

    if (rc)
        return rc;
    rc = stage_fill(programs, shown, n_shown, staged, err);
    if (rc) {
        laz_error_prefix(err, "sandbox.programs: ");
        laz_os_remove_tree(staged);
    }
    return rc;
}

/* ---- once for an engine --------------------------------------------------------------------- */

static int stage_for(struct laz_engine *engine, struct laz_engine_programs *made,
                     struct laz_error *err)
{
    const struct laz_strv *shown[] = {&engine->values->sandbox.read,
                                      &engine->values->sandbox.write};

    if (made->staged || made->list->any)
        return 0;
    made->staged = laz_strdupf("%s/programs-%s", engine->folder, made->runtime->name);
    int rc = made->staged ? laz_programs_stage(made->list, shown, 2, made->staged, err)
                          : laz_error_nomem(err);
    if (rc) {
        free(made->staged);
        made->staged = NULL;
    }
    return rc;
}

int laz_engine_find_programs(struct laz_engine *engine, const struct laz_runtime_info *runtime,
                             uint32_t uid, bool staged, const struct laz_engine_programs **programs,
                             struct laz_error *err)
{
    struct laz_engine_programs *made = engine->programs;
    int rc = 0;

    while (made && made->runtime != runtime)
        made = made->next;
    if (!made) {
        made = calloc(1, sizeof *made);
        if (!made)
            return laz_error_nomem(err);
        made->runtime = runtime;
        rc = laz_programs_new(&engine->values->sandbox.programs, &runtime->programs, true, uid,
                              &made->list, err);
        if (rc) {
            free(made);
            return rc;
        }
        made->next = engine->programs;
        engine->programs = made;
    }
    if (staged)
        rc = stage_for(engine, made, err);
    *programs = made;
    return rc;
}

void laz_engine_free_programs(struct laz_engine *engine)
{
    while (engine->programs) {
        struct laz_engine_programs *made = engine->programs;
        engine->programs = made->next;
        laz_programs_free(made->list);
        free(made->staged);
        free(made);
    }
}
