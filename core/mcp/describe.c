/* SPDX-License-Identifier: MIT */
/* describe.c - what the description of `execute` says of this server: what it reaches, the
 * languages, and the functions of the host as signatures, as many as fit (mcp.description_size).
 * Many clients show a model nothing else, and cut off what is longer.
 * Side: host.  Input trusted: no (declarations of tools of the host; a server may have sent them).
 *
 * Functions that are known only when somebody was asked for them are not waited for: a greeting
 * must not take so long. */
#include "mcp/mcp_private.h"

#include "base/json.h"
#include "base/visible.h"
#include "credential/credential.h"
#include "network/network.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

#define DESCRIBE_LINE  100 /* bytes of what a function is for */
#define DESCRIBE_RULES 20  /* of the network list */
#define DESCRIBE_HOSTS 20  /* with a credential */
#define DESCRIBE_MORE  90  /* bytes of the sentence that there are more, at most */

/* A runtime for tests, or for programs, is of no language. */
static void describe_visited(void *user, const struct laz_runtime_info *info)
{
    if (info->language && !info->language->commands)
        laz_strv_add(user, info->name);
}

void mcp_languages(struct laz_mcp *mcp, struct laz_strv *names)
{
    laz_registry_visit_runtimes(mcp->engine->registry, describe_visited, names);
    laz_strv_sort(names, 0);
}

void mcp_describe_languages(struct laz_mcp *mcp, const struct laz_strv *names, struct laz_buf *text)
{
    const char *usual = laz_registry_usual_name(mcp->engine->registry, mcp->values);

    for (size_t i = 0; i < names->n; i++)
        laz_buf_printf(text, "%s%s%s", i ? ", " : "", names->items[i],
                       strcmp(names->items[i], usual) == 0 ? " (the usual one)" : "");
}

/* "\n- get_user(id: int) -> {name: str}", and behind it what the function is for. */
static void describe_function(const struct laz_tool_entry *entry, const char *command, bool is_long,
                              struct laz_buf *text)
{
    const char *about = entry->description;
    struct laz_buf signature = LAZ_BUF_INIT;
    size_t len = strcspn(about, "\n");

    laz_tool_signature(entry, &signature);
    laz_buf_puts(text, "\n- ");
    laz_visible_line(text, laz_buf_text(&signature), signature.len);
    text->failed |= signature.failed;
    laz_buf_fini(&signature);
    if (command && strcmp(command, entry->name) != 0)
        laz_buf_printf(text, " (command %s)", command);
    if (!is_long || !len)
        return;
    if (len > DESCRIBE_LINE)
        for (len = DESCRIBE_LINE; len && ((unsigned char)about[len] & 0xc0) == 0x80; len--)
            ;
    laz_buf_puts(text, ": ");
    laz_visible_line(text, about, len);
}

/* Appends as many functions as `room` has bytes for. Returns their number. */
static size_t describe_some(const struct laz_tools *tools, bool is_long, size_t room,
                            struct laz_buf *text)
{
    const struct laz_tool_set *set = &tools->set;
    const struct laz_spelling *spelling = tools->spellings.n ? tools->spellings.items : NULL;
    const size_t start = text->len;
    size_t n = 0;

    for (; n < set->n && !text->failed; n++) {
        struct laz_buf line = LAZ_BUF_INIT;
        describe_function(&set->entries[n], laz_tool_command(&set->entries[n], spelling), is_long,
                          &line);
        const bool is_last = n + 1 == set->n;
        const bool fits =
            !line.failed && text->len - start + line.len + (is_last ? 0 : DESCRIBE_MORE) <= room;
        text->failed |= line.failed;
        if (fits)
            laz_buf_append(text, line.data, line.len);
        laz_buf_fini(&line);
        if (!fits)
            break;
    }
    return n;
}

/* In which of the languages are functions commands? NULL: in none. */
static const char *describe_shell(const struct laz_mcp *mcp, const struct laz_strv *languages)
{
    for (size_t i = 0; i < languages->n; i++) {
        const struct laz_language *language = NULL;
        (void)laz_registry_language(mcp->engine->registry, languages->items[i], &language, NULL);
        if (language && language->tool_commands)
            return languages->items[i];
    }
    return NULL;
}

static void describe_functions(const struct laz_tools *tools, const char *shell, size_t room,
                               struct laz_buf *text)
{
    const struct laz_tool_set *set = &tools->set;
    struct laz_buf lines = LAZ_BUF_INIT;
    char head[160];

    snprintf(head, sizeof head,
             " The code can call these functions of the host%s%.30s%s:", shell ? " (in " : "",
             shell ? shell : "", shell ? " and from programs as commands, NAME --help)" : "");
    const size_t left = room > strlen(head) ? room - strlen(head) : 0;
    size_t n = describe_some(tools, true, left, &lines);

    if (n < set->n) { /* more of them without what they are for */
        laz_buf_clear(&lines);
        n = describe_some(tools, false, left, &lines);
    }
    if (n)
        laz_buf_printf(text, "%s%s", head, laz_buf_text(&lines));
    if (n && n < set->n)
        laz_buf_printf(text, "\n- and %zu more, which search_tools finds.", set->n - n);
    else if (n < set->n)
        laz_buf_printf(
            text, " The code can call %zu functions of the host: search_tools finds them.", set->n);
    text->failed |= lines.failed;
    laz_buf_fini(&lines);
}

