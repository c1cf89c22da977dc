/* SPDX-License-Identifier: MIT */
/* test_box_trust.c - what a box with credentials is shown in place of the host's lists of
 * authorities, and its environment, as data. */
#include "unit.h"

#include "backends.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/spawner.h"
#include "os/system.h"
#include "plan/plan.h"
#include "plan/policy_private.h"
#include "plan/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof *(array))

static char base[] = "/tmp/laz-test-box-trust-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[128][256];
    static unsigned next;
    char *path = paths[next++ % N(paths)];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static void make(const char *name, bool is_directory)
{
    const char *path = in_base(name);

    CU_ASSERT_EQUAL_FATAL(
        is_directory ? mkdir(path, 0755) : laz_os_write_file(path, "", 0, 0644, NULL), 0);
}

/* What differs from box to box here. */
struct wish {
    bool any, trust, shows, shares_files;
    const char *write, *allow, *set, *extra;
};

static int policy_by(const struct wish *wish, struct laz_programs **programs,
                     struct laz_policy_box **box, struct laz_error *err)
{
    struct laz_settings_values values = {.sandbox.tmp_size = 4096};
    struct laz_strv extra = LAZ_STRV_INIT;
    struct laz_policy_session session = {
        .socket_directory = "/run/lazaret-test/b0/socket",
        .agent = "/opt/build/lazaret-agent",
        .staged = "/var/staged",
        .uid = LAZ_SPAWN_SAME_ID,
        .has_network = true,
        .trust = wish->trust ? in_base("trust") : NULL,
        .hides_env = wish->shows,
    };

    laz_strv_add(&values.sandbox.programs, wish->any ? "any" : "default");
    if (wish->write)
        laz_strv_add(&values.sandbox.write, wish->write);
    if (wish->allow)
        laz_strv_add(&values.env.allow, wish->allow);
    if (wish->set)
        laz_strv_add(&values.env.set, wish->set);
    if (wish->extra) {
        laz_strv_add(&extra, wish->extra);
        session.extra_env = &extra;
    }
    CU_ASSERT_EQUAL_FATAL(
        laz_programs_new(&values, NULL, laz_os_platform(), session.uid, true, programs, NULL), 0);
    laz_programs_prepare(*programs, NULL, true);
    session.programs = *programs;
    *box = NULL;
    const int rc = laz_policy_new(&values, NULL, &session, !wish->shares_files, laz_os_platform(),
                                  "{}", 2, box, err);
    laz_strv_fini(&values.sandbox.programs);
    laz_strv_fini(&values.sandbox.write);
    laz_strv_fini(&values.env.allow);
    laz_strv_fini(&values.env.set);
    laz_strv_fini(&extra);
    return rc;
}

static struct laz_policy_box *box_by(const struct wish *wish, struct laz_programs **programs)
{
    struct laz_policy_box *box;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(policy_by(wish, programs, &box, &err), 0);
    return box;
}

/* The source of a mount at exactly this path; "": there is none. */
static const char *at(const struct laz_policy_box *box, const char *path)
{
    for (size_t i = 0; i < box->policy.n_paths; i++)
        if (strcmp(box->policy.paths[i].box, path) == 0)
            return box->policy.paths[i].host;
    return "";
}

