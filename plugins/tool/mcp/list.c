/* SPDX-License-Identifier: MIT */
/* list.c - the tools of a server: taken from its pages, declared once, compared afterwards.
 *
 * The first list is what code and models were told, so it stays.  A tool that a later list does not
 * have, or that has another inputSchema there, is refused from then on: code would call something
 * else than what was shown to whoever has allowed it.
 * Side: host.  Input trusted: no (a server's bytes, after the scan). */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct page {
    struct mcp_server *server;
    int ret;
    struct laz_error *err;
};

/* Is a tool wanted? Notes the patterns that have met one. */
static bool list_wants(struct mcp_server *server, const char *name)
{
    char **tools = server->options.tools, **except = server->options.except;
    bool wants = !tools || !*tools, *excepted = server->list.excepted;

    for (size_t i = 0; tools && tools[i]; i++)
        if (mcp_matches(tools[i], name)) {
            wants = true;
            if (server->list.patterns)
                server->list.patterns[i] = true;
        }
    for (size_t i = 0; except && except[i]; i++)
        if (mcp_matches(except[i], name)) {
            wants = false;
            if (excepted)
                excepted[i] = true;
        }
    return wants;
}

/* Gives a tool a name that no earlier one has, in no language. */
static bool list_name(struct mcp_list *list, struct mcp_tool *tool)
{
    char numbered[MCP_MAX_NAME + 1];
    size_t number = 1;

    snprintf(numbered, sizeof numbered, "%s", tool->name);
    for (size_t i = 0; i < list->n; i++)
        if (mcp_alike(list->tools[i].name, numbered)) {
            number += number < 9 ? 1 : list->n; /* few tries, however many are alike */
            snprintf(numbered, sizeof numbered, "%.118s_%zu", tool->name, number);
            i = (size_t)-1; /* from the first one again */
        }
    if (number == 1)
        return true;
    free(tool->name);
    tool->name = strdup(numbered);
    return tool->name != NULL;
}

static bool list_has(const struct mcp_list *list, const char *remote)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->tools[i].remote, remote) == 0)
            return true;
    return false;
}

/* Adds a tool that was read, or says why not. */
static int list_add(struct mcp_server *server, struct mcp_tool *tool, struct laz_error *err)
{
    struct mcp_list *list = &server->list;

    if (list_has(list, tool->remote)) {
        mcp_server_log(server, LAZ_LOG_WARNING,
                       "it lists the tool '%.100s' twice: the first counts", tool->remote);
        mcp_tool_fini(tool);
        return 0;
    }
    if (list->n == MCP_MAX_TOOLS)
        return laz_fail(err, LAZ_ETOOBIG,
                        "it lists more than %d tools: name those that are wanted in `tools`",
                        MCP_MAX_TOOLS);
    list->bytes += strlen(tool->schema) + strlen(tool->parameters) + strlen(tool->description) +
                   (tool->returns ? strlen(tool->returns) : 0);
    if (list->bytes > MCP_MAX_LIST)
        return laz_fail(err, LAZ_ETOOBIG, "its list of tools has more than %zu bytes",
                        MCP_MAX_LIST);
    if (list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct mcp_tool *more = realloc(list->tools, room * sizeof *more);
        if (!more)
            return laz_fail(err, LAZ_ENOMEM, "out of memory");
        list->tools = more;
        list->room = room;
    }
    if (!list_name(list, tool))
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    list->tools[list->n++] = *tool;
    return 0;
}

static bool list_tool(void *user, const char *key, struct mcp_raw item)
{
    struct page *page = user;
    struct mcp_server *server = page->server;
    struct laz_error why = {0};
    struct mcp_tool tool;

    (void)key;
    if (++server->list.seen > 10 * MCP_MAX_TOOLS) {
        page->ret =
            laz_fail(page->err, LAZ_ETOOBIG, "it lists more than %d tools", 10 * MCP_MAX_TOOLS);
        return false;
    }
    char *remote = mcp_string(server->json, mcp_member(server->json, item, "name"));
    const bool is_wanted = !remote || list_wants(server, remote);
    free(remote);
    if (!is_wanted)
        return true;
    int ret = mcp_tool_read(server->json, item, server->options.name, &tool, &why);
    if (ret == LAZ_EINVAL) {
        mcp_server_log(server, LAZ_LOG_WARNING, "its tool '%.100s' is left out: %s",
                       tool.remote ? tool.remote : "?", why.text);
        mcp_tool_fini(&tool);
        return true;
    }
    if (!ret)
        ret = list_add(server, &tool, &why);
    if (ret) {
        mcp_tool_fini(&tool);
        page->ret = laz_fail(page->err, ret, "%s", why.text);
    }
    return !ret;
}

/* A note for each pattern, unless they are there. */
static bool list_notes(bool **notes, char **patterns)
{
    size_t n = 0;

    while (patterns && patterns[n])
        n++;
    if (!*notes)
        *notes = calloc(n + 1, sizeof **notes);
    return *notes != NULL;
}

int mcp_list_take(struct mcp_server *server, struct mcp_raw result, bool *more,
                  struct laz_error *err)
{
    static const char *const names[] = {"tools", "nextCursor"};
    struct mcp_list *list = &server->list;
    struct page page = {server, 0, err};
    struct mcp_raw found[2];

