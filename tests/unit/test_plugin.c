/* SPDX-License-Identifier: MIT */
/* test_plugin.c - loading plugins: what is refused and with which messages, and the registry.
 *
 * The plugins are those of tests/mock. Owners and modes are tested on copies in a directory that
 * the test makes and removes. */
#include "unit.h"

#include "base/enforce.h"
#include "plugin/plugin.h"
#include "work_directory.h"
#include "settings/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_refused(const char *path, const char *part, unsigned line)
{
    struct laz_error err = {0};
    struct laz_module *module = NULL;

    int rc = laz_module_open(path, 0, NULL, &module, &err);
    CU_ASSERT(rc == LAZ_EPLUGIN);
    CU_ASSERT(err.code == LAZ_EPLUGIN);
    CU_ASSERT(module == NULL);
    assert_has(err.text, part, line);
    laz_module_close(module);
}

#define ASSERT_REFUSED(path, part) assert_refused((path), (part), __LINE__)

static void assert_loads(const char *path, unsigned line)
{
    struct laz_error err = {0};
    struct laz_module *module = NULL;

    int rc = laz_module_open(path, 0, NULL, &module, &err);
    if (rc)
        printf("\n    line %u: %s\n", line, err.text);
    CU_ASSERT(rc == 0);
    laz_module_close(module);
}

#define ASSERT_LOADS(path) assert_loads((path), __LINE__)

/* ---- modules -------------------------------------------------------------------------------- */

static void module_open_gives_the_descriptor(void)
{
    struct laz_error err = {0};
    struct laz_module *module = NULL;

    CU_ASSERT_FATAL(laz_module_open(mock("mock_good"), LAZ_PLUGIN_BACKEND, NULL, &module, &err) ==
                    0);
    const struct laz_plugin *plugin = laz_module_plugin(module);
    UNIT_TEXT(plugin->name, "mock_good");
    UNIT_TEXT(plugin->options[0].key, "program");
    const struct laz_backend_ops *ops = plugin->ops;
    CU_ASSERT(LAZ_HAS(ops, plan));
    CU_ASSERT(LAZ_HAS(ops, explain));
    CU_ASSERT(err.code == 0);
    laz_module_close(module);
    laz_module_close(NULL);
}

static void options_of_an_older_plugin_are_read_as_they_were_built(void)
{
    struct laz_module *module = NULL;

    assert_loads(mock("mock_old"), __LINE__);
    CU_ASSERT_FATAL(laz_module_open(mock("mock_old"), 0, NULL, &module, NULL) == 0);
    const struct laz_plugin *plugin = laz_module_plugin(module);
    CU_ASSERT(plugin->abi_minor == 0);
    UNIT_TEXT(plugin->options[0].key, "program");
    UNIT_TEXT(plugin->options[0].help, "what would be started");
    CU_ASSERT(plugin->options[0].flags == 0 && !plugin->options[0].min && !plugin->options[0].max &&
              !plugin->options[0].one_of);
    UNIT_TEXT(plugin->options[1].key, "count");
    CU_ASSERT(plugin->options[1].type == LAZ_OPT_INTEGER);
    CU_ASSERT(plugin->options[2].key == NULL);
    laz_module_close(module);
}

static void module_open_refuses_each_fault(void)
{
    const struct {
        const char *path;
        const char *part;
    } faults[] = {
        {mock("mock_magic"), "magic 12345678"},
        {mock("mock_newer_major"), "built for plugin ABI 2.0, but this lazaret has 1.2"},
        {mock("mock_newer_minor"), "built for plugin ABI 1.9, but this lazaret has 1.2"},
        {mock("mock_small"), "a descriptor of 24 bytes"},
        {mock("mock_no_plan"), "missing op: plan"},
        {mock("mock_no_ops"), "has no operations"},
        {mock("mock_wild_ops"), "claim a size of 1000000 bytes"},
        {mock("mock_unknown_kind"), "unknown kind (77)"},
        {mock("mock_option"), "option \"program\" has no type (99)"},
        {mock("mock_undefined"), "mock_nobody_defines_this"},
        {mock("mock_marked"), "the name of a plugin cannot end in \"-lazaret\""},
        {mock("mock_misnamed"), "called \"somebody_else\"; rename the file to somebody_else.so"},
        {mock("mock_nosymbol"), "exports no lazaret_plugin"},
        {mock("mock_absent"), "No such file"},
        {"mock_good.so", "not an absolute path"},
    };

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        ASSERT_REFUSED(faults[i].path, faults[i].part);
        ASSERT_REFUSED(faults[i].path, faults[i].path);
    }
}

