/* SPDX-License-Identifier: MIT */
/* results.c - the result of an execution as the client gets it: text as the language prints it,
 * pictures, links to files; and, where the settings want it, the same as a JSON object.
 * Side: host.  Input trusted: no (all of it comes from the sandbox; the library has checked it).
 *
 * What a model is shown is bounded: of more the beginning and the end, and the whole can be read as
 * a resource.  Texts of the content act on no terminal that shows them; the object is exact. */
#include "mcp/mcp_private.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

#define RESULTS_PICTURES                                                                           \
    ((size_t)4 << 20) /* bytes of pictures in a result; of others there is a link */
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the table ------------------------------------------------------------------------------- */

struct result_error {
    const char *kind, *message, *uri;
    int64_t line, column;
    struct laz_strv traceback;
};

struct result_usage {
    int64_t wall_ms, cpu_ms, memory, tool_calls;
};

struct result_file {
    const char *name, *type, *sha256, *uri;
    int64_t size;
};

struct result_lost {
    const char *name, *why;
    int64_t bytes;
};

struct result {
    const char *verdict, *execution, *detail, *output, *output_uri, *value_uri, *replaced;
    const char *value, *isolation, *denials, *credentials;
    size_t value_len, isolation_len, denials_len, credentials_len, output_len;
    struct result_error error;
    struct result_usage usage;
    struct laz_strv warnings;
    struct laz_field_list files, lost;
    bool has_error, is_truncated, is_kept, is_value_omitted;
};

#define NEEDED .flags = LAZ_FIELD_REQUIRED
#define OMIT   .flags = LAZ_FIELD_OMIT

#define AT(member) .at = offsetof(struct result_error, member)
static const struct laz_field error_members[] = {
    {"kind", LAZ_FIELD_TEXT, AT(kind), .help = "runtime, syntax, memory, exit, ..."},
    {"message", LAZ_FIELD_TEXT, NEEDED, AT(message),
     .help = "of a long one the beginning and the end"},
    {"line", LAZ_FIELD_INTEGER, OMIT, AT(line), .help = "of the code, from 1"},
    {"column", LAZ_FIELD_INTEGER, OMIT, AT(column)},
    {"traceback", LAZ_FIELD_TEXTS, OMIT, AT(traceback), .help = "calls, the outermost first"},
    {"uri", LAZ_FIELD_TEXT, AT(uri), .help = "of a long message or traceback, as a whole"},
};
#undef AT
#define AT(member) .at = offsetof(struct result_usage, member)
static const struct laz_field usage_members[] = {
    {"wall_ms", LAZ_FIELD_INTEGER, NEEDED, AT(wall_ms)},
    {"cpu_ms", LAZ_FIELD_INTEGER, NEEDED, AT(cpu_ms)},
    {"memory_bytes", LAZ_FIELD_INTEGER, NEEDED, AT(memory), .help = "the most so far"},
    {"tool_calls", LAZ_FIELD_INTEGER, NEEDED, AT(tool_calls)},
};
#undef AT
#define AT(member) .at = offsetof(struct result_file, member)
static const struct laz_field file_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    {"type", LAZ_FIELD_TEXT, NEEDED, AT(type)},
    {"size", LAZ_FIELD_INTEGER, NEEDED, AT(size)},
    {"sha256", LAZ_FIELD_TEXT, NEEDED, AT(sha256)},
    {"uri", LAZ_FIELD_TEXT, NEEDED, AT(uri), .help = "to read it by, or to give it to other code"},
};
#undef AT
#define AT(member) .at = offsetof(struct result_lost, member)
static const struct laz_field lost_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    {"bytes", LAZ_FIELD_INTEGER, NEEDED, AT(bytes), .help = "that have come"},
    {"why", LAZ_FIELD_TEXT, NEEDED, AT(why)},
};
static const struct laz_fields
    error_fields = {MCP_FIELDS("an error", struct result_error, error_members)},
    usage_fields = {MCP_FIELDS("usage", struct result_usage, usage_members)},
    file_fields = {MCP_FIELDS("a file", struct result_file, file_members)},
    lost_fields = {MCP_FIELDS("a lost file", struct result_lost, lost_members)};
