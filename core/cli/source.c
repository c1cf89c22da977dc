/* SPDX-License-Identifier: MIT */
/* source.c - the code that run and check are given: from a file, standard input or the command
 * line.
 *
 * Side: host.  Input trusted: no (files of the user's, which others may have written).
 *
 * A file's suffix decides the runtime unless --runtime does. A first line that begins with "#!" is
 * meant for the system and not for the language: it is made empty but kept, so that lines keep
 * their numbers. SOURCE_MAX only protects the command's memory; the session checks the length of
 * the code.
 *
 * A file whose comment names another encoding (PEP 263 of Python) becomes UTF-8 here.
 *
 * What the code of a file is shown of the files beside it is in modules.c. */
#include "cli/source.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "os/descriptors.h"
#include "os/encoding.h"
#include "os/files.h"
#include "os/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_MAX ((size_t)64 << 20)

/* ---- reading it ------------------------------------------------------------------------------ */

static int source_read_fd(struct cli *cli, struct source *source, int fd)
{
    for (;;) {
        ssize_t n;

        if (!laz_buf_reserve(&source->code, 65536)) {
            cli_problem(cli, "%s: out of memory", source->name);
            return CLI_SETUP;
        }
        n = read(fd, source->code.data + source->code.len, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_problem(cli, "%s: cannot be read: %s", source->name, strerror(errno));
        source->code.len += (size_t)n;
        source->code.data[source->code.len] = '\0';
        if (n == 0)
            return 0;
        if (source->code.len > SOURCE_MAX)
            return cli_problem(cli, "%s: longer than %zu MiB", source->name, SOURCE_MAX >> 20);
    }
}

static int source_read_file(struct cli *cli, struct source *source)
{
    struct laz_look look;
    int fd = laz_os_open_file(source->name, true, &look);

    if (fd < 0)
        return cli_problem(cli, "%s: cannot be opened: %s", source->name, strerror(errno));
    int status = look.kind == LAZ_LOOK_DIRECTORY
                     ? cli_problem(cli, "%s: is a directory", source->name)
                     : source_read_fd(cli, source, fd);
    laz_os_close(&fd);
    return status;
}

/* Finds the runtime for the file's suffix. For a name without one the settings decide. */
static int source_find_runtime(struct cli *cli, struct source *source)
{
    const char *slash = strrchr(source->name, '/');
    const char *dot = strrchr(slash ? slash + 1 : source->name, '.');

    if (cli->runtime || !dot)
        return 0;
    const struct laz_runtime_info *info = laz_registry_runtime_for(source->registry, source->name);
    if (!info) {
        struct laz_buf ignored = LAZ_BUF_INIT;
        laz_registry_ignored(source->registry, &ignored);
        cli_problem(cli,
                    "%s: no installed runtime takes files that end in %s; name one with --runtime "
                    "(lazaret plugins lists them)%s",
                    source->name, dot, laz_buf_text(&ignored));
        laz_buf_fini(&ignored);
        return CLI_USAGE;
    }
    source->runtime = info->name;
    return 0;
}

/* The one that it has, or that a session gets which names none. */
static const char *source_runtime(const struct cli *cli, const struct source *source)
{
    return source->runtime ? source->runtime
                           : laz_registry_usual_name(source->registry, cli->values);
}

/* ---- its encoding ---------------------------------------------------------------------------- */

#define ENCODING_NAME 64 /* bytes of a name */

/* The name in a line that is a comment: "coding", ':' or '=', spaces, NAME. In lower case, with
 * dashes. */
static bool encoding_find(const char *line, size_t len, const char *comment,
                          char name[ENCODING_NAME])
{
    static const char before[] = "coding", letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    const char *end = line + len;
    size_t n = 0;

    line += strspn(line, " \t\f");
    if (line >= end || strncmp(line, comment, strlen(comment)) != 0)
        return false;
    while ((line = strstr(line, before)) && line + sizeof before <= end) {
        line += sizeof before - 1;
        if (*line != ':' && *line != '=')
            continue;
        line += 1 + strspn(line + 1, " \t");
        for (; line < end && n + 1 < ENCODING_NAME; line++) {
            const char c =
                *line == '_' ? '-' : (char)(*line >= 'A' && *line <= 'Z' ? *line | 32 : *line);
            if (!strchr(letters, c))
                break;
            name[n++] = c;
        }
        name[n] = '\0';
        return n > 0;
    }
    return false;
}

/* The encoding that one of the first two lines names; the second if the first has nothing but a
 * comment. */
static bool encoding_of(const struct laz_buf *code, const char *comment, char name[ENCODING_NAME])
{
    const char *line = laz_buf_text(code);

    for (int i = 0; i < 2; i++) {
        const size_t len = strcspn(line, "\r\n"), space = strspn(line, " \t\f");
        if (encoding_find(line, len, comment, name))
            return true;
        if (space < len && strncmp(line + space, comment, strlen(comment)) != 0)
            return false;
        line += len + strspn(line + len, "\r");
        line += *line == '\n';
    }
    return false;
}

static int source_decode(struct cli *cli, struct source *source,
                         const struct laz_language *language)
{
    static const char *const latin[] = {"latin-1", "iso-8859-1", "iso-latin-1"};
    struct laz_buf text = LAZ_BUF_INIT;
    char name[ENCODING_NAME];

    if (!language->encoding_comments || !language->lexer.comment ||
        !encoding_of(&source->code, language->lexer.comment, name) ||
        strncmp(name, "utf-8", 5) == 0 || strcmp(name, "utf8") == 0)
        return 0;
    const char *known = name;
    for (size_t i = 0; i < sizeof latin / sizeof *latin; i++)
        if (strcmp(name, latin[i]) == 0)
            known = latin[1];
    if (!laz_os_to_utf8(known, laz_buf_text(&source->code), source->code.len, &text)) {
        laz_buf_fini(&text);
        return cli_problem(cli,
                           "%s: it says that it is encoded as %s, which it is not, or which is "
                           "not known here",
                           source->name, name);
    }
    laz_buf_fini(&source->code);
    source->code = text;
    return 0;
}

/* A file shows what its interpreter shows for one; at a prompt all values are shown. */
static int source_find_language(struct cli *cli, struct source *source)
{
    const char *runtime = source_runtime(cli, source);
    const struct laz_language *language = NULL;

    (void)laz_registry_language(source->registry, runtime, &language, NULL);
    source->is_silent = !language || !language->echoes;
    return language ? source_decode(cli, source, language) : 0;
}

static void source_empty_first_line(struct source *source)
{
    const char *text = laz_buf_text(&source->code);

    if (strncmp(text, "#!", 2) == 0)
        laz_buf_drop(&source->code, strcspn(text, "\n"));
}

/* ---- its file ------------------------------------------------------------------------------- */

/* The path of the file in the box: its own name, in a directory without links, because another
 * directory than here is the current one there. NULL: it has none (a pipe of the shell). */
static char *source_path(const struct source *source)
{
    const char *slash = strrchr(source->name, '/');
    char *directory =
        slash ? laz_strndup(source->name, (size_t)(slash - source->name) + 1) : laz_strdup(".");
    char *real = directory ? laz_os_real_path(directory) : NULL;
    char *path = real ? laz_strdupf("%s/%s", strcmp(real, "/") == 0 ? "" : real,
                                    slash ? slash + 1 : source->name)
                      : NULL;

    free(directory);
    free(real);
    return path;
}

/* The code is that of a file: its command line, and the files that it is shown. */
static void source_take_file(struct cli *cli, struct source *source)
{
    struct laz_look look;
    char *path = source_path(source), *real = laz_os_real_path(source->name);
    const char *runtime = source_runtime(cli, source);
    const bool is_file =
        path && real && laz_os_look(real, true, &look) == 0 && look.kind == LAZ_LOOK_FILE;

    laz_strv_add(&source->argv, path ? path : source->name);
    if (is_file && strchr(real, '/')) {
        const size_t len = (size_t)(strrchr(real, '/') - real);
        source->directory = laz_strndup(real, len ? len : 1);
    }
    if (is_file && source->directory && !laz_settings_shows(cli->values, source->directory)) {
        if (!laz_settings_shows(cli->values, path) && source_is_reachable(path))
            laz_strv_add(&source->shown, path);
        if (strcmp(path, real) != 0 && !laz_settings_shows(cli->values, real) &&
            source_is_reachable(real))
            laz_strv_add(&source->shown, real);
        source_show_modules(cli, source, runtime, look.uid);
    }
    free(path);
    free(real);
}

/* ---- a program ------------------------------------------------------------------------------ */

static void source_visited(void *user, const struct laz_runtime_info *info)
{
    struct source *source = user;

    if (info->language && info->language->commands && !source->runtime)
        source->runtime = info->name;
}

/* A command line as JSON; a word that is not UTF-8 is one of bytes (lazaret/json.h). */
static void source_write_words(struct laz_buf *code, char *const *words, int n)
{
    struct laz_json_write write = {.to = code};

    laz_json_begin_list(&write, NULL);
    for (int i = 0; i < n; i++) {
        const size_t len = strlen(words[i]);
        if (laz_utf8_is_valid(words[i], len)) {
            laz_json_add_text(&write, NULL, words[i]);
            continue;
        }
        struct laz_buf bytes = LAZ_BUF_INIT;
        laz_base64_encode(&bytes, words[i], len);
        laz_json_begin_object(&write, NULL);
        laz_json_add_text(&write, "$bytes", laz_buf_text(&bytes));
        laz_json_end_object(&write);
        code->failed |= bytes.failed;
        laz_buf_fini(&bytes);
    }
    laz_json_end_list(&write);
}

static int source_take_program(struct cli *cli, struct source *source)
{
    if (cli->code.n)
        return cli_problem(cli, "run: -- names a program, and -e has code: one of them can be run");
    if (cli->runtime)
        return cli_problem(cli,
                           "run: -- names a program, for which --runtime %s is of no use; a file "
                           "is run without --",
                           cli->runtime);
    if (!cli->n_operands || !*cli->operands[0])
        return cli_problem(cli, "run: a program is needed after --");
    source->name = cli->operands[0];
    source->is_silent = true;
    int status = cli_registry(cli, true, &source->registry);
    if (!status)
        laz_registry_visit_runtimes(source->registry, source_visited, source);
    if (!status && !source->runtime)
        status =
            cli_problem(cli, "run: no runtime for programs is installed (lazaret plugins lists "
                             "what is)");
    source_write_words(&source->code, cli->operands, cli->n_operands);
    if (!status && source->code.failed) {
        cli_problem(cli, "%s: out of memory", source->name);
        status = CLI_SETUP;
    }
    return status;
}

bool source_has_status(struct cli *cli, struct source *source)
{
    const struct laz_language *language = NULL;

    if (!source->registry && cli_registry(cli, true, &source->registry))
        return false;
    const char *runtime = source_runtime(cli, source);
    (void)laz_registry_language(source->registry, runtime, &language, NULL);
    return language && language->statuses;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int source_read(struct cli *cli, struct source *source)
{
    int status;

    if (cli->is_program)
        return source_take_program(cli, source);
    if (cli->code.n && cli->n_operands)
        return cli_problem(cli, "%s: code comes from -e or from a file, not from both",
                           cli->command->name);
    if (cli->code.n) {
        source->name = "-e";
        for (size_t i = 0; i < cli->code.n; i++)
            laz_buf_printf(&source->code, "%s%s", i ? "\n" : "", cli->code.items[i]);
        return 0;
    }
    if (!cli->n_operands)
        return cli_problem(cli,
                           "%s: a file, - for standard input, or -e CODE is needed, such as "
                           "lazaret %s -e 'print(1)'",
                           cli->command->name, cli->command->name);
    if (strcmp(cli->operands[0], "-") == 0) {
        source->name = "standard input";
        source->is_input = true;
        status = source_read_fd(cli, source, STDIN_FILENO);
    } else {
        source->name = cli->operands[0];
        status = source_read_file(cli, source);
        if (!status)
            status = cli_registry(cli, true, &source->registry);
        if (!status)
            status = source_find_runtime(cli, source);
        if (!status)
            status = source_find_language(cli, source);
        if (!status)
            source_take_file(cli, source);
    }
    if (cli->n_operands > 1 && !source->argv.n)
        laz_strv_add(&source->argv, cli->operands[0]);
    for (int i = 1; i < cli->n_operands; i++)
        laz_strv_add(&source->argv, cli->operands[i]);
    if (!status && (source->argv.failed || source->shown.failed || source->code.failed)) {
        cli_problem(cli, "%s: out of memory", source->name);
        status = CLI_SETUP;
    }
    source_empty_first_line(source);
    return status;
}

void source_fini(struct source *source)
{
    laz_buf_fini(&source->code);
    laz_strv_fini(&source->argv);
    laz_strv_fini(&source->shown);
    free(source->directory);
    laz_registry_free(source->registry);
}
