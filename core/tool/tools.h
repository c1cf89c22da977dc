/* SPDX-License-Identifier: MIT */
/* tools.h - the tools that code may call: declaration, checking of arguments, stubs.
 * Side: host.  Input trusted: no (arguments come from the box). */
#ifndef LAZ_TOOL_TOOLS_H
#define LAZ_TOOL_TOOLS_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/tool.h>

#include <stdbool.h>

#define LAZ_TOOL_MAX_NAME       128 /* bytes of a name of a tool or parameter */
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
    uint32_t accepts; /* forms of values, for tool_arguments.c */
    char *type_name;  /* the author's word, for messages; "" when there is none */
    char *description;
    char *default_value; /* JSON or NULL */
    char *enumeration;   /* JSON list or NULL */
    bool required;
};

/* A declared tool. `call` and `owner` say who serves it; tools.c does not look at them. */
struct laz_tool_entry {
    char *name, *description;
    struct laz_tool_parameter *parameters;
    size_t n_parameters;
    uint32_t timeout_ms, max_concurrent;
    const void *owner; /* the provider instance, or the application's callback */
    size_t index;      /* in the owner's list */
};

struct laz_tool_set {
    struct laz_tool_entry *entries;
    size_t n;
};

/* Adds a tool; checks names, reserved words, duplicates and parameters (types, defaults and
 * enumerations that fit). `reserved` has an item "LANGUAGE:word" for each word that is no name in a
 * language ("python:if"); NULL: none. Two names that differ in dots and underscores only are
 * duplicates: most languages write a dot in a name as "_". On failure the set is as it was. Errors:
 * LAZ_EINVAL with a sentence naming tool and parameter, LAZ_ENOMEM. */
int laz_tool_set_add(struct laz_tool_set *set, const struct laz_tool *tool,
                     const struct laz_strv *reserved, const void *owner, size_t index,
                     struct laz_error *err);
void laz_tool_set_fini(struct laz_tool_set *set);
const struct laz_tool_entry *laz_tool_set_find(const struct laz_tool_set *set, const char *name,
                                               size_t len);
/* ^[A-Za-z.][A-Za-z0-9_.]*$ */
bool laz_tool_name_is_valid(const char *name, size_t len);

/* Checks a scanned JSON object (or "null": none) against the declaration and appends the object
 * the provider gets: declared order, defaults filled in, numbers of `integer` parameters without
 * a point. A null for an optional parameter is the same as leaving it out. Linear in `len`. Errors
 * (LAZ_EINVAL, for the code that called): "Unexpected arguments for tool 'add': 'evil'", "Tool
 * 'add': argument 'a' must be numeric, got string", "Tool 'add': argument 'b' is missing". */
int laz_tool_check_arguments(const struct laz_tool_entry *tool, const char *args, size_t len,
                             struct laz_buf *checked, struct laz_error *err);

/* JSON list for `init` and laz_session_tools. Appended. */
void laz_tool_set_json(const struct laz_tool_set *set, struct laz_buf *json);
/* For people (`format` "text"), or as stubs a model is shown ("r", "python", "lua", "javascript",
 * "json"). LAZ_EINVAL for another format. */
int laz_tool_set_format(const struct laz_tool_set *set, const char *format, struct laz_buf *text,
                        struct laz_error *err);

#endif
