/* SPDX-License-Identifier: MIT */
/* result.c - the result of an execution, field by field and as one JSON object. */
#include "session/result.h"

#include "base/enforce.h"
#include "base/json_write.h"
#include "base/options.h"
#include "base/outcome.h"
#include "os/directories.h"
#include "os/walk.h"
#include "session/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct laz_result *laz_result_nothing_ran(enum laz_verdict verdict, const char *kind,
                                          const char *message)
{
    struct laz_result *result = calloc(1, sizeof *result);

    if (!result)
        return NULL;
    result->verdict = verdict;
    result->has_error = true;
    result->detail = laz_strdup(message);
    result->error_kind = laz_strdup(kind ? kind : laz_verdict_error_kind(verdict));
    result->error_message = laz_strdup(message);
    if (!result->detail || !result->error_kind || !result->error_message) {
        laz_result_free(result);
        return NULL;
    }
    return result;
}

struct laz_result *laz_result_not_started(int rc, const char *why)
{
    return laz_result_nothing_ran(
        rc == LAZ_ECANCELLED ? LAZ_VERDICT_CANCELLED : LAZ_VERDICT_SETUP_FAILED, NULL, why);
}

void laz_result_free(struct laz_result *result)
{
    if (!result)
        return;
    free(result->detail);
    free(result->evidence);
    free(result->value);
    free(result->text);
    free(result->error_kind);
    free(result->error_message);
    laz_strv_fini(&result->traceback);
    laz_strv_fini(&result->warnings);
    laz_strv_fini(&result->denials);
    laz_strv_fini(&result->credentials);
    laz_output_fini(&result->output);
    laz_artifacts_fini(&result->artifacts);
    free(result->isolation);
    free(result->json);
    free(result);
}

enum laz_verdict laz_result_verdict(const struct laz_result *result)
{
    return result ? result->verdict : LAZ_VERDICT_SETUP_FAILED;
}

int laz_result_exit_status(const struct laz_result *result)
{
    const bool is_own = result && result->verdict == LAZ_VERDICT_ERROR && result->status > 0 &&
                        result->status < laz_verdict_exit_status(LAZ_VERDICT_TIMEOUT);
    const bool is_value = result && result->verdict == LAZ_VERDICT_OK && result->has_status;

    return is_own || is_value ? result->status
                              : laz_verdict_exit_status(laz_result_verdict(result));
}

const char *laz_result_detail(const struct laz_result *result)
{
    if (!result)
        return NULL;
    return result->detail ? result->detail : "";
}

const char *laz_result_value(const struct laz_result *result)
{
    if (!result)
        return NULL;
    return result->value ? result->value : "null";
}

const char *laz_result_text(const struct laz_result *result)
{
    return result ? result->text : NULL;
}

size_t laz_result_outputs(const struct laz_result *result)
{
    return result ? result->output.n_pieces : 0;
}

const char *laz_result_output(const struct laz_result *result, size_t index, int *stream,
                              size_t *len)
{
    if (index >= laz_result_outputs(result))
        return NULL;
    const struct laz_output_piece *piece = &result->output.pieces[index];
    if (stream)
        *stream = piece->stream;
    if (len)
        *len = piece->len;
    return laz_buf_text(&result->output.kept) + piece->at;
}

bool laz_result_is_truncated(const struct laz_result *result)
{
    return result && result->output.truncated;
}

bool laz_result_is_kept(const struct laz_result *result)
{
    return result && result->is_kept;
}

bool laz_result_is_value_omitted(const struct laz_result *result)
{
    return result && result->is_value_omitted;
}

const char *laz_result_replaced(const struct laz_result *result)
{
    return result ? result->replaced : NULL;
}

const char *laz_result_error(const struct laz_result *result)
{
    return result && result->has_error ? result->error_message : NULL;
}

const char *laz_result_error_kind(const struct laz_result *result)
{
    return result && result->has_error ? result->error_kind : NULL;
}

