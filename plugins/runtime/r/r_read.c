/* SPDX-License-Identifier: MIT */
/* r_read.c - converts JSON to R values: results of tools and default values of parameters.
 * Side: agent.  Input trusted: yes (texts of the host, which the agent has validated).
 *
 * Scalars become vectors of one; an array of only numbers, only strings or only booleans becomes a
 * vector, which is built in place and doubled when full; any other array a list; an object a named
 * list. Numbers are double, but for integers that a double does not hold. A vector made from an
 * array of one gets class AsIs, as from I(), so that it is written as an array again. A tagged form
 * with unsuitable content is an ordinary object. */
#include "r.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_NUMBERS 64 /* that are read together */

enum read_kind {
    READ_NOTHING,
    READ_REAL,
    READ_STRING,
    READ_LOGICAL,
    READ_COMPLEX,
    READ_DECIMAL,
    READ_INTEGER64,
    READ_DATE,
    READ_TIME,
    READ_LIST,
};

static const struct {
    SEXPTYPE type;
    const char *class;
} read_kinds[] = {
    [READ_NOTHING] = {VECSXP, NULL},  [READ_REAL] = {REALSXP, NULL},
    [READ_STRING] = {STRSXP, NULL},   [READ_LOGICAL] = {LGLSXP, NULL},
    [READ_COMPLEX] = {CPLXSXP, NULL}, [READ_DECIMAL] = {STRSXP, "lazaret_int"},
    [READ_DATE] = {REALSXP, "Date"},  [READ_TIME] = {REALSXP, "POSIXct"},
    [READ_LIST] = {VECSXP, NULL},     [READ_INTEGER64] = {REALSXP, "integer64"},
};

/* A vector that grows. `data` is protected by the caller at `index`. */
struct read_vector {
    SEXP data;
    PROTECT_INDEX index;
    R_xlen_t n;
    enum read_kind kind;
    bool only_na; /* every element so far is NA, of type double */
};

static SEXP read_value(struct r_state *s);

/* ---- small helpers ---- */

static void read_set_class(SEXP x, const char *first, const char *second)
{
    SEXP class = PROTECT(Rf_allocVector(STRSXP, second ? 2 : 1));

    SET_STRING_ELT(class, 0, Rf_mkChar(first));
    if (second)
        SET_STRING_ELT(class, 1, Rf_mkChar(second));
    Rf_classgets(x, class);
    UNPROTECT(1);
}

/* The class of a vector of this kind, with AsIs before it for an array of one. */
static void read_dress(SEXP x, enum read_kind kind, bool as_is)
{
    const char *class = read_kinds[kind].class;

    if (kind == READ_TIME) {
        static const char *const names[] = {"AsIs", "POSIXct", "POSIXt"};
        SEXP classes = PROTECT(Rf_allocVector(STRSXP, as_is ? 3 : 2));
        for (int i = 0; i < LENGTH(classes); i++)
            SET_STRING_ELT(classes, i, Rf_mkChar(names[i + !as_is]));
        Rf_classgets(x, classes);
        UNPROTECT(1);
    } else if (as_is) {
        read_set_class(x, "AsIs", class);
    } else if (class) {
        read_set_class(x, class, NULL);
    }
}

static const char *read_text_of(SEXP x)
{
    return TYPEOF(x) == STRSXP && Rf_xlength(x) == 1 ? CHAR(STRING_ELT(x, 0)) : NULL;
}

static SEXP read_member(SEXP list, const char *name)
{
    SEXP names = TYPEOF(list) == VECSXP ? Rf_getAttrib(list, R_NamesSymbol) : R_NilValue;

    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    }
    return NULL;
}

static void read_vector_room(struct read_vector *v)
{
    R_xlen_t cap = Rf_xlength(v->data);

    if (v->n == cap)
        REPROTECT(v->data = Rf_xlengthgets(v->data, cap < 8 ? 16 : cap * 2), v->index);
}

