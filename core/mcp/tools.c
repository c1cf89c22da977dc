/* SPDX-License-Identifier: MIT */
/* tools.c - the tools that a client has, always the same, in this order. The functions that the
 * code can call are none of them: they are found by search_tools, which is there where there are
 * any. Side: host.  Input trusted: no (arguments of the client; declarations of the tools of the
 * host).
 *
 * Arguments and results are tables, of which the schemas are made (schema.c). */
#include "mcp/mcp_private.h"

#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TOOLS_LIMIT 100 /* that a search gives at most */
#define TOOLS_WAIT  10  /* seconds, unless a call says others */
#define TOOLS_LINE  200 /* bytes of a description in a list */
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- arguments ------------------------------------------------------------------------------- */

struct tool_args {
    const char *runtime, *session, *query, *name, *execution;
    int64_t limit, seconds;
};

#define AT(member) .at = offsetof(struct tool_args, member)
#define NEEDED     .flags = LAZ_FIELD_REQUIRED
#define TABLE(title, rows)                                                                         \
    MCP_FIELDS(title, struct tool_args, rows), .is_closed = true, .null_is_absent = true

static const struct laz_field open_members[] = {
    {"runtime", LAZ_FIELD_TEXT, AT(runtime)},
};
static const struct laz_field close_members[] = {
    {"session", LAZ_FIELD_TEXT, NEEDED, AT(session)},
};
static const struct laz_field wait_members[] = {
    {"execution", LAZ_FIELD_TEXT, AT(execution), .help = "without it the last one"},
    {"seconds", LAZ_FIELD_INTEGER, .min = 1, .max = 3600, AT(seconds), .help = "at most; 10"},
};
static const struct laz_field interrupt_members[] = {
    {"execution", LAZ_FIELD_TEXT, AT(execution), .help = "without it the last one"},
};
static const struct laz_field restart_members[] = {
    {"runtime", LAZ_FIELD_TEXT, AT(runtime)},
    {"session", LAZ_FIELD_TEXT, AT(session)},
};
static const struct laz_field search_members[] = {
    {"query", LAZ_FIELD_TEXT, NEEDED, AT(query), .help = "some words; empty: all functions"},
    {"limit", LAZ_FIELD_INTEGER, .min = 1, .max = TOOLS_LIMIT, AT(limit),
     .help = "how many at most; without it 10"},
};
static const struct laz_field details_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name), .help = "of the function"},
    {"runtime", LAZ_FIELD_TEXT, AT(runtime), .help = "the language; without it the usual one"},
};
static const struct laz_fields open_fields = {TABLE("'open_session'", open_members)},
                               close_fields = {TABLE("'close_session'", close_members)},
                               wait_fields = {TABLE("'wait'", wait_members)},
                               interrupt_fields = {TABLE("'interrupt'", interrupt_members)},
                               restart_fields = {TABLE("'restart'", restart_members)},
                               search_fields = {TABLE("'search_tools'", search_members)},
                               details_fields = {TABLE("'get_tool_details'", details_members)};
#undef AT
#undef TABLE

/* ---- results --------------------------------------------------------------------------------- */

struct tool_found {
    const char *name, *description;
};

struct tool_result {
    const char *session, *runtime, *name, *stub;
    int64_t expires_after;
    bool closed, restarted;
    struct laz_field_list tools;
};

#define AT(member) .at = offsetof(struct tool_found, member)
static const struct laz_field found_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    {"description", LAZ_FIELD_TEXT, NEEDED, AT(description), .help = "its first line"},
};
static const struct laz_fields found_fields = {
    MCP_FIELDS("a function", struct tool_found, found_members)};
#undef AT
#define AT(member) .at = offsetof(struct tool_result, member)

