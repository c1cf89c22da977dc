/* SPDX-License-Identifier: MIT */
/* policy_env.c - which variables a session sees.
 * Side: host.  Input trusted: settings yes; the environment of this process is where secrets are.
 *
 * Nothing is inherited but a short list of harmless names and those of [env] allow.  Variables that
 * make a loader or an interpreter load something else than it would (LD_PRELOAD, PYTHONPATH,
 * R_PROFILE, ...) are refused there, for their values come from wherever lazaret was started.
 * [env] set is the word of the settings' author and may set them, but for what would act on the
 * agent before it has confined itself (the loader's own, the C library's) or against the runtime.
 */
#include "engine/policy_env.h"

#include <stdlib.h>
#include <string.h>

struct env_name {
    const char *name; /* a last '*' stands for any ending */
    const char *why;
};

/* Not from the environment of this process. */
static const struct env_name env_never_inherited[] = {
    {"LD_*", "changes what the loader loads"},
    {"DYLD_*", "changes what the loader loads"},
    {"GLIBC_TUNABLES", "changes the C library"},
    {"MALLOC_*", "changes the C library"},
    {"GCONV_PATH", "makes the C library load files"},
    {"LOCPATH", "makes the C library load files"},
    {"NLSPATH", "makes the C library load files"},
    {"BASH_ENV", "makes shells run a file"},
    {"ENV", "makes shells run a file"},
    {"BASH_FUNC_*", "defines functions of shells"},
    {"IFS", "changes how shells read words"},
    {"PS4", "makes shells run commands"},
    {"PROMPT_COMMAND", "makes shells run commands"},
    {"SHELLOPTS", "changes what shells do"},
    {"BASHOPTS", "changes what shells do"},
    {"HOSTALIASES", "makes the C library load files"},
    {"RES_OPTIONS", "changes the C library"},
    {"LOCALDOMAIN", "changes the C library"},
    {"PYTHON*", "changes what Python loads"},
    {"R_*", "changes what R loads"},
    {"LUA_*", "changes what Lua loads"},
    {"NODE_*", "changes what Node.js loads"},
    {"PERL*", "changes what Perl loads"},
    {"RUBY*", "changes what Ruby loads"},
    {"JAVA_TOOL_OPTIONS", "changes what Java loads"},
    {"JDK_JAVA_OPTIONS", "changes what Java loads"},
    {"CLASSPATH", "changes what Java loads"},
    {"TCLLIBPATH", "changes what Tcl loads"},
    {"OPENSSL_*", "makes OpenSSL load files"},
    {"ASAN_OPTIONS", "changes what a sanitizer does"},
    {"UBSAN_OPTIONS", "changes what a sanitizer does"},
    {"LSAN_OPTIONS", "changes what a sanitizer does"},
    {"LAZARET_*", "belongs to lazaret"},
    {"HOME", "is given by the box"},
    {"TMPDIR", "is given by the box"},
    {"TMP", "is given by the box"},
    {"TEMP", "is given by the box"},
    {"PATH", "has a fixed value inside, which env.set can change"},
};

/* Not even by [env] set. */
static const struct env_name env_never_set[] = {
    {"LD_*", "changes what the loader loads"},
    {"DYLD_*", "changes what the loader loads"},
    {"GLIBC_TUNABLES", "changes the C library"},
    {"MALLOC_*", "changes the C library"},
    {"GCONV_PATH", "makes the C library load files"},
    {"LOCPATH", "makes the C library load files"},
    {"NLSPATH", "makes the C library load files"},
    {"LAZARET_*", "belongs to lazaret"},
    {"HOME", "is given by the box"},
    {"TMPDIR", "is given by the box"},
    {"TMP", "is given by the box"},
    {"TEMP", "is given by the box"},
};

static const char *const env_fixed[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "LANG=C.UTF-8",
    "USER=sandbox",
    "LOGNAME=sandbox",
    "SHELL=/bin/sh",
};

/* Inherited when set. No LC_ALL, LC_CTYPE and LC_NUMERIC: text is UTF-8 and a number has a point.
 */
static const char *const env_inherited[] = {
    "TZ", "TERM", "LC_MESSAGES", "LC_COLLATE", "LC_MONETARY", "LC_TIME",
};

