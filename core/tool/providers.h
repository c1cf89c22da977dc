/* SPDX-License-Identifier: MIT */
/* providers.h - the tool providers of an engine: one instance for each [[tools]] table.
 *
 * The plugin is looked up in the registry, its options are checked, the instance is made and its
 * tools are added to the set.  An instance reaches the host only through the services made here:
 * calls.c takes its answers, watch.c watches descriptors, command.c runs commands. */
#ifndef LAZ_TOOL_PROVIDERS_H
#define LAZ_TOOL_PROVIDERS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "os/spawner.h"
#include "tool/tools.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/tool.h>

/* What a command that runs for a call needs. It belongs to the call and exists until ops->call has
 * returned *and* the call was answered. */
struct laz_call_scratch {
    int cancel_fd; /* readable once the call is cancelled; -1: never. Closed by calls.c. */
    struct laz_buf output, errors;
};

#define LAZ_CALL_SCRATCH_INIT                                                                      \
    {                                                                                              \
        -1, LAZ_BUF_INIT, LAZ_BUF_INIT                                                             \
    }

void laz_call_scratch_fini(struct laz_call_scratch *scratch); /* does not close cancel_fd */

/* What the host does for the instances; `host` is the first argument of each function. Functions
 * with the same name in struct laz_tool_services describe them. */
struct laz_provider_host {
    void *host;
    const struct laz_log *log; /* borrowed until laz_providers_free; may be NULL */
    struct laz_spawner *spawner;
    void (*answer)(void *host, struct laz_call *call, const char *json, size_t len);
    void (*answer_error)(void *host, struct laz_call *call, const char *message);
    /* Any thread: the scratch of an open call, borrowed. NULL: its cancel_fd could not be made. */
    struct laz_call_scratch *(*scratch)(void *host, struct laz_call *call);
    struct laz_watch *(*watch_fd)(void *host, int fd, uint32_t events,
                                  void (*ready)(void *user, uint32_t events), void *user);
    struct laz_watch *(*watch_timer)(void *host, uint64_t ms, void (*due)(void *user), void *user);
    void (*watch_stop)(struct laz_watch *watch);
};

/* One instance. */
struct laz_provider {
    const char *name;               /* of the plugin */
    const struct laz_tool_ops *ops; /* call, cancel */
    void *state;
    bool blocking; /* LAZ_TOOL_BLOCKING: `call` runs in a worker thread */
};

struct laz_providers;

/* Appends "python:if" for each reserved word of each installed runtime, for laz_tool_set_add.
 * LAZ_ENOMEM. */
int laz_providers_reserved(struct laz_registry *registry, struct laz_strv *reserved,
                           struct laz_error *err);

/* Makes an instance for each [[tools]] table, possibly none, and adds their tools to `set`, with
 * the instance as `owner`. Borrows settings and reserved for the call, registry until
 * laz_providers_free; copies `host`. After a failure `set` may have entries that the caller drops
 * with laz_tool_set_fini. Errors: LAZ_ECONFIG "FILE:LINE:COL: ..." for a mistake in the file,
 * LAZ_EPLUGIN, LAZ_ENOMEM. */
int laz_providers_new(struct laz_registry *registry, const struct laz_settings *settings,
                      const struct laz_strv *reserved, const struct laz_provider_host *host,
                      struct laz_tool_set *set, struct laz_providers **providers,
                      struct laz_error *err);
/* Frees all instances. No call may be open. NULL is allowed. */
void laz_providers_free(struct laz_providers *providers);

/* Any thread: the instance that has a tool; NULL: the application has it. ops->call takes
 * `entry->index` as the number of the tool. */
const struct laz_provider *laz_provider_of(const struct laz_providers *providers,
                                           const struct laz_tool_entry *entry);

#endif
