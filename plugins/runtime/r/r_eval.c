/* SPDX-License-Identifier: MIT */
/* r_eval.c - parses and runs code.
 * Side: agent.  Input trusted: no (the code).
 *
 * The whole code is parsed before anything runs. Top-level expressions are then evaluated from C
 * inside one R_ToplevelExec, without frames of this plugin below the code's, so that sys.calls()
 * and parent.frame() are as at R's prompt. A global calling handler (on_error in r_support.R)
 * records errors while their frames exist; errors that bypass it, such as an exhausted C stack, are
 * read from R's error buffer. */
#include "r.h"
#include "r_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <R_ext/Parse.h>

/* The functions of addTaskCallback(). Not every version of R lets others call them. */
#ifndef _WIN32
extern void Rf_callToplevelHandlers(SEXP, SEXP, Rboolean, Rboolean) __attribute__((weak));
#else
extern void Rf_callToplevelHandlers(SEXP, SEXP, Rboolean, Rboolean);
#endif

/* ---- errors ---- */

void r_failure_clear(struct r_failure *failure)
{
    for (size_t i = 0; i < failure->n_traceback; i++)
        free(failure->traceback[i]);
    free(failure->traceback);
    failure->traceback = NULL;
    failure->n_traceback = 0;
    failure->line = 0;
    failure->noted = false;
    r_text_clear(&failure->message);
}

