/* SPDX-License-Identifier: MIT */
/* lua_value.c - converts Lua values to JSON and back; docs/values-lua.md has the table.
 *
 * JSON values survive the way back and forth: integers and floats stay distinct, an empty array
 * stays an array (a metatable marks it), null inside a container is the constant `null`, and a form
 * without a Lua value keeps its tag in a marked table. Metamethods are not called: the raw content
 * of a table is written. Any call of Lua may run out of memory and jump, so nothing here owns other
 * memory: readers and writers belong to the state. */
#include "luart.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_DEPTH   60 /* levels of JSON; the enclosing message uses the rest of 64 */
#define VALUE_NUMBERS 64 /* that are read together */

/* Keys of the registry: their addresses. */
static const char value_null_key, value_array_key, value_tagged_key, value_names_key;

struct value_writer {
    struct luart_state *st;
    lua_State *L;
    struct laz_json_writer *w;
    enum luart_purpose purpose;
    const char *what;
    const void *path[VALUE_DEPTH]; /* the enclosing tables, to detect a cycle */
    int depth;                     /* in JSON; path has NULL where one table makes several levels */
};

/* ---- constants and marks -------------------------------------------------------------------- */

static void value_push_registered(lua_State *L, const char *key)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, key);
}

bool luart_is_null(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TUSERDATA)
        return false;
    index = lua_absindex(L, index);
    value_push_registered(L, &value_null_key);
    bool same = lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    return same;
}

static bool value_is_marked(lua_State *L, int index, const char *key)
{
    if (!lua_getmetatable(L, index))
        return false;
    value_push_registered(L, key);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

static void value_mark(lua_State *L, const char *key)
{
    value_push_registered(L, key);
    lua_setmetatable(L, -2);
}

void luart_push_null(lua_State *L)
{
    value_push_registered(L, &value_null_key);
}

void luart_mark_array(lua_State *L)
{
    value_mark(L, &value_array_key);
}

/* lazaret.array(t): marks t (or a new table) as an array, and returns it. */
static int value_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    } else {
        luaL_checktype(L, 1, LUA_TTABLE);
        lua_settop(L, 1);
    }
    value_mark(L, &value_array_key);
    return 1;
}

static int value_null_text(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

void luart_value_open(lua_State *L)
{
    static const char *const marks[] = {&value_array_key, &value_tagged_key};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        lua_newtable(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, marks[i]);
    }
    lua_newuserdatauv(L, 0, 0);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, value_null_text);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "null");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &value_null_key);

    lua_createtable(L, 0, 2); /* the names */
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "null");
    lua_pushcfunction(L, value_array);
    lua_setfield(L, -2, "array");
    lua_setfield(L, -2, "lazaret");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "null");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &value_names_key);
    lua_pop(L, 1);
}

void luart_push_names(lua_State *L)
{
    value_push_registered(L, &value_names_key);
}

/* ---- what a table is ------------------------------------------------------------------------ */

enum value_shape { SHAPE_EMPTY, SHAPE_ARRAY, SHAPE_OBJECT, SHAPE_MAP };

struct value_table {
    enum value_shape shape;
    lua_Integer n; /* of an array */
    size_t count;  /* of entries */
    bool tag;      /* an object with a single key that begins with '$' */
};

/* Can this text be the key of an object? The host's writer decides. */
static bool value_is_key(struct luart_state *st, const char *text, size_t len)
{
    bool ascii = true;

    for (size_t i = 0; i < len && ascii; i++)
        ascii = text[i] > 0; /* neither NUL nor outside ASCII */
    if (ascii)
        return true;
    st->json->writer_reset(st->probe);
    st->json->object_begin(st->probe);
    return st->json->key(st->probe, text, len);
}

/* Classifies a table by looking at every key once. */
static struct value_table value_look(struct luart_state *st, lua_State *L, int index)
{
    struct value_table t = {.shape = SHAPE_EMPTY};
    size_t indices = 0, names = 0;
    lua_Integer max = 0;

    luaL_checkstack(L, 4, NULL);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        t.count++;
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1) {
            indices++;
            max = lua_tointeger(L, -2) > max ? lua_tointeger(L, -2) : max;
        } else if (lua_type(L, -2) == LUA_TSTRING) {
            size_t len;
            const char *text = lua_tolstring(L, -2, &len);
            names += value_is_key(st, text, len);
            t.tag = len && text[0] == '$';
        }
    }
    bool marked = value_is_marked(L, index, &value_array_key);
    t.tag = t.tag && t.count == 1;
    if (indices == t.count) {
        /* Holes in a marked array become null, unless a single large index would make a huge
         * array. */
        bool dense = (size_t)max == t.count || (marked && (size_t)max <= 4 * t.count + 16);
        t.shape = t.count ? (dense ? SHAPE_ARRAY : SHAPE_MAP) : marked ? SHAPE_ARRAY : SHAPE_EMPTY;
        t.n = max;
    } else if (names == t.count) {
        t.shape = t.tag && !value_is_marked(L, index, &value_tagged_key) ? SHAPE_MAP : SHAPE_OBJECT;
    } else {
        t.shape = SHAPE_MAP;
    }
    return t;
}

