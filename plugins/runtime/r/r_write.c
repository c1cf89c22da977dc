/* SPDX-License-Identifier: MIT */
/* r_write.c - converts R values to JSON.
 * Side: agent.  Input trusted: no (values of the code).
 *
 * A vector of one is a scalar, a longer one an array, names make an object; values without a JSON
 * form take the tagged forms of <lazaret/json.h>, and for a reader that is R too the form $r, which
 * has a type and attributes (docs/values-r.md). No function of the code runs here (no dispatch), so
 * the writer cannot be re-entered. Elements are read one by one, or a few at once, and a full
 * writer ends every loop, so 1:1e9 is never expanded. */
#include "r.h"

#include <stdlib.h>
#include <string.h>

/* Levels of an R value; tagged forms add up to four, and the protocol allows 64. */
#define WRITE_MAX_DEPTH 48

#define WRITE_NUMBERS 64 /* that are written together */

enum write_kind {
    WRITE_LOGICAL,
    WRITE_INTEGER,
    WRITE_REAL,
    WRITE_INTEGER64, /* of package bit64: 64-bit integers stored in doubles */
    WRITE_DECIMAL,   /* class lazaret_int: integers as text */
    WRITE_STRING,
    WRITE_COMPLEX,
    WRITE_DATE,
    WRITE_TIME,
    WRITE_LIST,
};

static void write_value(struct r_writing *w, SEXP x, unsigned as, unsigned depth);

static bool write_is_full(const struct r_writing *w)
{
    return w->refused || w->json->writer_failed(w->out);
}

/* False: a value is nested too deeply, and nothing more is written. */
static bool write_may_be_at(struct r_writing *w, unsigned depth)
{
    if (depth <= WRITE_MAX_DEPTH)
        return true;
    w->refused = "a value nested too deeply";
    w->json->write_null(w->out);
    return false;
}

static void write_tag(struct r_writing *w, const char *tag)
{
    w->json->object_begin(w->out);
    w->json->key(w->out, tag, strlen(tag));
}

static void write_tagged_text(struct r_writing *w, const char *tag, const char *text)
{
    write_tag(w, tag);
    w->json->write_string(w->out, text, strlen(text));
    w->json->object_end(w->out);
}

static void write_char(struct r_writing *w, SEXP text)
{
    if (Rf_getCharCE(text) == CE_BYTES) {
        w->json->write_bytes(w->out, CHAR(text), (size_t)LENGTH(text));
        return;
    }
    if (w->state->utf8 && Rf_getCharCE(text) != CE_LATIN1) { /* invalid text becomes $bytes */
        w->json->write_string(w->out, CHAR(text), (size_t)LENGTH(text));
        return;
    }
    const void *top = vmaxget();
    const char *utf8 = Rf_translateCharUTF8(text);
    w->json->write_string(w->out, utf8, strlen(utf8));
    vmaxset(top);
}

static void write_real(struct r_writing *w, double value)
{
    if (R_IsNA(value))
        write_tagged_text(w, "$na", "double");
    else
        w->json->write_double(w->out, value, false);
}

static void write_date(struct r_writing *w, double days)
{
    char text[R_TIME_TEXT];

    if (r_date_format(days, text))
        write_tagged_text(w, "$date", text);
    else
        write_real(w, days);
}

static void write_time(struct r_writing *w, double seconds)
{
    char text[R_TIME_TEXT];

    if (r_time_format(seconds, text))
        write_tagged_text(w, "$time", text);
    else
        write_real(w, seconds);
}

/* An integer of any size, as decimal digits. */
static void write_decimal(struct r_writing *w, SEXP text)
{
    const char *digits = CHAR(text);
    size_t sign = digits[0] == '-';
    char *end;

    if (text == NA_STRING) {
        write_tagged_text(w, "$na", "integer");
    } else if (digits[sign] == '\0' ||
               strspn(digits + sign, "0123456789") != strlen(digits) - sign) {
        write_char(w, text);
    } else if (strlen(digits) < 18) {
        w->json->write_int(w->out, strtoll(digits, &end, 10));
    } else {
        write_tagged_text(w, "$int", digits);
    }
}

