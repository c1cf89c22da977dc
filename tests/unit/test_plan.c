/* SPDX-License-Identifier: MIT */
/* test_plan.c - plans as data: what backends make of a policy, what is refused, and their text. */
#include "unit.h"

#include "backends.h"
#include "base/json.h"
#include "os/landlock.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static const struct laz_path paths[] = {
    {LAZ_PATH_READ, 0, "/usr", "/usr"},
    {LAZ_PATH_SYMLINK, 0, "usr/bin", "/bin"},
    {LAZ_PATH_READ, 1, "/etc/alternatives", "/etc/alternatives"},
    {LAZ_PATH_CONTENT, 0, "sandbox:x:1000:1000::/tmp:/bin/sh\n", "/etc/passwd"},
    {LAZ_PATH_WRITE, 0, "/srv/data", "/srv/data"},
    {LAZ_PATH_WRITE, 1, "/srv/more", "/srv/more"},
};
static const char *const env[] = {"PATH=/usr/bin", "LAZARET_TOKEN=secret-token", "EMPTY=", "E=a=b",
                                  NULL};
static const char *const command[] = {"/run/lazaret/bin/lazaret-agent", "--probe", NULL};

static struct laz_policy policy_plain(void)
{
    return (struct laz_policy){
        .size = sizeof(struct laz_policy),
        .paths = paths,
        .n_paths = sizeof paths / sizeof paths[0],
        .env = env,
        .home = "/tmp",
        .tmp_size = 65536,
        .limits = {60, 512u << 20, 50u << 20, 50, 256, LAZ_UNLIMITED},
        .own_uid = 1,
        .box_uid = 1000,
        .command = command,
        .host_command = "/opt/lazaret-agent",
        .options = "{\"program\":\"bwrap\"}",
        .options_len = 19,
    };
}

