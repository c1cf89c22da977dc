/* SPDX-License-Identifier: MIT */
/* test_edit.c - lazaret as an entry in the configuration of other programs: files as people have
 * them, what is refused, places, the diff, and the file that is replaced.
 *
 * tests/data/mcp-install has five files for each client, and below expected/ what becomes of them.
 * `test_edit --write` writes the latter, to be read by a person. */
#include "unit.h"

#include "base/jsonc.h"
#include "edit/edit.h"
#include "os/directories.h"
#include "os/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA "tests/data/mcp-install"

static bool writes;                                  /* --write */
static char scratch[] = "/tmp/laz-test-edit-XXXXXX"; /* removed by main */

static char *in_directory(const char *name)
{
    return laz_strdupf("%s/%s", scratch, name);
}

static const char *const arguments[] = {"mcp", "--config", "/etc/lazaret/team.toml"};

static struct laz_buf edit_of(const char *client, const char *text, size_t len,
                              struct laz_error *err, int *rc)
{
    struct laz_strv args = LAZ_STRV_INIT;
    struct laz_buf out = LAZ_BUF_INIT;

    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        laz_strv_add(&args, arguments[i]);
    const struct laz_edit_program program = {"/usr/bin/lazaret", &args};
    *rc = laz_edit_text(laz_edit_client(client), &program, text, len, &out, err);
    laz_strv_fini(&args);
    return out;
}

/* ---- the files ------------------------------------------------------------------------------- */

