/* SPDX-License-Identifier: MIT */
/* lua_tools.c - the host's tools as functions of Lua.
 *
 * The tools are not in _G itself but behind its metatable: reading an undefined global finds them,
 * and assigning to their name is an error that names the tool. So accidental assignments are caught
 * and ordinary globals stay fast. (Code can bypass this with rawset; the host checks every call
 * anyway.) Code sees no metatable of _G, as in plain Lua; where it sets one, the tools move into
 * _G. A tool whose name has dots is a field: my.tool. The table is one of Lua's own, or is made and
 * guarded in the same way. _G finds a tool by its declared name, too. */
#include "luart.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum luart_type type;
} tools_types[] = {
    {"string", LUART_STRING},   {"number", LUART_NUMBER}, {"integer", LUART_INTEGER},
    {"boolean", LUART_BOOLEAN}, {"array", LUART_ARRAY},   {"object", LUART_OBJECT},
};

/* ---- calling -------------------------------------------------------------------------------- */

static const struct luart_parameter *tools_parameter(const struct luart_tool *tool,
                                                     const char *name)
{
    for (size_t i = 0; i < tool->n_parameters; i++)
        if (strcmp(tool->parameters[i].spelling, name) == 0 ||
            strcmp(tool->parameters[i].name, name) == 0)
            return &tool->parameters[i];
    return NULL;
}

/* Pushes the member of the table at index 1 that is meant for the parameter, or nil. */
static void tools_push_named(const struct luart_parameter *parameter, lua_State *L)
{
    lua_pushstring(L, parameter->spelling);
    if (lua_rawget(L, 1) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    lua_pushstring(L, parameter->name);
    lua_rawget(L, 1);
}

/* Are the arguments one table of named arguments? Yes when all its keys are strings and the first
 * parameter cannot be that table. If it can (object, anything), only when all keys are names of
 * parameters and the first parameter is among them. */
static bool tools_is_named(struct luart_state *st, const struct luart_tool *tool, lua_State *L)
{
    bool all_known = true, any = false;

    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        return false;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        any = true;
        if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pop(L, 2);
            return false;
        }
        all_known = all_known && tools_parameter(tool, lua_tostring(L, -2));
    }
    if (!tool->n_parameters)
        return true;
    if (!any)
        return !luart_fits_array(st, L, 1) || tool->parameters[0].type == LUART_STRING ||
               tool->parameters[0].type == LUART_NUMBER ||
               tool->parameters[0].type == LUART_INTEGER ||
               tool->parameters[0].type == LUART_BOOLEAN;
    if (tool->parameters[0].type != LUART_ANY && tool->parameters[0].type != LUART_OBJECT)
        return true;
    tools_push_named(&tool->parameters[0], L);
    bool has_first = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return all_known && has_first;
}

/* Pushes one value for each parameter from index `first` on, nil where none is given. */
static void tools_take_named(const struct luart_tool *tool, lua_State *L)
{
    int unexpected = 0;
    luaL_Buffer names;

    luaL_checkstack(L, (int)tool->n_parameters + 8, NULL);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
        unexpected += !tools_parameter(tool, lua_tostring(L, -2));
    if (unexpected) {
        int seen = 0;
        lua_newtable(L);
        for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
            if (!tools_parameter(tool, lua_tostring(L, -2))) {
                lua_pushfstring(L, "'%s'", lua_tostring(L, -2));
                lua_rawseti(L, 2, ++seen);
            }
        luaL_buffinit(L, &names);
        for (int i = 1; i <= seen; i++) {
            luaL_addstring(&names, i > 1 ? ", " : "");
            lua_rawgeti(L, 2, i);
            luaL_addvalue(&names);
        }
        luaL_pushresult(&names);
        luaL_error(L, "Unexpected arguments for tool '%s': %s", tool->name, lua_tostring(L, -1));
    }
    for (size_t i = 0; i < tool->n_parameters; i++)
        tools_push_named(&tool->parameters[i], L);
    lua_remove(L, 1);
}

