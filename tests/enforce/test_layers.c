/* SPDX-License-Identifier: MIT */
/* test_layers.c - each layer of defence is needed: without it, a probe succeeds.
 *
 * If a layer can be removed without any probe succeeding, it is untested or useless. Layers are
 * removed in the test only: by a program in place of bwrap (weak_bwrap.c), by an agent linked with
 * other functions (weak_agent.c), or here, where the linker replaces functions of the engine by
 * those below. Where two layers stop the same attack, the other one is removed on both sides of the
 * comparison (`also`). */
#include "probes.h"
#include "session/live.h"
#include "unit.h"
#include "world.h"

#include "box/box.h"
#include "session/guard.h"
#include "plan/policy_private.h"
#include "session/session.h"
#include "os/cgroup.h"
#include "os/files.h"
#include "os/peer.h"
#include "os/pidfd.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* ---- layers of the engine ------------------------------------------------------------------- */

static char layers_host[128]; /* removed layers of the host: "uid+environment" */

int __real_laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
int __wrap_laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
int __real_laz_policy_env(const char *platform, const struct laz_settings_values *values,
                          const struct laz_runtime_info *runtime, const char *home,
                          const struct laz_policy_session *session, struct laz_strv *env,
                          struct laz_error *err);
int __wrap_laz_policy_env(const char *platform, const struct laz_settings_values *values,
                          const struct laz_runtime_info *runtime, const char *home,
                          const struct laz_policy_session *session, struct laz_strv *env,
                          struct laz_error *err);
bool __real_laz_os_close_range(unsigned first, unsigned last);
bool __wrap_laz_os_close_range(unsigned first, unsigned last);
int __real_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);
int __wrap_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);
bool __real_laz_equal_constant_time(const void *a, const void *b, size_t len);
bool __wrap_laz_equal_constant_time(const void *a, const void *b, size_t len);
const char *__real_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter);
const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter);
pid_t __real_setsid(void);
pid_t __wrap_setsid(void);
void __real_laz_guard_begin(struct laz_execution *execution);
void __wrap_laz_guard_begin(struct laz_execution *execution);
void __real_laz_spawner_include(struct laz_spawner *spawner, const struct laz_process *leader);
void __wrap_laz_spawner_include(struct laz_spawner *spawner, const struct laz_process *leader);

static bool layers_host_lacks(const char *layer)
{
    char word[128];

    snprintf(word, sizeof word, "%s", layers_host);
    for (char *at = word; *at; at++)
        if (*at == '+')
            *at = '|';
    return arena_is_one_of(layer, word);
}

int __wrap_laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
{
    if (!layers_host_lacks("uid"))
        return __real_laz_uids_take(uids, uid, err);
    *uid = LAZ_SPAWN_SAME_ID;
    return 0;
}

int __wrap_laz_policy_env(const char *platform, const struct laz_settings_values *values,
                          const struct laz_runtime_info *runtime, const char *home,
                          const struct laz_policy_session *session, struct laz_strv *env,
                          struct laz_error *err)
{
    int rc = __real_laz_policy_env(platform, values, runtime, home, session, env, err);

    if (!rc && layers_host_lacks("environment"))
        laz_strv_addf(env, "%s=%s", WORLD_SECRET, getenv(WORLD_SECRET));
    return rc;
}

bool __wrap_laz_os_close_range(unsigned first, unsigned last)
{
    return layers_host_lacks("descriptors") || __real_laz_os_close_range(first, last);
}

int __wrap_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    int rc = __real_laz_os_peer(fd, peer, err);

    if (layers_host_lacks("peer"))
        peer->pid_namespace = 0; /* as if it were unknown */
    return rc;
}

bool __wrap_laz_equal_constant_time(const void *a, const void *b, size_t len)
{
    return layers_host_lacks("token") || __real_laz_equal_constant_time(a, b, len);
}

void __wrap_laz_spawner_include(struct laz_spawner *spawner, const struct laz_process *leader)
{
    if (!layers_host_lacks("warden"))
        __real_laz_spawner_include(spawner, leader);
}