/* Length of the text, at most `max` bytes, cut between characters. */
static size_t eval_cut(const char *text, size_t max)
{
    size_t len = strlen(text);

    if (len <= max)
        return len;
    for (len = max; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static char *eval_copy(SEXP text)
{
    const char *utf8 = Rf_translateCharUTF8(text);
    size_t len = eval_cut(utf8, 1024);
    char *copy = malloc(len + 1);

    if (copy) {
        memcpy(copy, utf8, len);
        copy[len] = '\0';
    }
    return copy;
}

SEXP r_eval_note(SEXP message, SEXP line, SEXP traceback)
{
    struct r_failure *failure = &r_self->failure;
    const char *text = Rf_translateCharUTF8(STRING_ELT(message, 0));

    r_failure_clear(failure);
    failure->line = Rf_asInteger(line);
    r_text_append(&failure->message, text, eval_cut(text, R_MAX_MESSAGE));
    failure->traceback = calloc((size_t)Rf_xlength(traceback) + 1, sizeof(char *));
    for (R_xlen_t i = 0; failure->traceback && i < Rf_xlength(traceback); i++) {
        char *call = eval_copy(STRING_ELT(traceback, i));
        if (call)
            failure->traceback[failure->n_traceback++] = call;
    }
    failure->noted = true;
    return R_NilValue;
}

/* Errors that have a verdict of their own are recognised by R's messages. */
static uint32_t eval_kind_of(const char *message)
{
    static const char *const memory[] = {
        "cannot allocate vector of ", "cannot allocate memory",  "memory exhausted",
        "vector memory limit of ",    "vector memory exhausted", "cannot allocate buffer",
    };

    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        if (strstr(message, memory[i]))
            return LAZ_OUTCOME_MEMORY;
    }
    return strstr(message, strerror(EFBIG)) ? LAZ_OUTCOME_FSIZE : LAZ_OUTCOME_RUNTIME;
}

/* ---- parsing ---- */

static SEXP eval_code_string(const struct r_job *job)
{
    return Rf_ScalarString(r_utf8(job->code, job->len));
}

static void eval_define(SEXP env, const char *name, SEXP value)
{
    PROTECT(value);
    Rf_defineVar(Rf_install(name), value, env);
    UNPROTECT(1);
}

/* Makes the object that R_ParseVector needs to keep source references (?srcfilecopy); r_support.R
 * uses it for the lines of errors. R_NewEnv is there since R 4.1. */
static SEXP eval_new_srcfile(struct r_state *s, SEXP code)
{
    SEXP file = PROTECT(R_NewEnv(R_EmptyEnv, 0, 0));
    SEXP class = PROTECT(Rf_allocVector(STRSXP, 2));

    eval_define(file, "filename", Rf_mkString(s->script ? s->script : "<code>"));
    eval_define(file, "Enc", Rf_mkString("UTF-8"));
    eval_define(file, "lines", code);
    eval_define(file, "isFile", Rf_ScalarLogical(0));
    eval_define(file, "wd", Rf_mkString(""));
    eval_define(file, "timestamp", R_NilValue);
    SET_STRING_ELT(class, 0, Rf_mkChar("srcfilecopy"));
    SET_STRING_ELT(class, 1, Rf_mkChar("srcfile"));
    Rf_setAttrib(file, R_ClassSymbol, class);
    Rf_defineVar(Rf_install("srcfile"), file, s->support);
    UNPROTECT(2);
    return file;
}

/* Takes the source text from the functions of a file, so that they are printed as by Rscript, which
 * keeps none. The references of braces stay: they are the lines of errors. */
static void eval_forget_functions(SEXP x)
{
    R_CheckStack();
    for (; TYPEOF(x) == LANGSXP || TYPEOF(x) == LISTSXP; x = CDR(x)) {
        if (TYPEOF(x) == LANGSXP && CAR(x) == Rf_install("function") && Rf_length(x) == 4)
            SETCADDDR(x, R_NilValue);
        eval_forget_functions(CAR(x));
    }
}

/* Parses the code into expressions with source references; R_NilValue when it does not parse. */
static SEXP eval_parse(struct r_state *s)
{
    ParseStatus status;
    SEXP code = PROTECT(eval_code_string(&s->job));
    SEXP file = PROTECT(eval_new_srcfile(s, code));
    SEXP parsed = PROTECT(R_ParseVector(code, -1, &status, file));

    for (R_xlen_t i = 0; s->script && status == PARSE_OK && i < Rf_xlength(parsed); i++)
        eval_forget_functions(VECTOR_ELT(parsed, i));
    UNPROTECT(3);
    return status == PARSE_OK ? parsed : R_NilValue;
}

/* Gets R's message, by parse(), about code that R_ParseVector rejected. */
static void eval_syntax_error(struct r_state *s)
{
    SEXP code = PROTECT(eval_code_string(&s->job));
    SEXP told = PROTECT(r_support1(s, "parse_error", code));

    r_eval_note(VECTOR_ELT(told, 0), VECTOR_ELT(told, 1), Rf_allocVector(STRSXP, 0));
    s->job.line = Rf_asInteger(VECTOR_ELT(told, 2)); /* the column */
    UNPROTECT(2);
}

/* ---- running ---- */

static int eval_line_of(SEXP refs, R_xlen_t i)
{
    if (TYPEOF(refs) != VECSXP || i >= Rf_xlength(refs))
        return 0;
    SEXP ref = VECTOR_ELT(refs, i);
    return TYPEOF(ref) == INTSXP && LENGTH(ref) > 0 ? INTEGER(ref)[0] : 0;
}

static bool eval_is_loop(SEXP x)
{
    SEXP head = TYPEOF(x) == LANGSXP ? CAR(x) : R_NilValue;

    return head == Rf_install("for") || head == Rf_install("while") || head == Rf_install("repeat");
}

/* Evaluates expression `i` to list(value, visible). .Internal(withVisible()) adds no frame. A loop
 * is in braces that carry its source reference, which R's compiler needs for the lines in it.
 * Others have none, as at R's prompt: sys.call() would show it. */
static SEXP eval_expression(SEXP expressions, SEXP refs, R_xlen_t i)
{
    SEXP x = VECTOR_ELT(expressions, i);
    PROTECT_INDEX index;

    PROTECT_WITH_INDEX(x, &index);
    if (eval_is_loop(x) && TYPEOF(refs) == VECSXP && i < Rf_xlength(refs)) {
        SEXP both = PROTECT(Rf_allocVector(VECSXP, 2));
        SET_VECTOR_ELT(both, 0, VECTOR_ELT(refs, i));
        SET_VECTOR_ELT(both, 1, VECTOR_ELT(refs, i));
        REPROTECT(x = Rf_lang2(Rf_install("{"), x), index);
        Rf_setAttrib(x, Rf_install("srcref"), both);
        UNPROTECT(1);
    }
    SEXP call = PROTECT(Rf_lang2(Rf_install("withVisible"), x));
    SEXP internal = PROTECT(Rf_lang2(Rf_install(".Internal"), call));
    SEXP result = Rf_eval(internal, R_GlobalEnv);

    UNPROTECT(3);
    return result;
}

/* As the prompt does, and Rscript. */
static void eval_keep_last(SEXP value)
{
    SEXP name = Rf_install(".Last.value");

    R_unLockBinding(name, R_BaseEnv);
    Rf_defineVar(name, value, R_BaseEnv);
}

/* Prints the last value, into the text of the result. */
static void eval_print(struct r_state *s, SEXP value)
{
    if (!(s->job.wanted & LAZ_WANTED_TEXT) || !s->job.visible)
        return;
    r_console_capture(s);
    Rf_PrintValue(value);
    r_console_warnings();
    r_console_release(s, true);
}

/* As R's prompt does after each expression. They print warnings of their own. */
static void eval_task_callbacks(SEXP x, SEXP value, bool visible)
{
    if (Rf_callToplevelHandlers)
        Rf_callToplevelHandlers(x, value, TRUE, visible ? TRUE : FALSE);
}

/* Writes the value. Where R jumps out of that, the code has ended well. */
static void eval_finish(struct r_state *s, SEXP value)
{
    struct r_job *job = &s->job;
    struct r_writing w = {.state = s,
                          .json = s->json,
                          .out = s->value_writer,
                          .native = (job->wanted & LAZ_WANTED_NATIVE) != 0};
    bool too_large = false;

    job->finished = true;
    s->json->writer_reset(s->value_writer);
    if (!job->visible && !(job->wanted & LAZ_WANTED_INVISIBLE))
        return;
    job->omitted = true;
    job->why = "the value cannot be sent";
    r_write(&w, value, R_AS_IT_IS);
    s->value = w.refused ? NULL : s->json->writer_text(s->value_writer, &s->value_len, &too_large);
    job->omitted = !s->value;
    job->why = w.refused               ? "the value is nested too deeply"
               : s->value || too_large ? NULL
                                       : "there is not enough memory to send the value";
}

/* Sets the handlers of this top level; see r_support.R. */
static void eval_begin_handlers(struct r_state *s)
{
    SEXP asked = PROTECT(Rf_lang1(Rf_install("globalCallingHandlers")));
    SEXP handlers = PROTECT(Rf_eval(asked, s->support));
    SEXP ours = Rf_findVarInFrame(s->support, Rf_install("on_error"));
    bool usual =
        TYPEOF(handlers) == VECSXP && Rf_xlength(handlers) == 1 && VECTOR_ELT(handlers, 0) == ours;
    SEXP begin = usual ? Rf_findVarInFrame(s->support, Rf_install("begin_usual"))
                       : Rf_lang1(Rf_install("begin"));

    Rf_eval(PROTECT(begin), s->support);
    UNPROTECT(3);
}

static void eval_task(struct r_state *s)
{
    struct r_job *job = &s->job;
    SEXP expressions = PROTECT(eval_parse(s));
    SEXP refs = PROTECT(Rf_getAttrib(expressions, Rf_install("srcref")));
    SEXP value = R_NilValue;
    PROTECT_INDEX index;

    PROTECT_WITH_INDEX(value, &index);
    job->parsed = expressions != R_NilValue;
    if (job->parsed && !job->only_parse) {
        eval_begin_handlers(s);
        s->muted = false;
        for (R_xlen_t i = 0; i < Rf_xlength(expressions); i++) {
            job->line = eval_line_of(refs, i);
            SEXP result = PROTECT(eval_expression(expressions, refs, i));
            REPROTECT(value = VECTOR_ELT(result, 0), index);
            job->visible = Rf_asLogical(VECTOR_ELT(result, 1)) == 1;
            UNPROTECT(1);
            if (s->script)
                eval_keep_last(value);
            if ((job->wanted & LAZ_WANTED_TEXT) && job->visible && i + 1 < Rf_xlength(expressions))
                Rf_PrintValue(value); /* the last one is the result's text */
            r_console_check_file_limit();
            r_console_warnings();
            if (i + 1 == Rf_xlength(expressions))
                eval_print(s, value);
            if (!s->script) /* nor does Rscript */
                eval_task_callbacks(VECTOR_ELT(expressions, i), value, job->visible);
        }
        eval_finish(s, value);
    }
    UNPROTECT(3);
}

/* ---- outcomes ---- */

static void eval_outcome_error(struct r_state *s, uint32_t kind, struct laz_outcome *outcome)
{
    outcome->kind = kind;
    outcome->message = s->failure.message.data ? s->failure.message.data : "";
    outcome->line = s->failure.line;
    outcome->traceback = (const char *const *)s->failure.traceback;
    outcome->n_traceback = s->failure.n_traceback;
}

static void eval_outcome_syntax(struct r_state *s, struct laz_outcome *outcome)
{
    s->job.line = 0;
    if (!r_protected(s, eval_syntax_error) && !s->failure.noted)
        r_text_append(&s->failure.message, "the code cannot be parsed", 25);
    eval_outcome_error(s, LAZ_OUTCOME_SYNTAX, outcome);
    outcome->column = s->job.line;
}

static bool eval_is_interrupted(const struct r_state *s)
{
    return LAZ_HAS(s->services, is_interrupted) && s->services->is_interrupted(s->services->agent);
}

static void eval_outcome_failed(struct r_state *s, struct laz_outcome *outcome)
{
    if (!s->failure.noted) {
        const char *text = eval_is_interrupted(s) ? "interrupted" : r_last_error(s);
        if (*text == '\0')
            text = "the execution was ended by a jump to the top level";
        r_text_append(&s->failure.message, text, eval_cut(text, R_MAX_MESSAGE));
    }
    if (s->failure.line == 0)
        s->failure.line = s->job.line;
    const char *message = s->failure.message.data ? s->failure.message.data : "";
    eval_outcome_error(s, eval_kind_of(message), outcome);
}

static void eval_outcome_value(struct r_state *s, struct laz_outcome *outcome)
{
    outcome->visible = s->job.visible;
    if (s->captured.len > 0) {
        size_t len = s->captured.len;
        outcome->text = s->captured.data;
        outcome->text_len = s->captured.data[len - 1] == '\n' ? len - 1 : len;
    }
    outcome->kind = s->job.omitted ? LAZ_OUTCOME_TOO_LARGE : LAZ_OUTCOME_VALUE;
    outcome->message = s->job.why;
    outcome->value = s->value;
    outcome->value_len = s->value_len;
}

/* "\r\n" becomes "\n", as where R reads a file: its parser takes nothing else. */
static bool eval_unify_lines(struct r_state *s, const char *code, size_t len)
{
    const char *const end = code + len;

    r_text_clear(&s->code);
    while (code < end) {
        const char *at = memchr(code, '\r', (size_t)(end - code));
        size_t n = at ? (size_t)(at - code) : (size_t)(end - code);
        if (at && (at + 1 == end || at[1] != '\n'))
            n++; /* one that stands alone is kept */
        if (!r_text_append(&s->code, code, n))
            return false;
        code += n;
        code += code == at; /* left out */
    }
    s->job.code = s->code.data;
    s->job.len = s->code.len;
    return true;
}

static bool eval_begin(struct r_state *s, const char *code, size_t len, struct laz_outcome *outcome)
{
    s->job = (struct r_job){.code = code, .len = len};
    (void)r_forget_interrupt(); /* of an execution before this one */
    if (eval_is_interrupted(s))
        r_interrupt(s);
    s->value = NULL;
    s->value_len = 0;
    r_failure_clear(&s->failure);
    r_text_clear(&s->captured);
    if (memchr(code, '\r', len) && !eval_unify_lines(s, code, len)) {
        outcome->kind = LAZ_OUTCOME_MEMORY;
        outcome->message = "not enough memory for the code";
        return false;
    }
    if (!memchr(code, '\0', len))
        return true;
    r_text_append(&s->failure.message, "the code contains a NUL byte", 28);
    eval_outcome_error(s, LAZ_OUTCOME_SYNTAX, outcome);
    return false;
}

int r_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct r_state *s = state;

    if (!eval_begin(s, code, len, outcome))
        return 0;
    s->job.only_parse = true;
    if (!r_protected(s, eval_task) || !s->job.parsed)
        eval_outcome_syntax(s, outcome);
    else
        outcome->kind = LAZ_OUTCOME_VALUE;
    return 0;
}