static void tools_take_positional(const struct luart_tool *tool, lua_State *L)
{
    int n = lua_gettop(L);

    if ((size_t)n > tool->n_parameters)
        luaL_error(L, "Tool '%s' takes %d argument%s, got %d", tool->name, (int)tool->n_parameters,
                   tool->n_parameters == 1 ? "" : "s", n);
    luaL_checkstack(L, (int)tool->n_parameters + 8, NULL);
    lua_settop(L, (int)tool->n_parameters);
}

static bool tools_fits(struct luart_state *st, lua_State *L, int index, enum luart_type type)
{
    int is_whole;

    switch (type) {
    case LUART_ANY:
        return true;
    case LUART_STRING:
        return lua_type(L, index) == LUA_TSTRING;
    case LUART_NUMBER:
        return lua_type(L, index) == LUA_TNUMBER;
    case LUART_INTEGER:
        if (lua_type(L, index) != LUA_TNUMBER)
            return false;
        lua_tointegerx(L, index, &is_whole);
        return is_whole;
    case LUART_BOOLEAN:
        return lua_isboolean(L, index);
    case LUART_ARRAY:
        return lua_istable(L, index) && luart_fits_array(st, L, index);
    case LUART_OBJECT:
        return lua_istable(L, index) && luart_fits_object(st, L, index);
    }
    return false;
}

static void tools_check(struct luart_state *st, const struct luart_tool *tool, lua_State *L)
{
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct luart_parameter *p = &tool->parameters[i];
        int index = (int)i + 1;
        if (luart_is_null(L, index) && !p->required) {
            lua_pushnil(L); /* for an optional parameter null means absent */
            lua_replace(L, index);
        }
        if (lua_isnil(L, index)) {
            if (p->required)
                luaL_error(L, "Tool '%s': argument '%s' is missing", tool->name, p->name);
        } else if (!tools_fits(st, L, index, p->type)) {
            luaL_error(L, "Tool '%s': argument '%s' must be %s, got %s", tool->name, p->name,
                       p->type_name, luart_is_null(L, index) ? "null" : luaL_typename(L, index));
        }
    }
}

static void tools_write(struct luart_state *st, const struct luart_tool *tool, lua_State *L)
{
    const struct laz_json_api *json = st->json;

    json->writer_reset(st->args);
    json->object_begin(st->args);
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct luart_parameter *p = &tool->parameters[i];
        if (lua_isnil(L, (int)i + 1))
            continue; /* the host fills in the default */
        const char *what = lua_pushfstring(L, "Tool '%s': argument '%s'", tool->name, p->name);
        json->key(st->args, p->name, strlen(p->name));
        luart_write(st, L, (int)i + 1, st->args, LUART_ARGUMENT, p->type, what);
        lua_pop(L, 1);
    }
    json->object_end(st->args);
}

const char *luart_tool_arguments(const struct luart_tool *tool, lua_State *L, size_t *len)
{
    struct luart_state *st = tool->runtime;
    bool too_large = false;

    if (tools_is_named(st, tool, L))
        tools_take_named(tool, L);
    else
        tools_take_positional(tool, L);
    tools_check(st, tool, L);
    tools_write(st, tool, L);
    const char *args = st->json->writer_text(st->args, len, &too_large);
    if (!args && too_large)
        luaL_error(L, "Tool '%s': the arguments exceed max_message_size (%I bytes)", tool->name,
                   (LUAI_UACINT)st->services->max_message);
    if (!args)
        luaL_error(L, "not enough memory");
    return args;
}