static SEXP read_element(const struct read_vector *v, R_xlen_t i)
{
    SEXP x;

    switch (read_kinds[v->kind].type) {
    case REALSXP:
        x = PROTECT(Rf_ScalarReal(REAL(v->data)[i]));
        break;
    case STRSXP:
        x = PROTECT(Rf_ScalarString(STRING_ELT(v->data, i)));
        break;
    case LGLSXP:
        x = PROTECT(Rf_ScalarLogical(LOGICAL(v->data)[i]));
        break;
    case CPLXSXP:
        x = PROTECT(Rf_ScalarComplex(COMPLEX(v->data)[i]));
        break;
    default:
        return VECTOR_ELT(v->data, i);
    }
    read_dress(x, v->kind, false);
    UNPROTECT(1);
    return x;
}

static void read_vector_to_list(struct read_vector *v)
{
    if (v->kind == READ_LIST)
        return;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, v->n < 8 ? 16 : v->n * 2));
    for (R_xlen_t i = 0; i < v->n; i++)
        SET_VECTOR_ELT(list, i, read_element(v, i));
    v->kind = READ_LIST;
    REPROTECT(v->data = list, v->index);
    UNPROTECT(1);
}

/* Makes room for one element of `kind`; the vector may become a list. */
static void read_vector_take(struct read_vector *v, enum read_kind kind, bool na)
{
    bool becomes = v->only_na && (kind == READ_DATE || kind == READ_TIME);

    if (v->kind == READ_NOTHING) {
        v->kind = kind;
        v->only_na = true;
        REPROTECT(v->data = Rf_allocVector(read_kinds[kind].type, 16), v->index);
    } else if (v->kind == READ_REAL && becomes) {
        v->kind = kind;
    } else if (v->kind != kind &&
               !(na && kind == READ_REAL && (v->kind == READ_DATE || v->kind == READ_TIME))) {
        read_vector_to_list(v);
    }
    v->only_na = v->only_na && na && kind == READ_REAL;
    read_vector_room(v);
}

static enum read_kind read_kind_of(SEXP x)
{
    if (Rf_xlength(x) != 1)
        return READ_LIST;
    switch (TYPEOF(x)) {
    case REALSXP:
        return !OBJECT(x)                    ? READ_REAL
               : Rf_inherits(x, "Date")      ? READ_DATE
               : Rf_inherits(x, "POSIXct")   ? READ_TIME
               : Rf_inherits(x, "integer64") ? READ_INTEGER64
                                             : READ_LIST;
    case STRSXP:
        return !OBJECT(x) ? READ_STRING : Rf_inherits(x, "lazaret_int") ? READ_DECIMAL : READ_LIST;
    case LGLSXP:
        return READ_LOGICAL;
    case CPLXSXP:
        return READ_COMPLEX;
    default:
        return READ_LIST;
    }
}

static void read_vector_push(struct read_vector *v, SEXP x, enum read_kind kind)
{
    PROTECT(x);
    read_vector_take(v, kind, kind == READ_REAL && R_IsNA(REAL(x)[0]));
    switch (v->kind == READ_LIST ? VECSXP : read_kinds[v->kind].type) {
    case REALSXP:
        REAL(v->data)[v->n] = REAL(x)[0];
        break;
    case STRSXP:
        SET_STRING_ELT(v->data, v->n, STRING_ELT(x, 0));
        break;
    case LGLSXP:
        LOGICAL(v->data)[v->n] = LOGICAL(x)[0];
        break;
    case CPLXSXP:
        COMPLEX(v->data)[v->n] = COMPLEX(x)[0];
        break;
    default:
        SET_VECTOR_ELT(v->data, v->n, x);
    }
    v->n++;
    UNPROTECT(1);
}

static SEXP read_vector_end(struct read_vector *v)
{
    if (Rf_xlength(v->data) != v->n)
        REPROTECT(v->data = Rf_xlengthgets(v->data, v->n), v->index);
    return v->data;
}

static bool read_is_list(SEXP type)
{
    const char *text = read_text_of(type);

    return text && strcmp(text, "list") == 0;
}

/* ---- integers ---- */

/* Is the number a double? Only an integer beyond 2^53 may be none. */
static bool read_is_double(const char *number)
{
    char whole[64];
    size_t len = strlen(number);

    if (len < 16 || strpbrk(number, ".eE"))
        return true;
    return len < sizeof whole &&
           snprintf(whole, sizeof whole, "%.0f", strtod(number, NULL)) == (int)len &&
           strcmp(whole, number) == 0;
}

