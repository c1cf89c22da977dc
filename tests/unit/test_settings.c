/* SPDX-License-Identifier: MIT */
/* test_settings.c - settings from defaults, files, the environment and --set. */
#include "unit.h"

#include "base/buf.h"
#include "settings/schema.h"
#include "settings/settings.h"
#include "settings/toml/toml.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/lazaret-test-settings-XXXXXX";

/* Writes a file with this text in the test's directory; its path is static. */
static const char *write_file(const char *name, const char *text)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_EQUAL(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return path;
}

static struct laz_settings *new_settings(void)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    return settings;
}

static int load_text(struct laz_settings *settings, const char *text, struct laz_error *err)
{
    return laz_settings_load(settings, write_file("c.toml", text), err);
}

/* ---- defaults ---------------------------------------------------------------------------------*/

static void settings_new_has_the_documented_defaults(void)
{
    struct laz_settings *settings = new_settings();
    const struct laz_settings_values *v = laz_settings_values(settings);

    CU_ASSERT_PTR_NULL(v->session.runtime);
    UNIT_TEXT(v->session.dialect, "");
    CU_ASSERT_EQUAL(v->session.timeout_ms, 30000);
    CU_ASSERT_EQUAL(v->session.deadline_ms, 300000);
    CU_ASSERT_EQUAL(v->session.start_timeout_ms, 20000);
    CU_ASSERT_EQUAL(v->session.max_executions, 0);
    CU_ASSERT_EQUAL(v->session.max_tool_calls, 0);
    CU_ASSERT_EQUAL(v->session.max_code_length, 100000);
    CU_ASSERT_EQUAL(v->session.max_output_lines, 0);
    CU_ASSERT_EQUAL(v->session.max_output_size, 8u << 20);
    CU_ASSERT_EQUAL(v->session.max_message_size, 1u << 20);
    CU_ASSERT_EQUAL(v->session.max_value_size, 64u << 20);
    CU_ASSERT(v->session.validate && !v->session.sanitize_errors && !v->session.verbose);
    CU_ASSERT_EQUAL(v->session.pre_execute_hook.n, 0);
    CU_ASSERT_FATAL(v->sandbox.backend.n == 1);
    UNIT_TEXT(v->sandbox.backend.items[0], "auto");
    CU_ASSERT(v->sandbox.strict && v->sandbox.ask_systemd && !v->sandbox.tty);
    CU_ASSERT_EQUAL(v->sandbox.require,
                    LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK);
    UNIT_TEXT(v->sandbox.uids, "auto");
    CU_ASSERT_EQUAL(v->sandbox.tmp_size, 64u << 20);
    CU_ASSERT_EQUAL(v->limits.cpu_s, 60);
    CU_ASSERT_EQUAL(v->limits.memory_bytes, 512u << 20);
    CU_ASSERT_EQUAL(v->limits.fsize_bytes, 50u << 20);
    CU_ASSERT_EQUAL(v->limits.nproc, 50);
    CU_ASSERT_EQUAL(v->limits.nofile, 192);
    CU_ASSERT_EQUAL(v->limits.session_cpu_s, LAZ_UNLIMITED);
    CU_ASSERT_EQUAL(v->limits.stack_bytes, LAZ_UNLIMITED);
    CU_ASSERT_EQUAL(v->env.allow.n + v->env.set.n + v->plugins.path.n, 0);
    CU_ASSERT_PTR_NULL(laz_settings_tools(settings));
    laz_settings_free(settings);
    laz_settings_free(NULL);
}

static void settings_default_limits_are_those_of_the_schema(void)
{
    struct laz_settings *settings = new_settings();
    const struct laz_limit_values *limits = &laz_settings_values(settings)->limits;
    char text[256];

    snprintf(text, sizeof text,
             "{\"cpu\":%llu,\"memory\":%llu,\"fsize\":%llu,\"nproc\":%llu,\"nofile\":%llu}",
             (unsigned long long)limits->cpu_s, (unsigned long long)limits->memory_bytes,
             (unsigned long long)limits->fsize_bytes, (unsigned long long)limits->nproc,
             (unsigned long long)limits->nofile);
    UNIT_TEXT(laz_default_limits(), text);
    laz_settings_free(settings);
}

/* ---- files ------------------------------------------------------------------------------------*/

