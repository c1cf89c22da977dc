/* SPDX-License-Identifier: MIT */
/* usual.c - the runtime of whoever names none: that of the settings; where they name none the
 * default, if it works here, and else the first other language that does, by its name.
 * Side: host.  Input trusted: no (descriptions of runtimes, what the loader of the system says).
 *
 * No box is started for it. A runtime works when its description can be used, the files are there
 * without which its interpreter does not start, and the loader finds its libraries: by a look into
 * the loader's own list, which is all that the usual case costs, or by a process that opens the
 * plugin as the agent would, without starting the interpreter. What is found holds as long as the
 * registry. */
#include "plugin/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/files.h"
#include "os/io.h"
#include "os/library.h"
#include "os/paths.h"
#include "os/signals.h"
#include "os/spawner.h"
#include "os/trust.h"
#include "settings/settings.h"

#define USUAL_WORDS 1024              /* bytes that it says of a failure, at most */
#define USUAL_AGENT "lazaret-agent: " /* before what it says */

void laz_usual_fini(struct laz_usual *usual)
{
    free(usual->why);
    free(usual->problem);
}

/* ---- does it work? -------------------------------------------------------------------------- */

static int usual_missing(const char *path, struct laz_error *err)
{
    struct laz_look look;
    const int problem = laz_os_look(path, true, &look);

    return problem ? laz_error_os(err, problem, "%s", path) : 0;
}

/* Waits for the process. Its end, or why the plugin cannot be opened: the first line that it says,
 * without its name. */
static int usual_listen(struct laz_process *process, uint64_t wait_ms, int words,
                        struct laz_error *err)
{
    char text[USUAL_WORDS];
    struct laz_exit how = {0};
    const char *said = text;

    if (!laz_process_wait(process, wait_ms, &how)) {
        laz_process_signal_group(process, SIGKILL);
        laz_process_wait(process, wait_ms, &how);
        return laz_error_set(err, LAZ_ETIMEOUT, 0,
                             "its plugin is not opened within session.start_timeout");
    }
    if (how.known && !how.status && !how.signal)
        return 0;
    ssize_t n = laz_os_await(words, 0) ? read(words, text, sizeof text - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, USUAL_AGENT, strlen(USUAL_AGENT)) == 0)
        said += strlen(USUAL_AGENT);
    return laz_error_set(err, LAZ_EPLUGIN, 0, "%s", *said ? said : "its plugin cannot be opened");
}

/* Has the agent's program open the plugin, with the environment of a box as far as the loader goes:
 * none. */
static int usual_ask(const struct laz_runtime_info *info, uint64_t wait_ms,
                     const struct laz_strv *libraries, struct laz_error *err)
{
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_spawner *spawner = NULL;
    struct laz_strv argv = LAZ_STRV_INIT;
    static const char *const env[] = {NULL};
    char *agent = laz_installed_agent();
    int ends[2] = {-1, -1};

    laz_strv_add(&argv, agent ? agent : "");
    laz_strv_add(&argv, "--describe");
    laz_strv_add(&argv, info->file);
    for (size_t i = 0; i < libraries->n; i++)
        laz_strv_add(&argv, libraries->items[i]);
    int rc = !agent || argv.failed ? laz_error_nomem(err) : laz_trust_file(agent, err);
    if (!rc)
        rc = laz_os_cloexec_pipe(&ends[0], &ends[1], err);
    if (!rc)
        rc = laz_spawner_new(&spawner, err);
    if (!rc) {
        const struct laz_spawn_fd fds[] = {{ends[1], 2}};
        const struct laz_spawn spawn = {
            LAZ_SPAWN_OWN((const char *const *)argv.items, env, fds),
            .no_priority = true,
            .death_signal = SIGKILL,
        };
        rc = laz_spawner_spawn(spawner, &spawn, &process, err);
    }
    laz_os_close(&ends[1]);
    if (!rc)
        rc = usual_listen(&process, wait_ms, ends[0], err);
    laz_process_close(&process);
    laz_spawner_free(spawner);
    laz_os_close(&ends[0]);
    laz_strv_fini(&argv);
    free(agent);
    return rc;
}

/* 0, or why it does not work, as far as that shows before it is started. */
static int usual_check(const struct laz_runtime_info *info, uint64_t wait_ms, struct laz_error *err)
{
    struct laz_strv libraries = LAZ_STRV_INIT;
    bool is_known = true;
    int rc = laz_runtime_libraries(info, &libraries, err);

    for (size_t i = 0; !rc && i < info->needs.n; i++)
        rc = usual_missing(info->needs.items[i], err);
    for (size_t i = 0; !rc && i < libraries.n; i++) {
        const char *library = libraries.items[i];
        if (laz_os_is_absolute(library) || strchr(library, '/'))
            rc = laz_trust_file(library, err);
        else
            is_known = is_known && laz_library_is_listed(library);
    }
    if (!rc && !is_known)
        rc = usual_ask(info, wait_ms, &libraries, err);
    laz_strv_fini(&libraries);
    return rc;
}

/* A machine that has no time or memory says nothing of a runtime: that is an error, and nobody
 * keeps it. */
