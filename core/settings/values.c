/* SPDX-License-Identifier: MIT */
/* values.c - the kinds of values: what messages call them, and how a node of a configuration
 * becomes a field of laz_settings_values.
 *
 * A converter either sets its field, which is empty before, or reports which node is not right and
 * what was expected there; the caller then discards all values. */
#include "settings/schema.h"

#include "base/enforce.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/host_port.h"
#include "os/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct values_job {
    const struct schema_key *key;
    const struct laz_toml_node *wrong;
    struct laz_buf *why;
};

/* The node is not a value for the key. */
static int values_mismatch(struct values_job *job, const struct laz_toml_node *node)
{
    job->wrong = node;
    laz_schema_expected(job->why, job->key);
    return LAZ_ECONFIG;
}

static int values_wrong(struct values_job *job, const struct laz_toml_node *node, const char *why)
{
    job->wrong = node;
    laz_buf_puts(job->why, why);
    return LAZ_ECONFIG;
}

static int values_boolean(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    if (node->type != LAZ_TOML_BOOLEAN)
        return values_mismatch(job, node);
    *(bool *)field = node->boolean;
    return 0;
}

static int values_number(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    enum schema_kind kind = job->key->kind;
    uint64_t value = 0;
    bool fits;

    if ((kind == SCHEMA_LIMIT_COUNT || kind == SCHEMA_LIMIT_SIZE || kind == SCHEMA_LIMIT_TIME) &&
        laz_toml_is(node, "unlimited")) {
        *(uint64_t *)field = LAZ_UNLIMITED;
        return 0;
    }
    if (kind == SCHEMA_COUNT || kind == SCHEMA_LIMIT_COUNT) {
        fits = node->type == LAZ_TOML_INTEGER && node->integer >= 0;
        value = fits ? (uint64_t)node->integer : 0;
    } else if (kind == SCHEMA_SIZE || kind == SCHEMA_LIMIT_SIZE) {
        fits = laz_convert_size(node, &value);
    } else {
        fits = laz_convert_time(node, &value);
    }
    if (!fits || value < job->key->min || value > job->key->max) {
        int rc = values_mismatch(job, node);
        if (!fits && (kind == SCHEMA_SIZE || kind == SCHEMA_LIMIT_SIZE))
            laz_suggest_size(job->why, node);
        return rc;
    }
    *(uint64_t *)field = kind == SCHEMA_LIMIT_TIME ? (value + 999) / 1000 : value;
    return 0;
}

/* ---- lists ------------------------------------------------------------------------------------*/

/* A name has letters, digits and '_', and no digit first; names that lazaret sets are refused. */
static const char *values_variable_problem(const char *name, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    bool fits = len > 0 && !(name[0] >= '0' && name[0] <= '9');

    for (size_t i = 0; i < len && fits; i++)
        fits = name[i] && strchr(allowed, name[i]);
    if (!fits)
        return "a name of letters, digits and '_'";
    if (len >= 8 && memcmp(name, "LAZARET_", 8) == 0)
        return "a name that does not begin with LAZARET_ (lazaret sets those itself)";
    return NULL;
}

static bool values_is_program(const struct laz_toml_node *item)
{
    const char *text = item->text;

    if (laz_os_is_absolute(text))
        return text[strcspn(text, "/\\") + 1] != '\0';
    return text[0] && !strpbrk(text, "/\\") && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           strcmp(text, "any") != 0;
}

/* A path that stays below the directory in which it begins. */
static bool values_is_below(const char *text)
{
    bool fits = !laz_os_is_absolute(text) && !strchr(text, '\\');

    for (const char *part = text; fits && part; part = strchr(part, '/')) {
        part += part != text;
        size_t len = strcspn(part, "/");
        fits = len > 0 && !(len <= 2 && strspn(part, ".") == len);
    }
    return fits;
}

