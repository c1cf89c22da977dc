/* SPDX-License-Identifier: MIT */
/* test_protect.c - sandbox.protect: what stays read-only, or missing, in a directory that code may
 * write; the same writes succeed without it. */
#include "live.h"

#include "os/directories.h"
#include "os/files.h"
#include "os/placeholder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char at[64]; /* unlike /tmp, no box has its home there */

/* A path in it. */
static const char *in(const char *name)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", at, name);
    return path;
}

static void put(const char *name, const char *text)
{
    CU_ASSERT_EQUAL(laz_os_write_file(in(name), text, strlen(text), 0666, NULL), 0);
    CU_ASSERT_EQUAL(chmod(in(name), 0666), 0); /* sessions of root have uids of their own */
}

static void make(const char *name)
{
    CU_ASSERT_EQUAL(mkdir(in(name), 0777), 0);
    CU_ASSERT_EQUAL(chmod(in(name), 0777), 0);
}

/* A project: hooks and configuration are there, the rest is missing. */
static void begin(void)
{
    snprintf(at, sizeof at, "/var/tmp/lazaret-test-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(at));
    CU_ASSERT_EQUAL(chmod(at, 0777), 0);
    make(".git");
    make(".git/hooks");
    put(".git/config", "[core]\n");
    put("README", "");
}

static void end(void)
{
    laz_os_remove_tree(at);
}

static bool is_there(const char *name)
{
    struct laz_look look;

    return laz_os_look(in(name), false, &look) == 0;
}

static unsigned entries(const char *name)
{
    struct laz_strv names = LAZ_STRV_INIT;

    CU_ASSERT_EQUAL(laz_os_list_directory(in(name), &names, NULL), 0);
    unsigned n = (unsigned)names.n;
    laz_strv_fini(&names);
    return n;
}

/* With the directory writable. */
static struct laz_engine *engine_with(const char *settings)
{
    char text[400];

    snprintf(text, sizeof text, "sandbox.write=[\"%s\"];%s", at, settings);
    return test_engine(text);
}

/* Makes or changes each of the files, and moves what is there: the list of what succeeded. */
static const char attempt[] =
    "local done, at = {}, '%s/'\n"
    "for _, name in ipairs{'README', 'new', '.envrc', '.claude/settings.json', '.git/config',\n"
    "                      '.git/hooks/pre-commit', '.git/commondir', '.git/index'} do\n"
    "  local file = io.open(at .. name, 'a')\n"
    "  if file and file:write('planted') and file:close() then done[#done + 1] = name end\n"
    "end\n"
    "local function did(name, ...) if ... then done[#done + 1] = name end end\n"
    "did('move .envrc', os.rename(at .. 'new', at .. '.envrc'))\n"
    "did('remove .mcp.json', os.remove(at .. '.mcp.json'))\n"
    "did('move config', os.rename(at .. 'README', at .. '.git/config'))\n"
    "did('move .git', os.rename(at .. '.git', at .. 'other'))\n"
    "return table.concat(done, ', ')";

static void expect_attempt(struct laz_session *session, const char *value)
{
    char code[sizeof attempt + sizeof at];

    snprintf(code, sizeof code, attempt, at);
    test_expect(session, code, LAZ_VERDICT_OK, value);
}

static void try_all(const char *settings, const char *value)
{
    struct laz_engine *engine = engine_with(settings);
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;

    if (session)
        expect_attempt(session, value);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void what_is_protected_can_be_neither_changed_nor_made(void)
{
    begin();
    try_all("", "\"README, new, .git/index\"");
    CU_ASSERT_EQUAL(entries(""), 3); /* README, new, .git: nothing was left behind */
    CU_ASSERT_EQUAL(entries(".git"), 3);
    end();
}

/* The control. */
static void without_it_all_of_that_succeeds(void)
{
    begin();
    try_all("sandbox.protect=[]",
            "\"README, new, .envrc, .git/config, .git/hooks/pre-commit, .git/commondir, "
            ".git/index, move .envrc, move config, move .git\"");
    CU_ASSERT(is_there("other/commondir") && is_there(".envrc"));
    end();
}

static void a_file_in_place_of_a_directory_is_protected(void)
{
    begin();
    laz_os_remove_tree(in(".git"));
    put(".git", "gitdir: elsewhere\n");
    try_all("", "\"README, new\"");
    CU_ASSERT_EQUAL(entries(""), 3);
    end();
}

static void where_there_is_no_repository_none_can_be_made(void)
{
    begin();
    laz_os_remove_tree(in(".git"));
    try_all("", "\"README, new\"");
    CU_ASSERT_EQUAL(entries(""), 2);
    end();
}

static void a_path_that_is_writable_itself_is_not_protected(void)
{
    char settings[200];

    begin();
    snprintf(settings, sizeof settings, "sandbox.write=[\"%s\",\"%s\"]", at, in(".git/config"));
    try_all(settings, "\"README, new, .git/config, .git/index\"");
    end();
}

static void the_directory_git_alone_has_its_hooks_protected(void)
{
    char settings[200];

    begin();
    snprintf(settings, sizeof settings, "sandbox.write=[\"%s\"]", in(".git"));
    try_all(settings, "\".git/index\"");
    CU_ASSERT_EQUAL(entries(".git"), 3);
    end();
}

static void an_error_says_what_protects(void)
{
    static const char *const names[] = {".git/config", ".mcp.json", ".claude/settings.json"};
    char code[300];

    begin();
    struct laz_engine *engine = engine_with("");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;
    for (size_t i = 0; session && i < sizeof names / sizeof names[0]; i++) {
        snprintf(code, sizeof code, "assert(io.open('%s', 'a'))", in(names[i]));
        struct laz_result *result = test_run(session, code, NULL);
        CU_ASSERT(test_result_has(result, "protected by sandbox.protect: "));
        laz_result_free(result);
    }
    if (session) {
        snprintf(code, sizeof code, "assert(io.open('%s', 'a'))", in(".git"));
        struct laz_result *result = test_run(session, code, NULL);
        CU_ASSERT_PTR_NULL(strstr(laz_result_json(result), "sandbox.protect"));
        laz_result_free(result);
    }
    laz_session_free(session);
    laz_engine_free(engine);
    end();
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refused(const char *settings, const char *part)
{
    struct laz_engine *engine = engine_with(settings);
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    if (laz_session_open(engine, &options, &session, &err) == LAZ_ENOENT) {
        unit_skip("lua", "this runtime was not built");
    } else {
        CU_ASSERT_PTR_NULL(session);
        if (!strstr(err.text, part))
            printf("\n    %s", err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
    }
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_FALSE(is_there(".mcp.json"));
}

static void a_link_is_refused(void)
{
    begin();
    CU_ASSERT_EQUAL(symlink("README", in(".envrc")), 0);
    expect_refused("", "/.envrc is a link, which code could replace");
    end();
}

static void a_backend_that_cannot_protect_is_refused(void)
{
    begin();
    expect_refused("sandbox.backend=\"landlock\"", "the backend landlock cannot keep");
    end();
}

/* ---- what others do meanwhile ---------------------------------------------------------------- */

/* The kernel takes a mount away with the file below it: the session would be able to write. */
static void what_the_host_replaces_is_protected_again(void)
{
    static const char code[] =
        "if x then return 'kept' end\nx = 1\n"
        "local file, why = io.open('%s/.git/config', 'a')\nreturn file and 'written' or 'refused'";
    char text[300];

    begin();
    snprintf(text, sizeof text, code, at);
    struct laz_engine *engine = engine_with("");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;
    if (session) {
        test_expect(session, text, LAZ_VERDICT_OK, "\"refused\"");
        test_expect(session, text, LAZ_VERDICT_OK, "\"kept\"");
        put("config", "[core]\n");
        CU_ASSERT_EQUAL(rename(in("config"), in(".git/config")), 0);
        struct laz_result *result = test_run(session, text, NULL);
        CU_ASSERT(test_result_has(result, "\"value\":\"refused\""));
        CU_ASSERT(test_result_has(result, "/.git/config (sandbox.protect)"));
        laz_result_free(result);
        test_expect(session, text, LAZ_VERDICT_OK, "\"kept\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(entries(""), 2);
    end();
}

static void what_is_missing_stays_so_until_the_last_session_has_ended(void)
{
    struct laz_engine *engines[2];
    struct laz_session *sessions[2] = {NULL, NULL};

    begin();
    for (int i = 0; i < 2; i++) {
        engines[i] = engine_with("");
        sessions[i] = engines[i] ? test_session(engines[i], "lua") : NULL;
    }
    if (sessions[0] && sessions[1]) {
        CU_ASSERT(is_there(".mcp.json") && is_there(".git/commondir"));
        laz_session_free(sessions[0]);
        laz_engine_free(engines[0]);
        sessions[0] = NULL;
        engines[0] = NULL;
        expect_attempt(sessions[1], "\"README, new, .git/index\"");
        CU_ASSERT(is_there(".mcp.json") && is_there(".git/commondir"));
    }
    for (int i = 0; i < 2; i++) {
        laz_session_free(sessions[i]);
        laz_engine_free(engines[i]);
    }
    CU_ASSERT_FALSE(is_there(".mcp.json"));
    CU_ASSERT_EQUAL(entries(".git"), 3);
    end();
}

/* Its descriptors are closed, and nothing was removed. */
static void what_a_killed_host_has_left_is_removed_by_the_next(void)
{
    int fd = -1;

    begin();
    CU_ASSERT_EQUAL(laz_os_placeholder_take(at, ".vscode", NULL, &fd, NULL), 0);
    CU_ASSERT_EQUAL(close(fd), 0);
    CU_ASSERT_EQUAL(laz_os_placeholder_take(at, ".git/commondir", ".\n", &fd, NULL), 0);
    CU_ASSERT_EQUAL(close(fd), 0);
    make(".idea"); /* somebody's own */
    try_all("", "\"README, new, .git/index\"");
    CU_ASSERT_EQUAL(entries(""), 4); /* README, new, .git, .idea */
    CU_ASSERT_EQUAL(entries(".git"), 3);
    end();
}

static const struct unit_test tests[] = {
    UNIT(what_is_protected_can_be_neither_changed_nor_made),
    UNIT(without_it_all_of_that_succeeds),
    UNIT(a_file_in_place_of_a_directory_is_protected),
    UNIT(where_there_is_no_repository_none_can_be_made),
    UNIT(a_path_that_is_writable_itself_is_not_protected),
    UNIT(the_directory_git_alone_has_its_hooks_protected),
    UNIT(an_error_says_what_protects),
    UNIT(a_link_is_refused),
    UNIT(a_backend_that_cannot_protect_is_refused),
    UNIT(what_the_host_replaces_is_protected_again),
    UNIT(what_is_missing_stays_so_until_the_last_session_has_ended),
    UNIT(what_a_killed_host_has_left_is_removed_by_the_next),
    {0},
};

int main(void)
{
    return unit_run("protect", tests);
}
