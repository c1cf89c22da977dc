/* SPDX-License-Identifier: MIT */
/* policy.h - from settings and a runtime to the policy a backend plans for. */
#ifndef LAZ_PLAN_POLICY_H
#define LAZ_PLAN_POLICY_H

#include "base/buf.h"
#include "base/error.h"
#include "plan/programs.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/backend.h>

/* What differs from one session to the next. Strings are borrowed for laz_policy_new. */
struct laz_policy_session {
    const char *socket_folder; /* on the host; appears read-only in the box */
    const char *socket;        /* where the host listens, if that is nothing in this folder (a pipe
                                  of Windows, which no box hides); NULL: the file ipc.sock */
    const char *token;
    const char *agent;               /* on the host, reachable for the session's uid */
    const char *runtime_file;        /* likewise; NULL for a probe */
    const char *const *command_tail; /* arguments of the agent; ends with NULL; NULL: none */
    uint32_t uid;                    /* LAZ_SPAWN_SAME_ID: no uid of its own */
    const struct laz_strv *read; /* further host paths that the box sees: the LAZ_OPT_PATHS options
                                    of the runtime; NULL: none */
    const struct laz_programs *programs; /* NULL: any program */
    const char *staged; /* where laz_programs_stage put them, for a backend with files of its own */
    bool nests;         /* a template: makes sessions inside */
    const char *empty;  /* for one: an empty folder of the host, see laz_policy_paths_hide */
};

/* A policy and the memory of everything it points to. */
struct laz_policy_box {
    struct laz_policy policy;
    void *memory; /* private */
};

/* `runtime` NULL: a probe. `platform`: for which system ("linux", ...); paths of another system are
 * not looked at on this one. `options`: JSON of the backend's options. The paths the agent will
 * find are LAZ_BOX_* when the backend gives a file system of its own (`own_files`), else the
 * host's; the environment has LAZARET_SOCKET, LAZARET_TOKEN, of a template LAZARET_SHOWN (a JSON
 * list, laz_policy_paths_hide), HOME, TMPDIR and what [env] and the built-in allowlist let through. A backend without a file system of its own gets a home that the
 * host has to make, for the session's uid and with mode 0700: the folder "home" beside
 * `socket_folder`. Errors: LAZ_ECONFIG (a path of sandbox.read that does not exist, say). */
int laz_policy_new(const struct laz_settings_values *values, const struct laz_runtime_info *runtime,
                   const struct laz_policy_session *session, bool own_files, const char *platform,
                   const char *options, size_t options_len, struct laz_policy_box **box,
                   struct laz_error *err);
void laz_policy_free(struct laz_policy_box *box);
/* Path of the runtime plugin as the agent will see it. Borrowed from the box. */
const char *laz_policy_runtime_file(const struct laz_policy_box *box);

/* Files with a text of their own in a box that has its own file system: the nth; false past the
 * last. */
bool laz_policy_content(size_t n, const char **box, const char **text);

#define LAZ_BOX_AGENT   "/run/lazaret/bin/lazaret-agent"
#define LAZ_BOX_RUNTIME "/run/lazaret/bin/"   /* followed by the file's name */
#define LAZ_BOX_SOCKET  "/run/lazaret/socket" /* the folder */
#define LAZ_BOX_WRITE   "/run/lazaret/write/" /* a template: followed by a number, from 0 */
#define LAZ_BOX_HOME    "/tmp"
#define LAZ_BOX_UID     1000u /* uid and gid shown inside */

/* Files that sessions with a uid of their own cannot reach by path (a build below /root) are
 * copied once into a folder below `folder` and used from there; the name stays. A file that was
 * changed since is copied anew. Gives the path to use (a new string). */
int laz_stage_file(const char *folder, const char *path, uint32_t uid, bool execute, char **staged,
                   struct laz_error *err);

#endif