static const char *values_item_problem(enum schema_kind kind, const struct laz_toml_node *item)
{
    if (!laz_toml_is_text(item))
        return "a string without NUL characters";
    switch (kind) {
    case SCHEMA_NAMES:
        return laz_is_plugin_name(item->text, item->len) ? NULL
                                                         : "a name of letters, digits, '_' and '-'";
    case SCHEMA_PATHS:
        return laz_os_is_absolute(item->text) ? NULL : "an absolute path";
    case SCHEMA_BELOW:
        return values_is_below(item->text) ? NULL : "a relative path without \".\" and \"..\"";
    case SCHEMA_VARIABLES:
        return values_variable_problem(item->text, item->len);
    case SCHEMA_PROGRAMS:
        return values_is_program(item) ? NULL : "the name or the absolute path of a program";
    default:
        return NULL;
    }
}

static int values_list(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    enum schema_kind kind = job->key->kind;
    struct laz_strv *list = field;
    bool single = kind == SCHEMA_NAMES && node->type == LAZ_TOML_STRING;

    if (kind == SCHEMA_PROGRAMS && (laz_toml_is(node, "default") || laz_toml_is(node, "any"))) {
        laz_strv_add(list, node->text);
        return list->failed ? LAZ_ENOMEM : 0;
    }
    if (!single && (node->type != LAZ_TOML_ARRAY || (kind == SCHEMA_NAMES && !node->n)))
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = single ? node : node->first; item; item = item->next) {
        const char *problem = values_item_problem(kind, item);
        if (problem)
            return values_wrong(job, item, problem);
        laz_strv_add(list, item->text);
        if (single)
            break;
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

static int values_environment(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;

    if (node->type != LAZ_TOML_TABLE)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        const char *problem = values_variable_problem(item->key, item->key_len);
        if (problem)
            return values_wrong(job, item, problem);
        if (!laz_toml_is_text(item)) {
            values_wrong(job, item, "a string without NUL characters");
            laz_suggest_quotes(job->why, item, job->key->key);
            return LAZ_ECONFIG;
        }
        laz_strv_addf(list, "%s=%s", item->key, item->text);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

/* Rules are checked by who makes a network list of them (laz_network_rules_new). */
static int values_rules(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;
    bool failed = false;

    if (node->type != LAZ_TOML_ARRAY)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        struct laz_buf json = LAZ_BUF_INIT;
        struct laz_json_write write = {.to = &json};
        const bool is_table = item->type == LAZ_TOML_TABLE;
        if (!is_table && !laz_toml_is_text(item))
            return values_wrong(job, item, "a string, or a table ({ host = ..., to = [...] })");
        if (is_table)
            laz_toml_json(&write, NULL, item);
        laz_strv_add(list, is_table ? laz_buf_text(&json) : item->text);
        failed |= json.failed;
        laz_buf_fini(&json);
    }
    return failed || list->failed ? LAZ_ENOMEM : 0;
}

static void values_add_json(struct laz_strv *list, const char *name,
                            const struct laz_toml_node *node)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_toml_json(&write, NULL, node);
    laz_strv_addf(list, "%s%s%s", name ? name : "", name ? "=" : "", laz_buf_text(&json));
    list->failed |= json.failed;
    laz_buf_fini(&json);
}

