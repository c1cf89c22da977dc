/* SPDX-License-Identifier: MIT */
/* bwrap.c - a box of Linux namespaces, made by bubblewrap (0.8 or newer).
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * The child gets an empty file system to which only the paths of the policy are added, and new
 * namespaces for users, processes, network, names and messages. Only its home and /dev/shm can be
 * written, both of a bounded size: every other mount, including the root, is made read-only at the
 * end. Files with given content are made in the root and need no mount. All settings go through a
 * descriptor, because every user of the host can read the command line. The agent sets the limits
 * from inside: a limit on processes set outside would count all processes of the user. */
#include "common.h"

#include <lazaret/options.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BWRAP_ENFORCES                                                                             \
    (LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_PROCESSES |    \
     LAZ_ENFORCE_SYSCALLS | LAZ_ENFORCE_NPROC | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE |           \
     LAZ_ENFORCE_SIGNALS | LAZ_ENFORCE_TERMINALS)

#define BWRAP_SHM_PART 4u /* /dev/shm gets this part of tmp_size, in addition */

/* The arguments that bwrap reads from a descriptor: each ends with a NUL. */
struct bwrap_state {
    const struct laz_plan_api *api;
    struct laz_plan *plan;
    struct backend_text text;
};

static const struct laz_option bwrap_options[] = {
    LAZ_OPTION(
        "program", LAZ_OPT_STRING, "\"bwrap\"",
        "name or absolute path of bubblewrap; a name is searched in the system's directories only"),
    {0},
};

static void bwrap_add(struct bwrap_state *state, const char *text)
{
    backend_text_add(&state->text, text, strlen(text) + 1);
}

static void bwrap_add_all(struct bwrap_state *state, const char *const *texts)
{
    for (; *texts; texts++)
        bwrap_add(state, *texts);
}

static void bwrap_add_number(struct bwrap_state *state, const char *option, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    bwrap_add(state, option);
    bwrap_add(state, text);
}

static void bwrap_namespaces(struct bwrap_state *state, const struct laz_policy *policy)
{
    /* "all" alone would do without a user namespace if it cannot have one. Nested user namespaces
     * are refused. Started by root, the child would otherwise keep every capability in its
     * namespace. */
    static const char *const unshare[] = {"--unshare-all", "--unshare-user", NULL};
    static const char *const flags[] = {
        "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "lazaret", NULL,
    };

    bwrap_add_all(state, unshare);
    if (!LAZ_HAS(policy, nests))
        bwrap_add(state, "--disable-userns");
    bwrap_add_all(state, flags);
    bwrap_add_number(state, "--uid", policy->box_uid);
    bwrap_add_number(state, "--gid", policy->box_uid);
    int status = state->api->status(state->plan);
    if (status < 0)
        state->text.failed = 1;
    bwrap_add_number(state, "--json-status-fd", (uint64_t)(status < 0 ? 0 : status));
}

static int bwrap_environment(struct bwrap_state *state, const struct laz_policy *policy,
                             struct laz_error *err)
{
    bwrap_add(state, "--clearenv");
    for (const char *const *env = policy->env; env && *env; env++) {
        char name[256];
        size_t len = strcspn(*env, "=");
        if (len == 0 || len >= sizeof name || (*env)[len] != '=') {
            return laz_fail(err, LAZ_ECONFIG,
                            "an environment variable has no name of 1 to %zu bytes",
                            sizeof name - 1);
        }
        memcpy(name, *env, len);
        name[len] = '\0';
        bwrap_add(state, "--setenv");
        bwrap_add(state, name);
        bwrap_add(state, *env + len + 1);
    }
    return 0;
}

/* Devices of which no process has more than another. With "--dev" bwrap makes terminals as well, of
 * which the machine has a fixed number, and does not bound theirs. */
static void bwrap_devices(struct bwrap_state *state, const struct laz_policy *policy)
{
    static const char *const terminals[] = {"--dev", "/dev", NULL};
    static const char *const own[] = {"--tmpfs", "/dev", NULL};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    static const char *const terminal[] = {"--dev-bind", "/dev/tty", "/dev/tty", NULL};
    static const char *const links[] = {
        "--symlink", "/proc/self/fd",   "/dev/fd",
        "--symlink", "/proc/self/fd/0", "/dev/stdin",
        "--symlink", "/proc/self/fd/1", "/dev/stdout",
        "--symlink", "/proc/self/fd/2", "/dev/stderr",
        NULL,
    };
    static const char *const memory[] = {"--tmpfs", "/dev/shm", "--remount-ro", "/dev", NULL};

    if (LAZ_HAS(policy, tty)) {
        bwrap_add_all(state, terminals);
    } else {
        bwrap_add_all(state, own);
        for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
            bwrap_add(state, "--dev-bind");
            bwrap_add(state, devices[i]);
            bwrap_add(state, devices[i]);
        }
        bwrap_add_all(state, links);
        if (LAZ_HAS(policy, has_terminal))
            bwrap_add_all(state, terminal);
    }
    bwrap_add_number(state, "--size", policy->tmp_size / BWRAP_SHM_PART);
    bwrap_add_all(state, memory);
}

