/* SPDX-License-Identifier: MIT */
/* start.c - from the environment to `ready`, in the order of the table in docs/protocol.md.
 * Side: box.  Input trusted: yes (the host's environment and `init`).
 *
 * The order matters: the token is sent and wiped before anything else is read; descriptors that do
 * not belong to the box are closed before the runtime exists; limits hold before the interpreter
 * starts.  Nothing in this file looks at untrusted code. */
#include "agent/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/signals.h"
#include "os/sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void agent_cost(struct agent *agent, const char *step, uint64_t since_us)
{
    laz_buf_printf(&agent->cost, "%s%s %llu", agent->cost.len ? ", " : "", step,
                   (unsigned long long)(laz_clock_us() - since_us));
}

/* The list of paths in LAZARET_SHOWN. Taken before a runtime keeps a copy of the environment:
 * sessions have no use for it. */
static int start_shown(struct agent *agent, struct laz_error *err)
{
    char *list = laz_os_take_variable("LAZARET_SHOWN", true);
    size_t len = list ? strlen(list) : 0;
    bool failed = list && laz_json_scan(list, len, NULL);
    struct laz_json_items items = laz_json_items(list ? list : "[]", list ? len : 2);
    const char *raw;

    while (!failed && laz_json_next_item(&items, &raw, &len)) {
        char *path = laz_json_to_string(raw, len, NULL);
        failed = !path;
        if (path)
            laz_strv_add(&agent->shown, path);
        free(path);
    }
    free(list);
    return failed || items.failed || agent->shown.failed
               ? laz_error_set(err, LAZ_ESETUP, 0, "LAZARET_SHOWN is not a list of paths")
               : 0;
}

static int start_connect(struct agent *agent, struct laz_error *err)
{
    const bool wipe = !AGENT_LEFT_OUT("token");
    char *path = laz_os_take_variable("LAZARET_SOCKET", wipe);
    char *token = laz_os_take_variable("LAZARET_TOKEN", wipe);
    char *readers = laz_os_take_variable("LAZARET_READERS", wipe);
    size_t len = token ? strlen(token) : 0;
    int fd = -1;
    int rc;

    agent->has_readers = readers != NULL;
    free(readers);
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
        agent->socket_directory = laz_strndup(path, (size_t)(strrchr(path, '/') - path));
        rc = agent->socket_directory ? start_shown(agent, err) : laz_error_nomem(err);
        if (rc)
            goto out;
    }
    const struct laz_part parts[] = {{token, len}, {"\n", 1}};
    if (!laz_os_send_parts(fd, parts, 2))
        rc = laz_error_set(err, LAZ_ESETUP, ECONNRESET, "the host closed the connection");
out:
    if (token && wipe)
        laz_wipe(token, len);
    free(token);
    free(path);
    return rc;
}

static int start_load(struct agent *agent, const struct laz_wire_options *options,
                      struct laz_error *err)
{
    const char *file = options->runtime_file;

    if (!file)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: options.runtime_file is missing");
    int rc = laz_module_open(file, LAZ_PLUGIN_RUNTIME,
                             (const char *const *)options->libraries.items, &agent->module, err);
    if (rc)
        return rc;
    agent->plugin = laz_module_plugin(agent->module);
    agent->ops = agent->plugin->ops;
    if (!LAZ_HAS(agent->ops, create) || !LAZ_HAS(agent->ops, version) ||
        !LAZ_HAS(agent->ops, define_tools) || !LAZ_HAS(agent->ops, check) ||
        !LAZ_HAS(agent->ops, eval))
        rc = laz_error_set(err, LAZ_EPLUGIN, 0,
                           "%s: a runtime has create, version, define_tools, check and eval", file);
    return rc;
}

static int start_said(const struct agent *agent, int rc, const char *op, struct laz_error *err)
{
    return laz_plugin_said(rc, LAZ_PLUGIN_RUNTIME, agent->plugin->name, op, err);
}

static int start_renew(struct agent *agent, struct laz_error *err)
{
    uint64_t begun = laz_clock_us();
    int rc = LAZ_HAS(agent->ops, renew) ? agent->ops->renew(agent->state, err) : 0;

    agent_cost(agent, "renew", begun);
    return start_said(agent, rc, "renew", err);
}

