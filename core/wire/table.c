/* SPDX-License-Identifier: MIT */
/* table.c - the protocol as data: messages, their members, and the objects inside of them.
 * Side: host and agent.  Input trusted: no.
 *
 * A new message or member is a row here and a field in message.h; reading, making, the page and the
 * schema follow.  `help` is a text of docs/protocol.md. */
#include "wire/table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
/* The table of a struct, which has the name of the struct. */
#define TABLE(type, noun, rows, ...)                                                               \
    const struct laz_fields type = {.name = (noun),                                                \
                                    .size = sizeof(struct type),                                   \
                                    .items = (rows),                                               \
                                    .n = COUNT(rows),                                              \
                                    __VA_ARGS__}
/* Where a value is in struct STRUCT, its length, and the flag that says that it is there. */
#define AT(field)     .at = offsetof(struct STRUCT, field)
#define AT_LEN(field) AT(field), .len_at = offsetof(struct STRUCT, field##_len)
#define AT_HAS(field) AT(field), .has_at = offsetof(struct STRUCT, has_##field)
#define NEEDED        .flags = LAZ_FIELD_REQUIRED

/* ---- init.options --------------------------------------------------------------------------- */

#define STRUCT laz_wire_options
static const struct laz_field options_members[] = {
    {"runtime_file", LAZ_FIELD_TEXT, AT(runtime_file),
     .help = "the runtime plugin, as the agent sees it"},
    {"libraries", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_ALL, AT(libraries),
     .help = "libraries that are opened with global symbols before the plugin"},
    {"max_message", LAZ_FIELD_INTEGER, AT(max_message), .help = "bytes of a line to the host"},
    {"max_value", LAZ_FIELD_INTEGER, AT(max_value), .help = "bytes of a value from the host"},
    {"max_files", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(max_files),
     .help = "artifacts of an execution that the host takes; absent: none, and there is no "
             "directory for them"},
    {"max_parts", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(max_parts),
     .help = "bytes of them together, and of a result that does not fit into a line"},
    {"options", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT_LEN(options),
     .help = "the options of `[runtime.NAME]`"},
    {"preload", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_OMIT | LAZ_FIELD_ALL, AT(preload),
     .wrong = "a name of preload is not a string",
     .help = "template only: packages that are loaded before any session"},
    {"home", LAZ_FIELD_TEXT, AT(home), .help = "template only: the home directory of its sessions"},
    {"commands", LAZ_FIELD_TEXT, AT(commands),
     .help = "the program that calls a tool as a command, as the agent sees it; absent: tools are "
             "no commands"},
    {"tmp_size", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(tmp_size),
     .help = "template only: bytes of /tmp of a session"},
    {"groups", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(has_groups),
     .help = "template only: sessions have control groups, and each `spawn` needs a `prepare`"},
    {"network", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(has_network),
     .help = "template only: each session gets an empty network namespace of its own"},
};
#undef STRUCT

TABLE(laz_wire_options, "options", options_members,
      .help = "What the agent loads. A session of a template reads the sizes only, "
              "and with `same` none.");

/* ---- init.confine --------------------------------------------------------------------------- */

#define STRUCT laz_wire_rule
static const struct laz_field rule_members[] = {
    {"rights", LAZ_FIELD_TEXT, NEEDED, AT(rights),
     .help = "letters: `r`, `w`, `x`, `d` (a device) and `t` (a terminal)"},
    {"path", LAZ_FIELD_TEXT, NEEDED, AT(path), .help = "a file, or a directory with all below it"},
    {"optional", LAZ_FIELD_BOOLEAN, AT(is_optional), .help = "the path need not exist"},
};
#undef STRUCT

TABLE(laz_wire_rule, "a rule of Landlock", rule_members, .help = "What Landlock allows on a path.");

#define STRUCT laz_wire_landlock
static const struct laz_field landlock_members[] = {
    {"abi", LAZ_FIELD_INTEGER, AT(abi), .help = "version of Landlock; 0: the newest that works"},
    {"network", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(lets_network),
     .help = "TCP is not restricted: the box has a network of its own"},
    {"rules", LAZ_FIELD_LIST, AT(rules), .of = &laz_wire_rule,
     .help = "what is allowed; everything else is refused"},
};
#undef STRUCT

TABLE(laz_wire_landlock, "landlock", landlock_members,
      .help = "A Landlock domain that the agent enters.");

