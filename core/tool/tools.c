/* SPDX-License-Identifier: MIT */
/* tools.c - checks declarations of tools and keeps the set of them.
 *
 * A declaration that would make a tool useless or ambiguous in some language is refused, with a
 * sentence that names tool and parameter; calls then rely on names, types, defaults and
 * enumerations.  A set is small (tens of tools), so searches are linear.
 * Side: host.  Input trusted: yes (what configuration, plugins and application declare). */
#include "tool/tool_private.h"

#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "settings/toml/toml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool laz_tool_name_is_valid(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!laz_toml_is_bare((unsigned char)name[i]) && name[i] != '.')
            return false;
    return len && len <= LAZ_TOOL_MAX_NAME;
}

/* A parameter may have a name in any language, as JSON has it; but one that is shown as it is. */
static bool name_is_shown(const char *name)
{
    const size_t len = strlen(name);
    struct laz_buf shown = LAZ_BUF_INIT;

    laz_visible_line(&shown, name, len);
    const bool is_shown = len && len <= LAZ_TOOL_MAX_NAME && laz_utf8_is_valid(name, len) &&
                          strcmp(laz_buf_text(&shown), name) == 0;
    laz_buf_fini(&shown);
    return is_shown;
}

static int name_check_tool(const char *name, struct laz_error *err)
{
    if (name && laz_tool_name_is_valid(name, strlen(name)))
        return 0;
    return laz_error_set(err, LAZ_EINVAL, 0,
                         "'%.100s' is not a valid name of a tool: a name has 1 to %d letters, "
                         "digits, '_', '.' and '-'",
                         name ? name : "", LAZ_TOOL_MAX_NAME);
}

static int name_check_parameter(const char *tool, const char *name, struct laz_error *err)
{
    if (name_is_shown(name))
        return 0;
    return laz_error_set(err, LAZ_EINVAL, 0,
                         "Tool '%s': '%.100s' is not a valid name of a parameter: a name has 1 to "
                         "%d bytes of UTF-8 without control characters",
                         tool, name, LAZ_TOOL_MAX_NAME);
}

/* ---- one parameter -------------------------------------------------------------------------- */

/* Members of a parameter's object; the first ones are texts. */
enum { MEMBER_REQUIRED = 4, MEMBER_DEFAULT, MEMBER_ENUM, MEMBERS };

static const char *const member_names[] = {"name",     "type",    "description", "format",
                                           "required", "default", "enum"};

/* A parameter whose members were read, before they are checked together. */
struct declaration {
    const char *tool;
    struct laz_tool_parameter *parameter;
    struct laz_json_found members[MEMBERS]; /* raw NULL: not given */
};

static int declaration_fail(const struct declaration *declaration, struct laz_error *err,
                            const char *problem)
{
    return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': parameter '%s': %s", declaration->tool,
                         declaration->parameter->name ? declaration->parameter->name : "?",
                         problem);
}

static int declaration_unknown(const struct declaration *declaration,
                               const struct laz_json_found *member, struct laz_error *err)
{
    char problem[200], *key = laz_json_to_string(member->key - 1, member->key_len + 2, NULL);

    if (!key)
        return laz_error_nomem(err);
    snprintf(problem, sizeof problem,
             "unknown key '%.100s'; known are name, type, description, format, required, default, "
             "enum",
             key);
    free(key);
    return declaration_fail(declaration, err, problem);
}

static int declaration_member(struct declaration *declaration, const struct laz_json_found *member,
                              struct laz_error *err)
{
    struct laz_tool_parameter *parameter = declaration->parameter;
    char **const texts[] = {&parameter->name, &parameter->type_name, &parameter->description,
                            &parameter->format};
    char problem[50];
    size_t i = 0;

    while (i < MEMBERS && !laz_json_found_is(member, member_names[i]))
        i++;
    if (i == MEMBERS)
        return declaration_unknown(declaration, member, err);
    if (i >= MEMBER_REQUIRED) {
        declaration->members[i] = *member;
        return 0;
    }
    int ret = laz_json_take_string(member->raw, member->len, texts[i], NULL);
    if (ret != LAZ_EPARSE)
        return ret ? laz_error_nomem(err) : 0;
    snprintf(problem, sizeof problem, "%s must be a string", member_names[i]);
    return declaration_fail(declaration, err, problem);
}

static int declaration_read(struct declaration *declaration, const char *raw, size_t len,
                            struct laz_error *err)
{
    struct laz_json_found found[MEMBERS + 1]; /* one of so many is unknown */
    size_t n;
    int ret = 0;