static int tools_call(lua_State *L)
{
    const struct luart_tool *tool = lua_touserdata(L, lua_upvalueindex(1));
    struct luart_state *st = tool->runtime;
    const char *value, *error;
    size_t args_len, value_len;

    const char *args = luart_tool_arguments(tool, L, &args_len);
    fflush(stdout);
    int rc = st->services->call_tool(st->services->agent, tool->name, args, args_len, &value,
                                     &value_len, &error);
    if (rc)
        return luaL_error(L, "%s", rc == LAZ_ENOMEM ? "not enough memory" : error);
    lua_settop(L, 0);
    luart_push_json(st, L, value, value_len);
    return 1;
}

const struct luart_tool *luart_tool_of(struct luart_state *st, lua_State *L, int index)
{
    const struct luart_tool *tool = NULL;

    if (lua_tocfunction(L, index) == tools_call && lua_getupvalue(L, index, 1)) {
        tool = lua_touserdata(L, -1);
        lua_pop(L, 1);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        for (size_t i = 0; i < st->n_tools && !tool; i++)
            if (strcmp(st->tools[i]->spelling, lua_tostring(L, index)) == 0)
                tool = st->tools[i];
        for (size_t i = 0; i < st->n_tools && !tool; i++)
            if (strcmp(st->tools[i]->name, lua_tostring(L, index)) == 0)
                tool = st->tools[i];
    }
    return tool;
}

/* ---- a name that is not there --------------------------------------------------------------- */

/* Are they the same but for the case of letters and what is neither a letter nor a digit? */
static bool tools_is_alike(const char *a, size_t len, const char *b)
{
    const char *end = a + len;

    for (;;) {
        while (a < end && !isalnum((unsigned char)*a))
            a++;
        while (*b && !isalnum((unsigned char)*b))
            b++;
        if (a == end || !*b)
            return a == end && !*b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
            return false;
    }
}

static bool tools_begins(const struct luart_tool *tool, const char *name, size_t len)
{
    return strncmp(tool->name, name, len) == 0 &&
           (tool->name[len] == '.' || tool->name[len] == '-');
}

/* "attempt to call a nil value (global 'get-user')": the name at *len bytes, or NULL. */
static const char *tools_missing(const char *message, size_t *len)
{
    static const char *const kinds[] = {"(global '", "(field '", "(local '", "(upvalue '"};
    const char *name = NULL;

    for (size_t i = 0; !name && i < sizeof kinds / sizeof *kinds; i++) {
        name = strstr(message, kinds[i]);
        name = name ? name + strlen(kinds[i]) : NULL;
    }
    *len = name ? strcspn(name, "'") : 0;
    return *len && strstr(message, "a nil value") ? name : NULL;
}

void luart_tool_meant(const struct luart_state *st, const char *message, luaL_Buffer *text)
{
    size_t len, n = 0;
    const char *name = tools_missing(message, &len);

    for (int pass = 0; name && !n && pass < 2; pass++)
        for (size_t i = 0; i < st->n_tools && n < 4; i++) {
            const struct luart_tool *tool = st->tools[i];
            const bool is_it =
                strncmp(tool->spelling, name, len) == 0 && !tool->spelling[len]; /* of a table */
            if (is_it || (pass ? !tools_begins(tool, name, len)
                               : !tools_is_alike(name, len, tool->name) &&
                                     !tools_is_alike(name, len, tool->spelling)))
                continue;
            luaL_addstring(text, n == 0 ? "; here it is " : n < 3 ? " or " : ", ...");
            luaL_addstring(text, n++ < 3 ? tool->spelling : "");
        }
}

/* ---- defining ------------------------------------------------------------------------------- */

/* upvalues: the tools by name, the name of the table ("" or "my.") */
static int tools_refuse(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return luaL_error(L, "'%s%s' is a tool of the host and cannot be replaced",
                          lua_tostring(L, lua_upvalueindex(2)), lua_tostring(L, 2));
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

/* Gives the table on top a metatable that looks tools up in the table below it. */
static void tools_guard(lua_State *L, const char *prefix)
{
    int guarded = lua_gettop(L), tools = guarded - 1;

    lua_createtable(L, 0, 3);
    lua_pushvalue(L, tools);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, tools);
    lua_pushstring(L, prefix);
    lua_pushcclosure(L, tools_refuse, 2);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "the tools of the host");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, guarded);
}

