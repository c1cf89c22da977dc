/* SPDX-License-Identifier: MIT */
/* test_policy.c - makes policies of settings and a runtime: what a session may see. */
#include "unit.h"

#include "plan/policy.h"
#include "plan/policy_private.h"
#include "plan/programs.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/spawner.h"
#include "os/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_FILES   LAZ_ENFORCE_FS_READ
#define FOREIGN_UID 2080000011u

static char base[] = "/tmp/laz-test-policy-XXXXXX"; /* removed by main */

static struct laz_strv strv_of(const char *const *items)
{
    struct laz_strv strv = LAZ_STRV_INIT;

    for (; items && *items; items++)
        laz_strv_add(&strv, *items);
    return strv;
}

/* One attempt: settings and session as input, a policy or an error as output. */
struct attempt {
    const char *const *read, *const *write, *const *allow, *const *set;
    const char *const *runtime_read, *const *runtime_env;
    uint32_t uid, can_enforce;
    const char *platform;
    const char *const *options; /* of the runtime: directories in its options */
    bool nests, tty;
    bool chosen; /* has a list of programs, of none */
    struct laz_policy_box *box;
    struct laz_error err;
};

static int attempt_run(struct attempt *attempt)
{
    struct laz_settings_values values = {
        .sandbox = {.read = strv_of(attempt->read),
                    .write = strv_of(attempt->write),
                    .tmp_size = 4096,
                    .tty = attempt->tty},
        .env = {.allow = strv_of(attempt->allow), .set = strv_of(attempt->set)},
    };
    struct laz_runtime_info runtime = {.name = "mock",
                                       .read = strv_of(attempt->runtime_read),
                                       .env = strv_of(attempt->runtime_env)};
    struct laz_strv options = strv_of(attempt->options);
    static const char *const tail[] = {"--runtime", "x", NULL};
    struct laz_policy_session session = {
        .socket_directory = "/tmp/lazaret-test/b0/socket",
        .token = "the-token",
        .agent = "/opt/build/lazaret-agent",
        .runtime_file = "/opt/build/python.so",
        .staged = "/var/staged/programs",
        .command_tail = tail,
        .uid = attempt->uid ? attempt->uid : LAZ_SPAWN_SAME_ID,
        .read = &options,
        .nests = attempt->nests,
        .empty = "/var/empty",
    };
    struct laz_programs *programs = NULL;
    if (attempt->chosen)
        CU_ASSERT_EQUAL_FATAL(laz_programs_new(&values, &runtime, laz_os_platform(), session.uid,
                                               false, &programs, NULL),
                              0);
    if (programs)
        laz_programs_prepare(programs, NULL, true);
    session.programs = programs;
    attempt->box = NULL;
    attempt->err = (struct laz_error){0};
    int rc = laz_policy_new(&values, &runtime, &session, attempt->can_enforce,
                            attempt->platform ? attempt->platform : laz_os_platform(), "{}", 2,
                            &attempt->box, &attempt->err);
    laz_strv_fini(&values.sandbox.read);
    laz_strv_fini(&values.sandbox.write);
    laz_strv_fini(&values.env.allow);
    laz_strv_fini(&values.env.set);
    laz_strv_fini(&runtime.read);
    laz_strv_fini(&runtime.env);
    laz_strv_fini(&options);
    laz_programs_free(programs);
    return rc;
}

