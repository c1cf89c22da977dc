/* SPDX-License-Identifier: MIT */
/* tool_returns.c - what a tool returns: a JSON Schema, checked, and as a type that people and
 * models read, "{name: str, tags: [str]}".
 *
 * The type is for reading: no value is checked by it.  It is short, whatever the schema is: what
 * lies deep, and what there is too much of, is "...".
 * Side: host.  Input trusted: no (a server may have sent the schema). */
#include "tool/tool_private.h"

#include "base/json.h"
#include "base/visible.h"

#include <string.h>

#define RETURNS_BYTES  400 /* of a type */
#define RETURNS_WORDS  60  /* bytes of a name or a value in it */
#define RETURNS_STEPS  4   /* of references that follow each other */
#define RETURNS_LEVELS 10  /* of schemas inside of each other */

/* ---- the check ------------------------------------------------------------------------------ */

/* What the value of a keyword is. */
enum keyword_holds {
    KEYWORD_ANYTHING,
    KEYWORD_TYPE,    /* a word for a type, or a list of them */
    KEYWORD_TEXTS,   /* a list of strings */
    KEYWORD_LIST,    /* a list of values */
    KEYWORD_SCHEMA,  /* a schema */
    KEYWORD_SCHEMAS, /* a list of schemas */
    KEYWORD_NAMED,   /* an object of schemas */
};

static const struct keyword {
    const char *name;
    enum keyword_holds holds;
} keywords[] = {
    {"type", KEYWORD_TYPE},
    {"properties", KEYWORD_NAMED},
    {"required", KEYWORD_TEXTS},
    {"items", KEYWORD_SCHEMA},
    {"enum", KEYWORD_LIST},
    {"anyOf", KEYWORD_SCHEMAS},
    {"oneOf", KEYWORD_SCHEMAS},
    {"allOf", KEYWORD_SCHEMAS},
    {"prefixItems", KEYWORD_SCHEMAS},
    {"additionalProperties", KEYWORD_SCHEMA},
    {"additionalItems", KEYWORD_SCHEMA},
    {"unevaluatedItems", KEYWORD_SCHEMA},
    {"unevaluatedProperties", KEYWORD_SCHEMA},
    {"propertyNames", KEYWORD_SCHEMA},
    {"contains", KEYWORD_SCHEMA},
    {"not", KEYWORD_SCHEMA},
    {"if", KEYWORD_SCHEMA},
    {"then", KEYWORD_SCHEMA},
    {"else", KEYWORD_SCHEMA},
    {"patternProperties", KEYWORD_NAMED},
    {"dependentSchemas", KEYWORD_NAMED},
    {"$defs", KEYWORD_NAMED},
    {"definitions", KEYWORD_NAMED},
    {"const", KEYWORD_ANYTHING},
    {"title", KEYWORD_ANYTHING},
    {"description", KEYWORD_ANYTHING},
    {"default", KEYWORD_ANYTHING},
    {"examples", KEYWORD_ANYTHING},
    {"format", KEYWORD_ANYTHING},
    {"pattern", KEYWORD_ANYTHING},
    {"minimum", KEYWORD_ANYTHING},
    {"maximum", KEYWORD_ANYTHING},
    {"exclusiveMinimum", KEYWORD_ANYTHING},
    {"exclusiveMaximum", KEYWORD_ANYTHING},
    {"multipleOf", KEYWORD_ANYTHING},
    {"minLength", KEYWORD_ANYTHING},
    {"maxLength", KEYWORD_ANYTHING},
    {"minItems", KEYWORD_ANYTHING},
    {"maxItems", KEYWORD_ANYTHING},
    {"minContains", KEYWORD_ANYTHING},
    {"maxContains", KEYWORD_ANYTHING},
    {"minProperties", KEYWORD_ANYTHING},
    {"maxProperties", KEYWORD_ANYTHING},
    {"uniqueItems", KEYWORD_ANYTHING},
    {"dependentRequired", KEYWORD_ANYTHING},
    {"deprecated", KEYWORD_ANYTHING},
    {"readOnly", KEYWORD_ANYTHING},
    {"writeOnly", KEYWORD_ANYTHING},
    {"contentEncoding", KEYWORD_ANYTHING},
    {"contentMediaType", KEYWORD_ANYTHING},
    {"contentSchema", KEYWORD_ANYTHING},
};