static void check_file(const char *client, const char *name)
{
    char *path = laz_strdupf(DATA "/%s/%s", client, name);
    char *expected_path = laz_strdupf(DATA "/expected/%s/%s", client, name);
    char *from = unit_source(path), *to = unit_source(expected_path);
    struct laz_buf text = LAZ_BUF_INIT, expected = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int rc;

    CU_ASSERT_FATAL(laz_os_read_file(from, LAZ_EDIT_MAX_SIZE, &text, &err) == 0);
    struct laz_buf once = edit_of(client, laz_buf_text(&text), text.len, &err, &rc);
    UNIT_TEXT(err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    if (writes) {
        (void)unlink(to);
        CU_ASSERT_EQUAL(laz_os_write_file(to, once.data, once.len, 0644, &err), 0);
    }
    CU_ASSERT_EQUAL(laz_os_read_file(to, LAZ_EDIT_MAX_SIZE, &expected, &err), 0);
    CU_ASSERT_EQUAL(expected.len, once.len);
    UNIT_TEXT(laz_buf_text(&once), laz_buf_text(&expected));
    struct laz_buf twice = edit_of(client, laz_buf_text(&once), once.len, &err, &rc);
    CU_ASSERT_EQUAL(rc, 0);
    CU_ASSERT_EQUAL(twice.len, once.len);
    UNIT_TEXT(laz_buf_text(&twice), laz_buf_text(&once));
    laz_buf_fini(&text);
    laz_buf_fini(&expected);
    laz_buf_fini(&once);
    laz_buf_fini(&twice);
    free(path);
    free(expected_path);
    free(from);
    free(to);
}

static void files_get_the_entry_and_keep_everything_else(void)
{
    for (const struct laz_edit_client *client = laz_edit_clients; client->name; client++) {
        struct laz_strv names = LAZ_STRV_INIT;
        char *path = laz_strdupf(DATA "/%s", client->name), *directory = unit_source(path);

        CU_ASSERT_EQUAL_FATAL(laz_os_list_directory(directory, &names, NULL), 0);
        CU_ASSERT_EQUAL(names.n, 5);
        for (size_t i = 0; i < names.n; i++)
            check_file(client->name, names.items[i]);
        laz_strv_fini(&names);
        free(path);
        free(directory);
    }
}

static void an_entry_that_is_there_changes_nothing(void)
{
    char *path = unit_source(DATA "/claude-desktop/has-it.json");
    struct laz_buf text = LAZ_BUF_INIT;
    int rc;

    CU_ASSERT_EQUAL_FATAL(laz_os_read_file(path, LAZ_EDIT_MAX_SIZE, &text, NULL), 0);
    struct laz_buf out = edit_of("claude-desktop", text.data, text.len, NULL, &rc);
    CU_ASSERT_EQUAL(rc, 0);
    UNIT_TEXT(laz_buf_text(&out), laz_buf_text(&text));
    laz_buf_fini(&out);
    laz_buf_fini(&text);
    free(path);
}

/* ---- layouts --------------------------------------------------------------------------------- */

#define ENTRY                                                                                      \
    "\"lazaret\": {\"command\": \"/usr/bin/lazaret\", \"args\": [\"mcp\", \"--config\", "          \
    "\"/etc/lazaret/team.toml\"]}"
#define ARGS "[\"mcp\", \"--config\", \"/etc/lazaret/team.toml\"]"
#define TABLE                                                                                      \
    "[mcp_servers.lazaret]\ncommand = \"/usr/bin/lazaret\"\nargs = " ARGS                          \
    "\ntool_timeout_sec = 1800\n"

static void an_entry_is_written_as_its_neighbours_are(void)
{
    static const struct {
        const char *client, *before, *after;
    } rows[] = {
        {"cursor", "{\"mcpServers\":{\"a\":{}}}", "{\"mcpServers\":{\"a\":{}, " ENTRY "}}"},
        {"cursor", "{\"mcpServers\":{\"a\":{},}}", "{\"mcpServers\":{\"a\":{}, " ENTRY ",}}"},
        {"cursor", "{\"a\":1}", "{\"a\":1, \"mcpServers\": {" ENTRY "}}"},
        {"cursor", "{\"mcpServers\": {\"lazaret\": 5, \"b\": {}}}",
         "{\"mcpServers\": {" ENTRY ", \"b\": {}}}"},
        {"cursor", "{\"mcpServers\": {\"lazaret\": {\"command\": \"x\"} }}",
         "{\"mcpServers\": {\"lazaret\": {\"command\": \"/usr/bin/lazaret\", \"args\": " ARGS
         "} }}"},
        {"cursor", "{ /* none */ }",
         "{ /* none */ \n  \"mcpServers\": {\n    \"lazaret\": {\n      \"command\": "
         "\"/usr/bin/lazaret\",\n      \"args\": " ARGS "\n    }\n  }\n}"},
        {"codex", "a = 1", "a = 1\n\n" TABLE},
        {"codex", "mcp_servers.x.command = \"x\"\n", "mcp_servers.x.command = \"x\"\n\n" TABLE},
        {"codex", "[mcp_servers.lazaret.env]\nA = \"b\"\n",
         "[mcp_servers.lazaret.env]\nA = \"b\"\n\n" TABLE},
        {"codex", "[mcp_servers]\nlazaret.command = \"x\" # old\nlazaret.args = []\n",
         "[mcp_servers]\nlazaret.command = \"/usr/bin/lazaret\" # old\n"
         "lazaret.tool_timeout_sec = 1800\nlazaret.args = " ARGS "\n"},
        {"codex", "mcp_servers = {}\n",
         "mcp_servers = { lazaret = { command = \"/usr/bin/lazaret\", args = " ARGS
         ", tool_timeout_sec = 1800 } }\n"},
        {"codex", "[mcp_servers]\nlazaret = { url = \"x\" }\n",
         "[mcp_servers]\nlazaret = { command = \"/usr/bin/lazaret\", args = " ARGS
         ", tool_timeout_sec = 1800 }\n"},
        {"codex", "[mcp_servers]\nlazaret = { command = \"x\" } # c\n",
         "[mcp_servers]\nlazaret = { command = \"/usr/bin/lazaret\", tool_timeout_sec = 1800, args "
         "= " ARGS " } # c\n"},
        {"codex", "[mcp_servers.lazaret] # here\nurl = \"x\"\nh.a = 1\n# end\n[b]\n",
         "[mcp_servers.lazaret]\ncommand = \"/usr/bin/lazaret\"\nargs = " ARGS
         "\ntool_timeout_sec = 1800\n# end\n[b]\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        int rc;
        struct laz_buf out =
            edit_of(rows[i].client, rows[i].before, strlen(rows[i].before), &err, &rc);
        UNIT_TEXT(err.text, "");
        UNIT_TEXT(laz_buf_text(&out), rows[i].after);
        laz_buf_fini(&out);
    }
}

static void what_is_not_understood_is_refused_with_its_place(void)
{
    static const struct {
        const char *client, *text, *error;
    } rows[] = {
        {"claude", "{\n  \"mcpServers\": [],\n}",
         "2:17: the value of mcpServers has to be an object in braces"},
        {"claude", "[]", "1:1: the outermost value has to be an object in braces"},
        {"claude", "{\"a\": 'x'}", "1:7: expected a value, found '''"},
        {"claude", "{\"a\": 1 \"b\": 2}", "1:9: expected ',' or '}', found '\"'"},
        {"claude", "{a: 1}", "1:2: expected a key in double quotes, or '}', found 'a'"},
        {"claude", "{\"\u00e4\": 1,,}", "1:9: expected a key in double quotes, or '}', found ','"},
        {"claude", "{\"a\": 01}", "1:7: this is not a number of JSON"},
        {"claude", "{\"a\": 1.}", "1:7: this is not a number of JSON"},
        {"claude", "{\"a\": \"x\n\"}", "1:7: the string that begins here does not end"},
        {"claude", "{\"a\": \"\\x\"}", "1:8: this is not an escape sequence of JSON"},
        {"claude", "{\"a\": \"\x01\"}", "1:8: a string may not contain this control character"},
        {"claude", "{\"a\": tru}", "1:7: expected a value, found 't'"},
        {"claude", "{\"a\" 1}", "1:6: expected ':' after the key, found '1'"},
        {"claude", "{} {}", "1:4: expected nothing after the value, found '{'"},
        {"claude", "{\"a\": 1 /* }", "1:9: expected ',' or '}', found '/'"},
        {"claude", "{\n", "2:1: expected a key in double quotes, or '}', found the end"},
        {"claude", "\xef\xbb\xbf\n{]", "2:2: expected a key in double quotes, or '}', found ']'"},
        {"claude", "{\"mcpServers\": {}, \"mcpServers\": {}}",
         "1:20: this key is there a second time; remove one of the two"},
        {"claude", "{\"mcpServers\": {\"lazaret\": 1, \"lazare\\u0074\": 2}}",
         "1:31: this key is there a second time; remove one of the two"},
        {"claude", "{\"a\": \"\xff\"}", "1:8: this byte is not UTF-8"},
        {"claude", "\xff\xfe{", "1:1: the text is UTF-16; save it as UTF-8"},
        {"codex", "a = \n", "1:5: expected a value, found the end of the line"},
        {"codex", "[[mcp_servers]]\n", "1:3: the servers have to be a table"},
        {"codex", "a = 1\na = 2\n", "2:1: 'a' is already set, in line 1"},
        {"codex", "[mcp_servers.lazaret]\nurl = \"x\"\n[mcp_servers.lazaret.headers]\n",
         "an entry cannot be put here; write it by hand: 1:1: this entry of lazaret starts no "
         "program; remove it, and try again"},
        {"codex", "[[mcp_servers.lazaret]]\n",
         "an entry cannot be put here; write it by hand: 1:15: this entry of lazaret starts no "
         "program; remove it, and try again"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        int rc;
        struct laz_buf out = edit_of(rows[i].client, rows[i].text, strlen(rows[i].text), &err, &rc);
        CU_ASSERT_EQUAL(rc, LAZ_EPARSE);
        CU_ASSERT_EQUAL(out.len, 0);
        UNIT_TEXT(err.text, rows[i].error);
        laz_buf_fini(&out);
    }
}

static void deep_and_large_texts_are_refused(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int rc;

    laz_buf_puts(&text, "{\"a\": ");
    for (int i = 0; i < 100000; i++)
        laz_buf_putc(&text, '[');
    struct laz_buf out = edit_of("claude", text.data, text.len, &err, &rc);
    CU_ASSERT_EQUAL(rc, LAZ_EPARSE);
    UNIT_TEXT(err.text, "1:71: values are nested more than 64 deep");
    while (text.len <= LAZ_EDIT_MAX_SIZE)
        laz_buf_putc(&text, ' ');
    out = edit_of("claude", text.data, text.len, &err, &rc);
    CU_ASSERT_EQUAL(rc, LAZ_ETOOBIG);
    out = edit_of("codex", text.data, text.len, &err, &rc);
    CU_ASSERT_EQUAL(rc, LAZ_ETOOBIG);
    laz_buf_fini(&out);
    laz_buf_fini(&text);
}

static void words_that_are_not_utf8_are_refused(void)
{
    struct laz_strv args = LAZ_STRV_INIT;
    struct laz_buf out = LAZ_BUF_INIT;
    struct laz_error err = {0};

    laz_strv_add(&args, "caf\xe9");
    const struct laz_edit_program program = {"/usr/bin/lazaret", &args};
    CU_ASSERT_EQUAL(laz_edit_text(laz_edit_client("claude"), &program, "", 0, &out, &err),
                    LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is not UTF-8"));
    laz_strv_fini(&args);
    laz_buf_fini(&out);
}

static void a_plain_value_has_no_comments_and_last_commas(void)
{
    static const char text[] = "{ // a\n \"/* no */\": [1, /* two */ 2, \"\\\"//\",\n], }";
    struct laz_buf plain = LAZ_BUF_INIT;

    laz_jsonc_plain(&plain, text, strlen(text));
    UNIT_TEXT(laz_buf_text(&plain), "{\"/* no */\":[1,2,\"\\\"//\"]}");
    laz_buf_fini(&plain);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void each_client_has_a_place_on_each_platform(void)
{
    static const struct {
        const char *client, *platform, *path;
    } rows[] = {
        {"claude-desktop", "linux", "/x/Claude/claude_desktop_config.json"},
        {"claude-desktop", "darwin",
         "/h/Library/Application Support/Claude/claude_desktop_config.json"},
        {"claude-desktop", "windows", "/a/Claude/claude_desktop_config.json"},
        {"codex", "linux", "/h/.codex/config.toml"},
        {"codex", "windows", "/u/.codex/config.toml"},
        {"cursor", "darwin", "/h/.cursor/mcp.json"},
        {"cursor", "windows", "/u/.cursor/mcp.json"},
    };
    struct laz_error err = {0};
    char *path = NULL, here[4096];

    setenv("HOME", "/h", 1);
    setenv("XDG_CONFIG_HOME", "/x", 1);
    setenv("APPDATA", "/a", 1);
    setenv("USERPROFILE", "/u", 1);
    unsetenv("CODEX_HOME");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_edit_client *client = laz_edit_client(rows[i].client);
        CU_ASSERT_EQUAL(laz_edit_place(client, rows[i].platform, &path, &err), 0);
        UNIT_TEXT(path, rows[i].path);
        free(path);
    }
    setenv("CODEX_HOME", "/c", 1);
    CU_ASSERT_EQUAL(laz_edit_place(laz_edit_client("codex"), "linux", &path, &err), 0);
    UNIT_TEXT(path, "/c/config.toml");
    free(path);
    unsetenv("XDG_CONFIG_HOME");
    CU_ASSERT_EQUAL(laz_edit_place(laz_edit_client("claude-desktop"), "linux", &path, &err), 0);
    UNIT_TEXT(path, "/h/.config/Claude/claude_desktop_config.json");
    free(path);
    CU_ASSERT_EQUAL(laz_edit_place(laz_edit_client("vscode"), "linux", &path, &err), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(here, sizeof here));
    CU_ASSERT(strncmp(path, here, strlen(here)) == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "/.vscode/mcp.json"));
    free(path);
    setenv("HOME", "relative", 1);
    CU_ASSERT_EQUAL(laz_edit_place(laz_edit_client("cursor"), "linux", &path, &err), LAZ_ENOENT);
    CU_ASSERT_PTR_NULL(path);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the variable HOME is not set"));
    CU_ASSERT_PTR_NULL(laz_edit_client("emacs"));
}

/* ---- the diff -------------------------------------------------------------------------------- */

static void check_diff(const char *before, const char *after, const char *expected)
{
    struct laz_buf a = LAZ_BUF_INIT, b = LAZ_BUF_INIT, out = LAZ_BUF_INIT;

    laz_buf_puts(&a, before);
    laz_buf_puts(&b, after);
    laz_edit_diff(&out, "F", &a, &b);
    UNIT_TEXT(laz_buf_text(&out), expected);
    laz_buf_fini(&a);
    laz_buf_fini(&b);
    laz_buf_fini(&out);
}

static void a_diff_shows_what_has_changed(void)
{
    check_diff("a\n", "a\n", "");
    check_diff("", "a\n", "F:1:\n+a\n");
    check_diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nx\nd\ne\nf\n", "F:4:\n b\n c\n+x\n d\n e\n");
    check_diff("a\nb\nc\n", "a\nB\nc\n", "F:2:\n a\n-b\n+B\n c\n");
    check_diff("a\nb\nc\nd\n", "a\nB\nc\nD\n", "F:2:\n a\n-b\n+B\n c\n-d\n+D\n");
    check_diff("a", "a\nb\n", "F:1:\n-a\n+a\n+b\n");
    check_diff("aa\naa\n", "aa\naa\naa\n", "F:3:\n aa\n aa\n+aa\n");
    check_diff("x\r\n", "x\r\n\x1b[2J\r\n", "F:2:\n x\n+\\x1b[2J\n");
}

static void a_diff_shows_a_part_of_a_long_line(void)
{
    struct laz_buf a = LAZ_BUF_INIT, b = LAZ_BUF_INIT, out = LAZ_BUF_INIT;

    for (int i = 0; i < 1000; i++)
        laz_buf_puts(&a, "\u00e4\u00f6");
    laz_buf_append(&b, a.data, a.len);
    laz_buf_puts(&a, "}");
    laz_buf_puts(&b, ", new}");
    laz_edit_diff(&out, "F", &a, &b);
    CU_ASSERT(out.len < 600);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&out), "\n-...\u00e4"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&out), "\u00f6, new}\n"));
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&out), "\\x"));
    laz_buf_fini(&a);
    laz_buf_fini(&b);
    laz_buf_fini(&out);
}