static bool tools_is_taken(lua_State *L, const char *name)
{
    const int top = lua_gettop(L);

    lua_pushglobaltable(L);
    lua_pushstring(L, name);
    bool taken = lua_rawget(L, -2) != LUA_TNIL;
    luart_push_names(L);
    lua_pushstring(L, name);
    taken |= lua_rawget(L, -2) != LUA_TNIL;
    lua_settop(L, top);
    return taken;
}

static void tools_refuse_name(lua_State *L, const char *name)
{
    luaL_error(L,
               "a tool cannot be called '%s' in Lua: the language has a global of that name; "
               "rename the tool",
               name);
}

/* Pushes a table for tools below the field `name` of the table at index `at`: a guarded one is made
 * there if there is none. `prefix`: of the tools in it, "my.". */
static void tools_push_field(lua_State *L, int at, const char *name, const char *prefix)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, at) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L); /* the tools in it */
        lua_newtable(L); /* what code sees */
        tools_guard(L, prefix);
        lua_setfield(L, at, name);
        return;
    }
    if (luaL_getmetafield(L, -1, "__index") == LUA_TTABLE)
        lua_remove(L, -2);
}

/* Puts the function on top at the path `spelling`, below the tools or a table of Lua, and pops
 * it. */
static void tools_place(lua_State *L, const char *spelling)
{
    const int function = lua_gettop(L);
    const char *dot = strchr(spelling, '.'), *name = spelling;

    lua_pushvalue(L, 2);
    if (dot) { /* a table of Lua's own ("math") has the tool as one more field */
        lua_pushglobaltable(L);
        lua_pushlstring(L, name, (size_t)(dot - name));
        int found = lua_rawget(L, -2);
        if (found != LUA_TNIL && found != LUA_TTABLE)
            tools_refuse_name(L, spelling);
        if (found == LUA_TTABLE) {
            name = dot + 1;
            dot = strchr(name, '.');
        } else {
            lua_pop(L, 2);
        }
    } else if (tools_is_taken(L, spelling)) {
        tools_refuse_name(L, spelling);
    }
    for (; dot; name = dot + 1, dot = strchr(name, '.')) {
        const int at = lua_gettop(L);
        lua_pushlstring(L, name, (size_t)(dot - name));
        lua_pushlstring(L, spelling, (size_t)(dot - spelling) + 1);
        tools_push_field(L, at, lua_tostring(L, -2), lua_tostring(L, -1));
    }
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) != LUA_TNIL)
        tools_refuse_name(L, spelling);
    lua_pop(L, 1);
    lua_pushstring(L, name);
    lua_pushvalue(L, function);
    lua_rawset(L, -3);
    lua_settop(L, function - 1);
}

/* ---- help ----------------------------------------------------------------------------------- */

static void tools_add_parameter(luaL_Buffer *text, const struct laz_parameter *parameter)
{
    const char *type =
        parameter->type_name && *parameter->type_name ? parameter->type_name : parameter->type;

    luaL_addstring(text, "    ");
    luaL_addstring(text, parameter->spelling);
    luaL_addstring(text, " (");
    luaL_addstring(text, type);
    luaL_addstring(text, *type ? ", " : "");
    luaL_addstring(text, parameter->required ? "required" : "optional");
    if (parameter->default_value) {
        luaL_addstring(text, ", default ");
        luaL_addstring(text, parameter->default_value);
    }
    luaL_addstring(text, ")");
    if (parameter->description && *parameter->description) {
        luaL_addstring(text, ": ");
        luaL_addstring(text, parameter->description);
    }
    luaL_addstring(text, "\n");
}

