/* SPDX-License-Identifier: MIT */
/* py_boot.c - runs the Python part of the runtime and calls its functions.
 * Side: box.  Input trusted: yes. */
#include "py_runtime.h"

#include <stdarg.h>
#include <stdio.h>

/* The Python files, which the build turns into strings. */
static const char *const boot_parts[PY_PARTS] = {[PY_PART_START] =
#include "bootstrap.inc"
                                                     ,
                                                 [PY_PART_REPORT] =
#include "report.inc"
                                                     ,
                                                 [PY_PART_TOOLS] =
#include "tools.inc"
                                                     ,
                                                 [PY_PART_AIO] =
#include "aio.inc"
                                                     ,
                                                 [PY_PART_TEMPLATE] =
#include "template.inc"
                                                     ,
                                                 [PY_PART_GUARDS] =
#include "guards.inc"
                                                     ,
                                                 [PY_PART_FIGURES] =
#include "figures.inc"
                                                     , [PY_PART_FILES] =
#include "files.inc"
};

static const struct {
    const char *name;
    enum py_part part;
} boot_functions[PY_FUNCTIONS] = {
    [PY_START] = {"start", PY_PART_START},
    [PY_SET_SCRIPT] = {"set_script", PY_PART_START},
    [PY_PREPARE_RUN] = {"prepare_run", PY_PART_START},
    [PY_PREPARE_CHECK] = {"prepare_check", PY_PART_START},
    [PY_DESCRIBE] = {"describe", PY_PART_REPORT},
    [PY_DESCRIBE_SYNTAX] = {"describe_syntax", PY_PART_REPORT},
    [PY_BEGINNING] = {"beginning", PY_PART_REPORT},
    [PY_LEAVE] = {"leave", PY_PART_REPORT},
    [PY_RUN_EXIT_FUNCTIONS] = {"run_exit_functions", PY_PART_START},
    [PY_DEFINE_TOOL] = {"define_tool", PY_PART_TOOLS},
    [PY_AWAIT] = {"run_coroutine", PY_PART_AIO},
    [PY_CALL_HOOK] = {"call_hook", PY_PART_REPORT},
    [PY_LATER] = {"later", PY_PART_AIO},
    [PY_SETTLE] = {"settle", PY_PART_AIO},
    [PY_MAKE_ROOM] = {"make_room", PY_PART_AIO},
    [PY_PRELOAD] = {"preload", PY_PART_TEMPLATE},
    [PY_BEFORE_FORK] = {"before_fork", PY_PART_TEMPLATE},
    [PY_RENEW] = {"renew", PY_PART_TEMPLATE},
    [PY_GUARD] = {"guard_module", PY_PART_GUARDS},
    [PY_TAKE_FIGURES] = {"take_figures", PY_PART_FIGURES},
    [PY_SAVE_FIGURES] = {"save_figures", PY_PART_FIGURES},
    [PY_WRITE_OUT] = {"write_out", PY_PART_FILES},
    [PY_RENEW_INPUT] = {"renew_input", PY_PART_FILES},
};

PyObject *py_take_exception(void)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (!type)
        return NULL;
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(traceback);
    Py_XDECREF(type);
    return value;
#endif
}

void py_restore_exception(PyObject *exception)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyErr_SetRaisedException(exception);
#else
    if (exception)
        PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), exception,
                      PyException_GetTraceback(exception));
#endif
}

int py_boot_error(struct laz_error *err, int code, const char *what)
{
    PyObject *exception = py_take_exception();
    PyObject *text = exception ? PyObject_Str(exception) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;

    laz_fail(err, code, "python: %s: %s: %s", what,
             exception ? Py_TYPE(exception)->tp_name : "error", utf8 ? utf8 : "unknown");
    Py_XDECREF(text);
    Py_XDECREF(exception);
    PyErr_Clear();
    return code;
}

void py_flush(struct python_state *state)
{
    static const char *const names[] = {"stdout", "stderr"};
    PyObject *exception = py_take_exception();

    for (int i = 0; state->flush && i < 2; i++) {
        PyObject *stream = PySys_GetObject(names[i]); /* borrowed; the code may have replaced it */
        Py_XINCREF(stream);
        PyObject *done = stream && stream != Py_None && stream != state->streams[i]
                             ? PyObject_CallMethodNoArgs(stream, state->flush)
                             : NULL;
        Py_XDECREF(done);
        Py_XDECREF(stream);
        PyErr_Clear();
        done =
            state->streams[i] ? PyObject_CallMethodNoArgs(state->streams[i], state->flush) : NULL;
        Py_XDECREF(done);
        PyErr_Clear();
    }
    py_restore_exception(exception);
}