bool luart_fits_array(struct luart_state *st, lua_State *L, int index)
{
    enum value_shape shape = value_look(st, L, lua_absindex(L, index)).shape;

    return shape == SHAPE_ARRAY || shape == SHAPE_EMPTY;
}

bool luart_fits_object(struct luart_state *st, lua_State *L, int index)
{
    struct value_table t = value_look(st, L, lua_absindex(L, index));

    return t.shape != SHAPE_ARRAY || t.count == 0;
}

/* ---- to JSON -------------------------------------------------------------------------------- */

static void value_write(struct value_writer *v, int index, enum luart_type type);

static int value_fail(struct value_writer *v, const char *problem)
{
    return luaL_error(v->L, "%s %s", v->what, problem);
}

/* Enters one or several levels for the table at `index`. */
static void value_enter(struct value_writer *v, int index, int levels)
{
    const void *table = lua_topointer(v->L, index);

    for (int i = 0; i < v->depth; i++)
        if (v->path[i] == table)
            value_fail(v, "contains itself");
    if (v->depth + levels > VALUE_DEPTH)
        value_fail(v, "is nested over 60 levels deep");
    for (int i = 0; i < levels; i++)
        v->path[v->depth++] = i ? NULL : table;
}

static void value_write_array(struct value_writer *v, int index, lua_Integer n)
{
    value_enter(v, index, 1);
    v->st->json->array_begin(v->w);
    for (lua_Integer i = 1; i <= n && !v->st->json->writer_failed(v->w); i++) {
        lua_rawgeti(v->L, index, i);
        value_write(v, lua_gettop(v->L), LUART_ANY);
        lua_pop(v->L, 1);
    }
    v->st->json->array_end(v->w);
    v->depth--;
}

static int value_compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys are sorted, because the order of a Lua table varies from run to run. */
static void value_write_object(struct value_writer *v, int index, size_t count)
{
    lua_State *L = v->L;
    size_t n = 0;

    value_enter(v, index, 1);
    const char **keys = lua_newuserdatauv(L, (count + 1) * sizeof *keys, 0);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        if (n < count)
            keys[n++] = lua_tostring(L, -2); /* valid while the table holds the key */
    qsort(keys, n, sizeof *keys, value_compare_keys);
    v->st->json->object_begin(v->w);
    for (size_t i = 0; i < n && !v->st->json->writer_failed(v->w); i++) {
        lua_pushstring(L, keys[i]);
        v->st->json->key(v->w, keys[i], strlen(keys[i]));
        lua_rawget(L, index);
        value_write(v, lua_gettop(L), LUART_ANY);
        lua_pop(L, 1);
    }
    v->st->json->object_end(v->w);
    lua_pop(L, 1);
    v->depth--;
}

static void value_write_map(struct value_writer *v, int index)
{
    lua_State *L = v->L;

    value_enter(v, index, 3);
    v->st->json->object_begin(v->w);
    v->st->json->key(v->w, "$map", 4);
    v->st->json->array_begin(v->w);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (v->st->json->writer_failed(v->w)) {
            lua_pop(L, 2);
            break;
        }
        v->st->json->array_begin(v->w);
        value_write(v, lua_gettop(L) - 1, LUART_ANY);
        value_write(v, lua_gettop(L), LUART_ANY);
        v->st->json->array_end(v->w);
    }
    v->st->json->array_end(v->w);
    v->st->json->object_end(v->w);
    v->depth -= 3;
}

static void value_write_table(struct value_writer *v, int index, enum luart_type type)
{
    struct value_table t = value_look(v->st, v->L, index);

    if (t.shape == SHAPE_EMPTY && type == LUART_ARRAY)
        t.shape = SHAPE_ARRAY;
    if (t.shape == SHAPE_ARRAY && t.count == 0 && type == LUART_OBJECT)
        t.shape = SHAPE_EMPTY;
    switch (t.shape) {
    case SHAPE_ARRAY:
        value_write_array(v, index, t.n);
        break;
    case SHAPE_EMPTY:
    case SHAPE_OBJECT:
        value_write_object(v, index, t.count);
        break;
    case SHAPE_MAP:
        value_write_map(v, index);
        break;
    }
}