#define STRUCT laz_wire_confine
static const struct laz_field confine_members[] = {
    {"limits", LAZ_FIELD_NUMBERS, AT_HAS(limits),
     .help = "`cpu` in seconds; `memory`, `fsize` and `stack` in bytes; `nproc` and `nofile` as "
             "numbers; `nproc_beside` as the number of processes more than the user has at the "
             "start. What is absent is not limited"},
    {"filter", LAZ_FIELD_TEXT, AT(filter), .help = "the name of a filter of system calls"},
    {"landlock", LAZ_FIELD_OBJECT, AT_HAS(landlock), .of = &laz_wire_landlock,
     .help = "a Landlock domain"},
    {"required", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_OMIT | LAZ_FIELD_ALL, AT(required),
     .help = "the steps without which the start fails"},
};
#undef STRUCT

TABLE(laz_wire_confine, "confine", confine_members, .is_closed = true,
      .help =
          "The steps of the confinement that the agent applies to itself. An unknown member fails "
          "the start: an older agent must not ignore what a newer host relies on.");

/* ---- init.tools ----------------------------------------------------------------------------- */

#define STRUCT laz_wire_parameter
static const struct laz_field parameter_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name), .help = "its name"},
    {"spelling", LAZ_FIELD_TEXT, AT(spelling),
     .help = "the name in the language of the session, where that is another one"},
    {"type", LAZ_FIELD_TEXT, AT(type),
     .help = "the type that the runtime checks; absent: the host checks alone"},
    {"type_name", LAZ_FIELD_TEXT, AT(type_name),
     .help = "the type as it was declared, where that is another word"},
    {"required", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_ABSENT_TRUE, AT(is_required),
     .help = "must it be given? With a default it need not be"},
    {"default", LAZ_FIELD_JSON, AT(default_value), .len_at = offsetof(struct STRUCT, default_len),
     .help = "the value where it is not given"},
    {"enum", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(enumeration),
     .help = "the values that are allowed"},
    {"format", LAZ_FIELD_TEXT, AT(format), .help = "`path`: its texts are paths"},
    {"description", LAZ_FIELD_TEXT, AT(description), .help = "a line for the model"},
};
#undef STRUCT

TABLE(laz_wire_parameter, "a parameter", parameter_members, .help = "A parameter of a tool.");

#define STRUCT laz_wire_tool
static const struct laz_field tool_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name), .help = "its name"},
    {"spelling", LAZ_FIELD_TEXT, AT(spelling),
     .help = "the name in the language of the session, where that is another one"},
    {"command", LAZ_FIELD_TEXT, AT(command),
     .help = "the name of its command, where that is neither its spelling nor its name"},
    {"description", LAZ_FIELD_TEXT, AT(description), .help = "a line for the model"},
    {"parameters", LAZ_FIELD_LIST, AT(parameters), .of = &laz_wire_parameter,
     .help = "in the order of positional arguments"},
    {"returns", LAZ_FIELD_TEXT, AT(returns),
     .help = "the type of what it returns, for who reads about it: `{name: str}`"},
    {"approve", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(approve),
     .help = "does each call need an approval of the host?"},
    {"may_approve", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(may_approve),
     .help = "do some calls need one, as their arguments are?"},
    {"native", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(native),
     .help = "are arguments without a type in the form of the language alone, as with `native` of "
             "`execute`?"},
};
#undef STRUCT

TABLE(laz_wire_tool, "a tool", tool_members,
      .help = "A tool that the runtime defines as a function.");

/* ---- the end of a session ------------------------------------------------------------------- */

#define STRUCT laz_wire_status
static const struct laz_field status_members[] = {
    {"exit-code", LAZ_FIELD_INTEGER, AT_HAS(exit_code),
     .help = "the exit status of its first process"},
    {"signal", LAZ_FIELD_INTEGER, AT_HAS(signal), .help = "or the signal that ended it"},
    {"pid-namespace", LAZ_FIELD_INTEGER, AT_HAS(pid_namespace),
     .help = "of bubblewrap: the inode of the pid namespace"},
    {"child-pid", LAZ_FIELD_INTEGER, AT_HAS(child_pid),
     .help = "of bubblewrap: the first process in it"},
};
#undef STRUCT

TABLE(laz_wire_status, "a status", status_members,
      .help = "What is written to the status descriptor, one object a line.");

/* ---- messages of the agent ------------------------------------------------------------------ */