static const struct laz_policy *attempt_policy(struct attempt *attempt)
{
    int rc = attempt_run(attempt);

    UNIT_TEXT(attempt->err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    return &attempt->box->policy;
}

/* Finds the path of this name in the box, and its index in the list. */
static const struct laz_path *path_of(const struct laz_policy *policy, const char *box, size_t *at)
{
    const struct laz_path *found = NULL;

    for (size_t i = 0; i < policy->n_paths; i++) {
        if (strcmp(policy->paths[i].box, box) != 0)
            continue;
        CU_ASSERT_PTR_NULL(found); /* once */
        found = &policy->paths[i];
        if (at)
            *at = i;
    }
    return found;
}

static const char *env_of(const struct laz_policy *policy, const char *name)
{
    const char *found = NULL;
    size_t len = strlen(name);

    for (const char *const *env = policy->env; *env; env++) {
        if (strncmp(*env, name, len) != 0 || (*env)[len] != '=')
            continue;
        CU_ASSERT_PTR_NULL(found); /* once */
        found = *env + len + 1;
    }
    return found;
}

static void box_with_files_of_its_own_has_lazarets_places(void)
{
    struct attempt attempt = {.can_enforce = OWN_FILES};
    const struct laz_policy *policy = attempt_policy(&attempt);
    const struct laz_path *path;

    path = path_of(policy, LAZ_BOX_AGENT, NULL);
    CU_ASSERT(path && path->kind == LAZ_PATH_READ &&
              strcmp(path->host, "/opt/build/lazaret-agent") == 0);
    path = path_of(policy, LAZ_BOX_RUNTIME "python.so", NULL);
    CU_ASSERT(path && strcmp(path->host, "/opt/build/python.so") == 0);
    path = path_of(policy, LAZ_BOX_SOCKET, NULL);
    CU_ASSERT(path && path->kind == LAZ_PATH_READ);
    path = path_of(policy, "/etc/passwd", NULL);
    CU_ASSERT(path && path->kind == LAZ_PATH_CONTENT && strncmp(path->host, "sandbox:", 8) == 0);
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "/usr", NULL));
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "/bin", NULL));
    CU_ASSERT_PTR_NULL(path_of(policy, "/etc", NULL));
    UNIT_TEXT(policy->home, "/tmp");
    UNIT_TEXT(policy->command[0], LAZ_BOX_AGENT);
    UNIT_TEXT(policy->command[1], "--runtime");
    UNIT_TEXT(policy->host_command, "/opt/build/lazaret-agent");
    UNIT_TEXT(attempt.box->runtime_file, LAZ_BOX_RUNTIME "python.so");
    UNIT_TEXT(env_of(policy, "LAZARET_SOCKET"), LAZ_BOX_SOCKET "/ipc.sock");
    UNIT_TEXT(env_of(policy, "LAZARET_TOKEN"), "the-token");
    UNIT_TEXT(env_of(policy, "HOME"), "/tmp");
    UNIT_TEXT(env_of(policy, "TMPDIR"), "/tmp");
    UNIT_TEXT(env_of(policy, "TMP"), "/tmp");
    UNIT_TEXT(env_of(policy, "TEMP"), "/tmp");
    CU_ASSERT_EQUAL(policy->own_uid, 0);
    CU_ASSERT_EQUAL(policy->box_uid, 1000);
    CU_ASSERT_EQUAL(policy->tmp_size, 4096);
    laz_policy_free(attempt.box);
    laz_policy_free(NULL);
}

static void box_without_files_of_its_own_has_the_hosts(void)
{
    struct attempt attempt = {.can_enforce = 0, .uid = FOREIGN_UID};
    const struct laz_policy *policy = attempt_policy(&attempt);

    UNIT_TEXT(policy->home, "/tmp/lazaret-test/b0/home");
    UNIT_TEXT(env_of(policy, "HOME"), "/tmp/lazaret-test/b0/home");
    UNIT_TEXT(env_of(policy, "LAZARET_SOCKET"), "/tmp/lazaret-test/b0/socket/ipc.sock");
    UNIT_TEXT(policy->command[0], "/opt/build/lazaret-agent");
    UNIT_TEXT(attempt.box->runtime_file, "/opt/build/python.so");
    CU_ASSERT_PTR_NULL(path_of(policy, "/etc/passwd", NULL));
    CU_ASSERT_EQUAL(policy->own_uid, 1);
    laz_policy_free(attempt.box);
}

