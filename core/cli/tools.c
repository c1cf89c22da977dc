/* SPDX-License-Identifier: MIT */
/* tools.c - lists the tools of the configuration, for users or in the form given to a model.
 *
 * It makes neither an engine nor a box: the providers only list their tools. Nothing is called, so
 * the services handed to them are never used. */
#include "cli/cli.h"

#include "tool/tool.h"
#include "settings/settings.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cli_toolbox {
    struct laz_registry *registry;
    struct laz_driver driver; /* has only a log */
    struct laz_tools tools;
};

static int toolbox_open(struct cli *cli, struct cli_toolbox *box, struct laz_error *err)
{
    box->driver.log = cli->log;
    return laz_tools_init(&box->tools, &box->driver, NULL, box->registry, cli->settings, err);
}

static void toolbox_close(struct cli_toolbox *box)
{
    laz_tools_end(&box->tools);
    laz_tools_fini(&box->tools);
    laz_registry_free(box->registry);
}

/* The number of --limit; 0: it was not given. */
static int tools_limit(const char *text, size_t *limit, struct laz_error *err)
{
    char *end = NULL;

    *limit = 0;
    if (!text)
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || !number || number > SIZE_MAX)
        return laz_error_set(err, LAZ_EINVAL, 0, "--limit: '%.100s' is not a number from 1", text);
    *limit = (size_t)number;
    return 0;
}

/* What --search and --limit choose. The entries of *chosen are those of the box, or `found` has to
 * be freed. */
static int toolbox_choose(struct cli *cli, struct cli_toolbox *box, struct laz_tool_set *chosen,
                          void **found, struct laz_error *err)
{
    size_t limit;
    int rc = tools_limit(cli->limit, &limit, err);

    *chosen = box->tools.set;
    if (!rc && cli->limit && !cli->search)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "--limit needs --search");
    if (!rc && cli->search) {
        rc = laz_tool_set_search(&box->tools.set, NULL, cli->search, limit, chosen, err);
        *found = chosen->entries;
    }
    return rc;
}

/* LAZ_EINVAL names the formats there are. */
static int toolbox_format(struct cli_toolbox *box, const struct laz_tool_set *set,
                          const char *format, struct laz_buf *text, struct laz_error *err)
{
    const struct laz_language *language;
    struct laz_strv names = LAZ_STRV_INIT;
    int rc = laz_registry_language(box->registry, format, &language, err);

    if (!rc)
        rc = laz_tool_set_format(set, format, language,
                                 laz_spelling_of(&box->tools.spellings, format), text, err);
    if (rc == LAZ_EINVAL) {
        struct laz_buf known = LAZ_BUF_INIT;
        laz_registry_stubs(box->registry, &names);
        for (size_t i = 0; i < names.n; i++)
            laz_buf_printf(&known, ", %s", names.items[i]);
        laz_error_set(err, LAZ_EINVAL, 0, "unknown format '%.100s'; known are text, json%s", format,
                      laz_buf_text(&known));
        laz_buf_fini(&known);
    }
    laz_strv_fini(&names);
    return rc;
}

int cli_tools(struct cli *cli)
{
    const char *format = cli->format ? cli->format : cli->json ? "json" : "text";
    struct cli_toolbox box = {0};
    struct laz_tool_set chosen;
    void *found = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int status = cli_registry(cli, false, &box.registry);

    if (status)
        return status;
    if (toolbox_open(cli, &box, &err) != 0 ||
        toolbox_choose(cli, &box, &chosen, &found, &err) != 0 ||
        toolbox_format(&box, &chosen, format, &text, &err) != 0)
        status = cli_fail(cli, &err);
    else
        cli_print(cli, &text);
    free(found);
    laz_buf_fini(&text);
    toolbox_close(&box);
    return status;
}