static void settings_load_sets_every_field(void)
{
    static const char text[] = "[session]\nruntime = \"r\"\ntimeout = \"250ms\"\ndeadline = 1.5\n"
                               "start_timeout = \"2m\"\nmax_executions = 3\nmax_tool_calls = 4\n"
                               "max_code_length = 5\nmax_output_lines = 6\nmax_output_size = 7\n"
                               "max_message_size = \"4KiB\"\nmax_value_size = \"1GiB\"\n"
                               "validate = false\nsanitize_errors = true\nverbose = true\n"
                               "pre_execute_hook = [\"/bin/check\", \"-q\"]\n"
                               "[sandbox]\nbackend = [\"bwrap\", \"landlock\"]\nstrict = false\n"
                               "require = [\"cpu\"]\nuids = \"1000-1999\"\nread = [\"/a\"]\n"
                               "write = [\"/b\", \"/c d\"]\ntmp_size = \"1MB\"\ntty = true\n"
                               "[limits]\ncpu = \"1500ms\"\nmemory = \"unlimited\"\nfsize = 0\n"
                               "nproc = \"unlimited\"\nnofile = 16\nstack = \"8MiB\"\n"
                               "session_cpu = \"61001ms\"\n"
                               "[env]\nallow = [\"A_1\"]\nset = { B = \"x=y\", C = \"\" }\n"
                               "[plugins]\npath = [\"/p\"]\n";
    struct laz_settings *settings = new_settings();
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(load_text(settings, text, &err), 0);
    const struct laz_settings_values *v = laz_settings_values(settings);
    UNIT_TEXT(v->session.runtime, "r");
    CU_ASSERT_EQUAL(v->session.timeout_ms, 250);
    CU_ASSERT_EQUAL(v->session.deadline_ms, 1500);
    CU_ASSERT_EQUAL(v->session.start_timeout_ms, 120000);
    CU_ASSERT_EQUAL(v->session.max_executions, 3);
    CU_ASSERT_EQUAL(v->session.max_tool_calls, 4);
    CU_ASSERT_EQUAL(v->session.max_code_length, 5);
    CU_ASSERT_EQUAL(v->session.max_output_lines, 6);
    CU_ASSERT_EQUAL(v->session.max_output_size, 7);
    CU_ASSERT_EQUAL(v->session.max_message_size, 4096);
    CU_ASSERT_EQUAL(v->session.max_value_size, 1u << 30);
    CU_ASSERT(!v->session.validate && v->session.sanitize_errors && v->session.verbose);
    CU_ASSERT_FATAL(v->session.pre_execute_hook.n == 2);
    UNIT_TEXT(v->session.pre_execute_hook.items[1], "-q");
    CU_ASSERT_FATAL(v->sandbox.backend.n == 2);
    UNIT_TEXT(v->sandbox.backend.items[1], "landlock");
    CU_ASSERT(!v->sandbox.strict);
    CU_ASSERT_EQUAL(v->sandbox.require, LAZ_ENFORCE_CPU);
    UNIT_TEXT(v->sandbox.uids, "1000-1999");
    CU_ASSERT_FATAL(v->sandbox.read.n == 1 && v->sandbox.write.n == 2);
    UNIT_TEXT(v->sandbox.write.items[1], "/c d");
    CU_ASSERT_EQUAL(v->sandbox.tmp_size, 1000000);
    CU_ASSERT_TRUE(v->sandbox.tty);
    CU_ASSERT_EQUAL(v->limits.cpu_s, 2); /* whole seconds, rounded up */
    CU_ASSERT_EQUAL(v->limits.memory_bytes, LAZ_UNLIMITED);
    CU_ASSERT_EQUAL(v->limits.fsize_bytes, 0);
    CU_ASSERT_EQUAL(v->limits.nproc, LAZ_UNLIMITED);
    CU_ASSERT_EQUAL(v->limits.nofile, 16);
    CU_ASSERT_EQUAL(v->limits.session_cpu_s, 62);
    CU_ASSERT_EQUAL(v->limits.stack_bytes, 8u << 20);
    CU_ASSERT_FATAL(v->env.allow.n == 1 && v->env.set.n == 2 && v->plugins.path.n == 1);
    UNIT_TEXT(v->env.set.items[0], "B=x=y");
    UNIT_TEXT(v->env.set.items[1], "C=");
    laz_settings_free(settings);
}