#undef AT
#define AT(member)    .at = offsetof(struct result, member)
#define BYTES(member) AT(member), .len_at = offsetof(struct result, member##_len)

static const struct laz_field result_members[] = {
    {"verdict", LAZ_FIELD_TEXT, NEEDED, AT(verdict),
     .help = "how it ended: ok, error, syntax_error, timeout, memory_limit, cancelled, ..."},
    {"execution", LAZ_FIELD_TEXT, AT(execution), .help = "the handle of one that is running"},
    {"value", LAZ_FIELD_JSON, BYTES(value),
     .help = "of the last expression; a large one is a resource"},
    {"value_uri", LAZ_FIELD_TEXT, AT(value_uri), .help = "of a large value, as JSON"},
    {"value_omitted", LAZ_FIELD_BOOLEAN, OMIT, AT(is_value_omitted),
     .help = "it is null because it was too large; a warning says more"},
    {"output", LAZ_FIELD_TEXT, NEEDED, BYTES(output),
     .help = "what the code printed; of long output the beginning and the end"},
    {"output_uri", LAZ_FIELD_TEXT, AT(output_uri), .help = "of long output, as a whole"},
    {"truncated", LAZ_FIELD_BOOLEAN, OMIT, AT(is_truncated),
     .help = "output was discarded, because there was too much of it"},
    {"detail", LAZ_FIELD_TEXT, AT(detail), .help = "how it ended, as a sentence"},
    {"error", LAZ_FIELD_OBJECT, .has_at = offsetof(struct result, has_error), AT(error),
     .of = &error_fields},
    {"warnings", LAZ_FIELD_TEXTS, OMIT, AT(warnings)},
    {"denials", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, BYTES(denials),
     .help = "what was refused, or is missing by the settings: objects with what, name, allow, "
             "retry, ..."},
    {"credentials", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, BYTES(credentials),
     .help = "with which the host has authenticated requests of the code: objects with name, host, "
             "count"},
    {"replaced", LAZ_FIELD_TEXT, AT(replaced),
     .help = "the verdict that had ended the interpreter of this session: its variables are gone"},
    {"kept", LAZ_FIELD_BOOLEAN, AT(is_kept),
     .help = "the session goes on with all that the code has made"},
    {"files", LAZ_FIELD_LIST, AT(files), .of = &file_fields,
     .help = "what the code has saved in artifacts/, and drawn"},
    {"files_lost", LAZ_FIELD_LIST, OMIT, AT(lost), .of = &lost_fields,
     .help = "such files that have not come as a whole, and cannot be read"},
    {"usage", LAZ_FIELD_OBJECT, NEEDED, AT(usage), .of = &usage_fields},
    {"isolation", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, BYTES(isolation),
     .help = "the backend of the sandbox, and what it has enforced"},
};
const struct laz_fields mcp_result_fields = {MCP_FIELDS("a result", struct result, result_members)};

/* All that is made for one result; its URIs are those of `kept`. */
struct making {
    struct laz_mcp *mcp;
    struct mcp_resource_list *kept;
    const struct laz_result *from;
    bool keeps, is_new; /* in a session that goes on, which is new */
    size_t told;        /* bytes of the output that were told already */
    struct result to;
    struct laz_buf output, message, detail, text, isolation, denials, credentials, json;
    size_t pictures; /* bytes */
    bool failed;
};

/* ---- long texts ------------------------------------------------------------------------------ */

/* A byte before which a UTF-8 text can be cut, at `at` or up to 3 bytes before it. */
static size_t text_cut(const char *text, size_t at)
{
    for (unsigned i = 0; i < 3 && at && ((unsigned char)text[at] & 0xc0) == 0x80; i++)
        at--;
    return at;
}

/* Appends a text, or of more than `most` bytes its beginning and its end, and where the whole is;
 * `uri` NULL: nowhere. */
