/* SPDX-License-Identifier: MIT */
/* py_eval.c - runs code and reports the outcome.
 * Side: box.  Input trusted: no.
 *
 * All of the code is compiled before any of it runs, in two parts: the last statement, if it is an
 * expression, gives the value. Both run directly from here, so that their stack has no frames of
 * the runtime. A process that the code forked must never return from here: it would answer the host
 * a second time. */
#include "py_runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVAL_RESERVE (2u * 1024 * 1024) /* two arenas of Python's allocator */

/* ---- outcomes ------------------------------------------------------------------------------- */

static void eval_forget(struct python_state *state)
{
    if (state->value)
        state->json->writer_reset(state->value);
    Py_CLEAR(state->text);
    Py_CLEAR(state->described);
    free(state->traceback);
    state->traceback = NULL;
}

static void eval_begin(struct python_state *state)
{
    PyEval_RestoreThread(state->main_thread);
    eval_forget(state);
    if (!state->reserve)
        state->reserve = malloc(EVAL_RESERVE);
}

/* What was sent to an execution before this one, and what a handler of the code makes of it, is no
 * business of this one, unless it was interrupted already. */
static void eval_settle_interrupts(struct python_state *state)
{
    const struct laz_agent_services *services = state->services;

    if (PyErr_CheckSignals())
        PyErr_Clear();
    if (LAZ_HAS(services, is_interrupted) && services->is_interrupted(services->agent))
        PyErr_SetInterrupt();
}

static int eval_end(struct python_state *state)
{
    PyErr_Clear();
    state->main_thread = PyEval_SaveThread();
    return 0;
}

void py_eval_fini(struct python_state *state)
{
    eval_forget(state);
    state->json->writer_free(state->value);
    state->value = NULL;
    free(state->reserve);
    state->reserve = NULL;
    free(state->script);
    state->script = NULL;
}

/* Takes the result of describe(): (message, line, (entry, ...)), bytes objects that `state`
 * keeps. */
static bool outcome_take_described(struct python_state *state, PyObject *described,
                                   struct laz_outcome *outcome)
{
    PyObject *message, *entries;
    int line;

    if (!PyArg_ParseTuple(described, "SiO!", &message, &line, &PyTuple_Type, &entries))
        return false;
    size_t n = (size_t)PyTuple_GET_SIZE(entries);
    state->traceback = calloc(n + 1, sizeof *state->traceback);
    for (size_t i = 0; state->traceback && i < n; i++)
        state->traceback[i] = PyBytes_AS_STRING(PyTuple_GET_ITEM(entries, (Py_ssize_t)i));
    outcome->message = PyBytes_AS_STRING(message);
    outcome->line = line;
    outcome->traceback = state->traceback;
    outcome->n_traceback = state->traceback ? n : 0;
    return true;
}

static bool outcome_is_fsize(PyObject *error)
{
    PyObject *number;
    bool is;

    if (!PyErr_GivenExceptionMatches(error, PyExc_OSError))
        return false;
    number = PyObject_GetAttrString(error, "errno");
    is = number && PyLong_Check(number) && PyLong_AsLong(number) == EFBIG;
    Py_XDECREF(number);
    PyErr_Clear();
    return is;
}

static void outcome_error(struct python_state *state, PyObject *error, const char *name,
                          struct laz_outcome *outcome)
{
    outcome->kind = LAZ_OUTCOME_RUNTIME;
    if (PyErr_GivenExceptionMatches(error, PyExc_MemoryError))
        outcome->kind = LAZ_OUTCOME_MEMORY;
    else if (outcome_is_fsize(error))
        outcome->kind = LAZ_OUTCOME_FSIZE;
    if (outcome->kind == LAZ_OUTCOME_MEMORY) {
        free(state->reserve);
        state->reserve = NULL;
    }
    state->described = py_call(state, PY_DESCRIBE, "(Os)", error, name);
    if (state->described && outcome_take_described(state, state->described, outcome))
        return;
    PyErr_Clear();
    snprintf(state->message, sizeof state->message, "%.100s", Py_TYPE(error)->tp_name);
    outcome->message = state->message;
}

/* Handles SystemExit as the interpreter does when it exits. */
static void outcome_exit(struct python_state *state, PyObject *error, struct laz_outcome *outcome)
{
    PyObject *status = py_call(state, PY_LEAVE, "(O)", error);

    outcome->kind = LAZ_OUTCOME_EXIT;
    outcome->exit_status = status ? (int32_t)PyLong_AsLong(status) : 1;
    snprintf(state->message, sizeof state->message, "SystemExit: %d", (int)outcome->exit_status);
    outcome->message = state->message;
    Py_XDECREF(status);
    PyErr_Clear();
}

/* Calls sys.excepthook where the code has set one. It may raise SystemExit, in place of the error.
 */
static PyObject *outcome_hook(struct python_state *state, PyObject *error)
{
    if (!error || PyErr_GivenExceptionMatches(error, PyExc_SystemExit))
        return error;
    PyObject *done = py_call(state, PY_CALL_HOOK, "(O)", error);
    if (!done && PyErr_ExceptionMatches(PyExc_SystemExit)) {
        Py_DECREF(error);
        return py_take_exception();
    }
    Py_XDECREF(done);
    PyErr_Clear();
    return error;
}

