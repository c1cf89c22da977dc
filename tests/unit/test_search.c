/* SPDX-License-Identifier: MIT */
/* test_search.c - tools are found by words. */
#include "unit.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static struct laz_tool_set set, own;

static void add(struct laz_tool_set *to, const char *name, const char *description,
                const char *parameters)
{
    const struct laz_tool tool = {
        .size = sizeof tool, .name = name, .description = description, .parameters = parameters};

    CU_ASSERT_EQUAL(laz_tool_set_add(to, &tool, NULL, NULL, to->n, NULL), 0);
}

static void fill(void)
{
    add(&set, "read_file", "Returns the content of a text file", "[{\"name\":\"path\"}]");
    add(&set, "writeFile", "Puts text in place of what a file has",
        "[{\"name\":\"path\"},{\"name\":\"content\"}]");
    add(&set, "list.directory", "Names what is in a directory, files and others",
        "[{\"name\":\"path\",\"description\":\"of the directory\"}]");
    add(&set, "HTTPGet", "Fetches a page", "[{\"name\":\"url\"}]");
    add(&set, "users-query", "Looks up people", "[{\"name\":\"where\"}]");
    add(&set, "wetter", "Wie warm ist es in M\xc3\xbcnchen?", NULL);
    add(&own, "send_mail", "Sends a message to people", "[{\"name\":\"to\"},{\"name\":\"text\"}]");
}

static void empty(void)
{
    laz_tool_set_fini(&set);
    laz_tool_set_fini(&own);
    memset(&set, 0, sizeof set);
    memset(&own, 0, sizeof own);
}

/* The names of what is found, with spaces between them. */
static const char *found(const char *words, size_t limit)
{
    static char names[1024];
    struct laz_tool_set hits;

    *names = '\0';
    CU_ASSERT_EQUAL(laz_tool_set_search(&set, &own, words, limit, &hits, NULL), 0);
    for (size_t i = 0; i < hits.n; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 hits.entries[i].name);
    free(hits.entries);
    return names;
}

static void words_are_found_in_names_descriptions_and_parameters(void)
{
    fill();
    UNIT_TEXT(found("page", 0), "HTTPGet");
    UNIT_TEXT(found("url", 0), "HTTPGet");
    UNIT_TEXT(found("directory", 0), "list.directory");
    UNIT_TEXT(found("mail", 0), "send_mail"); /* of a session */
    UNIT_TEXT(found("", 0), "");
    UNIT_TEXT(found(" -_. ", 0), "");
    UNIT_TEXT(found("none of this", 0), "read_file writeFile list.directory"); /* "of" */
    UNIT_TEXT(found("unheard", 0), "");
    empty();
    UNIT_TEXT(found("page", 0), "");
}

static void names_are_split_and_forms_of_words_are_the_same(void)
{
    fill();
    UNIT_TEXT(found("http", 0), "HTTPGet");
    UNIT_TEXT(found("GET", 0), "HTTPGet");
    UNIT_TEXT(found("write", 0), "writeFile");
    UNIT_TEXT(found("user", 0), "users-query");
    UNIT_TEXT(found("queries", 0), "users-query");
    UNIT_TEXT(found("directories", 0), "list.directory");
    UNIT_TEXT(found("M\xc3\xbcnchen", 0), "wetter");
    UNIT_TEXT(found("nchen", 0), "");
    empty();
}

static void the_best_come_first(void)
{
    fill();
    /* names before descriptions, then the shorter one */
    UNIT_TEXT(found("file", 0), "read_file writeFile list.directory");
    UNIT_TEXT(found("write a file", 0), "writeFile read_file list.directory HTTPGet send_mail");
    UNIT_TEXT(found("content path", 0), "writeFile read_file list.directory");
    UNIT_TEXT(found("file", 2), "read_file writeFile");
    UNIT_TEXT(found("people", 1), "users-query");
    UNIT_TEXT(found("people", SIZE_MAX), "users-query send_mail");
    empty();
}

static void equal_ones_are_in_the_order_of_declaration(void)
{
    char name[24];

    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "t%d_same", 39 - i);
        add(&set, name, "alike", NULL);
    }
    UNIT_TEXT(found("same", 3), "t39_same t38_same t37_same");
    UNIT_TEXT(found("alike", 0), "t39_same t38_same t37_same t36_same t35_same t34_same t33_same "
                                 "t32_same t31_same t30_same");
    empty();
}

/* Words beyond the first 32 different ones, and bytes beyond the first 64 of a word, are not
 * compared. */
static void long_queries_are_cut(void)
{
    struct laz_buf words = LAZ_BUF_INIT;

    fill();
    for (int i = 0; i < 1000; i++)
        laz_buf_puts(&words, "page ");
    for (int i = 0; i < 30; i++)
        laz_buf_printf(&words, "w%d ", i);
    laz_buf_puts(&words, "mail people");
    UNIT_TEXT(found(laz_buf_text(&words), 0), "send_mail HTTPGet"); /* "people" is the 33rd */
    laz_buf_clear(&words);
    for (int i = 0; i < 100000; i++)
        laz_buf_putc(&words, 's');
    UNIT_TEXT(found(laz_buf_text(&words), 0), "");
    laz_buf_fini(&words);
    empty();
}

static void json_replaces_what_was_found_before(void)
{
    struct laz_buf json = LAZ_BUF_INIT;

    fill();
    CU_ASSERT_EQUAL(laz_tool_set_search_json(&set, &own, NULL, "page", 0, &json, NULL), 0);
    UNIT_TEXT(laz_buf_text(&json),
              "[{\"name\":\"HTTPGet\",\"description\":\"Fetches a page\",\"parameters\":[{\"name\":"
              "\"url\",\"required\":true,\"description\":\"\"}]}]");
    CU_ASSERT_EQUAL(laz_tool_set_search_json(&set, &own, NULL, "unheard", 0, &json, NULL), 0);
    UNIT_TEXT(laz_buf_text(&json), "[]");
    laz_buf_fini(&json);
    empty();
}

static const struct unit_test tests[] = {
    UNIT(words_are_found_in_names_descriptions_and_parameters),
    UNIT(names_are_split_and_forms_of_words_are_the_same),
    UNIT(the_best_come_first),
    UNIT(equal_ones_are_in_the_order_of_declaration),
    UNIT(long_queries_are_cut),
    UNIT(json_replaces_what_was_found_before),
    {0},
};

int main(void)
{
    return unit_run("search", tests);
}
