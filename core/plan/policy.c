/* SPDX-License-Identifier: MIT */
/* policy.c - makes the policy of a session: what it may see, write and use.
 * Side: host.  Input trusted: yes (validated settings, descriptors of installed runtimes).
 *
 * In the list of paths each path comes after the directories that contain it.  So a setting for a
 * directory inside another one takes effect in any order of the file (a read-only directory within
 * a writable one, say).  Where the settings show a directory of the host, no path of lazaret is put
 * over it.  For a system whose rules match the real path of a file only (policy_paths.c), all paths
 * are real, and the links on the way are listed too. */
#include "plan/policy.h"

#include "base/path.h"
#include "plan/policy_private.h"
#include "plan/programs.h"
#include "os/landlock.h"
#include "os/paths.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A policy and the memory of everything it points to. */
struct policy_memory {
    struct laz_policy_box box; /* the first member: laz_policy_free gets its address */
    struct laz_policy_paths paths;
    struct laz_strv env, command, programs;
    struct laz_strv real; /* real paths of the session's socket, agent and runtime */
    char *home, *host_command, *options;
};

/* The policy that is being made, and what it depends on. */
struct policy_work {
    const struct laz_settings_values *values;
    const struct laz_runtime_info *runtime;
    const struct laz_policy_session *session;
    struct policy_memory *memory;
    const char *platform;
    bool own_files; /* the backend makes a new file system */
    bool here;      /* the platform is this one: paths can be checked */
    bool windows;   /* paths begin with a drive and may have backslashes; in the list: slashes */
    bool any;       /* all programs of the host may be executed */
    bool by_real;   /* the box shows the host's files, and rules match real paths (macOS) */
};

/* Directories that every box makes itself: the settings may name neither these nor directories that
 * contain them. */
static const struct {
    const char *path;
    bool below; /* nor anything inside */
} policy_reserved[] = {
    {"/proc", true},
    {"/dev", true},
    {"/run/lazaret", true},
    {LAZ_BOX_HOME, false},
};

/* ---- the settings' paths -------------------------------------------------------------------- */

#define POLICY_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static void policy_replace(char *path, char old, char by)
{
    for (char *c = strchr(path, old); c; c = strchr(c, old))
        *c = by;
}

/* Gives a copy without slashes at the end; NULL and an error if the path cannot be used. On Windows
 * "C:\\..." and "C:/..." are the same; the copy is the latter. */
static char *policy_clean(const struct policy_work *work, const char *key, const char *path,
                          struct laz_error *err)
{
    const char *why = NULL;
    char *copy = laz_strdup(path);

    if (!copy) {
        laz_error_nomem(err);
        return NULL;
    }
    if (work->windows)
        policy_replace(copy, '\\', '/');
    size_t len = strlen(copy), root = 0; /* root: offset of the first slash */
    if (work->windows)
        root = strspn(copy, POLICY_LETTERS) == 1 && copy[1] == ':' ? 2 : len;
    if (copy[root] != '/')
        why = work->windows ? "is not an absolute path of Windows (C:\\...)"
                            : "is not an absolute path";
    while (!why && len > root + 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    for (const char *part = copy + root; !why && copy[root + 1] && part;
         part = strchr(part + 1, '/')) {
        size_t n = strcspn(part + 1, "/");
        if (n == 0 || (n <= 2 && strspn(part + 1, ".") == n))
            why = "has an empty part, \".\" or \"..\": write the full path";
    }
    if (!why)
        return copy;
    laz_error_set(err, LAZ_ECONFIG, 0, "%s: %s %s", key, path, why);
    free(copy);
    return NULL;
}

static int policy_check_reserved(const char *key, const char *path, struct laz_error *err)
{
    for (size_t i = 0; i < sizeof policy_reserved / sizeof policy_reserved[0]; i++) {
        const char *own = policy_reserved[i].path;
        if (strcmp(path, own) == 0 || (policy_reserved[i].below && laz_path_is_below(path, own)))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "%s: %s cannot be given, the box has a %s of its own", key, path,
                                 own);
        if (laz_path_is_below(own, path))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "%s: %s cannot be given as a whole, the box has a %s of its own: "
                                 "name the directories in it that are needed",
                                 key, path, own);
    }
    return 0;
}

