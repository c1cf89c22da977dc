/* SPDX-License-Identifier: MIT */
/* js_encode.c - text as bytes and bytes as text: what TextEncoder, TextDecoder and Buffer are made
 * of.
 *
 * A string of the engine is a sequence of 16-bit units, not always well formed; a lone surrogate
 * becomes U+FFFD in UTF-8.  Bytes that are not UTF-8 become U+FFFD by the rule of the Encoding
 * Standard: one for each longest beginning of a character.  Base64 and hexadecimal are the engine's
 * own functions. */
#include "js.h"

#include <stdlib.h>
#include <string.h>

/* The code point that begins at units[*at], which moves behind it. */
static uint32_t encode_point(const JSChar *units, size_t n, size_t *at)
{
    uint32_t unit = units[(*at)++];

    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || *at == n || units[*at] < 0xdc00 || units[*at] > 0xdfff)
        return 0xfffd;
    return 0x10000 + ((unit - 0xd800) << 10) + (uint32_t)(units[(*at)++] - 0xdc00);
}

static size_t encode_length(const JSChar *units, size_t n)
{
    size_t len = 0;

    for (size_t at = 0; at < n;) {
        uint32_t point = encode_point(units, n, &at);

        len += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    }
    return len;
}

static void encode_write(const JSChar *units, size_t n, uint8_t *out)
{
    for (size_t at = 0; at < n;) {
        uint32_t point = encode_point(units, n, &at);

        if (point < 0x80) {
            *out++ = (uint8_t)point;
            continue;
        }
        if (point < 0x800) {
            *out++ = (uint8_t)(0xc0 | point >> 6);
        } else {
            if (point < 0x10000) {
                *out++ = (uint8_t)(0xe0 | point >> 12);
            } else {
                *out++ = (uint8_t)(0xf0 | point >> 18);
                *out++ = (uint8_t)(0x80 | (point >> 12 & 0x3f));
            }
            *out++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
        }
        *out++ = (uint8_t)(0x80 | (point & 0x3f));
    }
}

/* What a first byte of UTF-8 allows: how many bytes follow, and the range of the next one. */
struct decode_lead {
    unsigned more;
    uint8_t low, high;
};

static struct decode_lead decode_lead(uint8_t byte)
{
    struct decode_lead lead = {0, 0x80, 0xbf};

    if (byte >= 0xc2 && byte <= 0xdf)
        lead.more = 1;
    else if (byte >= 0xe0 && byte <= 0xef)
        lead.more = 2;
    else if (byte >= 0xf0 && byte <= 0xf4)
        lead.more = 3;
    if (byte == 0xe0)
        lead.low = 0xa0;
    else if (byte == 0xed)
        lead.high = 0x9f;
    else if (byte == 0xf0)
        lead.low = 0x90;
    else if (byte == 0xf4)
        lead.high = 0x8f;
    return lead;
}

/* Writes at most n units to out, as a byte gives at most one.  Returns how many; *valid becomes
 * false if any byte had to be replaced. */
static size_t decode_write(const uint8_t *bytes, size_t n, JSChar *out, bool *valid)
{
    size_t len = 0;

    *valid = true;
    for (size_t at = 0; at < n;) {
        uint32_t point = bytes[at++];

        if (point < 0x80) {
            out[len++] = (JSChar)point;
            continue;
        }
        struct decode_lead lead = decode_lead((uint8_t)point);
        unsigned more = lead.more;

        point &= 0x3fu >> more;
        while (more && at < n && bytes[at] >= lead.low && bytes[at] <= lead.high) {
            point = point << 6 | (bytes[at++] & 0x3f);
            lead.low = 0x80;
            lead.high = 0xbf;
            more--;
        }
        if (!lead.more || more) {
            point = 0xfffd;
            *valid = false;
        }
        if (point >= 0x10000) {
            out[len++] = (JSChar)(0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        out[len++] = (JSChar)point;
    }
    return len;
}

static bool decode_is_ascii(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!bytes[i] || bytes[i] > 0x7f)
            return false;
    }
    return true;
}

/* A string that takes one byte for each of its characters. */
static JSStringRef decode_ascii(const uint8_t *bytes, size_t n)
{
    JSStringRef string = NULL;
    char *text = malloc(n + 1);

    if (text) {
        if (n)
            memcpy(text, bytes, n);
        text[n] = '\0';
        string = JSStringCreateWithUTF8CString(text);
    }
    free(text);
    return string;
}

enum encoding { UTF8, LATIN1, UTF16 };

