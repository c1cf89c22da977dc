/* SPDX-License-Identifier: MIT */
/* utf8.h - UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, at most U+10FFFF. */
#ifndef LAZ_BASE_UTF8_H
#define LAZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the valid sequence at `text`, 1 to 4; 0 when it is not valid or cut off. */
size_t laz_utf8_sequence(const char *text, size_t len);
/* Bytes from the start that are whole characters, none of them ASCII. */
size_t laz_utf8_span(const char *text, size_t len);
bool laz_utf8_is_valid(const char *text, size_t len);
/* Characters of a valid text. */
size_t laz_utf8_count(const char *text, size_t len);
/* Writes a code point as UTF-8; returns the bytes written (1 to 4), 0 for a surrogate or beyond. */
size_t laz_utf8_encode(uint32_t code_point, char out[4]);

/* Makes a text of others fit for one line of a log or a terminal, in place: control characters,
 * also those of two bytes (U+0080 to U+009F), become spaces, bytes that are not UTF-8 question
 * marks. A character that is cut off at the end is left out. */
void laz_utf8_clean(char *text);

#endif
