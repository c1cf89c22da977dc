/* SPDX-License-Identifier: MIT */
/* script.c - a runtime that executes one command a line, for tests of the agent.
 *
 *     value N             a text of N characters
 *     text N              null, and a printed form of N characters
 *     kind K N            outcome K with a message of N characters and two lines of traceback
 *     call TOOL JSON      calls the tool; its value, or a runtime error with its text
 *     length TOOL JSON    the same; the length of the value's JSON text
 *     send TOOL N         calls it with {"x": a text of N characters}; the length of the value
 *     many N TOOL         call_all, the arguments {"i": number from 0}; a list of [code, length or
 *                         text]
 *     race N TOOL         begins N calls and takes the answers; a list of [number, code, length or
 *                         text] as they come
 *     open N TOOL         begins calls until one is refused, at most N, and leaves them; how many
 *     beside TOOL         begins one call, calls the tool again, then takes the answer; a list of
 *                         the answers
 *     late MS TOOL        begins one call and waits MS; the code, then that of an empty look,
 *                         then that without an open call
 *     fork TOOL           a child calls the tool and writes the outcome to standard output
 *     return              a child returns from eval like the parent
 *     leave N, forkleave N
 *     write TEXT          to standard output
 *     symbol NAME         is it among the global symbols of the process?
 *     option              the options create got
 *     tools               names, types and defaults of the tools, as a text
 *     broken              eval fails
 * Options: "fail" makes create fail, "last" makes destroy call a tool and write the outcome, "rest"
 * makes rest write that word. check: a line that begins with "bad" does not parse, line 2, column 3.
 */
#include <lazaret/runtime.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct script_state {
    const struct laz_agent_services *services;
    char *options;
    char *tools;
    char *value; /* value of the last eval */
    char *text;
};

static const char *const suffixes[] = {".script", NULL};
static const char *const traceback[] = {"outer", "inner"};

static int script_create(const struct laz_agent_services *services, const char *options,
                         size_t options_len, void **state, struct laz_error *err)
{
    struct script_state *st = calloc(1, sizeof *st);

    if (strstr(options, "\"fail\"")) {
        snprintf(err->text, sizeof err->text, "told to fail");
        err->code = LAZ_ESETUP;
        free(st);
        return LAZ_ESETUP;
    }
    st->services = services;
    st->options = strndup(options, options_len);
    *state = st;
    return 0;
}

static const char *script_version(void *state)
{
    (void)state;
    return "1.2.3";
}

static int script_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                               struct laz_error *err)
{
    struct script_state *st = state;
    size_t size = 1;
    char *before = st->tools;
    FILE *out = open_memstream(&st->tools, &size);

    (void)err;
    fputs(before ? before : "", out);
    free(before);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s(", tools[i].name);
        for (size_t j = 0; j < tools[i].n_parameters; j++) {
            const struct laz_parameter *p = &tools[i].parameters[j];
            fprintf(out, "%s%s:%s/%s", j ? "," : "", p->name, p->type, p->type_name);
            if (p->required)
                fputc('!', out);
            if (p->default_value)
                fprintf(out, "=%s", p->default_value);
            if (p->enumeration)
                fprintf(out, " in %s", p->enumeration);
        }
        fprintf(out, ")");
    }
    fclose(out);
    return 0;
}

static int script_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    (void)state;
    (void)len;
    if (strncmp(code, "bad", 3) == 0) {
        outcome->kind = LAZ_OUTCOME_SYNTAX;
        outcome->message = "does not parse";
        outcome->line = 2;
        outcome->column = 3;
    }
    return 0;
}

static char *script_fill(const char *before, char c, size_t n, const char *after)
{
    size_t head = strlen(before), tail = strlen(after);
    char *text = malloc(head + n + tail + 1);

    memcpy(text, before, head);
    memset(text + head, c, n);
    memcpy(text + head + n, after, tail + 1);
    return text;
}

static void script_give(struct script_state *st, struct laz_outcome *outcome, char *json)
{
    st->value = json;
    outcome->value = json;
    outcome->value_len = strlen(json);
}

static void script_quoted(struct script_state *st, struct laz_outcome *outcome, const char *text)
{
    const struct laz_json_api *json = st->services->json;
    struct laz_json_writer *writer = json->writer_new(0);
    size_t len;

    json->write_string(writer, text, strlen(text));
    script_give(st, outcome, strdup(json->writer_text(writer, &len, NULL)));
    json->writer_free(writer);
}

static void script_number(struct script_state *st, struct laz_outcome *outcome, size_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%zu", n);
    script_give(st, outcome, strdup(text));
}

static void script_call(struct script_state *st, const char *tool, const char *args, bool length,
                        struct laz_outcome *outcome)
{
    const char *value, *error;
    size_t len;

    if (st->services->call_tool(st->services->agent, tool, args, strlen(args), &value, &len,
                                &error)) {
        st->text = strdup(error);
        outcome->kind = LAZ_OUTCOME_RUNTIME;
        outcome->message = st->text;
    } else if (length) {
        script_number(st, outcome, len);
    } else {
        script_give(st, outcome, strndup(value, len));
    }
}

