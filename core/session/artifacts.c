/* SPDX-License-Identifier: MIT */
/* artifacts.c - artifacts of an execution, from the parts in which they come.
 * Side: host.  Input trusted: no.
 *
 * The agent is bound by the limits that it was told, and an honest one keeps them: what goes beyond
 * them breaks the protocol, and ends the execution before memory is spent on it.  What an execution
 * has left incomplete is not an artifact: it moves to those that are lost. */
#include "session/artifacts.h"

#include "base/base64.h"
#include "base/json_scan.h"
#include "base/path.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ---------------------------------------------------------------------------------- */

/* The suffixes of what code usually saves. `magic`: its first bytes (the signature of its format),
 * without which it is not shown as such. */
static const struct {
    const char *suffix, *type, *magic;
    size_t magic_len;
} artifact_types[] = {
    {".png", "image/png", "\x89PNG\r\n\x1a\n", 8},
    {".jpg", "image/jpeg", "\xff\xd8\xff", 3},
    {".jpeg", "image/jpeg", "\xff\xd8\xff", 3},
    {".gif", "image/gif", "GIF8", 4},
    {".webp", "image/webp", "RIFF", 4},
    {".pdf", "application/pdf", "%PDF-", 5},
    {".svg", "image/svg+xml", NULL, 0},
    {".csv", "text/csv", NULL, 0},
    {".tsv", "text/tab-separated-values", NULL, 0},
    {".txt", "text/plain", NULL, 0},
    {".md", "text/markdown", NULL, 0},
    {".html", "text/html", NULL, 0},
    {".json", "application/json", NULL, 0},
    {".xml", "application/xml", NULL, 0},
    {".zip", "application/zip", "PK", 2},
    {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK", 2},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK", 2},
    {".parquet", "application/vnd.apache.parquet", "PAR1", 4},
};

static bool type_ends(const char *name, const char *suffix)
{
    const size_t len = strlen(name), n = strlen(suffix);

    if (len <= n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char c = name[len - n + i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != suffix[i])
            return false;
    }
    return true;
}

const char *laz_media_type(const char *name, const void *data, size_t len)
{
    for (size_t i = 0; i < sizeof artifact_types / sizeof *artifact_types; i++)
        if (type_ends(name, artifact_types[i].suffix))
            return len >= artifact_types[i].magic_len &&
                           (!artifact_types[i].magic ||
                            memcmp(data, artifact_types[i].magic, artifact_types[i].magic_len) == 0)
                       ? artifact_types[i].type
                       : "application/octet-stream";
    return "application/octet-stream";
}

/* ---- parts ---------------------------------------------------------------------------------- */

static int artifact_wrong(const char *text, const char **why)
{
    *why = text;
    return LAZ_EPROTO;
}

/* Appends the data of a part, unless `had` and it are more than `max`. */
static int artifact_append(struct laz_buf *to, const struct laz_message *part, uint64_t had,
                           uint64_t max, const char **why)
{
    const size_t most = part->data_len / 4 * 3;

    if (had > max || most > max - had + 2) /* two bytes of padding */
        return artifact_wrong("artifacts larger than artifacts.max_size were sent", why);
    if (!laz_buf_reserve(to, most))
        return LAZ_ENOMEM;
    const ptrdiff_t n = laz_base64_decode(part->data, part->data_len, to->data + to->len);
    if (n < 0)
        return artifact_wrong("a part of an artifact is not base64", why);
    const bool is_over = (uint64_t)n > max - had;
    to->len += is_over ? 0 : (size_t)n;
    to->data[to->len] = '\0';
    return is_over ? artifact_wrong("artifacts larger than artifacts.max_size were sent", why) : 0;
}

static struct laz_artifact_item *artifact_find(const struct laz_artifacts *artifacts,
                                               const char *name)
{
    for (size_t i = 0; i < artifacts->n; i++)
        if (strcmp(artifacts->items[i].name, name) == 0)
            return &artifacts->items[i];
    return NULL;
}

/* Takes the name; NULL: out of memory. */
static struct laz_artifact_item *artifact_add(struct laz_artifacts *artifacts, char *name)
{
    if (name && artifacts->n == artifacts->cap) {
        const size_t cap = artifacts->cap ? 2 * artifacts->cap : 4;
        struct laz_artifact_item *items = realloc(artifacts->items, cap * sizeof *items);
        if (!items) {
            free(name);
            return NULL;
        }
        artifacts->items = items;
        artifacts->cap = cap;
    }
    if (!name)
        return NULL;
    struct laz_artifact_item *item = &artifacts->items[artifacts->n++];
    *item = (struct laz_artifact_item){.name = name};
    laz_sha256_init(&item->digest);
    return item;
}

