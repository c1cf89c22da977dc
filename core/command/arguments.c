/* SPDX-License-Identifier: MIT */
/* arguments.c - a command line as the arguments of a tool, by its declaration.
 * Side: box.  Input trusted: no.
 *
 * Words become values by the declared types: text stays text for a string, and is read as JSON for
 * what has a type that text cannot be.  Arguments are given in their order, or by name
 * (`--name VALUE`, `--name=VALUE`, `--flag`, `--no-flag`), an array by repeating, and all of them
 * by one JSON object.  The host checks what comes of it as it checks every call. */
#include "command/command.h"

#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What has been given for a parameter. */
struct argument {
    const struct laz_wire_parameter *parameter;
    struct laz_buf json; /* of an array: its items */
    size_t n;
};

struct reading {
    const struct laz_wire_tool *tool;
    struct argument *arguments;
    size_t n;
    char *const *words;
    size_t n_words, at;
    struct command_line *line;
    struct laz_error *err;
};

static const struct laz_wire_parameter *parameters_of(const struct laz_wire_tool *tool)
{
    return tool->parameters.items;
}

/* As it was declared, unless that is hard to type. */
static const char *parameter_name(const struct laz_wire_parameter *parameter)
{
    const char *at = parameter->name;

    while (isalnum((unsigned char)*at) || strchr("_.-", *at)) {
        if (!*at)
            return parameter->name;
        at++;
    }
    return parameter->spelling ? parameter->spelling : parameter->name;
}

static bool parameter_is(const struct laz_wire_parameter *parameter, const char *type)
{
    return parameter->type && strcmp(parameter->type, type) == 0;
}

static bool parameter_is_needed(const struct laz_wire_parameter *parameter)
{
    return parameter->is_required && !parameter->default_value;
}

/* ---- values --------------------------------------------------------------------------------- */

static int value_wrong(const struct laz_wire_parameter *parameter, const char *text,
                       const char *wanted, struct laz_error *err)
{
    char shown[100];

    snprintf(shown, sizeof shown, "%s", text);
    laz_utf8_clean(shown);
    return laz_error_set(err, LAZ_EINVAL, 0, "%s: '%s' is not %s", parameter_name(parameter), shown,
                         wanted);
}

static int value_text(const char *text, struct laz_buf *json)
{
    laz_json_quote(json, text, strlen(text));
    return 0;
}

/* Is the text JSON, beginning with one of these? Appends it. */
static bool value_json(const char *text, const char *begins, struct laz_buf *json)
{
    const size_t before = json->len;

    text += strspn(text, " \t\r\n");
    if (!*text || (begins && !strchr(begins, *text)))
        return false;
    if (laz_json_scan_compact(text, strlen(text), json, NULL) == 0)
        return true;
    if (json->len > before)
        json->data[json->len = before] = '\0';
    return false;
}

/* Digits as shells have them: "+5", "007", ".5". */
static bool value_number(const char *text, bool is_whole, struct laz_buf *json)
{
    struct laz_buf plain = LAZ_BUF_INIT;
    const char *at = text + (*text == '+' || *text == '-');

    if (*text == '-')
        laz_buf_putc(&plain, '-');
    while (at[0] == '0' && isdigit((unsigned char)at[1]))
        at++;
    if (*at == '.')
        laz_buf_putc(&plain, '0');
    laz_buf_puts(&plain, at);
    const bool is_number = isdigit((unsigned char)(*at == '.' ? at[1] : *at)) &&
                           (!is_whole || !at[strspn(at, "0123456789")]);
    int64_t small;
    bool is_good = is_number;
    if (is_number && is_whole && !laz_json_to_int(laz_buf_text(&plain), plain.len, &small)) {
        struct laz_json_write write = {.to = json}; /* no double has it */
        laz_json_begin_object(&write, NULL);
        laz_json_add_text(&write, "$int", laz_buf_text(&plain));
        laz_json_end_object(&write);
    } else if (is_number) {
        is_good = value_json(laz_buf_text(&plain), NULL, json);
    }
    laz_buf_fini(&plain);
    return is_good;
}

