/* SPDX-License-Identifier: MIT */
/* py_calls.c - calls of tools under way: of threads that wait for them, and of event loops.
 * Side: box.  Input trusted: no (calls come from any thread of the code, at any time).
 *
 * Any number of threads may have a call open, and any number of loops several.  Whoever waits reads
 * the channel for all, one at a time (`reading`): a thread until its own answer has come, then the
 * next one; a loop when the channel is readable and no thread reads.  For loops that cannot watch
 * the channel (all of them on Windows) a thread waits, as if it had a call of its own.  An answer
 * is copied to the call it belongs to; futures are settled by whoever has the GIL next, on their
 * own loop's thread.
 *
 * `door` guards the state here and is never held while anything blocks or the GIL is taken; `wire`
 * is held while a call is sent.  The main thread may block in the read, because it is not at the
 * end of the code then; other threads wait for the channel first and look whether the execution is
 * still running, so that none of them takes a message that is not theirs. */
#include "py_runtime.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

/* A thread that waits looks this often whether its execution has ended. */
#define CALLS_LOOK_MS 50
#define CALLS_UNREAD  8 /* with more open than these, answers are taken whenever a call is sent */

/* A call that was begun, or is about to be. */
struct py_open {
    struct py_open *before, *after; /* in `threads` or `futures` */
    bool done;
    bool crowded; /* not sent: as many are open as may be */
    int rc;       /* of the answer */
    char *text;   /* the value or the error; NULL: no memory */
    size_t len;
    pthread_cond_t changed; /* of a thread */
    const char *tool;
    PyObject *loop, *future; /* of a loop */
    unsigned long loop_thread;
};

struct py_calls {
    pthread_mutex_t door, wire;
    pthread_cond_t quiet; /* nobody is in next_answer any more */
    pthread_t main;
    bool running;   /* an execution: the host takes calls */
    bool reading;   /* a thread or a loop has the channel */
    bool consuming; /* and is in next_answer */
    bool crowd;     /* loops have been refused calls for want of room */
    unsigned freed; /* since then: calls that have ended, and nobody was told */
    size_t n_open;  /* sent and not answered */
    struct py_open *threads, *futures;
    struct py_open *arrived; /* of loops: answered, to be settled with the GIL */
    struct py_open *server;  /* among the threads: the one that is there for loops */
    bool served;             /* it is, or is about to be */
};

int py_calls_init(struct python_state *state)
{
    struct py_calls *calls = state->calls = calloc(1, sizeof *calls);

    if (!calls)
        return LAZ_ENOMEM;
    pthread_mutex_init(&calls->door, NULL);
    pthread_mutex_init(&calls->wire, NULL);
    pthread_cond_init(&calls->quiet, NULL);
    return 0;
}

/* ---- what is open --------------------------------------------------------------------------- */

static void open_link(struct py_open **list, struct py_open *open)
{
    open->before = NULL;
    open->after = *list;
    if (open->after)
        open->after->before = open;
    *list = open;
}

static void open_unlink(struct py_open **list, struct py_open *open)
{
    *(open->before ? &open->before->after : list) = open->after;
    if (open->after)
        open->after->before = open->before;
}

/* With the GIL. */
static void open_free(struct py_open *open)
{
    Py_XDECREF(open->loop);
    Py_XDECREF(open->future);
    free(open->text);
    free(open);
}

/* The call is over. Its thread leaves by itself, a future waits to be settled. */
static void open_finish(struct py_calls *calls, struct py_open *open, int rc)
{
    open->rc = rc;
    open->done = true;
    calls->freed += calls->crowd;
    if (open->future) {
        open_unlink(&calls->futures, open);
        open_link(&calls->arrived, open);
    } else {
        pthread_cond_signal(&open->changed);
    }
}

/* ---- the channel ---------------------------------------------------------------------------- */

/* A future is linked here, with the wire held: the end of the execution finds all of them. A
 * thread's call that waited for the wire so long that its execution has ended is over, whatever
 * runs now. */
