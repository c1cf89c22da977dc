/* SPDX-License-Identifier: MIT */
/* py_write.c - converts Python values to JSON text.
 * Side: box.  Input trusted: no (objects of the code).
 *
 * Exact builtin types are checked first, because most values have one. Later checks may run code of
 * the value's own class (utcoffset, tolist); therefore containers are walked by index, and no
 * borrowed reference is kept across such a call. numpy and pandas are used only if the code has
 * loaded them. The host rejects a repeated key, so a dict whose distinct keys would have the same
 * text is written as a map. */
#include "py_runtime.h"

#include <math.h>

#define WRITE_LOOK 256   /* check after this many items of a list whether the writer has failed */
#define WRITE_SOME 16384 /* elements of an array that become objects of Python at once */

/* ---- containers ----------------------------------------------------------------------------- */

static int write_enter(struct py_writer *w, PyObject *value)
{
    for (unsigned i = 0; i < w->depth; i++) {
        if (w->above[i] == value) {
            PyErr_SetString(PyExc_ValueError, "a value that contains itself cannot be passed on");
            return -1;
        }
    }
    if (w->depth >= PY_MAX_DEPTH) {
        PyErr_Format(PyExc_ValueError,
                     "a value nested more than %d levels deep cannot be passed on", PY_MAX_DEPTH);
        return -1;
    }
    w->above[w->depth++] = value;
    return 0;
}

static void write_leave(struct py_writer *w)
{
    w->depth--;
}

/* `items`: a list or tuple; `owner`: the container it stands for. */
static int write_items(struct py_writer *w, PyObject *items, PyObject *owner)
{
    int rc = 0;

    if (write_enter(w, owner))
        return -1;
    w->json->array_begin(w->out);
    for (Py_ssize_t i = 0; rc == 0 && i < PySequence_Fast_GET_SIZE(items); i++) {
        if (i % WRITE_LOOK == 0 && w->json->writer_failed(w->out))
            break;
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        Py_INCREF(item);
        rc = py_write(w, item);
        Py_DECREF(item);
    }
    w->json->array_end(w->out);
    write_leave(w);
    return rc;
}

static int write_set(struct py_writer *w, PyObject *value)
{
    PyObject *items = PySequence_List(value);
    int rc = items ? write_items(w, items, value) : -1;

    Py_XDECREF(items);
    return rc;
}

/* Converts a subclass of str to an exact str with the same text. */
static PyObject *write_plain_string(PyObject *text)
{
    if (PyUnicode_CheckExact(text)) {
        Py_INCREF(text);
        return text;
    }
    return PyUnicode_Substring(text, 0, PY_SSIZE_T_MAX);
}

/* The text of a key if it can be one in JSON, else NULL without an exception. */
static const char *write_key_text(PyObject *key, Py_ssize_t *len)
{
    const char *text = PyUnicode_AsUTF8AndSize(key, len);

    if (!text && !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return text && !memchr(text, '\0', (size_t)*len) ? text : NULL;
}

/* 1: all keys are distinct strings, and no single one looks like a tag; 0: no; -1: exception. */
static int write_is_object(PyObject *keys)
{
    Py_ssize_t n = PyList_GET_SIZE(keys), len = 0;
    PyObject *texts = NULL; /* made when a key is of a subclass of str, whose == cannot be
                               trusted */
    int is = 1;

    for (Py_ssize_t i = 0; is == 1 && i < n; i++) {
        PyObject *key = PyList_GET_ITEM(keys, i);
        const char *text = PyUnicode_Check(key) ? write_key_text(key, &len) : NULL;
        if (!text || (n == 1 && text[0] == '$'))
            is = PyErr_Occurred() ? -1 : 0;
        else if (!PyUnicode_CheckExact(key) && !texts)
            is = (texts = PySet_New(NULL)) ? 1 : -1;
    }
    for (Py_ssize_t i = 0; texts && is == 1 && i < n; i++) {
        PyObject *plain = write_plain_string(PyList_GET_ITEM(keys, i));
        if (!plain || PySet_Add(texts, plain))
            is = -1;
        Py_XDECREF(plain);
    }
    if (texts && is == 1 && PySet_GET_SIZE(texts) != n)
        is = 0;
    Py_XDECREF(texts);
    return is;
}

/* The value of a key, which code of another value may have taken out meanwhile. New reference. */
static PyObject *write_value_of(PyObject *dict, PyObject *key)
{
    PyObject *value = PyDict_GetItemWithError(dict, key); /* borrowed */

    return value ? Py_NewRef(value) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static int write_members(struct py_writer *w, PyObject *dict, PyObject *keys)
{
    int rc = 0;

    w->json->object_begin(w->out);
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i), *value = write_value_of(dict, key);
        Py_ssize_t len;
        const char *text = value ? PyUnicode_AsUTF8AndSize(key, &len) : NULL;
        if (!text)
            rc = -1;
        else if (w->json->key(w->out, text, (size_t)len))
            rc = py_write(w, value);
        Py_XDECREF(value);
        if (i % WRITE_LOOK == 0 && w->json->writer_failed(w->out))
            break;
    }
    w->json->object_end(w->out);
    return rc;
}