/* What stands for /proc/stat, which programs need: they read how long the system has been up, and
 * the first line. Without lines of processors they are counted by those that may be used. */
static void bwrap_stat(struct bwrap_state *state, int nests)
{
    long long booted = 0;
    char text[256];
#ifdef CLOCK_BOOTTIME
    struct timespec up;

    if (clock_gettime(CLOCK_BOOTTIME, &up) == 0)
        booted = (long long)time(NULL) - (long long)up.tv_sec;
#endif
    int n = snprintf(text, sizeof text,
                     "cpu  0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime %lld\nprocesses 0\n"
                     "procs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
                     booted);
    int fd = state->api->data(state->plan, "/proc/stat", text, (size_t)n);
    if (fd < 0)
        state->text.failed = 1;
    bwrap_add(state, "--perms");
    bwrap_add(state, "0444");
    bwrap_add_number(state, nests ? "--file" : "--ro-bind-data", (uint64_t)(fd < 0 ? 0 : fd));
    bwrap_add(state, nests ? LAZ_STAT_OF_SESSIONS : "/proc/stat");
}

/* The box's own directories. All of /proc is read-only, because /proc/sys and others would be
 * writable for a process that is root on the host. What everybody may read there and tells of the
 * host is covered: the kernel's command line, which may contain secrets, and the counts of
 * interrupts, which reveal keystrokes. The box of a template has a plain /proc: the kernel maps
 * users of a nested namespace, and allows to mount a new /proc there, only if no part of this one
 * is covered or read-only. No untrusted code runs in the template itself, and every session in it
 * mounts its own /proc, with the same covers, in which Landlock refuses writes. */
static void bwrap_own_directories(struct bwrap_state *state, const struct laz_policy *policy)
{
    static const char *const proc[] = {"--proc", "/proc", NULL};
    static const char *const closed[] = {
        "--ro-bind", "/dev/null",    "/proc/cmdline",  "--ro-bind", "/dev/null", "/proc/interrupts",
        "--ro-bind", "/dev/null",    "/proc/softirqs", "--tmpfs",   "/proc/irq", "--remount-ro",
        "/proc/irq", "--remount-ro", "/proc",          NULL,
    };
    static const char *const home[] = {"--perms", "0700", "--tmpfs", NULL};

    bwrap_add_all(state, proc);
    bwrap_stat(state, LAZ_HAS(policy, nests) ? 1 : 0);
    if (!LAZ_HAS(policy, nests))
        bwrap_add_all(state, closed);
    bwrap_devices(state, policy);
    bwrap_add_number(state, "--size", policy->tmp_size);
    bwrap_add_all(state, home);
    bwrap_add(state, policy->home);
}

static int bwrap_path(struct bwrap_state *state, const struct laz_path *path, struct laz_error *err)
{
    static const char *const binds[2][2] = {
        [LAZ_PATH_READ] = {"--ro-bind", "--ro-bind-try"},
        [LAZ_PATH_WRITE] = {"--bind", "--bind-try"},
    };
    int fd;

    switch (path->kind) {
    case LAZ_PATH_READ:
    case LAZ_PATH_WRITE:
        bwrap_add(state, binds[path->kind][path->optional ? 1 : 0]);
        bwrap_add(state, path->host);
        break;
    case LAZ_PATH_PROTECTED:
        bwrap_add(state, "--ro-bind");
        bwrap_add(state, path->host);
        break;
    case LAZ_PATH_SYMLINK:
        bwrap_add(state, "--symlink");
        bwrap_add(state, path->host);
        break;
    case LAZ_PATH_CONTENT:
        fd = state->api->data(state->plan, path->box, path->host, strlen(path->host));
        if (fd < 0)
            state->text.failed = 1;
        bwrap_add(state, "--perms");
        bwrap_add(state, "0444");
        bwrap_add_number(state, "--file", (uint64_t)(fd < 0 ? 0 : fd));
        break;
    default:
        return laz_fail(err, LAZ_ECONFIG, "%s: bwrap knows no path of kind %u", path->box,
                        path->kind);
    }
    bwrap_add(state, path->box);
    return 0;
}

