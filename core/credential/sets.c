/* SPDX-License-Identifier: MIT */
/* sets.c - the credentials of a session, which of them is for a connection, and how often each was
 * used.
 * Side: host.  Input trusted: the application, yes; names of hosts and notes of the proxy, no. */
#include "credential/credential_private.h"

#include "base/container.h"
#include "base/visible.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/sockets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MOST 64 /* credentials of a session */

/* ---- making one ------------------------------------------------------------------------------ */

static int set_add(struct laz_credential_set *set, struct credential_item *item,
                   struct laz_error *err)
{
    struct credential_item **at = laz_grow(&set->items, &set->n, sizeof *set->items);

    if (!at)
        return laz_error_nomem(err);
    *at = item;
    item->holders++;
    return 0;
}

static struct credential_item *set_find(const struct laz_credentials *credentials, const char *name)
{
    struct credential_item *item = credentials->items;

    while (item && !(item->is_usual && strcmp(item->words.name, name) == 0))
        item = item->next;
    return item;
}

/* A name, or an object. */
static int set_take(struct laz_credential_set *set, const char *given, struct laz_error *err)
{
    struct credential_item *item;
    int rc = 0;

    if (*given != '{') {
        item = set_find(set->credentials, given);
        return item ? set_add(set, item, err)
                    : laz_error_set(err, LAZ_EINVAL, 0,
                                    "the settings have none of this name; a credential "
                                    "has the name that its host has, unless it is given another");
    }
    rc = credential_item_new(set->credentials, given, true, &item, err);
    if (rc)
        return rc == LAZ_ECONFIG ? laz_error_as(err, LAZ_EINVAL) : rc;

    rc = set_add(set, item, err);
    credential_item_drop(item);
    return rc;
}

/* All of the settings, in their order: of several for one request the first is used. */
static int set_fill_usual(struct laz_credential_set *set, struct laz_error *err)
{
    int rc = 0;

    for (struct credential_item *item = set->credentials->items; item && !rc; item = item->next)
        if (item->is_usual)
            rc = set_add(set, item, err);
    for (size_t i = 0; !rc && i < set->n / 2; i++) { /* the first of the list is the last made */
        struct credential_item **a = &set->items[i], **b = &set->items[set->n - 1 - i], *one = *a;
        *a = *b;
        *b = one;
    }
    return rc;
}

static int set_fill(struct laz_credential_set *set, const char *const *given, size_t n,
                    struct laz_error *err)
{
    int rc = 0;

    if (given && n > SETS_MOST)
        return laz_error_set(err, LAZ_EINVAL, 0, "credentials: a session can have %d", SETS_MOST);
    for (size_t i = 0; given && i < n && !rc; i++) {
        rc = given[i] ? set_take(set, given[i], err) : laz_error_null(err, "a credential");
        if (rc)
            laz_error_prefix(err, "credentials[%zu]: ", i);
    }
    return rc || given ? rc : set_fill_usual(set, err);
}

int laz_credential_set_new(struct laz_credentials *credentials, const char *const *given, size_t n,
                           struct laz_credential_set **out, struct laz_error *err)
{
    struct laz_credential_set *set = calloc(1, sizeof *set);

    *out = NULL;
    if (!set)
        return laz_error_nomem(err);
    set->credentials = credentials;
    set->id = ++credentials->last_set;
    set->is_usual = !given;
    set->next = credentials->sets;
    credentials->sets = set;
    const int rc = set_fill(set, given, n, err);
    if (rc || !set->n)
        laz_credential_set_free(set);
    else
        *out = set;
    return rc;
}

void laz_credential_set_free(struct laz_credential_set *set)
{
    if (!set)
        return;
    LAZ_LIST_REMOVE(set->credentials->sets, set);
    for (size_t i = 0; i < set->n; i++)
        credential_item_drop(set->items[i]);
    free(set->items);
    free(set->counts);
    free(set);
}

void laz_credential_set_own(struct laz_credential_set *set,
                            const struct laz_credential_owner *owner)
{
    set->owner = *owner;
}

bool laz_credential_set_is_usual(const struct laz_credential_set *set)
{
    return set->is_usual;
}

bool laz_credential_set_is_stale(const struct laz_credential_set *set)
{
    return set && set->number &&
           (!set->credentials->runs || set->number != set->credentials->number);
}

void laz_credential_set_env(const struct laz_credential_set *set, struct laz_strv *env)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i]->placeholder)
            laz_strv_addf(env, "%s=%s", set->items[i]->words.variable, set->items[i]->placeholder);
}

/* ---- connections ----------------------------------------------------------------------------- */

bool laz_credential_set_has(const struct laz_credential_set *set, const char *name, uint16_t port)
{
    for (size_t i = 0; set && i < set->n; i++)
        if (laz_network_host_has(&set->items[i]->words.host, name, port))
            return true;
    return false;
}

/* Tells the proxy of a credential that it does not know yet. */
static bool set_tell(struct credential_item *item, const char **why)
{
    const struct credential_words *words = &item->words;
    const struct proxy_note note = {
        .credential = item->id,
        .title = words->name,
        .field = words->field,
        .before = words->before,
        .after = words->after,
        .user = words->user,
        .query = words->query,
        .placeholder = item->placeholder,
        .methods = words->methods,
        .paths = words->paths,
        .only = words->only,
        .echo = words->echo,
    };
    struct laz_credentials *credentials = item->credentials;
    struct laz_look look;
    int fd = -1;

    if (item->told == credentials->number)
        return true;
    *why = "the file of authorities cannot be read";
    if (words->authorities && (fd = laz_os_open_file(words->authorities, false, &look)) < 0)
        return false;
    *why = "the proxy of the host has ended, or has too much to do";
    const bool is_told = credential_tell(credentials, PROXY_CREDENTIAL, &note, &fd, fd >= 0);
    laz_os_close(&fd);
    if (is_told)
        item->told = credentials->number;
    return is_told;
}