/* A type of JSON Schema, and the word for it in a type. */
static const struct type_word {
    const char *schema, *word;
} type_words[] = {
    {"string", "str"},    {"integer", "int"}, {"number", "float"}, {"boolean", "bool"},
    {"object", "object"}, {"array", "list"},  {"null", "null"},
};

static const struct type_word *type_word_find(const char *schema)
{
    for (size_t i = 0; schema && i < sizeof type_words / sizeof *type_words; i++)
        if (strcmp(type_words[i].schema, schema) == 0)
            return &type_words[i];
    return NULL;
}

const char *laz_type_neutral(const char *schema)
{
    const struct type_word *word = type_word_find(schema);

    return word ? word->word : "any";
}

static bool node_is(const struct laz_json *node, uint32_t type)
{
    return node && laz_json_type(node) == type;
}

static int schema_check(const struct laz_json *schema, struct laz_error *err);

static int keyword_wrong(const char *name, const char *wanted, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EINVAL, 0, ": '%s' is %s", name, wanted);
}

static int keyword_check_types(const struct laz_json *value, struct laz_error *err)
{
    const bool is_list = node_is(value, LAZ_JSON_ARRAY_BEGIN);
    const struct laz_json *word = is_list ? laz_json_first(value) : value;
    bool well = word != NULL;

    for (; well && word; word = is_list ? laz_json_next(word) : NULL)
        well = type_word_find(laz_json_string(word)) != NULL;
    return well ? 0
                : keyword_wrong("type",
                                "one of string, number, integer, boolean, array, object and null, "
                                "or a list of them",
                                err);
}

static int keyword_check_texts(const char *name, const struct laz_json *value,
                               struct laz_error *err)
{
    bool well = node_is(value, LAZ_JSON_ARRAY_BEGIN);

    for (const struct laz_json *item = laz_json_first(value); well && item;
         item = laz_json_next(item))
        well = laz_json_string(item) != NULL;
    return well ? 0 : keyword_wrong(name, "a list of strings", err);
}

static int keyword_check_schemas(const char *name, const struct laz_json *value,
                                 struct laz_error *err)
{
    int rc = 0;

    for (const struct laz_json *item = laz_json_first(value); !rc && item;
         item = laz_json_next(item)) {
        rc = schema_check(item, err);
        if (rc && laz_json_key(item))
            laz_error_prefix(err, ".%.60s.%.60s", name, laz_json_key(item));
        else if (rc)
            laz_error_prefix(err, ".%.60s", name);
    }
    return rc;
}

static int keyword_check(const struct laz_json *member, struct laz_error *err)
{
    const char *name = laz_json_key(member);
    size_t i = 0, n = sizeof keywords / sizeof *keywords;
    int rc;

    while (i < n && strcmp(keywords[i].name, name) != 0)
        i++;
    if (i == n)
        return name[0] == '$' || strncmp(name, "x-", 2) == 0
                   ? 0
                   : laz_error_set(err, LAZ_EINVAL, 0, ": unknown keyword '%.100s' of JSON Schema",
                                   name);
    switch (keywords[i].holds) {
    case KEYWORD_TYPE:
        return keyword_check_types(member, err);
    case KEYWORD_TEXTS:
        return keyword_check_texts(name, member, err);
    case KEYWORD_LIST:
        return node_is(member, LAZ_JSON_ARRAY_BEGIN) ? 0 : keyword_wrong(name, "a list", err);
    case KEYWORD_SCHEMA:
        rc = schema_check(member, err);
        if (rc)
            laz_error_prefix(err, ".%s", name);
        return rc;
    case KEYWORD_SCHEMAS:
        return node_is(member, LAZ_JSON_ARRAY_BEGIN) ? keyword_check_schemas(name, member, err)
                                                     : keyword_wrong(name, "a list", err);
    case KEYWORD_NAMED:
        return node_is(member, LAZ_JSON_OBJECT_BEGIN) ? keyword_check_schemas(name, member, err)
                                                      : keyword_wrong(name, "an object", err);
    default:
        return 0;
    }
}

static int schema_check(const struct laz_json *schema, struct laz_error *err)
{
    int rc = 0;

    if (node_is(schema, LAZ_JSON_TRUE) || node_is(schema, LAZ_JSON_FALSE))
        return 0;
    if (!node_is(schema, LAZ_JSON_OBJECT_BEGIN))
        return laz_error_set(err, LAZ_EINVAL, 0, " is not a JSON Schema, which is an object");
    for (const struct laz_json *member = laz_json_first(schema); !rc && member;
         member = laz_json_next(member))
        rc = keyword_check(member, err);
    return rc;
}