static void environment_is_an_allowlist(void)
{
    static const char *const allow[] = {"LAZ_TEST_ALLOWED", "LAZ_TEST_UNSET", "R_HOME", NULL};
    static const char *const set[] = {"FIXED=1", "PYTHONPATH=/srv/lib", "PATH=/opt/bin", "E=a=b",
                                      NULL};
    static const char *const runtime_env[] = {"R_HOME=/usr/lib/R", "R_LIBS_USER=", NULL};
    struct attempt attempt = {
        .can_enforce = OWN_FILES, .allow = allow, .set = set, .runtime_env = runtime_env};

    setenv("LAZ_TEST_ALLOWED", "yes", 1);
    setenv("LAZ_TEST_SECRET", "secret", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    setenv("R_LIBS", "/evil", 1);
    setenv("R_HOME", "/evil", 1);
    setenv("LD_PRELOAD_X", "/evil", 1);
    setenv("LC_ALL", "C", 1);
    setenv("TZ", "Europe/Vienna", 1);
    const struct laz_policy *policy = attempt_policy(&attempt);
    UNIT_TEXT(env_of(policy, "LAZ_TEST_ALLOWED"), "yes");
    CU_ASSERT_PTR_NULL(env_of(policy, "LAZ_TEST_UNSET"));
    CU_ASSERT_PTR_NULL(env_of(policy, "LAZ_TEST_SECRET"));
    CU_ASSERT_PTR_NULL(env_of(policy, "AWS_SECRET_ACCESS_KEY"));
    CU_ASSERT_PTR_NULL(env_of(policy, "R_LIBS"));
    CU_ASSERT_PTR_NULL(env_of(policy, "LD_PRELOAD_X"));
    CU_ASSERT_PTR_NULL(env_of(policy, "LC_ALL"));
    UNIT_TEXT(env_of(policy, "LANG"), "C.UTF-8");
    UNIT_TEXT(env_of(policy, "TZ"), "Europe/Vienna");
    UNIT_TEXT(env_of(policy, "R_HOME"), "/usr/lib/R");
    UNIT_TEXT(env_of(policy, "R_LIBS_USER"), "");
    UNIT_TEXT(env_of(policy, "FIXED"), "1");
    UNIT_TEXT(env_of(policy, "E"), "a=b");
    UNIT_TEXT(env_of(policy, "PYTHONPATH"), "/srv/lib"); /* the value from the settings */
    UNIT_TEXT(env_of(policy, "PATH"), "/opt/bin");
    laz_policy_free(attempt.box);
    attempt = (struct attempt){.can_enforce = OWN_FILES};
    UNIT_TEXT(env_of(attempt_policy(&attempt), "PATH"), "/usr/local/bin:/usr/bin:/bin");
    laz_policy_free(attempt.box);
}

static void programs_are_told_that_there_is_no_terminal(void)
{
    static const char *const set[] = {"PAGER=more", NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .set = set};

    setenv("TERM", "xterm-256color", 1);
    const struct laz_policy *policy = attempt_policy(&attempt);
    UNIT_TEXT(env_of(policy, "TERM"), "dumb");
    UNIT_TEXT(env_of(policy, "PAGER"), "more");
    UNIT_TEXT(env_of(policy, "GIT_TERMINAL_PROMPT"), "0");
    laz_policy_free(attempt.box);
    attempt = (struct attempt){.can_enforce = OWN_FILES, .tty = true};
    policy = attempt_policy(&attempt);
    UNIT_TEXT(env_of(policy, "TERM"), "xterm-256color");
    CU_ASSERT_PTR_NULL(env_of(policy, "PAGER"));
    laz_policy_free(attempt.box);
}

static void loader_and_interpreter_variables_are_refused(void)
{
    static const struct {
        const char *allow, *set;
    } rows[] = {
        {"LD_PRELOAD", NULL},
        {"LD_LIBRARY_PATH", NULL},
        {"PYTHONPATH", NULL},
        {"PYTHONSTARTUP", NULL},
        {"R_PROFILE_USER", NULL},
        {"LUA_INIT", NULL},
        {"LUA_PATH_5_4", NULL},
        {"BASH_ENV", NULL},
        {"ENV", NULL},
        {"NODE_OPTIONS", NULL},
        {"GLIBC_TUNABLES", NULL},
        {"LAZARET_TOKEN", NULL},
        {"GCONV_PATH", NULL},
        {"LOCPATH", NULL},
        {"MALLOC_ARENA_MAX", NULL},
        {"PERL5LIB", NULL},
        {"IFS", NULL},
        {"SHELLOPTS", NULL},
        {"BASH_FUNC_ls%%", NULL},
        {"OPENSSL_CONF", NULL},
        {"ASAN_OPTIONS", NULL},
        {"TMP", NULL},
        {"TEMP", NULL},
        {"TMPDIR", NULL},
        {"HOME", NULL},
        {"PATH", NULL},
        {"", NULL},
        {"A=B", NULL},
        {NULL, "LD_PRELOAD=/x"},
        {NULL, "LAZARET_SOCKET=/x"},
        {NULL, "HOME=/x"},
        {NULL, "TEMP=/x"},
        {NULL, "GLIBC_TUNABLES=x"},
        {NULL, "GCONV_PATH=/x"},
        {NULL, "LOCPATH=/x"},
        {NULL, "MALLOC_PERTURB_=1"},
        {NULL, "R_HOME=/x"},
        {NULL, "novalue"},
        {NULL, "=x"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const allow[] = {rows[i].allow, NULL}, *const set[] = {rows[i].set, NULL};
        static const char *const declared[] = {"R_HOME=/usr/lib/R", NULL};
        struct attempt attempt = {
            .can_enforce = OWN_FILES, .allow = allow, .set = set, .runtime_env = declared};
        CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, rows[i].allow ? "env.allow" : "env.set"));
        laz_policy_free(attempt.box);
    }
    /* names that only have a common prefix */
    const char *const allow[] = {"ENVIRONMENT", "HOMEPAGE", NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .allow = allow};
    (void)attempt_policy(&attempt);
    laz_policy_free(attempt.box);
}

static void paths_come_after_the_directories_they_lie_in(void)
{
    char outer[128], inner[128], innermost[128];
    size_t at_outer = 0, at_inner = 0, at_innermost = 0;

    snprintf(outer, sizeof outer, "%s/outer", base);
    snprintf(inner, sizeof inner, "%s/outer/inner", base);
    snprintf(innermost, sizeof innermost, "%s/outer/inner/most", base);
    CU_ASSERT_FATAL(mkdir(outer, 0755) == 0 && mkdir(inner, 0755) == 0 &&
                    mkdir(innermost, 0755) == 0);
    char slashed[140];
    snprintf(slashed, sizeof slashed, "%s//", inner);
    slashed[strlen(slashed) - 1] = '\0'; /* without the slash at the end */
    const char *const read[] = {innermost, slashed, NULL}, *const write[] = {outer, innermost,
                                                                             NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .read = read, .write = write};
    const struct laz_policy *policy = attempt_policy(&attempt);
    const struct laz_path *path = path_of(policy, outer, &at_outer);
    CU_ASSERT(path && path->kind == LAZ_PATH_WRITE && !path->optional);
    path = path_of(policy, inner, &at_inner);
    CU_ASSERT(path && path->kind == LAZ_PATH_READ);
    path = path_of(policy, innermost, &at_innermost);
    CU_ASSERT(path && path->kind == LAZ_PATH_WRITE); /* in both lists: writable */
    CU_ASSERT(at_outer < at_inner && at_inner < at_innermost);
    laz_policy_free(attempt.box);
    rmdir(innermost);
    rmdir(inner);
    rmdir(outer);
}

