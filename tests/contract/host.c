/* SPDX-License-Identifier: MIT */
/* host.c - a host in the same process as the runtime.
 *
 * It answers like a real host. Its messages about mistakes that a runtime should have caught begin
 * with "host: ", so that a test sees where they come from. */
#include "host.h"

#include "base/json.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARAMETER(param_name, param_type, param_required)                                          \
    {                                                                                              \
        .name = (param_name), .type = (param_type), .type_name = (param_type), .description = "",  \
        .required = (param_required), .spelling = (param_name)                                     \
    }

static const struct laz_parameter host_add[] = {PARAMETER("a", "number", 1),
                                                PARAMETER("b", "number", 1)};
static const struct laz_parameter host_echo[] = {PARAMETER("x", "", 1)};
static const struct laz_parameter host_fail[] = {PARAMETER("message", "string", 1)};
static const struct laz_parameter host_big[] = {PARAMETER("n", "integer", 1)};
static const struct laz_parameter host_given[] = {
    PARAMETER("s", "string", 0),  PARAMETER("n", "number", 0), PARAMETER("i", "integer", 0),
    PARAMETER("b", "boolean", 0), PARAMETER("a", "array", 0),  PARAMETER("o", "object", 0),
    PARAMETER("v", "", 0)};
static const struct laz_parameter host_rnum[] = {{.name = "x",
                                                  .type = "number",
                                                  .type_name = "numeric",
                                                  .description = "",
                                                  .required = 1,
                                                  .spelling = "x"}};
static const struct laz_parameter host_store[] = {PARAMETER("record", "object", 1),
                                                  PARAMETER("table", "string", 0)};
static const struct laz_parameter host_greet[] = {PARAMETER("name", "string", 1),
                                                  {.name = "greeting",
                                                   .type = "string",
                                                   .type_name = "string",
                                                   .description = "how to begin",
                                                   .default_value = "\"Hello\"",
                                                   .spelling = "greeting"}};
static const struct laz_parameter host_odd[] = {PARAMETER("x", "integer", 1)};
static struct laz_parameter host_take[] = {PARAMETER("if", "string", 1), PARAMETER("a-b", "", 0)};

#define TOOL(tool_name, text, list)                                                                \
    {                                                                                              \
        .size = sizeof(struct laz_tool_signature), .name = (tool_name), .description = (text),     \
        .parameters = (list), .n_parameters = sizeof(list) / sizeof(*(list)),                      \
        .spelling = (tool_name)                                                                    \
    }

static struct laz_tool_signature host_tools[] = {
    TOOL("add", "The sum of two numbers", host_add),
    TOOL("echo", "Its argument", host_echo),
    TOOL("fail", "Fails with a message", host_fail),
    TOOL("big", "A long text", host_big),
    TOOL("given", "Its arguments", host_given),
    TOOL("rnum", "Its argument, a numeric", host_rnum),
    {.size = sizeof(struct laz_tool_signature),
     .name = "store",
     .description = "Its arguments",
     .parameters = host_store,
     .n_parameters = sizeof host_store / sizeof *host_store,
     .spelling = "store",
     .returns = "{record: object, table?: str}"},
    {.size = sizeof(struct laz_tool_signature),
     .name = "none",
     .description = "",
     .spelling = "none"},
    TOOL("greet", "A greeting", host_greet),
    TOOL("take-out", "Its arguments", host_take),
    TOOL("my.tool_v2", "One more than its argument", host_odd),
    {.size = sizeof(struct laz_tool_signature),
     .name = "mirror",
     .description = "Its argument",
     .parameters = host_echo,
     .n_parameters = sizeof host_echo / sizeof *host_echo,
     .spelling = "mirror",
     .native = 1},
};

/* Names that a language cannot have, as the host spells them (core/tool/spelling.c). */
static const struct {
    const char *language, *tool, *first, *second, *dotted;
} host_spellings[] = {
    {"r", "take_out", "if_", "a_b", "my.tool_v2"},
    {"lua", "take_out", "if_", "a_b", "my.tool_v2"},
    {"", "take_out", "if_", "a_b", "my_tool_v2"},
};

const struct laz_tool_signature *contract_host_tools(const char *language, size_t *n)
{
    size_t i = 0;

    while (*host_spellings[i].language && strcmp(host_spellings[i].language, language) != 0)
        i++;
    host_take[0].spelling = host_spellings[i].first;
    host_take[1].spelling = host_spellings[i].second;
    for (size_t k = 0; k < sizeof host_tools / sizeof *host_tools; k++)
        if (strcmp(host_tools[k].name, "take-out") == 0)
            host_tools[k].spelling = host_spellings[i].tool;
        else if (strcmp(host_tools[k].name, "my.tool_v2") == 0)
            host_tools[k].spelling = host_spellings[i].dotted;
    *n = sizeof host_tools / sizeof *host_tools;
    return host_tools;
}

struct host_call {
    const char *args;
    size_t len;
    struct laz_buf *answer;
};

