/* SPDX-License-Identifier: MIT */
/* utf8.h - UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, at most U+10FFFF. */
#ifndef LAZ_BASE_UTF8_H
#define LAZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a character by its first one (RFC 3629, section 3); 0: no character begins so. */
size_t laz_utf8_length(char first);
/* Bytes of the valid sequence at `text`, 1 to 4; 0 if it is invalid or cut off. */
size_t laz_utf8_sequence(const char *text, size_t len);
/* How many bytes from the start are whole characters that are not ASCII. */
size_t laz_utf8_span(const char *text, size_t len);
bool laz_utf8_is_valid(const char *text, size_t len);
/* The number of characters of a valid text. */
size_t laz_utf8_count(const char *text, size_t len);
/* The code point of a valid sequence of n bytes. */
uint32_t laz_utf8_code_point(const char *text, size_t n);
/* Writes a code point as UTF-8; returns the bytes written, 1 to 4; 0 if it is none. */
size_t laz_utf8_encode(uint32_t code_point, char out[4]);

/* Makes an untrusted text fit for one line of a log or a terminal, in place: control characters,
 * also U+0080 to U+009F, become spaces, and bytes that are not UTF-8 become question marks. A
 * character that is cut off at the end is removed. */
void laz_utf8_clean(char *text);

#endif
