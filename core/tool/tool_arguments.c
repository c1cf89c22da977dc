/* SPDX-License-Identifier: MIT */
/* tool_arguments.c - checks arguments from the sandbox against the declaration of the tool.
 *
 * The runtimes check types too, for good messages in their language; only the check here is relied
 * on.  The arguments are scanned JSON text (one value, no repeated keys).  They are read once,
 * without a tree, and reading stops after a few undeclared names, so the time is linear in the
 * length of the text whatever a peer sends.
 * Side: host.  Input trusted: no (arguments come from the sandbox). */
#include "tool/tool_types.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_NAMED   5    /* undeclared names that a message lists */
#define ARGUMENTS_SHOWN   64   /* bytes of each */
#define ARGUMENTS_MAX_INT 4096 /* digits of an $int */

enum value_form {
    FORM_NULL,
    FORM_BOOLEAN,
    FORM_NUMBER,
    FORM_STRING,
    FORM_ARRAY,
    FORM_OBJECT,
    FORM_NUM,
    FORM_INT,
    FORM_BYTES,
    FORM_DATE,
    FORM_TIME,
    FORM_NA,
    FORM_COMPLEX,
    FORM_FACTOR,
    FORM_FRAME,
    FORM_MAP,
    FORM_OTHER,
};

#define BIT(form) (1u << (form))

/* Words for messages, and the tags of lazaret/json.h with the JSON type of their content. */
static const struct {
    const char *word;
    const char *tag;
    uint32_t holds;
} forms[] = {
    [FORM_NULL] = {"null", NULL, 0},
    [FORM_BOOLEAN] = {"boolean", NULL, 0},
    [FORM_NUMBER] = {"number", NULL, 0},
    [FORM_STRING] = {"string", NULL, 0},
    [FORM_ARRAY] = {"array", NULL, 0},
    [FORM_OBJECT] = {"object", NULL, 0},
    [FORM_NUM] = {"number", "$num", LAZ_JSON_STRING},
    [FORM_INT] = {"integer", "$int", LAZ_JSON_STRING},
    [FORM_BYTES] = {"bytes", "$bytes", LAZ_JSON_STRING},
    [FORM_DATE] = {"date", "$date", LAZ_JSON_STRING},
    [FORM_TIME] = {"time", "$time", LAZ_JSON_STRING},
    [FORM_NA] = {"NA", "$na", LAZ_JSON_STRING},
    [FORM_COMPLEX] = {"complex number", "$complex", LAZ_JSON_ARRAY_BEGIN},
    [FORM_FACTOR] = {"factor", "$factor", LAZ_JSON_OBJECT_BEGIN},
    [FORM_FRAME] = {"data frame", "$frame", LAZ_JSON_OBJECT_BEGIN},
    [FORM_MAP] = {"map", "$map", LAZ_JSON_ARRAY_BEGIN},
    [FORM_OTHER] = {"a value of unknown form", NULL, 0},
};

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
static bool value_tag_fits(enum value_form form, const char *text, size_t len)
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
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *reader = json->reader_new(raw, len);
    struct laz_json_token token;
    enum value_form form = FORM_OTHER;

    if (!reader)
        return FORM_OTHER;
    const char *tag = json->peek_tag(reader);
    if (!tag) {
        form = FORM_OBJECT;
        goto out;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].tag && strcmp(forms[i].tag, tag) == 0)
            form = (enum value_form)i;
    if (form == FORM_OTHER)
        goto out;
    json->next(reader, &token);
    json->next(reader, &token);
    if (json->peek(reader) != forms[form].holds || (json->next(reader, &token) == LAZ_JSON_STRING &&
                                                    !value_tag_fits(form, token.text, token.len)))
        form = FORM_OTHER;
out:
    json->reader_free(reader);
    return form;
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
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *items = json->reader_new(list, strlen(list));
    struct scalar value = scalar_of(*raw, *len);
    struct laz_json_token token;
    bool found = false;

    if (items)
        json->next(items, &token);
    while (items && !found) {
        const char *text;
        size_t text_len;
        if (!json->skip(items, &text, &text_len))
            break;
        struct scalar item = scalar_of(text, text_len);
        found = scalar_is_same(&item, &value);
        free(item.text);
        if (found) {
            *raw = text;
            *len = text_len;
        }
    }
    free(value.text);
    json->reader_free(items);
    return found;
}

/* Reports that a value is not one of the enumeration, and lists these. */
static int value_not_listed(const char *tool, const struct laz_tool_parameter *parameter,
                            const char *what, struct laz_error *err)
{
    size_t len = strlen(parameter->enumeration);
    struct laz_buf items = LAZ_BUF_INIT;

    laz_json_compact(&items, parameter->enumeration, len);
    len = items.len > 2 ? items.len - 2 : 0;
    laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': %s '%s' must be one of %.*s", tool, what,
                  parameter->name, (int)(len > 512 ? 512 : len), len ? items.data + 1 : "");
    laz_buf_fini(&items);
    return LAZ_EINVAL;
}

