/* SPDX-License-Identifier: MIT */
/* policy_env.c - the environment variables of a session.
 * Side: host.  Input trusted: settings yes; the environment of this process may have secrets.
 *
 * Only a short list of harmless names and those of [env] allow are inherited.  [env] allow may not
 * name variables that change what a loader or an interpreter loads (LD_PRELOAD, PYTHONPATH,
 * R_PROFILE, ...), since their values come from wherever lazaret was started.  [env] set may set
 * them, since the author of the settings chose the value; except those that affect the agent before
 * it has confined itself (of the loader and the C library) or that the runtime needs.  On Windows
 * names are compared without regard to case, as the system does. */
#include "plan/policy_private.h"

#include "base/path.h"
#include "os/system.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Variables that cannot be inherited. */
static const struct env_names {
    const char *names; /* with spaces between; a last '*' stands for any ending */
    const char *why;
    bool never_set; /* [env] set cannot set them either */
    bool windows;   /* only there */
} env_refused_names[] = {
    {"LD_* DYLD_*", "changes what the loader loads", true, false},
    {"GLIBC_TUNABLES MALLOC_*", "changes the C library", true, false},
    {"GCONV_PATH LOCPATH NLSPATH", "makes the C library load files", true, false},
    {"BASH_ENV ENV", "makes shells run a file", false, false},
    {"BASH_FUNC_*", "defines functions of shells", false, false},
    {"IFS", "changes how shells read words", false, false},
    {"PS4 PROMPT_COMMAND", "makes shells run commands", false, false},
    {"SHELLOPTS BASHOPTS", "changes what shells do", false, false},
    {"HOSTALIASES", "makes the C library load files", false, false},
    {"RES_OPTIONS LOCALDOMAIN", "changes the C library", false, false},
    {"PYTHON*", "changes what Python loads", false, false},
    {"R_* RENV_*", "changes what R loads", false, false},
    {"LUA_*", "changes what Lua loads", false, false},
    {"NODE_*", "changes what Node.js loads", false, false},
    {"PERL*", "changes what Perl loads", false, false},
    {"RUBY*", "changes what Ruby loads", false, false},
    {"JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS CLASSPATH", "changes what Java loads", false, false},
    {"TCLLIBPATH", "changes what Tcl loads", false, false},
    {"OPENSSL_*", "makes OpenSSL load files", false, false},
    {"ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS", "changes what a sanitizer does", false, false},
    {"LAZARET_*", "belongs to lazaret", true, false},
    {"HOME TMPDIR TMP TEMP", "is given by the box", true, false},
    {"PATH", "has a fixed value inside, which env.set can change", false, false},
    {"USERPROFILE APPDATA LOCALAPPDATA", "is given by the box", true, true},
    {"HOMEDRIVE HOMEPATH", "is left to HOME and USERPROFILE", true, true},
    {"SystemRoot SystemDrive windir ComSpec", "belongs to the system", true, true},
    {"__COMPAT_LAYER", "changes how programs are started", true, true},
    {"PSModulePath", "changes what PowerShell loads", true, true},
    {"COR_* CORECLR_* DOTNET_*", "changes what .NET loads", true, true},
};

/* What differs from system to system. */
struct env_system {
    const char *platform; /* NULL: any other */
    bool windows;         /* names are compared without regard to case */
    const char *const *fixed;
    const char *const *homes; /* variables that have the home directory as value */
};

static const char *const env_posix_fixed[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "LANG=C.UTF-8",
    "USER=sandbox",
    "LOGNAME=sandbox",
    "SHELL=/bin/sh",
    NULL,
};
/* Not every macOS has C.UTF-8, but all have en_US.UTF-8; LC_COLLATE keeps the sort order of C. */
static const char *const env_darwin_fixed[] = {
    "PATH=/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin",
    "LANG=en_US.UTF-8",
    "LC_COLLATE=C",
    "USER=sandbox",
    "LOGNAME=sandbox",
    "SHELL=/bin/sh",
    NULL,
};
static const char *const env_posix_homes[] = {"HOME", "TMPDIR", "TMP", "TEMP", NULL};

