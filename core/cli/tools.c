/* SPDX-License-Identifier: MIT */
/* tools.c - lists the tools of the configuration, for users or in the form given to a model.
 *
 * It makes an engine, because some providers have to ask a server for its tools, but no box, and
 * calls nothing. */
#include "cli/cli.h"

#include "engine/engine.h"
#include "settings/settings.h"
#include "tool/tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a user has to know of the providers, or of the names of tools. */
static void tools_say(struct cli *cli, const struct laz_tools *tools, bool respelled)
{
    struct laz_strv lines = LAZ_STRV_INIT;

    (respelled ? laz_tools_respelled : laz_tools_notices)(tools, &lines);
    for (size_t i = 0; i < lines.n && !cli->quiet; i++)
        cli_say(cli, "%s", lines.items[i]);
    laz_strv_fini(&lines);
}

void cli_notices(struct cli *cli, const struct laz_engine *engine, struct laz_registry *registry)
{
    struct laz_driver driver = {.log = cli->log};
    struct laz_tools own = {.use = LAZ_TOOLS_CHECKED};
    const struct laz_tools *tools = engine ? &engine->tools : &own;

    if (engine || laz_tools_init(&own, &driver, NULL, registry, cli->settings, NULL) == 0) {
        tools_say(cli, tools, false);
        tools_say(cli, tools, true);
    }
    laz_tools_end(&own);
    laz_tools_fini(&own);
}

/* The number of --limit; 0: it was not given. */
static int tools_limit(const char *text, size_t *limit, struct laz_error *err)
{
    uint64_t number = 0;

    *limit = 0;
    if (!text)
        return 0;
    if (!cli_number(text, SIZE_MAX, &number) || !number)
        return laz_error_set(err, LAZ_EINVAL, 0, "--limit: '%.100s' is not a number from 1", text);
    *limit = (size_t)number;
    return 0;
}

/* What --search and --limit choose. The entries of *chosen are those of the engine, or `found` has
 * to be freed. */
static int tools_choose(struct cli *cli, const struct laz_tool_set *set,
                        struct laz_tool_set *chosen, void **found, struct laz_error *err)
{
    size_t limit;
    int rc = tools_limit(cli->limit, &limit, err);

    *chosen = *set;
    if (!rc && cli->limit && !cli->search)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "--limit needs --search");
    if (!rc && cli->search) {
        rc = laz_tool_set_search(set, NULL, cli->search, limit, chosen, err);
        *found = chosen->entries;
    }
    return rc;
}

/* LAZ_EINVAL names the formats there are. */
static int tools_format(const struct laz_engine *engine, const struct laz_tool_set *set,
                        const char *format, struct laz_buf *text, struct laz_error *err)
{
    const struct laz_language *language;
    struct laz_strv names = LAZ_STRV_INIT;
    int rc = laz_registry_language(engine->registry, format, &language, err);

    if (!rc)
        rc = laz_tool_set_format(set, format, language,
                                 laz_spelling_of(&engine->tools.spellings, format), text, err);
    if (rc == LAZ_EINVAL) {
        struct laz_buf known = LAZ_BUF_INIT;
        laz_registry_stubs(engine->registry, &names);
        for (size_t i = 0; i < names.n; i++)
            laz_buf_printf(&known, ", %s", names.items[i]);
        laz_error_set(err, LAZ_EINVAL, 0, "unknown format '%.100s'; known are text, json%s", format,
                      laz_buf_text(&known));
        laz_buf_fini(&known);
    }
    laz_strv_fini(&names);
    return rc;
}

/* The list of the tools, or their declarations in another form, as text. */
static int tools_answer(struct cli *cli, const char *format, struct laz_buf *text)
{
    struct cli_answer answer;

    if (!cli->json) {
        cli_print(cli, text);
        return CLI_OK;
    }
    cli_answer_begin(&answer, true);
    laz_json_add_text(&answer.write, "format", format);
    if (strcmp(format, "json") == 0)
        laz_json_add_raw(&answer.write, "tools", laz_buf_text(text), text->len);
    else
        laz_json_add_bytes(&answer.write, "text", laz_buf_text(text), text->len);
    return cli_answer_end(cli, &answer, CLI_OK);
}

int cli_tools(struct cli *cli)
{
    const char *format = cli->format ? cli->format : cli->json ? "json" : "text";
    const struct laz_engine_options options = cli_engine_options(cli);
    struct laz_engine *engine = NULL;
    struct laz_tool_set chosen;
    void *found = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    const struct laz_engine_beside beside = {.use = LAZ_TOOLS_LISTED};
    int rc = laz_engine_new_beside(cli->settings, &options, &beside, &engine, &err), status;

    if (!rc) {
        laz_engine_close_tools(engine);
        tools_say(cli, &engine->tools, false);
    }
    if (!rc)
        rc = laz_engine_check_tools(engine, NULL, 0, &err); /* asks servers for theirs */
    if (!rc)
        tools_say(cli, &engine->tools, true);
    if (!rc)
        rc = tools_choose(cli, &engine->tools.set, &chosen, &found, &err);
    if (!rc)
        rc = tools_format(engine, &chosen, format, &text, &err);
    status = rc ? cli_fail(cli, &err) : tools_answer(cli, format, &text);
    free(found);
    laz_buf_fini(&text);
    laz_engine_free(engine);
    return status;
}
