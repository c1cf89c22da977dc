/* SPDX-License-Identifier: MIT */
/* test_secret.c - secrets: where they are read, what is refused, their memory, and that no message
 * has a value. */
#include "unit.h"

#include "os/secret_memory.h"
#include "secret/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE "mellon-0123456789"

static char directory[] = "/tmp/lazaret-secret-XXXXXX";

static const char *write_secret(const char *name, const char *text, size_t len, mode_t mode)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_EQUAL(fwrite(text, 1, len, file), len);
    fclose(file);
    CU_ASSERT_EQUAL(chmod(path, mode), 0);
    return path;
}

static int parse(const char *json, const struct laz_strv *allow, struct laz_secret_source *source,
                 struct laz_error *err)
{
    return laz_secret_source_parse(json, strlen(json), allow, source, err);
}

/* Reads from a file, a variable, or by a command with that argument. */
static int read_from(const char *key, const char *where, const struct laz_secret_runner *runner,
                     struct laz_secret *secret, struct laz_error *err)
{
    struct laz_secret_source source;
    char json[400];

    if (strcmp(key, "command") == 0)
        snprintf(json, sizeof json, "{\"command\":[\"/usr/bin/pass\",\"%s\"]}", where);
    else
        snprintf(json, sizeof json, "{\"%s\":\"%s\"}", key, where);
    CU_ASSERT_EQUAL_FATAL(parse(json, NULL, &source, err), 0);
    int rc = laz_secret_read(&source, runner, secret, err);
    CU_ASSERT_EQUAL(laz_secret_check(&source, runner, NULL) == 0, rc == 0 || runner);
    laz_secret_source_fini(&source);
    CU_ASSERT_PTR_NULL(strstr(err->text, "mellon"));
    return rc;
}

