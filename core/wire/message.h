/* SPDX-License-Identifier: MIT */
/* message.h - the messages of host and agent, taken apart and made.
 * Side: host and agent.  Input trusted: no on the host's side, yes on the agent's.
 *
 * core/wire/table.c has a row for each message; this is the struct that the rows describe, and the
 * functions that read a line into it and make a line of it. */
#ifndef LAZ_WIRE_MESSAGE_H
#define LAZ_WIRE_MESSAGE_H

#include "base/json_fields.h"

#define LAZ_PROTOCOL 1

/* What an agent may have open: calls of tools, and bytes of their arguments unless it is one call.
 * More is a breach of the protocol. */
#define LAZ_OPEN_CALLS 1024
#define LAZ_OPEN_BYTES ((size_t)16 << 20)
/* And what its commands may have open besides, with as many bytes. */
#define LAZ_OPEN_COMMANDS 128

/* In the order of a session, which is that of the page. */
enum laz_message_type {
    LAZ_MESSAGE_INIT,
    LAZ_MESSAGE_READY,
    LAZ_MESSAGE_CHECK,
    LAZ_MESSAGE_EXECUTE,
    LAZ_MESSAGE_PUT,
    LAZ_MESSAGE_REMOVE,
    LAZ_MESSAGE_TOOL_CALL,
    LAZ_MESSAGE_REPLY, /* to a tool call; has no "type" */
    LAZ_MESSAGE_PART,
    LAZ_MESSAGE_RESULT,
    LAZ_MESSAGE_ERROR,
    LAZ_MESSAGE_EXIT,
    LAZ_MESSAGE_PREPARE,
    LAZ_MESSAGE_SPAWN,
    LAZ_MESSAGE_ANSWER, /* of a template to a spawn; has no "type" */
    LAZ_MESSAGE_TYPES,
};

/* States of the connection, as its reader knows them; bits, for the table. */
#define LAZ_WIRE_STARTING 1u /* from the token to `ready` */
#define LAZ_WIRE_IDLE     2u
#define LAZ_WIRE_RUNNING  4u  /* an execution or a check is under way */
#define LAZ_WIRE_TEMPLATE 8u  /* a template that is ready */
#define LAZ_WIRE_ENDING   16u /* after `exit`: the last execution asked for what follows */
#define LAZ_WIRE_COMMANDS 32u /* the channel of commands, from its beginning to its end */

/* ---- a protocol as data ---------------------------------------------------------------------- */

enum laz_wire_direction {
    LAZ_WIRE_TO_HOST, /* of the agent */
    LAZ_WIRE_TO_AGENT,
    LAZ_WIRE_TO_SERVER, /* of a client of `lazaret serve` (core/serve) */
    LAZ_WIRE_TO_CLIENT,
};

/* A message: its members are those of a struct of the protocol. */
struct laz_wire_row {
    const char *type; /* NULL: it has none, and is known by that */
    enum laz_wire_direction direction;
    uint32_t states;   /* in which it is legal */
    const char *legal; /* the same in words */
    struct laz_fields object;
};

struct laz_wire_protocol {
    const struct laz_wire_row *rows; /* by type */
    unsigned n;
};

/* Checks a line and takes it apart: it is JSON (laz_json_scan, unless `is_trusted`), has a type of
 * the protocol that is legal in this direction and state, and members of the right kinds. Unknown
 * members are ignored, up to LAZ_FIELDS_MOST in all. *type: the row, also where its members are
 * wrong; n of the protocol: none. The line must outlive what is read into `out` (zeroed by the
 * caller), which laz_fields_free frees, of row *type, in any case. Errors: LAZ_EPROTO with a
 * sentence, LAZ_ENOMEM.
 */
int laz_wire_parse(const struct laz_wire_protocol *protocol, enum laz_wire_direction direction,
                   uint32_t state, bool is_trusted, const char *line, size_t len, void *out,
                   unsigned *type, struct laz_error *err);
/* Appends the line of a message, newline included. `hole`: as in laz_fields_add_members. */
void laz_wire_make(const struct laz_wire_row *row, const void *from, struct laz_buf *line,
                   size_t *hole);

/* ---- objects inside of messages ------------------------------------------------------------- */

/* `init.options` */
struct laz_wire_options {
    const char *runtime_file;
    struct laz_strv libraries;
    int64_t max_message, max_value, max_files, max_parts;
    const char *options; /* JSON */
    size_t options_len;
    struct laz_strv preload; /* this and what follows: of a template */
    const char *home, *commands;
    int64_t tmp_size;
    bool has_groups;
    bool has_network;
};

/* `init.confine` */
struct laz_wire_rule { /* of Landlock */
    const char *rights, *path;
    bool is_optional;
};

