/* SPDX-License-Identifier: MIT */
/* lua_interrupt.c - the execution is interrupted.
 * Side: box.  Input trusted: no (the code).
 *
 * As the stand-alone interpreter does, a signal handler sets a hook that raises an error at the
 * next instruction; lua_sethook is made for that (Lua 5.4 reference, lua_sethook).  A hook belongs
 * to one coroutine, and no function of Lua tells which one runs: so `resume` and `wrap` are
 * functions of ours that note it.  They do what those of lcorolib.c do. */
#include "luart.h"

#define INTERRUPT_EVENTS (LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT)

static struct luart_state *interrupt_state(lua_State *L)
{
    return *(struct luart_state **)lua_getextraspace(L);
}

/* A coroutine may be resumed later, in another execution. */
static void interrupt_hook(lua_State *L, lua_Debug *at)
{
    (void)at;
    lua_sethook(L, NULL, 0, 0);
    if (interrupt_state(L)->is_interrupted)
        luaL_error(L, "interrupted!");
}

void luart_interrupt(void *state)
{
    struct luart_state *st = state;

    st->is_interrupted = 1;
    if (st->running)
        lua_sethook(st->running, interrupt_hook, INTERRUPT_EVENTS, 1);
}

void luart_forget_interrupt(struct luart_state *st)
{
    if (st->is_interrupted && lua_gethook(st->L) == interrupt_hook)
        lua_sethook(st->L, NULL, 0, 0);
    st->is_interrupted = 0;
}

/* ---- coroutines ------------------------------------------------------------------------------ */

/* Resumes `co` with the `n` values on top of L, and moves what it gives there: their number; -1: an
 * error, which is on top of L. */
static int coroutine_resume(lua_State *L, lua_State *co, int n)
{
    struct luart_state *st = interrupt_state(L);
    lua_State *before = st->running;
    int n_results;

    if (!lua_checkstack(co, n)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, n);
    st->running = co;
    int status = lua_resume(co, L, n, &n_results);
    st->running = before;
    if (st->is_interrupted) /* what the coroutine made of it does not end the code around it */
        lua_sethook(L, interrupt_hook, INTERRUPT_EVENTS, 1);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, n_results + 1)) {
        lua_pop(co, n_results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, n_results);
    return n_results;
}

/* coroutine.resume(co, ...) */
static int coroutine_resume_safely(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);

    luaL_argexpected(L, co, 1, "coroutine");
    int n = coroutine_resume(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, n >= 0);
    lua_insert(L, n < 0 ? -2 : -(n + 1));
    return n < 0 ? 2 : n + 1;
}

/* The function that coroutine.wrap returns; upvalue: the coroutine. An error that it raises closes
 * it, and gets the place of the call. */
static int coroutine_call(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = coroutine_resume(L, co, lua_gettop(L));

    if (n >= 0)
        return n;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
#if LUA_VERSION_RELEASE_NUM >= 50406
        status = lua_closethread(co, L);
#else
        status = lua_resetthread(co);
#endif
        lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* coroutine.wrap(f) */
static int coroutine_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, coroutine_call, 1);
    return 1;
}

void luart_follow_coroutines(struct luart_state *st, lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"resume", coroutine_resume_safely},
        {"wrap", coroutine_wrap},
        {NULL, NULL},
    };

    st->running = L;
    lua_getglobal(L, "coroutine");
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
