/* SPDX-License-Identifier: MIT */
/* installed.h - paths of the plugins and the agent of this build. */
#ifndef LAZ_PLUGIN_INSTALLED_H
#define LAZ_PLUGIN_INSTALLED_H

/* The installed directory of plugins, and the path of the agent ($LAZARET_AGENT if set, unless the
 * process is set-id). New strings; NULL: out of memory. */
char *laz_installed_plugins(void);
char *laz_installed_agent(void);
/* The installed directory of templates for plugins. */
char *laz_installed_templates(void);

#endif
