/* SPDX-License-Identifier: MIT */
/* audit.h - the audit log of an engine: one file, one record a line, in a chain. */
#ifndef LAZ_AUDIT_AUDIT_H
#define LAZ_AUDIT_AUDIT_H

#include "base/error.h"
#include "base/log.h"
#include "audit/audit_line.h"

#include <stdbool.h>

struct laz_audit;

struct laz_audit_options {
    const char *file; /* copied */
    bool refuse;      /* a record that cannot be written refuses what it is about */
    bool sync;        /* each record is on the disk before what it is about goes on */
    uint64_t lock_ms; /* how long the lock of other writers is waited for; 0: half a second */
    const struct laz_log *log;
};

/* Opens the log and finds the end of its chain. LAZ_ECONFIG: this cannot be an audit log (a link, a
 * device, a folder others can write, a file of something else), whatever `refuse` says. LAZ_EOS,
 * LAZ_ETIMEOUT: only with `refuse`; without it the log is warned, and it is tried again later. */
int laz_audit_new(const struct laz_audit_options *options, struct laz_audit **audit,
                  struct laz_error *err);
/* Says what was lost, if it can, and frees it. NULL is allowed. */
void laz_audit_free(struct laz_audit *audit);

/* Appends a record; takes the line's fields and empties it. `session` is an id or NULL. Nothing is
 * waited for but the lock of other writers. 0: written, or the settings say that it matters not,
 * or `audit` is NULL. Else LAZ_EREFUSED, and the text says why. A record that was not written is
 * counted, and told of before the next one that is. */
int laz_audit_write(struct laz_audit *audit, const char *event, const char *session,
                    struct laz_audit_line *line, struct laz_error *err);
/* Why records are missing from the log at this moment, or NULL. A new string. */
char *laz_audit_trouble(const struct laz_audit *audit);

#endif