static bool calls_enter(struct py_calls *calls, struct py_open *open)
{
    pthread_mutex_lock(&calls->door);
    bool running = calls->running && !open->done;
    if (running) {
        calls->n_open++;
        if (open->future)
            open_link(&calls->futures, open);
        if (open->future && calls->server)
            pthread_cond_signal(&calls->server->changed);
    }
    pthread_mutex_unlock(&calls->door);
    return running;
}

static void calls_leave(struct py_calls *calls, struct py_open *open, int rc)
{
    pthread_mutex_lock(&calls->door);
    calls->n_open--;
    if (open->future)
        open_unlink(&calls->futures, open);
    if (open->future && rc == LAZ_EBUSY)
        calls->crowd = true;
    pthread_mutex_unlock(&calls->door);
}

/* 0, LAZ_ECLOSED (nothing is being executed), LAZ_EBUSY, or an error with its text in `open`. */
static int calls_send(struct python_state *state, const char *args, size_t len,
                      struct py_open *open)
{
    const struct laz_agent_services *services = state->services;
    struct py_calls *calls = state->calls;
    const char *error = NULL;
    int rc = LAZ_ECLOSED;

    pthread_mutex_lock(&calls->wire);
    if (calls_enter(calls, open)) {
        rc = services->begin_call(services->agent, open->tool, args, len, open, &error);
        if (rc)
            calls_leave(calls, open, rc);
        if (rc && rc != LAZ_EBUSY) {
            open->text = strdup(error ? error : "the tool cannot be called");
            open->len = open->text ? strlen(open->text) : 0;
        }
    }
    pthread_mutex_unlock(&calls->wire);
    return rc;
}

/* Takes the next answer to whoever it belongs to. With the door held, which is open meanwhile, and
 * `reading` ours. False: there was none. */
