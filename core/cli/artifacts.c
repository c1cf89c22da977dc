/* SPDX-License-Identifier: MIT */
/* artifacts.c - files for the code of `run` (--file), and what it has made (--artifacts).
 *
 * Side: host.  Input trusted: paths of the command line yes; names and bytes of artifacts no (the
 * library has checked the names).  A picture goes to a terminal that takes such files, as base64,
 * so nothing in it is a command for the terminal; that takes it apart as any program takes apart a
 * picture from the network, up to a size that does not fill its memory.  Nothing here decodes it.
 */
#include "cli/cli.h"

#include "base/base64.h"
#include "base/path.h"
#include "os/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MOST     ((size_t)1 << 30) /* bytes of a file for the code */
#define PICTURE_PIECE  4096      /* bytes of base64 in a command, "kitty graphics protocol" */
#define PICTURE_PIXELS 16777216u /* of one that is shown */

/* ---- files in -------------------------------------------------------------------------------- */

/* Reads NAME=PATH, or a file under its own name. */
static int files_read_one(const char *option, struct laz_file *file, struct laz_error *err)
{
    const char *equals = strchr(option, '='), *slash = strrchr(option, '/');
    const char *path = equals ? equals + 1 : option;
    struct laz_buf content = LAZ_BUF_INIT;

    file->size = sizeof *file;
    file->name = equals ? laz_strndup(option, (size_t)(equals - option))
                        : laz_strdup(slash ? slash + 1 : option);
    int rc = file->name ? laz_os_read_file(path, FILES_MOST, &content, err) : laz_error_nomem(err);
    if (!rc && !laz_name_is_plain(file->name))
        rc = laz_error_set(err, LAZ_EINVAL, 0, LAZ_NAME_RULE);
    if (rc)
        laz_error_prefix(err, "--file: ");
    file->data_len = content.len;
    file->data = laz_buf_steal(&content);
    return rc;
}

int cli_read_files(const struct laz_strv *options, struct cli_files *files, struct laz_error *err)
{
    int rc = 0;

    files->items = calloc(options->n + 1, sizeof *files->items);
    files->pointers = calloc(options->n + 1, sizeof *files->pointers);
    if (!files->items || !files->pointers)
        return laz_error_nomem(err);
    for (size_t i = 0; i < options->n && !rc; i++) {
        files->pointers[files->n++] = &files->items[i];
        rc = files_read_one(options->items[i], &files->items[i], err);
    }
    return rc;
}

void cli_free_files(struct cli_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free((void *)(uintptr_t)files->items[i].name);
        free((void *)(uintptr_t)files->items[i].data);
    }
    free(files->items);
    free(files->pointers);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static bool picture_is_set(const char *name, const char *part)
{
    const char *value = getenv(name);

    return value && *value && (!part || strstr(value, part));
}

static uint32_t picture_number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Is it a PNG of a reasonable size? Its header says so (ISO/IEC 15948, IHDR). */
static bool picture_is_fit(const struct laz_artifact *artifact)
{
    const unsigned char *data = artifact->data;

    if (strcmp(artifact->type, "image/png") != 0 || artifact->data_len < 33)
        return false;
    const uint64_t width = picture_number(data + 16), height = picture_number(data + 20);
    return width && height && width * height <= PICTURE_PIXELS;
}

/* By the graphics protocol of kitty: pieces, each but the last with m=1. */
static void picture_kitty(struct laz_buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len; at += PICTURE_PIECE) {
        const size_t n = len - at < PICTURE_PIECE ? len - at : PICTURE_PIECE;
        laz_buf_printf(out, "\033_G%sm=%d;%.*s\033\\", at ? "" : "f=100,a=T,q=2,", at + n < len,
                       (int)n, text + at);
    }
}

static void picture_iterm(struct laz_buf *out, const char *text, size_t len)
{
    laz_buf_puts(out, "\033]1337;File=inline=1:");
    laz_buf_append(out, text, len);
    laz_buf_putc(out, '\a');
}

