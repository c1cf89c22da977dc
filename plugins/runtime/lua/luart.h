/* SPDX-License-Identifier: MIT */
/* luart.h - the parts of the lua runtime. Names begin with luart_, because lua_ is the
 * interpreter's prefix. */
#ifndef LUART_H
#define LUART_H

#include <lazaret/runtime.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* A parameter and a tool, as copied from define_tools. */
enum luart_type {
    LUART_ANY,
    LUART_STRING,
    LUART_NUMBER,
    LUART_INTEGER,
    LUART_BOOLEAN,
    LUART_ARRAY,
    LUART_OBJECT,
};

struct luart_parameter {
    char *name;      /* as it was declared */
    char *spelling;  /* as code writes it */
    char *type_name; /* the type as the author wrote it */
    enum luart_type type;
    bool required;
};

struct luart_state;

struct luart_tool {
    struct luart_state *runtime;
    char *name;
    char *spelling; /* maybe a path of fields, "math.gcd" */
    struct luart_parameter *parameters;
    size_t n_parameters;
};

struct luart_state {
    lua_State *L;
    const struct laz_agent_services *services;
    const struct laz_json_api *json;
    struct laz_json_writer *value;  /* holds the last result */
    struct laz_json_writer *args;   /* holds the arguments of a tool call */
    struct laz_json_writer *probe;  /* checks whether a text can be a key */
    struct laz_json_reader *reader; /* reads a tool's result */
    struct luart_tool **tools;      /* functions of Lua point to them */
    size_t n_tools;
    const struct laz_tool_signature *signatures; /* of the last ones, while they are defined */
    size_t n_signatures;
    const char **traceback; /* the strings are on the stack of L */
    char *chunk;            /* the code's name for the interpreter: "=code", or that of its file */
    bool is_script;         /* the code that comes next is that of the file */
    char prefix[LUA_IDSIZE + 1]; /* of messages of the interpreter about the code: "code:" */
    FILE *error_output;          /* that of io.stderr; NULL: the C library's own */
    char *options;               /* JSON text given to create */
    size_t options_len;
    lua_State *running; /* the coroutine that runs, or L */
    volatile sig_atomic_t is_interrupted;
};

/* ---- lua_interrupt.c ------------------------------------------------------------------------ */

/* In a signal handler: the code gets an error at its next instruction. */
void luart_interrupt(void *state);
/* What is pending is not any more. */
void luart_forget_interrupt(struct luart_state *st);
/* Makes the functions of `coroutine` that start one note which one runs. May raise. */
void luart_follow_coroutines(struct luart_state *st, lua_State *L);

/* ---- lua_value.c ---------------------------------------------------------------------------- */

/* Values of a result may be anything; those of arguments must be able to leave the runtime. */
enum luart_purpose { LUART_RESULT, LUART_ARGUMENT };

/* Makes the metatables, and the table of the names `null` and `lazaret`, which code finds as it
 * finds tools, and may use for globals of its own. May raise. */
void luart_value_open(lua_State *L);
void luart_push_names(lua_State *L);
/* Is it a table whose text would be an address? What is in it says more. */
bool luart_is_bare_table(lua_State *L, int index);
/* Writes the value at `index`. Raises an error that begins with `what` for one that cannot be
 * written. `type` decides what an empty table is. May raise out of memory. */
void luart_write(struct luart_state *st, lua_State *L, int index, struct laz_json_writer *writer,
                 enum luart_purpose purpose, enum luart_type type, const char *what);
/* Pushes the value of a JSON text. May raise. */
void luart_push_json(struct luart_state *st, lua_State *L, const char *json, size_t len);
bool luart_is_null(lua_State *L, int index);
void luart_push_null(lua_State *L);
void luart_mark_array(lua_State *L); /* marks the table on top, as lazaret.array does */
/* Can the table be written as a JSON array (object)? */
bool luart_fits_array(struct luart_state *st, lua_State *L, int index);
bool luart_fits_object(struct luart_state *st, lua_State *L, int index);

/* ---- lua_tools.c ---------------------------------------------------------------------------- */

int luart_tools_define(struct luart_state *st, const struct laz_tool_signature *tools, size_t n,
                       struct laz_error *err);
void luart_tools_free(struct luart_state *st);
/* The value at `index` as a tool: the tool itself or its name; NULL: neither. */
const struct luart_tool *luart_tool_of(struct luart_state *st, lua_State *L, int index);
/* Checks the values on the stack as the arguments of a call and returns them as JSON text, valid
 * until the next use of st->args. Raises. */
const char *luart_tool_arguments(const struct luart_tool *tool, lua_State *L, size_t *len);

/* Adds to a message of the interpreter that a variable is nil which tools are called so, as they
 * are declared or as another language writes them. */
void luart_tool_meant(const struct luart_state *st, const char *message, luaL_Buffer *text);

/* ---- lua_map.c ------------------------------------------------------------------------------ */

/* tool_map(tool, list); upvalue: the state. */
int luart_tool_map(lua_State *L);

/* ---- lua_os.c ------------------------------------------------------------------------------- */

/* Makes functions of `os` ours. May raise. */
void luart_os_open(struct luart_state *st, lua_State *L);

#endif
