/* SPDX-License-Identifier: MIT */
/* programs.h - which programs code can start: sandbox.programs, resolved on this host, and the
 * folders with these and with the system's files of /etc that boxes are given. */
#ifndef LAZ_PLAN_PROGRAMS_H
#define LAZ_PLAN_PROGRAMS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LAZ_PROGRAMS_ETC "/etc"

struct laz_programs_part {
    uint32_t
        kind;   /* LAZ_PATH_SYMLINK: `path` is a link to `text`; LAZ_PATH_READ: a file or folder */
    char *path; /* without links but in its last part */
    char *text;
    const char *folder; /* the folder of programs that it lies in; NULL: none */
    bool mounted;       /* by itself, over an empty file in that folder */
};

struct laz_programs_folder {
    char *path;
    bool among_libraries; /* there anyhow, unless it is hidden */
    bool whole;           /* listed itself: all of it is shown */
    bool used;            /* something that was listed lies in it */
};

/* What a list of programs comes to. */
struct laz_programs {
    bool any;                /* every program of the host; the rest is empty then */
    struct laz_strv allowed; /* files and folders that may be executed; what a policy says */
    struct laz_programs_part *parts;
    size_t n_parts;
    struct laz_programs_folder *folders;
    size_t n_folders;
    struct laz_strv etc; /* small files of /etc that every box shows */
    char *reached;       /* the folder that was looked at last, and that the session can enter */
    bool failed;
};

/* `wanted`: sandbox.programs. `runtime`: what the runtime declares; NULL: none. `platform`: for
 * which system; only this host is looked at, elsewhere names stand for files of /usr/bin or, where
 * such a system has them there, of /bin. `uid`: of the session. Errors: LAZ_ECONFIG naming a listed
 * program that is not there or that the session cannot execute; a default that is missing is passed
 * over. The caller frees *programs. */
int laz_programs_new(const struct laz_strv *wanted, const struct laz_strv *runtime,
                     const char *platform, uint32_t uid, struct laz_programs **programs,
                     struct laz_error *err);
void laz_programs_free(struct laz_programs *programs);

/* What a box shows of them, given a folder that laz_programs_stage has filled: pairs for a policy.
 * `visit` gets kind, host path or text, path in the box. */
void laz_programs_paths(const struct laz_programs *programs, const char *staged,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user);
/* Is this path of the system's, or one of laz_policy_content, in the folder /etc that
 * laz_programs_paths shows? */
bool laz_programs_has_etc(const struct laz_programs *programs, const char *path);
/* Makes `staged`, which is not there yet, for laz_programs_paths. A folder of programs is shown as
 * one folder below it: links as they are, small programs as copies, large ones, and what is in
 * `shown` (host paths that the box shows anyway, if they are in such a folder), as an empty file or
 * folder to be mounted over. So is /etc. */
int laz_programs_stage(struct laz_programs *programs, const struct laz_strv *const *shown,
                       size_t n_shown, const char *staged, struct laz_error *err);
/* The same below laz_os_shared_folder(), made once for all engines that need the same. *lock: a
 * descriptor, open as long as *staged is used. False: this engine has to make its own. */
bool laz_programs_share(struct laz_programs *programs, const struct laz_strv *const *shown,
                        size_t n_shown, char **staged, int *lock);
/* Does a path lie in one of the folders? */
bool laz_programs_holds(const struct laz_programs *programs, const char *path);
/* Notes what `shown` needs. `copies`: programs can be executed where the folder lies. */
void laz_programs_prepare(struct laz_programs *programs, const struct laz_strv *const *shown,
                          size_t n_shown, bool copies);

/* ---- of an engine -----------------------------------------------------------------------------
 */

struct laz_runtime_info;
struct laz_settings_values;

/* sandbox.programs for one runtime, found and put together on first use. */
struct laz_programs_found {
    struct laz_programs_found *next;
    const struct laz_runtime_info *runtime;
    struct laz_programs *list;
    char *staged; /* NULL: not needed yet */
    int lock;     /* on it, when it is shared with other engines; -1 */
};

struct laz_programs_store {
    const struct laz_settings_values *values;
    const char *folder; /* of the engine */
    struct laz_programs_found *first;
};

/* What sandbox.programs comes to for a runtime; `staged`: for boxes with files of their own, too,
 * which also show `read`. `uid`: of the session. Borrowed. Errors: LAZ_ECONFIG naming the program.
 */
int laz_programs_find(struct laz_programs_store *store, const struct laz_runtime_info *runtime,
                      uint32_t uid, bool staged, const struct laz_strv *read,
                      const struct laz_programs_found **programs, struct laz_error *err);
void laz_programs_store_fini(struct laz_programs_store *store);

/* The default list for the documents: name and reason of the nth; false past the last. */
bool laz_programs_default(size_t n, const char **name, const char **why);

#endif