static bool start_is_same(const char *kept, const char *raw, size_t len)
{
    return kept && strlen(kept) == len && memcmp(kept, raw ? raw : "", len) == 0;
}

/* `raw`: the list of `init`; len 0: it has none. */
static int start_tools(struct agent *agent, const char *raw, size_t len, struct laz_error *err)
{
    struct agent_tools tools = {0};
    uint64_t begun = laz_clock_us();
    int rc = len ? agent_tools_parse(raw, len, &tools, err) : 0;

    if (rc == 0) {
        rc = agent->ops->define_tools(agent->state, tools.tools, tools.n, err);
        rc = start_said(agent, rc, "define_tools", err);
    }
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

/* Keeps what its sessions will ask for. Without a confinement each says it in its `init`. */
static int start_keep(struct agent *agent, const struct laz_message *init, struct laz_error *err)
{
    if (init->confine)
        agent->confine = laz_strndup(init->confine, init->confine_len);
    if (init->tools)
        agent->tools = laz_strndup(init->tools, init->tools_len);
    if (!agent->confine != !init->confine || !agent->tools != !init->tools)
        return laz_error_nomem(err);
    return start_tools_are_kept(agent) ? start_tools(agent, init->tools, init->tools_len, err) : 0;
}

/* The steps of a session, in the order of the table. */
static int start_session(struct agent *agent, const char *confine, size_t confine_len,
                         const char *tools, size_t tools_len, struct laz_error *err)
{
    int rc = agent_template_strip(agent, err);

    if (!rc)
        rc = agent_confine(agent, confine, confine_len, err);
    if (!laz_os_landlock_close_kept(&agent->kept) && !rc)
        rc = laz_error_set(err, LAZ_ESETUP, 0, "what the template has open cannot be closed");
    if (rc)
        return rc;
    rc = start_renew(agent, err);
    if (!rc && !start_tools_are_kept(agent))
        rc = start_tools(agent, tools, tools_len, err);
    return rc;
}

/* Is it known what each session of the template will be asked for? */
static bool start_is_told(const struct agent *agent)
{
    return agent->confine && agent->tools;
}

int agent_start_ahead(struct agent *agent, struct laz_error *err)
{
    if (!start_is_told(agent))
        return 0;
    int rc = start_session(agent, agent->confine, strlen(agent->confine), agent->tools,
                           strlen(agent->tools), err);
    if (!rc)
        agent_commands_ahead(agent);
    return rc;
}

/* `init` has come. What was done ahead can only be asked for as it is. */
static int start_from_template(struct agent *agent, const struct laz_message *init,
                               struct laz_error *err)
{
    if (init->is_same != start_is_told(agent))
        return laz_error_set(err, LAZ_EPROTO, 0, "init: the template was %s",
                             init->is_same ? "not told what is the same"
                                           : "told already, and nothing else can be asked for");
    if (init->is_same && agent->adds_tools == !init->tools)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: %s",
                             init->tools ? "tools were not announced" : "its tools are missing");
    if (init->is_same)
        return init->tools ? start_tools(agent, init->tools, init->tools_len, err) : 0;
    if (agent->tools && !start_is_same(agent->tools, init->tools, init->tools_len))
        return laz_error_set(err, LAZ_EPROTO, 0, "init: the tools are not those of the template");
    return start_session(agent, init->confine, init->confine_len, init->tools, init->tools_len,
                         err);
}

/* ---- all steps ------------------------------------------------------------------------------ */