static bool host_argument(const struct host_call *call, const char *name, const char **raw,
                          size_t *len)
{
    if (laz_json_member(call->args, call->len, name, raw, len))
        return true;
    laz_buf_printf(call->answer, "host: argument '%s' is missing", name);
    return false;
}

static bool host_number(const struct host_call *call, const char *name, double *value)
{
    const char *raw;
    size_t len;

    if (!host_argument(call, name, &raw, &len))
        return false;
    if (laz_json_to_double(raw, len, value))
        return true;
    laz_buf_printf(call->answer, "host: argument '%s' is not a number", name);
    return false;
}

static char *host_string(const struct host_call *call, const char *name, size_t *text_len)
{
    const char *raw;
    size_t len;
    char *text = NULL;

    if (host_argument(call, name, &raw, &len)) {
        text = laz_json_to_string(raw, len, text_len);
        if (!text)
            laz_buf_printf(call->answer, "host: argument '%s' is not a string", name);
    }
    return text;
}

static void host_write_double(struct laz_buf *answer, double value)
{
    struct laz_json_writer *writer = laz_json_api()->writer_new(0);
    size_t len;

    laz_json_api()->write_double(writer, value, false);
    const char *text = laz_json_api()->writer_text(writer, &len, NULL);
    laz_buf_append(answer, text, len);
    laz_json_api()->writer_free(writer);
}

static bool host_run_add(struct host_call *call)
{
    double a, b;

    if (!host_number(call, "a", &a) || !host_number(call, "b", &b))
        return false;
    host_write_double(call->answer, a + b);
    return true;
}

static bool host_run_echo(struct host_call *call)
{
    const char *raw;
    size_t len;

    if (!host_argument(call, "x", &raw, &len))
        return false;
    laz_buf_append(call->answer, raw, len);
    return true;
}

static bool host_run_fail(struct host_call *call)
{
    size_t len;
    char *text = host_string(call, "message", &len);

    if (text)
        laz_buf_append(call->answer, text, len);
    free(text);
    return false;
}

static bool host_run_big(struct host_call *call)
{
    double n;

    if (!host_number(call, "n", &n))
        return false;
    laz_buf_putc(call->answer, '"');
    if (laz_buf_reserve(call->answer, (size_t)n)) {
        memset(call->answer->data + call->answer->len, 'x', (size_t)n);
        call->answer->len += (size_t)n;
    }
    laz_buf_putc(call->answer, '"');
    return true;
}

static bool host_run_given(struct host_call *call)
{
    laz_buf_append(call->answer, call->args, call->len);
    return true;
}

static bool host_run_none(struct host_call *call)
{
    laz_buf_puts(call->answer, "null");
    return true;
}

static bool host_run_greet(struct host_call *call)
{
    size_t name_len, greeting_len;
    char *greeting = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    char *name = host_string(call, "name", &name_len);
    const char *raw;
    size_t len;

    if (!name)
        return false;
    if (laz_json_member(call->args, call->len, "greeting", &raw, &len))
        greeting = laz_json_to_string(raw, len, &greeting_len);
    laz_buf_printf(&text, "%s, %s", greeting ? greeting : "Hello", name);
    laz_json_quote(call->answer, text.data, text.len);
    laz_buf_fini(&text);
    free(greeting);
    free(name);
    return true;
}

static bool host_run_odd(struct host_call *call)
{
    double x;

    if (!host_number(call, "x", &x))
        return false;
    host_write_double(call->answer, x + 1);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct host_call *call); /* false: the answer is an error message */
} host_answers[] = {
    {"add", host_run_add},     {"echo", host_run_echo},      {"fail", host_run_fail},
    {"mirror", host_run_echo}, {"big", host_run_big},        {"given", host_run_given},
    {"rnum", host_run_echo},   {"store", host_run_given},    {"none", host_run_none},
    {"greet", host_run_greet}, {"my.tool_v2", host_run_odd}, {"take-out", host_run_given},
};

static int host_call_tool(void *agent, const char *tool, const char *args, size_t args_len,
                          const char **value, size_t *value_len, const char **error)
{
    struct contract_host *host = agent;
    struct host_call call = {args, args_len, &host->answer};
    struct laz_error err;

    laz_buf_clear(&host->answer);
    if (args_len > host->services.max_message) {
        laz_buf_printf(&host->answer,
                       "Tool '%s': the arguments (%zu bytes) exceed max_message_size (%zu bytes)",
                       tool, args_len, host->services.max_message);
        *error = host->answer.data;
        return LAZ_ETOOBIG;
    }
    if (laz_json_scan(args, args_len, &err)) {
        laz_buf_printf(&host->answer, "host: arguments of %s: %s", tool, err.text);
        *error = host->answer.data;
        return LAZ_EPROTO;
    }
    for (size_t i = 0; i < sizeof host_answers / sizeof *host_answers; i++) {
        if (strcmp(tool, host_answers[i].name) != 0)
            continue;
        if (host_answers[i].run(&call)) {
            *value = host->answer.data;
            *value_len = host->answer.len;
            return 0;
        }
        *error = laz_buf_text(&host->answer);
        return LAZ_EREFUSED;
    }
    laz_buf_printf(&host->answer, "Unknown tool: %s", tool);
    *error = host->answer.data;
    return LAZ_EREFUSED;
}