    if (!laz_json_find_members(raw, len, found, MEMBERS + 1, &n))
        return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': each parameter must be an object",
                             declaration->tool);
    for (size_t i = 0; !ret && i < n && i <= MEMBERS; i++)
        ret = declaration_member(declaration, &found[i], err);
    return ret;
}

static int declaration_type(struct declaration *declaration, struct laz_error *err)
{
    struct laz_tool_parameter *parameter = declaration->parameter;
    const char *word = parameter->type_name ? parameter->type_name : "";
    const struct laz_type_word *type = laz_type_word_find(*word ? word : "any");
    struct laz_buf words = LAZ_BUF_INIT;

    if (!type) {
        laz_type_words(&words);
        laz_error_set(err, LAZ_EINVAL, 0,
                      "Tool '%s': parameter '%s': unknown type '%.100s'; known are %s",
                      declaration->tool, parameter->name, word, laz_buf_text(&words));
        laz_buf_fini(&words);
        return LAZ_EINVAL;
    }
    parameter->type = type->type;
    parameter->accepts = type->accepts;
    if (type->type == LAZ_TYPE_ANY) {
        free(parameter->type_name);
        parameter->type_name = NULL;
    }
    if (!parameter->type_name)
        parameter->type_name = laz_strdup("");
    return parameter->type_name ? 0 : laz_error_nomem(err);
}

/* A format says how the text of the parameter is compared. */
static int declaration_format(struct declaration *declaration, struct laz_error *err)
{
    struct laz_tool_parameter *parameter = declaration->parameter;

    if (!parameter->format)
        return 0;
    if (strcmp(parameter->format, "path") != 0)
        return declaration_fail(declaration, err, "unknown format; known is \"path\"");
    if (parameter->type != LAZ_TYPE_STRING && parameter->type != LAZ_TYPE_ARRAY &&
        parameter->type != LAZ_TYPE_ANY)
        return declaration_fail(declaration, err,
                                "the format \"path\" is for strings and for lists of them");
    parameter->is_path = true;
    return 0;
}

/* Moves the text of a value that was checked (`ret` is 0) to `kept`. Takes the buffer. */
static int declaration_keep(int ret, struct laz_buf *text, char **kept, struct laz_error *err)
{
    if (!ret && !(*kept = laz_buf_steal(text)))
        ret = laz_error_nomem(err);
    laz_buf_fini(text);
    return ret;
}

/* Checks an enumeration: a list, not empty, of strings, numbers, booleans and null that fit the
 * type. Its values are stored in the form in which a tool gets them: 1e1 becomes 10 if the type is
 * integer. */
static int declaration_enumeration(struct declaration *declaration, struct laz_error *err)
{
    const struct laz_json_found *given = &declaration->members[MEMBER_ENUM];
    struct laz_json_items items = laz_json_items(given->raw, given->len);
    struct laz_buf list = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &list};
    const char *raw;
    size_t len;
    int ret = 0;

    if (items.failed)
        return declaration_fail(declaration, err, "enum must be a list of values");
    laz_json_begin_list(&write, NULL);
    while (!ret && laz_json_next_item(&items, &raw, &len)) {
        if (raw[0] == '{' || raw[0] == '[')
            ret = declaration_fail(declaration, err,
                                   "enum may list strings, numbers and booleans only");
        else if (!laz_json_is_kept(raw, len))
            ret = declaration_fail(declaration, err,
                                   "enum lists a number with more digits than a double keeps: code "
                                   "could never pass it; list strings instead");
        else if (raw[0] == 'n')
            laz_json_add_null(&write, NULL);
        else
            ret = laz_tool_check_value(declaration->tool, declaration->parameter,
                                       "a value of the enum of", raw, len, &write, NULL, err);
    }
    if (!ret && list.len == 1)
        ret = declaration_fail(declaration, err, "enum lists no value");
    laz_json_end_list(&write);
    return declaration_keep(ret, &list, &declaration->parameter->enumeration, err);
}

static void declaration_integer(const char *raw, size_t len, struct laz_buf *text)
{
    struct laz_json_write write = {.to = text};

    laz_json_begin_object(&write, NULL);
    laz_json_add_bytes(&write, "$int", raw, len);
    laz_json_end_object(&write);
}

/* Appends JSON in which whole numbers that a double would change have the form that keeps them
 * ($int): so a default is exact however it was declared. */