static void write_complex(struct r_writing *w, Rcomplex value)
{
    write_tag(w, "$complex");
    w->json->array_begin(w->out);
    write_real(w, value.r);
    write_real(w, value.i);
    w->json->array_end(w->out);
    w->json->object_end(w->out);
}

static enum write_kind write_kind_of_type(SEXP x)
{
    switch (TYPEOF(x)) {
    case LGLSXP:
        return WRITE_LOGICAL;
    case INTSXP:
        return WRITE_INTEGER;
    case REALSXP:
        return WRITE_REAL;
    case CPLXSXP:
        return WRITE_COMPLEX;
    case STRSXP:
        return WRITE_STRING;
    default:
        return WRITE_LIST;
    }
}

static enum write_kind write_kind_of(SEXP x)
{
    bool is_number = OBJECT(x) && (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP);

    if (is_number && Rf_inherits(x, "Date"))
        return WRITE_DATE;
    if (is_number && Rf_inherits(x, "POSIXct"))
        return WRITE_TIME;
    if (is_number && TYPEOF(x) == REALSXP && Rf_inherits(x, "integer64"))
        return WRITE_INTEGER64;
    if (OBJECT(x) && TYPEOF(x) == STRSXP && Rf_inherits(x, "lazaret_int"))
        return WRITE_DECIMAL;
    return write_kind_of_type(x);
}

static double write_as_double(SEXP x, R_xlen_t i)
{
    if (TYPEOF(x) == REALSXP)
        return REAL_ELT(x, i);
    int value = INTEGER_ELT(x, i);
    return value == NA_INTEGER ? NA_REAL : value;
}

static void write_integer64(struct r_writing *w, double bits)
{
    int64_t value;

    memcpy(&value, &bits, sizeof value);
    if (value == INT64_MIN)
        write_tagged_text(w, "$na", "integer");
    else
        w->json->write_int(w->out, value);
}

static void write_element(struct r_writing *w, SEXP x, R_xlen_t i, enum write_kind kind,
                          unsigned depth)
{
    switch (kind) {
    case WRITE_LOGICAL:
        if (LOGICAL_ELT(x, i) == NA_LOGICAL)
            write_tagged_text(w, "$na", "logical");
        else
            w->json->write_bool(w->out, LOGICAL_ELT(x, i) != 0);
        break;
    case WRITE_INTEGER:
        if (INTEGER_ELT(x, i) == NA_INTEGER)
            write_tagged_text(w, "$na", "integer");
        else
            w->json->write_int(w->out, INTEGER_ELT(x, i));
        break;
    case WRITE_REAL:
        write_real(w, REAL_ELT(x, i));
        break;
    case WRITE_INTEGER64:
        write_integer64(w, REAL_ELT(x, i));
        break;
    case WRITE_DECIMAL:
        write_decimal(w, STRING_ELT(x, i));
        break;
    case WRITE_STRING:
        if (STRING_ELT(x, i) == NA_STRING)
            write_tagged_text(w, "$na", "character");
        else
            write_char(w, STRING_ELT(x, i));
        break;
    case WRITE_COMPLEX:
        write_complex(w, COMPLEX_ELT(x, i));
        break;
    case WRITE_DATE:
        write_date(w, write_as_double(x, i));
        break;
    case WRITE_TIME:
        write_time(w, write_as_double(x, i));
        break;
    case WRITE_LIST:
        write_value(w, VECTOR_ELT(x, i), R_AS_IT_IS, depth + 1);
        break;
    }
}

/* The doubles between those that are NA are written together. */
static void write_reals(struct r_writing *w, const double *values, R_xlen_t n)
{
    R_xlen_t from = 0;

    for (R_xlen_t i = 0; i <= n; i++) {
        if (i < n && !(ISNAN(values[i]) && R_IsNA(values[i])))
            continue;
        w->json->write_doubles(w->out, values + from, (size_t)(i - from), false);
        if (i < n)
            write_real(w, values[i]);
        from = i + 1;
    }
}

