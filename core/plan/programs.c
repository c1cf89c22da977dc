/* SPDX-License-Identifier: MIT */
/* programs.c - which programs code can start: resolves sandbox.programs on this host.
 * Side: host.  Input trusted: yes (settings, descriptions of installed runtimes).
 *
 * All backends use one list.  If a box has its own file system, its directories of programs have
 * nothing else: denying the right to execute is not enough, since `ld.so PROGRAM` maps a program
 * without execve(2), which is all that Landlock's execute right covers.  If it has not, the list is
 * what that right is granted for. */
#include "plan/programs.h"

#include "base/path.h"
#include "os/paths.h"
#include "os/programs.h"
#include "os/spawner.h"
#include "os/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS_SMALL ((off_t)1 << 20)

/* Programs that scripts and functions of the languages expect on any POSIX system. None can do more
 * than an interpreter can do itself. Missing ones are skipped. */
static const struct programs_row {
    const char *name, *why;
} programs_default[] = {
    {"sh", "what system() and popen() start, and Python's subprocess where it is asked to"},
    {"bash", "scripts; where code asks for it by name"},
    {"env", "first lines of scripts; a command with other variables"},
    {"true", "scripts: success"},
    {"false", "scripts: failure"},
    {"echo", "prints its arguments"},
    {"printf", "prints its arguments"},
    {"expr", "scripts: arithmetic"},
    {"test", "scripts: conditions"},
    {"seq", "scripts: numbers"},
    {"yes", "scripts: a line again and again"},
    {"timeout", "scripts: ends a command"},
    {"kill", "scripts: signals to processes of the session"},
    {"sleep", "waits"},
    {"date", "the time"},
    {"uname", "the system; R's start script and Python's platform ask it"},
    {"nproc", "the number of processors"},
    {"id", "the user"},
    {"whoami", "the user"},
    {"hostname", "the name of the host, which a box has its own of"},
    {"pwd", "the current directory"},
    {"which", "where a program is; R's Sys.which()"},
    {"xargs", "a command for many arguments"},
    {"cat", "text: whole"},
    {"head", "text: beginning"},
    {"tail", "text: end"},
    {"wc", "text: counts; R's detectCores()"},
    {"sort", "text: order"},
    {"uniq", "text: repeated lines"},
    {"cut", "text: columns"},
    {"tr", "text: characters"},
    {"sed", "text: substitution; R's start script"},
    {"grep", "text: search; R's detectCores()"},
    {"egrep", "text: search"},
    {"fgrep", "text: search"},
    {"diff", "text: differences"},
    {"cmp", "files: are they the same?"},
    {"comm", "text: common lines"},
    {"join", "text: columns of two files"},
    {"paste", "text: lines side by side"},
    {"nl", "text: numbers of lines"},
    {"tac", "text: lines from the end"},
    {"fold", "text: shorter lines"},
    {"split", "text: into several files"},
    {"patch", "text: applies differences"},
    {"od", "bytes: as numbers"},
    {"base64", "bytes: as text"},
    {"md5sum", "bytes: a digest"},
    {"sha256sum", "bytes: a digest"},
    {"tar", "archives"},
    {"gzip", "compressed files"},
    {"gunzip", "compressed files"},
    {"zcat", "compressed files"},
    {"bzip2", "compressed files"},
    {"xz", "compressed files"},
    {"awk", "text: records"},
    {"tee", "text: copies to a file"},
    {"ls", "files: list"},
    {"find", "files: search"},
    {"cp", "files: copy"},
    {"mv", "files: move"},
    {"rm", "files: remove; R's start script"},
    {"ln", "files: link"},
    {"mkdir", "files: make a directory"},
    {"rmdir", "files: remove a directory"},
    {"touch", "files: make, or set the time"},
    {"chmod", "files: permissions"},
    {"stat", "files: what they are"},
    {"du", "files: how large they are"},
    {"readlink", "paths: where a link leads"},
    {"realpath", "paths: without links"},
    {"mktemp", "files: make a temporary one"},
    {"basename", "paths: last part"},
    {"dirname", "paths: directory"},
};

/* The same, and what these start, in a box with a network list. */
static const struct programs_row programs_network[] = {
    {"curl", "requests"},
    {"wget", "requests"},
    {"git", "repositories"},
    {"/usr/lib/git-core", "what git starts"},
    {"/usr/libexec/git-core", "the same, elsewhere"},
    {"ssh", "sessions, and git over them"},
    {"psql", "databases"},
    {"node", "programs in JavaScript"},
    {"npm", "its packages"},
};

/* A list that is being made. */
struct programs_work {
    struct laz_programs *programs;
    const char *platform;
    uint32_t uid;  /* of the session */
    bool here;     /* the platform is this one */
    char *reached; /* cache: the last directory that the session was found to reach */
    struct laz_program_known known;
};

