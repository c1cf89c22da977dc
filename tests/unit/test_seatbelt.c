/* SPDX-License-Identifier: MIT */
/* test_seatbelt.c - what the backend for macOS plans: parameters, profile, promises, refusals.
 *
 * tests/model evaluates the meaning of the rules; these tests check their text. */
#include "unit.h"

#include "backends.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#define AGENT     "/opt/lazaret/lazaret-agent"
#define DIRECTORY "/private/tmp/lazaret-Ab1/b7"

static const struct laz_path paths[] = {
    {LAZ_PATH_READ, 0, "/usr/lib", "/usr/lib"},
    {LAZ_PATH_READ, 0, AGENT, AGENT},
    {LAZ_PATH_SYMLINK, 0, "/opt/py/3.12", "/opt/py/current"},
    {LAZ_PATH_READ, 1, "/opt/py/3.12", "/opt/py/3.12"},
    {LAZ_PATH_CONTENT, 0, "sandbox:x:1000:\n", "/private/etc/passwd"},
    {LAZ_PATH_WRITE, 0, DIRECTORY "/home", DIRECTORY "/home"},
    {LAZ_PATH_WRITE, 0, "/Users/Ada/out", "/Users/Ada/out"},
};
static const char *const env[] = {"PATH=/usr/bin", "LAZARET_SOCKET=" DIRECTORY "/socket/ipc.sock",
                                  "LAZARET_TOKEN=secret-token", NULL};
static const char *const command[] = {AGENT, "--probe", NULL};
static const char *const programs[] = {"/bin/sh", "/opt/py/3.12/bin", NULL};

static struct laz_policy policy_plain(void)
{
    return (struct laz_policy){
        .size = sizeof(struct laz_policy),
        .paths = paths,
        .n_paths = sizeof paths / sizeof paths[0],
        .env = env,
        .home = DIRECTORY "/home",
        .limits = {60, 512u << 20, 50u << 20, 50, 256, LAZ_UNLIMITED},
        .command = command,
        .host_command = AGENT,
        .options = "{}",
        .options_len = 2,
        .programs = programs,
    };
}

static const struct laz_backend_ops *seatbelt(void)
{
    const struct laz_plugin *plugin = backends_load("seatbelt");

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    UNIT_TEXT(plugin->name, "seatbelt");
    return plugin->ops;
}

static int plan_try(const struct laz_policy *policy, uint32_t require, struct laz_plan **plan,
                    struct laz_error *err)
{
    *plan = NULL;
    *err = (struct laz_error){0};
    return laz_plan_make(seatbelt(), "seatbelt", policy, NULL, require, "/tmp/f", plan, err);
}

static struct laz_plan *plan_of(const struct laz_policy *policy)
{
    struct laz_plan *plan;
    struct laz_error err;
    int rc = plan_try(policy, 0, &plan, &err);