static void a_file_is_one_line_that_nobody_else_can_read(void)
{
    static const struct {
        const char *text;
        size_t len;
        const char *value, *why;
    } rows[] = {
        {VALUE, 17, VALUE, NULL},
        {VALUE "\n", 18, VALUE, NULL},
        {VALUE "\r\n", 19, VALUE, NULL},
        {"a b\xc3\xa9", 5, "a b\xc3\xa9", NULL},
        {VALUE "\n\n", 19, NULL, "it has a control character (a secret is one line)"},
        {"mellon\tx", 8, NULL, "it has a control character (a secret is one line)"},
        {"mellon\0x", 8, NULL, "it has a control character (a secret is one line)"},
        {"mellon\x7f", 7, NULL, "it has a control character (a secret is one line)"},
        {"", 0, NULL, "it is empty"},
        {"\n", 1, NULL, "it is empty"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = write_secret("file", rows[i].text, rows[i].len, 0600);
        struct laz_secret secret;
        struct laz_error err = {0};
        int rc = read_from("file", path, NULL, &secret, &err);
        CU_ASSERT_EQUAL(rc, rows[i].value ? 0 : LAZ_EINVAL);
        if (rows[i].value) {
            UNIT_TEXT(secret.data, rows[i].value);
            CU_ASSERT_EQUAL(secret.len, strlen(rows[i].value));
        } else {
            char text[300];
            snprintf(text, sizeof text, "the file %s: %s", path, rows[i].why);
            UNIT_TEXT(err.text, text);
        }
        laz_secret_fini(&secret);
        CU_ASSERT_PTR_NULL(secret.data);
    }
}

static void a_file_of_others_or_none_or_a_long_one_is_refused(void)
{
    struct laz_secret secret;
    struct laz_error err = {0};
    char *longest = malloc(LAZ_SECRET_MAX + 2);

    CU_ASSERT_FATAL(longest != NULL);
    memset(longest, 'x', LAZ_SECRET_MAX + 2);
    CU_ASSERT_EQUAL(read_from("file", write_secret("open", VALUE, 17, 0644), NULL, &secret, &err),
                    LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "others can read this secret"));
    CU_ASSERT_EQUAL(read_from("file", "/nowhere/secret", NULL, &secret, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the file /nowhere/secret: "));
    CU_ASSERT(read_from("file", write_secret("long", longest, LAZ_SECRET_MAX + 1, 0600), NULL,
                        &secret, &err) != 0);
    CU_ASSERT_EQUAL(
        read_from("file", write_secret("long", longest, LAZ_SECRET_MAX, 0600), NULL, &secret, &err),
        0);
    CU_ASSERT_EQUAL(secret.len, LAZ_SECRET_MAX);
    laz_secret_fini(&secret);
    free(longest);
}

static void a_variable_is_taken_when_its_source_is_made(void)
{
    struct laz_secret_source source;
    struct laz_strv allow = LAZ_STRV_INIT;
    struct laz_secret secret;
    struct laz_error err = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    setenv("SECRET_TEST", VALUE, 1);
    CU_ASSERT_EQUAL_FATAL(parse("{\"env\":\"SECRET_TEST\"}", &allow, &source, &err), 0);
    setenv("SECRET_TEST", "another", 1);
    CU_ASSERT_EQUAL(laz_secret_read(&source, NULL, &secret, &err), 0);
    UNIT_TEXT(secret.data, VALUE);
    laz_secret_fini(&secret);
    laz_secret_source_text(&source, &text);
    UNIT_TEXT(laz_buf_text(&text), "the variable SECRET_TEST");
    laz_buf_fini(&text);
    laz_secret_source_fini(&source);

    laz_strv_add(&allow, "SECRET_TEST");
    CU_ASSERT_EQUAL(parse("{\"env\":\"SECRET_TEST\"}", &allow, &source, &err), LAZ_ECONFIG);
    UNIT_TEXT(err.text, "the variable SECRET_TEST has a secret, and env.allow passes it to the "
                        "code: take it out there");
    laz_strv_fini(&allow);

    setenv("SECRET_TEST", "mellon\nmellon", 1);
    CU_ASSERT_EQUAL(read_from("env", "SECRET_TEST", NULL, &secret, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "the variable SECRET_TEST: it has a control character (a secret is one "
                        "line)");
    unsetenv("SECRET_TEST");
    CU_ASSERT_EQUAL(read_from("env", "SECRET_TEST", NULL, &secret, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "the variable SECRET_TEST: it is not set");
}

struct run {
    const char *output;
    int fails;
    unsigned times;
};

static int run(void *user, const struct laz_strv *command, struct laz_buf *out,
               struct laz_error *err)
{
    struct run *how = user;

    how->times++;
    UNIT_TEXT(command->items[0], "/usr/bin/pass");
    CU_ASSERT_EQUAL(command->n, 2);
    const char *before = out->data;
    if (how->output)
        laz_buf_puts(out, how->output);
    CU_ASSERT_PTR_EQUAL(out->data, before); /* a buffer that moves leaves a copy */
    return how->fails ? laz_error_set(err, how->fails, 0, "exit status 3") : 0;
}

static int check(void *user, const char *program, struct laz_error *err)
{
    (void)user;
    UNIT_TEXT(program, "/usr/bin/pass");
    return laz_error_set(err, LAZ_EINVAL, 0, "not there");
}

static void a_command_is_run_by_whom_the_caller_says(void)
{
    struct run how = {.output = VALUE "\n"};
    struct laz_secret_runner runner = {.run = run, .user = &how};
    struct laz_secret secret;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(read_from("command", "x", &runner, &secret, &err), 0);
    UNIT_TEXT(secret.data, VALUE);
    laz_secret_fini(&secret);
    CU_ASSERT_EQUAL(how.times, 1); /* the check has run nothing */
    how.fails = LAZ_EOS;
    CU_ASSERT_EQUAL(read_from("command", "x", &runner, &secret, &err), LAZ_EOS);
    UNIT_TEXT(err.text, "the program /usr/bin/pass: exit status 3");
    how = (struct run){.output = ""};
    CU_ASSERT_EQUAL(read_from("command", "x", &runner, &secret, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "the program /usr/bin/pass: it is empty");

    struct laz_secret_source source;
    runner.check = check;
    CU_ASSERT_EQUAL_FATAL(parse("{\"command\":[\"/usr/bin/pass\"]}", NULL, &source, &err), 0);
    CU_ASSERT_EQUAL(laz_secret_check(&source, &runner, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "the program /usr/bin/pass: not there");
    CU_ASSERT_EQUAL(laz_secret_read(&source, NULL, &secret, &err), LAZ_EREFUSED);
    UNIT_TEXT(err.text, "the program /usr/bin/pass: no command is run here");
    laz_secret_source_fini(&source);
}

static void a_source_is_one_of_three(void)
{
    static const char *const wrong[] = {
        "{}",
        "[]",
        "\"mellon\"",
        "{\"file\":\"mellon\"}",
        "{\"file\":1}",
        "{\"file\":\"/a\",\"env\":\"A\"}",
        "{\"file\":\"/a\",\"mellon\":\"A\"}",
        "{\"value\":\"mellon\"}",
        "{\"env\":\"\"}",
        "{\"env\":\"mellon=x\"}",
        "{\"command\":[]}",
        "{\"command\":[\"mellon\"]}",
        "{\"command\":\"/mellon\"}",
        "{\"command\":[1]}",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct laz_secret_source source;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(parse(wrong[i], NULL, &source, &err), LAZ_ECONFIG);
        CU_ASSERT(*err.text && !strstr(err.text, "mellon"));
        if (err.code != LAZ_ECONFIG)
            printf("\n    %s", wrong[i]);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct laz_settings *settings_of(const char *key, const char *value)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, key, value, &err), 0);
    UNIT_TEXT(err.text, "");
    return settings;
}

static void a_table_reads_each_once_and_knows_near_names(void)
{
    struct run how = {.output = "quote\"back\\slash-mellon\n"};
    const struct laz_secret_runner runner = {.run = run, .user = &how};
    struct laz_settings *settings =
        settings_of("secrets", "{ github = { command = [\"/usr/bin/pass\", \"github\"] }, "
                               "short = { env = \"SECRET_SHORT\" } }");
    const struct laz_secret_source *source;
    const struct laz_secret *value, *again;
    struct laz_secrets secrets;
    struct laz_error err = {0};

    setenv("SECRET_SHORT", "seven77", 1);
    CU_ASSERT_EQUAL_FATAL(laz_secrets_init(&secrets, laz_settings_values(settings), &runner, &err),
                          0);
    laz_settings_free(settings);
    CU_ASSERT_EQUAL(how.times, 0);
    CU_ASSERT_EQUAL(laz_secrets_check(&secrets, "github", 6, &err), 0);
    CU_ASSERT_EQUAL(how.times, 0);
    CU_ASSERT_EQUAL(laz_secrets_value(&secrets, "github", 6, &value, &err), 0);
    CU_ASSERT_EQUAL(laz_secrets_value(&secrets, "github", 6, &again, &err), 0);
    CU_ASSERT_PTR_EQUAL(value, again);
    CU_ASSERT_EQUAL(how.times, 1);
    CU_ASSERT_EQUAL(laz_secrets_find(&secrets, "short", 5, &source, &err), 0);
    CU_ASSERT_EQUAL(source->kind, LAZ_SECRET_ENV);
    CU_ASSERT_EQUAL(laz_secrets_value(&secrets, "gihtub", 6, &value, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "this is no name of [secrets]; did you mean github?");
    CU_ASSERT_EQUAL(laz_secrets_value(&secrets, "ghp_mellon", 10, &value, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "this is no name of [secrets]");

    static const char json[] = "{\"a\":\"Bearer {secret.github}!\",\"b\":\"{secret.short}\","
                               "\"c\":\"{secret.} {secret} {secret.a b}{secret.\"}";
    struct laz_secret filled;
    size_t n = 0;
    CU_ASSERT_EQUAL(laz_secrets_fill(&secrets, json, strlen(json), &filled, &n, &err), 0);
    CU_ASSERT_EQUAL(n, 2);
    UNIT_TEXT(filled.data, "{\"a\":\"Bearer quote\\\"back\\\\slash-mellon!\",\"b\":\"seven77\","
                           "\"c\":\"{secret.} {secret} {secret.a b}{secret.\"}");
    CU_ASSERT_EQUAL(filled.len, strlen(filled.data));
    laz_secret_fini(&filled);

    char text[] = "x quote\"back\\slash-mellon seven77 quote\"back\\slash-mellonquote";
    CU_ASSERT(laz_secrets_hide(&secrets, text, strlen(text)));
    UNIT_TEXT(text, "x *********************** seven77 ***********************quote");
    char clean[] = "quote\"back\\slash-mello";
    CU_ASSERT(!laz_secrets_hide(&secrets, clean, strlen(clean)));
    laz_secrets_fini(&secrets);
    unsetenv("SECRET_SHORT");
}

/* Root's sessions have users of their own. */
static void a_file_that_code_is_shown_is_refused_where_it_could_read_it(void)
{
    const int expected[] = {geteuid() == 0 ? 0 : LAZ_ECONFIG, 0};
    static const char *const files[2] = {"/opt/data/secret", "/opt/datax/secret"};

    for (size_t i = 0; i < 2; i++) {
        char *value = laz_strdupf("{ a = { file = \"%s\" } }", files[i]);
        struct laz_settings *settings = settings_of("secrets", value);
        struct laz_secrets secrets;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.read", "[\"/opt/data\"]", &err), 0);
        CU_ASSERT_EQUAL(laz_secrets_init(&secrets, laz_settings_values(settings), NULL, &err),
                        expected[i]);
        CU_ASSERT_EQUAL(strstr(err.text, "shows it to the code") != NULL, expected[i] != 0);
        laz_secrets_fini(&secrets);
        laz_settings_free(settings);
        free(value);
    }
}

/* Or code would make the host run what it wrote. */
static void a_command_that_code_can_change_is_refused(void)
{
    static const struct {
        const char *command;
        bool is_refused;
    } rows[] = {
        {"[\"/opt/data/pass\"]", true},
        {"[\"/bin/sh\", \"/opt/data/token.sh\"]", true},
        {"[\"/bin/sh\", \"/opt/datax/token.sh\"]", false},
        {"[\"/opt/shown/pass\", \"show\"]", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *value = laz_strdupf("{ a = { command = %s } }", rows[i].command);
        struct laz_settings *settings = settings_of("secrets", value);
        struct laz_secrets secrets;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.write", "[\"/opt/data\"]", &err), 0);
        CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.read", "[\"/opt/shown\"]", &err), 0);
        CU_ASSERT_EQUAL(laz_secrets_init(&secrets, laz_settings_values(settings), NULL, &err),
                        rows[i].is_refused ? LAZ_ECONFIG : 0);
        CU_ASSERT_EQUAL(strstr(err.text, "code can change it") != NULL, rows[i].is_refused);
        laz_secrets_fini(&secrets);
        laz_settings_free(settings);
        free(value);
    }
}

static void a_variable_that_boxes_get_is_refused_with_its_place(void)
{
    struct laz_settings *settings = settings_of("secrets", "{ a = { env = \"SECRET_TEST\" } }");
    struct laz_secrets secrets;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_settings_set(settings, "env.allow", "[\"SECRET_TEST\"]", &err), 0);
    CU_ASSERT_EQUAL(laz_secrets_init(&secrets, laz_settings_values(settings), NULL, &err),
                    LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--set: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "env.allow passes it to the code"));
    laz_secrets_fini(&secrets);
    laz_settings_free(settings);
}

/* What /proc/self/smaps says of the pages: "dd" is what is left out of dumps, "wf" what a child
 * finds empty. */
static void the_memory_is_left_out_of_dumps_and_of_children(void)
{
    char *data = laz_os_secret_new(100), line[512];
    FILE *maps = fopen("/proc/self/smaps", "r");
    bool is_here = false, has_flags = false;

    CU_ASSERT_FATAL(data != NULL);
    CU_ASSERT_EQUAL(data[0] | data[99], 0);
    memcpy(data, VALUE, sizeof VALUE);
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-'))
            is_here = (unsigned long)data >= from && (unsigned long)data < to;
        if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            has_flags = strstr(line, " dd") && strstr(line, " wf");
    }
    if (maps) {
        fclose(maps);
        CU_ASSERT(has_flags);
    }
    laz_os_secret_free(data, 100);
    laz_os_secret_free(NULL, 5);
}

static const struct unit_test tests[] = {
    UNIT(a_file_is_one_line_that_nobody_else_can_read),
    UNIT(a_file_of_others_or_none_or_a_long_one_is_refused),
    UNIT(a_variable_is_taken_when_its_source_is_made),
    UNIT(a_command_is_run_by_whom_the_caller_says),
    UNIT(a_source_is_one_of_three),
    UNIT(a_table_reads_each_once_and_knows_near_names),
    UNIT(a_file_that_code_is_shown_is_refused_where_it_could_read_it),
    UNIT(a_command_that_code_can_change_is_refused),
    UNIT(a_variable_that_boxes_get_is_refused_with_its_place),
    UNIT(the_memory_is_left_out_of_dumps_and_of_children),
    {0},
};

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    int rc = unit_run("secret", tests);

    for (const char *const *name = (const char *const[]){"file", "open", "long", NULL}; *name;
         name++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", directory, *name);
        unlink(path);
    }
    rmdir(directory);
    return rc;
}