static JSStringRef decode_string(enum encoding encoding, const uint8_t *bytes, size_t n,
                                 bool *valid)
{
    JSStringRef string = NULL;
    JSChar *units = NULL;
    size_t len = n;

    if (encoding != UTF16 && decode_is_ascii(bytes, n))
        return decode_ascii(bytes, n);
    units = calloc(n + 1, sizeof *units);
    if (!units)
        return NULL;
    if (encoding == UTF8) {
        len = decode_write(bytes, n, units, valid);
    } else if (encoding == LATIN1) {
        for (size_t i = 0; i < n; i++)
            units[i] = bytes[i];
    } else {
        len = n / 2;
        for (size_t i = 0; i < len; i++)
            units[i] = (JSChar)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    }
    string = JSStringCreateWithCharacters(units, len);
    free(units);
    return string;
}

/* The text of the bytes that are the first argument; undefined if it has to be valid and is not. */
static JSValueRef decode_value(JSContextRef context, enum encoding encoding, size_t n,
                               const JSValueRef arguments[], bool fatal, JSValueRef *exception)
{
    JSValueRef value = JSValueMakeUndefined(context);
    bool valid = true;
    void *data = NULL;
    size_t len = 0;

    if (!n || !js_bytes(context, arguments[0], &data, &len))
        return js_throw(context, exception, "bytes are expected");
    JSStringRef string = decode_string(encoding, data, len, &valid);
    if (!string)
        return js_throw(context, exception, "out of memory");
    if (valid || !fatal)
        value = JSValueMakeString(context, string);
    JSStringRelease(string);
    return value;
}

/* utf8Decode(bytes, fatal) */
JS_NATIVE(encode_utf8_decode)
{
    JS_UNUSED;
    bool fatal = n > 1 && JSValueToBoolean(context, arguments[1]);
    return decode_value(context, UTF8, n, arguments, fatal, exception);
}

/* latin1Decode(bytes) */
JS_NATIVE(encode_latin1_decode)
{
    JS_UNUSED;
    return decode_value(context, LATIN1, n, arguments, false, exception);
}

/* utf16Decode(bytes): little-endian; an odd byte at the end is left out. */
JS_NATIVE(encode_utf16_decode)
{
    JS_UNUSED;
    return decode_value(context, UTF16, n, arguments, false, exception);
}

/* The bytes of the string that is the first argument. */
static JSValueRef encode_value(JSContextRef context, enum encoding encoding, size_t n,
                               const JSValueRef arguments[], JSValueRef *exception)
{
    JSStringRef string = n ? JSValueToStringCopy(context, arguments[0], exception) : NULL;

    if (!string)
        return JSValueMakeUndefined(context);
    const size_t count = JSStringGetLength(string);
    const JSChar *units = JSStringGetCharactersPtr(string);
    const size_t len = encoding == UTF8    ? encode_length(units, count)
                       : encoding == UTF16 ? 2 * count
                                           : count;
    uint8_t *bytes = malloc(len ? len : 1);

    if (!bytes) {
        JSStringRelease(string);
        return js_throw(context, exception, "out of memory");
    }
    if (encoding == UTF8) {
        encode_write(units, count, bytes);
    } else if (encoding == LATIN1) {
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)units[i];
    } else {
        for (size_t i = 0; i < count; i++) {
            bytes[2 * i] = (uint8_t)units[i];
            bytes[2 * i + 1] = (uint8_t)(units[i] >> 8);
        }
    }
    JSStringRelease(string);
    return js_new_bytes(context, bytes, len, exception);
}

/* utf8Encode(text) */
JS_NATIVE(encode_utf8_encode)
{
    JS_UNUSED;
    return encode_value(context, UTF8, n, arguments, exception);
}

/* latin1Encode(text): the low byte of each unit. */
JS_NATIVE(encode_latin1_encode)
{
    JS_UNUSED;
    return encode_value(context, LATIN1, n, arguments, exception);
}

/* utf16Encode(text): little-endian. */
JS_NATIVE(encode_utf16_encode)
{
    JS_UNUSED;
    return encode_value(context, UTF16, n, arguments, exception);
}

/* utf8Length(text): as many bytes as utf8Encode gives. */
JS_NATIVE(encode_utf8_length)
{
    JS_UNUSED;
    JSStringRef string = n ? JSValueToStringCopy(context, arguments[0], exception) : NULL;

    if (!string)
        return JSValueMakeUndefined(context);
    const size_t len = encode_length(JSStringGetCharactersPtr(string), JSStringGetLength(string));
    JSStringRelease(string);
    return js_number(context, (double)len);
}

const struct js_native js_natives_encode[] = {
    {"utf8Encode", encode_utf8_encode},     {"utf8Decode", encode_utf8_decode},
    {"utf8Length", encode_utf8_length},     {"utf16Encode", encode_utf16_encode},
    {"utf16Decode", encode_utf16_decode},   {"latin1Encode", encode_latin1_encode},
    {"latin1Decode", encode_latin1_decode}, {NULL, NULL},
};