    *more = false;
    if (!list_notes(&list->patterns, server->options.tools) ||
        !list_notes(&list->excepted, server->options.except))
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (!mcp_members(server->json, result, names, found, 2) || !found[0].text ||
        found[0].text[0] != '[')
        return laz_fail(err, LAZ_EPARSE, "its answer to tools/list has no list of tools");
    if (!mcp_each(server->json, found[0], list_tool, &page))
        return page.ret ? page.ret : laz_fail(err, LAZ_ENOMEM, "out of memory");
    char *cursor = mcp_string(server->json, found[1]);
    const bool is_same = cursor && list->cursor && strcmp(cursor, list->cursor) == 0;
    free(list->cursor);
    list->cursor = cursor;
    *more = cursor != NULL;
    if (is_same)
        return laz_fail(err, LAZ_EPARSE, "its list of tools never ends: a page follows itself");
    if (cursor && ++list->pages == MCP_MAX_PAGES)
        return laz_fail(err, LAZ_ETOOBIG, "its list of tools has more than %d pages",
                        MCP_MAX_PAGES);
    return 0;
}

/* ---- what a list means ----------------------------------------------------------------------- */

/* Do two names differ in one place only, by two characters at most? */
static bool list_is_close(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b), same = 0;

    while (a[same] && a[same] == b[same])
        same++;
    for (a += same, b += same, n_a -= same, n_b -= same; n_a && n_b && a[n_a - 1] == b[n_b - 1];)
        n_a--, n_b--;
    return n_a <= 2 && n_b <= 2;
}

/* A name that is misspelt in `except` would declare a tool that is not wanted. */
static int list_check_except(const struct mcp_server *server, struct laz_error *err)
{
    const struct mcp_list *list = &server->list;
    char **except = server->options.except;

    for (size_t i = 0; except && except[i]; i++) {
        if (!list->excepted || list->excepted[i])
            continue;
        for (size_t k = 0; k < list->n && !strpbrk(except[i], "*?"); k++)
            if (list_is_close(except[i], list->tools[k].remote))
                return laz_fail(err, LAZ_EINVAL,
                                "it has no tool '%.100s', which `except` names; did you mean "
                                "'%.100s'?",
                                except[i], list->tools[k].remote);
        mcp_server_log(server, LAZ_LOG_WARNING, "it has no tool '%.100s', which `except` names",
                       except[i]);
    }
    return 0;
}

static void list_check_patterns(const struct mcp_server *server)
{
    char **tools = server->options.tools;

    for (size_t i = 0; tools && tools[i]; i++)
        if (server->list.patterns && !server->list.patterns[i])
            mcp_server_log(server, LAZ_LOG_WARNING, "it has no tool '%.100s', which `tools` names",
                           tools[i]);
}

static int list_declare(struct mcp_server *server, struct laz_error *err)
{
    struct mcp_list *list = &server->list;
    const struct mcp_options *options = &server->options;

    int ret = list_check_except(server, err);
    if (ret)
        return ret;
    server->declared = calloc(list->n + 1, sizeof *server->declared);
    if (!server->declared)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    for (size_t i = 0; i < list->n; i++)
        server->declared[i] = (struct laz_tool){
            .size = sizeof *server->declared,
            .name = list->tools[i].name,
            .description = list->tools[i].description,
            .parameters = list->tools[i].parameters,
            .timeout_ms = (uint32_t)options->max_timeout_ms,
            .max_concurrent = (uint32_t)options->max_concurrent,
            .approve = options->approve,
            .returns = list->tools[i].returns,
        };
    list_check_patterns(server);
    server->tools = list->tools;
    server->n_tools = list->n;
    server->is_known = true;
    list->tools = NULL;
    list->n = list->room = 0;
    return 0;
}

static void list_compare(struct mcp_server *server)
{
    const struct mcp_list *list = &server->list;
    size_t same = 0;

    for (size_t i = 0; i < server->n_tools; i++) {
        struct mcp_tool *tool = &server->tools[i];
        const struct mcp_tool *now = NULL;
        for (size_t k = 0; k < list->n && !now; k++)
            if (strcmp(list->tools[k].remote, tool->remote) == 0)
                now = &list->tools[k];
        const bool has_changed = now && strcmp(now->schema, tool->schema) != 0;
        if (!now && !tool->has_vanished)
            mcp_server_log(server, LAZ_LOG_WARNING,
                           "its tool '%.100s' has vanished: calls of it are refused", tool->name);
        if (has_changed && !tool->has_changed)
            mcp_server_log(server, LAZ_LOG_WARNING,
                           "its tool '%.100s' takes other arguments than it has declared: calls of "
                           "it are refused",
                           tool->name);
        if (now && !has_changed && strcmp(now->description, tool->description) != 0)
            mcp_server_log(server, LAZ_LOG_WARNING,
                           "its tool '%.100s' describes itself in another way now", tool->name);
        tool->has_vanished = !now;
        tool->has_changed = has_changed;
        same += now != NULL;
    }
    if (list->n > same)
        mcp_server_log(server, LAZ_LOG_INFO,
                       "it has %zu tools that it had not when the engine asked: they are not "
                       "declared",
                       list->n - same);
}

int mcp_list_end(struct mcp_server *server, struct laz_error *err)
{
    int ret = 0;

    if (server->is_known)
        list_compare(server);
    else
        ret = list_declare(server, err);
    mcp_list_fini(&server->list);
    return ret;
}

void mcp_list_fini(struct mcp_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        mcp_tool_fini(&list->tools[i]);
    free(list->tools);
    free(list->cursor);
    free(list->patterns);
    free(list->excepted);
    *list = (struct mcp_list){0};
}