/* The same paths as Landlock rules: a path that a mount exposes by mistake stays inaccessible, and
 * only the paths listed here can be written or executed. */
static void bwrap_landlock(const struct laz_plan_api *api, const struct laz_policy *policy,
                           struct laz_plan *plan)
{
    const uint32_t execute = policy->programs ? 0 : LAZ_RIGHT_EXECUTE;
    const uint32_t write = LAZ_RIGHT_READ | LAZ_RIGHT_WRITE;

    if (!policy->landlock_abi)
        return;
    api->agent_landlock(plan, policy->landlock_abi,
                        LAZ_HAS(policy, nests) ? LAZ_ENFORCE_FS_WRITE : 0);
    api->agent_path(plan, "/", LAZ_RIGHT_LIST,
                    0); /* which holds what was mounted, and nothing else */
    api->agent_path(plan, "/proc", LAZ_RIGHT_READ, 0);
    api->agent_path(plan, "/dev", LAZ_RIGHT_READ | LAZ_RIGHT_DEVICE, 0);
    if (LAZ_HAS(policy, tty)) /* a devpts of the box's own */
        api->agent_path(plan, "/dev/pts", LAZ_RIGHT_READ | LAZ_RIGHT_TERMINAL, 0);
    if (LAZ_HAS(policy, has_terminal)) {
        api->agent_path(plan, "/dev/tty", LAZ_RIGHT_READ | LAZ_RIGHT_TERMINAL, 1);
        api->agent_path(plan, "/proc/self/fd/0", LAZ_RIGHT_READ | LAZ_RIGHT_TERMINAL, 1);
    }
    api->agent_path(plan, "/dev/shm", write, 0);
    api->agent_path(plan, policy->home, write | execute, 0);
    for (size_t i = 0; i < policy->n_paths; i++) {
        const struct laz_path *path = &policy->paths[i];
        if (path->kind == LAZ_PATH_READ)
            api->agent_path(plan, path->box, LAZ_RIGHT_READ | execute, path->optional);
        else if (path->kind == LAZ_PATH_WRITE)
            api->agent_path(plan, path->box, write | execute, path->optional);
        else if (path->kind == LAZ_PATH_CONTENT)
            api->agent_path(plan, path->box, LAZ_RIGHT_READ, 0);
    }
    for (const char *const *program = policy->programs; program && *program; program++)
        api->agent_path(plan, *program, LAZ_RIGHT_READ | LAZ_RIGHT_EXECUTE, 1);
}

/* Declares what enforces each bit. Sessions of a template have namespaces of their own except for
 * the network: without a list they share the template's, which is empty, and the filter keeps them
 * from connecting to each other. Landlock alone refuses writes to their /proc. */
static void bwrap_promises(const struct laz_plan_api *api, const struct laz_policy *policy,
                           struct laz_plan *plan)
{
    int nests = LAZ_HAS(policy, nests) ? 1 : 0, has_list = LAZ_HAS(policy, network) ? 1 : 0;

    backend_limits(api, &policy->limits, plan, "rlimit in a user namespace", 1);
    api->enforces(plan, LAZ_ENFORCE_FS_READ, "mount namespace");
    api->enforces(plan, LAZ_ENFORCE_FS_WRITE,
                  nests ? "read-only mounts, Landlock" : "read-only mounts");
    api->enforces(plan, LAZ_ENFORCE_NETWORK,
                  has_list ? "only what is listed: network namespace"
                  : nests  ? "network namespace of the template, seccomp"
                           : "network namespace");
    api->enforces(plan, LAZ_ENFORCE_PROCESSES | LAZ_ENFORCE_SIGNALS, "process namespace");
    api->agent_filter(plan, has_list ? "network" : "session",
                      LAZ_ENFORCE_SYSCALLS | (nests && !has_list ? LAZ_ENFORCE_NETWORK : 0u));
    api->enforces(plan, LAZ_ENFORCE_SYSCALLS, "seccomp");
    if (!LAZ_HAS(policy, tty))
        api->enforces(plan, LAZ_ENFORCE_TERMINALS, "none in /dev");
    else if (nests)
        api->enforces(plan, LAZ_ENFORCE_TERMINALS, "16 in each session");
    else
        api->weakly(plan, LAZ_ENFORCE_TERMINALS, "not bounded");
    api->ends_by(plan, LAZ_END_KILL);
}