/* An integer that is none: of class integer64 where package bit64 is loaded and it fits, else text
 * of class lazaret_int. Both are written as the same integer again. */
static SEXP read_integer(const char *digits)
{
    char *end;

    errno = 0;
    int64_t value = strtoll(digits, &end, 10);
    bool fits =
        errno == 0 && *end == '\0' && end != digits && value != INT64_MIN; /* that is its NA */
    bool loaded = Rf_findVarInFrame(R_NamespaceRegistry, Rf_install("bit64")) != R_UnboundValue;
    double bits;
    memcpy(&bits, &value, sizeof bits);
    SEXP x = PROTECT(fits && loaded ? Rf_ScalarReal(bits)
                                    : Rf_ScalarString(r_utf8(digits, strlen(digits))));
    read_set_class(x, fits && loaded ? "integer64" : "lazaret_int", NULL);
    UNPROTECT(1);
    return x;
}

/* A number of an array. */
static void read_number_push(struct read_vector *v, const struct laz_json_number *number)
{
    char digits[32];

    if (number->is_whole && (int64_t)number->value != number->whole) {
        snprintf(digits, sizeof digits, "%lld", (long long)number->whole);
        SEXP x = PROTECT(read_integer(digits));
        read_vector_push(v, x, read_kind_of(x));
        UNPROTECT(1);
    } else if (v->kind == READ_REAL || v->kind == READ_NOTHING) {
        read_vector_take(v, READ_REAL, false);
        REAL(v->data)[v->n++] = number->value;
    } else {
        SEXP x = PROTECT(Rf_ScalarReal(number->value));
        read_vector_push(v, x, READ_REAL);
        UNPROTECT(1);
    }
}

/* ---- arrays and objects ---- */

/* A string or key has no NUL behind it. */
static uint32_t read_next(struct r_state *s, struct laz_json_token *token)
{
    return LAZ_HAS(s->json, next_in_place) ? s->json->next_in_place(s->reader, token)
                                           : s->json->next(s->reader, token);
}

/* Reads the numbers of an array that come next. */
static void read_numbers(struct r_state *s, struct read_vector *v)
{
    struct laz_json_number some[READ_NUMBERS];
    size_t got = READ_NUMBERS;

    while (got == READ_NUMBERS && LAZ_HAS(s->json, next_numbers)) {
        got = s->json->next_numbers(s->reader, some, READ_NUMBERS);
        for (size_t i = 0; i < got; i++)
            read_number_push(v, &some[i]);
    }
}

/* Reads one element of an array. Numbers, the common case, need no R object. */
static void read_array_element(struct r_state *s, struct read_vector *v, uint32_t type, bool apart)
{
    struct laz_json_token token;

    if (!apart && type == LAZ_JSON_NUMBER && (v->kind == READ_REAL || v->kind == READ_NOTHING)) {
        s->json->next(s->reader, &token);
        if (!read_is_double(token.text)) {
            SEXP x = PROTECT(read_integer(token.text));
            read_vector_push(v, x, read_kind_of(x));
            UNPROTECT(1);
            return;
        }
        double number = strtod(token.text, NULL);
        read_vector_take(v, READ_REAL, false);
        REAL(v->data)[v->n++] = number;
        return;
    }
    SEXP x = PROTECT(read_value(s));
    bool nested = apart || type == LAZ_JSON_ARRAY_BEGIN || type == LAZ_JSON_NULL;
    read_vector_push(v, x, nested ? READ_LIST : read_kind_of(x));
    UNPROTECT(1);
}