PyObject *py_texts(const char *const *paths, size_t n)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < n; i++) {
        PyObject *path = PyUnicode_DecodeFSDefault(paths[i]);
        if (!path || PyList_Append(list, path))
            Py_CLEAR(list);
        Py_XDECREF(path);
    }
    return list;
}

static bool boot_run(struct python_state *state, enum py_part part)
{
    PyObject *code = NULL, *result = NULL;

    if (state->ran[part])
        return true;
    code = Py_CompileString(boot_parts[part], "<lazaret>", Py_file_input);
    if (code)
        result = PyEval_EvalCode(code, state->boot, state->boot);
    state->ran[part] = result != NULL;
    Py_XDECREF(code);
    Py_XDECREF(result);
    return state->ran[part];
}

/* Borrowed, or NULL with an exception. */
static PyObject *boot_function(struct python_state *state, enum py_function function)
{
    PyObject *callable = state->functions[function];

    if (callable || !boot_run(state, boot_functions[function].part))
        return callable;
    callable = PyDict_GetItemString(state->boot, boot_functions[function].name);
    if (!callable)
        return PyErr_Format(PyExc_RuntimeError, "the runtime lacks '%s'",
                            boot_functions[function].name);
    return state->functions[function] = Py_NewRef(callable);
}

bool py_boot_all(struct python_state *state)
{
    for (int i = 0; i < PY_FUNCTIONS; i++)
        if (!boot_function(state, (enum py_function)i))
            return false;
    return true;
}

PyObject *py_call(struct python_state *state, enum py_function function, const char *format, ...)
{
    PyObject *callable = boot_function(state, function), *args, *result = NULL;
    va_list values;

    if (!callable)
        return NULL;
    va_start(values, format);
    args = Py_VaBuildValue(format, values);
    va_end(values);
    if (args)
        result = PyObject_CallObject(callable, args);
    Py_XDECREF(args);
    return result;
}

/* What was written to standard output comes before what is written to standard error. */
static bool boot_flush_output(const struct python_state *state)
{
    PyObject *done =
        state->streams[0] ? PyObject_CallMethod(state->streams[0], "flush", NULL) : NULL;

    Py_XDECREF(done);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return false; /* an interrupt */
    PyErr_Clear();    /* the code has closed it */
    return true;
}

/* write(raw, data) of a standard stream. It is not in Python, where an interrupt could come between
 * what was written and the number of its bytes: then it would be written again. */
