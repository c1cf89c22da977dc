/* SPDX-License-Identifier: MIT */
/* path.c - paths and names of files, by their text alone. */
#include "base/path.h"

#include "base/buf.h"
#include "base/visible.h"

#include <string.h>

/* The rest of `path` behind `directory`: "/..." or ""; NULL: `path` is not in it. */
static const char *path_rest(const char *path, const char *directory)
{
    size_t len = strlen(directory);

    while (len && directory[len - 1] == '/')
        len--;
    if (strncmp(path, directory, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    return path + len;
}

bool laz_path_is_below(const char *path, const char *directory)
{
    const char *rest = path_rest(path, directory);

    return rest && *rest;
}

bool laz_path_is_within(const char *path, const char *directory)
{
    return path_rest(path, directory) != NULL;
}

bool laz_path_simplify(const char *path, size_t len, struct laz_buf *out)
{
    if (!len || path[0] != '/' || memchr(path, '\\', len))
        return false;
    for (size_t at = 0, n; at < len; at += n) {
        const char *slash = memchr(path + at, '/', len - at);
        n = slash ? (size_t)(slash - path) - at : len - at;
        if (n == 2 && memcmp(path + at, "..", 2) == 0)
            return false;
        if (n && !(n == 1 && path[at] == '.')) {
            laz_buf_putc(out, '/');
            laz_buf_append(out, path + at, n);
        }
        n += slash != NULL;
    }
    return !out->failed;
}

static bool name_is_plain(const char *name, size_t len)
{
    struct laz_buf shown = LAZ_BUF_INIT;

    if (!len || len > LAZ_NAME_MAX || memchr(name, '\t', len) || memchr(name, '\\', len) ||
        (len == 1 && name[0] == '.') || (len == 2 && memcmp(name, "..", 2) == 0))
        return false;
    laz_visible_line(&shown, name, len);
    bool is_plain = !shown.failed && shown.len == len;
    laz_buf_fini(&shown);
    return is_plain;
}

bool laz_name_is_plain(const char *name)
{
    return !strchr(name, '/') && name_is_plain(name, strlen(name));
}

bool laz_artifact_name_is_plain(const char *name)
{
    if (strlen(name) > LAZ_ARTIFACT_MAX)
        return false;
    for (;;) {
        const size_t len = strcspn(name, "/");
        if (!name_is_plain(name, len) || name[0] == '.')
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}