static const struct laz_backend_ops *ops_of(const char *name)
{
    const struct laz_plugin *plugin = backends_load(name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    CU_ASSERT_STRING_EQUAL(plugin->name, name);
    CU_ASSERT_EQUAL(plugin->magic, LAZ_PLUGIN_MAGIC);
    return plugin->ops;
}

static int plan_fails(const char *name, const struct laz_policy *policy, uint32_t require,
                      struct laz_error *err)
{
    struct laz_plan *plan = NULL;
    int rc = laz_plan_make(ops_of(name), name, policy, NULL, require, NULL, &plan, err);

    CU_ASSERT_PTR_NULL(plan);
    return rc;
}

static struct laz_plan *plan_of(const char *name, const struct laz_policy *policy)
{
    struct laz_plan *plan = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_plan_make(ops_of(name), name, policy, NULL, 0, NULL, &plan, &err), 0);
    UNIT_TEXT(err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    return plan;
}

/* NUL-separated words, each on a line. */
static char *lines_of(const struct laz_buf *data)
{
    struct laz_buf lines = LAZ_BUF_INIT;

    for (size_t i = 0; i < data->len; i++)
        laz_buf_putc(&lines, data->data[i] ? data->data[i] : '\n');
    return laz_buf_steal(&lines);
}

static void sim_bwrap_reads_all_but_the_command_from_a_descriptor(void)
{
    static const char expected[] =
        "--unshare-all\n--unshare-user\n--disable-userns\n--cap-drop\nALL\n--die-with-parent\n"
        "--new-session\n--hostname\nlazaret\n--uid\n1000\n--gid\n1000\n--json-status-fd\n3\n"
        "--clearenv\n--setenv\nPATH\n/usr/bin\n--setenv\nLAZARET_TOKEN\nsecret-token\n--setenv\n"
        "EMPTY\n\n--setenv\nE\na=b\n--proc\n/proc\n--perms\n0444\n--ro-bind-data\n4\n/proc/stat\n"
        "--ro-bind\n/dev/null\n/proc/cmdline\n--ro-bind\n/dev/null\n/proc/interrupts\n--ro-bind\n"
        "/dev/null\n/proc/softirqs\n--tmpfs\n/proc/irq\n--remount-ro\n/proc/irq\n--remount-ro\n"
        "/proc\n--tmpfs\n/dev\n--dev-bind\n/dev/null\n/dev/null\n--dev-bind\n/dev/zero\n"
        "/dev/zero\n--dev-bind\n/dev/full\n/dev/full\n--dev-bind\n/dev/random\n/dev/random\n"
        "--dev-bind\n/dev/urandom\n/dev/urandom\n--symlink\n/proc/self/fd\n/dev/fd\n--symlink\n"
        "/proc/self/fd/0\n/dev/stdin\n--symlink\n/proc/self/fd/1\n/dev/stdout\n--symlink\n"
        "/proc/self/fd/2\n/dev/stderr\n--size\n16384\n--tmpfs\n/dev/shm\n--remount-ro\n/dev\n"
        "--size\n65536\n--perms\n0700\n--tmpfs\n/tmp\n--ro-bind\n/usr\n/usr\n--symlink\nusr/bin\n"
        "/bin\n--ro-bind-try\n/etc/alternatives\n/etc/alternatives\n--perms\n0444\n--file\n5\n"
        "/etc/passwd\n--bind\n/srv/data\n/srv/data\n--bind-try\n/srv/more\n/srv/more\n"
        "--remount-ro\n/\n--chdir\n/tmp\n";
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of("bwrap", &policy);
    static const char *const argv[] = {
        "bwrap", "--args", "6", "--", "/run/lazaret/bin/lazaret-agent", "--probe"};
    CU_ASSERT_EQUAL_FATAL(plan->argv.n, 6);
    for (size_t i = 0; i < 6; i++)
        UNIT_TEXT(plan->argv.items[i], argv[i]);
    CU_ASSERT_EQUAL(plan->env.n, 0);
    CU_ASSERT_EQUAL(plan->status_fd, 3);
    CU_ASSERT_EQUAL_FATAL(plan->n_data, 3);
    UNIT_TEXT(plan->data[0].what, "/proc/stat");
    CU_ASSERT_EQUAL(plan->data[1].child_fd, 5);
    UNIT_TEXT(laz_buf_text(&plan->data[1].content), paths[3].host);
    UNIT_TEXT(plan->data[2].what, "arguments");
    char *lines = lines_of(&plan->data[2].content);
    UNIT_TEXT(lines, expected);
    free(lines);
    CU_ASSERT_EQUAL(plan->ends_by, LAZ_END_KILL);
    laz_plan_free(plan);
}

static void sim_bwrap_takes_the_program_of_its_option(void)
{
    static const char *const options[] = {
        "{\"other\":[1,{\"program\":\"no\"}],\"program\":\"/opt/bw rap\"}", "{}"};
    static const char *const expected[] = {"/opt/bw rap", "bwrap"};

    for (size_t i = 0; i < 2; i++) {
        struct laz_policy policy = policy_plain();
        policy.options = options[i];
        policy.options_len = strlen(options[i]);
        struct laz_plan *plan = plan_of("bwrap", &policy);
        UNIT_TEXT(plan->argv.items[0], expected[i]);
        laz_plan_free(plan);
    }
}

static void sim_bwrap_declares_only_the_limits_that_are_set(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of("bwrap", &policy);
    uint32_t isolation = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK |
                         LAZ_ENFORCE_PROCESSES | LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_SIGNALS |
                         LAZ_ENFORCE_TERMINALS;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(plan->enforces,
                    isolation | LAZ_ENFORCE_NPROC | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE);
    laz_plan_free(plan);
    policy.limits = (struct laz_limits){LAZ_UNLIMITED, LAZ_UNLIMITED, LAZ_UNLIMITED,
                                        LAZ_UNLIMITED, LAZ_UNLIMITED, LAZ_UNLIMITED};
    plan = plan_of("bwrap", &policy);
    CU_ASSERT_EQUAL(plan->enforces, isolation);
    CU_ASSERT_EQUAL(plan->agent.limits.n, 0);
    laz_plan_free(plan);
    uint32_t require = LAZ_ENFORCE_NPROC | LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_FS_READ;
    CU_ASSERT_EQUAL(plan_fails("bwrap", &policy, require, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "memory, nproc"));
    CU_ASSERT_PTR_NULL(strstr(err.text, "fs_read"));
}

static void sim_bwrap_refuses_what_it_cannot_serve(void)
{
    static const char *const bad_env[] = {"=x", NULL};
    static const struct laz_path bad_path[] = {{77, 0, "/a", "/a"}};
    struct laz_policy policy = policy_plain();
    struct laz_error err = {0};

    policy.env = bad_env;
    CU_ASSERT_EQUAL(plan_fails("bwrap", &policy, 0, &err), LAZ_ECONFIG);
    policy = policy_plain();
    policy.paths = bad_path;
    policy.n_paths = 1;
    CU_ASSERT_EQUAL(plan_fails("bwrap", &policy, 0, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "77"));
}

static int explain(const char *output, const char *facts, char *text, size_t text_size)
{
    const struct laz_backend_failure failure = {
        .size = sizeof failure,
        .program = "/usr/bin/bwrap",
        .output = output,
        .output_len = strlen(output),
        .facts = facts,
        .exit_status = 1,
    };

    return ops_of("bwrap")->explain(&failure, text, text_size);
}

#define ENOSPC_WORDS                                                                               \
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "      \
    "exceeded (ENOSPC)\n"
#define EPERM_WORDS                                                                                \
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow "     \
    "non-privileged user namespaces.\n"
#define APPARMOR "kernel.apparmor_restrict_unprivileged_userns"

static void sim_bwrap_explains_known_failures(void)
{
    static const struct {
        const char *output, *facts, *word, *second;
    } rows[] = {
        {"bwrap: setting up uid map: Permission denied\n", "", "AppArmor", APPARMOR "=0"},
        {"bwrap: setting up uid map: Permission denied\n", APPARMOR "=1\n",
         "deployment.md, \"Where AppArmor restricts user namespaces\"", APPARMOR " is 1"},
        {"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n", "", "AppArmor", ""},
        {"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n",
         "container=docker\n" APPARMOR "=1\n", APPARMOR " is 1", "RTM_NEWADDR"},
        {"bwrap: loopback: Failed RTM_NEWLINK: Operation not permitted\n", "", "AppArmor", ""},
        {EPERM_WORDS, "", "userns_clone", "Docker"},
        {EPERM_WORDS, "kernel.unprivileged_userns_clone=0\n", "userns_clone is 0", ""},
        {EPERM_WORDS, "user.max_user_namespaces=0\nseccomp=0\n", "max_user_namespaces is 0", ""},
        {EPERM_WORDS, "user.max_user_namespaces=96365\ncontainer=docker\nseccomp=2\n",
         "the container", "seccomp=unconfined"},
        {EPERM_WORDS, "seccomp=2\n", "RestrictNamespaces=", ""},
        {EPERM_WORDS, "userns=nested\n", "another sandbox", ""},
        {ENOSPC_WORDS, "", "max_user_namespaces", ""},
        {ENOSPC_WORDS, "user.max_user_namespaces=0\nuserns=nested\n", "max_user_namespaces is 0",
         "sysctl -w"},
        {ENOSPC_WORDS, "user.max_user_namespaces=2147483647\nuserns=nested\n", "another sandbox",
         ""},
        {"bwrap: unshare user ns: No space left on device\n", "userns=nested\n", "another sandbox",
         ""},
        {"bwrap: setting up uid map: Read-only file system\n", "", "another sandbox", ""},
        {"bwrap: Creating new namespace failed: Operation not permitted\n", "", "container", ""},
        {"bwrap: Creating new namespace failed: Resource temporarily unavailable", "", "processes",
         ""},
        {"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n", "", "Docker", ""},
        {"bwrap: Unknown option --disable-userns\n", "", "0.8.0", "--disable-userns"},
        {"bwrap: Unknown option --json-status-fd\n", "", "0.8.0", ""},
        {"bwrap: The --size option is not permitted in setuid mode\n", "", "set-user-ID", ""},
        {"bwrap: Can't find source path /srv/x: Permission denied\n", "", "/srv/x", ""},
        {"bwrap: execvp /x: No such file or directory\n", "", "agent", ""},
        {"bwrap: setting up uid map: Invalid argument\n", "", "sandbox.uids", ""},
        {"warning\nmay the force be with you\n", "", "/usr/bin/bwrap does not work as bubblewrap",
         "status 1 and said: warning"},
        {"", "", "does not work as bubblewrap", "said nothing"},
    };
    char text[600], tiny[8];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text[0] = '\0';
        CU_ASSERT_EQUAL(explain(rows[i].output, rows[i].facts, text, sizeof text), 0);
        if (!strstr(text, rows[i].word))
            UNIT_TEXT(text, rows[i].word);
        if (!strstr(text, rows[i].second))
            UNIT_TEXT(text, rows[i].second);
        if (strchr(text, '\n'))
            UNIT_TEXT(text, "one line");
    }
    CU_ASSERT_EQUAL(explain(rows[0].output, "", tiny, sizeof tiny), 0);
    CU_ASSERT_EQUAL(strlen(tiny), 7);
    CU_ASSERT_EQUAL(explain("", "", tiny, sizeof tiny), 0);
    CU_ASSERT_EQUAL(strlen(tiny), 7);
}

