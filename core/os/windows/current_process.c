/* SPDX-License-Identifier: MIT */
/* current_process.c - variables and limits of the calling process.  System: Windows. */
#include "os/current_process.h"

#include "base/buf.h"
#include "os/windows/text.h"

#include <stdlib.h>
#include <string.h>

int64_t laz_os_process_id(void)
{
    return (int64_t)GetCurrentProcessId();
}

uint32_t laz_os_forks(void)
{
    return 0;
}

const char *laz_os_getenv(const char *name)
{
    return getenv(name); /* no program gains more rights than the process that starts it */
}

/* The C library has its own copy of the variable; it is removed from both, and that copy is
 * overwritten. Only the user of this process can read its memory, and nothing can be hidden from
 * that user. */
char *laz_os_take_variable(const char *name, bool wipe)
{
    char *value = getenv(name);
    char *copy = laz_strdup(value);
    char *none = value ? laz_strdupf("%s=", name) : NULL;

    if (value && wipe)
        laz_wipe(value, strlen(value));
    if (none)
        (void)_putenv(none);
    free(none);
    return copy;
}

bool laz_os_set_variable(const char *name, const char *value)
{
    char *entry = laz_strdupf("%s=%s", name, value);
    bool done = entry && _putenv(entry) == 0;

    free(entry);
    return done;
}

int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err)
{
    if (strcmp(name, "core") == 0 && value <= 1) {
        SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
        return 0; /* no report of a crash, and no window about it */
    }
    return laz_error_set(
        err, LAZ_EREFUSED, 0,
        "limit \"%s\": on Windows a process cannot limit itself; its job limits it", name);
}
