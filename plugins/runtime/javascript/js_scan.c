/* SPDX-License-Identifier: MIT */
/* js_scan.c - from what reading has found to the text that the engine gets.
 *
 * Names are sorted, not hashed, so that no choice of names makes it slow. In the box; the code is
 * not trusted. */
#include "js_scan_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

/* A name for sorting: by its text, then as it was declared. */
struct sorted_name {
    const char *text;
    struct js_name *name;
};

static int names_order(const void *a, const void *b)
{
    const struct sorted_name *one = a, *other = b;
    size_t len = one->name->len < other->name->len ? one->name->len : other->name->len;
    int order = memcmp(one->text, other->text, len);

    if (order != 0)
        return order;
    if (one->name->len != other->name->len)
        return one->name->len < other->name->len ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

/* Gives the first of each name the kinds of all of them. */
static void names_join(struct js_reader *reader)
{
    struct sorted_name *sorted = calloc(reader->n_names + 1, sizeof *sorted);
    struct js_name *first = NULL;

    reader->out_of_memory |= !sorted;
    for (size_t i = 0; sorted && i < reader->n_names; i++) {
        sorted[i].name = &reader->names[i];
        sorted[i].text = reader->spellings.data + reader->names[i].at;
    }
    if (sorted && reader->n_names)
        qsort(sorted, reader->n_names, sizeof *sorted, names_order);
    for (size_t i = 0; sorted && i < reader->n_names; i++) {
        struct js_name *name = sorted[i].name;
        if (i && first->len == name->len &&
            memcmp(sorted[i - 1].text, sorted[i].text, name->len) == 0) {
            name->repeated = true;
            first->functions |= name->kinds & first->kinds & JS_FUNCTION;
            first->kinds |= name->kinds;
        } else {
            first = name;
        }
    }
    free(sorted);
}

static bool names_have(const struct js_reader *reader, unsigned kinds)
{
    for (size_t i = 0; i < reader->n_names; i++)
        if (reader->names[i].kinds & kinds)
            return true;
    return false;
}

/* Is a function declared that must not be in a block beside another declaration of its name? */
static bool names_collide(const struct js_reader *reader)
{
    for (size_t i = 0; i < reader->n_names; i++) {
        const struct js_name *name = &reader->names[i];
        if (name->functions || ((name->kinds & JS_FUNCTION) && (name->kinds & (JS_VAR | JS_INNER))))
            return true;
    }
    return false;
}

/* The names of these kinds, each with a NUL; NULL: there are none. */
static char *names_list(struct js_reader *reader, unsigned kinds)
{
    struct js_text list = {0};

    for (size_t i = 0; i < reader->n_names; i++) {
        const struct js_name *name = &reader->names[i];
        if (name->repeated || !(name->kinds & kinds))
            continue;
        js_text_add(&list, reader->spellings.data + name->at, name->len);
        js_text_add(&list, "", 1);
    }
    if (list.len)
        js_text_add(&list, "", 1);
    reader->out_of_memory |= list.failed;
    return list.data;
}

/* __publish({get a(){return a},set a(v){a=v}}); */
static void names_publish(const struct js_reader *reader, unsigned kinds, struct js_text *text)
{
    const char *before = "__publish({";

    for (size_t i = 0; i < reader->n_names; i++) {
        const struct js_name *name = &reader->names[i];
        const char *spelled = reader->spellings.data + name->at;
        bool is_v = name->len == 1 && *spelled == 'v';
        const char *pieces[] = {"get ", "(){return ", "},set ", is_v ? "(w){" : "(v){",
                                is_v ? "=w}" : "=v}"};
        if (name->repeated || !(name->kinds & kinds))
            continue;
        js_text_puts(text, before);
        for (size_t k = 0; k < 5; k++) {
            js_text_puts(text, pieces[k]);
            js_text_add(text, spelled, k < 4 ? name->len : 0);
        }
        before = ",";
    }
    if (*before == ',')
        js_text_puts(text, "});");
}

/* ---- the text ------------------------------------------------------------------------------- */

struct writer {
    const struct js_reader *reader;
    struct js_scan *scan;
    struct js_text text;
    size_t pos;          /* in the code */
    size_t line, column; /* of the result, from 1 */
    size_t cap_shifts;
};

/* UTF-16 units of a text without ends of lines. */
static size_t units_of(const char *text, size_t len)
{
    size_t units = 0;

    for (size_t i = 0; i < len; i++)
        units += ((unsigned char)text[i] & 0xc0) == 0x80 ? 0
                 : (unsigned char)text[i] >= 0xf0        ? 2
                                                         : 1;
    return units;
}

/* Copies the code up to `end`, or spaces for it. */
static void write_code(struct writer *writer, size_t end, bool blank)
{
    const char *code = writer->reader->code;
    size_t start = writer->pos;

    while (writer->pos < end) {
        size_t line_end = js_line_end(code, end, writer->pos);
        if (line_end) {
            writer->pos += line_end;
            writer->line++;
            writer->column = 1;
            if (blank)
                js_text_add(&writer->text, code + writer->pos - line_end, line_end);
        } else {
            size_t units = units_of(code + writer->pos++, 1);
            writer->column += units;
            if (blank)
                js_text_add(&writer->text, "  ", units);
        }
    }
    if (!blank)
        js_text_add(&writer->text, code + start, end - start);
}

static void write_shift(struct writer *writer, ptrdiff_t units)
{
    struct js_scan *scan = writer->scan;

    if (scan->n_shifts == writer->cap_shifts) {
        size_t cap = writer->cap_shifts * 2 + 8;
        struct js_shift *grown = realloc(scan->shifts, cap * sizeof *grown);
        writer->text.failed |= !grown;
        if (!grown)
            return;
        scan->shifts = grown;
        writer->cap_shifts = cap;
    }
    scan->shifts[scan->n_shifts++] = (struct js_shift){writer->line, writer->column, units};
}

/* Puts text in for `len` bytes of the code. */
static void write_text(struct writer *writer, const char *text, size_t text_len, size_t len)
{
    size_t units = units_of(text, text_len);
    size_t gone = units_of(writer->reader->code + writer->pos, len);

    if (units != gone)
        write_shift(writer, (ptrdiff_t)units - (ptrdiff_t)gone);
    js_text_add(&writer->text, text, text_len);
    writer->column += units;
    writer->pos += len;
}

static void write_edit(struct writer *writer, const struct js_edit *edit)
{
    char at[40];
    const char *text = edit->text;

    if (!text)
        snprintf(at, sizeof at, "__at(%zu);", edit->line);
    text = text ? text : at;
    write_code(writer, edit->at, false);
    write_text(writer, text, strlen(text), edit->blank ? strlen(text) : edit->len);
    if (edit->blank)
        write_code(writer, edit->at + edit->len, true);
}

static int edits_order(const void *a, const void *b)
{
    const struct js_edit *one = a, *other = b;

    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool edit_is_made(const struct js_edit *edit, enum js_form form)
{
    return edit->when == JS_WHEN_ANY || form == JS_ASYNC ||
           (form == JS_MODULE && edit->when == JS_WHEN_MODULE);
}

/* return (EXPRESSION) */
static void add_returns(struct js_reader *reader)
{
    for (size_t i = 0; i < reader->n_values; i++) {
        struct js_edit edit = {.when = JS_WHEN_ASYNC};
        edit.at = reader->values[i].start;
        edit.text = "return (";
        edit.rank = JS_RANK_RETURN;
        js_edit(reader, &edit);
        edit.at = reader->values[i].end;
        edit.text = ")";
        edit.rank = JS_RANK_AT;
        js_edit(reader, &edit);
    }
}

static void write_prefix(struct writer *writer)
{
    const struct js_reader *reader = writer->reader;
    const struct js_scan *scan = writer->scan;
    struct js_text prefix = {0};

    if (scan->form == JS_BLOCK) {
        js_text_puts(&prefix, scan->strict ? "'use strict';void 0;{" : "{");
        names_publish(reader, JS_LEXICAL | JS_FUNCTION, &prefix);
    } else if (scan->form == JS_ASYNC) {
        js_text_puts(&prefix, scan->strict ? "(async()=>{'use strict';" : "(async()=>{");
        js_text_add(&prefix, reader->imports.data, reader->imports.len);
        names_publish(reader, ~0u, &prefix);
    } else if (scan->form == JS_MODULE) {
        if (reader->exports.len) {
            js_text_puts(&prefix, "__export({");
            js_text_add(&prefix, reader->exports.data, reader->exports.len);
            js_text_puts(&prefix, "});");
        }
        js_text_add(&prefix, reader->imports.data, reader->imports.len);
    }
    writer->text.failed |= prefix.failed;
    writer->scan->prefix = units_of(prefix.data, prefix.len);
    write_text(writer, prefix.data, prefix.len, 0);
    free(prefix.data);
}

/* Writes the text, if it differs from the code. */
static void write_all(struct js_reader *reader, struct js_scan *scan)
{
    struct writer writer = {.reader = reader, .scan = scan, .line = 1, .column = 1};
    bool differs = scan->form == JS_BLOCK || scan->form == JS_ASYNC ||
                   (scan->form == JS_MODULE && (reader->has_import || reader->has_export));

    for (size_t i = 0; i < reader->n_edits && !differs; i++)
        differs = edit_is_made(&reader->edits[i], scan->form);
    if (!differs)
        return;
    add_returns(reader);
    if (reader->n_edits)
        qsort(reader->edits, reader->n_edits, sizeof *reader->edits, edits_order);
    write_prefix(&writer);
    for (size_t i = 0; i < reader->n_edits; i++)
        if (edit_is_made(&reader->edits[i], scan->form))
            write_edit(&writer, &reader->edits[i]);
    write_code(&writer, reader->len, false);
    js_text_puts(&writer.text, scan->form == JS_BLOCK   ? "\n}"
                               : scan->form == JS_ASYNC ? "\n})"
                                                        : "");
    js_text_add(&writer.text, "", 1);
    reader->out_of_memory |= writer.text.failed;
    scan->text = writer.text.data;
    scan->len = writer.text.len - !writer.text.failed;
}

/* ---- the result ----------------------------------------------------------------------------- */

static enum js_form form_of(const struct js_reader *reader, enum js_want want)
{
    if (reader->unsure || want == JS_WANT_SCRIPT)
        return JS_PLAIN;
    if (want == JS_WANT_MODULE)
        return JS_MODULE;
    if (want == JS_WANT_ASYNC || want == JS_WANT_STRICT || reader->has_await ||
        reader->has_return || reader->has_import || reader->has_export || names_collide(reader))
        return JS_ASYNC;
    return names_have(reader, JS_LEXICAL | JS_FUNCTION) ? JS_BLOCK : JS_PLAIN;
}

static void fill(struct js_reader *reader, enum js_want want, struct js_scan *scan)
{
    if (!reader->unsure)
        names_join(reader);
    scan->form = form_of(reader, want);
    scan->has_await = reader->has_await;
    scan->has_return = reader->has_return;
    scan->has_import = reader->has_import;
    scan->has_export = reader->has_export;
    scan->strict = reader->strict;
    scan->unsure = reader->unsure;
    if (reader->unsure)
        return;
    if (scan->form != JS_MODULE)
        scan->names = names_list(reader, scan->form == JS_ASYNC ? JS_VAR | JS_INNER
                                                                : JS_VAR | JS_INNER | JS_FUNCTION);
    write_all(reader, scan);
}

int js_scan(const char *code, size_t len, enum js_want want, struct js_scan *scan)
{
    struct js_reader reader = {
        .code = code, .len = len, .line = 1, .strict = want == JS_WANT_STRICT};

    *scan = (struct js_scan){0};
    js_program(&reader);
    fill(&reader, want, scan);
    bool failed = reader.out_of_memory || reader.spellings.failed || reader.imports.failed ||
                  reader.exports.failed;
    free(reader.spellings.data);
    free(reader.imports.data);
    free(reader.exports.data);
    free(reader.names);
    free(reader.edits);
    free(reader.values);
    return failed ? -1 : 0;
}

void js_scan_fini(struct js_scan *scan)
{
    free(scan->text);
    free(scan->names);
    free(scan->shifts);
    *scan = (struct js_scan){0};
}

size_t js_scan_column(const struct js_scan *scan, size_t line, size_t column)
{
    size_t low = 0, high = scan->n_shifts;
    ptrdiff_t units = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan->shifts[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < scan->n_shifts && scan->shifts[i].line == line; i++) {
        const struct js_shift *shift = &scan->shifts[i];
        if (shift->column > column)
            break;
        ptrdiff_t inside = (ptrdiff_t)(column - shift->column);
        units += shift->units > inside ? inside : shift->units;
    }
    return column - (size_t)units;
}