const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter)
{
    return layers_host_lacks("group") ? NULL : __real_laz_cgroups_mechanism(groups, what, to_enter);
}

void __wrap_laz_guard_begin(struct laz_execution *execution)
{
    if (!layers_host_lacks("guard"))
        __real_laz_guard_begin(execution);
}

/* Runs in the child that becomes bwrap, which has inherited everything from the host. */
pid_t __wrap_setsid(void)
{
    return layers_host_lacks("session") ? 0 : __real_setsid();
}

/* ---- the table ------------------------------------------------------------------------------ */

#define MEMORY "limits.memory=\"300MiB\"" /* not tested with sanitizers, which need much memory */

#define TERMINALS "sandbox.tty=true;limits.nproc=unlimited"

/* Layers are written SIDE:NAME, separated by blanks. */
static const struct layer {
    const char *layer, *also;
    const char *probe; /* a name of probes.c, or the code of an attack; "start": the session opens;
                        * "outlive": the stopped agent survives its host; "terminal": an attack
                        * while the host has a terminal */
    const char *settings;
    const char *backend; /* NULL: bwrap */
    bool root;
} layers[] = {
    /* Layers of bwrap. */
    {"bwrap:files", "agent:landlock", "read_file_of_host", "", NULL, false},
    {"bwrap:root", "agent:landlock", "create /lazaret-test", "", NULL, false},
    {"bwrap:dev", "agent:landlock", "create /dev/lazaret-test", "", NULL, false},
    {"bwrap:proc", "agent:landlock", "write_own_oom_score", "", NULL, false},
    {"bwrap:proc", "host:uid agent:landlock", "set_core_pattern", "", NULL, true},
    {"bwrap:sizes", "", "fill /tmp/file 4194304", "sandbox.tmp_size=\"1MiB\"", NULL, false},
    {"bwrap:net", "", "see_interfaces", "", NULL, false},
    {"bwrap:net", "agent:filter agent:landlock", "connect_tcp4", "", NULL, false},
    {"bwrap:net", "agent:filter agent:landlock", "connect_unix_abstract", "", NULL, false},
    {"bwrap:pid", "", "see_process", "", NULL, false},
    {"bwrap:pid", "agent:landlock", "signal_process", "", NULL, false},
    {"bwrap:ipc", "agent:filter", "attach_shared_memory", "", NULL, false},
    {"bwrap:uts", "", "learn_host_name", "", NULL, false},
    {"bwrap:cgroup", "", "control-group", "", NULL, true},
    {"bwrap:nesting", "agent:filter", "unshare_user", "", NULL, false},
    {"bwrap:user", "host:uid agent:filter", "setuid 0", "", NULL, true},
    /* the next host on the machine ends the control group of a dead host */
    {"bwrap:death", "host:group host:warden", "outlive", "", NULL, false},
    {"bwrap:session", "host:session", "terminal", TERMINALS, NULL, false},
    {"bwrap:capabilities", "host:uid", "have_capabilities", "", NULL, true},
    {"bwrap:programs", "agent:landlock", "exec /usr/bin/sort", "sandbox.programs=[\"sh\"]", NULL,
     false},
    /* Layers of the agent. */
    {"agent:filter", "", "call_io_uring_setup", "", NULL, false},
    {"agent:filter", "", "read_key_of_host", "", NULL, false},
    {"agent:filter", "agent:landlock", "push_into_terminal", TERMINALS, NULL, false},
    {"agent:filter", "", "socket_of_unix", "", "landlock", false},
    {"agent:landlock", "bwrap:files", "read_file_of_host", "", NULL, false},
    {"agent:landlock", "bwrap:root", "create /lazaret-test", "", NULL, false},
    {"agent:landlock", "bwrap:pid", "signal_process", "", NULL, false},
    {"agent:landlock", "bwrap:programs", "exec /usr/bin/sort", "sandbox.programs=[\"sh\"]", NULL,
     false},
    {"agent:landlock", "", "exec-copy /usr/bin/cat", "", NULL, false},
    {"agent:landlock", "", "read_file_of_host", "", "landlock", false},
    {"agent:landlock", "", "create_outside", "", "landlock", false},
    {"agent:landlock", "", "make_terminal", "", "landlock", false},
    {"agent:landlock", "agent:filter", "connect_tcp4", "", "landlock", false},
    {"agent:landlock", "agent:filter", "connect_unix_abstract", "", "landlock", false},
    {"agent:landlock", "", "signal_process", "", "landlock", false},
    {"agent:landlock", "", "read_environment_of_process", "", "landlock", false},
    {"agent:limits", "host:group", "spread 80 0", "limits.nproc=50", NULL, false},
    {"agent:limits", "", "raise_limit_of_nofile", "", NULL, false},
    {"agent:no_new_privs", "", "gain_rights_by_exec", "", "none", false},
    {"agent:wiping", "", "environment LAZARET_TOKEN", "", NULL, false},
    {"agent:descriptors", "host:descriptors", "inherit_descriptor", "", NULL, false},
    /* Layers of the host. */
    {"host:descriptors", "agent:descriptors", "inherit_descriptor", "", NULL, false},
    {"host:session", "bwrap:session", "terminal", TERMINALS, NULL, false},
    {"host:uid", "bwrap:proc agent:landlock", "set_core_pattern", "", NULL, true},
    {"host:environment", "", "see_secret_variable", "", NULL, false},
    {"host:group", "host:guard", "spread 10 60", MEMORY, NULL, true},
    {"host:group", "agent:limits", "spread 80 0", "limits.nproc=50", NULL, true},
    {"host:guard", "host:group", "spread 10 60", MEMORY, NULL, false},
    {"host:token", "agent:own-token", "start", "", NULL, false},
    {"host:peer", "bwrap:stranger", "start", "", NULL, false},
};