/* {"$map":[[key,value],...]} */
static int write_map(struct py_writer *w, PyObject *dict, PyObject *keys)
{
    int rc = write_enter(w, keys);

    if (rc)
        return rc;
    w->json->object_begin(w->out);
    w->json->key(w->out, "$map", 4);
    w->json->array_begin(w->out);
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(keys); i++) {
        PyObject *value = write_value_of(dict, PyList_GET_ITEM(keys, i));
        PyObject *pair = value ? PyTuple_Pack(2, PyList_GET_ITEM(keys, i), value) : NULL;
        rc = pair ? write_items(w, pair, pair) : -1;
        Py_XDECREF(pair);
        Py_XDECREF(value);
        if (i % WRITE_LOOK == 0 && w->json->writer_failed(w->out))
            break;
    }
    w->json->array_end(w->out);
    w->json->object_end(w->out);
    write_leave(w);
    return rc;
}

static int write_dict(struct py_writer *w, PyObject *value)
{
    PyObject *keys = NULL;
    int rc = -1, plain;

    if (write_enter(w, value))
        return -1;
    /* A copy, because the dict may change while its values are written. */
    keys = PyDict_Keys(value);
    plain = keys ? write_is_object(keys) : -1;
    if (plain == 1)
        rc = write_members(w, value, keys);
    else if (plain == 0)
        rc = write_map(w, value, keys);
    write_leave(w);
    Py_XDECREF(keys);
    return rc;
}

/* ---- scalars -------------------------------------------------------------------------------- */

static int write_tagged(struct py_writer *w, const char *tag, PyObject *text)
{
    Py_ssize_t len;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;

    if (utf8) {
        w->json->object_begin(w->out);
        w->json->key(w->out, tag, strlen(tag));
        w->json->write_string(w->out, utf8, (size_t)len);
        w->json->object_end(w->out);
    }
    Py_XDECREF(text);
    return utf8 ? 0 : -1;
}

static int write_integer(struct py_writer *w, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);

    if (overflow)
        return write_tagged(w, "$int", PyLong_Type.tp_repr(value));
    if (number == -1 && PyErr_Occurred())
        return -1;
    w->json->write_int(w->out, number);
    return 0;
}

/* A range may be huge, so it is never expanded: the loop ends when the writer fails. */
static int write_range(struct py_writer *w, PyObject *value)
{
    PyObject *iterator = PyObject_GetIter(value), *item = NULL;
    int rc = iterator ? write_enter(w, value) : -1;

    if (rc == 0) {
        w->json->array_begin(w->out);
        while (rc == 0 && !w->json->writer_failed(w->out) && (item = PyIter_Next(iterator))) {
            rc = write_integer(w, item);
            Py_DECREF(item);
        }
        w->json->array_end(w->out);
        write_leave(w);
    }
    Py_XDECREF(iterator);
    return rc || PyErr_Occurred() ? -1 : 0;
}

/* Text that UTF-8 cannot encode is written as the bytes from which "surrogateescape" made it, or
 * else as "surrogatepass" encodes it. */
static int write_surrogates(struct py_writer *w, PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");

    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    }
    if (!bytes)
        return -1;
    w->json->write_bytes(w->out, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return 0;
}

static int write_string(struct py_writer *w, PyObject *value)
{
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(value, &len);

    if (!text) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return -1;
        PyErr_Clear();
        return write_surrogates(w, value);
    }
    w->json->write_string(w->out, text, (size_t)len);
    return 0;
}

/* Writes the float as repr does: the shortest text that reads back the same. */
static int write_float(struct py_writer *w, double number)
{
    char *text;

    if (!isfinite(number)) {
        w->json->write_double(w->out, number, true);
        return 0;
    }
    text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!text)
        return -1;
    w->json->write_raw(w->out, text, strlen(text));
    PyMem_Free(text);
    return 0;
}

