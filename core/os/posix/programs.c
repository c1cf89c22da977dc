/* SPDX-License-Identifier: MIT */
/* programs.c - where programs are, and which files starting one needs.
 * System: POSIX.
 *
 * Programs are searched in fixed directories, never in $PATH nor in the working directory: the
 * author of the project in which lazaret was started may control both.
 *
 * A program is more than its name: /usr/bin/awk is a link to a link to mawk, a script names its
 * interpreter in its first line (execve(2)), and a binary may name its loader, which the kernel
 * opens for execution as well.  A policy that allows a program, and nothing else, needs all of
 * them, each by its real path. */
#include "os/programs.h"

#include "base/buf.h"
#include "os/paths.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"
#include "os/posix/programs.h"

#include <lazaret/backend.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAMS_DEEP 5    /* interpreters of interpreters, execve(2) */
#define PROGRAMS_HEAD 1024 /* holds the first line, and usually the loader's name */

struct programs_walk {
    bool (*visit)(void *user, uint32_t kind, const char *host, const char *box);
    void *user;
    struct laz_program_known *known;
    struct laz_error *err;
};

static int programs_follow(const struct programs_walk *walk, const char *path, unsigned depth);

/* ---- what is known of the programs before ---------------------------------------------------- */

static bool programs_is_known(const char *known, const char *text)
{
    return known && strcmp(known, text) == 0;
}

/* Without memory it is found out again. */
static void programs_know(char **known, const char *text)
{
    if (programs_is_known(*known, text))
        return;
    free(*known);
    *known = laz_strdup(text);
}

void laz_os_program_known_fini(struct laz_program_known *known)
{
    free(known->directory);
    free(known->real);
    free(known->loader);
    *known = (struct laz_program_known){0};
}

/* The path with the real path of its directory: a new string; NULL: errno says why. Most programs
 * of a list are in one directory. */
static char *programs_canonical(struct laz_program_known *known, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    char *directory = laz_strndup(path, (size_t)(name - path));
    char *canonical = NULL;

    if (directory && known->real && programs_is_known(known->directory, directory)) {
        canonical = laz_strdupf("%s%s", known->real, name);
    } else if (directory && (canonical = laz_posix_canonical(path))) {
        char *real = laz_strndup(canonical, (size_t)(strrchr(canonical, '/') + 1 - canonical));
        free(known->real);
        known->real = real;
        programs_know(&known->directory, directory);
    }
    free(directory);
    return canonical;
}

/* ---- what a file needs ---------------------------------------------------------------------- */

/* The next word of a script's first line, terminated in place; NULL: there is none. */
static char *programs_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    size_t len = strcspn(word, " \t");

    if (!len)
        return NULL;
    *line = word + len + (word[len] != '\0');
    word[len] = '\0';
    return word;
}

/* "#!/bin/sh -e": the interpreter; of "#!/usr/bin/env NAME" that program too. */
static int programs_script(const struct programs_walk *walk, char *line, unsigned depth)
{
    char *interpreter, *word, *named = NULL;

    line[strcspn(line, "\n")] = '\0';
    interpreter = programs_word(&line);
    if (!interpreter || interpreter[0] != '/')
        return 0;
    int rc = programs_follow(walk, interpreter, depth + 1);
    if (rc || strcmp(strrchr(interpreter, '/'), "/env") != 0)
        return rc;
    while ((word = programs_word(&line)) && (word[0] == '-' || strchr(word, '=')))
        ;
    if (!word)
        return 0;
    rc = laz_os_find_program(word, &named, walk->err);
    if (!rc)
        rc = programs_follow(walk, named, depth + 1);
    free(named);
    return rc;
}

static int programs_file(const struct programs_walk *walk, const char *path, unsigned depth)
{
    char head[PROGRAMS_HEAD + 1] = {0}, loader[PATH_MAX];
    int rc = 0;

    if (!walk->visit(walk->user, LAZ_PATH_READ, path, path))
        return 0;
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (fd < 0 && laz_errno_is_shortage(errno))
        return laz_error_os(walk->err, errno, "%s cannot be read", path);
    if (fd < 0) /* executable, but not readable: nothing more can be found out */
        return 0;
    ssize_t n = pread(fd, head, PROGRAMS_HEAD, 0);
    if (n > 2 && memcmp(head, "#!", 2) == 0) {
        rc = programs_script(walk, head + 2, depth);
    } else {
        laz_programs_loader(path, fd, head, n > 0 ? (size_t)n : 0, loader, sizeof loader);
        if (loader[0] == '/' && !programs_is_known(walk->known->loader, loader))
            rc = programs_follow(walk, loader, depth + 1);
        if (!rc && loader[0] == '/')
            programs_know(&walk->known->loader, loader);
    }
    close(fd);
    return rc;
}

/* ---- where a name leads --------------------------------------------------------------------- */

/* Is `path` the same place in every box, because its first directory is a link that boxes also have
 * (/bin is usr/bin)? */
static bool programs_is_below_link(const char *path)
{
    static const char *const links[] = {"/bin/", "/sbin/", "/lib/", "/lib64/", "/usr/sbin/"};

    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (strncmp(path, links[i], strlen(links[i])) == 0)
            return true;
    return false;
}

