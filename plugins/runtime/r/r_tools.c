/* SPDX-License-Identifier: MIT */
/* r_tools.c - the host's tools as R functions.
 * Side: agent.  Input trusted: declarations yes (the host's), arguments no (the code's).
 *
 * A tool is a closure with the declared formals whose body is one .Call with its number, its frame
 * and its call. All arguments are forced first, because forcing one may call another tool; then
 * they are checked and written without running any code. These checks only give the code early
 * errors in R's terms: the host checks again. */
#include "r.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void r_tool_fail(struct r_state *s, const struct r_place *place, const char *tool,
                 const char *message)
{
    R_CheckUserInterrupt(); /* the host refuses calls of code that was interrupted */
    char where[64] = "", *whole = R_alloc(sizeof where + strlen(message), 1);

    if (place->of)
        snprintf(where, sizeof where, "tool_map: call %zu of %zu: ", place->at, place->of);
    snprintf(whole, sizeof where + strlen(message), "%s%s", where, message);
    SEXP text = PROTECT(Rf_ScalarString(r_utf8(whole, strlen(whole))));
    SEXP name = PROTECT(Rf_ScalarString(r_utf8(tool, strlen(tool))));
    SEXP quoted = PROTECT(Rf_lang2(Rf_install("quote"), place->call));
    SEXP at = PROTECT(place->of ? Rf_ScalarInteger((int)place->at) : R_NilValue);
    SEXP raise = PROTECT(Rf_lang5(Rf_install("fail_tool"), text, name, quoted, at));

    Rf_eval(raise, s->support);
    Rf_error("%s", message); /* not reached: fail_tool() has jumped */
}

static bool tools_is_number(SEXP x)
{
    return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_inherits(x, "factor") &&
           !Rf_inherits(x, "Date") && !Rf_inherits(x, "POSIXct") && !Rf_inherits(x, "difftime");
}

static bool tools_is_whole(SEXP x)
{
    if (TYPEOF(x) == STRSXP)
        return Rf_inherits(x, "lazaret_int");
    if (!tools_is_number(x))
        return false;
    if (TYPEOF(x) == INTSXP || Rf_inherits(x, "integer64") || Rf_xlength(x) != 1)
        return true;
    double value = REAL_ELT(x, 0);
    return R_FINITE(value) && floor(value) == value;
}

static bool tools_is_string(SEXP x)
{
    return TYPEOF(x) == STRSXP;
}

static bool tools_is_boolean(SEXP x)
{
    return TYPEOF(x) == LGLSXP;
}

static bool tools_is_array(SEXP x)
{
    return Rf_isVectorAtomic(x) || TYPEOF(x) == VECSXP;
}

static bool tools_is_list(SEXP x)
{
    return TYPEOF(x) == VECSXP;
}

static bool tools_is_object(SEXP x)
{
    return TYPEOF(x) == VECSXP
               ? Rf_xlength(x) == 0 || Rf_getAttrib(x, R_NamesSymbol) != R_NilValue
               : Rf_isVectorAtomic(x) && Rf_getAttrib(x, R_NamesSymbol) != R_NilValue;
}

static bool tools_is_frame(SEXP x)
{
    return Rf_inherits(x, "data.frame");
}

/* What each type of a parameter requires of an R value; R's own type names come first. */
static const struct tools_type {
    const char *name;
    bool (*fits)(SEXP x);
    unsigned as;
} tools_types[] = {
    {"list", tools_is_list, R_AS_IT_IS},        {"data.frame", tools_is_frame, R_AS_IT_IS},
    {"numeric", tools_is_number, R_AS_SCALAR},  {"character", tools_is_string, R_AS_SCALAR},
    {"logical", tools_is_boolean, R_AS_SCALAR}, {"string", tools_is_string, R_AS_SCALAR},
    {"number", tools_is_number, R_AS_SCALAR},   {"integer", tools_is_whole, R_AS_SCALAR},
    {"boolean", tools_is_boolean, R_AS_SCALAR}, {"array", tools_is_array, R_AS_ARRAY},
    {"object", tools_is_object, R_AS_OBJECT},
};

static const struct tools_type *tools_type_of(const struct r_parameter *parameter)
{
    const char *const words[] = {parameter->type_name, parameter->type};

    for (size_t w = 0; w < 2; w++) {
        for (size_t i = 0; i < sizeof tools_types / sizeof tools_types[0]; i++) {
            if (strcmp(words[w], tools_types[i].name) == 0)
                return &tools_types[i];
        }
    }
    return NULL;
}

