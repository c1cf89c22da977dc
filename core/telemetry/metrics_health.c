/* SPDX-License-Identifier: MIT */
/* metrics_health.c - whether this process is well: what its parts say, and whether its loops turn.
 * Side: host.  Input trusted: yes.
 *
 * A loop notes the time when it has work to do and zero before it waits, so that whoever asks sees
 * how long it has been at one piece of work, without asking the loop itself. */
#include "telemetry/metrics.h"

#include <inttypes.h>
#include <pthread.h>

static _Atomic(const char *) health_reason;
static pthread_mutex_t health_lock = PTHREAD_MUTEX_INITIALIZER;
static struct laz_pulse *health_pulses;

void laz_health_set(const char *reason)
{
    atomic_store(&health_reason, reason);
}

void laz_health_watch(struct laz_pulse *pulse)
{
    pthread_mutex_lock(&health_lock);
    pulse->next = health_pulses;
    health_pulses = pulse;
    pthread_mutex_unlock(&health_lock);
}

void laz_health_forget(struct laz_pulse *pulse)
{
    struct laz_pulse **at = &health_pulses;

    pthread_mutex_lock(&health_lock);
    while (*at && *at != pulse)
        at = &(*at)->next;
    if (*at)
        *at = pulse->next;
    pthread_mutex_unlock(&health_lock);
}

bool laz_health_write(struct laz_buf *text, uint64_t now_us)
{
    const char *reason = atomic_load(&health_reason);
    uint64_t longest_us = 0;

    pthread_mutex_lock(&health_lock);
    for (struct laz_pulse *pulse = health_pulses; pulse; pulse = pulse->next) {
        const uint64_t since_us = atomic_load_explicit(&pulse->since_us, memory_order_relaxed);
        if (since_us && now_us > since_us && now_us - since_us > longest_us)
            longest_us = now_us - since_us;
    }
    pthread_mutex_unlock(&health_lock);
    if (reason)
        laz_buf_printf(text, "%s\n", reason);
    else if (longest_us > LAZ_HEALTH_STALL_US)
        laz_buf_printf(text, "an engine has work, and has not turned for %" PRIu64 " s\n",
                       longest_us / 1000000);
    else
        laz_buf_puts(text, "ok\n");
    return !reason && longest_us <= LAZ_HEALTH_STALL_US;
}