static int write_complex(struct py_writer *w, PyObject *value)
{
    Py_complex number = PyComplex_AsCComplex(value);
    int rc;

    w->json->object_begin(w->out);
    w->json->key(w->out, "$complex", 8);
    w->json->array_begin(w->out);
    rc = write_float(w, number.real) || write_float(w, number.imag) ? -1 : 0;
    w->json->array_end(w->out);
    w->json->object_end(w->out);
    return rc;
}

/* ---- numpy and pandas ----------------------------------------------------------------------- */

/* `name` of a module that the code has loaded. New reference, or NULL without an exception. */
static PyObject *foreign_get(const char *module, const char *name)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *loaded = modules ? Py_XNewRef(PyDict_GetItemString(modules, module)) : NULL;
    PyObject *found = loaded ? PyObject_GetAttrString(loaded, name) : NULL;

    Py_XDECREF(loaded);
    if (!found)
        PyErr_Clear(); /* partly loaded, or another module of that name */
    return found;
}

/* Is the value of the class `name`? */
static bool foreign_is(PyObject *value, const char *module, const char *name)
{
    PyObject *class = foreign_get(module, name);
    int is = class ? PyObject_IsInstance(value, class) : 0;

    if (is < 0)
        PyErr_Clear();
    Py_XDECREF(class);
    return is == 1;
}

enum py_foreign py_foreign_kind(PyObject *value)
{
    if (foreign_is(value, "numpy", "generic"))
        return PY_FOREIGN_SCALAR;
    if (foreign_is(value, "numpy", "ndarray") || foreign_is(value, "pandas", "Series") ||
        foreign_is(value, "pandas", "Index"))
        return PY_FOREIGN_ARRAY;
    if (foreign_is(value, "pandas", "DataFrame"))
        return PY_FOREIGN_FRAME;
    return PY_FOREIGN_NONE;
}

/* Is the value one of pandas' missing values? NaT claims to be a datetime. */
static bool foreign_is_missing(PyObject *value)
{
    static const char *const marks[] = {"NA", "NaT"};
    bool is = false;

    for (size_t i = 0; !is && i < sizeof marks / sizeof *marks; i++) {
        PyObject *mark = foreign_get("pandas", marks[i]);
        is = mark == value;
        Py_XDECREF(mark);
    }
    return is;
}

/* Converts instants of numpy from any unit to microseconds, which datetime can represent. */
static PyObject *foreign_in_microseconds(PyObject *value)
{
    PyObject *dtype = PyObject_GetAttrString(value, "dtype"), *kind = NULL, *result = NULL;

    if (dtype)
        kind = PyObject_GetAttrString(dtype, "kind");
    if (kind && PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "M") == 0 &&
        PyObject_HasAttrString(value, "astype") && !foreign_is(value, "pandas", "Series") &&
        !foreign_is(value, "pandas", "Index"))
        result = PyObject_CallMethod(value, "astype", "s", "datetime64[us]");
    else if (kind || !PyErr_Occurred())
        result = Py_NewRef(value);
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    return result;
}

PyObject *py_foreign_item(PyObject *value)
{
    PyObject *plain = foreign_in_microseconds(value), *item = NULL;

    if (plain)
        item = PyObject_CallMethod(plain, "item", NULL);
    Py_XDECREF(plain);
    if (item && foreign_is(item, "numpy", "generic")) { /* Python has no type for a long double */
        PyObject *number = PyNumber_Float(item);
        Py_DECREF(item);
        item = number;
    }
    return item;
}

/* The elements of an array, as items of a list that has begun. */
static int write_foreign_items(struct py_writer *w, PyObject *value)
{
    PyObject *plain = foreign_in_microseconds(value), *items = NULL;
    int rc = -1;

    if (plain)
        items = PyObject_CallMethod(plain, "tolist", NULL);
    Py_XDECREF(plain);
    if (items && PyList_Check(items)) {
        rc = 0;
        for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(items); i++)
            rc = py_write(w, PyList_GET_ITEM(items, i));
    } else if (items) { /* an array without dimensions */
        rc = py_write(w, items);
    }
    Py_XDECREF(items);
    return rc;
}