static void text_add(struct laz_buf *shown, const char *text, size_t len, size_t most,
                     const char *uri)
{
    if (len <= most) {
        laz_buf_append(shown, text, len);
        return;
    }
    const size_t head = text_cut(text, most / 2), tail = text_cut(text, len - most / 2);
    laz_buf_append(shown, text, head);
    laz_buf_printf(shown, "\n... %zu bytes are left out%s%s ...\n", tail - head,
                   uri ? "; all of it is the resource " : "", uri ? uri : "");
    laz_buf_append(shown, text + tail, len - tail);
}

/* Keeps what can be read later; its URI. NULL: out of memory. */
static const char *making_keep(struct making *making, const char *name, const char *type,
                               const char *data, size_t len)
{
    const struct mcp_resource *kept =
        mcp_resource_make(making->mcp, making->kept, name, type, data, len);

    making->failed |= !kept;
    return kept ? kept->uri : NULL;
}

/* Appends a text as it is shown, and keeps a long one: its URI, else NULL. */
static const char *text_shorten(struct making *making, const char *name, const char *text,
                                size_t len, struct laz_buf *shown)
{
    const char *uri = len > MCP_SHOWN ? making_keep(making, name, "text/plain", text, len) : NULL;

    text_add(shown, text, len, MCP_SHOWN, uri);
    return uri;
}

/* Are they more, or longer, than is shown? */
static bool texts_are_long(const struct laz_strv *texts)
{
    bool are = texts->n > MCP_SHOWN_LINES;

    for (size_t i = 0; i < texts->n && !are; i++)
        are = strlen(texts->items[i]) > MCP_SHOWN_LINE;
    return are;
}

/* Adds the first and the last of them, each shortened. */
static void texts_add(struct laz_strv *shown, const struct laz_strv *texts, const char *uri)
{
    const size_t left_out = texts->n > MCP_SHOWN_LINES ? texts->n - MCP_SHOWN_LINES : 0;

    for (size_t i = 0; i < texts->n; i++) {
        struct laz_buf line = LAZ_BUF_INIT;
        if (left_out && i == MCP_SHOWN_LINES / 2) {
            laz_strv_addf(shown, "... %zu are left out%s%s ...", left_out,
                          uri ? "; all of them are in the resource " : "", uri ? uri : "");
            i += left_out;
        }
        text_add(&line, texts->items[i], strlen(texts->items[i]), MCP_SHOWN_LINE, NULL);
        laz_strv_add(shown, laz_buf_text(&line));
        shown->failed |= line.failed;
        laz_buf_fini(&line);
    }
}

static void texts_join(struct laz_buf *all, const struct laz_strv *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        laz_buf_printf(all, "%s\n", texts->items[i]);
}

/* ---- what a result has ----------------------------------------------------------------------- */

static void making_output(struct making *making)
{
    struct laz_buf whole = LAZ_BUF_INIT;

    for (size_t i = 0; i < laz_result_outputs(making->from); i++) {
        size_t len = 0;
        const char *piece = laz_result_output(making->from, i, NULL, &len);
        laz_buf_append(&whole, piece, len);
    }
    const size_t told = making->told < whole.len ? making->told : whole.len;
    making->to.output_uri = text_shorten(making, "output.txt", laz_buf_text(&whole) + told,
                                         whole.len - told, &making->output);
    making->to.output = laz_buf_text(&making->output);
    making->to.output_len = making->output.len;
    making->failed |= whole.failed;
    laz_buf_fini(&whole);
}

static void making_value(struct making *making)
{
    const char *value = laz_result_value(making->from);
    const size_t len = strlen(value);

    making->to.is_value_omitted = laz_result_is_value_omitted(making->from);
    making->to.value_len = len;
    if (len <= MCP_SHOWN)
        making->to.value = value;
    else
        making->to.value_uri = making_keep(making, "value.json", "application/json", value, len);
}

