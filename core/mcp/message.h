/* SPDX-License-Identifier: MIT */
/* message.h - what a client of MCP sends: the messages of JSON-RPC 2.0 and their parameters, as
 * structs. Private to this directory and its fuzz target.
 * Side: host.  Input trusted: no. */
#ifndef LAZ_MCP_MESSAGE_H
#define LAZ_MCP_MESSAGE_H

#include "base/error.h"
#include "base/json_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_ID 256 /* bytes of an id, or of a token of progress, as JSON */

/* Codes of errors. */
#define MCP_PARSE_ERROR    (-32700)
#define MCP_INVALID        (-32600)
#define MCP_NO_METHOD      (-32601)
#define MCP_INVALID_PARAMS (-32602)
#define MCP_INTERNAL       (-32603)
#define MCP_NO_RESOURCE    (-32002) /* of the era with a handshake; in the other it is -32602 */
#define MCP_NO_VERSION     (-32022)

enum mcp_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_ANSWER };

/* A message; texts of JSON point into its line. */
struct mcp_message {
    enum mcp_kind kind;
    char *id; /* as JSON, in one spelling for each value; NULL: it has none */
    const char *version, *method;
    const char *raw_id, *params, *result, *error;
    size_t raw_id_len, params_len, result_len, error_len;
};

/* The parameters of all methods; what a method needs, its handler asks for. */
struct mcp_params {
    const char *name, *uri, *cursor, *version, *state;
    const char *meta, *arguments, *capabilities, *responses, *request, *notifications;
    size_t meta_len, arguments_len, capabilities_len, responses_len, request_len, notifications_len;
};

/* `_meta` of them. */
struct mcp_meta {
    const char *version, *traceparent, *tracestate;
    const char *capabilities, *token;
    size_t capabilities_len, token_len;
};

/* The table of an object: its name in sentences, its struct, its members. */
#define MCP_FIELDS(title, type, rows)                                                              \
    .name = title, .size = sizeof(type), .items = rows, .n = sizeof(rows) / sizeof *(rows)

extern const struct laz_fields mcp_params_fields, mcp_meta_fields;

/* Reads a line. 0, or a code of an error with a sentence; message->id is there if the line has a
 * valid one. Free by mcp_message_fini in any case. */
int mcp_message_read(const char *line, size_t len, struct mcp_message *message,
                     struct laz_error *err);
void mcp_message_fini(struct mcp_message *message);
/* Reads an object, which was scanned, by its table, of which unknown members are refused if it is
 * closed. Errors: LAZ_EPROTO with a sentence, LAZ_ENOMEM; then there is nothing to free. */
int mcp_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
             struct laz_error *err);
/* An id, or a token of progress, in one spelling for each value, to be freed. NULL: it is not a
 * text and no integer, or too long; or out of memory. */
char *mcp_id_of(const char *raw, size_t len);
/* The versions of the protocol, the newest first; from MCP_LEGACY_FIRST on those of the era with a
 * handshake. */
#define MCP_N_VERSIONS   3
#define MCP_LEGACY_FIRST 1
extern const char *const mcp_versions[MCP_N_VERSIONS];
bool mcp_is_modern(const char *version);
bool mcp_is_version(const char *version); /* of either era */
/* Do these capabilities of a client, a scanned object, say that it can show a form to somebody? */
bool mcp_can_ask(const char *capabilities, size_t len);

#endif
