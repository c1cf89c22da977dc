/* SPDX-License-Identifier: MIT */
/* spans_retry.c - which failures of a collector pass (OTLP 1.x, "OTLP/HTTP Response"). */
#include "telemetry/spans_private.h"

bool otlp_may_retry(const struct otlp_answer *answer, unsigned tries, uint64_t *ms)
{
    /* No answer at all: it is not there yet, or was slow. */
    const bool passes = answer->status == 0 || answer->status == 429 || answer->status == 502 ||
                        answer->status == 503 || answer->status == 504;

    *ms = answer->retry_ms ? answer->retry_ms : 500u << (tries < 6 ? tries : 6);
    if (*ms > SPANS_MOST_MS)
        *ms = SPANS_MOST_MS;
    return passes && tries < SPANS_TRIES;
}
