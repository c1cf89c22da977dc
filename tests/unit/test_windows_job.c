/* SPDX-License-Identifier: MIT */
/* test_windows_job.c - the backend for Windows as data: its plan, its policy, and the backends of
 * "auto" on each system. Nothing here needs Windows. */
#include "unit.h"

#include "backends.h"
#include "base/json.h"
#include "box/box.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "os/spawner.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT (LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU | LAZ_ENFORCE_NPROC)
#define HOME "C:\\Temp\\lazaret-1\\b0\\home"
#define NONE LAZ_UNLIMITED

static const struct laz_backend_ops *ops(void)
{
    const struct laz_plugin *plugin = backends_load("windows-job");

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    UNIT_TEXT(plugin->name, "windows-job");
    return plugin->ops;
}

static struct laz_strv strv_of(const char *const *items)
{
    struct laz_strv strv = LAZ_STRV_INIT;

    for (; items && *items; items++)
        laz_strv_add(&strv, *items);
    return strv;
}

/* The settings of a test and the result. */
struct attempt {
    const char *const *read, *const *write, *const *allow, *const *set, *const *runtime;
    struct laz_limit_values limits;
    bool nests;
    struct laz_policy_box *box;
    struct laz_error err;
};

static const struct laz_limit_values usual = {60, 512u << 20, 50u << 20, 50, 256, 60, NONE};

/* Makes the policy of a session on Windows; NULL: none. */
static struct laz_policy *policy_of(struct attempt *attempt)
{
    struct laz_settings_values values = {
        .sandbox = {.read = strv_of(attempt->read), .write = strv_of(attempt->write)},
        .env = {.allow = strv_of(attempt->allow), .set = strv_of(attempt->set)},
        .limits = attempt->limits,
    };
    struct laz_runtime_info runtime = {.env = strv_of(attempt->runtime)};
    static const char *const tail[] = {"--a", "b \"c\" d", "", NULL};
    const struct laz_policy_session session = {
        .socket_directory = "C:/Temp/lazaret-1/b0/socket",
        .socket = "stdin",
        .token = "the-token",
        .agent = "C:/Program Files/lazaret/lazaret-agent.exe",
        .runtime_file = "C:/Program Files/lazaret/r.dll",
        .command_tail = tail,
        .uid = LAZ_SPAWN_SAME_ID,
        .nests = attempt->nests,
    };

    attempt->box = NULL;
    attempt->err = (struct laz_error){0};
    laz_policy_new(&values, &runtime, &session, laz_backend_has_own_files(ops()), "windows", "{}",
                   2, &attempt->box, &attempt->err);
    laz_strv_fini(&values.sandbox.read);
    laz_strv_fini(&values.sandbox.write);
    laz_strv_fini(&values.env.allow);
    laz_strv_fini(&values.env.set);
    laz_strv_fini(&runtime.env);
    return attempt->box ? &attempt->box->policy : NULL;
}

static struct laz_plan *plan_of(struct attempt *attempt, uint32_t require)
{
    struct laz_policy *policy = policy_of(attempt);
    struct laz_plan *plan = NULL;

