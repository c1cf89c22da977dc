/* SPDX-License-Identifier: MIT */
/* workers.h - a pool of threads for calls that may block: callbacks of the application, blocking
 * providers.
 *
 * A thread is started when more work is queued than threads are idle, up to a maximum; all end with
 * the pool, but for those whose work does not return.  They block every signal, so that the
 * application's signal handlers never run on them.
 */
#ifndef LAZ_LOOP_WORKERS_H
#define LAZ_LOOP_WORKERS_H

#include "base/error.h"

struct laz_workers;

/* One piece of work. The caller owns it and must not touch it until `run` is called, which happens
 * in a thread of the pool. */
struct laz_work {
    struct laz_work *next;
    void (*run)(struct laz_work *work);
};

/* Makes a pool of at most `most` threads; none is started yet. */
int laz_workers_new(unsigned most, struct laz_workers **workers, struct laz_error *err);
/* Has a first thread started now: later there may be none to be had, and its work would not be
 * done. LAZ_EOS: it could not be. */
int laz_workers_start(struct laz_workers *workers, struct laz_error *err);
/* Any thread: queues the work. LAZ_EOS: no thread could be started, the work was not queued. */
int laz_workers_add(struct laz_workers *workers, struct laz_work *work, struct laz_error *err);
/* Is this one of its threads? Any thread; NULL: no. */
bool laz_workers_have_this(const struct laz_workers *workers);
/* Takes work that was not begun out of the queue. False: it was begun. */
bool laz_workers_withdraw(struct laz_workers *workers, struct laz_work *work);
#define LAZ_WORKERS_FOREVER UINT64_MAX

/* Waits until all queued work is done, for at most `ms` milliseconds, and frees the pool. Returns
 * the number of threads that still work then: they end by themselves once their work returns, and
 * the last one frees the pool. Work that was not begun is dropped. NULL: 0. */
unsigned laz_workers_end(struct laz_workers *workers, uint64_t ms);
/* The same without a bound. */
void laz_workers_free(struct laz_workers *workers);

#endif