static void outcome_exception(struct python_state *state, const char *name,
                              struct laz_outcome *outcome)
{
    PyObject *error = outcome_hook(state, py_take_exception());

    if (!error) {
        outcome->kind = LAZ_OUTCOME_RUNTIME;
        outcome->message = "an error without an exception";
    } else if (PyErr_GivenExceptionMatches(error, PyExc_SystemExit)) {
        outcome_exit(state, error, outcome);
    } else {
        outcome_error(state, error, name, outcome);
    }
    Py_XDECREF(error);
}

/* Reports what compiling raised: a SyntaxError, or that the code is nested too deeply. */
static void outcome_syntax(struct python_state *state, struct laz_outcome *outcome)
{
    PyObject *error = py_take_exception(), *message;
    int line, column;

    outcome->kind = LAZ_OUTCOME_SYNTAX;
    outcome->message = "the code cannot be compiled";
    if (error)
        state->described = py_call(state, PY_DESCRIBE_SYNTAX, "(O)", error);
    if (state->described && PyArg_ParseTuple(state->described, "Sii", &message, &line, &column)) {
        outcome->message = PyBytes_AS_STRING(message);
        outcome->line = line;
        outcome->column = column;
    }
    PyErr_Clear();
    Py_XDECREF(error);
}

/* ---- values --------------------------------------------------------------------------------- */

static bool outcome_text(struct python_state *state, PyObject *value, struct laz_outcome *outcome)
{
    PyObject *repr = outcome->kind == LAZ_OUTCOME_VALUE
                         ? PyObject_Repr(value)
                         : py_call(state, PY_BEGINNING, "(O)", value);

    if (!repr)
        return false;
    state->text = PyUnicode_AsEncodedString(repr, "utf-8", "backslashreplace");
    Py_DECREF(repr);
    if (!state->text)
        return false;
    outcome->text = PyBytes_AS_STRING(state->text);
    outcome->text_len = (size_t)PyBytes_GET_SIZE(state->text);
    return true;
}

/* What cannot be written is no error of the code. NULL: it is too large. */
static void outcome_omit(struct python_state *state, const char *why, struct laz_outcome *outcome)
{
    outcome->kind = LAZ_OUTCOME_TOO_LARGE;
    if (why)
        snprintf(state->message, sizeof state->message, "%s", why);
    outcome->message = why ? state->message : NULL;
    state->json->writer_reset(state->value);
}

/* The exception that is set says why the value was not written. False: it is one that ends the
 * execution, such as an interrupt. */
static bool outcome_omit_for_exception(struct python_state *state, struct laz_outcome *outcome)
{
    static const char no_memory[] = "there is not enough memory to send the value";

    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    bool is_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    PyObject *error = py_take_exception(), *text = NULL;
    if (PyErr_GivenExceptionMatches(error, PyExc_ValueError)) /* the writer's own */
        text = PyObject_Str(error);
    else if (!is_memory)
        text = PyUnicode_FromFormat("%s: %S", Py_TYPE(error)->tp_name, error);
    const char *words = text ? PyUnicode_AsUTF8(text) : NULL;

    if (!words)
        PyErr_Clear();
    outcome_omit(state,
                 is_memory ? no_memory
                 : words   ? words
                           : "the value cannot be sent",
                 outcome);
    Py_XDECREF(text);
    Py_XDECREF(error);
    return true;
}

static bool outcome_value(struct python_state *state, PyObject *value, struct laz_outcome *outcome)
{
    struct py_writer writer = {.json = state->json};
    bool too_large = false;

    if (!state->value)
        state->value = state->json->writer_new(state->services->max_value);
    if (!state->value) {
        PyErr_NoMemory();
        return false;
    }
    writer.out = state->value;
    if (py_write(&writer, value))
        return outcome_omit_for_exception(state, outcome);
    outcome->value = state->json->writer_text(state->value, &outcome->value_len, &too_large);
    if (outcome->value)
        return true;
    if (too_large) {
        outcome_omit(state, NULL, outcome);
        return true;
    }
    PyErr_NoMemory();
    return outcome_omit_for_exception(state, outcome);
}

/* Does what Python's prompt does with the value: nothing for None, else prints it and assigns it to
 * `_`. */
static bool outcome_display(struct python_state *state, PyObject *value, uint32_t wanted,
                            struct laz_outcome *outcome)
{
    if (!outcome_value(state, value, outcome))
        return false;
    if (value == Py_None)
        return true;
    outcome->visible = 1;
    if ((wanted & LAZ_WANTED_TEXT) && !outcome_text(state, value, outcome))
        return false;
    return PyObject_SetAttrString(state->builtins, "_", value) == 0;
}

/* ---- running -------------------------------------------------------------------------------- */