/* ---- the file -------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    struct laz_buf text = LAZ_BUF_INIT;

    return laz_os_read_file(path, LAZ_EDIT_MAX_SIZE, &text, NULL) == 0 ? laz_buf_steal(&text)
                                                                       : NULL;
}

static void check_text(const char *path, const char *expected)
{
    char *text = read_text(path);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    UNIT_TEXT(text, expected);
    free(text);
}

/* Reads and writes a file: the result, and the path of the copy. */
static int write_file(const char *path, const char *text, char **backup, struct laz_error *err)
{
    struct laz_edit_file file;
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_buf_puts(&buf, text);
    int rc = laz_edit_file_read(&file, path, err);
    if (!rc)
        rc = laz_edit_file_write(&file, &buf, false, backup, err);
    laz_edit_file_fini(&file);
    laz_buf_fini(&buf);
    return rc;
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (unsigned)st.st_mode & 07777 : 0;
}

static void a_file_keeps_its_mode_and_an_older_copy(void)
{
    char *path = in_directory("kept.json"), *backup = NULL;
    char *first = in_directory("kept.json.bak"), *second = in_directory("kept.json.bak.1");

    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, "old", 3, 0640, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(first, "older", 5, 0600, NULL), 0);
    CU_ASSERT_EQUAL(write_file(path, "new", &backup, NULL), 0);
    UNIT_TEXT(backup, second);
    check_text(path, "new");
    check_text(first, "older");
    check_text(second, "old");
    CU_ASSERT_EQUAL(mode_of(path), 0640);
    CU_ASSERT_EQUAL(mode_of(second), 0640);
    free(backup);
    free(path);
    free(first);
    free(second);
}

