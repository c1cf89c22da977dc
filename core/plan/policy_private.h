/* SPDX-License-Identifier: MIT */
/* policy_private.h - of what policy.c makes a policy: its list of paths and its environment. */
#ifndef LAZ_PLAN_POLICY_PRIVATE_H
#define LAZ_PLAN_POLICY_PRIVATE_H

#include "plan/policy.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

enum laz_policy_rank { /* of entries for the same path, the highest rank counts */
                       LAZ_POLICY_SYSTEM,
                       LAZ_POLICY_RUNTIME,
                       LAZ_POLICY_PIN,
                       LAZ_POLICY_PROTECT,
                       LAZ_POLICY_READ,
                       LAZ_POLICY_WRITE,
                       LAZ_POLICY_OWN
};

struct laz_policy_path {
    uint32_t kind, optional; /* LAZ_PATH_* */
    char *host, *box;
    unsigned rank;
    bool from_settings;
};

struct laz_policy_paths { /* begins as {0} */
    struct laz_policy_path *items;
    size_t n;
    struct laz_path *sorted; /* for the backend; borrows from the items */
    size_t n_sorted;
    bool failed; /* an allocation failed */
};

/* Copies the texts. */
void laz_policy_paths_add(struct laz_policy_paths *paths, struct laz_policy_path path,
                          const char *host, const char *box);
/* Fills `sorted`: each path once, after the directories that contain it, and no path of the system
 * over what the settings show. LAZ_ENOMEM. */
int laz_policy_paths_sort(struct laz_policy_paths *paths, struct laz_error *err);
/* For a template: moves what sessions may write to LAZ_BOX_WRITE, with everything inside, and puts
 * `empty`, a directory of the host, in its place. Appends pairs to `shown`: the new path, and the
 * path in a session. LAZ_EREFUSED: the template could read it under another path. */
int laz_policy_paths_hide(struct laz_policy_paths *paths, const char *empty, bool here,
                          struct laz_strv *shown, struct laz_error *err);
struct laz_policy_protect {
    const struct laz_strv *names;  /* sandbox.protect */
    uint32_t uid;                  /* of the session */
    bool here, own_files, by_real; /* as of the policy */
    struct laz_strv *protects;     /* receives those of struct laz_policy_box */
};
/* Adds what stays read-only below each path of LAZ_POLICY_WRITE that is a directory. */
int laz_policy_protect(const struct laz_policy_protect *protect, struct laz_policy_paths *paths,
                       struct laz_error *err);
/* With a trust directory: shows its lists wherever the paths that were added show one of the host,
 * and at LAZ_BOX_CERTIFICATES. `here`: as of the policy. */
void laz_policy_trust(const struct laz_policy_session *session, bool here,
                      struct laz_policy_paths *paths);
/* The same of one path, and of the file to which it leads; `file` is of the trust directory. */
void laz_policy_trust_at(const struct laz_policy_session *session, bool here,
                         struct laz_policy_paths *paths, const char *path, const char *file);
/* The nth variable that names such a list; NULL past the last. */
const char *laz_policy_trust_variable(size_t n);
void laz_policy_paths_fini(struct laz_policy_paths *paths);

/* The real path of `path` on macOS, a new string (NULL: out of memory). With `here`, links are
 * followed if the path exists; else only the links are replaced that every macOS has (/tmp). */
char *laz_policy_real(const char *path, bool here);
/* Replaces all paths by real ones, and adds an entry for each link on the way. */
void laz_policy_paths_real(struct laz_policy_paths *paths, bool here);

/* Appends all variables but LAZARET_* as "NAME=VALUE": fixed ones of the system, then those of the
 * built-in allowlist that are set in this process, then those of `runtime` (NULL: none), [env]
 * allow, the trust directory and the placeholders of the session, and [env] set; a later one
 * replaces an earlier one. It calls getenv. Errors: LAZ_ECONFIG naming the key and the variable,
 * LAZ_ENOMEM. */
int laz_policy_env(const char *platform, const struct laz_settings_values *values,
                   const struct laz_runtime_info *runtime, const char *home,
                   const struct laz_policy_session *session, struct laz_strv *env,
                   struct laz_error *err);
/* Appends a sentence for each variable of [env] set that does not do what its name says: that the
 * interpreter of the session does not read, or that names a directory which the paths, unless they
 * are NULL, do not show. */
void laz_policy_env_notes(const struct laz_settings_values *values,
                          const struct laz_runtime_info *runtime,
                          const struct laz_policy_paths *paths, struct laz_strv *notes);
/* Puts "(set)" in place of the values that come from the settings, or by them from the host, and
 * "(placeholder)" in place of placeholders. */
void laz_policy_env_hide(const char *platform, const struct laz_settings_values *values,
                         const struct laz_policy_session *session, struct laz_strv *env);

#endif
