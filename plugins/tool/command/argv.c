/* SPDX-License-Identifier: MIT */
/* argv.c - makes the argument list of a command with placeholders.
 *
 * Everything that can be checked when a tool is declared is checked then, so that a call fails only
 * for its values. A value becomes exactly one argument: there is no splitting, no quoting and no
 * shell. A value is dangerous only in certain places: as the program, as a script, or as an option
 * the author did not write; all three are refused.
 * Side: host.  Input trusted: no (values come from the box). */
#include "argv.h"

#include <lazaret/options.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The properties of a parameter that matter for placeholders. */
struct argv_parameter {
    char *name, *default_value;
    bool is_required;
    bool may_be_missing;
    bool used;
};

/* ---- the author's list ---------------------------------------------------------------------- */

bool command_argv_take(struct command_argv *argv, char **list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    argv->items = calloc(n + 1, sizeof *argv->items);
    if (!argv->items)
        return false;
    for (argv->n = 0; argv->n < n; argv->n++) {
        argv->items[argv->n].text = list[argv->n];
        list[argv->n] = NULL;
    }
    return true;
}

void command_argv_fini(struct command_argv *argv)
{
    for (size_t i = 0; i < argv->n; i++) {
        free(argv->items[i].text);
        free(argv->items[i].parameter);
    }
    free(argv->items);
    *argv = (struct command_argv){NULL, 0, false};
}

/* ---- placeholders --------------------------------------------------------------------------- */

static void argv_free_parameters(struct argv_parameter *parameters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(parameters[i].name);
        free(parameters[i].default_value);
    }
    free(parameters);
}

/* What is known of the parameters so far; `n` also counts a last one that could not be read. */
struct argv_list {
    const struct laz_json_api *json;
    struct argv_parameter *items;
    size_t n;
};

static int argv_read_parameter(void *user, size_t i, const char *text, size_t len,
                               struct laz_error *err)
{
    static const struct laz_option_field fields[] = {
        {"name", LAZ_OPT_STRING, offsetof(struct argv_parameter, name)},
        {"required", LAZ_OPT_BOOLEAN, offsetof(struct argv_parameter, is_required)},
        {"default", LAZ_OPT_PARAMETERS, offsetof(struct argv_parameter, default_value)},
        {NULL, 0, 0},
    };
    struct argv_list *list = user;
    struct argv_parameter *more = realloc(list->items, (i + 1) * sizeof *more);

    if (!more)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    list->items = more;
    list->n = i + 1;
    more[i] = (struct argv_parameter){.is_required = true};
    int rc = laz_options_read(list->json, text, len, fields, &more[i], err);
    more[i].may_be_missing = !more[i].default_value && !more[i].is_required;
    return rc || more[i].name ? rc : laz_fail(err, LAZ_EINVAL, "a parameter has no name");
}

static struct argv_parameter *argv_find(struct argv_parameter *parameters, size_t n,
                                        const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(parameters[i].name) == len && memcmp(parameters[i].name, name, len) == 0)
            return &parameters[i];
    return NULL;
}

/* Length of the name in "{name}"; 0 when the text is not of that form. A name that a parameter has
 * may have any characters; another one has those of names in most languages, because braces also
 * stand in scripts. */
static size_t argv_placeholder(const char *text, struct argv_parameter *parameters, size_t n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t len = strlen(text);

    if (len < 3 || text[0] != '{' || text[len - 1] != '}')
        return 0;
    if (argv_find(parameters, n, text + 1, len - 2))
        return len - 2;
    for (const char *p = text + 1; *p != '}'; p++)
        if (!strchr(letters, *p) && !strchr("0123456789_.-", *p))
            return 0;
    return strcspn(text, "}") == len - 1 ? len - 2 : 0;
}

/* "{1}" and the like are what other programs use; they stand for a parameter only if there is one.
 */
static bool argv_is_surely(const char *text)
{
    return !strchr("0123456789_-", text[1]);
}

/* Finds a placeholder inside an argument that is one word ("--id={id}"). An argument with white
 * space may be a script, in which the same characters mean something else. */
static const char *argv_inside(const char *text, const struct argv_parameter *parameters, size_t n)
{
    if (strpbrk(text, " \t\n"))
        return NULL;
    for (size_t i = 0; i < n; i++)
        for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
            size_t len = strlen(parameters[i].name);
            if (strncmp(p + 1, parameters[i].name, len) == 0 && p[1 + len] == '}')
                return parameters[i].name;
        }
    return NULL;
}

