/* SPDX-License-Identifier: MIT */
/* stage.c - copies files that a session with its own uid cannot reach.
 * Side: host.  Input trusted: yes (installed files).
 *
 * Another uid cannot enter a build below /root, and bwrap resolves paths, also those of
 * descriptors, as that uid.  A copy keeps the name of the file, which is part of a plugin's
 * identity; the name of its directory has device, inode, size and time of change of the original.
 * So each file is copied once, and again after it was built anew. */
#include "plan/policy.h"

#include "base/random.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/spawner.h"
#include "os/users.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGE_RANDOM 12

/* Copies under a random name and then renames the copy, so that it appears complete. */
static int stage_copy(const char *path, const char *into, const char *staged, bool execute,
                      struct laz_error *err)
{
    char random[STAGE_RANDOM + 1];
    int rc = laz_random_name(random, STAGE_RANDOM, err);

    if (rc)
        return rc;
    char *partial = laz_strdupf("%s/.%s", into, random);
    if (!partial)
        return laz_error_nomem(err);
    rc = laz_os_copy_file(path, partial, execute ? 0755 : 0644, err);
    if (!rc && rename(partial, staged) != 0) {
        rc = laz_error_os(err, errno, "%s cannot be copied to %s", path, staged);
        (void)unlink(partial);
    }
    free(partial);
    return rc;
}

int laz_stage_file(const char *directory, const char *path, uint32_t uid, bool execute,
                   char **staged, struct laz_error *err)
{
    char *into = NULL, *copy = NULL;
    const char *slash = strrchr(path, '/');
    struct laz_look look, there;
    int rc = laz_os_look(path, true, &look);

    if (rc)
        return laz_error_os(err, rc, "%s cannot be used", path);
    if (uid == LAZ_SPAWN_SAME_ID || laz_os_is_reachable(path, uid, execute)) {
        copy = laz_strdup(path);
        goto out;
    }
    into = laz_strdupf("%s/copy-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64, directory,
                       look.device, look.inode, look.size, (uint64_t)look.written_ns);
    if (into)
        copy = laz_strdupf("%s/%s", into, slash ? slash + 1 : path);
    if (!copy)
        goto out;
    if (laz_os_look(copy, false, &there) == 0 && there.kind == LAZ_LOOK_FILE)
        goto out;
    if (laz_os_look(into, false, &there) != 0)
        rc = laz_os_make_directory(into, 0711, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
    if (!rc)
        rc = stage_copy(path, into, copy, execute, err);
out:
    free(into);
    if (!rc && !copy)
        rc = laz_error_nomem(err);
    if (rc)
        free(copy);
    else
        *staged = copy;
    return rc;
}

static bool staged_is_unchanged(const struct laz_look *a, const struct laz_look *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mode == b->mode && a->written_ns == b->written_ns && a->changed_ns == b->changed_ns;
}

/* The sessions of an engine have uids of their own or none: which one it is makes no difference to
 * files of the host. */
static struct laz_staged *staged_entry(struct laz_staged **list, const char *path, uint32_t uid,
                                       bool execute)
{
    struct laz_staged *entry = *list;

    while (entry && (strcmp(entry->path, path) != 0 || entry->execute != execute ||
                     (entry->uid == LAZ_SPAWN_SAME_ID) != (uid == LAZ_SPAWN_SAME_ID)))
        entry = entry->next;
    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry);
    char *copy = laz_strdup(path);
    if (!entry || !copy) {
        free(entry);
        free(copy);
        return NULL;
    }
    *entry = (struct laz_staged){.next = *list, .path = copy, .uid = uid, .execute = execute};
    return *list = entry;
}

int laz_staged_find(struct laz_staged **list, const char *directory, const char *path, uint32_t uid,
                    bool execute, const char **staged, struct laz_error *err)
{
    struct laz_staged *entry = staged_entry(list, path, uid, execute);
    struct laz_look look;
    int failed = laz_os_look(path, true, &look);

    if (!entry)
        return laz_error_nomem(err);
    if (failed || !entry->staged || !staged_is_unchanged(&entry->look, &look)) {
        free(entry->staged);
        entry->staged = NULL;
        int rc = laz_stage_file(directory, path, uid, execute, &entry->staged, err);
        if (rc)
            return rc;
        entry->look = look; /* before it was staged */
    }
    *staged = entry->staged;
    return 0;
}

void laz_staged_free(struct laz_staged *list)
{
    while (list) {
        struct laz_staged *entry = list;
        list = entry->next;
        free(entry->path);
        free(entry->staged);
        free(entry);
    }
}
