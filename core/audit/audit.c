/* SPDX-License-Identifier: MIT */
/* audit.c - the audit log of engines: one file, one record per line, in a hash chain.
 * Side: host.  Input trusted: the file no (others may have written to it).
 *
 * Several processes append to one file, so each append locks it, finds the end of the chain, writes
 * and unlocks.  While the file has the size that this process left, the end is known; else the last
 * line is read.  Any other change since the last write is recorded first: a rotated file, a shorter
 * one, a line that a killed writer left unfinished, foreign text, records that could not be
 * written. Nothing is ever removed from the file except the part of a record that did not fit on
 * the disk.
 *
 * Engines of one process, each with a thread, share one log: what this process knows of the file is
 * behind a mutex, which is held for one append, and no callback runs meanwhile. */
#include "audit/audit.h"

#include "base/clock.h"
#include "audit/audit_chain.h"
#include "os/append.h"

#include <lazaret/plugin.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AUDIT_TAIL_FIRST ((size_t)4 << 10) /* bytes at the end that are read first */
#define AUDIT_LOCK_MS    500 /* an append takes microseconds, but a process can be stopped in one */
#define AUDIT_TAIL_MOST  (4 * LAZ_AUDIT_LINE_MAX)

struct laz_audit {
    char *path;
    bool refuse, sync;
    struct laz_log log;
    pthread_mutex_t lock; /* of all below */
    unsigned holders;
    struct laz_append file;
    bool known;                 /* `last` and `end` belong to the open file */
    struct laz_audit_link last; /* the last record that this process has written or read */
    uint64_t end;               /* size of the file up to the end of that record */
    uint64_t lock_ms;
    bool locked_out; /* the last wait for the lock was in vain: do not wait until it is free */
    uint64_t lost;   /* number of records that could not be written since the last one that was */
    char lost_since[LAZ_CLOCK_STAMP], lost_why[256];
};

static const struct laz_buf audit_nothing = LAZ_BUF_INIT;

/* ---- the end of the chain ------------------------------------------------------------------- */

struct audit_end {
    enum laz_audit_tail tail;
    struct laz_audit_link link;
    bool needs_newline;
    uint64_t odd_bytes; /* bytes after the last record, without a newline at the end */
    char odd_digest[LAZ_SHA256_HEX + 1];
};

/* `data`: the last bytes of the file; `whole`: all of them. */
static void audit_end_set(struct audit_end *end, const char *data, size_t len, bool whole)
{
    size_t rest;

    *end = (struct audit_end){.needs_newline = len && data[len - 1] != '\n'};
    end->tail = laz_audit_tail(data, len, whole, &end->link, &rest);
    end->odd_bytes = rest && !end->needs_newline ? rest - 1 : rest;
    laz_audit_digest("", data + len - rest, end->odd_bytes, end->odd_digest);
}

/* Finds the last record in the last bytes of the file; reads more of them until there is one. */
static int audit_find_end(struct laz_audit *audit, uint64_t size, struct audit_end *end,
                          struct laz_error *err)
{
    for (size_t window = AUDIT_TAIL_FIRST;; window *= 8) {
        size_t len = window < size ? window : (size_t)size;
        char *data = malloc(len ? len : 1);
        if (!data)
            return laz_error_nomem(err);
        ssize_t n = laz_append_read(&audit->file, size - len, data, len, err);
        if (n >= 0)
            audit_end_set(end, data, (size_t)n, len == size);
        free(data);
        if (n < 0)
            return LAZ_EOS;
        if (end->tail != LAZ_AUDIT_TAIL_UNKNOWN)
            return 0;
        if (len == size || window >= AUDIT_TAIL_MOST)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "%s does not end with a record of an audit log; name a file that "
                                 "is empty or does not exist yet",
                                 audit->path);
    }
}