/* ---- taking away ---------------------------------------------------------------------------- */

/* The layers of one side in a list of SIDE:NAME, as "a+b". */
static void layers_of(const char *side, const char *list, char *text, size_t size)
{
    size_t len = strlen(side), n = 0;

    text[0] = '\0';
    for (const char *at = list; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
        if (strncmp(at, side, len) == 0 && at[len] == ':')
            n += (size_t)snprintf(text + n, size - n, "%s%.*s", n ? "+" : "",
                                  (int)(strcspn(at, " ") - len - 1), at + len + 1);
}

/* Makes a copy of weak_bwrap whose name lists the removed layers. */
static bool layers_bwrap(const char *missing, char *path, size_t size)
{
    snprintf(path, size, "%s/bwrap-%s", world_get("base"), missing);
    return access(path, X_OK) == 0 ||
           laz_os_copy_file("tests/enforce/weak_bwrap", path, 0755, NULL) == 0;
}

/* The probe that spreads memory waits for its end if a layer brings it, which may be late on a slow
 * machine; without that layer it must not wait. */
static const char *layers_code(const struct layer *row, const char *missing)
{
    static char line[128];

    for (const struct probe *probe = probes; probe->name; probe++)
        if (strcmp(probe->name, row->probe) == 0)
            return probe->code;
    if (strncmp(row->probe, "spread ", 7) != 0)
        return row->probe;
    snprintf(line, sizeof line, "%s %d", row->probe, missing == row->also ? 600000 : 300);
    return line;
}

/* Makes settings for a session without these layers; removed layers of the host go into
 * layers_host. */
static void layers_settings(const struct layer *row, const char *missing, char *settings,
                            size_t size)
{
    char names[128], path[200];
    size_t n = 0;

    /* without a user namespace all processes of an ordinary user are counted */
    n += (size_t)snprintf(settings, size, "%s;",
                          row->settings[0] ? row->settings : "limits.nproc=unlimited");
    layers_of("bwrap", missing, names, sizeof names);
    if (names[0] && layers_bwrap(names, path, sizeof path))
        n += (size_t)snprintf(settings + n, size - n, "sandbox.bwrap.program=%s;", path);
    layers_of("agent", missing, names, sizeof names);
    if (names[0])
        n += (size_t)snprintf(settings + n, size - n, "env.set={LAZ_TEST_WITHOUT=\"%s\"};", names);
    layers_of("host", missing, layers_host, sizeof layers_host);
    settings[n - 1] = '\0';
}

/* The outcome of the probe without these layers. `opened` is called with the session. */
static const char *layers_try_here(const struct layer *row, const char *missing,
                                   void (*opened)(struct laz_session *))
{
    static char words[2][400];
    static unsigned next;
    char *word = words[next++ % 2], settings[700];
    struct laz_session_options options = {.size = sizeof options, .runtime = "attack"};
    struct laz_error err = {0};
    struct arena box;

    layers_settings(row, missing, settings, sizeof settings);
    snprintf(word, sizeof words[0], "no engine");
    if (arena_engine(&box, row->backend ? row->backend : "bwrap", settings)) {
        if (layers_host_lacks("uid"))
            box.uid = LAZ_SPAWN_SAME_ID;
        if (laz_session_open(box.engine, &options, &box.session, &err))
            snprintf(word, sizeof words[0], "no session: %.300s", err.text);
        else if (opened)
            opened(box.session);
        else if (strcmp(row->probe, "start") == 0)
            snprintf(word, sizeof words[0], "through");
        else if (arena_victim(&box))
            snprintf(word, sizeof words[0], "%s", arena_try(&box, layers_code(row, missing)));
    }
    arena_close(&box);
    layers_host[0] = '\0';
    return word;
}

/* ---- hosts that are processes of their own --------------------------------------------------- */

static int layers_to_test = -1, layers_from_test = -1;

/* Stops the agent, so that the end of its channel does not end it; then kills the host. */
static void layers_be_killed(struct laz_session *session)
{
    const pid_t pids[] = {(pid_t)session->box->agent_pid, session->box->process.pid};
    char c;

    if (kill(pids[0], SIGSTOP) != 0 || write(layers_to_test, pids, sizeof pids) != sizeof pids ||
        read(layers_from_test, &c, 1) != 1)
        _exit(1);
    raise(SIGKILL);
}

static void layers_take_terminal(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), inner = -1;

    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0)
        inner = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (inner < 0 || __real_setsid() < 0 || ioctl(inner, TIOCSCTTY, 0) != 0 ||
        access("/dev/tty", R_OK | W_OK) != 0)
        _exit(1);
}

