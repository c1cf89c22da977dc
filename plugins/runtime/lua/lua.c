/* SPDX-License-Identifier: MIT */
/* lua.c - the lua runtime: an interpreter of Lua 5.4 that runs code as its prompt would.
 *
 * Code that is one expression returns its value: the code is compiled with `return ` before it, and
 * unchanged if that does not parse. Everything that can raise an error, out of memory included,
 * runs below lua_pcall. Texts of an outcome stay on the interpreter's stack until the next call.
 * Binary chunks are refused, because the interpreter does not verify them. */
#include "luart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

/* Debian's name of the library; the build sets others in CPPFLAGS. */
#ifndef LUART_SONAME
#define LUART_SONAME "liblua5.4.so.0"
#endif

#define LUART_CHUNK  "=code" /* name of the code in messages */
#define LUART_FRAMES 200

static const struct laz_option options[] = {
    LAZ_OPTION("path", LAZ_OPT_PATHS, "[]",
               "directories of modules for require: NAME.lua, NAME/init.lua and NAME.so"),
    LAZ_OPTIONS_END,
};

/* ---- the code, with a word before it -------------------------------------------------------- */

struct luart_source {
    const char *parts[2];
    size_t lens[2];
    int next;
};

static const char *luart_read(lua_State *L, void *data, size_t *len)
{
    struct luart_source *source = data;

    (void)L;
    while (source->next < 2 && !source->lens[source->next])
        source->next++;
    if (source->next >= 2) {
        *len = 0;
        return NULL;
    }
    *len = source->lens[source->next];
    return source->parts[source->next++];
}

static int luart_load_as(struct luart_state *st, const char *prefix, const char *code, size_t len)
{
    struct luart_source source = {{prefix, code}, {strlen(prefix), len}, 0};

    return lua_load(st->L, luart_read, &source, st->chunk ? st->chunk : LUART_CHUNK, "t");
}

/* Pushes the compiled function, or the parser's message. A file is not an expression. */
static int luart_load(struct luart_state *st, const char *code, size_t len)
{
    if (len > 1 && code[0] == '#' && code[1] == '!') { /* skip a first line for the shell */
        const char *end = memchr(code, '\n', len);
        len = end ? len - (size_t)(end - code) : 0;
        code = end ? end : code;
    }
    if (st->is_script)
        return luart_load_as(st, "", code, len);
    int status = luart_load_as(st, "return ", code, len);
    if (status == LUA_ERRSYNTAX) {
        lua_pop(st->L, 1);
        status = luart_load_as(st, "", code, len);
    }
    return status;
}

/* ---- errors --------------------------------------------------------------------------------- */

static struct luart_state *luart_of(lua_State *L)
{
    return *(struct luart_state **)lua_getextraspace(L);
}

/* For "code:3: text" returns the line and sets *text to the text; 0 for other messages. */
static int luart_position(const struct luart_state *st, const char *message, const char **text)
{
    char *end;

    if (strncmp(message, st->prefix, strlen(st->prefix)) != 0)
        return 0;
    long line = strtol(message + strlen(st->prefix), &end, 10);
    if (line <= 0 || line > INT32_MAX || strncmp(end, ": ", 2) != 0)
        return 0;
    *text = end + 2;
    return (int)line;
}

/* The line of the innermost frame that belongs to the code. */
static int luart_line(lua_State *L)
{
    const struct luart_state *st = luart_of(L);
    const char *chunk = st->chunk ? st->chunk : LUART_CHUNK;
    lua_Debug frame;

    for (int level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (strcmp(frame.source, chunk) == 0 && frame.currentline > 0)
            return frame.currentline;
    }
    return 0;
}

/* Pushes the text of an error object: the string itself, the result of __tostring, or its field
 * `message`. */
static void luart_error_text(lua_State *L, int index)
{
    if (lua_type(L, index) == LUA_TSTRING || lua_type(L, index) == LUA_TNUMBER) {
        lua_pushvalue(L, index);
        lua_tostring(L, -1);
        return;
    }
    if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        lua_pop(L, 1);
        luaL_tolstring(L, index, NULL);
        return;
    }
    if (lua_istable(L, index)) {
        lua_pushliteral(L, "message");
        if (lua_rawget(L, index) == LUA_TSTRING)
            return;
        lua_pop(L, 1);
    }
    lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, index));
}