/* A path deep in a directory that code can write: no directory above it can be replaced. */
static void the_way_through_a_writable_directory_is_held(void)
{
    char outer[128], way[128], deep[128], elsewhere[128], link[128], through[128];
    size_t at_outer = 0, at_way = 0, at_deep = 0;

    snprintf(outer, sizeof outer, "%s/outer", base);
    snprintf(way, sizeof way, "%s/outer/way", base);
    snprintf(deep, sizeof deep, "%s/outer/way/deep", base);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", base);
    snprintf(link, sizeof link, "%s/outer/link", base);
    snprintf(through, sizeof through, "%s/outer/link/deep", base);
    CU_ASSERT_FATAL(mkdir(outer, 0755) == 0 && mkdir(way, 0755) == 0 && mkdir(deep, 0755) == 0 &&
                    mkdir(elsewhere, 0755) == 0 && symlink("way", link) == 0);
    const char *const write[] = {outer, NULL}, *const read[] = {deep, NULL},
                      *const linked[] = {through, NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .read = read, .write = write};
    const struct laz_policy *policy = attempt_policy(&attempt);
    const struct laz_path *path = path_of(policy, way, &at_way);
    CU_ASSERT(path && path->kind == LAZ_PATH_WRITE);
    path = path_of(policy, deep, &at_deep);
    CU_ASSERT(path && path->kind == LAZ_PATH_READ && path_of(policy, outer, &at_outer));
    CU_ASSERT(at_outer < at_way && at_way < at_deep);
    laz_policy_free(attempt.box);
    attempt = (struct attempt){.can_enforce = OWN_FILES, .read = read};
    CU_ASSERT_PTR_NULL(path_of(attempt_policy(&attempt), way, NULL)); /* code cannot write there */
    laz_policy_free(attempt.box);
    attempt = (struct attempt){.can_enforce = OWN_FILES, .read = linked, .write = write};
    CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "goes through a link"));
    CU_ASSERT_FATAL(rmdir(deep) == 0 && symlink(elsewhere, deep) == 0);
    attempt = (struct attempt){.can_enforce = OWN_FILES, .read = read, .write = write};
    CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
    /* without a file system of its own, the enclosing directory decides */
    attempt = (struct attempt){.read = read, .write = write};
    CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "which can be written"));
    const char *const both[] = {outer, deep, NULL};
    attempt = (struct attempt){.write = both};
    policy = attempt_policy(&attempt);
    CU_ASSERT_PTR_NULL(path_of(policy, deep, NULL)); /* targets of links are not checked */
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, outer, NULL));
    laz_policy_free(attempt.box);
    CU_ASSERT(unlink(link) == 0 && unlink(deep) == 0 && rmdir(way) == 0 && rmdir(outer) == 0 &&
              rmdir(elsewhere) == 0);
}

static void what_sessions_share_is_not_given(void)
{
    static const struct {
        bool own_files, write;
        const char *path;
        int rc;
        const char *part;
    } rows[] = {
        {false, true, "/tmp", LAZ_ECONFIG, "the directories of all sessions"},
        {false, false, "/tmp/", LAZ_ECONFIG, "the directories of all sessions"},
        {false, false, "/", LAZ_ECONFIG, "the directories of all sessions"},
        {false, true, "/opt", LAZ_ECONFIG, "lazaret itself is installed there"},
        {true, true, "/opt", LAZ_ECONFIG, "lazaret itself is installed there"},
        {true, true, "/var", LAZ_ECONFIG, "the programs of later sessions"},
        {true, false, "/var", 0, ""},
        {false, false, "/opt", 0, ""},
        {true, false, "/opt", 0, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const list[] = {rows[i].path, NULL};
        struct attempt attempt = {.can_enforce = rows[i].own_files ? OWN_FILES : 0,
                                  .read = rows[i].write ? NULL : list,
                                  .write = rows[i].write ? list : NULL};
        CU_ASSERT_EQUAL(attempt_run(&attempt), rows[i].rc);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, rows[i].part));
        laz_policy_free(attempt.box);
    }
}

