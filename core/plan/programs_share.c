/* SPDX-License-Identifier: MIT */
/* programs_share.c - one directory of programs for all engines that need the same programs.
 * Side: host.  Input trusted: yes (settings, programs of this host).
 *
 * Making forty files takes several milliseconds, which each execution from the command line would
 * pay.  So the directory is kept under a name that is the digest of everything it was made from:
 * the request, and for each file of the host its inode, size, mode and times of change before it
 * was copied.  Any change leads to another directory.  It is filled under a temporary name and
 * renamed, so that it appears complete; no box can write it.  After any error the engine makes its
 * own. */
#include "plan/programs.h"

#include "base/digest.h"
#include "os/directories.h"
#include "os/shared_directory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARE_FORM "1" /* to be changed when laz_programs_stage makes something else */

/* `look`: NULL: it does not exist. */
static void share_file(struct laz_buf *text, const char *what, const char *path,
                       const struct laz_look *look)
{
    laz_buf_printf(text, "%s %s", what, path);
    if (look)
        laz_buf_printf(text, " %" PRIx64 " %" PRIx64 " %" PRIx64 " %d %o %" PRId64 " %" PRId64,
                       look->device, look->inode, look->size, look->kind, look->mode,
                       look->written_ns, look->changed_ns);
    laz_buf_puts(text, "\n");
}

/* Describes a path that only gets an empty file or directory to mount over. */
static void share_place(struct laz_buf *text, const char *path)
{
    struct laz_look look;

    laz_buf_printf(text, "place %s %d\n", path,
                   laz_os_look(path, true, &look) != 0 ? 0
                   : look.kind == LAZ_LOOK_DIRECTORY   ? 2
                                                       : 1);
}

/* Describes everything on which the result of laz_programs_stage depends, and no more: any
 * difference leads to another directory. */
static void share_describe(const struct laz_programs *programs, const struct laz_strv *shown,
                           struct laz_buf *text)
{
    const char *box, *content;
    struct laz_look look;

    laz_buf_puts(text, "lazaret " LAZ_VERSION " " SHARE_FORM "\n");
    for (size_t i = 0; i < programs->n_directories; i++) {
        const struct laz_programs_directory *directory = &programs->directories[i];
        laz_buf_printf(text, "directory %s %d %d %d\n", directory->path, directory->among_libraries,
                       directory->whole, directory->used);
    }
    for (size_t i = 0; i < programs->n_parts; i++) {
        const struct laz_programs_part *part = &programs->parts[i];
        if (!part->directory)
            continue; /* not in the staged directory: the policy shows it */
        if (part->kind == LAZ_PATH_SYMLINK)
            laz_buf_printf(text, "link %s %s\n", part->path, part->text);
        else
            share_file(text, part->mounted ? "mounted" : "program", part->path,
                       part->exists ? &part->look : NULL);
    }
    for (size_t i = 0; i < programs->etc.n; i++) {
        const char *path = programs->etc.items[i];
        share_file(text, "etc", path, laz_os_look(path, true, &look) == 0 ? &look : NULL);
    }
    for (size_t i = 0; laz_policy_content(i, programs->network, &box, &content); i++)
        laz_buf_printf(text, "content %s %s\n", box, content);
    for (size_t i = 0; i < programs->n_system; i++)
        if (programs->system[i].kind == LAZ_PATH_READ)
            share_place(text, programs->system[i].host);
    for (size_t i = 0; shown && i < shown->n; i++)
        if (laz_programs_directory_of(programs, shown->items[i]))
            share_place(text, shown->items[i]);
}

/* Makes the directory under a temporary name and renames it; if another engine was faster, its
 * directory is used. */
static void share_make(struct laz_programs *programs, const struct laz_strv *shown,
                       const char *parent, const char *path)
{
    char *draft = laz_os_shared_draft(parent);

    laz_os_shared_clean(parent);
    if (draft && laz_programs_stage(programs, shown, draft, NULL) == 0 && rename(draft, path) != 0)
        laz_os_remove_tree(draft);
    free(draft);
}

bool laz_programs_share(struct laz_programs *programs, const struct laz_strv *shown, char **staged,
                        int *lock)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_sha256 sha256;
    char name[LAZ_SHA256_HEX + 1], *parent = laz_os_shared_directory(), *path = NULL;

    *lock = -1;
    if (!parent)
        return false;
    laz_programs_prepare(programs, shown, true);
    share_describe(programs, shown, &text);
    laz_sha256_init(&sha256);
    laz_sha256_add(&sha256, laz_buf_text(&text), text.len);
    laz_sha256_hex(&sha256, name);
    if (!text.failed)
        path = laz_strdupf("%s/%s", parent, name);
    laz_buf_fini(&text);
    if (path)
        *lock = laz_os_shared_use(path);
    if (path && *lock < 0) {
        share_make(programs, shown, parent, path);
        *lock = laz_os_shared_use(path);
    }
    free(parent);
    if (*lock < 0) {
        free(path);
        return false;
    }
    *staged = path;
    return true;
}