static const struct laz_option_field bwrap_fields[] = {{"program", LAZ_OPT_STRING, 0},
                                                       {NULL, 0, 0}};

/* Makes the outermost argv; everything but the command is read from a descriptor. */
static void bwrap_argv(struct bwrap_state *state, const char *program,
                       const struct laz_policy *policy)
{
    char number[16];
    int fd = state->text.failed
                 ? -1
                 : state->api->data(state->plan, "arguments", state->text.data, state->text.len);

    if (fd < 0) {
        state->text.failed = 1;
        return;
    }
    snprintf(number, sizeof number, "%d", fd);
    state->api->arg(state->plan, program);
    state->api->arg(state->plan, "--args");
    state->api->arg(state->plan, number);
    state->api->arg(state->plan, "--");
    for (const char *const *arg = policy->command; *arg; arg++)
        state->api->arg(state->plan, *arg);
}

/* Refuses what sessions of a template cannot have: without Landlock /proc would stay writable, and
 * the home of each session covers whatever lies in the home of the box. */
static int bwrap_check_nests(const struct laz_policy *policy, struct laz_error *err)
{
    size_t len = strlen(policy->home);
    const char *within = NULL;

    if (!LAZ_HAS(policy, nests))
        return 0;
    for (size_t i = 0; i < policy->n_paths && !within; i++)
        if (strncmp(policy->paths[i].box, policy->home, len) == 0 &&
            policy->paths[i].box[len] == '/')
            within = policy->paths[i].box;
    if (policy->landlock_abi && !within)
        return 0;
    if (within)
        return laz_fail(err, LAZ_EREFUSED,
                        "%.200s lies in %s, which every session of a template has of its own: the "
                        "settings must name a path elsewhere",
                        within, policy->home);
    return laz_fail(err, LAZ_EREFUSED,
                    "sessions of a template need Landlock, which this kernel does not have");
}

