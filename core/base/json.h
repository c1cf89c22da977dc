/* SPDX-License-Identifier: MIT */
/* json.h - JSON inside lazaret; includes the headers of all its parts.
 *
 * Text from outside is scanned first (json_scan.h): the other readers accept scanned text only. */
#ifndef LAZ_BASE_JSON_H
#define LAZ_BASE_JSON_H

#include "base/json_fields.h"
#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/json_text.h"
#include "base/json_tree.h"
#include "base/json_write.h"

#include <lazaret/lazaret.h> /* laz_json_api: the functions that plugins get (json_plugin.c) */

#endif
