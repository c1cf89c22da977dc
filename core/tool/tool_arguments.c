/* SPDX-License-Identifier: MIT */
/* tool_arguments.c - checks arguments from the sandbox against the declaration of the tool.
 *
 * The runtimes check types too, for good messages in their language; only the check here is relied
 * on.  The arguments are scanned JSON text (one value, no repeated keys).  One pass finds where
 * each of them stands, without a tree, and keeps only a few undeclared ones, so the time is linear
 * in the length of the text whatever a peer sends.
 * Side: host.  Input trusted: no (arguments come from the sandbox). */
#include "tool/tool_private.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_NAMED   5    /* undeclared names that a message lists */
#define ARGUMENTS_SHOWN   64   /* bytes of each */
#define ARGUMENTS_MAX_INT 4096 /* digits of an $int */

/* FORM(ID, word for messages, tag of lazaret/json.h, first byte of the tag's content) */
/* clang-format off */
#define FORMS(FORM) \
    FORM(NULL, "null", NULL, 0)       FORM(BOOLEAN, "boolean", NULL, 0) \
    FORM(NUMBER, "number", NULL, 0)   FORM(STRING, "string", NULL, 0) \
    FORM(ARRAY, "array", NULL, 0)     FORM(OBJECT, "object", NULL, 0) \
    FORM(NUM, "number", "$num", '"')  FORM(INT, "integer", "$int", '"') \
    FORM(BYTES, "bytes", "$bytes", '"') \
    FORM(DATE, "date", "$date", '"')  FORM(TIME, "time", "$time", '"') \
    FORM(NA, "NA", "$na", '"')        FORM(COMPLEX, "complex number", "$complex", '[') \
    FORM(FACTOR, "factor", "$factor", '{') \
    FORM(FRAME, "data frame", "$frame", '{') \
    FORM(MAP, "map", "$map", '[')     FORM(NATIVE, "a value of one language", "$r", '{') \
    FORM(OTHER, "a value of unknown form", NULL, 0)
/* clang-format on */

enum value_form {
#define FORM_ID(ID, ...) FORM_##ID,
    FORMS(FORM_ID)
};

#define BIT(form) (1u << (form))

static const struct {
    const char *word;
    const char *tag;
    char holds;
} forms[] = {
#define FORM_ROW(ID, word, tag, holds) {word, tag, holds},
    FORMS(FORM_ROW)};

#define FORMS_NUMBER (BIT(FORM_NUMBER) | BIT(FORM_NUM) | BIT(FORM_INT))
#define FORMS_ARRAY  (BIT(FORM_ARRAY) | BIT(FORM_FACTOR))
#define FORMS_OBJECT (BIT(FORM_OBJECT) | BIT(FORM_MAP) | BIT(FORM_FRAME))

/* Type names of JSON Schema, then those of R. */
static const struct laz_type_word type_words[] = {
    {"string", LAZ_TYPE_STRING, BIT(FORM_STRING) | BIT(FORM_BYTES)},
    {"number", LAZ_TYPE_NUMBER, FORMS_NUMBER},
    {"integer", LAZ_TYPE_INTEGER, BIT(FORM_NUMBER) | BIT(FORM_INT)},
    {"boolean", LAZ_TYPE_BOOLEAN, BIT(FORM_BOOLEAN)},
    {"array", LAZ_TYPE_ARRAY, FORMS_ARRAY},
    {"object", LAZ_TYPE_OBJECT, FORMS_OBJECT},
    {"any", LAZ_TYPE_ANY, ~0u},
    {"numeric", LAZ_TYPE_NUMBER, FORMS_NUMBER},
    {"character", LAZ_TYPE_STRING, BIT(FORM_STRING) | BIT(FORM_BYTES)},
    {"logical", LAZ_TYPE_BOOLEAN, BIT(FORM_BOOLEAN)},
    {"list", LAZ_TYPE_ARRAY, FORMS_ARRAY | FORMS_OBJECT},
    {"data.frame", LAZ_TYPE_OBJECT, FORMS_OBJECT | BIT(FORM_ARRAY)},
};

