/* SPDX-License-Identifier: MIT */
/* table.c - keys and headers: the table that a value belongs to, and what is defined twice.
 *
 * In TOML a table is defined once: by a [header], by dotted keys, or as a value; headers of tables
 * inside it may create it implicitly before.  Flags on the node record which of these happened. All
 * keys of the document are in one hash table, so a file with many keys is read in linear time.
 * A key that may not be set is reported, and its value is still read: the rest of the file can then
 * be checked as if the line were not there. */
#include "settings/toml/parser.h"

#include <stdlib.h>
#include <string.h>

static uint64_t table_hash(const struct laz_toml_node *table, const char *key, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)table;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The node under the key in p->scratch, or NULL. */
static struct laz_toml_node *table_find(const struct toml_parser *p,
                                        const struct laz_toml_node *table)
{
    const char *key = laz_buf_text(&p->scratch);
    size_t len = p->scratch.len;
    uint64_t hash = table_hash(table, key, len);

    for (size_t i = hash; p->n_slots; i++) {
        const struct toml_slot *slot = &p->slots[i & (p->n_slots - 1)];
        if (!slot->child)
            return NULL;
        if (slot->hash == hash && slot->table == table && slot->child->key_len == len &&
            memcmp(slot->child->key, key, len) == 0)
            return slot->child;
    }
    return NULL;
}

static void table_slot(struct toml_slot *slots, size_t n_slots, const struct toml_slot *slot)
{
    size_t i = slot->hash;

    while (slots[i & (n_slots - 1)].child)
        i++;
    slots[i & (n_slots - 1)] = *slot;
}

static bool table_grow(struct toml_parser *p)
{
    size_t n_slots = p->n_slots ? p->n_slots * 2 : 256;
    struct toml_slot *slots = calloc(n_slots, sizeof *slots);

    if (!slots)
        return toml_no_memory(p);
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].child)
            table_slot(slots, n_slots, &p->slots[i]);
    free(p->slots);
    p->slots = slots;
    p->n_slots = n_slots;
    return true;
}

void toml_append(struct laz_toml_node *parent, struct laz_toml_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->n++;
}

/* Adds a node to the table under the key, which stands at `mark`. */
static bool table_add(struct toml_parser *p, struct laz_toml_node *table,
                      struct laz_toml_node *child, const char *key, size_t len,
                      struct toml_mark mark)
{
    if ((p->used_slots + 1) * 2 > p->n_slots && !table_grow(p))
        return false;
    child->key = key;
    child->key_len = len;
    child->key_from = mark.at;
    child->key_line = mark.line;
    child->key_column = mark.column;
    struct toml_slot slot = {table, child, table_hash(table, key, len)};
    table_slot(p->slots, p->n_slots, &slot);
    p->used_slots++;
    toml_append(table, child);
    return true;
}

/* Makes a node in the table under the key in p->scratch. */
static struct laz_toml_node *table_make(struct toml_parser *p, struct laz_toml_node *table,
                                        enum laz_toml_type type, struct toml_mark mark,
                                        uint32_t flags)
{
    struct laz_toml_node *made = toml_node(p, type, mark, table->depth + 1);
    size_t len = p->scratch.len;
    const char *key = made ? toml_keep(p, laz_buf_text(&p->scratch), len) : NULL;

    if (!key || !table_add(p, table, made, key, len, mark))
        return NULL;
    made->flags = flags;
    return made;
}

static bool table_defined(struct toml_parser *p, struct toml_mark mark,
                          const struct laz_toml_node *other)
{
    return toml_problem(p, mark, "'%s' is already set, in line %u", laz_buf_text(&p->scratch),
                        (unsigned)(other->key ? other->key_line : other->line));
}

/* ---- key = value ------------------------------------------------------------------------------*/

/* The table that a part of a dotted key leads to; it is made if it does not exist. */
static struct laz_toml_node *table_through_key(struct toml_parser *p, struct laz_toml_node *table,
                                               struct toml_mark mark)
{
    struct laz_toml_node *next = table_find(p, table);

    if (!next)
        return table_make(p, table, LAZ_TOML_TABLE, mark, TOML_DOTTED);
    if (next->type != LAZ_TOML_TABLE) {
        toml_problem(p, mark, "'%s' is %s, set in line %u: nothing can be put into it",
                     laz_buf_text(&p->scratch), next->type == LAZ_TOML_ARRAY ? "a list" : "a value",
                     (unsigned)next->key_line);
        return NULL;
    }
    if (next->flags & (TOML_HEADER | TOML_CLOSED)) {
        toml_problem(p, mark,
                     "the table '%s' was written in line %u and cannot be added to by a dotted key",
                     laz_buf_text(&p->scratch), (unsigned)next->line);
        return NULL;
    }
    next->flags |= TOML_DOTTED;
    return next;
}

bool toml_dotted_key(struct toml_parser *p, struct laz_toml_node *table,
                     struct laz_toml_node **owner, struct toml_mark *last)
{
    for (;;) {
        *last = toml_here(p);
        if (!toml_key_part(p))
            return false;
        toml_space(p);
        if (toml_peek(p) != '.')
            break;
        if (table)
            table = table_through_key(p, table, *last);
        if (p->nomem)
            return false;
        toml_skip(p, 1);
        toml_space(p);
    }
    *owner = table;
    return true;
}