    UNIT_TEXT(attempt->err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(policy);
    laz_plan_make(ops(), "windows-job", policy, NULL, require, NULL, &plan, &attempt->err);
    laz_policy_free(attempt->box);
    attempt->box = NULL;
    return plan;
}

/* The value of a variable; checks that no name is repeated, ignoring case. */
static const char *value_of(const struct laz_strv *env, const char *name)
{
    const char *found = NULL;

    for (size_t i = 0; i < env->n; i++) {
        size_t len = strcspn(env->items[i], "=");
        if (len != strlen(name) || strncasecmp(env->items[i], name, len) != 0)
            continue;
        CU_ASSERT_PTR_NULL(found);
        found = env->items[i] + len + 1;
    }
    return found;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void sim_windows_job_starts_the_agent_in_a_job(void)
{
    static const char *const argv[] = {"C:\\Program Files\\lazaret\\lazaret-agent.exe", "--a",
                                       "b \"c\" d", ""};
    struct attempt attempt = {.limits = usual};
    struct laz_plan *plan = plan_of(&attempt, 0);
    struct laz_job_values values;

    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    CU_ASSERT_EQUAL_FATAL(plan->argv.n, 4); /* a list, which the spawner quotes */
    for (size_t i = 0; i < 4; i++)
        UNIT_TEXT(plan->argv.items[i], argv[i]);
    CU_ASSERT_EQUAL(plan->ends_by, LAZ_END_JOB);
    CU_ASSERT_EQUAL(plan->enforces, KEPT);
    CU_ASSERT_EQUAL(plan->agent.limits.n, 0);
    CU_ASSERT_EQUAL(plan->n_files + plan->n_data, 0);
    CU_ASSERT_EQUAL(plan->status_fd, -1);
    CU_ASSERT(plan->any_program);
    CU_ASSERT_FALSE(plan->filter.asked || plan->landlock.asked);
    laz_job_values_make(&plan->job, &values);
    CU_ASSERT_EQUAL(values.flags, 0x260c);
    CU_ASSERT_EQUAL(values.of[LAZ_JOB_MEMORY], 536870912);
    CU_ASSERT_EQUAL(values.of[LAZ_JOB_CPU], 600000000);
    CU_ASSERT_EQUAL(values.of[LAZ_JOB_NPROC], 50);
    laz_plan_free(plan);
}

/* Each limit alone: what it requests, what it declares, and what is missing without it. */
static void sim_windows_job_declares_only_the_limits_that_are_set(void)
{
    static const struct {
        struct laz_limit_values limits;
        uint32_t bit;
        enum laz_job_limit limit;
        uint64_t value;
        const char *unmet;
    } rows[] = {
        {{NONE, NONE, NONE, NONE, NONE, NONE, NONE}, 0, LAZ_JOB_LIMITS, 0, NULL},
        {{7, NONE, NONE, NONE, NONE, NONE, NONE}, 0, LAZ_JOB_LIMITS, 0, NULL}, /* an execution's */
        {{NONE, 9, NONE, NONE, NONE, NONE, NONE}, LAZ_ENFORCE_MEMORY, LAZ_JOB_MEMORY, 9, NULL},
        {{NONE, NONE, NONE, 3, NONE, NONE, NONE}, LAZ_ENFORCE_NPROC, LAZ_JOB_NPROC, 3, NULL},
        {{NONE, NONE, 1, NONE, NONE, NONE, NONE}, 0, LAZ_JOB_LIMITS, 0, "fsize"},
        {{NONE, NONE, NONE, NONE, 1, NONE, NONE}, 0, LAZ_JOB_LIMITS, 0, "nofile"},
        {{NONE, NONE, NONE, NONE, NONE, 7, NONE}, LAZ_ENFORCE_CPU, LAZ_JOB_CPU, 7, NULL},
        {{NONE, NONE, NONE, NONE, NONE, NONE, 1}, 0, LAZ_JOB_LIMITS, 0, "stack"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attempt attempt = {.limits = rows[i].limits};
        struct laz_plan *plan = plan_of(&attempt, rows[i].bit);
        CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
        CU_ASSERT_EQUAL(plan->enforces, rows[i].bit);
        for (size_t k = 0; k < LAZ_JOB_LIMITS; k++) {
            bool is_set = k == rows[i].limit;
            CU_ASSERT_EQUAL(plan->job.of[k], is_set ? rows[i].value : NONE);
            CU_ASSERT_EQUAL(plan->job_bits[k], is_set ? rows[i].bit : 0);
        }
        CU_ASSERT_EQUAL_FATAL(plan->n_unmet, rows[i].unmet ? 1 : 0);
        if (rows[i].unmet) {
            UNIT_TEXT(plan->unmet[0].name, rows[i].unmet);
            UNIT_TEXT(plan->unmet[0].why, "Windows job objects have no such limit");
        }
        laz_plan_free(plan);
    }
}

static void sim_windows_job_says_by_what_it_limits(void)
{
    struct attempt attempt = {.limits = usual};
    struct laz_plan *plan = plan_of(&attempt, 0);
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    laz_plan_isolation_json(plan, &text);
    UNIT_TEXT(laz_buf_text(&text),
              "{\"backend\":\"windows-job\",\"enforces\":[\"cpu\",\"memory\",\"nproc\"],"
              "\"mechanisms\":{\"cpu\":\"job object, user time only\",\"memory\":\"job object\","
              "\"nproc\":\"job object\"},\"programs\":\"any\"}");
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  fs_read    not limited\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  network    not limited\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  (any that can be seen)\n"));
    laz_buf_fini(&text);
    laz_plan_free(plan);
}

static void sim_windows_job_refuses_what_it_cannot_keep(void)
{
    static const struct {
        uint32_t require;
        const char *missing, *kept;
    } rows[] = {
        {LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK,
         ": fs_read, fs_write, network. ",
         "write sandbox.require = [] to go without: "
         "fs_read, fs_write, network"},
        {LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_MEMORY, ": network. ",
         "write sandbox.require = [\"memory\"] to go without: network"},
        {LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE | LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_PROCESSES |
             LAZ_ENFORCE_SIGNALS,
         ": processes, syscalls, fsize, nofile, signals. ", "write sandbox.require = []"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attempt attempt = {.limits = usual};
        CU_ASSERT_PTR_NULL(plan_of(&attempt, rows[i].require));
        CU_ASSERT_EQUAL(attempt.err.code, LAZ_EREFUSED);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, rows[i].missing));
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "in a container, or in WSL with bwrap"));
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, rows[i].kept));
    }
    struct attempt attempt = {.limits = usual};
    struct laz_plan *plan = plan_of(&attempt, KEPT);
    CU_ASSERT_PTR_NOT_NULL(plan);
    laz_plan_free(plan);
    attempt.nests = true;
    CU_ASSERT_PTR_NULL(plan_of(&attempt, 0));
    CU_ASSERT_EQUAL(attempt.err.code, LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, "no templates"));
    struct laz_policy policy = {.size = sizeof policy};
    CU_ASSERT_EQUAL(
        laz_plan_make(ops(), "windows-job", &policy, NULL, 0, NULL, &plan, &attempt.err),
        LAZ_ECONFIG);
}