/* The message and the calls of an error, and how the execution has ended. */
static void making_error(struct making *making)
{
    const struct laz_result *from = making->from;
    const char *message = laz_result_error(from), *detail = laz_result_detail(from);
    struct result_error *error = &making->to.error;
    struct laz_strv calls = LAZ_STRV_INIT;
    struct laz_buf whole = LAZ_BUF_INIT;

    for (size_t i = 0; i < laz_result_traceback_length(from); i++)
        laz_strv_add(&calls, laz_result_traceback(from, i));
    if (message && (strlen(message) > MCP_SHOWN_ERROR || texts_are_long(&calls))) {
        texts_join(&whole, &calls);
        laz_buf_puts(&whole, message);
        error->uri =
            making_keep(making, "error.txt", "text/plain", laz_buf_text(&whole), whole.len);
    }
    if (message)
        text_add(&making->message, message, strlen(message), MCP_SHOWN_ERROR, error->uri);
    text_add(&making->detail, detail, strlen(detail), MCP_SHOWN_ERROR, error->uri);
    texts_add(&error->traceback, &calls, error->uri);
    making->to.has_error = message != NULL;
    making->to.detail = *detail ? laz_buf_text(&making->detail) : NULL;
    error->message = laz_buf_text(&making->message);
    error->kind = laz_result_error_kind(from);
    error->line = laz_result_error_line(from);
    error->column = laz_result_error_column(from);
    making->failed |= calls.failed || whole.failed || error->traceback.failed ||
                      making->message.failed || making->detail.failed;
    laz_strv_fini(&calls);
    laz_buf_fini(&whole);
}

/* The library bounds what comes from the sandbox here. That the value is missing says nothing to
 * who has its text. */
static void making_warnings(struct making *making)
{
    static const char omitted[] = "value_omitted: ";
    const bool has_text = !making->mcp->values->mcp.structured && laz_result_text(making->from);

    for (size_t i = 0; i < laz_result_warnings(making->from); i++) {
        const char *warning = laz_result_warning(making->from, i);
        if (!has_text || strncmp(warning, omitted, sizeof omitted - 1) != 0)
            laz_strv_add(&making->to.warnings, warning);
    }
    making->failed |= making->to.warnings.failed;
}

/* A list of JSON objects; NULL: there are none. */
static const char *making_list(const struct making *making, size_t n,
                               const char *(*at)(const struct laz_result *result, size_t index),
                               struct laz_buf *list, size_t *len)
{
    struct laz_json_write write = {.to = list};

    if (!n)
        return NULL;
    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; i < n; i++) {
        const char *one = at(making->from, i);
        laz_json_add_raw(&write, NULL, one, strlen(one));
    }
    laz_json_end_list(&write);
    *len = list->len;
    return laz_buf_text(list);
}

/* The text has denials in the output, and as warnings. */
static void making_network(struct making *making)
{
    struct result *to = &making->to;

    to->denials = making_list(making, laz_result_denials(making->from), laz_result_denial,
                              &making->denials, &to->denials_len);
    to->credentials =
        making_list(making, laz_result_credentials(making->from), laz_result_credential,
                    &making->credentials, &to->credentials_len);
}

static void making_usage(struct making *making)
{
    struct laz_execution_usage usage = LAZ_EXECUTION_USAGE_INIT;

    (void)laz_result_usage(making->from, &usage);
    making->to.usage = (struct result_usage){
        .wall_ms = (int64_t)(usage.wall_us / 1000),
        .cpu_ms = (int64_t)(usage.cpu_us / 1000),
        .memory = (int64_t)usage.max_rss_bytes,
        .tool_calls = (int64_t)usage.tool_calls,
    };
}

/* The backend and what it enforces; how it does that is of no use to a model. */
static void making_isolation(struct making *making)
{
    static const char *const kept[] = {"backend", "enforces"};
    const char *json = laz_result_isolation(making->from), *raw;
    struct laz_json_write write = {.to = &making->isolation};
    size_t len;

    laz_json_begin_object(&write, NULL);
    for (size_t i = 0; i < COUNT(kept); i++)
        if (laz_json_member(json, strlen(json), kept[i], &raw, &len))
            laz_json_add_raw(&write, kept[i], raw, len);
    laz_json_end_object(&write);
    making->to.isolation = laz_buf_text(&making->isolation);
    making->to.isolation_len = making->isolation.len;
}

