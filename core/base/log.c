/* SPDX-License-Identifier: MIT */
/* log.c - messages for the person who runs lazaret. */
#include "base/log.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

void laz_log(const struct laz_log *log, uint32_t level, const char *format, ...)
{
    char text[2048];
    va_list args;

    if (!log || !log->sink || level > log->level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    laz_utf8_clean(text);
    log->sink(log->user, level, text);
}
