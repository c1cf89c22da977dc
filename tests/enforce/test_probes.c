/* SPDX-License-Identifier: MIT */
/* test_probes.c - runs every probe of the table in every backend, and without one.
 *
 * A session from a template must refuse the same as one with its own bwrap, so the same answers are
 * expected. A probe proves something only if it succeeds where nothing stops it, so each is tried
 * there first, once for all backends. Started by root, all of it runs twice: with sessions that get
 * uids of their own, and wholly as an ordinary user. */
#include "attack.h"
#include "probes.h"
#include "session/live.h"
#include "unit.h"
#include "world.h"

#include "os/paths.h"
#include "os/users.h"

#include <dirent.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDINARY_UID 65534u

static const char *backend; /* under test */
static bool root_follows;   /* a run of the same program as root follows */

/* ---- one probe ------------------------------------------------------------------------------ */

static const char *probe_expected(const struct probe *probe)
{
    return strcmp(backend, "landlock") == 0 ? probe->landlock : probe->bwrap;
}

/* Outcomes without a sandbox on a machine that has nothing to refuse. */
static const struct {
    const char *name, *word;
} probe_lacks[] = {
    {"read_machine_of_virtualisation", "ENOENT"},
    /* the kernel, or its hypervisor, has no entry for 32-bit programs: the processor faults */
    {"call_as_32_bit", "signal 11"},
};

static const char *probe_lacking(const struct probe *probe)
{
    for (size_t i = 0; i < sizeof probe_lacks / sizeof *probe_lacks; i++)
        if (strcmp(probe_lacks[i].name, probe->name) == 0)
            return probe_lacks[i].word;
    return NULL;
}

/* Does it succeed without a sandbox? *lacking: why there is nothing that it could succeed at on
 * this machine, as an outcome; else NULL. */
static bool probe_try_open(struct arena *open, const struct probe *probe, const char **lacking)
{
    const char *word, *lack = probe_lacking(probe);

    const bool is_unshown =
        probe->control == PROBE_ROOT && !laz_os_is_root(); /* was counted as skipped */

    *lacking = NULL;
    if (is_unshown && !lack)
        return true;
    if (!arena_victim(open))
        return false;
    word =
        probe->control == PROBE_OPEN ? arena_try(open, probe->code) : arena_bare(open, probe->code);
    if (lack && strcmp(word, lack) == 0)
        *lacking = lack;
    if (is_unshown || strcmp(word, "through") == 0)
        return true;
    printf("\n    %s%s: without a sandbox: %s", *lacking ? "SKIP " : "", probe->name, word);
    return *lacking;
}

/* What has been found without a sandbox, which is the same whatever backend is under test. */
static struct control {
    bool is_known, works;
    const char *lacking;
} controls[512];

static struct control *control_of(const struct probe *probe)
{
    CU_ASSERT_FATAL((size_t)(probe - probes) < sizeof controls / sizeof *controls);
    return &controls[probe - probes];
}

static bool probe_inside(struct arena *box, const struct probe *probe, const char *lacking)
{
    if (!arena_victim(box))
        return false;
    const char *word = arena_try(box, probe->code);
    bool right = strcmp(word, "through") != 0 && (arena_is_one_of(word, probe_expected(probe)) ||
                                                  (lacking && strcmp(word, lacking) == 0));
    if (!right)
        printf("\n    %s: in %s: %s, expected %s", probe->name, backend, word,
               probe_expected(probe));
    return right;
}

/* ---- the matrix ----------------------------------------------------------------------------- */

static bool probes_prelude(struct arena *arena, enum probe_language language)
{
    return !probe_preludes[language] ||
           strcmp(arena_try(arena, probe_preludes[language]), "ready") == 0;
}

static bool is_due(const struct probe *probe, enum probe_language language)
{
    /* with sanitizers there is no such limit, because they need memory */
    return probe->language == language && probe_expected(probe) &&
           !(TEST_IS_SANITIZED && strcmp(probe->name, "raise_limit_of_data") == 0);
}

/* Without a sandbox, those that no earlier backend has had. */
static bool controls_of(enum probe_language language)
{
    struct arena open;
    bool is_open = false;

    for (const struct probe *probe = probes; probe->name; probe++) {
        struct control *control = control_of(probe);
        if (!is_due(probe, language) || control->is_known)
            continue;
        if (!is_open) {
            if (!arena_open(&open, "none", probe_runtimes[language],
                            "env.allow=[\"" WORLD_SECRET "\"];session.max_executions=0;"
                            "limits.nproc=unlimited")) /* all of an ordinary user would count */
                return false;
            is_open = true;
            CU_ASSERT_FATAL(probes_prelude(&open, language));
        }
        control->works = probe_try_open(&open, probe, &control->lacking);
        control->is_known = true;
    }
    if (is_open)
        arena_close(&open);
    return true;
}