/* Writes a function, a thread or a userdata as it would be printed, where that is allowed. */
static void value_write_repr(struct value_writer *v, int index)
{
    size_t len;

    if (v->purpose == LUART_ARGUMENT) {
        lua_pushfstring(v->L, "holds a %s, which cannot leave Lua", luaL_typename(v->L, index));
        value_fail(v, lua_tostring(v->L, -1));
    }
    const char *text = luaL_tolstring(v->L, index, &len);
    v->st->json->object_begin(v->w);
    v->st->json->key(v->w, "$repr", 5);
    v->st->json->write_string(v->w, text, len);
    v->st->json->object_end(v->w);
    lua_pop(v->L, 1);
}

static void value_write(struct value_writer *v, int index, enum luart_type type)
{
    const struct laz_json_api *json = v->st->json;
    lua_State *L = v->L;
    size_t len;
    const char *text;

    luaL_checkstack(L, 8, "value");
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        json->write_null(v->w);
        break;
    case LUA_TBOOLEAN:
        json->write_bool(v->w, lua_toboolean(L, index));
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            json->write_int(v->w, lua_tointeger(L, index));
        else
            json->write_double(v->w, lua_tonumber(L, index), true);
        break;
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &len);
        json->write_string(v->w, text, len);
        break;
    case LUA_TTABLE:
        value_write_table(v, index, type);
        break;
    default:
        if (luart_is_null(L, index))
            json->write_null(v->w);
        else
            value_write_repr(v, index);
    }
}

void luart_write(struct luart_state *st, lua_State *L, int index, struct laz_json_writer *writer,
                 enum luart_purpose purpose, enum luart_type type, const char *what)
{
    struct value_writer v = {.st = st, .L = L, .w = writer, .purpose = purpose, .what = what};

    value_write(&v, lua_absindex(L, index), type);
}

/* ---- from JSON ------------------------------------------------------------------------------ */

static void value_read(struct luart_state *st, lua_State *L, bool nested);

/* A string or key has no NUL behind it. */
static uint32_t value_next(struct luart_state *st, struct laz_json_token *token)
{
    return LAZ_HAS(st->json, next_in_place) ? st->json->next_in_place(st->reader, token)
                                            : st->json->next(st->reader, token);
}

/* Appends the numbers that come next to the table on top, which has *n items. */
static void value_read_numbers(struct luart_state *st, lua_State *L, lua_Integer *n)
{
    struct laz_json_number some[VALUE_NUMBERS];
    size_t got = VALUE_NUMBERS;

    while (got == VALUE_NUMBERS && LAZ_HAS(st->json, next_numbers)) {
        got = st->json->next_numbers(st->reader, some, VALUE_NUMBERS);
        for (size_t i = 0; i < got; i++) {
            if (some[i].is_whole)
                lua_pushinteger(L, (lua_Integer)some[i].whole);
            else
                lua_pushnumber(L, some[i].value);
            lua_rawseti(L, -2, ++*n);
        }
    }
}

static void value_read_array(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;
    lua_Integer n = 0;

    st->json->next(st->reader, &token);
    lua_newtable(L);
    value_read_numbers(st, L, &n);
    while (st->json->peek(st->reader) != LAZ_JSON_ARRAY_END &&
           st->json->peek(st->reader) != LAZ_JSON_END) {
        value_read(st, L, true);
        lua_rawseti(L, -2, ++n);
        value_read_numbers(st, L, &n);
    }
    st->json->next(st->reader, &token);
    value_mark(L, &value_array_key);
}

static void value_read_object(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;

    st->json->next(st->reader, &token);
    lua_newtable(L);
    while (value_next(st, &token) == LAZ_JSON_KEY) {
        lua_pushlstring(L, token.text, token.len);
        value_read(st, L, true);
        lua_rawset(L, -3);
    }
}

/* Reads {"$num":"NaN"} and the like, from the text on. */
static void value_read_special(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;

    st->json->next(st->reader, &token);
    if (strcmp(token.text, "NaN") == 0)
        lua_pushnumber(L, (lua_Number)__builtin_nan(""));
    else
        lua_pushnumber(L, token.text[0] == '-' ? -(lua_Number)__builtin_inf()
                                               : (lua_Number)__builtin_inf());
}

/* An integer beyond Lua's 64 bits becomes a float, as Lua's own numerals do. */
static void value_read_int(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;

    st->json->next(st->reader, &token);
    if (!lua_stringtonumber(L, token.text))
        lua_pushlstring(L, token.text, token.len);
}