    UNIT_TEXT(err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    return plan;
}

static const char *profile_of(const struct laz_plan *plan)
{
    CU_ASSERT_EQUAL_FATAL(plan->n_files, 1);
    return laz_buf_text(&plan->files[0].content);
}

static bool says(const struct laz_plan *plan, const char *text)
{
    return strstr(profile_of(plan), text) != NULL;
}

/* ---- argv ----------------------------------------------------------------------------------- */

static void sim_seatbelt_gives_paths_as_parameters(void)
{
    static const char *const argv[] = {
        AGENT,
        "--reap",
        "/usr/bin/sandbox-exec",
        "-D",
        "READ_0=/usr/lib",
        "-D",
        "LINK_0=/opt/py/current",
        "-D",
        "READ_1=/opt/py/3.12",
        "-D",
        "WRITE_0=" DIRECTORY "/home",
        "-D",
        "WRITE_1=/Users/Ada/out",
        "-D",
        "EXEC_0=" AGENT,
        "-D",
        "EXEC_1=/bin/sh",
        "-D",
        "EXEC_2=/opt/py/3.12/bin",
        "-D",
        "SOCKET_0=" DIRECTORY "/socket/ipc.sock",
        "-f",
        "/tmp/f/seatbelt.sb",
        AGENT,
        "--probe",
    };
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of(&policy);

    CU_ASSERT_EQUAL_FATAL(plan->argv.n, sizeof argv / sizeof argv[0]);
    for (size_t i = 0; i < plan->argv.n; i++)
        UNIT_TEXT(plan->argv.items[i], argv[i]);
    CU_ASSERT_EQUAL(plan->env.n, 3);
    CU_ASSERT_EQUAL(plan->n_data, 0);
    CU_ASSERT_EQUAL(plan->status_fd, -1);
    CU_ASSERT_EQUAL(plan->ends_by, LAZ_END_REAP);
    UNIT_TEXT(plan->files[0].path, "/tmp/f/seatbelt.sb");
    CU_ASSERT_FALSE(plan->landlock.asked || plan->filter.asked);
    /* a link can be followed, and its path gives no other right */
    CU_ASSERT(says(plan, "(literal (param \"LINK_0\"))") &&
              says(plan, "(path-ancestors (param \"LINK_0\"))"));
    CU_ASSERT_FALSE(says(plan, "(subpath (param \"LINK_0\"))"));
    laz_plan_free(plan);
}

/* Replaces plain bytes of a path by bytes that end strings, comments and rules. */
static void path_strange(char *path, size_t size, unsigned seed)
{
    static const char bytes[] = "\"\\()'; \n\t\r#|`=,$%-.:\x01\x7f\xc3\xa9\xff";

    path[0] = '/';
    path[1] = 'p';
    for (size_t i = 2; i < size - 2; i++) {
        seed = seed * 1103515245u + 12345u;
        path[i] = (seed >> 16) % 8 ? bytes[(seed >> 20) % (sizeof bytes - 1)] : '/';
    }
    path[size - 2] = 'x';
    path[size - 1] = '\0';
}

/* The text does not depend on the characters of a path; -D has the exact path. */
static void sim_seatbelt_text_is_the_same_whatever_the_paths_are(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plain = plan_of(&policy);

    for (unsigned round = 1; round <= 200; round++) {
        struct laz_path strange[sizeof paths / sizeof paths[0]];
        char text[3][40], word[80];
        const char *const others[] = {text[2], "/opt/py/3.12/bin", NULL};
        memcpy(strange, paths, sizeof strange);
        for (size_t i = 0; i < 3; i++)
            path_strange(text[i], sizeof text[i], round * 3 + (unsigned)i);
        strange[0].host = strange[0].box = text[0];
        strange[6].host = strange[6].box = text[1];
        policy.paths = strange;
        policy.programs = others;
        struct laz_plan *plan = plan_of(&policy);
        UNIT_TEXT(profile_of(plan), profile_of(plain));
        snprintf(word, sizeof word, "READ_0=%s", text[0]);
        CU_ASSERT_TRUE(laz_strv_has(&plan->argv, word));
        snprintf(word, sizeof word, "WRITE_1=%s", text[1]);
        CU_ASSERT_TRUE(laz_strv_has(&plan->argv, word));
        snprintf(word, sizeof word, "EXEC_1=%s", text[2]);
        CU_ASSERT_TRUE(laz_strv_has(&plan->argv, word));
        CU_ASSERT_EQUAL(plan->argv.n, plain->argv.n);
        laz_plan_free(plan);
    }
    laz_plan_free(plain);
}

static void sim_seatbelt_refuses_paths_that_no_file_has(void)
{
    static const char *const rows[] = {
        "relative", "",         "/a/",    "/tmp",
        "/tmp/x",   "/etc/ssl", "/var/x", "/System/Volumes/Data/Users/Ada"};
    static const char *const fine[] = {"/", "/tmpx", "/etcetera", "/private/tmp/x", "/x/tmp"};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan;
    struct laz_error err;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct laz_path one[] = {{LAZ_PATH_READ, 0, rows[i], rows[i]}};
        const char *const listed[] = {rows[i], NULL};
        policy = policy_plain();
        policy.paths = one;
        policy.n_paths = 1;
        CU_ASSERT_EQUAL(plan_try(&policy, 0, &plan, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "would never match"));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i]));
        policy = policy_plain();
        policy.programs = listed;
        CU_ASSERT_EQUAL(plan_try(&policy, 0, &plan, &err), LAZ_ECONFIG);
        policy = policy_plain();
        policy.host_command = rows[i];
        CU_ASSERT_EQUAL(plan_try(&policy, 0, &plan, &err), LAZ_ECONFIG);
    }
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        const struct laz_path one[] = {{LAZ_PATH_READ, 0, fine[i], fine[i]}};
        policy = policy_plain();
        policy.paths = one;
        policy.n_paths = 1;
        laz_plan_free(plan_of(&policy));
    }
}