static const struct laz_field opened_members[] = {
    {"session", LAZ_FIELD_TEXT, NEEDED, AT(session), .help = "its handle, for 'execute'"},
    {"runtime", LAZ_FIELD_TEXT, NEEDED, AT(runtime)},
    {"expires_after", LAZ_FIELD_INTEGER, NEEDED, AT(expires_after),
     .help = "seconds without use after which it is closed; 0: never"},
};
static const struct laz_field closed_members[] = {
    {"closed", LAZ_FIELD_BOOLEAN, NEEDED, AT(closed)},
};
static const struct laz_field restarted_members[] = {
    {"restarted", LAZ_FIELD_BOOLEAN, NEEDED, AT(restarted)},
};
static const struct laz_field searched_members[] = {
    {"tools", LAZ_FIELD_LIST, NEEDED, AT(tools), .of = &found_fields,
     .help = "the best ones first"},
};
static const struct laz_field detailed_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    {"runtime", LAZ_FIELD_TEXT, NEEDED, AT(runtime)},
    {"stub", LAZ_FIELD_TEXT, NEEDED, AT(stub), .help = "signature and documentation"},
};
static const struct laz_fields
    opened_fields = {MCP_FIELDS("a result", struct tool_result, opened_members)},
    closed_fields = {MCP_FIELDS("a result", struct tool_result, closed_members)},
    restarted_fields = {MCP_FIELDS("a result", struct tool_result, restarted_members)},
    searched_fields = {MCP_FIELDS("a result", struct tool_result, searched_members)},
    detailed_fields = {MCP_FIELDS("a result", struct tool_result, detailed_members)};

static void tool_answer(const struct mcp_asked *asked, const char *text,
                        const struct laz_fields *fields, const struct tool_result *result)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_fields_add(&write, NULL, fields, result);
    if (mcp_answer_begin(asked, "complete", &write)) {
        laz_json_begin_list(&write, "content");
        mcp_answer_text(&write, text, strlen(text));
        mcp_answer_object(asked->peer->mcp, &write, laz_buf_text(&json), json.len);
        write.to->failed |= json.failed;
        mcp_answer_end(asked, &write);
    }
    laz_buf_fini(&json);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static int tools_open(struct laz_mcp *mcp, const struct mcp_asked *asked,
                      const struct tool_args *args, struct laz_error *err)
{
    struct mcp_session *session;
    char handle[MCP_HANDLE];
    int rc = mcp_session_open(mcp, args->runtime, &session, err);

    if (rc)
        return rc;
    mcp_handle_make(mcp, MCP_OF_SESSION, session->number, handle);
    const struct tool_result result = {
        .session = handle,
        .runtime = session->runtime,
        .expires_after = (int64_t)(mcp->values->mcp.session_timeout_ms / 1000),
    };
    struct laz_buf text = LAZ_BUF_INIT;
    laz_buf_printf(&text, "session %s (%s)", handle, session->runtime);
    if (result.expires_after)
        laz_buf_printf(&text, "; it is closed after %lld s without use",
                       (long long)result.expires_after);
    tool_answer(asked, laz_buf_text(&text), &opened_fields, &result);
    laz_buf_fini(&text);
    return 0;
}

static int tools_close(struct laz_mcp *mcp, const struct mcp_asked *asked,
                       const struct tool_args *args, struct laz_error *err)
{
    const struct tool_result result = {.closed = true};
    struct mcp_session *session = mcp_session_find(mcp, args->session, err);

    if (!session)
        return err->code;
    mcp_session_free(session);
    tool_answer(asked, "closed", &closed_fields, &result);
    return 0;
}

static int tools_restart(struct laz_mcp *mcp, const struct mcp_asked *asked,
                         const struct tool_args *args, struct laz_error *err)
{
    const struct tool_result result = {.restarted = true};
    struct mcp_session *session = args->session ? mcp_session_find(mcp, args->session, err)
                                                : mcp_session_find_own(asked->peer, args->runtime);
    int rc = args->session && !session ? err->code : 0;

    if (!rc && session)
        rc = mcp_session_restart(session, err);
    if (!rc)
        tool_answer(asked, "restarted: its variables are gone", &restarted_fields, &result);
    return rc;
}

