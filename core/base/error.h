/* SPDX-License-Identifier: MIT */
/* error.h - filling a struct laz_error. */
#ifndef LAZ_BASE_ERROR_H
#define LAZ_BASE_ERROR_H

#include <lazaret/error.h>
#include <stdbool.h>

/* Fills *err (unless NULL) and returns `code`, so that a failing function can end with
 * `return laz_error_set(err, LAZ_ECONFIG, 0, "...")`. Control bytes of the text become spaces. */
int laz_error_set(struct laz_error *err, int code, int os_errno, const char *format, ...)
    LAZ_PRINTF(4, 5);

/* The system's message for an errno; of EMFILE, EFBIG and ETOOMANYREFS it says which limit is
 * reached. Borrowed until the thread calls it again. */
const char *laz_errno_text(int os_errno);

/* LAZ_EOS; appends ": " and laz_errno_text to the text. */
int laz_error_os(struct laz_error *err, int os_errno, const char *format, ...) LAZ_PRINTF(3, 4);

/* The same for a thread or a process that could not be started: of EAGAIN it says which limits may
 * be reached. */
int laz_error_start(struct laz_error *err, int os_errno, const char *format, ...) LAZ_PRINTF(3, 4);

/* LAZ_ENOMEM, "out of memory". */
int laz_error_nomem(struct laz_error *err);

/* LAZ_EINVAL: a function was called with NULL for `what`, "the session" say. */
int laz_error_null(struct laz_error *err, const char *what);

/* True for transient resource exhaustion (memory, descriptors, processes, disk space). Callers must
 * not fall back to something weaker because of it. */
bool laz_error_is_shortage(const struct laz_error *err);
bool laz_errno_is_shortage(int os_errno);

/* Replaces the code of the error and keeps its text; returns `code`. */
int laz_error_as(struct laz_error *err, int code);

/* Prepends text to the error's text. */
void laz_error_prefix(struct laz_error *err, const char *format, ...) LAZ_PRINTF(2, 3);

#endif