/* Pushes the lines of luaL_traceback as a list: outermost first, without the heading and without
 * the frames below the code's first one. */
static void luart_traceback(lua_State *L)
{
    const struct luart_state *st = luart_of(L);
    int n = 0, last = 0;

    luaL_traceback(L, L, NULL, 1);
    const char *text = strchr(lua_tostring(L, -1), '\n');
    lua_newtable(L);
    while (text && n < LUART_FRAMES) {
        text += 1 + strspn(text + 1, "\t");
        size_t len = strcspn(text, "\n");
        lua_pushlstring(L, text, len);
        if (strstr(lua_tostring(L, -1), "in main chunk") &&
            strncmp(text, st->prefix, strlen(st->prefix)) == 0)
            last = n + 1;
        lua_rawseti(L, -2, ++n);
        text = strchr(text, '\n');
    }
    n = last ? last : n;
    lua_createtable(L, n, 0);
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, -2, n + 1 - i);
        lua_rawseti(L, -2, i);
    }
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* The message handler: returns {text, line, traceback}. */
static int luart_handle(lua_State *L)
{
    const char *rest;
    luaL_Buffer whole;

    lua_settop(L, 1);
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 3, 0);
    luart_error_text(L, 1);
    const char *text = lua_tostring(L, -1);
    int line = text ? luart_position(luart_of(L), text, &rest) : 0;
    rest = line ? rest : text;
    luaL_buffinit(L, &whole);
    luaL_addstring(&whole, rest ? rest : "");
    if (rest)
        luart_tool_meant(luart_of(L), rest, &whole);
    luaL_pushresult(&whole);
    lua_rawseti(L, 2, 1);
    lua_pop(L, 1);
    lua_pushinteger(L, line ? line : luart_line(L));
    lua_rawseti(L, 2, 2);
    luart_traceback(L);
    lua_rawseti(L, 2, 3);
    return 1;
}

/* The kind of an uncaught error, recognised by messages of the interpreter and the C library. */
static uint32_t luart_kind(const char *text)
{
    if (strcmp(text, "not enough memory") == 0)
        return LAZ_OUTCOME_MEMORY;
    return strstr(text, strerror(EFBIG)) ? LAZ_OUTCOME_FSIZE : LAZ_OUTCOME_RUNTIME;
}

/* Makes an outcome of the table of luart_handle on top of the stack. Allocates nothing in Lua. */
static void luart_failed(struct luart_state *st, struct laz_outcome *outcome)
{
    lua_State *L = st->L;

    outcome->kind = LAZ_OUTCOME_RUNTIME;
    outcome->message = "the error has no text";
    if (lua_type(L, -1) == LUA_TSTRING) { /* the message handler itself failed */
        const char *rest = NULL, *text = lua_tostring(L, -1);
        outcome->line = luart_position(st, text, &rest);
        outcome->message = outcome->line ? rest : text;
        outcome->kind = luart_kind(outcome->message);
        return;
    }
    if (!lua_istable(L, -1))
        return;
    if (lua_rawgeti(L, -1, 1) == LUA_TSTRING)
        outcome->message = lua_tostring(L, -1);
    outcome->kind = luart_kind(outcome->message);
    lua_rawgeti(L, -2, 2);
    outcome->line = (int32_t)lua_tointeger(L, -1);
    lua_rawgeti(L, -3, 3);
    size_t n = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
    for (size_t i = 0; i < n && i < LUART_FRAMES; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        st->traceback[i] = lua_tostring(L, -1);
        lua_pop(L, 1); /* the list keeps the string alive */
        outcome->n_traceback++;
    }
    outcome->traceback = st->traceback;
}

static void luart_no_memory(struct laz_outcome *outcome)
{
    outcome->kind = LAZ_OUTCOME_MEMORY;
    outcome->message = "not enough memory";
}

