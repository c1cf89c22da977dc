/* SPDX-License-Identifier: MIT */
/* read.c - secrets, when the proxy wants them.
 * Side: host.  Input trusted: what is read, yes; when it is wanted, no.
 *
 * Code can cause requests, and a server answers: so neither makes the host read a file or run a
 * command more often than once a minute for each credential, and only one is read at a time.  What
 * was read is kept nowhere here. */
#include "credential/credential_private.h"

#include "base/container.h"

#include <stdlib.h>
#include <string.h>

#define READ_AGAIN_MS 60000
#define READ_END_MS   2000 /* the end of the engine waits so long for a command */

struct credential_reading {
    struct laz_work work;
    struct laz_post post;
    struct credential_item *item;
    const struct laz_secret_source *source;
    const struct laz_secret_runner *runner;
    struct laz_loop *loop;
    struct laz_secret secret;
    struct laz_error err;
    int rc;
};

const struct laz_secret_source *credential_source(const struct credential_item *item,
                                                  struct laz_error *err)
{
    const struct laz_secret_source *source = NULL;

    if (item->words.kind == CREDENTIAL_INLINE)
        return &item->words.source;
    if (item->words.kind == CREDENTIAL_NAMED &&
        laz_secrets_find(item->credentials->of.secrets, item->words.secret_name,
                         strlen(item->words.secret_name), &source, err) != 0)
        return NULL;
    return source;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void read_tell(struct credential_item *item, const struct laz_secret *secret)
{
    /* code sees it, and a model: what the host's files and commands are is for its log */
    struct proxy_note note = {.credential = item->id,
                              .why = item->failure ? "the log of the host says why" : NULL};

    if (!item->failure && secret) {
        note.text = secret->data;
        note.text_len = secret->len;
    }
    if (item->told == item->credentials->number)
        credential_tell_surely(item->credentials, PROXY_SECRET, &note);
}

static void read_fail(struct credential_item *item, const char *why)
{
    free(item->failure);
    item->failure = laz_strdup(why);
    laz_log(&item->credentials->of.driver->log, LAZ_LOG_ERROR, "credential %s: %s",
            item->words.name, why);
}

/* Is what was read good for what it is for? */
static const char *read_wrong(const struct credential_item *item, const struct laz_secret *secret)
{
    if (secret->len > LAZ_PROXY_SECRET)
        return "the secret is larger than 16 KiB";
    for (size_t i = 0; i < secret->len; i++)
        if ((unsigned char)secret->data[i] < 0x20 || (unsigned char)secret->data[i] > 0x7e)
            return "the secret has other characters than the printable ones of ASCII";
    if (secret->len && (secret->data[0] == ' ' || secret->data[secret->len - 1] == ' '))
        return "the secret begins or ends with a space, which servers leave out";
    if (!item->words.echo && secret->len < LAZ_PROXY_SECRET_LEAST)
        return "the secret has fewer than 8 characters, too few to be found in answers (echo = "
               "\"allow\" goes without that)";
    return NULL;
}

static void read_take(struct credential_item *item, int rc, struct laz_secret *secret,
                      const struct laz_error *err)
{
    const char *why = rc ? err->text : read_wrong(item, secret);

    item->was_read = true;
    item->read_ms = laz_loop_now_ms(item->credentials->of.driver->loop);
    free(item->failure);
    item->failure = NULL;
    if (why)
        read_fail(item, why);
    if (!why || item->is_wanted) /* one that is not taken may be better than none */
        read_tell(item, secret);
    item->is_wanted = false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void read_done(struct laz_post *post)
{
    struct credential_reading *reading =
        (struct credential_reading *)(void *)((char *)post -
                                              offsetof(struct credential_reading, post));
    struct credential_item *item = reading->item;

    item->reading = NULL;
    read_take(item, reading->rc, &reading->secret, &reading->err);
    laz_secret_fini(&reading->secret);
    free(reading);
    credential_item_drop(item);
}

/* In the thread of the readers. */
static void read_run(struct laz_work *work)
{
    struct credential_reading *reading = (struct credential_reading *)(void *)work;

    reading->rc =
        laz_secret_read(reading->source, reading->runner, &reading->secret, &reading->err);
    reading->post.run = read_done;
    laz_loop_post(reading->loop, &reading->post);
}

static int read_begin(struct credential_item *item, struct laz_error *err)
{
    struct laz_credentials *credentials = item->credentials;
    const struct laz_secret_source *source = credential_source(item, err);
    struct credential_reading *reading = source ? calloc(1, sizeof *reading) : NULL;
    int rc = !source ? LAZ_ECONFIG : reading ? 0 : laz_error_nomem(err);

    if (!rc && !credentials->readers)
        rc = laz_workers_new(1, &credentials->readers, err);
    if (rc) {
        free(reading);
        return rc;
    }
    *reading = (struct credential_reading){.work = {.run = read_run},
                                           .item = item,
                                           .source = source,
                                           .runner = &credentials->of.secrets->runner,
                                           .loop = credentials->of.driver->loop};
    rc = laz_workers_add(credentials->readers, &reading->work, err);
    if (rc) {
        free(reading);
        return rc;
    }
    item->reading = reading;
    item->holders++;
    return 0;
}

void credential_read(struct credential_item *item, bool refused)
{
    const uint64_t now_ms = laz_loop_now_ms(item->credentials->of.driver->loop);
    const bool may_read = !item->was_read || now_ms - item->read_ms >= READ_AGAIN_MS;
    struct laz_error err = {0};

    item->is_wanted |= !refused;
    if (item->reading)
        return; /* it is told when that is done */
    if (item->words.kind == CREDENTIAL_VALUE) {
        const char *why = read_wrong(item, &item->words.value);
        if (why && !item->failure)
            read_fail(item, why);
        if (!refused)
            read_tell(item, &item->words.value);
        return;
    }
    if (refused && !may_read)
        return;
    /* A proxy that was started again has none, and nothing of it is kept here. */
    if (!refused && !may_read && item->failure) {
        read_tell(item, NULL);
        return;
    }
    const int rc = read_begin(item, &err);
    if (rc)
        read_take(item, rc, NULL, &err);
}

bool credential_readers_end(struct laz_credentials *credentials)
{
    struct laz_workers *readers = credentials->readers;

    if (!readers)
        return true;
    credentials->readers = NULL;
    if (laz_workers_end(readers, READ_END_MS))
        return false;
    laz_loop_flush(credentials->of.driver->loop);
    return true;
}
