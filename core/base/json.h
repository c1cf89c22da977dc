/* SPDX-License-Identifier: MIT */
/* json.h - JSON inside lazaret; includes the headers of all its parts.
 *
 * Text from anywhere outside is scanned first (json_scan.h); the reader, the pieces and the trees
 * take scanned text only.  Text is made by the writer. */
#ifndef LAZ_BASE_JSON_H
#define LAZ_BASE_JSON_H

#include "base/json_number.h"
#include "base/json_plugin.h"
#include "base/json_reader.h"
#include "base/json_scan.h"
#include "base/json_text.h"
#include "base/json_tree.h"
#include "base/json_writer.h"

#endif
