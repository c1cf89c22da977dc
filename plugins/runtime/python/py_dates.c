/* SPDX-License-Identifier: MIT */
/* py_dates.c - converts dates and instants in both directions.
 * Side: box.  Input trusted: no (objects of the code; texts come from the host).
 *
 * The only file that uses datetime's C interface, which is loaded with the first date, because most
 * sessions have none. */
#include "py_runtime.h"

#include <datetime.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- to JSON -------------------------------------------------------------------------------- */

/* False without an exception when nothing has loaded datetime, so that no value can be a date. */
static bool date_is_ready(bool load)
{
    PyObject *modules = PyImport_GetModuleDict();

    if (!PyDateTimeAPI && (load || (modules && PyDict_GetItemString(modules, "datetime"))))
        PyDateTime_IMPORT;
    return PyDateTimeAPI != NULL;
}

static void date_write_tag(struct py_writer *w, const char *tag, const char *text)
{
    w->json->object_begin(w->out);
    w->json->key(w->out, tag, strlen(tag));
    w->json->write_string(w->out, text, strlen(text));
    w->json->object_end(w->out);
}

/* The offset as RFC 3339 writes it, "" for local time. Returns 1 when it has seconds, which
 * RFC 3339 cannot say; -1: exception. */
static int date_offset(PyObject *value, char *text, size_t size)
{
    PyObject *offset = PyObject_CallMethod(value, "utcoffset", NULL);
    int rc = 0;

    text[0] = '\0';
    if (!offset)
        return -1;
    if (PyDelta_Check(offset)) {
        int seconds =
            PyDateTime_DELTA_GET_DAYS(offset) * 86400 + PyDateTime_DELTA_GET_SECONDS(offset);
        int minutes = abs(seconds) / 60;
        rc = seconds % 60 != 0 || PyDateTime_DELTA_GET_MICROSECONDS(offset) != 0;
        if (seconds == 0)
            snprintf(text, size, "Z");
        else
            snprintf(text, size, "%c%02d:%02d", seconds < 0 ? '-' : '+', minutes / 60,
                     minutes % 60);
    }
    Py_DECREF(offset);
    return rc;
}

static int date_write_time(struct py_writer *w, PyObject *value)
{
    char offset[16], fraction[16] = "", text[64];
    int odd = date_offset(value, offset, sizeof offset);
    int micro = PyDateTime_DATE_GET_MICROSECOND(value);

    if (odd < 0)
        return -1;
    if (odd) {
        PyObject *utc = PyObject_CallMethod(value, "astimezone", "O", PyDateTimeAPI->TimeZone_UTC);
        int rc = utc && PyDateTime_Check(utc) ? date_write_time(w, utc) : -1;
        Py_XDECREF(utc);
        return rc;
    }
    if (micro) {
        int len = snprintf(fraction, sizeof fraction, ".%06d", micro);
        while (fraction[len - 1] == '0')
            fraction[--len] = '\0';
    }
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%s%s", PyDateTime_GET_YEAR(value),
             PyDateTime_GET_MONTH(value), PyDateTime_GET_DAY(value),
             PyDateTime_DATE_GET_HOUR(value), PyDateTime_DATE_GET_MINUTE(value),
             PyDateTime_DATE_GET_SECOND(value), fraction, offset);
    date_write_tag(w, "$time", text);
    return 1;
}

int py_date_write(struct py_writer *w, PyObject *value)
{
    char text[32];

    if (!date_is_ready(false))
        return PyErr_Occurred() ? -1 : 0;
    if (PyDateTime_Check(value))
        return date_write_time(w, value);
    if (!PyDate_Check(value))
        return 0;
    snprintf(text, sizeof text, "%04d-%02d-%02d", PyDateTime_GET_YEAR(value),
             PyDateTime_GET_MONTH(value), PyDateTime_GET_DAY(value));
    date_write_tag(w, "$date", text);
    return 1;
}

/* A duration as ISO 8601 writes it, in days and seconds: "-P1DT3.5S". */
static PyObject *date_duration(PyObject *value)
{
    long long days = PyDateTime_DELTA_GET_DAYS(value);
    int seconds = PyDateTime_DELTA_GET_SECONDS(value);
    int micro = PyDateTime_DELTA_GET_MICROSECONDS(value);
    const bool is_negative = days < 0; /* the other two never are */
    char text[64], fraction[16] = "", whole[32] = "";

    if (is_negative) {
        long long all = -(days * 86400 + seconds) - (micro > 0);
        micro = micro ? 1000000 - micro : 0;
        days = all / 86400;
        seconds = (int)(all % 86400);
    }
    if (micro) {
        int len = snprintf(fraction, sizeof fraction, ".%06d", micro);
        while (fraction[len - 1] == '0')
            fraction[--len] = '\0';
    }
    if (days)
        snprintf(whole, sizeof whole, "%lldD", days);
    if (days && !seconds && !micro)
        snprintf(text, sizeof text, "%sP%s", is_negative ? "-" : "", whole);
    else
        snprintf(text, sizeof text, "%sP%sT%d%sS", is_negative ? "-" : "", whole, seconds,
                 fraction);
    return PyUnicode_FromString(text);
}