/* The first dimension of an array, and how many elements each of its rows has. */
static int foreign_shape(PyObject *value, Py_ssize_t *n, Py_ssize_t *row)
{
    PyObject *shape = PyObject_GetAttrString(value, "shape");
    PyObject *first = shape ? PySequence_GetItem(shape, 0) : NULL;
    PyObject *size = first ? PyObject_GetAttrString(value, "size") : NULL;

    *n = first ? PyNumber_AsSsize_t(first, NULL) : -1;
    *row = size ? PyNumber_AsSsize_t(size, NULL) : -1;
    *row = *n > 0 ? *row / *n : *row;
    Py_XDECREF(size);
    Py_XDECREF(first);
    Py_XDECREF(shape);
    return PyErr_Occurred() ? -1 : 0;
}

static int write_foreign_list(struct py_writer *w, PyObject *value);

/* Some rows of an array at a time, so that a large one does not become as many objects. */
static int write_foreign_rows(struct py_writer *w, PyObject *value, PyObject *by_number,
                              Py_ssize_t n, Py_ssize_t row)
{
    PyObject *array = row > WRITE_SOME ? foreign_get("numpy", "ndarray") : NULL;
    const bool is_wide = array == (PyObject *)Py_TYPE(value); /* each row has a dimension less */
    const Py_ssize_t step = row < 1 ? WRITE_SOME : row > WRITE_SOME ? 1 : WRITE_SOME / row;
    int rc = 0;

    for (Py_ssize_t at = 0; rc == 0 && at < n && !w->json->writer_failed(w->out); at += step) {
        PyObject *some = is_wide ? PySequence_GetItem(by_number, at)
                                 : PySequence_GetSlice(by_number, at, at + step);
        if (!some)
            rc = -1;
        else
            rc = is_wide ? write_foreign_list(w, some) : write_foreign_items(w, some);
        Py_XDECREF(some);
    }
    Py_XDECREF(array);
    return rc;
}

static int write_foreign_list(struct py_writer *w, PyObject *value)
{
    Py_ssize_t n = 0, row = 0;
    int rc = write_enter(w, value);

    if (rc)
        return rc;
    if (foreign_shape(value, &n, &row)) {
        if (!PyErr_ExceptionMatches(PyExc_IndexError)) {
            write_leave(w);
            return -1;
        }
        PyErr_Clear();
        rc = write_foreign_items(w, value);
        write_leave(w);
        return rc;
    }
    PyObject *by_number = foreign_is(value, "pandas", "Series")
                              ? PyObject_GetAttrString(value, "iloc")
                              : Py_NewRef(value);
    w->json->array_begin(w->out);
    rc = by_number ? write_foreign_rows(w, value, by_number, n, row) : -1;
    w->json->array_end(w->out);
    Py_XDECREF(by_number);
    write_leave(w);
    return rc;
}

/* {"$frame":{"names":[...],"columns":[...],"rows":n}} */
static int write_frame_body(struct py_writer *w, PyObject *frame, PyObject *names)
{
    bool (*const failed)(const struct laz_json_writer *) = w->json->writer_failed;
    int rc = 0;
    Py_ssize_t rows = PyObject_Size(frame);

    w->json->object_begin(w->out);
    w->json->key(w->out, "$frame", 6);
    w->json->object_begin(w->out);
    w->json->key(w->out, "names", 5);
    w->json->array_begin(w->out);
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(names) && !failed(w->out); i++) {
        PyObject *name = PyObject_Str(PyList_GET_ITEM(names, i));
        rc = name ? write_string(w, name) : -1;
        Py_XDECREF(name);
    }
    w->json->array_end(w->out);
    w->json->key(w->out, "columns", 7);
    w->json->array_begin(w->out);
    PyObject *by_number = PyObject_GetAttrString(frame, "iloc");
    for (Py_ssize_t i = 0; rc == 0 && by_number && i < PyList_GET_SIZE(names) && !failed(w->out);
         i++) {
        PyObject *index = Py_BuildValue("(Nn)", PySlice_New(NULL, NULL, NULL), i);
        PyObject *column = index ? PyObject_GetItem(by_number, index) : NULL;
        rc = column ? write_foreign_list(w, column) : -1;
        Py_XDECREF(column);
        Py_XDECREF(index);
    }
    w->json->array_end(w->out);
    w->json->key(w->out, "rows", 4);
    w->json->write_int(w->out, rows);
    w->json->object_end(w->out);
    w->json->object_end(w->out);
    if (!by_number || rows < 0)
        rc = -1;
    Py_XDECREF(by_number);
    return rc;
}