/* ,[N,code,length of the value or "text of the error"], without the number when n is negative */
static void script_note(struct script_state *st, int n, int rc, const char *text, size_t len)
{
    char *old = st->value, number[16] = "";

    if (n >= 0)
        snprintf(number, sizeof number, "%d,", n);
    int made = rc ? asprintf(&st->value, "%s,[%s%d,\"%.*s\"]", old, number, rc, (int)len, text)
                  : asprintf(&st->value, "%s,[%s0,%zu]", old, number, len);
    if (made < 0)
        abort();
    free(old);
}

/* Returns the list of what was noted. */
static void script_give_notes(struct script_state *st, struct laz_outcome *outcome)
{
    char *notes = st->value, *list;

    if (asprintf(&list, "[%s]", *notes ? notes + 1 : notes) < 0)
        abort();
    free(notes);
    script_give(st, outcome, list);
}

/* The n-th of several calls. */
static char *script_arguments(size_t n)
{
    char *args;

    return asprintf(&args, "{\"i\":%zu}", n) < 0 ? NULL : args;
}

struct script_answers {
    struct script_state *st;
    struct script_answer {
        int rc;
        char *text;
        size_t len;
    } answers[5000];
};

static void script_answered(void *user, size_t index, int rc, const char *text, size_t len)
{
    struct script_answers *all = user;

    all->answers[index] = (struct script_answer){rc, strndup(text, len), len};
}

static void script_many(struct script_state *st, size_t n, const char *tool,
                        struct laz_outcome *outcome)
{
    struct script_answers *all = calloc(1, sizeof *all);
    struct laz_agent_call *calls = calloc(n + 1, sizeof *calls);
    const char *error = "";

    for (size_t i = 0; i < n; i++) {
        calls[i].tool = tool;
        calls[i].args = script_arguments(i);
        calls[i].args_len = strlen(calls[i].args);
    }
    st->value = strdup("");
    int rc = st->services->call_all(st->services->agent, calls, n, script_answered, all, &error);
    if (rc)
        script_note(st, -1, rc, error, strlen(error));
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            script_note(st, -1, all->answers[i].rc, all->answers[i].text, all->answers[i].len);
        free(all->answers[i].text);
        free((void *)(uintptr_t)calls[i].args);
    }
    script_give_notes(st, outcome);
    free(calls);
    free(all);
}

/* Begins calls until one is refused; returns their number. */
static size_t script_begin(struct script_state *st, size_t n, const char *tool)
{
    const char *error = "";

    for (size_t i = 0; i < n; i++) {
        char *args = script_arguments(i);
        int rc = st->services->begin_call(st->services->agent, tool, args, strlen(args),
                                          (void *)(uintptr_t)i, &error);
        free(args);
        if (rc)
            return i;
    }
    return n;
}

static int script_take(struct script_state *st, int wait_ms)
{
    const char *text = "none";
    void *user = NULL;
    size_t len = 4;
    int rc = st->services->next_answer(st->services->agent, wait_ms, &user, &text, &len);

    script_note(st, (int)(uintptr_t)user, rc, text, len);
    return rc;
}

static void script_race(struct script_state *st, size_t n, const char *tool,
                        struct laz_outcome *outcome)
{
    st->value = strdup("");
    n = script_begin(st, n, tool);
    while (n--)
        script_take(st, -1);
    script_give_notes(st, outcome);
}

static void script_beside(struct script_state *st, const char *tool, struct laz_outcome *outcome)
{
    const char *value = "", *error = "";
    size_t len = 0;

    st->value = strdup("");
    script_begin(st, 1, tool);
    int rc = st->services->call_tool(st->services->agent, tool, "{}", 2, &value, &len, &error);
    script_note(st, -1, rc, error, strlen(error));
    rc = st->services->call_all(st->services->agent, NULL, 0, NULL, NULL, &error);
    script_note(st, -1, rc, error, strlen(error));
    script_take(st, -1);
    script_give_notes(st, outcome);
}

static void script_late(struct script_state *st, int wait_ms, const char *tool,
                        struct laz_outcome *outcome)
{
    const struct laz_agent_services *services = st->services;

    st->value = strdup("");
    script_begin(st, 1, tool);
    script_take(st, wait_ms);
    script_take(st, 0);
    st->services->output(st->services->agent, 1, "waited", 6);
    if (services->await_answer(services->agent, 1) != LAZ_ETIMEOUT)
        script_note(st, -1, LAZ_EPROTO, "waited for nothing", 18);
    services->await_answer(services->agent, -1);
    while (script_take(st, 0) == LAZ_ETIMEOUT) /* a line may arrive in pieces */
        services->await_answer(services->agent, -1);
    script_take(st, -1);
    script_give_notes(st, outcome);
}