/* Records an event of the log itself, and empties the line. */
static void audit_note(struct laz_audit_line *line, const char *event, struct laz_audit_link *link,
                       struct laz_buf *out)
{
    out->failed |= line->members.failed;
    laz_audit_link_add(link, event, NULL, line->members.data, line->members.len, out);
    laz_audit_line_fini(line);
}

/* Records how the file differs from what this process left. */
static void audit_reconcile(struct laz_audit *audit, const struct audit_end *end, bool rotated,
                            struct laz_audit_link *link, struct laz_buf *out)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
    bool shorter =
        audit->known && !rotated &&
        (end->link.seq < audit->last.seq ||
         (end->link.seq == audit->last.seq && strcmp(end->link.hash, audit->last.hash) != 0));

    if (end->needs_newline)
        laz_buf_putc(out, '\n');
    if (end->tail != LAZ_AUDIT_TAIL_CLEAN) {
        laz_audit_number(&line, "bytes", end->odd_bytes);
        laz_audit_string(&line, "sha256", end->odd_digest);
        audit_note(&line, end->tail == LAZ_AUDIT_TAIL_TORN ? "log_torn" : "log_foreign", link, out);
    }
    if (shorter) {
        laz_audit_number(&line, "expected_seq", audit->last.seq);
        laz_audit_string(&line, "expected_hash", audit->last.hash);
        audit_note(&line, "log_cut", link, out);
    } else if (rotated && audit->known && audit->last.seq) {
        laz_audit_number(&line, "previous_seq", audit->last.seq);
        laz_audit_string(&line, "previous_hash", audit->last.hash);
        audit_note(&line, "log_rotated", link, out);
    }
}

static void audit_report_lost(struct laz_audit *audit, struct laz_audit_link *link,
                              struct laz_buf *out)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!audit->lost)
        return;
    laz_audit_number(&line, "records", audit->lost);
    laz_audit_string(&line, "since", audit->lost_since);
    laz_audit_string(&line, "reason", audit->lost_why);
    audit_note(&line, "log_lost", link, out);
}

/* ---- appending ------------------------------------------------------------------------------ */

/* Appends under the lock. `event` NULL: only records about the log itself. */
static int audit_append_locked(struct laz_audit *audit, uint64_t size, bool reopened,
                               const char *event, const char *session,
                               const struct laz_buf *members, struct laz_error *err)
{
    struct laz_buf out = LAZ_BUF_INIT;
    struct laz_audit_link link = audit->last;
    int rc = 0;

    if (!audit->known || reopened || size != audit->end) {
        struct audit_end end;
        rc = audit_find_end(audit, size, &end, err);
        if (rc)
            return rc;
        link = end.link;
        /* a file that was emptied in place, as some tools rotate, counts as another file */
        audit_reconcile(audit, &end, reopened || size == 0, &link, &out);
    }
    audit_report_lost(audit, &link, &out);
    if (event)
        laz_audit_link_add(&link, event, session, members->data, members->len, &out);
    if (out.failed || members->failed)
        rc = laz_error_nomem(err);
    else if (out.len)
        rc = laz_append_write(&audit->file, size, out.data, out.len, audit->sync, err);
    if (rc) {
        audit->end = UINT64_MAX; /* the next append has to read the end */
    } else {
        audit->last = link;
        audit->end = size + out.len;
        audit->known = true;
        audit->lost = 0;
    }
    laz_buf_fini(&out);
    return rc;
}

static int audit_append(struct laz_audit *audit, const char *event, const char *session,
                        const struct laz_buf *members, struct laz_error *err)
{
    bool reopened = false;
    uint64_t size = 0;
    int rc = laz_append_lock(&audit->file, audit->locked_out ? 0 : audit->lock_ms, &reopened, &size,
                             err);

    audit->locked_out = rc == LAZ_ETIMEOUT;
    if (rc)
        return rc;
    rc = audit_append_locked(audit, size, reopened, event, session, members, err);
    laz_append_unlock(&audit->file);
    return rc;
}

