/* SPDX-License-Identifier: MIT */
/* start.c - from the environment to `ready`, in the order of the table in docs/protocol.md.
 * Side: box.  Input trusted: yes (the host's environment and `init`).
 *
 * The order is the point: the token is sent and wiped before anything else is read; descriptors
 * that are not the box's are closed before the runtime exists; limits hold before the interpreter
 * starts. Nothing that a stranger wrote is looked at in this file. */
#include "agent/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/namespaces.h"
#include "os/sockets.h"
#include "wire/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void agent_cost(struct agent *agent, const char *step, uint64_t since_us)
{
    laz_buf_printf(&agent->cost, "%s%s %llu", agent->cost.len ? ", " : "", step,
                   (unsigned long long)(laz_clock_us() - since_us));
}

/* Taken before a runtime keeps a copy of the environment: it is nothing to sessions. */
static int start_shown(struct agent *agent, struct laz_error *err)
{
    char *text = laz_os_take_variable("LAZARET_SHOWN", true);
    struct laz_json *list = text ? laz_json_parse(text, strlen(text), NULL) : NULL;
    bool failed = text && !list;

    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item)) {
        failed = failed || !laz_json_string(item);
        if (!failed)
            laz_strv_add(&agent->shown, laz_json_string(item));
    }
    laz_json_free(list);
    free(text);
    return failed || agent->shown.failed
               ? laz_error_set(err, LAZ_ESETUP, 0, "LAZARET_SHOWN is no list of paths")
               : 0;
}

static int start_connect(struct agent *agent, struct laz_error *err)
{
    const bool wipe = !AGENT_LEFT_OUT("token");
    char *path = laz_os_take_variable("LAZARET_SOCKET", wipe);
    char *token = laz_os_take_variable("LAZARET_TOKEN", wipe);
    size_t len = token ? strlen(token) : 0;
    int fd = -1;
    int rc;

    if (!path || !token) {
        rc = laz_error_set(err, LAZ_ESETUP, 0,
                           "LAZARET_SOCKET and LAZARET_TOKEN are not set; "
                           "this program is started by lazaret");
        goto out;
    }
    rc = laz_os_connect(path, &fd, err);
    if (rc)
        goto out;
    rc = laz_os_place(&fd, AGENT_CHANNEL, err);
    if (rc)
        goto out;
    agent->channel.fd = fd;
    agent_close_descriptors(AGENT_CHANNEL);
    if (agent->role == AGENT_TEMPLATE) {
        agent->socket_folder = laz_strndup(path, (size_t)(strrchr(path, '/') - path));
        rc = start_shown(agent, err);
        if (rc)
            goto out;
    }
    const struct laz_part parts[] = {{token, len}, {"\n", 1}};
    if (!agent_channel_send(&agent->channel, parts, 2))
        rc = laz_error_set(err, LAZ_ESETUP, 0, "the host closed the connection");
out:
    if (token && wipe)
        laz_wipe(token, len);
    free(token);
    free(path);
    return rc;
}

static int start_libraries(const struct laz_json *options, struct laz_strv *libraries,
                           struct laz_error *err)
{
    const struct laz_json *list = laz_json_get(options, "libraries");

    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item)) {
        if (!laz_json_string(item))
            return laz_error_set(err, LAZ_EPROTO, 0, "init: a library is no string");
        laz_strv_add(libraries, laz_json_string(item));
    }
    return libraries->failed ? laz_error_nomem(err) : 0;
}

static int start_load(struct agent *agent, const struct laz_json *init, struct laz_error *err)
{
    const struct laz_json *options = laz_json_get(init, "options");
    const struct laz_json *file = options ? laz_json_get(options, "runtime_file") : NULL;
    struct laz_strv libraries = LAZ_STRV_INIT;
    int rc;

    if (!file || !laz_json_string(file)) {
        rc = laz_error_set(err, LAZ_EPROTO, 0, "init: options.runtime_file is missing");
        goto out;
    }
    rc = start_libraries(options, &libraries, err);
    if (rc)
        goto out;
    rc = laz_module_open(laz_json_string(file), LAZ_PLUGIN_RUNTIME,
                         (const char *const *)libraries.items, &agent->module, err);
    if (rc)
        goto out;
    agent->plugin = laz_module_plugin(agent->module);
    agent->ops = agent->plugin->ops;
    if (!LAZ_HAS(agent->ops, create) || !LAZ_HAS(agent->ops, version) ||
        !LAZ_HAS(agent->ops, define_tools) || !LAZ_HAS(agent->ops, check) ||
        !LAZ_HAS(agent->ops, eval))
        rc = laz_error_set(err, LAZ_EPLUGIN, 0,
                           "%s: a runtime has create, version, define_tools, check and eval",
                           laz_json_string(file));
out:
    laz_strv_fini(&libraries);
    return rc;
}