#define ENV_COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct env_name *env_find(const struct env_name *table, size_t n, const char *name,
                                       size_t len)
{
    for (size_t i = 0; i < n; i++) {
        size_t pattern = strlen(table[i].name);
        bool prefix = table[i].name[pattern - 1] == '*';
        if (prefix ? len >= pattern - 1 && strncmp(name, table[i].name, pattern - 1) == 0
                   : len == pattern && strncmp(name, table[i].name, len) == 0)
            return &table[i];
    }
    return NULL;
}

/* Adds "NAME=VALUE", in the place of a variable of this name. */
static void env_put(struct laz_strv *env, const char *name_value)
{
    size_t len = strcspn(name_value, "=") + 1;

    for (size_t i = 0; i < env->n; i++) {
        if (strncmp(env->items[i], name_value, len) != 0)
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

static void env_inherit(struct laz_strv *env, const char *name)
{
    const char *value = getenv(name);

    if (!value)
        return;
    char *text = laz_strdupf("%s=%s", name, value);
    if (text)
        env_put(env, text);
    else
        env->failed = true;
    free(text);
}

static bool env_declares(const struct laz_strv *runtime, const char *name, size_t len)
{
    for (size_t i = 0; runtime && i < runtime->n; i++)
        if (strncmp(runtime->items[i], name, len) == 0 && runtime->items[i][len] == '=')
            return true;
    return false;
}

static int env_allow(const struct laz_settings_values *values, const struct laz_strv *runtime,
                     struct laz_strv *env, struct laz_error *err)
{
    for (size_t i = 0; i < values->env.allow.n; i++) {
        const char *name = values->env.allow.items[i];
        const struct env_name *refused =
            env_find(env_never_inherited, ENV_COUNT(env_never_inherited), name, strlen(name));
        if (!*name || strchr(name, '='))
            return laz_error_set(err, LAZ_ECONFIG, 0, "env.allow: \"%s\" is no name of a variable",
                                 name);
        if (env_declares(runtime, name, strlen(name)))
            continue; /* the runtime has set it, and knows better */
        if (refused)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "env.allow: %s cannot be inherited, it %s; a fixed value can be "
                                 "given with env.set where that is allowed",
                                 name, refused->why);
        env_inherit(env, name);
    }
    return 0;
}

static int env_set(const struct laz_settings_values *values, const struct laz_strv *runtime,
                   struct laz_strv *env, struct laz_error *err)
{
    for (size_t i = 0; i < values->env.set.n; i++) {
        const char *text = values->env.set.items[i];
        size_t len = strcspn(text, "=");
        if (len == 0 || text[len] != '=')
            return laz_error_set(err, LAZ_ECONFIG, 0, "env.set: \"%s\" is not NAME = VALUE", text);
        const struct env_name *refused =
            env_find(env_never_set, ENV_COUNT(env_never_set), text, len);
        if (refused)
            return laz_error_set(err, LAZ_ECONFIG, 0, "env.set: %.*s cannot be set, it %s",
                                 (int)len, text, refused->why);
        if (env_declares(runtime, text, len))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "env.set: %.*s cannot be set, the runtime needs it as it is",
                                 (int)len, text);
        env_put(env, text);
    }
    return 0;
}

int laz_policy_env(const struct laz_settings_values *values, const struct laz_strv *runtime,
                   const char *home, struct laz_strv *env, struct laz_error *err)
{
    int rc;

    for (size_t i = 0; i < ENV_COUNT(env_fixed); i++)
        laz_strv_add(env, env_fixed[i]);
    laz_strv_addf(env, "HOME=%s", home);
    laz_strv_addf(env, "TMPDIR=%s", home);
    laz_strv_addf(env, "TMP=%s", home);
    laz_strv_addf(env, "TEMP=%s", home);
    for (size_t i = 0; i < ENV_COUNT(env_inherited); i++)
        env_inherit(env, env_inherited[i]);
    for (size_t i = 0; runtime && i < runtime->n; i++)
        env_put(env, runtime->items[i]);
    rc = env_allow(values, runtime, env, err);
    if (!rc)
        rc = env_set(values, runtime, env, err);
    if (!rc && env->failed)
        rc = laz_error_nomem(err);
    return rc;
}
