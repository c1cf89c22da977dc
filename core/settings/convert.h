/* SPDX-License-Identifier: MIT */
/* convert.h - sizes, times and words in a configuration as C values. */
#ifndef LAZ_SETTINGS_CONVERT_H
#define LAZ_SETTINGS_CONVERT_H

#include "settings/toml/toml.h"

#define LAZ_SIZE_EXPECTED "a size (\"8MiB\", or bytes as an integer)"
#define LAZ_TIME_EXPECTED "a time (\"30s\", \"5m\", \"250ms\", or seconds as a number)"

/* 1024, "512MiB": bytes. False for anything else, also when it does not fit. */
bool laz_convert_size(const struct laz_toml_node *node, uint64_t *bytes);
/* 30, 0.5, "30s", "250ms": milliseconds; what is not whole is rounded up, so that only 0 is 0. */
bool laz_convert_time(const struct laz_toml_node *node, uint64_t *ms);
/* The other way, for messages: "8MiB", "366d". */
void laz_format_size(struct laz_buf *buf, uint64_t bytes);
void laz_format_time(struct laz_buf *buf, uint64_t ms);

bool laz_is_string(const struct laz_toml_node *node, const char *text);
/* Letters, digits, '_' and '-', at most 64: names of plugins. */
bool laz_is_plugin_name(const char *text, size_t len);

#endif
