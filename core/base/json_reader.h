/* SPDX-License-Identifier: MIT */
/* json_reader.h - reading scanned JSON text token by token, without a tree. */
#ifndef LAZ_BASE_JSON_READER_H
#define LAZ_BASE_JSON_READER_H

#include <lazaret/json.h>

/* The functions of struct laz_json_api (lazaret/json.h), which describes them. */
struct laz_json_reader *laz_json_reader_new(const char *text, size_t len);
void laz_json_reader_free(struct laz_json_reader *reader);
uint32_t laz_json_reader_next(struct laz_json_reader *reader, struct laz_json_token *token);
uint32_t laz_json_reader_peek(struct laz_json_reader *reader);
const char *laz_json_reader_peek_tag(struct laz_json_reader *reader);
bool laz_json_reader_skip(struct laz_json_reader *reader, const char **raw, size_t *raw_len);
bool laz_json_reader_failed(const struct laz_json_reader *reader);

#endif