static void value_read_bytes(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;
    luaL_Buffer buffer;

    st->json->next(st->reader, &token);
    char *out = luaL_buffinitsize(L, &buffer, token.len / 4 * 3 + 3);
    ptrdiff_t n = st->json->base64_decode(token.text, token.len, out);
    luaL_pushresultsize(&buffer, n > 0 ? (size_t)n : 0);
}

static bool value_is_usable_key(lua_State *L)
{
    return !lua_isnil(L, -1) &&
           !(lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1));
}

/* [[key, value], ...]; an entry whose key Lua's tables do not allow (NaN) is left out. */
static void value_read_map(struct luart_state *st, lua_State *L)
{
    struct laz_json_token token;

    st->json->next(st->reader, &token);
    lua_newtable(L);
    while (st->json->next(st->reader, &token) == LAZ_JSON_ARRAY_BEGIN) {
        value_read(st, L, true);
        bool usable = value_is_usable_key(L);
        value_read(st, L, true);
        if (usable)
            lua_rawset(L, -3);
        else
            lua_pop(L, 2);
        st->json->next(st->reader, &token);
    }
}

static const struct {
    const char *tag;
    uint32_t holds; /* LAZ_JSON_* of the tag's value */
    void (*read)(struct luart_state *st, lua_State *L);
} value_tags[] = {
    {"$num", LAZ_JSON_STRING, value_read_special},
    {"$int", LAZ_JSON_STRING, value_read_int},
    {"$bytes", LAZ_JSON_STRING, value_read_bytes},
    {"$map", LAZ_JSON_ARRAY_BEGIN, value_read_map},
};

/* Reads a tagged form: as a Lua value if there is one, else as a table that keeps the tag. */
static void value_read_tagged(struct luart_state *st, lua_State *L, const char *tag)
{
    struct laz_json_token token;
    size_t n = sizeof value_tags / sizeof *value_tags, i = 0;

    while (i < n && strcmp(tag, value_tags[i].tag) != 0)
        i++;
    st->json->next(st->reader, &token); /* { */
    st->json->next(st->reader, &token); /* the tag */
    if (i < n && st->json->peek(st->reader) == value_tags[i].holds) {
        value_tags[i].read(st, L);
    } else {
        lua_createtable(L, 0, 1);
        lua_pushlstring(L, token.text, token.len);
        value_read(st, L, true);
        lua_rawset(L, -3);
        value_mark(L, &value_tagged_key);
    }
    st->json->next(st->reader, &token); /* } */
}

static void value_read(struct luart_state *st, lua_State *L, bool nested)
{
    struct laz_json_token token;
    const char *tag;

    luaL_checkstack(L, 8, "value");
    switch (st->json->peek(st->reader)) {
    case LAZ_JSON_ARRAY_BEGIN:
        value_read_array(st, L);
        return;
    case LAZ_JSON_OBJECT_BEGIN:
        tag = st->json->peek_tag(st->reader);
        if (tag)
            value_read_tagged(st, L, tag);
        else
            value_read_object(st, L);
        return;
    }
    switch (value_next(st, &token)) {
    case LAZ_JSON_TRUE:
    case LAZ_JSON_FALSE:
        lua_pushboolean(L, token.type == LAZ_JSON_TRUE);
        break;
    case LAZ_JSON_NUMBER:
        if (!lua_stringtonumber(L, token.text))
            lua_pushnumber(L, 0);
        break;
    case LAZ_JSON_STRING:
        lua_pushlstring(L, token.text, token.len);
        break;
    default:
        if (nested)
            value_push_registered(L, &value_null_key);
        else
            lua_pushnil(L);
    }
}

bool luart_is_bare_table(lua_State *L, int index)
{
    if (!lua_istable(L, index))
        return false;
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL &&
        luaL_getmetafield(L, index, "__name") == LUA_TNIL)
        return true;
    lua_pop(L, 1);
    return false;
}

void luart_push_json(struct luart_state *st, lua_State *L, const char *json, size_t len)
{
    st->json->reader_free(st->reader); /* left over when an earlier read ran out of memory */
    st->reader = st->json->reader_new(json, len);
    if (!st->reader)
        luaL_error(L, "not enough memory");
    value_read(st, L, false);
    bool failed = st->json->reader_failed(st->reader);
    st->json->reader_free(st->reader);
    st->reader = NULL;
    if (failed) /* cannot happen: the host sends valid JSON */
        luaL_error(L, "not enough memory");
}
