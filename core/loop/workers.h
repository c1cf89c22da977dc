/* SPDX-License-Identifier: MIT */
/* workers.h - threads for what may block: callbacks of the application, blocking providers.
 *
 * Threads are made when there is more work than idle threads, up to a number, and end with the
 * pool.  They block every signal, so that an application's handlers never run on them. */
#ifndef LAZ_LOOP_WORKERS_H
#define LAZ_LOOP_WORKERS_H

#include "base/error.h"

struct laz_workers;

/* One piece of work; owned by the caller until `run` is called, and again from then on. */
struct laz_work {
    struct laz_work *next;
    void (*run)(struct laz_work *work);
};

int laz_workers_new(unsigned most, struct laz_workers **workers, struct laz_error *err);
/* Any thread. LAZ_EOS when not one thread could be made: the work was not taken. */
int laz_workers_add(struct laz_workers *workers, struct laz_work *work, struct laz_error *err);
/* Waits until all work was done and the threads have ended. */
void laz_workers_free(struct laz_workers *workers);

#endif
