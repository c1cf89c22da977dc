/* SPDX-License-Identifier: MIT */
/* policy.h - makes the policy for which a backend plans, from settings and a runtime; and which
 * programs it has. */
#ifndef LAZ_PLAN_POLICY_H
#define LAZ_PLAN_POLICY_H

#include "os/files.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

struct laz_programs; /* programs.h */

/* What differs from one session to the next. Strings are borrowed for laz_policy_new. */
struct laz_policy_session {
    const char *socket_directory; /* directory on the host; read-only in the box */
    const char *socket;           /* where the host listens, if that is not the file ipc.sock in
                                     socket_directory (a pipe of Windows); NULL: it is */
    const char *token;
    const char *agent;                /* path on the host that the session's uid can reach */
    const char *runtime_file;         /* likewise; NULL for a probe */
    const struct laz_strv *libraries; /* likewise: what laz_runtime_libraries gave; NULL: none */
    const char *commands; /* likewise: the program that tools are links to; NULL: they are none */
    const char *const *command_tail; /* arguments of the agent; ends with NULL; NULL: none */
    uint32_t uid;                    /* LAZ_SPAWN_SAME_ID: that of the host */
    const struct laz_strv *read; /* further host paths that the box shows: the LAZ_OPT_PATHS options
                                    of the runtime; NULL: none */
    const struct laz_programs *programs; /* NULL: any program */
    const char *staged; /* directory that laz_programs_stage has made, for a backend with its own
                           file system */
    const char *trust;  /* directory of the host, which sessions can read, with lists of authorities
                           that a box with its own file system shows in place of the host's:
                           bundle.pem, certs/, maybe cacerts and anchors/; NULL: those of the host */
    const struct laz_strv *extra_env; /* NAME=VALUE, placeholders of credentials; env.set wins over
                                         them, and they over env.allow; NULL: none */
    bool nests;                       /* a template: makes sessions inside */
    bool has_network;  /* it has a network list; its programs were made for one, too */
    bool has_terminal; /* the standard input of the session is one */
    bool has_readers;  /* its output is read by somebody who sees each stream for itself */
    bool hides_env;    /* to be shown: "(set)" stands for the values of env.set and env.allow,
                          "(placeholder)" for those of extra_env */
    const char *empty; /* for a template: an empty directory of the host, see
                          laz_policy_paths_hide */
};

/* A policy; what it points to is freed with it. */
struct laz_policy_box {
    struct laz_policy policy;
    char *runtime_file;        /* path of the runtime plugin inside the sandbox; NULL: a probe */
    struct laz_strv libraries; /* what the agent opens before it: paths inside, or names */
    char *commands;            /* and of the program of its commands; NULL: none */
    struct laz_strv protects; /* of a box with its own file system, pairs: a directory that code may
                                 write, and a path below it that it may not */
    struct laz_strv notes;    /* what the settings ask for and will not come of it, to be logged */
};

/* Makes a policy, which the caller frees. `runtime` NULL: a probe. `platform`: the system ("linux",
 * ...); paths of another system than this one are not checked. `options`: JSON of the backend's
 * options. If the backend makes a new file system (`own_files`), the agent finds its files at
 * LAZ_BOX_*, else at the paths of the host. The environment has LAZARET_SOCKET, LAZARET_TOKEN,
 * where its output is read by another LAZARET_READERS, for a template LAZARET_SHOWN (a JSON list,
 * laz_policy_paths_hide), HOME, TMPDIR and what [env] and the built-in allowlist permit. Without a
 * new file system, the home is the directory "home" beside `socket_directory`, which the host has
 * to make, for the session's uid and with mode 0700. Errors: LAZ_ECONFIG (a path of sandbox.read
 * does not exist, say), LAZ_EREFUSED, LAZ_ENOMEM. */
int laz_policy_new(const struct laz_settings_values *values, const struct laz_runtime_info *runtime,
                   const struct laz_policy_session *session, bool own_files, const char *platform,
                   const char *options, size_t options_len, struct laz_policy_box **box,
                   struct laz_error *err);