static void write_elements(struct r_writing *w, SEXP x, enum write_kind kind, unsigned depth)
{
    R_xlen_t n = Rf_xlength(x), i = 0;
    double some[WRITE_NUMBERS];

    w->json->array_begin(w->out);
    while (kind == WRITE_REAL && LAZ_HAS(w->json, write_doubles) && i < n && !write_is_full(w)) {
        R_xlen_t got = REAL_GET_REGION(x, i, WRITE_NUMBERS, some);
        write_reals(w, some, got);
        i += got;
    }
    for (; i < n && !write_is_full(w); i++)
        write_element(w, x, i, kind, depth);
    w->json->array_end(w->out);
}

static void write_array(struct r_writing *w, SEXP x, unsigned depth)
{
    write_elements(w, x, write_kind_of(x), depth);
}

/* Writes a matrix as an array of its rows, and more dimensions likewise, the first outermost. */
static void write_dims(struct r_writing *w, SEXP x, SEXP dims, int at, R_xlen_t offset,
                       R_xlen_t stride, unsigned depth)
{
    enum write_kind kind = write_kind_of(x);
    int n = INTEGER_ELT(dims, at);

    if (!write_may_be_at(w, depth))
        return;
    w->json->array_begin(w->out);
    for (int i = 0; i < n && !write_is_full(w); i++) {
        R_xlen_t element = offset + i * stride;
        if (at + 1 == LENGTH(dims))
            write_element(w, x, element, kind, depth);
        else
            write_dims(w, x, dims, at + 1, element, stride * n, depth + 1);
    }
    w->json->array_end(w->out);
}

static bool write_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    while (*p) {
        unsigned c = *p++;
        unsigned more = c < 0x80 ? 0 : c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : 1;
        if (more == 1 && (c < 0xc2 || c >= 0xe0))
            return false;
        if (more > 1 && ((c == 0xe0 && *p < 0xa0) || (c == 0xed && *p > 0x9f) ||
                         (c == 0xf0 && *p < 0x90) || (c == 0xf4 && *p > 0x8f)))
            return false;
        for (; more > 0; more--, p++) {
            if ((*p & 0xc0) != 0x80)
                return false;
        }
    }
    return true;
}

/* Can the names be the keys of a JSON object that no reader takes for a tagged form? */
static bool write_names_are_keys(SEXP names)
{
    R_xlen_t n = Rf_xlength(names);
    bool good = true;

    if (n == 1 && CHAR(STRING_ELT(names, 0))[0] == '$')
        return false;
    for (R_xlen_t i = 0; good && i < n; i++) {
        SEXP name = STRING_ELT(names, i);
        const void *top = vmaxget();
        good = name != NA_STRING && LENGTH(name) > 0 && Rf_getCharCE(name) != CE_BYTES &&
               write_is_utf8(Rf_translateCharUTF8(name));
        vmaxset(top);
    }
    return good && Rf_any_duplicated(names, FALSE) == 0;
}

static void write_map(struct r_writing *w, SEXP x, SEXP names, unsigned depth)
{
    enum write_kind kind = write_kind_of(x);
    R_xlen_t n = Rf_xlength(x);

    write_tag(w, "$map");
    w->json->array_begin(w->out);
    for (R_xlen_t i = 0; i < n && !write_is_full(w); i++) {
        w->json->array_begin(w->out);
        write_element(w, names, i, WRITE_STRING, depth);
        write_element(w, x, i, kind, depth + 3);
        w->json->array_end(w->out);
    }
    w->json->array_end(w->out);
    w->json->object_end(w->out);
}

static void write_named(struct r_writing *w, SEXP x, SEXP names, unsigned depth)
{
    enum write_kind kind = write_kind_of(x);
    R_xlen_t n = Rf_xlength(x);

    if (!write_names_are_keys(names)) {
        write_map(w, x, names, depth);
        return;
    }
    w->json->object_begin(w->out);
    for (R_xlen_t i = 0; i < n && !write_is_full(w); i++) {
        const void *top = vmaxget();
        const char *name = Rf_translateCharUTF8(STRING_ELT(names, i));
        w->json->key(w->out, name, strlen(name));
        vmaxset(top);
        write_element(w, x, i, kind, depth);
    }
    w->json->object_end(w->out);
}