static const char *tools_class_of(SEXP x)
{
    SEXP class = OBJECT(x) ? Rf_getAttrib(x, R_ClassSymbol) : R_NilValue;

    if (TYPEOF(class) == STRSXP && Rf_length(class) > 0)
        return CHAR(STRING_ELT(class, 0));
    switch (TYPEOF(x)) {
    case REALSXP:
        return "numeric";
    case CLOSXP:
    case BUILTINSXP:
    case SPECIALSXP:
        return "function";
    case LANGSXP:
        return "call";
    case SYMSXP:
        return "name";
    default:
        return Rf_type2char(TYPEOF(x));
    }
}

/* False, with a message, when the value does not fit its parameter. */
static bool tools_check(const struct r_tool *tool, const struct r_parameter *parameter, SEXP x,
                        char *message, size_t size)
{
    const struct tools_type *type = tools_type_of(parameter);
    const char *name = CHAR(PRINTNAME(parameter->symbol));

    if (!type)
        return true;
    if (!type->fits(x)) {
        snprintf(message, size, "Tool '%s': argument '%s' must be %s, got %s", tool->name, name,
                 parameter->type_name, tools_class_of(x));
        return false;
    }
    if (type->as == R_AS_SCALAR && Rf_xlength(x) != 1) {
        snprintf(message, size, "Tool '%s': argument '%s' must be one %s, got %.0f of them",
                 tool->name, name, parameter->type_name, (double)Rf_xlength(x));
        return false;
    }
    return true;
}

/* ---- the call ---- */

static bool tools_name_is_valid(const char *name)
{
    for (const char *p = name; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
            return false;
    }
    return *name && strlen(name) <= 128;
}

/* The text of the writer; raises an R error when it failed. */
static const char *tools_text(struct r_state *s, const char *name, const struct r_writing *w,
                              const struct r_place *place, size_t *len)
{
    char message[512];
    bool too_large = false;

    if (w->refused) {
        snprintf(message, sizeof message, "Tool '%s': %s cannot be sent to a tool", name,
                 w->refused);
        r_tool_fail(s, place, name, message);
    }
    const char *args = s->json->writer_text(s->writer, len, &too_large);
    if (args)
        return args;
    if (too_large)
        snprintf(message, sizeof message,
                 "Tool '%s': the arguments are larger than max_message_size (%zu bytes)", name,
                 s->services->max_message);
    else
        snprintf(message, sizeof message,
                 "Tool '%s': the arguments do not fit into memory, or are nested too deeply", name);
    r_tool_fail(s, place, name, message);
}

/* Calls the tool with the arguments in state->writer; returns the result or raises an R error. */
static SEXP tools_send(struct r_state *s, const char *name, const struct r_writing *w,
                       const struct r_place *place)
{
    const char *value = NULL, *error = NULL;
    size_t len = 0, value_len = 0;
    const char *args = tools_text(s, name, w, place, &len);

    r_console_flush(s);
    if (s->services->call_tool(s->services->agent, name, args, len, &value, &value_len, &error) !=
        0)
        r_tool_fail(s, place, name, error ? error : "the tool failed");
    return r_read(s, value, value_len);
}

void r_tool_require_owner(struct r_state *s, const char *name, const struct r_place *place)
{
    if (getpid() != s->owner)
        r_tool_fail(
            s, place, name,
            "Tools can be called from the session's own process only, not from a fork of it "
            "(parallel::mclapply)");
}

static struct r_writing tools_write_begin(struct r_state *s, const struct r_tool *tool)
{
    s->json->writer_reset(s->writer);
    s->json->object_begin(s->writer);
    return (struct r_writing){.state = s,
                              .json = s->json,
                              .out = s->writer,
                              .strict = true,
                              .native = tool && tool->native};
}

static void tools_write_argument(struct r_state *s, struct r_writing *w, const char *name, SEXP x,
                                 const struct r_parameter *parameter)
{
    const struct tools_type *type = parameter ? tools_type_of(parameter) : NULL;

    const bool native = w->native;

    s->json->key(s->writer, name, strlen(name));
    w->native = native && !(parameter && parameter->is_listed);
    r_write(w, x, type ? type->as : R_AS_IT_IS);
    w->native = native;
}

/* Forces the argument of a parameter in a call's frame; NULL when it was left out. */
static SEXP tools_argument(const struct r_parameter *parameter, SEXP frame)
{
    SEXP x = Rf_findVarInFrame(frame, parameter->symbol);

    if (x == R_UnboundValue || x == R_MissingArg)
        return NULL;
    if (TYPEOF(x) == PROMSXP) {
        PROTECT(x);
        x = Rf_eval(x, frame);
        UNPROTECT(1);
    }
    if (x == R_MissingArg || (x == R_NilValue && !parameter->required))
        return NULL;
    return x;
}

