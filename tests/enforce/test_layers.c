/* SPDX-License-Identifier: MIT */
/* test_layers.c - each layer of defence is missed: without it, a probe gets through.
 *
 * A layer that can be taken away without anything getting through is not tested, or is none.  What
 * is taken away is taken away in the test only: by a program in place of bwrap (weak_bwrap.c), by
 * an agent linked with other functions (weak_agent.c), or here, where the linker puts the functions
 * below in the place of the engine's.  Where two layers keep the same attack away, the other one is
 * taken away on both sides of the comparison (`also`). */
#include "probes.h"
#include "session/session.h"
#include "unit.h"
#include "world.h"

#include "engine/guard.h"
#include "engine/policy_env.h"
#include "os/cgroup.h"
#include "os/os.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- layers of the engine ------------------------------------------------------------------- */

static char layers_host[128]; /* which are missing: "uid+environment" */

int __real_laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
int __wrap_laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
int __real_laz_policy_env(const struct laz_settings_values *values, const struct laz_strv *runtime,
                          const char *home, struct laz_strv *env, struct laz_error *err);
int __wrap_laz_policy_env(const struct laz_settings_values *values, const struct laz_strv *runtime,
                          const char *home, struct laz_strv *env, struct laz_error *err);
void __real_laz_os_close_range(unsigned first, unsigned last);
void __wrap_laz_os_close_range(unsigned first, unsigned last);
int __real_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);
int __wrap_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);
bool __real_laz_equal_constant_time(const void *a, const void *b, size_t len);
bool __wrap_laz_equal_constant_time(const void *a, const void *b, size_t len);
const char *__real_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what);
const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what);
void __real_laz_guard_begin(struct laz_execution *execution);
void __wrap_laz_guard_begin(struct laz_execution *execution);

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

int __wrap_laz_policy_env(const struct laz_settings_values *values, const struct laz_strv *runtime,
                          const char *home, struct laz_strv *env, struct laz_error *err)
{
    int rc = __real_laz_policy_env(values, runtime, home, env, err);

    if (!rc && layers_host_lacks("environment"))
        laz_strv_addf(env, "%s=%s", WORLD_SECRET, getenv(WORLD_SECRET));
    return rc;
}

void __wrap_laz_os_close_range(unsigned first, unsigned last)
{
    if (!layers_host_lacks("descriptors"))
        __real_laz_os_close_range(first, last);
}

int __wrap_laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    int rc = __real_laz_os_peer(fd, peer, err);

    if (layers_host_lacks("peer"))
        peer->pid_namespace = 0; /* as if it could not be told */
    return rc;
}

bool __wrap_laz_equal_constant_time(const void *a, const void *b, size_t len)
{
    return layers_host_lacks("token") || __real_laz_equal_constant_time(a, b, len);
}

const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what)
{
    return layers_host_lacks("group") ? NULL : __real_laz_cgroups_mechanism(groups, what);
}

