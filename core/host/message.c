/* SPDX-License-Identifier: MIT */
/* message.c - the host protocol as data: messages, their members, and the objects inside of them.
 * Side: host.  Input trusted: no.
 *
 * A new message or member is a row here and a field in message.h; reading, making, the page and the
 * schema follow.  `help` is a text of docs/host-protocol.md. */
#include "host/message.h"

#include "base/options.h"

#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define AT(field)     .at = offsetof(struct STRUCT, field)
#define AT_LEN(field) AT(field), .len_at = offsetof(struct STRUCT, field##_len)
#define AT_HAS(field) AT(field), .has_at = offsetof(struct STRUCT, has_##field)
#define NEEDED        .flags = LAZ_FIELD_REQUIRED
/* A member that clients send, with what one of another machine may say there: no row without that
 * compiles, and none that it may not send at all, which nothing here refuses yet. */
enum { CLIENT_NARROWS = LAZ_REMOTE_NARROWS, CLIENT_FREE = LAZ_REMOTE_FREE };
#define CLIENT(name, of_kind, may, ...)                                                            \
    {                                                                                              \
        name, LAZ_FIELD_##of_kind, __VA_ARGS__, .remote = CLIENT_##may                             \
    }

#define STRUCT serve_tool

static const struct laz_field tool_members[] = {
    CLIENT("name", TEXT, FREE, NEEDED, AT(name), .help = "its name: `[A-Za-z0-9_.-]{1,128}`"),
    CLIENT("description", TEXT, FREE, AT(description), .help = "a line for the model"),
    CLIENT("parameters", JSON, FREE, LAZ_SHAPE_LIST, AT_LEN(parameters),
           .help = "in the order of positional arguments: objects with `name`, `type`, `required`, "
                   "`default`, `enum` and `description`, as in a configuration"),
    CLIENT("returns", JSON, FREE, LAZ_SHAPE_OBJECT, AT_LEN(returns),
           .help = "a JSON Schema of what it returns, which is shown and not checked"),
    CLIENT("timeout_ms", INTEGER, FREE, .flags = LAZ_FIELD_OMIT, AT(timeout_ms), .min = 0,
           .max = UINT32_MAX, .help = "milliseconds of a call; 0: none but the deadline"),
    CLIENT("max_concurrent", INTEGER, FREE, .flags = LAZ_FIELD_OMIT, AT(max_concurrent), .min = 0,
           .max = UINT32_MAX, .help = "calls at the same time; 0: no limit"),
    CLIENT("approve", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(approve),
           .help = "does each call need an `approval`?"),
    CLIENT("native", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(native),
           .help =
               "does the client read what only the language of its sessions reads, in arguments "
               "without a type?"),
};
#undef STRUCT

const struct laz_fields serve_tool_fields = {
    .name = "a tool",
    .size = sizeof(struct serve_tool),
    .items = tool_members,
    .n = COUNT(tool_members),
    .help = "A tool of the client: code calls it, and the client answers.",
};

/* ---- messages of the client ------------------------------------------------------------------ */

