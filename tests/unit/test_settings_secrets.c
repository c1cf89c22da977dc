/* SPDX-License-Identifier: MIT */
/* test_settings_secrets.c - [secrets] and [[network.credential]] of a configuration: their form,
 * and that no message and nothing that is shown has what somebody wrote in place of a name. */
#include "unit.h"

#include "settings/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int secrets_load(struct laz_settings *settings, const char *text, struct laz_error *err)
{
    char path[] = "/tmp/lazaret-secrets-XXXXXX";
    const int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    int rc = laz_settings_load(settings, path, err);
    unlink(path);
    return rc;
}

static void secrets_are_merged_by_name_and_keep_their_places(void)
{
    struct laz_settings *settings = NULL, *copy = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->secrets.n, 0);
    CU_ASSERT_EQUAL_FATAL(secrets_load(settings,
                                       "[secrets]\n"
                                       "github = { file = \"/etc/github\" }\n"
                                       "other-1 = { env = \"OTHER\" }\n"
                                       "[secrets.third_2]\n"
                                       "command = [\"/usr/bin/pass\", \"show\", \"\"]\n",
                                       &err),
                          0);
    const struct laz_settings_values *values = laz_settings_values(settings);
    CU_ASSERT_EQUAL_FATAL(values->secrets.n, 3);
    UNIT_TEXT(values->secrets.items[0], "github={\"file\":\"/etc/github\"}");
    UNIT_TEXT(values->secrets.items[1], "other-1={\"env\":\"OTHER\"}");
    UNIT_TEXT(values->secrets.items[2], "third_2={\"command\":[\"/usr/bin/pass\",\"show\",\"\"]}");

    laz_error_set(&err, LAZ_ECONFIG, 0, "no");
    laz_settings_blame(values, "secrets", "other-1", &err);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":3:1: secrets: no"));

    CU_ASSERT_EQUAL(laz_settings_set(settings, "secrets.github.file", "/other", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_copy(settings, &copy, &err), 0);
    values = laz_settings_values(copy);
    CU_ASSERT_EQUAL_FATAL(values->secrets.n, 3);
    CU_ASSERT(laz_strv_has(&values->secrets, "github={\"file\":\"/other\"}"));
    CU_ASSERT(laz_strv_has(&values->secrets, "other-1={\"env\":\"OTHER\"}"));
    laz_settings_free(settings);
    laz_settings_free(copy);
}

static void credentials_are_json_objects_of_their_tables(void)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->network.credentials.n, 0);
    CU_ASSERT_EQUAL_FATAL(secrets_load(settings,
                                       "[[network.credential]]\n"
                                       "host = \"api.example.com\"\n"
                                       "header = \"Authorization: Bearer {secret}\"\n"
                                       "secret = \"github\"\n"
                                       "methods = [\"GET\"]\n"
                                       "paths = [\"/v1/*\"]\n"
                                       "only = true\n"
                                       "placeholder = { env = \"GITHUB_TOKEN\" }\n"
                                       "[[network.credential]]\n"
                                       "name = \"b\"\n"
                                       "host = \"b.example.com:8443\"\n"
                                       "basic = { user = \"x\" }\n"
                                       "secret = { command = [\"/usr/bin/pass\"] }\n"
                                       "ca = \"/etc/ca.pem\"\n"
                                       "echo = \"allow\"\n"
                                       "[[network.credential]]\n"
                                       "host = \"c.example.com\"\n"
                                       "query = \"key\"\n"
                                       "secret = { file = \"/k\" }\n",
                                       &err),
                          0);
    UNIT_TEXT(err.text, "");
    const struct laz_settings_values *values = laz_settings_values(settings);
    CU_ASSERT_EQUAL_FATAL(values->network.credentials.n, 3);
    UNIT_TEXT(values->network.credentials.items[0],
              "{\"host\":\"api.example.com\",\"header\":\"Authorization: Bearer {secret}\","
              "\"secret\":\"github\",\"methods\":[\"GET\"],\"paths\":[\"/v1/*\"],\"only\":true,"
              "\"placeholder\":{\"env\":\"GITHUB_TOKEN\"}}");
    UNIT_TEXT(values->network.credentials.items[1],
              "{\"name\":\"b\",\"host\":\"b.example.com:8443\",\"basic\":{\"user\":\"x\"},"
              "\"secret\":{\"command\":[\"/usr/bin/pass\"]},\"ca\":\"/etc/ca.pem\","
              "\"echo\":\"allow\"}");
    laz_error_set(&err, LAZ_ECONFIG, 0, "no");
    laz_settings_blame(values, "network.credential", values->network.credentials.items[1], &err);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":9:1: network.credential: no"));
    laz_settings_free(settings);
}

#define SOURCE                                                                                     \
    "a table with one of file, env and command ({ file = \"/etc/lazaret/token\" }, { env = "       \
    "\"TOKEN\" }, { command = [\"/usr/bin/pass\", \"show\", \"token\"] })"
#define HIDDEN "found string (its value is not shown)"