/* Each row is a file and the problem it gives, without the file's name. */
static const struct {
    const char *text, *problem;
} wrong_files[] = {
    {"[session]\ntimout = 3\n", "2:1: session.timout: unknown key; did you mean session.timeout?"},
    {"[sesion]\ntimeout = 3\n", "1:2: sesion: unknown table; did you mean session?"},
    {"timeout = 3\n", "1:1: timeout: unknown key; did you mean session.timeout?"},
    {"xyzzyx = 3\n", "1:1: xyzzyx: unknown key"},
    {"\"a b\" = 3\n", "1:1: \"a b\": unknown key"},
    {"session = 3\n", "1:11: session: expected a table, found integer 3"},
    {"[session]\ntimeout = \"soon\"\n",
     "2:11: session.timeout: expected a time (\"30s\", \"5m\", \"250ms\", or seconds as a number) "
     "from 0ms to 366d, found string \"soon\""},
    {"session.timeout = -1\n",
     "1:19: session.timeout: expected a time (\"30s\", \"5m\", \"250ms\", or seconds as a number) "
     "from 0ms to 366d, found integer -1"},
    {"session.timeout = nan\n",
     "1:19: session.timeout: expected a time (\"30s\", \"5m\", \"250ms\", or seconds as a number) "
     "from 0ms to 366d, found number nan"},
    {"session.max_message_size = 10\n",
     "1:28: session.max_message_size: expected a size (\"8MiB\", or bytes as an integer) from 4KiB "
     "to 1GiB, found integer 10"},
    {"session.max_tool_calls = \"3\"\n",
     "1:26: session.max_tool_calls: expected an integer from 0 to 9007199254740992, found string "
     "\"3\""},
    {"session.verbose = \"yes\"\n",
     "1:19: session.verbose: expected true or false, found string \"yes\""},
    {"session.runtime = \"../x\"\n",
     "1:19: session.runtime: expected a name of letters, digits, '_' and '-', in quotes, found "
     "string \"../x\""},
    {"sandbox.backend = []\n",
     "1:19: sandbox.backend: expected a name or a list of names, found list without content"},
    {"sandbox.require = [\"fs_raed\"]\n",
     "1:20: sandbox.require: expected one of fs_read fs_write network processes syscalls cpu "
     "memory "
     "fsize nproc nofile signals terminals (did you mean fs_read?), found string \"fs_raed\""},
    {"sandbox.read = [\"a\"]\n",
     "1:17: sandbox.read: expected an absolute path, found string \"a\""},
    {"sandbox.read = [\"/a\\u0000b\"]\n", "1:17: sandbox.read: expected a string without NUL "
                                          "characters, found string \"/a\\u0000b\""},
    {"sandbox.read = \"/a\"\n",
     "1:16: sandbox.read: expected a list of absolute paths, found string \"/a\""},
    {"[sandbox.read]\n",
     "1:1: sandbox.read: expected a list of absolute paths, found table without content"},
    {"sandbox.uids = \"5-4\"\n", "1:16: sandbox.uids: expected \"auto\" or a range of user ids "
                                 "(\"200000-265535\"), found string \"5-4\""},
    {"sandbox.bwarp = 3\n", "1:9: sandbox.bwarp: unknown key"},
    {"limits.cpu = 0\n", "1:14: limits.cpu: expected \"unlimited\" or a time (\"30s\", \"5m\", "
                         "\"250ms\", or seconds as "
                         "a number) from 1s to 366d, found integer 0"},
    {"env.allow = [\"A=B\"]\n",
     "1:14: env.allow: expected a name of letters, digits and '_', found string \"A=B\""},
    {"env.set = { A = 1 }\n",
     "1:17: env.set: expected a string without NUL characters (write A = \"...\"), found integer "
     "(its value is not shown)"},
    {"env.set = { LAZARET_TOKEN = \"x\" }\n", "1:29: env.set: expected a name that does not begin "
                                              "with LAZARET_ (lazaret sets those itself), "
                                              "found string (its value is not shown)"},
    {"audit.file = \"log\"\n",
     "1:14: audit.file: expected an absolute path, or \"\" for none, found string \"log\""},
    {"audit.on_error = \"ignore\"\n",
     "1:18: audit.on_error: expected \"refuse\" or \"warn\", found string \"ignore\""},
    {"[pool]\nsize = 101\n",
     "2:8: pool.size: expected an integer from 1 to 100, found integer 101"},
    {"[pool]\nsize = 0\n", "2:8: pool.size: expected an integer from 1 to 100, found integer 0"},
    {"sandbox.programs = \"all\"\n", "1:20: sandbox.programs: expected \"default\", \"any\", or a "
                                     "list of names and absolute paths, found string \"all\""},
    {"sandbox.programs = 1\n", "1:20: sandbox.programs: expected \"default\", \"any\", or a list "
                               "of names and absolute paths, found integer 1"},
    {"sandbox.programs = [\"bin/sh\"]\n", "1:21: sandbox.programs: expected the name or the "
                                          "absolute path of a program, found string \"bin/sh\""},
    {"sandbox.programs = [\"any\"]\n", "1:21: sandbox.programs: expected the name or the absolute "
                                       "path of a program, found string \"any\""},
    {"pool.sise = 4\n", "1:6: pool.sise: unknown key; did you mean pool.size?"},
    {"[runtime]\nr = 3\n",
     "2:5: runtime.r: expected a table of options, such as [runtime.r], found integer 3"},
    {"[[tools]]\nx = 1\n", "1:1: tools.provider: expected the name of a tool provider (provider = "
                           "\"command\"), found nothing"},
    {"[[tools]]\nprovider = 1\n",
     "2:12: tools.provider: expected the name of a tool provider (provider = \"command\"), found "
     "integer 1"},
    {"[tools]\n", "1:1: tools: expected a list of tables, each begun by [[tools]], found table "
                  "without content"},
    {"tools = [1]\n",
     "1:10: tools: expected a list of tables, each begun by [[tools]], found integer 1"},
    {"a = 1\na = 2\n", NULL},
};