static void write_factor(struct r_writing *w, SEXP x)
{
    SEXP levels = PROTECT(Rf_getAttrib(x, R_LevelsSymbol));
    R_xlen_t n = Rf_xlength(x);
    R_xlen_t n_levels = TYPEOF(levels) == STRSXP ? Rf_xlength(levels) : 0;

    write_tag(w, "$factor");
    w->json->object_begin(w->out);
    w->json->key(w->out, "levels", 6);
    w->json->array_begin(w->out);
    for (R_xlen_t i = 0; i < n_levels && !write_is_full(w); i++)
        write_char(w, STRING_ELT(levels, i));
    w->json->array_end(w->out);
    w->json->key(w->out, "values", 6);
    w->json->array_begin(w->out);
    for (R_xlen_t i = 0; i < n && !write_is_full(w); i++) {
        int code = INTEGER_ELT(x, i);
        if (code < 1 || code > n_levels)
            w->json->write_null(w->out);
        else
            write_char(w, STRING_ELT(levels, code - 1));
    }
    w->json->array_end(w->out);
    w->json->key(w->out, "ordered", 7);
    w->json->write_bool(w->out, Rf_inherits(x, "ordered"));
    w->json->object_end(w->out);
    w->json->object_end(w->out);
    UNPROTECT(1);
}

static void write_column(struct r_writing *w, SEXP x, unsigned depth)
{
    bool plain = TYPEOF(x) == VECSXP ? !OBJECT(x) : Rf_isVectorAtomic(x) && TYPEOF(x) != RAWSXP;
    SEXP dims = PROTECT(Rf_getAttrib(x, R_DimSymbol));

    if (plain && !Rf_isFactor(x) && !Rf_isS4(x) && Rf_length(dims) < 2)
        write_array(w, x, depth);
    else
        write_value(w, x, R_AS_IT_IS, depth);
    UNPROTECT(1);
}

static void write_frame(struct r_writing *w, SEXP x, unsigned depth)
{
    SEXP names = PROTECT(Rf_getAttrib(x, R_NamesSymbol));
    SEXP rows = PROTECT(Rf_getAttrib(x, R_RowNamesSymbol));
    R_xlen_t n = Rf_xlength(x);

    write_tag(w, "$frame");
    w->json->object_begin(w->out);
    w->json->key(w->out, "names", 5);
    if (TYPEOF(names) == STRSXP) {
        write_array(w, names, depth);
    } else {
        w->json->array_begin(w->out);
        w->json->array_end(w->out);
    }
    w->json->key(w->out, "columns", 7);
    w->json->array_begin(w->out);
    for (R_xlen_t i = 0; i < n && !write_is_full(w); i++)
        write_column(w, VECTOR_ELT(x, i), depth + 4);
    w->json->array_end(w->out);
    w->json->key(w->out, "rows", 4);
    w->json->write_int(w->out, (int64_t)Rf_xlength(rows));
    w->json->object_end(w->out);
    w->json->object_end(w->out);
    UNPROTECT(2);
}

/* Writes a map whose keys are not strings: list(keys, values) of class lazaret_map. */
static bool write_keyed(struct r_writing *w, SEXP x, unsigned depth)
{
    if (TYPEOF(x) != VECSXP || Rf_length(x) != 2)
        return false;
    SEXP keys = VECTOR_ELT(x, 0);
    SEXP values = VECTOR_ELT(x, 1);
    if (TYPEOF(keys) != VECSXP || TYPEOF(values) != VECSXP ||
        Rf_xlength(keys) != Rf_xlength(values))
        return false;
    R_xlen_t n = Rf_xlength(keys);

    write_tag(w, "$map");
    w->json->array_begin(w->out);
    for (R_xlen_t i = 0; i < n && !write_is_full(w); i++) {
        w->json->array_begin(w->out);
        write_value(w, VECTOR_ELT(keys, i), R_AS_IT_IS, depth + 4);
        write_value(w, VECTOR_ELT(values, i), R_AS_IT_IS, depth + 4);
        w->json->array_end(w->out);
    }
    w->json->array_end(w->out);
    w->json->object_end(w->out);
    return true;
}