static int policy_check_exists(const struct policy_work *work, const char *key, uint32_t kind,
                               const char *path, struct laz_error *err)
{
    uint32_t uid = work->session->uid;
    struct laz_look look;

    if (!work->here)
        return 0;
    int failed = laz_os_look(path, true, &look);
    if (failed)
        return laz_error_set(err, LAZ_ECONFIG, failed, "%s: %s: %s", key, path,
                             failed == ENOENT ? "no such file or directory"
                                              : laz_errno_text(failed));
    if (uid != LAZ_SPAWN_SAME_ID && !laz_os_is_reachable(path, uid, false))
        return laz_error_set(err, LAZ_ECONFIG, EACCES,
                             "%s: %s cannot be reached by the session, which has a uid of its own "
                             "when lazaret runs as root: let others read it and search the "
                             "directories above (chmod o+x), or move it",
                             key, path);
    if (kind == LAZ_PATH_WRITE && uid != LAZ_SPAWN_SAME_ID && !laz_os_is_writable(path, uid))
        return laz_error_set(err, LAZ_ECONFIG, EACCES,
                             "%s: %s cannot be written by the session, which has a uid of its own "
                             "when lazaret runs as root: let others write it (chmod o+w)",
                             key, path);
    return 0;
}

/* Checks that only root and the user can change a path that an option of a runtime names: the
 * runtime loads it, in a template even before the confinement. */
static int policy_check_trusted(const struct policy_work *work, const char *key, const char *path,
                                struct laz_error *err)
{
    struct laz_look look;

    if (!work->here || laz_os_look(path, true, &look))
        return 0;
    if (look.kind == LAZ_LOOK_DIRECTORY ? !laz_trust_directory(path, err)
                                        : !laz_trust_file(path, err))
        return 0;
    laz_error_prefix(err, "%s: ", key);
    return laz_error_as(err, LAZ_ECONFIG);
}

/* The real path, with all links followed; NULL: not known. */
static char *policy_followed(const struct policy_work *work, const char *path)
{
    if (work->by_real)
        return laz_policy_real(path, work->here);
    return work->here ? laz_os_real_path(path) : NULL;
}

/* True if `path` is `directory` or inside of it, as written or with links followed. */
static bool policy_lies_in(const struct policy_work *work, const char *path, const char *directory)
{
    char *real = path ? policy_followed(work, path) : NULL;
    char *real_directory = policy_followed(work, directory);
    bool lies = path && laz_path_is_within(path, directory);

    if (real && real_directory)
        lies |= laz_path_is_within(real, real_directory);
    free(real);
    free(real_directory);
    return lies;
}

/* Refuses paths that would show the files of other sessions, or let code change what later sessions
 * run. */
static int policy_check_own(const struct policy_work *work, const char *key, uint32_t kind,
                            const char *path, struct laz_error *err)
{
    const struct laz_policy_session *session = work->session;

    if (!work->own_files && policy_lies_in(work, session->socket_directory, path))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s: %s cannot be given as a whole, the directories of all sessions "
                             "are in it: name the directories in it that are needed",
                             key, path);
    const bool is_trust = policy_lies_in(work, session->trust, path);
    if (kind == LAZ_PATH_WRITE && (is_trust || policy_lies_in(work, session->staged, path)))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s: %s cannot be given, the %s of later sessions are kept in "
                             "it: code could change them",
                             key, path, is_trust ? "certificates" : "programs");
    if (kind == LAZ_PATH_WRITE && (policy_lies_in(work, session->agent, path) ||
                                   policy_lies_in(work, session->commands, path) ||
                                   policy_lies_in(work, session->runtime_file, path)))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s: %s cannot be given, lazaret itself is installed there: code "
                             "could change what runs next",
                             key, path);
    return 0;
}

/* Refuses options that name a path in a directory that sessions write (policy_hide_written): a
 * template would load what untrusted code has put there. */
static int policy_check_template(const struct policy_work *work, const char *key, const char *path,
                                 struct laz_error *err)
{
    const struct laz_strv *write = &work->values->sandbox.write;

    for (size_t i = 0; work->session->nests && i < write->n; i++)
        if (policy_lies_in(work, path, write->items[i]))
            return laz_error_set(err, LAZ_EREFUSED, 0,
                                 "%s: %s lies in %s of sandbox.write: a template would run what "
                                 "code has put there before it is confined",
                                 key, path, write->items[i]);
    return 0;
}