/* The value of this line of a process's /proc status; "" without it. */
static void layers_status(pid_t pid, const char *name, char *value, size_t size)
{
    char path[64], line[256];
    size_t len = strlen(name);

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    value[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, len) == 0 && line[len] == ':')
            snprintf(value, size, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
    if (file)
        (void)fclose(file);
}

/* The first process inside dies with the one outside, and all others with it: the kernel sends the
 * signal before it reports the end of the one outside. So this process is either about to end, or
 * asleep without such a signal, and then it survives; in between it does not sleep for long. */
static bool layers_stays(pid_t inside)
{
    char state[64], pending[64], memory[64];

    for (;; usleep(1000)) { /* in this order: while it ends it sleeps once more, without memory */
        layers_status(inside, "State", state, sizeof state);
        layers_status(inside, "VmSize", memory, sizeof memory);
        layers_status(inside, "SigPnd", pending, sizeof pending);
        bool is_killed = strtoull(pending, NULL, 16) & 1u << (SIGKILL - 1);
        if (is_killed || !memory[0]) /* or it has ended, or released its memory */
            return false;
        if (state[0] == 'S')
            return true;
    }
}

/* Does the agent outlive all processes that the host itself had started? */
static const char *layers_outlived(const pid_t pids[2], int from_host, pid_t host)
{
    struct pollfd ends[2];
    char c, inside[64], state[64];

    for (int i = 0; i < 2; i++)
        ends[i] = (struct pollfd){.fd = laz_os_pidfd(pids[i]), .events = POLLIN};
    CU_ASSERT(ends[0].fd >= 0 && ends[1].fd >= 0);
    layers_status(pids[0], "PPid", inside, sizeof inside);
    CU_ASSERT(atoi(inside) > 1 && atoi(inside) != pids[1]);
    do /* bubblewrap's second process waits once it has asked for its death signal, which may be
          late */
        layers_status((pid_t)atoi(inside), "State", state, sizeof state);
    while (state[0] && state[0] != 'S');
    CU_ASSERT(write(from_host, "x", 1) == 1);
    CU_ASSERT(waitpid(host, NULL, 0) == host);
    CU_ASSERT(read(layers_from_test, &c, 1) == 0); /* no process that could write is left */
    CU_ASSERT(poll(&ends[1], 1, -1) == 1);
    bool outlives = layers_stays((pid_t)atoi(inside));
    if (outlives)
        laz_os_pidfd_kill(ends[0].fd);
    CU_ASSERT(poll(&ends[0], 1, -1) == 1);
    close(ends[0].fd);
    close(ends[1].fd);
    return outlives ? "through" : "it ended";
}

