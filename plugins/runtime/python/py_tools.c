/* SPDX-License-Identifier: MIT */
/* py_tools.c - tools of the host as Python functions.
 * Side: box.  Input trusted: no (arguments are objects of the code; declarations are the host's).
 *
 * tools.py makes the functions, each with the tool's signature; they only pass their arguments to
 * `call` or `call_later` here. A call that the host would not expect (from a forked child, or while
 * no execution is running) is refused, because the host would treat it as a protocol error. */
#include "py_runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Types that an argument may have. */
#define TOOL_STRING  (1u << 0)
#define TOOL_NUMBER  (1u << 1)
#define TOOL_INTEGER (1u << 2)
#define TOOL_BOOLEAN (1u << 3)
#define TOOL_ARRAY   (1u << 4)
#define TOOL_OBJECT  (1u << 5)
#define TOOL_ANY     (~0u)

/* The type names of declarations. Those of R come first where they allow more than the type they
 * stand for. */
static const struct tool_type {
    const char *word;
    unsigned takes;
} tool_types[] = {
    {"list", TOOL_ARRAY | TOOL_OBJECT},
    {"data.frame", TOOL_OBJECT | TOOL_ARRAY},
    {"string", TOOL_STRING},
    {"number", TOOL_NUMBER},
    {"integer", TOOL_INTEGER},
    {"boolean", TOOL_BOOLEAN},
    {"array", TOOL_ARRAY},
    {"object", TOOL_OBJECT},
};

struct tool_parameter {
    char *name;
    char *type_name; /* the type as the author wrote it, for messages */
    unsigned takes;
    bool required;
    bool has_default;
};

struct py_tool {
    char *name;
    struct tool_parameter *parameters;
    size_t n_parameters;
};

/* ---- checks of arguments -------------------------------------------------------------------- */

static unsigned tool_type_find(const char *word)
{
    for (size_t i = 0; i < sizeof tool_types / sizeof *tool_types; i++)
        if (strcmp(tool_types[i].word, word) == 0)
            return tool_types[i].takes;
    return 0;
}

/* Converts a numpy scalar to Python's own type; other values are returned unchanged. New
 * reference. */
static PyObject *argument_plain(PyObject *value)
{
    return py_foreign_kind(value) == PY_FOREIGN_SCALAR ? py_foreign_item(value) : Py_NewRef(value);
}

static unsigned argument_forms(PyObject *value)
{
    if (PyBool_Check(value))
        return TOOL_BOOLEAN;
    if (PyLong_Check(value))
        return TOOL_INTEGER | TOOL_NUMBER;
    if (PyFloat_Check(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        return TOOL_NUMBER | (isfinite(number) && number == floor(number) ? TOOL_INTEGER : 0);
    }
    if (PyUnicode_Check(value))
        return TOOL_STRING;
    if (PyDict_Check(value))
        return TOOL_OBJECT;
    if (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value) ||
        PyRange_Check(value))
        return TOOL_ARRAY;
    switch (py_foreign_kind(value)) {
    case PY_FOREIGN_ARRAY:
        return TOOL_ARRAY;
    case PY_FOREIGN_FRAME:
        return TOOL_OBJECT;
    default:
        return py_goes_as_text(value) ? TOOL_STRING : 0;
    }
}

static int argument_check(const struct py_tool *tool, const struct tool_parameter *parameter,
                          PyObject *value)
{
    const char *name = Py_TYPE(value)->tp_name, *dot = strrchr(name, '.');
    PyObject *plain;
    bool fits;

    if (parameter->takes == TOOL_ANY)
        return 0;
    plain = argument_plain(value);
    if (!plain)
        return -1;
    fits = (argument_forms(plain) & parameter->takes) != 0;
    Py_DECREF(plain);
    if (!fits)
        PyErr_Format(PyExc_TypeError, "Tool '%s': argument '%s' must be %s, got %s", tool->name,
                     parameter->name, parameter->type_name, dot ? dot + 1 : name);
    return fits ? 0 : -1;
}

/* None means that an optional argument was not given, unless None is a valid value. */
static bool argument_is_left_out(const struct tool_parameter *parameter, PyObject *value)
{
    return value == Py_None && !parameter->required &&
           (parameter->takes != TOOL_ANY || !parameter->has_default);
}

