/* SPDX-License-Identifier: MIT */
/* diff.c - what an edit has changed, as lines.
 * Side: host.  Input trusted: no: what a terminal would act on is made visible.
 *
 * An edit changes one region, so the lines before the first and behind the last difference are the
 * same.  Of the lines between them the longest common subsequence stays, unless they are many. */
#include "edit/edit.h"

#include "base/visible.h"

#include <string.h>

#define DIFF_CONTEXT 2
#define DIFF_FEW     64  /* lines on each side that are compared with each other */
#define DIFF_WIDTH   400 /* bytes of a line that are shown */
#define DIFF_BEFORE  40  /* of these before the first difference */

/* A text and the place of a line in it. */
struct diff_line {
    const char *text;
    size_t len; /* with its newline */
};

struct diff {
    struct laz_buf *out;
    const struct laz_buf *before, *after;
    size_t same; /* bytes that both texts begin with */
};

static struct diff_line diff_next(const struct laz_buf *text, size_t at)
{
    const char *begin = text->data + at;
    const char *end = memchr(begin, '\n', text->len - at);

    return (struct diff_line){begin, end ? (size_t)(end - begin) + 1 : text->len - at};
}

static bool diff_equal(struct diff_line a, struct diff_line b)
{
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

/* Shows a line; `from`: the text that it is part of. */
static void diff_show(const struct diff *diff, char mark, const struct laz_buf *from,
                      struct diff_line line)
{
    const size_t at = (size_t)(line.text - from->data);
    size_t skip = 0, len = line.len;

    while (len && (line.text[len - 1] == '\n' || line.text[len - 1] == '\r'))
        len--;
    if (len > DIFF_WIDTH && diff->same > at + DIFF_BEFORE && diff->same < at + len)
        skip = diff->same - at - DIFF_BEFORE;
    while (skip && ((unsigned char)line.text[skip] & 0xc0) == 0x80)
        skip--;
    size_t shown = len - skip < DIFF_WIDTH ? len - skip : DIFF_WIDTH;
    while (skip + shown < len && ((unsigned char)line.text[skip + shown] & 0xc0) == 0x80)
        shown--;
    laz_buf_putc(diff->out, mark);
    laz_buf_puts(diff->out, skip ? "..." : "");
    laz_visible_line(diff->out, line.text + skip, shown);
    laz_buf_puts(diff->out, skip + shown < len ? "...\n" : "\n");
}

/* Lines of a region, at most DIFF_FEW + 1. */
static size_t diff_lines(const struct laz_buf *text, size_t from, size_t to,
                         struct diff_line lines[DIFF_FEW + 1])
{
    size_t n = 0;

    for (size_t at = from; at < to && n <= DIFF_FEW; at += lines[n++].len)
        lines[n] = diff_next(text, at);
    return n;
}

static void diff_all(const struct diff *diff, char mark, const struct laz_buf *text, size_t from,
                     size_t to)
{
    for (size_t at = from; at < to;) {
        struct diff_line line = diff_next(text, at);
        diff_show(diff, mark, text, line);
        at += line.len;
    }
}

/* Shows two regions that differ in their first and their last line. */
static void diff_region(const struct diff *diff, size_t from, size_t old_to, size_t new_to)
{
    struct diff_line old[DIFF_FEW + 1], new[DIFF_FEW + 1];
    unsigned char length[DIFF_FEW + 1][DIFF_FEW + 1] = {{0}}; /* of what is common from (i, j) on */
    size_t n = diff_lines(diff->before, from, old_to, old);
    size_t m = diff_lines(diff->after, from, new_to, new), i, j;

    if (n > DIFF_FEW || m > DIFF_FEW) {
        diff_all(diff, '-', diff->before, from, old_to);
        diff_all(diff, '+', diff->after, from, new_to);
        return;
    }
    for (i = n; i-- > 0;)
        for (j = m; j-- > 0;)
            length[i][j] = diff_equal(old[i], new[j]) ? (unsigned char)(length[i + 1][j + 1] + 1)
                           : length[i + 1][j] > length[i][j + 1] ? length[i + 1][j]
                                                                 : length[i][j + 1];
    for (i = j = 0; i < n || j < m;) {
        if (i < n && j < m && diff_equal(old[i], new[j])) {
            diff_show(diff, ' ', diff->before, old[i++]);
            j++;
        } else if (i < n && (j == m || length[i + 1][j] >= length[i][j + 1])) {
            diff_show(diff, '-', diff->before, old[i++]);
        } else {
            diff_show(diff, '+', diff->after, new[j++]);
        }
    }
}

/* Where the line begins that is `n` lines before the one that begins at `at`. */
static size_t diff_back(const struct laz_buf *text, size_t at, size_t n)
{
    while (n-- && at)
        for (at--; at && text->data[at - 1] != '\n';)
            at--;
    return at;
}

static size_t diff_ahead(const struct laz_buf *text, size_t at, size_t n)
{
    while (n-- && at < text->len)
        at += diff_next(text, at).len;
    return at;
}

static size_t diff_line_number(const struct laz_buf *text, size_t at)
{
    size_t n = 1;

    for (size_t i = 0; i < at; i++)
        n += text->data[i] == '\n';
    return n;
}

static bool diff_begins(const struct laz_buf *text, size_t at)
{
    return !at || text->data[at - 1] == '\n';
}

void laz_edit_diff(struct laz_buf *out, const char *path, const struct laz_buf *before,
                   const struct laz_buf *after)
{
    struct diff diff = {.out = out, .before = before, .after = after};
    const size_t least = before->len < after->len ? before->len : after->len;
    size_t tail = 0;

    while (diff.same < least && before->data[diff.same] == after->data[diff.same])
        diff.same++;
    if (diff.same == before->len && diff.same == after->len)
        return;
    size_t from = diff.same; /* the beginning of its line */
    while (from && after->data[from - 1] != '\n')
        from--;
    while (tail < least - from &&
           before->data[before->len - 1 - tail] == after->data[after->len - 1 - tail])
        tail++;
    while (tail &&
           !(diff_begins(before, before->len - tail) && diff_begins(after, after->len - tail)))
        tail--;
    const size_t old_to = before->len - tail, new_to = after->len - tail;
    const size_t first = diff_back(after, from, DIFF_CONTEXT);
    laz_visible_line(out, path, strlen(path));
    laz_buf_printf(out, ":%zu:\n", diff_line_number(after, from));
    diff_all(&diff, ' ', after, first, from);
    diff_region(&diff, from, old_to, new_to);
    diff_all(&diff, ' ', after, new_to, diff_ahead(after, new_to, DIFF_CONTEXT));
}