static void settings_load_says_what_is_wrong_and_where(void)
{
    for (size_t i = 0; i < sizeof wrong_files / sizeof wrong_files[0]; i++) {
        struct laz_settings *settings = new_settings();
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(load_text(settings, wrong_files[i].text, &err), LAZ_ECONFIG);
        if (wrong_files[i].problem) {
            char *expected = laz_strdupf("%s/c.toml:%s", directory, wrong_files[i].problem);
            CU_ASSERT_EQUAL(laz_settings_problems(settings), 1);
            UNIT_TEXT(laz_settings_problem(settings, 0), expected);
            UNIT_TEXT(err.text, expected);
            free(expected);
        }
        CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 30000);
        laz_settings_free(settings);
    }
}

static void settings_load_reports_all_problems_in_order_and_changes_nothing(void)
{
    static const char text[] = "[session]\ntimeout = 5\nverbose = 1\nbogus = 1\nx = nope\n"
                               "[pool]\nsize = 'a'\n[limits]\nmemory = true\n";
    static const char *const expected[] = {
        "3:11: session.verbose: expected true or false, found integer 1",
        "4:1: session.bogus: unknown key",
        "5:5: expected a value, found a word (text stands in quotes)",
        "7:8: pool.size: expected an integer from 1 to 100, found string \"a\"",
        ("9:10: limits.memory: expected \"unlimited\" or a size (\"8MiB\", or bytes as an integer) "
         "from 1MiB to 1024TiB, found boolean true"),
    };
    struct laz_settings *settings = new_settings();
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(load_text(settings, text, &err), LAZ_ECONFIG);
    CU_ASSERT_EQUAL_FATAL(laz_settings_problems(settings), 5);
    for (size_t i = 0; i < 5; i++) {
        char *line = laz_strdupf("%s/c.toml:%s", directory, expected[i]);
        UNIT_TEXT(laz_settings_problem(settings, i), line);
        free(line);
    }
    CU_ASSERT(strstr(err.text, "(and 4 more)") != NULL);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 30000);
    CU_ASSERT_PTR_NULL(laz_settings_problem(settings, 5));
    CU_ASSERT_EQUAL(load_text(settings, "session.timeout = 5\n", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_problems(settings), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 5000);
    laz_settings_free(settings);
}

static void settings_load_refuses_what_is_no_readable_file(void)
{
    struct laz_settings *settings = new_settings();
    struct laz_error err = {0};
    char path[256];

    snprintf(path, sizeof path, "%s/absent.toml", directory);
    CU_ASSERT_EQUAL(laz_settings_load(settings, path, &err), LAZ_ECONFIG);
    CU_ASSERT(strstr(err.text, path) && strstr(err.text, "No such file"));
    CU_ASSERT_EQUAL(laz_settings_problems(settings), 1);
    CU_ASSERT_EQUAL(laz_settings_load(settings, directory, &err), LAZ_ECONFIG);
    CU_ASSERT(strstr(err.text, "not a regular file") != NULL);
    snprintf(path, sizeof path, "%s/pipe", directory);
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(laz_settings_load(settings, path, &err), LAZ_ECONFIG); /* does not block */
    CU_ASSERT(strstr(err.text, "not a regular file") != NULL);
    unlink(path);

    char *big = malloc(LAZ_TOML_MAX_SIZE + 2);
    CU_ASSERT_FATAL(big != NULL);
    memset(big, '\n', LAZ_TOML_MAX_SIZE + 1);
    big[LAZ_TOML_MAX_SIZE + 1] = '\0';
    CU_ASSERT_EQUAL(load_text(settings, big, &err), LAZ_ECONFIG);
    CU_ASSERT(strstr(err.text, "1048576 bytes") != NULL);
    free(big);
    if (geteuid() != 0) { /* root can read everything */
        const char *file = write_file("c.toml", "");
        chmod(file, 0);
        CU_ASSERT_EQUAL(laz_settings_load(settings, file, &err), LAZ_ECONFIG);
        CU_ASSERT(strstr(err.text, "Permission denied") != NULL);
        chmod(file, 0600);
    }
    laz_settings_free(settings);
}