static SEXP read_array(struct r_state *s)
{
    struct laz_json_token token;
    struct read_vector v = {.data = R_NilValue, .kind = READ_NOTHING};
    const bool apart = s->apart;

    s->apart = false;
    PROTECT_WITH_INDEX(v.data = Rf_allocVector(VECSXP, 0), &v.index);
    for (;;) {
        if (!apart)
            read_numbers(s, &v);
        uint32_t type = s->json->peek(s->reader);
        if (type == LAZ_JSON_ARRAY_END || type == LAZ_JSON_END)
            break;
        read_array_element(s, &v, type, apart);
    }
    s->json->next(s->reader, &token);
    SEXP x = PROTECT(read_vector_end(&v));
    if (v.kind == READ_TIME)
        Rf_setAttrib(x, Rf_install("tzone"), Rf_mkString("UTC"));
    if (v.kind != READ_LIST && v.kind != READ_NOTHING)
        read_dress(x, v.kind, v.n == 1);
    UNPROTECT(2);
    return x;
}

/* `native`: the content of a $r, whose values stay a list where its type, which comes first, is so.
 */
static SEXP read_object(struct r_state *s, bool native)
{
    struct laz_json_token token;
    struct read_vector values = {.kind = READ_LIST};
    struct read_vector names = {.kind = READ_STRING};

    PROTECT_WITH_INDEX(values.data = Rf_allocVector(VECSXP, 0), &values.index);
    PROTECT_WITH_INDEX(names.data = Rf_allocVector(STRSXP, 0), &names.index);
    while (read_next(s, &token) == LAZ_JSON_KEY) {
        read_vector_room(&names);
        SET_STRING_ELT(names.data, names.n, r_utf8(token.text, token.len));
        names.n++;
        read_vector_room(&values);
        s->apart = native && names.n == 2 && values.n == 1 &&
                   s->json->peek(s->reader) == LAZ_JSON_ARRAY_BEGIN &&
                   read_is_list(VECTOR_ELT(values.data, 0));
        SEXP x = read_value(s);
        SET_VECTOR_ELT(values.data, values.n, x);
        values.n++;
    }
    SEXP x = PROTECT(read_vector_end(&values));
    Rf_setAttrib(x, R_NamesSymbol, read_vector_end(&names));
    UNPROTECT(3);
    return x;
}

/* ---- tagged forms: each makes a value of the content, or NULL when that does not fit ---- */

static SEXP build_num(struct r_state *s, SEXP x)
{
    const char *text = read_text_of(x);

    (void)s;
    if (!text)
        return NULL;
    if (strcmp(text, "NaN") == 0)
        return Rf_ScalarReal(R_NaN);
    if (strcmp(text, "Inf") == 0)
        return Rf_ScalarReal(R_PosInf);
    return strcmp(text, "-Inf") == 0 ? Rf_ScalarReal(R_NegInf) : NULL;
}

static SEXP build_na(struct r_state *s, SEXP x)
{
    const char *text = read_text_of(x);

    (void)s;
    if (!text)
        return NULL;
    if (strcmp(text, "logical") == 0)
        return Rf_ScalarLogical(NA_LOGICAL);
    if (strcmp(text, "character") == 0)
        return Rf_ScalarString(NA_STRING);
    return Rf_ScalarReal(NA_REAL);
}

static SEXP build_int(struct r_state *s, SEXP x)
{
    (void)s;
    return read_text_of(x) ? read_integer(read_text_of(x)) : NULL;
}

static SEXP build_bytes(struct r_state *s, SEXP x)
{
    if (!read_text_of(x))
        return NULL;
    SEXP text = STRING_ELT(x, 0);
    size_t len = (size_t)LENGTH(text);
    SEXP raw = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(len / 4 * 3)));
    ptrdiff_t n = s->json->base64_decode(CHAR(text), len, RAW(raw));
    if (n >= 0 && n != (ptrdiff_t)Rf_xlength(raw))
        raw = Rf_xlengthgets(raw, n);
    UNPROTECT(1);
    return n < 0 ? NULL : raw;
}

static SEXP build_date(struct r_state *s, SEXP x)
{
    const char *text = read_text_of(x);
    int64_t days;
    int used;

    (void)s;
    if (!text || !r_date_parse(text, &days, &used) || text[used] != '\0')
        return NULL;
    SEXP date = PROTECT(Rf_ScalarReal((double)days));
    read_dress(date, READ_DATE, false);
    UNPROTECT(1);
    return date;
}

