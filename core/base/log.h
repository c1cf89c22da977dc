/* SPDX-License-Identifier: MIT */
/* log.h - messages for the person who runs lazaret, passed to a sink.
 *
 * Core never prints: it calls the sink that it was given.  Without a sink messages are discarded.
 */
#ifndef LAZ_BASE_LOG_H
#define LAZ_BASE_LOG_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct laz_log {
    void (*sink)(void *user, uint32_t level, const char *text); /* LAZ_LOG_*; may be NULL */
    void *user;
    uint32_t level; /* messages above this level are discarded */
};

/* Is this thread in the sink of this log? */
bool laz_log_tells(const struct laz_log *log);
void laz_log(const struct laz_log *log, uint32_t level, const char *format, ...) LAZ_PRINTF(3, 4);

/* Messages that others can cause as often as they like: some of them in a span of time, and then
 * the number of those that were left out. Starts zeroed. */
struct laz_log_limit {
    unsigned most;    /* in a span; set by its owner, as the next */
    uint64_t span_ms; /* from the first message on */
    uint64_t since_ms;
    unsigned told;
    uint64_t untold;
};
/* May one more be told now? *before: those that were left out since the last one that was told. */
bool laz_log_may_tell(struct laz_log_limit *limit, uint64_t now_ms, uint64_t *before);

#endif
