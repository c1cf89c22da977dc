/* SPDX-License-Identifier: MIT */
/* table.c - the protocol as data: messages, their members, and the objects inside of them.
 * Side: host and agent.  Input trusted: no.
 *
 * A new message or member is a row here and a field in message.h; reading, making, the page and the
 * schema follow.  `help` is a text of docs/protocol.md. */
#include "wire/table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OF(type, noun, rows)                                                                       \
    .name = (noun), .size = sizeof(struct type), .members = (rows), .n = COUNT(rows)

/* ---- init.options --------------------------------------------------------------------------- */

#define AT(field) .at = offsetof(struct laz_wire_options, field)

static const struct laz_wire_member options_members[] = {
    {"runtime_file", LAZ_KIND_TEXT, AT(runtime_file),
     .help = "the runtime plugin, as the agent sees it"},
    {"libraries", LAZ_KIND_TEXTS, .flags = LAZ_WIRE_ALL, AT(libraries),
     .help = "libraries that are opened with global symbols before the plugin"},
    {"max_message", LAZ_KIND_INTEGER, AT(max_message), .help = "bytes of a line to the host"},
    {"max_value", LAZ_KIND_INTEGER, AT(max_value), .help = "bytes of a value from the host"},
    {"options", LAZ_KIND_JSON, LAZ_SHAPE_OBJECT, AT(options),
     .len_at = offsetof(struct laz_wire_options, options_len),
     .help = "the options of `[runtime.NAME]`"},
    {"preload", LAZ_KIND_TEXTS, .flags = LAZ_WIRE_OMIT | LAZ_WIRE_ALL, AT(preload),
     .wrong = "a name of preload is no string",
     .help = "template only: packages that are loaded before any session"},
    {"home", LAZ_KIND_TEXT, AT(home), .help = "template only: the home directory of its sessions"},
    {"tmp_size", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_OMIT, AT(tmp_size),
     .help = "template only: bytes of /tmp of a session"},
    {"groups", LAZ_KIND_BOOLEAN, .flags = LAZ_WIRE_OMIT, AT(has_groups),
     .help = "template only: sessions have control groups, and each `spawn` needs a `prepare`"},
};
#undef AT

const struct laz_wire_object laz_wire_options = {
    OF(laz_wire_options, "options", options_members),
    .help = "What the agent loads. A session of a template reads the two sizes only.",
};

/* ---- init.confine --------------------------------------------------------------------------- */

#define AT(field) .at = offsetof(struct laz_wire_rule, field)

static const struct laz_wire_member rule_members[] = {
    {"rights", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, AT(rights),
     .help = "letters: `r`, `w`, `x`, `d` (a device) and `t` (a terminal)"},
    {"path", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, AT(path),
     .help = "a file, or a directory with all below it"},
    {"optional", LAZ_KIND_BOOLEAN, AT(is_optional), .help = "the path need not exist"},
};
#undef AT

const struct laz_wire_object laz_wire_rule = {
    OF(laz_wire_rule, "a rule of Landlock", rule_members),
    .help = "What Landlock allows on a path.",
};

#define AT(field) .at = offsetof(struct laz_wire_landlock, field)

static const struct laz_wire_member landlock_members[] = {
    {"abi", LAZ_KIND_INTEGER, AT(abi), .help = "version of Landlock; 0: the newest that works"},
    {"rules", LAZ_KIND_LIST, AT(rules), .of = &laz_wire_rule,
     .help = "what is allowed; everything else is refused"},
};
#undef AT

const struct laz_wire_object laz_wire_landlock = {
    OF(laz_wire_landlock, "landlock", landlock_members),
    .help = "A Landlock domain that the agent enters.",
};

#define FIELD(field) offsetof(struct laz_wire_confine, field)

static const struct laz_wire_member confine_members[] = {
    {"limits", LAZ_KIND_NUMBERS, .at = FIELD(limits), .has_at = FIELD(has_limits),
     .help = "`cpu` in seconds; `memory`, `fsize` and `stack` in bytes; `nproc` and `nofile` as "
             "numbers; `nproc_beside` as the number of processes more than the user has at the "
             "start. What is absent is not limited"},
    {"filter", LAZ_KIND_TEXT, .at = FIELD(filter), .help = "the name of a filter of system calls"},
    {"landlock", LAZ_KIND_OBJECT, .at = FIELD(landlock), .has_at = FIELD(has_landlock),
     .of = &laz_wire_landlock, .help = "a Landlock domain"},
    {"required", LAZ_KIND_TEXTS, .flags = LAZ_WIRE_OMIT | LAZ_WIRE_ALL, .at = FIELD(required),
     .help = "the steps without which the start fails"},
};
#undef FIELD

