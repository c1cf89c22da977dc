/* SPDX-License-Identifier: MIT */
/* found.c - searches of tools from any thread: a tool that finds tools for the code runs on a
 * worker thread, and several at once.
 *
 * Only the thread that holds the loop changes the tools of an engine, so it alone reads them
 * without the lock.  What a search has found is given to the caller as a text that nobody frees, so
 * each thread has a room of its own for it, which it keeps until its next search of the same
 * object.  The rooms go with the object: a thread that ends leaves its own to the next one that the
 * system gives the same id. */
#include "tool/tool_private.h"

#include <pthread.h>
#include <stdlib.h>

struct found_room {
    struct found_room *next;
    const void *owner;
    pthread_t thread;
    struct laz_buf text;
};

struct laz_found {
    pthread_rwlock_t tools;
    pthread_mutex_t lock; /* of the list; the text of a room is its thread's */
    struct found_room *rooms;
};

int laz_found_new(struct laz_found **out, struct laz_error *err)
{
    struct laz_found *found = calloc(1, sizeof *found);

    if (!found)
        return laz_error_nomem(err);
    pthread_rwlock_init(&found->tools, NULL);
    pthread_mutex_init(&found->lock, NULL);
    *out = found;
    return 0;
}

void laz_found_forget(struct laz_found *found, const void *owner)
{
    struct found_room **at = &found->rooms;

    pthread_mutex_lock(&found->lock);
    while (*at) {
        struct found_room *room = *at;
        if (owner && room->owner != owner) {
            at = &room->next;
            continue;
        }
        *at = room->next;
        laz_buf_fini(&room->text);
        free(room);
    }
    pthread_mutex_unlock(&found->lock);
}

void laz_found_free(struct laz_found *found)
{
    if (!found)
        return;
    laz_found_forget(found, NULL);
    pthread_mutex_destroy(&found->lock);
    pthread_rwlock_destroy(&found->tools);
    free(found);
}

struct laz_buf *laz_found_room(struct laz_found *found, const void *owner)
{
    pthread_mutex_lock(&found->lock);
    struct found_room *room = found->rooms;
    while (room && (room->owner != owner || !pthread_equal(room->thread, pthread_self())))
        room = room->next;
    if (!room && (room = calloc(1, sizeof *room))) {
        *room = (struct found_room){found->rooms, owner, pthread_self(), LAZ_BUF_INIT};
        found->rooms = room;
    }
    pthread_mutex_unlock(&found->lock);
    if (room)
        laz_buf_clear(&room->text);
    return room ? &room->text : NULL;
}

void laz_found_read(struct laz_found *found)
{
    pthread_rwlock_rdlock(&found->tools);
}

void laz_found_change(struct laz_found *found)
{
    pthread_rwlock_wrlock(&found->tools);
}

void laz_found_leave(struct laz_found *found)
{
    pthread_rwlock_unlock(&found->tools);
}
