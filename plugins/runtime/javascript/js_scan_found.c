/* SPDX-License-Identifier: MIT */
/* js_scan_found.c - what reading finds: names, edits, expressions that give a value. */
#include "js_scan_parts.h"

#include <string.h>

void js_edit(struct js_reader *reader, const struct js_edit *edit)
{
    if (js_room(reader, &reader->edits, reader->n_edits, &reader->cap_edits, sizeof *edit))
        reader->edits[reader->n_edits++] = *edit;
}

void js_value(struct js_reader *reader, size_t start)
{
    if (js_room(reader, &reader->values, reader->n_values, &reader->cap_values,
                sizeof *reader->values))
        reader->values[reader->n_values++] = (struct js_range){start, reader->end};
}

/* An accessor for an export: get NAME(){return NAME}, */
static void declare_export(struct js_reader *reader, const char *name, size_t len)
{
    js_text_puts(&reader->exports, "get ");
    js_text_add(&reader->exports, name, len);
    js_text_puts(&reader->exports, "(){return ");
    js_text_add(&reader->exports, name, len);
    js_text_puts(&reader->exports, "},");
}

void js_declare(struct js_reader *reader, const struct js_token *name, unsigned kind)
{
    size_t at = reader->spellings.len;

    if (!kind || reader->unsure ||
        !js_room(reader, &reader->names, reader->n_names, &reader->cap_names,
                 sizeof *reader->names))
        return;
    js_spell(reader, name, &reader->spellings);
    if (reader->spellings.failed || reader->unsure)
        return;
    const char *text = reader->spellings.data + at;
    size_t len = reader->spellings.len - at;
    if (len == 5 && memcmp(text, "await", 5) == 0)
        js_fail(reader);
    reader->names[reader->n_names++] = (struct js_name){.at = at, .len = len, .kinds = kind};
    if (reader->exporting)
        declare_export(reader, text, len);
}