static void a_link_leads_to_the_file(void)
{
    char *path = in_directory("target.json"), *link = in_directory("link.json"), *backup = NULL;
    char *copy = in_directory("target.json.bak"), *nowhere = in_directory("nowhere.json");
    struct laz_look look;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, "old", 3, 0600, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_make_link(link, "target.json"), 0);
    CU_ASSERT_EQUAL(write_file(link, "new", &backup, NULL), 0);
    UNIT_TEXT(backup, copy);
    check_text(path, "new");
    CU_ASSERT(laz_os_look(link, false, &look) == 0 && look.kind == LAZ_LOOK_LINK);
    CU_ASSERT_EQUAL_FATAL(laz_os_make_link(nowhere, "nothing"), 0);
    CU_ASSERT_EQUAL(write_file(nowhere, "new", &backup, &err), LAZ_ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a link to a file that does not exist"));
    free(backup);
    free(path);
    free(link);
    free(copy);
    free(nowhere);
}

static void a_missing_file_is_made_with_its_directory(void)
{
    char *path = in_directory("a/b/new.json"), *directory = in_directory("a"), *backup = NULL;

    CU_ASSERT_EQUAL(write_file(path, "new", &backup, NULL), 0);
    CU_ASSERT_PTR_NULL(backup);
    check_text(path, "new");
    CU_ASSERT_EQUAL(mode_of(path), 0600);
    CU_ASSERT_EQUAL(mode_of(directory), 0700);
    free(path);
    free(directory);
}