static void sim_bwrap_is_not_blamed_for_what_runs_inside(void)
{
    struct laz_backend_failure failure = {
        .size = sizeof failure,
        .program = "/usr/bin/bwrap",
        .output = "Segmentation fault\n",
        .output_len = 19,
        .exit_status = 139,
        .started = 1,
    };
    const struct laz_backend_ops *ops = ops_of("bwrap");
    char text[600] = "";

    CU_ASSERT_EQUAL(ops->explain(&failure, text, sizeof text), LAZ_ENOENT);
    failure.started = 0;
    failure.timed_out = 1;
    CU_ASSERT_EQUAL(ops->explain(&failure, text, sizeof text), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "in time"));
    failure.timed_out = 0;
    failure.signal = 11;
    CU_ASSERT_EQUAL(ops->explain(&failure, text, sizeof text), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "signal 11"));
}

/* ---- landlock ------------------------------------------------------------------------------- */

static bool plan_allows(const struct laz_plan *plan, const char *path, uint32_t rights)
{
    uint32_t allowed = 0;

    const struct laz_field_list *list = &plan->agent.landlock.rules;
    const struct laz_wire_rule *rules = list->items;

    for (size_t i = 0; i < list->n; i++)
        if (strcmp(rules[i].path, path) == 0)
            allowed |= laz_landlock_rights(rules[i].rights);
    return allowed == rights;
}