static bool usual_is_unknown(const struct laz_error *problem)
{
    return problem->code == LAZ_ETIMEOUT || laz_error_is_shortage(problem);
}

/* ---- the choice ----------------------------------------------------------------------------- */

struct usual_search {
    const char *first; /* the default */
    const struct laz_runtime_info **others;
    size_t n;
    bool failed;
};

/* What takes no files is no language. */
static void usual_visited(void *user, const struct laz_runtime_info *info)
{
    struct usual_search *search = user;

    if (!info->suffixes.n || strcmp(info->name, search->first) == 0)
        return;
    const struct laz_runtime_info **slot =
        laz_grow(&search->others, &search->n, sizeof *search->others);
    if (slot)
        *slot = info;
    search->failed |= !slot;
}

static int usual_compare(const void *a, const void *b)
{
    return strcmp((*(const struct laz_runtime_info *const *)a)->name,
                  (*(const struct laz_runtime_info *const *)b)->name);
}

/* Appends "NAME is not installed" or "NAME does not work (WHY)". */
static void usual_tell(struct laz_buf *text, const char *name, const struct laz_error *why)
{
    if (why->code == LAZ_ENOENT)
        laz_buf_printf(text, "%s is not installed", name);
    else
        laz_buf_printf(text, "%s does not work (%s)", name, why->text);
}

/* Nothing works: the message, with what can be installed. */
static char *usual_problem(struct laz_registry *registry, const char *why)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_printf(&text, "no language can be run here: %s", why);
    laz_registry_tell_packages(registry, &text);
    laz_buf_puts(&text, "; `lazaret plugins` lists what was found");
    laz_registry_ignored(registry, &text);
    return laz_buf_steal(&text);
}

/* The first of the others that works. The problems of those before it are appended to `why`. */
static int usual_try_others(struct laz_registry *registry, const struct laz_settings_values *values,
                            struct laz_usual *usual, struct laz_buf *why, struct laz_error *err)
{
    struct usual_search search = {.first = laz_settings_runtime(values)};
    int rc = 0;

    laz_registry_visit_runtimes(registry, usual_visited, &search);
    if (search.failed)
        rc = laz_error_nomem(err);
    if (search.n)
        qsort(search.others, search.n, sizeof *search.others, usual_compare);
    for (size_t i = 0; !rc && !usual->info && i < search.n; i++) {
        struct laz_error problem = {0};
        if (!usual_check(search.others[i], values->session.start_timeout_ms, &problem)) {
            rc = laz_registry_runtime(registry, search.others[i]->name, &usual->info, err);
        } else if (usual_is_unknown(&problem)) {
            rc = problem.code;
            if (err)
                *err = problem;
        } else {
            laz_buf_puts(why, ", ");
            usual_tell(why, search.others[i]->name, &problem);
        }
    }
    free(search.others);
    return rc;
}

static int usual_choose(struct laz_registry *registry, const struct laz_settings_values *values,
                        struct laz_usual *usual, struct laz_error *err)
{
    const char *first = laz_settings_runtime(values);
    struct laz_buf why = LAZ_BUF_INIT;
    struct laz_error problem = {0};
    int rc = laz_registry_runtime(registry, first, &usual->info, &problem);

    if (!rc)
        rc = usual_check(usual->info, values->session.start_timeout_ms, &problem);
    if (!rc)
        return 0;
    usual->info = NULL;
    if (usual_is_unknown(&problem)) {
        if (err)
            *err = problem;
        return rc;
    }
    usual_tell(&why, first, &problem);
    rc = usual_try_others(registry, values, usual, &why, err);
    if (!rc && !(usual->why = laz_buf_steal(&why)))
        rc = laz_error_nomem(err);
    laz_buf_fini(&why);
    if (!rc && !usual->info && !(usual->problem = usual_problem(registry, usual->why)))
        rc = laz_error_nomem(err);
    if (rc) {
        laz_usual_fini(usual);
        *usual = (struct laz_usual){0};
    }
    return rc;
}

int laz_registry_usual(struct laz_registry *registry, const struct laz_settings_values *values,
                       const struct laz_runtime_info **info, struct laz_error *err)
{
    struct laz_usual *usual = laz_registry_usual_kept(registry);
    const char *first = laz_settings_runtime(values);

    *info = NULL;
    if (values->session.runtime)
        return laz_registry_runtime(registry, first, info, err);
    int rc = usual->info || usual->problem ? 0 : usual_choose(registry, values, usual, err);
    if (!rc && usual->problem)
        return laz_error_set(err, LAZ_ENOENT, 0, "%s", usual->problem);
    *info = usual->info;
    return rc;
}

const char *laz_registry_usual_name(struct laz_registry *registry,
                                    const struct laz_settings_values *values)
{
    const struct laz_runtime_info *info = NULL;

    if (!values->session.runtime)
        laz_registry_usual(registry, values, &info, NULL);
    return info ? info->name : laz_settings_runtime(values);
}

const char *laz_registry_usual_why(struct laz_registry *registry)
{
    const struct laz_usual *usual = laz_registry_usual_kept(registry);

    return usual->info ? usual->why : NULL;
}