static bool calls_take(struct python_state *state, bool wait)
{
    const struct laz_agent_services *services = state->services;
    struct py_calls *calls = state->calls;
    const char *text = NULL;
    char *copy = NULL;
    void *user = NULL;
    size_t len = 0;

    calls->consuming = true;
    pthread_mutex_unlock(&calls->door);
    int rc = services->next_answer(services->agent, wait ? -1 : 0, &user, &text, &len);
    bool came = rc != LAZ_ETIMEOUT && rc != LAZ_ENOENT;
    if (came && (copy = malloc(len + 1)) != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    pthread_mutex_lock(&calls->door);
    calls->consuming = false;
    pthread_cond_signal(&calls->quiet);
    if (came) {
        struct py_open *open = user;
        calls->n_open--;
        open->text = copy;
        open->len = len;
        open_finish(calls, open, rc);
    }
    return came;
}

/* Somebody who waits may send what found no room; and read, if `reader`. With the door held. */
static void calls_pass_on(struct py_calls *calls, bool reader)
{
    for (struct py_open *open = calls->threads; open; open = open->after) {
        if (open->done || (!open->crowded && !reader))
            continue;
        pthread_cond_signal(&open->changed);
        reader = reader && open->crowded;
    }
}

/* Reads until something has come, or for a while, and then all that is there: what is left of it in
 * the agent's buffer would make no channel readable. With the door held, which is open meanwhile.
 */
static void calls_read(struct python_state *state)
{
    struct py_calls *calls = state->calls;
    bool is_main = pthread_equal(pthread_self(), calls->main);

    calls->reading = true;
    if (!is_main) {
        pthread_mutex_unlock(&calls->door);
        state->services->await_answer(state->services->agent, CALLS_LOOK_MS);
        pthread_mutex_lock(&calls->door);
    }
    bool more = calls->running && calls_take(state, is_main);
    while (more && calls->running && calls->n_open)
        more = calls_take(state, false);
    calls->reading = false;
    calls_pass_on(calls, false);
}

/* ---- futures -------------------------------------------------------------------------------- */

/* The outcome as (value, None) or (None, exception). New references. */
static void future_outcome(struct python_state *state, const struct py_open *open, PyObject **value,
                           PyObject **error)
{
    *error = NULL;
    *value = py_call_outcome(state, open->tool, open->rc, open->text, open->len);
    if (*value) {
        *error = Py_NewRef(Py_None);
        return;
    }
    *error = py_take_exception();
    if (!*error)
        *error = Py_NewRef(Py_None);
    *value = Py_NewRef(Py_None);
}

/* An answered call, or NULL; and how many calls there is room for that was not before. */
static struct py_open *future_next(struct py_calls *calls, unsigned *freed)
{
    pthread_mutex_lock(&calls->door);
    struct py_open *open = calls->arrived;
    if (open)
        open_unlink(&calls->arrived, open);
    *freed = calls->freed;
    calls->freed = 0;
    pthread_mutex_unlock(&calls->door);
    return open;
}

static void future_settle(struct python_state *state, struct py_open *open)
{
    PyObject *value = NULL, *error = NULL, *done;

    future_outcome(state, open, &value, &error);
    done = py_call(state, PY_SETTLE, "(OkOOO)", open->loop, open->loop_thread, open->future, value,
                   error);
    if (!done)
        PyErr_WriteUnraisable(NULL);
    Py_XDECREF(done);
    Py_DECREF(value);
    Py_DECREF(error);
    open_free(open);
}

/* Settles what has arrived, and lets those in that wait for room. With the GIL. */
static void calls_settle(struct python_state *state)
{
    struct py_open *open;
    unsigned freed;

    while ((open = future_next(state->calls, &freed)) || freed) {
        if (open)
            future_settle(state, open);
        PyObject *done = freed ? py_call(state, PY_MAKE_ROOM, "(I)", freed) : NULL;
        if (freed && !done)
            PyErr_WriteUnraisable(NULL);
        Py_XDECREF(done);
    }
}

/* Is there something for calls_settle? With the door held. */
static bool calls_have_work(const struct py_calls *calls)
{
    return calls->arrived || calls->freed;
}

/* ---- a thread that waits -------------------------------------------------------------------- */

/* Waits until the call is over. With the door held and without the GIL, which is taken where
 * futures have to be settled. */
static void thread_wait(struct python_state *state, struct py_open *open)
{
    struct py_calls *calls = state->calls;

    if (calls->reading)
        pthread_cond_wait(&open->changed, &calls->door);
    else if (calls->n_open)
        calls_read(state);
    if (!calls_have_work(calls))
        return;
    pthread_mutex_unlock(&calls->door);
    PyGILState_STATE gil = PyGILState_Ensure();
    calls_settle(state);
    PyGILState_Release(gil);
    pthread_mutex_lock(&calls->door);
}

/* Without the GIL. */
static void thread_exchange(struct python_state *state, const char *args, size_t len,
                            struct py_open *open)
{
    struct py_calls *calls = state->calls;
    bool sent = false;

    pthread_mutex_lock(&calls->door);
    open_link(&calls->threads, open);
    while (!open->done) {
        if (!sent) {
            pthread_mutex_unlock(&calls->door);
            int rc = calls_send(state, args, len, open);
            pthread_mutex_lock(&calls->door);
            sent = rc == 0;
            open->crowded = rc == LAZ_EBUSY;
            if (rc && rc != LAZ_EBUSY && !open->done)
                open_finish(calls, open, rc);
        }
        if (!open->done)
            thread_wait(state, open);
    }
    open_unlink(&calls->threads, open);
    calls_pass_on(calls, !calls->reading);
    pthread_mutex_unlock(&calls->door);
}

PyObject *py_calls_wait(struct python_state *state, const char *tool, const char *args, size_t len)
{
    struct py_open open = {.changed = PTHREAD_COND_INITIALIZER, .tool = tool};
    PyObject *value;

    Py_BEGIN_ALLOW_THREADS;
    thread_exchange(state, args, len, &open);
    Py_END_ALLOW_THREADS;
    value = py_call_outcome(state, tool, open.rc, open.text, open.len);
    free(open.text);
    pthread_cond_destroy(&open.changed);
    return value;
}

/* ---- loops ---------------------------------------------------------------------------------- */

void py_calls_pump(struct python_state *state)
{
    struct py_calls *calls = state->calls;

    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&calls->door);
    if (calls->running && !calls->reading) {
        calls->reading = true;
        while (calls->running && calls->n_open && calls_take(state, false))
            ;
        calls->reading = false;
        calls_pass_on(calls, true);
    }
    pthread_mutex_unlock(&calls->door);
    Py_END_ALLOW_THREADS;
    calls_settle(state);
}

