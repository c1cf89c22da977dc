/* SPDX-License-Identifier: MIT */
/* counters.c - which counters are open.  System: Linux.
 * Side: host.  Input trusted: yes (files of the kernel). */
#include "os/linux/counters.h"

#include "os/descriptors.h"
#include "os/linux/proc.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

struct counter_slot {
    uint64_t number; /* of the counter that has it; 0: free */
    int fd;
};

static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct counter_slot counters_slots[COUNTERS_MOST];
static size_t counters_open;     /* slots that are used; 0: none was opened yet */
static uint64_t counters_number; /* the last one that was given out */

static size_t counters_allowed(void)
{
    struct rlimit limit = {0, 0};

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t eighth = limit.rlim_cur / 8;
    return eighth < COUNTERS_LEAST  ? COUNTERS_LEAST
           : eighth < COUNTERS_MOST ? (size_t)eighth
                                    : COUNTERS_MOST;
}

/* The slots are used in turn, so a number says where its counter was. */
static struct counter_slot *counter_slot(uint64_t number)
{
    return &counters_slots[number % counters_open];
}

static bool counter_is_open(const struct counter *counter)
{
    return counter->number && counter_slot(counter->number)->number == counter->number;
}

static void counter_free(struct counter_slot *slot)
{
    if (slot->number)
        laz_os_close(&slot->fd);
    slot->number = 0;
}

static void counters_free(void)
{
    for (size_t i = 0; i < counters_open; i++)
        counter_free(&counters_slots[i]);
}

static int counter_open(const char *directory, const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
        return fd;
    counters_free();
    return laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
}

bool counter_read(struct counter *counter, const char *directory, const char *file, char *text,
                  size_t size)
{
    int fd;

    pthread_mutex_lock(&counters_lock);
    if (counter_is_open(counter)) {
        fd = counter_slot(counter->number)->fd;
    } else if ((fd = counter_open(directory, file)) >= 0) {
        counters_open = counters_open ? counters_open : counters_allowed();
        counter->number = ++counters_number;
        counter_free(counter_slot(counter->number));
        *counter_slot(counter->number) = (struct counter_slot){counter->number, fd};
    }
    bool read = proc_text(fd, text, size);
    pthread_mutex_unlock(&counters_lock);
    return read;
}

void counter_close(struct counter *counter)
{
    pthread_mutex_lock(&counters_lock);
    if (counter_is_open(counter))
        counter_free(counter_slot(counter->number));
    counter->number = 0;
    pthread_mutex_unlock(&counters_lock);
}

void counters_give_up(void)
{
    pthread_mutex_lock(&counters_lock);
    counters_free();
    pthread_mutex_unlock(&counters_lock);
}