/* ---- where a file is looked for ---------------------------------------------------------------*/

static void settings_load_finds_its_file_by_the_environment(void)
{
    struct laz_settings *settings = new_settings();
    struct laz_error err = {0};
    char path[256];

    snprintf(path, sizeof path, "%s/lazaret", directory);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    write_file("lazaret/lazaret.toml", "session.timeout = 1\n");
    setenv("XDG_CONFIG_HOME", directory, 1);
    unsetenv("LAZARET_CONFIG");
    CU_ASSERT_EQUAL(laz_settings_load(settings, NULL, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 1000);

    setenv("LAZARET_CONFIG", write_file("env.toml", "session.timeout = 2\n"), 1);
    CU_ASSERT_EQUAL(laz_settings_load(settings, NULL, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 2000);

    CU_ASSERT_EQUAL(
        laz_settings_load(settings, write_file("own.toml", "session.timeout = 3\n"), &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 3000);
    UNIT_TEXT(strrchr(laz_settings_file(settings), '/'), "/own.toml");

    /* a requested file that does not exist is an error */
    snprintf(path, sizeof path, "%s/absent.toml", directory);
    setenv("LAZARET_CONFIG", path, 1);
    CU_ASSERT_EQUAL(laz_settings_load(settings, NULL, &err), LAZ_ECONFIG);
    CU_ASSERT(strncmp(err.text, "LAZARET_CONFIG: ", 16) == 0);
    unsetenv("LAZARET_CONFIG");

    /* a broken file in the directory is not ignored */
    write_file("lazaret/lazaret.toml", "session.timeout = \n");
    CU_ASSERT_EQUAL(laz_settings_load(settings, NULL, &err), LAZ_ECONFIG);
    laz_settings_free(settings);
}

static void settings_load_does_not_look_into_the_current_directory(void)
{
    struct laz_settings *settings = new_settings();
    struct laz_error err = {0};
    char path[256], before[4096];

    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    write_file("lazaret.toml", "session.timeout = 7\n");
    write_file("lazaret/lazaret.toml", "session.timeout = 7\n");
    CU_ASSERT_EQUAL_FATAL(chdir(directory), 0);
    setenv("XDG_CONFIG_HOME", ".", 1); /* a relative one is ignored */
    setenv("HOME", "", 1);
    unsetenv("LAZARET_CONFIG");
    CU_ASSERT_EQUAL(laz_settings_load(settings, NULL, &err), 0);
    CU_ASSERT_NOT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 7000);
    CU_ASSERT_EQUAL(chdir(before), 0);
    snprintf(path, sizeof path, "%s/lazaret.toml", directory);
    unlink(path);
    laz_settings_free(settings);
}

/* ---- --set ------------------------------------------------------------------------------------*/

static void settings_set_takes_bare_strings_and_toml(void)
{
    struct laz_settings *settings = new_settings();
    const struct laz_settings_values *v = laz_settings_values(settings);
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.timeout", "5m", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 300000);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.timeout", "0.25", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 250);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.runtime", "lua", &err), 0);
    UNIT_TEXT(v->session.runtime, "lua");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.runtime", "\"r\"", &err), 0);
    UNIT_TEXT(v->session.runtime, "r");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.runtime", "true", &err), 0);
    UNIT_TEXT(v->session.runtime, "true");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.backend", "none", &err), 0);
    UNIT_TEXT(v->sandbox.backend.items[0], "none");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.require", "[]", &err), 0);
    CU_ASSERT_EQUAL(v->sandbox.require, 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.uids", "10-20", &err), 0);
    UNIT_TEXT(v->sandbox.uids, "10-20");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "limits.memory", "unlimited", &err), 0);
    CU_ASSERT_EQUAL(v->limits.memory_bytes, LAZ_UNLIMITED);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "env.set.A", "x y", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "env.set.B", "z", &err), 0);
    CU_ASSERT_EQUAL(v->env.set.n, 2); /* merged key by key */
    laz_settings_free(settings);
}

