/* SPDX-License-Identifier: MIT */
/* test_descriptions.c - what plugins declare in files beside their objects: who is considered for
 * `auto`, in which order, and what cannot be used. */
#include "unit.h"
#include "work_directory.h"

#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what backends declare ------------------------------------------------------------------ */

static void write_text(const char *name, const char *text)
{
    write_file(in_work(name), text, strlen(text), 0644);
}

/* A file that would not load, and its description. */
static void write_backend(const char *directory, const char *name, const char *members)
{
    char file[80], text[400];

    snprintf(file, sizeof file, "%s/%s.so", directory, name);
    write_text(file, "not an object");
    snprintf(file, sizeof file, "%s/%s.backend.json", directory, name);
    snprintf(text, sizeof text, "{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"%s\"%s}", name,
             members);
    write_text(file, text);
}

/* `in` is $LAZARET_PLUGIN_PATH, `named` is in the settings. */
static struct laz_registry *open_standard(const char *in, const char *named)
{
    setenv("LAZARET_PLUGIN_PATH", in, 1);
    struct laz_registry *registry = open_registry(named, NULL);
    unsetenv("LAZARET_PLUGIN_PATH");
    return registry;
}

#define ASSERT_AUTO(registry, platform, expected)                                                  \
    assert_auto(registry, platform, expected, __LINE__)

/* What is installed on this machine comes into it: only the names of the test count, "mock_...". */
static void assert_auto(struct laz_registry *registry, const char *platform, const char *expected,
                        unsigned line)
{
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_buf text = LAZ_BUF_INIT;

    laz_registry_automatic(registry, platform, &names);
    CU_ASSERT(!names.failed);
    for (size_t i = 0; i < names.n; i++)
        if (strncmp(names.items[i], "mock_", 5) == 0)
            laz_buf_printf(&text, "%s ", names.items[i]);
    unit_text(laz_buf_text(&text), expected, __FILE__, line);
    laz_buf_fini(&text);
    laz_strv_fini(&names);
}

static void auto_goes_by_rank_then_by_name(void)
{
    work_begin();
    make_directory("a", 0755);
    make_directory("b", 0755);
    write_backend("a", "mock_c", ",\"auto\":{\"linux\":2,\"darwin\":1}");
    write_backend("a", "mock_b", ",\"auto\":{\"linux\":2}");
    write_backend("a", "mock_z", ",\"auto\":{\"linux\":1}");
    write_backend("a", "mock_a", ""); /* declares no rank */
    write_backend("a", "mock_gone", ",\"auto\":{\"linux\":1}");
    CU_ASSERT(unlink(in_work("a/mock_gone.so")) == 0);
    write_text("a/mock_bare.so", "has no description");
    write_backend("b", "mock_named", ",\"auto\":{\"linux\":1}");
    struct laz_registry *registry = open_standard(in_work("a"), in_work("b"));
    ASSERT_AUTO(registry, "linux", "mock_z mock_b mock_c ");
    ASSERT_AUTO(registry, "darwin", "mock_c ");
    ASSERT_AUTO(registry, "plan9", "");
    laz_registry_free(registry);
    /* A directory that is named and standard is standard. */
    registry = open_standard(in_work("b"), in_work("b"));
    ASSERT_AUTO(registry, "linux", "mock_named ");
    laz_registry_free(registry);
    work_end();
}

/* It may be that of the best backend: its problem is reported, and nothing weaker is taken. */
static void auto_begins_with_what_cannot_be_judged(void)
{
    const struct laz_plugin *plugin = NULL;
    struct laz_error err = {0};

    work_begin();
    make_directory("a", 0755);
    write_backend("a", "mock_b", ",\"auto\":{\"linux\":1}");
    write_backend("a", "mock_c", ",\"auto\":{\"linux\":2}");
    copy_mock("mock_good.so", "a/mock_good.so", 0644);
    write_text("a/mock_good.backend.json",
               "{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"mock_good\"}");
    CU_ASSERT(chmod(in_work("a/mock_c.backend.json"), 0666) == 0);
    CU_ASSERT(chmod(in_work("a/mock_good.backend.json"), 0666) == 0);
    struct laz_registry *registry = open_standard(in_work("a"), work);
    ASSERT_AUTO(registry, "linux", "mock_c mock_good mock_b ");
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "mock_good.backend.json: every user can write this file");
    laz_registry_free(registry);
    CU_ASSERT(chmod(in_work("a/mock_good.backend.json"), 0644) == 0);
    registry = open_standard(in_work("a"), work);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) == 0);
    laz_registry_free(registry);
    work_end();
}