static void sim_landlock_declares_what_its_version_holds(void)
{
    const uint32_t always = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_SYSCALLS |
                            LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE | LAZ_ENFORCE_TERMINALS;
    static const struct {
        uint32_t abi, own_uid, besides;
        const char *filter;
    } rows[] = {
        {1, 0, 0, "same-user"},
        {2, 1, LAZ_ENFORCE_SIGNALS | LAZ_ENFORCE_NPROC, "session"},
        {3, 0, LAZ_ENFORCE_FS_WRITE, "same-user"},
        {5, 0, LAZ_ENFORCE_FS_WRITE, "same-user"},
        {6, 0, LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_SIGNALS, "same-user"},
        {7, 0, LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_SIGNALS, "same-user"},
        {7, 1, LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_SIGNALS | LAZ_ENFORCE_NPROC, "session"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_policy policy = policy_plain();
        policy.landlock_abi = rows[i].abi;
        policy.own_uid = rows[i].own_uid;
        struct laz_plan *plan = plan_of("landlock", &policy);
        CU_ASSERT_EQUAL(plan->enforces, always | rows[i].besides);
        UNIT_TEXT(plan->agent.filter, rows[i].filter);
        CU_ASSERT_EQUAL(plan->agent.landlock.abi, rows[i].abi);
        CU_ASSERT_EQUAL(plan->ends_by, LAZ_END_REAP);
        /* Without one of the steps its bits are missing. */
        CU_ASSERT(plan->landlock.asked && plan->filter.asked);
        CU_ASSERT(plan->landlock.bits & LAZ_ENFORCE_FS_READ);
        CU_ASSERT(plan->filter.bits & LAZ_ENFORCE_NETWORK);
        CU_ASSERT_EQUAL(!(plan->filter.bits & LAZ_ENFORCE_FS_WRITE),
                        !(rows[i].besides & LAZ_ENFORCE_FS_WRITE) || rows[i].own_uid);
        laz_plan_free(plan);
    }
}

static void sim_landlock_allows_what_the_policy_lists(void)
{
    struct laz_policy policy = policy_plain();

    policy.landlock_abi = 7;
    struct laz_plan *plan = plan_of("landlock", &policy);
    CU_ASSERT(plan_allows(plan, "/usr", LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE));
    CU_ASSERT(plan_allows(plan, "/srv/data", LAZ_RIGHT_READ | LAZ_RIGHT_WRITE | LAZ_RIGHT_EXECUTE));
    CU_ASSERT(plan_allows(plan, "/dev/null", LAZ_RIGHT_DEVICE));
    CU_ASSERT(plan_allows(plan, "/proc/self/status", LAZ_RIGHT_READ));
    /* Neither targets of links and contents, nor directories that reveal other processes. */
    static const char *const closed[] = {
        "/",        "/bin", "/etc/passwd", "/proc", "/proc/self", "/dev", "/dev/shm",
        "/dev/tty", "/sys", "/etc",        "/home", "/proc/sys",  "/run", "/dev/pts"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        CU_ASSERT(plan_allows(plan, closed[i], 0));
    CU_ASSERT_EQUAL(plan->n_data, 0);
    UNIT_TEXT(plan->argv.items[0], "/opt/lazaret-agent");
    UNIT_TEXT(plan->argv.items[1], "--reap");
    UNIT_TEXT(plan->argv.items[2], "/opt/lazaret-agent");
    UNIT_TEXT(plan->argv.items[3], "--probe");
    laz_plan_free(plan);
}

static void sim_landlock_refuses_a_kernel_without_it(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(plan_fails("landlock", &policy, 0, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "this kernel has no Landlock"));
    policy.landlock_abi = 7;
    policy.host_command = NULL;
    CU_ASSERT_EQUAL(plan_fails("landlock", &policy, 0, &err), LAZ_ECONFIG);
}

static void sim_bwrap_closes_its_files_a_second_time(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of("bwrap", &policy);

    CU_ASSERT_FALSE(plan->landlock.asked); /* the kernel has no Landlock */
    laz_plan_free(plan);
    policy.landlock_abi = 3;
    plan = plan_of("bwrap", &policy);
    CU_ASSERT(plan->landlock.asked && plan->agent.landlock.abi == 3);
    CU_ASSERT(plan_allows(plan, "/", LAZ_RIGHT_LIST));
    CU_ASSERT(plan_allows(plan, "/usr", LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE));
    CU_ASSERT(plan_allows(plan, "/etc/passwd", LAZ_RIGHT_READ));
    CU_ASSERT(plan_allows(plan, "/proc", LAZ_RIGHT_READ));
    CU_ASSERT(plan_allows(plan, "/tmp", LAZ_RIGHT_READ | LAZ_RIGHT_WRITE | LAZ_RIGHT_EXECUTE));
    CU_ASSERT(plan_allows(plan, "/dev/shm", LAZ_RIGHT_READ | LAZ_RIGHT_WRITE));
    CU_ASSERT(plan_allows(plan, "/dev", LAZ_RIGHT_READ | LAZ_RIGHT_DEVICE));
    laz_plan_free(plan);
}

static void sim_none_runs_the_reaper_and_enforces_nothing(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = plan_of("none", &policy);
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(plan->argv.n, 4);
    UNIT_TEXT(plan->argv.items[0], "/opt/lazaret-agent");
    UNIT_TEXT(plan->argv.items[1], "--reap");
    UNIT_TEXT(plan->argv.items[2], "/opt/lazaret-agent");
    UNIT_TEXT(plan->argv.items[3], "--probe");
    CU_ASSERT_EQUAL(plan->env.n, 4);
    CU_ASSERT_EQUAL(plan->enforces, 0);
    CU_ASSERT_EQUAL(plan->ends_by, LAZ_END_REAP);
    CU_ASSERT_EQUAL(plan->agent.limits.n, 5);
    laz_plan_free(plan);
    policy.own_uid = 0; /* a limit on processes would count all of the user's */
    plan = plan_of("none", &policy);
    CU_ASSERT_EQUAL(plan->agent.limits.n, 5);
    for (size_t i = 0; i < plan->agent.limits.n; i++)
        CU_ASSERT_STRING_NOT_EQUAL(plan->agent.limits.items[i].name, "nproc");
    laz_plan_free(plan);
    uint32_t require = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_FSIZE;
    CU_ASSERT_EQUAL(plan_fails("none", &policy, require, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "fs_read, network, fsize"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "none"));
    policy.host_command = NULL;
    CU_ASSERT_EQUAL(plan_fails("none", &policy, 0, &err), LAZ_ECONFIG);
}

static void sim_none_confines_only_when_it_is_told_to(void)
{
    static const struct {
        const char *options, *filter;
        uint32_t own_uid;
    } rows[] = {
        {"{}", "", 0},
        {"{\"confine\":false}", "", 7},
        {"{\"x\":{\"confine\":true}}", "", 7},
        {"{\"confine\":true}", "same-user", 0},
        {"{\"x\":[1],\"confine\":true}", "session", 7},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_policy policy = policy_plain();
        policy.options = rows[i].options;
        policy.options_len = strlen(rows[i].options);
        policy.own_uid = rows[i].own_uid;
        struct laz_plan *plan = plan_of("none", &policy);
        UNIT_TEXT(plan->agent.filter ? plan->agent.filter : "", rows[i].filter);
        CU_ASSERT_EQUAL(plan->filter.asked, *rows[i].filter != '\0');
        CU_ASSERT_EQUAL(plan->enforces, *rows[i].filter ? LAZ_ENFORCE_SYSCALLS : 0);
        laz_plan_free(plan);
    }
}

/* ---- a backend that breaks its contract ----------------------------------------------------- */

static int greedy_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                       struct laz_plan *plan, struct laz_error *err)
{
    (void)policy;
    (void)err;
    api->arg(plan, "/bin/true");
    api->enforces(plan, LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_CPU, "magic");
    return 0;
}

static int failing_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan, struct laz_error *err)
{
    (void)api;
    (void)policy;
    (void)plan;
    memset(err->text, 'x', sizeof err->text); /* not even terminated */
    return LAZ_ECONFIG;
}