static void a_directory_of_the_settings_is_shown_as_it_is(void)
{
    static const char *const read[] = {"/etc", NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .read = read};
    const struct laz_policy *policy = attempt_policy(&attempt);

    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "/etc", NULL));
    CU_ASSERT_PTR_NULL(path_of(policy, "/etc/passwd", NULL));
    CU_ASSERT_PTR_NULL(path_of(policy, "/etc/ld.so.cache", NULL));
    laz_policy_free(attempt.box);
}

static void paths_that_cannot_be_given_are_refused(void)
{
    static const char *const rows[] = {
        "relative", "/",           "/proc",        "/proc/1",        "/dev",
        "/dev/sda", "/run",        "/run/lazaret", "/run/lazaret/x", "/tmp",
        "/tmp/",    "/usr/../etc", "/usr/./bin",   "/usr//bin",      "/nonexistent/path",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const list[] = {rows[i], NULL};
        struct attempt attempt = {.can_enforce = OWN_FILES, .read = list};
        CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "sandbox.read: "));
        laz_policy_free(attempt.box);
        attempt = (struct attempt){.can_enforce = OWN_FILES, .write = list};
        CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "sandbox.write: "));
        laz_policy_free(attempt.box);
    }
    const char *const missing[] = {"/nonexistent/path", NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .read = missing, .platform = "darwin"};
    CU_ASSERT_EQUAL(attempt_run(&attempt), 0); /* paths of another system are not checked */
    laz_policy_free(attempt.box);
}

/* ---- what a template does not see ----------------------------------------------------------- */

