/* SPDX-License-Identifier: MIT */
/* log.c - messages for the person who runs lazaret. */
#include "base/log.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local const struct laz_log *log_telling; /* whose sink this thread is in */

bool laz_log_tells(const struct laz_log *log)
{
    return log_telling == log;
}

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
    const struct laz_log *before = log_telling;
    log_telling = log;
    log->sink(log->user, level, text);
    log_telling = before;
}

bool laz_log_may_tell(struct laz_log_limit *limit, uint64_t now_ms, uint64_t *before)
{
    if (!limit->told || now_ms - limit->since_ms >= limit->span_ms) {
        limit->since_ms = now_ms;
        limit->told = 0;
    }
    *before = limit->untold;
    if (limit->told >= limit->most) {
        limit->untold++;
        return false;
    }
    limit->told++;
    limit->untold = 0;
    return true;
}