static void module_open_refuses_another_kind(void)
{
    struct laz_error err = {0};
    struct laz_module *module = NULL;

    CU_ASSERT(laz_module_open(mock("mock_good"), LAZ_PLUGIN_TOOL, NULL, &module, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "this is a backend, not a tool provider");
    CU_ASSERT(module == NULL);
}

static void module_open_takes_a_shorter_table(void)
{
    struct laz_module *module = NULL;

    CU_ASSERT_FATAL(laz_module_open(mock("mock_short"), LAZ_PLUGIN_BACKEND, NULL, &module, NULL) ==
                    0);
    const struct laz_backend_ops *ops = laz_module_plugin(module)->ops;
    CU_ASSERT(LAZ_HAS(ops, plan));
    CU_ASSERT(!LAZ_HAS(ops, explain));
    laz_module_close(module);
}

static void module_open_loads_the_mock_providers(void)
{
    ASSERT_LOADS(mock("tool_evented"));
    ASSERT_LOADS(mock("tool_blocking"));
}

static void module_open_says_what_is_no_object(void)
{
    static const char text[4096] = "hello, this is not an object at all";

    work_begin();
    write_file(in_work("text.so"), text, sizeof text, 0644);
    ASSERT_REFUSED(in_work("text.so"), "ELF");
    CU_ASSERT_FATAL(mkfifo(in_work("fifo.so"), 0600) == 0);
    ASSERT_REFUSED(in_work("fifo.so"), "not a regular file");
    make_directory("directory.so", 0700);
    ASSERT_REFUSED(in_work("directory.so"), "not a regular file");
    work_end();
}

static void module_open_opens_globals_first(void)
{
    static const char *const there[] = {"libm.so.6", NULL};
    static const char *const missing[] = {"libm.so.6", "libnobody-has-this.so.9", NULL};
    struct laz_error err = {0};
    struct laz_module *module = NULL;

    CU_ASSERT(laz_module_open(mock("mock_runtime"), LAZ_PLUGIN_RUNTIME, there, &module, &err) == 0);
    laz_module_close(module);
    CU_ASSERT(laz_module_open(mock("mock_runtime"), LAZ_PLUGIN_RUNTIME, missing, &module, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "it needs libnobody-has-this.so.9");
    CU_ASSERT(module == NULL);
}

static void module_close_leaves_other_openings(void)
{
    struct laz_module *first = NULL, *second = NULL;

    CU_ASSERT_FATAL(laz_module_open(mock("mock_good"), 0, NULL, &first, NULL) == 0);
    CU_ASSERT_FATAL(laz_module_open(mock("mock_good"), 0, NULL, &second, NULL) == 0);
    laz_module_close(first);
    UNIT_TEXT(laz_module_plugin(second)->name, "mock_good");
    laz_module_close(second);
    ASSERT_LOADS(mock("mock_good"));
}

static void *open_and_close(void *failures)
{
    for (int i = 0; i < 50; i++) {
        struct laz_module *module = NULL;
        const char *path = i % 2 ? mock("mock_good") : mock("tool_evented");
        if (laz_module_open(path, 0, NULL, &module, NULL) != 0 ||
            !laz_module_plugin(module)->summary[0])
            ++*(int *)failures;
        laz_module_close(module);
        if (laz_module_open(mock("mock_nosymbol"), 0, NULL, &module, NULL) == 0)
            ++*(int *)failures;
    }
    return NULL;
}

static void modules_of_threads_do_not_disturb_each_other(void)
{
    pthread_t threads[4];
    int failures[4] = {0};

    for (int i = 0; i < 4; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, open_and_close, &failures[i]) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT(failures[i] == 0);
    }
}

/* ---- owners and modes ----------------------------------------------------------------------- */

static void modules_that_others_can_change_are_refused(void)
{
    work_begin();
    ASSERT_LOADS(copy_mock("mock_good.so", "mock_good.so", 0755));
    ASSERT_REFUSED(copy_mock("mock_good.so", "mock_good.so", 0757), "mode 0757");
    ASSERT_REFUSED(in_work("mock_good.so"), "chmod");
    ASSERT_LOADS(copy_mock("mock_good.so", "mock_good.so", 0644));
    make_directory("above", 0777);
    make_directory("above/plugins", 0755);
    copy_mock("mock_good.so", "above/plugins/mock_good.so", 0644);
    ASSERT_REFUSED(in_work("above/plugins/mock_good.so"), "every user can write this directory");
    CU_ASSERT(chmod(in_work("above"), 01777) == 0);
    ASSERT_LOADS(in_work("above/plugins/mock_good.so"));
    work_end();
}

/* ---- descriptions of runtimes --------------------------------------------------------------- */

static void describe_mock(struct laz_buf *json)
{
    struct laz_module *module = NULL;

    CU_ASSERT_FATAL(laz_module_open(mock("mock_runtime"), 0, NULL, &module, NULL) == 0);
    laz_runtime_describe(laz_module_plugin(module), json);
    CU_ASSERT_FATAL(!json->failed);
    laz_module_close(module);
}

static void runtime_description_reads_back(void)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_error err = {0};
    void *data = NULL;

    describe_mock(&json);
    CU_ASSERT_FATAL(laz_description_parse(&laz_runtime_description, json.data, json.len,
                                          "/x/mock_runtime.json", &data, &err) == 0);
    const struct laz_runtime_info *info = data;
    UNIT_TEXT(info->name, "mock_runtime");
    UNIT_TEXT(info->version, "2.1");
    UNIT_TEXT(info->summary, "understands \"nothing\"");
    CU_ASSERT(info->suffixes.n == 2);
    UNIT_TEXT(info->suffixes.items[1], ".mk");
    UNIT_TEXT(info->libraries.items[0], "libm.so.6");
    CU_ASSERT(info->read.n == 0);
    UNIT_TEXT(info->env.items[0], "MOCK_HOME=/usr/lib/\"mock\"");
    CU_ASSERT(info->reserved_words.n == 2);
    UNIT_TEXT(info->options[0].key, "packages");
    CU_ASSERT(info->options[0].type == LAZ_OPT_STRINGS);
    UNIT_TEXT(info->options[0].default_value, "[]");
    CU_ASSERT(info->options[1].default_value == NULL);
    CU_ASSERT(info->options[1].type == LAZ_OPT_PATHS);
    UNIT_TEXT(info->options[2].default_value, "");
    UNIT_TEXT(info->options[2].help, "may be left out");
    CU_ASSERT(info->options[1].flags == 0 && !info->options[1].min && !info->options[1].one_of);
    CU_ASSERT(info->options[2].flags == LAZ_OPT_SECRET);
    UNIT_TEXT(info->options[2].min, "1");
    UNIT_TEXT(info->options[2].max, "9");
    UNIT_TEXT(info->options[3].one_of, "[\"a\", \"b\"]");
    CU_ASSERT(info->options[4].key == NULL);
    laz_description_free(&laz_runtime_description, data);
    laz_description_free(&laz_runtime_description, NULL);
    laz_buf_fini(&json);
}

