/* SPDX-License-Identifier: MIT */
/* nowhere.c - in place of core/plugin/installed.c: a command for which nothing is installed, so
 * that a test decides by itself what there is, whatever this build's prefix holds. */
#include "base/buf.h"
#include "plugin/plugin.h"

#include <stdlib.h>

char *laz_installed_plugins(void)
{
    return laz_strdup("/nonexistent/lazaret/plugins-1");
}

char *laz_installed_agent(void)
{
    const char *own = secure_getenv("LAZARET_AGENT");

    return laz_strdup(own && own[0] ? own : "/nonexistent/lazaret/lazaret-agent");
}
