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
#include <lazaret/options.h>
#include <lazaret/tool.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dice_state {
    const struct laz_tool_services *services;
    uint64_t random; /* state of the generator */
    int64_t seed, max_count;
};

/* Keys of the [[tools]] table besides `provider`. The host checks them and fills in the defaults,
 * which are written as in TOML. "": may be left out, and is absent then. */
static const struct laz_option options[] = {
    LAZ_OPTION("seed", LAZ_OPT_INTEGER, "",
               "the same number gives the same throws; by default the clock"),
    LAZ_OPTION("max_count", LAZ_OPT_INTEGER, "100", "dice in one throw at most", .min = "1",
               .max = "100000"),
    LAZ_OPTIONS_END,
};

/* Where each option belongs in the state. */
static const struct laz_option_field option_fields[] = {
    {"seed", LAZ_OPT_INTEGER, offsetof(struct dice_state, seed)},
    {"max_count", LAZ_OPT_INTEGER, offsetof(struct dice_state, max_count)},
    {NULL, 0, 0},
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

/* A number below n, from a small generator (an LCG whose high bits are used). */
static uint64_t dice_random(struct dice_state *state, uint64_t n)
{
    state->random = state->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state->random >> 33) % n;
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

struct dice_throw {
    int64_t count, sides;
};

static const struct laz_option_field throw_fields[] = {
    {"count", LAZ_OPT_INTEGER, offsetof(struct dice_throw, count)},
    {"sides", LAZ_OPT_INTEGER, offsetof(struct dice_throw, sides)},
    {NULL, 0, 0},
};

static int dice_roll(struct dice_state *state, struct laz_call *call, const char *args,
                     size_t args_len, struct laz_error *err)
{
    const struct laz_json_api *json = state->services->json;
    struct dice_throw wanted = {.count = 1, .sides = 6};
    int64_t total = 0;

    int rc = laz_options_read(json, args, args_len, throw_fields, &wanted, err);
    if (rc)
        return rc;
    if (wanted.count < 1 || wanted.count > state->max_count)
        /* The code can catch this error; it says what is wrong and what is allowed. */
        return laz_fail(err, LAZ_EINVAL, "count must be from 1 to %lld, not %lld",
                        (long long)state->max_count, (long long)wanted.count);
    struct laz_json_writer *writer = json->writer_new(0);
    if (!writer)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    json->object_begin(writer);
    json->key(writer, "rolls", 5);
    json->array_begin(writer);
    for (int64_t i = 0; i < wanted.count; i++) {
        int64_t roll = 1 + (int64_t)dice_random(state, (uint64_t)wanted.sides);
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
            return laz_fail(err, LAZ_ENOMEM, "out of memory");
        for (int i = 0; i < 3; i++) /* the {, "items" and the [ */
            json->next(reader, &token);
        for (n = 0; n <= chosen && json->peek(reader) != LAZ_JSON_ARRAY_END; n++)
            if (!json->skip(reader, &raw, &len))
                break;
        json->reader_free(reader);
        if (n == 0)
            return laz_fail(err, LAZ_EINVAL, "items is empty: there is nothing to pick from");
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
    struct dice_state *state = calloc(1, sizeof *state);

    if (!state)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    state->services = services;
    state->seed = (int64_t)time(NULL);
    state->max_count = 100; /* the host fills in defaults; another one may not */
    int rc = laz_options_read(services->json, text, text_len, option_fields, state, err);
    if (!rc && (state->max_count < 1 || state->max_count > 100000))
        rc = laz_fail(err, LAZ_ECONFIG, "max_count must be from 1 to 100000");
    if (rc) {
        free(state);
        return rc;
    }
    state->random = (uint64_t)state->seed;
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