/* Its own have to be known to the proxy. So should the placeholders of all others, which it refuses
 * then; but what is wrong with one of these is no reason to refuse this session's connections. */
static bool set_tell_all(struct laz_credential_set *set, const char **why)
{
    const char *others_why;

    for (size_t i = 0; i < set->n; i++)
        if (!set_tell(set->items[i], why))
            return false;
    for (struct credential_item *item = set->credentials->items; item; item = item->next)
        if (item->placeholder)
            (void)set_tell(item, &others_why);
    return true;
}

/* The numbers of those for this name. A connection has one server, whose certificate is checked
 * once: a secret that is for one of the system's authorities does not go where a `ca` alone vouches
 * for it, nor the other way round. */
static bool set_choose(const struct laz_credential_set *set, const char *name, uint16_t port,
                       struct laz_strv *ids)
{
    const struct credential_words *first = NULL;

    for (size_t i = 0; i < set->n; i++) {
        const struct credential_words *words = &set->items[i]->words;
        if (!laz_network_host_has(&words->host, name, port))
            continue;
        first = first ? first : words;
        const char *one = first->authorities, *other = words->authorities;
        if (!one != !other || (one && strcmp(one, other) != 0))
            return false;
        laz_strv_addf(ids, "%" PRId64, set->items[i]->id);
    }
    return true;
}

int laz_credential_set_connect(struct laz_credential_set *set, const char *name, uint16_t port,
                               int server, const char **why)
{
    struct proxy_note note = {.connection = set->id, .name = name, .port = port};
    struct laz_error err = {0};
    int ends[2] = {-1, -1};
    bool is_told = !laz_credential_set_is_stale(set);

    *why = "the proxy of the host has ended since the session was started: start it again";
    is_told = is_told && set_tell_all(set, why);

    if (is_told && !set_choose(set, name, port, &note.credentials)) {
        *why = "the credentials for this host have different authorities (ca)";
        is_told = false;
    }
    if (is_told && (note.credentials.failed || laz_os_stream_pair(&ends[0], &ends[1], &err))) {
        *why = "the host has no descriptors or memory left";
        is_told = false;
    }
    if (is_told) {
        const int fds[] = {ends[1], server};
        is_told = credential_tell(set->credentials, PROXY_CONNECTION, &note, fds, 2);
        *why = "the proxy of the host has ended, or has too much to do";
    }
    laz_strv_fini(&note.credentials);
    laz_os_close(&ends[1]);
    laz_os_close(&server);
    if (!is_told)
        laz_os_close(&ends[0]);
    return ends[0];
}

const char *laz_credential_set_finds(const struct laz_credential_set *set, const char *text,
                                     size_t len)
{
    for (const struct credential_item *item = set ? set->credentials->items : NULL; item;
         item = item->next)
        if (item->placeholder &&
            laz_find_part(text, len, item->placeholder, strlen(item->placeholder)))
            return item->words.name;
    return NULL;
}

/* ---- what the proxy says --------------------------------------------------------------------- */

static struct laz_credential_set *sets_find(struct laz_credentials *credentials, int64_t id)
{
    struct laz_credential_set *set = credentials->sets;

    while (set && set->id != id)
        set = set->next;
    return set;
}

static const char *set_name(const struct laz_credential_set *set, int64_t id)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i]->id == id)
            return set->items[i]->words.name;
    return NULL;
}

void credential_used(struct laz_credentials *credentials, const struct proxy_note *note)
{
    struct laz_credential_set *set = sets_find(credentials, note->connection);
    const char *name = set ? set_name(set, note->credential) : NULL;
    size_t i = 0;

    if (!name || !note->name)
        return;
    while (i < set->n_counts &&
           !(set->counts[i].id == note->credential && strcmp(set->counts[i].host, note->name) == 0))
        i++;
    if (i == set->n_counts && i < CREDENTIAL_COUNTS) {
        struct credential_count *count = laz_grow(&set->counts, &set->n_counts, sizeof *count);
        if (!count)
            return;
        *count = (struct credential_count){.id = note->credential, .credential = name};
        snprintf(count->host, sizeof count->host, "%s", note->name);
    }
    if (set->n_counts)
        set->counts[i < set->n_counts ? i : set->n_counts - 1].count++;
}

void credential_denied(struct laz_credentials *credentials, const struct proxy_note *note)
{
    const struct laz_credential_set *set = sets_find(credentials, note->connection);
    struct laz_buf text = LAZ_BUF_INIT;

    if (!set || !set->owner.denied || !note->name)
        return;
    laz_visible_line(&text, note->text, strlen(note->text));
    if (!text.failed)
        set->owner.denied(set->owner.user, note->name, (uint16_t)note->port, laz_buf_text(&text));
    laz_buf_fini(&text);
}

size_t laz_credential_set_uses(const struct laz_credential_set *set,
                               struct laz_credential_use *uses, size_t most)
{
    size_t n = 0;

    for (; set && n < set->n_counts && n < most; n++)
        uses[n] = (struct laz_credential_use){set->counts[n].credential, set->counts[n].host,
                                              set->counts[n].count};
    return n;
}

void laz_credential_set_forget_uses(struct laz_credential_set *set)
{
    if (set)
        set->n_counts = 0;
}
