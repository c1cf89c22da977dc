/* SPDX-License-Identifier: MIT */
/* workers.c - a pool of threads for calls that may block. */
#include "loop/workers.h"

#include "base/clock.h"
#include "os/thread.h"

#include <pthread.h>
#include <stdlib.h>

#define WORKER_STACK ((size_t)1 << 20)

struct laz_workers {
    pthread_mutex_t lock;
    pthread_cond_t more; /* there is work, or the end */
    pthread_cond_t over; /* a thread has ended */
    struct laz_work *first, **last;
    unsigned most, threads, idle, waiting; /* waiting: pieces of work in the queue */
    unsigned ended;
    bool ending;
    bool is_left;   /* nobody waits for the threads: the last one frees it */
    pthread_t *ids; /* of `threads` threads */
};

static _Thread_local const struct laz_workers *workers_mine; /* of which this is a thread */

static void workers_destroy(struct laz_workers *workers)
{
    pthread_cond_destroy(&workers->over);
    pthread_cond_destroy(&workers->more);
    pthread_mutex_destroy(&workers->lock);
    free(workers->ids);
    free(workers);
}

static void *workers_thread(void *user)
{
    struct laz_workers *workers = user;

    workers_mine = workers;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (!workers->first && !workers->ending) {
            workers->idle++;
            pthread_cond_wait(&workers->more, &workers->lock);
            workers->idle--;
        }
        struct laz_work *work = workers->first;
        if (!work)
            break;
        workers->first = work->next;
        if (!workers->first)
            workers->last = &workers->first;
        workers->waiting--;
        pthread_mutex_unlock(&workers->lock);
        work->run(work);
        pthread_mutex_lock(&workers->lock);
    }
    workers->ended++;
    pthread_cond_signal(&workers->over);
    const bool is_last = workers->is_left && workers->ended == workers->threads;
    pthread_mutex_unlock(&workers->lock);
    if (is_last)
        workers_destroy(workers);
    return NULL;
}

int laz_workers_new(unsigned most, struct laz_workers **out, struct laz_error *err)
{
    struct laz_workers *workers = calloc(1, sizeof *workers);

    if (workers)
        workers->ids = calloc(most, sizeof *workers->ids);
    if (!workers || !workers->ids) {
        free(workers);
        return laz_error_nomem(err);
    }
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->more, NULL);
    laz_os_condition_init(&workers->over);
    workers->last = &workers->first;
    workers->most = most;
    *out = workers;
    return 0;
}

bool laz_workers_have_this(const struct laz_workers *workers)
{
    return workers && workers_mine == workers;
}

/* Starts one more thread. The caller holds the lock. */
static int workers_grow(struct laz_workers *workers)
{
    int rc = laz_os_thread(&workers->ids[workers->threads], WORKER_STACK, workers_thread, workers);
    if (!rc)
        workers->threads++;
    return rc;
}

int laz_workers_start(struct laz_workers *workers, struct laz_error *err)
{
    pthread_mutex_lock(&workers->lock);
    int rc = workers->threads ? 0 : workers_grow(workers);
    pthread_mutex_unlock(&workers->lock);
    return rc ? laz_error_os(err, rc, "cannot start a thread") : 0;
}

int laz_workers_add(struct laz_workers *workers, struct laz_work *work, struct laz_error *err)
{
    int rc = 0;

    work->next = NULL;
    pthread_mutex_lock(&workers->lock);
    if (workers->idle <= workers->waiting && workers->threads < workers->most)
        rc = workers_grow(workers);
    if (workers->threads) { /* fewer threads than wanted only take longer */
        rc = 0;
        *workers->last = work;
        workers->last = &work->next;
        workers->waiting++;
        pthread_cond_signal(&workers->more);
    }
    pthread_mutex_unlock(&workers->lock);
    return rc ? laz_error_start(err, rc, "cannot start a thread") : 0;
}

bool laz_workers_withdraw(struct laz_workers *workers, struct laz_work *work)
{
    struct laz_work **at;

    pthread_mutex_lock(&workers->lock);
    for (at = &workers->first; *at && *at != work; at = &(*at)->next)
        ;
    const bool found = *at != NULL;
    if (found) {
        *at = work->next;
        if (!*at)
            workers->last = at;
        workers->waiting--;
    }
    pthread_mutex_unlock(&workers->lock);
    return found;
}

/* Waits for the end of all threads, and returns how many have not ended. The caller holds the lock.
 */
static unsigned workers_await(struct laz_workers *workers, uint64_t ms)
{
    const uint64_t now = laz_clock_us();
    const uint64_t until = ms < (UINT64_MAX - now) / 1000 ? now + ms * 1000 : UINT64_MAX;
    bool late = false;

    workers->ending = true;
    pthread_cond_broadcast(&workers->more);
    while (workers->ended < workers->threads && !late)
        if (until == UINT64_MAX)
            pthread_cond_wait(&workers->over, &workers->lock);
        else
            late = !laz_os_condition_wait(&workers->over, &workers->lock, until);
    return workers->threads - workers->ended;
}

unsigned laz_workers_end(struct laz_workers *workers, uint64_t ms)
{
    if (!workers)
        return 0;
    pthread_mutex_lock(&workers->lock);
    const unsigned left = workers_await(workers, ms);
    workers->first = NULL; /* nothing if all have ended */
    workers->last = &workers->first;
    workers->is_left = left > 0;
    for (unsigned i = 0; i < workers->threads && left; i++)
        pthread_detach(workers->ids[i]);
    pthread_mutex_unlock(&workers->lock);
    if (left)
        return left;
    for (unsigned i = 0; i < workers->threads; i++)
        pthread_join(workers->ids[i], NULL);
    workers_destroy(workers);
    return 0;
}

void laz_workers_free(struct laz_workers *workers)
{
    (void)laz_workers_end(workers, LAZ_WORKERS_FOREVER);
}