/* ---- the text ------------------------------------------------------------------------------- */

/* A rule without a filter applies to everything: only these may lack one. */
static void sim_seatbelt_has_no_rule_for_everything(void)
{
    static const char *const bare[] = {"(version 1)", "(allow process-fork)"};
    static const char *const wide[] = {"mach*",   "iokit",         "sysctl*",  "network*",
                                       "system*", "process*",      "mach-reg", "(regex",
                                       "file*",   "(allow default"};
    static const char *const none[] = {NULL};
    struct laz_policy policy = policy_plain();

    for (int round = 0; round < 3; round++) {
        policy.programs = round == 0 ? programs : round == 1 ? none : NULL;
        policy.n_paths = round == 0 ? policy.n_paths : 0;
        policy.env = round == 0 ? env : none;
        struct laz_plan *plan = plan_of(&policy);
        for (const char *rule = strstr(profile_of(plan), "\n("); rule; rule = strstr(rule, "\n(")) {
            size_t len = strcspn(++rule, "\n");
            bool known = false;
            for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
                known |= strncmp(rule, bare[i], len) == 0;
            if (rule[len - 1] == ')' && !known && strncmp(rule, "(deny default", 13) != 0)
                UNIT_TEXT(rule, "a rule with a filter");
        }
        for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
            if (says(plan, wide[i]))
                UNIT_TEXT(profile_of(plan), wide[i]);
        laz_plan_free(plan);
    }
}

static void sim_seatbelt_begins_with_a_refusal_that_can_be_found(void)
{
    static const char *const rows[][2] = {
        {"/private/tmp/lazaret-Ab1/b7/home", "lazaret:lazaret-Ab1.b7"},
        {"/private/tmp/la\"z) (allow default/b\n7/home", "lazaret:la.z...allow.default.b.7"},
        {"/b0/home", "lazaret:b0"},
        {"/home", "lazaret:"},
    };
    char first[200];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_policy policy = policy_plain();
        policy.home = rows[i][0];
        struct laz_plan *plan = plan_of(&policy);
        snprintf(first, sizeof first, "(version 1)\n(deny default (with message \"%s\"))\n",
                 rows[i][1]);
        if (strncmp(profile_of(plan), first, strlen(first)) != 0)
            UNIT_TEXT(profile_of(plan), first);
        laz_plan_free(plan);
    }
}

/* An operation that an older system lacks would make the whole profile fail. */
static void sim_seatbelt_asks_for_words_that_came_later(void)
{
    static const char word[] = "file-test-existence", asked[] = "(if (defined? '";
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of(&policy);
    unsigned n = 0;

    for (const char *at = strstr(profile_of(plan), word); at; n++) {
        const char *line = at;
        while (line[-1] != '\n')
            line--;
        CU_ASSERT_EQUAL(strncmp(line, asked, strlen(asked)), 0);
        at = strstr(at + strcspn(at, "\n"), word);
    }
    CU_ASSERT_EQUAL(n, 3);
    laz_plan_free(plan);
}

/* Rules that deny again come after all that allow. */
static void sim_seatbelt_ends_with_what_is_taken_back(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of(&policy);
    const char *end = strstr(profile_of(plan), "(deny file-write-create");

    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    UNIT_TEXT(end, "(deny file-write-create file-write-unlink\n"
                   "  (literal (param \"WRITE_0\")) (literal (param \"WRITE_1\")))\n"
                   "(deny file-write-setugid file-write-acl\n"
                   "  (subpath (param \"WRITE_0\")) (subpath (param \"WRITE_1\")))\n");
    laz_plan_free(plan);
}