#define N_TYPE_WORDS (sizeof type_words / sizeof *type_words)

const struct laz_type_word *laz_type_word_find(const char *word)
{
    for (size_t i = 0; i < N_TYPE_WORDS; i++)
        if (strcmp(type_words[i].word, word) == 0)
            return &type_words[i];
    return NULL;
}

void laz_type_words(struct laz_buf *text)
{
    for (size_t i = 0; i < N_TYPE_WORDS; i++)
        laz_buf_printf(text, "%s%s", i ? ", " : "", type_words[i].word);
}

const char *laz_type_name(enum laz_type type)
{
    for (size_t i = 0; type != LAZ_TYPE_ANY && i < N_TYPE_WORDS; i++)
        if (type_words[i].type == type)
            return type_words[i].word;
    return "";
}

void laz_type_take_native(struct laz_tool_parameter *parameter)
{
    const unsigned both = BIT(FORM_OBJECT) | BIT(FORM_ARRAY);

    if ((parameter->accepts & both) == both) /* a word for structures of any kind */
        parameter->accepts |= BIT(FORM_NATIVE);
}

bool laz_type_is_plain(const struct laz_tool_parameter *parameter)
{
    const struct laz_type_word *word = laz_type_word_find(laz_type_name(parameter->type));

    return word && word->accepts == parameter->accepts;
}

/* ---- one value ------------------------------------------------------------------------------ */

/* True for decimal digits without leading zeros: some programs read 010 as eight. */
static bool value_is_integer_text(const char *text, size_t len)
{
    size_t i = len && text[0] == '-';

    if (i == len || len - i > ARGUMENTS_MAX_INT || (text[i] == '0' && len > 1))
        return false;
    for (; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

/* True if the text in a tag is valid. Dates and the contents of frames are not checked. */
static bool value_tag_fits(size_t form, const char *text, size_t len)
{
    switch (form) {
    case FORM_NUM:
        return strcmp(text, "NaN") == 0 || strcmp(text, "Inf") == 0 || strcmp(text, "-Inf") == 0;
    case FORM_INT:
        return value_is_integer_text(text, len);
    case FORM_BYTES:
        return laz_base64_decode(text, len, NULL) >= 0;
    default:
        return true;
    }
}

/* The form of an object: that of its tag, or plain. FORM_OTHER also for a tag with invalid content
 * and when out of memory: such values are refused if a type is declared. */
static enum value_form value_object_form(const char *raw, size_t len)
{
    struct laz_json_found only;
    size_t n, form = 0;

    if (!laz_json_find_members(raw, len, &only, 1, &n))
        return FORM_OTHER;
    if (n != 1 || only.key[0] != '$')
        return FORM_OBJECT;
    while (form < FORM_OTHER && !(forms[form].tag && laz_json_found_is(&only, forms[form].tag)))
        form++;
    if (only.raw[0] != forms[form].holds)
        return FORM_OTHER;
    if (forms[form].holds == '"') {
        char *text = laz_json_to_string(only.raw, only.len, &len);
        if (!text || !value_tag_fits(form, text, len))
            form = FORM_OTHER;
        free(text);
    }
    return (enum value_form)form;
}

static enum value_form value_form(const char *raw, size_t len)
{
    switch (len ? raw[0] : '\0') {
    case 'n':
        return FORM_NULL;
    case 't':
    case 'f':
        return FORM_BOOLEAN;
    case '"':
        return FORM_STRING;
    case '[':
        return FORM_ARRAY;
    case '{':
        return value_object_form(raw, len);
    default:
        return FORM_NUMBER;
    }
}

char *laz_tool_integer_text(const char *raw, size_t len, size_t *n)
{
    struct laz_json_found only;

    return value_form(raw, len) == FORM_INT && laz_json_find_members(raw, len, &only, 1, n)
               ? laz_json_to_string(only.raw, only.len, n)
               : NULL;
}

/* A scalar, decoded once: it may be long, and so may the list in which it is looked up. */
struct scalar {
    const char *raw;
    size_t len;
    enum value_form form;
    struct laz_json_digits number;
    char *text; /* of a string; NULL: out of memory */
    size_t text_len;
};

static struct scalar scalar_of(const char *raw, size_t len)
{
    struct scalar scalar = {.raw = raw, .len = len, .form = value_form(raw, len)};

    if (scalar.form == FORM_NUMBER)
        scalar.number = laz_json_digits(raw, len);
    else if (scalar.form == FORM_STRING)
        scalar.text = laz_json_to_string(raw, len, &scalar.text_len);
    return scalar;
}

/* True if two scalars are the same value, in any notation. */
static bool scalar_is_same(const struct scalar *a, const struct scalar *b)
{
    if (a->form != b->form)
        return false;
    if (a->form == FORM_NUMBER)
        return laz_json_is_same_number(a->number, b->number);
    if (a->form == FORM_STRING)
        return a->text && b->text && a->text_len == b->text_len &&
               memcmp(a->text, b->text, a->text_len) == 0;
    return a->len == b->len && memcmp(a->raw, b->raw, a->len) == 0;
}

/* True if the scalar is a value of the JSON list; *raw is then set to the text in the list, so that
 * a tool gets the declared notation (10 for 1e1). */
static bool value_is_listed(const char *list, const char **raw, size_t *len)
{
    struct laz_json_items items = laz_json_items(list, strlen(list));
    struct scalar value = scalar_of(*raw, *len);
    const char *text;
    size_t text_len;
    bool found = false;

    while (!found && laz_json_next_item(&items, &text, &text_len)) {
        struct scalar item = scalar_of(text, text_len);
        found = scalar_is_same(&item, &value);
        free(item.text);
        if (found) {
            *raw = text;
            *len = text_len;
        }
    }
    free(value.text);
    return found;
}

/* Reports that a value is not one of the enumeration, and lists these without their brackets. */
static int value_not_listed(const char *tool, const struct laz_tool_parameter *parameter,
                            const char *what, struct laz_error *err)
{
    const size_t len = strlen(parameter->enumeration) - 2;

    return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': %s '%s' must be one of %.*s", tool, what,
                         parameter->name, (int)(len > 512 ? 512 : len), parameter->enumeration + 1);
}

static int value_wrong_type(const char *tool, const struct laz_tool_parameter *parameter,
                            const char *what, enum value_form form, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': %s '%s' must be %s, got %s", tool, what,
                         parameter->name, parameter->type_name, forms[form].word);
}

