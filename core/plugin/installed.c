/* SPDX-License-Identifier: MIT */
/* installed.c - paths of the plugins and the agent of this build.
 *
 * They are in a file of their own, so that a test can be linked with other paths. */
#include "plugin/installed.h"

#include "base/buf.h"
#include "os/current_process.h"
#include "os/paths.h"

#include <stdlib.h>

char *laz_installed_plugins(void)
{
    return laz_os_installed(LAZ_PREFIX, LAZ_PLUGINDIR);
}

char *laz_installed_agent(void)
{
    const char *own = laz_os_getenv("LAZARET_AGENT");

    return own && own[0] ? laz_strdup(own) : laz_os_installed(LAZ_PREFIX, LAZ_AGENT);
}