/* Keeps all that the code has made, so that it can be read. */
static void making_files(struct making *making)
{
    const size_t n = laz_result_artifacts(making->from);
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct result_file *files = making->to.files.items = calloc(n + 1, sizeof *files);

    making->failed |= !files;
    for (size_t i = 0; files && laz_result_artifact(making->from, i, &artifact) == 0; i++)
        files[making->to.files.n++] = (struct result_file){
            .name = artifact.name,
            .type = artifact.type,
            .sha256 = artifact.sha256,
            .uri =
                making_keep(making, artifact.name, artifact.type, artifact.data, artifact.data_len),
            .size = (int64_t)artifact.data_len,
        };
}

static void making_lost(struct making *making)
{
    const size_t n = laz_result_lost_artifacts(making->from);
    struct laz_lost_artifact lost = LAZ_LOST_ARTIFACT_INIT;
    struct result_lost *all = making->to.lost.items = calloc(n + 1, sizeof *all);

    making->failed |= !all;
    for (size_t i = 0; all && laz_result_lost_artifact(making->from, i, &lost) == 0; i++)
        all[making->to.lost.n++] = (struct result_lost){lost.name, lost.why, (int64_t)lost.bytes};
}

/* What was wrong. */
static void text_problems(struct laz_buf *text, const struct result *to)
{
    const struct result_error *error = &to->error;
    const struct result_lost *lost = to->lost.items;
    const bool is_detail = to->has_error && to->detail && strcmp(error->message, to->detail) == 0;

    texts_join(text, &error->traceback);
    if (to->has_error && error->line)
        laz_buf_printf(text, "%s error in line %lld: %s\n", error->kind, (long long)error->line,
                       error->message);
    else if (to->has_error && !is_detail)
        laz_buf_printf(text, "%s error: %s\n", error->kind ? error->kind : "an", error->message);
    if (to->detail && !(is_detail && error->line))
        laz_buf_printf(text, "%s: %s\n", to->verdict, to->detail);
    for (size_t i = 0; i < to->lost.n; i++)
        laz_buf_printf(text, "the file %s is lost, after %lld bytes: %s\n", lost[i].name,
                       (long long)lost[i].bytes, lost[i].why);
    for (size_t i = 0; i < to->warnings.n; i++)
        laz_buf_printf(text, "warning: %s\n", to->warnings.items[i]);
    if (to->is_truncated)
        laz_buf_puts(text, "Some output was discarded: there was too much of it.\n");
}

/* What a model could not expect: a sandbox that does not do what it is for, a session that is lost
 * or was kept. */
static void text_circumstances(const struct making *making, struct laz_buf *text)
{
    static const char *const usual[] = {"fs_read", "fs_write", "network"};
    const char *backend = laz_result_backend(making->from);
    const enum laz_verdict verdict = laz_result_verdict(making->from);
    unsigned n = 0;

    for (size_t i = 0; backend && i < COUNT(usual); i++)
        if (!laz_result_enforces(making->from, usual[i]))
            laz_buf_printf(text, "%s%s", n++ ? ", " : "not enforced by the sandbox: ", usual[i]);
    if (n)
        laz_buf_putc(text, '\n');
    if (verdict == LAZ_VERDICT_OK && laz_result_exit_status(making->from) != 0)
        laz_buf_printf(text, "exit status %d\n", laz_result_exit_status(making->from));
    if (!making->keeps || (verdict == LAZ_VERDICT_OK && making->to.is_kept))
        return;
    if (!making->to.is_kept)
        laz_buf_puts(text, "The interpreter of the session was ended: its variables are gone.\n");
    else if (verdict == LAZ_VERDICT_TIMEOUT || verdict == LAZ_VERDICT_DEADLINE ||
             verdict == LAZ_VERDICT_CANCELLED)
        laz_buf_puts(text, "The code was interrupted; the session keeps its variables.\n");
}