/* "%" stands for the system directory, "?" for its drive; programs cannot start without them. */
static const char *const env_windows_fixed[] = {
    "SystemRoot=%",
    "SystemDrive=?",
    "windir=%",
    "ComSpec=%\\System32\\cmd.exe",
    "PATH=%\\System32;%",
    "PATHEXT=.COM;.EXE;.BAT;.CMD",
    "LANG=C.UTF-8",
    "USERNAME=sandbox",
    NULL,
};
static const char *const env_windows_homes[] = {"HOME",   "USERPROFILE", "APPDATA", "LOCALAPPDATA",
                                                "TMPDIR", "TMP",         "TEMP",    NULL};

static const struct env_system env_systems[] = {
    {"windows", true, env_windows_fixed, env_windows_homes},
    {"darwin", false, env_darwin_fixed, env_posix_homes},
    {NULL, false, env_posix_fixed, env_posix_homes},
};

/* Inherited if set. LC_ALL, LC_CTYPE and LC_NUMERIC are not: text is UTF-8, and numbers have a
 * point.
 */
static const char *const env_inherited[] = {
    "TZ", "TERM", "LC_MESSAGES", "LC_COLLATE", "LC_MONETARY", "LC_TIME",
};

/* Where there is no terminal: no program is to draw, to page or to ask. */
static const char *const env_no_terminal[] = {
    "TERM=dumb",
    "PAGER=cat",
    "GIT_PAGER=cat",
    "GIT_TERMINAL_PROMPT=0",
};

#define ENV_COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool env_begins(const struct env_system *system, const char *text, const char *with,
                       size_t len)
{
    return (system->windows ? strncasecmp(text, with, len) : strncmp(text, with, len)) == 0;
}

static bool env_is_among(const struct env_system *system, const char *names, const char *name,
                         size_t len)
{
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (names[n - 1] == '*' ? len >= n - 1 && env_begins(system, name, names, n - 1)
                                : len == n && env_begins(system, name, names, n))
            return true;
    }
    return false;
}

/* The entry that refuses a name: for [env] set (`to_set`), or for inheriting it; NULL: none. */
static const struct env_names *env_refused(const struct env_system *system, bool to_set,
                                           const char *name, size_t len)
{
    for (size_t i = 0; i < ENV_COUNT(env_refused_names); i++) {
        const struct env_names *refused = &env_refused_names[i];
        if ((refused->never_set || !to_set) && (system->windows || !refused->windows) &&
            env_is_among(system, refused->names, name, len))
            return refused;
    }
    return NULL;
}

/* Adds "NAME=VALUE", or replaces the variable of this name. */
static void env_put(const struct env_system *system, struct laz_strv *env, const char *name_value)
{
    size_t len = strcspn(name_value, "=") + 1;

    for (size_t i = 0; i < env->n; i++) {
        if (!env_begins(system, env->items[i], name_value, len))
            continue;
        char *copy = laz_strdup(name_value);
        if (!copy) {
            env->failed = true;
            return;
        }
        free(env->items[i]);
        env->items[i] = copy;
        return;
    }
    laz_strv_add(env, name_value);
}

static const struct env_system *env_system_of(const char *platform)
{
    const struct env_system *system = env_systems;

    while (system->platform && strcmp(system->platform, platform) != 0)
        system++;
    return system;
}

/* The directory of Windows, from the environment; on other systems the usual one. */
static const char *env_system_root(const struct env_system *system)
{
    bool here = system->platform && strcmp(system->platform, laz_os_platform()) == 0;
    const char *root = here ? getenv("SystemRoot") : NULL;

    return root ? root : "C:\\Windows";
}

static void env_fixed(const struct env_system *system, struct laz_strv *env)
{
    const char *root = env_system_root(system);

    for (const char *const *fixed = system->fixed; *fixed; fixed++) {
        struct laz_buf text = LAZ_BUF_INIT;
        for (const char *c = *fixed; *c; c++) {
            if (*c == '%')
                laz_buf_puts(&text, root);
            else if (*c == '?')
                laz_buf_append(&text, root, strcspn(root, "\\"));
            else
                laz_buf_putc(&text, *c);
        }
        laz_strv_add(env, laz_buf_text(&text));
        env->failed |= text.failed;
        laz_buf_fini(&text);
    }
}

static void env_inherit(const struct env_system *system, struct laz_strv *env, const char *name)
{
    const char *value = getenv(name);

    if (!value)
        return;
    char *text = laz_strdupf("%s=%s", name, value);
    if (text)
        env_put(system, env, text);
    else
        env->failed = true;
    free(text);
}

