/* SPDX-License-Identifier: MIT */
/* stream.c - the pieces of one direction of an HTTP/1 connection.
 * Side: host, and the proxy.  Input trusted: no. */
#include "http/http.h"

#include "base/json_text.h" /* laz_hex_digit */

#define STREAM_CHUNK_LINE 1024 /* most bytes of a line with the size of a chunk */

size_t laz_http_refuse(struct laz_http_stream *stream, const char *why)
{
    stream->part = LAZ_HTTP_REFUSED;
    stream->why = why;
    return 0;
}

/* The length of a line, or (`is_head`) of lines up to an empty one, with their ends. 0: it is not
 * complete, or refused. */
static size_t stream_lines(struct laz_http_stream *stream, const char *data, size_t len,
                           size_t most, bool is_head)
{
    size_t at = stream->seen;

    for (; at < len && at < most; at++) {
        if (data[at] == '\0' || data[at] == '\n')
            return laz_http_refuse(stream, data[at] ? "a line does not end with CR LF"
                                                    : "there is a NUL in a head");
        if (data[at] != '\r')
            continue;
        if (at + 1 == len)
            break;
        if (data[at + 1] != '\n')
            return laz_http_refuse(stream, "a line does not end with CR LF");
        if (++at >= most)
            break;
        if (!is_head || at == 1 || data[at - 2] == '\n') {
            stream->seen = 0;
            return at + 1;
        }
    }
    stream->seen = at;
    return at >= most || len >= most ? laz_http_refuse(stream, "a head or a line is too long") : 0;
}

static size_t stream_data(struct laz_http_stream *stream, size_t len, enum laz_http_part next)
{
    size_t n = stream->left < len ? (size_t)stream->left : len;

    stream->left -= n;
    if (!stream->left)
        stream->part = next;
    return n;
}

static size_t stream_chunk(struct laz_http_stream *stream, const char *data, size_t len)
{
    size_t n = stream_lines(stream, data, len, STREAM_CHUNK_LINE, false), digits = 0;

    if (!n)
        return 0;
    for (stream->left = 0; laz_hex_digit(data[digits]) >= 0; digits++)
        stream->left = stream->left << 4 | (uint64_t)laz_hex_digit(data[digits]);
    if (!digits || digits > 15 || (data[digits] != '\r' && data[digits] != ';'))
        return laz_http_refuse(stream, "the size of a chunk is malformed");
    if (stream->is_plain && data[digits] == ';')
        return laz_http_refuse(stream, "a chunk has an extension");
    stream->trailers = 0;
    stream->part = stream->left ? LAZ_HTTP_CHUNK_DATA : LAZ_HTTP_TRAILER;
    return n;
}

static size_t stream_chunk_end(struct laz_http_stream *stream, const char *data, size_t len)
{
    if (data[0] != '\r' || (len > 1 && data[1] != '\n'))
        return laz_http_refuse(stream, "a chunk has another length than it says");
    if (len < 2)
        return 0;
    stream->part = LAZ_HTTP_CHUNK;
    return 2;
}

static size_t stream_trailer(struct laz_http_stream *stream, const char *data, size_t len)
{
    size_t n = stream_lines(stream, data, len, LAZ_HTTP_HEAD_MOST - stream->trailers, false);

    if (n == 2)
        stream->part = LAZ_HTTP_HEAD;
    stream->trailers += n;
    return n;
}

size_t laz_http_piece(struct laz_http_stream *stream, const char *data, size_t len)
{
    if (!len)
        return 0;
    switch (stream->part) {
    case LAZ_HTTP_HEAD:
        return stream_lines(stream, data, len, LAZ_HTTP_HEAD_MOST, true);
    case LAZ_HTTP_BODY:
        return stream_data(stream, len, LAZ_HTTP_HEAD);
    case LAZ_HTTP_CHUNK:
        return stream_chunk(stream, data, len);
    case LAZ_HTTP_CHUNK_DATA:
        return stream_data(stream, len, LAZ_HTTP_CHUNK_END);
    case LAZ_HTTP_CHUNK_END:
        return stream_chunk_end(stream, data, len);
    case LAZ_HTTP_TRAILER:
        return stream_trailer(stream, data, len);
    case LAZ_HTTP_REST:
        return len;
    case LAZ_HTTP_REFUSED:
        break;
    }
    return 0;
}

void laz_http_follow(struct laz_http_stream *stream, bool is_chunked, uint64_t length)
{
    stream->left = is_chunked ? 0 : length;
    stream->part = is_chunked ? LAZ_HTTP_CHUNK : length ? LAZ_HTTP_BODY : LAZ_HTTP_HEAD;
}