static const char *in_base(const char *name)
{
    static char paths[64][128]; /* tables refer to several */
    static unsigned next;
    char *path = paths[next++ % 64];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static void make_written(void)
{
    CU_ASSERT_EQUAL(mkdir(in_base("out"), 0755), 0);
    CU_ASSERT_EQUAL(mkdir(in_base("out/kept"), 0755), 0);
    CU_ASSERT_EQUAL(mkdir(in_base("out/in"), 0755), 0);
    CU_ASSERT_EQUAL(laz_os_write_file(in_base("file"), "", 0, 0644, NULL), 0);
    CU_ASSERT_EQUAL(link(in_base("file"), in_base("second")), 0);
    CU_ASSERT_EQUAL(symlink("out", in_base("alias")), 0);
    CU_ASSERT_EQUAL(symlink(base, in_base("whole")), 0);
}

static void a_template_sees_nothing_that_sessions_write(void)
{
    make_written();
    const char *const write[] = {in_base("out/in"), in_base("out"), in_base("file"), NULL};
    const char *const read[] = {base, in_base("out/kept"), NULL};
    const struct {
        const char *box, *host;
        uint32_t kind;
    } rows[] = {
        {base, base, LAZ_PATH_READ},
        {in_base("out"), "/var/empty", LAZ_PATH_READ},
        {in_base("file"), "/dev/null", LAZ_PATH_READ},
        {LAZ_BOX_WRITE "0", in_base("out"), LAZ_PATH_WRITE},
        {LAZ_BOX_WRITE "0/in", in_base("out/in"), LAZ_PATH_WRITE},
        {LAZ_BOX_WRITE "0/kept", in_base("out/kept"), LAZ_PATH_READ},
        {LAZ_BOX_WRITE "1", in_base("file"), LAZ_PATH_WRITE},
    };
    struct attempt attempt = {
        .can_enforce = OWN_FILES, .read = read, .write = write, .nests = true};
    const struct laz_policy *policy = attempt_policy(&attempt);
    char *shown = laz_strdupf(
        "[\"" LAZ_BOX_WRITE "0\",\"%s/out\",\"" LAZ_BOX_WRITE "1\",\"%s/file\"]", base, base);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct laz_path *path = path_of(policy, rows[i].box, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(path);
        UNIT_TEXT(path->host, rows[i].host);
        CU_ASSERT_EQUAL(path->kind, rows[i].kind);
    }
    CU_ASSERT_PTR_NULL(path_of(policy, in_base("out/in"), NULL));
    CU_ASSERT_PTR_NULL(path_of(policy, in_base("out/kept"), NULL));
    UNIT_TEXT(env_of(policy, "LAZARET_SHOWN"), shown);
    free(shown);
    laz_policy_free(attempt.box);
    attempt.nests = false;
    CU_ASSERT_PTR_NULL(env_of(attempt_policy(&attempt), "LAZARET_SHOWN"));
    laz_policy_free(attempt.box);
}

/* Each is accepted without a template. */
static void a_template_reads_nothing_that_sessions_write(void)
{
    const struct {
        const char *write, *read, *option, *runtime_read, *part;
    } rows[] = {
        {in_base("out"), NULL, in_base("out/kept"), NULL, "runtime.mock: "},
        {in_base("out"), NULL, in_base("alias"), NULL, "of sandbox.write: a template would run"},
        {in_base("out"), NULL, NULL, in_base("out"), "from which the language is loaded"},
        {in_base("out"), NULL, NULL, in_base("out/in"), "from which the language is loaded"},
        {in_base("out"), in_base("alias"), NULL, NULL, "can be read under"},
        {in_base("out/in"), in_base("alias"), NULL, NULL, "can be read under"},
        {in_base("out"), in_base("whole"), NULL, NULL, "can be read under"},
        {in_base("out"), NULL, NULL, in_base("whole"), "can be read under"},
        {in_base("file"), in_base("second"), NULL, NULL, "can be read under"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const write[] = {rows[i].write, NULL}, *const read[] = {rows[i].read, NULL},
                          *const option[] = {rows[i].option, NULL},
                          *const runtime_read[] = {rows[i].runtime_read, NULL};
        struct attempt attempt = {.can_enforce = OWN_FILES,
                                  .write = write,
                                  .read = read,
                                  .options = option,
                                  .runtime_read = runtime_read};
        attempt_policy(&attempt);
        laz_policy_free(attempt.box);
        attempt.nests = true;
        CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_EREFUSED);
        if (!strstr(attempt.err.text, rows[i].part) || !strstr(attempt.err.text, "sandbox.write"))
            UNIT_TEXT(attempt.err.text, rows[i].part);
    }
}

/* Rules of macOS apply to the real path of a file, and links on the path have to be allowed. */
static void a_mac_is_told_real_paths(void)
{
    static const char *const read[] = {"/etc/ssl", "/srv/\"q\" (a)", "/opt/x", NULL};
    static const char *const write[] = {"/var/spool/x/", NULL};
    static const char *const runtime_read[] = {"/tmp/runtime", "/usr/lib/python", NULL};
    static const char *const rows[] = {"/private/etc/ssl",
                                       "/srv/\"q\" (a)",
                                       "/opt/x",
                                       "/private/var/spool/x",
                                       "/private/tmp/runtime",
                                       "/usr/lib",
                                       "/private/var/db/timezone",
                                       "/private/etc/localtime",
                                       "/private/tmp/lazaret-test/b0/socket",
                                       "/opt/build/python.so",
                                       "/opt/build/lazaret-agent"};
    struct attempt attempt = {
        .read = read, .write = write, .runtime_read = runtime_read, .platform = "darwin"};
    const struct laz_policy *policy = attempt_policy(&attempt);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct laz_path *path = path_of(policy, rows[i], NULL);
        if (!path || strcmp(path->host, rows[i]) != 0 || path->kind > LAZ_PATH_WRITE)
            UNIT_TEXT("not there", rows[i]);
    }
    CU_ASSERT_PTR_NULL(path_of(policy, "/usr/lib/python", NULL)); /* in its directory */
    for (size_t i = 0; i < policy->n_paths; i++)
        CU_ASSERT(strncmp(policy->paths[i].box, "/etc", 4) != 0 &&
                  strncmp(policy->paths[i].box, "/tmp", 4) != 0 &&
                  strncmp(policy->paths[i].box, "/var", 4) != 0);
    UNIT_TEXT(policy->home, "/private/tmp/lazaret-test/b0/home");
    UNIT_TEXT(env_of(policy, "HOME"), policy->home);
    UNIT_TEXT(env_of(policy, "LANG"), "en_US.UTF-8");
    UNIT_TEXT(env_of(policy, "LC_COLLATE"), "C");
    UNIT_TEXT(env_of(policy, "LAZARET_SOCKET"), "/private/tmp/lazaret-test/b0/socket/ipc.sock");
    UNIT_TEXT(policy->host_command, "/opt/build/lazaret-agent");
    laz_policy_free(attempt.box);
    static const char *const shared[][2] = {{"/tmp", NULL}, {"/private", NULL}};
    for (size_t i = 0; i < 2; i++) { /* by either path */
        attempt.write = shared[i];
        CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "the directories of all sessions"));
    }
    attempt.write = write;
    attempt.can_enforce = OWN_FILES; /* a file system of its own has its own paths */
    policy = attempt_policy(&attempt);
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "/etc/ssl", NULL));
    laz_policy_free(attempt.box);
}

struct link_row {
    const char *above, *box, *host; /* on macOS the real paths are below /private */
    uint32_t kind;
};

static void links_are(struct laz_policy_paths *paths, const struct link_row *rows, size_t n)
{
    CU_ASSERT_EQUAL_FATAL(paths->n_sorted, n);
    for (size_t i = 0; i < paths->n_sorted; i++) {
        char box[192];
        snprintf(box, sizeof box, "%s%s", rows[i].above, rows[i].box);
        UNIT_TEXT(paths->sorted[i].box, box);
        UNIT_TEXT(paths->sorted[i].host, rows[i].host ? rows[i].host : box);
        CU_ASSERT_EQUAL(paths->sorted[i].kind, rows[i].kind);
    }
    laz_policy_paths_fini(paths);
}