static int bwrap_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                      struct laz_plan *plan, struct laz_error *err)
{
    static const char *const last[] = {"--remount-ro", "/", "--chdir", NULL};
    struct bwrap_state state = {.api = api, .plan = plan};
    char *program = NULL;
    int rc = bwrap_check_nests(policy, err);

    if (!rc)
        rc = laz_options_read(api->json, policy->options, policy->options_len, bwrap_fields,
                              &program, err);
    if (rc)
        goto out;
    bwrap_namespaces(&state, policy);
    rc = bwrap_environment(&state, policy, err);
    if (rc)
        goto out;
    bwrap_own_directories(&state, policy);
    for (size_t i = 0; i < policy->n_paths; i++) {
        rc = bwrap_path(&state, &policy->paths[i], err);
        if (rc)
            goto out;
    }
    bwrap_add_all(&state, last);
    bwrap_add(&state, policy->home);
    bwrap_argv(&state, program ? program : "bwrap", policy);
    bwrap_landlock(api, policy, plan);
    bwrap_promises(api, policy, plan);
    if (state.text.failed) {
        rc = laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
out:
    free(program);
    free(state.text.data);
    return rc;
}

/* ---- why no box came up -----------------------------------------------------------------------
 */

/* Kinds of failure, recognised by the messages of bubblewrap (0.3 to 0.11). */
#define BWRAP_OLD     (1u << 0) /* it rejects an option */
#define BWRAP_SETUID  (1u << 1)
#define BWRAP_REFUSED (1u << 2) /* clone or unshare: EPERM */
#define BWRAP_FULL    (1u << 3) /* clone or unshare: ENOSPC */
#define BWRAP_RIGHTS  (1u << 4) /* the user namespace exists, but without capabilities */
#define BWRAP_UIDS    (1u << 5)
#define BWRAP_PROC    (1u << 6)
#define BWRAP_NESTED  (1u << 7)
#define BWRAP_AGAIN   (1u << 8)
#define BWRAP_PATH    (1u << 9)
#define BWRAP_EXEC    (1u << 10)
#define BWRAP_OTHER   (1u << 11)

/* The first that fits counts. */
static const struct {
    const char *words;
    uint32_t kind;
} bwrap_signs[] = {
    {"Unknown option --", BWRAP_OLD},
    {"in setuid mode", BWRAP_SETUID},
    {"setting up uid map: Invalid argument", BWRAP_UIDS},
    {"setting up uid map: Read-only file system", BWRAP_NESTED},
    {"setting up uid map", BWRAP_RIGHTS},
    {"Failed RTM_NEWADDR", BWRAP_RIGHTS},
    {"Failed RTM_NEWLINK", BWRAP_RIGHTS},
    {"No permissions to create", BWRAP_REFUSED},
    {"(ENOSPC)", BWRAP_FULL},
    {"No space left on device", BWRAP_FULL},
    {"namespace failed: Operation not permitted", BWRAP_REFUSED},
    {"unshare user ns: Operation not permitted", BWRAP_REFUSED},
    {"namespace failed, likely", BWRAP_REFUSED},
    {"namespace failed: Resource temporarily unavailable", BWRAP_AGAIN},
    {"fork for pid 1: Resource temporarily unavailable", BWRAP_AGAIN},
    {"fork for --pidns: Resource temporarily unavailable", BWRAP_AGAIN},
    {"Can't mount proc", BWRAP_PROC},
    {"Can't find source path", BWRAP_PATH},
    {"execvp", BWRAP_EXEC},
    {"Creating new namespace failed", BWRAP_OTHER},
};

/* The cause and the remedy, chosen by the facts about the system ("": any facts; a fact that ends
 * with '=' matches any value). The first match counts. */
static const struct {
    uint32_t kinds;
    const char *fact;
    const char *sentence;
} bwrap_causes[] = {
    {BWRAP_OLD, "",
     "this bubblewrap is older than 0.8.0, which is needed: install a newer one and name it in "
     "sandbox.bwrap.program"},
    {BWRAP_SETUID, "",
     "this bubblewrap is installed set-user-ID, and then refuses to bound its file systems: take "
     "that bit off (chmod u-s) where user namespaces are allowed, or use another backend"},
    {BWRAP_REFUSED | BWRAP_FULL, "user.max_user_namespaces=0",
     "user namespaces are switched off here, user.max_user_namespaces is 0: raise it (sysctl -w "
     "user.max_user_namespaces=10000), or use another backend"},
    {BWRAP_REFUSED, "kernel.unprivileged_userns_clone=0",
     "the kernel refuses user namespaces to ordinary users, kernel.unprivileged_userns_clone is 0: "
     "allow them (sysctl -w kernel.unprivileged_userns_clone=1), or use another backend"},
    {BWRAP_RIGHTS, "kernel.apparmor_restrict_unprivileged_userns=1",
     "AppArmor denies the capabilities of user namespaces to programs without a profile, "
     "kernel.apparmor_restrict_unprivileged_userns is 1 (as on Ubuntu 24.04): install the "
     "distribution's AppArmor profile for bwrap (bwrap-userns-restrict), or that in the "
     "documentation (deployment.md, \"Where AppArmor restricts user namespaces\"), or set that to "
     "0 "
     "with sysctl"},
    {BWRAP_RIGHTS, "",
     "the system denies the capabilities of user namespaces (AppArmor does so on Ubuntu 24.04): "
     "install the distribution's AppArmor profile for bwrap, or that in the documentation "
     "(deployment.md, \"Where AppArmor restricts user namespaces\"), or set "
     "kernel.apparmor_restrict_unprivileged_userns=0 with sysctl"},
    {BWRAP_UIDS, "",
     "the uid of the session is not mapped in this container: set sandbox.uids to a range that "
     "/proc/self/uid_map holds"},
    {BWRAP_NESTED, "",
     "lazaret runs inside another sandbox, whose read-only /proc forbids further ones: run it "
     "outside, or use another backend"},
    {BWRAP_FULL, "userns=nested",
     "lazaret runs inside another sandbox or container that forbids further user namespaces (its "
     "user.max_user_namespaces): run it outside, or use another backend"},
    {BWRAP_FULL, "",
     "no more user namespaces may be made: raise user.max_user_namespaces with sysctl; inside "
     "another sandbox that forbids nesting, use another backend"},
    {BWRAP_REFUSED, "container=",
     "the container that lazaret runs in forbids new namespaces: allow them there (Docker: "
     "--security-opt seccomp=unconfined, or a profile that allows clone, unshare and mount), or "
     "use another backend"},
    {BWRAP_REFUSED, "seccomp=2",
     "a system call filter around lazaret (of a container, of another sandbox, or of a service: "
     "RestrictNamespaces=) forbids new namespaces: allow them there, or use another backend"},
    {BWRAP_REFUSED, "userns=nested",
     "lazaret runs inside another sandbox or container that forbids new namespaces: allow them "
     "there, or use another backend"},
    {BWRAP_REFUSED, "",
     "the kernel, or a container or filter around lazaret, refuses user namespaces: set "
     "kernel.unprivileged_userns_clone=1 and a user.max_user_namespaces above 0 with sysctl, allow "
     "them in the container (Docker: --security-opt seccomp=unconfined), or use another backend"},
    {BWRAP_AGAIN, "",
     "the user has as many processes or namespaces as it may have: end some, or raise the limit "
     "on processes (ulimit -u)"},
    {BWRAP_PROC, "",
     "an unprivileged container or another sandbox around lazaret hides parts of /proc and so "
     "forbids a new one: start it with --security-opt systempaths=unconfined (Docker), or use "
     "another backend"},
    {BWRAP_PATH, "",
     "a path that the box needs does not exist or cannot be entered by the session's user"},
    {BWRAP_EXEC, "",
     "the agent cannot be executed inside the box: a library that it needs, or its directory, is "
     "not visible there"},
    {BWRAP_OTHER, "",
     "the system refuses new namespaces; use another backend if this cannot be changed"},
};

static const char *bwrap_find(const char *output, size_t len, const char *words)
{
    size_t n = strlen(words);

    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(output + i, words, n) == 0)
            return output + i;
    return NULL;
}

