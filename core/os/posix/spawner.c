/* SPDX-License-Identifier: MIT */
/* spawner.c - the spawner: one thread that makes all children of an engine.  System: POSIX.
 *
 * Callers add a request to a list and wait for the answer; the thread serves them in turn.  All
 * signals are blocked in it, so that no handler of the application ever runs there.  Between its
 * creation and its program a child may block: a file system does not respond, or it was stopped.
 * Then the thread is blocked with it (vfork(2)), and the caller, which is not, kills it.
 *
 * The warden takes as long to start as all that the host does for the first box, so the thread can
 * be told before (laz_spawner_expect). Nobody waits for that, so whoever waits for the thread next
 * looks whether it takes too long. */
#include "os/spawner.h"

#include "base/clock.h"
#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/launcher.h"
#include "os/pidfd.h"
#include "os/posix/child.h"
#include "os/posix/descriptors.h"
#include "os/thread.h"
#include "os/warden.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPAWNER_MS      10000  /* the least time that a child gets until its program runs */
#define SPAWNER_LOOK_US 500000 /* between two looks at whether there is one */

struct spawner_request {
    const struct laz_spawn *spawn;
    struct laz_process *process;
    struct laz_error *err;
    int rc;
    bool done, killed;
    struct spawner_request *next;
};

struct laz_spawner {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wanted; /* there is a request, or the end */
    pthread_cond_t served; /* a request is done */
    struct spawner_request *first, **last;
    bool ending;
    bool expected, expecting; /* a warden will be needed; the thread has yet to see to it */
    struct laz_process early; /* starts that warden, */
    uint64_t early_until_us;  /* within this time; 0: it is not being started */
    struct laz_warden warden; /* changed by the thread only, which reads it without the lock */
};

static uint64_t spawner_ms(const struct laz_spawn *spawn)
{
    return spawn->start_ms > SPAWNER_MS ? spawn->start_ms : SPAWNER_MS;
}

/* The lock is free. */
static int spawner_start_warden(struct laz_spawner *spawner, uint64_t ms,
                                struct laz_process *process, struct laz_error *err)
{
    struct laz_warden started = {.program = spawner->warden.program, .fd = -1};
    int rc = laz_warden_start(&started, ms, process, err);

    pthread_mutex_lock(&spawner->mutex);
    laz_os_close(&spawner->warden.fd); /* of one that is gone, or cannot be asked */
    spawner->warden.fd = started.fd;
    pthread_mutex_unlock(&spawner->mutex);
    return rc;
}

/* Starts the warden before a child needs it. The lock is held, and free meanwhile. */
static void spawner_early(struct laz_spawner *spawner)
{
    struct laz_error unsaid = {0};

    spawner->expecting = false;
    spawner->early_until_us = laz_clock_us() + SPAWNER_MS * 1000;
    pthread_mutex_unlock(&spawner->mutex);
    if (!laz_warden_is_up(&spawner->warden))
        (void)spawner_start_warden(spawner, SPAWNER_MS, &spawner->early, &unsaid);
    pthread_mutex_lock(&spawner->mutex);
    laz_process_close(&spawner->early); /* no other thread signals it now */
    spawner->early_until_us = 0;
    pthread_cond_broadcast(&spawner->served);
}

/* The lock is held. */
static void spawner_end_late(struct laz_spawner *spawner)
{
    volatile const int *pidfd = &spawner->early.pidfd; /* written by the kernel, as it is made */

    if (*pidfd >= 0 && laz_clock_us() >= spawner->early_until_us)
        laz_os_pidfd_kill(*pidfd);
}