#define PROGRAMS_DEFAULT (sizeof programs_default / sizeof programs_default[0])
#define PROGRAMS_NETWORK (sizeof programs_network / sizeof programs_network[0])

bool laz_programs_default(size_t n, bool network, const char **name, const char **why)
{
    if (n >= PROGRAMS_DEFAULT + (network ? PROGRAMS_NETWORK : 0))
        return false;
    const struct programs_row *row =
        n < PROGRAMS_DEFAULT ? &programs_default[n] : &programs_network[n - PROGRAMS_DEFAULT];
    *name = row->name;
    *why = row->why;
    return true;
}

static bool programs_is_default(const struct laz_programs *programs, const char *wanted)
{
    const char *name, *why;

    for (size_t i = 0; laz_programs_default(i, programs->network, &name, &why); i++)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

bool laz_programs_are_none(const struct laz_programs *programs)
{
    return !programs->any && !programs->n_parts;
}

/* ---- directories of programs ---------------------------------------------------------------- */

static void programs_directory(void *user, const char *path, bool among_libraries)
{
    struct laz_programs *programs = user;
    struct laz_programs_directory *directory =
        laz_grow(&programs->directories, &programs->n_directories, sizeof *directory);

    if (directory)
        *directory = (struct laz_programs_directory){.path = laz_strdup(path),
                                                     .among_libraries = among_libraries};
    programs->failed |= !directory || !directory->path;
}

struct laz_programs_directory *laz_programs_directory_of(const struct laz_programs *programs,
                                                         const char *path)
{
    struct laz_programs_directory *found = NULL;

    for (size_t i = 0; i < programs->n_directories; i++)
        if (laz_path_is_below(path, programs->directories[i].path) &&
            (!found || strlen(found->path) < strlen(programs->directories[i].path)))
            found = &programs->directories[i];
    return found;
}

/* True if a program is to be mounted: copying a small one once is faster than a mount per session.
 */
static bool programs_is_large(const struct laz_programs_part *part)
{
    return part->exists &&
           (part->look.kind == LAZ_LOOK_DIRECTORY || part->look.size > PROGRAMS_SMALL);
}

static void programs_mark(struct laz_programs *programs)
{
    for (size_t i = 0; i < programs->n_parts; i++) {
        struct laz_programs_part *part = &programs->parts[i];
        struct laz_programs_directory *directory = laz_programs_directory_of(programs, part->path);
        part->directory = directory;
        if (directory)
            directory->used = true;
        if (part->kind != LAZ_PATH_READ)
            continue;
        for (size_t k = 0; k < programs->n_directories; k++)
            programs->directories[k].whole |=
                strcmp(part->path, programs->directories[k].path) == 0;
        part->mounted = directory && programs_is_large(part);
        laz_strv_add(&programs->allowed, part->path);
    }
}

/* ---- other paths of this host --------------------------------------------------------------- */

/* A copy is readable for all users, so the session itself must be able to read the file. */
static bool programs_may_read(const struct programs_work *work, const char *path)
{
    return work->uid == LAZ_SPAWN_SAME_ID ? access(path, R_OK) == 0
                                          : laz_os_is_reachable(path, work->uid, false);
}

/* Adds a small file of /etc: one copy per engine is faster than a mount per session. */
static void programs_etc_file(const struct programs_work *work, const char *path)
{
    struct laz_strv *etc = &work->programs->etc;
    struct laz_look look;

    if (laz_path_is_below(path, LAZ_PROGRAMS_ETC) && !laz_strv_has(etc, path) &&
        laz_os_look(path, true, &look) == 0 && look.kind == LAZ_LOOK_FILE &&
        look.size <= PROGRAMS_SMALL && programs_may_read(work, path))
        laz_strv_add(etc, path);
}

static void programs_system_path(void *user, uint32_t kind, const char *host, const char *box)
{
    struct laz_programs *programs = user;
    struct laz_programs_path *path = laz_grow(&programs->system, &programs->n_system, sizeof *path);

    if (path)
        *path = (struct laz_programs_path){kind, laz_strdup(host), laz_strdup(box)};
    programs->failed |= !path || !path->host || !path->box;
}

static void programs_read_paths(const struct programs_work *work)
{
    const struct laz_runtime_info *runtime = work->programs->runtime;

    for (size_t i = 0; runtime && i < runtime->read.n; i++) {
        const char *path = runtime->read.items[i];
        if (laz_os_is_absolute(path) &&
            (work->uid == LAZ_SPAWN_SAME_ID || laz_os_is_reachable(path, work->uid, false)))
            laz_strv_add(&work->programs->read, path); /* else it is treated as missing */
    }
}

static void programs_etc(const struct programs_work *work)
{
    const struct laz_programs *programs = work->programs;

    for (size_t i = 0; i < programs->n_system && !programs->failed; i++)
        if (programs->system[i].kind == LAZ_PATH_READ)
            programs_etc_file(work, programs->system[i].box);
    for (size_t i = 0; i < programs->read.n; i++)
        programs_etc_file(work, programs->read.items[i]);
}

/* ---- the list ------------------------------------------------------------------------------- */

static bool programs_add_part(void *user, uint32_t kind, const char *host, const char *box)
{
    struct laz_programs *programs = user;

    for (size_t i = 0; i < programs->n_parts; i++)
        if (programs->parts[i].path && strcmp(programs->parts[i].path, box) == 0)
            return false;
    struct laz_programs_part *part = laz_grow(&programs->parts, &programs->n_parts, sizeof *part);
    if (part)
        *part = (struct laz_programs_part){
            .kind = kind, .path = laz_strdup(box), .text = laz_strdup(host)};
    programs->failed |= !part || !part->path || !part->text;
    if (part)
        part->exists = kind == LAZ_PATH_READ && laz_os_look(box, true, &part->look) == 0;
    return part != NULL;
}

/* True if the session may execute the program. A copy is executable for all users, so this is
 * checked here. Most programs are in one directory, so the last one is cached. */
static bool programs_is_for(struct programs_work *work, const struct laz_programs_part *part)
{
    size_t len = (size_t)(strrchr(part->path, '/') - part->path);

    if (!work->reached || strlen(work->reached) != len ||
        memcmp(work->reached, part->path, len) != 0) {
        free(work->reached);
        work->reached = laz_strndup(part->path, len ? len : 1);
        if (!laz_os_is_reachable(work->reached, work->uid, true)) {
            free(work->reached);
            work->reached = NULL;
            return false;
        }
    }
    return part->exists && (part->look.mode & 0005) == 0005;
}

/* Removes all parts but the first n. */
static void programs_keep(struct laz_programs *programs, size_t n)
{
    while (programs->n_parts > n) {
        struct laz_programs_part *part = &programs->parts[--programs->n_parts];
        free(part->path);
        free(part->text);
    }
}

/* Adds the files and links that one name stands for. LAZ_ENOENT: it does not exist. */
static int programs_add_here(struct programs_work *work, const char *name, struct laz_error *err)
{
    struct laz_programs *programs = work->programs;
    size_t before = programs->n_parts;
    char *path = NULL;
    int rc = 0;

    if (laz_os_is_absolute(name)) /* possibly a directory */
        path = laz_strdup(name);
    else
        rc = laz_os_find_program(name, &path, err);
    if (!rc && !path)
        rc = laz_error_nomem(err);
    if (!rc)
        rc = laz_os_program_parts(path, programs_add_part, programs, &work->known, err);
    free(path);
    for (size_t i = before; !rc && work->uid != LAZ_SPAWN_SAME_ID && i < programs->n_parts; i++)
        if (programs->parts[i].kind == LAZ_PATH_READ && programs->parts[i].path &&
            !programs_is_for(work, &programs->parts[i]))
            rc = laz_error_set(err, LAZ_ENOENT, 0,
                               "%s cannot be executed by the session, which has a uid of its own "
                               "when lazaret runs as root",
                               programs->parts[i].path);
    if (rc) {
        programs_keep(programs, before);
        laz_os_program_known_fini(&work->known); /* it may be of what is gone */
    }
    return rc;
}

/* Programs that another system has outside of /usr/bin, and what they start: sh(1) of macOS
 * executes the shell that /private/var/select/sh names, which is bash. */
static const struct {
    const char *platform, *names, *directory, *starts;
} programs_elsewhere[] = {
    {"darwin", " sh ", "/bin", "/bin/bash"},
    {"darwin", " cat chmod cp date echo expr ln ls mkdir mv pwd rm rmdir sleep ", "/bin", NULL},
};

static void programs_add_elsewhere(const struct programs_work *work, const char *name)
{
    const char *directory = "/usr/bin", *starts = NULL;
    char word[64];

    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof programs_elsewhere / sizeof programs_elsewhere[0]; i++)
        if (strcmp(programs_elsewhere[i].platform, work->platform) == 0 &&
            strstr(programs_elsewhere[i].names, word)) {
            directory = programs_elsewhere[i].directory;
            starts = programs_elsewhere[i].starts;
        }
    char *path =
        laz_os_is_absolute(name) ? laz_strdup(name) : laz_strdupf("%s/%s", directory, name);
    if (path)
        programs_add_part(work->programs, LAZ_PATH_READ, path, path);
    else
        work->programs->failed = true;
    if (starts)
        programs_add_part(work->programs, LAZ_PATH_READ, starts, starts);
    free(path);
}

