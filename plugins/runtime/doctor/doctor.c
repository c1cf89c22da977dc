/* SPDX-License-Identifier: MIT */
/* doctor.c - a runtime without a language: its code is one attempt, as a JSON object.
 *
 *     {"act":"read","path":"/home/me/.canary"}   ->   {"failed":2,"count":0,"text":""}
 *
 * `lazaret doctor` opens sessions of it as of any other runtime. So each attempt is made in exactly
 * the confinement that code of a model gets, without an interpreter whose own failures could look
 * like a refusal. `failed` is an errno, 0 if nothing stopped the attempt. The runtime can do
 * nothing that other languages cannot. */
#include <lazaret/runtime.h>

#include "acts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doctor_state {
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
};

static const struct laz_option options[] = {LAZ_OPTIONS_END};

/* ---- the order, and the answer -------------------------------------------------------------- */

static int doctor_member(const struct laz_json_api *json, struct laz_json_reader *reader,
                         const char *key, struct doctor_order *order)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
        int64_t *number;
    } members[] = {
        {"act", order->act, sizeof order->act, NULL},
        {"path", order->path, sizeof order->path, NULL},
        {"text", order->text, sizeof order->text, NULL},
        {"host", order->host, sizeof order->host, NULL},
        {"number", NULL, 0, &order->number},
        {"among", NULL, 0, &order->among},
    };
    struct laz_json_token token;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].key, key) != 0)
            continue;
        uint32_t type = json->next(reader, &token);
        if (members[i].text && type == LAZ_JSON_STRING && token.len < members[i].size)
            memcpy(members[i].text, token.text, token.len + 1);
        else if (members[i].number && type == LAZ_JSON_NUMBER)
            *members[i].number = strtoll(token.text, NULL, 10);
        else
            return -1;
        return 0;
    }
    return -1;
}

/* Reads a request. 0, or -1 when the text is none. */
static int doctor_parse(const struct laz_json_api *json, const char *code, size_t len,
                        struct doctor_order *order)
{
    struct laz_json_reader *reader = json->reader_new(code, len);
    struct laz_json_token token;
    char key[32];
    int rc = -1;

    memset(order, 0, sizeof *order);
    if (!reader)
        return -1;
    if (json->next(reader, &token) == LAZ_JSON_OBJECT_BEGIN) {
        rc = 0;
        while (rc == 0 && json->next(reader, &token) == LAZ_JSON_KEY) {
            snprintf(key, sizeof key, "%s", token.text);
            rc = doctor_member(json, reader, key, order);
        }
        if (json->reader_failed(reader) || !order->act[0])
            rc = -1;
    }
    json->reader_free(reader);
    return rc;
}

static void doctor_number(const struct doctor_state *state, const char *key, int64_t number)
{
    state->json->key(state->writer, key, strlen(key));
    state->json->write_int(state->writer, number);
}

static void doctor_answer(struct doctor_state *state, const struct doctor_outcome *came,
                          struct laz_outcome *outcome)
{
    const struct laz_json_api *json = state->json;
    bool too_large;

    json->writer_reset(state->writer);
    json->object_begin(state->writer);
    doctor_number(state, "failed", came->failed);
    doctor_number(state, "count", came->count);
    json->key(state->writer, "text", 4);
    json->write_string(state->writer, came->text, strlen(came->text));
    json->object_end(state->writer);
    outcome->value = json->writer_text(state->writer, &outcome->value_len, &too_large);
}

/* ---- operations ----------------------------------------------------------------------------- */

static int doctor_create(const struct laz_agent_services *services, const char *text,
                         size_t text_len, void **state, struct laz_error *err)
{
    struct doctor_state *made = calloc(1, sizeof *made);

    (void)text;
    (void)text_len;
    if (made)
        made->writer = services->json->writer_new(services->max_value);
    if (!made || !made->writer) {
        free(made);
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    made->json = services->json;
    signal(SIGXFSZ, SIG_IGN); /* the write then fails with EFBIG, which is reported */
    signal(SIGUSR1, SIG_IGN);
    *state = made;
    return 0;
}

static const char *doctor_version(void *state)
{
    (void)state;
    return "1";
}

static int doctor_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                               struct laz_error *err)
{
    (void)state;
    (void)tools;
    (void)n;
    (void)err;
    return 0;
}

static int doctor_check(void *data, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct doctor_state *state = data;
    struct doctor_order order;

    outcome->kind = LAZ_OUTCOME_VALUE;
    if (doctor_parse(state->json, code, len, &order)) {
        outcome->kind = LAZ_OUTCOME_SYNTAX;
        outcome->message =
            "this is not a request of lazaret doctor, the only code that this runtime runs";
    }
    return 0;
}

static int doctor_eval(void *data, const char *code, size_t len, uint32_t wanted,
                       struct laz_outcome *outcome)
{
    struct doctor_state *state = data;
    struct doctor_outcome came = {0};
    struct doctor_order order;

    (void)wanted;
    doctor_check(data, code, len, outcome);
    if (outcome->kind != LAZ_OUTCOME_VALUE)
        return 0;
    doctor_parse(state->json, code, len, &order);
    if (doctor_try(&order, &came)) {
        outcome->kind = LAZ_OUTCOME_RUNTIME;
        outcome->message = "there is no such act";
        return 0;
    }
    doctor_answer(state, &came, outcome);
    return 0;
}

static void doctor_destroy(void *data)
{
    struct doctor_state *state = data;

    state->json->writer_free(state->writer);
    free(state);
}

/* ---- descriptor ----------------------------------------------------------------------------- */

static const char *const nothing[] = {NULL};

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = nothing,
    .libraries = nothing,
    .read = nothing,
    .env = nothing,
    .reserved_words = nothing,
    .create = doctor_create,
    .version = doctor_version,
    .define_tools = doctor_define_tools,
    .check = doctor_check,
    .eval = doctor_eval,
    .destroy = doctor_destroy,
};

LAZ_PLUGIN(doctor) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),
    .name = "doctor",
    .version = "0.1.0",
    .summary = "no language: what lazaret doctor tries inside a box",
    .options = options,
    .ops = &ops,
};
