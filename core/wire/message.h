/* SPDX-License-Identifier: MIT */
/* message.h - what an agent may say, and when: the message table.
 * Side: host.  Input trusted: no. */
#ifndef LAZ_WIRE_MESSAGE_H
#define LAZ_WIRE_MESSAGE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_PROTOCOL 1

/* Members that a message may have, those that nobody knows included. */
#define LAZ_MESSAGE_MEMBERS 64

/* What an agent may have open: calls of tools, and bytes of their arguments unless it is one call.
 * More is a breach of the protocol. */
#define LAZ_OPEN_CALLS 1024
#define LAZ_OPEN_BYTES ((size_t)16 << 20)

enum laz_message_type {
    LAZ_MESSAGE_READY,
    LAZ_MESSAGE_TOOL_CALL,
    LAZ_MESSAGE_RESULT,
    LAZ_MESSAGE_ERROR,
    LAZ_MESSAGE_ANSWER, /* of a template: it has no type, an id, and either value or error */
    LAZ_MESSAGE_TYPES,
};

/* States of a session as the wire sees them; bits, for the table. */
#define LAZ_WIRE_STARTING 1u /* init was sent */
#define LAZ_WIRE_IDLE     2u
#define LAZ_WIRE_RUNNING  4u /* an execution or a check is under way */
#define LAZ_WIRE_TEMPLATE 8u /* a template that is ready */

/* A message taken apart. Raw texts point into the line. Which members are there depends on the
 * type; absent ones are NULL, 0, false. */
struct laz_message {
    enum laz_message_type type;
    bool has_id;
    int64_t id;
    const char *value, *args; /* JSON */
    size_t value_len, args_len;
    char *tool, *kind, *message, *text, *runtime, *version, *cost, *error; /* decoded */
    size_t text_len;
    int64_t protocol, line, column, status;
    bool visible;
    struct laz_strv traceback;
    struct laz_strv confined; /* steps of its confinement that the agent says are in force */
    struct laz_strv missing;  /* those that failed, each with its reason */
};

/* Checks and takes apart one line: JSON (laz_json_scan), a type of the table, legal in `state`, its
 * members of the right types, those that must be there. Unknown members are passed over, up to
 * LAZ_MESSAGE_MEMBERS in all. The line
 * must outlive *message; free it by laz_message_fini in any case. Errors: LAZ_EPROTO with a
 * sentence, LAZ_ENOMEM. */
int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err);
void laz_message_fini(struct laz_message *message);

#endif