static void policy_add(struct policy_work *work, uint32_t kind, enum laz_policy_rank rank,
                       const char *host, const char *box)
{
    laz_policy_paths_add(&work->memory->paths,
                         (struct laz_policy_path){.kind = kind,
                                                  .rank = rank,
                                                  .optional = rank == LAZ_POLICY_RUNTIME,
                                                  .from_settings = rank >= LAZ_POLICY_PIN &&
                                                                   rank <= LAZ_POLICY_WRITE},
                         host, box);
}

/* The innermost directory of the settings that contains `path`, and its length without slashes at
 * the end; "" if there is none. */
static const char *policy_around(const struct policy_work *work, const char *path, size_t *most,
                                 bool *writable)
{
    const struct laz_strv *const lists[] = {&work->values->sandbox.read,
                                            &work->values->sandbox.write};
    const char *around = "";

    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->n; i++) {
            const char *directory = lists[l]->items[i];
            size_t len = strlen(directory);
            while (len > 1 && directory[len - 1] == '/')
                len--;
            if (len < *most || strncmp(path, directory, len) != 0 || path[len] != '/')
                continue; /* a name in both lists counts as writable, as in the box */
            *most = len;
            around = directory;
            *writable = l == 1;
        }
    }
    return around;
}

/* Checks a path inside a directory that code can write. Code could replace a part of the path by a
 * link, and the next session would show the target of the link. So the path must not contain a
 * link, and in a box every directory on the way becomes a mount of its own, which can neither be
 * renamed nor removed (rename(2), EBUSY). *shown: the path needs no entry, since the directory
 * shows it. */
static int policy_within(struct policy_work *work, const char *key, uint32_t kind, bool option,
                         const char *path, bool *shown, struct laz_error *err)
{
    bool writable = false;
    size_t len = 0;
    const char *around = policy_around(work, path, &len, &writable);
    int rc = 0;

    *shown = writable && !work->own_files;
    if (*shown && kind == LAZ_PATH_READ && !option)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s: %s lies in %s, which can be written: a session without its own "
                             "file system can write there, too",
                             key, path, around);
    if (!writable || *shown)
        return 0;
    if (work->here) {
        char *real = laz_os_real_path(path), *real_around = laz_os_real_path(around);
        size_t n = real_around ? strlen(real_around) : 0;
        if (!real || !real_around || strncmp(real, real_around, n) != 0 ||
            strcmp(real + n, path + len) != 0)
            rc = laz_error_set(err, LAZ_ECONFIG, 0,
                               "%s: the path %s goes through a link in %s, where code can make "
                               "links: use the path to which it leads",
                               key, path, around);
        free(real);
        free(real_around);
    }
    for (const char *at = strchr(path + len + 1, '/'); !rc && at; at = strchr(at + 1, '/')) {
        char *pin = laz_strndup(path, (size_t)(at - path));
        if (!pin)
            return laz_error_nomem(err);
        policy_add(work, LAZ_PATH_WRITE, LAZ_POLICY_PIN, pin, pin);
        free(pin);
    }
    return rc;
}

static int policy_settings_path(struct policy_work *work, const char *given, const char *key,
                                uint32_t kind, bool option, struct laz_error *err)
{
    char *path = policy_clean(work, key, given, err);
    bool shown = false;
    int rc = path ? 0 : err->code;

    if (!rc && work->own_files)
        rc = policy_check_reserved(key, path, err);
    if (!rc)
        rc = policy_check_exists(work, key, kind, path, err);
    if (!rc && option)
        rc = policy_check_trusted(work, key, path, err);
    if (!rc && option)
        rc = policy_check_template(work, key, path, err);
    if (!rc)
        rc = policy_check_own(work, key, kind, path, err);
    if (!rc)
        rc = policy_within(work, key, kind, option, path, &shown, err);
    if (!rc && !shown)
        policy_add(work, kind, kind == LAZ_PATH_WRITE ? LAZ_POLICY_WRITE : LAZ_POLICY_READ, path,
                   path);
    free(path);
    return rc;
}