static SEXP build_time(struct r_state *s, SEXP x)
{
    const char *text = read_text_of(x);
    double seconds;
    bool local;

    (void)s;
    if (!text || !r_time_parse(text, &seconds, &local))
        return NULL;
    SEXP time = PROTECT(Rf_ScalarReal(seconds));
    read_dress(time, READ_TIME, false);
    SEXP zone = PROTECT(Rf_mkString(local ? "" : "UTC"));
    Rf_setAttrib(time, Rf_install("tzone"), zone);
    UNPROTECT(2);
    return time;
}

static SEXP build_complex(struct r_state *s, SEXP x)
{
    (void)s;
    if (TYPEOF(x) != REALSXP || Rf_xlength(x) != 2)
        return NULL;
    Rcomplex value = {.r = REAL(x)[0], .i = REAL(x)[1]};
    return Rf_ScalarComplex(value);
}

/* Converts the array of a column or a factor to a vector: null is NA, and one element is not AsIs.
 * The caller protects it. */
static SEXP read_column(struct r_state *s, SEXP x)
{
    if (OBJECT(x) && Rf_inherits(x, "AsIs")) {
        SEXP class = PROTECT(Rf_getAttrib(x, R_ClassSymbol));
        SEXP rest = PROTECT(Rf_allocVector(STRSXP, Rf_xlength(class) - 1));
        for (int i = 0; i < LENGTH(rest); i++)
            SET_STRING_ELT(rest, i, STRING_ELT(class, i + 1));
        Rf_classgets(x, LENGTH(rest) > 0 ? rest : R_NilValue);
        UNPROTECT(2);
    } else if (TYPEOF(x) == VECSXP && !OBJECT(x)) {
        return r_support1(s, "simplify", x);
    }
    return x;
}

static SEXP build_factor(struct r_state *s, SEXP x)
{
    SEXP levels = read_member(x, "levels");
    SEXP values = read_member(x, "values");
    SEXP ordered = read_member(x, "ordered");

    if (!levels || !values)
        return NULL;
    levels = PROTECT(read_column(s, levels));
    values = PROTECT(read_column(s, values));
    if (Rf_xlength(levels) == 0)
        levels = Rf_allocVector(STRSXP, 0);
    PROTECT(levels);
    SEXP codes = NULL;
    if (TYPEOF(levels) == STRSXP && Rf_any_duplicated(levels, FALSE) == 0) {
        codes = PROTECT(Rf_match(levels, values, NA_INTEGER));
        Rf_setAttrib(codes, R_LevelsSymbol, levels);
        if (ordered && Rf_isLogical(ordered) && Rf_asLogical(ordered) == 1)
            read_set_class(codes, "ordered", "factor");
        else
            read_set_class(codes, "factor", NULL);
        UNPROTECT(1);
    }
    UNPROTECT(3);
    return codes;
}