/* Paths are those of Windows; the plan does not quote them, JSON escapes them. */
static void sim_windows_job_is_shown_as_json(void)
{
    struct attempt attempt = {.limits = usual};
    struct laz_plan *plan = plan_of(&attempt, 0);
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    laz_plan_json(plan, &text);
    CU_ASSERT_EQUAL(laz_json_scan(laz_buf_text(&text), text.len, NULL), 0);
    static const char *const parts[] = {
        "\"argv\":[\"C:\\\\Program Files\\\\lazaret\\\\lazaret-agent.exe\",\"--a\",",
        "\"b \\\"c\\\" d\",\"\"]",
        "\"job\":{\"memory\":536870912,\"cpu\":60,\"nproc\":50}",
        "\"not_limited\":{\"fsize\":\"Windows job objects have no such limit\",\"nofile\":",
        "\"confine\":{\"limits\":{}}",
        "\"programs\":\"any\"",
        "\"ends_by\":\"job\"}",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), parts[i]));
    laz_buf_fini(&text);
    laz_plan_free(plan);
}

/* ---- the policy ----------------------------------------------------------------------------- */

static void windows_environment_is_an_allowlist(void)
{
    static const char *const allow[] = {"LAZ_TEST_ALLOWED", NULL};
    static const char *const set[] = {"fixed=1", "Path=C:\\tools", "username=eve", NULL};
    static const char *const runtime[] = {"R_HOME=C:\\R", "R_LIBS_USER=", NULL};
    static const struct {
        const char *name, *value;
    } rows[] = {
        {"SystemRoot", "C:\\Windows"},
        {"SystemDrive", "C:"},
        {"windir", "C:\\Windows"},
        {"ComSpec", "C:\\Windows\\System32\\cmd.exe"},
        {"PATH", "C:\\tools"},
        {"PATHEXT", ".COM;.EXE;.BAT;.CMD"},
        {"LANG", "C.UTF-8"},
        {"USERNAME", "eve"},
        {"HOME", HOME},
        {"USERPROFILE", HOME},
        {"APPDATA", HOME},
        {"LOCALAPPDATA", HOME},
        {"TMPDIR", HOME},
        {"TMP", HOME},
        {"TEMP", HOME},
        {"TZ", "Europe/Vienna"},
        {"R_HOME", "C:\\R"},
        {"R_LIBS_USER", ""},
        {"LAZ_TEST_ALLOWED", "yes"},
        {"fixed", "1"},
        {"LAZARET_SOCKET", "stdin"},
        {"LAZARET_TOKEN", "the-token"},
    };
    struct attempt attempt = {.limits = usual, .allow = allow, .set = set, .runtime = runtime};

    setenv("LAZ_TEST_ALLOWED", "yes", 1);
    setenv("LAZ_TEST_SECRET", "secret", 1);
    setenv("SystemRoot", "/evil", 1); /* of the system that runs the test */
    setenv("R_LIBS_USER", "/evil", 1);
    setenv("TZ", "Europe/Vienna", 1);
    unsetenv("TERM");
    unsetenv("LC_MESSAGES");
    unsetenv("LC_COLLATE");
    unsetenv("LC_MONETARY");
    unsetenv("LC_TIME");
    struct laz_plan *plan = plan_of(&attempt, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    CU_ASSERT_EQUAL(plan->env.n, sizeof rows / sizeof *rows); /* and nothing else */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        UNIT_TEXT(value_of(&plan->env, rows[i].name), rows[i].value);
    laz_plan_free(plan);
}

/* Names on Windows are not case-sensitive. */
static void windows_variables_cannot_be_had_in_other_letters(void)
{
    static const struct {
        const char *allow, *set;
    } rows[] = {
        {"PythonPath", NULL},
        {"r_libs", NULL},
        {"Path", NULL},
        {"Temp", NULL},
        {"UserProfile", NULL},
        {"LocalAppData", NULL},
        {"HomePath", NULL},
        {"SYSTEMROOT", NULL},
        {"COMSPEC", NULL},
        {"Cor_Profiler", NULL},
        {"dotnet_startup_hooks", NULL},
        {"PSMODULEPATH", NULL},
        {NULL, "lazaret_token=x"},
        {NULL, "Tmp=x"},
        {NULL, "home=x"},
        {NULL, "appdata=x"},
        {NULL, "systemROOT=x"},
        {NULL, "WinDir=x"},
        {NULL, "__compat_layer=x"},
        {NULL, "coreclr_enable_profiling=1"},
        {NULL, "R_Home=x"}, /* a variable that the runtime declares */
    };
    static const char *const runtime[] = {"R_HOME=C:\\R", NULL};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const allow[] = {rows[i].allow, NULL}, *const set[] = {rows[i].set, NULL};
        struct attempt attempt = {.limits = usual, .allow = allow, .set = set, .runtime = runtime};
        CU_ASSERT_PTR_NULL(policy_of(&attempt));
        CU_ASSERT_EQUAL(attempt.err.code, LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(attempt.err.text, rows[i].allow ? "env.allow" : "env.set"));
        laz_policy_free(attempt.box);
    }
}