/* True: it is the first one. */
static bool audit_count_lost(struct laz_audit *audit, const struct laz_error *why)
{
    const bool is_first = !audit->lost++;

    if (is_first)
        laz_clock_stamp(audit->lost_since);
    snprintf(audit->lost_why, sizeof audit->lost_why, "%.250s", why->text);
    return is_first;
}

int laz_audit_write(struct laz_audit *audit, const char *event, const char *session,
                    struct laz_audit_line *line, struct laz_error *err)
{
    struct laz_error why = {0};
    bool is_first = false;
    int rc = 0;

    if (audit) {
        pthread_mutex_lock(&audit->lock);
        rc = audit_append(audit, event, session, &line->members, &why);
        if (rc)
            is_first = audit_count_lost(audit, &why);
        pthread_mutex_unlock(&audit->lock);
    }
    laz_audit_line_fini(line);
    if (!rc)
        return 0;
    if (is_first)
        laz_log(&audit->log, LAZ_LOG_WARNING, "%s", why.text);
    return audit->refuse ? laz_error_set(err, LAZ_EREFUSED, why.os_errno,
                                         "%s (audit.on_error = \"refuse\")", why.text)
                         : 0;
}

char *laz_audit_trouble(struct laz_audit *audit)
{
    char *text = NULL;

    if (!audit)
        return NULL;
    pthread_mutex_lock(&audit->lock);
    if (audit->lost)
        text = laz_strdupf("%s; %" PRIu64 " record%s missing from it", audit->lost_why, audit->lost,
                           audit->lost == 1 ? " is" : "s are");
    pthread_mutex_unlock(&audit->lock);
    return text;
}

/* ---- opening and closing -------------------------------------------------------------------- */

int laz_audit_new(const struct laz_audit_options *options, struct laz_audit **out,
                  struct laz_error *err)
{
    struct laz_audit *audit = calloc(1, sizeof *audit);
    struct laz_error why = {0};

    *out = NULL;
    if (!audit || !(audit->path = laz_strdup(options->file))) {
        free(audit);
        return laz_error_nomem(err);
    }
    pthread_mutex_init(&audit->lock, NULL);
    audit->holders = 1;
    audit->refuse = options->refuse;
    audit->sync = options->sync;
    audit->lock_ms = options->lock_ms ? options->lock_ms : AUDIT_LOCK_MS;
    audit->log = *options->log;
    audit->file = LAZ_APPEND_INIT(audit->path);
    laz_audit_link_init(&audit->last);
    int rc = audit_append(audit, NULL, NULL, &audit_nothing, &why);
    if (rc == LAZ_ECONFIG || rc == LAZ_ENOMEM || (rc && audit->refuse)) {
        laz_audit_free(audit);
        if (err)
            *err = why;
        return rc;
    }
    if (rc)
        laz_log(&audit->log, LAZ_LOG_WARNING, "%s", why.text);
    *out = audit;
    return 0;
}

struct laz_audit *laz_audit_share(struct laz_audit *audit)
{
    if (!audit)
        return NULL;
    pthread_mutex_lock(&audit->lock);
    audit->holders++;
    pthread_mutex_unlock(&audit->lock);
    return audit;
}

void laz_audit_free(struct laz_audit *audit)
{
    if (!audit)
        return;
    pthread_mutex_lock(&audit->lock);
    const bool is_last = --audit->holders == 0;
    pthread_mutex_unlock(&audit->lock);
    if (!is_last)
        return;
    if (audit->lost && audit_append(audit, NULL, NULL, &audit_nothing, NULL) != 0)
        laz_log(&audit->log, LAZ_LOG_ERROR, "%s; %" PRIu64 " records are missing from it",
                audit->lost_why, audit->lost);
    laz_append_close(&audit->file);
    pthread_mutex_destroy(&audit->lock);
    free(audit->path);
    free(audit);
}