#define STRUCT serve_message
#define ID                                                                                         \
    {                                                                                              \
        "id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .min = 1, .max = LAZ_SERVE_INT,               \
                                                     .help = "chosen by the client; no open "      \
                                                             "request has it"                      \
    }
#define OF_REQUEST                                                                                 \
    {                                                                                              \
        "id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the request"                      \
    }
#define LAZ_SERVE_INT (INT64_C(1) << 53)
#define SESSION(text)                                                                              \
    {                                                                                              \
        "session", LAZ_FIELD_INTEGER, AT_HAS(session), .help = (text)                              \
    }
#define POOL(text)                                                                                 \
    {                                                                                              \
        "pool", LAZ_FIELD_INTEGER, AT_HAS(pool), .help = (text)                                    \
    }
#define RUNTIME                                                                                    \
    {                                                                                              \
        "runtime", LAZ_FIELD_TEXT, AT(runtime),                                                    \
            .help = "a language; absent: as the configuration says"                                \
    }
#define TOOLS(needed, text)                                                                        \
    {                                                                                              \
        "tools", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, needed, AT_LEN(tools), .of = &serve_tool_fields,  \
                                                                        .help = (text)             \
    }
#define NETWORK(text)                                                                              \
    {                                                                                              \
        "network", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(network), .help = (text)                 \
    }
#define CREDENTIALS(text)                                                                          \
    CLIENT("credentials", JSON, NARROWS, LAZ_SHAPE_LIST, AT_LEN(credentials), .help = (text))
#define LIMIT(field, text)                                                                         \
    {                                                                                              \
#field, LAZ_FIELD_INTEGER, AT_HAS(field), .min = 0, .max = LAZ_SERVE_INT, .help = (text)   \
    }

static const struct laz_field tools_members[] = {
    ID,
    TOOLS(LAZ_FIELD_REQUIRED, "tools that all sessions have which this client opens from now on"),
};

static const struct laz_field open_members[] = {
    ID,
    RUNTIME,
    TOOLS(0, "tools that this session has besides"),
    NETWORK("what it can reach: rules as of `network.allow`, strings and objects; absent: as the "
            "configuration says; empty: nothing"),
    CREDENTIALS("what it is authenticated with and does not see: names of credentials of the "
                "configuration, and objects as a table of `network.credential`, whose `secret` is "
                "an object with the text `value`; absent: those of the configuration; empty: none"),
    CLIENT("warm", BOOLEAN, FREE, .flags = LAZ_FIELD_ABSENT_TRUE, AT(warm),
           .help = "may it come from a template?"),
};

static const struct laz_field open_pool_members[] = {
    ID,
    RUNTIME,
    TOOLS(0, "tools that its sessions have besides"),
    NETWORK("what its sessions can reach, as in `open`"),
    CREDENTIALS("of its sessions, as in `open`"),
    CLIENT("members", INTEGER, NARROWS, .flags = LAZ_FIELD_OMIT, AT(members), .min = 0, .max = 100,
           .help = "sessions that are kept ready; absent: `pool.size`"),
};

static const struct laz_field put_members[] = {
    ID,
    CLIENT("session", INTEGER, FREE, NEEDED, AT_HAS(session),
           .help = "which one, while it is idle"),
    CLIENT("name", TEXT, FREE, NEEDED, AT(name), .help = "of the file, without directories"),
    CLIENT("data", PLAIN, FREE, NEEDED, .max = INT32_MAX, AT_LEN(data),
           .wrong = "'data' of a file is not base64", .help = "bytes in base64 (RFC 4648)"),
    CLIENT("part", INTEGER, FREE, .flags = LAZ_FIELD_OMIT, AT(part), .min = 0, .max = LAZ_SERVE_INT,
           .help = "of a file that comes in several messages: 0, 1, 2, ..."),
    CLIENT("more", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(more),
           .help = "does another part follow?"),
};

static const struct laz_field file_members[] = {
    CLIENT("name", TEXT, FREE, NEEDED, .at = offsetof(struct serve_given_file, name),
           .help = "of the file, without directories"),
    CLIENT("data", PLAIN, FREE, NEEDED, .max = INT32_MAX,
           .at = offsetof(struct serve_given_file, data),
           .len_at = offsetof(struct serve_given_file, data_len),
           .wrong = "'data' of a file is not base64", .help = "bytes in base64 (RFC 4648)"),
};
const struct laz_fields serve_file_fields = {
    .name = "a file of 'files'",
    .size = sizeof(struct serve_given_file),
    .items = file_members,
    .n = COUNT(file_members),
    .help = "A file for the code of an `execute`.",
};

static const struct laz_field execute_members[] = {
    ID,
    SESSION("in this session"),
    POOL("or in one of this pool; without either in a fresh one, which is closed afterwards"),
    RUNTIME,
    NETWORK("what a fresh session can reach, as in `open`"),
    CREDENTIALS("of a fresh session, as in `open`"),
    CLIENT("code", TEXT, FREE, NEEDED, AT(source), .len_at = offsetof(struct STRUCT, source_len),
           .help = "all of it is parsed before any of it runs"),
    LIMIT(timeout_ms, "milliseconds that the code may run; at most what the configuration allows"),
    LIMIT(deadline_ms, "milliseconds of all, with calls of tools; likewise"),
    LIMIT(max_tool_calls, "calls of tools; likewise"),
    LIMIT(max_output_lines, "lines of output that are kept; likewise"),
    LIMIT(max_code_length, "characters of the code, or it is blocked; likewise"),
    LIMIT(wait_ms, "milliseconds to wait for a session of the pool; absent: as long as it takes"),
    CLIENT("print", BOOLEAN, FREE, .flags = LAZ_FIELD_ABSENT_TRUE, AT(print),
           .help = "is `text` of the result wanted?"),
    CLIENT("invisible", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(invisible),
           .help = "is `value` wanted also where the prompt would not print it, as of an "
                   "assignment in R?"),
    CLIENT("native", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(native),
           .help = "is `value` wanted in the form that only the language of the code reads, where "
                   "it has one "
                   "(`values-r.md`)?"),
    CLIENT(
        "input", TEXT, FREE, .flags = LAZ_FIELD_OMIT, AT(input),
        .help =
            "the name of a file, of `files` or put before, that is the standard input of the code"),
    CLIENT("validate", BOOLEAN, FREE, .flags = LAZ_FIELD_ABSENT_TRUE, AT(validate),
           .help = "look for suspicious calls?"),
    CLIENT("check", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(check),
           .help =
               "is it only parsed, and nothing run? The result says `ok` or `syntax_error`, and "
               "what isolation is in force. In a session alone"),
    CLIENT("argv", TEXTS, FREE, .flags = LAZ_FIELD_OMIT, AT(argv),
           .help =
               "the code is that of a file: its command line as the code finds it, of which the "
               "first is the name of the file"),
    CLIENT("output", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(output),
           .help = "is output wanted as it comes, by messages `output`?"),
    CLIENT("progress", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(progress),
           .help = "are messages `progress` wanted?"),
    CLIENT("files", LIST, FREE, .flags = LAZ_FIELD_OMIT, AT(files), .of = &serve_file_fields,
           .help = "files for the code, put before it runs; at most 64"),
    CLIENT(
        "artifacts", BOOLEAN, FREE, .flags = LAZ_FIELD_OMIT, AT(artifacts),
        .help =
            "are the artifacts wanted, by messages `artifact`? The result lists them in any case"),
    CLIENT("traceparent", TEXT, FREE, .flags = LAZ_FIELD_OMIT, AT(traceparent),
           .help = "the trace that it belongs to (W3C Trace Context), told to tools and to the "
                   "audit log; one that is broken is ignored"),
    CLIENT("tracestate", TEXT, FREE, .flags = LAZ_FIELD_OMIT, AT(tracestate),
           .help = "of that trace, likewise"),
    CLIENT("approve", BOOLEAN, NARROWS, .flags = LAZ_FIELD_OMIT, AT(approve),
           .help = "does the client decide on messages `approval`? Without it, calls that need an "
                   "approval are refused"),
};

static const struct laz_field answer_members[] = {
    CLIENT("call", INTEGER, FREE, NEEDED, AT(call), .help = "of the `tool_call` or the `approval`"),
    CLIENT("value", JSON, FREE, .flags = LAZ_FIELD_CHOICE, AT_LEN(value),
           .help = "what the tool returns; of an approval: `true` allows the call, anything else "
                   "refuses it"),
    CLIENT("error", TEXT, FREE, .flags = LAZ_FIELD_CHOICE, AT_LEN(error),
           .help = "why it failed, or was refused; the code can catch it"),
};

static const struct laz_field cancel_members[] = {
    ID,
    CLIENT("request", INTEGER, FREE, NEEDED, AT_HAS(request), .help = "the id of the `execute`"),
};

static const struct laz_field of_session_members[] = {
    ID,
    CLIENT("session", INTEGER, FREE, NEEDED, AT_HAS(session), .help = "which one"),
};

static const struct laz_field set_network_members[] = {
    ID,
    CLIENT("session", INTEGER, FREE, NEEDED, AT_HAS(session),
           .help = "which one, while it is idle"),
    CLIENT("allow", JSON, NARROWS, LAZ_SHAPE_LIST, NEEDED, AT_LEN(network),
           .help = "rules, as `network` in `open`; empty: nothing"),
};

static const struct laz_field of_either_members[] = {
    ID,
    SESSION("a session"),
    POOL("or a pool"),
};

static const struct laz_field search_members[] = {
    ID,
    SESSION("among the tools of this session; without it among those that a session has which "
            "the client opens without tools of its own"),
    CLIENT("words", TEXT, FREE, NEEDED, AT(words), .help = "what is looked for"),
    CLIENT("limit", INTEGER, FREE, .flags = LAZ_FIELD_OMIT, AT(limit), .min = 1, .max = 1000,
           .help = "tools at most; absent: 10"),
};

/* ---- messages of the server ------------------------------------------------------------------ */

static const struct laz_field hello_members[] = {
    {"protocol", LAZ_FIELD_INTEGER, NEEDED, AT(protocol), .help = "1"},
    {"version", LAZ_FIELD_TEXT, NEEDED, AT(version), .help = "of lazaret"},
    {"max_line", LAZ_FIELD_INTEGER, NEEDED, AT(max_line), .help = "bytes of a line to the server"},
    {"max_sessions", LAZ_FIELD_INTEGER, NEEDED, AT(max_sessions),
     .help = "sessions, with those of pools, that a client may have at once; 0: any number"},
    {"timeout_ms", LAZ_FIELD_INTEGER, NEEDED, AT(timeout_ms),
     .help =
         "what an `execute` may ask for at most, and gets unless it asks for less; 0: no limit"},
    {"deadline_ms", LAZ_FIELD_INTEGER, NEEDED, AT(deadline_ms), .help = "likewise"},
    {"max_tool_calls", LAZ_FIELD_INTEGER, NEEDED, AT(max_tool_calls), .help = "likewise"},
    {"max_output_lines", LAZ_FIELD_INTEGER, NEEDED, AT(max_output_lines), .help = "likewise"},
};

static const struct laz_field opened_members[] = {
    OF_REQUEST,
    SESSION("the session, for later requests"),
    POOL("or the pool"),
    {"name", LAZ_FIELD_TEXT, AT(name), .help = "of a session, as in results and the audit log"},
    {"runtime", LAZ_FIELD_TEXT, AT(runtime),
     .help = "the language, also where the request named none"},
};

static const struct laz_field output_members[] = {
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the `execute`"},
    {"stream", LAZ_FIELD_TEXT, NEEDED, AT(stream), .help = "`stdout` or `stderr`"},
    {"text", LAZ_FIELD_TEXT, NEEDED, AT_LEN(text),
     .help = "a piece of it; what is not UTF-8 becomes U+FFFD. Empty: see `dropped`"},
    {"dropped", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(dropped),
     .help = "bytes before it that were left out, because the client did not read; the result "
             "has them"},
};

static const struct laz_field progress_members[] = {
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the `execute`"},
    {"wall_ms", LAZ_FIELD_INTEGER, NEEDED, AT(wall_ms),
     .help = "milliseconds since the code began"},
    {"cpu_ms", LAZ_FIELD_INTEGER, NEEDED, AT(cpu_ms), .help = "milliseconds of CPU time"},
    {"max_rss_bytes", LAZ_FIELD_INTEGER, NEEDED, AT(memory),
     .help = "the most memory so far, as in a result"},
    {"tool_calls", LAZ_FIELD_INTEGER, NEEDED, AT(tool_calls), .help = "calls of tools so far"},
};

static const struct laz_field tool_call_members[] = {
    {"call", LAZ_FIELD_INTEGER, NEEDED, AT(call), .help = "number of the call, for the `answer`"},
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the `execute`"},
    {"tool", LAZ_FIELD_TEXT, NEEDED, AT(tool), .help = "its name"},
    {"args", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, NEEDED, AT_LEN(args),
     .help = "by name, checked against the declaration, with defaults"},
    {"session_name", LAZ_FIELD_TEXT, AT(name), .help = "of the session, as in results"},
};

static const struct laz_field tool_cancelled_members[] = {
    {"call", LAZ_FIELD_INTEGER, NEEDED, AT(call),
     .help = "nobody waits for its answer any more; an answer is ignored"},
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the `execute`"},
};

static const struct laz_field artifact_members[] = {
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id), .help = "of the `execute`"},
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name),
     .help = "as in the result: a path below the directory of artifacts, never out of it"},
    {"data", LAZ_FIELD_PLAIN, AT_LEN(data), .max = INT32_MAX, .help = "bytes in base64 (RFC 4648)"},
    {"part", LAZ_FIELD_INTEGER, AT(part), .help = "0, 1, 2, ..."},
    {"more", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(more),
     .help = "does another part follow?"},
    {"dropped", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(dropped),
     .help =
         "its bytes, all of which were left out, because the client did not read: then it is one "
         "message without `data`"},
};