static int silent_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                       struct laz_plan *plan, struct laz_error *err)
{
    (void)api, (void)policy, (void)plan, (void)err;
    return LAZ_EINVAL;
}

static int empty_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                      struct laz_plan *plan, struct laz_error *err)
{
    (void)api;
    (void)policy;
    (void)plan;
    (void)err;
    return 0;
}

static int escaping_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                         struct laz_plan *plan, struct laz_error *err)
{
    (void)policy;
    (void)err;
    api->arg(plan, "/bin/true");
    CU_ASSERT_PTR_NULL(api->file(plan, "../escape", "x", 1));
    return 0;
}

static void plan_refuses_a_backend_that_breaks_its_contract(void)
{
    static const struct {
        int (*plan)(const struct laz_plan_api *, const struct laz_policy *, struct laz_plan *,
                    struct laz_error *);
        int rc;
        const char *word;
    } rows[] = {
        {greedy_plan, LAZ_EPLUGIN, "cpu"},
        {failing_plan, LAZ_ECONFIG, "backend mock: xxx"},
        {silent_plan, LAZ_EINVAL, "the backend mock failed in plan without saying why"},
        {empty_plan, LAZ_EPLUGIN, "no program"},
        {escaping_plan, LAZ_ENOMEM, ""},
    };
    struct laz_policy policy = policy_plain();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_backend_ops ops = {
            .size = sizeof ops, .can_enforce = LAZ_ENFORCE_FS_READ, .plan = rows[i].plan};
        struct laz_plan *plan = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_plan_make(&ops, "mock", &policy, NULL, 0, NULL, &plan, &err),
                        rows[i].rc);
        CU_ASSERT_PTR_NULL(plan);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].word));
    }
    laz_plan_free(NULL);
}