/* Does what `init` asks for, in the order of the table. */
static int start_follow(struct agent *agent, const struct laz_message *init, struct laz_error *err)
{
    const struct laz_wire_options *options = &init->options;
    const bool is_template = agent->role == AGENT_TEMPLATE;

    if (agent->role == AGENT_SESSION && init->is_same)
        return start_from_template(agent, init, err);
    if (options->max_message >= 1)
        agent->max_message = (size_t)options->max_message;
    agent->max_value = agent->max_message;
    if (options->max_parts > (int64_t)agent->max_value)
        agent->max_value = (size_t)options->max_parts;
    if (options->max_value >= 1)
        agent->channel.in.max = (size_t)options->max_value + AGENT_LINE_SLACK;
    if (agent->role == AGENT_SESSION)
        return start_from_template(agent, init, err);
    if (is_template)
        laz_os_one_heap();
    if (agent_files_plan(agent, options, err) || agent_commands_plan(agent, options, err))
        return err->code;
    agent_services_init(agent);
    /* A template's sessions confine themselves; the template must be able to make them. */
    int rc = agent_confine(agent, is_template ? NULL : init->confine, init->confine_len, err);
    if (!rc)
        rc = start_load(agent, options, err);
    if (rc)
        return rc;
    agent_interrupt_offer(agent);
    rc = agent->ops->create(&agent->services, options->options ? options->options : "{}",
                            options->options ? options->options_len : 2, &agent->state, err);
    rc = start_said(agent, rc, "create", err);
    if (!rc && is_template)
        rc = start_keep(agent, init, err);
    if (!rc && is_template)
        rc = agent_template_load(agent, options, err);
    if (rc || is_template)
        return rc;
    return start_tools(agent, init->tools, init->tools_len, err);
}

/* A session goes on without them where it cannot have them. */
static void start_commands(struct agent *agent, const struct laz_message *init)
{
    const uint64_t begun = laz_clock_us();

    if (agent->commands.channel < 0 && agent->commands.door < 0)
        return;
    agent_commands_start(agent, init->is_same || !agent->tools ? init->tools : NULL,
                         init->tools_len);
    agent_cost(agent, "commands", begun);
}

/* Steps 2 to 5. */
static int start_init(struct agent *agent, struct laz_error *err)
{
    struct laz_message init;
    char *line;
    size_t len;

    if (agent_commands_first(agent, &line, &len))
        return laz_error_set(err, LAZ_ESETUP, ECONNRESET,
                             "the host closed the connection before init");
    int rc = laz_message_parse_host(line, len, LAZ_WIRE_STARTING, &init, err);
    if (rc)
        laz_error_prefix(err, "init: ");
    else if (init.protocol != LAZ_PROTOCOL)
        rc = laz_error_set(err, LAZ_EPROTO, 0, "the host does not speak protocol %d of this agent",
                           LAZ_PROTOCOL);
    else if (init.is_template != (agent->role == AGENT_TEMPLATE))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "init: %s",
                           init.is_template ? "this agent is not a template"
                                            : "this agent is a template");
    else
        rc = start_follow(agent, &init, err);
    if (!rc && !init.is_template)
        start_commands(agent, &init);
    laz_message_fini(&init);
    return rc;
}

void agent_setup_failed(struct agent *agent, const struct laz_error *err)
{
    agent_send(agent, &(struct laz_message){.type = LAZ_MESSAGE_ERROR,
                                            .has_id = true,
                                            .kind = agent->lacks_package ? "preload" : "setup",
                                            .message = err->text,
                                            .message_len = strlen(err->text)});
}

static void start_end(struct agent *agent)
{
    if (agent->role != AGENT_TEMPLATE)
        agent_files_begin(agent);
    laz_buf_puts(&agent->cost, " us");
    agent_send(agent, &(struct laz_message){.type = LAZ_MESSAGE_READY,
                                            .protocol = LAZ_PROTOCOL,
                                            .runtime = agent->plugin->name,
                                            .version = agent->ops->version(agent->state),
                                            .confined = agent->confined,
                                            .missing = agent->missing,
                                            .cost = laz_buf_text(&agent->cost)});
    laz_strv_fini(&agent->confined); /* a session of a template begins with its own */
    laz_strv_fini(&agent->missing);
    laz_buf_clear(&agent->cost);
}

/* A session of a template that was told all, and adds no tools, is ready before its `init` has
 * come: the host sends that when it has found out who the process is, and code when it has read
 * `ready`. */
int agent_start(struct agent *agent, struct laz_error *err)
{
    const bool is_ahead =
        agent->role == AGENT_SESSION && start_is_told(agent) && !agent->adds_tools;
    int rc = 0;

    if (agent->role != AGENT_SESSION) {
        agent->pid = getpid();
        laz_os_take_terminal();
        laz_os_lead_group();
        rc = start_connect(agent, err);
    }
    if (is_ahead)
        start_end(agent);
    if (!rc)
        rc = start_init(agent, err);
    if (!rc && !is_ahead)
        start_end(agent);
    if (rc && agent->channel.fd >= 0)
        agent_setup_failed(agent, err);
    return rc;
}