/* On the system itself the path is resolved, and each link in it is added. */
static void links_are_followed_where_they_are(void)
{
    struct laz_policy_paths paths = {0};
    char directory[128], name[128], missing[128], inside[160], through[160];

    snprintf(directory, sizeof directory, "%s/real", base);
    snprintf(name, sizeof name, "%s/name", base);
    snprintf(missing, sizeof missing, "%s/missing", base);
    snprintf(inside, sizeof inside, "%s/x", directory);
    snprintf(through, sizeof through, "%s/x", name);
    CU_ASSERT_FATAL(mkdir(directory, 0755) == 0 && mkdir(inside, 0755) == 0 &&
                    symlink("real", name) == 0);
    laz_policy_paths_add(&paths, (struct laz_policy_path){.kind = LAZ_PATH_READ}, through, through);
    laz_policy_paths_add(&paths, (struct laz_policy_path){.kind = LAZ_PATH_WRITE}, missing,
                         missing);
    laz_policy_paths_add(&paths, (struct laz_policy_path){.kind = LAZ_PATH_SYMLINK}, "real", name);
    laz_policy_paths_real(&paths, true);
    CU_ASSERT_EQUAL_FATAL(laz_policy_paths_sort(&paths, NULL), 0);
    const struct link_row rows[] = {
        {"/private", missing, NULL, LAZ_PATH_WRITE},
        {"/private", name, "real", LAZ_PATH_SYMLINK},
        {"", inside, inside, LAZ_PATH_READ},
    };
    links_are(&paths, rows, sizeof rows / sizeof rows[0]);
    CU_ASSERT(unlink(name) == 0 && rmdir(inside) == 0 && rmdir(directory) == 0);
}

/* As R is installed on macOS: Resources leads through Current. */
static void each_link_of_a_chain_is_named(void)
{
    static const char *const made[] = {"fw", "fw/Versions", "fw/Versions/4.4",
                                       "fw/Versions/4.4/Resources"};
    static const char *const links[][2] = {{"4.4", "fw/Versions/Current"},
                                           {"Versions/Current/Resources", "fw/Resources"},
                                           {"../fw/./Resources", "fw/home"},
                                           {"loop", "fw/loop"}};
    struct laz_policy_paths paths = {0};
    char at[8][160];

    for (size_t i = 0; i < 4; i++) {
        snprintf(at[i], sizeof at[i], "%s/%s", base, made[i]);
        CU_ASSERT_EQUAL_FATAL(mkdir(at[i], 0755), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(at[4 + i], sizeof at[i], "%s/%s", base, links[i][1]);
        CU_ASSERT_EQUAL_FATAL(symlink(links[i][0], at[4 + i]), 0);
    }
    laz_policy_paths_add(&paths, (struct laz_policy_path){.kind = LAZ_PATH_READ}, at[6], at[6]);
    laz_policy_paths_add(&paths, (struct laz_policy_path){.kind = LAZ_PATH_SYMLINK}, "loop", at[7]);
    laz_policy_paths_real(&paths, true);
    CU_ASSERT_EQUAL_FATAL(laz_policy_paths_sort(&paths, NULL), 0);
    const struct link_row rows[] = {
        {"/private", at[5], links[1][0], LAZ_PATH_SYMLINK},
        {"/private", at[4], links[0][0], LAZ_PATH_SYMLINK},
        {"/private", at[6], links[2][0], LAZ_PATH_SYMLINK},
        {"/private", at[7], "loop", LAZ_PATH_SYMLINK}, /* a loop is not followed for ever */
        {"", at[3], at[3], LAZ_PATH_READ},
    };
    links_are(&paths, rows, sizeof rows / sizeof rows[0]);
    for (size_t i = 8; i-- > 0;)
        CU_ASSERT_EQUAL(i < 4 ? rmdir(at[i]) : unlink(at[i]), 0);
}

static void a_path_the_session_cannot_reach_is_refused(void)
{
    char closed[128], inside[128];

    snprintf(closed, sizeof closed, "%s/closed", base);
    snprintf(inside, sizeof inside, "%s/closed/inside", base);
    CU_ASSERT_FATAL(mkdir(closed, 0700) == 0 && mkdir(inside, 0755) == 0);
    const char *const list[] = {inside, NULL};
    struct attempt attempt = {.can_enforce = OWN_FILES, .read = list, .uid = FOREIGN_UID};
    CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, inside));
    attempt = (struct attempt){.can_enforce = OWN_FILES, .read = list};
    (void)attempt_policy(&attempt); /* as the user */
    laz_policy_free(attempt.box);
    /* readable, but not writable */
    static const char *const usr[] = {"/usr/bin", NULL};
    attempt = (struct attempt){.can_enforce = OWN_FILES, .write = usr, .uid = FOREIGN_UID};
    CU_ASSERT_EQUAL(attempt_run(&attempt), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "sandbox.write: /usr/bin cannot be written"));
    /* for a runtime's paths this is ignored */
    attempt = (struct attempt){.can_enforce = OWN_FILES, .runtime_read = list, .uid = FOREIGN_UID};
    CU_ASSERT_PTR_NULL(path_of(attempt_policy(&attempt), inside, NULL));
    laz_policy_free(attempt.box);
    attempt = (struct attempt){.can_enforce = OWN_FILES, .runtime_read = list};
    const struct laz_path *path = path_of(attempt_policy(&attempt), inside, NULL);
    CU_ASSERT(path && path->optional);
    laz_policy_free(attempt.box);
    rmdir(inside);
    rmdir(closed);
}

