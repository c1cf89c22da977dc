/* SPDX-License-Identifier: MIT */
/* error.c - filling a struct laz_error.
 *
 * The text is always one line: control bytes become spaces, so that an error can be logged and
 * printed anywhere.  A text that is too long is cut after a whole character. */
#include "base/error.h"

#include "base/utf8.h"

#include <errno.h>
#include <lazaret/lazaret.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static LAZ_PRINTF(4, 0) void error_fill(struct laz_error *err, int code, int os_errno,
                                        const char *format, va_list args)
{
    if (!err)
        return;
    err->code = code;
    err->os_errno = os_errno;
    vsnprintf(err->text, sizeof err->text, format, args);
    laz_utf8_clean(err->text);
}

int laz_error_set(struct laz_error *err, int code, int os_errno, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_fill(err, code, os_errno, format, args);
    va_end(args);
    return code;
}

const char *laz_errno_text(int os_errno)
{
    if (os_errno == EMFILE)
        return "Too many open files: this process has reached its RLIMIT_NOFILE (ulimit -n)";
    if (os_errno == EFBIG)
        return "File too large: for this process (RLIMIT_FSIZE, ulimit -f), or for its file system";
#ifdef ETOOMANYREFS
    if (os_errno == ETOOMANYREFS) /* unix(7) */
        return "Too many descriptors on their way: the user has reached RLIMIT_NOFILE (ulimit -n)";
#endif
    return strerror(os_errno);
}

static LAZ_PRINTF(4, 0) int error_os(struct laz_error *err, int os_errno, const char *text,
                                     const char *format, va_list args)
{
    if (!err)
        return LAZ_EOS;
    error_fill(err, LAZ_EOS, os_errno, format, args);
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", text);
    laz_utf8_clean(err->text);
    return LAZ_EOS;
}

int laz_error_os(struct laz_error *err, int os_errno, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = error_os(err, os_errno, laz_errno_text(os_errno), format, args);
    va_end(args);
    return rc;
}

int laz_error_start(struct laz_error *err, int os_errno, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = error_os(err, os_errno,
                      os_errno == EAGAIN
                          ? "there are as many processes and threads as there may be, of this user "
                            "(RLIMIT_NPROC, ulimit -u) or in its control group (pids.max)"
                          : laz_errno_text(os_errno),
                      format, args);
    va_end(args);
    return rc;
}

int laz_error_nomem(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ENOMEM, 0, "out of memory");
}

int laz_error_null(struct laz_error *err, const char *what)
{
    return laz_error_set(err, LAZ_EINVAL, 0, "%s is NULL", what);
}

const char *laz_error_name(int code)
{
    static const char *const names[] = {
        "0",
        "LAZ_EINVAL",
        "LAZ_ENOMEM",
        "LAZ_EOS",
        "LAZ_ECONFIG",
        "LAZ_EPLUGIN",
        "LAZ_ESETUP",
        "LAZ_EBUSY",
        "LAZ_ECLOSED",
        "LAZ_EPROTO",
        "LAZ_ETOOBIG",
        "LAZ_ENOENT",
        "LAZ_EREFUSED",
        "LAZ_ETIMEOUT",
        "LAZ_EPARSE",
        "LAZ_ECANCELLED",
    };

    return code <= 0 && code > -(int)(sizeof names / sizeof *names) ? names[-code]
                                                                    : "unknown error";
}

bool laz_errno_is_shortage(int os_errno)
{
    static const int shortages[] = {
        ENOMEM,       EMFILE, ENFILE, EAGAIN, ENOSPC, EFBIG, ENOBUFS,
#ifdef EDQUOT
        EDQUOT,
#endif
#ifdef ETOOMANYREFS /* descriptors in flight, unix(7) */
        ETOOMANYREFS,
#endif
    };

    for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++)
        if (os_errno == shortages[i])
            return true;
    return false;
}

bool laz_error_is_shortage(const struct laz_error *err)
{
    return err->code == LAZ_ENOMEM || laz_errno_is_shortage(err->os_errno);
}

int laz_error_as(struct laz_error *err, int code)
{
    if (err)
        err->code = code;
    return code;
}

void laz_error_prefix(struct laz_error *err, const char *format, ...)
{
    char before[LAZ_ERROR_TEXT_SIZE];
    char after[LAZ_ERROR_TEXT_SIZE];
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    vsnprintf(before, sizeof before, format, args);
    va_end(args);
    memcpy(after, err->text, sizeof after);
    size_t used = strlen(before);
    memcpy(err->text, before, used);
    snprintf(err->text + used, sizeof err->text - used, "%s", after);
    laz_utf8_clean(err->text);
}