#define STRUCT laz_message
#define ID(text)                                                                                   \
    {                                                                                              \
        "id", LAZ_FIELD_INTEGER, AT_HAS(id), .wrong = "the id of a message is not an integer",     \
                                             .help = (text)                                        \
    }
static const struct laz_field ready_members[] = {
    {"protocol", LAZ_FIELD_INTEGER, NEEDED, AT(protocol), .help = "1"},
    {"runtime", LAZ_FIELD_TEXT, AT(runtime), .help = "the name of the runtime"},
    {"version", LAZ_FIELD_TEXT, AT(version), .help = "the version of its interpreter"},
    {"confined", LAZ_FIELD_TEXTS, AT(confined),
     .help = "the names of the steps of the confinement that are in force"},
    {"missing", LAZ_FIELD_TEXTS, AT(missing), .help = "sentences about the steps that are not"},
    {"cost", LAZ_FIELD_TEXT, AT(cost), .help = "the microseconds of each step, for logs"},
};

static const struct laz_field tool_call_members[] = {
    ID("chosen by the agent; without one, answers come in the order of the calls"),
    {"tool", LAZ_FIELD_TEXT, NEEDED, AT(tool), .help = "the name of the tool"},
    {"args", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT_OR_NULL, LAZ_FIELD_BULK, AT_LEN(args),
     .wrong = "'args' of a tool call is neither object nor null", .help = "the arguments by name"},
};

static const struct laz_field part_members[] = {
    ID("of the request"),
    {"of", LAZ_FIELD_TEXT, NEEDED, AT(of),
     .help = "`file`, or `value` or `text` of the result that follows without it"},
    {"name", LAZ_FIELD_TEXT, AT(name),
     .help = "with the first part of a file: its path below the directory of artifacts"},
    {"data", LAZ_FIELD_PLAIN, NEEDED, .max = INT32_MAX, AT_LEN(data),
     .wrong = "'data' of a part is not base64", .help = "bytes in base64 (RFC 4648)"},
    {"more", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(more),
     .help = "does the next part go on with it?"},
};

#define LEFT_OUT                                                                                   \
    {                                                                                              \
        "left_out", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_OMIT, AT(left_out),                        \
                                     .help = "sentences about artifacts that were not sent"        \
    }

static const struct laz_field result_members[] = {
    ID("of the request"),
    {"value", LAZ_FIELD_JSON, .flags = LAZ_FIELD_BULK, AT_LEN(value),
     .help = "the value; `docs/values.md` describes how values are written"},
    {"text", LAZ_FIELD_TEXT, AT_LEN(text),
     .help = "what the prompt of the language would print for the value"},
    {"visible", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_ABSENT_TRUE, AT(visible),
     .help = "would the prompt print it?"},
    {"omitted", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_OMIT, AT(omitted),
     .help = "why the value was not sent: it is too large, or nested too deeply"},
    LEFT_OUT,
};

static const struct laz_field error_members[] = {
    ID("of the request; 0 for kind `setup`"),
    {"kind", LAZ_FIELD_TEXT, NEEDED, AT(kind),
     .help =
         "`runtime`, `syntax`, `memory`, `fsize`, `exit` or `setup`; of a template `preload`, for "
         "`setup`: a package of `pool.preload` cannot be loaded"},
    {"status", LAZ_FIELD_INTEGER, AT_HAS(status), .help = "with kind `exit`: the status"},
    {"message", LAZ_FIELD_TEXT, AT_LEN(message), .help = "what went wrong"},
    {"line", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(line), .help = "where, from 1"},
    {"column", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_OMIT, AT(column), .help = "where, from 1"},
    {"traceback", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_OMIT, AT(traceback),
     .help = "calls, outermost first"},
    {"text", LAZ_FIELD_TEXT, AT_LEN(text), .help = "reserved"},
    LEFT_OUT,
};

static const struct laz_field answer_members[] = {
    {"id", LAZ_FIELD_INTEGER, NEEDED, AT_HAS(id),
     .wrong = "an answer lacks its id, or it is not an integer", .help = "of the `spawn`"},
    {"value", LAZ_FIELD_JSON, .flags = LAZ_FIELD_CHOICE, AT_LEN(value),
     .help = "`{\"pid\":12}`: the first process of the session, as the template's pid namespace "
             "counts, for logs"},
    {"error", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_CHOICE, AT_LEN(error),
     .help = "why there is no session"},
};

/* ---- messages of the host ------------------------------------------------------------------- */