bool toml_pair(struct toml_parser *p, struct laz_toml_node *table)
{
    struct laz_toml_node *owner = NULL, *value = NULL;
    struct toml_mark mark;

    if (!toml_dotted_key(p, table, &owner, &mark))
        return false;
    if (toml_peek(p) != '=')
        return toml_problem(p, toml_here(p), "expected '=' after the key '%s', found %s",
                            laz_buf_text(&p->scratch), toml_found(p));
    const struct laz_toml_node *other = owner ? table_find(p, owner) : NULL;
    if (other) {
        table_defined(p, mark, other);
        owner = NULL;
    }
    const char *key = toml_keep(p, laz_buf_text(&p->scratch), p->scratch.len);
    size_t key_len = p->scratch.len; /* the value uses the scratch too */
    toml_skip(p, 1);
    toml_space(p);
    if (!key || !toml_value(p, (owner ? owner : table)->depth + 1, &value))
        return false;
    return owner ? table_add(p, owner, value, key, key_len, mark) : true;
}

/* ---- headers ----------------------------------------------------------------------------------*/

/* The table that a part of a header other than the last leads to. */
static struct laz_toml_node *
table_through_header(struct toml_parser *p, struct laz_toml_node *table, struct toml_mark mark)
{
    struct laz_toml_node *next = table_find(p, table);

    if (!next)
        return table_make(p, table, LAZ_TOML_TABLE, mark, 0);
    if (next->type == LAZ_TOML_ARRAY && !(next->flags & TOML_CLOSED))
        return next->last; /* the newest table of an array of tables */
    if (next->type == LAZ_TOML_TABLE && !(next->flags & TOML_CLOSED))
        return next;
    toml_problem(p, mark, "'%s' was set to a value in line %u: a header cannot add to it",
                 laz_buf_text(&p->scratch), (unsigned)next->key_line);
    return NULL;
}

static struct laz_toml_node *table_open(struct toml_parser *p, struct laz_toml_node *table,
                                        struct toml_mark mark, struct toml_mark bracket)
{
    struct laz_toml_node *node = table_find(p, table);

    if (!node) {
        node = table_make(p, table, LAZ_TOML_TABLE, mark, TOML_HEADER);
    } else if (node->type != LAZ_TOML_TABLE || node->flags) {
        table_defined(p, mark, node);
        return NULL;
    } else {
        node->flags |= TOML_HEADER;
    }
    if (node) {
        node->from = bracket.at;
        node->line = bracket.line;
        node->column = bracket.column;
    }
    return node;
}

static struct laz_toml_node *table_open_item(struct toml_parser *p, struct laz_toml_node *table,
                                             struct toml_mark mark, struct toml_mark bracket)
{
    struct laz_toml_node *array = table_find(p, table);

    if (!array) {
        array = table_make(p, table, LAZ_TOML_ARRAY, mark, TOML_HEADER);
    } else if (array->type != LAZ_TOML_ARRAY || array->flags & TOML_CLOSED) {
        table_defined(p, mark, array);
        return NULL;
    }
    struct laz_toml_node *item =
        array ? toml_node(p, LAZ_TOML_TABLE, bracket, array->depth + 1) : NULL;
    if (item) {
        item->flags = TOML_HEADER;
        toml_append(array, item);
    }
    return item;
}

/* Reads the parts of a header between its brackets. *table is NULL if it names something that it
 * may not. */
static bool table_path(struct toml_parser *p, bool item, struct toml_mark bracket,
                       struct laz_toml_node **table)
{
    *table = p->toml->root;
    for (;;) {
        struct toml_mark mark = toml_here(p);
        if (!toml_key_part(p))
            return false;
        toml_space(p);
        bool last = toml_peek(p) != '.';
        if (*table && !last)
            *table = table_through_header(p, *table, mark);
        else if (*table && toml_peek(p) == ']')
            *table = item ? table_open_item(p, *table, mark, bracket)
                          : table_open(p, *table, mark, bracket);
        if (p->nomem)
            return false;
        if (last)
            return true;
        toml_skip(p, 1);
        toml_space(p);
    }
}

bool toml_header(struct toml_parser *p)
{
    struct toml_mark bracket = toml_here(p);
    struct laz_toml_node *table = NULL;
    bool item = toml_peek_at(p, 1) == '[';

    /* until the header is known to be right, keys go into a table that is discarded */
    p->current = toml_node(p, LAZ_TOML_TABLE, bracket, 0);
    if (!p->current)
        return false;
    toml_skip(p, item ? 2 : 1);
    toml_space(p);
    if (!table_path(p, item, bracket, &table))
        return false;
    for (int i = 0; i < (item ? 2 : 1); i++) {
        if (toml_peek(p) != ']')
            return toml_problem(p, toml_here(p), "expected '%s' at the end of the header, found %s",
                                item ? "]]" : "]", toml_found(p));
        toml_skip(p, 1);
    }
    if (table) {
        p->current = table;
        table->to = p->at;
    }
    return true;
}
