/* SPDX-License-Identifier: MIT */
/* confine.c - what lazaret-picture gives up before it reads a byte.
 * Side: lazaret-picture.  Input trusted: yes (nothing has been read).
 *
 * The same pieces as the agent's (core/agent/confine.c), each of them needed here, so none may
 * fail.  The filter alone leaves no call that names a file, a socket or a process, so there is
 * nothing that Landlock would have to refuse.  The limits bound what is left: memory and time. */
#include "picture/picture.h"

#include "os/current_process.h"
#include "os/filter.h"

/* As in the agent: the tables of the address sanitizer are many times any limit. */
#ifdef LAZ_SANITIZE
#define CONFINE_MEMORY UINT64_MAX
#else
#define CONFINE_MEMORY PICTURE_MEMORY
#endif

int picture_confine(struct laz_error *err)
{
    static const struct {
        const char *name;
        uint64_t value;
    } limits[] = {
        {"core", 1}, /* no dump, and no handler of dumps either */
        {"memory", CONFINE_MEMORY},
        {"cpu", PICTURE_CPU_S},
    };
    int rc = laz_os_no_new_privs(err);

    for (size_t i = 0; i < sizeof limits / sizeof *limits && !rc; i++)
        rc = laz_os_set_limit(limits[i].name, limits[i].value, err);
    return rc ? rc : laz_os_filter(LAZ_FILTER_PICTURE, err);
}