static void declaration_exact(const char *raw, size_t len, struct laz_buf *text)
{
    for (size_t i = 0, n; i < len; i += n) {
        bool is_whole = raw[i] == '-' || (raw[i] >= '0' && raw[i] <= '9');
        const bool is_number = is_whole;

        n = 1;
        if (raw[i] == '"') {
            while (i + n < len && raw[i + n] != '"')
                n += raw[i + n] == '\\' ? 2 : 1;
            n++;
        }
        for (; is_number && i + n < len && strchr("+-.eE0123456789", raw[i + n]); n++)
            is_whole &= raw[i + n] >= '0' && raw[i + n] <= '9';
        if (is_whole && !laz_json_is_kept(raw + i, n))
            declaration_integer(raw + i, n, text);
        else
            laz_buf_append(text, raw + i, n);
    }
}

/* Sets `required` and the default. A default of null means optional without a default. */
static int declaration_default(struct declaration *declaration, struct laz_error *err)
{
    const struct laz_json_found *given = &declaration->members[MEMBER_DEFAULT];
    const struct laz_json_found *required = &declaration->members[MEMBER_REQUIRED];
    struct laz_tool_parameter *parameter = declaration->parameter;
    struct laz_buf value = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &value};

    parameter->required = !given->raw;
    if (required->raw && !laz_json_to_bool(required->raw, required->len, &parameter->required))
        return declaration_fail(declaration, err, "required must be true or false");
    if (parameter->required && given->raw)
        return declaration_fail(declaration, err,
                                "it is required and has a default: remove one of them");
    if (!given->raw || given->raw[0] == 'n')
        return 0;
    struct laz_buf exact = LAZ_BUF_INIT;
    declaration_exact(given->raw, given->len, &exact);
    int ret = exact.failed
                  ? laz_error_nomem(err)
                  : laz_tool_check_value(declaration->tool, parameter, "the default of",
                                         laz_buf_text(&exact), exact.len, &write, NULL, err);
    laz_buf_fini(&exact);
    return declaration_keep(ret, &value, &parameter->default_value, err);
}

static int parameter_parse(struct laz_tool_parameter *parameter, const char *tool, const char *raw,
                           size_t len, struct laz_error *err)
{
    struct declaration declaration = {.tool = tool, .parameter = parameter};
    int ret = declaration_read(&declaration, raw, len, err);

    if (ret)
        return ret;
    if (!parameter->name)
        return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': a parameter has no name", tool);
    ret = name_check_parameter(tool, parameter->name, err);
    if (!ret && !parameter->description && !(parameter->description = laz_strdup("")))
        ret = laz_error_nomem(err);
    if (!ret)
        ret = declaration_type(&declaration, err);
    if (!ret)
        ret = declaration_format(&declaration, err);
    if (!ret && declaration.members[MEMBER_ENUM].raw)
        ret = declaration_enumeration(&declaration, err);
    if (!ret)
        ret = declaration_default(&declaration, err);
    return ret;
}

/* ---- one tool ------------------------------------------------------------------------------- */

static void entry_fini(struct laz_tool_entry *entry)
{
    for (size_t i = 0; i < entry->n_parameters; i++) {
        struct laz_tool_parameter *parameter = &entry->parameters[i];
        free(parameter->name);
        free(parameter->type_name);
        free(parameter->description);
        free(parameter->format);
        free(parameter->default_value);
        free(parameter->enumeration);
    }
    free(entry->parameters);
    laz_strv_fini(&entry->spelled);
    free(entry->name);
    free(entry->description);
    free(entry->returns);
}

static int entry_check_parameters(const struct laz_tool_entry *entry, struct laz_error *err)
{
    for (size_t i = 0; i < entry->n_parameters; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(entry->parameters[k].name, entry->parameters[i].name) == 0)
                return laz_error_set(
                    err, LAZ_EINVAL, 0, "Tool '%s': Duplicate parameter names: '%s' and '%s'",
                    entry->name, entry->parameters[k].name, entry->parameters[i].name);
    return 0;
}

static int entry_parse_parameters(struct laz_tool_entry *entry, const char *text,
                                  struct laz_error *err)
{
    const char *raw;
    size_t len = strlen(text);
    int ret = laz_json_scan(text, len, err);