/* Forgets one in whose place another comes. */
static void artifact_drop(struct laz_artifacts *artifacts, struct laz_artifact_item *item)
{
    const size_t at = (size_t)(item - artifacts->items);

    artifacts->bytes -= item->data.len;
    free(item->name);
    laz_buf_fini(&item->data);
    memmove(item, item + 1, (--artifacts->n - at) * sizeof *item);
}

/* A new file. */
static int artifact_begin(struct laz_artifacts *artifacts, const struct laz_message *part,
                          uint64_t max_files, const char **why)
{
    struct laz_artifact_item *item;

    if (!part->name || !laz_artifact_name_is_plain(part->name))
        return artifact_wrong("an artifact has no name that is allowed", why);
    item = artifact_find(artifacts, part->name);
    if (item && (!artifacts->follows || item->follows))
        return artifact_wrong("an artifact was sent twice", why);
    if (item)
        artifact_drop(artifacts, item);
    if (artifacts->n >= max_files)
        return artifact_wrong("more artifacts than artifacts.max_files were sent", why);
    item = artifact_add(artifacts, laz_strdup(part->name));
    if (item)
        item->follows = artifacts->follows;
    return item ? 0 : LAZ_ENOMEM;
}

/* All of it is there, and in its digest. */
static void artifact_end(struct laz_artifact_item *item)
{
    laz_sha256_hex(&item->digest, item->sha256);
    item->type = laz_media_type(item->name, laz_buf_text(&item->data), item->data.len);
}

static int artifact_take_file(struct laz_artifacts *artifacts, const struct laz_message *part,
                              uint64_t max_files, uint64_t max_size, const char **why)
{
    int rc = 0;

    if (artifacts->open && part->name)
        return artifact_wrong("an artifact began before another one had ended", why);
    if (!artifacts->open)
        rc = artifact_begin(artifacts, part, max_files, why);
    if (rc)
        return rc;
    struct laz_artifact_item *item = &artifacts->items[artifacts->n - 1];
    const size_t before = item->data.len;
    rc = artifact_append(&item->data, part, artifacts->bytes, max_size, why);
    artifacts->bytes += item->data.len - before;
    laz_sha256_add(&item->digest, laz_buf_text(&item->data) + before, item->data.len - before);
    if (!rc && !part->more)
        artifact_end(item);
    return rc;
}

int laz_artifacts_take(struct laz_artifacts *artifacts, const struct laz_message *part,
                       uint64_t max_files, uint64_t max_size, const char **why)
{
    static const char *const kinds[] = {"file", "value", "text"};
    struct laz_buf *const bytes[] = {NULL, &artifacts->value, &artifacts->text};
    size_t kind = 0;
    int rc;

    while (kind < 3 && strcmp(part->of, kinds[kind]) != 0)
        kind++;
    if (kind == 3)
        return artifact_wrong("a part is of nothing that is known", why);
    if (artifacts->open && strcmp(artifacts->open, kinds[kind]) != 0)
        return artifact_wrong("a part began before another thing had ended", why);
    if (!artifacts->open && kind && bytes[kind]->len)
        return artifact_wrong("a value was sent twice", why);
    rc = kind ? artifact_append(bytes[kind], part, bytes[kind]->len, max_size, why)
              : artifact_take_file(artifacts, part, max_files, max_size, why);
    artifacts->open = part->more ? kinds[kind] : NULL;
    return rc;
}

/* ---- files of tools ------------------------------------------------------------------------- */

