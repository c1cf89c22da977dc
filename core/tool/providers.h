/* SPDX-License-Identifier: MIT */
/* providers.h - the tool providers of an engine: one instance for each [[tools]] table.
 *
 * The plugin is found in the registry, its options are checked against its own table, the instance
 * is made and its tools are added to the set.  What an instance may ask of the host goes through
 * here: the engine answers calls and watches descriptors, commands are run by command.c. */
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

/* What a command that runs for a call needs of it. It belongs to the call: the engine keeps it from
 * before ops->call until ops->call has returned *and* the call was answered, then calls fini. */
struct laz_call_scratch {
    int cancel_fd; /* becomes readable when the call is cancelled; -1: never. The engine's. */
    struct laz_buf output, errors;
};

#define LAZ_CALL_SCRATCH_INIT                                                                      \
    {                                                                                              \
        -1, LAZ_BUF_INIT, LAZ_BUF_INIT                                                             \
    }

void laz_call_scratch_fini(struct laz_call_scratch *scratch); /* leaves cancel_fd alone */

/* What the engine does for the instances; `host` is the first argument of the functions. Those of
 * struct laz_tool_services with the same name say what is asked of them. Copied. */
struct laz_provider_host {
    void *host;
    const struct laz_log *log; /* borrowed; lives as long as the providers; may be NULL */
    struct laz_spawner *spawner;
    void (*answer)(void *host, struct laz_call *call, const char *json, size_t len);
    void (*answer_error)(void *host, struct laz_call *call, const char *message);
    /* The scratch of an open call, with its cancel_fd made. Any thread. NULL without memory. */
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
    bool blocking; /* LAZ_TOOL_BLOCKING: call it on a worker thread */
};

struct laz_providers;

/* "python:if" for each reserved word of each runtime that is installed: what laz_tool_set_add
 * takes. Appended. */
int laz_providers_reserved(struct laz_registry *registry, struct laz_strv *reserved,
                           struct laz_error *err);

/* Makes the instances and adds their tools to `set`, with the instance as `owner`. Without any
 * [[tools]] table *providers is still made. Borrows settings and reserved for the call, registry
 * until laz_providers_free. On failure nothing is left but possibly some entries of `set`, which
 * must then be dropped (laz_tool_set_fini). Errors: LAZ_ECONFIG "FILE:LINE:COL: ..." for what the
 * file says, LAZ_EPLUGIN, LAZ_ENOMEM. */
int laz_providers_new(struct laz_registry *registry, const struct laz_settings *settings,
                      const struct laz_strv *reserved, const struct laz_provider_host *host,
                      struct laz_tool_set *set, struct laz_providers **providers,
                      struct laz_error *err);
/* No call may be open any more. */
void laz_providers_free(struct laz_providers *providers);

/* The instance that serves a tool; NULL when the application does. `entry->index` is the number of
 * the tool that ops->call takes. */
const struct laz_provider *laz_provider_of(const struct laz_providers *providers,
                                           const struct laz_tool_entry *entry);

#endif