int64_t laz_result_error_line(const struct laz_result *result)
{
    return result && result->has_error && result->line > 0 ? result->line : 0;
}

int64_t laz_result_error_column(const struct laz_result *result)
{
    return result && result->has_error && result->column > 0 ? result->column : 0;
}

static const char *result_text_at(const struct laz_strv *texts, size_t index)
{
    return index < texts->n ? texts->items[index] : NULL;
}

size_t laz_result_traceback_length(const struct laz_result *result)
{
    return result ? result->traceback.n : 0;
}

const char *laz_result_traceback(const struct laz_result *result, size_t index)
{
    return result ? result_text_at(&result->traceback, index) : NULL;
}

size_t laz_result_warnings(const struct laz_result *result)
{
    return result ? result->warnings.n : 0;
}

const char *laz_result_warning(const struct laz_result *result, size_t index)
{
    return result ? result_text_at(&result->warnings, index) : NULL;
}

size_t laz_result_denials(const struct laz_result *result)
{
    return result ? result->denials.n : 0;
}

const char *laz_result_denial(const struct laz_result *result, size_t index)
{
    return result ? result_text_at(&result->denials, index) : NULL;
}

size_t laz_result_credentials(const struct laz_result *result)
{
    return result ? result->credentials.n : 0;
}

const char *laz_result_credential(const struct laz_result *result, size_t index)
{
    return result ? result_text_at(&result->credentials, index) : NULL;
}

int laz_result_usage(const struct laz_result *result, struct laz_execution_usage *usage)
{
    if (!result || !usage)
        return LAZ_EINVAL;
    const struct laz_execution_usage used = {
        .size = sizeof used,
        .wall_us = result->wall_us,
        .cpu_us = result->cpu_us,
        .max_rss_bytes = result->max_rss_bytes,
        .tool_calls = result->tool_calls,
    };
    return LAZ_OPTIONS_GIVE(usage, &used, laz_execution_usage, NULL);
}

const char *laz_result_isolation(const struct laz_result *result)
{
    if (!result)
        return NULL;
    return result->isolation ? result->isolation : "null";
}

const char *laz_result_backend(const struct laz_result *result)
{
    return result && *result->backend ? result->backend : NULL;
}

bool laz_result_enforces(const struct laz_result *result, const char *what)
{
    return result && what && (result->enforces & laz_enforce_bit(what));
}

const char *laz_result_session(const struct laz_result *result)
{
    return result && *result->session ? result->session : NULL;
}

static void result_write_raw(struct laz_json_write *write, const char *key, const char *json)
{
    laz_json_add_raw(write, key, json, strlen(json));
}

static void result_write_output(struct laz_json_write *write, const struct laz_output *output)
{
    laz_json_begin_list(write, "output");
    for (size_t i = 0; i < output->n_pieces; i++) {
        const struct laz_output_piece *piece = &output->pieces[i];
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "stream", piece->stream == LAZ_STDERR ? "stderr" : "stdout");
        laz_json_add_bytes(write, "text", laz_buf_text(&output->kept) + piece->at, piece->len);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
    laz_json_add_bool(write, "truncated", output->truncated);
}

