/* SPDX-License-Identifier: MIT */
/* tool_search.c - finds tools by words, for models that are not shown all of them.
 *
 * Ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
 * 2009) with one weight for each field (BM25F). The words of a name count most: get-user, getUser
 * and get_user are "get" and "user". Upper and lower case are the same in ASCII, and so are
 * singular and plural of English words. Time is linear in the text of all tools. */
#include "tool/tool_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_LIMIT     10 /* tools that are found, unless another number is given */
#define SEARCH_WORDS     32 /* of a query; further ones are ignored */
#define SEARCH_WORD_SIZE 64 /* of longer words only the first bytes are compared */

static const double k1 = 1.2, b = 0.75; /* the usual parameters of BM25 */

enum { OF_NAME = 4, OF_PARAMETER = 2, OF_DESCRIPTION = 1 }; /* weights of the fields */

struct search_word {
    char text[SEARCH_WORD_SIZE];
    size_t len;
};

struct search_query {
    struct search_word words[SEARCH_WORDS];
    size_t n;
};

struct search_document {
    const struct laz_tool_entry *tool;
    size_t place;                /* in the order of declaration */
    double length;               /* words, weighted */
    double counts[SEARCH_WORDS]; /* of each word of the query, weighted */
    double score;
};

/* ---- words ---------------------------------------------------------------------------------- */

static bool search_is_upper(unsigned char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool search_is_lower(unsigned char c)
{
    return c >= 'a' && c <= 'z';
}

static bool search_is_word(unsigned char c)
{
    return search_is_upper(c) || search_is_lower(c) || (c >= '0' && c <= '9') || c >= 0x80;
}

/* Does a word begin at p[0], which follows a character of a word? So in getUser and HTTPServer. */
static bool search_begins(const char *p)
{
    unsigned char before = (unsigned char)p[-1], c = (unsigned char)p[0];

    return search_is_upper(c) && (!search_is_upper(before) || search_is_lower((unsigned char)p[1]));
}

/* Queries and quarries: the same as query and quarry. */
static void search_singular(struct search_word *word)
{
    const char *end = word->text + word->len;

    if (word->len < 4 || end[-1] != 's' || end[-2] == 's')
        return;
    word->len--;
    if (word->len > 3 && end[-2] == 'e' && end[-3] == 'i')
        word->text[--word->len - 1] = 'y';
}

/* Takes the next word from *text; false: there is none. */
static bool search_next(const char **text, struct search_word *word)
{
    const char *p = *text;

    word->len = 0;
    while (*p && !search_is_word((unsigned char)*p))
        p++;
    for (const char *begin = p; search_is_word((unsigned char)*p); p++) {
        if (p > begin && search_begins(p))
            break;
        if (word->len < sizeof word->text)
            word->text[word->len++] = search_is_upper((unsigned char)*p) ? (char)(*p + 32) : *p;
    }
    *text = p;
    if (word->len)
        search_singular(word);
    return word->len > 0;
}

static bool search_is_same(const struct search_word *word, const struct search_word *other)
{
    return word->len == other->len && memcmp(word->text, other->text, word->len) == 0;
}

static void search_query_take(struct search_query *query, const char *text)
{
    struct search_word word;

    query->n = 0;
    while (query->n < SEARCH_WORDS && search_next(&text, &word)) {
        size_t i = 0;
        while (i < query->n && !search_is_same(&word, &query->words[i]))
            i++;
        if (i == query->n)
            query->words[query->n++] = word;
    }
}

/* ---- documents ------------------------------------------------------------------------------ */

static void search_count(const struct search_query *query, const char *text, double weight,
                         struct search_document *document)
{
    struct search_word word;

    while (search_next(&text, &word)) {
        document->length += weight;
        for (size_t i = 0; i < query->n; i++) {
            if (search_is_same(&word, &query->words[i]))
                document->counts[i] += weight;
        }
    }
}

static void search_read(const struct search_query *query, const struct laz_tool_entry *tool,
                        struct search_document *document)
{
    document->tool = tool;
    search_count(query, tool->name, OF_NAME, document);
    search_count(query, tool->description, OF_DESCRIPTION, document);
    for (size_t i = 0; i < tool->n_parameters; i++) {
        search_count(query, tool->parameters[i].name, OF_PARAMETER, document);
        search_count(query, tool->parameters[i].description, OF_DESCRIPTION, document);
    }
}

static void search_score(const struct search_query *query, struct search_document *documents,
                         size_t n)
{
    double length = 0;

    for (size_t i = 0; i < n; i++)
        length += documents[i].length / (double)n;
    for (size_t word = 0; word < query->n; word++) {
        size_t with = 0;
        for (size_t i = 0; i < n; i++)
            with += documents[i].counts[word] > 0;
        const double rarity = log(1 + ((double)(n - with) + 0.5) / ((double)with + 0.5));
        for (size_t i = 0; with && i < n; i++) {
            const double count = documents[i].counts[word];
            documents[i].score += rarity * count * (k1 + 1) /
                                  (count + k1 * (1 - b + b * documents[i].length / length));
        }
    }
}

/* The better one first; of equal ones that which was declared first. */
static int search_compare(const void *left, const void *right)
{
    const struct search_document *one = left, *other = right;

    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

int laz_tool_set_search(const struct laz_tool_set *set, const struct laz_tool_set *own,
                        const char *words, size_t limit, struct laz_tool_set *found,
                        struct laz_error *err)
{
    const size_t n = set->n + (own ? own->n : 0);
    struct search_document *documents = calloc(n + 1, sizeof *documents);
    struct search_query query;
    size_t hits = 0;

    *found = (struct laz_tool_set){.entries = calloc(n + 1, sizeof *found->entries)};
    if (!documents || !found->entries) {
        free(documents);
        free(found->entries);
        found->entries = NULL;
        return laz_error_nomem(err);
    }
    if (!limit)
        limit = SEARCH_LIMIT;
    search_query_take(&query, words);
    for (size_t i = 0; i < n; i++) {
        documents[i].place = i;
        search_read(&query, i < set->n ? &set->entries[i] : &own->entries[i - set->n],
                    &documents[i]);
    }
    search_score(&query, documents, n);
    for (size_t i = 0; i < n; i++) {
        if (documents[i].score > 0)
            documents[hits++] = documents[i];
    }
    qsort(documents, hits, sizeof *documents, search_compare);
    for (; found->n < hits && found->n < limit; found->n++) /* its queue is the loop's */
        memcpy(&found->entries[found->n], documents[found->n].tool,
               offsetof(struct laz_tool_entry, queue));
    free(documents);
    return 0;
}

int laz_tool_set_search_json(const struct laz_tool_set *set, const struct laz_tool_set *own,
                             const struct laz_spelling *spelling, const char *words, size_t limit,
                             struct laz_buf *json, struct laz_error *err)
{
    struct laz_tool_set found;

    laz_buf_clear(json);
    int rc = laz_tool_set_search(set, own, words, limit, &found, err);
    if (rc)
        return rc;
    laz_tool_set_json(&found, NULL, spelling, json);
    free(found.entries);
    return json->failed ? laz_error_nomem(err) : 0;
}