static const struct laz_field init_members[] = {
    {"protocol", LAZ_FIELD_INTEGER, NEEDED, AT(protocol), .help = "1"},
    {"template", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(is_template),
     .help = "the agent is a template"},
    {"options", LAZ_FIELD_OBJECT, AT(options), .of = &laz_wire_options, .help = "what it loads"},
    {"confine", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT_LEN(confine), .of = &laz_wire_confine,
     .help = "how it confines itself"},
    {"tools", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(tools), .of = &laz_wire_tool,
     .help = "the tools that it defines"},
    {"same", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(is_same),
     .help =
         "a session of a template: all of it is as in the template's `init`, and left out here; "
         "`tools` are those that it has besides"},
};

static const struct laz_field execute_members[] = {
    ID("chosen by the host"),
    {"code", LAZ_FIELD_TEXT, NEEDED, AT_LEN(code),
     .help = "all of it is parsed before any of it runs"},
    {"print", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_ABSENT_TRUE, AT(print),
     .help = "is `text` of the result wanted?"},
    {"invisible", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(invisible),
     .help = "is `value` wanted also where the prompt would not print it?"},
    {"native", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(native),
     .help =
         "is `value` wanted in the form of the language alone, where it has one (`values-r.md`)?"},
    {"input", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_OMIT, AT(input),
     .help = "the file that was put which is the standard input of the code; absent: that of the "
             "session"},
    {"argv", LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_OMIT | LAZ_FIELD_ALL, AT(argv),
     .help = "the command line of the code: the name of its file, then arguments"},
    {"cwd", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_OMIT, AT(cwd),
     .help = "the working directory from now on"},
    {"directory", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_OMIT, AT(directory),
     .help = "with `argv`: where modules are looked for, first or, in Lua, last"},
    {"cwd_files", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(takes_cwd),
     .help = "are files at the top of the working directory that the session began with artifacts, "
             "too? Those that were put are none"},
    {"last", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(is_last),
     .help =
         "nothing is executed after it: after `exit`, when the interpreter has ended, the files "
         "follow that are new since the outcome, or have changed, and a `result`"},
};

static const struct laz_field check_members[] = {
    ID("chosen by the host"),
    {"code", LAZ_FIELD_TEXT, NEEDED, AT_LEN(code), .help = "parsed, not run"},
};

static const struct laz_field put_members[] = {
    ID("chosen by the host"),
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name),
     .help = "of a file in the working directory that the session began with"},
    {"data", LAZ_FIELD_PLAIN, NEEDED, .max = INT32_MAX, AT_LEN(data),
     .wrong = "'data' of a file is not base64", .help = "bytes in base64 (RFC 4648)"},
    {"part", LAZ_FIELD_INTEGER, NEEDED, AT(part),
     .help = "0 makes the file, in place of one of that name; 1, 2, ... go on with it"},
    {"more", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(more),
     .help = "does another part follow?"},
};

static const struct laz_field remove_members[] = {
    ID("chosen by the host"),
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name), .help = "of a file that was put"},
};

static const struct laz_field reply_members[] = {
    ID("of the call, where it had one"),
    {"value", LAZ_FIELD_JSON, .flags = LAZ_FIELD_CHOICE | LAZ_FIELD_BULK, AT_LEN(value),
     .help = "what the tool returned"},
    {"error", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_CHOICE, AT_LEN(error),
     .help = "why the call failed; raised in the language"},
    {"kind", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_OMIT, AT(kind),
     .help = "with `error`, of a call by a command: `refused` or `unknown`, where no tool was "
             "called"},
};

static const struct laz_field spawn_members[] = {
    ID("chosen by the host"),
    {"token", LAZ_FIELD_PLAIN, NEEDED, .min = 32, .max = 32, AT_LEN(token),
     .wrong = "a spawn has a token of 32 characters", .help = "of the session"},
    {"adds", LAZ_FIELD_BOOLEAN, .flags = LAZ_FIELD_OMIT, AT(adds),
     .help = "its `init` has tools besides those of the template: it is ready after that"},
};

/* ---- the messages --------------------------------------------------------------------------- */

#define TO_HOST   LAZ_WIRE_TO_HOST
#define TO_AGENT  LAZ_WIRE_TO_AGENT
#define SIZE      sizeof(struct laz_message)
#define ALL(rows) (rows), COUNT(rows)
#define NONE      NULL, 0
#define ROW(name, to, in, when, rows, text)                                                        \
    {                                                                                              \
        name, to, in, when,                                                                        \
        {                                                                                          \
            "a message", "message '" name "'", SIZE, rows, .help = (text)                          \
        }                                                                                          \
    }