static const struct laz_path *path_of(const struct laz_policy *policy, const char *host)
{
    for (size_t i = 0; i < policy->n_paths; i++)
        if (strcmp(policy->paths[i].host, host) == 0)
            return &policy->paths[i];
    return NULL;
}

static void windows_paths_begin_with_a_drive(void)
{
    static const char *const read[] = {"D:\\data\\in\\", "E:/more/of it//", "F:\\", NULL};
    static const char *const write[] = {"d:\\out", NULL};
    static const struct {
        const char *path, *says;
    } wrong[] = {
        {"/srv/data", "not an absolute path of Windows"},
        {"data", "not an absolute path"},
        {"\\data", "not an absolute path"},
        {"C:", "not an absolute path"},
        {"C:data", "not an absolute path"},
        {"\\\\server\\share", "not an absolute path"},
        {"1:\\data", "not an absolute path"},
        {"D:\\a\\..", "write the full path"},
        {"D:\\a\\.\\b", "write the full path"},
        {"D:\\a\\\\b", "write the full path"},
        {"D:/../x", "write the full path"},
        {"D:\\a/./b", "write the full path"},
    };
    struct attempt attempt = {.limits = usual, .read = read, .write = write};
    const struct laz_policy *policy = policy_of(&attempt);

    UNIT_TEXT(attempt.err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(policy);
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "D:/data/in"));
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "E:/more/of it"));
    CU_ASSERT_PTR_NOT_NULL(path_of(policy, "F:/"));
    const struct laz_path *out = path_of(policy, "d:/out"),
                          *home = path_of(policy, "C:/Temp/lazaret-1/b0/home");
    CU_ASSERT(out && out->kind == LAZ_PATH_WRITE);
    CU_ASSERT(home && home->kind == LAZ_PATH_WRITE);
    UNIT_TEXT(policy->home, HOME);
    UNIT_TEXT(policy->host_command, "C:\\Program Files\\lazaret\\lazaret-agent.exe");
    laz_policy_free(attempt.box);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const list[] = {wrong[i].path, NULL};
        struct attempt refused = {.limits = usual, .read = list};
        CU_ASSERT_PTR_NULL(policy_of(&refused));
        CU_ASSERT_EQUAL(refused.err.code, LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(refused.err.text, "sandbox.read: "));
        CU_ASSERT_PTR_NOT_NULL(strstr(refused.err.text, wrong[i].says));
        laz_policy_free(refused.box);
    }
    /* nor may code write to files that run next or that sessions share */
    static const char *const own[] = {"C:\\Program Files", "C:\\", "C:\\Temp"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const char *const list[] = {own[i], NULL};
        struct attempt refused = {.limits = usual, .write = list};
        CU_ASSERT_PTR_NULL(policy_of(&refused));
        CU_ASSERT_EQUAL(refused.err.code, LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(refused.err.text, "cannot be given"));
        laz_policy_free(refused.box);
    }
}

