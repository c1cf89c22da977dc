/* SPDX-License-Identifier: MIT */
/* output.c - the output of an execution: stored up to the caps, passed on as it arrives.
 * Side: host.  Input trusted: no.
 *
 * Output is not decoded.  Beyond a cap it is counted and dropped, which is not an error; execute.c
 * ends code that writes far more (verdict output_limit). */
#include "session/output.h"

#include <stdlib.h>
#include <string.h>

static void output_piece(struct laz_output *output, int stream, size_t len)
{
    struct laz_output_piece *last = output->n_pieces ? &output->pieces[output->n_pieces - 1] : NULL;

    if (last && last->stream == stream && last->at + last->len == output->kept.len) {
        last->len += len;
        return;
    }
    if (output->n_pieces == output->cap_pieces) {
        size_t cap = output->cap_pieces ? output->cap_pieces * 2 : 16;
        struct laz_output_piece *pieces = realloc(output->pieces, cap * sizeof *pieces);
        if (!pieces) {
            output->kept.failed = true;
            return;
        }
        output->pieces = pieces;
        output->cap_pieces = cap;
    }
    output->pieces[output->n_pieces++] = (struct laz_output_piece){stream, output->kept.len, len};
}

static void output_lines(struct laz_output *output, int stream, const char *data, size_t len)
{
    struct laz_buf *partial = &output->partial[stream];

    while (len) {
        const char *newline = memchr(data, '\n', len);
        size_t part = newline ? (size_t)(newline - data) : len;
        if (newline && !partial->len) {
            output->line(output->user, stream, data, part);
        } else {
            laz_buf_append(partial, data, part);
            if (newline || partial->len > LAZ_OUTPUT_LINE_MAX) {
                output->line(output->user, stream, laz_buf_text(partial), partial->len);
                laz_buf_clear(partial);
            }
        }
        part += newline != NULL;
        data += part;
        len -= part;
    }
}

/* Counts newlines, eight bytes at a time: after the sum, the high bit of a byte is clear only where
 * the byte was '\n'; no carry crosses bytes. */
static size_t output_newlines(const char *data, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), sevens = ones * 0x7f;
    size_t n = 0, i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, data + i, 8);
        word ^= ones * '\n';
        n += (~(((word & sevens) + sevens) | word) >> 7 & ones) * ones >> 56;
    }
    for (; i < len; i++)
        n += data[i] == '\n';
    return n;
}

/* How many of the bytes may be stored: up to the cap on bytes, and to the end of the last line that
 * the cap on lines allows. */
static size_t output_allowed(struct laz_output *output, const char *data, size_t len)
{
    size_t allowed = len;

    if (output->max_bytes) {
        uint64_t room =
            output->kept.len < output->max_bytes ? output->max_bytes - output->kept.len : 0;
        if (room < allowed)
            allowed = (size_t)room;
    }
    if (!output->max_lines)
        return allowed;
    size_t at = 0;
    if (output->max_lines - output->lines > allowed) { /* even if all of them are newlines */
        output->lines += output_newlines(data, allowed);
        return allowed;
    }
    while (at < allowed && output->lines < output->max_lines) {
        const char *newline = memchr(data + at, '\n', allowed - at);
        if (!newline)
            return allowed;
        output->lines++;
        at = (size_t)(newline - data) + 1;
    }
    return at;
}

void laz_output_add(struct laz_output *output, int stream, const char *data, size_t len)
{
    output->total += len;
    if (output->truncated)
        return; /* drops everything after the first dropped byte */
    size_t allowed = output_allowed(output, data, len);
    output->truncated = allowed < len;
    if (!allowed)
        return;
    output_piece(output, stream, allowed);
    laz_buf_append(&output->kept, data, allowed);
    if (output->raw)
        output->raw(output->user, stream, data, allowed);
    if (output->line)
        output_lines(output, stream, data, allowed);
}

void laz_output_say(struct laz_output *output, int stream, const char *lines, size_t len)
{
    for (size_t i = output->n_pieces; i-- > 0;) {
        const struct laz_output_piece *piece = &output->pieces[i];
        if (piece->stream != stream)
            continue;
        if (laz_buf_text(&output->kept)[piece->at + piece->len - 1] != '\n')
            laz_output_add(output, stream, "\n", 1);
        break;
    }
    laz_output_add(output, stream, lines, len);
}

void laz_output_end(struct laz_output *output)
{
    for (int stream = 1; stream <= 2 && output->line; stream++) {
        struct laz_buf *partial = &output->partial[stream];
        if (partial->len)
            output->line(output->user, stream, laz_buf_text(partial), partial->len);
        laz_buf_clear(partial);
    }
}

void laz_output_fini(struct laz_output *output)
{
    laz_buf_fini(&output->kept);
    for (int i = 0; i < 3; i++)
        laz_buf_fini(&output->partial[i]);
    free(output->pieces);
    *output = (struct laz_output){0};
}