static void tools_go_on(struct mcp_asked *asked, const struct tool_args *args, bool any,
                        void (*go_on)(struct mcp_request *request, struct mcp_asked *asked,
                                      uint64_t ms))
{
    const uint64_t seconds = args->seconds ? (uint64_t)args->seconds : TOOLS_WAIT;
    struct laz_error err = {0};
    struct mcp_request *request = mcp_request_going_on(asked, args->execution, any, &err);

    if (request)
        go_on(request, asked, seconds * 1000);
    else
        mcp_refuse(asked, &err);
}

static void tools_wait(struct mcp_asked *asked, const struct tool_args *args)
{
    tools_go_on(asked, args, false, mcp_request_go_on);
}

static void tools_interrupt(struct mcp_asked *asked, const struct tool_args *args)
{
    tools_go_on(asked, args, true, mcp_request_interrupt);
}

/* ---- functions of the host ------------------------------------------------------------------- */

/* The first line of a description, for a list. */
static void tools_line(struct laz_buf *text, const char *description)
{
    size_t len = strcspn(description, "\n");

    if (len > TOOLS_LINE)
        for (len = TOOLS_LINE; len && ((unsigned char)description[len] & 0xc0) == 0x80; len--)
            ;
    laz_visible_line(text, description, len);
}

/* Reads a list of functions as the library gives it. The caller frees it. */
static int found_read(const char *json, struct laz_field_list *list, struct laz_error *err)
{
    struct laz_fields_problem wrong;

    if (laz_fields_read_list(&found_fields, json, strlen(json), list, &wrong) != 0)
        return laz_error_nomem(err);
    for (size_t i = 0; i < list->n; i++) {
        struct tool_found *one = (struct tool_found *)list->items + i;
        struct laz_buf line = LAZ_BUF_INIT;
        tools_line(&line, one->description);
        free((char *)(uintptr_t)one->description);
        one->description = laz_buf_steal(&line);
    }
    return 0;
}

static int tools_search(struct laz_mcp *mcp, const struct mcp_asked *asked,
                        const struct tool_args *args, struct laz_error *err)
{
    const size_t limit = args->limit ? (size_t)args->limit : 10;
    struct tool_result result = {0};
    struct laz_buf text = LAZ_BUF_INIT;
    const char *json = NULL;
    int rc = 0;

    if (args->query[strspn(args->query, " \t\r\n")])
        rc = laz_engine_search_tools(mcp->engine, args->query, limit, &json, err);
    else
        rc = laz_engine_check_tools(mcp->engine, NULL, 0, err); /* has all of them asked for */
    if (!rc && !json && !(json = laz_engine_tools(mcp->engine)))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = found_read(json, &result.tools, err);
    if (rc)
        return rc;
    const size_t n = result.tools.n;
    result.tools.n = n < limit ? n : limit;
    for (size_t i = 0; i < result.tools.n; i++) {
        const struct tool_found *one = (const struct tool_found *)result.tools.items + i;
        laz_buf_printf(&text, "%s: %s\n", one->name, one->description ? one->description : "");
    }
    if (!result.tools.n)
        laz_buf_puts(&text, "No function fits.");
    tool_answer(asked, laz_buf_text(&text), &searched_fields, &result);
    laz_buf_fini(&text);
    result.tools.n = n;
    laz_fields_free_list(&found_fields, &result.tools);
    return 0;
}