/* ---- the type ------------------------------------------------------------------------------- */

/* How much of a schema is shown. */
struct type_bounds {
    unsigned levels, members;
};

struct type_writing {
    struct laz_buf *text;
    const struct laz_json *root;
    struct type_bounds bounds;
    unsigned level;
};

static void type_write(struct type_writing *writing, const struct laz_json *schema);

/* A text of the schema as a string, which cannot end what it stands in. */
static void type_quote(struct laz_buf *text, const char *word)
{
    struct laz_buf shown = LAZ_BUF_INIT;
    size_t len = strlen(word);

    laz_visible_line(&shown, word, len);
    len = shown.len < RETURNS_WORDS ? shown.len : RETURNS_WORDS;
    while (len && len < shown.len && ((unsigned char)shown.data[len] & 0xc0) == 0x80)
        len--;
    laz_json_quote(text, laz_buf_text(&shown), len);
    text->failed |= shown.failed;
    laz_buf_fini(&shown);
}

static void type_name(struct laz_buf *text, const char *name)
{
    const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_");

    if (len && !name[len] && len <= RETURNS_WORDS)
        laz_buf_puts(text, name);
    else
        type_quote(text, name);
}

/* A value of an enumeration. */
static void type_literal(struct laz_buf *text, const struct laz_json *value)
{
    switch (laz_json_type(value)) {
    case LAZ_JSON_STRING:
        type_quote(text, laz_json_string(value));
        break;
    case LAZ_JSON_NUMBER:
        laz_json_format_double(text, laz_json_number(value), false);
        break;
    case LAZ_JSON_TRUE:
    case LAZ_JSON_FALSE:
        laz_buf_puts(text, laz_json_type(value) == LAZ_JSON_TRUE ? "true" : "false");
        break;
    case LAZ_JSON_NULL:
        laz_buf_puts(text, "null");
        break;
    default:
        laz_buf_puts(text, "any");
    }
}

/* "a | b": each child of `list`, as a literal or as a type. */
static void type_either(struct type_writing *writing, const struct laz_json *list, bool is_literal)
{
    unsigned n = 0;

    for (const struct laz_json *item = laz_json_first(list); item; item = laz_json_next(item)) {
        laz_buf_puts(writing->text, n ? " | " : "");
        if (n++ == writing->bounds.members) {
            laz_buf_puts(writing->text, "...");
            break;
        }
        if (is_literal)
            type_literal(writing->text, item);
        else
            type_write(writing, item);
    }
    if (!n)
        laz_buf_puts(writing->text, "any");
}

/* The definition in the schema that a reference leads to, or NULL. */
static const struct laz_json *type_resolve(const struct type_writing *writing,
                                           const struct laz_json *schema)
{
    static const char *const places[] = {"$defs", "definitions"};

    for (unsigned step = 0; schema && step < RETURNS_STEPS; step++) {
        const char *target = laz_json_string(laz_json_get(schema, "$ref"));
        if (!target)
            return schema;
        schema = NULL;
        for (size_t i = 0; i < 2; i++) {
            const size_t len = strlen(places[i]);
            if (strncmp(target, "#/", 2) == 0 && strncmp(target + 2, places[i], len) == 0 &&
                target[len + 2] == '/')
                schema = laz_json_get(laz_json_get(writing->root, places[i]), target + len + 3);
        }
    }
    return NULL;
}

static bool type_requires(const struct laz_json *required, const char *name)
{
    const struct laz_json *item = laz_json_first(required);

    while (item && strcmp(laz_json_string(item) ? laz_json_string(item) : "", name) != 0)
        item = laz_json_next(item);
    return item || !required; /* a schema that requires nothing has not been thought of it */
}

static void type_object(struct type_writing *writing, const struct laz_json *schema)
{
    const struct laz_json *member = laz_json_first(laz_json_get(schema, "properties"));
    const struct laz_json *others = laz_json_get(schema, "additionalProperties");
    const struct laz_json *required = laz_json_get(schema, "required");
    struct laz_buf *text = writing->text;
    unsigned n = 0;

    if (!member && !node_is(others, LAZ_JSON_OBJECT_BEGIN)) {
        laz_buf_puts(text, "object");
        return;
    }
    laz_buf_putc(text, '{');
    for (; member && writing->level < writing->bounds.levels && n < writing->bounds.members;
         member = laz_json_next(member), n++) {
        laz_buf_puts(text, n ? ", " : "");
        type_name(text, laz_json_key(member));
        laz_buf_puts(text, type_requires(required, laz_json_key(member)) ? ": " : "?: ");
        type_write(writing, member);
    }
    if (member || writing->level >= writing->bounds.levels) {
        laz_buf_puts(text, n ? ", ..." : "...");
    } else if (!n) {
        laz_buf_puts(text, "[str]: ");
        type_write(writing, others);
    }
    laz_buf_putc(text, '}');
}

