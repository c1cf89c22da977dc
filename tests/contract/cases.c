/* SPDX-License-Identifier: MIT */
/* cases.c - reads files of cases; cases.h has the format. */
#include "cases.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const case_words[CASE_WORDS] = {
    [CASE_OPTIONS] = "options", [CASE_LIMIT] = "limit",         [CASE_MAX_MESSAGE] = "max_message",
    [CASE_WHEN] = "when",       [CASE_CODE] = "code",           [CASE_CHECK] = "check",
    [CASE_VALUE] = "value",     [CASE_TEXT] = "text",           [CASE_VISIBLE] = "visible",
    [CASE_STDOUT] = "stdout",   [CASE_STDERR] = "stderr",       [CASE_ERROR] = "error",
    [CASE_MESSAGE] = "message", [CASE_LINE] = "line",           [CASE_TRACEBACK] = "traceback",
    [CASE_LEAVE] = "leave",     [CASE_INVISIBLE] = "invisible", [CASE_NATIVE] = "native",
    [CASE_LAST] = "last",
};

struct case_reader {
    struct case_list *list;
    const char *path, *runtime;
    unsigned line;
    struct case_block block; /* the block being read; its text is in `body` */
    struct laz_buf body;
    bool open;    /* a block is being read */
    bool skipped; /* it is for another runtime */
};

const char *case_word_name(enum case_word word)
{
    return case_words[word];
}

static bool case_is_step(enum case_word word)
{
    return word == CASE_CODE || word == CASE_INVISIBLE || word == CASE_NATIVE ||
           word == CASE_LAST || word == CASE_CHECK || word == CASE_WHEN;
}

/* A special block (WORD@RUNTIME) replaces the plain one of the same word in its step. */
static bool case_replace(struct test_case *c, struct case_block *block)
{
    if (case_is_step(block->word))
        return false;
    for (size_t i = c->n_blocks; i-- > 0 && !case_is_step(c->blocks[i].word);) {
        if (c->blocks[i].word == block->word && c->blocks[i].special != block->special) {
            if (block->special) {
                free(c->blocks[i].text);
                c->blocks[i] = *block;
            } else {
                free(block->text);
            }
            return true;
        }
    }
    return false;
}

static int case_close_block(struct case_reader *r, struct laz_error *err)
{
    struct test_case *c = r->list->n ? &r->list->cases[r->list->n - 1] : NULL;

    if (!r->open)
        return 0;
    r->open = false;
    if (r->skipped) {
        c->foreign = c->foreign || r->block.word == CASE_CODE || r->block.word == CASE_CHECK;
        return 0;
    }
    while (r->body.len && r->body.data[r->body.len - 1] == '\n')
        r->body.data[--r->body.len] = '\0';
    r->block.text = laz_strdup(laz_buf_text(&r->body));
    if (!r->block.text)
        return laz_error_nomem(err);
    if (case_replace(c, &r->block))
        return 0;
    struct case_block *grown = realloc(c->blocks, (c->n_blocks + 1) * sizeof *grown);
    if (!grown)
        return laz_error_nomem(err);
    c->blocks = grown;
    c->blocks[c->n_blocks++] = r->block;
    return 0;
}

static int case_open(struct case_reader *r, const char *name, struct laz_error *err)
{
    struct case_list *list = r->list;
    struct test_case *grown = realloc(list->cases, (list->n + 1) * sizeof *grown);

    if (!grown)
        return laz_error_nomem(err);
    list->cases = grown;
    grown[list->n++] =
        (struct test_case){.name = laz_strdup(name), .file = laz_strdup(r->path), .line = r->line};
    return 0;
}

/* "--- WORD[@RUNTIME] [TEXT]" */
static int case_open_block(struct case_reader *r, const char *head, struct laz_error *err)
{
    size_t len = strcspn(head, " ");
    size_t word_len = strcspn(head, " @");
    const char *at = word_len < len ? head + word_len + 1 : NULL;

    if (!r->list->n)
        return laz_error_set(err, LAZ_EPARSE, 0, "%s:%u: a block before the first case", r->path,
                             r->line);
    r->block = (struct case_block){.word = CASE_WORDS, .special = at != NULL};
    for (int i = 0; i < CASE_WORDS; i++)
        if (strlen(case_words[i]) == word_len && strncmp(case_words[i], head, word_len) == 0)
            r->block.word = (enum case_word)i;
    if (r->block.word == CASE_WORDS)
        return laz_error_set(err, LAZ_EPARSE, 0, "%s:%u: %.*s is not a word of a case", r->path,
                             r->line, (int)len, head);
    r->skipped = at && (strlen(r->runtime) != len - word_len - 1 ||
                        strncmp(at, r->runtime, len - word_len - 1) != 0);
    r->open = true;
    laz_buf_clear(&r->body);
    if (head[len])
        laz_buf_puts(&r->body, head + len + 1);
    return 0;
}

static int case_line(struct case_reader *r, const char *line, struct laz_error *err)
{
    int rc = 0;

    r->line++;
    if (strncmp(line, "== ", 3) == 0) {
        rc = case_close_block(r, err);
        return rc ? rc : case_open(r, line + 3, err);
    }
    if (strncmp(line, "--- ", 4) == 0) {
        rc = case_close_block(r, err);
        return rc ? rc : case_open_block(r, line + 4, err);
    }
    if (r->open) {
        if (r->body.len)
            laz_buf_putc(&r->body, '\n');
        laz_buf_puts(&r->body, line);
    }
    return 0;
}

int case_list_read(struct case_list *list, const char *path, const char *runtime,
                   struct laz_error *err)
{
    struct case_reader r = {.list = list, .path = path, .runtime = runtime};
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int rc = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return laz_error_os(err, errno, "%s", path);
    while (rc == 0 && (len = getline(&line, &size, file)) >= 0) {
        if (len && line[len - 1] == '\n')
            line[len - 1] = '\0';
        rc = case_line(&r, line, err);
    }
    if (rc == 0)
        rc = case_close_block(&r, err);
    free(line);
    laz_buf_fini(&r.body);
    fclose(file);
    return rc;
}

void case_list_fini(struct case_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct test_case *c = &list->cases[i];
        for (size_t j = 0; j < c->n_blocks; j++)
            free(c->blocks[j].text);
        free(c->blocks);
        free(c->name);
        free(c->file);
    }
    free(list->cases);
    *list = (struct case_list){0};
}