static void settings_set_refuses_what_is_wrong(void)
{
    static const struct {
        const char *key, *value, *problem;
    } rows[] = {
        {"session.timout", "3", "session.timout: unknown key; did you mean session.timeout?"},
        {"session.verbose", "yes", "session.verbose: expected true or false, found string \"yes\""},
        {"sandbox.read", "/a",
         "sandbox.read: expected a list of absolute paths, found string \"/a\""},
        {"sandbox.read", "[\"/a\"",
         "sandbox.read: expected ',' or ']' in the list that begins in line 1, found the end of "
         "the file"},
        {"pool.size", "many",
         "pool.size: expected an integer from 1 to 100, found string \"many\""},
        {"session", "3", "session: expected a table, found integer 3"},
        {"session.timeout", "3\nverbose = true",
         "session.timeout: expected a time (\"30s\", \"5m\", \"250ms\", or seconds as a number) "
         "from 0ms to 366d, found string \"3\\nverbose = true\""},
    };
    struct laz_settings *settings = new_settings();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_settings_set(settings, rows[i].key, rows[i].value, &err), LAZ_ECONFIG);
        UNIT_TEXT(err.text, rows[i].problem);
        UNIT_TEXT(laz_settings_problem(settings, 0), rows[i].problem);
    }
    CU_ASSERT_EQUAL(laz_settings_set(settings, "", "3", NULL), LAZ_ECONFIG);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "a b", "3", NULL), LAZ_ECONFIG);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->session.timeout_ms, 30000);
    laz_settings_free(settings);
}

/* ---- plugins' tables, copies, listing ---------------------------------------------------------*/

static void settings_keep_the_tables_of_plugins(void)
{
    static const char text[] = "[sandbox.bwrap]\nprogram = \"/a\"\nx = 1\n[runtime.r]\ny = 2\n"
                               "[[tools]]\nprovider = \"command\"\n[[tools]]\nprovider = \"b\"\n";
    struct laz_settings *settings = new_settings(), *copy = NULL;
    struct laz_error err = {0};
    char expected[300];

    CU_ASSERT_EQUAL_FATAL(load_text(settings, text, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_set(settings, "sandbox.bwrap.program", "/b", &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_copy(settings, &copy, &err), 0);
    laz_settings_free(settings); /* the copy is independent */

    const struct laz_toml_node *table = laz_settings_plugin_table(copy, "sandbox", "bwrap");
    CU_ASSERT_FATAL(table != NULL && laz_toml_get(table, "program") != NULL);
    UNIT_TEXT(laz_toml_get(table, "program")->text, "/b"); /* the other key is kept */
    CU_ASSERT_FATAL(laz_toml_get(table, "x") != NULL);
    char *where = laz_settings_position(laz_toml_get(table, "x"));
    snprintf(expected, sizeof expected, "%s/c.toml:3:1", directory);
    UNIT_TEXT(where, expected);
    free(where);
    where = laz_settings_position(laz_toml_get(table, "program"));
    UNIT_TEXT(where, "--set");
    free(where);
    CU_ASSERT_PTR_NOT_NULL(laz_settings_plugin_table(copy, "runtime", "r"));
    CU_ASSERT_PTR_NULL(laz_settings_plugin_table(copy, "runtime", "bwrap"));
    const struct laz_toml_node *tools = laz_settings_tools(copy);
    CU_ASSERT_FATAL(tools != NULL && tools->n == 2);
    UNIT_TEXT(laz_toml_get(tools->last, "provider")->text, "b");
    laz_settings_free(copy);
}

static void collect_line(void *user, const struct laz_settings_shown *shown)
{
    laz_buf_printf(user, "%s = %s # %s\n", shown->key, shown->value, shown->origin);
}

static void settings_visit_shows_values_and_origins(void)
{
    struct laz_settings *settings = new_settings(), *again = new_settings();
    struct laz_buf text = LAZ_BUF_INIT, text_again = LAZ_BUF_INIT;
    struct laz_error err = {0};
    char expected[300];

    CU_ASSERT_EQUAL_FATAL(load_text(settings,
                                    "[session]\ntimeout = \"5m\"\n[sandbox.bwrap]\nprogram = "
                                    "\"/a\"\n[[tools]]\nprovider = \"x\"\n[[tools.tool]]\na = 1\n",
                                    &err),
                          0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.read", "[\"/d\"]", &err), 0);
    laz_settings_visit(settings, collect_line, &text);
    snprintf(expected, sizeof expected, "session.timeout = \"5m\" # %s/c.toml:2\n", directory);
    CU_ASSERT(strstr(text.data, expected) != NULL);
    CU_ASSERT(strstr(text.data, "session.runtime = \"python\" # default\n") == text.data);
    CU_ASSERT(strstr(text.data, "sandbox.read = [\"/d\"] # --set\n") != NULL);
    CU_ASSERT(strstr(text.data, "limits.stack = \"unlimited\" # default\n") != NULL);
    CU_ASSERT(strstr(text.data, "\nsandbox.bwrap.program = \"/a\" # ") != NULL);
    CU_ASSERT(strstr(text.data, "\ntools = [{ provider = \"x\", tool = [{ a = 1 }] }] # ") != NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "\npool.size = 4 # default\n"));

    /* the shown text can be read again */
    CU_ASSERT_EQUAL(load_text(again, text.data, &err), 0);
    laz_settings_visit(again, collect_line, &text_again);
    CU_ASSERT(strstr(text_again.data, "tools = [{ provider = \"x\", tool = [{ a = 1 }] }]") !=
              NULL);
    CU_ASSERT_EQUAL(laz_settings_values(again)->session.timeout_ms, 300000);
    laz_buf_fini(&text);
    laz_buf_fini(&text_again);
    laz_settings_free(settings);
    laz_settings_free(again);
}

/* ---- units ------------------------------------------------------------------------------------*/

static void settings_sizes_and_times_are_exact(void)
{
    static const struct {
        const char *text;
        bool fits;
        uint64_t value;
    } sizes[] = {{"0", true, 0},
                 {"1024", true, 1024},
                 {"\"1B\"", true, 1},
                 {"\"1.5KiB\"", true, 1536},
                 {"\"512 MiB\"", true, 512u << 20},
                 {"\"2GB\"", true, 2000000000},
                 {"\"1TiB\"", true, (uint64_t)1 << 40},
                 {"\"99999999999TiB\"", false, 0},
                 {"\"18446744073709551616B\"", false, 0},
                 {"\"12\"", false, 0},
                 {"\"12mib\"", false, 0},
                 {"\"-1MiB\"", false, 0},
                 {"\"MiB\"", false, 0},
                 {"\"\"", false, 0},
                 {"-1", false, 0},
                 {"1.5", false, 0},
                 {"true", false, 0}},
      times[] = {{"0", true, 0},
                 {"30", true, 30000},
                 {"0.5", true, 500},
                 {"0.0001", true, 1},
                 {"\"250ms\"", true, 250},
                 {"\"0.5ms\"", true, 1},
                 {"\"1.5s\"", true, 1500},
                 {"\"5m\"", true, 300000},
                 {"\"2h\"", true, 7200000},
                 {"\"1d\"", true, 86400000},
                 {"\"5min\"", false, 0},
                 {"\"1.s\"", false, 0},
                 {"\"1.2345s\"", false, 0},
                 {"9223372036854775807", false, 0},
                 {"inf", false, 0},
                 {"-0.5", false, 0},
                 {"07:30:00", false, 0}};

    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0;
             i < (kind ? sizeof times / sizeof times[0] : sizeof sizes / sizeof sizes[0]); i++) {
            const char *text = kind ? times[i].text : sizes[i].text;
            struct laz_toml *toml = NULL;
            uint64_t value = 0;
            CU_ASSERT_EQUAL_FATAL(laz_toml_parse_pair(NULL, text, "v", &toml, NULL), 0);
            const struct laz_toml_node *node = laz_toml_get(toml->root, "value");
            bool fits = kind ? laz_convert_time(node, &value) : laz_convert_size(node, &value);
            if (fits != (kind ? times[i].fits : sizes[i].fits))
                printf("\n    %s", text);
            CU_ASSERT_EQUAL(fits, kind ? times[i].fits : sizes[i].fits);
            CU_ASSERT_EQUAL(value, kind ? times[i].value : sizes[i].value);
            laz_toml_free(toml);
        }
}

