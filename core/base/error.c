/* SPDX-License-Identifier: MIT */
/* error.c - filling a struct laz_error.
 *
 * The text is one line whatever is put into it: control bytes become spaces, so that an error can
 * be logged and printed anywhere.  One that is too long ends after a whole character. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_flatten(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = ' ';
    size_t end = strlen(text);
    if (end + 1 < LAZ_ERROR_TEXT_SIZE)
        return;
    size_t lead = end;
    while (lead && lead + 4 > end && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
        lead--;
    unsigned char first = lead ? (unsigned char)text[lead - 1] : 0;
    size_t want = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    if (end - lead < want)
        text[lead - 1] = '\0';
}

static void error_fill(struct laz_error *err, int code, int os_errno, const char *format,
                       va_list args)
{
    if (!err)
        return;
    err->code = code;
    err->os_errno = os_errno;
    vsnprintf(err->text, sizeof err->text, format, args);
    error_flatten(err->text);
}

int laz_error_set(struct laz_error *err, int code, int os_errno, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_fill(err, code, os_errno, format, args);
    va_end(args);
    return code;
}

int laz_error_os(struct laz_error *err, int os_errno, const char *format, ...)
{
    va_list args;

    if (!err)
        return LAZ_EOS;
    va_start(args, format);
    error_fill(err, LAZ_EOS, os_errno, format, args);
    va_end(args);
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(os_errno));
    error_flatten(err->text);
    return LAZ_EOS;
}

int laz_error_nomem(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ENOMEM, 0, "out of memory");
}

bool laz_error_is_shortage(const struct laz_error *err)
{
    static const int shortages[] = {ENOMEM, EMFILE, ENFILE, EAGAIN, ENOSPC, EDQUOT};

    for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++)
        if (err->os_errno == shortages[i])
            return true;
    return err->code == LAZ_ENOMEM;
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
    error_flatten(err->text);
}