static int tools_details(struct laz_mcp *mcp, const struct mcp_asked *asked,
                         const struct tool_args *args, struct laz_error *err)
{
    const char *runtime = args->runtime
                              ? args->runtime
                              : laz_registry_usual_name(mcp->engine->registry, mcp->values),
               *stub;
    int rc = laz_engine_tool_stub(mcp->engine, args->name, runtime, &stub, err);

    if (rc == LAZ_ENOENT)
        laz_error_set(err, rc, 0,
                      "there is no function '%.150s': search_tools finds those there are",
                      args->name);
    if (rc)
        return rc;
    const struct tool_result result = {.name = args->name, .runtime = runtime, .stub = stub};
    tool_answer(asked, stub, &detailed_fields, &result);
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct tool {
    const char *name, *description;
    const struct laz_fields *arguments, *result;
    bool reads_only, is_idempotent;
    bool reaches_out; /* it runs code: what functions of the host, sandbox.write and the network
                         list let it do */
    bool is_for_functions; /* of the host: left out where there are none */
    int (*run)(struct laz_mcp *mcp, const struct mcp_asked *asked, const struct tool_args *args,
               struct laz_error *err);
    /* In place of it: it is answered later. Neither: execute. */
    void (*take)(struct mcp_asked *asked, const struct tool_args *args);
};

static const struct tool tools[] = {
    {
        .name = "execute",
        .description =
            "Runs code in a sandbox with no files of the host but those it is "
            "shown; returns what it prints and the value of its last expression. Variables last "
            "from call to call. Do much in one call: "
            "loops, many calls of functions. Files saved in artifacts/, and figures, are returned.",
        .arguments = &mcp_execute_fields,
        .result = &mcp_result_fields,
        .reaches_out = true,
    },
    {
        .name = "wait",
        .description =
            "Waits for code that `execute` began with `wait`: its result, or new output.",
        .arguments = &wait_fields,
        .result = &mcp_result_fields,
        .take = tools_wait,
    },
    {
        .name = "interrupt",
        .description = "Interrupts code that runs, as Ctrl-C; variables are kept.",
        .arguments = &interrupt_fields,
        .result = &mcp_result_fields,
        .take = tools_interrupt,
    },
    {
        .name = "restart",
        .description = "Gives a session a fresh interpreter.",
        .arguments = &restart_fields,
        .result = &restarted_fields,
        .run = tools_restart,
    },
    {
        .name = "open_session",
        .description = "Opens one more session.",
        .arguments = &open_fields,
        .result = &opened_fields,
        .run = tools_open,
    },
    {
        .name = "close_session",
        .description = "Closes a session.",
        .arguments = &close_fields,
        .result = &closed_fields,
        .is_idempotent = true,
        .run = tools_close,
    },
    {
        .name = "search_tools",
        .description = "Finds functions that code can call, by words.",
        .arguments = &search_fields,
        .result = &searched_fields,
        .reads_only = true,
        .is_idempotent = true,
        .is_for_functions = true,
        .run = tools_search,
    },
    {
        .name = "get_tool_details",
        .description = "The signature and documentation of a function that code can call.",
        .arguments = &details_fields,
        .result = &detailed_fields,
        .reads_only = true,
        .is_idempotent = true,
        .is_for_functions = true,
        .run = tools_details,
    },
};

void mcp_tools_call(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    const char *arguments = params->arguments ? params->arguments : "{}";
    const size_t len = params->arguments ? params->arguments_len : 2;
    struct tool_args args = {0};
    struct laz_error err = {0};
    size_t i = 0;

    while (i < COUNT(tools) && strcmp(tools[i].name, params->name) != 0)
        i++;
    if (i == COUNT(tools)) {
        mcp_fail(asked, MCP_INVALID_PARAMS, "there is no tool of this name");
        return;
    }
    const bool is_execute = !tools[i].run && !tools[i].take;
    if (params->state && tools[i].run) {
        mcp_fail(asked, MCP_INVALID_PARAMS, "this tool gives no 'requestState'");
    } else if (params->state && asked->era == MCP_MODERN) {
        mcp_request_resume(asked, params);
    } else if (is_execute) {
        mcp_execute(mcp, asked, arguments, len);
    } else {
        int rc = mcp_read(tools[i].arguments, arguments, len, &args, &err);
        if (!rc && tools[i].run)
            rc = tools[i].run(mcp, asked, &args, &err);
        else if (!rc)
            tools[i].take(asked, &args);
        if (rc)
            mcp_refuse(asked, &err);
        laz_fields_free(tools[i].arguments, &args);
    }
}

/* ---- what a model is told -------------------------------------------------------------------- */

/* Those that are not what a client takes them for when they are absent: so few words go to models.
 */
static void tools_add_hints(const struct laz_mcp *mcp, const struct tool *tool, bool has_functions,
                            struct laz_json_write *write)
{
    const bool has_network = laz_network_rules_any(mcp->engine->sessions.rules);
    const bool reaches_out = tool->reaches_out && (has_functions || has_network);
    const bool may_harm = reaches_out || (tool->reaches_out && mcp->values->sandbox.write.n);

    laz_json_begin_object(write, "annotations");
    if (tool->reads_only)
        laz_json_add_bool(write, "readOnlyHint", true);
    else if (!may_harm)
        laz_json_add_bool(write, "destructiveHint", false);
    if (tool->is_idempotent)
        laz_json_add_bool(write, "idempotentHint", true);
    if (!reaches_out)
        laz_json_add_bool(write, "openWorldHint", false);
    laz_json_end_object(write);
}

static void tools_list_one(struct laz_mcp *mcp, const struct tool *tool, bool has_functions,
                           const struct laz_strv *languages, struct laz_json_write *write)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_puts(&text, tool->description);
    if (!tool->run && !tool->take)
        mcp_describe(mcp, languages, &text);
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "name", tool->name);
    laz_json_add_text(write, "description", laz_buf_text(&text));
    mcp_schema_add(write, "inputSchema", tool->arguments, languages);
    if (mcp->values->mcp.structured)
        mcp_schema_add(write, "outputSchema", tool->result, NULL);
    tools_add_hints(mcp, tool, has_functions, write);
    laz_json_end_object(write);
    write->to->failed |= text.failed;
    laz_buf_fini(&text);
}