static const struct laz_field result_members[] = {
    OF_REQUEST,
    {"result", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, NEEDED, AT_LEN(result),
     .help = "what `lazaret run --json` prints"},
};

static const struct laz_field description_members[] = {
    OF_REQUEST,
    {"text", LAZ_FIELD_TEXT, NEEDED, AT_LEN(text), .help = "a line for people"},
    {"alive", LAZ_FIELD_BOOLEAN, AT(is_alive), .help = "has it an interpreter, or starts it one?"},
    {"isolation", LAZ_FIELD_JSON, AT_LEN(isolation),
     .help = "of a session that has started: as in a result"},
    {"tools", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(tools),
     .help = "of a session: the tools that its code can call"},
    {"status", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT_LEN(status),
     .help = "of a pool: `total`, `busy`, `idle`, `dead`, `starting`, `waiting`"},
};

static const struct laz_field found_members[] = {
    OF_REQUEST,
    {"tools", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, NEEDED, AT_LEN(tools),
     .help = "the best ones first, as in a `description`"},
};

static const struct laz_field done_members[] = {OF_REQUEST};

static const struct laz_field failed_members[] = {
    {"id", LAZ_FIELD_INTEGER, AT_HAS(id),
     .help = "of the request; absent: a line could not be read, and the connection ends"},
    {"code", LAZ_FIELD_TEXT, NEEDED, AT(code), .help = "the name of the error: `LAZ_EINVAL`, ..."},
    {"message", LAZ_FIELD_TEXT, NEEDED, AT(message), .help = "what is wrong"},
};