static void type_list(struct type_writing *writing, const struct laz_json *schema)
{
    const struct laz_json *items = laz_json_get(schema, "items");

    if (!node_is(items, LAZ_JSON_OBJECT_BEGIN)) {
        laz_buf_puts(writing->text, "list");
        return;
    }
    laz_buf_putc(writing->text, '[');
    if (writing->level < writing->bounds.levels)
        type_write(writing, items);
    else
        laz_buf_puts(writing->text, "...");
    laz_buf_putc(writing->text, ']');
}

/* A schema by its one word for a type; NULL: it has none. */
static void type_of_word(struct type_writing *writing, const struct laz_json *schema,
                         const char *word)
{
    if (word ? strcmp(word, "object") == 0 : laz_json_get(schema, "properties") != NULL)
        type_object(writing, schema);
    else if (word ? strcmp(word, "array") == 0 : laz_json_get(schema, "items") != NULL)
        type_list(writing, schema);
    else
        laz_buf_puts(writing->text, laz_type_neutral(word));
}

static void type_of_words(struct type_writing *writing, const struct laz_json *schema,
                          const struct laz_json *words)
{
    const char *join = "";

    for (const struct laz_json *word = laz_json_first(words); word; word = laz_json_next(word)) {
        laz_buf_puts(writing->text, join);
        type_of_word(writing, schema, laz_json_string(word));
        join = " | ";
    }
}

static void type_write(struct type_writing *writing, const struct laz_json *given)
{
    const struct laz_json *schema = type_resolve(writing, given);
    const struct laz_json *word = laz_json_get(schema, "type"), *list;

    writing->level++;
    /* A circle of references ends here, and what is too long is written again, with less. */
    if (writing->level > RETURNS_LEVELS || writing->text->len > 4 * RETURNS_BYTES)
        laz_buf_puts(writing->text, "...");
    else if ((list = laz_json_get(schema, "const")))
        type_literal(writing->text, list);
    else if ((list = laz_json_get(schema, "enum")))
        type_either(writing, list, true);
    else if ((list = laz_json_get(schema, "anyOf")) || (list = laz_json_get(schema, "oneOf")))
        type_either(writing, list, false);
    else if ((list = laz_json_get(schema, "allOf")) && laz_json_first(list) &&
             !laz_json_next(laz_json_first(list)))
        type_write(writing, laz_json_first(list));
    else if (node_is(word, LAZ_JSON_ARRAY_BEGIN))
        type_of_words(writing, schema, word);
    else
        type_of_word(writing, schema, laz_json_string(word));
    writing->level--;
}

static void type_cut(struct laz_buf *type, size_t len)
{
    type->len = len;
    if (type->data)
        type->data[len] = '\0';
}

/* Appends as much as fits; at last nothing is said. */
static void type_fit(const struct laz_json *root, struct laz_buf *type, size_t before)
{
    static const struct type_bounds bounds[] = {{4, 24}, {3, 16}, {2, 12}, {1, 8}, {0, 4}};
    size_t i = 0, n = sizeof bounds / sizeof *bounds;

    do {
        struct type_writing writing = {.text = type, .root = root, .bounds = bounds[i]};
        if (i)
            type_cut(type, before);
        type_write(&writing, root);
    } while (type->len - before > RETURNS_BYTES && ++i < n);
    if (i < n)
        return;
    type_cut(type, before);
    laz_buf_puts(type, "any");
}

int laz_tool_returns_type(const char *schema, struct laz_buf *type, struct laz_error *err)
{
    struct laz_json *root = laz_json_parse(schema, strlen(schema), err);
    int rc = root ? schema_check(root, err) : LAZ_EINVAL;

    if (!root && err && err->code == LAZ_ENOMEM)
        return LAZ_ENOMEM;
    if (!root) {
        laz_error_prefix(err, ": ");
        return laz_error_as(err, LAZ_EINVAL);
    }
    if (!rc)
        type_fit(root, type, type->len);
    laz_json_free(root);
    return !rc && type->failed ? laz_error_nomem(err) : rc;
}
