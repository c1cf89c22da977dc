/* SPDX-License-Identifier: MIT */
/* files.c - files that clients put into sessions, and artifacts that they get.
 * Side: host.  Input trusted: no (of a client; the library has checked artifacts).
 *
 * Bytes go in parts, so that each line has a bound.  A file is kept here until its last part has
 * come; it is a file of one session, up to the bound of a line as a whole. */
#include "serve/serve_private.h"

#include "base/base64.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define FILES_PART ((size_t)192 << 10) /* bytes of a part to a client; a multiple of 3 */

void serve_file_fini(struct serve_file *file)
{
    free(file->name);
    laz_buf_fini(&file->content);
    *file = (struct serve_file){0};
}

/* Appends the data of a part. */
static int file_append(struct serve_file *file, const struct serve_message *message, uint64_t max,
                       struct laz_error *err)
{
    struct laz_buf *content = &file->content;

    if (content->len + message->data_len / 4 * 3 > max)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "a file has more than %llu bytes",
                             (unsigned long long)max);
    if (!laz_buf_reserve(content, message->data_len / 4 * 3))
        return laz_error_nomem(err);
    const ptrdiff_t n =
        laz_base64_decode(message->data, message->data_len, content->data + content->len);
    if (n < 0)
        return laz_error_set(err, LAZ_EPROTO, 0, "'data' of a file is not base64");
    content->len += (size_t)n;
    file->parts++;
    return 0;
}

int serve_file_take(struct serve_file *file, const struct serve_message *message, uint64_t max,
                    struct laz_error *err)
{
    int rc = 0;

    if (message->part == 0)
        serve_file_fini(file);
    if (!laz_name_is_plain(message->name))
        rc = laz_error_set(err, LAZ_EINVAL, 0, LAZ_NAME_RULE);
    else if (message->part != file->parts || (file->name && strcmp(file->name, message->name) != 0))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "part %lld of the file %.80s was not expected",
                           (long long)message->part, message->name);
    if (!rc && !file->name && !(file->name = laz_strdup(message->name)))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = file_append(file, message, max, err);
    if (rc)
        serve_file_fini(file);
    return rc;
}

int serve_files_take(struct serve_files *files, const struct laz_field_list *given,
                     struct laz_error *err)
{
    const struct serve_given_file *from = given->items;

    if (given->n > SERVE_FILES)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "an execution can have %d files", SERVE_FILES);
    files->items = calloc(given->n + 1, sizeof *files->items);
    files->pointers = calloc(given->n + 1, sizeof *files->pointers);
    if (!files->items || !files->pointers)
        return laz_error_nomem(err);
    for (size_t i = 0; i < given->n; i++) {
        char *data = malloc(from[i].data_len + 1);
        if (!data)
            return laz_error_nomem(err);
        const ptrdiff_t n = laz_base64_decode(from[i].data, from[i].data_len, data);
        files->items[i] = (struct laz_file){.size = sizeof *files->items,
                                            .name = from[i].name,
                                            .data = data,
                                            .data_len = n < 0 ? 0 : (size_t)n};
        files->pointers[files->n++] = &files->items[i];
        files->bytes += files->items[i].data_len;
        if (n < 0)
            return laz_error_set(err, LAZ_EPROTO, 0, "'data' of a file is not base64");
    }
    return 0;
}

void serve_files_fini(struct serve_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free((void *)(uintptr_t)files->items[i].data);
    free(files->items);
    free(files->pointers);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

void serve_artifact_part(const struct laz_artifact *artifact, size_t *done, struct laz_buf *text,
                         struct serve_message *part)
{
    const size_t left = artifact->data_len - *done, n = left < FILES_PART ? left : FILES_PART;

    laz_buf_clear(text);
    laz_base64_encode(text, (const char *)artifact->data + *done, n);
    part->name = artifact->name;
    part->part = (int64_t)(*done / FILES_PART);
    part->data = laz_buf_text(text);
    part->data_len = text->len;
    part->more = n < left;
    *done += n;
}