static void files_out_of_reach_are_copied_once_and_anew_when_changed(void)
{
    char closed[128], file[160], directory[128];
    char *staged = NULL, *again = NULL, *changed = NULL;
    struct stat st;

    snprintf(closed, sizeof closed, "%s/build", base);
    snprintf(file, sizeof file, "%s/plug.so", closed);
    snprintf(directory, sizeof directory, "%s/engine", base);
    CU_ASSERT_FATAL(chmod(base, 0755) == 0 && mkdir(closed, 0700) == 0 &&
                    mkdir(directory, 0711) == 0);
    CU_ASSERT_FATAL(laz_os_write_file(file, "one", 3, 0644, NULL) == 0);
    CU_ASSERT_EQUAL(laz_stage_file(directory, file, LAZ_SPAWN_SAME_ID, false, &staged, NULL), 0);
    UNIT_TEXT(staged, file); /* readable */
    free(staged);
    CU_ASSERT_EQUAL_FATAL(laz_stage_file(directory, file, FOREIGN_UID, true, &staged, NULL), 0);
    CU_ASSERT_STRING_NOT_EQUAL(staged, file);
    UNIT_TEXT(strrchr(staged, '/'), "/plug.so");
    CU_ASSERT_TRUE(laz_os_is_reachable(staged, FOREIGN_UID, true));
    CU_ASSERT(stat(staged, &st) == 0 && (st.st_mode & 07777) == 0755);
    CU_ASSERT_EQUAL(laz_stage_file(directory, file, FOREIGN_UID, true, &again, NULL), 0);
    UNIT_TEXT(again, staged);
    unlink(file);
    CU_ASSERT_FATAL(laz_os_write_file(file, "other", 5, 0644, NULL) == 0);
    CU_ASSERT_EQUAL(laz_stage_file(directory, file, FOREIGN_UID, true, &changed, NULL), 0);
    CU_ASSERT_STRING_NOT_EQUAL(changed, staged);
    free(staged);
    free(again);
    free(changed);
    unlink(file);
    struct laz_error err = {0};
    CU_ASSERT_EQUAL(laz_stage_file(directory, file, FOREIGN_UID, true, &staged, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, file));
}

/* A copy in the /etc of the box stands for the host's file, but not where sessions write beside it.
 */
static void small_files_of_a_runtime_need_no_mount(void)
{
    static const char *const read[] = {"/etc/ld.so.conf", NULL}, *const write[] = {"/etc/skel",
                                                                                   NULL};
    static const struct {
        bool nests;
        const char *const *write;
        bool shown;
    } rows[] = {{false, NULL, false}, {true, NULL, true}, {false, write, true}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attempt attempt = {.can_enforce = OWN_FILES,
                                  .runtime_read = read,
                                  .write = rows[i].write,
                                  .nests = rows[i].nests,
                                  .chosen = true};
        const struct laz_path *path = path_of(attempt_policy(&attempt), read[0], NULL);
        CU_ASSERT_EQUAL(path != NULL, rows[i].shown);
        CU_ASSERT(path_of(&attempt.box->policy, "/etc", NULL) != NULL);
        laz_policy_free(attempt.box);
    }
}

static const struct unit_test tests[] = {
    UNIT(box_with_files_of_its_own_has_lazarets_places),
    UNIT(box_without_files_of_its_own_has_the_hosts),
    UNIT(environment_is_an_allowlist),
    UNIT(programs_are_told_that_there_is_no_terminal),
    UNIT(loader_and_interpreter_variables_are_refused),
    UNIT(paths_come_after_the_directories_they_lie_in),
    UNIT(the_way_through_a_writable_directory_is_held),
    UNIT(what_sessions_share_is_not_given),
    UNIT(a_directory_of_the_settings_is_shown_as_it_is),
    UNIT(paths_that_cannot_be_given_are_refused),
    UNIT(a_template_sees_nothing_that_sessions_write),
    UNIT(a_template_reads_nothing_that_sessions_write),
    UNIT(a_mac_is_told_real_paths),
    UNIT(links_are_followed_where_they_are),
    UNIT(each_link_of_a_chain_is_named),
    UNIT(a_path_the_session_cannot_reach_is_refused),
    UNIT(files_out_of_reach_are_copied_once_and_anew_when_changed),
    UNIT(small_files_of_a_runtime_need_no_mount),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    int rc = unit_run("policy", tests);
    laz_os_remove_tree(base);
    return rc;
}