/* Makes an outcome of the parser's message on top of the stack. */
static void luart_syntax(struct luart_state *st, struct laz_outcome *outcome)
{
    const char *text = lua_tostring(st->L, -1), *rest = text;

    outcome->kind = LAZ_OUTCOME_SYNTAX;
    outcome->line = text ? luart_position(st, text, &rest) : 0;
    outcome->message = rest ? rest : "the code does not parse";
}

/* ---- a file and its arguments --------------------------------------------------------------- */

/* Puts search patterns for `path` before the value of package.FIELD. */
static void luart_prepend(lua_State *L, const char *field, const char *path, const char *format)
{
    lua_getglobal(L, "package");
    lua_pushfstring(L, format, path, path);
    lua_getfield(L, -2, field);
    lua_concat(L, 2);
    lua_setfield(L, -2, field);
    lua_pop(L, 1);
}

/* The interpreter shortens the name of a file in its messages: it is asked how. May raise. */
static void luart_set_prefix(struct luart_state *st)
{
    lua_Debug chunk;

    if (luart_load_as(st, "", "", 0) != LUA_OK)
        lua_error(st->L);
    lua_getinfo(st->L, ">S", &chunk);
    snprintf(st->prefix, sizeof st->prefix, "%s:", chunk.short_src);
}

/* Code that comes next is of no file. */
static void luart_end_script(struct luart_state *st)
{
    free(st->chunk);
    st->chunk = NULL;
    st->is_script = false;
    snprintf(st->prefix, sizeof st->prefix, "%s:", &LUART_CHUNK[1]);
}

/* ---- running -------------------------------------------------------------------------------- */

struct luart_job {
    struct luart_state *st;
    bool print;
    int n_values;
    bool shows_value; /* the text is the value */
};

/* Arguments: the state, the values. Several are written as an array of all of them. */
static int luart_write_values(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, 1);
    const int n = lua_gettop(L) - 1;

    st->json->writer_reset(st->value);
    if (n <= 1) {
        luart_write(st, L, 2, st->value, LUART_RESULT, LUART_ANY, "the value");
        return 0;
    }
    st->json->array_begin(st->value);
    for (int i = 2; i <= n + 1; i++)
        luart_write(st, L, i, st->value, LUART_RESULT, LUART_ANY, "the value");
    st->json->array_end(st->value);
    return 0;
}

