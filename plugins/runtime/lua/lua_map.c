/* SPDX-License-Identifier: MIT */
/* lua_map.c - tool_map(tool, list): calls a tool for each item of a list, concurrently.
 *
 * All arguments are checked and written before the first call is sent, so that a mistake in one
 * item calls nothing. Then all answers are awaited before an error can be raised, so that no open
 * call can answer a later one. Memory that an error would leak belongs to a userdata, which Lua's
 * collector frees. */
#include "luart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct luart_answer {
    int rc;
    char *text; /* the value or the error; NULL: out of memory */
    size_t len;
};

struct luart_batch {
    size_t n;
    struct laz_agent_call *calls; /* texts are strings on the stack of Lua */
    struct luart_answer *answers;
};

static void map_free(struct luart_batch *batch)
{
    for (size_t i = 0; batch->answers && i < batch->n; i++)
        free(batch->answers[i].text);
    free(batch->answers);
    free(batch->calls);
    *batch = (struct luart_batch){0};
}

static int map_collect(lua_State *L)
{
    map_free(lua_touserdata(L, 1));
    return 0;
}

/* Leaves the userdata on the stack. */
static struct luart_batch *map_batch(lua_State *L, size_t n)
{
    struct luart_batch *batch = lua_newuserdatauv(L, sizeof *batch, 0);

    *batch = (struct luart_batch){.n = n};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, map_collect);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    batch->calls = calloc(n + 1, sizeof *batch->calls);
    batch->answers = calloc(n + 1, sizeof *batch->answers);
    if (!batch->calls || !batch->answers)
        luaL_error(L, "not enough memory");
    return batch;
}

/* The number of items: the field `n`, as made by table.pack, or the length (#). */
static lua_Integer map_length(lua_State *L, int index)
{
    lua_pushliteral(L, "n");
    bool given = lua_rawget(L, index) == LUA_TNUMBER && lua_isinteger(L, -1);
    lua_Integer n = given ? lua_tointeger(L, -1) : (lua_Integer)lua_rawlen(L, index);
    lua_pop(L, 1);
    return n < 0 ? 0 : n;
}

/* Replaces an item by its arguments: a table with an element 1 is the list of arguments, any other
 * value is the only argument. */
static void map_unpack(lua_State *L)
{
    if (!lua_istable(L, 1))
        return;
    lua_Integer n = map_length(L, 1);
    bool listed = lua_rawgeti(L, 1, 1) != LUA_TNIL;
    lua_pop(L, 1);
    if (!listed)
        return;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        bool is_place =
            lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= n;
        bool is_n = lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "n") == 0;
        if (!is_place && !is_n)
            luaL_error(L, "its arguments are neither a list nor names only");
    }
    if (n > 250)
        luaL_error(L, "it has %d arguments", (int)n);
    luaL_checkstack(L, (int)n + 8, NULL);
    for (lua_Integer i = 1; i <= n; i++)
        lua_rawgeti(L, 1, i);
    lua_remove(L, 1);
}

/* Upvalue: the tool. Argument: an item. Result: the arguments as JSON text. */
static int map_prepare(lua_State *L)
{
    const struct luart_tool *tool = lua_touserdata(L, lua_upvalueindex(1));
    size_t len;

    map_unpack(L);
    const char *args = luart_tool_arguments(tool, L, &len);
    lua_pushlstring(L, args, len);
    return 1;
}

/* Argument 1 as a tool: the tool itself or its name. */
static const struct luart_tool *map_tool(struct luart_state *st, lua_State *L)
{
    const struct luart_tool *tool = luart_tool_of(st, L, 1);

    if (!tool && lua_type(L, 1) == LUA_TSTRING)
        luaL_error(L, "tool_map: there is no tool '%s'", lua_tostring(L, 1));
    if (!tool)
        luaL_error(L, "tool_map: a tool or its name is needed, got %s", luaL_typename(L, 1));
    return tool;
}

/* Fills the calls of the batch; leaves a table with their texts on the stack. */
static void map_write(const struct luart_tool *tool, lua_State *L, struct luart_batch *batch)
{
    lua_createtable(L, (int)batch->n, 0);
    int texts = lua_gettop(L);

    for (size_t i = 0; i < batch->n; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)tool);
        lua_pushcclosure(L, map_prepare, 1);
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        int status = lua_pcall(L, 1, 1, 0);
        if (status == LUA_ERRMEM)
            lua_error(L);
        if (status != LUA_OK)
            luaL_error(L, "tool_map: call %d of %d: %s", (int)i + 1, (int)batch->n,
                       lua_tostring(L, -1));
        batch->calls[i].tool = tool->name;
        batch->calls[i].args = lua_tolstring(L, -1, &batch->calls[i].args_len);
        lua_rawseti(L, texts, (lua_Integer)i + 1);
    }
}

static void map_answered(void *user, size_t index, int rc, const char *text, size_t len)
{
    struct luart_batch *batch = user;
    struct luart_answer *answer = &batch->answers[index];

    answer->rc = rc;
    answer->len = len;
    answer->text = malloc(len + 1);
    if (answer->text) {
        memcpy(answer->text, text, len);
        answer->text[len] = '\0';
    }
}

/* Raises the first error, with the number of others. */
static void map_check(lua_State *L, struct luart_batch *batch)
{
    size_t first = batch->n, failed = 0;

    for (size_t i = batch->n; i-- > 0;)
        if (batch->answers[i].rc || !batch->answers[i].text) {
            first = i;
            failed++;
        }
    if (!failed)
        return;
    const struct luart_answer *answer = &batch->answers[first];
    lua_pushfstring(L, "tool_map: call %d of %d: %s", (int)first + 1, (int)batch->n,
                    answer->text ? answer->text : "not enough memory for the value of the tool");
    if (failed > 1)
        lua_pushfstring(L, " (and %d more failed)", (int)failed - 1);
    else
        lua_pushliteral(L, "");
    map_free(batch);
    luaL_error(L, "%s%s", lua_tostring(L, -2), lua_tostring(L, -1));
}

/* Pushes the values, in the order of the items; null where there is none. */
static void map_values(struct luart_state *st, lua_State *L, struct luart_batch *batch)
{
    lua_createtable(L, (int)batch->n, 0);
    for (size_t i = 0; i < batch->n; i++) {
        struct luart_answer *answer = &batch->answers[i];
        luart_push_json(st, L, answer->text, answer->len);
        free(answer->text);
        answer->text = NULL;
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            luart_push_null(L);
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    luart_mark_array(L);
}

int luart_tool_map(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, lua_upvalueindex(1));
    const struct laz_agent_services *services = st->services;
    const char *error;

    lua_settop(L, 2);
    const struct luart_tool *tool = map_tool(st, L);
    if (!lua_istable(L, 2))
        return luaL_error(L, "tool_map: a list with the arguments of each call is needed, got %s",
                          luaL_typename(L, 2));
    if (!LAZ_HAS(services, call_all))
        return luaL_error(L, "tool_map: this lazaret-agent cannot have several calls open");
    lua_Integer n = map_length(L, 2);
    if (n > 10000000)
        return luaL_error(L, "tool_map: the list is too long");
    struct luart_batch *batch = map_batch(L, (size_t)n);
    map_write(tool, L, batch);
    fflush(stdout);
    if (services->call_all(services->agent, batch->calls, batch->n, map_answered, batch, &error))
        return luaL_error(L, "tool_map: %s", error);
    map_check(L, batch);
    map_values(st, L, batch);
    map_free(batch);
    return 1;
}