const struct laz_wire_object laz_wire_confine = {
    OF(laz_wire_confine, "confine", confine_members),
    .is_closed = true,
    .help =
        "The steps of the confinement that the agent applies to itself. An unknown member fails "
        "the start: an older agent must not ignore what a newer host relies on.",
};

/* ---- init.tools ----------------------------------------------------------------------------- */

#define FIELD(field) offsetof(struct laz_wire_parameter, field)

static const struct laz_wire_member parameter_members[] = {
    {"name", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(name), .help = "its name"},
    {"type", LAZ_KIND_TEXT, .at = FIELD(type),
     .help = "the type that the runtime checks; absent: the host checks alone"},
    {"type_name", LAZ_KIND_TEXT, .at = FIELD(type_name),
     .help = "the type as it was declared, where that is another word"},
    {"required", LAZ_KIND_BOOLEAN, .flags = LAZ_WIRE_ABSENT_TRUE, .at = FIELD(is_required),
     .help = "must it be given? With a default it need not be"},
    {"default", LAZ_KIND_JSON, .at = FIELD(default_value), .len_at = FIELD(default_len),
     .help = "the value where it is not given"},
    {"enum", LAZ_KIND_JSON, LAZ_SHAPE_LIST, .at = FIELD(enumeration),
     .len_at = FIELD(enumeration_len), .help = "the values that are allowed"},
    {"description", LAZ_KIND_TEXT, .at = FIELD(description), .help = "a line for the model"},
};
#undef FIELD

const struct laz_wire_object laz_wire_parameter = {
    OF(laz_wire_parameter, "a parameter", parameter_members),
    .help = "A parameter of a tool.",
};

#define AT(field) .at = offsetof(struct laz_wire_tool, field)

static const struct laz_wire_member tool_members[] = {
    {"name", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, AT(name), .help = "its name"},
    {"description", LAZ_KIND_TEXT, AT(description), .help = "a line for the model"},
    {"parameters", LAZ_KIND_LIST, AT(parameters), .of = &laz_wire_parameter,
     .help = "in the order of positional arguments"},
};
#undef AT

const struct laz_wire_object laz_wire_tool = {
    OF(laz_wire_tool, "a tool", tool_members),
    .help = "A tool that the runtime defines as a function.",
};

/* ---- the end of a session ------------------------------------------------------------------- */