/* Writes the description of the mock with the first `from` replaced by `to`. */
static void describe_changed(const char *from, const char *to, struct laz_buf *changed)
{
    struct laz_buf json = LAZ_BUF_INIT;

    describe_mock(&json);
    const char *at = strstr(json.data, from);
    CU_ASSERT_FATAL(at != NULL);
    laz_buf_append(changed, json.data, (size_t)(at - json.data));
    laz_buf_puts(changed, to);
    laz_buf_puts(changed, at + strlen(from));
    laz_buf_fini(&json);
}

static void runtime_description_is_read_strictly(void)
{
    static const struct {
        const char *from, *to, *part;
    } changes[] = {
        {"\"runtime\"", "\"tool\"", "kind: expected \"runtime\""},
        {"\"1.2\"", "\"1.3\"", "built for plugin ABI 1.3, but this lazaret has 1.2"},
        {"\"1.2\"", "\"2.0\"", "built for plugin ABI 2.0"},
        {"\"1.2\"", "\"1.0x\"", "abi: expected a version"},
        {"\"1.2\"", "1.0", "abi: expected a version"},
        {"\"summary\"", "\"sumary\"", "sumary: expected no such key"},
        {"\"mock_runtime\"", "7", "name: expected a string"},
        {"[\".mock\",\".mk\"]", "\".mock\"", "suffixes: expected a list of strings"},
        {"[\".mock\",\".mk\"]", "[\".mock\",7]", "suffixes: expected a list of strings"},
        {"\"help\"", "\"halp\"", "halp: expected no such key"},
        {"\"secret\"", "\"secrets\"", "flags: expected \"secret\""},
        {"\"strings\"", "\"strongs\"", "type: expected the type of an option"},
        {"\"default\":null", "\"default\":7", "default: expected a string"},
        {"\"options\":[", "\"options\":[7,", "options: expected a list of objects"},
        {"\"name\"", "\"version\":\"3\",\n\"name\"", "/x/r.json: "},
        {"\"options\":[", "\"options\":", "/x/r.json: "},
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct laz_buf json = LAZ_BUF_INIT;
        struct laz_error err = {0};
        void *data = NULL;

        describe_changed(changes[i].from, changes[i].to, &json);
        CU_ASSERT(laz_description_parse(&laz_runtime_description, json.data, json.len, "/x/r.json",
                                        &data, &err) == LAZ_EPLUGIN);
        CU_ASSERT(data == NULL);
        CU_ASSERT(err.code == LAZ_EPLUGIN);
        ASSERT_HAS(err.text, changes[i].part);
        laz_buf_fini(&json);
    }
}