/* `line` is the text of `init`: raw members are taken from it. */
static int start_create(struct agent *agent, const char *line, size_t len, struct laz_error *err)
{
    const char *raw, *options = "{}";
    size_t raw_len, options_len = 2;

    if (laz_json_member(line, len, "options", &raw, &raw_len))
        laz_json_member(raw, raw_len, "options", &options, &options_len);
    return agent->ops->create(&agent->services, options, options_len, &agent->state, err);
}

static int start_renew(struct agent *agent, struct laz_error *err)
{
    uint64_t begun = laz_clock_us();
    int rc = LAZ_HAS(agent->ops, renew) ? agent->ops->renew(agent->state, err) : 0;

    agent_cost(agent, "renew", begun);
    return rc;
}

static bool start_is_same(const char *kept, const char *raw, size_t len)
{
    return kept && strlen(kept) == len && memcmp(kept, raw, len) == 0;
}

/* `raw`: the list of init; none: it has no tools. */
static int start_tools(struct agent *agent, const char *raw, size_t len, struct laz_error *err)
{
    struct agent_tools tools = {0};
    uint64_t begun = laz_clock_us();
    int rc = len ? agent_tools_parse(raw, len, &tools, err) : 0;

    if (rc == 0)
        rc = agent->ops->define_tools(agent->state, tools.tools, tools.n, err);
    agent_tools_fini(&tools);
    agent_cost(agent, "tools", begun);
    return rc;
}

/* ---- a session of a template ---------------------------------------------------------------- */

/* A runtime that keeps its state through a copy has its tools from the template. */
static bool start_tools_are_kept(const struct agent *agent)
{
    return agent->tools && LAZ_HAS(agent->ops, preload);
}

/* What its sessions will ask for. Without a confinement they are asked one by one. */
static int start_keep(struct agent *agent, const char *line, size_t len, struct laz_error *err)
{
    const char *raw;
    size_t raw_len;

    if (laz_json_member(line, len, "confine", &raw, &raw_len)) {
        agent->confine = laz_strndup(raw, raw_len);
        agent->asked = laz_json_parse(raw, raw_len, err);
        if (!agent->confine || !agent->asked)
            return laz_error_nomem(err);
    }
    if (laz_json_member(line, len, "tools", &raw, &raw_len)) {
        agent->tools = laz_strndup(raw, raw_len);
        if (!agent->tools)
            return laz_error_nomem(err);
    }
    return start_tools_are_kept(agent) ? start_tools(agent, raw, raw_len, err) : 0;
}

/* The steps of a session, in the order of the table. */
static int start_session(struct agent *agent, const struct laz_json *confine, const char *tools,
                         size_t tools_len, struct laz_error *err)
{
    int rc = agent_template_strip(agent, err);

    if (!rc)
        rc = agent_confine(confine, &agent->confined, &agent->cost, err);
    if (rc)
        return rc;
    rc = start_renew(agent, err);
    if (rc)
        laz_error_prefix(err, "runtime %s: ", agent->plugin->name);
    else if (!start_tools_are_kept(agent))
        rc = start_tools(agent, tools, tools_len, err);
    return rc;
}

int agent_start_ahead(struct agent *agent, struct laz_error *err)
{
    const char *tools = agent->tools ? agent->tools : "";

    return agent->asked ? start_session(agent, agent->asked, tools, strlen(tools), err) : 0;
}

/* `init` has come: what was done ahead is what it asks for, or there is no session. */
static int start_from_template(struct agent *agent, const struct laz_json *confine,
                               const char *line, size_t len, struct laz_error *err)
{
    const char *raw = "", *tools = "";
    size_t raw_len = 0, tools_len = 0;

    laz_json_member(line, len, "confine", &raw, &raw_len);
    laz_json_member(line, len, "tools", &tools, &tools_len);
    if (agent->tools && !start_is_same(agent->tools, tools, tools_len))
        return laz_error_set(err, LAZ_EPROTO, 0, "init: the tools are not those of the template");
    if (!agent->asked)
        return start_session(agent, confine, tools, tools_len, err);
    if (!start_is_same(agent->confine, raw, raw_len))
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "init: the confinement is not that of the template");
    return 0;
}

/* ---- all steps ------------------------------------------------------------------------------ */

static void start_sizes(struct agent *agent, const struct laz_json *options)
{
    const struct laz_json *message = options ? laz_json_get(options, "max_message") : NULL;
    const struct laz_json *value = options ? laz_json_get(options, "max_value") : NULL;

    if (message && laz_json_number(message) >= 1)
        agent->max_message = (size_t)laz_json_number(message);
    if (value && laz_json_number(value) >= 1)
        agent->channel.in.max = (size_t)laz_json_number(value) + AGENT_LINE_SLACK;
}

static bool start_is_template(const struct laz_json *init)
{
    const struct laz_json *asked = laz_json_get(init, "template");

    return asked && laz_json_is_true(asked);
}

