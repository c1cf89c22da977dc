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

#include <lazaret/lazaret.h> /* laz_json_api */

/* The functions that plugins get (json_plugin.c), which lazaret/json.h describes; and its writer,
 * for values that need the tagged forms. */
struct laz_json_writer *laz_json_writer_new(size_t limit);
void laz_json_writer_free(struct laz_json_writer *writer);
void laz_json_write_null(struct laz_json_writer *writer);
void laz_json_write_bool(struct laz_json_writer *writer, bool value);
void laz_json_write_int(struct laz_json_writer *writer, int64_t value);
void laz_json_write_double(struct laz_json_writer *writer, double value, bool keep_point);
void laz_json_write_string(struct laz_json_writer *writer, const char *text, size_t len);
void laz_json_write_bytes(struct laz_json_writer *writer, const void *data, size_t len);
void laz_json_write_raw(struct laz_json_writer *writer, const char *json, size_t len);
void laz_json_write_array_begin(struct laz_json_writer *writer);
void laz_json_write_array_end(struct laz_json_writer *writer);
void laz_json_write_object_begin(struct laz_json_writer *writer);
void laz_json_write_object_end(struct laz_json_writer *writer);
bool laz_json_write_key(struct laz_json_writer *writer, const char *text, size_t len);
const char *laz_json_writer_text(struct laz_json_writer *writer, size_t *len, bool *too_large);
bool laz_json_writer_failed(const struct laz_json_writer *writer);
void laz_json_writer_reset(struct laz_json_writer *writer);

#endif
