/* SPDX-License-Identifier: MIT */
/* py_calls.c - open calls of tools, made by waiting threads and by event loops.
 * Side: box.  Input trusted: no (calls come from any thread of the code, at any time).
 *
 * Any number of threads may have one open call each, and any number of loops several each. One
 * waiter at a time reads the channel for all (`reading`): a thread until its own answer has come,
 * then the next thread; a loop when the channel is readable and no thread reads. For loops that
 * cannot watch the channel (all of them on Windows) an extra thread waits as if it had a call. An
 * answer is copied to its call; the next holder of the GIL settles futures, on their own loop's
 * thread.
 *
 * `door` guards the state here and is never held while anything blocks or the GIL is taken; `wire`
 * is held while a call is sent. The main thread may block in the read, because the execution cannot
 * end meanwhile. Other threads wait for the channel first and then check that the execution is
 * still running, so that none of them takes a message of a later execution. */
#include "py_runtime.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

/* How often a waiting thread checks whether its execution has ended. */
#define CALLS_LOOK_MS 50
/* With more open calls than this, answers are also taken when a call is sent. */
#define CALLS_UNREAD 8

/* An open call, or one about to be sent. */
struct py_open {
    struct py_open *before, *after; /* in `threads` or `futures` */
    bool done;
    bool crowded; /* not sent, because too many calls are open */
    int rc;       /* of the answer */
    char *text;   /* the value or the error; NULL: out of memory */
    size_t len;
    pthread_cond_t changed; /* for a call of a thread */
    const char *tool;
    PyObject *loop, *future; /* for a call of a loop */
    unsigned long loop_thread;
};

struct py_calls {
    pthread_mutex_t door, wire;
    pthread_cond_t quiet; /* signalled when no thread is in next_answer */
    pthread_t main;
    bool running;   /* an execution is running: the host accepts calls */
    bool reading;   /* a thread or a loop reads the channel */
    bool consuming; /* the reader is in next_answer */
    bool crowd;     /* calls of loops were refused because too many are open */
    unsigned freed; /* calls that have ended since then, not yet reported to waiting loops */
    size_t n_open;  /* sent and not answered */
    struct py_open *threads, *futures;
    struct py_open *arrived; /* answered calls of loops, to be settled with the GIL */
    struct py_open *server;  /* the entry in `threads` of the thread that waits for loops */
    bool served;             /* that thread exists or is being started */
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

/* Needs the GIL. */
static void open_free(struct py_open *open)
{
    Py_XDECREF(open->loop);
    Py_XDECREF(open->future);
    free(open->text);
    free(open);
}

/* Ends a call: its thread will return, its future waits to be settled. */
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

/* Links a future while `wire` is held, so that the end of the execution finds all of them. A thread
 * that got `wire` only after its execution ended has failed, whatever runs now. */
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

/* Sends a call. 0, LAZ_ECLOSED (no execution is running), LAZ_EBUSY, or an error with its text in
 * `open`. */
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

/* Hands the next answer to its call. Called with `door` held, which is released meanwhile, and as
 * the reader. False: there was no answer. */
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

/* Wakes waiters that may now send a call, and with `reader` one that may read. `door` is held. */
static void calls_pass_on(struct py_calls *calls, bool reader)
{
    for (struct py_open *open = calls->threads; open; open = open->after) {
        if (open->done || (!open->crowded && !reader))
            continue;
        pthread_cond_signal(&open->changed);
        reader = reader && open->crowded;
    }
}

/* Waits for an answer for a while, then takes all that have come: those left in the agent's buffer
 * would not make the channel readable. Called with `door` held, which is released meanwhile. */
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

/* The next answered call, or NULL; and how many more calls may be open than before. */
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

/* Settles answered futures and wakes coroutines that wait to send. Needs the GIL. */
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

/* Is there work for calls_settle? `door` is held. */
static bool calls_have_work(const struct py_calls *calls)
{
    return calls->arrived || calls->freed;
}

/* ---- a thread that waits -------------------------------------------------------------------- */

/* Waits until the call has ended. Called with `door` held and without the GIL, which is taken when
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

/* Called without the GIL. */
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
            if (calls->n_open) /* any call: its thread may be the next reader */
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
    if (rc == 0) { /* it may have been settled and freed by now */
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

/* Fails all open calls. `door` is held. */
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

/* Called with `wire` held, which is released. */
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

    if (pthread_mutex_trylock(&calls->wire) == 0) { /* no thread is sending, so there is nothing to
                                                       wait for */
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