/* Pushes the help of a tool: its signature, what it is for, its parameters. */
static void tools_push_help(lua_State *L, const struct laz_tool_signature *tool)
{
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    luaL_addstring(&text, tool->spelling);
    luaL_addstring(&text, "(");
    for (size_t i = 0; i < tool->n_parameters; i++) {
        luaL_addstring(&text, i ? ", " : "");
        luaL_addstring(&text, tool->parameters[i].spelling);
    }
    luaL_addstring(&text, ")\n");
    if (tool->description && *tool->description) {
        luaL_addstring(&text, "    ");
        luaL_addstring(&text, tool->description);
        luaL_addstring(&text, "\n");
    }
    for (size_t i = 0; i < tool->n_parameters; i++)
        tools_add_parameter(&text, &tool->parameters[i]);
    if (tool->returns && *tool->returns) {
        luaL_addstring(&text, "    returns ");
        luaL_addstring(&text, tool->returns);
        luaL_addstring(&text, "\n");
    }
    luaL_pushresult(&text);
}

static void tools_write_help(lua_State *L, size_t index)
{
    size_t len;

    lua_rawgeti(L, lua_upvalueindex(2), (lua_Integer)index + 1);
    const char *text = lua_tolstring(L, -1, &len);
    fwrite(text, 1, len, stdout);
    lua_pop(L, 1);
}

/* help(tool), help("name"), help(). upvalues: the state, the list of texts. */
static int tools_help(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, lua_upvalueindex(1));
    size_t at = 0;

    if (lua_isnone(L, 1)) {
        for (size_t i = 0; i < st->n_tools; i++) {
            fputs(i ? "\n" : "", stdout);
            tools_write_help(L, i);
        }
        return 0;
    }
    const struct luart_tool *tool = luart_tool_of(st, L, 1);
    if (!tool)
        return luaL_error(L, "help: %s is not a tool; help() shows all tools",
                          lua_type(L, 1) == LUA_TSTRING
                              ? lua_pushfstring(L, "'%s'", lua_tostring(L, 1))
                              : luaL_typename(L, 1));
    while (st->tools[at] != tool)
        at++;
    tools_write_help(L, at);
    return 0;
}

/* Sets the global `help`, unless a tool has this name. Code may replace it. Its texts are those of
 * the one that is there already (index `earlier`, or 0), and of the last tools. */
static void tools_define_help(lua_State *L, struct luart_state *st, int earlier)
{
    const size_t before = st->n_tools - st->n_signatures;

    lua_pushliteral(L, "help");
    const bool is_tool = lua_rawget(L, 2) != LUA_TNIL;
    lua_pop(L, 1);
    if (!st->n_tools || is_tool || tools_is_taken(L, "help"))
        return;
    lua_pushlightuserdata(L, st);
    if (!earlier || !lua_getupvalue(L, earlier, 2))
        lua_createtable(L, (int)st->n_tools, 0);
    for (size_t i = 0; i < st->n_signatures; i++) {
        tools_push_help(L, &st->signatures[i]);
        lua_rawseti(L, -2, (lua_Integer)(before + i) + 1);
    }
    lua_pushcclosure(L, tools_help, 2);
    lua_setglobal(L, "help");
}

/* ---- the metatable of _G -------------------------------------------------------------------- */

static const char tools_guard_key; /* of the registry: the metatable with the tools behind it */

/* Is the value at `index` the table of globals, and are the tools behind its metatable? */
static bool tools_are_behind(lua_State *L, int index)
{
    bool are = false;

    lua_pushglobaltable(L);
    if (lua_rawequal(L, index, -1) && lua_getmetatable(L, index)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &tools_guard_key);
        are = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    return are;
}

