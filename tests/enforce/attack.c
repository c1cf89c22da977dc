/* SPDX-License-Identifier: MIT */
/* attack.c - a runtime whose language consists of the attacks of attack.h: `NAME ARG...`.
 *
 * The agent loads it like any interpreter, after it has confined itself, so attacks here meet the
 * same defences as native code of a model. */
#include "attack.h"

#include <lazaret/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const suffixes[] = {".attack", NULL};
static const struct laz_option options[] = {{0}};

struct attack_state {
    char value[96];
};

static int attack_create(const struct laz_agent_services *services, const char *text, size_t len,
                         void **state, struct laz_error *err)
{
    (void)services, (void)text, (void)len, (void)err;
    *state = calloc(1, sizeof(struct attack_state));
    return *state ? 0 : LAZ_ENOMEM;
}

static const char *attack_version(void *state)
{
    (void)state;
    return "1";
}

static int attack_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                               struct laz_error *err)
{
    (void)state, (void)tools, (void)n, (void)err;
    return 0;
}

static int attack_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    (void)state, (void)code, (void)len;
    outcome->kind = LAZ_OUTCOME_VALUE;
    return 0;
}

static int attack_eval(void *state, const char *code, size_t len, uint32_t print,
                       struct laz_outcome *outcome)
{
    struct attack_state *attack = state;
    char line[1024], word[64];

    (void)print;
    snprintf(line, sizeof line, "%.*s", (int)len, code);
    attack_run(line, word, sizeof word);
    outcome->kind = LAZ_OUTCOME_VALUE;
    outcome->value_len = (size_t)snprintf(attack->value, sizeof attack->value, "\"%s\"", word);
    outcome->value = attack->value;
    return 0;
}

static void attack_destroy(void *state)
{
    free(state);
}

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .create = attack_create,
    .version = attack_version,
    .define_tools = attack_define_tools,
    .check = attack_check,
    .eval = attack_eval,
    .destroy = attack_destroy,
};

LAZ_PLUGIN(attack) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME), .name = "attack",   .version = "0.1.0",
    .summary = "attempts to get out",    .options = options, .ops = &ops,
};