static const char *variable(const struct laz_policy_box *box, const char *name)
{
    const size_t len = strlen(name);

    for (const char *const *env = box->policy.env; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return "";
}

/* ---- what this host has ---------------------------------------------------------------------- */

static void certificates_of_the_host_are_covered(void)
{
    static const char *const variables[] = {
        "SSL_CERT_FILE",  "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO", "PIP_CERT",           "NODE_EXTRA_CA_CERTS",
        "AWS_CA_BUNDLE",  "CARGO_HTTP_CAINFO",  "DENO_CERT"};
    struct laz_programs *programs;

    for (int any = 0; any < 2; any++) {
        struct laz_policy_box *box = box_by(&(struct wish){.any = any, .trust = true}, &programs);
        UNIT_TEXT(at(box, LAZ_BOX_CERTIFICATES), in_base("trust/bundle.pem"));
        if (access("/etc/ssl/certs", F_OK) == 0)
            UNIT_TEXT(at(box, "/etc/ssl/certs"), in_base("trust/certs"));
        /* it is in the directory that is covered */
        UNIT_TEXT(at(box, "/etc/ssl/certs/java/cacerts"), "");
        for (size_t i = 0; i < N(variables); i++)
            UNIT_TEXT(variable(box, variables[i]), LAZ_BOX_CERTIFICATES);
        UNIT_TEXT(variable(box, "JAVA_TOOL_OPTIONS"), "");
        laz_policy_free(box);
        laz_programs_free(programs);
    }
}

static void without_a_trust_directory_all_is_the_host_s(void)
{
    struct laz_programs *programs;
    struct laz_policy_box *box = box_by(&(struct wish){0}, &programs);

    UNIT_TEXT(at(box, LAZ_BOX_CERTIFICATES), "");
    if (access("/etc/ssl/certs", F_OK) == 0)
        UNIT_TEXT(at(box, "/etc/ssl/certs"), "/etc/ssl/certs");
    UNIT_TEXT(variable(box, "SSL_CERT_FILE"), "");
    laz_policy_free(box);
    laz_programs_free(programs);
}

static void a_box_with_the_files_of_the_host_has_its_certificates(void)
{
    struct laz_programs *programs;
    struct laz_policy_box *box =
        box_by(&(struct wish){.trust = true, .shares_files = true}, &programs);

    UNIT_TEXT(at(box, LAZ_BOX_CERTIFICATES), "");
    UNIT_TEXT(variable(box, "SSL_CERT_FILE"), "");
    laz_policy_free(box);
    laz_programs_free(programs);
}

static void code_cannot_write_what_later_sessions_accept(void)
{
    const struct wish wish = {.trust = true, .write = base}, other = {.write = base};
    struct laz_programs *programs;
    struct laz_policy_box *box;
    struct laz_error err = {0};

    /* /tmp is the box's own, but a directory in it can be given */
    CU_ASSERT_EQUAL(policy_by(&wish, &programs, &box, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "certificates"));
    laz_programs_free(programs);
    CU_ASSERT_EQUAL(policy_by(&other, &programs, &box, &err), 0);
    laz_policy_free(box);
    laz_programs_free(programs);
}

/* ---- the environment ------------------------------------------------------------------------- */

static void env_set_wins_over_what_credentials_bring(void)
{
    static const struct {
        const char *allow, *set, *extra, *name, *value;
    } rows[] = {
        {NULL, NULL, "LAZ_TEST_TOKEN=ghp_x", "LAZ_TEST_TOKEN", "ghp_x"},
        {"LAZ_TEST_TOKEN", NULL, "LAZ_TEST_TOKEN=ghp_x", "LAZ_TEST_TOKEN", "ghp_x"},
        {"LAZ_TEST_TOKEN", NULL, NULL, "LAZ_TEST_TOKEN", "of the host"},
        {NULL, "LAZ_TEST_TOKEN=mine", "LAZ_TEST_TOKEN=ghp_x", "LAZ_TEST_TOKEN", "mine"},
        {NULL, "SSL_CERT_FILE=/mine", NULL, "SSL_CERT_FILE", "/mine"},
        {"SSL_CERT_FILE", NULL, NULL, "SSL_CERT_FILE", LAZ_BOX_CERTIFICATES},
    };
    struct laz_programs *programs;

    CU_ASSERT_EQUAL(setenv("LAZ_TEST_TOKEN", "of the host", 1), 0);
    CU_ASSERT_EQUAL(setenv("SSL_CERT_FILE", "/of/the/host", 1), 0);
    for (size_t i = 0; i < N(rows); i++) {
        struct laz_policy_box *box = box_by(
            &(struct wish){
                .trust = true, .allow = rows[i].allow, .set = rows[i].set, .extra = rows[i].extra},
            &programs);
        UNIT_TEXT(variable(box, rows[i].name), rows[i].value);
        laz_policy_free(box);
        laz_programs_free(programs);
    }
    CU_ASSERT_EQUAL(unsetenv("SSL_CERT_FILE"), 0);
}

static void a_placeholder_changes_nothing_that_is_loaded(void)
{
    static const char *const wrong[] = {"LD_PRELOAD=x", "LAZARET_TOKEN=x", "HOME=x", "TOKEN", "=x"};
    struct laz_programs *programs;
    struct laz_policy_box *box;

    for (size_t i = 0; i < N(wrong); i++) {
        const struct wish wish = {.trust = true, .extra = wrong[i]};
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(policy_by(&wish, &programs, &box, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_EQUAL(strstr(err.text, "network.credential: "), err.text);
        laz_programs_free(programs);
    }
}

static void a_plan_shows_the_mounts_and_no_placeholder(void)
{
    static const char *const sets[] = {NULL, "LAZ_TEST_TOKEN=mine"};
    const struct laz_plugin *plugin = backends_load("bwrap");

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    for (size_t i = 0; i < N(sets); i++) {
        const struct wish wish = {.trust = true,
                                  .shows = true,
                                  .any = true,
                                  .extra = "LAZ_TEST_TOKEN=ghp_x",
                                  .allow = "LAZ_TEST_TOKEN",
                                  .set = sets[i]};
        struct laz_programs *programs;
        struct laz_policy_box *box = box_by(&wish, &programs);
        struct laz_buf json = LAZ_BUF_INIT, text = LAZ_BUF_INIT;
        struct laz_plan *plan = NULL;
        UNIT_TEXT(variable(box, "LAZ_TEST_TOKEN"), sets[i] ? "(set)" : "(placeholder)");
        UNIT_TEXT(variable(box, "SSL_CERT_FILE"), LAZ_BOX_CERTIFICATES);
        CU_ASSERT_EQUAL_FATAL(
            laz_plan_make(plugin->ops, "bwrap", &box->policy, NULL, 0, NULL, &plan, NULL), 0);
        laz_plan_json(plan, &json);
        laz_plan_text(plan, &text);
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&json), "ghp_x"));
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&text), "ghp_x"));
        CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&text), "mine"));
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), in_base("trust/bundle.pem")));
        laz_buf_fini(&json);
        laz_buf_fini(&text);
        laz_plan_free(plan);
        laz_policy_free(box);
        laz_programs_free(programs);
    }
}