/* As a prompt of the language shows it; then what was wrong. A client may show it at a terminal. */
static void making_text(struct making *making)
{
    const char *value = laz_result_text(making->from), *replaced = making->to.replaced;
    struct laz_visible visible = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    if (making->is_new)
        laz_buf_puts(&text, "The session had expired: its variables are gone.\n");
    if (replaced && strcmp(replaced, laz_verdict_name(LAZ_VERDICT_OK)) == 0)
        laz_buf_puts(&text, "The interpreter of this session had ended: its variables are gone.\n");
    else if (replaced)
        laz_buf_printf(&text,
                       "The interpreter of this session had ended (%s): its variables are gone.\n",
                       replaced);
    laz_buf_append(&text, laz_buf_text(&making->output), making->output.len);
    if (value && text.len && text.data[text.len - 1] != '\n')
        laz_buf_putc(&text, '\n');
    if (value)
        (void)text_shorten(making, "value.txt", value, strlen(value), &text);
    if (text.len && text.data[text.len - 1] != '\n')
        laz_buf_putc(&text, '\n');
    text_problems(&text, &making->to);
    text_circumstances(making, &text);
    if (!text.len && !making->to.files.n)
        laz_buf_puts(&text, "(no output)");
    laz_visible_add(&visible, &making->text, laz_buf_text(&text), text.len);
    laz_visible_end(&visible, &making->text);
    making->failed |= text.failed;
    laz_buf_fini(&text);
}

/* The object, with escapes for what a terminal would act on: its text is in the content, too. */
static void making_json(struct making *making)
{
    struct laz_visible visible = {.json = true};
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_fields_add(&write, NULL, &mcp_result_fields, &making->to);
    laz_visible_add(&visible, &making->json, laz_buf_text(&json), json.len);
    laz_visible_end(&visible, &making->json);
    making->failed |= json.failed;
    laz_buf_fini(&json);
}

static void making_fini(struct making *making)
{
    free(making->to.files.items);
    free(making->to.lost.items);
    laz_strv_fini(&making->to.error.traceback);
    laz_strv_fini(&making->to.warnings);
    laz_buf_fini(&making->output);
    laz_buf_fini(&making->message);
    laz_buf_fini(&making->detail);
    laz_buf_fini(&making->text);
    laz_buf_fini(&making->isolation);
    laz_buf_fini(&making->denials);
    laz_buf_fini(&making->credentials);
    laz_buf_fini(&making->json);
}

static bool making_make(struct making *making)
{
    making->to.verdict = laz_verdict_name(laz_result_verdict(making->from));
    making->to.replaced = laz_result_replaced(making->from);
    making->to.is_kept = laz_result_is_kept(making->from);
    making->to.is_truncated = laz_result_is_truncated(making->from);
    making_output(making);
    making_value(making);
    making_error(making);
    making_warnings(making);
    making_network(making);
    making_usage(making);
    making_isolation(making);
    making_files(making);
    making_lost(making);
    making_text(making);
    if (making->mcp->values->mcp.structured)
        making_json(making);
    return !making->failed && !making->output.failed && !making->text.failed &&
           !making->isolation.failed && !making->denials.failed && !making->credentials.failed &&
           !making->json.failed;
}

/* ---- content --------------------------------------------------------------------------------- */

static bool content_is_picture(const struct result_file *file)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(file->type, types[i]) == 0)
            return true;
    return false;
}

static void content_picture(struct laz_json_write *write, const struct result_file *file,
                            const struct laz_artifact *artifact)
{
    struct laz_buf data = LAZ_BUF_INIT;

    laz_base64_encode(&data, artifact->data, artifact->data_len);
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "type", "image");
    laz_json_add_bytes(write, "data", laz_buf_text(&data), data.len);
    laz_json_add_text(write, "mimeType", file->type);
    laz_json_end_object(write);
    write->to->failed |= data.failed;
    laz_buf_fini(&data);
}