static int filing_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                       struct laz_plan *plan, struct laz_error *err)
{
    (void)policy;
    (void)err;
    api->arg(plan, "tool");
    api->arg(plan, api->file(plan, "profile", "(deny default)\n(it's \"quoted\")\n", 31));
    api->env(plan, "A=1");
    api->agent_limit(plan, "cpu", 7);
    api->agent_limit(plan, "stack", LAZ_UNLIMITED);
    api->enforces(plan, LAZ_ENFORCE_FS_READ, "profile");
    api->weakly(plan, LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_CPU, "rlimit");
    return 0;
}

static int confining_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                          struct laz_plan *plan, struct laz_error *err)
{
    (void)policy;
    (void)err;
    api->arg(plan, "tool");
    api->agent_filter(plan, "session", LAZ_ENFORCE_SYSCALLS);
    api->agent_landlock(plan, 6, LAZ_ENFORCE_FS_WRITE);
    api->agent_path(plan, "/usr", LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE, 0);
    api->agent_path(plan, "/tmp/a b", LAZ_RIGHT_READ | LAZ_RIGHT_WRITE, 1);
    api->enforces(plan, LAZ_ENFORCE_SYSCALLS, "seccomp");
    api->enforces(plan, LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_FS_READ, "landlock");
    return 0;
}

static struct laz_plan *confining_plan_of(uint32_t require)
{
    struct laz_backend_ops ops = {.size = sizeof ops,
                                  .can_enforce = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE |
                                                 LAZ_ENFORCE_SYSCALLS,
                                  .plan = confining_plan};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_plan_make(&ops, "mock", &policy, NULL, require, NULL, &plan, NULL),
                          0);
    return plan;
}

static void plan_shows_the_confinement_of_the_agent(void)
{
    struct laz_plan *plan = confining_plan_of(LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_FS_READ);
    struct laz_buf text = LAZ_BUF_INIT;

    laz_plan_confine_json(plan, &text);
    UNIT_TEXT(laz_buf_text(&text),
              "{\"limits\":{},\"filter\":\"session\",\"landlock\":{\"abi\":6,\"rules\":["
              "{\"rights\":\"rx\",\"path\":\"/usr\",\"optional\":false},"
              "{\"rights\":\"rw\",\"path\":\"/tmp/a b\",\"optional\":true}]},"
              "\"required\":[\"filter\"]}");
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  landlock   rx /usr\n"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(laz_buf_text(&text), "  landlock   rw '/tmp/a b' (if it exists)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  filter     system calls: session\n"));
    laz_buf_fini(&text);
    laz_plan_free(plan);
}