static int arguments_write(const struct py_tool *tool, PyObject *values, struct py_writer *writer)
{
    writer->json->object_begin(writer->out);
    writer->depth = 1;
    writer->above[0] = values;
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct tool_parameter *parameter = &tool->parameters[i];
        PyObject *value = PyTuple_GET_ITEM(values, (Py_ssize_t)i);
        if (argument_is_left_out(parameter, value))
            continue;
        if (argument_check(tool, parameter, value))
            return -1;
        writer->json->key(writer->out, parameter->name, strlen(parameter->name));
        if (py_write(writer, value))
            return -1;
    }
    writer->json->object_end(writer->out);
    return 0;
}

/* ---- a call --------------------------------------------------------------------------------- */

PyObject *py_call_outcome(struct python_state *state, const char *tool, int rc, const char *text,
                          size_t len)
{
    PyObject *message;

    if (rc == LAZ_ECLOSED)
        return PyErr_Format(state->tool_error, "Tool '%s': called while nothing is executed", tool);
    if (rc == LAZ_ECANCELLED)
        return PyErr_Format(state->tool_error,
                            "Tool '%s': the execution ended before the tool had answered", tool);
    if (!text)
        return PyErr_NoMemory();
    if (rc == 0)
        return py_read(state->json, text, len);
    if (PyErr_CheckSignals()) /* the host refuses calls of code that was interrupted */
        return NULL;
    message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
    if (message)
        PyErr_SetObject(state->tool_error, message);
    Py_XDECREF(message);
    return NULL;
}

/* The state, which is the first argument of the functions here. */
static struct python_state *tool_state(PyObject *self)
{
    return PyCapsule_GetPointer(self, NULL);
}

static const struct py_tool *tool_at(struct python_state *state, Py_ssize_t index)
{
    if (index >= 0 && (size_t)index < state->n_tools)
        return &state->tools[index];
    PyErr_Format(PyExc_SystemError, "no such tool");
    return NULL;
}

/* Writes (INDEX, (VALUE, ...)), one value for each parameter in order. The text lives as long as
 * the writer; NULL with an exception. */
static const char *tool_write(struct python_state *state, PyObject *args, struct py_writer *writer,
                              const struct py_tool **tool, size_t *len)
{
    bool too_large = false;
    PyObject *values;
    Py_ssize_t index;

    if (!PyArg_ParseTuple(args, "nO!", &index, &PyTuple_Type, &values) ||
        !(*tool = tool_at(state, index)))
        return NULL;
    if ((size_t)PyTuple_GET_SIZE(values) != (*tool)->n_parameters) {
        PyErr_Format(PyExc_SystemError, "not the arguments of the tool");
        return NULL;
    }
    if (getpid() != state->pid) {
        PyErr_Format(state->tool_error, "Tool '%s': tools cannot be called from a forked process",
                     (*tool)->name);
        return NULL;
    }
    writer->json = state->json;
    writer->lossless = true;
    writer->out = state->json->writer_new(state->services->max_message);
    if (!writer->out) {
        PyErr_NoMemory();
        return NULL;
    }
    if (arguments_write(*tool, values, writer))
        return NULL;
    const char *text = state->json->writer_text(writer->out, len, &too_large);
    if (!text && too_large)
        PyErr_Format(state->tool_error,
                     "Tool '%s': the arguments exceed max_message_size (%zu bytes)", (*tool)->name,
                     state->services->max_message);
    else if (!text)
        PyErr_NoMemory();
    return text;
}

/* call(INDEX, VALUES): the value. */
static PyObject *tool_call(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);
    struct py_writer writer = {0};
    const struct py_tool *tool;
    PyObject *value = NULL;
    size_t len;
    const char *text = state ? tool_write(state, args, &writer, &tool, &len) : NULL;

    if (text) {
        py_flush(state);
        value = py_calls_wait(state, tool->name, text, len);
    }
    if (writer.out)
        state->json->writer_free(writer.out);
    return value;
}