void __wrap_laz_guard_begin(struct laz_execution *execution)
{
    if (!layers_host_lacks("guard"))
        __real_laz_guard_begin(execution);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define MEMORY "limits.memory=\"300MiB\"" /* not judged with sanitizers, which need theirs */

/* Layers are written SIDE:NAME, several with blanks between. */
static const struct layer {
    const char *layer, *also;
    const char *probe; /* of probes.c, or the code of an attack; "start": the session opens */
    const char *settings;
    const char *backend; /* NULL: bwrap */
    bool root;
} layers[] = {
    /* What bwrap does. */
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
    {"bwrap:capabilities", "host:uid", "have_capabilities", "", NULL, true},
    {"bwrap:programs", "agent:landlock", "exec /usr/bin/sort", "sandbox.programs=[\"sh\"]", NULL,
     false},
    /* What the agent does. */
    {"agent:filter", "", "call_io_uring_setup", "", NULL, false},
    {"agent:filter", "", "read_key_of_host", "", NULL, false},
    {"agent:filter", "agent:landlock", "push_into_terminal", "", NULL, false},
    {"agent:filter", "", "socket_of_unix", "", "landlock", false},
    {"agent:landlock", "bwrap:files", "read_file_of_host", "", NULL, false},
    {"agent:landlock", "bwrap:root", "create /lazaret-test", "", NULL, false},
    {"agent:landlock", "bwrap:pid", "signal_process", "", NULL, false},
    {"agent:landlock", "bwrap:programs", "exec /usr/bin/sort", "sandbox.programs=[\"sh\"]", NULL,
     false},
    {"agent:landlock", "", "exec-copy /usr/bin/cat", "", NULL, false},
    {"agent:landlock", "", "read_file_of_host", "", "landlock", false},
    {"agent:landlock", "", "create_outside", "", "landlock", false},
    {"agent:landlock", "agent:filter", "connect_tcp4", "", "landlock", false},
    {"agent:landlock", "agent:filter", "connect_unix_abstract", "", "landlock", false},
    {"agent:landlock", "", "signal_process", "", "landlock", false},
    {"agent:landlock", "", "read_environment_of_process", "", "landlock", false},
    {"agent:limits", "host:group", "spread 80 0", "limits.nproc=50", NULL, false},
    {"agent:limits", "", "raise_limit_of_nofile", "", NULL, false},
    {"agent:no_new_privs", "", "gain_rights_by_exec", "", "none", false},
    {"agent:wiping", "", "environment LAZARET_TOKEN", "", NULL, false},
    {"agent:descriptors", "host:descriptors", "inherit_descriptor", "", NULL, false},
    /* What the host does. */
    {"host:descriptors", "agent:descriptors", "inherit_descriptor", "", NULL, false},
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

/* weak_bwrap under a name that says what is missing. */
static bool layers_bwrap(const char *missing, char *path, size_t size)
{
    snprintf(path, size, "%s/bwrap-%s", world_get("base"), missing);
    return access(path, X_OK) == 0 ||
           laz_os_copy_file("tests/enforce/weak_bwrap", path, 0755, NULL) == 0;
}

static const char *layers_code(const char *name)
{
    for (const struct probe *probe = probes; probe->name; probe++)
        if (strcmp(probe->name, name) == 0)
            return probe->code;
    return name;
}

/* What comes of the probe when these layers are missing. */
static const char *layers_try(const struct layer *row, const char *missing)
{
    static char words[2][400];
    static unsigned next;
    char *word = words[next++ % 2], settings[700] = "", names[128], path[200];
    struct laz_session_options options = {.size = sizeof options, .runtime = "attack"};
    struct laz_error err = {0};
    struct arena box;
    size_t n = 0;

    if (row->settings[0])
        n += (size_t)snprintf(settings, sizeof settings, "%s;", row->settings);
    layers_of("bwrap", missing, names, sizeof names);
    if (names[0] && layers_bwrap(names, path, sizeof path))
        n += (size_t)snprintf(settings + n, sizeof settings - n, "sandbox.bwrap.program=%s;", path);
    layers_of("agent", missing, names, sizeof names);
    if (names[0])
        n += (size_t)snprintf(settings + n, sizeof settings - n,
                              "env.set={LAZ_TEST_WITHOUT=\"%s\"};", names);
    layers_of("host", missing, layers_host, sizeof layers_host);
    if (n)
        settings[n - 1] = '\0';
    snprintf(word, sizeof words[0], "no engine");
    if (arena_engine(&box, row->backend ? row->backend : "bwrap", settings)) {
        if (layers_host_lacks("uid"))
            box.uid = LAZ_SPAWN_SAME_ID;
        if (laz_session_open(box.engine, &options, &box.session, &err))
            snprintf(word, sizeof words[0], "no session: %.300s", err.text);
        else if (strcmp(row->probe, "start") == 0)
            snprintf(word, sizeof words[0], "through");
        else if (arena_victim(&box))
            snprintf(word, sizeof words[0], "%s", arena_try(&box, layers_code(row->probe)));
    }
    arena_close(&box);
    layers_host[0] = '\0';
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
        bool held = strcmp(with, "through") != 0 && (start || !strstr(with, "no session"));
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
        printf("what is to be attacked cannot be made\n");
        return 1;
    }
    int rc = unit_run("layers", tests);
    world_end();
    free(agent);
    return rc;
}