/* Copies the fields of the table on top into the table at `to`, where it has none of the name. */
static void tools_copy_fields(lua_State *L, int to)
{
    const int from = lua_gettop(L);

    for (lua_pushnil(L); lua_next(L, from);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2); /* key, key, value */
        lua_pushvalue(L, -2);
        if (lua_rawget(L, to) == LUA_TNIL) {
            lua_pop(L, 1);
            lua_rawset(L, to);
        } else {
            lua_pop(L, 3);
        }
    }
}

/* Puts the tools, and our names behind them, into the table of globals at `index`, whose metatable
 * is to be another one. */
static void tools_move(lua_State *L, int index)
{
    const int top = lua_gettop(L);

    luaL_getmetafield(L, index, "__index");
    tools_copy_fields(L, index);
    luart_push_names(L);
    tools_copy_fields(L, index);
    lua_settop(L, top);
}

/* getmetatable and debug.getmetatable; upvalue: is it that of debug? */
static int tools_getmetatable(lua_State *L)
{
    luaL_checkany(L, 1);
    if (tools_are_behind(L, 1) || !lua_getmetatable(L, 1))
        lua_pushnil(L);
    else if (!lua_toboolean(L, lua_upvalueindex(1)))
        (void)luaL_getmetafield(L, 1, "__metatable");
    return 1;
}

/* setmetatable and debug.setmetatable; likewise. */
static int tools_setmetatable(lua_State *L)
{
    const bool is_debug = lua_toboolean(L, lua_upvalueindex(1));
    const int type = lua_type(L, 2);

    if (!is_debug)
        luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    lua_settop(L, 2);
    if (tools_are_behind(L, 1)) {
        if (type == LUA_TNIL) {
            lua_settop(L, 1);
            return 1;
        }
        tools_move(L, 1);
    } else if (!is_debug && luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

/* Replaces the functions of Lua that see the metatable of the table of globals, which has one. */
static void tools_hide_guard(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"getmetatable", tools_getmetatable}, {"setmetatable", tools_setmetatable}, {NULL, NULL}};

    lua_pushglobaltable(L);
    lua_getmetatable(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tools_guard_key);
    lua_pushboolean(L, 0);
    luaL_setfuncs(L, functions, 1);
    lua_getfield(L, -1, LUA_DBLIBNAME);
    lua_pushboolean(L, 1);
    luaL_setfuncs(L, functions, 1);
    lua_pop(L, 2);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* May its declared name lead to the tool as well? Not where code means something else by it: a
 * global, `tool_map`, or another tool that is spelled so. */
static bool tools_name_is_free(lua_State *L, const struct luart_state *st,
                               const struct luart_tool *tool)
{
    for (size_t i = 0; i < st->n_tools; i++)
        if (st->tools[i] != tool && strcmp(st->tools[i]->spelling, tool->name) == 0)
            return false;
    lua_pushstring(L, tool->name);
    const bool is_unused = lua_rawget(L, 2) == LUA_TNIL;
    lua_pop(L, 1);
    return is_unused && !tools_is_taken(L, tool->name);
}

/* Pushes the table in which _G finds tools. True: there was none. */
static bool tools_push_all(lua_State *L, struct luart_state *st)
{
    lua_pushglobaltable(L);
    if (luaL_getmetafield(L, -1, "__index") == LUA_TTABLE) {
        lua_remove(L, -2);
        return false;
    }
    lua_settop(L, 1);
    lua_newtable(L); /* the tools by name, and behind them our own names */
    lua_createtable(L, 0, 1);
    luart_push_names(L);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, 2);
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, luart_tool_map, 1);
    lua_setfield(L, 2, "tool_map"); /* a reserved word: no tool is spelled so */
    return true;
}

