/* SPDX-License-Identifier: MIT */
/* nowhere.c - replaces core/plugin/installed.c: a command for which nothing is installed, so that
 * tests are independent of the files in this build's prefix. */
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

char *laz_installed_libraries(void)
{
    return laz_strdup("/nonexistent/libraries");
}

char *laz_installed_templates(void)
{
    const char *own = secure_getenv("LAZARET_TEST_TEMPLATES");

    return laz_strdup(own ? own : "/nonexistent/lazaret/templates");
}