/* call_later(INDEX, VALUES): a coroutine that calls. */
static PyObject *tool_call_later(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);
    struct py_writer writer = {0};
    const struct py_tool *tool;
    PyObject *later = NULL, *name = NULL;
    size_t len;
    const char *text = state ? tool_write(state, args, &writer, &tool, &len) : NULL;

    if (text) {
        later = py_call(state, PY_LATER, "(ny#)", (Py_ssize_t)(tool - state->tools), text,
                        (Py_ssize_t)len);
        name = PyUnicode_FromFormat("%s.aio", tool->name);
    }
    if (later && (!name || PyObject_SetAttrString(later, "__qualname__", name)))
        Py_CLEAR(later);
    Py_XDECREF(name);
    if (writer.out)
        state->json->writer_free(writer.out);
    return later;
}

/* begin(INDEX, ARGUMENTS, LOOP, FUTURE): False when too many calls are open. */
static PyObject *tool_begin(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);
    const struct py_tool *tool;
    PyObject *loop, *future;
    Py_ssize_t index, len;
    const char *text;

    if (!state || !PyArg_ParseTuple(args, "ny#OO", &index, &text, &len, &loop, &future) ||
        !(tool = tool_at(state, index)))
        return NULL;
    if (getpid() != state->pid)
        return PyErr_Format(state->tool_error,
                            "Tool '%s': tools cannot be called from a forked process", tool->name);
    py_flush(state);
    int begun = py_calls_begin(state, tool->name, text, (size_t)len, loop, future);
    return begun < 0 ? NULL : PyBool_FromLong(begun);
}

/* pump(): takes the answers that have come. */
static PyObject *tool_pump(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);

    (void)args;
    if (!state)
        return NULL;
    if (getpid() == state->pid)
        py_calls_pump(state);
    Py_RETURN_NONE;
}

/* claim_server(): True when the caller must start a thread that runs serve(). give_up_server(): the
 * thread could not be started. */
static PyObject *tool_claim_server(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);

    (void)args;
    return state ? PyBool_FromLong(py_calls_claim_server(state)) : NULL;
}

static PyObject *tool_give_up_server(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);

    (void)args;
    if (!state)
        return NULL;
    py_calls_give_up_server(state);
    Py_RETURN_NONE;
}

/* serve(): takes answers until the execution ends. */
static PyObject *tool_serve(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);

    (void)args;
    if (!state)
        return NULL;
    if (getpid() == state->pid)
        py_calls_serve(state);
    Py_RETURN_NONE;
}

/* channel(): the descriptor on which answers come; -1: none that can be watched. */
static PyObject *tool_channel(PyObject *self, PyObject *args)
{
    struct python_state *state = tool_state(self);

    (void)args;
    return state ? PyLong_FromLong(state->services->answers_fd(state->services->agent)) : NULL;
}

/* ---- definitions ---------------------------------------------------------------------------- */

static PyMethodDef tool_methods[] = {
    {"call", tool_call, METH_VARARGS, NULL},
    {"call_later", tool_call_later, METH_VARARGS, NULL},
    {"begin", tool_begin, METH_VARARGS, NULL},
    {"pump", tool_pump, METH_NOARGS, NULL},
    {"channel", tool_channel, METH_NOARGS, NULL},
    {"claim_server", tool_claim_server, METH_NOARGS, NULL},
    {"give_up_server", tool_give_up_server, METH_NOARGS, NULL},
    {"serve", tool_serve, METH_NOARGS, NULL},
};

static bool tool_copy(struct py_tool *tool, const struct laz_tool_signature *from)
{
    tool->name = strdup(from->name);
    tool->parameters = calloc(from->n_parameters + 1, sizeof *tool->parameters);
    if (!tool->name || !tool->parameters)
        return false;
    for (size_t i = 0; i < from->n_parameters; i++) {
        const struct laz_parameter *given = &from->parameters[i];
        struct tool_parameter *parameter = &tool->parameters[i];
        bool named = given->type_name && *given->type_name;
        tool->n_parameters = i + 1;
        parameter->name = strdup(given->name);
        parameter->type_name = strdup(named ? given->type_name : given->type);
        if (!parameter->name || !parameter->type_name)
            return false;
        parameter->takes = tool_type_find(parameter->type_name);
        if (!parameter->takes)
            parameter->takes = tool_type_find(given->type);
        if (!parameter->takes)
            parameter->takes = TOOL_ANY;
        parameter->required = given->required != 0;
        parameter->has_default = given->default_value != NULL;
    }
    return true;
}

