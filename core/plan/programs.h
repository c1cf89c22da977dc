/* SPDX-License-Identifier: MIT */
/* programs.h - which programs code can start: resolves sandbox.programs on this host, and makes the
 * directories with these programs and with files of /etc that boxes show. */
#ifndef LAZ_PLAN_PROGRAMS_H
#define LAZ_PLAN_PROGRAMS_H

#include "plan/policy.h"

#define LAZ_PROGRAMS_ETC "/etc"

struct laz_programs_directory {
    char *path;
    bool among_libraries; /* inside a directory that boxes show anyway: it has to be covered */
    bool whole;           /* listed itself: shown as it is */
    bool used;            /* contains a listed program */
};

struct laz_programs_part {
    uint32_t kind; /* LAZ_PATH_SYMLINK: `path` is a link to `text`; LAZ_PATH_READ: a file or
                      directory */
    char *path;    /* only its last component may be a link */
    char *text;
    const struct laz_programs_directory *directory; /* of programs, which contains it; NULL: none */
    struct laz_look look; /* of a file or directory, before it is copied */
    bool exists;          /* this is so */
    bool mounted;         /* has a mount of its own, over an empty file in that directory */
};

/* A path of this host that boxes show, as laz_os_system_paths visits it. */
struct laz_programs_path {
    uint32_t kind;
    char *host, *box;
};

/* A resolved list of programs, and what else boxes of a runtime show of this host: found out once,
 * for all sessions of an engine. */
struct laz_programs {
    const struct laz_runtime_info *runtime; /* NULL: none */
    struct laz_programs_path *system;       /* of this host; empty for another platform */
    size_t n_system;
    struct laz_strv read;    /* those of the runtime's paths that the session can read; the same */
    bool network;            /* of sessions with a network list */
    bool any;                /* every program of the host; the rest is empty then */
    struct laz_strv allowed; /* files and directories that may be executed, for the policy */
    struct laz_programs_part *parts;
    size_t n_parts;
    struct laz_programs_directory *directories;
    size_t n_directories;
    struct laz_strv etc; /* small files of /etc that boxes show */
    bool failed;
};

/* Visits the paths that a box shows of the programs, with `staged` filled by laz_programs_stage.
 * `visit` gets the kind, the host path or link text (NULL: out of memory), and the path in the box;
 * all are borrowed for the call. */
void laz_programs_paths(const struct laz_programs *programs, const char *staged,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user);
/* True if the /etc that laz_programs_paths shows has this file, as a copy or with the text of
 * laz_policy_content. */
bool laz_programs_has_etc(const struct laz_programs *programs, const char *path);
/* The innermost directory of programs that contains a path, or NULL. */
struct laz_programs_directory *laz_programs_directory_of(const struct laz_programs *programs,
                                                         const char *path);
/* Makes the new directory `staged` for laz_programs_paths. It has a directory for each directory of
 * programs, with links as they are, copies of small programs, and an empty file or directory to
 * mount over for each large one and for each path of `shown` (host paths that the box shows anyway;
 * NULL: none) inside such a directory. The same is done for /etc. */
int laz_programs_stage(struct laz_programs *programs, const struct laz_strv *shown,
                       const char *staged, struct laz_error *err);
/* The same below laz_os_shared_directory(), made once for all engines that need the same programs.
 * *staged is a new string; *lock is a descriptor that the caller keeps open while it uses *staged.
 * False: the caller has to make its own directory. */
bool laz_programs_share(struct laz_programs *programs, const struct laz_strv *shown, char **staged,
                        int *lock);
/* Marks the directories that `shown` needs. `copies`: copies of programs can be executed, because
 * the file system of the staged directory allows it. */
void laz_programs_prepare(struct laz_programs *programs, const struct laz_strv *shown, bool copies);

/* Name and reason of the nth default program, `network`: with a network list; false past the last.
 */
bool laz_programs_default(size_t n, bool network, const char **name, const char **why);

#endif
