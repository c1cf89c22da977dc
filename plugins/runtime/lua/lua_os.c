/* SPDX-License-Identifier: MIT */
/* lua_os.c - functions of the library os that are ours.
 * Side: box.  Input trusted: no (the code). */
#include "luart.h"

#include <errno.h>
#include <stdlib.h>

/* os.exit([code [, close]]): ends the process without closing the state. */
static int os_exit(lua_State *L)
{
    struct luart_state *st = lua_touserdata(L, lua_upvalueindex(1));
    int status = 0;

    if (lua_isboolean(L, 1))
        status = lua_toboolean(L, 1) ? 0 : 1;
    else
        status = (int)luaL_optinteger(L, 1, 0);
    fflush(NULL);
    st->services->leave(st->services->agent, status & 0xff);
    return 0;
}

/* os.execute([command]): Lua's own takes errno for the reason whenever the status is not 0. The
 * filter refuses clone3(2), after which glibc starts the child by clone(2), and that of 2.41
 * leaves ENOSYS in errno. */
static int os_execute(lua_State *L)
{
    const char *command = luaL_optstring(L, 1, NULL);

    errno = 0;
    const int status = system(command); // NOLINT(cert-env33-c): it is what code asks for
    if (!command) {
        lua_pushboolean(L, status);
        return 1;
    }
    if (status != -1)
        errno = 0;
    return luaL_execresult(L, status);
}

void luart_os_open(struct luart_state *st, lua_State *L)
{
    lua_getglobal(L, "os");
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, os_exit, 1);
    lua_setfield(L, -2, "exit");
    lua_pushcfunction(L, os_execute);
    lua_setfield(L, -2, "execute");
    lua_pop(L, 1);
}
