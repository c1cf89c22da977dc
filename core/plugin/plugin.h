/* SPDX-License-Identifier: MIT */
/* plugin.h (core) - finds, checks and loads plugins; includes the headers of all its parts.
 *
 * The host loads backends and tool providers; of a runtime it reads only FILE.json, which is made
 * from the descriptor, and never loads the object. The agent loads one runtime, by path. */
#ifndef LAZ_PLUGIN_PLUGIN_H
#define LAZ_PLUGIN_PLUGIN_H

#include "plugin/descriptions.h"
#include "plugin/descriptor.h"
#include "plugin/installed.h"
#include "plugin/language.h"
#include "plugin/module.h"
#include "plugin/registry.h"
#include "plugin/runtime_info.h"

#endif