/* Pushes the values at `first` and above as one string, as the prompt prints them. */
static void luart_text(lua_State *L, int first, int n)
{
    luaL_Buffer text;

    for (int i = first; i < first + n; i++) {
        luaL_tolstring(L, i, NULL);
        lua_replace(L, i);
    }
    luaL_buffinit(L, &text);
    for (int i = first; i < first + n; i++) {
        if (i > first)
            luaL_addchar(&text, '\t');
        lua_pushvalue(L, i);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
}

/* Arguments: the job, the code as a function. Results: the text to print, or nil; why the value was
 * not written, or nil. */
static int luart_run(lua_State *L)
{
    struct luart_job *job = lua_touserdata(L, 1);
    struct luart_state *st = job->st;

    int n_arguments = 0;
    if (st->is_script) { /* a file gets its arguments as `...` */
        lua_getglobal(L, "arg");
        n_arguments = (int)lua_rawlen(L, 3);
        luaL_checkstack(L, n_arguments, "too many arguments");
        for (int i = 1; i <= n_arguments; i++)
            lua_rawgeti(L, 3, i);
        lua_remove(L, 3);
    }
    lua_call(L, n_arguments, LUA_MULTRET);
    int n = job->n_values = lua_gettop(L) - 1;
    luaL_checkstack(L, 2 * n + 8, "too many values");
    lua_pushcfunction(L, luart_write_values);
    lua_pushlightuserdata(L, st);
    for (int i = 2; i <= n + 1; i++)
        lua_pushvalue(L, i);
    /* What cannot be written is no error of the code. Its message is the second result. */
    if (lua_pcall(L, n + 1, 0, 0) == LUA_OK)
        lua_pushnil(L);
    else
        lua_pushstring(L, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                         : "the value cannot be written");
    lua_insert(L, 2);
    lua_settop(L, n + 2);
    job->shows_value = job->print && n == 1 && luart_is_bare_table(L, 3);
    if (job->print && n)
        luart_text(L, 3, n);
    else
        lua_pushnil(L);
    lua_pushvalue(L, 2);
    return 2;
}

static void luart_succeeded(struct luart_state *st, const struct luart_job *job,
                            struct laz_outcome *outcome)
{
    bool too_large = false;

    outcome->visible = job->n_values > 0;
    outcome->message = lua_tostring(st->L, -1);
    if (lua_type(st->L, -2) == LUA_TSTRING)
        outcome->text = lua_tolstring(st->L, -2, &outcome->text_len);
    if (!outcome->message) {
        outcome->value = st->json->writer_text(st->value, &outcome->value_len, &too_large);
        if (!outcome->value && !too_large)
            outcome->message = "there is not enough memory to send the value";
    }
    if (!outcome->value)
        outcome->kind = LAZ_OUTCOME_TOO_LARGE;
    else if (job->shows_value) {
        outcome->text = outcome->value;
        outcome->text_len = outcome->value_len;
    }
}

/* What was sent to an execution before this one is no business of this one. */
static void luart_begin_interrupts(struct luart_state *st)
{
    const struct laz_agent_services *services = st->services;

    luart_forget_interrupt(st);
    if (LAZ_HAS(services, is_interrupted) && services->is_interrupted(services->agent))
        luart_interrupt(st);
}

/* Between executions no coroutine runs. */
static void luart_end_interrupts(struct luart_state *st)
{
    st->running = st->L;
    luart_forget_interrupt(st);
}

static int luart_eval(void *state, const char *code, size_t len, uint32_t wanted,
                      struct laz_outcome *outcome)
{
    struct luart_state *st = state;
    struct luart_job job = {.st = st, .print = wanted & LAZ_WANTED_TEXT};
    lua_State *L = st->L;

    luart_begin_interrupts(st);
    lua_settop(L, 0);
    lua_pushcfunction(L, luart_handle);
    lua_pushcfunction(L, luart_run);
    lua_pushlightuserdata(L, &job);
    int status = luart_load(st, code, len);
    if (status == LUA_ERRSYNTAX) {
        luart_syntax(st, outcome);
        luart_end_script(st);
        return 0;
    }
    if (status == LUA_OK)
        status = lua_pcall(L, 2, 2, 1);
    luart_end_interrupts(st);
    fflush(stdout);
    fflush(stderr);
    if (status == LUA_OK)
        luart_succeeded(st, &job, outcome);
    else if (status == LUA_ERRMEM)
        luart_no_memory(outcome);
    else
        luart_failed(st, outcome);
    if (!outcome->line && outcome->kind == LAZ_OUTCOME_RUNTIME && !memchr(code, '\n', len))
        outcome->line = 1; /* a tail call leaves no frame from which to read the line */
    luart_end_script(st);
    return 0;
}

/* Arguments: argv, its length, the directory or nil. */
static int luart_begin_script(lua_State *L)
{
    struct luart_state *st = luart_of(L);
    const char *const *argv = lua_touserdata(L, 1);
    const int n = (int)lua_tointeger(L, 2);

    lua_createtable(L, n - 1, 2);
    for (int i = 0; i < n; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_pushliteral(L, "lua");
    lua_rawseti(L, -2, -1);
    lua_setglobal(L, "arg");
    if (!lua_isnil(L, 3)) { /* last, as Lua has the directory it is started in */
        const char *path = lua_tostring(L, 3);
        lua_getglobal(L, "package");
        lua_getfield(L, -1, "path");
        lua_pushfstring(L, ";%s/?.lua;%s/?/init.lua", path, path);
        lua_concat(L, 2);
        lua_setfield(L, -2, "path");
        lua_pop(L, 1);
    }
    luart_set_prefix(st);
    return 0;
}

static int luart_set_script(void *state, const char *const *argv, size_t n, const char *directory)
{
    struct luart_state *st = state;
    lua_State *L = st->L;

    luart_end_script(st);
    st->chunk = malloc(strlen(argv[0]) + 2);
    if (!st->chunk)
        return LAZ_ENOMEM;
    sprintf(st->chunk, "@%s", argv[0]);
    st->is_script = true;
    lua_settop(L, 0);
    lua_pushcfunction(L, luart_begin_script);
    lua_pushlightuserdata(L, (void *)(uintptr_t)argv);
    lua_pushinteger(L, (lua_Integer)n);
    lua_pushstring(L, directory);
    return lua_pcall(L, 3, 0, 0) == LUA_OK ? 0 : LAZ_ENOMEM;
}

static int luart_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct luart_state *st = state;

    lua_settop(st->L, 0);
    int status = luart_load(st, code, len);
    if (status == LUA_ERRSYNTAX)
        luart_syntax(st, outcome);
    else if (status != LUA_OK)
        luart_no_memory(outcome);
    return 0;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* Applies the options, a table on top of the stack. Directories are prepended in reverse order, so
 * that the first of the list is searched first. */
static void luart_apply_options(lua_State *L)
{
    if (!lua_istable(L, -1))
        return;
    lua_getfield(L, -1, "path");
    for (lua_Integer i = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0; i > 0; i--) {
        lua_rawgeti(L, -1, i);
        const char *path = luaL_checkstring(L, -1);
        luart_prepend(L, "path", path, "%s/?.lua;%s/?/init.lua;");
        luart_prepend(L, "cpath", path, "%s/?.so;");
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Lua's own seed depends on the time in seconds and on addresses, which all copies of a template
 * share. Systems without getentropy (Windows) have no copies. */
static void luart_seed(lua_State *L)
{
#ifdef HAVE_GETENTROPY
    lua_Integer seed[2];

    if (getentropy(seed, sizeof seed) != 0)
        luaL_error(L, "the system gives no random numbers");
    lua_getglobal(L, "math");
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, seed[0]);
    lua_pushinteger(L, seed[1]);
    lua_call(L, 2, 0);
    lua_pop(L, 1);
#else
    (void)L;
#endif
}

/* ---- standard error -------------------------------------------------------------------------- */

/* What the code writes to both streams is to arrive in that order: before standard error, standard
 * output is written out and read, and the other way round. */
#ifdef HAVE_FOPENCOOKIE
static ssize_t luart_write_error(void *user, const char *text, size_t len)
{
    struct luart_state *st = user;

    fflush(stdout);
    st->services->output(st->services->agent, 2, text, len);
    st->services->switch_output(st->services->agent, 1);
    return (ssize_t)len;
}

static void luart_open_error(struct luart_state *st)
{
    if (!LAZ_HAS(st->services, switch_output))
        return;
    st->error_output = fopencookie(st, "w", (cookie_io_functions_t){.write = luart_write_error});
    if (st->error_output)
        setvbuf(st->error_output, NULL, _IONBF, 0);
}
#else
static void luart_open_error(struct luart_state *st)
{
    (void)st;
}
#endif

static void luart_use_error(struct luart_state *st, lua_State *L)
{
    lua_getglobal(L, "io");
    lua_getfield(L, -1, "stderr");
    luaL_Stream *stream = luaL_testudata(L, -1, LUA_FILEHANDLE);
    if (stream && st->error_output)
        stream->f = st->error_output;
    lua_pop(L, 2);
}

static int luart_open(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, 1);

    *(struct luart_state **)lua_getextraspace(L) = st;
    luart_end_script(st);
    luaL_openlibs(L);
    luart_use_error(st, L);
    luart_value_open(L);
    luart_follow_coroutines(st, L);
    luart_seed(L);
    luart_os_open(st, L);
    luart_push_json(st, L, st->options, st->options_len);
    luart_apply_options(L);
    return 0;
}

/* Makes the interpreter. */
static int luart_start(struct luart_state *st, struct laz_error *err)
{
    const char *problem = "out of memory";
    int code = LAZ_ENOMEM;

    st->L = luaL_newstate();
    if (st->L) {
        lua_pushcfunction(st->L, luart_open);
        lua_pushlightuserdata(st->L, st);
        if (lua_pcall(st->L, 1, 0, 0) == LUA_OK)
            return 0;
        code = LAZ_ESETUP;
        problem = lua_tostring(st->L, -1);
    }
    return laz_fail(err, code, "%s", problem ? problem : "Lua did not start");
}

#ifdef SIGXFSZ
/* A write beyond the limit on file size is to fail and not to end the process. This is a handler
 * because programs started by the code would inherit SIG_IGN. */
static void luart_on_signal(int number)
{
    (void)number;
}

static void luart_bear_full_files(void)
{
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = luart_on_signal, .sa_flags = SA_RESTART},
              NULL);
}
#else
static void luart_bear_full_files(void)
{
}
#endif