/* The list of a key, or, with the table of the runtime as the key, of its options. */
static int policy_settings_paths(struct policy_work *work, const struct laz_strv *list,
                                 const char *key, uint32_t kind, struct laz_error *err)
{
    bool option = list == work->session->read;
    int rc = 0;

    for (size_t i = 0; list && i < list->n && !rc; i++) {
        rc = policy_settings_path(work, list->items[i], key, kind, option, err);
        rc = laz_settings_wrong(work->values, key, list->items[i], rc, err);
    }
    return rc;
}

/* A trial runs nothing, and no backend of Windows enforces it. */
static int policy_protected_paths(struct policy_work *work, struct laz_error *err)
{
    const struct laz_policy_protect protect = {
        .names = &work->values->sandbox.protect,
        .uid = work->session->uid,
        .here = work->here,
        .own_files = work->own_files,
        .by_real = work->by_real,
        .protects = &work->memory->box.protects,
    };

    if (!work->runtime || work->windows)
        return 0;
    return laz_settings_wrong(work->values, "sandbox.protect", NULL,
                              laz_policy_protect(&protect, &work->memory->paths, err), err);
}

/* ---- the system's and the runtime's paths --------------------------------------------------- */

/* True if a directory that laz_programs_stage has made shows the path. */
static bool policy_is_staged(const struct policy_work *work, const char *box)
{
    return work->own_files && !work->any && work->session->staged &&
           laz_programs_has_etc(work->session->programs, box);
}

static void policy_system_path(void *user, uint32_t kind, const char *host, const char *box)
{
    struct policy_work *work = user;

    if (!host) {
        work->memory->paths.failed = true;
        return;
    }
    if (kind == LAZ_PATH_SYMLINK && !work->own_files && !work->by_real)
        return; /* the host's own link is there */
    if (policy_is_staged(work, box))
        return;
    laz_policy_paths_add(&work->memory->paths,
                         (struct laz_policy_path){.kind = kind,
                                                  .rank = LAZ_POLICY_SYSTEM,
                                                  .optional = kind != LAZ_PATH_SYMLINK &&
                                                              strcmp(box, "/usr") != 0 &&
                                                              strcmp(host, box) == 0},
                         host, box);
}

static void policy_system_paths(struct policy_work *work)
{
    const struct laz_programs *programs = work->session->programs;

    if (!work->here)
        laz_os_usual_paths(work->platform, work->any, policy_system_path, work);
    else if (!programs)
        laz_os_system_paths(true, work->session->has_network, policy_system_path, work);
    for (size_t i = 0; work->here && programs && i < programs->n_system; i++)
        policy_system_path(work, programs->system[i].kind, programs->system[i].host,
                           programs->system[i].box);
}

/* Adds the programs. A box without its own file system has them at the host's paths, and the list
 * only says which may be read and executed. */
static void policy_programs(struct policy_work *work)
{
    const struct laz_programs *programs = work->session->programs;

    if (work->any)
        return;
    for (size_t i = 0; i < programs->allowed.n; i++)
        laz_strv_add(&work->memory->programs, programs->allowed.items[i]);
    if (work->own_files && work->session->staged) {
        laz_programs_paths(programs, work->session->staged, policy_system_path, work);
        return;
    }
    for (size_t i = 0; i < programs->n_parts; i++)
        policy_system_path(work, programs->parts[i].kind, programs->parts[i].text,
                           programs->parts[i].path);
}

/* True if a copy stands for a file of the runtime. Not for a template, whose paths are compared
 * with those that its sessions write, nor where code may write something in the same directory. */
static bool policy_is_copied(const struct policy_work *work, const char *path)
{
    const struct laz_strv *write = &work->values->sandbox.write;
    bool copied = !work->session->nests && policy_is_staged(work, path);

    for (size_t i = 0; copied && i < write->n; i++)
        copied = strncmp(write->items[i], LAZ_PROGRAMS_ETC, strlen(LAZ_PROGRAMS_ETC)) != 0;
    return copied;
}