/* ---- registry ------------------------------------------------------------------------------- */

/* Makes a directory with a backend, a provider, a runtime and an unusable plugin. */
static void fill_directory(void)
{
    struct laz_buf json = LAZ_BUF_INIT;

    make_directory("a", 0755);
    make_directory("b", 0755);
    copy_mock("mock_good.so", "a/mock_good.so", 0644);
    copy_mock("tool_evented.so", "a/tool_evented.so", 0644);
    copy_mock("mock_runtime.so", "a/mock_runtime.so", 0644);
    copy_mock("mock_no_plan.so", "a/mock_no_plan.so", 0644);
    describe_mock(&json);
    write_file(in_work("a/mock_runtime.json"), json.data, json.len, 0644);
    laz_buf_fini(&json);
}

static void registry_finds_by_kind_and_name(void)
{
    const struct laz_plugin *plugin = NULL, *again = NULL;
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) == 0);
    CU_ASSERT_FATAL(plugin != NULL);
    UNIT_TEXT(plugin->name, "mock_good");
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &again, &err) == 0);
    CU_ASSERT(again == plugin);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_TOOL, "tool_evented", &plugin, &err) == 0);
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == 0);
    CU_ASSERT_FATAL(info != NULL);
    UNIT_TEXT(info->file, in_work("a/mock_runtime.so"));
    CU_ASSERT(laz_registry_runtime_for(registry, "x.mk") == info);
    CU_ASSERT(laz_registry_runtime_for(registry, "x.mkv") == NULL);
    CU_ASSERT(laz_registry_runtime_for(registry, ".mk") == NULL);
    CU_ASSERT(err.code == 0);
    laz_registry_free(registry);
    laz_registry_free(NULL);
    work_end();
}

