/* SPDX-License-Identifier: MIT */
/* current_process.c - variables and privileges of the calling process.  System: Linux. */
#include "os/current_process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *laz_os_getenv(const char *name)
{
    return secure_getenv(name);
}

int laz_os_no_new_privs(struct laz_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return laz_error_os(err, errno, "cannot set no_new_privs");
    return 0;
}

bool laz_os_inherit_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

bool laz_os_die_with_parent(int64_t parent, int signal)
{
    return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0) == 0 && getppid() == parent;
}