/* How the terminal shows a PNG; NULL: it does not, as far as is known. */
static void (*picture_writer(void))(struct laz_buf *out, const char *text, size_t len)
{
    if (picture_is_set("TMUX", NULL) || picture_is_set("STY", NULL))
        return NULL; /* they pass nothing of the kind on */
    if (picture_is_set("KITTY_WINDOW_ID", NULL) || picture_is_set("TERM", "kitty") ||
        picture_is_set("TERM_PROGRAM", "ghostty"))
        return picture_kitty;
    return picture_is_set("TERM_PROGRAM", "iTerm") || picture_is_set("TERM_PROGRAM", "WezTerm")
               ? picture_iterm
               : NULL;
}

static void picture_show(struct cli *cli, const struct laz_artifact *artifact)
{
    void (*write)(struct laz_buf *, const char *, size_t) = picture_writer();
    struct laz_buf text = LAZ_BUF_INIT, out = LAZ_BUF_INIT;

    if (!write || !isatty(STDOUT_FILENO) || !picture_is_fit(artifact))
        return;
    laz_base64_encode(&text, artifact->data, artifact->data_len);
    write(&out, laz_buf_text(&text), text.len);
    laz_buf_putc(&out, '\n');
    if (text.failed || out.failed)
        laz_buf_clear(&out); /* the list below has it */
    cli_print(cli, &out);
    laz_buf_fini(&text);
}

/* ---- artifacts ------------------------------------------------------------------------------- */

int cli_save_artifacts(struct cli *cli, struct laz_result *result)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_error err = {0};
    bool is_told = false;

    if (!cli->artifacts)
        return CLI_OK;
    const int rc = laz_result_save_artifacts(result, cli->artifacts, &err);
    for (size_t i = 0; rc && laz_result_artifact(result, i, &artifact) == 0; i++) {
        is_told |= artifact.problem != NULL;
        if (artifact.problem)
            cli_problem(cli, "--artifacts: %s", artifact.problem);
    }
    if (rc && !is_told)
        cli_problem(cli, "--artifacts: %s", err.text);
    return rc || laz_result_lost_artifacts(result) ? CLI_OUTPUT : CLI_OK;
}

/* As truncated output, also to those who want nothing else said. */
static void artifacts_tell_lost(struct cli *cli, const struct laz_result *result)
{
    struct laz_lost_artifact lost = LAZ_LOST_ARTIFACT_INIT;

    for (size_t i = 0; laz_result_lost_artifact(result, i, &lost) == 0; i++)
        cli_say(cli, "the artifact %s is lost, after %llu bytes: %s", lost.name,
                (unsigned long long)lost.bytes, lost.why);
}

/* Was its interpreter ended before files were collected? */
static bool artifacts_were_cut(const struct laz_result *result)
{
    static const enum laz_verdict ends[] = {
        LAZ_VERDICT_TIMEOUT,      LAZ_VERDICT_DEADLINE,  LAZ_VERDICT_CPU_LIMIT,
        LAZ_VERDICT_TOOL_LIMIT,   LAZ_VERDICT_CANCELLED, LAZ_VERDICT_CRASHED,
        LAZ_VERDICT_OUTPUT_LIMIT,
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (laz_result_verdict(result) == ends[i])
            return laz_result_artifacts(result) == 0;
    return false;
}

void cli_tell_artifacts(struct cli *cli, const struct laz_result *result)
{
    struct laz_artifact artifact = {.size = sizeof artifact};
    const size_t n = laz_result_artifacts(result);

    artifacts_tell_lost(cli, result);
    if (cli->artifacts && artifacts_were_cut(result))
        cli_say(
            cli,
            "warning: nothing is saved: files come out when the code has ended, and it was ended "
            "before");
    for (size_t i = 0; i < n && laz_result_artifact(result, i, &artifact) == 0; i++) {
        picture_show(cli, &artifact);
        if (!cli->quiet)
            cli_say(cli, "%s %s (%s, %zu bytes)", artifact.path ? "saved" : "artifact",
                    artifact.path ? artifact.path : artifact.name, artifact.type,
                    artifact.data_len);
    }
    if (n && !cli->artifacts && !cli->quiet)
        cli_say(cli, "--artifacts DIR saves %s", n == 1 ? "it" : "them");
}
