/* SPDX-License-Identifier: MIT */
/* json_writer.h - writing JSON text front to back. */
#ifndef LAZ_BASE_JSON_WRITER_H
#define LAZ_BASE_JSON_WRITER_H

#include "base/buf.h"

#include <lazaret/json.h>

/* The functions of struct laz_json_api (lazaret/json.h), which describes them. */
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

/* `text` as a JSON string, quotes included. Bytes that are not UTF-8, and NUL, become U+FFFD: this
 * is for messages; values go through the writer. */
void laz_json_quote(struct laz_buf *buf, const char *text, size_t len);
/* Appends a list of strings as a JSON array. */
void laz_json_strings(struct laz_buf *buf, const struct laz_strv *strings);

#endif