/* ---- the messages --------------------------------------------------------------------------- */

#define ROW(name, to, when, rows, text)                                                            \
    {                                                                                              \
        name, LAZ_WIRE_TO_##to, 1, when,                                                           \
        {                                                                                          \
            "a message", "message '" name "'", sizeof(struct serve_message), rows, COUNT(rows),    \
                .help = (text)                                                                     \
        }                                                                                          \
    }

static const struct laz_wire_row serve_table[SERVE_MESSAGE_TYPES] = {
    [SERVE_HELLO] = ROW("hello", CLIENT, "once, at first", hello_members, "The server is ready."),
    [SERVE_TOOLS] = ROW("tools", SERVER, "any time", tools_members,
                        "Registers tools of the client; `done` answers it."),
    [SERVE_OPEN] = ROW("open", SERVER, "any time", open_members,
                       "Opens a session; `opened` answers it, while the session still starts. A "
                       "failed start is the verdict of its first execution."),
    [SERVE_OPEN_POOL] = ROW("open_pool", SERVER, "any time", open_pool_members,
                            "Opens a pool of sessions; `opened` answers it."),
    [SERVE_OPENED] = ROW("opened", CLIENT, "after `open`, `open_pool`", opened_members,
                         "The session or the pool is there."),
    [SERVE_PUT] = ROW("put", SERVER, "any time", put_members,
                      "Puts a file, or a part of one, where the session begins, for its code to "
                      "read; `done` answers it."),
    [SERVE_EXECUTE] = ROW("execute", SERVER, "any time", execute_members,
                          "Runs code; `result` answers it, whatever the verdict."),
    [SERVE_OUTPUT] = ROW("output", CLIENT, "after `execute` with `output`", output_members,
                         "The code has written something."),
    [SERVE_PROGRESS] = ROW("progress", CLIENT, "after `execute` with `progress`", progress_members,
                           "Once a second: what the execution has used so far. A client that does "
                           "not read gets fewer."),
    [SERVE_TOOL_CALL] = ROW("tool_call", CLIENT, "after `execute`", tool_call_members,
                            "The code calls a tool of the client, and waits for its `answer`."),
    [SERVE_APPROVAL] = ROW("approval", CLIENT, "after `execute` with `approve`", tool_call_members,
                           "The code wants to call a tool, of the client or not, and waits for a "
                           "yes of the client: an `answer`."),
    [SERVE_ANSWER] = ROW("answer", SERVER, "after `tool_call`, `approval`", answer_members,
                         "Answers a call. One that fits no open call is ignored."),
    [SERVE_TOOL_CANCELLED] =
        ROW("tool_cancelled", CLIENT, "after `tool_call`, `approval`", tool_cancelled_members,
            "A call has ended without its answer: by its timeout, or with "
            "its execution."),
    [SERVE_ARTIFACT] = ROW("artifact", CLIENT, "after `execute` with `artifacts`", artifact_members,
                           "A part of what the code has made, before its `result`."),
    [SERVE_RESULT] =
        ROW("result", CLIENT, "after `execute`", result_members, "The execution has ended."),
    [SERVE_CANCEL] = ROW("cancel", SERVER, "any time", cancel_members,
                         "Ends an execution, whose verdict becomes `cancelled`; `done` answers "
                         "it, also when there is none. The code is interrupted first, and its "
                         "session kept (`kept` of the result), if it ends in the time of "
                         "`session.interrupt_grace`."),
    [SERVE_INTERRUPT] = ROW("interrupt", SERVER, "any time", of_session_members,
                            "As `cancel`, of what a session executes; `done` answers it, also when "
                            "that is nothing."),
    [SERVE_RESTART] = ROW("restart", SERVER, "any time", of_session_members,
                          "Gives an idle session a fresh interpreter; `opened` answers it."),
    [SERVE_SET_NETWORK] =
        ROW("set_network", SERVER, "any time", set_network_members,
            "Changes what a session can reach by the network, within the ports that it was opened "
            "with; `done` answers it. Connections that are not permitted any more are closed."),
    [SERVE_DESCRIBE] =
        ROW("describe", SERVER, "any time", of_either_members, "Asks for a `description`."),
    [SERVE_DESCRIPTION] = ROW("description", CLIENT, "after `describe`", description_members,
                              "What there is to say of a session or a pool."),
    [SERVE_SEARCH] = ROW("search", SERVER, "any time", search_members,
                         "Finds tools by words of their names, descriptions and parameters; "
                         "`found` answers it."),
    [SERVE_FOUND] =
        ROW("found", CLIENT, "after `search`", found_members, "The tools that fit, possibly none."),
    [SERVE_CLOSE] = ROW("close", SERVER, "any time", of_either_members,
                        "Closes a session or a pool. What it executes is cancelled, and its "
                        "processes are killed. `done` answers it."),
    [SERVE_DONE] = ROW("done", CLIENT, "after a request", done_members, "It is done."),
    [SERVE_FAILED] = ROW("failed", CLIENT, "after a request", failed_members,
                         "The request has failed. Nothing ran; files that were put stay."),
};