/* ---- which backend -------------------------------------------------------------------------- */

static void auto_stands_for_the_backends_of_each_system(void)
{
    static const struct {
        const char *platform, *names;
    } rows[] = {
        {"linux", "bwrap landlock "},
        {"darwin", "seatbelt "},
        {"windows", "windows-job "},
        {"plan9", ""},
    };
    struct laz_strv wanted = LAZ_STRV_INIT;
    struct laz_registry *registry = NULL;
    char *plugins = unit_built(".libs");

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugins);
    setenv("LAZARET_PLUGIN_PATH", plugins, 1);
    free(plugins);
    CU_ASSERT_FATAL(laz_registry_new(NULL, NULL, &registry, NULL) == 0);
    laz_strv_add(&wanted, "auto");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_strv names = LAZ_STRV_INIT;
        struct laz_buf text = LAZ_BUF_INIT;
        laz_backend_candidates(registry, &wanted, rows[i].platform, &names);
        for (size_t k = 0; k < names.n; k++)
            laz_buf_printf(&text, "%s ", names.items[k]);
        UNIT_TEXT(laz_buf_text(&text), rows[i].names);
        laz_buf_fini(&text);
        laz_strv_fini(&names);
    }
    laz_strv_fini(&wanted);
    laz_registry_free(registry);
    CU_ASSERT(laz_backend_is_for(ops(), "windows"));
    CU_ASSERT_FALSE(laz_backend_is_for(ops(), "linux"));
    CU_ASSERT_FALSE(laz_backend_is_for(ops(), "darwin"));
}

static const struct unit_test tests[] = {
    UNIT(sim_windows_job_starts_the_agent_in_a_job),
    UNIT(sim_windows_job_declares_only_the_limits_that_are_set),
    UNIT(sim_windows_job_says_by_what_it_limits),
    UNIT(sim_windows_job_refuses_what_it_cannot_keep),
    UNIT(sim_windows_job_is_shown_as_json),
    UNIT(windows_environment_is_an_allowlist),
    UNIT(windows_variables_cannot_be_had_in_other_letters),
    UNIT(windows_paths_begin_with_a_drive),
    UNIT(auto_stands_for_the_backends_of_each_system),
    {0},
};

int main(void)
{
    return unit_run("windows-job", tests);
}
