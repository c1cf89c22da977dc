/* SPDX-License-Identifier: MIT */
/* mcp_private.h - what reads and writes the JSON of MCP: raw members, texts, messages, schemas,
 * values.
 *
 * Everything here takes bytes of a server, which are hostile, or arguments of untrusted code, and
 * has no state.  tests/fuzz/fuzz_mcp_client.c runs it on any bytes. */
#ifndef LAZ_PLUGIN_MCP_PRIVATE_H
#define LAZ_PLUGIN_MCP_PRIVATE_H

#include <lazaret/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_MAX_TOOLS       1000               /* of one server, after the filters */
#define MCP_MAX_PAGES       100                /* of a list */
#define MCP_MAX_LIST        ((size_t)4 << 20)  /* bytes of all schemas that are kept */
#define MCP_MAX_TOOL        ((size_t)64 << 10) /* bytes of one tool in a list */
#define MCP_MAX_PARAMETERS  100                /* of lazaret */
#define MCP_MAX_NAME        128                /* of lazaret */
#define MCP_MAX_DESCRIPTION 4096               /* bytes of a tool's; of a parameter's a quarter */
#define MCP_MAX_ARGUMENTS   ((size_t)16 << 20) /* bytes of the arguments of a call, as plain JSON */
#define MCP_MAX_ERROR       4096               /* bytes of an error that code gets */

/* ---- json.c: text that was scanned ----------------------------------------------------------- */

/* The text of a value inside another text; NULL: absent. */
struct mcp_raw {
    const char *text;
    size_t len;
};

/* Finds members of an object by their names; those that are absent, or null, get NULL. False: the
 * text is not an object. */
bool mcp_members(const struct laz_json_api *json, struct mcp_raw object, const char *const *names,
                 struct mcp_raw *found, size_t n);
/* One member, or NULL. */
struct mcp_raw mcp_member(const struct laz_json_api *json, struct mcp_raw object, const char *name);
/* Calls back with each item of a list (`key` NULL) or member of an object, until `each` is false.
 * False: it is neither, or `each` was false. */
bool mcp_each(const struct laz_json_api *json, struct mcp_raw value,
              bool (*each)(void *user, const char *key, struct mcp_raw item), void *user);
/* The decoded string as a new text; NULL: it is not a string, or out of memory. */
char *mcp_string(const struct laz_json_api *json, struct mcp_raw value);
bool mcp_is_text(const struct laz_json_api *json, struct mcp_raw value, const char *text);
bool mcp_is_true(struct mcp_raw value);
/* A whole number; false: it is none, or not one of 18 digits. */
bool mcp_integer(struct mcp_raw value, int64_t *number);
/* The value with the members of each object in the order of their keys: two schemas with one
 * meaning are one text. A new text; NULL: out of memory, or nested too deeply. */
char *mcp_canonical(const struct laz_json_api *json, struct mcp_raw value);
/* In a text that was not scanned: replaces \u0000 and halves of surrogate pairs, which JSON allows
 * and lazaret does not, by \ufffd. */
void mcp_mend(char *text, size_t len);

void mcp_put_key(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key);
void mcp_put_text(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key,
                  const char *text);
void mcp_put_raw(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key,
                 struct mcp_raw value);
/* The text of a writer as a new one, and frees the writer; NULL: it has failed. */
char *mcp_take(const struct laz_json_api *json, struct laz_json_writer *writer, size_t *len);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* A new copy for people, terminals and models, of at most `most` bytes: without control characters,
 * without characters that have no picture (marks of direction, tags), and with "..." where it was
 * cut. `lines`: newlines stay. NULL: out of memory. */
char *mcp_clean(const char *text, size_t len, size_t most, bool lines);
/* A new text; NULL: out of memory. */
char *mcp_format(const char *format, ...) LAZ_PRINTF(1, 2);
/* Overwrites a text that may have a secret; NULL is allowed. */
void mcp_wipe(char *text);
/* A new name that lazaret takes, of one of a server: all but letters, digits, '_', '.' and '-'
 * becomes '_'. NULL: out of memory. */
char *mcp_legal(const char *name, size_t most);
/* Would a language write both names alike? They differ in more than '_', '.' and '-'. */
bool mcp_alike(const char *a, const char *b);
/* Does the name match a pattern with '*' and '?'? */
bool mcp_matches(const char *pattern, const char *name);

/* ---- message.c ------------------------------------------------------------------------------- */

enum mcp_kind {
    MCP_RESULT,
    MCP_ERROR,
    MCP_REQUEST,
    MCP_NOTICE,
};

