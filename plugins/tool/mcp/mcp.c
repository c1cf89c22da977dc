/* SPDX-License-Identifier: MIT */
/* mcp.c - the tool provider `mcp`: the tools of an MCP server as functions in the sandbox.
 *
 * An instance is one server.  It is started when its tools are first needed, because their names
 * have to be known before code runs.  It runs outside of the sandbox, with the rights of the host,
 * and is a stranger all the same: what it says of its tools is declared once, and checked by the
 * host like any declaration. */
#include "server.h"
#ifdef MCP_HTTP
#include "http.h"
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MCP_MAX_PREFIX 32
#define MCP_MAX_TIME   "\"49d\"" /* so many milliseconds fit into 32 bits */

static const struct laz_option options[] = {
    LAZ_OPTION("name", LAZ_OPT_STRING, NULL, "of the server: its functions are called NAME_TOOL"),
    LAZ_OPTION(
        "command", LAZ_OPT_STRINGS, "",
        "absolute path of a program and its arguments: a server over standard input and output"),
    LAZ_OPTION("url", LAZ_OPT_STRING, "", "in place of a command: a server over HTTP"),
    LAZ_OPTION("env", LAZ_OPT_TEXTS, "{}",
               "variables of the program, beside those that each command gets; {secret.NAME} in a "
               "value is a secret of [secrets]",
               .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("env_from", LAZ_OPT_STRINGS, "[]",
               "names of variables that it gets as lazaret has them"),
    LAZ_OPTION("headers", LAZ_OPT_TEXTS, "{}", "headers of each request; {secret.NAME} as in env",
               .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("headers_env", LAZ_OPT_TEXTS, "{}",
               "the same, each from a variable of lazaret's environment"),
    LAZ_OPTION("headers_file", LAZ_OPT_TEXTS, "{}", "the same, each from the first line of a file"),
    LAZ_OPTION(
        "tools", LAZ_OPT_STRINGS, "[]",
        "patterns (* and ?) of the server's names of the tools that are declared; empty: all"),
    LAZ_OPTION("except", LAZ_OPT_STRINGS, "[]", "patterns of those that are not"),
    LAZ_OPTION("approve", LAZ_OPT_BOOLEAN, "false", "each call waits for a yes of the host"),
    LAZ_OPTION(
        "required", LAZ_OPT_BOOLEAN, "true",
        "no session without it; false: if it cannot be asked, sessions do without its tools"),
    LAZ_OPTION("start_timeout", LAZ_OPT_TIME, "30", "in which it has to list its tools",
               .min = "\"1ms\"", .max = MCP_MAX_TIME),
    LAZ_OPTION("timeout", LAZ_OPT_TIME, "60",
               "in which a call needs an answer or progress; 0: none", .max = MCP_MAX_TIME),
    LAZ_OPTION("max_timeout", LAZ_OPT_TIME, "600", "of a call, with progress; 0: only the deadline",
               .max = MCP_MAX_TIME),
    LAZ_OPTION("max_concurrent", LAZ_OPT_INTEGER, "8",
               "calls of a tool that may run at once; 0: no limit", .min = "0",
               .max = "4294967295"),
    LAZ_OPTION("max_output", LAZ_OPT_SIZE, "\"64MiB\"",
               "a longer message is not read: the call that it answers fails", .min = "\"1KiB\""),
    LAZ_OPTIONS_END,
};

#define FIELD(key, type, member)                                                                   \
    {                                                                                              \
        key, type, offsetof(struct mcp_options, member)                                            \
    }

static const struct laz_option_field fields[] = {
    FIELD("name", LAZ_OPT_STRING, name),
    FIELD("command", LAZ_OPT_STRINGS, command),
    FIELD("url", LAZ_OPT_STRING, url),
    FIELD("env", LAZ_OPT_TEXTS, env),
    FIELD("env_from", LAZ_OPT_STRINGS, env_from),
    FIELD("headers", LAZ_OPT_TEXTS, headers),
    FIELD("headers_env", LAZ_OPT_TEXTS, headers_env),
    FIELD("headers_file", LAZ_OPT_TEXTS, headers_file),
    FIELD("tools", LAZ_OPT_STRINGS, tools),
    FIELD("except", LAZ_OPT_STRINGS, except),
    FIELD("approve", LAZ_OPT_BOOLEAN, approve),
    FIELD("required", LAZ_OPT_BOOLEAN, required),
    FIELD("start_timeout", LAZ_OPT_TIME, start_timeout_ms),
    FIELD("timeout", LAZ_OPT_TIME, timeout_ms),
    FIELD("max_timeout", LAZ_OPT_TIME, max_timeout_ms),
    FIELD("max_concurrent", LAZ_OPT_INTEGER, max_concurrent),
    FIELD("max_output", LAZ_OPT_SIZE, max_output),
    {NULL, 0, 0},
};

/* ---- options --------------------------------------------------------------------------------- */

static bool name_is_valid(const char *name)
{
    const size_t len = strlen(name);

    return len && len <= MCP_MAX_PREFIX && strspn(name, "0123456789") == 0 && name[0] != '_' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == len;
}

static int check_command(const struct mcp_server *server, struct laz_error *err)
{
    const struct laz_tool_services *services = server->services;
    const char *program = server->options.command[0];
    struct laz_error why = {0};
    struct stat status;

    if (!program || program[0] != '/')
        return laz_fail(err, LAZ_EINVAL, "command: '%s' must be the absolute path of a program",
                        program ? program : "");
    if (stat(program, &status) != 0)
        return laz_fail(err, LAZ_EINVAL, "command: %s: %s", program, strerror(errno));
    if (!S_ISREG(status.st_mode) || access(program, X_OK) != 0)
        return laz_fail(err, LAZ_EINVAL, "command: %s is not an executable program", program);
    if (LAZ_HAS(services, check_program) && services->check_program(services->host, program, &why))
        return laz_fail(err, LAZ_EINVAL, "command: %s", why.text);
    return 0;
}

#ifdef MCP_HTTP
#define MCP_HTTP_TRANSPORT (&mcp_http)
static int check_url(const struct mcp_server *server, struct laz_error *err)
{
    return mcp_http_check(server, err);
}
#else
#define MCP_HTTP_TRANSPORT NULL
static int check_url(const struct mcp_server *server, struct laz_error *err)
{
    (void)server;
    return laz_fail(err, LAZ_EINVAL, "url: this lazaret was built without libcurl");
}
#endif

static bool table_has_members(const char *text)
{
    return text && strspn(text, "{} ") != strlen(text);
}

/* What belongs to the other kind of server is a mistake. */
static int check_kind(const struct mcp_options *given, struct laz_error *err)
{
    const bool has_headers = table_has_members(given->headers) ||
                             table_has_members(given->headers_env) ||
                             table_has_members(given->headers_file);

    if (!given->command == !given->url)
        return laz_fail(err, LAZ_EINVAL, "a server needs either `command` or `url`");
    if (given->command && has_headers)
        return laz_fail(err, LAZ_EINVAL, "headers: they belong to a server with `url`");
    if (given->url && (table_has_members(given->env) || (given->env_from && *given->env_from)))
        return laz_fail(err, LAZ_EINVAL, "env: it belongs to a server with `command`");
    return 0;
}

static int check_options(struct mcp_server *server, struct laz_error *err)
{
    const struct mcp_options *given = &server->options;

    if (!name_is_valid(given->name))
        return laz_fail(err, LAZ_EINVAL,
                        "name: '%.100s' has to be 1 to %d letters, digits and '_', and begins with "
                        "a letter",
                        given->name, MCP_MAX_PREFIX);
    int ret = check_kind(given, err);
    if (!ret && given->command)
        ret = check_command(server, err);
    else if (!ret)
        ret = check_url(server, err);
    return ret;
}

/* A line for whoever is about to use it. */
static char *make_notice(const struct mcp_options *given)
{
    char words[400] = "";
    size_t used = 0;

    for (size_t i = 0; given->command && given->command[i] && used < sizeof words - 8; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%.100s", i ? " " : "",
                                 given->command[i]);
    /* of an address nothing that may be a secret */
    char *plain = given->url ? mcp_clean(given->url, strcspn(given->url, "?#"), sizeof words, false)
                             : mcp_clean(words, strlen(words), sizeof words, false);
    char *notice = !plain ? NULL
                   : given->url
                       ? mcp_format("the MCP server %s is at %s: what code passes to its tools "
                                    "leaves the sandbox and this lazaret",
                                    given->name, plain)
                       : mcp_format("the MCP server %s runs outside of the sandbox, with all the "
                                    "rights of this user: %s",
                                    given->name, plain);
    free(plain);
    return notice;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void mcp_destroy(void *data)
{
    struct mcp_server *server = data;

    if (!server)
        return;
    if (server->transport)
        mcp_server_fini(server);
    mcp_wipe(server->options.env);
    mcp_wipe(server->options.headers);
    laz_options_free(fields, &server->options);
    free(server);
}

static int mcp_create(const struct laz_tool_services *services, const char *text, size_t len,
                      void **out, struct laz_error *err)
{
    struct mcp_server *server = calloc(1, sizeof *server);
    int ret;

    if (!server)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    server->services = services;
    server->json = services->json;
    ret = laz_options_read(services->json, text, len, fields, &server->options, err);
    if (!ret)
        ret = check_options(server, err);
    if (!ret && !(server->notice = make_notice(&server->options)))
        ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (!ret) {
        server->transport = server->options.command ? &mcp_stdio : MCP_HTTP_TRANSPORT;
        *out = server;
    } else {
        mcp_destroy(server);
    }
    return ret;
}

static int mcp_prepare(void *data, struct laz_error *err)
{
    (void)err;
    mcp_server_prepare(data);
    return 0;
}

static int mcp_list(void *data, const struct laz_tool **tools, size_t *n, struct laz_error *err)
{
    struct mcp_server *server = data;

    *tools = server->declared;
    *n = server->n_tools;
    if (server->is_known)
        return 0;
    if (server->options.required)
        return laz_fail(err, LAZ_EOS,
                        "the server %s %s; see its own messages with --verbose, or set required = "
                        "false to do without it",
                        server->options.name, server->failure);
    mcp_server_log(server, LAZ_LOG_ERROR, "no tool of it is there: the server %s", server->failure);
    return 0;
}

static int mcp_call(void *data, size_t index, struct laz_call *call, const char *args, size_t len,
                    struct laz_error *err)
{
    (void)err;
    mcp_server_call(data, index, call, args, len);
    return 0;
}

static void mcp_cancel(void *data, struct laz_call *call)
{
    mcp_server_cancel(data, call);
}

static const char *mcp_notice(void *data)
{
    return ((const struct mcp_server *)data)->notice;
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .create = mcp_create,
    .list = mcp_list,
    .call = mcp_call,
    .cancel = mcp_cancel,
    .destroy = mcp_destroy,
    .prepare = mcp_prepare,
    .notice = mcp_notice,
};

LAZ_PLUGIN(mcp) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),  .name = "mcp",      .version = "0.1.0",
    .summary = "tools of MCP servers", .options = options, .ops = &ops,
};
