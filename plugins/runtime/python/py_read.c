/* SPDX-License-Identifier: MIT */
/* py_read.c - converts JSON text to Python values.
 * Side: box.  Input trusted: yes (text of the host, which has validated it; at most 64 levels
 * deep).
 *
 * An object that looks like a tagged form but whose content does not fit the tag stays a dict. */
#include "py_runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_KEY_SHARED 64 /* equal keys up to this length share one object */
#define READ_NUMBERS    64 /* that are read together */

struct read_state {
    const struct laz_json_api *json;
    struct laz_json_reader *reader;
};

static PyObject *read_value(struct read_state *r);

/* A string or key has no NUL behind it. */
static uint32_t read_next(struct read_state *r, struct laz_json_token *token)
{
    return LAZ_HAS(r->json, next_in_place) ? r->json->next_in_place(r->reader, token)
                                           : r->json->next(r->reader, token);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static PyObject *read_number(const struct laz_json_token *token)
{
    if (strpbrk(token->text, ".eE")) {
        double number = PyOS_string_to_double(token->text, NULL, NULL);
        return number == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(number);
    }
    if (token->len <= 18)
        return PyLong_FromLongLong(strtoll(token->text, NULL, 10));
    return PyLong_FromString(token->text, NULL, 10);
}

/* ---- tagged forms: NULL without an exception when the content does not fit ------------------ */

static const char *read_text(PyObject *content)
{
    const char *text = PyUnicode_Check(content) ? PyUnicode_AsUTF8(content) : NULL;

    if (!text && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return text;
}

static PyObject *read_tag_num(struct read_state *r, PyObject *content)
{
    const char *text = read_text(content);

    (void)r;
    if (!text)
        return NULL;
    if (strcmp(text, "NaN") == 0)
        return PyFloat_FromDouble(Py_NAN);
    if (strcmp(text, "Inf") == 0)
        return PyFloat_FromDouble(Py_HUGE_VAL);
    if (strcmp(text, "-Inf") == 0)
        return PyFloat_FromDouble(-Py_HUGE_VAL);
    return NULL;
}

static PyObject *read_tag_int(struct read_state *r, PyObject *content)
{
    const char *text = read_text(content);
    size_t sign = text && text[0] == '-';

    (void)r;
    if (!text || !text[sign] || text[sign + strspn(text + sign, "0123456789")])
        return NULL;
    return PyLong_FromString(text, NULL, 10);
}

static PyObject *read_tag_bytes(struct read_state *r, PyObject *content)
{
    Py_ssize_t len = 0;
    const char *text = read_text(content) ? PyUnicode_AsUTF8AndSize(content, &len) : NULL;
    PyObject *bytes = NULL;

    if (!text)
        return NULL;
    bytes = PyBytes_FromStringAndSize(NULL, len / 4 * 3 + 3);
    if (!bytes)
        return NULL;
    ptrdiff_t n = r->json->base64_decode(text, (size_t)len, PyBytes_AS_STRING(bytes));
    if (n < 0)
        Py_CLEAR(bytes);
    else
        _PyBytes_Resize(&bytes, (Py_ssize_t)n);
    return bytes;
}

static PyObject *read_tag_date(struct read_state *r, PyObject *content)
{
    const char *text = read_text(content);

    (void)r;
    return text ? py_date_parse(text) : NULL;
}

static PyObject *read_tag_time(struct read_state *r, PyObject *content)
{
    const char *text = read_text(content);

    (void)r;
    return text ? py_time_parse(text) : NULL;
}

static PyObject *read_tag_na(struct read_state *r, PyObject *content)
{
    (void)r;
    return PyUnicode_Check(content) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *read_tag_complex(struct read_state *r, PyObject *content)
{
    double part[2];

    (void)r;
    if (!PyList_Check(content) || PyList_GET_SIZE(content) != 2)
        return NULL;
    for (int i = 0; i < 2; i++) {
        PyObject *item = PyList_GET_ITEM(content, i);
        if (!PyFloat_Check(item) && (!PyLong_Check(item) || PyBool_Check(item)))
            return NULL;
        part[i] = PyFloat_AsDouble(item);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return NULL;
        }
    }
    return PyComplex_FromDoubles(part[0], part[1]);
}

static PyObject *read_tag_factor(struct read_state *r, PyObject *content)
{
    PyObject *values = PyDict_Check(content) ? PyDict_GetItemString(content, "values") : NULL;

    (void)r;
    return values && PyList_Check(values) ? Py_NewRef(values) : NULL;
}

/* Makes a dict of columns; NULL when the content is malformed or two columns have the same name. */
static PyObject *read_tag_frame(struct read_state *r, PyObject *content)
{
    PyObject *names, *columns, *frame;

    (void)r;
    if (!PyDict_Check(content))
        return NULL;
    names = PyDict_GetItemString(content, "names");
    columns = PyDict_GetItemString(content, "columns");
    if (!names || !columns || !PyList_Check(names) || !PyList_Check(columns) ||
        PyList_GET_SIZE(names) != PyList_GET_SIZE(columns) || !(frame = PyDict_New()))
        return NULL;
    for (Py_ssize_t i = 0; frame && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        if (!PyUnicode_Check(name) || PyDict_Contains(frame, name) != 0 ||
            PyDict_SetItem(frame, name, PyList_GET_ITEM(columns, i)))
            Py_CLEAR(frame);
    }
    return frame;
}

/* Turns a list, which cannot be a key, into a tuple, which can; NULL: exception. */
static PyObject *read_frozen(PyObject *key)
{
    PyObject *tuple;

    if (!PyList_Check(key))
        return Py_NewRef(key);
    tuple = PyTuple_New(PyList_GET_SIZE(key));
    for (Py_ssize_t i = 0; tuple && i < PyList_GET_SIZE(key); i++) {
        PyObject *item = read_frozen(PyList_GET_ITEM(key, i));
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *read_tag_map(struct read_state *r, PyObject *content)
{
    PyObject *map = PyList_Check(content) ? PyDict_New() : NULL;

    (void)r;
    for (Py_ssize_t i = 0; map && i < PyList_GET_SIZE(content); i++) {
        PyObject *pair = PyList_GET_ITEM(content, i), *key = NULL;
        if (!PyList_Check(pair) || PyList_GET_SIZE(pair) != 2 ||
            !(key = read_frozen(PyList_GET_ITEM(pair, 0))) ||
            PyDict_SetItem(map, key, PyList_GET_ITEM(pair, 1)))
            Py_CLEAR(map);
        Py_XDECREF(key);
    }
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear(); /* a dict cannot be a key */
    return map;
}

static PyObject *read_tag_repr(struct read_state *r, PyObject *content)
{
    (void)r;
    return PyUnicode_Check(content) ? Py_NewRef(content) : NULL;
}

static const struct read_tag {
    const char *tag;
    PyObject *(*read)(struct read_state *r, PyObject *content);
} read_tags[] = {
    {"$num", read_tag_num},         {"$int", read_tag_int},       {"$bytes", read_tag_bytes},
    {"$date", read_tag_date},       {"$time", read_tag_time},     {"$na", read_tag_na},
    {"$complex", read_tag_complex}, {"$factor", read_tag_factor}, {"$frame", read_tag_frame},
    {"$map", read_tag_map},         {"$repr", read_tag_repr},
};

static const struct read_tag *read_tag_find(const char *tag)
{
    for (size_t i = 0; tag && i < sizeof read_tags / sizeof *read_tags; i++)
        if (strcmp(read_tags[i].tag, tag) == 0)
            return &read_tags[i];
    return NULL;
}

/* ---- containers ----------------------------------------------------------------------------- */

/* Takes the item; -1: exception. */
static int read_append(PyObject *list, PyObject *item)
{
    int rc = item ? PyList_Append(list, item) : -1;

    Py_XDECREF(item);
    return rc;
}

/* Appends the numbers that come next. */
static int read_numbers(struct read_state *r, PyObject *list)
{
    struct laz_json_number some[READ_NUMBERS];
    size_t got = READ_NUMBERS;
    int rc = 0;

    while (rc == 0 && got == READ_NUMBERS && LAZ_HAS(r->json, next_numbers)) {
        got = r->json->next_numbers(r->reader, some, READ_NUMBERS);
        for (size_t i = 0; rc == 0 && i < got; i++)
            rc = read_append(list, some[i].is_whole ? PyLong_FromLongLong(some[i].whole)
                                                    : PyFloat_FromDouble(some[i].value));
    }
    return rc;
}

static PyObject *read_array(struct read_state *r)
{
    struct laz_json_token token;
    PyObject *list = PyList_New(0);

    if (list && read_numbers(r, list))
        Py_CLEAR(list);
    while (list && r->json->peek(r->reader) != LAZ_JSON_ARRAY_END) {
        if (read_append(list, read_value(r)) || read_numbers(r, list))
            Py_CLEAR(list);
    }
    if (list)
        r->json->next(r->reader, &token);
    return list;
}

static PyObject *read_object(struct read_state *r)
{
    struct laz_json_token token;
    PyObject *dict = PyDict_New();

    while (dict && read_next(r, &token) == LAZ_JSON_KEY) {
        PyObject *key = PyUnicode_DecodeUTF8(token.text, (Py_ssize_t)token.len, NULL);
        if (key && token.len <= READ_KEY_SHARED)
            PyUnicode_InternInPlace(&key);
        PyObject *value = key ? read_value(r) : NULL;
        if (!value || PyDict_SetItem(dict, key, value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
        Py_XDECREF(key);
    }
    return dict;
}

/* The reader stands before an object whose only key is `tag->tag`. */
static PyObject *read_tagged(struct read_state *r, const struct read_tag *tag)
{
    struct laz_json_token token;
    PyObject *content, *value = NULL;

    r->json->next(r->reader, &token);
    r->json->next(r->reader, &token);
    content = read_value(r);
    if (content)
        value = tag->read(r, content);
    if (content && !value && !PyErr_Occurred())
        value = Py_BuildValue("{sO}", tag->tag, content);
    r->json->next(r->reader, &token);
    Py_XDECREF(content);
    return value;
}

static PyObject *read_value(struct read_state *r)
{
    struct laz_json_token token;

    if (r->json->peek(r->reader) == LAZ_JSON_OBJECT_BEGIN) {
        const struct read_tag *tag = read_tag_find(r->json->peek_tag(r->reader));
        if (tag)
            return read_tagged(r, tag);
    }
    switch (read_next(r, &token)) {
    case LAZ_JSON_NULL:
        return Py_NewRef(Py_None);
    case LAZ_JSON_FALSE:
        return Py_NewRef(Py_False);
    case LAZ_JSON_TRUE:
        return Py_NewRef(Py_True);
    case LAZ_JSON_NUMBER:
        return read_number(&token);
    case LAZ_JSON_STRING:
        return PyUnicode_DecodeUTF8(token.text, (Py_ssize_t)token.len, NULL);
    case LAZ_JSON_ARRAY_BEGIN:
        return read_array(r);
    case LAZ_JSON_OBJECT_BEGIN:
        return read_object(r);
    default:
        if (r->json->reader_failed(r->reader))
            PyErr_SetString(PyExc_ValueError, "the host sent a value that is not JSON");
        else
            PyErr_SetString(PyExc_ValueError, "the host sent no value");
        return NULL;
    }
}

PyObject *py_read(const struct laz_json_api *json, const char *text, size_t len)
{
    struct read_state r = {.json = json, .reader = json->reader_new(text, len)};
    PyObject *value = r.reader ? read_value(&r) : PyErr_NoMemory();

    json->reader_free(r.reader);
    return value;
}