/* A directory that was copied without them has no backend for "auto". */
static void descriptions_that_are_missing_are_named(void)
{
    static const char declared[] = "{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"mock_good\"}";
    struct laz_buf text = LAZ_BUF_INIT;
    char missing[200];

    work_begin();
    make_directory("a", 0755);
    make_directory("b", 0755);
    copy_mock("mock_good.so", "a/mock_good.so", 0644);
    copy_mock("mock_short.so", "a/mock_short.so", 0644);
    copy_mock("tool_evented.so", "a/tool_evented.so", 0644);
    copy_mock("mock_good.so", "b/mock_good.so", 0644);
    struct laz_registry *registry = open_standard(in_work("a"), in_work("b"));
    laz_registry_undeclared(registry, &text);
    snprintf(missing, sizeof missing, "missing are %s/a/mock_good.backend.json, ", work);
    ASSERT_HAS(laz_buf_text(&text), missing);
    snprintf(missing, sizeof missing, ", %s/a/mock_short.backend.json", work);
    ASSERT_HAS(laz_buf_text(&text), missing);
    CU_ASSERT(strstr(laz_buf_text(&text), "tool_evented") == NULL);
    laz_registry_free(registry);
    laz_buf_clear(&text);
    write_text("a/mock_good.backend.json", declared);
    registry = open_standard(in_work("a"), in_work("b"));
    laz_registry_undeclared(registry, &text);
    CU_ASSERT(strstr(laz_buf_text(&text), "mock_good") == NULL);
    ASSERT_HAS(laz_buf_text(&text), missing + 2);
    laz_registry_free(registry);
    laz_buf_fini(&text);
    work_end();
}

static void backends_declare_hints(void)
{
    const struct laz_backend_info *info = NULL;
    struct laz_error err = {0};

    work_begin();
    make_directory("a", 0755);
    write_backend("a", "mock_a",
                  ",\"auto\":{\"linux\":3},\"missing\":{\"tool\":\"install tool\"},"
                  "\"advice\":{\"signals\":\"take mock_a\"}");
    write_backend("a", "mock_b", ",\"advice\":{\"nproc\":\"take mock_b\"}");
    write_backend("a", "mock_n", ",\"unconfined\":true");
    struct laz_registry *registry = open_standard(in_work("a"), work);
    CU_ASSERT(laz_registry_backend(registry, "mock_a", &info, &err) == 0);
    CU_ASSERT_FATAL(info != NULL && info->missing.n == 2);
    UNIT_TEXT(info->missing.items[0], "tool");
    UNIT_TEXT(info->missing.items[1], "install tool");
    CU_ASSERT(!info->unconfined);
    UNIT_TEXT(laz_registry_advice(registry, "linux", "signals"), "take mock_a");
    CU_ASSERT(laz_registry_advice(registry, "linux", "nproc") == NULL); /* "auto" never takes it */
    CU_ASSERT(laz_registry_advice(registry, "plan9", "signals") == NULL);
    info = laz_registry_unconfined(registry);
    CU_ASSERT_FATAL(info != NULL);
    UNIT_TEXT(info->name, "mock_n");
    CU_ASSERT(laz_registry_backend(registry, "qqqqqq", &info, &err) == 0);
    CU_ASSERT(info == NULL);
    laz_registry_free(registry);
    work_end();
}

static void backend_descriptions_are_read_strictly(void)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"[]", "x.json: the whole: expected an object"},
        {"{\"kind\":\"runtime\"}", "kind: expected \"backend\""},
        {"{\"kind\":\"backend\"}", "abi: expected a version"},
        {"{\"kind\":\"backend\",\"abi\":\"1.3\"}", "built for plugin ABI 1.3"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\"}", "name: expected a string"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"rank\":1}",
         "rank: expected no such key"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"auto\":1}",
         "auto: expected an object"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"auto\":{\"linux\":0}}",
         "linux: expected a number from 1 on"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"auto\":{\"linus\":1}}",
         "linus: expected no such key"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"unconfined\":1}",
         "unconfined: expected true or false"},
        {"{\"kind\":\"backend\",\"abi\":\"1.0\",\"name\":\"x\",\"missing\":{\"a\":1}}",
         "missing: expected an object of strings"},
        {"{", "x.json: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        void *data = NULL;
        CU_ASSERT(laz_description_parse(&laz_backend_description, rows[i].text,
                                        strlen(rows[i].text), "x.json", &data,
                                        &err) == LAZ_EPLUGIN);
        ASSERT_HAS(err.text, rows[i].part);
        CU_ASSERT(data == NULL);
    }
    laz_description_free(&laz_backend_description, NULL);
}

/* ---- what is declared of languages ---------------------------------------------------------- */

static void copy_built(const char *name)
{
    static char data[1 << 16];
    char path[80];

    snprintf(path, sizeof path, ".libs/%s", name);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(file != NULL);
    size_t len = fread(data, 1, sizeof data, file);
    fclose(file);
    write_file(in_work(name), data, len, 0644);
}