/* Argument: the state. Raises when a name is taken by Lua itself. */
static int tools_define_all(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, 1);

    lua_settop(L, 1);
    const bool is_first = tools_push_all(L, st);
    lua_getglobal(L, "help"); /* a tool may have the name */
    const bool has_help = lua_tocfunction(L, 3) == tools_help;
    if (has_help) {
        lua_pushnil(L);
        lua_setglobal(L, "help");
    }
    for (size_t i = st->n_tools - st->n_signatures; i < st->n_tools; i++) {
        struct luart_tool *tool = st->tools[i];
        lua_pushlightuserdata(L, tool);
        lua_pushcclosure(L, tools_call, 1);
        if ((strcmp(tool->name, tool->spelling) != 0 || strchr(tool->name, '.')) &&
            tools_name_is_free(L, st, tool)) {
            lua_pushvalue(L, -1);
            lua_setfield(L, 2, tool->name);
        }
        tools_place(L, tool->spelling);
    }
    tools_define_help(L, st, has_help ? 3 : 0);
    if (is_first) {
        lua_pushvalue(L, 2);
        lua_pushglobaltable(L);
        tools_guard(L, "");
        tools_hide_guard(L);
    }
    return 0;
}

static bool tools_copy_parameter(const struct laz_parameter *from, struct luart_parameter *to)
{
    const char *word = from->type_name && *from->type_name ? from->type_name : from->type;

    to->name = strdup(from->name);
    to->spelling = strdup(from->spelling);
    to->type_name = strdup(word);
    to->required = from->required != 0;
    for (size_t i = 0; i < sizeof tools_types / sizeof *tools_types; i++)
        if (strcmp(from->type, tools_types[i].name) == 0)
            to->type = tools_types[i].type;
    return to->name && to->spelling && to->type_name;
}

static void tools_free(struct luart_tool *tool)
{
    for (size_t i = 0; tool->parameters && i < tool->n_parameters; i++) {
        free(tool->parameters[i].name);
        free(tool->parameters[i].spelling);
        free(tool->parameters[i].type_name);
    }
    free(tool->parameters);
    free(tool->name);
    free(tool->spelling);
    free(tool);
}

/* There is room for it. */
static bool tools_add(struct luart_state *st, const struct laz_tool_signature *from)
{
    struct luart_tool *to = calloc(1, sizeof *to);

    if (!to)
        return false;
    st->tools[st->n_tools++] = to;
    to->runtime = st;
    to->name = strdup(from->name);
    to->spelling = strdup(from->spelling);
    to->parameters = calloc(from->n_parameters + 1, sizeof *to->parameters);
    bool ok = to->name && to->spelling && to->parameters;
    for (size_t i = 0; ok && i < from->n_parameters; i++, to->n_parameters++)
        ok = tools_copy_parameter(&from->parameters[i], &to->parameters[i]);
    return ok;
}

int luart_tools_define(struct luart_state *st, const struct laz_tool_signature *tools, size_t n,
                       struct laz_error *err)
{
    struct luart_tool **all = realloc(st->tools, (st->n_tools + n + 1) * sizeof *all);
    bool ok = all != NULL;
    int code = LAZ_ENOMEM;

    if (all)
        st->tools = all;
    for (size_t i = 0; ok && i < n; i++)
        ok = tools_add(st, &tools[i]);
    if (ok) {
        lua_settop(st->L, 0);
        lua_pushcfunction(st->L, tools_define_all);
        lua_pushlightuserdata(st->L, st);
        st->signatures = tools;
        st->n_signatures = n;
        int status = lua_pcall(st->L, 1, 0, 0);
        st->signatures = NULL;
        st->n_signatures = 0;
        if (status == LUA_OK)
            return 0;
        code = status == LUA_ERRMEM ? LAZ_ENOMEM : LAZ_EINVAL;
    }
    return laz_fail(err, code, "%s",
                    code == LAZ_ENOMEM ? "out of memory" : lua_tostring(st->L, -1));
}

void luart_tools_free(struct luart_state *st)
{
    for (size_t i = 0; i < st->n_tools; i++)
        tools_free(st->tools[i]);
    free(st->tools);
    st->tools = NULL;
    st->n_tools = 0;
}
