/* SPDX-License-Identifier: MIT */
/* py_template.c - an interpreter that is loaded once and copied for each session.
 * Side: box.  Input trusted: yes (names of packages of the host's settings).
 *
 * CPython's protocol for this: PyOS_BeforeFork() takes the locks that must be consistent in a copy;
 * PyOS_AfterFork_Child() reinitialises them, forgets other threads, and runs the functions that
 * packages registered with os.register_at_fork. The first is called once; from then on the template
 * holds the interpreter's lock and does nothing, so every copy begins at the same point. */
#include "py_runtime.h"

#include <stdio.h>
#include <unistd.h>

#define TEMPLATE_ROUNDS 10 /* CPython 3.11 specialises what has run eight times */

int py_preload(void *data, const char *const *names, size_t n, struct laz_error *err)
{
    struct python_state *state = data;
    PyObject *list, *done = NULL;
    int rc = 0;

    PyEval_RestoreThread(state->main_thread);
    list = py_texts(names, n);
    if (list)
        done = py_call(state, PY_PRELOAD, "(O)", list);
    if (!done)
        rc = py_boot_error(err, LAZ_ESETUP, "a package of pool.preload cannot be loaded");
    Py_XDECREF(done);
    Py_XDECREF(list);
    py_flush(state);
    state->main_thread = PyEval_SaveThread();
    return rc;
}

#if !defined HAVE_FORK
/* This system cannot copy processes. */
void py_template_fini(struct python_state *state)
{
    (void)state;
}
#else
void py_template_fini(struct python_state *state)
{
    if (state->copied)
        PyOS_AfterFork_Parent();
}

/* Runs the code path of an execution a few times, so that the interpreter's caches (attributes,
 * specialised instructions) are filled in every copy. It has no visible effect there. */
static void template_warm_up(struct python_state *state, int rounds)
{
    static const char code[] = "1 + 1";
    struct laz_outcome outcome;

    for (int i = 0; i < rounds; i++) {
        outcome = (struct laz_outcome){.size = sizeof outcome};
        py_eval(state, code, sizeof code - 1, 1, &outcome);
    }
    state->executions = 0;
}

void py_before_fork(void *data)
{
    struct python_state *state = data;
    PyObject *done = NULL;

    template_warm_up(state, TEMPLATE_ROUNDS);
    PyEval_RestoreThread(state->main_thread);
    state->main_thread = NULL;
    /* On failure each session does this for itself, or reports the error. */
    if (py_boot_all(state))
        done = py_call(state, PY_BEFORE_FORK, "()");
    Py_XDECREF(done);
    PyErr_Clear();
    py_flush(state);
    fflush(NULL);
    PyOS_BeforeFork();
    state->copied = true;
}

int py_renew(void *data, struct laz_error *err)
{
    struct python_state *state = data;
    PyObject *done;
    int rc = 0;

    PyOS_AfterFork_Child();
    state->copied = false;
    state->pid = getpid();
    state->main_thread = PyEval_SaveThread();
    template_warm_up(state, 1); /* the pages are copied now, and not while a user waits */
    PyEval_RestoreThread(state->main_thread);
    done = py_call(state, PY_RENEW, "()");
    if (!done)
        rc = py_boot_error(err, LAZ_ESETUP, "cannot create a session of the template");
    Py_XDECREF(done);
    state->main_thread = PyEval_SaveThread();
    return rc;
}
#endif