bool py_calls_claim_server(struct python_state *state)
{
    struct py_calls *calls = state->calls;

    pthread_mutex_lock(&calls->door);
    bool claimed = calls->running && !calls->served;
    calls->served = calls->served || claimed;
    pthread_mutex_unlock(&calls->door);
    return claimed;
}

void py_calls_give_up_server(struct python_state *state)
{
    struct py_calls *calls = state->calls;

    pthread_mutex_lock(&calls->door);
    calls->served = calls->server != NULL;
    pthread_mutex_unlock(&calls->door);
}

void py_calls_serve(struct python_state *state)
{
    struct py_open open = {.changed = PTHREAD_COND_INITIALIZER};
    struct py_calls *calls = state->calls;

    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&calls->door);
    if (calls->served && !calls->server) {
        calls->server = &open;
        open_link(&calls->threads, &open);
        while (!open.done) {
            if (calls->n_open) /* of anybody: it may be the one that reading is passed on to */
                thread_wait(state, &open);
            else
                pthread_cond_wait(&open.changed, &calls->door);
        }
        open_unlink(&calls->threads, &open);
        calls_pass_on(calls, !calls->reading);
    }
    pthread_mutex_unlock(&calls->door);
    Py_END_ALLOW_THREADS;
    pthread_cond_destroy(&open.changed);
}

static size_t open_count(struct py_calls *calls)
{
    pthread_mutex_lock(&calls->door);
    size_t n = calls->n_open;
    pthread_mutex_unlock(&calls->door);
    return n;
}

int py_calls_begin(struct python_state *state, const char *tool, const char *args, size_t len,
                   PyObject *loop, PyObject *future)
{
    struct py_open *open = calloc(1, sizeof *open);
    int rc;

    if (!open) {
        PyErr_NoMemory();
        return -1;
    }
    open->tool = tool;
    open->loop = Py_NewRef(loop);
    open->future = Py_NewRef(future);
    open->loop_thread = PyThread_get_thread_ident();
    Py_BEGIN_ALLOW_THREADS;
    rc = calls_send(state, args, len, open);
    Py_END_ALLOW_THREADS;
    if (rc == 0) { /* it may be settled and gone by now */
        if (open_count(state->calls) > CALLS_UNREAD)
            py_calls_pump(state);
        return 1;
    }
    PyObject *none =
        rc == LAZ_EBUSY ? NULL : py_call_outcome(state, tool, rc, open->text, open->len);
    Py_XDECREF(none);
    open_free(open);
    return rc == LAZ_EBUSY ? 0 : -1;
}

/* ---- the beginning and the end of an execution ---------------------------------------------- */

/* Nobody is answered any more: what is open fails. With the door held. */
static void calls_end(struct py_calls *calls)
{
    while (calls->consuming)
        pthread_cond_wait(&calls->quiet, &calls->door);
    for (struct py_open *open = calls->threads; open; open = open->after)
        if (!open->done)
            open_finish(calls, open, LAZ_ECANCELLED);
    while (calls->futures)
        open_finish(calls, calls->futures, LAZ_ECANCELLED);
    calls->server = NULL;
    calls->served = false;
    calls->n_open = 0;
    calls->freed = calls->crowd ? UINT_MAX : 0;
    calls->crowd = false;
}

/* With the wire held, which is given back. */
static void calls_set_running(struct py_calls *calls, bool running)
{
    pthread_mutex_lock(&calls->door);
    calls->running = running;
    calls->main = pthread_self();
    if (!running)
        calls_end(calls);
    pthread_mutex_unlock(&calls->door);
    pthread_mutex_unlock(&calls->wire);
}

void py_calls_set_running(struct python_state *state, bool running)
{
    struct py_calls *calls = state->calls;

    if (pthread_mutex_trylock(&calls->wire) == 0) { /* nobody sends: there is nothing to wait for */
        calls_set_running(calls, running);
    } else {
        Py_BEGIN_ALLOW_THREADS;
        pthread_mutex_lock(&calls->wire);
        calls_set_running(calls, running);
        Py_END_ALLOW_THREADS;
    }
    if (!running)
        calls_settle(state);
}