static int tools_list(struct laz_mcp *mcp, const struct laz_strv *languages, struct laz_error *err)
{
    struct laz_json_write write = {.to = &mcp->tools};
    bool has_functions;

    mcp->has_all_functions = laz_tools_are_prepared(&mcp->engine->tools);
    has_functions = !mcp->has_all_functions || mcp->engine->tools.set.n > 0;
    laz_buf_clear(&mcp->tools);
    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; i < COUNT(tools); i++)
        if (has_functions || !tools[i].is_for_functions)
            tools_list_one(mcp, &tools[i], has_functions, languages, &write);
    laz_json_end_list(&write);
    return mcp->tools.failed ? laz_error_nomem(err) : 0;
}

void mcp_tools_refresh(struct laz_mcp *mcp)
{
    struct laz_strv languages = LAZ_STRV_INIT;

    if (mcp->has_all_functions || !laz_tools_are_prepared(&mcp->engine->tools))
        return;
    mcp_languages(mcp, &languages);
    (void)tools_list(mcp, &languages, NULL); /* what has failed is not sent */
    laz_strv_fini(&languages);
}

int mcp_tools_init(struct laz_mcp *mcp, struct laz_error *err)
{
    struct laz_strv languages = LAZ_STRV_INIT;
    struct laz_buf text = LAZ_BUF_INIT;

    mcp_languages(mcp, &languages);
    laz_buf_puts(&text, "`execute` runs code in a sandbox. Runtimes: ");
    mcp_describe_languages(mcp, &languages, &text);
    laz_buf_puts(&text, ".");
    if (mcp->engine->tools.set.n || !laz_tools_are_prepared(&mcp->engine->tools))
        laz_buf_puts(&text, " Its description has the functions of the host that the code can "
                            "call; search_tools finds them by words.");
    mcp->instructions = laz_buf_steal(&text);
    int rc = languages.failed || !mcp->instructions ? laz_error_nomem(err)
                                                    : tools_list(mcp, &languages, err);
    laz_strv_fini(&languages);
    return rc;
}