static void script_fork(struct script_state *st, const char *tool)
{
    const char *value, *text;
    size_t len;

    if (fork() == 0) {
        int rc = st->services->call_tool(st->services->agent, tool, "{}", 2, &value, &len, &text);
        if (rc == 0)
            text = "the call was answered";
        st->services->output(st->services->agent, 1, text, strlen(text));
        _exit(0);
    }
    wait(NULL);
}

/* The commands about several calls and about the process. */
static int script_eval_rest(struct script_state *st, const char *word, const char *tool,
                            const char *rest, size_t n, struct laz_outcome *outcome)
{
    if (strcmp(word, "many") == 0) {
        script_many(st, n, rest, outcome);
    } else if (strcmp(word, "race") == 0) {
        script_race(st, n, rest, outcome);
    } else if (strcmp(word, "open") == 0) {
        script_number(st, outcome, script_begin(st, n, rest));
    } else if (strcmp(word, "beside") == 0) {
        script_beside(st, tool, outcome);
    } else if (strcmp(word, "late") == 0) {
        script_late(st, (int)n, rest, outcome);
    } else if (strcmp(word, "fork") == 0) {
        script_fork(st, tool);
    } else if (strcmp(word, "return") == 0) {
        if (fork() != 0)
            wait(NULL);
    } else if (strcmp(word, "leave") == 0) {
        st->services->leave(st->services->agent, (int)n);
    } else if (strcmp(word, "forkleave") == 0) {
        int how = 0;
        if (fork() == 0)
            st->services->leave(st->services->agent, (int)n);
        wait(&how);
        script_number(st, outcome, (size_t)WEXITSTATUS(how));
    } else if (strcmp(word, "write") == 0) {
        st->services->output(st->services->agent, 1, tool, strlen(tool));
    } else if (strcmp(word, "symbol") == 0) {
        script_give(st, outcome, strdup(dlsym(RTLD_DEFAULT, tool) ? "true" : "false"));
    } else if (strcmp(word, "option") == 0) {
        script_give(st, outcome, strdup(st->options));
    } else if (strcmp(word, "tools") == 0) {
        script_quoted(st, outcome, st->tools);
    } else if (strcmp(word, "broken") == 0) {
        return LAZ_EPLUGIN;
    }
    return 0;
}

static int script_eval(void *state, const char *code, size_t len, uint32_t print,
                       struct laz_outcome *outcome)
{
    struct script_state *st = state;
    char word[32] = "", tool[64] = "";
    const char *rest = code;
    int at = 0;
    size_t n = 0;

    (void)print;
    free(st->value);
    free(st->text);
    st->value = st->text = NULL;
    script_check(st, code, len, outcome);
    if (outcome->kind != LAZ_OUTCOME_VALUE)
        return 0;
    sscanf(code, "%31s %63s %n", word, tool, &at);
    rest = at ? code + at : "";
    n = strtoul(tool, NULL, 10);
    if (strcmp(word, "value") == 0) {
        script_give(st, outcome, script_fill("\"", 'v', n, "\""));
        outcome->visible = 1;
    } else if (strcmp(word, "text") == 0) {
        outcome->text = st->text = script_fill("", 't', n, "");
        outcome->text_len = n;
    } else if (strcmp(word, "kind") == 0) {
        outcome->kind = (uint32_t)n;
        outcome->message = st->text = script_fill("", 'm', strtoul(rest, NULL, 10), "");
        outcome->line = 7;
        outcome->traceback = traceback;
        outcome->n_traceback = 2;
        outcome->exit_status = 9;
    } else if (strcmp(word, "call") == 0 || strcmp(word, "length") == 0) {
        script_call(st, tool, rest, word[0] == 'l', outcome);
    } else if (strcmp(word, "send") == 0) {
        char *args = script_fill("{\"x\":\"", 'a', strtoul(rest, NULL, 10), "\"}");
        script_call(st, tool, args, true, outcome);
        free(args);
    } else {
        return script_eval_rest(st, word, tool, rest, n, outcome);
    }
    return 0;
}

static void script_destroy(void *state)
{
    struct script_state *st = state;
    const char *value, *text;
    size_t len;

    if (strstr(st->options, "\"last\"")) { /* a runtime that still writes at the end */
        st->services->call_tool(st->services->agent, "echo", "{}", 2, &value, &len, &text);
        st->services->output(st->services->agent, 1, text, strlen(text));
    }
    st->services->output(st->services->agent, 1, "destroyed", 9);
    free(st->options);
    free(st->tools);
    free(st->value);
    free(st->text);
    free(st);
}

static void script_rest(void *state)
{
    struct script_state *st = state;

    free(st->value);
    free(st->text);
    st->value = st->text = NULL;
    if (strstr(st->options, "\"rest\""))
        st->services->output(st->services->agent, 1, "rest", 4);
}

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .create = script_create,
    .version = script_version,
    .define_tools = script_define_tools,
    .check = script_check,
    .eval = script_eval,
    .destroy = script_destroy,
    .rest = script_rest,
};

LAZ_PLUGIN(mock_script) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),
    .name = "mock_script",
    .version = "1.0",
    .summary = "does what a line of words tells it",
    .ops = &ops,
};