    if (ret) {
        laz_error_prefix(err, "Tool '%s': parameters: ", entry->name);
        return ret == LAZ_ENOMEM ? ret : LAZ_EINVAL;
    }
    struct laz_json_items items = laz_json_items(text, len);
    if (items.failed)
        return laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': parameters must be a list",
                             entry->name);
    entry->parameters = calloc(LAZ_TOOL_MAX_PARAMETERS, sizeof *entry->parameters);
    if (!entry->parameters)
        return laz_error_nomem(err);
    while (!ret && laz_json_next_item(&items, &raw, &len)) {
        if (entry->n_parameters == LAZ_TOOL_MAX_PARAMETERS)
            ret = laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': more than %d parameters",
                                entry->name, LAZ_TOOL_MAX_PARAMETERS);
        else
            ret = parameter_parse(&entry->parameters[entry->n_parameters++], entry->name, raw, len,
                                  err);
    }
    return ret ? ret : entry_check_parameters(entry, err);
}

/* Schemas that a server has sent need not be understood. */
static int entry_take_returns(struct laz_tool_entry *entry, const char *schema,
                              const struct laz_provider *provider, struct laz_error *err)
{
    struct laz_buf type = LAZ_BUF_INIT;
    int ret = schema ? laz_tool_returns_type(schema, &type, err) : 0;

    if (ret == LAZ_EINVAL && provider && LAZ_HAS(provider->ops, prepare)) {
        laz_buf_clear(&type);
        ret = 0;
    }
    if (ret)
        laz_error_prefix(err, "Tool '%s': returns", entry->name);
    else if (!type.len)
        laz_buf_puts(&type, "");
    entry->returns = laz_buf_steal(&type);
    return !ret && !entry->returns ? laz_error_nomem(err) : ret;
}

/* ---- the set -------------------------------------------------------------------------------- */

int laz_tool_set_add(struct laz_tool_set *set, const struct laz_tool *tool,
                     const struct laz_spellings *spellings, const struct laz_provider *provider,
                     size_t index, struct laz_error *err)
{
    const char *description = tool->description ? tool->description : "";
    int ret = name_check_tool(tool->name, err);

    if (!ret && !laz_utf8_is_valid(description, strlen(description)))
        ret = laz_error_set(err, LAZ_EINVAL, 0, "Tool '%s': its description is not valid UTF-8",
                            tool->name);
    if (ret)
        return ret;
    struct laz_tool_entry entry = {
        .name = laz_strdup(tool->name),
        .description = laz_strdup(description),
        .timeout_ms = tool->timeout_ms,
        .max_concurrent = tool->max_concurrent,
        .approval = LAZ_HAS(tool, approve) ? LAZ_APPROVAL_ALWAYS : LAZ_APPROVAL_NEVER,
        .in_loop = provider ? !provider->is_blocking : LAZ_HAS(tool, nonblocking),
        .native = LAZ_HAS(tool, native) && tool->native,
        .provider = provider,
        .index = index,
    };
    struct laz_tool_entry *entries = NULL;
    if (!entry.name || !entry.description)
        ret = laz_error_nomem(err);
    else if (laz_tool_set_find(set, tool->name, strlen(tool->name)) ||
             (set->beside && laz_tool_set_find(set->beside, tool->name, strlen(tool->name))))
        ret = laz_error_set(err, LAZ_EINVAL, 0, "Duplicate tool names: '%s'", tool->name);
    if (!ret)
        ret = laz_tool_spell(&entry, set, spellings, err);
    if (!ret && tool->parameters)
        ret = entry_parse_parameters(&entry, tool->parameters, err);
    for (size_t i = 0; entry.native && i < entry.n_parameters; i++)
        laz_type_take_native(&entry.parameters[i]);
    if (!ret)
        ret = entry_take_returns(&entry, LAZ_HAS(tool, returns) ? tool->returns : NULL, provider,
                                 err);
    if (!ret && !(entries = realloc(set->entries, (set->n + 1) * sizeof *entries)))
        ret = laz_error_nomem(err);
    if (ret) {
        entry_fini(&entry);
        return ret;
    }
    set->entries = entries;
    set->entries[set->n++] = entry;
    return 0;
}

void laz_tool_set_fini(struct laz_tool_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n; i++)
        entry_fini(&set->entries[i]);
    free(set->entries);
    *set = (struct laz_tool_set){0};
}

void laz_tool_set_hold(struct laz_tool_set *set)
{
    if (set && set->holders)
        set->holders++;
}

void laz_tool_set_release(struct laz_tool_set *set)
{
    if (!set || !set->holders || --set->holders)
        return;
    laz_tool_set_fini(set);
    free(set);
}

const struct laz_tool_entry *laz_tool_set_find(const struct laz_tool_set *set, const char *name,
                                               size_t len)
{
    for (size_t i = 0; i < set->n; i++)
        if (strlen(set->entries[i].name) == len && memcmp(set->entries[i].name, name, len) == 0)
            return &set->entries[i];
    return NULL;
}