/* Checks and writes the values for which given[i] is true. */
static void tools_write(struct r_state *s, const struct r_tool *tool, SEXP values,
                        const bool *given, const struct r_place *place, struct r_writing *w)
{
    char message[512];

    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct r_parameter *parameter = &tool->parameters[i];
        if (!given[i] && parameter->required) {
            snprintf(message, sizeof message, "Tool '%s': argument '%s' is missing", tool->name,
                     CHAR(PRINTNAME(parameter->symbol)));
            r_tool_fail(s, place, tool->name, message);
        }
        if (given[i] &&
            !tools_check(tool, parameter, VECTOR_ELT(values, (R_xlen_t)i), message, sizeof message))
            r_tool_fail(s, place, tool->name, message);
    }
    *w = tools_write_begin(s, tool);
    for (size_t i = 0; i < tool->n_parameters; i++) {
        if (given[i])
            tools_write_argument(s, w, tool->parameters[i].name, VECTOR_ELT(values, (R_xlen_t)i),
                                 &tool->parameters[i]);
    }
    s->json->object_end(s->writer);
}

/* The body of every tool: .Call(call_tool, number, environment(), sys.call()). */
static SEXP tools_call(SEXP number, SEXP frame, SEXP call)
{
    struct r_state *s = r_self;
    const struct r_place place = {.call = call};
    int index = Rf_asInteger(number);
    struct r_writing w;

    if (index < 0 || (size_t)index >= s->n_tools || TYPEOF(frame) != ENVSXP)
        Rf_error("not the call of a tool");
    const struct r_tool *tool = &s->tools[index];
    r_tool_require_owner(s, tool->name, &place);
    SEXP values = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)tool->n_parameters));
    bool *given = (bool *)R_alloc(tool->n_parameters + 1, sizeof *given);
    for (size_t i = 0; i < tool->n_parameters; i++) {
        SEXP x = tools_argument(&tool->parameters[i], frame);
        given[i] = x != NULL;
        if (x)
            SET_VECTOR_ELT(values, (R_xlen_t)i, x);
    }
    tools_write(s, tool, values, given, &place, &w);
    SEXP result = tools_send(s, tool->name, &w, &place);
    UNPROTECT(1);
    return result;
}

const struct r_tool *r_tool_find(const struct r_state *s, const char *name)
{
    for (size_t i = 0; i < s->n_tools; i++) {
        if (strcmp(s->tools[i].name, name) == 0 || strcmp(s->tools[i].spelling, name) == 0)
            return &s->tools[i];
    }
    return NULL;
}

static bool tools_has_name(SEXP names, const char *name)
{
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return true;
    }
    return false;
}

/* The name of argument `i`: its own, else the next parameter that no argument names. */
static const char *tools_name_of(const struct r_tool *tool, SEXP names, R_xlen_t i, size_t *next)
{
    if (names != R_NilValue && LENGTH(STRING_ELT(names, i)) > 0)
        return Rf_translateCharUTF8(STRING_ELT(names, i));
    while (tool && *next < tool->n_parameters) {
        const char *name = CHAR(PRINTNAME(tool->parameters[(*next)++].symbol));
        if (!tools_has_name(names, name))
            return name;
    }
    return NULL;
}

static const struct r_parameter *tools_parameter(const struct r_tool *tool, const char *name)
{
    for (size_t i = 0; tool && i < tool->n_parameters; i++) {
        if (strcmp(CHAR(PRINTNAME(tool->parameters[i].symbol)), name) == 0 ||
            strcmp(tool->parameters[i].name, name) == 0)
            return &tool->parameters[i];
    }
    return NULL;
}

/* .lazaret_call_tool(name, ...): calls any name with any arguments; the host reports mistakes,
 * except those that the protocol cannot express. */