static int value_wrong_type(const char *tool, const struct laz_tool_parameter *parameter,
                            const char *what, enum value_form form, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': %s '%s' must be %s, got %s", tool, what,
                         parameter->name, parameter->type_name, forms[form].word);
}

int laz_tool_check_value(const char *tool, const struct laz_tool_parameter *parameter,
                         const char *what, const char *raw, size_t len, struct laz_buf *checked,
                         struct laz_error *err)
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
        laz_buf_printf(checked, "%" PRId64, whole);
    } else {
        laz_json_compact(checked, raw, len);
    }
    return checked->failed ? laz_error_nomem(err) : 0;
}

/* ---- all of a call -------------------------------------------------------------------------- */

struct argument {
    const char *raw; /* NULL: not given */
    size_t len;
};

static size_t arguments_find(const struct laz_tool_entry *tool, const struct laz_json_token *name)
{
    size_t i = 0;

    while (i < tool->n_parameters && strcmp(tool->parameters[i].name, name->text) != 0)
        i++;
    return i;
}

static void arguments_list_name(struct laz_buf *names, const struct laz_json_token *name)
{
    size_t n = 0, step = 1;

    while (step && n < name->len && n < ARGUMENTS_SHOWN) {
        step = laz_utf8_sequence(name->text + n, name->len - n);
        n += step;
    }
    laz_buf_puts(names, names->len ? ", '" : "'");
    laz_buf_append(names, name->text, n);
    laz_buf_puts(names, n < name->len ? "...'" : "'");
}

/* Finds the raw text of each argument. Undeclared names are refused; the message lists a few, and
 * the rest is not read. */
static int arguments_split(const struct laz_tool_entry *tool, const char *args, size_t len,
                           struct argument *found, struct laz_error *err)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *reader = json->reader_new(args, len);
    struct laz_buf names = LAZ_BUF_INIT;
    struct laz_json_token token;
    size_t undeclared = 0;
    int ret = 0;

    if (!reader)
        return laz_error_nomem(err);
    uint32_t type = json->next(reader, &token);
    if (type == LAZ_JSON_NULL)
        goto out;
    if (type != LAZ_JSON_OBJECT_BEGIN) {
        ret =
            laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': arguments must be an object", tool->name);
        goto out;
    }
    while (undeclared <= ARGUMENTS_NAMED && json->next(reader, &token) == LAZ_JSON_KEY) {
        size_t i = arguments_find(tool, &token);
        if (i < tool->n_parameters)
            json->skip(reader, &found[i].raw, &found[i].len);
        else if (++undeclared <= ARGUMENTS_NAMED)
            arguments_list_name(&names, &token);
        if (i == tool->n_parameters)
            json->skip(reader, NULL, NULL);
    }
    if (json->reader_failed(reader) || names.failed)
        ret = laz_error_nomem(err);
    else if (undeclared)
        ret = laz_error_set(err, LAZ_EINVAL, 0, "Unexpected arguments for tool '%s': %s%s",
                            tool->name, laz_buf_text(&names),
                            undeclared > ARGUMENTS_NAMED ? " and more" : "");
out:
    laz_buf_fini(&names);
    json->reader_free(reader);
    return ret;
}

/* True if an argument is missing, or is a null for an optional parameter that has no null in its
 * enumeration. */
static bool argument_is_absent(const struct laz_tool_parameter *parameter,
                               const struct argument *argument)
{
    if (!argument->raw)
        return true;
    if (parameter->required || argument->raw[0] != 'n')
        return false;
    const char *raw = argument->raw;
    size_t raw_len = argument->len;
    return !parameter->enumeration || !value_is_listed(parameter->enumeration, &raw, &raw_len);
}

int laz_tool_check_arguments(const struct laz_tool_entry *tool, const char *args, size_t len,
                             struct laz_buf *checked, struct laz_error *err)
{
    struct argument *found = calloc(tool->n_parameters + 1, sizeof *found);
    size_t start = checked->len;

    if (!found)
        return laz_error_nomem(err);
    int ret = arguments_split(tool, args, len, found, err);
    laz_buf_putc(checked, '{');
    for (size_t i = 0; !ret && i < tool->n_parameters; i++) {
        const struct laz_tool_parameter *parameter = &tool->parameters[i];
        bool absent = argument_is_absent(parameter, &found[i]);
        if (absent && parameter->required) {
            ret = laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': argument '%s' is missing",
                                tool->name, parameter->name);
            break;
        }
        if (absent && !parameter->default_value)
            continue;
        laz_buf_printf(checked, "%s\"%s\":", checked->len > start + 1 ? "," : "", parameter->name);
        if (absent)
            laz_buf_puts(checked, parameter->default_value);
        else
            ret = laz_tool_check_value(tool->name, parameter, "argument", found[i].raw,
                                       found[i].len, checked, err);
    }
    laz_buf_putc(checked, '}');
    if (!ret && checked->failed)
        ret = laz_error_nomem(err);
    if (ret && !checked->failed && checked->data) {
        checked->len = start;
        checked->data[start] = '\0';
    }
    free(found);
    return ret;
}
