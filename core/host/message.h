/* SPDX-License-Identifier: MIT */
/* message.h - the messages of the host protocol: `lazaret serve` and its clients.
 * Side: host.  Input trusted: no (a client may be hostile to others).
 *
 * message.c has a row for each message; this is the struct that the rows describe. */
#ifndef LAZ_HOST_MESSAGE_H
#define LAZ_HOST_MESSAGE_H

#include "wire/message.h"

#define SERVE_PROTOCOL 1

/* In the order of the page. */
enum serve_message_type {
    SERVE_HELLO,
    SERVE_TOOLS,
    SERVE_OPEN,
    SERVE_OPEN_POOL,
    SERVE_OPENED,
    SERVE_PUT,
    SERVE_EXECUTE,
    SERVE_OUTPUT,
    SERVE_PROGRESS,
    SERVE_TOOL_CALL,
    SERVE_APPROVAL,
    SERVE_ANSWER,
    SERVE_TOOL_CANCELLED,
    SERVE_ARTIFACT,
    SERVE_RESULT,
    SERVE_CANCEL,
    SERVE_INTERRUPT,
    SERVE_RESTART,
    SERVE_SET_NETWORK,
    SERVE_DESCRIBE,
    SERVE_DESCRIPTION,
    SERVE_SEARCH,
    SERVE_FOUND,
    SERVE_CLOSE,
    SERVE_DONE,
    SERVE_FAILED,
    SERVE_MESSAGE_TYPES,
};

/* A tool that a client registers. */
struct serve_tool {
    const char *name, *description;
    const char *parameters; /* JSON list */
    size_t parameters_len;
    const char *returns; /* JSON Schema */
    size_t returns_len;
    int64_t timeout_ms, max_concurrent;
    bool approve, native;
};

/* A file for the code of an `execute`. */
struct serve_given_file {
    const char *name, *data; /* base64 */
    size_t data_len;
};

/* A message of either direction; message.c says which members belong to which type. */
struct serve_message {
    int64_t call; /* at offset 0: for flags that says "none" (base/json_fields.h) */
    int64_t id, session, pool, request;
    bool has_id, has_session, has_pool, has_request;
    bool has_timeout_ms, has_deadline_ms, has_max_tool_calls, has_max_output_lines, has_wait_ms;
    bool has_max_code_length;
    bool warm, print, check, invisible, native, validate, output, approve, progress, artifacts,
        more, is_alive;
    int64_t protocol, max_line, max_sessions, members, dropped;
    int64_t wall_ms, cpu_ms, memory, tool_calls;
    int64_t timeout_ms, deadline_ms, max_tool_calls, max_output_lines, max_code_length;
    int64_t wait_ms, limit, part;
    const char *input;
    const char *traceparent, *tracestate;
    const char *version, *runtime, *stream, *tool, *name, *code, *message, *words;
    const char *source, *text, *error, *data; /* with their lengths */
    size_t source_len, text_len, error_len, data_len;
    struct laz_field_list files; /* struct serve_given_file */
    struct laz_strv argv;
    const char *value, *args, *result, *tools, *isolation, *status, *network,
        *credentials; /* JSON */
    size_t value_len, args_len, result_len, tools_len, isolation_len, status_len, network_len,
        credentials_len;
};

extern const struct laz_wire_protocol serve_protocol; /* by enum serve_message_type */
extern const struct laz_fields serve_tool_fields, serve_file_fields;

/* Appends the line of a message. */
void serve_message_make(enum serve_message_type type, const struct serve_message *message,
                        struct laz_buf *line);
/* Checks a line of a client and takes it apart. *type: SERVE_MESSAGE_TYPES where it is none. Free
 * by serve_message_fini in any case. Errors: LAZ_EPROTO with a sentence, LAZ_ENOMEM. */
int serve_message_parse(const char *line, size_t len, enum serve_message_type *type,
                        struct serve_message *message, struct laz_error *err);
/* The same of a line of the server; of messages that this version does not know *type says so. */
int serve_message_parse_answer(const char *line, size_t len, enum serve_message_type *type,
                               struct serve_message *message, struct laz_error *err);
void serve_message_fini(enum serve_message_type type, struct serve_message *message);

#endif