/* The last component of a path, also of "C:\\x\\y.exe". */
static const char *argv_base(const char *program)
{
    const char *base = program;

    for (const char *c = program; *c; c++)
        if (*c == '/' || *c == '\\')
            base = c + 1;
    return base;
}

/* The Windows shell parses all its arguments as one text, in which any of them can begin a command,
 * so it must not get any value. */
static bool argv_is_windows_shell(const char *program)
{
    static const char name[] = "cmd.exe";
    const char *base = argv_base(program);
    size_t len = strlen(base);

    while (len && strchr(" .", base[len - 1]))
        len--;
    if (len != 3 && len != sizeof name - 1)
        return false;
    for (size_t i = 0; i < len; i++)
        if (base[i] != name[i] && base[i] != name[i] - 'a' + 'A')
            return false;
    return true;
}

/* Would a shell or an interpreter run the argument after this option as a script? */
static bool argv_is_script(const char *program, const char *option)
{
    static const char *const shells[] = {"sh",     "bash", "dash", "ash",  "zsh", "ksh",
                                         "python", "perl", "ruby", "node", "lua", "Rscript"};
    const char *base = argv_base(program);

    if (option[0] != '-' || option[1] == '-' || !strpbrk(option + 1, "ceE"))
        return false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        size_t len = strlen(shells[i]);
        if (strncmp(base, shells[i], len) != 0)
            continue;
        const char *rest = base + len + strspn(base + len, "0123456789.");
        if (!*rest || strcmp(rest, "exe") == 0)
            return true;
    }
    return false;
}

static int argv_bind_item(struct command_argv *argv, size_t index, const char *tool,
                          struct argv_parameter *parameters, size_t n, struct laz_error *err)
{
    struct command_item *item = &argv->items[index];
    size_t len = argv_placeholder(item->text, parameters, n);
    const char *inside = len ? NULL : argv_inside(item->text, parameters, n);

    if (inside)
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: {%s} stands for a whole argument: it cannot be "
                        "a part of '%.100s'",
                        tool, inside, item->text);
    struct argv_parameter *parameter = len ? argv_find(parameters, n, item->text + 1, len) : NULL;
    if (!len || (!parameter && !argv_is_surely(item->text)))
        return 0;
    if (index == 0)
        return laz_fail(err, LAZ_EINVAL, "tool '%s': command: the program cannot be a placeholder",
                        tool);
    if (!parameter)
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: %s names no parameter (to mean the text, put a "
                        "space inside the braces)",
                        tool, item->text);
    if (parameter->may_be_missing)
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: the parameter %s may be missing in a call: make "
                        "it required or give it a default",
                        tool, item->text);
    if (argv_is_windows_shell(argv->items[0].text))
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: cmd.exe takes parts of any argument for commands, "
                        "and %s is a value of the code: name the program itself, or let it "
                        "read its values from standard input",
                        tool, item->text);
    if (argv_is_script(argv->items[0].text, argv->items[index - 1].text))
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: the value of %s would be run as a script: write "
                        "the script yourself and use the value as one of its arguments",
                        tool, item->text);
    parameter->used = true;
    item->parameter = laz_option_copy(item->text + 1, len);
    return item->parameter ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

int command_argv_bind(struct command_argv *argv, const struct laz_json_api *json, const char *tool,
                      const char *text, struct laz_error *err)
{
    struct argv_list list = {.json = json};
    bool dashes = false;
    int ret = laz_options_each(json, text, argv_read_parameter, &list, NULL);

    if (ret)
        laz_fail(err, ret, "tool '%s': malformed parameters", tool);
    for (size_t i = 0; !ret && i < argv->n; i++) {
        argv->items[i].after_dashes = dashes;
        dashes |= i && strcmp(argv->items[i].text, "--") == 0;
        ret = argv_bind_item(argv, i, tool, list.items, list.n, err);
    }
    argv->all_placed = list.n > 0;
    for (size_t i = 0; !ret && i < list.n; i++)
        argv->all_placed &= list.items[i].used;
    argv_free_parameters(list.items, list.n);
    return ret;
}

/* ---- a call --------------------------------------------------------------------------------- */

