/* SPDX-License-Identifier: MIT */
/* soak_acts.c - what sessions of the soak do, in three languages. */
#include "soak.h"

#ifdef LAZ_SANITIZE
#define HOARDS 0 /* no limit on memory: see soak_play.c */
#else
#define HOARDS 3
#endif

static const struct soak_act acts[] = {
    {.name = "sum", .weight = 30, .lua = "1+1", .python = "1+1", .r = "1+1", .value = "2"},
    {.name = "tools",
     .weight = 30,
     .lua = "local s = 0 for i = 1, 20 do s = s + add(i, 1) end return s",
     .python = "s = 0\nfor i in range(1, 21): s = s + add(i, 1)\ns",
     .r = "s <- 0; for (i in 1:20) s <- s + add(i, 1); s",
     .value = "230",
     .calls = 20},
    {.name = "output",
     .weight = 8,
     .lua = "for i = 1, 500 do print(i) end return 7",
     .python = "for i in range(500): print(i)\n7",
     .r = "for (i in 1:500) cat(i, '\\n'); 7",
     .value = "7"},
    {.name = "error",
     .weight = 8,
     .lua = "error('oh')",
     .python = "raise ValueError('oh')",
     .r = "stop('oh')",
     .verdict = LAZ_VERDICT_ERROR},
    {.name = "syntax",
     .weight = 4,
     .lua = "return (",
     .python = "x = (",
     .r = "x <- (",
     .verdict = LAZ_VERDICT_SYNTAX_ERROR},
    {.name = "unknown tool",
     .weight = 4,
     .lua = "return pcall(fail)",
     .python = "try:\n    fail()\nexcept Exception:\n    pass\n3",
     .r = "tryCatch(fail(), error = function(e) 3)"},
    {.name = "slow tool",
     .weight = 8,
     .lua = "return slow(30)",
     .python = "slow(30)",
     .r = "slow(30)",
     .value = "true"},
    {.name = "busy",
     .weight = 8,
     .lua = "while true do end",
     .python = "while True: pass",
     .r = "repeat {}",
     .verdict = LAZ_VERDICT_TIMEOUT,
     .timeout_ms = 100},
    {.name = "flood",
     .weight = 4,
     .lua = "while true do print(('x'):rep(1000)) end",
     .python = "while True: print('x' * 1000)",
     .r = "repeat cat(strrep('x', 1000), '\\n')",
     .verdict = LAZ_VERDICT_OUTPUT_LIMIT},
    {.name = "hoard",
     .weight = HOARDS,
     .lua = "local t = {} while true do t[#t + 1] = ('x'):rep(1000000) .. #t end",
     .python = "t = []\nwhile True: t.append(bytearray(1000000))",
     .r = "t <- list(); repeat t[[length(t) + 1]] <- rep(length(t) + 0.5, 100000)",
     .verdict = LAZ_VERDICT_MEMORY_LIMIT},
    {.name = "end",
     .weight = 3,
     .lua = "os.exit(0)",
     .python = "import sys; sys.exit(0)",
     .r = "quit(status = 0)"},
    {.name = "too many calls",
     .weight = 4,
     .lua = "for i = 1, 10 do add(i, 1) end",
     .python = "for i in range(10): add(i, 1)",
     .r = "for (i in 1:10) add(i, 1)",
     .verdict = LAZ_VERDICT_TOOL_LIMIT,
     .max_tool_calls = 3,
     .calls = 3},
};

#define N_ACTS (sizeof acts / sizeof *acts)

uint32_t soak_roll(struct soak_dice *dice, uint32_t sides)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % sides);
}

const struct soak_act *soak_choose(struct soak_dice *dice)
{
    uint32_t sum = 0, at;
    size_t i = 0;

    for (size_t k = 0; k < N_ACTS; k++)
        sum += acts[k].weight;
    at = soak_roll(dice, sum);
    while (at >= acts[i].weight)
        at -= acts[i++].weight;
    return &acts[i];
}

const char *soak_code(const struct soak_act *act, const char *runtime)
{
    return strcmp(runtime, "lua") == 0 ? act->lua
           : strcmp(runtime, "r") == 0 ? act->r
                                       : act->python;
}

bool soak_is_right(const struct soak_act *act, const struct laz_result *result, unsigned calls,
                   char *why, size_t size)
{
    enum laz_verdict verdict = laz_result_verdict(result);
    const char *value = laz_result_value(result);

    snprintf(why, size, "%s: verdict %s (%s), value %s, %u calls", act->name,
             laz_verdict_name(verdict),
             laz_result_error(result) ? laz_result_error(result) : laz_result_detail(result), value,
             calls);
    return verdict == act->verdict && (!act->value || strcmp(value, act->value) == 0) &&
           calls == act->calls;
}
