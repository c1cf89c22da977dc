/* SPDX-License-Identifier: MIT */
/* toml.c - reading a TOML document: the loop over its statements.
 *
 * TOML is made of lines: a statement that cannot be read is skipped and reading goes on with the
 * next line, so that a user sees all mistakes at once.  Where a broken statement may go on over
 * several lines (a list, a string in triple quotes), reading ends instead of guessing.
 * Only value.c uses recursion. */
#include "settings/toml/parser.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statements -------------------------------------------------------------------------------*/

static void toml_skip_line(struct toml_parser *p)
{
    const char *rest = p->text + p->at;
    const char *newline = memchr(rest, '\n', p->len - p->at);

    toml_skip(p, newline ? (size_t)(newline - rest) + 1 : p->len - p->at);
}

static bool toml_statement(struct toml_parser *p)
{
    toml_space(p);
    const bool is_empty = p->at == p->len || toml_peek(p) == '#' || toml_is_newline(p);
    if (!is_empty && !(toml_peek(p) == '[' ? toml_header(p) : toml_pair(p, p->current)))
        return false;
    return toml_line_end(p);
}

static void toml_statements(struct toml_parser *p)
{
    while (p->at < p->len && !p->nomem && !p->lost) {
        uint32_t line = p->line;
        if (toml_statement(p))
            continue;
        if (p->line == line)
            toml_skip_line(p);
        else
            p->lost = true;
    }
}

/* The first byte that is not valid UTF-8 is a problem, and nothing behind it is read. */
static void toml_check_encoding(struct toml_parser *p)
{
    struct toml_parser probe = *p;
    char hint[64] = "";

    if (p->len >= 2 && (!memcmp(p->text, "\xff\xfe", 2) || !memcmp(p->text, "\xfe\xff", 2)))
        snprintf(hint, sizeof hint, " (it seems to be UTF-16)");
    if (laz_utf8_is_valid(p->text, p->len))
        return;
    while (probe.at < probe.len) {
        size_t n = laz_utf8_sequence(probe.text + probe.at, probe.len - probe.at);
        if (!n)
            break;
        toml_skip(&probe, n);
    }
    toml_problem(p, toml_here(&probe), "the byte 0x%02X is not UTF-8%s",
                 (unsigned)(unsigned char)probe.text[probe.at], hint);
    p->lost = true;
}

/* Starts a parser with a new document that has only its root. */
static int toml_begin(struct toml_parser *p, const char *name, bool has_lines,
                      struct laz_error *err)
{
    struct laz_toml *toml = calloc(1, sizeof *toml);

    *p = (struct toml_parser){.line = 1, .column = 1, .toml = toml};
    if (!toml)
        return laz_error_nomem(err);
    toml->refs = 1;
    toml->has_lines = has_lines;
    toml->name = laz_strdup(name);
    p->current = toml->root = toml->name ? toml_node(p, LAZ_TOML_TABLE, toml_here(p), 0) : NULL;
    if (p->current)
        return 0;
    laz_toml_free(toml);
    return laz_error_nomem(err);
}

static void toml_feed(struct toml_parser *p, const char *text, size_t len)
{
    p->text = text;
    p->len = len;
    p->at = 0;
    p->line = p->column = 1;
    toml_check_encoding(p);
}

/* Gives the document to the caller; its first problem, if any, is the error. */
static int toml_finish(struct toml_parser *p, struct laz_toml **toml, struct laz_error *err)
{
    struct laz_toml *made = p->toml;
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = 0;

    laz_buf_fini(&p->scratch);
    free(p->slots);
    if (made->n_problems)
        laz_toml_format_problem(&text, made, 0);
    if (p->nomem || text.failed) {
        laz_toml_free(made);
        made = NULL;
        rc = laz_error_nomem(err);
    } else if (made->n_problems) {
        rc = laz_error_set(err, LAZ_EPARSE, 0, "%s", laz_buf_text(&text));
    }
    laz_buf_fini(&text);
    *toml = made;
    return rc;
}

static int toml_too_big(const char *name, struct laz_error *err)
{
    return laz_error_set(err, LAZ_ETOOBIG, 0, "%s: the text is larger than %zu KiB", name,
                         LAZ_TOML_MAX_SIZE / 1024);
}

int laz_toml_parse(const char *text, size_t len, const char *name, struct laz_toml **toml,
                   struct laz_error *err)
{
    struct toml_parser p;

    *toml = NULL;
    if (len > LAZ_TOML_MAX_SIZE)
        return toml_too_big(name, err);
    int rc = toml_begin(&p, name, true, err);
    if (rc)
        return rc;
    toml_feed(&p, text, len);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        p.at = 3; /* skips a byte order mark */
    toml_statements(&p);
    return toml_finish(&p, toml, err);
}

/* The value of a pair, with nothing after it. */
static bool toml_lone_value(struct toml_parser *p, struct laz_toml_node **value)
{
    toml_space(p);
    if (p->lost || !toml_value(p, 1, value))
        return false;
    toml_space(p);
    if (p->at == p->len)
        return true;
    return toml_problem(p, toml_here(p), "expected nothing after the value, found %s",
                        toml_found(p));
}

static bool toml_lone_key(struct toml_parser *p, struct laz_toml_node **owner,
                          struct toml_mark *mark)
{
    toml_space(p);
    if (p->lost || !toml_dotted_key(p, p->current, owner, mark))
        return false;
    if (p->at == p->len)
        return *owner != NULL;
    return toml_problem(p, toml_here(p), "expected a key, found %s in it", toml_found(p));
}

static void toml_lone_pair(struct toml_parser *p, const char *key, const char *value)
{
    struct laz_toml_node *owner = NULL, *node = NULL;
    struct toml_mark mark;

    toml_feed(p, key, strlen(key));
    if (!toml_lone_key(p, &owner, &mark))
        return;
    const char *last = toml_keep(p, laz_buf_text(&p->scratch), p->scratch.len);
    size_t last_len = p->scratch.len;
    toml_feed(p, value, strlen(value));
    if (!last || !toml_lone_value(p, &node))
        return;
    node->key = last;
    node->key_len = last_len;
    toml_append(owner, node);
}

int laz_toml_parse_pair(const char *key, const char *value, const char *name,
                        struct laz_toml **toml, struct laz_error *err)
{
    struct toml_parser p;

    *toml = NULL;
    if (!key)
        key = "value";
    if (strlen(value) > LAZ_TOML_MAX_SIZE || strlen(key) > LAZ_TOML_MAX_SIZE)
        return toml_too_big(name, err);
    int rc = toml_begin(&p, name, false, err);
    if (rc)
        return rc;
    toml_lone_pair(&p, key, value);
    return toml_finish(&p, toml, err);
}

bool laz_toml_adopt(struct laz_toml *toml, struct laz_toml_node *table,
                    const struct laz_toml_node *node)
{
    struct laz_toml_node *copy = toml_alloc(toml, sizeof *copy);

    if (!copy)
        return false;
    *copy = *node;
    copy->next = NULL;
    toml_append(table, copy);
    return true;
}