/* What `init` asks for, in the order of the table. */
static int start_follow(struct agent *agent, const struct laz_json *init, const char *line,
                        size_t len, struct laz_error *err)
{
    const struct laz_json *confine = laz_json_get(init, "confine");
    const bool is_template = agent->role == AGENT_TEMPLATE;
    const char *tools = "";
    size_t tools_len = 0;

    start_sizes(agent, laz_json_get(init, "options"));
    if (agent->role == AGENT_SESSION)
        return start_from_template(agent, confine, line, len, err);
    if (is_template)
        laz_os_one_heap();
    agent_services_init(agent);
    /* Sessions confine themselves; what forbids them to be made is not for a template. */
    int rc = agent_confine(is_template ? NULL : confine, &agent->confined, &agent->cost, err);
    if (!rc)
        rc = start_load(agent, init, err);
    if (rc)
        return rc;
    rc = start_create(agent, line, len, err);
    if (!rc && is_template)
        rc = start_keep(agent, line, len, err);
    if (!rc && is_template)
        rc = agent_template_load(agent, laz_json_get(init, "options"), err);
    if (rc)
        laz_error_prefix(err, "runtime %s: ", agent->plugin->name);
    if (rc || is_template)
        return rc;
    laz_json_member(line, len, "tools", &tools, &tools_len);
    return start_tools(agent, tools, tools_len, err);
}

/* Steps 2 to 6. */
static int start_init(struct agent *agent, struct laz_error *err)
{
    char *line;
    size_t len;
    struct laz_json *init = NULL;
    int rc;

    if (agent_channel_line(&agent->channel, -1, &line, &len))
        return laz_error_set(err, LAZ_ESETUP, 0, "the host closed the connection before init");
    init = laz_json_parse(line, len, err);
    if (!init)
        return LAZ_EPROTO;
    const struct laz_json *type = laz_json_get(init, "type");
    const struct laz_json *protocol = laz_json_get(init, "protocol");
    const char *type_text = type ? laz_json_string(type) : NULL;
    if (!type_text || strcmp(type_text, "init") != 0) {
        rc = laz_error_set(err, LAZ_EPROTO, 0, "the first message of the host is not init");
    } else if (!protocol || (int)laz_json_number(protocol) != LAZ_PROTOCOL) {
        rc = laz_error_set(err, LAZ_EPROTO, 0, "the host does not speak protocol %d of this agent",
                           LAZ_PROTOCOL);
    } else if (start_is_template(init) != (agent->role == AGENT_TEMPLATE)) {
        rc = laz_error_set(err, LAZ_EPROTO, 0, "init: %s",
                           agent->role == AGENT_TEMPLATE ? "this agent is a template"
                                                         : "this agent is no template");
    } else {
        rc = start_follow(agent, init, line, len, err);
    }
    laz_json_free(init);
    return rc;
}

void agent_setup_failed(struct agent *agent, const struct laz_error *err)
{
    laz_buf_clear(&agent->out);
    laz_buf_puts(&agent->out, "{\"type\":\"error\",\"id\":0,\"kind\":\"setup\",\"message\":");
    laz_json_quote(&agent->out, err->text, strlen(err->text));
    laz_buf_puts(&agent->out, "}");
    agent_send(agent);
}

int agent_start(struct agent *agent, struct laz_error *err)
{
    int rc = 0;

    if (agent->role != AGENT_SESSION) {
        agent->pid = getpid();
        agent_calls_init(agent);
        rc = start_connect(agent, err);
    }
    if (rc == 0)
        rc = start_init(agent, err);
    if (rc) {
        if (agent->channel.fd >= 0)
            agent_setup_failed(agent, err);
        return rc;
    }
    const char *version = agent->ops->version(agent->state);
    laz_buf_printf(&agent->out, "{\"type\":\"ready\",\"protocol\":%d,\"runtime\":", LAZ_PROTOCOL);
    laz_json_quote(&agent->out, agent->plugin->name, strlen(agent->plugin->name));
    laz_buf_puts(&agent->out, ",\"version\":");
    laz_json_quote(&agent->out, version, strlen(version));
    laz_buf_append(&agent->out, agent->confined.data, agent->confined.len);
    laz_buf_printf(&agent->out, ",\"cost\":\"%s us\"}", laz_buf_text(&agent->cost));
    agent_send(agent);
    laz_buf_clear(&agent->confined); /* a session begins with its own */
    laz_buf_clear(&agent->cost);
    return 0;
}

void agent_stop(struct agent *agent)
{
    if (agent->state && LAZ_HAS(agent->ops, destroy))
        agent->ops->destroy(agent->state);
    agent->state = NULL;
    /* The process ends now. The channel stays open: a thread of the code may wait for it. */
    laz_buf_fini(&agent->out);
    agent_calls_fini(agent);
    laz_buf_fini(&agent->confined);
    laz_buf_fini(&agent->cost);
    free(agent->home);
    free(agent->socket_folder);
    laz_strv_fini(&agent->shown);
    free(agent->confine);
    free(agent->tools);
    laz_json_free(agent->asked);
}