const struct laz_wire_protocol serve_protocol = {serve_table, SERVE_MESSAGE_TYPES};

void serve_message_make(enum serve_message_type type, const struct serve_message *message,
                        struct laz_buf *line)
{
    laz_wire_make(&serve_table[type], message, line, NULL);
}

static int message_parse(enum laz_wire_direction direction, const char *line, size_t len,
                         enum serve_message_type *type, struct serve_message *message,
                         struct laz_error *err)
{
    unsigned row;

    *message = (struct serve_message){0};
    int rc = laz_wire_parse(&serve_protocol, direction, 1, false, line, len, message, &row, err);
    *type = (enum serve_message_type)row;
    return rc;
}

int serve_message_parse(const char *line, size_t len, enum serve_message_type *type,
                        struct serve_message *message, struct laz_error *err)
{
    return message_parse(LAZ_WIRE_TO_SERVER, line, len, type, message, err);
}

int serve_message_parse_answer(const char *line, size_t len, enum serve_message_type *type,
                               struct serve_message *message, struct laz_error *err)
{
    return message_parse(LAZ_WIRE_TO_CLIENT, line, len, type, message, err);
}

void serve_message_fini(enum serve_message_type type, struct serve_message *message)
{
    if (type < SERVE_MESSAGE_TYPES)
        laz_fields_free(&serve_table[type].object, message);
}