static const char *layers_try(const struct layer *row, const char *missing)
{
    static char words[2][400];
    static unsigned next;
    char *word = words[next++ % 2];
    bool outlive = strcmp(row->probe, "outlive") == 0;
    int to_test[2], from_test[2];
    pid_t pids[2];

    if (!outlive && strcmp(row->probe, "terminal") != 0)
        return layers_try_here(row, missing, NULL);
    CU_ASSERT_FATAL(pipe2(to_test, O_CLOEXEC) == 0 && pipe2(from_test, O_CLOEXEC) == 0);
    fflush(stdout);
    pid_t host = fork();
    if (host == 0) {
        close(to_test[0]);
        close(from_test[1]);
        layers_to_test = to_test[1];
        layers_from_test = from_test[0];
        if (!outlive)
            layers_take_terminal();
        const char *came = layers_try_here(row, missing, outlive ? layers_be_killed : NULL);
        _exit(write(to_test[1], came, strlen(came)) < 0);
    }
    close(to_test[1]);
    close(from_test[0]);
    layers_from_test = to_test[0];
    ssize_t n =
        outlive ? read(to_test[0], pids, sizeof pids) : read(to_test[0], word, sizeof words[0] - 1);
    if (outlive && n == (ssize_t)sizeof pids) {
        snprintf(word, sizeof words[0], "%s", layers_outlived(pids, from_test[1], host));
    } else {
        word[n > 0 && !outlive ? n : 0] = '\0';
        CU_ASSERT(waitpid(host, NULL, 0) == host);
    }
    close(to_test[0]);
    close(from_test[1]);
    return word;
}

/* ---- the test ------------------------------------------------------------------------------- */

static void each_layer_is_missed(void)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct layer *row = &layers[i];
        char missing[256];

        if (TEST_IS_SANITIZED && strcmp(row->settings, MEMORY) == 0)
            continue;
        if (row->root && !laz_os_is_root()) {
            (void)unit_skip("root", "that a layer is missed which only root has");
            continue;
        }
        bool start = strcmp(row->probe, "start") == 0;
        const char *with = layers_try(row, row->also);
        bool held =
            with[0] && strcmp(with, "through") != 0 && (start || !strstr(with, "no session"));
        if (!held)
            printf("\n    %s with its layer: %s", row->probe, with);
        snprintf(missing, sizeof missing, "%s%s%s", row->layer, row->also[0] ? " " : "", row->also);
        const char *without = layers_try(row, missing);
        bool missed = strcmp(without, "through") == 0;
        if (!missed)
            printf("\n    %s without %s: %s (with it: %s)", row->probe, missing, without, with);
        CU_ASSERT(held);
        CU_ASSERT(missed);
    }
}

static const struct unit_test tests[] = {UNIT(each_layer_is_missed), {0}};

int main(void)
{
    char *agent = realpath("tests/enforce/weak_agent", NULL);

    if (!agent || setenv("LAZARET_AGENT", agent, 1) != 0 || !world_make()) {
        printf("what is to be attacked cannot be created\n");
        return 1;
    }
    int rc = unit_run("layers", tests);
    world_end();
    free(agent);
    return rc;
}