static void sim_seatbelt_starts_listed_programs_or_any(void)
{
    static const char *const none[] = {NULL};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of(&policy);

    CU_ASSERT(says(plan, "(allow process-exec*\n  (subpath (param \"EXEC_0\")) "
                         "(subpath (param \"EXEC_1\")) (subpath (param \"EXEC_2\")))\n"));
    laz_plan_free(plan);
    policy.programs = none;
    plan = plan_of(&policy);
    CU_ASSERT(says(plan, "(allow process-exec*\n  (subpath (param \"EXEC_0\")))\n"));
    laz_plan_free(plan);
    policy.programs = NULL;
    plan = plan_of(&policy);
    CU_ASSERT(
        says(plan, "(allow process-exec* file-map-executable\n  (subpath (param \"READ_0\"))"));
    CU_ASSERT_FALSE(says(plan, "(allow process-exec*\n"));
    laz_plan_free(plan);
}

static void sim_seatbelt_has_one_socket_or_none(void)
{
    static const char *const silent[] = {"PATH=/usr/bin", NULL};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of(&policy);

    CU_ASSERT(says(plan, "(allow network-outbound\n  (literal (param \"SOCKET_0\")))\n"));
    CU_ASSERT_FALSE(says(plan, "SOCKET_1"));
    laz_plan_free(plan);
    policy.env = silent;
    plan = plan_of(&policy);
    CU_ASSERT_FALSE(says(plan, "(allow network"));
    laz_plan_free(plan);
}

/* ---- promises ------------------------------------------------------------------------------- */

static bool sets_limit(const struct laz_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->agent.limits.n; i++)
        if (strcmp(plan->agent.limits.items[i].name, name) == 0)
            return true;
    return false;
}

static void sim_seatbelt_promises_what_macos_keeps(void)
{
    const uint32_t always = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK |
                            LAZ_ENFORCE_SIGNALS | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE |
                            LAZ_ENFORCE_TERMINALS;
    const struct laz_limit_values values = {.cpu_s = 60, .session_cpu_s = LAZ_UNLIMITED};
    const struct laz_plan_host watching = {.is_watched = true, .limits = &values};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan;
    struct laz_error err;
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(
        laz_plan_make(seatbelt(), "seatbelt", &policy, &watching, 0, NULL, &plan, &err), 0);
    CU_ASSERT_EQUAL(plan->enforces, always);
    CU_ASSERT_FALSE(sets_limit(plan, "memory")); /* macOS would accept it, but not enforce it */
    CU_ASSERT(sets_limit(plan, "cpu") && sets_limit(plan, "fsize") && sets_limit(plan, "nofile"));
    CU_ASSERT(sets_limit(plan, "nproc_beside") && !sets_limit(plan, "nproc"));
    laz_plan_text(plan, &text);
    static const char *const lines[] = {
        "  network    enforced (Seatbelt profile)\n",
        "  processes  weakly (neither read nor signalled, but found by number)\n",
        "  syscalls   not limited\n",
        "  cpu        weakly (watchdog)\n",
        "  memory     weakly (watchdog)\n",
        "  nproc      weakly (rlimit, beside all that the user runs)\n",
        "\n    -D READ_0=/usr/lib\n",
        "\n    (deny file-write-setugid file-write-acl\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(laz_buf_text(&text), lines[i]))
            UNIT_TEXT(laz_buf_text(&text), lines[i]);
    laz_buf_fini(&text);
    laz_plan_free(plan);
    policy.own_uid = 1;
    plan = plan_of(&policy);
    CU_ASSERT_EQUAL(plan->enforces, always | LAZ_ENFORCE_NPROC);
    laz_plan_free(plan);
    policy.own_uid = 0;
    CU_ASSERT_EQUAL(plan_try(&policy, LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_FS_READ, &plan, &err),
                    LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "asks for: memory"));
}

