/* SPDX-License-Identifier: MIT */
/* engine.h - an engine owns what its sessions share, and passes it to the rooms. Private to
 * core/engine, core/group, the servers, the command and tests; the public functions are in
 * lazaret/lazaret.h. */
#ifndef LAZ_ENGINE_ENGINE_H
#define LAZ_ENGINE_ENGINE_H

#include "box/box.h"
#include "loop/driver.h"
#include "os/spawner.h"
#include "plugin/plugin.h"
#include "session/shared.h"
#include "settings/settings.h"
#include "tool/tool.h"

#include <lazaret/lazaret.h>

struct laz_engine {
    struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    struct laz_spawner *spawner;
    char *directory;    /* /tmp/lazaret-...: directory for all files of this engine */
    int directory_lock; /* descriptor that shows that the directory is in use */
    char *agent;        /* path of lazaret-agent */
    bool is_owned;      /* it is that of a group, and freed by laz_engine_end alone */
    atomic_uint pooled; /* sessions of its pools, see struct laz_session_shared */
    uint64_t tools_ms;  /* the wait for callbacks of tools when it is freed */
    struct laz_driver driver;
    struct laz_box_shared boxes;
    struct laz_tools tools;
    struct laz_session_shared sessions;
};

/* An engine that is one of several of an owner, each on a thread of its own. Zeroed: it is alone.
 */
struct laz_engine_beside {
    /* Its audit log, and the nest of its control groups, are shared; nothing happens in it during
     * the call. NULL: it is the first. */
    const struct laz_engine *first;
    unsigned n, number;  /* so many divide workers.max, each has one at least; its number, from 0 */
    atomic_uint *pooled; /* counts sessions of the pools of all */
    bool is_owned;       /* laz_engine_free has no effect, laz_engine_end has */
    enum laz_tools_for use; /* what its tools are made for */
};
#define LAZ_ENGINES_USUAL 16u
/* How many there are where nobody says: one for each processor that this process may use, but at
 * most LAZ_ENGINES_USUAL. */
unsigned laz_engines_usual(void);
int laz_engine_new_beside(const struct laz_settings *settings,
                          const struct laz_engine_options *options,
                          const struct laz_engine_beside *beside, struct laz_engine **engine,
                          struct laz_error *err);
/* Neither it nor a session will be given tools beside those of the configuration: a rule for
 * another one is then an error (laz_approvals_check). */
void laz_engine_close_tools(struct laz_engine *engine);
/* As laz_engine_free, by its maker, outside of all callbacks. NULL is allowed. */
void laz_engine_end(struct laz_engine *engine);
/* tables.c: checks that every [sandbox.NAME] and [runtime.NAME] names a plugin and has only options
 * of it. The table of a known runtime that is not installed is accepted. Borrows everything for the
 * call. Errors: LAZ_ECONFIG with FILE:LINE:COL, LAZ_ENOMEM. */
int laz_tables_check(struct laz_registry *registry, const struct laz_settings *settings,
                     struct laz_error *err);
/* As laz_engine_new, and then all that the first session of the settings' runtime depends on, up to
 * the start of its process (laz_sessions_inspect); boxes without code may be started to try
 * backends. Where mistakes are collected (laz_settings_collect), errors of the steps that ended it
 * are among them. The caller frees *engine; NULL: it could not be created. */
int laz_engine_inspect(const struct laz_settings *settings,
                       const struct laz_engine_options *options, struct laz_engine **engine,
                       struct laz_error *err);

#endif