/* A warden that was killed is replaced; the groups that it had keep their death signals. */
static void spawner_serve(struct laz_spawner *spawner, struct spawner_request *request)
{
    const struct laz_spawn *spawn = request->spawn;
    struct laz_process *process = request->process;

    if (spawn->group && spawn->death_signal && !laz_warden_is_up(&spawner->warden)) {
        request->rc = spawner_start_warden(spawner, spawner_ms(spawn), process, request->err);
        pthread_mutex_lock(&spawner->mutex); /* no other thread signals it now */
        laz_process_close(process);
        bool killed = request->killed;
        pthread_mutex_unlock(&spawner->mutex);
        if (request->rc || killed)
            return;
    }
    request->rc = spawn->cgroup && spawn->cgroup->launcher >= 0
                      ? laz_launcher_child(spawn->cgroup->launcher, spawn, spawner->warden.fd,
                                           spawner_ms(spawn), process, request->err)
                      : laz_os_child_start(spawn, spawner->warden.fd, process, request->err);
}

static void *spawner_main(void *data)
{
    struct laz_spawner *spawner = data;

    pthread_mutex_lock(&spawner->mutex);
    for (;;) {
        struct spawner_request *request = spawner->first;
        if (!request) {
            if (spawner->ending)
                break;
            if (spawner->expecting)
                spawner_early(spawner);
            else
                pthread_cond_wait(&spawner->wanted, &spawner->mutex);
            continue;
        }
        spawner->first = request->next;
        if (!spawner->first)
            spawner->last = &spawner->first;
        pthread_mutex_unlock(&spawner->mutex);
        spawner_serve(spawner, request);
        pthread_mutex_lock(&spawner->mutex);
        request->done = true;
        if (request->rc) /* under the lock, so that no other thread signals it now */
            laz_os_close(&request->process->pidfd);
        pthread_cond_broadcast(&spawner->served);
    }
    pthread_mutex_unlock(&spawner->mutex);
    laz_warden_end(&spawner->warden);
    return NULL;
}

/* Without it nothing here works: so it is said once, and not of each thing that does not work. */
static int spawner_check_system(struct laz_error *err)
{
    int self = laz_os_pidfd(getpid());
    const int failed = self < 0 ? errno : 0;

    laz_os_close(&self);
    if (failed == ENOSYS)
        return laz_error_set(err, LAZ_EOS, ENOSYS,
                             "pidfd_open(2) is refused here, by which lazaret follows and ends the "
                             "processes of a box: Linux has it since 5.3, valgrind 3.19 lacks it "
                             "(use the address sanitizer instead)");
    return 0;
}

int laz_spawner_new(struct laz_spawner **spawner, struct laz_error *err)
{
    int rc = spawner_check_system(err);
    struct laz_spawner *made = rc ? NULL : calloc(1, sizeof *made);

    if (rc)
        return rc;
    if (!made)
        return laz_error_nomem(err);
    made->last = &made->first;
    made->warden.fd = -1;
    made->early = LAZ_PROCESS_INIT;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wanted, NULL);
    laz_os_condition_init(&made->served);
    int failed = laz_os_thread(&made->thread, 0, spawner_main, made);
    if (failed) {
        pthread_cond_destroy(&made->served);
        pthread_cond_destroy(&made->wanted);
        pthread_mutex_destroy(&made->mutex);
        free(made);
        return laz_error_start(err, failed, "cannot create the thread that starts processes");
    }
    *spawner = made;
    return 0;
}

int laz_spawner_guard(struct laz_spawner *spawner, const char *agent, struct laz_error *err)
{
    spawner->warden.program = strdup(agent);
    return spawner->warden.program ? 0 : laz_error_nomem(err);
}

void laz_spawner_expect(struct laz_spawner *spawner)
{
    pthread_mutex_lock(&spawner->mutex);
    if (!spawner->expected) { /* the first time: later ones would wake the thread for nothing */
        spawner->expected = spawner->expecting = true;
        pthread_cond_signal(&spawner->wanted);
    }
    pthread_mutex_unlock(&spawner->mutex);
}