/* For names that another library of the process has: Windows treats r.dll and R.dll as the same. */
static void registry_finds_files_that_are_marked_as_plugins(void)
{
    const struct laz_plugin *plugin = NULL;
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};
    struct laz_buf json = LAZ_BUF_INIT;

    work_begin();
    make_directory("a", 0755);
    copy_mock("mock_good.so", "a/mock_good-lazaret.so", 0644);
    copy_mock("mock_good.so", "a/mock_evil-lazaret.so", 0644);
    copy_mock("mock_runtime.so", "a/mock_runtime-lazaret.so", 0644);
    describe_mock(&json);
    write_file(in_work("a/mock_runtime.json"), json.data, json.len, 0644);
    laz_buf_fini(&json);
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) == 0);
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == 0);
    CU_ASSERT_FATAL(info != NULL);
    UNIT_TEXT(info->file, in_work("a/mock_runtime-lazaret.so"));
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_evil", &plugin, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "the plugin in it is called \"mock_good\"");
    laz_registry_free(registry);
    work_end();
}

static void registry_says_what_is_missing(void)
{
    static const char later[] = "{\"kind\":\"language\",\"abi\":\"1.0\",\"name\":\"mock_later\"}";
    const struct laz_plugin *plugin = NULL;
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    write_file(in_work("a/mock_later.language.json"), later, sizeof later - 1, 0644);
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    /* similar to no plugin, whatever is installed in this build's prefix */
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "qqqqqq", &plugin, &err) ==
              LAZ_ENOENT);
    ASSERT_HAS(err.text, "no backend is called \"qqqqqq\"; installed: ");
    ASSERT_HAS(err.text, "mock_good");
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_godo", &plugin, &err) ==
              LAZ_ENOENT);
    ASSERT_HAS(err.text, "\"mock_godo\" (did you mean \"mock_good\"?); installed: ");
    CU_ASSERT(strstr(err.text, "tool_evented") == NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "tool_evented", &plugin, &err) ==
              LAZ_ENOENT);
    ASSERT_HAS(err.text, "tool_evented.so is a tool provider");
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_no_plan", &plugin, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "missing op: plan");
    CU_ASSERT(plugin == NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_RUNTIME, "mock_runtime", &plugin, &err) ==
              LAZ_EINVAL);
    CU_ASSERT(laz_registry_runtime(registry, "mock_later", &info, &err) == LAZ_ENOENT);
    ASSERT_HAS(err.text, "\"mock_later\" is not available in this version; installed: ");
    CU_ASSERT(!laz_registry_can_be_installed(registry, "mock_later"));
    CU_ASSERT(laz_registry_runtime(registry, "cobol", &info, &err) == LAZ_ENOENT);
    ASSERT_HAS(err.text, "no runtime is called \"cobol\"; installed: ");
    ASSERT_HAS(err.text, "mock_runtime");
    laz_registry_free(registry);
    work_end();
}

static void registry_takes_the_first_directory(void)
{
    const struct laz_plugin *plugin = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    copy_mock("mock_magic.so", "b/mock_good.so", 0644);
    struct laz_registry *registry = open_registry(in_work("a"), in_work("b"));
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) == 0);
    laz_registry_free(registry);
    /* An unusable plugin is an error; the next one is not taken. */
    registry = open_registry(in_work("b"), in_work("a"));
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "magic");
    laz_registry_free(registry);
    work_end();
}

static void registry_passes_over_directories_others_can_write(void)
{
    const struct laz_plugin *plugin = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    CU_ASSERT(chmod(in_work("a"), 0777) == 0);
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) ==
              LAZ_ENOENT);
    ASSERT_HAS(err.text, "ignored: ");
    ASSERT_HAS(err.text, "every user can write this directory (mode 0777)");
    laz_registry_free(registry);
    registry = open_registry("plugins", NULL);
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) ==
              LAZ_ENOENT);
    ASSERT_HAS(err.text, "plugins: not an absolute path");
    laz_registry_free(registry);
    work_end();
}

static void registry_refuses_a_directory_that_is_missing(void)
{
    struct laz_settings_values values = {0};
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};

    work_begin();
    laz_strv_add(&values.plugins.path, in_work("nowhere"));
    CU_ASSERT_EQUAL(laz_registry_new(&values, NULL, &registry, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NULL(registry);
    ASSERT_HAS(err.text, "plugins.path: ");
    ASSERT_HAS(err.text, "nowhere: No such file");
    laz_strv_fini(&values.plugins.path);
    work_end();
}

static void registry_refuses_descriptions_others_can_write(void)
{
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    CU_ASSERT(chmod(in_work("a/mock_runtime.json"), 0666) == 0);
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "mock_runtime.json: every user can write this file");
    CU_ASSERT(info == NULL);
    laz_registry_free(registry);
    work_end();
}