/* ---- what other hosts have ------------------------------------------------------------------- */

static struct laz_policy_paths with_path(const char *host, const char *box,
                                         enum laz_policy_rank rank)
{
    struct laz_policy_paths paths = {0};

    laz_policy_paths_add(&paths,
                         (struct laz_policy_path){.kind = LAZ_PATH_READ,
                                                  .rank = rank,
                                                  .from_settings = rank == LAZ_POLICY_READ},
                         host, box);
    return paths;
}

/* Covers `path`, and tells what is mounted at `expected` then, the name of the file or "". */
static void covers(struct laz_policy_paths *paths, const char *path, const char *expected,
                   size_t most)
{
    const struct laz_policy_session session = {.trust = in_base("trust")};
    const size_t before = paths->n;
    size_t found = 0;

    laz_policy_trust_at(&session, true, paths, path, "bundle.pem");
    for (size_t i = before; i < paths->n; i++) {
        UNIT_TEXT(paths->items[i].host, in_base("trust/bundle.pem"));
        found += expected && strcmp(paths->items[i].box, expected) == 0;
    }
    CU_ASSERT_EQUAL(paths->n - before, most);
    CU_ASSERT_EQUAL(found, expected ? 1 : 0);
    laz_policy_paths_fini(paths);
}

/* host/list.pem, host/links/list.pem -> ../list.pem, host/way -> links, elsewhere/list.pem */
static void links_of_the_host_are_not_mounted_on(void)
{
    const char *const host = in_base("host"), *const list = in_base("host/list.pem");
    const char *const link = in_base("host/links/list.pem");
    struct laz_policy_paths paths;

    make("host", true);
    make("host/links", true);
    make("host/list.pem", false);
    make("elsewhere", true);
    make("elsewhere/list.pem", false);
    CU_ASSERT_EQUAL(symlink("../list.pem", link), 0);
    CU_ASSERT_EQUAL(symlink("links", in_base("host/way")), 0);
    CU_ASSERT_EQUAL(symlink(in_base("elsewhere/list.pem"), in_base("host/out.pem")), 0);
    CU_ASSERT_EQUAL(symlink("nowhere", in_base("host/broken.pem")), 0);

    paths = with_path(host, host, LAZ_POLICY_SYSTEM); /* the file itself */
    covers(&paths, list, list, 1);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM); /* where the link leads */
    covers(&paths, link, list, 1);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM); /* by a link among the directories */
    covers(&paths, in_base("host/way/list.pem"), list, 1);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM); /* to what the box does not show */
    covers(&paths, in_base("host/out.pem"), NULL, 0);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM);
    covers(&paths, in_base("host/broken.pem"), NULL, 0);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM);
    covers(&paths, in_base("host/none.pem"), NULL, 0);
    paths = with_path(host, host, LAZ_POLICY_SYSTEM); /* what is outside of it */
    covers(&paths, in_base("elsewhere/list.pem"), NULL, 0);

    paths = with_path(link, link, LAZ_POLICY_SYSTEM); /* a mount of its own is one on a file */
    covers(&paths, link, link, 1);
    paths = with_path(link, link, LAZ_POLICY_SYSTEM); /* but not where settings show it */
    laz_policy_paths_add(&paths,
                         (struct laz_policy_path){
                             .kind = LAZ_PATH_READ, .rank = LAZ_POLICY_READ, .from_settings = true},
                         host, host);
    covers(&paths, link, list, 1);
    paths = with_path("/var/staged/host", host, LAZ_POLICY_SYSTEM); /* made by us, without it */
    covers(&paths, list, NULL, 0);
    paths = with_path(in_base("trust/certs"), host, LAZ_POLICY_OWN); /* covered already */
    covers(&paths, list, NULL, 0);
}

