/* SPDX-License-Identifier: MIT */
/* modules.c - what code of a file is shown of the files beside it: modules, and nothing else.
 *
 * A script finds at home what lies beside it. Here it is shown what its language loads from there:
 * source files and extension modules, by their suffixes, in its directory and in packages, which
 * are directories below it that have such files. Each is shown by itself, so that what lies between
 * them (a key, a table, .env) is not; such files are the user's to show (--read).  A package of
 * which all is modules is shown as a directory, so that code can list it. A module belongs to the
 * owner of the script, and is not hidden; a link counts as what it leads to, which has to be a
 * module as well. Where anybody's files may lie, which is in a home directory itself or in one for
 * temporary files, only the script is shown.
 * Side: host.  Input trusted: no (directories in which others may write; messages of the code). */
#include "cli/source.h"

#include "base/path.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/users.h"

#include <stdlib.h>
#include <string.h>

#define BESIDE_ANYBODY    0xfffffff0u /* a user id that owns nothing */
#define BESIDE_SHOWN      256         /* modules; with more none is shown */
#define BESIDE_LOOKED     10000       /* entries of all directories that are looked at */
#define BESIDE_DEPTH      16          /* of packages in packages */
#define BESIDE_TEXT(n)    BESIDE_TEXT_OF(n)
#define BESIDE_TEXT_OF(n) #n
#define BESIDE_WORDS      50   /* of a message that may be names of files */
#define BESIDE_WORD       4096 /* bytes of one */

/* ---- what is a module ------------------------------------------------------------------------ */

/* Is it a directory in which anybody's files may lie? */
static bool beside_is_common(const char *directory)
{
    static const char *const common[] = {"/",     "/tmp",  "/var/tmp", "/dev/shm", "/private/tmp",
                                         "/home", "/root", "/Users",   NULL};
    const char *slash = strrchr(directory, '/');
    const char *home = getenv("HOME");
    size_t above = slash ? (size_t)(slash - directory) : 0;

    for (size_t i = 0; common[i]; i++)
        if (strcmp(directory, common[i]) == 0)
            return true;
    if ((above == strlen("/home") && strncmp(directory, "/home", above) == 0) ||
        (above == strlen("/Users") && strncmp(directory, "/Users", above) == 0))
        return true;
    char *real = home && *home ? laz_os_real_path(home) : NULL;
    bool is_home = real && strcmp(real, directory) == 0;
    free(real);
    return is_home;
}

/* Started by root, sessions have another user, whom nothing may keep from what they are shown. */
bool source_is_reachable(const char *path)
{
    return !laz_os_is_root() || laz_os_is_reachable(path, BESIDE_ANYBODY, false);
}

static bool beside_ends_so(const struct laz_strv *suffixes, const char *name)
{
    for (size_t i = 0; suffixes && i < suffixes->n; i++)
        if (*suffixes->items[i] && laz_name_before(name, suffixes->items[i]))
            return true;
    return false;
}

static bool beside_has_suffix(const struct source *source, const char *name)
{
    return beside_ends_so(source->suffixes, name) || beside_ends_so(source->more_suffixes, name);
}

/* The search for modules. */
struct beside {
    struct source *source;
    uint32_t owner;
    size_t looked; /* entries */
    struct laz_strv found;
    bool are_too_many;
};