/* A message of a server; points into its text. */
struct mcp_incoming {
    enum mcp_kind kind;
    bool has_id; /* `id` is a whole number, as those of our requests */
    int64_t id;
    struct mcp_raw id_text; /* of a request of the server: as it came */
    char method[64];        /* cut off if it is longer; "" where there is none */
    struct mcp_raw params;
    struct mcp_raw result;
    int64_t code; /* of an error */
    struct mcp_raw data;
    char *error; /* its text, cleaned; new */
};

/* Reads a message; `text` is mended. Errors: LAZ_EPARSE with what is wrong, LAZ_ENOMEM. */
int mcp_incoming_read(const struct laz_json_api *json, char *text, size_t len,
                      struct mcp_incoming *message, struct laz_error *err);
void mcp_incoming_fini(struct mcp_incoming *message);

/* ---- glance.c -------------------------------------------------------------------------------- */

/* What is seen of a message that is not read; starts zeroed. */
struct mcp_glance {
    size_t depth;
    bool in_string, is_escaped;
    bool is_name; /* of the message: the name of a member comes, or is there */
    bool in_id;   /* its value comes, or is there */
    bool has_method, is_over;
    unsigned ids;  /* members with this name; 2: more than one */
    char text[24]; /* of the name, or of the value of `id` */
    size_t n;      /* of these; one more: it is longer */
    int64_t id;
};

/* Follows the next piece of a message. */
void mcp_glance_add(struct mcp_glance *glance, const char *data, size_t len);
/* The request that it answers; 0: none, or it cannot be told. */
int64_t mcp_glance_id(const struct mcp_glance *glance);

/* ---- stream.c -------------------------------------------------------------------------------- */

/* What has arrived in pieces, as far as it was not taken; starts zeroed. */
struct mcp_stream {
    char *data; /* from `at` on: what was not taken, with a NUL behind it */
    size_t at, len, room;
    size_t seen;  /* no line or event ends before this byte */
    size_t moved; /* bytes that were moved, for a test */
};

/* Appends what has arrived. False: out of memory. */
bool mcp_stream_add(struct mcp_stream *stream, const char *data, size_t n);
/* Takes the next whole event: returns its bytes in the stream, and its data as a new text in *event
 * (NULL: out of memory). 0: there is none. */
size_t mcp_stream_event(struct mcp_stream *stream, char **event, size_t *len);
/* Takes the next line, borrowed until something is appended, or of one without an end `most` bytes,
 * as soon as there are so many. Returns the bytes that it took; 0: there is none. */
size_t mcp_stream_line(struct mcp_stream *stream, size_t most, const char **line, size_t *len);
void mcp_stream_fini(struct mcp_stream *stream);

/* ---- schema.c -------------------------------------------------------------------------------- */

/* A tool of a server, as it is declared. */
struct mcp_tool {
    char *remote; /* its name there */
    char *name;   /* its name here */
    char *description;
    char *parameters, *returns;   /* of struct laz_tool */
    char *schema;                 /* its inputSchema, canonical */
    char **remote_names, **names; /* of its parameters, there and here */
    size_t n_names;
    bool is_whole;                  /* one parameter, `arguments`, has all of them as an object */
    bool has_output;                /* it has an outputSchema */
    bool has_vanished, has_changed; /* since it was declared */
};

/* Reads a tool of a list. `prefix`: before its name. Errors: LAZ_EINVAL with what is wrong,
 * LAZ_ENOMEM; *tool is empty then. */
int mcp_tool_read(const struct laz_json_api *json, struct mcp_raw text, const char *prefix,
                  struct mcp_tool *tool, struct laz_error *err);
void mcp_tool_fini(struct mcp_tool *tool);

/* ---- arguments.c ----------------------------------------------------------------------------- */

/* Writes the arguments of a call (an object of lazaret) as the object that the server gets. Errors:
 * LAZ_EINVAL: JSON cannot say a value, a tagged form is malformed, a key is repeated, it would have
 * more than MCP_MAX_ARGUMENTS bytes; LAZ_ENOMEM. */
int mcp_write_arguments(const struct laz_json_api *json, const struct mcp_tool *tool,
                        const char *args, size_t len, struct laz_json_writer *writer,
                        struct laz_error *err);

/* ---- value.c --------------------------------------------------------------------------------- */

/* Takes a picture: its name as an artifact, borrowed; NULL: it is none. */
struct mcp_album {
    const char *(*take)(void *user, const char *suffix, const void *data, size_t len);
    void *user;
};

/* Makes the value of a CallToolResult as a new JSON text in *value, or the text of the error that
 * it reports in *error. Pictures go into the album, too. Errors: LAZ_EPARSE: it is none;
 * LAZ_ENOMEM. */
int mcp_read_result(const struct laz_json_api *json, const struct mcp_tool *tool,
                    struct mcp_raw result, struct mcp_album album, char **value, size_t *len,
                    char **error, struct laz_error *err);

#endif