int laz_tool_check_value(const char *tool, const struct laz_tool_parameter *parameter,
                         const char *what, const char *raw, size_t len,
                         struct laz_json_write *write, const char *key, struct laz_error *err)
{
    enum value_form form = FORM_OTHER;
    int64_t whole;

    if (parameter->type != LAZ_TYPE_ANY) {
        form = value_form(raw, len);
        if (!(parameter->accepts & BIT(form)))
            return value_wrong_type(tool, parameter, what, form, err);
    }
    if (parameter->enumeration && !value_is_listed(parameter->enumeration, &raw, &len))
        return value_not_listed(tool, parameter, what, err);
    if (parameter->type == LAZ_TYPE_INTEGER && form == FORM_NUMBER) {
        if (!laz_json_to_int(raw, len, &whole))
            return value_wrong_type(tool, parameter, what, form, err);
        laz_json_add_int(write, key, whole);
    } else {
        laz_json_add_key(write, key);
        laz_json_compact(write->to, raw, len);
    }
    return write->to->failed ? laz_error_nomem(err) : 0;
}

/* ---- all of a call -------------------------------------------------------------------------- */

/* The arguments that were given, as far as they are kept. */
struct arguments {
    struct laz_json_found *found;
    size_t n;
};

static bool arguments_are_declared(const struct laz_tool_entry *tool,
                                   const struct laz_json_found *found)
{
    for (size_t i = 0; i < tool->n_parameters; i++)
        if (laz_json_found_is(found, tool->parameters[i].name))
            return true;
    return false;
}