static int values_credentials(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;

    if (node->type != LAZ_TOML_ARRAY)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        job->wrong = laz_credential_form(item, job->why);
        if (job->wrong)
            return LAZ_ECONFIG;
        values_add_json(list, NULL, item);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

static int values_secrets(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;

    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        if (!laz_is_secret_name(item->key, item->key_len))
            return values_wrong(job, item,
                                "a name of at most 64 letters, digits, '_' and '-' for a secret");
        job->wrong = laz_secret_form(item, job->why);
        if (job->wrong)
            return LAZ_ECONFIG;
        values_add_json(list, item->key, item);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

static int values_ports(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;

    if (node->type != LAZ_TOML_ARRAY)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        const bool is_digits = laz_toml_is_text(item) && item->len && item->len <= 5 &&
                               strspn(item->text, "0123456789") == item->len;
        const long long port = is_digits                        ? atoll(item->text)
                               : item->type == LAZ_TOML_INTEGER ? (long long)item->integer
                                                                : 0;
        if (port < 1 || port > UINT16_MAX)
            return values_wrong(job, item, "a port from 1 to 65535");
        laz_strv_addf(list, "%lld", port);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

static int values_hosts(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    struct laz_strv *list = field;

    if (node->type != LAZ_TOML_TABLE)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        if (!item->key_len || memchr(item->key, '=', item->key_len))
            return values_wrong(job, item, "a name of a host, without '='");
        if (!laz_toml_is_text(item))
            return values_wrong(job, item, "an address in quotes (\"10.0.0.5\")");
        laz_strv_addf(list, "%s=%s", item->key, item->text);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

/* A header of HTTP: the name is a token (RFC 9110), the value begins no other header. */
static int values_headers(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct laz_strv *list = field;

    if (node->type != LAZ_TOML_TABLE)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        if (!item->key_len || strspn(item->key, token) != item->key_len)
            return values_wrong(job, item, "a name of a header of HTTP");
        bool fits = laz_toml_is_text(item);
        for (size_t i = 0; fits && i < item->len; i++)
            fits = (unsigned char)item->text[i] >= ' ' && item->text[i] != 0x7f;
        if (!fits)
            return values_wrong(job, item, "a string without control characters");
        laz_strv_addf(list, "%s=%s", item->key, item->text);
    }
    return list->failed ? LAZ_ENOMEM : 0;
}

static int values_enforce_word(struct values_job *job, const struct laz_toml_node *item)
{
    struct laz_nearest nearest;

    laz_buf_puts(job->why, "one of");
    laz_nearest_init(&nearest, laz_toml_is_text(item) ? item->text : "");
    for (uint32_t bit = 1; bit; bit <<= 1) {
        const char *word = laz_enforce_name(bit);
        if (!word)
            continue;
        laz_nearest_try(&nearest, word);
        laz_buf_printf(job->why, " %s", word);
    }
    const char *best = laz_nearest_best(&nearest);
    if (best)
        laz_buf_printf(job->why, " (did you mean %s?)", best);
    job->wrong = item;
    return LAZ_ECONFIG;
}

static int values_enforce(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    uint32_t bits = 0;

    if (node->type != LAZ_TOML_ARRAY)
        return values_mismatch(job, node);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        uint32_t bit = laz_toml_is_text(item) ? laz_enforce_bit(item->text) : 0;
        if (!bit)
            return values_enforce_word(job, item);
        bits |= bit;
    }
    *(uint32_t *)field = bits;
    return 0;
}

/* "FIRST-LAST": decimal numbers without signs or space. */
static bool values_is_range(const char *text)
{
    uint64_t bounds[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        size_t n = strspn(text, "0123456789");
        if (n == 0 || n > 10)
            return false;
        for (size_t k = 0; k < n; k++)
            bounds[i] = bounds[i] * 10 + (uint64_t)(text[k] - '0');
        text += n;
        if (i == 0 && *text++ != '-')
            return false;
    }
    return !*text && bounds[0] > 0 && bounds[0] <= bounds[1] && bounds[1] < UINT32_MAX;
}

static bool values_is_port(const char *text)
{
    const size_t len = strlen(text);

    return len && len <= 5 && strspn(text, "0123456789") == len && atol(text) <= UINT16_MAX;
}

/* A URL without blanks, and with a host. */
static bool values_is_url(const char *text)
{
    const size_t scheme = strncmp(text, "http://", 7) == 0    ? 7
                          : strncmp(text, "https://", 8) == 0 ? 8
                                                              : 0;

    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return false;
    return scheme && text[scheme] && text[scheme] != '/';
}

static bool values_text_fits(const struct schema_key *key, const struct laz_toml_node *node)
{
    const enum schema_kind kind = key->kind;
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (!laz_toml_is_text(node))
        return false;
    if (kind == SCHEMA_NAME) /* none at all where that is the default */
        return laz_is_plugin_name(node->text, node->len) ||
               (!node->len && strcmp(key->default_value, "\"\"") == 0);
    if (kind == SCHEMA_UIDS)
        return laz_toml_is(node, "auto") || values_is_range(node->text);
    if (kind == SCHEMA_ADDRESS)
        return true;
    if (kind == SCHEMA_TEXT)
        return node->len > 0;
    if (kind == SCHEMA_URL)
        return !node->len || values_is_url(node->text);
    if (kind == SCHEMA_LISTEN)
        return !node->len || values_is_port(node->text) || laz_host_port(node->text, host, &port);
    return !node->text[0] || laz_os_is_absolute(node->text); /* SCHEMA_FILE */
}

static int values_text(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    char **text = field;

    if (job->key->kind == SCHEMA_LISTEN && node->type == LAZ_TOML_INTEGER && node->integer >= 0 &&
        node->integer <= UINT16_MAX) {
        *text = laz_strdupf("%lld", (long long)node->integer);
        return *text ? 0 : LAZ_ENOMEM;
    }
    if (!values_text_fits(job->key, node))
        return values_mismatch(job, node);
    *text = laz_strdup(node->text);
    return *text ? 0 : LAZ_ENOMEM;
}

static int values_refuse(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    bool refuse = laz_toml_is(node, "refuse");

    if (!refuse && !laz_toml_is(node, "warn"))
        return values_mismatch(job, node);
    *(bool *)field = refuse;
    return 0;
}

/* The place of the word in the list, which ends with NULL; -1: it is not there. */
static int values_word(const struct laz_toml_node *node, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (laz_toml_is(node, words[i]))
            return i;
    return -1;
}

static int values_warm(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    static const char *const words[] = {
        [LAZ_WARM_AUTO] = "auto", [LAZ_WARM_TEMPLATE] = "template", [LAZ_WARM_COLD] = "cold", NULL};
    const int at = values_word(node, words);

    if (at < 0)
        return values_mismatch(job, node);
    *(enum laz_warm *)field = (enum laz_warm)at;
    return 0;
}

static int values_where(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    static const char *const words[] = {[LAZ_WHERE_HERE] = "here",
                                        [LAZ_WHERE_CLUSTER] = "cluster",
                                        [LAZ_WHERE_WORKER] = "worker",
                                        NULL};
    const int at = values_word(node, words);

    if (at < 0)
        return values_mismatch(job, node);
    *(enum laz_where *)field = (enum laz_where)at;
    return 0;
}

static int values_collect(struct values_job *job, const struct laz_toml_node *node, void *field)
{
    static const char *const words[] = {[LAZ_COLLECT_AUTO] = "auto",
                                        [LAZ_COLLECT_ARTIFACTS] = "artifacts",
                                        [LAZ_COLLECT_CWD] = "cwd",
                                        NULL};
    const int at = values_word(node, words);

    if (at < 0)
        return values_mismatch(job, node);
    *(enum laz_collect *)field = (enum laz_collect)at;
    return 0;
}

/* ---- the table --------------------------------------------------------------------------------*/

static const struct {
    const char *type;     /* for the documents */
    const char *expected; /* for messages */
    int (*convert)(struct values_job *job, const struct laz_toml_node *node, void *field);
    bool is_list; /* the field is a struct laz_strv */
} values_kinds[SCHEMA_KINDS] = {
    [SCHEMA_NAME] = {"name", "a name of letters, digits, '_' and '-', in quotes", values_text,
                     false},
    [SCHEMA_BOOLEAN] = {"boolean", "true or false", values_boolean, false},
    [SCHEMA_COUNT] = {"integer", "an integer", values_number, false},
    [SCHEMA_SIZE] = {"size", LAZ_SIZE_EXPECTED, values_number, false},
    [SCHEMA_TIME] = {"time", LAZ_TIME_EXPECTED, values_number, false},
    [SCHEMA_LIMIT_COUNT] = {"integer or \"unlimited\"", "\"unlimited\" or an integer",
                            values_number, false},
    [SCHEMA_LIMIT_SIZE] = {"size or \"unlimited\"", "\"unlimited\" or " LAZ_SIZE_EXPECTED,
                           values_number, false},
    [SCHEMA_LIMIT_TIME] = {"time or \"unlimited\"", "\"unlimited\" or " LAZ_TIME_EXPECTED,
                           values_number, false},
    [SCHEMA_NAMES] = {"name or list of names", "a name or a list of names", values_list, true},
    [SCHEMA_STRINGS] = {"list of strings", "a list of strings", values_list, true},
    [SCHEMA_PATHS] = {"list of paths", "a list of absolute paths", values_list, true},
    [SCHEMA_BELOW] = {"list of paths", "a list of relative paths", values_list, true},
    [SCHEMA_VARIABLES] = {"list of names", "a list of names of environment variables", values_list,
                          true},
    [SCHEMA_ENVIRONMENT] = {"table of strings", "a table of strings", values_environment, true},
    [SCHEMA_RULES] = {"list of strings or tables", "a list of strings and tables", values_rules,
                      true},
    [SCHEMA_CREDENTIALS] = {"list of tables",
                            "a list of tables, each begun by "
                            "[[network.credential]]",
                            values_credentials, true},
    [SCHEMA_SECRETS] = {"table of tables", "a table", values_secrets, true},
    [SCHEMA_PORTS] = {"list of ports", "a list of ports", values_ports, true},
    [SCHEMA_HOSTS] = {"table of strings", "a table of strings", values_hosts, true},
    [SCHEMA_ADDRESS] = {"address", "an address in quotes (\"10.0.0.53\"), or \"\" for none",
                        values_text, false},
    [SCHEMA_LISTEN] = {"port or address", "PORT or HOST:PORT in quotes, or \"\" for none",
                       values_text, false},
    [SCHEMA_URL] = {"URL", "a URL of http or https in quotes, or \"\" for none", values_text,
                    false},
    [SCHEMA_HEADERS] = {"table of strings", "a table of strings", values_headers, true},
    [SCHEMA_TEXT] = {"string", "a text in quotes", values_text, false},
    [SCHEMA_ENFORCE] = {"list of words", "a list of words", values_enforce, false},
    [SCHEMA_PROGRAMS] = {"string or list of strings",
                         "\"default\", \"any\", or a list of names and absolute paths", values_list,
                         true},
    [SCHEMA_UIDS] = {"string", "\"auto\" or a range of user ids (\"200000-265535\")", values_text,
                     false},
    [SCHEMA_FILE] = {"path", "an absolute path, or \"\" for none", values_text, false},
    [SCHEMA_REFUSE] = {"word", "\"refuse\" or \"warn\"", values_refuse, false},
    [SCHEMA_WHERE] = {"word", "\"here\", \"cluster\" or \"worker\"", values_where, false},
    [SCHEMA_WARM] = {"word", "\"auto\", \"template\" or \"cold\"", values_warm, false},
    [SCHEMA_COLLECT] = {"word", "\"auto\", \"artifacts\" or \"cwd\"", values_collect, false},
};

const char *laz_schema_type(const struct schema_key *key)
{
    return values_kinds[key->kind].type;
}

void laz_schema_bound(struct laz_buf *buf, const struct schema_key *key, uint64_t bound)
{
    enum schema_kind kind = key->kind;

    if (kind == SCHEMA_COUNT || kind == SCHEMA_LIMIT_COUNT)
        laz_buf_printf(buf, "%" PRIu64, bound);
    else if (kind == SCHEMA_SIZE || kind == SCHEMA_LIMIT_SIZE)
        laz_format_size(buf, bound);
    else
        laz_format_time(buf, bound);
}

void laz_schema_expected(struct laz_buf *buf, const struct schema_key *key)
{
    laz_buf_puts(buf, values_kinds[key->kind].expected);
    if (key->max) {
        laz_buf_puts(buf, " from ");
        laz_schema_bound(buf, key, key->min);
        laz_buf_puts(buf, " to ");
        laz_schema_bound(buf, key, key->max);
    }
}

int laz_schema_convert(const struct schema_key *key, const struct laz_toml_node *node,
                       struct laz_settings_values *values, const struct laz_toml_node **wrong,
                       struct laz_buf *why)
{
    struct values_job job = {.key = key, .why = why};
    int rc = values_kinds[key->kind].convert(&job, node, (char *)values + key->offset);

    *wrong = job.wrong;
    return rc;
}

void laz_values_fini(struct laz_settings_values *values)
{
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        void *field = (char *)values + row->offset;
        if (values_kinds[row->kind].convert == values_text)
            free(*(char **)field);
        else if (values_kinds[row->kind].is_list)
            laz_strv_fini(field);
    }
    laz_strv_fini(&values->secrets);
    memset(values, 0, sizeof *values);
}