/* ---- the files that are shipped ---------------------------------------------------------------*/

static unsigned load_directory(const char *path)
{
    char file[4096];
    unsigned n = 0;
    DIR *dir = opendir(path);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len < 6 || strcmp(entry->d_name + len - 5, ".toml") != 0)
            continue;
        struct laz_settings *settings = new_settings();
        struct laz_error err = {0};
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        int rc = laz_settings_load(settings, file, &err);
        if (rc)
            printf("\n    %s", err.text);
        CU_ASSERT_EQUAL(rc, 0);
        laz_settings_free(settings);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

static void settings_load_accepts_every_shipped_file(void)
{
    CU_ASSERT(load_directory(CONFIG_DIRECTORY) > 0);
    load_directory(CONFIG_DIRECTORY "/examples");
}

static void read_text(const char *path, struct laz_buf *buf)
{
    FILE *file = fopen(path, "rb");
    int c;

    CU_ASSERT_FATAL(file != NULL);
    while ((c = getc(file)) != EOF)
        laz_buf_putc(buf, (char)c);
    fclose(file);
}

/* Removes the "# " before each "key = value" of the annotated file, except in tables that are
 * commented out. Returns the number of keys. */
static unsigned uncomment(const char *text, struct laz_buf *out)
{
    unsigned keys = 0;
    bool example = false;

    while (*text) {
        size_t n = strcspn(text, "\n");
        bool comment = n > 2 && text[0] == '#' && text[1] == ' ';
        size_t word = comment ? strspn(text + 2, "abcdefghijklmnopqrstuvwxyz_") : 0;
        bool pair = word && strncmp(text + 2 + word, " = ", 3) == 0;
        if (text[0] == '[' || (comment && text[2] == '['))
            example = comment; /* tools, and options of a runtime */
        if (pair && !example) {
            laz_buf_append(out, text + 2, n - 2);
            keys++;
        } else {
            laz_buf_append(out, text, n);
        }
        laz_buf_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
    return keys;
}

static void collect_value(void *user, const struct laz_settings_shown *shown)
{
    if (strncmp(shown->key, "sandbox.bwrap.", 14) != 0)
        laz_buf_printf(user, "%s = %s\n", shown->key, shown->value);
}

static void settings_annotated_file_shows_every_default(void)
{
    struct laz_settings *settings = new_settings();
    struct laz_buf shipped = LAZ_BUF_INIT, text = LAZ_BUF_INIT;
    struct laz_buf defaults = LAZ_BUF_INIT, values = LAZ_BUF_INIT;
    struct laz_error err = {0};

    laz_settings_visit(settings, collect_value, &defaults);
    read_text(CONFIG_DIRECTORY "/lazaret.toml", &shipped);
    CU_ASSERT_EQUAL(uncomment(shipped.data, &text), 93 + 1); /* and sandbox.bwrap.program */
    CU_ASSERT_EQUAL(load_text(settings, text.data, &err), 0);
    UNIT_TEXT(err.text, "");
    laz_settings_visit(settings, collect_value, &values);
    UNIT_TEXT(laz_buf_text(&values), laz_buf_text(&defaults));
    laz_buf_fini(&shipped);
    laz_buf_fini(&text);
    laz_buf_fini(&defaults);
    laz_buf_fini(&values);
    laz_settings_free(settings);
}

static void settings_annotated_file_names_every_key(void)
{
    struct laz_buf shipped = LAZ_BUF_INIT;
    char line[128];

    read_text(CONFIG_DIRECTORY "/lazaret.toml", &shipped);
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        snprintf(line, sizeof line, "\n# %s = ", strrchr(row->key, '.') + 1);
        if (!strstr(shipped.data, line))
            printf("\n    %s is not in lazaret.toml", row->key);
        CU_ASSERT(strstr(shipped.data, line) != NULL);
    }
    laz_buf_fini(&shipped);
}