static void what_is_no_file_or_too_large_is_refused(void)
{
    char *directory = in_directory("directory"), *large = in_directory("large"), *backup = NULL;
    struct laz_error err = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    while (text.len <= LAZ_EDIT_MAX_SIZE)
        laz_buf_puts(&text, "                                                                ");
    CU_ASSERT_EQUAL_FATAL(
        laz_os_make_directory(directory, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(large, text.data, text.len, 0600, NULL), 0);
    CU_ASSERT_EQUAL(write_file(directory, "new", &backup, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a directory"));
    CU_ASSERT_EQUAL(write_file(large, "new", &backup, &err), LAZ_ETOOBIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "has more than 1048576 bytes"));
    laz_buf_fini(&text);
    free(directory);
    free(large);
}

static void a_file_that_another_program_has_changed_stays(void)
{
    char *path = in_directory("changed.json"), *copy = in_directory("changed.json.bak");
    char *backup = NULL;
    struct laz_edit_file file;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    laz_buf_puts(&text, "new");
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, "old", 3, 0600, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_edit_file_read(&file, path, NULL), 0);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, "other", 5, 0600, NULL), 0);
    CU_ASSERT_EQUAL(laz_edit_file_write(&file, &text, false, &backup, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another program has changed"));
    CU_ASSERT_PTR_NULL(backup);
    check_text(path, "other");
    CU_ASSERT(access(copy, F_OK) != 0);
    laz_edit_file_fini(&file);
    laz_buf_fini(&text);
    free(path);
    free(copy);
}

static const struct unit_test tests[] = {
    UNIT(files_get_the_entry_and_keep_everything_else),
    UNIT(an_entry_that_is_there_changes_nothing),
    UNIT(an_entry_is_written_as_its_neighbours_are),
    UNIT(what_is_not_understood_is_refused_with_its_place),
    UNIT(deep_and_large_texts_are_refused),
    UNIT(words_that_are_not_utf8_are_refused),
    UNIT(a_plain_value_has_no_comments_and_last_commas),
    UNIT(each_client_has_a_place_on_each_platform),
    UNIT(a_diff_shows_what_has_changed),
    UNIT(a_diff_shows_a_part_of_a_long_line),
    UNIT(a_file_keeps_its_mode_and_an_older_copy),
    UNIT(a_link_leads_to_the_file),
    UNIT(a_missing_file_is_made_with_its_directory),
    UNIT(what_is_no_file_or_too_large_is_refused),
    UNIT(a_file_that_another_program_has_changed_stays),
    {0},
};

int main(int argc, char **argv)
{
    writes = argc > 1 && strcmp(argv[1], "--write") == 0;
    if (!mkdtemp(scratch))
        return 1;
    int status = unit_run("edit", tests);
    laz_os_remove_tree(scratch);
    return status;
}