/* Is it a text that the enumeration has? */
static bool value_is_listed(const struct laz_wire_parameter *parameter, const char *text)
{
    struct laz_json_items items;
    const char *raw;
    size_t len;
    bool is_listed = false;

    if (!parameter->enumeration)
        return false;
    items = laz_json_items(parameter->enumeration, parameter->enumeration_len);
    while (!is_listed && laz_json_next_item(&items, &raw, &len)) {
        char *item = laz_json_to_string(raw, len, NULL);
        is_listed = item && strcmp(item, text) == 0;
        free(item);
    }
    return is_listed;
}

/* Of a parameter without a type, or an item of an array: what is JSON is that. */
static int value_any(const struct laz_wire_parameter *parameter, const char *text,
                     struct laz_buf *json)
{
    const bool is_text = parameter->format || value_is_listed(parameter, text);

    return !is_text && value_json(text, NULL, json) ? 0 : value_text(text, json);
}

/* The items of a list, or one more item. */
static int value_items(struct argument *argument, const char *text)
{
    struct laz_buf list = LAZ_BUF_INIT, *json = &argument->json;
    struct laz_json_items items;
    const char *raw;
    size_t len;
    int rc = 0;

    if (value_json(text, "[", &list)) {
        items = laz_json_items(laz_buf_text(&list), list.len);
        while (laz_json_next_item(&items, &raw, &len)) {
            laz_buf_puts(json, json->len ? "," : "");
            laz_buf_append(json, raw, len);
        }
    } else {
        laz_buf_puts(json, json->len ? "," : "");
        rc = value_any(argument->parameter, text, json);
    }
    json->failed |= list.failed;
    laz_buf_fini(&list);
    return rc;
}