static void languages_name_the_package_of_their_runtime(void)
{
    static const struct {
        const char *name, *package;
    } known[] = {{"python", "libpython3-dev"},
                 {"r", "r-base-dev"},
                 {"lua", "liblua5.4-dev"},
                 {"shell", "bash-builtins"},
                 {"javascript", "libjavascriptcoregtk-4.1-dev"}};

    work_begin();
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char file[40];
        snprintf(file, sizeof file, "%s.language.json", known[i].name);
        copy_built(file);
    }
    struct laz_registry *registry = open_registry(work, NULL);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct laz_runtime_info *info = NULL;
        struct laz_error err = {0};
        CU_ASSERT(laz_registry_can_be_installed(registry, known[i].name));
        int rc = laz_registry_runtime(registry, known[i].name, &info, &err);
        if (rc == 0)
            continue; /* a lazaret with it is installed on this machine */
        CU_ASSERT(rc == LAZ_ENOENT);
        ASSERT_HAS(err.text, "is not installed");
        ASSERT_HAS(err.text, known[i].package);
    }
    laz_registry_free(registry);
    work_end();
}

static void languages_that_others_can_write_are_refused(void)
{
    const struct laz_language *language = NULL;
    struct laz_error err = {0};

    work_begin();
    copy_built("lua.language.json");
    struct laz_registry *registry = open_registry(work, NULL);
    CU_ASSERT(laz_registry_language(registry, "lua", &language, &err) == 0);
    CU_ASSERT_FATAL(language != NULL);
    UNIT_TEXT(language->name, "lua");
    UNIT_TEXT(language->stub.null_word, "nil");
    UNIT_TEXT(language->probe.code, "1+1");
    struct laz_strv names = LAZ_STRV_INIT;
    laz_registry_stubs(registry, &names);
    CU_ASSERT(laz_strv_has(&names, "lua"));
    laz_strv_fini(&names);
    CU_ASSERT(laz_registry_language(registry, "qqqqqq", &language, &err) == 0);
    CU_ASSERT(language == NULL);
    laz_registry_free(registry);
    CU_ASSERT(chmod(in_work("lua.language.json"), 0666) == 0);
    registry = open_registry(work, NULL);
    CU_ASSERT(laz_registry_language(registry, "lua", &language, &err) == LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "lua.language.json: every user can write this file");
    CU_ASSERT(language == NULL);
    laz_registry_free(registry);
    work_end();
}

static void language_descriptions_are_read_strictly(void)
{
    static const struct {
        const char *members, *part;
    } rows[] = {
        {"\"stub\":{\"null_word\":1}", "null_word: expected a string"},
        {"\"stub\":{}", "null_word: expected a string"},
        {"\"stub\":{\"dot\":true}", "dot: expected no such key"},
        {"\"stubs\":{}", "stubs: expected no such key"},
        {"\"probe\":{\"code\":\"1\"}", "value: expected a string"},
        {"\"lexer\":{\"comment\":\"\",\"name_characters\":\"_\"}", "comment: expected what"},
        {"\"lexer\":{\"comment\":\"#\",\"name_characters\":\"_\",\"raw_fill\":\"-\"}",
         "raw_letters: expected what"},
        {"\"lexer\":{\"comment\":\"#\",\"name_characters\":\"_\",\"comment_open\":\"/*\"}",
         "comment_open: expected what"},
        {"\"lexer\":{\"comment\":\"#\",\"name_characters\":\"_\",\"long_brackets\":\"[\"}",
         "long_brackets: expected what"},
        {"\"lexer\":{\"comment\":\"#\",\"name_characters\":\"_\",\"members\":[\"\"]}",
         "members: expected what"},
        {"\"patterns\":{\"network\":[]}", "member: expected a string"},
        {"\"patterns\":{\"member\":\".\",\"network\":[\"os*\"]}", "network: expected what"},
        {"\"patterns\":{\"member\":\".\",\"network\":[],\"imports\":1}",
         "imports: expected true or false"},
        {"\"package\":[]", "package: expected a string"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        void *data = NULL;
        char text[300];
        snprintf(text, sizeof text, "{\"kind\":\"language\",\"abi\":\"1.0\",\"name\":\"x\",%s}",
                 rows[i].members);
        CU_ASSERT(laz_description_parse(&laz_language_description, text, strlen(text), "x.json",
                                        &data, &err) == LAZ_EPLUGIN);
        ASSERT_HAS(err.text, rows[i].part);
        CU_ASSERT(data == NULL);
    }
}

static const struct unit_test tests[] = {
    UNIT(auto_goes_by_rank_then_by_name),
    UNIT(auto_begins_with_what_cannot_be_judged),
    UNIT(descriptions_that_are_missing_are_named),
    UNIT(backends_declare_hints),
    UNIT(backend_descriptions_are_read_strictly),
    UNIT(languages_name_the_package_of_their_runtime),
    UNIT(languages_that_others_can_write_are_refused),
    UNIT(language_descriptions_are_read_strictly),
    {0},
};

int main(void)
{
    unsetenv("LAZARET_PLUGIN_PATH");
    umask(022);
    return unit_run("descriptions", tests);
}