static void result_write_artifacts(struct laz_json_write *write,
                                   const struct laz_artifacts *artifacts)
{
    laz_json_begin_list(write, "artifacts");
    for (size_t i = 0; i < artifacts->n; i++) {
        const struct laz_artifact_item *item = &artifacts->items[i];
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "name", item->name);
        laz_json_add_text(write, "type", item->type);
        laz_json_add_uint(write, "size", item->data.len);
        laz_json_add_text(write, "sha256", item->sha256);
        laz_json_add_text(write, "path", item->path);
        if (item->problem)
            laz_json_add_text(write, "problem", item->problem);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
    laz_json_begin_list(write, "artifacts_lost");
    for (size_t i = 0; i < artifacts->n_lost; i++) {
        const struct laz_lost_item *lost = &artifacts->lost[i];
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "name", lost->name);
        laz_json_add_uint(write, "bytes", lost->bytes);
        laz_json_add_text(write, "why", lost->why);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

static void result_write_error(struct laz_json_write *write, const struct laz_result *result)
{
    if (!result->has_error) {
        laz_json_add_null(write, "error");
        return;
    }
    laz_json_begin_object(write, "error");
    laz_json_add_text(write, "kind", result->error_kind);
    laz_json_add_text(write, "message", result->error_message);
    laz_json_add_texts(write, "traceback", &result->traceback);
    if (result->line > 0)
        laz_json_add_int(write, "line", result->line);
    if (result->column > 0)
        laz_json_add_int(write, "column", result->column);
    laz_json_end_object(write);
}

static void result_write_ms(struct laz_json_write *write, const char *key, uint64_t us)
{
    laz_json_add_key(write, key);
    laz_buf_printf(write->to, "%" PRIu64 ".%03u", us / 1000, (unsigned)(us % 1000));
}

static char *result_make_json(const struct laz_result *result)
{
    struct laz_buf buf = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &buf};

    laz_json_begin_object(&write, NULL);
    laz_json_add_bool(&write, "ok", result->verdict == LAZ_VERDICT_OK);
    result_write_raw(&write, "value", laz_result_value(result));
    laz_json_add_bool(&write, "value_omitted", result->is_value_omitted);
    laz_json_add_text(&write, "text", result->text);
    result_write_output(&write, &result->output);
    result_write_error(&write, result);
    laz_json_add_texts(&write, "warnings", &result->warnings);
    laz_json_begin_list(&write, "denials");
    for (size_t i = 0; i < result->denials.n; i++)
        result_write_raw(&write, NULL, result->denials.items[i]);
    laz_json_end_list(&write);
    laz_json_begin_list(&write, "credentials");
    for (size_t i = 0; i < result->credentials.n; i++)
        result_write_raw(&write, NULL, result->credentials.items[i]);
    laz_json_end_list(&write);
    result_write_artifacts(&write, &result->artifacts);
    laz_json_begin_object(&write, "verdict");
    laz_json_add_text(&write, "reason", laz_verdict_name(result->verdict));
    laz_json_add_text(&write, "detail", laz_result_detail(result));
    result_write_raw(&write, "evidence", result->evidence ? result->evidence : "{}");
    laz_json_end_object(&write);
    laz_json_add_text(&write, "replaced", result->replaced);
    laz_json_add_bool(&write, "kept", result->is_kept);
    laz_json_begin_object(&write, "usage");
    result_write_ms(&write, "wall_ms", result->wall_us);
    result_write_ms(&write, "cpu_ms", result->cpu_us);
    laz_json_add_uint(&write, "max_rss_bytes", result->max_rss_bytes);
    laz_json_add_uint(&write, "tool_calls", result->tool_calls);
    laz_json_end_object(&write);
    result_write_raw(&write, "isolation", result->isolation ? result->isolation : "null");
    laz_json_add_text(&write, "session", *result->session ? result->session : NULL);
    laz_json_end_object(&write);
    return laz_buf_steal(&buf);
}

const char *laz_result_json(const struct laz_result *result)
{
    if (!result)
        return NULL;
    if (!result->json) /* no result is made const */
        ((struct laz_result *)result)->json = result_make_json(result);
    return result->json ? result->json : "{\"ok\":false,\"value\":null}";
}

bool laz_result_is_large(const struct laz_result *result, bool with_artifacts)
{
    const char *text = laz_result_text(result);
    size_t size = strlen(laz_result_value(result)) + (text ? strlen(text) : 0), len;

    for (size_t i = 0; size <= LAZ_RESULT_LARGE && i < laz_result_outputs(result); i++, size += len)
        (void)laz_result_output(result, i, NULL, &len);
    for (size_t i = 0; with_artifacts && i < result->artifacts.n; i++)
        size += result->artifacts.items[i].data.len;
    return size > LAZ_RESULT_LARGE;
}

/* ---- artifacts ------------------------------------------------------------------------------- */

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