static int value_add(struct argument *argument, const char *text, struct laz_error *err)
{
    const struct laz_wire_parameter *parameter = argument->parameter;
    struct laz_buf *json = &argument->json;

    if (!laz_utf8_is_valid(text, strlen(text)))
        return laz_error_set(err, LAZ_EINVAL, 0, "%s: the text is not UTF-8",
                             parameter_name(parameter));
    if (parameter_is(parameter, "array")) {
        argument->n++;
        return value_items(argument, text);
    }
    if (argument->n++)
        return laz_error_set(err, LAZ_EINVAL, 0, "%s is given twice", parameter_name(parameter));
    if (parameter_is(parameter, "string"))
        return value_text(text, json);
    if (parameter_is(parameter, "integer"))
        return value_number(text, true, json) ? 0 : value_wrong(parameter, text, "an integer", err);
    if (parameter_is(parameter, "number"))
        return value_number(text, false, json) ? 0 : value_wrong(parameter, text, "a number", err);
    if (parameter_is(parameter, "boolean"))
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0
                   ? (laz_buf_puts(json, text), 0)
                   : value_wrong(parameter, text, "true or false", err);
    if (parameter_is(parameter, "object"))
        return value_json(text, "{", json) ? 0 : value_wrong(parameter, text, "a JSON object", err);
    return value_any(parameter, text, json);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* A name, or the same with '-' in place of '_'. */
static bool word_names(const char *word, size_t len, const char *name)
{
    if (strlen(name) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (word[i] != name[i] && !(word[i] == '-' && name[i] == '_'))
            return false;
    return true;
}

static struct argument *words_find(const struct reading *reading, const char *word, size_t len)
{
    for (size_t i = 0; i < reading->n; i++) {
        const struct laz_wire_parameter *parameter = reading->arguments[i].parameter;
        if (word_names(word, len, parameter->name) ||
            (parameter->spelling && word_names(word, len, parameter->spelling)))
            return &reading->arguments[i];
    }
    return NULL;
}

static int words_named(struct reading *reading, struct argument *argument, const char *value)
{
    if (value)
        return value_add(argument, value, reading->err);
    if (parameter_is(argument->parameter, "boolean"))
        return value_add(argument, "true", reading->err);
    if (reading->at == reading->n_words)
        return laz_error_set(reading->err, LAZ_EINVAL, 0, "--%s needs a value",
                             parameter_name(argument->parameter));
    return value_add(argument, reading->words[reading->at++], reading->err);
}

/* A word behind "--". */
static int words_option(struct reading *reading, const char *word)
{
    const size_t len = strcspn(word, "=");
    const char *value = word[len] ? word + len + 1 : NULL;
    struct argument *argument = words_find(reading, word, len);
    char shown[100];

    if (argument)
        return words_named(reading, argument, value);
    if (strncmp(word, "no-", 3) == 0 && !value)
        argument = words_find(reading, word + 3, len - 3);
    if (argument && parameter_is(argument->parameter, "boolean"))
        return value_add(argument, "false", reading->err);
    if (strcmp(word, "help") == 0)
        reading->line->wants_help = true;
    else if (strcmp(word, "pretty") == 0)
        reading->line->is_pretty = true;
    else {
        snprintf(shown, sizeof shown, "%.*s", (int)(len < 90 ? len : 90), word);
        laz_utf8_clean(shown);
        return laz_error_set(reading->err, LAZ_EINVAL, 0, "there is no argument --%s", shown);
    }
    return 0;
}

/* For whom the next word without a name is: the required parameters in their order, then the
 * others, each once; the last of the required ones, or of all, takes the rest if it is an array. */
static struct argument *words_next(const struct reading *reading, bool required)
{
    struct argument *next = NULL, *last = NULL;

    for (size_t i = 0; i < reading->n; i++) {
        struct argument *argument = &reading->arguments[i];
        if (parameter_is_needed(argument->parameter) != required)
            continue;
        if (!argument->n && !next)
            next = argument;
        last = argument;
    }
    return next || !last || !parameter_is(last->parameter, "array") ? next : last;
}

static int words_positional(struct reading *reading, const char *word)
{
    struct argument *next = words_next(reading, true);

    if (!next)
        next = words_next(reading, false);
    return next ? value_add(next, word, reading->err)
                : laz_error_set(reading->err, LAZ_EINVAL, 0, "there are too many arguments");
}

/* Is the only word a JSON object in place of all arguments? Not where it may be an argument. */
static bool words_are_object(const struct reading *reading)
{
    const struct laz_wire_parameter *first = reading->n ? reading->arguments[0].parameter : NULL;

    return reading->n_words == 1 && reading->words[0][0] == '{' &&
           (!first || parameter_is(first, "integer") || parameter_is(first, "number") ||
            parameter_is(first, "boolean") || parameter_is(first, "array"));
}

static bool word_is_option(const char *word)
{
    return word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

static int words_read(struct reading *reading)
{
    bool may_be_options = true;
    size_t n_others = 0;
    int rc = 0;

    while (!rc && reading->at < reading->n_words) {
        const char *word = reading->words[reading->at++];
        if (may_be_options && strcmp(word, "--") == 0) {
            may_be_options = false;
        } else if (may_be_options && strcmp(word, "-") == 0) {
            reading->line->reads = true;
        } else if (may_be_options && strncmp(word, "--", 2) == 0) {
            rc = words_option(reading, word + 2);
        } else if (may_be_options && word_is_option(word)) {
            rc = laz_error_set(reading->err, LAZ_EINVAL, 0, "there is no option -%c",
                               isalpha((unsigned char)word[1]) ? word[1] : '?');
        } else {
            rc = words_positional(reading, word);
        }
    }
    for (size_t i = 0; i < reading->n; i++)
        n_others += reading->arguments[i].n;
    if (!rc && reading->line->reads && n_others)
        rc = laz_error_set(reading->err, LAZ_EINVAL, 0,
                           "- stands for all arguments: there are others besides");
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Writes what was given as an object. */
static int read_finish(const struct reading *reading)
{
    struct laz_json_write write = {.to = &reading->line->args};

    laz_json_begin_object(&write, NULL);
    for (size_t i = 0; i < reading->n; i++) {
        const struct argument *argument = &reading->arguments[i];
        const struct laz_wire_parameter *parameter = argument->parameter;
        const bool is_list = parameter_is(parameter, "array");
        if (!argument->n && parameter_is_needed(parameter))
            return laz_error_set(reading->err, LAZ_EINVAL, 0, "%s is missing",
                                 parameter_name(parameter));
        if (!argument->n)
            continue;
        laz_json_add_key(&write, parameter->name);
        laz_buf_puts(write.to, is_list ? "[" : "");
        laz_buf_append(write.to, laz_buf_text(&argument->json), argument->json.len);
        laz_buf_puts(write.to, is_list ? "]" : "");
        write.to->failed |= argument->json.failed;
        write.comma = true;
    }
    laz_json_end_object(&write);
    return write.to->failed ? laz_error_nomem(reading->err) : 0;
}

int command_read_object(const char *text, size_t len, struct laz_buf *args, struct laz_error *err)
{
    while (len && strchr(" \t\r\n", *text))
        text++, len--;
    if (!laz_utf8_is_valid(text, len))
        return laz_error_set(err, LAZ_EINVAL, 0, "the arguments are not UTF-8");
    if (!len || *text != '{')
        return laz_error_set(err, LAZ_EINVAL, 0, "the arguments are not a JSON object");
    const int rc = laz_json_scan_compact(text, len, args, err);
    if (rc != LAZ_EPARSE)
        return rc;
    laz_error_prefix(err, "the arguments are not JSON: ");
    return laz_error_as(err, LAZ_EINVAL);
}

int command_read(const struct laz_wire_tool *tool, char *const *words, size_t n,
                 struct command_line *line, struct laz_error *err)
{
    struct reading reading = {
        .tool = tool, .words = words, .n_words = n, .line = line, .err = err, .n = 0};
    int rc = 0;

    *line = (struct command_line){.args = LAZ_BUF_INIT};
    reading.arguments = calloc(tool->parameters.n + 1, sizeof *reading.arguments);
    if (!reading.arguments)
        return laz_error_nomem(err);
    for (; reading.n < tool->parameters.n; reading.n++)
        reading.arguments[reading.n].parameter = &parameters_of(tool)[reading.n];
    if (words_are_object(&reading))
        rc = command_read_object(words[0], strlen(words[0]), &line->args, err);
    else
        rc = words_read(&reading);
    if (!rc && !line->wants_help && !line->reads && !line->args.len)
        rc = read_finish(&reading);
    for (size_t i = 0; i < reading.n; i++)
        laz_buf_fini(&reading.arguments[i].json);
    free(reading.arguments);
    return rc;
}

/* ---- for people ----------------------------------------------------------------------------- */

static const char *help_type(const struct laz_wire_parameter *parameter)
{
    static const struct {
        const char *type, *word;
    } words[] = {{"string", "TEXT"},     {"integer", "INTEGER"}, {"number", "NUMBER"},
                 {"boolean", "BOOLEAN"}, {"array", "ITEM"},      {"object", "JSON"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parameter_is(parameter, words[i].type))
            return words[i].word;
    return "VALUE";
}

static void help_upper(const char *name, struct laz_buf *text)
{
    for (; *name; name++)
        laz_buf_putc(text, (char)toupper((unsigned char)*name));
}

/* The name behind "--", with '-' in place of '_'. */
static void help_option(const struct laz_wire_parameter *parameter, struct laz_buf *text)
{
    laz_buf_puts(text, "--");
    for (const char *at = parameter_name(parameter); *at; at++)
        laz_buf_putc(text, *at == '_' ? '-' : *at);
}

void command_usage(const struct laz_wire_tool *tool, const char *name, struct laz_buf *text)
{
    const struct laz_wire_parameter *parameter = parameters_of(tool);

    laz_buf_printf(text, "usage: %s", name);
    for (size_t i = 0; i < tool->parameters.n; i++, parameter++) {
        const bool is_needed = parameter_is_needed(parameter);
        laz_buf_puts(text, is_needed ? " " : " [");
        if (is_needed) {
            help_upper(parameter_name(parameter), text);
        } else {
            help_option(parameter, text);
            if (!parameter_is(parameter, "boolean"))
                laz_buf_printf(text, " %s", help_type(parameter));
        }
        laz_buf_puts(text, parameter_is(parameter, "array") ? "..." : "");
        laz_buf_puts(text, is_needed ? "" : "]");
    }
    laz_buf_putc(text, '\n');
}

/* A text of several lines, each after `before`. */
static void help_lines(const char *lines, const char *before, struct laz_buf *text)
{
    for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
        len = strcspn(lines, "\n");
        laz_buf_puts(text, before);
        laz_buf_append(text, lines, len);
        laz_buf_putc(text, '\n');
    }
}

static void help_parameter(const struct laz_wire_parameter *parameter, struct laz_buf *text)
{
    laz_buf_puts(text, "  ");
    help_option(parameter, text);
    if (parameter_is(parameter, "boolean")) {
        laz_buf_puts(text, ", --no-");
        const size_t at = text->len;
        help_option(parameter, text);
        if (!text->failed) { /* without its "--" */
            memmove(text->data + at, text->data + at + 2, text->len - at - 2 + 1);
            text->len -= 2;
        }
    } else {
        laz_buf_printf(text, " %s%s", help_type(parameter),
                       parameter_is(parameter, "array") ? " (may be repeated)" : "");
    }
    if (parameter_is_needed(parameter))
        laz_buf_puts(text, ", needed");
    laz_buf_putc(text, '\n');
    if (parameter->description)
        help_lines(parameter->description, "        ", text);
    if (parameter->enumeration)
        laz_buf_printf(text, "        one of %.*s\n", (int)parameter->enumeration_len,
                       parameter->enumeration);
    if (parameter->default_value)
        laz_buf_printf(text, "        default: %.*s\n", (int)parameter->default_len,
                       parameter->default_value);
}

void command_help(const struct laz_wire_tool *tool, const char *name, struct laz_buf *text)
{
    const char *approvals = laz_wire_approvals(tool->approve, tool->may_approve);

    command_usage(tool, name, text);
    if (tool->description && *tool->description)
        help_lines(tool->description, "  ", text);
    if (approvals)
        help_lines(approvals, "  ", text);
    if (tool->parameters.n)
        laz_buf_puts(text, "\narguments, in their order or by name:\n");
    for (size_t i = 0; i < tool->parameters.n; i++)
        help_parameter(&parameters_of(tool)[i], text);
    laz_buf_puts(text, "\n  -         all arguments as a JSON object on standard input\n"
                       "  --pretty  the result on several lines\n");
    if (tool->returns && *tool->returns)
        laz_buf_printf(text, "\nreturns %s\n", tool->returns);
}

/* A string as a whole, white space outside of one as it fits. */
void command_show(const char *json, size_t len, struct laz_buf *text)
{
    int depth = 0;

    for (size_t i = 0, n; i < len; i += n) {
        n = json[i] == '"' ? laz_json_value_span(json + i, len - i) : 1;
        if (!n)
            n = len - i;
        if (strchr(" \t\r\n", json[i]))
            continue;
        const bool opens = json[i] == '{' || json[i] == '[';
        const bool closes = json[i] == '}' || json[i] == ']';
        size_t next = i + 1;
        while (opens && next < len && strchr(" \t\r\n", json[next]))
            next++;
        const bool is_empty = opens && next < len && (json[next] == '}' || json[next] == ']');
        if (is_empty) {
            laz_buf_putc(text, json[i]);
            laz_buf_putc(text, json[next]);
            n = next + 1 - i;
            continue;
        }
        depth += opens ? 1 : closes ? -1 : 0;
        if (closes)
            laz_buf_printf(text, "\n%*s", 2 * depth, "");
        laz_buf_append(text, json + i, n);
        if (opens || json[i] == ',')
            laz_buf_printf(text, "\n%*s", 2 * depth, "");
        else if (json[i] == ':')
            laz_buf_putc(text, ' ');
    }
}