/* Another time there may be descriptors again: the failure is not kept. */
static void registry_reads_again_after_a_shortage(void)
{
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};
    struct rlimit before, none;

    work_begin();
    fill_directory();
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 0;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &none) == 0);
    int rc = laz_registry_runtime(registry, "mock_runtime", &info, &err);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CU_ASSERT(rc != 0 && rc != LAZ_EPLUGIN);
    CU_ASSERT(laz_error_is_shortage(&err));
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == 0);
    laz_registry_free(registry);
    work_end();
}

static void runtimes_have_what_is_declared_of_their_language(void)
{
    static const char good[] = "{\"kind\":\"language\",\"abi\":\"1.0\",\"name\":\"mock_runtime\"}";
    static const char bad[] = "{\"kind\":\"language\",\"abi\":\"1.0\",\"name\":\"another\"}";
    static const char any[] = "{\"kind\":\"language\",\"abi\":\"1.0\",\"name\":\"mock_runtime\","
                              "\"modules\":[\".so\",\"\"]}"; /* would show each file */
    const struct laz_runtime_info *info = NULL;
    struct laz_error err = {0};

    work_begin();
    fill_directory();
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    CU_ASSERT_FATAL(laz_registry_runtime(registry, "mock_runtime", &info, &err) == 0);
    CU_ASSERT(info->language == NULL);
    laz_registry_free(registry);
    write_file(in_work("a/mock_runtime.language.json"), good, sizeof good - 1, 0644);
    registry = open_registry(in_work("a"), NULL);
    CU_ASSERT_FATAL(laz_registry_runtime(registry, "mock_runtime", &info, &err) == 0);
    CU_ASSERT_FATAL(info->language != NULL);
    UNIT_TEXT(info->language->name, "mock_runtime");
    laz_registry_free(registry);
    write_file(in_work("a/mock_runtime.language.json"), bad, sizeof bad - 1, 0644);
    registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "describes \"another\"; rename it to another.language.json");
    CU_ASSERT(info == NULL);
    laz_registry_free(registry);
    write_file(in_work("a/mock_runtime.language.json"), any, sizeof any - 1, 0644);
    registry = open_registry(in_work("a"), NULL);
    CU_ASSERT(laz_registry_runtime(registry, "mock_runtime", &info, &err) == LAZ_EPLUGIN);
    ASSERT_HAS(err.text, "modules");
    laz_registry_free(registry);
    work_end();
}

static void registry_looks_in_the_variable_first(void)
{
    const struct laz_plugin *plugin = NULL;
    struct laz_error err = {0};
    char list[400];

    work_begin();
    fill_directory();
    copy_mock("mock_magic.so", "b/mock_good.so", 0644);
    snprintf(list, sizeof list, "%s/absent::%s", work, in_work("b"));
    setenv("LAZARET_PLUGIN_PATH", list, 1);
    struct laz_registry *registry = open_registry(in_work("a"), NULL);
    unsetenv("LAZARET_PLUGIN_PATH");
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_BACKEND, "mock_good", &plugin, &err) ==
              LAZ_EPLUGIN);
    ASSERT_HAS(err.text, in_work("b/mock_good.so"));
    CU_ASSERT(laz_registry_find(registry, LAZ_PLUGIN_TOOL, "tool_evented", &plugin, &err) == 0);
    laz_registry_free(registry);
    work_end();
}

static void list_entry(void *user, const struct laz_plugin_entry *entry)
{
    struct laz_buf *text = user;

    if (strncmp(entry->file, work, strlen(work)) != 0)
        return; /* a plugin installed on this machine */
    laz_buf_printf(text, "%s %s%s%s\n", entry->file + strlen(work) + 1,
                   entry->plugin ? "plugin" : "", entry->runtime ? "runtime" : "",
                   entry->problem ? " with a problem" : "");
}