/* The docstring: the description, then a line "a (number): what it is" for each parameter. */
static PyObject *tool_doc(const struct laz_tool_signature *from)
{
    PyObject *doc = PyUnicode_FromString(from->description ? from->description : "");

    for (size_t i = 0; doc && i < from->n_parameters; i++) {
        const struct laz_parameter *p = &from->parameters[i];
        bool described = p->description && *p->description;
        const char *type = p->type_name && *p->type_name ? p->type_name : p->type;
        PyObject *next = PyUnicode_FromFormat(
            "%U%s%s (%s%s%s%s%s%s)%s%s", doc,
            i                           ? "\n    "
            : PyUnicode_GET_LENGTH(doc) ? "\n\nParameters:\n    "
                                        : "Parameters:\n    ",
            p->spelling, *type ? type : "any value", p->default_value ? ", default " : "",
            p->default_value ? p->default_value : "",
            p->required || p->default_value ? "" : ", optional", p->enumeration ? ", one of " : "",
            p->enumeration ? p->enumeration : "", described ? ": " : "",
            described ? p->description : "");
        Py_DECREF(doc);
        doc = next;
    }
    if (doc && from->returns && *from->returns) {
        PyObject *next = PyUnicode_FromFormat(
            "%U%sReturns: %s", doc, PyUnicode_GET_LENGTH(doc) ? "\n\n" : "", from->returns);
        Py_DECREF(doc);
        doc = next;
    }
    return doc;
}

/* [(name in Python, type, required, default), ...] */
static PyObject *tool_parameters(struct python_state *state, const struct laz_tool_signature *from)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < from->n_parameters; i++) {
        const struct laz_parameter *p = &from->parameters[i];
        PyObject *value = p->default_value
                              ? py_read(state->json, p->default_value, strlen(p->default_value))
                              : Py_NewRef(Py_None);
        PyObject *tuple = value ? Py_BuildValue("(ssOO)", p->spelling, p->type,
                                                p->required ? Py_True : Py_False, value)
                                : NULL;
        if (!tuple || PyList_Append(list, tuple))
            Py_CLEAR(list);
        Py_XDECREF(tuple);
        Py_XDECREF(value);
    }
    return list;
}

static bool tool_define(struct python_state *state, size_t index,
                        const struct laz_tool_signature *from)
{
    PyObject *doc = tool_doc(from), *parameters = doc ? tool_parameters(state, from) : NULL;
    PyObject *done = NULL;

    if (parameters)
        done = py_call(state, PY_DEFINE_TOOL, "(nssOO)", (Py_ssize_t)index, from->name,
                       from->spelling, doc, parameters);
    Py_XDECREF(parameters);
    Py_XDECREF(doc);
    Py_XDECREF(done);
    return done != NULL;
}

int py_define_tools(void *data, const struct laz_tool_signature *tools, size_t n,
                    struct laz_error *err)
{
    struct python_state *state = data;
    const size_t before = state->n_tools;
    struct py_tool *all = realloc(state->tools, (before + n + 1) * sizeof *all);
    int rc = 0;

    PyEval_RestoreThread(state->main_thread);
    state->pid = getpid(); /* a session made from a template defines its tools after the fork */
    if (all) {
        state->tools = all;
        memset(all + before, 0, (n + 1) * sizeof *all);
    }
    if (!all || !py_offer(state, tool_methods, sizeof tool_methods / sizeof *tool_methods)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        rc = py_boot_error(err, LAZ_ENOMEM, "the tools");
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        state->n_tools++;
        if (!tool_copy(&all[before + i], &tools[i]))
            PyErr_NoMemory();
        if (PyErr_Occurred() || !tool_define(state, before + i, &tools[i]))
            rc = py_boot_error(err, LAZ_ECONFIG, tools[i].name);
    }
    state->main_thread = PyEval_SaveThread();
    return rc;
}

void py_tools_fini(struct python_state *state)
{
    for (size_t i = 0; i < state->n_tools; i++) {
        struct py_tool *tool = &state->tools[i];
        for (size_t j = 0; j < tool->n_parameters; j++) {
            free(tool->parameters[j].name);
            free(tool->parameters[j].type_name);
        }
        free(tool->parameters);
        free(tool->name);
    }
    free(state->tools);
    state->tools = NULL;
    state->n_tools = 0;
}