static void mistakes_have_their_place_and_no_value(void)
{
    static const char *const cases[][2] = {
        {"secrets = 1\n", "1:11: secrets: expected a table, found integer 1"},
        {"secrets.a = \"mellon\"\n", "1:13: secrets: expected " SOURCE ", " HIDDEN},
        {"secrets.a = {}\n", "1:13: secrets: expected " SOURCE ", found table without content"},
        {"secrets.a = { file = \"/a\", env = \"A\" }\n",
         "1:13: secrets: expected " SOURCE ", found table"},
        {"secrets.\"a b\" = { file = \"/a\" }\n",
         "1:17: secrets: expected a name of at most 64 letters, digits, '_' and '-' for a secret, "
         "found table"},
        {"secrets.a = { fil = \"mellon\" }\n",
         "1:21: secrets: expected one of the keys file env command in place of fil (did you mean "
         "file?), " HIDDEN},
        {"secrets.a = { value = \"mellon\" }\n",
         "1:23: secrets: expected one of the keys file env command in place of value, " HIDDEN},
        {"secrets.a = { file = \"mellon\" }\n",
         "1:22: secrets: expected an absolute path, " HIDDEN},
        {"secrets.a = { env = \"mel-lon\" }\n",
         "1:21: secrets: expected the name of a variable of the host, " HIDDEN},
        {"secrets.a = { command = \"mellon\" }\n",
         "1:25: secrets: expected a list of strings, the first an absolute path, " HIDDEN},
        {"secrets.a = { command = [\"mellon\"] }\n",
         "1:25: secrets: expected a list of strings, the first an absolute path, found list"},
        {"network.credential = 1\n",
         "1:22: network.credential: expected a list of tables, each begun by "
         "[[network.credential]], found integer (its value is not shown)"},
        {"network.credential = [\"mellon\"]\n",
         "1:23: network.credential: expected a table, begun by [[network.credential]], " HIDDEN},
        {"network.credential = [{ method = [\"GET\"] }]\n",
         "1:34: network.credential: expected one of the keys name host header basic query secret "
         "methods paths only placeholder ca echo in place of method (did you mean methods?), found "
         "list"},
        {"network.credential = [{ secret = \"mellon!\" }]\n",
         "1:34: network.credential: expected the name of a secret of [secrets], or " SOURCE
         ", " HIDDEN},
        {"network.credential = [{ secret = { value = \"mellon\" } }]\n",
         "1:44: network.credential: expected one of the keys file env command in place of "
         "value, " HIDDEN},
        {"network.credential = [{ basic = { user = \"x\", secret = \"mellon\" } }]\n",
         "1:56: network.credential: expected one of the keys user in place of secret, " HIDDEN},
        {"network.credential = [{ basic = \"mellon\" }]\n",
         "1:33: network.credential: expected a table ({ user = \"x\" }), " HIDDEN},
        {"network.credential = [{ only = 1 }]\n",
         "1:32: network.credential: expected true or false, found integer (its value is not "
         "shown)"},
        {"network.credential = [{ paths = [] }]\n",
         "1:33: network.credential: expected a list of paths ([\"/v1/*\"]), found list without "
         "content"},
        {"network.credential = [{ placeholder = { env = \"1A\" } }]\n",
         "1:47: network.credential: expected the name of a variable of the box, " HIDDEN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct laz_settings *settings = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
        CU_ASSERT_EQUAL(secrets_load(settings, cases[i][0], &err), LAZ_ECONFIG);
        const char *behind = strstr(err.text, ":1:");
        UNIT_TEXT(behind ? behind + 1 : err.text, cases[i][1]);
        laz_settings_free(settings);
    }
}

static void collect(void *user, const struct laz_settings_shown *shown)
{
    if (strstr(shown->key, "secret") || strstr(shown->key, "credential"))
        laz_buf_printf(user, "%s = %s # %s\n", shown->key, shown->value, shown->json);
}

static bool no_options(void *user, const char *section, const char *name,
                       const struct laz_option **options)
{
    (void)user, (void)section, (void)name, (void)options;
    return false;
}

static void what_is_shown_has_sources_and_no_unknown_name(void)
{
    struct laz_settings *settings = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL_FATAL(secrets_load(settings,
                                       "secrets.known = { file = \"/etc/known\" }\n"
                                       "network.credential = [{ secret = \"known\" }, "
                                       "{ secret = \"ghp_mellon\" }]\n",
                                       &err),
                          0);
    laz_settings_mark_secrets(settings, no_options, NULL);
    laz_settings_visit(settings, collect, &text);
    UNIT_TEXT(laz_buf_text(&text),
              "network.credential = [{ secret = \"known\" }, { secret = { secret = \"set\" } }] # "
              "[{\"secret\":\"known\"},{\"secret\":{\"secret\":\"set\"}}]\n"
              "secrets = { known = { file = \"/etc/known\" } } # "
              "{\"known\":{\"file\":\"/etc/known\"}}\n");
    laz_buf_fini(&text);
    laz_settings_free(settings);
}

static const struct unit_test tests[] = {
    UNIT(secrets_are_merged_by_name_and_keep_their_places),
    UNIT(credentials_are_json_objects_of_their_tables),
    UNIT(mistakes_have_their_place_and_no_value),
    UNIT(what_is_shown_has_sources_and_no_unknown_name),
    {0},
};

int main(void)
{
    return unit_run("settings_secrets", tests);
}