/* Adds a program, which has to exist if it was listed. */
static int programs_add(struct programs_work *work, const char *name, bool listed,
                        struct laz_error *err)
{
    struct laz_error why = {0};

    if (!work->here) {
        programs_add_elsewhere(work, name);
        return 0;
    }
    int rc = programs_add_here(work, name, &why);
    if (!rc || (rc == LAZ_ENOENT && !listed))
        return 0;
    if (listed)
        return laz_error_set(err, rc == LAZ_ENOENT ? LAZ_ECONFIG : rc, 0, "sandbox.programs: %s",
                             why.text);
    return laz_error_set(err, rc, why.os_errno, "%s", why.text);
}

/* psql of Debian is a script that starts that of a version. */
static void programs_add_psql(void *user, const char *directory, bool among_libraries)
{
    char *path = laz_path_is_below(directory, "/usr/lib/postgresql")
                     ? laz_strdupf("%s/psql", directory)
                     : NULL;

    (void)among_libraries;
    if (path)
        (void)programs_add(user, path, false, NULL);
    free(path);
}

static int programs_add_defaults(struct programs_work *work, const struct laz_strv *runtime,
                                 struct laz_error *err)
{
    const char *name, *why;
    int rc = 0;

    for (size_t i = 0; !rc && laz_programs_default(i, work->programs->network, &name, &why); i++)
        rc = programs_add(work, name, false, err);
    if (!rc && work->here && work->programs->network)
        laz_os_program_directories(programs_add_psql, work);
    for (size_t i = 0; !rc && runtime && i < runtime->n; i++)
        if (!programs_is_default(work->programs, runtime->items[i]) &&
            strcmp(runtime->items[i], "any") != 0)
            rc = programs_add(work, runtime->items[i], false, err);
    return rc;
}