struct laz_wire_landlock {
    int64_t abi;
    bool lets_network;
    struct laz_field_list rules; /* struct laz_wire_rule */
};

struct laz_wire_confine {
    struct laz_field_numbers limits;
    bool has_limits, has_landlock;
    const char *filter; /* NULL: none */
    struct laz_wire_landlock landlock;
    struct laz_strv required;
};

/* `init.tools` */
struct laz_wire_parameter {
    const char *name, *spelling, *type, *type_name, *format, *description;
    const char *default_value, *enumeration; /* JSON */
    size_t default_len, enumeration_len;
    bool is_required;
};

struct laz_wire_tool {
    const char *name, *spelling, *command, *description, *returns;
    struct laz_field_list parameters; /* struct laz_wire_parameter */
    bool approve, may_approve, native;
};

/* The end of a session of a template, on its status descriptor. bubblewrap writes such objects,
 * too, with the last two members and the exit code. */
struct laz_wire_status {
    int64_t exit_code, signal, pid_namespace, child_pid;
    bool has_exit_code, has_signal, has_pid_namespace, has_child_pid;
};

/* What the documentation of such a tool says of approvals; NULL: its calls need none. Patterns are
 * not said: code could keep clear of them. */
const char *laz_wire_approvals(bool approve, bool may_approve);

/* Their tables, for json_fields.h. */
extern const struct laz_fields laz_wire_options, laz_wire_confine, laz_wire_landlock, laz_wire_rule,
    laz_wire_tool, laz_wire_parameter, laz_wire_status;

/* The result of a reader of fields, with a sentence about an object or a message that was refused:
 * LAZ_EPROTO, LAZ_ENOMEM. */
int laz_wire_result(int rc, const struct laz_fields_problem *wrong, struct laz_error *err);
/* laz_fields_read and laz_fields_read_list with a sentence: LAZ_EPROTO, LAZ_ENOMEM. */
int laz_wire_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
                  struct laz_error *err);
int laz_wire_read_list(const struct laz_fields *fields, const char *raw, size_t len,
                       struct laz_field_list *list, struct laz_error *err);

/* ---- messages ------------------------------------------------------------------------------- */

/* A message of either direction. Which members are used depends on the type (table.c); absent ones
 * are NULL, 0 or false. Texts and lists of a message that was read belong to it; JSON and the token
 * point into the line. Those of a message to be made are borrowed. */
struct laz_message {
    enum laz_message_type type;
    bool has_id;
    int64_t id;
    const char *value, *args, *confine, *tools; /* JSON */
    size_t value_len, args_len, confine_len, tools_len;
    const char *tool, *kind, *message, *text, *runtime, *version, *cost, *error, *code, *token;
    const char *input;
    size_t message_len, text_len, error_len, code_len, token_len;
    int64_t protocol, line, column, status;
    bool has_status;
    bool visible, print, invisible, native, is_template, is_same, is_last, takes_cwd, adds;
    const char *omitted;
    struct laz_strv traceback;
    struct laz_strv confined; /* steps of its confinement that the agent reports as in force */
    struct laz_strv missing;  /* those that failed, each with its reason */
    struct laz_strv argv;
    const char *cwd, *directory;
    const char *of, *name, *data; /* of a part, and of a file that is put */
    size_t data_len;
    int64_t part;
    bool more;
    struct laz_strv left_out; /* why artifacts were not sent */
    struct laz_wire_options options;
};

/* The host's side: checks a line of the agent and takes it apart.  It is JSON (laz_json_scan), has
 * a type of the table that is legal in `state`, and members of the right kinds.  Unknown members
 * are ignored, up to LAZ_FIELDS_MOST in all.  The line must outlive *message; free it by
 * laz_message_fini in any case.  Errors: LAZ_EPROTO with a sentence, LAZ_ENOMEM. */
int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err);
/* The agent's side: the same for a line of the host.  In a session (LAZ_WIRE_IDLE,
 * LAZ_WIRE_RUNNING) it is not scanned: the host has checked what it sends, and a value may have
 * many megabytes. */
int laz_message_parse_host(const char *line, size_t len, uint32_t state,
                           struct laz_message *message, struct laz_error *err);
void laz_message_fini(struct laz_message *message); /* of a message that was read */
/* The id of a reply of which only the first bytes are there. */
bool laz_message_reply_id(const char *head, uint64_t *id);

/* Appends the line of a message, newline included. */
void laz_message_make(const struct laz_message *message, struct laz_buf *line);
/* The same for a message with a value or arguments that are sent from where they are: they are left
 * out. Returns the position in `line` at which they belong. */
size_t laz_message_make_around(const struct laz_message *message, struct laz_buf *line);

#endif
