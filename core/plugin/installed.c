/* SPDX-License-Identifier: MIT */
/* installed.c - where the plugins and the agent of this build are installed.
 *
 * A file of its own, so that a test can be linked with other places. */
#include "plugin/plugin.h"

#include "os/os.h"

#include <stdlib.h>

const char *laz_installed_plugins(void)
{
    return LAZ_PLUGINDIR;
}

char *laz_installed_agent(void)
{
    const char *own = laz_os_getenv("LAZARET_AGENT");

    return laz_strdup(own && own[0] ? own : LAZ_AGENT);
}