/* What a model has to know of a language before it writes code. */
static void describe_notes(const struct laz_mcp *mcp, const struct laz_strv *languages,
                           struct laz_buf *text)
{
    for (size_t i = 0; i < languages->n; i++) {
        const struct laz_language *language = NULL;
        (void)laz_registry_language(mcp->engine->registry, languages->items[i], &language, NULL);
        if (language && language->note)
            laz_buf_printf(text, " In %s %s.", language->name, language->note);
    }
}

/* A rule as a model writes it: a table by the name that it has. */
static void describe_rule(const char *rule, struct laz_buf *text)
{
    struct laz_json *table = *rule == '{' ? laz_json_parse(rule, strlen(rule), NULL) : NULL;
    const char *host = laz_json_string(laz_json_get(table, "host"));
    const char *name = host ? host : laz_json_string(laz_json_get(table, "name"));
    const char *shown = name ? name : rule;

    laz_visible_line(text, shown, strlen(shown));
    laz_json_free(table);
}

/* What code can reach, the first of it. */
static void describe_network(const struct laz_mcp *mcp, struct laz_buf *text)
{
    const struct laz_network_rules *rules = mcp->engine->sessions.rules;
    struct laz_buf list = LAZ_BUF_INIT;
    unsigned n = 0, more = 0;

    if (!laz_network_rules_any(rules)) {
        laz_buf_puts(text, " It has no network.");
        return;
    }
    laz_network_rules_json(rules, &list);
    struct laz_json *json = laz_json_parse(laz_buf_text(&list), list.len, NULL);
    laz_buf_puts(text, " Of the network it reaches only ");
    for (const struct laz_json *rule = laz_json_first(json); rule; rule = laz_json_next(rule)) {
        if (n == DESCRIBE_RULES) {
            more++;
            continue;
        }
        laz_buf_puts(text, n++ ? ", " : "");
        describe_rule(laz_json_string(rule), text);
    }
    if (more)
        laz_buf_printf(text, " and %u more", more);
    laz_buf_putc(text, '.');
    text->failed |= list.failed || !json;
    laz_json_free(json);
    laz_buf_fini(&list);
}

static void describe_words(const struct laz_json *list, const char *before, struct laz_buf *text)
{
    const struct laz_json *one = laz_json_first(list);

    laz_buf_puts(text, one ? before : "");
    for (; one; one = laz_json_next(one)) {
        const char *word = laz_json_string(one);
        laz_buf_putc(text, ' ');
        laz_visible_line(text, word, strlen(word));
    }
}

/* "api.example.com (only GET, below /v1/...)" */
static void describe_host(const struct laz_json *credential, struct laz_buf *text)
{
    const struct laz_json *methods = laz_json_get(credential, "methods"),
                          *paths = laz_json_get(credential, "paths");
    const char *host = laz_json_string(laz_json_get(credential, "host"));
    const bool is_part = laz_json_first(methods) || laz_json_first(paths);

    laz_visible_line(text, host, strlen(host));
    laz_buf_puts(text, is_part ? " (only" : "");
    describe_words(methods, "", text);
    describe_words(paths, "", text);
    laz_buf_puts(text, is_part ? ")" : "");
}

/* Hosts that the host speaks to as somebody; and what programs have that want a token before. */
static void describe_credentials(const struct laz_mcp *mcp, struct laz_buf *text)
{
    struct laz_buf list = LAZ_BUF_INIT, hosts = LAZ_BUF_INIT, variables = LAZ_BUF_INIT;
    unsigned n = 0, more = 0;

    laz_credentials_json(mcp->engine->sessions.credentials, &list);
    struct laz_json *json = laz_json_parse(laz_buf_text(&list), list.len, NULL);
    for (const struct laz_json *one = laz_json_first(json); one; one = laz_json_next(one)) {
        const char *variable = laz_json_string(laz_json_get(one, "placeholder"));
        if (n == DESCRIBE_HOSTS) {
            more++;
            continue;
        }
        laz_buf_puts(&hosts, n++ ? ", " : "");
        describe_host(one, &hosts);
        if (variable)
            laz_buf_printf(&variables, "%s$%s", variables.len ? ", " : "", variable);
    }
    if (more)
        laz_buf_printf(&hosts, " and %u more", more);
    if (n)
        laz_buf_printf(text, " Requests to %s are authenticated by the host: send no token%s%s%s.",
                       laz_buf_text(&hosts), variables.len ? "; " : "", laz_buf_text(&variables),
                       variables.len ? " is a placeholder for one" : "");
    text->failed |= list.failed || !json || hosts.failed || variables.failed;
    laz_json_free(json);
    laz_buf_fini(&list);
    laz_buf_fini(&hosts);
    laz_buf_fini(&variables);
}

void mcp_describe(struct laz_mcp *mcp, const struct laz_strv *languages, struct laz_buf *text)
{
    struct laz_tools *tools = &mcp->engine->tools;
    const size_t most = (size_t)mcp->values->mcp.description_size;

    describe_network(mcp, text);
    if (laz_network_rules_any(mcp->engine->sessions.rules) &&
        mcp->values->session.where != LAZ_WHERE_CLUSTER)
        describe_credentials(mcp, text);
    laz_buf_puts(text, " Languages: ");
    mcp_describe_languages(mcp, languages, text);
    laz_buf_putc(text, '.');
    describe_notes(mcp, languages, text);
    if (!laz_tools_are_prepared(tools)) {
        laz_buf_puts(text, " The code can call functions of the host: search_tools finds them.");
        return;
    }
    laz_found_read(tools->found);
    describe_functions(tools, describe_shell(mcp, languages),
                       most > text->len ? most - text->len : 0, text);
    laz_found_leave(tools->found);
}