static SEXP build_frame(struct r_state *s, SEXP x)
{
    SEXP names = read_member(x, "names");
    SEXP columns = read_member(x, "columns");
    SEXP rows = read_member(x, "rows");

    if (!names || !columns || !rows || TYPEOF(columns) != VECSXP || TYPEOF(rows) != REALSXP ||
        Rf_xlength(rows) != 1 || Rf_xlength(names) != Rf_xlength(columns))
        return NULL;
    names = PROTECT(read_column(s, names));
    SEXP frame = PROTECT(Rf_allocVector(VECSXP, Rf_xlength(columns)));
    bool fits = TYPEOF(names) == STRSXP || Rf_xlength(names) == 0;
    for (R_xlen_t i = 0; fits && i < Rf_xlength(columns); i++) {
        SEXP column = PROTECT(read_column(s, VECTOR_ELT(columns, i)));
        SET_VECTOR_ELT(frame, i, column);
        fits = Rf_inherits(column, "data.frame") || Rf_xlength(column) == (R_xlen_t)REAL(rows)[0];
        UNPROTECT(1);
    }
    if (fits) {
        SEXP numbers = PROTECT(Rf_allocVector(INTSXP, 2)); /* R's compact form of 1:n */
        INTEGER(numbers)[0] = NA_INTEGER;
        INTEGER(numbers)[1] = -(int)REAL(rows)[0];
        if (TYPEOF(names) != STRSXP)
            names = Rf_allocVector(STRSXP, 0);
        Rf_setAttrib(frame, R_NamesSymbol, names);
        Rf_setAttrib(frame, R_RowNamesSymbol, numbers);
        read_set_class(frame, "data.frame", NULL);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return fits ? frame : NULL;
}

static SEXP build_map(struct r_state *s, SEXP x)
{
    return TYPEOF(x) == VECSXP || Rf_xlength(x) > 0 ? r_support1(s, "as_map", x) : NULL;
}

static SEXP build_native(struct r_state *s, SEXP x)
{
    SEXP built = TYPEOF(x) == VECSXP ? r_support1(s, "native", x) : R_NilValue;

    return built == R_NilValue ? NULL : built;
}

static SEXP build_repr(struct r_state *s, SEXP x)
{
    (void)s;
    return read_text_of(x) ? x : NULL;
}

static const struct read_tag {
    const char *tag;
    SEXP (*build)(struct r_state *s, SEXP content);
} read_tags[] = {
    {"$num", build_num},         {"$na", build_na},         {"$int", build_int},
    {"$bytes", build_bytes},     {"$date", build_date},     {"$time", build_time},
    {"$complex", build_complex}, {"$factor", build_factor}, {"$frame", build_frame},
    {"$map", build_map},         {"$repr", build_repr},     {"$r", build_native},
};

static SEXP read_tagged(struct r_state *s, const struct read_tag *tag)
{
    struct laz_json_token token;

    s->json->next(s->reader, &token); /* { */
    s->json->next(s->reader, &token); /* the key */
    bool native = tag->build == build_native && s->json->peek(s->reader) == LAZ_JSON_OBJECT_BEGIN;
    if (native)
        s->json->next(s->reader, &token);
    SEXP content = PROTECT(native ? read_object(s, true) : read_value(s));
    s->json->next(s->reader, &token); /* } */
    SEXP x = tag->build(s, content);
    if (!x || (x == R_NilValue && strcmp(tag->tag, "$map") == 0)) {
        x = PROTECT(Rf_allocVector(VECSXP, 1));
        SET_VECTOR_ELT(x, 0, content);
        Rf_setAttrib(x, R_NamesSymbol, Rf_mkString(tag->tag));
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return x;
}

static SEXP read_value(struct r_state *s)
{
    struct laz_json_token token;
    const char *tag = s->json->peek_tag(s->reader);

    for (size_t i = 0; tag && i < sizeof read_tags / sizeof read_tags[0]; i++) {
        if (strcmp(tag, read_tags[i].tag) == 0)
            return read_tagged(s, &read_tags[i]);
    }
    switch (read_next(s, &token)) {
    case LAZ_JSON_TRUE:
    case LAZ_JSON_FALSE:
        return Rf_ScalarLogical(token.type == LAZ_JSON_TRUE);
    case LAZ_JSON_NUMBER:
        return read_is_double(token.text)
                   ? Rf_ScalarReal(strtod(token.text, NULL)) /* R keeps LC_NUMERIC at "C" */
                   : read_integer(token.text);
    case LAZ_JSON_STRING:
        return Rf_ScalarString(r_utf8(token.text, token.len));
    case LAZ_JSON_ARRAY_BEGIN:
        return read_array(s);
    case LAZ_JSON_OBJECT_BEGIN:
        return read_object(s, false);
    default:
        return R_NilValue;
    }
}

SEXP r_read(struct r_state *state, const char *json, size_t len)
{
    state->json->reader_free(state->reader); /* left over when R jumped out of an earlier read */
    state->apart = false;
    state->reader = state->json->reader_new(json, len);
    if (!state->reader)
        Rf_error("cannot allocate memory for a value of %.0f bytes", (double)len);
    SEXP x = PROTECT(read_value(state));
    if (state->json->reader_failed(state->reader)) /* cannot happen: the host sends valid JSON */
        Rf_error("cannot allocate memory for a value of %.0f bytes", (double)len);
    state->json->reader_free(state->reader);
    state->reader = NULL;
    UNPROTECT(1);
    return x;
}