static void policy_runtime_paths(struct policy_work *work)
{
    const struct laz_programs *programs = work->session->programs;
    const struct laz_strv *read = work->runtime ? &work->runtime->read : NULL;
    uint32_t uid = work->session->uid;
    const bool known = work->here && programs && programs->runtime == work->runtime;

    if (known && read)
        read = &programs->read;
    for (size_t i = 0; read && i < read->n; i++) {
        const char *path = read->items[i];
        if (work->here ? !laz_os_is_absolute(path) : path[0] != '/')
            continue;
        if (work->here && !known && uid != LAZ_SPAWN_SAME_ID &&
            !laz_os_is_reachable(path, uid, false))
            continue; /* treated as missing */
        if (!policy_is_copied(work, path))
            policy_add(work, LAZ_PATH_READ, LAZ_POLICY_RUNTIME, path, path);
    }
}

/* ---- lazaret's own: agent, runtime, socket, home -------------------------------------------- */

static const char *policy_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void policy_own_path(struct policy_work *work, const char *host, const char *box)
{
    if (host)
        policy_add(work, LAZ_PATH_READ, LAZ_POLICY_OWN, host, work->own_files ? box : host);
}

/* What tools are links to as commands may be started like a listed program. */
static void policy_own_commands(struct policy_work *work)
{
    const char *commands = work->session->commands;
    const char *shown = work->own_files ? LAZ_BOX_COMMANDS : commands;

    if (!commands)
        return;
    policy_own_path(work, commands, shown);
    if (!work->any)
        laz_strv_add(&work->memory->programs, shown);
    work->memory->box.commands = laz_strdup(shown);
    work->memory->paths.failed |= !work->memory->box.commands;
}

/* The path in the box of the runtime, or of a library that lies beside it. A new string. */
static char *policy_own_file(struct policy_work *work, const char *host)
{
    char *file = work->own_files ? laz_strdupf(LAZ_BOX_RUNTIME "%s", policy_base_name(host))
                                 : laz_strdup(host);

    if (file)
        policy_own_path(work, host, file);
    else
        work->memory->paths.failed = true;
    return file;
}

static void policy_own_libraries(struct policy_work *work)
{
    const struct laz_strv *all = work->session->libraries;

    for (size_t i = 0; all && i < all->n; i++) {
        bool is_own = strcmp(all->items[i], work->runtime->libraries.items[i]) != 0;
        char *file = is_own ? policy_own_file(work, all->items[i]) : NULL;
        laz_strv_add(&work->memory->box.libraries, file ? file : all->items[i]);
        free(file);
    }
}

static void policy_own_paths(struct policy_work *work)
{
    const struct laz_policy_session *session = work->session;
    const char *box, *text;

    policy_own_path(work, session->agent, LAZ_BOX_AGENT);
    policy_own_commands(work);
    policy_own_path(work, session->socket_directory, LAZ_BOX_SOCKET);
    if (session->runtime_file)
        work->memory->box.runtime_file = policy_own_file(work, session->runtime_file);
    policy_own_libraries(work);
    for (size_t i = 0; work->own_files && laz_policy_content(i, session->has_network, &box, &text);
         i++)
        if (!policy_is_staged(work, box))
            policy_add(work, LAZ_PATH_CONTENT, LAZ_POLICY_SYSTEM, text, box);
}

/* Replaces slashes for programs of Windows, some of which accept only paths with backslashes. */
static void policy_show_as_windows(const struct policy_work *work, char *path)
{
    if (path && work->windows)
        policy_replace(path, '/', '\\');
}

static void policy_home(struct policy_work *work)
{
    const char *directory = work->session->socket_directory;

    if (work->own_files || !directory) {
        work->memory->home = laz_strdup(LAZ_BOX_HOME);
        return;
    }
    size_t parent = (size_t)(policy_base_name(directory) - directory);
    work->memory->home = laz_strdupf("%.*shome", (int)parent, directory);
    if (work->memory->home)
        policy_add(work, LAZ_PATH_WRITE, LAZ_POLICY_OWN, work->memory->home, work->memory->home);
    policy_show_as_windows(work, work->memory->home);
}

