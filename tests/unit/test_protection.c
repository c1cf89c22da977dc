/* SPDX-License-Identifier: MIT */
/* test_protection.c - sandbox.protect before a box is made: settings, policies, plans, and what
 * stands for missing paths. */
#include "unit.h"

#include "backends.h"
#include "box/protection.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/landlock.h"
#include "os/placeholder.h"
#include "os/spawner.h"
#include "os/system.h"
#include "plan/plan.h"
#include "plan/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-protection-XXXXXX"; /* removed by main */

static const char *in(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s%s", base, name);
    return path;
}

static bool is_there(const char *name)
{
    struct laz_look look;

    return laz_os_look(in(name), false, &look) == 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void paths_stay_below_their_directory(void)
{
    static const char *const wrong[] = {"/a", "", ".", "..", "a/../b", "a//b", "a/", "./a", "a/."};
    static const char *const right[] = {"a", ".a/b", "...", "a..b/c", "a b"};
    struct laz_settings *settings;
    struct laz_error err = {0};
    char list[32];

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    const struct laz_strv *protect = &laz_settings_values(settings)->sandbox.protect;
    CU_ASSERT(laz_strv_has(protect, ".git/hooks") && laz_strv_has(protect, ".git/commondir"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(list, sizeof list, "[\"%s\"]", wrong[i]);
        CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.protect", list, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "expected a relative path without"));
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        snprintf(list, sizeof list, "[\"%s\"]", right[i]);
        CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.protect", list, &err), 0);
        UNIT_TEXT(laz_settings_values(settings)->sandbox.protect.items[0], right[i]);
    }
    CU_ASSERT_EQUAL(laz_settings_set(settings, "sandbox.protect", "[]", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->sandbox.protect.n, 0);
    laz_settings_free(settings);
}

/* ---- policies -------------------------------------------------------------------------------- */

static int make_policy(const char *write, const char *const *protect, const char *platform,
                       struct laz_policy_box **box, struct laz_error *err)
{
    static const char *const tail[] = {NULL};
    const struct laz_policy_session session = {
        .socket_directory = "/tmp/lazaret-test/b0/socket",
        .agent = "/opt/build/lazaret-agent",
        .runtime_file = "/opt/build/python.so",
        .command_tail = tail,
        .uid = LAZ_SPAWN_SAME_ID,
    };
    const bool own_files = strcmp(platform, laz_os_platform()) == 0;
    struct laz_runtime_info runtime = {.name = "mock"};
    struct laz_settings_values values = {0};

    laz_strv_add(&values.sandbox.write, write);
    for (; *protect; protect++)
        laz_strv_add(&values.sandbox.protect, *protect);
    int rc = laz_policy_new(&values, &runtime, &session, own_files, platform, "{}", 2, box, err);
    laz_strv_fini(&values.sandbox.write);
    laz_strv_fini(&values.sandbox.protect);
    return rc;
}

/* The kind of the path of this name in the box; -1: it is not listed. */
static int kind_of(const struct laz_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->n_paths; i++)
        if (strcmp(policy->paths[i].box, path) == 0)
            return (int)policy->paths[i].kind;
    return -1;
}

/* Each path ends where there is nothing more, and what leads to it is held. */
static void a_path_is_read_only_and_its_way_is_held(void)
{
    static const char *const protect[] = {".git/hooks", "a/b/c",  "file/x",
                                          "gone/x",     "gone/y", NULL};
    static const struct {
        const char *name;
        int kind;
    } expected[] = {
        {"", LAZ_PATH_WRITE},          {"/.git", LAZ_PATH_PROTECTED}, {"/.git/hooks", -1},
        {"/a", LAZ_PATH_WRITE},        {"/a/b", LAZ_PATH_PROTECTED},  {"/a/b/c", -1},
        {"/file", LAZ_PATH_PROTECTED}, {"/gone", LAZ_PATH_PROTECTED},
    };
    struct laz_policy_box *box = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(mkdir(in("/a"), 0755), 0);
    CU_ASSERT_EQUAL(laz_os_write_file(in("/file"), "", 0, 0644, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(make_policy(base, protect, laz_os_platform(), &box, &err), 0);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CU_ASSERT_EQUAL(kind_of(&box->policy, in(expected[i].name)), expected[i].kind);
    CU_ASSERT_EQUAL_FATAL(box->protects.n, 8);
    UNIT_TEXT(box->protects.items[0], base);
    UNIT_TEXT(box->protects.items[1], ".git");
    laz_policy_free(box);
    CU_ASSERT_FALSE(is_there("/.git")); /* a policy makes nothing */
    CU_ASSERT_EQUAL(symlink("a", in("/link")), 0);
    CU_ASSERT_EQUAL(
        make_policy(base, (const char *const[]){"link/x", NULL}, laz_os_platform(), &box, &err),
        LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/link is a link, which code could replace"));
}

/* Of another system nothing is known: all of the path is named. */
static void a_mac_is_told_whole_paths(void)
{
    static const char *const protect[] = {".git/hooks", NULL};
    struct laz_policy_box *box = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(make_policy("/tmp/out", protect, "darwin", &box, &err), 0);
    CU_ASSERT_EQUAL(kind_of(&box->policy, "/private/tmp/out/.git/hooks"), LAZ_PATH_PROTECTED);
    CU_ASSERT_EQUAL(kind_of(&box->policy, "/private/tmp/out/.git"), -1);
    CU_ASSERT_EQUAL(box->protects.n, 0);
    laz_policy_free(box);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const struct laz_backend_ops *ops_of(const char *name)
{
    const struct laz_plugin *plugin = backends_load(name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    return plugin->ops;
}

/* One that declares to enforce what it does not know is refused; of one that lets code write
 * anywhere it is not expected. */
static void a_plan_protects_or_is_refused(void)
{
    static const struct laz_path paths[] = {{LAZ_PATH_WRITE, 0, "/p", "/p"},
                                            {LAZ_PATH_PROTECTED, 0, "/p/.envrc", "/p/.envrc"}};
    static const char *const none[] = {NULL}, *const command[] = {"/agent", NULL};
    const struct laz_policy policy = {
        .size = sizeof policy,
        .paths = paths,
        .n_paths = 2,
        .env = none,
        .home = "/tmp",
        .tmp_size = 65536,
        .command = command,
        .host_command = "/opt/lazaret-agent",
        .options = "{}",
        .options_len = 2,
        .landlock_abi = LAZ_LANDLOCK_SCOPE_ABI,
    };
    struct laz_plan *plan = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(
        laz_plan_make(ops_of("landlock"), "landlock", &policy, NULL, 0, NULL, &plan, &err),
        LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the backend landlock cannot keep /p/.envrc from"));
    CU_ASSERT_EQUAL_FATAL(
        laz_plan_make(ops_of("none"), "none", &policy, NULL, 0, NULL, &plan, &err), 0);
    CU_ASSERT_EQUAL(plan->protects.n, 0);
    laz_plan_free(plan);
    CU_ASSERT_EQUAL_FATAL(
        laz_plan_make(ops_of("bwrap"), "bwrap", &policy, NULL, 0, NULL, &plan, &err), 0);
    laz_plan_json(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "\"protects\":[\"/p/.envrc\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        laz_buf_text(&text), "\"--bind\",\"/p\",\"/p\",\"--ro-bind\",\"/p/.envrc\",\"/p/.envrc\""));
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(laz_buf_text(&text), "stay read-only in writable directories\n  /p/.envrc\n"));
    laz_plan_free(plan);
    laz_buf_fini(&text);
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static void a_placeholder_goes_with_its_last_user(void)
{
    int first = -1, second = -1;

    CU_ASSERT_EQUAL_FATAL(laz_os_placeholder_take(base, "shared", NULL, &first, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_placeholder_take(base, "shared", NULL, &second, NULL), 0);
    laz_os_placeholder_drop(base, "shared", &first);
    CU_ASSERT(first == -1 && is_there("/shared"));
    laz_os_placeholder_drop(base, "shared", &second);
    CU_ASSERT_FALSE(is_there("/shared"));
}

static void what_is_no_placeholder_stays(void)
{
    struct laz_error err = {0};
    int fd = -1;

    CU_ASSERT_EQUAL(mkdir(in("/own"), 0755), 0);
    CU_ASSERT_EQUAL(laz_os_placeholder_take(base, "own", NULL, &fd, &err), LAZ_EOS);
    CU_ASSERT(fd == -1 && is_there("/own"));
    CU_ASSERT_EQUAL_FATAL(laz_os_placeholder_take(base, "used", NULL, &fd, NULL), 0);
    CU_ASSERT_EQUAL(chmod(in("/used"), 0755), 0);
    CU_ASSERT_EQUAL(mkdir(in("/used/x"), 0755), 0); /* by somebody on the host */
    laz_os_placeholder_drop(base, "used", &fd);
    CU_ASSERT(is_there("/used/x"));
    CU_ASSERT_EQUAL_FATAL(laz_os_placeholder_take(base, "file", ".\n", &fd, &err), LAZ_EOS);
    CU_ASSERT_EQUAL_FATAL(laz_os_placeholder_take(base, "text", ".\n", &fd, &err), 0);
    CU_ASSERT_EQUAL(rename(in("/file"), in("/text")), 0);
    laz_os_placeholder_drop(base, "text", &fd);
    CU_ASSERT(is_there("/text"));
    CU_ASSERT_EQUAL(laz_os_placeholder_take(base, "link/x", NULL, &fd, &err), LAZ_EOS);
    CU_ASSERT_FALSE(is_there("/a/x"));
}

/* ---- what holds ------------------------------------------------------------------------------ */

static void a_path_that_was_replaced_is_told(void)
{
    struct laz_protection *last = NULL, *first = NULL, *second = NULL, *third = NULL;
    struct laz_strv pairs = LAZ_STRV_INIT;

    CU_ASSERT_EQUAL(laz_os_write_file(in("/there"), "", 0, 0644, NULL), 0);
    laz_strv_add(&pairs, base);
    laz_strv_add(&pairs, "there");
    laz_strv_add(&pairs, base);
    laz_strv_add(&pairs, "missing");
    CU_ASSERT_EQUAL_FATAL(laz_protection_take(&last, &pairs, &first, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_protection_take(&last, &pairs, &second, NULL), 0);
    CU_ASSERT_PTR_EQUAL(first, second); /* it holds */
    CU_ASSERT(is_there("/missing") && !laz_protection_lost(first));
    CU_ASSERT_EQUAL(laz_os_write_file(in("/new"), "", 0, 0644, NULL), 0);
    CU_ASSERT_EQUAL(rename(in("/new"), in("/there")), 0);
    UNIT_TEXT(laz_protection_lost(first), in("/there"));
    for (int i = 0; i < 20; i++) { /* the number of its inode is not used again */
        CU_ASSERT_EQUAL(unlink(in("/there")), 0);
        CU_ASSERT_EQUAL(laz_os_write_file(in("/there"), "", 0, 0644, NULL), 0);
        CU_ASSERT_PTR_NOT_NULL(laz_protection_lost(first));
    }
    CU_ASSERT_EQUAL_FATAL(laz_protection_take(&last, &pairs, &third, NULL), 0);
    CU_ASSERT(third != first && !laz_protection_lost(third));
    laz_protection_drop(first);
    laz_protection_drop(second);
    CU_ASSERT(is_there("/missing") && last == third);
    CU_ASSERT_EQUAL(rmdir(in("/missing")), 0);
    UNIT_TEXT(laz_protection_lost(third), in("/missing"));
    laz_protection_drop(third);
    CU_ASSERT_PTR_NULL(last);
    laz_strv_fini(&pairs);
}

static void messages_name_what_is_protected(void)
{
    static const struct {
        const char *message;
        bool names;
    } rows[] = {
        {"[Errno 30] Read-only file system: '/p/.git/hooks/x'", true},
        {".git/hooks/x: Permission denied", true},
        {"bash: .git/hooks: Is a directory", true},
        {"cannot move '.git/hooks': Device or resource busy", true},
        {"[Errno 2] No such file or directory: '/p/.git/hooks/x'", false},
        {".git/hooks2: Read-only file system", false},
        {"x.git/hooks: Read-only file system", false},
        {"", false},
    };
    struct laz_protection *last = NULL, *protection = NULL;
    struct laz_strv pairs = LAZ_STRV_INIT;

    CU_ASSERT(mkdir(in("/.git"), 0755) == 0 && mkdir(in("/.git/hooks"), 0755) == 0);
    laz_strv_add(&pairs, base);
    laz_strv_add(&pairs, ".git/hooks");
    CU_ASSERT_EQUAL_FATAL(laz_protection_take(&last, &pairs, &protection, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CU_ASSERT_EQUAL(laz_protection_named(protection, rows[i].message) != NULL, rows[i].names);
    laz_protection_drop(protection);
    laz_strv_fini(&pairs);
}

static const struct unit_test tests[] = {
    UNIT(paths_stay_below_their_directory),
    UNIT(a_path_is_read_only_and_its_way_is_held),
    UNIT(a_mac_is_told_whole_paths),
    UNIT(a_plan_protects_or_is_refused),
    UNIT(a_placeholder_goes_with_its_last_user),
    UNIT(what_is_no_placeholder_stays),
    UNIT(a_path_that_was_replaced_is_told),
    UNIT(messages_name_what_is_protected),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 99;
    int status = unit_run("protection", tests);
    laz_os_remove_tree(base);
    return status;
}