static void plan_says_no_more_than_the_agent_applied(void)
{
    static const struct {
        uint32_t require;
        const char *confined[4];
        uint32_t lost;
        int rc;
        const char *word;
    } rows[] = {
        {0, {"filter", "landlock"}, 0, 0, ""},
        {0, {"limits", "filter"}, LAZ_ENFORCE_FS_WRITE, 0, ""},
        {LAZ_ENFORCE_FS_READ, {NULL}, LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_FS_WRITE, 0, ""},
        {LAZ_ENFORCE_SYSCALLS, {"landlock"}, LAZ_ENFORCE_SYSCALLS, LAZ_ESETUP, "syscalls"},
        {LAZ_ENFORCE_SYSCALLS, {"filters", "landlock"}, LAZ_ENFORCE_SYSCALLS, LAZ_ESETUP, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_plan *plan = confining_plan_of(rows[i].require);
        struct laz_strv confined = LAZ_STRV_INIT;
        struct laz_buf isolation = LAZ_BUF_INIT;
        struct laz_error err = {0};
        uint32_t lost, before = plan->enforces;
        for (size_t k = 0; rows[i].confined[k]; k++)
            laz_strv_add(&confined, rows[i].confined[k]);
        CU_ASSERT_EQUAL(laz_plan_confined(plan, &confined, &lost, &err), rows[i].rc);
        CU_ASSERT_EQUAL(lost, rows[i].lost);
        CU_ASSERT_EQUAL(plan->enforces, before & ~rows[i].lost);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].word));
        laz_plan_isolation_json(plan, &isolation);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&isolation), "seccomp") != NULL,
                        !(rows[i].lost & LAZ_ENFORCE_SYSCALLS));
        laz_buf_fini(&isolation);
        laz_strv_fini(&confined);
        laz_plan_free(plan);
    }
}

static int writing_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan, struct laz_error *err)
{
    (void)policy;
    (void)err;
    api->arg(plan, "tool");
    api->weakly(plan, LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU, "rlimit, each process");
    return 0;
}

static int reading_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan, struct laz_error *err)
{
    api->enforces(plan, LAZ_ENFORCE_FS_WRITE, "mounts");
    api->enforces(plan, LAZ_ENFORCE_NPROC, "rlimit");
    return writing_plan(api, policy, plan, err);
}

/* A control group makes a promise if the session cannot write to it; the watchdog never does. */
static void plan_says_what_the_host_holds(void)
{
    static const uint32_t all = LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU | LAZ_ENFORCE_NPROC;
    static const struct {
        bool is_read_only;
        struct laz_plan_host host;
        uint32_t enforces;
        const char *mechanisms;
    } rows[] = {
        {true,
         {"cgroup-v1", "cgroup-v1", "cgroup-v2", true, false, NULL, NULL, NULL},
         all,
         "\"cpu\":\"cgroup-v2\",\"memory\":\"cgroup-v1\",\"nproc\":\"rlimit\""},
        {false,
         {"cgroup-v2", "cgroup-v2", "cgroup-v2", true, true, NULL, NULL, NULL},
         all,
         "\"cpu\":\"cgroup-v2\",\"memory\":\"cgroup-v2\",\"nproc\":\"cgroup-v2\""},
        {false,
         {"cgroup-v2", "cgroup-v2", "cgroup-v2", true, false, NULL, NULL, NULL},
         0,
         "\"cpu\":\"cgroup-v2\",\"memory\":\"cgroup-v2\",\"nproc\":\"cgroup-v2\""},
        {true,
         {NULL, NULL, "cgroup-v2", true, true, NULL, NULL, NULL},
         LAZ_ENFORCE_CPU | LAZ_ENFORCE_NPROC,
         "\"cpu\":\"cgroup-v2\",\"memory\":\"watchdog\",\"nproc\":\"rlimit\""},
        {true,
         {NULL, NULL, NULL, true, true, NULL, "one", NULL},
         LAZ_ENFORCE_NPROC,
         "\"cpu\":\"watchdog, not one\",\"memory\":\"watchdog\",\"nproc\":\"rlimit\""},
        {false,
         {NULL, NULL, NULL, false, true, NULL, NULL, NULL},
         0,
         "\"cpu\":\"rlimit, each process\",\"memory\":\"rlimit, each process\""},
    };
    struct laz_limit_values values = {.session_cpu_s = LAZ_UNLIMITED};
    struct laz_policy policy = policy_plain();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_backend_ops ops = {.size = sizeof ops,
                                      .can_enforce = LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NPROC,
                                      .plan = rows[i].is_read_only ? reading_plan : writing_plan};
        struct laz_plan_host host = rows[i].host;
        struct laz_plan *plan = NULL;
        struct laz_buf text = LAZ_BUF_INIT;
        struct laz_error err = {0};
        host.limits = &values;
        int rc = laz_plan_make(&ops, "mock", &policy, &host, 0, NULL, &plan, &err);
        CU_ASSERT_EQUAL_FATAL(rc, 0);
        CU_ASSERT_EQUAL(plan->enforces & all, rows[i].enforces);
        laz_plan_isolation_json(plan, &text);
        if (!strstr(laz_buf_text(&text), rows[i].mechanisms))
            printf("\n    row %zu: %s", i, laz_buf_text(&text));
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), rows[i].mechanisms));
        laz_buf_fini(&text);
        laz_plan_free(plan);
        plan = NULL;
        rc = laz_plan_make(&ops, "mock", &policy, &host, LAZ_ENFORCE_MEMORY, NULL, &plan, &err);
        bool is_held = (rows[i].enforces & LAZ_ENFORCE_MEMORY) != 0;
        CU_ASSERT_EQUAL(rc, is_held ? 0 : LAZ_EREFUSED);
        if (!is_held)
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "control group"));
        laz_plan_free(plan);
    }
}