bool py_date_is_text(PyObject *value)
{
    return date_is_ready(false) && (PyTime_Check(value) || PyDelta_Check(value));
}

PyObject *py_date_text(PyObject *value)
{
    return PyDelta_Check(value) ? date_duration(value)
                                : PyObject_CallMethod(value, "isoformat", NULL);
}

/* ---- from JSON ------------------------------------------------------------------------------ */

/* `n` digits at *text as a number, *text moved past them; false when they are not digits. */
static bool date_digits(const char **text, int n, int *number)
{
    *number = 0;
    for (int i = 0; i < n; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *number = *number * 10 + (**text - '0');
    }
    return true;
}

static bool date_take(const char **text, const char *any_of)
{
    if (!**text || !strchr(any_of, **text))
        return false;
    (*text)++;
    return true;
}

static bool date_take_day(const char **text, int *year, int *month, int *day)
{
    return date_digits(text, 4, year) && date_take(text, "-") && date_digits(text, 2, month) &&
           date_take(text, "-") && date_digits(text, 2, day);
}

/* Values that datetime rejects (the year 0, February 30) are not dates: clears the exception. */
static PyObject *date_or_nothing(PyObject *value)
{
    if (!value && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Clear();
    return value;
}

PyObject *py_date_parse(const char *text)
{
    int year, month, day;

    if (!date_take_day(&text, &year, &month, &day) || *text || !date_is_ready(true))
        return NULL;
    return date_or_nothing(PyDate_FromDate(year, month, day));
}

/* ".25" as microseconds; further digits are discarded. */
static bool date_take_fraction(const char **text, int *micro)
{
    int digits = 0;

    *micro = 0;
    if (!date_take(text, "."))
        return true;
    for (; **text >= '0' && **text <= '9'; (*text)++, digits++)
        if (digits < 6)
            *micro = *micro * 10 + (**text - '0');
    for (int i = digits; i < 6; i++)
        *micro *= 10;
    return digits > 0;
}

/* "", "Z" or "+01:00" to the end. *seconds is the offset, *local is true for "". */
static bool date_take_offset(const char **text, int *seconds, bool *local)
{
    int hours, minutes;
    bool west = **text == '-';

    *seconds = 0;
    *local = **text == '\0';
    if (*local || (date_take(text, "Zz") && !**text))
        return true;
    if (!date_take(text, "+-") || !date_digits(text, 2, &hours) || !date_take(text, ":") ||
        !date_digits(text, 2, &minutes) || **text || hours > 23 || minutes > 59)
        return false;
    *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static PyObject *date_zone(int seconds)
{
    PyObject *delta, *zone;

    if (seconds == 0)
        return Py_NewRef(PyDateTimeAPI->TimeZone_UTC);
    delta = PyDelta_FromDSU(0, seconds, 0);
    zone = delta ? PyTimeZone_FromOffset(delta) : NULL;
    Py_XDECREF(delta);
    return zone;
}

PyObject *py_time_parse(const char *text)
{
    int year, month, day, hour, minute, second, micro, offset;
    bool local;
    PyObject *zone = NULL, *value = NULL;

    if (!date_take_day(&text, &year, &month, &day) || !date_take(&text, "Tt ") ||
        !date_digits(&text, 2, &hour) || !date_take(&text, ":") ||
        !date_digits(&text, 2, &minute) || !date_take(&text, ":") ||
        !date_digits(&text, 2, &second) || !date_take_fraction(&text, &micro) ||
        !date_take_offset(&text, &offset, &local) || !date_is_ready(true))
        return NULL;
    if (second == 60) /* a leap second, which datetime does not support */
        second = 59;
    zone = local ? Py_NewRef(Py_None) : date_zone(offset);
    if (zone)
        value = PyDateTimeAPI->DateTime_FromDateAndTime(year, month, day, hour, minute, second,
                                                        micro, zone, PyDateTimeAPI->DateTimeType);
    Py_XDECREF(zone);
    return date_or_nothing(value);
}
