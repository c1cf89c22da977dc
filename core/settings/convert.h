/* SPDX-License-Identifier: MIT */
/* convert.h - converts sizes, times and words of a configuration to C values. */
#ifndef LAZ_SETTINGS_CONVERT_H
#define LAZ_SETTINGS_CONVERT_H

#include "settings/toml/toml.h"

#define LAZ_SIZE_EXPECTED "a size (\"8MiB\", or bytes as an integer)"
#define LAZ_TIME_EXPECTED "a time (\"30s\", \"5m\", \"250ms\", or seconds as a number)"

/* 1024, "512MiB": bytes. False for anything else, and when the value does not fit. */
bool laz_convert_size(const struct laz_toml_node *node, uint64_t *bytes);
/* 30, 0.5, "30s", "250ms": milliseconds, rounded up, so that only 0 becomes 0. */
bool laz_convert_time(const struct laz_toml_node *node, uint64_t *ms);
/* Appends what somebody may have meant who wrote a size that is none, as docker and other programs
 * have it ("512M", "1gb"); else nothing. */
void laz_suggest_size(struct laz_buf *buf, const struct laz_toml_node *node);
/* Appends how the value of a table of strings is written that is a number, say, and may be secret;
 * else nothing. On a command line the shell takes quotes away. `table`: the name of the table
 * there. */
void laz_suggest_quotes(struct laz_buf *buf, const struct laz_toml_node *node, const char *table);
/* The reverse, for messages: "8MiB", "366d". */
void laz_format_size(struct laz_buf *buf, uint64_t bytes);
void laz_format_time(struct laz_buf *buf, uint64_t ms);

#endif