static bool env_declares(const struct env_system *system, const struct laz_strv *runtime,
                         const char *name, size_t len)
{
    for (size_t i = 0; runtime && i < runtime->n; i++)
        if (env_begins(system, runtime->items[i], name, len) && runtime->items[i][len] == '=')
            return true;
    return false;
}

static int env_allow(const struct env_system *system, const char *name,
                     const struct laz_strv *runtime, struct laz_strv *env, struct laz_error *err)
{
    const struct env_names *refused = env_refused(system, false, name, strlen(name));

    if (!*name || strchr(name, '='))
        return laz_error_set(err, LAZ_ECONFIG, 0, "env.allow: \"%s\" is not the name of a variable",
                             name);
    if (env_declares(system, runtime, name, strlen(name)))
        return 0; /* the value of the runtime has precedence */
    if (refused)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "env.allow: %s cannot be inherited, it %s; a fixed value can be "
                             "given with env.set where that is allowed",
                             name, refused->why);
    env_inherit(system, env, name);
    return 0;
}

static const struct env_system env_exact; /* names are compared as they are */

/* What a language says of a variable; "": nothing. NULL: the list lacks it. */
static const char *env_clause(const struct laz_strv *pairs, const char *name, size_t len)
{
    for (size_t i = 0; i + 1 < pairs->n; i += 2)
        if (env_is_among(&env_exact, pairs->items[i], name, len))
            return pairs->items[i + 1];
    return NULL;
}

/* `key`: of the settings, which gives it. */
static int env_set(const struct env_system *system, const char *key, const char *text,
                   const struct laz_runtime_info *runtime, struct laz_strv *env,
                   struct laz_error *err)
{
    size_t len = strcspn(text, "=");

    if (len == 0 || text[len] != '=')
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s: \"%s\" is not NAME = VALUE", key, text);
    const struct env_names *refused = env_refused(system, true, text, len);
    if (refused)
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s: %.*s cannot be set, it %s", key, (int)len,
                             text, refused->why);
    if (runtime && env_declares(system, &runtime->env, text, len)) {
        const char *clause =
            runtime->language ? env_clause(&runtime->language->variables.ignored, text, len) : NULL;
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s: %.*s cannot be set, the runtime needs it as it is%s%s", key,
                             (int)len, text, clause && *clause ? "; " : "", clause ? clause : "");
    }
    env_put(system, env, text);
    return 0;
}

/* What the session has for its credentials: where the certificates are that programs are to accept,
 * and placeholders. */
static int env_credentials(const struct env_system *system,
                           const struct laz_policy_session *session,
                           const struct laz_runtime_info *runtime, struct laz_strv *env,
                           struct laz_error *err)
{
    const struct laz_strv *extra = session->extra_env;
    const char *name;
    int rc = 0;

    for (size_t i = 0; session->trust && (name = laz_policy_trust_variable(i)); i++) {
        char *text = laz_strdupf("%s=" LAZ_BOX_CERTIFICATES, name);
        if (!text)
            env->failed = true;
        else if (!runtime || !env_declares(system, &runtime->env, name, strlen(name)))
            env_put(system, env, text);
        free(text);
    }
    for (size_t i = 0; extra && i < extra->n && !rc; i++)
        rc = env_set(system, "network.credential", extra->items[i], runtime, env, err);
    return rc;
}

static int env_of_settings(const struct env_system *system,
                           const struct laz_settings_values *values,
                           const struct laz_policy_session *session,
                           const struct laz_runtime_info *runtime, struct laz_strv *env,
                           struct laz_error *err)
{
    const struct laz_strv *allow = &values->env.allow, *set = &values->env.set;
    int rc = 0;

    for (size_t i = 0; i < allow->n && !rc; i++) {
        rc = env_allow(system, allow->items[i], runtime ? &runtime->env : NULL, env, err);
        rc = laz_settings_wrong(values, "env.allow", allow->items[i], rc, err);
    }
    if (!rc)
        rc = env_credentials(system, session, runtime, env, err);
    for (size_t i = 0; i < set->n && !rc; i++) {
        char *name = laz_strndup(set->items[i], strcspn(set->items[i], "="));
        rc = env_set(system, "env.set", set->items[i], runtime, env, err);
        rc = laz_settings_wrong(values, "env.set", name, rc, err);
        free(name);
    }
    return rc;
}