static int write_frame(struct py_writer *w, PyObject *frame)
{
    PyObject *columns = PyObject_GetAttrString(frame, "columns");
    PyObject *names = columns ? PySequence_List(columns) : NULL;
    int rc = -1;

    if (names && write_enter(w, frame) == 0) {
        if (write_enter(w, names) == 0) {
            rc = write_frame_body(w, frame, names);
            write_leave(w);
        }
        write_leave(w);
    }
    Py_XDECREF(names);
    Py_XDECREF(columns);
    return rc;
}

static int write_foreign_scalar(struct py_writer *w, PyObject *value)
{
    PyObject *item = py_foreign_item(value);
    int rc = item ? py_write(w, item) : -1;

    Py_XDECREF(item);
    return rc;
}

/* ---- values that go to tools as text -------------------------------------------------------- */

static bool text_is_of_class(PyObject *value)
{
    static const char *const classes[][2] = {
        {"decimal", "Decimal"}, {"uuid", "UUID"}, {"pathlib", "PurePath"}};
    bool is = false;

    for (size_t i = 0; !is && i < sizeof classes / sizeof *classes; i++)
        is = foreign_is(value, classes[i][0], classes[i][1]);
    return is;
}

bool py_goes_as_text(PyObject *value)
{
    return py_date_is_text(value) || text_is_of_class(value);
}

static int write_as_text(struct py_writer *w, PyObject *value)
{
    PyObject *text = py_date_is_text(value) ? py_date_text(value) : PyObject_Str(value);
    int rc = text && PyUnicode_Check(text) ? write_string(w, text) : -1;

    if (text && rc && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "isoformat() returned what is no text");
    Py_XDECREF(text);
    return rc;
}

/* ---- everything else ------------------------------------------------------------------------ */

static int write_other(struct py_writer *w, PyObject *value)
{
    enum py_foreign foreign = py_foreign_kind(value);
    int rc;

    if (foreign == PY_FOREIGN_SCALAR)
        return write_foreign_scalar(w, value);
    if (foreign == PY_FOREIGN_ARRAY)
        return write_foreign_list(w, value);
    if (foreign == PY_FOREIGN_FRAME)
        return write_frame(w, value);
    if (foreign_is_missing(value)) {
        w->json->write_null(w->out);
        return 0;
    }
    rc = py_date_write(w, value);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (w->lossless && py_goes_as_text(value))
        return write_as_text(w, value);
    if (w->lossless) {
        PyErr_Format(PyExc_TypeError, "an object of type '%.100s' cannot be passed on",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    PyObject *repr = PyObject_Repr(value);
    PyObject *bytes = repr ? PyUnicode_AsEncodedString(repr, "utf-8", "backslashreplace") : NULL;
    Py_XDECREF(repr);
    PyObject *text = bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", NULL) : NULL;
    Py_XDECREF(bytes);
    return write_tagged(w, "$repr", text);
}

static int write_subclass(struct py_writer *w, PyObject *value)
{
    if (PyLong_Check(value))
        return write_integer(w, value);
    if (PyFloat_Check(value))
        return write_float(w, PyFloat_AS_DOUBLE(value));
    if (PyUnicode_Check(value))
        return write_string(w, value);
    if (PyDict_Check(value))
        return write_dict(w, value);
    if (PyList_Check(value) || PyTuple_Check(value))
        return write_items(w, value, value);
    if (PyBytes_Check(value)) {
        w->json->write_bytes(w->out, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
        return 0;
    }
    if (PyByteArray_Check(value)) {
        w->json->write_bytes(w->out, PyByteArray_AS_STRING(value),
                             (size_t)PyByteArray_GET_SIZE(value));
        return 0;
    }
    if (PyAnySet_Check(value))
        return write_set(w, value);
    if (PyRange_Check(value))
        return write_range(w, value);
    if (PyComplex_Check(value))
        return write_complex(w, value);
    return write_other(w, value);
}

int py_write(struct py_writer *w, PyObject *value)
{
    if (PyLong_CheckExact(value))
        return write_integer(w, value);
    if (PyFloat_CheckExact(value))
        return write_float(w, PyFloat_AS_DOUBLE(value));
    if (PyUnicode_CheckExact(value))
        return write_string(w, value);
    if (value == Py_None) {
        w->json->write_null(w->out);
        return 0;
    }
    if (PyBool_Check(value)) {
        w->json->write_bool(w->out, value == Py_True);
        return 0;
    }
    return write_subclass(w, value);
}
