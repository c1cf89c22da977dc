/* SPDX-License-Identifier: MIT */
/* tree.c - a TOML document as a tree: its memory, its nodes, its problems.
 *
 * All nodes and texts live in blocks that are freed together, without a walk over the tree. */
#include "settings/toml/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory -----------------------------------------------------------------------------------*/

#define BLOCK_SIZE ((size_t)16 * 1024)

struct toml_block {
    struct toml_block *next;
    size_t used, size;
    _Alignas(max_align_t) char data[];
};

void *toml_alloc(struct laz_toml *toml, size_t size)
{
    struct toml_block *block = toml->memory;
    const size_t align = _Alignof(max_align_t);

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) & ~(align - 1);
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = toml->memory;
        toml->memory = block;
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

bool toml_no_memory(struct toml_parser *p)
{
    p->nomem = true;
    return false;
}

const char *toml_keep(struct toml_parser *p, const char *text, size_t len)
{
    char *copy = toml_alloc(p->toml, len + 1);

    if (!copy) {
        toml_no_memory(p);
        return NULL;
    }
    if (len)
        memcpy(copy, text, len);
    return copy;
}

struct laz_toml_node *toml_node(struct toml_parser *p, enum laz_toml_type type,
                                struct toml_mark mark, uint32_t depth)
{
    if (depth > LAZ_TOML_MAX_DEPTH) {
        toml_problem(p, mark, "tables and lists are nested more than %d deep", LAZ_TOML_MAX_DEPTH);
        return NULL;
    }
    struct laz_toml_node *node = toml_alloc(p->toml, sizeof *node);
    if (!node) {
        toml_no_memory(p);
        return NULL;
    }
    node->type = type;
    node->from = mark.at;
    node->line = mark.line;
    node->column = mark.column;
    node->toml = p->toml;
    node->depth = depth;
    return node;
}

void laz_toml_ref(struct laz_toml *toml)
{
    toml->refs++;
}

void laz_toml_free(struct laz_toml *toml)
{
    if (!toml || --toml->refs)
        return;
    while (toml->memory) {
        struct toml_block *next = toml->memory->next;
        free(toml->memory);
        toml->memory = next;
    }
    for (size_t i = 0; i < toml->n_problems; i++)
        free(toml->problems[i].text);
    free(toml->problems);
    free(toml->name);
    free(toml);
}

/* ---- problems ---------------------------------------------------------------------------------*/

static LAZ_PRINTF(4, 0) bool problem_add(struct laz_toml *toml, uint32_t line, uint32_t column,
                                         const char *format, va_list args)
{
    char text[LAZ_ERROR_TEXT_SIZE];
    size_t n = toml->n_problems;

    if ((n & (n - 1)) == 0) { /* room is made when there are 0, 1, 2, 4, 8, ... */
        size_t room = n ? 2 * n : 1;
        struct laz_toml_problem *more = realloc(toml->problems, room * sizeof *more);
        if (!more)
            return false;
        toml->problems = more;
    }
    vsnprintf(text, sizeof text, format, args);
    toml->problems[n] = (struct laz_toml_problem){line, column, laz_strdup(text)};
    if (!toml->problems[n].text)
        return false;
    toml->n_problems++;
    return true;
}

void laz_toml_add_problem(struct laz_toml *toml, uint32_t line, uint32_t column, const char *format,
                          ...)
{
    va_list args;

    va_start(args, format);
    if (!problem_add(toml, line, column, format, args))
        toml->failed = true;
    va_end(args);
}

bool toml_problem(struct toml_parser *p, struct toml_mark mark, const char *format, ...)
{
    va_list args;

    if (p->toml->n_problems >= LAZ_TOML_MAX_PROBLEMS) {
        p->lost = true;
        return false;
    }
    va_start(args, format);
    if (!problem_add(p->toml, mark.line, mark.column, format, args))
        p->nomem = true;
    va_end(args);
    return false;
}

/* ---- looking into a tree ----------------------------------------------------------------------*/

struct laz_toml_node *laz_toml_get(const struct laz_toml_node *table, const char *key)
{
    size_t len = strlen(key);

    if (!table || table->type != LAZ_TOML_TABLE)
        return NULL;
    for (struct laz_toml_node *child = table->first; child; child = child->next)
        if (child->key_len == len && memcmp(child->key, key, len) == 0)
            return child;
    return NULL;
}

enum laz_toml_made laz_toml_made(const struct laz_toml_node *node)
{
    if (node->flags & TOML_HEADER)
        return LAZ_TOML_HEADED;
    if (node->flags & TOML_DOTTED)
        return LAZ_TOML_DOTTED;
    if (node->flags & TOML_CLOSED || (node->type != LAZ_TOML_TABLE && node->type != LAZ_TOML_ARRAY))
        return LAZ_TOML_WRITTEN;
    return LAZ_TOML_IMPLIED;
}

bool laz_toml_is_text(const struct laz_toml_node *node)
{
    return node->type == LAZ_TOML_STRING && !memchr(node->text, '\0', node->len);
}

bool laz_toml_is(const struct laz_toml_node *node, const char *text)
{
    return node->type == LAZ_TOML_STRING && strlen(text) == node->len &&
           memcmp(text, node->text, node->len) == 0;
}