static PyObject *boot_write_output(PyObject *self, PyObject *args)
{
    struct python_state *state = PyCapsule_GetPointer(self, NULL);
    PyObject *raw, *data;

    if (!state || !PyArg_ParseTuple(args, "OO:write", &raw, &data))
        return NULL;
    PyObject *fileno = PyObject_CallMethod(raw, "fileno", NULL);
    const long number = fileno ? PyLong_AsLong(fileno) : -1;
    Py_XDECREF(fileno);
    if (PyErr_Occurred() || (number == 2 && !boot_flush_output(state)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    state->services->switch_output(state->services->agent, (int)number);
    Py_END_ALLOW_THREADS;
    PyObject *file = PyDict_GetItemString(state->boot, "FileIO"); /* borrowed */
    return file ? PyObject_CallMethod(file, "write", "OO", raw, data) : NULL;
}

/* keeps(path): is it the host's when the execution has ended? */
static PyObject *boot_keeps(PyObject *self, PyObject *path)
{
    struct python_state *state = PyCapsule_GetPointer(self, NULL);
    PyObject *text = NULL;

    if (!state || !PyUnicode_FSConverter(path, &text))
        return NULL;
    const bool keeps = LAZ_HAS(state->services, keeps) &&
                       state->services->keeps(state->services->agent, PyBytes_AS_STRING(text));
    Py_DECREF(text);
    return PyBool_FromLong(keeps);
}

/* guard(module) */
static PyObject *boot_guard(PyObject *self, PyObject *module)
{
    struct python_state *state = PyCapsule_GetPointer(self, NULL);

    return state ? py_call(state, PY_GUARD, "(O)", module) : NULL;
}

/* draws(module): the module draws figures */
static PyObject *boot_draws(PyObject *self, PyObject *module)
{
    struct python_state *state = PyCapsule_GetPointer(self, NULL);

    if (!state)
        return NULL;
    state->draws = true;
    return py_call(state, PY_TAKE_FIGURES, "(O)", module);
}

/* drop(unraisable): in the place of sys.unraisablehook. Nobody can catch what a destructor or the
 * callback of a weak reference raises; an interrupt that comes there is for the code around it. In C,
 * because a function of Python would get that interrupt itself. */
static PyObject *boot_drop(PyObject *self, PyObject *dropped)
{
    PyObject *type = PyObject_GetAttrString(dropped, "exc_type");
    PyObject *usual = type ? PySys_GetObject("__unraisablehook__") : NULL; /* borrowed */
    PyObject *done = NULL;

    (void)self;
    if (type == PyExc_KeyboardInterrupt) {
        PyErr_SetInterrupt();
        done = Py_NewRef(Py_None);
    } else if (usual) {
        done = PyObject_CallFunctionObjArgs(usual, dropped, NULL);
    } else if (type) {
        done = Py_NewRef(Py_None); /* the code has deleted it */
    }
    Py_XDECREF(type);
    return done;
}

bool py_offer(struct python_state *state, PyMethodDef *methods, size_t n)
{
    PyObject *self = PyCapsule_New(state, NULL, NULL);
    bool ok = self != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        PyObject *function = PyCFunction_New(&methods[i], self);
        ok = function && PyDict_SetItemString(state->boot, methods[i].ml_name, function) == 0;
        Py_XDECREF(function);
    }
    Py_XDECREF(self);
    return ok;
}

/* compile_expression(text, name, flags): as compile(), which would first make the classes of the
 * syntax tree: that takes longer than most expressions. */
static PyObject *boot_compile_expression(PyObject *self, PyObject *args)
{
    PyCompilerFlags flags = {.cf_feature_version = PY_MINOR_VERSION};
    const char *text;
    PyObject *name;

    (void)self;
    if (!PyArg_ParseTuple(args, "sUi", &text, &name, &flags.cf_flags))
        return NULL;
    flags.cf_flags |= PyCF_SOURCE_IS_UTF8 | PyCF_IGNORE_COOKIE;
    return Py_CompileStringObject(text, name, Py_eval_input, &flags, -1);
}

static PyMethodDef boot_methods[] = {
    {"compile_expression", boot_compile_expression, METH_VARARGS, NULL},
    {"write_output", boot_write_output, METH_VARARGS, NULL},
    {"drop", boot_drop, METH_O, NULL},
    {"keeps", boot_keeps, METH_O, NULL},
    {"guard", boot_guard, METH_O, NULL},
    {"draws", boot_draws, METH_O, NULL}};

/* Makes a function one that a class binds to its objects. */
static bool boot_make_method(struct python_state *state, const char *name)
{
    PyObject *method = PyInstanceMethod_New(PyDict_GetItemString(state->boot, name));
    const bool ok = method && PyDict_SetItemString(state->boot, name, method) == 0;

    Py_XDECREF(method);
    return ok;
}

static bool boot_namespace(struct python_state *state)
{
    PyObject *name = PyUnicode_FromString("lazaret");
    bool ok;

    state->boot = PyDict_New();
    ok = state->boot && name && PyDict_SetItemString(state->boot, "__name__", name) == 0 &&
         PyDict_SetItemString(state->boot, "__builtins__", state->builtins) == 0 &&
         py_offer(state, boot_methods, sizeof boot_methods / sizeof *boot_methods) &&
         boot_make_method(state, "write_output") && boot_run(state, PY_PART_START);
    Py_XDECREF(name);
    if (ok)
        state->tool_error = Py_XNewRef(PyDict_GetItemString(state->boot, "ToolError"));
    return state->tool_error != NULL;
}

static void boot_streams(struct python_state *state)
{
    static const char *const names[] = {"stdout", "stderr"};

    for (int i = 0; i < 2; i++) {
        PyObject *stream = PySys_GetObject(names[i]);
        if (stream && stream != Py_None)
            state->streams[i] = Py_NewRef(stream);
    }
}

int py_boot_start(struct python_state *state, const char *const *paths, size_t n_paths,
                  struct laz_error *err)
{
    PyObject *main_module = PyImport_AddModule("__main__"); /* borrowed */
    PyObject *list = NULL, *started = NULL;

    state->globals = main_module ? Py_NewRef(PyModule_GetDict(main_module)) : NULL;
    state->builtins = PyImport_ImportModule("builtins");
    state->flush = PyUnicode_InternFromString("flush");
    if (!state->globals || !state->builtins || !state->flush || !boot_namespace(state))
        return py_boot_error(err, LAZ_ESETUP, "its own code does not start");
    list = py_texts(paths, n_paths);
    if (list)
        started = py_call(state, PY_START, "(O)", list);
    boot_streams(state);
    Py_XDECREF(list);
    Py_XDECREF(started);
    return started ? 0 : py_boot_error(err, LAZ_ESETUP, "its own code does not start");
}

void py_boot_fini(struct python_state *state)
{
    for (int i = 0; i < PY_FUNCTIONS; i++)
        Py_CLEAR(state->functions[i]);
    Py_CLEAR(state->streams[0]);
    Py_CLEAR(state->streams[1]);
    Py_CLEAR(state->tool_error);
    Py_CLEAR(state->flush);
    Py_CLEAR(state->boot);
    Py_CLEAR(state->globals);
    Py_CLEAR(state->builtins);
}