/* ---- several calls -------------------------------------------------------------------------- */

static void host_free_open(struct contract_open *open)
{
    if (open)
        laz_buf_fini(&open->answer);
    free(open);
}

static size_t host_n_open(struct contract_host *host)
{
    pthread_mutex_lock(&host->lock);
    size_t n = host->n_open;
    pthread_mutex_unlock(&host->lock);
    return n;
}

static int host_begin_call(void *agent, const char *tool, const char *args, size_t args_len,
                           void *user, const char **error)
{
    struct contract_host *host = agent;
    const char *text = NULL;
    size_t len = 0;

    if (host_n_open(host) >= host->room) {
        *error = "host: too many calls are open";
        return LAZ_EBUSY;
    }
    int rc = host_call_tool(agent, tool, args, args_len, &text, &len, error);
    if (rc == LAZ_ETOOBIG || rc == LAZ_EPROTO)
        return rc;
    struct contract_open *open = calloc(1, sizeof *open);
    open->user = user;
    open->rc = rc;
    open->answer = host->answer;
    host->answer = (struct laz_buf)LAZ_BUF_INIT;
    pthread_mutex_lock(&host->lock);
    open->next = host->open;
    host->open = open;
    host->n_open++;
    pthread_mutex_unlock(&host->lock);
    return write(host->bell[1], "", 1) == 1 ? 0 : LAZ_EOS;
}

static int host_next_answer(void *agent, int wait_ms, void **user, const char **text, size_t *len)
{
    struct contract_host *host = agent;
    char ring;

    (void)wait_ms;
    pthread_mutex_lock(&host->lock);
    struct contract_open *open = host->open;
    if (open) {
        host->open = open->next;
        host->n_open--;
    }
    pthread_mutex_unlock(&host->lock);
    if (!open)
        return LAZ_ENOENT;
    host_free_open(host->taken);
    host->taken = open;
    *user = open->user;
    *text = laz_buf_text(&open->answer);
    *len = open->answer.len;
    return read(host->bell[0], &ring, 1) == 1 ? open->rc : LAZ_EOS;
}

static int host_answers_fd(void *agent)
{
    struct contract_host *host = agent;

    return host->bell[0];
}

static int host_await_answer(void *agent, int wait_ms)
{
    struct contract_host *host = agent;
    struct pollfd wait = {host->bell[0], POLLIN, 0};

    return poll(&wait, 1, wait_ms) > 0 ? 0 : LAZ_ETIMEOUT;
}

/* Answers in portions, as a real host does, each from its last call to its first. */
static int host_call_all(void *agent, const struct laz_agent_call *calls, size_t n,
                         void (*answered)(void *user, size_t index, int rc, const char *text,
                                          size_t len),
                         void *user, const char **error)
{
    struct contract_host *host = agent;
    const char *text = NULL;
    void *index;
    size_t len, next = 0;

    while (next < n || host->open) {
        int rc = 0;
        for (; next < n && rc != LAZ_EBUSY; next += rc != LAZ_EBUSY) {
            rc = host_begin_call(agent, calls[next].tool, calls[next].args, calls[next].args_len,
                                 (void *)(uintptr_t)next, error);
            if (rc && rc != LAZ_EBUSY)
                answered(user, next, rc, *error, strlen(*error));
        }
        while (host->open) {
            rc = host_next_answer(agent, -1, &index, &text, &len);
            answered(user, (size_t)(uintptr_t)index, rc, text, len);
        }
    }
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void host_output(void *agent, int stream, const char *text, size_t len)
{
    (void)agent;
    while (len) {
        ssize_t n = write(stream == 2 ? 2 : 1, text, len);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
}

/* Nobody here asks for the order of the two streams. */
static void host_switch_output(void *agent, int stream)
{
    (void)agent;
    (void)stream;
}

static void host_leave(void *agent, int status)
{
    struct contract_host *host = agent;

    host->left(host, status);
    _exit(status & 0xff);
}

void contract_host_init(struct contract_host *host, size_t max_message)
{
    host->services = (struct laz_agent_services){
        .size = sizeof host->services,
        .json = laz_json_api(),
        .agent = host,
        .call_tool = host_call_tool,
        .output = host_output,
        .leave = host_leave,
        .max_message = max_message,
        .max_value = max_message,
        .call_all = host_call_all,
        .begin_call = host_begin_call,
        .next_answer = host_next_answer,
        .answers_fd = host_answers_fd,
        .await_answer = host_await_answer,
        .switch_output = host_switch_output,
    };
    host->room = 20;
    pthread_mutex_init(&host->lock, NULL);
    if (pipe(host->bell))
        abort();
}

void contract_host_fini(struct contract_host *host)
{
    while (host->open) {
        struct contract_open *open = host->open;
        host->open = open->next;
        host_free_open(open);
    }
    host_free_open(host->taken);
    laz_buf_fini(&host->answer);
    pthread_mutex_destroy(&host->lock);
    close(host->bell[0]);
    close(host->bell[1]);
}