static void arguments_list_name(struct laz_buf *names, const struct laz_json_found *found)
{
    struct laz_buf name = LAZ_BUF_INIT;
    size_t n = 0, step = 1;

    laz_json_decode_string(found->key - 1, found->key_len + 2, &name);
    while (step && n < name.len && n < ARGUMENTS_SHOWN) {
        step = laz_utf8_sequence(name.data + n, name.len - n);
        n += step;
    }
    laz_buf_puts(names, names->len ? ", '" : "'");
    laz_buf_append(names, laz_buf_text(&name), n);
    laz_buf_puts(names, n < name.len ? "...'" : "'");
    names->failed |= name.failed;
    laz_buf_fini(&name);
}

/* Refuses undeclared names; the message lists a few. */
static int arguments_check_names(const struct laz_tool_entry *tool,
                                 const struct arguments *arguments, struct laz_error *err)
{
    struct laz_buf names = LAZ_BUF_INIT;
    size_t undeclared = 0;
    int ret = 0;

    for (size_t i = 0; i < arguments->n; i++)
        if (!arguments_are_declared(tool, &arguments->found[i]) && ++undeclared <= ARGUMENTS_NAMED)
            arguments_list_name(&names, &arguments->found[i]);
    if (names.failed)
        ret = laz_error_nomem(err);
    else if (undeclared)
        ret = laz_error_set(err, LAZ_EINVAL, 0, "Unexpected arguments for tool '%s': %s%s",
                            tool->name, laz_buf_text(&names),
                            undeclared > ARGUMENTS_NAMED ? " and more" : "");
    laz_buf_fini(&names);
    return ret;
}

/* The argument of a parameter. NULL: it is missing, or is a null for an optional parameter that has
 * no null in its enumeration. */
static const struct laz_json_found *arguments_get(const struct arguments *arguments,
                                                  const struct laz_tool_parameter *parameter)
{
    for (size_t i = 0; i < arguments->n; i++) {
        const struct laz_json_found *found = &arguments->found[i];
        const char *raw = found->raw;
        size_t len = found->len;
        if (!laz_json_found_is(found, parameter->name))
            continue;
        if (parameter->required || raw[0] != 'n' ||
            (parameter->enumeration && value_is_listed(parameter->enumeration, &raw, &len)))
            return found;
        return NULL;
    }
    return NULL;
}

/* Writes the argument of a parameter, or its default. */
static int arguments_write(const struct laz_tool_entry *tool,
                           const struct laz_tool_parameter *parameter,
                           const struct arguments *arguments, struct laz_json_write *write,
                           struct laz_error *err)
{
    const struct laz_json_found *given = arguments_get(arguments, parameter);
    const char *value = parameter->default_value;

    if (given)
        return laz_tool_check_value(tool->name, parameter, "argument", given->raw, given->len,
                                    write, parameter->name, err);
    if (parameter->required)
        return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': argument '%s' is missing", tool->name,
                             parameter->name);
    if (value)
        laz_json_add_raw(write, parameter->name, value, strlen(value));
    return 0;
}

int laz_tool_check_arguments(const struct laz_tool_entry *tool, const char *args, size_t len,
                             struct laz_buf *checked, struct laz_error *err)
{
    /* So many that one more than is named in a message is undeclared, or none was left out. */
    const size_t kept = tool->n_parameters + ARGUMENTS_NAMED + 1, start = checked->len;
    struct arguments given = {calloc(kept, sizeof *given.found), 0};
    struct laz_json_write write = {.to = checked};
    int ret = 0;

    if (!given.found)
        return laz_error_nomem(err);
    if (!laz_json_find_members(args, len, given.found, kept, &given.n) && args[0] != 'n')
        ret =
            laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': arguments must be an object", tool->name);
    if (given.n > kept)
        given.n = kept;
    if (!ret)
        ret = arguments_check_names(tool, &given, err);
    laz_json_begin_object(&write, NULL);
    for (size_t i = 0; !ret && i < tool->n_parameters; i++)
        ret = arguments_write(tool, &tool->parameters[i], &given, &write, err);
    laz_json_end_object(&write);
    if (!ret && checked->failed)
        ret = laz_error_nomem(err);
    if (ret && !checked->failed) {
        checked->len = start;
        checked->data[start] = '\0';
    }
    free(given.found);
    return ret;
}