void laz_spawner_include(struct laz_spawner *spawner, const struct laz_process *leader)
{
    pthread_mutex_lock(&spawner->mutex);
    laz_warden_include(&spawner->warden, leader);
    pthread_mutex_unlock(&spawner->mutex);
}

void laz_spawner_free(struct laz_spawner *spawner)
{
    if (!spawner)
        return;
    pthread_mutex_lock(&spawner->mutex);
    spawner->ending = true;
    pthread_cond_signal(&spawner->wanted);
    while (spawner->early_until_us) {
        (void)laz_os_condition_wait(&spawner->served, &spawner->mutex,
                                    laz_clock_us() + SPAWNER_LOOK_US);
        spawner_end_late(spawner);
    }
    pthread_mutex_unlock(&spawner->mutex);
    pthread_join(spawner->thread, NULL);
    pthread_cond_destroy(&spawner->served);
    pthread_cond_destroy(&spawner->wanted);
    pthread_mutex_destroy(&spawner->mutex);
    free(spawner);
}

/* Waits for its turn and its end. The lock is held. */
static void spawner_await(struct laz_spawner *spawner, struct spawner_request *request)
{
    volatile const int *pidfd = &request->process->pidfd; /* written by the kernel, as it is made */
    uint64_t until_us = 0;

    while (!request->done) {
        bool waits = *pidfd >= 0;
        if (waits && !until_us)
            until_us = laz_clock_us() + spawner_ms(request->spawn) * 1000;
        bool over = !laz_os_condition_wait(&spawner->served, &spawner->mutex,
                                           waits ? until_us : laz_clock_us() + SPAWNER_LOOK_US);
        if (!waits)
            spawner_end_late(spawner);
        if (over && waits && !request->done && laz_clock_us() >= until_us) {
            laz_os_pidfd_kill(*pidfd);
            request->killed = true;
            until_us = 0;
        }
    }
}

/* The kernel has chosen the number of the descriptor, which may be 0, 1 or 2. It is moved here,
 * where no other thread signals the process. */
static int spawner_lift(const struct laz_spawn *spawn, struct laz_process *process,
                        struct laz_error *err)
{
    process->pidfd = laz_posix_above(process->pidfd);
    if (process->pidfd >= 0)
        return 0;
    int rc = laz_error_os(err, errno, "%s was started, but cannot be followed", spawn->argv[0]);
    (void)kill(spawn->group ? -process->pid : process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc;
}

/* It was killed before its program ran, and nothing of it is left. */
static int spawner_late(const struct laz_spawn *spawn, struct laz_process *process,
                        struct laz_error *err)
{
    (void)laz_process_wait(process, SPAWNER_MS, NULL);
    laz_process_close(process);
    return laz_error_set(
        err, LAZ_ETIMEOUT, 0,
        "%s was not started within %g seconds, and was ended: its file system does "
        "not answer, or the process was stopped",
        spawn->argv[0], (double)spawner_ms(spawn) / 1000.0);
}

int laz_spawner_spawn(struct laz_spawner *spawner, const struct laz_spawn *spawn,
                      struct laz_process *process, struct laz_error *err)
{
    struct spawner_request request = {.spawn = spawn, .process = process, .err = err};

    if (!spawn->argv || !spawn->argv[0] || spawn->argv[0][0] != '/')
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "a program is started by its absolute path, not "
                             "as \"%s\"",
                             spawn->argv && spawn->argv[0] ? spawn->argv[0] : "");
    if (spawn->job)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: this system has no job objects",
                             spawn->argv[0]);
    *process = LAZ_PROCESS_INIT;
    pthread_mutex_lock(&spawner->mutex);
    *spawner->last = &request;
    spawner->last = &request.next;
    pthread_cond_signal(&spawner->wanted);
    spawner_await(spawner, &request);
    pthread_mutex_unlock(&spawner->mutex);
    if (request.rc)
        return request.rc;
    return request.killed ? spawner_late(spawn, process, err) : spawner_lift(spawn, process, err);
}