/* "any", or "default" where that is what the runtime says. */
static bool programs_are_any(const struct laz_strv *wanted, const struct laz_runtime_info *runtime)
{
    return wanted->n == 1 && (strcmp(wanted->items[0], "any") == 0 ||
                              (strcmp(wanted->items[0], "default") == 0 && runtime &&
                               laz_strv_has(&runtime->programs, "any")));
}

int laz_programs_new(const struct laz_settings_values *values,
                     const struct laz_runtime_info *runtime, const char *platform, uint32_t uid,
                     bool network, struct laz_programs **out, struct laz_error *err)
{
    const struct laz_strv *wanted = &values->sandbox.programs;
    struct laz_programs *programs = calloc(1, sizeof *programs);
    struct programs_work work = {.programs = programs,
                                 .platform = platform,
                                 .uid = uid,
                                 .here = strcmp(platform, laz_os_platform()) == 0};
    int rc = 0;

    if (!programs)
        return laz_error_nomem(err);
    programs->runtime = runtime;
    programs->network = network;
    programs->any = programs_are_any(wanted, runtime);
    for (size_t i = 0; !rc && !programs->any && i < wanted->n; i++) {
        if (strcmp(wanted->items[i], "default") == 0)
            rc = programs_add_defaults(&work, runtime ? &runtime->programs : NULL, err);
        else
            rc = programs_add(&work, wanted->items[i], true, err);
        rc = laz_settings_wrong(values, "sandbox.programs", wanted->items[i], rc, err);
    }
    if (!rc && work.here) {
        laz_os_system_paths(programs->any, network, programs_system_path, programs);
        programs_read_paths(&work);
    }
    if (!rc && !programs->any) {
        laz_os_program_directories(programs_directory, programs);
        if (work.here) {
            programs_directory(programs, LAZ_PROGRAMS_ETC, false);
            programs_etc(&work);
        }
        if (!programs->failed)
            programs_mark(programs);
    }
    free(work.reached);
    laz_os_program_known_fini(&work.known);
    if (!rc && (programs->failed || programs->allowed.failed || programs->etc.failed ||
                programs->read.failed))
        rc = laz_error_nomem(err);
    if (rc) {
        laz_programs_free(programs);
        return rc;
    }
    *out = programs;
    return 0;
}

void laz_programs_free(struct laz_programs *programs)
{
    if (!programs)
        return;
    programs_keep(programs, 0);
    for (size_t i = 0; i < programs->n_directories; i++)
        free(programs->directories[i].path);
    free(programs->parts);
    free(programs->directories);
    for (size_t i = 0; i < programs->n_system; i++) {
        free(programs->system[i].host);
        free(programs->system[i].box);
    }
    free(programs->system);
    laz_strv_fini(&programs->allowed);
    laz_strv_fini(&programs->etc);
    laz_strv_fini(&programs->read);
    free(programs);
}
