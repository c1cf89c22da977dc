/* SPDX-License-Identifier: MIT */
/* protection.c - paths that stay read-only: their placeholders, and whether they are the same.
 * Side: host.  Input trusted: no (untrusted code can write the directories). */
#include "box/protection.h"

#include "os/descriptors.h"
#include "os/files.h"
#include "os/placeholder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct protection_item {
    char *directory, *name, *path; /* the path is both */
    uint64_t device, inode;
    int placeholder; /* holds it; -1: there is something else */
    int held;        /* that, open: no other file gets its inode; -1: not possible */
};

struct laz_protection {
    struct laz_protection **last; /* names it, as long as it is there */
    unsigned uses;
    struct protection_item *items;
    size_t n;
};

/* What an empty directory in the place of a file would break: git fails if it cannot read this one,
 * whose text says that the directory itself is meant. */
static const struct {
    const char *end, *text;
} protection_texts[] = {{"/.git/commondir", ".\n"}};

static const char *protection_text(const char *path)
{
    const size_t len = strlen(path);

    for (size_t i = 0; i < sizeof protection_texts / sizeof protection_texts[0]; i++) {
        const size_t n = strlen(protection_texts[i].end);
        if (len >= n && strcmp(path + len - n, protection_texts[i].end) == 0)
            return protection_texts[i].text;
    }
    return NULL;
}

static int protection_add(struct laz_protection *protection, const char *directory,
                          const char *name, struct laz_error *err)
{
    struct protection_item *item = laz_grow(&protection->items, &protection->n, sizeof *item);
    struct laz_look look;

    if (!item)
        return laz_error_nomem(err);
    *item = (struct protection_item){.directory = laz_strdup(directory),
                                     .name = laz_strdup(name),
                                     .path = laz_strdupf("%s/%s", directory, name),
                                     .placeholder = -1,
                                     .held = -1};
    if (!item->directory || !item->name || !item->path)
        return laz_error_nomem(err);
    int failed = laz_os_look(item->path, false, &look);
    if (!failed)
        item->held = laz_os_hold(item->path);
    if (failed == ENOENT || (!failed && laz_os_is_placeholder(&look))) {
        int rc = laz_os_placeholder_take(directory, name, protection_text(item->path),
                                         &item->placeholder, err);
        if (rc) {
            laz_error_prefix(err, "sandbox.protect: ");
            return rc;
        }
        failed = laz_os_look(item->path, false, &look);
    }
    if (failed)
        return laz_error_os(err, failed, "sandbox.protect: %s", item->path);
    item->device = look.device;
    item->inode = look.inode;
    return 0;
}

static bool protection_is_of(const struct laz_protection *protection, const struct laz_strv *pairs)
{
    bool is = protection->n == pairs->n / 2 && !laz_protection_lost(protection);

    for (size_t i = 0; is && i < protection->n; i++)
        is = strcmp(protection->items[i].directory, pairs->items[2 * i]) == 0 &&
             strcmp(protection->items[i].name, pairs->items[2 * i + 1]) == 0;
    return is;
}

int laz_protection_take(struct laz_protection **last, const struct laz_strv *pairs,
                        struct laz_protection **protection, struct laz_error *err)
{
    int rc = 0;

    *protection = NULL;
    if (!pairs->n)
        return 0;
    if (*last && protection_is_of(*last, pairs)) {
        *protection = laz_protection_share(*last);
        return 0;
    }
    struct laz_protection *made = calloc(1, sizeof *made);
    if (!made)
        return laz_error_nomem(err);
    made->uses = 1;
    made->last = last;
    for (size_t i = 0; i + 1 < pairs->n && !rc; i += 2)
        rc = protection_add(made, pairs->items[i], pairs->items[i + 1], err);
    if (rc) {
        laz_protection_drop(made);
        return rc;
    }
    *last = *protection = made;
    return 0;
}

struct laz_protection *laz_protection_share(struct laz_protection *protection)
{
    if (protection)
        protection->uses++;
    return protection;
}

void laz_protection_drop(struct laz_protection *protection)
{
    if (!protection || --protection->uses)
        return;
    if (*protection->last == protection)
        *protection->last = NULL;
    for (size_t i = 0; i < protection->n; i++) {
        struct protection_item *item = &protection->items[i];
        laz_os_close(&item->held);
        if (item->placeholder >= 0)
            laz_os_placeholder_drop(item->directory, item->name, &item->placeholder);
        free(item->directory);
        free(item->name);
        free(item->path);
    }
    free(protection->items);
    free(protection);
}

const char *laz_protection_lost(const struct laz_protection *protection)
{
    struct laz_look look;

    for (size_t i = 0; protection && i < protection->n; i++) {
        const struct protection_item *item = &protection->items[i];
        if (laz_os_look(item->path, false, &look) || look.device != item->device ||
            look.inode != item->inode)
            return item->path;
    }
    return NULL;
}

/* Does the message name the path, with a mark or space before it and after it? Before the part
 * below the directory other directories may stand, after the path what lies in it. */
static bool protection_is_in(const char *message, const char *name)
{
    static const char before[] = " \t\n'\"`(/", after[] = " \t\n'\"`):,;/";
    const size_t len = strlen(name);

    for (const char *at = strstr(message, name); at; at = strstr(at + 1, name))
        if ((at == message || strchr(before, at[-1])) && strchr(after, at[len]))
            return true;
    return false;
}

const char *laz_protection_named(const struct laz_protection *protection, const char *message)
{
    static const char *const refusals[] = {"Read-only file system", "Is a directory",
                                           "Device or resource busy", "Permission denied",
                                           "File exists"};
    bool is_refusal = false;

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        is_refusal |= strstr(message, refusals[i]) != NULL;
    for (size_t i = 0; protection && is_refusal && i < protection->n; i++)
        if (protection_is_in(message, protection->items[i].name))
            return protection->items[i].path;
    return NULL;
}