static const char *write_foreign_name(SEXP x)
{
    static const struct {
        int type;
        const char *name;
    } names[] = {
        {CLOSXP, "a function"},           {BUILTINSXP, "a function"},
        {SPECIALSXP, "a function"},       {ENVSXP, "an environment"},
        {S4SXP, "an S4 object"},          {EXTPTRSXP, "an external pointer"},
        {WEAKREFSXP, "a weak reference"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (TYPEOF(x) == names[i].type)
            return names[i].name;
    }
    return Rf_isS4(x) ? "an S4 object" : "an expression";
}

static void write_foreign(struct r_writing *w, SEXP x, const char *what)
{
    if (w->strict) {
        w->refused = what;
        w->json->write_null(w->out);
        return;
    }
    SEXP quoted = PROTECT(Rf_lang2(Rf_install("quote"), x));
    SEXP text = PROTECT(r_support1(w->state, "represent", quoted));
    write_tag(w, "$repr");
    write_char(w, STRING_ELT(text, 0));
    w->json->object_end(w->out);
    UNPROTECT(2);
}

static void write_list(struct r_writing *w, SEXP x, unsigned as, unsigned depth)
{
    SEXP names = R_NilValue;

    if (OBJECT(x) && Rf_inherits(x, "lazaret_map") && write_keyed(w, x, depth))
        return;
    if (OBJECT(x) && Rf_inherits(x, "POSIXlt")) {
        SEXP time = PROTECT(r_support1(w->state, "as_instant", x));
        write_value(w, time, as, depth);
        UNPROTECT(1);
        return;
    }
    if (OBJECT(x) && Rf_inherits(x, "data.frame")) {
        write_frame(w, x, depth);
        return;
    }
    SEXP dims = PROTECT(Rf_getAttrib(x, R_DimSymbol));
    names = PROTECT(Rf_getAttrib(x, R_NamesSymbol));
    if (Rf_length(dims) >= 2) {
        write_dims(w, x, dims, 0, 0, 1, depth);
    } else if (TYPEOF(names) == STRSXP) {
        write_named(w, x, names, depth);
    } else if (as == R_AS_OBJECT && Rf_xlength(x) == 0) {
        w->json->object_begin(w->out);
        w->json->object_end(w->out);
    } else {
        write_array(w, x, depth);
    }
    UNPROTECT(2);
}

static void write_atomic(struct r_writing *w, SEXP x, unsigned as, unsigned depth)
{
    if (OBJECT(x) && Rf_isFactor(x)) {
        write_factor(w, x);
        return;
    }
    SEXP dims = PROTECT(Rf_getAttrib(x, R_DimSymbol));
    SEXP names = PROTECT(Rf_getAttrib(x, R_NamesSymbol));
    R_xlen_t n = Rf_xlength(x);

    if (as == R_AS_SCALAR && n == 1)
        write_element(w, x, 0, write_kind_of(x), depth);
    else if (Rf_length(dims) >= 2)
        write_dims(w, x, dims, 0, 0, 1, depth);
    else if (TYPEOF(names) == STRSXP && as != R_AS_ARRAY)
        write_named(w, x, names, depth);
    else if (n != 1 || as == R_AS_ARRAY || (OBJECT(x) && Rf_inherits(x, "AsIs")))
        write_array(w, x, depth);
    else
        write_element(w, x, 0, write_kind_of(x), depth);
    UNPROTECT(2);
}

/* ---- for R ---- */

/* A vector that is written by its type; what has a form of its own is not. */
static const char *write_native_type(SEXP x)
{
    static const char *const own[] = {"integer64", "lazaret_int", "lazaret_map", "POSIXlt"};

    for (size_t i = 0; OBJECT(x) && i < sizeof own / sizeof own[0]; i++) {
        if (Rf_inherits(x, own[i]))
            return NULL;
    }
    switch (Rf_isS4(x) ? S4SXP : TYPEOF(x)) {
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case STRSXP:
    case RAWSXP:
    case VECSXP:
        return Rf_type2char(TYPEOF(x));
    default:
        return NULL;
    }
}

/* Would a reader make a vector of a list, or merge elements of it? */
static bool write_list_would_merge(SEXP x)
{
    R_xlen_t n = Rf_xlength(x);
    bool all = n > 0;

    for (R_xlen_t i = 0; i < n; i++) {
        SEXP element = VECTOR_ELT(x, i);
        bool one =
            Rf_isVectorAtomic(element) && TYPEOF(element) != RAWSXP && Rf_xlength(element) == 1;
        if (one && OBJECT(element))
            return true;
        all = all && one;
    }
    return all;
}

/* Is all of a vector without attributes, or with names alone, in its ordinary form? */
static bool write_is_ordinary(SEXP x)
{
    SEXP names = Rf_getAttrib(x, R_NamesSymbol);
    R_xlen_t n = Rf_xlength(x);

    if (TYPEOF(x) == VECSXP)
        return names == R_NilValue ? !write_list_would_merge(x)
                                   : n > 0 && write_names_are_keys(names);
    return names == R_NilValue && (TYPEOF(x) == RAWSXP || (TYPEOF(x) != INTSXP && n > 0));
}

static bool write_has_only_names(SEXP x)
{
    SEXP attributes = ATTRIB(x);

    return attributes == R_NilValue ||
           (CDR(attributes) == R_NilValue && TAG(attributes) == R_NamesSymbol);
}

/* False: the ordinary form has all of it. */
static bool write_native(struct r_writing *w, SEXP x, unsigned depth)
{
    const char *type = write_native_type(x);

    if (!type || (write_has_only_names(x) && write_is_ordinary(x)))
        return false;
    SEXP rest = R_NilValue, attributes = R_NilValue, left = R_NilValue;
    if (ATTRIB(x) != R_NilValue) {
        rest = r_support1(w->state, "native_rest", x);
        attributes = VECTOR_ELT(rest, 0);
        left = VECTOR_ELT(rest, 1);
    }
    PROTECT(rest);
    write_tag(w, "$r");
    w->json->object_begin(w->out);
    w->json->key(w->out, "type", 4);
    w->json->write_string(w->out, type, strlen(type));
    w->json->key(w->out, "values", 6);
    if (TYPEOF(x) == RAWSXP)
        w->json->write_bytes(w->out, RAW(x), (size_t)Rf_xlength(x));
    else
        write_elements(w, x, write_kind_of_type(x), depth + 2);
    if (Rf_xlength(attributes) > 0) {
        w->json->key(w->out, "attributes", 10);
        write_named(w, attributes, Rf_getAttrib(attributes, R_NamesSymbol), depth + 2);
    }
    if (Rf_xlength(left) > 0) {
        w->json->key(w->out, "left", 4);
        write_array(w, left, depth + 2);
    }
    w->json->object_end(w->out);
    w->json->object_end(w->out);
    UNPROTECT(1);
    return true;
}

static void write_value(struct r_writing *w, SEXP x, unsigned as, unsigned depth)
{
    if (!write_may_be_at(w, depth) || (w->native && as == R_AS_IT_IS && write_native(w, x, depth)))
        return;
    switch (Rf_isS4(x) ? S4SXP : TYPEOF(x)) {
    case NILSXP:
        w->json->write_null(w->out);
        break;
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case STRSXP:
        write_atomic(w, x, as, depth);
        break;
    case RAWSXP:
        w->json->write_bytes(w->out, RAW(x), (size_t)Rf_xlength(x));
        break;
    case VECSXP:
        write_list(w, x, as, depth);
        break;
    case LISTSXP: {
        SEXP list = PROTECT(Rf_coerceVector(x, VECSXP));
        write_list(w, list, as, depth);
        UNPROTECT(1);
        break;
    }
    default:
        write_foreign(w, x, write_foreign_name(x));
    }
}

void r_write(struct r_writing *w, SEXP value, unsigned as)
{
    write_value(w, value, as, 1);
}
