/* SPDX-License-Identifier: MIT */
/* result_artifacts.c - the artifacts of a result, for the application.
 * Side: host.  Input trusted: the directory yes; names and bytes no (session/artifacts.c has
 * checked the names). */
#include "session/result.h"

#include "base/options.h"
#include "os/directories.h"
#include "os/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARTIFACT_NAMES 1000 /* that are tried for one */

size_t laz_result_artifacts(const struct laz_result *result)
{
    return result ? result->artifacts.n : 0;
}

int laz_result_artifact(const struct laz_result *result, size_t index,
                        struct laz_artifact *artifact)
{
    if (!artifact || index >= laz_result_artifacts(result))
        return LAZ_EINVAL;
    const struct laz_artifact_item *item = &result->artifacts.items[index];
    const struct laz_artifact made = {
        .size = sizeof made,
        .name = item->name,
        .type = item->type,
        .sha256 = item->sha256,
        .data = laz_buf_text(&item->data),
        .data_len = item->data.len,
        .path = item->path,
        .problem = item->problem,
    };
    return LAZ_OPTIONS_GIVE(artifact, &made, laz_artifact, NULL);
}

size_t laz_result_lost_artifacts(const struct laz_result *result)
{
    return result ? result->artifacts.n_lost : 0;
}

int laz_result_lost_artifact(const struct laz_result *result, size_t index,
                             struct laz_lost_artifact *artifact)
{
    if (!artifact || index >= laz_result_lost_artifacts(result))
        return LAZ_EINVAL;
    const struct laz_lost_item *item = &result->artifacts.lost[index];
    const struct laz_lost_artifact made = {
        .size = sizeof made,
        .name = item->name,
        .why = item->why,
        .bytes = item->bytes,
    };
    return LAZ_OPTIONS_GIVE(artifact, &made, laz_lost_artifact, NULL);
}

/* The name in another form: "a/plot-2.png" for number 2; number 1: as it is. */
static char *artifact_name(const char *name, int number)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    const int stem = dot ? (int)(dot - name) : (int)strlen(name);

    return number == 1 ? laz_strdup(name)
                       : laz_strdupf("%.*s-%d%s", stem, name, number, dot ? dot : "");
}

static int artifact_save(struct laz_artifact_item *item, const char *directory,
                         struct laz_error *err)
{
    int failed = EEXIST;

    for (int number = 1; failed == EEXIST && number <= ARTIFACT_NAMES; number++) {
        char *name = artifact_name(item->name, number);
        char *path = name ? laz_strdupf("%s/%s", directory, name) : NULL;
        failed = path ? laz_os_walk_make(directory, name, laz_buf_text(&item->data), item->data.len)
                      : ENOMEM;
        if (!failed) {
            free(item->path);
            item->path = path;
            path = NULL;
        }
        free(path);
        free(name);
    }
    if (failed == EEXIST)
        return laz_error_set(
            err, LAZ_EOS, failed,
            "the artifact %s cannot be saved in %s: a file or a link of this name, "
            "or of its directory's, is in the way",
            item->name, directory);
    return failed ? laz_error_os(err, failed, "the artifact %s cannot be saved in %s", item->name,
                                 directory)
                  : 0;
}

/* Each has its own problem, or that of the directory. */
int laz_result_save_artifacts(struct laz_result *result, const char *directory,
                              struct laz_error *err)
{
    struct laz_error missing = {0}, first = {0};
    struct laz_look look;

    if (!result || !directory)
        return laz_error_null(err, result ? "the directory" : "the result");
    if (result->artifacts.n && laz_os_look(directory, true, &look) == ENOENT)
        (void)laz_os_make_directory(directory, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &missing);
    for (size_t i = 0; i < result->artifacts.n; i++) {
        struct laz_artifact_item *item = &result->artifacts.items[i];
        struct laz_error why = missing;
        if (!why.code)
            (void)artifact_save(item, directory, &why);
        free(item->problem);
        item->problem = why.code ? laz_strdup(why.text) : NULL;
        if (why.code && !first.code)
            first = why;
    }
    free(result->json); /* it has the paths */
    result->json = NULL;
    if (first.code && err)
        *err = first;
    return first.code;
}