static void settings_load_accepts_the_examples_of_the_page(void)
{
    struct laz_buf page = LAZ_BUF_INIT;
    unsigned examples = 0;

    read_text(DOCS_DIRECTORY "/configuration.md", &page);
    for (char *at = page.data; (at = strstr(at, "```toml\n"));) {
        struct laz_settings *settings = new_settings();
        struct laz_error err = {0};
        char *end = strstr(at += 8, "```");
        CU_ASSERT_FATAL(end != NULL);
        *end = '\0';
        int rc = load_text(settings, at, &err);
        if (rc)
            printf("\n    %s", err.text);
        CU_ASSERT_EQUAL(rc, 0);
        laz_settings_free(settings);
        at = end + 1;
        examples++;
    }
    CU_ASSERT(examples >= 3);
    laz_buf_fini(&page);
}

static const struct unit_test tests[] = {
    UNIT(settings_new_has_the_documented_defaults),
    UNIT(settings_default_limits_are_those_of_the_schema),
    UNIT(settings_load_sets_every_field),
    UNIT(settings_load_says_what_is_wrong_and_where),
    UNIT(settings_load_reports_all_problems_in_order_and_changes_nothing),
    UNIT(settings_load_refuses_what_is_no_readable_file),
    UNIT(settings_load_finds_its_file_by_the_environment),
    UNIT(settings_load_does_not_look_into_the_current_directory),
    UNIT(settings_set_takes_bare_strings_and_toml),
    UNIT(settings_set_refuses_what_is_wrong),
    UNIT(settings_keep_the_tables_of_plugins),
    UNIT(settings_visit_shows_values_and_origins),
    UNIT(settings_sizes_and_times_are_exact),
    UNIT(settings_load_accepts_every_shipped_file),
    UNIT(settings_annotated_file_shows_every_default),
    UNIT(settings_annotated_file_names_every_key),
    UNIT(settings_load_accepts_the_examples_of_the_page),
    {0},
};

static void remove_files(void)
{
    static const char *const names[] = {"c.toml", "env.toml", "own.toml", "lazaret/lazaret.toml"};
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/lazaret", directory);
    rmdir(path);
    rmdir(directory);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    int failed = unit_run("settings", tests);
    remove_files();
    return failed;
}
