/* SPDX-License-Identifier: MIT */
/* dice.c - an example of a tool provider out of tree: it throws dice for code of a model.
 *
 *     roll(count = 1, sides = 6)   throws dice: {"rolls": [4, 2], "total": 6}
 *     pick(items)                  one of the items
 *
 * It calls only functions of the tables it is given, and exports one symbol. Its tools answer at
 * once, so it is not a blocking provider: all of it runs on the host's loop thread, one call after
 * the other, and the state needs no lock.
 * Side: host.  Input trusted: no (untrusted code chooses the arguments; the host has checked names,
 * types and enumerations, so only the range of a number remains to be checked here). */
#include <lazaret/tool.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dice_state {
    const struct laz_tool_services *services;
    uint64_t random; /* state of the generator */
    int64_t max_count;
};

/* Keys of the [[tools]] table besides `provider`. The host checks them and fills in the defaults,
 * which are written as in TOML. "": may be left out, and is absent then. */
static const struct laz_option options[] = {
    {"seed", LAZ_OPT_INTEGER, "", "the same number gives the same throws; by default the clock"},
    {"max_count", LAZ_OPT_INTEGER, "100", "dice in one throw at most"},
    {NULL, 0, NULL, NULL},
};

enum {
    DICE_ROLL,
    DICE_PICK,
};

/* dice_call gets the index in this table. */
static const struct laz_tool tools[] = {
    [DICE_ROLL] = {.size = sizeof(struct laz_tool),
                   .name = "roll",
                   .description = "Throws dice; gives each throw and their total",
                   .parameters =
                       "[{\"name\":\"count\",\"type\":\"integer\",\"default\":1,"
                       "\"description\":\"how many dice\"},"
                       "{\"name\":\"sides\",\"type\":\"integer\",\"default\":6,"
                       "\"enum\":[4,6,8,10,12,20,100],\"description\":\"sides of each\"}]"},
    [DICE_PICK] = {.size = sizeof(struct laz_tool),
                   .name = "pick",
                   .description = "Picks one of several items",
                   .parameters = "[{\"name\":\"items\",\"type\":\"array\","
                                 "\"description\":\"what to choose from\"}]"},
};

/* ---- helpers -------------------------------------------------------------------------------- */

static int dice_fail(struct laz_error *err, int code, const char *text)
{
    if (err) {
        err->code = code;
        err->os_errno = 0;
        snprintf(err->text, sizeof err->text, "%s", text);
    }
    return code;
}

/* A number below n, from a small generator (an LCG whose high bits are used). */
static uint64_t dice_random(struct dice_state *state, uint64_t n)
{
    state->random = state->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state->random >> 33) % n;
}

/* The integers of a JSON object, by name; other members are ignored. */
struct dice_number {
    const char *key; /* NULL at the end */
    int64_t *value;
};

static int dice_read(const struct laz_json_api *json, const char *object, size_t len,
                     const struct dice_number *numbers)
{
    struct laz_json_token token;
    struct laz_json_reader *reader = json->reader_new(object, len);

    if (!reader)
        return LAZ_ENOMEM;
    json->next(reader, &token); /* the { */
    while (json->next(reader, &token) == LAZ_JSON_KEY) {
        const struct dice_number *number = numbers;
        while (number->key && strcmp(number->key, token.text) != 0)
            number++;
        if (number->key && json->peek(reader) == LAZ_JSON_NUMBER) {
            json->next(reader, &token);
            *number->value = (int64_t)strtod(token.text, NULL); /* 2 may be written as 2.0 */
        } else {
            json->skip(reader, NULL, NULL);
        }
    }
    json->reader_free(reader);
    return 0;
}

/* Answers with the text of the writer, or with an error if the writer failed; frees the writer. */
static void dice_answer(struct dice_state *state, struct laz_call *call,
                        struct laz_json_writer *writer)
{
    const struct laz_tool_services *services = state->services;
    size_t len = 0;
    const char *text = services->json->writer_text(writer, &len, NULL);