static void content_link(struct laz_json_write *write, const struct result_file *file)
{
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "type", "resource_link");
    laz_json_add_text(write, "uri", file->uri);
    laz_json_add_text(write, "name", file->name);
    laz_json_add_text(write, "mimeType", file->type);
    laz_json_add_int(write, "size", file->size);
    laz_json_end_object(write);
}

static void content_files(struct making *making, struct laz_json_write *write)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;

    for (size_t i = 0; laz_result_artifact(making->from, i, &artifact) == 0; i++) {
        const struct result_file *file = (const struct result_file *)making->to.files.items + i;
        if (content_is_picture(file) && making->pictures + artifact.data_len <= RESULTS_PICTURES) {
            making->pictures += artifact.data_len;
            content_picture(write, file, &artifact);
        } else {
            content_link(write, file);
        }
    }
}

static void result_send(const struct mcp_asked *asked, struct making *making)
{
    struct laz_json_write write;

    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_begin_list(&write, "content");
    if (making->text.len)
        mcp_answer_text(&write, laz_buf_text(&making->text), making->text.len);
    content_files(making, &write);
    mcp_answer_object(making->mcp, &write, laz_buf_text(&making->json), making->json.len);
    laz_json_add_bool(&write, "isError", laz_result_exit_status(making->from) != 0);
    mcp_answer_end(asked, &write);
}

void mcp_result_write(struct laz_mcp *mcp, const struct mcp_asked *asked,
                      const struct laz_result *result, struct mcp_resource_list *kept)
{
    struct making making = {.mcp = mcp,
                            .kept = kept,
                            .from = result,
                            .keeps = asked->keeps,
                            .is_new = asked->is_new,
                            .told = asked->told};
    struct laz_error why = {0};

    if (making_make(&making)) {
        result_send(asked, &making);
    } else {
        laz_error_nomem(&why);
        mcp_refuse(asked, &why);
    }
    making_fini(&making);
}

/* The object of one that goes on: its verdict is "running". */
static void result_running(const struct laz_mcp *mcp, struct laz_json_write *write,
                           const char *handle, const struct laz_buf *output)
{
    const struct result running = {
        .verdict = "running",
        .execution = handle,
        .output = laz_buf_text(output),
        .output_len = output->len,
        .isolation = "{}",
        .isolation_len = 2,
    };
    struct laz_buf json = LAZ_BUF_INIT, shown = LAZ_BUF_INIT;
    struct laz_visible visible = {.json = true};
    struct laz_json_write members = {.to = &json};

    laz_fields_add(&members, NULL, &mcp_result_fields, &running);
    laz_visible_add(&visible, &shown, laz_buf_text(&json), json.len);
    laz_visible_end(&visible, &shown);
    mcp_answer_object(mcp, write, laz_buf_text(&shown), shown.len);
    write->to->failed |= json.failed || shown.failed;
    laz_buf_fini(&json);
    laz_buf_fini(&shown);
}

void mcp_result_going_on(const struct mcp_asked *asked, const char *what, const char *handle,
                         const struct laz_buf *output)
{
    struct laz_visible visible = {0};
    struct laz_buf text = LAZ_BUF_INIT, shown = LAZ_BUF_INIT;
    struct laz_json_write write;

    laz_buf_append(&text, laz_buf_text(output), output->len);
    if (text.len && text.data[text.len - 1] != '\n')
        laz_buf_putc(&text, '\n');
    laz_buf_printf(&text, "%s%s%s\n", what, handle ? ": execution " : "", handle ? handle : "");
    laz_visible_add(&visible, &shown, laz_buf_text(&text), text.len);
    laz_visible_end(&visible, &shown);
    if (mcp_answer_begin(asked, "complete", &write)) {
        laz_json_begin_list(&write, "content");
        mcp_answer_text(&write, laz_buf_text(&shown), shown.len);
        result_running(asked->peer->mcp, &write, handle, output);
        write.to->failed |= text.failed || shown.failed;
        mcp_answer_end(asked, &write);
    }
    laz_buf_fini(&text);
    laz_buf_fini(&shown);
}