static void registry_visit_shows_all(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    work_begin();
    fill_directory();
    copy_mock("mock_good.so", "b/mock_good.so", 0644);
    copy_mock("mock_runtime.so", "b/mock_runtime.so", 0644); /* without its description */
    write_file(in_work("b/.hidden.so"), "", 0, 0644);
    write_file(in_work("b/readme.txt"), "", 0, 0644);
    struct laz_registry *registry = open_registry(in_work("a"), in_work("b"));
    laz_registry_visit(registry, list_entry, &text);
    UNIT_TEXT(laz_buf_text(&text), "a/mock_good.so plugin\n"
                                   "a/mock_no_plan.so  with a problem\n"
                                   "a/mock_runtime.so runtime\n"
                                   "a/tool_evented.so plugin\n"
                                   "b/mock_good.so plugin with a problem\n"
                                   "b/mock_runtime.so  with a problem\n");
    laz_registry_free(registry);
    laz_buf_fini(&text);
    work_end();
}

static void installed_agent_can_be_named(void)
{
    setenv("LAZARET_AGENT", "/opt/agent", 1);
    char *agent = laz_installed_agent();
    UNIT_TEXT(agent, "/opt/agent");
    free(agent);
    unsetenv("LAZARET_AGENT");
    agent = laz_installed_agent();
    ASSERT_HAS(agent, "/lazaret/lazaret-agent");
    CU_ASSERT(agent[0] == '/');
    free(agent);
    char *plugins = laz_installed_plugins();
    CU_ASSERT(plugins[0] == '/');
    free(plugins);
}

/* ---- words ---------------------------------------------------------------------------------- */

static void enforce_words_go_both_ways(void)
{
    static const char *const words[] = {"fs_read", "fs_write", "network", "processes", "syscalls",
                                        "cpu",     "memory",   "fsize",   "nproc",     "nofile"};

    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        UNIT_TEXT(laz_enforce_name(1u << i), words[i]);
        CU_ASSERT(laz_enforce_bit(words[i]) == 1u << i);
    }
    CU_ASSERT(laz_enforce_name(0) == NULL);
    CU_ASSERT(laz_enforce_name(LAZ_ENFORCE_CPU | LAZ_ENFORCE_NPROC) == NULL);
    CU_ASSERT(laz_enforce_bit("Network") == 0);
    CU_ASSERT(laz_enforce_bit("") == 0);
    CU_ASSERT(laz_enforce_bit(NULL) == 0);
}

static const struct unit_test tests[] = {
    UNIT(module_open_gives_the_descriptor),
    UNIT(options_of_an_older_plugin_are_read_as_they_were_built),
    UNIT(module_open_refuses_each_fault),
    UNIT(module_open_refuses_another_kind),
    UNIT(module_open_takes_a_shorter_table),
    UNIT(module_open_loads_the_mock_providers),
    UNIT(module_open_says_what_is_no_object),
    UNIT(module_open_opens_globals_first),
    UNIT(module_close_leaves_other_openings),
    UNIT(modules_of_threads_do_not_disturb_each_other),
    UNIT(modules_that_others_can_change_are_refused),
    UNIT(runtime_description_reads_back),
    UNIT(runtime_description_is_read_strictly),
    UNIT(registry_finds_by_kind_and_name),
    UNIT(registry_finds_files_that_are_marked_as_plugins),
    UNIT(registry_says_what_is_missing),
    UNIT(registry_takes_the_first_directory),
    UNIT(registry_passes_over_directories_others_can_write),
    UNIT(registry_refuses_a_directory_that_is_missing),
    UNIT(registry_refuses_descriptions_others_can_write),
    UNIT(registry_reads_again_after_a_shortage),
    UNIT(runtimes_have_what_is_declared_of_their_language),
    UNIT(registry_looks_in_the_variable_first),
    UNIT(registry_visit_shows_all),
    UNIT(installed_agent_can_be_named),
    UNIT(enforce_words_go_both_ways),
    {0},
};

int main(void)
{
    unsetenv("LAZARET_PLUGIN_PATH");
    umask(022);
    return unit_run("plugin", tests);
}