void laz_policy_free(struct laz_policy_box *box);

/* The nth of the files that a box with its own file system has with a fixed content, `network`: one
 * with a network list; false past the last. */
bool laz_policy_content(size_t n, bool network, const char **box, const char **text);

#define LAZ_BOX_AGENT    "/run/lazaret/bin/lazaret-agent"
#define LAZ_BOX_RUNTIME  "/run/lazaret/bin/" /* followed by the file's name */
#define LAZ_BOX_COMMANDS "/run/lazaret/bin/lazaret-tool"
#define LAZ_BOX_SOCKET   "/run/lazaret/socket" /* a directory */
#define LAZ_BOX_CERTIFICATES                                                                       \
    "/run/lazaret/certificates.pem"         /* of a trust directory: the list of authorities */
#define LAZ_BOX_WRITE "/run/lazaret/write/" /* a template: followed by a number, from 0 */
#define LAZ_BOX_HOME  "/tmp"
#define LAZ_BOX_UID   1000u /* uid and gid shown inside */

/* Gives the path by which a session with `uid` can use a file (a new string). A file that it cannot
 * reach (a build below /root) is copied once into a directory below `directory`, under its name; a
 * file that has changed is copied again. */
int laz_stage_file(const char *directory, const char *path, uint32_t uid, bool execute,
                   char **staged, struct laz_error *err);

/* What laz_stage_file gave, of the files that an engine uses again and again. */
struct laz_staged {
    struct laz_staged *next;
    char *path, *staged;
    uint32_t uid;
    bool execute;
    struct laz_look look; /* of the file, which has not changed since */
};

/* As laz_stage_file, but asks again only when the file has changed; *staged is borrowed from the
 * list, which begins as NULL, until the next call for this file. */
int laz_staged_find(struct laz_staged **list, const char *directory, const char *path, uint32_t uid,
                    bool execute, const char **staged, struct laz_error *err);
void laz_staged_free(struct laz_staged *list);

/* ---- programs ------------------------------------------------------------------------------- */

/* Resolves sandbox.programs of `values`, and what else boxes show of this host; the caller frees
 * *programs. `runtime`: whose programs and paths are wanted, borrowed until then; NULL: none.
 * `platform`: the system; for another one than this, names stand for files of /usr/bin or, where
 * that system has them there, of /bin. `uid`: of the session. `network`: it has a network list:
 * more default programs, and files. Errors: LAZ_ECONFIG naming a listed
 * program that does not exist or that the session cannot execute (a default program that is missing
 * is skipped), LAZ_ENOMEM. */
int laz_programs_new(const struct laz_settings_values *values,
                     const struct laz_runtime_info *runtime, const char *platform, uint32_t uid,
                     bool network, struct laz_programs **programs, struct laz_error *err);
void laz_programs_free(struct laz_programs *programs);
/* Can no program be started? */
bool laz_programs_are_none(const struct laz_programs *programs);

/* sandbox.programs and paths for one runtime, resolved and staged on first use. */
struct laz_programs_found {
    struct laz_programs_found *next;
    const struct laz_runtime_info *runtime;
    bool network;
    struct laz_programs *list;
    char *staged; /* directory; NULL: not needed yet */
    int lock;     /* descriptor that locks it, if it is shared with other engines; else -1 */
};

struct laz_programs_store {
    const struct laz_settings_values *values;
    const char *directory; /* directory of the engine */
    struct laz_programs_found *first;
};

/* Gives sandbox.programs for a runtime, borrowed from the store. `uid`: of the session. `network`:
 * it has a network list. `staged`:
 * also stage them, for boxes with their own file system, which show the paths of `read`. Errors: as
 * laz_programs_new, and LAZ_EOS. */
int laz_programs_find(struct laz_programs_store *store, const struct laz_runtime_info *runtime,
                      uint32_t uid, bool network, bool staged, const struct laz_strv *read,
                      const struct laz_programs_found **programs, struct laz_error *err);
void laz_programs_store_fini(struct laz_programs_store *store);

#endif