static int policy_environment(struct policy_work *work, struct laz_error *err)
{
    struct policy_memory *memory = work->memory;
    const struct laz_policy_session *session = work->session;
    int rc = laz_policy_env(work->platform, work->values, work->runtime, memory->home, session,
                            &memory->env, err);

    if (rc)
        return rc;
    if (session->hides_env)
        laz_policy_env_hide(work->platform, work->values, session, &memory->env);
    if (session->socket)
        laz_strv_addf(&memory->env, "LAZARET_SOCKET=%s", session->socket);
    else if (session->socket_directory)
        laz_strv_addf(&memory->env, "LAZARET_SOCKET=%s/ipc.sock",
                      work->own_files ? LAZ_BOX_SOCKET : session->socket_directory);
    if (session->has_readers)
        laz_strv_add(&memory->env, "LAZARET_READERS=1");
    if (session->token)
        laz_strv_addf(&memory->env, "LAZARET_TOKEN=%s", session->token);
    return 0;
}

static void policy_command(struct policy_work *work)
{
    struct policy_memory *memory = work->memory;
    const struct laz_policy_session *session = work->session;

    laz_strv_add(&memory->command, work->own_files ? LAZ_BOX_AGENT : session->agent);
    for (const char *const *arg = session->command_tail; arg && *arg; arg++)
        laz_strv_add(&memory->command, *arg);
    memory->host_command = laz_strdup(session->agent);
    policy_show_as_windows(work, memory->host_command);
}

/* ---- real paths ----------------------------------------------------------------------------- */

/* Replaces the session's own paths by real ones, before others are made from them. */
static void policy_real_session(const struct policy_work *work, struct laz_policy_session *session)
{
    const char **const paths[] = {&session->socket_directory, &session->agent,
                                  &session->runtime_file};
    struct laz_strv *real = &work->memory->real;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (!*paths[i])
            continue;
        char *path = laz_policy_real(*paths[i], work->here);
        laz_strv_add(real, path ? path : "");
        real->failed |= !path;
        free(path);
        if (real->failed)
            return;
        *paths[i] = real->items[real->n - 1];
    }
}

/* Replaces all other paths by real ones, when the list is complete. */
static void policy_real_rest(struct policy_work *work)
{
    struct laz_strv *programs = &work->memory->programs;

    laz_policy_paths_real(&work->memory->paths, work->here);
    for (size_t i = 0; i < programs->n && !programs->failed; i++) {
        char *real = laz_policy_real(programs->items[i], work->here);
        if (!real) {
            programs->failed = true;
            return;
        }
        free(programs->items[i]);
        programs->items[i] = real;
    }
}

/* ---- a template ----------------------------------------------------------------------------- */

/* Hides what sessions write from a template, which loads code for all sessions before it is
 * confined. Each session gets these paths when it is cloned (core/agent/template.c). */