/* Is a file with the suffix of a module one, and does it lie where it seems to? */
static bool beside_is_module(const struct beside *beside, const char *path)
{
    const char *directory = beside->source->directory;
    char *real = laz_os_real_path(path);
    struct laz_look look;
    bool is = real && laz_path_is_below(real, directory) &&
              !strstr(real + strlen(directory) - 1, "/.") &&
              beside_has_suffix(beside->source, real) && laz_os_look(real, false, &look) == 0 &&
              look.kind == LAZ_LOOK_FILE && look.uid == beside->owner;

    free(real);
    return is;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Adds a file if it is a module that a session can reach. */
static bool beside_add(struct beside *beside, const char *path)
{
    const bool is_module = beside_is_module(beside, path), is_shown = source_is_reachable(path);

    if (is_module && is_shown)
        laz_strv_add(&beside->found, path);
    else if (is_module)
        beside->source->hides = "the user that lazaret's sessions have cannot reach it (chmod "
                                "o+rx; o+x on directories above)";
    return is_module && is_shown;
}

static bool beside_is_directory(const struct beside *beside, const char *path)
{
    struct laz_look look;

    return laz_os_look(path, false, &look) == 0 && look.kind == LAZ_LOOK_DIRECTORY &&
           look.uid == beside->owner;
}

/* A package of which everything is shown is shown by one path, so that code can list it. */
static void beside_unite(struct beside *beside, size_t first, const char *package)
{
    if (!source_is_reachable(package))
        return;
    while (beside->found.n > first)
        free(beside->found.items[--beside->found.n]);
    laz_strv_add(&beside->found, package);
}

static bool beside_search(struct beside *beside, const char *directory, int depth);

/* Adds what is in the packages of a directory. How many of them are not shown whole. */
static size_t beside_packages(struct beside *beside, const struct laz_strv *packages, int depth)
{
    size_t others = 0;

    for (size_t i = 0; i < packages->n && !beside->are_too_many; i++) {
        const size_t first = beside->found.n;
        const bool is_whole = beside_search(beside, packages->items[i], depth);
        if (is_whole && beside->found.n > first)
            beside_unite(beside, first, packages->items[i]);
        others += !is_whole || beside->found.n == first;
    }
    return others;
}

/* Adds the modules of a directory (depth 0), or of a package, and of packages in it. True: there is
 * nothing else. Recursion is bounded by BESIDE_DEPTH. */
static bool beside_search(struct beside *beside, const char *directory, int depth)
{
    struct laz_strv names = LAZ_STRV_INIT, packages = LAZ_STRV_INIT;
    int rc = laz_os_list_some(directory, BESIDE_LOOKED - beside->looked, &names, NULL);
    size_t modules = 0, others = 0;

    beside->looked += names.n;
    beside->are_too_many |= rc == LAZ_ETOOBIG;
    if (rc && rc != LAZ_ETOOBIG && depth == 0)
        beside->source->hides = "its directory cannot be listed; --read shows it";
    for (size_t i = 0; i < names.n && !beside->are_too_many; i++) {
        const char *name = names.items[i];
        const bool may_be = *name != '.' && laz_name_is_plain(name);
        char *path = may_be ? laz_strdupf("%s/%s", directory, name) : NULL;
        if (path && beside_has_suffix(beside->source, name) && beside_add(beside, path))
            modules++;
        else if (path && beside_is_directory(beside, path))
            laz_strv_add(&packages, path);
        else
            others++;
        free(path);
    }
    if ((modules || depth == 0) && depth < BESIDE_DEPTH)
        others += beside_packages(beside, &packages, depth + 1);
    else
        others += packages.n;
    beside->found.failed |= packages.failed;
    laz_strv_fini(&names);
    laz_strv_fini(&packages);
    return !rc && !others;
}

void source_show_modules(struct cli *cli, struct source *source, const char *runtime,
                         uint32_t owner)
{
    struct beside beside = {.source = source, .owner = owner};
    const struct laz_runtime_info *info = NULL;
    const struct laz_language *language = NULL;

    (void)laz_registry_runtime(source->registry, runtime, &info, NULL);
    (void)laz_registry_language(source->registry, runtime, &language, NULL);
    if (!info)
        return;
    source->suffixes = &info->suffixes;
    source->more_suffixes = language ? &language->modules : NULL;
    if (beside_is_common(source->directory))
        source->hides = "anybody's files may lie beside it, so only --read shows it";
    else
        beside_search(&beside, source->directory, 0);
    beside.are_too_many |= beside.found.n > BESIDE_SHOWN;
    if (beside.are_too_many)
        source->hides = "beside it are more than " BESIDE_TEXT(
            BESIDE_SHOWN) " modules, or more than " BESIDE_TEXT(BESIDE_LOOKED) " files; --read "
                                                                               "shows it";
    for (size_t i = 0; i < beside.found.n && !beside.are_too_many; i++)
        if (!laz_strv_has(&source->shown, beside.found.items[i]) &&
            !laz_settings_shows(cli->values, beside.found.items[i]))
            laz_strv_add(&source->shown, beside.found.items[i]);
    source->shown.failed |= beside.found.failed;
    laz_strv_fini(&beside.found);
}

/* ---- what an error has missed ---------------------------------------------------------------- */

/* Is the path, or something in it, shown? */
static bool missing_is_shown(const struct cli *cli, const struct source *source, const char *path)
{
    for (size_t i = 0; i < source->shown.n; i++)
        if (laz_path_is_within(source->shown.items[i], path))
            return true;
    return laz_settings_shows(cli->values, path);
}

/* The file that a word of a message names, if it is there and not shown. */
static char *missing_file(const struct cli *cli, const struct source *source, const char *word,
                          size_t len, const char *suffix)
{
    struct laz_look look;
    struct laz_buf plain = LAZ_BUF_INIT;
    char *path = word[0] == '/' ? laz_strndup(word, len)
                                : laz_strdupf("%s/%.*s", source->directory, (int)len, word);
    char *whole = path ? laz_strdupf("%s%s", path, suffix) : NULL;
    const bool is = whole && laz_path_simplify(whole, strlen(whole), &plain) &&
                    laz_path_is_below(laz_buf_text(&plain), source->directory) &&
                    !missing_is_shown(cli, source, laz_buf_text(&plain)) &&
                    laz_os_look(laz_buf_text(&plain), false, &look) == 0;

    free(path);
    free(whole);
    if (is)
        return laz_buf_steal(&plain);
    laz_buf_fini(&plain);
    return NULL;
}

/* The same of a module: "util" is util.py, "helpers.deep" helpers/deep.py. */
static char *missing_named(const struct cli *cli, const struct source *source, const char *word,
                           size_t len)
{
    const char *name = strrchr(source->name, '/');
    const char *suffix = strrchr(name ? name : source->name, '.');
    char *found = NULL, *parts = NULL;

    if (!len || len > BESIDE_WORD)
        return NULL;
    if (suffix)
        found = missing_file(cli, source, word, len, suffix);
    if (!found)
        found = missing_file(cli, source, word, len, "");
    if (!found && suffix && (parts = laz_strndup(word, len))) {
        for (char *dot = parts; (dot = strchr(dot, '.'));)
            *dot = '/';
        found = missing_file(cli, source, parts, len, suffix);
        free(parts);
    }
    return found;
}

/* What an error says of it: the words between quotes, and what cannot be found. */
static char *missing_in(const struct cli *cli, const struct source *source, const char *message)
{
    static const char quotes[] = "'\"`", before[] = " \t\n'\"`(";
    const char *none = strstr(message, ": No such file");
    size_t words = 0;
    char *found = NULL;

    if (none) {
        const char *word = none;
        while (word > message && !strchr(before, word[-1]))
            word--;
        found = missing_named(cli, source, word, (size_t)(none - word));
    }
    for (const char *at = strpbrk(message, quotes); at && !found && words < BESIDE_WORDS; words++) {
        found = missing_named(cli, source, at + 1, strcspn(at + 1, quotes));
        at = strpbrk(at + 1, quotes);
    }
    return found;
}

char *source_missing(const struct cli *cli, const struct source *source, const char *message)
{
    char *path =
        message && source->suffixes && source->directory ? missing_in(cli, source, message) : NULL;
    char *text = NULL;

    if (path && beside_has_suffix(source, path) && source->hides)
        text = laz_strdupf("%s is not shown to the code: %s", path, source->hides);
    else if (path)
        text =
            laz_strdupf("%s is not shown to the code: of the files beside it only modules of its "
                        "owner are; --read %s shows it%s",
                        path, path,
                        beside_has_suffix(source, path) || strstr(message, path)
                            ? ""
                            : " under this path; a relative one begins where the code starts "
                              "(--cwd)");
    free(path);
    return text;
}