/* Runs all probes of one language: the controls and the attacks. */
static void probes_of(enum probe_language language)
{
    struct arena box;
    int n = 0;

    if (!controls_of(language))
        return;
    if (arena_open(&box, backend, probe_runtimes[language], "limits.session_cpu=60")) {
        CU_ASSERT_EQUAL(strstr(laz_session_isolation(box.session), "of the template") != NULL,
                        strcmp(backend, WORLD_TEMPLATE) == 0);
        CU_ASSERT_FATAL(probes_prelude(&box, language));
        for (const struct probe *probe = probes; probe->name; probe++) {
            const struct control *control = control_of(probe);
            if (!is_due(probe, language))
                continue;
            bool inside = probe_inside(&box, probe, control->lacking);
            CU_ASSERT(control->works);
            CU_ASSERT(inside);
            n++;
        }
        printf("\n    %d probes of %s in %s", n, probe_runtimes[language], backend);
    }
    arena_close(&box);
}

static void attacks_get_nowhere(void)
{
    struct arena neighbour;

    if (!arena_open(&neighbour, backend, probe_runtimes[PROBE_ATTACK], ""))
        return;
    world_set("neighbour", arena_directory(&neighbour));
    probes_of(PROBE_ATTACK);
    arena_close(&neighbour);
}

static void what_only_root_may_do_works_outside(void)
{
    if (!laz_os_is_root() && !root_follows)
        (void)unit_skip("root", "that these attacks work without a sandbox is not shown");
}

static void python_gets_nowhere(void)
{
    probes_of(PROBE_PYTHON);
}

static void r_gets_nowhere(void)
{
    probes_of(PROBE_R);
}

static void lua_gets_nowhere(void)
{
    probes_of(PROBE_LUA);
}

/* What others do with a directory while a control watches it is nothing that ends the control. */
static void a_watched_directory_may_be_read_by_others(void)
{
    char directory[] = "/tmp/probes-lazaret-XXXXXX", line[64], word[64] = "through";

    if (strcmp(backend, "bwrap") != 0) /* once */
        return;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    pid_t reader = fork();
    while (reader == 0) {
        DIR *list = opendir(directory);
        while (list && readdir(list))
            ;
        if (!list || getppid() == 1)
            _exit(0);
        closedir(list);
    }
    snprintf(line, sizeof line, "notify %s", directory);
    for (int i = 0; i < 300 && strcmp(word, "through") == 0; i++)
        attack_run(line, word, sizeof word);
    UNIT_TEXT(word, "through");
    kill(reader, SIGKILL);
    CU_ASSERT_EQUAL(waitpid(reader, NULL, 0), reader);
    rmdir(directory);
}

static const struct unit_test tests[] = {
    UNIT(attacks_get_nowhere),
    UNIT(what_only_root_may_do_works_outside),
    UNIT(python_gets_nowhere),
    UNIT(r_gets_nowhere),
    UNIT(lua_gets_nowhere),
    UNIT(a_watched_directory_may_be_read_by_others),
    {0},
};

/* ---- users ---------------------------------------------------------------------------------- */

static int run_here(const char *who)
{
    static const char *const backends[] = {"bwrap", WORLD_TEMPLATE, "landlock"};
    char suite[96];
    int rc = 0;

    if (!world_make()) {
        printf("what is to be attacked cannot be created\n");
        rc = 1;
    }
    for (size_t i = 0; i < sizeof backends / sizeof *backends && !rc; i++) {
        backend = backends[i];
        snprintf(suite, sizeof suite, "probes in %s, %s", backend, who);
        rc |= unit_run(suite, tests);
    }
    world_end();
    return rc;
}

/* Runs the same tests as an ordinary user. */
static int run_as_ordinary_user(void)
{
    int status;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) != 0 ||
            setresuid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) != 0)
            _exit(1);
        root_follows = true;
        int rc = run_here("an ordinary user's");
        fflush(stdout);
        _exit(rc);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void)
{
    int rc = 0;

    /* scripts/check makes a copy of the build for the ordinary user, who runs this test there */
    const char *agent = getenv("LAZARET_TEST_COPY") ? NULL : getenv("LAZARET_AGENT");
    if (laz_os_is_root() && agent && laz_os_is_reachable(agent, ORDINARY_UID, true))
        rc = run_as_ordinary_user();
    return rc | run_here(laz_os_is_root() ? "root's" : "an ordinary user's");
}