/* Is the line among the facts? One that ends with '=' matches any value. */
static int bwrap_has_fact(const char *facts, const char *fact)
{
    size_t n = strlen(fact);
    int any = n > 0 && fact[n - 1] == '=';

    for (const char *line = facts ? facts : ""; *line; line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        if (len >= n && (any || len == n) && memcmp(line, fact, n) == 0)
            return 1;
        line += len;
    }
    return n == 0;
}

/* The output has no known message of bubblewrap, so perhaps the program is another one. If a
 * process has started inside, it is bubblewrap. */
static int bwrap_explain_other(const struct laz_backend_failure *failure, char *text,
                               size_t text_size)
{
    const char *line;
    char how[64];
    int len = backend_line(failure, failure->output, 300, &line);

    if (failure->started)
        return LAZ_ENOENT;
    if (failure->timed_out)
        snprintf(how, sizeof how, "it built no box in time");
    else if (failure->signal)
        snprintf(how, sizeof how, "it was ended by signal %d", (int)failure->signal);
    else if (failure->exit_status >= 0)
        snprintf(how, sizeof how, "it built no box and ended with status %d",
                 (int)failure->exit_status);
    else
        snprintf(how, sizeof how, "it built no box");
    snprintf(text, text_size,
             "%s does not work as bubblewrap, %s%s%.*s: %sinstall bubblewrap 0.8.0 or newer, or "
             "name a working one in sandbox.bwrap.program",
             failure->program, how, len ? " and said: " : " and said nothing", len, line,
             failure->timed_out ? "give it more on a busy machine (session.start_timeout), " : "");
    return 0;
}

static int bwrap_explain(const struct laz_backend_failure *failure, char *text, size_t text_size)
{
    const char *found = NULL, *line;
    uint32_t kind = 0;

    for (size_t i = 0; i < sizeof bwrap_signs / sizeof bwrap_signs[0] && !found; i++) {
        found = bwrap_find(failure->output, failure->output_len, bwrap_signs[i].words);
        kind = bwrap_signs[i].kind;
    }
    if (!found)
        return bwrap_explain_other(failure, text, text_size);
    for (size_t i = 0; i < sizeof bwrap_causes / sizeof bwrap_causes[0]; i++) {
        if (!(bwrap_causes[i].kinds & kind) ||
            !bwrap_has_fact(failure->facts, bwrap_causes[i].fact))
            continue;
        int len = backend_line(failure, found, 300, &line);
        snprintf(text, text_size, "%s (%.*s)", bwrap_causes[i].sentence, len, line);
        return 0;
    }
    return LAZ_ENOENT;
}

static const struct laz_backend_ops bwrap_ops = {
    .size = sizeof bwrap_ops,
    .can_enforce = BWRAP_ENFORCES,
    .flags = LAZ_BACKEND_PROTECTS | LAZ_BACKEND_NETWORK,
    .platforms = "linux",
    .plan = bwrap_plan,
    .explain = bwrap_explain,
};

LAZ_PLUGIN(bwrap) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "bwrap",
    .version = "0.1.0",
    .summary = "Linux namespaces, made by bubblewrap",
    .options = bwrap_options,
    .ops = &bwrap_ops,
};