static void plan_is_shown_as_json_and_text(void)
{
    struct laz_backend_ops ops = {
        .size = sizeof ops, .can_enforce = LAZ_ENFORCE_FS_READ, .plan = filing_plan};
    struct laz_policy policy = policy_plain();
    struct laz_plan *plan = NULL;
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(laz_plan_make(&ops, "mock", &policy, NULL, 0, "/tmp/f", &plan, NULL), 0);
    UNIT_TEXT(plan->argv.items[1], "/tmp/f/profile");
    laz_plan_confine_json(plan, &text);
    UNIT_TEXT(laz_buf_text(&text), "{\"limits\":{\"cpu\":7}}");
    laz_buf_clear(&text);
    laz_plan_isolation_json(plan, &text);
    UNIT_TEXT(laz_buf_text(&text),
              "{\"backend\":\"mock\",\"enforces\":[\"fs_read\"],"
              "\"mechanisms\":{\"fs_read\":\"profile\",\"cpu\":\"rlimit\"},\"programs\":\"any\"}");
    laz_buf_clear(&text);
    laz_plan_json(plan, &text);
    CU_ASSERT_EQUAL(laz_json_scan(laz_buf_text(&text), text.len, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "\"files\":[{\"path\":\"/tmp/f/profile\""));
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  fs_read    enforced (profile)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  cpu        weakly (rlimit)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "  network    not limited\n"));
    laz_plan_free(plan);
    plan = plan_of("bwrap", &policy);
    laz_buf_clear(&text);
    laz_plan_json(plan, &text);
    CU_ASSERT_EQUAL(laz_json_scan(laz_buf_text(&text), text.len, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "[\"--unshare-all\",\"--unshare-user\","));
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "\n    --ro-bind /usr /usr\n"));
    laz_plan_free(plan);
    laz_buf_fini(&text);
}

/* Nothing in a template's box may forbid namespaces, and the plan names what its sessions share. */
static void plan_nests_only_where_sessions_stay_apart(void)
{
    struct laz_policy policy = policy_plain();
    struct laz_error err = {0};
    struct laz_plan *plan = NULL;
    struct laz_buf json = LAZ_BUF_INIT;

    policy.nests = 1;
    policy.landlock_abi = 7;
    plan = plan_of("bwrap", &policy);
    laz_plan_json(plan, &json);
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&json), "--disable-userns"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&json), "network namespace of the template"));
    CU_ASSERT_EQUAL(plan->filter.bits, LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_NETWORK);
    laz_plan_free(plan);
    laz_buf_fini(&json);
    policy.landlock_abi = 0;
    CU_ASSERT_EQUAL(plan_fails("bwrap", &policy, 0, &err), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(plan_fails("none", &policy, 0, &err), LAZ_EREFUSED);
    UNIT_TEXT(err.text, "backend none: it makes no namespaces, and so no templates");
}

static const struct unit_test tests[] = {
    UNIT(sim_bwrap_reads_all_but_the_command_from_a_descriptor),
    UNIT(sim_bwrap_takes_the_program_of_its_option),
    UNIT(sim_bwrap_declares_only_the_limits_that_are_set),
    UNIT(sim_bwrap_refuses_what_it_cannot_serve),
    UNIT(sim_bwrap_explains_known_failures),
    UNIT(sim_bwrap_is_not_blamed_for_what_runs_inside),
    UNIT(sim_landlock_declares_what_its_version_holds),
    UNIT(sim_landlock_allows_what_the_policy_lists),
    UNIT(sim_landlock_refuses_a_kernel_without_it),
    UNIT(sim_bwrap_closes_its_files_a_second_time),
    UNIT(sim_none_runs_the_reaper_and_enforces_nothing),
    UNIT(sim_none_confines_only_when_it_is_told_to),
    UNIT(plan_refuses_a_backend_that_breaks_its_contract),
    UNIT(plan_shows_the_confinement_of_the_agent),
    UNIT(plan_says_no_more_than_the_agent_applied),
    UNIT(plan_says_what_the_host_holds),
    UNIT(plan_is_shown_as_json_and_text),
    UNIT(plan_nests_only_where_sessions_stay_apart),
    {0},
};

int main(void)
{
    return unit_run("plan", tests);
}