const struct laz_wire_row laz_wire_table[LAZ_MESSAGE_TYPES] = {
    [LAZ_MESSAGE_INIT] = ROW("init", TO_AGENT, LAZ_WIRE_STARTING, "once, after the token",
                             ALL(init_members), "Starts the agent."),
    [LAZ_MESSAGE_READY] = ROW("ready", TO_HOST, LAZ_WIRE_STARTING,
                              "once, after `init`; before it where that says `same` and has no "
                              "tools",
                              ALL(ready_members), "The agent has started."),
    [LAZ_MESSAGE_CHECK] = ROW("check", TO_AGENT, LAZ_WIRE_IDLE, "idle", ALL(check_members),
                              "Parses code and runs nothing; `result` or `error` answers it."),
    [LAZ_MESSAGE_EXECUTE] = ROW("execute", TO_AGENT, LAZ_WIRE_IDLE, "idle", ALL(execute_members),
                                "Runs code; `result` or `error` answers it."),
    [LAZ_MESSAGE_PUT] = ROW("put", TO_AGENT, LAZ_WIRE_IDLE, "idle", ALL(put_members),
                            "A part of a file for the code, which can read it and not write to it; "
                            "`result` or `error` answers it."),
    [LAZ_MESSAGE_REMOVE] = ROW("remove", TO_AGENT, LAZ_WIRE_IDLE, "idle", ALL(remove_members),
                               "Removes a file that was put, when the session goes on for somebody "
                               "else; `result` or `error` answers it."),
    [LAZ_MESSAGE_TOOL_CALL] = ROW("tool_call", TO_HOST, LAZ_WIRE_RUNNING | LAZ_WIRE_COMMANDS,
                                  "running; of commands at any time, by their own channel",
                                  ALL(tool_call_members), "Calls a tool of the host."),
    [LAZ_MESSAGE_REPLY] = {NULL,
                           TO_AGENT,
                           LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING | LAZ_WIRE_COMMANDS,
                           "running; to commands at any time",
                           {"a message", "a reply", SIZE, ALL(reply_members), .is_lenient = true,
                            .help = "Answers a call. It has no `type`; a reply that fits no open "
                                    "call is discarded."}},
    [LAZ_MESSAGE_PART] = ROW("part", TO_HOST, LAZ_WIRE_RUNNING | LAZ_WIRE_ENDING,
                             "running, when the code has ended and before `result` or `error`; "
                             "after `exit`",
                             ALL(part_members), "A part of what the execution has made, in bytes."),
    [LAZ_MESSAGE_RESULT] = ROW("result", TO_HOST, LAZ_WIRE_RUNNING | LAZ_WIRE_ENDING,
                               "running; after `exit`", ALL(result_members),
                               "The code has ended with a value, or, where it was the `last`, the "
                               "interpreter has ended."),
    [LAZ_MESSAGE_ERROR] = ROW("error", TO_HOST, LAZ_WIRE_RUNNING | LAZ_WIRE_STARTING,
                              "running, or before `ready` with kind `setup` or `preload`",
                              ALL(error_members), "The code, or the start, has failed."),
    [LAZ_MESSAGE_EXIT] = ROW("exit", TO_AGENT, LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING | LAZ_WIRE_TEMPLATE,
                             "after `ready`", NONE, "Ends the interpreter, and the agent."),
    [LAZ_MESSAGE_PREPARE] = ROW("prepare", TO_AGENT, LAZ_WIRE_TEMPLATE, "template", NONE,
                                "Comes with descriptors: a file for each control group of the next "
                                "session."),
    [LAZ_MESSAGE_SPAWN] = ROW("spawn", TO_AGENT, LAZ_WIRE_TEMPLATE, "template", ALL(spawn_members),
                              "Asks for a session; comes with its four descriptors."),
    [LAZ_MESSAGE_ANSWER] = {NULL,
                            TO_HOST,
                            LAZ_WIRE_TEMPLATE,
                            "template",
                            {"a message", "an answer", SIZE, ALL(answer_members),
                             .help = "Answers a `spawn`. It has no `type`."}},
};

const struct laz_wire_protocol laz_wire_agent = {laz_wire_table, LAZ_MESSAGE_TYPES};