int r_set_script(void *state, const char *const *argv, size_t n, const char *directory)
{
    struct r_state *s = state;
    const char *const first[] = {LAZ_R_HOME "/bin/exec/R", "--no-echo", "--no-restore"};
    char **line = calloc(n + 5, sizeof *line);
    size_t at = 0;

    (void)directory; /* R looks for nothing beside a file */
    free(s->script);
    s->script = strdup(argv[0]);
    char *file = malloc(strlen(argv[0]) + sizeof "--file=");
    if (line && file && s->script) {
        for (size_t i = 0; i < sizeof first / sizeof *first; i++)
            line[at++] = (char *)(uintptr_t)first[i];
        sprintf(file, "--file=%s", argv[0]);
        line[at++] = file;
        if (n > 1)
            line[at++] = (char *)(uintptr_t) "--args";
        for (size_t i = 1; i < n; i++)
            line[at++] = (char *)(uintptr_t)argv[i];
        R_set_command_line_arguments((int)at, line); /* copies them */
    }
    free(line);
    free(file);
    return at ? 0 : LAZ_ENOMEM;
}

/* Was a device opened in this session? The first one is no device. */
static bool eval_has_drawn(void)
{
    return Rf_length(Rf_findVarInFrame(R_BaseEnv, Rf_install(".Devices"))) > 1;
}

static void eval_close_devices(struct r_state *s)
{
    SEXP close = PROTECT(Rf_lang1(Rf_install("close_devices")));

    Rf_eval(close, s->support);
    UNPROTECT(1);
}

int r_eval(void *state, const char *code, size_t len, uint32_t wanted, struct laz_outcome *outcome)
{
    struct r_state *s = state;

    if (!eval_begin(s, code, len, outcome))
        return 0;
    s->job.wanted = wanted;
    bool whole = r_protected(s, eval_task);
    (void)r_forget_interrupt(); /* it came too late to end anything */
    if (eval_has_drawn())
        (void)r_protected(s, eval_close_devices);
    r_console_release(s, s->job.finished);
    if (!whole)
        r_console_warnings();
    r_console_flush(s);
    if (!s->job.parsed)
        eval_outcome_syntax(s, outcome);
    else if (!s->job.finished)
        eval_outcome_failed(s, outcome);
    else
        eval_outcome_value(s, outcome);
    free(s->script);
    s->script = NULL;
    return 0;
}