/* A child that the code forked has reached the end of the code: it exits as a program would. */
static void eval_end_child(struct python_state *state, bool ok)
{
    PyObject *error = ok ? NULL : py_take_exception();
    PyObject *status = NULL;
    int code = ok ? 0 : 1;

    if (error && PyErr_GivenExceptionMatches(error, PyExc_SystemExit)) {
        status = py_call(state, PY_LEAVE, "(O)", error);
        code = status ? (int)PyLong_AsLong(status) : 1;
    } else {
        if (error) {
            PyErr_SetObject((PyObject *)Py_TYPE(error), error);
            PyErr_PrintEx(0);
        }
        status = py_call(state, PY_RUN_EXIT_FUNCTIONS, "()");
    }
    PyErr_Clear();
    py_flush(state);
    _exit(code);
}

static bool eval_code(struct python_state *state, PyObject *code, PyObject **value)
{
    PyObject *result = code == Py_None ? Py_NewRef(Py_None)
                                       : PyEval_EvalCode(code, state->globals, state->globals);

    if (result && code != Py_None && ((PyCodeObject *)code)->co_flags & CO_COROUTINE)
        result =
            py_call(state, PY_AWAIT, "(N)", result); /* it has an `await` outside of functions */
    Py_XDECREF(*value);
    *value = result;
    return result != NULL;
}

/* Also after an error, which stays what it is. */
static void eval_save_figures(struct python_state *state)
{
    PyObject *exception = py_take_exception();
    PyObject *done = py_call(state, PY_SAVE_FIGURES, "()");

    Py_XDECREF(done);
    PyErr_Clear();
    py_restore_exception(exception);
}

static void eval_run(struct python_state *state, PyObject *codes, const char *name, uint32_t wanted,
                     struct laz_outcome *outcome)
{
    PyObject *body, *last, *value = NULL;
    bool ok = PyArg_ParseTuple(codes, "OO", &body, &last) && eval_code(state, body, &value) &&
              eval_code(state, last, &value);

    if (getpid() != state->pid)
        eval_end_child(state, ok);
    ok = ok && outcome_display(state, value, wanted, outcome);
    if (state->draws)
        eval_save_figures(state);
    if (!ok) {
        *outcome = (struct laz_outcome){.size = outcome->size};
        outcome_exception(state, name, outcome);
    }
    Py_XDECREF(value);
}

int py_eval(void *data, const char *code, size_t len, uint32_t wanted, struct laz_outcome *outcome)
{
    struct python_state *state = data;
    char number[32] = "<code>", *script = state->script;
    const char *name = script ? script : number;
    PyObject *codes;

    eval_begin(state);
    eval_settle_interrupts(state);
    state->script = NULL;
    if (state->executions++)
        snprintf(number, sizeof number, "<code %llu>", (unsigned long long)state->executions);
    codes = py_call(state, PY_PREPARE_RUN, "(s#sO)", code, (Py_ssize_t)len, name,
                    script ? Py_True : Py_False);
    if (!codes) {
        outcome_syntax(state, outcome);
    } else {
        py_calls_set_running(state, true);
        eval_run(state, codes, name, wanted, outcome);
        if (PyErr_CheckSignals()) /* it came too late to raise anything */
            PyErr_Clear();
        py_flush(state);
        py_calls_set_running(state, false);
        Py_DECREF(codes);
    }
    free(script);
    return eval_end(state);
}

/* What the last eval has returned stays. */
void py_write_out(void *data, const int *fds, size_t n)
{
    struct python_state *state = data;

    PyEval_RestoreThread(state->main_thread);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *fd = PyLong_FromLong(fds[i]);
        if (!fd || PyList_Append(list, fd))
            Py_CLEAR(list);
        Py_XDECREF(fd);
    }
    PyObject *done = list ? py_call(state, PY_WRITE_OUT, "(O)", list) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(list);
    eval_end(state);
}

/* As above. */
void py_input_changed(void *data)
{
    struct python_state *state = data;

    PyEval_RestoreThread(state->main_thread);
    PyObject *done = py_call(state, PY_RENEW_INPUT, "()");
    Py_XDECREF(done);
    eval_end(state);
}

int py_set_script(void *data, const char *const *argv, size_t n, const char *directory)
{
    struct python_state *state = data;
    char *script = strdup(argv[0]);

    if (!script)
        return LAZ_ENOMEM;
    eval_begin(state);
    PyObject *list = py_texts(argv, n);
    PyObject *done = list ? py_call(state, PY_SET_SCRIPT, "(Oz)", list, directory) : NULL;
    free(state->script);
    state->script = done ? script : NULL;
    if (!done)
        free(script);
    Py_XDECREF(list);
    Py_XDECREF(done);
    eval_end(state);
    return state->script ? 0 : LAZ_ENOMEM;
}

int py_check(void *data, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct python_state *state = data;
    PyObject *done;

    eval_begin(state);
    eval_settle_interrupts(state);
    done = py_call(state, PY_PREPARE_CHECK, "(s#)", code, (Py_ssize_t)len);
    if (!done)
        outcome_syntax(state, outcome);
    Py_XDECREF(done);
    return eval_end(state);
}