static void luart_destroy(void *state)
{
    struct luart_state *st = state;

    if (!st)
        return;
    if (st->L)
        lua_close(st->L);
    luart_tools_free(st);
    if (st->json) {
        st->json->reader_free(st->reader);
        if (st->value)
            st->json->writer_free(st->value);
        if (st->args)
            st->json->writer_free(st->args);
        if (st->probe)
            st->json->writer_free(st->probe);
    }
    free(st->traceback);
    free(st->options);
    free(st->chunk);
    if (st->error_output)
        fclose(st->error_output);
    free(st);
}

static int luart_create(const struct laz_agent_services *services, const char *options_json,
                        size_t options_len, void **state, struct laz_error *err)
{
    struct luart_state *st = calloc(1, sizeof *st);
    int code = LAZ_ENOMEM;

    if (!st)
        goto no_memory;
    st->services = services;
    st->json = services->json;
    st->value = st->json->writer_new(services->max_value);
    st->args = st->json->writer_new(services->max_message);
    st->probe = st->json->writer_new(0);
    st->traceback = calloc(LUART_FRAMES, sizeof *st->traceback);
    st->options = malloc(options_len + 1);
    st->options_len = options_len;
    if (!st->value || !st->args || !st->probe || !st->traceback || !st->options)
        goto no_memory;
    memcpy(st->options, options_json, options_len);
    st->options[options_len] = '\0';
    luart_open_error(st);
    code = luart_start(st, err);
    if (code)
        goto fail;
    luart_bear_full_files();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    *state = st;
    return 0;
no_memory:
    laz_fail(err, code, "out of memory");
fail:
    luart_destroy(st);
    return code;
}