static int programs_wrong(const char *path, int number, struct laz_error *err)
{
    return laz_error_set(err, LAZ_ENOENT, number,
                         "%s does not exist or is not a program that can be executed", path);
}

static int programs_step(const struct programs_walk *walk, char **path, unsigned depth, bool *done)
{
    char text[PATH_MAX];
    struct stat st;
    int rc = 0;

    char *here = programs_canonical(walk->known, *path);
    if (!here)
        return programs_wrong(*path, errno, walk->err);
    if (strcmp(here, *path) != 0 && !programs_is_below_link(*path))
        (void)walk->visit(walk->user, LAZ_PATH_SYMLINK, here, *path);
    if (lstat(here, &st) != 0) {
        rc = programs_wrong(here, errno, walk->err);
    } else if (S_ISLNK(st.st_mode)) {
        ssize_t len = readlink(here, text, sizeof text - 1);
        if (len <= 0) {
            rc = programs_wrong(here, errno, walk->err);
        } else {
            text[len] = '\0';
            *done = !walk->visit(walk->user, LAZ_PATH_SYMLINK, text, here);
            const int before = text[0] == '/' ? 0 : (int)(strrchr(here, '/') + 1 - here);
            char *next = laz_strdupf("%.*s%s", before, here, text);
            free(*path);
            *path = next;
            rc = next ? 0 : laz_error_nomem(walk->err);
        }
    } else if (S_ISDIR(st.st_mode)) {
        *done = true;
        (void)walk->visit(walk->user, LAZ_PATH_READ, here, here);
    } else if (S_ISREG(st.st_mode) && (st.st_mode & 0111)) {
        *done = true;
        rc = programs_file(walk, here, depth);
    } else {
        rc = programs_wrong(here, 0, walk->err);
    }
    free(here);
    return rc;
}

static int programs_follow(const struct programs_walk *walk, const char *path, unsigned depth)
{
    char *at = laz_strdup(path);
    bool done = false;
    int rc = at ? 0 : laz_error_nomem(walk->err);

    if (depth > PROGRAMS_DEEP)
        rc = programs_wrong(path, ELOOP, walk->err);
    for (unsigned i = 0; !rc && !done; i++)
        rc = i < LAZ_POSIX_LINKS ? programs_step(walk, &at, depth, &done)
                                 : programs_wrong(path, ELOOP, walk->err);
    free(at);
    return rc;
}

int laz_os_program_parts(const char *path,
                         bool (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user, struct laz_program_known *known, struct laz_error *err)
{
    struct laz_program_known own = {0};
    const struct programs_walk walk = {visit, user, known ? known : &own, err};
    int rc = path[0] == '/' ? programs_follow(&walk, path, 0) : programs_wrong(path, 0, err);

    laz_os_program_known_fini(&own);
    return rc;
}

/* ---- directories of programs ---------------------------------------------------------------- */

void laz_os_program_directories(void (*visit)(void *user, const char *path, bool among_libraries),
                                void *user)
{
    for (size_t i = 0; laz_programs_directories[i]; i++)
        visit(user, laz_programs_directories[i], false);
    for (size_t i = 0; laz_programs_among_libraries[i]; i++) {
        glob_t found;
        if (glob(laz_programs_among_libraries[i], GLOB_NOSORT, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            char *real = realpath(found.gl_pathv[k], NULL);
            struct stat st;
            if (real && strcmp(real, found.gl_pathv[k]) == 0 && stat(real, &st) == 0 &&
                S_ISDIR(st.st_mode))
                visit(user, real, true);
            free(real);
        }
        globfree(&found);
    }
}

static const char *const programs_directories[] = {
    "/usr/local/bin",  "/usr/bin",         "/bin", "/usr/sbin", "/sbin",
    "/usr/local/sbin", "/opt/homebrew/bin"};

int laz_os_find_program(const char *name, char **path, struct laz_error *err)
{
    char *found = NULL;

    if (!name || !*name)
        return laz_error_set(err, LAZ_ENOENT, 0, "the name of a program is empty");
    if (name[0] == '/') {
        if (!laz_os_can_execute(name))
            return programs_wrong(name, 0, err);
        found = laz_strdup(name);
        goto out;
    }
    if (strchr(name, '/'))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "%s is neither an absolute path nor the bare name of a program", name);
    for (size_t i = 0; i < sizeof programs_directories / sizeof programs_directories[0]; i++) {
        found = laz_strdupf("%s/%s", programs_directories[i], name);
        if (!found || laz_os_can_execute(found))
            goto out;
        free(found);
    }
    return laz_error_set(err, LAZ_ENOENT, 0,
                         "the program %s is not installed (looked for in /usr/local/bin, /usr/bin, "
                         "/bin and the like; PATH is not used)",
                         name);
out:
    if (!found)
        return laz_error_nomem(err);
    *path = found;
    return 0;
}

int laz_os_become(const char *program, const char *const *argv, struct laz_error *err)
{
    execv(program, (char *const *)(uintptr_t)argv);
    return laz_error_os(err, errno, "%s cannot be run", program);
}
