/* SPDX-License-Identifier: MIT */
/* audit.h - the audit log of an engine: one file, one record per line, in a hash chain. All
 * functions are for the thread that holds the loop; they block for the lock and the disk. */
#ifndef LAZ_AUDIT_AUDIT_H
#define LAZ_AUDIT_AUDIT_H

#include "base/error.h"
#include "base/log.h"
#include "audit/audit_line.h"

#include <stdbool.h>

struct laz_audit;

struct laz_audit_options {
    const char *file; /* copied */
    bool refuse;      /* refuse an event whose record cannot be written */
    bool sync;        /* each record is on the disk before its event goes on */
    uint64_t lock_ms; /* how long to wait for the lock of other writers; 0: half a second */
    const struct laz_log *log; /* borrowed until laz_audit_free */
};

/* Opens the log and finds the end of its chain. LAZ_ECONFIG, with or without `refuse`: the file
 * cannot be an audit log (a link, a device, in a directory that others can write, or with other
 * content). LAZ_EOS, LAZ_ETIMEOUT: only with `refuse`; without it a warning is logged, and the next
 * record tries again. */
int laz_audit_new(const struct laz_audit_options *options, struct laz_audit **audit,
                  struct laz_error *err);
/* Records how many records were lost, if possible, and frees the log. NULL is allowed. */
void laz_audit_free(struct laz_audit *audit);

/* Appends a record; takes the fields of the line, which is empty afterwards. `session`: its id, or
 * NULL. 0: the record was written, or could not be written and `refuse` is not set, or `audit` is
 * NULL. Else LAZ_EREFUSED, and the text says why. Records that could not be written are counted; a
 * record of their number comes before the next one that is written. */
int laz_audit_write(struct laz_audit *audit, const char *event, const char *session,
                    struct laz_audit_line *line, struct laz_error *err);
/* Says which records could not be written since the last one that was; a new string. NULL: none. */
char *laz_audit_trouble(const struct laz_audit *audit);

#endif