static SEXP tools_call_named(SEXP name_value, SEXP args, SEXP call)
{
    struct r_state *s = r_self;
    const struct r_place place = {.call = call};
    char message[512];

    if (TYPEOF(name_value) != STRSXP || Rf_xlength(name_value) != 1)
        r_tool_fail(s, &place, "", "The name of a tool must be one string");
    const char *name = Rf_translateCharUTF8(STRING_ELT(name_value, 0));
    r_tool_require_owner(s, name, &place);
    if (!tools_name_is_valid(name)) {
        snprintf(message, sizeof message, "Unknown tool: %.200s", name);
        r_tool_fail(s, &place, name, message);
    }
    const struct r_tool *tool = r_tool_find(s, name);
    SEXP names = PROTECT(Rf_getAttrib(args, R_NamesSymbol));
    struct r_writing w = tools_write_begin(s, tool);
    size_t next = 0;
    for (R_xlen_t i = 0; i < Rf_xlength(args); i++) {
        const char *key = tools_name_of(tool, names, i, &next);
        if (!key && !tool)
            continue; /* the host reports the unknown tool */
        const char *wrong = !key ? "there are more arguments than parameters" : NULL;
        for (R_xlen_t j = 0; key && names != R_NilValue && j < i; j++) {
            if (strcmp(CHAR(STRING_ELT(names, j)), key) == 0)
                wrong = "an argument is given twice";
        }
        if (wrong) {
            snprintf(message, sizeof message, "Tool '%s': %s", name, wrong);
            r_tool_fail(s, &place, name, message);
        }
        const struct r_parameter *parameter = tools_parameter(tool, key);
        tools_write_argument(s, &w, parameter ? parameter->name : key, VECTOR_ELT(args, i),
                             parameter);
    }
    s->json->object_end(s->writer);
    SEXP result = tools_send(s, tool ? tool->name : name, &w, &place);
    UNPROTECT(1);
    return result;
}

const char *r_tool_write(struct r_state *s, const struct r_tool *tool, SEXP args,
                         const struct r_place *place, size_t *len)
{
    SEXP names = PROTECT(Rf_getAttrib(args, R_NamesSymbol));
    SEXP values = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)tool->n_parameters));
    bool *given = (bool *)R_alloc(tool->n_parameters + 1, sizeof *given);
    char message[512];
    struct r_writing w;
    size_t next = 0;

    memset(given, 0, (tool->n_parameters + 1) * sizeof *given);
    for (R_xlen_t i = 0; i < Rf_xlength(args); i++) {
        const char *key = tools_name_of(tool, names, i, &next);
        const struct r_parameter *parameter = key ? tools_parameter(tool, key) : NULL;
        size_t at = parameter ? (size_t)(parameter - tool->parameters) : tool->n_parameters;
        if (!parameter || given[at]) {
            snprintf(message, sizeof message, "Tool '%s': %s%.100s%s", tool->name,
                     !key         ? "there are more arguments than parameters"
                     : !parameter ? "unexpected argument '"
                                  : "two arguments '",
                     key ? key : "", key ? "'" : "");
            r_tool_fail(s, place, tool->name, message);
        }
        SEXP x = VECTOR_ELT(args, i);
        given[at] = x != R_NilValue || parameter->required;
        SET_VECTOR_ELT(values, (R_xlen_t)at, x);
    }
    tools_write(s, tool, values, given, place, &w);
    const char *text = tools_text(s, tool->name, &w, place, len);
    UNPROTECT(2);
    return text;
}

/* ---- definition ---- */

static SEXP tools_text_vector(const struct laz_tool_signature *tool, size_t offset)
{
    SEXP x = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)tool->n_parameters));

    for (size_t i = 0; i < tool->n_parameters; i++) {
        const char *text;
        memcpy(&text, (const char *)&tool->parameters[i] + offset, sizeof text);
        if (!text)
            text = "";
        SET_STRING_ELT(x, (R_xlen_t)i, r_utf8(text, strlen(text)));
    }
    UNPROTECT(1);
    return x;
}

/* function(a, b = default) .Call(call_tool, number, environment(), sys.call()) */
static SEXP tools_closure(struct r_state *s, const struct laz_tool_signature *tool, size_t number)
{
    SEXP formals = PROTECT(Rf_allocList((int)tool->n_parameters));
    SEXP at = formals;

    for (size_t i = 0; i < tool->n_parameters; i++, at = CDR(at)) {
        const char *value = tool->parameters[i].default_value;
        SET_TAG(at, s->tools[number].parameters[i].symbol);
        SETCAR(at, value ? r_read(s, value, strlen(value)) : R_MissingArg);
    }
    SEXP frame = PROTECT(Rf_lang1(Rf_install("environment")));
    SEXP call = PROTECT(Rf_lang1(Rf_install("sys.call")));
    SEXP routine = PROTECT(r_routine((void (*)(void))tools_call));
    SEXP index = PROTECT(Rf_ScalarInteger((int)number));
    SEXP body = PROTECT(Rf_lang5(Rf_install(".Call"), routine, index, frame, call));
    SEXP function = PROTECT(Rf_lang4(Rf_install("function"), formals, body, R_NilValue));
    SEXP closure = Rf_eval(function, R_BaseEnv);
    UNPROTECT(7);
    return closure;
}