    if (text)
        services->answer(services->host, call, text, len);
    else
        services->answer_error(services->host, call, "out of memory");
    services->json->writer_free(writer);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static int dice_roll(struct dice_state *state, struct laz_call *call, const char *args,
                     size_t args_len, struct laz_error *err)
{
    const struct laz_json_api *json = state->services->json;
    int64_t count = 1, sides = 6, total = 0;
    char text[128];

    int rc = dice_read(json, args, args_len,
                       (struct dice_number[]){{"count", &count}, {"sides", &sides}, {NULL, NULL}});
    if (rc)
        return dice_fail(err, rc, "out of memory");
    if (count < 1 || count > state->max_count) {
        /* The code can catch this error; it says what is wrong and what is allowed. */
        snprintf(text, sizeof text, "count must be from 1 to %lld, not %lld",
                 (long long)state->max_count, (long long)count);
        return dice_fail(err, LAZ_EINVAL, text);
    }
    struct laz_json_writer *writer = json->writer_new(0);
    if (!writer)
        return dice_fail(err, LAZ_ENOMEM, "out of memory");
    json->object_begin(writer);
    json->key(writer, "rolls", 5);
    json->array_begin(writer);
    for (int64_t i = 0; i < count; i++) {
        int64_t roll = 1 + (int64_t)dice_random(state, (uint64_t)sides);
        json->write_int(writer, roll);
        total += roll;
    }
    json->array_end(writer);
    json->key(writer, "total", 5);
    json->write_int(writer, total);
    json->object_end(writer);
    dice_answer(state, call, writer);
    return 0;
}

/* {"items": [...]}: skips over the items once to count them, and again up to the chosen one, whose
 * unchanged text is the answer. */
static int dice_pick(struct dice_state *state, struct laz_call *call, const char *args,
                     size_t args_len, struct laz_error *err)
{
    const struct laz_json_api *json = state->services->json;
    struct laz_json_token token;
    const char *raw = NULL;
    size_t len = 0, n = 0, chosen = SIZE_MAX;

    for (int round = 0; round < 2; round++) {
        struct laz_json_reader *reader = json->reader_new(args, args_len);
        if (!reader)
            return dice_fail(err, LAZ_ENOMEM, "out of memory");
        for (int i = 0; i < 3; i++) /* the {, "items" and the [ */
            json->next(reader, &token);
        for (n = 0; n <= chosen && json->peek(reader) != LAZ_JSON_ARRAY_END; n++)
            if (!json->skip(reader, &raw, &len))
                break;
        json->reader_free(reader);
        if (n == 0)
            return dice_fail(err, LAZ_EINVAL, "items is empty: there is nothing to pick from");
        if (round == 0)
            chosen = dice_random(state, n);
    }
    state->services->answer(state->services->host, call, raw, len);
    return 0;
}

/* ---- operations ----------------------------------------------------------------------------- */

static int dice_create(const struct laz_tool_services *services, const char *text, size_t text_len,
                       void **out, struct laz_error *err)
{
    int64_t seed = (int64_t)time(NULL), max_count = 100;

    int rc =
        dice_read(services->json, text, text_len,
                  (struct dice_number[]){{"seed", &seed}, {"max_count", &max_count}, {NULL, NULL}});
    if (rc)
        return dice_fail(err, rc, "out of memory");
    if (max_count < 1 || max_count > 100000)
        return dice_fail(err, LAZ_ECONFIG, "max_count must be from 1 to 100000");
    struct dice_state *state = calloc(1, sizeof *state);
    if (!state)
        return dice_fail(err, LAZ_ENOMEM, "out of memory");
    state->services = services;
    state->random = (uint64_t)seed;
    state->max_count = max_count;
    *out = state;
    return 0;
}

static int dice_list(void *state, const struct laz_tool **list, size_t *n, struct laz_error *err)
{
    (void)state;
    (void)err;
    *list = tools;
    *n = sizeof tools / sizeof tools[0];
    return 0;
}

static int dice_call(void *state, size_t tool, struct laz_call *call, const char *args,
                     size_t args_len, struct laz_error *err)
{
    if (tool == DICE_ROLL)
        return dice_roll(state, call, args, args_len, err);
    return dice_pick(state, call, args, args_len, err);
}

static void dice_destroy(void *state)
{
    free(state);
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .create = dice_create,
    .list = dice_list,
    .call = dice_call,
    .destroy = dice_destroy,
};

LAZ_PLUGIN(dice) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),         .name = "dice",     .version = "1.0",
    .summary = "throws dice and picks items", .options = options, .ops = &ops,
};
