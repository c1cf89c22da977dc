/* SPDX-License-Identifier: MIT */
/* installed.c - paths of the plugins and the agent of this build, or of the place that
 * its installation has been moved to.
 *
 * They are in a file of their own, so that a test can be linked with other paths. */
#include "plugin/plugin.h"

#include "base/buf.h"
#include "os/current_process.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>

static char *installed_at(const char *path)
{
    static const struct laz_layout layout = {LAZ_PREFIX, LAZ_BINDIR, LAZ_LIBDIR, LAZ_AGENT};

    return laz_os_installed(&layout, path);
}

char *laz_installed_plugins(void)
{
    return installed_at(LAZ_PLUGINDIR);
}

char *laz_installed_agent(void)
{
    const char *own = laz_os_getenv("LAZARET_AGENT");

    return own && own[0] ? laz_strdup(own) : installed_at(LAZ_AGENT);
}

char *laz_installed_libraries(void)
{
    char *plugins = laz_installed_plugins();
    char *slash = plugins ? strrchr(plugins, '/') : NULL;
    char *libraries = slash ? laz_strdupf("%.*s/libraries", (int)(slash - plugins), plugins) : NULL;

    free(plugins);
    return libraries;
}

char *laz_installed_templates(void)
{
    return installed_at(LAZ_TEMPLATES);
}