static void tools_publish(struct r_state *s, const struct laz_tool_signature *tool, size_t number)
{
    SEXP closure = PROTECT(tools_closure(s, tool, number));
    SEXP required = PROTECT(Rf_allocVector(LGLSXP, (R_xlen_t)tool->n_parameters));
    for (size_t i = 0; i < tool->n_parameters; i++)
        LOGICAL(required)[i] = tool->parameters[i].required != 0;
    SEXP types = PROTECT(tools_text_vector(tool, offsetof(struct laz_parameter, type_name)));
    SEXP texts = PROTECT(tools_text_vector(tool, offsetof(struct laz_parameter, description)));
    SEXP name = PROTECT(Rf_ScalarString(r_utf8(tool->spelling, strlen(tool->spelling))));
    SEXP about = PROTECT(Rf_ScalarString(r_utf8(tool->description, strlen(tool->description))));
    SEXP original = PROTECT(Rf_ScalarString(r_utf8(tool->name, strlen(tool->name))));
    const char *type = tool->returns ? tool->returns : "";
    SEXP returns = PROTECT(Rf_ScalarString(r_utf8(type, strlen(type))));
    SEXP rest = PROTECT(Rf_list6(about, closure, types, texts, required, returns));
    SEXP call =
        PROTECT(Rf_lcons(Rf_install("publish_tool"), Rf_lcons(name, Rf_lcons(original, rest))));
    Rf_eval(call, s->support);
    UNPROTECT(10);
}

void r_tools_attach(struct r_state *s)
{
    if (s->attached)
        return;
    SEXP routine = PROTECT(r_routine((void (*)(void))tools_call_named));
    SEXP map = PROTECT(r_routine((void (*)(void))r_tool_map));
    SEXP attach = PROTECT(Rf_lang1(Rf_install("attach_tools")));

    Rf_defineVar(Rf_install("call_named"), routine, s->support);
    Rf_defineVar(Rf_install("map_tool"), map, s->support);
    Rf_eval(attach, s->support);
    s->attached = true;
    UNPROTECT(3);
}

static void tools_define(struct r_state *s)
{
    const size_t before = s->n_tools - s->n_signatures;

    r_tools_attach(s);
    for (size_t i = 0; i < s->n_signatures; i++)
        tools_publish(s, &s->signatures[i], before + i);
    r_support1(s, "resume_jit", R_NilValue); /* nothing but code runs from here on */
}

/* Copies what calls need; R never frees symbols. */
static bool tools_copy(struct r_tool *tool, const struct laz_tool_signature *from)
{
    tool->name = strdup(from->name);
    tool->parameters = calloc(from->n_parameters + 1, sizeof *tool->parameters);
    if (!tool->name || !tool->parameters)
        return false;
    tool->spelling = CHAR(PRINTNAME(Rf_install(from->spelling)));
    tool->native = LAZ_HAS(from, native) && from->native;
    tool->n_parameters = from->n_parameters;
    for (size_t i = 0; i < from->n_parameters; i++) {
        struct r_parameter *to = &tool->parameters[i];
        const struct laz_parameter *p = &from->parameters[i];
        const char *type = p->type ? p->type : "";
        to->symbol = Rf_install(p->spelling);
        to->name = CHAR(PRINTNAME(Rf_install(p->name)));
        to->required = p->required != 0;
        to->is_listed = p->enumeration != NULL;
        to->type = CHAR(PRINTNAME(Rf_install(*type ? type : "any")));
        to->type_name =
            p->type_name && *p->type_name ? CHAR(PRINTNAME(Rf_install(p->type_name))) : to->type;
    }
    return true;
}

int r_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                   struct laz_error *err)
{
    struct r_state *s = state;
    struct r_tool *all = realloc(s->tools, (s->n_tools + n + 1) * sizeof *all);
    bool copied = all != NULL;

    if (all) {
        s->tools = all;
        memset(all + s->n_tools, 0, (n + 1) * sizeof *all);
    }
    for (size_t i = 0; copied && i < n; i++)
        copied = tools_copy(&all[s->n_tools++], &tools[i]);
    if (!copied) {
        r_tools_fini(s);
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    s->signatures = tools;
    s->n_signatures = n;
    bool done = r_protected(s, tools_define);
    s->signatures = NULL;
    s->n_signatures = 0;
    if (done)
        return 0;
    return laz_fail(err, LAZ_ESETUP, "the tools cannot be defined in R: %.800s", r_last_error(s));
}

void r_tools_fini(struct r_state *state)
{
    for (size_t i = 0; i < state->n_tools; i++) {
        free(state->tools[i].name);
        free(state->tools[i].parameters);
    }
    free(state->tools);
    state->tools = NULL;
    state->n_tools = 0;
}
