/* SPDX-License-Identifier: MIT */
/* r_map.c - tool_map(.tool, ...): calls a tool for each element of vectors, concurrently.
 * Side: agent.  Input trusted: no (the code's).
 *
 * All arguments are checked and written before the first call is sent, so that a mistake in one
 * element calls nothing. Then all answers are awaited before an error can be raised, so that no
 * open call can answer a later one. R leaves functions by jumps, and an allocation may run
 * finalizers of the code; memory that these would leak or overwrite belongs to an external pointer
 * of R. */
#include "r.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct map_answer {
    int rc;
    bool kept;  /* the text could be copied */
    char *text; /* the value or the error */
    size_t len;
};

struct map_batch {
    size_t n;
    struct laz_agent_call *calls; /* which own their texts */
    struct map_answer *answers;
};

static void map_free(struct map_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->calls)
            free((void *)(uintptr_t)batch->calls[i].args);
        if (batch->answers)
            free(batch->answers[i].text);
    }
    free(batch->calls);
    free(batch->answers);
    *batch = (struct map_batch){0};
}

static void map_finalize(SEXP pointer)
{
    struct map_batch *batch = R_ExternalPtrAddr(pointer);

    if (batch)
        map_free(batch);
    free(batch);
    R_ClearExternalPtr(pointer);
}

/* An external pointer of R to a batch of n calls. */
static SEXP map_batch(size_t n)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));

    R_RegisterCFinalizer(pointer, map_finalize);
    struct map_batch *batch = calloc(1, sizeof *batch);
    if (batch) {
        R_SetExternalPtrAddr(pointer, batch);
        batch->n = n;
        batch->calls = calloc(n + 1, sizeof *batch->calls);
        batch->answers = calloc(n + 1, sizeof *batch->answers);
    }
    if (!batch || !batch->calls || !batch->answers)
        Rf_error("tool_map: not enough memory");
    UNPROTECT(1);
    return pointer;
}

static void map_answered(void *user, size_t index, int rc, const char *text, size_t len)
{
    struct map_batch *batch = user;
    struct map_answer *answer = &batch->answers[index];

    answer->rc = rc;
    answer->len = len;
    answer->text = malloc(len + 1);
    answer->kept = answer->text != NULL;
    if (answer->kept) {
        memcpy(answer->text, text, len);
        answer->text[len] = '\0';
    }
    free((void *)(uintptr_t)batch->calls[index].args);
    batch->calls[index].args = NULL;
}

/* A value as a tool: the tool itself or its name. */
static const struct r_tool *map_tool(struct r_state *s, SEXP value, const struct r_place *place)
{
    char message[256] = "tool_map: a tool or its name is needed";
    SEXP name = TYPEOF(value) == STRSXP ? value : Rf_getAttrib(value, Rf_install("tool"));
    const struct r_tool *tool = NULL;

    if (TYPEOF(name) == STRSXP && Rf_xlength(name) == 1) {
        const char *text = Rf_translateCharUTF8(STRING_ELT(name, 0));
        tool = r_tool_find(s, text);
        snprintf(message, sizeof message, "tool_map: there is no tool '%.200s'", text);
    }
    if (!tool)
        r_tool_fail(s, place, "", message);
    return tool;
}

static void map_write(struct r_state *s, const struct r_tool *tool, SEXP lists, SEXP call,
                      struct map_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct r_place place = {call, i + 1, batch->n};
        const void *mark = vmaxget();
        size_t len = 0;
        const char *text = r_tool_write(s, tool, VECTOR_ELT(lists, (R_xlen_t)i), &place, &len);
        char *copy = malloc(len + 1);
        if (!copy)
            Rf_error("tool_map: not enough memory");
        memcpy(copy, text, len + 1);
        batch->calls[i] = (struct laz_agent_call){tool->name, copy, len};
        vmaxset(mark);
    }
}

static bool map_failed(const struct map_answer *answer)
{
    return answer->rc || !answer->kept;
}

/* The values in order; NULL where a call failed. */
static SEXP map_values(struct r_state *s, struct map_batch *batch)
{
    SEXP values = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)batch->n));

    for (size_t i = 0; i < batch->n; i++) {
        struct map_answer *answer = &batch->answers[i];
        if (map_failed(answer))
            continue;
        SET_VECTOR_ELT(values, (R_xlen_t)i, r_read(s, answer->text, answer->len));
        free(answer->text);
        answer->text = NULL;
    }
    UNPROTECT(1);
    return values;
}

/* Raises the first error, with the numbers of all failed calls and the values of the others. */
static void map_check(struct r_state *s, const struct r_tool *tool, const struct map_batch *batch,
                      SEXP call, SEXP values)
{
    size_t n = 0, first = 0;

    for (size_t i = batch->n; i-- > 0;) {
        if (map_failed(&batch->answers[i])) {
            first = i;
            n++;
        }
    }
    if (n == 0)
        return;
    SEXP failed = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)n));
    for (size_t i = first, at = 0; i < batch->n; i++) {
        if (map_failed(&batch->answers[i]))
            INTEGER(failed)[at++] = (int)i + 1;
    }
    static const char no_memory[] = "not enough memory for the value of the tool";
    const char *text = batch->answers[first].text;
    SEXP message =
        PROTECT(Rf_ScalarString(text ? r_utf8(text, strlen(text)) : Rf_mkChar(no_memory)));
    SEXP name = PROTECT(Rf_mkString(tool->name));
    SEXP quoted = PROTECT(Rf_lang2(Rf_install("quote"), call));
    SEXP rest = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(rest, 0, failed);
    SET_VECTOR_ELT(rest, 1, values);
    SEXP raise = PROTECT(Rf_lang5(Rf_install("fail_map"), message, name, quoted, rest));
    Rf_eval(raise, s->support);
    UNPROTECT(6); /* not reached: fail_map() has jumped */
}

SEXP r_tool_map(SEXP tool_value, SEXP args, SEXP more, SEXP call)
{
    struct r_state *s = r_self;
    const struct r_place place = {.call = call};
    const char *error = NULL;

    const struct r_tool *tool = map_tool(s, tool_value, &place);
    r_tool_require_owner(s, tool->name, &place);
    if (!LAZ_HAS(s->services, call_all))
        r_tool_fail(s, &place, tool->name, "this lazaret-agent cannot have several calls open");
    SEXP ask = PROTECT(Rf_lang3(Rf_install("map_arguments"), args, more));
    SEXP lists = PROTECT(Rf_eval(ask, s->support));
    SEXP pointer = PROTECT(map_batch((size_t)Rf_xlength(lists)));
    struct map_batch *batch = R_ExternalPtrAddr(pointer);
    map_write(s, tool, lists, call, batch);
    r_console_flush(s);
    if (s->services->call_all(s->services->agent, batch->calls, batch->n, map_answered, batch,
                              &error))
        r_tool_fail(s, &place, tool->name, error);
    SEXP values = PROTECT(map_values(s, batch));
    map_check(s, tool, batch, call, values);
    if (Rf_xlength(args) > 0) {
        SEXP names = PROTECT(Rf_eval(PROTECT(Rf_lang2(Rf_install("map_names"), args)), s->support));
        if (TYPEOF(names) == STRSXP && Rf_xlength(names) == Rf_xlength(values))
            Rf_setAttrib(values, R_NamesSymbol, names);
        UNPROTECT(2);
    }
    map_finalize(pointer);
    UNPROTECT(4);
    return values;
}