/* Sessions of a template are isolated by namespaces, which macOS does not have. */
static void sim_seatbelt_refuses_a_template(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan;
    struct laz_error err;

    policy.nests = 1;
    CU_ASSERT_EQUAL(plan_try(&policy, 0, &plan, &err), LAZ_EREFUSED);
    UNIT_TEXT(err.text, "backend seatbelt: it makes no namespaces, and so no templates");
    policy.nests = 0;
    policy.host_command = NULL;
    CU_ASSERT_EQUAL(plan_try(&policy, 0, &plan, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NULL(plan);
}

static void sim_seatbelt_is_for_macos_alone(void)
{
    const struct laz_backend_ops *ops = seatbelt();

    UNIT_TEXT(ops->platforms, "darwin");
    CU_ASSERT_FALSE(laz_backend_has_own_files(ops));
    CU_ASSERT_FALSE(ops->can_enforce & (LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU |
                                        LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_PROCESSES));
}

static void sim_seatbelt_explains_known_failures(void)
{
    static const struct {
        const char *output;
        int32_t status, signal;
        const char *word, *second;
    } rows[] = {
        {"sandbox-exec: sandbox_apply: Operation not permitted\n", 71, 0, "inside a sandbox",
         "(sandbox-exec: sandbox_apply: Operation not permitted)"},
        {"x\nlazaret-agent: /usr/bin/sandbox-exec: No such file or directory\ny", 125, 0,
         "has no /usr/bin/sandbox-exec", "No such file or directory)"},
        {"sandbox-exec: execvp() of '/opt/a' failed: Operation not permitted\n", 71, 0,
         "does not let the agent be started", "/opt/a"},
        {"sandbox-exec: <file>:7:9: unbound variable: path-ancestors\n", 65, 0,
         "rejects the profile", "unbound variable: path-ancestors)"},
        {"", 134, 0, "SIGABRT", "log show"},
        {"dyld: gone\n", -1, 6, "SIGABRT", "lazaret:"},
    };
    const struct laz_backend_ops *ops = seatbelt();
    struct laz_backend_failure failure = {.size = sizeof failure, .program = AGENT, .facts = ""};
    char text[768], tiny[8];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        failure.output = rows[i].output;
        failure.output_len = strlen(rows[i].output);
        failure.exit_status = rows[i].status;
        failure.signal = rows[i].signal;
        text[0] = '\0';
        CU_ASSERT_EQUAL(ops->explain(&failure, text, sizeof text), 0);
        if (!strstr(text, rows[i].word))
            UNIT_TEXT(text, rows[i].word);
        if (!strstr(text, rows[i].second))
            UNIT_TEXT(text, rows[i].second);
        if (strchr(text, '\n'))
            UNIT_TEXT(text, "one line");
        CU_ASSERT_EQUAL(ops->explain(&failure, tiny, sizeof tiny), 0);
        CU_ASSERT_EQUAL(strlen(tiny), 7);
    }
    failure.output = "Segmentation fault\n";
    failure.output_len = strlen(failure.output);
    failure.exit_status = 139;
    failure.signal = 0;
    CU_ASSERT_EQUAL(ops->explain(&failure, text, sizeof text), LAZ_ENOENT);
}

static const struct unit_test tests[] = {
    UNIT(sim_seatbelt_gives_paths_as_parameters),
    UNIT(sim_seatbelt_text_is_the_same_whatever_the_paths_are),
    UNIT(sim_seatbelt_refuses_paths_that_no_file_has),
    UNIT(sim_seatbelt_has_no_rule_for_everything),
    UNIT(sim_seatbelt_begins_with_a_refusal_that_can_be_found),
    UNIT(sim_seatbelt_ends_with_what_is_taken_back),
    UNIT(sim_seatbelt_asks_for_words_that_came_later),
    UNIT(sim_seatbelt_asks_for_words_that_came_later),
    UNIT(sim_seatbelt_starts_listed_programs_or_any),
    UNIT(sim_seatbelt_has_one_socket_or_none),
    UNIT(sim_seatbelt_promises_what_macos_keeps),
    UNIT(sim_seatbelt_refuses_a_template),
    UNIT(sim_seatbelt_is_for_macos_alone),
    UNIT(sim_seatbelt_explains_known_failures),
    {0},
};

int main(void)
{
    return unit_run("seatbelt", tests);
}