int laz_artifacts_give(struct laz_artifacts *artifacts, const char *tool, const char *suffix,
                       const void *data, size_t len, uint64_t max_files, uint64_t max_size,
                       const char **name, struct laz_error *err)
{
    if (!artifacts->given && !(artifacts->given = calloc(1, sizeof *artifacts->given)))
        return laz_error_nomem(err);
    struct laz_artifacts *given = artifacts->given;
    if (given->n >= max_files || len > max_size - given->bytes)
        return laz_error_set(err, LAZ_ETOOBIG, 0,
                             "more files than artifacts.max_files, or more bytes than "
                             "artifacts.max_size");
    char *full = laz_strdupf("%s-%zu%s", tool, given->n + 1, suffix);
    if (full && !laz_artifact_name_is_plain(full)) {
        free(full);
        return laz_error_set(err, LAZ_EINVAL, 0, "the tool and '%.20s' make no name of a file",
                             suffix);
    }
    struct laz_artifact_item *item = artifact_add(given, full);
    if (!item)
        return laz_error_nomem(err);
    laz_buf_append(&item->data, data, len);
    if (item->data.failed) {
        laz_buf_fini(&item->data);
        free(item->name);
        given->n--;
        return laz_error_nomem(err);
    }
    laz_sha256_add(&item->digest, data, len);
    artifact_end(item);
    given->bytes += len;
    *name = item->name;
    return 0;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* The name and the reason are taken. False: out of memory. */
static bool artifacts_lose(struct laz_artifacts *artifacts, char *name, uint64_t bytes, char *why)
{
    struct laz_lost_item *lost =
        realloc(artifacts->lost, (artifacts->n_lost + 1) * sizeof *artifacts->lost);

    if (lost)
        artifacts->lost = lost;
    if (!lost || !name || !why) {
        free(name);
        free(why);
        return false;
    }
    lost[artifacts->n_lost++] = (struct laz_lost_item){name, why, bytes};
    return true;
}

/* The last file, of which more was to come. */
static bool artifacts_lose_open(struct laz_artifacts *artifacts, const char *how)
{
    struct laz_artifact_item *last = &artifacts->items[artifacts->n - 1];
    const uint64_t bytes = last->data.len;
    char *name = last->name;

    artifacts->n--;
    artifacts->bytes -= bytes;
    laz_buf_fini(&last->data);
    return artifacts_lose(artifacts, name, bytes,
                          laz_strdupf("the execution ended before all of it had come: %s", how));
}

/* Moves a file of a tool to the others, under a name that is free; one for which there is none is
 * lost. */
static bool artifacts_join(struct laz_artifacts *artifacts, struct laz_artifact_item *from)
{
    char *name = laz_strdup(from->name);

    while (name && artifact_find(artifacts, name)) {
        char *longer = laz_strdupf("tool-%s", name);
        free(name);
        name = longer;
    }
    if (name && !laz_artifact_name_is_plain(name)) {
        free(name);
        return artifacts_lose(artifacts, laz_strdup(from->name), from->data.len,
                              laz_strdup("the code has taken all names that it could have"));
    }
    struct laz_artifact_item *item = artifact_add(artifacts, name);
    if (!item)
        return false;
    item->type = from->type;
    item->data = from->data;
    from->data = (struct laz_buf)LAZ_BUF_INIT;
    memcpy(item->sha256, from->sha256, sizeof item->sha256);
    return true;
}

bool laz_artifacts_settle(struct laz_artifacts *artifacts, const char *how)
{
    struct laz_artifacts *given = artifacts->given;
    bool is_whole = true;

    if (artifacts->n && !artifacts->items[artifacts->n - 1].type)
        is_whole = artifacts_lose_open(artifacts, how);
    for (size_t i = 0; given && i < given->n && is_whole; i++)
        is_whole = artifacts_join(artifacts, &given->items[i]);
    return is_whole;
}

int laz_artifacts_finish(const struct laz_artifacts *artifacts, const char **why)
{
    return artifacts->open ? artifact_wrong("an artifact was not sent to its end", why) : 0;
}

int laz_artifacts_check(const struct laz_buf *value, const struct laz_buf *text, const char **why)
{
    const int rc = value->len ? laz_json_scan(value->data, value->len, NULL) : 0;

    if (rc)
        return rc == LAZ_ENOMEM ? rc : artifact_wrong("the value is not JSON", why);
    if (text->len &&
        (!laz_utf8_is_valid(text->data, text->len) || memchr(text->data, 0, text->len)))
        return artifact_wrong("the text is not UTF-8", why);
    return 0;
}

void laz_artifacts_fini(struct laz_artifacts *artifacts)
{
    for (size_t i = 0; i < artifacts->n; i++) {
        free(artifacts->items[i].name);
        free(artifacts->items[i].path);
        free(artifacts->items[i].problem);
        laz_buf_fini(&artifacts->items[i].data);
    }
    for (size_t i = 0; i < artifacts->n_lost; i++) {
        free(artifacts->lost[i].name);
        free(artifacts->lost[i].why);
    }
    free(artifacts->lost);
    if (artifacts->given)
        laz_artifacts_fini(artifacts->given);
    free(artifacts->given);
    free(artifacts->items);
    laz_buf_fini(&artifacts->value);
    laz_buf_fini(&artifacts->text);
    *artifacts = (struct laz_artifacts){0};
}