int laz_policy_env(const char *platform, const struct laz_settings_values *values,
                   const struct laz_runtime_info *runtime, const char *home,
                   const struct laz_policy_session *session, struct laz_strv *env,
                   struct laz_error *err)
{
    const struct env_system *system = env_system_of(platform);
    const bool is_plain = !system->windows && !values->sandbox.tty && !session->has_terminal;
    int rc;

    env_fixed(system, env);
    for (const char *const *name = system->homes; *name; name++)
        laz_strv_addf(env, "%s=%s", *name, home);
    for (size_t i = 0; i < ENV_COUNT(env_inherited); i++)
        env_inherit(system, env, env_inherited[i]);
    for (size_t i = 0; is_plain && i < ENV_COUNT(env_no_terminal); i++)
        env_put(system, env, env_no_terminal[i]);
    for (size_t i = 0; runtime && i < runtime->env.n; i++)
        env_put(system, env, runtime->env.items[i]);
    rc = env_of_settings(system, values, session, runtime, env, err);
    if (!rc && env->failed)
        rc = laz_error_nomem(err);
    return rc;
}

/* Does one of the texts, NAME or NAME=VALUE, have the name of a variable? */
static bool env_names_it(const struct env_system *system, const struct laz_strv *texts,
                         const char *name, size_t len)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strcspn(texts->items[i], "=") == len && env_begins(system, texts->items[i], name, len))
            return true;
    return false;
}

void laz_policy_env_hide(const char *platform, const struct laz_settings_values *values,
                         const struct laz_policy_session *session, struct laz_strv *env)
{
    const struct env_system *system = env_system_of(platform);

    for (size_t i = 0; i < env->n; i++) {
        const char *text = env->items[i], *word = "(set)";
        const size_t len = strcspn(text, "=");
        if (session->extra_env && env_names_it(system, session->extra_env, text, len) &&
            !env_names_it(system, &values->env.set, text, len))
            word = "(placeholder)";
        else if (!env_names_it(system, &values->env.allow, text, len) &&
                 !env_names_it(system, &values->env.set, text, len))
            continue;
        char *hidden = laz_strdupf("%.*s=%s", (int)len, text, word);
        env->failed |= !hidden;
        if (!hidden)
            return;
        free(env->items[i]);
        env->items[i] = hidden;
    }
}

/* ---- variables that do not do what their name says --------------------------------------------
 */

static bool env_is_shown(const struct laz_policy_paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->n_sorted; i++)
        if (laz_path_is_within(path, paths->sorted[i].box))
            return true;
    return false;
}

/* The first directory of a list that the paths do not show, a new string; NULL: there is none. The
 * list may have patterns: the directory of "/a/?/init.lua" is "/a". */
static char *env_hidden(const struct laz_policy_paths *paths, const char *list)
{
    for (size_t len; *list; list += len + (list[len] != '\0')) {
        len = strcspn(list, ":;");
        size_t end = 0;
        while (end < len && list[end] != '?')
            end++;
        if (end < len)
            while (end > 1 && list[end - 1] != '/')
                end--;
        while (end > 1 && list[end - 1] == '/')
            end--;
        char *path = list[0] == '/' ? laz_strndup(list, end) : NULL;
        if (path && !env_is_shown(paths, path))
            return path;
        free(path);
    }
    return NULL;
}

void laz_policy_env_notes(const struct laz_settings_values *values,
                          const struct laz_runtime_info *runtime,
                          const struct laz_policy_paths *paths, struct laz_strv *notes)
{
    const struct laz_language *language = runtime ? runtime->language : NULL;

    for (size_t i = 0; language && i < values->env.set.n; i++) {
        const char *text = values->env.set.items[i];
        const size_t len = strcspn(text, "=");
        const char *ignored = env_clause(&language->variables.ignored, text, len);
        const char *searched = env_clause(&language->variables.searched, text, len);
        if (env_declares(&env_exact, &runtime->env, text, len))
            continue; /* it was refused */
        char *hidden = searched && paths ? env_hidden(paths, text + len + 1) : NULL;

        if (ignored)
            laz_strv_addf(notes,
                          "env.set: %.*s is not read by the runtime %s, only by programs "
                          "that the code starts%s%s",
                          (int)len, text, runtime->name, *ignored ? ": " : "", ignored);
        if (hidden)
            laz_strv_addf(notes,
                          "env.set: %.*s: %s is not shown to the code: name it in "
                          "sandbox.read, or %s",
                          (int)len, text, hidden, searched);
        free(hidden);
    }
}
