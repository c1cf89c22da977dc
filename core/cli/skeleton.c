/* SPDX-License-Identifier: MIT */
/* skeleton.c - lazaret plugins new: writes a plugin of one's own, to be built, from the installed
 * templates.
 *
 * A template is a plugin that builds and runs. Its name, "skeleton", is replaced by the new one,
 * wherever it stands: in the names of files and in their texts. */
#include "cli/cli.h"

#include "os/directories.h"
#include "os/files.h"

#include <stdlib.h>
#include <string.h>

#define SKELETON_NAME     "skeleton"
#define SKELETON_MAX_FILE (1024 * 1024)

/* The files of a kind, below the directory of templates. */
static const struct skeleton_kind {
    const char *name;
    const char *const files[5]; /* ends with NULL */
    const char *use;            /* how code is run with it, once it is installed */
} skeleton_kinds[] = {
    {"tool",
     {"Makefile", "tool/check.sh", "tool/skeleton.c"},
     "lazaret plugins skeleton    # then add to lazaret.toml: [[tools]] provider = \"skeleton\""},
    {"backend",
     {"Makefile", "backend/check.sh", "backend/skeleton.c", "backend/skeleton.backend.json"},
     "lazaret plan --backend skeleton"},
    {"runtime",
     {"Makefile", "runtime/check.sh", "runtime/skeleton.c", "runtime/skeleton.language.json"},
     "lazaret run --runtime skeleton -e 42"},
};

#define N_KINDS (sizeof skeleton_kinds / sizeof *skeleton_kinds)

static const struct skeleton_kind *skeleton_kind(const char *name)
{
    for (size_t i = 0; name && i < N_KINDS; i++)
        if (strcmp(skeleton_kinds[i].name, name) == 0)
            return &skeleton_kinds[i];
    return NULL;
}

/* Appends the text with the new name in place of the template's. */
static void skeleton_rename(struct laz_buf *to, const char *text, const char *name)
{
    const char *found;

    for (; (found = strstr(text, SKELETON_NAME)); text = found + sizeof SKELETON_NAME - 1) {
        laz_buf_append(to, text, (size_t)(found - text));
        laz_buf_puts(to, name);
    }
    laz_buf_puts(to, text);
}

/* Writes one; `files` gets its path. */
static int skeleton_file(const char *templates, const char *file, const char *name,
                         struct laz_strv *files, struct laz_error *err)
{
    struct laz_buf from = LAZ_BUF_INIT, to = LAZ_BUF_INIT, text = LAZ_BUF_INIT;
    struct laz_buf content = LAZ_BUF_INIT;
    const char *base = strrchr(file, '/');

    laz_buf_printf(&from, "%s/%s", templates, file);
    laz_buf_printf(&to, "%s/", name);
    skeleton_rename(&to, base ? base + 1 : file, name);
    int rc = from.failed || to.failed ? laz_error_nomem(err) : 0;
    if (!rc)
        rc = laz_os_read_file(laz_buf_text(&from), SKELETON_MAX_FILE, &text, err);
    if (!rc) {
        skeleton_rename(&content, laz_buf_text(&text), name);
        rc = content.failed
                 ? laz_error_nomem(err)
                 : laz_os_write_file(laz_buf_text(&to), content.data, content.len, 0644, err);
    }
    if (!rc)
        laz_strv_add(files, laz_buf_text(&to));
    laz_buf_fini(&from);
    laz_buf_fini(&to);
    laz_buf_fini(&text);
    laz_buf_fini(&content);
    return rc;
}

/* `make install` of a new plugin with the name of an installed one would replace that. */
static bool skeleton_is_installed(const char *name)
{
    static const char *const endings[] = {LAZ_MODULE_SUFFIX, LAZ_MODULE_MARK LAZ_MODULE_SUFFIX};
    char *directory = laz_installed_plugins();
    struct laz_look look;
    bool found = false;

    for (size_t i = 0; directory && !found && i < sizeof endings / sizeof *endings; i++) {
        struct laz_buf path = LAZ_BUF_INIT;
        laz_buf_printf(&path, "%s/%s%s", directory, name, endings[i]);
        found = !path.failed && laz_os_look(laz_buf_text(&path), false, &look) == 0;
        laz_buf_fini(&path);
    }
    free(directory);
    return found;
}

/* 0 or an exit status (printed). */
static int skeleton_check(struct cli *cli, const char *name)
{
    const size_t len = name ? strlen(name) : 0;
    struct laz_look look;

    if (!name || !cli->kind)
        return cli_problem(cli, "plugins new needs a name and --kind tool, backend or runtime");
    if (!skeleton_kind(cli->kind))
        return cli_problem(cli, "--kind: expected tool, backend or runtime, found %s", cli->kind);
    if (!laz_is_plugin_name(name, len) || name[0] == '-' || strcmp(name, "new") == 0 ||
        laz_name_before(name, LAZ_MODULE_MARK))
        return cli_problem(cli,
                           "%s cannot be the name of a plugin: it has 1 to 64 letters, digits, _ "
                           "and -, does not begin with -, does not end in %s, and is not \"new\"",
                           name, LAZ_MODULE_MARK);
    if (skeleton_is_installed(name))
        return cli_problem(cli, "a plugin %s is installed already: take another name", name);
    if (laz_os_look(name, false, &look) == 0)
        return cli_problem(cli, "%s exists already: remove it, or take another name", name);
    return CLI_OK;
}

/* Says what was written, and what to type next. */
static int skeleton_answer(struct cli *cli, const struct skeleton_kind *kind, const char *name,
                           const struct laz_strv *files)
{
    struct laz_buf use = LAZ_BUF_INIT;
    struct cli_answer answer;
    int status = CLI_OK;

    skeleton_rename(&use, kind->use, name);
    if (cli->json) {
        cli_answer_begin(&answer, true);
        laz_json_add_text(&answer.write, "name", name);
        laz_json_add_text(&answer.write, "kind", kind->name);
        laz_json_add_texts(&answer.write, "files", files);
        status = cli_answer_end(cli, &answer, CLI_OK);
    } else {
        for (size_t i = 0; i < files->n; i++)
            cli_printf(cli, "%s\n", files->items[i]);
        cli_printf(cli,
                   "\ncd %s\nmake\nmake check\nmake install    # or: make install PREFIX=DIR\n%s\n",
                   name, laz_buf_text(&use));
    }
    laz_buf_fini(&use);
    return status;
}

int cli_skeleton(struct cli *cli)
{
    const char *name = cli->n_operands > 1 ? cli->operands[1] : NULL;
    struct laz_strv files = LAZ_STRV_INIT;
    struct laz_error err = {0};

    if (skeleton_check(cli, name))
        return CLI_USAGE;
    const struct skeleton_kind *kind = skeleton_kind(cli->kind);
    char *templates = laz_installed_templates();
    int rc = templates ? laz_os_make_directory(name, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &err)
                       : laz_error_nomem(&err);
    const bool made = !rc;
    for (size_t i = 0; !rc && kind->files[i]; i++)
        rc = skeleton_file(templates, kind->files[i], name, &files, &err);
    free(templates);
    if (rc && made)
        laz_os_remove_tree(name);
    const int status = rc ? cli_fail(cli, &err) : skeleton_answer(cli, kind, name, &files);
    laz_strv_fini(&files);
    return status;
}