#define STATUS(key, field, text)                                                                   \
    {                                                                                              \
        key, LAZ_KIND_INTEGER, .at = offsetof(struct laz_wire_status, field),                      \
                               .has_at = offsetof(struct laz_wire_status, has_##field),            \
                               .help = (text)                                                      \
    }

static const struct laz_wire_member status_members[] = {
    STATUS("exit-code", exit_code, "the exit status of its first process"),
    STATUS("signal", signal, "or the signal that ended it"),
    STATUS("pid-namespace", pid_namespace, "of bubblewrap: the inode of the pid namespace"),
    STATUS("child-pid", child_pid, "of bubblewrap: the first process in it"),
};

const struct laz_wire_object laz_wire_status = {
    OF(laz_wire_status, "a status", status_members),
    .help = "What is written to the status descriptor, one object a line.",
};

/* ---- messages of the agent ------------------------------------------------------------------ */

#define FIELD(field) offsetof(struct laz_message, field)
#define ID(text)                                                                                   \
    {                                                                                              \
        "id", LAZ_KIND_INTEGER, .at = FIELD(id), .has_at = FIELD(has_id),                          \
                                .wrong = "the id of a message is not an integer", .help = (text)   \
    }
static const struct laz_wire_member ready_members[] = {
    {"protocol", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(protocol), .help = "1"},
    {"runtime", LAZ_KIND_TEXT, .at = FIELD(runtime), .help = "the name of the runtime"},
    {"version", LAZ_KIND_TEXT, .at = FIELD(version), .help = "the version of its interpreter"},
    {"confined", LAZ_KIND_TEXTS, .at = FIELD(confined),
     .help = "the names of the steps of the confinement that are in force"},
    {"missing", LAZ_KIND_TEXTS, .at = FIELD(missing),
     .help = "sentences about the steps that are not"},
    {"cost", LAZ_KIND_TEXT, .at = FIELD(cost), .help = "the microseconds of each step, for logs"},
};

static const struct laz_wire_member tool_call_members[] = {
    ID("chosen by the agent; without one, answers come in the order of the calls"),
    {"tool", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(tool),
     .help = "the name of the tool"},
    {"args", LAZ_KIND_JSON, LAZ_SHAPE_OBJECT_OR_NULL, LAZ_WIRE_BULK, .at = FIELD(args),
     .len_at = FIELD(args_len), .wrong = "'args' of a tool call is neither object nor null",
     .help = "the arguments by name"},
};

static const struct laz_wire_member result_members[] = {
    ID("of the request"),
    {"value", LAZ_KIND_JSON, .flags = LAZ_WIRE_BULK, .at = FIELD(value), .len_at = FIELD(value_len),
     .help = "the value; `docs/values.md` describes how values are written"},
    {"text", LAZ_KIND_TEXT, .at = FIELD(text), .len_at = FIELD(text_len),
     .help = "what the prompt of the language would print for the value"},
    {"visible", LAZ_KIND_BOOLEAN, .flags = LAZ_WIRE_ABSENT_TRUE, .at = FIELD(visible),
     .help = "would the prompt print it?"},
};

static const struct laz_wire_member error_members[] = {
    ID("of the request; 0 for kind `setup`"),
    {"kind", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(kind),
     .help = "`runtime`, `syntax`, `memory`, `fsize`, `too_large`, `exit` or `setup`"},
    {"status", LAZ_KIND_INTEGER, .at = FIELD(status), .has_at = FIELD(has_status),
     .help = "with kind `exit`: the status"},
    {"message", LAZ_KIND_TEXT, .at = FIELD(message), .len_at = FIELD(message_len),
     .help = "what went wrong"},
    {"line", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_OMIT, .at = FIELD(line), .help = "where, from 1"},
    {"column", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_OMIT, .at = FIELD(column),
     .help = "where, from 1"},
    {"traceback", LAZ_KIND_TEXTS, .flags = LAZ_WIRE_OMIT, .at = FIELD(traceback),
     .help = "calls, outermost first"},
    {"text", LAZ_KIND_TEXT, .at = FIELD(text), .len_at = FIELD(text_len), .help = "reserved"},
};

static const struct laz_wire_member answer_members[] = {
    {"id", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(id), .has_at = FIELD(has_id),
     .wrong = "an answer lacks its id, or it is not an integer", .help = "of the `spawn`"},
    {"value", LAZ_KIND_JSON, .flags = LAZ_WIRE_CHOICE, .at = FIELD(value),
     .len_at = FIELD(value_len),
     .help = "`{\"pid\":12}`: the first process of the session, as the template's pid namespace "
             "counts, for logs"},
    {"error", LAZ_KIND_TEXT, .flags = LAZ_WIRE_CHOICE, .at = FIELD(error),
     .len_at = FIELD(error_len), .help = "why there is no session"},
};

/* ---- messages of the host ------------------------------------------------------------------- */

static const struct laz_wire_member init_members[] = {
    {"protocol", LAZ_KIND_INTEGER, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(protocol), .help = "1"},
    {"template", LAZ_KIND_BOOLEAN, .flags = LAZ_WIRE_OMIT, .at = FIELD(is_template),
     .help = "the agent is a template"},
    {"options", LAZ_KIND_OBJECT, .at = FIELD(options), .of = &laz_wire_options,
     .help = "what it loads"},
    {"confine", LAZ_KIND_JSON, LAZ_SHAPE_OBJECT, .at = FIELD(confine), .len_at = FIELD(confine_len),
     .of = &laz_wire_confine, .help = "how it confines itself"},
    {"tools", LAZ_KIND_JSON, LAZ_SHAPE_LIST, .at = FIELD(tools), .len_at = FIELD(tools_len),
     .of = &laz_wire_tool, .help = "the tools that it defines"},
};

static const struct laz_wire_member execute_members[] = {
    ID("chosen by the host"),
    {"code", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(code),
     .len_at = FIELD(code_len), .help = "all of it is parsed before any of it runs"},
    {"print", LAZ_KIND_BOOLEAN, .flags = LAZ_WIRE_ABSENT_TRUE, .at = FIELD(print),
     .help = "is `text` of the result wanted?"},
};

static const struct laz_wire_member check_members[] = {
    ID("chosen by the host"),
    {"code", LAZ_KIND_TEXT, .flags = LAZ_WIRE_REQUIRED, .at = FIELD(code),
     .len_at = FIELD(code_len), .help = "parsed, not run"},
};

static const struct laz_wire_member reply_members[] = {
    ID("of the call, where it had one"),
    {"value", LAZ_KIND_JSON, .flags = LAZ_WIRE_CHOICE | LAZ_WIRE_BULK, .at = FIELD(value),
     .len_at = FIELD(value_len), .help = "what the tool returned"},
    {"error", LAZ_KIND_TEXT, .flags = LAZ_WIRE_CHOICE, .at = FIELD(error),
     .len_at = FIELD(error_len), .help = "why the call failed; raised in the language"},
};

static const struct laz_wire_member spawn_members[] = {
    ID("chosen by the host"),
    {"token", LAZ_KIND_PLAIN, .flags = LAZ_WIRE_REQUIRED, .min = 32, .max = 32, .at = FIELD(token),
     .len_at = FIELD(token_len), .wrong = "a spawn has a token of 32 characters",
     .help = "of the session"},
};

/* ---- the messages --------------------------------------------------------------------------- */

#define TO_HOST  LAZ_WIRE_TO_HOST
#define TO_AGENT LAZ_WIRE_TO_AGENT
#define SIZE     sizeof(struct laz_message)
#define ROW(name, to, in, when, rows, text)                                                        \
    {                                                                                              \
        name, to, in, when,                                                                        \
        {                                                                                          \
            "a message", "message '" name "'", SIZE, rows, COUNT(rows), .help = (text)             \
        }                                                                                          \
    }

const struct laz_wire_row laz_wire_table[LAZ_MESSAGE_TYPES] = {
    [LAZ_MESSAGE_INIT] = ROW("init", TO_AGENT, LAZ_WIRE_STARTING, "once, after the token",
                             init_members, "Starts the agent."),
    [LAZ_MESSAGE_READY] = ROW("ready", TO_HOST, LAZ_WIRE_STARTING, "once, after `init`",
                              ready_members, "The agent has started."),
    [LAZ_MESSAGE_CHECK] = ROW("check", TO_AGENT, LAZ_WIRE_IDLE, "idle", check_members,
                              "Parses code and runs nothing; `result` or `error` answers it."),
    [LAZ_MESSAGE_EXECUTE] = ROW("execute", TO_AGENT, LAZ_WIRE_IDLE, "idle", execute_members,
                                "Runs code; `result` or `error` answers it."),
    [LAZ_MESSAGE_TOOL_CALL] = ROW("tool_call", TO_HOST, LAZ_WIRE_RUNNING, "running",
                                  tool_call_members, "Calls a tool of the host."),
    [LAZ_MESSAGE_REPLY] = {NULL,
                           TO_AGENT,
                           LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING,
                           "running",
                           {"a message", "a reply", SIZE, reply_members, COUNT(reply_members),
                            .is_lenient = true,
                            .help = "Answers a call. It has no `type`; a reply that fits no open "
                                    "call is discarded."}},
    [LAZ_MESSAGE_RESULT] = ROW("result", TO_HOST, LAZ_WIRE_RUNNING, "running", result_members,
                               "The code has ended with a value."),
    [LAZ_MESSAGE_ERROR] = ROW("error", TO_HOST, LAZ_WIRE_RUNNING | LAZ_WIRE_STARTING,
                              "running, or before `ready` with kind `setup`", error_members,
                              "The code, or the start, has failed."),
    [LAZ_MESSAGE_EXIT] = {"exit",
                          TO_AGENT,
                          LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING | LAZ_WIRE_TEMPLATE,
                          "after `ready`",
                          {"a message", "message 'exit'", SIZE, .help = "Ends the agent."}},
    [LAZ_MESSAGE_PREPARE] = {"prepare",
                             TO_AGENT,
                             LAZ_WIRE_TEMPLATE,
                             "template",
                             {"a message", "message 'prepare'", SIZE,
                              .help = "Comes with descriptors: a file for each control group of "
                                      "the next session."}},
    [LAZ_MESSAGE_SPAWN] = ROW("spawn", TO_AGENT, LAZ_WIRE_TEMPLATE, "template", spawn_members,
                              "Asks for a session; comes with its four descriptors."),
    [LAZ_MESSAGE_ANSWER] = {NULL,
                            TO_HOST,
                            LAZ_WIRE_TEMPLATE,
                            "template",
                            {"a message", "an answer", SIZE, answer_members, COUNT(answer_members),
                             .help = "Answers a `spawn`. It has no `type`."}},
};