/* A new interpreter is cheaper than renewing a used one: the template only checks the options, and
 * has no interpreter while it is copied. */
static void luart_before_fork(void *state)
{
    struct luart_state *st = state;

    lua_close(st->L);
    st->L = st->running = NULL;
    fflush(NULL);
}

static int luart_renew(void *state, struct laz_error *err)
{
    return luart_start(state, err);
}

static const char *luart_version(void *state)
{
    (void)state;
    return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE;
}

static int luart_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                              struct laz_error *err)
{
    return luart_tools_define(state, tools, n, err);
}

/* ---- descriptor ----------------------------------------------------------------------------- */

static const char *const suffixes[] = {".lua", NULL};
static const char *const libraries[] = {LUART_SONAME, NULL};
static const char *const nothing[] = {NULL};
static const char *const programs[] = {"sh", NULL}; /* os.execute(), io.popen() */
static const char *const reserved_words[] = {
    "and",      "break",  "do",   "else", "elseif", "end",   "false",    "for",
    "function", "goto",   "if",   "in",   "local",  "nil",   "not",      "or",
    "repeat",   "return", "then", "true", "until",  "while", "tool_map", NULL};

static void luart_rest(void *state)
{
    struct luart_state *st = state;

    st->json->writer_reset(st->value);
    st->json->writer_reset(st->args);
}

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .libraries = libraries,
    .read = nothing,
    .env = nothing,
    .reserved_words = reserved_words,
    .create = luart_create,
    .version = luart_version,
    .define_tools = luart_define_tools,
    .check = luart_check,
    .eval = luart_eval,
    .destroy = luart_destroy,
    .programs = programs,
    .before_fork = luart_before_fork,
    .renew = luart_renew,
    .set_script = luart_set_script,
    .rest = luart_rest,
    .interrupt = luart_interrupt,
};

LAZ_PLUGIN(lua) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),
    .name = "lua",
    .version = "0.1.0",
    .summary = "Lua 5.4",
    .options = options,
    .ops = &ops,
};
