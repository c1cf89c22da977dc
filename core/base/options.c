/* SPDX-License-Identifier: MIT */
/* options.c - options of a caller, whose struct may be shorter or longer than ours. */
#include "base/options.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <lazaret/lazaret.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MOST 4096 /* bytes: more is not a size, but memory that was not initialized */

static int options_check_size(const void *given, const char *type, struct laz_error *err)
{
    const size_t size = *(const size_t *)given;

    if (!size)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "the size of a struct %s is 0: initialize it with its LAZ_..._INIT, "
                             "or set its size to sizeof(struct %s)",
                             type, type);
    if (size <= sizeof size || size > OPTIONS_MOST)
        return laz_error_set(err, LAZ_EINVAL, 0, "%zu is not the size of a struct %s", size, type);
    return 0;
}

int laz_options_take(void *options, size_t size, const void *given, const char *type,
                     struct laz_error *err)
{
    memset(options, 0, size);
    *(size_t *)options = size;
    if (!given)
        return 0;
    int rc = options_check_size(given, type, err);
    const size_t given_size = rc ? 0 : *(const size_t *)given;
    for (size_t i = size; i < given_size; i++)
        if (((const unsigned char *)given)[i])
            return laz_error_set(err, LAZ_EREFUSED, 0,
                                 "a struct %s sets an option that liblazaret " LAZ_VERSION
                                 " does not know: it is %zu bytes long, not %zu",
                                 type, given_size, size);
    if (!rc)
        memcpy(options, given, given_size < size ? given_size : size);
    *(size_t *)options = size;
    return rc;
}

int laz_options_give(void *given, const void *filled, size_t size, const char *type,
                     struct laz_error *err)
{
    int rc = options_check_size(given, type, err);

    if (rc)
        return rc;
    const size_t given_size = *(const size_t *)given;
    memcpy(given, filled, given_size < size ? given_size : size);
    *(size_t *)given = given_size;
    return 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

struct laz_kept {
    struct laz_kept *next;
    size_t secret; /* bytes that are overwritten in the end */
    max_align_t data[];
};

/* Where a copy goes. */
struct copy {
    struct laz_kept **kept;
    bool borrows;
    struct laz_error *err;
};

/* Zeroed room; NULL: out of memory. */
static void *copy_room(const struct copy *copy, size_t size)
{
    struct laz_kept *piece = size < SIZE_MAX / 2 ? calloc(1, sizeof *piece + size) : NULL;

    if (!piece) {
        laz_error_nomem(copy->err);
        return NULL;
    }
    piece->next = *copy->kept;
    *copy->kept = piece;
    return piece->data;
}

void laz_options_forget(struct laz_kept **kept)
{
    while (*kept) {
        struct laz_kept *piece = *kept;
        *kept = piece->next;
        laz_wipe(piece->data, piece->secret);
        free(piece);
    }
}

static int copy_bytes(const struct copy *copy, void *given, size_t size, void **at)
{
    *at = copy->borrows ? given : copy_room(copy, size);
    if (*at && !copy->borrows)
        memcpy(*at, given, size);
    return *at ? 0 : LAZ_ENOMEM;
}

static int copy_text(const struct copy *copy, char *given, const char *what, void **at)
{
    const size_t len = strlen(given);

    return what && !laz_utf8_is_valid(given, len)
               ? laz_error_set(copy->err, LAZ_EINVAL, 0, "%s is not valid UTF-8", what)
               : copy_bytes(copy, given, len + 1, at);
}

static int copy_struct(const struct copy *copy, const struct laz_members *of, const void *given,
                       void **at)
{
    *at = copy_room(copy, of->size);
    return *at ? laz_options_copy(of, *at, given, copy->borrows, copy->kept, copy->err)
               : LAZ_ENOMEM;
}

/* A list of pointers, to texts or structs. */
static int copy_list(const struct copy *copy, const struct laz_member *row, void *const *given,
                     size_t n, void **at)
{
    void **list = n < SIZE_MAX / 2 / sizeof *list ? copy_room(copy, n * sizeof *list) : NULL;
    int rc = list ? 0 : laz_error_nomem(copy->err);

    *at = list;
    for (size_t i = 0; i < n && !rc; i++) {
        if (!given[i])
            return laz_error_null(copy->err, row->one);
        rc = row->kind == LAZ_MEMBER_TEXTS ? copy_text(copy, given[i], row->one, &list[i])
                                           : copy_struct(copy, row->of, given[i], &list[i]);
        if (!rc && row->is_secret && !copy->borrows)
            (*copy->kept)->secret = strlen(given[i]);
    }
    return rc;
}

/* Replaces what the member points to by a copy. */
static int copy_member(const struct copy *copy, const struct laz_member *row, void *options)
{
    if (row->kind == LAZ_MEMBER_VALUE || row->kind == LAZ_MEMBER_LIMIT)
        return 0;
    void **at = (void **)(void *)((char *)options + row->at), *given = *at;
    const size_t n = row->n_at ? *(const size_t *)(void *)((char *)options + row->n_at) : 0;
    *at = NULL;
    if (!given || (row->n_at && !n))
        return n ? laz_error_null(copy->err, row->what) : 0;
    switch (row->kind) {
    case LAZ_MEMBER_TEXT:
        return copy_text(copy, given, row->what, at);
    case LAZ_MEMBER_STRUCT:
        return copy_struct(copy, row->of, given, at);
    case LAZ_MEMBER_BYTES:
        return copy_bytes(copy, given, n, at);
    case LAZ_MEMBER_INT:
        return copy_bytes(copy, given, sizeof(int), at);
    default:
        return copy_list(copy, row, given, n, at);
    }
}

int laz_options_copy(const struct laz_members *members, void *options, const void *given,
                     bool borrows, struct laz_kept **kept, struct laz_error *err)
{
    const struct copy copy = {kept, borrows, err};
    int rc = laz_options_take(options, members->size, given, members->type, err);

    if (!rc && given && members->check)
        rc = members->check(options, err);
    for (size_t i = 0; i < members->n && !rc; i++)
        rc = copy_member(&copy, &members->rows[i], options);
    return rc;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static uint64_t *member_limit(const struct laz_member *row, void *options)
{
    return row->kind == LAZ_MEMBER_LIMIT ? (uint64_t *)(void *)((char *)options + row->at) : NULL;
}

static uint64_t member_setting(const struct laz_member *row, const void *settings)
{
    return *(const uint64_t *)(const void *)((const char *)settings + row->setting_at);
}

void laz_options_complete(const struct laz_members *members, void *options, const void *settings)
{
    for (size_t i = 0; i < members->n; i++) {
        uint64_t *limit = member_limit(&members->rows[i], options);
        if (limit && !*limit)
            *limit = member_setting(&members->rows[i], settings);
        else if (limit && *limit == LAZ_NO_LIMIT)
            *limit = 0;
    }
}

void laz_options_narrow(const struct laz_members *members, void *options, const void *settings)
{
    for (size_t i = 0; i < members->n; i++) {
        const struct laz_member *row = &members->rows[i];
        uint64_t *limit = member_limit(row, options);
        const uint64_t most = limit ? member_setting(row, settings) : 0;
        if ((row->remote != LAZ_REMOTE_NARROWS && row->remote != LAZ_REMOTE_FREE) ||
            (most && *limit > most))
            memset((char *)options + row->at, 0, row->size);
    }
}