/* The bytes that a tagged value becomes as an argument; *text NULL: it has no such form. */
static int argv_tagged(const struct laz_json_api *json, struct laz_json_reader *reader,
                       const char *tool, const char *name, char **text, struct laz_error *err)
{
    const char *tag = json->peek_tag(reader);
    struct laz_json_token token;
    bool is_bytes = tag && strcmp(tag, "$bytes") == 0;

    *text = NULL;
    if (tag && strcmp(tag, "$na") == 0)
        return laz_fail(err, LAZ_EINVAL, "Tool '%s': argument '%s' may not be NA", tool, name);
    if (!tag || (!is_bytes && strcmp(tag, "$num") != 0 && strcmp(tag, "$int") != 0 &&
                 strcmp(tag, "$date") != 0 && strcmp(tag, "$time") != 0))
        return 0;
    json->next(reader, &token);
    json->next(reader, &token);
    if (json->next(reader, &token) != LAZ_JSON_STRING)
        return laz_fail(err, LAZ_EINVAL, "Tool '%s': argument '%s' is malformed", tool, name);
    *text = malloc(token.len + 1);
    if (!*text)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (!is_bytes) {
        memcpy(*text, token.text, token.len + 1);
        return 0;
    }
    ptrdiff_t n = json->base64_decode(token.text, token.len, *text);
    if (n < 0 || memchr(*text, 0, (size_t)n)) {
        free(*text);
        *text = NULL;
        return laz_fail(err, LAZ_EINVAL,
                        "Tool '%s': argument '%s' contains a NUL byte, which no argument of "
                        "a command can",
                        tool, name);
    }
    (*text)[n] = '\0';
    return 0;
}

/* Converts a value to an argument: strings unchanged, numbers and booleans as in JSON, simple
 * tagged values as their content, and everything else as JSON text. */
static int argv_value(const struct laz_json_api *json, const char *tool, const char *name,
                      const char *raw, size_t len, char **text, struct laz_error *err)
{
    struct laz_json_reader *reader = json->reader_new(raw, len);
    struct laz_json_token token;
    int ret = 0;

    *text = NULL;
    if (!reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    switch (json->peek(reader)) {
    case LAZ_JSON_NULL:
        ret = laz_fail(err, LAZ_EINVAL, "Tool '%s': argument '%s' may not be null", tool, name);
        break;
    case LAZ_JSON_STRING:
        json->next(reader, &token);
        *text = laz_option_copy(token.text, token.len);
        break;
    case LAZ_JSON_OBJECT_BEGIN:
        ret = argv_tagged(json, reader, tool, name, text, err);
        if (!ret && !*text)
            *text = laz_option_copy(raw, len);
        break;
    default:
        *text = laz_option_copy(raw, len);
    }
    json->reader_free(reader);
    if (!ret && !*text)
        ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    return ret;
}

/* Fills an argument with the value of its parameter. The host has checked the arguments, so every
 * declared parameter is present. */
static int argv_fill(const struct command_item *item, const struct laz_json_api *json,
                     const char *tool, const char *args, size_t len, char **text,
                     struct laz_error *err)
{
    struct laz_json_reader *reader = json->reader_new(args, len);
    struct laz_json_token token;
    const char *raw = NULL;
    size_t raw_len = 0;
    int ret;

    if (!reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    json->next(reader, &token);
    while (!raw && json->next(reader, &token) == LAZ_JSON_KEY) {
        bool found = strcmp(token.text, item->parameter) == 0;
        json->skip(reader, found ? &raw : NULL, &raw_len);
    }
    json->reader_free(reader);
    if (!raw)
        return laz_fail(err, LAZ_EINVAL, "Tool '%s': argument '%s' is missing", tool,
                        item->parameter);
    ret = argv_value(json, tool, item->parameter, raw, raw_len, text, err);
    if (!ret && (*text)[0] == '-' && !item->after_dashes) {
        free(*text);
        *text = NULL;
        ret = laz_fail(err, LAZ_EINVAL,
                       "Tool '%s': argument '%s' may not begin with \"-\": the command would "
                       "take it for an option",
                       tool, item->parameter);
    }
    return ret;
}

int command_argv_make(const struct command_argv *argv, const struct laz_json_api *json,
                      const char *tool, const char *args, size_t len, char ***made,
                      struct laz_error *err)
{
    char **list = calloc(argv->n + 1, sizeof *list);
    int ret = 0;

    if (!list)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    for (size_t i = 0; !ret && i < argv->n; i++) {
        const struct command_item *item = &argv->items[i];
        if (item->parameter)
            ret = argv_fill(item, json, tool, args, len, &list[i], err);
        else if (!(list[i] = laz_option_copy(item->text, strlen(item->text))))
            ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    if (ret) {
        command_argv_free(list);
        return ret;
    }
    *made = list;
    return 0;
}

void command_argv_free(char **made)
{
    for (size_t i = 0; made && made[i]; i++)
        free(made[i]);
    free(made);
}