/* A list that is shown under two names is covered under both. */
static void a_list_is_covered_under_each_name(void)
{
    const char *const link = in_base("link.pem"), *const real = in_base("real.pem");
    struct laz_policy_paths paths;

    make("real.pem", false);
    CU_ASSERT_EQUAL(symlink("real.pem", link), 0);
    paths = with_path(link, link, LAZ_POLICY_SYSTEM);
    laz_policy_paths_add(&paths,
                         (struct laz_policy_path){.kind = LAZ_PATH_READ, .rank = LAZ_POLICY_SYSTEM},
                         real, real);
    covers(&paths, link, real, 2);
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(certificates_of_the_host_are_covered),
        UNIT(without_a_trust_directory_all_is_the_host_s),
        UNIT(a_box_with_the_files_of_the_host_has_its_certificates),
        UNIT(code_cannot_write_what_later_sessions_accept),
        UNIT(env_set_wins_over_what_credentials_bring),
        UNIT(a_placeholder_changes_nothing_that_is_loaded),
        UNIT(a_plan_shows_the_mounts_and_no_placeholder),
        UNIT(links_of_the_host_are_not_mounted_on),
        UNIT(a_list_is_covered_under_each_name),
        {0},
    };

    if (!mkdtemp(base) || mkdir(in_base("trust"), 0755) || mkdir(in_base("trust/certs"), 0755) ||
        laz_os_write_file(in_base("trust/bundle.pem"), "", 0, 0644, NULL) ||
        laz_os_write_file(in_base("trust/cacerts"), "", 0, 0644, NULL))
        return 1;
    int failed = unit_run("box_trust", tests);
    laz_os_remove_tree(base);
    return failed;
}