static int policy_hide_written(struct policy_work *work, struct laz_error *err)
{
    struct laz_strv shown = LAZ_STRV_INIT;
    struct laz_buf text = LAZ_BUF_INIT;
    int rc =
        laz_policy_paths_hide(&work->memory->paths, work->session->empty, work->here, &shown, err);

    laz_json_strings(&text, &shown);
    if (!rc && shown.n)
        laz_strv_addf(&work->memory->env, "LAZARET_SHOWN=%s", laz_buf_text(&text));
    if (!rc && text.failed)
        rc = laz_error_nomem(err);
    laz_buf_fini(&text);
    laz_strv_fini(&shown);
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int policy_fill(struct policy_work *work, struct laz_error *err)
{
    const struct laz_settings_values *values = work->values;
    const struct policy_memory *memory = work->memory;
    int rc;

    policy_system_paths(work);
    policy_programs(work);
    policy_runtime_paths(work);
    char *options = laz_strdupf("runtime.%s", work->runtime ? work->runtime->name : "");
    rc = options ? policy_settings_paths(work, work->session->read, options, LAZ_PATH_READ, err)
                 : laz_error_nomem(err);
    free(options);
    if (!rc)
        rc = policy_settings_paths(work, &values->sandbox.read, "sandbox.read", LAZ_PATH_READ, err);
    if (!rc)
        rc = policy_settings_paths(work, &values->sandbox.write, "sandbox.write", LAZ_PATH_WRITE,
                                   err);
    if (rc)
        return rc;
    rc = policy_protected_paths(work, err);
    if (rc)
        return rc;
    policy_own_paths(work);
    laz_policy_trust(work->session, work->here, &work->memory->paths);
    policy_home(work);
    if (!memory->home)
        return laz_error_nomem(err);
    rc = policy_environment(work, err);
    if (!rc && work->session->nests && work->own_files)
        rc = policy_hide_written(work, err);
    policy_command(work);
    if (work->by_real)
        policy_real_rest(work);
    if (!rc && (memory->env.failed || memory->command.failed || memory->programs.failed ||
                memory->real.failed || memory->box.protects.failed ||
                memory->box.libraries.failed || !memory->host_command || !memory->options))
        rc = laz_error_nomem(err);
    return rc ? rc : laz_policy_paths_sort(&work->memory->paths, err);
}

/* What the backend gets, which borrows from the memory. */
static struct laz_policy policy_for_backend(const struct policy_work *work)
{
    static const char *const none[] = {NULL};
    const struct policy_memory *memory = work->memory;
    const char *const *programs = (const char *const *)memory->programs.items;

    return (struct laz_policy){
        .size = sizeof(struct laz_policy),
        .paths = memory->paths.sorted,
        .n_paths = memory->paths.n_sorted,
        .env = (const char *const *)memory->env.items,
        .home = memory->home,
        .tmp_size = work->values->sandbox.tmp_size,
        .limits = laz_limits_of_plan(&work->values->limits,
                                     work->runtime &&
                                         laz_runtime_has(work->runtime, LAZ_RUNTIME_RESERVES)),
        .own_uid = work->session->uid != LAZ_SPAWN_SAME_ID,
        .box_uid = LAZ_BOX_UID,
        .command = (const char *const *)memory->command.items,
        .host_command = memory->host_command,
        .options = memory->options,
        .options_len = strlen(memory->options),
        /* NULL: any, so no program is an empty list */
        .programs = work->any            ? NULL
                    : memory->programs.n ? programs
                                         : none,
        /* of another system that of Linux 6.12 */
        .landlock_abi = work->here ? (uint32_t)laz_os_landlock_abi() : LAZ_LANDLOCK_SCOPE_ABI,
        .nests = work->session->nests,
        .tty = work->values->sandbox.tty,
        .has_terminal = work->session->has_terminal,
        .network = work->session->has_network,
    };
}

int laz_policy_new(const struct laz_settings_values *values, const struct laz_runtime_info *runtime,
                   const struct laz_policy_session *session, bool own_files, const char *platform,
                   const char *options, size_t options_len, struct laz_policy_box **box,
                   struct laz_error *err)
{
    struct policy_memory *memory = calloc(1, sizeof *memory);
    struct laz_policy_session own = *session;
    struct policy_work work = {
        .values = values,
        .runtime = runtime,
        .session = &own,
        .memory = memory,
        .platform = platform,
        .own_files = own_files,
        .here = strcmp(platform, laz_os_platform()) == 0,
        .windows = strcmp(platform, "windows") == 0,
        .any = !session->programs || session->programs->any,
        .by_real = !own_files && strcmp(platform, "darwin") == 0,
    };
    struct laz_error why = {0};

    if (!memory)
        return laz_error_nomem(err);
    if (!own_files) /* which has no network list either */
        own.trust = NULL;
    if (work.by_real)
        policy_real_session(&work, &own);
    memory->options = laz_strndup(options ? options : "{}", options ? options_len : 2);
    int rc = policy_fill(&work, &why);
    if (rc) {
        laz_policy_free(&memory->box);
        return laz_error_set(err, rc, why.os_errno, "%s", why.text);
    }
    laz_policy_env_notes(values, runtime, session->programs ? &memory->paths : NULL,
                         &memory->box.notes);
    memory->box.policy = policy_for_backend(&work);
    *box = &memory->box;
    return 0;
}

void laz_policy_free(struct laz_policy_box *box)
{
    struct policy_memory *memory = (struct policy_memory *)box;

    if (!memory)
        return;
    laz_policy_paths_fini(&memory->paths);
    laz_strv_fini(&memory->env);
    laz_strv_fini(&memory->command);
    laz_strv_fini(&memory->programs);
    laz_strv_fini(&memory->real);
    laz_strv_fini(&memory->box.notes);
    laz_strv_fini(&memory->box.protects);
    laz_strv_fini(&memory->box.libraries);
    free(memory->home);
    free(memory->host_command);
    free(memory->box.runtime_file);
    free(memory->box.commands);
    free(memory->options);
    free(memory);
}
