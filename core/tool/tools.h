/* SPDX-License-Identifier: MIT */
/* tools.h - the tools that code may call: declaration, check of arguments, stubs.
 * Side: host.  Input trusted: no (arguments come from the sandbox). */
#ifndef LAZ_TOOL_TOOLS_H
#define LAZ_TOOL_TOOLS_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/tool.h>

#include <stdbool.h>

#define LAZ_TOOL_MAX_NAME       128 /* bytes of the name of a tool or parameter */
#define LAZ_TOOL_MAX_PARAMETERS 100

enum laz_type {
    LAZ_TYPE_ANY,
    LAZ_TYPE_STRING,
    LAZ_TYPE_NUMBER,
    LAZ_TYPE_INTEGER,
    LAZ_TYPE_BOOLEAN,
    LAZ_TYPE_ARRAY,
    LAZ_TYPE_OBJECT,
};

struct laz_tool_parameter {
    char *name;
    enum laz_type type;
    uint32_t accepts; /* forms of values; see struct laz_type_word */
    char *type_name;  /* as declared, for messages; "" if no type was declared */
    char *description;
    char *default_value; /* JSON, or NULL */
    char *enumeration;   /* JSON list, or NULL */
    bool required;
};

/* A declared tool. `owner` and `index` are for the caller of laz_tool_set_add. */
struct laz_tool_entry {
    char *name, *description;
    struct laz_tool_parameter *parameters;
    size_t n_parameters;
    uint32_t timeout_ms, max_concurrent; /* 0: no limit */
    const void *owner;                   /* the provider instance, or the struct laz_app_tool */
    size_t index;                        /* in the owner's list */
};

struct laz_language;

struct laz_tool_set {
    struct laz_tool_entry *entries;
    size_t n;
};

/* Adds a tool (copied) after checking names, reserved words, duplicates and parameters (types,
 * defaults and enumerations that fit). `reserved` has an item "LANGUAGE:word" for each word that
 * cannot be a name in a language ("python:if"); NULL: none. Names that differ in dots and
 * underscores only are duplicates: most languages replace a dot in a name by "_". On failure the
 * set is unchanged. Errors: LAZ_EINVAL with a sentence that names tool and parameter, LAZ_ENOMEM.
 */
int laz_tool_set_add(struct laz_tool_set *set, const struct laz_tool *tool,
                     const struct laz_strv *reserved, const void *owner, size_t index,
                     struct laz_error *err);
void laz_tool_set_fini(struct laz_tool_set *set);
/* The tool with this name (`len` bytes), or NULL. Borrowed until the set changes. */
const struct laz_tool_entry *laz_tool_set_find(const struct laz_tool_set *set, const char *name,
                                               size_t len);
/* ^[A-Za-z.][A-Za-z0-9_.]*$ */
bool laz_tool_name_is_valid(const char *name, size_t len);

/* Checks a scanned JSON object (or "null": no arguments) of `len` bytes against the declaration,
 * and appends to `checked` the object that the provider gets: in the declared order, with defaults,
 * and numbers of `integer` parameters without a point. A null for an optional parameter is the same
 * as omitting it. Takes time linear in `len`. LAZ_ENOMEM, or LAZ_EINVAL with a text for the code
 * that called: "Unexpected arguments for tool 'add': 'evil'", "Tool 'add': argument 'a' must be
 * numeric, got string", "Tool 'add': argument 'b' is missing". */
int laz_tool_check_arguments(const struct laz_tool_entry *tool, const char *args, size_t len,
                             struct laz_buf *checked, struct laz_error *err);

/* Appends the tools as a JSON list, for the message `init` and laz_session_tools. */
void laz_tool_set_json(const struct laz_tool_set *set, struct laz_buf *json);
/* Appends the tools as text for people (`format` "text"), as "json", or as stubs to show to a
 * model, in `language`, which has the name of the format. LAZ_EINVAL: `language` is NULL or has no
 * stubs, and the format is another one. LAZ_ENOMEM. */
int laz_tool_set_format(const struct laz_tool_set *set, const char *format,
                        const struct laz_language *language, struct laz_buf *text,
                        struct laz_error *err);

#endif
