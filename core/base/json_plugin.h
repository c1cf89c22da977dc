/* SPDX-License-Identifier: MIT */
/* json_plugin.h - the table of JSON functions that plugins get. */
#ifndef LAZ_BASE_JSON_PLUGIN_H
#define LAZ_BASE_JSON_PLUGIN_H

#include <lazaret/json.h>

const struct laz_json_api *laz_json_api(void);

#endif
