/* SPDX-License-Identifier: MIT */
/* json_plugin.c - the table of JSON functions that plugins get (lazaret/json.h). */
#include "base/json_plugin.h"

#include "base/base64.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

static const struct laz_json_api json_api = {
    .size = sizeof json_api,
    .reader_new = laz_json_reader_new,
    .reader_free = laz_json_reader_free,
    .next = laz_json_reader_next,
    .peek = laz_json_reader_peek,
    .peek_tag = laz_json_reader_peek_tag,
    .skip = laz_json_reader_skip,
    .reader_failed = laz_json_reader_failed,
    .writer_new = laz_json_writer_new,
    .writer_free = laz_json_writer_free,
    .write_null = laz_json_write_null,
    .write_bool = laz_json_write_bool,
    .write_int = laz_json_write_int,
    .write_double = laz_json_write_double,
    .write_string = laz_json_write_string,
    .write_bytes = laz_json_write_bytes,
    .write_raw = laz_json_write_raw,
    .array_begin = laz_json_write_array_begin,
    .array_end = laz_json_write_array_end,
    .object_begin = laz_json_write_object_begin,
    .object_end = laz_json_write_object_end,
    .key = laz_json_write_key,
    .writer_text = laz_json_writer_text,
    .writer_failed = laz_json_writer_failed,
    .writer_reset = laz_json_writer_reset,
    .base64_decode = laz_base64_decode,
};

const struct laz_json_api *laz_json_api(void)
{
    return &json_api;
}
