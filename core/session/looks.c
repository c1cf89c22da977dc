/* SPDX-License-Identifier: MIT */
/* looks.c - looks at the processes of boxes, on threads of their own.
 * Side: host.  Input trusted: no (the processes decide what there is to see, and how much).
 *
 * A session has one look out at a time.  So the threads that hostile sessions hold, each until its
 * look is given up, delay the looks of others, but never the loop; and there are many more threads
 * than an ordinary engine ever needs, which is one: they are started when all others are busy. */
#include "session/looks.h"

#include "base/container.h"
#include "session/shared.h"

#include <pthread.h>
#include <stdlib.h>

#define LOOKS_THREADS 64u
#define LOOKS_END_MS  1000u

struct laz_looks {
    struct laz_workers *threads;
    void (*hold)(void *user, struct laz_tree_look *look);
    void *hold_user;
    struct laz_post post;  /* for those that are back */
    pthread_mutex_t lock;  /* guards all below, and is_back and is_dropped of a look */
    struct laz_loop *loop; /* NULL: it is freed */
    bool is_posted;
    unsigned out; /* looks that were sent, and are neither back nor freed */
    struct laz_tree_look *first, **last;
};

/* The next one that is back, which from now on is the caller's; NULL: none. */
static struct laz_tree_look *looks_next(struct laz_looks *looks)
{
    pthread_mutex_lock(&looks->lock);
    struct laz_tree_look *look = looks->first;
    looks->is_posted = look != NULL;
    if (look)
        looks->first = look->next;
    if (!looks->first)
        looks->last = &looks->first;
    pthread_mutex_unlock(&looks->lock);
    return look;
}

static void looks_are_back(struct laz_post *post)
{
    struct laz_looks *looks = LAZ_CONTAINER(post, struct laz_looks, post);
    struct laz_tree_look *look;

    while ((look = looks_next(looks)))
        look->back(look->user);
}

int laz_looks_new(struct laz_loop *loop, struct laz_looks **out, struct laz_error *err)
{
    struct laz_looks *looks = calloc(1, sizeof *looks);

    if (!looks)
        return laz_error_nomem(err);
    looks->loop = loop;
    looks->last = &looks->first;
    looks->post.run = looks_are_back;
    pthread_mutex_init(&looks->lock, NULL);
    int rc = laz_workers_new(LOOKS_THREADS, &looks->threads, err);
    if (!rc)
        rc = laz_workers_start(looks->threads, err);
    if (rc)
        laz_looks_free(looks);
    else
        *out = looks;
    return rc;
}

static void looks_destroy(struct laz_looks *looks)
{
    pthread_mutex_destroy(&looks->lock);
    free(looks);
}

void laz_looks_free(struct laz_looks *looks)
{
    if (!looks)
        return;
    (void)laz_workers_end(looks->threads, LOOKS_END_MS);
    pthread_mutex_lock(&looks->lock);
    struct laz_loop *loop = looks->loop;
    const bool is_posted = looks->is_posted, is_last = !looks->out;
    looks->loop = NULL;
    pthread_mutex_unlock(&looks->lock);
    if (is_posted)
        laz_loop_flush(loop);
    if (is_last)
        looks_destroy(looks);
}

void laz_looks_hold(struct laz_looks *looks, void (*hold)(void *user, struct laz_tree_look *look),
                    void *user)
{
    looks->hold = hold;
    looks->hold_user = user;
}

bool laz_looks_are_out(struct laz_looks *looks)
{
    if (!looks || looks->hold)
        return false;
    pthread_mutex_lock(&looks->lock);
    const bool are_out = looks->out > 0;
    pthread_mutex_unlock(&looks->lock);
    return are_out;
}

/* ---- a look --------------------------------------------------------------------------------- */

void laz_tree_look_free(struct laz_tree_look *look)
{
    if (look)
        laz_os_tree_forget(&look->tree);
    free(look);
}

/* The thread is done with it. */
static void look_come_back(struct laz_tree_look *look)
{
    struct laz_looks *looks = look->looks;

    pthread_mutex_lock(&looks->lock);
    const bool is_dropped = look->is_dropped;
    look->is_back = true;
    look->next = NULL;
    looks->out--;
    if (!is_dropped) {
        *looks->last = look;
        looks->last = &look->next;
        if (!looks->is_posted) /* there is a loop as long as anybody waits */
            laz_loop_post(looks->loop, &looks->post);
        looks->is_posted = true;
    }
    const bool is_last = !looks->loop && !looks->out;
    pthread_mutex_unlock(&looks->lock);
    if (is_dropped)
        laz_tree_look_free(look);
    if (is_last)
        looks_destroy(looks);
}

static void look_run(struct laz_work *work)
{
    struct laz_tree_look *look = LAZ_CONTAINER(work, struct laz_tree_look, work);

    atomic_store(&look->has_begun, true);
    if (look->looks->hold)
        look->looks->hold(look->looks->hold_user, look);
    const uint64_t began_us = laz_clock_thread_us();
    look->tree.until_us = began_us + look->most_us;
    look->found = look->only_locks
                      ? laz_os_tree_find_locks(&look->tree)
                      : laz_os_tree_usage(&look->tree, look->enough_bytes, &look->usage);
    look->busy_us = look->found && look->usage.unwaited ? laz_os_busy_us() : 0;
    look->took_us = laz_clock_thread_us() - began_us;
    look_come_back(look);
}

bool laz_tree_look_send(struct laz_looks *looks, struct laz_tree_look *look)
{
    look->looks = looks;
    look->work.run = look_run;
    pthread_mutex_lock(&looks->lock);
    looks->out++;
    pthread_mutex_unlock(&looks->lock);
    if (laz_workers_add(looks->threads, &look->work, NULL) == 0)
        return true;
    pthread_mutex_lock(&looks->lock);
    looks->out--;
    pthread_mutex_unlock(&looks->lock);
    return false;
}

unsigned laz_tree_look_steps(const struct laz_tree_look *look)
{
    return atomic_load(&look->has_begun) ? atomic_load(&look->tree.steps) + 1 : 0;
}

/* Takes it out of those that are back. The caller holds the lock. */
static bool look_unlist(struct laz_tree_look *look)
{
    struct laz_looks *looks = look->looks;
    struct laz_tree_look **at;

    for (at = &looks->first; *at && *at != look; at = &(*at)->next)
        ;
    if (!*at)
        return false;
    *at = look->next;
    if (!*at)
        looks->last = at;
    return true;
}

bool laz_tree_look_take(struct laz_tree_look *look)
{
    pthread_mutex_lock(&look->looks->lock);
    const bool taken = look_unlist(look);
    pthread_mutex_unlock(&look->looks->lock);
    return taken;
}

void laz_tree_look_drop(struct laz_tree_look *look)
{
    if (!look)
        return;
    struct laz_looks *looks = look->looks;
    const bool is_idle = laz_workers_withdraw(looks->threads, &look->work);
    pthread_mutex_lock(&looks->lock);
    if (is_idle)
        looks->out--;
    else
        (void)look_unlist(look);
    look->is_dropped = true;
    atomic_store(&look->tree.is_given_up, true);
    const bool is_ours = is_idle || look->is_back; /* else its thread's, from the unlock on */
    pthread_mutex_unlock(&looks->lock);
    if (is_ours)
        laz_tree_look_free(look);
}
